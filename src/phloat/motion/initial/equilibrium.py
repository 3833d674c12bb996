"""Where a system comes to stand: statics with joints, gravity, springs and held inputs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from phloat.algebra.sparse import Matrix, dependencies, row_lengths
from phloat.algebra.threads import one_thread
from phloat.errors import AccuracyError, InputError, RedundancyWarning, UnstableEquilibriumWarning, finite
from phloat.motion.deformation import watched_state
from phloat.motion.initial.relax import GOOD_ENOUGH, Point, curvature, descended, newton, point
from phloat.motion.initial.statics import Statics, statics
from phloat.motion.initial.stiffness import nonconservative
from phloat.motion.initial.velocities import accelerations, agreed, closed_or_said, velocity_rows
from phloat.motion.inputs.inputs import Inputs, given_inputs
from phloat.motion.law_ranges import warn_of_ranges_at
from phloat.system.state import State
from phloat.system.system import System, fits

# load steps and method, one after the other: of what stands by itself, and of what can move
STRUCTURE = ((1, newton), (8, newton), (1, descended), (40, newton))
UNSTABLE = -1e-9  # lowest stiffness, beside that of the bodies and their loads
MECHANISM = ((1, descended), (1, newton), (8, newton), (40, newton))


@one_thread()
def equilibrium(
    system: System, state: State, *, u: Mapping[str, object] | Inputs | None = None, t: float = 0.0
) -> State:
    """The state at rest near the given one in which all forces balance: f(q) + Gᵀλ + B u(t) = 0 with every joint closed.

    A pendulum ends below its pivot, unless it starts exactly above it: an equilibrium that any disturbance leaves comes with an
    `UnstableEquilibriumWarning`. What no force moves stays as it is. Locked and driven axes stay where they stand. Under loads
    that turn with their section, which have no potential, any balance is an answer: whether it is stable `poles` tells.
    σ = C⁻¹ε(η), with the pre-stress that the given state has.
    """
    state = fits(system, state)
    closed_or_said(system, state)
    inputs, now = given_inputs(system, u), float(finite("t", t, ()))
    _at_rest(system, inputs, now)
    task = statics(system, state, inputs.at(now))
    best: Point | None = None
    any_balance = bool(nonconservative(system, task.u))
    for load_steps, method in MECHANISM if _unstable(point(task, task.start), 1e-6) else STRUCTURE:
        found = _found(task, load_steps, method)
        best = found if best is None or found.residual < best.residual else best
        if found.residual < GOOD_ENOUGH and (any_balance or method is descended or not _unstable(found)):
            best = found
            break
    assert best is not None
    if best.residual < GOOD_ENOUGH:
        if not any_balance:
            _warn_if_unstable(best)
        state = replace(state, e=best.state.e)
        warn_of_ranges_at(system, state)
        return watched_state(system, state, t=now)
    raise AccuracyError(
        f"no equilibrium was found: the best try leaves forces out of balance by {best.residual:.1e} of their size, most on "
        f"{task.body_of(int(np.argmax(best.left)))!r}; start nearer with place(system, …), or load it less"
    )


def _found(task: Statics, load_steps: int, method: Callable[[Statics, State], Point]) -> Point:
    """The loads put on in equal parts, one after the other."""
    state = task.start
    for k in range(1, load_steps + 1):
        part = k / load_steps
        lighter = replace(task.system, gravity=part * task.system.gravity)
        found = method(task if k == load_steps else replace(task, system=lighter, u=part * task.u), state)
        if found.residual > GOOD_ENOUGH:
            break
        state = found.state
    return found


def _unstable(here: Point, least: float = UNSTABLE) -> bool:
    return curvature(here, here.task.stiffness(here.state, here.lam)) < least


def _warn_if_unstable(here: Point) -> None:
    if _unstable(here):
        warnings.warn(
            "forces balance at this equilibrium, but any disturbance leaves it (an inverted pendulum, a column beyond its buckling "
            "load); start from a slightly disturbed state to find a stable one, or see how fast it is left: poles(linearise(…))",
            UnstableEquilibriumWarning,
            stacklevel=4,
        )


def _at_rest(system: System, inputs: Inputs, t: float) -> None:
    drives = inputs.driving()
    for name in drives.signals:
        if name not in drives.positions and np.any(rate := drives.at(t)[system.ports[name]]):
            raise InputError(
                f"{name!r} is driven at {', '.join(f'{x:g}' for x in rate)}; an equilibrium is at rest, settle(…) is for motion"
            )


# --- reactions -------------------------------------------------------------------------------------------------------
#
# What joints carry at a state.


def reactions(
    system: System, state: State, *, u: Mapping[str, object] | Inputs | None = None, t: float = 0.0
) -> dict[str, np.ndarray]:
    """The multipliers λ of every joint, moving or at rest: what it does to its second port, in the order of its rows.

    For rows that coincide these are forces in inertial axes. Where joints repeat each other their multipliers are not unique:
    the least ones are given (in rows of unit length), with a RedundancyWarning.
    """
    state = fits(system, state)
    inputs, now = given_inputs(system, u), float(finite("t", t, ()))
    closed_or_said(system, state)
    state = agreed(system, state, inputs.at(now))
    _, lam = accelerations(system, state, inputs, now)
    lam = least_multipliers(system, velocity_rows(system, state)[0], lam)
    return {name: lam[system.multipliers[name]] for name in system.multipliers}


def least_multipliers(system: System, G: Matrix, lam: np.ndarray) -> np.ndarray:
    """λ without what Gᵀ does not feel, and a warning with the joints that it is of."""
    mu = dependencies(G)
    if not mu.shape[1]:
        return lam
    owners = np.repeat(list(system.multipliers), [w.stop - w.start for w in system.multipliers.slices.values()])
    names = sorted({str(name) for name in owners[np.abs(mu).max(axis=1) > 1e-6]})
    said = ", ".join(map(repr, names[:8])) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    warnings.warn(
        f"joints {said} repeat each other in {mu.shape[1]} rows: the motion is right, their multipliers are not unique",
        RedundancyWarning,
        stacklevel=3,
    )
    length = row_lengths(G)
    scaled = length * lam
    return (scaled - mu @ (mu.T @ scaled)) / length
