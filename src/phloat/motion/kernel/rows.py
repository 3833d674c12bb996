"""Rows between two ports: gaps, the forces that a multiplier puts on the ports, laws of springs and dampers.

A row is written once, as the forces that λ = 1 puts on places and directions of its ports; `ports.carry` turns them into the
discrete row (mean ports) or the derivative of the gap (end ports). Motion is that of B seen from A.
"""

import math

from phloat.motion.kernel.machine.compiler import inner, jit
from phloat.motion.kernel.tables import (
    COEF_END,
    COEF_MEAN,
    COINCIDE,
    DIR,
    DISTANCE,
    FASTEST,
    FORCE,
    GAP0,
    GAP1,
    IN_PLANE,
    LEAST,
    LEFT,
    LEFT_RATE,
    MOST,
    ON_DIR,
    P_AREA,
    P_FIRST,
    P_ORIGIN,
    PERPENDICULAR,
    R_COEF,
    R_DAMPER,
    R_I,
    R_J,
    R_K,
    R_KIND,
    R_L,
    R_LAW,
    R_N_DAMPER,
    R_N_SPRING,
    R_SPRING,
    ROTATION,
    SKEW,
    SLOWEST,
    SPIN,
    TORQUE,
    TURN,
    TWIST,
    WRENCH_V,
    WRENCH_W,
    C,
)

SMALL_TURN, HALF_TURN = 0.5, 3.0  # radians up to which skew rows and rotation vectors are meant
COS_SMALL, COS_HALF_TURN = math.cos(SMALL_TURN), math.cos(HALF_TURN)
SLACK = 1e-9  # of a range: no further beyond it is round-off
SERIES, TERMS = 0.25, 20  # 1 − cos ϑ up to which series are summed


@inner
def along(w, a, b):
    return w[a] * w[b] + w[a + 1] * w[b + 1] + w[a + 2] * w[b + 2]


@inner
def distance(w, a, b):
    x, y, z = w[b] - w[a], w[b + 1] - w[a + 1], w[b + 2] - w[a + 2]
    return math.sqrt(x * x + y * y + z * z)


# --- the rotation vector φ = κ s of B seen from A: s the skew products of the triads, κ = ϑ / sin ϑ, a function of 1 − cos ϑ ----


@inner
def _cosine(w, A, B):
    """½ (Σ d_Ai · d_Bi − 1): the cosine of the turn between two triads."""
    total = along(w, A + DIR, B + DIR) + along(w, A + DIR + 3, B + DIR + 3) + along(w, A + DIR + 6, B + DIR + 6)
    return 0.5 * (total - 1.0)


@inner
def _skew_product(w, A, B, i):
    """½ (d_Ak · d_Bj − d_Aj · d_Bk)."""
    j, k = (i + 1) % 3, (i + 2) % 3
    return 0.5 * (along(w, A + DIR + 3 * k, B + DIR + 3 * j) - along(w, A + DIR + 3 * j, B + DIR + 3 * k))


@inner
def angle_ratio(x):
    """κ = ϑ / sin ϑ for x = 1 − cos ϑ; by its series, 1 + x/3 + 2x²/15 + …, where the turn is small."""
    if x < SERIES:
        term, total = 1.0, 1.0
        for n in range(1, TERMS):
            term *= x * n / (2.0 * n + 1.0)
            total += term
        return total
    turn = math.acos(max(1.0 - x, -1.0))
    return turn / math.sin(turn)


@inner
def ratio_slope(x, y):
    """(κ(y) − κ(x)) / (y − x), without loss of digits where x and y are close; the derivative where they are equal."""
    if max(x, y) < SERIES:
        factor, power, both, total = 1.0, 1.0, 1.0, 0.0
        for n in range(1, TERMS):
            factor *= n / (2.0 * n + 1.0)
            total += factor * both
            power *= y
            both = both * x + power
        return total
    if min(x, y) < 0.4 * SERIES:
        return (angle_ratio(y) - angle_ratio(x)) / (y - x)
    a, b = math.acos(max(1.0 - x, -1.0)), math.acos(max(1.0 - y, -1.0))
    mean, half = 0.5 * (a + b), 0.5 * (b - a)
    cotangent = half / math.tan(half) if abs(half) > 1e-9 else 1.0
    return (cotangent * math.sin(mean) - mean * math.cos(mean)) / (math.sin(a) * math.sin(b) * math.sin(mean))


