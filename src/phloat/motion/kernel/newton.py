"""Newton's method of a step: residuals, factors, corrections.

    (Σ Ĝ_i D_i⁻¹ G_iᵀ) δλ = −c + Σ Ĝ_i D_i⁻¹ F_i,      δx_i = D_i⁻¹ (G_iᵀ δλ − F_i)

Factors are kept from iteration to iteration and from step to step as long as convergence is fast. Residuals are always the true
ones, and must fall to their round-off: that is what keeps energy and joints.
"""

import numpy as np

from phloat.motion.kernel.admittance import assemble, close
from phloat.motion.kernel.machine.block_solve import backsolve, factorise
from phloat.motion.kernel.machine.compiler import hot, inner, jit, part
from phloat.motion.kernel.machine.dense import add_4, axpy, dot_4, fill
from phloat.motion.kernel.machine.threads import HANDS, WRONG
from phloat.motion.kernel.partition import FACTORS, MOVE, RESIDUAL, SOLVE, UPDATE, do, each
from phloat.motion.kernel.ports import (
    carry_end,
    carry_mean,
    carry_point,
    clear,
    forces_on_body,
    port_end,
)
from phloat.motion.kernel.residual_norm import body_off, entry_off, sum_up
from phloat.motion.kernel.rows import coefficients, pull, resistance
from phloat.motion.kernel.tables import (
    ALPHA,
    CLOSED,
    COEF_END,
    COEF_MEAN,
    DELTA,
    E_BODY,
    E_END,
    E_MEAN,
    E_OUT,
    E_START,
    E_TURNS,
    FIRST_INC,
    FORCE,
    G_ENTRY,
    G_HAT,
    G_MEAN,
    G_ROWS,
    GAP1,
    GIVEN,
    I_FACTORED,
    I_FACTORISATIONS,
    I_LOST,
    I_WORST_BODY,
    I_WORST_ENTRY,
    J_A,
    J_B,
    J_INC_A,
    J_INC_B,
    J_LAM,
    J_ROW,
    J_ROWS,
    J_UNKNOWN,
    LAM,
    MULTIPLIERS,
    N_INC,
    OUT_A,
    OUT_B,
    PIVOTS,
    R_AXIS,
    R_COEF,
    R_DROPPED,
    R_MODE,
    RIGHT,
    S_AT,
    S_SIZE,
    TARGET1,
    W_F,
    W_GAM,
    W_PORTS,
    W_X,
    W_Y,
    WIDE,
    C,
    T,
)

ROUND_OFF = 16.0  # of the terms of an equation: what counts as solved
STALLED = 1e4  # within so many round-offs a residual that has not fallen three times in a row is accepted
QUICK = 13.0  # how much an iteration with new factors gains, as a logarithm
SURE = 100.0  # how far the residual after a correction, foreseen from the rate of the one before, is below what counts as solved
BELIEVED = 1e-3  # the quickest fall of a residual that is expected again: one correction may meet it by chance
FAR = 1e14  # residuals beyond which old factors are not even tried


@part
def evaluate(m, w, iw, gravity, h, whole):
    """Where everything is at the end of the step; where `whole` also F of every body and c of every unknown row.

    Returns the largest residual in round-offs of the terms it is the sum of (once there are factors, which bring the scales).
    """
    B, E, J = m.bodies, m.ends, m.entries
    worst, iw[I_WORST_BODY], iw[I_WORST_ENTRY] = 0.0, -1, -1
    each(m, w, gravity, h, RESIDUAL if whole else MOVE)
    for j in range(len(J)):
        for side in range(2):
            e = J[j, J_B] if side else J[j, J_A]
            port_end(B, E, e, m.data, w, T)
            clear(w, E[e, E_OUT])
        act(m, w, j, h)
        if whole:
            for side in range(2):
                e = J[j, J_B] if side else J[j, J_A]
                if E[e, E_BODY] >= 0:
                    forces_on_body(B, E, e, m.data, w)
                    sum_up(w, E[e, E_OUT], E[e, E_MEAN], E[e, E_TURNS], B[E[e, E_BODY], W_PORTS])
            if J[j, J_UNKNOWN]:
                worst = entry_off(m, w, iw, j, h, worst)
    if whole:
        for i in range(len(B)):
            add_4(B[i, WIDE], -1.0, w, B[i, W_GAM], w, B[i, W_F])
            worst = body_off(B, i, w, iw, worst)
    return worst


