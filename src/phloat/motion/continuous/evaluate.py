"""Ports, rows, momenta and forces of the equations of motion at a time and state, compiled.

    y = (q, v, d, λ, μ),   q = (r, θ or quaternion, η) and v = (V, ω, η̇) of every body, d positions of drives by velocity
    q̇ = K(q) (v + s Gᵀμ)                        μ enforces the gaps, λ their rates (Gear, Gupta and Leimkuhler)
    M(η) v̇ = f(q, v, t) + Gᵀλ                   M ω̇-rows: J ω̇ + c η̈ + J̇ω = p_ω × ω + …,   η-rows: + 2 ω·Γη̇ − ½ ∂_η(ωᵀJω)
    ḋ = rates of driven frames and targets
    0 = G v + rates of the gap by drives,   0 = gap(q, d)

with s = 1/(diag M + τ² diag K), so that μ moves frames much more than stiff coordinates. (With s = 1/diag M it moves light
coordinates, elastic forces jump with the step, and BDF stays at order 1: 2371 steps instead of 267.) Gaps, rows and forces are
those of the kernel, with equal start, end and mean of a step.
"""

import math
from typing import NamedTuple

import numpy as np

from phloat.motion.continuous.constant_mass import momenta_at_rest
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.body import momenta
from phloat.motion.kernel.law_calls import EFFORT, call_law
from phloat.motion.kernel.machine.compiler import inner
from phloat.motion.kernel.machine.dense import axpy, copy, dot, fill
from phloat.motion.kernel.ports import carry, clear, port_at
from phloat.motion.kernel.rows import coefficients, evaluate_pieces, pull

# columns of bodies: offsets of q, v in y, and of S/m in w (−1 with the mass matrix M(η)); of rows: λ, μ in y (−1: none), G of both
# bodies in w, and (rate, its parts by bodies A and B, target rate) in w
Y_Q, Y_V, SHIFT = range(3)
Y_LAM, Y_MU, G_A, G_B, R_RATE = range(5)
RATE, RATE_A, RATE_B, TARGET_RATE, RATE_SIZE = range(5)
# columns of drives: kind, size, offset in y (−1: prescribed), of value and velocity in the inputs s, of value and rate in w
COORDINATE, FRAME, SWIVEL = range(3)
V_KIND, V_SIZE, V_Y, V_VALUE, V_U, V_AT, V_RATE = range(7)
# offsets of the parts of y, and its length
AT_V, AT_D, AT_LAM, AT_MU, LENGTH = range(5)


class Numbering(NamedTuple):
    """Offsets in y, in the inputs s and in the additional part of w."""

    bodies: np.ndarray
    rows: np.ndarray
    ends: np.ndarray  # offsets of the rates of a driven frame and its port, −1 without a drive
    drives: np.ndarray
    effort_indices: np.ndarray
    sizes: np.ndarray
    scale: np.ndarray  # s: the motion of each coordinate by μ
    printed: np.ndarray  # one flag: whether z_u of a constant mass matrix is that of H


@inner
def quaternion_rotation(y, o, w, A):
    """The rotation matrix of a quaternion (scalar first) of any length."""
    a, b, c, d = y[o], y[o + 1], y[o + 2], y[o + 3]
    f = 2.0 / (a * a + b * b + c * c + d * d)
    w[A], w[A + 1], w[A + 2] = 1.0 - f * (c * c + d * d), f * (b * c - a * d), f * (b * d + a * c)
    w[A + 3], w[A + 4], w[A + 5] = f * (b * c + a * d), 1.0 - f * (b * b + d * d), f * (c * d - a * b)
    w[A + 6], w[A + 7], w[A + 8] = f * (b * d - a * c), f * (c * d + a * b), 1.0 - f * (b * b + c * c)


@inner
def configure(m, w, p, y):
    """Writes q and v of each body to the buffers of the kernel."""
    B = m.bodies
    for i in range(len(B)):
        n, lin, rot = B[i, t.N_ETA], B[i, t.N_LIN], B[i, t.N_ROT]
        q, v, o, u = B[i, t.W_Q], B[i, t.W_V], p.bodies[i, Y_Q], p.bodies[i, Y_V]
        copy(lin, y, o, w, q)
        copy(lin, y, u, w, v)
        o, u = o + lin, u + lin
        if rot == 1:
            cosine, sine = math.cos(y[o]), math.sin(y[o])
            w[q + 3], w[q + 4], w[q + 6], w[q + 7] = cosine, -sine, sine, cosine
            w[B[i, t.W_THETA]], w[v + 5] = y[o], y[u]
            o, u = o + 1, u + 1
        elif rot == 3:
            quaternion_rotation(y, o, w, q + 3)
            copy(3, y, u, w, v + 3)
            o, u = o + 4, u + 3
        copy(n, y, o, w, q + 12)
        copy(n, y, u, w, v + 6)


@inner
def steer(m, w, p, s, y):
    """Writes prescribed efforts, driven frames and targets, and their rates: (v, ω) of a frame, ω × d of directions."""
    for k in range(len(p.effort_indices)):
        w[p.effort_indices[k]] = s[k]
    for k in range(len(p.drives)):
        D = p.drives[k]
        kind, target, rate, u = D[V_KIND], D[V_AT], D[V_RATE], D[V_U]
        if D[V_Y] >= 0:
            copy(D[V_SIZE], y, D[V_Y], w, target)
        else:
            copy(D[V_SIZE], s, D[V_VALUE], w, target)
        if kind == COORDINATE:
            w[rate] = s[u]
            continue
        if kind == FRAME:
            copy(3, s, u, w, rate)
            target, rate = target + 3, rate + 3
        for j in range(0, 9, 3):
            w[rate + j] = s[u + 4] * w[target + j + 2] - s[u + 5] * w[target + j + 1]
            w[rate + j + 1] = s[u + 5] * w[target + j] - s[u + 3] * w[target + j + 2]
            w[rate + j + 2] = s[u + 3] * w[target + j + 1] - s[u + 4] * w[target + j]


