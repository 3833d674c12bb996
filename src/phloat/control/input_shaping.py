"""Input shaping: a command is convolved with impulses so that it leaves no vibration of chosen modes.

Zero vibration (Singer, Seering 1990):  A = (1, K)/(1 + K) at t = 0, π/ω_d,   K = exp(−ζπ/√(1−ζ²))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from phloat.algebra.metadata import describe
from phloat.errors import InputError, number, positive
from phloat.linear.analysis.modes import Modes
from phloat.motion.inputs.commands import Command, as_command
from phloat.motion.inputs.drives import Position
from phloat.motion.inputs.signals import Piecewise

KINDS = {"ZV": (1.0, 1.0), "ZVD": (1.0, 2.0, 1.0), "ZVDD": (1.0, 3.0, 3.0, 1.0)}

Mode = float | complex | tuple[float, float]


def shaper_impulses(modes: Mode | Iterable[Mode] | Modes, kind: str = "ZV") -> tuple[np.ndarray, np.ndarray]:
    """Times (s) and amplitudes, with the sum 1, of impulses that leave no vibration of these modes.

    A mode is ω (rad/s), a pair (ω, damping ratio) or a pole. "ZVD" and "ZVDD" take longer and are less sensitive to errors of the
    frequencies.
    """
    if kind not in KINDS:
        raise InputError(f"kind is {kind!r}; there are: {', '.join(KINDS)}")
    times, amplitudes = np.zeros(1), np.ones(1)
    for omega, zeta in _frequencies(modes):
        root = np.sqrt(1.0 - zeta**2)
        K, half_period = np.exp(-zeta * np.pi / root), np.pi / (omega * root)
        weights = np.array([c * K**k for k, c in enumerate(KINDS[kind])])
        delays = half_period * np.arange(len(weights))
        times = (times[:, None] + delays).ravel()
        amplitudes = (amplitudes[:, None] * weights / weights.sum()).ravel()
    order = np.argsort(times, kind="stable")
    return times[order], amplitudes[order]


@dataclass(frozen=True)
class Shaped(Command):
    """Σ A_i command(t − t_i): a command convolved with the impulses of a shaper, which ends `added` (s) later."""

    command: Callable[[float], Any]
    modes: tuple[float, ...] = field(metadata=describe("frequencies that it leaves without vibration", "angular rate"))
    damping: tuple[float, ...] = field(default=(0.0,), metadata=describe("damping ratios, of all or of each"))
    kind: str = field(default="ZV", metadata=describe("ZVD and ZVDD are robust and longer", choices=KINDS))

    @cached_property
    def impulses(self) -> tuple[np.ndarray, np.ndarray]:
        """Times (s) and amplitudes of the impulses."""
        ratios = self.damping * (len(self.modes) if len(self.damping) == 1 else 1)
        if len(ratios) != len(self.modes):
            raise InputError(
                f"there are {len(self.modes)} modes and {len(ratios)} damping ratios; give one, or one of each"
            )
        return shaper_impulses(list(zip(self.modes, ratios, strict=True)), self.kind)

    @property
    def added(self) -> float:
        """The time by which it is longer than the command, s."""
        return float(self.impulses[0][-1])

    @cached_property
    def _inner(self) -> Command:
        return as_command("the command to shape", self.command)

    def derivative(self, times: np.ndarray, order: int) -> np.ndarray:
        parts = zip(*self.impulses, strict=True)
        return sum((A * self._inner.derivative(times - delay, order) for delay, A in parts), np.zeros(()))

    @property
    def corners(self) -> np.ndarray:
        return np.unique(np.add.outer(self.impulses[0], self._inner.corners))

    @property
    def t_end(self) -> float:
        return self._inner.t_end + self.added


@dataclass(frozen=True, eq=False)
class ShapedPiecewise(Piecewise):
    """A shaped piecewise input, longer than the original by `added` (s)."""

    added: float = 0.0


def shape_input(command: Any, modes: Mode | Iterable[Mode] | Modes, kind: str = "ZV") -> Any:
    """The shaped command Σ A_i command(t − t_i), which takes longer and leaves no vibration of these modes at its end.

    Parameters
    ----------
    command : Command, callable, piecewise(…) or prescribed_position(…)
        What is shaped. A function of t is also called at times before the start of a run.
    modes : float, (float, float), complex, Modes or a sequence of them
        Frequencies ω (rad/s), pairs (ω, damping ratio), poles, or `modes(…)` of the mechanism with its motors held.
    kind : {"ZV", "ZVD", "ZVDD"}, optional
        The latter two take longer, and are less sensitive to errors of the frequencies.

    Returns
    -------
    Command, Piecewise or Position
        As the command was; `added` is the time that it adds (s): half a period of each mode for "ZV".

    Examples
    --------
    >>> command = ph.control.shape_input(ph.move(0.8, over=1.0), 12.0)
    >>> print(round(command.added, 4), round(command.t_end, 4), command(2.0))
    0.2618 1.2618 0.8
    """
    times, sizes = shaper_impulses(modes, kind)
    if isinstance(command, Position):
        rate = None if command.rate is None else shape_input(command.rate, modes, kind)
        return ShapedPosition(shape_input(command.function, modes, kind), rate)
    if not callable(command):
        raise InputError(f"the command is {command!r}; it must be a command, piecewise(…) or a function of t")
    if not isinstance(command, Piecewise):
        frequencies, ratios = (tuple(numbers) for numbers in zip(*_frequencies(modes), strict=True))
        return Shaped(command, frequencies, ratios, kind)

    def delayed_sum(t: float) -> object:
        return sum(A * np.asarray(command(t - s), dtype=float) for s, A in zip(times, sizes, strict=True))

    corners = np.unique((times[:, None] + command.times).ravel())
    corners = corners[np.concatenate([[True], np.diff(corners) > 1e-12 * max(float(np.ptp(corners)), 1e-300)])]
    return ShapedPiecewise(corners, np.array([delayed_sum(t) for t in corners]), float(times[-1]))


class ShapedPosition(Position):
    """A shaped position of a drive."""

    @property
    def added(self) -> float:
        """The time by which it is longer than the original, s."""
        return float(self.function.added)  # type: ignore[attr-defined]


def _frequencies(modes: Mode | Iterable[Mode] | Modes) -> list[tuple[float, float]]:
    """The undamped frequency ω (rad/s) and the damping ratio ζ of each mode."""
    items: Any = modes.poles[modes.rigid :] if isinstance(modes, Modes) else modes
    if _is_pair(items) or np.ndim(np.asarray(items, dtype=object)) == 0:
        items = [items]
    if not len(items):
        raise InputError("there are no modes to suppress; give at least one mode, or its frequency in rad/s")
    return [_frequency(mode) for mode in items]


def _is_pair(mode: object) -> bool:
    return isinstance(mode, tuple) and len(mode) == 2


def _frequency(mode: Any) -> tuple[float, float]:
    """ω and ζ of one mode; raises InputError unless ω > 0 and 0 ≤ ζ < 1."""
    if _is_pair(mode):
        omega, zeta = positive("a frequency to shape for", mode[0]), number("a damping ratio", mode[1])
    elif np.iscomplexobj(mode) and np.imag(mode) != 0.0:
        omega, zeta = float(np.abs(mode)), float(-np.real(mode) / np.abs(mode))
    else:
        omega, zeta = positive("a frequency to shape for", np.real(mode)), 0.0
    if not 0.0 <= zeta < 1.0:
        raise InputError(f"the mode at {omega:g} rad/s has the damping ratio {zeta:g}; it must be 0 ≤ ζ < 1")
    return omega, zeta
