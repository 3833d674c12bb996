"""The residual F(t, y, ẏ) of the equations of motion (see `evaluate`), ∂F/∂y by differences, ∂F/∂ẏ and G as they are, compiled."""

import math

from phloat.motion.continuous import evaluate as ev
from phloat.motion.continuous.constant_mass import (
    add_offset_mass,
    effort,
    kinetic_energy,
    neglected_power,
    offset_residual,
)
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.body import axis, coupled_stresses, loss, pair, strain_slopes
from phloat.motion.kernel.machine.compiler import entry, inner, rare
from phloat.motion.kernel.machine.dense import axpy, copy, dot, dot_4, fill
from phloat.motion.kernel.machine.pointers import pointer
from phloat.motion.kernel.machine.threads import no_inline
from phloat.motion.kernel.model import as_pointers
from phloat.motion.kernel.rows import record_extremes

NUDGE = 1e-6  # step of differences, relative to a number: its error is 1e-12, and 1e-10 by round-off


@inner
def quaternion_rate(y, o, a, b, c):
    """½ quaternion ⊗ (0, a, b, c)."""
    return (
        -0.5 * (y[o + 1] * a + y[o + 2] * b + y[o + 3] * c),
        0.5 * (y[o] * a + y[o + 2] * c - y[o + 3] * b),
        0.5 * (y[o] * b + y[o + 3] * a - y[o + 1] * c),
        0.5 * (y[o] * c + y[o + 1] * b - y[o + 2] * a),
    )


@inner
def kinematic_residual(m, w, p, y, i, yd, out):
    """q̇ − K(q) (v + s Gᵀμ) of one body."""
    B = m.bodies
    n, lin, rot = B[i, t.N_ETA], B[i, t.N_LIN], B[i, t.N_ROT]
    o, u, add = p.bodies[i, ev.Y_Q], p.bodies[i, ev.Y_V], B[i, t.W_Y]
    s = u - p.sizes[ev.AT_V]
    for k in range(B[i, t.SIZE]):
        w[add + k] = y[u + k] + p.scale[s + k] * w[add + k]
    for k in range(lin):
        out[o + k] = yd[o + k] - w[add + k]
    o, add = o + lin, add + lin
    if rot == 1:
        out[o] = yd[o] - w[add]
        o += 1
    elif rot == 3:
        a, b, c, d = quaternion_rate(y, o, w[add], w[add + 1], w[add + 2])
        out[o], out[o + 1], out[o + 2], out[o + 3] = yd[o] - a, yd[o + 1] - b, yd[o + 2] - c, yd[o + 3] - d
        o += 4
    for k in range(n):
        out[o + k] = yd[o + k] - w[add + rot + k]


