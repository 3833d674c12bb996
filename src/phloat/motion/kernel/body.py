"""One body in one step: momenta p = M(η)w, the residual F of its equations and the tangent D = ∂F/∂x.

    x = (V̄, ω̄, v),  v = η̄̇,   η₁ = η₀ + hv,   ω₁ = 2ω̄ − ω₀,   η̇₁ = 2v − η̇₀
    J(η) = j0 + j1·η + ½ηNη,   c(η) = c0 + Γη  (Γ antisymmetric),   p_ω = Jω + cη̇,   p_η = cᵀω + M_ff η̇
    F_V = 2m(V̄ − V₀)/h − mg,   F_ω = Δp_ω/h − p̄_ω × ω̄,   F_η = Δp_η/h − f + (K η̄ + R_d v) + Bᵀs̄
    f = ½ ∂_η(w₀ᵀM w₁) at η̄,   B = ∂ε/∂η at η̄,   s̄ = mean of the end values of ε (unit compliance)

Forces of ports are subtracted elsewhere. Planar bodies have one axis of rotation, point masses none; the loops are the same.
"""

from phloat.motion.kernel.small import U, axpy, copy, dot, hot, inner, jit, matvec
from phloat.motion.kernel.tables import (
    D_C0,
    D_D,
    D_GAMMA,
    D_J0,
    D_J1,
    D_K,
    D_MASS,
    D_MFF,
    D_N,
    D_Q,
    D_RD,
    DAMPED,
    I_QUAD,
    N_ETA,
    N_LIN,
    N_QUAD,
    N_ROT,
    N_STRAIN,
    W_B,
    W_BM,
    W_C,
    W_D0,
    W_DJ,
    W_ENERGY,
    W_EPS,
    W_F,
    W_FPRE,
    W_G0,
    W_GV,
    W_J,
    W_LOSS,
    W_NV,
    W_P,
    W_PM,
    W_PRE,
    W_Q,
    W_Q1,
    W_QT,
    W_SBAR,
    W_V,
    W_X,
)


@inner
def pair(i, j):
    """Where the pair (i, j) of axes stands among the symmetric ones."""
    a, b = min(i, j), max(i, j)
    return a * (5 - a) // 2 + b


@inner
def axis(i, n_rot):
    """The i-th axis about which a body turns: z in a plane."""
    return 2 if n_rot == 1 else i


@inner
def set_step(B, i, data, w, h):
    """D0 = 2/h M_ff + h/2 K + R_d, the constant part of the tangent, for a step size."""
    n, o = B[i, N_ETA], B[i, W_D0]
    M, K, R = B[i, D_MFF], B[i, D_K], B[i, D_RD]
    for k in range(n * n):
        w[o + k] = 2.0 / h * data[M + k] + 0.5 * h * data[K + k] + data[R + k]


@inner
def momenta(B, i, data, index, w):
    """J, ∂J, c, p, Γη̇ and ε at the state (q, v)."""
    n, rot = B[i, N_ETA], B[i, N_ROT]
    pairs = rot * (rot + 1) // 2
    eta, omega, rate = B[i, W_Q] + 12, B[i, W_V] + 3, B[i, W_V] + 6
    J, dJ, c, p, g0 = B[i, W_J], B[i, W_DJ], B[i, W_C], B[i, W_P], B[i, W_G0]
    matvec(data, B[i, D_N], pairs * n, n, w, eta, w, dJ)
    for a in range(pairs):
        w[J + a] = data[B[i, D_J0] + a] + 0.5 * dot(w, dJ + a * n, w, eta, n) + dot(data, B[i, D_J1] + a * n, w, eta, n)
        axpy(n, 1.0, data, B[i, D_J1] + a * n, w, dJ + a * n)
    matvec(data, B[i, D_MFF], n, n, w, rate, w, p + 3)
    matvec(data, B[i, D_GAMMA], rot * n, n, w, eta, w, c)
    matvec(data, B[i, D_GAMMA], rot * n, n, w, rate, w, g0)
    for a in range(rot):
        turn = w[omega + axis(a, rot)]
        axpy(n, 1.0, data, B[i, D_C0] + a * n, w, c + a * n)
        axpy(n, turn, w, c + a * n, w, p + 3)
        total = dot(w, c + a * n, w, rate, n)
        for b in range(rot):
            total += w[J + pair(a, b)] * w[omega + axis(b, rot)]
        w[p + a] = total
    strains(B, i, data, index, w, eta, B[i, W_EPS])


@inner
def strains(B, i, data, index, w, eta, out):
    """ε(η) + pre-stress, in units of compliance one."""
    n, s, at = B[i, N_ETA], B[i, N_STRAIN], B[i, I_QUAD]
    if s == 0:
        return
    matvec(data, B[i, D_D], s, n, w, eta, w, out)
    for k in range(s):
        w[out + k] += w[B[i, W_PRE] + k]
    for k in range(B[i, N_QUAD]):
        row, column = index[at + 3 * k + 1], index[at + 3 * k + 2]
        w[out + index[at + 3 * k]] += 0.5 * data[B[i, D_Q] + k] * w[eta + row] * w[eta + column]


