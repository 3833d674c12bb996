"""Static equilibrium under gravity, springs and constant inputs (Newton, or descent of the potential); reactions of joints."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from phloat.algebra.sparse import Matrix, csr, dependencies, null_space, row_lengths
from phloat.algebra.threads import one_thread
from phloat.errors import AccuracyError, InputError, UnstableEquilibriumWarning, finite
from phloat.motion.deformation import check_state
from phloat.motion.initial.accelerations import accelerations, moving_start
from phloat.motion.initial.saddle import SaddleSystem
from phloat.motion.initial.statics import Balance, Statics, statics
from phloat.motion.initial.stiffness import nonconservative
from phloat.motion.initial.unheld import unheld
from phloat.motion.initial.velocities import require_closed, velocity_rows, warn_of_redundancy
from phloat.motion.inputs.inputs import Inputs, as_inputs
from phloat.motion.law_ranges import warn_of_ranges_at
from phloat.system.state import State, computed_once
from phloat.system.system import System, fits

NEWTON_STEPS, DESCENT_STEPS = 40, 100  # iterations
LONGEST = 0.7  # radians, or extents of the system, in one step
NEUTRAL = 1e-9  # weight that fixes motions on which no force acts
DENSE = 400  # unknowns up to which the lowest curvature is computed
CLOSED = 1e-13  # of the extent of the system, or of one for directions
BALANCED, GOOD_ENOUGH = 1e-12, 1e-8  # residual forces, relative to those that balance


@dataclass(frozen=True, eq=False)
class BalancePoint:
    """A state, the forces on it, and the solution of W x = f + Gᵀλ, G x = 0.

    λ balances the forces as well as joints can; W x is the residual force.
    """

    task: Statics
    state: State
    balance: Balance

    @cached_property
    def metric(self) -> SaddleSystem:
        return SaddleSystem(self.task.metric, self.balance.G)

    @cached_property
    def solution(self) -> tuple[np.ndarray, np.ndarray]:
        """x and λ."""
        return self.metric.solve(self.balance.f, np.zeros(self.balance.G.shape[0]))

    @property
    def lam(self) -> np.ndarray:
        return self.solution[1]

    @cached_property
    def relative_residuals(self) -> np.ndarray:
        """Residual forces, each relative to the sum of the magnitudes of its terms.

        A thousandth of the largest force (at this state or at the start) is added to that sum, which avoids division by zero.
        """
        size = (self.balance.size + abs(self.balance.G).T @ np.abs(self.lam)) * self.metric.scale
        largest = max(size.max(initial=0.0), self.task.force, 1e-300)
        return np.abs(self.task.metric @ self.solution[0]) * self.metric.scale / (size + 1e-3 * largest)

    @cached_property
    def residual(self) -> float:
        """The largest relative residual."""
        return float(self.relative_residuals.max(initial=0.0))


def balance_point(task: Statics, state: State) -> BalancePoint:
    """The balance of forces at a state, computed once for each state."""
    return computed_once(state, (task, "point"), lambda: BalancePoint(task, state, task.balance(state)))


def newton(task: Statics, state: State) -> BalancePoint:
    """Newton's method with stress as an additional unknown, which is eliminated.

    K is evaluated with the stress that the last step predicted, so that bending does not wait for the stiff axial motion that it
    causes. Fast, but it may converge to an unstable equilibrium.
    """
    point = best = balance_point(task, state)
    lam, predicted, last = np.zeros(point.balance.G.shape[0]), state, 0
    for k in range(NEWTON_STEPS):
        if best.residual < BALANCED or (best.residual < GOOD_ENOUGH and k > last + 2):
            break
        K = task.stiffness(predicted, lam) + NEUTRAL * task.rate * task.mass
        solution = _try_solve(
            SaddleSystem(csr(K), point.balance.G, task.force_scale), point.balance.f, -task.gap(point.state)
        )
        if solution is None:
            break
        part = _largest_part(task, solution[0])
        lam = lam + part * (solution[1] - lam)
        state, predicted = task.predict(point.state, predicted, part * solution[0], part)
        _require_bounded(task, state)
        point = balance_point(task, state)
        if task.largest_gap(state) < CLOSED and point.residual < 0.9 * best.residual:
            best, last = point, k
    return best


def descend(task: Statics, state: State) -> BalancePoint:
    """Damped Newton's method (Levenberg, Marquardt, weights μW) that keeps joints closed and lowers the potential energy."""
    point = best = balance_point(task, state)
    mu, stuck = 0.0, 0
    for _ in range(DESCENT_STEPS):
        if point.residual < BALANCED or stuck > 3:
            break
        next_point, mu = _descent_step(point, mu)
        if next_point is None:
            break
        stuck = stuck + 1 if next_point.residual > 0.5 * best.residual and next_point.residual < GOOD_ENOUGH else 0
        point = next_point
        _require_bounded(task, point.state)
        best = min(best, point, key=lambda p: p.residual)
    return best


