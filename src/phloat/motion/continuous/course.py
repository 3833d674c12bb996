"""From start to end with a scheme that steps through F(t, y, ẏ) = 0: inputs, controllers, events, outputs, books."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from phloat.errors import ConvergenceError, InputError
from phloat.motion.assembled import unload
from phloat.motion.continuous.flow import Flow
from phloat.motion.events import Event
from phloat.motion.kernel import tables as t
from phloat.motion.outputs import Outputs
from phloat.motion.result import Books, Result
from phloat.motion.signals import Constant, Corners, Signal, vector
from phloat.motion.task import Task
from phloat.motion.velocities import agree_or_said, closed_or_said
from phloat.system.state import State
from phloat.system.system import fits

SEARCHES = 60


@dataclass(frozen=True, eq=False)
class Piece:
    """One step: y and the works done, at any time of it."""

    t_0: float
    t_1: float
    at: Callable[[float], tuple[np.ndarray, np.ndarray]]


class Stepper(Protocol):
    """What a scheme does: it begins at a consistent (t, y, ẏ) and takes steps that do not pass `limit`.

    `agrees` says that its velocities agree with the joints at the ends of steps; `adapts` that it chooses its steps.
    """

    name: str
    adapts: bool
    agrees: bool

    def begin(self, time: float, y: np.ndarray, yd: np.ndarray, done: np.ndarray) -> None: ...
    def step(self, limit: float) -> Piece: ...
    def info(self) -> dict[str, object]: ...


@dataclass(eq=False)
class Course:
    """A task on its way."""

    task: Task
    flow: Flow
    stepper: Stepper
    time: float = field(init=False)
    t: list[float] = field(default_factory=list)
    rows: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=list)
    happened: list[tuple[float, str]] = field(default_factory=list)
    sampled: float = -np.inf

    def run(self) -> Result:
        """The whole way."""
        task, flow = self.task, self.flow
        self.time = task.t_0
        y, yd = flow.consistent(self.time, flow.start())
        done = np.zeros(2 * len(flow.run.packed.model.entries) + len(flow.run.packed.model.bodies))
        self.sampled = task.t_0
        self.keep(self.time, y, done)
        self.stepper.begin(self.time, y, yd, done)
        levels, steps, wanted = self.levels(self.time, y), 0, self.wanted()
        while self.time < task.t_end:
            limit = self.limit()
            try:
                piece = self.stepper.step(limit)
            except ConvergenceError as stuck:
                raise ConvergenceError(str(stuck), self.result()) from None
            steps += 1
            end, again = piece.t_1, False
            met = self.met(piece, levels) if task.events else None
            if met is not None:
                end = met[0]
            while wanted and wanted[0] <= end:
                self.keep(wanted[0], *piece.at(wanted.pop(0)))
            self.time = end
            y, done = piece.at(end)
            last = end >= task.t_end or met is not None
            if last or (isinstance(task.output, int) and steps % task.output == 0):
                self.keep(end, y, done)
            if met is not None:
                self.happened.append((end, met[1].name))
                if met[1].do is None:
                    break
                y, again = self.changed(met[1], y), True
            fresh = self.sample(y) and self.stepper.adapts
            if fresh or again or end in self.breaks:
                y, yd = flow.consistent(end, y)
                self.stepper.begin(end, y, yd, done)
            levels = self.levels(end, y) if task.events else []
            if met is not None:
                levels[task.events.index(met[1])] = 0.0
            task.progress(self.time)
        return self.result()

    # --- where steps end ---------------------------------------------------------------------------------------------

    @property
    def breaks(self) -> list[float]:
        """Corners of inputs, where schemes that choose their steps begin anew."""
        if not self.stepper.adapts:
            return []
        corners = [s.lines.times for s in self.flow.signals.values() if isinstance(s, Corners)]
        return sorted({float(c) for times in corners for c in times})

    def limit(self) -> float:
        """No step passes the end, a corner of an input or a sample of the controller."""
        ends = [self.task.t_end, *(c for c in self.breaks if c > self.time)]
        if self.task.controller is not None and self.task.every is not None and self.stepper.adapts:
            ends.append(self.sampled + self.task.every)
        return min(ends)

    def wanted(self) -> list[float]:
        return [] if isinstance(self.task.output, int) else [float(x) for x in self.task.output if x > self.task.t_0]

    # --- controllers and events --------------------------------------------------------------------------------------

    def sample(self, y: np.ndarray) -> bool:
        """New inputs from the controller, where they are due."""
        task = self.task
        if task.controller is None or self.time >= task.t_end:
            return False
        if task.every is not None and self.time < self.sampled + task.every * (1.0 - 1e-9):
            return False
        self.sampled = self.time if task.every is None else self.sampled + task.every
        state = self.state(self.time, y)
        self.flow.signals.update(answered(task, self.time, Outputs(task.system, state), self.flow.signals))
        return True

    def levels(self, time: float, y: np.ndarray) -> list[float]:
        if not self.task.events:
            return []
        outputs = Outputs(self.task.system, self.state(time, y))
        return [event.value(time, outputs) for event in self.task.events]

    def met(self, piece: Piece, before: list[float]) -> tuple[float, Event] | None:
        """The first event of a step, found by false position (Illinois) on the dense output."""
        after = self.levels(piece.t_1, piece.at(piece.t_1)[0])
        found = []
        for event, low, high in zip(self.task.events, before, after, strict=True):
            if event.crossed(low, high):
                found.append((self.crossing(piece, event, low, high), event))
        return min(found, key=lambda pair: pair[0]) if found else None

    def crossing(self, piece: Piece, event: Event, low: float, high: float) -> float:
        a, b = piece.t_0, piece.t_1
        for _ in range(SEARCHES):
            x = (a * high - b * low) / (high - low) if high != low else 0.5 * (a + b)
            x = min(max(x, a + 1e-3 * (b - a)), b - 1e-3 * (b - a))
            value = event.value(x, Outputs(self.task.system, self.state(x, piece.at(x)[0])))
            if (value < 0.0) == (low < 0.0) and value != 0.0:
                a, low, high = x, value, 0.5 * high
            else:
                b, high, low = x, value, 0.5 * low
            if b - a < 1e-13 * max(abs(b), piece.t_1 - piece.t_0) or value == 0.0:
                break
        return b

    def changed(self, event: Event, y: np.ndarray) -> np.ndarray:
        """y after what an event does."""
        assert event.do is not None
        state = self.state(self.time, y)
        new = event.do(self.time, state)
        if new is None:
            return y
        system = self.task.system
        new = fits(system, new)
        closed_or_said(system, new)
        u = np.zeros(system.ports.size)
        for name, signal in self.flow.signals.items():
            u[system.ports[name]] = signal.at(self.time)
        agree_or_said(system, new, u)
        return self.flow.reload(new)

    # --- what comes out ----------------------------------------------------------------------------------------------

    def state(self, time: float, y: np.ndarray) -> State:
        s = self.flow.inputs(time)
        return self.flow.state(s, y if self.stepper.agrees else self.flow.agreeing(s, y))

    def keep(self, time: float, y: np.ndarray, done: np.ndarray) -> None:
        """The state as a row."""
        if self.t and self.t[-1] == time:
            return
        s = self.flow.inputs(time)
        y = y if self.stepper.agrees or not self.t else self.flow.agreeing(s, y)
        self.rows.append(self.flow.snapshot(s, y, done))
        self.t.append(time)

    def result(self) -> Result:
        flow, system = self.flow, self.task.system
        packed, first = flow.run.packed, flow.run.packed.first
        kept, lam, springs = (np.array(part) for part in zip(*self.rows, strict=True))
        n, bodies, entries = len(self.t), packed.model.bodies, len(packed.entries)
        energies = np.stack([kept[:, b[t.W_ENERGY] - first :][:, :3] for b in bodies], axis=1)
        energies[:, :, 1] += flow.run.constant
        losses = np.stack([kept[:, b[t.W_LOSS] - first] for b in bodies], axis=1)
        place = int(packed.model.entries[0, t.J_WORK]) - first if entries else 0
        works = kept[:, place : place + 2 * entries].reshape(n, entries, 2)
        books = Books(tuple(flow.run.names), energies, losses, works, springs)
        info = {
            **self.stepper.info(),
            "evaluations": flow.evaluations,
            "jacobians": flow.jacobians,
            "events": tuple(self.happened),
        }
        e = unload(flow.run, kept)
        return Result(system, np.array(self.t), e, lam[:, : system.multipliers.size], books, info)


def answered(task: Task, time: float, outputs: Outputs, known: dict[str, Signal] | None) -> dict[str, Signal]:
    """What the controller says, as inputs."""
    assert task.controller is not None
    answer = task.controller(time, outputs)
    if not isinstance(answer, dict):
        raise InputError(f"the controller returned {answer!r} at t = {time:g} s; it must return {{port: value}}")
    out: dict[str, Signal] = {}
    for name, value in answer.items():
        there = task.system.ports if known is None else known
        if name not in task.system.ports or name not in there:
            raise InputError(f"the controller answers for {name!r} at t = {time:g} s; there are: {', '.join(there)}")
        what = f"controller, {name!r} at t = {time:g} s"
        out[name] = Constant(vector(what, value, task.system.ports.shape(name)))
    return out


def course(task: Task, build: Callable[[Flow], Stepper], *, name: str, adapts: bool, works: bool = False) -> Result:
    """Run a task with a stepper built on its flow."""
    signals = dict(task.inputs.signals)
    if task.controller is not None:
        if adapts and task.every is None:
            raise InputError(f"{name} chooses its steps itself, so a controller needs its sample time: every=…")
        first = answered(task, task.t_0, Outputs(task.system, task.state), None)
        driven = [n for n in first if n in task.system.joints and task.system.joints[n].driven]
        if driven:
            raise InputError(
                f"{name} cannot follow the jumps of a controller that drives {driven[0]!r}; use Midpoint()"
            )
        signals.update(first)
    flow = Flow(task, signals, works)
    return Course(task, flow, build(flow)).run()
