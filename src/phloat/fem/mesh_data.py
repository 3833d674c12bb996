"""The content of a mesh file of any format (points, blocks of cells, named sets), and the mesh made from it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from phloat.errors import InputError
from phloat.fem import cells as cell
from phloat.fem.mesh import Mesh

# names of cells as meshio has them → our kind (None: a cell we have no element for), dimension
KINDS: dict[str, tuple[str | None, int]] = {
    "vertex": (None, 0),
    "line": ("line", 1),
    "line3": ("line", 1),
    "triangle": ("triangle", 2),
    "triangle6": ("triangle", 2),
    "quad": ("quadrilateral", 2),
    "quad8": ("quadrilateral", 2),
    "quad9": ("quadrilateral", 2),
    "tetra": ("tetrahedron", 3),
    "tetra10": ("tetrahedron", 3),
    "hexahedron": ("hexahedron", 3),
    "hexahedron20": ("hexahedron", 3),
    "hexahedron27": ("hexahedron", 3),
}
SOLIDS_WITHOUT = ("wedge", "pyramid")  # the beginnings of the names of other solids


@dataclass
class MeshData:
    """Blocks are (name of the cells, node numbers); sets name cells, {name: {block: numbers of cells in it}}, or nodes."""

    points: np.ndarray
    blocks: list[tuple[str, np.ndarray]] = field(default_factory=list)
    sets: dict[str, dict[int, np.ndarray]] = field(default_factory=dict)
    node_sets: dict[str, np.ndarray] = field(default_factory=dict)


def mesh_from_data(parts: MeshData, source: str) -> Mesh:
    """The cells of the highest dimension as a mesh; sets of these are regions, sets of one dimension less are boundaries.

    A set of nodes is the boundary of all facets whose corners are in it, if there are any. Points without a cell are left out;
    cells that are there twice (once for each of their sets, in some formats) are one.
    """
    name, kind, top, listed = _cell_kind(parts, source)
    points = np.asarray(parts.points, dtype=float)
    points = np.pad(points, ((0, 0), (0, 3 - points.shape[1])))
    cells, place = _unique_cells(parts, top)
    if top == 2 and np.ptp(points[cells, 2]) > 1e-9 * np.ptp(points[cells, :2]):
        raise InputError(f"{source} holds surfaces that are not in one plane: {listed}; save the volume too")
    if name in ("quad8", "hexahedron20"):
        points, cells = _with_middles(kind, points, cells)
    regions, facets = _regions_and_facets(parts, place, top)
    used, numbers = np.unique(cells, return_inverse=True)
    new = np.full(len(points), -1)
    new[used] = np.arange(len(used))
    boundaries = {label: _require_known(label, new[nodes], source) for label, nodes in facets.items()}
    mesh = Mesh(kind, points[used], numbers.reshape(cells.shape), boundaries, regions)
    named = boundaries.keys() | regions.keys()  # gmsh writes sets of nodes under the same names
    return _with_node_sets(mesh, {label: new[ids] for label, ids in parts.node_sets.items() if label not in named})


def _cell_kind(parts: MeshData, source: str) -> tuple[str, str, int, str]:
    """The cells of the highest dimension: their name, kind and dimension, and a list of all cells for errors."""
    top = max((_dimension(name) for name, _ in parts.blocks), default=0)
    count = Counter({name: 0 for name, _ in parts.blocks})
    for name, nodes in parts.blocks:
        count[name] += len(nodes)
    listed = ", ".join(f"{n} × {name}" for name, n in count.items()) or "no cells at all"
    if top < 2:
        raise InputError(f"{source} has no cells with an area or a volume: it holds {listed}")
    names = {name for name, _ in parts.blocks if _dimension(name) == top}
    if len(names) > 1:
        raise InputError(f"{source} has cells of several kinds: {listed}; mesh it with one kind only")
    (name,) = names
    kind = KINDS.get(name, (None, top))[0]
    if kind is None:
        raise InputError(f"{source} has cells of kind {name}: {listed}; there are {', '.join(cell.NODES)}")
    return name, kind, top, listed


def _regions_and_facets(
    parts: MeshData, place: dict[int, np.ndarray], top: int
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Sets of cells by their new numbers, and sets of facets by their corner nodes."""
    regions, facets = {}, {}
    for label, members in parts.sets.items():
        inside = [place[block][ids] for block, ids in members.items() if block in place and len(ids)]
        below = [
            _corners(*parts.blocks[b])[ids] for b, ids in members.items() if _dimension(parts.blocks[b][0]) == top - 1
        ]
        if inside:
            regions[label] = np.unique(np.concatenate(inside))
        if sum(map(len, below)):
            facets[label] = _distinct(np.vstack([f for f in below if len(f)]))
    return regions, facets


