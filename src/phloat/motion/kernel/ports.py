"""Ports in a step: their positions at the start, at the end and in the mean, and the generalised forces of forces on them.

    c = r + A y(η),   d_i = A (t_i + ψ × t_i + ⅓ ψ × (ψ × t_i)),   ψ = Ψη,   its derivative by ψ is A M_i(ψ)
    Δc/h = V̄ + (Qω̄) × ρ̄ + QΦv,   Δd/h = (Qω̄) × d̄ + Q M(ψ̄) Ψv                        exactly, bars are means of end values
    δc₁/h = δV + κ(Qδω) × ρ₁ + A₁Φδv,   δd₁/h = κ(Qδω) × d₁ + A₁ M(ψ₁) Ψδv,   κ = 1/(1 + |hω̄/2|²)

With y = x + Φη + ½ ηΦ₂η (beams that shorten as they bend) Φ is that at η̄ or η₁, Φ + Φ₂η: also exact, since y is quadratic.

Both lines have one form, so one function carries forces back to the body: with (mean port, Q, Q) it gives the discrete row,
with (end port, κQ, A₁) the derivative of the gap at the end.
"""

import math

from phloat.motion.kernel import tables as t
from phloat.motion.kernel.area import area_force
from phloat.motion.kernel.body import axis
from phloat.motion.kernel.machine.compiler import hot, inner
from phloat.motion.kernel.machine.dense import (
    U,
    W,
    add_4,
    add_rows,
    average_4,
    copy,
    cross_add,
    cross_product,
    dot_4,
    fill,
    matrix_products,
    rotate,
)
from phloat.motion.kernel.machine.simd import broadcast, pack, store

THIRD = 1.0 / 3.0


@inner
def ground_at(w, frame, out):
    """Writes to w[out] the point and directions of an end on the ground."""
    copy(3, w, frame, w, out + t.C)
    fill(3, 0.0, w, out + t.ARM)
    copy(9, w, frame + t.FRAME_DIR, w, out + t.DIR)
    copy(9, w, frame + t.FRAME_DIR, w, out + t.TRIAD)


@hot
def port_at(B, E, e, data, w, q, frame, out, scratch):
    """Writes to w[out] the point c, arm c − r_P and directions of the end e, for the configuration of its body at w[q].

    w[frame] holds the triad of the end and, on the ground, its point.
    """
    i = E[e, t.E_BODY]
    if E[e, t.E_TURNS] == t.AREA:
        area_force(B, E, e, data, w, q, q, 0.0)
        return
    if i < 0:
        ground_at(w, frame, out)
        return
    n, lin, point, phi = B[i, t.LONG], B[i, t.N_LIN], E[e, t.E_X], E[e, t.E_PHI]
    eta, A = q + t.Q_ETA, q + t.Q_A
    y0 = data[point] + dot_4(n, data, phi, w, eta)
    y1 = data[point + 1] + dot_4(n, data, phi + n, w, eta)
    y2 = data[point + 2]
    if lin == 3:
        y2 += dot_4(n, data, phi + 2 * n, w, eta)
    if E[e, t.E_SHORT]:
        slope = out + t.PORT_SIZE
        matrix_products(1, data, E[e, t.E_SHORT], B[i, t.N_ETA], n, w, eta, w, slope)
        y0 += 0.5 * dot_4(n, w, slope, w, eta)
    x, y, z = rotate(
        w, A, y0, y1, y2
    )  # stored as vectors, since numbers stored one by one cannot be loaded as one at once
    store(w, U(out + t.C), pack(w[q] + x, w[q + 1] + y, w[q + 2] + z, x))
    store(w, U(out + t.ARM + 1), pack(y, z, 0.0, 0.0))  # and the first two numbers of the directions
    if E[e, t.E_TURNS]:
        directions_at(B, E, e, data, w, q, frame, out, scratch)


@inner
def directions_at(B, E, e, data, w, q, frame, out, scratch):
    """d_j = A (t_j + ψ × t_j + ⅓ ψ × (ψ × t_j)), ψ = Ψη; for forces that follow the section A (t_j + a ψ × t_j + b ψ × (ψ × t_j)).

    a and b make these orthonormal: ℓ² = 1 + ψ²/3 + ψ⁴/9, a = 1/ℓ, b = (⅓ + (⅓ + ψ²/9)/(1 + ℓ))/ℓ (joints/rows.section_axes).
    """
    i = E[e, t.E_BODY]
    n, rot, psi = B[i, t.LONG], B[i, t.N_ROT], out + t.TURNED
    copy(9, w, frame + t.FRAME_DIR, w, out + t.TRIAD)
    fill(3, 0.0, w, psi)
    for a in range(rot):
        w[psi + axis(a, rot)] = dot_4(n, data, E[e, t.E_PSI] + a * n, w, q + t.Q_ETA)
    linear, quadratic = 1.0, THIRD
    if E[e, t.E_TURNS] == t.ORTHONORMAL:
        x = w[psi] * w[psi] + w[psi + 1] * w[psi + 1] + w[psi + 2] * w[psi + 2]
        length = math.sqrt(1.0 + x * (THIRD + x / 9.0))
        linear, quadratic = 1.0 / length, (THIRD + (THIRD + x / 9.0) / (1.0 + length)) / length
    for j in range(0, 9, 3):
        fill(3, 0.0, w, scratch)
        cross_add(w, psi, w, frame + t.FRAME_DIR + j, 1.0, w, scratch)
        for a in range(3):
            w[scratch + 3 + a] = w[frame + t.FRAME_DIR + j + a] + linear * w[scratch + a]
        cross_add(w, psi, w, scratch, quadratic, w, scratch + 3)
        d = out + t.DIR + j
        w[d], w[d + 1], w[d + 2] = rotate(w, q + t.Q_A, w[scratch + 3], w[scratch + 4], w[scratch + 5])


