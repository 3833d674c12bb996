"""Threads beside the one that steps, which take their share of the bodies."""

from __future__ import annotations

from threading import Thread
from typing import Any

from phloat.motion.kernel.machine.threads import HANDS, LEAVE, NEXT
from phloat.motion.kernel.machine.uncompiled import PLAIN
from phloat.motion.kernel.pack import Packed
from phloat.motion.kernel.step import advance


def advanced(packed: Packed, threads: int, *how: Any) -> tuple[int, int, int, int]:
    """Steps as `advance` makes them, by so many threads; never more than there are ranges of bodies."""
    given = (packed.model, packed.w, packed.iw, packed.gravity, *how)
    crew, count = packed.model.crew, len(packed.model.ranges)
    hands = 1 if PLAIN else min(threads, count)
    if hands == 1:
        return advance(*given, True)
    crew[HANDS], crew[NEXT], crew[LEAVE] = hands, count, 0
    others = [Thread(target=advance, args=(*given, False)) for _ in range(hands - 1)]
    for other in others:
        other.start()
    try:
        return advance(*given, True)
    finally:
        crew[LEAVE] = 1
        for other in others:
            other.join()
        crew[HANDS] = 1
