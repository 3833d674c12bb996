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
from phloat.motion.initial.saddle import SaddleSystem
from phloat.motion.initial.statics import Balance, Statics, statics
from phloat.motion.initial.stiffness import nonconservative
from phloat.motion.initial.velocities import (
    accelerations,
    moving_start,
    require_closed,
    velocity_rows,
    warn_of_redundancy,
)
from phloat.motion.inputs.inputs import Inputs, as_inputs
from phloat.motion.law_ranges import warn_of_ranges_at
from phloat.system.state import State, computed_once
from phloat.system.system import System, fits

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


# --- equilibrium -----------------------------------------------------------------------------------------------------


# load steps and method, one after the other: of what stands by itself, and of what can move
STRUCTURE = ((1, newton), (8, newton), (1, descend), (40, newton))
UNSTABLE = -1e-9  # lowest stiffness, relative to that of the bodies and their loads
MECHANISM = ((1, descend), (1, newton), (8, newton), (40, newton))


@one_thread()
def equilibrium(
    system: System, state: State, *, u: Mapping[str, object] | Inputs | None = None, t: float = 0.0
) -> State:
    """The state at rest near the given one in which all forces balance: f(q) + Gᵀλ + B u(t) = 0 with every joint closed.

    A pendulum ends below its pivot, unless it starts exactly above it: an equilibrium that any disturbance leaves comes with an
    `UnstableEquilibriumWarning`. What no force moves stays as it is. Locked and driven axes stay where they stand. Under loads
    that turn with their section, which have no potential, any balance is an answer: whether it is stable `poles` tells.
    σ = C⁻¹ε(η), with the pre-stress that the given state has.

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
        No balance was found: start nearer, or load it less.

    Examples
    --------
    A torque of m g l / 2 holds a pendulum 60° below the horizontal, where m g l cos θ is as much:

    >>> arm = ph.RigidBody(mass=2.0, inertia=0.1 * np.eye(3), center=(0.5, 0.0, 0.0)).discretise()
    >>> hinge = ph.Revolute("ground", "arm.P", name="hinge")
    >>> pendulum = ph.connect({"arm": arm}, [hinge], gravity=(0.0, -9.81, 0.0), plane="xy")
    >>> state = ph.equilibrium(pendulum, ph.place(pendulum), u={"hinge": 0.5 * 2.0 * 9.81 * 0.5})
    >>> print(np.degrees(state["arm.theta"]).round(4))
    -60.0
    """
    state = fits(system, state)
    require_closed(system, state)
    inputs, now = as_inputs(system, u), float(finite("t", t, ()))
    _require_rest(system, inputs, now)
    task = statics(system, state, inputs.at(now))
    best: BalancePoint | None = None
    any_balance = bool(nonconservative(system, task.u))
    for load_steps, method in MECHANISM if _is_unstable(balance_point(task, task.start), 1e-6) else STRUCTURE:
        found = _solve_in_load_steps(task, load_steps, method)
        best = found if best is None or found.residual < best.residual else best
        if found.residual < GOOD_ENOUGH and (any_balance or method is descend or not _is_unstable(found)):
            best = found
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
        return check_state(system, state, t=now)
    raise AccuracyError(
        f"no equilibrium was found: the best try leaves forces out of balance by {best.residual:.1e} of their size, most on "
        f"{task.body_of(int(np.argmax(best.left)))!r}; start nearer with place(system, …), or load it less"
    )


def _solve_in_load_steps(
    task: Statics, load_steps: int, method: Callable[[Statics, State], BalancePoint]
) -> BalancePoint:
    """Applies the loads in equal steps."""
    state = task.start
    for k in range(1, load_steps + 1):
        part = k / load_steps
        lighter = replace(task.system, gravity=part * task.system.gravity)
        found = method(task if k == load_steps else replace(task, system=lighter, u=part * task.u), state)
        if found.residual > GOOD_ENOUGH:
            break
        state = found.state
    return found


def _is_unstable(here: BalancePoint, least: float = UNSTABLE) -> bool:
    return lowest_curvature(here, here.task.stiffness(here.state, here.lam)) < least


def _require_rest(system: System, inputs: Inputs, t: float) -> None:
    drives = inputs.driving()
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
    """The multipliers λ of every joint, moving or at rest: what it does to its second port, in the order of its rows.

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
        least ones are given (in rows of unit length), with a `RedundancyWarning`.

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
    state, inputs, now = moving_start(system, state, u, t)
    _, lam = accelerations(system, state, inputs, now)
    G = velocity_rows(system, state)[0]
    mu = dependencies(G)
    if mu.shape[1]:  # without the component in the null space of Gᵀ
        warn_of_redundancy(system, mu, stacklevel=3)
        length = row_lengths(G)
        scaled = length * lam
        lam = (scaled - mu @ (mu.T @ scaled)) / length
    return {name: lam[system.multipliers[name]] for name in system.multipliers}
