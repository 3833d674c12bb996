"""What is done body by body, range of bodies by range: alone, or shared among threads.

Bodies of a range use one workspace in turn; that of another range is another, so ranges can be done at the same time.
"""

import numpy as np

from phloat.motion.kernel import body as of_body, tables as t
from phloat.motion.kernel.admittance import admittance
from phloat.motion.kernel.machine.compiler import inner, part
from phloat.motion.kernel.machine.dense import add_4, zero_4
from phloat.motion.kernel.machine.inverse import invert, solved
from phloat.motion.kernel.machine.threads import DONE, HANDS, JOB, LEAVE, NEXT, WRONG, draw, look, once, tell
from phloat.motion.kernel.port_tangent import own_tangent
from phloat.motion.kernel.row_tangent import geometric
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
            zero_4(B[i, t.WIDE], w, B[i, t.W_GAM])
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
    """D_i with what its ports feel, D_i⁻¹ and D_i⁻¹G_iᵀ; False where there is no D_i⁻¹."""
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
    """A job on all bodies, by as many threads as there are."""
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
    """Ranges of the jobs that another thread leads, until it says that all may go."""
    count, crew = len(m.ranges), m.crew
    while look(crew, LEAVE) == 0:
        if look(crew, NEXT) < count:
            r = draw(crew, NEXT)
            if r < count:
                do(m, w, gravity, w[t.STEP], crew[JOB], r)
                draw(crew, DONE)
