"""Joints, force elements and forces as parts of a system: resolved from recipes to ports, rows and laws of its bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

import numpy as np

from phloat.algebra.sparse import csr
from phloat.bodies.body import Body, Port
from phloat.errors import InputError, JointError, PortError, unknown
from phloat.fem.interval import GAUSS_POINTS, gauss
from phloat.joints.curves import breaks
from phloat.joints.elements import OnJoint, Passive
from phloat.joints.ends import GROUND, Between
from phloat.joints.laws import Law
from phloat.joints.loads import Acting, Force, Load, Torque
from phloat.joints.pairs import Joint, Weld
from phloat.joints.port_state import PortState, ground_port, section_axes
from phloat.joints.rows import FIRST, SECOND, Row, in_the_plane
from phloat.system.state import Pose, State, computed_once, other_names


@dataclass(frozen=True, eq=False)
class End:
    """One side of a joint: a port of a body, or a place of the ground, with the joint triad in its frame."""

    body: str  # "" is the ground
    port: str
    triad: np.ndarray
    at: np.ndarray
    turned: float = 0.0  # in a plane: its rotation beside the other end at angle zero, with whole turns


@dataclass(frozen=True, eq=False)
class Connection:
    """A joint of a system: its two ends, the rows it closes, those it drives, and the motion it leaves open."""

    name: str
    joint: Joint
    first: End
    second: End
    closed: tuple[Row, ...]
    driven: tuple[Row, ...] = ()
    free: tuple[Row, ...] = ()
    locked: tuple[Row, ...] = ()

    @property
    def coordinates(self) -> tuple[Row, ...]:
        """The angle or slide of this joint, free or not."""
        return tuple(row for row in self.free + self.locked + self.driven if row.coordinate)

    @property
    def rows(self) -> tuple[Row, ...]:
        """Everything that the multipliers of this joint hold."""
        return self.closed + self.locked + self.driven


def port_state(end: End, state: State) -> PortState:
    """One side of a joint at a state, with the columns of the velocities that its body has."""
    return computed_once(state, end, lambda: _port_state(end, state))


def _port_state(end: End, state: State) -> PortState:
    if not end.body:
        return ground_port(end.at, end.triad)
    body, pose = state.bodies[end.body], state.pose(end.body)
    port = body.port(end.port)
    y = port.x + port.Phi @ pose.eta
    return PortState(pose.r_P, pose.A, y, port.Phi, port.Psi, pose.eta, end.triad, body.columns)


# --- force elements --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Element:
    """A spring, damper or bushing of a system: scalar rows between two ends, and a law for each."""

    name: str
    recipe: Passive
    first: End
    second: End
    rows: tuple[Row, ...]
    laws: tuple[Law, ...]


@dataclass(frozen=True, eq=False)
class Actuator:
    """One scalar input that pushes ("force") or turns ("torque") a body: Σ weight · direction at (virtual) ports of it.

    `direction` is a unit vector in `axes`: "inertial", or "body", the axes of the section at each port.
    """

    name: str
    recipe: Acting
    body: str
    kind: str
    axes: str
    direction: np.ndarray
    ports: tuple[tuple[float, Port], ...]

    def effort(self, body: Body, pose: Pose) -> np.ndarray:
        """On the velocities (v_P, ω, η̇) for the input 1: Σ w (∂ċ/∂…)ᵀ d of a force, Σ w (∂ω_C/∂…)ᵀ d of a torque."""
        out = np.zeros(6 + body.coordinates)
        for weight, port in self.ports:
            twist = port.twist(pose.eta)
            out += weight * (self.in_body(port, pose) @ (twist[:3] if self.kind == "force" else twist[3:]))
        return out

    def in_body(self, port: Port, pose: Pose) -> np.ndarray:
        """The unit direction at a port, in the axes of the body's frame."""
        if self.axes == "inertial":
            return np.asarray(pose.A.T @ self.direction)
        return np.asarray(section_axes(port.Psi @ pose.eta) @ self.direction)


# --- recipes of joints -----------------------------------------------------------------------------------------------

Joined = TypeVar("Joined", Connection, Element)


def connected(joint: Joint, bodies: Mapping[str, Body], plane: str | None) -> Connection:
    """A joint between ports of these bodies, with the rows that make sense for them."""
    first, second = ends_of(joint, bodies)
    rows = {"closed": joint.closed, "free": joint.free, "driven": joint.driven}
    if plane:
        _fits_plane(joint)
        flat = {key: [in_the_plane(row, first.triad, second.triad) for row in some] for key, some in rows.items()}
        rows = {key: tuple(row for row in some if row is not None) for key, some in flat.items()}
    without = [end.body for end in (first, second) if end.body and not bodies[end.body].rotates]
    if without:
        rows = {
            key: tuple(r for r in some if key != "free" or of_points(r, first, bodies)) for key, some in rows.items()
        }
        if not all(of_points(row, first, bodies) for row in rows["closed"] + rows["driven"]):
            raise JointError(
                f"{type(joint).__name__} {joint.label!r} needs an orientation, and {without[0]!r} is a point mass; "
                "use Spherical or Slide, or a RigidBody"
            )
    return Connection(joint.label, joint, first, second, rows["closed"], rows["driven"], rows["free"])


