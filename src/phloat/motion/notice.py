"""What is said on the terminal while a run goes on: that the step is being compiled, and how far the run is."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from phloat.motion.kernel.step import advance

WIDTH = 40


def is_compiled() -> bool:
    """Whether the compiled step is in this process or in the cache on disk."""
    folder = vars(advance)["_cache"].cache_path  # Numba may keep it beside the source or in a folder of the user
    return bool(advance.signatures) or any(Path(folder).glob("step.advance-*.nbi"))


def say_if_compiling() -> None:
    """One line, the first time on a machine."""
    if not is_compiled():
        sys.stderr.write("phloat: compiling the time step, once per installation; this takes a minute …\n")
        sys.stderr.flush()


def bar(start: float, end: float, wanted: bool | None) -> Callable[[float], None]:
    """A bar on the terminal once a run takes more than a second; never where nobody looks, unless asked for.

    Called with the time reached; with infinity it goes away.
    """
    if wanted is False or (wanted is None and not sys.stderr.isatty()):
        return lambda t: None
    begin, shown = time.perf_counter(), [0.0]

    def show(t: float) -> None:
        now = time.perf_counter()
        if t == np.inf:
            sys.stderr.write("\r" + " " * (WIDTH + 40) + "\r" if shown[0] else "")
        elif now - begin > 1.0 and now - shown[0] > 0.2:
            shown[0], part = now, (t - start) / (end - start)
            left = (now - begin) * (1 / max(part, 1e-9) - 1)
            sys.stderr.write(
                f"\r[{'=' * int(WIDTH * part):<{WIDTH}}] {100 * part:3.0f} %, t = {t:.4g} s, {left:.0f} s left "
            )
        sys.stderr.flush()

    return show
