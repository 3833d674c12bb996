"""Simulation of linear port-Hamiltonian systems in equal steps: its result, and the loop over steps."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from phloat.algebra.sparse import csr, largest
from phloat.errors import AlternatingVelocityWarning, InputError, PortError, number, positive, require_steps, unknown
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.time.gauss import GaussLegendre
from phloat.linear.time.step import LinearScheme, PortOutputs, Signals
from phloat.linear.time.stepper import ControlledInputs, LinearOutputs, LinearRun, consistent_start, start_rows

ALTERNATION = 0.1  # of the largest velocity prescribed at a joint


@dataclass(frozen=True, eq=False)
class LinearResult:
    """A motion of a linear system: `result["rod.v_P"]`, `result["tie.lam"]` and `result.y["push"]`, each with time first.

    `e` is (times, rows), `lam` (times, multipliers) interpolated between the stages around, `u` (times, inputs), and `way` (times,
    velocities) ∫ v dt. `works` (times, inputs) is the work of each input, `lost` (times,) the dissipated energy and `added`
    (times,) that of `events`, which have a time, a name and e `before` and `after`: at the ends of steps of `GaussLegendre`
    energy − energy[0] = Σ works + added − lost up to round-off. `info["deformation"]` is the largest rotation of each field.
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
    added: np.ndarray = field(default_factory=lambda: np.zeros(0))
    events: tuple[Any, ...] = ()

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, name: str) -> np.ndarray:
        owner, _, quantity = str(name).rpartition(".")
        if name in self.system.rows:
            return self.system.rows.of(self.e, name)
        if quantity == "lam" and owner in self.system.multipliers:
            return self.system.multipliers.of(self.lam, owner)
        names = [*self.system.rows, *(f"{name}.lam" for name in self.system.multipliers)]
        raise PortError(unknown("quantity", name, names))

    @cached_property
    def y(self) -> dict[str, np.ndarray]:
        """The outputs of the ports by name, y = (B + P)ᵀe + B_λᵀλ + (S + N) u, each (times, components)."""
        ports = PortOutputs(self.system)
        outputs = ports.of_rows(self.e, self.u) + ports.of_joints(self.lam)
        return {name: self.system.ports.of(outputs, name) for name in self.system.ports}

    @property
    def supplied(self) -> dict[str, np.ndarray]:
        """The work of each port from the start to each time, by name, (times,)."""
        return {name: self.works[:, columns].sum(axis=1) for name, columns in self.system.ports.slices.items()}

    @cached_property
    def energy(self) -> np.ndarray:
        """H = ½ eᵀE e, (times,)."""
        return 0.5 * np.einsum("ti,it->t", self.e, self.system.E @ self.e.T)

    @property
    def residual(self) -> np.ndarray:
        """The error of the energy balance: H − H₀ − supplied − added + lost; round-off only for `GaussLegendre`, (times,)."""
        return self.energy - self.energy[0] - self.works.sum(axis=1) - self.added + self.lost

    def energy_of(self, part: str) -> np.ndarray:
        """The energy of a part, all rows "part" or "part.…", (times,); raises InputError if it shares mass with others."""
        names = [name for name in self.system.rows if name == part or name.startswith(f"{part}.")]
        if not names:
            raise PortError(unknown("part", part, dict.fromkeys(name.partition(".")[0] for name in self.system.rows)))
        own_rows = self.system.rows.indices(names)
        other_rows = np.setdiff1d(np.arange(self.system.rows.size), own_rows)
        if largest(self.system.E[own_rows][:, other_rows]):
            raise InputError(f"{part!r} has no energy of its own: its rows share mass with others")
        e = self.e[:, own_rows]
        return 0.5 * np.einsum("ti,it->t", e, csr(self.system.E[own_rows][:, own_rows]) @ e.T)

    def velocity(self, field: str) -> np.ndarray:
        """The velocities of the points of a field, (times, points, 3)."""
        return self._field(field, self.e)

    def displacement(self, field: str) -> np.ndarray:
        """The displacements of the points of a field since the start, (times, points, 3)."""
        return self._field(field, self.way)

    def at(self, t: float) -> np.ndarray:
        """e at a time of the run, interpolated linearly between outputs, (rows,)."""
        time = number("time", t)
        if not self.t[0] <= time <= self.t[-1]:
            raise InputError(f"t = {time:g} s is outside the run, which goes from {self.t[0]:g} to {self.t[-1]:g} s")
        return _interpolate(self.t, self.e, np.array([time]))[0] if len(self) > 1 else self.e[0]

    def window(self, start: float, end: float = np.inf) -> LinearResult:
        """The part of the run from `start` to `end` (s): its output times within; works count from the first of these."""
        inside = np.flatnonzero((self.t >= number("start", start)) & (self.t <= end))
        if not len(inside):
            raise InputError(
                f"no output time lies in the window from {start:g} s; the run goes from {self.t[0]:g} to {self.t[-1]:g} s"
            )
        parts = {name: getattr(self, name)[inside] for name in ("t", "e", "lam", "u", "way", "works", "lost")}
        parts |= {name: parts[name] - parts[name][0] for name in ("works", "lost")}
        added = self.added[inside] - self.added[inside[0]] if len(self.added) else self.added
        events = tuple(event for event in self.events if start <= event.t <= end)
        return replace(self, **parts, added=added, events=events)

    def _field(self, field: str, rows: np.ndarray) -> np.ndarray:
        """The field applied to velocities or to their integrals, (times, points, 3)."""
        if field not in self.system.fields:
            raise PortError(unknown("field", field, self.system.fields))
        motion = self.system.fields[field].motion
        return (motion[:, : rows.shape[1]] @ rows.T).T.reshape(len(self), -1, 3)

    def __repr__(self) -> str:
        return f"LinearResult({len(self)} times from {self.t[0]:g} to {self.t[-1]:g} s of {self.system!r})"


