"""Joints, force elements and actuators of a system, resolved from their recipes to ports of its bodies, rows and laws."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np

from phloat.bodies.body import Body
from phloat.errors import InputError, JointError, PortError, unknown
from phloat.joints.elements import OnJoint, Passive
from phloat.joints.ends import GROUND, Between, is_origin
from phloat.joints.laws import Law
from phloat.joints.loads import Acting, Distributed, Load
from phloat.joints.pairs import Joint, Weld
from phloat.joints.port_state import PortState, ground_port
from phloat.joints.rows import FIRST, SECOND, Row, planar_row
from phloat.system.actuators import Actuator, load_on
from phloat.system.places import port_aliases
from phloat.system.state import State, computed_once


@dataclass(frozen=True, eq=False)
class End:
    """One end of a joint: a port of a body, or a point of the ground, with the joint triad in the frame of the port."""

    body: str  # "" is the ground
    port: str
    triad: np.ndarray
    at: np.ndarray  # the point, if it is on the ground
    turned: float = 0.0  # in a plane: rotation relative to the other end at joint angle zero, with full turns


@dataclass(frozen=True, eq=False)
class Connection:
    """A joint of a system: its two ends, and its closed, driven, free and locked rows."""

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
        """The rows that are joint coordinates (angles and slides), whether free, locked or driven."""
        return tuple(row for row in self.free + self.locked + self.driven if row.coordinate)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows that have a multiplier: closed, locked and driven ones, in this order."""
        return self.closed + self.locked + self.driven

    @property
    def recipe(self) -> Joint:
        return self.joint


def port_state(end: End, state: State) -> PortState:
    """The port of an end at a state, with the columns of the velocities that its body has."""
    return computed_once(state, end, lambda: _port_state(end, state))


def _port_state(end: End, state: State) -> PortState:
    if not end.body:
        return ground_port(end.at, end.triad)
    body, pose = state.bodies[end.body], state.pose(end.body)
    port = body.port(end.port).at(pose.eta)
    y = port.x + port.Phi @ pose.eta
    return PortState(pose.r_P, pose.A, y, port.Phi, port.Psi, pose.eta, end.triad, body.columns, port.Phi_2)


# --- force elements --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Element:
    """A force element (spring, damper, bushing …) of a system: scalar rows between two ends, and a law for each row."""

    name: str
    recipe: Passive
    first: End
    second: End
    rows: tuple[Row, ...]
    laws: tuple[Law, ...]
    coordinates: ClassVar[tuple[Row, ...]] = ()


Part: TypeAlias = Connection | Element | Actuator
AnyPart = TypeVar("AnyPart", bound=Part)


def nested_part(prefix: str, part: AnyPart) -> AnyPart:
    """The same part in a larger system, in which its system has the name `prefix`: names become "prefix.name"."""
    if not prefix:
        return part
    name = f"{prefix}.{part.name}"
    if isinstance(part, Actuator):
        return replace(part, name=name, body=f"{prefix}.{part.body}")
    first, second = (
        replace(end, body=f"{prefix}.{end.body}") if end.body else end for end in (part.first, part.second)
    )
    return replace(part, name=name, first=first, second=second)


def body_name(name: object) -> str:
    """Returns `name`. Raises InputError if it cannot be the name of a body, as in "body.port"."""
    if not isinstance(name, str) or not name or "." in name or name == GROUND:
        raise InputError(f"{name!r} cannot name a body: names are not empty, hold no dot, and are not 'ground'")
    return name


def require_recipes(
    label: str, recipes: object, classes: Any, taken: Iterable[str], advice: Callable[[object], str]
) -> Any:
    """Returns the list of recipes. Raises InputError if one is not of these classes, JointError if a label is used twice.

    `advice(recipe)` is the end of the message for a recipe of another class.
    """
    if not isinstance(recipes, Sequence) or isinstance(recipes, str):
        raise InputError(f"{label} is {type(recipes).__name__}; it must be a list of joints")
    names = set(taken)
    for recipe in recipes:
        if not isinstance(recipe, classes):
            raise InputError(f"one of the joints is {recipe!r}; {advice(recipe)}")
        if recipe.label in names:
            raise JointError(f"two joints or ports are called {recipe.label!r}; give one of them a name")
        names.add(recipe.label)
    return recipes


