"""Fields of plates as matrices that multiply the coordinates: u_x and u_y (with a membrane), w, and rotations.

Kirchhoff: u = u_m − z ∇w, so that the rotation is (w_y, −w_x, ½ curl u). Curvatures are κ = (−w_xx, −w_yy, −2 w_xy).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from phloat.algebra.sparse import Matrix, csr, stacked, weighted, zero_matrix
from phloat.errors import InputError
from phloat.fem.plate_cells import ALIGNED, EDGES, PlateCells, Points, cell_rows
from phloat.fem.plate_space import (
    Space,
    argyris_space,
    bfs_space,
    lagrange_space,
    morley_space,
    vanishing_unknowns,
    vertex_frames,
    vertex_tangents,
)

Three = tuple[Matrix, Matrix, Matrix]

# points of the rules (see PlateCells.quadrature) for mass, membrane, bending, shear
RULES = {"bfs": (4, 4, 3), "argyris": (6, 3, 4), "morley": (3, 2, 1), "hhj": (3, 2, 0), "mitc": (4, 2, 3, 3)}
MEMBRANE = {"bfs": 3, "argyris": 3, "morley": 2, "hhj": 2, "mitc": 2}  # degree of u_x and u_y


@dataclass(frozen=True, eq=False)
class Membrane:
    """u_x and u_y in one scalar space, unknowns of u_x first; without a membrane the space is None."""

    space: Space | None

    @property
    def size(self) -> int:
        return 0 if self.space is None else 2 * self.space.size

    @property
    def kinds(self) -> np.ndarray:
        return np.array(
            [] if self.space is None else ["u_x"] * self.space.size + ["u_y"] * self.space.size, dtype="<U8"
        )

    def component(self, axis: int, points: Points, derivative: tuple[int, int], columns: int) -> Matrix:
        """The matrix of u_x (axis 0) or u_y (1), or of a derivative, padded to (points, columns)."""
        if self.space is None:
            return zero_matrix(len(points.cell), columns)
        return pad_columns(self.space.evaluate(points, derivative), axis * self.space.size, columns)

    def strains(self, points: Points, columns: int) -> list[Matrix]:
        """Matrices of ε_xx, ε_yy, γ_xy, padded to (points, columns)."""
        u_x, u_y = ([self.component(a, points, d, columns) for d in ((1, 0), (0, 1))] for a in (0, 1))
        return [u_x[0], u_y[1], csr(u_x[1] + u_y[0])]

    def turn(self, points: Points, columns: int) -> Matrix:
        """The matrix of the rotation about z, ½ (u_y,x − u_x,y)."""
        return csr(0.5 * (self.component(1, points, (1, 0), columns) - self.component(0, points, (0, 1), columns)))

    def rigid(self) -> np.ndarray:
        """Unknowns of the six rigid motions, (unknowns, 6); only translations x, y and the rotation about z are nonzero."""
        out = np.zeros((self.size, 6))
        if self.space is not None:
            n = self.space.size
            out[:n, 0], out[n:, 1] = self.space.linear(1, 0, 0), self.space.linear(1, 0, 0)
            out[:n, 5], out[n:, 5] = self.space.linear(0, 0, -1), self.space.linear(0, 1, 0)
        return out

    def stretch_unknowns(self, G: np.ndarray, rest: int) -> np.ndarray:
        """The unknowns of u = G x in the plane, and zeros for the rest."""
        if self.space is None:
            return np.zeros(rest)
        return np.concatenate([*(self.space.linear(0, *G[a, :2]) for a in (0, 1)), np.zeros(rest)])

    def held_unknowns(self, edges: np.ndarray, first: np.ndarray, support: str) -> np.ndarray:
        """Unknowns that are zero on edges: if clamped both components, if symmetric the one across, if supported none."""
        if self.space is None or support == "supported" or not len(edges):
            return np.zeros(0, dtype=int)
        zero = vanishing_unknowns(self.space, edges, first, value=True, slope=False)
        if support == "clamped":
            return np.concatenate([zero, zero + self.space.size])
        out = []
        for edge in edges:
            normal = np.abs(self.space.cells.normals[edge])
            if normal.min() > ALIGNED:
                raise InputError("a plane of symmetry must be along x or y where the plate has a membrane")
            on_edge = vanishing_unknowns(self.space, np.array([edge]), first, value=True, slope=False)
            out.append(on_edge + int(normal.argmax()) * self.space.size)
        return np.concatenate(out)

    def unknowns_along(self, edges: np.ndarray, axes: object) -> np.ndarray:
        """The unknowns of the components named by `axes`, "x", "y" or "xy", on edges. Raises InputError for other axes."""
        assert self.space is not None
        if not isinstance(axes, str) or not axes or set(axes) - set("xy"):
            raise InputError(f"held is {axes!r} on a side of a plate; it must be 'x', 'y' or 'xy'; supported= holds z")
        zero = vanishing_unknowns(self.space, edges, edges, value=True, slope=False)
        return np.concatenate([zero + "xy".index(a) * self.space.size for a in sorted(set(axes))])


def pad_columns(a: Matrix, first: int, columns: int) -> Matrix:
    """The matrix padded with zero columns to `columns`, its own starting at `first`."""
    return csr(sp.hstack([zero_matrix(a.shape[0], first), a, zero_matrix(a.shape[0], columns - first - a.shape[1])]))


@dataclass(frozen=True, eq=False)
class PlateFields:
    """Coordinates of a plate: u_x and u_y if it has a membrane, then w, then those of its theory."""

    cells: PlateCells
    elements: str
    with_membrane: bool
    first: np.ndarray  # edges whose tangent is the axis of derivatives at corners
    hard: bool = True  # whether supports prevent rotation of Mindlin's sections along them

    @cached_property
    def w(self) -> Space:
        if self.elements == "bfs":
            return bfs_space(self.cells)
        if self.elements == "morley":
            return morley_space(self.cells)
        if self.elements == "argyris":
            return argyris_space(self.cells, vertex_frames(self.cells, self.first))
        return lagrange_space(self.cells, 2, "w")  # slopes are left to the moments, or to rotations

    @cached_property
    def membrane(self) -> Membrane:
        return Membrane(lagrange_space(self.cells, MEMBRANE[self.elements], "u") if self.with_membrane else None)

    @property
    def size(self) -> int:
        return self.membrane.size + self.w.size

    @property
    def kinds(self) -> np.ndarray:
        return np.concatenate([self.membrane.kinds, self.w.kinds])

    @property
    def rules(self) -> dict[str, int]:
        rules = dict(zip(("mass", "N", "M", "Q"), RULES[self.elements], strict=False))
        return {name: rule for name, rule in rules.items() if name != "N" or self.with_membrane}

    @cached_property
    def rigid(self) -> np.ndarray:
        out = np.zeros((self.w.size, 6))
        out[:, 2], out[:, 3], out[:, 4] = self.w.linear(1, 0, 0), self.w.linear(0, 0, 1), self.w.linear(0, -1, 0)
        return np.vstack([self.membrane.rigid(), out])

    def deflection(self, points: Points, i: int = 0, j: int = 0) -> Matrix:
        """The matrix of w or of its derivative ∂ⁱ⁺ʲw/∂xⁱ∂yʲ, (points, coordinates)."""
        return pad_columns(self.w.evaluate(points, (i, j)), self.membrane.size, self.size)

    def displacement(self, points: Points) -> Three:
        """Matrices of u_x, u_y, w on the middle plane, (points, coordinates)."""
        u_x, u_y = (self.membrane.component(a, points, (0, 0), self.size) for a in (0, 1))
        return u_x, u_y, self.deflection(points)

    def slopes(self, points: Points) -> tuple[Matrix, Matrix]:
        """Matrices of w_x and w_y, (points, coordinates)."""
        return self.deflection(points, 1, 0), self.deflection(points, 0, 1)

    def turn(self, points: Points) -> Three:
        """Matrices of the rotation of the sections about x, y, z, (points, coordinates)."""
        w_x, w_y = self.slopes(points)
        return w_y, csr(-w_x), self.membrane.turn(points, self.size)

    def strains(self, name: str, points: Points) -> list[Matrix]:
        """Matrices of the strains conjugate to a group of resultants, "N", "M" or "Q", (points, coordinates)."""
        if name == "N":
            return self.membrane.strains(points, self.size)
        return [csr(-f * self.deflection(points, i, j)) for f, i, j in ((1.0, 2, 0), (1.0, 0, 2), (2.0, 1, 1))]

    def held_coordinates(self, edges: np.ndarray, support: str) -> np.ndarray:
        """Coordinates that are zero on edges: if clamped w and its slope, if supported w, if symmetric the slope."""
        value, slope = support != "symmetric", support != "supported"
        w = vanishing_unknowns(self.w, edges, self.first, value=value, slope=slope, curves=support == "supported")
        return np.concatenate([self.membrane.held_unknowns(edges, self.first, support), self.membrane.size + w])

    def edge_coordinates(self, edges: np.ndarray) -> np.ndarray:
        """The coordinates that determine the motion of edges; not the second derivative across an edge, which is a moment."""
        return self.held_coordinates(edges, "clamped")


# --- Mindlin's plates -------------------------------------------------------------------------------------------------
#
# w is quadratic, rotations θ are quadratic with bubbles, shear strains are in a reduced space:
# u = u_m + θ × z e_z:   κ = (θ_y,x, −θ_x,y, θ_y,y − θ_x,x),   γ = (w_x + θ_y, w_y − θ_x)


SHARE = 1e-6  # of a unit vector: smaller components are zero


@dataclass(frozen=True, eq=False)
class Mindlin(PlateFields):
    """Coordinates (u_x and u_y with a membrane, w, θ); θ along x and y, or along and across a side that is oblique to both."""

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
        """The direction of the boundary at each node of θ, x for nodes inside: (nodes, 2)."""
        nodes, out = self.theta.space, np.tile([1.0, 0.0], (self.theta.size, 1))
        at_vertices, _ = vertex_tangents(self.cells, self.first)
        chosen = np.flatnonzero(nodes.vertex >= 0)
        out[chosen] = at_vertices[nodes.vertex[chosen]]
        chosen = np.flatnonzero(np.isin(nodes.edge, self.cells.outside))
        out[chosen] = self.cells.tangents[nodes.edge[chosen]]
        return out

    @cached_property
    def axes(self) -> np.ndarray:
        """The first axis of θ at each node, (nodes, 2): the tangent, or x if that is along x or y."""
        aligned = np.abs(self.tangents).min(axis=1) <= ALIGNED
        return np.where(aligned[:, None], np.array([[1.0, 0.0]]), self.tangents)

    @cached_property
    def _turning(self) -> Matrix:
        """The matrix from components of θ along `axes` to θ_x and θ_y at the nodes."""
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
        """The matrix of x θ_x + y θ_y in the coordinates; None is zero."""
        template = x if x is not None else y
        assert template is not None
        pair = sp.hstack([0.0 * template if x is None else x, 0.0 * template if y is None else y])
        return pad_columns(csr(csr(pair) @ self._turning), self.membrane.size + self.w.size, self.size)

    def turn(self, points: Points) -> Three:
        theta = self.theta.evaluate(points)
        return self._theta(theta, None), self._theta(None, theta), self.membrane.turn(points, self.size)

    def strains(self, name: str, points: Points) -> list[Matrix]:
        if name == "N":
            return super().strains(name, points)
        if name == "M":
            along_x, along_y = self.theta.evaluate(points, (1, 0)), self.theta.evaluate(points, (0, 1))
            return [self._theta(None, along_x), self._theta(csr(-along_y), None), self._theta(csr(-along_x), along_y)]
        # β = (−θ_y, θ_x)
        (x_of_x, x_of_y), (y_of_x, y_of_y) = self.reduction.evaluate(points)
        gamma_x = self.deflection(points, 1, 0) - self._theta(x_of_y, csr(-x_of_x))
        return [csr(gamma_x), csr(self.deflection(points, 0, 1) - self._theta(y_of_y, csr(-y_of_x)))]

    def held_coordinates(self, edges: np.ndarray, support: str) -> np.ndarray:
        """Coordinates that are zero on edges: if clamped w and θ, if supported w and (hard) θ across, if symmetric θ along."""
        turns = self.membrane.size + self.w.size + self._held_turns(edges, support)
        return np.concatenate([super().held_coordinates(edges, support), turns])

    def _held_turns(self, edges: np.ndarray, support: str) -> np.ndarray:
        """Unknowns of θ that are zero on edges."""
        nodes, n = self.theta.space, self.theta.size
        if support == "supported" and not self.hard:
            return np.zeros(0, dtype=int)
        if support == "clamped":
            on_edges = vanishing_unknowns(nodes, edges, self.first, value=True, slope=False)
            return np.concatenate([on_edges, n + on_edges])
        _, turn = vertex_tangents(self.cells, self.first)
        out = []
        for edge in edges:
            # inside the chords of a curve θ stays free: otherwise it could not vary along the curve in a thin plate
            curves = support == "supported"
            for node in vanishing_unknowns(nodes, np.array([edge]), self.first, value=True, slope=False, curves=curves):
                corner = nodes.vertex[node] >= 0 and turn[nodes.vertex[node]] < 0
                t = self.cells.tangents[edge] if corner else self.tangents[node]
                direction = np.array([t[1], -t[0]]) if support == "supported" else t
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


EDGE = 2  # tangential unknowns on each edge
INSIDE = 3  # rule of degree 4 for the means: bubbles are cubic
ALL = 8


@dataclass(frozen=True, eq=False)
class Bubbled:
    """Continuous quadratics and 27 λ₁λ₂λ₃ in every triangle; unknowns are values at nodes, then heights of bubbles."""

    space: Space

    @property
    def size(self) -> int:
        return self.space.size + len(self.space.cells.corners)

    def evaluate(self, points: Points, derivative: tuple[int, int] = (0, 0)) -> Matrix:
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
        return csr(sp.hstack([self.space.evaluate(points, derivative), bubbles]))


@dataclass(frozen=True, eq=False)
class Reduction:
    """The interpolation Π into the reduced space of shear strains, cell by cell."""

    cells: PlateCells
    rotations: Bubbled

    def _basis(self, cell: np.ndarray, x: np.ndarray) -> np.ndarray:
        """The basis of P1² and of the two quadratic fields perpendicular to x, in cell coordinates: (points, 2, 8)."""
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
        """The Gauss points on the edges of every cell in turn, and the unit tangents there."""
        edges = self.cells.cell_edges.ravel()
        points = self.cells.edge_quadrature(edges, EDGE)
        cell = np.repeat(np.arange(len(self.cells.corners)), EDGE * len(EDGES["triangle"]))
        return points._replace(cell=cell), np.repeat(self.cells.tangents[edges], EDGE, axis=0)

    @cached_property
    def coefficients(self) -> np.ndarray:
        """Coefficients of the functions dual to the unknowns: (cells, 8 basis functions, 8 unknowns)."""
        count = len(self.cells.corners)
        edge_points, t = self._edges
        V = np.zeros((count, ALL, ALL))
        V[:, :6] = np.einsum("pi,pik->pk", t, self._basis(edge_points.cell, edge_points.x)).reshape(count, 6, ALL)
        inside = self.cells.quadrature(INSIDE)
        share = inside.weight / self.cells.areas[inside.cell]
        V[:, 6:] = (share[:, None, None] * self._basis(inside.cell, inside.x)).reshape(count, -1, 2, ALL).sum(axis=1)
        return np.linalg.inv(V)

    @cached_property
    def _unknowns(self) -> tuple[Matrix, Matrix]:
        """The eight unknowns of Π β in each cell, as matrices that multiply the unknowns of β_x and of β_y."""
        count = len(self.cells.corners)
        edge_points, t = self._edges
        edge_values = self.rotations.evaluate(edge_points)
        inside = self.cells.quadrature(INSIDE)
        share = inside.weight / self.cells.areas[inside.cell]
        mean = csr(sp.csr_array((share, (inside.cell, np.arange(len(share)))), shape=(count, len(share))))
        means = csr(mean @ self.rotations.evaluate(inside))
        rows_on = (ALL * np.arange(count)[:, None] + np.arange(6)).ravel()
        out = []
        for c in range(2):
            entries = sp.vstack([weighted(edge_values, t[:, c]), means]).tocoo()
            row = np.concatenate([rows_on, ALL * np.arange(count) + 6 + c])[entries.row]
            out.append(csr(sp.coo_array((entries.data, (row, entries.col)), shape=(ALL * count, self.rotations.size))))
        return out[0], out[1]

    def evaluate(self, points: Points) -> list[list[Matrix]]:
        """Matrices of Π β at points: [component x or y][unknowns of β_x or of β_y]."""
        values = np.einsum("pik,pkj->ipj", self._basis(points.cell, points.x), self.coefficients[points.cell])
        column = ALL * points.cell[:, None] + np.arange(ALL)
        rows = [cell_rows(v, column, ALL * len(self.cells.corners)) for v in values]
        return [[csr(row @ unknown) for unknown in self._unknowns] for row in rows]
