"""Outlines that a plate can mesh by itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phloat.errors import InputError, not_negative, positive
from phloat.fem.mesh import Mesh
from phloat.fem.shapes import disc, rectangle


@dataclass(frozen=True)
class Oblong:
    """0 ≤ x ≤ a, 0 ≤ y ≤ b, with sides left, right, bottom and top."""

    a: float
    b: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "a", positive("side a", self.a))
        object.__setattr__(self, "b", positive("side b", self.b))

    def mesh(self, n: int | tuple[int, int], kind: str) -> Mesh:
        """n cells along the longer side and as many along the other as make them about square, at least 2; or (nx, ny)."""
        if isinstance(n, tuple):
            if len(n) != 2:
                raise InputError(f"n is {n!r}; it must be a number of cells, or two: (along x, along y)")
            nx, ny = _count(n[0]), _count(n[1])
        else:
            size = max(self.a, self.b) / _count(n)
            nx, ny = (
                _count(n) if side == max(self.a, self.b) else max(2, round(side / size)) for side in (self.a, self.b)
            )
        return rectangle(self.a, self.b, nx, ny, kind)


@dataclass(frozen=True)
class Round:
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
        n = _count(n)
        square = 4 * round(n * np.pi * (self.radius + self.inner) / (self.radius - self.inner) / 4.0)
        mesh = disc(self.radius, n, self.inner, around=max(12, square), kind=kind)
        area = np.pi * (self.radius**2 - self.inner**2)
        return mesh if inscribed else mesh.scaled(float(np.sqrt(area / mesh.measure.sum())))


def _count(n: object) -> int:
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise InputError(f"{n!r} cells; say how many there are, at least one")
    return int(n)
