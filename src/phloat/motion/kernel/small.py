"""Small dense algebra on flat buffers: no allocation, no views, offsets instead.

Offsets are turned into unsigned numbers: Numba then leaves out the test for negative indices, and the loops vectorise.
"""

from typing import Any

import numba as nb
import numpy as np

_options: dict[str, Any] = {"cache": True, "fastmath": {"reassoc", "contract", "nsz"}, "error_model": "numpy"}
# Nothing is allocated, so nothing is counted (_nrt): references to arrays would be, at every call, by atomic operations.
_lean = {**_options, "_nrt": False}
# Without what Python needs to call it: sooner compiled. Called from Python all the same, it ends the process.
_inside = {**_lean, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
jit = nb.njit(**_lean)
inner = nb.njit(**_inside)
hot = nb.njit(**_inside, forceinline=True)
part = nb.njit(**_lean, inline="always")  # large, called once: compiled with what calls it instead of twice
making = nb.njit(**_options)  # for what makes arrays of its own
U = np.uintp
FOUR = 4  # numbers that a processor takes at once
EPS = float(np.finfo(float).eps)


@inner
def matvec(M, o, rows, columns, x, p, y, q):
    """y = M x, four rows at a time."""
    at, p, q, n = U(o), U(p), U(q), U(columns)
    four = U(rows // 4)
    for _ in range(four):
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        first, second, third, fourth = at, at + n, at + U(2) * n, at + U(3) * n
        for j in range(n):
            value = x[p + j]
            a += M[first + j] * value
            b += M[second + j] * value
            c += M[third + j] * value
            d += M[fourth + j] * value
        y[q], y[q + U(1)], y[q + U(2)], y[q + U(3)] = a, b, c, d
        at += U(4) * n
        q += U(4)
    for i in range(U(rows) - U(4) * four):
        total = 0.0
        for j in range(n):
            total += M[at + j] * x[p + j]
        y[q + i] = total
        at += n


@inner
def add_matvec(M, o, rows, columns, scale, x, p, y, q):
    """y += scale · M x."""
    at, p, q, n = U(o), U(p), U(q), U(columns)
    for i in range(U(rows)):
        total = 0.0
        for j in range(n):
            total += M[at + j] * x[p + j]
        y[q + i] += scale * total
        at += n


@inner
def times_columns(x, p, n, M, o, columns, y, q):
    """y = x M, with a multiple of FOUR columns."""
    p, n, width, q = U(p), U(n), U(columns), U(q)
    for first in range(0, columns, FOUR):
        a, b, c, d, row = 0.0, 0.0, 0.0, 0.0, U(o + first)
        for i in range(n):
            value = x[p + i]
            a += value * M[row]
            b += value * M[row + U(1)]
            c += value * M[row + U(2)]
            d += value * M[row + U(3)]
            row += width
        y[q], y[q + U(1)], y[q + U(2)], y[q + U(3)] = a, b, c, d
        q += U(FOUR)


@inner
def dot(a, o, b, p, n):
    o, p, total = U(o), U(p), 0.0
    for i in range(U(n)):
        total += a[o + i] * b[p + i]
    return total


@inner
def axpy(n, scale, x, p, y, q):
    """y += scale · x."""
    p, q = U(p), U(q)
    for i in range(U(n)):
        y[q + i] += scale * x[p + i]


@inner
def add_block(rows, columns, scale, M, o, y, q, stride):
    """A block of a larger matrix += scale · M."""
    o, q, n, stride = U(o), U(q), U(columns), U(stride)
    for _ in range(U(rows)):
        for j in range(n):
            y[q + j] += scale * M[o + j]
        o += n
        q += stride


@inner
def fill(n, value, y, q):
    q = U(q)
    for i in range(U(n)):
        y[q + i] = value


@inner
def copy(n, x, p, y, q):
    p, q = U(p), U(q)
    for i in range(U(n)):
        y[q + i] = x[p + i]


@inner
def average(n, w, a, b, y):
    """The mean of two rows of numbers."""
    a, b, y = U(a), U(b), U(y)
    for i in range(U(n)):
        w[y + i] = 0.5 * (w[a + i] + w[b + i])


@inner
def cross_add(a, o, b, p, scale, y, q):
    """y += scale · a × b."""
    y[q] += scale * (a[o + 1] * b[p + 2] - a[o + 2] * b[p + 1])
    y[q + 1] += scale * (a[o + 2] * b[p] - a[o] * b[p + 2])
    y[q + 2] += scale * (a[o] * b[p + 1] - a[o + 1] * b[p])


@hot
def cross(a, b, c, x, y, z):
    """(a, b, c) × (x, y, z)."""
    return b * z - c * y, c * x - a * z, a * y - b * x


@hot
def add_rows(rows, n, a, b, c, M, o, apart, y, q):
    """y += a, b, c times rows of M that stand `apart`, one to three of them."""
    o, q, n = U(o), U(q), U(n)
    second, third = o + U(apart), o + U(2 * apart)
    if rows == 1:
        for k in range(n):
            y[q + k] += a * M[o + k]
    elif rows == 2:
        for k in range(n):
            y[q + k] += a * M[o + k] + b * M[second + k]
    elif rows == 3:
        for k in range(n):
            y[q + k] += a * M[o + k] + b * M[second + k] + c * M[third + k]


@inner
def rotate(A, o, x, p, y, q):
    """y = A x, 3 × 3."""
    a, b, c = x[p], x[p + 1], x[p + 2]
    y[q] = A[o] * a + A[o + 1] * b + A[o + 2] * c
    y[q + 1] = A[o + 3] * a + A[o + 4] * b + A[o + 5] * c
    y[q + 2] = A[o + 6] * a + A[o + 7] * b + A[o + 8] * c


@inner
def rotate_back(A, o, x, p, y, q):
    """y = Aᵀ x, 3 × 3."""
    a, b, c = x[p], x[p + 1], x[p + 2]
    y[q] = A[o] * a + A[o + 3] * b + A[o + 6] * c
    y[q + 1] = A[o + 1] * a + A[o + 4] * b + A[o + 7] * c
    y[q + 2] = A[o + 2] * a + A[o + 5] * b + A[o + 8] * c


@inner
def lu_factor(M, o, n, pivot, p):
    """LU with partial pivoting, in place, inverse pivots on the diagonal; returns False where a pivot vanishes."""
    o, n, p = U(o), U(n), U(p)
    for k in range(n):
        row = o + k * n
        best, size = k, abs(M[row + k])
        for i in range(k + U(1), n):
            if abs(M[o + i * n + k]) > size:
                best, size = i, abs(M[o + i * n + k])
        pivot[p + k] = best
        if not size > 0.0:
            return False
        if best != k:
            other = o + best * n
            for j in range(n):
                M[row + j], M[other + j] = M[other + j], M[row + j]
        inverse = 1.0 / M[row + k]
        M[row + k] = inverse
        for i in range(k + U(1), n):
            below = o + i * n
            factor = M[below + k] * inverse
            if factor != 0.0:
                M[below + k] = factor
                for j in range(k + U(1), n):
                    M[below + j] -= factor * M[row + j]
    return True


@inner
def lu_solve(M, o, n, pivot, p, x, q):
    """x ← M⁻¹ x for one right-hand side, column by column."""
    o, n, p, q = U(o), U(n), U(p), U(q)
    for k in range(n):
        best = U(pivot[p + k])
        if best != k:
            x[q + k], x[q + best] = x[q + best], x[q + k]
    for k in range(n):
        value, at = x[q + k], o + k * n + k
        for i in range(k + U(1), n):
            at += n
            x[q + i] -= M[at] * value
    for after in range(n):
        k = n - U(1) - after
        value, at = x[q + k] * M[o + k * n + k], o + k
        x[q + k] = value
        for i in range(k):
            x[q + i] -= M[at] * value
            at += n


@inner
def lu_solve_many(M, o, n, pivot, p, X, q, columns):
    """X ← M⁻¹ X for several right-hand sides, n × columns, a multiple of FOUR."""
    for k in range(n):
        best = pivot[p + k]
        if best != k:
            for c in range(columns):
                X[q + k * columns + c], X[q + best * columns + c] = X[q + best * columns + c], X[q + k * columns + c]
    for c in range(0, columns, FOUR):
        for k in range(n):
            _from_others(M, o + k * n + k, n, n - k - 1, X, q + k * columns + c, columns)
        for k in range(n - 1, -1, -1):
            at, inverse = U(q + k * columns + c), M[o + k * n + k]
            for j in range(U(FOUR)):
                X[at + j] *= inverse
            _from_others(M, o + k * n + k, -n, k, X, q + k * columns + c, -columns)


@hot
def _from_others(M, o, down, count, X, q, next_row):
    """Four numbers of a row of X, times the column of M below (above) its pivot, from the rows below (above)."""
    q, at = U(q), o
    a, b, c, d = X[q], X[q + U(1)], X[q + U(2)], X[q + U(3)]
    for _ in range(count):
        at, q = at + down, q + U(next_row)
        factor = M[U(at)]
        X[q] -= factor * a
        X[q + U(1)] -= factor * b
        X[q + U(2)] -= factor * c
        X[q + U(3)] -= factor * d
