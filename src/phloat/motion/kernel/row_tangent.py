"""What rows add to the tangent of a body whose motion changes the forces of these rows on itself: products of vectors that
both move with it, lengths, and forces that follow their section."""

from phloat.joints.rows import FIRST, SECOND, SEPARATION
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.body import axis
from phloat.motion.kernel.machine.compiler import hot, inner, jit
from phloat.motion.kernel.machine.dense import cross_add, fill, rotate
from phloat.motion.kernel.ports import bent_by, carry_mean, clear
from phloat.motion.kernel.rows import direction, push, vector


@jit
def geometric(m, w, e, h):
    """D −= the part of these forces that changes with their own body's motion, column by column."""
    B, E, i, j = m.bodies, m.ends, m.ends[e, t.E_BODY], m.ends[e, t.E_ENTRY]
    D, y, size, wide = B[i, t.W_D], B[i, t.W_Y], B[i, t.SIZE], B[i, t.WIDE]
    scratch, to, out = B[i, t.W_T], B[i, t.W_T] + MOVED, B[i, t.W_T] + OUT
    for column in range(size):
        port_shift(m, w, e, column, h, scratch, to)
        clear(w, out)
        if not force_change(m, w, j, m.entries[j, t.J_B] == e, out, to):
            continue
        fill(size, 0.0, w, y)
        carry_mean(B, E, e, m.data, w, out, y)
        for k in range(size):
            w[D + k * wide + column] -= w[y + k]


# in the scratch of a body: δc₁ and the three δd̄ for one column of unknowns, and the forces that change by them
MOVED, OUT = 40, 64


@inner
def port_shift(m, w, e, column, h, scratch, to):
    B, E = m.bodies, m.ends
    i = E[e, t.E_BODY]
    n, lin, rot = B[i, t.LONG], B[i, t.N_LIN], B[i, t.N_ROT]
    end, A1 = E[e, t.E_END], B[i, t.W_Q1] + t.Q_A
    fill(12, 0.0, w, to)
    if column < lin:
        w[to + column] = h
    elif column < lin + rot:
        size = 0.0
        for a in range(rot):
            size += w[B[i, t.W_X] + lin + a] ** 2
        kappa = h / (1.0 + 0.25 * h * h * size)
        for a in range(3):
            w[scratch + a] = kappa * w[B[i, t.W_QT] + 3 * a + axis(column - lin, rot)]
        cross_add(w, scratch, w, end + t.ARM, 1.0, w, to)
        for k in range(3):
            cross_add(w, scratch, w, end + t.DIR + 3 * k, 0.5, w, to + 3 + 3 * k)
    else:
        k = column - lin - rot
        fill(6, 0.0, w, scratch)
        for a in range(lin):
            w[scratch + a] = h * m.data[E[e, t.E_PHI] + a * n + k]
        rotate(w, A1, w, scratch, w, to)
        for a in range(rot):
            w[scratch + 3 + axis(a, rot)] = 0.5 * h * m.data[E[e, t.E_PSI] + a * n + k]
        for c in range(3):
            x, y, z = bent_by(w, end + t.TURNED, end + t.TRIAD + 3 * c, w[scratch + 3], w[scratch + 4], w[scratch + 5])
            w[scratch + 6], w[scratch + 7], w[scratch + 8] = x, y, z
            rotate(w, A1, w, scratch + 6, w, to + 3 + 3 * c)


@hot
def shift(w, a, side, port_shift):
    """δ of the mean of a vector by the motion of one side."""
    if a == SEPARATION:
        half = 0.5 if side else -0.5
        return half * w[port_shift], half * w[port_shift + 1], half * w[port_shift + 2]
    first = SECOND if side else FIRST
    if a < first or a >= first + 3:
        return 0.0, 0.0, 0.0
    o = port_shift + 3 + 3 * (a - first)
    return w[o], w[o + 1], w[o + 2]


