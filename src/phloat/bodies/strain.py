"""The elasticity of a floating body: stress states σ with C σ̇ = (∂ε/∂η) η̇ and the force −(∂ε/∂η)ᵀσ.

    ε(η) = D η + ½ Q η η,   Hdef = ½ σᵀC σ

The stress spaces contain the linear strains. The quadratic part is the membrane strain ½ (u_y'² + u_z'²), in its
element mean: a skew pair modulated by η, so H stays quadratic and geometric stiffening needs no further potential.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, block_inverse, csr, submatrix, zero_matrix
from phloat.errors import InputError

MOST_COUPLED = 3000  # stresses coupled by compliance up to which C is inverted


@dataclass(frozen=True, eq=False)
class Quadratic:
    """Q as a list of entries: each adds ½ · value · η_row · η_column to its strain; symmetric in row and column."""

    strain: np.ndarray
    row: np.ndarray
    column: np.ndarray
    value: np.ndarray

    def selected(self, keep: np.ndarray, strains: np.ndarray) -> Quadratic:
        """The entries of the coordinates and strains in two masks, renumbered."""
        mask = keep[self.row] & keep[self.column] & strains[self.strain]
        place, s_place = np.cumsum(keep) - 1, np.cumsum(strains) - 1
        return Quadratic(s_place[self.strain[mask]], place[self.row[mask]], place[self.column[mask]], self.value[mask])

    def projected(self, V_v: np.ndarray, V_sigma: np.ndarray) -> Quadratic:
        """V_σᵀ Q V_v V_v as a list of entries."""
        S, V_row, V_column = self.value[:, None] * V_sigma[self.strain], V_v[self.row], V_v[self.column]
        # reduced coordinates that strain, and reduced stresses that work on that
        used, stressed = (np.flatnonzero(part.any(axis=0)) for part in (V_row, S))
        dense = np.einsum("es,ek,el->skl", S[:, stressed], V_row[:, used], V_column[:, used], optimize=True)
        dense = 0.5 * (dense + dense.transpose(0, 2, 1))
        s, k, l = np.nonzero(dense)
        return Quadratic(stressed[s], used[k], used[l], dense[s, k, l])


def no_quadratic() -> Quadratic:
    """A quadratic part without entries."""
    none = np.zeros(0, dtype=np.int64)
    return Quadratic(none, none, none, np.zeros(0))


@dataclass(frozen=True, eq=False)
class Elastic:
    """Compliance C, linear strain map D, quadratic part Q, damping; `stresses` names the blocks of σ.

    Damping is a force `drag` η̇, and a stress (`time` C⁻¹ + `viscosity`) ε̇ with the quadratic part of ε included;
    a `viscosity` of None is zero.
    """

    C: Matrix
    D: Matrix
    Q: Quadratic
    drag: Matrix
    stresses: Layout
    time: float = 0.0
    viscosity: Matrix | None = None

    @cached_property
    def C_inverse(self) -> Matrix:
        """C⁻¹. Raises InputError if C couples too many stresses."""
        inverse = block_inverse(self.C, MOST_COUPLED)
        if inverse is None:
            raise InputError(
                f"the compliance of this body couples more than {MOST_COUPLED} stresses, and its inverse would be full; use fewer "
                "elements, or a beam with spaces='local'"
            )
        return inverse

    @cached_property
    def K(self) -> Matrix:
        """The stiffness of the undeformed body, DᵀC⁻¹D."""
        return csr(self.D.T @ self.C_inverse @ self.D)

    @property
    def damped(self) -> bool:
        """Whether there is any damping."""
        return bool(self.drag.nnz or self.time or self.viscosity is not None)

    @cached_property
    def viscous(self) -> Matrix:
        """Stress per strain rate: time · C⁻¹ + viscosity."""
        proportional = csr(self.time * self.C_inverse)
        return proportional if self.viscosity is None else csr(proportional + self.viscosity)

    @cached_property
    def R_d(self) -> Matrix:
        """Damping of the undeformed body, (n, n)."""
        out = csr(self.drag + self.time * self.K) if self.time else self.drag
        return out if self.viscosity is None else csr(out + self.D.T @ self.viscosity @ self.D)

    def damping(self, eta: np.ndarray) -> np.ndarray:
        """R_d(η) = drag + BᵀVB with B = D + Qη and V = `viscous`, (n, n)."""
        Q = self.Q
        if not (Q.value.size and eta.any() and (self.time or self.viscosity is not None)):
            return np.asarray(self.R_d.toarray())
        B = self.gradient(eta)
        return np.asarray(self.drag.toarray() + B.T @ (self.viscous @ B))

    @cached_property
    def _D(self) -> np.ndarray:
        return np.asarray(self.D.toarray())

    def gradient(self, eta: np.ndarray) -> np.ndarray:
        """∂ε/∂η = D + Q η, (strains, n)."""
        B, Q = self._D.copy(), self.Q
        np.add.at(B, (Q.strain, Q.row), Q.value * eta[Q.column])
        return B

    def stress(self, eta: np.ndarray) -> np.ndarray:
        """σ = C⁻¹ε(η) for η (…, n)."""
        Q = self.Q
        strain = (self.D @ eta.T).T
        np.add.at(strain.T, Q.strain, (0.5 * Q.value * eta[..., Q.row] * eta[..., Q.column]).T)
        return np.asarray((self.C_inverse @ strain.T).T)

    def selected(self, keep: np.ndarray, strains: np.ndarray) -> Elastic:
        """The elasticity in the coordinates and stresses of two masks."""
        names = {n: s for n, s in self.stresses.shapes.items() if strains[self.stresses[n]].all()}
        return Elastic(
            submatrix(self.C, strains, strains),
            submatrix(self.D, strains, keep),
            self.Q.selected(keep, strains),
            submatrix(self.drag, keep, keep),
            Layout(names, "stress"),
            self.time,
            None if self.viscosity is None else submatrix(self.viscosity, strains, strains),
        )

    def projected(self, V_v: Matrix, V_sigma: Matrix, stresses: Layout) -> Elastic:
        """In η = V_v η_r, σ = V_σ σ_r: V_σᵀCV_σ, V_σᵀDV_v, V_σᵀQV_vV_v, V_vᵀ drag V_v; a reduced strain is CV_σC_r⁻¹."""
        C, viscosity = csr(V_sigma.T @ self.C @ V_sigma), self.viscosity
        if viscosity is not None:
            strain = (self.C @ V_sigma).toarray() @ np.linalg.inv(C.toarray())
            viscosity = csr(strain.T @ (viscosity @ strain))
        return Elastic(
            C,
            csr(V_sigma.T @ self.D @ V_v),
            self.Q.projected(V_v.toarray(), V_sigma.toarray()),
            csr(V_v.T @ self.drag @ V_v),
            stresses,
            self.time,
            viscosity,
        )


@cache
def no_elastic() -> Elastic:
    """The elasticity of a rigid body: no coordinates and no stresses."""
    return Elastic(zero_matrix(0, 0), zero_matrix(0, 0), no_quadratic(), zero_matrix(0, 0), Layout({}, "stress"))
