"""One run of an ensemble: parameters by name, the initial state, the arguments of `simulate`, and the outputs."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from phloat.algebra.metadata import numbers, with_numbers
from phloat.bodies.body import Body
from phloat.bodies.variation import Maker
from phloat.control.passive import PassiveController
from phloat.control.sampled import Sampled
from phloat.errors import ClosureError, ConvergenceError, InputError, JointError, unknown
from phloat.many.samples import Key
from phloat.many.store import SINGLE_OUTPUT, Outcome
from phloat.motion.initial.place import place
from phloat.motion.inputs.inputs import Inputs
from phloat.motion.inputs.signals import Function
from phloat.motion.result import Result
from phloat.motion.simulate import simulate
from phloat.system.parameters import ParameterTable, fast_makers, parameter_table, with_parameter_values
from phloat.system.state import State
from phloat.system.system import System, fits

ROWS = 4096  # of times (up to 256 steps each) over which the means of a function of t are cached
SYSTEM = "system"  # name of the argument that gets the system of the sample


@dataclass(frozen=True, eq=False)
class Parametric:
    """An argument of a run that a function computes for every sample from the parameters named like its arguments."""

    function: Callable[..., Any]

    @property
    def names(self) -> dict[str, object]:
        """{parameter: default} of the function; `inspect.Parameter.empty` if it has no default."""
        return {n: p.default for n, p in inspect.signature(self.function).parameters.items() if n != SYSTEM}

    def evaluate(self, values: Mapping[str, float], system: object) -> Any:
        """The value of the function for one sample."""
        available = {**values, SYSTEM: system}
        accepted = inspect.signature(self.function).parameters
        return self.function(**{name: available[name] for name in accepted if name in available})


def parametric(function: Callable[..., Any]) -> Parametric:
    """An argument of `ensemble` that a function computes from the parameters named like its arguments.

    For example `controller=parametric(lambda k: passive_pid("motor", damping=k))` with {"k": uniform(1.0, 5.0)} among the
    parameters. It may stand for one input or all of u, for events, t_end and others. An argument named `system` gets the system of
    the sample.
    """
    if not callable(function):
        raise InputError(f"{function!r} is no function; write parametric(lambda k: passive_pid('motor', damping=k))")
    kinds = {p.kind for p in inspect.signature(function).parameters.values()}
    if kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY}:
        raise InputError("a function in parametric(…) must name its arguments: they are the names of the parameters")
    return Parametric(function)


def numbers_of(argument: object) -> dict[str, float]:
    """{name: number} of an input or a controller; the name of a number itself is ''."""
    if isinstance(argument, PassiveController):
        return numbers(argument.made.keywords).values if argument.made is not None else {}
    if isinstance(argument, Sampled):
        return numbers(_sampling(argument)).values | numbers_of(argument.controller)
    values = numbers(argument).values
    # the numbers of models that controllers contain are not listed
    ours = type(argument).__module__.startswith("phloat.control")
    return {name: value for name, value in values.items() if "." not in name and "[" not in name} if ours else values


def with_numbers_of(argument: Any, changes: Mapping[str, float]) -> Any:
    """The input or controller with changed numbers, by the names of `numbers_of`."""
    if isinstance(argument, PassiveController):
        assert argument.made is not None
        return argument.made.func(*argument.made.args, **_with_changes(argument.made.keywords, changes))
    if isinstance(argument, Sampled):
        inner = {name: value for name, value in changes.items() if name in numbers_of(argument.controller)}
        options = _with_changes(_sampling(argument), {name: x for name, x in changes.items() if name not in inner})
        return replace(argument, **options, controller=with_numbers_of(argument.controller, inner))
    return _with_changes(argument, changes) if changes else argument


def _sampling(argument: Sampled) -> dict[str, Any]:
    """The options of a sampled controller, without the controller itself."""
    return {"every": argument.every, "delay": argument.delay, "saturation": argument.saturation}


def _with_changes(value: Any, changes: Mapping[str, float]) -> Any:
    paths = numbers(value).paths
    return with_numbers(value, {paths[name]: number for name, number in changes.items()})


Start = State | Callable[[System], State] | Parametric | None


@dataclass(frozen=True, eq=False)
class ParametricRun:
    """A run of a system as a function of the parameters `keys`; `arguments` are those of `simulate` by name."""

    system: System
    keys: tuple[Key, ...]
    start: Start
    arguments: Mapping[str, Any]
    output: Callable[[Result], object] | None = None

    def __post_init__(self) -> None:
        assert self.targets is not None  # raises InputError for unknown names

    # --- names -------------------------------------------------------------------------------------------------------

    @cached_property
    def table(self) -> ParameterTable:
        return parameter_table(self.system)

    @cached_property
    def parts(self) -> dict[str, Any]:
        """The start and the arguments by name, with an entry for every input: "u.motor"."""
        u = self.arguments.get("u")
        inputs = {f"u.{port}": value for port, value in u.items()} if isinstance(u, Mapping) else {"u": u}
        return {"start": self.start, **{n: x for n, x in self.arguments.items() if n != "u"}, **inputs}

    @cached_property
    def other_numbers(self) -> dict[str, tuple[str, str]]:
        """{name: (argument, name within it)} of the numbers of inputs and of the controller: "u.motor", "controller.every"."""
        owners = {n: x for n, x in self.parts.items() if n == "controller" or n.startswith("u.")}
        numbers = {owner: numbers_of(value) for owner, value in owners.items() if not isinstance(value, Parametric)}
        return {_full_name(owner, name): (owner, name) for owner, names in numbers.items() for name in names}

    @cached_property
    def function_arguments(self) -> dict[str, object]:
        """{name: default} of the arguments of functions in parametric(…)."""
        functions = [part for part in self.parts.values() if isinstance(part, Parametric)]
        return {name: default for function in functions for name, default in function.names.items()}

    @cached_property
    def targets(self) -> tuple[tuple[tuple[str, str], ...], ...]:
        """For every key the numbers that it sets: ("system" | "other" | "argument", full name)."""
        out = tuple(tuple(self._targets_of(key)) for key in self.keys)
        all_targets = [target for group in out for target in group]
        if twice := next((target for target in all_targets if all_targets.count(target) > 1), None):
            raise InputError(f"parameter {twice[1]!r} is given twice; name it once")
        named = {name for kind, name in all_targets if kind == "argument"}
        empty = inspect.Parameter.empty
        if missing := [
            name for name, default in self.function_arguments.items() if default is empty and name not in named
        ]:
            raise InputError(f"a function in parametric(…) takes {missing[0]!r}, which is not among the parameters")
        return out

    def _targets_of(self, key: Key) -> list[tuple[str, str]]:
        """The numbers that one key sets; raises InputError for an unknown name."""
        if isinstance(key, tuple):
            return [target for name in key for target in self._targets_of(name)]
        if key in self.other_numbers:
            return [("other", key)]
        if key in self.function_arguments:
            return [("argument", key)]
        try:
            return [("system", name) for name in self.table.named(key)]
        except InputError as error:
            if key in self.table.functions or any(key.startswith(name) for name in self.table.functions):
                raise
            names = (*self.table.places, *self.other_numbers, *self.function_arguments)
            raise InputError(unknown("parameter", key, names)) from error

    # --- one sample --------------------------------------------------------------------------------------------------

    def run_sample(self, k: int, values: np.ndarray, *, record: bool = True) -> Outcome:
        """Runs the k-th sample and catches its errors; `record` records its warnings, which only one thread at a time may do."""
        if not record:
            return self._outcome(k, values)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            outcome = self._outcome(k, values)
        messages = dict.fromkeys((w.category.__name__, str(w.message)) for w in caught)
        return outcome._replace(warned=tuple(messages))

    def run_base(self) -> Outcome:
        """Runs the system with its unchanged numbers."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self._outcome(-1, None)

    def _outcome(self, k: int, values: np.ndarray | None) -> Outcome:
        """The outcome of one sample with its outputs or its error."""
        try:
            result = self.result(values)
        except Exception as error:
            return Outcome(k, {}, error_text(error))
        try:
            returned = final_state(result) if self.output is None else self.output(result)
            outputs = as_outputs(returned)
        except Exception as error:
            return Outcome(k, {}, f"output: {error_text(error)}")
        return Outcome(k, outputs, t=result.t, single=not isinstance(returned, Mapping))

    def result(self, values: np.ndarray | None) -> Result:
        """The result of the run with these parameters (parameters,), or with those of the system if None."""
        values_by_kind: dict[str, dict[str, float]] = {"system": {}, "other": {}, "argument": {}}
        if values is None and (
            empty := [n for n, d in self.function_arguments.items() if d is inspect.Parameter.empty]
        ):
            raise InputError(f"{empty[0]!r} has no value of its own")
        if values is not None:
            for targets, value in zip(self.targets, values.tolist(), strict=True):
                for kind, name in targets:
                    values_by_kind[kind][name] = value
        system = with_parameter_values(self.system, self.table, values_by_kind["system"], self._makers)
        changed = self._changed_parts(system, values_by_kind["other"], values_by_kind["argument"])
        state = self._start_state(system, changed.pop("start", self.start))
        options = {**self.arguments, "u": self._inputs, "progress": False, **changed}
        return simulate(system, state, options.pop("t_end"), **options)

    @cached_property
    def _makers(self) -> dict[Body, Maker | None]:
        """Functions that construct bodies with other numbers, shared by all samples; None if there is no fast one."""
        names = [name for targets in self.targets for kind, name in targets if kind == "system"]
        return fast_makers(self.system, self.table, names)

    @cached_property
    def _inputs(self) -> Inputs:
        """The inputs that are the same for all samples; functions of t are evaluated once."""
        shared = {n: x for n, x in self.parts.items() if not isinstance(x, Parametric)}
        by_port = {name.removeprefix("u."): part for name, part in shared.items() if name.startswith("u.")}
        inputs = Inputs(self.system, by_port or shared.get("u"))
        for name, signal in inputs.signals.items():
            if type(signal) is Function:
                inputs.signals[name] = CachedFunction(signal.name, signal.function, signal.shape)
        return inputs

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_inputs"}

    def _start_state(self, system: System, start: Any) -> State:
        """The initial state of a sample."""
        if start is None:
            return place(system)
        state = fits(system, start(system) if callable(start) else start)
        return state.with_values({f"{name}.eta": state[f"{name}.eta"] for name in self._bent_bodies})

    def _changed_parts(self, system: System, other: Mapping[str, float], values: Mapping[str, float]) -> dict[str, Any]:
        """The arguments of this sample that differ from those of the run."""
        changes: dict[str, dict[str, float]] = {}
        for name, value in other.items():
            owner, inner = self.other_numbers[name]
            changes.setdefault(owner, {})[inner] = value
        new = {n: with_numbers_of(self.parts[n], changed) for n, changed in changes.items()}
        new |= {n: x.evaluate(values, system) for n, x in self.parts.items() if isinstance(x, Parametric)}
        inputs = {n: new.pop(n) for n in list(new) if n.startswith("u.")}
        if inputs:
            new["u"] = {n.removeprefix("u."): inputs.get(n, x) for n, x in self.parts.items() if n.startswith("u.")}
        return new

    @cached_property
    def _bent_bodies(self) -> list[str]:
        """Bodies whose initial stress follows from their deformation, so that it must change with the stiffness."""
        if not isinstance(self.start, State):
            return []
        state, out = self.start, []
        for name, body in self.system.bodies.items():
            if body.stresses and np.any(eta := state[f"{name}.eta"]):
                sigma, follows = state[f"{name}.sigma"], body.elastic.stress(eta)
                if np.allclose(sigma, follows, rtol=1e-9, atol=1e-12 * float(np.abs(follows).max())):
                    out.append(name)
        return out


