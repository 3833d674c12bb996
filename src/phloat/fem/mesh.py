"""Meshes: points, cells of one kind, and names for parts of the boundary and of the inside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from phloat.errors import InputError, finite, mapping, positive, unknown, whole_number
from phloat.fem import cells as cell
from phloat.fem.cells import CORNERS, DIMENSION, NODES


@dataclass(frozen=True, eq=False)
class Mesh:
    """`points` (points, 3) and `cells` (cells, nodes) of one `kind`; nodes beyond the corners make curved cells of order 2.

    `boundaries` names sets of facets by their corner nodes, (facets, corners of a facet); `regions` names sets of cells.
    Corners come in the order of VTK: triangles and quadrilaterals counterclockwise, tetrahedra and hexahedra with positive
    volume; then the middles of edges, of faces, of the cell, in that order too. Planar meshes lie in the plane z = 0: points
    may be (points, 2), and one z for all is left out. Cells that are all numbered the other way round are renumbered; facets
    are turned so that their normal points out of the body.
    """

    kind: str
    points: np.ndarray
    cells: np.ndarray
    boundaries: Mapping[str, np.ndarray] = field(default_factory=dict)
    regions: Mapping[str, np.ndarray] = field(default_factory=dict)
    not_numbers: ClassVar[tuple[str, ...]] = ("points", "cells", "boundaries", "regions")

    def __post_init__(self) -> None:
        if self.kind not in NODES:
            raise InputError(unknown("kind of cells", self.kind, NODES))
        points = require_points(self.kind, self.points)
        cells = require_cells(self.kind, self.cells, points)
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "cells", consistent_orientation(self.kind, points, cells))
        object.__setattr__(self, "regions", require_regions(self.regions, len(cells)))
        boundaries = {name: self._outward(name, facets) for name, facets in self.boundaries.items()}
        object.__setattr__(self, "boundaries", boundaries)

    # --- sizes -------------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        named = ", ".join(self.boundaries) or "none"
        return f"Mesh({len(self.cells)} cells of order {self.order}, {self.kind}; {len(self.points)} points; boundaries: {named})"

    @property
    def dimension(self) -> int:
        """2 for triangles and quadrilaterals, 3 for tetrahedra and hexahedra."""
        return DIMENSION[self.kind]

    @property
    def order(self) -> int:
        """1: corners only; 2: with middles, so that cells may be curved."""
        return 1 + NODES[self.kind].index(self.cells.shape[1])

    @property
    def corners(self) -> np.ndarray:
        """The corner nodes of every cell, (cells, corners)."""
        return self.cells[:, : CORNERS[self.kind]]

    @cached_property
    def size(self) -> float:
        """The diagonal of the box around all points."""
        return float(np.linalg.norm(np.ptp(self.points, axis=0)))

    @cached_property
    def measure(self) -> np.ndarray:
        """Areas or volumes of the cells, (cells,); exact for curved cells too."""
        xi, weight = cell.volume_rule(self.kind, self.order)
        slopes = cell.shape_slopes(self.kind, self.order, xi)
        x = self.points[self.cells, : self.dimension]
        parts = [w * cell.determinants(s @ x) for w, s in zip(weight, slopes, strict=True)]
        return np.sum(parts, axis=0)

    # --- boundaries --------------------------------------------------------------------------------------------------

    @cached_property
    def _facets(self) -> tuple[np.ndarray, np.ndarray]:
        """Sorted keys of the facets of all cells, and the index k + (facets of a cell) · cell of each."""
        corners = self.cells[:, np.array(cell.FACETS[self.kind])]
        keys = _keys(corners.reshape(-1, corners.shape[-1]), len(self.points))
        origin = np.argsort(keys, kind="stable")
        return keys[origin], origin

    def _owners(self, name: str, facets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The cell of each facet and the facet's number in that cell. Raises InputError for facets that belong to no cell."""
        keys, origin = self._facets
        facet_keys = _keys(facets, len(self.points))
        index = np.minimum(np.searchsorted(keys, facet_keys), len(keys) - 1)
        if (unowned := keys[index] != facet_keys).any():
            first = ", ".join(str(tuple(map(int, f))) for f in facets[unowned][:3])
            raise InputError(
                f"{unowned.sum()} of {len(facets)} facets of boundary {name!r} belong to no cell, first those with nodes {first}; "
                f"give the corner nodes of {cell.PLURAL[cell.FACET[self.kind]]} of this mesh"
            )
        return np.divmod(origin[index], len(cell.FACETS[self.kind]))

    def _outward(self, name: str, facets: object) -> np.ndarray:
        """The facets of a boundary by corner nodes, normals outwards. Raises InputError if they are no facets of this mesh."""
        corners, array = len(cell.FACETS[self.kind][0]), np.asarray(facets)
        if array.ndim != 2 or array.shape[1] != corners or array.dtype.kind not in "iu" or not len(array):
            raise InputError(
                f"boundary {name!r} has shape {array.shape} of {array.dtype}; give node numbers, (facets, {corners})"
            )
        if array.min() < 0 or array.max() >= len(self.points):
            raise InputError(f"boundary {name!r} has nodes {array.min()} … {array.max()} of {len(self.points)} points")
        cells, local = self._owners(name, array)
        return self.cells[cells[:, None], np.array(cell.FACETS[self.kind])[local]]

    @cached_property
    def facets(self) -> np.ndarray:
        """The facets that belong to one cell only (the boundary of the mesh), by their corner nodes, normals outwards."""
        keys, origin = self._facets
        single = np.ones(len(keys), dtype=bool)
        single[1:] &= keys[1:] != keys[:-1]
        single[:-1] &= keys[:-1] != keys[1:]
        cells, local = np.divmod(np.sort(origin[single]), len(cell.FACETS[self.kind]))
        return self.cells[cells[:, None], np.array(cell.FACETS[self.kind])[local]]

    def boundary(self, name: str) -> np.ndarray:
        """The facets of a named boundary by their corner nodes, (facets, corners of a facet)."""
        if name not in self.boundaries:
            raise InputError(unknown("boundary", name, self.boundaries))
        return self.boundaries[name]

    def facet_nodes(self, name: str) -> np.ndarray:
        """All nodes of each facet of a boundary, middles included, in VTK's order of the facet."""
        return self.facet_nodes_of(self.boundary(name), name)

    def facet_nodes_of(self, facets: np.ndarray, name: str = "") -> np.ndarray:
        """All nodes of facets that are given by their corner nodes, (facets, nodes), in VTK's order of the facet."""
        cells, local = self._owners(name, facets)
        return self.cells[cells[:, None], cell.facet_nodes(self.kind, self.order)[local]]

    def node_numbers(self, name: str) -> np.ndarray:
        """The numbers of all nodes on a boundary, middles included, each once."""
        return np.unique(self.facet_nodes(name))

    def region(self, name: str) -> np.ndarray:
        """The numbers of the cells of a named region."""
        if name not in self.regions:
            raise InputError(unknown("region", name, self.regions))
        return self.regions[name]

    def with_boundary(self, name: str, where: Callable[[np.ndarray], np.ndarray] | np.ndarray) -> Mesh:
        """The mesh with one more boundary: facets whose corners all satisfy the predicate where(points), or a mask of `facets`."""
        mask = np.asarray(where(self.points) if callable(where) else where)
        size = len(self.points if callable(where) else self.facets)
        if mask.shape != (size,) or mask.dtype != bool:
            raise InputError(
                f"where of boundary {name!r} has shape {mask.shape} of {mask.dtype}; it must be {size} times True or False, "
                f"{'as lambda p: p[:, 0] < 1e-9 gives' if callable(where) else 'one for each facet of the mesh'}"
            )
        chosen = mask[self.facets].all(axis=1) if callable(where) else mask
        if not chosen.any():
            low, high = self.points.min(axis=0), self.points.max(axis=0)
            raise InputError(
                f"no facet has all corners on boundary {name!r}; points lie between {point_text(low)} and {point_text(high)}"
            )
        return replace(self, boundaries={**self.boundaries, name: self.facets[chosen]})

    # --- copies ------------------------------------------------------------------------------------------------------

    def scaled(self, factor: float) -> Mesh:
        """The same mesh in other units: scaled(1e-3) makes metres of millimetres."""
        return replace(self, points=positive("factor", factor) * self.points)

    def corners_only(self) -> Mesh:
        """The same mesh with straight cells of order 1."""
        if self.order == 1:
            return self
        points, cells, new = used_points(self.points, self.corners)
        boundaries = {name: new[facets] for name, facets in self.boundaries.items()}
        return replace(self, points=points, cells=cells, boundaries=boundaries)

    def of_order(self, order: int) -> Mesh:
        """The same mesh with corners only (1), or with middles of edges, faces and cells, straight where they are new (2)."""
        if order not in (1, 2):
            raise InputError(f"order is {order!r}; cells are of order 1 (straight) or 2 (may be curved)")
        if order == 1 or self.order == 2:
            return self.corners_only() if order == 1 else self
        points, cells = _with_middles(self.kind, self.points, self.cells)
        return replace(self, points=points, cells=cells)

    def refined(self, times: int = 1) -> Mesh:
        """The mesh with every cell cut at the middles of its edges, `times` times; names and curved geometry are kept."""
        mesh = self
        for _ in range(whole_number("times", times, 0)):
            mesh = _cut(mesh)
        return mesh

    def merged(self, tolerance: float | None = None) -> Mesh:
        """The mesh with points closer than the tolerance (default 1e-8 of the size) merged: touching parts are joined."""
        near = 1e-8 * self.size if tolerance is None else positive("tolerance", tolerance)
        pairs = cKDTree(self.points).query_pairs(near, output_type="ndarray")
        n = len(self.points)
        graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
        _, group = connected_components(graph, directed=False)
        first = np.full(n, n)
        np.minimum.at(first, group, np.arange(n))
        used, number = np.unique(first[group], return_inverse=True)
        boundaries = {name: number[facets] for name, facets in self.boundaries.items()}
        return replace(self, points=self.points[used], cells=number[self.cells], boundaries=boundaries)


