"""Shear strains of Mindlin plates in a reduced space, so that thin plates do not lock: γ = ∇w − Π β.

With w quadratic, β quadratic with the cubic bubble of each triangle, and Π the interpolation into Nédélec's space of second order
(tangential parts at two Gauss points of each edge, means over each triangle), ∇w lies in the space of γ: the element MITC7 of
Bathe, Brezzi and Fortin.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from phloat.algebra.sparse import Matrix, csr, weighted
from phloat.fem.plate_cells import EDGES, Cells, Points
from phloat.fem.plate_space import Space

EDGE = 2  # tangential parts on each edge
INSIDE = 3  # rule of degree 4 for the means: bubbles are cubic
ALL = 8


@dataclass(frozen=True, eq=False)
class Bubbled:
    """Continuous quadratics and 27 λ₁λ₂λ₃ in every triangle; unknowns are values at nodes, then heights of bubbles."""

    space: Space

    @property
    def size(self) -> int:
        return self.space.size + len(self.space.cells.corners)

    def at(self, points: Points, derivative: tuple[int, int] = (0, 0)) -> Matrix:
        cells, cell = self.space.cells, points.cell
        xi = cells.local(cell, points.x)
        a, b = xi.T
        c = 1.0 - a - b
        if derivative == (0, 0):
            value = 27.0 * a * b * c
        else:
            inverse = np.linalg.inv(cells.jacobians)[cell]  # rows: gradients of ξ
            slopes = np.column_stack([b * c - a * b, a * c - a * b])
            value = 27.0 * np.einsum("pi,pi->p", slopes, inverse[:, :, derivative.index(1)])
        bubbles = sp.csr_array((value, cell, np.arange(len(cell) + 1)), shape=(len(cell), len(cells.corners)))
        return csr(sp.hstack([self.space.at(points, derivative), bubbles]))


@dataclass(frozen=True, eq=False)
class Reduction:
    """Π, cell by cell."""

    cells: Cells
    rotations: Bubbled

    def _basis(self, cell: np.ndarray, x: np.ndarray) -> np.ndarray:
        """P1² and the two fields across x of second degree, in cell coordinates: (points, 2, 8)."""
        size = self.cells.extents[cell].max(axis=1)
        X, Y = ((x - self.cells.centers[cell]) / size[:, None]).T
        out = np.zeros((len(x), 2, ALL))
        out[:, 0, 0], out[:, 0, 1], out[:, 0, 2] = 1.0, X, Y
        out[:, 1, 3], out[:, 1, 4], out[:, 1, 5] = 1.0, X, Y
        out[:, 0, 6], out[:, 1, 6] = -X * Y, X * X
        out[:, 0, 7], out[:, 1, 7] = -Y * Y, X * Y
        return out

    @cached_property
    def _edges(self) -> tuple[Points, np.ndarray]:
        """The Gauss points of the edges of every cell in turn, and the tangents there."""
        edges = self.cells.cell_edges.ravel()
        points = self.cells.along(edges, EDGE)
        cell = np.repeat(np.arange(len(self.cells.corners)), EDGE * len(EDGES["triangle"]))
        return points._replace(cell=cell), np.repeat(self.cells.tangents[edges], EDGE, axis=0)

    @cached_property
    def coefficients(self) -> np.ndarray:
        """Of the functions dual to the unknowns: (cells, 8 of the basis, 8 unknowns)."""
        count = len(self.cells.corners)
        on, t = self._edges
        V = np.zeros((count, ALL, ALL))
        V[:, :6] = np.einsum("pi,pik->pk", t, self._basis(on.cell, on.x)).reshape(count, 6, ALL)
        inside = self.cells.quadrature(INSIDE)
        share = inside.weight / self.cells.areas[inside.cell]
        V[:, 6:] = (share[:, None, None] * self._basis(inside.cell, inside.x)).reshape(count, -1, 2, ALL).sum(axis=1)
        return np.linalg.inv(V)

    @cached_property
    def _unknowns(self) -> tuple[Matrix, Matrix]:
        """The eight unknowns of each cell of a field β, per unknown of β_x and of β_y."""
        count = len(self.cells.corners)
        on, t = self._edges
        edge_values = self.rotations.at(on)
        inside = self.cells.quadrature(INSIDE)
        share = inside.weight / self.cells.areas[inside.cell]
        mean = csr(sp.csr_array((share, (inside.cell, np.arange(len(share)))), shape=(count, len(share))))
        means = csr(mean @ self.rotations.at(inside))
        rows_on = (ALL * np.arange(count)[:, None] + np.arange(6)).ravel()
        out = []
        for c in range(2):
            both = sp.vstack([weighted(edge_values, t[:, c]), means]).tocoo()
            row = np.concatenate([rows_on, ALL * np.arange(count) + 6 + c])[both.row]
            out.append(csr(sp.coo_array((both.data, (row, both.col)), shape=(ALL * count, self.rotations.size))))
        return out[0], out[1]

    def at(self, points: Points) -> list[list[Matrix]]:
        """Π β at points: components x, y, each per unknown of β_x and of β_y."""
        values = np.einsum("pik,pkj->ipj", self._basis(points.cell, points.x), self.coefficients[points.cell])
        column = (ALL * points.cell[:, None] + np.arange(ALL)).ravel()
        start, shape = ALL * np.arange(len(points.cell) + 1), (len(points.cell), ALL * len(self.cells.corners))
        rows = [csr(sp.csr_array((v.ravel(), column, start), shape=shape)) for v in values]
        return [[csr(row @ unknown) for unknown in self._unknowns] for row in rows]
