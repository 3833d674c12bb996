"""Zeros between ports that are apart, from the modes of a lossless system.

In modal coordinates (Ω² + s²) q = b u and 0 = c q. With a shift, D = Ω² + σ², the zeros are eigenvalues of a matrix without u,

    θ q = W q,   W = (1 − X (c X)⁻¹ c) D⁻¹,   X = D⁻¹ b,   s² = σ² − 1/θ:

the largest θ, the zeros next to σ, are the most accurate, whatever the mesh adds at high frequency. Far from both ports' reach a
transfer function is the sum of terms that cancel to round-off, and its zeros are those of round-off: they are recognised by the
condition of θ and left out.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as la

from phloat.algebra.sparse import largest
from phloat.linear.phdae import LinearPHDAE
from phloat.linear.undamped import Undamped

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
    at = Undamped.of(system.E, system.J, system.G, n)
    mu, V = at.standing()
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
