"""The lowest eigenvalues of K v = μ M v + Gᵀλ, G v = 0 for large sparse K and M, with multiplicities."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg as la
import scipy.sparse.linalg as spla

from phloat.algebra.sparse import Matrix, largest, stacked, zeros

BLOCK_STEPS = 200


class ShiftInvert:
    """The lowest eigenvalues of K v = μ M v + Gᵀλ, G v = 0, from one factorisation of the saddle at a shift."""

    def __init__(self, K: Matrix, M: Matrix, G: Matrix, shift: float):
        self.M, self.shift, self.n = M, shift, K.shape[0]
        joints = G.shape[0]
        self.size, self.free = self.n + joints, self.n - joints
        weight = largest(K - shift * M)
        saddle = stacked([[K - shift * M, weight * G.T], [weight * G, zeros(joints, joints)]])
        self.factor = spla.splu(saddle.tocsc())
        self.mass = stacked([[M, None], [None, zeros(joints, joints)]])

    def completed(self, value: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Modes that one Krylov sequence found, and those of a cluster that it missed."""
        count = len(value)
        while v.shape[1] < self.free - 1:
            more, _ = self.run(1, v, tolerance=1e-2)
            if more[0] > 0.98 * value[-1]:
                return v
            more, w = self.run(3, v)
            value, v = np.sort(np.append(value, more))[:count], np.hstack([v, w])
        return v

    def run(self, count: int, known: np.ndarray | None = None, tolerance: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Lanczos on what is M-orthogonal to the known modes: eigenvalues, ascending, and velocities of unit mass."""
        known = np.zeros((self.n, 0)) if known is None else known
        count = min(count, self.free - known.shape[1] - 1)
        weighted = self.M @ known

        def solve(b: np.ndarray) -> np.ndarray:
            x = self.factor.solve(b)
            x[: self.n] -= known @ (weighted.T @ x[: self.n])
            return x

        operator = spla.LinearOperator((self.size, self.size), solve, dtype=float)
        start = solve(self.mass @ np.random.default_rng(known.shape[1]).normal(size=self.size))
        krylov = min(max(2 * count + 1, 20), self.free - known.shape[1])
        options = {"sigma": self.shift, "OPinv": operator, "v0": start, "ncv": krylov, "tol": tolerance}
        try:
            value, vector = spla.eigsh(self.mass, k=count, M=self.mass, **options)
        except spla.ArpackError:  # fewer distinct eigenvalues than asked for: one sequence cannot span their modes
            value, vector = self._by_blocks(solve, count, min(count + 8, krylov))
        v = vector[: self.n]
        v = v / np.sqrt(np.einsum("ik,ik->k", v, self.M @ v))
        order = np.argsort(value)
        return value[order], v[:, order]

    def _by_blocks(
        self, solve: Callable[[np.ndarray], np.ndarray], count: int, size: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Subspace iteration: slower than Lanczos, and indifferent to how often an eigenvalue repeats."""
        unit = np.sqrt(self.M.diagonal())[:, None]
        x = np.random.default_rng(1).normal(size=(self.n, size))
        last = np.full(count, np.inf)
        for _ in range(BLOCK_STEPS):
            x = np.linalg.qr(unit * self._applied(x, solve))[0] / unit
            y = self._applied(x, solve)
            energy, kinetic = y.T @ (self.M @ x), y.T @ (self.M @ y)  # yᵀ(K − sM)y and yᵀM y
            size_of = np.diag(energy)
            scale = 1.0 / np.sqrt(np.maximum(size_of, 1e-30 * size_of.max()))  # the last of a full space is round-off
            energy, kinetic = (a * scale[:, None] * scale for a in ((energy + energy.T) / 2, kinetic))
            ritz, q = la.eigh(kinetic, energy + 1e-14 * np.eye(size))  # the largest are those of the lowest modes
            now, x = ritz[-count:], y @ (scale[:, None] * q)
            if np.abs(now - last).max() <= 1e-13 * now[-1]:
                break
            last = now
        return self.shift + 1.0 / now, x[:, -count:]

    def _applied(self, v: np.ndarray, solve: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """(K − sM)⁻¹ M v on the free motions."""
        return solve(np.vstack([self.M @ v, np.zeros((self.size - self.n, v.shape[1]))]))[: self.n]

    def residual(self, value: np.ndarray, v: np.ndarray) -> float:
        """The largest |v − (μ − s)(K − sM)⁻¹M v| of modes of unit mass, in the norm of M."""
        rest = v - self._applied(v, self.factor.solve) * (value - self.shift)
        return float(np.sqrt(np.einsum("ik,ik->k", rest, self.M @ rest).max(initial=0.0)))
