"""The default scheme (DESIGN §4): energy, momenta, joints and rotations to round-off, at any step.

Steps are compiled and run many at a time; between them stand inputs, controllers, events and outputs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from phloat.errors import ConvergenceError, InputError, not_negative, positive
from phloat.motion.assembled import Assembled, assembled, load, unload
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.step import SINGULAR, SOLVED, advance, set_step, snapshot
from phloat.motion.outputs import Outputs
from phloat.motion.result import Books, Result
from phloat.motion.signals import Constant, vector
from phloat.motion.task import Task
from phloat.system.state import State

CHUNK = 256  # steps between looks at the clock
DEEPEST = 12  # halvings of a step before it is given up


@dataclass(frozen=True)
class Midpoint:
    """Second order, any step; fixed unless a tolerance is given.

    `rtol` makes the step adaptive: the error of positions in a step stays below rtol times their size (`atol` metres or
    radians at least); dt is then the first step, and the step changes by factors of two.
    """

    rtol: float | None = None
    atol: float = 1e-9

    def __post_init__(self) -> None:
        if self.rtol is not None:
            positive("rtol", self.rtol)
        not_negative("atol", self.atol)

    def run(self, task: Task) -> Result:
        runner = Runner(task)
        if self.rtol is None:
            if task.dt is None:
                raise InputError("the step is missing: give dt=…, or scheme=Midpoint(rtol=…) to let it adapt")
            runner.fixed(task.dt, (1.0,))
        else:
            runner.adaptive(task.dt or 1e-3 * (task.t_end - task.t_0), self.rtol, self.atol)
        return runner.result()


@dataclass(eq=False)
class Rows:
    """Snapshots, grown as needed."""

    kept: np.ndarray
    lam: np.ndarray
    springs: np.ndarray
    t: list[float] = field(default_factory=list)
    fill: int = -1

    @property
    def made(self) -> int:
        return len(self.t)

    def room(self, more: int) -> None:
        """Space for so many rows more."""
        missing = self.made + more - len(self.kept)
        if missing > 0:
            grow = max(missing, len(self.kept) // 2)
            for name in ("kept", "lam", "springs"):
                old = getattr(self, name)
                setattr(self, name, np.vstack([old, np.zeros((grow, old.shape[1]))]))


class Runner:
    """A task being run by the kernel."""

    def __init__(self, task: Task) -> None:
        self.task, self.t = task, task.t_0
        self.signals = dict(task.inputs.signals)
        self.sampled = -np.inf
        self.halvings: list[float] = []
        self.happened: list[tuple[float, str]] = []
        self.state = task.state
        if task.controller is not None:
            self._control(first=True)
        self.run: Assembled = assembled(task.system, task.state, self.signals, task.t_0)
        for row in task.dropped:
            self.packed.model.rows[row, t.R_DROPPED] = 1
        self.h = 0.0
        p = self.packed
        self.rows = Rows(np.zeros((0, p.kept)), np.zeros((0, p.multipliers)), np.zeros((0, len(p.entries))))
        self._snap()
        self.levels = [event.value(self.t, self._outputs()) for event in task.events]

    @property
    def packed(self):  # noqa: ANN201
        return self.run.packed

    # --- fixed steps -------------------------------------------------------------------------------------------------

    def fixed(self, dt: float, parts: tuple[float, ...]) -> None:
        """Steps of dt, each made of the given parts; the last one is shorter where dt does not divide the time."""
        task = self.task
        span = task.t_end - task.t_0
        count = int(np.floor(span / dt * (1 + 1e-12) + 1e-9))
        times = task.t_0 + dt * np.arange(count + 1)
        if task.t_end - times[-1] > 1e-9 * dt:
            times = np.append(times, task.t_end)
        else:
            times[-1] = task.t_end
        wanted = self._wanted(times)
        single = task.controller is not None or task.events
        k = 0
        while k < len(times) - 1:
            stop = min(k + (1 if single else CHUNK), len(times) - 1)
            if stop == len(times) - 1 and stop - k > 1 and len(times) > count + 1:
                stop -= 1  # the short one by itself
            if task.controller is not None:
                self._control()
            marks = wanted[(wanted > k) & (wanted <= stop)] - k
            if single:
                k = self._watched(times, k, marks, parts)
            else:
                self._go(times[k : stop + 1], marks, parts)
                k = stop
            task.progress(self.t)
            if k < 0:
                return

    def _wanted(self, times: np.ndarray) -> np.ndarray:
        """Numbers of the nodes to keep: every so many and the last, or those around the wanted times."""
        if isinstance(self.task.output, int):
            every = np.arange(0, len(times), self.task.output)
            return np.unique(np.append(every, len(times) - 1))
        after = np.searchsorted(times, self.task.output - 1e-9 * (times[1] - times[0]))
        near = np.abs(times[np.minimum(after, len(times) - 1)] - self.task.output) < 1e-9 * (times[1] - times[0])
        return np.unique(np.clip(np.concatenate([after, after[~near] - 1]), 0, len(times) - 1))

    def _go(self, times: np.ndarray, marks: np.ndarray, parts: tuple[float, ...]) -> None:
        """Steps from node to node, halved where Newton's method fails."""
        if parts != (1.0,):
            for i in range(len(times) - 1):
                self._composed(times[i], times[i + 1], parts)
                if i + 1 in marks:
                    self._snap()
            return
        at = 0
        while at < len(times) - 1:
            rest = times[at:]
            done, status = self._steps(rest, marks[marks > at] - at)
            at += done
            if status != SOLVED:
                self._halved(times[at], times[at + 1], status, 1)
                at += 1
                if at in marks:
                    self._snap()

    def _steps(self, times: np.ndarray, marks: np.ndarray) -> tuple[int, int]:
        """As many steps as can be made, all of one size."""
        p, run, rows = self.packed, self.run, self.rows
        h = float(times[1] - times[0])
        if abs(h - self.h) > 1e-9 * abs(h):
            set_step(p.model, p.w, p.iw, h)
            self.h = h
        given, moving = self._given(times), self._moving(times)
        rows.room(len(marks))
        status, done, made, rows.fill = advance(
            p.model,
            p.w,
            p.iw,
            p.gravity,
            self.h,
            given,
            run.given_at,
            moving,
            run.moving_at,
            marks.astype(np.int64),
            p.first,
            rows.kept,
            rows.lam,
            rows.springs,
            rows.made,
            rows.fill,
        )
        rows.t += [float(times[k]) for k in marks[: made - rows.made]]
        if done:
            self.t = float(times[done])
            run.moved = moving[done - 1]
        return done, status

    def _composed(self, start: float, end: float, parts: tuple[float, ...]) -> None:
        """One step as a composition of steps of the given parts, forth and back."""
        at = start
        for part in parts:
            self.packed.iw[t.I_STARTED] = min(self.packed.iw[t.I_STARTED], 1)
            to = at + part * (end - start)
            done, status = self._steps(np.array([at, to]), np.zeros(0, dtype=np.int64))
            if not done:
                self._given_up(at, status)
            at = to
        self.t = end

    def _halved(self, start: float, end: float, status: int, depth: int) -> None:
        """The step that failed as two of half the size, and so on."""
        if depth > DEEPEST:
            self._given_up(start, status)
        self.halvings.append(start)
        middle = 0.5 * (start + end)
        for a, b in ((start, middle), (middle, end)):
            self.packed.iw[t.I_STARTED] = 0
            done, status = self._steps(np.array([a, b]), np.zeros(0, dtype=np.int64))
            if not done:
                self._halved(a, b, status, depth + 1)

    def _given_up(self, at: float, status: int) -> None:
        """A sentence, and the motion up to here."""
        p = self.packed
        body, entry = int(p.iw[t.I_WORST_BODY]), int(p.iw[t.I_WORST_ENTRY])
        names = list(self.task.system.bodies)
        where = (
            f"body {names[body]!r}" if body >= 0 else f"joint {p.entries[entry].name!r}" if entry >= 0 else "the joints"
        )
        what = "has no regular mass" if status == SINGULAR else "does not settle"
        self._snap()
        raise ConvergenceError(
            f"Newton's method fails at t = {at:g} s: {where} {what}, though the step was halved to {abs(self.h):.2g} s; "
            "look at the motion before (it is in `result` of this error), try a smaller dt, or check stiffnesses and drives there",
            self.result(),
        )

    # --- inputs ------------------------------------------------------------------------------------------------------

    def _given(self, times: np.ndarray) -> np.ndarray:
        """Means of the given efforts over each step."""
        out = np.zeros((len(times) - 1, len(self.run.given)))
        for name in dict.fromkeys(name for name, _ in self.run.given):
            columns = [k for k, (owner, _) in enumerate(self.run.given) if owner == name]
            component = [c for owner, c in self.run.given if owner == name]
            signal = self.signals[name]
            if isinstance(signal, Constant):
                out[:, columns] = signal.value[component]
            else:
                for i in range(len(out)):
                    out[i, columns] = signal.mean(times[i], times[i + 1])[component]
        return out

    def _moving(self, times: np.ndarray) -> np.ndarray:
        """Where the drives are at the end of each step."""
        out = np.zeros((len(times) - 1, len(self.run.moving_at)))
        before = self.run.moved
        for i in range(len(out) if self.run.moving else 0):
            at = 0
            for motion in self.run.moving:
                n = len(motion.start)
                out[i, at : at + n] = motion.moved(before[at : at + n], self.signals, times[i], times[i + 1])
                at += n
            before = out[i]
        return out

    def _control(self, first: bool = False) -> None:
        """Inputs from the controller, at its sample times."""
        task = self.task
        due = task.every is None or self.t >= self.sampled + task.every * (1 - 1e-9)
        if not due:
            return
        self.sampled = self.t if task.every is None or first else self.sampled + task.every
        assert task.controller is not None
        answer = task.controller(self.t, self._outputs() if not first else Outputs(task.system, self.state))
        if not isinstance(answer, dict):
            raise InputError(f"the controller returned {answer!r} at t = {self.t:g} s; it must return {{port: value}}")
        for name, value in answer.items():
            if name not in task.system.ports or (not first and name not in self.signals):
                there = ", ".join(task.system.ports if first else self.signals)
                raise InputError(f"the controller answers for {name!r} at t = {self.t:g} s; there are: {there}")
            shape = task.system.ports.shape(name)
            self.signals[name] = Constant(vector(f"controller, {name!r} at t = {self.t:g} s", value, shape))

    # --- states and events -------------------------------------------------------------------------------------------

    def _snap(self) -> None:
        """The present state as a row."""
        p, rows = self.packed, self.rows
        if rows.t and rows.t[-1] == self.t:
            return
        rows.room(1)
        snapshot(p.model, p.w, p.gravity, p.first, rows.kept[rows.made], rows.springs[rows.made])
        at = p.model.where[0]
        rows.lam[rows.made] = p.w[at : at + p.multipliers]
        rows.fill = rows.made if self.h else -1
        rows.t.append(self.t)

    def _outputs(self) -> Outputs:
        return Outputs(self.task.system, self._state())

    def _state(self) -> State:
        p = self.packed
        kept = p.w[p.first : p.first + p.kept][None]
        return State(self.task.system.bodies, self.task.system.layout, unload(self.run, kept)[0])

    def _watched(self, times: np.ndarray, k: int, marks: np.ndarray, parts: tuple[float, ...]) -> int:
        """One step with an eye on events: the next node, or −1 where the run stops."""
        before, moved, w, iw = self.t, self.run.moved.copy(), self.packed.w.copy(), self.packed.iw.copy()
        start = times[k] if self.t <= times[k] else self.t
        self._go(np.array([start, times[k + 1]]), np.zeros(0, dtype=np.int64), parts)
        levels = [event.value(self.t, self._outputs()) for event in self.task.events]
        crossed = [i for i, e in enumerate(self.task.events) if e.crossed(self.levels[i], levels[i])]
        if not crossed:
            self.levels = levels
            if len(marks):
                self._snap()
            return k + 1
        return self._met(crossed, start, times[k + 1], (before, moved, w, iw), parts, k)

    def _met(self, crossed: list[int], start: float, end: float, back: tuple, parts: tuple[float, ...], k: int) -> int:
        """The step again, up to the first crossing: Illinois' false position on the length of the step."""
        events, found = self.task.events, {}
        for i in crossed:
            low, high = (0.0, self.levels[i]), (1.0, None)
            a, fa, b, fb = 0.0, self.levels[i], 1.0, self._level(events[i], start, end, 1.0, back, parts)
            for _ in range(60):
                x = (a * fb - b * fa) / (fb - fa) if fb != fa else 0.5 * (a + b)
                x = min(max(x, a + 1e-3 * (b - a)), b - 1e-3 * (b - a))
                f = self._level(events[i], start, end, x, back, parts)
                if (f < 0.0) == (fa < 0.0) and f != 0.0:
                    a, fa, fb = x, f, 0.5 * fb
                else:
                    b, fb, fa = x, f, 0.5 * fa
                if b - a < 1e-13 or f == 0.0:
                    break
            found[i] = b
        first = min(found, key=lambda i: found[i])
        self._level(events[first], start, end, found[first], back, parts)
        self.happened.append((self.t, events[first].name))
        self._snap()
        act = events[first].do
        if act is None:
            return -1
        changed = act(self.t, self._state())
        if changed is not None:
            self._reload(changed)
        self.levels = [event.value(self.t, self._outputs()) for event in events]
        self.levels[first] = 0.0 if changed is None else self.levels[first]
        return k if end - self.t > 1e-9 * (end - start) else k + 1

    def _level(self, event, start: float, end: float, part: float, back: tuple, parts: tuple[float, ...]) -> float:
        """The event's value after a part of the step."""
        self.t, self.run.moved = back[0], back[1].copy()
        self.packed.w[:], self.packed.iw[:] = back[2], back[3]
        self.packed.iw[t.I_FACTORED], self.h = 0, 0.0
        self._go(np.array([start, start + part * (end - start)]), np.zeros(0, dtype=np.int64), parts)
        return event.value(self.t, self._outputs())

    def _reload(self, state: State) -> None:
        from phloat.motion.velocities import agree_or_said, closed_or_said
        from phloat.system.system import fits

        state = fits(self.task.system, state)
        closed_or_said(self.task.system, state)
        u = np.zeros(self.task.system.ports.size)
        for name, signal in self.signals.items():
            u[self.task.system.ports[name]] = signal.at(self.t)
        agree_or_said(self.task.system, state, u)
        load(self.run, state)

    # --- what comes out ----------------------------------------------------------------------------------------------

    def result(self) -> Result:
        """All rows as a Result."""
        p, rows, system = self.packed, self.rows, self.task.system
        n, bodies, entries = rows.made, len(system.bodies), len(p.entries)
        kept, first = rows.kept[:n], p.first
        B = p.model.bodies
        energies = np.stack([kept[:, B[i, t.W_ENERGY] - first :][:, :3] for i in range(bodies)], axis=1)
        energies[:, :, 1] += self.run.constant
        losses = np.stack([kept[:, B[i, t.W_LOSS] - first] for i in range(bodies)], axis=1)
        at = int(p.model.entries[0, t.J_WORK]) - first if entries else 0
        works = kept[:, at : at + 2 * entries].reshape(n, entries, 2)
        books = Books(tuple(entry.name for entry in p.entries), energies, losses, works, rows.springs[:n])
        lam = rows.lam[:n].copy()
        if n > 1:
            lam[0] = lam[1]
        info = {
            "steps": int(p.iw[t.I_STEPS]),
            "iterations": int(p.iw[t.I_ITERATIONS]),
            "factorisations": int(p.iw[t.I_FACTORISATIONS]),
            "most iterations": int(p.iw[t.I_MOST]),
            "stalled": int(p.iw[t.I_STALLED]),
            "halved": tuple(self.halvings),
            "events": tuple(self.happened),
        }
        return Result(system, np.array(rows.t), unload(self.run, kept), lam[:, : system.multipliers.size], books, info)

    def adaptive(self, dt: float, rtol: float, atol: float) -> None:
        """Steps whose size follows the error of positions."""
        raise NotImplementedError
