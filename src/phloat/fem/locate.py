"""Which cell holds a point, and where in the cell: x(ξ) = x."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.spatial import cKDTree

from phloat.errors import InputError
from phloat.fem.assembly import ElasticCells

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
            self._try(x, np.flatnonzero(off > INSIDE), near[:, k], found, xi, off)
        for i in np.flatnonzero(off > INSIDE):
            others = np.setdiff1d(np.array(tree.query_ball_point(x[i], reach), dtype=int), near[i])
            places, beyond = self._inverted(np.repeat(x[i : i + 1], len(others), axis=0), others)
            if len(others) and beyond.min() < off[i]:
                best = beyond.argmin()
                found[i], xi[i], off[i] = others[best], places[best], beyond[best]
            if off[i] > INSIDE:
                self._refuse_far(x[i], np.append(near[i], others))
        return found, xi

    def _try(
        self, x: np.ndarray, open_: np.ndarray, cell: np.ndarray, found: np.ndarray, xi: np.ndarray, off: np.ndarray
    ) -> None:
        if not open_.size:
            return
        place, beyond = self._inverted(x[open_], cell[open_])
        better = beyond < off[open_]
        to = open_[better]
        found[to], xi[to], off[to] = cell[to], place[better], beyond[better]

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
            raise InputError(f"the point {_point_text(x)} is {apart.min():.3g} m outside the body")


def _point_text(x: np.ndarray) -> str:
    return f"({', '.join(f'{value:.6g}' for value in x)})"
