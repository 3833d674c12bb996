"""Steps one after the other: predict, solve, count works, accept; snapshots on the way."""

import math

from phloat.motion.kernel import body as of_body
from phloat.motion.kernel.machine.compiler import inner, jit, part
from phloat.motion.kernel.machine.dense import copy, dot_4, fill
from phloat.motion.kernel.machine.pointers import pointer
from phloat.motion.kernel.model import placed
from phloat.motion.kernel.newton import (
    BELIEVED,
    FAR,
    QUICK,
    STALLED,
    SURE,
    correct,
    evaluate,
    refactor,
    take_back,
)
from phloat.motion.kernel.partition import BEGIN, each, serve
from phloat.motion.kernel.ports import carry_mean, port_start
from phloat.motion.kernel.rows import noted, potential
from phloat.motion.kernel.tables import (
    COMPLIANT,
    COSTLY,
    DIR,
    E_BODY,
    E_END,
    E_FRAME0,
    E_FRAME1,
    E_OUT,
    E_START,
    E_TURNS,
    FRAME_SIZE,
    GAP0,
    GAP1,
    I_FACTORED,
    I_ITERATIONS,
    I_MOST,
    I_OTHER,
    I_SET,
    I_STALLED,
    I_STARTED,
    I_STEPS,
    J_A,
    J_B,
    J_ROW,
    J_ROWS,
    J_WORK,
    LAM,
    MULTIPLIERS,
    N_LIN,
    N_ROT,
    PORT_SIZE,
    R_COEF,
    R_MODE,
    SAVED,
    SIZE,
    TARGET0,
    TARGET1,
    TOLERATED,
    W_OLD,
    W_OLDER,
    W_OLDEST,
    W_Q,
    W_THETA,
    W_V,
    W_X,
    W_Y,
    WIDE,
    T,
)

SOLVED, DIVERGED, SINGULAR = 0, 1, 2
MOST_ITERATIONS = 25


@jit
def set_step(m, w, iw, h):
    """A new step size: the constant parts of the tangents, and no factors yet."""
    m, w = placed(m), pointer(w)
    for i in range(len(m.bodies)):
        of_body.set_step(m.bodies, i, m.data, w, h)
    iw[I_FACTORED] = 0


@jit
def exchange(m, w, iw, bank):
    """The factors in w and those in the bank, of a step of another size, change places."""
    m, w = placed(m), pointer(w)
    exchanged(m, w, iw, bank)


@inner
def exchanged(m, w, iw, bank):
    """The same for pointers."""
    at = 0
    for k in range(len(m.factors)):
        start = m.factors[k, 0]
        for i in range(m.factors[k, 1]):
            w[start + i], bank[at + i] = bank[at + i], w[start + i]
        at += m.factors[k, 1]
    iw[I_SET] = 1 - iw[I_SET]
    iw[I_FACTORED], iw[I_OTHER] = iw[I_OTHER], iw[I_FACTORED]


@jit
def arrive(m, w):
    """Ports at the start of a step, from the state."""
    m, w = placed(m), pointer(w)
    for e in range(len(m.ends)):
        port_start(m.bodies, m.ends, e, m.data, w, T)


@jit
def predict(m, w, iw, guess):
    """The unknowns from those of the three steps before, with the given weights, or the velocities of the state at first."""
    B = m.bodies
    for i in range(len(B)):
        lin, rot, x = B[i, N_LIN], B[i, N_ROT], B[i, W_X]
        for k in range(B[i, SIZE]):
            if iw[I_STARTED] == 0:
                v = B[i, W_V] + (
                    k if k < lin else (5 if rot == 1 else 3 + k - lin) if k < lin + rot else 6 + k - lin - rot
                )
                w[x + k] = w[v]
            elif iw[I_STARTED] == 1:
                w[x + k] = w[B[i, W_OLD] + k]
            elif iw[I_STARTED] == 2:
                w[x + k] = 2.0 * w[B[i, W_OLD] + k] - w[B[i, W_OLDER] + k]
            else:
                later, early = guess[0] * w[B[i, W_OLD] + k] + guess[1] * w[B[i, W_OLDER] + k], w[B[i, W_OLDEST] + k]
                w[x + k] = later + guess[2] * early
        for k in range(B[i, SIZE], B[i, WIDE]):
            w[x + k] = 0.0  # padding: a correction that was no number would stay in it


