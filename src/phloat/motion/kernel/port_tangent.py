"""What the forces at a port add to the tangent of their own body: as it moves, its arms, directions and Q move with it."""

from phloat.motion.kernel import tables as t
from phloat.motion.kernel.body import axis
from phloat.motion.kernel.machine.compiler import hot, inner, jit
from phloat.motion.kernel.machine.dense import add_rows, cross_add, cross_product, fill, rotate_back
from phloat.motion.kernel.ports import THIRD, back, bending_moment, bent_by, forth, shortening


@jit
def own_tangent(B, E, e, data, w, h, scratch):
    """D −= ∂(what the forces at this end do)/∂x with the forces themselves held: Q, arms and directions move.

    z = ρ̄ × f + Σ d̄ × g + τ;   δQᵀz = h/2 (A₀ᵀz) × δω;   δρ̄ = h/2 (κ(Qδω) × ρ₁ + A₁Φδv), likewise δd̄.
    """
    i = E[e, t.E_BODY]
    n, long, lin, rot, wide = B[i, t.N_ETA], B[i, t.LONG], B[i, t.N_LIN], B[i, t.N_ROT], B[i, t.WIDE]
    if rot == 0:
        return
    D, Q, A0, A1 = B[i, t.W_D], B[i, t.W_QT], B[i, t.W_Q] + t.Q_A, B[i, t.W_Q1] + t.Q_A
    mean, end, out = E[e, t.E_MEAN], E[e, t.E_END], E[e, t.E_OUT]
    turns, o, half = E[e, t.E_TURNS], lin + rot, -0.5 * h
    f0, f1, f2 = w[out + t.FORCE], w[out + t.FORCE + 1], w[out + t.FORCE + 2]
    z, Z = scratch, scratch + 6
    z0, z1, z2 = cross_product(w[mean + t.ARM], w[mean + t.ARM + 1], w[mean + t.ARM + 2], f0, f1, f2)
    w[z], w[z + 1], w[z + 2] = z0 + w[out + t.TORQUE], z1 + w[out + t.TORQUE + 1], z2 + w[out + t.TORQUE + 2]
    _moment(w, end + t.ARM, out + t.FORCE, Z, True)
    if turns:
        for j in range(3):
            cross_add(w, mean + t.DIR + 3 * j, w, out + t.ON_DIR + 3 * j, 1.0, w, z)
            _moment(w, end + t.DIR + 3 * j, out + t.ON_DIR + 3 * j, Z, False)
    kappa = shortening(B, i, w, h)
    rotate_back(w, A0, w, z, w, z + 3)
    for a in range(rot):
        i_a = axis(a, rot)
        q0, q1, q2 = w[Q + i_a], w[Q + 3 + i_a], w[Q + 6 + i_a]
        # ω–ω: the row a of QᵀZQ
        x, y, u = back(w, Z, q0, q1, q2)
        for b in range(rot):
            i_b = axis(b, rot)
            turned = x * w[Q + i_b] + y * w[Q + 3 + i_b] + u * w[Q + 6 + i_b]
            w[D + (lin + a) * wide + lin + b] += half * (_skew(w, z + 3, i_a, i_b) + kappa * turned)
        # ω–η: −h/2 Qᵀ[f]A₁Φ, and f × q is the row a of −Qᵀ[f]
        x, y, u = cross_product(f0, f1, f2, q0, q1, q2)
        x, y, u = back(w, A1, half * x, half * y, half * u)
        add_rows(lin, long, x, y, u, data, E[e, t.E_PHI], w, D + (lin + a) * wide + o)
    # η–ω: h/2 Φᵀ[A₀ᵀf]
    rotate_back(w, A0, w, out + t.FORCE, w, z)
    for a in range(lin):
        for b in range(rot):
            f, row = half * _skew(w, z, a, axis(b, rot)), E[e, t.E_PHI] + a * long
            for k in range(n):
                w[D + (o + k) * wide + lin + b] += f * data[row + k]
    if turns:
        own_tangent_turned(B, E, e, data, w, h, scratch)


