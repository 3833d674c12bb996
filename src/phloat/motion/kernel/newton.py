"""Newton's method of a step: residuals, factors, corrections.

    (Σ Ĝ_i D_i⁻¹ G_iᵀ) δλ = −c + Σ Ĝ_i D_i⁻¹ F_i,      δx_i = D_i⁻¹ (G_iᵀ δλ − F_i)

Factors are reused over iterations and steps as long as convergence is fast. Residuals are exact and must fall to round-off, which
conserves energy and satisfies the joints.
"""

import numpy as np

from phloat.motion.kernel import tables as t
from phloat.motion.kernel.machine.block_solve import backsolve, factorise
from phloat.motion.kernel.machine.compiler import hot, inner, rare
from phloat.motion.kernel.machine.dense import EPS, add_4, axpy, dot_4, fill
from phloat.motion.kernel.machine.threads import SINGULAR_BODY, THREAD_COUNT, no_inline
from phloat.motion.kernel.partition import (
    FACTORS,
    FORCES,
    MOVE,
    RESIDUAL,
    SOLVE,
    UPDATE,
    add_ones,
    assemble,
    motions,
    run_all,
    run_job,
)
from phloat.motion.kernel.ports import carry_end, carry_mean, clear
from phloat.motion.kernel.rows import coefficients, law_resistance, pull

ROUND_OFF = 16.0  # round-offs of the terms of an equation below which it counts as solved
STALLED = 1e4  # round-offs below which a residual that has not halved three times in a row is accepted
LOG_REDUCTION = 13.0  # logarithm of the factor by which an iteration with new factors reduces the residual
PREDICTION_MARGIN = 100.0  # a residual predicted to be this factor below the tolerance is not computed
REDUCTION_LIMIT = 1e-3  # the largest reduction by one correction that is extrapolated; larger ones may be chance
REFACTOR_ABOVE = 1e14  # round-offs above which old factors are not tried


@inner
def residuals(m, w, iw, gravity, h, with_residuals):
    """Configuration at the end of the step, forces of entries, and `with_residuals` also F of each body and c of each unknown row.

    Returns the largest residual in round-offs of the terms that it sums (0 without residuals; scales exist once there are factors).
    """
    B, J = m.bodies, m.entries
    largest, iw[t.I_WORST_BODY], iw[t.I_WORST_ENTRY] = 0.0, -1, -1
    run_all(m, w, gravity, h, RESIDUAL if with_residuals else MOVE)
    for j in range(len(J)):
        if J[j, t.J_RATES]:
            set_velocity_gaps(m, w, j, h)
        apply_entry(m, w, j, h)
        if with_residuals and J[j, t.J_UNKNOWN]:
            largest = relative_entry_residual(m, w, iw, j, h, largest)
    if with_residuals:
        run_all(m, w, gravity, h, FORCES)
        for r in range(len(m.ranges)):
            size = B[m.ranges[r, 0], t.W_T] + t.LARGEST
            if w[size] > largest:
                largest = w[size]
                iw[t.I_WORST_BODY], iw[t.I_WORST_ENTRY] = int(w[size + 1]), -1
    return largest


@hot
def apply_entry(m, w, j, h):
    """Gaps of entry j at the end of the step, its forces on both ports, and its residuals c if its λ is unknown."""
    E, J, R, T = m.ends, m.entries, m.rows, m.terms
    a, b = J[j, t.J_A], J[j, t.J_B]
    lam, c = m.offsets[t.LAM] + J[j, t.J_LAM], m.offsets[t.RIGHT] + J[j, t.J_LAM]
    A, B, on_A, on_B = E[a, t.E_END], E[b, t.E_END], E[a, t.E_OUT], E[b, t.E_OUT]
    for k in range(J[j, t.J_ROWS]):
        r = J[j, t.J_ROW] + k
        o = R[r, t.R_COEF]
        i = R[r, t.R_AXIS]
        if i >= 0 and R[r, t.R_MODE] == t.CLOSED and not R[r, t.R_DROPPED]:  # most rows: a short path
            w[o + t.GAP1] = w[B + t.C + i] - w[A + t.C + i]
            w[on_A + t.FORCE + i] -= w[lam + k]
            w[on_B + t.FORCE + i] += w[lam + k]
            w[c + k] = (w[o + t.GAP1] - w[o + t.TARGET1]) * (1.0 / h)
            w[o + t.ALPHA] = 1.0
            continue
        coefficients(R, T, r, m.data, w, E[a, t.E_START], A, E[b, t.E_START], B)
        if w[lam + k] != 0.0:
            pull(R, T, r, w[lam + k], m.data, w, E[a, t.E_MEAN], E[b, t.E_MEAN], o + t.COEF_MEAN, on_A, on_B)
        if R[r, t.R_MODE] == t.GIVEN:
            continue
        if R[r, t.R_DROPPED]:
            w[c + k] = 0.0
        elif R[r, t.R_MODE] == t.CLOSED:
            w[c + k] = (w[o + t.GAP1] - w[o + t.TARGET1]) * (1.0 / h)
            w[o + t.ALPHA] = 1.0
        else:
            force, weight = law_resistance(R, r, m.data, m.indices, w, h)
            w[c + k] = w[lam + k] + force
            w[o + t.ALPHA] = weight