@inner
def hold(m, w, p):
    """Computes the port of each end, and its motion by drives."""
    B, E = m.bodies, m.ends
    for e in range(len(E)):
        i = E[e, t.E_BODY]
        q = B[i, t.W_Q] if i >= 0 else 0
        port_at(B, E, e, m.data, w, q, E[e, t.E_FRAME1], E[e, t.E_END], t.SCRATCH)
        if p.ends[e, 0] >= 0:
            port_at(B, E, e, m.data, w, q, p.ends[e, 0], p.ends[e, 1], t.SCRATCH)
            if i >= 0:
                fill(t.DIR, 0.0, w, p.ends[e, 1])


@inner
def row(m, w, p, y, j, r):
    """One row: its gap, G for both bodies, and its rate: by A, by B, and by drives."""
    B, E, R = m.bodies, m.ends, m.rows
    a, b, o = m.entries[j, t.J_A], m.entries[j, t.J_B], R[r, t.R_COEF]
    coefficients(R, m.terms, r, m.data, w, E[a, t.E_END], E[a, t.E_END], E[b, t.E_END], E[b, t.E_END])
    clear(w, t.OUT_A)
    clear(w, t.OUT_B)
    pull(R, m.terms, r, 1.0, m.data, w, E[a, t.E_END], E[b, t.E_END], o + t.COEF_END, t.OUT_A, t.OUT_B)
    rates = p.rows[r, R_RATE]
    total = -w[rates + TARGET_RATE]
    for side in range(2):
        e, out, g = (b, t.OUT_B, p.rows[r, G_B]) if side else (a, t.OUT_A, p.rows[r, G_A])
        i = E[e, t.E_BODY]
        w[rates + RATE_A + side] = 0.0
        if i >= 0:
            size, A = B[i, t.SIZE], B[i, t.W_Q] + 3
            fill(size, 0.0, w, g)
            carry(B, E, e, m.data, w, E[e, t.E_END], A, 1.0, A, out, g)
            w[rates + RATE_A + side] = dot(w, g, y, p.bodies[i, Y_V], size)
        if p.ends[e, 0] >= 0:
            total += dot(w, out + t.FORCE, w, p.ends[e, 1] + t.C, 3) + dot(
                w, out + t.ON_DIR, w, p.ends[e, 1] + t.DIR, 9
            )
    w[rates + RATE] = total + w[rates + RATE_A] + w[rates + RATE_B]


@inner
def law(m, w, r, rate):
    """The effort of springs and dampers: −k (g − g₀) − S(g − g₀) − c ġ − D(ġ)."""
    R, o = m.rows, m.rows[r, t.R_LAW]
    x = w[R[r, t.R_COEF] + t.GAP1] - w[o + 1]
    force = -w[o] * x - w[o + 2] * rate
    if R[r, t.R_N_SPRING]:
        force -= evaluate_pieces(m.data, R[r, t.R_SPRING], R[r, t.R_N_SPRING], x)[0]
    if R[r, t.R_N_DAMPER]:
        force -= evaluate_pieces(m.data, R[r, t.R_DAMPER], R[r, t.R_N_DAMPER], rate)[0]
    if R[r, t.R_CALL] >= 0:
        out = R[r, t.R_COEF] + t.LAW_OUT
        call_law(m.indices[R[r, t.R_CALL]], x, x, rate, 1.0, w, o + t.LAW_SIZE, out)
        force -= w[out + EFFORT]
    return force


@inner
def update(m, w, p, s, y):
    """Everything that depends on (t, y): momenta, ports, rows, λ, and for each body Gᵀλ with prescribed efforts and Gᵀμ."""
    B, E, J, R = m.bodies, m.ends, m.entries, m.rows
    configure(m, w, p, y)
    steer(m, w, p, s, y)
    for i in range(len(B)):
        if p.bodies[i, SHIFT] < 0:
            momenta(B, i, m.data, m.indices, w)
        else:
            rigid = B[i, t.N_LIN] + (4 if B[i, t.N_ROT] == 3 else B[i, t.N_ROT])
            momenta_at_rest(m, w, i, p.bodies[i, SHIFT], y, p.bodies[i, Y_Q] + rigid)
        fill(B[i, t.SIZE], 0.0, w, B[i, t.W_GAM])
        fill(B[i, t.SIZE], 0.0, w, B[i, t.W_Y])
    hold(m, w, p)
    for j in range(len(J)):
        for k in range(J[j, t.J_ROWS]):
            r = J[j, t.J_ROW] + k
            row(m, w, p, y, j, r)
            lam, mu = m.offsets[t.LAM] + J[j, t.J_LAM] + k, 0.0
            if R[r, t.R_MODE] == t.CLOSED:
                w[lam] = y[p.rows[r, Y_LAM]] if p.rows[r, Y_LAM] >= 0 else 0.0
                mu = y[p.rows[r, Y_MU]] if p.rows[r, Y_MU] >= 0 else 0.0
            elif R[r, t.R_MODE] == t.COMPLIANT:
                w[lam] = law(m, w, r, w[p.rows[r, R_RATE] + RATE])
            for side in range(2):
                i, g = E[J[j, t.J_B if side else t.J_A], t.E_BODY], p.rows[r, G_B if side else G_A]
                if i >= 0:
                    axpy(B[i, t.SIZE], w[lam], w, g, w, B[i, t.W_GAM])
                    if mu != 0.0:
                        axpy(B[i, t.SIZE], mu, w, g, w, B[i, t.W_Y])
