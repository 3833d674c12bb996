"""Rows between two ports, evaluated from their table: gaps, and the pulls that λ = 1 puts on both ports.

A row is g = f(p, q) with p and q sums of products of vectors (joints.rows); rows stand together by function. A symmetric matrix
S (10, 10) has the factors of the products, so p = ½ Σ V·SV with the vectors V (10, 3) of the two ports, and ∂p/∂V = SV. With mean
ports the pulls are the discrete row, with end ports the derivative of the gap. They act on the point, on the three directions and
as a torque, (2 ports, 5, 3). Motion is that of B seen from A.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from phloat.joints.laws import LAWS, mean_effort
from phloat.joints.rows import FIRST, SECOND, VECTORS
from phloat.twin.body import Tree

Ports = tuple[Tree, Tree, Tree, Tree]  # A₀, A₁, B₀, B₁


def vectors(A: Tree, B: Tree, axes: str = "d") -> Array:
    """c_B − c_A, the directions of A and of B and the inertial axes, (10, 3)."""
    of_B = B["d"] if axes == "d" else B["axes"].T
    return jnp.concatenate([(B["c"] - A["c"])[None], A["d"], of_B, jnp.eye(3)])


def product_sum(S: Array, V: Array) -> Array:
    """Σ α (a · b)."""
    return 0.5 * jnp.sum(V * (S @ V))


def pulls_of(force: Array, torque: Array) -> Array:
    """Forces on the vectors (10, 3) and a torque between the ports as pulls on both ports, (2, 5, 3)."""
    on_A = jnp.concatenate([-force[:1], force[FIRST:SECOND], -torque[None]])
    on_B = jnp.concatenate([force[:1], force[SECOND : SECOND + 3], torque[None]])
    return jnp.stack([on_A, on_B])


def pull(function: str, row: Tree, A: Tree, B: Tree, slopes: Array) -> Array:
    """The pulls of λ = 1; `slopes` (2) are those of f by p and q."""
    none = jnp.zeros(3)
    if "S" in row:
        force = slopes[0] * (row["S"] @ vectors(A, B))
        if "S_q" in row:
            force = force + slopes[1] * (row["S_q"] @ vectors(A, B))
        return pulls_of(force, none)
    along = row["along"] @ vectors(A, B, "axes" if "following" in function else "d")
    if "following" in function:
        along = jnp.sqrt((row["along"] @ row["along"]) / (along @ along)) * along
    if "spin" in function:
        return pulls_of(jnp.zeros((VECTORS, 3)), along)
    return pulls_of(jnp.zeros((VECTORS, 3)).at[0].set(along), none)


def coefficients(function: str, row: Tree, ports: Ports, gap: Array) -> tuple[Array, Array, Array]:
    """Slopes of f over a step and at its end, and the gap there."""
    A_0, A_1, B_0, B_1 = ports
    if "S" not in row:
        return jnp.zeros(2), jnp.zeros(2), jnp.zeros(())
    V_0, V_1 = vectors(A_0, B_0), vectors(A_1, B_1)
    p_1 = product_sum(row["S"], V_1)
    if function == "product":
        return jnp.ones(2), jnp.ones(2), p_1
    if function == "length":
        length = jnp.sqrt(p_1)
        return jnp.full(2, 1.0 / (gap + length)), jnp.full(2, 0.5 / length), length
    p_0, q_0, q_1 = product_sum(row["S"], V_0), product_sum(row["S_q"], V_0), product_sum(row["S_q"], V_1)
    return _angle(p_0, q_0, p_1, q_1, gap) if function == "angle" else _rotation(p_0, q_0, p_1, q_1)


def _angle(p_0: Array, q_0: Array, p_1: Array, q_1: Array, gap: Array) -> tuple[Array, Array, Array]:
    """κ(q̄, −p̄) with κ = Δϑ/(p₁q₀ − q₁p₀), (q₁, −p₁)/(p₁² + q₁²), and the angle with its turns."""
    sine, cosine = p_1 * q_0 - q_1 * p_0, q_0 * q_1 + p_0 * p_1
    turned = jnp.arctan2(sine, cosine)
    small = jnp.abs(sine) <= 1e-9 * jnp.abs(cosine)
    ratio = jnp.where(small, 1.0 / cosine, turned / jnp.where(small, 1.0, sine))
    angle, size = jnp.arctan2(p_1, q_1), p_1 * p_1 + q_1 * q_1
    turns = jnp.round((gap + turned - angle) / (2.0 * jnp.pi))
    mean = 0.5 * ratio * jnp.array([q_0 + q_1, -(p_0 + p_1)])
    return mean, jnp.array([q_1, -p_1]) / size, angle + 2.0 * jnp.pi * turns


def _rotation(p_0: Array, q_0: Array, p_1: Array, q_1: Array) -> tuple[Array, Array, Array]:
    """Δ(κp) = κ̄ Δp − p̄ ½ κ[x₀, x₁] Δq with x = (3 − q)/2, the same at the end, and κp there."""
    x_0, x_1 = 1.5 - 0.5 * q_0, 1.5 - 0.5 * q_1
    k_0, k_1 = angle_ratio(x_0), angle_ratio(x_1)
    mean = jnp.array([0.5 * (k_0 + k_1), -0.25 * (p_0 + p_1) * ratio_slope(x_0, x_1)])
    return mean, jnp.array([k_1, -0.5 * p_1 * ratio_slope(x_1, x_1)]), k_1 * p_1


SERIES, TERMS = 0.25, 20  # 1 − cos ϑ up to which series are summed


def angle_ratio(x: Array) -> Array:
    """κ = ϑ / sin ϑ for x = 1 − cos ϑ; by its series where the turn is small."""
    small = x < SERIES
    near, term, total = jnp.where(small, x, 0.0), jnp.ones_like(x), jnp.ones_like(x)
    for n in range(1, TERMS):
        term = term * near * (n / (2.0 * n + 1.0))
        total = total + term
    turned = jnp.arccos(jnp.clip(1.0 - jnp.where(small, 1.0, x), -1.0, 1.0))
    return jnp.where(small, total, turned / jnp.sin(turned))


def ratio_slope(x: Array, y: Array) -> Array:
    """(κ(y) − κ(x)) / (y − x), as the kernel has it."""
    small, mixed = jnp.maximum(x, y) < SERIES, jnp.minimum(x, y) < 0.4 * SERIES
    a, b = jnp.where(small, x, 0.0), jnp.where(small, y, 0.0)
    factor, power, both, series = 1.0, jnp.ones_like(x), jnp.ones_like(x), jnp.zeros_like(x)
    for n in range(1, TERMS):
        factor *= n / (2.0 * n + 1.0)
        series = series + factor * both
        power = power * b
        both = both * a + power
    apart = mixed & ~small
    quotient = (angle_ratio(y) - angle_ratio(x)) / jnp.where(apart, y - x, 1.0)
    other = small | mixed
    a, b = (jnp.arccos(jnp.clip(1.0 - jnp.where(other, 1.0, z), -1.0, 1.0)) for z in (x, y))
    mean, half = 0.5 * (a + b), 0.5 * (b - a)
    close = jnp.abs(half) < 1e-9
    cotangent = jnp.where(close, 1.0, half / jnp.tan(jnp.where(close, 1.0, half)))
    far = (cotangent * jnp.sin(mean) - mean * jnp.cos(mean)) / (jnp.sin(a) * jnp.sin(b) * jnp.sin(mean))
    return jnp.where(small, series, jnp.where(apart, quotient, far))


# --- laws ------------------------------------------------------------------------------------------------------------


def resistance(law: Tree, gap_0: Array, gap_1: Array, h: Array) -> tuple[Array, Array]:
    """What a spring and a damper hold against their motion over a step, and its derivative by the gap at the end, times h.

    `law` has stiffness, rest, damping, and piecewise polynomials spring and damper: bounds (n), origin (n + 1), c (n + 1, k).
    """
    rate = (gap_1 - gap_0) / h
    force = law["stiffness"] * (0.5 * (gap_0 + gap_1) - law["rest"]) + law["damping"] * rate
    slope = 0.5 * h * law["stiffness"] + law["damping"]
    if law["spring"]["bounds"].size:
        a, b = gap_0 - law["rest"], gap_1 - law["rest"]
        force, slope = (
            force + mean_value(law["spring"], a, b),
            slope + 0.5 * h * looked_up(law["spring"], 0.5 * (a + b))[1],
        )
    if law["damper"]["bounds"].size:
        value, steep = looked_up(law["damper"], rate)
        force, slope = force + value, slope + steep
    return force, slope


def looked_up(pieces: Tree, x: Array) -> tuple[Array, Array]:
    """Value and slope of piecewise polynomials."""
    k = jnp.sum(x > pieces["bounds"])
    past, c = x - pieces["origin"][k], pieces["c"][k]
    value, slope = jnp.zeros_like(x), jnp.zeros_like(x)
    for j in range(c.shape[0] - 1, -1, -1):
        value, slope = value * past + c[j], slope * past + value
    return value, slope


def mean_within(origin: Array, c: Array, a: Array, b: Array) -> Array:
    """The mean of one polynomial between a and b, without their difference."""
    a, b, total = a - origin, b - origin, c[0]
    power = both = jnp.ones_like(a)
    for j in range(1, c.shape[0]):
        power = power * b
        both = both * a + power
        total = total + c[j] * both / (j + 1)
    return total


def mean_value(pieces: Tree, a: Array, b: Array) -> Array:
    """The mean of piecewise polynomials between a and b, piece by piece: no digits are lost where they are close."""
    low, high = jnp.minimum(a, b), jnp.maximum(a, b)
    bounds, beyond = pieces["bounds"], jnp.array([jnp.inf])
    left, right = jnp.concatenate([-beyond, bounds]), jnp.concatenate([bounds, beyond])
    start, end = jnp.clip(left, low, high), jnp.clip(right, low, high)
    inside = end > start
    start, end = jnp.where(inside, start, pieces["origin"]), jnp.where(inside, end, pieces["origin"])
    means = jax.vmap(mean_within)(pieces["origin"], pieces["c"], start, end)
    k, last = jnp.sum(low > bounds), jnp.sum(high > bounds)
    one = mean_within(pieces["origin"][k], pieces["c"][k], low, high)
    return jnp.where(k == last, one, jnp.sum((end - start) * means) / jnp.where(k == last, 1.0, high - low))


def potential(law: Tree, gap: Array) -> Array:
    """Energy of the spring of a row: ½k(x − x₀)² + ∫ of its pieces from rest."""
    x = gap - law["rest"]
    energy = 0.5 * law["stiffness"] * x * x
    if law["spring"]["bounds"].size:
        energy = energy + x * mean_value(law["spring"], jnp.zeros_like(x), x)
    return energy


def law_over_step(name: str, numbers: Array, x_0: Array, x_1: Array, h: Array) -> tuple[Array, Array]:
    """What `resistance` returns, of a law that is written as functions."""
    law = LAWS[name]
    mean, slope, _ = mean_effort(law.spring, x_0, x_1, *numbers)
    effort, steep = law.damper((x_1 - x_0) / h, *numbers)
    return mean + effort, 0.5 * h * slope + steep


def law_energy(name: str, numbers: Array, gap: Array) -> Array:
    """What is stored by a law that is written as functions."""
    return jnp.asarray(LAWS[name].spring(gap, *numbers)[2])
