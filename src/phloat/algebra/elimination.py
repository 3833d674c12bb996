"""Ranks and null spaces that do not depend on units or on ratios of stiffnesses, masses and lengths.

Gaussian elimination records for every entry the sum of the magnitudes of its terms. An entry that is small relative to that sum is
round-off and set to zero; one that is small relative to other entries of the matrix is not. Scaling of rows or columns changes no
decision.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as la

CANCELLED = 1e-10  # magnitude of a zero entry relative to the sum of the magnitudes of its terms
ROUNDED = 2e-15  # round-off relative to the largest entry of the row, each divided by the root of its mass


@dataclass(frozen=True, eq=False)
class Kinematics:
    """The motions v = Z x with G v = 0, and their strains F = Lᵀ Z.

    The first `strained` columns of Z have independent strains in the first rows of Lᵀ, the next `loaded` ones in the other rows;
    F is zero for the remaining columns, the rigid motions.
    """

    Z: np.ndarray
    F: np.ndarray
    strained: int
    loaded: int

    @property
    def rigid(self) -> int:
        """The number of motions without strain."""
        return self.Z.shape[1] - self.strained - self.loaded


def strain_kinematics(G: np.ndarray, strains: np.ndarray, mass: np.ndarray, first: int | None = None) -> Kinematics:
    """Free motions of the joints G (joints × n) with strains Lᵀ (strains × n), strained motions first.

    `mass` (n,) are weights of the columns: light coordinates are expressed by heavy ones. `first` is the number of strains that
    are eliminated before the others; all by default.
    """
    unit = 1.0 / np.sqrt(mass)
    A, free = np.vstack([G, strains]), np.ones(G.shape[1], dtype=bool)
    T = _magnitudes(A, unit)
    rows, pivots = _eliminate(A, T, unit, free, len(G))
    Z = _null_basis(A[rows], np.array(pivots, dtype=int), np.flatnonzero(free))
    F, T = A[len(G) :, free], T[len(G) :, free]
    F = np.where(np.abs(F) > CANCELLED * T, F, 0.0)
    B, unpivoted = F.copy(), np.ones(F.shape[1], dtype=bool)
    rows, pivots = _eliminate(B, T, unit[free], unpivoted, len(F))
    rigid = _null_basis(B[rows], np.array(pivots, dtype=int), np.flatnonzero(unpivoted))
    count = len(rows) if first is None else int(sum(row < first for row in rows))
    strains = np.zeros((len(F), F.shape[1]))
    strains[:, : len(pivots)] = F[:, pivots]
    return Kinematics(np.hstack([Z[:, pivots], _product(Z, rigid)]), strains, count, len(pivots) - count)


def free_motions(G: np.ndarray, mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Z with G Z = 0 and independent (not orthogonal) columns, and the rows in which Z is the identity."""
    unit = 1.0 / np.sqrt(mass)
    A, free = G.copy(), np.ones(G.shape[1], dtype=bool)
    rows, pivots = _eliminate(A, _magnitudes(A, unit), unit, free, len(G))
    return _null_basis(A[rows], np.array(pivots, dtype=int), np.flatnonzero(free)), np.flatnonzero(free)


