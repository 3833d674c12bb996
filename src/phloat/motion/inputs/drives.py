"""Driven joints in motion: what moves is the frame (or the target) of the first port, and its increments over a step are exact.

A velocity is integrated over the step first; a position is taken as it is, so that the gap stays at round-off. Each drive says
where it starts, and where it is after each of some steps from where it was before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from phloat.algebra.cross import rot, rotation
from phloat.errors import JointError
from phloat.motion.inputs.positions import Path
from phloat.motion.inputs.signals import Signal, means

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
        return _summed(value, np.diff(times)[:, None] * means(signal, times)[:, [self.component]])

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

    def moved(self, value: np.ndarray, signals: Signals, times: np.ndarray) -> np.ndarray:
        """Place and directions at the times after the first, as rows."""
        signal, out = signals.get(self.name), np.tile(value, (len(times) - 1, 1))
        if isinstance(signal, Path):
            return np.array([self._at(given) for given in signal.places(times[1:])])
        if signal is None:
            return out
        mean, linear = means(signal, times), slice(0, self.linear)
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

    def check(self, signals: Signals, t: float) -> None:
        signal = signals.get(self.name)
        if isinstance(signal, Path):
            miss = np.abs(self._at(signal.place(t)) - self.start)
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
            rates[:, list(self.axes)] = means(signal, times)
        out = []
        for h, rate in zip(np.diff(times), rates, strict=True):
            turned = value.reshape(3, 3) @ self.triad.T  # transposed
            value = (turned @ rotation(h * rate).T @ self.triad).ravel()
            out.append(value)
        return np.array(out)

    def check(self, signals: Signals, t: float) -> None:
        """Rates only; nothing to compare."""


def _summed(start: np.ndarray, changes: np.ndarray) -> np.ndarray:
    """Where something is after each of its changes, as rows."""
    return np.add.accumulate(np.vstack([start, changes]), axis=0)[1:]


Moving = Coordinate | Frame | Swivel
