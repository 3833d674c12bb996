"""Poles and zeros between named ports.

A zero is an s at which inputs move the system and the outputs stay still:

    (J − R − sE) e + Gᵀλ + B u = 0,   −G e + B_λ u = 0,   Bᵀe + B_λᵀλ = 0.

Joints are outputs that are zero anyway, with λ as their inputs, so poles are the zeros of a system without ports. With
E = X S Xᵀ, S = ±1, and x = Xᵀe the matrix of a lossless system is skew, and stays so while what is algebraic is taken out by turns
(Emami-Naeini and Van Dooren, 1982): zeros of a port on itself are the poles with that port held, and lie between its poles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg as la

from phloat.algebra.sparse import Matrix, components, largest, small_blocks
from phloat.algebra.threads import one_thread
from phloat.errors import InputError, positive
from phloat.linear.channels import channels
from phloat.linear.distant_zeros import applies, distant_zeros
from phloat.linear.phdae import LinearPHDAE, linear_only
from phloat.linear.spinning import motion_poles

MOST_ROWS = 1500
RANK = 1e-11  # of matrices of size one: what counts as zero when ranks are decided
ZERO = 1e-12  # of the largest entry: what counts as s = 0
SKEW = 1e-13


@dataclass(frozen=True, eq=False)
class PoleZeros:
    """Poles of a system and zeros from inputs to outputs, those with Im ≥ 0, by size; what the ports do not see is in both."""

    poles: np.ndarray
    zeros: np.ndarray
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def below(self, omega: float) -> PoleZeros:
        """Those with |s| below a frequency (rad/s)."""
        limit = positive("omega", omega)
        return replace(self, poles=self.poles[np.abs(self.poles) < limit], zeros=self.zeros[np.abs(self.zeros) < limit])

    def __repr__(self) -> str:
        into, out = ", ".join(self.inputs), ", ".join(self.outputs)
        return f"PoleZeros({len(self.poles)} poles, {len(self.zeros)} zeros from {into} to {out})"


@one_thread()
def zeros(system: LinearPHDAE, inputs: str | Sequence[str], outputs: str | Sequence[str] | None = None) -> np.ndarray:
    """The invariant zeros from as many inputs to as many outputs, those with Im ≥ 0, by size.

    Between ports that are apart, zeros that double precision does not determine to 1e-6 are left out: far above the frequencies
    that both ports feel, they are zeros of round-off. Of a large system: modes(swapped(system, port)), where outputs are inputs, or
    reduce it first.
    """
    linear_only(system, circulatory=True)
    into, input_names = channels(system, inputs)
    out, output_names = channels(system, inputs if outputs is None else outputs)
    if len(into) != len(out):
        raise InputError(
            f"there are {len(into)} inputs and {len(out)} outputs; zeros are asked for between equal numbers: "
            "choose components, as in 'port[0]'"
        )
    _few_enough(system)
    found = _by_size(distant_zeros(system, into, out)) if applies(system, into, out) else _zeros(system, into, out)
    if found is None:
        raise InputError(
            f"every s is a zero from {', '.join(input_names)} to {', '.join(output_names)}: some output does not feel the "
            "inputs, or repeats another; see ports_report(…)"
        )
    return found


@one_thread()
def poles(system: LinearPHDAE) -> np.ndarray:
    """All poles with Im ≥ 0, by size, damped, loaded or spinning; a rigid mode gives one at zero."""
    linear_only(system, circulatory=True)
    _few_enough(system)
    found = None if system.circulatory else _by_size(motion_poles(system))
    if found is not None:
        return found
    found = _zeros(system, np.zeros(0, dtype=int), np.zeros(0, dtype=int))
    if found is None:
        raise InputError("joints repeat each other: drop those rows first, as linearise does")
    return found


@one_thread()
def poles_zeros(
    system: LinearPHDAE, inputs: str | Sequence[str], outputs: str | Sequence[str] | None = None
) -> PoleZeros:
    """Poles, and zeros from as many inputs to as many outputs."""
    found = zeros(system, inputs, outputs)
    _, input_names = channels(system, inputs)
    _, output_names = channels(system, inputs if outputs is None else outputs)
    return PoleZeros(poles(system), found, input_names, output_names)


def _few_enough(system: LinearPHDAE) -> None:
    if system.rows.size > MOST_ROWS:
        raise InputError(
            f"the system has {system.rows.size} rows, and zeros are computed densely up to {MOST_ROWS}; reduce it first"
        )


def _zeros(system: LinearPHDAE, into: np.ndarray, out: np.ndarray) -> np.ndarray | None:
    _few_enough(system)
    size, plant = state_space(system, into, out)
    A, C, F, D = (a.T for a in _without_algebra(*_without_algebra(*plant)))
    if len(D) < len(plant[2]):
        return None
    A = A - F @ la.solve(D, C) if len(D) else A
    found = 1j * la.eigvalsh(-1j * A) if np.abs(A + A.T).max(initial=0.0) <= SKEW else la.eigvals(A)
    found = found * size
    found[np.abs(found) <= ZERO * size] = 0.0
    found = np.where(np.abs(found.imag) <= ZERO * size, found.real, found)
    return _by_size(found[found.imag >= 0.0])


def _by_size(found: np.ndarray | None) -> np.ndarray | None:
    return None if found is None else np.asarray(found[np.argsort(np.abs(found), kind="stable")])


def _without_algebra(A: np.ndarray, F: np.ndarray, C: np.ndarray, D: np.ndarray) -> tuple[np.ndarray, ...]:
    """ẋ = A x + F w, 0 = C x + D w with fewer x and D of full row rank, transposed; rows that always hold are dropped.

    Rows without w hold some x at zero; that their rates are zero are the new rows.
    """
    while len(D):
        U, size, _ = la.svd(D)
        rank = int((size > RANK).sum())
        if rank == len(D):
            break
        C, D = U.T @ C, (U.T @ D)[:rank]
        _, size, V = la.svd(C[rank:])
        held = int((size > RANK).sum())
        S, N = V[:held].T, V[held:].T
        C, D = np.vstack([C[:rank] @ N, S.T @ A @ N]), np.vstack([D, S.T @ F])
        A, F = N.T @ A @ N, N.T @ F
        if not held:
            break
    return A.T, C.T, F.T, D.T


@one_thread()
def state_space(
    system: LinearPHDAE, into: np.ndarray, out: np.ndarray
) -> tuple[float, tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """(A, F, C, D) of ẋ = A x + F (λ, u), 0 = C x + D (λ, u), each of size one, and the frequency that A was divided by."""
    inverse, sign = _root(system.E)
    joints = system.multipliers.size
    A = sign[:, None] * (inverse @ (inverse @ system.dynamics.toarray()).T).T
    G, B, B_lam = system.G.toarray(), system.B.toarray(), system.B_lam.toarray()
    F = sign[:, None] * (inverse @ np.hstack([G.T, B[:, into]]))
    C = np.vstack([-G, B[:, out].T]) @ inverse.T
    D = np.zeros((joints + len(out), joints + len(into)))
    D[:joints, joints:], D[joints:, :joints] = B_lam[:, into], B_lam[:, out].T
    held = np.arange(joints)[~np.any(D[:joints], axis=1)]  # a driven joint moves what hangs on it
    A, F, C = _reached(system, A, F, C, C[held])
    size = float(np.abs(A).max(initial=0.0)) or 1.0
    row, column = _lengths(np.hstack([C, D]).T), _lengths(np.vstack([F, D]))
    return size, (A / size, F / column, C / row[:, None], D / column / row[:, None])


def _lengths(columns: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(columns, axis=0)
    return np.where(length > 0.0, length, 1.0)


def _root(E: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """X⁻¹ and S of E = X S Xᵀ, block by block."""
    inverse, sign = np.zeros(E.shape), np.ones(E.shape[0])
    for index, block in small_blocks(E, components(E)):
        unit = 1.0 / np.sqrt(np.maximum(np.abs(np.einsum("bii->bi", block)), 1e-300))
        value, vector = np.linalg.eigh(block * unit[:, :, None] * unit[:, None, :])
        if (np.abs(value).min(axis=1) <= 1e-14 * np.abs(value).max(axis=1)).any() or not np.isfinite(unit).all():
            raise InputError("E is singular: some row stores no energy; eliminate it before asking for poles and zeros")
        root = (vector / np.sqrt(np.abs(value))[:, None, :]).transpose(0, 2, 1) * unit[:, None, :]
        for where, part, signs in zip(index, root, np.sign(value), strict=True):
            inverse[np.ix_(where, where)], sign[where] = part, signs
    return inverse, sign


def energy_form(system: LinearPHDAE) -> tuple[float, np.ndarray, np.ndarray]:
    """A of ẋ = size · A x for a system without joints, of size one and without stresses that no motion reaches; rows e = T x."""
    inverse, sign = _root(system.E)
    n, A = system.split, sign[:, None] * (inverse @ (inverse @ system.dynamics.toarray()).T).T
    U, reached, _ = la.svd(A[n:, :n], full_matrices=False)
    T = la.block_diag(np.eye(n), U[:, reached > ZERO * reached.max(initial=0.0)])
    A = T.T @ A @ T
    size = float(np.abs(A).max(initial=0.0)) or 1.0
    return size, A / size, inverse.T @ T


def _reached(
    system: LinearPHDAE, A: np.ndarray, F: np.ndarray, C: np.ndarray, held: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Without stresses that no motion reaches: they would stay as they are, poles and zeros at s = 0 that mean nothing.

    `held` are rows of joints: motions that they do not allow reach nothing.
    """
    n = system.split
    if (
        not 0 < n < system.rows.size
        or np.any(A[n:, n:])
        or np.any(F[n:])
        or np.any(C[:, n:])
        or largest(system.E[:n, n:])
    ):
        return A, F, C
    U, size, _ = la.svd(A[n:, :n] @ la.null_space(held[:, :n], rcond=RANK), full_matrices=False)
    U = U[:, size > ZERO * size.max(initial=0.0)]
    still = np.zeros((U.shape[1], U.shape[1]))
    return (
        np.block([[A[:n, :n], A[:n, n:] @ U], [U.T @ A[n:, :n], still]]),
        np.vstack([F[:n], np.zeros((U.shape[1], F.shape[1]))]),
        np.hstack([C[:, :n], np.zeros((len(C), U.shape[1]))]),
    )
