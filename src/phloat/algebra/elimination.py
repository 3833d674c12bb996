"""Ranks and null spaces decided entry by entry, whatever the units and however far stiffnesses, masses and lengths are apart.

Gaussian elimination carries beside every entry the sum of the magnitudes of the terms that it was made from. An entry that is
small beside that sum is what round-off has left of a cancellation, and zero; an entry that is small beside the rest of the matrix
is not. Multiplying rows or columns by numbers changes no decision.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as la

CANCELLED = 1e-10  # of the sum of the magnitudes of the terms of an entry: what is left of it is zero
ROUNDED = 2e-15  # of the largest entry of its row, each over the root of its mass: the cosine of a right angle


@dataclass(frozen=True, eq=False)
class Kinematics:
    """The motions v = Z x that G v = 0 allows, and their strains F = Lᵀ Z.

    The first `held` columns of Z strain the first rows of L independently, the next `lifted` ones need the other rows, and the
    rest of Z strains nothing at all: F is zero there.
    """

    Z: np.ndarray
    F: np.ndarray
    held: int
    lifted: int

    @property
    def rigid(self) -> int:
        return self.Z.shape[1] - self.held - self.lifted


def kinematics(G: np.ndarray, strains: np.ndarray, mass: np.ndarray, first: int | None = None) -> Kinematics:
    """Free motions of joints G (joints × n) and strains Lᵀ (strains × n), sorted by whether they strain anything.

    `mass` (n) are the sizes by which columns are compared: light coordinates are expressed by heavy ones. `first` is how many
    of the strains are looked at before the others.
    """
    unit = 1.0 / np.sqrt(mass)
    A, free = np.vstack([G, strains]), np.ones(G.shape[1], dtype=bool)
    T = _magnitudes(A, unit)
    rows, pivots = _eliminated(A, T, unit, free, len(G))
    Z = _null_basis(A[rows], np.array(pivots, dtype=int), np.flatnonzero(free))
    F, T = A[len(G) :, free], T[len(G) :, free]
    F = np.where(np.abs(F) > CANCELLED * T, F, 0.0)
    B, left = F.copy(), np.ones(F.shape[1], dtype=bool)
    rows, pivots = _eliminated(B, T, unit[free], left, len(F))
    rigid = _null_basis(B[rows], np.array(pivots, dtype=int), np.flatnonzero(left))
    held = len(rows) if first is None else int(sum(row < first for row in rows))
    strained = np.zeros((len(F), F.shape[1]))
    strained[:, : len(pivots)] = F[:, pivots]
    return Kinematics(np.hstack([Z[:, pivots], _product(Z, rigid)]), strained, held, len(pivots) - held)


def free_motions(G: np.ndarray, mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Z with G Z = 0, its columns independent but not orthogonal, and the rows where it is the identity."""
    unit = 1.0 / np.sqrt(mass)
    A, free = G.copy(), np.ones(G.shape[1], dtype=bool)
    rows, pivots = _eliminated(A, _magnitudes(A, unit), unit, free, len(G))
    return _null_basis(A[rows], np.array(pivots, dtype=int), np.flatnonzero(free)), np.flatnonzero(free)


def _magnitudes(A: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """|A|, and what round-off in its row may have left of an entry."""
    row = (np.abs(A) * unit).max(axis=1, initial=0.0)
    return np.asarray(np.abs(A) + ROUNDED / CANCELLED * row[:, None] / unit)


def _eliminated(
    A: np.ndarray, T: np.ndarray, unit: np.ndarray, free: np.ndarray, count: int
) -> tuple[list[int], list[int]]:
    """Rows 0 … count − 1 of A as an echelon form, in place; the rows that have a pivot, and its column, no longer free."""
    rows, pivots = [], []
    for i in range(count):
        there = np.flatnonzero((A[i] != 0.0) & free)
        real = there[np.abs(A[i, there]) > CANCELLED * T[i, there]]
        A[i, np.setdiff1d(there, real, assume_unique=True)] = 0.0
        if not real.size:
            continue
        p = int(real[np.argmax(np.abs(A[i, real]) * unit[real])])
        free[p] = False
        rows.append(i)
        pivots.append(p)
        below = i + 1 + np.flatnonzero(A[i + 1 :, p])
        if below.size:
            others = real[real != p]
            step = np.outer(A[below, p] / A[i, p], A[i, others])
            A[np.ix_(below, others)] -= step
            T[np.ix_(below, others)] += np.abs(step)
            A[below, p] = 0.0
    return rows, pivots


def _null_basis(U: np.ndarray, pivots: np.ndarray, free: np.ndarray) -> np.ndarray:
    """[−U_p⁻¹U_f; 1] in the places of an echelon form."""
    Z = np.zeros((U.shape[1], len(free)))
    Z[free, np.arange(len(free))] = 1.0
    if len(pivots) and len(free):
        inverse = la.solve_triangular(U[:, pivots], np.eye(len(pivots)))
        Z[pivots] = _product(-inverse, U[:, free])
    return Z


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a b, exactly zero where its terms cancel."""
    out = a @ b
    return np.where(np.abs(out) > CANCELLED * (np.abs(a) @ np.abs(b)), out, 0.0)


def signed_factor(K: np.ndarray, size: np.ndarray, mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """L (n × rank) and μ with K = L diag(μ) Lᵀ for a symmetric K; what is within `size` of zero is zero.

    By 1 × 1 and 2 × 2 pivots (Bunch and Parlett), the largest beside `mass` first.
    """
    n, unit = len(K), 1.0 / np.sqrt(mass)
    if not n:  # joints and drives leave nothing free
        return np.zeros((0, 0)), np.zeros(0)
    A, T = unit[:, None] * K * unit, unit[:, None] * np.maximum(size, size.T) * unit
    A, left = np.where(np.abs(A) > T, A, 0.0), np.ones(n, dtype=bool)
    columns, values = [], []
    while (at := _pivot(A, left)) is not None:
        mu, turn = np.linalg.eigh(A[np.ix_(at, at)])
        left[at] = False
        near = np.flatnonzero(A[at].any(axis=0) & left)
        ell = (A[np.ix_(near, at)] @ turn) / mu
        for one, value, own in zip(ell.T, mu, turn.T, strict=True):
            column = np.zeros(n)
            column[near], column[at] = one, own
            columns.append(column)
            values.append(value)
        box = np.ix_(near, near)
        A[box] -= _symmetric((ell * mu) @ ell.T)  # to the last bit: what is zero must be so on both sides
        T[box] += CANCELLED * _symmetric((np.abs(ell) * np.abs(mu)) @ np.abs(ell).T)
        A[box] = np.where(np.abs(A[box]) > T[box], A[box], 0.0)
        A[at], A[:, at] = 0.0, 0.0
    return np.array(columns).reshape(-1, n).T / unit[:, None], np.array(values)


def _symmetric(a: np.ndarray) -> np.ndarray:
    return np.asarray(0.5 * (a + a.T))


def _pivot(A: np.ndarray, left: np.ndarray) -> np.ndarray | None:
    """One index, or two: of the largest entry of the diagonal, or of the whole where that is much larger."""
    own = np.abs(np.diag(A))
    i = int(np.argmax(own))
    rest = np.abs(A[i])
    rest[i] = 0.0
    if own[i] > 0.0 and own[i] >= 0.6 * rest.max():
        return np.array([i])
    if not (largest := np.abs(A)).any():
        return None
    row, column = divmod(int(np.argmax(largest)), len(A))
    return np.array([row, column])
