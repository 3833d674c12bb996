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

from phloat.algebra.sparse import Matrix, components, csr, largest, small_blocks
from phloat.algebra.threads import one_thread
from phloat.errors import InputError, positive
from phloat.linear.form.mass_normalised import FirstOrder, MassNormalised
from phloat.linear.form.phdae import LinearPHDAE, channels, linear_only

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

    Between different ports, zeros that double precision does not determine to 1e-6 are left out: far above the frequencies that
    reach both ports they are zeros of round-off. For a large system reduce it first or, if the outputs are the inputs, use
    modes(swap_causality(system, port)).
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


def motion_poles(system: LinearPHDAE) -> np.ndarray | None:
    """All poles with Im ≥ 0, one zero a rigid motion that keeps its momentum; None where stresses are damped, or share mass."""
    n = system.split
    E, J, R = system.E, system.J, system.R
    if n < 0 or largest(E[:n, n:]) or largest(J[n:, n:]) or largest(R[n:]) or largest(system.G[:, n:]):
        return None
    at, D = MassNormalised.of(E, J, system.G, n), csr(R[:n, :n] - J[:n, :n])
    if largest(D):
        x = FirstOrder.of(at, D)
        return np.concatenate([np.zeros(x.conserved.shape[1]), x.value[x.value.imag >= 0.0]])
    mu, _ = at.eigenpairs()
    grows = np.sqrt(-mu[mu < 0.0])
    return np.concatenate([np.zeros(at.rigid.shape[1]), grows, -grows, 1j * np.sqrt(mu[mu > 0.0])])


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


# --- zeros between distant ports -------------------------------------------------------------------------------------
#
# Zeros between ports that are apart, from the modes of a lossless system.
#
# In modal coordinates (Ω² + s²) q = b u and 0 = c q. With a shift, D = Ω² + σ², the zeros are eigenvalues of a matrix without u,
#
#     θ q = W q,   W = (1 − X (c X)⁻¹ c) D⁻¹,   X = D⁻¹ b,   s² = σ² − 1/θ:
#
# the largest θ, the zeros next to σ, are the most accurate, whatever the mesh adds at high frequency. Far from both ports' reach a
# transfer function is the sum of terms that cancel to round-off, and its zeros are those of round-off: they are recognised by the
# condition of θ and left out.


DETERMINED = 1e-6  # relative: the error up to which a zero is one
ROUGH = 100.0  # relative: the error up to which an eigenvalue is a start for Newton's method (its bound is a crude one)
NEAR = 0.05  # relative: how far Newton's method may go
ABSENT = 1e-12  # of ports on coordinates of unit mass: what counts as no part in a mode
NEWTON_STEPS = 4
STILL = 1e-9  # of the first shift, squared: what counts as s = 0
APART = 300.0  # from one shift to the next
GOOD = 1e-4  # relative: the error up to which the zeros of a shift are taken, those beyond from the next
EPS = 4 * np.finfo(float).eps


def applies(system: LinearPHDAE, into: np.ndarray, out: np.ndarray) -> bool:
    """Whether the ports are apart, act on velocities, and nothing is damped or gyroscopic."""
    n = system.split
    ports = np.union1d(into, out)
    return not (
        np.array_equal(into, out)
        or n < 0
        or not system.lossless
        or largest(system.J[:n, :n])
        or largest(system.J[n:, n:])
        or largest(system.E[:n, n:])
        or largest(system.G[:, n:])
        or largest(system.B[n:][:, ports])
        or largest(system.B_lam[:, ports])
    )


def distant_zeros(system: LinearPHDAE, into: np.ndarray, out: np.ndarray) -> np.ndarray | None:
    """The zeros with Im ≥ 0, without order; None where every s is one."""
    n = system.split
    at = MassNormalised.of(system.E, system.J, system.G, n)
    mu, V = at.eigenpairs()
    unit = 1.0 / np.sqrt(system.E.diagonal()[:n])
    (b_0, b), (c_0, c) = (_parts(system.B[:n, which].toarray(), unit, at.rigid, V) for which in (into, out))
    turn = la.qr(b_0)[0] if b_0.size else np.eye(len(b_0))  # rigid motions that no input moves are zeros at s = 0
    b_0, c_0 = (np.where(np.abs(turn.T @ x) > ABSENT * np.abs(x).sum(axis=0), turn.T @ x, 0.0) for x in (b_0, c_0))
    moved, felt = b_0.any(axis=1) & c_0.any(axis=1), b.any(axis=1) & c.any(axis=1)
    b, c = np.vstack([b_0[moved], b[felt]]), np.vstack([c_0[moved], c[felt]])
    own, loose = np.concatenate([np.zeros(moved.sum()), mu[felt]]), int((~moved).sum())
    found = _between(own, b, c)
    if found is None:
        return None
    squared, still = found
    at_rest = max(len(into) - int(moved.sum()) + 2 * still, 0) + loose
    squared = np.concatenate([squared, -mu[~felt]])
    root = np.sqrt(squared.astype(complex))
    both = np.concatenate([root, -root])
    upper = both[(both.imag > 0.0) | ((both.imag == 0.0) & (both != 0.0))]
    return np.concatenate([np.zeros(at_rest), upper])


