"""Small dense algebra on flat buffers, addressed by offsets: no allocation, no views, four numbers at a time.

Offsets are converted to unsigned integers: Numba then omits the test for negative indices.
"""

import numpy as np

from phloat.motion.kernel.machine.compiler import exact, hot, inner
from phloat.motion.kernel.machine.simd import FOUR, absolute, broadcast, load, plus, store, times, total, totals

U = np.uintp
W = U(FOUR)
EPS = float(np.finfo(float).eps)


@exact
def product(a, b):
    """a b and its rounding error (Dekker, 1971)."""
    p, big_a, big_b = a * b, 134217729.0 * a, 134217729.0 * b
    a1, b1 = big_a - (big_a - a), big_b - (big_b - b)
    a2, b2 = a - a1, b - b1
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


@exact
def two_sum(a, b):
    """a + b and its rounding error (Knuth, 1969)."""
    s = a + b
    z = s - a
    return s, (a - (s - z)) + (b - z)


# --- rows of a length that is a multiple of four; of two operands one must be padded with zeros, the other may run on ----


@hot
def dot_4(n, a, o, b, p):
    """a · b."""
    o, p, four = U(o), U(p), broadcast(0.0)
    for k in range(U(0), U(n), W):
        four = plus(four, load(a, o + k), load(b, p + k))
    return total(four)


@hot
def add_4(n, scale, x, p, y, q):
    """y += scale · x, x padded."""
    p, q, four = U(p), U(q), broadcast(scale)
    for k in range(U(0), U(n), W):
        store(y, q + k, plus(load(y, q + k), four, load(x, p + k)))


@hot
def average_4(n, w, a, b, y):
    """y = ½ (a + b)."""
    a, b, y, half = U(a), U(b), U(y), broadcast(0.5)
    for k in range(U(0), U(n), W):
        store(w, y + k, plus(times(half, load(w, a + k)), half, load(w, b + k)))


@hot
def copy_4(n, x, p, y, q):
    """y = x."""
    p, q = U(p), U(q)
    for k in range(U(0), U(n), W):
        store(y, q + k, load(x, p + k))


@hot
def add_rows(rows, n, a, b, c, M, o, y, q):
    """y += a, b, c times the first, second, third of one to three rows of M (n numbers each, padded)."""
    o, q, n = U(o), U(q), U(n)
    x, y_, z = broadcast(a), broadcast(b), broadcast(c)
    for k in range(U(0), n, W):
        four = plus(load(y, q + k), x, load(M, o + k))
        if rows > 1:
            four = plus(four, y_, load(M, o + n + k))
        if rows > 2:
            four = plus(four, z, load(M, o + n + n + k))
        store(y, q + k, four)


@inner
def add_sizes(M, o, rows, n, x, p, y, q):
    """y += |x| |M| for M of rows × n, padded."""
    o, p, q, n = U(o), U(p), U(q), U(n)
    for i in range(U(rows)):
        value, row = broadcast(abs(x[p + i])), o + i * n
        for k in range(U(0), n, W):
            store(y, q + k, plus(load(y, q + k), value, absolute(load(M, row + k))))


@inner
def matrix_products(count, M, o, n, length, x, p, y, q):
    """y = x M for `count` matrices in succession (n × n, rows padded to `length`); each y has `length` numbers."""
    o, p, q, n, length = U(o), U(p), U(q), U(n), U(length)
    for _ in range(U(count)):
        k = U(0)
        while k + W < length:
            a, b, row = broadcast(0.0), broadcast(0.0), o + k
            for i in range(n):
                value = broadcast(x[p + i])
                a, b, row = plus(a, value, load(M, row)), plus(b, value, load(M, row + W)), row + length
            store(y, q + k, a)
            store(y, q + k + W, b)
            k += W + W
        if k < length:
            a, row = broadcast(0.0), o + k
            for i in range(n):
                a, row = plus(a, broadcast(x[p + i]), load(M, row)), row + length
            store(y, q + k, a)
        o += n * length
        q += length


@inner
def multiply_rows(rows, M, o, n, x, p, y, q):
    """y = M x for M of rows × n, both multiples of four: four rows at a time."""
    o, n, p, q = U(o), U(n), U(p), U(q)
    for i in range(U(0), U(rows), W):
        a, b, c, d = broadcast(0.0), broadcast(0.0), broadcast(0.0), broadcast(0.0)
        r0 = o + i * n
        r1, r2, r3 = r0 + n, r0 + n + n, r0 + n + n + n
        for s in range(U(0), n, W):
            value = load(x, p + s)
            a, b = plus(a, load(M, r0 + s), value), plus(b, load(M, r1 + s), value)
            c, d = plus(c, load(M, r2 + s), value), plus(d, load(M, r3 + s), value)
        store(y, q + i, totals(a, b, c, d))


# --- of any length --------------------------------------------------------------------------------------------------------


@inner
def dot(a, o, b, p, n):
    """a · b for n numbers."""
    o, p, out = U(o), U(p), 0.0
    for i in range(U(n)):
        out += a[o + i] * b[p + i]
    return out


@inner
def axpy(n, scale, x, p, y, q):
    """y += scale · x."""
    p, q = U(p), U(q)
    for i in range(U(n)):
        y[q + i] += scale * x[p + i]


@inner
def fill(n, value, y, q):
    """Sets n numbers of y to a value."""
    q = U(q)
    for i in range(U(n)):
        y[q + i] = value


@inner
def copy(n, x, p, y, q):
    """y = x for n numbers."""
    p, q = U(p), U(q)
    for i in range(U(n)):
        y[q + i] = x[p + i]


@inner
def swap(n, x, p, y, q):
    """Exchanges n numbers of x and y."""
    p, q, n = U(p), U(q), U(n)
    fours = n - n % W
    for k in range(U(0), fours, W):
        four = load(x, p + k)
        store(x, p + k, load(y, q + k))
        store(y, q + k, four)
    for k in range(fours, n):
        x[p + k], y[q + k] = y[q + k], x[p + k]


@inner
def cross_add(a, o, b, p, scale, y, q):
    """y += scale · a × b."""
    y[q] += scale * (a[o + 1] * b[p + 2] - a[o + 2] * b[p + 1])
    y[q + 1] += scale * (a[o + 2] * b[p] - a[o] * b[p + 2])
    y[q + 2] += scale * (a[o] * b[p + 1] - a[o + 1] * b[p])


@hot
def cross_product(a, b, c, x, y, z):
    """(a, b, c) × (x, y, z)."""
    return b * z - c * y, c * x - a * z, a * y - b * x


@hot
def rotate(w, A, x, y, z):
    """The product A (x, y, z) with the 3 × 3 matrix at w[A]."""
    return (
        w[A] * x + w[A + 1] * y + w[A + 2] * z,
        w[A + 3] * x + w[A + 4] * y + w[A + 5] * z,
        w[A + 6] * x + w[A + 7] * y + w[A + 8] * z,
    )


@hot
def add_skew(w, o, width, x, y, z):
    """Adds [(x, y, z)]× to a 3 × 3 block of a matrix with rows of `width` numbers."""
    w[o + 1] -= z
    w[o + 2] += y
    w[o + width] += z
    w[o + width + 2] -= x
    w[o + 2 * width] -= y
    w[o + 2 * width + 1] += x
