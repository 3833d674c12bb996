"""Driven joints: the motion of the frame or target of the first port, exact over each step.

A velocity is integrated over the step; a position is evaluated, so that the gap stays at round-off. Each drive has its position at
the start, and gives its positions at later times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from phloat.algebra.cross import orthonormality_defect, rot, rotation
from phloat.errors import InputError, JointError, finite
from phloat.motion.inputs.commands import Command
from phloat.motion.inputs.signals import GAUSS, Signal, as_vector, as_vectors, derivative

START_GAP = 1e-6  # distance of a drive by position from its joint at the start
GAUSS_2 = 0.5 / np.sqrt(3.0)

Signals = Mapping[str, Signal]


@dataclass(frozen=True, eq=False)
class Coordinate:
    """A driven angle or slide: the target of a joint row."""

    name: str
    component: int
    start: np.ndarray

    def positions(self, value: np.ndarray, signals: Signals, times: np.ndarray) -> np.ndarray:
        """The targets at all times but the first, as rows; `value` is that at the first."""
        signal = signals.get(self.name)
        if isinstance(signal, Path):
            return signal.positions_at(times[1:])[:, [self.component]]
        if signal is None:
            return np.tile(value, (len(times) - 1, 1))
        return _summed(value, np.diff(times)[:, None] * signal.means(times)[:, [self.component]])

    def require_at(self, position: np.ndarray, t: float) -> None:
        """Raises JointError if the position at the start is not that of the joint."""
        prescribed, actual = float(position[self.component]), float(self.start[0])
        if abs(prescribed - actual) > START_GAP * max(1.0, abs(prescribed)):
            raise JointError(
                f"drive {self.name!r} starts at {prescribed:.6g}, but the joint stands at {actual:.6g} at t = {t:g} s; "
                "place it there first"
            )


@dataclass(frozen=True, eq=False)
class Frame:
    """A driven frame of the ground: its origin and the nine numbers of its directions (rows of a 3 × 3 matrix)."""

    name: str
    start: np.ndarray
    triad: np.ndarray  # the joint triad in the port's frame, as rows
    linear: int
    turning: int  # angular inputs: 0, 1 in a plane, 3 in space

    def positions(self, value: np.ndarray, signals: Signals, times: np.ndarray) -> np.ndarray:
        """Origin and directions at all times but the first, as rows; `value` is that at the first."""
        signal, out = signals.get(self.name), np.tile(value, (len(times) - 1, 1))
        if isinstance(signal, Path):
            return np.array([self._frame_at(pose) for pose in signal.positions_at(times[1:])])
        if signal is None:
            return out
        mean, linear = signal.means(times), slice(0, self.linear)
        out[:, linear] = _summed(value[linear], np.diff(times)[:, None] * mean[:, linear])
        for k, (t0, t1) in enumerate(pairwise(times) if self.turning else ()):
            before = out[k - 1, 3:] if k else value[3:]
            out[k, 3:] = (before.reshape(3, 3) @ self._step_rotation(signal, t0, t1, mean[k]).T).ravel()
        return out

    def _step_rotation(self, signal: Signal, t0: float, t1: float, mean: np.ndarray) -> np.ndarray:
        """The rotation over a step: exact about a fixed axis, otherwise of fourth order (Magnus)."""
        h, middle = t1 - t0, 0.5 * (t0 + t1)
        if self.turning == 1:
            return rot(h * mean[self.linear])
        early, late = (signal.at(middle + x * h)[self.linear :] for x in (-GAUSS_2, GAUSS_2))
        return rotation(h * mean[self.linear :] - np.sqrt(3.0) / 12 * h**2 * np.cross(early, late))

    def _frame_at(self, pose: np.ndarray) -> np.ndarray:
        """Origin and directions at a prescribed pose."""
        out = self.start.copy()
        out[: self.linear] = pose[: self.linear]
        if self.turning:
            A = rot(float(pose[2])) if self.turning == 1 else pose[3:].reshape(3, 3)
            out[3:] = (self.triad @ A.T).ravel()
        return out

    def require_at(self, position: np.ndarray, t: float) -> None:
        """Raises JointError if the position at the start is not that of the port."""
        miss = np.abs(self._frame_at(position) - self.start)
        if miss[:3].max() > START_GAP * max(1.0, float(np.abs(self.start[:3]).max())) or miss[3:].max() > START_GAP:
            raise JointError(
                f"drive {self.name!r} starts {miss[:3].max():.3g} m and {miss[3:].max():.3g} rad away from its port at "
                f"t = {t:g} s; place it there first"
            )


@dataclass(frozen=True, eq=False)
class Swivel:
    """A driven ball joint: the directions of the first port in its frame, rotated by the rates about them."""

    name: str
    triad: np.ndarray  # rows
    axes: tuple[int, ...]

    @property
    def start(self) -> np.ndarray:
        return self.triad.ravel()

    def positions(self, directions: np.ndarray, signals: Signals, times: np.ndarray) -> np.ndarray:
        """The directions at all times but the first, as rows; `directions` are those at the first."""
        rates, signal = np.zeros((len(times) - 1, 3)), signals.get(self.name)
        if signal is not None:
            rates[:, list(self.axes)] = signal.means(times)
        out = []
        for h, rate in zip(np.diff(times), rates, strict=True):
            A_T = directions.reshape(3, 3) @ self.triad.T  # transposed
            directions = (A_T @ rotation(h * rate).T @ self.triad).ravel()
            out.append(directions)
        return np.array(out)


def _summed(start: np.ndarray, changes: np.ndarray) -> np.ndarray:
    """Cumulative sums from a start, as rows."""
    return np.add.accumulate(np.vstack([start, changes]), axis=0)[1:]


Moving = Coordinate | Frame | Swivel


# --- positions --------------------------------------------------------------------------------------------------------
#
# Driven joints by position instead of velocity.


ACCELERATION_STEP = 5e-4  # s: of a difference of velocities that are themselves differences


@dataclass(frozen=True)
class Position:
    """The position of a driven joint as a function of t; `rate`, if not None, is its velocity."""

    function: Callable[[float], object]
    rate: Callable[[float], object] | None = None


def prescribed_position(f: Callable[[float], object], *, rate: Callable[[float], object] | None = None) -> Position:
    """A driven joint by position instead of velocity: u={"motor": prescribed_position(f)}.

    Parameters
    ----------
    f : callable or Command
        f(t), t in s, or a `move`, `trapezoid` …, whose rate is exact: the angle (rad) or slide (m) of a driven joint, or the point
        (m) of a `Drive`. A `Drive` of a pose takes (x, y, θ) in a plane and the pair (point, 3 × 3 rotation) in space. At the start
        it is the position of the joint. A function is also called up to a step after the end of the run, and up to 0.3 ms before
        its start unless that is 0.
    rate : callable, optional
        Its velocity at t; by default a sixth-order difference of f.

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
    for quantity, function in (("position", f), ("the rate of a position", rate)):
        if not callable(function) and not (function is None and function is rate):
            raise InputError(f"{quantity} is {function!r}; it must be a function of t")
    return Position(f, rate)


