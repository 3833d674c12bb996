"""Driven joints in motion: what moves is the frame (or the target) of the first port, and its increments over a step are exact.

A velocity is integrated over the step first; a position is taken as it is, so that the gap stays at round-off. Each drive says
where it starts, and where it is after a step from where it was before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from phloat.algebra.cross import rot, rotation
from phloat.errors import JointError
from phloat.motion.positions import Path
from phloat.motion.signals import Signal

NEAR = 1e-6  # how far a drive by position may stand from its joint at the start
GAUSS_2 = 0.5 / np.sqrt(3.0)

Signals = Mapping[str, Signal]


@dataclass(frozen=True, eq=False)
class Coordinate:
    """A driven angle or slide: the target of its row."""

    name: str
    component: int
    start: np.ndarray

    def moved(self, value: np.ndarray, signals: Signals, t0: float, t1: float) -> np.ndarray:
        """The target at t1."""
        signal = signals.get(self.name)
        if isinstance(signal, Path):
            return signal.place(t1)[[self.component]]
        return value if signal is None else value + (t1 - t0) * signal.mean(t0, t1)[self.component]

    def check(self, signals: Signals, t: float) -> None:
        signal = signals.get(self.name)
        if isinstance(signal, Path):
            wanted, stands = float(signal.place(t)[self.component]), float(self.start[0])
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

    def moved(self, value: np.ndarray, signals: Signals, t0: float, t1: float) -> np.ndarray:
        """Place and directions at t1."""
        signal = signals.get(self.name)
        if isinstance(signal, Path):
            return self._at(signal, t1)
        if signal is None:
            return value
        h, mean, out = t1 - t0, signal.mean(t0, t1), value.copy()
        out[: self.linear] += h * mean[: self.linear]
        if self.turning:
            out[3:] = (value[3:].reshape(3, 3) @ self._turned(signal, t0, t1, mean).T).ravel()
        return out

    def _turned(self, signal: Signal, t0: float, t1: float, mean: np.ndarray) -> np.ndarray:
        """The rotation over a step: exact about a fixed axis, of fourth order else (Magnus)."""
        h, middle = t1 - t0, 0.5 * (t0 + t1)
        if self.turning == 1:
            return rot(h * mean[self.linear])
        early, late = (signal.at(middle + x * h)[self.linear :] for x in (-GAUSS_2, GAUSS_2))
        return rotation(h * mean[self.linear :] - np.sqrt(3.0) / 12 * h**2 * np.cross(early, late))

    def _at(self, signal: Path, t: float) -> np.ndarray:
        given, out = signal.place(t), self.start.copy()
        out[: self.linear] = given[: self.linear]
        if self.turning:
            A = rot(float(given[2])) if self.turning == 1 else given[3:].reshape(3, 3)
            out[3:] = (self.triad @ A.T).ravel()
        return out

    def check(self, signals: Signals, t: float) -> None:
        signal = signals.get(self.name)
        if isinstance(signal, Path):
            miss = np.abs(self._at(signal, t) - self.start)
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

    def moved(self, value: np.ndarray, signals: Signals, t0: float, t1: float) -> np.ndarray:
        rate, signal = np.zeros(3), signals.get(self.name)
        if signal is not None:
            rate[list(self.axes)] = signal.mean(t0, t1)
        turned = value.reshape(3, 3) @ self.triad.T  # transposed
        return (turned @ rotation((t1 - t0) * rate).T @ self.triad).ravel()

    def check(self, signals: Signals, t: float) -> None:
        """Rates only; nothing to compare."""


Moving = Coordinate | Frame | Swivel
