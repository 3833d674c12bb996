"""Positions that close the joints: Newton on the gaps, from a guess that walks along the joints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from phloat.algebra.cross import rot, rotation
from phloat.algebra.sparse import Matrix, csr
from phloat.errors import ClosureError, PortError, finite, mapping, unknown
from phloat.joints.rows import Along, Held, Row, Spin, Turn, is_length
from phloat.system.jointed import ends, half_turned, in_velocities, scattered, unwrapped
from phloat.system.state import State, checked, resting
from phloat.system.system import Connection, End, System, count, held

CLOSED = 1e-11  # the gap that counts as closed, beside the size of the mechanism
STEPS, RESTARTS, AGREED = 60, 20, 4  # give up early when so many tries more end with the same gap
FIRM = 1e4
APART = 10.0  # added to the gap of joints that close half a turn away
DAMPING = (1e-12, 1e-3, 1e-1, 1e1)  # of the rows, tried in turn until the gap shrinks

Given = Mapping[str, object]


def place(system: System, given: Given | None = None, *, near: State | Given | None = None) -> State:
    """A state at rest in which every joint is closed: what is `given` by name is held, `near` starts the rest.

    Names: "body.r_P", "body.theta" or "body.A_IB", "body.eta" (zero unless given), "joint.angle", "joint.slide". Without a
    guess, bodies are set one against the other with joints at zero.
    """
    values, wanted = _sorted(system, mapping("given", {} if given is None else given, "{name: value}"))
    guess = _guess(system, near)
    task = _Closure(system, frozenset(values), wanted)
    tries: list[tuple[float, State]] = []
    for attempt in range(RESTARTS):
        start, _ = _start(task, values, guess if attempt == 0 else {}, wander=max(0, attempt - 1))
        state, gap = task.closed(start)
        apart = task.pointing_apart(state)
        if gap < CLOSED and not apart:
            return _with_turns(task, state)
        tries.append((gap + (APART if apart else 0.0), state))
        best = min(gap for gap, _ in tries)
        if sum(gap < 1.001 * best for gap, _ in tries) > AGREED:
            break
    raise ClosureError(_complaint(task, values, min(tries, key=lambda t: t[0])[1]))


def _with_turns(task: _Closure, state: State) -> State:
    """The state with the whole turns that wanted joint angles count."""
    for c, row, value in task.wanted:
        name = f"{c.second.body}.theta"
        if isinstance(row, Turn) and name in state.layout and name not in task.held:
            now = unwrapped(c, state, value)
            state = state.with_values({name: state[name] + 2 * np.pi * np.round((value - now) / (2 * np.pi))})
    return state


@dataclass(frozen=True, eq=False)
class _Closure:
    """The gaps of a system as equations for the rigid motions that are not held."""

    system: System
    held: frozenset[str]
    wanted: tuple[tuple[Connection, Row, float], ...]
    firm: frozenset[str] = frozenset()  # joints whose gaps weigh so much that the others take what is left

    @cached_property
    def size(self) -> float:
        """A length of the mechanism: the largest distance between ports of a body, or on the ground."""
        spans = []
        for body in self.system.bodies.values():
            x = np.array([p.x for p in body.ports.values()])
            spans.append(np.linalg.norm(x - x[0], axis=1).max())
        on_ground = [end.at for c in self.system.joints.values() for end in (c.first, c.second) if not end.body]
        spans += [float(np.linalg.norm(at - on_ground[0])) for at in on_ground]
        return max(spans, default=0.0) or 1.0

    @cached_property
    def unknowns(self) -> tuple[np.ndarray, np.ndarray]:
        """Columns of the rigid velocities that may move, and the unit of each (lengths by size)."""
        places, columns, units = in_velocities(self.system), [], []
        for name, body in self.system.bodies.items():
            for i, kind in enumerate(body.active):
                fixed = f"{name}.r_P" if kind < 3 else f"{name}.theta" if len(body.active) == 3 else f"{name}.A_IB"
                if fixed not in self.held:
                    columns.append(places.columns[name][i])
                    units.append(self.size if kind < 3 else 1.0)
        return np.array(columns, dtype=int), np.array(units)

    def rows(self) -> Iterable[tuple[Connection, Row, float]]:
        for c in self.system.joints.values():
            for row in c.closed:
                yield c, row, 0.0
        yield from self.wanted

    def equations(self, state: State) -> tuple[np.ndarray, Matrix]:
        """Scaled gaps, and how they change with the unknowns."""
        gaps, blocks = [], []
        at = {name: ends(c, state) for name, c in self.system.joints.items()}
        for c, row, value in self.rows():
            first, second = at[c.name]
            gap, unit = self._gap(row, first, second, value)
            unit /= FIRM if c.name in self.firm else 1.0
            gaps.append(gap / unit)
            on_first, on_second = row.rate(first, second)
            blocks.append((c, (on_first / unit, on_second / unit)))
        columns, units = self.unknowns
        G = scattered(blocks, in_velocities(self.system))
        return np.concatenate(gaps) if gaps else np.zeros(0), csr(G[:, columns] @ sp.diags_array(units))

    def _gap(self, row: Row, first: Held, second: Held, value: float) -> tuple[np.ndarray, float]:
        gap = row.gap(first, second) - value
        if isinstance(row, Turn):
            return np.arctan2(np.sin(gap), np.cos(gap)), 1.0
        return gap, self.size if is_length(row) else 1.0

    def closed(self, state: State) -> tuple[State, float]:
        """The state after Newton's method, and its largest scaled gap: shortest steps that close the linearised gaps."""
        gap, G = self.equations(state)
        slow = 0  # steps in a row that hardly helped
        for _ in range(STEPS):
            worst = np.abs(gap).max(initial=0.0)
            if worst < 1e-14 or slow > 4 or not self.unknowns[0].size:
                break
            for damping in DAMPING:
                step = _shortest(G, -gap, damping)
                step *= min(1.0, 0.7 / max(np.abs(step).max(), 1e-300))
                trial = self.moved(state, step)
                new_gap, new_G = self.equations(trial)
                if np.linalg.norm(new_gap) < np.linalg.norm(gap):
                    break
            else:
                break
            slow = slow + 1 if np.linalg.norm(new_gap) > 0.99 * np.linalg.norm(gap) else 0
            state, gap, G = trial, new_gap, new_G
        return state, float(np.abs(gap).max(initial=0.0))

    def moved(self, state: State, step: np.ndarray) -> State:
        """Bodies moved by the unknowns: r_P by A δv, A by the rotation δω in body axes."""
        places = in_velocities(self.system)
        columns, units = self.unknowns
        whole = np.zeros(places.size)
        whole[columns] = step * units
        e = state.e.copy()
        for name, body in self.system.bodies.items():
            twist = np.zeros(6)
            twist[list(body.active)] = whole[places.columns[name][: len(body.active)]]
            pose = state.pose(name)
            e[state.layout[f"{name}.r_P"]] += (pose.A @ twist[:3])[[i for i in body.active if i < 3]]
            if f"{name}.theta" in state.layout:
                e[state.layout[f"{name}.theta"]] += twist[5]
            elif body.rotates:
                e[state.layout[f"{name}.A_IB"]] = (pose.A @ rotation(twist[3:])).ravel()
        return replace(state, e=e)

    def pointing_apart(self, state: State) -> bool:
        return any(half_turned(c, *ends(c, state)) for c in self.system.joints.values())