def _descent_step(point: BalancePoint, mu: float) -> tuple[BalancePoint | None, float]:
    """The next point with a lower potential energy, or None if there is none, and the next μ.

    K + μW is made positive definite where that is possible, and μ grows until a step succeeds.
    """
    task = point.task
    K, gap = task.stiffness(point.state, point.lam), task.gap(point.state)
    mu = max(mu, -1.5 * lowest_curvature(point, K))
    for _ in range(20):
        saddle = SaddleSystem(
            csr(K + mu * task.metric + NEUTRAL * task.rate * task.mass), point.balance.G, task.force_scale
        )
        solution = _try_solve(saddle, point.balance.f, -gap)
        next_point = None if solution is None else _lower_trial_point(point, saddle, solution[0])
        if next_point is not None:
            return next_point, mu / 30 if mu > 1e-6 else 0.0
        mu = max(8 * mu, 1e-4)
    return None, mu


def lowest_curvature(point: BalancePoint, K: Matrix) -> float:
    """The lowest eigenvalue of K relative to W on motions that joints allow; 0 for more than `DENSE` unknowns."""
    if K.shape[0] > DENSE:
        return 0.0
    S = sp.diags_array(1.0 / point.task.force_scale)
    Z = null_space(csr(point.balance.G @ S))
    if not Z.shape[1]:
        return 0.0
    curvature, weight = ((Z.T @ (S @ matrix @ S) @ Z).toarray() for matrix in (K, point.task.metric))
    return float(la.eigh(curvature + curvature.T, 2 * weight, eigvals_only=True, subset_by_index=[0, 0])[0])


def _lower_trial_point(point: BalancePoint, saddle: SaddleSystem, step: np.ndarray) -> BalancePoint | None:
    """The point after the step, or after a shorter one, if its potential energy is lower; else None."""
    task, downhill = point.task, float(step @ (saddle.M @ step))
    if downhill < 0.0:
        return None
    part, height = _largest_part(task, step), task.energy(point.state)
    noise = 1e-12 * (point.balance.size @ np.abs(step) + abs(height))
    for _ in range(5):
        state = _step_on_joints(point, part * step)
        if state is not None:
            trial = balance_point(task, state)
            change = task.energy(state) - height - 0.5 * part * (point.balance.push + trial.balance.push) @ step
            nearer = trial.residual < max(0.9 * point.residual, BALANCED)
            if change < -1e-4 * part * downhill or (change < noise and nearer):
                return trial
        part *= 0.5
    return None


def _step_on_joints(point: BalancePoint, step: np.ndarray) -> State | None:
    """The state after a step, with gaps closed again by the motion of least W; None if that does not converge."""
    task, state, metric = point.task, point.task.displace(point.state, step), point.metric
    for _ in range(12):
        gap, size = task.gap(state), task.largest_gap(state)
        if size < CLOSED:
            return state
        if size > 1.0:
            return None
        if size > 1e-6:  # for smaller gaps the last rows are accurate enough
            metric = SaddleSystem(task.metric, velocity_rows(task.system, state)[0])
        state = task.displace(state, metric.solve(np.zeros(len(task.indices)), -gap)[0])
    return None


