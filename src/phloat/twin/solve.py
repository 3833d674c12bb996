"""Newton's method of a step, with the tangents of one iterate kept for all that follow.

    (Σ Ĝ_i D_i⁻¹ G_iᵀ) δλ = −c + Σ Ĝ_i D_i⁻¹ F_i,      δx_i = D_i⁻¹ (G_iᵀ δλ − F_i)

Residuals must fall to their round-off. What bodies do to each other through the directions of their joints is left out of the
tangents, so these converge fast, not at once; derivatives of a solution are refined in the same way and are exact.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

from phloat.twin.body import free_tangent, moved, velocities
from phloat.twin.equations import (
    each_body,
    end_maps,
    equations,
    gathered,
    joined,
    pulls,
    sliced,
    step_start,
    turns,
    velocity_maps,
)
from phloat.twin.model import Tree
from phloat.twin.ports import between, felt, port
from phloat.twin.small import along, contract, inverse

ROUND_OFF = 16.0  # of the terms of an equation: what counts as solved
STALLED = 1e4  # within so many round-offs a residual that falls no more is accepted
CHORDS = 8  # iterations with one set of tangents
RENEWALS = 6
EPS = 2.220446049250313e-16
TINY = 2.2250738585072014e-308  # what rests and feels nothing has terms of no size


def tangents(model: Tree, state: Tree, before: Tree, x: list[Array], at: Tree, inputs: Tree) -> list[Tree]:
    """Inverse tangents of the bodies of each group at the present unknowns."""
    frames, old, forces = sliced(model, at["frames"]), before["ports"], at["forces"]
    return [
        _tangent(g, state["bodies"][k], old[k], forces[k], frames[k], x[k], model["gravity"], inputs["h"])
        for k, g in enumerate(model["groups"])
    ]


def correction_factors(
    model: Tree, state: Tree, before: Tree, x: list[Array], at: Tree, inputs: Tree, bodies: list[Tree]
) -> Tree:
    """What a correction needs: tangents of bodies, the rows between them, and the inverse of S."""
    h, opening, closing = inputs["h"], joined(before["ports"]), joined(at["ports"])
    unit, unit_end = (pulls(model, opening, closing, state["gaps"], at_end=end)[0] for end in (False, True))
    hats, solutions, small = [], [], []
    for k, g in enumerate(model["groups"]):
        (end, Q), lin, rot = at["ends"][k], state["bodies"][k]["V"].shape[1], state["bodies"][k]["omega"].shape[1]
        G = _rows(g, unit, velocity_maps(g, between(before["ports"][k], at["ports"][k]), Q, Q))
        hat = _rows(g, unit_end, end_maps(g, at["ports"][k], end["A"], Q, x[k][:, lin : lin + rot], h))
        hats.append(hat)
        solutions.append(contract(bodies[k]["inverse"], jnp.swapaxes(G, 1, 2)))
        small.append(contract(hat, solutions[-1]).ravel())
    m = at["c"].shape[0]
    S = gathered(jnp.concatenate([jnp.zeros(0), *small]), model["crossing"]).reshape(m, m)
    S = at["by_gap"][:, None] * S + jnp.diag(at["by_lam"])
    return {"bodies": bodies, "hats": hats, "solutions": solutions, "S": inverse(S), "by_gap": at["by_gap"]}


def _tangent(
    group: Tree, states: Tree, old: Tree, forces: Array, frames: Array, x: Array, gravity: Array, h: Array
) -> Tree:
    """D = ∂F/∂x of each body, forces on its ports held: its inverse, the size of its terms, and their units."""

    def one(b: Tree, ends: Tree, state: Tree, old: Tree, forces: Array, triads: Array, x: Array) -> Tree:
        def by_ports(x: Array) -> Array:
            end, Q = moved(state, x, h)

            def on_body(at: Tree, old: Tree, force: Array, triad: Array) -> Array:
                return felt(at, between(old, port(at, end, triad, turns(group))), Q, Q, force, turns(group))

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
    there = jax.vmap(lambda T, slots: T[slots])(maps, group["slots"])
    return jnp.sum(chosen[..., None] * there, axis=(2, 3))


def corrected(model: Tree, P: Tree, F: list[Array], c: Array) -> tuple[list[Array], Array]:
    """δx and δλ for the residuals F and c."""
    y = [along(t["inverse"], f) for t, f in zip(P["bodies"], F, strict=True)]
    felt = [along(hat, one).ravel() for hat, one in zip(P["hats"], y, strict=True)]
    right = P["by_gap"] * gathered(jnp.concatenate([jnp.zeros(0), *felt]), model["touching"]) - c
    lam = contract(P["S"], right)
    padded = jnp.concatenate([lam, jnp.zeros(1)])
    x = [
        along(solution, padded[g["rows"]]) - one
        for g, solution, one in zip(model["groups"], P["solutions"], y, strict=True)
    ]
    return x, lam


def measured(P: Tree, at: Tree, lam: Array, h: Array) -> Array:
    """The largest residual in round-offs of the terms it is the sum of."""
    worst = jnp.zeros(())
    for t, F, f in zip(P["bodies"], at["F"], at["forces"], strict=False):
        port = jnp.sum(jnp.abs(f), axis=(1, 2, 3))
        size = jnp.max(jnp.abs(F) * t["unit"], axis=1)
        scale = jnp.max((t["scale"] + port[:, None]) * t["unit"], axis=1)
        worst = jnp.maximum(worst, jnp.max(size / jnp.maximum(scale, TINY)))
    if lam.shape[0]:
        ports = joined(at["ports"])
        length = jnp.maximum(1.0, jnp.max(jnp.sum(jnp.abs(ports["c"]) + jnp.abs(ports["arm"]), axis=1)))
        scale = at["by_gap"] * length / h + at["by_lam"] * (1.0 + jnp.abs(lam))
        worst = jnp.maximum(worst, jnp.max(jnp.abs(at["c"]) / scale))
    return jnp.where(jnp.isnan(worst), jnp.inf, worst) / EPS


def solved_step(
    model: Tree, state: Tree, inputs: Tree, x: list[Array], lam: Array, kept: list[Tree] | None = None
) -> Tree:
    """x and λ of a step from a guess, with gaps at its end, the power of ports, the iterations, and the residual in round-offs.

    `kept` are tangents of bodies from an earlier step; where they do not do, new ones are made.
    """
    before, h = step_start(model, state), inputs["h"]

    def evaluate(x: list[Array], lam: Array) -> Tree:
        return equations(model, state, before, x, lam, inputs)

    def going(carry: Tree) -> Array:
        wanting = (carry["size"] > ROUND_OFF) & ((carry["stuck"] < 3) | (carry["size"] > STALLED))
        return wanting & (carry["left"] > 0)

    def chords(carry: Tree, bodies: list[Tree] | None) -> Tree:
        at = evaluate(carry["x"], carry["lam"])
        bodies = tangents(model, state, before, carry["x"], at, inputs) if bodies is None else bodies
        P = correction_factors(model, state, before, carry["x"], at, inputs, bodies)

        def once(c: Tree) -> Tree:
            dx, dlam = corrected(model, P, c["F"], c["c"])
            x, lam = jax.tree.map(jnp.add, c["x"], dx), c["lam"] + dlam
            at = evaluate(x, lam)
            size = measured(P, at, lam, h)
            stuck = jnp.where(size > 0.5 * c["size"], c["stuck"] + 1, 0)
            new = {"x": x, "lam": lam, "size": size, "stuck": stuck, "left": c["left"] - 1, "k": c["k"] + 1}
            return new | {key: at[key] for key in ("F", "c", "gaps", "power")}

        inner = {key: at[key] for key in ("F", "c", "gaps", "power")} | {"x": carry["x"], "lam": carry["lam"]}
        inner |= {"size": jnp.array(jnp.inf), "stuck": jnp.array(0), "left": jnp.array(CHORDS), "k": carry["k"]}
        done = lax.while_loop(going, once, inner)
        return {key: done[key] for key in carry if key != "left"} | {"left": carry["left"] - 1}

    m, nothing = state["gaps"].shape[0], jnp.zeros(())
    carry = {"x": x, "lam": lam, "gaps": jnp.zeros(m), "power": nothing, "size": nothing + jnp.inf}
    carry |= {"stuck": jnp.array(0), "k": jnp.array(0), "left": jnp.array(RENEWALS)}
    if kept is not None:
        carry = chords(carry, kept)
    done = lax.while_loop(going, lambda c: chords(c, None), carry)
    return {key: done[key] for key in ("x", "lam", "gaps", "power", "size", "k")}


@jax.custom_vjp
def differentiable(given: tuple[Tree, Tree, Tree], x: list[Array], lam: Array) -> tuple[list[Array], Array]:
    """x and λ of a solved step as functions of (model, state, inputs), with the derivatives of its equations R(z) = 0.

    Back from what is felt by z: Jᵀa = z̄, then −a on everything else in R.
    """
    return x, lam


def _forth(given: tuple[Tree, Tree, Tree], x: list[Array], lam: Array) -> Any:
    return (x, lam), (given, x, lam)


def _back(known: Any, felt: tuple[list[Array], Array]) -> Any:
    (model, state, inputs), x, lam = known

    def R(given: tuple[Tree, Tree, Tree], z: tuple[list[Array], Array]) -> tuple[list[Array], Array]:
        at = equations(given[0], given[1], step_start(given[0], given[1]), *z, given[2])
        return at["F"], at["c"]

    before = step_start(model, state)
    at = equations(model, state, before, x, lam, inputs)
    P = correction_factors(model, state, before, x, at, inputs, tangents(model, state, before, x, at, inputs))
    _, pulled = jax.vjp(R, (model, state, inputs), (x, lam))
    correction = jax.linear_transpose(lambda r: corrected(model, P, *r), (at["F"], at["c"]))
    a = refined(lambda r: pulled(r)[1], lambda r: jax.tree.map(jnp.negative, correction(r)[0]), felt)
    by_given = pulled(jax.tree.map(jnp.negative, a))[0]
    return by_given, jax.tree.map(jnp.zeros_like, x), jnp.zeros_like(lam)


differentiable.defvjp(_forth, _back)


def refined(J: Any, precondition: Any, R: Any) -> Any:
    """z with J z = R, by corrections; as far as they gain anything."""

    def norm(r: Any) -> Array:
        return jnp.sqrt(sum((jnp.sum(a * a) for a in jax.tree.leaves(r)), jnp.zeros(())))

    def going(c: tuple[Any, Any, Array, Array, Array]) -> Array:
        _, _, size, before, k = c
        return (size < 0.5 * before) & (k < 30) & (size > 0.0)

    def once(c: tuple[Any, Any, Array, Array, Array]) -> Any:
        z, dz, size, _, k = c
        z = jax.tree.map(jnp.add, z, dz)
        dz = precondition(jax.tree.map(jnp.subtract, R, J(z)))
        return z, dz, norm(dz), size, k + 1

    dz = precondition(R)
    start = (jax.tree.map(jnp.zeros_like, dz), dz, norm(dz), jnp.array(jnp.inf), jnp.array(0))
    z, *_ = lax.while_loop(going, once, start)
    return z
