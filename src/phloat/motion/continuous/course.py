"""From start to end with a scheme that steps through F(t, y, ẏ) = 0: inputs, controllers, events, outputs, books."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from phloat.errors import ConvergenceError, InputError
from phloat.motion.continuous.flow import Flow
from phloat.motion.initial.velocities import agreed, closed_or_said
from phloat.motion.inputs.corners import Stops, stops
from phloat.motion.inputs.signals import Constant, Signal, vector
from phloat.motion.kernel import tables as t
from phloat.motion.law_ranges import begin_ranges, found_ranges
from phloat.motion.result import Books, Result, happened
from phloat.motion.run.assembled import unload
from phloat.motion.run.events import (
    AT_ONCE,
    HELD,
    RESTING,
    ZERO,
    Event,
    Met,
    Pile,
    Point,
    begun,
    bracket,
    onward,
    together,
)
from phloat.motion.run.outputs import Outputs
from phloat.motion.run.task import Task
from phloat.motion.run.turns import Counted, counted
from phloat.system.energy import energy
from phloat.system.state import State
from phloat.system.system import fits

SEARCHES = 60
PART = 64  # of a step: over which the rate of an event is taken
CLOSE = 1e-13  # of a step, or of t: how near a crossing is found …
SAME = 1e-12  # … and how near two of them are at one instant


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
    records: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)  # e before and after each event
    changes: list[tuple[float, int, float]] = field(default_factory=list)  # time, number of the event, what it did to H
    sampled: float = -np.inf
    turned: np.ndarray | None = None  # angles of joints in space now, where turns are counted
    angles: list[np.ndarray] = field(default_factory=list)
    earlier: list[float] | None = None  # values of the events at the node before the last
    fresh: bool = True  # no event has been looked for yet
    travel: list[float] = field(default_factory=list)  # how far values of events went in the last step

    def run(self) -> Result:
        """The whole way."""
        task, flow = self.task, self.flow
        self.time = self.sampled = task.t_0
        begin_ranges(flow.run.packed, task.t_0)
        y, yd = flow.consistent(self.time, flow.start())
        done = np.zeros(2 * len(flow.run.packed.model.entries) + len(flow.run.packed.model.bodies))
        self.turn(y)
        self.keep(self.time, y, done)
        self.stepper.begin(self.time, y, yd, done)
        levels, steps, wanted = self.levels(self.time, y), 0, self.wanted()
        self.piles = [Pile() for _ in task.events]
        while self.time < task.t_end:
            try:
                piece = self.stepper.step(self.limit())
            except ConvergenceError as stuck:
                raise ConvergenceError(str(stuck), self.result()) from None
            levels = self.begun(piece, levels)
            met = self.met(piece, levels)
            self.time = piece.t_1 if met is None else met[1]
            self.turn(piece.at(self.time)[0])
            while wanted and wanted[0] <= self.time:
                self.keep(wanted[0], *piece.at(wanted[0]))
                del wanted[0]
            y, done = piece.at(self.time)
            steps += 1
            last = self.time >= task.t_end or met is not None
            if last or self.due(steps):
                self.keep(self.time, y, done, closed=self.stepper.agrees and not last)
            there, acted = levels, False
            if met is not None:
                there = self.levels(self.time, y)
                y, acted = self.acted(met[0], y)
                if any(task.events[k].do is None for k in met[0]):
                    break
            sampled = self.sample(y) and self.stepper.adapts
            if met is not None or sampled or self.time in self.breaks:
                y, yd = flow.consistent(self.time, flow.closed(flow.inputs(self.time), y))
                self.stepper.begin(self.time, y, yd, done)
            now = self.levels(self.time, y)
            if met is None:
                self.earlier, levels = levels, list(map(onward, levels, now))
            else:
                h = piece.t_1 - piece.t_0
                self.earlier, levels = None, self.left(met[0], there, now, acted, (y, y + h / PART * yd, h / PART))
                self.pile(met[0])
            task.progress(self.time, None)
        return self.result()

    # --- where steps end ---------------------------------------------------------------------------------------------

    @cached_property
    def stops(self) -> Stops:
        """Corners of inputs."""
        dt = np.inf if self.stepper.adapts or self.task.dt is None else self.task.dt
        return stops(self.flow.signals, self.task.t_0, self.task.t_end, self.task.corners, dt)

    @cached_property
    def breaks(self) -> frozenset[float]:
        """Where schemes that choose their steps begin anew."""
        return self.stops.breaks if self.stepper.adapts else frozenset()

    @property
    def next_sample(self) -> float:
        """When the controller is asked next; infinite where it is asked at every step."""
        if self.task.every is not None:
            return self.sampled + self.task.every
        return getattr(self.task.controller, "due", np.inf)

    def limit(self) -> float:
        """No step passes the end, a corner of an input or a sample of the controller."""
        near = 1e-12 * (self.task.t_end - self.task.t_0)
        due = self.next_sample if self.task.controller is not None else np.inf
        return min(self.task.t_end, self.stops.after(self.time, near), due if due > self.time + near else np.inf)

    def wanted(self) -> list[float]:
        """Times of outputs still to come, where they were given."""
        return [] if isinstance(self.task.output, int) else [float(x) for x in self.task.output if x > self.task.t_0]

    def due(self, steps: int) -> bool:
        """Whether the state after so many steps is wanted."""
        return isinstance(self.task.output, int) and steps % self.task.output == 0

    # --- controllers and events --------------------------------------------------------------------------------------

    def sample(self, y: np.ndarray) -> bool:
        """New inputs from the controller, where they are due."""
        task = self.task
        if task.controller is None or self.time >= task.t_end:
            return False
        if self.next_sample < np.inf and self.time < self.next_sample - 1e-9 * (task.every or 0.0) - 1e-12 * (
            task.t_end - task.t_0
        ):
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

    def begun(self, piece: Piece, levels: list[float]) -> list[float]:
        """The values of events before a step; at the start of the run with their zeros on the side they count for."""
        if not self.fresh or not levels:
            return levels
        self.fresh = False
        changes = np.subtract(self.levels(piece.t_1, piece.at(piece.t_1)[0]), levels).tolist()
        return list(map(begun, self.task.events, levels, changes))

    def met(self, piece: Piece, before: list[float]) -> tuple[dict[int, Met], float] | None:
        """The first events of a step and their time, found by false position (Illinois) on the dense output."""
        events = self.task.events
        if not events:
            return None
        after = self.levels(piece.t_1, piece.at(piece.t_1)[0])
        self.travel = [max(abs(a), abs(b)) for a, b in zip(before, after, strict=True)]
        found: dict[int, Met] = {}
        for k, event in enumerate(events):
            if event.crossed(before[k], after[k]) or self.near(k, before, after):
                ends = self.within(piece, event, before[k], after[k])
                if ends is not None:
                    found[k] = Met(self.crossing(piece, event, *ends), float(np.sign(ends[0][1])))
        return together(found, SAME * max(abs(piece.t_1), piece.t_1 - piece.t_0)) if found else None

    def near(self, k: int, before: list[float], after: list[float]) -> bool:
        """Whether an event could have crossed zero there and back: not where it is farther away than it goes in a step."""
        if self.earlier is None:
            return True
        change = max(abs(after[k] - before[k]), abs(before[k] - self.earlier[k]))
        return min(abs(after[k]), abs(before[k])) <= change

    def within(self, piece: Piece, event: Event, low: float, high: float) -> tuple[Point, Point] | None:
        return bracket(event, lambda x: self.value(piece, event, piece.t_0 + x * (piece.t_1 - piece.t_0)), low, high)

    def value(self, piece: Piece, event: Event, time: float) -> float:
        """An event within a step."""
        return event.value(time, Outputs(self.task.system, self.state(time, piece.at(time)[0])))

    def crossing(self, piece: Piece, event: Event, first: Point, second: Point) -> float:
        span = piece.t_1 - piece.t_0
        a, b = (piece.t_0 if first[0] == 0.0 else piece.t_0 + first[0] * span), piece.t_1
        b = b if second[0] == 1.0 else piece.t_0 + second[0] * span
        low, high = first[1], second[1]
        held = piece.t_0 + AT_ONCE * span if abs(low) == HELD else -np.inf
        for _ in range(SEARCHES):
            x = (a * high - b * low) / (high - low) if high != low else 0.5 * (a + b)
            x = min(max(x, a + 1e-3 * (b - a)), b - 1e-3 * (b - a))
            value = self.value(piece, event, x)
            if (value < 0.0) == (low < 0.0) and value != 0.0:
                a, low, high = x, value, 0.5 * high
            else:
                b, high, low = x, value, 0.5 * low
            if b < held:
                return piece.t_0
            if b - a < CLOSE * max(abs(b), span) or value == 0.0:
                break
        return b

    def left(
        self,
        group: dict[int, Met],
        there: list[float],
        now: list[float],
        acted: bool,
        ahead: tuple[np.ndarray, np.ndarray, float],
    ) -> list[float]:
        """Values after events: on zero, those that rest there count as on the side they came from, others as where they go to."""
        out = list(now)
        for k, met in group.items():
            if not acted or abs(now[k]) <= max(abs(there[k]), ZERO * self.travel[k]):
                out[k] = met.side * HELD if acted and self.rests(k, *ahead) else 0.0
        return out

    def rests(self, which: int, y: np.ndarray, ahead: np.ndarray, h: float) -> bool:
        """Whether the value of an event has no rate: y goes to `ahead` in h."""
        values = [self.levels(time, at)[which] for time, at in ((self.time, y), (self.time + h, ahead))]
        return PART * abs(values[1] - values[0]) <= RESTING * self.travel[which]

    def pile(self, group: dict[int, Met]) -> None:
        for k in group:
            said = self.piles[k].grown(self.time, self.task.events[k].name, self.task.t_end - self.task.t_0)
            if said is not None:
                raise ConvergenceError(said, self.result())

    def acted(self, group: dict[int, Met], y: np.ndarray) -> tuple[np.ndarray, bool]:
        """y after what events do, in their order, and whether they did something."""
        changed = False
        for k in group:
            y, done = self.done(k, y)
            changed = changed or done
        return y, changed

    def done(self, which: int, y: np.ndarray) -> tuple[np.ndarray, bool]:
        """y after what an event does, and whether it did something."""
        event, system = self.task.events[which], self.task.system
        self.happened.append((self.time, event.name))
        before = self.state(self.time, y)
        after = None if event.do is None else event.do(self.time, before)
        if after is None:
            self.records.append((before.e, before.e))
            return y, False
        after = fits(system, after)
        closed_or_said(system, after)
        u = np.zeros(system.ports.size)
        for name, signal in self.flow.signals.items():
            u[system.ports[name]] = signal.at(self.time)
        after = agreed(system, after, u)
        self.changes.append((self.time, which, energy(system, after) - energy(system, before)))
        self.records.append((before.e, after.e))
        return self.flow.reload(after), True

    # --- what comes out ----------------------------------------------------------------------------------------------

    def state(self, time: float, y: np.ndarray) -> State:
        """The state for a controller, an event or its action: joints hold to round-off."""
        s = self.flow.inputs(time)
        return self.flow.state(s, self.flow.closed(s, y))

    def turn(self, y: np.ndarray) -> None:
        """Turns of joints in space, counted at every step where not all of them are kept."""
        turns = self.turns
        if turns is not None:
            packed = self.flow.run.packed
            self.flow.state(self.flow.inputs(self.time), y)
            kept = packed.w[packed.first : packed.first + packed.kept][None]
            self.turned = turns.wrapped(kept)[0] if self.turned is None else turns.onward(self.turned, kept)[0]

    @cached_property
    def turns(self) -> Counted | None:
        return counted(self.task.system, self.flow.run.packed, self.task.output)

    def keep(self, time: float, y: np.ndarray, done: np.ndarray, *, closed: bool = False) -> None:
        """The state as a row; `closed` where joints hold already as well as the scheme's tolerance asks."""
        if self.t and self.t[-1] == time:
            return
        s = self.flow.inputs(time)
        self.rows.append(self.flow.snapshot(time, s, y if closed else self.flow.closed(s, y), done))
        self.t.append(time)
        if self.turned is not None:
            self.angles.append(self.turned)

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
        names, changes = self.changed(np.array(self.t))
        works, springs = np.concatenate([works, changes], axis=1), np.hstack([springs, np.zeros((n, len(names)))])
        books = Books((*flow.run.names, *names), energies, losses, works, springs)
        info = {
            **self.stepper.info(),
            "evaluations": flow.evaluations,
            "jacobians": flow.jacobians,
            "events": tuple(self.happened),
            **found_ranges(packed),
        }
        e = unload(flow.run, kept)
        events = happened(system, self.happened, self.records)
        turned = np.array(self.angles) if self.angles else None
        return Result(system, np.array(self.t), e, lam[:, : system.multipliers.size], books, info, events, turned)

    def changed(self, times: np.ndarray) -> tuple[list[str], np.ndarray]:
        """What events that act did to H up to these times, as works of entries of their own."""
        acting = [k for k, event in enumerate(self.task.events) if event.do is not None]
        out = np.zeros((len(times), len(acting), 2))
        for time, which, change in self.changes:
            out[times > time, acting.index(which), 1] += change  # the row at an event is of the state before it
        return [f"event {self.task.events[k].name}" for k in acting], out


