"""Steps whose size follows their error: every stretch of the motion is made twice, in steps of h and of 2h.

The finer motion is kept: its steps are midpoint steps like any other, so energy, momenta and joints hold to round-off. A third
of the distance between both is the error of the finer one (order two). Of a run from t_start to t_end each body may be off by

    (rtol × scale + atol) × (t − t_start) / (t_end − t_start)       at any time t,

scale being the size of the body or how far it comes from its start, whichever is larger; a coarse run foresees that. What
quiet stretches do not use is saved for others, a tenth of it at a time. No step passes a corner of an input, a sample of a
controller or the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from phloat.errors import ConvergenceError, InputError
from phloat.motion.inputs.corners import Stops, stops
from phloat.motion.inputs.signals import Function, Resolved
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.arrays import AXES, PAIRS, Arrays
from phloat.motion.kernel.step import SOLVED
from phloat.motion.run.assembled import unload
from phloat.motion.run.keeping import keep, recalled
from phloat.motion.run.outputs import Outputs
from phloat.motion.run.runner import Runner
from phloat.motion.run.watch import Saved, Watch, back_to, saved
from phloat.system.state import State

MOST = 32  # pairs of steps between two looks
SAVINGS = 0.1  # of what was saved, for a stretch
SAFETY, LEAST, LARGEST = 0.8, 0.1, 5.0  # of a change of the step
HALF, SAME = (
    0.5,
    0.8,
)  # of what is allowed: what steps are chosen for; changes of the step that are not worth new factors
SMALLEST = 1e-13  # of the run: the smallest step
AHEAD = 256  # steps of the coarse run that foresees how far bodies come …
SAMPLES = 10  # … for so many samples of a controller


def adaptive(runner: Runner, dt: float, rtol: float, atol: float) -> None:
    """From start to end in steps that hold the tolerance; dt is the first one that is tried."""
    task = runner.task
    if task.controller is not None and runner.due == np.inf:
        raise InputError(
            "Midpoint(rtol=…) chooses its steps itself, so a controller needs its sample time: every=…, or "
            "Sampled(controller, every=…)"
        )
    for name, signal in runner.given.items():
        if isinstance(signal, Function):
            runner.given[name] = runner.signals[name] = Resolved(
                signal.name, signal.function, signal.shape, 0.01 * rtol
            )
    pace = Pace(runner, dt, rtol, atol)
    while task.t_end - runner.t > 1e-13 * (task.t_end - task.t_0):
        if task.controller is not None and runner.t >= runner.due - 1e-9 * pace.h:
            runner.control(runner.outputs())
        if not pace.on():
            break
        task.progress(runner.t, runner.missing)
        keep(runner, pace.memory())
    runner.snap()
    keep(runner, pace.memory(), now=True)


class Pace:
    """An adaptive run: the step h, and how many pairs of steps are made between two looks at the error."""

    def __init__(self, runner: Runner, dt: float, rtol: float, atol: float) -> None:
        task = runner.task
        self.runner, self.rtol, self.atol = runner, rtol, atol
        self.apart = Apart(runner)
        self.corners = stops(runner.given, task.t_0, task.t_end, task.corners)
        memory = recalled(runner)
        self.h, self.count, self.pairs, self.span, self.rejected = dt, 0, 1, task.t_end - task.t_0, 0
        self.reach = self.spent = np.zeros(len(self.apart.bodies))
        if "pace" in memory:
            self.h, self.span = float(memory["pace"][0]), float(memory["pace"][3])
            self.count, self.pairs, self.rejected = (int(memory["pace"][k]) for k in (1, 2, 4))
            self.reach, self.spent = memory["reach"]
            new = self.corners.times[self.corners.times >= memory["pace"][5]]
            self.corners = Stops(np.array([*memory["corners"], *new]), frozenset())
        else:
            self.reach = self.foreseen()
        self.end = task.t_end
        self.watch = Watch(runner, memory, parts=2) if task.events else None

    def foreseen(self) -> np.ndarray:
        """How far bodies come in a coarse run, up to the first event; with a controller for some samples of it."""
        runner, task = self.runner, self.runner.task
        ends = [task.t_end, *self.corners.times[:AHEAD]]
        if task.controller is not None:
            ends = [task.t_0 + min(SAMPLES * (runner.due - task.t_0), self.span)]
        back, times = saved(runner), np.unique([*np.linspace(task.t_0, max(ends), AHEAD), *ends])
        for step in pairwise(times):
            if runner.steps(np.array(step), np.array([1]))[1] != SOLVED:
                break
        rows = runner.rows.kept[back.made : runner.rows.made].copy()
        self.restore(back)
        return self.apart.reach(rows[: self.first_event(rows)])

    def first_event(self, rows: np.ndarray) -> int:
        """How many rows come before an event changes its sign."""
        task = self.runner.task
        if not task.events:
            return len(rows)
        states = (State(task.system.bodies, task.system.layout, e) for e in unload(self.runner.run, rows))
        first: list[float] | None = None
        for k, state in enumerate(states):
            signs = [np.sign(e.value(task.t_0, Outputs(task.system, state))) for e in task.events]
            if signs != (first := first or signs):
                return k + 1
        return len(rows)

    def memory(self) -> dict[str, np.ndarray]:
        pace = np.array([self.h, self.count, self.pairs, self.span, self.rejected, self.end], dtype=float)
        events = {} if self.watch is None else self.watch.memory()
        return {"pace": pace, "reach": np.stack([self.reach, self.spent]), "corners": self.corners.times, **events}

    def on(self) -> bool:
        """The next stretch that holds the tolerance; False where an event stops the run."""
        while True:
            times, limited = self.times()
            self.runner.packed.iw[t.I_STARTED] = 0
            back = saved(self.runner)
            error = self.tried(times, back)
            h = 0.5 * float(times[1] - times[0])
            if error <= 1.0:
                break
            self.rejected += 1
            self.restore(back)
            self.h, self.pairs = h * max(LEAST, SAFETY / np.sqrt(error)), max(1, self.pairs // 4)
            if self.h < SMALLEST * self.span:
                self.stuck()
        self.reach, self.spent = self.trial
        met = None if self.watch is None else self.watch.met(float(times[-1]), back)
        if met is not None:
            assert self.watch is not None
            self.restore(back)
            return self.watch.act(*met, back)
        self.thin(back.made, 2 * (len(times) - 1))
        self.quicker(h, limited)
        self.runner.also["rejected"] = self.rejected
        return True

    def quicker(self, h: float, limited: bool) -> None:
        """The next step: such that twice as many pairs would use half of what they may, if the error goes on as it is."""
        error, income, saved_up = self.worst
        more = min(2 * self.pairs, MOST) / self.pairs
        ratios = np.geomspace(LEAST, LARGEST, 64)
        fit = ratios[more * error * ratios**3 <= HALF * (more * income * ratios + saved_up)]
        ratio = float(fit.max(initial=LEAST))
        if not (SAME < ratio < 1.0 / SAME):
            self.h = max(self.h, ratio * h) if limited and ratio > 1.0 else ratio * h
        self.pairs = min(2 * self.pairs, MOST)

    def times(self) -> tuple[np.ndarray, bool]:
        """Where the longer steps end, and whether they were made shorter to end at a corner."""
        runner, task = self.runner, self.runner.task
        limit = min(task.t_end, self.corners.after(runner.t, 1e-13 * self.span))
        if task.controller is not None and runner.t < runner.due < limit:
            limit = runner.due
        left, pairs = limit - runner.t, 1 if self.watch is not None else self.pairs
        if 2.0 * self.h * pairs >= left * (1 - 1e-9):
            pairs = min(pairs, max(1, int(np.ceil(left / (2.0 * self.h) - 1e-9))))
            return np.append(runner.t + left / pairs * np.arange(pairs), limit), True
        return runner.t + 2.0 * self.h * np.arange(pairs + 1), False

    def tried(self, times: np.ndarray, back: Saved) -> float:
        """The error of these steps beside what is allowed; the finer motion stays."""
        motions = []
        fine = np.append(np.column_stack([times[:-1], 0.5 * (times[:-1] + times[1:])]).ravel(), times[-1])
        for steps in (times, fine):
            rows, marks = self.runner.rows, np.arange(1, len(steps))
            _, status = self.runner.steps(steps, marks)
            if status != SOLVED:
                return np.inf
            motions.append(rows.kept[rows.made - len(marks) : rows.made].copy())
            if steps is times:
                self.restore(back)
        errors = self.apart.errors(motions[0], motions[1][1::2]) / 3.0
        return self.judged(errors, motions[1], times) if np.isfinite(errors).all() else np.inf

    def judged(self, errors: np.ndarray, rows: np.ndarray, times: np.ndarray) -> float:
        """Errors beside what the time that they took allows, and a part of what was saved."""
        reach = np.maximum(self.reach, self.apart.reach(rows))
        a_second = (self.rtol * np.maximum(self.apart.sizes, reach) + self.atol) / self.span
        saved_up = np.maximum(a_second * (times[0] - self.runner.task.t_0) - self.spent, 0.0)
        allowed = a_second * (times[-1] - times[0]) + SAVINGS * saved_up + self.apart.round_off(rows)
        self.trial = reach, self.spent + errors
        beside = np.divide(errors, allowed, out=np.zeros_like(errors), where=errors > 0.0)
        k = int(beside.argmax())
        income = a_second[k] * (times[-1] - times[0])
        self.worst = float(errors[k]), float(income), float(allowed[k] - income)
        return float(beside[k])

    def restore(self, back: Saved) -> None:
        """The runner as it was before some steps; rows they made go."""
        runner, rows = self.runner, self.runner.rows
        back_to(runner, back)
        rows.fill = back.fill
        if rows.fill >= 0:  # its λ was completed by a step that is taken back
            at = runner.packed.model.where[t.LAM]
            rows.lam[rows.fill] = runner.packed.w[at : at + runner.packed.multipliers]
        del rows.t[back.made :], rows.turned[back.made :]

    def thin(self, made: int, steps: int) -> None:
        """Of the rows of these steps only those that are wanted."""
        rows, output = self.runner.rows, self.runner.task.output
        number = self.count + 1 + np.arange(steps)
        self.count += steps
        if isinstance(output, int) and output == 1:
            return
        new = np.array(rows.t[made:])
        wanted = number % output == 0 if isinstance(output, int) else _around(new, rows.t[made - 1], output)
        kept = np.flatnonzero(wanted) + made
        for array in (rows.kept, rows.lam, rows.springs):
            array[made : made + len(kept)] = array[kept]
        rows.t[made:] = new[wanted].tolist()
        rows.turned[made:] = [rows.turned[k] for k in kept] if rows.turned else []
        rows.fill = rows.made - 1 if wanted[-1] else -1

    def stuck(self) -> None:
        """A sentence, and the motion up to here."""
        self.runner.snap()
        raise ConvergenceError(
            f"Midpoint(rtol={self.rtol:g}) cannot go on at t = {self.runner.t:g} s: the step fell to {self.h:.2g} s and the error "
            "is still too large; look at the motion before (`result` of this error), give a larger rtol or an atol, or fixed steps",
            self.runner.result(),
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


@dataclass(frozen=True, eq=False)
class Measure:
    """One body: where its positions stand in a row, (turns, deformations) in the mean square, its size (m)."""

    at: int
    axes: list[int]
    n: int
    weight: np.ndarray
    size: float

    def centre(self, rows: np.ndarray) -> np.ndarray:
        return rows[:, self.at : self.at + 3]

    def apart(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """The distance between two motions, row by row (m)."""
        A, B = (rows[:, self.at + 3 : self.at + 12].reshape(-1, 3, 3) for rows in (one, other))
        eta = (other - one)[:, self.at + 12 : self.at + 12 + self.n]
        delta = np.hstack([_turns(A, B)[:, self.axes], eta])
        moved = self.centre(other) - self.centre(one)
        return np.sqrt((moved**2).sum(axis=1) + np.maximum(np.einsum("ti,ij,tj->t", delta, self.weight, delta), 0.0))


class Apart:
    """All bodies of a run, measured from where they are now."""

    def __init__(self, runner: Runner) -> None:
        packed = runner.packed
        self.bodies = [
            _measure(arrays, int(row[t.W_Q]) - packed.first)
            for row, arrays in zip(packed.model.bodies, packed.arrays.values(), strict=True)
        ]
        here = packed.w[packed.first : packed.first + packed.kept][None]
        self.starts = [body.centre(here)[0] for body in self.bodies]
        self.sizes = np.array([body.size for body in self.bodies])

    def errors(self, coarse: np.ndarray, fine: np.ndarray) -> np.ndarray:
        """The largest distance of each body in these rows."""
        return np.array([body.apart(coarse, fine).max(initial=0.0) for body in self.bodies])

    def reach(self, rows: np.ndarray) -> np.ndarray:
        """How far each body is from where it was, at most."""
        centres = (body.centre(rows) - start for body, start in zip(self.bodies, self.starts, strict=True))
        return np.array([np.linalg.norm(c, axis=1).max(initial=0.0) for c in centres])

    def round_off(self, rows: np.ndarray) -> np.ndarray:
        """What positions of each body are not known to."""
        far = [float(np.abs(body.centre(rows)).max(initial=0.0)) for body in self.bodies]
        return ROUND_OFF * (np.array(far) + self.sizes)


def _measure(arrays: Arrays, at: int) -> Measure:
    axes, n, m = AXES[arrays.turning], arrays.body.coordinates, arrays.body.inertia.m
    J = np.zeros((3, 3))
    for (i, k), value in zip(PAIRS[arrays.turning], arrays.rotary[0], strict=True):
        J[i, k] = J[k, i] = value
    c = arrays.coupling[0]
    weight = np.block([[J[np.ix_(axes, axes)], c], [c.T, arrays.M_ff]]) / m
    size = float(np.sqrt(max(np.trace(arrays.second[0]), 0.0) / m)) if axes else 0.0
    return Measure(at, axes, n, weight, size)


def _turns(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Rotation vectors of AᵀB, as rows."""
    R = np.einsum("tji,tjk->tik", A, B)
    sine = 0.5 * np.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], axis=1)
    size = np.linalg.norm(sine, axis=1)
    angle = np.arctan2(size, 0.5 * (np.trace(R, axis1=1, axis2=2) - 1.0))
    return sine * np.divide(angle, size, out=np.ones_like(size), where=size > 0.0)[:, None]
