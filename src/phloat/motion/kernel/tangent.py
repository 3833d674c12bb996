"""The tangent D = ∂F/∂x of one body in closed form, and the magnitude of the terms of its equations, for round-off."""

import math

from phloat.motion.kernel import tables as t
from phloat.motion.kernel.body import axis, mean_inertia_slopes, pair, stresses
from phloat.motion.kernel.machine.compiler import hot, inner
from phloat.motion.kernel.machine.dense import U, W, add_4, add_sizes, add_skew, copy_4, dot_4, fill
from phloat.motion.kernel.machine.simd import broadcast, load, minus, plus, store


@inner
def tangent(B, i, data, index, w, h):
    """Sets D = ∂F/∂x, without the forces of ports, padded by the identity."""
    copy_4(B[i, t.WIDE] * B[i, t.WIDE], w, B[i, t.W_DW], w, B[i, t.W_D])
    factor = 0.5 * h + data[B[i, t.D_MASS] + t.TIME]
    if B[i, t.N_STRAIN]:
        tangent_stress(B, i, data, index, w, h)
        if B[i, t.DAMPED] == t.COUPLED:
            multiply_by_viscosity(B, i, data, w, factor)
            factor = 1.0
    if B[i, t.N_ROT]:
        tangent_rotation(B, i, data, w, h)
        for k in range(B[i, t.N_ETA]):
            tangent_rotation_row(B, i, data, w, h, k)
    if B[i, t.N_STRAIN]:
        for k in range(B[i, t.N_ETA]):
            tangent_strain_row(B, i, index, w, factor, k)


@inner
def tangent_rotation(B, i, data, w, h):
    """Rows of ω: Σ ω₁ ∂J(η₁) + 2/h c + Γη̇₀;   columns of ω: − Σ ω₀ ∂J(η̄) + 2/h c + 2Γv + Γη̇₀;   ω–ω: 2/h J₁."""
    n, long, lin, rot, wide = B[i, t.N_ETA], B[i, t.LONG], B[i, t.N_LIN], B[i, t.N_ROT], B[i, t.WIDE]
    D, x, omega = B[i, t.W_D], B[i, t.W_X] + lin, B[i, t.W_V] + t.V_OMEGA
    v, o = x + rot, lin + rot
    J, dJ, c, g0, mean, Gv = B[i, t.W_J], B[i, t.W_DJ], B[i, t.W_C], B[i, t.W_G0], B[i, t.W_NV], B[i, t.W_GV]
    column = Gv + rot * long
    mean_inertia_slopes(B, i, data, w, h)
    for a in range(rot):
        row = D + (lin + a) * wide
        fill(long, 0.0, w, column)
        for b in range(rot):
            p, start = pair(a, b) * long, w[omega + axis(b, rot)]
            end = 2.0 * w[x + b] - start
            w[row + lin + b] = 2.0 / h * (w[J + pair(a, b)] + h * dot_4(long, w, mean + p, w, v))
            add_4(long, 2.0 * end, w, mean + p, w, row + o)
            add_4(long, -end, w, dJ + p, w, row + o)
            add_4(long, -start, w, mean + p, w, column)
        for to in (row + o, column):
            add_4(long, 2.0 / h, w, c + a * long, w, to)
            add_4(long, 1.0, w, g0 + a * long, w, to)
        add_4(long, 2.0, w, Gv + a * long, w, column)
        for k in range(n):
            w[D + (o + k) * wide + lin + a] += w[column + k]
    if rot == 3:
        tangent_gyroscopic(B, i, w, h)


