"""Outputs of a system by name, for controllers and events, computed when they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from phloat.errors import PortError, unknown
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.pack import packed
from phloat.motion.kernel.rows import read
from phloat.motion.run.assembly import effort_entries
from phloat.motion.run.states import RunBuffers, unload_states
from phloat.system.joint_groups import VelocityColumns
from phloat.system.joint_rows import columns_in_rows, coordinates_of, port_blocks, sense
from phloat.system.state import DERIVED, ConstantState, State
from phloat.system.system import System


class Outputs(Mapping[str, Any]):
    """Outputs at one time: twists of body ports, rates of free joint axes, velocities at forces (`y["elbow"]`), joint coordinates
    (`y["elbow.angle"]`) and all quantities of a state (`y["rod.theta"]`). Ports of one component give a number.

    `state` may be a function that returns the state; it is called when needed.
    """

    def __init__(self, system: System, state: State | Callable[[], State]) -> None:
        self.system, self._source = system, state

    @cached_property
    def state(self) -> State:
        return self._source if isinstance(self._source, State) else self._source()

    def __getitem__(self, name: str) -> Any:
        if name in self.system.ports:
            value = self._flow(self.system.ports.also.get(name, name))
            return value[0] if len(value) == 1 else value
        owner, _, quantity = str(name).rpartition(".")
        if name in self.system.layout or (quantity in DERIVED and owner in self.system.bodies):
            return self._state_with(owner)[name]
        coordinate = self._coordinate(owner, name) if owner in self.system.joints else None
        if coordinate is None:
            raise PortError(unknown("output", name, list(self)))
        return coordinate

    def __iter__(self) -> Iterator[str]:
        yield from self.system.ports
        for name, c in self.system.joints.items():
            yield from (f"{name}.{row.label}" for row in c.coordinates)
        yield from self.system.layout

    def __len__(self) -> int:
        return len(list(iter(self)))

    def _state_with(self, body: str) -> State:
        """A state with at least the quantities of this body."""
        return self.state

    def _coordinate(self, joint: str, name: str) -> float | None:
        """An angle or slide of a joint; None if the joint has no coordinate of this name."""
        return coordinates_of(self.system, self.state, joint).get(name)

    def _flow(self, port: str) -> np.ndarray:
        out, e, columns = np.zeros(self.system.ports.shape(port)), self.state.e, self._places.columns
        for body, block in port_blocks(self.system, self.state, port):
            out += block @ e[columns[body]]
        return out

    @cached_property
    def _places(self) -> VelocityColumns:
        return columns_in_rows(self.system, self.system.layout)


# --- outputs during a run ---------------------------------------------------------------------------------------------
#
# Outputs of a run from the numbers of its kernel, compiled, for controllers and events that read them at every step.


class Reader:
    """Outputs of one run by compiled tables: of a single port, or with the second port of all joints and forces."""

    def __init__(self, run: RunBuffers) -> None:
        self.run = run
        self.columns: dict[str, list[list[int]]] = {}  # of each port, a list for each entry

    def outputs(self) -> Outputs:
        """The outputs at the current state, computed when they are read."""
        return _RunOutputs(self, self.run.packed.w[self.run.packed.first :][: self.run.packed.saved_count].copy())

    def values(self, port: str, numbers: np.ndarray) -> dict[str, np.ndarray | float]:
        """Rates and coordinates of the ports in the tables, to which `port` is added; empty for a joint without free axes."""
        joints = self.run.system.joints
        if port in joints and not joints[port].free:
            return {}
        if port not in self.columns:
            free = [name for name, c in joints.items() if c.free]
            more = (*free, *self.run.system.actuators) if self.columns else ()
            self._prepare(tuple(dict.fromkeys((*self.columns, *more, port))))
        m, w = self.packed.model, self.packed.w
        w[self.packed.first : self.packed.first + self.span] = numbers[: self.span]
        read(m.bodies, m.ends, m.entries, m.rows, m.terms, m.data, w, self.gaps, self.rates)
        out: dict[str, np.ndarray | float] = {}
        for name, entries in self.columns.items():
            out[name] = self.rates[entries[0]] if len(entries) == 1 else sum(self.rates[k] for k in entries)
        for name, column, turns in self.coordinates:
            angle = float(self.gaps[column])
            if turns is not None:
                sign, first, second, zero = turns
                near = sign * (w[second] - (w[first] if first >= 0 else 0.0) - zero)
                angle += 2 * np.pi * round((near - angle) / (2 * np.pi))
            out[name] = angle
        return out

    def _prepare(self, ports: tuple[str, ...]) -> None:
        """Builds the tables for these ports."""
        system = self.run.system
        state = State(system.bodies, system.layout, np.zeros(system.layout.size))
        entries = [entry for name in ports for entry in effort_entries(system, name)]
        self.packed = packed(system, state, entries)
        self.span = int(self.packed.model.bodies[-1, t.W_THETA]) + 1 - self.packed.first  # the numbers that are read
        self.gaps, self.rates = (np.zeros(sum(len(entry.rows) for entry in entries)) for _ in range(2))
        self.columns, column = {name: [] for name in ports}, 0
        for entry in self.packed.entries:
            self.columns[entry.name].append(list(range(column, column + len(entry.rows))))
            column += len(entry.rows)
        self.coordinates = [c for name in ports if name in system.joints for c in self._joint_coordinates(name)]

    def _joint_coordinates(self, name: str) -> list[tuple[str, int, tuple[float, int, int, float] | None]]:
        """For each coordinate: name, column, and for angles in a plane the indices that give its whole turns."""
        system, out = self.run.system, []
        c, bodies, theta = system.joints[name], list(system.bodies), self.packed.model.bodies[:, t.W_THETA]
        for column, row in enumerate(c.free, self.columns[name][0][0]):
            if row.coordinate:
                turns = None
                if row.is_angle and system.plane:
                    first = int(theta[bodies.index(c.first.body)]) if c.first.body else -1
                    second = int(theta[bodies.index(c.second.body)])
                    turns = sense(c), first, second, c.second.turned - c.first.turned
                out.append((f"{name}.{row.label}", column, turns))
        return out


class _RunOutputs(Outputs):
    """Outputs at one time of a run."""

    def __init__(self, reader: Reader, numbers: np.ndarray) -> None:
        self._reader, self._numbers = reader, numbers
        self._values: dict[str, np.ndarray | float] = {}
        system = reader.run.system
        super().__init__(
            system, lambda: ConstantState(system.bodies, system.layout, unload_states(reader.run, numbers[None])[0])
        )

    def _flow(self, port: str) -> np.ndarray:
        return super()._flow(port) if (value := self._value(port, port)) is None else np.atleast_1d(value)

    def _coordinate(self, joint: str, name: str) -> float | None:
        return super()._coordinate(joint, name) if (value := self._value(joint, name)) is None else float(value)

    def _value(self, port: str, name: str) -> np.ndarray | float | None:
        if name not in self._values:
            self._values |= self._reader.values(port, self._numbers)
        return self._values.get(name)

    def _state_with(self, body: str) -> State:
        if "state" in vars(self):
            return self.state
        e = unload_states(self._reader.run, self._numbers[None], only=body)[0]
        return State(self.system.bodies, self.system.layout, e)
