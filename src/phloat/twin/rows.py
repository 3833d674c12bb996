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
    *("spin", "wrench_v", "wrench_w", "push", "twist"),
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


# --- laws ------------------------------------------------------------------------------------------------------------


def resistance(law: Tree, gap_0: Array, gap_1: Array, h: Array) -> tuple[Array, Array]:
    """What a spring and a damper hold against their motion over a step, and its derivative by the gap at the end, times h.

    `law` has stiffness, rest, damping, and tables spring and damper (2, k), whose columns beyond their end repeat the last.
    """
    rate = (gap_1 - gap_0) / h
    force = law["stiffness"] * (0.5 * (gap_0 + gap_1) - law["rest"]) + law["damping"] * rate
    slope = 0.5 * h * law["stiffness"] + law["damping"]
    if law["spring"].shape[1]:
        a, b = gap_0 - law["rest"], gap_1 - law["rest"]
        force, slope = (
            force + mean_value(law["spring"], a, b),
            slope + 0.5 * h * looked_up(law["spring"], 0.5 * (a + b))[1],
        )
    if law["damper"].shape[1]:
        value, steep = looked_up(law["damper"], rate)
        force, slope = force + value, slope + steep
    return force, slope


def looked_up(table: Array, x: Array) -> tuple[Array, Array]:
    """Value and slope of a table, linear between its columns and beyond them."""
    at, force = table
    last = jnp.sum(jnp.diff(at) > 0)  # intervals that are there
    k = jnp.clip(jnp.sum(x > at[1:-1]), 0, jnp.maximum(last - 1, 0))
    width = at[k + 1] - at[k]
    slope = jnp.where(width > 0, (force[k + 1] - force[k]) / jnp.where(width > 0, width, 1.0), 0.0)
    return force[k] + slope * (x - at[k]), slope


def mean_value(table: Array, a: Array, b: Array) -> Array:
    """The mean of a table between a and b, interval by interval: no digits are lost where they are close."""
    low, high = jnp.minimum(a, b), jnp.maximum(a, b)
    at = table[0]
    left = at.at[0].set(-jnp.inf)[:-1]
    right = jnp.where(at[1:] >= at[-1], jnp.inf, at[1:])
    left = jnp.where(left >= at[-1], jnp.inf, left)
    start, end = jnp.clip(left, low, high), jnp.clip(right, low, high)
    values = jax.vmap(lambda x: looked_up(table, x)[0])(0.5 * (start + end))
    apart = high > low
    total = jnp.sum((end - start) * values)
    return jnp.where(apart, total / jnp.where(apart, high - low, 1.0), looked_up(table, low)[0])


def potential(law: Tree, gap: Array) -> Array:
    """Energy of the spring of a row: ½k(x − x₀)² + ∫ of its table from rest."""
    x = gap - law["rest"]
    energy = 0.5 * law["stiffness"] * x * x
    if law["spring"].shape[1]:
        energy = energy + x * mean_value(law["spring"], jnp.zeros_like(x), x)
    return energy
