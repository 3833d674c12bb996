"""The time loop of linear systems: steps of one scheme, outputs for controllers and events, and output rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from phloat.algebra.sparse import csr
from phloat.errors import InputError, PortError, ProjectedStartWarning, finite, unknown
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.time.gauss import nearest_consistent
from phloat.linear.time.step import LinearScheme, LinearSolver, LinearStep, PortOutputs, Signals, lagrange_values

WAY = ".way"  # suffix of the integral of an output
CLOSED = 1e-9  # violation of joints that is round-off, relative to the velocities
SAME = 1e-9  # of a step: times that count as one
SINGULAR = 1e12  # condition number from which rows without energy do not follow from the others
INSTANT = 16 * np.finfo(float).eps  # of a time or a step: round-off


class LinearOutputs(dict[str, Any]):
    """What controllers and events receive: y by port name, its integral since the start, `y["elbow.way"]`, and rows by name.

    The value is a float for a port with one component, otherwise an array. A feedthrough acts with the inputs just before; of a
    driven port, whose output is an effort, the values are zero.
    """

    def __init__(self, system: LinearPHDAE, e: np.ndarray, y: np.ndarray, way: np.ndarray) -> None:
        self.system, self.e = system, e
        for suffix, values_of_all in (("", y), (WAY, way)):
            values = {port: values_of_all[columns] for port, columns in system.ports.slices.items()}
            self |= {f"{port}{suffix}": value[0] if len(value) == 1 else value for port, value in values.items()}

    def __missing__(self, name: str) -> Any:
        if name in self.system.rows:
            return self.system.rows.of(self.e, name)
        raise PortError(unknown("output", name, self))


class ControlledInputs:
    """The inputs of a run; those that a controller has set replace the others until its next sample."""

    def __init__(
        self,
        system: LinearPHDAE,
        signals: Signals,
        controller: Callable[[float, LinearOutputs], Mapping[str, object]] | None,
        every: float | None,
    ) -> None:
        self.system, self.signals, self.controller, self.every = system, signals, controller, every or 0.0
        self.values: dict[str, np.ndarray] = {}
        self.next = -np.inf  # the time of the next sample

    def update(self, t: float, outputs: Callable[[], LinearOutputs]) -> None:
        """Calls the controller with its outputs if a sample is due."""
        if self.controller is None or t < self.next - 1e-9 * self.every:
            return
        self.next = self.every + (t if self.next == -np.inf else self.next)
        efforts = self.controller(t, outputs())
        for name, value in require_efforts(t, efforts).items():
            shape, label = self.system.ports.shape(name), f"controller, {name!r} at t = {t:g} s"
            scalar = np.ndim(np.asarray(value, dtype=object)) == 0 and shape == (1,)
            self.values[name] = finite(label, value, () if scalar else shape).reshape(shape)

    def at(self, t: float) -> np.ndarray:
        """u(t), (inputs,)."""
        return self._replaced(self.signals.at(t))

    def mean(self, t0: float, t1: float) -> np.ndarray:
        """The mean of u from t0 to t1, (inputs,)."""
        return self._replaced(self.signals.mean(t0, t1))

    def _replaced(self, u: np.ndarray) -> np.ndarray:
        out = u.copy()
        for name, value in self.values.items():
            out[self.system.ports[name]] = value
        return out


@dataclass(frozen=True, eq=False)
class OutputRow:
    """An output row: `way`, `port_way`, `works` and `lost` are integrals up to t; `added` is the energy that events have added."""

    t: float
    e: np.ndarray
    way: np.ndarray
    port_way: np.ndarray
    works: np.ndarray
    lost: float = 0.0
    added: float = 0.0
    u: np.ndarray | None = None  # known when the next step begins
    lam: np.ndarray | None = None  # known when the next step has ended


class LinearRun:
    """Steps between equal nodes, cut at events. The search of events takes it as stepper, run and task."""

    def __init__(
        self,
        system: LinearPHDAE,
        scheme: LinearScheme,
        inputs: ControlledInputs,
        e: np.ndarray,
        nodes: np.ndarray,
        *,
        saved: set[int],
        output_times: np.ndarray,
        events: Sequence[Any] = (),
        result: Callable[[LinearRun], Any],
    ) -> None:
        self.system, self.scheme, self.inputs, self.nodes, self.saved = system, scheme, inputs, nodes, saved
        self.run = self.task = self
        self.result = lambda: result(self)
        self.t_0, self.t_end = float(nodes[0]), float(nodes[-1])
        self.whole_length = (self.t_end - self.t_0) / (len(nodes) - 1)
        self.events, self.output_times = events, list(output_times)
        moving = system.split if system.split >= 0 else system.rows.size
        self.ports, (self.loose, self.settled) = PortOutputs(system), massless_rows(system)
        none = np.zeros(system.ports.size)
        self.now = self.begin = self._settled(OutputRow(self.t_0, e, np.zeros(moving), none, none), inputs.at(self.t_0))
        self.u_joints = inputs.at(nodes[0])  # the velocities that driven joints have now
        self.past: list[Any] = []
        self.changes: list[tuple[float, int, float]] = []  # time, number of the event, its change of H
        self.rows: list[OutputRow] = []
        self.dense: list[OutputRow] = []  # at the times of output
        self.node = 0  # at which the current step ends
        self.step: LinearStep | None = None  # the current one, which an event may cut
        self.whole: LinearStep | None = None  # the current one without cuts
        self.previous: LinearStep | None = None
        self.solvers: dict[float, LinearSolver] = {}
        self._save_row(0 in saved)

    # --- steps -------------------------------------------------------------------------------------------------------

    @property
    def t(self) -> float:
        return self.now.t

    @property
    def start(self) -> float:
        return self.begin.t

    def solver(self, h: float) -> LinearSolver:
        """The factors of a step length; those of whole steps are retained, and those of the last other length."""
        whole = self.whole_length
        h = whole if abs(h - whole) < SAME * whole else h
        if h not in self.solvers:
            self.solvers = {length: solver for length, solver in self.solvers.items() if length == whole}
            self.solvers[h] = self.scheme.solver(self.system, h)
        return self.solvers[h]

    def advance(self) -> bool:
        """Takes the step to the next node; False at the end."""
        self.node = int(np.searchsorted(self.nodes, self.t + SAME * self.whole_length))
        if self.node == len(self.nodes):
            return False
        self._complete_inputs()
        self.begin, self.whole = self.now, None
        self.move_to(float(self.nodes[self.node]))
        self.whole = self.step
        return True

    def move_to(self, time: float) -> None:
        """Ends the current step at a time within it; at its start there is no step."""
        begin, at_node = self.begin, self.whole is not None and time == self.nodes[self.node]
        if time - begin.t <= INSTANT * max(abs(time), self.nodes[1] - self.nodes[0]):
            self.step, self.now = None, begin
            return
        step = self.whole if at_node else self.solver(time - begin.t).step(begin.e, self.inputs, begin.t, self.u_joints)
        assert step is not None
        self.step, self.now = step, replace(self._within(step, 1.0), t=time)

    def _within(self, step: LinearStep, x: float) -> OutputRow:
        """The row at a fraction of a step."""
        begin = self.begin
        return OutputRow(
            t=begin.t + x * step.h,
            e=self._e_at(step, x),
            way=begin.way + step.integral(step.e[:, : len(begin.way)], x),
            port_way=begin.port_way + step.integral(step.flows, x),
            works=begin.works + step.integral(step.powers, x),
            lost=begin.lost + float(step.integral(step.losses, x)),
            added=begin.added,
        )

    def _e_at(self, step: LinearStep, x: float) -> np.ndarray:
        """e at a fraction of a step; rows without energy by the polynomial through the stages, as the start does not matter."""
        e = step.e_at(x)
        if len(self.loose):
            e = e.copy()
            e[self.loose] = lagrange_values(step.nodes, x) @ step.e[:, self.loose]
        return e

    def accept(self) -> None:
        """Accepts the step: completes the rows before, and saves those that are due."""
        if (step := self.step) is None:
            return
        near = [self.previous, step]
        self._complete(near)
        self.previous, self.u_joints = step, step.u_end
        while self.output_times and self.output_times[0] <= self.t + SAME * step.h:
            x = (self.output_times[0] - self.begin.t) / step.h
            at_end, time = abs(x - 1.0) < SAME, self.output_times.pop(0)
            row = replace(self._within(step, 1.0 if at_end else x), t=time)
            self.dense.append(row if at_end else self._with_inputs(row))
            if x < 0.5:
                self._complete(near)
        self._save_row(self.t == self.nodes[self.node] and self.node in self.saved)

    def _save_row(self, due: bool) -> None:
        if due:
            self.rows.append(self.now)
        if not self.dense and self.output_times and self.output_times[0] <= self.t_0:
            self.dense.append(self.now)
            self.output_times.pop(0)

    def _complete_inputs(self) -> None:
        """Sets u of the rows at the current time, once the controller has been called."""
        for rows in (self.rows, self.dense):
            k = len(rows)
            while k and rows[k - 1].u is None:
                k -= 1
                rows[k] = self._with_inputs(rows[k])

    def _with_inputs(self, row: OutputRow) -> OutputRow:
        """The row with the inputs at its time."""
        u = self.inputs.at(row.t)
        return replace(self._settled(row, u), u=u)

    def _complete(self, steps: Sequence[LinearStep | None]) -> None:
        """Sets λ, and rows that follow from λ, of the last rows by the polynomial through the stages of the steps around them."""
        near = [step for step in steps if step is not None]
        for rows in (self.rows, self.dense):
            k = len(rows)
            while near and k and rows[k - 1].lam is None:
                k -= 1
                weights = lagrange_values(np.concatenate([step.times for step in near]), rows[k].t)
                e = rows[k].e.copy()
                e[self.loose] = weights @ np.vstack([step.e[:, self.loose] for step in near])
                rows[k] = replace(rows[k], e=e, lam=weights @ np.vstack([step.lam for step in near]))

    # --- events ------------------------------------------------------------------------------------------------------

    def outputs(self) -> LinearOutputs:
        return self._outputs(self.now)

    def interpolate(self, x: float) -> LinearOutputs:
        assert self.whole is not None
        return self._outputs(self._within(self.whole, x))

    def _outputs(self, row: OutputRow) -> LinearOutputs:
        """The outputs of a row. Inputs matter to a feedthrough and to rows without energy only."""
        u = np.zeros(self.system.ports.size)
        if self.ports.feedthrough is not None or self.settled is not None:
            u = self.inputs.at(row.t)
        e = self._settled(row, u).e
        return LinearOutputs(self.system, e, self.ports.of_rows(e, u), row.port_way)

    def _settled(self, row: OutputRow, u: np.ndarray) -> OutputRow:
        """The row with its massless rows as inputs and the others determine them."""
        return row if self.settled is None else replace(row, e=self.settled(row.e, u))

    def look_ahead(self, h: float) -> Callable[[float], tuple[float, LinearOutputs]]:
        """Outputs within a trial step of length h from the current state."""
        step, now = self.solver(h).step(self.now.e, self.inputs, self.t, self.u_joints), self.now

        def dense(x: float) -> tuple[float, LinearOutputs]:
            port_way = now.port_way + step.integral(step.flows, x)
            row = replace(now, t=now.t + x * h, e=self._e_at(step, x), port_way=port_way)
            return row.t, self._outputs(row)

        return dense

    def state(self) -> np.ndarray:
        return self.now.e.copy()

    def change(self, before: np.ndarray, after: object) -> tuple[np.ndarray, float]:
        """The rows after an event, from a vector or {name of rows: values}, consistent with the joints, and the change of H."""
        e = start_rows(self.system, after, before) if isinstance(after, Mapping) else start_rows(self.system, after)
        e = consistent_start(self.system, e, self.inputs.at(self.t))
        return e, self.system.energy(e) - self.system.energy(before)

    def write_row(self) -> None:
        """Saves the current row, unless that has been done."""
        if not self.rows or self.rows[-1].t != self.t:
            self.rows.append(self.now)

    def restart(self, e: np.ndarray | None = None) -> None:
        """Goes on after a jump of the inputs, or from other rows."""
        self._complete([self.previous])
        self.previous = None
        if e is not None:
            added = self.now.added + self.changes[-1][2]
            self.now, self.u_joints = replace(self.now, e=e, added=added), self.inputs.at(self.t)

    def finish(self) -> None:
        """Completes the last row; λ is zero if there was no step."""
        self._complete_inputs()
        self._complete([self.previous])
        for rows in (self.rows, self.dense):
            if rows and rows[-1].lam is None:
                rows[-1] = replace(rows[-1], lam=np.zeros(self.system.multipliers.size))


def massless_rows(system: LinearPHDAE) -> tuple[np.ndarray, Callable[[np.ndarray, np.ndarray], np.ndarray] | None]:
    """The function (e, u) ↦ e with the rows a without energy from 0 = F_ax e + F_aa e_a + (B_a − P_a) u, F = J − R.

    A step determines their means only. If F_aa is singular they follow from rates, like λ; the first value has their indices, and
    the function is None, as it is without such rows. Rows in joints stay as they are.
    """
    rows = np.flatnonzero((np.diff(system.E.indptr) == 0) & (np.diff(system.G.tocsc().indptr) == 0))
    F, rest = csr(system.dynamics[rows]), np.setdiff1d(np.arange(system.rows.size), rows)
    if not len(rows) or np.linalg.cond(F_aa := F[:, rows].toarray()) > SINGULAR:
        return rows, None
    by_e, by_u = (-np.linalg.solve(F_aa, a.toarray()) for a in (F[:, rest], system.input_map[rows]))

    def settled(e: np.ndarray, u: np.ndarray) -> np.ndarray:
        out = e.copy()
        out[rows] = by_e @ e[rest] + by_u @ u
        return out

    return rows[:0], settled


def require_efforts(t: float, returned: object) -> Mapping[str, Any]:
    """The mapping {port: value} returned by a controller at time t (s). Raises InputError if it is not a mapping."""
    if not isinstance(returned, Mapping):
        raise InputError(f"the controller returned {returned!r} at t = {t:g} s; it must return {{port: value}}")
    return returned


def start_rows(system: LinearPHDAE, start: object, others: np.ndarray | None = None) -> np.ndarray:
    """e at the start, (rows,), from {name of rows: values}, a vector, or None for rest; other rows are `others` or zero."""
    size = system.rows.size
    if start is None:
        return np.zeros(size)
    if not isinstance(start, Mapping):
        return finite("the start", start, (size,))
    e = np.zeros(size) if others is None else others.copy()
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
