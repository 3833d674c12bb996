"""Numbers as the vectors of the processor like them: rows padded to a multiple of four, quadratic forms in strips of four rows."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np

from phloat.motion.kernel.machine.simd import FOUR


def short(values: np.ndarray | Sequence[Any], columns: int) -> np.ndarray:
    """A table of numbers of 32 bits."""
    return np.array(values, dtype=np.int32).reshape(-1, columns)


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
