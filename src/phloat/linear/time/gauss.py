"""Gauss–Legendre collocation of a linear port-Hamiltonian system with s stages, of order 2s; s = 1 is the midpoint rule.

    E (e_i − e₀) = h Σ a_ij ((J − R) e_j + Gᵀλ_j + (B − P) u_j),   G e_i = B_λ u_i,   e₁ = (−1)^s e₀ + Σ d_i e_i,   d = bᵀA⁻¹
    ⇒  H₁ − H₀ = h Σ b_i (y_iᵀu_i − (e_i, u_i)ᵀW (e_i, u_i))   exactly,   y_i = (B + P)ᵀe_i + B_λᵀλ_i + (S + N) u_i

u_i is the polynomial of degree s − 1 that has the means of u between the Gauss–Lobatto points, where ∫ P_s vanishes: the impulse of
a step is exact, and the order is kept. Velocities of driven joints are, for s > 1, the polynomial of degree s with their values at
the ends and their means between the zeros of P_{s−2}^{(2,2)}: joints hold at the nodes, and positions are exact there.

With A⁻¹ = V diag(μ) V⁻¹ the stages separate into systems (μ/h E − J + R) ê − Gᵀλ̂ = …, real ones or complex pairs, factorised once
for all steps of one length. Without inputs on stresses these are eliminated, σ̂ = τσ₀ + C⁻¹Lᵀv̂ h/μ. E. Hairer, C. Lubich and
G. Wanner, Geometric Numerical Integration, II.1 and IV.2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.polynomial import legendre
from scipy.special import roots_jacobi

from phloat.algebra.sparse import Matrix, csr, dependencies, largest
from phloat.errors import InputError, whole_number
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.form.saddle import SaddleFactor
from phloat.linear.form.second_order import Factor, SecondOrder
from phloat.linear.time.step import LinearStep, PortOutputs, Signals, integral_weights

MOST_STAGES = 10


@dataclass(frozen=True)
class GaussLegendre:
    """Order 2 `stages`, equal steps dt, for linear systems: symplectic, and the energy balance is exact at any step.

    Parameters
    ----------
    stages : int
        1 (the midpoint rule) to 10. A step solves one real system for odd numbers, and stages // 2 complex ones.

    Examples
    --------
    >>> rod = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), ph.Material(E=7e10, rho=2700.0, nu=0.3)).discretise(2)
    >>> arm = ph.connect({"rod": rod}, [ph.Weld("ground", "rod.P")], plane="xy")
    >>> linear = ph.linearise(arm, ph.place(arm))
    >>> result = ph.simulate(linear, t_end=0.1, dt=1e-3, u={"rod.C": (0.0, 1.0, 0.0)}, scheme=ph.GaussLegendre(2))
    >>> bool(abs(result.residual).max() < 1e-13 * result.energy.max())
    True
    """

    stages: int = 2

    def __post_init__(self) -> None:
        if whole_number("stages", self.stages, 1) > MOST_STAGES:
            raise InputError(
                f"{self.stages} stages are too many: round-off would exceed the error; at most {MOST_STAGES}"
            )

    def solver(self, system: LinearPHDAE, h: float) -> GaussSolver:
        return GaussSolver(system, h, self.stages)


class Means(NamedTuple):
    """u_i = start · u(t₀) + end · u(t₁) + means @ (the means of u between the points)."""

    points: np.ndarray
    start: np.ndarray
    end: np.ndarray
    means: np.ndarray


class Tableau(NamedTuple):
    """c, b, d; K, the skew part of diag(b) A⁻¹; its μ with Im μ ≥ 0, V and V⁻¹; u_i of efforts and of driven joints."""

    c: np.ndarray
    b: np.ndarray
    d: np.ndarray
    K: np.ndarray
    mu: np.ndarray
    V: np.ndarray
    V_inverse: np.ndarray
    efforts: Means
    drives: Means


@cache
def tableau(stages: int) -> Tableau:
    """The coefficients of the Gauss–Legendre method with this number of stages."""
    x, weights = legendre.leggauss(stages)
    c, b = 0.5 * (1.0 + x), 0.5 * weights
    A_inverse = np.linalg.inv(integral_weights(c, c))
    mu, V = np.linalg.eig(A_inverse)
    upper = mu.imag > -1e-9 * np.abs(mu)
    efforts = _means(c, roots_jacobi(stages - 1, 1.0, 1.0)[0] if stages > 1 else np.zeros(0), ends=False)
    drives = _means(c, roots_jacobi(stages - 2, 2.0, 2.0)[0] if stages > 2 else np.zeros(0), ends=stages > 1)
    separated = mu[upper], V[:, upper], np.linalg.inv(V)[upper]
    K = 0.5 * (b[:, None] * A_inverse - (b[:, None] * A_inverse).T)
    return Tableau(c, b, b @ A_inverse, K, *separated, efforts, drives)


def _means(c: np.ndarray, inner: np.ndarray, *, ends: bool) -> Means:
    """The polynomial with given means between 0, the inner points and 1 (and given values at 0 and 1), at c."""
    points = 0.5 * (1.0 + np.concatenate([[-1.0], inner, [1.0]]))
    basis = np.eye(len(points) - 1 + 2 * ends)
    integrals = [0.5 * legendre.legval(2.0 * points - 1.0, legendre.legint(p, lbnd=-1)) for p in basis]
    conditions = np.diff(np.array(integrals).T, axis=0) / np.diff(points)[:, None]
    values = legendre.legval(np.array([-1.0, 1.0]), basis).T
    weights = legendre.legval(2.0 * c - 1.0, basis).T @ np.linalg.inv(
        np.vstack([values, conditions] if ends else [conditions])
    )
    start, end = (weights[:, 0], weights[:, 1]) if ends else (0.0 * c, 0.0 * c)
    return Means(points, start, end, weights[:, 2 * ends :])


class GaussSolver:
    """The factorised step of length h; λ is zero on joint rows that depend on the others."""

    def __init__(self, system: LinearPHDAE, h: float, stages: int = 1) -> None:
        self.system, self.h, self.tableau, self.dynamics = system, h, tableau(stages), system.dynamics
        self.driven, (self.joint_rows, G) = largest(system.B_lam) > 0.0, independent(system.G)
        self.outputs, self.forces, self.into = PortOutputs(system), csr(system.G.T), system.input_map
        self.model: SecondOrder | None = None
        stresses = slice(system.split, None)
        all_store = bool(np.diff(system.E.indptr)[stresses].all())  # none is a reaction, as of a rigid spring
        if system.separable and all_store and not system.circulatory and not largest(self.into[stresses]):
            self.model = replace(SecondOrder.from_system(system), G=csr(G[:, : system.split]))
        try:
            self.factors = [self._factor(s if s.imag else s.real, G) for s in self.tableau.mu / h]
        except RuntimeError:
            raise InputError(
                "the step has no unique solution: a motion has no mass and no stiffness, or joints repeat each other; omit those"
            ) from None

    def _factor(self, s: complex, G: Matrix) -> SaddleFactor:
        """The factor of s E − J + R with the joints, or of s²M + sD + K."""
        if self.model is None:
            return SaddleFactor(sp.csr_array(self.system.E - self.dynamics / s), G)
        return Factor(self.model, s * s, s)

    def stages(self, e: np.ndarray, u: np.ndarray, u_joints: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """e_i, (stages, rows), and λ_i, (stages, multipliers), from e with inputs u_i of rows and of joints, (stages, inputs).

        With several stages a correction removes the round-off of the separation, so that the energy balance stays exact.
        """
        T, system = self.tableau, self.system
        forces, flows = _times(self.into, u), _times(system.B_lam, u_joints)[:, self.joint_rows]
        stages, lam = self._solve(e, forces, flows)
        if len(T.c) > 1:
            misfit = forces + _times(self.dynamics, stages) + _times(self.forces, lam)
            misfit -= _times(system.E, self._rates(stages, e))
            change, lam_change = self._solve(0.0 * e, misfit, flows - _times(system.G, stages)[:, self.joint_rows])
            stages, lam = stages + change, lam + lam_change
        return stages, lam

    def _rates(self, stages: np.ndarray, e: np.ndarray) -> np.ndarray:
        """ė_i = A⁻¹(e_i − e₀)/h with diag(b) A⁻¹ = ½ddᵀ + K: as K is exactly skew, rounded coefficients keep the energy."""
        T = self.tableau
        sums = 0.5 * np.outer(T.d, T.d @ stages) + T.K @ stages + (-1) ** len(T.c) * np.outer(T.d, e)
        return np.asarray(sums / (self.h * T.b[:, None]))

    def _solve(self, e: np.ndarray, forces: np.ndarray, flows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """e_i and λ_i by separated stages; `forces` (stages, rows) act on rows, `flows` are G e_i."""
        T, system = self.tableau, self.system
        stages, lam = np.zeros((len(T.c), len(e))), np.zeros((len(T.c), system.multipliers.size))
        forces, flows = T.V_inverse @ forces, T.V_inverse @ flows
        for k, (mu, factor) in enumerate(zip(T.mu, self.factors, strict=True)):
            x, multipliers = self._solve_one(factor, mu / self.h, e * T.V_inverse[k].sum(), forces[k], flows[k])
            twice = 1.0 if mu.imag == 0.0 else 2.0
            stages += twice * np.outer(T.V[:, k], x).real
            lam[:, self.joint_rows] += twice * np.outer(T.V[:, k], multipliers).real
        return stages, lam

    def _solve_one(
        self, factor: SaddleFactor, s: complex, e: np.ndarray, force: np.ndarray, flow: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """x and λ of (s E − J + R) x = s E e + force + Gᵀλ, G x = flow; real for a real s."""
        model, system, n = self.model, self.system, self.system.split
        if not s.imag:
            s, e, force, flow = s.real, e.real, force.real, flow.real
        if model is None:
            x, mu = factor.solve_both(system.E @ e + force / s, flow, corrections=1)
            return x, s * mu
        load = s * (s * (model.M @ e[:n]) + force[:n] - model.L @ e[n:])
        own_strain = bool(force[n:].any())
        if own_strain:
            load = load - model.L @ model.from_strain(force[n:])
        v, mu = factor.solve_both(load, flow, corrections=1)
        strain = model.L.T @ v + force[n:] if own_strain else model.L.T @ v
        return np.concatenate([v, e[n:] + model.from_strain(strain) / s]), mu / s

    def step(self, e: np.ndarray, u: Signals, t: float, u_0: np.ndarray) -> LinearStep:
        """The step from e at t, where driven joints have the velocities u_0."""
        T, u_1 = self.tableau, u.at(t + self.h)
        rows = joints = self._inputs(T.efforts, u, t, u_0, u_1)
        if self.driven:
            joints = self._inputs(T.drives, u, t, u_0, u_1)
        stages, lam = self.stages(e, rows, joints)
        flows = self.outputs.of_rows(stages, rows)
        return LinearStep(
            t=t,
            h=self.h,
            nodes=T.c,
            weights=T.b,
            e=stages,
            lam=lam,
            points=np.append(0.0, T.c),
            path=np.vstack([e, stages]),
            end=T.d @ stages + (-1) ** len(T.c) * e,
            u_end=u_1,
            flows=flows,
            powers=rows * flows + joints * self.outputs.of_joints(lam),
            losses=self.outputs.losses(stages, rows),
        )

    def _inputs(self, by: Means, u: Signals, t: float, u_0: np.ndarray, u_1: np.ndarray) -> np.ndarray:
        """u_i, (stages, inputs)."""
        means = np.array([u.mean(*ends) for ends in pairwise(t + self.h * by.points)])
        return np.outer(by.start, u_0) + np.outer(by.end, u_1) + by.means @ means


def _times(matrix: Matrix, rows: np.ndarray) -> np.ndarray:
    """The matrix times each row."""
    return np.asarray((matrix @ rows.T).T)


def nearest_consistent(system: LinearPHDAE, e: np.ndarray, u: np.ndarray) -> np.ndarray:
    """The state nearest to e, in the norm of the energy, that satisfies the joints: G e = B_λ u."""
    joint_rows, G = independent(system.G)
    return SaddleFactor(system.E, G).solve(system.E @ e, (system.B_lam @ u)[joint_rows])


def independent(G: Matrix) -> tuple[np.ndarray, Matrix]:
    """The indices of rows of G that are independent, and these rows."""
    independent = np.delete(np.arange(G.shape[0]), repeated(G))
    return independent, csr(G[independent])


def repeated(G: Matrix) -> np.ndarray:
    """The indices of rows of G that depend on the others, ascending."""
    mu = dependencies(G)
    if not mu.shape[1]:
        return np.zeros(0, dtype=int)
    return np.sort(la.qr(mu.T, pivoting=True, mode="economic")[2][: mu.shape[1]])
