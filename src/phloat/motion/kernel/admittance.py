"""What each body adds to the system on the multipliers: S = Σ α Ĝ D⁻¹Gᵀ."""

from phloat.motion.kernel.machine.compiler import inner
from phloat.motion.kernel.machine.dense import dot_4
from phloat.motion.kernel.machine.inverse import solved
from phloat.motion.kernel.tables import (
    ALPHA,
    CLOSED,
    FIRST_INC,
    G_COLUMN,
    G_ENTRY,
    G_HAT,
    G_MEAN,
    G_ROWS,
    J_BLOCK,
    J_LAM,
    J_ROW,
    J_ROWS,
    J_UNKNOWN,
    N_INC,
    R_COEF,
    R_DROPPED,
    R_MODE,
    W_D,
    W_SOL,
    WIDE,
)


@inner
def admittance(m, w, i):
    """D_i⁻¹G_iᵀ for all rows that touch the body, one after the other."""
    B, G = m.bodies, m.incidences
    wide = B[i, WIDE]
    for g in range(B[i, FIRST_INC], B[i, FIRST_INC] + B[i, N_INC]):
        for k in range(G[g, G_ROWS]):
            to = B[i, W_SOL] + (G[g, G_COLUMN] + k) * wide
            solved(w, B[i, W_D], wide, w, G[g, G_MEAN] + k * wide, w, to)


@inner
def assemble(m, w, i, first):
    """S += α Ĝ D⁻¹Gᵀ of one body, whose blocks are listed from `first` on; returns where those of the next begin."""
    B, J, R, G = m.bodies, m.entries, m.rows, m.incidences
    wide, X, count = B[i, WIDE], B[i, W_SOL], B[i, N_INC]
    for a in range(B[i, FIRST_INC], B[i, FIRST_INC] + count):
        row_a = J[G[a, G_ENTRY], J_ROW]
        for s in range(first, first + count):
            b = m.assembly[s, 1]
            across, row_b = G[b, G_ROWS], J[G[b, G_ENTRY], J_ROW]
            for r in range(G[a, G_ROWS]):
                alpha, hat, to = w[R[row_a + r, R_COEF] + ALPHA], G[a, G_HAT] + r * wide, m.assembly[s, 2] + r * across
                for c in range(across):
                    if not (R[row_a + r, R_DROPPED] or R[row_b + c, R_DROPPED]):
                        w[to + c] += alpha * dot_4(wide, w, hat, w, X + (G[b, G_COLUMN] + c) * wide)
        first += count
    return first


@inner
def close(m, w, pivots):
    """One on the diagonal of S for laws and for rows left out; its diagonal is kept, to tell pivots that vanish."""
    J, R = m.entries, m.rows
    for j in range(len(J)):
        if J[j, J_UNKNOWN]:
            n = J[j, J_ROWS]
            for k in range(n):
                r, at = J[j, J_ROW] + k, J[j, J_BLOCK] + k * n + k
                if R[r, R_DROPPED] or R[r, R_MODE] != CLOSED:
                    w[at] += 1.0
                w[pivots + J[j, J_LAM] + k] = w[at]