@dataclass(frozen=True, eq=False)
class CachedFunction(Function):
    """A function of t that caches its means over rows of times, ROWS at most."""

    cache: dict[tuple[float, float, int], np.ndarray] = field(default_factory=dict)

    def means(self, times: np.ndarray) -> np.ndarray:
        key = float(times[0]), float(times[-1]), len(times)
        if key not in self.cache:
            if len(self.cache) >= ROWS:  # times that differ between samples
                self.cache.clear()
            self.cache[key] = super().means(times)
        return self.cache[key]


def error_text(error: Exception) -> str:
    """The message of an error, with a hint where one helps."""
    if isinstance(error, (InputError, ConvergenceError)):
        hint = ""
        if isinstance(error, ClosureError | JointError) or "close it with place" in str(error):
            hint = " (a start that depends on parameters is a function: start=lambda system: place(system, …))"
        return f"{error}{hint}"
    return f"{type(error).__name__}: {error}"


def final_state(result: Result) -> dict[str, np.ndarray]:
    """The last state by name: the default output of a run."""
    return {name: result.system.layout.of(result.e[-1], name) for name in result.system.layout}


def as_outputs(returned: object) -> dict[str, np.ndarray]:
    """The value that an output function returned, as {name: array}; raises InputError if it is not one or several arrays."""
    if isinstance(returned, Result):
        raise InputError("the whole Result was returned; return a number, an array or a dict of them")
    items = returned.items() if isinstance(returned, Mapping) else [(SINGLE_OUTPUT, returned)]
    return {str(name): _array(str(name), value) for name, value in items}


def _array(name: str, value: object) -> np.ndarray:
    """The value as a float or complex array; raises InputError if it is not numeric or contains NaN."""
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different length
        array = np.asarray(None)
    if array.dtype.kind not in "biufc":
        description = f"{type(value).__name__} {str(value)[:60]!r}"
        raise InputError(f"{name!r} is {description}; it must be a number or an array of numbers")
    array = array.astype(complex if array.dtype.kind == "c" else float)
    if np.isnan(array).any():
        raise InputError(f"{name!r} is NaN" if not array.ndim else f"{name!r} holds NaN")
    return array


def _full_name(owner: str, name: str) -> str:
    return owner + ("" if not name or name.startswith("[") else ".") + name
