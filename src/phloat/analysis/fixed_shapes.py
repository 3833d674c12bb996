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
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.form.saddle import SaddleFactor
from phloat.linear.form.second_order import SecondOrder


class FixedModes:
    """Lossless modes φ of a system, (K − ω²M + iωD) φ = Gᵀμ, and their forms φᴴMφ, φᴴDφ, φᴴKφ, μᴴGφ, modes × modes each."""

    def __init__(self, system: LinearPHDAE, found: Modes):
        self.omega, self.vectors = found.elastic, found.vectors[:, found.rigid :]
        at, v = SecondOrder.from_system(system, damped=False), self.vectors
        force = at.stiffness(v) - self.omega**2 * (at.M @ v)
        force = force + 1j * self.omega * (at.D @ v) if at.D.nnz else force
        self.mu = -SaddleFactor(sp.eye_array(at.size), at.G).solve_both(force)[1]
        self.base = self.read(system)

    def read(self, system: LinearPHDAE) -> np.ndarray:
        """The forms on another system, at the same φ and μ."""
        at, v = SecondOrder.from_system(system, damped=False), self.vectors
        left, strain = v.conj().T, at.L.T @ v
        stiffness, joints = strain.conj().T @ at.from_strain(strain), self.mu.conj().T @ (at.G @ v)
        return np.array([left @ (at.M @ v), left @ (at.D @ v), stiffness, joints])

    def on(self, group: np.ndarray, forms: np.ndarray) -> np.ndarray:
        """K − ω²M + iωD − μᴴG − Gᴴμ on the modes of one frequency."""
        omega = self.omega[group].mean()
        M, D, K, X = (a[np.ix_(group, group)] for a in forms)
        return np.asarray(K - omega**2 * M + 1j * omega * D - X - X.conj().T)

    def weight(self, group: np.ndarray) -> np.ndarray:
        """2ωM − iD on the modes of one frequency."""
        M, D, *_ = (a[np.ix_(group, group)] for a in self.base)
        return _hermitian(2.0 * self.omega[group].mean() * M - 1j * D)

    def branches(self, group: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """dω of the branches into which one frequency splits, ascending."""
        return np.asarray(la.eigh(_hermitian(self.on(group, slope)), self.weight(group), eigvals_only=True))


def _hermitian(a: np.ndarray) -> np.ndarray:
    return np.asarray(0.5 * (a + a.conj().T))


@dataclass(frozen=True, eq=False)
class FixedResponse:
    """Velocities v and multipliers λ of the response at s, and w, κ of the adjoint problem of the outputs.

    (sM + D + K/s) v − Gᵀλ = B_v − L C⁻¹B_σ/s,  G v = B_λ;   (sM + D + K/s)ᵀw + Gᵀκ = B_v + L C⁻¹B_σ/s,  G w = −B_λ.
    """

    s: complex
    into: np.ndarray
    out: np.ndarray
    v: np.ndarray
    lam: np.ndarray
    w: np.ndarray
    kappa: np.ndarray

    def read(self, at: SecondOrder) -> np.ndarray:
        """H, outputs × inputs, of another system at the same v, λ, w, κ; the error is quadratic in their change."""
        light, stiff = self._terms(at)
        into, out = self.into, self.out
        H = at.B_v[:, out].T @ self.v + (at.B_v[:, into].T @ self.w).T - light - stiff
        H = H + (at.G @ self.w + at.B_lam[:, out].toarray()).T @ self.lam
        return np.asarray(H - self.kappa.T @ (at.G @ self.v - at.B_lam[:, into].toarray()))

    def size(self, at: SecondOrder) -> np.ndarray:
        """The magnitude of the terms of H."""
        light, stiff = self._terms(at)
        return np.abs(light) + np.abs(stiff)

    def _terms(self, at: SecondOrder) -> tuple[np.ndarray, np.ndarray]:
        """wᵀ(sM + D)v, and the power of the stresses, inputs and outputs on strains included."""
        a = at.L.T @ self.v + at.B_sigma[:, self.into].toarray()
        b = at.L.T @ self.w - at.B_sigma[:, self.out].toarray()
        return self.w.T @ (self.s * (at.M @ self.v) + at.D @ self.v), b.T @ at.from_strain(a) / self.s


def fixed_responses(system: LinearPHDAE, into: np.ndarray, out: np.ndarray, points: np.ndarray) -> list[FixedResponse]:
    """At every s; the adjoint has its own factor only if the system is gyroscopic."""
    at = SecondOrder.from_system(system)
    back = at if not (at.D - at.D.T).nnz else replace(at, D=csr(at.D.T))
    return [_fixed_response(at, back, into, out, value if value.imag else value.real) for value in points]


def _fixed_response(at: SecondOrder, back: SecondOrder, into: np.ndarray, out: np.ndarray, s: complex) -> FixedResponse:
    forces, adjoint = _forces(at, into, s, -1.0), _forces(at, out, s, 1.0)
    try:
        factor = at.factor(s)
        transposed = factor if back is at else back.factor(s)
    except RuntimeError:
        raise pole_error(s) from None
    v, lam = factor.solve_both(forces, at.B_lam[:, into].toarray() / s)
    w, kappa = transposed.solve_both(adjoint, -at.B_lam[:, out].toarray() / s)
    if not (np.isfinite(v).all() and np.isfinite(w).all()):
        raise pole_error(s)
    return FixedResponse(s, into, out, s * v, lam, s * w, -kappa)


def _forces(at: SecondOrder, columns: np.ndarray, s: complex, sign: float) -> np.ndarray:
    """Forces of inputs on the velocities, those on stresses included."""
    B_sigma = at.B_sigma[:, columns]
    forces = at.B_v[:, columns].toarray().astype(complex if np.iscomplexobj(s) else float)
    return np.asarray(forces + sign / s * (at.L @ at.from_strain(B_sigma.toarray())) if B_sigma.nnz else forces)
