"""Sparse matrices: formats, block-diagonal inverses, null spaces and rank, defects of their structure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
import scipy.sparse.csgraph as graph
import scipy.sparse.linalg as spla

from phloat.algebra.threads import one_thread
from phloat.errors import AccuracyError

Matrix: TypeAlias = sp.csr_array

RANK_TOLERANCE = 1e-9  # of rows of unit length: singular values that count as zero
SINGULAR = 1e-14  # of the largest eigenvalue of a block scaled to unit diagonal: eigenvalues that count as zero
INDEPENDENT = 1e-9  # eigenvalue of the Gram matrix of rows of unit length from which they are independent
DENSE_ROWS = 600  # rows up to which the rank is computed by a dense pivoted QR
DENSE_ENTRIES = 20_000  # entries up to which a matrix is summed as a dense array
LARGE = (
    10_000  # unknowns from which a factor by nested dissection is quicker (5000), and its compiled code worth loading
)
# From SciPy 1.17 on, an iteration that ends early continues at random, from this seed
SEEDED: dict[str, Any] = {"rng": 0} if "rng" in signature(spla.eigsh).parameters else {}


def random_start(size: int, seed: int = 0) -> np.ndarray:
    """A vector to start an iteration, the same at every call: equal input gives equal bits."""
    return np.random.default_rng(seed).normal(size=size)


def csr(a: object) -> Matrix:
    """`a` (array or sparse) as a CSR array of floats without stored zeros."""
    if isinstance(a, sp.csr_array) and a.dtype == float and a.has_canonical_format and a.data.all():
        return a
    if isinstance(a, np.ndarray) and a.ndim == 2:
        row, column = np.nonzero(a)
        return in_rows(row, column, a[row, column], a.shape)
    out = sp.csr_array(a, dtype=float, copy=True)
    out.sum_duplicates()
    out.eliminate_zeros()
    return out


def in_rows(row: np.ndarray, column: np.ndarray, value: np.ndarray, shape: tuple[int, ...]) -> Matrix:
    """The CSR array of distinct entries that are ordered by row and column and not zero."""
    starts = np.zeros(shape[0] + 1, dtype=np.int32)
    np.cumsum(np.bincount(row, minlength=shape[0]), out=starts[1:])
    out = sp.csr_array((value.astype(float), column.astype(np.int32), starts), shape=shape)
    out.has_canonical_format = True
    return out


def entry_rows(a: Matrix) -> np.ndarray:
    """The row of every stored entry."""
    return np.repeat(np.arange(a.shape[0]), np.diff(a.indptr))


def submatrix(a: Matrix, rows: np.ndarray, columns: np.ndarray) -> Matrix:
    """The rows and columns in two masks, in a third of the time of two indexings; or at two index arrays."""
    if rows.dtype != bool:
        return csr(a[rows][:, columns])
    row, place = entry_rows(a), np.cumsum(columns) - 1
    inside = rows[row] & columns[a.indices]
    shape = int(rows.sum()), int(columns.sum())
    return in_rows((np.cumsum(rows) - 1)[row[inside]], place[a.indices[inside]], a.data[inside], shape)


def weighted(a: Matrix | np.ndarray, weight: np.ndarray) -> Matrix | np.ndarray:
    """diag(weight) a for a sparse or dense matrix a."""
    return weight[:, None] * a if isinstance(a, np.ndarray) else a.multiply(weight[:, None]).tocsr()


def zero_matrix(rows: int, columns: int) -> Matrix:
    """A sparse matrix without entries."""
    return sp.csr_array((rows, columns), dtype=float)


def diagonal(blocks: Sequence[object]) -> Matrix:
    """A block-diagonal matrix; blocks of shape (n, 0) or (0, n) add rows or columns."""
    parts = [csr(b) for b in blocks]
    if not parts:
        return zero_matrix(0, 0)
    shapes = np.array([part.shape for part in parts])
    columns, lengths = np.cumsum(shapes[:, 1]) - shapes[:, 1], [np.diff(part.indptr) for part in parts]
    indices = np.concatenate([part.indices + start for part, start in zip(parts, columns, strict=True)])
    entries = (np.concatenate([part.data for part in parts]), indices, np.append(0, np.cumsum(np.concatenate(lengths))))
    return sp.csr_array(entries, shape=tuple(map(int, shapes.sum(axis=0))))


def stacked(blocks: Sequence[Sequence[object]]) -> Matrix:
    """A block matrix; None is a zero block."""
    return csr(sp.block_array([[None if b is None else csr(b) for b in row] for row in blocks], format="csr"))


def assembled(blocks: Iterable[tuple[np.ndarray, np.ndarray, np.ndarray]], shape: tuple[int, int]) -> Matrix:
    """The sum of dense blocks (rows, columns, values) as one sparse matrix."""
    row, column, value = list[np.ndarray](), list[np.ndarray](), list[np.ndarray]()
    for rows, columns, block in blocks:
        i, j = np.nonzero(block)
        row.append(rows[i])
        column.append(columns[j])
        value.append(block[i, j])
    if not value:
        return zero_matrix(*shape)
    entries = (np.concatenate(value), (np.concatenate(row), np.concatenate(column)))
    return csr(sp.coo_array(entries, shape=shape))


def summed(row: np.ndarray, column: np.ndarray, value: np.ndarray, shape: tuple[int, int]) -> Matrix:
    """A matrix from entries, of which those at one place are summed in their order: equal input gives equal bits."""
    order = np.lexsort((column, row))
    row, column, value = row[order], column[order], value[order]
    first = np.flatnonzero(np.diff(row, prepend=-1) | np.diff(column, prepend=-1))
    sums = np.add.reduceat(value, first) if len(first) else value
    starts = np.searchsorted(row[first], np.arange(shape[0] + 1))
    return csr(sp.csr_array((sums, column[first], starts), shape=shape))


def scattered(blocks: np.ndarray, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> Matrix:
    """The sum of dense blocks of equal size, (cells, m, n), at rows (cells, m) and columns (cells, n)."""
    i, j = np.broadcast_arrays(rows[:, :, None], columns[:, None])
    return csr(sp.coo_array((blocks.ravel(), (i.ravel(), j.ravel())), shape=shape))


def scattered_rows(groups: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]], shape: tuple[int, int]) -> Matrix:
    """The sum of groups of dense blocks, each (rows, columns, blocks) as in `scattered`, whose rows are distinct in a group."""
    if shape[0] * shape[1] <= DENSE_ENTRIES:
        out = np.zeros(shape)
        for rows, columns, blocks in groups:
            out[rows[:, :, None], columns[:, None]] += blocks
        return csr(out)
    places = [np.broadcast_arrays(rows[:, :, None], columns[:, None]) for rows, columns, _ in groups]
    row, column = (np.concatenate([place[k].ravel() for place in places]) for k in (0, 1))
    return csr(sp.coo_array((np.concatenate([blocks.ravel() for *_, blocks in groups]), (row, column)), shape=shape))


def unit_columns(chosen: np.ndarray, size: int) -> Matrix:
    """These columns of the unit matrix, (size, chosen)."""
    n = len(chosen)
    return csr(sp.coo_array((np.ones(n), (chosen, np.arange(n))), shape=(size, n)))


def block_columns(blocks: Sequence[tuple[np.ndarray, np.ndarray]], rows: int) -> np.ndarray:
    """The dense matrix of blocks (row indices, values), whose columns follow each other."""
    out, start = np.zeros((rows, sum(V.shape[1] for _, V in blocks))), 0
    for index, V in blocks:
        out[index, start : start + V.shape[1]] = V
        start += V.shape[1]
    return out


def symmetric_scale(size: np.ndarray, steps: int = 10) -> np.ndarray:
    """d > 0 such that the largest entry of every row of size_ij / (d_i d_j) is near one (Ruiz, 2001); 1 for zero rows."""
    d = np.ones(len(size))
    for _ in range(steps):
        row = (size / d / d[:, None]).max(axis=1, initial=0.0)
        d = d * np.sqrt(np.where(row > 0.0, row, 1.0))
    return d


def largest(a: object) -> float:
    """max |a_ij|, zero for an empty matrix."""
    values = csr(a).data
    return float(np.abs(values).max()) if values.size else 0.0


def components(a: Matrix) -> list[np.ndarray]:
    """Index sets of the decoupled diagonal blocks of a square matrix."""
    count, label = graph.connected_components(a, directed=False)
    order = np.argsort(label, kind="stable")
    return np.split(order, np.cumsum(np.bincount(label, minlength=count))[:-1]) if count else []


def blocks_by_size(a: Matrix) -> list[np.ndarray]:
    """The indices of the decoupled diagonal blocks of a square matrix, one array (blocks, size) for each size."""
    count, label = graph.connected_components(a, directed=False)
    order, sizes = np.argsort(label, kind="stable"), np.bincount(label, minlength=count)
    start = np.cumsum(sizes) - sizes
    return [order[start[sizes == size, None] + np.arange(size)] for size in np.unique(sizes)]


def small_blocks(a: Matrix, groups: list[np.ndarray]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The decoupled diagonal blocks as dense arrays, by size: indices (blocks, size), values (blocks, size, size)."""
    entries = a.tocoo()
    for index in groups:
        place, owner = np.zeros(a.shape[0], dtype=int), np.full(a.shape[0], -1)
        place[index] = np.arange(index.shape[1])
        owner[index] = np.arange(len(index))[:, None]
        inside = owner[entries.row] >= 0
        row, column = entries.row[inside], entries.col[inside]
        block = np.zeros((len(index), index.shape[1], index.shape[1]))
        block[owner[row], place[row], place[column]] = entries.data[inside]
        yield index, block


