"""In which order the blocks of S are eliminated (least degree first), and the program of operations that follows from it."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from phloat.motion.kernel.machine.block_solve import DIVIDE, FACTOR, LOWER, OPERATION, SUBTRACT


@dataclass(frozen=True, eq=False)
class Elimination:
    """Where the blocks of S stand (from 0 on), how many numbers they are, and what to do with them in turn."""

    offsets: dict[tuple[int, int], int]
    size: int
    order: np.ndarray
    program: np.ndarray
    entry_of: np.ndarray
    sweep: np.ndarray


def eliminated(sizes: Sequence[int], starts: Sequence[int], coupled: Iterable[tuple[int, int]], at: int) -> Elimination:
    """For blocks of the given sizes that stand at `starts` in the vector of multipliers; S itself stands at `at`."""
    count = len(sizes)
    near: list[set[int]] = [set() for _ in range(count)]
    for a, b in coupled:
        if a != b:
            near[a].add(b)
            near[b].add(a)
    order, later = _least_degree(near)
    offsets: dict[tuple[int, int], int] = {}
    size = 0
    for k in order:
        for a, b in [(k, k)] + [pair for i in later[k] for pair in ((i, k), (k, i))]:
            offsets[a, b] = at + size
            size += sizes[a] * sizes[b]
    program: list[tuple[int, ...]] = []
    entry_of: list[tuple[int, int]] = []
    sweep: list[tuple[int, int, int, int]] = []
    for k in order:
        program.append((FACTOR, offsets[k, k], 0, 0, sizes[k], 0, starts[k]))
        entry_of.append((len(sweep), len(sweep) + len(later[k])))
        for i in later[k]:
            program.append((DIVIDE, offsets[i, k], offsets[k, k], 0, sizes[i], sizes[k], starts[k]))
            program.append((LOWER, offsets[k, i], offsets[k, k], 0, sizes[k], sizes[i], 0))
            sweep.append((starts[i], offsets[i, k], sizes[i], offsets[k, i]))
        for i in later[k]:
            for j in later[k]:
                target = offsets[i, j]
                program.append((SUBTRACT, offsets[i, k], offsets[k, j], target, sizes[i], sizes[j], sizes[k]))
    return Elimination(
        offsets,
        size,
        np.array(order, dtype=np.int64),
        np.array(program, dtype=np.int32).reshape(-1, OPERATION),
        np.array(entry_of, dtype=np.int32).reshape(-1, 2),
        np.array(sweep, dtype=np.int32).reshape(-1, 4),
    )


def _least_degree(near: list[set[int]]) -> tuple[list[int], list[list[int]]]:
    """The order, and for each block those eliminated after it that it is coupled to."""
    near = [set(n) for n in near]
    queue = [(len(n), k) for k, n in enumerate(near)]
    heapq.heapify(queue)
    order: list[int] = []
    later: list[list[int]] = [[] for _ in near]
    done = [False] * len(near)
    while queue:
        degree, k = heapq.heappop(queue)
        if done[k] or degree != len(near[k]):
            continue
        done[k] = True
        order.append(k)
        later[k] = sorted(near[k])
        for i in near[k]:
            near[i] |= near[k]
            near[i] -= {i, k}
            heapq.heappush(queue, (len(near[i]), i))
    return order, later
