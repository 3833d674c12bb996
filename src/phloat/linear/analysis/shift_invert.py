"""The lowest eigenvalues of K v = μ M v + Gᵀλ, G v = 0 for large sparse K and M, with multiplicities."""

from __future__ import annotations

import numpy as np
import scipy.linalg as la
import scipy.sparse.linalg as spla

from phloat.algebra.eigen import lanczos, unit_mass
from phloat.algebra.sparse import csr, largest, random_start
from phloat.errors import AccuracyError, InputError
from phloat.linear.form.saddle import CORRECTIONS, SaddleFactor
from phloat.linear.form.second_order import Factor, SecondOrder

BLOCK_STEPS = 200
SPARE = 4  # modes that are computed beyond those asked for
CONVERGED = 1e-12  # relative accuracy of the eigenvalues at which an iteration ends
COUNTED = 1e-2  # relative correction of a solution up to which the signs of pivots are those of eigenvalues
ACCURATE = 1e-9  # relative correction up to which a solution is accurate: frequencies have the square of its error


def eigenvalues_below(model: SecondOrder, value: float) -> int:
    """The number of eigenvalues below a value, by the signs of the pivots of K − value M (Sylvester); −1 if not known."""
    if model.G.shape[0] or model.C_inverse is None:
        return -1
    S = csr(model.K - value * model.M)
    try:
        factor = SaddleFactor(S, size=np.abs(model.K.diagonal()) + abs(value) * model.M.diagonal(), pivot=0.0)
    except RuntimeError:  # exactly singular
        return -1
    factor.solve(model.M @ random_start(model.size), corrections=1)
    if not factor.errors[0] < COUNTED:
        return -1
    if not isinstance(factor.lu, spla.SuperLU):  # a Cholesky factor
        return 0
    return -1 if (factor.lu.perm_r != factor.lu.perm_c).any() else int((factor.lu.U.diagonal() < 0.0).sum())


