"""The lowest eigenvalues of K v = μ M v for large sparse K and M, both symmetric, K positive or with rigid motions.

One factorisation just below zero, K − sM with s < 0, which is positive definite; rigid motions that are known are kept out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import scipy.linalg as la
import scipy.sparse.linalg as spla

from phloat.algebra.factorised import factorised
from phloat.algebra.seeded import SEEDED, random_start
from phloat.algebra.sparse import Matrix
from phloat.algebra.threads import one_thread
from phloat.errors import AccuracyError

Solve: TypeAlias = Callable[[np.ndarray], np.ndarray]
SHIFT = 1e-8  # of the largest K_ii / M_ii: below all elastic eigenvalues, and far above the round-off of zero
ZERO = 1e-13  # of the same
DENSE = 600
RESTARTS = 100


@one_thread()
def lowest(K: Matrix, M: Matrix, count: int, rigid: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """μ, ascending, exactly 0 for rigid motions, and the columns v of unit mass, `count` of them or all there are.

    `rigid` (n × any) are motions that may be rigid: those combinations of them that K does not feel are taken as they are.
    """
    n = K.shape[0]
    size = float((K.diagonal() / M.diagonal()).max(initial=0.0))
    if n <= DENSE or count > n // 4:
        value, v = la.eigh(K.toarray(), M.toarray(), subset_by_index=(0, min(count, n) - 1))
        value[np.abs(value) <= 10.0 * ZERO * size] = 0.0
        return value, v
    known = np.zeros((n, 0)) if rigid is None else _unfelt(K, M, rigid, size)
    zeros = known.shape[1]
    solve = factorised(K + SHIFT * size * M)
    value, v = _lanczos(M, solve, known, count - zeros, SHIFT * size)
    while known.shape[1] + v.shape[1] < n // 2:  # those of a cluster that one Krylov sequence missed
        found = np.hstack([known, v])
        more, w = _lanczos(M, solve, found, 1, SHIFT * size, tolerance=1e-2)
        if not v.shape[1] or more[0] > 0.98 * value[-1]:
            break
        more, w = _lanczos(M, solve, found, 3, SHIFT * size)
        value, v = np.append(value, more), np.hstack([v, w])
        order = np.argsort(value)
        value, v = value[order], v[:, order]
    value, v = value[: count - zeros], v[:, : count - zeros]
    rest = K @ v - (M @ v) * value
    if (miss := float(np.abs(rest).max(initial=0.0) / (size * np.abs(M @ v).max(initial=1e-300)))) > 1e-9:
        raise AccuracyError(f"the lowest modes are off by {miss:.1e} in their shapes; ask for more of them")
    value[np.abs(value) <= ZERO * size] = 0.0
    return np.concatenate([np.zeros(zeros), value])[:count], np.hstack([known, v])[:, :count]


def _unfelt(K: Matrix, M: Matrix, motions: np.ndarray, size: float) -> np.ndarray:
    """The combinations of some motions that K does not feel, of unit mass."""
    kinetic = motions.T @ (M @ motions)
    weight, turn = la.eigh(kinetic)
    there = weight > 1e-12 * max(weight[-1], 1e-300)
    V = motions @ (turn[:, there] / np.sqrt(weight[there]))
    felt, turn = la.eigh(V.T @ (K @ V))
    return np.asarray(V @ turn[:, felt <= ZERO * size])


def _lanczos(
    M: Matrix, solve: Solve, known: np.ndarray, count: int, shift: float, tolerance: float = 1e-12
) -> tuple[np.ndarray, np.ndarray]:
    """The lowest eigenvalues on what is M-orthogonal to the known motions, and their vectors of unit mass."""
    n, weighted = M.shape[0], M @ known
    if count < 1:
        return np.zeros(0), np.zeros((n, 0))

    def inverted(b: np.ndarray) -> np.ndarray:
        x = solve(b)
        return np.asarray(x - known @ (weighted.T @ x))

    operator = spla.LinearOperator((n, n), inverted, dtype=float)
    start = inverted(M @ random_start(n, known.shape[1]))
    krylov = min(max(2 * count + 1, 20), n - known.shape[1])
    options = {"v0": start, "ncv": krylov, "tol": tolerance, "maxiter": RESTARTS, **SEEDED}
    try:
        value, v = spla.eigsh(M, k=count, M=M, sigma=-shift, OPinv=operator, **options)
    except spla.ArpackError as trouble:
        raise AccuracyError(
            f"the {count} lowest modes did not settle ({trouble}); ask for a few more or fewer of them"
        ) from None
    v = v / np.sqrt(np.einsum("ik,ik->k", v, M @ v))
    order = np.argsort(value)
    return value[order], v[:, order]
