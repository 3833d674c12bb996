"""Linear equations of a step: dense up to a size where that is faster, sparse beyond it."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from scipy.linalg import get_lapack_funcs

from phloat.algebra.sparse import Matrix
from phloat.algebra.threads import one_thread

DENSE = 250  # unknowns


class Factors(Protocol):
    """What solves A x = b."""

    def solve(self, b: np.ndarray) -> np.ndarray: ...


class Dense:
    """LU of a dense matrix; `singular` where a pivot vanishes."""

    def __init__(self, A: np.ndarray) -> None:
        factorise, self.backsolve = get_lapack_funcs(("getrf", "getrs"), (A,))
        with one_thread():
            self.lu, self.pivots, info = factorise(A)
        self.singular = info > 0

    def solve(self, b: np.ndarray) -> np.ndarray:
        return self.backsolve(self.lu, self.pivots, b)[0]


def lu_factors(A: np.ndarray | Matrix) -> Factors | None:
    """A factorised, or nothing where it is singular."""
    if isinstance(A, np.ndarray):
        dense = Dense(A)
        return None if dense.singular else dense
    try:
        return spla.splu(sp.csc_array(A))
    except RuntimeError:  # exactly singular
        return None


def bordered(A: np.ndarray | Matrix, B: np.ndarray | Matrix, C: np.ndarray | Matrix) -> np.ndarray | Matrix:
    """[A B; C 0]."""
    if isinstance(A, np.ndarray):
        return np.block([[A, B], [C, np.zeros((C.shape[0], B.shape[1]))]])
    return sp.block_array([[A, B], [C, None]], format="csc") if C.shape[0] else A
