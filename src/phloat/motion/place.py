"""Positions that close the joints: Newton on the gaps, from a guess that walks along the joints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from phloat.algebra.threads import one_thread
from phloat.errors import ClosureError, PortError, finite, mapping, unknown
from phloat.joints.attitude import attitude
from phloat.joints.rows import Row, Turn, is_length
from phloat.motion.closure import Closure
from phloat.motion.start import started
from phloat.system.jointed import ball_joints, ends, half_turned, sense, unwrapped
from phloat.system.state import State, checked
from phloat.system.system import Connection, System

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
        if isinstance(row, Turn) and name in state.layout and name not in task.held:
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
    size: dict[str, float] = {}
    said: dict[str, str] = {}
    for c, row, value in task.rows():
        first, second = ends(c, best)
        gap, unit = task.scaled_gap(row, first, second, value)
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


def _sorted(system: System, given: Given) -> tuple[dict[str, np.ndarray], tuple[tuple[Connection, Row, float], ...]]:
    """What is given: quantities of bodies to hold, and joint coordinates to reach."""
    positions = ("r_P", "theta", "A_IB", "eta")
    angles = {f"{c.name}.{row.labels[0]}": (c, row) for c in system.joints.values() for row in c.coordinates}
    names = [name for name in system.layout if name.rpartition(".")[2] in positions]
    balls = {f"{name}.A": system.joints[name] for name in ball_joints(system)}
    values: dict[str, np.ndarray] = {}
    wanted: list[tuple[Connection, Row, float]] = []
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
