"""Families of a beam's deformation: axial, torsion, bending along y and along z, each with the stresses that feel it.

A family is a small elastic problem of its own: M v̈ + DᵀC⁻¹D v = f. Its lowest modes come from K⁻¹ applied as the saddle

    [−C  D] [σ]   [0]
    [Dᵀ  0] [v] = [f]

which squares nothing: with 1000 elements K⁻¹ alone would have no figures left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg as la
import scipy.sparse.linalg as spla

from phloat.algebra.sparse import Matrix, csr, stacked
from phloat.bodies.strain import Elastic
from phloat.errors import AccuracyError

# the stress resultants that belong together; in the order of the coordinates of a beam
RESULTANTS = {
    "axial": ("N",),
    "bending along y": ("M_z", "Q_y"),
    "bending along z": ("M_y", "Q_z"),
    "torsion": ("T",),
}
BENDING = ("bending along y", "bending along z")
SHORTENING = (*BENDING, "torsion")  # families whose fields shorten the beam to second order
AND = " and "  # between the names of families that are one
DEPENDENT = 1e-10  # what is left of a field of unit mass when the others are taken out
REPEATED = 1e-8  # of a frequency: equal ones
ALIKE = 1e-6  # of a size: equal ones
ITERATIONS, CONVERGED = 100, 1e-8


@dataclass(frozen=True, eq=False)
class Family:
    """M v̈ + DᵀC⁻¹D v = f for some coordinates (`columns` of the body) and their stresses (`rows`)."""

    columns: np.ndarray
    rows: np.ndarray
    M: Matrix
    C: Matrix
    C_inverse: Matrix
    D: Matrix

    @property
    def size(self) -> int:
        return len(self.columns)

    @cached_property
    def solve(self) -> Callable[[np.ndarray], np.ndarray]:
        """v = K⁻¹ f for columns f."""
        stresses = len(self.rows)
        factor = spla.splu(stacked([[-self.C, self.D], [self.D.T, None]]).tocsc())
        return lambda f: factor.solve(np.vstack([np.zeros((stresses, f.shape[1])), f]))[stresses:]

    def stress(self, V: np.ndarray) -> np.ndarray:
        """C⁻¹D V."""
        return self.C_inverse @ (self.D @ V)

    def orthonormal(self, V: np.ndarray) -> np.ndarray:
        """The span of V with VᵀMV = I; columns that follow from those before them are left out."""
        kept = np.zeros((self.size, 0))
        for v in V.T:
            v = v / np.sqrt(v @ (self.M @ v))
            first = v - kept @ (kept.T @ (self.M @ v))
            if (left := np.sqrt(first @ (self.M @ first))) > DEPENDENT:
                v = first / left
                v = v - kept @ (
                    kept.T @ (self.M @ v)
                )  # once more: what is left of nearly dependent fields is not yet clean
                kept = np.column_stack([kept, v / np.sqrt(v @ (self.M @ v))])
        return kept

    def ritz(self, V: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """In the span of V: fields v and stresses s with vᵀMv = I, sᵀCs = I, sᵀDv = diag(ω), ω ascending."""
        V = self.orthonormal(V)
        strain = self.D @ V
        root = la.cholesky(strain.T @ (self.C_inverse @ strain))  # RᵀR = VᵀKV, so that ω are the singular values of R
        _, omega, turn = la.svd(root)
        V = _parted((V @ turn.T)[:, ::-1], omega[::-1])
        V = V * np.sign(V[np.abs(V).argmax(axis=0), np.arange(V.shape[1])])
        omega = omega[::-1]
        return V, omega, self.stress(V) / omega

    def lowest(self, count: int) -> np.ndarray:
        """The lowest eigenmodes of (K, M), by subspace iteration v ← K⁻¹Mv: equal frequencies are no trouble to it."""
        if count == 0:
            return np.zeros((self.size, 0))
        V, omega, _ = self.ritz(np.random.default_rng(0).normal(size=(self.size, min(self.size, 2 * count + 8))))
        for _ in range(ITERATIONS):
            turned = self.solve(self.M @ V)
            miss = (turned * omega**2 - V)[:, :count]
            error = np.sqrt(np.einsum("ik,ik->k", miss, self.M @ miss).max())
            if error < CONVERGED:
                return V[:, :count]
            V, omega, _ = self.ritz(turned)
        raise AccuracyError(f"{count} modes are off by {error:.1e} after {ITERATIONS} iterations; ask for fewer")


def _parted(V: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """One choice of fields where several have the same ω, as those of two like halves: any mixture of them would do. The first has
    all of the place that moves most, the second all that is left elsewhere, and so on."""
    V = V.copy()
    for group in np.split(np.arange(len(omega)), np.flatnonzero(np.diff(omega) > REPEATED * omega[1:]) + 1):
        for k in group[:-1]:
            rest = V[:, k : group[-1] + 1]
            size = np.linalg.norm(rest, axis=1)
            most = int(np.argmax(size > (1.0 - ALIKE) * size.max()))
            turn = la.qr(rest[most][:, None])[0]
            V[:, k : group[-1] + 1] = rest @ turn
    return V


def families(elastic: Elastic, M: Matrix) -> dict[str, Family]:
    """The families that a body has, by name; empty where its stresses are not those of a beam."""
    out = {}
    for family, (rows, columns) in members(elastic).items():
        C, D = csr(elastic.C[rows][:, rows]), csr(elastic.D[rows][:, columns])
        inverse = csr(elastic.C_inverse[rows][:, rows])
        out[family] = Family(columns, rows, csr(M[columns][:, columns]), C, inverse, D)
    return out


def members(elastic: Elastic) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """For every family that a body has, which stresses and which coordinates belong to it.

    Families that share coordinates (axial and torsion of a pretwisted beam) or whose stresses are coupled (bending along y and z of
    turned sections) are one, by the names of both.
    """
    out: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for family, resultants in RESULTANTS.items():
        own = [n for n in elastic.stresses if n in resultants or family in n.split(AND)]
        rows = elastic.stresses.indices(own)
        columns = np.unique(csr(elastic.D[rows]).indices)
        for other, (theirs, places) in list(out.items()):
            if np.intersect1d(columns, places).size or elastic.C[rows][:, theirs].nnz:
                family, rows, columns = f"{other}{AND}{family}", np.union1d(theirs, rows), np.union1d(places, columns)
                del out[other]
        if columns.size:
            out[family] = rows, columns
    return out
