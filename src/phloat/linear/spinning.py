"""Modes beside gyroscopic forces: q̈ + Γ q̇ + K q = 0 with skew Γ, as a first-order system that squares nothing.

With K = S H S on the elastic motions and y = S q the states are (y, v): ẏ = S v, v̇ = −S H y − Γ v. A rigid motion x that Γ does
not couple with others of its kind keeps its momentum, ẋ + (xᵀΓ) q = const: it is taken out with its pair of zeros, and leaves the
stiffness (xᵀΓ)ᵀ(xᵀΓ). Where H = T Tᵀ is positive, the states (Tᵀy, v) have a skew matrix, and frequencies are real to the last digit.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.linalg as la

from phloat.algebra.sparse import Matrix
from phloat.linear.undamped import Undamped

COUPLED = 1e-10  # of the magnitudes that a coupling of rigid motions is summed from


def spinning(at: Undamped, gamma: Matrix) -> tuple[int, np.ndarray, np.ndarray]:
    """How many pairs of zeros there are, then one eigenvalue of each pair, zeros first, and the velocities of their modes."""
    kept, loose = _momenta(at.rigid, gamma)
    rest = np.hstack([loose, at.vectors])
    a = kept.T @ (gamma @ at.vectors) / at.size
    H = np.eye(len(at.size)) if at.H is None else at.H
    at = replace(at, H=H + a.T @ a)
    value, v, y = _first_order(at, rest.T @ (gamma @ rest), loose.shape[1])
    chosen = np.flatnonzero((value.imag > 0) | ((value.imag == 0) & (value.real > 0)))
    zeros = rest.shape[1] - loose.shape[1] // 2 - len(chosen)  # none, but for round-off about a load that is critical
    rigid = kept.shape[1] + loose.shape[1] // 2 + max(zeros, 0)
    value, v, y = value[chosen], v[:, chosen], y[:, chosen]
    v, part = v / np.maximum(np.linalg.norm(v, axis=0), 1e-300), np.linalg.norm(v, axis=0)
    moves = rest @ v - kept @ (a @ (y / np.maximum(part, 1e-300)))
    still = np.hstack([kept, loose[:, ::2], np.zeros((len(kept), max(zeros, 0)))])[:, :rigid]
    return rigid, np.concatenate([np.zeros(rigid), value]), np.hstack([still, moves])


def _momenta(rigid: np.ndarray, gamma: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Rigid motions whose momenta are kept, and the others, which Γ couples in pairs."""
    turn = rigid.T @ (gamma @ rigid)
    size = np.abs(rigid).T @ (abs(gamma) @ np.abs(rigid))
    turn = np.where(np.abs(turn) > COUPLED * size, 0.5 * (turn - turn.T), 0.0)
    if not turn.any():
        return rigid, rigid[:, :0]
    _, value, back = la.svd(turn)
    rank = int((value > COUPLED * value[0]).sum())
    return rigid @ back[rank:].T, rigid @ back[:rank].T


def _first_order(at: Undamped, gamma: np.ndarray, loose: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Eigenvalues of the states (y, v), and their parts v and y; the first `loose` of v have no stiffness."""
    k = len(at.size)
    gamma = 0.5 * (gamma - gamma.T)
    S = np.hstack([np.zeros((k, loose)), np.diag(at.size)])
    if (T := at.stable) is not None:
        up = T.T @ S
        value, vector = la.eigh(1j * np.block([[np.zeros((k, k)), up], [-up.T, -gamma]]))
        return -1j * value, vector[k:], la.solve_triangular(T, vector[:k], lower=True, trans=1)
    assert at.H is not None
    value, vector = la.eig(np.block([[np.zeros((k, k)), S], [-(at.H @ S).T, -gamma]]))
    return value, vector[k:], vector[:k]
