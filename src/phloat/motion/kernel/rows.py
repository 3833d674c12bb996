"""Rows between two ports: gaps, the forces that a multiplier puts on the ports, laws of springs and dampers.

A row is written once, as the forces that λ = 1 puts on places and directions of its ports; `ports.carry` turns them into the
discrete row (mean ports) or the derivative of the gap (end ports). Motion is that of B seen from A.
"""

import math

from phloat.motion.kernel.small import inner, jit
from phloat.motion.kernel.tables import (
    COEF_END,
    COEF_MEAN,
    COINCIDE,
    DIR,
    DISTANCE,
    FORCE,
    GAP0,
    GAP1,
    IN_PLANE,
    ON_DIR,
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
    SKEW,
    SPIN,
    TORQUE,
    TURN,
    TWIST,
    WRENCH_V,
    WRENCH_W,
    C,
)


@inner
def along(w, a, b):
    return w[a] * w[b] + w[a + 1] * w[b + 1] + w[a + 2] * w[b + 2]


@inner
def distance(w, a, b):
    x, y, z = w[b] - w[a], w[b + 1] - w[a + 1], w[b + 2] - w[a + 2]
    return math.sqrt(x * x + y * y + z * z)


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
        a, b = (i + 1) % 3, (i + 2) % 3
        return 0.5 * (along(w, A + DIR + 3 * b, B + DIR + 3 * a) - along(w, A + DIR + 3 * a, B + DIR + 3 * b))
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
def looked_up(data, o, n, x):
    """A table of n places and values: value, slope and integral from the first place, linear between and beyond."""
    k, total = 0, 0.0
    while k < n - 2 and x > data[o + k + 1]:
        total += 0.5 * (data[o + n + k] + data[o + n + k + 1]) * (data[o + k + 1] - data[o + k])
        k += 1
    slope = (data[o + n + k + 1] - data[o + n + k]) / (data[o + k + 1] - data[o + k])
    past = x - data[o + k]
    value = data[o + n + k] + slope * past
    return value, slope, total + 0.5 * (data[o + n + k] + value) * past


@inner
def mean_value(data, o, n, a, b):
    """The mean of a table between a and b: interval by interval, so that no digits are lost where a and b are close."""
    low, high = min(a, b), max(a, b)
    total, at = 0.0, low
    for k in range(n - 1):
        right = data[o + k + 1] if k < n - 2 else math.inf
        if at < right:
            to = min(right, high)
            total += (to - at) * looked_up(data, o, n, 0.5 * (at + to))[0]
            at = to
            if at >= high:
                break
    return total / (high - low) if high > low else looked_up(data, o, n, low)[0]


@inner
def potential(R, r, data, w, gap):
    """Energy of the spring of a row."""
    law = R[r, R_LAW]
    x = gap - w[law + 1]
    energy = 0.5 * w[law] * x * x
    if R[r, R_N_SPRING]:
        energy += looked_up(data, R[r, R_SPRING], R[r, R_N_SPRING], x)[2]
        energy -= looked_up(data, R[r, R_SPRING], R[r, R_N_SPRING], 0.0)[2]
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
