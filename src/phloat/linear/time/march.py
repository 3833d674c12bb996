"""Simulation of linear port-Hamiltonian systems: equal implicit midpoint steps with one factorisation."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from phloat.algebra.sparse import csr, largest
from phloat.errors import (
    InputError,
    PortError,
    ProjectedStartWarning,
    finite,
    number,
    positive,
    require_steps,
    unknown,
)
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.time.midpoint import MidpointSolver, nearest_consistent

WAY = ".way"
AGREES = 1e-9  # of the velocities: violation of joints that is round-off


@dataclass(frozen=True, eq=False)
class LinearResult:
    """A motion of a linear system: `result["rod.v_P"]`, `result["tie.lam"]`, with time first; `result.y["push"]`.

    `e` (times, rows), `lam` (times, multipliers; means of neighbouring steps), `way` (times, velocities) is ∫ v dt, the sum of
    the steps. `works` (times, inputs) is the work of each input and `lost` (times,) the dissipated energy, so that at the ends of
    steps energy − energy[0] = Σ works − lost to round-off. `info["deformation"]` is the largest rotation of each field.
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

    @property
    def supplied(self) -> dict[str, np.ndarray]:
        """The work of each port up to each time, (times,)."""
        return {name: self.works[:, where].sum(axis=1) for name, where in self.system.ports.slices.items()}

    @cached_property
    def energy(self) -> np.ndarray:
        """H = ½ eᵀE e, (times,)."""
        return 0.5 * np.einsum("ti,it->t", self.e, self.system.E @ self.e.T)

    @property
    def residual(self) -> np.ndarray:
        """The error of the energy balance: H − H₀ − supplied + lost, round-off only, (times,)."""
        return self.energy - self.energy[0] - self.works.sum(axis=1) + self.lost

    def energy_of(self, part: str) -> np.ndarray:
        """The energy of a part, by the name that its rows begin with, (times,)."""
        names = [name for name in self.system.rows if name == part or name.startswith(f"{part}.")]
        if not names:
            raise PortError(unknown("part", part, dict.fromkeys(name.partition(".")[0] for name in self.system.rows)))
        mine = self.system.rows.indices(names)
        others = np.setdiff1d(np.arange(self.system.rows.size), mine)
        if largest(self.system.E[mine][:, others]):
            raise InputError(f"{part!r} has no energy of its own: its rows share mass with others")
        e = self.e[:, mine]
        return 0.5 * np.einsum("ti,it->t", e, csr(self.system.E[mine][:, mine]) @ e.T)

    def velocity(self, field: str) -> np.ndarray:
        """The velocities of the points of a field, (times, points, 3)."""
        return self._field(field, self.e)

    def displacement(self, field: str) -> np.ndarray:
        """The displacements of the points of a field since the start, (times, points, 3)."""
        return self._field(field, self.way)

    def at(self, t: float) -> np.ndarray:
        """e at any time of the run, interpolated linearly between outputs (of the order of the scheme)."""
        time = number("time", t)
        if not self.t[0] <= time <= self.t[-1]:
            raise InputError(f"t = {time:g} s is outside the run, which goes from {self.t[0]:g} to {self.t[-1]:g} s")
        return _interpolated(self.t, self.e, np.array([time]))[0] if len(self) > 1 else self.e[0]

    def _field(self, field: str, rows: np.ndarray) -> np.ndarray:
        if field not in self.system.fields:
            raise PortError(unknown("field", field, self.system.fields))
        motion = self.system.fields[field].motion
        return (motion[:, : rows.shape[1]] @ rows.T).T.reshape(len(self), -1, 3)

    def __repr__(self) -> str:
        return f"LinearResult({len(self)} times from {self.t[0]:g} to {self.t[-1]:g} s of {self.system!r})"


class LinearOutputs(dict[str, Any]):
    """The outputs that a controller gets: y = Bᵀe by port name, and its integral since the start, `y["elbow.way"]`.

    A port of one component is a number.
    """

    def __init__(self, system: LinearPHDAE, e: np.ndarray, way: np.ndarray) -> None:
        for end, every in (("", system.B.T @ e), (WAY, system.B[: len(way)].T @ way)):
            values = {port: every[where] for port, where in system.ports.slices.items()}
            self |= {f"{port}{end}": value[0] if len(value) == 1 else value for port, value in values.items()}

    def __missing__(self, name: str) -> Any:
        raise PortError(unknown("output", name, self))


