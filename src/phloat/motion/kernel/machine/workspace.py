"""Buffers, rows padded to a multiple of four, and where bodies work in w: a room of their own, and one used in turn."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from phloat.motion.kernel import tables as t
from phloat.motion.kernel.machine.simd import FOUR
from phloat.motion.kernel.machine.threads import MOST_RANGES

WORTH = 4096  # numbers of D that are worth a range of bodies of their own, for threads to share
IN_TURN = [t.W_NV, t.W_GV, t.W_SBAR, t.W_BM, t.W_B1]


@dataclass(eq=False)
class Buffer:
    """A growing row of numbers; what is put gets the place where it starts."""

    parts: list[np.ndarray] = field(default_factory=list)
    size: int = 0

    def put(self, values: np.ndarray | Sequence[float] | float) -> int:
        flat = np.asarray(values).ravel()
        self.parts.append(flat)
        self.size += flat.size
        return self.size - flat.size

    def room(self, size: int) -> int:
        return self.put(np.zeros(size))

    def made(self, dtype: type) -> np.ndarray:
        return np.concatenate([np.zeros(0), *self.parts]).astype(dtype)


def short(values: np.ndarray | Sequence[Any], columns: int) -> np.ndarray:
    """A table of numbers of 32 bits."""
    return np.array(values, dtype=np.int32, order="C").reshape(-1, columns)


def fours(n: int) -> int:
    """The next multiple of four."""
    return -(-n // FOUR) * FOUR


def padded(values: np.ndarray) -> np.ndarray:
    """Rows with zeros up to a multiple of four."""
    n = values.shape[-1]
    out = np.zeros((*values.shape[:-1], fours(n)))
    out[..., :n] = values
    return out


def strips(n: int, triples: np.ndarray, values: np.ndarray) -> tuple[list[list[int]], np.ndarray]:
    """Q in strips of four rows: (strain, first row, how many columns, which columns) of each, and four numbers a column."""
    found: dict[tuple[int, int], dict[int, np.ndarray]] = {}
    starts: dict[int, list[int]] = {}
    for strain, row in sorted(set(map(tuple, triples[:, :2].tolist()))):
        mine = starts.setdefault(strain, [])
        if not mine or row >= mine[-1] + FOUR:
            mine.append(min(row, fours(n) - FOUR))
            found[strain, mine[-1]] = {}
    for (strain, row, column), value in zip(triples.tolist(), values.tolist(), strict=True):
        first = starts[strain][bisect_right(starts[strain], row) - 1]
        found[strain, first].setdefault(column, np.zeros(FOUR))[row - first] = value
    made = [[strain, first, len(columns), *columns] for (strain, first), columns in found.items()]
    return made, np.array([four for columns in found.values() for four in columns.values()])


def room(row: np.ndarray, w: Buffer) -> None:
    """The workspace of one body."""
    long, rot, wide, s = row[t.LONG], row[t.N_ROT], row[t.WIDE], row[t.N_STRAIN]
    pairs = rot * (rot + 1) // 2
    rooms = {
        **dict.fromkeys(
            (t.W_X, t.W_GAM, t.W_F, t.W_Y, t.W_SCALE, t.W_UNIT), wide + FOUR
        ),  # a padded row may reach beyond
        **dict.fromkeys((t.W_OLD, t.W_OLDER, t.W_OLDEST), wide),
        t.W_B: 2 * long,
        t.W_FPRE: long,
        t.W_DJ: pairs * long,
        t.W_C: rot * long,  # after ∂J
        t.W_G0: rot * long,
        **dict.fromkeys((t.W_EPS, t.W_PRE), s),
        t.W_Q1: t.Q_ETA + long,
        t.W_QT: 9,
        t.W_PORTS: 2,
        t.W_J: pairs,
        t.W_P: t.MOMENTUM_ETA + long,
        t.W_PM: 3,
        t.W_D: wide * wide + FOUR,
    }
    for column, amount in rooms.items():
        row[column] = w.room(int(amount))


def share(bodies: np.ndarray, w: Buffer) -> None:
    """Workspace that these bodies use in turn."""
    n, rot, s = bodies[:, t.LONG], bodies[:, t.N_ROT], bodies[:, t.N_STRAIN]
    reached = s * n + FOUR  # the last strip of a body with few coordinates reaches beyond
    rooms = (rot * (rot + 1) // 2 * n, (rot + 1) * n, s, reached, reached)
    at = np.full(len(bodies), w.room(int(np.sum(rooms, axis=0).max(initial=0))))
    for column, amounts in zip(IN_TURN, rooms, strict=True):
        bodies[:, column] = at
        at = at + amounts


def ranges(bodies: np.ndarray) -> np.ndarray:
    """Bodies in ranges of about equal work: first, beyond the last."""
    work = bodies[:, t.WIDE].astype(float) ** 2
    count = int(min(max(work.sum() // WORTH, 1), MOST_RANGES))
    of = ((np.cumsum(work) - 0.5 * work) / work.sum() * count).astype(int)
    starts = np.flatnonzero(np.diff(of, prepend=-1))
    return short(np.column_stack([starts, [*starts[1:], len(bodies)]]), 2)


def unranged(bodies: np.ndarray) -> np.ndarray:
    """The table of bodies as if all of them used the first workspace: it says nothing of ranges."""
    out = bodies[:, : t.W_T].copy()
    out[:, IN_TURN] -= out[:, [t.W_NV]] - out[0, t.W_NV]
    return out


def factor_ranges(bodies: np.ndarray, incidences: np.ndarray, where: np.ndarray) -> list[tuple[int, int]]:
    """Where each stretch of them begins, and how many numbers it has."""
    kinds = {int(b[t.W_DW]): b for b in bodies}.values()
    return [
        *((b[t.W_DW], b[t.WIDE] ** 2) for b in kinds),
        *((b[t.W_D0], 2 * b[t.N_ETA] * b[t.LONG]) for b in kinds),
        *((b[t.W_D], b[t.WIDE] ** 2) for b in bodies),
        *((b[t.W_SOL], b[t.WIDE] * b[t.N_MULT]) for b in bodies),
        *((b[column], b[t.SIZE]) for b in bodies for column in (t.W_SCALE, t.W_UNIT)),
        *((g[t.G_HAT], g[t.G_ROWS] * b[t.WIDE]) for b in bodies for g in incidences[b[t.FIRST_INC] :][: b[t.N_INC]]),
        (where[t.S_AT], where[t.S_SIZE]),
        (where[t.PIVOTS], where[t.MULTIPLIERS]),
    ]
