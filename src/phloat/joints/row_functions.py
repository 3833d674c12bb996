"""Scalar functions of rows and laws that Numba compiles for the time step and JAX traces for the twin.

The slopes of a gap g = f(p, q) over a step satisfy Δg = f_p Δp + f_q Δq exactly; those at its end are derivatives. Functions return
(f_p, f_q over the step, f_p, f_q at the end, gap at the end). Where a function has two forms, the caller selects one, by a compiled
`if` or by `where` on arrays.
"""

from __future__ import annotations

import math
from typing import Any

from phloat.joints.scalar import acos, atan2, cos, fabs, floor, sin, sqrt, tan, where

SERIES, TERMS = 0.25, 20  # 1 − cos ϑ up to which series are summed
Slopes = tuple[Any, Any, Any, Any, Any]


def length_slopes(p1: Any, gap0: Any) -> Slopes:
    """The slopes of √p: Δ√p = Δp / (√p₀ + √p₁)."""
    length = sqrt(p1)
    return 1.0 / (gap0 + length), 0.0, 0.5 / length, 0.0, length


def angle_slopes(p0: Any, q0: Any, p1: Any, q1: Any, gap0: Any) -> Slopes:
    """The slopes of atan2(p, q): κ(q̄, −p̄) with κ = Δϑ/(p₁q₀ − q₁p₀), (q₁, −p₁)/(p₁² + q₁²); the angle includes full turns."""
    sine, cosine = p1 * q0 - q1 * p0, q0 * q1 + p0 * p1
    change = atan2(sine, cosine)
    large = fabs(sine) > 1e-9 * fabs(cosine)
    ratio = where(large, change / where(large, sine, 1.0), 1.0 / cosine)
    size, angle = p1 * p1 + q1 * q1, atan2(p1, q1)
    gap = angle + 2.0 * math.pi * floor((gap0 + change - angle) / (2.0 * math.pi) + 0.5)
    return 0.5 * ratio * (q0 + q1), -0.5 * ratio * (p0 + p1), q1 / size, -p1 / size, gap


def rotation_slopes(p0: Any, p1: Any, ratio0: Any, ratio1: Any, slope: Any, slope1: Any) -> Slopes:
    """The slopes of κp, κ = ϑ/sin ϑ: Δ(κp) = κ̄ Δp + p̄ Δκ,  Δκ = −½ κ[x₀, x₁] Δq,  x = 1 − cos ϑ = (3 − q)/2."""
    return 0.5 * (ratio0 + ratio1), -0.25 * (p0 + p1) * slope, ratio1, -0.5 * p1 * slope1, ratio1 * p1


def near_ratio(x: Any) -> Any:
    """κ = ϑ/sin ϑ at x = 1 − cos ϑ by its series 1 + x/3 + 2x²/15 + …, for x below SERIES."""
    term, total = 1.0, 1.0
    for n in range(1, TERMS):
        term = term * (x * n / (2.0 * n + 1.0))
        total = total + term
    return total


def far_ratio(x: Any) -> Any:
    """κ = ϑ/sin ϑ at x = 1 − cos ϑ in closed form, for x above SERIES."""
    turn = acos(where(x < 2.0, 1.0 - x, -1.0))
    return turn / sin(turn)


def near_slope(x: Any, y: Any) -> Any:
    """The divided difference κ[x, y] = (κ(y) − κ(x))/(y − x) by the series, for x and y below SERIES; κ'(x) where x = y."""
    factor, power, homogeneous, total = 1.0, 1.0, 1.0, 0.0
    for n in range(1, TERMS):
        factor = factor * (n / (2.0 * n + 1.0))
        total = total + factor * homogeneous
        power = power * y
        homogeneous = homogeneous * x + power
    return total


def far_slope(x: Any, y: Any) -> Any:
    """The divided difference κ[x, y] in closed form, for x and y above SERIES; accurate for close angles."""
    a, b = acos(where(x < 2.0, 1.0 - x, -1.0)), acos(where(y < 2.0, 1.0 - y, -1.0))
    mean, half = 0.5 * (a + b), 0.5 * (b - a)
    distinct = fabs(half) > 1e-9
    cotangent = where(distinct, half / tan(where(distinct, half, 1.0)), 1.0)
    return (cotangent * sin(mean) - mean * cos(mean)) / (sin(a) * sin(b) * sin(mean))


def polynomial(c: Any, first: int, count: int, x: Any) -> tuple[Any, Any, Any]:
    """Value, slope and integral from 0 to x of Σ c_j xʲ, with `count` coefficients from c[first] on."""
    value, slope, area = 0.0, 0.0, 0.0
    for j in range(count - 1, -1, -1):
        slope = slope * x + value
        value = value * x + c[first + j]
        area = area * x + c[first + j] / (j + 1)
    return value, slope, area * x


def polynomial_mean(c: Any, first: int, count: int, a: Any, b: Any) -> Any:
    """The mean of Σ c_j xʲ from a to b, without dividing by b − a: Σ c_j/(j + 1) Σ_i aⁱ bʲ⁻ⁱ."""
    total, power, homogeneous = c[first], 1.0, 1.0
    for j in range(1, count):
        power = power * b
        homogeneous = homogeneous * a + power
        total = total + c[first + j] * homogeneous / (j + 1)
    return total


def linear_effort(stiffness: Any, rest: Any, damping: Any, gap0: Any, gap1: Any, rate: Any, h: Any) -> tuple[Any, Any]:
    """The effort of a linear spring and damper over a step h, exact in energy, and h times its derivative by the gap at the end."""
    return stiffness * (0.5 * (gap0 + gap1) - rest) + damping * rate, 0.5 * h * stiffness + damping