@inner
def port_start(B, E, e, data, w, scratch):
    """Sets the port of end e at the start of the step."""
    i = E[e, t.E_BODY]
    port_at(B, E, e, data, w, B[i, t.W_Q] if i >= 0 else 0, E[e, t.E_FRAME0], E[e, t.E_START], scratch)


@inner
def ground_end(E, e, w):
    """Writes the end e on the ground at the end of the step, and the mean of its start and end."""
    ground_at(w, E[e, t.E_FRAME1], E[e, t.E_END])
    average_4(t.PORT_SIZE, w, E[e, t.E_START], E[e, t.E_END], E[e, t.E_MEAN])


@hot
def port_end(B, E, e, data, w, scratch, h):
    """Writes the port of a body at the end of the step, and the mean of its start and end."""
    i = E[e, t.E_BODY]
    if E[e, t.E_TURNS] == t.AREA:
        area_force(B, E, e, data, w, B[i, t.W_Q], B[i, t.W_Q1], 0.5 * h)
        return
    start, end, mean = E[e, t.E_START], E[e, t.E_END], E[e, t.E_MEAN]
    port_at(B, E, e, data, w, B[i, t.W_Q1], E[e, t.E_FRAME1], end, scratch)
    average_4(t.POINT_SIZE, w, start, end, mean)
    if E[e, t.E_TURNS]:
        o = t.POINT_SIZE
        average_4(t.PORT_SIZE - o, w, start + o, end + o, mean + o)
    if E[e, t.E_SHORT]:
        long, o = B[i, t.LONG], t.PORT_SIZE
        average_4(long, w, start + o, end + o, mean + o)


@hot
def clear(w, o):
    """Sets the forces at w[o] to zero."""
    for k in range(U(0), U(t.OUT_SIZE), W):
        store(w, U(o) + k, broadcast(0.0))


@hot
def carry_inlined(B, E, e, data, w, port, turn, scale, bend, force, out):
    """Adds to w[out] the generalised force on the body of a port from `force`, its force f, torque τ and g_i on direction d_i.

    It is f,  scale·Rᵀ(arm × f + Σ d_i × g_i + τ),  Φᵀ(Sᵀf) + Ψᵀ(Σ t_i × Sᵀg_i + Sᵀτ), with R at `turn` and S at `bend` (3 × 3).
    """
    i = E[e, t.E_BODY]
    n, lin, rot, turns = B[i, t.LONG], B[i, t.N_LIN], B[i, t.N_ROT], E[e, t.E_TURNS]
    if turns == t.AREA:
        add_4(B[i, t.WIDE], w[force], w, E[e, t.E_MEAN], w, out)
        return
    x, y, z = w[force], w[force + 1], w[force + 2]
    w[out] += x
    w[out + 1] += y
    if lin == 3:
        w[out + 2] += z
    b0, b1, b2 = rotate_back(w, bend, x, y, z)
    add_rows(lin, n, b0, b1, b2, data, E[e, t.E_PHI], w, out + lin + rot)
    if E[e, t.E_SHORT]:
        add_4(n, b0, w, port + t.PORT_SIZE, w, out + lin + rot)
    x, y, z = cross_product(w[port + t.ARM], w[port + t.ARM + 1], w[port + t.ARM + 2], x, y, z)
    if turns:
        tau = force + t.TORQUE
        x, y, z = x + w[tau], y + w[tau + 1], z + w[tau + 2]
        b0, b1, b2 = rotate_back(w, bend, w[tau], w[tau + 1], w[tau + 2])
        for j in range(0, 9, 3):
            g, d = force + t.ON_DIR + j, port + t.DIR + j
            if w[g] != 0.0 or w[g + 1] != 0.0 or w[g + 2] != 0.0:
                u0, u1, u2 = cross_product(w[d], w[d + 1], w[d + 2], w[g], w[g + 1], w[g + 2])
                x, y, z = x + u0, y + u1, z + u2
                u0, u1, u2 = rotate_back(w, bend, w[g], w[g + 1], w[g + 2])
                u0, u1, u2 = bending_moment(w, port + t.TURNED, port + t.TRIAD + j, u0, u1, u2)
                b0, b1, b2 = b0 + u0, b1 + u1, b2 + u2
        add_rows(rot, n, b2 if rot == 1 else b0, b1, b2, data, E[e, t.E_PSI], w, out + lin + rot)
    x, y, z = rotate_back(w, turn, x, y, z)
    if rot == 1:
        w[out + lin] += scale * z
    elif rot == 3:
        w[out + lin] += scale * x
        w[out + lin + 1] += scale * y
        w[out + lin + 2] += scale * z


