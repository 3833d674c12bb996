"""Events on the way: a step that crosses one is made again, up to the crossing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from phloat.errors import ConvergenceError
from phloat.motion.assembled import load
from phloat.motion.between import between
from phloat.motion.events import Event, Pile, hidden
from phloat.motion.kernel import tables as t
from phloat.motion.outputs import Outputs
from phloat.motion.runner import Runner
from phloat.motion.velocities import agreed, closed_or_said
from phloat.system.energy import energy
from phloat.system.state import State
from phloat.system.system import fits

CLOSE = 1e-13  # of a step: how near a crossing is found
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

    def met(self, end: float, back: Saved) -> tuple[int, float] | None:
        """The first event since `back` and its time, the runner having come to the end; the runner stays there if there is none."""
        y, levels = self.y, self._levels()
        found: dict[int, float] = {}
        for i, event in enumerate(self.events):
            if event.crossed(self.levels[i], levels[i]):
                found[i] = self._crossing(event, (0.0, self.levels[i]), (1.0, levels[i]), end, back)
            elif self._near(i, levels[i]):
                part = self._within(i, levels[i], y, end, back)
                found |= {} if part is None else {i: part}
        if found:
            first = min(found, key=lambda i: found[i])
            return first, back.t + found[first] * (end - back.t)
        self.before, self.levels = self.levels, levels
        return None

    def act(self, which: int, at: float, back: Saved) -> bool:
        """At an event: stop, or do what it says and go on."""
        event, runner = self.events[which], self.runner
        self._back(back)
        self._go(at)
        here = self._levels()[which]
        runner.happened.append((runner.t, event.name))
        runner.snap()
        before = self.y.state
        changed = None if event.do is None else event.do(runner.t, before)
        if changed is not None:
            was = energy(runner.task.system, before)
            self._reload(changed)
            runner.changes.append((runner.t, which, energy(runner.task.system, changed) - was))
        runner.records.append((before.e, runner.state().e))
        if event.do is None:
            return False
        self.before, self.levels = None, self._levels()
        if changed is None or abs(self.levels[which]) <= abs(here):
            self.levels[which] = 0.0  # it stands on its zero: whatever it does next is a new crossing
        span = runner.task.t_end - runner.task.t_0
        if (said := self.piles[which].grown(runner.t, event.name, span)) is not None:
            raise ConvergenceError(said, runner.result())
        return True

    # --- crossings ---------------------------------------------------------------------------------------------------

    def _near(self, i: int, level: float) -> bool:
        """Whether an event could have crossed zero there and back: not where it is farther away than it goes in a step."""
        if self.before is None:
            return True
        change = max(abs(level - self.levels[i]), abs(self.levels[i] - self.before[i]))
        return min(abs(level), abs(self.levels[i])) <= change

    def _within(self, i: int, level: float, y: Outputs, end: float, back: Saved) -> float | None:
        """A crossing that both ends of the step do not show: looked for between them, then found by steps."""
        event, start, fill = self.events[i], back.t, self.runner.rows.fill
        a, b, h = y.state, self.y.state, end - back.t

        def dense(x: float) -> float:
            return event.value(start + x * h, Outputs(self.runner.task.system, between(a, b, h, x)))

        ends = hidden(event, dense, self.levels[i], level)
        if ends is None:
            return None
        first, second = ((x, self._value(event, x, end, back) if 0.0 < x < 1.0 else f) for x, f in ends)
        if event.crossed(first[1], second[1]):
            return self._crossing(event, first, second, end, back, CLOSE * second[0])
        self._back(back)
        self._go(end)
        self.runner.rows.fill = fill
        return None

    def _crossing(
        self,
        event: Event,
        first: tuple[float, float],
        second: tuple[float, float],
        end: float,
        back: Saved,
        close: float = CLOSE,
    ) -> float:
        """Where in the step an event crosses zero: false position that never keeps one end for long (Illinois)."""
        (a, low), (b, high) = first, second
        f_a, f_b = low, high
        for _ in range(TRIES):
            if b - a < close:
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
        return b

    def _value(self, event: Event, part: float, end: float, back: Saved) -> float:
        """An event at a part of the step, by a step up to there."""
        self._back(back)
        self._go(back.t + part * (end - back.t))
        return event.value(self.runner.t, self.runner.outputs())

    def _go(self, to: float) -> None:
        start = self.runner.t
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
