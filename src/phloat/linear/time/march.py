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
from phloat.linear.time.midpoint import MidpointSolver, massless_rows, nearest_consistent

WAY = ".way"  # suffix of the integral of an output
CLOSED = 1e-9  # violation of joints that is round-off, relative to the velocities


@dataclass(frozen=True, eq=False)
class LinearResult:
    """A motion of a linear system: `result["rod.v_P"]`, `result["tie.lam"]` and `result.y["push"]`, each with time first.

    `e` is (times, rows), `lam` (times, multipliers) the mean of the steps before and after, `u` (times, inputs), and `way`
    (times, velocities) the sum of the steps of ∫ v dt. `works` (times, inputs) is the work of each input and `lost` (times,) the
    dissipated energy: at the ends of steps energy − energy[0] = Σ works − lost up to round-off. `info["deformation"]` is the
    largest rotation of each field.
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
        names = [*self.system.rows, *(f"{name}.lam" for name in self.system.multipliers)]
        raise PortError(unknown("quantity", name, names))

    @cached_property
    def y(self) -> dict[str, np.ndarray]:
        """The outputs of the ports by name, y = (B + P)ᵀe + B_λᵀλ + (S + N) u, each (times, components)."""
        outputs = self.system.output(self.e.T, self.lam.T, self.u.T).T
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
        """The error of the energy balance: H − H₀ − supplied + lost, round-off only, (times,)."""
        return self.energy - self.energy[0] - self.works.sum(axis=1) + self.lost

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
        """e at a time of the run, interpolated linearly between outputs (of the order of the scheme), (rows,)."""
        time = number("time", t)
        if not self.t[0] <= time <= self.t[-1]:
            raise InputError(f"t = {time:g} s is outside the run, which goes from {self.t[0]:g} to {self.t[-1]:g} s")
        return _interpolate(self.t, self.e, np.array([time]))[0] if len(self) > 1 else self.e[0]

    def _field(self, field: str, rows: np.ndarray) -> np.ndarray:
        """The field applied to velocities or to their integrals, (times, points, 3)."""
        if field not in self.system.fields:
            raise PortError(unknown("field", field, self.system.fields))
        motion = self.system.fields[field].motion
        return (motion[:, : rows.shape[1]] @ rows.T).T.reshape(len(self), -1, 3)

    def __repr__(self) -> str:
        return f"LinearResult({len(self)} times from {self.t[0]:g} to {self.t[-1]:g} s of {self.system!r})"


class LinearOutputs(dict[str, Any]):
    """The outputs that a controller gets: y by port name, and its integral since the start, `y["elbow.way"]`.

    The value is a float for a port with one component, otherwise an array. A feedthrough acts with the inputs just before; of a
    driven port, whose output is an effort, the values are zero.
    """

    def __init__(self, system: LinearPHDAE, e: np.ndarray, way: np.ndarray, u: np.ndarray) -> None:
        for suffix, values_of_all in (("", flows(system, e, u)), (WAY, way)):
            values = {port: values_of_all[columns] for port, columns in system.ports.slices.items()}
            self |= {f"{port}{suffix}": value[0] if len(value) == 1 else value for port, value in values.items()}

    def __missing__(self, name: str) -> Any:
        raise PortError(unknown("output", name, self))


def flows(system: LinearPHDAE, e: np.ndarray, u: np.ndarray) -> np.ndarray:
    """y without the efforts of driven ports, (inputs,)."""
    return system.output(e, np.zeros(system.multipliers.size), u)


class Signals(Protocol):
    """Inputs as functions of time: u(t) and its mean from t0 to t1, vectors over the ports of a system."""

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
    f(t, y) returns inputs at the beginning of each step, or at most `every` so many seconds; they are constant until the next call.
    """
    require_steps(t_0, t_end, positive("dt", dt))
    steps = int(np.ceil((t_end - t_0) / dt * (1 - 1e-9)))
    times = t_0 + (t_end - t_0) / steps * np.arange(steps + 1)
    h = (t_end - t_0) / steps
    output_steps = _output_steps(times, output)
    e = consistent_start(system, start_rows(system, start), u.at(t_0))
    solver, settled = MidpointSolver(system, h), massless_rows(system)
    controlled = _Controller(system, controller, every)
    moving = system.split if system.split >= 0 else system.rows.size
    way, works, loss = np.zeros(moving), np.zeros(system.ports.size), 0.0
    port_way = works
    lam_before = None
    rows: list[tuple[np.ndarray, ...]] = []
    for k in range(steps + 1):
        e = settled(e, controlled.replace_inputs(u.at(times[k])))
        controlled.update(times[k], e, port_way, u.at(times[k]))
        u_k, lam, mean = controlled.replace_inputs(u.at(times[k])), lam_before, e
        e = settled(e, u_k)
        if k < steps:
            u_mean = controlled.replace_inputs(u.mean(times[k], times[k + 1]))
            mean, lam = solver.mean(e, u_mean)
        assert lam is not None
        if k in output_steps:
            rows.append((e, lam if lam_before is None else 0.5 * (lam_before + lam), u_k, way, works, np.array(loss)))
        if k < steps:
            e, lam_before = 2.0 * mean - e, lam
            way, port_way = way + h * mean[:moving], port_way + h * flows(system, mean, u_mean)
            works = works + h * u_mean * system.output(mean, lam, u_mean)
            loss += h * system.loss(mean, u_mean)
    if not np.isfinite(e).all():
        raise InputError("the motion is unbounded: the energy is not definite (see system.passive)")
    return _result(system, times[sorted(output_steps)], rows, output)


