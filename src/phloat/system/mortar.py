"""Rows between two boundaries, whose meshes need not match: ∫ φ_i · (u_2 − u_1) = 0 for the traces φ_i of the finer side.

Where the finer side is held at an end of the boundary, the traces of what is held there are added to those of their neighbours:
tractions need not vanish at the end, and there are no more rows than motions.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from phloat.algebra.sparse import Matrix, csr
from phloat.bodies.continua.mesh_body import Trace
from phloat.bodies.shape import Selected, Shape
from phloat.errors import InputError, JointError
from phloat.fem.overlap import measure, shared
from phloat.joints.tie import Tie
from phloat.system.tie_rows import Edge, centre, chosen_motions, independent, spread, stacked_trace

COVERED = 1e-6  # of a boundary: what may be missing of it
CURVED = 1e-9  # of the size of the mesh: how far middles of straight facets may lie off


def between_boundaries(tie: Tie, first: Edge, second: Edge, size: int) -> tuple[Matrix, np.ndarray]:
    """Rows of two boundaries that move together, per rows of the whole; and the origin of the second body seen from the first."""
    gap, weight, chosen, _, (V, free, origin) = gap_between(tie, first, second, size)
    return independent(csr(_ending(V, free, weight, chosen).T @ gap)), origin


def gap_between(
    tie: Tie, first: Edge, second: Edge, size: int
) -> tuple[Matrix, np.ndarray, list[int], float, tuple[Matrix, np.ndarray, np.ndarray]]:
    """The gaps at points that the two share, times the roots of their weights, per rows of the whole; these weights, the motions,
    h²/12; and the traces of the finer side, which of its coordinates are free, the origin of the second body."""
    if first.body.mesh.dimension != second.body.mesh.dimension:
        raise JointError(f"{tie.label} ties an edge to a face; tie faces to faces and edges to edges")
    finer, coarser = (first, second) if len(first.facets) >= len(second.facets) else (second, first)
    x, weight, shift = _common_points(tie, finer, coarser)
    shape, free = _unheld(finer)
    full = _trace(finer, shape, x, weight)
    other = _trace(coarser, coarser.body.shape, x - shift, weight)._replace(gyration=full.gyration)
    chosen = chosen_motions(tie, _only(full, free), other)
    V = stacked_trace(full, chosen)
    moves = {finer: csr(V[:, free]), coarser: stacked_trace(other, chosen)}
    gap = spread(moves[second], second.columns, size) - spread(moves[first], first.columns, size)
    return csr(gap), weight, chosen, full.gyration, (V, free, shift if finer is first else -shift)


def _common_points(tie: Tie, finer: Edge, coarser: Edge) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Quadrature points in the axes of the finer body, their weights, and the way from the coarser body's axes to them."""
    here, there = finer.body.trace(finer.boundary), coarser.body.trace(coarser.boundary)
    # curved facets of the two need not coincide: the points of the finer side are located in the coarser one
    if _curved(finer) or _curved(coarser):
        return here.x, here.weight, centre(here) - centre(there)
    ours, theirs = (edge.body.mesh.points[edge.facets] for edge in (finer, coarser))
    whole, best = measure(ours), 0.0
    for shift in (np.zeros(3), centre(here) - centre(there)):
        x, weight = shared(ours, theirs + shift, max(_degree(finer), _degree(coarser)))
        best = max(best, float(weight.sum()))
        if best > (1.0 - COVERED) * whole:
            return x, weight, shift
    raise InputError(
        f"{tie.label}: {best:.6g} of {whole:.6g} m (or m²) of {finer.boundary!r} lie on {coarser.boundary!r}, where they stand "
        "and centre on centre; boundaries are tied where the finer one lies on the other"
    )


def _degree(edge: Edge) -> int:
    """Of products of traces on a facet: order 5 is the highest there is on edges of plates."""
    mesh = edge.body.mesh
    if mesh.dimension == 2:
        return 10
    return mesh.order * (4 if edge.facets.shape[1] == 4 else 2)


def _curved(edge: Edge) -> bool:
    mesh = edge.body.mesh
    if mesh.order == 1:
        return False
    corners = edge.facets.shape[1]
    nodes = mesh.points[mesh.facet_nodes(edge.boundary)]
    along = nodes[:, :corners]
    middles = 0.5 * (along + np.roll(along, -1, axis=1)) if corners > 2 else along.mean(axis=1, keepdims=True)
    return bool(np.abs(nodes[:, corners : corners + middles.shape[1]] - middles).max() > CURVED * mesh.size)


def _unheld(edge: Edge) -> tuple[Shape, np.ndarray]:
    """The shape of the body before anything was held, and which of its coordinates are free."""
    shape, free = edge.body.shape, np.arange(edge.body.coordinates)
    while isinstance(shape, Selected):
        free = np.flatnonzero(shape.keep)[free]
        shape = shape.shape
    return shape, free


def _trace(edge: Edge, shape: Shape, x: np.ndarray, weight: np.ndarray) -> Trace:
    """The boundary at other points of it."""
    own = edge.body.trace(edge.boundary)
    turn = None if own.turn is None else _by_axes(shape.rotation(x))
    return edge.cleaned(Trace(x, weight, _by_axes(shape.displacement(x)), turn, own.gyration))


def _by_axes(a: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    return csr(a[0::3]), csr(a[1::3]), csr(a[2::3])


def _only(trace: Trace, free: np.ndarray) -> Trace:
    turn = trace.turn and tuple(csr(t[:, free]) for t in trace.turn)
    return trace._replace(u=tuple(csr(u[:, free]) for u in trace.u), turn=turn)


def _ending(V: Matrix, free: np.ndarray, weight: np.ndarray, chosen: list[int]) -> Matrix:
    """The traces of the free coordinates, those of held ones at the ends added to their neighbours: translations stay whole."""
    on = np.unique(V.indices)
    held, ours = np.setdiff1d(on, free), np.intersect1d(on, free)
    out = csr(V[:, free])
    if not len(held) or not len(ours):
        return out
    near = abs(V[:, held].T @ V[:, ours]).toarray()
    number = np.searchsorted(free, ours)
    more = sp.lil_array((len(held), len(free)))
    for moved in _of_translations(V, on, weight, chosen):
        part = np.abs(moved) > 1e-6 * np.abs(moved).max()
        for k, h in enumerate(held):
            neighbours = np.where(part[ours], near[k], 0.0)
            if part[h] and neighbours.any():
                j = int(np.argmax(neighbours))
                more[k, number[j]] += moved[h] / moved[ours[j]]
    return csr(out + V[:, held] @ csr(more))


def _of_translations(V: Matrix, on: np.ndarray, weight: np.ndarray, chosen: list[int]) -> np.ndarray:
    """The coordinates of unit translations along each chosen axis, (axes, coordinates)."""
    points, axes = len(weight), [k for k in range(len(chosen)) if chosen[k] < 3]
    right = np.zeros((V.shape[0], len(axes)))
    for column, k in enumerate(axes):
        right[k * points : (k + 1) * points, column] = np.sqrt(weight)
    part = csr(V[:, on])
    gram = (part.T @ part).tocsc()
    out = np.zeros((len(axes), V.shape[1]))
    out[:, on] = spla.splu(gram + 1e-12 * abs(gram).max() * sp.eye_array(len(on))).solve(part.T @ right).T
    return out
