"""Ranks and null spaces that do not depend on units or on ratios of stiffnesses, masses and lengths.

Gaussian elimination records for every entry the sum of the magnitudes of its terms. An entry that is small relative to that sum is
round-off and set to zero; one that is small relative to other entries of the matrix is not. Scaling of rows or columns changes no
decision.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from phloat.algebra.sparse import Matrix, csr, zero_matrix

CANCELLED = 1e-10  # magnitude of a zero entry relative to the sum of the magnitudes of its terms
ROUNDED = 2e-15  # round-off relative to the largest entry of the row, each divided by the root of its mass


@dataclass(frozen=True, eq=False)
class Kinematics:
    """The motions v = Z x with G v = 0, and their strains F = Lᵀ Z.

    The first `strained` columns of Z have independent strains in the first rows of Lᵀ, the next `loaded` ones in the other rows;
    F is zero for the remaining columns, the rigid motions.
    """

    Z: np.ndarray
    F: np.ndarray
    strained: int
    loaded: int

    @property
    def rigid(self) -> int:
        """The number of motions without strain."""
        return self.Z.shape[1] - self.strained - self.loaded


def strain_kinematics(G: np.ndarray, strains: np.ndarray, mass: np.ndarray, first: int | None = None) -> Kinematics:
    """Free motions of the joints G (joints × n) with strains Lᵀ (strains × n), strained motions first.

    `mass` (n,) are weights of the columns: light coordinates are expressed by heavy ones. `first` is the number of strains that
    are eliminated before the others; all by default.
    """
    unit = 1.0 / np.sqrt(mass)
    A, free = np.vstack([G, strains]), np.ones(G.shape[1], dtype=bool)
    T = _magnitudes(A, unit)
    rows, pivots = _eliminate(A, T, unit, free, len(G))
    Z = _null_basis(A[rows], np.array(pivots, dtype=int), np.flatnonzero(free))
    F, T = A[len(G) :, free], T[len(G) :, free]
    F = np.where(np.abs(F) > CANCELLED * T, F, 0.0)
    B, unpivoted = F.copy(), np.ones(F.shape[1], dtype=bool)
    rows, pivots = _eliminate(B, T, unit[free], unpivoted, len(F))
    rigid = _null_basis(B[rows], np.array(pivots, dtype=int), np.flatnonzero(unpivoted))
    count = len(rows) if first is None else int(sum(row < first for row in rows))
    strains = np.zeros((len(F), F.shape[1]))
    strains[:, : len(pivots)] = F[:, pivots]
    return Kinematics(np.hstack([Z[:, pivots], _product(Z, rigid)]), strains, count, len(pivots) - count)


def _magnitudes(A: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """|A| plus the round-off that each entry has from its row, the initial sums of magnitudes."""
    row = (np.abs(A) * unit).max(axis=1, initial=0.0)
    return np.asarray(np.abs(A) + ROUNDED / CANCELLED * row[:, None] / unit)


def _eliminate(
    A: np.ndarray, T: np.ndarray, unit: np.ndarray, free: np.ndarray, count: int
) -> tuple[list[int], list[int]]:
    """Transforms rows 0 … count − 1 of A to echelon form; returns the rows with pivots and their columns, no longer `free`."""
    rows, pivots = [], []
    for i in range(count):
        nonzero = np.flatnonzero((A[i] != 0.0) & free)
        significant = nonzero[np.abs(A[i, nonzero]) > CANCELLED * T[i, nonzero]]
        A[i, np.setdiff1d(nonzero, significant, assume_unique=True)] = 0.0
        if not significant.size:
            continue
        p = int(significant[np.argmax(np.abs(A[i, significant]) * unit[significant])])
        free[p] = False
        rows.append(i)
        pivots.append(p)
        below = i + 1 + np.flatnonzero(A[i + 1 :, p])
        if below.size:
            other_columns = significant[significant != p]
            step = np.outer(A[below, p] / A[i, p], A[i, other_columns])
            A[np.ix_(below, other_columns)] -= step
            T[np.ix_(below, other_columns)] += np.abs(step)
            A[below, p] = 0.0
    return rows, pivots


def _null_basis(U: np.ndarray, pivots: np.ndarray, free: np.ndarray) -> np.ndarray:
    """The null space [−U_p⁻¹U_f; 1] of an echelon form with these pivot and free columns."""
    Z = np.zeros((U.shape[1], len(free)))
    Z[free, np.arange(len(free))] = 1.0
    if len(pivots) and len(free):
        inverse = la.solve_triangular(U[:, pivots], np.eye(len(pivots)))
        Z[pivots] = _product(-inverse, U[:, free])
    return Z


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a b, with entries whose terms cancel set to zero."""
    out = a @ b
    return np.where(np.abs(out) > CANCELLED * (np.abs(a) @ np.abs(b)), out, 0.0)


