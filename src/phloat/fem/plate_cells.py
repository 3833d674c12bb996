"""Straight cells of plates: triangles, and rectangles with sides along the axes; both are affine images of a reference cell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from phloat.algebra.sparse import Matrix, csr
from phloat.errors import InputError
from phloat.fem.cells import rule
from phloat.fem.mesh import Mesh, point_text

ALIGNED = 1e-9  # of the size of a cell: sides this near to an axis are along it
BEYOND = 0.05  # of the size of a cell: how far a point may lie outside the straight cells, as on a curved rim
EDGES = {"triangle": [[0, 1], [1, 2], [2, 0]], "rectangle": [[0, 1], [1, 2], [2, 3], [3, 0]]}


class Points(NamedTuple):
    """Points in cells: the number of the cell and x, y (points, 2); weights of a quadrature rule, or ones."""

    cell: np.ndarray
    x: np.ndarray
    weight: np.ndarray


@dataclass(frozen=True, eq=False)
class PlateCells:
    """Vertices (vertices, 2), the corners of each cell (cells, 3 or 4), counterclockwise, and named boundaries by their edges."""

    kind: str
    vertices: np.ndarray
    corners: np.ndarray
    boundaries: dict[str, np.ndarray]

    @cached_property
    def edges(self) -> np.ndarray:
        """The distinct edges by their vertices, the lower number first, (edges, 2)."""
        return self._edges[0]

    @cached_property
    def cell_edges(self) -> np.ndarray:
        """The edges of each cell, in the order of EDGES."""
        return self._edges[1]

    @cached_property
    def _edges(self) -> tuple[np.ndarray, np.ndarray]:
        """The edges and the edges of each cell."""
        pairs = np.sort(self.corners[:, EDGES[self.kind]].reshape(-1, 2), axis=1)
        edges, number = np.unique(pairs, axis=0, return_inverse=True)
        return edges, number.reshape(len(self.corners), -1)

    @cached_property
    def outside(self) -> np.ndarray:
        """The numbers of the edges on the boundary."""
        return np.flatnonzero(np.bincount(self.cell_edges.ravel(), minlength=len(self.edges)) == 1)

    @cached_property
    def edge_cell(self) -> np.ndarray:
        """A cell of each edge; for inner edges the one with the higher number."""
        out = np.zeros(len(self.edges), dtype=int)
        out[self.cell_edges] = np.arange(len(self.corners))[:, None]
        return out

    def edges_on(self, name: str) -> np.ndarray:
        """The numbers of the edges of a named boundary."""
        named = np.sort(self.boundaries[name], axis=1)
        count = len(self.vertices)
        return np.searchsorted(self.edges[:, 0] * count + self.edges[:, 1], named[:, 0] * count + named[:, 1])

    @cached_property
    def tangents(self) -> np.ndarray:
        """Unit vectors along the edges, from the lower vertex to the higher."""
        edge_vectors = self.vertices[self.edges[:, 1]] - self.vertices[self.edges[:, 0]]
        return edge_vectors / np.linalg.norm(edge_vectors, axis=1)[:, None]

    @cached_property
    def normals(self) -> np.ndarray:
        """Unit vectors across the edges, to the right of the tangents."""
        return np.column_stack([self.tangents[:, 1], -self.tangents[:, 0]])

    @cached_property
    def jacobians(self) -> np.ndarray:
        """J of x = x_0 + J ξ, (cells, 2, 2), with ξ from the first corner towards the second and the last one."""
        x = self.vertices[self.corners]
        return np.stack([x[:, 1] - x[:, 0], x[:, -1] - x[:, 0]], axis=2)

    @cached_property
    def areas(self) -> np.ndarray:
        return np.linalg.det(self.jacobians) * (0.5 if self.kind == "triangle" else 1.0)

    @cached_property
    def centers(self) -> np.ndarray:
        return self.vertices[self.corners].mean(axis=1)

    @cached_property
    def extents(self) -> np.ndarray:
        """Half the sides of the box around each cell, (cells, 2)."""
        return 0.5 * np.ptp(self.vertices[self.corners], axis=1)

    def local(self, cell: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Reference coordinates ξ of points x in the given cells, (points, 2)."""
        return np.linalg.solve(self.jacobians[cell], (x - self.vertices[self.corners[cell, 0]])[:, :, None])[:, :, 0]

    def quadrature(self, points: int) -> Points:
        """Quadrature points, cell by cell: `points` along each side of a rectangle, or degree 2 (points − 1) on triangles."""
        xi, weight = plate_rule(self.kind, points)
        first = self.vertices[self.corners[:, 0]]
        x = first[:, None, :] + np.einsum("cij,qj->cqi", self.jacobians, xi)
        cell = np.repeat(np.arange(len(self.corners)), len(xi))
        return Points(cell, x.reshape(-1, 2), (self.areas[:, None] * weight).ravel())

    def edge_quadrature(self, edges: np.ndarray, points: int) -> Points:
        """Gauss points on the given edges, edge by edge, from the lower vertex to the higher."""
        s, weight = np.polynomial.legendre.leggauss(points)
        a, b = self.vertices[self.edges[edges, 0]], self.vertices[self.edges[edges, 1]]
        x = 0.5 * (a + b)[:, None, :] + 0.5 * s[None, :, None] * (b - a)[:, None, :]
        half = 0.5 * np.linalg.norm(b - a, axis=1)
        return Points(np.repeat(self.edge_cell[edges], points), x.reshape(-1, 2), np.outer(half, weight).ravel())

    def find(self, x: np.ndarray, beyond: float = BEYOND) -> Points:
        """The cells that hold the points. Raises InputError for a point outside by more than `beyond` of its nearest cell."""
        near = min(24, len(self.corners))
        candidates = self._tree.query(x, k=near)[1].reshape(len(x), near)
        cell, gap = self._deepest(x, candidates)
        for i in np.flatnonzero(gap > ALIGNED):
            cell[i], gap[i] = (a[0] for a in self._deepest(x[i : i + 1], np.arange(len(self.corners))[None, :]))
        if (gap > beyond).any():
            i = gap.argmax()
            distance = gap[i] * 2.0 * self.extents[cell[i]].max()
            raise InputError(
                f"the point ({x[i, 0]:g}, {x[i, 1]:g}) lies outside the plate, by about {distance:.2g}; the plate lies "
                f"between {point_text(self.vertices.min(axis=0))} and {point_text(self.vertices.max(axis=0))}"
            )
        return Points(cell, x, np.ones(len(x)))

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.centers)

    def _deepest(self, x: np.ndarray, candidates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For each point the candidate cell it lies deepest in, and its distance outside of that cell relative to the cell."""
        each = np.repeat(np.arange(len(x)), candidates.shape[1])
        xi = self.local(candidates.ravel(), x[each])
        beyond = xi.sum(axis=1) if self.kind == "triangle" else xi.max(axis=1)
        gap = np.maximum(-xi.min(axis=1), beyond - 1.0).reshape(candidates.shape)
        best = gap.argmin(axis=1)
        return np.take_along_axis(candidates, best[:, None], 1)[:, 0], np.take_along_axis(gap, best[:, None], 1)[:, 0]


def cell_rows(values: np.ndarray, columns: np.ndarray, size: int) -> Matrix:
    """The sparse matrix whose row i has values[i] in columns[i]; both are (points, k)."""
    count, k = columns.shape
    return csr(sp.csr_array((values.ravel(), columns.ravel(), k * np.arange(count + 1)), shape=(count, size)))


def cells_of(mesh: Mesh, kind: str) -> PlateCells:
    """The plate cells of a mesh, of kind "triangle" or "rectangle"; for triangles quadrilaterals are cut in two."""
    if mesh.kind not in ("triangle", "quadrilateral"):
        raise InputError(f"a plate needs triangles or quadrilaterals; this mesh has cells of kind {mesh.kind!r}")
    mesh = mesh.corners_only()
    vertices, corners = mesh.points[:, :2], mesh.cells
    if kind == "rectangle":
        if not are_rectangles(mesh):
            raise InputError("elements='bfs' need rectangles along x and y; use elements='argyris' on this mesh")
        corners = _from_lower_left(vertices, corners)
    elif mesh.kind == "quadrilateral":
        corners = _halved(vertices, corners)
    return PlateCells(kind, vertices, corners, {name: np.asarray(f) for name, f in mesh.boundaries.items()})


def are_rectangles(mesh: Mesh) -> bool:
    """Whether all cells are rectangles with sides along the axes."""
    if mesh.kind != "quadrilateral":
        return False
    x = mesh.points[mesh.cells[:, :4], :2]
    low, high = x.min(axis=1), x.max(axis=1)
    size = (high - low).max(axis=1)[:, None, None]
    return bool((np.minimum(x - low[:, None], high[:, None] - x) <= ALIGNED * size).all())


def _from_lower_left(vertices: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """The corners of rectangles, the lower left one first."""
    first = vertices[corners].sum(axis=2).argmin(axis=1)
    return np.take_along_axis(corners, (first[:, None] + np.arange(4)) % 4, axis=1)


def _halved(vertices: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Triangles from quadrilaterals cut along their shorter diagonal: all first halves, then all second ones."""
    diagonals = np.linalg.norm(vertices[corners[:, 2:]] - vertices[corners[:, :2]], axis=2)
    second_shorter = diagonals[:, 1] < diagonals[:, 0] * (1.0 - ALIGNED)
    rotated = np.where(second_shorter[:, None], corners[:, [1, 2, 3, 0]], corners)
    return np.concatenate([rotated[:, [0, 1, 2]], rotated[:, [0, 2, 3]]])


def plate_rule(kind: str, points: int) -> tuple[np.ndarray, np.ndarray]:
    """Quadrature points in the reference cell, (points, 2), and weights that add up to one."""
    if kind == "triangle":
        xi, weight = rule("triangle", 2 * (points - 1)) if points < 3 else _dunavant(2 * (points - 1))
        return xi, weight / weight.sum()
    s, weight = np.polynomial.legendre.leggauss(points)
    x, y = np.meshgrid(0.5 * (s + 1.0), 0.5 * (s + 1.0), indexing="ij")
    return np.column_stack([x.ravel(), y.ravel()]), np.outer(0.5 * weight, 0.5 * weight).ravel()


# degree: weight of the centre, (weight, a) of points a a 1−2a, (weight, a, b) of points a b 1−a−b; Dunavant (1985),
# Int. J. Numer. Meth. Eng. 21, 1129–1148
DUNAVANT: dict[int, tuple[list[float], list[list[float]], list[list[float]]]] = {
    4: ([], [[0.111690794839006, 0.445948490915965], [0.054975871827661, 0.091576213509771]], []),
    6: (
        [],
        [[0.0583931378631895, 0.249286745170910], [0.0254224531851035, 0.063089014491502]],
        [[0.0414255378091870, 0.636502499121399, 0.310352451033784]],
    ),
    10: (
        [0.045408995191377],
        [[0.0183629788782335, 0.485577633383657], [0.0226605297177640, 0.109481575485037]],
        [
            [0.0363789584227100, 0.550352941820999, 0.307939838764121],
            [0.0141636212655285, 0.728323904597411, 0.246672560639903],
            [0.0047108334818665, 0.923655933587501, 0.066803251012200],
        ],
    ),
}


def _dunavant(degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Dunavant's quadrature rule on the reference triangle: points (points, 2) and weights."""
    centre, threes, sixes = DUNAVANT[degree]
    w_3, a = np.array(threes).T
    w_6, p, m = np.array(sixes).reshape(-1, 3).T
    c, s, third = 1.0 - 2.0 * a, 1.0 - p - m, np.full(len(centre), 1.0 / 3.0)
    x = np.concatenate([third, a, c, a, p, m, s, s, m, p])
    y = np.concatenate([third, c, a, a, s, s, m, p, p, m])
    return np.column_stack([x, y]), np.concatenate([centre, np.tile(w_3, 3), np.tile(w_6, 6)])
