"""Rows between two ports, evaluated from their table: gaps, the forces that a multiplier puts on the ports, laws.

A row is g = f(p, q), where p and q are sums of products α a · b of vectors of the ports (joints.rows). Over a step, with bars for
means of start and end, Δp = Σ α (Δa · b̄ + ā · Δb) exactly, and slopes f_p, f_q are chosen such that Δg = f_p Δp + f_q Δq exactly.
Then the forces λ f_p α b̄ on a and λ f_p α ā on b (likewise for q) do the work λ Δg. `ports.carry` turns forces on points and
directions into the discrete row (mean ports) or the derivative of the gap (end ports). Motion is that of B seen from A.
"""

import math

from phloat.joints import row_functions
from phloat.joints.row_functions import SERIES
from phloat.joints.rows import FIRST, INERTIAL, SECOND, SEPARATION
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.body import velocities_at_start
from phloat.motion.kernel.law_calls import EFFORT, ENERGY, WEIGHT, call_law
from phloat.motion.kernel.machine.compiler import entry, hot, inner
from phloat.motion.kernel.machine.dense import copy
from phloat.motion.kernel.machine.pointers import pointer
from phloat.motion.kernel.model import main_tables
from phloat.motion.kernel.ports import clear, port_start, power

SLACK = 1e-9  # relative to the width of a range: round-off at its ends


@hot
def vector(w, A, B, a):
    """The three components of vector number `a` of two ports: c_B − c_A, a direction of A or of B, or an inertial axis."""
    if a == SEPARATION:
        return w[B + t.C] - w[A + t.C], w[B + t.C + 1] - w[A + t.C + 1], w[B + t.C + 2] - w[A + t.C + 2]
    if a >= INERTIAL:
        return 1.0 if a == INERTIAL else 0.0, 1.0 if a == INERTIAL + 1 else 0.0, 1.0 if a == INERTIAL + 2 else 0.0
    o = B + t.DIR + 3 * (a - SECOND) if a >= SECOND else A + t.DIR + 3 * (a - FIRST)
    return w[o], w[o + 1], w[o + 2]


@hot
def term_sum(T, first, count, data, w, A, B):
    """Σ α (a · b) over `count` terms."""
    total = 0.0
    for k in range(first, first + count):
        x, y, z = vector(w, A, B, T[k, t.T_A])
        u, v, s = vector(w, A, B, T[k, t.T_B])
        total += data[T[k, t.T_FACTOR]] * (x * u + y * v + z * s)
    return total


@hot
def push(w, a, x, y, z, on_A, on_B):
    """Adds a force on vector number `a` to the forces on the two ports."""
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


# functions of rows and laws that the twin uses too
length_slopes, angle_slopes = hot(row_functions.length_slopes), hot(row_functions.angle_slopes)
rotation_slopes = hot(row_functions.rotation_slopes)
near_ratio, far_ratio = hot(row_functions.near_ratio), hot(row_functions.far_ratio)
near_slope, far_slope = hot(row_functions.near_slope), hot(row_functions.far_slope)
polynomial, polynomial_mean = hot(row_functions.polynomial), hot(row_functions.polynomial_mean)
linear_effort = hot(row_functions.linear_effort)


@inner
def rotation_ratio(x):
    """κ = ϑ / sin ϑ for x = 1 − cos ϑ."""
    return near_ratio(x) if x < SERIES else far_ratio(x)


@inner
def rotation_slope(x, y):
    """(κ(y) − κ(x)) / (y − x), without loss of digits where x and y are close; the derivative where they are equal."""
    if max(x, y) < SERIES:
        return near_slope(x, y)
    if min(x, y) < 0.4 * SERIES:
        return (rotation_ratio(y) - rotation_ratio(x)) / (y - x)
    return far_slope(x, y)


