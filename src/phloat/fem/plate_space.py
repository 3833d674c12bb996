"""Piecewise polynomials on straight cells, given by what their unknowns are: values and derivatives at points.

An unknown is Σ c_ij ∂ⁱ⁺ʲw/∂xⁱ∂yʲ at a point; each cell inverts the matrix of its unknowns applied to its monomials. That is all
there is to the elements of Bogner, Fox and Schmit (bicubic, C¹), of Argyris (quintic, C¹), of Morley and of Lagrange.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from phloat.algebra.sparse import Matrix
from phloat.fem.plate_cells import ALIGNED, PlateCells, Points, cell_rows

DERIVATIVES = ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2))
CHUNK = 4096  # points evaluated at a time


@dataclass(frozen=True, eq=False)
class Space:
    """Polynomials with the given exponents in each cell; `dofs` (cells, k) numbers their unknowns.

    Unknown i is rows[i] · (w, w_x, w_y, w_xx, w_xy, w_yy) at places[i]. `vertex` and `edge` are the vertex or edge that carries it,
    −1 if none does; `kinds` are their names ("w", "w_x", …).
    """

    cells: PlateCells
    exponents: np.ndarray
    dofs: np.ndarray
    places: np.ndarray
    rows: np.ndarray
    kinds: np.ndarray
    vertex: np.ndarray
    edge: np.ndarray

    @property
    def size(self) -> int:
        return len(self.places)

    @cached_property
    def coefficients(self) -> np.ndarray:
        """Coefficients of the basis functions of each cell in its monomials, (cells, k, monomials)."""
        count, k = self.dofs.shape
        cell = np.repeat(np.arange(count), k)
        x, row = self.places[self.dofs].reshape(-1, 2), self.rows[self.dofs].reshape(count * k, -1)
        order = np.array([i + j for i, j in DERIVATIVES])
        size = self.cells.extents.max(axis=1)[cell] ** np.where(row != 0.0, order, 0).max(axis=1)
        V = sum(row[:, d, None] * self._monomials(cell, x, *DERIVATIVES[d]) for d in range(len(DERIVATIVES)))
        V = (size[:, None] * V).reshape(count, k, -1)
        return np.swapaxes(np.linalg.inv(V), 1, 2) * size.reshape(count, k, 1)

    def _monomials(self, cell: np.ndarray, x: np.ndarray, i: int, j: int) -> np.ndarray:
        return monomials(self.cells, self.exponents, cell, x, i, j)

    def evaluate(self, points: Points, derivative: tuple[int, int] = (0, 0)) -> Matrix:
        """Values (or the derivative ∂ⁱ⁺ʲ/∂xⁱ∂yʲ) of all basis functions, (points, unknowns)."""
        k, values = self.dofs.shape[1], []
        for start in range(0, len(points.cell), CHUNK):
            cell, x = points.cell[start : start + CHUNK], points.x[start : start + CHUNK]
            values.append(np.einsum("pm,pkm->pk", self._monomials(cell, x, *derivative), self.coefficients[cell]))
        return cell_rows(np.concatenate([np.zeros((0, k)), *values]), self.dofs[points.cell], self.size)

    def linear(self, a: float, b: float, c: float) -> np.ndarray:
        """The values of all unknowns for the field w = a + b x + c y."""
        value = a + b * self.places[:, 0] + c * self.places[:, 1]
        return self.rows[:, 0] * value + b * self.rows[:, 1] + c * self.rows[:, 2]


def monomials(cells: PlateCells, exponents: np.ndarray, cell: np.ndarray, x: np.ndarray, i: int, j: int) -> np.ndarray:
    """∂ⁱ⁺ʲ of the monomials of the cells, in coordinates −1 … 1 of the box around each, (points, monomials)."""
    half = cells.extents[cell]
    X = (x - cells.centers[cell]) / half
    p, q = exponents.T
    return _power(X[:, 0], p, i) * _power(X[:, 1], q, j) / (half[:, :1] ** i * half[:, 1:] ** j)


def _power(x: np.ndarray, p: np.ndarray, i: int) -> np.ndarray:
    """The i-th derivatives of xᵖ, (points, exponents)."""
    factor = np.prod([p - k for k in range(i)], axis=0) if i else np.ones_like(p)
    return factor * x[:, None] ** np.maximum(p - i, 0)


def triangular_exponents(degree: int) -> np.ndarray:
    """Exponents (i, j) of total degree up to `degree`."""
    return np.array([(i, j) for i in range(degree + 1) for j in range(degree + 1 - i)])


def _square(degree: int) -> np.ndarray:
    """Exponents (i, j) up to `degree` in each variable."""
    return np.array([(i, j) for i in range(degree + 1) for j in range(degree + 1)])


def _value(count: int) -> np.ndarray:
    """Rows of unknowns that are values, (count, derivatives)."""
    out = np.zeros((count, len(DERIVATIVES)))
    out[:, 0] = 1.0
    return out


def _slope(direction: np.ndarray) -> np.ndarray:
    """Rows of unknowns that are slopes along directions, (count, derivatives)."""
    out = np.zeros((len(direction), len(DERIVATIVES)))
    out[:, 1:3] = direction
    return out


def _second(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Rows of unknowns that are ∂²w/∂a∂b for unit vectors a, b, (count, derivatives)."""
    out = np.zeros((len(a), len(DERIVATIVES)))
    out[:, 3], out[:, 4], out[:, 5] = a[:, 0] * b[:, 0], a[:, 0] * b[:, 1] + a[:, 1] * b[:, 0], a[:, 1] * b[:, 1]
    return out