def _try_solve(saddle: SaddleSystem, f: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The step and λ; None if the matrix is singular."""
    try:
        step, lam = saddle.solve(f, b)
    except RuntimeError:  # exactly singular
        return None
    return (step, lam) if np.isfinite(step).all() else None


def _largest_part(task: Statics, step: np.ndarray) -> float:
    """The largest fraction of a step, at most 1, in which no body moves farther than `LONGEST`."""
    return min(1.0, LONGEST / max(float(np.abs(step / task.units)[task.rigid].max(initial=0.0)), 1e-300))


# --- equilibrium -----------------------------------------------------------------------------------------------------


# load steps and methods in the order in which they are tried: for structures, and for mechanisms
STRUCTURE = ((1, newton), (8, newton), (1, descend), (40, newton))
UNSTABLE = -1e-9  # lowest stiffness, relative to that of the bodies and their loads
MECHANISM = ((1, descend), (1, newton), (8, newton), (40, newton))


@one_thread()
def equilibrium(
    system: System, state: State, *, u: Mapping[str, object] | Inputs | None = None, t: float = 0.0
) -> State:
    """The state at rest near `state` in which all forces balance: f(q) + Gᵀλ + B u(t) = 0 with every joint closed.

    A pendulum ends below its pivot, unless it starts exactly above it: an unstable equilibrium is returned with an
    `UnstableEquilibriumWarning`. Motions on which no force acts stay zero; locked and driven axes keep their positions. Loads that
    turn with their section have no potential: then any balance is returned, and `poles` says whether it is stable.
    σ = C⁻¹ε(η), plus the pre-stress of `state`.

    Parameters
    ----------
    system : System
    state : State
        Where the search starts, with every joint closed (`place`).
    u : dict, optional
        Inputs as for `simulate`, taken as constant; drives must be at rest.
    t : float
        Time at which the inputs are taken, s.

    Returns
    -------
    State

    Raises
    ------
    AccuracyError
        No equilibrium was found: start nearer, or reduce the loads.

    Examples
    --------
    A torque of m g l / 2 balances a pendulum 60° below the horizontal, where m g l cos θ is as large:

    >>> arm = ph.RigidBody(mass=2.0, inertia=0.1 * np.eye(3), center=(0.5, 0.0, 0.0)).discretise()
    >>> hinge = ph.Revolute("ground", "arm.P", name="hinge")
    >>> pendulum = ph.connect({"arm": arm}, [hinge], gravity=(0.0, -9.81, 0.0), plane="xy")
    >>> state = ph.equilibrium(pendulum, ph.place(pendulum), u={"hinge": 0.5 * 2.0 * 9.81 * 0.5})
    >>> print(np.degrees(state["arm.theta"]).round(4))
    -60.0
    """
    state = fits(system, state)
    require_closed(system, state)
    inputs, time = as_inputs(system, u), float(finite("t", t, ()))
    _require_rest(system, inputs, time)
    task = statics(system, state, inputs.at(time))
    best: BalancePoint | None = None
    any_balance = bool(nonconservative(system, task.u))
    for load_steps, method in MECHANISM if _is_unstable(balance_point(task, task.start), 1e-6) else STRUCTURE:
        point = _solve_in_load_steps(task, load_steps, method)
        best = point if best is None or point.residual < best.residual else best
        if point.residual < GOOD_ENOUGH and (any_balance or method is descend or not _is_unstable(point)):
            best = point
            break
    assert best is not None
    if best.residual < GOOD_ENOUGH:
        if not any_balance and _is_unstable(best):
            warnings.warn(
                "forces balance at this equilibrium, but any disturbance leaves it (an inverted pendulum, a column beyond its "
                "buckling load); start from a slightly disturbed state to find a stable one, or see how fast it is left: "
                "poles(linearise(…))",
                UnstableEquilibriumWarning,
                stacklevel=3,
            )
        state = replace(state, e=best.state.e)
        warn_of_ranges_at(system, state)
        return check_state(system, state, t=time)
    unbalanced = (
        f"forces stay out of balance by {best.residual:.1e} of their size, most on "
        f"{task.body_of(int(np.argmax(best.relative_residuals)))!r}; start nearer with place(system, …), or load it less"
    )
    raise AccuracyError(f"no equilibrium was found: {unheld(task, best.state) or unbalanced}")


def _solve_in_load_steps(
    task: Statics, load_steps: int, method: Callable[[Statics, State], BalancePoint]
) -> BalancePoint:
    """The point after the loads were applied in equal steps; earlier if a step does not converge."""
    state = task.start
    for k in range(1, load_steps + 1):
        part = k / load_steps
        lighter = replace(task.system, gravity=part * task.system.gravity)
        point = method(task if k == load_steps else replace(task, system=lighter, u=part * task.u), state)
        if point.residual > GOOD_ENOUGH:
            break
        state = point.state
    return point


def _require_bounded(task: Statics, state: State) -> None:
    """Raises InputError if a body is far from its start: nothing holds it."""
    if name := task.runaway(state):
        held = f"{name!r} runs away: nothing holds it against its loads; join it, or put a spring to it"
        why = unheld(task, task.start)
        raise InputError(f"{name!r} runs away: {why}" if why else held)


def _is_unstable(point: BalancePoint, threshold: float = UNSTABLE) -> bool:
    """Whether the lowest curvature is below the threshold."""
    return lowest_curvature(point, point.task.stiffness(point.state, point.lam)) < threshold


def _require_rest(system: System, inputs: Inputs, t: float) -> None:
    """Raises InputError if a drive moves at t."""
    drives = inputs.drives_only()
    for name in drives.signals:
        if name not in drives.paths and np.any(rate := drives.at(t)[system.ports[name]]):
            raise InputError(
                f"{name!r} is driven at {', '.join(f'{x:g}' for x in rate)}; an equilibrium is at rest, settle(…) is for motion"
            )


# --- reactions -------------------------------------------------------------------------------------------------------
#
# Multipliers of joints at a state.


def reactions(
    system: System, state: State, *, u: Mapping[str, object] | Inputs | None = None, t: float = 0.0
) -> dict[str, np.ndarray]:
    """The multipliers λ of every joint, moving or at rest: the forces on its second port, in the order of its rows.

    Parameters
    ----------
    system : System
    state : State
        Positions and velocities that agree with the joints (`place`, `set_moving`).
    u : dict, optional
        Inputs as for `simulate`.
    t : float
        Time at which the inputs are taken, s.

    Returns
    -------
    dict of str to (rows,) ndarray
        By joint: N for rows that hold points together (in inertial axes where all of them coincide), N m for rows that hold
        directions, then the efforts of drives and locks. Where joints repeat each other their multipliers are not unique: the
        smallest ones are returned (in rows of unit length), with a `RedundancyWarning`.

    Examples
    --------
    A pendulum of 2 kg at rest hangs from its hinge with m g = 19.62 N:

    >>> arm = ph.RigidBody(mass=2.0, inertia=0.1 * np.eye(3), center=(0.5, 0.0, 0.0)).discretise()
    >>> hinge = ph.Revolute("ground", "arm.P", name="hinge")
    >>> pendulum = ph.connect({"arm": arm}, [hinge], gravity=(0.0, -9.81, 0.0), plane="xy")
    >>> state = ph.place(pendulum, {"hinge.angle": -np.pi / 2})
    >>> print(ph.reactions(pendulum, state)["hinge"].round(6) + 0.0)
    [ 0.   19.62]
    """
    state, inputs, time = moving_start(system, state, u, t)
    _, lam = accelerations(system, state, inputs, time)
    G = velocity_rows(system, state)[0]
    mu = dependencies(G)
    if mu.shape[1]:  # without the component in the null space of Gᵀ
        warn_of_redundancy(system, mu, stacklevel=3)
        length = row_lengths(G)
        scaled = length * lam
        lam = (scaled - mu @ (mu.T @ scaled)) / length
    return {name: lam[system.multipliers[name]] for name in system.multipliers}