# --- recipes ---------------------------------------------------------------------------------------------------------


IN_PLANE = 1e-9  # of the resultant of a pressure: a component across the plane that is round-off


def resolve_part(
    recipe: Joint | Passive | Acting | Distributed,
    bodies: Mapping[str, Body],
    joints: Mapping[str, Connection],
    plane: str | None,
) -> Part:
    """The connection, element or actuator of a recipe, at ports of these bodies and on free axes of these joints."""
    if isinstance(recipe, Joint):
        return connection_of(recipe, bodies, plane)
    if isinstance(recipe, (Acting, Distributed)):
        return actuator_of(recipe, bodies, plane)
    return element_of(recipe, bodies, joints, plane)


def connection_of(joint: Joint, bodies: Mapping[str, Body], plane: str | None) -> Connection:
    """The connection of a joint, without rows that are trivial in a plane. Raises JointError if its bodies do not allow it."""
    first, second = ends_of(joint, bodies)
    closed, driven, free = joint.closed, joint.driven, joint.free
    if plane:
        if joint.not_planar:
            raise JointError(f"{type(joint).__name__} {joint.label!r} {joint.not_planar}")
        if joint.planar_axis != "any":
            verb = "turns about" if joint.planar_axis == "up" else "slides along"
            _require_in_plane(f"{joint.label} {verb}", joint.direction(), up=joint.planar_axis == "up")
        closed, driven, free = (_planar_rows(joint, rows, first, second) for rows in (closed, driven, free))
    if masses := _point_masses(first, second, bodies):
        free = tuple(row for row in free if _suits_point_mass(row, first, bodies))
        if not all(_suits_point_mass(row, first, bodies) for row in closed + driven):
            raise JointError(_orientation_message(joint, masses[0], "use Spherical or Slide, or a RigidBody"))
    return Connection(joint.label, joint, first, second, closed, driven, free)


def element_of(
    recipe: Passive, bodies: Mapping[str, Body], joints: Mapping[str, Connection], plane: str | None
) -> Element:
    """The force element between ports of these bodies, or on a free axis of one of these joints."""
    if isinstance(recipe, OnJoint):
        c, rows = _joint_axes(recipe, joints)
        return Element(recipe.label, recipe, c.first, c.second, rows, (recipe.law(),) * len(rows))
    first, second = ends_of(recipe, bodies)
    laws = recipe.row_laws()
    rows = _planar_rows(recipe, tuple(laws), first, second) if plane else tuple(laws)
    masses = _point_masses(first, second, bodies)
    if masses and not all(_suits_point_mass(row, first, bodies) for row in rows):
        cure = "write its port second, with no stiffness and damping about axes, or take a RigidBody"
        raise JointError(_orientation_message(recipe, masses[0], cure))
    return Element(recipe.label, recipe, first, second, rows, tuple(laws[row] for row in rows))


def piece_welds(name: str, pieces: Mapping[str, Body], plane: str | None) -> list[Connection]:
    """The welds between the pieces of a beam, each piece with its end C to the end P of the next."""
    welds = (Weld(f"{a}.C", f"{b}.P", name=f"{name}.weld {k}") for k, (a, b) in enumerate(pairwise(pieces), 1))
    return [connection_of(weld, pieces, plane) for weld in welds]


def ends_of(recipe: Between, bodies: Mapping[str, Body]) -> tuple[End, End]:
    """The two ends of a joint or element. The ground is always first: motion is that of the second end relative to the first."""
    U_1, U_2 = recipe.triads()
    first, second = _end(recipe, recipe.first, U_1, bodies), _end(recipe, recipe.second, U_2, bodies)
    second = replace(second, turned=float(_zero_rotation(recipe)[2]))
    if not second.body:
        first, second = second, first
    if first.body == second.body and first.port == second.port:
        raise JointError(f"{recipe.label} joins a port to itself; name two ports")
    return first, second


