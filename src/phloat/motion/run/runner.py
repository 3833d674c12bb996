"""The kernel at work on a task: steps, halvings, inputs, snapshots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from phloat.errors import ConvergenceError, InputError
from phloat.motion.inputs.signals import Constant, Signal, means, vector
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.newton import ROUND_OFF
from phloat.motion.kernel.pack import Packed
from phloat.motion.kernel.step import SINGULAR, SOLVED, exchange, set_step, snapshot
from phloat.motion.kernel.tables import LAM
from phloat.motion.law_ranges import begin_ranges, found_ranges, stamp_times, watched_places
from phloat.motion.result import Books, Result, happened
from phloat.motion.run.assembled import Assembled, assembled, unload
from phloat.motion.run.balance import Balance
from phloat.motion.run.notice import compile_apart
from phloat.motion.run.outputs import Outputs
from phloat.motion.run.parts import WHOLE, Parts
from phloat.motion.run.reader import Reader
from phloat.motion.run.sharing import advanced
from phloat.motion.run.task import Task
from phloat.motion.run.turns import counted
from phloat.system.state import State

DEEPEST = 12  # halvings of a step before it is given up
NONE = np.zeros(0, dtype=np.int64)


@dataclass(eq=False)
class Rows:
    """Snapshots, grown as needed; λ of row `fill` still waits for the step after it."""

    kept: np.ndarray
    lam: np.ndarray
    springs: np.ndarray
    t: list[float] = field(default_factory=list)
    fill: int = -1
    before: int = 0  # rows that were dropped
    turned: list[np.ndarray] = field(default_factory=list)  # angles with their turns, where they are counted

    @property
    def made(self) -> int:
        return len(self.t)

    def room(self, more: int) -> None:
        """Space for so many rows more."""
        missing = self.made + more - len(self.kept)
        if missing > 0:
            grow = max(missing, len(self.kept) // 2)
            self.kept, self.lam, self.springs = (
                np.vstack([old, np.zeros((grow, old.shape[1]))]) for old in (self.kept, self.lam, self.springs)
            )

    def drop(self, count: int) -> None:
        """Without the first rows, which are kept elsewhere."""
        self.kept, self.lam, self.springs = (
            old[count : self.made].copy() for old in (self.kept, self.lam, self.springs)
        )
        del self.t[:count], self.turned[:count]
        self.before, self.fill = self.before + count, max(self.fill - count, -1)


class Runner:
    """A task being run: `t` and the buffers say where it stands. `run` are buffers of it that are there already; `tolerance` is
    where Newton's method stops, as a fraction of the terms of an equation (None: at their round-off); `parts` are of a step."""

    def __init__(
        self, task: Task, run: Assembled | None = None, tolerance: float | None = None, parts: Parts = WHOLE
    ) -> None:
        compile_apart()
        self.task, self.parts, self.t = task, parts, task.t_0
        self.h, self.sizes = 0.0, np.zeros(0)
        also = task.system.ports.also
        self.given = {also.get(name, name): signal for name, signal in task.inputs.signals.items()}
        self.signals: dict[str, Signal] = dict(self.given)
        self.sampled = -np.inf
        self.halvings: list[float] = []
        self.happened: list[tuple[float, str]] = []
        self.turned = np.zeros(0)  # angles of joints now, where turns are counted
        self.changes: list[tuple[float, int, float]] = []  # time, number of the event, what it did to H
        self.records: list[tuple[np.ndarray, np.ndarray]] = []  # e before and after each event
        self.also: dict[str, object] = {}  # what the march reports beside the steps
        if task.memory is not None:
            self.signals |= self._controlled(task.memory)
        elif task.controller is not None:
            self.control(Outputs(task.system, task.state))
        self.run = assembled(task.system, task.state, self.signals, task.t_0) if run is None else run
        if tolerance is not None:
            self.packed.w[t.TOLERATED] = max(ROUND_OFF, tolerance / np.finfo(float).eps)
        for row in task.dropped:
            self.packed.model.rows[row, t.R_DROPPED] = 1
        p = self.packed
        begin_ranges(p, task.t_0)
        self.left = watched_places(p)
        self.bank = np.zeros(int(p.model.factors[:, 1].sum()) if len(parts.sizes) > 1 else 0)
        self.turns = counted(task.system, p, task.output)
        if self.turns is not None:
            self.turned = self.turns.wrapped(p.w[p.first : p.first + p.kept][None])[0]
        self.rows = Rows(np.zeros((0, p.kept)), np.zeros((0, p.multipliers)), np.zeros((0, len(p.entries))))
        self.snap()
        self.missing = Balance(self.run, self.changes)
        self.reader = Reader(self.run)

    @property
    def packed(self) -> Packed:
        return self.run.packed

    # --- steps -------------------------------------------------------------------------------------------------------

    def go(self, times: np.ndarray, marks: np.ndarray = NONE) -> None:
        """Steps from time to time, halved where Newton's method fails; snapshots after the steps numbered in marks."""
        at = 0
        while at < len(times) - 1:
            done, status = self.steps(times[at:], marks[marks > at] - at, self.parts)
            at += done
            if status != SOLVED:
                if self.parts is not WHOLE:
                    self._given_up(self.t, status)
                self._halved(times[at], times[at + 1], status, 1)
                at += 1
                if at in marks:
                    self.snap()

    def steps(self, times: np.ndarray, marks: np.ndarray, parts: Parts = WHOLE) -> tuple[int, int]:
        """As many steps as can be made, all of one size and each of these parts; how many, and how the last one went."""
        p, run, rows, count = self.packed, self.run, self.rows, len(parts.fractions)
        self.set_step(float(times[1] - times[0]), parts)
        wanted, before = marks, rows.made
        if self.turns is not None:
            marks = np.arange(1, len(times))
        times, marks = (parts.within(times), marks * count) if count > 1 else (times, marks)
        given, moving = self.efforts(times), self.driven(times)
        rows.room(len(marks))
        made_so_far, inside = int(p.iw[t.I_STEPS]), p.w[self.left] == np.inf
        status, done, made, rows.fill = advanced(
            *(p, self.task.threads, (self.sizes, parts.sets, parts.guesses), self.bank),
            *(given, run.given_at, moving, run.moving_at, marks),
            *(p.first, rows.kept, rows.lam, rows.springs, rows.made, rows.fill),
        )
        rows.t += [float(times[k]) for k in marks[: made - rows.made]]
        if inside.any():
            stamp_times(p, self.left[inside], times, made_so_far)
        if done:
            self.t, run.moved = float(times[done]), moving[done - 1]
        if self.turns is not None:
            self._count(before, wanted)
        return done // count, status

    def _count(self, before: int, wanted: np.ndarray) -> None:
        """Turns after each step, for which all of them were kept; then only those that are wanted are."""
        assert self.turns is not None
        rows, made = self.rows, self.rows.made
        if made == before:
            return
        angles = self.turns.onward(self.turned, rows.kept[before:made])
        self.turned = angles[-1]
        wanted = wanted[wanted <= made - before] - 1
        rows.turned += list(angles[wanted])
        for array in (rows.kept, rows.lam, rows.springs):
            array[before : before + len(wanted)] = array[before + wanted]
        rows.t[before:] = [rows.t[before + k] for k in wanted]
        if rows.fill == made - 1:
            rows.fill = rows.made - 1 if made - before - 1 in wanted else -1

    def set_step(self, h: float, parts: Parts = WHOLE) -> None:
        """The sizes of the parts of a step of size h; factors go where they change."""
        if abs(h - self.h) > 1e-9 * abs(h) or len(self.sizes) != len(parts.fractions):
            p = self.packed
            for size in h * parts.sizes[1:]:
                set_step(p.model, p.w, p.iw, size)
                exchange(p.model, p.w, p.iw, self.bank)
            set_step(p.model, p.w, p.iw, h * parts.sizes[0])
            p.iw[t.I_SET] = 0
            self.h, self.sizes = h, h * np.array(parts.fractions)

    def _halved(self, start: float, end: float, status: int, depth: int) -> None:
        """The step that failed as two of half the size, and so on."""
        if depth > DEEPEST:
            self._given_up(start, status)
        self.halvings.append(start)
        middle = 0.5 * (start + end)
        for a, b in ((start, middle), (middle, end)):
            self.packed.iw[t.I_STARTED] = 0
            done, status = self.steps(np.array([a, b]), NONE)
            if not done:
                self._halved(a, b, status, depth + 1)

    def _given_up(self, at: float, status: int) -> None:
        """A sentence, and the motion up to here."""
        p = self.packed
        body, entry = int(p.iw[t.I_WORST_BODY]), int(p.iw[t.I_WORST_ENTRY])
        names = list(self.task.system.bodies)
        where = (
            f"body {names[body]!r}" if body >= 0 else f"joint {p.entries[entry].name!r}" if entry >= 0 else "a joint"
        )
        what = "has no regular mass" if status == SINGULAR else "does not settle"
        self.snap()
        raise ConvergenceError(
            f"Newton's method fails at t = {at:g} s: {where} {what}, though the step was halved to {abs(self.h):.2g} s; "
            "look at the motion before (`result` of this error), try a smaller dt, or check stiffnesses and drives there",
            self.result(),
        )

    # --- inputs ------------------------------------------------------------------------------------------------------

    def efforts(self, times: np.ndarray) -> np.ndarray:
        """Means of the given efforts over each step."""
        out = np.zeros((len(times) - 1, len(self.run.given)))
        for name, (columns, components) in self.run.given_columns.items():
            signal = self.signals[name]
            if isinstance(signal, Constant):
                out[:, columns] = signal.value[components]
            else:
                out[:, columns] = means(signal, times)[:, components]
        return out

    def driven(self, times: np.ndarray) -> np.ndarray:
        """Where the drives are at the end of each step."""
        out, at = np.zeros((len(times) - 1, len(self.run.moving_at))), 0
        for motion in self.run.moving:
            to = at + len(motion.start)
            out[:, at:to] = motion.moved(self.run.moved[at:to], self.signals, times)
            at = to
        return out

    @property
    def due(self) -> float:
        """When the controller wants to be asked next; infinite where it is asked at every step."""
        if self.task.every is not None and self.sampled > -np.inf:
            return self.sampled + self.task.every
        return getattr(self.task.controller, "due", np.inf)

    def control(self, y: Outputs) -> None:
        """Inputs from the controller, when its sample time has come."""
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
                    f"the controller answers for {name!r} at t = {self.t:g} s; "
                    f"there {'are' if first else 'were at the start'}: {', '.join(there)}"
                )
            shape = task.system.ports.shape(name)
            self.signals[port] = Constant(vector(f"controller, {name!r} at t = {self.t:g} s", value, shape))

    def controlled(self) -> dict[str, np.ndarray]:
        """The inputs that a controller has set, as they are."""
        changed = {name: s for name, s in self.signals.items() if s is not self.given.get(name)}
        return {name: signal.at(self.t) for name, signal in changed.items()}

    def _controlled(self, memory: Mapping[str, np.ndarray]) -> dict[str, Signal]:
        names = memory["inputs"].tolist()
        ends = np.cumsum([self.task.system.ports.shape(name)[0] for name in names], dtype=int)
        return {
            name: Constant(value) for name, value in zip(names, np.split(memory["values"], ends[:-1]), strict=False)
        }

    # --- states and results ------------------------------------------------------------------------------------------

    def snap(self) -> None:
        """The present state as a row, unless it is one already."""
        p, rows = self.packed, self.rows
        if rows.t and rows.t[-1] == self.t:
            return
        rows.room(1)
        snapshot(p.model, p.w, p.gravity, p.first, rows.kept[rows.made], rows.springs[rows.made])
        at = p.model.where[LAM]
        rows.lam[rows.made] = p.w[at : at + p.multipliers]
        rows.fill = rows.made
        rows.t.append(self.t)
        if self.turns is not None:
            rows.turned.append(self.turned)

    def state(self) -> State:
        p, system = self.packed, self.task.system
        kept = p.w[p.first : p.first + p.kept][None]
        return State(system.bodies, system.layout, unload(self.run, kept)[0])

    def outputs(self) -> Outputs:
        """What can be read of the system now."""
        return self.reader.outputs()

    def result(self, count: int | None = None) -> Result:
        """All rows (or the first so many) as a Result."""
        p, rows, system = self.packed, self.rows, self.task.system
        n, entries, first = rows.made if count is None else count, len(p.entries), p.first
        kept, B = rows.kept[:n], p.model.bodies
        energies = np.stack([kept[:, b[t.W_ENERGY] - first :][:, :3] for b in B], axis=1)
        energies[:, :, 1] += self.run.constant
        losses = np.stack([kept[:, b[t.W_LOSS] - first] for b in B], axis=1)
        at = int(p.model.entries[0, t.J_WORK]) - first if entries else 0
        works = kept[:, at : at + 2 * entries].reshape(n, entries, 2)
        names, changes = self._changed(np.array(rows.t[:n]))
        books = Books(
            (*(entry.name for entry in p.entries), *names),
            energies,
            losses,
            np.concatenate([works, changes], axis=1),
            np.concatenate([rows.springs[:n], np.zeros((n, len(names)))], axis=1),
        )
        info = {
            "steps": int(p.iw[t.I_STEPS]),
            "iterations": int(p.iw[t.I_ITERATIONS]),
            "factorisations": int(p.iw[t.I_FACTORISATIONS]),
            "most iterations": int(p.iw[t.I_MOST]),
            "stalled": int(p.iw[t.I_STALLED]),
            "halved": tuple(self.halvings),
            "events": tuple(self.happened),
            **found_ranges(p),
            **self.also,
        }
        return Result(
            system,
            np.array(rows.t[:n]),
            unload(self.run, kept),
            self._multipliers(n)[:, : system.multipliers.size],
            books,
            info,
            happened(system, self.happened, self.records),
            np.array(rows.turned[:n]).reshape(n, len(self.turns.joints)) if self.turns is not None else None,
        )

    def _changed(self, times: np.ndarray) -> tuple[list[str], np.ndarray]:
        """What events that act did to H up to these times, as works of entries of their own."""
        acting = {i: k for k, i in enumerate(i for i, e in enumerate(self.task.events) if e.do is not None)}
        out = np.zeros((len(times), len(acting), 2))
        for time, which, change in self.changes:
            out[times > time, acting[which], 1] += change  # the row at an event is of the state before it
        return [f"event {self.task.events[i].name}" for i in acting], out

    def _multipliers(self, n: int) -> np.ndarray:
        """λ at n rows. The first is that of the one step it has; for the last a step beyond it is made, on a copy."""
        rows, h = self.rows, self.h
        lam = rows.lam[:n].copy()
        if rows.before + rows.made > 1 and h and n:
            if rows.before == 0:
                lam[0] = 2 * lam[0]  # there was nothing before the first step, so half of it is zero
            lam[-1] = (
                0.5 * (lam[-1] + self._beyond(self.t + self.sizes[-1], lam[-1])) if rows.fill == n - 1 else lam[-1]
            )
        return lam

    def _beyond(self, to: float, otherwise: np.ndarray) -> np.ndarray:
        """λ of one step more, which is then forgotten."""
        p, moved, at, sizes = self.packed, self.run.moved, self.t, (self.h, self.sizes)
        w, iw, fill, turned = p.w.copy(), p.iw.copy(), self.rows.fill, self.turned
        self.rows.fill = -1
        try:
            done, _ = self.steps(np.array([at, to]), NONE)
        except InputError:  # a table of inputs that ends here
            done = 0
        lam = p.w[p.model.where[LAM] :][: p.multipliers].copy() if done else otherwise
        p.w[:], p.iw[:], self.t, self.run.moved, self.rows.fill = w, iw, at, moved, fill
        self.h, self.sizes = sizes
        self.turned = turned
        return lam
