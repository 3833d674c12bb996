"""Where Newton's method starts: bodies set one against the other along the joints."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from phloat.algebra.cross import rot, rotation
from phloat.joints.attitude import Attitude
from phloat.joints.rows import Along, Held, Row, Spin, Turn
from phloat.motion.closure import Closure
from phloat.system.state import State, resting
from phloat.system.system import Connection, End, System, count, held


def started(
    task: Closure, values: dict[str, np.ndarray], guess: dict[str, np.ndarray], wander: int
) -> tuple[State, list[str]]:
    """Bodies set one against the other along the joints, with joints at zero (or at what is wanted); and those joints."""
    system = task.system
    known = guess | values
    state = resting(system.bodies).with_values({n: v.reshape(system.layout.shape(n)) for n, v in known.items()})
    random = np.random.default_rng(wander)
    wanted: dict[str, list[tuple[Row, float]]] = {c.name: [] for c in system.joints.values()}
    for c, row, value in task.wanted:
        wanted[c.name].append((row, value))
    placed = {""} | {name for name in system.bodies if f"{name}.r_P" in known and _oriented(system, name, known)}
    waiting, tree = list(system.joints.values()), []
    while waiting:
        ready = [c for c in waiting if (c.first.body in placed) != (c.second.body in placed)]
        if not ready:
            loose = next((end.body for c in waiting for end in (c.first, c.second) if end.body not in placed), None)
            if loose is None:
                break
            placed.add(loose)
            continue
        c = ready[0]
        waiting.remove(c)
        tree.append(c.name)
        forward = c.first.body in placed
        there, mine = (c.first, c.second) if forward else (c.second, c.first)
        turn, slide = _opened(c, wanted[c.name], random if wander else None)
        if not forward:
            turn, slide = turn.T, -turn.T @ slide
        state = _against(system, state, held(there, state), mine, turn, slide, known)
        if not _oriented(system, mine.body, known):
            near = [d for d in waiting if mine.body in (d.first.body, d.second.body)]
            others = [d for d in near if {d.first.body, d.second.body} <= placed | {mine.body}]
            state = state if wander else _pointed(system, state, c, others, mine.body, known)
        placed.add(mine.body)
    return state, tree


def _pointed(
    system: System, state: State, c: Connection, others: list[Connection], name: str, known: Mapping[str, object]
) -> State:
    """A body that hangs on one joint turned so that its other ports point to where their joints want them (Kabsch)."""
    mine, wanted = [], []
    for joint in (c, *others):
        first, second = held(joint.first, state), held(joint.second, state)
        own, other = (first, second) if joint.first.body == name else (second, first)
        mine.append(own.c)
        wanted.append(other.c)
    if len(mine) < 2 or not system.bodies[name].rotates:
        return state
    a, b = np.array(mine[1:]) - mine[0], np.array(wanted[1:]) - wanted[0]
    size = max(np.linalg.norm(a), np.linalg.norm(b))
    if size == 0.0:
        return state
    spread = b.T @ a + 1e-6 * size**2 * np.eye(3)  # what the points leave open stays as it is
    u, _, vt = np.linalg.svd(spread)
    turn = u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt
    pose = state.pose(name)
    changes: dict[str, object] = {}
    if f"{name}.theta" in system.layout:
        changes[f"{name}.theta"] = state[f"{name}.theta"] + np.arctan2(turn[1, 0], turn[0, 0])
    else:
        changes[f"{name}.A_IB"] = turn @ pose.A
    if f"{name}.r_P" not in known:
        moved = mine[0] + turn @ (pose.r_P - mine[0])
        changes[f"{name}.r_P"] = moved[[i for i in system.bodies[name].active if i < 3]]
    return state.with_values(changes)


def _against(
    system: System,
    state: State,
    there: Held,
    end: End,
    turn: np.ndarray,
    slide: np.ndarray,
    known: Mapping[str, object],
) -> State:
    """One body set against a port that stands: joint triads aligned, points together, as far as it is not known."""
    name = end.body
    body = system.bodies[name]
    changes: dict[str, np.ndarray] = {}
    if body.rotates and not _oriented(system, name, known):
        mine = held(end, state)
        A = there.D @ turn @ mine.D.T @ state.pose(name).A
        u, _, vt = np.linalg.svd(A)  # triads of bent sections are orthonormal to first order only
        A = u @ vt
        if f"{name}.theta" in system.layout:
            changes[f"{name}.theta"] = np.arctan2(A[1, 0], A[0, 0])
        else:
            changes[f"{name}.A_IB"] = A
    state = state.with_values(changes)
    if f"{name}.r_P" not in known:
        mine = held(end, state)
        moved = state.pose(name).r_P + there.c + there.D @ slide - mine.c
        state = state.with_values({f"{name}.r_P": moved[[i for i in body.active if i < 3]]})
    return state


def _opened(
    c: Connection, wanted: list[tuple[Row, float]], random: np.random.Generator | None
) -> tuple[np.ndarray, np.ndarray]:
    """The triad and the point of the second end seen from the first: wanted coordinates, else zero or random turns."""
    value = dict(wanted)
    turn, slide = np.eye(3), np.zeros(3)
    for row in c.coordinates:
        if isinstance(row, Along):
            slide[row.i] = value.get(row, 0.0)
        elif isinstance(row, Turn):
            turn = turn @ row.turned(value.get(row, random.uniform(-np.pi, np.pi) if random else 0.0))
    if random is not None and any(isinstance(row, Spin) for row in c.free):
        turn = rotation(random.normal(size=3)) if count(c.free) == 3 else rot(random.uniform(-np.pi, np.pi))
    return next((row.R for row, _ in wanted if isinstance(row, Attitude)), turn), slide


def _oriented(system: System, name: str, known: Mapping[str, object]) -> bool:
    return not system.bodies[name].rotates or f"{name}.theta" in known or f"{name}.A_IB" in known