def _parts(B: np.ndarray, unit: np.ndarray, *shapes: np.ndarray) -> list[np.ndarray]:
    """VᵀB of each shape V of unit mass (modes × ports), exactly zero where it is round-off."""
    size = np.abs(B).T @ unit
    return [np.where(np.abs(V.T @ B) > ABSENT * size, V.T @ B, 0.0) for V in shapes]


def _between(mu: np.ndarray, b: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, int] | None:
    """s² of the zeros that are determined, and how many are zero; from shifts that cover the frequencies."""
    low = np.sqrt(np.abs(mu[mu != 0.0]).min(initial=np.inf))
    low = 0.9 * max(low if np.isfinite(low) else 1.0, np.sqrt(max(-2.0 * mu.min(initial=0.0), 0.0)))
    high = np.sqrt(np.abs(mu).max(initial=0.0))
    shifts = low * APART ** np.arange(max(int(np.ceil(np.log(max(high / low, 1.0)) / np.log(APART))), 1))
    bands = [_near(sigma, mu, b, c) for sigma in shifts]
    if any(band is None for band in bands):
        return None
    kept, start = [], 0.0
    for k, band in enumerate(bands):
        assert band is not None
        size = np.abs(band[0])
        stop = np.inf if k == len(bands) - 1 else max(_reach(size, band[1]), start)
        there = (size > start) & (size <= stop)
        kept.append((band[0][there], band[1][there]))
        start = stop
    squared, off = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    still = np.abs(squared) <= STILL * low**2
    starts = squared[~still & (off <= ROUGH * np.abs(squared))]
    found = [(x, start) for start in starts if (x := _polished(start, mu, b, c)) is not None]
    return np.array([x for k, (x, start) in enumerate(found) if not _again(x, start, found[:k])]), int(still.sum())


def _again(x: complex, start: complex, others: list[tuple[complex, complex]]) -> bool:
    """Whether Newton's method came to a zero that is there already, from somewhere else."""
    return any(abs(x - y) <= 1e-8 * abs(x) and abs(start - z) > 1e-5 * abs(x) for y, z in others)


def _polished(x: complex, mu: np.ndarray, b: np.ndarray, c: np.ndarray) -> complex | None:
    """s² after some steps of Newton's method on cᵀ(Ω² + s²)⁻¹b; None where round-off of its terms moves it too far."""
    start = x
    for _ in range(NEWTON_STEPS):
        gap = mu + x
        if not gap.all():
            return x  # a pole that is a zero too
        H, slope = (c.T / gap) @ b, -(c.T / gap**2) @ b
        u, _, v = la.svd(H)
        u, v = u[:, -1].conj(), v[-1].conj()
        steepness = u @ slope @ v
        if not abs(steepness) > 0.0:
            return None
        x = x - (u @ H @ v) / steepness
    off = EPS * (np.abs(u) @ ((np.abs(c).T / np.abs(gap)) @ np.abs(b)) @ np.abs(v)) / abs(steepness)
    good = off <= 2.0 * DETERMINED * abs(x) and abs(x - start) <= NEAR * abs(start)
    return (x.real if abs(x.imag) <= off else x) if good else None


def _near(sigma: float, mu: np.ndarray, b: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """s² of all zeros from one shift, and their errors."""
    root = 1.0 / np.sqrt(mu + sigma**2)
    X, Y = root[:, None] * b, root[:, None] * c
    ports = b.shape[1]
    H = Y.T @ X
    size = np.sqrt(np.outer((Y**2).sum(axis=0), (X**2).sum(axis=0)))
    if len(mu) < ports or (size == 0.0).any() or la.svdvals(H / size)[-1] <= EPS:
        return None
    W = root[:, None] * (np.eye(len(mu)) - X @ la.solve(H, Y.T)) * root
    theta, left, right = la.eig(W, left=True)
    order = np.argsort(-np.abs(theta), kind="stable")[: len(mu) - ports]  # the others are infinite zeros
    theta = theta[order]
    along = np.abs(np.einsum("ik,ik->k", left[:, order].conj(), right[:, order]))
    condition = 1.0 / np.maximum(along, 1e-300)
    there = np.abs(theta) > EPS * np.abs(theta).max(initial=0.0)  # and these too
    theta, condition = theta[there], condition[there]
    return sigma**2 - 1.0 / theta, EPS * la.norm(W) / np.abs(theta) * np.minimum(condition, 1e100) / np.abs(theta)


def _reach(size: np.ndarray, off: np.ndarray) -> float:
    """Up to where the zeros of one shift are good: the middle between the last good one and the next."""
    order = np.argsort(size)
    size, good = size[order], (off <= GOOD * size)[order]
    if good.all():
        return np.inf
    k = int(np.argmin(good))
    return float(np.sqrt(size[k - 1] * size[k])) if k else 0.0
