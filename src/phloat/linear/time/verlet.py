"""Störmer–Verlet (leapfrog) for a (v | σ) system without gyroscopic coupling, with joints as in RATTLE.

    M (v½ − v₀) = ½h (−L σ₀ − R (v₀ + v½)/2 + B_v ū₀ + Gᵀλ₀),   G v½ = 0      ū₀ the mean of u over the first half of the step
    C (σ₁ − σ₀) = h (Lᵀv½ + B_σ ū)                                           ū the mean over the step
    M (v₁ − v½) = ½h (−L σ₁ − R (v½ + v₁)/2 + B_v ū₁ + Gᵀλ₁),   G v₁ = 0      ū₁ the mean over its second half

One factor, of M + ¼hR with the joints, serves all steps; stiffness is never factorised. Symplectic, order 2, stable for h < 2/ω
of the fastest mode. Without losses and inputs H − ⅛h² (Lσ)ᵀM⁻¹(Lσ) (M⁻¹ with the joints) is constant, so that H is bounded.
Damping of velocities is implicit, and the limit of the step remains. E. Hairer, C. Lubich and G. Wanner, Geometric Numerical
Integration, I.1 and VII.1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg as la
import scipy.sparse.linalg as spla

from phloat.algebra.sparse import csr, largest
from phloat.errors import InputError
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.form.saddle import SaddleFactor
from phloat.linear.form.second_order import SecondOrder
from phloat.linear.time.gauss import independent
from phloat.linear.time.step import LinearStep, Signals

DENSE = 200  # velocities up to which all eigenvalues are computed


@dataclass(frozen=True)
class StormerVerlet:
    """Order 2, equal steps dt, for linear systems with rows (v | σ): symplectic and explicit in the stiffness.

    The step must be below 2/ω of the fastest mode: `simulate` computes this limit and raises InputError beyond it. Systems with
    gyroscopic coupling, damped stresses, driven ports or massless motions are refused; take `GaussLegendre`. The energy
    oscillates by O(dt²) and does not drift; `residual` of the result has it.

    Examples
    --------
    >>> rod = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), ph.Material(E=7e10, rho=2700.0, nu=0.3)).discretise(2)
    >>> arm = ph.connect({"rod": rod}, [ph.Weld("ground", "rod.P")], plane="xy")
    >>> linear = ph.linearise(arm, ph.place(arm))
    >>> result = ph.simulate(linear, t_end=0.01, dt=1e-5, u={"rod.C": (0.0, 1.0, 0.0)}, scheme=ph.StormerVerlet())
    >>> bool(abs(result.residual).max() < 1e-2 * result.energy.max())
    True
    """

    def solver(self, system: LinearPHDAE, h: float) -> VerletSolver:
        return VerletSolver(system, h)


class VerletSolver:
    """Steps of length h."""

    def __init__(self, system: LinearPHDAE, h: float) -> None:
        _require_separable(system)
        self.system, self.h = system, h
        self.joint_rows, G = independent(system.G)
        self.model = replace(SecondOrder.from_system(system), G=csr(G[:, : system.split]))
        limit = 2.0 / highest_frequency(self.model)
        if not h < limit:
            raise InputError(
                f"the step of {h:.4g} s is not below {limit:.4g} s, 2/ω of the fastest mode, where StormerVerlet is unstable; give "
                f"dt = {0.9 * limit:.2g}, or take scheme=GaussLegendre(stages=1), which has no limit"
            )
        self.kick = _factor(self.model, 0.25 * h)

    def _kicked(self, v: np.ndarray, sigma: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """v after half a step with constant stresses and inputs, and λ."""
        m, half = self.model, 0.5 * self.h
        load = m.M @ v + half * (m.B_v @ u - m.L @ sigma - 0.5 * (m.D @ v))
        v, mu = self.kick.solve_both(load, corrections=1)
        return v, mu / half

    def step(self, e: np.ndarray, u: Signals, t: float, u_0: np.ndarray) -> LinearStep:
        """The step from e at t; u_0 is that of driven joints, of which there are none."""
        m, h, n, middle = self.model, self.h, self.system.split, t + 0.5 * self.h
        u_early, u_late = u.mean(t, middle), u.mean(middle, t + h)
        v_0, sigma_0 = e[:n], e[n:]
        v, lam_0 = self._kicked(v_0, sigma_0, u_early)
        u_mean = 0.5 * (u_early + u_late)
        sigma_1 = sigma_0 + h * m.from_strain(m.L.T @ v + m.B_sigma @ u_mean)
        v_1, lam_1 = self._kicked(v, sigma_1, u_late)
        first, second, sigma = 0.5 * (v_0 + v), 0.5 * (v + v_1), 0.5 * (sigma_0 + sigma_1)
        lam = np.zeros(self.system.multipliers.size)
        lam[self.joint_rows] = 0.5 * (lam_0 + lam_1)
        powers = 0.5 * (u_early * (m.B_v.T @ first) + u_late * (m.B_v.T @ second)) + u_mean * (m.B_sigma.T @ sigma)
        stage, end = np.concatenate([v, sigma]), np.concatenate([v_1, sigma_1])
        return LinearStep(
            t=t,
            h=h,
            nodes=np.array([0.5]),
            weights=np.array([1.0]),
            e=stage[None],
            lam=lam[None],
            points=np.array([0.0, 0.5, 1.0]),
            path=np.array([e, stage, end]),
            end=end,
            u_end=u_0,
            flows=(self.system.B.T @ stage)[None],
            powers=powers[None],
            losses=np.array([0.5 * (first @ (m.D @ first) + second @ (m.D @ second))]),
        )


def _require_separable(system: LinearPHDAE) -> None:
    """Raises InputError if the energy does not separate into one of velocities and one of stresses, or if ports are driven."""
    n, cure = system.split, "; take scheme=GaussLegendre(stages=…)"
    if not system.separable or system.circulatory:
        raise InputError(
            "StormerVerlet needs rows in the order (v | σ), no mass shared by both, and stresses without damping, "
            "joints or coupling" + cure
        )
    if not np.diff(system.E.indptr)[n:].all():
        raise InputError("StormerVerlet needs the compliance of every stress: a stress stores no energy" + cure)
    if largest(system.J[:n, :n]):
        raise InputError("StormerVerlet cannot step gyroscopic forces: J couples velocities with each other" + cure)
    if system.has_feedthrough:
        raise InputError("StormerVerlet does not support a feedthrough of ports (P, S, N)" + cure)
    if driven := system.driven():
        raise InputError(f"StormerVerlet cannot drive joints: {', '.join(driven)} take a velocity" + cure)


def _factor(model: SecondOrder, factor: float) -> SaddleFactor:
    """The factor of M + factor · R with the joints. Raises InputError if it is singular."""
    try:
        saddle = SaddleFactor(csr(model.M + factor * model.D), model.G)
        test = saddle.solve(np.ones(model.size))
    except RuntimeError:
        test = np.array([np.nan])
    if not np.isfinite(test).all():
        raise InputError(
            "a motion has no mass, which StormerVerlet needs of every motion; take scheme=GaussLegendre(stages=…)"
        )
    return saddle


def highest_frequency(model: SecondOrder) -> float:
    """The largest ω (rad/s) of M q̈ + K q = Gᵀλ, G q = 0."""
    mass, n = _factor(model, 0.0), model.size
    if n <= DENSE:
        squares = la.eigvals(mass.solve(model.stiffness(np.eye(n))))
    else:
        operator = spla.LinearOperator((n, n), lambda x: mass.solve(model.stiffness(x.ravel())), dtype=float)
        squares = spla.eigs(operator, k=1, which="LM", v0=np.ones(n), tol=1e-6, return_eigenvectors=False)
    return float(np.sqrt(np.abs(squares).max(initial=1e-300)))
