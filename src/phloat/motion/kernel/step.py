"""The time step: predict, solve, add up works, accept; and runs of steps with snapshots."""

import math

from phloat.motion.kernel import body as of_body, tables as t
from phloat.motion.kernel.machine.compiler import inner, jit, part
from phloat.motion.kernel.machine.dense import copy
from phloat.motion.kernel.machine.pointers import pointer
from phloat.motion.kernel.model import placed
from phloat.motion.kernel.newton import BELIEVED, FAR, QUICK, STALLED, SURE, correct, refactor, residuals, take_back
from phloat.motion.kernel.partition import BEGIN, each, serve
from phloat.motion.kernel.ports import port_start, power
from phloat.motion.kernel.rows import noted, potential

SOLVED, DIVERGED, SINGULAR = 0, 1, 2
MOST_ITERATIONS = 25


@jit
def set_step(m, w, iw, h):
    """Sets the step size h: computes the constant parts of the tangents and discards the factors."""
    m, w = placed(m), pointer(w)
    for i in range(len(m.bodies)):
        of_body.set_constant_tangent(m.bodies, i, m.data, w, h)
    iw[t.I_FACTORED] = 0


@jit
def exchange(m, w, iw, bank):
    """Swaps the factors in w with those in the bank, which belong to another step size."""
    m, w = placed(m), pointer(w)
    at = 0
    for k in range(len(m.factors)):
        start = m.factors[k, 0]
        for i in range(m.factors[k, 1]):
            w[start + i], bank[at + i] = bank[at + i], w[start + i]
        at += m.factors[k, 1]
    iw[t.I_SET] = 1 - iw[t.I_SET]
    iw[t.I_FACTORED], iw[t.I_OTHER] = iw[t.I_OTHER], iw[t.I_FACTORED]


@jit
def arrive(m, w):
    """Computes the ports at the start of a step from the state."""
    m, w = placed(m), pointer(w)
    for e in range(len(m.ends)):
        port_start(m.bodies, m.ends, e, m.data, w, t.SCRATCH)


@jit
def predict(m, w, iw, guess):
    """The unknowns from those of the three steps before, with the given weights, or the velocities of the state at first."""
    B, started = m.bodies, iw[t.I_STARTED]
    for i in range(len(B)):
        x, old, older, oldest = B[i, t.W_X], B[i, t.W_OLD], B[i, t.W_OLDER], B[i, t.W_OLDEST]
        for k in range(B[i, t.SIZE]):
            if started == 1:
                w[x + k] = w[old + k]
            elif started == 2:
                w[x + k] = 2.0 * w[old + k] - w[older + k]
            elif started > 2:
                w[x + k] = guess[0] * w[old + k] + guess[1] * w[older + k] + guess[2] * w[oldest + k]
        if started == 0:
            of_body.velocities_at_start(B, i, w)
        for k in range(B[i, t.SIZE], B[i, t.WIDE]):
            w[x + k] = 0.0  # padding: a correction that was no number would stay in it


@inner
def pays(w, size, before):
    """Whether new factors cost less than the iterations they save, from the rate of convergence."""
    left = math.log(max(size / w[t.TOLERATED], 1.0))
    slow = left / math.log(before / size) if size < before else math.inf
    return slow - left / QUICK > w[t.COSTLY]


@part
def solve(m, w, iw, gravity, h, careful):
    """x and λ of one step; careful is Newton's method with new factors at every iteration.

    Factors are made anew when the residual is far out or falls slowly; a correction by old ones that made it worse is taken back.
    One by the same factors as the last, which foresees a residual far below its round-off, is not measured again.
    """
    before, fresh, stuck, sure = math.inf, True, 0, False
    for k in range(MOST_ITERATIONS):
        whole = not sure
        size = residuals(m, w, iw, gravity, h, whole)
        if not iw[t.I_FACTORED]:
            size = math.inf
        if (size <= w[t.TOLERATED] and k > 0) or sure:
            iw[t.I_ITERATIONS] += k
            iw[t.I_MOST] = max(iw[t.I_MOST], k)
            return SOLVED
        stuck = stuck + 1 if fresh and k > 1 and size > 0.5 * before else 0
        if stuck == 3 and size < STALLED:
            iw[t.I_ITERATIONS] += k
            iw[t.I_STALLED] += 1
            return SOLVED
        if k > 0 and not fresh and not size < before:
            take_back(m, w)
            residuals(m, w, iw, gravity, h, whole)
            size = before
        elif k > 0 and fresh and not size < math.inf and iw[t.I_FACTORED]:
            return DIVERGED
        fresh = careful or not iw[t.I_FACTORED] or size > FAR or (k > 0 and pays(w, size, before))
        if fresh and not refactor(m, w, iw, gravity, h):
            return SINGULAR
        sure = not fresh and before < math.inf and SURE * size * max(size, BELIEVED * before) <= w[t.TOLERATED] * before
        before = size
        correct(m, w, gravity, h)
    return DIVERGED


@inner
def works(m, w, h):
    """Adds the work of each entry on its two bodies over the step, h × forces · velocities."""
    B, E, J = m.bodies, m.ends, m.entries
    for j in range(len(J)):
        for side in range(2):
            e = J[j, t.J_B] if side else J[j, t.J_A]
            w[J[j, t.J_WORK] + side] += h * power(B, E, e, m.data, w, E[e, t.E_OUT])


