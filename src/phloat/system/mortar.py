"""Rows between two boundaries, whose meshes need not match: ∫ φ_i · (u_2 − u_1) = 0 for the traces φ_i of the finer side.

Where the finer side is held at an end of the boundary, the traces of what is held there are added to those of their neighbours:
tractions need not vanish at the end, and there are no more rows than motions.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from phloat.algebra.sparse import Matrix, csr
from phloat.bodies.body import Shape
from phloat.bodies.continuum import Held, Trace
from phloat.errors import InputError, JointError
from phloat.fem.overlap import measure, shared
from phloat.joints.tie import Tie
from phloat.system.tie_rows import Edge, centre, chosen_motions, independent, spread, stacked_trace

COVERED = 1e-6  # of a boundary: what may be missing of it
CURVED = 1e-9  # of the size of the mesh: how far middles of straight facets may lie off


def between_boundaries(tie: Tie, first: Edge, second: Edge, size: int) -> Matrix:
    """Rows of two boundaries that move together, per rows of the whole."""
    if first.body.mesh.dimension != second.body.mesh.dimension:
        raise JointError(f"{tie.label} ties an edge to a face; tie faces to faces and edges to edges")
    finer, coarser = (first, second) if len(first.facets) >= len(second.facets) else (second, first)
    x, weight, shift = _common_points(tie, finer, coarser)
    traces = {finer: _at(finer, x, weight), coarser: _at(coarser, x - shift, weight)}
    chosen = chosen_motions(tie, *traces.values())
    gyration = traces[finer].gyration
    V = {edge: stacked_trace(trace._replace(gyration=gyration), chosen) for edge, trace in traces.items()}
    tests = _ending(finer, V[finer], x, weight, gyration, chosen)
    gap = spread(V[second], second.columns, size) - spread(V[first], first.columns, size)
    return independent(csr(tests.T @ gap))


def _common_points(tie: Tie, finer: Edge, coarser: Edge) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Quadrature points in the axes of the finer body, their weights, and the way from the coarser body's axes to them."""
    here, there = finer.body.trace(finer.boundary), coarser.body.trace(coarser.boundary)
    if _curved(finer) or _curved(
        coarser
    ):  # facets of the two need not coincide: points of the finer, found in the coarser
        return here.x, here.weight, centre(here) - centre(there)
    ours, theirs = (edge.body.mesh.points[edge.facets] for edge in (finer, coarser))
    whole, best = measure(ours), 0.0
    for shift in (np.zeros(3), centre(here) - centre(there)):
        x, weight = shared(ours, theirs + shift)
        best = max(best, float(weight.sum()))
        if best > (1.0 - COVERED) * whole:
            return x, weight, shift
    raise InputError(
        f"{tie.label}: {best:.6g} of {whole:.6g} m (or m²) of {finer.boundary!r} lie on {coarser.boundary!r}, where they stand "
        "and centre on centre; boundaries are tied where the finer one lies on the other"
    )


def _curved(edge: Edge) -> bool:
    mesh = edge.body.mesh
    if mesh.order == 1:
        return False
    corners = edge.facets.shape[1]
    nodes = mesh.points[mesh.facet_nodes(edge.boundary)]
    along = nodes[:, :corners]
    middles = 0.5 * (along + np.roll(along, -1, axis=1)) if corners > 2 else along.mean(axis=1, keepdims=True)
    return bool(np.abs(nodes[:, corners : corners + middles.shape[1]] - middles).max() > CURVED * mesh.size)


def _at(edge: Edge, x: np.ndarray, weight: np.ndarray) -> Trace:
    """The boundary at other points of it."""
    return _trace(edge, edge.body.shape, x, weight)


def _trace(edge: Edge, shape: Shape, x: np.ndarray, weight: np.ndarray) -> Trace:
    own = edge.body.trace(edge.boundary)
    u = shape.displacement(x)
    turn = None if own.turn is None else shape.rotation(x)
    parts = [None if a is None else (csr(a[0::3]), csr(a[1::3]), csr(a[2::3])) for a in (u, turn)]
    assert parts[0] is not None
    return Trace(x, weight, parts[0], parts[1], own.gyration)


def _ending(edge: Edge, V: Matrix, x: np.ndarray, weight: np.ndarray, gyration: float, chosen: list[int]) -> Matrix:
    """The traces of the free coordinates, those of held ones at the ends added to their neighbours."""
    shape, free = edge.body.shape, np.arange(edge.body.coordinates)
    while isinstance(shape, Held):
        free = shape.free[free]
        shape = shape.shape
    full = stacked_trace(_trace(edge, shape, x, weight)._replace(gyration=gyration), chosen)
    on = np.unique(full.indices)
    held = np.setdiff1d(on, free)
    if not len(held):
        return V
    values = _of_translations(csr(full[:, on]), weight, chosen)
    place = np.full(full.shape[1], -1)
    place[on] = np.arange(len(on))
    ours = np.intersect1d(on, free)
    overlap = abs(full[:, held].T @ full[:, ours]).toarray()
    number = np.full(full.shape[1], -1)
    number[free] = np.arange(len(free))
    more = sp.lil_array((full.shape[1], V.shape[1]))
    for a in values.T:
        for row, h in enumerate(held):
            fits = np.abs(a[place[ours]]) > 1e-6 * np.abs(a).max()
            if abs(a[place[h]]) > 1e-6 * np.abs(a).max() and (fits & (overlap[row] > 0)).any():
                j = ours[int(np.argmax(np.where(fits, overlap[row], -1.0)))]
                more[h, number[j]] += a[place[h]] / a[place[j]]
    return csr(V + full @ csr(more))


def _of_translations(V: Matrix, weight: np.ndarray, chosen: list[int]) -> np.ndarray:
    """The coordinates of unit translations along each chosen axis, (coordinates, axes)."""
    root, points = np.sqrt(weight), len(weight)
    moved = [k for k in range(len(chosen)) if chosen[k] < 3]
    right = np.zeros((V.shape[0], len(moved)))
    for column, k in enumerate(moved):
        right[k * points : (k + 1) * points, column] = root
    gram = (V.T @ V).tocsc()
    return spla.splu(gram + 1e-12 * abs(gram).max() * sp.eye_array(gram.shape[0])).solve(V.T @ right)
