"""Laws written as functions: the effort along a row over its coordinate x and its rate v, in scalar code that is written once.

A spring returns its effort, the slope of it and the stored energy, a damper its effort and the slope; both hold against the
motion. The kernel compiles a law (Numba), its twin traces it (JAX), and `terms`, `linearise` and the energy accounts call it in
Python. All laws stand in `LAWS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from phloat.errors import InputError
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

    @property
    def stores(self) -> bool:
        return self.spring is not no_spring

    @property
    def resists(self) -> bool:
        return self.damper is not no_damper

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