@hot
def rotate_back(w, A, x, y, z):
    """The product Aᵀ (x, y, z) with the 3 × 3 matrix at w[A]."""
    return (
        w[A] * x + w[A + 3] * y + w[A + 6] * z,
        w[A + 1] * x + w[A + 4] * y + w[A + 7] * z,
        w[A + 2] * x + w[A + 5] * y + w[A + 8] * z,
    )


@hot
def bending_moment(w, psi, d, x, y, z):
    """Mᵀ(ψ) g = t × g + ⅓ ((ψ × t) × g + t × (g × ψ)) for the direction t at d."""
    t0, t1, t2, p0, p1, p2 = w[d], w[d + 1], w[d + 2], w[psi], w[psi + 1], w[psi + 2]
    u0, u1, u2 = cross_product(p0, p1, p2, t0, t1, t2)
    s0, s1, s2 = cross_product(t0 + THIRD * u0, t1 + THIRD * u1, t2 + THIRD * u2, x, y, z)
    u0, u1, u2 = cross_product(x, y, z, p0, p1, p2)
    v0, v1, v2 = cross_product(t0, t1, t2, THIRD * u0, THIRD * u1, THIRD * u2)
    return s0 + v0, s1 + v1, s2 + v2


@hot
def shortening(B, i, w, h):
    """κ = 1/(1 + |hω̄/2|²)."""
    x, size = B[i, t.W_X] + B[i, t.N_LIN], 0.0
    for a in range(B[i, t.N_ROT]):
        size += w[x + a] * w[x + a]
    return 1.0 / (1.0 + 0.25 * h * h * size)


@inner
def carry(B, E, e, data, w, port, turn, scale, bend, force, out):
    """`carry_inlined` as one compiled function, for calls that need not be fast."""
    carry_inlined(B, E, e, data, w, port, turn, scale, bend, force, out)


@inner
def carry_mean(B, E, e, data, w, force, out):
    """Adds the generalised force at the mean port: a column of the discrete rows Gᵀ."""
    i = E[e, t.E_BODY]
    carry(B, E, e, data, w, E[e, t.E_MEAN], B[i, t.W_QT], 1.0, B[i, t.W_QT], force, out)


@inner
def power(B, E, e, data, w, force):
    """Power of the forces at a port with the mean velocities of the step (W)."""
    i = E[e, t.E_BODY]
    if i < 0:
        return 0.0
    fill(B[i, t.WIDE], 0.0, w, B[i, t.W_Y])
    carry_mean(B, E, e, data, w, force, B[i, t.W_Y])
    return dot_4(B[i, t.WIDE], w, B[i, t.W_Y], w, B[i, t.W_X])


@hot
def work(B, E, e, data, w, h):
    """Work of the forces at a port over the step, h × forces · velocities (J)."""
    i, force = E[e, t.E_BODY], E[e, t.E_OUT]
    if i < 0:
        return 0.0
    if E[e, t.E_TURNS]:
        return h * power(B, E, e, data, w, force)
    total, start, end = 0.0, E[e, t.E_START] + t.ARM, E[e, t.E_END] + t.ARM
    for a in range(3):  # without directions it is f · Δc
        total += w[force + a] * (w[end + a] - w[start + a])
    for a in range(B[i, t.N_LIN]):
        total += w[force + a] * h * w[B[i, t.W_X] + a]
    return total


@inner
def carry_end(B, E, e, data, w, force, out, h):
    """Adds the generalised force at the end port: a column of Ĝᵀ, the derivative of gaps at the end over h."""
    i = E[e, t.E_BODY]
    carry(B, E, e, data, w, E[e, t.E_END], B[i, t.W_QT], shortening(B, i, w, h), B[i, t.W_Q1] + t.Q_A, force, out)


@hot
def forces_on_body(B, E, e, data, w):
    """Adds the generalised force of end e to Γ of its body."""
    i = E[e, t.E_BODY]
    carry_inlined(B, E, e, data, w, E[e, t.E_MEAN], B[i, t.W_QT], 1.0, B[i, t.W_QT], E[e, t.E_OUT], B[i, t.W_GAM])
