"""Meshes of simple shapes without a file: structured, with names on their sides.

`order=2` gives cells with middles, which lie on the true circles of discs, tubes and bores. Triangles and tetrahedra are split
from blocks with alternating diagonals: the mesh is symmetric where the counts are even.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from phloat.errors import InputError, not_negative, positive, unknown
from phloat.fem.blocks import grid, joined, mapped, named, pulled, simplices
from phloat.fem.mesh import Mesh

PLANAR, SOLID = ("triangle", "quadrilateral"), ("tetrahedron", "hexahedron")


def rectangle(a: float, b: float, nx: int, ny: int, kind: str = "triangle", order: int = 1) -> Mesh:
    """0 ≤ x ≤ a, 0 ≤ y ≤ b in nx × ny blocks; left x = 0, right x = a, bottom y = 0, top y = b.

    Diagonals of triangles begin in the corners: for even nx and ny no triangle has two sides on the boundary.
    """
    _choices(kind, PLANAR, order)
    a, b = positive("a", a), positive("b", b)
    flat = grid(_count("nx", nx), _count("ny", ny), order)
    return _of_kind(mapped(flat, lambda x, y: (a * x, b * y)), kind)


def box(a: float, b: float, c: float, nx: int, ny: int, nz: int, kind: str = "tetrahedron", order: int = 1) -> Mesh:
    """0 ≤ x ≤ a, 0 ≤ y ≤ b, 0 ≤ z ≤ c in nx × ny × nz hexahedra, or five tetrahedra for each.

    Names: left x = 0, right x = a, bottom y = 0, top y = b, back z = 0, front z = c.
    """
    _choices(kind, SOLID, order)
    flat = rectangle(a, b, nx, ny, "quadrilateral", order)
    return _of_kind(pulled(flat, positive("c", c), _count("nz", nz)), kind)


def disc(radius: float, n: int, inner: float = 0.0, around: int = 24, kind: str = "triangle", order: int = 1) -> Mesh:
    """A disc about the origin with n ≥ 2 blocks from its middle to its rim.

    With an inner radius a ring, n blocks from its bore to its rim and `around` of them in a turn. Names: rim, bore.
    """
    _choices(kind, PLANAR, order)
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
    _choices(kind, SOLID, order)
    flat = _round(positive("outer", outer), _inner(inner, outer), n, around, order)
    flat = named(flat, {"rim": "outer", "bore": "inner"} if inner else {"rim": "outer"})
    upright = pulled(flat, positive("length", length), _count("nx", nx), ("left", "right"))
    return _of_kind(replace(upright, points=upright.points[:, [2, 0, 1]]), kind)


def bracket(
    a: float, b: float, thickness: float, width: float, n: int = 2, kind: str = "tetrahedron", order: int = 1
) -> Mesh:
    """An L of two legs, a along x and b along y from the outer corner, `width` along z; blocks of about thickness / n.

    Names: A is the end of the leg along x (x = a), B of the leg along y (y = b). The inner corner is sharp: stresses there grow
    without bound as the mesh is refined.
    """
    _choices(kind, SOLID, order)
    t, width, n = positive("thickness", thickness), positive("width", width), _count("n", n)
    a, b = positive("a", a), positive("b", b)
    if min(a, b) <= t:
        raise InputError(f"the legs {a:g} and {b:g} are not longer than the thickness {t:g}; they include the corner")
    n_a, n_b = (_even(n * (leg - t) / t) for leg in (a, b))
    corner = mapped(grid(n, n, order), lambda x, y: (t * x, t * y))
    along_x = mapped(grid(n_a, n, order), lambda x, y: (t + (a - t) * x, t * y))
    along_y = mapped(grid(n, n_b, order), lambda x, y: (t * x, t + (b - t) * y))
    blocks = [named(corner, {}), named(along_x, {"right": "A"}), named(along_y, {"top": "B"})]
    return _of_kind(pulled(joined(blocks), width, _even(n * width / t)), kind)


def link(
    length: float,
    width: float,
    thickness: float,
    bore: float,
    n: int = 2,
    kind: str = "tetrahedron",
    order: int = 1,
) -> Mesh:
    """A bar with round ends and a bore of radius `bore` in each: bore A about the z axis, bore B at x = length.

    n blocks through the wall around the bores, the others of like size. −thickness / 2 ≤ z ≤ thickness / 2.
    Names: bore A, bore B, and back and front, the flat sides (z below and above).
    """
    _choices(kind, SOLID, order)
    length, width, height = positive("length", length), positive("width", width), positive("thickness", thickness)
    bore, n, half = positive("bore", bore), _count("n", n), width / 2
    if bore >= half:
        raise InputError(f"a bore of radius {bore:g} does not fit into a width of {width:g}; it must be below {half:g}")
    if length <= width:
        raise InputError(f"the length {length:g} between the bores must be more than the width {width:g}")
    size = (half - bore) / n
    quarter = _even(np.pi / 2 * (bore + half) / 2 / size)  # blocks in a quarter turn, and across the bar
    eye = mapped(grid(4 * quarter, n, order), lambda t, s: _eye(2 * np.pi * t, s, bore, half))
    other = mapped(eye, lambda x, y: (length - x, -y))
    bar = mapped(
        grid(_even((length - width) / size), quarter, order),
        lambda s, t: (half + (length - width) * s, half * np.tan(np.pi / 4 * (2 * t - 1))),
    )
    blocks = [named(eye, {"bottom": "bore A"}), named(other, {"bottom": "bore B"}), named(bar, {})]
    solid = pulled(joined(blocks), height, _even(height / size))
    return _of_kind(replace(solid, points=solid.points - [0.0, 0.0, height / 2]), kind)


def _eye(angle: np.ndarray, s: np.ndarray, bore: float, half: float) -> tuple[np.ndarray, np.ndarray]:
    """From the bore (s = 0) along rays outwards to the contour (s = 1) of the end of a bar that goes on in x.

    Angles begin at −45°: the first quarter ends on the line x = half, an eighth more on y = half, then half a circle.
    """
    phi = angle - np.pi / 4
    c, sine = np.cos(phi), np.sin(phi)
    reach = half / np.where(c > 1e-9, np.maximum(np.abs(c), np.abs(sine)), 1.0)  # a half circle where x < 0
    radius = bore + (reach - bore) * s
    return radius * c, radius * sine


def _round(radius: float, inner: float, n: int, around: int, order: int) -> Mesh:
    """A disc or ring of quadrilaterals; a disc has a core of squares, bulged towards a circle, so that no angle is 180°."""
    if inner:
        if _count("around", around) % 4:
            raise InputError(f"around is {around}; it must be a multiple of 4")
        wall = grid(around, _count("n", n), order)
        rolled = mapped(wall, lambda t, s: _polar(inner + (radius - inner) * s, 2 * np.pi * t))
        return joined([named(rolled, {"bottom": "bore", "top": "rim"})])
    if _count("n", n) < 2:
        raise InputError(f"n is {n}; a full disc needs 2 blocks from the middle to the rim, or more")
    half = (n + 1) // 2
    size = radius * half / n  # about the radius of the core

    def core(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """[−1, 1]² to something between a square and a disc."""
        return size * x * (0.4 + 0.5 * np.sqrt(1 - y**2 / 2)), size * y * (0.4 + 0.5 * np.sqrt(1 - x**2 / 2))

    def quarter(turn: int) -> Mesh:
        def onto(t: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            x, y = core(np.ones_like(t), 2 * t - 1)
            rim_x, rim_y = _polar(radius * np.ones_like(t), np.pi / 4 * (2 * t - 1))
            x, y = (1 - s) * x + s * rim_x, (1 - s) * y + s * rim_y
            c, sine = ((1, 0), (0, 1), (-1, 0), (0, -1))[turn]
            return c * x - sine * y, sine * x + c * y

        return named(mapped(grid(2 * half, n - half, order), onto), {"top": "rim"})

    squares = mapped(grid(2 * half, 2 * half, order), lambda x, y: core(2 * x - 1, 2 * y - 1))
    return joined([named(squares, {}), *map(quarter, range(4))])


def _polar(radius: np.ndarray, angle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return radius * np.cos(angle), radius * np.sin(angle)


def _of_kind(blocks: Mesh, kind: str) -> Mesh:
    return blocks if kind == blocks.kind else simplices(blocks)


def _choices(kind: str, kinds: tuple[str, ...], order: int) -> None:
    if kind not in kinds:
        raise InputError(unknown("kind of cells", kind, kinds))
    if order not in (1, 2):
        raise InputError(f"order is {order!r}; cells are of order 1 (straight) or 2 (may be curved)")


def _inner(inner: float, outer: float) -> float:
    inner = not_negative("inner", inner)
    if inner >= outer:
        raise InputError(f"the inner radius {inner:g} is not below the outer one, {outer:g}")
    return inner


def _count(what: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise InputError(f"{what} is {value!r}; it must be a whole number of blocks, 1 or more")
    return int(value)


def _even(count: float) -> int:
    """The next even number, at least 2: even counts are symmetric."""
    return max(2, 2 * int(np.ceil(count / 2 - 1e-9)))