def block_inverse(a: Matrix, limit: int = 400) -> Matrix | None:
    """The inverse of a matrix of small decoupled blocks, sparse; None if a block is larger than `limit`."""
    groups = blocks_by_size(a)
    if any(index.shape[1] > limit for index in groups):
        return None
    return _from_blocks(a.shape, [(index, np.linalg.inv(block)) for index, block in small_blocks(a, groups)])


def _from_blocks(shape: tuple[int, int], blocks: list[tuple[np.ndarray, np.ndarray]]) -> Matrix:
    """The sparse matrix of these blocks, as returned by `small_blocks`."""
    if not blocks:
        return zero_matrix(*shape)
    row = np.concatenate([np.repeat(index, index.shape[1], axis=1).ravel() for index, _ in blocks])
    column = np.concatenate([np.tile(index, (1, index.shape[1])).ravel() for index, _ in blocks])
    return csr(sp.coo_array((np.concatenate([block.ravel() for _, block in blocks]), (row, column)), shape=shape))


def signed_root(a: Matrix) -> tuple[Matrix, np.ndarray, np.ndarray]:
    """R⁻¹ and the signs S with R S Rᵀ = a for a symmetric matrix of blocks, and which rows are in positive blocks.

    Raises LinAlgError if a block is singular.
    """
    blocks, sign, positive = [], np.ones(a.shape[0]), np.ones(a.shape[0], dtype=bool)
    for index, block in small_blocks(a, blocks_by_size(a)):
        roots, sign[index] = _signed_roots(block)
        positive[index] = (sign[index] > 0.0).all(axis=1)[:, None]
        blocks.append((index, roots))
    return _from_blocks(a.shape, blocks), sign, positive


