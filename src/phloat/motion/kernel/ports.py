"""Ports in a step: where they are at the start, at the end and in the mean, and what forces on them do to their body.

    c = r + A y(η),   d_i = A (t_i + ψ × t_i + ⅓ ψ × (ψ × t_i)),   ψ = Ψη,   its derivative by ψ is A M_i(ψ)
    Δc/h = V̄ + (Qω̄) × ρ̄ + QΦv,   Δd/h = (Qω̄) × d̄ + Q M(ψ̄) Ψv                        exactly, bars are means of end values
    δc₁/h = δV + κ(Qδω) × ρ₁ + A₁Φδv,   δd₁/h = κ(Qδω) × d₁ + A₁ M(ψ₁) Ψδv,   κ = 1/(1 + |hω̄/2|²)

Both lines have one form, so one function carries forces back to the body: with (mean port, Q, Q) it gives the discrete row,
with (end port, κQ, A₁) the derivative of the gap at the end.
"""

from phloat.motion.kernel.body import axis
from phloat.motion.kernel.small import (
    add_rows,
    average,
    copy,
    cross,
    cross_add,
    dot,
    fill,
    hot,
    inner,
    jit,
    rotate,
    rotate_back,
)
from phloat.motion.kernel.tables import (
    ARM,
    DIR,
    E_BODY,
    E_END,
    E_FRAME0,
    E_FRAME1,
    E_MEAN,
    E_OUT,
    E_PHI,
    E_PSI,
    E_START,
    E_TURNS,
    E_X,
    FORCE,
    N_ETA,
    N_LIN,
    N_ROT,
    ON_DIR,
    OUT_SIZE,
    PORT_SIZE,
    SIZE,
    TORQUE,
    TRIAD,
    TURNED,
    W_GAM,
    W_LU,
    W_Q,
    W_Q1,
    W_QT,
    W_X,
    C,
)

THIRD = 1.0 / 3.0


@hot
def port_at(B, E, e, data, w, q, frame, out, t):
    """c, arm, directions of an end for the configuration q and the frame's directions; t is scratch."""
    i = E[e, E_BODY]
    if i < 0:
        copy(3, w, frame, w, out + C)
        fill(3, 0.0, w, out + ARM)
        copy(9, w, frame + 3, w, out + DIR)
        copy(9, w, frame + 3, w, out + TRIAD)
        return
    n, lin, x, phi = B[i, N_ETA], B[i, N_LIN], E[e, E_X], E[e, E_PHI]
    eta, A = q + 12, q + 3
    y0 = data[x] + dot(data, phi, w, eta, n)
    y1 = data[x + 1] + dot(data, phi + n, w, eta, n)
    y2 = data[x + 2]
    if lin == 3:
        y2 += dot(data, phi + 2 * n, w, eta, n)
    for a in range(3):
        arm = w[A + 3 * a] * y0 + w[A + 3 * a + 1] * y1 + w[A + 3 * a + 2] * y2
        w[out + ARM + a] = arm
        w[out + C + a] = w[q + a] + arm
    if E[e, E_TURNS]:
        directions_at(B, E, e, data, w, q, frame, out, t)


@inner
def directions_at(B, E, e, data, w, q, frame, out, t):
    """d_j = A (t_j + ψ × t_j + ⅓ ψ × (ψ × t_j)) with ψ = Ψη."""
    i = E[e, E_BODY]
    n, rot, psi = B[i, N_ETA], B[i, N_ROT], out + TURNED
    copy(9, w, frame + 3, w, out + TRIAD)
    fill(3, 0.0, w, psi)
    for a in range(rot):
        w[psi + axis(a, rot)] = dot(data, E[e, E_PSI] + a * n, w, q + 12, n)
    for j in range(0, 9, 3):
        fill(3, 0.0, w, t)
        cross_add(w, psi, w, frame + 3 + j, 1.0, w, t)
        for a in range(3):
            w[t + 3 + a] = w[frame + 3 + j + a] + w[t + a]
        cross_add(w, psi, w, t, THIRD, w, t + 3)
        rotate(w, q + 3, w, t + 3, w, out + DIR + j)


