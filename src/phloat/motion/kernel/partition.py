"""Jobs on all bodies, by ranges of bodies that threads can share; and the contributions of bodies to S.

The bodies of a range share one workspace; each range has its own, so ranges can run at the same time.
"""

import numpy as np

from phloat.motion.kernel import body as of_body, tables as t
from phloat.motion.kernel.machine.compiler import inner, part
from phloat.motion.kernel.machine.dense import add_4, dot_4, fill
from phloat.motion.kernel.machine.inverse import invert, solved
from phloat.motion.kernel.machine.threads import DONE, HANDS, JOB, LEAVE, NEXT, WRONG, draw, look, once, tell
from phloat.motion.kernel.port_tangent import geometric, own_tangent
from phloat.motion.kernel.tangent import scales, tangent, unit_scales

BEGIN, MOVE, RESIDUAL, FACTORS, SOLVE, UPDATE = range(6)


@inner
def do(m, w, gravity, h, job, r):
    """One job on the bodies of range r."""
    once()
    B, first, last = m.bodies, m.ranges[r, 0], m.ranges[r, 1]
    if job == BEGIN:
        for i in range(first, last):
            of_body.begin(B, i, m.data, m.indices, w, h)
    elif job == MOVE:
        for i in range(first, last):
            of_body.end_configuration(B, i, w, h)
    elif job == RESIDUAL:
        for i in range(first, last):
            of_body.end_configuration(B, i, w, h)
            of_body.body_residual(B, i, m.data, m.indices, w, gravity, h)
            fill(B[i, t.WIDE], 0.0, w, B[i, t.W_GAM])
            w[B[i, t.W_PORTS]], w[B[i, t.W_PORTS] + 1] = 0.0, 0.0
    elif job == FACTORS:
        m.crew[WRONG + r] = -1
        for i in range(first, last):
            if not _factors(m, w, i, gravity, h):
                m.crew[WRONG + r] = i
                return
    elif job == SOLVE:
        for i in range(first, last):
            solved(w, B[i, t.W_D], B[i, t.WIDE], w, B[i, t.W_F], w, B[i, t.W_Y])
    else:
        for i in range(first, last):
            _update(m, w, i)


@part
def _factors(m, w, i, gravity, h):
    """D_i with its port forces, D_i⁻¹ and D_i⁻¹G_iᵀ; returns False if D_i is singular."""
    B, E, J = m.bodies, m.ends, m.entries
    tangent(B, i, m.data, m.indices, w, h)
    scales(B, i, m.data, w, gravity, h)
    for k in range(B[i, t.FIRST_END], B[i, t.FIRST_END] + B[i, t.N_END]):
        e = m.held[k]
        own_tangent(B, E, e, m.data, w, h, B[i, t.W_T])
        if J[E[e, t.E_ENTRY], t.J_EXTRA]:
            geometric(m, w, e, h)
    unit_scales(B, i, w)
    if not invert(w, B[i, t.W_D], B[i, t.WIDE]):
        return False
    admittance(m, w, i)
    return True


@part
def _update(m, w, i):
    """δx_i = D_i⁻¹G_iᵀ δλ − y, added to x and kept in y."""
    B, J, G = m.bodies, m.entries, m.incidences
    wide, y = B[i, t.WIDE], B[i, t.W_Y]
    for k in range(wide):
        w[y + k] = -w[y + k]
    for g in range(B[i, t.FIRST_INC], B[i, t.FIRST_INC] + B[i, t.N_INC]):
        lam, to = m.where[t.DELTA] + J[G[g, t.G_ENTRY], t.J_LAM], B[i, t.W_SOL] + G[g, t.G_COLUMN] * wide
        for r in range(G[g, t.G_ROWS]):
            add_4(wide, w[lam + r], w, to + r * wide, w, y)
    add_4(wide, 1.0, w, y, w, B[i, t.W_X])


@part
def each(m, w, gravity, h, job):
    """Runs a job on all bodies, shared among the threads."""
    count, crew, job = len(m.ranges), m.crew, np.int64(job)  # no constant: `do` is compiled once for all jobs
    if crew[HANDS] <= 1:
        for r in range(count):
            do(m, w, gravity, h, job, r)
        return
    w[t.STEP], crew[JOB] = h, job
    tell(crew, DONE, 0)
    tell(crew, NEXT, 0)
    r = draw(crew, NEXT)
    while r < count:
        do(m, w, gravity, h, job, r)
        draw(crew, DONE)
        r = draw(crew, NEXT)
    while look(crew, DONE) < count:
        pass


@part
def serve(m, w, gravity):
    """Runs ranges of the jobs of the leading thread until it ends the run."""
    count, crew = len(m.ranges), m.crew
    while look(crew, LEAVE) == 0:
        if look(crew, NEXT) < count:
            r = draw(crew, NEXT)
            if r < count:
                do(m, w, gravity, w[t.STEP], crew[JOB], r)
                draw(crew, DONE)


# --- what each body adds to the system on the multipliers: S = Σ α Ĝ D⁻¹Gᵀ --------------------------------------------


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
