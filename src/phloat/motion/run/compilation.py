"""Compilation of the time step, in a process of its own; a message on the terminal announces it.

A process that compiles does not run what it writes to Numba's cache: its functions call those that were compiled one by one
before, those of the cache carry copies that were compiled together. They round differently. With a process of its own for the
compiler the first run is, bit for bit, all later ones.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache

from phloat.motion.kernel.machine.uncompiled import PLAIN
from phloat.motion.kernel.step import advance

COMPILING = "PHLOAT_COMPILING"  # set where a process is there to compile
BEGIN = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from phloat.motion import compiled; compiled.{}()"


def is_compiled(entry: Callable = advance) -> bool:
    """Whether a function is compiled in this process or in the cache on disk, or compilation is switched off."""
    if PLAIN:
        return True
    return bool(vars(entry)["overloads"]) or bool(vars(entry)["_cache"]._cache_file._load_index())


@cache
def compile_apart(entry: Callable = advance, what: str = "the time step", warm: str = "warm") -> None:
    """Compiles a function in another process if it is not in the cache; if that fails, this process will compile it.

    It looks once in a process.
    """
    if is_compiled(entry) or COMPILING in os.environ:
        return
    sys.stderr.write(f"phloat: compiling {what}, once per installation; this takes a minute …\n")
    sys.stderr.flush()
    if getattr(sys, "frozen", False):  # then this program is no Python
        return
    path = json.dumps([folder or os.getcwd() for folder in sys.path])
    with suppress(OSError):
        subprocess.run(
            [sys.executable, "-c", BEGIN.format(warm), path],
            env=os.environ | {COMPILING: "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
