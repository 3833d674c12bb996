"""How far a step is from solved: residuals of bodies and joints beside the round-off of the terms they are sums of."""

import numpy as np

from phloat.motion.kernel import tables as t
from phloat.motion.kernel.machine.compiler import hot
from phloat.motion.kernel.machine.dense import EPS


@hot
def sum_up(w, force, port, turns, to):
    """+ the sizes of the force at a port and of its moments: forces that balance each other leave their round-off."""
    size = abs(w[force]) + abs(w[force + 1]) + abs(w[force + 2])
    moment = size * (abs(w[port + t.ARM]) + abs(w[port + t.ARM + 1]) + abs(w[port + t.ARM + 2]))
    if turns:
        for k in range(12):
            moment += abs(w[force + t.ON_DIR + k])
    w[to] += size
    w[to + 1] += moment


@hot
def body_off(B, i, w, iw, worst):
    """The larger of `worst` and the residual of a body, in the unit √D_kk, beside the terms it is the sum of."""
    size, scale, total = 0.0, 0.0, 0.0
    F, s, u, lin, rot = B[i, t.W_F], B[i, t.W_SCALE], B[i, t.W_UNIT], B[i, t.N_LIN], B[i, t.N_ROT]
    for k in range(B[i, t.SIZE]):
        port = abs(w[B[i, t.W_GAM] + k])
        if k < lin + rot:
            port = w[B[i, t.W_PORTS]] if k < lin else w[B[i, t.W_PORTS] + 1]
        off = abs(w[F + k]) * w[u + k]
        size, total = max(size, off), total + off
        scale = max(scale, (w[s + k] + port) * w[u + k])
    if not total <= 1e300:  # the largest of numbers of which one is none may be any of them; their sum is none
        if worst < np.inf:  # else a joint is none already, and is the cause
            iw[t.I_WORST_BODY], iw[t.I_WORST_ENTRY] = i, -1
        return np.inf
    if size > worst * EPS * scale:
        worst = size / (EPS * scale) if scale > 0.0 else np.inf
        iw[t.I_WORST_BODY], iw[t.I_WORST_ENTRY] = i, -1
    return worst


@hot
def entry_off(m, w, iw, j, h, worst):
    """The larger of `worst` and the rows of an entry, beside the lengths they are made of."""
    E, J, R = m.ends, m.entries, m.rows
    a, b = J[j, t.J_A], J[j, t.J_B]
    length = w[t.FLOOR]  # else a port at the origin, without an arm, has no length at all
    for k in range(3):
        length += abs(w[E[a, t.E_END] + t.C + k]) + abs(w[E[b, t.E_END] + t.C + k])
        length += abs(w[E[a, t.E_END] + t.ARM + k]) + abs(w[E[b, t.E_END] + t.ARM + k])
    for k in range(J[j, t.J_ROWS]):
        r = J[j, t.J_ROW] + k
        size, power = abs(w[m.where[t.RIGHT] + J[j, t.J_LAM] + k]), R[r, t.R_POWER]
        unit = length if power == 1 else 1.0 if power == 0 else length**power
        if R[r, t.R_MODE] == t.CLOSED:
            scale = unit / abs(h)
        else:
            law = abs(w[R[r, t.R_COEF] + t.GAP0]) + abs(w[R[r, t.R_COEF] + t.GAP1])
            law += unit  # a gap near zero has the round-off of what it is made of
            scale = abs(w[m.where[t.LAM] + J[j, t.J_LAM] + k]) + abs(w[R[r, t.R_COEF] + t.ALPHA]) * law / abs(h)
        if not size <= 1e300:
            iw[t.I_WORST_ENTRY], iw[t.I_WORST_BODY] = j, -1
            return np.inf
        if size > worst * EPS * scale:
            worst = size / (EPS * scale) if scale > 0.0 else np.inf
            iw[t.I_WORST_ENTRY], iw[t.I_WORST_BODY] = j, -1
    return worst
