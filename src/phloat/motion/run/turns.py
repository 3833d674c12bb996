"""Whole turns of joints in space, counted at every step, because output rows may be many turns apart.

In a plane absolute angles count them; in space an angle is read from directions, which say it up to whole turns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phloat.joints.rows import FIRST, SECOND, Row
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.pack import Packed, Side, side
from phloat.system.connection import Connection
from phloat.system.system import System


@dataclass(frozen=True, eq=False)
class TurnCounter:
    """The angles of joints in space, from the kept numbers of steps."""

    packed: Packed
    joints: tuple[tuple[Side, Side, Row], ...]

    def wrapped(self, kept: np.ndarray) -> np.ndarray:
        """Angles between −π and π, (rows, joints)."""
        return np.stack([self._angle(kept, *joint) for joint in self.joints], axis=1)

    def unwrapped(self, before: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """Angles with their turns, from those of the step before."""
        return np.unwrap(np.vstack([before, self.wrapped(kept)]), axis=0)[1:]

    def _angle(self, kept: np.ndarray, first: Side, second: Side, row: Row) -> np.ndarray:
        (_, i, j), (_, k, l) = row.terms[0], row.other_terms[0]
        i, j, k, l = i - FIRST, j - SECOND, k - FIRST, l - SECOND
        a, b = self._directions(kept, first), self._directions(kept, second)
        return np.arctan2((a[:, i] * b[:, j]).sum(axis=1), (a[:, k] * b[:, l]).sum(axis=1))

    def _directions(self, kept: np.ndarray, end: Side) -> np.ndarray:
        """Directions of a joint at one of its ends, (rows, 3, 3), one below the other."""
        if end.body < 0 or end.port is None:
            return np.broadcast_to(end.triad, (len(kept), 3, 3))
        at = int(self.packed.model.bodies[end.body, t.W_Q]) - self.packed.first
        A, Psi = kept[:, at + 3 : at + 12].reshape(-1, 3, 3), end.port.Psi
        if not Psi.any():
            return np.swapaxes(A @ end.triad.T, 1, 2)
        psi = kept[:, at + 12 : at + 12 + Psi.shape[1]] @ Psi.T
        turned = np.cross(psi[:, None], end.triad[None])
        bent = end.triad + turned + np.cross(psi[:, None], turned) / 3.0
        return bent @ np.swapaxes(A, 1, 2)


def spatial_angles(system: System) -> dict[str, tuple[Connection, Row]]:
    """The angles of joints in space by name."""
    if system.plane:
        return {}
    return {f"{c.name}.{row.label}": (c, row) for c in system.joints.values() for row in c.coordinates if row.is_angle}


def turn_counter(system: System, packed: Packed, output: object) -> TurnCounter | None:
    """A counter of turns, if there are joints in space that turn and not every step is output."""
    there = spatial_angles(system)
    if not there or (isinstance(output, int) and output == 1):
        return None
    joints = [c for c, _ in there.values()]
    sides = [(side(system, c.first), side(system, c.second)) for c in joints]
    return TurnCounter(packed, tuple((*ends, row) for ends, (_, row) in zip(sides, there.values(), strict=True)))
