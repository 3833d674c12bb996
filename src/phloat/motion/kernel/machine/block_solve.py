"""Block LU factorisation of the system on the multipliers, S = Σ Ĝ D⁻¹ Gᵀ, by a program that is made once.

`program` lists the block operations in the order of elimination; its length is that of the fill, so the cost of a chain or tree of
bodies is proportional to its length. Redundant rows (a vanishing pivot) are left out of the solution.
"""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from phloat.motion.kernel.machine.compiler import hot, inner

FACTOR, DIVIDE, LOWER, SUBTRACT = range(4)
OPERATION = 7  # columns of `program`: operation, three blocks (offsets in w), sizes, offset of the pivots
VANISHED = 1e-12


@inner
def factorise(program, w, diagonal):
    """Factorises S by block LU without row exchange: S is nearly symmetric and positive. Returns the number of vanished pivots."""
    vanished = 0
    for k in range(len(program)):
        operation, a, b, c = program[k, 0], program[k, 1], program[k, 2], program[k, 3]
        m, n, p = program[k, 4], program[k, 5], program[k, 6]
        if operation == FACTOR:
            vanished += _factor_block(w, a, m, diagonal + p)
        elif operation == DIVIDE:
            _divide(w, a, b, m, n, diagonal + p)
        elif operation == LOWER:
            _lower_many(w, a, b, m, n)
        else:
            _subtract(w, a, b, c, m, n, p)
    return vanished


@inner
def _factor_block(w, a, m, diagonal):
    """LU of a diagonal block in place; the inverse of a pivot that vanishes relative to its first value is set to 0."""
    vanished = 0
    for k in range(m):
        pivot = w[a + k * m + k]
        if abs(pivot) > VANISHED * abs(w[diagonal + k]):
            inverse = 1.0 / pivot
        else:
            inverse = 0.0
            vanished += 1
        w[diagonal + k] = inverse
        for i in range(k + 1, m):
            factor = w[a + i * m + k] * inverse
            w[a + i * m + k] = factor
            for j in range(k + 1, m):
                w[a + i * m + j] -= factor * w[a + k * m + j]
    return vanished


@inner
def _divide(w, a, b, m, n, diagonal):
    """The block a (m × n) below the factored diagonal block b (n × n): a ← a U⁻¹."""
    for i in range(m):
        row = a + i * n
        for k in range(n):
            value = w[row + k]
            for j in range(k):
                value -= w[row + j] * w[b + j * n + k]
            w[row + k] = value * w[diagonal + k]


@inner
def _lower_many(w, a, b, m, n):
    """The block a (m × n) right of the factored diagonal block b (m × m): a ← L⁻¹a."""
    for i in range(1, m):
        for k in range(i):
            factor = w[b + i * m + k]
            if factor != 0.0:
                for j in range(n):
                    w[a + i * n + j] -= factor * w[a + k * n + j]


@inner
def _subtract(w, a, b, c, m, n, p):
    """c (m × n) −= a (m × p) b (p × n)."""
    for i in range(m):
        for k in range(p):
            factor = w[a + i * p + k]
            if factor != 0.0:
                for j in range(n):
                    w[c + i * n + j] -= factor * w[b + k * n + j]


@hot
def _subtract_product(w, a, m, n, x, y):
    """y −= a x for a block a (m × n)."""
    for i in range(m):
        total = 0.0
        for j in range(n):
            total += w[a + i * n + j] * w[x + j]
        w[y + i] -= total


@inner
def backsolve(order, blocks, entry_of, sweep, w, x, diagonal):
    """x ← S⁻¹x. `blocks` (entries × 3): offset, size and position in x of each diagonal block; `sweep`: the others, by entry."""
    n = len(order)
    for k in range(n):
        e = order[k]
        o, m, x_block = blocks[e, 0], blocks[e, 1], x + blocks[e, 2]
        for i in range(1, m):  # L⁻¹
            _subtract_product(w, o + i * m, 1, i, x_block, x_block + i)
        for s in range(entry_of[k, 0], entry_of[k, 1]):  # L blocks below the diagonal in this column
            _subtract_product(w, sweep[s, 1], sweep[s, 2], m, x_block, x + sweep[s, 0])
    for k in range(n - 1, -1, -1):
        e = order[k]
        o, m, x_block = blocks[e, 0], blocks[e, 1], x + blocks[e, 2]
        for s in range(entry_of[k, 0], entry_of[k, 1]):  # U blocks right of the diagonal in this row
            _subtract_product(w, sweep[s, 3], m, sweep[s, 2], x + sweep[s, 0], x_block)
        for i in range(m - 1, -1, -1):  # U⁻¹; 0 where the pivot vanished
            _subtract_product(w, o + i * (m + 1) + 1, 1, m - 1 - i, x_block + i + 1, x_block + i)
            w[x_block + i] *= w[diagonal + blocks[e, 2] + i]


# --- the order of elimination (minimum degree) and its program ---------------------------------


@dataclass(frozen=True, eq=False)
class Elimination:
    """Offsets of the blocks of S, the count of its numbers, the order of elimination and its program."""

    offsets: dict[tuple[int, int], int]
    size: int
    order: np.ndarray
    program: np.ndarray
    entry_of: np.ndarray
    sweep: np.ndarray


def plan_elimination(
    sizes: Sequence[int], starts: Sequence[int], coupled: Iterable[tuple[int, int]], offset: int
) -> Elimination:
    """The elimination of S, at `offset` in w, for blocks of these sizes that begin at `starts` in the vector of multipliers."""
    count = len(sizes)
    neighbours: list[set[int]] = [set() for _ in range(count)]
    for a, b in coupled:
        if a != b:
            neighbours[a].add(b)
            neighbours[b].add(a)
    order, later = _least_degree(neighbours)
    offsets: dict[tuple[int, int], int] = {}
    size = 0
    for k in order:
        for a, b in [(k, k)] + [pair for i in later[k] for pair in ((i, k), (k, i))]:
            offsets[a, b] = offset + size
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


def _least_degree(neighbours: list[set[int]]) -> tuple[list[int], list[list[int]]]:
    """The order of elimination, and for each block its neighbours that are eliminated after it."""
    neighbours = [set(n) for n in neighbours]
    queue = [(len(n), k) for k, n in enumerate(neighbours)]
    heapq.heapify(queue)
    order: list[int] = []
    later: list[list[int]] = [[] for _ in neighbours]
    is_eliminated = [False] * len(neighbours)
    while queue:
        degree, k = heapq.heappop(queue)
        if is_eliminated[k] or degree != len(neighbours[k]):
            continue
        is_eliminated[k] = True
        order.append(k)
        later[k] = sorted(neighbours[k])
        for i in neighbours[k]:
            neighbours[i] |= neighbours[k]
            neighbours[i] -= {i, k}
            heapq.heappush(queue, (len(neighbours[i]), i))
    return order, later
