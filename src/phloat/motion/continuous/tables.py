"""Places of a system in y, in the inputs s and in the buffers of the kernel."""

from __future__ import annotations

import numpy as np

from phloat.motion.continuous import evaluate as at
from phloat.motion.inputs.drives import Coordinate, Frame, Moving, Swivel
from phloat.motion.inputs.positions import Path
from phloat.motion.kernel import tables as t
from phloat.motion.run.assembled import Assembled

KINDS = {Coordinate: at.COORDINATE, Frame: at.FRAME, Swivel: at.SWIVEL}


def places(run: Assembled) -> at.Places:
    """The tables; the buffer w of the run grows by what they need."""
    model, packed = run.packed.model, run.packed
    B, E, J, R = model.bodies, model.ends, model.entries, model.rows
    attitude = {0: 0, 1: 1, 3: 4}
    lengths = [int(b[t.N_LIN]) + attitude[int(b[t.N_ROT])] + int(b[t.N_ETA]) for b in B]
    q, v = sum(lengths), int(B[:, t.SIZE].sum())
    bodies = np.stack([np.cumsum([0, *lengths[:-1]]), q + np.cumsum([0, *B[:-1, t.SIZE]])], axis=1).astype(np.int64)

    room = len(packed.w)
    rows = np.full((len(R), 5), -1, dtype=np.int64)
    rows[:, at.R_RATE] = room + at.RATE_SIZE * np.arange(len(R))
    room += at.RATE_SIZE * len(R)
    unknown = np.flatnonzero((R[:, t.R_MODE] == t.CLOSED) & (R[:, t.R_DROPPED] == 0))
    for entry in J:
        for r in range(entry[t.J_ROW], entry[t.J_ROW] + entry[t.J_ROWS]):
            for column, end in ((at.G_A, entry[t.J_A]), (at.G_B, entry[t.J_B])):
                if E[end, t.E_BODY] >= 0:
                    rows[r, column] = room
                    room += int(B[E[end, t.E_BODY], t.SIZE])
    ends = np.full((len(E), 2), -1, dtype=np.int64)
    drives = np.full((len(run.moving), 6), -1, dtype=np.int64)
    start, d, s = 0, q + v, len(run.given)
    for k, motion in enumerate(run.moving):
        place, kind = int(run.moving_at[start]), KINDS[type(motion)]
        start += len(motion.start)
        drives[k, [at.V_KIND, at.V_U, at.V_AT]] = kind, s, place
        s += 6
        if by_velocity(run, motion):
            drives[k, at.V_Y] = d
            d += len(motion.start)
        else:
            drives[k, at.V_VALUE] = s
            s += len(motion.start)
        if kind == at.COORDINATE:
            r = int(np.flatnonzero(R[:, t.R_COEF] + t.TARGET1 == place)[0])
            drives[k, at.V_RATE] = rows[r, at.R_RATE] + at.TARGET_RATE
        else:
            offset = 0 if kind == at.FRAME else 3
            e = int(np.flatnonzero(E[:, t.E_FRAME1] == place - offset)[0])
            ends[e] = room, room + t.FRAME_SIZE
            drives[k, at.V_RATE] = room + offset
            room += t.FRAME_SIZE + t.PORT_SIZE
    count = len(unknown)
    rows[unknown, at.Y_LAM], rows[unknown, at.Y_MU] = d + np.arange(count), d + count + np.arange(count)
    sizes = np.array([q, q + v, d, d + count, d + 2 * count], dtype=np.int64)
    packed.w = np.concatenate([packed.w, np.zeros(room - len(packed.w))])
    return at.Places(bodies, rows, ends, drives, run.given_at, sizes, np.ones(v))


def by_velocity(run: Assembled, motion: Moving) -> bool:
    """Whether what a drive has moved must be integrated: a position is given, and what nobody moves stays."""
    signal = run.signals.get(motion.name)
    return signal is not None and not isinstance(signal, Path)


def velocity_map(motion: Moving, inputs: int) -> np.ndarray:
    """(v, ω) of what a drive moves per input of its port, (6, inputs); of a coordinate the first number is its rate."""
    out = np.zeros((6, inputs))
    if isinstance(motion, Coordinate):
        out[0, motion.component] = 1.0
    elif isinstance(motion, Frame):
        out[: motion.linear, : motion.linear] = np.eye(motion.linear)
        if motion.turning == 1:
            out[5, motion.linear] = 1.0
        elif motion.turning == 3:
            out[3:, motion.linear :] = np.eye(3)
    else:
        out[3:] = motion.triad.T[:, list(motion.axes)]
    return out
