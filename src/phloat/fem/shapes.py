"""Meshes of simple shapes without a file: structured, with names on their sides.

`order=2` gives cells with middles, which lie on the true circles of discs, tubes and bores. Triangles and tetrahedra are split
from blocks with alternating diagonals: the mesh is symmetric where the counts are even.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path

from phloat.errors import InputError, not_negative, positive, unknown, whole_number
from phloat.fem import cells as cell
from phloat.fem.mesh import Mesh, used_points

PLANAR, SOLID = ("triangle", "quadrilateral"), ("tetrahedron", "hexahedron")


def rectangle(a: float, b: float, nx: int, ny: int, kind: str = "triangle", order: int = 1) -> Mesh:
    """0 ≤ x ≤ a, 0 ≤ y ≤ b in nx × ny blocks; left x = 0, right x = a, bottom y = 0, top y = b.

    Diagonals of triangles begin in the corners: for even nx and ny no triangle has two sides on the boundary.
    """
    a, b = positive("a", a), positive("b", b)
    flat = unit_square(whole_number("nx", nx, 1), whole_number("ny", ny, 1), order)
    return _of_kind(map_points(flat, lambda x, y: (a * x, b * y)), kind)


def box(a: float, b: float, c: float, nx: int, ny: int, nz: int, kind: str = "tetrahedron", order: int = 1) -> Mesh:
    """0 ≤ x ≤ a, 0 ≤ y ≤ b, 0 ≤ z ≤ c in nx × ny × nz hexahedra, or five tetrahedra for each.

    Names: left x = 0, right x = a, bottom y = 0, top y = b, back z = 0, front z = c.
    """
    flat = rectangle(a, b, nx, ny, "quadrilateral", order)
    return _of_kind(extrude(flat, positive("c", c), whole_number("nz", nz, 1)), kind)


def disc(radius: float, n: int, inner: float = 0.0, around: int = 24, kind: str = "triangle", order: int = 1) -> Mesh:
    """A disc about the origin with n ≥ 2 blocks from its middle to its rim.

    With an inner radius a ring, n blocks from its bore to its rim and `around` of them in a turn. Names: rim, bore.
    """
    return _of_kind(_round(positive("radius", radius), _inner(inner, radius), n, around, order), kind)


def tube(
    length: float,
    outer: float,
    inner: float,
    nx: int,
    n: int = 1,
    around: int = 24,
    kind: str = "tetrahedron",
    order: int = 1,
) -> Mesh:
    """A tube about the x axis between two radii: nx blocks along it, n through its wall, `around` in a turn.

    Names: left x = 0, right x = length, inner, outer. inner = 0 makes a full bar, n ≥ 2 blocks from its middle to its side.
    """
    flat = _round(positive("outer", outer), _inner(inner, outer), n, around, order)
    flat = rename_boundaries(flat, {"rim": "outer", "bore": "inner"} if inner else {"rim": "outer"})
    upright = extrude(flat, positive("length", length), whole_number("nx", nx, 1), ("left", "right"))
    return _of_kind(replace(upright, points=upright.points[:, [2, 0, 1]]), kind)


def bracket(
    a: float, b: float, thickness: float, width: float, n: int = 2, kind: str = "tetrahedron", order: int = 1
) -> Mesh:
    """An L of two legs, a along x and b along y from the outer corner, `width` along z; blocks of about thickness / n.

    Names: A is the end of the leg along x (x = a), B of the leg along y (y = b). The inner corner is sharp: stresses there grow
    without bound as the mesh is refined.
    """
    t, width, n = positive("thickness", thickness), positive("width", width), whole_number("n", n, 1)
    a, b = positive("a", a), positive("b", b)
    if min(a, b) <= t:
        raise InputError(f"the legs {a:g} and {b:g} are not longer than the thickness {t:g}; they include the corner")
    n_a, n_b = (_even(n * (leg - t) / t) for leg in (a, b))
    corner = map_points(unit_square(n, n, order), lambda x, y: (t * x, t * y))
    along_x = map_points(unit_square(n_a, n, order), lambda x, y: (t + (a - t) * x, t * y))
    along_y = map_points(unit_square(n, n_b, order), lambda x, y: (t * x, t + (b - t) * y))
    blocks = [
        rename_boundaries(corner, {}),
        rename_boundaries(along_x, {"right": "A"}),
        rename_boundaries(along_y, {"top": "B"}),
    ]
    return _of_kind(extrude(join_blocks(blocks), width, _even(n * width / t)), kind)


def link(
    length: float, width: float, thickness: float, bore: float, n: int = 2, kind: str = "tetrahedron", order: int = 1
) -> Mesh:
    """A bar with round ends and a bore of radius `bore` in each: bore A about the z axis, bore B at x = length.

    n blocks through the wall around the bores, the others of like size. −thickness / 2 ≤ z ≤ thickness / 2.
    Names: bore A, bore B, and back and front, the flat sides (z below and above).
    """
    length, width, height = positive("length", length), positive("width", width), positive("thickness", thickness)
    bore, n, half = positive("bore", bore), whole_number("n", n, 1), width / 2
    if bore >= half:
        raise InputError(f"a bore of radius {bore:g} does not fit into a width of {width:g}; it must be below {half:g}")
    if length <= width:
        raise InputError(f"the length {length:g} between the bores must be more than the width {width:g}")
    size = (half - bore) / n
    quarter = _even(np.pi / 2 * (bore + half) / 2 / size)  # blocks in a quarter turn, and across the bar
    eye = map_points(unit_square(4 * quarter, n, order), lambda t, s: _eye(2 * np.pi * t, s, bore, half))
    opposite_eye = map_points(eye, lambda x, y: (length - x, -y))
    bar = map_points(
        unit_square(_even((length - width) / size), quarter, order),
        lambda s, t: (half + (length - width) * s, half * np.tan(np.pi / 4 * (2 * t - 1))),
    )
    blocks = [
        rename_boundaries(eye, {"bottom": "bore A"}),
        rename_boundaries(opposite_eye, {"bottom": "bore B"}),
        rename_boundaries(bar, {}),
    ]
    solid = extrude(join_blocks(blocks), height, _even(height / size))
    return _of_kind(replace(solid, points=solid.points - [0.0, 0.0, height / 2]), kind)


def _eye(angle: np.ndarray, s: np.ndarray, bore: float, half: float) -> tuple[np.ndarray, np.ndarray]:
    """Points on rays from the bore (s = 0) to the contour (s = 1) of the end of a bar that continues along x.

    Angles start at −45°: the first quarter ends on the line x = half, the next eighth on y = half, then follows half a circle.
    """
    phi = angle - np.pi / 4
    c, sine = np.cos(phi), np.sin(phi)
    reach = half / np.where(c > 1e-9, np.maximum(np.abs(c), np.abs(sine)), 1.0)  # a half circle where x < 0
    radius = bore + (reach - bore) * s
    return radius * c, radius * sine


def _round(radius: float, inner: float, n: int, around: int, order: int) -> Mesh:
    """A disc or ring of quadrilaterals; a disc has a core of squares, bulged towards a circle, so that no angle is 180°."""
    if inner:
        if whole_number("around", around, 1) % 4:
            raise InputError(f"around is {around}; it must be a multiple of 4")
        wall = unit_square(around, whole_number("n", n, 1), order)
        rolled = map_points(wall, lambda t, s: _polar(inner + (radius - inner) * s, 2 * np.pi * t))
        return join_blocks([rename_boundaries(rolled, {"bottom": "bore", "top": "rim"})])
    if whole_number("n", n, 1) < 2:
        raise InputError(f"n is {n}; a full disc needs 2 blocks from the middle to the rim, or more")
    half = (n + 1) // 2
    size = radius * half / n  # about the radius of the core

    def core(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Maps [−1, 1]² to a shape between a square and a disc."""
        return size * x * (0.4 + 0.5 * np.sqrt(1 - y**2 / 2)), size * y * (0.4 + 0.5 * np.sqrt(1 - x**2 / 2))

    def quarter(turn: int) -> Mesh:
        def onto(t: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            x, y = core(np.ones_like(t), 2 * t - 1)
            rim_x, rim_y = _polar(radius * np.ones_like(t), np.pi / 4 * (2 * t - 1))
            x, y = (1 - s) * x + s * rim_x, (1 - s) * y + s * rim_y
            c, sine = ((1, 0), (0, 1), (-1, 0), (0, -1))[turn]
            return c * x - sine * y, sine * x + c * y

        return rename_boundaries(map_points(unit_square(2 * half, n - half, order), onto), {"top": "rim"})

    squares = map_points(unit_square(2 * half, 2 * half, order), lambda x, y: core(2 * x - 1, 2 * y - 1))
    return join_blocks([rename_boundaries(squares, {}), *map(quarter, range(4))])


def _polar(radius: np.ndarray, angle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x and y from polar coordinates."""
    return radius * np.cos(angle), radius * np.sin(angle)


def _of_kind(blocks: Mesh, kind: str) -> Mesh:
    """The mesh of blocks, split into simplices if `kind` asks for them. Raises InputError for an unknown kind."""
    kinds = PLANAR if blocks.dimension == 2 else SOLID
    if kind not in kinds:
        raise InputError(unknown("kind of cells", kind, kinds))
    return blocks if kind == blocks.kind else simplices(blocks)


def _inner(inner: float, outer: float) -> float:
    """The inner radius. Raises InputError unless 0 ≤ inner < outer."""
    inner = not_negative("inner", inner)
    if inner >= outer:
        raise InputError(f"the inner radius {inner:g} is not below the outer one, {outer:g}")
    return inner


def _even(count: float) -> int:
    """The next even number, at least 2: meshes with even counts are symmetric."""
    return max(2, 2 * int(np.ceil(count / 2 - 1e-9)))


# --- blocks ----------------------------------------------------------------------------------------------------------
#
# Meshes built from blocks: grids of the unit square are mapped, joined, extruded along z and split into simplices.


def unit_square(nx: int, ny: int, order: int = 1) -> Mesh:
    """The unit square in nx × ny quadrilaterals; left x = 0, right x = 1, bottom y = 0, top y = 1."""
    if order not in (1, 2):
        raise InputError(f"order is {order!r}; cells are of order 1 (straight) or 2 (may be curved)")
    px, py = order * nx + 1, order * ny + 1
    y, x = np.meshgrid(np.linspace(0.0, 1.0, py), np.linspace(0.0, 1.0, px), indexing="ij")
    j, i = (order * g.ravel() for g in np.meshgrid(np.arange(ny), np.arange(nx), indexing="ij"))
    step = np.rint(order * cell.reference_nodes("quadrilateral", order)).astype(int)
    cells = (i[:, None] + step[:, 0]) + px * (j[:, None] + step[:, 1])
    row, column = order * np.arange(nx + 1), px * order * np.arange(ny + 1)
    sides = {"left": column, "right": column + px - 1, "bottom": row, "top": row + px * (py - 1)}
    boundaries = {name: np.column_stack([line[:-1], line[1:]]) for name, line in sides.items()}
    return Mesh("quadrilateral", np.column_stack([x.ravel(), y.ravel()]), cells, boundaries)


def map_points(mesh: Mesh, onto: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]) -> Mesh:
    """The planar mesh with its points (x, y) moved to onto(x, y)."""
    return replace(mesh, points=np.column_stack(onto(mesh.points[:, 0], mesh.points[:, 1])))


def rename_boundaries(mesh: Mesh, names: Mapping[str, str]) -> Mesh:
    """The mesh with only the boundaries in `names`, {old: new}, under their new names."""
    return replace(mesh, boundaries={new: mesh.boundaries[old] for old, new in names.items()})


def join_blocks(meshes: Sequence[Mesh]) -> Mesh:
    """Blocks of one kind as one mesh: coincident points and boundaries of equal name are merged."""
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


def extrude(mesh: Mesh, height: float, layers: int, ends: tuple[str, str] = ("back", "front")) -> Mesh:
    """Hexahedra between z = 0 and z = height over a mesh of quadrilaterals; `ends` names the boundaries there."""
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
    """The quadrilaterals over edges, one for each layer, (edges · layers, 4)."""
    low = edges[:, None, :] + count * layer[:, None]
    return np.concatenate([low, low[:, :, ::-1] + count * order], axis=2).reshape(-1, 4)


# corners of the simplices of a cell; the first table is for cells with an even corner 0
_SPLIT2 = ([[0, 1, 2], [0, 2, 3]], [[1, 2, 3], [1, 3, 0]])
_SPLIT3 = (
    [[0, 2, 7, 5], [1, 2, 0, 5], [3, 0, 2, 7], [4, 7, 5, 0], [6, 5, 7, 2]],
    [[1, 3, 4, 6], [0, 1, 3, 4], [2, 3, 1, 6], [5, 4, 6, 1], [7, 6, 4, 3]],
)


def simplices(mesh: Mesh) -> Mesh:
    """Two triangles for each quadrilateral, five tetrahedra for each hexahedron.

    The points are coloured like a chessboard and all diagonals join points of one colour, so that neighbours match; with even
    counts the mesh is symmetric. Middles of curved cells stay where they are: every new edge is a diagonal of a face.
    """
    even = _chessboard(mesh)
    small, tables = ("triangle", _SPLIT2) if mesh.dimension == 2 else ("tetrahedron", _SPLIT3)
    node_tables = [_with_middles(mesh, small, np.array(table)) for table in tables]
    parts = np.array(node_tables)[np.where(even[mesh.cells[:, 0]], 0, 1)]
    cells = np.take_along_axis(mesh.cells[:, None, :], parts, axis=2).reshape(-1, parts.shape[2])
    boundaries = dict(mesh.boundaries)
    if mesh.dimension == 3:
        for name, facets in mesh.boundaries.items():
            pairs = np.array(_SPLIT2)[np.where(even[facets[:, 0]], 0, 1)]
            boundaries[name] = np.take_along_axis(facets[:, None, :], pairs, axis=2).reshape(-1, 3)
    points, cells, new = used_points(mesh.points, cells)  # middles of hexahedra are left over
    return Mesh(small, points, cells, {name: new[facets] for name, facets in boundaries.items()})


def _with_middles(mesh: Mesh, small: str, corners: np.ndarray) -> np.ndarray:
    """All nodes of the simplices of a cell from their corners, as indices of nodes of the cell."""
    if mesh.order == 1:
        return corners
    places = cell.reference_nodes(mesh.kind, 1)[corners]
    means = [places[:, list(m)].mean(axis=1) for m in cell.middles(small)]
    return np.hstack([corners, cell.node_at(mesh.kind, np.stack(means, axis=1))])


def _chessboard(mesh: Mesh) -> np.ndarray:
    """Whether each corner node is even: the two ends of every edge differ, node 0 is even."""
    edges = mesh.cells[:, np.array(cell.EDGES[mesh.kind])].reshape(-1, 2)
    edges = edges.astype(np.int32)  # SciPy 1.14 finds no paths by longer ones
    n = len(mesh.points)
    graph = coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n)).tocsr()
    distance = shortest_path(graph, directed=False, unweighted=True, indices=int(mesh.cells[0, 0]))
    even = np.where(np.isfinite(distance), distance, 0.0).astype(int) % 2 == 0
    assert (even[edges[:, 0]] != even[edges[:, 1]]).all(), "the blocks cannot be coloured like a chessboard"
    return even
