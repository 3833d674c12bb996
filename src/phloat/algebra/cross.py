"""Cross products and rotations in three dimensions."""

from __future__ import annotations

import numpy as np


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a × b of two vectors (np.cross takes 20 times as long)."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def crosses(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a × b of many vectors, (…, 3) (np.cross takes five times as long)."""
    a_x, a_y, a_z = a[..., 0], a[..., 1], a[..., 2]
    b_x, b_y, b_z = b[..., 0], b[..., 1], b[..., 2]
    return np.stack([a_y * b_z - a_z * b_y, a_z * b_x - a_x * b_z, a_x * b_y - a_y * b_x], axis=-1)


def skew(a: np.ndarray) -> np.ndarray:
    """[a]×, so that [a]× b = a × b (50); of one vector (3,), or of each of many, (…, 3)."""
    return (a @ _SKEWS).reshape(*a.shape, 3)


_SKEWS = np.zeros((3, 9))  # [e_1]×, [e_2]×, [e_3]×
_SKEWS[[0, 1, 2], [7, 2, 3]], _SKEWS[[0, 1, 2], [5, 6, 1]] = 1.0, -1.0


def rotation(vector: np.ndarray) -> np.ndarray:
    """The rotation by |vector| radians about `vector` (Rodrigues); of one vector (3,), or of each of many, (…, 3)."""
    vector = np.asarray(vector, dtype=float)
    S, angle = skew(vector), np.sqrt((vector * vector).sum(axis=-1))[..., None, None]
    # sin a / a and (1 − cos a) / a², from sinc: exact at zero too
    return np.asarray(np.eye(3) + np.sinc(angle / np.pi) * S + 0.5 * np.sinc(angle / (2 * np.pi)) ** 2 * (S @ S))


def rotated(vector: np.ndarray, x: np.ndarray) -> np.ndarray:
    """x rotated by |vector| radians about `vector`, of many vectors, (…, 3)."""
    angle = np.sqrt((vector * vector).sum(axis=-1, keepdims=True))
    crossed = crosses(vector, x)
    half = np.sinc(angle / (2 * np.pi))
    return np.asarray(x + np.sinc(angle / np.pi) * crossed + 0.5 * half * half * crosses(vector, crossed))


def rot(theta: float) -> np.ndarray:
    """The rotation by theta about z."""
    c, s = np.cos(theta), np.sin(theta)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def triad(axis: np.ndarray) -> np.ndarray:
    """A rotation whose third column is `axis` (a unit vector): the one nearest to the identity or, for an axis in the plane xy,
    the one with z as second column, so that the normals of the axis are in the plane or perpendicular to it."""
    z = np.array([0.0, 0.0, 1.0])
    if abs(axis[2]) < 1e-12:
        return np.column_stack([cross(z, axis), z, axis])
    return nearest_triad(axis)


def nearest_triad(axis: np.ndarray) -> np.ndarray:
    """The rotation nearest to the identity whose third column is `axis`: a continuous function of the axis, except at −z."""
    turn, cosine = cross(np.array([0.0, 0.0, 1.0]), axis), float(axis[2])
    if cosine < -1.0 + 1e-12:
        return np.diag([1.0, -1.0, -1.0])
    S = skew(turn)
    return np.eye(3) + S + S @ S / (1.0 + cosine)


def orthonormality_defect(A: np.ndarray) -> float:
    """max |AᵀA − I|, or 2 if A is a reflection."""
    return float(np.abs(A.T @ A - np.eye(3)).max()) if np.linalg.det(A) > 0 else 2.0
