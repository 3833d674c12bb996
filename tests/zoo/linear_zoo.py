"""Linear port-Hamiltonian systems drawn at random, with moderate frequencies, and their motion by an independent solver."""

import numpy as np
import scipy.linalg as la
from scipy.integrate import solve_ivp

import phloat as ph
from phloat.algebra.layout import Layout

INPUTS = {"push": lambda t: np.sin(2 * t), "strain": lambda t: t * np.cos(t), "drive": lambda t: np.sin(1.3 * t)}


def random_system(
    *, damping: float = 0.0, gyroscopic: float = 0.0, joints: int = 1, driven: bool = False, strained: bool = True
) -> ph.LinearPHDAE:
    """5 velocities and 4 stresses, with inputs on velocities, stresses (if `strained`) and of a joint (if `driven`)."""
    random, n, m = np.random.default_rng(0), 5, 4
    M, C, R = (x @ x.T / len(x) for x in (random.normal(size=(k, k)) for k in (n, m, n)))
    L, S = random.normal(size=(n, m)), random.normal(size=(n, n))
    B, G, B_lam = np.zeros((n + m, 3)), np.zeros((joints, n + m)), np.zeros((joints, 3))
    B[:n, 0], B[n:, 1], G[:, :n] = (
        random.normal(size=n),
        strained * random.normal(size=m),
        random.normal(size=(joints, n)),
    )
    if driven:
        B_lam[-1, 2] = 1.0
    zero = np.zeros((m, m))
    return ph.LinearPHDAE(
        E=la.block_diag(M + np.eye(n), C + np.eye(m)),
        J=np.block([[gyroscopic * (S - S.T), -L], [L.T, zero]]),
        R=la.block_diag(damping * R, zero),
        B=B,
        G=G,
        B_lam=B_lam,
        rows=Layout({"v": (n,), "sigma": (m,)}, "row"),
        ports=Layout({"push": (1,), "strain": (1,), "drive": (1,)}, "port"),
        multipliers=Layout({"joint": (joints,)} if joints else {}, "multiplier"),
        split=n,
    )


def start(system: ph.LinearPHDAE) -> np.ndarray:
    """Rows at random that satisfy G e = 0."""
    e, G = np.random.default_rng(1).normal(size=system.rows.size), system.G.toarray()
    return e - np.linalg.pinv(G) @ (G @ e) if len(G) else e


def reference(system: ph.LinearPHDAE, e: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
    """e and λ at t under INPUTS, by DOP853 for ė of [E −Gᵀ; G 0] (ė, λ) = ((J − R) e + B u, B_λ u̇)."""
    E, A, B, G, B_lam = (x.toarray() for x in (system.E, system.dynamics, system.B, system.G, system.B_lam))
    saddle = np.block([[E, -G.T], [G, np.zeros((len(G), len(G)))]])

    def rates(time, rows):
        u = np.array([u(time) for u in INPUTS.values()])
        drift = B_lam @ [0.0, 0.0, 1.3 * np.cos(1.3 * time)]
        return np.linalg.solve(saddle, np.concatenate([A @ rows + B @ u, drift]))

    end = solve_ivp(lambda x, y: rates(x, y)[: len(y)], (0.0, t), e, "DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    return end, rates(t, end)[len(end) :]
