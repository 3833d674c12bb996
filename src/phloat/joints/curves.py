"""Forces over an elongation or a rate: a number, a table, or a function that becomes a table.

A table is an array of two rows, the argument (ascending) and the force, linear between its columns and extended linearly
beyond them; no columns are no force. The functions up to `curve` take plain arrays, so that a compiled kernel can use them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from phloat.errors import InputError, finite, not_negative

Curve: TypeAlias = float | Mapping[float, float] | Callable[[float], float]
Range: TypeAlias = Sequence[float] | None

SAMPLES = 2001  # of a function, evenly over its range


def segment(table: np.ndarray, x: float) -> int:
    """The column left of x; the first or the last but one beyond the ends."""
    i = int(np.searchsorted(table[0], x)) - 1
    return min(max(i, 0), table.shape[1] - 2)


def slope_at(table: np.ndarray, x: float) -> float:
    """The slope of the table at x."""
    if table.shape[1] == 0:
        return 0.0
    i = segment(table, x)
    return (table[1, i + 1] - table[1, i]) / (table[0, i + 1] - table[0, i])


def value_at(table: np.ndarray, x: float) -> float:
    """The force at x."""
    if table.shape[1] == 0:
        return 0.0
    i = segment(table, x)
    return table[1, i] + slope_at(table, x) * (x - table[0, i])


def secant_at(table: np.ndarray, x: float) -> float:
    """Force over argument, for a table through the origin; its slope where x and 0 lie on one straight piece."""
    if table.shape[1] == 0:
        return 0.0
    if segment(table, x) == segment(table, 0.0):
        return slope_at(table, x)
    return value_at(table, x) / x


def area_to(table: np.ndarray, x: float) -> float:
    """∫ of the force from 0 to x, exact for the straight pieces."""
    if table.shape[1] == 0:
        return 0.0
    return _area_from_start(table, x) - _area_from_start(table, 0.0)


def _area_from_start(table: np.ndarray, x: float) -> float:
    i = segment(table, x)
    whole = 0.0
    for k in range(i):
        whole += 0.5 * (table[1, k] + table[1, k + 1]) * (table[0, k + 1] - table[0, k])
    dx = x - table[0, i]
    return whole + dx * (table[1, i] + 0.5 * slope_at(table, x) * dx)


# --- what users give -------------------------------------------------------------------------------------------------


def curve(what: str, given: object, over: Range = None) -> tuple[float, np.ndarray]:
    """A constant slope and a table, one of them zero or empty, from a number, a mapping {argument: force} or a function."""
    if over is not None and not callable(given):
        raise InputError(f"{what} has over={over!r}, which belongs to a function; this is {_said(given)}")
    if isinstance(given, Mapping):
        return 0.0, _tabulated(what, given)
    if callable(given):
        return 0.0, _sampled(what, given, over)
    return not_negative(what, float(finite(what, given, ()))), np.zeros((2, 0))


def resistance(what: str, given: object, over: Range = None) -> tuple[float, np.ndarray]:
    """A curve over the rate that takes energy at every rate, or a sentence: force times rate must not be negative."""
    constant, table = curve(what, given, over)
    if table.shape[1] == 0:
        return constant, table
    rate, force = table
    small = 1e-12 * float(np.abs(force).max())
    if (wrong := np.flatnonzero(force * rate < 0.0)).size:
        i = int(wrong[0])
        raise InputError(
            f"{what} gives energy: at the rate {rate[i]:g} its force is {force[i]:g}; it must have that sign"
        )
    if abs(start := value_at(table, 0.0)) > small:
        raise InputError(f"{what} gives energy: without any rate its force is {start:g}; it must be zero there")
    for i, end in ((0, rate[0]), (len(rate) - 2, rate[-1])):
        if force[i + 1] < force[i]:
            raise InputError(
                f"{what} falls at its end {end:g} and would give energy beyond; let it end level or rising"
            )
    return constant, table


def _tabulated(what: str, given: Mapping[float, float]) -> np.ndarray:
    if len(given) < 2:
        raise InputError(f"{what} is a table of {len(given)}; it needs at least two entries {{argument: force}}")
    pairs = [(float(finite(f"{what} at", x, ())), float(finite(f"{what} at {x!r}", f, ()))) for x, f in given.items()]
    return np.array(sorted(pairs)).T


def _sampled(what: str, given: Callable[[float], float], over: Range) -> np.ndarray:
    if over is None:
        raise InputError(f"{what} is a function; say where it will be needed: over=(from, to)")
    low, high = finite(f"over of {what}", over, (2,))
    if not low < high:
        raise InputError(f"over of {what} is {tuple(over)}; it must rise")
    x = np.linspace(low, high, SAMPLES)
    if low < 0.0 < high:
        x[np.argmin(np.abs(x))] = 0.0  # where a damper must have no force
    force = [float(finite(f"{what} at {value:g}", given(float(value)), ())) for value in x]
    return np.array([x, force])


def _said(given: object) -> str:
    return "a table" if isinstance(given, Mapping) else f"{given!r}"
