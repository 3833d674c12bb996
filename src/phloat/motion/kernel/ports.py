"""Ports in a step: where they are at the start, at the end and in the mean, and what forces on them do to their body.

    c = r + A y(η),   d_i = A (t_i + ψ × t_i + ⅓ ψ × (ψ × t_i)),   ψ = Ψη,   its derivative by ψ is A M_i(ψ)
    Δc/h = V̄ + (Qω̄) × ρ̄ + QΦv,   Δd/h = (Qω̄) × d̄ + Q M(ψ̄) Ψv                        exactly, bars are means of end values
    δc₁/h = δV + κ(Qδω) × ρ₁ + A₁Φδv,   δd₁/h = κ(Qδω) × d₁ + A₁ M(ψ₁) Ψδv,   κ = 1/(1 + |hω̄/2|²)

Both lines have one form, so one function carries forces back to the body: with (mean port, Q, Q) it gives the discrete row,
with (end port, κQ, A₁) the derivative of the gap at the end.
"""

from phloat.motion.kernel.body import axis
from phloat.motion.kernel.small import (
    average,
    axpy,
    copy,
    cross_add,
    dot,
    fill,
    hot,
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


@jit
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


@jit
def port_start(B, E, e, data, w, t):
    i = E[e, E_BODY]
    port_at(B, E, e, data, w, B[i, W_Q] if i >= 0 else 0, E[e, E_FRAME0], E[e, E_START], t)


@hot
def port_end(B, E, e, data, w, t):
    """At the end of the step, and the mean of start and end."""
    i = E[e, E_BODY]
    port_at(B, E, e, data, w, B[i, W_Q1] if i >= 0 else 0, E[e, E_FRAME1], E[e, E_END], t)
    average(PORT_SIZE if E[e, E_TURNS] else DIR, w, E[e, E_START], E[e, E_END], E[e, E_MEAN])


@jit
def clear(w, o):
    fill(OUT_SIZE, 0.0, w, o)


@hot
def carried(B, E, e, data, w, port, turn, scale, bend, force, out, t):
    """+ what `force` at a port does to (V, ω, η): f,  scale·Rᵀ(arm × f + Σ d_i × g_i + τ),  Φᵀ(Sᵀf) + Ψᵀ(Σ t_i × Sᵀg_i + Sᵀτ).

    R stands at `turn`, S at `bend` (3 × 3); t is scratch.
    """
    i = E[e, E_BODY]
    n, lin, rot, phi = B[i, N_ETA], B[i, N_LIN], B[i, N_ROT], E[e, E_PHI]
    turns = E[e, E_TURNS]
    f0, f1, f2 = w[force], w[force + 1], w[force + 2]
    w[out] += f0
    w[out + 1] += f1
    if lin == 3:
        w[out + 2] += f2
    if rot:
        a0, a1, a2 = w[port + ARM], w[port + ARM + 1], w[port + ARM + 2]
        w[t] = a1 * f2 - a2 * f1
        w[t + 1] = a2 * f0 - a0 * f2
        w[t + 2] = a0 * f1 - a1 * f0
        if turns:
            axpy(3, 1.0, w, force + TORQUE, w, t)
            for j in range(3):
                cross_add(w, port + DIR + 3 * j, w, force + ON_DIR + 3 * j, 1.0, w, t)
        for a in range(rot):
            k = axis(a, rot)
            w[out + lin + a] += scale * (w[turn + k] * w[t] + w[turn + 3 + k] * w[t + 1] + w[turn + 6 + k] * w[t + 2])
    if n == 0:
        return
    o = out + lin + rot
    for a in range(lin):
        axpy(n, w[bend + a] * f0 + w[bend + 3 + a] * f1 + w[bend + 6 + a] * f2, data, phi + a * n, w, o)
    if turns:
        rotate_back(w, bend, w, force + TORQUE, w, t)
        for j in range(0, 9, 3):
            rotate_back(w, bend, w, force + ON_DIR + j, w, t + 3)
            bending_moment(w, port + TURNED, port + TRIAD + j, t + 3, t, t + 6)
        for a in range(rot):
            axpy(n, w[t + axis(a, rot)], data, E[e, E_PSI] + a * n, w, o)


@jit
def carry(B, E, e, data, w, port, turn, scale, bend, force, out, t):
    """The same, where it need not be fast: compiled once."""
    carried(B, E, e, data, w, port, turn, scale, bend, force, out, t)


@jit
def carry_mean(B, E, e, data, w, force, out, t):
    """The transpose of the discrete rows."""
    i = E[e, E_BODY]
    carry(B, E, e, data, w, E[e, E_MEAN], B[i, W_QT], 1.0, B[i, W_QT], force, out, t)


@jit
def carry_end(B, E, e, data, w, force, out, h, t):
    """The derivative of gaps at the end, over h."""
    i = E[e, E_BODY]
    lin, rot = B[i, N_LIN], B[i, N_ROT]
    x, size = B[i, W_X] + lin, 0.0
    for a in range(rot):
        size += w[x + a] * w[x + a]
    carry(B, E, e, data, w, E[e, E_END], B[i, W_QT], 1.0 / (1.0 + 0.25 * h * h * size), B[i, W_Q1] + 3, force, out, t)


@jit
def bending_moment(w, psi, d, g, out, t):
    """+ Mᵀ(ψ) g = t × g + ⅓ ((ψ × t) × g + t × (g × ψ)) for the direction t at d."""
    cross_add(w, d, w, g, 1.0, w, out)
    fill(6, 0.0, w, t)
    cross_add(w, psi, w, d, THIRD, w, t)
    cross_add(w, t, w, g, 1.0, w, out)
    cross_add(w, g, w, psi, THIRD, w, t + 3)
    cross_add(w, d, w, t + 3, 1.0, w, out)


@jit
def bent_by(w, psi, d, u, out, t):
    """M(ψ) u = u × t + ⅓ (u × (ψ × t) + ψ × (u × t))."""
    fill(6, 0.0, w, t)
    cross_add(w, psi, w, d, THIRD, w, t)
    cross_add(w, u, w, d, 1.0, w, t + 3)
    copy(3, w, t + 3, w, out)
    cross_add(w, u, w, t, 1.0, w, out)
    cross_add(w, psi, w, t + 3, THIRD, w, out)


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
        for b in range(lin):
            scale = -0.5 * h * w[P + 3 * axis(a, rot) + b]
            axpy(n, scale, data, E[e, E_PHI] + b * n, w, D + (lin + a) * size + o)
    # η–ω: h/2 Φᵀ[A₀ᵀf]
    rotate_back(w, A0, w, out + FORCE, w, z)
    for a in range(lin):
        for b in range(rot):
            f, row = -0.5 * h * _skew(w, z, a, axis(b, rot)), E[e, E_PHI] + a * n
            for k in range(n):
                w[D + (o + k) * size + lin + b] += f * data[row + k]
    if turns:
        own_tangent_turned(B, E, e, data, w, h, t)


@jit
def own_tangent_turned(B, E, e, data, w, h, t):
    """What forces g on directions add: ω–η −[g]A₁M₁, η–ω Mᵀ[A₀ᵀg] and η–η the curvature of a direction by ψ, all times h/2."""
    i = E[e, E_BODY]
    n, lin, rot, size = B[i, N_ETA], B[i, N_LIN], B[i, N_ROT], B[i, SIZE]
    D, Q, A0, A1, o = B[i, W_LU], B[i, W_QT], B[i, W_Q] + 3, B[i, W_Q1] + 3, B[i, N_LIN] + B[i, N_ROT]
    mean, end, out = E[e, E_MEAN], E[e, E_END], E[e, E_OUT]
    u, v, s, on_turn, on_bend, H = t, t + 3, t + 6, t + 12, t + 21, t + 30  # H ends at t + 39
    fill(27, 0.0, w, on_turn)
    for b in range(3):  # column b: ψ turned about axis b, or ω about axis b
        fill(3, 0.0, w, u)
        w[u + b] = 1.0
        for j in range(0, 9, 3):
            bent_by(w, end + TURNED, end + TRIAD + j, u, v, s)
            rotate(w, A1, w, v, w, s)
            fill(3, 0.0, w, v)
            cross_add(w, s, w, out + ON_DIR + j, 1.0, w, v)
            rotate_back(w, Q, w, v, w, s)
            for a in range(3):
                w[on_turn + 3 * a + b] += w[s + a]
            rotate_back(w, A0, w, out + ON_DIR + j, w, s)
            fill(3, 0.0, w, v)
            cross_add(w, s, w, u, 1.0, w, v)
            copy(3, w, v, w, H)
            fill(3, 0.0, w, v)
            bending_moment(w, mean + TURNED, mean + TRIAD + j, H, v, s)
            for a in range(3):
                w[on_bend + 3 * a + b] += w[v + a]
        rotate_back(w, A0, w, out + TORQUE, w, s)
        fill(3, 0.0, w, v)
        cross_add(w, s, w, u, 1.0, w, v)
        for a in range(3):
            w[on_bend + 3 * a + b] += w[v + a]
    fill(9, 0.0, w, H)
    for j in range(0, 9, 3):
        d = mean + TRIAD + j
        rotate_back(w, Q, w, out + ON_DIR + j, w, s)
        inner = w[d] * w[s] + w[d + 1] * w[s + 1] + w[d + 2] * w[s + 2]
        for a in range(3):
            for b in range(3):
                w[H + 3 * a + b] += THIRD * (w[d + a] * w[s + b] + w[s + a] * w[d + b])
            w[H + 4 * a] -= 2.0 * THIRD * inner
    for a in range(rot):
        for b in range(rot):
            k_a, k_b, row = axis(a, rot), axis(b, rot), E[e, E_PSI] + b * n
            axpy(n, -0.5 * h * w[on_turn + 3 * k_a + k_b], data, row, w, D + (lin + a) * size + o)
            f = -0.5 * h * w[on_bend + 3 * k_b + k_a]
            for k in range(n):
                w[D + (o + k) * size + lin + a] += f * data[row + k]
                bent = -0.5 * h * w[H + 3 * k_a + k_b] * data[E[e, E_PSI] + a * n + k]
                axpy(n, bent, data, row, w, D + (o + k) * size + o)


@jit
def _skew(w, o, i, j):
    """The entry (i, j) of [w]×."""
    if i == j:
        return 0.0
    k = 3 - i - j
    return -w[o + k] if (j - i) % 3 == 1 else w[o + k]


@jit
def _moment(w, a, f, Z, fresh):
    """Z += a fᵀ − (a·f) I, so that Z u = (u × a) × f."""
    inner = w[a] * w[f] + w[a + 1] * w[f + 1] + w[a + 2] * w[f + 2]
    for i in range(3):
        for j in range(3):
            value = w[a + i] * w[f + j] - (inner if i == j else 0.0)
            w[Z + 3 * i + j] = value if fresh else w[Z + 3 * i + j] + value


@jit
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
def forces_on_body(B, E, e, data, w, t):
    """Γ += what stands at this end."""
    i = E[e, E_BODY]
    carried(B, E, e, data, w, E[e, E_MEAN], B[i, W_QT], 1.0, B[i, W_QT], E[e, E_OUT], B[i, W_GAM], t)
