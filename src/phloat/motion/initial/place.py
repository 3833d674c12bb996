"""Positions that close the joints: Newton's method on the gaps, from an initial guess built joint by joint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from phloat.algebra.sparse import Matrix, csr, scattered_rows
from phloat.algebra.threads import one_thread
from phloat.errors import ClosureError, finite, mapping
from phloat.joints.port_state import PortState
from phloat.joints.rows import Row, gap_units, row_gaps, row_rates
from phloat.joints.standard_rows import Attitude, attitude
from phloat.motion.initial.first_guess import Targets, initial_guess
from phloat.motion.initial.velocities import displaced_state, sort_values
from phloat.system.connection import Connection
from phloat.system.joint_groups import JointGroup
from phloat.system.joint_rows import (
    ball_joints,
    columns_in_velocities,
    ends,
    grouped_ports,
    half_turns,
    sense,
    unwrapped,
)
from phloat.system.state import State
from phloat.system.system import System
from phloat.system.units import values_in_si

CLOSED = 1e-11  # the gap that counts as closed, relative to the size of the mechanism
RESTARTS, AGREEING = 20, 4  # the search ends when more than so many attempts give the same gap
FLIPPED = 10.0  # added to the gap of joints that close half a turn away

Given = Mapping[str, object]


@one_thread()
def place(system: System, given: Given | None = None, *, near: State | Given | None = None) -> State:
    """A state at rest with every joint closed. Values `given` by name are exact; `near` is a guess for the others.

    Without a guess, bodies are placed one after the other with joint coordinates zero.

    Parameters
    ----------
    system : System
    given : dict of str to float or array, optional
        Prescribed positions: "body.r_P" (m, inertial axes), "body.theta" (rad, in a plane) or "body.A_IB" (3 × 3, body to
        inertial axes), "body.eta" (deformation, zero unless given), "joint.angle" (rad), "joint.slide" (m), and "joint.A" of a
        spherical joint in space, the rotation (3 × 3) from the first port's joint frame to the second's.
    near : State or dict, optional
        A guess for other positions, by the same names; it selects one of several configurations of a loop. Angles and slides of
        joints that close a loop last are not used.

    Returns
    -------
    State
        Positions by name, with zero velocities.

    Raises
    ------
    ClosureError
        The joints do not close; the message has the largest gap.

    Examples
    --------
    >>> arm = ph.RigidBody(mass=2.0, inertia=0.1 * np.eye(3), ports={"tip": (1.0, 0.0, 0.0)}).discretise()
    >>> joints = [ph.Revolute("ground", "upper.P", name="shoulder"), ph.Revolute("upper.tip", "lower.P", name="elbow")]
    >>> robot = ph.connect({"upper": arm, "lower": arm}, joints, plane="xy")
    >>> state = ph.place(robot, {"shoulder.angle": np.pi / 2, "elbow.angle": -np.pi / 2})
    >>> print(state["lower.r_P"].round(6) + 0.0, state["lower.theta"].round(6) + 0.0)
    [0. 1.] 0.0
    """
    named = mapping("given", {} if given is None else given, "{name: value}")
    values, targets = _sort_positions(system, values_in_si(system, named))
    guess, near_targets = _guess(system, near)
    task = Closure(system, frozenset(values), targets)
    attempts: list[tuple[float, State]] = []
    for attempt in range(RESTARTS):
        nearby = (guess, near_targets) if attempt == 0 else ({}, ())
        start, _ = initial_guess(system, targets, values, *nearby, seed=max(0, attempt - 1))
        state, gap = task.close(start)
        flipped = task.has_flipped_joint(state)
        if gap < CLOSED and not flipped:
            return _with_whole_turns(task, state)
        attempts.append((gap + (FLIPPED if flipped else 0.0), state))
        best = min(gap for gap, _ in attempts)
        if sum(gap < 1.001 * best for gap, _ in attempts) > AGREEING:
            break
    raise ClosureError(_closure_message(task, values, min(attempts, key=lambda t: t[0])[1]))


def _with_whole_turns(task: Closure, state: State) -> State:
    """The state with the whole turns of prescribed joint angles added to absolute angles."""
    for c, row, value in task.targets:
        name = f"{c.second.body}.theta"
        if isinstance(row, Row) and row.is_angle and name in state.layout and name not in task.fixed:
            angle = unwrapped(c, state, value)
            turns = 2 * np.pi * np.round((value - angle) / (2 * np.pi))
            state = state.with_values({name: state[name] + sense(c) * turns})
    return state


def _closure_message(task: Closure, values: dict[str, np.ndarray], best: State) -> str:
    """The error message for joints that do not close; joints of the tree are stiffened, so that loop joints show the whole gap."""
    _, tree = initial_guess(task.system, task.targets, values, {}, (), seed=0)
    stiffened = replace(task, stiffened=frozenset(tree))
    for _ in range(4):
        best, _ = stiffened.close(best)
    gaps_by_joint: dict[tuple[str, str], list[float]] = {}
    for c, row, value in task.rows():
        gap, unit = task.scaled_gap(row, *ends(c, best), value)
        metres = isinstance(row, Row) and row.is_length
        gaps_by_joint.setdefault((c.name, "m" if metres else "rad"), []).extend(gap / unit)
    size = {key: float(np.linalg.norm(gaps)) for key, gaps in gaps_by_joint.items()}
    flipped = set(half_turns(task.system, best))
    joint, unit_name = max(size, key=lambda key: size[key] + (FLIPPED if key[0] in flipped else 0.0))
    fixed_too = f" with {', '.join(sorted(task.fixed))} held" if task.fixed else ""
    if joint in flipped:
        return f"joint {joint!r} closes only half a turn away{fixed_too}; give another guess with near=…"
    widest = size[joint, unit_name] * (task.system.size if unit_name == "m" else 1.0)
    return (
        f"the joints do not close{fixed_too}: the best try leaves a gap of {widest:.3g} {unit_name} at {joint!r}; "
        "check lengths and at=…, hold less, or give another guess with near=…"
    )


def _sort_positions(system: System, values: Given) -> tuple[dict[str, np.ndarray], Targets]:
    """Splits prescribed values into quantities of bodies and targets of joint coordinates."""
    angles = {f"{c.name}.{row.label}": (c, row) for c in system.joints.values() for row in c.coordinates}
    balls = {f"{name}.A": system.joints[name] for name in ball_joints(system)}
    of_bodies, of_joints = sort_values(system, "position", values, ("r_P", "theta", "A_IB", "eta"), [*angles, *balls])
    targets: list[tuple[Connection, Row | Attitude, float]] = [
        (balls[name], attitude(name, value), 0.0) if name in balls else (*angles[name], float(finite(name, value, ())))
        for name, value in of_joints.items()
    ]
    return of_bodies, tuple(targets)


def _guess(system: System, near: State | Given | None) -> tuple[dict[str, np.ndarray], Targets]:
    """Positions of bodies and joint coordinates from `near`."""
    if near is None:
        return {}, ()
    if isinstance(near, State):
        names = [n for n in near.layout if n.rpartition(".")[2] in ("r_P", "theta", "A_IB") and n in system.layout]
        return {name: near.e[near.layout[name]] for name in names}, ()
    return _sort_positions(system, values_in_si(system, mapping("near", near, "{name: value}")))


# --- gaps of joints ---------------------------------------------------------------------------------------------------
#
# The gaps of joints as equations for rigid motions, and Newton's method on them.


STEPS = 60
STIFFENING = 1e4
DAMPING = (1e-12, 1e-3, 1e-1, 1e1)  # of the rows, tried in turn until the gap shrinks


@dataclass(frozen=True, eq=False)
class Closure:
    """The gaps of a system as equations for the rigid motions that are not prescribed."""

    system: System
    fixed: frozenset[str]
    targets: Targets
    stiffened: frozenset[str] = frozenset()  # joints with a large weight, so that gaps remain at the others

    @cached_property
    def unknowns(self) -> tuple[np.ndarray, np.ndarray]:
        """Indices, among all velocities, of the rigid motions to be found, and their units: the size of the system, or 1 rad."""
        velocities, columns, units = columns_in_velocities(self.system), [], []
        for name, body in self.system.bodies.items():
            for i, kind in enumerate(body.active):
                fixed = f"{name}.r_P" if kind < 3 else f"{name}.theta" if len(body.active) == 3 else f"{name}.A_IB"
                if fixed not in self.fixed:
                    columns.append(velocities.columns[name][i])
                    units.append(self.system.size if kind < 3 else 1.0)
        return np.array(columns, dtype=int), np.array(units)

    def rows(self) -> Iterable[tuple[Connection, Row | Attitude, float]]:
        """Joints and rows with target values: closed rows, then prescribed coordinates."""
        for c in self.system.joints.values():
            for row in c.closed:
                yield c, row, 0.0
        yield from self.targets

    def gaps(self, state: State) -> np.ndarray:
        """The gaps divided by their units: of closed rows by groups of joints, then of targets."""
        out = [np.zeros(0)]
        for group, first, second in grouped_ports(self.system, state):
            if group.closed:
                gap = row_gaps(group.closed, first, second)
                angles = [row.is_angle for row in group.closed]
                gap[:, angles] = np.arctan2(np.sin(gap[:, angles]), np.cos(gap[:, angles]))
                out.append((gap / self._units(group)).ravel())
        for c, row, value in self.targets:
            gap, unit = self.scaled_gap(row, *ends(c, state), value)
            out.append(gap / unit * (STIFFENING if c.name in self.stiffened else 1.0))
        return np.concatenate(out)

    def _units(self, group: JointGroup) -> np.ndarray:
        """The units of the closed rows of a group, (joints, rows)."""
        stiff = np.array([STIFFENING if c.name in self.stiffened else 1.0 for c in group.joints])
        return gap_units(group.closed, self.system.size) / stiff[:, None]

    def jacobian(self, state: State) -> Matrix:
        """The derivatives of `gaps` with respect to the `unknowns`."""
        places, blocks, count = columns_in_velocities(self.system), [], 0
        for group, first, second in grouped_ports(self.system, state):
            if group.closed:
                rows = count + np.arange(len(group.joints) * len(group.closed)).reshape(len(group.joints), -1)
                units = self._units(group)[..., None]
                rates = row_rates(group.closed, first, second)
                for end, rate in zip((group.first, group.second), rates, strict=True):
                    rigid = end.columns < 6  # η is prescribed
                    blocks.append((rows, end.velocities(places)[:, rigid], rate[..., rigid] / units))
                count += rows.size
        for c, row, value in self.targets:
            unit = self.scaled_gap(row, *ends(c, state), value)[1] / (STIFFENING if c.name in self.stiffened else 1.0)
            rates_of_two = [np.atleast_2d(rate) / unit for rate in row.rate(*ends(c, state))]
            of_row = count + np.arange(len(rates_of_two[0]))
            for one_end, rate in zip((c.first, c.second), rates_of_two, strict=True):
                if one_end.body:
                    blocks.append((of_row[None], places.columns[one_end.body][None], rate[None]))
            count += len(of_row)
        columns, units = self.unknowns
        G = scattered_rows(blocks, (count, places.size))
        return csr(G[:, columns] @ sp.diags_array(units))

    def scaled_gap(
        self, row: Row | Attitude, first: PortState, second: PortState, value: float
    ) -> tuple[np.ndarray, float]:
        """A gap (angles between −π and π) and its unit."""
        gap = np.atleast_1d(row.gap(first, second) - value)
        if isinstance(row, Attitude):
            return gap, 1.0
        return np.arctan2(np.sin(gap), np.cos(gap)) if row.is_angle else gap, self.system.size**row.length_power

    def close(self, state: State) -> tuple[State, float]:
        """Newton's method with shortest steps. Returns the state and its largest scaled gap."""
        gap = self.gaps(state)
        slow_steps = 0  # steps in a row that hardly helped
        for _ in range(STEPS):
            largest = np.abs(gap).max(initial=0.0)
            if largest < 1e-14 or slow_steps > 4 or not self.unknowns[0].size:
                break
            G = self.jacobian(state)
            for damping in DAMPING:
                step = _shortest_step(G, -gap, damping)
                step *= min(1.0, 0.7 / max(np.abs(step).max(), 1e-300))
                trial = self.displace(state, step)
                new_gap = self.gaps(trial)
                if np.linalg.norm(new_gap) < np.linalg.norm(gap):
                    break
            else:
                break
            slow_steps = slow_steps + 1 if np.linalg.norm(new_gap) > 0.99 * np.linalg.norm(gap) else 0
            state, gap = trial, new_gap
        return state, float(np.abs(gap).max(initial=0.0))

    def displace(self, state: State, step: np.ndarray) -> State:
        """The state after a motion along the unknowns."""
        columns, units = self.unknowns
        w = np.zeros(columns_in_velocities(self.system).size)
        w[columns] = step * units
        return displaced_state(self.system, state, w)

    def has_flipped_joint(self, state: State) -> bool:
        """Whether a joint is closed half a turn away from its proper orientation."""
        return bool(half_turns(self.system, state))


def _shortest_step(G: Matrix, rhs: np.ndarray, damping: float) -> np.ndarray:
    """The shortest x with G x = rhs, also for dependent rows; shorter with damping (Levenberg, Marquardt)."""
    rows, columns = G.shape
    saddle = sp.block_array([[sp.eye_array(columns), G.T], [G, -damping * sp.eye_array(rows)]], format="csc")
    return spla.splu(saddle).solve(np.concatenate([np.zeros(columns), rhs]))[:columns]