@inner
def refactor(m, w, iw, gravity, h):
    """Computes G and Ĝ, D_i⁻¹ of each body with its port forces, and the factors of S. Returns False if a D_i is singular."""
    J = m.entries
    iw[t.I_FACTORISATIONS] += 1
    for j in range(len(J)):
        if J[j, t.J_UNKNOWN]:
            linear_rows(m, w, j, h)
    fill(m.offsets[t.S_SIZE], 0.0, w, m.offsets[t.S_AT])
    first = 0  # index in m.assembly of the first block of a body
    if m.threads[THREAD_COUNT] > 1:
        run_all(m, w, gravity, h, FACTORS)
    for r in range(len(m.ranges)):
        if m.threads[THREAD_COUNT] <= 1:
            run_job(m, w, gravity, h, FACTORS, r)
        if m.threads[SINGULAR_BODY + r] >= 0:
            iw[t.I_WORST_BODY] = m.threads[SINGULAR_BODY + r]
            return False
        for i in range(m.ranges[r, 0], m.ranges[r, 1]):
            first = assemble(m, w, i, first)
    add_ones(m, w, m.offsets[t.PIVOTS])
    iw[t.I_LOST] = factorise(m.program, w, m.offsets[t.PIVOTS])
    iw[t.I_FACTORED] = 1
    return True


@inner
def linear_rows(m, w, j, h):
    """Computes the rows of G (discrete) and of Ĝ (derivative of the gaps at the end, over h) of entry j, for both of its bodies."""
    for k in range(m.entries[j, t.J_ROWS]):
        for hat in range(2):
            linear_row(m, w, j, k, hat, h)


@inner
def linear_row(m, w, j, k, hat, h):
    """Computes row k of entry j in G, or in Ĝ if `hat`, for both of its bodies."""
    B, E, J, R, G = m.bodies, m.ends, m.entries, m.rows, m.incidences
    a, b, r = J[j, t.J_A], J[j, t.J_B], J[j, t.J_ROW] + k
    clear(w, t.OUT_A)
    clear(w, t.OUT_B)
    port = t.E_END if hat else t.E_MEAN
    coef = R[r, t.R_COEF] + (t.COEF_END if hat else t.COEF_MEAN)
    pull(R, m.terms, r, 1.0, m.data, w, E[a, port], E[b, port], coef, t.OUT_A, t.OUT_B)
    for side in range(2):
        e, inc, out = (b, J[j, t.J_INC_B], t.OUT_B) if side else (a, J[j, t.J_INC_A], t.OUT_A)
        if inc < 0:
            continue
        wide = B[E[e, t.E_BODY], t.WIDE]
        to = G[inc, t.G_HAT if hat else t.G_MEAN] + k * wide
        fill(wide, 0.0, w, to)
        if hat:
            carry_end(B, E, e, m.data, w, out, to, h)
        else:
            carry_mean(B, E, e, m.data, w, out, to)


@rare
def set_velocity_gaps(m, w, j, h):
    """Sets the gaps ∓½ h G x of compliant rows with a rate and no gap: their mean over the step is zero.

    Overwrites G, which `refactor` computes again before it is used.
    """
    no_inline()
    B, E, J, R, G = m.bodies, m.ends, m.entries, m.rows, m.incidences
    for k in range(J[j, t.J_ROWS]):
        r, rate = J[j, t.J_ROW] + k, 0.0
        if R[r, t.R_FUNCTION] < t.VELOCITY:
            continue
        linear_row(m, w, j, k, 0, h)
        for side in range(2):
            e, inc = (J[j, t.J_B], J[j, t.J_INC_B]) if side else (J[j, t.J_A], J[j, t.J_INC_A])
            if inc >= 0:
                i = E[e, t.E_BODY]
                wide = B[i, t.WIDE]
                rate += dot_4(wide, w, G[inc, t.G_MEAN] + k * wide, w, B[i, t.W_X])
        w[R[r, t.R_COEF] + t.GAP0], w[R[r, t.R_COEF] + t.GAP1] = -0.5 * h * rate, 0.5 * h * rate


