"""Input shaping: a command is convolved with impulses so that it leaves no vibration of chosen modes.

Zero vibration (Singer, Seering 1990):  A = (1, K)/(1 + K) at t = 0, π/ω_d,   K = exp(−ζπ/√(1−ζ²))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from phloat.errors import InputError, number, positive
from phloat.linear.analysis.modes import Modes
from phloat.motion.inputs.signals import Piecewise

KINDS = {"ZV": (1.0, 1.0), "ZVD": (1.0, 2.0, 1.0), "ZVDD": (1.0, 3.0, 3.0, 1.0)}

Mode = float | complex | tuple[float, float]
Command = Callable[[float], object]


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


def shape_input(command: Command, modes: Mode | Iterable[Mode] | Modes, kind: str = "ZV") -> Command:
    """The shaped command Σ A_i command(t − t_i), which takes longer and leaves no vibration of these modes at its end.

    A piecewise command gives a piecewise one. A function is also called at times before the start of a run.
    """
    times, sizes = shaper_impulses(modes, kind)
    if not callable(command):
        raise InputError(f"the command is {command!r}; it must be piecewise(…) or a function of t")

    def delayed_sum(t: float) -> object:
        return sum(A * np.asarray(command(t - s), dtype=float) for s, A in zip(times, sizes, strict=True))

    if not isinstance(command, Piecewise):
        return delayed_sum
    corners = np.unique((times[:, None] + command.times).ravel())
    corners = corners[np.concatenate([[True], np.diff(corners) > 1e-12 * max(float(np.ptp(corners)), 1e-300)])]
    return Piecewise(corners, np.array([delayed_sum(t) for t in corners]))


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
