"""The generalised force of a pressure of one on a surface of a body in a step, and its tangent.

With rows g = c + Lη + ½ηQη (bodies.area_force: F, f, m_0 … m_n about the mass centre) and the mean and change of η over the step,
the force on (V̄, ω̄, v) is

    (R F, m_0 + Σ η̄_k m_k, f),      F and f the means of the quadratics over the straight way from η₀ to η₁: g(η̄) + Δη Q Δη / 24,

so that the work of a uniform pressure on a closed surface is that of the enclosed volume, exactly. R is the rotation halfway: with
s = hω̄/2, σ = 1/√(1 + s²), κ = σ² it is A₀ (σ (I + [s]×) + β s sᵀ), β = κ / (1 + σ).

At E_MEAN stand the force (wide), η̄ and Δη (long each), the values of the rows, their slopes and QΔη (rows × long each).
"""

import math

from phloat.motion.kernel import tables as t
from phloat.motion.kernel.body import axis
from phloat.motion.kernel.machine.compiler import inner
from phloat.motion.kernel.machine.dense import add_4, axpy, cross_product, dot, fill, matrix_products, rotate


@inner
def area_places(B, E, e):
    """Offsets of η̄, Δη, values, slopes and QΔη, and the number of rows."""
    i = E[e, t.E_BODY]
    n, long = B[i, t.N_ETA], B[i, t.LONG]
    rows = B[i, t.N_LIN] + n + (1 + n) * B[i, t.N_ROT]
    mean = E[e, t.E_MEAN] + B[i, t.WIDE]
    slopes = mean + 2 * long
    bent = slopes + rows * long
    return mean, mean + long, bent + rows * long, slopes, bent, rows


@inner
def area_force(B, E, e, data, w, q0, q1, half):
    """Sets the generalised force for the way from the configuration at w[q0] to that at w[q1]; half a step, or 0 at a state."""
    i = E[e, t.E_BODY]
    n, long, lin, rot, out = B[i, t.N_ETA], B[i, t.LONG], B[i, t.N_LIN], B[i, t.N_ROT], E[e, t.E_MEAN]
    mean, change, values, slopes, bent, rows = area_places(B, E, e)
    fill(2 * long, 0.0, w, mean)
    for k in range(n):
        w[mean + k] = 0.5 * (w[q0 + t.Q_ETA + k] + w[q1 + t.Q_ETA + k])
        w[change + k] = w[q1 + t.Q_ETA + k] - w[q0 + t.Q_ETA + k]
    curved = E[e, t.E_PSI] >= 0  # the edge of a sheet has no quadratic part
    if curved:
        matrix_products(rows, data, E[e, t.E_PSI], n, long, w, mean, w, slopes)
    else:
        fill(rows * long, 0.0, w, slopes)
    for r in range(rows):
        slope, linear = slopes + r * long, E[e, t.E_PHI] + r * long
        half_quadratic = 0.5 * dot(w, mean, w, slope, n)
        w[values + r] = data[E[e, t.E_X] + r] + dot(data, linear, w, mean, n) + half_quadratic
        add_4(long, 1.0, data, linear, w, slope)
    if half != 0.0 and curved:
        swept = lin + n
        matrix_products(swept, data, E[e, t.E_PSI], n, long, w, change, w, bent)
        for r in range(swept):
            w[values + r] += dot(w, change, w, bent + r * long, n) / 24.0
        axpy(swept * long, 1.0 / 6.0, w, bent, w, slopes)
    fill(B[i, t.WIDE], 0.0, w, out)
    f0, f1, f2 = halfway(B, i, w, q0, half, *force_at(w, values, lin))
    w[out], w[out + 1] = f0, f1
    if lin == 3:
        w[out + 2] = f2
    for a in range(rot):
        m = values + lin + n + a
        total = w[m]
        for k in range(n):
            total += w[mean + k] * w[m + (1 + k) * rot]
        w[out + lin + a] = total
    for k in range(n):
        w[out + lin + rot + k] = w[values + lin + k]


@inner
def force_at(w, values, lin):
    """The three components of F."""
    return w[values], w[values + 1], w[values + 2] if lin == 3 else 0.0


