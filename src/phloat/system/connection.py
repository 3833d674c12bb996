"""The ends that joints and force elements have at bodies or the ground, and joints as parts of a system."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phloat.bodies.body import Body, Port
from phloat.joints.force_laws import Passive
from phloat.joints.laws import Law
from phloat.joints.loads import Acting
from phloat.joints.pairs import Joint
from phloat.joints.port_state import PortState, ground_port, section_axes
from phloat.joints.rows import Row
from phloat.system.state import Pose, State, computed_once


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