# --- sparse, in rounds ------------------------------------------------------------------------------------------------
#
# Pivots without an entry in each other's rows are eliminated together, those with the fewest neighbours first: a chain takes about
# as many rounds as the logarithm of its length.


class Entries(NamedTuple):
    """The entries of a sparse matrix, sorted by row and column, and for each the sum of the magnitudes of its terms."""

    row: np.ndarray
    column: np.ndarray
    value: np.ndarray
    size: np.ndarray

    def where(self, chosen: np.ndarray) -> Entries:
        """The chosen entries."""
        return Entries(*(part[chosen] for part in self))

    def plus(self, other: Entries) -> Entries:
        """The sum of two matrices."""
        row, column, value, size = (np.concatenate(pair) for pair in zip(self, other, strict=True))
        order = np.lexsort((column, row))
        row, column = row[order], column[order]
        first = np.flatnonzero(np.diff(row, prepend=-1) | np.diff(column, prepend=-1))
        if not len(first):
            return self
        value, size = (np.add.reduceat(part[order], first) for part in (value, size))
        return Entries(row[first], column[first], value, size)


def _entries(a: Matrix) -> Entries:
    """The entries of a matrix with their own magnitudes."""
    row = np.repeat(np.arange(a.shape[0]), np.diff(a.indptr))
    return Entries(row, a.indices.astype(np.int64), a.data, np.abs(a.data))


