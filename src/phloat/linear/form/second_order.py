"""The classical second-order form of a (v | σ) system: with v = s q the stresses are σ = C⁻¹Lᵀq, and

    (s²M + s D + K) q + Gᵀλ = f,   G q = g,   K = L C⁻¹Lᵀ,   D = R − J among the velocities.

This halves the size of the factor. Residuals are computed through the strains Lᵀq, without squaring: a few steps of iterative
refinement recover what the assembled K lost to round-off. If C is not local to elements, stresses stay unknowns of the saddle.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from phloat.algebra.sparse import Matrix, block_inverse, csr, negativity_defect, stacked, zero_matrix
from phloat.errors import InputError
from phloat.linear.form.phdae import TOLERANCE, LinearPHDAE, linear_only
from phloat.linear.form.saddle import SaddleFactor, solve_real


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
                "velocities and stresses share mass, or stresses are damped, jointed or coupled with each other"
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

    @cached_property
    def stiff(self) -> np.ndarray:
        """The size of the diagonal of K."""
        return np.asarray(self.L.multiply(self.L) @ (1.0 / np.abs(self.C.diagonal())))

    def at(self, s: complex, border: np.ndarray | None = None) -> Factor:
        """The factor of s²M + sD + K; `border` are more rows, kept at zero."""
        s = complex(s)
        a, b = (s * s, s) if s.imag else ((s * s).real, s.real)
        return Factor(self, a, b, border)


class Factor(SaddleFactor):
    """The factor of a M + b D + K with the joints and more rows, the border; residuals through the strains.

    If C is not local, or `mixed`, the stresses stay unknowns.
    """

    def __init__(
        self, of: SecondOrder, a: complex, b: complex, border: np.ndarray | None = None, *, mixed: bool = False
    ):
        self.of, self.a, self.b, self.strained = of, a, b, of.L.shape[1] > 0
        S, size = sp.csr_array(a * of.M + b * of.D), None
        if self.strained and (mixed or of.C_inverse is None):
            # scaled by its diagonal alone, the stresses would be poor pivots: thirty times the fill for a disc of 12 cells
            size = np.concatenate([np.abs(S.diagonal()) + of.stiff, np.abs(of.C.diagonal())])
            S = sp.block_array([[S, of.L], [of.L.T, -of.C]], format="csr")
        elif self.strained:
            S = S + of.K
        super().__init__(S, of.G if border is None else stacked([[of.G], [border.T]]), size)

    def times(self, x: np.ndarray) -> np.ndarray:
        """(a M + b D + K) x."""
        out = self.a * (self.of.M @ x) + self.b * (self.of.D @ x)
        return np.asarray(out + self.of.stiffness(x) if self.strained else out)


def undamped(system: LinearPHDAE) -> LinearPHDAE:
    """The system without damping and gyroscopic forces."""
    n, rest = system.split, system.rows.size - system.split
    J = stacked([[zero_matrix(n, n), system.J[:n, n:]], [system.J[n:, :n], zero_matrix(rest, rest)]])
    return replace(system, R=zero_matrix(*system.R.shape), J=J)
