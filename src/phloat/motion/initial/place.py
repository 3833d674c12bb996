"""Positions that close the joints: Newton's method on the gaps, from a guess made joint by joint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from phloat.algebra.cross import rot, rotation
from phloat.algebra.sparse import Matrix, csr
from phloat.algebra.threads import one_thread
from phloat.errors import ClosureError, PortError, finite, mapping
from phloat.joints.port_state import PortState
from phloat.joints.rows import Row
from phloat.joints.standard_rows import Attitude, attitude
from phloat.motion.initial.velocities import displaced, sort_given
from phloat.system.connection import Connection, End, port_state
from phloat.system.joint_rows import (
    ball_joints,
    columns_in_velocities,
    element_ends,
    ends,
    is_half_turn,
    scatter_rows,
    sense,
    unwrapped,
)
from phloat.system.state import State, rest_state
from phloat.system.system import System

CLOSED = 1e-11  # the gap that counts as closed, relative to the size of the mechanism
RESTARTS, AGREED = 20, 4  # give up early when so many tries more end with the same gap
APART = 10.0  # added to the gap of joints that close half a turn away

Given = Mapping[str, object]


@one_thread()
def place(system: System, given: Given | None = None, *, near: State | Given | None = None) -> State:
    """A state at rest in which every joint is closed: what is `given` by name is held, `near` starts the rest.

    Without a guess, bodies are set one against the other with joints at zero.

    Parameters
    ----------
    system : System
    given : dict of str to float or array, optional
        Positions that are held: "body.r_P" (m, inertial axes), "body.theta" (rad, in a plane) or "body.A_IB" (3 × 3, body to
        inertial axes), "body.eta" (deformation, zero unless given), "joint.angle" (rad), "joint.slide" (m), and "joint.A" of a
        spherical joint in space, the rotation (3 × 3) from the first port's joint frame to the second's.
    near : State or dict, optional
        A guess for what is not given, by the same names; it chooses between the ways in which a loop can close.

    Returns
    -------
    State
        Positions by name, with zero velocities.

    Raises
    ------
    ClosureError
        The joints do not close; the message says which gap is left.

    Examples
    --------
    >>> arm = ph.RigidBody(mass=2.0, inertia=0.1 * np.eye(3), ports={"tip": (1.0, 0.0, 0.0)}).discretise()
    >>> joints = [ph.Revolute("ground", "upper.P", name="shoulder"), ph.Revolute("upper.tip", "lower.P", name="elbow")]
    >>> robot = ph.connect({"upper": arm, "lower": arm}, joints, plane="xy")
    >>> state = ph.place(robot, {"shoulder.angle": np.pi / 2, "elbow.angle": -np.pi / 2})
    >>> print(state["lower.r_P"].round(6) + 0.0, state["lower.theta"].round(6) + 0.0)
    [0. 1.] 0.0
    """
    values, wanted = _sorted(system, mapping("given", {} if given is None else given, "{name: value}"))
    guess = _guess(system, near)
    task = Closure(system, frozenset(values), wanted)
    tries: list[tuple[float, State]] = []
    for attempt in range(RESTARTS):
        start, _ = initial_guess(task, values, guess if attempt == 0 else {}, wander=max(0, attempt - 1))
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
    """The error message for joints that do not close: joints that close loops get the whole gap."""
    _, tree = initial_guess(task, values, {}, wander=0)
    firm = replace(task, firm=frozenset(tree))
    for _ in range(4):
        best, _ = firm.closed(best)
    open_by: dict[tuple[str, str], list[float]] = {}
    for c, row, value in task.rows():
        gap, unit = task.scaled_gap(row, *ends(c, best), value)
        metres = isinstance(row, Row) and row.is_length
        open_by.setdefault((c.name, "m" if metres else "rad"), []).extend(gap / unit)
    size = {key: float(np.linalg.norm(gaps)) for key, gaps in open_by.items()}
    apart = {name for name, c in task.system.joints.items() if is_half_turn(c, *ends(c, best))}
    where, unit_name = max(size, key=lambda key: size[key] + (APART if key[0] in apart else 0.0))
    held_too = f" with {', '.join(sorted(task.held))} held" if task.held else ""
    if where in apart:
        return f"joint {where!r} closes only half a turn away{held_too}; give another guess with near=…"
    widest = size[where, unit_name] * (task.system.size if unit_name == "m" else 1.0)
    return (
        f"the joints do not close{held_too}: the best try leaves a gap of {widest:.3g} {unit_name} at {where!r}; "
        "check lengths and at=…, hold less, or give another guess with near=…"
    )


def _sorted(
    system: System, given: Given
) -> tuple[dict[str, np.ndarray], tuple[tuple[Connection, Row | Attitude, float], ...]]:
    """Sorts given values into quantities of bodies to hold and joint coordinates to reach."""
    angles = {f"{c.name}.{row.label}": (c, row) for c in system.joints.values() for row in c.coordinates}
    balls = {f"{name}.A": system.joints[name] for name in ball_joints(system)}
    values, of_joints = sort_given(system, "position", given, ("r_P", "theta", "A_IB", "eta"), [*angles, *balls])
    wanted: list[tuple[Connection, Row | Attitude, float]] = [
        (balls[name], attitude(name, value), 0.0) if name in balls else (*angles[name], float(finite(name, value, ())))
        for name, value in of_joints.items()
    ]
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


def initial_guess(
    task: Closure, values: dict[str, np.ndarray], guess: dict[str, np.ndarray], wander: int
) -> tuple[State, list[str]]:
    """Bodies set one against the other along the joints, with joints at zero (or at what is wanted); and those joints."""
    system = task.system
    known = guess | values
    state = rest_state(system.bodies).with_values({n: v.reshape(system.layout.shape(n)) for n, v in known.items()})
    random = np.random.default_rng(wander)
    placed = {""} | {name for name in system.bodies if f"{name}.r_P" in known and _is_oriented(state, name, known)}
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
        wanted = {row: value for joint, row, value in task.wanted if joint is c}
        turn, slide = _joint_opening(c, wanted, random if wander else None)
        if not forward:
            turn, slide = turn.T, -turn.T @ slide
        state = _set_against(state, port_state(there, state), mine, turn, slide, known)
        if not _is_oriented(state, mine.body, known):
            near = [d for d in waiting if mine.body in (d.first.body, d.second.body)]
            others = [d for d in near if {d.first.body, d.second.body} <= placed | {mine.body}]
            state = state if wander else _turned_to_joints(state, c, others, mine.body, known)
        placed.add(mine.body)
    return state, tree


def _turned_to_joints(
    state: State, c: Connection, others: list[Connection], name: str, known: Mapping[str, object]
) -> State:
    """A body that hangs on one joint turned so that its other ports point to where their joints want them (Kabsch)."""
    mine, wanted = [], []
    for joint in (c, *others):
        first, second = element_ends(joint, state)
        own, other = (first, second) if joint.first.body == name else (second, first)
        mine.append(own.c)
        wanted.append(other.c)
    if len(mine) < 2 or not state.bodies[name].rotates:
        return state
    a, b = np.array(mine[1:]) - mine[0], np.array(wanted[1:]) - wanted[0]
    size = max(np.linalg.norm(a), np.linalg.norm(b))
    if size == 0.0:
        return state
    spread = b.T @ a + 1e-6 * size**2 * np.eye(3)  # what the points leave open stays as it is
    u, _, vt = np.linalg.svd(spread)
    turn = u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt
    r = state.pose(name).r_P
    return _shifted(_turned(state, name, turn), name, mine[0] + turn @ (r - mine[0]), known)


def _set_against(
    state: State, there: PortState, end: End, turn: np.ndarray, slide: np.ndarray, known: Mapping[str, object]
) -> State:
    """One body set against a port that stands: joint triads aligned, points together, as far as it is not known."""
    name = end.body
    if not _is_oriented(state, name, known):
        # triads of bent sections are orthonormal to first order only
        u, _, vt = np.linalg.svd(there.D @ turn @ port_state(end, state).D.T)
        state = _turned(state, name, u @ vt)
    return _shifted(state, name, state.pose(name).r_P + there.c + there.D @ slide - port_state(end, state).c, known)


def _turned(state: State, name: str, turn: np.ndarray) -> State:
    """The state with a body turned about its P by a rotation in inertial axes."""
    if f"{name}.theta" in state.layout:
        return state.with_values({f"{name}.theta": state[f"{name}.theta"] + np.arctan2(turn[1, 0], turn[0, 0])})
    return state.with_values({f"{name}.A_IB": turn @ state.pose(name).A})


def _shifted(state: State, name: str, r: np.ndarray, known: Mapping[str, object]) -> State:
    """The state with the P of a body at r, unless its place is known."""
    if f"{name}.r_P" in known:
        return state
    return state.with_values({f"{name}.r_P": r[[i for i in state.bodies[name].active if i < 3]]})


def _joint_opening(
    c: Connection, wanted: Mapping[Row | Attitude, float], random: np.random.Generator | None
) -> tuple[np.ndarray, np.ndarray]:
    """The triad and the point of the second end seen from the first: wanted coordinates, else zero or random turns."""
    turn, slide = np.eye(3), np.zeros(3)
    for row in c.coordinates:
        if row.slide_axis is not None:
            slide[row.slide_axis] = wanted.get(row, 0.0)
        elif row.is_angle:
            turn = turn @ row.zero_triad(wanted.get(row, random.uniform(-np.pi, np.pi) if random else 0.0))
    if random is not None and any(row.function == "spin" for row in c.free):
        turn = rotation(random.normal(size=3)) if len(c.free) == 3 else rot(random.uniform(-np.pi, np.pi))
    return next((row.R for row in wanted if isinstance(row, Attitude)), turn), slide


def _is_oriented(state: State, name: str, known: Mapping[str, object]) -> bool:
    return not state.bodies[name].rotates or f"{name}.theta" in known or f"{name}.A_IB" in known


# --- gaps of joints ---------------------------------------------------------------------------------------------------
#
# The gaps of joints as equations for rigid motions, and Newton's method on them.


STEPS = 60
FIRM = 1e4
DAMPING = (1e-12, 1e-3, 1e-1, 1e1)  # of the rows, tried in turn until the gap shrinks


@dataclass(frozen=True, eq=False)
class Closure:
    """The gaps of a system as equations for the rigid motions that are not held."""

    system: System
    held: frozenset[str]
    wanted: tuple[tuple[Connection, Row | Attitude, float], ...]
    firm: frozenset[str] = frozenset()  # joints whose gaps weigh so much that the others take what is left

    @cached_property
    def unknowns(self) -> tuple[np.ndarray, np.ndarray]:
        """Columns of the rigid velocities that may move, and the unit of each (lengths by size)."""
        places, columns, units = columns_in_velocities(self.system), [], []
        for name, body in self.system.bodies.items():
            for i, kind in enumerate(body.active):
                fixed = f"{name}.r_P" if kind < 3 else f"{name}.theta" if len(body.active) == 3 else f"{name}.A_IB"
                if fixed not in self.held:
                    columns.append(places.columns[name][i])
                    units.append(self.system.size if kind < 3 else 1.0)
        return np.array(columns, dtype=int), np.array(units)

    def rows(self) -> Iterable[tuple[Connection, Row | Attitude, float]]:
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
            gap, unit = self.scaled_gap(row, first, second, value)
            unit /= FIRM if c.name in self.firm else 1.0
            gaps.append(gap / unit)
            on_first, on_second = row.rate(first, second)
            blocks.append((c, (on_first / unit, on_second / unit)))
        columns, units = self.unknowns
        G = scatter_rows(blocks, columns_in_velocities(self.system))
        return np.concatenate(gaps) if gaps else np.zeros(0), csr(G[:, columns] @ sp.diags_array(units))

    def scaled_gap(
        self, row: Row | Attitude, first: PortState, second: PortState, value: float
    ) -> tuple[np.ndarray, float]:
        gap = np.atleast_1d(row.gap(first, second) - value)
        if isinstance(row, Attitude):
            return gap, 1.0
        return np.arctan2(np.sin(gap), np.cos(gap)) if row.is_angle else gap, self.system.size**row.length_power

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
        """The state with bodies moved by the unknowns."""
        columns, units = self.unknowns
        whole = np.zeros(columns_in_velocities(self.system).size)
        whole[columns] = step * units
        return displaced(self.system, state, whole)

    def pointing_apart(self, state: State) -> bool:
        return any(is_half_turn(c, *ends(c, state)) for c in self.system.joints.values())


def _shortest(G: Matrix, right: np.ndarray, damping: float) -> np.ndarray:
    """The least x with G x = right, also where rows repeat each other; shorter with damping (Levenberg, Marquardt)."""
    rows, columns = G.shape
    saddle = sp.block_array([[sp.eye_array(columns), G.T], [G, -damping * sp.eye_array(rows)]], format="csc")
    return spla.splu(saddle).solve(np.concatenate([np.zeros(columns), right]))[:columns]
