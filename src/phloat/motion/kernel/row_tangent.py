"""What in-plane and distance rows, and forces that follow their section, add to the tangent of a body by its own motion."""

from phloat.motion.kernel.body import axis
from phloat.motion.kernel.machine.compiler import inner, jit
from phloat.motion.kernel.machine.dense import cross_add, rotate
from phloat.motion.kernel.ports import bent_by, carry_mean, clear
from phloat.motion.kernel.rows import followed
from phloat.motion.kernel.tables import (
    ARM,
    COEF_END,
    COEF_MEAN,
    DIR,
    DISTANCE,
    E_BODY,
    E_END,
    E_ENTRY,
    E_MEAN,
    E_PHI,
    E_PSI,
    FORCE,
    GAP0,
    GAP1,
    IN_PLANE,
    J_B,
    J_LAM,
    J_ROW,
    J_ROWS,
    LONG,
    N_LIN,
    N_ROT,
    ON_DIR,
    R_COEF,
    R_I,
    R_KIND,
    SIZE,
    TORQUE,
    TRIAD,
    TURNED,
    W_D,
    W_Q1,
    W_QT,
    W_T,
    W_X,
    W_Y,
    WIDE,
    WRENCH_V,
    WRENCH_W,
)


@jit
def geometric(m, w, e, h):
    """D −= the part of these forces that changes with their own body's motion, column by column."""
    B, E, i, j = m.bodies, m.ends, m.ends[e, E_BODY], m.ends[e, E_ENTRY]
    D, y, size, wide = B[i, W_D], B[i, W_Y], B[i, SIZE], B[i, WIDE]
    t, to, out = B[i, W_T], B[i, W_T] + MOVED, B[i, W_T] + OUT
    for column in range(size):
        moved(m, w, e, column, h, t, to)
        clear(w, out)
        if not changed(m, w, j, m.entries[j, J_B] == e, out, to):
            continue
        for k in range(size):
            w[y + k] = 0.0
        carry_mean(B, E, e, m.data, w, out, y)
        for k in range(size):
            w[D + k * wide + column] -= w[y + k]


# in the scratch of a body: δc₁ and the three δd̄ for one column of unknowns, and the forces that change by them
MOVED, OUT = 40, 64


@inner
def moved(m, w, e, column, h, t, to):
    B, E = m.bodies, m.ends
    i = E[e, E_BODY]
    n, lin, rot = B[i, LONG], B[i, N_LIN], B[i, N_ROT]
    end, A1 = E[e, E_END], B[i, W_Q1] + 3
    for k in range(12):
        w[to + k] = 0.0
    if column < lin:
        w[to + column] = h
    elif column < lin + rot:
        size = 0.0
        for a in range(rot):
            size += w[B[i, W_X] + lin + a] ** 2
        kappa = h / (1.0 + 0.25 * h * h * size)
        for a in range(3):
            w[t + a] = kappa * w[B[i, W_QT] + 3 * a + axis(column - lin, rot)]
        cross_add(w, t, w, end + ARM, 1.0, w, to)
        for k in range(3):
            cross_add(w, t, w, end + DIR + 3 * k, 0.5, w, to + 3 + 3 * k)
    else:
        k = column - lin - rot
        for a in range(6):
            w[t + a] = 0.0
        for a in range(lin):
            w[t + a] = h * m.data[E[e, E_PHI] + a * n + k]
        rotate(w, A1, w, t, w, to)
        for a in range(rot):
            w[t + 3 + axis(a, rot)] = 0.5 * h * m.data[E[e, E_PSI] + a * n + k]
        for c in range(3):
            x, y, z = bent_by(w, end + TURNED, end + TRIAD + 3 * c, w[t + 3], w[t + 4], w[t + 5])
            w[t + 6], w[t + 7], w[t + 8] = x, y, z
            rotate(w, A1, w, t + 6, w, to + 3 + 3 * c)


@inner
def _follow(w, port, coef, lam, moved, out):
    """δ(λ |c| u/|u|) of a force that follows its section, u = Σ c_i d̄_i."""
    x, y, z, scale = followed(w, port, coef)
    d0, d1, d2, size = 0.0, 0.0, 0.0, x * x + y * y + z * z
    for i in range(3):
        c, d = w[coef + i], moved + 3 + 3 * i
        d0, d1, d2 = d0 + c * w[d], d1 + c * w[d + 1], d2 + c * w[d + 2]
    part = (x * d0 + y * d1 + z * d2) / size
    w[out] += lam * scale * (d0 - part * x)
    w[out + 1] += lam * scale * (d1 - part * y)
    w[out + 2] += lam * scale * (d2 - part * z)


@inner
def changed(m, w, j, side, out, moved):
    """Forces at one side, in w from `out` on, that change with its own motion: δ(λ ḡ), δ(λ d̄_A), δ(λ e)."""
    J, R = m.entries, m.rows
    any_row = False
    for k in range(J[j, J_ROWS]):
        r, lam = J[j, J_ROW] + k, w[m.where[0] + J[j, J_LAM] + k]
        if lam == 0.0:
            continue
        if R[r, R_KIND] == IN_PLANE and side == 0:
            d = 3 * R[r, R_I]
            for c in range(3):
                w[out + FORCE + c] -= lam * w[moved + 3 + d + c]
                w[out + ON_DIR + d + c] -= 0.5 * lam * w[moved + c]
            any_row = True
        elif (R[r, R_KIND] == WRENCH_V or R[r, R_KIND] == WRENCH_W) and side == 1:
            _follow(
                w,
                m.ends[J[j, J_B], E_MEAN],
                R[r, R_COEF],
                lam,
                moved,
                out + (FORCE if R[r, R_KIND] == WRENCH_V else TORQUE),
            )
            any_row = True
        elif R[r, R_KIND] == DISTANCE:
            o, inner = R[r, R_COEF], 0.0
            for c in range(3):
                inner += w[o + COEF_END + c] * w[moved + c]
            for c in range(3):
                change = (w[moved + c] - w[o + COEF_MEAN + c] * inner) / (w[o + GAP0] + w[o + GAP1])
                w[out + FORCE + c] += lam * change
            any_row = True
    return any_row