def answered(task: Task, time: float, outputs: Outputs, known: dict[str, Signal] | None) -> dict[str, Signal]:
    """What the controller says, as inputs."""
    assert task.controller is not None
    answer = task.controller(time, outputs)
    if not isinstance(answer, dict):
        raise InputError(f"the controller returned {answer!r} at t = {time:g} s; it must return {{port: value}}")
    out: dict[str, Signal] = {}
    for name, value in answer.items():
        there, port = task.system.ports if known is None else known, task.system.ports.also.get(name, name)
        if port not in there:
            raise InputError(f"the controller answers for {name!r} at t = {time:g} s; there are: {', '.join(there)}")
        what = f"controller, {name!r} at t = {time:g} s"
        out[port] = Constant(vector(what, value, task.system.ports.shape(name)))
    return out


def course(task: Task, build: Callable[[Flow], Stepper], *, name: str, adapts: bool) -> Result:
    """Run a task with a stepper built on its flow."""
    also = task.system.ports.also
    signals = {also.get(port, port): signal for port, signal in task.inputs.signals.items()}
    if task.controller is not None:
        if adapts and task.every is None and not hasattr(task.controller, "due"):
            raise InputError(f"{name} chooses its steps itself, so a controller needs its sample time: every=…")
        first = answered(task, task.t_0, Outputs(task.system, task.state), None)
        driven = [n for n in first if n in task.system.joints and task.system.joints[n].driven]
        if driven:
            raise InputError(
                f"{name} cannot follow the jumps of a controller that drives {driven[0]!r}; use Midpoint()"
            )
        signals.update(first)
    flow = Flow(task, signals)
    return Course(task, flow, build(flow)).run()
