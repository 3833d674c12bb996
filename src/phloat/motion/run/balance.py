"""What the energy of a run misses while it goes on."""

from __future__ import annotations

import numpy as np

from phloat.motion.kernel import tables as t
from phloat.motion.kernel.step import snapshot
from phloat.motion.run.assembled import Assembled


class Balance:
    """ΔH of the bodies + Σ losses − Σ works, beside the largest of these so far: called at any time of a run.

    `changes` are what events did to H, as (time, event, change).
    """

    def __init__(self, run: Assembled, changes: list[tuple[float, int, float]]) -> None:
        self.run, self.changes, self.largest = run, changes, 0.0
        self.start = self._lines()

    def __call__(self) -> float:
        now = self._lines()
        changed = sum(change for _, _, change in self.changes)
        residual = float(np.sum(now - self.start)) - changed
        self.largest = max(self.largest, float(np.abs(now).max(initial=0.0)), abs(changed))
        return abs(residual) / self.largest if self.largest else 0.0

    def _lines(self) -> np.ndarray:
        """Energies and losses of bodies, and works on them with the sign of what leaves."""
        p = self.run.packed
        row, springs = np.zeros(p.kept), np.zeros(len(p.entries))
        snapshot(p.model, p.w, p.gravity, p.first, row, springs)
        energies = [row[b[t.W_ENERGY] - p.first :][:3] for b in p.model.bodies]
        losses = [row[b[t.W_LOSS] - p.first] for b in p.model.bodies]
        at = int(p.model.entries[0, t.J_WORK]) - p.first if len(p.entries) else 0
        works = row[at : at + 2 * len(p.entries)]
        return np.concatenate([np.ravel(energies), self.run.constant, losses, -works])
