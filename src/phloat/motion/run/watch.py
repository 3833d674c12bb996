"""Events on the way: a step that crosses one is made again, up to the crossing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from phloat.errors import ConvergenceError
from phloat.motion.initial.velocities import agreed, closed_or_said
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.step import SOLVED
from phloat.motion.run.assembled import load
from phloat.motion.run.between import between
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
from phloat.motion.run.runner import NONE, Runner
from phloat.system.energy import energy
from phloat.system.state import State
from phloat.system.system import fits

CLOSE = 1e-13  # of a step: how near a crossing is found …
SAME = 1e-12  # … and how near two of them are at one instant
ROUND_OFF = 16 * np.finfo(float).eps
QUARTERS, SLOPE = (0.25, 0.5, 0.75, 1.0), (16.0, -12.0, 16.0 / 3.0, -1.0)  # the slope at 0 of what is 0 there
TRIES = 60


@dataclass(frozen=True, eq=False)
class Saved:
    """A runner before a step."""

    t: float
    moved: np.ndarray
    w: np.ndarray
    iw: np.ndarray
    fill: int
    made: int
    turned: np.ndarray


def saved(runner: Runner) -> Saved:
    return Saved(
        *(runner.t, runner.run.moved.copy(), runner.packed.w.copy(), runner.packed.iw.copy()),
        *(runner.rows.fill, runner.rows.made, runner.turned),
    )


def back_to(runner: Runner, there: Saved) -> None:
    """The runner as it was, but for rows that were made since."""
    runner.t, runner.run.moved, runner.turned = there.t, there.moved.copy(), there.turned
    runner.packed.w[:], runner.packed.iw[:] = there.w, there.iw
    runner.packed.iw[t.I_FACTORED], runner.h = 0, 0.0


class Watch:
    """The events of a run and their values at the last node; `parts` steps go from node to node."""

    def __init__(self, runner: Runner, memory: Mapping[str, np.ndarray], parts: int = 1) -> None:
        self.runner, self.parts = runner, parts
        self.events = runner.task.events
        self.piles = [Pile() for _ in self.events]
        self.y = runner.outputs()
        self.fresh = "levels" not in memory
        self.travel, self.length = [0.0] * len(self.events), 0.0  # of values in the last step, and that of the step
        self.levels = memory["levels"].tolist() if "levels" in memory else self._levels()
        self.before: list[float] | None = memory["levels.before"].tolist() if "levels.before" in memory else None

    def memory(self) -> dict[str, np.ndarray]:
        """What the events of a run that goes on must know."""
        before = {} if self.before is None else {"levels.before": np.array(self.before)}
        return {"levels": np.array(self.levels), **before}

    def step(self, to: float) -> bool:
        """To the next node, through whatever events lie before it; False where one of them stops the run."""
        while to - self.runner.t > 1e-9 * abs(to - self.runner.task.t_0):
            back = saved(self.runner)
            self._go(to)
            met = self.met(to, back)
            if met is None:
                return True
            if not self.act(*met, back):
                return False
        return True

    def met(self, end: float, back: Saved) -> tuple[dict[int, Met], float] | None:
        """The first events since `back` and their time, the runner having come to the end; it stays there if there is none."""
        y, levels = self.y, self._levels()
        if self.fresh:
            changes = np.subtract(levels, self.levels).tolist()
            self.levels, self.fresh = list(map(begun, self.events, self.levels, changes)), False
        self.travel = [max(abs(a), abs(b)) for a, b in zip(self.levels, levels, strict=True)]
        self.length = end - back.t
        found: dict[int, Met] = {}
        for i, event in enumerate(self.events):
            if event.crossed(self.levels[i], levels[i]) or self._near(i, levels[i]):
                met = self._within(i, levels[i], y, end, back)
                found |= {} if met is None else {i: met}
        if found:
            same = max(SAME, ROUND_OFF * abs(end) / self.length)
            group, part = together(found, same)
            return group, back.t + part * self.length
        self.before, self.levels = self.levels, list(map(onward, self.levels, levels))
        return None

    def act(self, group: dict[int, Met], at: float, back: Saved) -> bool:
        """At an instant: its events take place in their order; then the run stops or goes on."""
        self._back(back)
        self._go(at)
        there = self._levels()
        self.runner.snap()
        acted = [self._done(k) for k in group]
        self.before, levels, changed = None, self._levels(), any(acted)
        for k, met in group.items():
            if not changed or abs(levels[k]) <= max(abs(there[k]), ZERO * self.travel[k]):
                levels[k] = met.side * HELD if changed and self._rests(k, levels[k]) else 0.0
        self.levels = levels
        if any(self.events[k].do is None for k in group):
            return False
        self._pile(group)
        return True

    def _done(self, which: int) -> bool:
        """What an event does; whether that is something."""
        event, runner, before = self.events[which], self.runner, self.runner.state()
        runner.happened.append((runner.t, event.name))
        changed = None if event.do is None else event.do(runner.t, before)
        if changed is not None:
            self._reload(changed)
            system = runner.task.system
            runner.changes.append((runner.t, which, energy(system, changed) - energy(system, before)))
        runner.records.append((before.e, runner.state().e))
        return changed is not None

    def _pile(self, group: dict[int, Met]) -> None:
        runner, span = self.runner, self.runner.task.t_end - self.runner.task.t_0
        for k in group:
            if (said := self.piles[k].grown(runner.t, self.events[k].name, span)) is not None:
                raise ConvergenceError(said, runner.result())

    def _rests(self, which: int, here: float) -> bool:
        """Whether the value of an event has no rate now: by a step that is taken back."""
        event, runner, start = self.events[which], self.runner, self.runner.t
        h = min(self.length, runner.task.t_end - start)
        states = self._tried(h) if h > AT_ONCE * self.length else None
        if states is None:
            return False
        dense = (Outputs(runner.task.system, between(*states, h, x)) for x in QUARTERS)
        values = [event.value(start + x * h, y) - here for x, y in zip(QUARTERS, dense, strict=True)]
        return bool(abs(np.dot(SLOPE, values)) <= RESTING * max(map(abs, values)))

    def _tried(self, h: float) -> tuple[State, State] | None:
        """The states at both ends of a step that is then forgotten, if it can be made."""
        runner, rows = self.runner, self.runner.rows
        back, fill, start = saved(runner), rows.fill, runner.state()
        rows.fill = -1
        _, status = runner.steps(np.array([back.t, back.t + h]), NONE, runner.parts)
        end = runner.state()
        back_to(runner, back)
        rows.fill = fill
        return (start, end) if status == SOLVED else None

    # --- crossings ---------------------------------------------------------------------------------------------------

    def _near(self, i: int, level: float) -> bool:
        """Whether an event could have crossed zero there and back: not where it is farther away than it goes in a step."""
        if self.before is None:
            return True
        change = max(abs(level - self.levels[i]), abs(self.levels[i] - self.before[i]))
        return min(abs(level), abs(self.levels[i])) <= change

    def _within(self, i: int, level: float, y: Outputs, end: float, back: Saved) -> Met | None:
        """The first crossing of an event: looked for between the ends of the step, then found by steps."""
        event, start, fill = self.events[i], back.t, self.runner.rows.fill
        a, b, h = y.state, self.y.state, end - back.t

        def dense(x: float) -> float:
            return event.value(start + x * h, Outputs(self.runner.task.system, between(a, b, h, x)))

        ends = bracket(event, dense, self.levels[i], level)
        if ends is None:
            return None
        first, second = ((x, self._value(event, x, end, back) if 0.0 < x < 1.0 else f) for x, f in ends)
        for begin, stop in ((first, second), ((0.0, self.levels[i]), second), ((0.0, self.levels[i]), (1.0, level))):
            if event.crossed(begin[1], stop[1]):
                part = self._crossing(event, begin, stop, end, back, CLOSE * stop[0])
                return Met(part, float(np.sign(begin[1])))
        self._back(back)
        self._go(end)
        self.runner.rows.fill = fill
        return None

    def _crossing(self, event: Event, first: Point, second: Point, end: float, back: Saved, close: float) -> float:
        """Where in the step an event crosses zero: false position that never keeps one end for long (Illinois)."""
        (a, low), (b, high) = first, second
        f_a, f_b, held = low, high, abs(low) == HELD
        for _ in range(TRIES):
            if b - a < close or (held and b < AT_ONCE):
                break
            x = (a * f_b - b * f_a) / (f_b - f_a)
            x = x if a < x < b else 0.5 * (a + b)
            f = self._value(event, x, end, back)
            if f == 0.0:
                return x
            if (f < 0.0) == (low < 0.0):
                a, f_a, f_b = x, f, 0.5 * f_b
            else:
                b, f_b, f_a = x, f, 0.5 * f_a
        return 0.0 if held and b < AT_ONCE else b

    def _value(self, event: Event, part: float, end: float, back: Saved) -> float:
        """An event at a part of the step, by a step up to there."""
        self._back(back)
        self._go(back.t + part * (end - back.t))
        return event.value(self.runner.t, self.runner.outputs())

    def _go(self, to: float) -> None:
        start = self.runner.t
        if to - start <= ROUND_OFF * abs(to):  # no step: parts of it would have no length
            return
        self.runner.go(np.array([start, to]) if self.parts == 1 else np.linspace(start, to, self.parts + 1))

    def _levels(self) -> list[float]:
        self.y = self.runner.outputs()
        return [event.value(self.runner.t, self.y) for event in self.events]

    def _back(self, there: Saved) -> None:
        back_to(self.runner, there)
        self.runner.rows.fill = -1

    def _reload(self, state: State) -> None:
        runner, system = self.runner, self.runner.task.system
        state = fits(system, state)
        closed_or_said(system, state)
        u = np.zeros(system.ports.size)
        for name, signal in runner.signals.items():
            u[system.ports[name]] = signal.at(runner.t)
        state = agreed(system, state, u)
        load(runner.run, state)
        if runner.turns is not None:
            p = runner.packed
            runner.turned = runner.turns.onward(runner.turned, p.w[p.first : p.first + p.kept][None])[0]
