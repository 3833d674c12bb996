"""Contributions of the forces at a port to the tangent of its body: arms, directions and Q move with the body, and some forces
change."""

from phloat.joints.rows import FIRST, SECOND, SEPARATION
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.area import area_tangent
from phloat.motion.kernel.body import axis
from phloat.motion.kernel.machine.compiler import hot, inner
from phloat.motion.kernel.machine.dense import add_4, add_rows, add_skew, axpy, cross_product, fill
from phloat.motion.kernel.ports import THIRD, carry, carry_end, carry_mean, clear, rotate_back
from phloat.motion.kernel.rows import direction, push, vector


@inner
def port_tangent(B, E, e, data, w, h, scratch):
    """D −= ∂(generalised force at this end)/∂x at constant forces: Q, arms and directions move.

    z = ρ̄ × f + Σ d̄ × g + τ;   δQᵀz = h/2 (A₀ᵀz) × δω, also for the f, g and τ that bend the body;   the row of ω_a has
    q_a · (δρ̄ × f + Σ δd̄ × g), the generalised force of f × q_a and g × q_a at the end of the step, times h/2.
    """
    i = E[e, t.E_BODY]
    if E[e, t.E_TURNS] == t.AREA:
        area_tangent(B, E, e, data, w, h)
        return
    lin, rot, size, wide = B[i, t.N_LIN], B[i, t.N_ROT], B[i, t.SIZE], B[i, t.WIDE]
    D, y, A0, mean, out = B[i, t.W_D], B[i, t.W_Y], B[i, t.W_Q] + t.Q_A, E[e, t.E_MEAN], E[e, t.E_OUT]
    half, forces = -0.5 * h, scratch
    if rot == 3:
        fill(wide, 0.0, w, y)
        carry(B, E, e, data, w, mean, A0, 1.0, A0, out, y)
        add_skew(w, D + lin * wide + lin, wide, half * w[y + lin], half * w[y + lin + 1], half * w[y + lin + 2])
    for a in range(rot):
        turn_forces(w, out, B[i, t.W_QT] + axis(a, rot), half, forces)
        fill(3, 0.0, w, forces + t.TORQUE)
        fill(wide, 0.0, w, y)
        carry_end(B, E, e, data, w, forces, y, h)
        axpy(size - lin, 1.0, w, y + lin, w, D + (lin + a) * wide + lin)
        turn_forces(w, out, A0 + axis(a, rot), half, forces)
        fill(wide, 0.0, w, y)
        carry(B, E, e, data, w, mean, A0, 1.0, A0, forces, y)
        for k in range(lin + rot, size):
            w[D + k * wide + lin + a] += w[y + k]
    if rot and E[e, t.E_TURNS]:
        bending_tangent(B, E, e, data, w, half, scratch)
    if E[e, t.E_SHORT]:
        shortening_tangent(B, E, e, data, w, half)


@inner
def shortening_tangent(B, E, e, data, w, scale):
    """D += scale f Φ₂ with the component f of Qᵀforce along the axis: the arm of a force on a beam depends on its bending."""
    i, force = E[e, t.E_BODY], E[e, t.E_OUT] + t.FORCE
    n, long, wide, o = B[i, t.N_ETA], B[i, t.LONG], B[i, t.WIDE], B[i, t.N_LIN] + B[i, t.N_ROT]
    along = scale * rotate_back(w, B[i, t.W_QT], w[force], w[force + 1], w[force + 2])[0]
    for k in range(n):
        add_4(long, along, data, E[e, t.E_SHORT] + k * long, w, B[i, t.W_D] + (o + k) * wide + o)


@inner
def turn_forces(w, force, column, scale, out):
    """out = scale · force × column for all forces at a port; the column of a 3 × 3 matrix begins at w[column]."""
    x, y, z = scale * w[column], scale * w[column + 3], scale * w[column + 6]
    for k in range(0, t.OUT_SIZE - 1, 3):
        f = force + k
        w[out + k], w[out + k + 1], w[out + k + 2] = cross_product(w[f], w[f + 1], w[f + 2], x, y, z)


