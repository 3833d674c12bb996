"""Fields of an elastic body at points of its mesh, and the search for the cell or facet that contains a point."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from phloat.algebra.sparse import Matrix, csr
from phloat.bodies.continua.mesh_body import Patch, disc_error
from phloat.bodies.shape import Shape
from phloat.errors import InputError
from phloat.fem.assembly import ElasticCells
from phloat.fem.cells import FACET, Reference
from phloat.fem.mesh import Mesh, point_text


@dataclass(frozen=True, eq=False)
class MeshShape(Shape):
    """The shape of a solid or sheet: coordinates are displacements (node, axis), stresses are those at points of the cells.

    Places are points (points, 3) in body axes; at a face between cells the fields are those of one of them. `six_stresses`
    (cells, 6, 3) gives all six stresses of a sheet from those in the plane.
    """

    nodes: np.ndarray
    cells: ElasticCells
    stresses: tuple[str, ...]
    six_stresses: np.ndarray | None = None

    @property
    def coordinates(self) -> int:
        return len(self.nodes) * self.cells.dim

    def places(self) -> np.ndarray:
        return self.nodes

    def displacement(self, s: np.ndarray) -> Matrix:
        rows = 3 * np.arange(len(s))
        if s is self.nodes:
            row = (rows[:, None] + np.arange(self.cells.dim)).ravel()
            return _entries(np.ones(len(row)), row, np.arange(len(row)), (3 * len(s), self.coordinates))
        cell, xi = self._find(s)
        nodes, value = self.cells.nodes[cell], self.cells.reference.values(xi)
        parts = [(a, a, value) for a in range(self.cells.dim)]
        return self._rows(parts, nodes, len(s))

    def rotation(self, s: np.ndarray) -> Matrix:
        """The rotation ½ curl u."""
        cell, xi = self._find(s)
        nodes = self.cells.nodes[cell]
        local = self.cells.reference.slopes(xi)
        J = np.einsum("pna,pnb->pab", self.cells.points[nodes], local)
        slope = local @ np.linalg.inv(J)
        axes = [(0, 1, 2), (1, 2, 0), (2, 0, 1)] if self.cells.dim == 3 else [(2, 0, 1)]
        parts = [(c, b, 0.5 * slope[..., a]) for c, a, b in axes] + [(c, a, -0.5 * slope[..., b]) for c, a, b in axes]
        return self._rows(parts, nodes, len(s))

    def stress(self, s: np.ndarray) -> dict[str, Matrix]:
        """Stresses extrapolated to the points by the polynomial through the stress points of each cell, by name."""
        return {name: self._stress(s, np.eye(len(self.stresses))[k : k + 1]) for k, name in enumerate(self.stresses)}

    def cauchy(self, x: np.ndarray) -> Matrix:
        """Cauchy stress, rows xx, yy, zz, yz, xz, xy of each point; for plane strain with the stress across the sheet."""
        return self._stress(x, np.eye(6) if self.six_stresses is None else self.six_stresses)

    def stress_points(self) -> np.ndarray:
        return self._stress_points

    @cached_property
    def _stress_points(self) -> np.ndarray:
        x = self.cells.positions(self.cells.reference.stress_rule[0]).reshape(-1, self.cells.dim)
        return np.pad(x, ((0, 0), (0, 3 - self.cells.dim)))

    def _stress(self, s: np.ndarray, mix: np.ndarray) -> Matrix:
        """Linear combinations of stresses at each place, (places · rows, stresses); `mix` is ([cells,] rows, stresses)."""
        cell, xi = self._find(s)
        value = self.cells.reference.from_stress_points(xi)
        each, (rows, names) = value.shape[1], mix.shape[-2:]
        parts = np.broadcast_to(mix, (len(self.cells.nodes), rows, names))[cell]
        data = np.einsum("prk,pj->prkj", parts, value)
        size = len(self.cells.nodes) * each
        column = np.arange(names)[:, None] * size + (cell[:, None, None] * each + np.arange(each))
        row = np.arange(len(s) * rows).reshape(len(s), rows, 1, 1)
        row, column = (np.broadcast_to(a, data.shape) for a in (row, column[:, None]))
        return _entries(data.ravel(), row.ravel(), column.ravel(), (len(s) * rows, names * size))

    def _rows(self, parts: list[tuple[int, int, np.ndarray]], nodes: np.ndarray, count: int) -> Matrix:
        """The matrix with the sum of value · u_b in row (place, c), for all parts (c, b, value)."""
        row = 3 * np.repeat(np.arange(count), nodes.shape[1])
        rows = np.concatenate([row + c for c, _, _ in parts])
        columns = np.concatenate([nodes.ravel() * self.cells.dim + b for _, b, _ in parts])
        values = np.concatenate([value.ravel() for _, _, value in parts])
        return _entries(values, rows, columns, (3 * count, self.coordinates))

    @cached_property
    def _locator(self) -> Locator:
        return Locator(self.cells)

    @cached_property
    def _owners(self) -> tuple[np.ndarray, np.ndarray]:
        """A cell of every node, and the reference coordinates of the node in it."""
        count, n = self.cells.nodes.shape
        last = np.zeros(len(self.nodes), dtype=int)
        last[self.cells.nodes.ravel()] = np.arange(count * n)
        return last // n, self.cells.reference.nodes[last % n]

    def _find(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Cells and reference coordinates of places. Raises InputError for points outside the body."""
        if s is self.nodes:
            return self._owners
        if s is self._stress_points:
            xi, count = self.cells.reference.stress_rule[0], len(self.cells.nodes)
            return np.repeat(np.arange(count), len(xi)), np.tile(xi, (count, 1))
        x = np.asarray(s, dtype=float)
        if x.ndim != 2 or x.shape[1] != 3 or not np.isfinite(x).all():
            raise InputError(f"places of a body on a mesh are points, (points, 3) numbers; these have shape {x.shape}")
        return self._locator.find(x[:, : self.cells.dim])