@dataclass(frozen=True, eq=False)
class Path(Signal):
    """A position as the input of a driven joint; `at`, `means` and `rate` are those of its velocity."""

    name: str
    position: Position
    shape: tuple[int, ...]
    posed: bool  # a point and a rotation in space

    def position_at(self, t: float) -> np.ndarray:
        """The position at t: coordinates, or a point and the nine entries of a rotation."""
        label, value = f"the position of {self.name!r} at t = {t:g} s", self.position.function(t)
        if not self.posed:
            return as_vector(label, value, self.shape)
        if not isinstance(value, (tuple, list)) or len(value) != 2:
            raise InputError(f"{label} must be a pair (point, 3 × 3 rotation)")
        point, A = finite(f"the point of {label}", value[0], (3,)), finite(f"the rotation of {label}", value[1], (3, 3))
        if (defect := orthonormality_defect(A)) > 1e-9:
            raise InputError(f"{label} has no rotation: AᵀA misses the identity by {defect:.1e}")
        return np.concatenate([point, A.ravel()])

    def positions_at(self, times: np.ndarray) -> np.ndarray:
        """The positions at several times, as rows."""
        if self.posed:
            return np.array([self.position_at(t) for t in times])
        return as_vectors(
            f"the position of {self.name!r}", [self.position.function(t) for t in times], times, self.shape
        )

    def at(self, t: float) -> np.ndarray:
        """The velocity at t; of a pose (v, ω) in inertial axes."""
        exact = self.position.function.rate if isinstance(self.position.function, Command) else None
        if (given := self.position.rate or exact) is not None:
            return as_vector(f"the rate of {self.name!r} at t = {t:g} s", given(t), self.shape)
        rate = derivative(self.position_at, t)
        if not self.posed:
            return rate
        S = rate[3:].reshape(3, 3) @ self.position_at(t)[3:].reshape(3, 3).T  # Ȧ Aᵀ = [ω]×
        return np.concatenate([rate[:3], 0.5 * np.array([S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]])])

    def means(self, times: np.ndarray) -> np.ndarray:
        """The mean velocities between the times: exact for coordinates, three Gauss points for angular velocities."""
        return np.array([self._mean(t0, t1) for t0, t1 in pairwise(times)])

    def _mean(self, t0: float, t1: float) -> np.ndarray:
        if t0 == t1:
            return self.at(t0)
        out = (self.position_at(t1) - self.position_at(t0))[: self.shape[0]] / (t1 - t0)
        if self.posed:
            middle, half = 0.5 * (t0 + t1), 0.5 * (t1 - t0)
            out[3:] = sum((weight * self.at(middle + half * x)[3:] for x, weight in GAUSS), np.zeros(3))
        return out

    def rate(self, t: float) -> np.ndarray:
        """The acceleration at t."""
        if isinstance(self.position.function, Command):
            label = f"the acceleration of {self.name!r} at t = {t:g} s"
            return as_vector(label, self.position.function.acceleration(t), self.shape)
        return derivative(self.at, t, ACCELERATION_STEP)