@inner
def pays(w, size, before):
    """Whether new factors cost less than the iterations they save, at the rate at which the residual falls."""
    left = math.log(max(size / w[TOLERATED], 1.0))
    slow = left / math.log(before / size) if size < before else math.inf
    return slow - left / QUICK > w[COSTLY]


@part
def solve(m, w, iw, gravity, h, careful):
    """x and λ of one step; careful is Newton's method with new factors at every iteration.

    Factors are made anew when the residual is far out or falls slowly; a correction by old ones that made it worse is taken back.
    One by the same factors as the last, which foresees a residual far below its round-off, is not measured again.
    """
    before, fresh, stuck, sure = math.inf, True, 0, False
    for k in range(MOST_ITERATIONS):
        whole = not sure
        size = evaluate(m, w, iw, gravity, h, whole)
        if not iw[I_FACTORED]:
            size = math.inf
        if (size <= w[TOLERATED] and k > 0) or sure:
            iw[I_ITERATIONS] += k
            iw[I_MOST] = max(iw[I_MOST], k)
            return SOLVED
        stuck = stuck + 1 if fresh and k > 1 and size > 0.5 * before else 0
        if stuck == 3 and size < STALLED:
            iw[I_ITERATIONS] += k
            iw[I_STALLED] += 1
            return SOLVED
        if k > 0 and not fresh and not size < before:
            take_back(m, w)
            evaluate(m, w, iw, gravity, h, whole)
            size = before
        elif k > 0 and fresh and not size < math.inf and iw[I_FACTORED]:
            return DIVERGED
        fresh = careful or not iw[I_FACTORED] or size > FAR or (k > 0 and pays(w, size, before))
        if fresh and not refactor(m, w, iw, gravity, h):
            return SINGULAR
        sure = not fresh and before < math.inf and SURE * size * max(size, BELIEVED * before) <= w[TOLERATED] * before
        before = size
        correct(m, w, gravity, h)
    return DIVERGED


@inner
def works(m, w, h):
    """What each entry did on its two bodies during the step: h × forces · velocities."""
    B, E, J = m.bodies, m.ends, m.entries
    for j in range(len(J)):
        for side in range(2):
            e = J[j, J_B] if side else J[j, J_A]
            i = E[e, E_BODY]
            if i >= 0:
                y = B[i, W_Y]
                fill(B[i, WIDE], 0.0, w, y)
                carry_mean(B, E, e, m.data, w, E[e, E_OUT], y)
                w[J[j, J_WORK] + side] += h * dot_4(B[i, WIDE], w, y, w, B[i, W_X])


@inner
def settle_in(m, w, iw, h):
    """The end of the step becomes the start of the next."""
    B, E, J, R = m.bodies, m.ends, m.entries, m.rows
    for i in range(len(B)):
        x, size = B[i, W_X], B[i, SIZE]
        copy(size, w, B[i, W_OLDER], w, B[i, W_OLDEST])
        copy(size, w, B[i, W_OLD], w, B[i, W_OLDER])
        copy(size, w, x, w, B[i, W_OLD])
        of_body.accept(B, i, m.data, m.indices, w, h)
        if B[i, N_ROT] == 1:
            A = B[i, W_Q] + 3
            angle = math.atan2(w[A + 3], w[A])  # a step turns by less than half a turn, so the nearest angle is the one
            w[B[i, W_THETA]] = angle + 2.0 * math.pi * round((w[B[i, W_THETA]] - angle) / (2.0 * math.pi))
    for e in range(len(E)):
        copy(PORT_SIZE if E[e, E_TURNS] else DIR, w, E[e, E_END], w, E[e, E_START])
        if E[e, E_TURNS] or E[e, E_BODY] < 0:
            copy(FRAME_SIZE, w, E[e, E_FRAME1], w, E[e, E_FRAME0])
    for j in range(len(J)):
        for r in range(J[j, J_ROW], J[j, J_ROW] + J[j, J_ROWS]):
            if R[r, R_MODE] == COMPLIANT:
                rate = (w[R[r, R_COEF] + GAP1] - w[R[r, R_COEF] + GAP0]) / h
                noted(R, r, m.data, w, rate, iw[I_STEPS] + 1.0, E[J[j, J_A], E_END], E[J[j, J_B], E_END])
            w[R[r, R_COEF] + GAP0] = w[R[r, R_COEF] + GAP1]
            w[R[r, R_COEF] + TARGET0] = w[R[r, R_COEF] + TARGET1]
    iw[I_STARTED] = min(iw[I_STARTED] + 1, 3)
    iw[I_STEPS] += 1


