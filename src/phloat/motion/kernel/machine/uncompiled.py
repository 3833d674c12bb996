"""The loop without its compiler, for debuggers, coverage and faults put in: with NUMBA_DISABLE_JIT=1 functions run as they are
written, and what Numba would turn into instructions of the processor is done with NumPy. Hundreds of times slower.
"""

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numba import config, extending

PLAIN = bool(vars(config)["DISABLE_JIT"])
laws: dict[int, Callable[..., None]] = {}  # by the number that stands for their address


def intrinsic(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """A function that writes instructions of the processor, for the compiler; without it the function below."""
    if function is None:
        return partial(intrinsic, **options)
    make: Any = extending.intrinsic
    return PLAINLY[function.__name__] if PLAIN else (make(**options) if options else make)(function)


def _store(array, place, values):
    array[int(place) : int(place) + 4] = values


def _draw(crew, place):
    crew[place] += 1
    return crew[place] - 1


PLAINLY: dict[str, Callable[..., Any]] = {
    "load": lambda array, place: np.array(array[int(place) : int(place) + 4]),
    "store": _store,
    "broadcast": lambda value: np.full(4, value),
    "pack": lambda *numbers: np.array(numbers),
    "plus": lambda a, b, c: a + b * c,
    "less": lambda a, b, c: a - b * c,
    "times": operator.mul,
    "size": np.abs,
    "total": lambda a: (a[0] + a[2]) + (a[1] + a[3]),
    "totals": lambda *four: np.array([a[0] + a[1] + (a[2] + a[3]) for a in four]),
    "pointer": lambda array: array,
    "table": lambda array, columns: array.reshape(-1, columns),
    "look": operator.getitem,
    "tell": operator.setitem,
    "draw": _draw,
    "once": lambda: None,
    "call_law": lambda address, x0, x1, rate, h, w, at, out: laws[int(address)](x0, x1, rate, h, w[at:], w[out:]),
}
