"""Small dense algebra on flat buffers: no allocation, no views, offsets instead."""

import numba as nb
import numpy as np

jit = nb.njit(cache=True, fastmath={"reassoc", "contract", "nsz"}, error_model="numpy")
inline = nb.njit(cache=True, fastmath={"reassoc", "contract", "nsz"}, error_model="numpy", inline="never")


@jit
def matvec(M, o, rows, columns, x, p, y, q):
    """y = M x."""
    for i in range(rows):
        total = 0.0
        at = o + i * columns
        for j in range(columns):
            total += M[at + j] * x[p + j]
        y[q + i] = total


@jit
def add_matvec(M, o, rows, columns, scale, x, p, y, q):
    """y += scale · M x."""
    for i in range(rows):
        total = 0.0
        at = o + i * columns
        for j in range(columns):
            total += M[at + j] * x[p + j]
        y[q + i] += scale * total


@jit
def dot(a, o, b, p, n):
    total = 0.0
    for i in range(n):
        total += a[o + i] * b[p + i]
    return total


@jit
def cross_add(a, o, b, p, scale, y, q):
    """y += scale · a × b."""
    y[q] += scale * (a[o + 1] * b[p + 2] - a[o + 2] * b[p + 1])
    y[q + 1] += scale * (a[o + 2] * b[p] - a[o] * b[p + 2])
    y[q + 2] += scale * (a[o] * b[p + 1] - a[o + 1] * b[p])


@jit
def rotate(A, o, x, p, y, q):
    """y = A x, 3 × 3."""
    for i in range(3):
        y[q + i] = A[o + 3 * i] * x[p] + A[o + 3 * i + 1] * x[p + 1] + A[o + 3 * i + 2] * x[p + 2]


@jit
def rotate_back(A, o, x, p, y, q):
    """y = Aᵀ x, 3 × 3."""
    for i in range(3):
        y[q + i] = A[o + i] * x[p] + A[o + 3 + i] * x[p + 1] + A[o + 6 + i] * x[p + 2]


@jit
def lu_factor(M, o, n, pivot, p):
    """LU with partial pivoting, in place, rows exchanged; returns False where a pivot vanishes."""
    for k in range(n):
        best, size = k, abs(M[o + k * n + k])
        for i in range(k + 1, n):
            if abs(M[o + i * n + k]) > size:
                best, size = i, abs(M[o + i * n + k])
        pivot[p + k] = best
        if not size > 0.0:
            return False
        if best != k:
            for j in range(n):
                M[o + k * n + j], M[o + best * n + j] = M[o + best * n + j], M[o + k * n + j]
        inverse = 1.0 / M[o + k * n + k]
        for i in range(k + 1, n):
            factor = M[o + i * n + k] * inverse
            if factor != 0.0:
                M[o + i * n + k] = factor
                for j in range(k + 1, n):
                    M[o + i * n + j] -= factor * M[o + k * n + j]
    return True


@jit
def lu_solve(M, o, n, pivot, p, x, q):
    """x ← M⁻¹ x for one right-hand side."""
    for k in range(n):
        best = pivot[p + k]
        if best != k:
            x[q + k], x[q + best] = x[q + best], x[q + k]
    for i in range(1, n):
        total = 0.0
        for j in range(i):
            total += M[o + i * n + j] * x[q + j]
        x[q + i] -= total
    for i in range(n - 1, -1, -1):
        total = 0.0
        for j in range(i + 1, n):
            total += M[o + i * n + j] * x[q + j]
        x[q + i] = (x[q + i] - total) / M[o + i * n + i]


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
            factor = M[o + i * n + j]
            for c in range(columns):
                X[q + i * columns + c] -= factor * X[q + j * columns + c]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            factor = M[o + i * n + j]
            for c in range(columns):
                X[q + i * columns + c] -= factor * X[q + j * columns + c]
        inverse = 1.0 / M[o + i * n + i]
        for c in range(columns):
            X[q + i * columns + c] *= inverse


EPS = float(np.finfo(float).eps)
