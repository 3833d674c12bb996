"""Meshes built from blocks: a grid of the unit square, mapped, joined to others, pulled along z, split into simplices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path

from phloat.fem import cells as cell
from phloat.fem.mesh import Mesh


def grid(nx: int, ny: int, order: int = 1) -> Mesh:
    """The unit square in nx × ny quadrilaterals; left x = 0, right x = 1, bottom y = 0, top y = 1."""
    px, py = order * nx + 1, order * ny + 1
    y, x = np.meshgrid(np.linspace(0.0, 1.0, py), np.linspace(0.0, 1.0, px), indexing="ij")
    j, i = (order * g.ravel() for g in np.meshgrid(np.arange(ny), np.arange(nx), indexing="ij"))
    step = np.rint(order * cell.reference_nodes("quadrilateral", order)).astype(int)
    cells = (i[:, None] + step[:, 0]) + px * (j[:, None] + step[:, 1])
    row, column = order * np.arange(nx + 1), px * order * np.arange(ny + 1)
    sides = {"left": column, "right": column + px - 1, "bottom": row, "top": row + px * (py - 1)}
    boundaries = {name: np.column_stack([line[:-1], line[1:]]) for name, line in sides.items()}
    return Mesh("quadrilateral", np.column_stack([x.ravel(), y.ravel()]), cells, boundaries)


def mapped(mesh: Mesh, onto: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]) -> Mesh:
    """A planar mesh whose points (x, y) go to onto(x, y)."""
    return replace(mesh, points=np.column_stack(onto(mesh.points[:, 0], mesh.points[:, 1])))


def named(mesh: Mesh, names: Mapping[str, str]) -> Mesh:
    """The mesh with these of its boundaries only, under new names: {old: new}."""
    return replace(mesh, boundaries={new: mesh.boundaries[old] for old, new in names.items()})


def joined(meshes: Sequence[Mesh]) -> Mesh:
    """Blocks of one kind as one mesh: points in one place are one point, boundaries of one name one boundary."""
    start = np.cumsum([0, *(len(m.points) for m in meshes)])
    boundaries: dict[str, list[np.ndarray]] = {}
    for mesh, first in zip(meshes, start, strict=False):
        for name, facets in mesh.boundaries.items():
            boundaries.setdefault(name, []).append(facets + first)
    return Mesh(
        meshes[0].kind,
        np.vstack([m.points for m in meshes]),
        np.vstack([m.cells + first for m, first in zip(meshes, start, strict=False)]),
        {name: np.vstack(facets) for name, facets in boundaries.items()},
    ).merged()


def pulled(mesh: Mesh, height: float, layers: int, ends: tuple[str, str] = ("back", "front")) -> Mesh:
    """Hexahedra between z = 0 and z = height over a mesh of quadrilaterals, with names for the two ends."""
    order, count = mesh.order, len(mesh.points)
    place = cell.reference_nodes("hexahedron", order)
    floor = [int(np.abs(cell.reference_nodes("quadrilateral", order) - p).sum(axis=1).argmin()) for p in place[:, :2]]
    up = np.rint(order * place[:, 2]).astype(int)
    layer = order * np.arange(layers)
    cells = mesh.cells[:, floor][:, None, :] + count * (layer[:, None] + up)
    z = np.linspace(0.0, height, order * layers + 1)
    points = np.column_stack([np.tile(mesh.points[:, :2], (len(z), 1)), np.repeat(z, count)])
    boundaries = {name: _walls(edge, count, layer, order) for name, edge in mesh.boundaries.items()}
    boundaries[ends[0]] = mesh.corners
    boundaries[ends[1]] = mesh.corners + count * order * layers
    return Mesh("hexahedron", points, cells.reshape(-1, len(place)), boundaries)


def _walls(edges: np.ndarray, count: int, layer: np.ndarray, order: int) -> np.ndarray:
    """The quadrilaterals over edges, one a layer."""
    low = edges[:, None, :] + count * layer[:, None]
    return np.concatenate([low, low[:, :, ::-1] + count * order], axis=2).reshape(-1, 4)


# by the corners of a cell that are joined by diagonals, those with an even corner 0 first
_SPLIT2 = ([[0, 1, 2], [0, 2, 3]], [[1, 2, 3], [1, 3, 0]])
_SPLIT3 = (
    [[0, 2, 7, 5], [1, 2, 0, 5], [3, 0, 2, 7], [4, 7, 5, 0], [6, 5, 7, 2]],
    [[1, 3, 4, 6], [0, 1, 3, 4], [2, 3, 1, 6], [5, 4, 6, 1], [7, 6, 4, 3]],
)


def simplices(mesh: Mesh) -> Mesh:
    """Two triangles for each quadrilateral, five tetrahedra for each hexahedron.

    The points are coloured like a chessboard and all diagonals join points of one colour, so that neighbours fit; with even
    counts the mesh is symmetric. Middles of curved cells stay where they are: every new edge is a diagonal of a face.
    """
    even = _chessboard(mesh)
    small, tables = ("triangle", _SPLIT2) if mesh.dimension == 2 else ("tetrahedron", _SPLIT3)
    full = [_with_middles(mesh, small, np.array(table)) for table in tables]
    parts = np.array(full)[np.where(even[mesh.cells[:, 0]], 0, 1)]
    cells = np.take_along_axis(mesh.cells[:, None, :], parts, axis=2).reshape(-1, parts.shape[2])
    boundaries = dict(mesh.boundaries)
    if mesh.dimension == 3:
        for name, facets in mesh.boundaries.items():
            pairs = np.array(_SPLIT2)[np.where(even[facets[:, 0]], 0, 1)]
            boundaries[name] = np.take_along_axis(facets[:, None, :], pairs, axis=2).reshape(-1, 3)
    used, numbers = np.unique(cells, return_inverse=True)  # middles of hexahedra are left over
    new = np.zeros(len(mesh.points), dtype=np.int64)
    new[used] = np.arange(len(used))
    named_parts = {name: new[facets] for name, facets in boundaries.items()}
    return Mesh(small, mesh.points[used], numbers.reshape(cells.shape), named_parts)


def _with_middles(mesh: Mesh, small: str, corners: np.ndarray) -> np.ndarray:
    """The nodes of the parts of a cell, given by their corners, as nodes of the cell."""
    if mesh.order == 1:
        return corners
    places = cell.reference_nodes(mesh.kind, 1)[corners]
    means = [places[:, list(m)].mean(axis=1) for m in cell.middles(small)]
    return np.hstack([corners, cell.node_at(mesh.kind, np.stack(means, axis=1))])


def _chessboard(mesh: Mesh) -> np.ndarray:
    """Colours of the corner nodes, the same at both ends of no edge; node 0 is even."""
    edges = mesh.cells[:, np.array(cell.EDGES[mesh.kind])].reshape(-1, 2)
    edges = edges.astype(np.int32)  # SciPy 1.14 finds no paths by longer ones
    n = len(mesh.points)
    graph = coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n)).tocsr()
    far = shortest_path(graph, directed=False, unweighted=True, indices=int(mesh.cells[0, 0]))
    even = np.where(np.isfinite(far), far, 0.0).astype(int) % 2 == 0
    assert (even[edges[:, 0]] != even[edges[:, 1]]).all(), "the blocks cannot be coloured like a chessboard"
    return even