@jit
def gap_at(R, r, w, A, B):
    """The gap of a row between two ports held somewhere; the angle of a hinge without its turns."""
    kind, i, j = R[r, R_KIND], R[r, R_I], R[r, R_J]
    if kind == COINCIDE:
        return w[B + C + i] - w[A + C + i]
    if kind == PERPENDICULAR:
        return along(w, A + DIR + 3 * i, B + DIR + 3 * j)
    if kind == IN_PLANE:
        d = A + DIR + 3 * i
        gap = w[d] * (w[B + C] - w[A + C]) + w[d + 1] * (w[B + C + 1] - w[A + C + 1])
        return gap + w[d + 2] * (w[B + C + 2] - w[A + C + 2])
    if kind == SKEW:
        return _skew_product(w, A, B, i)
    if kind == ROTATION:
        return angle_ratio(1.0 - _cosine(w, A, B)) * _skew_product(w, A, B, i)
    if kind == TURN:
        p = along(w, A + DIR + 3 * i, B + DIR + 3 * j)
        q = along(w, A + DIR + 3 * R[r, R_K], B + DIR + 3 * R[r, R_L])
        return math.atan2(p, q)
    if kind == DISTANCE:
        return distance(w, A + C, B + C)
    return 0.0


@inner
def coefficients(R, r, w, A0, A1, B0, B1):
    """What a hinge or a distance needs beside its ports, in the mean and at the end; and the gap at the end."""
    kind, o = R[r, R_KIND], R[r, R_COEF]
    if kind == TURN:
        i, j, k, m = R[r, R_I], R[r, R_J], R[r, R_K], R[r, R_L]
        p0, p1 = along(w, A0 + DIR + 3 * i, B0 + DIR + 3 * j), along(w, A1 + DIR + 3 * i, B1 + DIR + 3 * j)
        q0, q1 = along(w, A0 + DIR + 3 * k, B0 + DIR + 3 * m), along(w, A1 + DIR + 3 * k, B1 + DIR + 3 * m)
        sine, cosine = p1 * q0 - q1 * p0, q0 * q1 + p0 * p1
        turned = math.atan2(sine, cosine)
        ratio = turned / sine if abs(sine) > 1e-9 * abs(cosine) else 1.0 / cosine
        w[o + COEF_MEAN], w[o + COEF_MEAN + 1] = 0.5 * ratio * (q0 + q1), -0.5 * ratio * (p0 + p1)
        size = p1 * p1 + q1 * q1
        w[o + COEF_END], w[o + COEF_END + 1] = q1 / size, -p1 / size
        angle = math.atan2(p1, q1)
        turns = round((w[o + GAP0] + turned - angle) / (2.0 * math.pi))
        w[o + GAP1] = angle + 2.0 * math.pi * turns
    elif kind == DISTANCE:
        l0, l1 = w[o + GAP0], distance(w, A1 + C, B1 + C)
        for a in range(3):
            d0, d1 = w[B0 + C + a] - w[A0 + C + a], w[B1 + C + a] - w[A1 + C + a]
            w[o + COEF_MEAN + a], w[o + COEF_END + a] = (d0 + d1) / (l0 + l1), d1 / l1
        w[o + GAP1] = l1
    elif kind == ROTATION:
        i = R[r, R_I]
        x0, x1 = 1.0 - _cosine(w, A0, B0), 1.0 - _cosine(w, A1, B1)
        s0, s1 = _skew_product(w, A0, B0, i), _skew_product(w, A1, B1, i)
        k0, k1 = angle_ratio(x0), angle_ratio(x1)
        # Δφ = κ̄ Δs + s̄ Δκ,  Δκ = −κ[x₀, x₁] ½ Σ Δ(d_Ai · d_Bi)
        w[o + COEF_MEAN], w[o + COEF_MEAN + 1] = 0.5 * (k0 + k1), -0.25 * (s0 + s1) * ratio_slope(x0, x1)
        w[o + COEF_END], w[o + COEF_END + 1] = k1, -0.5 * s1 * ratio_slope(x1, x1)
        w[o + GAP1] = k1 * s1
    else:
        w[o + GAP1] = gap_at(R, r, w, A1, B1)


