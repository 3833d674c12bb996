"""Rows between two ports, evaluated from their table: gaps, the forces that a multiplier puts on the ports, laws.

A row is g = f(p, q) with p and q sums of products of vectors (joints.rows). Over a step Δp = Σ α (Δa · b̄ + ā · Δb) exactly, bars
are means of end values, so with slopes of f that give Δg = f_p Δp + f_q Δq exactly the forces f_p α b̄ on a and f_p α ā on b
do the work λ Δg. `ports.carry` turns forces on points and directions into the discrete row (mean ports) or the derivative of the
gap (end ports). Motion is that of B seen from A.
"""

import math

from phloat.joints.rows import FIRST, INERTIAL, SECOND, SEPARATION
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.law_calls import EFFORT, ENERGY, WEIGHT, call_law
from phloat.motion.kernel.machine.compiler import hot, inner, jit

SLACK = 1e-9  # of a range: no further beyond it is round-off
SERIES, TERMS = 0.25, 20  # 1 − cos ϑ up to which series are summed


@hot
def vector(w, A, B, a):
    """A vector of two ports, by its number: c_B − c_A, a direction of A or of B, or an inertial axis."""
    if a == SEPARATION:
        return w[B + t.C] - w[A + t.C], w[B + t.C + 1] - w[A + t.C + 1], w[B + t.C + 2] - w[A + t.C + 2]
    if a >= INERTIAL:
        return 1.0 if a == INERTIAL else 0.0, 1.0 if a == INERTIAL + 1 else 0.0, 1.0 if a == INERTIAL + 2 else 0.0
    o = B + t.DIR + 3 * (a - SECOND) if a >= SECOND else A + t.DIR + 3 * (a - FIRST)
    return w[o], w[o + 1], w[o + 2]


@hot
def term_sum(T, first, count, data, w, A, B):
    """Σ α (a · b) over some terms."""
    total = 0.0
    for k in range(first, first + count):
        x, y, z = vector(w, A, B, T[k, t.T_A])
        u, v, s = vector(w, A, B, T[k, t.T_B])
        total += data[T[k, t.T_FACTOR]] * (x * u + y * v + z * s)
    return total


@hot
def push(w, a, x, y, z, on_A, on_B):
    """+ a force on a vector of two ports."""
    if a == SEPARATION:
        w[on_A + t.FORCE] -= x
        w[on_A + t.FORCE + 1] -= y
        w[on_A + t.FORCE + 2] -= z
        w[on_B + t.FORCE] += x
        w[on_B + t.FORCE + 1] += y
        w[on_B + t.FORCE + 2] += z
    elif a < INERTIAL:
        o = on_B + t.ON_DIR + 3 * (a - SECOND) if a >= SECOND else on_A + t.ON_DIR + 3 * (a - FIRST)
        w[o] += x
        w[o + 1] += y
        w[o + 2] += z


# --- the rotation vector ϑ/sin ϑ · p: κ = ϑ/sin ϑ is a function of 1 − cos ϑ --------------------------------------------------


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
def gap_at(R, T, r, data, w, A, B):
    """The gap of a row between two ports; an angle without its whole turns; zero of a row without a gap."""
    function, first, n = R[r, t.R_FUNCTION], R[r, t.R_TERM], R[r, t.R_P]
    if function == t.VELOCITY or function == t.SPIN:
        return 0.0
    p = term_sum(T, first, n, data, w, A, B)
    if function == t.PRODUCT:
        return p
    if function == t.LENGTH:
        return math.sqrt(p)
    q = term_sum(T, first + n, R[r, t.R_Q], data, w, A, B)
    return math.atan2(p, q) if function == t.ANGLE else angle_ratio(1.5 - 0.5 * q) * p


