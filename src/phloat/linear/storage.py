"""The energy of a passive state space: X with [[−AᵀX − XA, Cᵀ − XB], [C − BᵀX, D + Dᵀ]] ≥ 0.

Three steps, again and again until nothing is left. Poles on the imaginary axis are split off: they are lossless, and their
energy follows from linear equations. Inputs without feedthrough fix X on their columns, X B = Cᵀ; what remains is the same
problem with fewer states and the power −BᵀXA B as feedthrough. With feedthrough everywhere it is a Riccati equation.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as la

from phloat.errors import InputError

AXIS = 1e-9  # of the size of A: how near to the imaginary axis a pole is on it
ZERO = 1e-9  # of the size of its kind: what counts as nothing
PASSIVE = 1e-9  # of the size of the matrix: what may be negative and still be round-off


def storage(A: np.ndarray, B: np.ndarray, C: np.ndarray, W: np.ndarray, *, scale: float = 0.0) -> np.ndarray:
    """X = Xᵀ > 0 for ẋ = A x + B u, y = C x + D u with W = D + Dᵀ, or a sentence why there is none.

    `scale` is the size of what W was computed from: far below it W is round-off.
    """
    n = len(A)
    size = la.norm(A, 2) if n else 1.0
    d, U = la.eigh(W) if len(W) else (np.zeros(0), W)
    around = la.norm(C, 2) * la.norm(B, 2) / (size or 1.0) if n and len(W) else 0.0
    reach = ZERO * max(float(np.abs(d).max(initial=0.0)), scale, around)
    if d.min(initial=0.0) < -reach:
        raise InputError(f"the system is not passive: at high frequencies G + Gᴴ has the eigenvalue {d[0]:.3g}")
    if not n:
        return np.zeros((0, 0))
    poles = la.eigvals(A)
    worst = poles[int(np.argmax(poles.real))]
    if worst.real > AXIS * size:
        raise InputError(
            f"the system is not stable, so it is not passive: it has a pole at s = {worst.real:.3g}{worst.imag:+.3g}j"
        )
    on_axis = np.abs(poles.real) <= AXIS * size
    if on_axis.all():
        return _lossless(A, B, C)
    if on_axis.any():
        return _split(A, B, C, W, int(on_axis.sum()), size)
    fed, B, C = d > reach, B @ U, U.T @ C
    if fed.all():
        return _riccati(A, B, C, np.diag(d))
    return _deflated(A, (B[:, fed], B[:, ~fed]), (C[fed], C[~fed]), np.diag(d[fed]))


def _split(A: np.ndarray, B: np.ndarray, C: np.ndarray, W: np.ndarray, count: int, size: float) -> np.ndarray:
    """A real basis in which the poles on the axis stand by themselves; the energies of the two parts add."""
    S, Q, found = la.schur(A, output="real", sort=lambda re, im: abs(re) <= AXIS * size)
    if found != count:
        raise InputError(
            f"{abs(found - count)} poles of the system lie too near to the imaginary axis to be told apart"
        )
    Y = la.solve_sylvester(S[:count, :count], -S[count:, count:], -S[:count, count:])
    T = Q @ np.block([[np.eye(count), Y], [np.zeros((len(A) - count, count)), np.eye(len(A) - count)]])
    B, C = la.solve(T, B), C @ T
    still = _lossless(S[:count, :count], B[:count], C[:, :count])
    rest = storage(S[count:, count:], B[count:], C[:, count:], W)
    back = la.inv(T)
    return _symmetric(back.T @ la.block_diag(still, rest) @ back)


def _lossless(A: np.ndarray, B: np.ndarray, C: np.ndarray) -> np.ndarray:
    """X A + AᵀX = 0 and X B = Cᵀ, by least squares over symmetric X."""
    n = len(A)
    i, j = np.triu_indices(n)
    basis = np.zeros((len(i), n, n))
    basis[np.arange(len(i)), i, j] = basis[np.arange(len(i)), j, i] = 1.0
    turning, reaching = la.norm(A) or 1.0, la.norm(B) or 1.0
    kept = (basis @ A + np.swapaxes(basis @ A, 1, 2)).reshape(len(i), -1) / turning
    met = (basis @ B).reshape(len(i), -1) / reaching
    right = np.concatenate([np.zeros(kept.shape[1]), C.T.ravel() / reaching])
    x = la.lstsq(np.hstack([kept, met]).T, right)[0]
    miss = la.norm(np.hstack([kept, met]).T @ x - right) / max(la.norm(right), 1e-300)
    X = np.tensordot(x, basis, 1)
    if miss > 1e-6 or (n and la.eigvalsh(X)[0] <= 0.0):
        poles = la.eigvals(A)
        raise InputError(
            f"the system is not passive: its poles on the imaginary axis, |s| = {_said(np.abs(poles))}, have residues that are "
            "not symmetric and positive (or are not felt by the inputs, or double)"
        )
    return X


def _deflated(
    A: np.ndarray, B: tuple[np.ndarray, np.ndarray], C: tuple[np.ndarray, np.ndarray], W: np.ndarray
) -> np.ndarray:
    """x = B₂S^(−½)α + N z with C₂N = 0 and S = C₂B₂: X = diag(1, Y) there, and Y solves the problem of z with α as an input."""
    S = C[1] @ B[1]
    if la.norm(S - S.T) > 1e-6 * max(la.norm(S), 1e-300) or la.eigvalsh(_symmetric(S))[0] <= ZERO * la.norm(S):
        raise InputError(
            "the system is not passive: without feedthrough the first answer to a blow, C B, must be symmetric and positive; "
            f"its smallest eigenvalue is {la.eigvalsh(_symmetric(S))[0]:.3g} and its asymmetry {la.norm(S - S.T):.3g}"
        )
    root = la.sqrtm(_symmetric(S))
    B_2, N, m = la.solve(root, B[1].T, assume_a="pos").T, la.null_space(C[1]), len(S)  # α of unit energy
    T = np.hstack([B_2, N])
    a, b = la.solve(T, A @ T), la.solve(T, B[0])
    power = -a[:m, :m]
    mixed = (C[0] @ B_2).T - b[:m]
    Y = storage(
        a[m:, m:],
        np.hstack([a[m:, :m], b[m:]]),
        np.vstack([-a[:m, m:], C[0] @ N]),
        np.block([[power + power.T, mixed], [mixed.T, W]]),
        scale=la.norm(a, 2),
    )
    back = la.inv(T)
    return _symmetric(back.T @ la.block_diag(np.eye(m), Y) @ back)


def _riccati(A: np.ndarray, B: np.ndarray, C: np.ndarray, W: np.ndarray) -> np.ndarray:
    """AᵀX + XA + (XB − Cᵀ) W⁻¹ (BᵀX − C) = 0, its smallest solution: the energy that can be had back."""
    try:
        X = la.solve_continuous_are(A, B, np.zeros(A.shape), -W, s=-C.T)
    except (la.LinAlgError, ValueError):
        X = np.full(A.shape, np.nan)
    if np.isfinite(X).all() and la.eigvalsh(_symmetric(X))[0] > 0.0:
        X = _symmetric(X)
        step = X @ B - C.T
        miss = A.T @ X + X @ A + step @ la.solve(W, step.T)
        if la.norm(miss) <= 1e-6 * la.norm(X @ A):
            return X
    omega = np.concatenate([[0.0], np.logspace(-3, 3, 601) * max(float(np.abs(la.eigvals(A)).max()), 1e-300)])
    least = [_real_part(A, B, C, W, w) for w in omega]
    at = int(np.argmin(least))
    if least[at] < -PASSIVE * la.norm(W):
        raise InputError(
            f"the system is not passive: at ω = {omega[at]:.3g} rad/s it gives power, G + Gᴴ has the eigenvalue {least[at]:.3g}"
        )
    raise InputError(
        f"no energy was found: G + Gᴴ comes down to {least[at]:.3g} at ω = {omega[at]:.3g} rad/s, or some states are not felt by "
        "inputs and outputs; take such states out (control.minreal), add a little feedthrough, or give energy=…"
    )


def _real_part(A: np.ndarray, B: np.ndarray, C: np.ndarray, W: np.ndarray, omega: float) -> float:
    G = C @ la.solve(1j * omega * np.eye(len(A)) - A, B)
    return float(la.eigvalsh(W + G + G.conj().T)[0])


def _symmetric(a: np.ndarray) -> np.ndarray:
    return 0.5 * (a + a.T)


def _said(values: np.ndarray) -> str:
    return ", ".join(f"{v:.3g}" for v in np.unique(np.round(values, 12))[:6])
