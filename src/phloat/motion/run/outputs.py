"""What a controller or an event sees: the outputs of a system at a state, by name, made when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from phloat.errors import PortError, unknown
from phloat.system.jointed import Places, coordinates_of, in_rows, port_blocks
from phloat.system.state import DERIVED, State
from phloat.system.system import System

_PLACES: WeakKeyDictionary[System, Places] = WeakKeyDictionary()


class Outputs(Mapping[str, Any]):
    """y by name at one time: twists of body ports, rates of free axes and forces' points (`y["elbow"]`), joint coordinates
    (`y["elbow.angle"]`) and everything that a state has (`y["rod.theta"]`). A port of one component is a number.

    The state may be given as a function that makes it, which is called when something is read.
    """

    def __init__(self, system: System, state: State | Callable[[], State]) -> None:
        self.system, self._given = system, state

    @cached_property
    def state(self) -> State:
        return self._given if isinstance(self._given, State) else self._given()

    def __getitem__(self, name: str) -> Any:
        if name in self.system.ports:
            value = self._flow(self.system.ports.also.get(name, name))
            return value[0] if len(value) == 1 else value
        owner, _, quantity = str(name).rpartition(".")
        if name in self.system.layout or (quantity in DERIVED and owner in self.system.bodies):
            return self._part(owner)[name]
        found = self._coordinate(owner, name) if owner in self.system.joints else None
        if found is None:
            raise PortError(unknown("output", name, list(self)))
        return found

    def __iter__(self) -> Iterator[str]:
        yield from self.system.ports
        for name, c in self.system.joints.items():
            yield from (f"{name}.{row.label}" for row in c.coordinates)
        yield from self.system.layout

    def __len__(self) -> int:
        return len(list(iter(self)))

    def _part(self, body: str) -> State:
        """A state that has at least the quantities of this body."""
        return self.state

    def _coordinate(self, joint: str, name: str) -> float | None:
        """An angle or slide of a joint; None where it has none of this name."""
        return coordinates_of(self.system, self.state, joint).get(name)

    def _flow(self, port: str) -> np.ndarray:
        out, e, columns = np.zeros(self.system.ports.shape(port)), self.state.e, self._places.columns
        for body, block in port_blocks(self.system, self.state, port):
            out += block @ e[columns[body]]
        return out

    @property
    def _places(self) -> Places:
        if self.system not in _PLACES:
            _PLACES[self.system] = in_rows(self.system, self.system.layout)
        return _PLACES[self.system]