class Unknowns(NamedTuple):
    """A group of unknowns of a `Space`, with the fields described there; `dofs` counts them from 0."""

    dofs: np.ndarray
    places: np.ndarray
    rows: np.ndarray
    kinds: np.ndarray
    vertex: np.ndarray
    edge: np.ndarray


def _at_vertices(cells: PlateCells, rows: list[np.ndarray], kinds: np.ndarray | list[str]) -> Unknowns:
    """Unknowns at the vertices, one for each of `rows`; `kinds` are their names, (vertices, rows) or the same for all."""
    count, each = len(cells.vertices), len(rows)
    dofs = (each * cells.corners[:, :, None] + np.arange(each)).reshape(len(cells.corners), -1)
    vertex, row = np.repeat(np.arange(count), each), np.stack(rows, axis=1).reshape(count * each, -1)
    names = np.broadcast_to(kinds, (count, each)).ravel()
    return Unknowns(dofs, cells.vertices[vertex], row, names, vertex, np.full(len(vertex), -1))


def _on_edges(cells: PlateCells, places: np.ndarray, rows: np.ndarray, kind: str) -> Unknowns:
    """Unknowns on the edges, one at each of `places` (edges, any, 2)."""
    count, each = places.shape[:2]
    dofs = (each * cells.cell_edges[:, :, None] + np.arange(each)).reshape(len(cells.corners), -1)
    edge = np.repeat(np.arange(count), each)
    return Unknowns(dofs, places.reshape(-1, 2), rows, np.full(len(edge), kind), np.full(len(edge), -1), edge)


def _inside(places: np.ndarray, kind: str) -> Unknowns:
    """Unknowns that are values at `places` inside the cells, (cells, any, 2)."""
    count, each = places.shape[:2]
    none = np.full(count * each, -1)
    dofs = np.arange(count * each).reshape(count, each)
    return Unknowns(dofs, places.reshape(-1, 2), _value(count * each), np.full(len(none), kind), none, none)


def _space(cells: PlateCells, exponents: np.ndarray, *groups: Unknowns) -> Space:
    """The space of polynomials with these exponents and the given groups of unknowns."""
    first = np.cumsum([0, *(len(group.places) for group in groups)])
    dofs = np.hstack([group.dofs + start for group, start in zip(groups, first, strict=False)])
    joined = (np.concatenate(part) for part in zip(*(group[1:] for group in groups), strict=True))
    return Space(cells, exponents, dofs, *joined)


