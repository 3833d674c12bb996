"""A step made of parts, forth and back in time: their sizes, which of them share factors, and what to expect at each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

# right for what grows evenly and for what changes sign at each step, as stiff modes do
ALTERNATING = ((1.0, 1.0, -1.0),)


@dataclass(frozen=True)
class Parts:
    """Fractions of a step, of at most two different sizes, whose sum is one."""

    fractions: tuple[float, ...] = (1.0,)

    @cached_property
    def sizes(self) -> np.ndarray:
        """The different ones, the first first."""
        return np.array(list(dict.fromkeys(self.fractions)))

    @cached_property
    def sets(self) -> np.ndarray:
        """For every part, which size it has."""
        return np.array([self.sizes.tolist().index(part) for part in self.fractions])

    @cached_property
    def guesses(self) -> np.ndarray:
        """For every part, the weights of the three before it, the last first: a parabola through the middles of those."""
        count = len(self.fractions)
        if count == 1:
            return np.array(ALTERNATING)
        middles = np.cumsum(self.fractions) - 0.5 * np.array(self.fractions)
        middles = np.concatenate([middles - 1.0, middles])
        return np.array([_parabola(middles[k - 3 : k][::-1], middles[k]) for k in range(count, 2 * count)])

    def within(self, times: np.ndarray) -> np.ndarray:
        """Where the parts of the steps between the times begin and end."""
        before = np.append(0.0, np.cumsum(self.fractions)[:-1])
        return np.append((times[:-1, None] + np.diff(times)[:, None] * before).ravel(), times[-1])


def _parabola(nodes: np.ndarray, at: float) -> list[float]:
    """Weights of the values at three nodes in the parabola through them."""
    return [float(np.prod([(at - o) / (x - o) for o in nodes if o != x])) for x in nodes]


WHOLE = Parts()
