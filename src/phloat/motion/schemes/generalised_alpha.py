"""Generalised-α on Lie groups with joints as gaps (index 3): second order, numerical damping of high frequencies.

    q₁ = q₀ ∘ exp(h v₀ + h² ((½ − β) a₀ + β a₁)),   v₁ = v₀ + h ((1 − γ) a₀ + γ a₁)
    (1 − α_m) a₁ + α_m a₀ = (1 − α_f) v̇₁ + α_f v̇₀
    M(q₁) v̇₁ = f(q₁, v₁, t₁) + G(q₁)ᵀλ₁,   0 = gap(q₁, t₁)

with α_m = (2ρ − 1)/(ρ + 1), α_f = ρ/(ρ + 1), γ = ½ + α_f − α_m, β = ¼ (γ + ½)², where ρ is the spectral radius at infinite
frequency. M. Arnold and O. Brüls, Convergence of the generalized-α scheme for constrained mechanical systems, Multibody System
Dynamics 18 (2007); O. Brüls and A. Cardona, On the use of Lie group time integrators in multibody dynamics, J. Comput.
Nonlinear Dynam. 5 (2010). Velocities miss the joints by O(h²) inside the scheme; outputs are projected onto them. Multipliers
oscillate after the start and after events, and decay by the factor ρ in each step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phloat.algebra.cross import skew
from phloat.algebra.sparse import Matrix
from phloat.errors import ConvergenceError, InputError, not_negative
from phloat.motion.continuous import residual as compiled
from phloat.motion.continuous.evaluate import V_SIZE, V_Y
from phloat.motion.continuous.pattern import Solve, bordered, linear_solver
from phloat.motion.continuous.stepper import ContinuousStepper, DenseStep
from phloat.motion.kernel import tables as t
from phloat.motion.result import Result
from phloat.motion.run.driver import run_to_end
from phloat.motion.run.interpolation import hermite
from phloat.motion.run.task import Task

ITERATIONS = 15
SMALL = 1e-10  # the last correction relative to the motion of a step …
ROUND_OFF = 1e-14  # … or relative to positions
SLOW = 0.1  # contraction above which new factors are computed
DEEPEST = 10  # halvings of a step


@dataclass(frozen=True)
class GeneralisedAlpha:
    """Second order, fixed step dt; ρ = 1 is undamped, ρ = 0 removes high frequencies in one step."""

    rho: float = 0.8

    def __post_init__(self) -> None:
        if not_negative("rho", self.rho) > 1.0:
            raise InputError(f"rho is {self.rho:g}; the spectral radius at infinity lies between 0 and 1")

    def run(self, task: Task) -> Result:
        if task.dt is None:
            raise InputError("the step is missing: give dt=… (GeneralisedAlpha does not adapt it)")
        return run_to_end(AlphaSteps(task, self.rho, task.dt))


class AlphaSteps(ContinuousStepper):
    """Steps of generalised-α."""

    name, adaptive, consistent_rates = "GeneralisedAlpha", False, False
    counted = ("steps", "iterations", "factorisations", "halved")

    def __init__(self, task: Task, rho: float, dt: float) -> None:
        super().__init__(task)
        self.dt = dt
        self.alpha_m, self.alpha_f = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
        self.gamma = 0.5 + self.alpha_f - self.alpha_m
        self.beta = 0.25 * (self.gamma + 0.5) ** 2
        self.factors: tuple[float, Solve] | None = None
        self.h = dt
        self.prepare()

    def begin(self, time: float, y: np.ndarray, yd: np.ndarray, works: np.ndarray) -> None:
        self.time, self.y, self.yd, self.works = time, y, yd, works
        self.a = yd[self.flow.v].copy()
        self.power = self.flow.powers(self.flow.inputs(time), y)

    def step(self, limit: float) -> DenseStep:
        """To the next multiple of dt, or to the limit if that comes first; in parts if Newton's method fails."""
        start = self.flow.task.t_0
        end = start + (np.floor((self.time - start) / self.dt + 1e-9) + 1.0) * self.dt
        end = limit if end > limit - 1e-9 * self.dt else float(end)
        t_0, y_0, yd_0, works_0 = self.time, self.y, self.yd, self.works
        if abs(end - t_0 - self.h) > 1e-6 * self.h:  # the time to which a belongs depends on the previous step size
            self.a = self.yd[self.flow.v].copy()
        self.h = end - t_0
        self.step_in_parts(end, 0)
        self.counts["steps"] += 1
        h, y_1, yd_1, works_1 = end - t_0, self.y, self.yd, self.works

        def within(time: float) -> tuple[np.ndarray, np.ndarray]:
            x = (time - t_0) / h
            y = hermite(y_0, y_1, h * yd_0, h * yd_1, x)
            y[self.flow.d.stop :] = ((1.0 - x) * y_0 + x * y_1)[self.flow.d.stop :]
            return y, (1.0 - x) * works_0 + x * works_1

        return DenseStep(t_0, end, (y_1, works_1), within)

    def step_in_parts(self, end: float, depth: int) -> None:
        """Steps to the end: with the present factors, with new ones, or in two halves."""
        start, fresh = self.time, self.factors is None
        try:
            self.solve(end)
        except ConvergenceError:
            self.factors = None
            if not fresh:
                return self.step_in_parts(end, depth)
            if depth == DEEPEST:
                raise
            self.counts["halved"] += 1
            self.step_in_parts(0.5 * (start + end), depth + 1)
            self.step_in_parts(end, depth + 1)

    def solve(self, end: float) -> None:
        """Newton's method for the motion x of the step and λ."""
        flow, h = self.flow, end - self.time
        s, v_0, a_0 = flow.inputs(end), self.y[flow.v], self.a
        rate = self.gamma / (self.beta * h)
        inertial = (1.0 - self.alpha_m) / ((1.0 - self.alpha_f) * self.beta * h**2)
        base = self.with_drives(end)
        y, yd, F, lam = base.copy(), np.zeros(flow.size), np.empty(flow.size), self.y[flow.lam].copy()
        x = h * v_0 + 0.5 * h**2 * a_0
        weight = np.sqrt(flow.masses)
        reach = ROUND_OFF * float(np.linalg.norm(weight)) * max(1.0, float(np.abs(base[flow.q]).max()))
        before = change = np.inf
        model, offsets = flow.model, flow.offsets
        for k in range(ITERATIONS):
            a = (x / h - v_0 - (0.5 - self.beta) * h * a_0) / (self.beta * h)
            compiled.displace(model, offsets, base, x, y)
            y[flow.v] = v_0 + h * ((1.0 - self.gamma) * a_0 + self.gamma * a)
            yd[flow.v] = ((1.0 - self.alpha_m) * a + self.alpha_m * a_0 - self.alpha_f * self.yd[flow.v]) / (
                1.0 - self.alpha_f
            )
            y[flow.lam] = lam
            if change <= SMALL * float(np.linalg.norm(weight * x)) + reach:
                break
            flow.residual(s, y, yd, F)
            new_size = self.factors is None or abs(self.factors[0] - h) > 1e-6 * h
            if self.factors is None or new_size or (k > 1 and change > SLOW * before):
                self.factors = h, self.tangent_solver(s, y, yd, x, rate, inertial)
            step = self.factors[1](np.concatenate([-F[flow.v] / inertial, -F[flow.mu]]))
            x = x + step[: len(x)]
            lam = lam + inertial * step[len(x) :]
            before, change = change, float(np.linalg.norm(weight * step[: len(x)]))
            if not change < np.inf:
                raise self.failure()
            self.counts["iterations"] += 1
        else:
            raise self.failure()
        self.finish(end, s, y, yd, a)

    def failure(self) -> ConvergenceError:
        return self.step_failure(
            f"Newton's method fails, though the step was halved {DEEPEST} times", "or try a smaller dt"
        )

    def with_drives(self, end: float) -> np.ndarray:
        """y₀ with the drives at their positions at the end of the step."""
        y, flow = self.y.copy(), self.flow
        for motion, row in zip(flow.assembly.drives, flow.offsets.drives, strict=True):
            if row[V_Y] >= 0:
                numbers = slice(int(row[V_Y]), int(row[V_Y] + row[V_SIZE]))
                y[numbers] = motion.positions(y[numbers], self.run.signals, np.array([self.time, end]))[0]
        return y

    def tangent_solver(
        self, s: np.ndarray, y: np.ndarray, yd: np.ndarray, x: np.ndarray, rate: float, inertial: float
    ) -> Solve:
        """The solver of [M + (C rate + K)/inertial, −Gᵀ; G, 0]; ∂q/∂x is ∂q/∂v times the tangent of exp."""
        flow = self.flow
        by_y, by_yd = (flow.matrix(data) for data in flow.derivatives(s, y, yd))
        self.counts["factorisations"] += 1
        q_by_x = self.by_exponential(-by_y[flow.q, flow.v], x)
        tangent = by_yd[flow.v, flow.v] + (rate * by_y[flow.v, flow.v] + by_y[flow.v, flow.q] @ q_by_x) / inertial
        solve = linear_solver(bordered(tangent, by_y[flow.v, flow.lam], by_y[flow.mu, flow.q] @ q_by_x))
        if solve is None:
            raise self.failure()
        return solve

    def by_exponential(self, q_by_v: np.ndarray | Matrix, x: np.ndarray) -> np.ndarray | Matrix:
        """∂q/∂x from ∂q/∂v: multiplied by T(x) of exp(x + δ) = exp(x) exp(T δ), not the identity for rotations in space."""
        out = q_by_v if isinstance(q_by_v, np.ndarray) else q_by_v.tolil()
        for body, q, v in zip(self.flow.model.bodies, *(self.flow.pattern.q, self.flow.pattern.v), strict=True):
            if body[t.N_ROT] == 3:
                columns = v[0] - self.flow.v.start + int(body[t.N_LIN]) + np.arange(3)
                angle, S = float(np.linalg.norm(x[columns])), skew(x[columns])
                cubic = (angle - np.sin(angle)) / angle**3 if angle > 1e-3 else 1.0 / 6.0
                T = np.eye(3) - 0.5 * np.sinc(angle / (2 * np.pi)) ** 2 * S + cubic * S @ S
                out[np.ix_(q, columns)] = out[np.ix_(q, columns)] @ T
        return out if isinstance(out, np.ndarray) else out.tocsc()

    def finish(self, end: float, s: np.ndarray, y: np.ndarray, yd: np.ndarray, a: np.ndarray) -> None:
        """Accepts the step: rates, works and gaps at its end."""
        flow, h = self.flow, end - self.time
        compiled.normalise(flow.model, flow.offsets, y)
        rest = flow.residual(s, y, np.zeros(flow.size), np.empty(flow.size))
        yd[flow.q], yd[flow.d] = -rest[flow.q], -rest[flow.d]
        compiled.settle_gaps(flow.model, flow.w, flow.offsets, end)
        power = flow.powers(s, y)
        self.works = self.works + 0.5 * h * (self.power + power)
        self.time, self.y, self.yd, self.a, self.power = end, y.copy(), yd.copy(), a, power