def bfs_space(cells: PlateCells) -> Space:
    """Bicubics with continuous slopes on rectangles: w, w_x, w_y, w_xy at each vertex."""
    x, y = (np.tile(e, (len(cells.vertices), 1)) for e in np.eye(2))
    rows = [_value(len(x)), _slope(x), _slope(y), _second(x, y)]
    return _space(cells, _square(3), _at_vertices(cells, rows, ["w", "w_x", "w_y", "w_xy"]))


def argyris_space(cells: PlateCells, frames: np.ndarray) -> Space:
    """Quintics with continuous slopes on triangles: all derivatives to the second at each vertex, the normal slope on each edge.

    `frames` (vertices, 2) is the first axis of the derivatives at each vertex: x, or the tangent where the boundary is not along
    an axis.
    """
    t, n = frames, np.column_stack([-frames[:, 1], frames[:, 0]])
    rows = [_value(len(t)), _slope(t), _slope(n), _second(t, t), _second(t, n), _second(n, n)]
    plain = ["w", "w_x", "w_y", "w_xx", "w_xy", "w_yy"]
    rotated = ["w", "w_t", "w_n", "w_tt", "w_tn", "w_nn"]
    kinds = np.where((frames[:, :1] == 1.0), np.array([plain]), np.array([rotated]))
    return _space(cells, triangular_exponents(5), _at_vertices(cells, rows, kinds), _normal_slopes(cells))


def morley_space(cells: PlateCells) -> Space:
    """Quadratics on triangles: w at each vertex, the normal slope on each edge; slopes are continuous there only."""
    return _space(
        cells, triangular_exponents(2), _at_vertices(cells, [_value(len(cells.vertices))], ["w"]), _normal_slopes(cells)
    )


def _normal_slopes(cells: PlateCells) -> Unknowns:
    """The normal slopes at the middles of the edges as unknowns."""
    return _on_edges(cells, cells.vertices[cells.edges].mean(axis=1)[:, None], _slope(cells.normals), "w_n")


def lagrange_space(cells: PlateCells, degree: int, kind: str) -> Space:
    """The Lagrange space of degree 1 to 3 (per coordinate on rectangles): continuous; the unknowns are values at nodes."""
    triangles = cells.kind == "triangle"
    s = np.arange(1, degree) / degree
    a, b = cells.vertices[cells.edges[:, 0]], cells.vertices[cells.edges[:, 1]]
    edge_nodes = a[:, None] * (1 - s[:, None]) + b[:, None] * s[:, None]
    xi = np.array([(i, j) for i in s for j in s if not triangles or i + j < 1 - 1e-9] or np.zeros((0, 2)))
    within = cells.vertices[cells.corners[:, 0]][:, None] + np.einsum("cij,qj->cqi", cells.jacobians, xi)
    return _space(
        cells,
        triangular_exponents(degree) if triangles else _square(degree),
        _at_vertices(cells, [_value(len(cells.vertices))], [kind]),
        _on_edges(cells, edge_nodes, _value(edge_nodes.shape[0] * edge_nodes.shape[1]), kind),
        _inside(within, kind),
    )


# --- boundaries -------------------------------------------------------------------------------------------------------
#
# Boundaries of plates: directions of derivatives there, and which unknowns vanish where a field or its slope does.


CORNER = np.radians(30.0)  # a boundary that turns by more has a corner there; by less, it stands for a smooth curve
STRAIGHT = 1e-6
NORMAL_SECOND = 1e-6


