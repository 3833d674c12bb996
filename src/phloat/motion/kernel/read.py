"""Joint coordinates and port velocities at a state: what a controller or an event reads."""

from phloat.motion.kernel import tables as t
from phloat.motion.kernel.body import velocities_at_start
from phloat.motion.kernel.machine.compiler import jit
from phloat.motion.kernel.machine.dense import copy, dot_4, fill
from phloat.motion.kernel.machine.pointers import pointer
from phloat.motion.kernel.model import main_tables
from phloat.motion.kernel.ports import carry_mean, clear, port_start
from phloat.motion.kernel.rows import coefficients, gap_at, pull


@jit
def read(bodies, ends, entries, rows, terms, data, w, gaps, rates):
    """The gap and the rate of every row at the state in w, as in a step of length zero: its mean is the state itself."""
    B, E, J, R, terms = main_tables(bodies, ends, entries, rows, terms)
    data, w = pointer(data), pointer(w)
    for j in range(len(J)):
        a, b = J[j, t.J_A], J[j, t.J_B]
        for side in range(2):
            e = b if side else a
            port_start(B, E, e, data, w, t.SCRATCH)
            copy(t.PORT_SIZE, w, E[e, t.E_START], w, E[e, t.E_MEAN])
            i = E[e, t.E_BODY]
            if i >= 0:
                copy(9, w, B[i, t.W_Q] + t.Q_A, w, B[i, t.W_QT])
                velocities_at_start(B, i, w)
        for r in range(J[j, t.J_ROW], J[j, t.J_ROW] + J[j, t.J_ROWS]):
            A, other, coef = E[a, t.E_START], E[b, t.E_START], R[r, t.R_COEF]
            gaps[r] = w[coef + t.GAP0] = gap_at(R, terms, r, data, w, A, other)
            coefficients(R, terms, r, data, w, A, A, other, other)
            clear(w, t.OUT_A)
            clear(w, t.OUT_B)
            pull(R, terms, r, 1.0, data, w, E[a, t.E_MEAN], E[b, t.E_MEAN], coef + t.COEF_MEAN, t.OUT_A, t.OUT_B)
            rates[r] = 0.0
            for side in range(2):
                e, out = (b, t.OUT_B) if side else (a, t.OUT_A)
                i = E[e, t.E_BODY]
                if i >= 0:
                    fill(B[i, t.WIDE], 0.0, w, B[i, t.W_Y])
                    carry_mean(B, E, e, data, w, out, B[i, t.W_Y])
                    rates[r] += dot_4(B[i, t.WIDE], w, B[i, t.W_Y], w, B[i, t.W_X])
