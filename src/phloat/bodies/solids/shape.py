"""Fields of an elastic body at points of its mesh, and the cell or facet that holds a point."""

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
    """Displacements of nodes along each axis, coordinates (node, axis), and stresses at points of the cells.

    Places are points (points, 3) in body axes; at a face between cells the fields are those of one of them. `whole` (cells, 6, 3)
    makes all six stresses of those in the plane, for sheets.
    """

    nodes: np.ndarray
    cells: ElasticCells
    stresses: tuple[str, ...]
    whole: np.ndarray | None = None

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
        """½ curl u."""
        cell, xi = self._find(s)
        nodes = self.cells.nodes[cell]
        local = self.cells.reference.slopes(xi)
        J = np.einsum("pna,pnb->pab", self.cells.points[nodes], local)
        slope = local @ np.linalg.inv(J)
        turns = [(0, 1, 2), (1, 2, 0), (2, 0, 1)] if self.cells.dim == 3 else [(2, 0, 1)]
        parts = [(c, b, 0.5 * slope[..., a]) for c, a, b in turns] + [(c, a, -0.5 * slope[..., b]) for c, a, b in turns]
        return self._rows(parts, nodes, len(s))

    def stress(self, s: np.ndarray) -> dict[str, Matrix]:
        """The polynomial through the stress points of the cell that holds each point."""
        return {name: self._stress(s, np.eye(len(self.stresses))[k : k + 1]) for k, name in enumerate(self.stresses)}

    def cauchy(self, x: np.ndarray) -> Matrix:
        """Rows xx, yy, zz, yz, xz, xy of each point: of a sheet also what holds it in plane strain."""
        return self._stress(x, np.eye(6) if self.whole is None else self.whole)

    def stress_points(self) -> np.ndarray:
        return self._stress_points

    @cached_property
    def _stress_points(self) -> np.ndarray:
        x = self.cells.at(self.cells.reference.stress_rule[0]).reshape(-1, self.cells.dim)
        return np.pad(x, ((0, 0), (0, 3 - self.cells.dim)))

    def _stress(self, s: np.ndarray, mix: np.ndarray) -> Matrix:
        """Rows of mixed stresses for each place: mix (rows, stresses), or one for each cell."""
        cell, xi = self._find(s)
        value = self.cells.reference.from_stress_points(xi)
        each, (rows, names) = value.shape[1], mix.shape[-2:]
        parts = np.broadcast_to(mix, (len(self.cells.nodes), rows, names))[cell]
        data = np.einsum("prk,pj->prkj", parts, value)
        of = len(self.cells.nodes) * each
        column = np.arange(names)[:, None] * of + (cell[:, None, None] * each + np.arange(each))
        row = np.arange(len(s) * rows).reshape(len(s), rows, 1, 1)
        row, column = (np.broadcast_to(a, data.shape) for a in (row, column[:, None]))
        return _entries(data.ravel(), row.ravel(), column.ravel(), (len(s) * rows, names * of))

    def _rows(self, parts: list[tuple[int, int, np.ndarray]], nodes: np.ndarray, count: int) -> Matrix:
        """Sums of value · u_b in row (place, c), for parts (c, b, value)."""
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
        """A cell of every node, and the node's place in it."""
        count, n = self.cells.nodes.shape
        last = np.zeros(len(self.nodes), dtype=int)
        last[self.cells.nodes.ravel()] = np.arange(count * n)
        return last // n, self.cells.reference.nodes[last % n]

    def _find(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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
    return csr(sp.coo_array((values, (rows, columns)), shape=shape))


# --- which cell holds a point, and where in the cell: x(ξ) = x --------------------------------------------------------


INSIDE = 1e-9  # of a cell
NEAR = 1e-6  # of the body: closer than this a point outside is taken as one of its surface
NEWTON = 25
FIRST = 8  # cells whose centres are nearest, tried before all that reach as far


class Locator:
    """Finds points in cells: the nearest centres first, then every cell that reaches as far."""

    def __init__(self, cells: ElasticCells):
        self.cells = cells

    @cached_property
    def _centres(self) -> tuple[cKDTree, float]:
        x = self.cells.points[self.cells.nodes]
        centre = x.mean(axis=1)
        return cKDTree(centre), 1.5 * float(np.linalg.norm(x - centre[:, None], axis=2).max())

    def find(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the cells and reference points, for points (points, dim)."""
        tree, reach = self._centres
        count = len(self.cells.nodes)
        near = np.atleast_2d(tree.query(x, k=min(FIRST, count))[1]).reshape(len(x), -1)
        found, xi, off = np.zeros(len(x), dtype=int), np.zeros(x.shape), np.full(len(x), np.inf)
        for k in range(near.shape[1]):
            open_ = np.flatnonzero(off > INSIDE)
            place, beyond = self._inverted(x[open_], near[open_, k])
            better = beyond < off[open_]
            to = open_[better]
            found[to], xi[to], off[to] = near[to, k], place[better], beyond[better]
        for i in np.flatnonzero(off > INSIDE):
            others = np.setdiff1d(np.array(tree.query_ball_point(x[i], reach), dtype=int), near[i])
            places, beyond = self._inverted(np.repeat(x[i : i + 1], len(others), axis=0), others)
            if len(others) and beyond.min() < off[i]:
                best = beyond.argmin()
                found[i], xi[i], off[i] = others[best], places[best], beyond[best]
            if off[i] > INSIDE:
                self._refuse_far(x[i], np.append(near[i], others))
        return found, xi

    def _inverted(self, x: np.ndarray, cell: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """ξ with x(ξ) = x by Newton's method, and how far outside of the cell it is."""
        reference, corners = self.cells.reference, self.cells.points[self.cells.nodes[cell]]
        xi = np.repeat(reference.nodes.mean(axis=0)[None], len(x), axis=0)
        for _ in range(NEWTON if len(x) else 0):
            gap = x - np.einsum("pn,pna->pa", reference.values(xi), corners)
            J = np.einsum("pna,pnb->pab", corners, reference.slopes(xi))
            step = np.linalg.solve(J, gap[..., None])[..., 0]
            new = np.clip(xi + step, -1.0, 2.0)  # a point far outside need not be found exactly
            moved, xi = float(np.abs(new - xi).max()), new
            if moved < 1e-13:
                break
        return xi, reference.outside(xi)

    def _refuse_far(self, x: np.ndarray, cells: np.ndarray) -> None:
        """Raises InputError unless the point is as good as on the surface."""
        xi, _ = self._inverted(np.repeat(x[None], len(cells), axis=0), cells)
        inside = np.clip(xi, 0.0, 1.0)
        if self.cells.reference.outside(np.full((1, x.size), 0.5))[0] > 0:  # a simplex
            inside /= np.maximum(inside.sum(axis=1, keepdims=True), 1.0)
        values = self.cells.reference.values(inside)
        nearest = np.einsum("pn,pna->pa", values, self.cells.points[self.cells.nodes[cells]])
        apart = np.linalg.norm(nearest - x, axis=1)
        size = float(np.linalg.norm(np.ptp(self.cells.points, axis=0)))
        if apart.min() > NEAR * size:
            near = point_text(nearest[apart.argmin()])
            raise InputError(
                f"the point {point_text(x)} is {apart.min():.3g} m outside the body; its nearest point is about {near}"
            )


# --- discs on the surface --------------------------------------------------------------------------------------------
#
# Discs on the surface of a solid: points of a plane disc, moved along its normal onto the facets.


ON_FACET = 20  # steps of Newton's method
CANDIDATES = 12  # facets whose middles are nearest
SAME_FACE = 0.5  # cosine: facets that turn further away belong to another face


@dataclass(frozen=True, eq=False)
class SolidSurface:
    """The whole boundary of a solid."""

    mesh: Mesh

    @cached_property
    def reference(self) -> Reference:
        return Reference(FACET[self.mesh.kind], self.mesh.order)

    @cached_property
    def nodes(self) -> np.ndarray:
        """All nodes of every facet, (facets, nodes)."""
        return self.mesh.facet_nodes_of(self.mesh.facets)

    @cached_property
    def middles(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of the facets: middles, unit normals out of the body, sizes (roots of areas)."""
        xi = self.reference.nodes.mean(axis=0)[None]
        x = self.mesh.points[self.nodes]
        across = np.cross(*np.einsum("nb,fna->bfa", self.reference.slopes(xi)[0], x))
        area = np.linalg.norm(across, axis=1)
        return np.einsum("n,fna->fa", self.reference.values(xi)[0], x), across / area[:, None], np.sqrt(area)

    @cached_property
    def tree(self) -> cKDTree:
        return cKDTree(self.middles[0])

    def along(self, x: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Facets that the lines x + s n meet: their numbers (−1 for none), reference points, s, and normals there.

        n is one direction for all lines, or one for each.
        """
        near = self.tree.query(x, k=min(CANDIDATES, len(self.nodes)))[1].reshape(len(x), -1)
        facet, xi = np.full(len(x), -1), np.zeros((len(x), 2))
        s, normal = np.full(len(x), np.inf), np.zeros((len(x), 3))
        n = np.broadcast_to(n, x.shape)
        for tried in near.T:
            place, far, across = self._met(x, n, tried)
            facing = np.einsum("pa,pa->p", across, n) > SAME_FACE
            better = facing & (self.reference.outside(place) <= INSIDE) & (np.abs(far) < np.abs(s))
            facet[better], xi[better], s[better], normal[better] = (a[better] for a in (tried, place, far, across))
        return facet, xi, s, normal

    def _met(self, x: np.ndarray, n: np.ndarray, facet: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Newton's method for x(ξ) − s n = x: ξ, s, and the unit normals of the facets there."""
        nodes = self.mesh.points[self.nodes[facet]]
        xi, s = np.repeat(self.reference.nodes.mean(axis=0)[None], len(x), axis=0), np.zeros(len(x))
        for k in range(ON_FACET):
            tangent = np.einsum("pnb,pna->pab", self.reference.slopes(xi), nodes)
            across = np.cross(tangent[:, :, 0], tangent[:, :, 1])
            if k == ON_FACET - 1:
                break
            gap = x + s[:, None] * n - np.einsum("pn,pna->pa", self.reference.values(xi), nodes)
            J = np.concatenate([tangent, -n[:, :, None]], axis=2)
            steep = np.abs(np.einsum("pa,pa->p", across, n)) < 1e-6 * np.linalg.norm(across, axis=1)
            J[steep], gap[steep] = np.eye(3), 0.0  # a facet along the line is not met
            step = np.linalg.solve(J, gap[:, :, None])[:, :, 0]
            xi, s = np.clip(xi + step[:, :2], -2.0, 3.0), s + step[:, 2]
            if np.abs(step[:, :2]).max(initial=0.0) < 1e-13:
                break
        return xi, s, across / np.linalg.norm(across, axis=1)[:, None]

    def disc(self, patch: Patch) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Points of a disc on the surface: nodes of their facets, values of the shape functions, places, weights (areas)."""
        at = np.array([patch.at])
        middles, normals, sizes = self.middles
        some = np.argsort(np.linalg.norm(middles - at, axis=1))[:CANDIDATES]
        found = [self.along(at, normals[f]) for f in some]
        best = min(found, key=lambda one: abs(float(one[2][0])))
        if not abs(float(best[2][0])) <= NEAR * self.mesh.size:
            where = ", ".join(f"{x:g}" for x in patch.at)
            raise InputError(
                f"the middle ({where}) of a Patch is off the surface; a facet near it is about {point_text(middles[some[0]])}"
            )
        n = best[3][0]
        offset, weight = patch.disc(float(sizes[best[0][0]]))
        e = np.linalg.svd(n[None])[2][1:]
        facet, xi, _, normal = self.along(at + offset @ e, n)
        if (facet < 0).any():
            raise disc_error(patch, "its face")
        values = self.reference.values(xi)
        x = np.einsum("pn,pna->pa", values, self.mesh.points[self.nodes[facet]])
        return self.nodes[facet], values, x, weight / (normal @ n)