def _end(recipe: Between, name: str, triad: np.ndarray, bodies: Mapping[str, Body]) -> End:
    if name == GROUND:
        return End("", "", triad, np.asarray(recipe.at, dtype=float))
    body, port = port_of(recipe, name, bodies, (GROUND,))
    return End(body, port, triad, np.zeros(3))


def port_of(recipe: object, name: str, bodies: Mapping[str, Body], extra_names: Sequence[str] = ()) -> tuple[str, str]:
    """The body and the port of a name "body.port". Raises PortError if there is no such port; `extra_names` are listed as well."""
    body, _, port = name.rpartition(".")
    if body not in bodies:
        aliases = port_aliases(bodies)
        if name in aliases:  # of a split beam
            return port_of(recipe, aliases[name], bodies)
        port_names = [*extra_names, *aliases, *(f"{b}.{p}" for b, inner in bodies.items() for p in inner.ports)]
    else:
        port_names = [f"{body}.{p}" for p in bodies[body].ports]
    if name not in port_names:
        raise PortError(f"{type(recipe).__name__}: {unknown('port', name, port_names)}")
    return body, port


def _joint_axes(recipe: OnJoint, joints: Mapping[str, Connection]) -> tuple[Connection, tuple[Row, ...]]:
    """The joint and the rows that a law on a joint acts on: one free axis, or the three rotations of a ball joint.

    Raises PortError or JointError if there is none.
    """
    kind = type(recipe).__name__
    if recipe.joint not in joints:
        raise PortError(f"{kind}: {unknown('joint', recipe.joint, joints)}")
    c = joints[recipe.joint]
    axes = {row.label: row for row in c.coordinates}
    if not axes:
        return c, _spins(recipe, c)
    if recipe.axis and recipe.axis not in axes:
        raise PortError(f"{kind} {recipe.label!r}: {unknown(f'axis of {recipe.joint!r}', recipe.axis, axes)}")
    if not recipe.axis and len(axes) > 1:
        names = ", ".join(map(repr, axes))
        raise JointError(f"{kind} {recipe.label!r}: joint {recipe.joint!r} has the axes {names}; say which: axis=…")
    return c, (axes[recipe.axis or next(iter(axes))],)


def _spins(recipe: OnJoint, c: Connection) -> tuple[Row, ...]:
    """The rotations of a ball joint, on which a linear damper acts equally. Raises JointError for other joints and laws."""
    spins, law = tuple(row for row in c.free + c.locked + c.driven if row.function == "spin"), recipe.law()
    label = f"{type(recipe).__name__} {recipe.label!r}: joint {recipe.joint!r}"
    if not spins:
        raise JointError(f"{label} has no angle and no slide to act on")
    if recipe.axis or not law.linear_damper:
        raise JointError(
            f"{label} is a ball joint, which has no single angle: it takes a JointDamper with a number, without axis, for all "
            "directions; for a spring, or different dampings, put a Bushing between the same ports, rotation='vector'"
        )
    return spins


# --- in a plane, and at point masses ---------------------------------------------------------------------------------


def _planar_rows(recipe: Between, rows: tuple[Row, ...], first: End, second: End) -> tuple[Row, ...]:
    """The rows that are not trivial in the plane xy. Raises JointError if the zero rotation is not about z."""
    vector = _zero_rotation(recipe)
    if not is_origin(vector) and np.any(np.asarray(vector)[:2]):
        raise JointError(f"{recipe.label} is turned by {_vector_text(vector)}; in the plane xy only about z")
    return _not_trivial(rows, first.triad.tobytes(), second.triad.tobytes())


@lru_cache(maxsize=1024)
def _not_trivial(rows: tuple[Row, ...], U_A: bytes, U_B: bytes) -> tuple[Row, ...]:
    """The rows that are not trivial in the plane xy for these joint triads."""
    triads = [np.frombuffer(U).reshape(3, 3) for U in (U_A, U_B)]
    return tuple(row for row in rows if planar_row(row, *triads) is not None)


