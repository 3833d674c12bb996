"""The classical second-order form of a (v | σ) system: with v = s q the stresses are σ = C⁻¹Lᵀq, and

    (s²M + s D + K) q + Gᵀλ = f,   G q = g,   K = L C⁻¹Lᵀ,   D = R − J among the velocities.

This halves the size of the factor. Residuals are computed through the strains Lᵀq, without squaring: a few steps of iterative
refinement recover what the assembled K lost to round-off. If C is not local to elements, stresses stay unknowns of the saddle.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from phloat.algebra.sparse import (
    Matrix,
    block_inverse,
    csr,
    negativity_defect,
    row_lengths,
    stacked,
    symmetric_lu,
    weighted,
    zeros,
)
from phloat.errors import InputError
from phloat.linear.form.phdae import TOLERANCE, LinearPHDAE, linear_only

CORRECTIONS = 6


@dataclass(frozen=True, eq=False)
class SecondOrder:
    """M, D, L, C and G of a system, and the columns of its inputs on velocities, stresses and joints."""

    M: Matrix
    D: Matrix
    L: Matrix
    C: Matrix
    G: Matrix
    B_v: Matrix
    B_sigma: Matrix
    B_lam: Matrix

    @classmethod
    def of(cls, system: LinearPHDAE, *, damped: bool = True) -> SecondOrder:
        """Raises InputError if velocities and stresses share mass, or if stresses are damped, coupled or held by joints."""
        linear_only(system)
        n, E, J, R = system.split, system.E, system.J, system.R
        if n < 0:
            raise InputError("the rows must be ordered (v | σ), velocities first; set split=…")
        if not system.separable:
            raise InputError(
                "velocities and stresses share mass, or stresses are damped, held by joints or coupled with each other; the "
                "second-order form needs them separate"
            )
        D = R[:n, :n] - J[:n, :n] if damped else -J[:n, :n]
        blocks = (E[:n, :n], D, -J[:n, n:], E[n:, n:], system.G[:, :n], system.B[:n], system.B[n:], system.B_lam)
        return cls(*map(csr, blocks))

    @cached_property
    def S(self) -> np.ndarray:
        """C⁻¹B_σ: the stresses of those inputs that act on stresses."""
        B = self.B_sigma.toarray()
        return self.from_strain(B[:, B.any(axis=0)])

    @cached_property
    def F(self) -> np.ndarray:
        """Forces of the inputs on the velocities, then those of inputs on stresses, −L S."""
        return np.hstack([self.B_v.toarray(), -(self.L @ self.S)])

    @cached_property
    def drives(self) -> np.ndarray:
        """B_λ: the velocities G v of driven ports."""
        return self.B_lam.toarray()

    @property
    def size(self) -> int:
        return self.M.shape[0]

    @cached_property
    def C_inverse(self) -> Matrix | None:
        return block_inverse(self.C)

    @cached_property
    def definite(self) -> bool:
        """Whether C > 0: every stress stores energy."""
        return negativity_defect(self.C) <= TOLERANCE and bool((self.C.diagonal() > 0.0).all())

    def stress(self, V: np.ndarray) -> np.ndarray:
        """C⁻¹Lᵀ V."""
        return self.from_strain(self.L.T @ V)

    def from_strain(self, strain: np.ndarray) -> np.ndarray:
        """C⁻¹ on columns."""
        return np.asarray(self.C_inverse @ strain if self.C_inverse is not None else solve_real(self._factor, strain))

    @cached_property
    def _factor(self) -> spla.SuperLU:
        return spla.splu(self.C.tocsc())

    def stiffness(self, V: np.ndarray) -> np.ndarray:
        """K V, computed through the strains."""
        return np.asarray(self.L @ self.stress(V))

    @cached_property
    def K(self) -> Matrix:
        """K = L C⁻¹Lᵀ if C is local."""
        assert self.C_inverse is not None
        return csr(self.L @ self.C_inverse @ self.L.T)

    def at(self, s: complex, border: np.ndarray | None = None) -> Factor:
        """The factor of s²M + sD + K; `border` are more rows, kept at zero."""
        s = complex(s)
        a, b = (s * s, s) if s.imag else ((s * s).real, s.real)
        return Factor(self, a, b, 1.0, border)

    def at_infinity(self) -> Factor:
        """The factor of M."""
        return Factor(self, 1.0, 0.0, 0.0)


class Factor:
    """The factor of a M + b D + c K with the joints: `solve(f, g)` returns q with G q = g."""

    def __init__(self, of: SecondOrder, a: complex, b: complex, c: float, border: np.ndarray | None = None):
        self.of, self.a, self.b, self.c = of, a, b, c
        G = of.G if border is None else stacked([[of.G], [border.T]])
        n, joints = of.size, G.shape[0]
        light = sp.csr_array(a * of.M + b * of.D)
        mixed = bool(c) and of.L.shape[1] > 0 and of.C_inverse is None
        if mixed:
            A = sp.block_array([[light, of.L], [of.L.T, -of.C]], format="csr")
            stiff = of.L.multiply(of.L) @ (1.0 / np.abs(of.C.diagonal()))
            size = np.concatenate([np.abs(light.diagonal()) + stiff, np.abs(of.C.diagonal())])
        else:
            A = light + c * of.K if c and of.L.shape[1] else light
            size = np.abs(A.diagonal())
        # scaled to unit diagonal: otherwise slopes beside deflections are no pivots, and the order of elimination is lost
        unit = 1.0 / np.sqrt(np.where(size > 0.0, size, 1.0))
        self.unit, self.between = unit[:n], A.shape[0]
        scaled = sp.csr_array(sp.diags_array(unit) @ A @ sp.diags_array(unit))
        rows = csr(weighted(G.T, self.unit).T) if joints else G
        self.scale = 1.0 / row_lengths(rows)
        self.rows = csr(weighted(G, self.scale)) if joints else G
        wide = sp.hstack([weighted(rows, self.scale), zeros(joints, self.between - n)])
        saddle = sp.block_array([[scaled, wide.T], [wide, None]], format="csc") if joints else sp.csc_array(scaled)
        self.complex = np.iscomplexobj(saddle)
        # a low pivot threshold keeps the fill of a symmetric matrix; the corrections recover the accuracy
        self.lu = symmetric_lu(saddle, pivot=1e-3)

    def _once(self, f: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n, right = self.of.size, np.zeros((self.lu.shape[0], f.shape[1]), dtype=complex if self.complex else float)
        right[:n], right[self.between :] = self.unit[:, None] * f, g
        x = self.lu.solve(right)
        return self.unit[:, None] * x[:n], x[self.between :]

    def times(self, q: np.ndarray) -> np.ndarray:
        """(a M + b D + c K) q."""
        out = self.a * (self.of.M @ q) + self.b * (self.of.D @ q)
        return np.asarray(out + self.c * self.of.stiffness(q) if self.c and self.of.L.shape[1] else out)

    def solve(self, f: np.ndarray, g: np.ndarray | None = None) -> np.ndarray:
        """q for columns f with G q = g (rows of the border are zero), by iterative refinement."""
        right = np.zeros((self.rows.shape[0], f.shape[1]), dtype=f.dtype)
        if g is not None:
            right[: len(g)] = self.scale[: len(g), None] * g
        q, lam = self._once(f, right)
        last = np.inf
        for _ in range(CORRECTIONS):
            left, gap = f - self.times(q) - self.rows.T @ lam, right - self.rows @ q
            more, turn = self._once(left, gap)
            now = float(np.abs(more).max(initial=0.0))
            if not now < 0.5 * last:
                break
            q, lam, last = q + more, lam + turn, now
            if now <= 1e-15 * np.abs(q).max(initial=0.0):
                break
        return np.asarray(q)


def solve_real(factor: spla.SuperLU, right: np.ndarray) -> np.ndarray:
    """A real factor on real or complex columns."""
    if np.iscomplexobj(right):
        return np.asarray(solve_real(factor, right.real) + 1j * solve_real(factor, right.imag))
    return np.asarray(factor.solve(np.ascontiguousarray(right)))
