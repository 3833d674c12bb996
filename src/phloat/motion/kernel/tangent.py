"""The tangent D = ∂F/∂x of one body in closed form, and the sizes of the terms of its equations."""

from phloat.motion.kernel.body import axis, pair
from phloat.motion.kernel.small import U, add_block, add_rows, axpy, copy, fill, hot, inner, jit
from phloat.motion.kernel.tables import (
    D_GAMMA,
    D_K,
    D_MASS,
    D_N,
    D_Q,
    I_COLUMNS,
    I_QUAD,
    N_ETA,
    N_LIN,
    N_QUAD,
    N_ROT,
    N_STRAIN,
    SIZE,
    W_B1,
    W_BM,
    W_C,
    W_D0,
    W_DJ,
    W_EPS,
    W_G0,
    W_GV,
    W_J,
    W_LU,
    W_NV,
    W_P,
    W_PM,
    W_Q,
    W_SBAR,
    W_SCALE,
    W_UNIT,
    W_V,
    W_X,
)


@jit
def tangent(B, i, data, index, w, h):
    """D = ∂F/∂x into the place of the factors, without the forces of ports."""
    n, lin, rot, size = B[i, N_ETA], B[i, N_LIN], B[i, N_ROT], B[i, SIZE]
    D, D0 = B[i, W_LU], B[i, W_D0]
    fill(size * size, 0.0, w, D)
    for a in range(lin):
        w[D + a * size + a] = 2.0 * data[B[i, D_MASS]] / h
    o = lin + rot
    add_block(n, n, 1.0, w, D0, w, D + o * size + o, size)
    if rot:
        tangent_turning(B, i, data, w, h)
    tangent_membrane(B, i, data, index, w, h)


@inner
def tangent_turning(B, i, data, w, h):
    n, lin, rot, size = B[i, N_ETA], B[i, N_LIN], B[i, N_ROT], B[i, SIZE]
    D, x, omega = B[i, W_LU], B[i, W_X] + lin, B[i, W_V] + 3
    v, o = x + rot, lin + rot
    J, dJ, c, g0, Nv, Gv = B[i, W_J], B[i, W_DJ], B[i, W_C], B[i, W_G0], B[i, W_NV], B[i, W_GV]
    for a in range(rot):
        for b in range(rot):
            p = pair(a, b)
            start_b = w[omega + axis(b, rot)]
            end_b = 2.0 * w[x + b] - start_b
            J1 = w[J + p]
            for k in range(n):
                mean = w[dJ + p * n + k] + 0.5 * h * w[Nv + p * n + k]
                J1 += h * w[v + k] * mean
                w[D + (lin + a) * size + o + k] += end_b * (mean + 0.5 * h * w[Nv + p * n + k])
                w[D + (o + k) * size + lin + a] -= start_b * mean
            w[D + (lin + a) * size + lin + b] += 2.0 / h * J1
        for k in range(n):
            c1 = 2.0 / h * (w[c + a * n + k] + h * w[Gv + a * n + k])
            w[D + (lin + a) * size + o + k] += c1 - (2.0 * w[Gv + a * n + k] - w[g0 + a * n + k])
            w[D + (o + k) * size + lin + a] += c1 + w[g0 + a * n + k]
    swollen_and_whirled(B, i, data, w, h)
    if rot == 3:
        tangent_gyroscopic(B, i, w, h)


@inner
def swollen_and_whirled(B, i, data, w, h):
    """On η: − h/4 Σ ω₀ω₁ N + 2 Σ ω̄ Γ, three matrices at a time."""
    n, lin, rot, size = B[i, N_ETA], B[i, N_LIN], B[i, N_ROT], B[i, SIZE]
    D, N, Gamma = B[i, W_LU] + (lin + rot) * (size + 1), B[i, D_N], B[i, D_GAMMA]
    x, omega = B[i, W_X] + lin, B[i, W_V] + 3
    if rot == 1:
        s2, g2 = w[omega + 2], w[x]
        for k in range(n):
            add_rows(1, n, -0.25 * h * s2 * (2.0 * g2 - s2), 0.0, 0.0, data, N + k * n, 0, w, D + k * size)
            add_rows(1, n, 2.0 * g2, 0.0, 0.0, data, Gamma + k * n, 0, w, D + k * size)
        return
    s0, s1, s2, g0, g1, g2 = w[omega], w[omega + 1], w[omega + 2], w[x], w[x + 1], w[x + 2]
    e0, e1, e2, f = 2.0 * g0 - s0, 2.0 * g1 - s1, 2.0 * g2 - s2, -0.25 * h
    first = f * s0 * e0, f * (s0 * e1 + s1 * e0), f * (s0 * e2 + s2 * e0)
    second = f * s1 * e1, f * (s1 * e2 + s2 * e1), f * s2 * e2
    for k in range(n):
        at = D + k * size
        add_rows(3, n, first[0], first[1], first[2], data, N + k * n, n * n, w, at)
        add_rows(3, n, second[0], second[1], second[2], data, N + (3 * n + k) * n, n * n, w, at)
        add_rows(3, n, 2.0 * g0, 2.0 * g1, 2.0 * g2, data, Gamma + k * n, n * n, w, at)


