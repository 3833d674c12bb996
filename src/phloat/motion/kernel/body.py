"""One body in one step: momenta p = M(η)w, the residual F of its equations and the tangent D = ∂F/∂x.

    x = (V̄, ω̄, v),  v = η̄̇,   η₁ = η₀ + hv,   ω₁ = 2ω̄ − ω₀,   η̇₁ = 2v − η̇₀
    J(η) = j0 + j1·η + ½ηNη,   c(η) = c0 + Γη  (Γ antisymmetric),   p_ω = Jω + cη̇,   p_η = cᵀω + M_ff η̇
    F_V = 2m(V̄ − V₀)/h − mg,   F_ω = Δp_ω/h − p̄_ω × ω̄,   F_η = Δp_η/h − f + (K η̄ + R_d v) + Bᵀs̄
    f = ½ ∂_η(w₀ᵀM w₁) at η̄,   B = ∂ε/∂η at η̄,   s̄ = mean of the end values of ε, and damping T Δε/h (unit compliance)

Δε = hBv, so damping takes h vᵀ(R_d + BᵀTB)v from the energy, exactly. T is a number τ, or a matrix where modes are damped.

Forces of ports are subtracted in `newton.residuals`. Planar bodies have one axis of rotation, point masses none.
"""

from phloat.motion.kernel import tables as t
from phloat.motion.kernel.machine.compiler import hot, inner
from phloat.motion.kernel.machine.dense import (
    U,
    W,
    add_4,
    average_4,
    copy,
    copy_4,
    dot,
    dot_4,
    matrix_products,
    multiply_rows,
    product,
    two_sum,
)
from phloat.motion.kernel.machine.simd import broadcast, load, minus, plus, store, times, total


@inner
def pair(i, j):
    """Index of the pair of axes (i, j) in the upper triangle of a symmetric 3 × 3 matrix."""
    a, b = min(i, j), max(i, j)
    return a * (5 - a) // 2 + b


@inner
def axis(i, n_rot):
    """The i-th axis of rotation of a body: z in a plane."""
    return 2 if n_rot == 1 else i


@hot
def mean_deformation(B, i):
    """Where in w η̄ is: after η₁."""
    return B[i, t.W_Q1] + t.Q_ETA + B[i, t.LONG]


@inner
def set_constant_tangent(B, i, data, w, h):
    """Sets D0 = 2/h M_ff + h/2 K + R_d, and the constant part of the tangent, for a step size.

    The rounding error of D0 is stored after it. Without, vᵀD0v would have the same error of 1e-16 of the energy at every step.
    """
    n, long, lin, size, wide = B[i, t.N_ETA], B[i, t.LONG], B[i, t.N_LIN], B[i, t.SIZE], B[i, t.WIDE]
    o, D = B[i, t.W_D0], B[i, t.W_DW]
    M, K, R = B[i, t.D_MFF], B[i, t.D_K], B[i, t.D_RD]
    for k in range(n * long):
        inertia, inertia_error = product(2.0 / h, data[M + k])
        stiffness, stiffness_error = product(0.5 * h, data[K + k])
        partial_sum, sum_error = two_sum(inertia, stiffness)
        w[o + k], last_error = two_sum(partial_sum, data[R + k])
        w[o + n * long + k] = inertia_error + stiffness_error + sum_error + last_error
    for k in range(n):
        copy(n, w, o + k * long, w, D + (size - n + k) * wide + size - n)
    for k in range(lin):
        w[D + k * wide + k] = 2.0 * data[B[i, t.D_MASS]] / h
    for k in range(size, wide):
        w[D + k * wide + k] = 1.0


