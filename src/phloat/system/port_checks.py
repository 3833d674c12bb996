"""Whether the points that joints and forces take hold of carry what these put on them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np
import scipy.linalg as la

from phloat.bodies.body import Body
from phloat.bodies.continua.continuum import Continuum
from phloat.bodies.point_ports import PointPort, compliance, point_port
from phloat.errors import JointError, PointPortWarning
from phloat.joints.port_state import PortState
from phloat.joints.rows import Row, row_rates
from phloat.system.connection import Actuator, Connection, Element, End, Part

GROWTH = 0.02  # of the compliance of a port: what halving the cells may change without a warning
NONE = 1e-9  # of unit directions
AXES = np.array(["x", "y", "z"])


def check_ports(part: Part, bodies: Mapping[str, Body], rows: Sequence[Row] | None = None) -> None:
    """Raises where a joint, element or force puts a moment on a point that does not carry it, warns where compliance grows with
    the mesh. Of joints the rows they close unless `rows` are given; directions in inertial axes are those of a body not turned."""
    if isinstance(part, Actuator):
        if part.recipe.kind != "load":
            span = part.direction[None] if part.kind == "torque" or part.axes == "body" else np.eye(3)
            both = [span, np.zeros_like(span)]
            wrench = np.hstack(both if part.kind == "force" else both[::-1])
            check_port(part.name, part.recipe.stands_at[0], bodies[part.body], wrench)
        return
    ends, rows = (part.first, part.second), part.rows if rows is None else rows
    if any(end.body and point_port(bodies[end.body], end.port) for end in ends):
        for end, wrench in zip(ends, _wrenches(ends, rows, part), strict=True):
            if end.body:
                check_port(part.name, f"{end.body}.{end.port}", bodies[end.body], wrench)


def check_port(who: str, where: str, body: Body | Continuum, wrench: np.ndarray) -> None:
    """`wrench` (any × 6) are forces and moments, body axes, that something puts on the port "body.port"."""
    name = where.rpartition(".")[2]
    point = point_port(body, name)
    if point is None:
        return
    moments = _span(wrench[:, 3:])
    bad = AXES[np.abs(moments @ point.not_carried @ point.not_carried.T).max(axis=0, initial=0.0) > NONE]
    if len(bad):
        times = 8 if point.kind == "solid" else 4
        raise JointError(
            f"{who!r} puts a moment about {' and '.join(bad)} on {where!r}, a point of a {point.kind}, which does not carry it: "
            f"its rotation grows {times}-fold with every halving of the cells; {_cure(name, point)}"
        )
    _warn_of_growth(who, where, name, point, body, (_span(wrench[:, :3]), moments))


def _warn_of_growth(
    who: str, where: str, name: str, point: PointPort, body: Body | Continuum, spans: tuple[np.ndarray, np.ndarray]
) -> None:
    felt = compliance(body, name)
    if felt is None:
        return
    for what, span, growth, own in (
        ("displacement", spans[0], point.force, felt[:3, :3]),
        ("rotation", spans[1], point.moment, felt[3:, 3:]),
    ):
        gained, there = (np.linalg.norm(span @ part @ span.T, 2) if len(span) else 0.0 for part in (growth, own))
        if gained > GROWTH * there:
            share = f"about {gained / there:.1%}" if there > 0.0 else "without bound"
            warnings.warn(
                f"{who!r} loads {where!r}, a point of a {point.kind}: its {what} grows by {share} with every halving of the cells; "
                f"{_cure(name, point)}",
                PointPortWarning,
                stacklevel=4,
            )


def _cure(name: str, point: PointPort) -> str:
    at = ", ".join(f"{x:g}" for x in point.x)
    return f"give the port the size of what is fixed there: ports={{{name!r}: Patch(at=({at}), radius=…)}}"


def _wrenches(ends: tuple[End, End], rows: Sequence[Row], part: Connection | Element) -> tuple[np.ndarray, np.ndarray]:
    """What unit multipliers of the rows put on the two ports, (f, m) in body axes, the joint closed but for what it slides by."""
    slides = [row.slide_axis for row in part.coordinates if row.slide_axis is not None]
    slid = np.eye(3)[slides].sum(axis=0)
    first, second = _held(ends[0], np.zeros(3)), _held(ends[1], slid)
    along = tuple(row for row in rows if row.function != "length")  # the direction of a distance may be any
    forces = np.eye(3 * (len(along) < len(rows)), 6)
    on_first, on_second = (np.vstack([forces, some]) for some in row_rates(along, first, second))
    return on_first, on_second


def _held(end: End, c: np.ndarray) -> PortState:
    """A port whose joint triad is that of the space, with its own translation and rotation in body axes as velocities."""
    Phi, Psi = np.eye(3, 6), np.eye(3, 6, k=3)
    return PortState(c, end.triad.T, np.zeros(3), Phi, Psi, np.zeros(6), end.triad, 6 + np.arange(6))


def _span(rows: np.ndarray) -> np.ndarray:
    """Orthonormal rows of the same span."""
    return la.orth(rows.T, rcond=NONE).T if len(rows) else np.zeros((0, 3))
