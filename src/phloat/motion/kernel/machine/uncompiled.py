"""The loop without its compiler, for debuggers, coverage and faults put in: with NUMBA_DISABLE_JIT=1 functions run as they are
written, and what Numba would turn into instructions of the processor is said with NumPy. Hundreds of times slower.
"""

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
    return globals()[f"_{function.__name__}"] if PLAIN else (make(**options) if options else make)(function)


def _load(array, place):
    return np.array(array[int(place) : int(place) + 4])


def _store(array, place, values):
    array[int(place) : int(place) + 4] = values


def _broadcast(value):
    return np.full(4, value)


def _pack(a, b, c, d):
    return np.array([a, b, c, d])


def _plus(a, b, c):
    return a + b * c


def _less(a, b, c):
    return a - b * c


def _times(a, b):
    return a * b


def _total(a):
    return (a[0] + a[2]) + (a[1] + a[3])


def _totals(a, b, c, d):
    return np.array([x[0] + x[1] + (x[2] + x[3]) for x in (a, b, c, d)])


def _pointer(array):
    return array


def _table(array, columns):
    return array.reshape(-1, columns)


def _look(crew, place):
    return crew[place]


def _tell(crew, place, value):
    crew[place] = value


def _draw(crew, place):
    crew[place] += 1
    return crew[place] - 1


def _once():
    pass


def _size(a):
    return np.abs(a)


def _call_law(address, x0, x1, rate, h, w, numbers, out):
    laws[int(address)](x0, x1, rate, h, w[numbers:], w[out:])
