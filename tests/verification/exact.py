"""Exact answers that are roots and series: bending waves between ends of every kind, and a beam that turns."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

End = Callable[[float], tuple[tuple[float, float, float, float], ...]]  # β → rows on (w, w', w'', w''')


def clamped(_: float) -> tuple[tuple[float, float, float, float], ...]:
    return (1, 0, 0, 0), (0, 1, 0, 0)


def free(_: float) -> tuple[tuple[float, float, float, float], ...]:
    return (0, 0, 1, 0), (0, 0, 0, 1)


def pinned(_: float) -> tuple[tuple[float, float, float, float], ...]:
    return (1, 0, 0, 0), (0, 0, 1, 0)


def tip(mass: float, inertia: float = 0.0) -> End:
    """A rigid body at x = 1, in masses of the beam and squares of its length."""
    return lambda beta: ((mass * beta**4, 0, 0, 1), (0, -inertia * beta**4, 1, 0))


def hub(inertia: float) -> End:
    """A hinge at x = 0 that carries an inertia, in masses of the beam and squares of its length."""
    return lambda beta: ((1, 0, 0, 0), (0, inertia * beta**4, 1, 0))


def wing(radius: float, inertia: float) -> End:
    """The rim, at x = 0, of a hub that turns about its centre, `radius` behind; its inertia belongs to this one beam."""
    return lambda beta: ((1, -radius, 0, 0), (0, inertia * beta**4, 1, -radius))


def raft(mass: float) -> End:
    """A mass at x = 0 that moves along w and does not turn."""
    return lambda beta: ((0, 1, 0, 0), (mass * beta**4, 0, 0, -1))


def roots(left: End, right: End, count: int) -> np.ndarray:
    """The lowest β of w'''' = β⁴ w on 0 < x < 1; ω = β² √(EI/ρAL⁴)."""

    def determinant(beta: float) -> float:
        rows = [np.asarray(row, dtype=float) @ _waves(beta, 0.0) for row in left(beta)]
        rows += [np.asarray(row, dtype=float) @ _waves(beta, 1.0) for row in right(beta)]
        return float(np.linalg.det(np.array([row / np.abs(row).max() for row in rows])))

    return zeros(determinant, 0.3, 0.05, count)


def _waves(beta: float, x: float) -> np.ndarray:
    """(w, w', w'', w''') of cos, sin, and of the two that decay from either end."""
    c, s, near, far = math.cos(beta * x), math.sin(beta * x), math.exp(-beta * x), math.exp(beta * (x - 1.0))
    powers = beta ** np.arange(4)
    return powers[:, None] * np.array(
        [[c, s, near, far], [-s, c, -near, far], [-c, -s, near, far], [s, -c, -near, far]]
    )


def turning(gamma: float, hub_radius: float, count: int) -> np.ndarray:
    """Flap frequencies of a rotating cantilever, by power series (Wright and others, 1982); lag² = flap² − γ².

    w'''' − (T w')' = λ² w with T = γ² (r (1 − x) + (1 − x²)/2), clamped at 0, free at 1.
    """
    t = gamma**2 * np.array([hub_radius + 0.5, -hub_radius, -0.5])

    def determinant(lam: float) -> float:
        ends = []
        for first in (2, 3):
            a = np.zeros(160)
            a[first] = 1.0
            for k in range(len(a) - 4):
                pull = (k + 1) * (t[0] * (k + 2) * a[k + 2] + t[1] * (k + 1) * a[k + 1] + t[2] * k * a[k])
                a[k + 4] = (pull + lam**2 * a[k]) / ((k + 4) * (k + 3) * (k + 2) * (k + 1))
            power = np.arange(len(a))
            twice = power * (power - 1)
            ends.append((a @ twice, a @ (twice * (power - 2))))
        return float(np.linalg.det(np.array(ends)))

    return zeros(determinant, 0.5, 0.25, count)


def zeros(f: Callable[[float], float], start: float, step: float, count: int) -> np.ndarray:
    """The first zeros of a smooth function above `start`, sought in steps."""
    found: list[float] = []
    x, y = start, f(start)
    while len(found) < count:
        after = f(x + step)
        if y * after <= 0.0:
            found.append(float(brentq(f, x, x + step, xtol=1e-13, rtol=1e-14)))
        x, y = x + step, after
    return np.array(found)
