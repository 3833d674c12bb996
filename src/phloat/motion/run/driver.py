"""A run by any scheme: its inputs, rows and result; and from its start to its end the steps, the controller, events and saving."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from phloat.errors import InputError
from phloat.joints.rows import FIRST, SECOND, Row
from phloat.motion.inputs.signals import Constant, Signal, as_vector
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.pack import Packed, Side, side
from phloat.motion.law_ranges import begin_ranges, found_ranges
from phloat.motion.result import EnergyAccounts, PastEvent, Result, spatial_angles
from phloat.motion.run.assembly import RunBuffers, assemble_run, unload_states
from phloat.motion.run.events import EventSearch
from phloat.motion.run.outputs import Outputs, Reader
from phloat.motion.run.task import Stepper, Task
from phloat.system.state import State

NEAR = 1e-12  # of the run: a sample, a corner or the end so near is reached


@dataclass(eq=False)
class Rows:
    """Output rows in arrays that grow; λ of the row `pending` is complete after the next step only."""

    kept: np.ndarray
    lam: np.ndarray
    springs: np.ndarray
    t: list[float] = field(default_factory=list)
    pending: int = -1
    dropped: int = 0  # rows before the first one here, which are saved already
    turned: list[np.ndarray] = field(default_factory=list)  # angles with their turns, where they are counted

    @property
    def count(self) -> int:
        return len(self.t)

    def reserve(self, more: int) -> None:
        """Makes space for so many rows more."""
        missing = self.count + more - len(self.kept)
        if missing > 0:
            grow = max(missing, len(self.kept) // 2)
            self.kept, self.lam, self.springs = (
                np.vstack([old, np.zeros((grow, old.shape[1]))]) for old in (self.kept, self.lam, self.springs)
            )

    def drop(self, count: int) -> None:
        """Removes the first rows, which are saved."""
        self.kept, self.lam, self.springs = (
            old[count : self.count].copy() for old in (self.kept, self.lam, self.springs)
        )
        del self.t[:count], self.turned[:count]
        self.dropped, self.pending = self.dropped + count, max(self.pending - count, -1)

    def truncate(self, count: int) -> None:
        """Removes all rows but the first so many."""
        del self.t[count:], self.turned[count:]

    def select(self, first: int, chosen: np.ndarray) -> None:
        """Keeps, of the rows from `first` on, those with these numbers (counted from `first`)."""
        last = self.count - 1
        for array in (self.kept, self.lam, self.springs):
            array[first : first + len(chosen)] = array[first + chosen]
        self.t[first:] = [self.t[first + k] for k in chosen]
        if len(self.turned) > first:
            self.turned[first:] = [self.turned[first + k] for k in chosen]
        if self.pending == last:
            self.pending = self.count - 1 if last - first in chosen else -1


@dataclass(frozen=True, eq=False)
class TurnCounter:
    """The angles of joints in space, from the kept numbers of steps.

    Whole turns are counted at every step, because output rows may be many turns apart. In a plane absolute angles count them; in
    space an angle is read from directions, which say it up to whole turns.
    """

    packed: Packed
    joints: tuple[tuple[Side, Side, Row], ...]

    def wrapped(self, kept: np.ndarray) -> np.ndarray:
        """Angles between −π and π, (rows, joints)."""
        return np.stack([self._angle(kept, *joint) for joint in self.joints], axis=1)

    def unwrapped(self, before: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """Angles with their turns, from those of the step before."""
        return np.unwrap(np.vstack([before, self.wrapped(kept)]), axis=0)[1:]

    def _angle(self, kept: np.ndarray, first: Side, second: Side, row: Row) -> np.ndarray:
        (_, i, j), (_, k, l) = row.terms[0], row.other_terms[0]
        i, j, k, l = i - FIRST, j - SECOND, k - FIRST, l - SECOND
        a, b = self._directions(kept, first), self._directions(kept, second)
        return np.arctan2((a[:, i] * b[:, j]).sum(axis=1), (a[:, k] * b[:, l]).sum(axis=1))

    def _directions(self, kept: np.ndarray, end: Side) -> np.ndarray:
        """Directions of a joint at one of its ends, (rows, 3, 3), one below the other."""
        if end.body < 0 or end.port is None:
            return np.broadcast_to(end.triad, (len(kept), 3, 3))
        at = int(self.packed.model.bodies[end.body, t.W_Q]) - self.packed.first
        A, Psi = kept[:, at + 3 : at + 12].reshape(-1, 3, 3), end.port.Psi
        if not Psi.any():
            return np.swapaxes(A @ end.triad.T, 1, 2)
        psi = kept[:, at + 12 : at + 12 + Psi.shape[1]] @ Psi.T
        turned = np.cross(psi[:, None], end.triad[None])
        bent = end.triad + turned + np.cross(psi[:, None], turned) / 3.0
        return bent @ np.swapaxes(A, 1, 2)


class Run:
    """A task with its buffers; `t` is the time reached."""

    def __init__(self, task: Task, assembly: RunBuffers | None = None) -> None:
        self.task, self.t = task, task.t_0
        also = task.system.ports.also
        self.given = {also.get(name, name): signal for name, signal in task.inputs.signals.items()}
        self.signals: dict[str, Signal] = dict(self.given)
        self.sampled = -np.inf  # when the controller was called last
        self.changes: list[tuple[float, int, float]] = []  # time, number of the event, its change of H
        self.past: list[PastEvent] = []
        self.info: dict[str, object] = {}  # what a stepper reports
        if task.memory is not None:
            self.signals |= self._saved_signals(task.memory)
        elif task.controller is not None:
            self.control(Outputs(task.system, task.state))
        self.assembly = assemble_run(task.system, task.state, self.signals, task.t_0) if assembly is None else assembly
        p = self.packed
        for row in task.dropped:
            p.model.rows[row, t.R_DROPPED] = 1
        self.laws = bool((p.model.rows[:, t.R_MODE] == t.COMPLIANT).any())  # springs or dampers, which may have ranges
        if self.laws:
            begin_ranges(p, task.t_0)
        every_step = isinstance(task.output, int) and task.output == 1
        angles = {} if every_step else spatial_angles(task.system)
        joints = [(side(task.system, c.first), side(task.system, c.second), row) for c, row in angles.values()]
        self.turns = TurnCounter(p, tuple(joints)) if joints else None
        self.turned = np.zeros(0) if self.turns is None else self.turns.wrapped(self.numbers[None])[0]
        self.rows = Rows(np.zeros((0, p.kept)), np.zeros((0, p.multipliers)), np.zeros((0, len(p.entries))))

    @property
    def packed(self) -> Packed:
        return self.assembly.packed

    @property
    def numbers(self) -> np.ndarray:
        """The numbers of the present state that an output row has."""
        p = self.packed
        return p.w[p.first : p.first + p.kept]

    # --- controller --------------------------------------------------------------------------------------------------

    @property
    def due(self) -> float:
        """When the controller wants to be called next; infinite if it is called at every step, or there is none."""
        if self.task.every is not None and self.sampled > -np.inf:
            return self.sampled + self.task.every
        return getattr(self.task.controller, "due", np.inf)

    def control(self, y: Outputs) -> None:
        """Calls the controller, if its sample time has come, for new inputs."""
        task, first = self.task, self.sampled == -np.inf
        assert task.controller is not None
        if self.sampled == self.t:
            return
        if not first and task.every is not None and self.t < self.sampled + task.every * (1 - 1e-9):
            return
        self.sampled = self.t if first or task.every is None else self.sampled + task.every
        answer = task.controller(self.t, y)
        if not isinstance(answer, Mapping):
            raise InputError(f"the controller returned {answer!r} at t = {self.t:g} s; it must return {{port: value}}")
        for name, value in answer.items():
            there = task.system.ports if first else self.signals
            port = task.system.ports.also.get(name, name)
            if port not in there:
                raise InputError(
                    f"the controller returned a value for {name!r} at t = {self.t:g} s; "
                    f"{'ports are' if first else 'at the start it returned values for'}: {', '.join(there)}"
                )
            shape = task.system.ports.shape(name)
            self.signals[port] = Constant(as_vector(f"controller, {name!r} at t = {self.t:g} s", value, shape))

    def controlled(self) -> dict[str, np.ndarray]:
        """The present values of the inputs that the controller has set."""
        changed = {name: s for name, s in self.signals.items() if s is not self.given.get(name)}
        return {name: signal.at(self.t) for name, signal in changed.items()}

    def _saved_signals(self, memory: Mapping[str, np.ndarray]) -> dict[str, Signal]:
        names = memory["inputs"].tolist()
        ends = np.cumsum([self.task.system.ports.shape(name)[0] for name in names], dtype=int)
        values = np.split(memory["values"], ends[:-1])
        return {name: Constant(value) for name, value in zip(names, values, strict=False)}

    def inputs(self) -> np.ndarray:
        """u at the time reached, over all ports."""
        u = np.zeros(self.task.system.ports.size)
        for name, signal in self.signals.items():
            u[self.task.system.ports[name]] = signal.at(self.t)
        return u

    # --- states and results ------------------------------------------------------------------------------------------

    @cached_property
    def reader(self) -> Reader:
        return Reader(self.assembly)

    def outputs(self) -> Outputs:
        """The outputs of the system now, computed when they are read."""
        return self.reader.outputs()

    def state(self) -> State:
        return self.state_in(self.packed.w)

    def state_in(self, w: np.ndarray) -> State:
        """The state in a buffer w of this run."""
        p, system = self.packed, self.task.system
        kept = w[p.first : p.first + p.kept][None]
        return State(system.bodies, system.layout, unload_states(self.assembly, kept)[0])

    def count_turns(self) -> None:
        """Counts the turns of joints in space up to the present state."""
        if self.turns is not None:
            self.turned = self.turns.unwrapped(self.turned, self.numbers[None])[0]

    def add_row(self, kept: np.ndarray, lam: np.ndarray, springs: np.ndarray) -> None:
        """Appends an output row at the time reached."""
        rows, k = self.rows, self.rows.count
        rows.reserve(1)
        rows.kept[k], rows.lam[k], rows.springs[k] = kept, lam, springs
        rows.t.append(self.t)
        if self.turns is not None:
            rows.turned.append(self.turned)

    def accounts_of(self, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Energies and losses of bodies, and works of entries, in rows of kept numbers."""
        p, entries = self.packed, len(self.packed.entries)
        energies = np.stack([kept[:, b[t.W_ENERGY] - p.first :][:, :3] for b in p.model.bodies], axis=1)
        energies[:, :, 1] += self.assembly.constant
        losses = np.stack([kept[:, b[t.W_LOSS] - p.first] for b in p.model.bodies], axis=1)
        at = int(p.model.entries[0, t.J_WORK]) - p.first if entries else 0
        return energies, losses, kept[:, at : at + 2 * entries].reshape(len(kept), entries, 2)

    def residual(self) -> float | None:
        """The energy residual so far; None where the scheme does not count works exactly."""
        return None

    def result_of(self, n: int, lam: np.ndarray, info: Mapping[str, object]) -> Result:
        """The first n rows as a Result."""
        p, rows, system = self.packed, self.rows, self.task.system
        kept, times = rows.kept[:n], np.array(rows.t[:n])
        energies, losses, works = self.accounts_of(kept)
        acting, changes = self._works_of_events(times)
        names = (*(entry.name for entry in p.entries), *acting)
        works = np.concatenate([works, changes], axis=1)
        springs = np.concatenate([rows.springs[:n], np.zeros((n, len(acting)))], axis=1)
        ranges = found_ranges(p) if self.laws else {}
        info = {**info, "events": tuple((event.t, event.name) for event in self.past), **ranges, **self.info}
        turned = None if self.turns is None else np.array(rows.turned[:n]).reshape(n, len(self.turns.joints))
        e, lam = unload_states(self.assembly, kept), lam[:, : system.multipliers.size]
        accounts = EnergyAccounts(names, energies, losses, works, springs)
        return Result(system, times, e, lam, accounts, info, tuple(self.past), turned)

    def _works_of_events(self, times: np.ndarray) -> tuple[list[str], np.ndarray]:
        """What events have done to H up to these times, as works of entries of their own."""
        acting = {i: k for k, i in enumerate(i for i, e in enumerate(self.task.events) if e.do is not None)}
        out = np.zeros((len(times), len(acting), 2))
        for time, which, change in self.changes:
            out[times > time, acting[which], 1] += change  # the row at an event is of the state before it
        return [f"event {self.task.events[i].name}" for i in acting], out


