"""One step of a linear system: its stages, its end, work and loss, and values at any time within it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.polynomial import legendre

from phloat.algebra.sparse import csr
from phloat.linear.form.phdae import LinearPHDAE


class Signals(Protocol):
    """Inputs as functions of time: u(t) and its mean from t0 to t1, vectors over the ports of a system."""

    def at(self, t: float) -> np.ndarray: ...
    def mean(self, t0: float, t1: float) -> np.ndarray: ...


@dataclass(frozen=True, eq=False)
class LinearStep:
    """A step of length h from t with stages at the fractions `nodes`: `e` (stages, rows), `lam` (stages, multipliers), `weights`.

    `points` are fractions at which e is known, from the start, with the values `path`; `u_end` is the input at the end, with which
    driven joints agree; `flows` (stages, inputs) are outputs without the efforts of driven joints, `powers` (stages, inputs) is the
    power of each input and `losses` (stages,) the dissipated power.
    """

    t: float
    h: float
    nodes: np.ndarray
    weights: np.ndarray
    e: np.ndarray
    lam: np.ndarray
    points: np.ndarray
    path: np.ndarray
    end: np.ndarray
    u_end: np.ndarray
    flows: np.ndarray
    powers: np.ndarray
    losses: np.ndarray

    @cached_property
    def times(self) -> np.ndarray:
        """The times of the stages."""
        return self.t + self.h * self.nodes

    def e_at(self, x: float) -> np.ndarray:
        """e at a fraction of the step, by the polynomial through its start and its stages."""
        return self.end if x == 1.0 else lagrange_values(self.points, x) @ self.path

    def integral(self, stages: np.ndarray, x: float) -> np.ndarray:
        """The integral from the start to a fraction of the step of the polynomial through values at the stages."""
        weights = self.weights if x == 1.0 else integral_weights(self.nodes, np.array([x]))[0]
        return np.asarray(self.h * weights @ stages)


class LinearSolver(Protocol):
    """A scheme with the factors of one step length h."""

    h: float

    def step(self, e: np.ndarray, u: Signals, t: float, u_0: np.ndarray) -> LinearStep: ...


class LinearScheme(Protocol):
    """A method of time integration of linear systems."""

    def solver(self, system: LinearPHDAE, h: float) -> LinearSolver: ...


class PortOutputs:
    """y = ((B + P)ᵀe + (S + N) u) + B_λᵀλ in its two parts, and the dissipated power, with matrices made once."""

    def __init__(self, system: LinearPHDAE) -> None:
        self.rows, self.joints = csr(system.output_map.T), csr(system.B_lam.T)
        self.resistance = csr(system.R - system.nonconservative)
        self.feedthrough = (system.D, system.P, system.S) if system.has_feedthrough else None

    def of_rows(self, e: np.ndarray, u: np.ndarray) -> np.ndarray:
        """(B + P)ᵀe + (S + N) u of rows (times, rows) and inputs (times, inputs), (times, inputs); or of one time each."""
        y = (self.rows @ e.T).T
        return np.asarray(y if self.feedthrough is None else y + (self.feedthrough[0] @ u.T).T)

    def of_joints(self, lam: np.ndarray) -> np.ndarray:
        """B_λᵀλ of multipliers (times, multipliers), (times, inputs)."""
        return np.asarray((self.joints @ lam.T).T)

    def losses(self, e: np.ndarray, u: np.ndarray) -> np.ndarray:
        """(e, u)ᵀW (e, u) minus the power of nonconservative loads, (times,)."""
        out = np.einsum("tr,rt->t", e, self.resistance @ e.T)
        if self.feedthrough is None:
            return out
        _, P, S = self.feedthrough
        return out + 2.0 * np.einsum("tr,rt->t", e, P @ u.T) + np.einsum("ti,it->t", u, S @ u.T)


def lagrange_values(points: np.ndarray, x: float) -> np.ndarray:
    """The values at x of the Lagrange polynomials of the points."""
    others = points[None, :] + np.diag(np.full(len(points), np.nan))
    return np.nanprod((x - others) / (points[:, None] - others), axis=1)


def integral_weights(nodes: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Weights of values at the nodes, between 0 and 1, for the integrals from 0 to each x of the polynomial through them."""
    basis = np.eye(len(nodes))
    values = legendre.legval(2.0 * nodes - 1.0, basis).T
    integrals = np.array([0.5 * legendre.legval(2.0 * x - 1.0, legendre.legint(p, lbnd=-1)) for p in basis]).T
    return np.asarray(np.linalg.solve(values.T, integrals.T).T)
