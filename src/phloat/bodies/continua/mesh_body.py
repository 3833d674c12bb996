"""An elastic body on a mesh: its mass, its strains and the motion of its boundary."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, Protocol

import numpy as np

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix
from phloat.bodies.body import Recipe
from phloat.bodies.continua.patches import Patch
from phloat.bodies.inertia import Sections
from phloat.bodies.material import Damping
from phloat.bodies.shape import Shape


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


class MeshBody(Protocol):
    """An elastic body on a mesh, as ports and floating bodies need it: a `Continuum`, or a `MatrixBody`."""

    @property
    def recipe(self) -> Recipe: ...
    @property
    def samples(self) -> MassSamples: ...
    @property
    def sections(self) -> Sections | None: ...
    @property
    def M(self) -> Matrix: ...
    @property
    def K(self) -> Matrix | None: ...
    @property
    def damping(self) -> Damping: ...
    @property
    def drag(self) -> Matrix | None: ...  # a damping matrix that is given
    @property
    def strains(self) -> Strains: ...
    @property
    def rigid(self) -> np.ndarray: ...
    @property
    def kinds(self) -> np.ndarray: ...
    @property
    def parts(self) -> Mapping[str, np.ndarray]: ...
    @property
    def shape(self) -> Shape: ...
    @property
    def stretch(self) -> Callable[[np.ndarray], np.ndarray] | None: ...
    @property
    def held(self) -> str: ...
    @property
    def frame(self) -> str | None: ...
    @property
    def coordinates(self) -> int: ...
    def on(self, boundary: str, kinds: Iterable[str] | None = None) -> np.ndarray: ...
    def trace(self, where: str | Patch) -> Trace: ...