def _pairs(column: np.ndarray, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the terms of a product: entries of the left matrix in these columns, of the right one in these rows (sorted)."""
    start = np.searchsorted(row, column, side="left")
    count = np.searchsorted(row, column, side="right") - start
    left = np.repeat(np.arange(len(column)), count)
    return left, np.arange(len(left)) + np.repeat(start - np.cumsum(count) + count, count)


def _terms(left: Entries, right: Entries) -> Entries:
    """The terms of a product, unsorted."""
    i, j = _pairs(left.column, right.row)
    value = left.value[i] * right.value[j]
    return Entries(left.row[i], right.column[j], value, np.abs(value))


def free_motions(G: Matrix, mass: np.ndarray) -> tuple[Matrix, np.ndarray]:
    """Z with G Z = 0 and independent (not orthogonal) columns, and the rows in which Z is the identity.

    `mass` (n,) are weights of the columns: light coordinates are expressed by heavy ones.
    """
    a, unit, (rows, n) = _entries(csr(G)), 1.0 / np.sqrt(mass), G.shape
    noise = np.zeros(rows)
    np.maximum.at(noise, a.row, a.size * unit[a.column])
    noise *= ROUNDED / CANCELLED
    steps, is_free = [], np.ones(n, dtype=bool)
    while True:
        significant = np.abs(a.value) > CANCELLED * (a.size + noise[a.row] / unit[a.column])
        a = a._replace(value=np.where(significant, a.value, 0.0))
        live = a.where(significant)
        if not live.row.size:
            break
        pivots = live.where(_row_pivots(live, unit))
        row_of, pivot_of = np.full(n, -1), np.full(rows, -1)
        row_of[pivots.column], pivot_of[pivots.row] = pivots.row, pivots.column
        is_free[pivots.column] = False
        own, eliminated = pivot_of[live.row] >= 0, row_of[live.column] >= 0
        equations, scale = live.where(own & ~eliminated), np.ones(rows)
        scale[pivots.row] = -pivots.value
        equations = equations._replace(value=equations.value / scale[equations.row])
        steps.append(equations._replace(row=pivot_of[equations.row]))
        others = live.where(~own & eliminated)
        rest = a.where((pivot_of[a.row] < 0) & (row_of[a.column] < 0))
        a = rest.plus(_terms(others._replace(column=row_of[others.column]), equations))
    free, index = np.flatnonzero(is_free), np.arange(int(is_free.sum()))
    Z = Entries(free, index, np.ones(len(free)), np.ones(len(free)))
    for equations in reversed(steps):
        Z = Z.plus(_terms(equations.where(np.argsort(equations.row, kind="stable")), Z))
        Z = Z.where(np.abs(Z.value) > CANCELLED * Z.size)
    return sp.csr_array((Z.value, (Z.row, Z.column)), shape=(n, len(free))), free


def _row_pivots(a: Entries, unit: np.ndarray) -> np.ndarray:
    """Entries that are the largest of their rows, relative to masses, and have no others in their rows and columns among them."""
    best = _largest_of_rows(a.row, np.abs(a.value) * unit[a.column])
    row, column = a.row[best], a.column[best]
    neighbours = (np.bincount(a.column)[column] - 1) * (np.bincount(a.row)[row] - 1)
    rank = _ranked(neighbours)
    of_column, of_row = np.full(len(unit), len(best)), np.full(int(a.row[-1]) + 1, len(best))
    np.minimum.at(of_column, column, rank)
    candidate = of_column[column] == rank
    of_row[row[candidate]] = rank[candidate]
    return best[candidate & ~_rejected(of_row[a.row], of_column[a.column], len(best))[rank]]


def _largest_of_rows(row: np.ndarray, size: np.ndarray) -> np.ndarray:
    """The index of the first of the largest entries of each row."""
    start = np.flatnonzero(np.diff(row, prepend=-1))
    largest = np.repeat(np.maximum.reduceat(size, start), np.diff(start, append=len(row)))
    index = np.flatnonzero(size == largest)
    return index[np.flatnonzero(np.diff(row[index], prepend=-1))]


def _ranked(cost: np.ndarray) -> np.ndarray:
    """The place of each in the order of their costs; equal ones in a random order, so that neighbours rarely follow each other."""
    rank = np.zeros(len(cost), dtype=int)
    rank[np.lexsort((np.random.default_rng(0).permutation(len(cost)), cost))] = np.arange(len(cost))
    return rank


def _rejected(a: np.ndarray, b: np.ndarray, count: int) -> np.ndarray:
    """Which of `count` ranks stand beside a lower one in the pairs (a, b); a rank of `count` is none."""
    out, pair = np.zeros(count + 1, dtype=bool), (a != b) & (a < count) & (b < count)
    out[np.maximum(a[pair], b[pair])] = True
    return out


def signed_factor(K: Matrix, size: Matrix, mass: np.ndarray) -> tuple[Matrix, np.ndarray]:
    """L (n × rank) and μ with K = L diag(μ) Lᵀ for a symmetric K; entries below `size` count as zero.

    Uses 1 × 1 and 2 × 2 pivots, relative to `mass` the largest of their rows (rook pivoting).
    """
    n, unit, bound = K.shape[0], 1.0 / np.sqrt(mass), csr(csr(size).maximum(csr(size.T)))
    a = _entries(csr(K))
    a = a._replace(value=unit[a.row] * a.value * unit[a.column], size=np.zeros(len(a.row)))
    b = _entries(bound)
    a = a.plus(b._replace(value=np.zeros(len(b.row)), size=unit[b.row] * b.value * unit[b.column]))
    columns, values, rank = [], [], 0
    while (live := a.where(np.abs(a.value) > a.size)).row.size:
        pivots, mu = _symmetric_pivots(live, n)  # their directions as entries (index, direction)
        chosen = np.zeros(n, dtype=bool)
        chosen[pivots.row] = True
        none = Entries(*np.zeros((2, 0), dtype=int), *np.zeros((2, 0)))
        ell = none.plus(_terms(live.where(~chosen[live.row] & chosen[live.column]), pivots))
        ell = ell._replace(value=ell.value / mu[ell.column])
        by_direction = np.argsort(ell.column, kind="stable")
        i, j = _pairs(ell.column, ell.column[by_direction])
        j = by_direction[j]
        step = (ell.value[i] * ell.value[j]) * mu[ell.column[i]]  # in this order, so that zeros are symmetric
        rest = a._replace(value=np.where(np.abs(a.value) > a.size, a.value, 0.0)).where(
            ~chosen[a.row] & ~chosen[a.column]
        )
        a = rest.plus(Entries(ell.row[i], ell.row[j], -step, CANCELLED * np.abs(step)))
        for part in (pivots, ell):
            columns.append((part.row, part.column + rank, part.value / unit[part.row]))
        values.append(mu)
        rank += len(mu)
    if not rank:
        return zero_matrix(n, 0), np.zeros(0)
    row, column, value = (np.concatenate(part) for part in zip(*columns, strict=True))
    return sp.csr_array((value, (row, column)), shape=(n, rank)), np.concatenate(values)


def _symmetric_pivots(a: Entries, n: int) -> tuple[Entries, np.ndarray]:
    """The directions of independent 1 × 1 and 2 × 2 pivots as columns, and their values μ.

    A pivot is a diagonal entry of at least 0.6 of the largest entry of its row, or the largest entry of both its rows.
    """
    on, off = a.where(a.row == a.column), a.where(a.row != a.column)
    diagonal, largest, partner = np.zeros(n), np.zeros(n), np.arange(n)
    diagonal[on.row] = on.value
    if off.row.size:
        best = _largest_of_rows(off.row, np.abs(off.value))
        largest[off.row[best]], partner[off.row[best]] = np.abs(off.value[best]), off.column[best]
    single = (diagonal != 0.0) & (np.abs(diagonal) >= 0.6 * largest)
    index = np.arange(n)
    paired = ~single & ~single[partner] & (partner[partner] == index) & (partner > index)
    first = np.flatnonzero(single | paired)
    second = np.where(paired, partner, index)[first]
    degree = np.bincount(off.row, minlength=n)
    rank = _ranked(np.where(first == second, degree[first], degree[first] + degree[second] - 2))
    of_index = np.full(n, len(first))
    of_index[first], of_index[second] = rank, rank
    accepted = ~_rejected(of_index[off.row], of_index[off.column], len(first))[rank]
    first, second = first[accepted], second[accepted]
    pair, alone = first != second, first == second
    i, j = first[pair], second[pair]
    key = off.row * n + off.column
    coupling = off.value[np.searchsorted(key, i * n + j)]
    mu, turn = np.linalg.eigh(np.stack([diagonal[i], coupling, coupling, diagonal[j]], axis=-1).reshape(-1, 2, 2))
    count = int(alone.sum())
    two = count + np.arange(2 * len(i)).reshape(-1, 2)
    row = np.concatenate([first[alone], np.repeat(i, 2), np.repeat(j, 2)])
    column = np.concatenate([np.arange(count), two.ravel(), two.ravel()])
    value = np.concatenate([np.ones(count), turn[:, 0].ravel(), turn[:, 1].ravel()])
    order = np.lexsort((column, row))
    directions = Entries(row[order], column[order], value[order], np.abs(value[order]))
    return directions, np.concatenate([diagonal[first[alone]], mu.ravel()])
