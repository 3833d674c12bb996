"""What fixed motions read off a linear system: numbers that are differentiated in place of its matrices.

Stresses are taken out, K = L C⁻¹Lᵀ, so that it does not matter in which coordinates they come, and a stiffness counts as itself
and not as its inverse. D = R − J among the velocities.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from phloat.algebra.sparse import Matrix, block_inverse, csr, largest, row_lengths, weighted
from phloat.errors import InputError
from phloat.linear.analysis.modes import Modes
from phloat.linear.analysis.transfer import on_a_pole
from phloat.linear.form.phdae import LinearPHDAE, linear_only
from phloat.linear.form.second_order import SecondOrder


@dataclass(frozen=True, eq=False)
class Blocks:
    """M, D, L, C and G of a system, and the columns of its inputs on velocities, stresses and joints."""

    M: Matrix
    D: Matrix
    L: Matrix
    C: Matrix
    G: Matrix
    B_v: Matrix
    B_sigma: Matrix
    B_lam: Matrix

    @classmethod
    def of(cls, system: LinearPHDAE, *, damped: bool = True) -> Blocks:
        linear_only(system)
        n, E, J = system.split, system.E, system.J
        if n < 0:
            raise InputError("gradients need rows in the order (v | σ), velocities first; say where they part: split=…")
        if largest(E[:n, n:]) or largest(J[n:, n:]) or largest(system.R[n:]) or largest(system.G[:, n:]):
            raise InputError(
                "gradients keep (v | σ) apart, and here they share mass, or stresses are damped, jointed or coupled among "
                "themselves"
            )
        D = (system.R if damped else 0.0 * system.R) - J
        B = system.B.tocsr()
        return cls(
            *map(csr, (E[:n, :n], D[:n, :n], -J[:n, n:], E[n:, n:], system.G[:, :n], B[:n], B[n:], system.B_lam))
        )

    @cached_property
    def _inverse(self) -> Matrix | None:
        return block_inverse(self.C)

    @cached_property
    def _factor(self) -> spla.SuperLU:
        return spla.splu(self.C.tocsc())

    def stress(self, strain: np.ndarray) -> np.ndarray:
        """C⁻¹ on columns."""
        if self._inverse is not None:
            return np.asarray(self._inverse @ strain)
        return _by_parts(self._factor, strain)

    def stiffness(self, v: np.ndarray) -> np.ndarray:
        """K v, through the strains."""
        return np.asarray(self.L @ self.stress(self.L.T @ v))


def multipliers(G: Matrix, force: np.ndarray) -> np.ndarray:
    """μ with Gᵀμ = force, for forces that joints can hold."""
    if not G.shape[0]:
        return np.zeros((0, force.shape[1]), dtype=force.dtype)
    scale = 1.0 / row_lengths(G)
    rows = csr(weighted(G, scale))
    return np.asarray(scale[:, None] * _by_parts(spla.splu(sp.csc_array(rows @ rows.T)), rows @ force))


def _by_parts(factor: spla.SuperLU, right: np.ndarray) -> np.ndarray:
    """A real factor on complex columns."""
    if not np.iscomplexobj(right):
        return np.asarray(factor.solve(np.ascontiguousarray(right)))
    parts = (factor.solve(np.ascontiguousarray(part)) for part in (right.real, right.imag))
    return np.asarray(next(parts) + 1j * next(parts))


class Swinging:
    """Lossless modes φ of a system, (K − ω²M + iωD) φ = Gᵀμ, and their forms φᴴMφ, φᴴDφ, φᴴKφ, μᴴGφ, modes × modes each."""

    def __init__(self, system: LinearPHDAE, found: Modes):
        self.omega, self.vectors = found.elastic, found.vectors[:, found.rigid :]
        at, v = Blocks.of(system, damped=False), self.vectors
        force = at.stiffness(v) - self.omega**2 * (at.M @ v)
        self.mu = multipliers(at.G, force + 1j * self.omega * (at.D @ v) if at.D.nnz else force)
        self.base = self.read(system)

    def read(self, system: LinearPHDAE) -> np.ndarray:
        """The forms on another system, at the same φ and μ."""
        at, v = Blocks.of(system, damped=False), self.vectors
        left, strain = v.conj().T, at.L.T @ v
        return np.array(
            [
                left @ (at.M @ v),
                left @ (at.D @ v),
                strain.conj().T @ at.stress(strain),
                self.mu.conj().T @ (at.G @ v),
            ]
        )

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
        """dω of the branches into which one frequency parts, ascending."""
        found = la.eigh(_hermitian(self.on(group, slope)), self.weight(group), eigvals_only=True)
        return np.asarray(found)


def _hermitian(a: np.ndarray) -> np.ndarray:
    return np.asarray(0.5 * (a + a.conj().T))


@dataclass(frozen=True, eq=False)
class Driven:
    """Motion v and multipliers λ that inputs cause at s, and w, κ of the adjoint that outputs ask for.

    (sM + D + K/s) v − Gᵀλ = B_v − L C⁻¹B_σ/s,  G v = B_λ;   (sM + D + K/s)ᵀw + Gᵀκ = B_v + L C⁻¹B_σ/s,  G w = −B_λ.
    """

    s: complex
    into: np.ndarray
    out: np.ndarray
    v: np.ndarray
    lam: np.ndarray
    w: np.ndarray
    kappa: np.ndarray

    def read(self, at: Blocks) -> np.ndarray:
        """H, outputs × inputs, of another system at the same v, λ, w, κ: off by the square of how far those have moved."""
        light, stiff = self._terms(at)
        into, out = self.into, self.out
        H = at.B_v[:, out].T @ self.v + (at.B_v[:, into].T @ self.w).T - light - stiff
        H = H + (at.G @ self.w + at.B_lam[:, out].toarray()).T @ self.lam
        return np.asarray(H - self.kappa.T @ (at.G @ self.v - at.B_lam[:, into].toarray()))

    def size(self, at: Blocks) -> np.ndarray:
        """The size of what H is the sum of."""
        light, stiff = self._terms(at)
        return np.abs(light) + np.abs(stiff)

    def _terms(self, at: Blocks) -> tuple[np.ndarray, np.ndarray]:
        """wᵀ(sM + D)v, and the power of the stresses with what inputs and outputs add to strains."""
        a = at.L.T @ self.v + at.B_sigma[:, self.into].toarray()
        b = at.L.T @ self.w - at.B_sigma[:, self.out].toarray()
        return self.w.T @ (self.s * (at.M @ self.v) + at.D @ self.v), b.T @ at.stress(a) / self.s


def driven(system: LinearPHDAE, into: np.ndarray, out: np.ndarray, points: np.ndarray) -> list[Driven]:
    """At every s; the adjoint has a factor of its own only where the system is gyroscopic."""
    at = Blocks.of(system)
    there = SecondOrder.of(system)
    back = there if not (at.D - at.D.T).nnz else replace(there, D=csr(at.D.T))
    return [_driven(at, there, back, into, out, value if value.imag else value.real) for value in points]


def _driven(at: Blocks, there: SecondOrder, back: SecondOrder, into: np.ndarray, out: np.ndarray, s: complex) -> Driven:
    forces, adjoint = _forces(at, into, s, -1.0), _forces(at, out, s, 1.0)
    try:
        factor = there.at(s)
        turned = factor if back is there else back.at(s)
    except RuntimeError:
        raise on_a_pole(s) from None
    v = s * factor.solve(forces, at.B_lam[:, into].toarray() / s)
    w = s * turned.solve(adjoint, -at.B_lam[:, out].toarray() / s)
    if not (np.isfinite(v).all() and np.isfinite(w).all()):
        raise on_a_pole(s)
    lam = multipliers(at.G, factor.times(v) / s - forces)
    kappa = multipliers(at.G, adjoint - turned.times(w) / s)
    return Driven(s, into, out, v, lam, w, kappa)


def _forces(at: Blocks, columns: np.ndarray, s: complex, sign: float) -> np.ndarray:
    """Forces of inputs on the velocities, those on stresses included."""
    B_sigma = at.B_sigma[:, columns]
    forces = at.B_v[:, columns].toarray().astype(complex if np.iscomplexobj(s) else float)
    return np.asarray(forces + sign / s * (at.L @ at.stress(B_sigma.toarray())) if B_sigma.nnz else forces)