@hot
def tangent_rotation_row(B, i, data, w, h, k):
    """Adds − h/4 Σ ω₀ω₁ N + 2 Σ ω̄ Γ to row k of D for η; Γ is stored transposed, after N."""
    n, long, lin, rot = B[i, t.N_ETA], B[i, t.LONG], B[i, t.N_LIN], B[i, t.N_ROT]
    row, N = U(B[i, t.W_D] + (lin + rot + k) * B[i, t.WIDE] + lin + rot), U(B[i, t.D_N] + k * long)
    x, omega, f, stride = B[i, t.W_X] + lin, B[i, t.W_V] + t.V_OMEGA, -0.25 * h, U(n * long)
    if rot == 1:
        s2, g2 = w[omega + 2], w[x]
        a, b = broadcast(f * s2 * (2.0 * g2 - s2)), broadcast(2.0 * g2)
        for c in range(U(0), U(long), W):
            store(w, row + c, minus(plus(load(w, row + c), a, load(data, N + c)), b, load(data, N + stride + c)))
    elif rot == 3:
        s0, s1, s2, g0, g1, g2 = w[omega], w[omega + 1], w[omega + 2], w[x], w[x + 1], w[x + 2]
        e0, e1, e2 = 2.0 * g0 - s0, 2.0 * g1 - s1, 2.0 * g2 - s2
        a0, a1, a2 = broadcast(f * s0 * e0), broadcast(f * (s0 * e1 + s1 * e0)), broadcast(f * (s0 * e2 + s2 * e0))
        b0, b1, b2 = broadcast(f * s1 * e1), broadcast(f * (s1 * e2 + s2 * e1)), broadcast(f * s2 * e2)
        c0, c1, c2 = broadcast(2.0 * g0), broadcast(2.0 * g1), broadcast(2.0 * g2)
        for c in range(U(0), U(long), W):
            M = N + c
            four = plus(plus(load(w, row + c), a0, load(data, M)), a1, load(data, M + stride))
            four = plus(plus(four, a2, load(data, M + U(2) * stride)), b0, load(data, M + U(3) * stride))
            four = plus(plus(four, b1, load(data, M + U(4) * stride)), b2, load(data, M + U(5) * stride))
            four = minus(minus(four, c0, load(data, M + U(6) * stride)), c1, load(data, M + U(7) * stride))
            store(w, row + c, minus(four, c2, load(data, M + U(8) * stride)))


@inner
def tangent_gyroscopic(B, i, w, h):
    """Subtracts ∂(p̄_ω × ω̄)/∂x: half h times the rows ∂p_ω/h × ω̄, and p̄_ω × on ω̄."""
    lin, size, wide = B[i, t.N_LIN], B[i, t.SIZE], B[i, t.WIDE]
    D, x = B[i, t.W_D], B[i, t.W_X] + lin
    o0, o1, o2 = w[x], w[x + 1], w[x + 2]
    r0, r1, r2 = D + lin * wide, D + (lin + 1) * wide, D + (lin + 2) * wide
    m0, m1, m2 = w[B[i, t.W_PM]], w[B[i, t.W_PM] + 1], w[B[i, t.W_PM] + 2]
    for k in range(lin, size):
        d0, d1, d2 = 0.5 * h * w[r0 + k], 0.5 * h * w[r1 + k], 0.5 * h * w[r2 + k]
        w[r0 + k] -= d1 * o2 - d2 * o1
        w[r1 + k] -= d2 * o0 - d0 * o2
        w[r2 + k] -= d0 * o1 - d1 * o0
    add_skew(w, r0 + lin, wide, -m0, -m1, -m2)


@inner
def tangent_stress(B, i, data, index, w, h):
    """Adds h/2 Q:s̄ to D for η, and sets B₁ = B + ½hQv."""
    long, wide, o = B[i, t.LONG], B[i, t.WIDE], B[i, t.N_LIN] + B[i, t.N_ROT]
    D, B1, v = B[i, t.W_D] + o * (wide + 1), B[i, t.W_B1], B[i, t.W_X] + o
    stresses(B, i, data, index, w, v, h)
    copy_4(B[i, t.N_STRAIN] * long, w, B[i, t.W_BM], w, B1)
    entry, value = U(B[i, t.I_QUAD]), U(B[i, t.D_Q])
    for _ in range(B[i, t.N_QUAD]):
        a, row, count = index[entry], index[entry + U(1)], U(index[entry + U(2)])
        entry += U(3)
        strip_of_B1, stress = U(B1 + a * long + row), broadcast(0.5 * h * w[B[i, t.W_SBAR] + a])
        four = load(w, strip_of_B1)
        for k in range(count):
            column = index[entry + k]
            to, values = U(D + column * wide + row), load(data, value)
            four = plus(four, broadcast(0.5 * h * w[v + column]), values)
            store(w, to, plus(load(w, to), stress, values))
            value += W
        store(w, strip_of_B1, four)
        entry += count


