"""Saddle-point systems M x = f + Gᵀλ, G x = b, for velocities, accelerations and statics, also with redundant rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from phloat.algebra.sparse import Matrix, csr, row_lengths

SOFT = 1e-9  # δ of scaled rows, before refinement
AGAIN = 60


@dataclass(frozen=True, eq=False)
class SaddleSystem:
    """M x = f + Gᵀλ, G x = b, factorised once. M need not be symmetric.

    Scaled to unit diagonal of M and unit rows of G, with −δ in the empty block, and repeated for what is left: then repeated
    rows do no harm, λ is the shortest (in scaled rows) and where b cannot be met, x meets it as well as can be.
    """

    M: Matrix
    G: Matrix
    stiff: np.ndarray | None = None  # what to scale by instead of √ diag(M)

    @cached_property
    def scale(self) -> np.ndarray:
        size = np.abs(self.M.diagonal()) if self.stiff is None else self.stiff**2
        return 1.0 / np.sqrt(np.where(size > 0, size, 1.0))

    @cached_property
    def rows(self) -> Matrix:
        """G for scaled unknowns."""
        G = csr(self.G)
        return csr(sp.csr_array((G.data * self.scale[G.indices], G.indices, G.indptr), shape=G.shape))

    @cached_property
    def weight(self) -> np.ndarray:
        return 1.0 / row_lengths(self.rows)

    @cached_property
    def factor(self) -> spla.SuperLU:
        """Of [[S M S, −Gᵀ], [G, δ]] in scaled rows and unknowns, entry by entry: products of sparse matrices take longer."""
        M, G, s = csr(self.M).tocoo(), self.rows.tocoo(), self.scale
        below, right = len(s) + G.row, len(s) + np.arange(G.shape[0])
        own, across = s[M.row] * M.data * s[M.col], self.weight[G.row] * G.data
        entries = np.concatenate([own, -across, across, np.full(len(right), SOFT)])
        places = np.concatenate([M.row, G.col, below, right]), np.concatenate([M.col, below, G.col, right])
        return spla.splu(sp.csc_array((entries, places), shape=(len(s) + len(right),) * 2))

    def solve(self, f: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x and λ."""
        n, units = self.M.shape[0], np.concatenate([self.scale, self.weight])

        def residual(y: np.ndarray) -> np.ndarray:
            x, lam = y[:n], y[n:]
            return units * np.concatenate([f + self.G.T @ lam - self.M @ x, b - self.G @ x])

        y = _refined(self.factor, residual, units)
        return y[:n], y[n:]

    def miss(self, x: np.ndarray, b: np.ndarray, background: float = 0.0) -> np.ndarray:
        """G x − b in scaled rows, relative to the size of all x and b (and of what else they come from)."""
        size = self.size(x) + float(np.abs(self.weight * b).max(initial=0.0)) + background
        return self.weight * (self.G @ x - b) / max(size, 1e-300)

    def size(self, x: np.ndarray) -> float:
        """√(xᵀ diag(M) x)."""
        return float(np.linalg.norm(x / self.scale))


def solve_refined(
    A: Matrix, b: np.ndarray, rows: np.ndarray, columns: np.ndarray, soft: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """x with A x = b, rows and columns scaled; softened at the entries `soft` and repeated as in `SaddleSystem`."""
    scaled = csr(sp.diags_array(rows) @ A @ sp.diags_array(columns))
    give = sp.coo_array((np.full(len(soft[0]), SOFT), soft), shape=A.shape)
    factor = spla.splu((scaled + give).tocsc())
    return columns * _refined(factor, lambda x: rows * b - scaled @ x, np.ones(len(b)))


def _refined(factor: spla.SuperLU, residual: Callable[[np.ndarray], np.ndarray], units: np.ndarray) -> np.ndarray:
    """x with residual(x) = 0 by iterative refinement, of round-off and of the softness δ; the factor is of scaled unknowns."""
    x = np.zeros(len(units))
    left = residual(x)
    for _ in range(AGAIN):
        next_x = x + units * factor.solve(left)
        after = residual(next_x)
        if not np.linalg.norm(after) < 0.7 * np.linalg.norm(left):
            break
        x, left = next_x, after
    return x