@inner
def port_start(B, E, e, data, w, t):
    i = E[e, E_BODY]
    port_at(B, E, e, data, w, B[i, W_Q] if i >= 0 else 0, E[e, E_FRAME0], E[e, E_START], t)


@hot
def port_end(B, E, e, data, w, t):
    """At the end of the step, and the mean of start and end."""
    i = E[e, E_BODY]
    port_at(B, E, e, data, w, B[i, W_Q1] if i >= 0 else 0, E[e, E_FRAME1], E[e, E_END], t)
    average(PORT_SIZE if E[e, E_TURNS] else DIR, w, E[e, E_START], E[e, E_END], E[e, E_MEAN])


@inner
def clear(w, o):
    fill(OUT_SIZE, 0.0, w, o)


@hot
def carried(B, E, e, data, w, port, turn, scale, bend, force, out):
    """+ what `force` at a port does to (V, ω, η): f,  scale·Rᵀ(arm × f + Σ d_i × g_i + τ),  Φᵀ(Sᵀf) + Ψᵀ(Σ t_i × Sᵀg_i + Sᵀτ).

    R stands at `turn`, S at `bend` (3 × 3).
    """
    i = E[e, E_BODY]
    n, lin, rot, turns = B[i, N_ETA], B[i, N_LIN], B[i, N_ROT], E[e, E_TURNS]
    x, y, z = w[force], w[force + 1], w[force + 2]
    w[out] += x
    w[out + 1] += y
    if lin == 3:
        w[out + 2] += z
    b0, b1, b2 = back(w, bend, x, y, z)
    add_rows(lin, n, b0, b1, b2, data, E[e, E_PHI], n, w, out + lin + rot)
    x, y, z = cross(w[port + ARM], w[port + ARM + 1], w[port + ARM + 2], x, y, z)
    if turns:
        tau = force + TORQUE
        x, y, z = x + w[tau], y + w[tau + 1], z + w[tau + 2]
        b0, b1, b2 = back(w, bend, w[tau], w[tau + 1], w[tau + 2])
        for j in range(0, 9, 3):
            g, d = force + ON_DIR + j, port + DIR + j
            if w[g] != 0.0 or w[g + 1] != 0.0 or w[g + 2] != 0.0:
                u0, u1, u2 = cross(w[d], w[d + 1], w[d + 2], w[g], w[g + 1], w[g + 2])
                x, y, z = x + u0, y + u1, z + u2
                u0, u1, u2 = back(w, bend, w[g], w[g + 1], w[g + 2])
                u0, u1, u2 = bending_moment(w, port + TURNED, port + TRIAD + j, u0, u1, u2)
                b0, b1, b2 = b0 + u0, b1 + u1, b2 + u2
        add_rows(rot, n, b2 if rot == 1 else b0, b1, b2, data, E[e, E_PSI], n, w, out + lin + rot)
    x, y, z = back(w, turn, x, y, z)
    if rot == 1:
        w[out + lin] += scale * z
    elif rot == 3:
        w[out + lin] += scale * x
        w[out + lin + 1] += scale * y
        w[out + lin + 2] += scale * z


@hot
def back(w, A, x, y, z):
    """Aᵀ (x, y, z)."""
    return (
        w[A] * x + w[A + 3] * y + w[A + 6] * z,
        w[A + 1] * x + w[A + 4] * y + w[A + 7] * z,
        w[A + 2] * x + w[A + 5] * y + w[A + 8] * z,
    )


@hot
def bending_moment(w, psi, d, x, y, z):
    """Mᵀ(ψ) g = t × g + ⅓ ((ψ × t) × g + t × (g × ψ)) for the direction t at d."""
    t0, t1, t2, p0, p1, p2 = w[d], w[d + 1], w[d + 2], w[psi], w[psi + 1], w[psi + 2]
    u0, u1, u2 = cross(p0, p1, p2, t0, t1, t2)
    s0, s1, s2 = cross(t0 + THIRD * u0, t1 + THIRD * u1, t2 + THIRD * u2, x, y, z)
    u0, u1, u2 = cross(x, y, z, p0, p1, p2)
    v0, v1, v2 = cross(t0, t1, t2, THIRD * u0, THIRD * u1, THIRD * u2)
    return s0 + v0, s1 + v1, s2 + v2


