"""Positions that close the joints: Newton on the gaps, from a guess that walks along the joints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from phloat.algebra.cross import rot, rotation
from phloat.algebra.threads import one_thread
from phloat.errors import ClosureError, PortError, finite, mapping, unknown
from phloat.joints.attitude import Attitude, attitude
from phloat.joints.port_state import PortState
from phloat.joints.rows import Row
from phloat.motion.initial.closure import Closure
from phloat.system.jointed import ball_joints, ends, half_turned, sense, unwrapped
from phloat.system.state import State, checked, resting
from phloat.system.system import Connection, End, System, port_state

CLOSED = 1e-11  # the gap that counts as closed, beside the size of the mechanism
RESTARTS, AGREED = 20, 4  # give up early when so many tries more end with the same gap
APART = 10.0  # added to the gap of joints that close half a turn away

Given = Mapping[str, object]


@one_thread()
def place(system: System, given: Given | None = None, *, near: State | Given | None = None) -> State:
    """A state at rest in which every joint is closed: what is `given` by name is held, `near` starts the rest.

    Names: "body.r_P", "body.theta" or "body.A_IB", "body.eta" (zero unless given), "joint.angle", "joint.slide", and "joint.A"
    of a spherical joint in space, the rotation (3 × 3) from the first port's joint frame to the second's. Without a guess, bodies
    are set one against the other with joints at zero.
    """
    values, wanted = _sorted(system, mapping("given", {} if given is None else given, "{name: value}"))
    guess = _guess(system, near)
    task = Closure(system, frozenset(values), wanted)
    tries: list[tuple[float, State]] = []
    for attempt in range(RESTARTS):
        start, _ = started(task, values, guess if attempt == 0 else {}, wander=max(0, attempt - 1))
        state, gap = task.closed(start)
        apart = task.pointing_apart(state)
        if gap < CLOSED and not apart:
            return _with_turns(task, state)
        tries.append((gap + (APART if apart else 0.0), state))
        best = min(gap for gap, _ in tries)
        if sum(gap < 1.001 * best for gap, _ in tries) > AGREED:
            break
    raise ClosureError(_complaint(task, values, min(tries, key=lambda t: t[0])[1]))


def _with_turns(task: Closure, state: State) -> State:
    """The state with the whole turns that wanted joint angles count."""
    for c, row, value in task.wanted:
        name = f"{c.second.body}.theta"
        if isinstance(row, Row) and row.is_angle and name in state.layout and name not in task.held:
            now = unwrapped(c, state, value)
            missing = 2 * np.pi * np.round((value - now) / (2 * np.pi))
            state = state.with_values({name: state[name] + sense(c) * missing})
    return state


def _complaint(task: Closure, values: dict[str, np.ndarray], best: State) -> str:
    """What stays open: bodies are set up joint by joint, and the joints that close loops take the whole gap."""
    _, tree = started(task, values, {}, wander=0)
    firm = replace(task, firm=frozenset(tree))
    for _ in range(4):
        best, _ = firm.closed(best)
    open_by: dict[tuple[str, str], list[float]] = {}
    for c, row, value in task.rows():
        gap, unit = task.scaled_gap(row, *ends(c, best), value)
        metres = isinstance(row, Row) and row.is_length
        open_by.setdefault((c.name, "m" if metres else "rad"), []).extend(gap / unit)
    size: dict[str, float] = {}
    said: dict[str, str] = {}
    for (name, unit_name), gaps in open_by.items():
        relative = float(np.linalg.norm(gaps))
        if relative >= size.get(name, -1.0):
            size[name] = relative
            said[name] = f"{relative * (task.size if unit_name == 'm' else 1.0):.3g} {unit_name}"
    for name in size:
        if half_turned(c := task.system.joints[name], *ends(c, best)):
            size[name] += APART
    where = max(size, key=lambda name: size[name])
    held_too = f" with {', '.join(sorted(task.held))} held" if task.held else ""
    if size[where] >= APART:
        return f"joint {where!r} closes only half a turn away{held_too}; give another guess with near=…"
    return (
        f"the joints do not close{held_too}: the best try leaves a gap of {said[where]} at {where!r}; "
        "check lengths and at=…, hold less, or give another guess with near=…"
    )


def _sorted(
    system: System, given: Given
) -> tuple[dict[str, np.ndarray], tuple[tuple[Connection, Row | Attitude, float], ...]]:
    """What is given: quantities of bodies to hold, and joint coordinates to reach."""
    positions = ("r_P", "theta", "A_IB", "eta")
    angles = {f"{c.name}.{row.label}": (c, row) for c in system.joints.values() for row in c.coordinates}
    names = [name for name in system.layout if name.rpartition(".")[2] in positions]
    balls = {f"{name}.A": system.joints[name] for name in ball_joints(system)}
    values: dict[str, np.ndarray] = {}
    wanted: list[tuple[Connection, Row | Attitude, float]] = []
    for name, value in given.items():
        if name in balls:
            wanted.append((balls[name], attitude(name, value), 0.0))
        elif name in angles:
            wanted.append((*angles[name], float(finite(name, value, ()))))
        elif name in names:
            values[name] = checked(system.layout, name, value)
        else:
            raise PortError(unknown("position", name, [*names, *angles, *balls]))
    return values, tuple(wanted)


def _guess(system: System, near: State | Given | None) -> dict[str, np.ndarray]:
    if near is None:
        return {}
    if isinstance(near, State):
        names = [n for n in near.layout if n.rpartition(".")[2] in ("r_P", "theta", "A_IB") and n in system.layout]
        return {name: near.e[near.layout[name]] for name in names}
    values, wanted = _sorted(system, mapping("near", near, "{name: value}"))
    if wanted:
        raise PortError(f"near takes positions of bodies; {wanted[0][0].name!r} is a joint")
    return values


# --- the first guess -------------------------------------------------------------------------------------------------
#
# Where Newton's method starts: bodies set one against the other along the joints.


def started(
    task: Closure, values: dict[str, np.ndarray], guess: dict[str, np.ndarray], wander: int
) -> tuple[State, list[str]]:
    """Bodies set one against the other along the joints, with joints at zero (or at what is wanted); and those joints."""
    system = task.system
    known = guess | values
    state = resting(system.bodies).with_values({n: v.reshape(system.layout.shape(n)) for n, v in known.items()})
    random = np.random.default_rng(wander)
    wanted: dict[str, list[tuple[Row | Attitude, float]]] = {c.name: [] for c in system.joints.values()}
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
        state = _against(system, state, port_state(there, state), mine, turn, slide, known)
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
        first, second = port_state(joint.first, state), port_state(joint.second, state)
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
    there: PortState,
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
        mine = port_state(end, state)
        A = there.D @ turn @ mine.D.T @ state.pose(name).A
        u, _, vt = np.linalg.svd(A)  # triads of bent sections are orthonormal to first order only
        A = u @ vt
        if f"{name}.theta" in system.layout:
            changes[f"{name}.theta"] = np.arctan2(A[1, 0], A[0, 0])
        else:
            changes[f"{name}.A_IB"] = A
    state = state.with_values(changes)
    if f"{name}.r_P" not in known:
        mine = port_state(end, state)
        moved = state.pose(name).r_P + there.c + there.D @ slide - mine.c
        state = state.with_values({f"{name}.r_P": moved[[i for i in body.active if i < 3]]})
    return state


def _opened(
    c: Connection, wanted: list[tuple[Row | Attitude, float]], random: np.random.Generator | None
) -> tuple[np.ndarray, np.ndarray]:
    """The triad and the point of the second end seen from the first: wanted coordinates, else zero or random turns."""
    value = dict(wanted)
    turn, slide = np.eye(3), np.zeros(3)
    for row in c.coordinates:
        if row.slide_axis is not None:
            slide[row.slide_axis] = value.get(row, 0.0)
        elif row.is_angle:
            turn = turn @ row.zero_triad(value.get(row, random.uniform(-np.pi, np.pi) if random else 0.0))
    if random is not None and any(row.function == "spin" for row in c.free):
        turn = rotation(random.normal(size=3)) if len(c.free) == 3 else rot(random.uniform(-np.pi, np.pi))
    return next((row.R for row, _ in wanted if isinstance(row, Attitude)), turn), slide


def _oriented(system: System, name: str, known: Mapping[str, object]) -> bool:
    return not system.bodies[name].rotates or f"{name}.theta" in known or f"{name}.A_IB" in known
