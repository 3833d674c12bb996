"""The law of a force element along a row: springs and dampers by numbers, tables or functions.

A law written as functions is scalar code over its coordinate x and its rate v. A spring returns its effort, the slope of it and
the stored energy, a damper its effort and the slope; both hold against the motion. The kernel compiles them (Numba), its twin
traces them (JAX), and `terms`, `linearise` and the energy accounts call them in Python. All stand in `LAWS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from phloat.errors import InputError
from phloat.joints.curves import ABSOLUTE, NONE, Pieces
from phloat.joints.scalar import fabs, where

AGREE = 1e-13  # of the energy: what a quadrature may miss before the difference quotient is better
PROBES = 1.2345 * 10.0 ** np.arange(-6, 4, 0.5)  # where slopes and signs are compared; corners are at rounder numbers
NODES, WEIGHTS = np.polynomial.legendre.leggauss(4)
GAUSS = tuple((0.5 + 0.5 * float(x), 0.5 * float(w)) for x, w in zip(NODES, WEIGHTS, strict=True))  # of (0, 1)


def no_spring(x: Any, *numbers: Any) -> Any:
    return 0.0 * x, 0.0 * x, 0.0 * x


def no_damper(v: Any, *numbers: Any) -> Any:
    return 0.0 * v, 0.0 * v


def mean_effort(spring: Callable[..., Any], x0: Any, x1: Any, *numbers: Any) -> Any:
    """The mean effort of a spring between x₀ and x₁, its slope in the middle and the energy at x₁.

    (U₁ − U₀)/(x₁ − x₀), by quadrature where that misses nothing: then no digits are lost where x₀ and x₁ are close.
    """
    change, mean = x1 - x0, 0.0
    for node, weight in GAUSS:
        mean = mean + weight * spring(x0 + node * change, *numbers)[0]
    energy, gained = spring(x1, *numbers)[2], spring(x1, *numbers)[2] - spring(x0, *numbers)[2]
    missed = fabs(gained - mean * change) > AGREE * (fabs(energy) + fabs(energy - gained))
    quotient = gained / where(missed, change, 1.0)
    return where(missed, quotient, mean), spring(0.5 * (x0 + x1), *numbers)[1], energy


@dataclass(frozen=True)
class LawFunction:
    """A law written as functions: `spring(x, *numbers)` → (effort, slope, energy), `damper(v, *numbers)` → (effort, slope).

    `numbers` names the parameters, in the order in which the functions take them.
    """

    name: str
    numbers: tuple[str, ...]
    spring: Callable[..., Any] = no_spring
    damper: Callable[..., Any] = no_damper

    def check(self, label: str, numbers: Sequence[float]) -> None:
        """Raises InputError where a slope is not that of its effort, an effort not that of its energy, or a damper gives energy."""
        for x in (*PROBES, *-PROBES):
            near = x + 1e-5 * abs(x) * np.array([-1.0, 0.0, 1.0])
            try:
                springs, dampers = (np.array([f(y, *numbers) for y in near]) for f in (self.spring, self.damper))
            except (OverflowError, ZeroDivisionError):  # beyond what the law is for
                continue
            for what, said, of in (
                ("slope of the spring", springs[1, 1], springs[:, 0]),
                ("effort of the spring", springs[1, 0], springs[:, 2]),
                ("slope of the damper", dampers[1, 1], dampers[:, 0]),
            ):
                found = (of[2] - of[0]) / (near[2] - near[0])
                noise = 1e-10 * np.abs(of).max() / (near[2] - near[0])
                if not abs(said - found) <= 1e-4 * (abs(said) + abs(found)) + noise:
                    raise InputError(f"{what} of {label!r} is {said:.6g} at {x:g}, but differences give {found:.6g}")
            if dampers[1, 0] * x < 0.0:
                raise InputError(f"damper of {label!r} gives energy: at the rate {x:g} its effort is {dampers[1, 0]:g}")


LAWS: dict[str, LawFunction] = {}  # all laws that are written as functions, by name


PLACES = 1e-14  # of a place: by so much it is unknown


@dataclass(frozen=True, eq=False)
class Law:
    """The effort on a coordinate x of a row: −k (x − x₀) − S(x − x₀) − c ẋ − D(ẋ), with piecewise polynomials S and D.

    Where there is a `function`, its efforts, with its `numbers`, come on top.
    """

    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0
    spring: Pieces = NONE
    damper: Pieces = NONE
    function: LawFunction | None = None
    numbers: tuple[float, ...] = ()

    def force(self, gap: float, rate: float) -> float:
        """The effort along the row on its coordinate."""
        return self.pull(gap) - self.damping * rate - self.damper.value(rate) - self._damper(rate)[0]

    def pull(self, gap: float) -> float:
        """The effort of the spring alone, −∂U/∂x."""
        x = gap - self.rest
        return -self.stiffness * x - self.spring.value(x) - self._spring(x)[0]

    def energy(self, gap: float) -> float:
        """U = ½ k (x − x₀)² + ∫S: zero at rest."""
        x = gap - self.rest
        return 0.5 * self.stiffness * x**2 + self.spring.integral(x) + self._spring(x)[2]

    def slope(self, gap: float) -> float:
        """∂²U/∂x²: the stiffness at x."""
        return self.stiffness + self.spring.slope(gap - self.rest) + self._spring(gap - self.rest)[1]

    def round_off(self, gap: float, far: float) -> float:
        """What the effort of the spring is unknown by: round-off of places at the distance `far`, and the fit of a function."""
        return PLACES * abs(self.slope(gap)) * (abs(gap) + abs(self.rest) + far) + ABSOLUTE * self.spring.largest

    def resistance(self, rate: float) -> float:
        """Damping effort over rate, never negative; the slope at no rate."""
        effort, slope = self._damper(rate)
        return self.damping + self.damper.secant(rate) + (effort / rate if rate else slope)

    def damping_at(self, rate: float) -> float:
        """∂ of the damping effort by the rate: what small motion about this rate feels."""
        return self.damping + self.damper.slope(rate) + self._damper(rate)[1]

    @property
    def stores(self) -> bool:
        """Whether there is a spring in it."""
        own = self.function is not None and self.function.spring is not no_spring
        return self.stiffness != 0.0 or not self.spring.zero or own

    @property
    def resists(self) -> bool:
        """Whether there is a damper in it."""
        own = self.function is not None and self.function.damper is not no_damper
        return self.damping != 0.0 or not self.damper.zero or own

    def _spring(self, x: float) -> tuple[float, float, float]:
        found: tuple[float, float, float] = self.function.spring(x, *self.numbers) if self.function else (0.0, 0.0, 0.0)
        return found

    def _damper(self, v: float) -> tuple[float, float]:
        found: tuple[float, float] = self.function.damper(v, *self.numbers) if self.function else (0.0, 0.0)
        return found