@inner
def carry(B, E, e, data, w, port, turn, scale, bend, force, out):
    """The same, where it need not be fast: compiled once."""
    carried(B, E, e, data, w, port, turn, scale, bend, force, out)


@inner
def carry_mean(B, E, e, data, w, force, out):
    """The transpose of the discrete rows."""
    i = E[e, E_BODY]
    carry(B, E, e, data, w, E[e, E_MEAN], B[i, W_QT], 1.0, B[i, W_QT], force, out)


@inner
def carry_end(B, E, e, data, w, force, out, h):
    """The derivative of gaps at the end, over h."""
    i = E[e, E_BODY]
    lin, rot = B[i, N_LIN], B[i, N_ROT]
    x, size = B[i, W_X] + lin, 0.0
    for a in range(rot):
        size += w[x + a] * w[x + a]
    carry(B, E, e, data, w, E[e, E_END], B[i, W_QT], 1.0 / (1.0 + 0.25 * h * h * size), B[i, W_Q1] + 3, force, out)


@hot
def bent_by(w, psi, d, x, y, z):
    """M(ψ) u = u × t + ⅓ (u × (ψ × t) + ψ × (u × t))."""
    t0, t1, t2, p0, p1, p2 = w[d], w[d + 1], w[d + 2], w[psi], w[psi + 1], w[psi + 2]
    a0, a1, a2 = cross(p0, p1, p2, t0, t1, t2)
    u0, u1, u2 = cross(x, y, z, t0, t1, t2)
    v0, v1, v2 = cross(x, y, z, a0, a1, a2)
    s0, s1, s2 = cross(p0, p1, p2, u0, u1, u2)
    return u0 + THIRD * (v0 + s0), u1 + THIRD * (v1 + s1), u2 + THIRD * (v2 + s2)


@jit
def own_tangent(B, E, e, data, w, h, t):
    """D −= ∂(what the forces at this end do)/∂x with the forces themselves held: Q, arms and directions move.

    z = ρ̄ × f + Σ d̄ × g + τ;   δQᵀz = h/2 (A₀ᵀz) × δω;   δρ̄ = h/2 (κ(Qδω) × ρ₁ + A₁Φδv), likewise δd̄.
    """
    i = E[e, E_BODY]
    n, lin, rot, size = B[i, N_ETA], B[i, N_LIN], B[i, N_ROT], B[i, SIZE]
    if rot == 0:
        return
    D, Q, A0, A1, x = B[i, W_LU], B[i, W_QT], B[i, W_Q] + 3, B[i, W_Q1] + 3, B[i, W_X] + lin
    mean, end, out = E[e, E_MEAN], E[e, E_END], E[e, E_OUT]
    turns, o = E[e, E_TURNS], lin + rot
    z, Z, P = t, t + 6, t + 15
    for a in range(3):
        w[z + a] = w[out + TORQUE + a]
    cross_add(w, mean + ARM, w, out + FORCE, 1.0, w, z)
    _moment(w, end + ARM, out + FORCE, Z, True)
    if turns:
        for j in range(3):
            cross_add(w, mean + DIR + 3 * j, w, out + ON_DIR + 3 * j, 1.0, w, z)
            _moment(w, end + DIR + 3 * j, out + ON_DIR + 3 * j, Z, False)
    omega = 0.0
    for a in range(rot):
        omega += w[x + a] * w[x + a]
    kappa = 1.0 / (1.0 + 0.25 * h * h * omega)
    # ω–ω
    rotate_back(w, A0, w, z, w, z + 3)
    _between(w, Q, Z, Q, P)
    for a in range(rot):
        for b in range(rot):
            i_a, i_b = axis(a, rot), axis(b, rot)
            w[D + (lin + a) * size + lin + b] -= 0.5 * h * (_skew(w, z + 3, i_a, i_b) + kappa * w[P + 3 * i_a + i_b])
    if n == 0:
        return
    # ω–η: −h/2 Qᵀ[f]A₁Φ
    for a in range(3):
        for b in range(3):
            w[Z + 3 * a + b] = -_skew(w, out + FORCE, a, b)
    _between(w, Q, Z, A1, P)
    for a in range(rot):
        at = P + 3 * axis(a, rot)
        p0, p1, p2 = -0.5 * h * w[at], -0.5 * h * w[at + 1], -0.5 * h * w[at + 2]
        add_rows(lin, n, p0, p1, p2, data, E[e, E_PHI], n, w, D + (lin + a) * size + o)
    # η–ω: h/2 Φᵀ[A₀ᵀf]
    rotate_back(w, A0, w, out + FORCE, w, z)
    for a in range(lin):
        for b in range(rot):
            f, row = -0.5 * h * _skew(w, z, a, axis(b, rot)), E[e, E_PHI] + a * n
            for k in range(n):
                w[D + (o + k) * size + lin + b] += f * data[row + k]
    if turns:
        own_tangent_turned(B, E, e, data, w, h, t)


