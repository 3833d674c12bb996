"""Systems that another program moves: it sets inputs, advances the time, and reads outputs.

The steps are those of `simulate` with the same constant inputs and dt, number for number. An interval that is no multiple of dt is
divided into equal steps that are a little shorter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from phloat.algebra.layout import Layout
from phloat.errors import InputError, PortError, positive, unknown
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.time.march import consistent_start, start_rows
from phloat.linear.time.midpoint import MidpointSolver
from phloat.motion.initial.velocities import consistent_state, redundant_rows, require_closed
from phloat.motion.inputs.inputs import Inputs
from phloat.motion.inputs.signals import Constant
from phloat.motion.kernel.tables import LAM
from phloat.motion.run.kernel_run import KernelRun
from phloat.motion.run.outputs import Outputs
from phloat.motion.run.task import Task
from phloat.system.joint_rows import in_velocities, joint_coordinates, joint_rows
from phloat.system.state import State
from phloat.system.system import System, fits


class ExternalStepper:
    """A system in motion. `inputs` are set before `advance`; `outputs()` are those at the time reached.

    "elbow.effort" is an input and "elbow.flow" an output; for a driven joint the flow is the input, and "motor.effort" is the
    effort that it needed in the last step.
    """

    def __init__(
        self, layout: Layout, dt: float, ports: Sequence[str], driven: Iterable[str], outputs: Sequence[str]
    ) -> None:
        self.dt, self.driven, self.more = positive("dt", dt), set(driven), tuple(outputs)
        self.ports = _known(layout, ports)
        self.inputs = {self._input(p): np.zeros(layout.shape(p)) for p in self.ports}

    def _input(self, port: str) -> str:
        return f"{port}.{'flow' if port in self.driven else 'effort'}"

    def begin(self, t: float) -> None:
        """Sets the state at the start, with velocities that agree with the inputs."""
        raise NotImplementedError

    def advance(self, t: float, length: float) -> None:
        """Makes the steps from t to t + length with constant inputs."""
        raise NotImplementedError

    def outputs(self) -> dict[str, np.ndarray]:
        """Flows, positions, efforts of driven ports, and the other quantities named."""
        raise NotImplementedError


class SystemStepper(ExternalStepper):
    """A nonlinear system by the midpoint rule; joint coordinates ("elbow.angle") are outputs."""

    def __init__(
        self, system: System, state: State, dt: float, inputs: Sequence[str] | None, outputs: Sequence[str]
    ) -> None:
        driven = [name for name, joint in system.joints.items() if joint.driven]
        super().__init__(system.ports, dt, _joints_and_forces(system) if inputs is None else inputs, driven, outputs)
        self.system, self.state = system, fits(system, state)
        require_closed(system, self.state)
        self.runner: KernelRun | None = None
        self.angles = tuple(joint_coordinates(system, self.state))
        known = Outputs(system, self.state)
        for name in self.more:
            known[name]  # raises PortError for an unknown name

    def begin(self, t: float) -> None:
        u = Inputs(self.system, {p: self.inputs[self._input(p)].copy() for p in self.ports})
        state = consistent_state(self.system, self.state, u.at(t))
        dropped = redundant_rows(self.system, state)
        self.runner = KernelRun(Task(self.system, state, t, np.inf, self.dt, u, dropped=dropped))

    def advance(self, t: float, length: float) -> None:
        if self.runner is None:
            self.begin(t)
        assert self.runner is not None
        for port in self.ports:
            self.runner.signals[port] = Constant(self.inputs[self._input(port)].copy())
        self.runner.go(nodes(t, length, self.dt))

    def outputs(self) -> dict[str, np.ndarray]:
        y = Outputs(self.system, self.state if self.runner is None else self.runner.state())
        out = {f"{p}.flow": np.atleast_1d(y[p]) for p in self.ports if p not in self.driven}
        out |= {f"{p}.effort": effort for p, effort in self._efforts(y.state).items()}
        return out | {name: np.ravel(y[name]) for name in (*self.angles, *self.more)}

    def _efforts(self, state: State) -> dict[str, np.ndarray]:
        """B_λᵀλ of the driven ports, λ that of the last step."""
        driven = [p for p in self.ports if p in self.driven]
        if not driven:
            return {}
        lam = np.zeros(self.system.multipliers.size)
        if self.runner is not None:
            p = self.runner.packed
            lam = p.w[p.model.where[LAM] :][: len(lam)]
        y = joint_rows(self.system, state, in_velocities(self.system))[1].T @ lam
        return {p: y[self.system.ports[p]] for p in driven}


class LinearStepper(ExternalStepper):
    """A linear system by the midpoint rule; the integral of a flow ("elbow.way") is an output."""

    def __init__(
        self,
        system: LinearPHDAE,
        start: Mapping[str, object] | np.ndarray | None,
        dt: float,
        inputs: Sequence[str] | None,
        outputs: Sequence[str],
    ) -> None:
        super().__init__(system.ports, dt, tuple(system.ports) if inputs is None else inputs, system.driven(), outputs)
        self.system = system
        system.rows.indices(self.more)  # raises PortError for an unknown name
        self.e = self.start = start_rows(system, start)
        self.lam, self.way = np.zeros(system.multipliers.size), np.zeros(system.ports.size)
        self.solver: MidpointSolver | None = None

    def begin(self, t: float) -> None:
        self.e = consistent_start(self.system, self.start, self._u())

    def advance(self, t: float, length: float) -> None:
        times = nodes(t, length, self.dt)
        h = length / (len(times) - 1)
        if self.solver is None or abs(h - self.solver.h) > 1e-9 * h:
            self.solver = MidpointSolver(self.system, h)
        u = self._u()
        for _ in times[1:]:
            mean, self.lam = self.solver.mean(self.e, u)
            self.e = 2.0 * mean - self.e
            self.way = self.way + self.solver.h * (self.system.B.T @ mean)

    def outputs(self) -> dict[str, np.ndarray]:
        flow, effort = self.system.B.T @ self.e, self.system.B_lam.T @ self.lam
        out: dict[str, np.ndarray] = {}
        for port in self.ports:
            where = self.system.ports[port]
            if port in self.driven:
                out[f"{port}.effort"] = (flow + effort)[where]
            else:
                out |= {f"{port}.flow": flow[where], f"{port}.way": self.way[where]}
        return out | {name: self.e[self.system.rows[name]] for name in self.more}

    def _u(self) -> np.ndarray:
        u = np.zeros(self.system.ports.size)
        for port in self.ports:
            u[self.system.ports[port]] = self.inputs[self._input(port)].ravel()
        return u


def stepper(
    system: System | LinearPHDAE,
    state: State | Mapping[str, object] | np.ndarray | None,
    dt: float,
    *,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] = (),
) -> SystemStepper | LinearStepper:
    """A system from a state on, to be advanced by another program."""
    if not isinstance(system, LinearPHDAE):
        return SystemStepper(system, fits(system, state), dt, inputs, outputs)
    if isinstance(state, State):
        raise InputError("a linear system starts from {row: values}, a vector, or None for rest; not from a State")
    return LinearStepper(system, state, dt, inputs, outputs)


def nodes(t: float, length: float, dt: float) -> np.ndarray:
    """The ends of the steps of an interval: steps of dt, or a little shorter if dt does not divide it."""
    interval = positive("the length of time", length)
    steps = max(1, int(np.ceil(interval / dt * (1 - 1e-9))))
    return t + interval / steps * np.arange(steps + 1)


def _known(ports: Iterable[str], names: Sequence[str]) -> tuple[str, ...]:
    names = (names,) if isinstance(names, str) else tuple(names)
    for name in names:
        if name not in ports:
            raise PortError(unknown("port", name, ports))
    if len(set(names)) < len(names):
        raise InputError(f"a port is repeated in {names}")
    return names


def _joints_and_forces(system: System) -> tuple[str, ...]:
    """The axes of joints, the drives, the forces and torques; every body port if there are none."""
    return tuple(p for p in system.ports if p in system.joints or p in system.actuators) or tuple(system.ports)
