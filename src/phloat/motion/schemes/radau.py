"""Radau IIA with three stages: order 5, adaptive step, damps fast modes.

    F(t₀ + c_i h, Y_i, Ẏ_i) = 0,   Y_i = y₀ + h Σ a_ij Ẏ_j,   y₁ = Y₃

for positions, velocities and multipliers together. Joints are enforced as rates (index 2) and, by the multipliers μ of Gear, Gupta
and Leimkuhler, as gaps: both hold at the end of each step. Simplified Newton's method on transformed stages, error estimate
and step control as in E. Hairer and G. Wanner, Solving Ordinary Differential Equations II, IV.8, VII.7.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from phloat.errors import not_negative, positive
from phloat.motion.continuous import residual as compiled
from phloat.motion.continuous.pattern import Solve, linear_solver
from phloat.motion.continuous.stepper import MASS, ContinuousStepper, DenseStep, require_mass_matrix
from phloat.motion.result import Result
from phloat.motion.run.driver import run_to_end
from phloat.motion.run.task import Task

R6 = np.sqrt(6.0)
C = np.array([(4.0 - R6) / 10.0, (4.0 + R6) / 10.0, 1.0])
A = np.array(
    [
        [(88 - 7 * R6) / 360, (296 - 169 * R6) / 1800, (-2 + 3 * R6) / 225],
        [(296 + 169 * R6) / 1800, (88 + 7 * R6) / 360, (-2 - 3 * R6) / 225],
        [(16 - R6) / 36, (16 + R6) / 36, 1 / 9],
    ]
)
A_INVERSE = np.linalg.inv(A)
ERROR = np.array([-13.0 - 7.0 * R6, -13.0 + 7.0 * R6, -1.0]) / 3.0  # weights of the estimate, for the real eigenvalue
ITERATIONS = 8
REST = 1e-14  # of the duration: the smallest step


def _eigen() -> tuple[float, complex, np.ndarray, np.ndarray]:
    """A⁻¹ = V diag(γ, μ, μ*) V⁻¹: the real eigenvalue, one of the complex pair, V and V⁻¹."""
    values, V = np.linalg.eig(A_INVERSE)
    order = [int(np.argmin(np.abs(values.imag))), int(np.argmax(values.imag)), int(np.argmin(values.imag))]
    V = V[:, order]
    V = V / V[2]  # scaled to weight one for the last stage
    return float(values[order[0]].real), complex(values[order[1]]), V, np.linalg.inv(V)


GAMMA, MU, V, V_INVERSE = _eigen()


@dataclass(frozen=True)
class RadauIIA:
    """Order 5, adaptive step; dt, if given, is the first step.

    The error of a step is below rtol times the largest position, rotation or deformation of each body, or below atol (metres,
    radians). Errors of velocities are multiplied by the step.

    `mass` is "full" for M(u_f) of (10); "constant" for the mass matrix and momenta of the undeformed body, which the paper's §4.3
    and its Fig. 8 have: accelerations without ω̇ × u_f and ω × (ω × u_f), an energy that is not conserved, and a line
    "body.constant mass" of the ledger with the difference; "printed" for (32) to (34) as printed, z_u = ∂H/∂u_f: the energy is
    conserved, but the loads of rotation are twice too large.
    """

    rtol: float = 1e-6
    atol: float = 1e-8
    mass: str = field(default="full", metadata=MASS)

    def __post_init__(self) -> None:
        require_mass_matrix(self.mass)
        positive("rtol", self.rtol)
        not_negative("atol", self.atol)

    def run(self, task: Task) -> Result:
        return run_to_end(RadauSteps(task, self.rtol, self.atol, self.mass))


class RadauSteps(ContinuousStepper):
    """Steps of Radau IIA."""

    name, adaptive, consistent_rates = "RadauIIA", True, True
    counted = ("steps", "rejected", "iterations", "factorisations")

    def __init__(self, task: Task, rtol: float, atol: float, mass: str) -> None:
        super().__init__(task, mass)
        self.rtol, self.atol = rtol, atol
        self.newton = max(1e-14 / rtol, min(0.03, rtol**0.5))
        self.prepare()

    def begin(self, time: float, y: np.ndarray, yd: np.ndarray, works: np.ndarray) -> None:
        self.time, self.y, self.works = time, y.copy(), works
        self.h = self.first_step(y, yd) if self.counts["steps"] or self.flow.task.dt is None else self.flow.task.dt
        self.derivatives: tuple[np.ndarray, np.ndarray] | None = None
        self.factors: tuple[float, Solve, Solve] | None = None
        self.last: tuple[float, np.ndarray] | None = None  # size and stages of the previous step, for the initial guess
        self.before: tuple[float, float] | None = None  # size and error of the previous step
        self.yd = yd

    def first_step(self, y: np.ndarray, yd: np.ndarray) -> float:
        """A first step whose second-order change is a tenth of the tolerance, at most a thousandth of the duration."""
        duration = self.flow.task.t_end - self.flow.task.t_0
        curvature = self.norm((yd / self.scale(y, 1.0))[self.flow.v])
        return min(1e-3 * duration, (0.2 / curvature) ** 0.5 if curvature > 0.0 else np.inf)

    def scale(self, y: np.ndarray, h: float) -> np.ndarray:
        """The error tolerance of each entry of y, for a step h."""
        out = np.ones(self.flow.size)
        for numbers, rates in self.flow.kinds:
            out[numbers] = self.atol + self.rtol * float(np.abs(y[numbers]).max())
            out[rates] = out[numbers[0]] / h
        return out

    def norm(self, x: np.ndarray) -> float:
        """Root mean square over positions, velocities and drives; without multipliers."""
        part = x[: self.flow.lam.start]
        return float(np.sqrt(np.mean(part**2)))

    # --- one step ----------------------------------------------------------------------------------------------------

    def step(self, limit: float) -> DenseStep:
        """The next step that keeps the tolerance."""
        flow, duration = self.flow, self.flow.task.t_end - self.flow.task.t_0
        s_0 = flow.inputs(self.time)
        rejected = False
        while True:
            remaining = limit - self.time
            h = min(self.h, remaining)
            end = limit if h >= remaining * (1.0 - 1e-12) else self.time + h
            if remaining - h < 0.5 * h and end != limit:  # two equal steps rather than a long and a tiny one
                h, end = 0.5 * remaining, self.time + 0.5 * remaining
            if h < REST * duration or self.time + h == self.time:
                raise self.step_failure(f"the step fell to {h:.2g} s")
            h = end - self.time
            fresh = self.derivatives is None
            if self.derivatives is None:
                self.derivatives = flow.derivatives(s_0, self.y, self.yd)
                self.factors = None
            stages = [flow.inputs(time) for time in (self.time + C[0] * h, self.time + C[1] * h, end)]
            solution = self.solve_stages(h, stages)
            if solution is None:
                self.counts["rejected"] += 1
                if fresh:
                    self.h = 0.5 * h
                self.derivatives = None
                continue
            Z, count, rate = solution
            scale = self.scale(np.maximum(np.abs(self.y), np.abs(self.y + Z[2])), h)
            error = self.error(h, s_0, Z, scale, filter_again=rejected or self.before is None)
            safety = 0.9 * (2 * ITERATIONS + 1) / (2 * ITERATIONS + count)
            factor = safety * self.growth(h, error)
            if error > 1.0:
                self.counts["rejected"] += 1
                rejected = True
                self.h = h * max(0.2, min(factor, 0.9))
                continue
            return self.finish(end, Z, stages, factor, error, slow=count > 2 and rate > 1e-3)

    def solvers(self, h: float) -> tuple[float, Solve, Solve] | None:
        """The factors for a step h, the present ones if they fit; None if the equations are singular."""
        assert self.derivatives is not None
        if self.factors is not None and abs(self.factors[0] - h) <= 1e-9 * h:
            return self.factors
        by_y, by_yd = self.derivatives
        self.counts["factorisations"] += 1
        real, pair = (linear_solver(self.flow.matrix(by_y + value / h * by_yd)) for value in (GAMMA, MU))
        return None if real is None or pair is None else (h, real, pair)

    def solve_stages(self, h: float, stages: list[np.ndarray]) -> tuple[np.ndarray, int, float] | None:
        """Z_i = Y_i − y₀, the number of iterations, and their contraction; None if the iteration does not converge."""
        self.factors = self.solvers(h)
        if self.factors is None:
            return None
        flow, (_, real, pair) = self.flow, self.factors
        scale = self.scale(self.y, h)
        Z = self.guess(h)
        F = np.empty_like(Z)
        before, rate = 0.0, 0.0
        for k in range(ITERATIONS):
            slopes = A_INVERSE @ Z / h
            for i, s in enumerate(stages):
                flow.residual(s, self.y + Z[i], slopes[i], F[i])
            if not np.isfinite(F).all():
                return None
            self.counts["iterations"] += 1
            G = V_INVERSE[:2] @ F
            step = np.outer(V[:, 0].real, real(-G[0].real))
            step += 2.0 * np.outer(V[:, 1], pair(-G[1])).real
            change = max(self.norm(part / scale) for part in step)
            if k:
                rate = change / before
                iterations_left = ITERATIONS - k - 1
                if rate >= 1.0 or (
                    rate**iterations_left / (1.0 - rate) * change > self.newton and k + 1 < ITERATIONS and rate > 0.9
                ):
                    return None
            Z = Z + step
            before = change
            if change == 0.0 or (k and rate / (1.0 - rate) * change < self.newton):
                return Z, k + 1, rate
        return None

    def guess(self, h: float) -> np.ndarray:
        """The polynomial of the previous step, extrapolated."""
        if self.last is None:
            return np.outer(C * h, np.where(np.arange(self.flow.size) < self.flow.lam.start, self.yd, 0.0))
        h_0, Z = self.last
        return np.array([_interpolated(Z, 1.0 + c * h / h_0) for c in C]) - Z[2]

    def error(self, h: float, s_0: np.ndarray, Z: np.ndarray, scale: np.ndarray, *, filter_again: bool) -> float:
        """(γ/h ∂F/∂ẏ + ∂F/∂y)⁻¹ applied to −F(t₀, y₀, −Σ e_i Z_i / h); filtered again if it would reject a step."""
        assert self.factors is not None
        flow, solve = self.flow, self.factors[1]
        slope, F = -(ERROR @ Z) / h, np.empty(flow.size)
        estimate = solve(-flow.residual(s_0, self.y, slope, F))
        size = self.norm(estimate / scale)
        if filter_again and size > 1.0:
            estimate[flow.lam.start :] = 0.0
            estimate = solve(-flow.residual(s_0, self.y + estimate, slope, F))
            size = self.norm(estimate / scale)
        return max(size, 1e-12)

    def growth(self, h: float, error: float) -> float:
        """The factor of the step size, by the errors of this step and the previous one (Gustafsson)."""
        plain = error**-0.25
        h_0, error_0 = self.before or (h, error)
        return min(plain, h / h_0 * (error_0 / error) ** 0.25 * plain)

    def finish(
        self, end: float, Z: np.ndarray, stages: list[np.ndarray], factor: float, error: float, *, slow: bool
    ) -> DenseStep:
        """Accepts the step with these stages, and chooses the next step size."""
        flow, t_0, y_0, works_0 = self.flow, self.time, self.y, self.works
        h = end - t_0
        powers = np.array([flow.powers(s, y_0 + z) for s, z in zip(stages, Z, strict=True)])
        compiled.settle_gaps(flow.model, flow.w, flow.offsets, end)
        self.works = works_0 + h * A[2] @ powers
        self.yd = A_INVERSE[2] @ Z / h
        self.time, self.y, self.last, self.before = end, y_0 + Z[2], (h, Z), (h, max(error, 1e-2))
        compiled.normalise(flow.model, flow.offsets, self.y)
        self.counts["steps"] += 1
        factor = min(8.0, max(0.2, factor))
        if slow:
            self.derivatives = None
        self.h = h if 1.0 <= factor < 1.2 and not slow else h * factor

        def within(time: float) -> tuple[np.ndarray, np.ndarray]:
            x = (time - t_0) / h
            return y_0 + _interpolated(Z, x), works_0 + h * _integral(powers, x)

        return DenseStep(t_0, end, (self.y, self.works), within)


def _interpolated(Z: np.ndarray, x: float) -> np.ndarray:
    """The cubic through 0 and the stages, at x in units of the step."""
    weights = [np.prod([(x - d) / (c - d) for d in (0.0, *C) if d != c]) for c in C]
    return np.array(weights) @ Z


def _integral(powers: np.ndarray, x: float) -> np.ndarray:
    """The integral from 0 to x of the parabola through the stages."""
    vandermonde = np.vander(C, 3, increasing=True)
    weights = np.linalg.solve(vandermonde.T, np.array([x, x**2 / 2, x**3 / 3]))
    return weights @ powers
