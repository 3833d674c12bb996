"""Outlines of solids, sheets and plates, which are meshed with a chosen number of cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from phloat.algebra.units import si_value
from phloat.errors import InputError, not_negative, positive, whole_number
from phloat.fem import shapes
from phloat.fem.mesh import Mesh


class Outline(Protocol):
    """A shape that can be meshed with any number of cells."""

    def mesh(self, n: int | Sequence[int], order: int) -> Mesh:
        """A mesh with n cells along the longest side, or with n[k] cells along side k."""


class PositiveSides:
    """Base of outlines whose fields a, b, c must be positive lengths."""

    def __post_init__(self) -> None:
        for name in sorted(vars(self).keys() & {"a", "b", "c"}):
            side = si_value(f"side {name}", getattr(self, name), ("length",))
            object.__setattr__(self, name, positive(f"side {name}", side))


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

    Numbers of cells: along the axis, through the wall (of a full bar from axis to side, at least 2), around (a multiple of 4).
    """

    length: float
    outer: float
    inner: float = 0.0
    cells: str = "hexahedron"

    def mesh(self, n: int | Sequence[int], order: int) -> Mesh:
        wall, middle = self.outer - self.inner, np.pi * (self.outer + self.inner)
        axial, through, around = _counts(n, (self.length, wall, middle))
        if np.ndim(n) == 0:
            through, around = max(through, 1 if self.inner else 2), max(8, 4 * round(around / 4))
        return shapes.tube(self.length, self.outer, self.inner, axial, through, around, kind=self.cells, order=order)


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
    """The mesh of a body in cells of this order, an outline with n cells, refined `refine` times. Raises InputError if n does
    not fit."""
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
    """One or several numbers of cells as a list. Raises InputError unless they are whole and positive."""
    return [whole_number("the number of cells", k, 1) for k in np.atleast_1d(np.asarray(n, dtype=object))]


def _counts(n: int | Sequence[int], lengths: Sequence[float]) -> list[int]:
    """Numbers of cells along the sides: n itself, or n along the longest side and cells of about this size along the others."""
    numbers = _positive_integers(n)
    if np.ndim(n) == 0:
        return [max(1, round(numbers[0] * side / max(lengths))) for side in lengths]
    if len(numbers) != len(lengths):
        raise InputError(f"{len(numbers)} numbers of cells, {tuple(numbers)}; this outline has {len(lengths)}")
    return numbers


# --- plates -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlateRectangle(PositiveSides):
    """0 ≤ x ≤ a, 0 ≤ y ≤ b, with sides left, right, bottom and top."""

    a: float
    b: float

    def mesh(self, n: int | tuple[int, int], kind: str) -> Mesh:
        """n cells along the longer side and about square ones along the other, at least 2; or (nx, ny)."""
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
        """A mesh with n cells from the middle (or the bore) to the rim.

        Unless `inscribed`, vertices lie slightly outside the circles, so that the straight cells have the area of the disc:
        errors of the frequencies of a free disc are then 50 times smaller.
        """
        if isinstance(n, tuple):
            raise InputError(f"n is {n!r}; a disc takes one number, of cells from the middle to the rim")
        (n,) = _positive_integers(n)
        square = 4 * round(n * np.pi * (self.radius + self.inner) / (self.radius - self.inner) / 4.0)
        mesh = shapes.disc(self.radius, n, self.inner, around=max(12, square), kind=kind)
        area = np.pi * (self.radius**2 - self.inner**2)
        return mesh if inscribed else mesh.scaled(float(np.sqrt(area / mesh.measure.sum())))
