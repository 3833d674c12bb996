"""Linear systems at stepped numbers, and derivatives of what is read off them.

Differences of fourth order over four systems,

    f' = (8 (f(p + h) − f(p − h)) − (f(p + 2h) − f(p − 2h))) / 12h,

are exact, up to round-off, where f is a polynomial of degree four or less in p, and off by h⁴/30 f⁽⁵⁾ elsewhere. A number that
is zero and may not be less is stepped forward only, to the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from phloat.analysis.linearise import linearise
from phloat.bodies.body import Body
from phloat.bodies.quick import Maker, quick
from phloat.errors import InputError, mapping, positive
from phloat.linear.phdae import LinearPHDAE
from phloat.motion.place import place
from phloat.system.parameters import Names, Table, changed, number, table, with_given
from phloat.system.remade import remade_body
from phloat.system.state import State
from phloat.system.system import System

Make = Callable[[dict[str, float]], LinearPHDAE]
StateOf = Callable[[System], State] | State | None
CENTRAL = {-2: 1.0, -1: -8.0, 1: 8.0, 2: -1.0}  # over 12 h
FORWARD = {0: -25.0, 1: 48.0, 2: -36.0, 3: 16.0, 4: -3.0}
COARSE = {-2: -3.0, 2: 3.0}  # second order over twice the step, in the same unit
COARSE_FORWARD = {0: -9.0, 2: 12.0, 4: -3.0}


@dataclass(frozen=True, eq=False)
class Stepped:
    """A linear system that depends on numbers by name."""

    names: tuple[Names, ...]
    values: tuple[float, ...]
    base: LinearPHDAE
    moved: Callable[[int, float], LinearPHDAE]  # the system with the k-th number larger by some amount
    step: float  # of the size of a number

    def size(self, k: int) -> float:
        """The size of the k-th number: its own, or 1 where it is zero."""
        return abs(self.values[k]) or 1.0

    def slope(self, k: int, read: Callable[[LinearPHDAE], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """d read / dp_k, and by how much a coarser difference has it otherwise."""
        h = self.step * self.size(k)
        try:
            found, fine, coarse = self._read(k, h, read, CENTRAL), CENTRAL, COARSE
        except InputError:
            if self.values[k] != 0.0:
                raise
            found, fine, coarse = self._read(k, h, read, FORWARD), FORWARD, COARSE_FORWARD
        slope, rough = (sum(w * found[i] for i, w in rule.items()) / (12.0 * h) for rule in (fine, coarse))
        return np.asarray(slope), np.asarray(rough - slope)

    def _read(
        self, k: int, h: float, read: Callable[[LinearPHDAE], np.ndarray], rule: Iterable[int]
    ) -> dict[int, np.ndarray]:
        return {i: read(self._alike(k, self.moved(k, i * h) if i else self.base, i * h)) for i in rule}

    def _alike(self, k: int, other: LinearPHDAE, by: float) -> LinearPHDAE:
        """The other system, or a sentence where it is not of the same unknowns."""
        for what, those, these in (
            ("velocities", other.split, self.base.split),
            ("joint rows", other.multipliers.size, self.base.multipliers.size),
            ("inputs", other.ports.size, self.base.ports.size),
        ):
            if those != these:
                raise InputError(
                    f"with {said(self.names[k])} = {self.values[k] + by:g} there are {those} {what} in place of {these}; only "
                    "numbers that leave the unknowns as they are have a gradient"
                )
        return other


def stepped(system: System | Make, names: object, state: StateOf, step: float) -> Stepped:
    """A system, or a function {name: value} → LinearPHDAE, as one that depends on the named numbers."""
    step = positive("step", step)
    if step > 0.1:
        raise InputError(f"step is {step:g} of the size of a number; take 0.1 or less")
    if isinstance(system, System):
        return _of_system(system, names, state, step)
    if isinstance(system, LinearPHDAE) or not callable(system):
        raise InputError(
            f"{type(system).__name__} has no parameters; give the System it comes from, or a function {{name: value}} → "
            "LinearPHDAE"
        )
    if state is not None:
        raise InputError("a function that makes the linear system chooses its state; leave state= out")
    return _of_function(system, names, step)


def _of_system(system: System, names: object, state: StateOf, step: float) -> Stepped:
    if isinstance(names, Mapping):
        system = changed(system, names)
    there = table(system)
    wanted = tuple(names) if isinstance(names, (Mapping, list, tuple)) else (names,)
    groups = [there.named(one) for one in _some(wanted)]
    now = {name: place.value for name, place in there.places.items()}
    makers = _makers(system, there, [name for group in groups for name in group])

    def made(old: Body, recipe: Any, known: dict[tuple[Any, ...], Any]) -> Body:
        maker, key = makers.get(old), (id(old), id(recipe))
        if maker is not None and key not in known and (body := maker(recipe)) is not None:
            known[key] = body
        return remade_body(old, recipe, known)

    def moved(k: int, by: float) -> LinearPHDAE:
        new = with_given(system, there, {name: now[name] + by for name in groups[k]}, made)
        try:
            return linearise(new, standing(new, state))
        except InputError as error:
            hint = "; give state= as a function of the system" if isinstance(state, State) else ""
            raise InputError(f"with {said(wanted[k])} changed by {by:g}: {error}{hint}") from error

    values = tuple(max((now[name] for name in group), key=abs) for group in groups)
    return Stepped(wanted, values, linearise(system, standing(system, state)), moved, step)


def _makers(system: System, there: Table, names: Iterable[str]) -> dict[Body, Maker | None]:
    """What makes the bodies that change without assembling them again, where that can be."""
    changing: dict[Body, set[str]] = {}
    for name in names:
        owner = there.places[name].owner
        for member in owner.members if owner.kind == "body" else ():
            changing.setdefault(system.bodies[member], set()).add(name.removeprefix(f"{owner.name}."))
    return {body: quick(body, some) for body, some in changing.items()}


def _of_function(make: Make, names: object, step: float) -> Stepped:
    given = mapping("parameters", names, "{name: value} beside a function that makes the linear system")
    values = {name: number(name, value) for name, value in given.items()}
    wanted = _some(tuple(values))

    def made(p: dict[str, float]) -> LinearPHDAE:
        linear = make(p)
        if not isinstance(linear, LinearPHDAE):
            raise InputError(
                f"the function gives {type(linear).__name__}, not a LinearPHDAE; use linearise(…) or body.linear() in it"
            )
        return linear

    def moved(k: int, by: float) -> LinearPHDAE:
        return made(values | {wanted[k]: values[wanted[k]] + by})

    return Stepped(wanted, tuple(values.values()), made(dict(values)), moved, step)


def standing(system: System, state: StateOf) -> State:
    """The state to linearise about: as given, as made for the system, or with its joints closed."""
    if state is None:
        return place(system)
    return state(system) if callable(state) else state


def said(names: Any) -> str:
    """A name, or several as one."""
    return ", ".join(map(str, names)) if isinstance(names, tuple) else str(names)


def _some(names: tuple[Any, ...]) -> tuple[Any, ...]:
    if not names:
        raise InputError("name at least one parameter; parameters(system) lists them")
    return names
