"""The constant mass matrix of the paper's §4.3: s_u, J_u, c and the momenta are those of the undeformed body, compiled.

Without displacements u_f the acceleration of the point x of a body is

    a(x) = v̇_P + ω × v_P + ω̇ × x + ω × (ω × x) + v̇_f + 2 ω × v_f

and the inertia forces on (v_P, ω, η̇) are ∫ρa, ∫ρ x × a and ∫ρ Φᵀa. The kernel moves with the instantaneous mass centre, which is at
d = Sη/m from the undeformed one: with q = ω̇ × d + ω × (ω × d), forces on (V, ω) are, beside those at η = 0,

    −m A q   and   −m d × (AᵀV̇ − q)

M does not depend on u_f, so z_u = δH/δu_f has no kinetic part, and the loads ρ (v_P + ω × x) × ω of (14) are twice too large
("printed"). Those above need z_u = ∫Φᵀ(p_f × ω), p_f = ρ (v_P + ω × x + v_f), and ½wᵀM(0)w then changes by the power −z_uᵀη̇.

`shift` is the offset in w of S/m (3, n) of a body, followed by d, three vectors and n numbers of workspace.
"""

from phloat.motion.kernel import tables as t
from phloat.motion.kernel.body import axis, momenta, pair, strains
from phloat.motion.kernel.machine.compiler import inner
from phloat.motion.kernel.machine.dense import axpy, copy, dot, fill

VECTORS = 12  # numbers between S/m and the last n


@inner
def momenta_at_rest(m, w, i, shift, y, eta_y):
    """As `momenta`, with J, ∂J, c and p of the undeformed body and strains of the deformed one (η at y[eta_y]). Sets d."""
    B = m.bodies
    n, eta = B[i, t.N_ETA], B[i, t.W_Q] + t.Q_ETA
    fill(n, 0.0, w, eta)
    momenta(B, i, m.data, m.indices, w)
    copy(n, y, eta_y, w, eta)
    strains(B, i, m.data, m.indices, w, eta, B[i, t.W_EPS])
    for a in range(3):
        w[shift + 3 * n + a] = dot(w, shift + a * n, w, eta, n)


@inner
def set_cross(w, a, b, out):
    """w[out] = w[a] × w[b]."""
    x = w[a + 1] * w[b + 2] - w[a + 2] * w[b + 1]
    y = w[a + 2] * w[b] - w[a] * w[b + 2]
    w[out], w[out + 1], w[out + 2] = x, y, w[a] * w[b + 1] - w[a + 1] * w[b]


@inner
def offset_residual(m, w, i, shift, yd, out, o):
    """Adds −m A q to the rows of V and −m d × (AᵀV̇ − q) to those of ω; yd and out at o."""
    B = m.bodies
    lin, rot, A, mass = B[i, t.N_LIN], B[i, t.N_ROT], B[i, t.W_Q] + t.Q_A, m.data[B[i, t.D_MASS]]
    omega, d = B[i, t.W_V] + t.V_OMEGA, shift + 3 * B[i, t.N_ETA]
    rate, q, b = d + 3, d + 6, d + 9
    fill(3, 0.0, w, rate)
    for a in range(rot):
        w[rate + axis(a, rot)] = yd[o + lin + a]
    set_cross(w, omega, d, b)
    set_cross(w, omega, b, b)
    set_cross(w, rate, d, q)
    axpy(3, 1.0, w, b, w, q)
    for k in range(lin):
        out[o + k] -= mass * dot(w, A + 3 * k, w, q, 3)
    for a in range(3):
        w[b + a] = -w[q + a]
        for k in range(lin):
            w[b + a] += w[A + 3 * k + a] * yd[o + k]
    set_cross(w, d, b, b)
    for a in range(rot):
        out[o + lin + a] -= mass * w[b + axis(a, rot)]


@inner
def effort(m, w, i, shift, factor, out, o):
    """Adds factor · z_u = factor · (m (S/m)ᵀ((AᵀV + d × ω) × ω) + ½ ∂_η(ωᵀJω) − ω·Γη̇)."""
    B = m.bodies
    n, long, rot, omega = B[i, t.N_ETA], B[i, t.LONG], B[i, t.N_ROT], B[i, t.W_V] + t.V_OMEGA
    v = shift + 3 * n + 9
    velocity_at_rest(m, w, i, shift)
    set_cross(w, v, omega, v)
    for a in range(3):
        axpy(n, factor * m.data[B[i, t.D_MASS]] * w[v + a], w, shift + a * n, out, o)
    for a in range(rot):
        omega_a = w[omega + axis(a, rot)]
        axpy(n, -factor * omega_a, w, B[i, t.W_G0] + a * long, out, o)
        for b in range(rot):
            product = 0.5 * factor * omega_a * w[omega + axis(b, rot)]
            axpy(n, product, w, B[i, t.W_DJ] + pair(a, b) * long, out, o)


@inner
def neglected_power(m, w, i, shift):
    """The power −z_uᵀη̇ of the neglected dependence on u_f."""
    n = m.bodies[i, t.N_ETA]
    z_u = shift + 3 * n + VECTORS
    fill(n, 0.0, w, z_u)
    effort(m, w, i, shift, 1.0, w, z_u)
    return -dot(w, z_u, w, m.bodies[i, t.W_V] + t.V_RATE, n)


@inner
def velocity_at_rest(m, w, i, shift):
    """Sets AᵀV + d × ω, the momentum by mass without displacements, in body axes, after d and two vectors."""
    B = m.bodies
    V, A, d = B[i, t.W_V], B[i, t.W_Q] + t.Q_A, shift + 3 * B[i, t.N_ETA]
    set_cross(w, d, V + t.V_OMEGA, d + 9)
    for a in range(3):
        for k in range(3):
            w[d + 9 + a] += w[A + 3 * k + a] * w[V + k]


@inner
def add_offset_mass(m, w, i, shift, out, o):
    """Adds m A[d]× and its transpose, and m [d]×ᵀ[d]×, to the block M at o."""
    B = m.bodies
    lin, rot, size, A = B[i, t.N_LIN], B[i, t.N_ROT], B[i, t.SIZE], B[i, t.W_Q] + t.Q_A
    d, mass = shift + 3 * B[i, t.N_ETA], m.data[B[i, t.D_MASS]]
    e, x = d + 3, d + 6
    for a in range(rot):
        fill(3, 0.0, w, e)
        w[e + axis(a, rot)] = 1.0
        set_cross(w, d, e, x)
        for k in range(lin):
            value = mass * dot(w, A + 3 * k, w, x, 3)
            out[o + k * size + lin + a] += value
            out[o + (lin + a) * size + k] += value
        set_cross(w, x, d, x)
        for b in range(rot):
            out[o + (lin + b) * size + lin + a] += mass * w[x + axis(b, rot)]


@inner
def kinetic_energy(m, w, i, shift):
    """½wᵀM(0)w of one body; after `momenta_at_rest`."""
    B = m.bodies
    rot, P, V, v = B[i, t.N_ROT], B[i, t.W_P], B[i, t.W_V], shift + 3 * B[i, t.N_ETA] + 9
    velocity_at_rest(m, w, i, shift)
    total = m.data[B[i, t.D_MASS]] * dot(w, v, w, v, 3)
    total += dot(w, P + t.MOMENTUM_ETA, w, V + t.V_RATE, B[i, t.N_ETA])
    for a in range(rot):
        total += w[P + a] * w[V + t.V_OMEGA + axis(a, rot)]
    return 0.5 * total
