"""A result at other times than its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from phloat.motion.result import Books, Result


def at_times(result: Result, times: np.ndarray) -> Result:
    """A result at other times, by dense output; its books are lines between the steps."""
    times = times[times <= result.t[-1] * (1 + 1e-12)]
    e = np.array([result.at(min(time, result.t[-1])).e for time in times]).reshape(len(times), -1)
    books = result.books
    if books is not None:
        lines = [_lines(times, result.t, v) for v in (books.bodies, books.losses, books.works, books.springs)]
        books = Books(books.names, *lines)
    turned = None if result.turned is None else _lines(times, result.t, result.turned)
    return replace(result, t=times, e=e, lam=_lines(times, result.t, result.lam), books=books, turned=turned)


def _lines(times: np.ndarray, t: np.ndarray, values: np.ndarray) -> np.ndarray:
    flat = values.reshape(len(t), -1)
    return np.array([np.interp(times, t, column) for column in flat.T]).T.reshape(len(times), *values.shape[1:])
