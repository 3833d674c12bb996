"""Midpoint steps of the kernel for the driver, and fixed steps from node to node."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from phloat.errors import SampleTimeWarning, require_steps
from phloat.motion.inputs.inputs import NO_STOPS, Stops
from phloat.motion.kernel.step import SOLVED
from phloat.motion.result import Result
from phloat.motion.run.assembly import load_state
from phloat.motion.run.events import ROUND_OFF
from phloat.motion.run.interpolation import interpolate_states
from phloat.motion.run.kernel_run import NONE, KernelRun, Snapshot
from phloat.motion.run.outputs import Outputs
from phloat.motion.run.stepper import Dense, Memory
from phloat.motion.saving.memory import memory_of, recall
from phloat.system.state import State

CHUNK = 256  # steps between looks at the clock
NEAR = 1e-6  # of a step: a controller that is due so near a node is called there


class KernelStepper:
    """What steppers of the kernel share: an end of a step within it is reached by another step from its start."""

    name, resumable = "Midpoint", True
    corners: Stops = NO_STOPS
    parts = 1  # equal steps to a time within the last step

    def __init__(self, run: KernelRun) -> None:
        self.run, self.start, self.end = run, run.t, run.t
        self.watched = bool(run.task.events)
        self.after: Snapshot | None = None  # the end of the last step, where it is needed
        self.states: tuple[State, State] | None = None  # at its start and end

    def outputs(self) -> Outputs:
        return self.run.outputs()

    def state(self) -> State:
        return self.run.state()

    def write_row(self) -> None:
        self.run.write_row()

    def result(self, count: int | None = None) -> Result:
        return self.run.result(count)

    def memory(self) -> Memory:
        return memory_of(self.run)

    def begin_step(self) -> None:
        """Remembers what is needed to look for events within the next step."""
        self.start = self.run.t
        if self.watched:
            self.before = self.run.snapshot()

    def end_step(self) -> None:
        self.end, self.after, self.states = self.run.t, None, None

    def interpolate(self, x: float) -> Outputs:
        if self.states is None:
            self.after = self.run.snapshot() if self.after is None else self.after
            self.states = self.run.state_in(self.before.w), self.run.state_in(self.after.w)
        return Outputs(self.run.task.system, interpolate_states(*self.states, self.end - self.start, x))

    def move_to(self, time: float) -> None:
        run = self.run
        self.after = run.snapshot() if self.after is None else self.after
        if time == self.end:
            run.restore(self.after)
            return
        run.restore(self.before)
        run.rows.pending = -1  # its λ is complete by the whole step
        if time - run.t > ROUND_OFF * abs(time):
            run.go(np.linspace(run.t, time, self.parts + 1))

    def look_ahead(self, h: float) -> Dense | None:
        run, start, now = self.run, self.run.state(), self.run.t
        with run.trial():
            _, status = run.steps(np.array([now, now + h]), NONE, run.parts)
            end = run.state()
        if status != SOLVED:
            return None
        return lambda x: (now + x * h, Outputs(run.task.system, interpolate_states(start, end, h, x)))

    def restart(self, state: State | None = None) -> None:
        if state is not None:
            load_state(self.run.assembly, state)
            self.run.count_turns()


class FixedSteps(KernelStepper):
    """Steps of dt; the last is shorter where dt does not divide the time, and one is cut where a sample lies within it."""

    adaptive = False

    def __init__(self, run: KernelRun, dt: float) -> None:
        super().__init__(run)
        if run.task.memory is not None:
            recall(run, run.task.memory)
        task, self.dt = run.task, dt
        self.nodes, self.node = self._resumed_nodes(task.memory or {})
        self.marks = OutputNodes(self.nodes, task.output)
        self.single = self.watched or task.controller is not None
        self.at_node = run.t - self.nodes.time(self.node) <= 1e-9 * dt

    def _resumed_nodes(self, memory: Mapping[str, np.ndarray]) -> tuple[TimeGrid, int]:
        """The grid of the run and its last node so far; a run that ended between two nodes goes on with a grid from there."""
        task, near = self.run.task, 1e-9 * self.dt
        start, number = memory.get("grid", np.array([task.t_0, -1.0])).tolist()
        nodes = TimeGrid(start, task.t_end, self.dt)
        node = int(number) if number >= 0 else int(nodes.not_before(np.array([self.run.t - near]))[0])
        ended_between = nodes.time(node) - self.run.t > near
        return (TimeGrid(self.run.t, task.t_end, self.dt), 0) if ended_between else (nodes, node)

    def memory(self) -> Memory:
        return {**super().memory(), "grid": np.array([self.nodes.start, self.node], dtype=float)}

    def advance(self, limit: float) -> bool:
        if self.node >= self.nodes.last:
            return False
        if not self.single:
            self._chunk()
            return True
        run, near = self.run, NEAR * self.dt
        self.to = self.nodes.time(self.node + 1)
        self.begin_step()
        run.go(np.array([run.t, limit if run.t + near < limit < self.to - near else self.to]))
        self.end_step()
        return True

    def _chunk(self) -> None:
        """Many steps at once."""
        k, last = self.node, self.nodes.last
        stop = min(k + CHUNK, last)
        if stop == last and stop > k + 1:
            stop -= 1  # the last one alone: it may be shorter
        self.run.go(self.nodes.within(k, stop), self.marks.within(k, stop) - k)
        self.node = stop

    def accept(self) -> None:
        if not self.single:
            return
        left = self.to - self.run.t
        self.at_node = left <= (1e-9 * abs(self.to - self.run.task.t_0) if self.watched else 0.0)
        if self.at_node:
            self.node += 1
            if self.node in self.marks:
                self.run.write_row()


# --- nodes of equal steps, and which of them are output ----------------------------------------------------------------


@dataclass(frozen=True)
class TimeGrid:
    """Times start + k dt up to the end; the last one is the end itself, its step shorter where dt does not divide the time."""

    start: float
    end: float
    dt: float

    def __post_init__(self) -> None:
        require_steps(self.start, self.end, self.dt)

    @cached_property
    def last(self) -> int:
        """The number of the last node, and of steps."""
        count = int(np.floor((self.end - self.start) / self.dt * (1 + 1e-12) + 1e-9))
        return count + 1 if self.end - (self.start + self.dt * count) > 1e-9 * self.dt else count

    def at(self, k: np.ndarray) -> np.ndarray:
        """The times of these nodes."""
        return np.where(k == self.last, self.end, self.start + self.dt * k)

    def time(self, k: int) -> float:
        """The time of a node."""
        return self.end if k == self.last else self.start + self.dt * k

    def within(self, first: int, last: int) -> np.ndarray:
        """The times of all nodes from the first to the last."""
        return self.at(np.arange(first, last + 1))

    def not_before(self, t: np.ndarray) -> np.ndarray:
        """The first nodes that are not before these times; one more than there are where all are."""
        k = np.clip(np.floor((np.asarray(t) - self.start) / self.dt).astype(np.int64) - 1, 0, self.last)
        for _ in range(3):
            k = k + ((k <= self.last) & (self.at(k) < t))
        return k


@dataclass(frozen=True, eq=False)
class OutputNodes:
    """The nodes that are output: every so many and the last, or those around given times."""

    nodes: TimeGrid
    output: int | np.ndarray

    @cached_property
    def around(self) -> np.ndarray:
        """Numbers of the nodes around the output times, ascending."""
        nodes, output = self.nodes, np.asarray(self.output)
        near = 1e-9 * float(np.diff(nodes.within(0, 1))[0])
        after = np.minimum(nodes.not_before(output - near), nodes.last)
        hit = np.abs(nodes.at(after) - output) < near
        return np.unique(np.clip(np.concatenate([after, after[~hit] - 1]), 0, nodes.last))

    def __contains__(self, k: int) -> bool:
        if isinstance(self.output, int):
            return k % self.output == 0 or k == self.nodes.last
        return k in self.around

    def within(self, first: int, last: int) -> np.ndarray:
        """Output nodes after the first node, up to the last."""
        if not isinstance(self.output, int):
            return self.around[slice(*np.searchsorted(self.around, [first, last], side="right"))]
        every = np.arange(self.output * (first // self.output + 1), last + 1, self.output)
        return every if last < self.nodes.last or self.nodes.last in every[-1:] else np.append(every, self.nodes.last)


def warn_if_late(name: str, time: float, dt: float) -> None:
    """Warns if equal steps of dt do not meet a sample time or delay of a controller."""
    late = (np.ceil(time / dt * (1 - 1e-9)) - time / dt) * dt
    if late > 1e-6 * dt:
        warnings.warn(
            f"the {name} of {time:g} s is no multiple of the step of {dt:g} s: what falls between two steps waits for the next, "
            f"up to {dt:.3g} s, the first time {late:.3g} s; give a dt that divides it, such as {time / np.ceil(time / dt):.6g} s",
            SampleTimeWarning,
            stacklevel=4,
        )
