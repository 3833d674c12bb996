"""Whether joints hold both ends of a beam: what its far end may not do beside the near one, whatever else moves.

A motion r·w of an end beside the other is held where r is a combination of joint rows, r = Gᵀλ: by the ground or by rigid
bodies. Flexible neighbours give way, and hold nothing.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import lsqr

from phloat.bodies.beams.hypothesis import FREE, Far
from phloat.motion.velocities import velocity_rows
from phloat.system.jointed import in_velocities
from phloat.system.state import State
from phloat.system.system import System

HELD = 0.1  # of the row: what joints may leave of it; the frame of a bent beam stands a little across them
ITERATIONS = 400


def held_ends(system: System, state: State, name: str) -> Far:
    """(first or last end taken as held; about y, z; the other may not turn, not move across)."""
    body, out = system.bodies[name], FREE.copy()
    if not system.multipliers.size:
        return out
    G = velocity_rows(system, state)[0]
    columns = in_velocities(system).columns[name][-body.coordinates :]
    ends = np.array([0.0, 1.0])
    moved, turned = (rows(ends).toarray().reshape(2, 3, -1) for rows in (body.shape.displacement, body.shape.rotation))
    L, turn, move = body.extent, turned[1] - turned[0], moved[1] - moved[0]

    def held(row: np.ndarray) -> bool:
        r = np.zeros(G.shape[1])
        r[columns] = row
        return bool(
            r.any() and lsqr(G.T, r, atol=0.0, btol=0.1 * HELD, iter_lim=ITERATIONS)[3] < HELD * np.linalg.norm(r)
        )

    for k, (about, across, sign) in enumerate(((1, 2, -1.0), (2, 1, 1.0))):
        out[:, k, 0] = held(turn[about])
        for end in (0, 1):
            out[end, k, 1] = held(move[across] - sign * L * turned[end, about])
    return out
