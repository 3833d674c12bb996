"""Relative numbers for how far matrices are from skew, symmetric, positive."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from phloat.algebra.seeded import SEEDED, random_start
from phloat.algebra.sparse import Matrix, components, csr, largest, small_blocks

DENSE_BLOCK = 600


def skew_defect(a: object) -> float:
    """max |A + Aᵀ| / max |A|."""
    A = csr(a)
    return largest(A + A.T) / scale if (scale := largest(A)) else 0.0


def symmetry_defect(a: object) -> float:
    """max |A − Aᵀ| / max |A|."""
    A = csr(a)
    return largest(A - A.T) / scale if (scale := largest(A)) else 0.0


def negativity_defect(a: object) -> float:
    """How negative a symmetric matrix is: the largest of −λ_min / λ_max over its decoupled blocks, never below 0.

    Blocks are first scaled to unit diagonal, so that the sign of a light coordinate is not lost beside a heavy one.
    """
    A = csr(a)
    size = A.diagonal()
    if not A.nnz:
        return 0.0
    if (size < 0).any():
        return 1.0
    weight = sp.diags_array(1.0 / np.sqrt(np.where(size > 0, size, 1.0)))
    scaled = csr(weight @ A @ weight)
    groups = components(scaled)
    worst = [_large_negativity(scaled[g][:, g]) for g in groups if len(g) > DENSE_BLOCK]
    for _, block in small_blocks(scaled, [g for g in groups if len(g) <= DENSE_BLOCK]):
        value = np.linalg.eigvalsh(block)
        worst.append(float((-value[:, 0] / np.maximum(value[:, -1], 1e-300)).max()))
    return max(0.0, *worst)


def _large_negativity(a: Matrix) -> float:
    # a positive matrix needs no pivots off the diagonal, and the signs of U are then those of its eigenvalues (Sylvester)
    size = a.shape[0]
    shifted = (a + 1e-13 * size**0.5 * sp.eye_array(size)).tocsc()
    factor = spla.splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    if (factor.perm_r != factor.perm_c).any():
        options = {"return_eigenvectors": False, "tol": 1e-6, "v0": random_start(size), **SEEDED}
        return -float(spla.eigsh(a, k=1, which="SA", **options)[0])
    pivots = factor.U.diagonal()
    return float(-pivots.min() / np.abs(pivots).max())
