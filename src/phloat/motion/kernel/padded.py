"""Numbers as the vectors of the processor like them: rows padded to a multiple of four, quadratic forms in strips of four rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from phloat.motion.kernel.lanes import FOUR


def short(values: np.ndarray | Sequence[Any], columns: int) -> np.ndarray:
    """A table of numbers of 32 bits."""
    return np.array(values, dtype=np.int32).reshape(-1, columns)


def fours(n: int) -> int:
    """The next multiple of four."""
    return -(-n // FOUR) * FOUR


def padded(values: np.ndarray) -> np.ndarray:
    """Rows with zeros up to a multiple of four."""
    n = values.shape[-1]
    return np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, fours(n) - n)])


def strips(n: int, triples: np.ndarray, values: np.ndarray) -> tuple[list[list[int]], np.ndarray]:
    """Q in strips of four rows: (strain, first row, how many columns, which columns) of each, and four numbers a column."""
    found: dict[tuple[int, int], dict[int, np.ndarray]] = {}
    for strain, rows in ((s, sorted(set(triples[triples[:, 0] == s, 1]))) for s in sorted(set(triples[:, 0]))):
        starts: list[int] = []
        for r in rows:
            if not starts or r >= starts[-1] + FOUR:
                starts.append(int(r))
                found[strain, min(int(r), fours(n) - FOUR)] = {}
    for (strain, row, column), value in zip(triples, values, strict=True):
        first = max(start for s, start in found if s == strain and start <= row)
        found[strain, first].setdefault(int(column), np.zeros(FOUR))[row - first] = value
    made = [[int(strain), first, len(columns), *columns] for (strain, first), columns in found.items()]
    return made, np.array([four for columns in found.values() for four in columns.values()])