@inner
def momenta(B, i, data, index, w):
    """Sets J, ∂J, c, p, Γη̇ and ε at the state (q, v)."""
    n, long, rot = B[i, t.N_ETA], B[i, t.LONG], B[i, t.N_ROT]
    pairs = rot * (rot + 1) // 2
    eta, omega, rate = B[i, t.W_Q] + t.Q_ETA, B[i, t.W_V] + t.V_OMEGA, B[i, t.W_V] + t.V_RATE
    J, dJ, c, p, g0 = B[i, t.W_J], B[i, t.W_DJ], B[i, t.W_C], B[i, t.W_P], B[i, t.W_G0]
    matrix_products(
        pairs + rot, data, B[i, t.D_N], n, long, w, eta, w, dJ
    )  # N and Γ one after the other, and so ∂J and c
    add_4((pairs + rot) * long, 1.0, data, B[i, t.D_J1], w, dJ)
    for a in range(pairs):
        twice = dot_4(long, w, dJ + a * long, w, eta) + dot_4(long, data, B[i, t.D_J1] + a * long, w, eta)
        w[J + a] = data[B[i, t.D_J0] + a] + 0.5 * twice
    matrix_products(1, data, B[i, t.D_MFF], n, long, w, rate, w, p + t.MOMENTUM_ETA)
    matrix_products(rot, data, B[i, t.D_GAMMA], n, long, w, rate, w, g0)
    for a in range(rot):
        add_4(long, w[omega + axis(a, rot)], w, c + a * long, w, p + t.MOMENTUM_ETA)
        moment = dot_4(long, w, c + a * long, w, rate)
        for b in range(rot):
            moment += w[J + pair(a, b)] * w[omega + axis(b, rot)]
        w[p + a] = moment
    strains(B, i, data, index, w, eta, B[i, t.W_EPS])


@inner
def strain_slopes(B, i, data, index, w, eta):
    """Sets B = D + Qη; Q is stored in strips of four rows: strain, first row, number of columns, columns."""
    long, BM, entry, value = B[i, t.LONG], B[i, t.W_BM], U(B[i, t.I_QUAD]), U(B[i, t.D_Q])
    eta = U(eta)
    copy_4(B[i, t.N_STRAIN] * long, data, B[i, t.D_D], w, BM)
    for _ in range(B[i, t.N_QUAD]):
        strip, count = U(BM + index[entry] * long + index[entry + U(1)]), U(index[entry + U(2)])
        entry += U(3)
        four = load(w, strip)
        for k in range(count):
            four = plus(four, broadcast(w[eta + U(index[entry + k])]), load(data, value))
            value += W
        store(w, strip, four)
        entry += count


@inner
def strains(B, i, data, index, w, eta, out):
    """Sets ε(η) + pre-stress, in units of compliance one: ε = ½ (D + B) η."""
    s, long, linear = B[i, t.N_STRAIN], B[i, t.LONG], B[i, t.W_SBAR]
    if s == 0:
        return
    strain_slopes(B, i, data, index, w, eta)
    multiply_rows(s, data, B[i, t.D_D], long, w, eta, w, linear)
    multiply_rows(s, w, B[i, t.W_BM], long, w, eta, w, out)
    average_4(s, w, linear, out, out)
    add_4(s, 1.0, w, B[i, t.W_PRE], w, out)


@inner
def round_off_force(B, i, w, x):
    """Sets the force after b: the rounding error of D0 times the rates v in the unknowns x."""
    n, long, v = B[i, t.N_ETA], B[i, t.LONG], x + B[i, t.N_LIN] + B[i, t.N_ROT]
    matrix_products(1, w, B[i, t.W_D0] + n * long, n, long, w, v, w, B[i, t.W_B] + long)


@inner
def start_step(B, i, data, index, w, h):
    """Sets the constants of a step: b = DᵀS + Kη₀ − (p_η + M_ff η̇₀)/h, p_η = cᵀω₀ + M_ff η̇₀.

    The rounding error of D0 is multiplied by the rates of the step before, which are close enough.
    """
    n, long, rot, omega, inverse = B[i, t.N_ETA], B[i, t.LONG], B[i, t.N_ROT], B[i, t.W_V] + t.V_OMEGA, 1.0 / h
    momenta(B, i, data, index, w)
    b = B[i, t.W_B]
    matrix_products(1, data, B[i, t.D_K], n, long, w, B[i, t.W_Q] + t.Q_ETA, w, b)
    round_off_force(B, i, w, B[i, t.W_OLD])
    add_4(long, 1.0, w, B[i, t.W_FPRE], w, b)
    add_4(long, -2.0 * inverse, w, B[i, t.W_P] + t.MOMENTUM_ETA, w, b)
    for a in range(rot):
        add_4(long, inverse * w[omega + axis(a, rot)], w, B[i, t.W_C] + a * long, w, b)


@inner
def velocities_at_start(B, i, w):
    """Sets the unknowns to the velocities of the state."""
    lin, rot, x, V = B[i, t.N_LIN], B[i, t.N_ROT], B[i, t.W_X], B[i, t.W_V]
    copy(lin, w, V, w, x)
    copy(rot, w, V + t.V_OMEGA + axis(0, rot), w, x + lin)
    copy(B[i, t.N_ETA], w, V + t.V_RATE, w, x + lin + rot)


