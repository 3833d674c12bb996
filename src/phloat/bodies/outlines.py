"""Outlines of solids, sheets and plates that mesh themselves, with as many cells as asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from phloat.errors import InputError, not_negative, positive, whole_number
from phloat.fem import shapes
from phloat.fem.mesh import Mesh


class Outline(Protocol):
    """Something that can be meshed finer or coarser."""

    def mesh(self, n: int | Sequence[int], order: int) -> Mesh:
        """A mesh with n cells along the longest side, or with the given numbers of cells along each."""


class PositiveSides:
    """Fields called a, b, c are positive lengths."""

    def __post_init__(self) -> None:
        for name in sorted(vars(self).keys() & {"a", "b", "c"}):
            object.__setattr__(self, name, positive(f"side {name}", getattr(self, name)))


@dataclass(frozen=True)
class BoxOutline(PositiveSides):
    """0 ≤ x ≤ a, 0 ≤ y ≤ b, 0 ≤ z ≤ c; sides left, right (x), bottom, top (y), back, front (z)."""

    a: float
    b: float
    c: float
    cells: str = "hexahedron"

    def mesh(self, n: int | Sequence[int], order: int) -> Mesh:
        nx, ny, nz = _counts(n, (self.a, self.b, self.c))
        return shapes.box(self.a, self.b, self.c, nx, ny, nz, kind=self.cells, order=order)


@dataclass(frozen=True)
class RectangleOutline(PositiveSides):
    """0 ≤ x ≤ a, 0 ≤ y ≤ b; sides left, right (x), bottom, top (y)."""

    a: float
    b: float
    cells: str = "quadrilateral"

    def mesh(self, n: int | Sequence[int], order: int) -> Mesh:
        nx, ny = _counts(n, (self.a, self.b))
        return shapes.rectangle(self.a, self.b, nx, ny, kind=self.cells, order=order)


@dataclass(frozen=True)
class TubeOutline:
    """A tube about the x axis, or a full bar where inner is 0: sides left x = 0, right x = length, outer, inner.

    Numbers of cells: along it, through its wall (from its middle, at least 2, of a full bar), around it (a multiple of 4).
    """

    length: float
    outer: float
    inner: float = 0.0
    cells: str = "hexahedron"

    def mesh(self, n: int | Sequence[int], order: int) -> Mesh:
        wall, middle = self.outer - self.inner, np.pi * (self.outer + self.inner)
        along, through, around = _counts(n, (self.length, wall, middle))
        if np.ndim(n) == 0:
            through, around = max(through, 1 if self.inner else 2), max(8, 4 * round(around / 4))
        return shapes.tube(self.length, self.outer, self.inner, along, through, around, kind=self.cells, order=order)


@dataclass(frozen=True)
class BracketOutline:
    """An L of two legs, a along x and b along y, width along z; ends A (x = a) and B (y = b). n cells through its thickness."""

    a: float
    b: float
    thickness: float
    width: float
    cells: str = "hexahedron"

    def mesh(self, n: int | Sequence[int], order: int) -> Mesh:
        (count,) = _counts(n, (1.0,))
        return shapes.bracket(self.a, self.b, self.thickness, self.width, count, kind=self.cells, order=order)


def mesh_outline(mesh: Mesh | Outline, n: int | Sequence[int] | None, order: int, refine: int) -> Mesh:
    """The mesh of the wanted order, an outline with n cells, cut into halves `refine` times."""
    if order not in (1, 2):
        raise InputError(f"order is {order!r}; displacements are of order 1 or 2")
    whole_number("refine", refine, 0)
    if isinstance(mesh, Mesh):
        if n is not None:
            raise InputError(f"n is {n!r}, but this body has a mesh of its own; cut its cells into halves by refine=1")
        return mesh.refined(refine).of_order(order)
    if n is None:
        raise InputError(f"the number of cells is missing: discretise(8, order={order}) makes 8 along the longest side")
    return mesh.mesh(n, order).refined(refine)


def _positive_integers(n: object) -> list[int]:
    """One or several whole numbers, 1 or more."""
    return [whole_number("the number of cells", k, 1) for k in np.atleast_1d(np.asarray(n, dtype=object))]


def _counts(n: int | Sequence[int], lengths: Sequence[float]) -> list[int]:
    """Cells along each side: as given, or n along the longest and as many of about the same size along the others."""
    whole = _positive_integers(n)
    if np.ndim(n) == 0:
        return [max(1, round(whole[0] * side / max(lengths))) for side in lengths]
    if len(whole) != len(lengths):
        raise InputError(f"{len(whole)} numbers of cells, {tuple(whole)}; this outline has {len(lengths)}")
    return whole


# --- plates -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlateRectangle(PositiveSides):
    """0 ≤ x ≤ a, 0 ≤ y ≤ b, with sides left, right, bottom and top."""

    a: float
    b: float

    def mesh(self, n: int | tuple[int, int], kind: str) -> Mesh:
        """n cells along the longer side and as many along the other as make them about square, at least 2; or (nx, ny)."""
        longest, numbers = max(self.a, self.b), _positive_integers(n)
        if len(numbers) > 2:
            raise InputError(f"n is {n!r}; it must be a number of cells, or two: (along x, along y)")
        if len(numbers) == 1:
            size = longest / numbers[0]
            numbers = [numbers[0] if side == longest else max(2, round(side / size)) for side in (self.a, self.b)]
        nx, ny = numbers
        return shapes.rectangle(self.a, self.b, nx, ny, kind)


@dataclass(frozen=True)
class PlateDisc:
    """A disc about the origin, or a ring; its sides are the rim and, of a ring, the bore."""

    radius: float
    inner: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", positive("radius", self.radius))
        object.__setattr__(self, "inner", not_negative("inner radius", self.inner))
        if self.inner >= self.radius:
            raise InputError(f"the inner radius is {self.inner:g}; it must be smaller than the radius {self.radius:g}")

    def mesh(self, n: int | tuple[int, int], kind: str, *, inscribed: bool = False) -> Mesh:
        """n cells from the middle (or the bore) to the rim.

        Unless `inscribed`, vertices lie a little outside the circles, so that the straight cells have the area of the disc:
        frequencies of a free disc are then 50 times nearer.
        """
        if isinstance(n, tuple):
            raise InputError(f"n is {n!r}; a disc takes one number, of cells from the middle to the rim")
        (n,) = _positive_integers(n)
        square = 4 * round(n * np.pi * (self.radius + self.inner) / (self.radius - self.inner) / 4.0)
        mesh = shapes.disc(self.radius, n, self.inner, around=max(12, square), kind=kind)
        area = np.pi * (self.radius**2 - self.inner**2)
        return mesh if inscribed else mesh.scaled(float(np.sqrt(area / mesh.measure.sum())))
