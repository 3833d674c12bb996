"""Jobs on all bodies, divided into ranges of bodies among threads; and the contributions of bodies to S.

The bodies of a range share one workspace; each range has its own, so ranges can run at the same time.
"""

import numpy as np

from phloat.motion.kernel import body as of_body, tables as t
from phloat.motion.kernel.machine import threads
from phloat.motion.kernel.machine.compiler import hot, inner
from phloat.motion.kernel.machine.dense import EPS, U, W, add_4, dot_4, fill, multiply_rows
from phloat.motion.kernel.machine.inverse import invert
from phloat.motion.kernel.machine.simd import absolute, add, broadcast, largest_of, load, maximum, times, total
from phloat.motion.kernel.port_tangent import geometric_tangent, port_tangent
from phloat.motion.kernel.ports import clear, forces_on_body, port_end
from phloat.motion.kernel.tangent import equation_scales, tangent, unit_scales

# no literals: `run_all` is compiled once for all jobs
START, MOVE, RESIDUAL, FORCES, FACTORS, SOLVE, UPDATE = map(np.int64, range(7))


@inner
def run_job(m, w, gravity, h, job, r):
    """Runs one job on the bodies of range r."""
    threads.no_inline()
    B, first, last = m.bodies, m.ranges[r, 0], m.ranges[r, 1]
    if job == START:
        for i in range(first, last):
            of_body.start_step(B, i, m.data, m.indices, w, h)
    elif job == MOVE or job == RESIDUAL:
        for i in range(first, last):
            of_body.end_configuration(B, i, w, h)
            if job == RESIDUAL:
                of_body.body_residual(B, i, m.data, m.indices, w, gravity, h)
            _ports(m, w, i, h)
    elif job == FORCES:
        size = B[first, t.W_T] + t.LARGEST
        w[size], w[size + 1] = 0.0, -1.0
        for i in range(first, last):
            residual = _forces(m, w, i)
            if residual > w[size]:
                w[size], w[size + 1] = residual, i
    elif job == FACTORS:
        m.threads[threads.SINGULAR_BODY + r] = -1
        for i in range(first, last):
            if not _factors(m, w, i, gravity, h):
                m.threads[threads.SINGULAR_BODY + r] = i
                return
    elif job == SOLVE:
        for i in range(first, last):
            _solve(m, w, i)
    else:
        for i in range(first, last):
            _update(m, w, i)


@hot
def _ports(m, w, i, h):
    """Computes the ports of body i at the end of the step, and sets the forces on them to zero."""
    B, E = m.bodies, m.ends
    for k in range(B[i, t.FIRST_END], B[i, t.FIRST_END] + B[i, t.N_END]):
        e = m.ends_by_body[k]
        port_end(B, E, e, m.data, w, B[i, t.W_T], h)
        clear(w, E[e, t.E_OUT])


@hot
def _forces(m, w, i):
    """Subtracts the forces of the ports of body i from F; returns its residual in round-offs of its terms."""
    B, E = m.bodies, m.ends
    fill(B[i, t.WIDE], 0.0, w, B[i, t.W_GAM])
    w[B[i, t.W_PORTS]], w[B[i, t.W_PORTS] + 1] = 0.0, 0.0
    for k in range(B[i, t.FIRST_END], B[i, t.FIRST_END] + B[i, t.N_END]):
        e = m.ends_by_body[k]
        forces_on_body(B, E, e, m.data, w)
        if E[e, t.E_TURNS] == t.AREA:
            add_area_magnitudes(B, E, e, w)
        else:
            add_port_magnitudes(w, E[e, t.E_OUT], E[e, t.E_MEAN], E[e, t.E_TURNS], B[i, t.W_PORTS])
    add_4(B[i, t.WIDE], -1.0, w, B[i, t.W_GAM], w, B[i, t.W_F])
    return relative_body_residual(B, i, w)


