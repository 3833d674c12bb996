"""Compilation of the time step in a separate process, announced on the terminal.

In the process that compiles, functions call each other as compiled one by one; from the cache they come with inlined copies, which
round differently. With a separate compiler process the first run and all later ones are equal, bit for bit.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache

from phloat.motion.kernel.machine.uncompiled import UNCOMPILED
from phloat.motion.kernel.step import advance

COMPILING = "PHLOAT_COMPILING"  # set in a process that compiles
BEGIN = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from phloat.motion import compiled; compiled.{}()"


def is_compiled(entry: Callable = advance) -> bool:
    """Whether a function is compiled in this process or in the cache on disk, or compilation is switched off."""
    if UNCOMPILED:
        return True
    return bool(vars(entry)["overloads"]) or bool(vars(entry)["_cache"]._cache_file._load_index())


@cache
def compile_apart(entry: Callable = advance, label: str = "the time step", warm: str = "warm") -> None:
    """Compiles a function in a separate process if it is not in the cache; if that fails, this process will compile it.

    Checked once in each process.
    """
    if is_compiled(entry) or COMPILING in os.environ:
        return
    sys.stderr.write(f"phloat: compiling {label}, once per installation; this takes a minute …\n")
    sys.stderr.flush()
    if getattr(sys, "frozen", False):  # sys.executable is no Python interpreter
        return
    path = json.dumps([folder or os.getcwd() for folder in sys.path])
    with suppress(OSError):
        subprocess.run(
            [sys.executable, "-c", BEGIN.format(warm), path],
            env=os.environ | {COMPILING: "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
