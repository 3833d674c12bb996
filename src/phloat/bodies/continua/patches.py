"""Ports on a disc inside a plate, a sheet or a face of a solid.

A point carries neither every force nor every moment: what it gives way by grows without bound as the mesh is refined. A disc of
radius a has a compliance of its own, to which meshes with cells smaller than a converge.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from phloat.algebra.metadata import describe
from phloat.errors import CoarsePatchWarning, InputError, finite, positive

COARSE = 0.5  # of the size of a cell: with smaller radii frequencies that bend the patch are more than 2 % high
FINE = 4  # points of a disc along the side of a cell: kinks between cells are seen


@dataclass(frozen=True)
class Patch:
    """A port that follows the mean motion of a disc about a point; forces and moments are spread over it.

    `at` is the middle of the disc: a point of a plate or a sheet, or on the surface of a solid. `radius` is about that of the part
    fixed there; cells should not be larger than it.
    """

    at: Sequence[float] = field(metadata=describe("the middle of the disc", "length"))
    radius: float = field(metadata=describe("about that of what is fixed there", "length", above=0.0))

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", tuple(finite("at of a Patch", self.at, (3,)).tolist()))
        object.__setattr__(self, "radius", positive("radius of a Patch", self.radius))

    def disc(self, cell: float) -> tuple[np.ndarray, np.ndarray]:
        """Points (points, 2) about the middle and weights whose sum is the area, fine compared with cells of the given size."""
        if self.radius < COARSE * cell:
            where = ", ".join(f"{x:g}" for x in self.at)
            warnings.warn(
                f"the patch of radius {self.radius:g} about ({where}) lies in cells of size {cell:.3g}, which give "
                f"way less than it does; make cells of at most {self.radius / COARSE:.3g} there",
                CoarsePatchWarning,
                stacklevel=3,
            )
        per = FINE * self.radius / cell
        s, weight = np.polynomial.legendre.leggauss(4 + int(np.ceil(per)))
        r, around = 0.5 * self.radius * (1.0 + s), 12 + 2 * int(np.ceil(np.pi * per))
        angle = 2.0 * np.pi * (np.arange(around) + 0.5) / around
        x = r[:, None, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        each = np.pi * self.radius * weight * r / around
        return x.reshape(-1, 2), np.repeat(each, around)


def disc_error(patch: Patch, what: str) -> InputError:
    """The error for a disc that reaches beyond the body."""
    where = ", ".join(f"{x:g}" for x in patch.at)
    return InputError(
        f"the disc of radius {patch.radius:g} about ({where}) reaches beyond {what}; take a smaller radius, or move it inwards"
    )
