"""The lowest eigenvalues of K v = μ M v + Gᵀλ, G v = 0 for large sparse K and M, with multiplicities.

K = L C⁻¹Lᵀ is assembled and factorised if the compliance is local to elements. If not, K would be full, and the saddle has the
stresses as unknowns: (K − sM) x = b is L τ − sM x = b, Lᵀx − C τ = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from phloat.algebra.sparse import SEEDED, Matrix, csr, largest, random_start, stacked, symmetric_lu, zeros

BLOCK_STEPS = 200
CORRECTIONS = 4
EXACT = 1e-13  # of a solution: a correction that is not needed
SOUND = 1e-9  # of a solution: the last correction of an accurate one


@dataclass(frozen=True, eq=False)
class LocalStiffness:
    """K = L C⁻¹Lᵀ with C⁻¹ sparse."""

    L: Matrix
    inverse: Matrix

    def diagonal(self) -> np.ndarray:
        """The size of the diagonal of K."""
        return (self.L @ self.inverse @ self.L.T).diagonal()

    def energy(self, v: np.ndarray) -> np.ndarray:
        """vᵀK v of each column."""
        strain = self.L.T @ v
        return np.einsum("ik,ik->k", strain, self.inverse @ strain)

    def shifted(self, M: Matrix, shift: float) -> Matrix:
        """K − s M."""
        return csr(self.L @ self.inverse @ self.L.T - shift * M)

    def sizes(self, shifted: Matrix) -> np.ndarray:
        """The scale of the rows of the shifted matrix: its diagonal."""
        return shifted.diagonal()

    def times(self, x: np.ndarray, M: Matrix, shift: float) -> np.ndarray:
        """(K − s M) x, computed through the strains: the assembled K has lost small differences."""
        return np.asarray(self.L @ (self.inverse @ (self.L.T @ x)) - shift * (M @ x))


@dataclass(frozen=True, eq=False)
class MixedStiffness:
    """K = L C⁻¹Lᵀ with C⁻¹ full: stresses are unknowns, scaled so that all entries are of the size of K."""

    L: Matrix
    C: Matrix

    def diagonal(self) -> np.ndarray:
        """An estimate of the diagonal of K, from that of C."""
        return np.asarray(self.L.multiply(self.L) @ (1.0 / self.C.diagonal()))

    def energy(self, v: np.ndarray) -> np.ndarray:
        """vᵀK v of each column."""
        strain = self.L.T @ v
        return np.einsum("ik,ik->k", strain, spla.splu(self.C.tocsc()).solve(strain))

    def shifted(self, M: Matrix, shift: float) -> Matrix:
        """[[−s M, w L], [w Lᵀ, −w² C]]."""
        weight = largest(self.L) / largest(self.C)
        return stacked([[-shift * M, weight * self.L], [weight * self.L.T, -(weight**2) * self.C]])

    def sizes(self, shifted: Matrix) -> np.ndarray:
        """The largest entry of each row: the diagonal s M is small, and scaling by it would spoil all pivots (a disc of 12 cells:
        6e6 entries in the factor instead of 2e5)."""
        return np.asarray(abs(shifted).max(axis=1).toarray()).ravel()

    def times(self, x: np.ndarray, M: Matrix, shift: float) -> np.ndarray:
        """The same on velocities and stresses."""
        weight, n = largest(self.L) / largest(self.C), M.shape[0]
        v, tau = x[:n], weight * x[n:]
        return np.concatenate([self.L @ tau - shift * (M @ v), weight * (self.L.T @ v - self.C @ tau)])


class Solver(Protocol):
    """Solves with one matrix."""

    def solve(self, b: np.ndarray) -> np.ndarray: ...


class Scaled:
    """A symmetric matrix, scaled to unit diagonal and factorised.

    Otherwise slopes beside deflections are no pivots, and the order with little fill is lost: 80 s instead of 0.2 s for a
    Kirchhoff plate of 1600 elements.
    """

    def __init__(self, matrix: Matrix, diagonal: np.ndarray):
        size = np.abs(diagonal)
        self.unit = np.ones(matrix.shape[0])
        self.unit[: len(size)] = 1.0 / np.sqrt(np.where(size > 0.0, size, largest(size) or 1.0))
        self.unit[len(size) :] = 1.0 / np.sqrt(largest(size) or 1.0)
        scaled = sp.diags_array(self.unit) @ matrix @ sp.diags_array(self.unit)
        self.lu = symmetric_lu(scaled, pivot=1e-3)

    def solve(self, b: np.ndarray) -> np.ndarray:
        unit = self.unit if b.ndim == 1 else self.unit[:, None]
        return np.asarray(unit * self.lu.solve(np.ascontiguousarray(unit * b)))


class Corrected:
    """A factor with iterative refinement by the residual `left(b, x)`, as many steps as help in a trial."""

    def __init__(self, factor: Solver, left: Callable[[np.ndarray, np.ndarray], np.ndarray], trial: np.ndarray):
        self.factor, self.left, self.times = factor, left, 0
        x, last = factor.solve(trial), np.inf
        size, self.off = float(np.abs(x).max(initial=0.0)) or 1.0, 0.0
        while self.times < CORRECTIONS:
            more = factor.solve(left(trial, x))
            self.off = float(np.abs(more).max(initial=0.0)) / size
            if not self.off > EXACT or not self.off < 0.5 * last:
                break
            x, last, self.times = x + more, self.off, self.times + 1

    @property
    def sound(self) -> bool:
        """Whether the corrections have converged."""
        return bool(self.off <= SOUND)

    def solve(self, b: np.ndarray) -> np.ndarray:
        x = self.factor.solve(b)
        for _ in range(self.times):
            x = x + self.factor.solve(self.left(b, x))
        return x


class ShiftInvert:
    """The lowest eigenvalues of K v = μ M v + Gᵀλ, G v = 0, from one factorisation of the saddle at a shift."""

    def __init__(self, K: LocalStiffness | MixedStiffness, M: Matrix, G: Matrix, shift: float):
        self.M, self.shift, self.n = M, shift, M.shape[0]
        A, joints = K.shifted(M, shift), G.shape[0]
        self.size, self.free = A.shape[0] + joints, self.n - joints
        rows = largest(A) * stacked([[G, zeros(joints, A.shape[0] - self.n)]])
        saddle = stacked([[A, rows.T], [rows, zeros(joints, joints)]])
        between, wide = A.shape[0], csr(rows)

        def left(b: np.ndarray, x: np.ndarray) -> np.ndarray:
            top = K.times(x[:between], M, shift) + wide.T @ x[between:]
            return b - np.concatenate([top, wide @ x[:between]])

        trial = np.zeros(self.size)
        trial[: self.n] = M @ random_start(self.n)
        corrected = Corrected(Scaled(saddle, K.sizes(A)), left, trial)
        self.factor: Solver = corrected
        self.K, self.sound = K, corrected.sound
        self.mass = stacked([[M, None], [None, zeros(self.size - self.n, self.size - self.n)]])

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
        count = min(count, self.free - known.shape[1] - 1)
        weighted = self.M @ known

        def solve(b: np.ndarray) -> np.ndarray:
            x = self.factor.solve(b)
            x[: self.n] -= known @ (weighted.T @ x[: self.n])
            return x

        operator = spla.LinearOperator((self.size, self.size), solve, dtype=float)
        start = solve(self.mass @ random_start(self.size, known.shape[1]))
        krylov = min(max(2 * count + 1, 20), self.free - known.shape[1])
        options = {"sigma": self.shift, "OPinv": operator, "v0": start, "ncv": krylov, "tol": tolerance, **SEEDED}
        try:
            value, vector = spla.eigsh(self.mass, k=count, M=self.mass, **options)
        except spla.ArpackError:  # fewer distinct eigenvalues than required: one sequence cannot span their modes
            value, vector = self._by_blocks(solve, count, min(count + 8, krylov))
        v = vector[: self.n]
        v = v / np.sqrt(np.einsum("ik,ik->k", v, self.M @ v))
        order = np.argsort(value)
        self.found = value[order], v[:, order]
        return self.found

    def _by_blocks(
        self, solve: Callable[[np.ndarray], np.ndarray], count: int, size: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Subspace iteration: slower than Lanczos, but independent of multiplicities."""
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
        """The largest error of the modes of unit mass, in the norm of M.

        From r = v − (μ − s)(K − sM)⁻¹M v, in which a part δ along another mode appears (μ − s) / (μ_other − s) times as large.
        """
        far = value - self.shift
        rest = v - self._applied(v, self.factor.solve) * far
        along = v.T @ (self.M @ rest)
        rest = rest - v @ along
        along = along / np.maximum(1.0, np.abs(1.0 - far / far[:, None]))
        outside = np.einsum("ik,ik->k", rest, self.M @ rest)
        return float(np.sqrt((outside + (along**2).sum(axis=0)).max(initial=0.0)))