@inner
def tangent_gyroscopic(B, i, w, h):
    """− ∂(p̄_ω × ω̄): half h times the rows ∂p_ω/h × ω̄, and p̄_ω × on ω̄."""
    lin, size = B[i, N_LIN], B[i, SIZE]
    D, x = B[i, W_LU], B[i, W_X] + lin
    o0, o1, o2 = w[x], w[x + 1], w[x + 2]
    r0, r1, r2 = D + lin * size, D + (lin + 1) * size, D + (lin + 2) * size
    m0, m1, m2 = w[B[i, W_PM]], w[B[i, W_PM] + 1], w[B[i, W_PM] + 2]
    for k in range(lin, size):
        d0, d1, d2 = 0.5 * h * w[r0 + k], 0.5 * h * w[r1 + k], 0.5 * h * w[r2 + k]
        w[r0 + k] -= d1 * o2 - d2 * o1
        w[r1 + k] -= d2 * o0 - d0 * o2
        w[r2 + k] -= d0 * o1 - d1 * o0
    w[r0 + lin + 1] += m2
    w[r0 + lin + 2] -= m1
    w[r1 + lin] -= m2
    w[r1 + lin + 2] += m0
    w[r2 + lin] += m1
    w[r2 + lin + 1] -= m0


@inner
def tangent_membrane(B, i, data, index, w, h):
    """h/2 (BᵀB₁ + Q:s̄) with B at η̄ and B₁ at η₁."""
    n, s, size = B[i, N_ETA], B[i, N_STRAIN], B[i, SIZE]
    if s == 0:
        return
    o = B[i, N_LIN] + B[i, N_ROT]
    D, BM, B1, quad, v = B[i, W_LU], B[i, W_BM], B[i, W_B1], B[i, I_QUAD], B[i, W_X] + o
    copy(s * n, w, BM, w, B1)
    for k in range(B[i, N_QUAD]):
        a, row, column = index[quad + 3 * k], index[quad + 3 * k + 1], index[quad + 3 * k + 2]
        value = 0.5 * h * data[B[i, D_Q] + k]
        w[B1 + a * n + row] += value * w[v + column]
        w[D + (o + row) * size + o + column] += value * w[B[i, W_SBAR] + a]
    for a in range(s):
        first, last, row = index[B[i, I_COLUMNS] + a], index[B[i, I_COLUMNS] + a + 1], B1 + a * n
        for p in range(first, last):
            k = index[p]
            value, at = 0.5 * h * w[BM + a * n + k], D + (o + k) * size + o
            if 2 * (last - first) > n:
                axpy(n, value, w, row, w, at)
            else:
                for r in range(first, last):
                    w[at + index[r]] += value * w[row + index[r]]


@hot
def sizes(a, o, b, p, n):
    """Σ |a_k b_k|."""
    o, p, total = U(o), U(p), 0.0
    for k in range(U(n)):
        total += abs(a[o + k] * b[p + k])
    return total


@inner
def scales(B, i, data, index, w, gravity, h):
    """The size of the terms of each equation, whose round-off is the best that F can reach, and the unit √D_kk of each."""
    n, lin, rot, size = B[i, N_ETA], B[i, N_LIN], B[i, N_ROT], B[i, SIZE]
    scale, unit, x, V, q = B[i, W_SCALE], B[i, W_UNIT], B[i, W_X], B[i, W_V], B[i, W_Q]
    mass = data[B[i, D_MASS]]
    for a in range(lin):
        w[scale + a] = mass * (2.0 * (abs(w[x + a]) + abs(w[V + a])) / abs(h) + abs(gravity[a]))
    for a in range(rot):
        total = abs(w[B[i, W_P] + a])
        for b in range(rot):
            total += abs(w[B[i, W_J] + pair(a, b)]) * abs(w[x + lin + b])
        w[scale + lin + a] = 2.0 * total / abs(h)
    o = lin + rot
    for k in range(n):
        total = sizes(data, B[i, D_K] + k * n, w, q + 12, n) + sizes(w, B[i, W_D0] + k * n, w, x + o, n)
        for a in range(rot):
            total += 2.0 / abs(h) * abs(w[B[i, W_C] + a * n + k] * w[x + lin + a])
        w[scale + o + k] = total
    for a in range(B[i, N_STRAIN]):
        stress = w[B[i, W_EPS] + a]
        for r in range(index[B[i, I_COLUMNS] + a], index[B[i, I_COLUMNS] + a + 1]):
            w[scale + o + index[r]] += abs(w[B[i, W_BM] + a * n + index[r]] * stress)
    for k in range(size):
        w[unit + k] = 1.0 / abs(w[B[i, W_LU] + k * size + k]) ** 0.5
