"""Output feedback: a regulator that acts on the states estimated by an observer (LQG, or any pair of both)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.linalg as la

from phloat.algebra.threads import one_thread
from phloat.control.coupling import MidpointStep, Model, port_change, port_numbers, port_position, with_dampers
from phloat.control.optimal import DesignModel, Observer, Regulator
from phloat.errors import AccuracyError, InputError
from phloat.linear.form.phdae import LinearPHDAE
from phloat.system.system import System


@dataclass(frozen=True, eq=False)
class Feedback:
    """u = bias − K x̂,   x̂' = A x̂ + B u + L (m − C x̂), with m the rates and the positions minus `target` of ports.

    The plant must be linearised at the target. A nonlinear plant has positions; a linear one starts at `origin`.
    """

    regulator: Regulator
    observer: Observer
    target: Mapping[str, float] = field(default_factory=dict)
    origin: Mapping[str, float] = field(default_factory=dict)
    bias: Mapping[str, float] = field(default_factory=dict)

    @property
    def ports(self) -> tuple[str, ...]:
        """The ports of the plant on which it acts."""
        return self.regulator.ports

    @property
    def matrices(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(A, B, C) of the controller x̂' = A x̂ + B m, u = C x̂."""
        K, L, C = self.regulator.K, self.observer.L, self.observer.C
        design = self.regulator.design
        return design.A - design.inputs(self.ports) @ K - L @ C, L, -K

    def fastest(self, model: Model) -> float:
        """The highest frequency of the design model, rad/s."""
        return self.regulator.design.fastest

    def start_run(self, model: Model, dt: float | None) -> tuple[Model, Callable[[float, Any], Mapping[str, object]]]:
        """The plant with dampers, and the controller f(t, y) that makes its midpoint steps together with the plant.

        The response of an effort to the flow of its own port within a step is the damper; the rest is constant in the step.
        """
        if dt is None:
            raise InputError("this controller has states: give dt, or wrap it as Sampled(controller, every=…)")
        measured = Measurements(self, model, dt)
        A, B, C = self.matrices
        step, by_flow, bias = MidpointStep(np.eye(len(A)), A, B, C, dt), measured.flow_factor, self._bias(model)
        local = np.array([[port == flow for flow in measured.flows] for port in self.ports], dtype=float)
        Z, x = np.maximum(-((step.impedance @ by_flow) * local).sum(axis=1), 0.0), np.zeros(0)

        def function(t: float, y: Any) -> dict[str, object]:
            nonlocal x
            first, mean = measured.update(y)
            x = self._first_estimate(mean) if first else step.after(x, mean)
            # the flow of the next step is estimated by the last one, except in the dampers Z
            mean = measured.constant_part + by_flow @ measured.flow
            effort = bias + step.out_by_state @ x + step.impedance @ mean + Z * (local @ measured.flow)
            return dict(zip(self.ports, effort.tolist(), strict=True))

        return with_dampers("feedback", model, self.ports, np.diag(Z)) if Z.any() else model, function

    def sampled(self, model: Model, every: float) -> Callable[[float, Any, Mapping[str, float]], dict[str, float]]:
        """The sampled controller f(t, y, mean efforts since the last sample) → efforts.

        The estimate is exact for constant efforts. The efforts are the mean of u = −K x̂ over the next sample time, as the model
        predicts it, so that the hold causes no phase lag.
        """
        design, observer = self.regulator.design, self.observer
        inner = design.A - observer.L @ observer.C
        inputs = np.hstack([observer.L, design.inputs(self.ports)])
        n, m = inputs.shape
        exponential = la.expm(every * np.block([[inner, inputs], [np.zeros((m, n + m))]]))
        transition, input_matrix = exponential[:n, :n], exponential[:n, n:]
        K = self.regulator.K @ _mean(design.A - design.inputs(self.ports) @ self.regulator.K, every)
        estimate, measurements, bias = np.zeros(n), Measurements(self, model, every), self._bias(model)

        def function(t: float, y: Any, applied: Mapping[str, float]) -> dict[str, float]:
            nonlocal estimate
            first, mean = measurements.update(y)
            if first:
                estimate = self._first_estimate(mean)
            else:
                efforts = np.array([applied[port] for port in self.ports]) - bias
                estimate = transition @ estimate + input_matrix @ np.concatenate([mean, efforts])
            return dict(zip(self.ports, (bias - K @ estimate).tolist(), strict=True))

        return function

    def loop(self, plant: LinearPHDAE) -> LinearPHDAE:
        """The loop with a linear plant, that of the design or one with more states, as a port-Hamiltonian system.

        Its energy is the future ∫ |x|² dt, from Lyapunov's equation, and its outputs are collocated with respect to that energy.
        Raises InputError that names the pole if the loop is unstable.
        """
        design, (A_c, B_c, C_c) = DesignModel(plant, self.regulator.design.positions), self.matrices
        C, B = replace(self.observer, design=design).C, design.inputs(self.ports)
        A = np.block([[design.A, B @ C_c], [B_c @ C, A_c]])
        if (pole := _rightmost(A)).real >= 0.0:
            raise InputError(
                f"the loop is unstable: a pole at {pole.real:.3g} 1/s, {abs(pole.imag):.4g} rad/s; the controller was designed "
                f"on modes up to {self.regulator.design.fastest:.4g} rad/s: keep more of them, or increase the weight of efforts"
            )
        X = la.solve_continuous_lyapunov(A.T, -np.eye(len(A)))
        X = 0.5 * (X + X.T)
        if (residual := np.abs(X @ A + A.T @ X + np.eye(len(A))).max()) > 1e-6 or la.eigvalsh(X)[0] <= 0.0:
            raise AccuracyError(f"Lyapunov's equation has a residual of {residual:.1e}; reduce the plant first")
        return design.loop(X, A, B, 0.5 * np.eye(len(A)), self.ports, observer=len(A_c))

    def _bias(self, model: Model) -> np.ndarray:
        return np.array([self.bias.get(p, 0.0) if isinstance(model, System) else 0.0 for p in self.ports])

    def _first_estimate(self, measured: np.ndarray) -> np.ndarray:
        """The estimate at the first sample: the measured positions, and zero for all other states."""
        rest = np.zeros(self.regulator.design.size)
        return np.concatenate([rest, measured[len(self.observer.rates) :]])


