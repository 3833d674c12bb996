"""Systems: bodies, joints and force elements, connected."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from phloat.algebra.layout import Layout
from phloat.algebra.tables import facts, listed
from phloat.bodies.beams.beam import Beam
from phloat.bodies.beams.split import Assembly
from phloat.bodies.body import Body
from phloat.bodies.continua.continuum import Continuum
from phloat.errors import (
    InputError,
    JointError,
    LooseBodyWarning,
    PortError,
    ThickBeamWarning,
    finite,
    mapping,
    unknown,
)
from phloat.joints.ends import GROUND
from phloat.joints.force_laws import Passive
from phloat.joints.loads import Acting
from phloat.joints.pairs import Joint
from phloat.joints.tie import Tie
from phloat.joints.wire import Wire
from phloat.linear.form.interconnect import append_systems
from phloat.linear.form.phdae import LinearPHDAE
from phloat.system.attach import acting, attached, nested_actuator
from phloat.system.connection import Actuator, Connection, Element, End, port_state
from phloat.system.notebook import bodies_table, forces_table, free_velocities, joints_table
from phloat.system.pieces import other_names
from phloat.system.port_checks import check_actuator, check_connection, check_element
from phloat.system.resolve import connected, nested_connection, welded
from phloat.system.state import State, state_layout

BODIES = "connect takes what discretise(…) or connect(…) returned"
JOINTS = "it must be Revolute(…), Weld(…), Spring(…), …"
REDUCE = "reduce it before it is connected: reduced(modes=…)"
INSTEAD: dict[type, str] = {
    Continuum: f"tie(bodies, ties) connects it for small motions; or give it a frame and {REDUCE}",
    Tie: "it is for small motions: tie(bodies, ties)",
    Wire: "it joins linear systems: wire(systems, wires)",
    LinearPHDAE: "linear systems are joined with wire(systems, wires)",
}
THICK = 0.01  # of the tip deflection of a cantilever: what shear may add where a theory leaves it out

__all__ = ["Connection", "End", "System", "connect", "drive", "fits", "lock", "port_state"]


@dataclass(frozen=True, eq=False)
class System:
    """Bodies held together by joints: E(e) ė = (J − R) z + Gᵀλ + B u,   0 = −G z + B_λ u; `terms` has them at a state."""

    bodies: Mapping[str, Body]
    joints: Mapping[str, Connection]
    gravity: np.ndarray
    plane: str | None = None
    elements: Mapping[str, Element] = field(default_factory=dict)
    actuators: Mapping[str, Actuator] = field(default_factory=dict)

    @cached_property
    def layout(self) -> Layout:
        """Names of the state e."""
        return state_layout(self.bodies)

    @cached_property
    def ports(self) -> Layout:
        """Open ports: every body port (wrench in, twist out), the free axes of joints, the drives, the forces and torques."""
        shapes: dict[str, tuple[int, ...]] = {}
        for name, body in self.bodies.items():
            shapes |= {f"{name}.{port}": (len(body.active),) for port in body.ports}
        for name, joint in self.joints.items():
            if size := len(joint.free + joint.driven):
                shapes[name] = (size,)
        return Layout(shapes | dict.fromkeys(self.actuators, (1,)), "port", other_names(self.bodies))

    @cached_property
    def multipliers(self) -> Layout:
        """Names of λ: the rows of each joint."""
        sizes = {name: len(joint.rows) for name, joint in self.joints.items()}
        return Layout({name: (size,) for name, size in sizes.items() if size}, "joint")

    @cached_property
    def size(self) -> float:
        """A length of the mechanism: the longest side of a body, or the largest distance on the ground; 1 where there is none."""
        spans = [body.extent for body in self.bodies.values()]
        on_ground = [end.at for c in self.joints.values() for end in (c.first, c.second) if not end.body]
        spans += [float(np.linalg.norm(at - on_ground[0])) for at in on_ground]
        return max(spans, default=0.0) or 1.0

    @cached_property
    def loose(self) -> LinearPHDAE:
        """The bodies about rest, side by side, before any joint holds them; fields in body axes."""
        return append_systems(*(body.linear().prefixed(name) for name, body in self.bodies.items()))

    def joint(self, name: str) -> Connection:
        if not isinstance(name, str) or name not in self.joints:
            raise PortError(unknown("joint", name, self.joints))
        return self.joints[name]

    def __repr__(self) -> str:
        where = f" in the plane {self.plane}" if self.plane else ""
        also = [*self.elements, *self.actuators]
        forces = f"; forces {', '.join(also)}" if also else ""
        return f"System({', '.join(self.bodies)}; joints {', '.join(self.joints) or 'none'}{forces}{where})"

    def _repr_html_(self) -> str:
        said = {"in": f"the plane {self.plane}" if self.plane else "space", "gravity (m/s²)": self.gravity.tolist()}
        said["free"] = free_velocities(self.bodies, self.joints.values())
        tables = bodies_table(self.bodies) + joints_table(self.joints) + forces_table(self.elements, self.actuators)
        return facts("System", said | {"open ports": listed(self.ports)}) + tables


def connect(
    bodies: Mapping[str, Body | Assembly | System],
    joints: Sequence[Joint | Passive | Acting] = (),
    *,
    gravity: Sequence[float] | None = None,
    plane: str | None = None,
) -> System:
    """Bodies (or systems, whose bodies become "name.body") held together by joints, in space or in the plane "xy".

    Parameters
    ----------
    bodies : dict of str to Body or System
        What to connect, by name: what `discretise`, `split(…).discretise` or `connect` returned. Names hold no dot. The pieces of
        a split beam become "name.1", "name.2" …, welded; its ports are called as those of one beam.
    joints : list
        Joints, springs, dampers, bushings, forces, torques and loads, between ports "body.port" and "ground".
    gravity : (3,) sequence of float, optional
        Acceleration of gravity in inertial axes, m/s²; zero unless given here or by a connected system.
    plane : {None, "xy"}
        "xy" for motion in the plane, None for motion in space.

    Returns
    -------
    System
        Bodies on meshes without a floating frame are connected with `tie` instead, linear systems with `wire`.

    Raises
    ------
    InputError
        Names, ports, gravity or plane do not fit together; `JointError` where a joint does not fit its bodies.

    Examples
    --------
    >>> arm = ph.RigidBody(mass=2.0, inertia=0.1 * np.eye(3), center=(0.5, 0.0, 0.0)).discretise()
    >>> hinge = ph.Revolute("ground", "arm.P", name="hinge")
    >>> pendulum = ph.connect({"arm": arm}, [hinge], gravity=(0.0, -9.81, 0.0), plane="xy")
    >>> print(pendulum)
    System(arm; joints hinge in the plane xy)
    >>> list(pendulum.ports)
    ['arm.P', 'hinge']
    """
    if plane not in (None, "xy"):
        raise InputError(f"plane is {plane!r}; the one plane there is, is 'xy' (or None for space)")
    parts: dict[str, Body] = {}
    connections: dict[str, Connection] = {}
    elements: dict[str, Element] = {}
    actuators: dict[str, Actuator] = {}
    fields = {tuple(map(float, finite("gravity", gravity, (3,))))} if gravity is not None else set()
    for name, part in mapping("bodies", bodies, "{name: body}").items():
        if not isinstance(name, str) or not name or "." in name or name == GROUND:
            raise InputError(f"{name!r} cannot name a body: names are not empty, hold no dot, and are not 'ground'")
        if isinstance(part, System):
            _same_plane(name, part, plane)
            parts |= {f"{name}.{key}": body for key, body in part.bodies.items()}
            connections |= {f"{name}.{key}": nested_connection(name, c) for key, c in part.joints.items()}
            elements |= {f"{name}.{key}": nested_connection(name, e) for key, e in part.elements.items()}
            actuators |= {f"{name}.{key}": nested_actuator(name, a) for key, a in part.actuators.items()}
            fields |= {tuple(map(float, part.gravity))} if gravity is None or np.any(part.gravity) else set()
        elif isinstance(part, Body):
            parts[name] = _fitted(name, part, plane)
        elif isinstance(part, Assembly):
            pieces = {f"{name}.{k}": _fitted(name, body, plane) for k, body in enumerate(part.pieces, 1)}
            parts |= pieces
            connections |= welded(name, pieces, plane)
        else:
            raise InputError(f"{name!r} is {type(part).__name__}; {_instead(part, BODIES)}")
    if not parts:
        raise InputError("there are no bodies to connect; give at least one: connect({'rod': beam.discretise(4)}, …)")
    if len(fields) > 1:
        raise InputError(f"parts of the system have different gravity: {sorted(fields)}; give gravity once")
    listed = _listed(joints, {*connections, *elements, *actuators})
    connections |= {j.label: connected(j, parts, plane) for j in listed if isinstance(j, Joint)}
    elements |= {e.label: attached(e, parts, connections, plane) for e in listed if isinstance(e, Passive)}
    actuators |= {a.label: acting(a, parts, plane) for a in listed if isinstance(a, Acting)}
    for one in listed:
        if isinstance(one, Joint):
            check_connection(connections[one.label], parts)
        elif isinstance(one, Passive):
            check_element(elements[one.label], parts)
        else:
            check_actuator(actuators[one.label], parts)
    _warn_of_loose_bodies(parts, [*connections.values(), *elements.values()])
    _warn_of_thick_beams(bodies, plane)
    falling = np.array(fields.pop() if fields else (0.0, 0.0, 0.0))
    system = System(parts, connections, falling, plane, elements, actuators)
    if plane and system.gravity[2]:
        raise InputError(f"gravity {tuple(map(float, system.gravity))} leaves the plane xy")
    _distinct(system)
    return system


def _instead(thing: object, default: str) -> str:
    """What to do with a value that `connect` does not take."""
    if isinstance(thing, Continuum) and thing.frame is not None:
        return f"it has a frame to float with: {REDUCE}"
    return INSTEAD.get(type(thing), default)


def fits(system: System, state: object) -> State:
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
    """The system with the free axes of these joints closed, wherever they stand.

    Parameters
    ----------
    system : System
        It is not changed.
    *names : str
        Joints to lock, each with a free axis left.

    Returns
    -------
    System
        The same bodies with more rows in the multipliers of these joints; their ports are gone. States of `system` fit it too.

    Raises
    ------
    PortError, JointError
        There is no such joint, or it has no free axis left.

    Examples
    --------
    A brake that holds a level arm of 2 kg, its mass centre at 0.5 m, takes the moment m g l = 9.81 N m:

    >>> arm = ph.RigidBody(mass=2.0, inertia=0.1 * np.eye(3), center=(0.5, 0.0, 0.0)).discretise()
    >>> hinge = ph.Revolute("ground", "arm.P", name="hinge")
    >>> pendulum = ph.connect({"arm": arm}, [hinge], gravity=(0.0, -9.81, 0.0), plane="xy")
    >>> locked = ph.lock(pendulum, "hinge")
    >>> print(ph.reactions(locked, ph.place(pendulum))["hinge"].round(6) + 0.0)
    [ 0.   19.62  9.81]
    """
    return _closed(system, names, driving=False)


def drive(system: System, *names: str) -> System:
    """The system in which the free axes of these joints take a rate as input instead of an effort.

    Parameters
    ----------
    system : System
        It is not changed.
    *names : str
        Joints to drive, each with a free axis left. Their inputs are rad/s or m/s, or `prescribed_position(f)`; zero by default.

    Returns
    -------
    System
        The same bodies, with the effort of each drive (N m or N) as the last of the joint's multipliers. States of `system` fit it.

    Examples
    --------
    >>> arm = ph.RigidBody(mass=2.0, inertia=0.1 * np.eye(3), center=(0.5, 0.0, 0.0)).discretise()
    >>> free = ph.connect({"arm": arm}, [ph.Revolute("ground", "arm.P", name="motor")], plane="xy")
    >>> driven = ph.drive(free, "motor")
    >>> start = ph.set_moving(driven, ph.place(driven), u={"motor": 3.0})
    >>> result = ph.simulate(driven, start, t_end=1.0, dt=0.01, u={"motor": 3.0})
    >>> print(result["motor.angle"][-1].round(6))
    3.0
    """
    return _closed(system, names, driving=True)


def _closed(system: System, names: Sequence[str], *, driving: bool) -> System:
    joints = dict(system.joints)
    for name in names:
        c = system.joint(name)
        if not c.free:
            raise JointError(f"joint {name!r} has no free axis left to {'drive' if driving else 'lock'}")
        check_connection(c, system.bodies, c.free)
        driven, locked = (c.free, ()) if driving else ((), c.free)
        joints[name] = replace(c, free=(), driven=c.driven + driven, locked=c.locked + locked)
    return replace(system, joints=joints)


def _listed(joints: object, taken: set[str]) -> Sequence[Joint | Passive | Acting]:
    """What stands in the list of joints, each with a name of its own."""
    if not isinstance(joints, Sequence) or isinstance(joints, str):
        raise InputError(f"joints is {type(joints).__name__}; it must be a list: [Revolute(…), …]")
    for joint in joints:
        if not isinstance(joint, Joint | Passive | Acting):
            raise InputError(f"one of the joints is {joint!r}; {_instead(joint, JOINTS)}")
        if joint.label in taken:
            raise JointError(f"two joints are called {joint.label!r}; give one of them a name")
        taken = taken | {joint.label}
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


def _distinct(system: System) -> None:
    for name in (*system.joints, *system.elements, *system.actuators):
        body, _, port = name.rpartition(".")
        if name in system.ports.also or (body in system.bodies and port in system.bodies[body].ports):
            raise InputError(f"a joint and a body port are both called {name!r}; name the joint differently")


def _warn_of_loose_bodies(bodies: Mapping[str, Body], joints: Sequence[Connection | Element]) -> None:
    touched = {end.body for c in joints for end in (c.first, c.second)}
    loose = [name for name in bodies if name not in touched]
    if joints and loose:
        said = ", ".join(map(repr, loose))
        warnings.warn(f"no joint touches {said}; it will drift freely", LooseBodyWarning, stacklevel=3)


def _warn_of_thick_beams(given: Mapping[str, object], plane: str | None) -> None:
    said = []
    for name, part in given.items():
        body = part.piece(0) if isinstance(part, Assembly) else part
        if isinstance(body, Body) and isinstance(body.recipe, Beam):
            share = body.recipe.shear_share(max(body.pieces, 1), plane is not None)
            said += [f"{name!r} by {100 * share:.2g} %"] if share > THICK else []
    if said:
        warnings.warn(
            f"the theory of these beams has no shear, which would add to the tip deflection of a cantilever: {', '.join(said)}; "
            'frequencies are too high by half of that and more; use theory="timoshenko"',
            ThickBeamWarning,
            stacklevel=3,
        )
