"""What each body adds to the system on the multipliers: S = Σ α Ĝ D⁻¹Gᵀ."""

from phloat.motion.kernel.small import fill, inner, lu_solve_many, times_columns
from phloat.motion.kernel.tables import (
    ALPHA,
    CLOSED,
    FIRST_INC,
    G_COLUMN,
    G_ENTRY,
    G_HAT,
    G_MEAN,
    G_ROWS,
    IW_PIVOT,
    J_BLOCK,
    J_LAM,
    J_ROW,
    J_ROWS,
    J_UNKNOWN,
    N_INC,
    N_MULT,
    R_COEF,
    R_DROPPED,
    R_MODE,
    SIZE,
    W_LU,
    W_ROW,
    W_SOL,
)


@inner
def admittance(m, w, iw, i):
    """D_i⁻¹G_iᵀ for all rows that touch the body, size × multipliers (and columns of zeros up to a multiple of four)."""
    B, G = m.bodies, m.incidences
    size, columns, X = B[i, SIZE], B[i, N_MULT], B[i, W_SOL]
    fill(size * columns, 0.0, w, X)
    for g in range(B[i, FIRST_INC], B[i, FIRST_INC] + B[i, N_INC]):
        for k in range(G[g, G_ROWS]):
            for c in range(size):
                w[X + c * columns + G[g, G_COLUMN] + k] = w[G[g, G_MEAN] + k * size + c]
    if columns:
        lu_solve_many(w, B[i, W_LU], size, iw, B[i, IW_PIVOT], w, X, columns)


@inner
def assemble(m, w, i, first):
    """S += α Ĝ D⁻¹Gᵀ of one body, whose blocks are listed from `first` on; returns where those of the next begin."""
    B, J, R, G = m.bodies, m.entries, m.rows, m.incidences
    size, columns, X, product, count = B[i, SIZE], B[i, N_MULT], B[i, W_SOL], B[i, W_ROW], B[i, N_INC]
    for a in range(B[i, FIRST_INC], B[i, FIRST_INC] + count):
        row_a = J[G[a, G_ENTRY], J_ROW]
        for r in range(G[a, G_ROWS]):
            if R[row_a + r, R_DROPPED]:
                continue
            times_columns(w, G[a, G_HAT] + r * size, size, w, X, columns, w, product)
            alpha = w[R[row_a + r, R_COEF] + ALPHA]
            for s in range(first, first + count):
                b = m.assembly[s, 1]
                across, row_b = G[b, G_ROWS], J[G[b, G_ENTRY], J_ROW]
                for c in range(across):
                    if not R[row_b + c, R_DROPPED]:
                        w[m.assembly[s, 2] + r * across + c] += alpha * w[product + G[b, G_COLUMN] + c]
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