@inner
def coefficients(R, T, r, data, w, A0, A1, B0, B1):
    """Slopes of f by p and q, those over the whole step and those at its end; and the gap at the end.

    They are constant where f = p, and rows without a gap have none.
    """
    function, o, first, n = R[r, t.R_FUNCTION], R[r, t.R_COEF], R[r, t.R_TERM], R[r, t.R_P]
    if function == t.VELOCITY or function == t.SPIN:
        return
    p1 = term_sum(T, first, n, data, w, A1, B1)
    if function == t.PRODUCT:
        w[o + t.GAP1] = p1
        return
    if function == t.LENGTH:  # Δ√p = Δp / (√p₀ + √p₁)
        length = math.sqrt(p1)
        w[o + t.COEF_MEAN], w[o + t.COEF_END] = 1.0 / (w[o + t.GAP0] + length), 0.5 / length
        w[o + t.GAP1] = length
        return
    first_q, m = first + n, R[r, t.R_Q]
    p0, q0 = term_sum(T, first, n, data, w, A0, B0), term_sum(T, first_q, m, data, w, A0, B0)
    q1 = term_sum(T, first_q, m, data, w, A1, B1)
    if function == t.ANGLE:
        sine, cosine = p1 * q0 - q1 * p0, q0 * q1 + p0 * p1
        turned = math.atan2(sine, cosine)
        ratio = turned / sine if abs(sine) > 1e-9 * abs(cosine) else 1.0 / cosine
        w[o + t.COEF_MEAN], w[o + t.COEF_MEAN + 1] = 0.5 * ratio * (q0 + q1), -0.5 * ratio * (p0 + p1)
        size = p1 * p1 + q1 * q1
        w[o + t.COEF_END], w[o + t.COEF_END + 1] = q1 / size, -p1 / size
        angle = math.atan2(p1, q1)
        turns = round((w[o + t.GAP0] + turned - angle) / (2.0 * math.pi))
        w[o + t.GAP1] = angle + 2.0 * math.pi * turns
        return
    # rotation: Δ(κp) = κ̄ Δp + p̄ Δκ,  Δκ = −½ κ[x₀, x₁] Δq,  x = 1 − cos ϑ = (3 − q)/2
    x0, x1 = 1.5 - 0.5 * q0, 1.5 - 0.5 * q1
    k0, k1 = angle_ratio(x0), angle_ratio(x1)
    w[o + t.COEF_MEAN], w[o + t.COEF_MEAN + 1] = 0.5 * (k0 + k1), -0.25 * (p0 + p1) * ratio_slope(x0, x1)
    w[o + t.COEF_END], w[o + t.COEF_END + 1] = k1, -0.5 * p1 * ratio_slope(x1, x1)
    w[o + t.GAP1] = k1 * p1


@inner
def direction(R, T, r, data, w, A, B):
    """Σ α a of a velocity or spin row, and the factor that makes it as long as α where a are directions of a section."""
    x, y, z, size = 0.0, 0.0, 0.0, 0.0
    for k in range(R[r, t.R_TERM], R[r, t.R_TERM] + R[r, t.R_P]):
        factor = data[T[k, t.T_FACTOR]]
        u, v, s = vector(w, A, B, T[k, t.T_A])
        x, y, z, size = x + factor * u, y + factor * v, z + factor * s, size + factor * factor
    return x, y, z, math.sqrt(size / (x * x + y * y + z * z)) if R[r, t.R_FOLLOWS] else 1.0


@inner
def pull(R, T, r, lam, data, w, A, B, coef, on_A, on_B):
    """+ the forces of λ on the ports A and B."""
    function, first, n = R[r, t.R_FUNCTION], R[r, t.R_TERM], R[r, t.R_P]
    if function == t.VELOCITY or function == t.SPIN:
        x, y, z, scale = direction(R, T, r, data, w, A, B)
        o, force = t.TORQUE if function == t.SPIN else t.FORCE, lam * scale
        w[on_A + o] -= force * x
        w[on_A + o + 1] -= force * y
        w[on_A + o + 2] -= force * z
        w[on_B + o] += force * x
        w[on_B + o + 1] += force * y
        w[on_B + o + 2] += force * z
        return
    for k in range(first, first + n + R[r, t.R_Q]):
        a, b = T[k, t.T_A], T[k, t.T_B]
        force = lam * data[T[k, t.T_FACTOR]] * w[coef if k < first + n else coef + 1]
        x, y, z = vector(w, A, B, b)
        push(w, a, force * x, force * y, force * z, on_A, on_B)
        x, y, z = vector(w, A, B, a)
        push(w, b, force * x, force * y, force * z, on_A, on_B)


@inner
def turn_cosine(w, A, B):
    """½ (Σ d_Ai · d_Bi − 1): the cosine of the turn between two triads."""
    total = -1.0
    for k in range(9):
        total += w[A + t.DIR + k] * w[B + t.DIR + k]
    return 0.5 * total


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
    at = o + 1 + n + piece_at(data, o, n, x) * (count + t.P_FIRST)
    past, value, slope, area = x - data[at + t.P_ORIGIN], 0.0, 0.0, 0.0
    for j in range(count - 1, -1, -1):
        c = data[at + t.P_FIRST + j]
        slope = slope * past + value
        value = value * past + c
        area = area * past + c / (j + 1)
    return value, slope, data[at + t.P_AREA] + area * past


