"""Decorators that compile functions of the kernel, with a cache that is invalidated by changes in any of its files."""

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numba as nb

from phloat.motion.kernel.machine.uncompiled import UNCOMPILED

PHLOAT = Path(__file__).parents[3]
SOURCES = [
    file
    for pattern in ("motion/kernel/**/*.py", "motion/continuous/*.py", "joints/scalar.py", "joints/row_functions.py")
    for file in sorted(PHLOAT.glob(pattern))
]


def _source_stamp() -> str:
    """A digest of the times and sizes of all compiled files."""
    stats = [file.stat() for file in SOURCES]
    return hashlib.sha256(repr([(s.st_mtime, s.st_size) for s in stats]).encode()).hexdigest()


_STAMP = _source_stamp()


def _load_cache(load: Callable[[], dict[Any, Any]]) -> dict[Any, Any]:
    """The cache index of a function; empty if it was written by a version with other classes."""
    try:
        return load()
    except (AttributeError, ImportError):
        return {}


def compiled(**options: Any) -> Callable:
    """A decorator that compiles with these options.

    Numba's cache checks the file of a function, not the files of the functions that are compiled into it; the stamp covers all.
    """
    compile_function = nb.njit(**options)

    def decorator(function: Callable) -> Callable:
        dispatcher = compile_function(function)
        if not UNCOMPILED:
            file = dispatcher._cache._cache_file
            file._source_stamp, file._load_index = _STAMP, partial(_load_cache, file._load_index)
        return dispatcher

    return decorator


_options: dict[str, Any] = {
    "cache": True,
    "fastmath": {"reassoc", "contract", "nsz"},
    "error_model": "numpy",
    "nogil": True,
}
# These functions allocate nothing, so reference counting is off (_nrt): it costs atomic operations at every call.
_no_references = {**_options, "_nrt": False}
# Without the wrapper for calls from Python: compiles faster. A call from Python ends the process.
_internal = {**_no_references, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
jit = compiled(**_no_references)
inner = compiled(**_internal)
hot = compiled(**_internal, forceinline=True)
rare = compiled(**_internal, forceinline=False)  # LLVM may inline functions into `hot` callers; these stay separate
part = compiled(**_no_references, inline="always")  # large, called once: inlined by Numba instead of compiled twice
allocating = compiled(**_options)  # for functions that allocate arrays
exact = compiled(**{**_internal, "fastmath": False})  # sums in the order written
