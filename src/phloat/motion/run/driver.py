"""From the start to the end of a task: steps, and between them the controller, events, output rows, progress and saving."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np

from phloat.errors import ConvergenceError, InputError
from phloat.motion.initial.velocities import consistent_state, require_closed
from phloat.motion.inputs.corners import Stops
from phloat.motion.result import Result
from phloat.motion.run.events import (
    AT_ONCE,
    HELD,
    RESTING,
    ZERO,
    Crossing,
    Point,
    Recurrence,
    bracket_crossing,
    first_group,
    next_level,
    start_level,
)
from phloat.motion.run.outputs import Outputs
from phloat.motion.run.run import Run
from phloat.system.state import State
from phloat.system.system import fits
from phloat.system.terms import energy

NEAR = 1e-12  # of the run: a sample or corner so near is reached
CLOSE = 1e-13  # of a step: how near a crossing is found …
SAME = 1e-12  # … and how near two of them are at one instant
ROUND_OFF = 16 * np.finfo(float).eps
QUARTERS, SLOPE = (0.25, 0.5, 0.75, 1.0), (16.0, -12.0, 16.0 / 3.0, -1.0)  # the slope at 0 of what is 0 there
TRIES = 60

Memory = dict[str, np.ndarray]
Dense = Callable[[float], tuple[float, Outputs]]  # time and outputs at a fraction of a step


class Stepper(Protocol):
    """Steps of one scheme.

    The driver calls `advance` for the next step and then `accept`; where an event lies within the step, `move_to` comes first.
    """

    name: str
    adaptive: bool  # chooses its steps
    resumable: bool
    corners: Stops  # times that no step passes
    start: float  # of the last step
    at_node: bool  # a controller without a sample time is called now

    @property
    def run(self) -> Run: ...

    def advance(self, limit: float) -> bool:
        """Makes the next step, or several, at most to `limit`; False at the end of the run."""

    def accept(self) -> None:
        """Writes the output rows of the last step and chooses the size of the next."""

    def outputs(self) -> Outputs:
        """Outputs at the time reached."""

    def state(self) -> State:
        """The state at the time reached."""

    def interpolate(self, x: float) -> Outputs:
        """Outputs at a fraction of the last step, cheaply."""

    def move_to(self, time: float) -> None:
        """Ends the last step at this time within it."""

    def look_ahead(self, h: float) -> Dense | None:
        """Dense output of a step of h or less from here that is not made; None if it cannot be made."""

    def restart(self, state: State | None = None) -> None:
        """Goes on after a jump of the inputs, or from another state."""

    def write_row(self) -> None:
        """Writes the present state as an output row, unless it is one already."""

    def memory(self) -> Memory:
        """What a saved run resumes from."""

    def result(self, count: int | None = None) -> Result:
        """All output rows, or the first so many."""


def run_to_end(stepper: Stepper) -> Result:
    """Runs the task of a stepper to its end, or to an event that stops it."""
    run, task = stepper.run, stepper.run.task
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
        task.progress(run.t, run.missing)
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
    soon = run.t + NEAR * (task.t_end - task.t_0)
    due = run.due
    return min(task.t_end, stepper.corners.after(soon), due if due > soon else np.inf)


def _save(stepper: Stepper, events: EventSearch | None, *, now: bool = False) -> None:
    """Gives rows and memory to the recorder if it is time; the last row stays, because its λ is not complete."""
    recorder, rows = stepper.run.task.recorder, stepper.run.rows
    if recorder is None or not stepper.resumable or not (now or recorder.due(8 * rows.count * rows.kept.shape[1])):
        return
    count = rows.count - 1
    finished = stepper.result(count)
    rows.drop(count)
    recorder.piece(finished, {**stepper.memory(), **({} if events is None else events.memory())})


class EventSearch:
    """The events of a run and their values at the last node."""

    def __init__(self, stepper: Stepper, memory: Mapping[str, np.ndarray]) -> None:
        self.stepper, self.run, self.events = stepper, stepper.run, stepper.run.task.events
        self.recurrences = [Recurrence() for _ in self.events]
        self.fresh = "levels" not in memory  # no event has been looked for yet
        self.travel, self.length = [0.0] * len(self.events), 0.0  # of values in the last step, and that of the step
        self.levels = memory["levels"].tolist() if "levels" in memory else self._levels()
        self.before: list[float] | None = memory["levels.before"].tolist() if "levels.before" in memory else None

    def memory(self) -> Memory:
        """What the search of a resumed run must know."""
        before = {} if self.before is None else {"levels.before": np.array(self.before)}
        return {"levels": np.array(self.levels), **before}

    def find(self) -> tuple[dict[int, Crossing], float] | None:
        """The first events of the last step and their time; without any, the stepper stays at the end of the step."""
        start, end, levels = self.stepper.start, self.run.t, self._levels()
        if self.fresh:
            changes = np.subtract(levels, self.levels).tolist()
            self.levels, self.fresh = list(map(start_level, self.events, self.levels, changes)), False
        self.travel = [max(abs(a), abs(b)) for a, b in zip(self.levels, levels, strict=True)]
        self.length = end - start
        found: dict[int, Crossing] = {}
        for i, event in enumerate(self.events):
            if event.crossed(self.levels[i], levels[i]) or self._near(i, levels[i]):
                crossing = self._within(i, levels[i], start, end)
                found |= {} if crossing is None else {i: crossing}
        if found:
            group, part = first_group(found, max(SAME, ROUND_OFF * abs(end) / self.length))
            return group, start + part * self.length
        self.before, self.levels = self.levels, list(map(next_level, self.levels, levels))
        return None

    def act(self, group: dict[int, Crossing], at: float) -> bool:
        """Goes to the instant of some events, which act in their order; False if the run stops there."""
        self.stepper.move_to(at)
        values = self._levels()
        self.stepper.accept()
        self.stepper.write_row()
        changed = sum(self._act(k) for k in group) > 0  # all of them act
        if not changed:
            self.stepper.restart()
        self.before, levels = None, self._levels()
        for k, crossing in group.items():
            if not changed or abs(levels[k]) <= max(abs(values[k]), ZERO * self.travel[k]):
                levels[k] = crossing.side * HELD if changed and self._rests(k, levels[k]) else 0.0
        self.levels = levels
        if any(self.events[k].do is None for k in group):
            return False
        self._require_progress(group)
        return True

    def _act(self, which: int) -> bool:
        """Lets an event change the state; False if it does not."""
        event, run, system, before = self.events[which], self.run, self.run.task.system, self.stepper.state()
        run.happened.append((run.t, event.name))
        after = None if event.do is None else event.do(run.t, before)
        if after is None:
            run.records.append((before.e, before.e))
            return False
        after = fits(system, after)
        require_closed(system, after)
        after = consistent_state(system, after, run.inputs())
        run.changes.append((run.t, which, energy(system, after) - energy(system, before)))
        run.records.append((before.e, after.e))
        self.stepper.restart(after)
        return True

    def _require_progress(self, group: dict[int, Crossing]) -> None:
        """Raises ConvergenceError where infinitely many events lie just ahead."""
        task = self.run.task
        for k in group:
            complaint = self.recurrences[k].add(self.run.t, self.events[k].name, task.t_end - task.t_0)
            if complaint is not None:
                raise ConvergenceError(complaint, self.stepper.result())

    def _rests(self, which: int, here: float) -> bool:
        """Whether the value of an event has no rate now."""
        event, h = self.events[which], min(self.length, self.run.task.t_end - self.run.t)
        dense = self.stepper.look_ahead(h) if h > AT_ONCE * self.length else None
        if dense is None:
            return False
        values = [event.value(*dense(x)) - here for x in QUARTERS]
        return bool(abs(np.dot(SLOPE, values)) <= RESTING * max(map(abs, values)))

    # --- crossings ---------------------------------------------------------------------------------------------------

    def _near(self, i: int, level: float) -> bool:
        """Whether an event could have crossed zero there and back: not where it is farther away than it goes in a step."""
        if self.before is None:
            return True
        change = max(abs(level - self.levels[i]), abs(self.levels[i] - self.before[i]))
        return min(abs(level), abs(self.levels[i])) <= change

    def _within(self, i: int, level: float, start: float, end: float) -> Crossing | None:
        """The first crossing of an event: bracketed by dense output, then found by steps."""
        event, h = self.events[i], end - start

        def value(x: float) -> float:
            """By a step to there."""
            self.stepper.move_to(start + x * h)
            return event.value(self.run.t, self.stepper.outputs())

        ends = bracket_crossing(
            event, lambda x: event.value(start + x * h, self.stepper.interpolate(x)), self.levels[i], level
        )
        if ends is None:
            return None
        first, second = ((x, value(x) if 0.0 < x < 1.0 else f) for x, f in ends)
        for begin, stop in ((first, second), ((0.0, self.levels[i]), second), ((0.0, self.levels[i]), (1.0, level))):
            if event.crossed(begin[1], stop[1]):
                close = max(CLOSE * stop[0], 0.25 * ROUND_OFF * abs(end) / h)
                return Crossing(_root(value, begin, stop, close), float(np.sign(begin[1])))
        self.stepper.move_to(end)
        return None

    def _levels(self) -> list[float]:
        y = self.stepper.outputs()
        return [event.value(self.run.t, y) for event in self.events]


def _root(value: Callable[[float], float], first: Point, second: Point, close: float) -> float:
    """Where in a step a value crosses zero: false position that never keeps one end for long (Illinois)."""
    (a, low), (b, high) = first, second
    f_a, f_b, held = low, high, abs(low) == HELD
    for _ in range(TRIES):
        if b - a < close or (held and b < AT_ONCE):
            break
        x = (a * f_b - b * f_a) / (f_b - f_a)
        x = x if a < x < b else 0.5 * (a + b)
        f = value(x)
        if f == 0.0:
            return x
        if (f < 0.0) == (low < 0.0):
            a, f_a, f_b = x, f, 0.5 * f_b
        else:
            b, f_b, f_a = x, f, 0.5 * f_a
    return 0.0 if held and b < AT_ONCE else b
