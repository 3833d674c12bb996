"""Stiffness and consistent mass of elastic cells, isoparametric: displacements and geometry share their shape functions.

K = ∫ εᵀA ε,   mass = ∫ρ φφ,   each a sum of small dense blocks over the cells
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numba as nb
import numpy as np
import scipy.sparse as sp

from phloat.algebra.sparse import Matrix, csr
from phloat.errors import InputError
from phloat.fem.cells import Reference
from phloat.fem.mesh import Mesh

VOIGT = {  # which two axes each strain belongs to
    2: ((0, 0), (1, 1), (0, 1)),
    3: ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)),
}
Groups: TypeAlias = Sequence[tuple[np.ndarray, np.ndarray]]  # (numbers of cells, their elasticity matrix)


@dataclass(frozen=True, eq=False)
class ElasticCells:
    """The cells of a mesh with their shape functions: points (points, dim), node numbers (cells, nodes)."""

    reference: Reference
    points: np.ndarray
    nodes: np.ndarray

    @classmethod
    def from_mesh(cls, mesh: Mesh) -> ElasticCells:
        """The cells of a mesh."""
        points = np.ascontiguousarray(mesh.points[:, : mesh.dimension])
        return cls(Reference(mesh.kind, mesh.order), points, np.ascontiguousarray(mesh.cells, dtype=np.int64))

    @property
    def dim(self) -> int:
        return self.reference.dim

    def positions(self, xi: np.ndarray) -> np.ndarray:
        """The coordinates x of reference points xi in every cell, (cells, points, dim)."""
        return np.asarray(self.reference.values(xi) @ self.points[self.nodes])

    @cached_property
    def stress_weights(self) -> np.ndarray:
        """Quadrature weights times Jacobian determinants at the stress points, (cells, points)."""
        return self._weights(*self.reference.stress_rule)

    @cached_property
    def mass_weights(self) -> np.ndarray:
        """Quadrature weights times Jacobian determinants at the mass points, (cells, points)."""
        return self._weights(*self.reference.mass_rule)

    def _weights(self, xi: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Weights of a rule times Jacobian determinants, (cells, points). Raises InputError if one is not positive."""
        out = weight * self._mapped(xi, slopes=False)[0]
        if (folded := (out <= 0.0).any(axis=1)).any():
            centre = self.points[self.nodes[folded.argmax()]].mean(axis=0)
            raise InputError(
                f"{int(folded.sum())} of {len(folded)} cells are folded, the first near {centre}; mesh it again, or use order=1"
            )
        return np.asarray(out)

    @cached_property
    def slopes(self) -> np.ndarray:
        """Gradients ∂φ/∂x of the shape functions at the stress points, (cells, points, nodes, dim)."""
        return self._mapped(self.reference.stress_rule[0], slopes=True)[1]

    def _mapped(self, xi: np.ndarray, slopes: bool) -> tuple[np.ndarray, np.ndarray]:
        """Jacobian determinants (cells, points) and, if `slopes`, ∂φ/∂x (cells, points, nodes, dim) at points xi."""
        count, n = self.nodes.shape
        det, slope = np.empty((count, len(xi))), np.empty((count if slopes else 0, len(xi), n, self.dim))
        map_slopes(self.points, self.nodes, self.reference.slopes(xi), det, slope)
        return det, slope

    @cached_property
    def _pattern(self) -> tuple[np.ndarray, np.ndarray]:
        """The CSR pattern (start of each row, sorted columns) of pairs of nodes that share a cell."""
        count, n = self.nodes.shape
        ones, start = np.ones(count * n, dtype=np.int8), np.arange(0, count * n + 1, n)
        touch = sp.csr_array((ones, self.nodes.ravel(), start), shape=(count, len(self.points)))
        pattern = (touch.T @ touch).tocsr()
        pattern.sort_indices()
        return pattern.indptr.astype(np.int64), pattern.indices.astype(np.int64)

    def mass(self, density: np.ndarray | float) -> Matrix:
        """The consistent mass matrix ∫ρ φφ, (nodes, nodes); density at the mass points, (cells, points) or broadcast to that."""
        values = self.reference.values(self.reference.mass_rule[0])
        products = (values[:, :, None] * values[:, None, :]).reshape(len(values), -1)
        blocks = (self.mass_weights * density) @ products
        start, column = self._pattern
        out = np.zeros(len(column))
        add_blocks(self.nodes, blocks.reshape(len(self.nodes), values.shape[1], -1), start, column, out)
        return csr(sp.csr_array((out, column, start), shape=(len(self.points), len(self.points))))

    def volumes(self) -> np.ndarray:
        """The volume ∫φ of every node, (nodes,)."""
        part = self.mass_weights @ self.reference.values(self.reference.mass_rule[0])
        return np.bincount(self.nodes.ravel(), part.ravel(), minlength=len(self.points))

    def stiffness(self, groups: Groups, factor: np.ndarray | float = 1.0) -> Matrix:
        """The stiffness matrix ∫εᵀA ε in coordinates (node, axis), with A of each group of cells; `factor` scales the weights."""
        start, column = self._pattern
        d = self.dim
        place = np.zeros((d, d), dtype=np.int64)
        for k, (a, b) in enumerate(VOIGT[d]):
            place[a, b] = place[b, a] = k
        out, weight = np.zeros((len(column), d, d)), self.stress_weights * factor
        for members, A in groups:
            A = np.ascontiguousarray(A, dtype=float)
            add_stiffness(self.nodes, members, self.slopes, weight, A, place, start, column, out)
        K = sp.bsr_array((out, column, start), shape=(len(self.points) * d, len(self.points) * d)).tocsr()
        K.eliminate_zeros()  # in place: this is the largest matrix
        return csr(K)

    def derivatives(self) -> list[Matrix]:
        """For each axis a, the matrix of ∂/∂x_a of nodal values at all stress points, (cells · points, nodes)."""
        points, n = self.slopes.shape[1:3]
        rows = len(self.nodes) * points
        column, start = np.repeat(self.nodes, points, axis=0).ravel(), np.arange(0, rows * n + 1, n)
        shape = (rows, len(self.points))
        return [csr(sp.csr_array((self.slopes[..., a].ravel(), column, start), shape=shape)) for a in range(self.dim)]


