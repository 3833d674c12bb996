"""Inputs over time: constants, piecewise linear functions, functions of t.

Each has its value at t, its means over intervals (for steps) and its rate (for accelerations).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from phloat.errors import InputError, finite, mapping

GAUSS = ((-np.sqrt(0.6), 5 / 18), (0.0, 8 / 18), (np.sqrt(0.6), 5 / 18))
MAX_DEPTH = 40  # bisections of an interval …
MAX_PARTS = 2**15  # … and parts that are bisected at once; only noise needs more
STEP = 1e-4  # s: of differences; their relative error is 1e-9 at 1000 rad/s, and 1e-12 by round-off
CENTRAL = {-3: -1 / 60, -2: 3 / 20, -1: -3 / 4, 1: 3 / 4, 2: -3 / 20, 3: 1 / 60}  # f' to sixth order
FORWARD = {0: -49 / 20, 1: 6.0, 2: -15 / 2, 3: 20 / 3, 4: -15 / 4, 5: 6 / 5, 6: -1 / 6}  # f' from values after t


class Signal(ABC):
    """A vector as a function of time."""

    @abstractmethod
    def at(self, t: float) -> np.ndarray: ...

    @abstractmethod
    def means(self, times: np.ndarray) -> np.ndarray:
        """The means between successive times, as rows."""

    @abstractmethod
    def rate(self, t: float) -> np.ndarray: ...

    def mean(self, t0: float, t1: float) -> np.ndarray:
        return self.means(np.array([t0, t1]))[0]


@dataclass(frozen=True, eq=False)
class Constant(Signal):
    """A constant value."""

    value: np.ndarray

    def at(self, t: float) -> np.ndarray:
        return self.value

    def mean(self, t0: float, t1: float) -> np.ndarray:
        return self.value  # faster than means

    def means(self, times: np.ndarray) -> np.ndarray:
        return np.tile(self.value, (len(times) - 1, 1))

    def rate(self, t: float) -> np.ndarray:
        return np.zeros_like(self.value)


@dataclass(frozen=True, eq=False)
class Piecewise:
    """Linear interpolation between values at ascending times, constant before the first and after the last; call it with t."""

    times: np.ndarray
    values: np.ndarray  # (times,) or (times, components)

    def __call__(self, t: float) -> np.ndarray:
        k = int(np.searchsorted(self.times, t, side="right"))
        if k == 0 or k == len(self.times):
            return self.values[0 if k == 0 else -1]
        part = (t - self.times[k - 1]) / (self.times[k] - self.times[k - 1])
        return (1.0 - part) * self.values[k - 1] + part * self.values[k]

    def mean(self, t0: float, t1: float) -> np.ndarray:
        return self.means(np.array([t0, t1]))[0]

    def means(self, times: np.ndarray) -> np.ndarray:
        """The exact means between successive times; intervals that contain corners are integrated piece by piece."""
        times, last = np.asarray(times), len(self.times)
        passed = np.searchsorted(self.times, times, side="right")
        middle = 0.5 * (times[:-1] + times[1:])
        k = np.searchsorted(self.times, middle, side="right")
        inside = np.clip(k, 1, max(last - 1, 1))
        before, after = self.times[inside - 1], self.times[np.minimum(inside, last - 1)]
        part = (middle - before) / np.where(after > before, after - before, 1.0)
        part = part.reshape(-1, *[1] * (self.values.ndim - 1))
        out = (1.0 - part) * self.values[inside - 1] + part * self.values[np.minimum(inside, last - 1)]
        out[k == 0], out[k == last] = self.values[0], self.values[-1]
        for i in np.flatnonzero(passed[:-1] != passed[1:]):
            (start, stop), (first, end) = sorted(times[i : i + 2]), sorted(passed[i : i + 2])
            corners = np.concatenate([[start], self.times[first:end], [stop]])
            out[i] = np.trapezoid(np.array([self(t) for t in corners]), corners, axis=0) / (stop - start)
        return out

    def rate(self, t: float) -> np.ndarray:
        """The slope at t; at a corner that of the following line."""
        k = int(np.searchsorted(self.times, t, side="right"))
        if k == 0 or k == len(self.times):
            return np.zeros_like(self.values[0])
        return (self.values[k] - self.values[k - 1]) / (self.times[k] - self.times[k - 1])


def piecewise(values: Mapping[float, object]) -> Piecewise:
    """An input by its corners, {t: value}: straight lines between them, constant before the first and after the last.

    Parameters
    ----------
    values : dict of float to float or sequence of float
        Values at times in s, in any order: numbers, or vectors of one length, in the units of the port. A jump is two times close
        together.

    Returns
    -------
    Piecewise
        A function of t with exact means over steps.

    Raises
    ------
    InputError
        No corners, two values at one time, or values of different shapes.

    Examples
    --------
    >>> torque = ph.piecewise({0.0: 0.0, 1.0: 4.0})
    >>> print(torque(0.25), torque(3.0))
    1.0 4.0
    >>> force = ph.piecewise({0.0: (0.0, 0.0, 0.0), 0.5: (10.0, 0.0, -2.0)})
    >>> print(force(0.25))
    [ 5.  0. -1.]
    """
    corners = mapping("piecewise", values, "{t: value}")
    if not corners:
        raise InputError("piecewise has no corners; give at least one: piecewise({0.0: 0.0, 0.2: 200.0})")
    times = np.array([float(finite("a time of piecewise", t, ())) for t in corners])
    shape = np.shape(next(iter(corners.values())))
    if len(shape) > 1:
        raise InputError(f"a value of piecewise has shape {shape}; it must be a number or a row of numbers")
    rows = [finite(f"piecewise at t = {t:g}", v, shape) for t, v in zip(times, corners.values(), strict=True)]
    order = np.argsort(times, kind="stable")
    times = times[order]
    if len(times) > 1 and np.diff(times).min() == 0.0:
        repeated = times[int(np.argmin(np.diff(times)))]
        raise InputError(f"piecewise has two values at t = {repeated:g}; for a jump give two times close together")
    return Piecewise(times, np.array(rows)[order])


@dataclass(frozen=True, eq=False)
class Corners(Signal):
    """A Piecewise as the input of a port; a bounded one (a table) has no values outside its times."""

    name: str
    lines: Piecewise
    bounded: bool

    def at(self, t: float) -> np.ndarray:
        self._require_inside(t)
        return np.atleast_1d(self.lines(t))

    def means(self, times: np.ndarray) -> np.ndarray:
        self._require_inside(times)
        return self.lines.means(times).reshape(len(times) - 1, -1)

    def rate(self, t: float) -> np.ndarray:
        self._require_inside(t)
        times = self.lines.times
        last = self.bounded and len(times) > 1 and t >= times[-1]  # the last line goes on
        return np.atleast_1d(self.lines.rate(0.5 * (times[-2] + times[-1]) if last else t))

    def _require_inside(self, times: float | np.ndarray) -> None:
        first, last = float(self.lines.times[0]), float(self.lines.times[-1])
        slack, t = 1e-9 * (last - first), np.atleast_1d(times)  # t = k dt does not hit the last time exactly
        if self.bounded and (outside := (t < first - slack) | (t > last + slack)).any():
            raise InputError(
                f"input {self.name!r} is a table from {first:g} to {last:g} s; there is no value at t = {t[outside][0]:g} s "
                "(piecewise({…}) goes on with its last one)"
            )


@dataclass(frozen=True, eq=False)
class Function(Signal):
    """A function of t as the input of a port; its values are checked."""

    name: str
    function: Callable[[float], object]
    shape: tuple[int, ...]

    def at(self, t: float) -> np.ndarray:
        return as_vector(f"input {self.name!r} at t = {t:g} s", self.function(t), self.shape)

    def values(self, times: np.ndarray) -> np.ndarray:
        """The values at several times, as rows."""
        return as_vectors(f"input {self.name!r}", [self.function(t) for t in times], times, self.shape)

    def means(self, times: np.ndarray) -> np.ndarray:
        """The means between successive times by three Gauss points."""
        return self.interval_means(times[:-1], times[1:])

    def interval_means(self, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """The means over intervals, as rows."""
        middle, half = 0.5 * (starts + ends), 0.5 * (ends - starts)
        points = np.stack([middle + half * x for x, _ in GAUSS], axis=1)
        values = self.values(points.ravel()).reshape(len(middle), len(GAUSS), -1)
        return sum((weight * values[:, k] for k, (_, weight) in enumerate(GAUSS)), np.zeros(self.shape))

    def rate(self, t: float) -> np.ndarray:
        return derivative(self.at, t)


@dataclass(frozen=True, eq=False)
class Resolved(Function):
    """A function whose means are computed to the relative tolerance `close`, by adaptive bisection."""

    close: float

    def means(self, times: np.ndarray) -> np.ndarray:
        times = np.asarray(times)
        middle = np.column_stack([times[:-1], 0.5 * (times[:-1] + times[1:])]).ravel()
        halves = super().means(np.append(middle, times[-1])).reshape(len(times) - 1, 2, -1)
        out, coarse = halves.mean(axis=1), super().means(times)
        size = np.abs(halves).max(axis=(1, 2)) + np.abs(coarse).max(axis=1)
        for k in np.flatnonzero(np.abs(out - coarse).max(axis=1) > self.close * size):
            out[k] = self._bisected_mean(float(times[k]), float(times[k + 1]), coarse[k])
        return out

    def _bisected_mean(self, a: float, b: float, mean: np.ndarray) -> np.ndarray:
        """The mean over [a, b]; `mean` is its estimate by three Gauss points.

        Errors are relative to the largest mean of all parts; relative to their own size, parts in the tail of a pulse would never
        converge.
        """
        starts, ends, estimates = np.array([a]), np.array([b]), mean[None]
        out, size = np.zeros_like(mean), float(np.abs(mean).max())
        for depth in range(MAX_DEPTH):
            middle = 0.5 * (starts + ends)
            starts, ends = np.stack([starts, middle], axis=1), np.stack([middle, ends], axis=1)
            halves = self.interval_means(starts.ravel(), ends.ravel()).reshape(len(middle), 2, -1)
            refined, size = halves.mean(axis=1), max(size, float(np.abs(halves).max()))
            rest = np.abs(refined - estimates).max(axis=1) > self.close * size
            out += 0.5**depth * refined[~rest].sum(axis=0)
            if not 0 < rest.sum() < MAX_PARTS:
                break
            starts, ends, estimates = starts[rest].ravel(), ends[rest].ravel(), halves[rest].reshape(-1, len(mean))
        return out + 0.5**depth * refined[rest].sum(axis=0)


def derivative(f: Callable[[float], np.ndarray], t: float, step: float = STEP) -> np.ndarray:
    """f'(t) to sixth order. From t = 0 on, where runs begin, f is not evaluated before t."""
    weights = FORWARD if 0.0 <= t < 3 * step else CENTRAL
    return sum((w * f(t + k * step) for k, w in weights.items() if k), weights.get(0, 0.0) * f(t)) / step


def as_vector(label: str, value: object, shape: tuple[int, ...]) -> np.ndarray:
    """`value` as floats of this shape; a number is accepted for a port of one component."""
    if shape == (1,) and not isinstance(value, (list, tuple)) and getattr(value, "ndim", 0) == 0:
        return finite(label, value, ()).reshape(1)
    return finite(label, value, shape)


def as_vectors(label: str, values: Sequence[object], times: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Values at several times, as rows. They are checked all at once, and one by one only for the error message."""
    try:
        rows = np.asarray(values)
    except ValueError:  # rows of different length
        rows = np.asarray(None)
    fits = rows.shape == (len(times), *shape) or (shape == (1,) and rows.shape == (len(times),))
    if fits and rows.dtype.kind in "biuf" and np.isfinite(rows).all():
        return rows.astype(float).reshape(len(times), *shape)
    return np.array(
        [as_vector(f"{label} at t = {t:g} s", value, shape) for t, value in zip(times, values, strict=True)]
    )