@inner
def gap_at(R, T, r, data, w, A, B):
    """The gap of row r between ports A and B: an angle without whole turns; zero for a row without a gap."""
    function, first, n = R[r, t.R_FUNCTION], R[r, t.R_TERM], R[r, t.R_P]
    if function == t.VELOCITY or function == t.SPIN:
        return 0.0
    p = term_sum(T, first, n, data, w, A, B)
    if function == t.PRODUCT:
        return p
    if function == t.LENGTH:
        return math.sqrt(p)
    q = term_sum(T, first + n, R[r, t.R_Q], data, w, A, B)
    return math.atan2(p, q) if function == t.ANGLE else rotation_ratio(1.5 - 0.5 * q) * p


@inner
def coefficients(R, T, r, data, w, A0, A1, B0, B1):
    """Sets the slopes of f by p and q, discrete and at the end of the step, and the gap at the end.

    Slopes are constant where f = p; rows without a gap have none.
    """
    function, o, first, n = R[r, t.R_FUNCTION], R[r, t.R_COEF], R[r, t.R_TERM], R[r, t.R_P]
    if function == t.VELOCITY or function == t.SPIN:
        return
    p1 = term_sum(T, first, n, data, w, A1, B1)
    if function == t.PRODUCT:
        w[o + t.GAP1] = p1
        return
    if function == t.LENGTH:
        slopes = length_slopes(p1, w[o + t.GAP0])
    else:
        first_q, m = first + n, R[r, t.R_Q]
        p0, q0 = term_sum(T, first, n, data, w, A0, B0), term_sum(T, first_q, m, data, w, A0, B0)
        q1 = term_sum(T, first_q, m, data, w, A1, B1)
        if function == t.ANGLE:
            slopes = angle_slopes(p0, q0, p1, q1, w[o + t.GAP0])
        else:
            x0, x1 = 1.5 - 0.5 * q0, 1.5 - 0.5 * q1
            ratios = rotation_ratio(x0), rotation_ratio(x1)
            slopes = rotation_slopes(p0, p1, *ratios, rotation_slope(x0, x1), rotation_slope(x1, x1))
    w[o + t.COEF_MEAN], w[o + t.COEF_MEAN + 1] = slopes[0], slopes[1]
    w[o + t.COEF_END], w[o + t.COEF_END + 1], w[o + t.GAP1] = slopes[2], slopes[3], slopes[4]


@inner
def direction(R, T, r, data, w, A, B):
    """Σ α a of a velocity or spin row, and for directions of a section the factor that gives it the length |α|, else 1."""
    x, y, z, size = 0.0, 0.0, 0.0, 0.0
    for k in range(R[r, t.R_TERM], R[r, t.R_TERM] + R[r, t.R_P]):
        factor = data[T[k, t.T_FACTOR]]
        u, v, s = vector(w, A, B, T[k, t.T_A])
        x, y, z, size = x + factor * u, y + factor * v, z + factor * s, size + factor * factor
    return x, y, z, math.sqrt(size / (x * x + y * y + z * z)) if R[r, t.R_FOLLOWS] else 1.0


@inner
def pull(R, T, r, lam, data, w, A, B, coef, on_A, on_B):
    """Adds the forces of the multiplier λ of row r to the forces on the ports A and B."""
    function, first, n = R[r, t.R_FUNCTION], R[r, t.R_TERM], R[r, t.R_P]
    if function == t.VELOCITY or function == t.SPIN:
        x, y, z, scale = direction(R, T, r, data, w, A, B)
        o, force = t.TORQUE if function == t.SPIN else t.FORCE, lam * scale
        push(w, SEPARATION, force * x, force * y, force * z, on_A + o, on_B + o)
        return
    for k in range(first, first + n + R[r, t.R_Q]):
        a, b = T[k, t.T_A], T[k, t.T_B]
        force = lam * data[T[k, t.T_FACTOR]] * w[coef if k < first + n else coef + 1]
        x, y, z = vector(w, A, B, b)
        push(w, a, force * x, force * y, force * z, on_A, on_B)
        x, y, z = vector(w, A, B, a)
        push(w, b, force * x, force * y, force * z, on_A, on_B)


