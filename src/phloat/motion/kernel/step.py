"""The time step: predict, solve, add works, accept; and runs of several steps with snapshots."""

import math

from phloat.motion.kernel import body as of_body, newton, tables as t
from phloat.motion.kernel.machine.compiler import entry, inner
from phloat.motion.kernel.machine.dense import copy, swap
from phloat.motion.kernel.machine.pointers import pointer
from phloat.motion.kernel.model import as_pointers
from phloat.motion.kernel.newton import correct, refactor, residuals, undo_correction
from phloat.motion.kernel.partition import START, run_all, serve
from phloat.motion.kernel.ports import ground_end, port_start, work
from phloat.motion.kernel.rows import gap_at, potential, record_extremes

SOLVED, DIVERGED, SINGULAR = 0, 1, 2
MOST_ITERATIONS = 25


@entry
def set_step(m, w, iw, sizes, bank):
    """Sets the step sizes, at most two: computes the constant parts of the tangents and invalidates the factors.

    The factors of the first size are in w, those of the second in `bank`.
    """
    m, w = as_pointers(m), pointer(w)
    for k in range(len(sizes)):
        if k > 0:
            swap_factors(m, w, iw, bank)
        for i in range(len(m.bodies)):
            of_body.set_constant_tangent(m.bodies, i, m.data, w, sizes[k])
        iw[t.I_FACTORED] = 0
    if len(sizes) > 1:
        swap_factors(m, w, iw, bank)
    iw[t.I_SET] = 0


@inner
def swap_factors(m, w, iw, bank):
    """Swaps the factors in w with those in `bank`, which belong to the other step size."""
    position = 0
    for k in range(len(m.factors)):
        swap(m.factors[k, 1], w, m.factors[k, 0], bank, position)
        position += m.factors[k, 1]
    iw[t.I_SET] = 1 - iw[t.I_SET]
    iw[t.I_FACTORED], iw[t.I_OTHER] = iw[t.I_OTHER], iw[t.I_FACTORED]


@entry
def start_ports(m, w):
    """Computes ports and gaps at the start from the state in w: the targets of closed rows; angles keep their whole turns."""
    m, w = as_pointers(m), pointer(w)
    E, J, R = m.ends, m.entries, m.rows
    for e in range(len(E)):
        port_start(m.bodies, E, e, m.data, w, t.SCRATCH)
    for j in range(len(J)):
        A, B = E[J[j, t.J_A], t.E_START], E[J[j, t.J_B], t.E_START]
        for r in range(J[j, t.J_ROW], J[j, t.J_ROW] + J[j, t.J_ROWS]):
            gap, o = gap_at(R, m.terms, r, m.data, w, A, B), R[r, t.R_COEF]
            if R[r, t.R_FUNCTION] == t.ANGLE:
                gap += 2.0 * math.pi * round((w[o + t.GAP0] - gap) / (2.0 * math.pi))
            w[o + t.GAP0] = gap
            if R[r, t.R_MODE] == t.CLOSED:
                w[o + t.TARGET0], w[o + t.TARGET1] = gap, gap


@inner
def predict(m, w, iw, weights):
    """Initial unknowns: extrapolated from the last three steps with these weights; at first the velocities of the state.

    Also sets the ends on the ground, where they do not depend on the unknowns.
    """
    B, started = m.bodies, iw[t.I_STARTED]
    for e in range(len(m.ends)):
        if m.ends[e, t.E_BODY] < 0:
            ground_end(m.ends, e, w)
    for i in range(len(B)):
        x, x_1, x_2, x_3 = B[i, t.W_X], B[i, t.W_OLD], B[i, t.W_OLDER], B[i, t.W_OLDEST]
        for k in range(B[i, t.SIZE]):
            if started == 1:
                w[x + k] = w[x_1 + k]
            elif started == 2:
                w[x + k] = 2.0 * w[x_1 + k] - w[x_2 + k]
            elif started > 2:
                w[x + k] = weights[0] * w[x_1 + k] + weights[1] * w[x_2 + k] + weights[2] * w[x_3 + k]
        if started == 0:
            of_body.velocities_at_start(B, i, w)
        for k in range(B[i, t.SIZE], B[i, t.WIDE]):
            w[x + k] = 0.0  # padding: a NaN of a failed correction would stay in it


@inner
def refactoring_pays(w, size, previous):
    """Whether new factors cost less than the iterations they save, estimated from the rate of convergence."""
    remaining = math.log(max(size / w[t.TOLERATED], 1.0))
    iterations = remaining / math.log(previous / size) if size < previous else math.inf
    return iterations - remaining / newton.LOG_REDUCTION > w[t.COSTLY]


