"""What the forces at a port add to the tangent of their own body: as it moves, its arms, directions and Q move with it, and
some forces change."""

from phloat.joints.rows import FIRST, SECOND, SEPARATION
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.body import axis
from phloat.motion.kernel.machine.compiler import hot, inner, jit
from phloat.motion.kernel.machine.dense import add_4, add_rows, cross_add, cross_product, fill
from phloat.motion.kernel.ports import (
    THIRD,
    back,
    bending_moment,
    bent_by,
    carry_end,
    carry_mean,
    clear,
    forth,
    shortening,
)
from phloat.motion.kernel.rows import direction, push, vector


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
    w[z + 3], w[z + 4], w[z + 5] = back(w, A0, w[z], w[z + 1], w[z + 2])
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
    w[z], w[z + 1], w[z + 2] = back(w, A0, f0, f1, f2)
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


# --- rows whose forces on a body change as that body moves: products of vectors that both move with it, lengths, and forces
# that follow their section

# in the scratch of a body: one of δc₁ and the three δd₁, and the forces that change by it
MOVED, CHANGED = 40, 64


@jit
def geometric(m, w, e, h):
    """D −= Σ (what the forces that change by one component of δc̄ or δd̄ do to the body) ⊗ (that component per unknown)."""
    B, E, i, j = m.bodies, m.ends, m.ends[e, t.E_BODY], m.ends[e, t.E_ENTRY]
    D, size, wide, moved, out = B[i, t.W_D], B[i, t.SIZE], B[i, t.WIDE], B[i, t.W_T] + MOVED, B[i, t.W_T] + CHANGED
    force, motion = B[i, t.W_Y], B[i, t.W_UNIT]  # units are made after D
    for k in range(12 if E[e, t.E_TURNS] else 3):
        fill(12, 0.0, w, moved)
        w[moved + k] = h if k < 3 else 0.5 * h
        clear(w, out)
        if not force_change(m, w, j, m.entries[j, t.J_B] == e, out, moved):
            return
        fill(wide, 0.0, w, force)
        carry_mean(B, E, e, m.data, w, out, force)
        clear(w, out)
        w[out + k] = 1.0
        fill(wide, 0.0, w, motion)
        carry_end(B, E, e, m.data, w, out, motion, h)
        for r in range(size):
            add_4(wide, -w[force + r], w, motion, w, D + r * wide)


@hot
def shift(w, a, side, port_shift):
    """δ of the mean of a vector by the motion of one side."""
    if a == SEPARATION:
        half = 0.5 if side else -0.5
        return half * w[port_shift], half * w[port_shift + 1], half * w[port_shift + 2]
    first = SECOND if side else FIRST
    if a < first or a >= first + 3:
        return 0.0, 0.0, 0.0
    o = port_shift + 3 + 3 * (a - first)
    return w[o], w[o + 1], w[o + 2]


@inner
def follow(m, w, j, r, lam, side, out, port_shift):
    """δ(λ |α| u/|u|) of a force that follows its section, u = Σ α d̄."""
    A, B, T = m.ends[m.entries[j, t.J_A], t.E_MEAN], m.ends[m.entries[j, t.J_B], t.E_MEAN], m.terms
    x, y, z, scale = direction(m.rows, T, r, m.data, w, A, B)
    d0, d1, d2, size = 0.0, 0.0, 0.0, x * x + y * y + z * z
    for k in range(m.rows[r, t.R_TERM], m.rows[r, t.R_TERM] + m.rows[r, t.R_P]):
        factor = m.data[T[k, t.T_FACTOR]]
        u, v, s = shift(w, T[k, t.T_A], side, port_shift)
        d0, d1, d2 = d0 + factor * u, d1 + factor * v, d2 + factor * s
    part, force = (x * d0 + y * d1 + z * d2) / size, lam * scale
    o = out + (t.TORQUE if m.rows[r, t.R_FUNCTION] == t.SPIN else t.FORCE)
    w[o] += force * (d0 - part * x)
    w[o + 1] += force * (d1 - part * y)
    w[o + 2] += force * (d2 - part * z)


@inner
def end_slope(m, w, j, r, side, port_shift):
    """δp at the end of the step."""
    A, B, T, total = m.ends[m.entries[j, t.J_A], t.E_END], m.ends[m.entries[j, t.J_B], t.E_END], m.terms, 0.0
    for k in range(m.rows[r, t.R_TERM], m.rows[r, t.R_TERM] + m.rows[r, t.R_P]):
        a, b = T[k, t.T_A], T[k, t.T_B]
        x, y, z = vector(w, A, B, a)
        u, v, s = shift(w, b, side, port_shift)
        change = x * u + y * v + z * s
        x, y, z = vector(w, A, B, b)
        u, v, s = shift(w, a, side, port_shift)
        total += 2.0 * m.data[T[k, t.T_FACTOR]] * (change + x * u + y * v + z * s)
    return total


@inner
def force_change(m, w, j, side, out, port_shift):
    """Forces at one side, in w from `out` on, that change with its own motion: δ(λ f_p α b̄) on a and δ(λ f_p α ā) on b.

    The slopes f_p and f_q are held, but for lengths: their change is what keeps a taut string from being pushed sideways.
    """
    J, R, T = m.entries, m.rows, m.terms
    any_row, other = False, out + t.OUT_SIZE  # what the rows do to the other side is not used
    on_A, on_B = (other, out) if side else (out, other)
    for n in range(J[j, t.J_ROWS]):
        r, lam = J[j, t.J_ROW] + n, w[m.where[0] + J[j, t.J_LAM] + n]
        if lam == 0.0:
            continue
        function, o = R[r, t.R_FUNCTION], R[r, t.R_COEF] + t.COEF_MEAN
        if function == t.VELOCITY or function == t.SPIN:
            if R[r, t.R_FOLLOWS] and side == 1:
                follow(m, w, j, r, lam, side, out, port_shift)
                any_row = True
            continue
        sharper = 0.0
        if function == t.LENGTH:  # f_p = 1/(l₀ + l₁)
            sharper = -lam * w[o] * w[o] * w[R[r, t.R_COEF] + t.COEF_END] * end_slope(m, w, j, r, side, port_shift)
        A, B = m.ends[J[j, t.J_A], t.E_MEAN], m.ends[J[j, t.J_B], t.E_MEAN]
        for k in range(R[r, t.R_TERM], R[r, t.R_TERM] + R[r, t.R_P] + R[r, t.R_Q]):
            a, b, factor = T[k, t.T_A], T[k, t.T_B], m.data[T[k, t.T_FACTOR]]
            force = lam * factor * w[o if k < R[r, t.R_TERM] + R[r, t.R_P] else o + 1]
            x, y, z = shift(w, b, side, port_shift)
            push(w, a, force * x, force * y, force * z, on_A, on_B)
            x, y, z = shift(w, a, side, port_shift)
            push(w, b, force * x, force * y, force * z, on_A, on_B)
            if sharper != 0.0:
                x, y, z = vector(w, A, B, b)
                push(w, a, sharper * factor * x, sharper * factor * y, sharper * factor * z, on_A, on_B)
                x, y, z = vector(w, A, B, a)
                push(w, b, sharper * factor * x, sharper * factor * y, sharper * factor * z, on_A, on_B)
        any_row = True
    return any_row
