"""A run by the midpoint steps of the kernel: halving, threads, composed steps, snapshots."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from threading import Thread
from typing import Any

import numpy as np

from phloat.errors import ConvergenceError, InputError, UnstableLoopError
from phloat.motion.inputs.inputs import NO_STOPS, Stops
from phloat.motion.inputs.signals import Constant
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.machine.threads import NEXT_RANGE, STOP, THREAD_COUNT
from phloat.motion.kernel.machine.uncompiled import UNCOMPILED
from phloat.motion.kernel.newton import ROUND_OFF
from phloat.motion.kernel.pack import Packed
from phloat.motion.kernel.step import SINGULAR, SOLVED, advance, set_step, snapshot
from phloat.motion.law_ranges import stamp_times, watched_indices
from phloat.motion.result import Result
from phloat.motion.run.compilation import announce_compilation
from phloat.motion.run.interpolation import interpolate_states
from phloat.motion.run.outputs import Outputs
from phloat.motion.run.run import Run
from phloat.motion.run.states import RunBuffers, load_state
from phloat.motion.run.task import INSTANT, Dense, Memory, Stepper, Task
from phloat.motion.saving.memory import memory_of
from phloat.system.state import State

DEEPEST = 12  # maximum number of halvings of a step
NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Substeps:
    """A step composed of shorter ones, forward and backward in time: fractions of at most two sizes with sum one."""

    fractions: tuple[float, ...] = (1.0,)

    @cached_property
    def sizes(self) -> np.ndarray:
        """The distinct fractions, in order of first appearance."""
        return np.array(list(dict.fromkeys(self.fractions)))

    @cached_property
    def sets(self) -> np.ndarray:
        """For each part of the step, the index of its size in `sizes`."""
        return np.array([self.sizes.tolist().index(part) for part in self.fractions])

    @cached_property
    def guesses(self) -> np.ndarray:
        """For each part, the weights of the three parts before it, the last first: extrapolation by a parabola through midpoints.

        The weights of a full step are exact for linear growth, and for changes of sign at each step, as of stiff modes.
        """
        count = len(self.fractions)
        if count == 1:
            return np.array([[1.0, 1.0, -1.0]])
        middles = np.cumsum(self.fractions) - 0.5 * np.array(self.fractions)
        middles = np.concatenate([middles - 1.0, middles])
        return np.array([_parabola(middles[k - 3 : k][::-1], middles[k]) for k in range(count, 2 * count)])

    def within(self, times: np.ndarray) -> np.ndarray:
        """The ends of all parts of the steps between the times."""
        before = np.append(0.0, np.cumsum(self.fractions)[:-1])
        return np.append((times[:-1, None] + np.diff(times)[:, None] * before).ravel(), times[-1])


def _parabola(nodes: np.ndarray, position: float) -> list[float]:
    """Weights of the values at three nodes in the parabola through them."""
    return [float(np.prod([(position - o) / (x - o) for o in nodes if o != x])) for x in nodes]


WHOLE = Substeps()


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A copy of all data that steps change; after it is restored, a run continues bit for bit."""

    t: float
    h: float
    sizes: np.ndarray
    w: np.ndarray
    iw: np.ndarray
    bank: np.ndarray
    drive_values: np.ndarray
    angles: np.ndarray
    rows: int
    pending: int