@inner
def own_tangent_turned(B, E, e, data, w, h, t):
    """What forces g on directions add: ω–η −[g]A₁M₁, η–ω Mᵀ[A₀ᵀg] and η–η the curvature of a direction by ψ, all times h/2."""
    i = E[e, E_BODY]
    n, lin, rot, size = B[i, N_ETA], B[i, N_LIN], B[i, N_ROT], B[i, SIZE]
    D, Q, A0, A1, o = B[i, W_LU], B[i, W_QT], B[i, W_Q] + 3, B[i, W_Q1] + 3, B[i, N_LIN] + B[i, N_ROT]
    mean, end, out = E[e, E_MEAN], E[e, E_END], E[e, E_OUT]
    p, on_turn, on_bend, H, half = t, t + 3, t + 12, t + 21, -0.5 * h  # H ends at t + 30
    fill(27, 0.0, w, on_turn)
    for j in range(0, 9, 3):
        g = out + ON_DIR + j
        if w[g] != 0.0 or w[g + 1] != 0.0 or w[g + 2] != 0.0:
            _turned_by(w, g, j, end, mean, Q, A0, A1, on_turn, on_bend, H)
    x, y, z = back(w, A0, w[out + TORQUE], w[out + TORQUE + 1], w[out + TORQUE + 2])
    _add_skew(w, on_bend, x, y, z)
    psi, first = E[e, E_PSI], axis(0, rot)
    for a in range(rot):
        at = on_turn + 3 * axis(a, rot) + first
        add_rows(rot, n, half * w[at], half * w[at + 1], half * w[at + 2], data, psi, n, w, D + (lin + a) * size + o)
    for k in range(n):
        moved = False
        for b in range(rot):
            w[p + b] = data[psi + b * n + k]
            moved |= w[p + b] != 0.0
        if not moved:
            continue
        x, y, z = 0.0, 0.0, 0.0
        for b in range(rot):
            row = 3 * axis(b, rot) + first
            for a in range(rot):
                w[D + (o + k) * size + lin + a] += half * w[on_bend + row + a] * w[p + b]
            bent = half * w[p + b]
            x, y, z = x + bent * w[H + row], y + bent * w[H + row + 1], z + bent * w[H + row + 2]
        add_rows(rot, n, x, y, z, data, psi, n, w, D + (o + k) * size + o)