@inner
def cosine_of_turn(w, A, B):
    """½ (Σ d_Ai · d_Bi − 1): the cosine of the turn between two triads."""
    total = -1.0
    for k in range(9):
        total += w[A + t.DIR + k] * w[B + t.DIR + k]
    return 0.5 * total


# --- laws ------------------------------------------------------------------------------------------------------------


@inner
def piece_at(data, o, n, x):
    """Index of the piece at x: the number of the n bounds below x."""
    low, high = 0, n
    while low < high:
        middle = (low + high) >> 1
        if x > data[o + 1 + middle]:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def evaluate_pieces(data, o, n, x):
    """Value, slope and integral from 0 at x of piecewise polynomials with n bounds."""
    count = int(data[o])
    piece = o + 1 + n + piece_at(data, o, n, x) * (count + t.P_FIRST)
    value, slope, area = polynomial(data, piece + t.P_FIRST, count, x - data[piece + t.P_ORIGIN])
    return value, slope, data[piece + t.P_AREA] + area


@inner
def piece_mean(data, piece, count, a, b):
    """The mean of one polynomial piece between a and b."""
    origin = data[piece + t.P_ORIGIN]
    return polynomial_mean(data, piece + t.P_FIRST, count, a - origin, b - origin)


@inner
def mean_of_pieces(data, o, n, a, b):
    """The mean of piecewise polynomials between a and b, piece by piece, so that no digits are lost where a and b are close."""
    low, high = min(a, b), max(a, b)
    count, k, last = int(data[o]), piece_at(data, o, n, low), piece_at(data, o, n, high)
    size = count + t.P_FIRST
    piece = o + 1 + n + k * size
    if k == last:
        return piece_mean(data, piece, count, low, high)
    total, start = 0.0, low
    while k <= last:
        end = data[o + 1 + k] if k < last else high
        total += (end - start) * piece_mean(data, piece, count, start, end)
        start, k, piece = end, k + 1, piece + size
    return total / (high - low)


@inner
def _out_of_range(data, bounds, n, x):
    """Whether x is outside the n bounds by more than round-off."""
    slack = SLACK * (data[bounds + n - 1] - data[bounds])
    return x < data[bounds] - slack or x > data[bounds + n - 1] + slack


@inner
def record_extremes(R, r, data, w, rate, step_number, A, B):
    """Records the extremes of elongation, rate and turn of the law of row r, and the step at which each first left its range."""
    o = R[r, t.R_COEF]
    if w[o + t.TURN_COSINE] > -1.0:
        cosine = cosine_of_turn(w, A, B)
        w[o + t.LEAST] = min(w[o + t.LEAST], cosine)
        if cosine < w[o + t.TURN_COSINE] and w[o + t.LEFT] == math.inf:
            w[o + t.LEFT] = step_number
        return
    n = R[r, t.R_N_SPRING]
    if n > 0:
        bounds, x = R[r, t.R_SPRING] + 1, w[o + t.GAP1] - w[R[r, t.R_LAW] + t.REST]
        w[o + t.LEAST], w[o + t.MOST] = min(w[o + t.LEAST], x), max(w[o + t.MOST], x)
        if _out_of_range(data, bounds, n, x) and w[o + t.LEFT] == math.inf:
            w[o + t.LEFT] = step_number
    n = R[r, t.R_N_DAMPER]
    if n > 0:
        bounds = R[r, t.R_DAMPER] + 1
        w[o + t.SLOWEST], w[o + t.FASTEST] = min(w[o + t.SLOWEST], rate), max(w[o + t.FASTEST], rate)
        if _out_of_range(data, bounds, n, rate) and w[o + t.LEFT_RATE] == math.inf:
            w[o + t.LEFT_RATE] = step_number


