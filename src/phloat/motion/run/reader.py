"""Outputs of a run from the numbers of its kernel, compiled: what controllers and events read at every step."""

from __future__ import annotations

import numpy as np

from phloat.motion.kernel import tables as t
from phloat.motion.kernel.pack import packed
from phloat.motion.kernel.read import read
from phloat.motion.run.assembled import Assembled, effort_entries, unload
from phloat.motion.run.outputs import Outputs
from phloat.system.jointed import sense
from phloat.system.state import State, Still


class Reader:
    """Outputs of one run. What is read is computed together: one port alone, or else all joints and forces and more ports."""

    def __init__(self, run: Assembled) -> None:
        self.run, self._ports = run, dict[str, None]()
        self._table: _Table | None = None

    def outputs(self) -> Outputs:
        """What can be read of the system now; computed when it is read, from the numbers as they are now."""
        return _Now(self, self.run.packed.w[self.run.packed.first :][: self.run.packed.kept].copy())

    def table(self, port: str) -> _Table | None:
        """Tables with this port in them; None for a joint that leaves no motion free."""
        system = self.run.system
        if port in system.joints and not system.joints[port].free:
            return None
        if self._table is None or port not in self._ports:
            if self._ports:
                joints = (name for name, c in system.joints.items() if c.free)
                self._ports |= dict.fromkeys((*joints, *system.actuators))
            self._ports[port] = None
            self._table = _Table(self.run, tuple(self._ports))
        return self._table


class _Now(Outputs):
    """Outputs at one time of a run."""

    def __init__(self, reader: Reader, kept: np.ndarray) -> None:
        self._reader, self._kept = reader, kept
        self._found: dict[str, np.ndarray | float] = {}
        system = reader.run.system
        super().__init__(system, lambda: Still(system.bodies, system.layout, unload(reader.run, kept[None])[0]))

    def _flow(self, port: str) -> np.ndarray:
        return super()._flow(port) if (found := self._value(port, port)) is None else np.atleast_1d(found)

    def _coordinate(self, joint: str, name: str) -> float | None:
        return super()._coordinate(joint, name) if (found := self._value(joint, name)) is None else float(found)

    def _value(self, port: str, name: str) -> np.ndarray | float | None:
        if name not in self._found and (table := self._reader.table(port)) is not None:
            self._found = table.values(self._kept)
        return self._found.get(name)

    def _part(self, body: str) -> State:
        if "state" in vars(self):
            return self.state
        e = unload(self._reader.run, self._kept[None], only=body)[0]
        return State(self.system.bodies, self.system.layout, e)


class _Table:
    """Compiled tables for some ports."""

    def __init__(self, run: Assembled, ports: tuple[str, ...]) -> None:
        self.ports, system = ports, run.system
        state = State(system.bodies, system.layout, np.zeros(system.layout.size))
        entries = [entry for name in ports for entry in effort_entries(system, name, {})]
        self.packed = packed(system, state, entries)
        self.span = int(self.packed.model.bodies[-1, t.W_THETA]) + 1 - self.packed.first  # of all that is read of a run
        self.gaps, self.rates = (np.zeros(sum(len(entry.rows) for entry in entries)) for _ in range(2))
        self.columns: dict[str, list[list[int]]] = {name: [] for name in ports}  # one list an entry
        at = 0
        for entry in self.packed.entries:
            self.columns[entry.name].append(list(range(at, at + len(entry.rows))))
            at += len(entry.rows)
        self.coordinates = [found for name in ports if name in system.joints for found in self._of_joint(run, name)]

    def _of_joint(self, run: Assembled, name: str) -> list[tuple[str, int, tuple[float, int, int, float] | None]]:
        """Of each coordinate: its name, its column, and for angles in a plane what counts their turns."""
        c, bodies, out, at = run.system.joints[name], list(run.system.bodies), [], self.columns[name][0][0]
        for row in c.free:
            if row.coordinate:
                turns = None
                if row.is_angle and run.system.plane:
                    theta = self.packed.model.bodies[:, t.W_THETA]
                    first = int(theta[bodies.index(c.first.body)]) if c.first.body else -1
                    second = int(theta[bodies.index(c.second.body)])
                    turns = sense(c), first, second, c.second.turned - c.first.turned
                out.append((f"{name}.{row.label}", at, turns))
            at += 1
        return out

    def values(self, kept: np.ndarray) -> dict[str, np.ndarray | float]:
        m, w = self.packed.model, self.packed.w
        w[self.packed.first : self.packed.first + self.span] = kept[: self.span]
        read(m.bodies, m.ends, m.entries, m.rows, m.terms, m.data, w, self.gaps, self.rates)
        out: dict[str, np.ndarray | float] = {}
        for name, entries in self.columns.items():
            out[name] = self.rates[entries[0]] if len(entries) == 1 else sum(self.rates[one] for one in entries)
        for name, column, turns in self.coordinates:
            angle = float(self.gaps[column])
            if turns is not None:
                sign, first, second, zero = turns
                near = sign * (w[second] - (w[first] if first >= 0 else 0.0) - zero)
                angle += 2 * np.pi * round((near - angle) / (2 * np.pi))
            out[name] = angle
        return out