@inner
def mean_within(data, at, count, a, b):
    """The mean of one polynomial between a and b, without their difference: Σ c_j/(j + 1) Σ_i aⁱ bʲ⁻ⁱ."""
    a, b = a - data[at + t.P_ORIGIN], b - data[at + t.P_ORIGIN]
    total, power, both = data[at + t.P_FIRST], 1.0, 1.0
    for j in range(1, count):
        power *= b
        both = both * a + power
        total += data[at + t.P_FIRST + j] * both / (j + 1)
    return total


@inner
def mean_value(data, o, n, a, b):
    """The mean of piecewise polynomials between a and b: piece by piece, so that no digits are lost where a and b are close."""
    low, high = min(a, b), max(a, b)
    count, k, last = int(data[o]), piece_at(data, o, n, low), piece_at(data, o, n, high)
    size = count + t.P_FIRST
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
    o = R[r, t.R_COEF]
    if w[o + t.TURN_COSINE] > -1.0:
        cosine = turn_cosine(w, A, B)
        w[o + t.LEAST] = min(w[o + t.LEAST], cosine)
        if cosine < w[o + t.TURN_COSINE] and w[o + t.LEFT] == math.inf:
            w[o + t.LEFT] = now
        return
    n = R[r, t.R_N_SPRING]
    if n > 0:
        at, x = R[r, t.R_SPRING] + 1, w[o + t.GAP1] - w[R[r, t.R_LAW] + t.REST]
        w[o + t.LEAST], w[o + t.MOST] = min(w[o + t.LEAST], x), max(w[o + t.MOST], x)
        if _beyond(data, at, n, x) and w[o + t.LEFT] == math.inf:
            w[o + t.LEFT] = now
    n = R[r, t.R_N_DAMPER]
    if n > 0:
        at = R[r, t.R_DAMPER] + 1
        w[o + t.SLOWEST], w[o + t.FASTEST] = min(w[o + t.SLOWEST], rate), max(w[o + t.FASTEST], rate)
        if _beyond(data, at, n, rate) and w[o + t.LEFT_RATE] == math.inf:
            w[o + t.LEFT_RATE] = now


@inner
def potential(R, r, data, indices, w, gap):
    """Energy of the spring of a row."""
    law = R[r, t.R_LAW]
    x = gap - w[law + t.REST]
    energy = 0.5 * w[law + t.STIFFNESS] * x * x
    if R[r, t.R_N_SPRING]:
        energy += looked_up(data, R[r, t.R_SPRING], R[r, t.R_N_SPRING], x)[2]
    if R[r, t.R_CALL] >= 0:
        call_law(indices[R[r, t.R_CALL]], x, x, 0.0, 1.0, w, law + t.LAW_SIZE, R[r, t.R_COEF] + t.LAW_OUT)
        energy += w[R[r, t.R_COEF] + t.LAW_OUT + ENERGY]
    return energy


@inner
def resistance(R, r, data, indices, w, h):
    """What the law of a row holds against its motion over the step, and its derivative by the gap at the end, times h.

    Springs give the slope of their potential between both gaps (exact in energy), dampers act on Δg/h.
    """
    o, law = R[r, t.R_COEF], R[r, t.R_LAW]
    g0, g1 = w[o + t.GAP0], w[o + t.GAP1]
    rate = (g1 - g0) / h
    force, stiff = (
        w[law + t.STIFFNESS] * (0.5 * (g0 + g1) - w[law + t.REST]) + w[law + t.DAMPING] * rate,
        0.5 * h * w[law + t.STIFFNESS] + w[law + t.DAMPING],
    )
    n = R[r, t.R_N_SPRING]
    if n > 0:
        force += mean_value(data, R[r, t.R_SPRING], n, g0 - w[law + t.REST], g1 - w[law + t.REST])
        stiff += 0.5 * h * looked_up(data, R[r, t.R_SPRING], n, 0.5 * (g0 + g1) - w[law + t.REST])[1]
    n = R[r, t.R_N_DAMPER]
    if n > 0:
        value, slope, _ = looked_up(data, R[r, t.R_DAMPER], n, rate)
        force, stiff = force + value, stiff + slope
    if R[r, t.R_CALL] >= 0:
        out = o + t.LAW_OUT
        call_law(indices[R[r, t.R_CALL]], g0 - w[law + t.REST], g1 - w[law + t.REST], rate, h, w, law + t.LAW_SIZE, out)
        force, stiff = force + w[out + EFFORT], stiff + w[out + WEIGHT]
    return force, stiff