def vertex_tangents(cells: PlateCells, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The tangent at each vertex of the boundary and whether the boundary is smooth there (1: straight, 0: curved, −1: a corner).

    Smooth: the mean of its two edges; at a corner: that of an edge among `first`, where there is one. Vertices inside have x.
    """
    tangent, turn = np.tile([1.0, 0.0], (len(cells.vertices), 1)), np.ones(len(cells.vertices), dtype=int)
    outer = np.concatenate([np.intersect1d(cells.outside, first), np.setdiff1d(cells.outside, first)])
    ends = cells.edges[outer].ravel()
    order = np.argsort(ends, kind="stable")
    owner, start = np.unique(ends[order], return_index=True)
    groups = np.split(np.repeat(outer, 2)[order], start[1:])
    for vertex, edges in zip(owner, groups, strict=True):
        t = cells.tangents[edges]
        t = t * np.where(t @ t[0] < 0, -1.0, 1.0)[:, None]
        mean = t.sum(axis=0)
        angle = np.arccos(np.clip(t @ t[0], -1.0, 1.0)).max()
        smooth = len(edges) == 2 and angle <= CORNER
        tangent[vertex] = mean / np.linalg.norm(mean) if smooth else t[0]
        turn[vertex] = -1 if not smooth else int(angle <= STRAIGHT)
    return tangent, turn


def vertex_frames(cells: PlateCells, first: np.ndarray) -> np.ndarray:
    """The first axis of the derivatives at each vertex: the tangent, or x where that is along an axis."""
    tangent, _ = vertex_tangents(cells, first)
    aligned = np.abs(tangent).min(axis=1) <= ALIGNED
    return np.where(aligned[:, None], np.array([[1.0, 0.0]]), tangent)


def vanishing_unknowns(
    space: Space, edges: np.ndarray, first: np.ndarray, *, value: bool, slope: bool, curves: bool = False
) -> np.ndarray:
    """The unknowns that vanish if the field (`value`) or its normal derivative (`slope`) is zero along the given edges.

    `curves`: where edges approximate a curve, the field is zero on the curve, not along its chords: nodes inside them and
    w_tt = −w_n / radius stay free. (A plate supported along the chords themselves would be clamped at every vertex, and
    converge to something else: Babuška's paradox.)
    """
    cells = space.cells
    tangent, turn = vertex_tangents(cells, first)
    inside = edges[(turn[cells.edges[edges]] != 0).all(axis=1)] if curves else edges
    out = [np.flatnonzero(np.isin(space.edge, inside) & np.where(space.kinds == "w_n", slope, value))]
    carried = _by_vertex(space)
    for edge in edges:
        for vertex in cells.edges[edge]:
            t = (cells.tangents[edge] if turn[vertex] < 0 else tangent[vertex])[None]
            n = np.column_stack([t[:, 1], -t[:, 0]])
            conditions = [_value(1), _slope(t)] if value else []
            conditions += [_second(t, t)] if value and (turn[vertex] or not curves) else []
            conditions += [_slope(n), _second(t, n)] if slope else []
            unknowns = carried[vertex]
            out.append(unknowns[_constrained(space.rows[unknowns], conditions)])
    return np.unique(np.concatenate(out)).astype(int)


def _by_vertex(space: Space) -> list[np.ndarray]:
    """The numbers of the unknowns at each vertex."""
    carried = np.flatnonzero(space.vertex >= 0)
    order = carried[np.argsort(space.vertex[carried], kind="stable")]
    return np.split(order, np.cumsum(np.bincount(space.vertex[carried], minlength=len(space.cells.vertices)))[:-1])


def _constrained(rows: np.ndarray, conditions: Iterable[np.ndarray]) -> np.ndarray:
    """The mask of the unknowns of a vertex of which the vanishing conditions are linear combinations."""
    out = np.zeros(len(rows), dtype=bool)
    for (condition,) in conditions:
        share, *_ = np.linalg.lstsq(rows.T, condition, rcond=None)
        if np.abs(rows.T @ share - condition).max() < NORMAL_SECOND:  # else the element has no such derivative
            out |= np.abs(share) > NORMAL_SECOND
    return out