def _complaint(task: _Closure, values: dict[str, np.ndarray], best: State) -> str:
    """What stays open: bodies are set up joint by joint, and the joints that close loops take the whole gap."""
    _, tree = _start(task, values, {}, wander=0)
    firm = replace(task, firm=frozenset(tree))
    for _ in range(4):
        best, _ = firm.closed(best)
    size: dict[str, float] = {}
    said: dict[str, str] = {}
    for c, row, value in task.rows():
        first, second = ends(c, best)
        gap, unit = task._gap(row, first, second, value)
        length = float(np.linalg.norm(gap))
        if length / unit >= size.get(c.name, -1.0):
            size[c.name], said[c.name] = length / unit, f"{length:.3g} {'m' if is_length(row) else 'rad'}"
        if half_turned(c, first, second):
            size[c.name] = APART + size[c.name]
    where = max(size, key=lambda name: size[name])
    held_too = f" with {', '.join(sorted(task.held))} held" if task.held else ""
    if size[where] >= APART:
        return f"joint {where!r} closes only half a turn away{held_too}; give another guess with near=…"
    return (
        f"the joints do not close{held_too}: the best try leaves a gap of {said[where]} at {where!r}; "
        "check lengths and at=…, hold less, or give another guess with near=…"
    )


def _shortest(G: Matrix, right: np.ndarray, damping: float) -> np.ndarray:
    """The least x with G x = right, also where rows repeat each other; shorter with damping (Levenberg, Marquardt)."""
    rows, columns = G.shape
    saddle = sp.block_array([[sp.eye_array(columns), G.T], [G, -damping * sp.eye_array(rows)]], format="csc")
    return spla.splu(saddle).solve(np.concatenate([np.zeros(columns), right]))[:columns]


