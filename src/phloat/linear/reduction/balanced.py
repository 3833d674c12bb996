"""Balanced bases that keep a system passive: the velocities that inputs excite most, and their stresses.

With unit mass the controllability Gramian P of (v | σ) has a block P_vv, and for a reciprocal system (no gyroscopic forces) the
observability Gramian has the same one, since a change of sign of all stresses transposes J − R: its eigenvectors are balanced.
The basis has those of the largest eigenvalues (the symmetric case of Reis and Stykel's second-order balancing, 2008). The
projection is a congruence, so VᵀE V ≥ 0, VᵀJ V is skew and VᵀR V ≥ 0 for any damping: the reduced system is passive.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as la

from phloat.algebra.threads import one_thread
from phloat.errors import InputError, not_negative, positive, whole_number
from phloat.linear.analysis.modes import modes
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.form.second_order import SecondOrder, undamped
from phloat.linear.reduction.basis import Basis
from phloat.linear.reduction.modal import limits, static_drives
from phloat.linear.reduction.projection import split_basis

MOST = 300  # modes of a larger system that are balanced: its lowest


@one_thread()
def balanced_basis(
    system: LinearPHDAE,
    *,
    order: int | None = None,
    tolerance: float | None = None,
    band: tuple[float, float] | None = None,
    decay: float = 0.0,
) -> Basis:
    """At most `order` states, or all velocities whose Gramian is at least `tolerance` times the largest.

    All inputs have equal weight. With `band` (rad/s) the Gramian is that of the band (Gawronski and Juang 1990), otherwise of all
    frequencies, where a torque on a light hinge excites mostly fast modes. Motions that do not decay have no Gramian: rigid
    motions are included exactly, and a system without damping needs `decay` (1/s), an additional decay rate.
    """
    form = ModalForm.of(system, decay)
    wanted = kept_velocities(form, order) if order is not None else None
    if (wanted is None) == (tolerance is None):
        raise InputError("give one of order=… and tolerance=…")
    count, B = len(form.omega), form.B
    S = np.eye(len(form.A)) if band is None else _within(form.A, limits(band))
    seen = np.diag((np.arange(len(form.A)) < count).astype(float))
    share = np.einsum("ij,ij->j", B, la.solve_continuous_lyapunov(form.A.T, -seen) @ (S @ B))
    B = B / np.sqrt(np.maximum(share, 1e-300))  # tr P_vv = 1 from every input alone
    W = S @ (B @ B.T)
    P = la.solve_continuous_lyapunov(form.A, -(W + W.T) / 2)
    value, turn = la.eigh((P[:count, :count] + P[:count, :count].T) / 2)
    keep = wanted if tolerance is None else int((value >= positive("tolerance", tolerance) * value[-1]).sum())
    V = form.vectors @ turn[:, ::-1][:, :keep]
    return split_basis(form.model, form.rigid, V, static_drives(form.model, form.rigid))


def _within(A: np.ndarray, band: tuple[float, float]) -> np.ndarray:
    """(1/2π) ∫ (jω − A)⁻¹ dω over the band and its mirror image: for each pole the angle of the band seen from it."""
    poles, shapes = la.eig(A)
    low, high = ((np.log(1j * w - poles) - np.log(-1j * w - poles)) / (2j * np.pi) for w in band)
    return np.asarray(((shapes * (high - low)) @ la.inv(shapes)).real)


@dataclass(frozen=True, eq=False)
class ModalForm:
    """ẋ = A x + B u for the elastic modes, x = (v, σ): A = [[−D, −Ω], [Ω, 0]] − decay, inputs of equal weight.

    Rigid motions (`rigid`) are separate, unless they are damped or coupled by spin: then they are modes, too.
    """

    model: SecondOrder
    rigid: np.ndarray
    vectors: np.ndarray
    omega: np.ndarray
    J: np.ndarray
    R: np.ndarray
    B: np.ndarray

    @property
    def A(self) -> np.ndarray:
        return self.J - self.R

    @classmethod
    def of(cls, system: LinearPHDAE, decay: float) -> ModalForm:
        model, decay = SecondOrder.of(system), not_negative("decay", decay)
        found = modes(undamped(system), None if system.split <= 2 * MOST else MOST)
        D = found.vectors.T @ (model.D @ found.vectors)
        reach = np.abs(D[: found.rigid]).max(initial=0.0)
        first = found.rigid if reach <= 1e-10 * np.abs(D).max(initial=0.0) or not D.any() else 0
        V, omega, D = found.vectors[:, first:], found.omega[first:], D[first:, first:]
        B = V.T @ model.F
        size = np.sqrt(((B / np.where(omega > 0.0, omega, 1.0)[:, None]) ** 2).sum(axis=0))
        B = B[:, size > 0.0] / size[size > 0.0]
        if not B.shape[1]:
            raise InputError("no input reaches an elastic mode, so there is nothing to balance; use other ports")
        count, O, none = len(omega), np.diag(omega), np.zeros((len(omega), len(omega)))
        J = np.block([[-(D - D.T) / 2, -O], [O, none]])
        R = la.block_diag((D + D.T) / 2, none) + decay * np.eye(2 * count)
        moving = np.concatenate([np.ones(count, bool), omega > 0.0])  # rigid motions with damping bring no stress
        J, R, B = J[moving][:, moving], R[moving][:, moving], np.vstack([B, np.zeros_like(B)])[moving]
        poles = la.eigvals(J - R)
        if (slow := float(poles.real.max())) >= -1e-12 * float(np.abs(poles).max()):
            raise InputError(
                f"a motion does not decay (a pole at {slow:.1e} {abs(poles[poles.real.argmax()].imag):+.4g}j 1/s), so it has no "
                "Gramian; damp it, or give decay=…, an additional decay rate"
            )
        return cls(model, found.vectors[:, : found.rigid], V, omega, J, R, B)


def kept_velocities(form: ModalForm, order: int) -> int:
    """The number of velocities besides the rigid and the driven ones for so many states."""
    fixed = form.rigid.shape[1] + 2 * int(form.model.drives.any(axis=0).sum())
    if (count := (whole_number("order", order, 1) - fixed) // 2) < 1:
        raise InputError(f"order is {order}, but rigid and driven motions need {fixed} states; use {fixed + 2} or more")
    return min(count, len(form.omega))
