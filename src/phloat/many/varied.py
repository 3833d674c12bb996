"""Parameters beyond those of the system: numbers of inputs and controllers, and arguments of functions that make them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from phloat.algebra.numbers import numbers, with_numbers
from phloat.control.passive import PassiveController
from phloat.control.sampled import Sampled
from phloat.errors import InputError

SYSTEM = "system"  # an argument that is the system of the sample


@dataclass(frozen=True, eq=False)
class Varied:
    """An argument of a run that is made for every sample, from the parameters that its function names."""

    function: Callable[..., Any]

    @property
    def names(self) -> dict[str, object]:
        """The parameters it takes, and their values unless told (`inspect.Parameter.empty`: there is none)."""
        return {n: p.default for n, p in inspect.signature(self.function).parameters.items() if n != SYSTEM}

    def made(self, values: Mapping[str, float], system: object) -> Any:
        """What the function makes of one sample."""
        known = {**values, SYSTEM: system}
        wanted = inspect.signature(self.function).parameters
        return self.function(**{name: known[name] for name in wanted if name in known})


def varied(function: Callable[..., Any]) -> Varied:
    """An argument of `ensemble` that depends on parameters by the names of its own arguments.

    `controller=varied(lambda k: passive_pid("motor", damping=k))` with {"k": uniform(1.0, 5.0)} among the parameters; so may an
    input, the whole of u, events, t_end …; an argument called `system` is the system of the sample.
    """
    if not callable(function):
        raise InputError(f"{function!r} is no function; write varied(lambda k: passive_pid('motor', damping=k))")
    kinds = {p.kind for p in inspect.signature(function).parameters.values()}
    if kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY}:
        raise InputError("a function in varied(…) must name its arguments: they are the names of the parameters")
    return Varied(function)


def numbers_of(argument: object) -> dict[str, float]:
    """The numbers of an input or a controller by name; of a number itself, under the name ''."""
    if isinstance(argument, PassiveController):
        return numbers(argument.made.keywords).values if argument.made is not None else {}
    if isinstance(argument, Sampled):
        own = numbers({"every": argument.every, "delay": argument.delay, "saturation": argument.saturation}).values
        return own | numbers_of(argument.controller)
    found = numbers(argument).values
    ours = type(argument).__module__.startswith("phloat.control")  # it holds models, whose numbers are not its own
    return {name: value for name, value in found.items() if "." not in name and "[" not in name} if ours else found


def with_numbers_of(argument: Any, changes: Mapping[str, float]) -> Any:
    """The same with other numbers."""
    if isinstance(argument, PassiveController):
        assert argument.made is not None
        return argument.made.func(*argument.made.args, **_changed(argument.made.keywords, changes))
    if isinstance(argument, Sampled):
        inside = {name: value for name, value in changes.items() if name in numbers_of(argument.controller)}
        own = {"every": argument.every, "delay": argument.delay, "saturation": argument.saturation}
        own = _changed(own, {name: value for name, value in changes.items() if name not in inside})
        return replace(argument, **own, controller=with_numbers_of(argument.controller, inside))
    return _changed(argument, changes) if changes else argument


def _changed(value: Any, changes: Mapping[str, float]) -> Any:
    paths = numbers(value).paths
    return with_numbers(value, {paths[name]: number for name, number in changes.items()})