@inner
def _turned_by(w, g, j, end, mean, Q, A0, A1, on_turn, on_bend, H):
    """What one force g on a direction adds to the three 3 × 3 matrices: Qᵀ[·]g A₁M₁, Mᵀ[A₀ᵀg] and the curvature by ψ."""
    g0, g1, g2, d = w[g], w[g + 1], w[g + 2], mean + TRIAD + j
    f0, f1, f2 = back(w, A0, g0, g1, g2)
    for b in range(3):  # column b: ψ turned about axis b, or ω about axis b
        u0, u1, u2 = 1.0 if b == 0 else 0.0, 1.0 if b == 1 else 0.0, 1.0 if b == 2 else 0.0
        x, y, z = bent_by(w, end + TURNED, end + TRIAD + j, u0, u1, u2)
        x, y, z = (
            w[A1] * x + w[A1 + 1] * y + w[A1 + 2] * z,
            w[A1 + 3] * x + w[A1 + 4] * y + w[A1 + 5] * z,
            w[A1 + 6] * x + w[A1 + 7] * y + w[A1 + 8] * z,
        )
        x, y, z = cross(x, y, z, g0, g1, g2)
        x, y, z = back(w, Q, x, y, z)
        w[on_turn + b], w[on_turn + 3 + b], w[on_turn + 6 + b] = (
            w[on_turn + b] + x,
            w[on_turn + 3 + b] + y,
            w[on_turn + 6 + b] + z,
        )
        x, y, z = cross(f0, f1, f2, u0, u1, u2)
        x, y, z = bending_moment(w, mean + TURNED, d, x, y, z)
        w[on_bend + b], w[on_bend + 3 + b], w[on_bend + 6 + b] = (
            w[on_bend + b] + x,
            w[on_bend + 3 + b] + y,
            w[on_bend + 6 + b] + z,
        )
    f0, f1, f2 = back(w, Q, g0, g1, g2)
    t0, t1, t2 = THIRD * w[d], THIRD * w[d + 1], THIRD * w[d + 2]
    w[H] -= 2.0 * (t1 * f1 + t2 * f2)
    w[H + 4] -= 2.0 * (t0 * f0 + t2 * f2)
    w[H + 8] -= 2.0 * (t0 * f0 + t1 * f1)
    for at, mixed in ((1, t0 * f1 + t1 * f0), (2, t0 * f2 + t2 * f0), (5, t1 * f2 + t2 * f1)):
        w[H + at] += mixed
        w[H + 3 * (at % 3) + at // 3] += mixed


@hot
def _add_skew(w, o, x, y, z):
    """+ [(x, y, z)]×, 3 × 3."""
    w[o + 1] -= z
    w[o + 2] += y
    w[o + 3] += z
    w[o + 5] -= x
    w[o + 6] -= y
    w[o + 7] += x


@inner
def _skew(w, o, i, j):
    """The entry (i, j) of [w]×."""
    if i == j:
        return 0.0
    k = 3 - i - j
    return -w[o + k] if (j - i) % 3 == 1 else w[o + k]


@inner
def _moment(w, a, f, Z, fresh):
    """Z += a fᵀ − (a·f) I, so that Z u = (u × a) × f."""
    inner = w[a] * w[f] + w[a + 1] * w[f + 1] + w[a + 2] * w[f + 2]
    for i in range(3):
        for j in range(3):
            value = w[a + i] * w[f + j] - (inner if i == j else 0.0)
            w[Z + 3 * i + j] = value if fresh else w[Z + 3 * i + j] + value


@inner
def _between(w, Q, Z, A, P):
    """P = QᵀZA."""
    for i in range(3):
        q0, q1, q2 = w[Q + i], w[Q + 3 + i], w[Q + 6 + i]
        z0 = q0 * w[Z] + q1 * w[Z + 3] + q2 * w[Z + 6]
        z1 = q0 * w[Z + 1] + q1 * w[Z + 4] + q2 * w[Z + 7]
        z2 = q0 * w[Z + 2] + q1 * w[Z + 5] + q2 * w[Z + 8]
        for j in range(3):
            w[P + 3 * i + j] = z0 * w[A + j] + z1 * w[A + 3 + j] + z2 * w[A + 6 + j]


@hot
def forces_on_body(B, E, e, data, w):
    """Γ += what stands at this end."""
    i = E[e, E_BODY]
    carried(B, E, e, data, w, E[e, E_MEAN], B[i, W_QT], 1.0, B[i, W_QT], E[e, E_OUT], B[i, W_GAM])
