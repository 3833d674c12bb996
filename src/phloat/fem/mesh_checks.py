"""Checks of meshes: numbers in range, every point used, cells neither flat nor inverted."""

from __future__ import annotations

import numpy as np

from phloat.errors import InputError, finite, mapping
from phloat.fem import cells as cell

MOST = 2_000_000  # points: three node numbers still fit in one of 64 bits
FLAT = 1e-12  # of a cube of the extent of the cell: below, a cell has no volume


def require_points(kind: str, points: object) -> np.ndarray:
    """Points as floats (points, 3); planar ones are put in the plane z = 0."""
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
                f"the {cell.PLURAL[kind]} are not in one plane: z is between {z.min():g} and {z.max():g}; planar bodies lie in a "
                "plane of constant z, and curved shells are not among them"
            )
        out[:, 2] = 0.0
    return out


def require_cells(kind: str, cells: object, points: np.ndarray) -> np.ndarray:
    """Cells as node numbers, all in range, and no point left over."""
    array = np.asarray(cells)
    allowed = cell.NODES[kind]
    if array.ndim != 2 or array.shape[1] not in allowed or array.dtype.kind not in "iu":
        raise InputError(
            f"cells have shape {array.shape} of {array.dtype}; {cell.PLURAL[kind]} are whole numbers of nodes, "
            f"(cells, {allowed[0]}) or, curved, (cells, {allowed[1]})"
        )
    if not len(array):
        raise InputError("there are no cells")
    if array.min() < 0 or array.max() >= len(points):
        raise InputError(f"cells have nodes {array.min()} … {array.max()}; the points are 0 … {len(points) - 1}")
    array = array.astype(np.int64)
    used = np.zeros(len(points), dtype=bool)
    used[array] = True
    if not used.all():
        left = np.flatnonzero(~used)
        first = ", ".join(f"{k} at {point_text(points[k])}" for k in left[:3])
        raise InputError(f"{len(left)} of {len(points)} points belong to no cell, first {first}; leave them out")
    return array


def consistent_orientation(kind: str, points: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """The cells, renumbered if all of them have negative volume; cells without volume or of both signs are refused."""
    low, high = jacobians(kind, points, cells)
    flat = (high <= 0.0) & (low >= 0.0)
    if flat.any():
        what = "area" if cell.DIMENSION[kind] == 2 else "volume"
        raise InputError(_counted(kind, points, cells, flat, f"have no {what}"))
    inverted, mixed = (low < 0.0) & (high <= 0.0), (low < 0.0) & (high > 0.0)
    if mixed.any():
        raise InputError(
            _counted(kind, points, cells, mixed, "are folded: their Jacobian changes its sign inside")
            + ", or number the nodes in VTK's order (corners around each face, then middles)"
        )
    if inverted.all():
        order = cell.NODES[kind].index(cells.shape[1]) + 1
        return cells[:, cell.mirrored_numbering(kind, order)]
    if inverted.any():
        raise InputError(_counted(kind, points, cells, inverted, "are inverted, the others not"))
    return cells


def jacobians(kind: str, points: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest Jacobian determinant of each cell at its corners and quadrature points, 0 within round-off."""
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
    """Regions as numbers of cells; a mask of all cells is one too."""
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
    """A point as text."""
    return "(" + ", ".join(f"{c:g}" for c in x) + ")"


def _counted(kind: str, points: np.ndarray, cells: np.ndarray, chosen: np.ndarray, what: str) -> str:
    numbers = np.flatnonzero(chosen)
    first = ", ".join(f"{k} at {point_text(points[cells[k]].mean(axis=0))}" for k in numbers[:3])
    return f"{len(numbers)} of {len(cells)} {cell.PLURAL[kind]} {what}, first cell {first}; repair the mesh there"