@hot
def _solve(m, w, i):
    """Sets y = D_i⁻¹F_i and the motions Ĝ_i y of its rows."""
    B, G = m.bodies, m.incidences
    wide, y = B[i, t.WIDE], B[i, t.W_Y]
    multiply_rows(wide, w, B[i, t.W_D], wide, w, B[i, t.W_F], w, y)
    for g in range(B[i, t.FIRST_INC], B[i, t.FIRST_INC] + B[i, t.N_INC]):
        motion = motions(B, i) + G[g, t.G_COLUMN]
        for r in range(G[g, t.G_ROWS]):
            w[motion + r] = dot_4(wide, w, G[g, t.G_HAT] + r * wide, w, y)


@hot
def motions(B, i):
    """Where in w the motions of the rows of body i are: after D_i⁻¹G_iᵀ."""
    return B[i, t.W_SOL] + B[i, t.WIDE] * B[i, t.N_MULT]


@inner
def _factors(m, w, i, gravity, h):
    """Computes D_i with its port forces, D_i⁻¹ and D_i⁻¹G_iᵀ; returns False if D_i is singular."""
    B, E, J = m.bodies, m.ends, m.entries
    tangent(B, i, m.data, m.indices, w, h)
    equation_scales(B, i, m.data, w, gravity, h)
    for k in range(B[i, t.FIRST_END], B[i, t.FIRST_END] + B[i, t.N_END]):
        e = m.ends_by_body[k]
        port_tangent(B, E, e, m.data, w, h, B[i, t.W_T])
        if J[E[e, t.E_ENTRY], t.J_EXTRA]:
            geometric_tangent(m, w, e, h)
    unit_scales(B, i, w)
    if not invert(w, B[i, t.W_D], B[i, t.WIDE]):
        return False
    admittance(m, w, i)
    return True


@hot
def _update(m, w, i):
    """Adds δx_i = D_i⁻¹G_iᵀ δλ − y to x; y is replaced by δx_i."""
    B, J, G = m.bodies, m.entries, m.incidences
    wide, y = B[i, t.WIDE], B[i, t.W_Y]
    for k in range(wide):
        w[y + k] = -w[y + k]
    for g in range(B[i, t.FIRST_INC], B[i, t.FIRST_INC] + B[i, t.N_INC]):
        lam, to = m.offsets[t.DELTA] + J[G[g, t.G_ENTRY], t.J_LAM], B[i, t.W_SOL] + G[g, t.G_COLUMN] * wide
        for r in range(G[g, t.G_ROWS]):
            add_4(wide, w[lam + r], w, to + r * wide, w, y)
    add_4(wide, 1.0, w, y, w, B[i, t.W_X])


@inner
def run_all(m, w, gravity, h, job):
    """Runs a job on all bodies, divided among the threads, and returns when all are done."""
    count, counters = len(m.ranges), m.threads
    if counters[threads.THREAD_COUNT] <= 1:
        for r in range(count):
            run_job(m, w, gravity, h, job, r)
        return
    w[t.STEP], counters[threads.JOB] = h, job
    threads.store_atomic(counters, threads.RANGES_DONE, 0)
    threads.store_atomic(counters, threads.NEXT_RANGE, 0)
    r = threads.fetch_increment(counters, threads.NEXT_RANGE)
    while r < count:
        run_job(m, w, gravity, h, job, r)
        threads.fetch_increment(counters, threads.RANGES_DONE)
        r = threads.fetch_increment(counters, threads.NEXT_RANGE)
    while threads.load_atomic(counters, threads.RANGES_DONE) < count:
        pass


@inner
def serve(m, w, gravity):
    """Runs jobs on ranges for the leading thread until that sets STOP."""
    count, counters = len(m.ranges), m.threads
    while threads.load_atomic(counters, threads.STOP) == 0:
        if threads.load_atomic(counters, threads.NEXT_RANGE) < count:
            r = threads.fetch_increment(counters, threads.NEXT_RANGE)
            if r < count:
                run_job(m, w, gravity, w[t.STEP], counters[threads.JOB], r)
                threads.fetch_increment(counters, threads.RANGES_DONE)