@inner
def dynamic_residual(m, w, p, gravity, i, yd, out):
    """M v̇ − f − Gᵀλ of one body."""
    B, data = m.bodies, m.data
    n, long, lin, rot = B[i, t.N_ETA], B[i, t.LONG], B[i, t.N_LIN], B[i, t.N_ROT]
    o, V, mass = p.bodies[i, ev.Y_V], B[i, t.W_V], data[B[i, t.D_MASS]]
    for k in range(lin):
        out[o + k] = mass * (yd[o + k] - gravity[k])
    eta_rows, acc, rate, eta = o + lin + rot, o + lin + rot, V + 6, B[i, t.W_Q] + 12
    for k in range(n):
        o_k = k * long
        out[eta_rows + k] = dot(data, B[i, t.D_MFF] + o_k, yd, acc, n) + dot(data, B[i, t.D_K] + o_k, w, eta, n)
        if B[i, t.DAMPED]:
            out[eta_rows + k] += dot(data, B[i, t.D_RD] + o_k, w, rate, n)
    axpy(n, 1.0, w, B[i, t.W_FPRE], out, eta_rows)
    membrane_forces(m, w, i, out, eta_rows)
    for a in range(rot):
        omega_a = w[V + 3 + axis(a, rot)]
        axpy(n, yd[o + lin + a], w, B[i, t.W_C] + a * long, out, eta_rows)
        axpy(n, 2.0 * omega_a, w, B[i, t.W_G0] + a * long, out, eta_rows)
        total = dot(w, B[i, t.W_C] + a * long, yd, acc, n)
        for b in range(rot):
            omega_b, dJ = w[V + 3 + axis(b, rot)], B[i, t.W_DJ] + pair(a, b) * long
            total += w[B[i, t.W_J] + pair(a, b)] * yd[o + lin + b] + omega_b * dot(w, dJ, w, rate, n)
            axpy(n, -0.5 * omega_a * omega_b, w, dJ, out, eta_rows)
        out[o + lin + a] = total
    if rot == 3:
        P, W, r = B[i, t.W_P], V + 3, o + lin
        out[r] -= w[P + 1] * w[W + 2] - w[P + 2] * w[W + 1]
        out[r + 1] -= w[P + 2] * w[W] - w[P] * w[W + 2]
        out[r + 2] -= w[P] * w[W + 1] - w[P + 1] * w[W]
    if p.bodies[i, ev.SHIFT] >= 0:
        offset_residual(m, w, i, p.bodies[i, ev.SHIFT], yd, out, o)
        if p.printed[0]:
            effort(m, w, i, p.bodies[i, ev.SHIFT], -1.0, out, eta_rows)
    axpy(B[i, t.SIZE], -1.0, w, B[i, t.W_GAM], out, o)


@inner
def membrane_forces(m, w, i, out, eta_rows):
    """Adds Bᵀ(ε(η) + T Bη̇) with B = D + Qη, in units of unit compliance."""
    B = m.bodies
    n, s, long = B[i, t.N_ETA], B[i, t.N_STRAIN], B[i, t.LONG]
    BM, eta, rate = B[i, t.W_BM], B[i, t.W_Q] + 12, B[i, t.W_V] + 6
    if s == 0:
        return
    strain_slopes(B, i, m.data, m.indices, w, eta)
    time, stress = m.data[B[i, t.D_MASS] + 1], B[i, t.W_SBAR]
    for a in range(s):
        w[stress + a] = w[B[i, t.W_EPS] + a]
        if time:
            w[stress + a] += time * dot_4(long, w, BM + a * long, w, rate)
    if B[i, t.DAMPED] == t.COUPLED:
        coupled_stresses(B, i, m.data, w, rate, stress)
    for a in range(s):
        axpy(n, w[stress + a], w, BM + a * long, out, eta_rows)


@entry
def powers(m, w, p, out):
    """Powers of each entry on its two bodies, then dissipated by each body, then neglected in it; after `dae_residual`."""
    m, w, o = as_pointers(m), pointer(w), 0
    B, J = m.bodies, m.entries
    for j in range(len(J)):
        out[o + 2 * j], out[o + 2 * j + 1] = 0.0, 0.0
        for k in range(J[j, t.J_ROWS]):
            lam, rate = w[m.offsets[t.LAM] + J[j, t.J_LAM] + k], p.rows[J[j, t.J_ROW] + k, ev.R_RATE]
            out[o + 2 * j] += lam * w[rate + ev.RATE_A]
            out[o + 2 * j + 1] += lam * w[rate + ev.RATE_B]
    o += 2 * len(J)
    for i in range(len(B)):
        out[o + i] = 0.0
        if B[i, t.DAMPED]:
            eta, v = B[i, t.W_Q] + 12, B[i, t.W_V] + 6
            if B[i, t.N_STRAIN]:
                strain_slopes(B, i, m.data, m.indices, w, eta)
            out[o + i] = loss(B, i, m.data, w, v)
        constant = p.bodies[i, ev.SHIFT] >= 0 and not p.printed[0]
        out[o + len(B) + i] = neglected_power(m, w, i, p.bodies[i, ev.SHIFT]) if constant else 0.0


