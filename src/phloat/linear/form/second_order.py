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

from phloat.algebra.elimination import free_motions
from phloat.algebra.factors import definite_factor, negativity_defect, symmetric_lu
from phloat.algebra.sparse import Matrix, block_inverse, components, csr, stacked, zero_matrix
from phloat.errors import InputError
from phloat.linear.form.phdae import TOLERANCE, LinearPHDAE, linear_only
from phloat.linear.form.saddle import SaddleFactor, solve_real

RANGE = 1e10  # ratio of squared frequencies up to which stresses can be computed without the velocities
PIVOT = 1e-3  # threshold of pivots that keeps the fill of a symmetric matrix
FULLER = 4  # entries of a sparse basis of the free motions, relative to those of the joints and the velocities
LOCAL = 40  # velocities of a cell that share no mass with those of other cells


@dataclass(frozen=True, eq=False)
class SecondOrder:
    """M, D, L, C and G of a (v | σ) system, and its inputs on velocities (B_v), stresses (B_sigma) and joints (B_lam).

    With a feedthrough B_v and B_sigma are B, and `P_v`, `P_sigma` are P.
    """

    M: Matrix
    D: Matrix
    L: Matrix
    C: Matrix
    G: Matrix
    B_v: Matrix
    B_sigma: Matrix
    B_lam: Matrix
    P_v: Matrix
    P_sigma: Matrix

    @classmethod
    def from_system(cls, system: LinearPHDAE, *, damped: bool = True) -> SecondOrder:
        """The second-order form of a system; with `damped=False` without R.

        Raises InputError if E couples velocities with stresses, or if stresses are damped, coupled with each other or in joints.
        """
        linear_only(system, feedthrough=True)
        n, E, J, R = system.split, system.E, system.J, system.R
        if n < 0:
            raise InputError(
                "the rows must be in the order (v | σ); construct the system with split=(number of velocities)"
            )
        if not system.separable:
            raise InputError(
                "velocities and stresses share mass, or stresses are damped, jointed or coupled with each other; "
                "eliminate(system, massless=True) leaves out those that store no energy"
            )
        D = R[:n, :n] - J[:n, :n] if damped else -J[:n, :n]
        blocks = (E[:n, :n], D, -J[:n, n:], E[n:, n:], system.G[:, :n], system.B[:n], system.B[n:], system.B_lam)
        return cls(*map(csr, (*blocks, system.P[:n], system.P[n:])))

    def on_free_motions(self) -> tuple[SecondOrder, Matrix, np.ndarray]:
        """The form in coordinates x of the motions that the joints allow, without joints, Z of v = Z x, and which v are x.

        The factor then has far less fill than that of the saddle. If Z is not sparse, as for a chain of rigid bodies, it is the
        identity, and the joints stay.
        """
        n = self.size
        Z, free = free_motions(self.G, self.M.diagonal())
        if Z.nnz > FULLER * (n + self.G.nnz):
            return self, csr(sp.eye_array(n)), np.arange(n)
        square = {name: csr(Z.T @ getattr(self, name) @ Z) for name in ("M", "D")}
        tall = {name: csr(Z.T @ getattr(self, name)) for name in ("L", "B_v", "P_v")}
        none = {"G": zero_matrix(0, Z.shape[1]), "B_lam": zero_matrix(0, self.B_lam.shape[1])}
        return replace(self, **square, **tall, **none), Z, free

    @cached_property
    def S(self) -> np.ndarray:
        """C⁻¹B_σ and C⁻¹P_σ, (stresses, inputs), for the inputs that act on stresses."""
        B = np.hstack([self.B_sigma.toarray(), self.P_sigma.toarray()])
        return self.from_strain(B[:, B.any(axis=0)])

    @cached_property
    def F(self) -> np.ndarray:
        """The forces of all inputs on the velocities, (velocities, inputs), then P_v, then −L S of those that act on stresses."""
        P = self.P_v[:, np.unique(self.P_v.indices)].toarray()  # (B − P) u and the adjoint (B + P) y
        return np.hstack([self.B_v.toarray(), P, -(self.L @ self.S)])

    @cached_property
    def drives(self) -> np.ndarray:
        """B_λ as a dense array: the joint velocities G v that driven ports prescribe."""
        return self.B_lam.toarray()

    @property
    def size(self) -> int:
        return self.M.shape[0]

    @cached_property
    def C_inverse(self) -> Matrix | None:
        """C⁻¹ if C has small blocks, otherwise None."""
        return block_inverse(self.C)

    @cached_property
    def M_inverse(self) -> Matrix | None:
        """M⁻¹ if velocities jump between cells and do not damp each other, otherwise None."""
        if self.D.nnz or max(map(len, components(self.M)), default=0) > LOCAL:
            return None
        return block_inverse(self.M)

    @cached_property
    def definite(self) -> bool:
        """Whether C > 0: every stress stores energy."""
        return negativity_defect(self.C) <= TOLERANCE and bool((self.C.diagonal() > 0.0).all())

    @cached_property
    def strain(self) -> Matrix:
        """Lᵀ, the strains of displacements."""
        return csr(self.L.T)

    def stress(self, V: np.ndarray) -> np.ndarray:
        """The stresses C⁻¹Lᵀ V of displacements V."""
        return self.from_strain(self.strain @ V)

    def from_strain(self, strain: np.ndarray) -> np.ndarray:
        """The stresses C⁻¹ · strain, column by column."""
        return np.asarray(self.C_inverse @ strain if self.C_inverse is not None else solve_real(self._factor, strain))

    @cached_property
    def _factor(self) -> spla.SuperLU:
        return spla.splu(self.C.tocsc())

    def stiffness(self, V: np.ndarray) -> np.ndarray:
        """The forces K V, computed through the strains."""
        return np.asarray(self.L @ self.stress(V))

    @cached_property
    def K(self) -> Matrix:
        """K = L C⁻¹Lᵀ; only if `C_inverse` exists."""
        assert self.C_inverse is not None
        return csr(self.L @ self.C_inverse @ self.L.T)

    @cached_property
    def stiff(self) -> np.ndarray:
        """An estimate of the diagonal of K, with the diagonal of C only, (velocities,)."""
        return np.asarray(self.L.multiply(self.L) @ (1.0 / np.abs(self.C.diagonal())))

    @cached_property
    def highest(self) -> float:
        """An estimate of the largest squared frequency."""
        return float((self.stiff / self.M.diagonal()).max(initial=0.0))

    def factor(self, s: complex, border: np.ndarray | None = None) -> Factor:
        """The factor of s²M + sD + K with the joints and the constraints borderᵀq = 0."""
        s = complex(s)
        a, b = (s * s, s) if s.imag else ((s * s).real, s.real)
        return Factor(self, a, b, border)