@inner
def _on_directions(w, A, i, B, j, lam, on_A, on_B):
    """λ on the product d_Ai · d_Bj."""
    for a in range(3):
        w[on_A + ON_DIR + 3 * i + a] += lam * w[B + DIR + 3 * j + a]
        w[on_B + ON_DIR + 3 * j + a] += lam * w[A + DIR + 3 * i + a]


@inner
def followed(w, B, coef):
    """The direction Σ c_i d_i of a force in the axes of port B, with the length of c, and the inverse of its own length."""
    x, y, z, size = 0.0, 0.0, 0.0, 0.0
    for i in range(3):
        c, d = w[coef + i], B + DIR + 3 * i
        x, y, z, size = x + c * w[d], y + c * w[d + 1], z + c * w[d + 2], size + c * c
    scale = math.sqrt(size / (x * x + y * y + z * z))
    return x, y, z, scale


@inner
def pull(R, r, lam, w, A, B, coef, on_A, on_B):
    """+ the forces of λ on the ports A and B."""
    kind, i, j = R[r, R_KIND], R[r, R_I], R[r, R_J]
    if kind == COINCIDE:
        w[on_A + FORCE + i] -= lam
        w[on_B + FORCE + i] += lam
    elif kind == PERPENDICULAR:
        _on_directions(w, A, i, B, j, lam, on_A, on_B)
    elif kind == IN_PLANE:
        for a in range(3):
            w[on_A + ON_DIR + 3 * i + a] += lam * (w[B + C + a] - w[A + C + a])
            w[on_A + FORCE + a] -= lam * w[A + DIR + 3 * i + a]
            w[on_B + FORCE + a] += lam * w[A + DIR + 3 * i + a]
    elif kind == SKEW:
        a, b = (i + 1) % 3, (i + 2) % 3
        _on_directions(w, A, b, B, a, 0.5 * lam, on_A, on_B)
        _on_directions(w, A, a, B, b, -0.5 * lam, on_A, on_B)
    elif kind == TURN:
        _on_directions(w, A, i, B, j, lam * w[coef], on_A, on_B)
        _on_directions(w, A, R[r, R_K], B, R[r, R_L], lam * w[coef + 1], on_A, on_B)
    elif kind == DISTANCE:
        for a in range(3):
            w[on_A + FORCE + a] -= lam * w[coef + a]
            w[on_B + FORCE + a] += lam * w[coef + a]
    elif kind == ROTATION:
        a, b = (i + 1) % 3, (i + 2) % 3
        _on_directions(w, A, b, B, a, 0.5 * lam * w[coef], on_A, on_B)
        _on_directions(w, A, a, B, b, -0.5 * lam * w[coef], on_A, on_B)
        for k in range(3):
            _on_directions(w, A, k, B, k, lam * w[coef + 1], on_A, on_B)
    elif kind == SPIN:
        for a in range(3):
            w[on_A + TORQUE + a] -= lam * w[A + DIR + 3 * i + a]
            w[on_B + TORQUE + a] += lam * w[A + DIR + 3 * i + a]
    else:
        o = TORQUE if kind == WRENCH_W or kind == TWIST else FORCE
        x, y, z, scale = w[coef], w[coef + 1], w[coef + 2], 1.0
        if kind == WRENCH_V or kind == WRENCH_W:
            x, y, z, scale = followed(w, B, coef)
        w[on_B + o] += lam * scale * x
        w[on_B + o + 1] += lam * scale * y
        w[on_B + o + 2] += lam * scale * z


# --- laws ------------------------------------------------------------------------------------------------------------


@inner
def piece_at(data, o, n, x):
    """How many of the n bounds lie below x."""
    low, high = 0, n
    while low < high:
        middle = (low + high) >> 1
        if x > data[o + 1 + middle]:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def looked_up(data, o, n, x):
    """Piecewise polynomials with n bounds at x: value, slope and integral from 0."""
    count = int(data[o])
    at = o + 1 + n + piece_at(data, o, n, x) * (count + P_FIRST)
    past, value, slope, area = x - data[at + P_ORIGIN], 0.0, 0.0, 0.0
    for j in range(count - 1, -1, -1):
        c = data[at + P_FIRST + j]
        slope = slope * past + value
        value = value * past + c
        area = area * past + c / (j + 1)
    return value, slope, data[at + P_AREA] + area * past


