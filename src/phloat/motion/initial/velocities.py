"""The velocities w = (v_P, ω, η̇) of all bodies as one vector: mass, joint rows, and whether they agree."""

from __future__ import annotations

import numpy as np

from phloat.algebra.sparse import Matrix, diagonal
from phloat.errors import InputError, JointError
from phloat.joints.rows import gap_units
from phloat.motion.initial.saddle import Saddle
from phloat.system.jointed import ends, gaps, half_turned, in_rows, in_velocities, joint_rows
from phloat.system.state import State
from phloat.system.system import System

CLOSED = 1e-7  # of the size of the mechanism, or of one for directions
AGREES = 1e-9
NOISE = 1e-9  # 1/s: of the size of the mechanism, or of one for directions
REMAINDER = 1e-3  # of all velocities: more is no remainder of a step


def mass(system: System, state: State) -> Matrix:
    """M(η) of all bodies, T = ½ wᵀMw."""
    blocks = []
    for name, body in system.bodies.items():
        blocks.append(body.inertia.at(state.pose(name).eta).M[np.ix_(body.columns, body.columns)])
    return diagonal(blocks)


def velocity_rows(system: System, state: State) -> tuple[Matrix, Matrix]:
    """G and B_λ for w: 0 = −G w + B_λ u."""
    return joint_rows(system, state, in_velocities(system))


def places_of(system: System) -> np.ndarray:
    """Where w stands in e."""
    columns = in_rows(system, system.layout).columns
    return np.concatenate([columns[name] for name in system.bodies])


def rigid_columns(system: System) -> np.ndarray:
    """Which of w are velocities of frames (the others are η̇)."""
    parts = [np.arange(len(body.columns)) < len(body.active) for body in system.bodies.values()]
    return np.concatenate(parts)


def with_velocities(system: System, state: State, w: np.ndarray) -> State:
    """The state with these velocities."""
    e = state.e.copy()
    e[places_of(system)] = w
    return State(state.bodies, state.layout, e)


def closed_or_said(system: System, state: State) -> None:
    """Raises InputError where a joint is open: lengths beside the size of the mechanism, directions beside one."""
    for name, gap in gaps(system, state).items():
        if (np.abs(gap) > CLOSED * gap_units(system.joints[name].closed, system.size)).any():
            raise InputError(f"joint {name!r} is open by {np.abs(gap).max():.3g}; close it with place(system, …)")
    for name, c in system.joints.items():
        if half_turned(c, *ends(c, state)):
            raise InputError(f"joint {name!r} is half a turn away from closed; close it with place(system, …)")


def agreed(system: System, state: State, u: np.ndarray, rows: tuple[Matrix, Matrix] | None = None) -> State:
    """The state with velocities that satisfy joints and drives: nodes of a run miss them by O(h²), which is projected away with
    the least change of kinetic energy; a miss that is no such remainder gets a sentence. `rows`: `velocity_rows`, where known."""
    G, B_lam = rows or velocity_rows(system, state)
    w, right = state.e[places_of(system)], B_lam @ u
    off = np.abs(G @ w - right) / gap_units([row for c in system.joints.values() for row in c.rows], system.size)
    if off.max(initial=0.0) <= NOISE:
        return state
    M = mass(system, state)
    saddle = Saddle(M, G)
    miss = np.abs(saddle.miss(w, right))
    worst = int(np.argmax(miss))
    # a drive by position has its velocity from differences, so at rest there is no more than their noise to compare with
    if miss.max() <= AGREES or off[worst] <= NOISE:
        return state
    if miss.max() > REMAINDER:
        raise JointError(
            f"velocities miss joint {system.multipliers.owner(worst)!r} by {np.abs(G @ w - right)[worst]:.3g}; "
            "make them agree with set_moving(system, state, …, u=…)"
        )
    return with_velocities(system, state, saddle.solve(M @ w, right)[0])