def nested_connection(prefix: str, c: Joined) -> Joined:
    """The joint or force element in a system of which its own is a part."""
    ends = [replace(end, body=f"{prefix}.{end.body}") if end.body else end for end in (c.first, c.second)]
    return replace(c, name=f"{prefix}.{c.name}", first=ends[0], second=ends[1])


def welded(name: str, pieces: Mapping[str, Body], plane: str | None) -> dict[str, Connection]:
    """The welds between the pieces of a beam, each piece with its end C to the end P of the next."""
    out = {}
    for k, (one, next_one) in enumerate(pairwise(pieces), 1):
        weld = Weld(f"{one}.C", f"{next_one}.P", name=f"{name}.weld {k}")
        out[weld.name] = connected(weld, pieces, plane)
    return out


def of_points(row: Row, first: End, bodies: Mapping[str, Body]) -> bool:
    """Whether a row needs no orientation but that of a ground or turning first body."""
    turns = not first.body or bodies[first.body].rotates
    of_first, of_second = (any(low <= a < low + 3 for a in row.vectors) for low in (FIRST, SECOND))
    return row.is_length and not of_second and (turns or not of_first)


def _fits_plane(joint: Joint) -> None:
    if joint.not_planar:
        raise JointError(f"{type(joint).__name__} {joint.label!r} {joint.not_planar}")
    upright = abs(joint.direction()[2])
    if joint.planar_axis == "up" and upright < 1 - 1e-12:
        raise JointError(f"{joint.label} turns about {shown(joint.direction())}; in the plane xy it must be z")
    if joint.planar_axis == "flat" and upright > 1e-12:
        raise JointError(f"{joint.label} slides along {shown(joint.direction())}, which leaves the plane xy")
    turned_in_plane(joint.label, joint.turned)


def turned_in_plane(label: str, turned: Sequence[float]) -> None:
    """A sentence if a rotation vector would turn things out of the plane."""
    if np.any(np.asarray(turned)[:2]):
        raise JointError(f"{label} is turned by {shown(turned)}; in the plane xy only about z")


def shown(vector: Sequence[float] | np.ndarray) -> str:
    return "(" + ", ".join(f"{float(x):g}" for x in vector) + ")"


def ends_of(recipe: Between, bodies: Mapping[str, Body]) -> tuple[End, End]:
    """Where something between two ports takes hold; ground is what motion is seen from, so it comes first."""
    U_1, U_2 = recipe.triads()
    first, second = _end(recipe, recipe.first, U_1, bodies), _end(recipe, recipe.second, U_2, bodies)
    second = replace(second, turned=float(getattr(recipe, "turned", (0.0, 0.0, 0.0))[2]))
    if not second.body:
        first, second = second, first
    if first.body == second.body and first.port == second.port:
        raise JointError(f"{recipe.label} joins a port to itself")
    return first, second


def _end(recipe: Between, name: str, triad: np.ndarray, bodies: Mapping[str, Body]) -> End:
    if name == GROUND:
        return End("", "", triad, np.asarray(recipe.at, dtype=float))
    body, port = port_of(recipe, name, bodies, (GROUND,))
    return End(body, port, triad, np.zeros(3))


def port_of(recipe: object, name: str, bodies: Mapping[str, Body], also: Sequence[str] = ()) -> tuple[str, str]:
    """Body and port of "body.port", or the sentence for a port that is not there."""
    body, _, port = name.rpartition(".")
    if body not in bodies:
        others = other_names(bodies)
        if name in others:  # of a split beam
            return port_of(recipe, others[name], bodies)
        there = [f"{b}.{p}" for b, held in bodies.items() for p in held.ports]
        raise PortError(f"{type(recipe).__name__}: {unknown('port', name, [*also, *others, *there])}")
    if port not in bodies[body].ports:
        raise PortError(
            f"{type(recipe).__name__}: {unknown('port', name, [f'{body}.{p}' for p in bodies[body].ports])}"
        )
    return body, port


# --- recipes of force elements ---------------------------------------------------------------------------------------

# quadrature points in an element for a load that turns with the sections: exact for cubic deflections, constant density
FOLLOWING = 3


def attached(
    recipe: Passive, bodies: Mapping[str, Body], joints: Mapping[str, Connection], plane: str | None
) -> Element:
    """A spring, damper or bushing between ports of these bodies, or on a free axis of one of these joints."""
    if isinstance(recipe, OnJoint):
        c, row = _axis(recipe, joints)
        return Element(recipe.label, recipe, c.first, c.second, (row,), (recipe.law(),))
    first, second = ends_of(recipe, bodies)
    kept = recipe.row_laws()
    if plane:
        turned_in_plane(recipe.label, getattr(recipe, "turned", (0.0, 0.0, 0.0)))
        kept = {row: law for row, law in kept.items() if in_the_plane(row, first.triad, second.triad) is not None}
    without = [end.body for end in (first, second) if end.body and not bodies[end.body].rotates]
    if without and not all(of_points(row, first, bodies) for row in kept):
        raise JointError(
            f"{type(recipe).__name__} {recipe.label!r} needs an orientation, and {without[0]!r} is a point mass; "
            "write its port second, with no stiffness and damping about axes, or take a RigidBody"
        )
    return Element(recipe.label, recipe, first, second, tuple(kept), tuple(kept.values()))


