"""Matrices whose columns are motions or fields: norms, orthonormal bases, null spaces."""

from __future__ import annotations

import numpy as np
import scipy.linalg as la

from phloat.algebra.sparse import Matrix

LOOSE = 1e-9  # of unit columns: what counts as a motion that is not held


def orthonormal_span(rigid: np.ndarray) -> np.ndarray:
    """Orthonormal columns of the same span (a plate without membrane has three rigid motions, not six)."""
    u, size, _ = la.svd(rigid / norms(rigid), full_matrices=False) if rigid.size else (rigid, np.zeros(0), None)
    return np.asarray(u[:, size > LOOSE])


def independent_motions(R: np.ndarray) -> np.ndarray:
    """Motions that are independent as columns of R: unit motions, or combinations if some depend on others."""
    felt = np.flatnonzero(np.abs(R).max(axis=0, initial=0.0) > LOOSE * max(np.abs(R).max(initial=0.0), 1e-300))
    _, size, turn = la.svd(R[:, felt] / norms(R[:, felt]), full_matrices=False)
    unit = np.eye(R.shape[1])[:, felt]
    return unit if (size > LOOSE).all() else unit / norms(R[:, felt]) @ turn[size > LOOSE].T


def null(rows: np.ndarray) -> np.ndarray:
    """Orthonormal coefficients c with rows c = 0, for rows of (at most) unit size."""
    columns = rows.shape[1]
    if not len(rows) or not columns:
        return np.eye(columns)
    _, size, turn = la.svd(la.qr(rows, mode="r")[0][:columns], full_matrices=True)  # no square matrix of all rows
    return np.asarray(turn[int((size > LOOSE).sum()) :].T)


def norms(a: np.ndarray) -> np.ndarray:
    """Lengths of columns, 1 for zero ones."""
    size = np.sqrt(np.einsum("ik,ik->k", a, a))
    return np.where(size > 0, size, 1.0)


def mass_norms(V: np.ndarray, M: Matrix) -> np.ndarray:
    """√(vᵀM v) of every column."""
    return np.sqrt(np.einsum("ik,ik->k", V, M @ V))
