"""The model that optimal controllers and observers are designed on: a linear plant in coordinates of energy, and positions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg as la

from phloat.errors import AccuracyError, InputError
from phloat.linear.phdae import LinearPHDAE, linear_only
from phloat.linear.state_space import StateSpace, state_space

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
