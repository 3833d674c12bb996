"""Ports in a step: places and directions, and how they move with the velocities of their body.

    c = r + A y(η),   d_i = A (t_i + ψ × t_i + ⅓ ψ × (ψ × t_i)),   ψ = Ψη
    Δc/h = V̄ + (Qω̄) × ρ̄ + QΦv,   Δd/h = (Qω̄) × d̄ + Q M(ψ̄) Ψv                      exactly; bars are means of end values
    δc₁/h = δV + κ(Qδω) × ρ₁ + A₁Φδv,   δd₁/h = κ(Qδω) × d₁ + A₁ M(ψ₁) Ψδv,   κ = 1/(1 + |hω̄/2|²)

A port is a dict of arrays, with c and the arm ρ (3), directions d (3, 3), those in the body t (3, 3), ψ (3) and the orthonormal
axes of its section (3, 3, as columns); other vectors are rows. The map of a port takes (V, ω, η̇) to the rates of c, d_1, d_2, d_3
and to the angular velocity, (5, 3, size); if no row uses its directions, only to the first, (1, 3, size).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from phloat.twin.body import cross_matrix, lifted
from phloat.twin.model import Tree
from phloat.twin.small import contract


def port(end: Tree, state: Tree, triad: Array, turns: bool) -> Tree:
    """A port of a body; `end` holds x (3), Phi (lin, n) and Psi (rot, n). Without `turns` its directions are zeros."""
    eta, A = state["eta"], state["A"]
    lin = end["Phi"].shape[0]
    displacement = contract(end["Phi"], eta)
    y = end["x"] + (displacement if lin == 3 else jnp.concatenate([displacement, jnp.zeros(3 - lin)]))
    arm = contract(A, y)
    if not turns:
        return {"c": state["r"] + arm, "arm": arm, "d": jnp.zeros((3, 3)), "t": triad, "psi": jnp.zeros(3), "axes": A}
    psi = lifted(contract(end["Psi"], eta))
    crossed = jnp.cross(psi, triad)
    bent = triad + crossed + jnp.cross(psi, crossed) / 3.0
    axes = contract(A, section_rotation(psi))
    return {"c": state["r"] + arm, "arm": arm, "d": contract(bent, A.T), "t": triad, "psi": psi, "axes": axes}


def section_rotation(psi: Array) -> Array:
    """The rotation of a section turned by ψ, I + a [ψ]× + b [ψ]×² (joints/rows.section_axes)."""
    x, turn = psi @ psi, cross_matrix(psi)
    length = jnp.sqrt(1.0 + x / 3.0 + x * x / 9.0)
    b = (1.0 / 3.0 + (1.0 / 3.0 + x / 9.0) / (1.0 + length)) / length
    return jnp.eye(3) + turn / length + b * contract(turn, turn)


def ground(frame: Array) -> Tree:
    """A port of the ground: its place and directions, (4, 3)."""
    zero = jnp.zeros(3)
    return {"c": frame[0], "arm": zero, "d": frame[1:], "t": frame[1:], "psi": zero, "axes": jnp.eye(3)}


def mean_port(start: Tree, end: Tree) -> Tree:
    """The mean of a port at both ends of a step."""
    return {key: 0.5 * (start[key] + end[key]) for key in start}


def generalised_force(end: Tree, at_port: Tree, turn: Array, bend: Array, pull: Array, turns: bool) -> Array:
    """Generalised force on (V, ω, η), (size), of pulls (1 or 5, 3) at a port; `turn` (3, 3) maps ω, `bend` (3, 3) η̇."""
    lin, rot = end["Phi"].shape[0], end["Psi"].shape[0]
    force = pull[0]
    moment, back = jnp.cross(at_port["arm"], force), contract(bend.T, force)
    on_eta = contract(back[:lin], end["Phi"])
    if turns:
        g, torque = pull[1:4], pull[4]
        moment = moment + jnp.sum(jnp.cross(at_port["d"], g), axis=0) + torque
        z, t, psi = contract(g, bend), at_port["t"], at_port["psi"]
        bent = jnp.cross(t, z) + (jnp.cross(jnp.cross(psi, t), z) + jnp.cross(t, jnp.cross(z, psi))) / 3.0
        on_eta = on_eta + contract(turning_components(jnp.sum(bent, axis=0) + contract(torque, bend), rot), end["Psi"])
    return jnp.concatenate([force[:lin], turning_components(contract(turn.T, moment), rot), on_eta])


def turning_components(a: Array, rot: int) -> Array:
    """The components of an axial vector that a body has: all, z in a plane, none of a point mass."""
    return a if rot == 3 else a[3 - rot :]


def velocity_map(end: Tree, at_port: Tree, turn: Array, bend: Array, turns: bool) -> Array:
    """Rates of a port per (V, ω, η̇), the transpose of `generalised_force`."""
    by_pulls = jax.jacfwd(lambda pull: generalised_force(end, at_port, turn, bend, pull, turns))(
        jnp.zeros((5 if turns else 1, 3))
    )
    return jnp.moveaxis(by_pulls, 0, -1)
