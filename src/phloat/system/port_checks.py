"""Checks that ports which are points of plates, sheets and solids can carry the forces and moments of joints and actuators."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg as la

from phloat.algebra.factors import factorised
from phloat.bodies.body import Body
from phloat.bodies.continua.continuum import Continuum, mesh_of
from phloat.bodies.continua.mesh_body import Mean, Patch, Rigid, interface
from phloat.bodies.material import Material
from phloat.bodies.plates.plate import Plate
from phloat.bodies.solids.solid import Elastic, Sheet, Solid
from phloat.errors import JointError, PointPortWarning
from phloat.fem.mesh import Mesh
from phloat.joints.port_state import PortState
from phloat.joints.rows import Row, row_rates
from phloat.system.actuators import Actuator
from phloat.system.connection import Connection, Element, End, Part

GROWTH = 0.02  # of the compliance of a port: growth by halving the cells from which on a warning is given
NONE = 1e-9  # of unit directions
AXES = np.array(["x", "y", "z"])


def check_ports(part: Part, bodies: Mapping[str, Body], rows: Sequence[Row] | None = None) -> None:
    """Raises JointError if a joint, element or force puts a moment on a point that does not carry it, and warns if the compliance
    grows as the mesh is refined. `rows` are by default those that a joint closes; bodies are taken parallel to inertial axes."""
    if isinstance(part, Actuator):
        if part.recipe.kind != "load":
            span = part.forces[0][0][None] if part.kind == "torque" or part.axes == "body" else np.eye(3)
            blocks = [span, np.zeros_like(span)]
            wrench = np.hstack(blocks if part.kind == "force" else blocks[::-1])
            check_port(part.name, part.recipe.stands_at[0], bodies[part.body], wrench)
        return
    ends, rows = (part.first, part.second), part.rows if rows is None else rows
    if any(end.body and point_port(bodies[end.body], end.port) for end in ends):
        for end, wrench in zip(ends, _wrenches(ends, rows, part), strict=True):
            if end.body:
                check_port(part.name, f"{end.body}.{end.port}", bodies[end.body], wrench)


def check_port(label: str, port: str, body: Body | Continuum, wrench: np.ndarray) -> None:
    """The check of one port "body.port"; `wrench` (any × 6) are forces and moments on it, in body axes."""
    name = port.rpartition(".")[2]
    point = point_port(body, name)
    if point is None:
        return
    moments = _span(wrench[:, 3:])
    axes = AXES[np.abs(moments @ point.not_carried @ point.not_carried.T).max(axis=0, initial=0.0) > NONE]
    if len(axes):
        times = 8 if point.kind == "solid" else 4
        raise JointError(
            f"{label!r} puts a moment about {' and '.join(axes)} on {port!r}, a point of a {point.kind}, which does not carry "
            f"it: its rotation grows {times}-fold with every halving of the cells; {_cure(name, point)}"
        )
    _warn_of_growth(label, port, name, point, body, (_span(wrench[:, :3]), moments))


def _warn_of_growth(
    label: str, port: str, name: str, point: PointPort, body: Body | Continuum, spans: tuple[np.ndarray, np.ndarray]
) -> None:
    matrix = compliance(body, name)
    if matrix is None:
        return
    for quantity, span, growth, block in (
        ("displacement", spans[0], point.force, matrix[:3, :3]),
        ("rotation", spans[1], point.moment, matrix[3:, 3:]),
    ):
        increase, present = (np.linalg.norm(span @ term @ span.T, 2) if len(span) else 0.0 for term in (growth, block))
        if increase > GROWTH * present:
            share = f"about {increase / present:.1%}" if present > 0.0 else "without bound"
            warnings.warn(
                f"{label!r} loads {port!r}, a point of a {point.kind}: its {quantity} grows by {share} with every halving of "
                f"the cells; {_cure(name, point)}",
                PointPortWarning,
                stacklevel=4,
            )


def _cure(name: str, point: PointPort) -> str:
    position = ", ".join(f"{x:g}" for x in point.x)
    return f"give the port the size of what is fixed there: ports={{{name!r}: Patch(at=({position}), radius=…)}}"


def _wrenches(ends: tuple[End, End], rows: Sequence[Row], part: Connection | Element) -> tuple[np.ndarray, np.ndarray]:
    """The wrenches (f, m), body axes, of unit multipliers of the rows on the two ports; the joint is closed with slides at 1 m."""
    slides = [row.slide_axis for row in part.coordinates if row.slide_axis is not None]
    slid = np.eye(3)[slides].sum(axis=0)
    first, second = _aligned_port(ends[0], np.zeros(3)), _aligned_port(ends[1], slid)
    directed = tuple(row for row in rows if row.function != "length")  # the direction of a distance may be any
    forces = np.eye(3 * (len(directed) < len(rows)), 6)
    on_first, on_second = (np.vstack([forces, wrenches]) for wrenches in row_rates(directed, first, second))
    return on_first, on_second


def _aligned_port(end: End, c: np.ndarray) -> PortState:
    """A port at c whose joint triad is parallel to inertial axes, with its translation and rotation in body axes as velocities."""
    Phi, Psi = np.eye(3, 6), np.eye(3, 6, k=3)
    return PortState(c, end.triad.T, np.zeros(3), Phi, Psi, np.zeros(6), end.triad, 6 + np.arange(6))


def _span(rows: np.ndarray) -> np.ndarray:
    """Orthonormal rows with the same span."""
    return la.orth(rows.T, rcond=NONE).T if len(rows) else np.zeros((0, 3))


# --- compliance of points ---------------------------------------------------------------------------------------------
#
# Forces and moments that a point of a plate, a sheet or a solid can carry, and how its compliance grows as the mesh is refined.
#
# The displacement of a point under a concentrated force or moment may grow without bound as the cells are halved:
#
# | per halving | Kirchhoff plate | Mindlin plate | sheet | solid |
# |---|---|---|---|---|
# | force across the plate | converges | + ln 2 / 2π · 1/S | | |
# | force in the plane | + ln 2 / 2π · ⟨Q⁻¹⟩ | the same | the same | doubles |
# | moment about axes in the plane | + ln 2 / 2π · ⟨t tᵀ/D⟩ | the same | | × 8 |
# | moment about the normal | × 4 | × 4 | × 4 | × 8 |
#
# ⟨·⟩ are means over directions n in the plane, Q = NᵀA N the acoustic matrix of the membrane, D(n) the bending stiffness about
# t ⟂ n. (Isotropic: (1 + ν)(3 − ν)/(4π E h) and 1/(4π D), the logarithms of Kelvin's and Kirchhoff's point loads.) On an edge there
# is half a plane: 2/(π E h) of Flamant, and 8/((3 + ν)(1 − ν)) times as much for moments, twice for shear.


DIRECTIONS = 64  # for the means, which converge fast
PER_HALVING = np.log(2.0) / (2.0 * np.pi)
ON_EDGE = 0.05  # of the length of a facet, as a point may lie off a curved rim
SOLID = 2.0  # growth of the compliance of a point of a solid, of 1 / (E size of the cell): measured 1.1 to 4


@dataclass(frozen=True, eq=False)
class PointPort:
    """The compliance of a point: `force` and `moment` (3 × 3, body axes) are its increments per halving of the cells.

    `not_carried` (3 × axes) are axes of moments under which the rotation grows like a power of the number of cells.
    """

    kind: str
    x: np.ndarray
    force: np.ndarray
    moment: np.ndarray
    not_carried: np.ndarray


def point_port(body: Body | Continuum, name: str) -> PointPort | None:
    """The point port of this name of a body on a mesh; None for other ports."""
    recipe = body.recipe
    if not isinstance(recipe, (Plate, Sheet, Solid)) or name not in recipe.ports:
        return None
    if isinstance(place := recipe.ports[name], (str, Mean, Rigid, Patch)):
        return None
    x, e = np.asarray(place, dtype=float), np.eye(3)
    mesh = body.mesh if isinstance(body, Continuum) else mesh_of(body)
    if not isinstance(recipe, Solid):
        nu = recipe.material.nu if isinstance(recipe.material, Material) else 0.3
        edge = mesh is not None and _on_edge(mesh, x)
        stretch, turn, shear = (8 / (1 + nu) / (3 - nu), 8 / (3 + nu) / (1 - nu), 2.0) if edge else (1.0, 1.0, 1.0)
        scale = np.diag([stretch, stretch, shear])
        if isinstance(recipe, Sheet):
            return PointPort("sheet", x, _sheet_growth(recipe, x) @ scale, np.zeros((3, 3)), e[:, 2:])
        force, moment = _plate_growth(recipe, x)
        return PointPort("plate", x, force @ scale, moment * turn, e[:, 2:])
    return PointPort("solid", x, _solid_growth(recipe, mesh) * e, np.zeros((3, 3)), e)


def compliance(body: Body | Continuum, name: str) -> np.ndarray | None:
    """The motions (u, θ) of a port per unit force and moment there, 6 × 6; None for a continuum without supports."""
    if isinstance(body, Body):
        port = body.port(name)
        L = np.vstack([port.Phi, port.Psi])
        return np.asarray(L @ la.solve(body.elastic.K.toarray(), L.T, assume_a="pos"))
    if not body.held or body.K is None:
        return None
    rows = interface(body, name, body.ports[name]).L.toarray()
    return np.asarray(rows @ factorised(body.K)(np.ascontiguousarray(rows.T)))


def _on_edge(mesh: Mesh, x: np.ndarray) -> bool:
    """Whether a point lies on the boundary of a plane mesh."""
    a, b = mesh.points[mesh.facets[:, 0], :2], mesh.points[mesh.facets[:, 1], :2]
    edge = b - a
    length = np.linalg.norm(edge, axis=1)
    t = np.clip(np.einsum("fi,fi->f", x[:2] - a, edge) / length**2, 0.0, 1.0)
    return bool((np.linalg.norm(x[:2] - a - t[:, None] * edge, axis=1) < ON_EDGE * length).any())


def _directions() -> np.ndarray:
    angle = np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _membrane(A: np.ndarray) -> np.ndarray:
    """ln 2 / 2π ⟨(NᵀA N)⁻¹⟩ of stiffness A of xx, yy, xy."""
    a, b = _directions().T
    none = np.zeros_like(a)
    N = np.stack([np.stack([a, none], axis=1), np.stack([none, b], axis=1), np.stack([b, a], axis=1)], axis=1)
    out = np.zeros((3, 3))
    out[:2, :2] = PER_HALVING * np.linalg.inv(np.einsum("pki,kl,plj->pij", N, A, N)).mean(axis=0)
    return out


def _plate_growth(plate: Plate, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    through = plate.section.through(x[None, :2])
    a, b = _directions().T
    curvature, t = np.column_stack([a**2, b**2, 2.0 * a * b]), np.column_stack([b, -a])
    bending = np.einsum("pk,kl,pl->p", curvature, through.D[0], curvature)
    moment = np.zeros((3, 3))
    moment[:2, :2] = PER_HALVING * np.einsum("pi,pj,p->ij", t, t, 1.0 / bending) / DIRECTIONS
    force = _membrane(through.A[0]) if plate.with_membrane else np.zeros((3, 3))
    if plate.theory == "mindlin":
        n = _directions()
        force[2, 2] = PER_HALVING * float(np.mean(1.0 / np.einsum("pi,ij,pj->p", n, through.shear[0], n)))
    return force, moment


def _sheet_growth(sheet: Sheet, x: np.ndarray) -> np.ndarray:
    h = float(sheet.thickness_at(x[None, :2])[0])
    return np.asarray(max((_membrane(h * sheet.elasticity(m)[0]) for m in _materials(sheet)), key=np.trace))


def _solid_growth(solid: Solid, mesh: Mesh | None) -> float:
    if mesh is None:
        return 0.0
    size = float(np.cbrt(mesh.measure.min()))
    return SOLID / (size * min(float(np.min(m.E)) for m in _materials(solid)))


def _materials(recipe: Sheet | Solid) -> list[Elastic]:
    return list(recipe.material.values()) if isinstance(recipe.material, Mapping) else [recipe.material]
