"""Systems: bodies and joints, connected."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from phloat.algebra.layout import Layout
from phloat.bodies.body import Body
from phloat.errors import InputError, JointError, LooseBodyWarning, PortError, finite, mapping, unknown
from phloat.joints.pairs import GROUND, Drive, Joint, driven_rows
from phloat.joints.rows import (
    Along,
    Coincide,
    Held,
    InPlane,
    Row,
    Turn,
    held_ground,
    in_plane,
)
from phloat.linear.interconnect import side_by_side
from phloat.linear.phdae import LinearPHDAE
from phloat.system.state import State, state_layout


@dataclass(frozen=True, eq=False)
class End:
    """One side of a joint: a port of a body, or a place of the ground, with the joint triad in its frame."""

    body: str  # "" is the ground
    port: str
    triad: np.ndarray
    at: np.ndarray


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
        return tuple(row for row in self.free + self.locked + self.driven if isinstance(row, (Turn, Along)))

    @property
    def rows(self) -> tuple[Row, ...]:
        """Everything that the multipliers of this joint hold."""
        return self.closed + self.locked + self.driven


@dataclass(frozen=True, eq=False)
class System:
    """Bodies held together by joints: E(e) ė = (J − R) z + Gᵀλ + B u,   0 = −G z + B_λ u; `terms` has them at a state."""

    bodies: Mapping[str, Body]
    joints: Mapping[str, Connection]
    gravity: np.ndarray
    plane: str | None = None

    @cached_property
    def layout(self) -> Layout:
        """Names of the state e."""
        return state_layout(self.bodies)

    @cached_property
    def ports(self) -> Layout:
        """Open ports: every body port (wrench in, twist out), the free axes of joints, the drives."""
        shapes: dict[str, tuple[int, ...]] = {}
        for name, body in self.bodies.items():
            shapes |= {f"{name}.{port}": (len(body.active),) for port in body.ports}
        for name, joint in self.joints.items():
            if size := count(joint.free) + count(joint.driven):
                shapes[name] = (size,)
        return Layout(shapes, "port")

    @cached_property
    def multipliers(self) -> Layout:
        """Names of λ: the rows of each joint."""
        sizes = {name: count(joint.rows) for name, joint in self.joints.items()}
        return Layout({name: (size,) for name, size in sizes.items() if size}, "joint")

    @cached_property
    def loose(self) -> LinearPHDAE:
        """The bodies about rest, side by side, before any joint holds them; fields in body axes."""
        return side_by_side(*(body.linear().prefixed(name) for name, body in self.bodies.items()))

    def joint(self, name: str) -> Connection:
        if not isinstance(name, str) or name not in self.joints:
            raise PortError(unknown("joint", name, self.joints))
        return self.joints[name]

    def __repr__(self) -> str:
        where = f" in the plane {self.plane}" if self.plane else ""
        return f"System({', '.join(self.bodies)}; joints {', '.join(self.joints) or 'none'}{where})"


def connect(
    bodies: Mapping[str, Body | System],
    joints: Sequence[Joint] = (),
    *,
    gravity: Sequence[float] | None = None,
    plane: str | None = None,
) -> System:
    """Bodies (or systems, whose bodies become "name.body") held together by joints, in space or in the plane "xy"."""
    if plane not in (None, "xy"):
        raise InputError(f"plane is {plane!r}; the one plane there is, is 'xy' (or None for space)")
    parts: dict[str, Body] = {}
    connections: dict[str, Connection] = {}
    fields = {tuple(map(float, finite("gravity", gravity, (3,))))} if gravity is not None else set()
    for name, part in mapping("bodies", bodies, "{name: body}").items():
        if not isinstance(name, str) or not name or "." in name or name == GROUND:
            raise InputError(f"{name!r} cannot name a body: names are not empty, hold no dot, and are not 'ground'")
        if isinstance(part, System):
            _same_plane(name, part, plane)
            parts |= {f"{name}.{key}": body for key, body in part.bodies.items()}
            connections |= {f"{name}.{key}": _nested(name, c) for key, c in part.joints.items()}
            fields |= {tuple(map(float, part.gravity))} if gravity is None or np.any(part.gravity) else set()
        elif isinstance(part, Body):
            parts[name] = _fitted(name, part, plane)
        else:
            raise InputError(
                f"{name!r} is {type(part).__name__}; connect takes what discretise(…) or connect(…) returned"
            )
    if not parts:
        raise InputError("there are no bodies to connect; give at least one: connect({'rod': beam.discretise(4)}, …)")
    if len(fields) > 1:
        raise InputError(f"parts of the system have different gravity: {sorted(fields)}; give gravity once")
    for joint in _listed(joints):
        if joint.label in connections:
            raise JointError(f"two joints are called {joint.label!r}; give one of them a name")
        connections[joint.label] = _resolved(joint, parts, plane)
    _warn_of_loose_bodies(parts, connections)
    system = System(parts, connections, np.array(fields.pop() if fields else (0.0, 0.0, 0.0)), plane)
    if plane and system.gravity[2]:
        raise InputError(f"gravity {tuple(map(float, system.gravity))} leaves the plane xy")
    _distinct(system)
    return system


def fits(system: System, state: State) -> State:
    """The state with the bodies of this system: a state belongs to every system of the same bodies."""
    if not isinstance(system, System):
        raise InputError(f"{type(system).__name__} is no System; connect(…) makes one")
    if not isinstance(state, State):
        raise InputError(f"{type(state).__name__} is no State; make one with place(system, …)")
    if tuple(state.bodies) != tuple(system.bodies):
        raise InputError(f"the state is of {', '.join(state.bodies)}, the system of {', '.join(system.bodies)}")
    if state.layout != system.layout:
        mine, other = system.layout.shapes, state.layout.shapes
        name = next(name for name in [*mine, *other] if mine.get(name) != other.get(name))
        raise InputError(
            f"the state is of other bodies: {name} has shape {other.get(name, 'none')} there, {mine.get(name, 'none')} here"
        )
    if state.e.shape != (state.layout.size,):
        raise InputError(f"the state has {state.e.size} numbers; its bodies need {state.layout.size}")
    if not np.isfinite(state.e).all():
        where = state.layout.owner(int(np.argmin(np.isfinite(state.e))))
        raise InputError(f"the state holds NaN or infinity at {where}")
    return replace(state, bodies=system.bodies)


def lock(system: System, *names: str) -> System:
    """The free axes of these joints closed, wherever they stand."""
    return _closed(system, names, driving=False)


def drive(system: System, *names: str) -> System:
    """The free axes of these joints take a rate as input instead of an effort."""
    return _closed(system, names, driving=True)


def _closed(system: System, names: Sequence[str], *, driving: bool) -> System:
    joints = dict(system.joints)
    for name in names:
        c = system.joint(name)
        if not c.free:
            raise JointError(f"joint {name!r} has no free axis left to {'drive' if driving else 'lock'}")
        driven, locked = (c.free, ()) if driving else ((), c.free)
        joints[name] = replace(c, free=(), driven=c.driven + driven, locked=c.locked + locked)
    return replace(system, joints=joints)


def count(rows: Sequence[Row]) -> int:
    """The number of scalar rows."""
    return sum(len(row.labels) for row in rows)


def held(end: End, state: State) -> Held:
    """One side of a joint at a state, with the columns of the velocities that its body has."""
    if not end.body:
        return held_ground(end.at, end.triad)
    body, pose = state.bodies[end.body], state.pose(end.body)
    port = body.port(end.port)
    y = port.x + port.Phi @ pose.eta
    return Held(pose.r_P, pose.A, y, port.Phi, port.Psi, pose.eta, end.triad, body.columns)


def _listed(joints: object) -> Sequence[Joint]:
    if not isinstance(joints, Sequence) or isinstance(joints, str):
        raise InputError(f"joints is {type(joints).__name__}; it must be a list: [Revolute(…), …]")
    for joint in joints:
        if not isinstance(joint, Joint):
            raise InputError(f"one of the joints is {joint!r}; it must be Revolute(…), Weld(…), …")
    return joints


def _fitted(name: str, body: Body, plane: str | None) -> Body:
    if plane:
        return body.in_plane()
    if body.needs:
        raise InputError(f"in space, body {name!r} needs {body.needs}; or connect in a plane: plane='xy'")
    if len(body.active) == 3 and body.rotates:
        raise InputError(f"body {name!r} was restricted to a plane; discretise it again for space")
    return body


def _same_plane(name: str, part: System, plane: str | None) -> None:
    if part.plane != plane:
        raise InputError(
            f"system {name!r} lives in {part.plane or 'space'}, the whole in {plane or 'space'}: make them agree"
        )


def _nested(prefix: str, c: Connection) -> Connection:
    first = replace(c.first, body=f"{prefix}.{c.first.body}") if c.first.body else c.first
    second = replace(c.second, body=f"{prefix}.{c.second.body}") if c.second.body else c.second
    return replace(c, name=f"{prefix}.{c.name}", first=first, second=second)


def _resolved(joint: Joint, bodies: Mapping[str, Body], plane: str | None) -> Connection:
    U_1, U_2 = joint.triads()
    at = np.asarray(joint.at, dtype=float)
    first, second = _end(joint, joint.first, U_1, at, bodies), _end(joint, joint.second, U_2, at, bodies)
    if not second.body:  # ground is what motion is seen from
        first, second = second, first
    if first.body == second.body and first.port == second.port:
        raise JointError(f"{joint.label} joins a port to itself")
    rows = {
        "closed": joint.closed,
        "free": joint.free,
        "driven": driven_rows(joint) if isinstance(joint, Drive) else (),
    }
    if plane:
        _fits_plane(joint)
        flat = {key: [in_plane(row, first.triad, second.triad) for row in some] for key, some in rows.items()}
        rows = {key: tuple(row for row in some if row is not None) for key, some in flat.items()}
    without = [end.body for end in (first, second) if end.body and not bodies[end.body].rotates]
    if without:
        rows = {
            key: tuple(r for r in some if key != "free" or _of_points(r, first, bodies)) for key, some in rows.items()
        }
        if not all(_of_points(row, first, bodies) for row in rows["closed"] + rows["driven"]):
            raise JointError(
                f"{type(joint).__name__} {joint.label!r} needs an orientation, and {without[0]!r} is a point mass; "
                "use Spherical or Slide, or a RigidBody"
            )
    return Connection(joint.label, joint, first, second, rows["closed"], rows["driven"], rows["free"])


def _of_points(row: Row, first: End, bodies: Mapping[str, Body]) -> bool:
    """Whether a row needs no orientation but that of a ground or turning first body."""
    turns = not first.body or bodies[first.body].rotates
    return isinstance(row, Coincide) or (isinstance(row, (InPlane, Along)) and turns)


def _fits_plane(joint: Joint) -> None:
    upright = abs(joint.direction()[2])
    if joint.planar_axis == "up" and upright < 1 - 1e-12:
        raise JointError(f"{joint.label} turns about {_shown(joint.direction())}; in the plane xy it must be z")
    if joint.planar_axis == "flat" and upright > 1e-12:
        raise JointError(f"{joint.label} slides along {_shown(joint.direction())}, which leaves the plane xy")
    if np.any(np.asarray(joint.turned)[:2]):
        raise JointError(f"{joint.label} is turned by {_shown(joint.turned)}; in the plane xy only about z")


def _shown(vector: Sequence[float] | np.ndarray) -> str:
    return "(" + ", ".join(f"{float(x):g}" for x in vector) + ")"


def _end(joint: Joint, name: str, triad: np.ndarray, at: np.ndarray, bodies: Mapping[str, Body]) -> End:
    if name == GROUND:
        return End("", "", triad, at)
    body, _, port = name.rpartition(".")
    if body not in bodies:
        there = [f"{b}.{p}" for b, held in bodies.items() for p in held.ports]
        raise PortError(f"{type(joint).__name__}: {unknown('port', name, [GROUND, *there])}")
    if port not in bodies[body].ports:
        raise PortError(f"{type(joint).__name__}: {unknown('port', name, [f'{body}.{p}' for p in bodies[body].ports])}")
    return End(body, port, triad, np.zeros(3))


def _distinct(system: System) -> None:
    for name in system.joints:
        body, _, port = name.rpartition(".")
        if body in system.bodies and port in system.bodies[body].ports:
            raise InputError(f"a joint and a body port are both called {name!r}; name the joint differently")


def _warn_of_loose_bodies(bodies: Mapping[str, Body], joints: Mapping[str, Connection]) -> None:
    touched = {end.body for c in joints.values() for end in (c.first, c.second)}
    loose = [name for name in bodies if name not in touched]
    if joints and loose:
        said = ", ".join(map(repr, loose))
        warnings.warn(f"no joint touches {said}; it will drift freely", LooseBodyWarning, stacklevel=3)