@jit
def begin(B, i, data, index, w, h):
    """What does not change during the iterations of a step: b = DᵀS + Kη₀ − (p_η + M_ff η̇₀)/h, p_η = cᵀω₀ + M_ff η̇₀."""
    n, rot, omega, inverse = B[i, N_ETA], B[i, N_ROT], B[i, W_V] + 3, 1.0 / h
    momenta(B, i, data, index, w)
    b, p, before = B[i, W_B], B[i, W_P] + 3, B[i, W_FPRE]
    matvec(data, B[i, D_K], n, n, w, B[i, W_Q] + 12, w, b)
    for k in range(n):
        w[b + k] += w[before + k] - 2.0 * inverse * w[p + k]
    for a in range(rot):
        axpy(n, inverse * w[omega + axis(a, rot)], w, B[i, W_C] + a * n, w, b)


@hot
def end_configuration(B, i, w, h):
    """q₁ and Q from the unknowns: r₁ = r₀ + hV̄, A₁ = Q(I − [s])⁻¹ with Q = A₀(I + [s]), s = hω̄/2 (Cayley), η₁ = η₀ + hv."""
    n, lin, rot = B[i, N_ETA], B[i, N_LIN], B[i, N_ROT]
    q, q1, Q, x = B[i, W_Q], B[i, W_Q1], B[i, W_QT], B[i, W_X]
    for k in range(lin):
        w[q1 + k] = w[q + k] + h * w[x + k]
    for k in range(n):
        w[q1 + 12 + k] = w[q + 12 + k] + h * w[x + lin + rot + k]
    if rot == 0:
        return
    s0, s1, s2 = 0.0, 0.0, 0.5 * h * w[x + lin + rot - 1]
    if rot == 3:
        s0, s1 = 0.5 * h * w[x + lin], 0.5 * h * w[x + lin + 1]
    scale = 1.0 / (1.0 + s0 * s0 + s1 * s1 + s2 * s2)
    for k in range(0, 9, 3):
        a0, a1, a2 = w[q + 3 + k], w[q + 4 + k], w[q + 5 + k]
        b0, b1, b2 = a1 * s2 - a2 * s1, a2 * s0 - a0 * s2, a0 * s1 - a1 * s0
        a0, a1, a2 = a0 + b0, a1 + b1, a2 + b2
        w[Q + k], w[Q + k + 1], w[Q + k + 2] = a0, a1, a2
        b0, b1, b2 = a1 * s2 - a2 * s1, a2 * s0 - a0 * s2, a0 * s1 - a1 * s0
        c0, c1, c2 = b1 * s2 - b2 * s1, b2 * s0 - b0 * s2, b0 * s1 - b1 * s0
        w[q1 + 3 + k] = a0 + scale * (b0 + c0)
        w[q1 + 4 + k] = a1 + scale * (b1 + c1)
        w[q1 + 5 + k] = a2 + scale * (b2 + c2)


@hot
def residual(B, i, data, index, w, gravity, h):
    """F at the unknowns x, without the forces of ports."""
    n, lin, rot = B[i, N_ETA], B[i, N_LIN], B[i, N_ROT]
    x, F, V = B[i, W_X], B[i, W_F], B[i, W_V]
    mass = data[B[i, D_MASS]]
    for a in range(lin):
        w[F + a] = mass * (2.0 * (w[x + a] - w[V + a]) / h - gravity[a])
    v, at = x + lin + rot, F + lin + rot
    matvec(w, B[i, W_D0], n, n, w, v, w, at)
    axpy(n, 1.0, w, B[i, W_B], w, at)
    membrane(B, i, data, index, w, v, at, h)
    if rot:
        turning(B, i, data, w, h)


