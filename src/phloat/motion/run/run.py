"""A run by any scheme: its inputs, output rows and result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from phloat.algebra.cross import crosses
from phloat.errors import InputError
from phloat.joints.rows import FIRST, SECOND, Row
from phloat.motion.inputs.servos import ServoSignal
from phloat.motion.inputs.signals import Constant, Signal, as_vector
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.pack import Packed, Side, side
from phloat.motion.law_ranges import begin_ranges, law_ranges
from phloat.motion.result import Efforts, EnergyAccounts, PastEvent, Result, spatial_angles
from phloat.motion.run.assembly import assemble_run
from phloat.motion.run.outputs import Outputs, Reader
from phloat.motion.run.samples import EffortSamples
from phloat.motion.run.states import RunBuffers, unload_states
from phloat.motion.run.task import Task
from phloat.system.state import State


@dataclass(eq=False)
class Rows:
    """Output rows in growing arrays; λ of the row `pending` is completed by the next step."""

    numbers: np.ndarray
    lam: np.ndarray
    springs: np.ndarray
    t: list[float] = field(default_factory=list)
    pending: int = -1
    dropped: int = 0  # number of earlier rows, which are saved already
    angles: list[np.ndarray] = field(default_factory=list)  # angles of joints in space with whole turns

    @property
    def count(self) -> int:
        return len(self.t)

    def reserve(self, more: int) -> None:
        """Makes space for more rows."""
        missing = self.count + more - len(self.numbers)
        if missing > 0:
            grow = max(missing, len(self.numbers) // 2)
            self.numbers, self.lam, self.springs = (
                np.vstack([old, np.zeros((grow, old.shape[1]))]) for old in (self.numbers, self.lam, self.springs)
            )

    def drop(self, count: int) -> None:
        """Removes the first rows, which are saved."""
        self.numbers, self.lam, self.springs = (
            old[count : self.count].copy() for old in (self.numbers, self.lam, self.springs)
        )
        del self.t[:count], self.angles[:count]
        self.dropped, self.pending = self.dropped + count, max(self.pending - count, -1)

    def truncate(self, count: int) -> None:
        """Removes all rows but the first `count`."""
        del self.t[count:], self.angles[count:]

    def select(self, first: int, chosen: np.ndarray) -> None:
        """Removes rows from `first` on, except those with the numbers `chosen` (counted from `first`)."""
        last = self.count - 1
        for array in (self.numbers, self.lam, self.springs):
            array[first : first + len(chosen)] = array[first + chosen]
        self.t[first:] = [self.t[first + k] for k in chosen]
        if len(self.angles) > first:
            self.angles[first:] = [self.angles[first + k] for k in chosen]
        if self.pending == last:
            self.pending = self.count - 1 if last - first in chosen else -1


@dataclass(frozen=True, eq=False)
class TurnCounter:
    """Angles of joints in space, from the numbers of output rows.

    Whole turns are counted at every step, because output rows may be several turns apart. In a plane absolute angles include them;
    in space an angle follows from directions, which determine it up to whole turns.
    """

    packed: Packed
    joints: tuple[tuple[Side, Side, Row], ...]

    def wrapped(self, numbers: np.ndarray) -> np.ndarray:
        """Angles between −π and π, (rows, joints)."""
        return np.stack([self._angle(numbers, *joint) for joint in self.joints], axis=1)

    def unwrapped(self, before: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Angles with whole turns, from those of the previous step."""
        return np.unwrap(np.vstack([before, self.wrapped(numbers)]), axis=0)[1:]

    def _angle(self, numbers: np.ndarray, first: Side, second: Side, row: Row) -> np.ndarray:
        (_, i, j), (_, k, l) = row.terms[0], row.other_terms[0]
        i, j, k, l = i - FIRST, j - SECOND, k - FIRST, l - SECOND
        a, b = self._directions(numbers, first), self._directions(numbers, second)
        return np.arctan2((a[:, i] * b[:, j]).sum(axis=1), (a[:, k] * b[:, l]).sum(axis=1))

    def _directions(self, numbers: np.ndarray, end: Side) -> np.ndarray:
        """Directions of a joint at one of its ends as rows, (times, 3, 3)."""
        if end.body < 0 or end.port is None:
            return np.broadcast_to(end.triad, (len(numbers), 3, 3))
        offset = int(self.packed.model.bodies[end.body, t.W_Q]) - self.packed.first
        A, Psi = numbers[:, offset + 3 : offset + 12].reshape(-1, 3, 3), end.port.Psi
        if not Psi.any():
            return np.swapaxes(A @ end.triad.T, 1, 2)
        psi = numbers[:, offset + 12 : offset + 12 + Psi.shape[1]] @ Psi.T
        psi_cross = crosses(psi[:, None], end.triad[None])
        bent = end.triad + psi_cross + crosses(psi[:, None], psi_cross) / 3.0
        return bent @ np.swapaxes(A, 1, 2)


