"""Commands: positions or rates as functions of time with their first two derivatives, defined at all times.

    move          from rest to rest in a given time, with continuous acceleration
    trapezoid     from rest to rest within a speed and an acceleration
    polynomial    Σ c_k (t − start)ᵏ
    spline        through the points of a table, with continuous acceleration

A command is constant before its start and after its end. Commands add up, so that moves follow one another: move(…) + move(…).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from phloat.errors import finite, number
from phloat.motion.inputs.signals import Piecewise, derivative

SECOND_STEP = 5e-4  # s: of a difference of rates that are themselves differences


class Command(ABC):
    """A function of time with its rate and acceleration; call it with t, or with an array of times."""

    @abstractmethod
    def derivative(self, times: np.ndarray, order: int) -> np.ndarray:
        """The derivative of this order (0, 1 or 2) at each time, (times, …); at a corner that of what follows."""

    @property
    @abstractmethod
    def corners(self) -> np.ndarray:
        """The times at which a derivative may jump, ascending."""

    @property
    def t_end(self) -> float:
        """The time from which on the command is constant (s); infinity if it never is."""
        return float(self.corners[-1])

    def __call__(self, t: Any) -> Any:
        return self._at(t, 0)

    def rate(self, t: Any) -> Any:
        """The first derivative at t."""
        return self._at(t, 1)

    def acceleration(self, t: Any) -> Any:
        """The second derivative at t."""
        return self._at(t, 2)

    def __add__(self, other: Command) -> Sum:
        return Sum((self, other)) if callable(other) else NotImplemented

    def _at(self, t: Any, order: int) -> Any:
        values = self.derivative(np.atleast_1d(np.asarray(t, dtype=float)), order)
        if np.ndim(t):
            return values
        return float(values[0]) if values.ndim == 1 else values[0]


@dataclass(frozen=True, eq=False)
class CommandPieces:
    """Polynomials Σ c_j xʲ between successive times, x from 0 to 1 in each piece (in s in an endless one); constant outside."""

    times: np.ndarray  # (pieces + 1,), the last may be infinite
    coefficients: np.ndarray  # (pieces, powers, …)

    def derivative(self, times: np.ndarray, order: int) -> np.ndarray:
        ends, c = self.times, self.coefficients
        t = np.clip(times, ends[0], ends[-1])
        k = np.clip(np.searchsorted(ends, t, side="right") - 1, 0, len(c) - 1)
        length = np.diff(ends)[k]
        length = np.where(np.isfinite(length), length, 1.0)
        shape = (-1, *[1] * (c.ndim - 2))
        x, out = ((t - ends[k]) / length).reshape(shape), np.zeros((len(t), *c.shape[2:]))
        for j in range(c.shape[1] - 1, order - 1, -1):
            out = out * x + np.prod(np.arange(j - order + 1, j + 1)) * c[k, j]
        if order:
            inside = (times >= ends[0]) & (times < ends[-1])
            out = out * (inside / length**order).reshape(shape)
        return out


class PiecewiseCommand(Command):
    """A command that consists of polynomials."""

    @cached_property
    def pieces(self) -> CommandPieces:
        return self._pieces()

    @abstractmethod
    def _pieces(self) -> CommandPieces: ...

    def derivative(self, times: np.ndarray, order: int) -> np.ndarray:
        return self.pieces.derivative(times, order)

    @property
    def corners(self) -> np.ndarray:
        return self.pieces.times[np.isfinite(self.pieces.times)]

    @property
    def t_end(self) -> float:
        pieces = self.pieces
        return float(pieces.times[-1] if pieces.coefficients[:, 1:].any() else pieces.times[0])


@dataclass(frozen=True)
class Sum(Command):
    """The sum of several commands or functions of t."""

    parts: tuple[Callable[[float], Any], ...]

    @cached_property
    def commands(self) -> tuple[Command, ...]:
        return tuple(as_command("a part of a sum", part) for part in self.parts)

    def derivative(self, times: np.ndarray, order: int) -> np.ndarray:
        return sum((part.derivative(times, order) for part in self.commands), np.zeros(()))

    @property
    def corners(self) -> np.ndarray:
        return np.unique(np.concatenate([part.corners for part in self.commands]))

    @property
    def t_end(self) -> float:
        return max(part.t_end for part in self.commands)


@dataclass(frozen=True)
class FunctionCommand(Command):
    """A function of t, or corners of straight lines, as a command; derivatives of a function are differences."""

    function: Callable[[float], Any]

    def derivative(self, times: np.ndarray, order: int) -> np.ndarray:
        f = self.function
        value = (self._value, self._rate, lambda t: derivative(self._rate, t, SECOND_STEP))[order]
        if isinstance(f, Piecewise) and order == 2:
            return np.zeros((len(times), *np.shape(f.values[0])))
        return np.array([value(float(t)) for t in times])

    @property
    def corners(self) -> np.ndarray:
        return self.function.times if isinstance(self.function, Piecewise) else np.zeros(0)

    @property
    def t_end(self) -> float:
        return float(self.function.times[-1]) if isinstance(self.function, Piecewise) else np.inf

    def _value(self, t: float) -> np.ndarray:
        value = np.asarray(self.function(t))
        return np.asarray(finite(f"the command at t = {t:g} s", value, value.shape), dtype=float)

    def _rate(self, t: float) -> np.ndarray:
        f = self.function
        return np.asarray(f.rate(t)) if isinstance(f, Piecewise) else derivative(self._value, t)


@dataclass(frozen=True)
class ConstantCommand(PiecewiseCommand):
    """A constant number."""

    value: float

    def _pieces(self) -> CommandPieces:
        return CommandPieces(np.array([0.0, np.inf]), np.array([[self.value]]))


def as_command(label: str, value: Any) -> Command:
    """A command from a command, a function of t, or a constant number."""
    if isinstance(value, Command):
        return value
    if callable(value):
        return FunctionCommand(value)
    return ConstantCommand(number(label, value))
