"""Poles and modes beside gyroscopic forces and damping, q̈ + (Γ + R) q̇ + K q = 0, as a first-order system that squares nothing.

With K = S H S on the elastic motions and y = S q the states are (y, v): ẏ = S v, v̇ = −S H y − (Γ + R) v. A rigid motion x that
nothing damps and that Γ does not couple with others of its kind keeps its momentum, ẋ + (xᵀΓ) q = const: it is taken out with its
pair of zeros, and leaves the stiffness (xᵀΓ)ᵀ(xᵀΓ). Where H = T Tᵀ is positive and nothing is damped, the states (Tᵀy, v) have a
skew matrix, and frequencies are real to the last digit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg as la

from phloat.algebra.elimination import CANCELLED, free_motions, signed_factor
from phloat.algebra.sparse import Matrix, csr, largest
from phloat.linear.phdae import LinearPHDAE
from phloat.linear.undamped import Undamped

ROUNDED = 1e-14  # of the largest entry of its row of Γ + R, over masses: what an entry may be off by


@dataclass(frozen=True, eq=False)
class FirstOrder:
    """Eigenvalues of the states (y, v); `kept` rigid motions, whose momenta are, and `rest`, the others and the elastic ones.

    The first `loose` of `rest` have no stiffness; `kept` moves by −`drawn` y beside the rest.
    """

    value: np.ndarray
    v: np.ndarray
    y: np.ndarray
    kept: np.ndarray
    rest: np.ndarray
    loose: int
    drawn: np.ndarray

    @classmethod
    def of(cls, at: Undamped, D: Matrix) -> FirstOrder:
        """D = Γ + R on the velocities."""
        kept, loose = _momenta(at.rigid, D, at.mass)
        rest = np.hstack([loose, at.vectors])
        drawn = kept.T @ (D @ at.vectors) / at.size
        H = np.eye(len(at.size)) if at.H is None else at.H
        at = replace(at, H=H + drawn.T @ drawn)
        value, v, y = _eigen(at, rest.T @ (D @ rest), loose.shape[1], damped=bool(largest(D + D.T)))
        return cls(value, v, y, kept, rest, loose.shape[1], drawn)


def spinning(at: Undamped, gamma: Matrix) -> tuple[int, np.ndarray, np.ndarray]:
    """How many pairs of zeros there are, then one eigenvalue of each pair, zeros first, and the velocities of their modes."""
    x = FirstOrder.of(at, gamma)
    chosen = np.flatnonzero((x.value.imag > 0) | ((x.value.imag == 0) & (x.value.real > 0)))
    size = np.maximum(np.linalg.norm(x.v[:, chosen], axis=0), 1e-300)
    moves = (x.rest @ x.v[:, chosen] - x.kept @ (x.drawn @ x.y[:, chosen])) / size
    still = np.hstack([x.kept, x.rest[:, : x.loose : 2]])  # the others come in pairs, of which one stands still
    value = np.concatenate([np.zeros(still.shape[1]), x.value[chosen]])
    return still.shape[1], value, np.hstack([still, moves])


def motion_poles(system: LinearPHDAE) -> np.ndarray | None:
    """All poles with Im ≥ 0, one zero a rigid motion that keeps its momentum; None where stresses are damped, or share mass."""
    n = system.split
    E, J, R = system.E, system.J, system.R
    if n < 0 or largest(E[:n, n:]) or largest(J[n:, n:]) or largest(R[n:]) or largest(system.G[:, n:]):
        return None
    at, D = Undamped.of(E, J, system.G, n), csr(R[:n, :n] - J[:n, :n])
    if largest(D):
        x = FirstOrder.of(at, D)
        return np.concatenate([np.zeros(x.kept.shape[1]), x.value[x.value.imag >= 0.0]])
    mu, _ = at.standing()
    grows = np.sqrt(-mu[mu < 0.0])
    return np.concatenate([np.zeros(at.rigid.shape[1]), grows, -grows, 1j * np.sqrt(mu[mu > 0.0])])


def _momenta(rigid: np.ndarray, D: Matrix, mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rigid motions whose momenta are kept, and the others, which D couples or damps; all of unit mass."""
    if not rigid.shape[1]:
        return rigid, rigid
    felt, size = rigid.T @ (D @ rigid), np.abs(rigid).T @ (_magnitudes(D, np.sqrt(mass)) @ np.abs(rigid))
    felt = np.where(np.abs(felt) > CANCELLED * size, felt, 0.0)
    if not felt.any():
        return rigid, rigid[:, :0]
    one = np.ones(len(felt))
    drags, _ = signed_factor(0.5 * (felt + felt.T), CANCELLED * size, one)
    Z, _ = free_motions(np.vstack([drags.T, 0.5 * (felt - felt.T)]), one)
    Q = la.qr(Z)[0]
    return rigid @ Q[:, : Z.shape[1]], rigid @ Q[:, Z.shape[1] :]


def _magnitudes(D: Matrix, root: np.ndarray) -> np.ndarray:
    """|D|, and what round-off may have left of an entry: a part of the largest of its row or column, each over its masses."""
    scaled = np.abs(D.toarray()) / root / root[:, None]
    row = np.maximum(scaled.max(axis=1), scaled.max(axis=0))
    return np.asarray((scaled + ROUNDED / CANCELLED * np.minimum(row, row[:, None])) * root * root[:, None])


def _eigen(at: Undamped, D: np.ndarray, loose: int, damped: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Eigenvalues of the states (y, v), and their parts v and y."""
    k = len(at.size)
    S = np.hstack([np.zeros((k, loose)), np.diag(at.size)])
    if not damped and (T := at.stable) is not None:
        up = T.T @ S
        value, vector = la.eigh(1j * np.block([[np.zeros((k, k)), up], [-up.T, 0.5 * (D.T - D)]]))
        return -1j * value, vector[k:], la.solve_triangular(T, vector[:k], lower=True, trans=1)
    assert at.H is not None
    value, vector = la.eig(np.block([[np.zeros((k, k)), S], [-(at.H @ S).T, -D]]))
    return value, vector[k:], vector[:k]