@hot
def end_configuration(B, i, w, h):
    """Sets q₁ and Q: r₁ = r₀ + hV̄, A₁ = Q(I − [s])⁻¹ with Q = A₀(I + [s]), s = hω̄/2 (Cayley), η₁ = η₀ + hv; and η̄."""
    lin, rot = B[i, t.N_LIN], B[i, t.N_ROT]
    q, q1, Q, x = B[i, t.W_Q], B[i, t.W_Q1], B[i, t.W_QT], B[i, t.W_X]
    A, A1 = q + t.Q_A, q1 + t.Q_A
    for k in range(lin):
        w[q1 + k] = w[q + k] + h * w[x + k]
    eta, end, v, mean = U(q + t.Q_ETA), U(q1 + t.Q_ETA), U(x + lin + rot), U(mean_deformation(B, i))
    for k in range(U(0), U(B[i, t.LONG]), W):
        start, rate = load(w, eta + k), load(w, v + k)
        store(w, end + k, plus(start, broadcast(h), rate))
        store(w, mean + k, plus(start, broadcast(0.5 * h), rate))
    if rot == 0:
        return
    s0, s1, s2 = 0.0, 0.0, 0.5 * h * w[x + lin + rot - 1]
    if rot == 3:
        s0, s1 = 0.5 * h * w[x + lin], 0.5 * h * w[x + lin + 1]
    scale = 1.0 / (1.0 + s0 * s0 + s1 * s1 + s2 * s2)
    for k in range(0, 9, 3):
        a0, a1, a2 = w[A + k], w[A + k + 1], w[A + k + 2]
        b0, b1, b2 = a1 * s2 - a2 * s1, a2 * s0 - a0 * s2, a0 * s1 - a1 * s0
        a0, a1, a2 = a0 + b0, a1 + b1, a2 + b2
        w[Q + k], w[Q + k + 1], w[Q + k + 2] = a0, a1, a2
        b0, b1, b2 = a1 * s2 - a2 * s1, a2 * s0 - a0 * s2, a0 * s1 - a1 * s0
        c0, c1, c2 = b1 * s2 - b2 * s1, b2 * s0 - b0 * s2, b0 * s1 - b1 * s0
        w[A1 + k] = a0 + scale * (b0 + c0)
        w[A1 + k + 1] = a1 + scale * (b1 + c1)
        w[A1 + k + 2] = a2 + scale * (b2 + c2)


@hot
def body_residual(B, i, data, index, w, gravity, h):
    """Sets F at the unknowns x, without the forces of ports."""
    n, long, lin, rot = B[i, t.N_ETA], B[i, t.LONG], B[i, t.N_LIN], B[i, t.N_ROT]
    x, F, V = B[i, t.W_X], B[i, t.W_F], B[i, t.W_V]
    mass = data[B[i, t.D_MASS]]
    for a in range(lin):
        w[F + a] = mass * (2.0 / h * (w[x + a] - w[V + a]) - gravity[a])
    v, F_eta = x + lin + rot, F + lin + rot
    matrix_products(1, w, B[i, t.W_D0], n, long, w, v, w, F_eta)
    add_4(long, 1.0, w, B[i, t.W_B], w, F_eta)
    add_4(long, 1.0, w, B[i, t.W_B] + long, w, F_eta)
    membrane_residual(B, i, data, index, w, v, F_eta, h)
    if rot:
        rotation_residual(B, i, data, w, h)


@inner
def mean_inertia_slopes(B, i, data, w, h):
    """Sets ∂J(η̄) = ∂J + ½h N v and Γv, and after it η̇₁ = 2v − η̇₀."""
    n, long, lin, rot = B[i, t.N_ETA], B[i, t.LONG], B[i, t.N_LIN], B[i, t.N_ROT]
    pairs = rot * (rot + 1) // 2
    dJ, Nv, v, rate = U(B[i, t.W_DJ]), U(B[i, t.W_NV]), U(B[i, t.W_X] + lin + rot), U(B[i, t.W_V] + t.V_RATE)
    matrix_products(pairs + rot, data, B[i, t.D_N], n, long, w, v, w, Nv)
    for k in range(U(0), U(pairs * long), W):
        store(w, Nv + k, plus(load(w, dJ + k), broadcast(0.5 * h), load(w, Nv + k)))
    end = U(B[i, t.W_GV] + rot * long)
    for k in range(U(0), U(long), W):
        store(w, end + k, minus(times(broadcast(2.0), load(w, v + k)), broadcast(1.0), load(w, rate + k)))


