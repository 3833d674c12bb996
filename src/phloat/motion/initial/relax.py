"""Solvers for balance of forces: Newton's method, and descent of the potential."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from phloat.algebra.sparse import Matrix, csr, null_space
from phloat.motion.initial.saddle import SaddleSystem
from phloat.motion.initial.statics import Balance, Statics
from phloat.motion.initial.velocities import velocity_rows
from phloat.system.state import State, computed_once

NEWTON, DOWN = 40, 100  # iterations
LONGEST = 0.7  # radians, or extents of the system, in one step
NEUTRAL = 1e-9  # weight that holds what no force moves
DENSE = 400  # unknowns up to which the lowest curvature is computed
CLOSED = 1e-13  # of the extent of the system, or of one for directions
BALANCED, GOOD_ENOUGH = 1e-12, 1e-8  # residual forces, relative to those that balance


@dataclass(frozen=True, eq=False)
class BalancePoint:
    """A state on the way with its forces, and W x = f + Gᵀλ, G x = 0 solved: λ, and by x what is left out of balance."""

    task: Statics
    state: State
    at: Balance

    @cached_property
    def metric(self) -> SaddleSystem:
        return SaddleSystem(self.task.soft, self.at.G)

    @cached_property
    def least(self) -> tuple[np.ndarray, np.ndarray]:
        return self.metric.solve(self.at.f, np.zeros(self.at.G.shape[0]))

    @property
    def lam(self) -> np.ndarray:
        return self.least[1]

    @cached_property
    def left(self) -> np.ndarray:
        """Residual forces, each relative to the sum of its terms and a little of the largest force, now or at the start."""
        size = (self.at.size + abs(self.at.G).T @ np.abs(self.lam)) * self.metric.scale
        most = max(size.max(initial=0.0), self.task.force, 1e-300)
        return np.abs(self.task.soft @ self.least[0]) * self.metric.scale / (size + 1e-3 * most)

    @cached_property
    def residual(self) -> float:
        return float(self.left.max(initial=0.0))


def balance_point(task: Statics, state: State) -> BalancePoint:
    return computed_once(state, (task, "point"), lambda: BalancePoint(task, state, task.balance(state)))


def newton(task: Statics, state: State) -> BalancePoint:
    """Newton's method with stress as an unknown of its own, eliminated: K takes the stress that the last step foresaw, so
    that bending does not have to wait for the stiff stretch it causes. Fast, and blind for which equilibrium it finds."""
    here = best = balance_point(task, state)
    lam, foreseen, last = np.zeros(here.at.G.shape[0]), state, 0
    for k in range(NEWTON):
        if best.residual < BALANCED or (best.residual < GOOD_ENOUGH and k > last + 2):
            break
        K = task.stiffness(foreseen, lam) + NEUTRAL * task.rate * task.mass
        found = _try_solve(SaddleSystem(csr(K), here.at.G, task.stiff), here.at.f, -task.gap(here.state))
        if found is None:
            break
        part = _largest_part(task, found[0])
        lam = lam + part * (found[1] - lam)
        state, foreseen = task.foreseen(here.state, foreseen, part * found[0], part)
        task.require_bounded(state)
        here = balance_point(task, state)
        if task.open_by(state) < CLOSED and here.residual < 0.9 * best.residual:
            best, last = here, k
    return best


def descend(task: Statics, state: State) -> BalancePoint:
    """Newton's method kept on the joints and led down the potential by weights μW (Levenberg, Marquardt)."""
    here = best = balance_point(task, state)
    mu, stuck = 0.0, 0
    for _ in range(DOWN):
        if here.residual < BALANCED or stuck > 3:
            break
        there, mu = _descent_step(here, mu)
        if there is None:
            break
        stuck = stuck + 1 if there.residual > 0.5 * best.residual and there.residual < GOOD_ENOUGH else 0
        here = there
        task.require_bounded(here.state)
        best = min(best, here, key=lambda p: p.residual)
    return best


def _descent_step(here: BalancePoint, mu: float) -> tuple[BalancePoint | None, float]:
    """One step that lowers the potential: K + μW is made positive definite where possible, and μ grows until the step succeeds."""
    task = here.task
    K, gap = task.stiffness(here.state, here.lam), task.gap(here.state)
    mu = max(mu, -1.5 * lowest_curvature(here, K))
    for _ in range(20):
        saddle = SaddleSystem(csr(K + mu * task.soft + NEUTRAL * task.rate * task.mass), here.at.G, task.stiff)
        found = _try_solve(saddle, here.at.f, -gap)
        there = None if found is None else _lower_point(here, saddle, found[0])
        if there is not None:
            return there, mu / 30 if mu > 1e-6 else 0.0
        mu = max(8 * mu, 1e-4)
    return None, mu


def lowest_curvature(here: BalancePoint, K: Matrix) -> float:
    """The lowest eigenvalue of K relative to W on motions that the joints allow; 0 where that would cost too much."""
    if K.shape[0] > DENSE:
        return 0.0
    S = sp.diags_array(1.0 / here.task.stiff)
    Z = null_space(csr(here.at.G @ S))
    if not Z.shape[1]:
        return 0.0
    own, weight = ((Z.T @ (S @ matrix @ S) @ Z).toarray() for matrix in (K, here.task.soft))
    return float(la.eigh(own + own.T, 2 * weight, eigvals_only=True, subset_by_index=[0, 0])[0])


def _lower_point(here: BalancePoint, saddle: SaddleSystem, step: np.ndarray) -> BalancePoint | None:
    """The point after the step, or a shorter one, if it lies lower; else None."""
    task, downhill = here.task, float(step @ (saddle.M @ step))
    if downhill < 0.0:
        return None
    part, height = _largest_part(task, step), task.energy(here.state)
    noise = 1e-12 * (here.at.size @ np.abs(step) + abs(height))
    for _ in range(5):
        state = _step_on_joints(here, part * step)
        if state is not None:
            there = balance_point(task, state)
            change = task.energy(state) - height - 0.5 * part * (here.at.push + there.at.push) @ step
            nearer = there.residual < max(0.9 * here.residual, BALANCED)
            if change < -1e-4 * part * downhill or (change < noise and nearer):
                return there
        part *= 0.5
    return None


def _step_on_joints(here: BalancePoint, step: np.ndarray) -> State | None:
    """The state after a step, its gaps closed again by the softest motion; None where that does not succeed."""
    task, state, metric = here.task, here.task.moved(here.state, step), here.metric
    for _ in range(12):
        gap, size = task.gap(state), task.open_by(state)
        if size < CLOSED:
            return state
        if size > 1.0:
            return None
        if size > 1e-6:  # nearer by, the last rows will do
            metric = SaddleSystem(task.soft, velocity_rows(task.system, state)[0])
        state = task.moved(state, metric.solve(np.zeros(len(task.where)), -gap)[0])
    return None


def _try_solve(saddle: SaddleSystem, f: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    try:
        step, lam = saddle.solve(f, b)
    except RuntimeError:  # exactly singular
        return None
    return (step, lam) if np.isfinite(step).all() else None


def _largest_part(task: Statics, step: np.ndarray) -> float:
    """How much of a step may be taken at once."""
    return min(1.0, LONGEST / max(float(np.abs(step / task.units)[task.rigid].max(initial=0.0)), 1e-300))
