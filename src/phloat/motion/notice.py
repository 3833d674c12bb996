"""What is said on the terminal before the first run: that the step is being compiled."""

from __future__ import annotations

import sys
from pathlib import Path

from phloat.motion.kernel.step import advance


def is_compiled() -> bool:
    """Whether the compiled step is in this process or in the cache on disk."""
    folder = vars(advance)["_cache"].cache_path  # Numba may keep it beside the source or in a folder of the user
    return bool(advance.signatures) or any(Path(folder).glob("step.advance-*.nbi"))


def say_if_compiling() -> None:
    """One line, the first time on a machine."""
    if not is_compiled():
        sys.stderr.write("phloat: compiling the time step, once per installation; this takes a minute …\n")
        sys.stderr.flush()
