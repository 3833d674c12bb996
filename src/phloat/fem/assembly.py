"""Stiffness and consistent mass of elastic cells, isoparametric: displacements and geometry share their shape functions.

K = ∫ εᵀA ε,   mass = ∫ρ φφ,   each a sum of small dense blocks over the cells
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from phloat.algebra.sparse import Matrix, csr
from phloat.errors import InputError
from phloat.fem import loops
from phloat.fem.mesh import Mesh
from phloat.fem.reference import Reference

VOIGT = {  # which two axes each strain belongs to
    2: ((0, 0), (1, 1), (0, 1)),
    3: ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)),
}
Groups: TypeAlias = Sequence[tuple[np.ndarray, np.ndarray]]  # (numbers of cells, what they have in common)


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a mesh with their shape functions: points (points, dim), node numbers (cells, nodes)."""

    reference: Reference
    points: np.ndarray
    nodes: np.ndarray

    @classmethod
    def of(cls, mesh: Mesh) -> Cells:
        points = np.ascontiguousarray(mesh.points[:, : mesh.dimension])
        return cls(Reference(mesh.kind, mesh.order), points, np.ascontiguousarray(mesh.cells, dtype=np.int64))

    @property
    def dim(self) -> int:
        return self.reference.dim

    def at(self, xi: np.ndarray) -> np.ndarray:
        """x at reference points, (cells, points, dim)."""
        return np.asarray(self.reference.values(xi) @ self.points[self.nodes])

    @cached_property
    def stress_weights(self) -> np.ndarray:
        """Volumes that belong to the stress points, (cells, points)."""
        return self._weights(*self.reference.stress_rule)

    @cached_property
    def mass_weights(self) -> np.ndarray:
        return self._weights(*self.reference.mass_rule)

    def _weights(self, xi: np.ndarray, weight: np.ndarray) -> np.ndarray:
        out = weight * self._mapped(xi, slopes=False)[0]
        if (bad := (out <= 0.0).any(axis=1)).any():
            centre = self.points[self.nodes[bad.argmax()]].mean(axis=0)
            raise InputError(
                f"{int(bad.sum())} of {len(bad)} cells are inside out or folded, the first near "
                f"({', '.join(f'{x:.4g}' for x in centre)}); mesh it again, or use order=1"
            )
        return np.asarray(out)

    @cached_property
    def slopes(self) -> np.ndarray:
        """∂φ/∂x at the stress points, (cells, points, nodes, dim)."""
        return self._mapped(self.reference.stress_rule[0], slopes=True)[1]

    def _mapped(self, xi: np.ndarray, slopes: bool) -> tuple[np.ndarray, np.ndarray]:
        count, n = self.nodes.shape
        det, slope = np.empty((count, len(xi))), np.empty((count if slopes else 0, len(xi), n, self.dim))
        loops.map_slopes(self.points, self.nodes, self.reference.slopes(xi), det, slope)
        return det, slope

    @cached_property
    def _pattern(self) -> tuple[np.ndarray, np.ndarray]:
        """Which nodes share a cell: start of each row, and its columns in order."""
        count, n = self.nodes.shape
        ones, start = np.ones(count * n, dtype=np.int8), np.arange(0, count * n + 1, n)
        touch = sp.csr_array((ones, self.nodes.ravel(), start), shape=(count, len(self.points)))
        pattern = (touch.T @ touch).tocsr()
        pattern.sort_indices()
        return pattern.indptr.astype(np.int64), pattern.indices.astype(np.int64)

    def mass(self, density: np.ndarray | float) -> Matrix:
        """∫ρ φφ, one number a pair of nodes; density at the points of the mass rule, (cells, points) or broadcast to that."""
        values = self.reference.values(self.reference.mass_rule[0])
        products = (values[:, :, None] * values[:, None, :]).reshape(len(values), -1)
        blocks = (self.mass_weights * density) @ products
        start, column = self._pattern
        out = np.zeros(len(column))
        loops.add_blocks(self.nodes, blocks.reshape(len(self.nodes), values.shape[1], -1), start, column, out)
        return csr(sp.csr_array((out, column, start), shape=(len(self.points), len(self.points))))

    def volumes(self) -> np.ndarray:
        """∫φ, one number a node."""
        part = self.mass_weights @ self.reference.values(self.reference.mass_rule[0])
        return np.bincount(self.nodes.ravel(), part.ravel(), minlength=len(self.points))

    def stiffness(self, groups: Groups, factor: np.ndarray | float = 1.0) -> Matrix:
        """∫εᵀA ε in coordinates (node, axis), A of each group of cells; the factor at stress points, as the weights."""
        start, column = self._pattern
        d = self.dim
        place = np.zeros((d, d), dtype=np.int64)
        for k, (a, b) in enumerate(VOIGT[d]):
            place[a, b] = place[b, a] = k
        out, weight = np.zeros((len(column), d, d)), self.stress_weights * factor
        for members, A in groups:
            A = np.ascontiguousarray(A, dtype=float)
            loops.add_stiffness(self.nodes, members, self.slopes, weight, A, place, start, column, out)
        K = sp.bsr_array((out, column, start), shape=(len(self.points) * d, len(self.points) * d)).tocsr()
        K.eliminate_zeros()  # in place: a copy of the largest matrix there is would be felt
        return csr(K)

    def derivatives(self) -> list[Matrix]:
        """∂/∂x_a of a field of nodal values at the stress points of all cells, (cells · points × nodes), for each axis a."""
        points, n = self.slopes.shape[1:3]
        rows = len(self.nodes) * points
        column, start = np.repeat(self.nodes, points, axis=0).ravel(), np.arange(0, rows * n + 1, n)
        shape = (rows, len(self.points))
        return [csr(sp.csr_array((self.slopes[..., a].ravel(), column, start), shape=shape)) for a in range(self.dim)]


def for_each_axis(a: Matrix, axes: int) -> Matrix:
    """The same matrix for every axis, in coordinates (node, axis): a ⊗ I."""
    n, length = a.shape[0], np.diff(a.indptr)
    row = np.repeat(np.arange(n), length)
    first = np.arange(a.nnz) + (axes - 1) * a.indptr[row]  # where an entry of the first axis goes
    data, column = np.empty(axes * a.nnz), np.empty(axes * a.nnz, dtype=a.indices.dtype)
    for axis in range(axes):
        there = first + axis * length[row]
        data[there], column[there] = a.data, axes * a.indices + axis
    start = np.concatenate([[0], np.cumsum(np.repeat(length, axes))])
    return csr(sp.csr_array((data, column, start), shape=(axes * n, axes * n)))
