"""How far an ensemble is, on the terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

WIDTH = 40


def counting(total: int, wanted: bool | None) -> Callable[[int, int], None]:
    """A bar once it takes more than a second; never where nobody looks, unless asked for.

    Called with the samples done and those that failed; it goes away when all are done.
    """
    if wanted is False or (wanted is None and not sys.stderr.isatty()):
        return lambda done, failed: None
    begin, first, shown = time.perf_counter(), [-1], [0.0]

    def show(done: int, failed: int) -> None:
        now = time.perf_counter()
        if first[0] < 0:
            first[0] = done  # a sweep that goes on has some already
        if done >= total:
            sys.stderr.write("\r" + " " * (WIDTH + 60) + "\r" if shown[0] else "")
        elif now - begin > 1.0 and now - shown[0] > 0.2:
            shown[0], new = now, done - first[0]
            left = f", {(now - begin) / new * (total - done):.0f} s left" if new else ""
            lost = f", {failed} failed" if failed else ""
            sys.stderr.write(f"\r[{'=' * (WIDTH * done // total):<{WIDTH}}] {done} of {total} samples{lost}{left}  ")
        sys.stderr.flush()

    return show
