"""Rows between two ports, by kind: the gap, and the pulls that λ = 1 puts on both ports.

A row is written once, for ports held somewhere: with mean ports its pulls are the discrete row, with end ports the derivative of
the gap. Pulls act on the place, on the three directions and as a torque, (2 ports, 5, 3). Motion is that of B seen from A.
`i` (4) are the directions a row is about, `along` (3) a fixed direction, `coef` (3) what hinges and distances need beside.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array

from phloat.twin.body import Tree

KINDS = (
    *("coincide", "perpendicular", "in_plane", "skew", "turn", "distance"),
    *("spin", "wrench_v", "wrench_w", "push", "twist", "rotation"),
)
TURNING = (
    "perpendicular",
    "in_plane",
    "skew",
    "turn",
    "spin",
    "wrench_v",
    "wrench_w",
    "twist",
    "rotation",
)  # their pulls may turn a port
Row = Callable[[Tree, Tree, Tree, Array], tuple[Array, Array]]


def _pulls(on_A: tuple[Array, Array, Array], on_B: tuple[Array, Array, Array]) -> Array:
    """Force, forces on directions (3, 3), torque, of both ports."""
    return jnp.stack([jnp.concatenate([f[None], g, tau[None]]) for f, g, tau in (on_A, on_B)])


def _at(i: Array, vector: Array) -> Array:
    """A vector as row i of a (3, 3)."""
    return (jnp.arange(3) == i)[:, None] * vector[None]


def _none() -> tuple[Array, Array, Array]:
    return jnp.zeros(3), jnp.zeros((3, 3)), jnp.zeros(3)


def _product(A: Tree, B: Tree, i: Array, j: Array) -> tuple[Array, Array]:
    """d_Ai · d_Bj."""
    a, b = A["d"][i], B["d"][j]
    zero = jnp.zeros(3)
    return a @ b, _pulls((zero, _at(i, b), zero), (zero, _at(j, a), zero))


def coincide(row: Tree, A: Tree, B: Tree, coef: Array) -> tuple[Array, Array]:
    i = row["i"][0]
    e = (jnp.arange(3) == i) * 1.0
    zero, none = jnp.zeros(3), jnp.zeros((3, 3))
    return (B["c"] - A["c"])[i], _pulls((-e, none, zero), (e, none, zero))


def perpendicular(row: Tree, A: Tree, B: Tree, coef: Array) -> tuple[Array, Array]:
    return _product(A, B, row["i"][0], row["i"][1])


def in_plane(row: Tree, A: Tree, B: Tree, coef: Array) -> tuple[Array, Array]:
    i = row["i"][0]
    d, g, zero = A["d"][i], B["c"] - A["c"], jnp.zeros(3)
    return d @ g, _pulls((-d, _at(i, g), zero), (d, jnp.zeros((3, 3)), zero))


def skew(row: Tree, A: Tree, B: Tree, coef: Array) -> tuple[Array, Array]:
    a, b = (row["i"][0] + 1) % 3, (row["i"][0] + 2) % 3
    (first, pull_1), (second, pull_2) = _product(A, B, b, a), _product(A, B, a, b)
    return 0.5 * (first - second), 0.5 * (pull_1 - pull_2)


def rotation(row: Tree, A: Tree, B: Tree, coef: Array) -> tuple[Array, Array]:
    """A component of the rotation vector, κ s; `coef` has κ and what acts on the three products d_Ai · d_Bi."""
    s, on_s = skew(row, A, B, coef)
    on_all = sum(_product(A, B, jnp.array(i), jnp.array(i))[1] for i in range(3))
    return angle_ratio(_versine(A, B)) * s, coef[0] * on_s + coef[1] * on_all


def _versine(A: Tree, B: Tree) -> Array:
    """1 − cos ϑ of the turn between two triads."""
    return 1.5 - 0.5 * jnp.sum(A["d"] * B["d"])


def turn(row: Tree, A: Tree, B: Tree, coef: Array) -> tuple[Array, Array]:
    """The angle of a hinge, without its turns."""
    (p, on_p), (q, on_q) = _product(A, B, row["i"][0], row["i"][1]), _product(A, B, row["i"][2], row["i"][3])
    return jnp.arctan2(p, q), coef[0] * on_p + coef[1] * on_q


def distance(row: Tree, A: Tree, B: Tree, coef: Array) -> tuple[Array, Array]:
    d, zero, none = B["c"] - A["c"], jnp.zeros(3), jnp.zeros((3, 3))
    return jnp.sqrt(d @ d), _pulls((-coef, none, zero), (coef, none, zero))


def spin(row: Tree, A: Tree, B: Tree, coef: Array) -> tuple[Array, Array]:
    d, zero, none = A["d"][row["i"][0]], jnp.zeros(3), jnp.zeros((3, 3))
    return jnp.zeros(()), _pulls((zero, none, -d), (zero, none, d))


def push(row: Tree, A: Tree, B: Tree, coef: Array) -> tuple[Array, Array]:
    return jnp.zeros(()), _pulls(_none(), (row["along"], jnp.zeros((3, 3)), jnp.zeros(3)))


def twist(row: Tree, A: Tree, B: Tree, coef: Array) -> tuple[Array, Array]:
    return jnp.zeros(()), _pulls(_none(), (jnp.zeros(3), jnp.zeros((3, 3)), row["along"]))


def _followed(row: Tree, B: Tree) -> Tree:
    """The direction of a force in the axes of a section, of the length that it has there."""
    along, there = row["along"], B["axes"] @ row["along"]
    return {"along": jnp.sqrt((along @ along) / (there @ there)) * there}


def wrench_v(row: Tree, A: Tree, B: Tree, coef: Array) -> tuple[Array, Array]:
    return push(_followed(row, B), A, B, coef)


def wrench_w(row: Tree, A: Tree, B: Tree, coef: Array) -> tuple[Array, Array]:
    return twist(_followed(row, B), A, B, coef)


BY_KIND: dict[str, Row] = {
    "coincide": coincide,
    "perpendicular": perpendicular,
    "in_plane": in_plane,
    "skew": skew,
    "turn": turn,
    "distance": distance,
    "spin": spin,
    "push": push,
    "twist": twist,
    "wrench_v": wrench_v,
    "wrench_w": wrench_w,
    "rotation": rotation,
}


def coefficients(kind: str, row: Tree, ports: tuple[Tree, Tree, Tree, Tree], gap: Array) -> tuple[Array, Array, Array]:
    """Coefficients of a row in the mean and at the end of a step, and its gap there; ports are A₀, A₁, B₀, B₁."""
    A_0, A_1, B_0, B_1 = ports
    none = jnp.zeros(3)
    if kind == "turn":
        return _hinge(row, A_0, A_1, B_0, B_1, gap)
    if kind == "distance":
        d_0, d_1 = B_0["c"] - A_0["c"], B_1["c"] - A_1["c"]
        l_1 = jnp.sqrt(d_1 @ d_1)
        return (d_0 + d_1) / (gap + l_1), d_1 / l_1, l_1
    if kind == "rotation":
        return _turned(row, A_0, A_1, B_0, B_1)
    return none, none, BY_KIND[kind](row, A_1, B_1, none)[0]


def _hinge(row: Tree, A_0: Tree, A_1: Tree, B_0: Tree, B_1: Tree, gap: Array) -> tuple[Array, Array, Array]:
    """κ(q̄, −p̄) with κ = Δϑ/(p₁q₀ − q₁p₀), (q₁, −p₁)/(p₁² + q₁²), and the angle with its turns."""
    i, j, k, l = (row["i"][n] for n in range(4))
    p_0, p_1 = A_0["d"][i] @ B_0["d"][j], A_1["d"][i] @ B_1["d"][j]
    q_0, q_1 = A_0["d"][k] @ B_0["d"][l], A_1["d"][k] @ B_1["d"][l]
    sine, cosine = p_1 * q_0 - q_1 * p_0, q_0 * q_1 + p_0 * p_1
    turned = jnp.arctan2(sine, cosine)
    small = jnp.abs(sine) <= 1e-9 * jnp.abs(cosine)
    ratio = jnp.where(small, 1.0 / cosine, turned / jnp.where(small, 1.0, sine))
    angle, size = jnp.arctan2(p_1, q_1), p_1 * p_1 + q_1 * q_1
    turns = jnp.round((gap + turned - angle) / (2.0 * jnp.pi))
    mean = 0.5 * ratio * jnp.array([q_0 + q_1, -(p_0 + p_1), 0.0])
    return mean, jnp.array([q_1, -p_1, 0.0]) / size, angle + 2.0 * jnp.pi * turns


def _turned(row: Tree, A_0: Tree, A_1: Tree, B_0: Tree, B_1: Tree) -> tuple[Array, Array, Array]:
    """Δφ = κ̄ Δs − s̄ κ[x₀, x₁] ½ Σ Δ(d_Ai · d_Bi), the same at the end, and φ there."""
    x_0, x_1 = _versine(A_0, B_0), _versine(A_1, B_1)
    s_0, s_1 = skew(row, A_0, B_0, jnp.zeros(3))[0], skew(row, A_1, B_1, jnp.zeros(3))[0]
    k_0, k_1 = angle_ratio(x_0), angle_ratio(x_1)
    mean = jnp.array([0.5 * (k_0 + k_1), -0.25 * (s_0 + s_1) * ratio_slope(x_0, x_1), 0.0])
    return mean, jnp.array([k_1, -0.5 * s_1 * ratio_slope(x_1, x_1), 0.0]), k_1 * s_1


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
