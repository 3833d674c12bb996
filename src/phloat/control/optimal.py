"""Optimal regulators and observers of linear plants.

Regulator:  min ∫ xᵀQ x + uᵀR u dt  ⇒  u = −K x, K = R⁻¹BᵀP; P is an energy of the loop, (A − BK)ᵀP + P(A − BK) = −Q − KᵀR K.
Observer:  x̂' = A x̂ + B u + L (m − C x̂), with m the measured rates and positions of ports.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.linalg as la

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import csr
from phloat.algebra.threads import one_thread
from phloat.control.closed_loop import closed_loop, sorted_poles
from phloat.control.coupling import port_numbers
from phloat.control.passive import passive_pid
from phloat.errors import AccuracyError, InputError, finite, not_negative, positive
from phloat.linear.form.fields import Fields
from phloat.linear.form.phdae import LinearPHDAE, linear_only
from phloat.linear.form.state_space import StateSpace, state_space

RICCATI_TOLERANCE = 1e-6  # accepted relative residual of a Riccati equation


@dataclass(frozen=True, eq=False)
class DesignModel:
    """ẋ = A x + B u with x = (energy coordinates z | positions q of the ports `positions`), rates y = C_y x, q̇ = y.

    H = ½ |z|², and e = T z are the rows of the plant.
    """

    plant: LinearPHDAE
    positions: tuple[str, ...]

    def __post_init__(self) -> None:
        linear_only(self.plant)
        for port in self.plant.ports:
            if (size := self.plant.ports.shape(port)[0]) != 1:
                raise InputError(f"port {port!r} has {size} components; keep ports of one with with_ports(…)")
        if self.space.driven or np.abs(self.space.D).max(initial=0.0) > 0.0:
            raise InputError("a port of the plant has a feedthrough or takes a flow; close it with with_ports(…)")

    @cached_property
    def space(self) -> StateSpace:
        return state_space(self.plant)

    @property
    def size(self) -> int:
        """The number of energy coordinates, without positions."""
        return len(self.space.A)

    @cached_property
    def A(self) -> np.ndarray:
        p = len(self.positions)
        rates = self.space.C[self.plant.ports.indices(self.positions)]
        return np.block([[self.space.A, np.zeros((self.size, p))], [rates, np.zeros((p, p))]])

    @cached_property
    def B(self) -> np.ndarray:
        return np.vstack([self.space.B, np.zeros((len(self.positions), self.space.B.shape[1]))])

    @property
    def energy(self) -> np.ndarray:
        """The matrix of |z|², twice the energy H."""
        return np.diag((np.arange(len(self.A)) < self.size).astype(float))

    def inputs(self, ports: Iterable[str]) -> np.ndarray:
        """The columns of B of these ports."""
        return self.B[:, self.plant.ports.indices(ports)]

    def measured(self, rates: Iterable[str], positions: Iterable[str]) -> np.ndarray:
        """C with C x = (flows of the ports `rates`, positions of the ports `positions`)."""
        C = self.space.C[self.plant.ports.indices(rates)]
        position_rows = np.eye(len(self.A))[[self.size + self.positions.index(port) for port in positions]]
        return np.vstack([np.hstack([C, np.zeros((len(C), len(self.positions)))]), position_rows])

    @cached_property
    def fastest(self) -> float:
        """The highest frequency of the plant, rad/s."""
        return float(np.abs(np.linalg.eigvals(self.space.A).imag).max(initial=0.0))

    def loop(
        self, X: np.ndarray, A: np.ndarray, B: np.ndarray, R: np.ndarray, ports: Iterable[str], **states: int
    ) -> LinearPHDAE:
        """ẋ = A x + B u as a port-Hamiltonian system with the energy ½ xᵀX x and the dissipation R.

        `states` {name: number} are those of the controller, which follow those of the plant.
        """
        flow, n, p = X @ A, self.size, len(self.positions)
        T = np.hstack([self.space.T, np.zeros((len(self.space.T), len(A) - n))])
        return LinearPHDAE(
            E=X,
            J=0.5 * (flow - flow.T),
            R=R,
            B=X[:, : n + p] @ B,
            rows=Layout({name: (size,) for name, size in {"plant": n, "way": p, **states}.items() if size}, "row"),
            ports=self.plant.ports.only(ports),
            fields=Fields.in_rows(self.plant.fields, lambda A: csr(A @ T)),
        )


def _sorted_ports(plant: LinearPHDAE, ports: Iterable[str]) -> tuple[str, ...]:
    """The ports in the order of the plant; raises PortError for an unknown one."""
    return tuple(sorted(set(ports), key=lambda port: plant.ports[port].start))


def _riccati(A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, reached: str) -> np.ndarray:
    """P ≥ 0 with AᵀP + P A − P B R⁻¹Bᵀ P + Q = 0 and A − B R⁻¹BᵀP stable.

    `reached` completes the message "the undamped mode … is not …" for a mode that is not controllable.
    """
    try:
        P = la.solve_continuous_are(A, B, Q, R)
    except la.LinAlgError:
        raise InputError(_uncontrollable(A, B, reached)) from None
    gain = la.solve(R, B.T @ P, assume_a="pos")
    if np.linalg.eigvals(A - B @ gain).real.max() >= 0.0:
        raise InputError(_uncontrollable(A, B, reached))
    terms = (A.T @ P, P @ A, -P @ B @ gain, Q)
    if (residual := np.abs(sum(terms)).max() / max(np.abs(x).max() for x in terms)) > RICCATI_TOLERANCE:
        raise AccuracyError(f"the Riccati equation has a relative residual of {residual:.1e}; reduce the plant first")
    return np.asarray(0.5 * (P + P.T))


def _uncontrollable(A: np.ndarray, B: np.ndarray, reached: str) -> str:
    """The message for an undamped mode that is not controllable by B (test of Popov, Belevitch and Hautus)."""
    values = np.linalg.eigvals(A)
    highest = max(np.abs(values).max(), 1e-300)
    B = B * (np.abs(A).max() / max(np.abs(B).max(), 1e-300))
    undamped = [x for x in values if x.imag >= 0.0 and x.real > -1e-9 * highest]
    reached_by = [(float(la.svdvals(np.hstack([A - x * np.eye(len(A)), B]))[-1]), abs(x)) for x in undamped]
    if not reached_by:
        return f"no stable loop was found; {reached} may be too weak, or the weights too different"
    omega = min(reached_by)[1] if min(reached_by)[1] > 1e-9 * highest else 0.0
    return f"the undamped mode at {omega:.6g} rad/s is not {reached}; add a port that moves with it, or damp it"


@dataclass(frozen=True, eq=False)
class Regulator:
    """State feedback u = −K x at `ports` of the plant of `design`, with its cost ∫ xᵀQ x + uᵀR u dt = xᵀP x."""

    design: DesignModel
    ports: tuple[str, ...]
    K: np.ndarray
    P: np.ndarray
    Q: np.ndarray
    R: np.ndarray

    @property
    def poles(self) -> np.ndarray:
        """The poles of the loop (rad/s), ascending in magnitude."""
        return sorted_poles(self.design.A - self.design.inputs(self.ports) @ self.K)

    def loop(self, plant: LinearPHDAE) -> LinearPHDAE:
        """The loop of plant and state feedback, port-Hamiltonian with the energy ½ xᵀP x and the collocated output R K x."""
        if plant is not self.design.plant:
            raise InputError("state feedback needs the plant of its design; use lqg(regulator, observer) on others")
        B = self.design.inputs(self.ports)
        R = 0.5 * (self.Q + self.K.T @ self.R @ self.K)
        return self.design.loop(self.P, self.design.A - B @ self.K, B, R, self.ports)


@one_thread()
def lqr(
    plant: LinearPHDAE,
    effort: float | Mapping[str, float],
    *,
    energy: float = 1.0,
    rate: Mapping[str, float] | None = None,
    position: Mapping[str, float] | None = None,
    Q: np.ndarray | None = None,
) -> Regulator:
    """Optimal state feedback u = −K x: min ∫ energy · 2H + Σ rate y² + Σ position q² + Σ effort u² dt.

    x = (energy coordinates z | positions q of the weighted ports), H = ½ |z|², as in `DesignModel`.

    Parameters
    ----------
    plant : LinearPHDAE
        A linear plant whose ports have one component each and take efforts; choose them with `plant.with_ports(…)`.
    effort : float or mapping of str to float
        The weight (> 0) of the inputs u of all ports, or {port: weight} for the ports that act.
    energy : float, optional
        The weight of twice the energy H.
    rate, position : mapping of str to float, optional
        {port: weight} of the flows y (m/s, rad/s) and of the positions q (m, rad), which then become states.
    Q : array, (states, states), optional
        Replaces these weights: symmetric and positive semidefinite, on x.

    Returns
    -------
    Regulator
        `K` (inputs, states); `P` (states, states), the solution of the Riccati equation; `poles` (states,) of the loop (rad/s).

    Examples
    --------
    A double integrator I q̈ = u with the cost ∫ q² + u² dt has two poles of magnitude 1/√I at a damping ratio of 1/√2.

    >>> disc = ph.RigidBody(mass=1.0, inertia=np.diag([0.25, 0.25, 0.5])).discretise()
    >>> wheel = ph.connect({"disc": disc}, [ph.Revolute("ground", "disc.P", name="motor")], plane="xy")
    >>> plant = ph.linearise(wheel, ph.place(wheel)).with_ports("motor")
    >>> ph.control.lqr(plant, effort=1.0, energy=0.0, position={"motor": 1.0}).poles.round(4)
    array([-1.+1.j, -1.-1.j])
    """
    if not (weights := port_numbers("effort", effort, positive, plant.ports)):
        raise InputError(f"effort names no port; the open ports are {', '.join(plant.ports)}")
    positions, rates = port_numbers("position", position, positive), port_numbers("rate", rate, not_negative)
    design, ports = DesignModel(plant, _sorted_ports(plant, positions)), _sorted_ports(plant, weights)
    if Q is None:
        Q = not_negative("energy", energy) * design.energy
        for row, w in zip(design.measured(rates, positions), [*rates.values(), *positions.values()], strict=True):
            Q = Q + np.outer(w * row, row)
    else:
        Q = finite("Q", Q, design.A.shape)
        if np.abs(Q - Q.T).max() > 1e-9 * np.abs(Q).max() or la.eigvalsh(Q)[0] < -1e-9 * np.abs(Q).max():
            raise InputError("Q is not symmetric and positive semidefinite; costs must not be negative")
    R, B = np.diag([weights[p] for p in ports]), design.inputs(ports)
    P = _riccati(design.A, B, Q, R, f"moved by {', '.join(map(repr, ports))}")
    return Regulator(design, ports, la.solve(R, B.T @ P, assume_a="pos"), P, Q, R)


@dataclass(frozen=True, eq=False)
class Observer:
    """An observer of the plant of `design` with the gain L, from measured `rates` and `positions` of ports.

    `error` is the dynamics of the error of the estimate as a port-Hamiltonian system (passive observers only).
    """

    design: DesignModel
    rates: tuple[str, ...]
    positions: tuple[str, ...]
    L: np.ndarray
    error: LinearPHDAE | None = None

    @cached_property
    def C(self) -> np.ndarray:
        """C of the measurements m = C x."""
        return self.design.measured(self.rates, self.positions)

    @property
    def poles(self) -> np.ndarray:
        """The poles of the error of the estimate (rad/s), ascending in magnitude."""
        return sorted_poles(self.design.A - self.L @ self.C)


@one_thread()
def kalman(
    plant: LinearPHDAE,
    *,
    rate: Mapping[str, float] | None = None,
    position: Mapping[str, float] | None = None,
    disturbance: float | Mapping[str, float] = 1.0,
    energy: float = 0.0,
) -> Observer:
    """The Kalman filter for white noise of these intensities in the measured rates and positions of ports.

    `disturbance` is the intensity of white efforts at all ports, or at the named ones; `energy` that of noise in every energy
    coordinate, for errors of the model.
    """
    observer, V = _observer_without_gain(plant, rate, position)
    design = observer.design
    W = not_negative("energy", energy) * design.energy
    for port, intensity in port_numbers("disturbance", disturbance, not_negative, plant.ports).items():
        B = design.inputs([port])
        W = W + intensity * B @ B.T
    names = ", ".join(map(repr, dict.fromkeys([*observer.rates, *observer.positions])))
    P = _riccati(design.A.T, observer.C.T, W, np.diag(V), f"seen at {names}")
    return replace(observer, L=P @ observer.C.T / V)


@one_thread()
def passive_observer(
    plant: LinearPHDAE, *, rate: Mapping[str, float], position: Mapping[str, float] | None = None
) -> Observer:
    """An observer that is a copy of the plant, coupled to its measurements by dampers (`rate`) and springs (`position`) at ports.

    The error of the estimate is a passive system, `error`: the plant with these dampers and springs. It decays for all gains and
    every plant, unless an undamped mode does not move any of these ports.
    """
    observer, gains = _observer_without_gain(plant, rate, position)
    measured = [*observer.rates, *observer.positions]
    parts = [
        passive_pid(p, damping=rate.get(p, 0.0), stiffness=(position or {}).get(p, 0.0), name=f"{p}.observer")
        for p in _sorted_ports(plant, measured)
    ]
    observer = replace(observer, L=observer.design.inputs(measured) * gains, error=closed_loop(plant, *parts))
    if (slowest := observer.poles.real.max()) >= -1e-12 * max(observer.design.fastest, 1.0):
        raise InputError(f"the error does not decay: a pole at {slowest:.3g} 1/s; measure elsewhere, or damp the plant")
    return observer


def _observer_without_gain(
    plant: LinearPHDAE, rate: Mapping[str, float] | None, position: Mapping[str, float] | None
) -> tuple[Observer, np.ndarray]:
    """An observer with an empty gain, and the noise intensities or gains of its measurements in their order."""
    rates, positions = port_numbers("rate noise", rate, positive), port_numbers("position noise", position, positive)
    if not rates and not positions:
        raise InputError(f"nothing is measured; give rate={{port: …}} or position=…: {', '.join(plant.ports)}")
    design = DesignModel(plant, _sorted_ports(plant, positions))
    observer = Observer(design, _sorted_ports(plant, rates), design.positions, np.zeros((len(design.A), 0)))
    return observer, np.array([*(rates[p] for p in observer.rates), *(positions[p] for p in observer.positions)])
