"""The lowest eigenvalues of K v = μ M v for large sparse K and M, both symmetric, K positive or with rigid motions.

Uses one factorisation of K − sM with s < 0, which is positive definite; known rigid motions are deflated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import scipy.linalg as la
import scipy.sparse.linalg as spla

from phloat.algebra.sparse import SEEDED, Matrix, factorised, random_start
from phloat.algebra.threads import one_thread
from phloat.errors import AccuracyError

Solve: TypeAlias = Callable[[np.ndarray], np.ndarray]
SHIFT = 1e-8  # of the largest K_ii / M_ii: −s
UNFELT = 1e-13  # of the terms of vᵀK v: its value for a rigid motion v
LOST = 1e-5  # of an eigenvalue: round-off of K beyond which K does not determine it
DENSE = 600
RESTARTS = 30


@one_thread()
def lowest(K: Matrix, M: Matrix, count: int, rigid: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """μ, ascending, exactly 0 for rigid motions, and the columns v of unit mass, `count` of them or all there are.

    `rigid` (n × any) are motions that may be rigid: their combinations without stiffness are the rigid modes.
    Raises AccuracyError if an eigenvalue is so small relative to the entries of K that they do not determine it to 1e-5.
    """
    n = K.shape[0]
    known = np.zeros((n, 0)) if rigid is None else _unfelt(K, M, rigid)
    zeros = known.shape[1]
    if n <= DENSE or count > n // 4:
        value, v = la.eigh(K.toarray(), M.toarray(), subset_by_index=(0, min(count, n) - 1))
        v[:, :zeros], value[:zeros] = known[:, : v.shape[1]], 0.0
        return _determined(K, value, v, zeros)
    size = float((K.diagonal() / M.diagonal()).max(initial=0.0))
    solve = factorised(K + SHIFT * size * M)
    value, v = _lanczos(M, solve, known, count - zeros, SHIFT * size)
    while known.shape[1] + v.shape[1] < n // 2:  # modes of a cluster that one Krylov sequence missed
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
        raise AccuracyError(f"the shapes of the lowest modes have an error of {miss:.1e}; ask for more of them")
    return _determined(K, np.concatenate([np.zeros(zeros), value])[:count], np.hstack([known, v])[:, :count], zeros)


def _determined(K: Matrix, value: np.ndarray, v: np.ndarray, zeros: int) -> tuple[np.ndarray, np.ndarray]:
    """Its arguments; raises AccuracyError if round-off of K does not determine an elastic eigenvalue."""
    terms = _terms(K, v[:, zeros:])
    open_ = np.flatnonzero(np.finfo(float).eps * terms > LOST * np.abs(value[zeros:]))
    if len(open_):
        k = open_[0]
        raise AccuracyError(
            f"mode {zeros + k} is not determined by K: its energy is {value[zeros + k] / terms[k]:.0e} of the terms of its sum"
        )
    return value, v


def _terms(K: Matrix, v: np.ndarray) -> np.ndarray:
    """The sum of the magnitudes of the terms of vᵀK v."""
    return np.asarray(np.einsum("ik,ik->k", abs(v), abs(K) @ abs(v)))


def _unfelt(K: Matrix, M: Matrix, motions: np.ndarray) -> np.ndarray:
    """The combinations of some motions without stiffness, of unit mass."""
    kinetic = motions.T @ (M @ motions)
    weight, turn = la.eigh(kinetic)
    there = weight > 1e-12 * max(weight[-1], 1e-300)
    V = motions @ (turn[:, there] / np.sqrt(weight[there]))
    felt, turn = la.eigh(V.T @ (K @ V))
    V = V @ turn
    return np.asarray(V[:, felt <= UNFELT * _terms(K, V)])


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
            f"the {count} lowest modes did not converge ({trouble}); ask for a few more or fewer of them"
        ) from None
    v = v / np.sqrt(np.einsum("ik,ik->k", v, M @ v))
    order = np.argsort(value)
    return value[order], v[:, order]