def used_points(points: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The points that cells use, the renumbered cells, and the new number of every point, −1 if it is unused."""
    used, numbers = np.unique(cells, return_inverse=True)
    new = np.full(len(points), -1)
    new[used] = np.arange(len(used))
    return points[used], numbers.reshape(cells.shape), new


def _keys(facets: np.ndarray, points: int) -> np.ndarray:
    """An integer for each facet from its three smallest nodes: unique, since two facets of a mesh share at most an edge."""
    key = np.zeros(len(facets), dtype=np.int64)
    for node in np.sort(facets, axis=1)[:, :3].T:
        key = key * points + node
    return key


def _with_middles(kind: str, points: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points and cells of order 2: corners first, then middles; a middle shared by several cells is one point."""
    all_points, columns, count = [points], [cells], len(points)
    groups: dict[int, list[tuple[int, ...]]] = {}
    for corners in cell.middles(kind):
        groups.setdefault(len(corners), []).append(corners)  # of edges, of faces, of the cell
    for width, group in groups.items():
        nodes = np.sort(cells[:, np.array(group)], axis=2).reshape(-1, width)
        _, first, number = np.unique(_keys(nodes, len(points)), return_index=True, return_inverse=True)
        all_points.append(points[nodes[first]].mean(axis=1))
        columns.append(count + number.reshape(len(cells), -1))
        count += len(first)
    return np.vstack(all_points), np.hstack(columns)


def _cut(mesh: Mesh) -> Mesh:
    """The mesh with every cell cut into 2^d parts, whose corners are its nodes of order 2; new middles lie on the same curves."""
    kind, fine = mesh.kind, mesh.of_order(2)
    parts = cell.children(kind)
    if parts.ndim == 3:  # the shortest diagonal of each octahedron keeps the parts well shaped
        ends = fine.points[fine.cells[:, np.array(cell.DIAGONALS)]]
        parts = parts[np.linalg.norm(ends[:, :, 1] - ends[:, :, 0], axis=2).argmin(axis=1)]
    else:
        parts = np.broadcast_to(parts, (len(fine.cells), *parts.shape))
    count = parts.shape[1]
    cells = np.take_along_axis(fine.cells[:, None, :], parts, axis=2).reshape(-1, parts.shape[2])
    points = fine.points
    if mesh.order == 2:
        points, cells = _with_middles(kind, points, cells)
        corners = cell.reference_nodes(kind, 2)[parts.reshape(cells.shape[0], -1)]
        xi = np.einsum("nk,ckd->cnd", cell.shape_values(kind, 1, cell.reference_nodes(kind, 2)), corners)
        values = cell.shape_values(kind, 2, xi.reshape(-1, xi.shape[-1])).reshape(*xi.shape[:2], -1)
        x = np.repeat(fine.points[fine.cells], count, axis=0)
        points = points.copy()
        points[cells] = values @ x
    pieces = cell.children(cell.FACET[kind])
    boundaries = {name: fine.facet_nodes(name)[:, pieces].reshape(-1, pieces.shape[1]) for name in mesh.boundaries}
    regions = {name: (count * ids[:, None] + np.arange(count)).ravel() for name, ids in mesh.regions.items()}
    return Mesh(kind, points, cells, boundaries, regions)


# --- checks -----------------------------------------------------------------------------------------------------------
#
# Checks of meshes: numbers in range, every point used, cells neither flat nor inverted.


MOST = 2_000_000  # points: three node numbers still fit in one of 64 bits
FLAT = 1e-12  # of a cube of the extent of the cell: below, a cell has no volume


def require_points(kind: str, points: object) -> np.ndarray:
    """Points as floats (points, 3), planar meshes in z = 0. Raises InputError for bad shapes, sizes or numbers."""
    array = np.asarray(points)
    d = cell.DIMENSION[kind]
    if array.ndim != 2 or array.shape[1] not in (d, 3):
        raise InputError(f"points have shape {array.shape}; they must be (points, 3)" + " or (points, 2)" * (d == 2))
    if len(array) > MOST:
        raise InputError(f"there are {len(array)} points; a mesh can have {MOST} at most, use a coarser one")
    out = np.zeros((len(array), 3))
    out[:, : array.shape[1]] = finite("points", array, array.shape)
    if d == 2 and len(out):
        z = out[:, 2].copy()
        if np.ptp(z) > 1e-9 * max(np.ptp(out[:, 0]), np.ptp(out[:, 1])):
            raise InputError(
                f"the {cell.PLURAL[kind]} are not in one plane: z from {z.min():g} to {z.max():g}; curved shells are not possible"
            )
        out[:, 2] = 0.0
    return out


def require_cells(kind: str, cells: object, points: np.ndarray) -> np.ndarray:
    """Cells as int64 node numbers. Raises InputError if a number is out of range or a point belongs to no cell."""
    array = np.asarray(cells)
    allowed = cell.NODES[kind]
    if array.ndim != 2 or array.shape[1] not in allowed or array.dtype.kind not in "iu":
        raise InputError(
            f"cells have shape {array.shape} of {array.dtype}; {cell.PLURAL[kind]} are "
            f"node numbers, (cells, {allowed[0]} or {allowed[1]})"
        )
    if not len(array):
        raise InputError("there are no cells; give at least one")
    if array.min() < 0 or array.max() >= len(points):
        raise InputError(f"cells have nodes {array.min()} … {array.max()}; the points are 0 … {len(points) - 1}")
    array = array.astype(np.int64)
    used = np.zeros(len(points), dtype=bool)
    used[array] = True
    if not used.all():
        unused = np.flatnonzero(~used)
        first = ", ".join(f"{k} at {point_text(points[k])}" for k in unused[:3])
        raise InputError(f"{len(unused)} of {len(points)} points belong to no cell: {first}; leave them out")
    return array


def consistent_orientation(kind: str, points: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """The cells, renumbered if all have negative volume. Raises InputError for cells without volume or volumes of both signs."""
    low, high = jacobians(kind, points, cells)
    flat = (high <= 0.0) & (low >= 0.0)
    if flat.any():
        quantity = "area" if cell.DIMENSION[kind] == 2 else "volume"
        raise InputError(_counted(kind, points, cells, flat, f"have no {quantity}"))
    inverted, mixed = (low < 0.0) & (high <= 0.0), (low < 0.0) & (high > 0.0)
    if mixed.any():
        raise InputError(_counted(kind, points, cells, mixed, "are folded, or their nodes are not in VTK's order"))
    if inverted.all():
        order = cell.NODES[kind].index(cells.shape[1]) + 1
        return cells[:, cell.mirrored_numbering(kind, order)]
    if inverted.any():
        raise InputError(_counted(kind, points, cells, inverted, "are inverted, the others not"))
    return cells


def jacobians(kind: str, points: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest Jacobian determinant of each cell at its corners and quadrature points; round-off is set to 0."""
    d, order = cell.DIMENSION[kind], cell.NODES[kind].index(cells.shape[1]) + 1
    x = points[cells, :d]
    zero = FLAT * np.ptp(x, axis=1).max(axis=1) ** d
    straight = kind in cell.SIMPLICES and order == 1
    inside = cell.volume_rule(kind, order)[0]
    xi = inside if straight else np.vstack([inside, cell.reference_nodes(kind, 1)])
    low, high = np.full(len(cells), np.inf), np.full(len(cells), -np.inf)
    for slope in cell.shape_slopes(kind, order, xi):
        det = cell.determinants(slope @ x)
        det[np.abs(det) <= zero] = 0.0
        low, high = np.minimum(low, det), np.maximum(high, det)
    return low, high


def require_regions(regions: object, cells: int) -> dict[str, np.ndarray]:
    """Regions as cell numbers; masks of all cells are converted. Raises InputError if a number is out of range."""
    out = {}
    for name, chosen in mapping("regions", regions, "{name: numbers of cells}").items():
        array = np.asarray(chosen)
        if array.dtype == bool and array.shape == (cells,):
            array = np.flatnonzero(array)
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise InputError(f"region {name!r} has shape {array.shape} of {array.dtype}; it must be numbers of cells")
        if len(array) and (array.min() < 0 or array.max() >= cells):
            raise InputError(f"region {name!r} has cells {array.min()} … {array.max()}; there are 0 … {cells - 1}")
        out[name] = array.astype(np.int64)
    return out


def point_text(x: np.ndarray) -> str:
    """A point as text, "(x, y, z)"."""
    return "(" + ", ".join(f"{c:g}" for c in x) + ")"


def _counted(kind: str, points: np.ndarray, cells: np.ndarray, chosen: np.ndarray, problem: str) -> str:
    """The message for cells with a problem: how many there are, and the first three."""
    numbers = np.flatnonzero(chosen)
    first = ", ".join(f"{k} at {point_text(points[cells[k]].mean(axis=0))}" for k in numbers[:3])
    return f"{len(numbers)} of {len(cells)} {cell.PLURAL[kind]} {problem}, first cell {first}; repair the mesh there"