def march(
    system: LinearPHDAE,
    start: Mapping[str, object] | np.ndarray | None,
    u: Signals,
    *,
    t_0: float,
    t_end: float,
    dt: float,
    output: int | np.ndarray = 1,
    controller: Callable[[float, LinearOutputs], Mapping[str, object]] | None = None,
    every: float | None = None,
    scheme: LinearScheme = GaussLegendre(1),
    events: Sequence[Any] = (),
    search: Callable[[LinearRun], EventFinder] | None = None,
) -> LinearResult:
    """Simulates from rows at t_0 (by name, as a vector, or rest) to t_end, in equal steps of dt or a little less.

    `output` is the number of steps from one output to the next, or the times of output. A `controller` f(t, y) returns inputs at
    the beginning of each step, or at most `every` so many seconds; constant until the next call. `search` finds the events.
    """
    require_steps(t_0, t_end, positive("dt", dt))
    steps = int(np.ceil((t_end - t_0) / dt * (1 - 1e-9)))
    nodes = t_0 + (t_end - t_0) / steps * np.arange(steps + 1)
    e = consistent_start(system, start_rows(system, start), u.at(t_0))
    inputs = ControlledInputs(system, u, controller, every)
    output_times = np.zeros(0) if isinstance(output, int) else output
    run = LinearRun(
        *(system, scheme, inputs, e, nodes),
        saved=_output_steps(nodes, output),
        output_times=output_times,
        events=events,
        result=lambda run: _result(run, output),
    )
    found = search(run) if search is not None else None
    while True:
        inputs.update(run.t, run.outputs)
        if not run.advance():
            break
        group = None if found is None else found.find()
        if found is None or group is None:
            run.accept()
        elif not found.act(*group):
            break
    if not np.isfinite(run.now.e).all():
        raise InputError("the motion is unbounded: the energy is not definite (see system.passive)")
    return _result(run, output)


class EventFinder(Protocol):
    """Finds the events of the last step and applies their actions."""

    def find(self) -> tuple[Any, float] | None: ...
    def act(self, group: Any, time: float) -> bool: ...


def _output_steps(times: np.ndarray, output: int | np.ndarray) -> set[int]:
    """Indices of the steps to save: every `output` steps and the last, or none if times of output are given."""
    return {*range(0, len(times), output), len(times) - 1} if isinstance(output, int) else set()


def _result(run: LinearRun, output: int | np.ndarray) -> LinearResult:
    """The result of a run, at the times of output if these are given."""
    run.finish()
    rows = run.rows if isinstance(output, int) else run.dense
    names = ("t", "e", "lam", "u", "way", "works", "lost", "added")
    t, e, lam, u, way, works, lost, added = (np.array([getattr(row, name) for row in rows]) for name in names)
    result = LinearResult(run.system, t, e, lam, u, way, works, lost, added=added, events=tuple(run.past))
    if isinstance(run.scheme, GaussLegendre) and run.scheme.stages == 1:
        _warn_of_alternation(result)
    return result


def _warn_of_alternation(result: LinearResult) -> None:
    """Warns if velocities of driven joints are far from the prescribed ones at the ends of steps: a step holds its means only."""
    system = result.system
    prescribed = system.B_lam @ result.u.T
    off, largest_velocity = np.abs(system.G @ result.e.T - prescribed).max(axis=1), np.abs(prescribed).max(axis=1)
    rows = np.flatnonzero((off > ALTERNATION * largest_velocity) & (largest_velocity > 0.0))
    if len(rows):
        row = int(rows[0])
        warnings.warn(
            f"the velocity of {system.multipliers.owner(row)!r} alternates by up to {off[row]:.2g} about the prescribed one, which "
            f"is {largest_velocity[row]:.2g} at most: it jumps, or changes fast in a step, and the midpoint rule holds joints at "
            "mid-step only; take scheme=GaussLegendre(2), or prescribe a velocity without jumps",
            AlternatingVelocityWarning,
            stacklevel=5,
        )


def _interpolate(t: np.ndarray, values: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Linear interpolation of values (times, …) at other times."""
    if len(t) == 1:
        return np.repeat(values, len(times), axis=0)
    k = np.clip(np.searchsorted(t, times) - 1, 0, len(t) - 2)
    fraction = np.clip((times - t[k]) / (t[k + 1] - t[k]), 0.0, 1.0).reshape(-1, *[1] * (values.ndim - 1))
    return np.asarray((1.0 - fraction) * values[k] + fraction * values[k + 1])
