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
from phloat.joints.row_functions import (
    SERIES,
    angle_slopes,
    far_ratio,
    far_slope,
    length_slopes,
    linear_effort,
    near_ratio,
    near_slope,
    polynomial,
    polynomial_mean,
    rotation_slopes,
)
from phloat.joints.rows import FIRST, SECOND, VECTORS
from phloat.twin.model import Tree

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


def unit_pull(function: str, row: Tree, A: Tree, B: Tree, slopes: Array) -> Array:
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


def row_slopes(function: str, row: Tree, ports: Ports, gap: Array) -> tuple[Array, Array, Array]:
    """Slopes of f over a step and at its end, and the gap there."""
    A_0, A_1, B_0, B_1 = ports
    if "S" not in row:
        return jnp.zeros(2), jnp.zeros(2), jnp.zeros(())
    V_0, V_1 = vectors(A_0, B_0), vectors(A_1, B_1)
    p_1 = product_sum(row["S"], V_1)
    if function == "product":
        return jnp.ones(2), jnp.ones(2), p_1
    if function == "length":
        slopes = length_slopes(p_1, gap)
    else:
        p_0, q_0, q_1 = product_sum(row["S"], V_0), product_sum(row["S_q"], V_0), product_sum(row["S_q"], V_1)
        if function == "angle":
            slopes = angle_slopes(p_0, q_0, p_1, q_1, gap)
        else:
            x_0, x_1 = 1.5 - 0.5 * q_0, 1.5 - 0.5 * q_1
            changes = ratio_change(x_0, x_1), ratio_change(x_1, x_1)
            slopes = rotation_slopes(p_0, p_1, ratio(x_0), ratio(x_1), *changes)
    return jnp.array(slopes[:2]), jnp.array(slopes[2:4]), slopes[4]


def ratio(x: Array) -> Array:
    """κ = ϑ / sin ϑ for x = 1 − cos ϑ."""
    small = x < SERIES
    return jnp.where(small, near_ratio(jnp.where(small, x, 0.0)), far_ratio(jnp.where(small, 1.0, x)))


def ratio_change(x: Array, y: Array) -> Array:
    """(κ(y) − κ(x)) / (y − x), by the branches of the kernel, each of which sees a number it is for."""
    small, mixed = jnp.maximum(x, y) < SERIES, jnp.minimum(x, y) < 0.4 * SERIES
    near = near_slope(jnp.where(small, x, 0.0), jnp.where(small, y, 0.0))
    apart, other = mixed & ~small, mixed | small
    quotient = (ratio(y) - ratio(x)) / jnp.where(apart, y - x, 1.0)
    far = far_slope(jnp.where(other, 1.0, x), jnp.where(other, 1.0, y))
    return jnp.where(small, near, jnp.where(apart, quotient, far))


# --- laws ------------------------------------------------------------------------------------------------------------


def effort_over_step(law: Tree, gap_0: Array, gap_1: Array, h: Array) -> tuple[Array, Array]:
    """What a spring and a damper hold against their motion over a step, and its derivative by the gap at the end, times h.

    `law` has stiffness, rest, damping, and piecewise polynomials spring and damper: bounds (n), origin (n + 1), c (n + 1, k).
    """
    rate = (gap_1 - gap_0) / h
    force, slope = linear_effort(law["stiffness"], law["rest"], law["damping"], gap_0, gap_1, rate, h)
    if law["spring"]["bounds"].size:
        a, b = gap_0 - law["rest"], gap_1 - law["rest"]
        force = force + mean_of_pieces(law["spring"], a, b)
        slope = slope + 0.5 * h * piece(law["spring"], 0.5 * (a + b))[1]
    if law["damper"]["bounds"].size:
        value, steep, _ = piece(law["damper"], rate)
        force, slope = force + value, slope + steep
    return force, slope


def piece(pieces: Tree, x: Array) -> tuple[Array, Array, Array]:
    """Value, slope and integral of the piece at x."""
    k = jnp.sum(x > pieces["bounds"])
    return polynomial(pieces["c"][k], 0, pieces["c"].shape[1], x - pieces["origin"][k])


def mean_of_pieces(pieces: Tree, a: Array, b: Array) -> Array:
    """The mean of piecewise polynomials between a and b, piece by piece: no digits are lost where they are close."""
    low, high = jnp.minimum(a, b), jnp.maximum(a, b)
    bounds, beyond = pieces["bounds"], jnp.array([jnp.inf])
    left, right = jnp.concatenate([-beyond, bounds]), jnp.concatenate([bounds, beyond])
    start, end = jnp.clip(left, low, high), jnp.clip(right, low, high)
    inside = end > start
    start, end = jnp.where(inside, start, pieces["origin"]), jnp.where(inside, end, pieces["origin"])

    def mean(origin: Array, c: Array, a: Array, b: Array) -> Array:
        return polynomial_mean(c, 0, c.shape[0], a - origin, b - origin)

    means = jax.vmap(mean)(pieces["origin"], pieces["c"], start, end)
    k, last = jnp.sum(low > bounds), jnp.sum(high > bounds)
    one = mean(pieces["origin"][k], pieces["c"][k], low, high)
    return jnp.where(k == last, one, jnp.sum((end - start) * means) / jnp.where(k == last, 1.0, high - low))


def spring_energy(law: Tree, gap: Array) -> Array:
    """Energy of the spring of a row: ½k(x − x₀)² + ∫ of its pieces from rest."""
    x = gap - law["rest"]
    energy = 0.5 * law["stiffness"] * x * x
    if law["spring"]["bounds"].size:
        energy = energy + x * mean_of_pieces(law["spring"], jnp.zeros_like(x), x)
    return energy


def law_over_step(name: str, numbers: Array, x_0: Array, x_1: Array, h: Array) -> tuple[Array, Array]:
    """What `effort_over_step` returns, of a law that is written as functions."""
    law = LAWS[name]
    mean, slope, _ = mean_effort(law.spring, x_0, x_1, *numbers)
    effort, steep = law.damper(0.5 * (x_0 + x_1), (x_1 - x_0) / h, *numbers)
    return mean + effort, 0.5 * h * slope + steep


def law_energy(name: str, numbers: Array, gap: Array) -> Array:
    """What is stored by a law that is written as functions."""
    return jnp.asarray(LAWS[name].spring(gap, *numbers)[2])