def _sorted(system: System, given: Given) -> tuple[dict[str, np.ndarray], tuple[tuple[Connection, Row, float], ...]]:
    """What is given: quantities of bodies to hold, and joint coordinates to reach."""
    positions = ("r_P", "theta", "A_IB", "eta")
    axes = [(c, row) for c in system.joints.values() for row in c.joint.free if isinstance(row, (Turn, Along))]
    angles = {f"{c.name}.{row.labels[0]}": (c, row) for c, row in axes}
    names = [name for name in system.layout if name.rpartition(".")[2] in positions]
    values, wanted = {}, []
    for name, value in given.items():
        if name in angles:
            wanted.append((*angles[name], float(finite(name, value, ()))))
        elif name in names:
            values[name] = checked(system.layout, name, value)
        else:
            raise PortError(unknown("position", name, [*names, *angles]))
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


def _start(
    task: _Closure, values: dict[str, np.ndarray], guess: dict[str, np.ndarray], wander: int
) -> tuple[State, list[str]]:
    """Bodies set one against the other along the joints, with joints at zero (or at what is wanted); and those joints."""
    system = task.system
    known = guess | values
    state = resting(system.bodies).with_values({n: v.reshape(system.layout.shape(n)) for n, v in known.items()})
    random = np.random.default_rng(wander)
    angle = {c.name: value for c, row, value in task.wanted if isinstance(row, Turn)}
    slide = {c.name: value for c, row, value in task.wanted if isinstance(row, Along)}
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
        turn = rot(angle[c.name]) if c.name in angle else _wandered(c, random) if wander else np.eye(3)
        turn = turn if forward else turn.T
        state = _against(system, state, held(there, state), mine, turn, slide.get(c.name, 0.0), known)
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
    system: System, state: State, there: Held, end: End, turn: np.ndarray, slide: float, known: Mapping[str, object]
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
        moved = state.pose(name).r_P + there.c + slide * there.D[:, 2] - mine.c
        state = state.with_values({f"{name}.r_P": moved[[i for i in body.active if i < 3]]})
    return state


def _wandered(c: Connection, random: np.random.Generator) -> np.ndarray:
    """A random turn that the joint allows."""
    if any(isinstance(row, Turn) for row in c.joint.free):
        return rot(random.uniform(-np.pi, np.pi))
    if any(isinstance(row, Spin) for row in c.free):
        return rotation(random.normal(size=3)) if count(c.free) == 3 else rot(random.uniform(-np.pi, np.pi))
    return np.eye(3)


def _oriented(system: System, name: str, known: Mapping[str, object]) -> bool:
    return not system.bodies[name].rotates or f"{name}.theta" in known or f"{name}.A_IB" in known
