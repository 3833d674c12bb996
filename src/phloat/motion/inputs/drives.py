"""Driven joints in motion: what moves is the frame (or the target) of the first port, and its increments over a step are exact.

A velocity is integrated over the step first; a position is taken as it is, so that the gap stays at round-off. Each drive says
where it starts, and where it is after each of some steps from where it was before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from phloat.algebra.cross import orthonormality_defect, rot, rotation
from phloat.errors import InputError, JointError, finite
from phloat.motion.inputs.signals import GAUSS, Signal, as_vector, as_vectors, derivative
from phloat.system.system import System

NEAR = 1e-6  # how far a drive by position may stand from its joint at the start
GAUSS_2 = 0.5 / np.sqrt(3.0)

Signals = Mapping[str, Signal]


@dataclass(frozen=True, eq=False)
class Coordinate:
    """A driven angle or slide: the target of its row."""

    name: str
    component: int
    start: np.ndarray

    def moved(self, value: np.ndarray, signals: Signals, times: np.ndarray) -> np.ndarray:
        """The target at the times after the first, as rows."""
        signal = signals.get(self.name)
        if isinstance(signal, Path):
            return signal.places(times[1:])[:, [self.component]]
        if signal is None:
            return np.tile(value, (len(times) - 1, 1))
        return _summed(value, np.diff(times)[:, None] * signal.means(times)[:, [self.component]])

    def require_at(self, place: np.ndarray, t: float) -> None:
        """Raises JointError if a position at the start is not where the joint stands."""
        wanted, stands = float(place[self.component]), float(self.start[0])
        if abs(wanted - stands) > NEAR * max(1.0, abs(wanted)):
            raise JointError(
                f"drive {self.name!r} starts at {wanted:.6g}, but the joint stands at {stands:.6g} at t = {t:g} s; "
                "place it there first"
            )


@dataclass(frozen=True, eq=False)
class Frame:
    """A driven frame of the ground: a place, and nine numbers of its directions, as rows."""

    name: str
    start: np.ndarray
    triad: np.ndarray  # the joint triad in the port's frame, as rows
    linear: int
    turning: int  # angular inputs: 0, 1 in a plane, 3 in space

    def moved(self, value: np.ndarray, signals: Signals, times: np.ndarray) -> np.ndarray:
        """Place and directions at the times after the first, as rows."""
        signal, out = signals.get(self.name), np.tile(value, (len(times) - 1, 1))
        if isinstance(signal, Path):
            return np.array([self._at(given) for given in signal.places(times[1:])])
        if signal is None:
            return out
        mean, linear = signal.means(times), slice(0, self.linear)
        out[:, linear] = _summed(value[linear], np.diff(times)[:, None] * mean[:, linear])
        for k, (t0, t1) in enumerate(pairwise(times) if self.turning else ()):
            before = out[k - 1, 3:] if k else value[3:]
            out[k, 3:] = (before.reshape(3, 3) @ self._turned(signal, t0, t1, mean[k]).T).ravel()
        return out

    def _turned(self, signal: Signal, t0: float, t1: float, mean: np.ndarray) -> np.ndarray:
        """The rotation over a step: exact about a fixed axis, of fourth order else (Magnus)."""
        h, middle = t1 - t0, 0.5 * (t0 + t1)
        if self.turning == 1:
            return rot(h * mean[self.linear])
        early, late = (signal.at(middle + x * h)[self.linear :] for x in (-GAUSS_2, GAUSS_2))
        return rotation(h * mean[self.linear :] - np.sqrt(3.0) / 12 * h**2 * np.cross(early, late))

    def _at(self, given: np.ndarray) -> np.ndarray:
        out = self.start.copy()
        out[: self.linear] = given[: self.linear]
        if self.turning:
            A = rot(float(given[2])) if self.turning == 1 else given[3:].reshape(3, 3)
            out[3:] = (self.triad @ A.T).ravel()
        return out

    def require_at(self, place: np.ndarray, t: float) -> None:
        """Raises JointError if a position at the start is not where the port stands."""
        miss = np.abs(self._at(place) - self.start)
        if miss[:3].max() > NEAR * max(1.0, float(np.abs(self.start[:3]).max())) or miss[3:].max() > NEAR:
            raise JointError(
                f"drive {self.name!r} starts {miss[:3].max():.3g} m and {miss[3:].max():.3g} rad away from its port at "
                f"t = {t:g} s; place it there first"
            )


@dataclass(frozen=True, eq=False)
class Swivel:
    """A driven ball joint: the directions of the first port, in its frame, turned by the rates along them."""

    name: str
    triad: np.ndarray  # rows
    axes: tuple[int, ...]

    @property
    def start(self) -> np.ndarray:
        return self.triad.ravel()

    def moved(self, value: np.ndarray, signals: Signals, times: np.ndarray) -> np.ndarray:
        """The directions at the times after the first, as rows."""
        rates, signal = np.zeros((len(times) - 1, 3)), signals.get(self.name)
        if signal is not None:
            rates[:, list(self.axes)] = signal.means(times)
        out = []
        for h, rate in zip(np.diff(times), rates, strict=True):
            turned = value.reshape(3, 3) @ self.triad.T  # transposed
            value = (turned @ rotation(h * rate).T @ self.triad).ravel()
            out.append(value)
        return np.array(out)


def _summed(start: np.ndarray, changes: np.ndarray) -> np.ndarray:
    """Cumulative sums from a start, as rows."""
    return np.add.accumulate(np.vstack([start, changes]), axis=0)[1:]


Moving = Coordinate | Frame | Swivel


# --- positions --------------------------------------------------------------------------------------------------------
#
# Driven joints by position instead of velocity.


AGAIN = 5e-4  # seconds between the velocities of a second difference, themselves differences


@dataclass(frozen=True)
class Position:
    """Where a driven joint stands, as a function of t; `rate`, if given, is its velocity."""

    function: Callable[[float], object]
    rate: Callable[[float], object] | None = None


def prescribed_position(f: Callable[[float], object], *, rate: Callable[[float], object] | None = None) -> Position:
    """A driven joint by position instead of velocity: u={"motor": prescribed_position(f)}.

    Parameters
    ----------
    f : callable
        f(t), t in s: the angle (rad) or slide (m) of a driven joint, or the point (m) of a `Drive`. A `Drive` of a pose takes
        (x, y, θ) in a plane and the pair (point, 3 × 3 rotation) in space. It begins where the joint stands. It may be asked for a
        little more than the run: up to a step beyond its end, and 0.3 ms before its start unless that is 0.
    rate : callable, optional
        Its velocity at t; differences of f (sixth order) are taken without it.

    Returns
    -------
    Position
        An input for `simulate`, `set_moving`, `settle` and the like.

    Examples
    --------
    >>> arm = ph.RigidBody(mass=2.0, inertia=0.1 * np.eye(3), center=(0.5, 0.0, 0.0)).discretise()
    >>> free = ph.connect({"arm": arm}, [ph.Revolute("ground", "arm.P", name="motor")], plane="xy")
    >>> robot = ph.drive(free, "motor")
    >>> u = {"motor": ph.prescribed_position(lambda t: 0.5 * t**2, rate=lambda t: t)}
    >>> result = ph.simulate(robot, ph.place(robot), t_end=1.0, dt=0.01, u=u)
    >>> print(result["motor.angle"][-1].round(6))
    0.5
    """
    for what, given in (("position", f), ("the rate of a position", rate)):
        if not callable(given) and not (given is None and given is rate):
            raise InputError(f"{what} is {given!r}; it must be a function of t")
    return Position(f, rate)


@dataclass(frozen=True, eq=False)
class Path(Signal):
    """A position as an input of a driven joint: `at`, `mean` and `rate` are of its velocity."""

    name: str
    position: Position
    shape: tuple[int, ...]
    posed: bool  # a point and a rotation in space

    def place(self, t: float) -> np.ndarray:
        """The position at t: the coordinates, or a point and the nine entries of a rotation."""
        what, value = f"the position of {self.name!r} at t = {t:g} s", self.position.function(t)
        if not self.posed:
            return as_vector(what, value, self.shape)
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
        return as_vectors(
            f"the position of {self.name!r}", [self.position.function(t) for t in times], times, self.shape
        )

    def at(self, t: float) -> np.ndarray:
        """The velocity at t; for a pose (v, ω) in inertial axes."""
        if self.position.rate is not None:
            return as_vector(f"the rate of {self.name!r} at t = {t:g} s", self.position.rate(t), self.shape)
        rate = derivative(self.place, t)
        if not self.posed:
            return rate
        S = rate[3:].reshape(3, 3) @ self.place(t)[3:].reshape(3, 3).T  # Ȧ Aᵀ = [ω]×
        return np.concatenate([rate[:3], 0.5 * np.array([S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]])])

    def means(self, times: np.ndarray) -> np.ndarray:
        """The mean velocities between the times: changes of the coordinates; of angular velocities by three Gauss points."""
        return np.array([self._mean(t0, t1) for t0, t1 in pairwise(times)])

    def _mean(self, t0: float, t1: float) -> np.ndarray:
        if t0 == t1:
            return self.at(t0)
        out = (self.place(t1) - self.place(t0))[: self.shape[0]] / (t1 - t0)
        if self.posed:
            middle, half = 0.5 * (t0 + t1), 0.5 * (t1 - t0)
            out[3:] = sum((weight * self.at(middle + half * x)[3:] for x, weight in GAUSS), np.zeros(3))
        return out

    def rate(self, t: float) -> np.ndarray:
        """The acceleration at t."""
        return derivative(self.at, t, AGAIN)


def path(system: System, name: str, given: Position) -> Path:
    """A position as input of a port. Raises JointError if the port is not driven or has no position."""
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