@entry
def kinetic_energies(m, w, p, out):
    """Replaces the kinetic energies of bodies with a constant mass matrix; after `dae_residual`."""
    m, w = as_pointers(m), pointer(w)
    for i in range(len(m.bodies)):
        if p.bodies[i, ev.SHIFT] >= 0:
            out[i] = kinetic_energy(m, w, i, p.bodies[i, ev.SHIFT])


@rare
def residual_at(m, w, p, gravity, s, y, yd, out):
    """F(t, y, ẏ), with the inputs s at t."""
    no_inline()
    ev.update(m, w, p, s, y)
    for i in range(len(m.bodies)):
        dynamic_residual(m, w, p, gravity, i, yd, out)
        kinematic_residual(m, w, p, y, i, yd, out)
    for k in range(len(p.drives)):
        D = p.drives[k]
        if D[ev.V_Y] >= 0:
            for c in range(D[ev.V_SIZE]):
                out[D[ev.V_Y] + c] = yd[D[ev.V_Y] + c] - w[D[ev.V_RATE] + c]
    for r in range(len(m.rows)):
        o = m.rows[r, t.R_COEF]
        if p.rows[r, ev.Y_LAM] >= 0:
            out[p.rows[r, ev.Y_LAM]] = w[p.rows[r, ev.R_RATE] + ev.RATE]
        if p.rows[r, ev.Y_MU] >= 0:
            out[p.rows[r, ev.Y_MU]] = w[o + t.GAP1] - w[o + t.TARGET1]


@entry
def dae_residual(m, w, p, gravity, s, y, yd, out, unit, start, groups, indptr, indices, data, x, before, after):
    """F(t, y, ẏ), with the inputs s at t; and ∂F/∂y as entries of a sparse matrix, unless `data` is empty.

    The derivatives are central differences relative to `unit`; columns of one group share no row and are varied together. x, before
    and after are workspaces of the size of y.
    """
    m, w, s, yd = as_pointers(m), pointer(w), pointer(s), pointer(yd)
    residual_at(m, w, p, gravity, s, pointer(y), yd, pointer(out))
    if len(data) == 0:
        return
    copy(len(y), pointer(y), 0, pointer(x), 0)
    for g in range(len(start) - 1):
        for side in range(2):
            for k in range(start[g], start[g + 1]):
                c = groups[k]
                nudge = NUDGE * max(abs(y[c]), unit[c])
                x[c] = y[c] + nudge if side else y[c] - nudge
            residual_at(m, w, p, gravity, s, pointer(x), yd, pointer(after if side else before))
        for k in range(start[g], start[g + 1]):
            c = groups[k]
            step = 2.0 * (x[c] - y[c])
            for e in range(indptr[c], indptr[c + 1]):
                data[e] = (after[indices[e]] - before[indices[e]]) / step
            x[c] = y[c]


@entry
def blocks(m, w, p, out):
    """M of each body, then G of each row on both of its bodies, as consecutive blocks; after `dae_residual`."""
    m, w, out, o = as_pointers(m), pointer(w), pointer(out), 0
    B, E, J = m.bodies, m.ends, m.entries
    for i in range(len(B)):
        n, lin, rot, size = B[i, t.N_ETA], B[i, t.N_LIN], B[i, t.N_ROT], B[i, t.SIZE]
        fill(size * size, 0.0, out, o)
        for k in range(lin):
            out[o + k * size + k] = m.data[B[i, t.D_MASS]]
        for a in range(rot):
            for b in range(rot):
                out[o + (lin + a) * size + lin + b] = w[B[i, t.W_J] + pair(a, b)]
            for k in range(n):
                c = w[B[i, t.W_C] + a * B[i, t.LONG] + k]
                out[o + (lin + a) * size + lin + rot + k] = c
                out[o + (lin + rot + k) * size + lin + a] = c
        for k in range(n):
            for c in range(n):
                out[o + (lin + rot + k) * size + lin + rot + c] = m.data[B[i, t.D_MFF] + k * B[i, t.LONG] + c]
        if p.bodies[i, ev.SHIFT] >= 0:
            add_offset_mass(m, w, i, p.bodies[i, ev.SHIFT], out, o)
        o += size * size
    for j in range(len(J)):
        for r in range(J[j, t.J_ROW], J[j, t.J_ROW] + J[j, t.J_ROWS]):
            for side in range(2):
                i = E[J[j, t.J_B if side else t.J_A], t.E_BODY]
                if i >= 0 and p.rows[r, ev.Y_LAM] >= 0:
                    copy(B[i, t.SIZE], w, p.rows[r, ev.G_B if side else ev.G_A], out, o)
                    o += B[i, t.SIZE]


