"""The lowest eigenvalues of K v = μ M v + Gᵀλ, G v = 0 for large sparse K and M, with multiplicities."""

from __future__ import annotations

import numpy as np
import scipy.linalg as la
import scipy.sparse.linalg as spla

from phloat.algebra.eigen import lanczos, unit_mass
from phloat.algebra.sparse import random_start
from phloat.linear.form.second_order import Factor, SecondOrder

BLOCK_STEPS = 200
EXACT = 1e-13  # of a solution: a correction that is not needed
SOUND = 1e-9  # of a solution: the last correction of an accurate one


class ShiftInvert:
    """The lowest eigenvalues of K v = μ M v + Gᵀλ, G v = 0, from one factorisation of the saddle at a shift."""

    def __init__(self, model: SecondOrder, shift: float, *, mixed: bool = False):
        self.M, self.shift, self.n = model.M, shift, model.size
        self.free = self.n - model.G.shape[0]
        self.factor = Factor(model, -shift, 0.0, mixed=mixed)
        self.factor.solve(self.M @ random_start(self.n))
        errors = self.factor.errors
        self.corrections = sum(error > EXACT for error in errors[:-1])  # those that help
        self.sound = errors[self.corrections] <= SOUND

    def solve(self, b: np.ndarray) -> np.ndarray:
        """(K − s M)⁻¹ b on the motions that the joints allow."""
        return self.factor.solve(b, corrections=self.corrections)

    def completed(self, value: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The modes of one Krylov sequence, and those of a cluster that it missed."""
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
        left = self.free - known.shape[1]
        count = min(count, left - 1)
        try:
            found = lanczos(self.M, self.M, self.solve, known, count, self.shift, self.free, tol=tolerance)
        except spla.ArpackError:  # fewer distinct eigenvalues than required: one sequence cannot span their modes
            found = self._by_blocks(known, count, min(count + 8, max(2 * count + 1, 20), left))
        self.found = unit_mass(self.M, *found)
        return self.found

    def _by_blocks(self, known: np.ndarray, count: int, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Subspace iteration: slower than Lanczos, but independent of multiplicities."""
        unit = np.sqrt(self.M.diagonal())[:, None]
        x = np.random.default_rng(1).normal(size=(self.n, size))
        last = np.full(count, np.inf)
        for _ in range(BLOCK_STEPS):
            x = np.linalg.qr(unit * self._applied(x, known))[0] / unit
            y = self._applied(x, known)
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

    def _applied(self, v: np.ndarray, known: np.ndarray | None = None) -> np.ndarray:
        """(K − sM)⁻¹ M v on the free motions, M-orthogonal to the known ones."""
        x = self.solve(self.M @ v)
        return x if known is None else x - known @ (known.T @ (self.M @ x))

    def residual(self, value: np.ndarray, v: np.ndarray) -> float:
        """The largest error of the modes of unit mass, in the norm of M.

        From r = v − (μ − s)(K − sM)⁻¹M v, in which a part δ along another mode appears (μ − s) / (μ_other − s) times as large.
        """
        far = value - self.shift
        rest = v - self._applied(v) * far
        along = v.T @ (self.M @ rest)
        rest = rest - v @ along
        along = along / np.maximum(1.0, np.abs(1.0 - far / far[:, None]))
        outside = np.einsum("ik,ik->k", rest, self.M @ rest)
        return float(np.sqrt((outside + (along**2).sum(axis=0)).max(initial=0.0)))