def _signed_roots(blocks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R⁻¹ and the signs of many blocks of one size, scaled to unit diagonal; by one Cholesky call if all are positive."""
    size = np.abs(np.einsum("bii->bi", blocks))
    unit = 1.0 / np.sqrt(np.where(size > 0.0, size, 1.0))
    scaled = blocks * unit[:, :, None] * unit[:, None, :]
    try:
        return np.linalg.inv(np.linalg.cholesky(scaled)) * unit[:, None, :], np.ones(size.shape)
    except np.linalg.LinAlgError:
        roots = [_signed_root(block) for block in scaled]
    return np.array([root for root, _ in roots]) * unit[:, None, :], np.array([sign for _, sign in roots])


def _signed_root(block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    try:
        return np.linalg.inv(np.linalg.cholesky(block)), np.ones(len(block))
    except np.linalg.LinAlgError:
        value, vector = np.linalg.eigh(block)
    if np.abs(value).min() <= SINGULAR * np.abs(value).max():
        raise la.LinAlgError("singular")
    return (vector / np.sqrt(np.abs(value))).T, np.sign(value)


def null_space(G: Matrix) -> Matrix:
    """Z with orthonormal columns and G Z = 0, one QR for each decoupled group of rows."""
    rows, columns = G.shape
    if rows == 0:
        return csr(sp.eye_array(columns))
    blocks, start = [], 0
    for group in components((abs(G).T @ abs(G)).tocsr()):
        part = G[:, group]
        nonzero_rows = np.unique(part.tocoo().row)
        z = np.eye(len(group))
        if nonzero_rows.size:
            q, r, _ = la.qr(part[nonzero_rows].toarray().T, pivoting=True)
            size = np.abs(np.diag(r))
            z = q[:, int((size > RANK_TOLERANCE * size[0]).sum()) :]
        blocks.append((group, start + np.arange(z.shape[1]), z))
        start += z.shape[1]
    return assembled(blocks, (columns, start))


@one_thread()
def dependencies(G: Matrix) -> np.ndarray:
    """Columns μ with μᵀG = 0 for rows scaled to unit length: the linear dependencies of the rows."""
    rows = G.shape[0]
    if rows == 0:
        return np.zeros((0, 0))
    if rows <= DENSE_ROWS:
        nonzero_columns = np.unique(G.indices)
        dense = (
            G.toarray()[:, nonzero_columns] if rows * G.shape[1] <= DENSE_ENTRIES else G[:, nonzero_columns].toarray()
        )
        length = np.sqrt((dense * dense).sum(axis=1, keepdims=True))
        q, r, _ = la.qr(dense / np.where(length > 0.0, length, 1.0), pivoting=True)
        size = np.abs(np.diag(r))
        rank = int((size > RANK_TOLERANCE * max(size[0], 1.0)).sum()) if size.size else 0
        return q[:, rank:]
    scaled = csr(weighted(G, 1.0 / row_lengths(G)))
    gram = (scaled @ scaled.T).tocsc()
    factor = spla.splu(gram + 1e-10 * sp.eye_array(rows, format="csc"))
    inverse = spla.LinearOperator(gram.shape, factor.solve, dtype=float)
    options = {"sigma": -1e-10, "OPinv": inverse, "v0": random_start(rows), **SEEDED}
    smallest = spla.eigsh(gram, k=1, tol=1e-2, return_eigenvectors=False, **options)[0]
    if smallest > INDEPENDENT:
        return np.zeros((rows, 0))
    for count in (8, 64, 512):
        _, vector = spla.eigsh(gram, k=count, **options)
        # the Gram matrix squares, so 1e-9 looks like 0; the singular values on its lowest vectors do not
        _, size, turn = la.svd(scaled.T @ vector, full_matrices=False)
        null = size <= RANK_TOLERANCE
        if not null.all():
            return vector @ turn[null].T
    raise AccuracyError(f"more than {count} rows of {rows} depend on others; remove some of the joints")


def row_lengths(G: Matrix) -> np.ndarray:
    """The length of every row, 1 for zero rows."""
    length = np.sqrt(np.asarray(G.multiply(G).sum(axis=1)).ravel())
    return np.where(length > 0, length, 1.0)


@dataclass(frozen=True, eq=False)
class SparsePattern:
    """The sparsity pattern of a matrix."""

    matrix: Matrix

    @classmethod
    def of(cls, mask: np.ndarray) -> SparsePattern:
        return cls(sp.csr_array(mask.astype(float)))

    @cached_property
    def places(self) -> tuple[np.ndarray, np.ndarray]:
        """The row and the column indices of the entries."""
        entries = self.matrix.tocoo()
        return entries.row, entries.col

    def filled(self, data: np.ndarray) -> Matrix:
        """The matrix with these entries; it shares the index arrays."""
        out = sp.csr_array.__new__(sp.csr_array)  # like copy, in a tenth of its time
        vars(out).update(vars(self.matrix), data=data)
        return out


def skew_defect(a: object) -> float:
    """max |A + Aᵀ| / max |A|."""
    A = csr(a)
    return largest(A + A.T) / scale if (scale := largest(A)) else 0.0


def symmetry_defect(a: object) -> float:
    """max |A − Aᵀ| / max |A|."""
    A = csr(a)
    return largest(A - A.T) / scale if (scale := largest(A)) else 0.0