@entry
def displace(m, p, y, x, out):
    """Moves q by x in the directions of v (rotations by rotation vectors); copies the rest of y."""
    B, y, x, out = as_pointers(m).bodies, pointer(y), pointer(x), pointer(out)
    copy(p.sizes[ev.LENGTH], y, 0, out, 0)
    for i in range(len(B)):
        n, lin, rot = B[i, t.N_ETA], B[i, t.N_LIN], B[i, t.N_ROT]
        o, u = p.bodies[i, ev.Y_Q], p.bodies[i, ev.Y_V] - p.sizes[ev.AT_V]
        axpy(lin, 1.0, x, u, out, o)
        o, u = o + lin, u + lin
        if rot == 1:
            out[o] += x[u]
            o += 1
        elif rot == 3:
            angle = math.sqrt(x[u] ** 2 + x[u + 1] ** 2 + x[u + 2] ** 2)
            c = math.cos(0.5 * angle)
            s = math.sin(0.5 * angle) / (0.5 * angle) if angle > 1e-8 else 1.0
            d0, d1, d2, d3 = quaternion_rate(y, o, s * x[u], s * x[u + 1], s * x[u + 2])
            out[o], out[o + 1], out[o + 2], out[o + 3] = (
                c * y[o] + d0,
                c * y[o + 1] + d1,
                c * y[o + 2] + d2,
                c * y[o + 3] + d3,
            )
            o += 4
        axpy(n, 1.0, x, u + rot, out, o)


@entry
def normalise(m, p, y):
    """Scales quaternions to length one, in place."""
    B = as_pointers(m).bodies
    for i in range(len(B)):
        if B[i, t.N_ROT] == 3:
            o = p.bodies[i, ev.Y_Q] + B[i, t.N_LIN]
            size = math.sqrt(y[o] ** 2 + y[o + 1] ** 2 + y[o + 2] ** 2 + y[o + 3] ** 2)
            for k in range(4):
                y[o + k] /= size


@entry
def settle_gaps(m, w, p, time):
    """Makes the gaps after `dae_residual` the reference for whole turns, and updates the ranges of laws."""
    m, w = as_pointers(m), pointer(w)
    J, R, E = m.entries, m.rows, m.ends
    for j in range(len(J)):
        for r in range(J[j, t.J_ROW], J[j, t.J_ROW] + J[j, t.J_ROWS]):
            if R[r, t.R_MODE] == t.COMPLIANT:
                rate = w[p.rows[r, ev.R_RATE] + ev.RATE]
                record_extremes(R, r, m.data, w, rate, time, E[J[j, t.J_A], t.E_END], E[J[j, t.J_B], t.E_END])
            w[R[r, t.R_COEF] + t.GAP0] = w[R[r, t.R_COEF] + t.GAP1]


@entry
def steer(m, w, p, s, y):
    """Writes prescribed efforts, driven frames and targets, and their rates, to w."""
    ev.steer(as_pointers(m), pointer(w), p, pointer(s), pointer(y))
