"""The kernel without its compiler, for debuggers, coverage and fault injection: with NUMBA_DISABLE_JIT=1 functions run as Python
and NumPy stands in for intrinsics. Hundreds of times slower.
"""

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numba import config, extending

UNCOMPILED = bool(vars(config)["DISABLE_JIT"])
laws: dict[int, Callable[..., None]] = {}  # by the number that stands for their address


def intrinsic(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Like numba.extending.intrinsic; without the compiler the NumPy function of the same name."""
    if function is None:
        return partial(intrinsic, **options)
    make: Any = extending.intrinsic
    return NUMPY_INTRINSICS[function.__name__] if UNCOMPILED else (make(**options) if options else make)(function)


def _store(array, index, values):
    array[int(index) : int(index) + 4] = values


def _fetch_increment(counters, index):
    counters[index] += 1
    return counters[index] - 1


NUMPY_INTRINSICS: dict[str, Callable[..., Any]] = {
    "load": lambda array, index: np.array(array[int(index) : int(index) + 4]),
    "store": _store,
    "broadcast": lambda value: np.full(4, value),
    "pack": lambda *numbers: np.array(numbers),
    "plus": lambda a, b, c: a + b * c,
    "minus": lambda a, b, c: a - b * c,
    "times": operator.mul,
    "add": operator.add,
    "absolute": np.abs,
    "maximum": np.maximum,
    "largest_of": np.max,
    "total": lambda a: (a[0] + a[2]) + (a[1] + a[3]),
    "totals": lambda *four: np.array([a[0] + a[1] + (a[2] + a[3]) for a in four]),
    "pointer": lambda array: array,
    "table": lambda array, columns: array.reshape(-1, columns),
    "load_atomic": operator.getitem,
    "store_atomic": operator.setitem,
    "fetch_increment": _fetch_increment,
    "no_inline": lambda: None,
    "call_law": lambda address, x0, x1, rate, h, w, p, out: laws[int(address)](x0, x1, rate, h, w[p:], w[out:]),
}
