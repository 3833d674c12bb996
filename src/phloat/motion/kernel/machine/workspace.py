"""Growing buffers, rows padded to a multiple of four, and the workspaces of bodies in w: private, or shared by a range."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from phloat.motion.kernel import tables as t
from phloat.motion.kernel.machine.simd import FOUR
from phloat.motion.kernel.machine.threads import MOST_RANGES

RANGE_WORK = 4096  # numbers in D from which a range of bodies is worth a thread
SHARED_COLUMNS = [t.W_NV, t.W_GV, t.W_SBAR, t.W_BM, t.W_B1]


@dataclass(eq=False)
class Buffer:
    """A growing vector; `append` and `reserve` return the offset of the new numbers."""

    parts: list[np.ndarray] = field(default_factory=list)
    size: int = 0

    def append(self, values: np.ndarray | Sequence[float] | float) -> int:
        flat = np.asarray(values).ravel()
        self.parts.append(flat)
        self.size += flat.size
        return self.size - flat.size

    def reserve(self, size: int) -> int:
        return self.append(np.zeros(size))

    def array(self, dtype: type) -> np.ndarray:
        return np.concatenate([np.zeros(0), *self.parts]).astype(dtype)


def int32_table(values: np.ndarray | Sequence[Any], columns: int) -> np.ndarray:
    """A table of 32-bit integers with this number of columns."""
    return np.array(values, dtype=np.int32, order="C").reshape(-1, columns)


def padded_length(n: int) -> int:
    """The next multiple of four."""
    return -(-n // FOUR) * FOUR


def pad_rows(values: np.ndarray) -> np.ndarray:
    """Rows padded with zeros to a multiple of four."""
    n = values.shape[-1]
    out = np.zeros((*values.shape[:-1], padded_length(n)))
    out[..., :n] = values
    return out


def strips(n: int, triples: np.ndarray, values: np.ndarray) -> tuple[list[list[int]], np.ndarray]:
    """Q in strips of four rows: (strain, first row, number of columns, columns) of each, and four numbers per column."""
    columns_of_strip: dict[tuple[int, int], dict[int, np.ndarray]] = {}
    starts: dict[int, list[int]] = {}
    for strain, row in sorted(set(map(tuple, triples[:, :2].tolist()))):
        strip_starts = starts.setdefault(strain, [])
        if not strip_starts or row >= strip_starts[-1] + FOUR:
            strip_starts.append(min(row, padded_length(n) - FOUR))
            columns_of_strip[strain, strip_starts[-1]] = {}
    for (strain, row, column), value in zip(triples.tolist(), values.tolist(), strict=True):
        first = starts[strain][bisect_right(starts[strain], row) - 1]
        columns_of_strip[strain, first].setdefault(column, np.zeros(FOUR))[row - first] = value
    index_lists = [[strain, first, len(columns), *columns] for (strain, first), columns in columns_of_strip.items()]
    return index_lists, np.array([four for columns in columns_of_strip.values() for four in columns.values()])


def body_workspace(row: np.ndarray, w: Buffer) -> None:
    """Reserves the private workspace of one body and writes its offsets into its row."""
    padded_n, rot, wide, s = row[t.LONG], row[t.N_ROT], row[t.WIDE], row[t.N_STRAIN]
    pairs = rot * (rot + 1) // 2
    sizes = {
        **dict.fromkeys(
            (t.W_X, t.W_GAM, t.W_F, t.W_Y, t.W_SCALE, t.W_UNIT), wide + FOUR
        ),  # a padded row may reach beyond
        **dict.fromkeys((t.W_OLD, t.W_OLDER, t.W_OLDEST), wide),
        t.W_B: 2 * padded_n,
        t.W_FPRE: padded_n,
        t.W_DJ: pairs * padded_n,
        t.W_C: rot * padded_n,  # after ∂J
        t.W_G0: rot * padded_n,
        **dict.fromkeys((t.W_EPS, t.W_PRE), s),
        t.W_Q1: t.Q_ETA + 2 * padded_n,  # and η̄
        t.W_QT: 9,
        t.W_PORTS: 2,
        t.W_J: pairs,
        t.W_P: t.MOMENTUM_ETA + padded_n,
        t.W_PM: 3,
        t.W_D: wide * wide + FOUR,
    }
    for column, amount in sizes.items():
        row[column] = w.reserve(int(amount))


def shared_workspace(bodies: np.ndarray, w: Buffer) -> None:
    """Reserves one workspace that these bodies use in turn."""
    n, rot, s = bodies[:, t.LONG], bodies[:, t.N_ROT], bodies[:, t.N_STRAIN]
    membrane_size = s * n + FOUR  # the last strip of a body with few coordinates extends beyond its row
    sizes = (rot * (rot + 1) // 2 * n, (rot + 1) * n, s, membrane_size, membrane_size)
    offset = np.full(len(bodies), w.reserve(int(np.sum(sizes, axis=0).max(initial=0))))
    for column, amounts in zip(SHARED_COLUMNS, sizes, strict=True):
        bodies[:, column] = offset
        offset = offset + amounts


def ranges(bodies: np.ndarray) -> np.ndarray:
    """Divides the bodies into ranges of about equal work: index of the first body, and beyond the last."""
    work = bodies[:, t.WIDE].astype(float) ** 2
    count = int(min(max(work.sum() // RANGE_WORK, 1), MOST_RANGES))
    range_of_body = ((np.cumsum(work) - 0.5 * work) / work.sum() * count).astype(int)
    starts = np.flatnonzero(np.diff(range_of_body, prepend=-1))
    return int32_table(np.column_stack([starts, [*starts[1:], len(bodies)]]), 2)


def without_ranges(bodies: np.ndarray) -> np.ndarray:
    """The table of bodies as if all used the first workspace, so that it does not depend on the ranges."""
    out = bodies[:, : t.W_T].copy()
    out[:, SHARED_COLUMNS] -= out[:, [t.W_NV]] - out[0, t.W_NV]
    return out


def factor_ranges(bodies: np.ndarray, incidences: np.ndarray, offsets: np.ndarray) -> list[tuple[int, int]]:
    """Offset and length of each part of w that depends on the step size: the factors."""
    kinds = {int(b[t.W_DW]): b for b in bodies}.values()
    return [
        *((b[t.W_DW], b[t.WIDE] ** 2) for b in kinds),
        *((b[t.W_D0], 2 * b[t.N_ETA] * b[t.LONG]) for b in kinds),
        *((b[t.W_D], b[t.WIDE] ** 2) for b in bodies),
        *((b[t.W_SOL], b[t.WIDE] * b[t.N_MULT]) for b in bodies),
        *((b[column], b[t.SIZE]) for b in bodies for column in (t.W_SCALE, t.W_UNIT)),
        *((g[t.G_HAT], g[t.G_ROWS] * b[t.WIDE]) for b in bodies for g in incidences[b[t.FIRST_INC] :][: b[t.N_INC]]),
        (offsets[t.S_AT], offsets[t.S_SIZE]),
        (offsets[t.PIVOTS], offsets[t.MULTIPLIERS]),
    ]