@inner
def rotation_residual(B, i, data, w, h):
    """Sets or adds the parts of F from rotation: J₁ − J₀ = h v·∂J(η̄), c₁ = c + hΓv, and for the coordinates

    − ½ Σ ω₀ω₁ ∂J(η̄) + Σ (c₁ω₁/h − ½ (ω₀ Γᵀη̇₁ + ω₁ Γᵀη̇₀)).
    """
    long, lin, rot = U(B[i, t.LONG]), B[i, t.N_LIN], B[i, t.N_ROT]
    x, F, omega = B[i, t.W_X] + lin, B[i, t.W_F] + lin, B[i, t.W_V] + t.V_OMEGA
    v, forces = U(x + rot), U(F + rot)
    J, c, g0, mean, Gv = B[i, t.W_J], U(B[i, t.W_C]), U(B[i, t.W_G0]), U(B[i, t.W_NV]), U(B[i, t.W_GV])
    rate, inverse = Gv + U(rot) * long, 1.0 / h
    mean_inertia_slopes(B, i, data, w, h)
    for a in range(rot):
        start, o = w[omega + axis(a, rot)], U(a) * long
        end = 2.0 * w[x + a] - start
        of_c, of_Gv, of_g0 = broadcast(inverse * end), broadcast(start + end), broadcast(0.5 * (end - start))
        first, second = broadcast(0.0), broadcast(0.0)
        for k in range(U(0), long, W):
            row, slope = load(w, c + o + k), load(w, Gv + o + k)
            first, second = plus(first, row, load(w, rate + k)), plus(second, slope, load(w, rate + k))
            four = plus(plus(load(w, forces + k), of_c, row), of_Gv, slope)
            store(w, forces + k, plus(four, of_g0, load(w, g0 + o + k)))
        w[F + a] = total(plus(first, broadcast(h), second))
    for a in range(rot):
        start_a = w[omega + axis(a, rot)]
        end_a = 2.0 * w[x + a] - start_a
        for b in range(a, rot):
            start_b, o = w[omega + axis(b, rot)], mean + U(pair(a, b)) * long
            end_b = 2.0 * w[x + b] - start_b
            omega_product = start_a * end_b
            if a != b:
                omega_product += start_b * end_a
            sums, factor = broadcast(0.0), broadcast(0.5 * omega_product)
            for k in range(U(0), long, W):
                slope = load(w, o + k)
                sums = plus(sums, slope, load(w, v + k))
                store(w, forces + k, minus(load(w, forces + k), factor, slope))
            J1 = w[J + pair(a, b)] + h * total(sums)
            w[F + a] += J1 * end_b
            if a != b:
                w[F + b] += J1 * end_a
    p = B[i, t.W_P]
    if rot == 1:
        w[F] = inverse * (w[F] - w[p])
        return
    m0, m1, m2 = 0.5 * (w[F] + w[p]), 0.5 * (w[F + 1] + w[p + 1]), 0.5 * (w[F + 2] + w[p + 2])
    w[B[i, t.W_PM]], w[B[i, t.W_PM] + 1], w[B[i, t.W_PM] + 2] = m0, m1, m2
    w[F] = inverse * (w[F] - w[p]) - (m1 * w[x + 2] - m2 * w[x + 1])
    w[F + 1] = inverse * (w[F + 1] - w[p + 1]) - (m2 * w[x] - m0 * w[x + 2])
    w[F + 2] = inverse * (w[F + 2] - w[p + 2]) - (m0 * w[x + 1] - m1 * w[x])


@inner
def stresses(B, i, data, index, w, v, h):
    """Sets B = D + Qη̄ and s̄ = s₀ + (½h + τ)Bv (exact: ε is quadratic), plus T Bv if damping is a matrix."""
    s, mean, strain = B[i, t.N_STRAIN], U(B[i, t.W_SBAR]), U(B[i, t.W_EPS])
    factor = broadcast(0.5 * h + data[B[i, t.D_MASS] + t.TIME])
    strain_slopes(B, i, data, index, w, mean_deformation(B, i))
    multiply_rows(s, w, B[i, t.W_BM], B[i, t.LONG], w, v, w, B[i, t.W_SBAR])
    for a in range(U(0), U(s), W):
        store(w, mean + a, plus(load(w, strain + a), factor, load(w, mean + a)))
    if B[i, t.DAMPED] == t.COUPLED:
        coupled_stresses(B, i, data, w, v, B[i, t.W_SBAR])