# --- compiled loops ---------------------------------------------------------------------------------------------------
#
# The loops over cells, compiled: derivatives of shape functions, cell stiffness, and sums into the rows of a sparse matrix.
#
# Plain arrays in and out: points (points, d), nodes (cells, n), sparse patterns as (start, column) with sorted columns.


jit = nb.njit(cache=True, error_model="numpy")


@jit
def map_slopes(points: np.ndarray, nodes: np.ndarray, local: np.ndarray, det: np.ndarray, slope: np.ndarray) -> None:
    """Writes det ∂x/∂ξ (cells, q) and, unless `slope` is empty, ∂φ/∂x (cells, q, n, d); `local` is ∂φ/∂ξ (q, n, d)."""
    d, n = points.shape[1], nodes.shape[1]
    J, cof = np.zeros((d, d)), np.zeros((d, d))
    for c in range(nodes.shape[0]):
        for q in range(local.shape[0]):
            J[:] = 0.0
            for i in range(n):
                for a in range(d):
                    for b in range(d):
                        J[a, b] += points[nodes[c, i], a] * local[q, i, b]
            if d == 2:
                cof[0, 0], cof[0, 1], cof[1, 0], cof[1, 1] = J[1, 1], -J[1, 0], -J[0, 1], J[0, 0]
            else:
                for a in range(3):
                    e, f = (a + 1) % 3, (a + 2) % 3
                    for b in range(3):
                        g, h = (b + 1) % 3, (b + 2) % 3
                        cof[a, b] = J[e, g] * J[f, h] - J[e, h] * J[f, g]
            volume = 0.0
            for b in range(d):
                volume += J[0, b] * cof[0, b]
            det[c, q] = volume
            if slope.shape[0] > 0:
                for i in range(n):
                    for a in range(d):
                        total = 0.0
                        for b in range(d):
                            total += cof[a, b] * local[q, i, b]
                        slope[c, q, i, a] = total / volume


@jit
def add_stiffness(
    nodes: np.ndarray,
    members: np.ndarray,
    slope: np.ndarray,
    weight: np.ndarray,
    A: np.ndarray,
    place: np.ndarray,
    start: np.ndarray,
    column: np.ndarray,
    out: np.ndarray,
) -> None:
    """Adds Σ_q w Σ_ce ∂_cφ_i A[(a, c), (b, e)] ∂_eφ_j of the member cells to out[pair, a, b]; place[a, c] is Voigt's index."""
    n, d = nodes.shape[1], slope.shape[3]
    stress, block = np.zeros((d, n * d * d)), np.zeros((n, n * d * d))
    for c in members:
        block[:] = 0.0
        for q in range(slope.shape[1]):
            k_column = 0
            for j in range(n):  # stress of a motion of node j along b, tested with ∂_e of a motion along a
                for a in range(d):
                    for b in range(d):
                        for e in range(d):
                            total = 0.0
                            for f in range(d):
                                total += A[place[a, e], place[b, f]] * slope[c, q, j, f]
                            stress[e, k_column] = total * weight[c, q]
                        k_column += 1
            for i in range(n):
                for e in range(d):
                    s = slope[c, q, i, e]
                    for k in range(i * d * d, n * d * d):
                        block[i, k] += s * stress[e, k]
        for i in range(n):
            for j in range(i, n):
                upper = entry_position(start, column, nodes[c, i], nodes[c, j])
                if i == j:
                    for a in range(d):
                        for b in range(d):  # symmetric to the last bit
                            out[upper, a, b] += block[i, (i * d + min(a, b)) * d + max(a, b)]
                else:
                    lower = entry_position(start, column, nodes[c, j], nodes[c, i])
                    for a in range(d):
                        for b in range(d):
                            out[upper, a, b] += block[i, (j * d + a) * d + b]
                            out[lower, b, a] += block[i, (j * d + a) * d + b]


@jit
def add_blocks(nodes: np.ndarray, block: np.ndarray, start: np.ndarray, column: np.ndarray, out: np.ndarray) -> None:
    """Adds the cell matrices `block` (cells, n, n) to the entries out[pair of nodes]."""
    n = nodes.shape[1]
    for c in range(nodes.shape[0]):
        for i in range(n):
            for j in range(n):
                out[entry_position(start, column, nodes[c, i], nodes[c, j])] += block[c, i, j]


@jit
def entry_position(start: np.ndarray, column: np.ndarray, i: int, j: int) -> int:
    """The index of the stored entry (i, j) of a CSR matrix with sorted columns, by bisection."""
    low, high = start[i], start[i + 1] - 1
    while low < high:
        middle = (low + high) // 2
        if column[middle] < j:
            low = middle + 1
        else:
            high = middle
    return low
