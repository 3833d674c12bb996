"""Quadratic forms of a linear system at fixed mode shapes and responses, whose derivatives give gradients.

Stresses are eliminated, K = L C⁻¹Lᵀ, so that their coordinates do not matter and a stiffness enters itself, not its inverse.
D = R − J among the velocities.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from phloat.algebra.sparse import csr
from phloat.linear.analysis.modes import Modes
from phloat.linear.analysis.transfer import pole_error
from phloat.linear.form.phdae import LinearPHDAE, linear_only
from phloat.linear.form.saddle import SaddleFactor
from phloat.linear.form.second_order import SecondOrder


class FixedModes:
    """The lossless modes φ of a system, (K − ω²M + iωD) φ = Gᵀμ, and the forms φᴴMφ, φᴴDφ, φᴴKφ, μᴴGφ, (4, modes, modes)."""

    def __init__(self, system: LinearPHDAE, modes: Modes):
        self.omega, self.vectors = modes.elastic, modes.vectors[:, modes.rigid :]
        form, v = SecondOrder.from_system(system, damped=False), self.vectors
        force = form.stiffness(v) - self.omega**2 * (form.M @ v)
        force = force + 1j * self.omega * (form.D @ v) if form.D.nnz else force
        self.mu = -SaddleFactor(sp.eye_array(form.size), form.G).solve_both(force)[1]
        self.base = self.evaluate(system)

    def evaluate(self, system: LinearPHDAE) -> np.ndarray:
        """The forms of another system at the same φ and μ, (4, modes, modes)."""
        form, v = SecondOrder.from_system(system, damped=False), self.vectors
        adjoint, strain = v.conj().T, form.L.T @ v
        stiffness, joints = strain.conj().T @ form.from_strain(strain), self.mu.conj().T @ (form.G @ v)
        return np.array([adjoint @ (form.M @ v), adjoint @ (form.D @ v), stiffness, joints])

    def reduced_matrix(self, group: np.ndarray, forms: np.ndarray) -> np.ndarray:
        """K − ω²M + iωD − μᴴG − Gᴴμ of these forms on a group of modes of equal frequency."""
        omega = self.omega[group].mean()
        M, D, K, X = (a[np.ix_(group, group)] for a in forms)
        return np.asarray(K - omega**2 * M + 1j * omega * D - X - X.conj().T)

    def weight(self, group: np.ndarray) -> np.ndarray:
        """2ωM − iD on a group of modes of equal frequency."""
        M, D, *_ = (a[np.ix_(group, group)] for a in self.base)
        return _hermitian(2.0 * self.omega[group].mean() * M - 1j * D)

    def branches(self, group: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """dω of the branches into which the frequency of a group splits, ascending, from the derivatives of the forms."""
        return np.asarray(la.eigh(_hermitian(self.reduced_matrix(group, slope)), self.weight(group), eigvals_only=True))


def _hermitian(a: np.ndarray) -> np.ndarray:
    return np.asarray(0.5 * (a + a.conj().T))


@dataclass(frozen=True, eq=False)
class FixedResponse:
    """The response at a fixed s to the inputs (velocities v, multipliers λ), and the adjoint response to the outputs (w, κ).

    They solve

    (sM + D + K/s) v − Gᵀλ = B_v − L C⁻¹B_σ/s,  G v = B_λ;   (sM + D + K/s)ᵀw + Gᵀκ = B_v + L C⁻¹B_σ/s,  G w = −B_λ.
    """

    s: complex
    into: np.ndarray
    out: np.ndarray
    v: np.ndarray
    lam: np.ndarray
    w: np.ndarray
    kappa: np.ndarray

    def evaluate(self, form: SecondOrder) -> np.ndarray:
        """H of another system, (outputs, inputs), with the same v, λ, w, κ; its error is quadratic in their change."""
        inertial, elastic = self._terms(form)
        into, out = self.into, self.out
        H = form.B_v[:, out].T @ self.v + (form.B_v[:, into].T @ self.w).T - inertial - elastic
        H = H + (form.G @ self.w + form.B_lam[:, out].toarray()).T @ self.lam
        return np.asarray(H - self.kappa.T @ (form.G @ self.v - form.B_lam[:, into].toarray()))

    def size(self, form: SecondOrder) -> np.ndarray:
        """The magnitude of the terms of H, (outputs, inputs)."""
        inertial, elastic = self._terms(form)
        return np.abs(inertial) + np.abs(elastic)

    def _terms(self, form: SecondOrder) -> tuple[np.ndarray, np.ndarray]:
        """wᵀ(sM + D)v, and the power of the stresses including inputs and outputs on strains; (outputs, inputs) each."""
        a = form.L.T @ self.v + form.B_sigma[:, self.into].toarray()
        b = form.L.T @ self.w - form.B_sigma[:, self.out].toarray()
        return self.w.T @ (self.s * (form.M @ self.v) + form.D @ self.v), b.T @ form.from_strain(a) / self.s


def fixed_responses(system: LinearPHDAE, into: np.ndarray, out: np.ndarray, points: np.ndarray) -> list[FixedResponse]:
    """The response at every s; the adjoint problem has its own factor only if the system is gyroscopic."""
    linear_only(system)
    form = SecondOrder.from_system(system)
    dual = form if not (form.D - form.D.T).nnz else replace(form, D=csr(form.D.T))
    return [_response(form, dual, into, out, value if value.imag else value.real) for value in points]


def _response(form: SecondOrder, dual: SecondOrder, into: np.ndarray, out: np.ndarray, s: complex) -> FixedResponse:
    """The response at s and its adjoint; raises AccuracyError if s is a pole."""
    forces, loads_adjoint = _forces(form, into, s, -1.0), _forces(form, out, s, 1.0)
    try:
        factor = form.factor(s)
        transposed = factor if dual is form else dual.factor(s)
    except RuntimeError:
        raise pole_error(s) from None
    v, lam = factor.solve_both(forces, form.B_lam[:, into].toarray() / s)
    w, kappa = transposed.solve_both(loads_adjoint, -form.B_lam[:, out].toarray() / s)
    if not (np.isfinite(v).all() and np.isfinite(w).all()):
        raise pole_error(s)
    return FixedResponse(s, into, out, s * v, lam, s * w, -kappa)


def _forces(form: SecondOrder, columns: np.ndarray, s: complex, sign: float) -> np.ndarray:
    """The forces of inputs (columns) on the velocities, including those of inputs on stresses."""
    B_sigma = form.B_sigma[:, columns]
    forces = form.B_v[:, columns].toarray().astype(complex if np.iscomplexobj(s) else float)
    return np.asarray(forces + sign / s * (form.L @ form.from_strain(B_sigma.toarray())) if B_sigma.nnz else forces)
