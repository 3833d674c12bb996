"""What each body adds to the system on the multipliers: S = Σ α Ĝ D⁻¹Gᵀ."""

from phloat.motion.kernel import tables as t
from phloat.motion.kernel.machine.compiler import inner
from phloat.motion.kernel.machine.dense import dot_4
from phloat.motion.kernel.machine.inverse import solved


@inner
def admittance(m, w, i):
    """D_i⁻¹G_iᵀ for all rows that touch the body, one after the other."""
    B, G = m.bodies, m.incidences
    wide = B[i, t.WIDE]
    for g in range(B[i, t.FIRST_INC], B[i, t.FIRST_INC] + B[i, t.N_INC]):
        for k in range(G[g, t.G_ROWS]):
            to = B[i, t.W_SOL] + (G[g, t.G_COLUMN] + k) * wide
            solved(w, B[i, t.W_D], wide, w, G[g, t.G_MEAN] + k * wide, w, to)


@inner
def assemble(m, w, i, first):
    """S += α Ĝ D⁻¹Gᵀ of one body, whose blocks are listed from `first` on; returns where those of the next begin."""
    B, J, R, G = m.bodies, m.entries, m.rows, m.incidences
    wide, X, count = B[i, t.WIDE], B[i, t.W_SOL], B[i, t.N_INC]
    for a in range(B[i, t.FIRST_INC], B[i, t.FIRST_INC] + count):
        row_a = J[G[a, t.G_ENTRY], t.J_ROW]
        for s in range(first, first + count):
            b = m.assembly[s, 1]
            across, row_b = G[b, t.G_ROWS], J[G[b, t.G_ENTRY], t.J_ROW]
            for r in range(G[a, t.G_ROWS]):
                alpha, hat = w[R[row_a + r, t.R_COEF] + t.ALPHA], G[a, t.G_HAT] + r * wide
                to = m.assembly[s, 2] + r * across
                for c in range(across):
                    if not (R[row_a + r, t.R_DROPPED] or R[row_b + c, t.R_DROPPED]):
                        w[to + c] += alpha * dot_4(wide, w, hat, w, X + (G[b, t.G_COLUMN] + c) * wide)
        first += count
    return first


@inner
def close(m, w, pivots):
    """One on the diagonal of S for laws and for rows left out; its diagonal is kept, to tell pivots that vanish."""
    J, R = m.entries, m.rows
    for j in range(len(J)):
        if J[j, t.J_UNKNOWN]:
            n = J[j, t.J_ROWS]
            for k in range(n):
                r, at = J[j, t.J_ROW] + k, J[j, t.J_BLOCK] + k * n + k
                if R[r, t.R_DROPPED] or R[r, t.R_MODE] != t.CLOSED:
                    w[at] += 1.0
                w[pivots + J[j, t.J_LAM] + k] = w[at]
