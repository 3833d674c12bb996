"""How far apart two motions of the same bodies are, and how far each body has come: what the error of a step is measured by.

The distance of a body from where it should be is the root mean square over its mass, √(δᵀM δ / m) with δ the difference of
positions, turns and deformations and M the mass matrix: it depends on neither the numerical frame nor the coordinates. The
size of a body is the root mean square distance of its mass from its centre.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phloat.motion.kernel import tables as t
from phloat.motion.kernel.arrays import AXES, PAIRS, Arrays
from phloat.motion.runner import Runner

ROUND_OFF = 1e-14  # of positions and sizes: differences below it say nothing


@dataclass(frozen=True, eq=False)
class Measure:
    """One body: where its positions stand in a row, (turns, deformations) in the mean square, its size (m)."""

    at: int
    axes: list[int]
    n: int
    weight: np.ndarray
    size: float

    def centre(self, rows: np.ndarray) -> np.ndarray:
        return rows[:, self.at : self.at + 3]

    def apart(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """The distance between two motions, row by row (m)."""
        A, B = (rows[:, self.at + 3 : self.at + 12].reshape(-1, 3, 3) for rows in (one, other))
        eta = (other - one)[:, self.at + 12 : self.at + 12 + self.n]
        delta = np.hstack([_turns(A, B)[:, self.axes], eta])
        moved = self.centre(other) - self.centre(one)
        return np.sqrt((moved**2).sum(axis=1) + np.maximum(np.einsum("ti,ij,tj->t", delta, self.weight, delta), 0.0))


class Apart:
    """All bodies of a run, measured from where they are now."""

    def __init__(self, runner: Runner) -> None:
        packed = runner.packed
        self.bodies = [
            _measure(arrays, int(row[t.W_Q]) - packed.first)
            for row, arrays in zip(packed.model.bodies, packed.arrays.values(), strict=True)
        ]
        here = packed.w[packed.first : packed.first + packed.kept][None]
        self.starts = [body.centre(here)[0] for body in self.bodies]
        self.sizes = np.array([body.size for body in self.bodies])

    def errors(self, coarse: np.ndarray, fine: np.ndarray) -> np.ndarray:
        """The largest distance of each body in these rows."""
        return np.array([body.apart(coarse, fine).max(initial=0.0) for body in self.bodies])

    def reach(self, rows: np.ndarray) -> np.ndarray:
        """How far each body is from where it was, at most."""
        centres = (body.centre(rows) - start for body, start in zip(self.bodies, self.starts, strict=True))
        return np.array([np.linalg.norm(c, axis=1).max(initial=0.0) for c in centres])

    def round_off(self, rows: np.ndarray) -> np.ndarray:
        """What positions of each body are not known to."""
        far = [float(np.abs(body.centre(rows)).max(initial=0.0)) for body in self.bodies]
        return ROUND_OFF * (np.array(far) + self.sizes)


def _measure(arrays: Arrays, at: int) -> Measure:
    axes, n, m = AXES[arrays.turning], arrays.body.coordinates, arrays.body.inertia.m
    J = np.zeros((3, 3))
    for (i, k), value in zip(PAIRS[arrays.turning], arrays.rotary[0], strict=True):
        J[i, k] = J[k, i] = value
    c = arrays.coupling[0]
    weight = np.block([[J[np.ix_(axes, axes)], c], [c.T, arrays.M_ff]]) / m
    size = float(np.sqrt(max(np.trace(arrays.second[0]), 0.0) / m)) if axes else 0.0
    return Measure(at, axes, n, weight, size)


def _turns(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Rotation vectors of AᵀB, as rows."""
    R = np.einsum("tji,tjk->tik", A, B)
    sine = 0.5 * np.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], axis=1)
    size = np.linalg.norm(sine, axis=1)
    angle = np.arctan2(size, 0.5 * (np.trace(R, axis1=1, axis2=2) - 1.0))
    return sine * np.divide(angle, size, out=np.ones_like(size), where=size > 0.0)[:, None]
