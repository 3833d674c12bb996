"""An elastic body on a mesh: its mass, its strains and the motion of its boundary, and discs inside a plate, a sheet or a face.

A point carries neither every force nor every moment: what it gives way by grows without bound as the mesh is refined. A disc of
radius a has a compliance of its own, to which meshes with cells smaller than a converge.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from phloat.algebra.layout import Layout
from phloat.algebra.metadata import describe
from phloat.algebra.sparse import Matrix
from phloat.bodies.body import Recipe
from phloat.bodies.inertia import Inertia
from phloat.bodies.material import Damping
from phloat.bodies.shape import Shape
from phloat.errors import CoarsePatchWarning, InputError, finite, positive, unknown

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


class MassSamples(NamedTuple):
    """Where the mass is: T = ½ Σ_a (Φ_a q̇)ᵀ mass (Φ_a q̇), with Φ_a (samples × coordinates) for a = x, y, z.

    Samples are quadrature points (mass diagonal) or nodes (mass consistent): x, too, is a field of samples, (samples, 3).
    `weight` is the area or volume that goes with each sample, so that ∫ f = Σ weight f(x).
    """

    x: np.ndarray
    mass: Matrix
    Phi: tuple[Matrix, Matrix, Matrix]
    weight: np.ndarray | None = None


class Strains(NamedTuple):
    """C σ = D q + ½ pair(q, q): compliance, strains tested with stresses, and the quadratic part as a bilinear function.

    `stresses` names the blocks of σ. pair(q, r) has one number a stress, symmetric in its two arguments; None: no such part.
    """

    C: Matrix
    D: Matrix
    stresses: Layout
    pair: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None


class Trace(NamedTuple):
    """A part of the boundary as quadrature points: x (points, 3), weights, displacement u_a and rotation per coordinate.

    `turn` are the rotations of the material there where the coordinates know them (plates), weighted by `gyration` = h²/12 beside
    squares of lengths; None for solids.
    """

    x: np.ndarray
    weight: np.ndarray
    u: tuple[Matrix, Matrix, Matrix]
    turn: tuple[Matrix, Matrix, Matrix] | None = None
    gyration: float = 0.0


@dataclass(frozen=True, eq=False, kw_only=True)
class MeshBody:
    """An elastic body on a mesh in coordinates q, n of them, as ports and floating bodies need it.

    `M` and `K` (None where the stresses are not local to elements) are the classical matrices, `drag` a damping matrix that is
    given; `strains` computes C and D when they are needed. `rigid` (n × 6) are the coordinates of unit translations and of unit
    rotations about the origin. `kinds` says what each coordinate is ("u_x", "w", "theta_y"…), `parts` which coordinates lie on each
    named boundary, `trace(name)` the boundary as quadrature points. `held` says in words what is held to the ground. `frame` and
    `stiffening` are for the body once it floats, and `stretch(G)`, the coordinates of the field u = G x.
    """

    recipe: Recipe
    samples: MassSamples
    sections: Inertia | None
    M: Matrix
    K: Matrix | None
    make_strains: Callable[[], Strains]
    rigid: np.ndarray
    kinds: np.ndarray
    parts: Mapping[str, np.ndarray]
    make_trace: Callable[[str | Patch], Trace]
    shape: Shape
    damping: Damping
    drag: Matrix | None = None
    frame: str | None = None
    stretch: Callable[[np.ndarray], np.ndarray] | None = None
    held: str = ""

    @property
    def coordinates(self) -> int:
        return self.M.shape[0]

    @cached_property
    def strains(self) -> Strains:
        """C, D and the quadratic part."""
        return self.make_strains()

    def on(self, boundary: str, kinds: Iterable[str] | None = None) -> np.ndarray:
        """The coordinates on a named boundary, all or some kinds of them."""
        if boundary not in self.parts:
            raise InputError(unknown("boundary", boundary, self.parts))
        found = np.asarray(self.parts[boundary])
        return found if kinds is None else found[np.isin(self.kinds[found], list(kinds))]

    def trace(self, where: str | Patch) -> Trace:
        """A boundary, a region of cells or a disc as quadrature points."""
        return self.make_trace(where)
