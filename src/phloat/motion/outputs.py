"""What a controller or an event sees: the outputs of a system at a state, by name, made when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from phloat.algebra.sparse import Matrix
from phloat.errors import PortError, unknown
from phloat.system.jointed import in_rows, joint_coordinates, port_columns
from phloat.system.state import DERIVED, State
from phloat.system.system import System


class Outputs(Mapping[str, Any]):
    """y by name at one time: twists of body ports, rates of free axes and forces' points (`y["elbow"]`), joint coordinates
    (`y["elbow.angle"]`) and everything that a state has (`y["rod.theta"]`). A port of one component is a number.
    """

    def __init__(self, system: System, state: State) -> None:
        self.system, self.state = system, state

    def __getitem__(self, name: str) -> Any:
        if name in self.system.ports:
            y = self._columns.T @ self.state.e
            value = y[self.system.ports[name]]
            return value[0] if len(value) == 1 else value
        if name in self._coordinates:
            return self._coordinates[name]
        owner, _, quantity = str(name).rpartition(".")
        if name in self.system.layout or (quantity in DERIVED and owner in self.system.bodies):
            return self.state[name]
        raise PortError(unknown("output", name, list(self)))

    def __iter__(self) -> Iterator[str]:
        yield from self.system.ports
        yield from self._coordinates
        yield from self.system.layout

    def __len__(self) -> int:
        return len(list(iter(self)))

    @cached_property
    def _coordinates(self) -> dict[str, float]:
        return joint_coordinates(self.system, self.state)

    @cached_property
    def _columns(self) -> Matrix:
        return port_columns(self.system, self.state, in_rows(self.system, self.system.layout))