class KernelRun(Run):
    """A run by the kernel, with the buffers `assembly` if they exist already.

    `tolerance` is that of Newton's method, as a fraction of the terms of an equation (None: round-off).
    """

    def __init__(
        self, task: Task, assembly: RunBuffers | None = None, tolerance: float | None = None, parts: Substeps = WHOLE
    ) -> None:
        announce_compilation()
        super().__init__(task, assembly)
        self.parts, self.h, self.sizes = parts, 0.0, np.zeros(0)
        self.halvings: list[float] = []
        p = self.packed
        if tolerance is not None:
            p.w[t.TOLERATED] = max(ROUND_OFF, tolerance / np.finfo(float).eps)
        self.range_indices = watched_indices(p) if self.laws else NONE
        self.bank = np.zeros(int(p.model.factors[:, 1].sum()) if len(parts.sizes) > 1 else 0)
        self.write_row()

    # --- steps -------------------------------------------------------------------------------------------------------

    def step_through(self, times: np.ndarray, marks: np.ndarray = NONE) -> None:
        """Steps between the times, halved where Newton's method fails; output rows after the steps numbered in marks."""
        index = 0
        while index < len(times) - 1:
            completed, status = self.steps(times[index:], marks[marks > index] - index, self.parts)
            index += completed
            if status != SOLVED:
                if self.parts is not WHOLE:
                    self._raise_failure(self.t, status)
                self._halve(times[index], times[index + 1], status, 1)
                index += 1
                if index in marks:
                    self.write_row()

    def steps(self, times: np.ndarray, marks: np.ndarray, parts: Substeps = WHOLE) -> tuple[int, int]:
        """Steps of one size until one fails. Returns the number of completed steps and the status of the last."""
        p, run, rows, count = self.packed, self.assembly, self.rows, len(parts.fractions)
        self.set_step(float(times[1] - times[0]), parts)
        requested, before = marks, rows.count
        if self.turns is not None:
            marks = np.arange(1, len(times))
        times, marks = (parts.within(times), marks * count) if count > 1 else (times, marks)
        efforts, drive_values = self.mean_efforts(times), self.drive_positions(times)
        rows.reserve(len(marks))
        earlier, within_range = int(p.iw[t.I_STEPS]), p.w[self.range_indices] == np.inf
        status, completed, row_count, rows.pending = advance_shared(
            *(p, self.task.threads, (self.sizes, parts.sets, parts.guesses), self.bank),
            *((efforts, run.effort_indices, drive_values, run.drive_indices), marks, p.first),
            *((rows.numbers, rows.lam, rows.springs), rows.count, rows.pending),
        )
        rows.t += [float(times[k]) for k in marks[: row_count - rows.count]]
        if within_range.any():
            stamp_times(p, self.range_indices[within_range], times, earlier)
        if completed:
            self.t, run.drive_values = float(times[completed]), drive_values[completed - 1]
        if self.turns is not None and rows.count > before:
            angles = self.turns.unwrapped(self.angles, rows.numbers[before : rows.count])
            self.angles = angles[-1]
            rows.angles += list(angles)
            rows.select(before, requested[requested <= rows.count - before] - 1)
        return completed // count, status

    def set_step(self, h: float, parts: Substeps = WHOLE) -> None:
        """Sets the sizes of the parts of a step of size h; the factors are discarded if they change."""
        if abs(h - self.h) > 1e-9 * abs(h) or len(self.sizes) != len(parts.fractions):
            p = self.packed
            set_step(p.model, p.w, p.iw, h * parts.sizes, self.bank)
            self.h, self.sizes = h, h * np.array(parts.fractions)

    def _halve(self, start: float, end: float, status: int, depth: int) -> None:
        """Replaces a failed step by two of half the size, and these again if they fail."""
        if depth > DEEPEST:
            self._raise_failure(start, status)
        self.halvings.append(start)
        middle = 0.5 * (start + end)
        for a, b in ((start, middle), (middle, end)):
            self.packed.iw[t.I_STARTED] = 0
            completed, status = self.steps(np.array([a, b]), NONE)
            if not completed:
                self._halve(a, b, status, depth + 1)

    def _raise_failure(self, time: float, status: int) -> None:
        """Raises ConvergenceError with the motion up to now."""
        p = self.packed
        body, entry = int(p.iw[t.I_WORST_BODY]), int(p.iw[t.I_WORST_ENTRY])
        names = list(self.task.system.bodies)
        location = (
            f"body {names[body]!r}" if body >= 0 else f"joint {p.entries[entry].name!r}" if entry >= 0 else "a joint"
        )
        failure = "has a singular mass matrix" if status == SINGULAR else "does not converge"
        self.write_row()
        if unstable := self.task.unstable or str(self.samples.growing_pole(failed=True) or ""):
            raise UnstableLoopError(f"{unstable}. A step fails at t = {time:g} s", self.result())
        raise ConvergenceError(
            f"Newton's method fails at t = {time:g} s: {location} {failure}, though the step was halved to {abs(self.h):.2g} s; "
            "look at the motion before (`result` of this error), try a smaller dt, or check stiffnesses and drives there",
            self.result(),
        )

    # --- inputs ------------------------------------------------------------------------------------------------------

    def mean_efforts(self, times: np.ndarray) -> np.ndarray:
        """Means of the prescribed efforts over each step."""
        out = np.zeros((len(times) - 1, len(self.assembly.efforts)))
        for name, (columns, components) in self.assembly.effort_columns.items():
            signal = self.signals[name]
            if isinstance(signal, Constant):
                out[:, columns] = signal.value[components]
            else:
                out[:, columns] = signal.means(times)[:, components]
        return out

    def drive_positions(self, times: np.ndarray) -> np.ndarray:
        """Positions of the drives at the end of each step."""
        run = self.assembly
        out, first = np.zeros((len(times) - 1, len(run.drive_indices))), 0
        for motion in run.drives:
            last = first + len(motion.start)
            out[:, first:last] = motion.positions(run.drive_values[first:last], self.signals, times)
            first = last
        return out

    # --- snapshots ---------------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        p, rows = self.packed, self.rows
        arrays = (self.sizes, p.w.copy(), p.iw.copy(), self.bank.copy(), self.assembly.drive_values.copy(), self.angles)
        return Snapshot(self.t, self.h, *arrays, rows.count, rows.pending)

    def restore(self, saved: Snapshot) -> None:
        """Restores a snapshot; output rows written since then remain."""
        p = self.packed
        self.t, self.h, self.sizes, self.angles = saved.t, saved.h, saved.sizes, saved.angles
        p.w[: len(saved.w)], p.iw[:], self.bank[:] = saved.w, saved.iw, saved.bank
        self.assembly.drive_values, self.rows.pending = saved.drive_values.copy(), saved.pending

    @contextmanager
    def trial(self) -> Iterator[None]:
        """A context whose steps are undone at its end."""
        before = self.snapshot()
        self.rows.pending = -1
        try:
            yield
        finally:
            self.restore(before)

    # --- rows and results --------------------------------------------------------------------------------------------

    def write_row(self) -> None:
        """Writes the current state as an output row, unless that has been done."""
        rows = self.rows
        if rows.t and rows.t[-1] == self.t:
            return
        numbers, springs = self.current_row()
        self.add_row(numbers, self.lam, springs)
        rows.pending = rows.count - 1

    def current_row(self) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of the current state, and the energies of springs."""
        p = self.packed
        numbers, springs = np.zeros(p.saved_count), np.zeros(len(p.entries))
        snapshot(p.model, p.w, p.gravity, p.first, numbers, springs)
        return numbers, springs

    @property
    def lam(self) -> np.ndarray:
        """The multipliers of the last step."""
        p = self.packed
        return p.w[p.model.offsets[t.LAM] :][: p.multipliers]

    def residual(self) -> float:
        """|ΔH + Σ losses − Σ works| since the first row in memory, relative to the largest of these at present."""
        energies, losses, works = self.accounts_of(np.stack([self.rows.numbers[0], self.current_row()[0]]))
        start, current = np.hstack([energies.reshape(2, -1), losses, -works.reshape(2, -1)])
        changed = sum(change for time, _, change in self.changes if time >= self.rows.t[0])
        largest = max(float(np.abs(current).max(initial=0.0)), abs(changed))
        return abs(float(np.sum(current - start)) - changed) / largest if largest else 0.0

    def result(self, count: int | None = None) -> Result:
        """All rows, or the first `count`, as a Result."""
        n, iw = self.rows.count if count is None else count, self.packed.iw
        info = {
            "steps": int(iw[t.I_STEPS]),
            "iterations": int(iw[t.I_ITERATIONS]),
            "factorisations": int(iw[t.I_FACTORISATIONS]),
            "most iterations": int(iw[t.I_MOST]),
            "stalled": int(iw[t.I_STALLED]),
            "halved": tuple(self.halvings),
        }
        return self.result_of(n, self._multipliers(n), info)

    def _multipliers(self, n: int) -> np.ndarray:
        """λ at n rows: means of the steps before and after. After the last row a trial step is taken."""
        rows = self.rows
        lam = rows.lam[:n].copy()
        if rows.dropped + rows.count > 1 and self.h and n:
            if rows.dropped == 0:
                lam[0] = 2 * lam[0]  # λ before the first step is zero, so the mean is half of it
            if rows.pending == n - 1:
                with self.trial(), suppress(InputError):  # a table of inputs that ends at t
                    if self.steps(np.array([self.t, self.t + self.sizes[-1]]), NONE)[0]:
                        lam[-1] = 0.5 * (lam[-1] + self.lam)
        return lam


def advance_shared(packed: Packed, threads: int, *options: Any) -> tuple[int, int, int, int]:
    """Calls `advance` with several threads, at most one for each range of bodies."""
    arguments = (packed.model, packed.w, packed.iw, packed.gravity, *options)
    counters, count = packed.model.threads, len(packed.model.ranges)
    thread_count = 1 if UNCOMPILED else min(threads, count)
    if thread_count == 1:
        return advance(*arguments, True)
    counters[THREAD_COUNT], counters[NEXT_RANGE], counters[STOP] = thread_count, count, 0
    workers = [Thread(target=advance, args=(*arguments, False)) for _ in range(thread_count - 1)]
    for worker in workers:
        worker.start()
    try:
        return advance(*arguments, True)
    finally:
        counters[STOP] = 1
        for worker in workers:
            worker.join()
        counters[THREAD_COUNT] = 1


# --- steps for the driver ----------------------------------------------------------------------------------------------


class KernelStepper(Stepper):
    """Base of the steppers of the kernel: to end a step within it, another step is taken from its start."""

    name, resumable = "Midpoint", True
    corners: Stops = NO_STOPS
    parts = 1  # equal steps to a time within the last step

    def __init__(self, run: KernelRun) -> None:
        self.run, self.start, self.end = run, run.t, run.t
        self.watched = bool(run.task.events)
        self.after: Snapshot | None = None  # at the end of the last step, if needed
        self.states: tuple[State, State] | None = None  # at its start and end

    def memory(self) -> Memory:
        return memory_of(self.run)

    def begin_step(self) -> None:
        """Stores what the search for events in the next step needs."""
        self.start = self.run.t
        if self.watched:
            self.before = self.run.snapshot()

    def end_step(self) -> None:
        self.end, self.after, self.states = self.run.t, None, None

    def interpolate(self, x: float) -> Outputs:
        if self.states is None:
            self.after = self.run.snapshot() if self.after is None else self.after
            self.states = self.run.state_in(self.before.w), self.run.state_in(self.after.w)
        return Outputs(self.run.task.system, interpolate_states(*self.states, self.end - self.start, x))

    def move_to(self, time: float) -> None:
        run = self.run
        self.after = run.snapshot() if self.after is None else self.after
        if time == self.end:
            run.restore(self.after)
            return
        run.restore(self.before)
        run.rows.pending = -1  # its λ has been completed by the full step
        if time - run.t > INSTANT * abs(time):
            run.step_through(np.linspace(run.t, time, self.parts + 1))

    def look_ahead(self, h: float) -> Dense | None:
        run, start, time = self.run, self.run.state(), self.run.t
        with run.trial():
            _, status = run.steps(np.array([time, time + h]), NONE, run.parts)
            end = run.state()
        if status != SOLVED:
            return None
        return lambda x: (time + x * h, Outputs(run.task.system, interpolate_states(start, end, h, x)))

    def restart(self, state: State | None = None) -> None:
        if state is not None:
            load_state(self.run.assembly, state)
            self.run.count_turns()
