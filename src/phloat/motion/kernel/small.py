"""Small dense algebra on flat buffers: no allocation, no views, offsets instead.

Offsets are turned into unsigned numbers: Numba then leaves out the test for negative indices, and the loops vectorise.
"""

import numba as nb
import numpy as np

jit = nb.njit(cache=True, fastmath={"reassoc", "contract", "nsz"}, error_model="numpy")
hot = nb.njit(cache=True, fastmath={"reassoc", "contract", "nsz"}, error_model="numpy", forceinline=True)
U = np.uintp
EPS = float(np.finfo(float).eps)


@jit
def matvec(M, o, rows, columns, x, p, y, q):
    """y = M x."""
    at, p, q, n = U(o), U(p), U(q), U(columns)
    for i in range(U(rows)):
        total = 0.0
        for j in range(n):
            total += M[at + j] * x[p + j]
        y[q + i] = total
        at += n


@jit
def add_matvec(M, o, rows, columns, scale, x, p, y, q):
    """y += scale · M x."""
    at, p, q, n = U(o), U(p), U(q), U(columns)
    for i in range(U(rows)):
        total = 0.0
        for j in range(n):
            total += M[at + j] * x[p + j]
        y[q + i] += scale * total
        at += n


@jit
def dot(a, o, b, p, n):
    o, p, total = U(o), U(p), 0.0
    for i in range(U(n)):
        total += a[o + i] * b[p + i]
    return total


@jit
def axpy(n, scale, x, p, y, q):
    """y += scale · x."""
    p, q = U(p), U(q)
    for i in range(U(n)):
        y[q + i] += scale * x[p + i]


@jit
def add_block(rows, columns, scale, M, o, y, q, stride):
    """A block of a larger matrix += scale · M."""
    o, q, n, stride = U(o), U(q), U(columns), U(stride)
    for _ in range(U(rows)):
        for j in range(n):
            y[q + j] += scale * M[o + j]
        o += n
        q += stride


@jit
def fill(n, value, y, q):
    q = U(q)
    for i in range(U(n)):
        y[q + i] = value


@jit
def copy(n, x, p, y, q):
    p, q = U(p), U(q)
    for i in range(U(n)):
        y[q + i] = x[p + i]


@jit
def average(n, w, a, b, y):
    """The mean of two rows of numbers."""
    a, b, y = U(a), U(b), U(y)
    for i in range(U(n)):
        w[y + i] = 0.5 * (w[a + i] + w[b + i])


@jit
def cross_add(a, o, b, p, scale, y, q):
    """y += scale · a × b."""
    y[q] += scale * (a[o + 1] * b[p + 2] - a[o + 2] * b[p + 1])
    y[q + 1] += scale * (a[o + 2] * b[p] - a[o] * b[p + 2])
    y[q + 2] += scale * (a[o] * b[p + 1] - a[o + 1] * b[p])


@jit
def rotate(A, o, x, p, y, q):
    """y = A x, 3 × 3."""
    a, b, c = x[p], x[p + 1], x[p + 2]
    y[q] = A[o] * a + A[o + 1] * b + A[o + 2] * c
    y[q + 1] = A[o + 3] * a + A[o + 4] * b + A[o + 5] * c
    y[q + 2] = A[o + 6] * a + A[o + 7] * b + A[o + 8] * c


@jit
def rotate_back(A, o, x, p, y, q):
    """y = Aᵀ x, 3 × 3."""
    a, b, c = x[p], x[p + 1], x[p + 2]
    y[q] = A[o] * a + A[o + 3] * b + A[o + 6] * c
    y[q + 1] = A[o + 1] * a + A[o + 4] * b + A[o + 7] * c
    y[q + 2] = A[o + 2] * a + A[o + 5] * b + A[o + 8] * c


@jit
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


@jit
def lu_solve(M, o, n, pivot, p, x, q):
    """x ← M⁻¹ x for one right-hand side."""
    for k in range(n):
        best = pivot[p + k]
        if best != k:
            x[q + k], x[q + best] = x[q + best], x[q + k]
    for i in range(1, n):
        x[q + i] -= dot(M, o + i * n, x, q, i)
    for i in range(n - 1, -1, -1):
        x[q + i] = (x[q + i] - dot(M, o + i * n + i + 1, x, q + i + 1, n - i - 1)) * M[o + i * n + i]


@jit
def lu_solve_many(M, o, n, pivot, p, X, q, columns):
    """X ← M⁻¹ X for several right-hand sides, n × columns."""
    for k in range(n):
        best = pivot[p + k]
        if best != k:
            for c in range(columns):
                X[q + k * columns + c], X[q + best * columns + c] = X[q + best * columns + c], X[q + k * columns + c]
    for i in range(1, n):
        for j in range(i):
            axpy(columns, -M[o + i * n + j], X, q + j * columns, X, q + i * columns)
    for i in range(n - 1, -1, -1):
        at = q + i * columns
        for j in range(i + 1, n):
            axpy(columns, -M[o + i * n + j], X, q + j * columns, X, at)
        inverse = M[o + i * n + i]
        for c in range(columns):
            X[at + c] *= inverse