@hot
def tangent_strain_row(B, i, index, w, factor, k):
    """Adds (½h + τ) BᵀB₁ to row k of D for η, over the strains that depend on this coordinate; B at η̄, B₁ at η₁."""
    long, wide, o = B[i, t.LONG], B[i, t.WIDE], B[i, t.N_LIN] + B[i, t.N_ROT]
    row, BM, B1 = U(B[i, t.W_D] + (o + k) * wide + o), U(B[i, t.W_BM] + k), U(B[i, t.W_B1])
    first, last = index[B[i, t.I_STRAINS] + k], index[B[i, t.I_STRAINS] + k + 1]
    for c in range(U(0), U(long), W):
        four = load(w, row + c)
        for p in range(first, last):
            strain = U(index[p] * long)
            four = plus(four, broadcast(factor * w[BM + strain]), load(w, B1 + strain + c))
        store(w, row + c, four)


@inner
def multiply_by_viscosity(B, i, data, w, factor):
    """Replaces B₁ by (factor + T) B₁; overwrites s̄."""
    s, long, B1, T, sums = B[i, t.N_STRAIN], B[i, t.LONG], B[i, t.W_B1], B[i, t.D_MASS] + t.VISCOSITY, B[i, t.W_SBAR]
    for k in range(B[i, t.N_ETA]):
        for a in range(s):
            total = factor * w[B1 + a * long + k]
            for b in range(s):
                total += data[T + a * s + b] * w[B1 + b * long + k]
            w[sums + a] = total
        for a in range(s):
            w[B1 + a * long + k] = w[sums + a]


@inner
def stress_sizes(B, i, data, w):
    """Replaces s̄ by the magnitude of its terms that are not of the step: ε and damping."""
    s, long, size, rate = B[i, t.N_STRAIN], B[i, t.LONG], B[i, t.W_SBAR], B[i, t.W_B1]
    v, T = B[i, t.W_X] + B[i, t.N_LIN] + B[i, t.N_ROT], B[i, t.D_MASS] + t.VISCOSITY
    time = data[B[i, t.D_MASS] + t.TIME]
    for a in range(s):
        w[size + a] = abs(w[B[i, t.W_EPS] + a])
    if B[i, t.DAMPED] == 0:
        return
    for a in range(s):
        w[rate + a] = 0.0
        for k in range(B[i, t.N_ETA]):
            w[rate + a] += abs(w[B[i, t.W_BM] + a * long + k] * w[v + k])
        w[size + a] += time * w[rate + a]
    if B[i, t.DAMPED] == t.COUPLED:
        for a in range(s):
            for b in range(s):
                w[size + a] += abs(data[T + a * s + b]) * w[rate + b]


@inner
def equation_scales(B, i, data, w, gravity, h):
    """Sets the magnitude of the terms of each equation; their round-off bounds F below. Needs B from `tangent`."""
    n, long, lin, rot = B[i, t.N_ETA], B[i, t.LONG], B[i, t.N_LIN], B[i, t.N_ROT]
    scale, x, V, q = B[i, t.W_SCALE], B[i, t.W_X], B[i, t.W_V], B[i, t.W_Q]
    mass = data[B[i, t.D_MASS]]
    for a in range(lin):
        w[scale + a] = mass * (2.0 * (abs(w[x + a]) + abs(w[V + a])) / abs(h) + abs(gravity[a]))
    for a in range(rot):
        total = abs(w[B[i, t.W_P] + a])
        for b in range(rot):
            total += abs(w[B[i, t.W_J] + pair(a, b)]) * abs(w[x + lin + b])
        w[scale + lin + a] = 2.0 * total / abs(h)
    o = scale + lin + rot
    fill(long, 0.0, w, o)
    add_sizes(w, B[i, t.W_C], rot, long, w, x + lin, w, o)
    for k in range(n):
        w[o + k] *= 2.0 / abs(h)
    add_sizes(data, B[i, t.D_K], n, long, w, q + t.Q_ETA, w, o)
    add_sizes(w, B[i, t.W_D0], n, long, w, x + lin + rot, w, o)
    stress_sizes(B, i, data, w)
    add_sizes(w, B[i, t.W_BM], B[i, t.N_STRAIN], long, w, B[i, t.W_SBAR], w, o)


@inner
def unit_scales(B, i, w):
    """Sets the unit 1/√D_kk of each equation."""
    for k in range(B[i, t.SIZE]):
        w[B[i, t.W_UNIT] + k] = 1.0 / math.sqrt(abs(w[B[i, t.W_D] + k * B[i, t.WIDE] + k]))
