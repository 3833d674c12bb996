"""Runs of a family, prepared once: checks, tables and inputs are those of the first, a sample brings its own numbers.

runs = prepared(family(system, ("rod.material.E",)), state, t_end=1.0, dt=1e-3, u=…)
runs.run((1.9e11,))        what simulate(changed(system, …), state, …) gives, to round-off
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from phloat.errors import InputError
from phloat.many.family import Family
from phloat.many.patched import Template, apart, template
from phloat.motion.initial.velocities import consistent_state, redundant_rows, require_closed
from phloat.motion.inputs.inputs import Inputs, as_inputs
from phloat.motion.inputs.signals import Function
from phloat.motion.result import Result, at_times
from phloat.motion.run.assembly import Assembly
from phloat.motion.run.kernel_run import KernelRun
from phloat.motion.run.task import Task
from phloat.motion.run.time_grid import OutputNodes, TimeGrid
from phloat.motion.schemes.midpoint import Midpoint
from phloat.motion.simulate import simulate
from phloat.system.state import State
from phloat.system.system import System, fits

Start = State | Callable[[System], State]
NUMBERS = ("body", "gravity", "element")  # owners of parameters that leave the tables alone
LONGEST = 10_000  # steps between which a run can be interrupted
ALIKE = 1e-13  # of two starts, beside metres, radians and their rates
UNUSED = {"controller": None, "every": None, "save": None, "events": (), "scheme": Midpoint()}


@dataclass(frozen=True, eq=False)
class Prepared:
    """Runs from one start, or from a start that a function finds for every system, with the other arguments of `simulate`."""

    family: Family
    start: Start
    t_end: float
    options: dict[str, Any]

    def run(self, values: Sequence[float] | np.ndarray, *, start: State | None = None, **other: Any) -> Result:
        """The motion with these values, in the order of the names; other arguments of `simulate` replace those prepared.

        Every call has its own buffers, so that threads may call it at the same time.
        """
        return self.of(self.family.system(values), start=start, **other)

    def of(self, system: System, *, start: State | None = None, **other: Any) -> Result:
        """The motion of a system of the family."""
        if self.fast and not other.keys() - {"u"}:
            result = self._patched(system, start, other.get("u"))
            if result is not None:
                return result
        if start is None:
            start = self.start if isinstance(self.start, State) else self.start(system)
        options = self.options | {"u": self.inputs, "progress": False} | other
        t_end = options.pop("t_end", self.t_end)
        return simulate(system, start, t_end, **options)

    @property
    def fast(self) -> bool:
        """Whether samples take the buffers of the first; `why` says why not."""
        return isinstance(self._first, First)

    @property
    def why(self) -> str:
        """Why samples are assembled one by one; empty where they are not."""
        return self._first if isinstance(self._first, str) else ""

    @cached_property
    def inputs(self) -> Inputs:
        """The inputs, whose functions of t are asked once for all samples."""
        u = self.options.get("u")
        given = Inputs(self.family.base, u.u if isinstance(u, Inputs) else u)
        for name, signal in given.signals.items():
            if type(signal) is Function:
                given.signals[name] = Remembered(signal.name, signal.function, signal.shape)
        return given

    @cached_property
    def _first(self) -> First | str:
        """The run of the system as it is, up to its first step; or why it is of no use to others."""
        used = [name for name, unused in UNUSED.items() if self.options.get(name, unused) != unused]
        kinds = {self.family.there.places[name].owner.kind for name in self.family.meant}
        dt, output = self.options.get("dt"), self.options.get("output", 1)
        output = np.asarray(output) if isinstance(output, (list, tuple)) else output
        if not isinstance(self.start, State):
            return "the start is found for every sample"
        if used:
            return f"{used[0]} is looked at while a run goes on"
        if other := sorted(kinds - {*NUMBERS}):
            return f"parameters of a {other[0]} change the tables of the run"
        if not isinstance(output, (int, np.ndarray)) or not isinstance(dt, float):
            return "dt is no number, or output no number and no array"
        try:
            return first(self.family, self.start, self.inputs, self.options.get("t_start", 0.0), self.t_end, dt, output)
        except InputError as error:
            return str(error)

    def _patched(self, system: System, start: State | None, u: Mapping[str, object] | None) -> Result | None:
        """The run from patched buffers; None where they do not do."""
        known = self._first
        assert isinstance(known, First) and isinstance(self.start, State)
        state = fits(system, self.start if start is None else start)
        if start is not None and not known.begins_like(state):
            return None
        task = replace(known.task, system=system, state=state)
        if u is not None:
            if not self._drives_alike(system, u):
                return None
            task, known = replace(task, inputs=as_inputs(system, u)), replace(known, given=None)
        run = known.template.patched(system, state)
        if run is None:
            return None
        runner = Again(task, run, known)
        runner.through()
        result = runner.result()
        return result if isinstance(task.output, int) else at_times(result, task.output)

    def _drives_alike(self, system: System, u: object) -> bool:
        """Whether other inputs are of the same ports, and drive joints as the first ones do."""
        old = self.options.get("u")
        if not isinstance(u, Mapping) or not isinstance(old, Mapping) or list(u) != list(old):
            return False
        return all(u[name] is old[name] for name in u if name in system.joints and system.joints[name].driven)

    def __reduce__(self) -> tuple[Any, ...]:
        return Prepared, (self.family, self.start, self.t_end, self.options)  # the rest is found again


def prepared(family: Family, start: Start, t_end: float, **options: Any) -> Prepared:
    """Runs of a family; `start` and the options are those of `simulate`, or the start is a function of the system."""
    return Prepared(family, start, t_end, options)


# --- the first run ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class First:
    """A run at its start, with its inputs over all steps (and one beyond, where there are any)."""

    task: Task
    template: Template
    times: np.ndarray
    given: np.ndarray | None  # None: to be found
    moving: np.ndarray

    def begins_like(self, state: State) -> bool:
        """Whether a state is that of the first run to round-off, but for stresses."""
        first = self.template.state.e
        same = np.abs(first - state.e) <= ALIKE * (1.0 + np.abs(first))
        for name in state.layout:
            if name.endswith(".sigma"):
                same[state.layout[name]] = True
        return bool(same.all())


def first(
    family: Family, start: State, inputs: Inputs, t_0: float, t_end: float, dt: float, output: int | np.ndarray
) -> First:
    """The run of the system as it is, with the checks of `simulate`."""
    if not (0.0 < dt <= t_end - t_0) or not _ascend(output, t_0, t_end):
        raise InputError(f"steps of {dt:g} s from {t_0:g} to {t_end:g} s, output {output!r}")
    system, groups = apart(family)
    state = fits(system, start)
    require_closed(system, state)
    if consistent_state(system, state, inputs.at(t_0)) is not state:
        raise InputError("the start has to be moved a little, and that depends on masses")
    task = Task(system, state, t_0, t_end, dt, inputs, output, dropped=redundant_rows(system, state))
    runner = Again(task)
    nodes = TimeGrid(t_0, t_end, dt)
    times = nodes.within(0, nodes.last)
    times = np.append(times, times[-1] + (times[-1] - times[-2]))
    try:
        given, moving = runner.over(times)
    except InputError:  # a table that ends with the run
        times = times[:-1]
        given, moving = runner.over(times)
    return First(task, template(family, runner.assembly, state, groups), times, given, moving)


def _ascend(output: int | np.ndarray, t_0: float, t_end: float) -> bool:
    """Whether there are rows to keep: every so many, or at times that ascend within the run."""
    if isinstance(output, int):
        return not isinstance(output, bool) and output > 0
    inside = output.ndim == 1 and output.dtype.kind in "iuf" and len(output) and (np.diff(output) > 0.0).all()
    return bool(inside and t_0 <= output[0] and output[-1] <= t_end)


class Again(KernelRun):
    """A runner on buffers that are there already, with inputs that are known for all steps."""

    def __init__(self, task: Task, run: Assembly | None = None, known: First | None = None) -> None:
        super().__init__(task, run)
        self.known = known
        if known is not None and isinstance(task.output, int):
            self.rows.reserve(len(known.times) // task.output + 1)

    def through(self) -> None:
        """All steps of the run, as `FixedSteps` makes them; the last one may be shorter."""
        assert self.known is not None and self.task.dt is not None
        nodes = TimeGrid(self.task.t_0, self.task.t_end, self.task.dt)
        marks, last = OutputNodes(nodes, self.task.output), nodes.last
        for at in (*range(0, last - 1, LONGEST), last - 1):
            to = min(at + LONGEST, last - 1) if at < last - 1 else last
            self.go(nodes.within(at, to), marks.within(at, to) - at)

    def over(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Given efforts and driven places, step by step."""
        return self.efforts(times), self.driven(times)

    def efforts(self, times: np.ndarray) -> np.ndarray:
        where, known = self._where(times), self.known
        return super().efforts(times) if known is None or where is None or known.given is None else known.given[where]

    def driven(self, times: np.ndarray) -> np.ndarray:
        where = self._where(times)
        return super().driven(times) if self.known is None or where is None else self.known.moving[where]

    def _where(self, times: np.ndarray) -> slice | None:
        """Which of the known steps these are; None where they were halved."""
        if self.known is None:
            return None
        at, steps = int(np.searchsorted(self.known.times, times[0])), len(times) - 1
        there = self.known.times[at : at + steps + 1]
        return slice(at, at + steps) if np.array_equal(there, times) else None


@dataclass(frozen=True, eq=False)
class Remembered(Function):
    """A function of t that keeps its means over rows of times."""

    known: dict[tuple[float, float, int], np.ndarray] = field(default_factory=dict)

    def means(self, times: np.ndarray) -> np.ndarray:
        key = float(times[0]), float(times[-1]), len(times)
        if key not in self.known:
            self.known[key] = super().means(times)
        return self.known[key]