@inner
def mean_within(data, at, count, a, b):
    """The mean of one polynomial between a and b, without their difference: Σ c_j/(j + 1) Σ_i aⁱ bʲ⁻ⁱ."""
    a, b = a - data[at + P_ORIGIN], b - data[at + P_ORIGIN]
    total, power, both = data[at + P_FIRST], 1.0, 1.0
    for j in range(1, count):
        power *= b
        both = both * a + power
        total += data[at + P_FIRST + j] * both / (j + 1)
    return total


@inner
def mean_value(data, o, n, a, b):
    """The mean of piecewise polynomials between a and b: piece by piece, so that no digits are lost where a and b are close."""
    low, high = min(a, b), max(a, b)
    count, k, last = int(data[o]), piece_at(data, o, n, low), piece_at(data, o, n, high)
    size = count + P_FIRST
    at = o + 1 + n + k * size
    if k == last:
        return mean_within(data, at, count, low, high)
    total, start = 0.0, low
    while k <= last:
        end = data[o + 1 + k] if k < last else high
        total += (end - start) * mean_within(data, at, count, start, end)
        start, k, at = end, k + 1, at + size
    return total / (high - low)


@inner
def _beyond(data, at, n, x):
    """Whether x lies outside n bounds, by more than round-off."""
    slack = SLACK * (data[at + n - 1] - data[at])
    return x < data[at] - slack or x > data[at + n - 1] + slack


@inner
def noted(R, r, data, w, rate, now, A, B):
    """Keep the extremes of what the law of a row is asked for, and when it was first asked beyond what it knows."""
    o, kind = R[r, R_COEF], R[r, R_KIND]
    if kind == SKEW or kind == ROTATION:
        cosine = _cosine(w, A, B)
        w[o + LEAST] = min(w[o + LEAST], cosine)
        if cosine < (COS_SMALL if kind == SKEW else COS_HALF_TURN) and w[o + LEFT] == math.inf:
            w[o + LEFT] = now
        return
    n = R[r, R_N_SPRING]
    if n > 0:
        at, x = R[r, R_SPRING] + 1, w[o + GAP1] - w[R[r, R_LAW] + 1]
        w[o + LEAST], w[o + MOST] = min(w[o + LEAST], x), max(w[o + MOST], x)
        if _beyond(data, at, n, x) and w[o + LEFT] == math.inf:
            w[o + LEFT] = now
    n = R[r, R_N_DAMPER]
    if n > 0:
        at = R[r, R_DAMPER] + 1
        w[o + SLOWEST], w[o + FASTEST] = min(w[o + SLOWEST], rate), max(w[o + FASTEST], rate)
        if _beyond(data, at, n, rate) and w[o + LEFT_RATE] == math.inf:
            w[o + LEFT_RATE] = now


@inner
def potential(R, r, data, w, gap):
    """Energy of the spring of a row."""
    law = R[r, R_LAW]
    x = gap - w[law + 1]
    energy = 0.5 * w[law] * x * x
    if R[r, R_N_SPRING]:
        energy += looked_up(data, R[r, R_SPRING], R[r, R_N_SPRING], x)[2]
    return energy


@inner
def resistance(R, r, data, w, h):
    """What the law of a row holds against its motion over the step, and its derivative by the gap at the end, times h.

    Springs give the slope of their potential between both gaps (exact in energy), dampers act on Δg/h.
    """
    o, law = R[r, R_COEF], R[r, R_LAW]
    g0, g1 = w[o + GAP0], w[o + GAP1]
    rate = (g1 - g0) / h
    force, stiff = w[law] * (0.5 * (g0 + g1) - w[law + 1]) + w[law + 2] * rate, 0.5 * h * w[law] + w[law + 2]
    n = R[r, R_N_SPRING]
    if n > 0:
        force += mean_value(data, R[r, R_SPRING], n, g0 - w[law + 1], g1 - w[law + 1])
        stiff += 0.5 * h * looked_up(data, R[r, R_SPRING], n, 0.5 * (g0 + g1) - w[law + 1])[1]
    n = R[r, R_N_DAMPER]
    if n > 0:
        value, slope, _ = looked_up(data, R[r, R_DAMPER], n, rate)
        force, stiff = force + value, stiff + slope
    return force, stiff
