"""Runs of the systems of a family: checks and inputs are computed for the first one, a sample brings its own numbers.

    runs = FamilyRuns(family(system, ("rod.material.E",)), state, 1.0, {"dt": 1e-3, "u": …})
    runs.run((1.9e11,))        what simulate(changed(system, …), state, …) returns, to round-off

A sample of the crank-slider of benchmarks/ensembles.py (500 steps) takes 7 ms this way and 14 ms with `simulate`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from phloat.bodies.body import Body
from phloat.bodies.variation import Maker, fast_maker, same_ports, same_size
from phloat.errors import InputError
from phloat.motion.initial.velocities import consistent_state, redundant_rows, require_closed
from phloat.motion.inputs.inputs import Inputs, as_inputs
from phloat.motion.inputs.signals import Function
from phloat.motion.result import Result, at_times
from phloat.motion.run.kernel_run import KernelRun
from phloat.motion.run.task import Task
from phloat.motion.run.time_grid import OutputNodes, TimeGrid
from phloat.motion.schemes.midpoint import Midpoint
from phloat.motion.simulate import simulate
from phloat.system.parameters import Names, Table, number, table, with_given
from phloat.system.remade import remade_body
from phloat.system.state import State
from phloat.system.system import System, fits

Start = State | Callable[[System], State]
GEOMETRY_FREE = ("body", "gravity", "element")  # owners of parameters that leave joints alone
CHUNK = 10_000  # steps between which a run can be interrupted
EQUAL_START = 1e-13  # relative difference of two initial states, in metres, radians and their rates
DEFAULTS = {"controller": None, "every": None, "save": None, "events": (), "scheme": Midpoint()}


@dataclass(frozen=True, eq=False)
class FamilyRuns:
    """Runs from one initial state, or from one that a function returns for every system; `options` are those of `simulate`."""

    family: SystemFamily
    start: Start
    t_end: float
    options: Mapping[str, Any] = field(default_factory=dict)

    def run(self, values: Sequence[float] | np.ndarray, *, start: State | None = None, **other: Any) -> Result:
        """The motion with these values, in the order of the names; `other` replaces arguments of `simulate`."""
        return self.run_system(self.family.system(values), start=start, **other)

    def run_system(self, system: System, *, start: State | None = None, **other: Any) -> Result:
        """The motion of a system of the family."""
        if self.fast and not other.keys() - {"u"}:
            result = self._run_checked(system, start, other.get("u"))
            if result is not None:
                return result
        if start is None:
            start = self.start if isinstance(self.start, State) else self.start(system)
        options = {**self.options, "u": self.inputs, "progress": False, **other}
        t_end = options.pop("t_end", self.t_end)
        return simulate(system, start, t_end, **options)

    @property
    def fast(self) -> bool:
        """Whether samples use the checks and inputs of the first run; `why` is the reason if they do not."""
        return isinstance(self._first, FirstRun)

    @property
    def why(self) -> str:
        """Why every sample goes through `simulate`; empty if it does not."""
        return self._first if isinstance(self._first, str) else ""

    @cached_property
    def inputs(self) -> Inputs:
        """The inputs; functions of t are called once for all samples."""
        u = self.options.get("u")
        inputs = Inputs(self.family.base, u.u if isinstance(u, Inputs) else u)
        for name, signal in inputs.signals.items():
            if type(signal) is Function:
                inputs.signals[name] = CachedFunction(signal.name, signal.function, signal.shape)
        return inputs

    @cached_property
    def _first(self) -> FirstRun | str:
        """The checked run of the base system, or why other runs cannot use it."""
        used = [name for name, default in DEFAULTS.items() if self.options.get(name, default) != default]
        kinds = {self.family.there.places[name].owner.kind for name in self.family.meant}
        dt, output = self.options.get("dt"), self.options.get("output", 1)
        output = np.asarray(output) if isinstance(output, (list, tuple)) else output
        if not isinstance(self.start, State):
            return "the initial state is computed for every sample"
        if used:
            return f"the run uses {used[0]}"
        if other := sorted(kinds - {*GEOMETRY_FREE}):
            return f"parameters of a {other[0]} vary"
        if not isinstance(output, (int, np.ndarray)) or not isinstance(dt, float):
            return "dt is not a number, or output is neither a number nor an array"
        try:
            return _first_run(self.family.base, self.start, self.inputs, self.options, self.t_end, output)
        except InputError as error:
            return str(error)

    def _run_checked(self, system: System, start: State | None, u: Mapping[str, object] | None) -> Result | None:
        """The run without checks; None if those of the first run do not hold for it."""
        first = self._first
        assert isinstance(first, FirstRun) and isinstance(self.start, State)
        state = fits(system, self.start if start is None else start)
        if not first.same_geometry(system) or (start is not None and not first.same_start(state)):
            return None
        task = replace(first.task, system=system, state=state)
        if u is not None:
            if not self._same_drives(system, u):
                return None
            task, first = replace(task, inputs=as_inputs(system, u)), replace(first, efforts=None)
        runner = InputsKnown(task, first)
        runner.run_all()
        result = runner.result()
        return result if isinstance(task.output, int) else at_times(result, task.output)

    def _same_drives(self, system: System, u: object) -> bool:
        """Whether other inputs are at the same ports and drive joints as the first ones do."""
        old = self.options.get("u")
        if not isinstance(u, Mapping) or not isinstance(old, Mapping) or list(u) != list(old):
            return False
        return all(u[name] is old[name] for name in u if name in system.joints and system.joints[name].driven)

    def __reduce__(self) -> tuple[Any, ...]:
        return FamilyRuns, (self.family, self.start, self.t_end, self.options)  # cached properties stay behind


# --- the first run ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FirstRun:
    """The checked task of the base system and its inputs over all steps (and one more, if the inputs reach so far)."""

    task: Task
    times: np.ndarray
    efforts: np.ndarray | None  # None: to be computed
    driven: np.ndarray

    def same_start(self, state: State) -> bool:
        """Whether a state is the initial one to round-off, apart from stresses."""
        first = self.task.state.e
        same = np.abs(first - state.e) <= EQUAL_START * (1.0 + np.abs(first))
        for name in state.layout:
            if name.endswith(".sigma"):
                same[state.layout[name]] = True
        return bool(same.all())

    def same_geometry(self, system: System) -> bool:
        """Whether joints are those of the first run and have their ports at the same places."""
        base, state = self.task.system, self.task.state
        if any(system.joints[name] is not joint for name, joint in base.joints.items()):
            return False
        for name, old in base.bodies.items():
            body = system.bodies[name]
            if not same_size(body, old):
                return False
            if not same_ports(body, old):
                pose = state.pose(name)
                if pose.eta.any() or pose.rates.any():
                    return False
                if not all(np.array_equal(body.ports[key].x, port.x) for key, port in old.ports.items()):
                    return False
        return True


def _first_run(
    system: System, start: State, inputs: Inputs, options: Mapping[str, Any], t_end: float, output: int | np.ndarray
) -> FirstRun:
    """The run of the base system, with the checks of `simulate`."""
    t_0, dt = options.get("t_start", 0.0), options["dt"]
    if not (0.0 < dt <= t_end - t_0) or not _valid_output(output, t_0, t_end):
        raise InputError(f"steps of {dt:g} s from {t_0:g} to {t_end:g} s, output {output!r}")
    state = fits(system, start)
    require_closed(system, state)
    if consistent_state(system, state, inputs.at(t_0)) is not state:
        raise InputError("the velocities of the initial state need a correction, which depends on masses")
    task = Task(system, state, t_0, t_end, dt, inputs, output, dropped=redundant_rows(system, state))
    runner, nodes = KernelRun(task), TimeGrid(t_0, t_end, dt)
    times = nodes.within(0, nodes.last)
    times = np.append(times, times[-1] + (times[-1] - times[-2]))
    try:
        return FirstRun(task, times, runner.efforts(times), runner.driven(times))
    except InputError:  # a table that ends with the run
        times = times[:-1]
        return FirstRun(task, times, runner.efforts(times), runner.driven(times))


def _valid_output(output: int | np.ndarray, t_0: float, t_end: float) -> bool:
    if isinstance(output, int):
        return not isinstance(output, bool) and output > 0
    ascends = output.ndim == 1 and output.dtype.kind in "iuf" and len(output) and (np.diff(output) > 0.0).all()
    return bool(ascends and t_0 <= output[0] and output[-1] <= t_end)


class InputsKnown(KernelRun):
    """A runner whose inputs are known for all steps."""

    def __init__(self, task: Task, first: FirstRun) -> None:
        super().__init__(task)
        self.first = first
        if isinstance(task.output, int):
            self.rows.reserve(len(first.times) // task.output + 1)

    def run_all(self) -> None:
        """All steps, as `FixedSteps` takes them; the last one may be shorter."""
        assert self.task.dt is not None
        nodes = TimeGrid(self.task.t_0, self.task.t_end, self.task.dt)
        marks, last = OutputNodes(nodes, self.task.output), nodes.last
        for at in (*range(0, last - 1, CHUNK), last - 1):
            to = min(at + CHUNK, last - 1) if at < last - 1 else last
            self.go(nodes.within(at, to), marks.within(at, to) - at)

    def efforts(self, times: np.ndarray) -> np.ndarray:
        steps, known = self._steps(times), self.first.efforts
        return super().efforts(times) if steps is None or known is None else known[steps]

    def driven(self, times: np.ndarray) -> np.ndarray:
        steps = self._steps(times)
        return super().driven(times) if steps is None else self.first.driven[steps]

    def _steps(self, times: np.ndarray) -> slice | None:
        """Which of the known steps these are; None if they were halved."""
        at, count = int(np.searchsorted(self.first.times, times[0])), len(times) - 1
        there = self.first.times[at : at + count + 1]
        return slice(at, at + count) if np.array_equal(there, times) else None


@dataclass(frozen=True, eq=False)
class CachedFunction(Function):
    """A function of t that keeps its means over rows of times."""

    known: dict[tuple[float, float, int], np.ndarray] = field(default_factory=dict)

    def means(self, times: np.ndarray) -> np.ndarray:
        key = float(times[0]), float(times[-1]), len(times)
        if key not in self.known:
            self.known[key] = super().means(times)
        return self.known[key]


# --- systems of a family ----------------------------------------------------------------------------------------------
#
# Systems that differ in a few numbers.
#
# family(system, ("rod.material.E", "slider.mass")).system((1.9e11, 0.034))
#
# is what `changed` returns, to round-off. Bodies are remade by `bodies.variation.fast_maker` where it has a way, else assembled.


@dataclass(frozen=True, eq=False)
class SystemFamily:
    """The systems with other values for these parameters."""

    base: System
    names: tuple[Names, ...]
    there: Table
    meant: dict[str, int]  # parameter: which of the values it takes
    makers: dict[Body, Maker | None]  # of bodies that change

    def system(self, values: Sequence[float] | np.ndarray) -> System:
        """The system with these values, in the order of the names."""
        if len(values) != len(self.names):
            raise InputError(
                f"{len(values)} values for {len(self.names)} parameters: {', '.join(map(str, self.names))}"
            )
        given = {name: number(name, values[k]) for name, k in self.meant.items()}
        return with_given(self.base, self.there, given, self._made)

    def _made(self, old: Body, recipe: Any, known: dict[tuple[Any, ...], Any]) -> Body:
        maker, key = self.makers.get(old), (id(old), id(recipe))
        if maker is not None and key not in known and (body := maker(recipe)) is not None:
            known[key] = body
        return remade_body(old, recipe, known)

    def __repr__(self) -> str:
        return f"Family({', '.join(map(str, self.names))} of {self.base!r})"


def system_family(system: System, names: Sequence[Names]) -> SystemFamily:
    """The family of a system in some of its parameters; names are as `changed` takes them."""
    if isinstance(names, str):
        raise InputError(f"names is {names!r}; write a tuple of names: ({names!r},)")
    there, wanted = table(system), tuple(names)
    meant = {name: wanted.index(by) for name, by in there.meant(wanted).items()}
    names_of: dict[Body, set[str]] = {}
    for name in meant:
        owner = there.places[name].owner
        for member in owner.members if owner.kind == "body" else ():
            names_of.setdefault(system.bodies[member], set()).add(name.removeprefix(f"{owner.name}."))
    return SystemFamily(system, wanted, there, meant, {body: fast_maker(body, some) for body, some in names_of.items()})
