"""H(s) = Cᵀ (sE − A)⁻¹ B at many s, with joints: x = (e, λ), A = [[J − R, Gᵀ], [−G, 0]].

A few values are solved for one by one. For many, small systems are brought to a triangle once: with a real s₀ in the band and
T the Schur form of (s₀E − A)⁻¹E,  H(s) = Cᵀ Q (I + (s − s₀) T)⁻¹ Qᴴ (s₀E − A)⁻¹B, a back substitution for all s together.
Large ones are projected on a few of their own solutions (see `sweep`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from phloat.algebra.sparse import Matrix, csr, row_lengths
from phloat.errors import AccuracyError
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.form.state_space import free_motion

Solve: TypeAlias = Callable[[np.ndarray], np.ndarray]
FEW = 24  # values of s that are solved for one by one
SMALL = 300  # unknowns up to which a Schur form pays
SYMMETRIC = {"SymmetricMode": True}
BATCH = 4_000_000  # numbers held at once in a back substitution
LOST = 1e5  # growth of round-off up to which the triangle is taken
AGREES = 1e-9  # of the sizes in a row: what a solution may miss where it is looked at


@dataclass(frozen=True, eq=False)
class Pencil:
    """sE − A of a system with its joints, and the columns of its inputs and outputs; all scaled to energies of size one."""

    E: sp.csc_array
    A: sp.csc_array
    into: np.ndarray
    out: np.ndarray

    @classmethod
    def of(cls, system: LinearPHDAE, into: np.ndarray, out: np.ndarray) -> Pencil:
        """With the multipliers among the unknowns."""
        count = system.multipliers.size
        A = system.dynamics
        A = sp.block_array([[A, system.G.T], [-system.G, None]], format="csr") if count else A
        E = sp.block_diag([system.E, sp.csr_array((count, count))], format="csr")
        return cls._scaled(E, A, sp.vstack([system.B, system.B_lam]).tocsc(), system.rows.size, into, out)

    @classmethod
    def without_joints(cls, system: LinearPHDAE, into: np.ndarray, out: np.ndarray) -> tuple[Pencil, int]:
        """On the motions that joints allow, and where its stresses begin; for inputs and outputs that drive no joint."""
        P = free_motion(system)
        A = P.T @ system.dynamics @ P
        pencil = cls._scaled(P.T @ system.E @ P, A, sp.csc_array(P.T @ system.B), P.shape[1], into, out)
        return pencil, P.shape[1] - (system.rows.size - system.split) if system.split >= 0 else 0

    @classmethod
    def _scaled(cls, E: Matrix, A: Matrix, B: sp.csc_array, rows: int, into: np.ndarray, out: np.ndarray) -> Pencil:
        size = np.abs(E.diagonal()[:rows])
        unit = 1.0 / np.sqrt(np.where(size > 0.0, size, 1.0))
        joints = 1.0 / row_lengths(csr(A[rows:, :rows] @ sp.diags_array(unit)))
        scale = sp.diags_array(np.concatenate([unit, joints]))
        B = scale @ B
        E, A = sp.csc_array(scale @ E @ scale), sp.csc_array(scale @ A @ scale)
        return cls(E, A, B[:, into].toarray(), B[:, out].toarray())

    @property
    def size(self) -> int:
        return self.E.shape[0]

    @cached_property
    def ordered(self) -> tuple[np.ndarray, sp.csc_array, sp.csc_array]:
        """An order of the unknowns with little fill, found once for all s (a tenth of the fill of the default on plates)."""
        pattern = abs(self.E) + abs(self.A)
        pattern = sp.csc_array(pattern + sp.diags_array(pattern.sum(axis=0)))  # heavy diagonals, which need no pivots
        order = np.argsort(spla.splu(pattern, permc_spec="MMD_AT_PLUS_A", options=SYMMETRIC).perm_c)
        return order, sp.csc_array(self.E[order][:, order]), sp.csc_array(self.A[order][:, order])

    def factorised(self, s: complex) -> Solve:
        """b ↦ (sE − A)⁻¹b."""
        kind = complex if np.iscomplexobj(s) else float
        if self.size > SMALL:
            order, E, A = self.ordered
            solve = _refined(sp.csc_array(s * E - A))
            back = np.argsort(order)
            if solve is not None and np.isfinite(trial := solve(self.into[order].astype(kind))).all():
                if self.misses(s, trial[back]) <= AGREES:
                    return lambda b: solve(b[order].astype(kind))[back]
        try:
            factor = spla.splu(sp.csc_array(s * self.E - self.A))
        except RuntimeError:
            raise on_a_pole(s) from None
        return lambda b: np.asarray(factor.solve(b.astype(kind)))

    def at(self, s: complex) -> np.ndarray:
        """(sE − A)⁻¹B."""
        x = self.factorised(s)(self.into)
        if not np.isfinite(x).all():
            raise on_a_pole(s)
        return x

    def misses(self, s: complex, x: np.ndarray) -> float:
        """How far x is from a solution at s, of the sizes that meet in its rows."""
        left = np.abs((s * self.E - self.A) @ x - self.into)
        size = (abs(s) * abs(self.E) + abs(self.A)) @ np.abs(x) + np.abs(self.into)
        return float(left.max(initial=0.0) / max(size.max(initial=0.0), 1e-300))


def _refined(matrix: sp.csc_array) -> Solve | None:
    """A factorisation that keeps the order of the unknowns, with its round-off taken out by two corrections; None if it breaks."""
    try:
        factor = spla.splu(matrix, permc_spec="NATURAL", diag_pivot_thresh=0.0, options=SYMMETRIC)
    except RuntimeError:
        return None

    def solve(b: np.ndarray) -> np.ndarray:
        x = factor.solve(b)
        for _ in range(2):
            x = x + factor.solve(b - matrix @ x)
        return np.asarray(x)

    return solve


def on_a_pole(s: complex) -> AccuracyError:
    return AccuracyError(f"s = {complex(s):.6g} is a pole; move off the axis with shift=…")


def one_by_one(pencil: Pencil, s: np.ndarray) -> np.ndarray:
    """H at every s, each from its own factorisation."""
    return np.array([pencil.out.T @ pencil.at(value) for value in s]).reshape(
        len(s), pencil.out.shape[1], pencil.into.shape[1]
    )


class Triangle:
    """The Schur form of (s₀E − A)⁻¹E; s₀ is real and positive, and no pole."""

    def __init__(self, pencil: Pencil, s_0: float) -> None:
        self.pencil, self.s_0 = pencil, s_0
        solve = pencil.factorised(s_0)
        self.T, self.Q = la.schur(solve(pencil.E.toarray()), output="complex", check_finite=False)
        self.right = self.Q.conj().T @ solve(pencil.into)

    @cached_property
    def left(self) -> np.ndarray:
        return np.asarray(self.pencil.out.T @ self.Q)

    def solved(self, s: np.ndarray) -> np.ndarray:
        """Qᴴx at every s, (unknowns, s, inputs): back substitution, one row for all s at a time."""
        n, inputs = self.right.shape
        step = s - self.s_0
        z = np.empty((n, len(s), inputs), dtype=complex)
        for i in range(n - 1, -1, -1):
            tail = (self.T[i, i + 1 :] @ z[i + 1 :].reshape(n - 1 - i, len(s) * inputs)).reshape(len(s), inputs)
            pivot = 1.0 + step * self.T[i, i]
            z[i] = (self.right[i] - step[:, None] * tail) / pivot[:, None]
        return z

    def values(self, s: np.ndarray) -> np.ndarray:
        """H at every s, (s, outputs, inputs)."""
        out = []
        many = max(1, BATCH // max(self.right.size, 1))
        for k in range(0, len(s), many):
            z = self.solved(s[k : k + many])
            out.append((self.left @ z.reshape(len(z), -1)).reshape(-1, *z.shape[1:]).transpose(1, 0, 2))
        return np.concatenate(out)

    def loses(self, s: np.ndarray) -> np.ndarray:
        """By how much round-off grows at every s, where poles are near or s is far from s₀."""
        step = (s - self.s_0)[:, None]
        pivot = np.abs(1.0 + step * np.diag(self.T)).min(axis=1, initial=1.0)
        return np.asarray((1.0 + np.abs(step[:, 0]) / self.s_0) / np.maximum(pivot, 1e-300))

    def misses(self, s: np.ndarray) -> float:
        """The largest miss of the solutions at a few s."""
        z = self.solved(s)
        return max(self.pencil.misses(value, self.Q @ z[:, k]) for k, value in enumerate(s))


def between(s: np.ndarray) -> float:
    """A real s₀ of the size of the values of s."""
    size = np.abs(s)
    return float(np.exp(np.log(size[size > 0.0]).mean())) if size.any() else 1.0


def triangular(pencil: Pencil, s: np.ndarray) -> np.ndarray | None:
    """H at every s from one Schur form, or None where that is not accurate; those beside poles are solved for one by one."""
    try:
        triangle = Triangle(pencil, between(s))
    except (RuntimeError, la.LinAlgError):
        return None
    beside = triangle.loses(s) > LOST
    clear = s[~beside]
    if len(clear) <= FEW or triangle.misses(clear[:: max(1, len(clear) // 4)]) > AGREES:
        return None
    values = np.empty((len(s), pencil.out.shape[1], pencil.into.shape[1]), dtype=complex)
    values[~beside] = triangle.values(clear)
    values[beside] = one_by_one(pencil, s[beside])
    return values
