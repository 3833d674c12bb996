"""What a run of a linear system leaves: rows over time by name, outputs, multipliers, and the books of its energy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from phloat.algebra.sparse import csr, largest
from phloat.errors import InputError, PortError, finite, unknown
from phloat.linear.phdae import LinearPHDAE


@dataclass(frozen=True, eq=False)
class LinearResult:
    """A motion of a linear system: `result["rod.v_P"]`, `result["tie.lam"]`, with time first; `result.y["push"]`.

    `e` (times, rows), `lam` (times, multipliers; means of neighbouring steps), `way` (times, velocities) is ∫ v dt, exactly as the
    steps add it up. `works` (times, inputs) is what each input has done and `lost` (times,) what damping has taken, so that at the
    ends of steps energy − energy[0] = Σ works − lost to round-off. `info["deformation"]` is how far each field turns.
    """

    system: LinearPHDAE
    t: np.ndarray
    e: np.ndarray
    lam: np.ndarray
    u: np.ndarray
    way: np.ndarray
    works: np.ndarray
    lost: np.ndarray
    info: Mapping[str, object] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, name: str) -> np.ndarray:
        owner, _, quantity = str(name).rpartition(".")
        if name in self.system.rows:
            return self.system.rows.of(self.e, name)
        if quantity == "lam" and owner in self.system.multipliers:
            return self.system.multipliers.of(self.lam, owner)
        there = [*self.system.rows, *(f"{name}.lam" for name in self.system.multipliers)]
        raise PortError(unknown("quantity", name, there))

    @cached_property
    def y(self) -> dict[str, np.ndarray]:
        """The outputs of the ports, y = Bᵀe + B_λᵀλ, each (times, components)."""
        every = (self.system.B.T @ self.e.T + self.system.B_lam.T @ self.lam.T).T
        return {name: self.system.ports.of(every, name) for name in self.system.ports}

    @cached_property
    def supplied(self) -> dict[str, np.ndarray]:
        """The work that each port has done up to each time, (times,)."""
        return {name: self.works[:, where].sum(axis=1) for name, where in self.system.ports.slices.items()}

    @cached_property
    def energy(self) -> np.ndarray:
        """H = ½ eᵀE e, (times,)."""
        return 0.5 * np.einsum("ti,it->t", self.e, self.system.E @ self.e.T)

    @property
    def residual(self) -> np.ndarray:
        """What the books miss: H − H₀ − supplied + lost, round-off only, (times,)."""
        return self.energy - self.energy[0] - self.works.sum(axis=1) + self.lost

    def energy_of(self, part: str) -> np.ndarray:
        """The energy of a part, by the name that its rows begin with, (times,)."""
        names = [name for name in self.system.rows if name == part or name.startswith(f"{part}.")]
        if not names:
            raise PortError(unknown("part", part, dict.fromkeys(name.partition(".")[0] for name in self.system.rows)))
        mine = self.system.rows.indices(names)
        others = np.setdiff1d(np.arange(self.system.rows.size), mine)
        if largest(self.system.E[mine][:, others]):
            raise InputError(f"the energy of {part!r} is not its own: its rows share masses with others")
        e = self.e[:, mine]
        return 0.5 * np.einsum("ti,it->t", e, csr(self.system.E[mine][:, mine]) @ e.T)

    def velocity(self, field: str) -> np.ndarray:
        """How the points of a field move, (times, points, 3)."""
        return self._seen(field, self.e)

    def displacement(self, field: str) -> np.ndarray:
        """How far the points of a field have come since the start, (times, points, 3)."""
        return self._seen(field, self.way)

    def at(self, t: float) -> np.ndarray:
        """e at any time of the run: a line between outputs, of the order of the scheme."""
        time = float(finite("time", t, ()))
        if not self.t[0] <= time <= self.t[-1]:
            raise InputError(f"t = {time:g} s is outside the run, which goes from {self.t[0]:g} to {self.t[-1]:g} s")
        k = int(np.clip(np.searchsorted(self.t, time) - 1, 0, max(len(self) - 2, 0)))
        part = (time - self.t[k]) / (self.t[k + 1] - self.t[k]) if len(self) > 1 else 0.0
        return (1.0 - part) * self.e[k] + part * self.e[min(k + 1, len(self) - 1)]

    def _seen(self, field: str, rows: np.ndarray) -> np.ndarray:
        if field not in self.system.fields:
            raise PortError(unknown("field", field, self.system.fields))
        motion = self.system.fields[field].motion
        return (motion[:, : rows.shape[1]] @ rows.T).T.reshape(len(self), -1, 3)

    def __repr__(self) -> str:
        return f"LinearResult({len(self)} times from {self.t[0]:g} to {self.t[-1]:g} s of {self.system!r})"