@inner
def settle_in(m, w, iw, h):
    """Makes the end of the step the start of the next."""
    B, E, J, R = m.bodies, m.ends, m.entries, m.rows
    for i in range(len(B)):
        x, size = B[i, t.W_X], B[i, t.SIZE]
        copy(size, w, B[i, t.W_OLDER], w, B[i, t.W_OLDEST])
        copy(size, w, B[i, t.W_OLD], w, B[i, t.W_OLDER])
        copy(size, w, x, w, B[i, t.W_OLD])
        of_body.accept(B, i, m.data, m.indices, w, h)
        if B[i, t.N_ROT] == 1:
            A = B[i, t.W_Q] + t.Q_A
            angle = math.atan2(w[A + 3], w[A])  # a step turns by less than half a turn, so the nearest angle is the one
            w[B[i, t.W_THETA]] = angle + 2.0 * math.pi * round((w[B[i, t.W_THETA]] - angle) / (2.0 * math.pi))
    for e in range(len(E)):
        copy(t.PORT_SIZE if E[e, t.E_TURNS] else t.DIR, w, E[e, t.E_END], w, E[e, t.E_START])
        if E[e, t.E_TURNS] or E[e, t.E_BODY] < 0:
            copy(t.FRAME_SIZE, w, E[e, t.E_FRAME1], w, E[e, t.E_FRAME0])
    for j in range(len(J)):
        for r in range(J[j, t.J_ROW], J[j, t.J_ROW] + J[j, t.J_ROWS]):
            if R[r, t.R_MODE] == t.COMPLIANT:
                rate = (w[R[r, t.R_COEF] + t.GAP1] - w[R[r, t.R_COEF] + t.GAP0]) / h
                noted(R, r, m.data, w, rate, iw[t.I_STEPS] + 1.0, E[J[j, t.J_A], t.E_END], E[J[j, t.J_B], t.E_END])
            w[R[r, t.R_COEF] + t.GAP0] = w[R[r, t.R_COEF] + t.GAP1]
            w[R[r, t.R_COEF] + t.TARGET0] = w[R[r, t.R_COEF] + t.TARGET1]
    iw[t.I_STARTED] = min(iw[t.I_STARTED] + 1, 3)
    iw[t.I_STEPS] += 1


@part
def one(m, w, iw, gravity, h, guess):
    """One step from the state in w; on failure the state is untouched."""
    each(m, w, gravity, h, BEGIN)
    predict(m, w, iw, guess)
    copy(m.where[t.MULTIPLIERS], w, m.where[t.LAM], w, m.where[t.SAVED])
    status = DIVERGED
    for careful in range(2):
        status = solve(m, w, iw, gravity, h, careful)
        if status == SOLVED:
            break
        copy(m.where[t.MULTIPLIERS], w, m.where[t.SAVED], w, m.where[t.LAM])
        iw[t.I_FACTORED], iw[t.I_STARTED] = 0, min(iw[t.I_STARTED], 1)
        predict(m, w, iw, guess)
    if status == SOLVED:
        works(m, w, h)
        settle_in(m, w, iw, h)
    return status


@jit
def snapshot(m, w, gravity, first, out, potentials):
    """State, works and losses, and energies of bodies and springs, as they stand."""
    m, w = placed(m), pointer(w)
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


@jit
def advance(m, w, iw, gravity, parts, bank, inputs, marks, first, out, made, fill, lead):
    """As many steps as `inputs` has rows: (given, given_at, moving, moving_at), efforts that go to w[given_at], driven frames and
    targets that go to w[moving_at].

    Steps go in turn through `parts`: sizes, which of them share their factors, and weights to predict by. Factors that are not
    in use wait in the `bank`.

    After the steps numbered in `marks` (from 1 on) a snapshot goes to row `made` of `out`: (rows, lam, potentials), `rows` with the
    numbers from `first` on in w; λ is the mean of the steps before and after, so row `fill` still waits for its second half (−1:
    none). Returns status, steps done, made, fill. Where another thread leads, this one takes its share of the bodies instead.
    """
    (sizes, sets, guesses), (given, given_at, moving, moving_at), (rows, lam, potentials) = parts, inputs, out
    mark, multipliers, at = 0, lam.shape[1], m.where[t.LAM]
    model, numbers, m, w = m, w, placed(m), pointer(w)
    if not lead:
        serve(m, w, gravity)
        return SOLVED, 0, made, fill
    for s in range(len(given)):
        for k in range(given.shape[1]):
            w[given_at[k]] = given[s, k]
        for k in range(moving.shape[1]):
            w[moving_at[k]] = moving[s, k]
        part = s % len(sizes)
        if sets[part] != iw[t.I_SET]:
            exchange(model, numbers, iw, bank)
        status = one(m, w, iw, gravity, sizes[part], guesses[part])
        if status != SOLVED:
            return status, s, made, fill
        if fill >= 0:
            for k in range(multipliers):
                lam[fill, k] = 0.5 * (lam[fill, k] + w[at + k])
            fill = -1
        if mark < len(marks) and marks[mark] == s + 1:
            snapshot(model, numbers, gravity, first, rows[made], potentials[made])
            for k in range(multipliers):
                lam[made, k] = w[at + k]
            fill, made, mark = made, made + 1, mark + 1
    return SOLVED, len(given), made, fill
