"""Steps whose size follows their error: every stretch of the motion is made twice, in steps of h and of 2h.

The finer motion is kept: its steps are midpoint steps like any other, so energy, momenta and joints hold to round-off. A third
of the distance between both is the error of the finer one (order two). At any time t of a run each body may be off by

    (rtol × scale + atol) × (t − t_start) / (t_end − t_start),

where scale is the size of the body or its distance from its start, whichever is larger; a coarse run estimates that distance. A
quiet stretch leaves a reserve for others, which take a tenth of it at a time. No step passes a corner of an input, a sample of a
controller or the end.
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
from phloat.motion.run.assembly import unload_states
from phloat.motion.run.kernel_run import KernelRun, KernelStepper, Snapshot
from phloat.motion.run.outputs import Outputs
from phloat.motion.run.task import Memory
from phloat.motion.saving.memory import recall
from phloat.system.state import State

MOST = 32  # pairs of steps between two estimates of the error
RESERVE = 0.1  # of the unused error, for a stretch
SAFETY, SHRINK, GROW = 0.8, 0.1, 5.0  # of a change of the step
AIM = 0.5  # of the error that is allowed: what steps are chosen for
SAME = 0.8  # a smaller change of the step is not worth new factors
SMALLEST = 1e-13  # of the run: the smallest step
AHEAD = 256  # steps of the coarse run that estimates how far bodies move …
SAMPLES = 10  # … for so many samples of a controller


class AdaptiveSteps(KernelStepper):
    """Steps that keep a tolerance. An even number of them, `pairs`, is made between two estimates of the error."""

    adaptive, at_node, parts = True, False, 2

    def __init__(self, run: KernelRun, dt: float, rtol: float, atol: float) -> None:
        super().__init__(run)
        task, self.name = run.task, "Midpoint(rtol=…)"
        for name, signal in run.given.items():
            if isinstance(signal, Function):
                resolved = Resolved(signal.name, signal.function, signal.shape, 0.01 * rtol)
                if run.signals[name] is signal:  # not what a controller has set in its place
                    run.signals[name] = resolved
                run.given[name] = resolved
        self.rtol, self.atol = rtol, atol
        bodies = zip(run.packed.model.bodies, run.packed.arrays.values(), strict=True)
        self.bodies = [Measure(arrays, int(row[t.W_Q]) - run.packed.first, run.numbers) for row, arrays in bodies]
        self.sizes = np.array([body.size for body in self.bodies])
        self.corners = find_stops(run.given, task.t_0, task.t_end, task.corners)
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
            self.reach = self._estimated_reach()

    def memory(self) -> Memory:
        numbers = [self.h, self.count, self.pairs, self.span, self.rejected, self.run.task.t_end]
        own = {"pace": np.array(numbers, dtype=float), "reach": np.stack([self.reach, self.spent])}
        return {**super().memory(), **own, "corners": self.corners.times}

    def _estimated_reach(self) -> np.ndarray:
        """How far bodies move in a coarse run, up to the first event; with a controller for some samples of it."""
        run, task = self.run, self.run.task
        ends = [task.t_end, *self.corners.times[:AHEAD]]
        if task.controller is not None:
            ends = [task.t_0 + min(SAMPLES * (run.due - task.t_0), self.span)]
        before, times = run.snapshot(), np.unique([*np.linspace(task.t_0, max(ends), AHEAD), *ends])
        for step in pairwise(times):
            if run.steps(np.array(step), np.array([1]))[1] != SOLVED:
                break
        rows = run.rows.kept[before.rows : run.rows.count].copy()
        self._take_back(before)
        return self._reach(rows[: self._first_event(rows)])

    def _reach(self, rows: np.ndarray) -> np.ndarray:
        """The largest distance of each body from its start."""
        return np.array([body.reach(rows) for body in self.bodies])

    def _first_event(self, rows: np.ndarray) -> int:
        """How many rows come before an event changes its sign."""
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
        """The next stretch that keeps the tolerance."""
        run, task = self.run, self.run.task
        if task.t_end - run.t <= SMALLEST * (task.t_end - task.t_0):
            run.write_row()
            return False
        self.begin_step()
        before = self.before if self.watched else run.snapshot()
        while True:
            times, self.limited = self._times(limit)
            run.packed.iw[t.I_STARTED] = 0
            error = self._tried(times, before)
            self.made = 0.5 * float(times[1] - times[0])
            if error <= 1.0:
                break
            self.rejected += 1
            self._take_back(before)
            self.h, self.pairs = self.made * max(SHRINK, SAFETY / np.sqrt(error)), max(1, self.pairs // 4)
            if self.h < SMALLEST * self.span:
                self._give_up()
        self.reach, self.spent = self.trial
        self.rows_before = before.rows
        self.end_step()
        return True

    def accept(self) -> None:
        """Selects output rows and chooses the next step; an event within the stretch leaves neither."""
        run = self.run
        if run.t != self.end:
            run.rows.truncate(self.rows_before)
            return
        self._select_rows()
        error, income, reserve = self.worst
        more = min(2 * self.pairs, MOST) / self.pairs
        ratios = np.geomspace(SHRINK, GROW, 64)
        fit = ratios[more * error * ratios**3 <= AIM * (more * income * ratios + reserve)]
        ratio = float(fit.max(initial=SHRINK))
        if not (SAME < ratio < 1.0 / SAME):
            self.h = max(self.h, ratio * self.made) if self.limited and ratio > 1.0 else ratio * self.made
        self.pairs = min(2 * self.pairs, MOST)
        run.info["rejected"] = self.rejected

    def _times(self, limit: float) -> tuple[np.ndarray, bool]:
        """Where the longer steps end, and whether they were made shorter to end at the limit."""
        now, pairs = self.run.t, 1 if self.watched else self.pairs
        left = limit - now
        if 2.0 * self.h * pairs >= left * (1 - 1e-9):
            pairs = min(pairs, max(1, int(np.ceil(left / (2.0 * self.h) - 1e-9))))
            return np.append(now + left / pairs * np.arange(pairs), limit), True
        return now + 2.0 * self.h * np.arange(pairs + 1), False

    def _tried(self, times: np.ndarray, before: Snapshot) -> float:
        """The error of these steps relative to the allowed one; the run stays at the end of the finer ones."""
        motions = []
        fine = np.append(np.column_stack([times[:-1], 0.5 * (times[:-1] + times[1:])]).ravel(), times[-1])
        for steps in (times, fine):
            rows, marks = self.run.rows, np.arange(1, len(steps))
            _, status = self.run.steps(steps, marks)
            if status != SOLVED:
                return np.inf
            motions.append(rows.kept[rows.count - len(marks) : rows.count].copy())
            if steps is times:
                self._take_back(before)
        errors = np.array([body.apart(motions[0], motions[1][1::2]) for body in self.bodies]) / 3.0
        return self._relative(errors, motions[1], times) if np.isfinite(errors).all() else np.inf

    def _relative(self, errors: np.ndarray, rows: np.ndarray, times: np.ndarray) -> float:
        """Errors relative to what the time that they took allows, and a part of the reserve."""
        reach = np.maximum(self.reach, self._reach(rows))
        a_second = (self.rtol * np.maximum(self.sizes, reach) + self.atol) / self.span
        reserve = np.maximum(a_second * (times[0] - self.run.task.t_0) - self.spent, 0.0)
        round_off = np.array([body.round_off(rows) for body in self.bodies])
        allowed = a_second * (times[-1] - times[0]) + RESERVE * reserve + round_off
        self.trial = reach, self.spent + errors
        relative = np.divide(errors, allowed, out=np.zeros_like(errors), where=errors > 0.0)
        k = int(relative.argmax())
        income = a_second[k] * (times[-1] - times[0])
        self.worst = float(errors[k]), float(income), float(allowed[k] - income)
        return float(relative[k])

    def _take_back(self, before: Snapshot) -> None:
        """Takes back steps and their rows."""
        run, rows = self.run, self.run.rows
        run.restore(before)
        rows.truncate(before.rows)
        if rows.pending >= 0:  # its λ was completed by a step that is taken back
            rows.lam[rows.pending] = run.lam

    def _select_rows(self) -> None:
        """Keeps, of the rows of this stretch, those that are wanted."""
        rows, output, first = self.run.rows, self.run.task.output, self.rows_before
        times = np.array(rows.t[first:])
        number = self.count + 1 + np.arange(len(times))
        self.count += len(times)
        if isinstance(output, int) and output == 1:
            return
        wanted = number % output == 0 if isinstance(output, int) else _around(times, rows.t[first - 1], output)
        rows.select(first, np.flatnonzero(wanted))

    def _give_up(self) -> None:
        """Raises ConvergenceError with the motion up to here."""
        self.run.write_row()
        raise ConvergenceError(
            f"Midpoint(rtol={self.rtol:g}) cannot go on at t = {self.run.t:g} s: the step fell to {self.h:.2g} s and the error "
            "is still too large; look at the motion before (`result` of this error), give a larger rtol or an atol, or fixed steps",
            self.run.result(),
        )


def _around(times: np.ndarray, before: float, wanted: np.ndarray) -> np.ndarray:
    """The rows on both sides of the wanted times; the last one too, as the next is not known yet."""
    edges = np.array([before, *times])
    inside = np.diff(np.searchsorted(wanted, edges, side="right")) > 0  # from one row to the next
    return inside | np.append(inside[1:], True)


# --- distance between two motions ------------------------------------------------------------------------------------
#
# How far apart two motions of the same bodies are, and how far each body has come: what the error of a step is measured by.
#
# The distance of a body from where it should be is the root mean square over its mass, √(δᵀM δ / m) with δ the difference of
# positions, turns and deformations and M the mass matrix: it depends on neither the numerical frame nor the coordinates. The
# size of a body is the root mean square distance of its mass from its centre.


ROUND_OFF = 1e-14  # of positions and sizes: differences below it say nothing


class Measure:
    """One body: where its positions stand in a row, (turns, deformations) in the mean square, its size (m), its start."""

    def __init__(self, arrays: Arrays, at: int, now: np.ndarray) -> None:
        self.at, self.axes, self.n, m = at, AXES[arrays.turning], arrays.body.coordinates, arrays.body.inertia.m
        J, c = np.zeros((3, 3)), arrays.coupling[0]
        for (i, k), value in zip(PAIRS[arrays.turning], arrays.rotary[0], strict=True):
            J[i, k] = J[k, i] = value
        self.weight = np.block([[J[np.ix_(self.axes, self.axes)], c], [c.T, arrays.M_ff]]) / m
        self.size = float(np.sqrt(max(np.trace(arrays.second[0]), 0.0) / m)) if self.axes else 0.0
        self.start = self.centre(now[None])[0].copy()

    def centre(self, rows: np.ndarray) -> np.ndarray:
        return rows[:, self.at : self.at + 3]

    def apart(self, one: np.ndarray, other: np.ndarray) -> float:
        """The largest distance between the rows of two motions (m)."""
        A, B = (rows[:, self.at + 3 : self.at + 12].reshape(-1, 3, 3) for rows in (one, other))
        eta = (other - one)[:, self.at + 12 : self.at + 12 + self.n]
        delta = np.hstack([_turns(A, B)[:, self.axes], eta])
        moved = self.centre(other) - self.centre(one)
        turned = np.maximum(np.einsum("ti,ij,tj->t", delta, self.weight, delta), 0.0)
        return float(np.sqrt((moved**2).sum(axis=1) + turned).max(initial=0.0))

    def reach(self, rows: np.ndarray) -> float:
        """The largest distance from the start."""
        return float(np.linalg.norm(self.centre(rows) - self.start, axis=1).max(initial=0.0))

    def round_off(self, rows: np.ndarray) -> float:
        """The round-off of the positions."""
        return ROUND_OFF * (float(np.abs(self.centre(rows)).max(initial=0.0)) + self.size)


def _turns(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Rotation vectors of AᵀB, as rows."""
    R = np.einsum("tji,tjk->tik", A, B)
    sine = 0.5 * np.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], axis=1)
    size = np.linalg.norm(sine, axis=1)
    angle = np.arctan2(size, 0.5 * (np.trace(R, axis1=1, axis2=2) - 1.0))
    return sine * np.divide(angle, size, out=np.ones_like(size), where=size > 0.0)[:, None]
