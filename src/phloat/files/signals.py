"""Inputs over time that a file can say: each a frozen value, called with t."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from phloat.errors import InputError, positive

Number = float | Sequence[float]


@dataclass(frozen=True)
class Sine:
    """offset + amplitude sin(rate t + phase)."""

    amplitude: Number
    rate: float
    phase: float = 0.0
    offset: Number = 0.0

    def __call__(self, t: float) -> Any:
        return np.asarray(self.offset) + np.asarray(self.amplitude) * np.sin(self.rate * t + self.phase)


@dataclass(frozen=True)
class Circling:
    """The velocity of a point on a circle in the plane xy that turns at a rate, as a crank pin does: v = rate radius (−sin, cos).

    In space it has a third component, 0.
    """

    radius: float
    rate: float
    phase: float = 0.0
    space: bool = False

    def __call__(self, t: float) -> np.ndarray:
        angle = self.rate * t + self.phase
        v = self.rate * self.radius * np.array([-np.sin(angle), np.cos(angle)])
        return np.array([*v, 0.0]) if self.space else v


@dataclass(frozen=True)
class InTime:
    """Σ c_k (t − start)ᵏ, held from `start` on until `end`, and as it was before and after."""

    coefficients: tuple[Number, ...]
    start: float = 0.0
    end: float | None = None

    def __post_init__(self) -> None:
        if not self.coefficients:
            raise InputError("the polynomial has no coefficients; give at least one: [1.0]")
        if self.end is not None and not self.end > self.start:
            raise InputError(f"the end {self.end:g} s is not after the start {self.start:g} s")

    def __call__(self, t: float) -> Any:
        last = np.inf if self.end is None else self.end
        x, out = min(max(t, self.start), last) - self.start, np.asarray(self.coefficients[-1])
        for c in self.coefficients[-2::-1]:
            out = np.asarray(c) + x * out
        return out


@dataclass(frozen=True)
class Pulse:
    """A value from `start` until just before `end`, zero else."""

    value: Number
    start: float = 0.0
    end: float = np.inf

    def __post_init__(self) -> None:
        if not self.end > self.start:
            raise InputError(f"the end {self.end:g} s is not after the start {self.start:g} s")

    def __call__(self, t: float) -> Any:
        return np.asarray(self.value) * float(self.start <= t < self.end)


@dataclass(frozen=True)
class SpinUp:
    """The angle of a hub whose rate rises smoothly from 0 to `rate` in the time `over`, and stays (Simo and Vu-Quoc, 1986)."""

    rate: float
    over: float

    def __post_init__(self) -> None:
        positive("over", self.over)

    def __call__(self, t: float) -> float:
        rate, ramp = self.rate, self.over
        if t > ramp:
            return rate * (t - ramp / 2)
        return rate / ramp * (t**2 / 2 + (ramp / (2 * np.pi)) ** 2 * (np.cos(2 * np.pi * t / ramp) - 1))


@dataclass(frozen=True)
class Move:
    """From one value to another in the time `over` and to rest there, with continuous acceleration: 10 x³ − 15 x⁴ + 6 x⁵."""

    to: float
    over: float
    origin: float = 0.0
    start: float = 0.0

    def __post_init__(self) -> None:
        positive("over", self.over)

    def __call__(self, t: float) -> float:
        x = min(max((t - self.start) / self.over, 0.0), 1.0)
        return self.origin + (self.to - self.origin) * float(np.polyval((6, -15, 10, 0, 0, 0), x))


@dataclass(frozen=True)
class Sum:
    """Several signals at once."""

    parts: tuple[Callable[[float], Any], ...]

    def __call__(self, t: float) -> Any:
        return sum((np.asarray(part(t)) for part in self.parts), np.zeros(()))