class _Controller:
    """A controller and its last inputs, which replace those of the simulation until the next sample."""

    def __init__(
        self,
        system: LinearPHDAE,
        controller: Callable[[float, LinearOutputs], Mapping[str, object]] | None,
        every: float | None,
    ) -> None:
        self.system, self.controller, self.every = system, controller, every or 0.0
        self.values: dict[str, np.ndarray] = {}
        self.next = -np.inf  # the time of the next sample

    def update(self, t: float, e: np.ndarray, way: np.ndarray, u: np.ndarray) -> None:
        """Calls the controller if a sample is due."""
        if self.controller is None or t < self.next - 1e-9 * self.every:
            return
        self.next = self.every + (t if self.next == -np.inf else self.next)
        efforts = self.controller(t, LinearOutputs(self.system, e, way, self.replace_inputs(u)))
        for name, value in require_efforts(t, efforts).items():
            shape, label = self.system.ports.shape(name), f"controller, {name!r} at t = {t:g} s"
            scalar = np.ndim(np.asarray(value, dtype=object)) == 0 and shape == (1,)
            self.values[name] = finite(label, value, () if scalar else shape).reshape(shape)

    def replace_inputs(self, u: np.ndarray) -> np.ndarray:
        """u with the inputs that the controller has set, (inputs,)."""
        out = u.copy()
        for name, value in self.values.items():
            out[self.system.ports[name]] = value
        return out


def require_efforts(t: float, returned: object) -> Mapping[str, Any]:
    """The mapping {port: value} returned by a controller at time t (s). Raises InputError if it is not a mapping."""
    if not isinstance(returned, Mapping):
        raise InputError(f"the controller returned {returned!r} at t = {t:g} s; it must return {{port: value}}")
    return returned


def _output_steps(times: np.ndarray, output: int | np.ndarray) -> set[int]:
    """Indices of the steps to save: every `output` steps, or the two steps around each time of output."""
    last = len(times) - 1
    if isinstance(output, int):
        return {*range(0, last + 1, output), last}
    next_step = np.clip(np.searchsorted(times, output - 1e-9 * (times[1] - times[0])), 0, last)
    return {*map(int, next_step), *map(int, np.maximum(next_step - 1, 0))}


def _result(
    system: LinearPHDAE, t: np.ndarray, rows: list[tuple[np.ndarray, ...]], output: int | np.ndarray
) -> LinearResult:
    """The result from the rows at the steps `t`, interpolated at the times of output if these are given."""
    values = [np.array(column) for column in zip(*rows, strict=True)]
    if not isinstance(output, int):
        t, values = output, [_interpolate(t, v, output) for v in values]
    e, lam, u, way, works, dissipated = values
    return LinearResult(system, t, e, lam, u, way, works, dissipated)


def _interpolate(t: np.ndarray, values: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Linear interpolation of values (times, …) at other times."""
    k = np.clip(np.searchsorted(t, times) - 1, 0, len(t) - 2)
    fraction = np.clip((times - t[k]) / (t[k + 1] - t[k]), 0.0, 1.0).reshape(-1, *[1] * (values.ndim - 1))
    return np.asarray((1.0 - fraction) * values[k] + fraction * values[k + 1])


def start_rows(system: LinearPHDAE, start: Mapping[str, object] | np.ndarray | None) -> np.ndarray:
    """e at the start, (rows,), from {name of rows: values}, a vector, or None for rest."""
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
    """e if it satisfies the joints; otherwise the nearest consistent state in the norm of the energy, with a warning."""
    if not system.multipliers.size:
        return e
    violation = np.abs(system.G @ e - system.B_lam @ u)
    terms = np.abs(system.G) @ np.abs(e) + np.abs(system.B_lam) @ np.abs(u)
    if violation.max() <= CLOSED * max(float(terms.max()), 1e-300):
        return e
    joint = system.multipliers.owner(int(np.argmax(violation)))
    warnings.warn(
        f"the start violates {joint!r} by {violation.max():.3g}; the nearest start that satisfies it is used "
        "(least change of kinetic energy)",
        ProjectedStartWarning,
        stacklevel=4,
    )
    return nearest_consistent(system, e, u)