@inner
def potential(R, r, data, indices, w, gap):
    """Energy of the springs of row r at this gap (J)."""
    law = R[r, t.R_LAW]
    x = gap - w[law + t.REST]
    energy = 0.5 * w[law + t.STIFFNESS] * x * x
    if R[r, t.R_N_SPRING]:
        energy += evaluate_pieces(data, R[r, t.R_SPRING], R[r, t.R_N_SPRING], x)[2]
    if R[r, t.R_CALL] >= 0:
        call_law(indices[R[r, t.R_CALL]], x, x, 0.0, 1.0, w, law + t.LAW_SIZE, R[r, t.R_COEF] + t.LAW_OUT)
        energy += w[R[r, t.R_COEF] + t.LAW_OUT + ENERGY]
    return energy


@inner
def law_resistance(R, r, data, indices, w, h):
    """Effort of the law of row r against its motion over the step, and h times its derivative by the gap at the end.

    Springs give the difference quotient of their potential (exact in energy), dampers act on Δg/h.
    """
    o, law = R[r, t.R_COEF], R[r, t.R_LAW]
    g0, g1 = w[o + t.GAP0], w[o + t.GAP1]
    rate = (g1 - g0) / h
    force, stiff = linear_effort(w[law + t.STIFFNESS], w[law + t.REST], w[law + t.DAMPING], g0, g1, rate, h)
    n = R[r, t.R_N_SPRING]
    if n > 0:
        force += mean_of_pieces(data, R[r, t.R_SPRING], n, g0 - w[law + t.REST], g1 - w[law + t.REST])
        stiff += 0.5 * h * evaluate_pieces(data, R[r, t.R_SPRING], n, 0.5 * (g0 + g1) - w[law + t.REST])[1]
    n = R[r, t.R_N_DAMPER]
    if n > 0:
        value, slope, _ = evaluate_pieces(data, R[r, t.R_DAMPER], n, rate)
        force, stiff = force + value, stiff + slope
    if R[r, t.R_CALL] >= 0:
        out = o + t.LAW_OUT
        call_law(indices[R[r, t.R_CALL]], g0 - w[law + t.REST], g1 - w[law + t.REST], rate, h, w, law + t.LAW_SIZE, out)
        force, stiff = force + w[out + EFFORT], stiff + w[out + WEIGHT]
    return force, stiff


# --- joint coordinates and port velocities at a state: what a controller or an event reads -----------------------------


@entry
def read(bodies, ends, entries, rows, terms, data, w, gaps, rates):
    """The gap and the rate of every row at the state in w, as in a step of length zero: its mean is the state itself."""
    B, E, J, R, terms = main_tables(bodies, ends, entries, rows, terms)
    data, w = pointer(data), pointer(w)
    for j in range(len(J)):
        a, b = J[j, t.J_A], J[j, t.J_B]
        for side in range(2):
            e = b if side else a
            port_start(B, E, e, data, w, t.SCRATCH)
            i = E[e, t.E_BODY]
            size = t.PORT_SIZE + (B[i, t.LONG] if E[e, t.E_SHORT] else 0)
            copy(size, w, E[e, t.E_START], w, E[e, t.E_MEAN])
            if i >= 0:
                copy(9, w, B[i, t.W_Q] + t.Q_A, w, B[i, t.W_QT])
                velocities_at_start(B, i, w)
        for r in range(J[j, t.J_ROW], J[j, t.J_ROW] + J[j, t.J_ROWS]):
            A, port_b, coef = E[a, t.E_START], E[b, t.E_START], R[r, t.R_COEF]
            gaps[r] = w[coef + t.GAP0] = gap_at(R, terms, r, data, w, A, port_b)
            coefficients(R, terms, r, data, w, A, A, port_b, port_b)
            clear(w, t.OUT_A)
            clear(w, t.OUT_B)
            pull(R, terms, r, 1.0, data, w, E[a, t.E_MEAN], E[b, t.E_MEAN], coef + t.COEF_MEAN, t.OUT_A, t.OUT_B)
            rates[r] = power(B, E, a, data, w, t.OUT_A) + power(B, E, b, data, w, t.OUT_B)
