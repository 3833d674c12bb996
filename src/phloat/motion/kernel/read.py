"""Joint coordinates and port velocities at a state: what a controller or an event reads."""

from phloat.motion.kernel.machine.compiler import jit
from phloat.motion.kernel.machine.dense import copy, dot_4, fill
from phloat.motion.kernel.machine.pointers import pointer, table
from phloat.motion.kernel.ports import carry_mean, clear, port_start
from phloat.motion.kernel.rows import coefficients, gap_at, pull
from phloat.motion.kernel.tables import (
    BODY_COLUMNS,
    COEF_MEAN,
    E_BODY,
    E_MEAN,
    E_START,
    END_COLUMNS,
    ENTRY_COLUMNS,
    GAP0,
    J_A,
    J_B,
    J_ROW,
    J_ROWS,
    N_ETA,
    N_LIN,
    N_ROT,
    OUT_A,
    OUT_B,
    PORT_SIZE,
    R_COEF,
    ROW_COLUMNS,
    TERM_COLUMNS,
    W_Q,
    W_QT,
    W_V,
    W_X,
    W_Y,
    WIDE,
    T,
)


@jit
def read(bodies, ends, entries, rows, terms, data, w, gaps, rates):
    """The gap and the rate of every row at the state in w, as in a step of length zero: its mean is the state itself."""
    B, E, J, R = (
        table(bodies, BODY_COLUMNS),
        table(ends, END_COLUMNS),
        table(entries, ENTRY_COLUMNS),
        table(rows, ROW_COLUMNS),
    )
    terms, data, w = table(terms, TERM_COLUMNS), pointer(data), pointer(w)
    for j in range(len(J)):
        a, b = J[j, J_A], J[j, J_B]
        for side in range(2):
            e = b if side else a
            port_start(B, E, e, data, w, T)
            copy(PORT_SIZE, w, E[e, E_START], w, E[e, E_MEAN])
            i = E[e, E_BODY]
            if i >= 0:
                lin, rot, x, v = B[i, N_LIN], B[i, N_ROT], B[i, W_X], B[i, W_V]
                copy(9, w, B[i, W_Q] + 3, w, B[i, W_QT])
                copy(lin, w, v, w, x)
                copy(rot, w, v + (5 if rot == 1 else 3), w, x + lin)
                copy(B[i, N_ETA], w, v + 6, w, x + lin + rot)
        for r in range(J[j, J_ROW], J[j, J_ROW] + J[j, J_ROWS]):
            A, other, coef = E[a, E_START], E[b, E_START], R[r, R_COEF]
            gaps[r] = w[coef + GAP0] = gap_at(R, terms, r, data, w, A, other)
            coefficients(R, terms, r, data, w, A, A, other, other)
            clear(w, OUT_A)
            clear(w, OUT_B)
            pull(R, terms, r, 1.0, data, w, E[a, E_MEAN], E[b, E_MEAN], coef + COEF_MEAN, OUT_A, OUT_B)
            rates[r] = 0.0
            for side in range(2):
                e, out = (b, OUT_B) if side else (a, OUT_A)
                i = E[e, E_BODY]
                if i >= 0:
                    fill(B[i, WIDE], 0.0, w, B[i, W_Y])
                    carry_mean(B, E, e, data, w, out, B[i, W_Y])
                    rates[r] += dot_4(B[i, WIDE], w, B[i, W_Y], w, B[i, W_X])
