"""Adaptive midpoint steps: every interval is integrated twice, in steps of h and of 2h.

The finer motion is retained: its steps are ordinary midpoint steps, so energy, momenta and joints hold to round-off. A third of
the distance between both is the error of the finer one (order two). At any time t the error of each body may be

    (rtol × scale + atol) × (t − t_start) / (t_end − t_start),

where scale is the size of the body or its distance from its start, whichever is larger; a coarse run estimates that distance.
Unused error is a reserve, of which each later interval may use a tenth. Steps end at corners of inputs and samples of a controller.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from phloat.errors import ConvergenceError
from phloat.motion.inputs.inputs import Stops, find_stops
from phloat.motion.inputs.signals import Function, Resolved
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.arrays import AXES, PAIRS, Arrays
from phloat.motion.kernel.step import SOLVED
from phloat.motion.run.kernel_run import KernelRun, KernelStepper, Snapshot
from phloat.motion.run.outputs import Outputs
from phloat.motion.run.states import unload_states
from phloat.motion.run.task import Memory
from phloat.motion.saving.memory import recall
from phloat.system.state import State

MAX_PAIRS = 32  # maximum number of pairs of steps between two error estimates
RESERVE = 0.1  # of the unused error, for one interval
SAFETY, SHRINK, GROW = 0.8, 0.1, 5.0  # of a change of the step
AIM = 0.5  # of the allowed error: target of the step size
UNCHANGED = 0.8  # a smaller change of the step does not justify new factors
SMALLEST = 1e-13  # of the run: the smallest step
COARSE_STEPS = 256  # steps of the coarse run that estimates how far bodies move …
SAMPLES = 10  # … for so many samples of a controller


class AdaptiveSteps(KernelStepper):
    """Steps that keep a tolerance; the error is estimated after `pairs` pairs of steps."""

    adaptive, at_node, parts = True, False, 2

    def __init__(self, run: KernelRun, dt: float, rtol: float, atol: float) -> None:
        super().__init__(run)
        task, self.name = run.task, "Midpoint(rtol=…)"
        for name, signal in run.input_signals.items():
            if isinstance(signal, Function):
                resolved = Resolved(signal.name, signal.function, signal.shape, 0.01 * rtol)
                if run.signals[name] is signal:  # unless a controller has replaced it
                    run.signals[name] = resolved
                run.input_signals[name] = resolved
        self.rtol, self.atol = rtol, atol
        bodies = zip(run.packed.model.bodies, run.packed.arrays.values(), strict=True)
        self.bodies = [Measure(arrays, int(row[t.W_Q]) - run.packed.first, run.numbers) for row, arrays in bodies]
        self.sizes = np.array([body.size for body in self.bodies])
        self.corners = find_stops(run.input_signals, task.t_0, task.t_end, task.corners)
        memory = {} if task.memory is None else task.memory
        if memory:
            recall(run, memory)
        self.h, self.count, self.pairs, self.span, self.rejected = dt, 0, 1, task.t_end - task.t_0, 0
        self.reach = self.spent = np.zeros(len(self.bodies))
        if "pace" in memory:
            self.h, self.span = float(memory["pace"][0]), float(memory["pace"][3])
            self.count, self.pairs, self.rejected = (int(memory["pace"][k]) for k in (1, 2, 4))
            self.reach, self.spent = memory["reach"]
            new = self.corners.times[self.corners.times >= memory["pace"][5]]
            self.corners = Stops(np.array([*memory["corners"], *new]), frozenset())
        elif np.isfinite(run.due) or task.controller is None:
            self.reach = self._estimate_reach()

    def memory(self) -> Memory:
        numbers = [self.h, self.count, self.pairs, self.span, self.rejected, self.run.task.t_end]
        state = {"pace": np.array(numbers, dtype=float), "reach": np.stack([self.reach, self.spent])}
        return {**super().memory(), **state, "corners": self.corners.times}

    def _estimate_reach(self) -> np.ndarray:
        """The distances of bodies from their start in a coarse run up to the first event; with a controller for some samples."""
        run, task = self.run, self.run.task
        ends = [task.t_end, *self.corners.times[:COARSE_STEPS]]
        if task.controller is not None:
            ends = [task.t_0 + min(SAMPLES * (run.due - task.t_0), self.span)]
        before, times = run.snapshot(), np.unique([*np.linspace(task.t_0, max(ends), COARSE_STEPS), *ends])
        for step in pairwise(times):
            if run.steps(np.array(step), np.array([1]))[1] != SOLVED:
                break
        rows = run.rows.numbers[before.rows : run.rows.count].copy()
        self._undo(before)
        return self._reach(rows[: self._first_event(rows)])

    def _reach(self, rows: np.ndarray) -> np.ndarray:
        """The largest distance of each body from its start."""
        return np.array([body.reach(rows) for body in self.bodies])

    def _first_event(self, rows: np.ndarray) -> int:
        """The number of rows before an event changes its sign."""
        task = self.run.task
        if not task.events:
            return len(rows)
        states = (State(task.system.bodies, task.system.layout, e) for e in unload_states(self.run.assembly, rows))
        first: list[float] | None = None
        for k, state in enumerate(states):
            signs = [np.sign(e.value(task.t_0, Outputs(task.system, state))) for e in task.events]
            if signs != (first := first or signs):
                return k + 1
        return len(rows)

    # --- steps -------------------------------------------------------------------------------------------------------

    def advance(self, limit: float) -> bool:
        """Takes the next interval that keeps the tolerance."""
        run, task = self.run, self.run.task
        if task.t_end - run.t <= SMALLEST * (task.t_end - task.t_0):
            run.write_row()
            return False
        self.begin_step()
        before = self.before if self.watched else run.snapshot()
        while True:
            times, self.limited = self._times(limit)
            run.packed.iw[t.I_STARTED] = 0
            error = self._error_of(times, before)
            self.step = 0.5 * float(times[1] - times[0])
            if error <= 1.0:
                break
            self.rejected += 1
            self._undo(before)
            self.h, self.pairs = self.step * max(SHRINK, SAFETY / np.sqrt(error)), max(1, self.pairs // 4)
            if self.h < SMALLEST * self.span:
                self._raise_failure()
        self.reach, self.spent = self.trial
        self.rows_before = before.rows
        self.end_step()
        return True

    def accept(self) -> None:
        """Selects output rows and chooses the next step; an event within the interval removes its rows."""
        run = self.run
        if run.t != self.end:
            run.rows.truncate(self.rows_before)
            return
        self._select_rows()
        error, income, reserve = self.largest_error
        more = min(2 * self.pairs, MAX_PAIRS) / self.pairs
        ratios = np.geomspace(SHRINK, GROW, 64)
        fit = ratios[more * error * ratios**3 <= AIM * (more * income * ratios + reserve)]
        ratio = float(fit.max(initial=SHRINK))
        if not (UNCHANGED < ratio < 1.0 / UNCHANGED):
            self.h = max(self.h, ratio * self.step) if self.limited and ratio > 1.0 else ratio * self.step
        self.pairs = min(2 * self.pairs, MAX_PAIRS)
        run.info["rejected"] = self.rejected

    def _times(self, limit: float) -> tuple[np.ndarray, bool]:
        """The ends of the longer steps, and whether they were shortened to end at the limit."""
        time, pairs = self.run.t, 1 if self.watched else self.pairs
        remaining = limit - time
        if 2.0 * self.h * pairs >= remaining * (1 - 1e-9):
            pairs = min(pairs, max(1, int(np.ceil(remaining / (2.0 * self.h) - 1e-9))))
            return np.append(time + remaining / pairs * np.arange(pairs), limit), True
        return time + 2.0 * self.h * np.arange(pairs + 1), False

    def _error_of(self, times: np.ndarray, before: Snapshot) -> float:
        """The error of these steps relative to the allowed one; the run remains at the end of the finer ones."""
        motions = []
        fine = np.append(np.column_stack([times[:-1], 0.5 * (times[:-1] + times[1:])]).ravel(), times[-1])
        for grid in (times, fine):
            rows, marks = self.run.rows, np.arange(1, len(grid))
            _, status = self.run.steps(grid, marks)
            if status != SOLVED:
                return np.inf
            motions.append(rows.numbers[rows.count - len(marks) : rows.count].copy())
            if grid is times:
                self._undo(before)
        errors = np.array([body.distance(motions[0], motions[1][1::2]) for body in self.bodies]) / 3.0
        return self._relative(errors, motions[1], times) if np.isfinite(errors).all() else np.inf

    def _relative(self, errors: np.ndarray, rows: np.ndarray, times: np.ndarray) -> float:
        """Errors relative to the allowed ones: proportional to time, plus a part of the reserve."""
        reach = np.maximum(self.reach, self._reach(rows))
        a_second = (self.rtol * np.maximum(self.sizes, reach) + self.atol) / self.span
        reserve = np.maximum(a_second * (times[0] - self.run.task.t_0) - self.spent, 0.0)
        round_off = np.array([body.round_off(rows) for body in self.bodies])
        allowed = a_second * (times[-1] - times[0]) + RESERVE * reserve + round_off
        self.trial = reach, self.spent + errors
        relative = np.divide(errors, allowed, out=np.zeros_like(errors), where=errors > 0.0)
        k = int(relative.argmax())
        income = a_second[k] * (times[-1] - times[0])
        self.largest_error = float(errors[k]), float(income), float(allowed[k] - income)
        return float(relative[k])

    def _undo(self, before: Snapshot) -> None:
        """Undoes steps and removes their rows."""
        run, rows = self.run, self.run.rows
        run.restore(before)
        rows.truncate(before.rows)
        if rows.pending >= 0:  # its λ was completed by a step that is undone
            rows.lam[rows.pending] = run.lam

    def _select_rows(self) -> None:
        """Removes the rows of this interval that are not output."""
        rows, output, first = self.run.rows, self.run.task.output, self.rows_before
        times = np.array(rows.t[first:])
        number = self.count + 1 + np.arange(len(times))
        self.count += len(times)
        if isinstance(output, int) and output == 1:
            return
        selected = number % output == 0 if isinstance(output, int) else _around(times, rows.t[first - 1], output)
        rows.select(first, np.flatnonzero(selected))

    def _raise_failure(self) -> None:
        """Raises ConvergenceError with the motion up to now."""
        self.run.write_row()
        raise ConvergenceError(
            f"Midpoint(rtol={self.rtol:g}) cannot go on at t = {self.run.t:g} s: the step fell to {self.h:.2g} s and the error "
            "is still too large; look at the motion before (`result` of this error), give a larger rtol or an atol, or fixed steps",
            self.run.result(),
        )


def _around(times: np.ndarray, before: float, output_times: np.ndarray) -> np.ndarray:
    """Which rows are next to an output time, on both sides; the last one too, as the next is not known yet."""
    edges = np.array([before, *times])
    inside = (
        np.diff(np.searchsorted(output_times, edges, side="right")) > 0
    )  # times between this row and the one before
    return inside | np.append(inside[1:], True)


# --- distance between two motions ------------------------------------------------------------------------------------
#
# The distance between two motions of a body, which is the measure of errors, and its distance from the start.
#
# The distance is the root mean square over the mass of the body, √(δᵀM δ / m) with δ the difference of
# positions, turns and deformations and M the mass matrix: it depends on neither the numerical frame nor the coordinates. The
# size of a body is the root mean square distance of its mass from its centre.


ROUND_OFF = 1e-14  # of positions and sizes: differences below it are meaningless


class Measure:
    """The distance between motions of one body: its offset in rows, weights of rotations and deformations, size (m), start."""

    def __init__(self, arrays: Arrays, offset: int, numbers: np.ndarray) -> None:
        self.offset, self.axes, self.n, m = offset, AXES[arrays.turning], arrays.body.coordinates, arrays.body.inertia.m
        J, c = np.zeros((3, 3)), arrays.coupling[0]
        for (i, k), value in zip(PAIRS[arrays.turning], arrays.rotary[0], strict=True):
            J[i, k] = J[k, i] = value
        self.weight = np.block([[J[np.ix_(self.axes, self.axes)], c], [c.T, arrays.M_ff]]) / m
        self.size = float(np.sqrt(max(np.trace(arrays.second[0]), 0.0) / m)) if self.axes else 0.0
        self.start = self.centre(numbers[None])[0].copy()

    def centre(self, rows: np.ndarray) -> np.ndarray:
        return rows[:, self.offset : self.offset + 3]

    def distance(self, first: np.ndarray, second: np.ndarray) -> float:
        """The largest distance between the rows of two motions (m)."""
        A, B = (rows[:, self.offset + 3 : self.offset + 12].reshape(-1, 3, 3) for rows in (first, second))
        eta = (second - first)[:, self.offset + 12 : self.offset + 12 + self.n]
        delta = np.hstack([_rotation_vectors(A, B)[:, self.axes], eta])
        shift = self.centre(second) - self.centre(first)
        deformed = np.maximum(np.einsum("ti,ij,tj->t", delta, self.weight, delta), 0.0)
        return float(np.sqrt((shift**2).sum(axis=1) + deformed).max(initial=0.0))

    def reach(self, rows: np.ndarray) -> float:
        """The largest distance from the start (m)."""
        return float(np.linalg.norm(self.centre(rows) - self.start, axis=1).max(initial=0.0))

    def round_off(self, rows: np.ndarray) -> float:
        """The round-off of positions (m)."""
        return ROUND_OFF * (float(np.abs(self.centre(rows)).max(initial=0.0)) + self.size)


def _rotation_vectors(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Rotation vectors of AᵀB, as rows."""
    R = np.einsum("tji,tjk->tik", A, B)
    sine = 0.5 * np.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], axis=1)
    size = np.linalg.norm(sine, axis=1)
    angle = np.arctan2(size, 0.5 * (np.trace(R, axis1=1, axis2=2) - 1.0))
    return sine * np.divide(angle, size, out=np.ones_like(size), where=size > 0.0)[:, None]