@hot
def act(m, w, j, h):
    """One entry: its gaps at the end, its forces on both ports, its equations where λ is unknown."""
    E, J, R = m.ends, m.entries, m.rows
    a, b = J[j, J_A], J[j, J_B]
    at, right = m.where[LAM] + J[j, J_LAM], m.where[RIGHT] + J[j, J_LAM]
    for k in range(J[j, J_ROWS]):
        r = J[j, J_ROW] + k
        o = R[r, R_COEF]
        i = R[r, R_AXIS]
        if i >= 0 and R[r, R_MODE] == CLOSED and not R[r, R_DROPPED]:  # most rows, so without detours
            w[o + GAP1] = w[E[b, E_END] + C + i] - w[E[a, E_END] + C + i]
            w[E[a, E_OUT] + FORCE + i] -= w[at + k]
            w[E[b, E_OUT] + FORCE + i] += w[at + k]
            w[right + k] = (w[o + GAP1] - w[o + TARGET1]) / h
            w[o + ALPHA] = 1.0
            continue
        coefficients(R, m.terms, r, m.data, w, E[a, E_START], E[a, E_END], E[b, E_START], E[b, E_END])
        if w[at + k] != 0.0:
            pull(
                R, m.terms, r, w[at + k], m.data, w, E[a, E_MEAN], E[b, E_MEAN], o + COEF_MEAN, E[a, E_OUT], E[b, E_OUT]
            )
        if R[r, R_MODE] == GIVEN:
            continue
        if R[r, R_DROPPED]:
            w[right + k] = 0.0
        elif R[r, R_MODE] == CLOSED:
            w[right + k] = (w[o + GAP1] - w[o + TARGET1]) / h
            w[o + ALPHA] = 1.0
        else:
            force, weight = resistance(R, r, m.data, m.indices, w, h)
            w[right + k] = w[at + k] + force
            w[o + ALPHA] = weight


@part
def refactor(m, w, iw, gravity, h):
    """Rows, then body by body D_i with what its ports feel, D_i⁻¹ and its part of S. False where a body has no D_i⁻¹."""
    J = m.entries
    iw[I_FACTORISATIONS] += 1
    for j in range(len(J)):
        if J[j, J_UNKNOWN]:
            linear_rows(m, w, j, h)
    fill(m.where[S_SIZE], 0.0, w, m.where[S_AT])
    first = 0  # of the blocks of S to which a body adds
    if m.crew[HANDS] > 1:
        each(m, w, gravity, h, FACTORS)
    for r in range(len(m.ranges)):
        if m.crew[HANDS] <= 1:
            do(m, w, gravity, h, np.int64(FACTORS), r)
        if m.crew[WRONG + r] >= 0:
            iw[I_WORST_BODY] = m.crew[WRONG + r]
            return False
        for i in range(m.ranges[r, 0], m.ranges[r, 1]):
            first = assemble(m, w, i, first)
    close(m, w, m.where[PIVOTS])
    iw[I_LOST] = factorise(m.program, w, m.where[PIVOTS])
    iw[I_FACTORED] = 1
    return True


@jit
def linear_rows(m, w, j, h):
    """G (discrete rows) and Ĝ (derivative of the gaps at the end, over h) of an entry, for each of its bodies."""
    B, E, J, R, G = m.bodies, m.ends, m.entries, m.rows, m.incidences
    a, b = J[j, J_A], J[j, J_B]
    for k in range(J[j, J_ROWS]):
        r = J[j, J_ROW] + k
        i = R[r, R_AXIS]
        for hat in range(2):
            if i < 0:
                clear(w, OUT_A)
                clear(w, OUT_B)
                side = E_END if hat else E_MEAN
                coef = R[r, R_COEF] + (COEF_END if hat else COEF_MEAN)
                pull(R, m.terms, r, 1.0, m.data, w, E[a, side], E[b, side], coef, OUT_A, OUT_B)
            for which in range(2):
                e, inc, out = (b, J[j, J_INC_B], OUT_B) if which else (a, J[j, J_INC_A], OUT_A)
                if inc < 0:
                    continue
                wide = B[E[e, E_BODY], WIDE]
                to = G[inc, G_HAT if hat else G_MEAN] + k * wide
                if i >= 0:
                    carry_point(B, E, e, m.data, w, hat, i, 1.0 if which else -1.0, to, h)
                    continue
                fill(wide, 0.0, w, to)
                if hat:
                    carry_end(B, E, e, m.data, w, out, to, h)
                else:
                    carry_mean(B, E, e, m.data, w, out, to)


@part
def correct(m, w, gravity, h):
    """x and λ corrected with the factors there are."""
    B, J, R, G = m.bodies, m.entries, m.rows, m.incidences
    right, delta = m.where[RIGHT], m.where[DELTA]
    for k in range(m.where[MULTIPLIERS]):
        w[delta + k] = -w[right + k]
    each(m, w, gravity, h, SOLVE)
    for i in range(len(B)):
        wide, y = B[i, WIDE], B[i, W_Y]
        for g in range(B[i, FIRST_INC], B[i, FIRST_INC] + B[i, N_INC]):
            j = G[g, G_ENTRY]
            for r in range(G[g, G_ROWS]):
                if not R[J[j, J_ROW] + r, R_DROPPED]:
                    total = dot_4(wide, w, G[g, G_HAT] + r * wide, w, y)
                    w[delta + J[j, J_LAM] + r] += w[R[J[j, J_ROW] + r, R_COEF] + ALPHA] * total
    backsolve(m.order, m.blocks, m.entry_of, m.sweep, w, delta, m.where[PIVOTS])
    each(m, w, gravity, h, UPDATE)
    axpy(m.where[MULTIPLIERS], 1.0, w, delta, w, m.where[LAM])


@inner
def take_back(m, w):
    """x and λ as they were before the last correction."""
    B = m.bodies
    for i in range(len(B)):
        add_4(B[i, WIDE], -1.0, w, B[i, W_Y], w, B[i, W_X])
    axpy(m.where[MULTIPLIERS], -1.0, w, m.where[DELTA], w, m.where[LAM])
