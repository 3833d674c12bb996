"""Force elements as parts of a system: springs and dampers on rows between two ports, and what pushes at an input."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phloat.bodies.body import Body, Port
from phloat.joints.elements import Acting, Passive
from phloat.joints.pieces import ABSOLUTE, NONE, Pieces
from phloat.joints.port_state import section_axes
from phloat.joints.rows import Row
from phloat.system.connection import End
from phloat.system.state import Pose

PLACES = 1e-14  # of a place: by so much it is unknown


@dataclass(frozen=True, eq=False)
class Law:
    """The effort on a coordinate x of a row: −k (x − x₀) − S(x − x₀) − c ẋ − D(ẋ), with piecewise polynomials S and D."""

    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0
    spring: Pieces = NONE
    damper: Pieces = NONE

    def force(self, gap: float, rate: float) -> float:
        """The effort along the row on its coordinate."""
        return self.pull(gap) - self.damping * rate - self.damper.value(rate)

    def pull(self, gap: float) -> float:
        """The effort of the spring alone, −∂U/∂x."""
        x = gap - self.rest
        return -self.stiffness * x - self.spring.value(x)

    def energy(self, gap: float) -> float:
        """U = ½ k (x − x₀)² + ∫S: zero at rest."""
        x = gap - self.rest
        return 0.5 * self.stiffness * x**2 + self.spring.integral(x)

    def slope(self, gap: float) -> float:
        """∂²U/∂x²: the stiffness at x."""
        return self.stiffness + self.spring.slope(gap - self.rest)

    def round_off(self, gap: float, far: float) -> float:
        """What the effort of the spring is unknown by: round-off of places at the distance `far`, and the fit of a function."""
        return PLACES * abs(self.slope(gap)) * (abs(gap) + abs(self.rest) + far) + ABSOLUTE * self.spring.largest

    def resistance(self, rate: float) -> float:
        """Damping effort over rate, never negative; the slope at no rate."""
        return self.damping + self.damper.secant(rate)

    def damping_at(self, rate: float) -> float:
        """∂ of the damping effort by the rate: what small motion about this rate feels."""
        return self.damping + self.damper.slope(rate)

    @property
    def stores(self) -> bool:
        """Whether there is a spring in it."""
        return self.stiffness != 0.0 or not self.spring.zero

    @property
    def resists(self) -> bool:
        """Whether there is a damper in it."""
        return self.damping != 0.0 or not self.damper.zero


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
