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

    A rate is the way over the time where there is a way to see: rates at the nodes of a run ring with modes that the step does
    not resolve.
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
        self.ways = [p for p in rates if isinstance(model, LinearPHDAE) or p in model.joints]
        self.at: dict[str, float] = {}
        self.rate: dict[str, float] = {}

    def since(self, y: Any) -> tuple[bool, np.ndarray]:
        """Whether this is the first time, and the means (at the first time, the values there)."""
        first = not self.at and not self.rate
        at = {p: place_of(y, p, self.origin.get(p, 0.0)) for p in dict.fromkeys([*self.ways, *self.places])}
        rate = {p: float(y[p]) for p in self.rates if first or p not in self.ways}
        way = {p: step_of(self.model, p, x - self.at.get(p, x)) for p, x in at.items()}
        rates = [
            way[p] / self.every if p in self.ways and not first else 0.5 * (rate[p] + self.rate.get(p, rate[p]))
            for p in self.rates
        ]
        places = [step_of(self.model, p, at[p] - self.target.get(p, 0.0)) - 0.5 * way[p] for p in self.places]
        self.at, self.rate = at, rate
        return first, np.array([*rates, *places])

    def now_from(self, mean: np.ndarray) -> np.ndarray:
        """What is seen at the end of the interval: positions as they are, rates as they were in the mean."""
        out = mean.copy()
        for k, p in enumerate(self.places):
            out[len(self.rates) + k] = step_of(self.model, p, self.at[p] - self.target.get(p, 0.0))
        return out

    @property
    def from_ways(self) -> np.ndarray:
        """For each measurement, how the mean of it over a step follows from the mean rates: 1 for rates, h/2 for positions."""
        n = len(self.rates)
        out = np.zeros((n + len(self.places), n))
        out[:n] = np.eye(n)
        for k, p in enumerate(self.places):
            if p in self.rates:
                out[n + k, self.rates.index(p)] = 0.5 * self.every
        return out

    def way_of(self, port: str) -> int:
        """Which of the measured rates is that of this port, seen by its way; −1 if none is."""
        return self.rates.index(port) if port in self.ways else -1


class MidpointStep:
    """x' = A x + B m, u = C x over a step h: ū = C x̄ with (I − ½hA) x̄ = x + ½h B m̄, and m̄ = m + `ways` · mean rates."""

    def __init__(self, A: np.ndarray, B: np.ndarray, C: np.ndarray, h: float, ways: np.ndarray) -> None:
        self.B, self.C, self.h, self.ways = B, C, h, ways
        self.factor = la.lu_factor(np.eye(len(A)) - 0.5 * h * A)

    def _mean(self, x: np.ndarray, m: np.ndarray) -> np.ndarray:
        return np.asarray(la.lu_solve(self.factor, x + 0.5 * self.h * (self.B @ m)))

    @property
    def answer(self) -> np.ndarray:
        """Z with ū = … − Z · mean rates of the same step."""
        return -self.C @ la.lu_solve(self.factor, 0.5 * self.h * (self.B @ self.ways))

    def after(self, x: np.ndarray, mean: np.ndarray) -> np.ndarray:
        """x at the end of a step in which `mean` was seen."""
        return 2.0 * self._mean(x, mean) - x

    def effort(self, x: np.ndarray, now: np.ndarray) -> np.ndarray:
        """ū of the step to come, if rates stay as they were."""
        n = self.ways.shape[1]
        foreseen = now.copy()
        foreseen[n:] += (self.ways @ now[:n])[n:]
        return self.C @ self._mean(x, foreseen)