def _dimension(name: str) -> int:
    return KINDS[name][1] if name in KINDS else 3 if name.startswith(SOLIDS_WITHOUT) else -1


def _corners(name: str, nodes: np.ndarray) -> np.ndarray:
    kind = KINDS[name][0]
    return nodes[:, : 2 if kind == "line" else cell.CORNERS[str(kind)]]


def _unique_cells(parts: MeshData, top: int) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """All cells of the highest dimension, each once, and for each of their blocks the new numbers."""
    blocks = [k for k, (name, _) in enumerate(parts.blocks) if _dimension(name) == top]
    together = np.vstack([parts.blocks[k][1] for k in blocks])
    _, first, number = np.unique(np.sort(together, axis=1), axis=0, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))[number.ravel()]  # cells keep the order of the file
    start = np.cumsum([0, *(len(parts.blocks[k][1]) for k in blocks)])
    place = {k: rank[start[i] : start[i + 1]] for i, k in enumerate(blocks)}
    return together[np.sort(first)], place


def _distinct(facets: np.ndarray) -> np.ndarray:
    _, first = np.unique(np.sort(facets, axis=1), axis=0, return_index=True)
    return facets[np.sort(first)]


def _require_known(label: str, facets: np.ndarray, source: str) -> np.ndarray:
    if (facets < 0).any():
        away = (facets < 0).any(axis=1).sum()
        raise InputError(f"{away} of {len(facets)} facets of boundary {label!r} in {source} have nodes of no cell")
    return facets


def _with_middles(kind: str, points: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cells with corners and middles of edges (8 or 20 nodes) given the others, where the shape they have puts them.

    The middle of a face is ½ Σ edges − ¼ Σ corners, that of a hexahedron ¼ Σ edges − ¼ Σ corners: the same surface exactly.
    """
    edges = {frozenset(edge): cell.CORNERS[kind] + k for k, edge in enumerate(cell.EDGES[kind])}
    inside = cell.middles(kind)[len(edges) :]
    for width, weight in ((4, 0.5), (8, 0.25)):
        group = [m for m in inside if len(m) == width]
        if not group:
            continue
        around = [[number for edge, number in edges.items() if edge <= set(m)] for m in group]
        nodes, middles = cells[:, np.array(group)], cells[:, np.array(around)]
        at = weight * points[middles].sum(axis=2) - 0.25 * points[nodes].sum(axis=2)
        key = np.sort(nodes, axis=2).reshape(-1, width)
        _, first, number = np.unique(key, axis=0, return_index=True, return_inverse=True)
        cells = np.hstack([cells, len(points) + number.reshape(len(cells), -1)])
        points = np.vstack([points, at.reshape(-1, 3)[first]])
    return points, cells


def _with_node_sets(mesh: Mesh, sets: dict[str, np.ndarray]) -> Mesh:
    for label, nodes in sets.items():
        mask = np.zeros(len(mesh.points), dtype=bool)
        mask[nodes[nodes >= 0]] = True
        if mask[mesh.facets].all(axis=1).any():
            mesh = mesh.with_boundary(label, mask[mesh.facets].all(axis=1))
    return mesh
