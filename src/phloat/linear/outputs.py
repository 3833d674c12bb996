"""What a controller sees of a linear system: the outputs of its ports, and how far they have come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from phloat.errors import PortError, unknown
from phloat.linear.phdae import LinearPHDAE

WAY = ".way"


class LinearOutputs(Mapping[str, Any]):
    """y = Bᵀe by port name at one time, and its integral since the start: `y["elbow"]`, `y["elbow.way"]`.

    A port of one component is a number.
    """

    def __init__(self, system: LinearPHDAE, e: np.ndarray, way: np.ndarray) -> None:
        self.system, self.e, self.way = system, e, way

    def __getitem__(self, name: str) -> Any:
        port = str(name).removesuffix(WAY)
        if name in self.system.ports:
            return self._of(name, self.e)
        if port != name and port in self.system.ports:
            return self._of(port, self.way)
        raise PortError(unknown("output", name, list(self)))

    def _of(self, port: str, rows: np.ndarray) -> Any:
        value = self.system.B[: len(rows), self.system.ports[port]].T @ rows
        return value[0] if len(value) == 1 else value

    def __iter__(self) -> Iterator[str]:
        yield from self.system.ports
        yield from (f"{port}{WAY}" for port in self.system.ports)

    def __len__(self) -> int:
        return 2 * len(self.system.ports)
