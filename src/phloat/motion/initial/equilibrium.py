"""Static equilibrium under gravity, springs and constant inputs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from phloat.algebra.sparse import Matrix, dependencies, row_lengths
from phloat.algebra.threads import one_thread
from phloat.errors import AccuracyError, InputError, UnstableEquilibriumWarning, finite
from phloat.motion.deformation import check_state
from phloat.motion.initial.relax import GOOD_ENOUGH, BalancePoint, balance_point, descend, lowest_curvature, newton
from phloat.motion.initial.statics import Statics, statics
from phloat.motion.initial.stiffness import nonconservative
from phloat.motion.initial.velocities import (
    accelerations,
    consistent_state,
    require_closed,
    velocity_rows,
    warn_of_redundancy,
)
from phloat.motion.inputs.inputs import Inputs, as_inputs
from phloat.motion.law_ranges import warn_of_ranges_at
from phloat.system.state import State
from phloat.system.system import System, fits

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
        if not any_balance:
            _warn_if_unstable(best)
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


def _warn_if_unstable(here: BalancePoint) -> None:
    if _is_unstable(here):
        warnings.warn(
            "forces balance at this equilibrium, but any disturbance leaves it (an inverted pendulum, a column beyond its buckling "
            "load); start from a slightly disturbed state to find a stable one, or see how fast it is left: poles(linearise(…))",
            UnstableEquilibriumWarning,
            stacklevel=4,
        )


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
    state = fits(system, state)
    inputs, now = as_inputs(system, u), float(finite("t", t, ()))
    require_closed(system, state)
    state = consistent_state(system, state, inputs.at(now))
    _, lam = accelerations(system, state, inputs, now)
    lam = minimal_multipliers(system, velocity_rows(system, state)[0], lam)
    return {name: lam[system.multipliers[name]] for name in system.multipliers}


def minimal_multipliers(system: System, G: Matrix, lam: np.ndarray) -> np.ndarray:
    """λ without its component in the null space of Gᵀ, with a warning that names the joints."""
    mu = dependencies(G)
    if not mu.shape[1]:
        return lam
    warn_of_redundancy(system, mu, stacklevel=4)
    length = row_lengths(G)
    scaled = length * lam
    return (scaled - mu @ (mu.T @ scaled)) / length
