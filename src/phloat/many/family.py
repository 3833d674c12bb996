"""Systems that differ in a few numbers.

    family(system, ("rod.material.E", "slider.mass")).system((1.9e11, 0.034))

is what `changed` returns, to round-off. Bodies are remade by `bodies.variation.fast_maker` where it has a way, else assembled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from phloat.bodies.body import Body
from phloat.bodies.variation import Maker, fast_maker
from phloat.errors import InputError
from phloat.system.parameters import Names, Table, number, table, with_given
from phloat.system.remade import remade_body
from phloat.system.system import System


@dataclass(frozen=True, eq=False)
class Family:
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


def family(system: System, names: Sequence[Names]) -> Family:
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
    return Family(system, wanted, there, meant, {body: fast_maker(body, some) for body, some in names_of.items()})