def _rightmost(A: np.ndarray) -> complex:
    values = np.linalg.eigvals(A)
    return complex(values[np.argmax(values.real)])


def _mean(A: np.ndarray, h: float) -> np.ndarray:
    """(1/h) ∫₀ʰ exp(A s) ds."""
    n = len(A)
    return np.asarray(la.expm(h * np.block([[A, np.eye(n)], [np.zeros((n, 2 * n))]]))[:n, n:] / h)


@one_thread()
def lqg(
    regulator: Regulator,
    observer: Observer,
    *,
    target: Mapping[str, float] | None = None,
    origin: Mapping[str, float] | None = None,
    bias: Mapping[str, float] | None = None,
) -> Feedback:
    """The controller that consists of a regulator and an observer of the same plant; raises InputError if it is unstable."""
    if not isinstance(regulator, Regulator) or not isinstance(observer, Observer):
        raise InputError(
            f"lqg takes the results of lqr and kalman, not {type(regulator).__name__} and {type(observer).__name__}"
        )
    design, observed = regulator.design, observer.design
    if design.plant is not observed.plant:
        raise InputError("the regulator and the observer are of different plants; design both on one")
    if design.positions != observed.positions:
        raise InputError(
            f"the regulator holds the positions of {', '.join(design.positions) or 'no port'}, the observer measures those of "
            f"{', '.join(observed.positions) or 'no port'}; they must be the same"
        )
    maps = {"target": target, "origin": origin, "bias": bias}
    out = Feedback(regulator, observer, **{name: port_numbers(name, value) for name, value in maps.items()})
    if (pole := _rightmost(out.matrices[0])).real > 0.0:
        raise InputError(
            f"the controller is unstable: a pole at {pole.real:.3g} 1/s, {abs(pole.imag):.4g} rad/s; increase the weight of "
            "efforts, or the noise of measurements"
        )
    return out


class Measurements:
    """Measured rates, then measured positions minus their targets, as means since the last sample.

    For the ports `flows`, which have a position, a rate is the change of position divided by the time: rates at the ends of steps
    contain oscillations that the steps do not resolve.
    """

    def __init__(self, feedback: Feedback, model: Model, every: float) -> None:
        self.model, self.rates, self.positions = model, feedback.observer.rates, feedback.observer.positions
        self.origin, self.target, self.every = feedback.origin, feedback.target, every
        ports = dict.fromkeys([*self.rates, *self.positions])
        self.flows = tuple(p for p in ports if isinstance(model, LinearPHDAE) or p in {*model.joints, *self.positions})
        self.position: dict[str, float] = {}
        self.rate: dict[str, float] = {}
        self.flow = np.zeros(0)

    def update(self, y: Any) -> tuple[bool, np.ndarray]:
        """Reads the outputs y; returns whether this is the first sample, and the means (at the first sample, the values)."""
        first = not self.position and not self.rate
        previous, self.position = self.position, {p: port_position(y, p, self.origin.get(p, 0.0)) for p in self.flows}
        changes = {p: port_change(self.model, p, x - previous.get(p, x)) for p, x in self.position.items()}
        flow = {p: float(y[p]) if first else changes[p] / self.every for p in self.flows}
        earlier, self.rate = self.rate, {p: float(y[p]) for p in self.rates if p not in self.flows}
        rates = [flow[p] if p in flow else 0.5 * (self.rate[p] + earlier.get(p, self.rate[p])) for p in self.rates]
        self.flow = np.array([*flow.values()])
        position_means = [x - 0.5 * changes[p] for p, x in zip(self.positions, self._offsets(), strict=True)]
        return first, np.array([*rates, *position_means])

    def _offsets(self) -> list[float]:
        """Positions minus their targets."""
        return [port_change(self.model, p, self.position[p] - self.target.get(p, 0.0)) for p in self.positions]

    @property
    def constant_part(self) -> np.ndarray:
        """The part of the means of the next step that does not depend on its flows: positions, and rates of ports without them."""
        rates = [0.0 if p in self.flows else self.rate[p] for p in self.rates]
        return np.array([*rates, *self._offsets()])

    @property
    def flow_factor(self) -> np.ndarray:
        """The factor of the flows in the means of the next step: 1 for rates, h/2 for positions, (measurements, flows)."""
        n = len(self.rates)
        factor = np.zeros((n + len(self.positions), len(self.flows)))
        for k, p in enumerate([*self.rates, *self.positions]):
            if p in self.flows:
                factor[k, self.flows.index(p)] = 1.0 if k < n else 0.5 * self.every
        return factor
