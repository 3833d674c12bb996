"""Nodes of equal steps, and which of them are output, computed when they are needed."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from phloat.errors import SampleTimeWarning, steps_or_said


@dataclass(frozen=True)
class TimeGrid:
    """Times start + k dt up to the end; the last one is the end itself, its step shorter where dt does not divide the time."""

    start: float
    end: float
    dt: float

    def __post_init__(self) -> None:
        steps_or_said(self.start, self.end, self.dt)

    @cached_property
    def last(self) -> int:
        """The number of the last node, and of steps."""
        count = int(np.floor((self.end - self.start) / self.dt * (1 + 1e-12) + 1e-9))
        return count + 1 if self.end - (self.start + self.dt * count) > 1e-9 * self.dt else count

    def at(self, k: np.ndarray) -> np.ndarray:
        """The times of these nodes."""
        return np.where(k == self.last, self.end, self.start + self.dt * k)

    def time(self, k: int) -> float:
        """The time of a node."""
        return self.end if k == self.last else self.start + self.dt * k

    def within(self, first: int, last: int) -> np.ndarray:
        """The times of all nodes from the first to the last."""
        return self.at(np.arange(first, last + 1))

    def not_before(self, t: np.ndarray) -> np.ndarray:
        """The first nodes that are not before these times; one more than there are where all are."""
        k = np.clip(np.floor((np.asarray(t) - self.start) / self.dt).astype(np.int64) - 1, 0, self.last)
        for _ in range(3):
            k = k + ((k <= self.last) & (self.at(k) < t))
        return k


@dataclass(frozen=True, eq=False)
class OutputNodes:
    """The nodes that are output: every so many and the last, or those around given times."""

    nodes: TimeGrid
    output: int | np.ndarray

    @cached_property
    def around(self) -> np.ndarray:
        """Numbers of the nodes around the output times, ascending."""
        nodes, output = self.nodes, np.asarray(self.output)
        near = 1e-9 * float(np.diff(nodes.within(0, 1))[0])
        after = np.minimum(nodes.not_before(output - near), nodes.last)
        hit = np.abs(nodes.at(after) - output) < near
        return np.unique(np.clip(np.concatenate([after, after[~hit] - 1]), 0, nodes.last))

    def __contains__(self, k: int) -> bool:
        if isinstance(self.output, int):
            return k % self.output == 0 or k == self.nodes.last
        return k in self.around

    def within(self, first: int, last: int) -> np.ndarray:
        """Output nodes after the first node, up to the last."""
        if not isinstance(self.output, int):
            return self.around[slice(*np.searchsorted(self.around, [first, last], side="right"))]
        every = np.arange(self.output * (first // self.output + 1), last + 1, self.output)
        return every if last < self.nodes.last or self.nodes.last in every[-1:] else np.append(every, self.nodes.last)


def warn_if_late(name: str, time: float, dt: float) -> None:
    """Warns if equal steps of dt do not meet a sample time or delay of a controller."""
    late = (np.ceil(time / dt * (1 - 1e-9)) - time / dt) * dt
    if late > 1e-6 * dt:
        warnings.warn(
            f"the {name} of {time:g} s is no multiple of the step of {dt:g} s: what falls between two steps waits for the next, "
            f"up to {dt:.3g} s, the first time {late:.3g} s; give a dt that divides it, such as {time / np.ceil(time / dt):.6g} s",
            SampleTimeWarning,
            stacklevel=4,
        )
