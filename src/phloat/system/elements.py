"""Force elements as parts of a system: springs and dampers on rows between two ports, and what pushes at an input."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phloat.bodies.body import Body, Port
from phloat.joints.force_laws import Passive
from phloat.joints.laws import Law
from phloat.joints.loads import Acting
from phloat.joints.port_state import section_axes
from phloat.joints.rows import Row
from phloat.system.connection import End
from phloat.system.state import Pose


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