@inner
def step_turn(B, i, w, half):
    """s = hω̄/2, zero at a state."""
    x, rot = B[i, t.W_X] + B[i, t.N_LIN], B[i, t.N_ROT]
    if half == 0.0:
        return 0.0, 0.0, 0.0
    if rot == 1:
        return 0.0, 0.0, half * w[x]
    return half * w[x], half * w[x + 1], half * w[x + 2]


@inner
def halfway(B, i, w, q0, half, x, y, z):
    """R (x, y, z)."""
    s0, s1, s2 = step_turn(B, i, w, half)
    sigma = 1.0 / math.sqrt(1.0 + s0 * s0 + s1 * s1 + s2 * s2)
    along = sigma * sigma / (1.0 + sigma) * (s0 * x + s1 * y + s2 * z)
    c0, c1, c2 = cross_product(s0, s1, s2, x, y, z)
    x, y, z = sigma * (x + c0) + along * s0, sigma * (y + c1) + along * s1, sigma * (z + c2) + along * s2
    return rotate(w, q0 + t.Q_A, x, y, z)


@inner
def area_tangent(B, E, e, data, w, h):
    """D −= λ ∂(generalised force)/∂x."""
    i = E[e, t.E_BODY]
    n, long, lin, rot, wide = B[i, t.N_ETA], B[i, t.LONG], B[i, t.N_LIN], B[i, t.N_ROT], B[i, t.WIDE]
    mean, _, values, slopes, _, _ = area_places(B, E, e)
    D, q0, o = B[i, t.W_D], B[i, t.W_Q], lin + rot
    scale = -0.5 * h * w[E[e, t.E_OUT]]
    for k in range(n):
        x, y = w[slopes + k], w[slopes + long + k]
        z = w[slopes + 2 * long + k] if lin == 3 else 0.0
        add_column(w, D + o + k, wide, lin, scale, halfway(B, i, w, q0, 0.5 * h, x, y, z))
    for a in range(rot):
        change = halfway_slope(B, i, w, q0, 0.5 * h, axis(a, rot), force_at(w, values, lin))
        add_column(w, D + lin + a, wide, lin, scale, change)
        m, row = lin + n + a, D + (lin + a) * wide + o
        add_4(long, scale, w, slopes + m * long, w, row)
        for k in range(n):
            add_4(long, scale * w[mean + k], w, slopes + (m + (1 + k) * rot) * long, w, row)
            w[row + k] += scale * w[values + m + (1 + k) * rot]
    for k in range(n):
        add_4(long, scale, w, slopes + (lin + k) * long, w, D + (o + k) * wide + o)


@inner
def add_column(w, column, wide, lin, scale, change):
    """Adds scale · change to the first `lin` rows of a column of D."""
    w[column] += scale * change[0]
    w[column + wide] += scale * change[1]
    if lin == 3:
        w[column + 2 * wide] += scale * change[2]


@inner
def halfway_slope(B, i, w, q0, half, a, F):
    """∂(R F)/∂s_a:  dσ = −σκ s_a,  dβ = −κ² s_a (2 + σ)/(1 + σ)²."""
    s = step_turn(B, i, w, half)
    sigma = 1.0 / math.sqrt(1.0 + s[0] * s[0] + s[1] * s[1] + s[2] * s[2])
    kappa, along = sigma * sigma, s[0] * F[0] + s[1] * F[1] + s[2] * F[2]
    beta = kappa / (1.0 + sigma)
    d_sigma, d_beta = -sigma * kappa * s[a], -kappa * kappa * s[a] * (2.0 + sigma) / ((1.0 + sigma) * (1.0 + sigma))
    e0, e1, e2 = 1.0 if a == 0 else 0.0, 1.0 if a == 1 else 0.0, 1.0 if a == 2 else 0.0
    c0, c1, c2 = cross_product(s[0], s[1], s[2], F[0], F[1], F[2])
    u0, u1, u2 = cross_product(e0, e1, e2, F[0], F[1], F[2])
    on_s = d_beta * along + beta * F[a]
    return rotate(
        w,
        q0 + t.Q_A,
        d_sigma * (F[0] + c0) + sigma * u0 + on_s * s[0] + beta * along * e0,
        d_sigma * (F[1] + c1) + sigma * u1 + on_s * s[1] + beta * along * e1,
        d_sigma * (F[2] + c2) + sigma * u2 + on_s * s[2] + beta * along * e2,
    )
