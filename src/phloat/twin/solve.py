"""Newton's method of a step, with the tangents of one iterate reused in the following ones.

    (Σ Ĝ_i D_i⁻¹ G_iᵀ) δλ = −c + Σ Ĝ_i D_i⁻¹ F_i,      δx_i = D_i⁻¹ (G_iᵀ δλ − F_i)

Residuals must fall to their round-off. The tangents leave out the coupling of bodies through the directions of their joints, so
that convergence is fast but not quadratic; derivatives of a solution are refined in the same way and are exact.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

from phloat.twin.body import end_state, free_tangent, velocities
from phloat.twin.equations import (
    each_body,
    end_maps,
    equations,
    joined,
    pulls,
    sliced,
    step_start,
    sum_rows,
    uses_directions,
    velocity_maps,
)
from phloat.twin.model import Tree
from phloat.twin.ports import generalised_force, mean_port, port
from phloat.twin.small import along, contract, inverse

ROUND_OFF = 16.0  # round-offs of the terms of an equation below which it counts as solved
STALLED = 1e4  # round-offs below which a residual that no longer falls is accepted
CHORDS = 8  # iterations with one set of tangents
RENEWALS = 6
EPS = 2.220446049250313e-16
TINY = 2.2250738585072014e-308  # replaces a scale of zero: a body at rest without forces


def tangents(model: Tree, state: Tree, before: Tree, x: list[Array], values: Tree, inputs: Tree) -> list[Tree]:
    """Inverse tangents of the bodies of each group at the unknowns x."""
    frames, old, forces = sliced(model, values["frames"]), before["ports"], values["forces"]
    return [
        _tangent(g, state["bodies"][k], old[k], forces[k], frames[k], x[k], model["gravity"], inputs["h"])
        for k, g in enumerate(model["groups"])
    ]


def correction_factors(
    model: Tree, state: Tree, before: Tree, x: list[Array], values: Tree, inputs: Tree, bodies: list[Tree]
) -> Tree:
    """The factors of a Newton correction: inverse tangents D⁻¹ of bodies, Ĝ, D⁻¹Gᵀ, and the inverse of S."""
    h, opening, closing = inputs["h"], joined(before["ports"]), joined(values["ports"])
    unit, unit_end = (pulls(model, opening, closing, state["gaps"], at_end=end)[0] for end in (False, True))
    hats, solutions, small = [], [], []
    for k, g in enumerate(model["groups"]):
        (end, Q), lin, rot = values["ends"][k], state["bodies"][k]["V"].shape[1], state["bodies"][k]["omega"].shape[1]
        G = _rows(g, unit, velocity_maps(g, mean_port(before["ports"][k], values["ports"][k]), Q, Q))
        hat = _rows(g, unit_end, end_maps(g, values["ports"][k], end["A"], Q, x[k][:, lin : lin + rot], h))
        hats.append(hat)
        solutions.append(contract(bodies[k]["inverse"], jnp.swapaxes(G, 1, 2)))
        small.append(contract(hat, solutions[-1]).ravel())
    m = values["c"].shape[0]
    S = sum_rows(jnp.concatenate([jnp.zeros(0), *small]), model["crossing"]).reshape(m, m)
    S = values["by_gap"][:, None] * S + jnp.diag(values["by_lam"])
    return {"bodies": bodies, "hats": hats, "solutions": solutions, "S": inverse(S), "by_gap": values["by_gap"]}


def _tangent(
    group: Tree, states: Tree, old: Tree, forces: Array, frames: Array, x: Array, gravity: Array, h: Array
) -> Tree:
    """D = ∂F/∂x of each body at constant port forces: D⁻¹, the size of the terms of F, and the unit of each equation."""

    def one(b: Tree, ends: Tree, state: Tree, old: Tree, forces: Array, triads: Array, x: Array) -> Tree:
        def by_ports(x: Array) -> Array:
            end, Q = end_state(state, x, h)

            def on_body(place: Tree, old: Tree, force: Array, triad: Array) -> Array:
                return generalised_force(
                    place,
                    mean_port(old, port(place, end, triad, uses_directions(group))),
                    Q,
                    Q,
                    force,
                    uses_directions(group),
                )

            return jnp.sum(jax.vmap(on_body)(ends, old, forces, triads), axis=0)

        D = free_tangent(b, state, x, h) - jax.jacfwd(by_ports)(x)
        lin, rot = state["V"].shape[0], state["omega"].shape[0]
        weight, bent = b["m"] * jnp.abs(gravity[:lin]), jnp.abs(b["K"]) @ jnp.abs(state["eta"])
        scale = jnp.abs(D) @ (jnp.abs(x) + jnp.abs(velocities(state)))
        return {
            "inverse": inverse(D),
            "scale": scale + jnp.concatenate([weight, jnp.zeros(rot), bent]),
            "unit": 1.0 / jnp.sqrt(jnp.abs(jnp.diagonal(D))),
        }

    return each_body(one, group, group["ends"], states, old, forces, frames[:, :, 1:], x)


def _rows(group: Tree, unit: Array, maps: Array) -> Array:
    """The unknown rows that touch each body, per its velocities: (bodies, k, size)."""
    padded = jnp.concatenate([unit, jnp.zeros((1, *unit.shape[1:]))])[:, : maps.shape[2]]
    chosen = padded[group["pulls"]]
    slot_maps = jax.vmap(lambda T, slots: T[slots])(maps, group["slots"])
    return jnp.sum(chosen[..., None] * slot_maps, axis=(2, 3))


def correction(model: Tree, P: Tree, F: list[Array], c: Array) -> tuple[list[Array], Array]:
    """The Newton correction δx, δλ for the residuals F of the bodies and c of the joints."""
    y = [along(t["inverse"], f) for t, f in zip(P["bodies"], F, strict=True)]
    by_rows = [along(hat, one).ravel() for hat, one in zip(P["hats"], y, strict=True)]
    right = P["by_gap"] * sum_rows(jnp.concatenate([jnp.zeros(0), *by_rows]), model["touching"]) - c
    lam = contract(P["S"], right)
    padded = jnp.concatenate([lam, jnp.zeros(1)])
    x = [
        along(solution, padded[g["rows"]]) - one
        for g, solution, one in zip(model["groups"], P["solutions"], y, strict=True)
    ]
    return x, lam


def residual_size(P: Tree, values: Tree, lam: Array, h: Array) -> Array:
    """The largest residual of an equation, as a multiple of the round-off of its terms."""
    largest = jnp.zeros(())
    for t, F, f in zip(P["bodies"], values["F"], values["forces"], strict=False):
        port = jnp.sum(jnp.abs(f), axis=(1, 2, 3))
        size = jnp.max(jnp.abs(F) * t["unit"], axis=1)
        scale = jnp.max((t["scale"] + port[:, None]) * t["unit"], axis=1)
        largest = jnp.maximum(largest, jnp.max(size / jnp.maximum(scale, TINY)))
    if lam.shape[0]:
        ports = joined(values["ports"])
        length = jnp.maximum(1.0, jnp.max(jnp.sum(jnp.abs(ports["c"]) + jnp.abs(ports["arm"]), axis=1)))
        scale = values["by_gap"] * length / h + values["by_lam"] * (1.0 + jnp.abs(lam))
        largest = jnp.maximum(largest, jnp.max(jnp.abs(values["c"]) / scale))
    return jnp.where(jnp.isnan(largest), jnp.inf, largest) / EPS


def solved_step(
    model: Tree,
    state: Tree,
    inputs: Tree,
    x: list[Array],
    lam: Array,
    known_tangents: list[Tree] | None = None,
    *,
    renewals: int = RENEWALS,
) -> Tree:
    """Solves one step by Newton's method from a guess of x and λ.

    Returns x, λ, gaps at the end of the step, the power of ports, the number of iterations k, and the largest residual
    (`size`, as a multiple of round-off).

    `known_tangents` are tangents of bodies from an earlier step; if Newton's method does not converge with them, new ones are
    made, at most `renewals` times.
    """
    before, h = step_start(model, state), inputs["h"]
    most = CHORDS if renewals else 4 * CHORDS

    def evaluate(x: list[Array], lam: Array) -> Tree:
        return equations(model, state, before, x, lam, inputs)

    def unfinished(carry: Tree) -> Array:
        wanting = (carry["size"] > ROUND_OFF) & ((carry["stuck"] < 3) | (carry["size"] > STALLED))
        return wanting & (carry["left"] > 0)

    def chords(carry: Tree, bodies: list[Tree] | None) -> Tree:
        values = evaluate(carry["x"], carry["lam"])
        bodies = tangents(model, state, before, carry["x"], values, inputs) if bodies is None else bodies
        P = correction_factors(model, state, before, carry["x"], values, inputs, bodies)

        def iterate(c: Tree) -> Tree:
            dx, dlam = correction(model, P, c["F"], c["c"])
            x, lam = jax.tree.map(jnp.add, c["x"], dx), c["lam"] + dlam
            values = evaluate(x, lam)
            size = residual_size(P, values, lam, h)
            stuck = jnp.where(size > 0.5 * c["size"], c["stuck"] + 1, 0)
            new = {"x": x, "lam": lam, "size": size, "stuck": stuck, "left": c["left"] - 1, "k": c["k"] + 1}
            return new | {key: values[key] for key in ("F", "c", "gaps", "power")}

        inner = {key: values[key] for key in ("F", "c", "gaps", "power")} | {"x": carry["x"], "lam": carry["lam"]}
        inner |= {"size": jnp.array(jnp.inf), "stuck": jnp.array(0), "left": jnp.array(most), "k": carry["k"]}
        result = lax.while_loop(unfinished, iterate, inner)
        return {key: result[key] for key in carry if key != "left"} | {"left": carry["left"] - 1}

    m, nothing = state["gaps"].shape[0], jnp.zeros(())
    carry = {"x": x, "lam": lam, "gaps": jnp.zeros(m), "power": nothing, "size": nothing + jnp.inf}
    carry |= {"stuck": jnp.array(0), "k": jnp.array(0), "left": jnp.array(renewals)}
    if known_tangents is not None:
        carry = chords(carry, known_tangents)
    if renewals == 0:
        return {key: carry[key] for key in ("x", "lam", "gaps", "power", "size", "k")}
    result = lax.while_loop(unfinished, lambda c: chords(c, None), carry)
    return {key: result[key] for key in ("x", "lam", "gaps", "power", "size", "k")}


@jax.custom_vjp
def differentiable(arguments: tuple[Tree, Tree, Tree], x: list[Array], lam: Array) -> tuple[list[Array], Array]:
    """x and λ of a solved step as functions of (model, state, inputs), with the derivatives of its equations R(z) = 0.

    Backwards, from the derivatives z̄ by z: Jᵀa = z̄, then −a times the derivatives of R by (model, state, inputs).
    """
    return x, lam


def _forward(arguments: tuple[Tree, Tree, Tree], x: list[Array], lam: Array) -> Any:
    return (x, lam), (arguments, x, lam)


def _backward(saved: Any, cotangents: tuple[list[Array], Array]) -> Any:
    (model, state, inputs), x, lam = saved

    def R(arguments: tuple[Tree, Tree, Tree], z: tuple[list[Array], Array]) -> tuple[list[Array], Array]:
        values = equations(arguments[0], arguments[1], step_start(arguments[0], arguments[1]), *z, arguments[2])
        return values["F"], values["c"]

    before = step_start(model, state)
    values = equations(model, state, before, x, lam, inputs)
    P = correction_factors(model, state, before, x, values, inputs, tangents(model, state, before, x, values, inputs))
    _, pulled = jax.vjp(R, (model, state, inputs), (x, lam))
    transposed = jax.linear_transpose(lambda r: correction(model, P, *r), (values["F"], values["c"]))
    a = refine(lambda r: pulled(r)[1], lambda r: jax.tree.map(jnp.negative, transposed(r)[0]), cotangents)
    by_arguments = pulled(jax.tree.map(jnp.negative, a))[0]
    return by_arguments, jax.tree.map(jnp.zeros_like, x), jnp.zeros_like(lam)


differentiable.defvjp(_forward, _backward)


def refine(J: Any, precondition: Any, R: Any) -> Any:
    """z with J z = R, by preconditioned corrections as long as each halves the residual."""

    def norm(r: Any) -> Array:
        return jnp.sqrt(sum((jnp.sum(a * a) for a in jax.tree.leaves(r)), jnp.zeros(())))

    def unfinished(c: tuple[Any, Any, Array, Array, Array]) -> Array:
        _, _, size, before, k = c
        return (size < 0.5 * before) & (k < 30) & (size > 0.0)

    def iterate(c: tuple[Any, Any, Array, Array, Array]) -> Any:
        z, dz, size, _, k = c
        z = jax.tree.map(jnp.add, z, dz)
        dz = precondition(jax.tree.map(jnp.subtract, R, J(z)))
        return z, dz, norm(dz), size, k + 1

    dz = precondition(R)
    start = (jax.tree.map(jnp.zeros_like, dz), dz, norm(dz), jnp.array(jnp.inf), jnp.array(0))
    z, *_ = lax.while_loop(unfinished, iterate, start)
    return z
