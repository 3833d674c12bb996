"""Forces over an elongation or a rate as users give them: a number, a table, a function with its range, or polynomials."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from scipy.interpolate import PPoly

from phloat.errors import InputError, finite, not_negative
from phloat.joints.pieces import CHECKS, NONE, Pieces, fitted, from_polynomials, straight

Curve: TypeAlias = float | Mapping[float, float] | Callable[[float], float] | PPoly
Range: TypeAlias = Sequence[float] | None


def curve(what: str, given: object, over: Range = None) -> tuple[float, Pieces]:
    """A constant slope and pieces, one of them zero or empty, from what a user gives.

    A mapping {argument: force} is linear between its entries, a function becomes polynomials that miss it by 1e-10 of the force
    there, and a PPoly of SciPy (CubicSpline …) is taken as it is. Beyond the range all go on with the slope at its end.
    """
    known = isinstance(given, PPoly)
    if over is not None and (known or not callable(given)):
        raise InputError(f"{what} has over={over!r}, which belongs to a function; this is {_said(given)}")
    if isinstance(given, Mapping):
        return 0.0, _tabulated(what, given)
    if known:
        return 0.0, from_polynomials(what, given)
    if callable(given):
        return 0.0, _fitted(what, given, over)
    return not_negative(what, float(finite(what, given, ()))), NONE


def resistance(what: str, given: object, over: Range = None) -> tuple[float, Pieces]:
    """A curve over the rate whose force times rate is nowhere negative; raises InputError otherwise."""
    constant, pieces = curve(what, given, over)
    if pieces.empty:
        return constant, pieces
    low, high = pieces.bounds[0], pieces.bounds[-1]
    rate = pieces.bounds if isinstance(given, Mapping) else np.union1d(np.linspace(low, high, CHECKS), pieces.bounds)
    force = pieces.values(rate)
    small = 1e-12 * float(np.abs(force).max())
    if (wrong := np.flatnonzero(np.sign(rate) * force < (0.0 if isinstance(given, Mapping) else -small))).size:
        i = int(wrong[0])
        raise InputError(
            f"{what} gives energy: at the rate {rate[i]:g} its force is {force[i]:g}; it must have that sign"
        )
    if abs(start := pieces.value(0.0)) > small:
        raise InputError(f"{what} gives energy: without any rate its force is {start:g}; it must be zero there")
    for slope, end in ((pieces.c[0, 1], low), (pieces.c[-1, 1], high)):
        if slope * (high - low) < -small:
            raise InputError(
                f"{what} falls at its end {end:g} and would give energy beyond; let it end level or rising"
            )
    return constant, pieces


def _tabulated(what: str, given: Mapping[float, float]) -> Pieces:
    if len(given) < 2:
        raise InputError(f"{what} is a table of {len(given)}; it needs at least two entries {{argument: force}}")
    pairs = [(float(finite(f"{what} at", x, ())), float(finite(f"{what} at {x!r}", f, ()))) for x, f in given.items()]
    x, f = np.array(sorted(pairs)).T
    return straight(x, f)


def _fitted(what: str, given: Callable[[float], float], over: Range) -> Pieces:
    if over is None:
        raise InputError(f"{what} is a function; say where it will be needed: over=(from, to)")
    low, high = map(float, finite(f"over of {what}", over, (2,)))
    if not low < high:
        raise InputError(f"over of {what} is {tuple(over)}; it must rise")
    return fitted(what, given, low, high)


def _said(given: object) -> str:
    if isinstance(given, PPoly):
        return "piecewise polynomials, which have their own range"
    return "a table" if isinstance(given, Mapping) else f"{given!r}"
