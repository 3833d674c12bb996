"""The loop without its compiler, for debuggers, coverage and faults put in: with NUMBA_DISABLE_JIT=1 functions run as they are
written, and what Numba would turn into instructions of the processor is said with NumPy. Hundreds of times slower.
"""

import numpy as np
from numba import config

PLAIN = bool(vars(config)["DISABLE_JIT"])


def load(array, place):
    return np.array(array[int(place) : int(place) + 4])


def store(array, place, values):
    array[int(place) : int(place) + 4] = values


def spread(value):
    return np.full(4, value)


def pack(a, b, c, d):
    return np.array([a, b, c, d])


def plus(a, b, c):
    return a + b * c


def less(a, b, c):
    return a - b * c


def times(a, b):
    return a * b


def total(a):
    return (a[0] + a[2]) + (a[1] + a[3])


def totals(a, b, c, d):
    return np.array([x[0] + x[1] + (x[2] + x[3]) for x in (a, b, c, d)])


def pointer(array):
    return array


def table(array, columns):
    return array.reshape(-1, columns)


def look(crew, place):
    return crew[place]


def tell(crew, place, value):
    crew[place] = value


def draw(crew, place):
    crew[place] += 1
    return crew[place] - 1


def once():
    pass


LANES = {f.__name__: f for f in (load, store, spread, pack, plus, less, times, total, totals)} | {"size": np.abs}
PLACES = {f.__name__: f for f in (pointer, table)}
CREW = {f.__name__: f for f in (look, tell, draw, once)}
