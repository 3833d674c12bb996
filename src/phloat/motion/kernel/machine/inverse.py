"""D⁻¹ of a body, in place: with it a correction is one matrix product, without the row-to-row dependency of a substitution.

D is padded to a multiple of four by the identity. Pivots are 4 × 4 blocks without exchange: the symmetric part of D is close to
2/h M + h/2 K. Where it is not, residuals do not fall and the step is halved.
"""

from phloat.motion.kernel.machine.compiler import hot, inner
from phloat.motion.kernel.machine.dense import U, W
from phloat.motion.kernel.machine.simd import broadcast, load, minus, pack, plus, store, times

ONE, TWO, THREE = U(1), U(2), U(3)


@inner
def invert(M, o, n):
    """M ← M⁻¹ by Gauss–Jordan elimination; returns False if a pivot vanishes."""
    o, n = U(o), U(n)
    for k in range(U(0), n, W):
        top = o + k * n
        r0, r1, r2, r3 = top, top + n, top + TWO * n, top + THREE * n
        p0, p1, p2, p3, regular = _block(M, top + k, n)
        if not regular:
            return False
        for s in range(U(0), n, W):  # rows of the pivot: R = P⁻¹M
            a, b, c, d = load(M, r0 + s), load(M, r1 + s), load(M, r2 + s), load(M, r3 + s)
            store(M, r0 + s, _combine(p0, a, b, c, d))
            store(M, r1 + s, _combine(p1, a, b, c, d))
            store(M, r2 + s, _combine(p2, a, b, c, d))
            store(M, r3 + s, _combine(p3, a, b, c, d))
        store(M, r0 + k, pack(p0[0], p0[1], p0[2], p0[3]))
        store(M, r1 + k, pack(p1[0], p1[1], p1[2], p1[3]))
        store(M, r2 + k, pack(p2[0], p2[1], p2[2], p2[3]))
        store(M, r3 + k, pack(p3[0], p3[1], p3[2], p3[3]))
        for i in range(U(0), n, TWO):  # all others, two at a time: M ← M − M_k R
            if i != k and i != k + TWO:
                x, y = o + i * n, o + (i + ONE) * n
                x0, x1, x2, x3 = _broadcast_four(M, x + k)
                y0, y1, y2, y3 = _broadcast_four(M, y + k)
                store(M, x + k, broadcast(0.0))
                store(M, y + k, broadcast(0.0))
                for s in range(U(0), n, W):
                    a, b, c, d = load(M, r0 + s), load(M, r1 + s), load(M, r2 + s), load(M, r3 + s)
                    store(M, x + s, minus(minus(minus(minus(load(M, x + s), x0, a), x1, b), x2, c), x3, d))
                    store(M, y + s, minus(minus(minus(minus(load(M, y + s), y0, a), y1, b), y2, c), y3, d))
    return True


@hot
def _broadcast_four(M, o):
    """Four vectors, each with one of the numbers M[o] … M[o + 3] in all places."""
    return broadcast(M[o]), broadcast(M[o + ONE]), broadcast(M[o + TWO]), broadcast(M[o + THREE])


@hot
def _combine(p, a, b, c, d):
    """p₀a + p₁b + p₂c + p₃d."""
    return plus(plus(plus(times(broadcast(p[0]), a), broadcast(p[1]), b), broadcast(p[2]), c), broadcast(p[3]), d)


@hot
def _block(M, o, n):
    """The four rows of the inverse of a 4 × 4 block, computed by 2 × 2 blocks, and whether it is invertible."""
    A, B = _block_2x2(M, o, n), _block_2x2(M, o + TWO, n)
    C, D = _block_2x2(M, o + TWO * n, n), _block_2x2(M, o + TWO * n + TWO, n)
    a, first = _inverse(A[0], A[1], A[2], A[3])
    X, Y = _times(a, B), _times(C, a)
    Z = _times(C, X)
    S, second = _inverse(D[0] - Z[0], D[1] - Z[1], D[2] - Z[2], D[3] - Z[3])
    T, V = _times(X, S), _times(S, Y)
    L = _times(T, Y)
    p0, p1 = (a[0] + L[0], a[1] + L[1], -T[0], -T[1]), (a[2] + L[2], a[3] + L[3], -T[2], -T[3])
    return p0, p1, (-V[0], -V[1], S[0], S[1]), (-V[2], -V[3], S[2], S[3]), first and second


@hot
def _block_2x2(M, o, n):
    """The 2 × 2 block of M (n columns) that starts at index o, row by row."""
    return M[o], M[o + ONE], M[o + n], M[o + n + ONE]


@hot
def _times(a, b):
    """The product of two 2 × 2 matrices, each as its four entries row by row."""
    return (
        a[0] * b[0] + a[1] * b[2],
        a[0] * b[1] + a[1] * b[3],
        a[2] * b[0] + a[3] * b[2],
        a[2] * b[1] + a[3] * b[3],
    )


@hot
def _inverse(a, b, c, d):
    """The inverse of the matrix [[a, b], [c, d]], row by row, and whether its determinant is nonzero."""
    determinant = a * d - b * c
    f = 1.0 / determinant
    return (d * f, -b * f, -c * f, a * f), abs(determinant) > 0.0
