"""Events on the way: a step that crosses one is made again, up to the crossing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from phloat.motion.assembled import load
from phloat.motion.events import Event
from phloat.motion.kernel import tables as t
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


class Watch:
    """The events of a run and their values at the last node."""

    def __init__(self, runner: Runner, memory: Mapping[str, np.ndarray]) -> None:
        self.runner = runner
        self.events = runner.task.events
        self.levels = memory["levels"].tolist() if "levels" in memory else self._levels()

    def step(self, to: float) -> bool:
        """To the next node, through whatever events lie before it; False where one of them stops the run."""
        while to - self.runner.t > 1e-9 * abs(to - self.runner.task.t_0):
            start, end, back = self.runner.t, to, self._saved()
            self._go(end)
            levels = self._levels()
            crossed = [i for i, e in enumerate(self.events) if e.crossed(self.levels[i], levels[i])]
            if not crossed:
                self.levels = levels
                return True
            parts = {i: self._crossing(self.events[i], self.levels[i], levels[i], start, end, back) for i in crossed}
            first = min(parts, key=lambda i: parts[i])
            if not self._met(first, start + parts[first] * (end - start), back):
                return False
        return True

    def _met(self, which: int, at: float, back: Saved) -> bool:
        """At an event: stop, or do what it says and go on."""
        event, runner = self.events[which], self.runner
        self._back(back)
        self._go(at)
        runner.happened.append((runner.t, event.name))
        runner.snap()
        if event.do is None:
            return False
        changed = event.do(runner.t, runner.state())
        if changed is not None:
            before = energy(runner.task.system, runner.state())
            self._reload(changed)
            runner.changes.append((runner.t, which, energy(runner.task.system, changed) - before))
        self.levels = self._levels()
        self.levels[which] = 0.0 if changed is None else self.levels[which]
        return True

    def _crossing(self, event: Event, low: float, high: float, start: float, end: float, back: Saved) -> float:
        """Where in the step an event crosses zero: false position that never keeps one end for long (Illinois)."""
        a, b, f_a, f_b = 0.0, 1.0, low, high
        for _ in range(TRIES):
            if b - a < CLOSE:
                break
            x = (a * f_b - b * f_a) / (f_b - f_a)
            x = x if a < x < b else 0.5 * (a + b)
            self._back(back)
            self._go(start + x * (end - start))
            f = event.value(self.runner.t, self.runner.outputs())
            if f == 0.0:
                return x
            if (f < 0.0) == (low < 0.0):
                a, f_a, f_b = x, f, 0.5 * f_b
            else:
                b, f_b, f_a = x, f, 0.5 * f_a
        return b

    def _go(self, to: float) -> None:
        self.runner.go(np.array([self.runner.t, to]))

    def _levels(self) -> list[float]:
        y = self.runner.outputs()
        return [event.value(self.runner.t, y) for event in self.events]

    def _saved(self) -> Saved:
        r = self.runner
        return Saved(r.t, r.run.moved.copy(), r.packed.w.copy(), r.packed.iw.copy(), r.rows.fill)

    def _back(self, saved: Saved) -> None:
        r = self.runner
        r.t, r.run.moved, r.rows.fill = saved.t, saved.moved.copy(), -1
        r.packed.w[:], r.packed.iw[:] = saved.w, saved.iw
        r.packed.iw[t.I_FACTORED], r.h = 0, 0.0

    def _reload(self, state: State) -> None:
        runner, system = self.runner, self.runner.task.system
        state = fits(system, state)
        closed_or_said(system, state)
        u = np.zeros(system.ports.size)
        for name, signal in runner.signals.items():
            u[system.ports[name]] = signal.at(runner.t)
        state = agreed(system, state, u)
        load(runner.run, state)
