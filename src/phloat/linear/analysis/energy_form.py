"""Linear systems in energy coordinates, with algebraic equations scaled to entries of size one, for poles and zeros.

With E = X S Xᵀ, S = ±1, and x = Xᵀe the system is ẋ = A x + F w, 0 = C x + D w: the unknowns w are λ, inputs u and the rows z
without energy; the equations are the joints, outputs that are zero, and the rows of z.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import scipy.linalg as la

from phloat.algebra.sparse import block_columns, components, largest, signed_root, symmetric_scale
from phloat.algebra.threads import one_thread
from phloat.errors import InputError
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.form.state_space import energy_coordinates

Plant: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # A, F, C, D

RANK = 1e-11  # singular value that counts as zero, for matrices of size one
ZERO = 1e-12  # |s| that counts as zero, relative to the largest entry of A
ROUND_OFF = 1e-13  # entry that is round-off, relative to its terms


@one_thread()
def scaled_state_space(system: LinearPHDAE, into: np.ndarray, out: np.ndarray) -> tuple[float, Plant]:
    """The frequency that A was divided by, and (A, F, C, D) of ẋ = A x + F w, 0 = C x + D w, each of size one; w = (λ, u, z).

    z are the rows without energy.
    """
    inverse, sign, A, Z = _energy_coordinates(system)
    joints = system.multipliers.size
    G, B_lam, dynamics = system.G.toarray(), system.B_lam.toarray(), system.dynamics
    left = np.hstack([G.T, system.input_map[:, into].toarray(), dynamics @ Z])
    right = np.hstack([-G.T, system.output_map[:, out].toarray(), dynamics.T @ Z]).T
    F, C, D = sign[:, None] * (inverse @ left), right @ inverse.T, np.zeros((len(right), left.shape[1]))
    inputs, outputs = slice(joints, joints + len(into)), slice(joints, joints + len(out))
    D[:joints, inputs], D[outputs, :joints] = B_lam[:, into], B_lam[:, out].T
    D[outputs, inputs] = system.D[out][:, into].toarray()
    if Z.shape[1]:
        D[:, inputs.stop :], D[outputs.stop :] = _cleared(right, Z), _cleared(Z.T, left)
        return _unit_size(*_without_algebraic(A, F, C, D, Z.shape[1]))
    constraint_rows = np.flatnonzero(~np.any(D[:joints], axis=1))  # a driven joint moves the rest
    A, F, C = _without_unreached_stresses(system, A, F, C, C[constraint_rows])
    return _unit_size(A, F, C, D, system.has_feedthrough)


def _cleared(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a b, with zeros for entries that are round-off of their terms."""
    return np.where(np.abs(a @ b) > ROUND_OFF * (np.abs(a) @ np.abs(b)), a @ b, 0.0)


def _without_algebraic(A: np.ndarray, F: np.ndarray, C: np.ndarray, D: np.ndarray, count: int) -> Plant:
    """(A, F, C, D) without those of the last `count` w that their own equations determine; the others have no D among them.

    The block of these w is scaled by itself: how fast they follow does not matter.
    """
    rest, last = slice(0, -count), slice(-count, None)
    block, other_rows, other_columns = D[last, last], slice(0, len(D) - count), slice(0, D.shape[1] - count)
    unit = symmetric_scale(np.abs(block) + np.abs(block.T))  # J − R has a symmetric pattern
    U, size, V = la.svd(block / unit / unit[:, None])
    rank = int((size > RANK).sum())
    U, V = U / unit[:, None], V.T / unit[:, None]
    C = np.vstack([C[other_rows], U.T @ C[last]])
    F = np.hstack([F[:, other_columns], F[:, last] @ V])
    D = np.block([[D[rest, rest], D[rest, last] @ V], [U.T @ D[last, rest], np.diag(np.where(size > RANK, size, 0.0))]])
    known_rows, known_columns = other_rows.stop + np.arange(rank), other_columns.stop + np.arange(rank)
    by_x, by_w = C[known_rows] / size[:rank, None], D[known_rows] / size[:rank, None]
    A, F = A - F[:, known_columns] @ by_x, F - F[:, known_columns] @ by_w
    C, D = C - D[:, known_columns] @ by_x, D - D[:, known_columns] @ by_w
    F, C, D = (
        np.delete(a, known, axis) for a, known, axis in ((F, known_columns, 1), (C, known_rows, 0), (D, known_rows, 0))
    )
    return A, F, C, np.delete(D, known_columns, 1)