class ShiftInvert:
    """The lowest eigenvalues of K v = μ M v + Gᵀλ, G v = 0, from one factorisation of the saddle at a shift.

    `accurate` is whether iterative refinement converges with this factorisation.
    """

    def __init__(self, model: SecondOrder, shift: float, *, mixed: bool = False):
        self.model, self.M, self.shift, self.n, self.mixed = model, model.M, shift, model.size, mixed
        self.free = self.n - model.G.shape[0]
        self.factor = Factor(model, -shift, 0.0, mixed=mixed)
        self.factor.solve(self.M @ random_start(self.n))
        errors = self.factor.errors
        self.corrections = sum(error > ACCURATE for error in errors[:-1])  # those that help
        self.accurate = errors[self.corrections] <= ACCURATE

    def solve(self, b: np.ndarray) -> np.ndarray:
        """(K − s M)⁻¹ b on the motions that the joints allow."""
        return self.factor.solve(b, corrections=self.corrections)

    def corrected(self, b: np.ndarray) -> np.ndarray:
        """The result of `solve`, corrected to round-off."""
        return self.factor.solve(b)

    def refine(self) -> None:
        """Computes the modes again, with every solution corrected to round-off: a soft motion hides the error of stiff ones."""
        self.corrections = CORRECTIONS
        self.run(len(self.pairs[0]))

    def with_missed_modes(self, value: np.ndarray, v: np.ndarray) -> np.ndarray:
        """v (velocities, modes) of one Krylov sequence, with the modes of clusters that it has missed up to the last value."""
        count = len(value)
        gap = int(np.argmax(np.diff(value[-SPARE - 1 :]))) + max(count - SPARE, 1)
        if count > 1 and self.below(0.5 * (value[gap - 1] + value[gap])) == gap:
            return v
        while v.shape[1] < self.free - 1:
            missed, _ = self.run(1, v, tolerance=1e-2)
            if missed[0] > 0.98 * value[-1]:
                return v
            missed, w = self.run(3, v)
            value, v = np.sort(np.append(value, missed))[:count], np.hstack([v, w])
        return v

    def below(self, value: float) -> int:
        """The number of eigenvalues below a value; −1 if not known."""
        return -1 if self.mixed else eigenvalues_below(self.model, value)

    def run(
        self, count: int, modes: np.ndarray | None = None, tolerance: float = CONVERGED
    ) -> tuple[np.ndarray, np.ndarray]:
        """The `count` lowest eigenvalues, ascending, and vectors of unit mass, M-orthogonal to `modes`, by Lanczos' method."""
        modes = np.zeros((self.n, 0)) if modes is None else modes
        remaining = self.free - modes.shape[1]
        count = min(count, remaining - 1)
        try:
            pairs = lanczos(self.M, self.M, self.solve, modes, count, self.shift, self.free, tol=tolerance)
        except spla.ArpackError:  # fewer distinct eigenvalues than required: one sequence cannot span their modes
            pairs = self._by_blocks(modes, count, min(count + 8, max(2 * count + 1, 20), remaining))
        self.pairs = unit_mass(self.M, *pairs)
        return self.pairs

    def _by_blocks(self, modes: np.ndarray, count: int, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Subspace iteration: slower than Lanczos, but independent of multiplicities."""
        unit = np.sqrt(self.M.diagonal())[:, None]
        x = np.random.default_rng(1).normal(size=(self.n, size))
        previous = np.full(count, np.inf)
        for _ in range(BLOCK_STEPS):
            x = np.linalg.qr(unit * self._apply_inverse(x, modes))[0] / unit
            y = self._apply_inverse(x, modes)
            energy, kinetic = y.T @ (self.M @ x), y.T @ (self.M @ y)  # yᵀ(K − sM)y and yᵀM y
            energies = np.diag(energy)
            scale = 1.0 / np.sqrt(np.maximum(energies, 1e-30 * energies.max()))  # the last of a full space is round-off
            energy, kinetic = (a * scale[:, None] * scale for a in ((energy + energy.T) / 2, kinetic))
            ritz, q = la.eigh(kinetic, energy + 1e-14 * np.eye(size))  # the largest are those of the lowest modes
            current, x = ritz[-count:], y @ (scale[:, None] * q)
            if np.abs(current - previous).max() <= 1e-13 * current[-1]:
                break
            previous = current
        return self.shift + 1.0 / current, x[:, -count:]

    def _apply_inverse(self, v: np.ndarray, modes: np.ndarray | None = None) -> np.ndarray:
        """(K − sM)⁻¹ M v on the motions that the joints allow, M-orthogonal to `modes`."""
        x = self.solve(self.M @ v)
        return x if modes is None else x - modes @ (modes.T @ (self.M @ x))

    def residual(self, value: np.ndarray, v: np.ndarray) -> float:
        """The largest error of modes of unit mass, in the norm of M.

        It follows from r = v − (μ − s)(K − sM)⁻¹M v, where an error along another mode has the factor 1 − (μ − s) / (μ_other − s).
        """
        distance = value - self.shift
        error = v - self.corrected(self.M @ v) * distance
        components = v.T @ (self.M @ error)
        error = error - v @ components
        components = components / np.maximum(1.0, np.abs(1.0 - distance / distance[:, None]))
        outside = np.einsum("ik,ik->k", error, self.M @ error)
        return float(np.sqrt((outside + (components**2).sum(axis=0)).max(initial=0.0)))


def lowest_growth(model: SecondOrder) -> float:
    """A squared growth rate that no mode exceeds; 0 if no mode grows. Raises InputError if that is not known."""
    scale = 1e-9 * model.stiff.max() / largest(model.M.diagonal())
    for k in range(40):
        if not (below := eigenvalues_below(model, -scale)):
            return scale if k else 0.0
        if below < 0:
            break
        scale *= 4.0
    raise InputError(
        f"whether the loads on {model.size} motions let one grow cannot be told from a sparse stiffness; reduce the bodies first"
    )


def shifted_near_lowest(model: SecondOrder, count: int, growth: float = 0.0, *, mixed: bool = False) -> ShiftInvert:
    """Shift-invert with its modes, at a shift below zero, and below all eigenvalues, of the size of the lowest elastic one."""
    scale = max(growth, 1e-9 * model.stiff.max() / largest(model.M.diagonal()))
    count_searched = count + SPARE
    for _ in range(8):
        inverted = ShiftInvert(model, -scale, mixed=mixed)
        value, _ = inverted.run(count_searched)
        elastic = value[value > 1e-6 * scale]
        if elastic.size and 1e-3 * elastic[0] <= scale <= max(10 * elastic[0], growth):
            return inverted
        if elastic.size:
            scale = max(elastic[0], growth)
        else:  # as many rigid modes as were asked for, or more
            count_searched *= 2
    raise AccuracyError("no shift near the lowest elastic mode was found; reduce the system or eliminate its joints")
