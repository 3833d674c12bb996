"""Poles of damped systems: λ² M + λ R + K on the motions that the joints allow.

In the basis V of the undamped modes this is λ² + λ D + Ω² with D = VᵀR V. Where D is diagonal (proportional damping) each
mode has its poles in closed form. Otherwise they are eigenvalues of [[0, Ω], [−Ω, −D]], which squares nothing.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from phloat.algebra.elimination import CANCELLED
from phloat.algebra.sparse import Matrix, block_inverse, csr, largest
from phloat.errors import AccuracyError, InputError
from phloat.linear.phdae import LinearPHDAE

PROPORTIONAL = 1e-10  # of the largest damping: what may couple modes and still be round-off
NEWTON_STEPS = 12


def damping_of(system: LinearPHDAE) -> Matrix:
    """R on the velocities; damping of stresses is refused, its poles do not belong to modes."""
    n = system.split
    if largest(system.R[n:, n:]) or largest(system.R[:n, n:]):
        raise InputError("damping acts on stresses too: its poles are those of the pencil (J − R, E), not of modes")
    return csr(system.R[:n, :n])


def damping_between(R: Matrix, V: np.ndarray) -> np.ndarray:
    """VᵀR V, exactly zero where its terms cancel."""
    D = V.T @ (R @ V)
    return np.where(np.abs(D) > CANCELLED * (np.abs(V).T @ (abs(R) @ np.abs(V))), D, 0.0)


def coupled(system: LinearPHDAE, vectors: np.ndarray) -> bool:
    """Whether damping couples these modes with each other or with the rest."""
    R, M = damping_of(system), csr(system.E[: system.split, : system.split])
    D = vectors.T @ (R @ vectors)
    own = np.diag(np.diag(D))
    rest = M @ (vectors @ own) - R @ vectors  # vanishes on the free motions where every mode damps itself alone
    size = max(np.abs(D).max(initial=0.0), 1e-300)
    free = rest - _joint_forces(system, rest)
    return bool(np.abs(D - own).max() > PROPORTIONAL * size or np.abs(free).max() > 1e-8 * np.abs(R @ vectors).max())


def _joint_forces(system: LinearPHDAE, rest: np.ndarray) -> np.ndarray:
    """The part of forces on the velocities that joints can take: Gᵀλ nearest to them."""
    G, n = csr(system.G[:, : system.split]), system.split
    if not G.shape[0]:
        return np.zeros_like(rest)
    saddle = sp.block_array([[sp.eye_array(n), G.T], [G, None]], format="csc")
    return rest - spla.splu(saddle).solve(np.vstack([rest, np.zeros((G.shape[0], rest.shape[1]))]))[:n]


def own_poles(omega: np.ndarray, d: np.ndarray) -> np.ndarray:
    """λ² + d λ + ω² = 0: the root with Im ≥ 0, or the slower of two real ones (in the form that does not cancel)."""
    root = np.sqrt((d * d - 4 * omega**2).astype(complex))
    below = d + root
    poles = np.where(below == 0, 0.0, -2 * omega**2 / np.where(below == 0, 1.0, below))
    return np.where(poles.imag < 0, poles.conj(), poles)


def joint_poles(omega: np.ndarray, D: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As many poles as modes, with their shapes: those with Im > 0, and the slower half of the real ones.

    Sorted by |λ|; a real one stands where its pair does, at the root of their product.
    """
    rigid, k = omega == 0.0, len(omega)
    moving = np.flatnonzero(
        ~rigid | D.any(axis=1)
    )  # a rigid mode that nothing damps has two zeros, of which one is listed
    S = np.diag(omega)[~rigid][:, moving]
    value, part = la.eig(np.block([[np.zeros((len(S), len(S))), S], [-S.T, -D[np.ix_(moving, moving)]]]))
    vector = np.zeros((k, len(value)), dtype=complex)
    vector[moving] = part[len(S) :]
    upper, real = np.flatnonzero(value.imag > 0.0), np.flatnonzero(value.imag == 0.0)
    real = real[np.argsort(np.abs(value[real]), kind="stable")]
    pairs = k - len(upper) - int(rigid.sum())
    slow, fast = real[:pairs], real[::-1][:pairs]
    key = np.concatenate([np.abs(value[upper]), np.sqrt(np.abs(value[slow] * value[fast]))])
    order = np.concatenate([upper, slow])[np.argsort(key, kind="stable")]
    still = np.eye(k)[:, rigid]
    return np.concatenate([np.zeros(still.shape[1]), value[order]]), np.hstack([still, vector[:, order]])


def refined(system: LinearPHDAE, poles: np.ndarray, shapes: np.ndarray) -> np.ndarray:
    """Newton on (λ² M + λ R + K) x + Gᵀμ = 0, G x = 0 from poles and shapes of a projected problem, checked."""
    n, joints = system.split, system.multipliers.size
    inverse = block_inverse(csr(system.E[n:, n:]))
    if inverse is None:
        raise InputError("the compliance is not local to elements: its damped poles need eliminate(…) and all modes")
    M, R, G = csr(system.E[:n, :n]), damping_of(system), csr(system.G[:, :n])
    K = csr(system.J[:n, n:] @ inverse @ system.J[:n, n:].T)
    found = []
    for pole, shape in zip(poles, shapes.T, strict=True):
        s, x = pole, np.concatenate([shape, np.zeros(joints)])
        for _ in range(NEWTON_STEPS if pole else 0):
            T = M.astype(complex) * s**2 + R * s + K
            weighted = largest(K) * G
            saddle = sp.block_array([[T, weighted.T], [weighted, None]], format="csc") if joints else sp.csc_array(T)
            y = spla.splu(saddle).solve(np.concatenate([(2 * s * M + R) @ x[:n], np.zeros(joints)]))
            pivot = int(np.argmax(np.abs(x[:n])))
            size = np.abs(y).max()
            if not np.isfinite(size) or abs(y[pivot]) < 1e-12 * size:  # a singular pencil, or a step to nowhere
                break
            step = x[pivot] / (y[pivot] / size) / size
            s, x = s - step, y / size
            if abs(step) < 1e-12 * abs(s):
                break
        found.append(s)
    out = np.array(found)
    moving = out[out != 0]
    distance = np.abs(moving[:, None] - moving)[~np.eye(len(moving), dtype=bool)]
    wandered = np.abs(out - poles) > 0.2 * np.abs(poles)
    if wandered.any() or (out.imag < 0).any() or (distance < 1e-9 * np.abs(moving).max(initial=0.0)).any():
        raise AccuracyError(
            "damping couples modes of this large system so strongly that their poles could not be told apart; "
            "ask for more modes, or reduce the system"
        )
    return out
