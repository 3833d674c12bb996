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

from phloat.errors import InputError, positive, unknown
from phloat.fem import cells as cell
from phloat.fem.cells import CORNERS, DIMENSION, NODES
from phloat.fem.mesh_checks import consistent_orientation, point_text, require_cells, require_points, require_regions

__all__ = ["CORNERS", "NODES", "Mesh"]


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
        turned = {name: self._outward(name, facets) for name, facets in self.boundaries.items()}
        object.__setattr__(self, "boundaries", turned)

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
        """Keys of all facets of all cells, sorted, and where they come from: facet number k + (facets of a cell) · cell."""
        corners = self.cells[:, np.array(cell.FACETS[self.kind])]
        keys = self._keys(corners.reshape(-1, corners.shape[-1]))
        origin = np.argsort(keys, kind="stable")
        return keys[origin], origin

    def _keys(self, facets: np.ndarray) -> np.ndarray:
        """One number a facet, from its (three) smallest nodes: two facets of one mesh share at most an edge."""
        key = np.zeros(len(facets), dtype=np.int64)
        for node in np.sort(facets, axis=1)[:, :3].T:
            key = key * len(self.points) + node
        return key

    def _sides(self, name: str, facets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        keys, origin = self._facets
        wanted = self._keys(facets)
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        if (strange := keys[at] != wanted).any():
            first = ", ".join(str(tuple(map(int, f))) for f in facets[strange][:3])
            raise InputError(
                f"{strange.sum()} of {len(facets)} facets of boundary {name!r} belong to no cell, first those with "
                f"nodes {first}; give the corner nodes of {cell.PLURAL[cell.FACET[self.kind]]} of this mesh"
            )
        return np.divmod(origin[at], len(cell.FACETS[self.kind]))

    def _outward(self, name: str, facets: object) -> np.ndarray:
        corners, array = len(cell.FACETS[self.kind][0]), np.asarray(facets)
        if array.ndim != 2 or array.shape[1] != corners or array.dtype.kind not in "iu" or not len(array):
            raise InputError(
                f"boundary {name!r} has shape {array.shape} of {array.dtype}; it must be the numbers of the nodes, "
                f"(facets, {corners}), at least one facet"
            )
        if array.min() < 0 or array.max() >= len(self.points):
            raise InputError(f"boundary {name!r} has nodes {array.min()} … {array.max()} of {len(self.points)} points")
        cells, local = self._sides(name, array)
        return self.cells[cells[:, None], np.array(cell.FACETS[self.kind])[local]]

    @cached_property
    def facets(self) -> np.ndarray:
        """All facets that belong to one cell only, by their corner nodes, turned outwards: the whole boundary."""
        keys, origin = self._facets
        once = np.ones(len(keys), dtype=bool)
        once[1:] &= keys[1:] != keys[:-1]
        once[:-1] &= keys[:-1] != keys[1:]
        cells, local = np.divmod(np.sort(origin[once]), len(cell.FACETS[self.kind]))
        return self.cells[cells[:, None], np.array(cell.FACETS[self.kind])[local]]

    def boundary(self, name: str) -> np.ndarray:
        """The facets of a named boundary by their corner nodes, (facets, corners of a facet)."""
        if name not in self.boundaries:
            raise InputError(unknown("boundary", name, self.boundaries))
        return self.boundaries[name]

    def sides(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """The cell of each facet of a boundary, and which of its facets it is (as in `cells.FACETS`)."""
        return self._sides(name, self.boundary(name))

    def facet_nodes(self, name: str) -> np.ndarray:
        """All nodes of each facet of a boundary, middles included, in VTK's order of the facet."""
        return self.facet_nodes_of(self.boundary(name), name)

    def facet_nodes_of(self, facets: np.ndarray, name: str = "") -> np.ndarray:
        """The same of facets given by their corner nodes."""
        cells, local = self._sides(name, facets)
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
        """The same mesh with one more boundary: the facets all of whose corners are where(points) says, or a mask of `facets`."""
        if callable(where):
            mask = np.asarray(where(self.points))
            if mask.shape != (len(self.points),) or mask.dtype != bool:
                raise InputError(
                    f"where(points) of boundary {name!r} gave shape {mask.shape} of {mask.dtype}; it must be "
                    f"{len(self.points)} times True or False, as lambda p: p[:, 0] < 1e-9 gives"
                )
            chosen = mask[self.facets].all(axis=1)
        else:
            chosen = np.asarray(where)
            if chosen.shape != (len(self.facets),) or chosen.dtype != bool:
                raise InputError(
                    f"where of boundary {name!r} has shape {chosen.shape} of {chosen.dtype}; it must be "
                    f"{len(self.facets)} times True or False, one a facet of the boundary"
                )
        if not chosen.any():
            low, high = self.points.min(axis=0), self.points.max(axis=0)
            raise InputError(
                f"boundary {name!r} would be empty: no facet has all its corners there; the points lie between "
                f"{point_text(low)} and {point_text(high)}"
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
        used, numbers = np.unique(self.corners, return_inverse=True)
        new = np.zeros(len(self.points), dtype=int)
        new[used] = np.arange(len(used))
        boundaries = {name: new[facets] for name, facets in self.boundaries.items()}
        return replace(self, points=self.points[used], cells=numbers.reshape(self.corners.shape), boundaries=boundaries)

    def of_order(self, order: int) -> Mesh:
        """The same mesh with corners only (1), or with middles of edges, faces and cells, straight where they are new (2)."""
        if order not in (1, 2):
            raise InputError(f"order is {order!r}; cells are of order 1 (straight) or 2 (may be curved)")
        if order == self.order:
            return self
        if order == 1:
            return self.corners_only()
        points, cells = _with_middles(self.kind, self.points, self.cells)
        return replace(self, points=points, cells=cells)

    def refined(self, times: int = 1) -> Mesh:
        """Every cell cut in the middle of its edges, `times` times; names stay, curved cells keep their curves."""
        if times < 0 or times != int(times):
            raise InputError(f"times is {times}; it must be a whole number, 0 or more")
        mesh = self
        for _ in range(int(times)):
            mesh = _cut(mesh)
        return mesh

    def merged(self, tolerance: float | None = None) -> Mesh:
        """Points closer than the tolerance (1e-8 of the size if not given) made one: parts that only touch are joined."""
        near = 1e-8 * self.size if tolerance is None else positive("tolerance", tolerance)
        pairs = cKDTree(self.points).query_pairs(near, output_type="ndarray")
        n = len(self.points)
        graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
        _, group = connected_components(graph, directed=False)
        first = np.full(n, n)
        np.minimum.at(first, group, np.arange(n))
        kept, number = np.unique(first[group], return_inverse=True)
        boundaries = {name: number[facets] for name, facets in self.boundaries.items()}
        return replace(self, points=self.points[kept], cells=number[self.cells], boundaries=boundaries)


def _with_middles(kind: str, points: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points and cells of order 2: first the corners, then the middles, those shared by several cells once."""
    all_points, columns, count = [points], [cells], len(points)
    groups: dict[int, list[tuple[int, ...]]] = {}
    for corners in cell.middles(kind):
        groups.setdefault(len(corners), []).append(corners)  # of edges, of faces, of the cell
    for width, group in groups.items():
        nodes = np.sort(cells[:, np.array(group)], axis=2).reshape(-1, width)
        key = np.zeros(len(nodes), dtype=np.int64)
        for node in nodes[:, :3].T:
            key = key * len(points) + node
        _, first, number = np.unique(key, return_index=True, return_inverse=True)
        all_points.append(points[nodes[first]].mean(axis=1))
        columns.append(count + number.reshape(len(cells), -1))
        count += len(first)
    return np.vstack(all_points), np.hstack(columns)


def _cut(mesh: Mesh) -> Mesh:
    """Every cell cut into 2^d: the corners of the parts are the nodes of order 2, their own middles lie on the same curves."""
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
        at = cell.shape_values(kind, 2, xi.reshape(-1, xi.shape[-1])).reshape(*xi.shape[:2], -1)
        x = np.repeat(fine.points[fine.cells], count, axis=0)
        points = points.copy()
        points[cells] = at @ x
    pieces = cell.children(cell.FACET[kind])
    boundaries = {name: fine.facet_nodes(name)[:, pieces].reshape(-1, pieces.shape[1]) for name in mesh.boundaries}
    regions = {name: (count * ids[:, None] + np.arange(count)).ravel() for name, ids in mesh.regions.items()}
    return Mesh(kind, points, cells, boundaries, regions)