@part
def one(m, w, iw, gravity, h, guess):
    """One step from the state in w; on failure the state is untouched."""
    each(m, w, gravity, h, BEGIN)
    predict(m, w, iw, guess)
    copy(m.where[MULTIPLIERS], w, m.where[LAM], w, m.where[SAVED])
    status = DIVERGED
    for careful in range(2):
        status = solve(m, w, iw, gravity, h, careful)
        if status == SOLVED:
            break
        copy(m.where[MULTIPLIERS], w, m.where[SAVED], w, m.where[LAM])
        iw[I_FACTORED], iw[I_STARTED] = 0, min(iw[I_STARTED], 1)
        predict(m, w, iw, guess)
    if status == SOLVED:
        works(m, w, h)
        settle_in(m, w, iw, h)
    return status


@jit
def snapshot(m, w, gravity, first, out, potentials):
    """State, works and losses, and energies of bodies and springs, as they stand."""
    kept(placed(m), pointer(w), gravity, first, out, potentials)


@inner
def kept(m, w, gravity, first, out, potentials):
    """The same for pointers."""
    B, J, R = m.bodies, m.entries, m.rows
    for i in range(len(B)):
        of_body.energies(B, i, m.data, m.indices, w, gravity)
    for k in range(len(out)):
        out[k] = w[first + k]
    for j in range(len(J)):
        potentials[j] = 0.0
        for r in range(J[j, J_ROW], J[j, J_ROW] + J[j, J_ROWS]):
            if R[r, R_MODE] == COMPLIANT:
                potentials[j] += potential(R, r, m.data, m.indices, w, w[R[r, R_COEF] + GAP0])


@jit
def advance(
    m,
    w,
    iw,
    gravity,
    parts,
    bank,
    given,
    given_at,
    moving,
    moving_at,
    marks,
    first,
    rows,
    lam,
    potentials,
    made,
    fill,
    lead,
):
    """As many steps as `given` and `moving` have rows: efforts go to w[given_at], driven frames and targets to w[moving_at].

    Steps go in turn through `parts`: sizes, which of them share their factors, and weights to predict by. Factors that are not
    in use wait in the `bank`.

    After the steps numbered in `marks` (from 1 on) a snapshot goes to row `made` of `rows` (the numbers from `first` on in w),
    `potentials` and `lam`; λ is the mean of the steps before and after, so row `fill` still waits for its second half (−1:
    none). Returns status, steps done, made, fill. Where another thread leads, this one takes its share of the bodies instead.
    """
    mark, multipliers, at = 0, lam.shape[1], m.where[LAM]
    sizes, sets, guesses = parts
    m, w = placed(m), pointer(w)
    if not lead:
        serve(m, w, gravity)
        return SOLVED, 0, made, fill
    for s in range(len(given)):
        for k in range(given.shape[1]):
            w[given_at[k]] = given[s, k]
        for k in range(moving.shape[1]):
            w[moving_at[k]] = moving[s, k]
        part = s % len(sizes)
        if sets[part] != iw[I_SET]:
            exchanged(m, w, iw, bank)
        status = one(m, w, iw, gravity, sizes[part], guesses[part])
        if status != SOLVED:
            return status, s, made, fill
        if fill >= 0:
            for k in range(multipliers):
                lam[fill, k] = 0.5 * (lam[fill, k] + w[at + k])
            fill = -1
        if mark < len(marks) and marks[mark] == s + 1:
            kept(m, w, gravity, first, rows[made], potentials[made])
            for k in range(multipliers):
                lam[made, k] = w[at + k]
            fill, made, mark = made, made + 1, mark + 1
    return SOLVED, len(given), made, fill