@inner
def coupled_stresses(B, i, data, w, v, out):
    """Adds T Bv to the stresses at w[out]; Bv is stored at W_B1, which is set later."""
    s, long, rate, T = B[i, t.N_STRAIN], B[i, t.LONG], B[i, t.W_B1], B[i, t.D_MASS] + t.VISCOSITY
    for a in range(s):
        w[rate + a] = dot_4(long, w, B[i, t.W_BM] + a * long, w, v)
    for a in range(s):
        w[out + a] += dot(data, T + a * s, w, rate, s)


@inner
def loss(B, i, data, w, v):
    """Power lost in damping, vᵀ(R_d + BᵀTB)v (W); needs B from `strain_slopes`."""
    n, s, long, rate, T = B[i, t.N_ETA], B[i, t.N_STRAIN], B[i, t.LONG], B[i, t.W_B1], B[i, t.D_MASS] + t.VISCOSITY
    power = 0.0
    for k in range(n):
        power += w[v + k] * dot_4(long, data, B[i, t.D_RD] + k * long, w, v)
    for a in range(s):
        w[rate + a] = dot_4(long, w, B[i, t.W_BM] + a * long, w, v)
        power += data[B[i, t.D_MASS] + t.TIME] * w[rate + a] * w[rate + a]
    if B[i, t.DAMPED] == t.COUPLED:
        for a in range(s):
            power += w[rate + a] * dot(data, T + a * s, w, rate, s)
    return power


@inner
def membrane_residual(B, i, data, index, w, v, out, h):
    """Adds Bᵀs̄."""
    s, long, forces = B[i, t.N_STRAIN], B[i, t.LONG], B[i, t.W_B1]
    if s == 0:
        return
    stresses(B, i, data, index, w, v, h)
    matrix_products(1, w, B[i, t.W_BM], s, long, w, B[i, t.W_SBAR], w, forces)
    add_4(long, 1.0, w, forces, w, out)


@inner
def accept(B, i, data, index, w, h):
    """Makes the end of the step the state and adds the energy lost in damping."""
    n, lin, rot = B[i, t.N_ETA], B[i, t.N_LIN], B[i, t.N_ROT]
    q, q1, V, x = B[i, t.W_Q], B[i, t.W_Q1], B[i, t.W_V], B[i, t.W_X]
    v = x + lin + rot
    if B[i, t.DAMPED]:
        if B[i, t.N_STRAIN]:
            strain_slopes(B, i, data, index, w, mean_deformation(B, i))
        w[B[i, t.W_LOSS]] += h * loss(B, i, data, w, v)
    copy(t.Q_ETA + n, w, q1, w, q)
    for k in range(lin):
        w[V + k] = 2.0 * w[x + k] - w[V + k]
    for a in range(rot):
        component = V + t.V_OMEGA + axis(a, rot)
        w[component] = 2.0 * w[x + lin + a] - w[component]
    for k in range(n):
        w[V + t.V_RATE + k] = 2.0 * w[v + k] - w[V + t.V_RATE + k]


@inner
def energies(B, i, data, index, w, gravity):
    """Sets kinetic, elastic and potential energy at the state; computes the momenta again."""
    n, long, lin, rot = B[i, t.N_ETA], B[i, t.LONG], B[i, t.N_LIN], B[i, t.N_ROT]
    momenta(B, i, data, index, w)
    q, V, p, out = B[i, t.W_Q], B[i, t.W_V], B[i, t.W_P], B[i, t.W_ENERGY]
    kinetic, potential, mass = 0.0, 0.0, data[B[i, t.D_MASS]]
    for a in range(lin):
        kinetic += mass * w[V + a] * w[V + a]
        potential -= mass * gravity[a] * w[q + a]
    for a in range(rot):
        kinetic += w[p + a] * w[V + t.V_OMEGA + axis(a, rot)]
    kinetic += dot(w, p + t.MOMENTUM_ETA, w, V + t.V_RATE, n)
    elastic = dot(w, B[i, t.W_EPS], w, B[i, t.W_EPS], B[i, t.N_STRAIN])
    for k in range(n):
        elastic += w[q + t.Q_ETA + k] * (
            dot_4(long, data, B[i, t.D_K] + k * long, w, q + t.Q_ETA) + 2.0 * w[B[i, t.W_FPRE] + k]
        )
    w[out], w[out + 1], w[out + 2] = 0.5 * kinetic, 0.5 * elastic, potential