# --- contributions of bodies to the system on the multipliers: S = Σ α Ĝ D⁻¹Gᵀ --------------------------------------------


@inner
def admittance(m, w, i):
    """Computes D_i⁻¹G_iᵀ for all rows that act on body i, one column after the other."""
    B, G = m.bodies, m.incidences
    wide = B[i, t.WIDE]
    for g in range(B[i, t.FIRST_INC], B[i, t.FIRST_INC] + B[i, t.N_INC]):
        for k in range(G[g, t.G_ROWS]):
            to = B[i, t.W_SOL] + (G[g, t.G_COLUMN] + k) * wide
            multiply_rows(wide, w, B[i, t.W_D], wide, w, G[g, t.G_MEAN] + k * wide, w, to)


@inner
def assemble(m, w, i, first):
    """Adds α Ĝ D⁻¹Gᵀ of body i to S; its blocks begin at m.assembly[first]. Returns the first block of the next body."""
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
def add_ones(m, w, pivots):
    """Adds 1 to the diagonal of S for laws and dropped rows, and copies the diagonal to w[pivots], to detect vanishing pivots."""
    J, R = m.entries, m.rows
    for j in range(len(J)):
        if J[j, t.J_UNKNOWN]:
            n = J[j, t.J_ROWS]
            for k in range(n):
                r, diagonal = J[j, t.J_ROW] + k, J[j, t.J_BLOCK] + k * n + k
                if R[r, t.R_DROPPED] or R[r, t.R_MODE] != t.CLOSED:
                    w[diagonal] += 1.0
                w[pivots + J[j, t.J_LAM] + k] = w[diagonal]


# --- residuals relative to the round-off of the terms they are sums of ------------------------


@hot
def add_port_magnitudes(w, force, port, turns, to):
    """Adds the magnitude of the force at a port to w[to], and that of its moments to w[to + 1], both without cancellation."""
    size = abs(w[force]) + abs(w[force + 1]) + abs(w[force + 2])
    moment = size * (abs(w[port + t.ARM]) + abs(w[port + t.ARM + 1]) + abs(w[port + t.ARM + 2]))
    if turns:
        for k in range(12):
            moment += abs(w[force + t.ON_DIR + k])
    w[to] += size
    w[to + 1] += moment


@inner
def add_area_magnitudes(B, E, e, w):
    """Adds the magnitudes of the force and the moment of a pressure."""
    i, force, pressure = E[e, t.E_BODY], E[e, t.E_MEAN], abs(w[E[e, t.E_OUT]])
    for k in range(B[i, t.N_LIN] + B[i, t.N_ROT]):
        w[B[i, t.W_PORTS] + (0 if k < B[i, t.N_LIN] else 1)] += pressure * abs(w[force + k])


@hot
def relative_body_residual(B, i, w):
    """The residual of body i in round-offs of its terms, all in the unit √D_kk; infinite if NaN."""
    F, s, u, port = U(B[i, t.W_F]), U(B[i, t.W_SCALE]), U(B[i, t.W_UNIT]), B[i, t.W_GAM]
    for k in range(B[i, t.N_LIN] + B[i, t.N_ROT]):  # these forces are sums of larger ones
        w[port + k] = w[B[i, t.W_PORTS] + (0 if k < B[i, t.N_LIN] else 1)]
    sizes, scales, sums, forces = broadcast(0.0), broadcast(0.0), broadcast(0.0), U(port)
    for k in range(U(0), U(B[i, t.WIDE]), W):
        unit = load(w, u + k)
        residual = times(absolute(load(w, F + k)), unit)
        sizes, sums = maximum(sizes, residual), add(sums, residual)
        scales = maximum(scales, times(add(load(w, s + k), absolute(load(w, forces + k))), unit))
    size = largest_of(sizes)
    if not total(sums) <= 1e300:  # a maximum may skip a NaN, a sum does not
        return np.inf
    return size / (EPS * largest_of(scales)) if size > 0.0 else 0.0