@inner
def solve(m, w, iw, gravity, h, careful):
    """Solves for x and λ of one step; `careful` computes new factors at every iteration. Returns the status.

    Factors are computed again if the residual is large or falls slowly; a correction by old factors that increases it is undone.
    After a correction that is predicted to bring the residual far below its tolerance, residuals are not computed again.
    """
    previous, refactored, stalls, predicted = math.inf, True, 0, False
    for k in range(MOST_ITERATIONS):
        with_residuals = not predicted
        size = residuals(m, w, iw, gravity, h, with_residuals)
        if not iw[t.I_FACTORED]:
            size = math.inf
        if (size <= w[t.TOLERATED] and k > 0) or predicted:
            iw[t.I_ITERATIONS] += k
            iw[t.I_MOST] = max(iw[t.I_MOST], k)
            return SOLVED
        stalls = stalls + 1 if refactored and k > 1 and size > 0.5 * previous else 0
        if stalls == 3 and size < newton.STALLED:
            iw[t.I_ITERATIONS] += k
            iw[t.I_STALLED] += 1
            return SOLVED
        if k > 0 and not refactored and not size < previous:
            undo_correction(m, w)
            residuals(m, w, iw, gravity, h, with_residuals)
            size = previous
        elif k > 0 and refactored and not size < math.inf and iw[t.I_FACTORED]:
            return DIVERGED
        refactored = careful or not iw[t.I_FACTORED] or size > newton.REFACTOR_ABOVE
        refactored = refactored or (k > 0 and refactoring_pays(w, size, previous))
        if refactored and not refactor(m, w, iw, gravity, h):
            return SINGULAR
        reduced = newton.PREDICTION_MARGIN * size * max(size, newton.REDUCTION_LIMIT * previous)
        predicted = not refactored and previous < math.inf and reduced <= w[t.TOLERATED] * previous
        previous = size
        correct(m, w, gravity, h)
    return DIVERGED


@inner
def add_works(m, w, h):
    """Adds the work of each entry on its two bodies over the step, h × forces · velocities."""
    B, E, J = m.bodies, m.ends, m.entries
    for j in range(len(J)):
        for side in range(2):
            e = J[j, t.J_B] if side else J[j, t.J_A]
            w[J[j, t.J_WORK] + side] += work(B, E, e, m.data, w, h)


@inner
def accept_step(m, w, iw, h):
    """Makes the end of the step the start of the next, and records extremes of laws."""
    B, E, J, R = m.bodies, m.ends, m.entries, m.rows
    for i in range(len(B)):
        x, size = B[i, t.W_X], B[i, t.SIZE]
        copy(size, w, B[i, t.W_OLDER], w, B[i, t.W_OLDEST])
        copy(size, w, B[i, t.W_OLD], w, B[i, t.W_OLDER])
        copy(size, w, x, w, B[i, t.W_OLD])
        of_body.accept(B, i, m.data, m.indices, w, h)
        if B[i, t.N_ROT] == 1:
            A = B[i, t.W_Q] + t.Q_A
            angle = math.atan2(w[A + 3], w[A])  # a step turns by less than half a turn: the nearest angle
            w[B[i, t.W_THETA]] = angle + 2.0 * math.pi * round((w[B[i, t.W_THETA]] - angle) / (2.0 * math.pi))
    for e in range(len(E)):
        copy(t.PORT_SIZE if E[e, t.E_TURNS] else t.DIR, w, E[e, t.E_END], w, E[e, t.E_START])
        if E[e, t.E_TURNS] or E[e, t.E_BODY] < 0:
            copy(t.FRAME_SIZE, w, E[e, t.E_FRAME1], w, E[e, t.E_FRAME0])
        if E[e, t.E_SHORT]:
            copy(B[E[e, t.E_BODY], t.LONG], w, E[e, t.E_END] + t.PORT_SIZE, w, E[e, t.E_START] + t.PORT_SIZE)
    for j in range(len(J)):
        for r in range(J[j, t.J_ROW], J[j, t.J_ROW] + J[j, t.J_ROWS]):
            if R[r, t.R_MODE] == t.COMPLIANT:
                rate = (w[R[r, t.R_COEF] + t.GAP1] - w[R[r, t.R_COEF] + t.GAP0]) / h
                number = iw[t.I_STEPS] + 1.0
                record_extremes(R, r, m.data, w, rate, number, E[J[j, t.J_A], t.E_END], E[J[j, t.J_B], t.E_END])
            w[R[r, t.R_COEF] + t.GAP0] = w[R[r, t.R_COEF] + t.GAP1]
            w[R[r, t.R_COEF] + t.TARGET0] = w[R[r, t.R_COEF] + t.TARGET1]
    iw[t.I_STARTED] = min(iw[t.I_STARTED] + 1, 3)
    iw[t.I_STEPS] += 1


