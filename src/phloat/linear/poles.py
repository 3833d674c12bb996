"""Poles of damped systems: λ² M + λ R + K on the motions that the joints allow."""

from __future__ import annotations

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from phloat.algebra.sparse import Matrix, block_inverse, csr, largest
from phloat.errors import AccuracyError, InputError
from phloat.linear.phdae import LinearPHDAE

NEWTON_STEPS = 12


def poles(system: LinearPHDAE, omega: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """One pole with Im ≥ 0 for each undamped mode (ω, velocities of unit mass), in their order."""
    if system.lossless:
        return 1j * omega
    n = system.split
    if largest(system.R[n:, n:]):
        raise InputError("damping acts on stresses too: its poles are those of the pencil (J − R, E), not of modes")
    R = csr(system.R[:n, :n])
    found, shapes = _projected(omega, vectors.T @ (R @ vectors))
    spill = R @ vectors - csr(system.E[:n, :n]) @ (vectors @ (vectors.T @ (R @ vectors)))
    complete = vectors.shape[1] == n - system.multipliers.size
    if complete or np.abs(spill).max(initial=0.0) < 1e-10 * max(largest(R), 1e-300):
        return found
    return np.array([_refined(system, R, s, vectors @ x) for s, x in zip(found, shapes.T, strict=True)])


def _projected(omega: np.ndarray, damping: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Poles in the basis of the undamped modes, and their shapes."""
    k = len(omega)
    value, vector = la.eig(np.block([[np.zeros((k, k)), np.eye(k)], [-np.diag(omega**2), -damping]]))
    value = np.where(np.abs(value.imag) < 1e-9 * np.abs(value), value.real + 0j, value)
    still = np.argsort(np.abs(value), kind="stable")[: 2 * int((omega == 0).sum())]  # a rigid mode: two zeros
    value[still] = 0.0
    rest = np.setdiff1d(np.arange(2 * k), still)
    upper = rest[value[rest].imag > 0]
    real = rest[value[rest].imag == 0]
    real = real[np.argsort(np.abs(value[real]), kind="stable")]
    slow, fast = real[: (len(real) + 1) // 2], real[::-1][: len(real) // 2]
    middle = np.abs(value[slow])  # |λ| of a pair is the root of its product: the slowest pairs with the fastest
    middle[: len(fast)] = np.sqrt(np.abs(value[slow[: len(fast)]] * value[fast]))
    chosen = np.concatenate([still[::2], upper, slow])
    key = np.concatenate([np.zeros(len(still[::2])), np.abs(value[upper]), middle])
    order = chosen[np.argsort(key, kind="stable")]
    return value[order], vector[:k, order]


def _refined(system: LinearPHDAE, R: Matrix, s: complex, v: np.ndarray) -> complex:
    """Newton on (s² M + s R + K) x + Gᵀλ = 0, G x = 0, from a pole and shape of the projected problem."""
    if s == 0:
        return 0.0
    n, joints = system.split, system.multipliers.size
    inverse = block_inverse(csr(system.E[n:, n:]))
    assert inverse is not None
    M, L, G = csr(system.E[:n, :n]), csr(-system.J[:n, n:]), csr(system.G[:, :n])
    K = csr(L @ inverse @ L.T)
    weight = largest(K)
    x = np.concatenate([v, np.zeros(joints)])
    for _ in range(NEWTON_STEPS):
        T = M.astype(complex) * s**2 + R * s + K
        saddle = sp.block_array([[T, weight * G.T], [weight * G, None]], format="csc") if joints else sp.csc_array(T)
        slope = np.concatenate([(2 * s * M + R) @ x[:n], np.zeros(joints)])
        y = spla.splu(saddle).solve(slope)
        pivot = int(np.argmax(np.abs(x[:n])))
        step = x[pivot] / y[pivot]
        s, x = s - step, y / np.linalg.norm(y)
        if abs(step) < 1e-12 * abs(s):
            return s
    raise AccuracyError(f"the pole near {s:.6g} rad/s did not settle in {NEWTON_STEPS} Newton steps")