@inner
def bending_tangent(B, E, e, data, w, scale, H):
    """D += scale ΨᵀHΨ, H = Σ ⅓ (t fᵀ + f tᵀ − 2 (t · f) I), f = Qᵀg: bending changes the moment of forces on directions."""
    i = E[e, t.E_BODY]
    long, lin, rot, wide, psi = B[i, t.LONG], B[i, t.N_LIN], B[i, t.N_ROT], B[i, t.WIDE], E[e, t.E_PSI]
    first, block = axis(0, rot), B[i, t.W_D] + (lin + rot) * (wide + 1)
    fill(9, 0.0, w, H)
    for j in range(0, 9, 3):
        g, d = E[e, t.E_OUT] + t.ON_DIR + j, E[e, t.E_MEAN] + t.TRIAD + j
        force, triad = rotate_back(w, B[i, t.W_QT], w[g], w[g + 1], w[g + 2]), (w[d], w[d + 1], w[d + 2])
        twice = 2.0 * (triad[0] * force[0] + triad[1] * force[1] + triad[2] * force[2])
        for a in range(3):
            w[H + 4 * a] -= scale * THIRD * twice
            for b in range(3):
                w[H + 3 * a + b] += scale * THIRD * (triad[a] * force[b] + force[a] * triad[b])
    for k in range(B[i, t.N_ETA]):
        x, y, z = 0.0, 0.0, 0.0
        for b in range(rot):
            bent, row = data[psi + b * long + k], H + 3 * axis(b, rot) + first
            x, y, z = x + bent * w[row], y + bent * w[row + 1], z + bent * w[row + 2]
        if x != 0.0 or y != 0.0 or z != 0.0:
            add_rows(rot, long, x, y, z, data, psi, w, block + k * wide)


# --- rows whose forces on a body change as that body moves: products of vectors that both move with it, lengths, and forces
# that follow their section

# offsets in the scratch of a body: a shift of the port (δc₁ and three δd₁), and the change of forces by it
SHIFT_OFFSET, FORCE_OFFSET = 40, 64


@inner
def geometric_tangent(m, w, e, h):
    """D −= Σ (generalised force of the forces that change by one component of δc̄ or δd̄) ⊗ (that component per unknown)."""
    B, E, i, j = m.bodies, m.ends, m.ends[e, t.E_BODY], m.ends[e, t.E_ENTRY]
    D, size, wide = B[i, t.W_D], B[i, t.SIZE], B[i, t.WIDE]
    port_shift, out = B[i, t.W_T] + SHIFT_OFFSET, B[i, t.W_T] + FORCE_OFFSET
    force, motion = B[i, t.W_Y], B[i, t.W_UNIT]  # free here: units are computed after D
    for k in range(12 if E[e, t.E_TURNS] else 3):
        fill(12, 0.0, w, port_shift)
        w[port_shift + k] = h if k < 3 else 0.5 * h
        clear(w, out)
        if not force_change(m, w, j, m.entries[j, t.J_B] == e, out, port_shift):
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
    """Change of the mean of vector number `a` by the shift of the port on one side."""
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
    """Adds δ(λ |α| u/|u|) of a force that follows its section, u = Σ α d̄."""
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
    """δp of row r at the end of the step, by the shift of the port on one side."""
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
    """Adds to w[out] the change of the forces at one side by its own motion: δ(λ f_p α b̄) on a and δ(λ f_p α ā) on b.

    f_p and f_q are constant except for lengths, where their change is the lateral stiffness of a taut string. Returns whether
    any row acts.
    """
    J, R, T = m.entries, m.rows, m.terms
    any_row, unused = False, out + t.OUT_SIZE  # forces on the other side are not used
    on_A, on_B = (unused, out) if side else (out, unused)
    for n in range(J[j, t.J_ROWS]):
        r, lam = J[j, t.J_ROW] + n, w[m.offsets[0] + J[j, t.J_LAM] + n]
        if lam == 0.0:
            continue
        function, o = R[r, t.R_FUNCTION], R[r, t.R_COEF] + t.COEF_MEAN
        if function == t.VELOCITY or function == t.SPIN:
            if R[r, t.R_FOLLOWS] and side == 1:
                follow(m, w, j, r, lam, side, out, port_shift)
                any_row = True
            continue
        slope_change = 0.0
        if function == t.LENGTH:  # f_p = 1/(l₀ + l₁)
            slope_change = -lam * w[o] * w[o] * w[R[r, t.R_COEF] + t.COEF_END] * end_slope(m, w, j, r, side, port_shift)
        A, B = m.ends[J[j, t.J_A], t.E_MEAN], m.ends[J[j, t.J_B], t.E_MEAN]
        for k in range(R[r, t.R_TERM], R[r, t.R_TERM] + R[r, t.R_P] + R[r, t.R_Q]):
            a, b, factor = T[k, t.T_A], T[k, t.T_B], m.data[T[k, t.T_FACTOR]]
            force = lam * factor * w[o if k < R[r, t.R_TERM] + R[r, t.R_P] else o + 1]
            x, y, z = shift(w, b, side, port_shift)
            push(w, a, force * x, force * y, force * z, on_A, on_B)
            x, y, z = shift(w, a, side, port_shift)
            push(w, b, force * x, force * y, force * z, on_A, on_B)
            if slope_change != 0.0:
                x, y, z = vector(w, A, B, b)
                push(w, a, slope_change * factor * x, slope_change * factor * y, slope_change * factor * z, on_A, on_B)
                x, y, z = vector(w, A, B, a)
                push(w, b, slope_change * factor * x, slope_change * factor * y, slope_change * factor * z, on_A, on_B)
        any_row = True
    return any_row
