"""Linear algebra by one thread, because the round-off of a parallel sum depends on the number of threads.

    @one_thread()
    def modes(...): ...

limits the OpenBLAS of NumPy and SciPy to one thread while the function runs, so that results do not depend on their number. For
other libraries set that number before Python starts (MKL_NUM_THREADS=1).
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import numpy as np
import scipy

WORDS = [f"{prefix}openblas_{{}}_num_threads{end}" for prefix in ("scipy_", "") for end in ("64_", "")]

_lock = threading.Lock()
_inside = 0  # number of active contexts
_before: list[int] = []  # number of threads of each library before the first context


@contextmanager
def one_thread() -> Iterator[None]:
    """Limits linear algebra to one thread in this context; the last Python thread that leaves it restores the number."""
    global _inside, _before
    with _lock:
        if not _inside:
            _before = [get() for get, _ in _libraries()]
            _set([1] * len(_before))
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                _set(_before)


def _set(counts: list[int]) -> None:
    for (get, change), count in zip(_libraries(), counts, strict=True):
        if get() != count:
            change(count)


@cache
def _libraries() -> list[tuple[Callable[[], int], Callable[[int], object]]]:
    """The functions that get and set the number of threads of every OpenBLAS in this process."""
    out = []
    for file in _files():
        with suppress(OSError):
            library = ctypes.CDLL(file)  # returns the library that is already loaded
            word = next((word for word in WORDS if hasattr(library, word.format("set"))), None)
            if word is not None:
                out.append((getattr(library, word.format("get")), getattr(library, word.format("set"))))
    return out


def _files() -> list[str]:
    packages = [Path(str(package.__file__)).parent for package in (np, scipy)]
    folders = [folder for home in packages for folder in (home.parent / f"{home.name}.libs", home / ".dylibs")]
    files = {str(file) for folder in folders for file in folder.glob("*openblas*")}
    with suppress(OSError):  # a library that is not part of a wheel is found on Linux
        lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
        files |= {line.split(maxsplit=5)[5] for line in lines if "openblas" in line and line.endswith(".so")}
    return sorted(files)