def _magnitudes(A: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """|A| plus the round-off that each entry has from its row, the initial sums of magnitudes."""
    row = (np.abs(A) * unit).max(axis=1, initial=0.0)
    return np.asarray(np.abs(A) + ROUNDED / CANCELLED * row[:, None] / unit)


def _eliminate(
    A: np.ndarray, T: np.ndarray, unit: np.ndarray, free: np.ndarray, count: int
) -> tuple[list[int], list[int]]:
    """Transforms rows 0 … count − 1 of A to echelon form; returns the rows with pivots and their columns, no longer `free`."""
    rows, pivots = [], []
    for i in range(count):
        nonzero = np.flatnonzero((A[i] != 0.0) & free)
        significant = nonzero[np.abs(A[i, nonzero]) > CANCELLED * T[i, nonzero]]
        A[i, np.setdiff1d(nonzero, significant, assume_unique=True)] = 0.0
        if not significant.size:
            continue
        p = int(significant[np.argmax(np.abs(A[i, significant]) * unit[significant])])
        free[p] = False
        rows.append(i)
        pivots.append(p)
        below = i + 1 + np.flatnonzero(A[i + 1 :, p])
        if below.size:
            other_columns = significant[significant != p]
            step = np.outer(A[below, p] / A[i, p], A[i, other_columns])
            A[np.ix_(below, other_columns)] -= step
            T[np.ix_(below, other_columns)] += np.abs(step)
            A[below, p] = 0.0
    return rows, pivots


def _null_basis(U: np.ndarray, pivots: np.ndarray, free: np.ndarray) -> np.ndarray:
    """The null space [−U_p⁻¹U_f; 1] of an echelon form with these pivot and free columns."""
    Z = np.zeros((U.shape[1], len(free)))
    Z[free, np.arange(len(free))] = 1.0
    if len(pivots) and len(free):
        inverse = la.solve_triangular(U[:, pivots], np.eye(len(pivots)))
        Z[pivots] = _product(-inverse, U[:, free])
    return Z


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a b, with entries whose terms cancel set to zero."""
    out = a @ b
    return np.where(np.abs(out) > CANCELLED * (np.abs(a) @ np.abs(b)), out, 0.0)


def signed_factor(K: np.ndarray, size: np.ndarray, mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """L (n × rank) and μ with K = L diag(μ) Lᵀ for a symmetric K; entries below `size` count as zero.

    Uses 1 × 1 and 2 × 2 pivots (Bunch and Parlett), the largest relative to `mass` first.
    """
    n, unit = len(K), 1.0 / np.sqrt(mass)
    if not n:  # no free motion
        return np.zeros((0, 0)), np.zeros(0)
    A, T = unit[:, None] * K * unit, unit[:, None] * np.maximum(size, size.T) * unit
    A, remaining = np.where(np.abs(A) > T, A, 0.0), np.ones(n, dtype=bool)
    columns, values = [], []
    while (pivot := _pivot(A, remaining)) is not None:
        mu, turn = np.linalg.eigh(A[np.ix_(pivot, pivot)])
        remaining[pivot] = False
        neighbours = np.flatnonzero(A[pivot].any(axis=0) & remaining)
        ell = (A[np.ix_(neighbours, pivot)] @ turn) / mu
        for entries, value, vector in zip(ell.T, mu, turn.T, strict=True):
            column = np.zeros(n)
            column[neighbours], column[pivot] = entries, vector
            columns.append(column)
            values.append(value)
        box = np.ix_(neighbours, neighbours)
        A[box] -= _symmetric((ell * mu) @ ell.T)  # to the last bit, so that zeros are symmetric
        T[box] += CANCELLED * _symmetric((np.abs(ell) * np.abs(mu)) @ np.abs(ell).T)
        A[box] = np.where(np.abs(A[box]) > T[box], A[box], 0.0)
        A[pivot], A[:, pivot] = 0.0, 0.0
    return np.array(columns).reshape(-1, n).T / unit[:, None], np.array(values)


def _symmetric(a: np.ndarray) -> np.ndarray:
    return np.asarray(0.5 * (a + a.T))


def _pivot(A: np.ndarray, remaining: np.ndarray) -> np.ndarray | None:
    """The index of the largest diagonal entry, or two of the largest entry if that is much larger; None if A is zero."""
    diagonal = np.abs(np.diag(A))
    i = int(np.argmax(diagonal))
    rest = np.abs(A[i])
    rest[i] = 0.0
    if diagonal[i] > 0.0 and diagonal[i] >= 0.6 * rest.max():
        return np.array([i])
    if not (largest := np.abs(A)).any():
        return None
    row, column = divmod(int(np.argmax(largest)), len(A))
    return np.array([row, column])
