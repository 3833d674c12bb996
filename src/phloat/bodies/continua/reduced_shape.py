"""The shape of a reduced body on a mesh: the fields of its coordinates, and which of them are even in z."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg as la
from scipy.spatial import cKDTree

from phloat.algebra.sparse import Matrix, block_inverse
from phloat.bodies.continua.mesh_body import MeshBody, Strains
from phloat.bodies.shape import DerivedShape, Shape


@dataclass(frozen=True, eq=False)
class ReducedFields:
    """Fields V (n × r) with their frequencies, the pairs of fields with quadratic strain, and the parity of each in z.

    `into` (r × pairs) are the components of the pairs' strains along the strains of fields, `rest` (rest × pairs) the
    remaining ones, each of even pairs or of odd ones (`even_rest`). If the body is not symmetric in z all count as odd: none of its
    motions stays in a plane. Even ones come first.
    """

    V: np.ndarray
    omega: np.ndarray
    even: np.ndarray
    pairs: list[tuple[int, int]]
    into: np.ndarray
    rest: np.ndarray
    even_rest: np.ndarray


def inverse_compliance(strains: Strains) -> Matrix:
    """C⁻¹, block by block."""
    inverse = block_inverse(strains.C)
    assert inverse is not None  # bodies that float have stresses that are local to elements
    return inverse


@dataclass(frozen=True, eq=False)
class ReducedShape(DerivedShape):
    """The shape of a body on a mesh in its reduced coordinates."""

    continuum: MeshBody
    fields: ReducedFields
    memory: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def shape(self) -> Shape:  # type: ignore[override]
        return self.continuum.shape

    @property
    def V_v(self) -> np.ndarray:  # type: ignore[override]
        return self.fields.V

    @cached_property
    def V_sigma(self) -> np.ndarray:  # type: ignore[override]
        """Stresses of the mesh per reduced stress, (stresses, reduced stresses)."""
        f, strains = self.fields, self.continuum.strains
        strain = (strains.D @ f.V) / f.omega
        if len(f.rest):
            assert strains.pair is not None
            s = np.column_stack([strains.pair(f.V[:, i], f.V[:, j]) for i, j in f.pairs])
            strain = np.hstack([strain, (s - strain @ f.into) @ la.pinv(f.rest)])
        return inverse_compliance(strains) @ strain


# --- fields that are even in z (motion in the plane xy) or odd do not mix ---------------------------------------------


MIRRORED = 1e-6  # of the size of the body, and of a field
FLAT = np.array([1.0, 1.0, -1.0, -1.0, -1.0, 1.0])  # signs of (v, ω) in the mirror image


def by_parity(continuum: MeshBody, K: Matrix, V: np.ndarray, rows: Sequence[Matrix]) -> tuple[np.ndarray, np.ndarray]:
    """Combinations of fields that are even in z about the mass centre (u_x, u_y even, u_z odd: motion in a plane), and all others.

    V are fields orthogonal in M and K, `rows` the matrices L of the motions (v, ω) = L q of ports and frame. These must be
    symmetric, too; if a frame follows one face, say, the images of its fields follow the other.
    """
    image = mirror_images(continuum, V)
    if image is None or any(not _equal_grams(V.T @ (A @ V), image.T @ (A @ image)) for A in (continuum.M, K)):
        return V[:, :0], V
    if any((np.abs(L @ image - FLAT[:, None] * (L @ V)) > MIRRORED * _sizes(L, V)).any() for L in rows):
        return V[:, :0], V
    even, odd = (_independent(0.5 * (V + sign * image), continuum.M) for sign in (1.0, -1.0))
    return even, odd


def _equal_grams(A: np.ndarray, B: np.ndarray) -> bool:
    """Whether two Gram matrices are equal, relative to their diagonals."""
    size = np.sqrt(np.abs(np.diag(A)))
    return bool((np.abs(A - B) <= MIRRORED * np.outer(size, size)).all())


def _sizes(L: Matrix, V: np.ndarray) -> np.ndarray:
    """The largest sum of absolute terms of L V in every row, (rows, 1)."""
    return (abs(L) @ np.abs(V)).max(axis=1, initial=0.0)[:, None]


def _independent(V: np.ndarray, M: Matrix) -> np.ndarray:
    """Fields of unit mass in the span of V, without those that nearly vanish, such as the even part of an odd field."""
    size, turn = la.eigh(V.T @ (M @ V))
    return V @ (turn[:, size > MIRRORED] / np.sqrt(size[size > MIRRORED]))


def mirror_images(continuum: MeshBody, V: np.ndarray) -> np.ndarray | None:
    """The mirror images of fields V in the plane z = z of the mass centre; None if the body is not symmetric."""
    kinds, x, mass = continuum.kinds, continuum.samples.x, continuum.samples.mass
    flat = {"u_x": 1.0, "u_y": 1.0, "theta_z": 1.0}
    if "w" in kinds:  # a plate is always symmetric
        return np.array([flat.get(kind, -1.0) for kind in kinds])[:, None] * V
    each = len(kinds) // len(x)
    if not np.array_equal(kinds, np.tile(kinds[:each], len(x))):
        return None
    middle = float((mass @ x[:, 2]).sum() / mass.sum())
    distance, twin = cKDTree(x).query(x * (1, 1, -1) + (0, 0, 2 * middle))
    if distance.max() > MIRRORED * np.ptp(x, axis=0).max():
        return None
    sign = np.array([flat.get(kind, -1.0) for kind in kinds[:each]])
    return (V.reshape(len(x), each, -1)[twin] * sign[:, None]).reshape(V.shape)
