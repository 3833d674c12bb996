"""The lowest eigenvalues of K v = μ M v for large sparse symmetric K and M, with K positive (semi)definite and M positive definite.

Uses one factorisation of K − sM with s < 0, which is positive definite; known rigid motions are deflated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg as la
import scipy.sparse.linalg as spla

from phloat.algebra.factors import factorised
from phloat.algebra.sparse import SEEDED, Matrix, random_start
from phloat.algebra.threads import one_thread
from phloat.errors import AccuracyError

Solve: TypeAlias = Callable[[np.ndarray], np.ndarray]
SHIFT = 1e-8  # −s relative to the largest K_ii / M_ii
RIGID = 1e-13  # vᵀK v of a rigid motion v, relative to the sum of the magnitudes of its terms
UNDETERMINED = 1e-5  # round-off of K relative to an eigenvalue beyond which K does not determine it
DENSE = 600  # rows up to which matrices are full
RESTARTS = 30


@one_thread()
def lowest(K: Matrix, M: Matrix, count: int, rigid: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The `count` lowest eigenvalues μ (or all), ascending, exactly 0 for rigid motions, and columns v of unit mass.

    `rigid` (n × any) are motions whose combinations without stiffness are the rigid modes.
    Raises AccuracyError if an eigenvalue is so small relative to the entries of K that they do not determine it to 1e-5.
    """
    n = K.shape[0]
    rigid_shapes = np.zeros((n, 0)) if rigid is None else _rigid_combinations(K, M, rigid)
    zeros = rigid_shapes.shape[1]
    if n <= DENSE or count > n // 4:
        value, v = la.eigh(K.toarray(), M.toarray(), subset_by_index=(0, min(count, n) - 1))
        v[:, :zeros], value[:zeros] = rigid_shapes[:, : v.shape[1]], 0.0
        return _require_determined(K, value, v, zeros)
    size = float((K.diagonal() / M.diagonal()).max(initial=0.0))
    solve = factorised(K + SHIFT * size * M)
    value, v = _lanczos(M, solve, rigid_shapes, count - zeros, SHIFT * size)
    while rigid_shapes.shape[1] + v.shape[1] < n // 2:  # one Krylov sequence may miss modes of a cluster
        computed = np.hstack([rigid_shapes, v])
        more, w = _lanczos(M, solve, computed, 1, SHIFT * size, tolerance=1e-2)
        if not v.shape[1] or more[0] > 0.98 * value[-1]:
            break
        more, w = _lanczos(M, solve, computed, 3, SHIFT * size)
        value, v = np.append(value, more), np.hstack([v, w])
        order = np.argsort(value)
        value, v = value[order], v[:, order]
    value, v = value[: count - zeros], v[:, : count - zeros]
    rest = K @ v - (M @ v) * value
    if (miss := float(np.abs(rest).max(initial=0.0) / (size * np.abs(M @ v).max(initial=1e-300)))) > 1e-9:
        raise AccuracyError(f"the shapes of the lowest modes have an error of {miss:.1e}; ask for more of them")
    value, v = np.concatenate([np.zeros(zeros), value])[:count], np.hstack([rigid_shapes, v])[:, :count]
    return _require_determined(K, value, v, zeros)


def _require_determined(K: Matrix, value: np.ndarray, v: np.ndarray, zeros: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns `value` and `v`. Raises AccuracyError if an elastic eigenvalue is below the round-off of K."""
    terms = _term_magnitudes(K, v[:, zeros:])
    undetermined = np.flatnonzero(np.finfo(float).eps * terms > UNDETERMINED * np.abs(value[zeros:]))
    if len(undetermined):
        k = undetermined[0]
        raise AccuracyError(
            f"mode {zeros + k} is not determined by K: its energy is {value[zeros + k] / terms[k]:.0e} of its terms"
        )
    return value, v


def _term_magnitudes(K: Matrix, v: np.ndarray) -> np.ndarray:
    """The sum of the magnitudes of the terms of vᵀK v."""
    return np.asarray(np.einsum("ik,ik->k", abs(v), abs(K) @ abs(v)))


def _rigid_combinations(K: Matrix, M: Matrix, motions: np.ndarray) -> np.ndarray:
    """The combinations of these motions that have no stiffness, with unit mass, as columns."""
    kinetic = motions.T @ (M @ motions)
    weight, turn = la.eigh(kinetic)
    nonzero = weight > 1e-12 * max(weight[-1], 1e-300)
    V = motions @ (turn[:, nonzero] / np.sqrt(weight[nonzero]))
    stiffness, turn = la.eigh(V.T @ (K @ V))
    V = V @ turn
    return np.asarray(V[:, stiffness <= RIGID * _term_magnitudes(K, V)])


def _lanczos(
    M: Matrix, solve: Solve, deflated: np.ndarray, count: int, shift: float, tolerance: float = 1e-12
) -> tuple[np.ndarray, np.ndarray]:
    if count < 1:
        return np.zeros(0), np.zeros((len(deflated), 0))
    try:
        return unit_mass(M, *lanczos(M, M, solve, deflated, count, -shift, tol=tolerance, maxiter=RESTARTS))
    except spla.ArpackError as trouble:
        raise AccuracyError(f"the {count} lowest modes did not converge ({trouble}); ask for more or fewer") from None


def lanczos(
    mass: Matrix, M: Matrix, solve: Solve, deflated: np.ndarray, count: int, shift: float, free: int = 0, **options: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues nearest to the shift, M-orthogonal to the `deflated` motions, and their vectors.

    `mass` is M, or M extended by zeros for further unknowns; `free` is the number of free motions if it is less than that of M.
    """
    n, size, weighted = M.shape[0], mass.shape[0], M @ deflated

    def inverted(b: np.ndarray) -> np.ndarray:
        x = np.array(solve(b))
        x[:n] -= deflated @ (weighted.T @ x[:n])
        return x

    operator = spla.LinearOperator((size, size), inverted, dtype=float)
    options |= {"v0": inverted(mass @ random_start(size, deflated.shape[1])), **SEEDED}
    options["ncv"] = min(max(2 * count + 1, 20), (free or n) - deflated.shape[1])
    value, vector = spla.eigsh(mass, k=count, M=mass, sigma=shift, OPinv=operator, **options)
    return value, vector[:n]


def unit_mass(M: Matrix, value: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sorts eigenvalues in ascending order, and scales their vectors (columns of v) to vᵀM v = 1."""
    order = np.argsort(value)
    v = v[:, order]
    return value[order], v / np.sqrt(np.einsum("ik,ik->k", v, M @ v))
