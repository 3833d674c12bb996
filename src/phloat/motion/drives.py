"""Driven joints in motion: what moves is the frame (or the target) of the first port, and its increments over a step are exact.

A velocity is integrated over the step first; a position is taken as it is, so that the gap stays at round-off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phloat.algebra.cross import rot, rotation
from phloat.errors import JointError
from phloat.motion.inputs import Inputs
from phloat.system.system import Connection

NEAR = 1e-6  # how far a drive by position may stand from its joint at the start


@dataclass(eq=False)
class Coordinate:
    """A driven angle or slide: the target of its row."""

    name: str
    inputs: Inputs
    component: int
    value: float

    def advance(self, t0: float, t1: float) -> np.ndarray:
        """The target at t1."""
        if self.name in self.inputs.paths:
            self.value = float(self.inputs.paths[self.name].place(t1)[self.component])
        else:
            self.value += (t1 - t0) * _velocity(self.inputs, self.name, t0, t1)[self.component]
        return np.array([self.value])

    def check(self, t: float) -> None:
        if self.name in self.inputs.paths:
            wanted = float(self.inputs.paths[self.name].place(t)[self.component])
            if abs(wanted - self.value) > NEAR * max(1.0, abs(wanted)):
                raise JointError(
                    f"drive {self.name!r} starts at {wanted:.6g}, but the joint stands at {self.value:.6g} at t = {t:g} s; "
                    "place it there first"
                )


@dataclass(eq=False)
class Frame:
    """A driven frame of the ground: a place, and directions as rows where it turns."""

    name: str
    inputs: Inputs
    place: np.ndarray
    directions: np.ndarray
    triad: np.ndarray  # the joint triad in the port's frame, as rows
    turning: int  # angular inputs: 0, 1 in a plane, 3 in space
    linear: int

    def advance(self, t0: float, t1: float) -> np.ndarray:
        """Place and directions at t1."""
        if self.name in self.inputs.paths:
            self.place, self.directions = self._at(t1)
        else:
            h = t1 - t0
            mean = _velocity(self.inputs, self.name, t0, t1)
            self.place = self.place.copy()
            self.place[: self.linear] += h * mean[: self.linear]
            if self.turning:
                self.directions = self.directions @ self._turned(t0, t1, mean).T
        return np.concatenate([self.place, self.directions.ravel()])

    def _turned(self, t0: float, t1: float, mean: np.ndarray) -> np.ndarray:
        """The rotation over a step: exact about a fixed axis, of fourth order else (Magnus)."""
        h = t1 - t0
        if self.turning == 1:
            return rot(h * mean[self.linear])
        where = self.inputs.system.ports[self.name]
        early, late = (self.inputs.at(0.5 * (t0 + t1) + x * h)[where][self.linear :] for x in (-GAUSS_2, GAUSS_2))
        return rotation(h * mean[self.linear :] - np.sqrt(3.0) / 12 * h**2 * np.cross(early, late))

    def _at(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        given = self.inputs.paths[self.name].place(t)
        place = self.place.copy()
        place[: self.linear] = given[: self.linear]
        if not self.turning:
            return place, self.directions
        A = rot(float(given[2])) if self.turning == 1 else given[3:].reshape(3, 3)
        return place, self.triad @ A.T

    def check(self, t: float) -> None:
        if self.name in self.inputs.paths:
            place, directions = self._at(t)
            miss = float(np.abs(place - self.place).max()), float(np.abs(directions - self.directions).max())
            if miss[0] > NEAR * max(1.0, float(np.abs(place).max())) or miss[1] > NEAR:
                raise JointError(
                    f"drive {self.name!r} starts {miss[0]:.3g} m and {miss[1]:.3g} rad away from its port at t = {t:g} s; "
                    "place it there first"
                )


@dataclass(eq=False)
class Swivel:
    """A driven ball joint: the directions of the first port, in its frame, turned by the rates along them."""

    name: str
    inputs: Inputs
    triad: np.ndarray  # rows
    axes: tuple[int, ...]
    turned: np.ndarray

    def advance(self, t0: float, t1: float) -> np.ndarray:
        rate = np.zeros(3)
        rate[list(self.axes)] = _velocity(self.inputs, self.name, t0, t1)
        self.turned = rotation((t1 - t0) * rate) @ self.turned
        return (self.turned.T @ self.triad).ravel()

    def check(self, t: float) -> None:
        return


Moving = Coordinate | Frame | Swivel
GAUSS_2 = 0.5 / np.sqrt(3.0)


def _velocity(inputs: Inputs, name: str, t0: float, t1: float) -> np.ndarray:
    """The mean of one port's input over a step."""
    if name in inputs.signals:
        return inputs.signals[name].mean(t0, t1)
    return np.zeros(inputs.system.ports.shape(name))


def is_frame(c: Connection) -> bool:
    """Whether a joint drives a frame of the ground rather than its own free axis."""
    return bool(c.driven) and not c.free and type(c.joint).__name__ == "Drive"
