"""Optimal state feedback: the cost that is left is the energy of the loop.

min ∫ xᵀQ x + uᵀR u dt    ⇒    u = −K x, K = R⁻¹BᵀP;    P is the energy of the loop: (A − BK)ᵀP + P(A − BK) = −Q − KᵀR K
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg as la

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import csr
from phloat.algebra.threads import one_thread
from phloat.control.design import Design, in_order, riccati
from phloat.control.wires import numbers
from phloat.errors import InputError, finite, not_negative, positive
from phloat.linear.phdae import LinearPHDAE


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
    places = {p: positive(f"position weight of {p!r}", w) for p, w in numbers("position", position).items()}
    rates = {p: not_negative(f"rate weight of {p!r}", w) for p, w in numbers("rate", rate).items()}
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
        given = numbers("effort", effort)
        if not given:
            raise InputError(f"effort names no port; the open ports are {', '.join(plant.ports)}")
        return given
    return dict.fromkeys(plant.ports, float(finite("effort", effort, ())))
