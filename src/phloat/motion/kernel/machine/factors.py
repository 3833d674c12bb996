"""Which numbers in w are factors: all that a factorisation makes, and a change of the size of steps."""

from __future__ import annotations

import numpy as np

from phloat.motion.kernel import tables as t


def factors(bodies: np.ndarray, incidences: np.ndarray, where: list[int]) -> list[tuple[int, int]]:
    """Where each stretch of them begins, and how many numbers it has."""
    kinds = {int(b[t.W_DW]): b for b in bodies}.values()
    return [
        *((b[t.W_DW], b[t.WIDE] ** 2) for b in kinds),
        *((b[t.W_D0], 2 * b[t.N_ETA] * b[t.LONG]) for b in kinds),
        *((b[t.W_D], b[t.WIDE] ** 2) for b in bodies),
        *((b[t.W_SOL], b[t.WIDE] * b[t.N_MULT]) for b in bodies),
        *((b[column], b[t.SIZE]) for b in bodies for column in (t.W_SCALE, t.W_UNIT)),
        *((g[t.G_HAT], g[t.G_ROWS] * b[t.WIDE]) for b in bodies for g in incidences[b[t.FIRST_INC] :][: b[t.N_INC]]),
        (where[t.S_AT], where[t.S_SIZE]),
        (where[t.PIVOTS], where[t.MULTIPLIERS]),
    ]
