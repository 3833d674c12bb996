"""One implicit midpoint step of a linear port-Hamiltonian system, factorised once for all steps of one length.

    E (e₁ − e₀)/h = (J − R) ē + Gᵀλ + (B − P) ū,   G ē = B_λ ū,   ē = (e₀ + e₁)/2
    ⇒  H₁ − H₀ = h ȳᵀū − h (ē, ū)ᵀW (ē, ū)   exactly,   ȳ = (B + P)ᵀē + B_λᵀλ + (S + N) ū

Without inputs on stresses these are eliminated, σ̄ = σ₀ + ½h C⁻¹Lᵀv̄, and (4/h²) M + (2/h) D + K is factorised with the joints.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy.linalg as la

from phloat.algebra.sparse import Matrix, csr, dependencies, largest
from phloat.errors import InputError
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.form.saddle import SaddleFactor
from phloat.linear.form.second_order import Factor, SecondOrder

SINGULAR = 1e12  # condition number from which rows without energy do not follow from the others


class MidpointSolver:
    """The factorised step of length h, (e₀, ū) ↦ (ē, λ); λ is zero on joint rows that depend on the others."""

    def __init__(self, system: LinearPHDAE, h: float) -> None:
        self.system, self.h, self.into = system, h, system.input_map
        self.joint_rows, G = _independent(system.G)
        self.model: SecondOrder | None = None
        if system.separable and not system.circulatory and not largest(self.into[system.split :]):
            self.model = replace(SecondOrder.from_system(system), G=csr(G[:, : system.split]))
        try:
            if self.model is None:
                self.factor = SaddleFactor(csr(system.E - 0.5 * h * system.dynamics), G)
            else:
                self.factor = Factor(self.model, 4.0 / h**2, 2.0 / h)
        except RuntimeError:
            raise InputError("a motion has no mass and no stiffness, or joints repeat each other; omit those") from None

    def mean(self, e: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """One midpoint step from e with the mean input u: returns the mean ē = (e + e⁺)/2, (rows,), and λ, (multipliers,)."""
        model, half, n = self.model, 0.5 * self.h, self.system.split
        lam, flow = np.zeros(self.system.multipliers.size), (self.system.B_lam @ u)[self.joint_rows]
        if model is None:
            mean, mu = self.factor.solve_both(self.system.E @ e + half * (self.into @ u), flow, corrections=1)
            lam[self.joint_rows] = mu / half
        else:
            load = (model.M @ e[:n] / half + self.into[:n] @ u - model.L @ e[n:]) / half
            v, mu = self.factor.solve_both(load, flow, corrections=1)
            mean = np.concatenate([v, e[n:] + half * model.stress(v)])
            lam[self.joint_rows] = half * mu
        return mean, lam


def nearest_consistent(system: LinearPHDAE, e: np.ndarray, u: np.ndarray) -> np.ndarray:
    """The state nearest to e, in the norm of the energy, that satisfies the joints: G e = B_λ u."""
    joint_rows, G = _independent(system.G)
    return SaddleFactor(system.E, G).solve(system.E @ e, (system.B_lam @ u)[joint_rows])


def massless_rows(system: LinearPHDAE) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """The function (e, u) ↦ e with the rows a without energy from 0 = F_ax e + F_aa e_a + (B_a − P_a) u, F = J − R.

    A step determines their means only. Rows in joints, and all if F_aa is singular, stay as they are.
    """
    rows = np.flatnonzero((np.diff(system.E.indptr) == 0) & (np.diff(system.G.tocsc().indptr) == 0))
    F, rest = csr(system.dynamics[rows]), np.setdiff1d(np.arange(system.rows.size), rows)
    if not len(rows) or np.linalg.cond(F_aa := F[:, rows].toarray()) > SINGULAR:
        return lambda e, u: e
    by_e, by_u = (-np.linalg.solve(F_aa, a.toarray()) for a in (F[:, rest], system.input_map[rows]))

    def settled(e: np.ndarray, u: np.ndarray) -> np.ndarray:
        out = e.copy()
        out[rows] = by_e @ e[rest] + by_u @ u
        return out

    return settled


def _independent(G: Matrix) -> tuple[np.ndarray, Matrix]:
    """The indices of rows of G that are independent, and these rows."""
    independent = np.delete(np.arange(G.shape[0]), repeated(G))
    return independent, csr(G[independent])


def repeated(G: Matrix) -> np.ndarray:
    """The indices of rows of G that depend on the others, ascending."""
    mu = dependencies(G)
    if not mu.shape[1]:
        return np.zeros(0, dtype=int)
    return np.sort(la.qr(mu.T, pivoting=True, mode="economic")[2][: mu.shape[1]])