@inner
def own_tangent_turned(B, E, e, data, w, h, scratch):
    """What forces g on directions add: ω–η −[g]A₁M₁, η–ω Mᵀ[A₀ᵀg] and η–η the curvature of a direction by ψ, all times h/2."""
    i = E[e, t.E_BODY]
    n, long, lin, rot, wide = B[i, t.N_ETA], B[i, t.LONG], B[i, t.N_LIN], B[i, t.N_ROT], B[i, t.WIDE]
    D, Q, A0, A1, o = B[i, t.W_D], B[i, t.W_QT], B[i, t.W_Q] + t.Q_A, B[i, t.W_Q1] + t.Q_A, lin + rot
    mean, end, out = E[e, t.E_MEAN], E[e, t.E_END], E[e, t.E_OUT]
    p, on_turn, on_bend, H, half = scratch, scratch + 3, scratch + 12, scratch + 21, -0.5 * h  # H ends at scratch + 30
    fill(27, 0.0, w, on_turn)
    for j in range(0, 9, 3):
        g = out + t.ON_DIR + j
        if w[g] != 0.0 or w[g + 1] != 0.0 or w[g + 2] != 0.0:
            _turned_by(w, g, j, end, mean, Q, A0, A1, on_turn, on_bend, H)
    x, y, z = back(w, A0, w[out + t.TORQUE], w[out + t.TORQUE + 1], w[out + t.TORQUE + 2])
    _add_skew(w, on_bend, x, y, z)
    psi, first = E[e, t.E_PSI], axis(0, rot)
    for a in range(rot):
        at = on_turn + 3 * axis(a, rot) + first
        add_rows(rot, long, half * w[at], half * w[at + 1], half * w[at + 2], data, psi, w, D + (lin + a) * wide + o)
    for k in range(n):
        moved = False
        for b in range(rot):
            w[p + b] = data[psi + b * long + k]
            moved |= w[p + b] != 0.0
        if not moved:
            continue
        x, y, z = 0.0, 0.0, 0.0
        for b in range(rot):
            row = 3 * axis(b, rot) + first
            for a in range(rot):
                w[D + (o + k) * wide + lin + a] += half * w[on_bend + row + a] * w[p + b]
            bent = half * w[p + b]
            x, y, z = x + bent * w[H + row], y + bent * w[H + row + 1], z + bent * w[H + row + 2]
        add_rows(rot, long, x, y, z, data, psi, w, D + (o + k) * wide + o)


@inner
def _turned_by(w, g, j, end, mean, Q, A0, A1, on_turn, on_bend, H):
    """What one force g on a direction adds to the three 3 × 3 matrices: Qᵀ[·]g A₁M₁, Mᵀ[A₀ᵀg] and the curvature by ψ."""
    g0, g1, g2, d = w[g], w[g + 1], w[g + 2], mean + t.TRIAD + j
    f0, f1, f2 = back(w, A0, g0, g1, g2)
    for b in range(3):  # column b: ψ turned about axis b, or ω about axis b
        u0, u1, u2 = 1.0 if b == 0 else 0.0, 1.0 if b == 1 else 0.0, 1.0 if b == 2 else 0.0
        x, y, z = bent_by(w, end + t.TURNED, end + t.TRIAD + j, u0, u1, u2)
        x, y, z = forth(w, A1, x, y, z)
        x, y, z = cross_product(x, y, z, g0, g1, g2)
        x, y, z = back(w, Q, x, y, z)
        _add_column(w, on_turn + b, x, y, z)
        x, y, z = cross_product(f0, f1, f2, u0, u1, u2)
        x, y, z = bending_moment(w, mean + t.TURNED, d, x, y, z)
        _add_column(w, on_bend + b, x, y, z)
    f0, f1, f2 = back(w, Q, g0, g1, g2)
    t0, t1, t2 = THIRD * w[d], THIRD * w[d + 1], THIRD * w[d + 2]
    w[H] -= 2.0 * (t1 * f1 + t2 * f2)
    w[H + 4] -= 2.0 * (t0 * f0 + t2 * f2)
    w[H + 8] -= 2.0 * (t0 * f0 + t1 * f1)
    for at, mixed in ((1, t0 * f1 + t1 * f0), (2, t0 * f2 + t2 * f0), (5, t1 * f2 + t2 * f1)):
        w[H + at] += mixed
        w[H + 3 * (at % 3) + at // 3] += mixed


@hot
def _add_column(w, o, x, y, z):
    """+ (x, y, z) to a column of a 3 × 3 matrix."""
    w[o] += x
    w[o + 3] += y
    w[o + 6] += z


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
