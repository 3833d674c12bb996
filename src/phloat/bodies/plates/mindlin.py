"""Mindlin's plates: w quadratic, rotations θ quadratic with bubbles, shear strains in a reduced space.

u = u_m + θ × z e_z:   κ = (θ_y,x, −θ_x,y, θ_y,y − θ_x,x),   γ = (w_x + θ_y, w_y − θ_x)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from phloat.algebra.sparse import Matrix, csr, stacked, weighted
from phloat.bodies.plates.fields import PlateFields, Three, pad_columns
from phloat.fem.plate_cells import ALIGNED, EDGES, PlateCells, Points, cell_rows
from phloat.fem.plate_space import Space, lagrange_space, vanishing_unknowns, vertex_tangents

SHARE = 1e-6  # of a unit vector: a part this small is none


@dataclass(frozen=True, eq=False)
class Mindlin(PlateFields):
    """Coordinates (u_x, u_y where there is a membrane, w, θ); θ along x and y, or along and across a side that is along neither."""

    @cached_property
    def theta(self) -> Bubbled:
        return Bubbled(lagrange_space(self.cells, 2, "theta"))

    @cached_property
    def reduction(self) -> Reduction:
        return Reduction(self.cells, self.theta)

    @property
    def size(self) -> int:
        return super().size + 2 * self.theta.size

    @cached_property
    def tangents(self) -> np.ndarray:
        """The direction of the boundary at each node of θ, x inside: (nodes, 2)."""
        nodes, out = self.theta.space, np.tile([1.0, 0.0], (self.theta.size, 1))
        at_vertices, _ = vertex_tangents(self.cells, self.first)
        on = np.flatnonzero(nodes.vertex >= 0)
        out[on] = at_vertices[nodes.vertex[on]]
        on = np.flatnonzero(np.isin(nodes.edge, self.cells.outside))
        out[on] = self.cells.tangents[nodes.edge[on]]
        return out

    @cached_property
    def axes(self) -> np.ndarray:
        """The first axis of θ at each node: the tangent, or x where that is along an axis."""
        along = np.abs(self.tangents).min(axis=1) <= ALIGNED
        return np.where(along[:, None], np.array([[1.0, 0.0]]), self.tangents)

    @cached_property
    def _turning(self) -> Matrix:
        """θ_x and θ_y at the nodes from the components along the axes there."""
        c, s = (csr(sp.diags_array(a)) for a in self.axes.T)
        return stacked([[c, -s], [s, c]])

    @property
    def kinds(self) -> np.ndarray:
        plain = self.axes[:, 0] == 1.0
        theta = [np.where(plain, a, b) for a, b in (("theta_x", "theta_t"), ("theta_y", "theta_n"))]
        return np.concatenate([super().kinds, *theta])

    @cached_property
    def rigid(self) -> np.ndarray:
        theta, nodes = np.zeros((2 * self.theta.size, 6)), self.theta.space.size
        theta[:nodes, 3] = 1.0
        theta[self.theta.size : self.theta.size + nodes, 4] = 1.0
        return np.vstack([super().rigid, self._turning.T @ theta])

    def _theta(self, x: Matrix | None, y: Matrix | None) -> Matrix:
        """A matrix that multiplies (θ_x, θ_y) as one that multiplies the coordinates."""
        some = x if x is not None else y
        assert some is not None
        both = sp.hstack([0.0 * some if x is None else x, 0.0 * some if y is None else y])
        return pad_columns(csr(csr(both) @ self._turning), self.membrane.size + self.w.size, self.size)

    def turn(self, points: Points) -> Three:
        theta = self.theta.at(points)
        return self._theta(theta, None), self._theta(None, theta), self.membrane.turn(points, self.size)

    def strains(self, name: str, points: Points) -> list[Matrix]:
        if name == "N":
            return super().strains(name, points)
        if name == "M":
            along_x, along_y = self.theta.at(points, (1, 0)), self.theta.at(points, (0, 1))
            return [self._theta(None, along_x), self._theta(csr(-along_y), None), self._theta(csr(-along_x), along_y)]
        # β = (−θ_y, θ_x)
        (x_of_x, x_of_y), (y_of_x, y_of_y) = self.reduction.at(points)
        gamma_x = self.of_w(points, 1, 0) - self._theta(x_of_y, csr(-x_of_x))
        return [csr(gamma_x), csr(self.of_w(points, 0, 1) - self._theta(y_of_y, csr(-y_of_x)))]

    def held(self, edges: np.ndarray, how: str) -> np.ndarray:
        """Clamped: w and θ; supported: w and, if hard, θ across the side; symmetric: θ along it."""
        turns = self.membrane.size + self.w.size + self._held_turns(edges, how)
        return np.concatenate([super().held(edges, how), turns])

    def _held_turns(self, edges: np.ndarray, how: str) -> np.ndarray:
        nodes, n = self.theta.space, self.theta.size
        if how == "supported" and not self.hard:
            return np.zeros(0, dtype=int)
        if how == "clamped":
            on = vanishing_unknowns(nodes, edges, self.first, value=True, slope=False)
            return np.concatenate([on, n + on])
        _, turn = vertex_tangents(self.cells, self.first)
        out = []
        for edge in edges:
            # inside the chords of a curve θ is left alone: held there too, it could not change along the curve in a thin plate
            curves = how == "supported"
            for node in vanishing_unknowns(nodes, np.array([edge]), self.first, value=True, slope=False, curves=curves):
                corner = nodes.vertex[node] >= 0 and turn[nodes.vertex[node]] < 0
                t = self.cells.tangents[edge] if corner else self.tangents[node]
                direction = np.array([t[1], -t[0]]) if how == "supported" else t
                a = self.axes[node]
                share = np.abs([direction @ a, direction @ np.array([-a[1], a[0]])])
                out += [node + k * n for k in range(2) if share[k] > SHARE]
        return np.unique(np.array(out, dtype=int))


# --- shear ------------------------------------------------------------------------------------------------------------
#
# Shear strains of Mindlin plates in a reduced space, so that thin plates do not lock: γ = ∇w − Π β.
#
# With w quadratic, β quadratic with the cubic bubble of each triangle, and Π the interpolation into Nédélec's space of second order
# (tangential parts at two Gauss points of each edge, means over each triangle), ∇w lies in the space of γ: the element MITC7 of
# Bathe, Brezzi and Fortin.


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
        bubbles = cell_rows(value, cell[:, None], len(cells.corners))
        return csr(sp.hstack([self.space.at(points, derivative), bubbles]))


@dataclass(frozen=True, eq=False)
class Reduction:
    """Π, cell by cell."""

    cells: PlateCells
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
        column = ALL * points.cell[:, None] + np.arange(ALL)
        rows = [cell_rows(v, column, ALL * len(self.cells.corners)) for v in values]
        return [[csr(row @ unknown) for unknown in self._unknowns] for row in rows]
