"""Saddle-point systems M x = f + Gᵀλ, G x = b, for velocities, accelerations and statics, also with redundant rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from phloat.algebra.sparse import Matrix, csr, row_lengths

SOFTNESS = 1e-9  # δ of scaled rows, before refinement
REFINEMENTS = 60


@dataclass(frozen=True, eq=False)
class SaddleSystem:
    """M x = f + Gᵀλ, G x = b, factorised once. M need not be symmetric.

    M is scaled to unit diagonal and G to unit rows. The empty block gets −δ, whose effect iterative refinement removes. So
    dependent rows are allowed: λ is the shortest solution (in scaled rows), and x the least-squares solution if b is inconsistent.
    """

    M: Matrix
    G: Matrix
    scaling: np.ndarray | None = None  # scales instead of √ diag(M)

    @cached_property
    def scale(self) -> np.ndarray:
        """Scale factors of x."""
        size = np.abs(self.M.diagonal()) if self.scaling is None else self.scaling**2
        return 1.0 / np.sqrt(np.where(size > 0, size, 1.0))

    @cached_property
    def rows(self) -> Matrix:
        """G for scaled unknowns."""
        G = csr(self.G)
        return csr(sp.csr_array((G.data * self.scale[G.indices], G.indices, G.indptr), shape=G.shape))

    @cached_property
    def weight(self) -> np.ndarray:
        """Scale factors of rows of G."""
        return 1.0 / row_lengths(self.rows)

    @cached_property
    def factor(self) -> spla.SuperLU:
        """LU factors of [[S M S, −Gᵀ], [G, δ]] in scaled rows and unknowns; built from entries, as sparse products take longer."""
        M, G, s = csr(self.M).tocoo(), self.rows.tocoo(), self.scale
        below, gaps = len(s) + G.row, len(s) + np.arange(G.shape[0])
        mass_entries, row_entries = s[M.row] * M.data * s[M.col], self.weight[G.row] * G.data
        entries = np.concatenate([mass_entries, -row_entries, row_entries, np.full(len(gaps), SOFTNESS)])
        indices = np.concatenate([M.row, G.col, below, gaps]), np.concatenate([M.col, below, G.col, gaps])
        return spla.splu(sp.csc_array((entries, indices), shape=(len(s) + len(gaps),) * 2))

    def solve(self, f: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x and λ."""
        n, units = self.M.shape[0], np.concatenate([self.scale, self.weight])

        def residual(y: np.ndarray) -> np.ndarray:
            x, lam = y[:n], y[n:]
            return units * np.concatenate([f + self.G.T @ lam - self.M @ x, b - self.G @ x])

        y = _refine(self.factor, residual, units)
        return y[:n], y[n:]

    def miss(self, x: np.ndarray, b: np.ndarray, background: float = 0.0) -> np.ndarray:
        """G x − b in scaled rows, relative to the magnitudes of x, b and `background`."""
        size = self.size(x) + float(np.abs(self.weight * b).max(initial=0.0)) + background
        return self.weight * (self.G @ x - b) / max(size, 1e-300)

    def size(self, x: np.ndarray) -> float:
        """√(xᵀ diag(M) x)."""
        return float(np.linalg.norm(x / self.scale))


def solve_refined(
    A: Matrix, b: np.ndarray, rows: np.ndarray, columns: np.ndarray, soft: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """x of A x = b, rows and columns scaled; δ is added at the entries `soft` and removed as in `SaddleSystem`."""
    scaled = csr(sp.diags_array(rows) @ A @ sp.diags_array(columns))
    softness = sp.coo_array((np.full(len(soft[0]), SOFTNESS), soft), shape=A.shape)
    factor = spla.splu((scaled + softness).tocsc())
    return columns * _refine(factor, lambda x: rows * b - scaled @ x, np.ones(len(b)))


def _refine(factor: spla.SuperLU, residual: Callable[[np.ndarray], np.ndarray], units: np.ndarray) -> np.ndarray:
    """x with residual(x) = 0 by iterative refinement, which removes round-off and δ; `factor` is of scaled unknowns."""
    x = np.zeros(len(units))
    remaining = residual(x)
    for _ in range(REFINEMENTS):
        next_x = x + units * factor.solve(remaining)
        next_remaining = residual(next_x)
        if not np.linalg.norm(next_remaining) < 0.7 * np.linalg.norm(remaining):
            break
        x, remaining = next_x, next_remaining
    return x