@inner
def correct(m, w, gravity, h):
    """Computes the corrections of x and λ with the current factors and adds them."""
    B, J, R, G = m.bodies, m.entries, m.rows, m.incidences
    c, delta = m.offsets[t.RIGHT], m.offsets[t.DELTA]
    for k in range(m.offsets[t.MULTIPLIERS]):
        w[delta + k] = -w[c + k]
    run_all(m, w, gravity, h, SOLVE)
    for i in range(len(B)):
        for g in range(B[i, t.FIRST_INC], B[i, t.FIRST_INC] + B[i, t.N_INC]):
            j, motion = G[g, t.G_ENTRY], motions(B, i) + G[g, t.G_COLUMN]
            for r in range(G[g, t.G_ROWS]):
                if not R[J[j, t.J_ROW] + r, t.R_DROPPED]:
                    w[delta + J[j, t.J_LAM] + r] += w[R[J[j, t.J_ROW] + r, t.R_COEF] + t.ALPHA] * w[motion + r]
    backsolve(m.order, m.blocks, m.entry_of, m.sweep, w, delta, m.offsets[t.PIVOTS])
    run_all(m, w, gravity, h, UPDATE)
    axpy(m.offsets[t.MULTIPLIERS], 1.0, w, delta, w, m.offsets[t.LAM])


@inner
def undo_correction(m, w):
    """Subtracts the last correction from x and λ."""
    B = m.bodies
    for i in range(len(B)):
        add_4(B[i, t.WIDE], -1.0, w, B[i, t.W_Y], w, B[i, t.W_X])
    axpy(m.offsets[t.MULTIPLIERS], -1.0, w, m.offsets[t.DELTA], w, m.offsets[t.LAM])


# --- residuals relative to the round-off of the terms they are sums of ------------------------


@hot
def larger(iw, largest, size, scale, entry):
    """The larger of `largest` and size / (ε scale); if the latter, iw gets its entry."""
    if size > largest * EPS * scale:
        largest = size / (EPS * scale) if scale > 0.0 else np.inf
        iw[t.I_WORST_BODY], iw[t.I_WORST_ENTRY] = -1, entry
    return largest


@hot
def relative_entry_residual(m, w, iw, j, h, largest):
    """The larger of `largest` and the residuals of the rows of entry j in round-offs of their lengths; infinite if NaN."""
    E, J, R = m.ends, m.entries, m.rows
    a, b = J[j, t.J_A], J[j, t.J_B]
    length = w[t.FLOOR]  # so that a port at the origin without an arm has a length
    for k in range(3):
        length += abs(w[E[a, t.E_END] + t.C + k]) + abs(w[E[b, t.E_END] + t.C + k])
        length += abs(w[E[a, t.E_END] + t.ARM + k]) + abs(w[E[b, t.E_END] + t.ARM + k])
    for k in range(J[j, t.J_ROWS]):
        r = J[j, t.J_ROW] + k
        size, power = abs(w[m.offsets[t.RIGHT] + J[j, t.J_LAM] + k]), R[r, t.R_POWER]
        unit = length if power == 1 else 1.0 if power == 0 else length**power
        if R[r, t.R_MODE] == t.CLOSED:
            scale = unit * (1.0 / abs(h))
        else:
            law = abs(w[R[r, t.R_COEF] + t.GAP0]) + abs(w[R[r, t.R_COEF] + t.GAP1])
            law += unit  # a gap near zero has the round-off of the lengths that it is the difference of
            scale = abs(w[m.offsets[t.LAM] + J[j, t.J_LAM] + k]) + abs(w[R[r, t.R_COEF] + t.ALPHA]) * law / abs(h)
        if not size <= 1e300:
            iw[t.I_WORST_ENTRY], iw[t.I_WORST_BODY] = j, -1
            return np.inf
        largest = larger(iw, largest, size, scale, j)
    return largest
