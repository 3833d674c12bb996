"""The model that optimal controllers and observers are designed on: a linear plant in coordinates of energy, and positions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.linalg as la

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import csr
from phloat.algebra.threads import one_thread
from phloat.control.closed_loop import closed_loop
from phloat.control.coupling import port_numbers
from phloat.control.passive import passive_pid
from phloat.errors import AccuracyError, InputError, finite, not_negative, positive
from phloat.linear.form.phdae import LinearPHDAE, linear_only
from phloat.linear.form.state_space import StateSpace, state_space

SOLVED = 1e-6  # of the terms of a Riccati equation: what may be left of it


@dataclass(frozen=True, eq=False)
class Design:
    """ẋ = A x + B u with x = (energy coordinates z | positions q of some ports), rates y = C_y x, q̇ = y.

    H = ½ |z|²; e = T z in the rows of the plant.
    """

    plant: LinearPHDAE
    positions: tuple[str, ...]

    def __post_init__(self) -> None:
        linear_only(self.plant)
        for port in self.plant.ports:
            if self.plant.ports.shape(port) != (1,):
                raise InputError(
                    f"port {port!r} has {self.plant.ports.shape(port)[0]} components; keep ports of one with with_ports(…)"
                )
        if self.space.driven or np.abs(self.space.D).max(initial=0.0) > 0.0:
            raise InputError(
                "some port of the plant passes its input on at once or takes a flow; close it with with_ports(…)"
            )

    @cached_property
    def space(self) -> StateSpace:
        return state_space(self.plant)

    @property
    def size(self) -> int:
        """Energy coordinates, without positions."""
        return len(self.space.A)

    @cached_property
    def A(self) -> np.ndarray:
        p = len(self.positions)
        rates = self.space.C[self.plant.ports.indices(self.positions)]
        return np.block([[self.space.A, np.zeros((self.size, p))], [rates, np.zeros((p, p))]])

    @cached_property
    def B(self) -> np.ndarray:
        return np.vstack([self.space.B, np.zeros((len(self.positions), self.space.B.shape[1]))])

    def inputs(self, ports: Iterable[str]) -> np.ndarray:
        """Columns of B."""
        return self.B[:, self.plant.ports.indices(ports)]

    def rates(self, ports: Iterable[str]) -> np.ndarray:
        """Rows that give the flows of ports."""
        C = self.space.C[self.plant.ports.indices(ports)]
        return np.hstack([C, np.zeros((len(C), len(self.positions)))])

    def places(self, ports: Iterable[str]) -> np.ndarray:
        """Rows that give the positions of ports."""
        out = np.zeros((0, self.size + len(self.positions)))
        for port in ports:
            row = np.zeros((1, out.shape[1]))
            row[0, self.size + self.positions.index(port)] = 1.0
            out = np.vstack([out, row])
        return out

    @cached_property
    def fastest(self) -> float:
        """The fastest mode that the plant has, rad/s."""
        return float(np.abs(np.linalg.eigvals(self.space.A).imag).max(initial=0.0))


def in_order(plant: LinearPHDAE, ports: Iterable[str]) -> tuple[str, ...]:
    """Ports in the order of the plant, each checked."""
    named = list(ports)
    for port in named:
        plant.ports[port]
    return tuple(port for port in plant.ports if port in named)


def riccati(A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, said: str) -> np.ndarray:
    """P ≥ 0 with AᵀP + P A − P B R⁻¹Bᵀ P + Q = 0 and A − B R⁻¹BᵀP stable; `said` is for the mode that `B` cannot reach."""
    try:
        P = la.solve_continuous_are(A, B, Q, R)
    except la.LinAlgError:
        raise InputError(unreached(A, B, said)) from None
    gain = la.solve(R, B.T @ P, assume_a="pos")
    if np.linalg.eigvals(A - B @ gain).real.max() >= 0.0:
        raise InputError(unreached(A, B, said))
    terms = (A.T @ P, P @ A, P @ B @ gain, Q)
    left = np.abs(terms[0] + terms[1] - terms[2] + terms[3]).max() / max(np.abs(x).max() for x in terms)
    if left > SOLVED:
        raise AccuracyError(
            f"the Riccati equation is left with {left:.1e} of its terms; reduce the plant to the modes that matter first"
        )
    return 0.5 * (P + P.T)


def unreached(A: np.ndarray, B: np.ndarray, said: str) -> str:
    """The sentence for an undamped mode that B does not move (Popov, Belevitch, Hautus)."""
    values = np.linalg.eigvals(A)
    near = [x for x in values if x.imag >= 0.0 and x.real > -1e-9 * max(np.abs(values).max(), 1e-300)]
    pushes = B * (np.abs(A).max() / max(np.abs(B).max(), 1e-300))
    least = [(float(la.svdvals(np.hstack([A - x * np.eye(len(A)), pushes]))[-1]), abs(x)) for x in near]
    if not least:
        return f"no stable loop was found; {said} may be too weak, or weights too far apart"
    omega = min(least)[1]
    omega = omega if omega > 1e-9 * np.abs(values).max() else 0.0
    return f"the undamped mode at {omega:.6g} rad/s is not {said}; add a port that moves with it, or damp it"


# --- optimal state feedback: the cost that is left is the energy of the loop -----------------------------------------
#
# Optimal state feedback: the cost that is left is the energy of the loop.
#
# min ∫ xᵀQ x + uᵀR u dt    ⇒    u = −K x, K = R⁻¹BᵀP;    P is the energy of the loop: (A − BK)ᵀP + P(A − BK) = −Q − KᵀR K


@dataclass(frozen=True, eq=False)
class Regulator:
    """u = −K x on `ports` of the plant of `design`; P, Q, R as in its cost."""

    design: Design
    ports: tuple[str, ...]
    K: np.ndarray
    P: np.ndarray
    Q: np.ndarray
    R: np.ndarray

    @property
    def poles(self) -> np.ndarray:
        """Of the loop, rad/s, by size."""
        values = np.linalg.eigvals(self.design.A - self.design.inputs(self.ports) @ self.K)
        return values[np.argsort(np.abs(values), kind="stable")]

    def loop(self, plant: LinearPHDAE) -> LinearPHDAE:
        """The loop of plant and state feedback: port-Hamiltonian with the energy ½ xᵀP x and the collocated output R K x."""
        if plant is not self.design.plant:
            raise InputError(
                "state feedback is for the plant it was designed on; use lqg(regulator, observer) on others"
            )
        B = self.design.inputs(self.ports)
        n, p = self.design.size, len(self.design.positions)
        flow = self.P @ (self.design.A - B @ self.K)
        shape = {"plant": (n,), **({"way": (p,)} if p else {})}
        T = np.hstack([self.design.space.T, np.zeros((len(self.design.space.T), p))])
        return LinearPHDAE(
            E=self.P,
            J=0.5 * (flow - flow.T),
            R=0.5 * (self.Q + self.K.T @ self.R @ self.K),
            B=self.P @ B,
            rows=Layout(shape, "row"),
            ports=self.design.plant.ports.only(self.ports),
            fields={name: replace(f, motion=csr(f.motion @ T)) for name, f in self.design.plant.fields.items()},
        )


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
    """State feedback of least cost: ∫ energy · 2H + Σ rate y² + Σ position q² + Σ effort u² dt.

    `effort` weighs the inputs of all ports, or of those that act. Ports with a weight on their position get it as a state. `Q`
    is the whole weight on x = (energy coordinates | positions) instead, as `Design` has them.
    """
    weights = {p: positive(f"effort of {p!r}", w) for p, w in _each(plant, effort).items()}
    places = {p: positive(f"position weight of {p!r}", w) for p, w in port_numbers("position", position).items()}
    rates = {p: not_negative(f"rate weight of {p!r}", w) for p, w in port_numbers("rate", rate).items()}
    design = Design(plant, in_order(plant, places))
    ports = in_order(plant, weights)
    n = len(design.A)
    if Q is None:
        Q = np.zeros((n, n))
        Q[: design.size, : design.size] = not_negative("energy", energy) * np.eye(design.size)
        for p, w in rates.items():
            Q += w * design.rates([p]).T @ design.rates([p])
        for p, w in places.items():
            Q += w * design.places([p]).T @ design.places([p])
    else:
        Q = finite("Q", Q, (n, n))
        if np.abs(Q - Q.T).max() > 1e-9 * np.abs(Q).max() or la.eigvalsh(Q)[0] < -1e-9 * np.abs(Q).max():
            raise InputError("Q is not symmetric and positive semidefinite; costs must not be negative")
    R = np.diag([weights[p] for p in ports])
    B = design.inputs(ports)
    P = riccati(design.A, B, Q, R, f"moved by {', '.join(map(repr, ports))}")
    return Regulator(design, ports, la.solve(R, B.T @ P, assume_a="pos"), P, Q, R)


def _each(plant: LinearPHDAE, effort: float | Mapping[str, float]) -> dict[str, float]:
    if isinstance(effort, Mapping):
        given = port_numbers("effort", effort)
        if not given:
            raise InputError(f"effort names no port; the open ports are {', '.join(plant.ports)}")
        return given
    return dict.fromkeys(plant.ports, float(finite("effort", effort, ())))


# --- states from measurements: x̂' = a x̂ + b u + l (m − c x̂), with m the rates and positions  ----------------------
#
# States from measurements: x̂' = A x̂ + B u + L (m − C x̂), with m the rates and positions of ports.


@dataclass(frozen=True, eq=False)
class Observer:
    """The gain L of the measured `rates` and `places` (positions) of ports of the plant of `design`.

    `error` is what the estimate misses, as a port-Hamiltonian system, where the observer is made so.
    """

    design: Design
    rates: tuple[str, ...]
    places: tuple[str, ...]
    L: np.ndarray
    error: LinearPHDAE | None = None

    @cached_property
    def C(self) -> np.ndarray:
        """m = C x."""
        return np.vstack([self.design.rates(self.rates), self.design.places(self.places)])

    @property
    def poles(self) -> np.ndarray:
        """Of the error, rad/s, by size."""
        values = np.linalg.eigvals(self.design.A - self.L @ self.C)
        return values[np.argsort(np.abs(values), kind="stable")]


@one_thread()
def kalman(
    plant: LinearPHDAE,
    *,
    rate: Mapping[str, float] | None = None,
    position: Mapping[str, float] | None = None,
    disturbance: float | Mapping[str, float] = 1.0,
    energy: float = 0.0,
) -> Observer:
    """The observer of least variance: white noise of these intensities in the measured rates and positions of ports.

    `disturbance` is the intensity of white efforts at all ports, or at those named; `energy` that of noise in every energy
    coordinate, for what the model leaves out.
    """
    rates, places = (
        {p: positive(f"noise in the {what} of {p!r}", w) for p, w in port_numbers(what, given).items()}
        for what, given in (("rate", rate), ("position", position))
    )
    design = Design(plant, in_order(plant, places))
    observer = _measured(design, rates, places)
    noises = disturbance if isinstance(disturbance, Mapping) else dict.fromkeys(plant.ports, disturbance)
    W = np.zeros_like(design.A)
    W[: design.size, : design.size] += not_negative("energy", energy) * np.eye(design.size)
    for port, intensity in port_numbers("disturbance", noises).items():
        B = design.inputs([port])
        W += not_negative(f"disturbance at {port!r}", intensity) * B @ B.T
    V = np.diag([*(rates[p] for p in observer.rates), *(places[p] for p in observer.places)])
    seen = ", ".join(map(repr, dict.fromkeys([*observer.rates, *observer.places])))
    P = riccati(design.A.T, observer.C.T, W, V, f"seen at {seen}")
    return Observer(design, observer.rates, observer.places, P @ observer.C.T @ np.linalg.inv(V))


@one_thread()
def passive_observer(
    plant: LinearPHDAE, *, rate: Mapping[str, float], position: Mapping[str, float] | None = None
) -> Observer:
    """The plant once more, held to the measured one by dampers (`rate`) and springs (`position`) at the ports.

    What the estimate misses is then itself a passive system, `error`: the plant with these dampers and springs. It dies away
    for any gains, and whatever the plant, as long as no undamped mode stands still at all of these ports.
    """
    rates, places = port_numbers("rate", rate), port_numbers("position", position)
    for what, given in (("rate", rates), ("position", places)):
        for port, gain in given.items():
            positive(f"{what} gain at {port!r}", gain)
    design = Design(plant, in_order(plant, places))
    made = _measured(design, rates, places)
    L = np.hstack(
        [
            design.inputs(made.rates) * np.array([rates[p] for p in made.rates]),
            design.inputs(made.places) * np.array([places[p] for p in made.places]),
        ]
    )
    ports = in_order(plant, [*rates, *places])
    parts = [
        passive_pid(p, damping=rates.get(p, 0.0), stiffness=places.get(p, 0.0), name=f"{p}.observer") for p in ports
    ]
    observer = Observer(design, made.rates, made.places, L, closed_loop(plant, *parts))
    if (slowest := observer.poles.real.max()) >= -1e-12 * max(design.fastest, 1.0):
        raise InputError(
            f"the error of the estimate does not die away: a pole at {slowest:.3g} 1/s; measure at a port that moves with it, "
            "or damp the plant"
        )
    return observer


def _measured(design: Design, rates: Mapping[str, float], places: Mapping[str, float]) -> Observer:
    if not rates and not places:
        raise InputError(
            f"nothing is measured; give rate={{port: …}} or position={{port: …}}: {', '.join(design.plant.ports)}"
        )
    L = np.zeros((len(design.A), len(rates) + len(places)))
    return Observer(design, in_order(design.plant, rates), in_order(design.plant, places), L)