@hot
def turning(B, i, data, w, h):
    """The parts of F that come from rotation."""
    n, lin, rot = B[i, N_ETA], B[i, N_LIN], B[i, N_ROT]
    x, F, omega = B[i, W_X] + lin, B[i, W_F] + lin, B[i, W_V] + 3
    v, at, rate = x + rot, F + rot, B[i, W_V] + 6
    J, dJ, c, g0, Nv, Gv = B[i, W_J], B[i, W_DJ], B[i, W_C], B[i, W_G0], B[i, W_NV], B[i, W_GV]
    matvec(data, B[i, D_N], rot * (rot + 1) // 2 * n, n, w, v, w, Nv)
    matvec(data, B[i, D_GAMMA], rot * n, n, w, v, w, Gv)
    for a in range(rot):
        start_a = w[omega + axis(a, rot)]
        end_a = 2.0 * w[x + a] - start_a
        p1 = 0.0
        for b in range(rot):
            o = pair(a, b) * n
            start_b = w[omega + axis(b, rot)]
            end_b = 2.0 * w[x + b] - start_b
            change = swelling(n, h, 0.5 * start_a * end_b, w, dJ + o, Nv + o, v, at)
            p1 += (w[J + pair(a, b)] + change) * end_b
        w[F + a] = p1 + whirling(n, h, start_a, end_a, w, c + a * n, Gv + a * n, g0 + a * n, v, rate, at)
    p = B[i, W_P]
    if rot == 1:
        w[F] = (w[F] - w[p]) / h
        return
    m0, m1, m2 = 0.5 * (w[F] + w[p]), 0.5 * (w[F + 1] + w[p + 1]), 0.5 * (w[F + 2] + w[p + 2])
    w[B[i, W_PM]], w[B[i, W_PM] + 1], w[B[i, W_PM] + 2] = m0, m1, m2
    w[F] = (w[F] - w[p]) / h - (m1 * w[x + 2] - m2 * w[x + 1])
    w[F + 1] = (w[F + 1] - w[p + 1]) / h - (m2 * w[x] - m0 * w[x + 2])
    w[F + 2] = (w[F + 2] - w[p + 2]) / h - (m0 * w[x + 1] - m1 * w[x])


@hot
def swelling(n, h, both, w, dJ, Nv, v, at):
    """J₁ − J₀ = h v·∂J(η̄), and − ½ ω₀ω₁ ∂J(η̄) on the coordinates."""
    dJ, Nv, v, at, change = U(dJ), U(Nv), U(v), U(at), 0.0
    for k in range(U(n)):
        mean = w[dJ + k] + 0.5 * h * w[Nv + k]
        change += w[v + k] * mean
        w[at + k] -= both * mean
    return h * change


@hot
def whirling(n, h, start, end, w, c, Gv, g0, v, rate, at):
    """c(η₁)·η̇₁, and on the coordinates c(η₁)ω₁/h − ½ (ω₀ Γᵀη̇₁ + ω₁ Γᵀη̇₀)."""
    c, Gv, g0, v, rate, at, total = U(c), U(Gv), U(g0), U(v), U(rate), U(at), 0.0
    for k in range(U(n)):
        c1 = w[c + k] + h * w[Gv + k]
        total += c1 * (2.0 * w[v + k] - w[rate + k])
        w[at + k] += c1 * end / h + start * w[Gv + k] + 0.5 * (end - start) * w[g0 + k]
    return total


@hot
def membrane(B, i, data, index, w, v, at, h):
    """+ Bᵀs̄ with B = D + Qη̄, s̄ = s₀ + ½hBv (exact: ε is quadratic)."""
    n, s = B[i, N_ETA], B[i, N_STRAIN]
    if s == 0:
        return
    BM, quad, q1 = B[i, W_BM], B[i, I_QUAD], B[i, W_Q] + 12
    copy(s * n, data, B[i, D_D], w, BM)
    for k in range(B[i, N_QUAD]):
        column = index[quad + 3 * k + 2]
        middle = w[q1 + column] + 0.5 * h * w[v + column]
        w[BM + index[quad + 3 * k] * n + index[quad + 3 * k + 1]] += data[B[i, D_Q] + k] * middle
    for a in range(s):
        stress = w[B[i, W_EPS] + a] + 0.5 * h * dot(w, BM + a * n, w, v, n)
        w[B[i, W_SBAR] + a] = stress
        axpy(n, stress, w, BM + a * n, w, at)


@inner
def accept(B, i, data, w, h):
    """The end of the step becomes the state; what damping took is counted."""
    n, lin, rot = B[i, N_ETA], B[i, N_LIN], B[i, N_ROT]
    q, q1, V, x = B[i, W_Q], B[i, W_Q1], B[i, W_V], B[i, W_X]
    copy(12 + n, w, q1, w, q)
    for k in range(lin):
        w[V + k] = 2.0 * w[x + k] - w[V + k]
    for a in range(rot):
        at = V + 3 + axis(a, rot)
        w[at] = 2.0 * w[x + lin + a] - w[at]
    v = x + lin + rot
    for k in range(n):
        w[V + 6 + k] = 2.0 * w[v + k] - w[V + 6 + k]
    if B[i, DAMPED]:
        loss = 0.0
        for k in range(n):
            loss += w[v + k] * dot(data, B[i, D_RD] + k * n, w, v, n)
        w[B[i, W_LOSS]] += h * loss


@inner
def energies(B, i, data, index, w, gravity):
    """Kinetic, elastic and potential energy at the state; momenta are made anew."""
    n, lin, rot = B[i, N_ETA], B[i, N_LIN], B[i, N_ROT]
    momenta(B, i, data, index, w)
    q, V, p, out = B[i, W_Q], B[i, W_V], B[i, W_P], B[i, W_ENERGY]
    kinetic, potential, mass = 0.0, 0.0, data[B[i, D_MASS]]
    for a in range(lin):
        kinetic += mass * w[V + a] * w[V + a]
        potential -= mass * gravity[a] * w[q + a]
    for a in range(rot):
        kinetic += w[p + a] * w[V + 3 + axis(a, rot)]
    kinetic += dot(w, p + 3, w, V + 6, n)
    elastic = dot(w, B[i, W_EPS], w, B[i, W_EPS], B[i, N_STRAIN])
    for k in range(n):
        elastic += w[q + 12 + k] * (dot(data, B[i, D_K] + k * n, w, q + 12, n) + 2.0 * w[B[i, W_FPRE] + k])
    w[out], w[out + 1], w[out + 2] = 0.5 * kinetic, 0.5 * elastic, potential