class Factor(SaddleFactor):
    """The factor of a M + b D + K with the joints and the constraints borderᵀq = 0; residuals are computed through the strains.

    If C⁻¹ is full, or with `mixed=True`, the stresses stay unknowns. If C⁻¹ is full, M is local to cells and nothing is joined, the
    velocities are eliminated instead: (C + Lᵀ(aM)⁻¹L) σ = Lᵀ(aM)⁻¹f (10⁴ rows in 0.2 s, where the saddle takes 7 s).
    """

    def __init__(
        self, model: SecondOrder, a: complex, b: complex, border: np.ndarray | None = None, *, mixed: bool = False
    ):
        self.model, self.a, self.b, self.strained = model, a, b, model.L.shape[1] > 0
        S, size = sp.csr_array(a * model.M + b * model.D), None
        full, joints = self.strained and model.C_inverse is None, model.G.shape[0] or border is not None
        self.M_inverse = model.M_inverse if full and not joints and model.highest < RANGE * abs(a) else None
        if self.M_inverse is not None:
            self.kind = "c" if np.iscomplexobj(a) else "f"
            self.row_scale, self.G, self.n = np.zeros(0), model.G, model.size
            definite = self.kind == "f" and a.real > 0.0
            compliance = model.C + model.L.T @ (self.M_inverse / a) @ model.L
            self.lu = definite_factor(compliance) if definite else symmetric_lu(compliance, PIVOT)
            return
        if self.strained and (mixed or model.C_inverse is None):
            # scaled by the diagonal alone, the stresses would be poor pivots: thirty times the fill for a disc of 12 cells
            size = np.concatenate([np.abs(S.diagonal()) + model.stiff, np.abs(model.C.diagonal())])
            S = sp.block_array([[S, model.L], [model.L.T, -model.C]], format="csr")
        elif self.strained:
            S = S + model.K
        super().__init__(S, model.G if border is None else stacked([[model.G], [border.T]]), size)

    def _solve_once(self, f: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x and λ without iterative refinement."""
        if self.M_inverse is None:
            return super()._solve_once(f, g)
        v, lu = self.M_inverse @ f / self.a, self.lu
        rhs = self.model.L.T @ v
        stress = lu.solve(rhs.astype(complex)) if self.kind == "c" else solve_real(lu, rhs)
        return v - self.M_inverse @ (self.model.L @ stress) / self.a, g

    def times(self, x: np.ndarray) -> np.ndarray:
        """(a M + b D + K) x."""
        out = self.a * (self.model.M @ x)
        if self.b and self.model.D.nnz:
            out = out + self.b * (self.model.D @ x)
        return np.asarray(out + self.model.stiffness(x) if self.strained else out)


def undamped(system: LinearPHDAE) -> LinearPHDAE:
    """The system without damping, feedthrough and gyroscopic forces."""
    n, stresses = system.split, system.rows.size - system.split
    J = stacked([[zero_matrix(n, n), system.J[:n, n:]], [system.J[n:, :n], zero_matrix(stresses, stresses)]])
    none = {name: zero_matrix(*getattr(system, name).shape) for name in ("R", "P", "S", "N")}
    return replace(system, **none, J=J)