def _unit_size(A: np.ndarray, F: np.ndarray, C: np.ndarray, D: np.ndarray, mixed: bool = True) -> tuple[float, Plant]:
    """The largest entry of A, and (A, F, C, D) scaled to entries of size one.

    With time in units of 1/size w is divided by size, too, which multiplies D; unless `mixed`, a row or column of D has no entries
    in C and F beside it, and its own scale.
    """
    size = float(np.abs(A).max(initial=0.0)) or 1.0
    D = size * D if mixed else D
    row, column = _lengths(np.hstack([C, D]).T), _lengths(np.vstack([F, D]))
    return size, (A / size, F / column, C / row[:, None], D / column / row[:, None])


def _lengths(columns: np.ndarray) -> np.ndarray:
    """The norms of the columns, 1 for a zero column."""
    length = np.linalg.norm(columns, axis=0)
    return np.where(length > 0.0, length, 1.0)


def has_massless(system: LinearPHDAE) -> bool:
    """Whether some row has no energy: E is singular."""
    try:
        signed_root(system.E)
    except la.LinAlgError:
        return True
    return False


def _energy_coordinates(system: LinearPHDAE) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Tᵀ, S and S TᵀF T with TᵀE T = S = ±1, and Z with E Z = 0 and unit columns, block by block."""
    try:
        root, sign, _ = signed_root(system.E)
        inverse, Z = root.toarray(), np.zeros((system.rows.size, 0))
    except la.LinAlgError:
        groups = components(system.E)
        blocks = [(g, *energy_coordinates(system.E[g][:, g].toarray())) for g in groups]
        inverse, Z = (block_columns([(g, V[k]) for g, *V in blocks], system.rows.size) for k in range(2))
        inverse, sign = inverse.T, np.concatenate([V[2] for _, *V in blocks])
    return inverse, sign, sign[:, None] * (inverse @ (inverse @ system.dynamics.toarray()).T).T, Z


def energy_form(system: LinearPHDAE) -> tuple[float, np.ndarray, np.ndarray]:
    """The system without joints in energy coordinates x: ẋ = size · A x, e = T x. Returns size, A, T, with max |A_ij| = 1.

    Stresses that no motion changes are left out.
    """
    inverse, _, A, Z = _energy_coordinates(system)
    if Z.shape[1]:
        raise InputError("E is singular: some row stores no energy; use poles(…), which accepts such a system")
    n = system.split
    U, reached, _ = la.svd(A[n:, :n], full_matrices=False)
    T = la.block_diag(np.eye(n), U[:, reached > ZERO * reached.max(initial=0.0)])
    A = T.T @ A @ T
    size = float(np.abs(A).max(initial=0.0)) or 1.0
    return size, A / size, inverse.T @ T


def _without_unreached_stresses(
    system: LinearPHDAE, A: np.ndarray, F: np.ndarray, C: np.ndarray, constraints: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, F and C without stresses that no motion and no w changes: they would be poles and zeros at s = 0 without meaning.

    `constraints` are joint rows; only motions that they allow change stresses.
    """
    n = system.split
    coupled = np.any(A[n:, n:]) or largest(system.E[:n, n:])
    if not 0 < n < system.rows.size or coupled:
        return A, F, C
    allowed = np.eye(n) if constraints[:, n:].any() else la.null_space(constraints[:, :n], rcond=RANK)
    U, size, _ = la.svd(A[n:, :n] @ allowed, full_matrices=False)
    U = U[:, size > ZERO * size.max(initial=0.0)]
    if (ports := np.hstack([F[n:], C[:, n:].T])).any():
        ports = ports / _lengths(ports)
        for _ in range(2):
            ports = ports - U @ (U.T @ ports)
        V, size, _ = la.svd(ports, full_matrices=False)
        U = np.hstack([U, V[:, size > RANK]])
    T = la.block_diag(np.eye(n), U)
    return T.T @ A @ T, T.T @ F, C @ T
