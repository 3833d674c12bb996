"""The velocities w = (v_P, ω, η̇) of all bodies as one vector: mass, joint rows, and whether they agree."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

import numpy as np
import scipy.linalg as la

from phloat.algebra.cross import rotation
from phloat.algebra.sparse import Matrix, csr, dependencies, diagonal
from phloat.errors import InputError, JointError, PortError, RedundancyWarning, finite, unknown
from phloat.joints.rows import gap_units
from phloat.motion.initial.saddle import SaddleSystem
from phloat.motion.inputs.inputs import Inputs, as_inputs
from phloat.motion.inputs.signals import FIRST
from phloat.system.joint_rows import columns_in_rows, columns_in_velocities, ends, gaps, is_half_turn, joint_rows
from phloat.system.state import State, check_quantity
from phloat.system.system import System, fits
from phloat.system.terms import Terms, terms

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
    return joint_rows(system, state, columns_in_velocities(system))


def velocity_indices(system: System) -> np.ndarray:
    """Indices of w in e."""
    columns = columns_in_rows(system, system.layout).columns
    return np.concatenate([columns[name] for name in system.bodies])


def rigid_columns(system: System) -> np.ndarray:
    """Which of w are velocities of frames (the others are η̇)."""
    return np.concatenate([np.arange(len(body.columns)) < len(body.active) for body in system.bodies.values()])


def with_velocities(system: System, state: State, w: np.ndarray) -> State:
    """The state with these velocities."""
    e = state.e.copy()
    e[velocity_indices(system)] = w
    return State(state.bodies, state.layout, e)


def require_closed(system: System, state: State) -> None:
    """Raises InputError where a joint is open: lengths relative to the size of the mechanism, directions to one."""
    for name, gap in gaps(system, state).items():
        if (np.abs(gap) > CLOSED * gap_units(system.joints[name].closed, system.size)).any():
            raise InputError(f"joint {name!r} is open by {np.abs(gap).max():.3g}; close it with place(system, …)")
    for name, c in system.joints.items():
        if is_half_turn(c, *ends(c, state)):
            raise InputError(f"joint {name!r} is half a turn away from closed; close it with place(system, …)")


def consistent_state(system: System, state: State, u: np.ndarray, rows: tuple[Matrix, Matrix] | None = None) -> State:
    """The state with velocities that satisfy joints and drives: nodes of a run miss them by O(h²), which is projected away with
    the least change of kinetic energy; raises JointError if they miss by more. `rows`: `velocity_rows`, where known."""
    G, B_lam = rows or velocity_rows(system, state)
    w, right = state.e[velocity_indices(system)], B_lam @ u
    off = np.abs(G @ w - right) / gap_units([row for c in system.joints.values() for row in c.rows], system.size)
    if off.max(initial=0.0) <= NOISE:
        return state
    M = mass(system, state)
    saddle = SaddleSystem(M, G)
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


def moving_start(
    system: System, state: State, u: Mapping[str, object] | Inputs | None, t: object
) -> tuple[State, Inputs, float]:
    """A state that closes the joints, with velocities that agree with them and the inputs; the inputs, and the time."""
    state, inputs, now = fits(system, state), as_inputs(system, u), float(finite("t", t, ()))
    require_closed(system, state)
    return consistent_state(system, state, inputs.at(now)), inputs, now


def sort_given(
    system: System, kind: str, given: Mapping[str, object], quantities: Collection[str], of_joints: Collection[str]
) -> tuple[dict[str, np.ndarray], dict[str, object]]:
    """Given values of bodies, checked, and those of joints. Raises PortError if a name is neither."""
    names = [name for name in system.layout if name.rpartition(".")[2] in quantities]
    for name in given:
        if name not in names and name not in of_joints:
            raise PortError(unknown(kind, name, [*names, *of_joints]))
    values = {name: check_quantity(system.layout, name, value) for name, value in given.items() if name in names}
    return values, {name: value for name, value in given.items() if name not in values}


# --- accelerations ----------------------------------------------------------------------------------------------------
#
# Rates ė and multipliers λ at a state, at the continuous level: index reduction by G ẇ = B_λ u̇ + Ḃ_λ u − Ġ w.


TURN = 0.02  # radians between the configurations of the difference: (0.02)⁶/140 is lost, and 1e-14 by round-off
FEASIBLE = 1e-7  # of scaled rows, relative to the largest acceleration


def accelerations(system: System, state: State, u: Inputs, t: float) -> tuple[np.ndarray, np.ndarray]:
    """ė and λ: E ė = (J − R) z + Gᵀλ + B u with G ẇ = B_λ u̇ + Ḃ_λ u − Ġ w. Velocities must agree with the joints.

    Raises JointError if no accelerations satisfy the joints, as at a dead point.
    """
    at = terms(system, state)
    where = velocity_indices(system)
    M, G = csr(at.E[where][:, where]), csr(at.G[:, where])
    force = (at.J - at.R) @ at.z + at.B @ u.at(t)
    right = at.B_lam @ u.rate(t) + convective(system, state, u.at(t))
    saddle = SaddleSystem(M, G)
    w_dot, lam = saddle.solve(force[where], right)
    background = _fastest_turn(system, state) * saddle.size(state.e[where]) + float(
        np.linalg.norm(saddle.scale * force[where])
    )
    miss = np.abs(saddle.miss(w_dot, right, background))
    if miss.max(initial=0.0) > FEASIBLE:
        name = system.multipliers.owner(int(np.argmax(miss)))
        raise JointError(
            f"no accelerations keep joint {name!r} closed (relative miss {miss.max():.1e}): the joints repeat each other "
            "where the system stands, but not where it moves to; place it a little away"
        )
    rates = force + at.G.T @ lam
    e_dot = _stress_rates(system, at, rates)
    e_dot[where] = w_dot
    return e_dot, lam


def convective(system: System, state: State, u: np.ndarray) -> np.ndarray:
    """Ḃ_λ u − Ġ w along the motion w: what is left of the joints' accelerations without ẇ and u̇.

    A difference of sixth order of the rows themselves, so that it holds for every kind of row; the step is a small turn, and
    what rows depend on besides turning they depend on as polynomials, which the difference takes exactly.
    """
    w = state.e[velocity_indices(system)]
    if not system.multipliers.size or not np.any(w):
        return np.zeros(system.multipliers.size)
    step = TURN / max(_fastest_turn(system, state), 1e-300)
    step = min(step, 1.0 / np.abs(w).max())
    out = np.zeros(system.multipliers.size)
    for k, weight in FIRST.items():
        G, B_lam = velocity_rows(system, displaced(system, state, k * step * w))
        out += weight / step * (B_lam @ u - G @ w)
    return out


def displaced(system: System, state: State, step: np.ndarray) -> State:
    """Bodies moved by a small motion along w: r_P by A δx, A by the rotation δφ in body axes, η by δη; σ is left alone."""
    places, e = columns_in_velocities(system), state.e.copy()
    for name, body in system.bodies.items():
        own = np.zeros(6 + body.coordinates)
        own[body.columns] = step[places.columns[name]]
        A, linear = state.pose(name).A, [i for i in body.active if i < 3]
        e[state.layout[f"{name}.r_P"]] += (A @ own[:3])[linear]
        if f"{name}.theta" in state.layout:
            e[state.layout[f"{name}.theta"]] += own[5]
        elif body.rotates:
            e[state.layout[f"{name}.A_IB"]] = (A @ rotation(own[3:6])).ravel()
        if body.coordinates:
            e[state.layout[f"{name}.eta"]] += own[6:]
    return replace(state, e=e)


def _fastest_turn(system: System, state: State) -> float:
    """The fastest turn of a frame or section."""
    speeds = [0.0]
    for name, body in system.bodies.items():
        pose = state.pose(name)
        sections = [float(np.linalg.norm(port.Psi @ pose.rates)) for port in body.ports.values()]
        speeds.append(float(np.linalg.norm(pose.omega)) + max(sections, default=0.0))
    return max(speeds)


def _stress_rates(system: System, at: Terms, rates: np.ndarray) -> np.ndarray:
    """E is the identity in the rows of positions and C in those of stress."""
    out = rates.copy()
    for name, body in system.bodies.items():
        if body.stresses:
            where = at.layout[f"{name}.sigma"]
            out[where] = body.elastic.C_inverse @ rates[where]
    return out


# --- redundant rows ---------------------------------------------------------------------------------------------------
#
# Rows of joints that follow from others wherever the mechanism moves.
#
# A rank that is lost at one place only (a dead point) comes back right after it, so nothing is dropped for it: the step takes its
# rows away from that place. So the rank is looked at where the mechanism stands and again a little further on.


AWAY = 1e-2  # metres or radians
STEPS = 30


def redundant_rows(system: System, state: State, G: Matrix | None = None) -> tuple[int, ...]:
    """Numbers of the joint rows (G of `velocity_rows`) that always follow from others, with a warning that names their joints."""
    if not system.multipliers.size:
        return ()
    G = velocity_rows(system, state)[0] if G is None else G
    here = dependencies(G)
    if not here.shape[1]:
        return ()
    mu = dependencies(velocity_rows(system, _nearby_state(system, state, G))[0])
    if not mu.shape[1]:
        return ()
    warn_of_redundancy(system, mu, stacklevel=5)
    return tuple(int(k) for k in sorted(dependent_rows(mu)))


def dependent_rows(mu: np.ndarray) -> np.ndarray:
    """One row for each dependency μᵀG = 0 (a column of `mu`), without which the rest of G is independent."""
    if not mu.shape[1]:
        return np.zeros(0, dtype=int)
    return np.asarray(la.qr(mu.T, pivoting=True, mode="economic")[2][: mu.shape[1]])


def quoted(names: Iterable[str]) -> str:
    """Names for a message, sorted, at most eight of them."""
    every = sorted(names)
    return ", ".join(map(repr, every[:8])) + (f" and {len(every) - 8} more" if len(every) > 8 else "")


def warn_of_redundancy(system: System, mu: np.ndarray, stacklevel: int) -> None:
    """Warns of the joints whose rows depend on each other, μᵀG = 0."""
    names = {system.multipliers.owner(int(k)) for k in np.flatnonzero(np.abs(mu).max(axis=1) > 1e-6)}
    warnings.warn(
        f"joints {quoted(names)} repeat each other in {mu.shape[1]} rows: the motion is right, their multipliers are not unique",
        RedundancyWarning,
        stacklevel,
    )


def _nearby_state(system: System, state: State, G: Matrix) -> State:
    """A nearby state that closes the joints: along a random feasible motion, then by Newton's method."""
    M = mass(system, state)
    random = np.random.default_rng(0).normal(size=M.shape[0])
    random[~rigid_columns(system)] = 0.0
    along, _ = SaddleSystem(M, G).solve(M @ random, np.zeros(G.shape[0]))
    away = displaced(system, state, AWAY * along / max(float(np.abs(along).max(initial=0.0)), 1e-300))
    for _ in range(STEPS):
        gap = np.zeros(G.shape[0])
        for name, value in gaps(system, away).items():
            start = system.multipliers[name].start
            gap[start : start + len(value)] = value
        if np.abs(gap).max() < 1e-12:
            break
        G = velocity_rows(system, away)[0]
        away = displaced(system, away, SaddleSystem(M, G).solve(np.zeros(M.shape[0]), -gap)[0])
    return away
