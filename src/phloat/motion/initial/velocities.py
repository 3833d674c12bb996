"""The velocities w = (v_P, ω, η̇) of all bodies as one vector: mass matrix, joint rows, consistency."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

import numpy as np
import scipy.linalg as la

from phloat.algebra.sparse import Matrix, dependencies, diagonal
from phloat.errors import InputError, JointError, PortError, RedundancyWarning, unknown
from phloat.joints.rows import gap_units, row_gaps
from phloat.motion.initial.saddle import SaddleSystem
from phloat.system.joint_rows import (
    columns_in_velocities,
    gaps,
    grouped_ports,
    grouped_rates,
    half_turns,
    joint_rows,
)
from phloat.system.state import State, check_quantity
from phloat.system.system import System

CLOSED = 1e-7  # of the size of the mechanism, or of one for directions
CONSISTENT = 1e-9
CONSISTENT_RATE = 1e-9  # 1/s: of the size of the mechanism, or of one for directions
PROJECTABLE = 1e-3  # of all velocities: more is no remainder of a step


def mass(system: System, state: State) -> Matrix:
    """M(η) of all bodies: T = ½ wᵀMw."""
    blocks = []
    for name, body in system.bodies.items():
        blocks.append(body.inertia.at(state.pose(name).eta).M[np.ix_(body.columns, body.columns)])
    return diagonal(blocks)


def velocity_rows(system: System, state: State) -> tuple[Matrix, Matrix]:
    """G and B_λ for w: 0 = −G w + B_λ u."""
    return joint_rows(system, state, columns_in_velocities(system))


def velocity_indices(system: System) -> np.ndarray:
    """Indices of w in the state vector e."""
    return system.joint_groups.in_state


def rigid_columns(system: System) -> np.ndarray:
    """Which entries of w are velocities of frames (the others are η̇), as a mask."""
    return np.concatenate([np.arange(len(body.columns)) < len(body.active) for body in system.bodies.values()])


def with_velocities(system: System, state: State, w: np.ndarray) -> State:
    """A copy of the state with velocities w."""
    e = state.e.copy()
    e[velocity_indices(system)] = w
    return State(state.bodies, state.layout, e)


def require_closed(system: System, state: State) -> None:
    """Raises InputError if a joint is open; lengths are relative to the size of the mechanism, directions to one."""
    widest: dict[str, float] = {}  # of open joints
    for group, first, second in grouped_ports(system, state):
        gap = np.abs(row_gaps(group.closed, first, second))
        for k in np.flatnonzero((gap > CLOSED * gap_units(group.closed, system.size)).any(axis=-1)):
            widest[group.joints[k].name] = gap[k].max()
    if name := next((name for name in system.joints if name in widest), ""):
        raise InputError(f"joint {name!r} is open by {widest[name]:.3g}; close it with place(system, …)")
    for name in half_turns(system, state):
        raise InputError(f"joint {name!r} is half a turn away from closed; close it with place(system, …)")


def consistent_state(system: System, state: State, u: np.ndarray, rows: tuple[Matrix, Matrix] | None = None) -> State:
    """The state with velocities that satisfy joints and drives.

    At the nodes of a run velocities miss them by O(h²); this is removed with the least change of kinetic energy. Raises
    JointError if they miss by more. `rows` are `velocity_rows(system, state)`, if they have been computed already.
    """
    G, B_lam = rows or velocity_rows(system, state)
    w, rhs = state.e[velocity_indices(system)], B_lam @ u
    misfit = np.abs(G @ w - rhs) / system.size**system.joint_groups.length_powers
    if misfit.max(initial=0.0) <= CONSISTENT_RATE:
        return state
    M = mass(system, state)
    saddle = SaddleSystem(M, G)
    miss = np.abs(saddle.miss(w, rhs))
    k = int(np.argmax(miss))
    # the velocity of a drive by position is a difference, whose noise dominates at rest
    if miss.max() <= CONSISTENT or misfit[k] <= CONSISTENT_RATE:
        return state
    if miss.max() > PROJECTABLE:
        raise JointError(
            f"velocities miss joint {system.multipliers.owner(k)!r} by {np.abs(G @ w - rhs)[k]:.3g}; "
            "make them agree with set_moving(system, state, …, u=…)"
        )
    return with_velocities(system, state, saddle.solve(M @ w, rhs)[0])


def sort_values(
    system: System, kind: str, values: Mapping[str, object], quantities: Collection[str], of_joints: Collection[str]
) -> tuple[dict[str, np.ndarray], dict[str, object]]:
    """Splits prescribed values into those of bodies, checked, and those of joints. Raises PortError for other names."""
    names = [name for name in system.layout if name.rpartition(".")[2] in quantities]
    for name in values:
        if name not in names and name not in of_joints:
            raise PortError(unknown(kind, name, [*names, *of_joints]))
    of_bodies = {name: check_quantity(system.layout, name, value) for name, value in values.items() if name in names}
    return of_bodies, {name: value for name, value in values.items() if name not in of_bodies}


def displaced_state(system: System, state: State, step: np.ndarray) -> State:
    """The state after a small motion along w: r_P + A δx, A exp(δφ) (both in body axes), η + δη; σ unchanged."""
    return replace(state, e=system.joint_groups.frames.displaced(state.e, step))


# --- redundant rows ---------------------------------------------------------------------------------------------------
#
# Rows of joints that follow from others wherever the mechanism moves.
#
# At a dead point rows are dependent at one configuration only. They must not be dropped: a step evaluates its rows at another
# configuration. So the rank is computed at the state and again at a nearby state.


NEARBY = 1e-2  # metres or radians
CLOSING_STEPS = 30
CLEAR = 1e-3  # of rows of unit length: a singular value that is far from zero


def redundant_rows(system: System, state: State, G: Matrix | None = None) -> tuple[int, ...]:
    """Indices of joint rows that always follow from others; warns with the names of their joints.

    G is `velocity_rows(system, state)[0]`, if it has been computed already.
    """
    if not system.multipliers.size or _joints_are_independent(system, state):
        return ()
    G = velocity_rows(system, state)[0] if G is None else G
    local = dependencies(G)
    if not local.shape[1]:
        return ()
    mu = dependencies(velocity_rows(system, _nearby_state(system, state, G))[0])
    if not mu.shape[1]:
        return ()
    warn_of_redundancy(system, mu, stacklevel=5)
    return tuple(int(k) for k in sorted(dependent_rows(mu)))


def _joints_are_independent(system: System, state: State) -> bool:
    """Whether joints close no loop, and the rows of each are independent, clearly, in the rigid motion of either body: then no
    row follows from others, as those of the last joint of a branch involve a body that no other joint moves."""
    if not system.joint_groups.is_tree:
        return False
    for group, rates in grouped_rates(system, state):
        for end, rate in zip((group.first, group.second), rates, strict=True):
            if group.rows and end.columns.size:
                J = rate[..., end.columns < 6]
                length = np.linalg.norm(J, axis=-1, keepdims=True)
                J = J / np.where(length > 0.0, length, 1.0)
                if np.linalg.eigvalsh(J @ J.swapaxes(-1, -2)).min() < CLEAR**2:
                    return False
    return True


def dependent_rows(mu: np.ndarray) -> np.ndarray:
    """For each dependency μᵀG = 0 (a column of `mu`) one row, such that G without these rows is independent."""
    if not mu.shape[1]:
        return np.zeros(0, dtype=int)
    return np.asarray(la.qr(mu.T, pivoting=True, mode="economic")[2][: mu.shape[1]])


def quoted(names: Iterable[str]) -> str:
    """At most eight names for a message, quoted and sorted."""
    ordered = sorted(names)
    return ", ".join(map(repr, ordered[:8])) + (f" and {len(ordered) - 8} more" if len(ordered) > 8 else "")


def warn_of_redundancy(system: System, mu: np.ndarray, stacklevel: int) -> None:
    """Warns of joints whose rows are dependent, μᵀG = 0."""
    names = {system.multipliers.owner(int(k)) for k in np.flatnonzero(np.abs(mu).max(axis=1) > 1e-6)}
    warnings.warn(
        f"joints {quoted(names)} repeat each other in {mu.shape[1]} rows: the motion is right, their multipliers are not unique",
        RedundancyWarning,
        stacklevel,
    )


def _nearby_state(system: System, state: State, G: Matrix) -> State:
    """A nearby state with closed joints: a random feasible motion, then Newton's method on the gaps."""
    M = mass(system, state)
    random = np.random.default_rng(0).normal(size=M.shape[0])
    random[~rigid_columns(system)] = 0.0
    direction, _ = SaddleSystem(M, G).solve(M @ random, np.zeros(G.shape[0]))
    nearby = displaced_state(system, state, NEARBY * direction / max(float(np.abs(direction).max(initial=0.0)), 1e-300))
    for _ in range(CLOSING_STEPS):
        gap = np.zeros(G.shape[0])
        for name, value in gaps(system, nearby).items():
            start = system.multipliers[name].start
            gap[start : start + len(value)] = value
        if np.abs(gap).max() < 1e-12:
            break
        G = velocity_rows(system, nearby)[0]
        nearby = displaced_state(system, nearby, SaddleSystem(M, G).solve(np.zeros(M.shape[0]), -gap)[0])
    return nearby