def _axis(recipe: OnJoint, joints: Mapping[str, Connection]) -> tuple[Connection, Row]:
    """The joint and the row of its free axis that a spring or damper acts on."""
    said = type(recipe).__name__
    if recipe.joint not in joints:
        raise PortError(f"{said}: {unknown('joint', recipe.joint, joints)}")
    c = joints[recipe.joint]
    axes = {row.label: row for row in c.coordinates}
    if not axes:
        raise JointError(f"{said} {recipe.label!r}: joint {recipe.joint!r} has no angle and no slide to act on")
    if recipe.axis and recipe.axis not in axes:
        raise PortError(f"{said} {recipe.label!r}: {unknown(f'axis of {recipe.joint!r}', recipe.axis, axes)}")
    if not recipe.axis and len(axes) > 1:
        names = ", ".join(map(repr, axes))
        raise JointError(f"{said} {recipe.label!r}: joint {recipe.joint!r} has the axes {names}; say which: axis=…")
    return c, axes[recipe.axis or next(iter(axes))]


# --- what pushes -----------------------------------------------------------------------------------------------------


def acting(recipe: Acting, bodies: Mapping[str, Body], plane: str | None) -> Actuator:
    """A force, torque or distributed load on one of these bodies."""
    if isinstance(recipe, Load):
        if recipe.body not in bodies:
            raise PortError(f"Load: {unknown('body', recipe.body, bodies)}")
        body, ports = recipe.body, _spread(recipe, bodies[recipe.body])
    else:
        body, port = port_of(recipe, recipe.port, bodies)
        ports = ((1.0, bodies[body].port(port)),)
    kind, direction = "torque" if isinstance(recipe, Torque) else "force", recipe.direction()
    if isinstance(recipe, Torque) and not bodies[body].rotates:
        raise JointError(
            f"Torque {recipe.label!r} turns {body!r}, and a point mass has no orientation; use a RigidBody"
        )
    if plane:
        _pushes_in_plane(recipe, direction)
    return Actuator(recipe.label, recipe, body, kind, recipe.axes, direction, ports)


def nested_actuator(prefix: str, a: Actuator) -> Actuator:
    """The actuator in a system of which its own is a part."""
    return replace(a, name=f"{prefix}.{a.name}", body=f"{prefix}.{a.body}")


def _pushes_in_plane(recipe: Force | Torque | Load, direction: np.ndarray) -> None:
    if isinstance(recipe, Torque) and np.abs(direction[:2]).max() > 1e-12:
        raise JointError(f"{recipe.label} turns about {shown(direction)}; in the plane xy it must be z")
    if not isinstance(recipe, Torque) and abs(direction[2]) > 1e-12:
        raise JointError(f"{recipe.label} pushes along {shown(direction)}, which leaves the plane xy")


def _spread(load: Load, body: Body) -> tuple[tuple[float, Port], ...]:
    """∫ f δx ds as a sum of w δx_w: w = ∫f, x_w = ∫f x / w, Φ_w = ∫f Φ / w, for the parts of f that push and that pull.

    A load in axes of the sections is the sum over quadrature points: each has its own direction.
    """
    shape, places, follows = body.shape, body.shape.places(), load.axes == "body"
    if body.coordinates == 0 or places.ndim != 1 or len(places) < 3 or places[0] != 0.0 or places[-1] != 1.0:
        raise JointError(f"Load {load.label!r}: {load.body!r} is no beam; a load is spread over s from 0 to 1")
    lengths = np.linalg.norm(np.diff(shape.points(places), axis=0), axis=1) / np.diff(places)
    smooth = breaks(f"per_length of {load.label}", load.density, places) if callable(load.per_length) else places
    s, w = gauss(smooth, FOLLOWING if follows else GAUSS_POINTS)
    within = np.searchsorted(places, s) - 1
    force = w * lengths[within] * np.array([load.density(float(x)) for x in s])
    points, Phi = shape.points(s), shape.displacement(s)
    out = []
    if follows:  # each point has a direction of its own
        Psi = shape.rotation(s)
        for k in np.flatnonzero(force):
            moved, turned = (np.asarray(field[3 * k : 3 * k + 3].todense()) for field in (csr(Phi), csr(Psi)))
            out.append((float(force[k]), Port(points[k], moved, turned)))
    for part in () if follows else (np.maximum(force, 0.0), np.minimum(force, 0.0)):
        if (total := float(part.sum())) != 0.0:
            mean = part / total
            moved = np.array([Phi[i::3].T @ mean for i in range(3)])
            out.append((total, Port(mean @ points, moved, np.zeros_like(moved))))
    if not out:
        raise InputError(f"per_length of {load.label} is zero all along {load.body!r}; nothing would ever push")
    return tuple(out)
