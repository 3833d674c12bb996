"""Linear systems to reduce, and moments of their transfer functions computed from the definition with dense matrices."""

from dataclasses import replace

import numpy as np
import scipy.linalg as la

import phloat as ph
from phloat.algebra.layout import Layout

alu = ph.Material(E=70e9, rho=2700.0, nu=0.33)
LINK = ph.Beam(0.5, ph.Rectangle(0.02, 0.002), alu, damping=ph.KelvinVoigt(2e-5))
BAND = (0.5, 2000.0)


def jointed_arm(damped: bool = True, elements: int = 8) -> ph.LinearPHDAE:
    """The linearised two-link arm, its joints as multipliers, with torques on shoulder and elbow as ports."""
    link = (LINK if damped else replace(LINK, damping=ph.Rayleigh())).discretise(elements)
    joints = [ph.Revolute("ground", "upper.P", name="shoulder"), ph.Revolute("upper.C", "lower.P", name="elbow")]
    arm = ph.connect({"upper": link, "lower": link}, plane="xy", joints=joints)
    state = ph.place(arm, {"upper.theta": 0.3, "lower.theta": 0.9})
    return ph.linearise(arm, state).with_ports("shoulder", "elbow")


def driven_arm() -> ph.LinearPHDAE:
    """The two-link arm with the rate of the shoulder and the torque of the elbow as inputs."""
    return ph.swap_causality(jointed_arm(elements=4), "shoulder")


def plate(theory: str = "mindlin", cells: int = 4, **options: object) -> ph.LinearPHDAE:
    """A square plate clamped at its left edge, with a port "tip"."""
    options = {"clamped": "left", "damping": ph.Rayleigh(0.0, 1e-5)} | options
    return (
        ph.Plate.rectangle(
            1.0, 1.0, thickness=0.01, material=alu, theory=theory, ports={"tip": (1.0, 0.3, 0.0)}, **options
        )
        .discretise(cells)
        .linear()
    )


def made(seed: int, n: int = 44, stresses: int = 38, spinning: bool = False, negative: int = 0) -> ph.LinearPHDAE:
    """A system of random matrices with two ports and fewer stresses than velocities, so that n − stresses motions are rigid.

    `spinning` adds gyroscopic forces; `negative` is the number of stresses whose energy is negative.
    """
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    M, C = root @ root.T + n * np.eye(n), np.diag(rng.uniform(0.5, 2.0, stresses))
    C[range(negative), range(negative)] *= -20.0
    L, Z = rng.normal(size=(n, stresses)), np.zeros((stresses, stresses))
    W = rng.normal(size=(n, n))
    damping = 0.05 * L @ L.T
    return ph.LinearPHDAE(
        E=la.block_diag(M, C),
        J=np.block([[(W - W.T) if spinning else 0 * W, -L], [L.T, Z]]),
        R=la.block_diag(damping, Z),
        B=np.vstack([rng.normal(size=(n, 2)), np.zeros((stresses, 2))]),
        rows=Layout({"v": (n,), "sigma": (stresses,)}, "row"),
        ports=Layout({"a": (1,), "b": (1,)}, "port"),
        split=n,
    )


def pencil(system: ph.LinearPHDAE) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Dense E, A and B of x = (e, λ), scaled so that the diagonal of E is ±1 for e."""
    joints = system.multipliers.size
    G = system.G.toarray()
    E = la.block_diag(system.E.toarray(), np.zeros((joints, joints)))
    A = np.block([[(system.J - system.R).toarray(), G.T], [-G, np.zeros((joints, joints))]])
    unit = np.append(1 / np.sqrt(np.abs(system.E.diagonal())), np.ones(joints))
    B = unit[:, None] * np.vstack([system.B.toarray(), system.B_lam.toarray()])
    return unit[:, None] * E * unit, unit[:, None] * A * unit, B


def moment(system: ph.LinearPHDAE, s: complex, k: int = 0) -> np.ndarray:
    """The k-th Taylor coefficient of H at s, up to its sign: Bᵀ [(sE − A)⁻¹E]ᵏ (sE − A)⁻¹B."""
    E, A, B = pencil(system)
    x = la.solve(s * E - A, B.astype(complex))
    for _ in range(k):
        x = la.solve(s * E - A, E @ x)
    return B.T @ x


def markov(system: ph.LinearPHDAE, k: int) -> np.ndarray:
    """H(s) = Σ m_k s^(−k−1): m_k = Bᵀ(E⁻¹A)ᵏE⁻¹B, of a system without joints."""
    E, A, B = pencil(system)
    x = la.solve(E, B)
    for _ in range(k):
        x = la.solve(E, A @ x)
    return B.T @ x


def apart(found: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference relative to the largest expected entry."""
    return float(np.abs(found - expected).max() / np.abs(expected).max())
