"""Bodies that are symmetric in z: their fields are even (motion in the plane xy) or odd, and do not mix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg as la
from scipy.spatial import cKDTree

from phloat.algebra.sparse import Matrix
from phloat.bodies.continua.mesh_body import MeshBody

MIRRORED = 1e-6  # of the size of the body, and of a field
FLAT = np.array([1.0, 1.0, -1.0, -1.0, -1.0, 1.0])  # (v, ω) of the image


def by_parity(continuum: MeshBody, K: Matrix, V: np.ndarray, felt: Sequence[Matrix]) -> tuple[np.ndarray, np.ndarray]:
    """Fields that are even in z about the mass centre (u_x, u_y even, u_z odd: motion in a plane), and all others.

    V are fields that M and K make orthogonal, `felt` the motions (v, ω) = L q of ports and frame, which must be their own images,
    too: a frame that follows one face would else see the images of its fields move with the other.
    """
    image = mirror_images(continuum, V)
    if image is None or any(not _alike(V.T @ (A @ V), image.T @ (A @ image)) for A in (continuum.M, K)):
        return V[:, :0], V
    if any((np.abs(L @ image - FLAT[:, None] * (L @ V)) > MIRRORED * _sizes(L, V)).any() for L in felt):
        return V[:, :0], V
    even, odd = (_independent(0.5 * (V + sign * image), continuum.M) for sign in (1.0, -1.0))
    return even, odd


def _alike(A: np.ndarray, B: np.ndarray) -> bool:
    """Whether two Gram matrices are equal, relative to their diagonals."""
    size = np.sqrt(np.abs(np.diag(A)))
    return bool((np.abs(A - B) <= MIRRORED * np.outer(size, size)).all())


def _sizes(L: Matrix, V: np.ndarray) -> np.ndarray:
    """Of the sums L V, the largest of every row."""
    return (abs(L) @ np.abs(V)).max(axis=1, initial=0.0)[:, None]


def _independent(V: np.ndarray, M: Matrix) -> np.ndarray:
    """Fields of unit mass in the span of V, without those that nearly vanish, as the even part of an odd field does."""
    size, turn = la.eigh(V.T @ (M @ V))
    return V @ (turn[:, size > MIRRORED] / np.sqrt(size[size > MIRRORED]))


def mirror_images(continuum: MeshBody, V: np.ndarray) -> np.ndarray | None:
    """The mirror images of fields in the plane of the mass centre normal to z; None if the body is not symmetric."""
    kinds, x, mass = continuum.kinds, continuum.samples.x, continuum.samples.mass
    flat = {"u_x": 1.0, "u_y": 1.0, "theta_z": 1.0}
    if "w" in kinds:  # of a plate, which is its own image
        return np.array([flat.get(kind, -1.0) for kind in kinds])[:, None] * V
    each = len(kinds) // len(x)
    if not np.array_equal(kinds, np.tile(kinds[:each], len(x))):
        return None
    middle = float((mass @ x[:, 2]).sum() / mass.sum())
    far, twin = cKDTree(x).query(x * (1, 1, -1) + (0, 0, 2 * middle))
    if far.max() > MIRRORED * np.ptp(x, axis=0).max():
        return None
    sign = np.array([flat.get(kind, -1.0) for kind in kinds[:each]])
    return (V.reshape(len(x), each, -1)[twin] * sign[:, None]).reshape(V.shape)
