"""Factors of large sparse saddle-point systems: S x = f + Gᵀλ, G x = g."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from phloat.algebra.factors import DirectFactor, definite_factor, symmetric_lu
from phloat.algebra.sparse import Matrix, csr, row_lengths, zero_matrix

CORRECTIONS = 6  # steps of iterative refinement at most
EXACT = 1e-15  # relative correction below which no further one is needed


class SaddleFactor:
    """The factor of S x = f + Gᵀλ, G x = g, with S of symmetric pattern, real or complex; solutions by iterative refinement.

    If G has fewer columns than S, it acts on the first n unknowns: f and x are these, and the other rows of S have no right-hand
    side. S is scaled to a diagonal of one (or by `size` instead of its diagonal): unscaled, the rotations of a plate would be poor
    pivots and the order with little fill would be lost (80 s instead of 0.2 s for a Kirchhoff plate of 1600 elements).
    """

    def __init__(self, S: Matrix, G: Matrix | None = None, size: np.ndarray | None = None, pivot: float = 1e-3):
        self.S, self.G = S, zero_matrix(0, S.shape[0]) if G is None else G
        (joints, self.n), self.unknowns = self.G.shape, S.shape[0]
        size = np.abs(S.diagonal()) if size is None else size
        unit = 1.0 / np.sqrt(np.where(size > 0.0, size, 1.0))
        self.scale = unit[: self.n]
        scaled = sp.diags_array(unit) @ S @ sp.diags_array(unit)
        rows = csr(self.G @ sp.diags_array(self.scale))
        self.row_scale = 1.0 / row_lengths(rows)
        if joints:
            padded = sp.hstack([sp.diags_array(self.row_scale) @ rows, zero_matrix(joints, self.unknowns - self.n)])
            scaled = sp.block_array([[scaled, -padded.T], [-padded, None]])
        # a low pivot threshold keeps the fill of a symmetric matrix; the corrections recover the accuracy
        self.lu = symmetric_lu(scaled, pivot) if joints else definite_factor(scaled, pivot)
        self.kind = scaled.dtype.kind
        self.errors: list[float] = []  # the corrections of the last solution, relative to it

    def times(self, x: np.ndarray) -> np.ndarray:
        """S x."""
        return np.asarray(self.S @ x)

    def solve(self, f: np.ndarray, g: np.ndarray | None = None, corrections: int = CORRECTIONS) -> np.ndarray:
        """x for a right-hand side f, (n,) or (n, columns)."""
        return self.solve_both(f, g, corrections)[0]

    def solve_both(
        self, f: np.ndarray, g: np.ndarray | None = None, corrections: int = CORRECTIONS
    ) -> tuple[np.ndarray, np.ndarray]:
        """x and λ; g is zero by default, and in the rows that it does not have."""
        rhs_G = np.zeros((len(self.row_scale), *f.shape[1:]), dtype=f.dtype)
        if g is not None:
            rhs_G[: len(g)] = g
        x, lam = self._solve_once(f, rhs_G)
        self.errors, previous = [], np.inf
        for _ in range(corrections):
            dx, dlam = self._solve_once(f + self.G.T @ lam - self.times(x), rhs_G - self.G @ x)
            correction = float(np.abs(dx).max(initial=0.0))
            self.errors.append(correction / max(float(np.abs(x).max(initial=0.0)), 1e-300))
            if not correction < 0.5 * previous:
                break
            x, lam, previous = x + dx, lam + dlam, correction
            if self.errors[-1] <= EXACT:
                break
        return x, lam

    def _solve_once(self, f: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x and λ without iterative refinement."""
        rhs = np.zeros(
            (self.unknowns + len(self.row_scale), *f.shape[1:]), dtype=complex if self.kind == "c" else f.dtype
        )
        rhs[: self.n], rhs[self.unknowns :] = (self.scale * f.T).T, -(self.row_scale * g.T).T
        x = self.lu.solve(rhs) if self.kind == "c" else solve_real(self.lu, rhs)
        return (self.scale * x[: self.n].T).T, (self.row_scale * x[self.unknowns :].T).T


def solve_real(factor: DirectFactor, rhs: np.ndarray) -> np.ndarray:
    """The solution with a real factor for a real or complex right-hand side."""
    if np.iscomplexobj(rhs):
        return np.asarray(solve_real(factor, rhs.real) + 1j * solve_real(factor, rhs.imag))
    return np.asarray(factor.solve(np.ascontiguousarray(rhs)))
