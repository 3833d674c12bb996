"""The Cholesky factor L Lᵀ = P A Pᵀ of a large sparse positive definite matrix: P by nested dissection, L in dense panels.

METIS finds P (nested dissection: George, 1973). Columns of L with nearly the same rows form a panel, a dense matrix, so that the
arithmetic is that of matrix products (left-looking supernodal factorisation: Ng and Peyton, 1993). The diagonal block of a panel is
stored inverted, so that solutions are matrix products too.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numba as nb
import numpy as np
import scipy.sparse as sp

from phloat.algebra.threads import one_thread

MEMORY = Path("/proc/meminfo")
WIDTH = 128  # columns of a panel at most
RELAXED = ((4, 1.0), (16, 0.8), (48, 0.1), (WIDTH, 0.05))  # zeros that are stored, relative, up to a number of columns

jit = nb.njit(cache=True, error_model="numpy")


class Panels(NamedTuple):
    """Panel k has the columns first[k] : first[k + 1] of L and the rows rows[row[k] : row[k + 1]], columns first."""

    first: np.ndarray
    row: np.ndarray
    rows: np.ndarray
    entry: np.ndarray  # the first entry of every panel in the array of all entries


class SparseCholesky:
    """L Lᵀ = P A Pᵀ. Raises LinAlgError if A is not positive definite, MemoryError if L does not fit into the memory."""

    @one_thread()
    def __init__(self, A: sp.csr_array):
        A = sp.csr_array(0.5 * (A + A.T))  # an entry that is zero on one side only would crash METIS
        order = nested_dissection(A)
        ptr, ind = A.indptr.astype(np.int64), A.indices.astype(np.int32, copy=False)
        parent = _tree(ptr, ind, order, np.argsort(order))
        self.order = order[_postorder(parent)]
        place = np.argsort(self.order)
        parent = _tree(ptr, ind, self.order, place)
        first = _panels(parent, _counts(ptr, ind, self.order, place, parent), np.array(RELAXED))
        owner = np.repeat(np.arange(len(first) - 1), np.diff(first))
        height, tree = np.zeros(len(first) - 1, np.int64), (ptr, ind, self.order, place, parent, first, owner)
        _rows(*tree, height, np.empty(0, np.int32))
        row, entry = _starts(height), _starts(height * np.diff(first))
        rows = np.empty(row[-1], np.int32)
        _rows(*tree, row[:-1].copy(), rows)
        self.panels = Panels(first, row, rows, entry)
        _require_memory(8 * int(entry[-1]), A.shape[0])
        self.L = np.zeros(entry[-1])
        work = np.empty(int(height.max(initial=0) * np.diff(first).max(initial=0)))
        _factorise(ptr, ind, A.data, self.order, place, owner, self.panels, self.L, work)

    @one_thread()
    def solve(self, f: np.ndarray) -> np.ndarray:
        """A⁻¹f for one column f or several."""
        x = np.ascontiguousarray(f[self.order], dtype=float)
        _solve(self.panels, self.L, x.reshape(len(x), -1))
        out = np.empty_like(x)
        out[self.order] = x
        return out


def nested_dissection(A: sp.csr_array) -> np.ndarray:
    """The order of unknowns by METIS, (n,). Raises ImportError without pymetis."""
    import pymetis

    rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    beside = A.indices != rows
    start = _starts(np.bincount(rows[beside], minlength=A.shape[0]))
    return np.array(pymetis.nested_dissection(pymetis.CSRAdjacency(start, A.indices[beside]))[0])


def _require_memory(size: int, unknowns: int) -> None:
    """Raises MemoryError if less than `size` bytes of memory are free, on systems that say so (Linux)."""
    try:
        lines = MEMORY.read_text(encoding="ascii").splitlines()
    except OSError:
        return
    free = next((1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")), size)
    if size > free:
        raise MemoryError(
            f"the factor of a matrix of {unknowns} unknowns needs {size / 1e9:.1f} GB and {free / 1e9:.1f} GB are free; take a "
            "coarser mesh or order=1, or compute modes by multigrid (docs/continua.md, large meshes)"
        )


def _starts(sizes: np.ndarray) -> np.ndarray:
    """Where blocks of these sizes start that follow each other, and the end of the last."""
    return np.concatenate([[0], np.cumsum(sizes)])


@jit
def _tree(ptr, ind, order, place):
    """The elimination tree: the parent of every column, −1 for roots (Liu, 1986)."""
    n = len(order)
    parent, ancestor = np.full(n, -1), np.full(n, -1)
    for i in range(n):
        for p in range(ptr[order[i]], ptr[order[i] + 1]):
            k = place[ind[p]]
            while k != -1 and k < i:
                above, ancestor[k] = ancestor[k], i
                if above == -1:
                    parent[k] = i
                k = above
    return parent


@jit
def _postorder(parent):
    """The columns, children before parents and every subtree in sequence."""
    n = len(parent)
    head, following, out, stack = np.full(n + 1, -1), np.full(n, -1), np.empty(n, np.int64), np.empty(n + 1, np.int64)
    for j in range(n - 1, -1, -1):
        following[j], head[parent[j]] = head[parent[j]], j  # roots in the last place
    stack[0], depth, count = n, 0, 0
    while depth >= 0:
        child = head[stack[depth]]
        if child != -1:
            head[stack[depth]] = following[child]
            depth += 1
            stack[depth] = child
            continue
        if depth:
            out[count] = stack[depth]
            count += 1
        depth -= 1
    return out


@jit
def _counts(ptr, ind, order, place, parent):
    """The number of entries of every column of L."""
    n = len(order)
    count, seen = np.ones(n, np.int64), np.full(n, -1)
    for i in range(n):
        seen[i] = i
        for p in range(ptr[order[i]], ptr[order[i] + 1]):
            k = place[ind[p]]
            while k < i and seen[k] != i:
                seen[k] = i
                count[k] += 1
                k = parent[k]
    return count


@jit
def _panels(parent, count, relaxed):
    """The first columns of the panels, and n. The last column of a panel is above all others of it in the tree."""
    n, groups = len(parent), 0
    first, height, zeros = np.empty(n + 1, np.int64), np.empty(n, np.int64), np.empty(n)
    for j in range(n):
        first[groups], height[groups], zeros[groups] = j, count[j], 0.0
        while groups and 0 <= parent[first[groups] - 1] <= j:
            before = first[groups] - first[groups - 1]
            columns, rows = j + 1 - first[groups - 1], before + height[groups]
            more = zeros[groups - 1] + zeros[groups] + before * (rows - height[groups - 1])
            limit = 0.0
            for k in range(len(relaxed) - 1, -1, -1):
                if columns <= relaxed[k, 0]:
                    limit = relaxed[k, 1]
            if columns > relaxed[-1, 0] or more > limit * columns * rows:
                break
            groups -= 1
            height[groups], zeros[groups] = rows, more
        groups += 1
        first[groups] = j + 1
    return first[: groups + 1]


@jit
def _rows(ptr, ind, order, place, parent, first, owner, following, rows):
    """Writes the rows of every panel, ascending, from following[panel] on, which it advances; counts only if `rows` is empty."""
    seen = np.full(len(following), -1)
    for i in range(len(order)):
        for p in range(ptr[order[i]], ptr[order[i] + 1]):
            k = owner[
                min(place[ind[p]], i)
            ]  # that of i itself, and those below it in the tree from which row i is reached
            while seen[k] != i:
                seen[k] = i
                if len(rows):
                    rows[following[k]] = i
                following[k] += 1
                if k == owner[i]:
                    break
                k = owner[parent[first[k + 1] - 1]]


@jit
def _factorise(ptr, ind, data, order, place, owner, panels, L, work):
    """Writes the factor to L. Raises LinAlgError if a block on the diagonal is not positive definite."""
    first, row, rows, entry = panels
    count = len(first) - 1
    head, following, used = np.full(count, -1), np.full(count, -1), np.zeros(count, np.int64)
    local = np.empty(len(order), np.int64)
    for k in range(count):
        start, columns, height = first[k], first[k + 1] - first[k], row[k + 1] - row[k]
        panel = L[entry[k] : entry[k + 1]].reshape(height, columns)
        for i in range(height):
            local[rows[row[k] + i]] = i
        for j in range(columns):
            for p in range(ptr[order[start + j]], ptr[order[start + j] + 1]):
                if place[ind[p]] >= start + j:
                    panel[local[place[ind[p]]], j] = data[p]
        d = head[k]
        while d != -1:  # the panels that reach into these columns
            after, begin, high = following[d], used[d], row[d + 1] - row[d]
            end = begin
            while end < high and rows[row[d] + end] < start + columns:
                end += 1
            other = L[entry[d] : entry[d + 1]].reshape(high, first[d + 1] - first[d])
            product = work[: (high - begin) * (end - begin)].reshape(high - begin, end - begin)
            np.dot(other[begin:], other[begin:end].T, product)
            for i in range(high - begin):
                target = local[rows[row[d] + begin + i]]
                for j in range(end - begin):
                    panel[target, rows[row[d] + begin + j] - start] -= product[i, j]
            used[d] = end
            if end < high:
                parent = owner[rows[row[d] + end]]
                following[d], head[parent] = head[parent], d
            d = after
        inverse = np.linalg.inv(np.linalg.cholesky(panel[:columns]))
        used[k] = columns
        if height > columns:
            product = work[: (height - columns) * columns].reshape(height - columns, columns)
            np.dot(panel[columns:], inverse.T, product)
            L[entry[k] + columns * columns : entry[k + 1]] = product.ravel()
            parent = owner[rows[row[k] + columns]]
            following[k], head[parent] = head[parent], k
        for i in range(columns):
            for j in range(columns):
                panel[i, j] = inverse[i, j]


@jit
def _solve(panels, L, x):
    """x ← L⁻ᵀ L⁻¹x for columns x."""
    first, row, rows, entry = panels
    for k in range(len(first) - 1):
        columns, below = first[k + 1] - first[k], rows[row[k] + first[k + 1] - first[k] : row[k + 1]]
        panel = L[entry[k] : entry[k + 1]].reshape(columns + len(below), columns)
        y = np.dot(panel[:columns], x[first[k] : first[k + 1]])
        x[first[k] : first[k + 1]] = y
        z = np.dot(panel[columns:], y)
        for i in range(len(below)):
            for j in range(x.shape[1]):
                x[below[i], j] -= z[i, j]
    for k in range(len(first) - 2, -1, -1):
        columns, below = first[k + 1] - first[k], rows[row[k] + first[k + 1] - first[k] : row[k + 1]]
        panel = L[entry[k] : entry[k + 1]].reshape(columns + len(below), columns)
        above = np.empty((len(below), x.shape[1]))
        for i in range(len(below)):
            for j in range(x.shape[1]):
                above[i, j] = x[below[i], j]
        y = x[first[k] : first[k + 1]]
        y -= np.dot(panel[columns:].T, above)
        x[first[k] : first[k + 1]] = np.dot(panel[:columns].T, y)