def _entries(values: np.ndarray, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> Matrix:
    """The sparse matrix of entries; repeated ones are added."""
    return csr(sp.coo_array((values, (rows, columns)), shape=shape))


# --- which cell contains a point, and its reference coordinates: x(ξ) = x ---------------------------------------------


INSIDE = 1e-9  # of a cell
NEAR = 1e-6  # of the body: a point outside nearer than this counts as one of the surface
NEWTON = 25
FIRST = 8  # number of cells with the nearest centres, tried before all others within reach


class Locator:
    """Finds the cells that contain points: first those with the nearest centres, then all within reach."""

    def __init__(self, cells: ElasticCells):
        self.cells = cells

    @cached_property
    def _centres(self) -> tuple[cKDTree, float]:
        """A tree of the centres of cells, and 1.5 times the largest radius of a cell."""
        x = self.cells.points[self.cells.nodes]
        centre = x.mean(axis=1)
        return cKDTree(centre), 1.5 * float(np.linalg.norm(x - centre[:, None], axis=2).max())

    def find(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Indices of the cells and reference coordinates of points x (points, dim). Raises InputError for a point outside."""
        tree, reach = self._centres
        count = len(self.cells.nodes)
        near = np.atleast_2d(tree.query(x, k=min(FIRST, count))[1]).reshape(len(x), -1)
        cell, xi, distance = np.zeros(len(x), dtype=int), np.zeros(x.shape), np.full(len(x), np.inf)
        for k in range(near.shape[1]):
            pending = np.flatnonzero(distance > INSIDE)
            xi_k, beyond = self._inverted(x[pending], near[pending, k])
            better = beyond < distance[pending]
            improved = pending[better]
            cell[improved], xi[improved], distance[improved] = near[improved, k], xi_k[better], beyond[better]
        for i in np.flatnonzero(distance > INSIDE):
            candidates = np.setdiff1d(np.array(tree.query_ball_point(x[i], reach), dtype=int), near[i])
            xi_all, beyond = self._inverted(np.repeat(x[i : i + 1], len(candidates), axis=0), candidates)
            if len(candidates) and beyond.min() < distance[i]:
                best = beyond.argmin()
                cell[i], xi[i], distance[i] = candidates[best], xi_all[best], beyond[best]
            if distance[i] > INSIDE:
                self._require_near(x[i], np.append(near[i], candidates))
        return cell, xi

    def _inverted(self, x: np.ndarray, cell: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """ξ with x(ξ) = x by Newton's method, and its distance from the reference cell."""
        reference, corners = self.cells.reference, self.cells.points[self.cells.nodes[cell]]
        xi = np.repeat(reference.nodes.mean(axis=0)[None], len(x), axis=0)
        for _ in range(NEWTON if len(x) else 0):
            gap = x - np.einsum("pn,pna->pa", reference.values(xi), corners)
            J = np.einsum("pna,pnb->pab", corners, reference.slopes(xi))
            step = np.linalg.solve(J, gap[..., None])[..., 0]
            new = np.clip(xi + step, -1.0, 2.0)  # a point far outside need not converge
            change, xi = float(np.abs(new - xi).max()), new
            if change < 1e-13:
                break
        return xi, reference.outside(xi)

    def _require_near(self, x: np.ndarray, cells: np.ndarray) -> None:
        """Raises InputError unless the point is on the surface of one of the cells within NEAR."""
        xi, _ = self._inverted(np.repeat(x[None], len(cells), axis=0), cells)
        inside = np.clip(xi, 0.0, 1.0)
        if self.cells.reference.outside(np.full((1, x.size), 0.5))[0] > 0:  # a simplex
            inside /= np.maximum(inside.sum(axis=1, keepdims=True), 1.0)
        values = self.cells.reference.values(inside)
        nearest = np.einsum("pn,pna->pa", values, self.cells.points[self.cells.nodes[cells]])
        distances = np.linalg.norm(nearest - x, axis=1)
        size = float(np.linalg.norm(np.ptp(self.cells.points, axis=0)))
        if distances.min() > NEAR * size:
            near = point_text(nearest[distances.argmin()])
            raise InputError(
                f"the point {point_text(x)} is {distances.min():.3g} m outside the body; its nearest point is about {near}"
            )


# --- discs on the surface --------------------------------------------------------------------------------------------
#
# Discs on the surface of a solid: points of a plane disc are projected along its normal onto the facets.


ON_FACET = 20  # steps of Newton's method
CANDIDATES = 12  # facets whose middles are nearest
SAME_FACE = 0.5  # cosine of the angle of normals: facets beyond it belong to another face


@dataclass(frozen=True, eq=False)
class SolidSurface:
    """The boundary of a solid."""

    mesh: Mesh

    @cached_property
    def reference(self) -> Reference:
        return Reference(FACET[self.mesh.kind], self.mesh.order)

    @cached_property
    def nodes(self) -> np.ndarray:
        """The nodes of every facet, (facets, nodes)."""
        return self.mesh.facet_nodes_of(self.mesh.facets)

    @cached_property
    def middles(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Middles of the facets, outward unit normals, and sizes (roots of areas)."""
        xi = self.reference.nodes.mean(axis=0)[None]
        x = self.mesh.points[self.nodes]
        normal = np.cross(*np.einsum("nb,fna->bfa", self.reference.slopes(xi)[0], x))
        area = np.linalg.norm(normal, axis=1)
        return np.einsum("n,fna->fa", self.reference.values(xi)[0], x), normal / area[:, None], np.sqrt(area)

    @cached_property
    def tree(self) -> cKDTree:
        return cKDTree(self.middles[0])

    def intersections(self, x: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The facets met by the lines x + s n: their numbers (−1 for none), reference coordinates, s, and unit normals.

        n is one direction for all lines, or one for each line.
        """
        near = self.tree.query(x, k=min(CANDIDATES, len(self.nodes)))[1].reshape(len(x), -1)
        facet, xi = np.full(len(x), -1), np.zeros((len(x), 2))
        s, normal = np.full(len(x), np.inf), np.zeros((len(x), 3))
        n = np.broadcast_to(n, x.shape)
        for trial in near.T:
            xi_t, s_t, n_t = self._intersect(x, n, trial)
            facing = np.einsum("pa,pa->p", n_t, n) > SAME_FACE
            better = facing & (self.reference.outside(xi_t) <= INSIDE) & (np.abs(s_t) < np.abs(s))
            facet[better], xi[better], s[better], normal[better] = (a[better] for a in (trial, xi_t, s_t, n_t))
        return facet, xi, s, normal

    def _intersect(self, x: np.ndarray, n: np.ndarray, facet: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """ξ, s and the unit normals of facets with x(ξ) = x + s n, by Newton's method."""
        nodes = self.mesh.points[self.nodes[facet]]
        xi, s = np.repeat(self.reference.nodes.mean(axis=0)[None], len(x), axis=0), np.zeros(len(x))
        for k in range(ON_FACET):
            tangent = np.einsum("pnb,pna->pab", self.reference.slopes(xi), nodes)
            normal = np.cross(tangent[:, :, 0], tangent[:, :, 1])
            if k == ON_FACET - 1:
                break
            gap = x + s[:, None] * n - np.einsum("pn,pna->pa", self.reference.values(xi), nodes)
            J = np.concatenate([tangent, -n[:, :, None]], axis=2)
            steep = np.abs(np.einsum("pa,pa->p", normal, n)) < 1e-6 * np.linalg.norm(normal, axis=1)
            J[steep], gap[steep] = np.eye(3), 0.0  # no step for a facet parallel to the line
            step = np.linalg.solve(J, gap[:, :, None])[:, :, 0]
            xi, s = np.clip(xi + step[:, :2], -2.0, 3.0), s + step[:, 2]
            if np.abs(step[:, :2]).max(initial=0.0) < 1e-13:
                break
        return xi, s, normal / np.linalg.norm(normal, axis=1)[:, None]

    def disc(self, patch: Patch) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Points of a disc on the surface: nodes of their facets, values of shape functions, points x, weights (areas)."""
        middle = np.array([patch.at])
        middles, normals, sizes = self.middles
        nearest = np.argsort(np.linalg.norm(middles - middle, axis=1))[:CANDIDATES]
        hits = [self.intersections(middle, normals[f]) for f in nearest]
        best = min(hits, key=lambda hit: abs(float(hit[2][0])))
        if not abs(float(best[2][0])) <= NEAR * self.mesh.size:
            text = ", ".join(f"{x:g}" for x in patch.at)
            raise InputError(
                f"the middle ({text}) of a Patch is off the surface; a facet near it is about {point_text(middles[nearest[0]])}"
            )
        n = best[3][0]
        offset, weight = patch.disc(float(sizes[best[0][0]]))
        e = np.linalg.svd(n[None])[2][1:]
        facet, xi, _, normal = self.intersections(middle + offset @ e, n)
        if (facet < 0).any():
            raise disc_error(patch, "its face")
        values = self.reference.values(xi)
        x = np.einsum("pn,pna->pa", values, self.mesh.points[self.nodes[facet]])
        return self.nodes[facet], values, x, weight / (normal @ n)
