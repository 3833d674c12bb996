"""A result at other times: by dense output, or in a window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from phloat.errors import InputError

Result: TypeAlias = Any  # of motion.result, which imports this module
INSTANT = 1e-12  # of a time: times within it are equal


def at_times(result: Result, times: np.ndarray) -> Result:
    """A result at other times, by dense output; accounts are interpolated linearly."""
    times = times[times <= result.t[-1] * (1 + 1e-12)]
    e = np.array([result.at(min(time, result.t[-1])).e for time in times]).reshape(len(times), -1)
    return _with_rows(result, times, e, lambda lines: _lines(times, result.t, lines))


def window(result: Result, start: float, end: float) -> Result:
    """The output times and the events of a result between two times."""
    t = result.t
    rows = np.flatnonzero((t >= start - INSTANT * abs(start)) & (t <= end + INSTANT * abs(end)))
    if not len(rows):
        limits = f"between {start:g} and {end:g} s" if np.isfinite(end) else f"at {start:g} s or later"
        raise InputError(f"no output time lies {limits}; the run has {len(t)} from {t[0]:g} to {t[-1]:g} s")
    happened = tuple(event for event in result.events if start <= event.t <= end)
    names: Any = result.info.get("events", ())
    listed = tuple((time, name) for time, name in names if start <= time <= end)
    if result.turned is None and result.turning:  # turns are counted from the start of the run
        result = replace(result, turned=np.stack([result.coordinates[name] for name in result.turning], axis=1))
    result = replace(result, events=happened, info={**result.info, "events": listed})
    return at_rows(result, rows)


def at_rows(result: Result, rows: np.ndarray) -> Result:
    """A result at some of its output times."""
    return _with_rows(result, result.t[rows], result.e[rows], lambda lines: lines[rows])


def _with_rows(result: Result, t: np.ndarray, e: np.ndarray, at: Callable[[np.ndarray], np.ndarray]) -> Result:
    """A result at the times t with the states e; `at` takes its other series (times, …) to these times."""
    accounts, efforts = result.accounts, result.efforts
    if accounts is not None:
        series: dict[str, Any] = {
            name: at(getattr(accounts, name)) for name in ("bodies", "losses", "works", "springs")
        }
        accounts = replace(accounts, **series)
    if efforts is not None:
        efforts = replace(efforts, values=at(efforts.values))
    turned = None if result.turned is None else at(result.turned)
    return replace(result, t=t, e=e, lam=at(result.lam), accounts=accounts, turned=turned, efforts=efforts)


def _lines(times: np.ndarray, t: np.ndarray, values: np.ndarray) -> np.ndarray:
    flat = values.reshape(len(t), -1)
    return np.array([np.interp(times, t, column) for column in flat.T]).T.reshape(len(times), *values.shape[1:])