def _zero_rotation(recipe: Between) -> Sequence[float]:
    """The rotation vector (rad) from the first frame to the second at joint coordinate zero; zero for force elements."""
    vector: Sequence[float] = getattr(recipe, "turned", (0.0, 0.0, 0.0))
    return vector


def _require_in_plane(subject: str, direction: np.ndarray, *, up: bool) -> None:
    """Raises JointError unless a direction is normal to the plane xy (`up`) or lies in it."""
    if up and np.abs(direction[:2]).max() > 1e-12:
        raise JointError(f"{subject} {_vector_text(direction)}; in the plane xy it must be z")
    if not up and abs(direction[2]) > 1e-12:
        raise JointError(
            f"{subject} {_vector_text(direction)}, which is not in the plane xy; give a direction "
            "in it, or leave out plane= to connect in space"
        )


def _vector_text(vector: Sequence[float] | np.ndarray) -> str:
    return "(" + ", ".join(f"{float(x):g}" for x in vector) + ")"


def _point_masses(first: End, second: End, bodies: Mapping[str, Body]) -> list[str]:
    """The names of the bodies at these ends that have no orientation."""
    return [end.body for end in (first, second) if end.body and not bodies[end.body].rotates]


def _suits_point_mass(row: Row, first: End, bodies: Mapping[str, Body]) -> bool:
    """Whether a row is defined without the orientation of a point mass: a length along directions of the ground or of a rotating
    first body."""
    turns = not first.body or bodies[first.body].rotates
    of_first, of_second = (any(low <= a < low + 3 for a in row.vectors) for low in (FIRST, SECOND))
    return row.is_length and not of_second and (turns or not of_first)


def _orientation_message(recipe: Between, mass: str, cure: str) -> str:
    return f"{type(recipe).__name__} {recipe.label!r} needs an orientation, and {mass!r} is a point mass; {cure}"


# --- actuators -------------------------------------------------------------------------------------------------------


def actuator_of(recipe: Acting | Distributed, bodies: Mapping[str, Body], plane: str | None) -> Actuator:
    """The actuator of a force, torque or distributed load on one of these bodies."""
    if isinstance(recipe, (Load, Distributed)):
        name, part = split_name(recipe, bodies)
        loaded = load_on(recipe, name, bodies[name], part)
        actuator = Actuator(recipe.label, recipe, name, "force", recipe.axes, *loaded)
    else:
        name, port = port_of(recipe, recipe.stands_at[0], bodies)
        if recipe.kind == "torque" and not bodies[name].rotates:
            raise JointError(
                f"Torque {recipe.label!r} turns {name!r}, and a point mass has no orientation; use a RigidBody"
            )
        force = (recipe.direction(), bodies[name].port(port))
        actuator = Actuator(recipe.label, recipe, name, recipe.kind, recipe.axes, (force,))
    if plane:
        turns = recipe.kind == "torque"
        vectors = [vector for vector, _ in actuator.forces]
        if actuator.area is not None and (total := actuator.area.constant[:3]).any():
            vectors = [np.where(np.abs(total) > IN_PLANE * np.abs(total).max(), total, 0.0)]
        for vector in vectors:
            direction = vector / np.linalg.norm(vector)
            _require_in_plane(f"{recipe.label} {'turns about' if turns else 'pushes along'}", direction, up=turns)
    return actuator


def split_name(recipe: Load | Distributed, bodies: Mapping[str, object]) -> tuple[str, str]:
    """The body and the boundary of a distributed load; "" is the whole body. Raises PortError for an unknown body."""
    (name,) = recipe.stands_at
    body, _, boundary = name.rpartition(".")
    if name in bodies:
        return name, ""
    whole = recipe.places == ("body",)
    if whole or body not in bodies:
        raise PortError(f"{type(recipe).__name__}: {unknown('body', name if whole or not body else body, bodies)}")
    return body, boundary
