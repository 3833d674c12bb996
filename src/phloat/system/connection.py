"""The ends that joints and force elements have at bodies or the ground, and joints as parts of a system."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phloat.joints.pairs import Joint
from phloat.joints.port_state import PortState, ground_port
from phloat.joints.rows import Row
from phloat.system.state import State, computed_once


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
