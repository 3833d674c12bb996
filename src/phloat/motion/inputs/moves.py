"""Commands from rest to rest, polynomials, and splines through tables: dataclasses, as in model files, and their functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from phloat.algebra.metadata import describe
from phloat.algebra.units import si_value
from phloat.errors import InputError, finite, finite_row, number, positive
from phloat.motion.inputs.commands import CommandPieces, PiecewiseCommand

Value = float | Sequence[float]


@dataclass(frozen=True)
class Move(PiecewiseCommand):
    """From rest at one value to rest at another in the time `over`, with continuous acceleration: 10 x³ − 15 x⁴ + 6 x⁵."""

    to: float = field(metadata=describe("final value"))
    over: float = field(metadata=describe("duration", "time", above=0.0))
    origin: float = field(default=0.0, metadata=describe("initial value", key="from"))
    start: float = field(default=0.0, metadata=describe("when it begins", "time"))

    def __post_init__(self) -> None:
        _check(self, "move", "over")

    def _pieces(self) -> CommandPieces:
        change = self.to - self.origin
        powers = [self.origin, 0.0, 0.0, 10.0 * change, -15.0 * change, 6.0 * change]
        return CommandPieces(np.array([self.start, self.start + self.over]), np.array([powers]))


@dataclass(frozen=True)
class Trapezoid(PiecewiseCommand):
    """From rest at one value to rest at another as quickly as a speed and an acceleration allow: its rate is a trapezoid."""

    to: float = field(metadata=describe("final value"))
    speed: float = field(metadata=describe("largest rate", above=0.0))
    acceleration_limit: float = field(metadata=describe("largest acceleration", above=0.0, key="acceleration"))
    origin: float = field(default=0.0, metadata=describe("initial value", key="from"))
    start: float = field(default=0.0, metadata=describe("when it begins", "time"))

    def __post_init__(self) -> None:
        _check(self, "trapezoid", "speed", "acceleration_limit")

    def _pieces(self) -> CommandPieces:
        change, a = self.to - self.origin, self.acceleration_limit
        if change == 0.0:
            return CommandPieces(np.array([self.start, np.inf]), np.array([[self.origin]]))
        v = min(self.speed, np.sqrt(a * abs(change)))
        ramp, cruise, sign = v / a, abs(change) / v - v / a, np.sign(change)
        x = sign * 0.5 * v * ramp  # way of a ramp
        parts = [(ramp, [self.origin, 0.0, x]), (ramp, [self.to - x, 2.0 * x, -x])]
        if cruise > 1e-12 * ramp:
            parts.insert(1, (cruise, [self.origin + x, sign * v * cruise, 0.0]))
        times = self.start + np.cumsum([0.0, *(length for length, _ in parts)])
        return CommandPieces(times, np.array([c for _, c in parts]))


@dataclass(frozen=True)
class InTime(PiecewiseCommand):
    """A polynomial of time, Σ c_k (t − start)ᵏ from `start` to `end`; constant before and after."""

    coefficients: tuple[Value, ...] = field(metadata=describe("of 1, t, t² … in SI units"))
    start: float = field(default=0.0, metadata=describe("where t is counted from; constant before", "time"))
    end: float | None = field(default=None, metadata=describe("constant from here on", "time"))

    def __post_init__(self) -> None:
        if not len(self.coefficients):
            raise InputError("the polynomial has no coefficients; give at least one: [1.0]")
        if self.end is not None and not self.end > self.start:
            raise InputError(f"the end {self.end:g} s is not after the start {self.start:g} s")

    def _pieces(self) -> CommandPieces:
        end = np.inf if self.end is None else self.end
        c = np.array(np.broadcast_arrays(*self.coefficients), dtype=float)
        length = end - self.start if np.isfinite(end) else 1.0
        scale = (length ** np.arange(len(c))).reshape(-1, *[1] * (c.ndim - 1))
        return CommandPieces(np.array([self.start, end]), (c * scale)[None])


@dataclass(frozen=True)
class Spline(PiecewiseCommand):
    """A cubic spline through values at times, at rest at its ends, with continuous acceleration in between."""

    times: tuple[float, ...] = field(metadata=describe("ascending", "time"))
    values: tuple[Value, ...] = field(metadata=describe("a value at each"))

    def __post_init__(self) -> None:
        t = finite_row("the times of a spline", self.times)
        if len(t) < 2 or np.diff(t).min() <= 0.0 or len(self.values) != len(t):
            raise InputError(
                f"a spline of {len(t)} times and {len(self.values)} values: it needs two ascending times or more, one value at each"
            )
        finite("the values of a spline", self.values, np.shape(self.values))

    def _pieces(self) -> CommandPieces:
        t = np.asarray(self.times, dtype=float)
        from scipy.interpolate import CubicSpline  # its import takes 0.1 s

        c = CubicSpline(t, np.asarray(self.values, dtype=float), bc_type="clamped").c[::-1]  # (powers, pieces, …)
        scale = np.diff(t) ** np.arange(len(c))[:, None]
        return CommandPieces(t, np.swapaxes(c * scale.reshape(*scale.shape, *[1] * (c.ndim - 2)), 0, 1))


TEXTS = {  # what texts may measure
    **dict.fromkeys(("to", "origin"), ("length", "angle")),
    **dict.fromkeys(("start", "over"), ("time",)),
    "speed": ("velocity", "angular rate"),
    "acceleration_limit": ("acceleration", "angular acceleration"),
}


def _check(command: Any, word: str, *at_least: str) -> None:
    for name in ("to", "origin", "start", *at_least):
        value = si_value(f"{name} of {word}", getattr(command, name), TEXTS[name])
        object.__setattr__(command, name, value)
    for name in ("to", "origin", "start"):
        number(f"{name} of {word}", getattr(command, name))
    for name in at_least:
        positive(f"{name.removesuffix('_limit')} of {word}", getattr(command, name))


def move(to: float, over: float, *, origin: float = 0.0, start: float = 0.0) -> Move:
    """A command from rest to rest with continuous acceleration, origin + (to − origin)(10 x³ − 15 x⁴ + 6 x⁵).

    Parameters
    ----------
    to : float
        Final value (rad or m, or of a rate rad/s or m/s).
    over : float
        Duration (s). The largest rate is 15/8 of the mean one, the largest acceleration 10/√3 (to − origin)/over².
    origin : float, optional
        Initial value.
    start : float, optional
        Time at which it begins (s); before, the value is `origin`, and after start + over it is `to`.

    Returns
    -------
    Command
        A function of t with `rate(t)`, `acceleration(t)` and `t_end`. Commands add up.

    Examples
    --------
    There and back, with a pause of half a second:

    >>> command = ph.move(0.8, over=1.0) + ph.move(-0.8, over=1.0, start=1.5)
    >>> print([round(command(t), 3) for t in (-1.0, 0.5, 1.2, 2.0, 9.0)], round(command.rate(0.5), 3), command.t_end)
    [0.0, 0.4, 0.8, 0.4, 0.0] 1.5 2.5
    """
    return Move(to, over, origin, start)


def trapezoid(to: float, speed: float, acceleration: float, *, origin: float = 0.0, start: float = 0.0) -> Trapezoid:
    """A command from rest to rest in the shortest time within a speed and an acceleration; its acceleration jumps.

    Parameters
    ----------
    to : float
        Final value (rad or m).
    speed, acceleration : float
        Largest rate and acceleration (rad/s and rad/s², or m/s and m/s²). Over a short way the speed is not reached.
    origin, start : float, optional
        Initial value, and the time at which it begins (s).

    Returns
    -------
    Command
        A function of t with `rate(t)`, `acceleration(t)` and `t_end`. Commands add up.

    Examples
    --------
    >>> command = ph.trapezoid(3.0, speed=1.0, acceleration=2.0)
    >>> print(command.t_end, command.rate(1.0), command.acceleration(3.2))
    3.5 1.0 -2.0
    """
    return Trapezoid(to, speed, acceleration, origin, start)


def polynomial(coefficients: Sequence[Value], *, start: float = 0.0, end: float | None = None) -> InTime:
    """A command Σ c_k (t − start)ᵏ from `start` to `end` (s), constant before and after; without an end it goes on.

    Parameters
    ----------
    coefficients : sequence of float
        Those of 1, t, t² … in SI units.
    start, end : float, optional
        Where t is counted from, and where the command stops (s).

    Returns
    -------
    Command
        A function of t with `rate(t)`, `acceleration(t)` and `t_end`. Commands add up.

    Examples
    --------
    >>> command = ph.polynomial([0.0, 0.0, 0.5], end=2.0)
    >>> print(command(1.0), command.rate(1.0), command(5.0), command.rate(5.0))
    0.5 1.0 2.0 0.0
    """
    return InTime(tuple(coefficients), start, end)


def spline(times: Sequence[float], values: Sequence[Value]) -> Spline:
    """A command from a table: a cubic spline through values at times, at rest at both ends.

    Parameters
    ----------
    times : sequence of float
        Ascending times (s); the command is constant before the first and after the last.
    values : sequence of float
        A value at each time (rad or m).

    Returns
    -------
    Command
        A function of t with `rate(t)`, `acceleration(t)` and `t_end`. Commands add up.

    Examples
    --------
    >>> command = ph.spline([0.0, 1.0, 2.0], [0.0, 0.2, 1.0])
    >>> print(round(command(1.0), 3), command.rate(2.0), command(7.0))
    0.2 0.0 1.0
    """
    return Spline(tuple(np.asarray(times, dtype=float).tolist()), tuple(np.asarray(values, dtype=float).tolist()))