@inner
def take_step(m, w, iw, gravity, h, weights):
    """Takes one step of size h from the state in w and returns the status; if it fails, the state is unchanged."""
    run_all(m, w, gravity, h, START)
    predict(m, w, iw, weights)
    copy(m.offsets[t.MULTIPLIERS], w, m.offsets[t.LAM], w, m.offsets[t.SAVED])
    status = DIVERGED
    for careful in range(2):
        status = solve(m, w, iw, gravity, h, careful)
        if status == SOLVED:
            break
        copy(m.offsets[t.MULTIPLIERS], w, m.offsets[t.SAVED], w, m.offsets[t.LAM])
        iw[t.I_FACTORED], iw[t.I_STARTED] = 0, min(iw[t.I_STARTED], 1)
        predict(m, w, iw, weights)
    if status == SOLVED:
        add_works(m, w, h)
        accept_step(m, w, iw, h)
    return status


@entry
def snapshot(m, w, gravity, first, out, potentials):
    """Copies the saved numbers of w (state, works, losses, energies of bodies) to `out`; energies of springs to `potentials`."""
    write_snapshot(as_pointers(m), pointer(w), gravity, first, out, potentials)


@inner
def write_snapshot(m, w, gravity, first, out, potentials):
    B, J, R = m.bodies, m.entries, m.rows
    for i in range(len(B)):
        of_body.energies(B, i, m.data, m.indices, w, gravity)
    for k in range(len(out)):
        out[k] = w[first + k]
    for j in range(len(J)):
        potentials[j] = 0.0
        for r in range(J[j, t.J_ROW], J[j, t.J_ROW] + J[j, t.J_ROWS]):
            if R[r, t.R_MODE] == t.COMPLIANT:
                potentials[j] += potential(R, r, m.data, m.indices, w, w[R[r, t.R_COEF] + t.GAP0])


@entry
def advance(m, w, iw, gravity, substeps, bank, inputs, marks, first, out, row, pending, lead):
    """Takes as many steps as `inputs` has rows; returns the status, the number of steps, `row` and `pending`.

    `inputs` are (efforts, effort_offsets, frames, frame_offsets): per step the values of efforts, and of driven frames and targets,
    and their offsets in w. `substeps` are step sizes, the set of factors of each, and weights to predict with, used in turn;
    `bank` holds the set of factors that is not in w.

    After the steps numbered in `marks` (from 1) a snapshot goes to row `row` of `out`: (rows, lam, potentials), `rows` with the
    numbers from `first` on in w. λ is the mean of the steps before and after, so row `pending` waits for the next step (−1: none).
    If `lead` is false, this thread runs jobs for the leading thread instead.
    """
    (sizes, sets, guesses), (rows, lam, potentials) = substeps, out
    efforts, effort_offsets, frames, frame_offsets = inputs
    mark, multipliers, lam_offset = 0, lam.shape[1], m.offsets[t.LAM]
    m, w = as_pointers(m), pointer(w)
    if not lead:
        serve(m, w, gravity)
        return SOLVED, 0, row, pending
    for s in range(len(efforts)):
        for k in range(efforts.shape[1]):
            w[effort_offsets[k]] = efforts[s, k]
        for k in range(frames.shape[1]):
            w[frame_offsets[k]] = frames[s, k]
        substep = s % len(sizes)
        if sets[substep] != iw[t.I_SET]:
            swap_factors(m, w, iw, bank)
        status = take_step(m, w, iw, gravity, sizes[substep], guesses[substep])
        if status != SOLVED:
            return status, s, row, pending
        if pending >= 0:
            for k in range(multipliers):
                lam[pending, k] = 0.5 * (lam[pending, k] + w[lam_offset + k])
            pending = -1
        if mark < len(marks) and marks[mark] == s + 1:
            write_snapshot(m, w, gravity, first, rows[row], potentials[row])
            for k in range(multipliers):
                lam[row, k] = w[lam_offset + k]
            pending, row, mark = row, row + 1, mark + 1
    return SOLVED, len(efforts), row, pending
