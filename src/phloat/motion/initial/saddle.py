"""Saddle-point systems M x = f + Gᵀλ, G x = b, for velocities, accelerations and statics, also with redundant rows."""

from __future__ import annotations

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
        n = self.M.shape[0]
        x, lam = np.zeros(n), np.zeros(self.G.shape[0])
        left = self._left(x, lam, f, b)
        for _ in range(AGAIN):
            # iterative refinement, of round-off and of the softness δ
            step = self.factor.solve(left)
            x_1, lam_1 = x + self.scale * step[:n], lam + self.weight * step[n:]
            after = self._left(x_1, lam_1, f, b)
            if not np.linalg.norm(after) < 0.7 * np.linalg.norm(left):
                break
            x, lam, left = x_1, lam_1, after
        return x, lam

    def _left(self, x: np.ndarray, lam: np.ndarray, f: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.concatenate([self.scale * (f + self.G.T @ lam - self.M @ x), self.weight * (b - self.G @ x)])

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
    x, left = np.zeros(len(b)), rows * b
    for _ in range(AGAIN):
        step = factor.solve(left)
        after = rows * b - scaled @ (x + step)
        if not np.linalg.norm(after) < 0.7 * np.linalg.norm(left):
            break
        x, left = x + step, after
    return columns * x
