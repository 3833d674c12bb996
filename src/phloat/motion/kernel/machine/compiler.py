"""Decorators that compile functions of the kernel, with a cache that sees changes in any of its files."""

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numba as nb

from phloat.motion.kernel.machine.uncompiled import PLAIN

PHLOAT = Path(__file__).parents[3]
SOURCES = [
    file
    for pattern in ("motion/kernel/**/*.py", "motion/continuous/*.py", "joints/scalar.py", "joints/row_functions.py")
    for file in sorted(PHLOAT.glob(pattern))
]


def _source_stamp() -> str:
    """A digest of the times and sizes of all compiled files."""
    found = [file.stat() for file in SOURCES]
    return hashlib.sha256(repr([(s.st_mtime, s.st_size) for s in found]).encode()).hexdigest()


_STAMP = _source_stamp()


def _index(load: Callable[[], dict[Any, Any]]) -> dict[Any, Any]:
    """What the cache has of a function; nothing if that was written by a version with other classes."""
    try:
        return load()
    except (AttributeError, ImportError):
        return {}


def compiled(**options: Any) -> Callable:
    """A decorator that compiles with these options.

    Numba's cache compares the file of a function with what was compiled, not the files of the functions that it calls, which are
    compiled into it. The stamp stands for all of them.
    """
    make = nb.njit(**options)

    def decorated(function: Callable) -> Callable:
        out = make(function)
        if not PLAIN:
            file = out._cache._cache_file
            file._source_stamp, file._load_index = _STAMP, partial(_index, file._load_index)
        return out

    return decorated


_options: dict[str, Any] = {
    "cache": True,
    "fastmath": {"reassoc", "contract", "nsz"},
    "error_model": "numpy",
    "nogil": True,
}
# Nothing is allocated, so nothing is counted (_nrt): references to arrays would be, at every call, by atomic operations.
_lean = {**_options, "_nrt": False}
# Without what Python needs to call it: sooner compiled. Called from Python all the same, it ends the process.
_inside = {**_lean, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
jit = compiled(**_lean)
inner = compiled(**_inside)
hot = compiled(**_inside, forceinline=True)
rare = compiled(**_inside, forceinline=False)  # what `hot` functions call becomes `hot` too, unless it says otherwise
part = compiled(**_lean, inline="always")  # large, called once: compiled with what calls it instead of twice
making = compiled(**_options)  # for what makes arrays of its own
exact = compiled(**{**_inside, "fastmath": False})  # sums in the order in which they are written
