"""The law of a force element along a row: springs and dampers by numbers, tables or functions.

A law written as functions is scalar code over its coordinate x and its rate v. `spring(x, …)` returns its effort, the slope of
it and the stored energy, `damper(x, v, …)` its effort and the derivative by v; both efforts act against the motion. The kernel
compiles them (Numba), its twin traces them (JAX), and `terms`, `linearise` and the energy accounts call them in Python. The
registry of all laws is `LAWS`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from phloat.errors import InputError
from phloat.joints.curves import ABSOLUTE, NONE, Pieces
from phloat.joints.scalar import fabs, where

AGREE = 1e-13  # of the energy: what a quadrature may miss before the difference quotient is better
PROBES = tuple(1.2345 * 10.0 ** (0.5 * n) for n in range(-12, 8))  # where slopes and signs are compared
NODES, WEIGHTS = np.polynomial.legendre.leggauss(4)
GAUSS = tuple((0.5 + 0.5 * float(x), 0.5 * float(w)) for x, w in zip(NODES, WEIGHTS, strict=True))  # of (0, 1)


def no_spring(x: Any, *numbers: Any) -> Any:
    return 0.0 * x, 0.0 * x, 0.0 * x


def no_damper(x: Any, v: Any, *numbers: Any) -> Any:
    return 0.0 * v, 0.0 * v


def no_actuator(x: Any, v: Any, *numbers: Any) -> Any:
    return 0.0 * v, 0.0 * v, 0.0 * v


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
    """A law written as functions: `spring(x, *numbers)` → (effort, slope, energy), `damper(x, v, *numbers)` → (effort, slope by v).

    `numbers` names the parameters, in the order in which the functions take them. `actuator(x, v, *numbers)` → (effort, slope by x,
    slope by v) is that of a motor: it stores nothing, and its work is supplied.
    """

    name: str
    numbers: tuple[str, ...]
    spring: Callable[..., Any] = no_spring
    damper: Callable[..., Any] = no_damper
    actuator: Callable[..., Any] = no_actuator

    def __post_init__(self) -> None:
        owner = self.name.rpartition(".")[2]
        for function, kind, first in ((self.spring, "spring", ("x",)), (self.damper, "damper", ("x", "v"))):
            arguments, signature = (*first, *self.numbers), inspect.signature(function)
            try:
                signature.bind(*arguments)
            except TypeError:
                raise InputError(
                    f"{kind} of {owner!r} takes the arguments {signature}; it must be a static function "
                    f"{kind}({', '.join(arguments)})"
                ) from None

    def check(self, label: str, numbers: Sequence[float]) -> None:
        """Raises InputError where a slope is not that of its effort, an effort not that of its energy, or a damper gives energy."""
        for probe in (*PROBES, *(-x for x in PROBES)):
            points = tuple(probe + offset * abs(probe) for offset in (-1e-5, 0.0, 1e-5))
            try:
                springs = _columns(self.spring(x, *numbers) for x in points)
                dampers = [(x, _columns(self.damper(x, v, *numbers) for v in points)) for x in (0.0, probe, -probe)]
            except (OverflowError, ZeroDivisionError):  # beyond what the law is for
                continue
            efforts, slopes, energies = springs
            _check_slope(f"slope of the spring of {label!r}", f"at {probe:g}", slopes[1], points, efforts)
            _check_slope(f"effort of the spring of {label!r}", f"at {probe:g}", efforts[1], points, energies)
            for x, (efforts, slopes) in dampers:
                place = f"at the rate {probe:g} and x = {x:g}"
                _check_slope(f"slope of the damper of {label!r}", place, slopes[1], points, efforts)
                if efforts[1] * probe < 0.0:
                    raise InputError(f"damper of {label!r} gives energy: {place} its effort is {efforts[1]:g}")


def _columns(rows: Iterable[Sequence[Any]]) -> tuple[tuple[float, ...], ...]:
    """Rows of numbers as columns of floats; complex ones, roots of negative numbers, become NaN."""
    return tuple(
        tuple(float("nan" if isinstance(x, complex) else x) for x in column) for column in zip(*rows, strict=True)
    )


def _check_slope(quantity: str, place: str, slope: float, points: Sequence[float], values: Sequence[float]) -> None:
    """Raises InputError unless `slope` lies between the one-sided differences of three values: so corners pass."""
    below, above, both = ((values[j] - values[i]) / (points[j] - points[i]) for i, j in ((0, 1), (1, 2), (0, 2)))
    slack = 1e-4 * (abs(slope) + abs(both)) + 1e-10 * max(map(abs, values)) / (points[2] - points[0])
    if not min(below, above) - slack <= slope <= max(below, above) + slack:
        raise InputError(f"{quantity} is {slope:.6g} {place}, but differences give {both:.6g}")


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
        return self.pull(gap) - self.damping * rate - self.damper.value(rate) - self._damper(gap, rate)[0]

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

    def resistance(self, gap: float, rate: float) -> float:
        """Damping effort over rate, never negative; at rest the derivative by the rate."""
        effort, slope = self._damper(gap, rate)
        return self.damping + self.damper.secant(rate) + (effort / rate if rate else slope)

    def damping_at(self, gap: float, rate: float) -> float:
        """Derivative of the damping effort by the rate: the damping of small motion about this rate."""
        return self.damping + self.damper.slope(rate) + self._damper(gap, rate)[1]

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

    @property
    def active(self) -> bool:
        """Whether it is that of a motor, whose work is supplied."""
        return self.function is not None and self.function.actuator is not no_actuator

    @property
    def linear_damper(self) -> bool:
        """Whether it is damping alone, in proportion to the rate."""
        return not self.stores and self.function is None and self.damper.zero

    def _spring(self, x: float) -> tuple[float, float, float]:
        if self.function is None:
            return 0.0, 0.0, 0.0
        out: tuple[float, float, float] = self.function.spring(x, *self.numbers)
        return out

    def _damper(self, gap: float, rate: float) -> tuple[float, float]:
        if self.function is None:
            return 0.0, 0.0
        out: tuple[float, float] = self.function.damper(gap - self.rest, rate, *self.numbers)
        return out