class Signals(Protocol):
    """Inputs over time, as vectors over the ports of a system."""

    def at(self, t: float) -> np.ndarray: ...
    def mean(self, t0: float, t1: float) -> np.ndarray: ...


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
) -> LinearResult:
    """Simulates from rows at t_0 (by name, as a vector, or rest) to t_end, in equal steps of dt or a little less.

    `output` is the number of steps from one output to the next, or the times of output (interpolated linearly). A `controller`
    f(t, y) sets inputs at the beginning of each step, or of those `every` so many seconds; they are constant in between.
    """
    require_steps(t_0, t_end, positive("dt", dt))
    steps = int(np.ceil((t_end - t_0) / dt * (1 - 1e-9)))
    times = t_0 + (t_end - t_0) / steps * np.arange(steps + 1)
    h = (t_end - t_0) / steps
    keep = _output_steps(times, output)
    e = consistent_start(system, start_rows(system, start), u.at(t_0))
    solver = MidpointSolver(system, h)
    control = _Control(system, controller, every)
    moving = system.split if system.split >= 0 else system.rows.size
    way, works, lost = np.zeros(moving), np.zeros(system.ports.size), 0.0
    last = None
    rows: list[tuple[np.ndarray, ...]] = []
    for k in range(steps + 1):
        control.update(times[k], e, way)
        now, lam, mean = control.applied(u.at(times[k])), last, e
        if k < steps:
            input_ = control.applied(u.mean(times[k], times[k + 1]))
            mean, lam = solver.mean(e, input_)
        assert lam is not None
        if k in keep:
            rows.append((e, lam if last is None else 0.5 * (last + lam), now, way, works, np.array(lost)))
        if k < steps:
            e, last = 2.0 * mean - e, lam
            way = way + h * mean[:moving]
            works = works + h * input_ * (system.B.T @ mean + system.B_lam.T @ lam)
            lost += h * float(mean @ ((system.R - system.N) @ mean))  # minus the work of nonconservative loads
    if not np.isfinite(e).all():
        raise InputError("the motion is unbounded: the energy is not definite (see system.passive)")
    return _result(system, times[sorted(keep)], rows, output)


class _Control:
    """The inputs of a controller, which replace the given ones from one sample to the next."""

    def __init__(
        self,
        system: LinearPHDAE,
        controller: Callable[[float, LinearOutputs], Mapping[str, object]] | None,
        every: float | None,
    ) -> None:
        self.system, self.controller, self.every = system, controller, every or 0.0
        self.values: dict[str, np.ndarray] = {}
        self.next = -np.inf  # the time of the next sample

    def update(self, t: float, e: np.ndarray, way: np.ndarray) -> None:
        """Calls the controller if a sample is due."""
        if self.controller is None or t < self.next - 1e-9 * self.every:
            return
        self.next = self.every + (t if self.next == -np.inf else self.next)
        answer = self.controller(t, LinearOutputs(self.system, e, way))
        for name, value in require_efforts(t, answer).items():
            shape, what = self.system.ports.shape(name), f"controller, {name!r} at t = {t:g} s"
            scalar = np.ndim(np.asarray(value, dtype=object)) == 0 and shape == (1,)
            self.values[name] = finite(what, value, () if scalar else shape).reshape(shape)

    def applied(self, u: np.ndarray) -> np.ndarray:
        """The given inputs, replaced by those of the controller."""
        out = u.copy()
        for name, value in self.values.items():
            out[self.system.ports[name]] = value
        return out


def require_efforts(t: float, answer: object) -> Mapping[str, Any]:
    """What a controller returned at t; raises InputError if it is no mapping."""
    if not isinstance(answer, Mapping):
        raise InputError(f"the controller returned {answer!r} at t = {t:g} s; it must return {{port: value}}")
    return answer


def _output_steps(times: np.ndarray, output: int | np.ndarray) -> set[int]:
    last = len(times) - 1
    if isinstance(output, int):
        return {*range(0, last + 1, output), last}
    after = np.clip(np.searchsorted(times, output - 1e-9 * (times[1] - times[0])), 0, last)
    return {*map(int, after), *map(int, np.maximum(after - 1, 0))}


def _result(
    system: LinearPHDAE, t: np.ndarray, rows: list[tuple[np.ndarray, ...]], output: int | np.ndarray
) -> LinearResult:
    values = [np.array(column) for column in zip(*rows, strict=True)]
    if not isinstance(output, int):
        t, values = output, [_interpolated(t, v, output) for v in values]
    e, lam, u, way, works, lost = values
    return LinearResult(system, t, e, lam, u, way, works, lost)


def _interpolated(t: np.ndarray, values: np.ndarray, times: np.ndarray) -> np.ndarray:
    k = np.clip(np.searchsorted(t, times) - 1, 0, len(t) - 2)
    part = np.clip((times - t[k]) / (t[k + 1] - t[k]), 0.0, 1.0).reshape(-1, *[1] * (values.ndim - 1))
    return np.asarray((1.0 - part) * values[k] + part * values[k + 1])


def start_rows(system: LinearPHDAE, start: Mapping[str, object] | np.ndarray | None) -> np.ndarray:
    """e at the start, from {row: values}, a vector or None for rest."""
    size = system.rows.size
    if start is None:
        return np.zeros(size)
    if not isinstance(start, Mapping):
        return finite("the start", start, (size,))
    e = np.zeros(size)
    for name, value in start.items():
        e[system.rows[name]] = finite(f"the start of {name}", value, system.rows.shape(name)).ravel()
    return e


def consistent_start(system: LinearPHDAE, e: np.ndarray, u: np.ndarray) -> np.ndarray:
    """e if it satisfies the joints; otherwise its projection with the least change of energy, with a warning."""
    if not system.multipliers.size:
        return e
    miss = np.abs(system.G @ e - system.B_lam @ u)
    around = np.abs(system.G) @ np.abs(e) + np.abs(system.B_lam) @ np.abs(u)
    if miss.max() <= AGREES * max(float(around.max()), 1e-300):
        return e
    worst = system.multipliers.owner(int(np.argmax(miss)))
    warnings.warn(
        f"the start violates {worst!r} by {miss.max():.3g}; the nearest start that satisfies it is used "
        "(least change of kinetic energy)",
        ProjectedStartWarning,
        stacklevel=4,
    )
    return nearest_consistent(system, e, u)
