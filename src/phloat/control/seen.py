"""What a controller sees since it was last asked, and a step of its own with that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.linalg as la

from phloat.control.wires import Model, place_of, step_of
from phloat.linear.phdae import LinearPHDAE


class Seen:
    """Measured rates, then measured positions less their targets, as means since the last time.

    A rate is the way over the time where there is a way to see, in `flows`: rates at the nodes of a run ring with modes that the
    step does not resolve.
    """

    def __init__(
        self,
        model: Model,
        rates: tuple[str, ...],
        places: tuple[str, ...],
        origin: Mapping[str, float],
        target: Mapping[str, float],
        every: float,
    ) -> None:
        self.model, self.rates, self.places = model, rates, places
        self.origin, self.target, self.every = origin, target, every
        seen = dict.fromkeys([*rates, *places])
        self.flows = tuple(p for p in seen if isinstance(model, LinearPHDAE) or p in model.joints or p in places)
        self.at: dict[str, float] = {}
        self.rate: dict[str, float] = {}
        self.flow = np.zeros(0)

    def since(self, y: Any) -> tuple[bool, np.ndarray]:
        """Whether this is the first time, and the means (at the first time, the values there)."""
        first = not self.at and not self.rate
        at = {p: place_of(y, p, self.origin.get(p, 0.0)) for p in self.flows}
        rate = {p: float(y[p]) for p in self.rates if first or p not in self.flows}
        way = {p: step_of(self.model, p, x - self.at.get(p, x)) for p, x in at.items()}
        self.flow = np.array([float(y[p]) if first else way[p] / self.every for p in self.flows])
        rates = [
            way[p] / self.every if p in self.flows and not first else 0.5 * (rate[p] + self.rate.get(p, rate[p]))
            for p in self.rates
        ]
        places = [step_of(self.model, p, at[p] - self.target.get(p, 0.0)) - 0.5 * way[p] for p in self.places]
        self.at, self.rate = at, rate
        return first, np.array([*rates, *places])

    @property
    def now(self) -> np.ndarray:
        """What the means of the step to come have that does not follow from the flows in it: positions, rates without a way."""
        rates = [0.0 if p in self.flows else self.rate[p] for p in self.rates]
        return np.array([*rates, *(step_of(self.model, p, self.at[p] - self.target.get(p, 0.0)) for p in self.places)])

    @property
    def by_flow(self) -> np.ndarray:
        """And what does: 1 for rates, h/2 for positions, (measurements, flows)."""
        n = len(self.rates)
        out = np.zeros((n + len(self.places), len(self.flows)))
        for k, p in enumerate([*self.rates, *self.places]):
            if p in self.flows:
                out[k, self.flows.index(p)] = 1.0 if k < n else 0.5 * self.every
        return out


class MidpointStep:
    """x' = A x + B m, u = C x over a step h: ū = C x̄ with (I − ½hA) x̄ = x + ½h B m̄."""

    def __init__(self, A: np.ndarray, B: np.ndarray, C: np.ndarray, h: float) -> None:
        self.B, self.C, self.h = B, C, h
        self.factor = la.lu_factor(np.eye(len(A)) - 0.5 * h * A)

    def _mean(self, x: np.ndarray, m: np.ndarray) -> np.ndarray:
        return np.asarray(la.lu_solve(self.factor, x + 0.5 * self.h * (self.B @ m)))

    def answer(self, m: np.ndarray) -> np.ndarray:
        """Of ū, what is due to m̄ (a column, or several)."""
        return np.asarray(self.C @ la.lu_solve(self.factor, 0.5 * self.h * (self.B @ m)))

    def after(self, x: np.ndarray, m: np.ndarray) -> np.ndarray:
        """x at the end of a step in which m̄ was seen."""
        return 2.0 * self._mean(x, m) - x

    def effort(self, x: np.ndarray, m: np.ndarray) -> np.ndarray:
        """ū."""
        return np.asarray(self.C @ self._mean(x, m))
