"""Building systems: `connect` joins bodies, `lock` and `drive` close free axes, `wire` joins linear systems."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from phloat.algebra.sparse import csr, largest
from phloat.bodies.beams.beam import Beam
from phloat.bodies.beams.split import Assembly
from phloat.bodies.body import Body
from phloat.bodies.continua.continuum import Continuum
from phloat.bodies.continua.stress_continuum import FLOAT, StressContinuum
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
from phloat.joints.elements import Passive
from phloat.joints.loads import Acting, Distributed
from phloat.joints.pairs import Joint
from phloat.joints.tie import Tie
from phloat.linear.form.interconnect import append_systems, with_feedback
from phloat.linear.form.phdae import LinearPHDAE
from phloat.system.actuators import Actuator
from phloat.system.connection import (
    Connection,
    Element,
    Part,
    body_name,
    nested_part,
    piece_welds,
    require_recipes,
    resolve_part,
)
from phloat.system.plausible import section_width, warn_of_units
from phloat.system.port_checks import check_ports
from phloat.system.system import System


@dataclass(frozen=True)
class Wire:
    """A wire from a port of a controller to a port of the plant: u_plant = −gain y_controller, u_controller = gain y_plant.

    It is a gyrator: the power that leaves one system enters the other.
    """

    controller: str
    plant: str
    gain: float = 1.0

    def __post_init__(self) -> None:
        for side, name in (("controller", self.controller), ("plant", self.plant)):
            if not isinstance(name, str):
                raise PortError(f"Wire: {name!r} names no port of the {side}; write its name, such as 'motor'")
        if finite("gain of a Wire", self.gain, ()) == 0.0:
            raise InputError("gain of a Wire is zero; nothing would ever pass through it")


BODIES = "connect takes what discretise(…) or connect(…) returned"
JOINTS = "it must be Revolute(…), Weld(…), Spring(…), …"
REDUCE = "reduce it before it is connected: reduced(modes=…)"
INSTEAD: dict[type, str] = {
    Continuum: f"tie(bodies, ties) connects it for small motions; or give it a frame and {REDUCE}",
    StressContinuum: FLOAT,
    Tie: "it is for small motions: tie(bodies, ties)",
    Wire: "it joins linear systems: wire(systems, wires)",
    LinearPHDAE: "linear systems are joined with wire(systems, wires)",
}
THICK = 0.01  # of the tip deflection of a cantilever: what shear may add where a theory leaves it out


def connect(
    bodies: Mapping[str, Body | Assembly | System],
    joints: Sequence[Joint | Passive | Acting | Distributed] = (),
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
        raise InputError(f"plane is {plane!r}; it must be 'xy', or None for space")
    all_bodies: dict[str, Body] = {}
    by_class: dict[type, dict[str, Any]] = {Connection: {}, Element: {}, Actuator: {}}
    gravities = {tuple(map(float, finite("gravity", gravity, (3,))))} if gravity is not None else set()
    for name, part in mapping("bodies", bodies, "{name: body}").items():
        body_name(name)
        if isinstance(part, System):
            if part.plane != plane:
                raise InputError(
                    f"system {name!r} is in {part.plane or 'space'}, the whole in {plane or 'space'}; give both one plane"
                )
            all_bodies |= {f"{name}.{key}": body for key, body in part.bodies.items()}
            inner_parts: list[Part] = [*part.joints.values(), *part.elements.values(), *part.actuators.values()]
            for recipe_part in inner_parts:
                by_class[type(recipe_part)][f"{name}.{recipe_part.name}"] = nested_part(name, recipe_part)
            gravities |= {tuple(map(float, part.gravity))} if gravity is None or np.any(part.gravity) else set()
        elif isinstance(part, Body):
            all_bodies[name] = _body_for_plane(name, part, plane)
        elif isinstance(part, Assembly):
            pieces = {f"{name}.{k}": _body_for_plane(name, body, plane) for k, body in enumerate(part.pieces, 1)}
            all_bodies |= pieces
            by_class[Connection] |= {weld.name: weld for weld in piece_welds(name, pieces, plane)}
        else:
            raise InputError(f"{name!r} is {type(part).__name__}; {_advice(part, BODIES)}")
    if not all_bodies:
        raise InputError("there are no bodies to connect; give at least one: connect({'rod': beam.discretise(4)}, …)")
    if len(gravities) > 1:
        raise InputError(f"parts of the system have different gravity: {sorted(gravities)}; give gravity once")
    used_names = [name for group in by_class.values() for name in group]
    kinds = Joint | Passive | Acting | Distributed
    recipes = require_recipes("joints", joints, kinds, used_names, lambda recipe: _advice(recipe, JOINTS))
    for recipe in sorted(recipes, key=lambda recipe: not isinstance(recipe, Joint)):  # springs act on axes of joints
        recipe_part = resolve_part(recipe, all_bodies, by_class[Connection], plane)
        by_class[type(recipe_part)][recipe_part.name] = recipe_part
        check_ports(recipe_part, all_bodies)
    _warn_of_loose_bodies(all_bodies, [*by_class[Connection].values(), *by_class[Element].values()])
    warn_of_units({name: part.piece(0) if isinstance(part, Assembly) else part for name, part in bodies.items()})
    _warn_of_thick_beams(bodies, plane)
    acceleration = np.array(gravities.pop() if gravities else (0.0, 0.0, 0.0))
    system = System(all_bodies, by_class[Connection], acceleration, plane, by_class[Element], by_class[Actuator])
    if plane and system.gravity[2]:
        raise InputError(
            f"gravity {tuple(map(float, system.gravity))} is not in the plane xy; to connect in space, leave out plane="
        )
    _require_distinct_names(system)
    return system


def _advice(value: object, default: str) -> str:
    """The advice of the error message for a value that `connect` does not accept."""
    if isinstance(value, Continuum) and value.frame is not None:
        return f"{REDUCE}, or leave frame= out and use tie(bodies, ties) for small motions"
    return INSTEAD.get(type(value), default)


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
    return _close_free_axes(system, names, driving=False)


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
    return _close_free_axes(system, names, driving=True)


def _close_free_axes(system: System, names: Sequence[str], *, driving: bool) -> System:
    """The system in which the free axes of these joints are driven or locked."""
    joints = dict(system.joints)
    for name in names:
        c = system.joint(name)
        if not c.free:
            raise JointError(f"joint {name!r} has no free axis left to {'drive' if driving else 'lock'}")
        check_ports(c, system.bodies, c.free)
        driven, locked = (c.free, ()) if driving else ((), c.free)
        joints[name] = replace(c, free=(), driven=c.driven + driven, locked=c.locked + locked)
    return replace(system, joints=joints)


def _body_for_plane(name: str, body: Body, plane: str | None) -> Body:
    """The body restricted to the plane, or the body itself in space. Raises InputError if it cannot move in space."""
    if plane:
        return body.in_plane()
    if body.needs:
        raise InputError(f"in space, body {name!r} needs {body.needs}; or connect in a plane: plane='xy'")
    if len(body.active) == 3 and body.rotates:
        raise InputError(f"body {name!r} was restricted to a plane; discretise it again for space")
    return body


def _require_distinct_names(system: System) -> None:
    """Raises InputError if a joint or force element has the name of a port of a body."""
    for name in (*system.joints, *system.elements, *system.actuators):
        body, _, port = name.rpartition(".")
        if name in system.ports.also or (body in system.bodies and port in system.bodies[body].ports):
            raise InputError(f"a joint and a body port are both called {name!r}; name the joint differently")


def _warn_of_loose_bodies(bodies: Mapping[str, Body], joints: Sequence[Connection | Element]) -> None:
    """Warns of bodies at which no joint and no force element ends."""
    jointed = {end.body for c in joints for end in (c.first, c.second)}
    loose = [name for name in bodies if name not in jointed]
    if joints and loose:
        names = ", ".join(map(repr, loose))
        warnings.warn(f"no joint touches {names}; without a joint a body drifts freely", LooseBodyWarning, stacklevel=3)


def _warn_of_thick_beams(parts: Mapping[str, object], plane: str | None) -> None:
    """Warns of beams without shear flexibility that are so thick that shear would matter."""
    shares, found = [], dict[int, str]()  # of each body once
    for name, part in parts.items():
        body = part.piece(0) if isinstance(part, Assembly) else part
        if isinstance(body, Body) and isinstance(body.recipe, Beam):
            if id(body) not in found:
                found[id(body)] = _thickness_text(body, body.recipe, plane)
            shares += [f"{name!r} {found[id(body)]}"] if found[id(body)] else []
    if shares:
        warnings.warn(
            f"the theory of these beams has no shear, which would add to the tip deflection of a cantilever: {', '.join(shares)}; "
            'frequencies are too high by half of that and more; use theory="timoshenko"',
            ThickBeamWarning,
            stacklevel=3,
        )


def _thickness_text(body: Body, beam: Beam, plane: str | None) -> str:
    """By how much shear would add to the deflection of a beam that leaves it out; empty if that is little."""
    share = beam.shear_share(max(body.pieces, 1), plane is not None)
    doubtful = share > THICK and section_width(beam) > beam.length  # has its own warning
    return f"by {100 * share:.2g} %" if share > THICK and not doubtful else ""


# --- linear systems --------------------------------------------------------------------------------------------------


def wire(systems: Mapping[str, Any], wires: Sequence[Any]) -> LinearPHDAE:
    """Linear systems joined by wires: a plant and its controller, each taking the other's output.

    Parameters
    ----------
    systems : dict of str to LinearPHDAE or Body
        The systems by name; a body is taken about rest.
    wires : list of Wire
        Each between "name.port" and "name.port". Its first port is closed, the second stays open: inputs there come on top.

    Returns
    -------
    LinearPHDAE
        Rows and ports are named "name.row" and "name.port". No power is lost in a wire: J gains skew blocks.

    Examples
    --------
    A cart of 2 kg with a spring of 8 N/m as its controller oscillates at √(8/2) = 2 rad/s.

    >>> rail = ph.Prismatic("ground", "cart.P", axis=(1, 0, 0), name="rail")
    >>> system = ph.connect({"cart": ph.RigidBody(2.0, np.eye(3)).discretise()}, [rail])
    >>> cart = ph.eliminate(ph.linearise(system, ph.place(system)).with_ports("rail"))
    >>> spring = ph.control.passive_pid("rail", stiffness=8.0)
    >>> wires = [ph.Wire(f"spring.{w.controller}", f"cart.{w.plant}", w.gain) for w in spring.wires]
    >>> print(ph.modes(ph.wire({"cart": cart, "spring": spring.system}, wires)).omega.round(6))
    [2.]
    """
    for name, part in systems.items():
        if not isinstance(part, (LinearPHDAE, Body)):
            raise InputError(
                f"{name!r} is {type(part).__name__}; linear systems connect with linear ones: linearise(system, state)"
            )
    for wire in wires:
        if not isinstance(wire, Wire):
            raise InputError(f"{type(wire).__name__} does not hold linear systems together; use Wire(port, port)")
    linear = {name: part.linear() if isinstance(part, Body) else part for name, part in systems.items()}
    combined = append_systems(*(system.prefixed(name) for name, system in linear.items()))
    for wire in wires:
        for port in (wire.controller, wire.plant):
            if port not in combined.ports:
                raise PortError(unknown("port", port, combined.ports))
            if largest(combined.B_lam[:, combined.ports[port]]):
                raise JointError(f"port {port!r} takes a flow; a wire needs ports that take an effort")
        size, other = (combined.ports.shape(port)[0] for port in (wire.controller, wire.plant))
        if size != other:
            raise JointError(
                f"{wire.controller!r} has {size} components and {wire.plant!r} {other}; a wire needs equal ones"
            )
    U = sp.lil_array((combined.ports.size,) * 2)
    for wire in wires:
        U[combined.ports[wire.plant], combined.ports[wire.controller]] -= wire.gain * np.eye(
            combined.ports.shape(wire.plant)[0]
        )
    controller_ports = {wire.controller for wire in wires}
    combined = with_feedback(combined, csr(U))
    return combined.with_ports(*(port for port in combined.ports if port not in controller_ports))
