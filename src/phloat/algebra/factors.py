"""Factors of large sparse symmetric matrices, and whether a matrix is positive semidefinite, which a factor tells."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeAlias
from weakref import finalize

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from phloat.algebra.sparse import SEEDED, Matrix, blocks_by_size, csr, random_start, small_blocks, symmetry_defect

if TYPE_CHECKING:
    from phloat.algebra.cholesky import SparseCholesky

DirectFactor: TypeAlias = "spla.SuperLU | SparseCholesky"

LARGE = 10_000  # unknowns; from 5000 on a factor by nested dissection is quicker, but its compiled code must be loaded
FULL = 25  # entries of a row, on average, from which it is used: slender frames and chains fill less by minimum degree
SYMMETRIC = 1e-12  # relative asymmetry that is round-off
DENSE_BLOCK = 600  # rows of a block up to which its eigenvalues are computed


def symmetric_lu(a: Matrix, pivot: float = 0.0, order: str = "MMD_AT_PLUS_A") -> spla.SuperLU:
    """The LU factors of a matrix of symmetric pattern with pivots near the diagonal, which keeps the fill low.

    Half the fill and a tenth of the time of the default for solids; a tenth of the fill for mixed plates.
    """
    options = {"SymmetricMode": True}
    return spla.splu(sp.csc_array(a), permc_spec=order, diag_pivot_thresh=pivot, options=options)


def factorised(K: Matrix) -> Callable[[np.ndarray], np.ndarray]:
    """The function f → K⁻¹f of a symmetric positive definite K, for one column f or several.

    Large ones by PARDISO if it is installed, else by `SparseCholesky`; small ones, and those that are not definite, by SuperLU.
    """
    if K.shape[0] >= LARGE and find_spec("pypardiso") is not None and (solve := _pardiso(K)) is not None:
        return solve
    return definite_factor(K).solve


def definite_factor(K: Matrix, pivot: float = 0.0) -> DirectFactor:
    """The factor of a matrix of symmetric pattern: by `SparseCholesky` if it is large and positive definite, or SuperLU."""
    return cholesky(K) or symmetric_lu(K, pivot)


def _pardiso(K: Matrix) -> Callable[[np.ndarray], np.ndarray] | None:
    """f → K⁻¹f by PARDISO; None if K is not positive definite."""
    from pypardiso.pardiso_wrapper import PyPardisoError, PyPardisoSolver

    solver, upper = PyPardisoSolver(mtype=2), sp.triu(K, format="csr")

    def solve(f: np.ndarray) -> np.ndarray:
        return np.asarray(solver.solve(upper, np.asfortranarray(f)))

    finalize(solve, solver.free_memory, everything=True)  # PARDISO keeps its factors until then
    try:
        solver.factorize(upper)
    except PyPardisoError:
        return None
    return solve


def cholesky(A: Matrix) -> SparseCholesky | None:
    """The Cholesky factor of a large real matrix with full rows; None if it is not symmetric or not definite, or without METIS."""
    if A.shape[0] < LARGE or A.nnz < FULL * A.shape[0] or A.dtype.kind == "c" or find_spec("pymetis") is None:
        return None
    if symmetry_defect(A) > SYMMETRIC:
        return None
    from phloat.algebra.cholesky import SparseCholesky

    try:
        return SparseCholesky(csr(A))
    except la.LinAlgError:
        return None


def negativity_defect(a: object) -> float:
    """The largest −λ_min / λ_max of the decoupled blocks of a symmetric matrix, at least 0.

    Blocks are scaled to unit diagonal, so that light coordinates count like heavy ones.
    """
    A = csr(a)
    size = A.diagonal()
    if not A.nnz:
        return 0.0
    if (size < 0).any():
        return 1.0
    weight = sp.diags_array(1.0 / np.sqrt(np.where(size > 0, size, 1.0)))
    scaled = csr(weight @ A @ weight)
    groups = blocks_by_size(scaled)
    defects = [_large_negativity(scaled[g][:, g]) for large in groups if large.shape[1] > DENSE_BLOCK for g in large]
    for _, block in small_blocks(scaled, [g for g in groups if g.shape[1] <= DENSE_BLOCK]):
        value = np.linalg.eigvalsh(block)
        defects.append(float((-value[:, 0] / np.maximum(value[:, -1], 1e-300)).max()))
    return max(0.0, *defects)


def _large_negativity(a: Matrix) -> float:
    # a positive matrix needs no pivots off the diagonal, and the signs of U are then those of its eigenvalues (Sylvester)
    size = a.shape[0]
    shifted = a + 1e-13 * size**0.5 * sp.eye_array(size)
    if cholesky(shifted) is not None:
        return 0.0
    factor = symmetric_lu(shifted)
    if (factor.perm_r != factor.perm_c).any():
        options = {"return_eigenvectors": False, "tol": 1e-6, "v0": random_start(size), **SEEDED}
        return -float(spla.eigsh(a, k=1, which="SA", **options)[0])
    pivots = factor.U.diagonal()
    return float(-pivots.min() / np.abs(pivots).max())