class Run:
    """A task with its buffers; `t` is the current time."""

    def __init__(self, task: Task, assembly: RunBuffers | None = None) -> None:
        self.task, self.t = task, task.t_0
        also = task.system.ports.also
        self.input_signals = {also.get(name, name): signal for name, signal in task.inputs.signals.items()}
        self.signals: dict[str, Signal] = dict(self.input_signals)
        self.last_sample = -np.inf  # time of the last call of the controller
        self.samples = EffortSamples()
        self.changes: list[tuple[float, int, float]] = []  # time, number of the event, its change of H
        self.past: list[PastEvent] = []
        self.info: dict[str, object] = {}  # statistics of the stepper
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
        self.angles = np.zeros(0) if self.turns is None else self.turns.wrapped(self.numbers[None])[0]
        self.rows = Rows(np.zeros((0, p.saved_count)), np.zeros((0, p.multipliers)), np.zeros((0, len(p.entries))))

    @property
    def packed(self) -> Packed:
        return self.assembly.packed

    @property
    def numbers(self) -> np.ndarray:
        """The numbers of the current state that an output row has."""
        p = self.packed
        return p.w[p.first : p.first + p.saved_count]

    # --- controller --------------------------------------------------------------------------------------------------

    @property
    def due(self) -> float:
        """The time of the next call of the controller; infinity if it is called at every step, or there is none."""
        if self.task.every is not None and self.last_sample > -np.inf:
            return self.last_sample + self.task.every
        return getattr(self.task.controller, "due", np.inf)

    def control(self, y: Outputs) -> None:
        """Calls the controller for new inputs, if its sample time has come."""
        task, first = self.task, self.last_sample == -np.inf
        assert task.controller is not None
        if self.last_sample == self.t:
            return
        if not first and task.every is not None and self.t < self.last_sample + task.every * (1 - 1e-9):
            return
        self.last_sample = self.t if first or task.every is None else self.last_sample + task.every
        values = task.controller(self.t, y)
        if not isinstance(values, Mapping):
            raise InputError(f"the controller returned {values!r} at t = {self.t:g} s; it must return {{port: value}}")
        for name, value in values.items():
            ports = task.system.ports if first else self.signals
            port = task.system.ports.also.get(name, name)
            if port not in ports:
                raise InputError(
                    f"the controller returned a value for {name!r} at t = {self.t:g} s; "
                    f"{'ports are' if first else 'at the start it returned values for'}: {', '.join(ports)}"
                )
            if isinstance(self.signals.get(port), ServoSignal):
                raise InputError(
                    f"the controller returned a value for {name!r}, where a servo acts; give its feedforward="
                )
            shape = task.system.ports.shape(name)
            self.signals[port] = Constant(as_vector(f"controller, {name!r} at t = {self.t:g} s", value, shape))
        self.samples.add(self.t, values)

    def controlled(self) -> dict[str, np.ndarray]:
        """The current values of the inputs that the controller has set."""
        changed = {name: s for name, s in self.signals.items() if s is not self.input_signals.get(name)}
        return {name: signal.at(self.t) for name, signal in changed.items()}

    def _saved_signals(self, memory: Mapping[str, np.ndarray]) -> dict[str, Signal]:
        names = memory["inputs"].tolist()
        ends = np.cumsum([self.task.system.ports.shape(name)[0] for name in names], dtype=int)
        values = np.split(memory["values"], ends[:-1])
        return {name: Constant(value) for name, value in zip(names, values, strict=False)}

    def inputs(self) -> np.ndarray:
        """u at the current time, over all ports."""
        u = np.zeros(self.task.system.ports.size)
        for name, signal in self.signals.items():
            if not isinstance(signal, ServoSignal):
                u[self.task.system.ports[name]] = signal.at(self.t)
        return u

    # --- states and results ------------------------------------------------------------------------------------------

    @cached_property
    def reader(self) -> Reader:
        return Reader(self.assembly)

    def outputs(self) -> Outputs:
        """The outputs of the system at the current time, computed when they are read."""
        return self.reader.outputs()

    def state(self) -> State:
        return self.state_in(self.packed.w)

    def state_in(self, w: np.ndarray) -> State:
        """The state in a buffer w of this run."""
        p, system = self.packed, self.task.system
        numbers = w[p.first : p.first + p.saved_count][None]
        return State(system.bodies, system.layout, unload_states(self.assembly, numbers)[0])

    def count_turns(self) -> None:
        """Updates the angles of joints in space from the current state."""
        if self.turns is not None:
            self.angles = self.turns.unwrapped(self.angles, self.numbers[None])[0]

    def add_row(self, numbers: np.ndarray, lam: np.ndarray, springs: np.ndarray) -> None:
        """Appends an output row at the current time."""
        rows, k = self.rows, self.rows.count
        rows.reserve(1)
        rows.numbers[k], rows.lam[k], rows.springs[k] = numbers, lam, springs
        rows.t.append(self.t)
        if self.turns is not None:
            rows.angles.append(self.angles)

    def accounts_of(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Energies and losses of bodies, and works of entries, from output rows."""
        p, entries = self.packed, len(self.packed.entries)
        energies = np.stack([numbers[:, b[t.W_ENERGY] - p.first :][:, :3] for b in p.model.bodies], axis=1)
        energies[:, :, 1] += self.assembly.prestress_energy
        losses = np.stack([numbers[:, b[t.W_LOSS] - p.first] for b in p.model.bodies], axis=1)
        start = int(p.model.entries[0, t.J_WORK]) - p.first if entries else 0
        return energies, losses, numbers[:, start : start + 2 * entries].reshape(len(numbers), entries, 2)

    def residual(self) -> float | None:
        """The energy residual so far; None where the scheme does not count works exactly."""
        return None

    def result_of(self, n: int, lam: np.ndarray, info: Mapping[str, object]) -> Result:
        """The first n rows as a Result."""
        p, rows, system = self.packed, self.rows, self.task.system
        numbers, times = rows.numbers[:n], np.array(rows.t[:n])
        energies, losses, works = self.accounts_of(numbers)
        active, changes = self._works_of_events(times)
        names = (*(entry.name for entry in p.entries), *active)
        works = np.concatenate([works, changes], axis=1)
        springs = np.concatenate([rows.springs[:n], np.zeros((n, len(active)))], axis=1)
        ranges = law_ranges(p) if self.laws else {}
        info = {**info, "events": tuple((event.t, event.name) for event in self.past), **ranges, **self.info}
        angles = None if self.turns is None else np.array(rows.angles[:n]).reshape(n, len(self.turns.joints))
        e, lam, efforts = unload_states(self.assembly, numbers), *np.split(lam[:n], [system.multipliers.size], axis=1)
        accounts = EnergyAccounts(names, energies, losses, works, springs)
        owners = [entry.name for entry in p.entries for _ in entry.rows][system.multipliers.size :]
        more = Efforts(tuple(owners), efforts)
        return Result(system, times, e, lam, accounts, info, tuple(self.past), angles, more)

    def _works_of_events(self, times: np.ndarray) -> tuple[list[str], np.ndarray]:
        """Names of the events that changed the state, and the changes of H by them up to these times, as works."""
        active = {i: k for k, i in enumerate(i for i, e in enumerate(self.task.events) if e.do is not None)}
        out = np.zeros((len(times), len(active), 2))
        for time, number, change in self.changes:
            out[times > time, active[number], 1] += change  # the row at an event has the state before it
        return [f"event {self.task.events[i].name}" for i in active], out
