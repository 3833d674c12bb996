"""Fields of an elastic body at points of its mesh."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from phloat.algebra.sparse import Matrix, csr
from phloat.bodies.shape import Shape
from phloat.errors import InputError
from phloat.fem.assembly import ElasticCells
from phloat.fem.locate import Locator


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

    def points(self, s: np.ndarray) -> np.ndarray:
        return s

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
