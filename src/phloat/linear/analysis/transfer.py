"""H(s) = C (sE − A)⁻¹ B + D at many s, with joints: x = (e, λ), A = [[J − R, Gᵀ], [−G, 0]].

A few values are computed one by one. For many, small systems are transformed once: with a real s₀ in the band and T the Schur form
of (s₀E − A)⁻¹E,  H(s) = Cᵀ Q (I + (s − s₀) T)⁻¹ Qᴴ (s₀E − A)⁻¹B, a back substitution for all s together.

Large systems are projected on a basis of their solutions at a few s, with separate velocities and stresses (46). With a real s₀ in
the band and K = (s₀E − A)⁻¹E the solution x of the projected system has the residual

    r(s) = (s₀E − A)⁻¹B − (I + (s − s₀) K) x,

which follows at every s from one QR of [V, K V, (s₀E − A)⁻¹B]. The next solution is computed where r is largest, until it is small.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from phloat.algebra.sparse import Matrix, csr, largest, row_lengths
from phloat.errors import AccuracyError
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.form.saddle import SaddleFactor
from phloat.linear.form.state_space import descriptor, free_motion

Solve: TypeAlias = Callable[[np.ndarray], np.ndarray]
FEW = 24  # values of s up to which each is computed with its own factorisation
SMALL = 300  # unknowns up to which a Schur form pays

BATCH = 4_000_000  # numbers at once in a back substitution
MAX_GROWTH = 1e5  # growth of round-off up to which the Schur form is used
SWEEP_TOLERANCE = 1e-10  # residual of a sweep that is accepted, relative to |x|
FIRST_COUNT = 6  # solutions before the first residual is computed
ADDED_AT_ONCE = 2  # solutions from one residual to the next
MAX_WIDTH = 400  # columns of a basis
INDEPENDENT = 1e-13  # part of a column outside the basis from which it is added, relative to its length
ACCURATE = 1e-9  # relative residual of a solution that is accepted


@dataclass(frozen=True, eq=False)
class Pencil:
    """E and A of the pencil sE − A, and the columns of inputs (`into`) and outputs (`out`), scaled to a diagonal of E of one."""

    E: sp.csc_array
    A: sp.csc_array
    into: np.ndarray
    out: np.ndarray

    @classmethod
    def with_multipliers(cls, system: LinearPHDAE, into: np.ndarray, out: np.ndarray) -> Pencil:
        """The pencil of a system with its joints; the multipliers are unknowns."""
        E, A, B, C = (descriptor(system)[name] for name in "EABC")
        return cls._scale(E, A, B.tocsc()[:, into], C.T.tocsc()[:, out], system.rows.size)

    @classmethod
    def without_joints(cls, system: LinearPHDAE, into: np.ndarray, out: np.ndarray) -> tuple[Pencil, int]:
        """The pencil on the motions that joints allow, and the index of its first stress (0 if the rows are not ordered).

        Inputs and outputs must not be driven ports.
        """
        P = free_motion(system)
        E, A = P.T @ system.E @ P, P.T @ system.dynamics @ P
        B, C = (sp.csc_array(P.T @ ports) for ports in (system.input_map, system.output_map))
        pencil = cls._scale(E, A, B[:, into], C[:, out], P.shape[1])
        return pencil, P.shape[1] - (system.rows.size - system.split) if system.split >= 0 else 0

    @classmethod
    def _scale(cls, E: Matrix, A: Matrix, into: sp.csc_array, out: sp.csc_array, rows: int) -> Pencil:
        """The pencil with the first `rows` scaled to a diagonal of E of one, and joint rows to unit length."""
        size = np.abs(E.diagonal()[:rows])
        unit = 1.0 / np.sqrt(np.where(size > 0.0, size, 1.0))
        joints = 1.0 / row_lengths(csr(A[rows:, :rows] @ sp.diags_array(unit)))
        scale = sp.diags_array(np.concatenate([unit, joints]))
        E, A = sp.csc_array(scale @ E @ scale), sp.csc_array(scale @ A @ scale)
        return cls(E, A, (scale @ into).toarray(), (scale @ out).toarray())

    @property
    def size(self) -> int:
        return self.E.shape[0]

    def solver(self, s: complex) -> Solve:
        """The function b ↦ (sE − A)⁻¹b."""
        matrix = sp.csc_array(s * self.E - self.A)
        with suppress(RuntimeError):  # without pivots the fill is low
            factor = SaddleFactor(matrix, pivot=0.0)
            if self.residual(s, factor.solve(self.into)) <= ACCURATE:
                return factor.solve
        try:
            lu = spla.splu(matrix)
        except RuntimeError:
            raise pole_error(s) from None
        return lambda b: np.asarray(lu.solve(b.astype(matrix.dtype)))

    def solution(self, s: complex) -> np.ndarray:
        """(sE − A)⁻¹B."""
        x = self.solver(s)(self.into)
        if not np.isfinite(x).all():
            raise pole_error(s)
        return x

    def residual(self, s: complex, x: np.ndarray) -> float:
        """The residual of x at s, relative to the terms of its rows."""
        error = np.abs((s * self.E - self.A) @ x - self.into)
        size = (abs(s) * abs(self.E) + abs(self.A)) @ np.abs(x) + np.abs(self.into)
        return float(error.max(initial=0.0) / max(size.max(initial=0.0), 1e-300))


def pole_error(s: complex) -> AccuracyError:
    return AccuracyError(f"s = {complex(s):.6g} is a pole; move off the axis with shift=…")


def values_one_by_one(pencil: Pencil, s: np.ndarray) -> np.ndarray:
    """H at every s, (s, outputs, inputs), with one factorisation each."""
    shape = len(s), pencil.out.shape[1], pencil.into.shape[1]
    return np.array([pencil.out.T @ pencil.solution(value) for value in s]).reshape(shape)


class SchurForm:
    """The Schur form of (s₀E − A)⁻¹E; s₀ is real and positive, and no pole."""

    def __init__(self, pencil: Pencil, s_0: float) -> None:
        self.pencil, self.s_0 = pencil, s_0
        solve = pencil.solver(s_0)
        self.T, self.Q = la.schur(solve(pencil.E.toarray()), output="complex", check_finite=False)
        self.outputs, self.loads = pencil.out.T @ self.Q, self.Q.conj().T @ solve(pencil.into)

    def solutions(self, s: np.ndarray) -> np.ndarray:
        """Qᴴx at every s, (unknowns, s, inputs): back substitution, one row for all s at a time."""
        n, inputs = self.loads.shape
        step = s - self.s_0
        z = np.empty((n, len(s), inputs), dtype=complex)
        for i in range(n - 1, -1, -1):
            tail = (self.T[i, i + 1 :] @ z[i + 1 :].reshape(n - 1 - i, len(s) * inputs)).reshape(len(s), inputs)
            pivot = 1.0 + step * self.T[i, i]
            z[i] = (self.loads[i] - step[:, None] * tail) / pivot[:, None]
        return z

    def values(self, s: np.ndarray) -> np.ndarray:
        """H at every s, (s, outputs, inputs)."""
        batch = max(1, BATCH // max(self.loads.size, 1))
        parts = [np.tensordot(self.outputs, self.solutions(s[k : k + batch]), 1) for k in range(0, len(s), batch)]
        return np.concatenate(parts, axis=1).transpose(1, 0, 2)

    def growth(self, s: np.ndarray) -> np.ndarray:
        """The growth of round-off at every s, near poles or far from s₀."""
        step = (s - self.s_0)[:, None]
        pivot = np.abs(1.0 + step * np.diag(self.T)).min(axis=1, initial=1.0)
        return np.asarray((1.0 + np.abs(step[:, 0]) / self.s_0) / np.maximum(pivot, 1e-300))

    def residual(self, s: np.ndarray) -> float:
        """The largest relative residual of the solutions at these s."""
        z = self.solutions(s)
        return max(self.pencil.residual(value, self.Q @ z[:, k]) for k, value in enumerate(s))


def _real_point(s: np.ndarray) -> float:
    """s₀: the geometric mean of |s|."""
    size = np.abs(s)
    return float(np.exp(np.log(size[size > 0.0]).mean())) if size.any() else 1.0


def schur_values(pencil: Pencil, s: np.ndarray) -> np.ndarray | None:
    """H at every s, (s, outputs, inputs), from one Schur form, near poles one by one; None if that is not accurate."""
    try:
        schur = SchurForm(pencil, _real_point(s))
    except (RuntimeError, la.LinAlgError):
        return None
    near_pole = schur.growth(s) > MAX_GROWTH
    clear = s[~near_pole]
    if len(clear) <= FEW or schur.residual(clear[:: max(1, len(clear) // 4)]) > ACCURATE:
        return None
    values = np.empty((len(s), pencil.out.shape[1], pencil.into.shape[1]), dtype=complex)
    values[~near_pole] = schur.values(clear)
    values[near_pole] = values_one_by_one(pencil, s[near_pole])
    return values


class FrequencySweep:
    """H at all s by projection on the solutions at some of them; `split` is the index of the first stress, or 0."""

    def __init__(self, pencil: Pencil, split: int, s: np.ndarray) -> None:
        self.pencil, self.s, self.split = pencil, s, split
        self.s_0 = _real_point(s)
        self.solve = pencil.solver(self.s_0)
        self.inputs = self.solve(pencil.into)
        self.V = np.zeros((pencil.size, 0))
        self.KV = np.zeros((pencil.size, 0))
        self.used: set[int] = set()

    def widen(self, k: int) -> None:
        """Adds the solution at s[k] to the basis."""
        self.used.add(k)
        x = self.pencil.solution(self.s[k])
        parts = np.hstack([x.real, x.imag])
        if self.split:
            velocities, stresses = parts.copy(), parts.copy()
            velocities[self.split :], stresses[: self.split] = 0.0, 0.0
            parts = np.hstack([velocities, stresses])
        columns = self._outside(parts)
        self.V = np.hstack([self.V, columns])
        self.KV = np.hstack([self.KV, self.solve(self.pencil.E @ columns)])

    def _outside(self, parts: np.ndarray) -> np.ndarray:
        """Orthonormal columns that span the part of these columns outside the basis."""
        length = np.linalg.norm(parts, axis=0)
        parts = parts[:, length > 1e-14 * length.max(initial=0.0)]
        parts = parts / np.linalg.norm(parts, axis=0)
        for _ in range(2):
            parts = parts - self.V @ (self.V.T @ parts)
        columns, size, _ = la.svd(parts, full_matrices=False)
        columns = columns[:, size > INDEPENDENT]
        columns = columns - self.V @ (self.V.T @ columns)
        return np.asarray(la.qr(columns, mode="economic")[0])

    def project(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """H of the projected system (s, outputs, inputs), its relative residual (s,) and the growth of round-off (s,)."""
        V, b = self.V, self.pencil.into
        E, A = (sp.csc_array(V.T @ (matrix @ V)) for matrix in (self.pencil.E, self.pencil.A))
        reduced = Pencil(E, A, V.T @ b, V.T @ self.pencil.out)
        schur = SchurForm(reduced, self.s_0)
        x = np.tensordot(schur.Q, schur.solutions(self.s), 1)
        H = np.tensordot(reduced.out.T, x, 1).transpose(1, 0, 2)
        R = la.qr(np.hstack([V, self.KV, self.inputs]), mode="r")[0]
        r, m = V.shape[1], b.shape[1]
        R = R[: 2 * r + m]
        error = np.tensordot(R[:, :r], x, 1) + np.tensordot(R[:, r : 2 * r], (self.s - self.s_0)[:, None] * x, 1)
        error -= R[:, None, 2 * r :]
        size = np.maximum(np.linalg.norm(x, axis=0), 1e-300)
        return H, (np.linalg.norm(error, axis=0) / size).max(axis=1), schur.growth(self.s)

    def values(self) -> np.ndarray:
        """H at every s, (s, outputs, inputs); values that a basis of at most MAX_WIDTH does not give are computed one by one."""
        for k in np.unique(np.linspace(0, len(self.s) - 1, FIRST_COUNT).astype(int)):
            self.widen(int(k))
        previous_width = -1
        while True:
            H, residual, growth = self.project()
            rough = [int(k) for k in np.argsort(-residual) if residual[k] > SWEEP_TOLERANCE and int(k) not in self.used]
            width = self.V.shape[1]
            if not rough or width == previous_width or width > min(MAX_WIDTH, self.pencil.size // 3):
                break
            previous_width = width
            for k in (rough[0], *(k for k in rough if abs(k - rough[0]) > len(self.s) // 20))[:ADDED_AT_ONCE]:
                self.widen(k)
        for k in {*rough, *np.flatnonzero(growth > MAX_GROWTH)}:
            H[k] = self.pencil.out.T @ self.pencil.solution(self.s[k])
        if not np.isfinite(H).all():
            raise pole_error(self.s[~np.isfinite(H).all(axis=(1, 2))][0])
        return np.asarray(H)


def transfer_function(system: LinearPHDAE, into: np.ndarray, out: np.ndarray, s: np.ndarray) -> np.ndarray:
    """H at every s, (s, outputs, inputs), by the method that suits their number; `into` and `out` are columns of B."""
    pencil = Pencil.with_multipliers(system, into, out)
    values = None
    if len(s) > FEW and pencil.size <= SMALL:
        values = schur_values(pencil, s)
    elif len(s) > FEW and not largest(system.B_lam[:, np.union1d(into, out)]):
        with suppress(RuntimeError, la.LinAlgError, AccuracyError):  # no basis could be built
            values = FrequencySweep(*Pencil.without_joints(system, into, out), s).values()
    values = values_one_by_one(pencil, s) if values is None else values
    return values + system.D[out][:, into].toarray() if system.has_feedthrough else values