@inner
def follow(m, w, j, r, lam, side, out, port_shift):
    """δ(λ |α| u/|u|) of a force that follows its section, u = Σ α d̄."""
    A, B, T = m.ends[m.entries[j, t.J_A], t.E_MEAN], m.ends[m.entries[j, t.J_B], t.E_MEAN], m.terms
    x, y, z, scale = direction(m.rows, T, r, m.data, w, A, B)
    d0, d1, d2, size = 0.0, 0.0, 0.0, x * x + y * y + z * z
    for k in range(m.rows[r, t.R_TERM], m.rows[r, t.R_TERM] + m.rows[r, t.R_P]):
        factor = m.data[T[k, t.T_FACTOR]]
        u, v, s = shift(w, T[k, t.T_A], side, port_shift)
        d0, d1, d2 = d0 + factor * u, d1 + factor * v, d2 + factor * s
    part, force = (x * d0 + y * d1 + z * d2) / size, lam * scale
    o = out + (t.TORQUE if m.rows[r, t.R_FUNCTION] == t.SPIN else t.FORCE)
    w[o] += force * (d0 - part * x)
    w[o + 1] += force * (d1 - part * y)
    w[o + 2] += force * (d2 - part * z)


@inner
def end_slope(m, w, j, r, side, port_shift):
    """δp at the end of the step."""
    A, B, T, total = m.ends[m.entries[j, t.J_A], t.E_END], m.ends[m.entries[j, t.J_B], t.E_END], m.terms, 0.0
    for k in range(m.rows[r, t.R_TERM], m.rows[r, t.R_TERM] + m.rows[r, t.R_P]):
        a, b = T[k, t.T_A], T[k, t.T_B]
        x, y, z = vector(w, A, B, a)
        u, v, s = shift(w, b, side, port_shift)
        change = x * u + y * v + z * s
        x, y, z = vector(w, A, B, b)
        u, v, s = shift(w, a, side, port_shift)
        total += 2.0 * m.data[T[k, t.T_FACTOR]] * (change + x * u + y * v + z * s)
    return total


@inner
def force_change(m, w, j, side, out, port_shift):
    """Forces at one side, in w from `out` on, that change with its own motion: δ(λ f_p α b̄) on a and δ(λ f_p α ā) on b.

    The slopes f_p and f_q are held, but for lengths: their change is what keeps a taut string from being pushed sideways.
    """
    J, R, T = m.entries, m.rows, m.terms
    any_row, other = False, out + t.OUT_SIZE  # what the rows do to the other side is not used
    on_A, on_B = (other, out) if side else (out, other)
    for n in range(J[j, t.J_ROWS]):
        r, lam = J[j, t.J_ROW] + n, w[m.where[0] + J[j, t.J_LAM] + n]
        if lam == 0.0:
            continue
        function, o = R[r, t.R_FUNCTION], R[r, t.R_COEF] + t.COEF_MEAN
        if function == t.VELOCITY or function == t.SPIN:
            if R[r, t.R_FOLLOWS] and side == 1:
                follow(m, w, j, r, lam, side, out, port_shift)
                any_row = True
            continue
        sharper = 0.0
        if function == t.LENGTH:  # f_p = 1/(l₀ + l₁)
            sharper = -lam * w[o] * w[o] * w[R[r, t.R_COEF] + t.COEF_END] * end_slope(m, w, j, r, side, port_shift)
        A, B = m.ends[J[j, t.J_A], t.E_MEAN], m.ends[J[j, t.J_B], t.E_MEAN]
        for k in range(R[r, t.R_TERM], R[r, t.R_TERM] + R[r, t.R_P] + R[r, t.R_Q]):
            a, b, factor = T[k, t.T_A], T[k, t.T_B], m.data[T[k, t.T_FACTOR]]
            force = lam * factor * w[o if k < R[r, t.R_TERM] + R[r, t.R_P] else o + 1]
            x, y, z = shift(w, b, side, port_shift)
            push(w, a, force * x, force * y, force * z, on_A, on_B)
            x, y, z = shift(w, a, side, port_shift)
            push(w, b, force * x, force * y, force * z, on_A, on_B)
            if sharper != 0.0:
                x, y, z = vector(w, A, B, b)
                push(w, a, sharper * factor * x, sharper * factor * y, sharper * factor * z, on_A, on_B)
                x, y, z = vector(w, A, B, a)
                push(w, b, sharper * factor * x, sharper * factor * y, sharper * factor * z, on_A, on_B)
        any_row = True
    return any_row
