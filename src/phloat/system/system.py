"""Systems: bodies, joints and force elements, connected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from phloat.algebra.layout import Layout, joined_layouts
from phloat.algebra.tables import facts, grid, name_list
from phloat.bodies.body import Body, matrices_at_rest
from phloat.errors import InputError, PortError, unknown
from phloat.linear.form.fields import Field, Fields
from phloat.linear.form.phdae import LinearPHDAE
from phloat.system.actuators import Actuator
from phloat.system.connection import Connection, Element, End
from phloat.system.joint_groups import JointGroups
from phloat.system.places import port_aliases
from phloat.system.state import State, state_layout


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
        """The named blocks of the state e."""
        return state_layout(self.bodies)

    @cached_property
    def ports(self) -> Layout:
        """The open ports: all ports of bodies (wrench in, twist out), free axes of joints, drives, forces and torques."""
        shapes: dict[str, tuple[int, ...]] = {}
        for name, body in self.bodies.items():
            shapes |= {f"{name}.{port}": (len(body.active),) for port in body.ports}
        for name, joint in self.joints.items():
            if size := len(joint.free + joint.driven):
                shapes[name] = (size,)
        return Layout(shapes | dict.fromkeys(self.actuators, (1,)), "port", port_aliases(self.bodies))

    @cached_property
    def multipliers(self) -> Layout:
        """The named blocks of λ: the rows of each joint."""
        sizes = {name: len(joint.rows) for name, joint in self.joints.items()}
        return Layout({name: (size,) for name, size in sizes.items() if size}, "joint")

    @cached_property
    def joint_groups(self) -> JointGroups:
        """The joints by groups that are evaluated together."""
        return JointGroups(self.bodies, self.joints, self.layout)

    @cached_property
    def run_buffers(self) -> dict[tuple[str, ...], Any]:
        """The packed buffers of runs, by the ports that have inputs; each run takes a copy."""
        return {}

    @cached_property
    def size(self) -> float:
        """A characteristic length (m): the longest side of a body or distance of joints on the ground; 1 if all are 0."""
        spans = [body.extent for body in self.bodies.values()]
        on_ground = [end.at for c in self.joints.values() for end in (c.first, c.second) if not end.body]
        spans += [float(np.linalg.norm(at - on_ground[0])) for at in on_ground]
        return max(spans, default=0.0) or 1.0

    @cached_property
    def loose(self) -> LinearPHDAE:
        """The linear system of all bodies at rest without any joint; its fields are in body axes."""
        bodies = self.bodies
        velocities = joined_layouts((body.velocities.prefixed(name) for name, body in bodies.items()), "row")
        ports = joined_layouts((body.twists.prefixed(name) for name, body in bodies.items()), "port")
        stresses = Layout({f"{name}.sigma": (body.stresses,) for name, body in bodies.items() if body.stresses})
        size, stop = velocities.size + stresses.size, np.cumsum([len(body.columns) for body in bodies.values()])
        fields = {
            f"{name}.body": partial(_field, body, int(end) - len(body.columns), size)
            for (name, body), end in zip(bodies.items(), stop, strict=True)
        }
        return matrices_at_rest(list(bodies.values())).system(
            velocities,
            ports,
            stresses,
            Fields(fields),
            {f"{name}.sigma": body.elastic.stresses for name, body in bodies.items() if body.stresses},
        )

    def __getstate__(self) -> dict[str, Any]:
        # buffers are large, and packed again where the copy runs
        return {name: value for name, value in vars(self).items() if name != "run_buffers"}

    def joint(self, name: str) -> Connection:
        if not isinstance(name, str) or name not in self.joints:
            raise PortError(unknown("joint", name, self.joints))
        return self.joints[name]

    def __repr__(self) -> str:
        location = f" in the plane {self.plane}" if self.plane else ""
        force_names = [*self.elements, *self.actuators]
        forces = f"; forces {', '.join(force_names)}" if force_names else ""
        return f"System({', '.join(self.bodies)}; joints {', '.join(self.joints) or 'none'}{forces}{location})"

    def _repr_html_(self) -> str:
        rows = {"in": f"the plane {self.plane}" if self.plane else "space", "gravity (m/s²)": self.gravity.tolist()}
        moving = sum(len(b.active) + b.coordinates for b in self.bodies.values())
        free = f"{moving} velocities − {self.multipliers.size} rows closed = {moving - self.multipliers.size}"
        rows["free"] = f"{free} (more where joints repeat each other)"
        return facts("System", rows | {"open ports": name_list(self.ports)}) + _tables(self)


def _field(body: Body, start: int, size: int) -> Field:
    """The field of a body whose velocities begin at this row of a system."""
    return body.field.in_rows(lambda A: sp.csr_array((A.data, A.indices + start, A.indptr), shape=(A.shape[0], size)))


def fits(system: System, state: object) -> State:
    """Returns the state with the bodies of this system. Raises InputError unless it is a finite state of the same bodies."""
    if not isinstance(system, System):
        raise InputError(f"{type(system).__name__} is no System; connect(…) makes one")
    if not isinstance(state, State):
        raise InputError(f"{type(state).__name__} is no State; make one with place(system, …)")
    if tuple(state.bodies) != tuple(system.bodies):
        raise InputError(f"the state is of {', '.join(state.bodies)}, the system of {', '.join(system.bodies)}")
    if state.layout != system.layout:
        expected, actual = system.layout.shapes, state.layout.shapes
        name = next(name for name in [*expected, *actual] if expected.get(name) != actual.get(name))
        raise InputError(
            f"the state is of other bodies: {name} has shape {actual.get(name, 'none')} there, {expected.get(name, 'none')} here; "
            "make one with place(system, …)"
        )
    if state.e.shape != (state.layout.size,):
        raise InputError(f"the state has {state.e.size} numbers; its bodies need {state.layout.size}")
    if not np.isfinite(state.e).all():
        quantity = state.layout.owner(int(np.argmin(np.isfinite(state.e))))
        raise InputError(f"the state holds NaN or infinity at {quantity}")
    return state if state.bodies is system.bodies else replace(state, bodies=system.bodies)


# --- tables for notebooks --------------------------------------------------------------------------------------------


def _tables(system: System) -> str:
    """Bodies; joints; springs, dampers and bushings, forces, torques and loads."""
    bodies = (
        (name, type(b.recipe).__name__, f"{b.inertia.m:.5g}", b.coordinates, name_list(b.ports))
        for name, b in system.bodies.items()
    )
    joints = ((n, type(c.joint).__name__, ends_text(c), len(c.rows), _open_ports(c)) for n, c in system.joints.items())
    forces = [(name, type(e.recipe).__name__, ends_text(e), "") for name, e in system.elements.items()]
    forces += [(n, type(a.recipe).__name__, a.body, f"{n}: effort") for n, a in system.actuators.items()]
    return (
        grid("bodies", ("name", "made of", "mass (kg)", "coordinates", "ports"), bodies)
        + grid("joints", ("name", "type", "between", "rows closed", "open port"), joints)
        + grid("forces", ("name", "type", "at", "open port"), forces)
    )


def ends_text(c: Connection | Element) -> str:
    """The names of the two ports of a joint or element, for tables."""
    return f"{_end(c.first)} — {_end(c.second)}"


def _end(end: End) -> str:
    return f"{end.body}.{end.port}" if end.body else "ground"


def _open_ports(c: Connection) -> str:
    inputs = [f"{row.label}: effort" for row in c.free]
    return ", ".join(inputs + ([f"{len(c.driven)} rates"] if c.driven else []))
