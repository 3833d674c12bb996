"""Driven joints by position instead of velocity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from phloat.algebra.cross import orthonormality_defect
from phloat.errors import InputError, JointError, finite
from phloat.motion.inputs.signals import GAUSS, difference, vector, vectors
from phloat.system.system import System

AGAIN = 5e-4  # seconds between the velocities of a second difference, themselves differences


@dataclass(frozen=True)
class Position:
    """Where a driven joint stands, as a function of t; `rate`, if given, is its velocity."""

    function: Callable[[float], object]
    rate: Callable[[float], object] | None = None


def position(f: Callable[[float], object], *, rate: Callable[[float], object] | None = None) -> Position:
    """A driven joint by position: u={"motor": position(f)}, where f(t) is its angle or slide, or the point of a Drive.

    A Drive of a pose takes (x, y, θ) in a plane and the pair (point, 3 × 3 rotation) in space. Velocities are differences
    of f unless `rate` gives them.
    """
    for what, given in (("position", f), ("the rate of a position", rate)):
        if not callable(given) and not (given is None and given is rate):
            raise InputError(f"{what} is {given!r}; it must be a function of t")
    return Position(f, rate)


@dataclass(frozen=True, eq=False)
class Path:
    """A position as an input of a driven joint: `at`, `mean` and `rate` are of its velocity."""

    name: str
    position: Position
    shape: tuple[int, ...]
    posed: bool  # a point and a rotation in space

    def place(self, t: float) -> np.ndarray:
        """The position at t: the coordinates, or a point and the nine entries of a rotation."""
        what, value = f"the position of {self.name!r} at t = {t:g} s", self.position.function(t)
        if not self.posed:
            return vector(what, value, self.shape)
        if not isinstance(value, (tuple, list)) or len(value) != 2:
            raise InputError(f"{what} must be a pair (point, 3 × 3 rotation)")
        point, A = finite(f"the point of {what}", value[0], (3,)), finite(f"the rotation of {what}", value[1], (3, 3))
        if (defect := orthonormality_defect(A)) > 1e-9:
            raise InputError(f"{what} has no rotation: AᵀA misses the identity by {defect:.1e}")
        return np.concatenate([point, A.ravel()])

    def places(self, times: np.ndarray) -> np.ndarray:
        """The positions at many times, as rows."""
        if self.posed:
            return np.array([self.place(t) for t in times])
        return vectors(f"the position of {self.name!r}", self.position.function, times, self.shape)

    def at(self, t: float) -> np.ndarray:
        """The velocity at t; for a pose (v, ω) in inertial axes."""
        if self.position.rate is not None:
            return vector(f"the rate of {self.name!r} at t = {t:g} s", self.position.rate(t), self.shape)
        rate = difference(self.place, t)
        if not self.posed:
            return rate
        S = rate[3:].reshape(3, 3) @ self.place(t)[3:].reshape(3, 3).T  # Ȧ Aᵀ = [ω]×
        return np.concatenate([rate[:3], 0.5 * np.array([S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]])])

    def mean(self, t0: float, t1: float) -> np.ndarray:
        """The mean velocity over [t0, t1]: the change of the coordinates; of an angular velocity by three Gauss points."""
        if t0 == t1:
            return self.at(t0)
        out = (self.place(t1) - self.place(t0))[: self.shape[0]] / (t1 - t0)
        if self.posed:
            middle, half = 0.5 * (t0 + t1), 0.5 * (t1 - t0)
            out[3:] = sum((weight * self.at(middle + half * x)[3:] for x, weight in GAUSS), np.zeros(3))
        return out

    def rate(self, t: float) -> np.ndarray:
        """The acceleration at t."""
        return difference(self.at, t, AGAIN)


def path(system: System, name: str, given: Position) -> Path:
    """A position for a port, or a sentence if that port is not driven or has no position."""
    joint = system.joints.get(name)
    if joint is None or not joint.driven:
        raise JointError(
            f"input {name!r} is a position, but it takes an effort; only driven joints take positions: "
            "Drive(…), or drive(system, name)"
        )
    if not all(row.has_gap for row in joint.driven):
        raise JointError(f"input {name!r} is a position, but this joint has no angle or slide; give its rate instead")
    posed = joint.joint.moves_ground and sum(not row.is_length for row in joint.driven) == 3
    return Path(name, given, system.ports.shape(name), posed)
