"""Systems that differ in a few numbers, and runs of them: checks are made once, for the base system.

    runs = FamilyRuns(system_family(system, ("rod.material.E",)), state, 1.0, {"dt": 1e-3, "u": …})
    runs.run((1.9e11,))        what simulate(with_parameters(system, …), state, …) returns, to round-off

A sample of the crank-slider of benchmarks/ensembles.py (500 steps) takes 7 ms this way and 14 ms with `simulate`, which also checks
the initial state and estimates the error of small deformation.
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
from phloat.motion.deformation import check_run
from phloat.motion.initial.velocities import consistent_state, redundant_rows, require_closed
from phloat.motion.inputs.inputs import Inputs, as_inputs
from phloat.motion.inputs.signals import Function
from phloat.motion.law_ranges import warn_of_ranges
from phloat.motion.result import Result, at_times
from phloat.motion.run.task import Task
from phloat.motion.schemes.midpoint import Midpoint
from phloat.motion.simulate import simulate
from phloat.system.parameters import Names, ParameterTable, number, parameter_table, remade_body, with_given
from phloat.system.state import Pose, State
from phloat.system.system import System, fits

Start = State | Callable[[System], State]
GEOMETRY_FREE = ("body", "gravity", "element")  # owners of parameters that leave joints alone
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
            result = self._run_unchecked(system, start, other.get("u"))
            if result is not None:
                return result
        if start is None:
            start = self.start if isinstance(self.start, State) else self.start(system)
        options = {**self.options, "u": self.inputs, "progress": False, **other}
        t_end = options.pop("t_end", self.t_end)
        return simulate(system, start, t_end, **options)

    @property
    def fast(self) -> bool:
        """Whether samples skip the checks that the base system has passed."""
        return self._base_task is not None

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
    def _base_task(self) -> Task | None:
        """The run of the base system after its checks; None if other runs cannot skip them."""
        usual = all(self.options.get(name, default) == default for name, default in DEFAULTS.items())
        kinds = {self.family.there.places[name].owner.kind for name in self.family.meant}
        if not usual or not isinstance(self.start, State) or not kinds <= {*GEOMETRY_FREE}:
            return None
        try:
            return _checked_task(self.family.base, self.start, self.inputs, self.options, self.t_end)
        except InputError:
            return None

    def _run_unchecked(self, system: System, start: State | None, u: Mapping[str, object] | None) -> Result | None:
        """The run without checks; None if those of the base system do not hold for it."""
        base = self._base_task
        assert base is not None and isinstance(self.start, State)
        state = fits(system, self.start if start is None else start)
        if not _same_geometry(system, base) or (start is not None and not _same_start(state, base.state)):
            return None
        task = replace(base, system=system, state=state)
        if u is not None:
            if not self._same_drives(system, u):
                return None
            task = replace(task, inputs=as_inputs(system, u))
        result = Midpoint().run(task)
        warn_of_ranges(result.info)
        result = replace(result, info={**result.info, "deformation": check_run(result)})
        return result if isinstance(task.output, int) else at_times(result, task.output)

    def _same_drives(self, system: System, u: object) -> bool:
        """Whether other inputs are at the same ports and drive joints as the first ones do."""
        old = self.options.get("u")
        if not isinstance(u, Mapping) or not isinstance(old, Mapping) or list(u) != list(old):
            return False
        return all(u[name] is old[name] for name in u if name in system.joints and system.joints[name].driven)

    def __reduce__(self) -> tuple[Any, ...]:
        return FamilyRuns, (self.family, self.start, self.t_end, self.options)  # cached properties stay behind


# --- the base system ---------------------------------------------------------------------------------------------------


def _checked_task(
    system: System, start: State, inputs: Inputs, options: Mapping[str, Any], t_end: float
) -> Task | None:
    """The run of the base system, with the checks of `simulate`; None where these also say how it runs."""
    t_0, dt, output = options.get("t_start", 0.0), options.get("dt"), options.get("output", 1)
    output = np.asarray(output) if isinstance(output, (list, tuple)) else output
    if not isinstance(dt, float) or not 0.0 < dt <= t_end - t_0 or not _valid_output(output, t_0, t_end):
        return None
    state = fits(system, start)
    require_closed(system, state)
    if consistent_state(system, state, inputs.at(t_0)) is not state:
        return None  # the velocities need a correction, which depends on masses
    return Task(system, state, t_0, t_end, dt, inputs, output, dropped=redundant_rows(system, state))


def _same_start(state: State, base: State) -> bool:
    """Whether two states are equal to round-off, apart from stresses."""
    same = np.abs(base.e - state.e) <= EQUAL_START * (1.0 + np.abs(base.e))
    for name in state.layout:
        if name.endswith(".sigma"):
            same[state.layout[name]] = True
    return bool(same.all())


def _same_geometry(system: System, base: Task) -> bool:
    """Whether the joints are those of the base system and have their ports at the same places."""
    if any(system.joints[name] is not joint for name, joint in base.system.joints.items()):
        return False
    return all(
        _same_places(system.bodies[name], old, base.state.pose(name)) for name, old in base.system.bodies.items()
    )


def _same_places(body: Body, old: Body, pose: Pose) -> bool:
    if same_ports(body, old) or not same_size(body, old):
        return same_size(body, old)
    there = all(np.array_equal(body.ports[name].x, port.x) for name, port in old.ports.items())
    return there and not (pose.eta.any() or pose.rates.any())


def _valid_output(output: Any, t_0: float, t_end: float) -> bool:
    if not isinstance(output, np.ndarray):
        return isinstance(output, int) and not isinstance(output, bool) and output > 0
    ascends = output.ndim == 1 and output.dtype.kind in "iuf" and len(output) and (np.diff(output) > 0.0).all()
    return bool(ascends and t_0 <= output[0] and output[-1] <= t_end)


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
# system_family(system, ("rod.material.E", "slider.mass")).system((1.9e11, 0.034))
#
# is what `with_parameters` returns, to round-off. Bodies are remade by `bodies.variation.fast_maker` where it can, else assembled.


@dataclass(frozen=True, eq=False)
class SystemFamily:
    """The systems with other values for these parameters."""

    base: System
    names: tuple[Names, ...]
    there: ParameterTable
    meant: dict[str, int]  # parameter: which of the values it takes
    makers: dict[Body, Maker | None]  # of bodies that change

    def system(self, values: Sequence[float] | np.ndarray) -> System:
        """The system with these values, in the order of the names."""
        if len(values) != len(self.names):
            raise InputError(f"{len(values)} values; give {len(self.names)}: {', '.join(map(str, self.names))}")
        given = {name: number(name, values[k]) for name, k in self.meant.items()}
        return with_given(self.base, self.there, given, self._make_body)

    def _make_body(self, old: Body, recipe: Any, known: dict[tuple[Any, ...], Any]) -> Body:
        maker, key = self.makers.get(old), (id(old), id(recipe))
        if maker is not None and key not in known and (body := maker(recipe)) is not None:
            known[key] = body
        return remade_body(old, recipe, known)


def system_family(system: System, names: Sequence[Names]) -> SystemFamily:
    """The family of a system in some of its parameters; names are as `with_parameters` takes them."""
    if isinstance(names, str):
        raise InputError(f"names is {names!r}; write a tuple of names: ({names!r},)")
    there, wanted = parameter_table(system), tuple(names)
    meant = {name: wanted.index(by) for name, by in there.meant(wanted).items()}
    names_of: dict[Body, set[str]] = {}
    for name in meant:
        owner = there.places[name].owner
        for member in owner.members if owner.kind == "body" else ():
            names_of.setdefault(system.bodies[member], set()).add(name.removeprefix(f"{owner.name}."))
    return SystemFamily(system, wanted, there, meant, {body: fast_maker(body, some) for body, some in names_of.items()})
