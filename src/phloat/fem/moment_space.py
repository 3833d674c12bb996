"""Moments of plates with div Div M in L²: cubic in each triangle, the conforming element of Chen and Hu.

Unknowns are M at the vertices, M_nn at two points of each edge, h V_n at three points of each edge, V_n = n · Div M + ∂M_nt/∂t the
effective shear force and h the length of the edge, and six bubbles of each triangle, without moment and force on its boundary. The
work of moments on a deflection is then, by parts twice, with corner forces M_nt at the ends of edges,

    ∫ M : (−∇²w) = −∫ w div Div M + Σ_e ( ∫ V_n w − M_nn ∂w/∂n ds − [M_nt w] ).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from phloat.algebra.sparse import Matrix, csr, scattered
from phloat.fem.plate_cells import PlateCells
from phloat.fem.plate_space import monomials, triangular_exponents

CUBIC = triangular_exponents(3)
SLOPE_PLACES = (1.0 / 3.0, 2.0 / 3.0)  # of M_nn on an edge
FORCE_PLACES, FORCE_WEIGHTS = (
    (1.0 + a) / 2.0 if k == 0 else a / 2.0 for k, a in enumerate(np.polynomial.legendre.leggauss(3))
)
ENDS, INNER = 1.0 / 8.0, 3.0 / 8.0  # weights of Simpson's rule of degree 3 at the ends and at SLOPE_PLACES
ON_BOUNDARY, ALL = 24, 30  # unknowns of a triangle
RULE = 4  # of degree 6


def normal_normal(n: np.ndarray) -> np.ndarray:
    """The row of M_nn in (M_xx, M_yy, M_xy), (…, 3)."""
    return np.stack([n[..., 0] ** 2, n[..., 1] ** 2, 2.0 * n[..., 0] * n[..., 1]], axis=-1)


def normal_tangential(n: np.ndarray) -> np.ndarray:
    """The row of M_nt, t = n turned by +90°, (…, 3)."""
    return np.stack([-n[..., 0] * n[..., 1], n[..., 0] * n[..., 1], n[..., 0] ** 2 - n[..., 1] ** 2], axis=-1)


@dataclass(frozen=True, eq=False)
class RegularMoments:
    """The space on triangles; unknowns of vertices first, then M_nn and h V_n of edges, then bubbles."""

    cells: PlateCells

    @property
    def size(self) -> int:
        return 3 * len(self.cells.vertices) + 5 * len(self.cells.edges) + (ALL - ON_BOUNDARY) * len(self.cells.corners)

    def at_vertices(self, vertices: np.ndarray) -> np.ndarray:
        """The unknowns M_xx, M_yy, M_xy of vertices, (…, 3)."""
        return 3 * vertices[..., None] + np.arange(3)

    def slopes_of(self, edges: np.ndarray) -> np.ndarray:
        """The unknowns M_nn of edges, from the lower vertex to the higher, (…, 2)."""
        return 3 * len(self.cells.vertices) + 2 * edges[..., None] + np.arange(2)

    def forces_of(self, edges: np.ndarray) -> np.ndarray:
        """The unknowns h V_n of edges, likewise, (…, 3); n is `PlateCells.normals`."""
        return 3 * len(self.cells.vertices) + 2 * len(self.cells.edges) + 3 * edges[..., None] + np.arange(3)

    @cached_property
    def unknowns(self) -> np.ndarray:
        """The unknowns of every triangle, (cells, 30)."""
        cells, count = self.cells, len(self.cells.corners)
        groups = [self.at_vertices(cells.corners), self.slopes_of(cells.cell_edges), self.forces_of(cells.cell_edges)]
        first = 3 * len(cells.vertices) + 5 * len(cells.edges)
        bubbles = first + np.arange(count * (ALL - ON_BOUNDARY))
        return np.hstack([group.reshape(count, -1) for group in groups] + [bubbles.reshape(count, -1)])

    @cached_property
    def coefficients(self) -> np.ndarray:
        """The components xx, yy, xy of all basis functions in the monomials, (cells, 3, monomials, 30).

        Functions of the boundary unknowns are the smallest that have these values, bubbles an orthonormal basis of what is left.
        """
        rows = np.concatenate([*self._vertex_rows(), *self._edge_rows()], axis=1).reshape(-1, ON_BOUNDARY, ALL)
        bubbles = np.linalg.svd(rows)[2][:, ON_BOUNDARY:].transpose(0, 2, 1)
        return np.concatenate([np.linalg.pinv(rows), bubbles], axis=2).reshape(-1, 3, len(CUBIC), ALL)

    def _monomials(self, cell: np.ndarray, x: np.ndarray, i: int = 0, j: int = 0) -> np.ndarray:
        return monomials(self.cells, CUBIC, cell, x, i, j)

    def _vertex_rows(self) -> list[np.ndarray]:
        """The three values at each vertex, (cells, 3, 3, monomials)."""
        cell = np.arange(len(self.cells.corners))
        values = [self._monomials(cell, self.cells.vertices[self.cells.corners[:, k]]) for k in range(3)]
        return [np.eye(3)[None, :, :, None] * value[:, None, None] for value in values]

    def _edge_rows(self) -> list[np.ndarray]:
        """M_nn and then h V_n on each edge, (cells, places, 3, monomials)."""
        cells, cell = self.cells, np.arange(len(self.cells.corners))
        slopes, forces = [], []
        for k in range(3):
            edge = cells.cell_edges[:, k]
            n, (a, b) = cells.normals[edge], cells.vertices[cells.edges[edge]].transpose(1, 0, 2)
            values = [self._monomials(cell, a + s * (b - a)) for s in SLOPE_PLACES]
            slopes.append(np.stack([normal_normal(n)[:, :, None] * v[:, None] for v in values], axis=1))
            h = np.linalg.norm(b - a, axis=1)[:, None, None]
            forces.append(np.stack([h * self._force(cell, a + s * (b - a), n) for s in FORCE_PLACES], axis=1))
        return [*slopes, *forces]

    def _force(self, cell: np.ndarray, x: np.ndarray, n: np.ndarray) -> np.ndarray:
        """The rows of V_n at points, (points, 3, monomials)."""
        m_x, m_y = self._monomials(cell, x, 1, 0), self._monomials(cell, x, 0, 1)
        along = normal_tangential(n)[:, :, None] * (n[:, :1] * m_y - n[:, 1:] * m_x)[:, None]
        return along + np.stack([n[:, :1] * m_x, n[:, 1:] * m_y, n[:, :1] * m_y + n[:, 1:] * m_x], axis=1)

    def compliance(self, D: np.ndarray) -> Matrix:
        """∫ M : D⁻¹ M with bending stiffnesses D at the points of the rule RULE, (points, 3, 3)."""
        points, count = self.cells.quadrature(RULE), len(self.cells.corners)
        m = np.einsum(
            "cqi,caiu->cqau", self._monomials(points.cell, points.x).reshape(count, -1, len(CUBIC)), self.coefficients
        )
        S = (np.linalg.inv(D) * points.weight[:, None, None]).reshape(count, -1, 3, 3)
        block = np.einsum("cqau,cqab,cqbv->cuv", m, S, m, optimize=True)
        return scattered(0.5 * (block + block.transpose(0, 2, 1)), self.unknowns, self.unknowns, (self.size,) * 2)

    def divergence(self) -> Matrix:
        """∫ w div Div M for deflections linear in each triangle, numbered (triangle, corner): (deflections, unknowns).

        Such deflections have no curvature, so that this is the work at the edges of the triangle; bubbles do none.
        """
        cells, count = self.cells, len(self.cells.corners)
        inverse = np.linalg.inv(cells.jacobians)
        grad = np.concatenate([-inverse.sum(axis=1)[:, :, None], inverse.transpose(0, 2, 1)], axis=2)
        columns, out = np.arange(3 * count).reshape(count, 3), csr((self.size, 3 * count))
        for edges in cells.cell_edges.T:
            ends = cells.edges[edges]
            n = self.outward(edges, cells.centers)
            w = (ends[:, :, None] == cells.corners[:, None]).astype(float)
            out = out + self.edge_work(edges, n, w, grad, columns, 3 * count)
            out = out + self.end_work(edges, n, w, columns, 3 * count)
        return csr(out.T)

    def outward(self, edges: np.ndarray, inside: np.ndarray) -> np.ndarray:
        """The normals of edges that point away from points inside, (edges, 2)."""
        n, middle = self.cells.normals[edges], self.cells.vertices[self.cells.edges[edges]].mean(axis=1)
        return n * np.sign(np.einsum("ea,ea->e", n, middle - inside))[:, None]

    def edge_work(
        self, edges: np.ndarray, n: np.ndarray, w: np.ndarray, grad: np.ndarray, columns: np.ndarray, count: int
    ) -> Matrix:
        """∫ V_n w − M_nn ∂w/∂n ds of edges with normals n, for k linear fields each: w (edges, 2, k) at the ends, from the lower
        vertex to the higher, and ∇w (edges, 2, k). `columns` (edges, k) number the fields: (unknowns, count)."""
        a, b = self.cells.vertices[self.cells.edges[edges]].transpose(1, 0, 2)
        sign = np.einsum("ea,ea->e", n, self.cells.normals[edges])
        share = np.column_stack([1.0 - np.array(FORCE_PLACES), FORCE_PLACES]) * np.array(FORCE_WEIGHTS)[:, None]
        turn = -np.linalg.norm(b - a, axis=1)[:, None] * np.einsum("ea,eak->ek", n, grad)
        at_ends = ENDS * normal_normal(n)[:, :, None] * turn[:, None]
        values = [sign[:, None, None] * (share @ w), *[INNER * turn[:, None]] * 2, at_ends, at_ends]
        at_vertices = self.at_vertices(self.cells.edges[edges]).reshape(len(edges), 6)
        rows = [self.forces_of(edges), self.slopes_of(edges), at_vertices]
        return scattered(np.concatenate(values, axis=1), np.hstack(rows), columns, (self.size, count))

    def end_work(self, edges: np.ndarray, n: np.ndarray, w: np.ndarray, columns: np.ndarray, count: int) -> Matrix:
        """−[M_nt w] from the start to the end of edges, in the direction of n turned by +90°; arguments as in `edge_work`."""
        a, b = self.cells.vertices[self.cells.edges[edges]].transpose(1, 0, 2)
        along = np.sign(np.einsum("ea,ea->e", np.column_stack([-n[:, 1], n[:, 0]]), b - a))
        ends = np.array([1.0, -1.0]) * along[:, None]
        values = ends[:, :, None, None] * normal_tangential(n)[:, None, :, None] * w[:, :, None]
        rows = self.at_vertices(self.cells.edges[edges]).reshape(len(edges), 6)
        return scattered(values.reshape(len(edges), 6, -1), rows, columns, (self.size, count))

    def mass(self, density: np.ndarray) -> Matrix:
        """∫ ρh w w for the deflections of `divergence`, with ρh at the points of the rule RULE."""
        count = len(self.cells.corners)
        w = (self.cells.quadrature(RULE).weight * density).reshape(count, -1)
        block = np.einsum("cq,cqm,cqn->cmn", w, self._linear, self._linear)
        number = np.arange(3 * count).reshape(count, 3)
        return scattered(block, number, number, (3 * count,) * 2)

    @cached_property
    def _linear(self) -> np.ndarray:
        """The linear functions of the corners at the points of the rule, (cells, points, 3)."""
        points = self.cells.quadrature(RULE)
        xi = self.cells.local(points.cell, points.x)
        return np.column_stack([1.0 - xi.sum(axis=1), xi]).reshape(len(self.cells.corners), -1, 3)
