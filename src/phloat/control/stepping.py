"""Systems moved from outside, a stretch of time at a time: inputs are held, steps are made, outputs are read.

The steps are those of `simulate` with the same inputs and dt, number for number. A stretch that dt does not divide is made of
equal steps a little shorter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np

from phloat.errors import InputError, PortError, finite, positive, unknown
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.time.march import agreed, started
from phloat.linear.time.midpoint import MidpointSolver
from phloat.motion.initial.velocities import consistent_state as velocities_agreed
from phloat.motion.initial.velocities import redundant_rows, require_closed
from phloat.motion.inputs.inputs import Inputs
from phloat.motion.inputs.signals import Constant
from phloat.motion.kernel.tables import LAM
from phloat.motion.run.kernel_run import KernelRun
from phloat.motion.run.outputs import Outputs
from phloat.motion.run.task import Task
from phloat.system.jointed import in_velocities, joint_coordinates, joint_rows
from phloat.system.state import State
from phloat.system.system import System, fits


class Moved(Protocol):
    """A system on its way. `inputs` are values to be set before `advance`; `outputs` are those at the time reached."""

    inputs: dict[str, np.ndarray]

    def begin(self, t: float) -> None: ...
    def advance(self, t: float, length: float) -> None: ...
    def outputs(self) -> dict[str, np.ndarray]: ...


class MovedSystem:
    """A nonlinear system by the midpoint rule: "elbow.effort" in, "elbow.flow" and "elbow.angle" out.

    Of a driven joint the rate is the input, "motor.flow", and "motor.effort" is what it needed over the last step.
    """

    def __init__(
        self,
        system: System,
        state: State,
        dt: float,
        *,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] = (),
    ) -> None:
        self.system, self.state, self.dt = system, fits(system, state), positive("dt", dt)
        require_closed(system, self.state)
        self.driven = {name for name, joint in system.joints.items() if joint.driven}
        self.ports = _known(system.ports, _joints_and_forces(system) if inputs is None else inputs)
        self.more = tuple(outputs)
        self.inputs = {self._signal(p, "effort", "flow"): np.zeros(system.ports.shape(p)) for p in self.ports}
        self.runner: KernelRun | None = None
        there = Outputs(system, self.state)
        self.angles = tuple(joint_coordinates(system, self.state))
        for name in self.more:
            there[name]  # an unknown name is found here

    def begin(self, t: float) -> None:
        """At the start, with the velocities that the drives have at first."""
        u = Inputs(self.system, {p: self._held(p) for p in self.ports})
        state = velocities_agreed(self.system, self.state, u.at(t))
        dropped = redundant_rows(self.system, state)
        self.runner = KernelRun(Task(self.system, state, t, np.inf, self.dt, u, dropped=dropped))

    def advance(self, t: float, length: float) -> None:
        """From t on, with the inputs held as they are."""
        if self.runner is None:
            self.begin(t)
        assert self.runner is not None
        for port in self.ports:
            self.runner.signals[port] = Constant(self._held(port))
        self.runner.go(nodes(t, length, self.dt))

    def outputs(self) -> dict[str, np.ndarray]:
        y = Outputs(self.system, self.state if self.runner is None else self.runner.state())
        out = {self._signal(p, "flow", "effort"): np.atleast_1d(y[p]) for p in self.ports if p not in self.driven}
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

    def _signal(self, port: str, free: str, driven: str) -> str:
        return f"{port}.{driven if port in self.driven else free}"

    def _held(self, port: str) -> np.ndarray:
        return self.inputs[self._signal(port, "effort", "flow")].copy()


class MovedLinear:
    """A linear system by the midpoint rule: "elbow.effort" in, "elbow.flow" and its integral "elbow.way" out.

    Of a driven port the flow is the input, and "motor.effort" is what it needed over the last step.
    """

    def __init__(
        self,
        system: LinearPHDAE,
        start: Mapping[str, object] | np.ndarray | None,
        dt: float,
        *,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] = (),
    ) -> None:
        self.system, self.dt = system, positive("dt", dt)
        self.start = started(system, start)
        self.ports = _known(system.ports, tuple(system.ports) if inputs is None else inputs)
        self.more = tuple(outputs)
        for name in self.more:
            system.rows[name]
        self.driven = {p for p, where in system.ports.slices.items() if system.B_lam[:, where].nnz}
        self.inputs = {self._signal(p, "effort", "flow"): np.zeros(system.ports.shape(p)) for p in self.ports}
        self.e, self.lam, self.way = self.start, np.zeros(system.multipliers.size), np.zeros(system.ports.size)
        self.step: MidpointSolver | None = None

    def begin(self, t: float) -> None:
        self.e = agreed(self.system, self.start, self._u())

    def advance(self, t: float, length: float) -> None:
        """From t on, with the inputs held as they are."""
        times = nodes(t, length, self.dt)
        h = length / (len(times) - 1)
        if self.step is None or abs(h - self.step.h) > 1e-9 * h:
            self.step = MidpointSolver(self.system, h)
        u = self._u()
        for _ in times[1:]:
            mean, self.lam = self.step.mean(self.e, u)
            self.e = 2.0 * mean - self.e
            self.way = self.way + self.step.h * (self.system.B.T @ mean)

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

    def _signal(self, port: str, free: str, driven: str) -> str:
        return f"{port}.{driven if port in self.driven else free}"

    def _u(self) -> np.ndarray:
        u = np.zeros(self.system.ports.size)
        for port in self.ports:
            u[self.system.ports[port]] = self.inputs[self._signal(port, "effort", "flow")].ravel()
        return u


def moved(
    system: System | LinearPHDAE,
    state: State | Mapping[str, object] | np.ndarray | None,
    dt: float,
    *,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] = (),
) -> Moved:
    """A system that is moved from outside."""
    if isinstance(system, LinearPHDAE):
        if isinstance(state, State):
            raise InputError(
                "a linear system starts from rows: {name: values}, a vector, or None for rest; not from a State"
            )
        return MovedLinear(system, state, dt, inputs=inputs, outputs=outputs)
    return MovedSystem(system, fits(system, state), dt, inputs=inputs, outputs=outputs)


def nodes(t: float, length: float, dt: float) -> np.ndarray:
    """Where the steps of a stretch begin and end: of dt, or a little less where dt does not divide it."""
    stretch = float(finite("the stretch of time", length, ()))
    if not stretch > 0.0:
        raise InputError(f"the stretch of time is {stretch:g} s; it must be positive")
    steps = max(1, int(np.ceil(stretch / dt * (1 - 1e-9))))
    return t + stretch / steps * np.arange(steps + 1)


def _known(ports: Iterable[str], names: Sequence[str]) -> tuple[str, ...]:
    listed = (names,) if isinstance(names, str) else tuple(names)
    for name in listed:
        if name not in ports:
            raise PortError(unknown("port", name, ports))
    if len(set(listed)) < len(listed):
        raise InputError(f"a port stands twice in {listed}")
    return listed


def _joints_and_forces(system: System) -> tuple[str, ...]:
    """The axes of joints, the drives, the forces and torques; every body port where there are none."""
    own = tuple(p for p in system.ports if p in system.joints or p in system.actuators)
    return own or tuple(system.ports)
