"""Whether the compiled functions are in the cache, and an announcement on the terminal where they have to be compiled."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache

from phloat.motion.kernel.machine.uncompiled import UNCOMPILED
from phloat.motion.kernel.step import advance


def is_compiled(entry: Callable = advance) -> bool:
    """Whether a function is compiled in this process or in the cache on disk, or compilation is switched off."""
    if UNCOMPILED:
        return True
    return bool(vars(entry)["overloads"]) or bool(vars(entry)["_cache"]._cache_file._load_index())


@cache
def announce_compilation(entry: Callable = advance, label: str = "the time step") -> None:
    """Writes to the terminal if this process will compile a function; checked once in each process."""
    if not is_compiled(entry):
        sys.stderr.write(f"phloat: compiling {label}, once per installation; this takes a quarter of a minute …\n")
        sys.stderr.flush()
