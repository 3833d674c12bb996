"""Events: zero crossings of functions of the motion, at which the run stops or the state changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

import numpy as np

from phloat.errors import ConvergenceError
from phloat.motion.result import PastEvent
from phloat.motion.run.task import INSTANT, Event, Memory, Stepper

SAMPLE_POINTS = tuple(k / 8 for k in range(1, 8))  # fractions of a step at which an event is evaluated
SIGNED_ZERO = 5e-324  # ± this smallest number marks a zero that counts as positive or negative
ZERO = 1e-12  # of the change of a value in a step: its round-off
AT_START = 1e-9  # of a step: a signed zero that crosses so soon crosses at the start of the step
RESTING = 1e-3  # of the change of a value in a step: a smaller rate counts as zero
DELTA = 1 / 64  # of a step: step of a numerical slope
SHRINKING = 10  # successive intervals, each shorter than the one before, that indicate accumulation
STILL = 1e-12  # of the run: successive intervals without progress
NEAR = 1e-6  # of the run: distance of the accumulation point at which the run ends
CLOSE = 1e-13  # of a step: tolerance of a crossing …
SAME = 1e-12  # … and of simultaneous crossings
QUARTERS, SLOPE = (0.25, 0.5, 0.75, 1.0), (16.0, -12.0, 16.0 / 3.0, -1.0)  # weights for the slope at 0
TRIES = 60

Point = tuple[float, float]  # a fraction of a step, and the value at it
Crossing = tuple[float, float]  # a fraction of a step, and the sign of the value before it


def bracket_crossing(
    event: Event, value: Callable[[float], float], first: float, last: float
) -> tuple[Point, Point] | None:
    """Two points of a step between which an event first crosses zero; None if there is no crossing.

    The event is evaluated at eighths of the step and at the extrema of the cubic through the values and slopes at both ends.
    """
    early, late = value(DELTA), value(1.0 - DELTA)
    slope_0 = (4.0 * early - 3.0 * first - value(2.0 * DELTA)) / (2.0 * DELTA)
    slope_1 = -(4.0 * late - 3.0 * last - value(1.0 - 2.0 * DELTA)) / (2.0 * DELTA)
    cubic = [slope_0 + slope_1 + 2.0 * (first - last), 3.0 * (last - first) - 2.0 * slope_0 - slope_1, slope_0]
    turns = np.roots([3.0 * cubic[0], 2.0 * cubic[1], cubic[2]])
    inside = [float(x.real) for x in turns if abs(x.imag) < 1e-9 and AT_START < x.real < 1.0]
    points = [(0.0, first), *((x, value(x)) for x in sorted({*SAMPLE_POINTS, *inside})), (1.0, last)]
    return next(((a, b) for a, b in pairwise(points) if event.crossed(a[1], b[1])), None)


def accumulation_point(times: list[float], span: float) -> float | None:
    """The time at which the times of an event accumulate, if that is close; else None."""
    gaps = np.diff(times[-SHRINKING - 2 :])
    still = len(gaps) > SHRINKING and bool(np.all(gaps < STILL * span))
    if not still and (len(gaps) <= SHRINKING or not np.all(gaps[1:] < gaps[:-1])):
        return None
    ahead = 0.0 if still else float(gaps[-1] ** 2 / (gaps[-2] - gaps[-1]))  # the rest of a geometric series
    return None if ahead > NEAR * span else times[-1] + ahead


# --- the search ------------------------------------------------------------------------------------------------------


class EventSearch:
    """The search for events of a run, with their values at the last node."""

    def __init__(self, stepper: Stepper, memory: Mapping[str, np.ndarray]) -> None:
        self.stepper, self.run, self.events = stepper, stepper.run, stepper.run.task.events
        self.times: list[list[float]] = [[] for _ in self.events]  # of each event
        self.fresh = "levels" not in memory  # before the first search
        self.travel, self.length = [0.0] * len(self.events), 0.0  # of values in the last step, and of the step
        self.levels = memory["levels"].tolist() if "levels" in memory else self._levels()
        self.before: list[float] | None = memory["levels.before"].tolist() if "levels.before" in memory else None

    def memory(self) -> Memory:
        """What a resumed run needs of the search."""
        before = {} if self.before is None else {"levels.before": np.array(self.before)}
        return {"levels": np.array(self.levels), **before}

    def find(self) -> tuple[dict[int, Crossing], float] | None:
        """The first events of the last step and their time; None without events, with the stepper at the end of the step."""
        start, end, levels = self.stepper.start, self.run.t, self._levels()
        if self.fresh:
            changes, self.fresh = np.abs(np.subtract(levels, self.levels)), False
            # a zero at the start counts as before a crossing in the direction of the event
            for i, event in enumerate(self.events):
                if abs(self.levels[i]) <= ZERO * changes[i]:
                    self.levels[i] = -event.direction * SIGNED_ZERO
        self.travel = [max(abs(a), abs(b)) for a, b in zip(self.levels, levels, strict=True)]
        self.length = end - start
        crossings: dict[int, Crossing] = {}
        for i, event in enumerate(self.events):
            if event.crossed(self.levels[i], levels[i]) or self._may_have_crossed(i, levels[i]):
                crossing = self._locate(i, levels[i], start, end)
                crossings |= {} if crossing is None else {i: crossing}
        if crossings:
            first, tolerance = min(crossings.values())[0], max(SAME, INSTANT * abs(end) / self.length)
            group = {k: crossing for k, crossing in crossings.items() if crossing[0] - first <= tolerance}
            return group, start + max(group.values())[0] * self.length  # all of them have crossed by then
        self.before, pairs = self.levels, zip(self.levels, levels, strict=True)
        # a signed zero keeps its sign while it stays zero
        self.levels = [old if new == 0.0 and abs(old) == SIGNED_ZERO else new for old, new in pairs]
        return None

    def act(self, group: dict[int, Crossing], time: float) -> bool:
        """Moves to the time of simultaneous events and lets them act in order; False if the run stops."""
        self.stepper.move_to(time)
        values = self._levels()
        self.stepper.accept()
        self.stepper.write_row()
        changed = sum(self._act(k) for k in group) > 0  # all of them act
        if not changed:
            self.stepper.restart()
        self.before, levels = None, self._levels()
        for k, (_, side) in group.items():
            if not changed or abs(levels[k]) <= max(abs(values[k]), ZERO * self.travel[k]):
                levels[k] = side * SIGNED_ZERO if changed and self._is_at_rest(k, levels[k]) else 0.0
        self.levels = levels
        if any(self.events[k].do is None for k in group):
            return False
        self._require_progress(group)
        return True

    def _act(self, number: int) -> bool:
        """Lets an event change the state; False if it does not."""
        event, run, before = self.events[number], self.run, self.stepper.state()
        after = None if event.do is None else event.do(run.t, before)
        if after is None:
            run.past.append(PastEvent(run.t, event.name, before, before))
            return False
        after, change = self.stepper.change(before, after)
        run.changes.append((run.t, number, change))
        run.past.append(PastEvent(run.t, event.name, before, after))
        self.stepper.restart(after)
        return True

    def _require_progress(self, group: dict[int, Crossing]) -> None:
        """Raises ConvergenceError if the times of an event accumulate."""
        for k in group:
            times, task = self.times[k], self.run.task
            times.append(self.run.t)
            if (limit := accumulation_point(times, task.t_end - task.t_0)) is not None:
                raise ConvergenceError(
                    f"event {self.events[k].name!r} took place {len(times)} times, faster and faster: its times pile up at "
                    f"t = {limit:.9g} s, and no step goes beyond. The motion up to there is in `result` of this error; "
                    "end the run before that "
                    "with an event that has no `do`, or let `do` leave a state that does not come back (weld it, put a spring)",
                    self.stepper.result(),
                )

    def _is_at_rest(self, number: int, level: float) -> bool:
        """Whether the value of an event has no rate at the current state."""
        event, h = self.events[number], min(self.length, self.run.task.t_end - self.run.t)
        dense = self.stepper.look_ahead(h) if h > AT_START * self.length else None
        if dense is None:
            return False
        values = [event.value(*dense(x)) - level for x in QUARTERS]
        return bool(abs(np.dot(SLOPE, values)) <= RESTING * max(map(abs, values)))

    # --- crossings ---------------------------------------------------------------------------------------------------

    def _may_have_crossed(self, i: int, level: float) -> bool:
        """Whether an event may have crossed zero twice: its distance from zero is not larger than its change in a step."""
        if self.before is None:
            return True
        change = max(abs(level - self.levels[i]), abs(self.levels[i] - self.before[i]))
        return min(abs(level), abs(self.levels[i])) <= change

    def _locate(self, i: int, level: float, start: float, end: float) -> Crossing | None:
        """The first crossing of an event: bracketed by dense output, located by steps."""
        event, h = self.events[i], end - start

        def value(x: float) -> float:
            """The value after a step to this fraction."""
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
                close = max(CLOSE * stop[0], 0.25 * INSTANT * abs(end) / h)
                return _root(value, begin, stop, close), float(np.sign(begin[1]))
        self.stepper.move_to(end)
        return None

    def _levels(self) -> list[float]:
        y = self.stepper.outputs()
        return [event.value(self.run.t, y) for event in self.events]


def _root(value: Callable[[float], float], first: Point, second: Point, close: float) -> float:
    """The fraction of a step at which a value crosses zero, by the Illinois method (regula falsi)."""
    (a, low), (b, high) = first, second
    f_a, f_b, signed_zero = low, high, abs(low) == SIGNED_ZERO
    for _ in range(TRIES):
        if b - a < close or (signed_zero and b < AT_START):
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
    return 0.0 if signed_zero and b < AT_START else b
