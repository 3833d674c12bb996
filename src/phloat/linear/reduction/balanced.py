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
from phloat.linear.reduction.modal import limits, static_drives, static_strains
from phloat.linear.reduction.projection import split_basis

MAX_MODES = 300  # of a larger system only this many modes, the lowest, are balanced


@one_thread()
def balanced_basis(
    system: LinearPHDAE,
    *,
    order: int | None = None,
    tolerance: float | None = None,
    band: tuple[float, float] | None = None,
    decay: float = 0.0,
) -> Basis:
    """A balanced basis of at most `order` states, or of all velocities whose Gramian is at least `tolerance` times the largest.

    All inputs have equal weight. With `band` (rad/s) the Gramian is that of the band (Gawronski and Juang 1990), otherwise that of
    all frequencies, where a torque on a light hinge excites mostly fast modes. Motions that do not decay have no Gramian: rigid
    motions are included exactly, and a system without damping needs `decay` (1/s), an additional decay rate.
    """
    form = ModalForm.from_system(system, decay)
    count_given = elastic_velocities(form, order) if order is not None else None
    if (count_given is None) == (tolerance is None):
        raise InputError("give one of order=… and tolerance=…")
    count, B = len(form.omega), form.B
    S = np.eye(len(form.A)) if band is None else _band_filter(form.A, limits(band))
    output_weight = np.diag((np.arange(len(form.A)) < count).astype(float))
    input_energy = np.einsum("ij,ij->j", B, la.solve_continuous_lyapunov(form.A.T, -output_weight) @ (S @ B))
    B = B / np.sqrt(np.maximum(input_energy, 1e-300))  # tr P_vv = 1 from every input alone
    W = S @ (B @ B.T)
    P = la.solve_continuous_lyapunov(form.A, -(W + W.T) / 2)
    value, directions = la.eigh((P[:count, :count] + P[:count, :count].T) / 2)
    selected = count_given if tolerance is None else int((value >= positive("tolerance", tolerance) * value[-1]).sum())
    V = np.hstack([form.vectors @ directions[:, ::-1][:, :selected], static_strains(form.model, form.rigid)])
    return split_basis(form.model, form.rigid, V, static_drives(form.model, form.rigid))


def _band_filter(A: np.ndarray, band: tuple[float, float]) -> np.ndarray:
    """(1/2π) ∫ (jω − A)⁻¹ dω over the band and its mirror image: its eigenvalues are angles of the band seen from the poles."""
    poles, shapes = la.eig(A)
    low, high = ((np.log(1j * w - poles) - np.log(-1j * w - poles)) / (2j * np.pi) for w in band)
    return np.asarray(((shapes * (high - low)) @ la.inv(shapes)).real)


@dataclass(frozen=True, eq=False)
class ModalForm:
    """ẋ = A x + B u for the elastic modes, x = (v, σ): A = [[−D, −Ω], [Ω, 0]] − decay, inputs of equal weight.

    Rigid motions are separate in `rigid`, unless damping or a spin couples them with the others: then they are modes, too.
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
    def from_system(cls, system: LinearPHDAE, decay: float) -> ModalForm:
        """The modal form; raises InputError if no input reaches an elastic mode, or if a motion does not decay."""
        model, decay = SecondOrder.from_system(system), not_negative("decay", decay)
        eigenmodes = modes(undamped(system), None if system.split <= 2 * MAX_MODES else MAX_MODES)
        D = eigenmodes.vectors.T @ (model.D @ eigenmodes.vectors)
        rigid_damping = np.abs(D[: eigenmodes.rigid]).max(initial=0.0)
        first = eigenmodes.rigid if rigid_damping <= 1e-10 * np.abs(D).max(initial=0.0) or not D.any() else 0
        V, omega, D = eigenmodes.vectors[:, first:], eigenmodes.omega[first:], D[first:, first:]
        B = V.T @ model.F
        slow = B / np.where(omega > 0.0, omega, 1.0)[:, None]
        size, on_stress = np.sqrt((slow**2).sum(axis=0)), np.arange(B.shape[1]) >= B.shape[1] - model.S.shape[1]
        B = np.vstack([np.where(on_stress, 0.0, B), np.where(on_stress, slow, 0.0)])[:, size > 0.0] / size[size > 0.0]
        if not B.shape[1]:
            raise InputError("no input reaches an elastic mode, so there is nothing to balance; use other ports")
        count, O, zero = len(omega), np.diag(omega), np.zeros((len(omega), len(omega)))
        J = np.block([[-(D - D.T) / 2, -O], [O, zero]])
        R = la.block_diag((D + D.T) / 2, zero) + decay * np.eye(2 * count)
        active = np.concatenate([np.ones(count, bool), omega > 0.0])  # rigid motions with damping bring no stress
        J, R, B = J[active][:, active], R[active][:, active], B[active]
        poles = la.eigvals(J - R)
        if (slow := float(poles.real.max())) >= -1e-12 * float(np.abs(poles).max()):
            raise InputError(
                f"a motion does not decay (a pole at {slow:.1e} {abs(poles[poles.real.argmax()].imag):+.4g}j 1/s), so it has no "
                "Gramian; damp it, or give decay=…, an additional decay rate"
            )
        return cls(model, eigenmodes.vectors[:, : eigenmodes.rigid], V, omega, J, R, B)


def elastic_velocities(form: ModalForm, order: int) -> int:
    """The number of elastic velocities for `order` states, of which rigid and driven motions take some."""
    fixed = form.rigid.shape[1] + 2 * int(form.model.drives.any(axis=0).sum()) + 3 * form.model.S.shape[1]
    if (count := (whole_number("order", order, 1) - fixed) // 2) < 1:
        raise InputError(f"order is {order}, but rigid and driven motions need {fixed} states; use {fixed + 2} or more")
    return min(count, len(form.omega))
