"""Distributions of parameters for ensembles.

`ppf` is the quantile function and `cdf` the cumulative probability, as in SciPy, whose distributions can be used, too. Samples are
quantiles of points in [0, 1], so that any sequence of points, such as a Sobol sequence, can be used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from scipy.special import ndtr, ndtri

from phloat.errors import InputError, finite_row, number, positive

__all__ = ["choice", "lognormal", "normal", "triangular", "truncated", "uniform"]

MIN_PROBABILITY = 1e-9  # the smallest probability of the interval of a truncated distribution
MARGIN = 2.0**-53  # smallest distance of points from 0 and 1, where quantiles of normal distributions are infinite


@runtime_checkable
class Distribution(Protocol):
    """A distribution with `ppf` and `cdf`; those of SciPy are accepted, such as scipy.stats.weibull_min(2.0)."""

    def ppf(self, p: np.ndarray) -> np.ndarray: ...
    def cdf(self, x: np.ndarray) -> np.ndarray: ...


@dataclass(frozen=True)
class Normal:
    """The normal distribution; it is unbounded, `truncated(…)` limits it."""

    mean: float
    std: float

    def ppf(self, p: np.ndarray) -> np.ndarray:
        return self.mean + self.std * ndtri(np.clip(p, MARGIN, 1.0 - MARGIN))

    def cdf(self, x: np.ndarray) -> np.ndarray:
        return ndtr((np.asarray(x) - self.mean) / self.std)


@dataclass(frozen=True)
class Uniform:
    """The uniform distribution between `low` and `high`."""

    low: float
    high: float

    def ppf(self, p: np.ndarray) -> np.ndarray:
        return self.low + (self.high - self.low) * np.asarray(p)

    def cdf(self, x: np.ndarray) -> np.ndarray:
        return np.clip((np.asarray(x) - self.low) / (self.high - self.low), 0.0, 1.0)


@dataclass(frozen=True)
class Lognormal:
    """The lognormal distribution, with positive values; `mean` and `std` are those of the values, not of their logarithm."""

    mean: float
    std: float

    @property
    def _logarithm(self) -> Normal:
        variance = np.log1p((self.std / self.mean) ** 2)
        return Normal(float(np.log(self.mean) - 0.5 * variance), float(np.sqrt(variance)))

    def ppf(self, p: np.ndarray) -> np.ndarray:
        return np.exp(self._logarithm.ppf(p))

    def cdf(self, x: np.ndarray) -> np.ndarray:
        x = np.asarray(x, dtype=float)
        return np.where(x > 0.0, self._logarithm.cdf(np.log(np.where(x > 0.0, x, 1.0))), 0.0)


@dataclass(frozen=True)
class Triangular:
    """The triangular distribution between `low` and `high`, with its peak at `mode`."""

    low: float
    mode: float
    high: float

    def ppf(self, p: np.ndarray) -> np.ndarray:
        p, width = np.asarray(p), self.high - self.low
        up, down = self.mode - self.low, self.high - self.mode
        rising = self.low + np.sqrt(p * width * up)
        return np.where(p * width < up, rising, self.high - np.sqrt((1.0 - p) * width * down))

    def cdf(self, x: np.ndarray) -> np.ndarray:
        x, width = np.clip(x, self.low, self.high), self.high - self.low
        up, down = self.mode - self.low, self.high - self.mode
        rising = (x - self.low) ** 2 / (width * up) if up else np.zeros_like(x)
        falling = 1.0 - (self.high - x) ** 2 / (width * down) if down else np.ones_like(x)
        return np.where(x < self.mode, rising, falling)


@dataclass(frozen=True)
class Truncated:
    """The distribution `of`, restricted to values between `low` and `high`."""

    of: Distribution
    low: float
    high: float

    @property
    def _ends(self) -> tuple[float, float]:
        a, b = self.of.cdf(np.array([self.low, self.high]))
        return float(a), float(b)

    def ppf(self, p: np.ndarray) -> np.ndarray:
        a, b = self._ends
        return np.clip(self.of.ppf(a + (b - a) * np.asarray(p)), self.low, self.high)

    def cdf(self, x: np.ndarray) -> np.ndarray:
        a, b = self._ends
        return np.clip((self.of.cdf(x) - a) / (b - a), 0.0, 1.0)


@dataclass(frozen=True)
class Choices:
    """A discrete distribution: one of `values`, with the probabilities `weights`."""

    values: tuple[float, ...]
    weights: tuple[float, ...]  # their sum is 1

    def ppf(self, p: np.ndarray) -> np.ndarray:
        k = np.searchsorted(np.cumsum(self.weights), p, side="right")
        return np.asarray(self.values)[np.minimum(k, len(self.values) - 1)]

    def cdf(self, x: np.ndarray) -> np.ndarray:
        below = np.asarray(self.values) <= np.asarray(x, dtype=float)[..., None]
        return below @ np.asarray(self.weights)


# --- public constructors ---------------------------------------------------------------------------------------------


def normal(mean: float, std: float) -> Normal:
    """The normal distribution. Where values must be positive, truncate it: truncated(normal(1.0, 0.3), low=0.1)."""
    return Normal(number("mean", mean), positive("std", std))


def uniform(low: float, high: float) -> Uniform:
    """The uniform distribution between two limits."""
    return Uniform(*_ascending(low=low, high=high))


def lognormal(mean: float, std: float) -> Lognormal:
    """The lognormal distribution; mean and standard deviation are those of the values, not of their logarithm."""
    return Lognormal(positive("mean", mean), positive("std", std))


def triangular(low: float, mode: float, high: float) -> Triangular:
    """The triangular distribution between two limits, with its peak at `mode`."""
    a, b = _ascending(low=low, high=high)
    peak = number("mode", mode)
    if not a <= peak <= b:
        raise InputError(f"mode = {peak:g} is not between low = {a:g} and high = {b:g}")
    return Triangular(a, peak, b)


def truncated(distribution: Distribution, *, low: float = -np.inf, high: float = np.inf) -> Truncated:
    """A distribution restricted to values between `low` and `high`; raises InputError if it has almost none there."""
    if not isinstance(distribution, Distribution):
        raise InputError(f"{distribution!r} is no distribution; write truncated(normal(1.0, 0.1), low=0.8)")
    a, b = float(low), float(high)
    if np.isnan(a) or np.isnan(b) or not a < b:
        raise InputError(f"low = {a:g} is not below high = {b:g}")
    out = Truncated(distribution, a, b)
    inside = out._ends[1] - out._ends[0]
    if not inside > MIN_PROBABILITY:
        raise InputError(
            f"only {inside:.1e} of {distribution!r} is between {a:g} and {b:g}; there is nothing to draw from"
        )
    return out


def choice(values: Sequence[float], weights: Sequence[float] | None = None) -> Choices:
    """One of these values at random, by default all equally likely. (A plain list as a parameter is a grid, not a choice.)"""
    listed = finite_row("choice", values)
    if not len(listed):
        raise InputError("choice has no values; give at least one: choice([1.0, 2.0])")
    share = np.ones(len(listed)) if weights is None else finite_row("weights", weights)
    if len(share) != len(listed) or share.min() < 0.0 or not share.sum() > 0.0:
        raise InputError(f"weights are {weights!r}; give one for each of the {len(listed)} values, none negative")
    return Choices(tuple(listed.tolist()), tuple((share / share.sum()).tolist()))


def _ascending(**ends: float) -> tuple[float, float]:
    """The two values; raises InputError that names them if the first is not below the second."""
    (first, low), (second, high) = ((name, number(name, value)) for name, value in ends.items())
    if not low < high:
        raise InputError(f"{first} = {low:g} is not below {second} = {high:g}")
    return low, high