# --- from start to end -----------------------------------------------------------------------------------------------


def run_to_end(stepper: Stepper) -> Result:
    """Runs the task of a stepper to its end, or to an event that stops it."""
    run: Run = stepper.run
    task = run.task
    if stepper.adaptive and task.controller is not None and run.due == np.inf:
        raise InputError(
            f"{stepper.name} chooses its steps itself, so a controller needs its sample time: every=…, or "
            "Sampled(controller, every=…)"
        )
    events = EventSearch(stepper, task.memory or {}) if task.events else None
    while True:
        _call_controller(stepper)
        if not stepper.advance(_limit(stepper)):
            break
        found = None if events is None else events.find()
        if events is None or found is None:
            stepper.accept()
        elif not events.act(*found):
            break
        task.progress(run.t, run.residual)
        _save(stepper, events)
    _save(stepper, events, now=True)
    return stepper.result()


def _call_controller(stepper: Stepper) -> None:
    """Calls the controller where it is due."""
    run, task = stepper.run, stepper.run.task
    if task.controller is None:
        return
    near = NEAR * (task.t_end - task.t_0)
    due = stepper.at_node or run.t >= run.due - 1e-9 * (task.every or 0.0) - near
    if due and task.t_end - run.t > near:
        before = run.sampled
        run.control(stepper.outputs())
        if stepper.adaptive and run.sampled != before:
            stepper.restart()


def _limit(stepper: Stepper) -> float:
    """The next time that no step may pass: the end, a corner of an input, a sample of the controller."""
    run, task = stepper.run, stepper.run.task
    near, due = NEAR * (task.t_end - task.t_0), run.due
    limit = min(stepper.corners.after(run.t + near), due if due > run.t + near else np.inf)
    return limit if limit < task.t_end - near else task.t_end


def _save(stepper: Stepper, events: EventSearch | None, *, now: bool = False) -> None:
    """Gives rows and memory to the recorder if it is time; the last row stays, because its λ is not complete."""
    recorder, rows = stepper.run.task.recorder, stepper.run.rows
    if recorder is None or not stepper.resumable or not (now or recorder.due(8 * rows.count * rows.kept.shape[1])):
        return
    count = rows.count - 1
    finished = stepper.result(count)
    rows.drop(count)
    recorder.piece(finished, {**stepper.memory(), **({} if events is None else events.memory())})
