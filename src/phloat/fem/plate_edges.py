"""Boundaries of plates: directions of derivatives there, and which unknowns vanish where a field or its slope does."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from phloat.fem.plate_cells import ALIGNED, Cells
from phloat.fem.plate_space import Space

CORNER = np.radians(30.0)  # a boundary that turns by more has a corner there; by less, it stands for a smooth curve
STRAIGHT = 1e-6
NORMAL_SECOND = 1e-6


def vertex_tangents(cells: Cells, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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


def frames(cells: Cells, first: np.ndarray) -> np.ndarray:
    """The first axis of the derivatives at each vertex: the tangent, or x where that is along an axis."""
    tangent, _ = vertex_tangents(cells, first)
    along = np.abs(tangent).min(axis=1) <= ALIGNED
    return np.where(along[:, None], np.array([[1.0, 0.0]]), tangent)


def vanishing(
    space: Space, edges: np.ndarray, first: np.ndarray, *, value: bool, slope: bool, curves: bool = False
) -> np.ndarray:
    """The unknowns that are zero where the field (`value`) or its normal derivative (`slope`) is, all along some edges.

    `curves`: where edges stand for a curve, the field is zero on the curve and not all along its chords: nodes inside them and
    w_tt = −w_n / radius are left alone. (A plate supported along the chords themselves would be clamped at every vertex, and
    converge to something else: Babuška's paradox.)
    """
    cells = space.cells
    tangent, turn = vertex_tangents(cells, first)
    inside = edges[(turn[cells.edges[edges]] != 0).all(axis=1)] if curves else edges
    out = [np.flatnonzero(np.isin(space.edge, inside) & _is(space, value, slope))]
    carried = _by_vertex(space)
    for edge in edges:
        for vertex in cells.edges[edge]:
            t = cells.tangents[edge] if turn[vertex] < 0 else tangent[vertex]
            n = np.array([t[1], -t[0]])
            conditions = []
            if value:
                conditions += [_row(1.0), _row(0.0, t)]
                conditions += [_row(0.0, None, t, t)] if turn[vertex] or not curves else []
            if slope:
                conditions += [_row(0.0, n), _row(0.0, None, t, n)]
            unknowns = carried[vertex]
            out.append(unknowns[_touched(space.rows[unknowns], conditions)])
    return np.unique(np.concatenate(out)).astype(int)


def carried(space: Space, edges: np.ndarray, first: np.ndarray, *, turning: bool) -> np.ndarray:
    """The unknowns that say how the edges move: values along them and, where the plate turns with them, slopes.

    The second derivative across an edge is none of them: it is a moment.
    """
    return vanishing(space, edges, first, value=True, slope=turning)


def _by_vertex(space: Space) -> list[np.ndarray]:
    on = np.flatnonzero(space.vertex >= 0)
    order = on[np.argsort(space.vertex[on], kind="stable")]
    return np.split(order, np.cumsum(np.bincount(space.vertex[on], minlength=len(space.cells.vertices)))[:-1])


def _is(space: Space, value: bool, slope: bool) -> np.ndarray:
    slopes = np.array([kind == "w_n" for kind in space.kinds])
    return (value & ~slopes) | (slope & slopes)


def _row(
    value: float, along: np.ndarray | None = None, a: np.ndarray | None = None, b: np.ndarray | None = None
) -> np.ndarray:
    """A combination of (w, w_x, w_y, w_xx, w_xy, w_yy)."""
    out = np.zeros(6)
    out[0] = value
    if along is not None:
        out[1:3] = along
    if a is not None and b is not None:
        out[3:] = a[0] * b[0], a[0] * b[1] + a[1] * b[0], a[1] * b[1]
    return out


def _touched(rows: np.ndarray, conditions: Iterable[np.ndarray]) -> np.ndarray:
    """Which unknowns of a vertex must vanish: those that the conditions are made of."""
    out = np.zeros(len(rows), dtype=bool)
    for condition in conditions:
        share, *_ = np.linalg.lstsq(rows.T, condition, rcond=None)
        if np.abs(rows.T @ share - condition).max() < NORMAL_SECOND:  # else the element does not know this derivative
            out |= np.abs(share) > NORMAL_SECOND
    return out
