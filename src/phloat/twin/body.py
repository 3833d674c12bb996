"""One body in a step: momenta, strains and the residual of its equations, as functions of its constants and its state.

    x = (V̄, ω̄, v),  v = η̄̇,   q₁ = q₀ moved by x,   ω₁ = 2ω̄ − ω₀,   η̇₁ = 2v − η̇₀
    J(η) = j0 + j1·η + ½ηNη,   c(η) = c0 + Γη,   p_ω = Jω + cη̇,   p_η = cᵀω + M_ff η̇
    F_V = 2m(V̄ − V₀)/h − mg,   F_ω = Δp_ω/h − p̄_ω × ω̄,   F_η = Δp_η/h − ½∂_η(w₀ᵀM w₁) + K η̄ + R_d v + Bᵀ(σ̄ + H Bv)

Shapes: n deformation coordinates, `lin` and `rot` velocities of the frame that exist (3 and 3 in space, 2 and 1 in a plane, 0
rotations of a point mass), s strains with a quadratic part, each of which touches c coordinates. Constants of a body are

    m ()  j0 (pairs)  j1 (pairs, n)  N (pairs, n, n)  c0 (rot, n)  Gamma (rot, n, n)  M_ff, K, R_d (n, n)
    D (s, c)  Q (s, c, c)  S, H (s, s): stiffness C⁻¹ and viscosity of those strains  columns (s, c), touching (n, t): integers
    sigma (s): their pre-stress  force (n): pre-stress of the other strains, on the coordinates

and a state holds r (3), A (3, 3), eta (n), V (lin), omega (rot), rate (n).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from phloat.twin.model import Tree
from phloat.twin.small import along, contract, inverse

PAIRS = {0: (), 1: ((0,),), 3: ((0, 1, 2), (1, 3, 4), (2, 4, 5))}  # index of J_ij among the pairs of axes


def cross_matrix(a: Array) -> Array:
    """[a]×."""
    zero = jnp.zeros_like(a[0])
    return jnp.array([[zero, -a[2], a[1]], [a[2], zero, -a[0]], [-a[1], a[0], zero]])


def lifted(omega: Array) -> Array:
    """An angular velocity with three components, (3); missing ones are zero."""
    if omega.shape[0] == 3:
        return omega
    return jnp.zeros(3) if omega.shape[0] == 0 else jnp.array([0.0, 0.0, 1.0]) * omega[0]


def split(state: Tree, x: Array) -> tuple[Array, Array, Array]:
    """Splits the unknowns of a body into V̄, ω̄ and v (mean deformation rates)."""
    lin, rot = state["V"].shape[0], state["omega"].shape[0]
    return x[:lin], x[lin : lin + rot], x[lin + rot :]


def velocities(state: Tree) -> Array:
    """(V, ω, η̇) as one row."""
    return jnp.concatenate([state["V"], state["omega"], state["rate"]])


def end_state(state: Tree, x: Array, h: Array) -> tuple[Tree, Array]:
    """The state after the step, and Q = Ā⁻ᵀ: r₁ = r₀ + hV̄, A₁ = Q(I − [s])⁻¹ with Q = A₀(I + [s]), s = hω̄/2."""
    V, omega, v = split(state, x)
    s = cross_matrix(0.5 * h * lifted(omega))
    Q = state["A"] + contract(state["A"], s)
    size = 0.5 * jnp.sum(s * s)
    A = Q + contract(Q, s + contract(s, s)) / (1.0 + size)
    end = {
        "r": state["r"].at[: V.shape[0]].add(h * V),
        "A": A,
        "eta": state["eta"] + h * v,
        "V": 2.0 * V - state["V"],
        "omega": 2.0 * omega - state["omega"],
        "rate": 2.0 * v - state["rate"],
    }
    return end, Q


def inertia(b: Tree, eta: Array) -> tuple[Array, Array]:
    """The inertia matrix J(η), (rot, rot), and the coupling c(η) of ω and η̇, (rot, n)."""
    J = b["j0"] + contract(b["j1"] + 0.5 * contract(b["N"], eta), eta)
    return _square(b, J), b["c0"] + contract(b["Gamma"], eta)


def _square(b: Tree, of_pairs: Array) -> Array:
    """The symmetric matrix (rot, rot, …) from its entries for pairs of axes."""
    rot = b["c0"].shape[0]
    indices = jnp.array(PAIRS[rot], dtype=int).reshape(rot, rot)
    return of_pairs[indices]


def step_momenta(b: Tree, state: Tree) -> tuple[Array, Array]:
    """Momenta conjugate to ω and η̇: p_ω = J ω + c η̇ and p_η = cᵀω + M_ff η̇."""
    J, c = inertia(b, state["eta"])
    omega, rate = state["omega"], state["rate"]
    return contract(J, omega) + contract(c, rate), contract(omega, c) + contract(b["M_ff"], rate)


def kinetic_force(b: Tree, eta: Array, start: Tree, end: Tree) -> Array:
    """½ ∂_η (w₀ᵀM(η)w₁), (n)."""
    swelling = _square(b, b["j1"] + contract(b["N"], eta))  # ∂J/∂η
    by_J = jnp.sum(jnp.outer(start["omega"], end["omega"])[:, :, None] * swelling, axis=(0, 1))
    mixed = jnp.outer(start["omega"], end["rate"]) + jnp.outer(end["omega"], start["rate"])
    return 0.5 * (by_J - jnp.sum(along(b["Gamma"], mixed), axis=0))  # Γ is antisymmetric


def _local(b: Tree, eta: Array) -> Array:
    """The coordinates η on which each quadratic strain depends, padded with zeros, (strains, most coordinates of a strain)."""
    return jnp.concatenate([eta, jnp.zeros(1)])[b["columns"]]


def stress(b: Tree, eta: Array) -> Array:
    """σ of the quadratic strains: S ε(η) + pre-stress, (s)."""
    near = _local(b, eta)
    strain = jnp.sum((b["D"] + 0.5 * along(b["Q"], near)) * near, axis=1)
    return contract(b["S"], strain) + b["sigma"]


def step_constants(b: Tree, start: Tree) -> Tree:
    """Constants of a step: momenta and membrane stress at its start."""
    p, q = step_momenta(b, start)
    return {"p": p, "q": q, "sigma": stress(b, start["eta"])}


def membrane_force(b: Tree, start: Tree, sigma: Array, v: Array, h: Array) -> Array:
    """Bᵀσ̄ with B = ∂ε/∂η at η̄ and σ̄ = σ₀ + (½hS + H)Bv: exact, because ε is quadratic, (n)."""
    if b["D"].shape[0] == 0:
        return jnp.zeros_like(v)
    B = b["D"] + along(b["Q"], _local(b, start["eta"] + 0.5 * h * v))
    sigma = sigma + contract(0.5 * h * b["S"] + b["H"], jnp.sum(B * _local(b, v), axis=1))
    spread = jnp.concatenate([(B * sigma[:, None]).ravel(), jnp.zeros(1)])
    return jnp.sum(spread[b["touching"]], axis=1)


def damping_power(b: Tree, start: Tree, v: Array, h: Array) -> Array:
    """Dissipated power vᵀ(R_d + BᵀHB)v."""
    total = v @ (b["R_d"] @ v)
    if b["D"].shape[0] == 0:
        return total
    B = b["D"] + along(b["Q"], _local(b, start["eta"] + 0.5 * h * v))
    rate = jnp.sum(B * _local(b, v), axis=1)
    return total + rate @ (b["H"] @ rate)


def free_residual(b: Tree, start: Tree, constants: Tree, x: Array, gravity: Array, h: Array) -> Array:
    """F without the forces of ports, (lin + rot + n); `constants` are those of `step_constants`."""
    end, _ = end_state(start, x, h)
    V, omega, v = split(start, x)
    p0, q0, (p1, q1) = constants["p"], constants["q"], step_momenta(b, end)
    eta = start["eta"] + 0.5 * h * v
    F_V = b["m"] * (2.0 * (V - start["V"]) / h - gravity[: V.shape[0]])
    F_omega = (p1 - p0) / h
    if omega.shape[0] == 3:
        F_omega = F_omega - jnp.cross(0.5 * (p0 + p1), omega)
    elastic = contract(b["K"], eta) + contract(b["R_d"], v) + b["force"]
    elastic = elastic + membrane_force(b, start, constants["sigma"], v, h)
    F_eta = (q1 - q0) / h - kinetic_force(b, eta, start, end) + elastic
    return jnp.concatenate([F_V, F_omega, F_eta])


def free_tangent(b: Tree, start: Tree, x: Array, h: Array) -> Array:
    """D = ∂F/∂x without the forces of ports, (size, size)."""
    end, _ = end_state(start, x, h)
    _, omega, v = split(start, x)
    lin, rot, n = start["V"].shape[0], omega.shape[0], v.shape[0]
    eta = start["eta"] + 0.5 * h * v
    by_eta = 2.0 / h * b["M_ff"] + 0.5 * h * b["K"] + b["R_d"]
    by_eta = by_eta + jax.jacfwd(lambda v: membrane_force(b, start, stress(b, start["eta"]), v, h))(v)
    by_V = 2.0 * b["m"] / h * jnp.eye(lin)
    if rot == 0:
        return _blocks([[by_V, jnp.zeros((lin, n))], [jnp.zeros((n, lin)), by_eta]])
    J, c = inertia(b, end["eta"])
    at_end, at_mean = (_square(b, b["j1"] + b["N"] @ e) for e in (end["eta"], eta))  # ∂J/∂η, (rot, rot, n)
    G = b["Gamma"]
    # Δp_ω/h and, in space, −p̄_ω × ω̄
    p_by_omega = 2.0 / h * J
    p_by_v = 2.0 / h * c + jnp.einsum("abk,b->ak", at_end, end["omega"]) + jnp.einsum("akl,k->al", G, end["rate"])
    if rot == 3:
        turn = jnp.eye(3) + 0.5 * h * cross_matrix(omega)  # δ(Δp/h − p̄ × ω̄) = (I/h + ½[ω̄]) δp₁ − [p̄] δω̄
        mean = 0.5 * (step_momenta(b, start)[0] + step_momenta(b, end)[0])
        p_by_omega, p_by_v = turn @ p_by_omega - cross_matrix(mean), turn @ p_by_v
    # Δp_η/h − ½ ∂_η(w₀ᵀM w₁)
    f_by_omega = jnp.einsum("a,abk->bk", start["omega"], at_mean) + jnp.einsum("akl,k->al", G, start["rate"])
    f_by_omega = 2.0 / h * c - f_by_omega
    whirling = jnp.einsum("a,akl->kl", start["omega"] + end["omega"], G)  # Γ is antisymmetric
    swelling = jnp.einsum("abkl,a,b->kl", _square(b, b["N"]), start["omega"], end["omega"])
    by_eta = by_eta + whirling - 0.25 * h * swelling
    zeros = jnp.zeros((lin, rot)), jnp.zeros((lin, n))
    return _blocks([[by_V, *zeros], [zeros[0].T, p_by_omega, p_by_v], [zeros[1].T, f_by_omega.T, by_eta]])


def _blocks(rows: list[list[Array]]) -> Array:
    return jnp.concatenate([jnp.concatenate(row, axis=1) for row in rows])


def body_energies(b: Tree, state: Tree, gravity: Array) -> Array:
    """Kinetic, elastic and potential energy, (3)."""
    p, q = step_momenta(b, state)
    V, eta = state["V"], state["eta"]
    kinetic = 0.5 * (b["m"] * V @ V + p @ state["omega"] + q @ state["rate"])
    sigma = stress(b, eta)
    elastic = 0.5 * eta @ (b["K"] @ eta) + eta @ b["force"]
    if b["D"].shape[0]:
        elastic = elastic + 0.5 * sigma @ (inverse(b["S"]) @ sigma)
    return jnp.array([kinetic, elastic, -b["m"] * gravity @ state["r"]])
