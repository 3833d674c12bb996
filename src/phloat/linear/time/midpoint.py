"""One implicit midpoint step of a linear port-Hamiltonian system, factorised once for all steps of one length.

    E (e₁ − e₀)/h = (J − R) ē + Gᵀλ + B ū,   G ē = B_λ ū,   ē = (e₀ + e₁)/2
    ⇒  H₁ − H₀ = h ȳᵀū − h ēᵀR ē   exactly,   ȳ = Bᵀē + B_λᵀλ

If the compliance is local to elements the stresses are eliminated, σ̄ = σ₀ + ½h C⁻¹Lᵀv̄, and M + ½h (R − J_vv) + ¼h² K is
factorised with the joints; otherwise the whole matrix.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from phloat.algebra.sparse import (
    Matrix,
    block_inverse,
    csr,
    dependencies,
    largest,
    row_lengths,
    stacked,
    symmetric_lu,
    weighted,
    zeros,
)
from phloat.errors import InputError
from phloat.linear.form.phdae import LinearPHDAE


class SaddleFactor:
    """[[S, −Gᵀ], [−G, 0]] (x, λ) = (b, −c), scaled to entries of size one, with one step of iterative refinement."""

    def __init__(self, S: Matrix, G: Matrix) -> None:
        self.S, self.G, self.n = S, G, S.shape[0]
        size = np.abs(S.diagonal())
        self.column = 1.0 / np.sqrt(np.where(size > 0.0, size, 1.0))
        scale = sp.diags_array(self.column)
        scaled = csr(scale @ S @ scale)
        rows = csr(G @ scale)
        self.row = 1.0 / row_lengths(rows)
        rows = csr(weighted(rows, self.row))
        whole = stacked([[scaled, -rows.T], [-rows, zeros(*2 * G.shape[:1])]])
        try:
            self.factor = symmetric_lu(whole, pivot=1e-3)
        except RuntimeError:
            raise InputError(
                "the matrix is singular: a motion has no mass and stiffness, or joints are redundant"
            ) from None

    def solve(self, b: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x, lam = self._once(b, c)
        more, less = self._once(b - self.S @ x + self.G.T @ lam, c - self.G @ x)
        return x + more, lam + less

    def _once(self, b: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        out = self.factor.solve(np.concatenate([self.column * b, -self.row * c]))
        return self.column * out[: self.n], self.row * out[self.n :]


class MidpointSolver:
    """The factorised step of length h: (e₀, ū) ↦ (ē, λ)."""

    def __init__(self, system: LinearPHDAE, h: float) -> None:
        self.system, self.h = system, h
        self.kept = np.setdiff1d(np.arange(system.multipliers.size), repeated(system.G))
        self.G = csr(system.G[self.kept])
        self.B_lam = csr(system.B_lam[self.kept])
        self.inverse = _local_compliance(system)
        if self.inverse is None:
            self.saddle = SaddleFactor(csr(system.E - 0.5 * h * system.dynamics), self.G)
        else:
            n = system.split
            self.M, self.L = csr(system.E[:n, :n]), csr(-system.J[:n, n:])
            self.flexing = csr(self.inverse @ self.L.T)  # σ̇ = C⁻¹Lᵀ v
            S = self.M + 0.5 * h * (system.R[:n, :n] - system.J[:n, :n]) + 0.25 * h * h * (self.L @ self.flexing)
            self.saddle = SaddleFactor(csr(S), csr(self.G[:, :n]))
            self.B = csr(system.B[:n])

    def mean(self, e: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """ē and λ of the step from e under the mean input u."""
        system, h = self.system, self.h
        lam = np.zeros(system.multipliers.size)
        if self.inverse is None:
            mean, part = self.saddle.solve(system.E @ e + 0.5 * h * (system.B @ u), self.B_lam @ u)
        else:
            n = system.split
            load = self.M @ e[:n] + 0.5 * h * (self.B @ u - self.L @ e[n:])
            v, part = self.saddle.solve(load, self.B_lam @ u)
            mean = np.concatenate([v, e[n:] + 0.5 * h * (self.flexing @ v)])
        lam[self.kept] = part / (0.5 * h)
        return mean, lam


def nearest_consistent(system: LinearPHDAE, e: np.ndarray, u: np.ndarray) -> np.ndarray:
    """The state nearest to e, in the norm of the energy, that satisfies the joints: G e = B_λ u."""
    kept = np.setdiff1d(np.arange(system.multipliers.size), repeated(system.G))
    return SaddleFactor(system.E, csr(system.G[kept])).solve(system.E @ e, system.B_lam[kept] @ u)[0]


def repeated(G: Matrix) -> np.ndarray:
    """Indices of rows that depend on the others."""
    mu = dependencies(G)
    if not mu.shape[1]:
        return np.zeros(0, dtype=int)
    return np.sort(la.qr(mu.T, pivoting=True, mode="economic")[2][: mu.shape[1]])


def _local_compliance(system: LinearPHDAE) -> Matrix | None:
    """C⁻¹ if the stresses can be eliminated element by element, otherwise None."""
    n = system.split
    local = system.separable and n < system.rows.size and not system.circulatory and not largest(system.B[n:])
    return block_inverse(csr(system.E[n:, n:])) if local else None
