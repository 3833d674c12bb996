"""Commands that leave no vibration behind: convolved with a few impulses that cancel the modes they would excite.

zero vibration (Singer, Seering 1990):  A = (1, K)/(1 + K) at t = 0, π/ω_d,   K = exp(−ζπ/√(1−ζ²))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, overload

import numpy as np

from phloat.errors import InputError, finite, positive
from phloat.linear.analysis.modes import Modes
from phloat.motion.inputs.signals import Piecewise

KINDS = {"ZV": (1.0, 1.0), "ZVD": (1.0, 2.0, 1.0), "ZVDD": (1.0, 3.0, 3.0, 1.0)}

Mode = float | complex | tuple[float, float]
Command = Callable[[float], object]


def shaper_impulses(modes: Mode | Iterable[Mode] | Modes, kind: str = "ZV") -> tuple[np.ndarray, np.ndarray]:
    """Times and amplitudes, which add up to 1, that leave no vibration in these modes.

    A mode is ω (rad/s), a pair (ω, damping ratio) or a pole. "ZVD" stays good where frequencies are not known well.
    """
    if kind not in KINDS:
        raise InputError(f"kind is {kind!r}; there are: {', '.join(KINDS)}")
    times, sizes = np.zeros(1), np.ones(1)
    for omega, zeta in _listed(modes):
        root = np.sqrt(1.0 - zeta**2)
        K, half = np.exp(-zeta * np.pi / root), np.pi / (omega * root)
        weights = np.array([c * K**k for k, c in enumerate(KINDS[kind])])
        later = half * np.arange(len(weights))
        times = (times[:, None] + later).ravel()
        sizes = (sizes[:, None] * weights / weights.sum()).ravel()
    order = np.argsort(times, kind="stable")
    return times[order], sizes[order]


@overload
def shape_input(command: Piecewise, modes: Mode | Iterable[Mode] | Modes, kind: str = "ZV") -> Piecewise: ...


@overload
def shape_input(command: Command, modes: Mode | Iterable[Mode] | Modes, kind: str = "ZV") -> Command: ...


def shape_input(
    command: Piecewise | Command, modes: Mode | Iterable[Mode] | Modes, kind: str = "ZV"
) -> Piecewise | Command:
    """Σ A_i command(t − t_i): the command, a little longer, that these modes do not feel when it is over.

    A piecewise command stays one. A function is asked for times before the start of a run too.
    """
    times, sizes = shaper_impulses(modes, kind)
    if isinstance(command, Piecewise):
        corners = np.unique((times[:, None] + command.times).ravel())
        corners = corners[np.concatenate([[True], np.diff(corners) > 1e-12 * max(float(np.ptp(corners)), 1e-300)])]
        values = [sum(A * command(t - s) for s, A in zip(times, sizes, strict=True)) for t in corners]
        return Piecewise(corners, np.array(values))
    if not callable(command):
        raise InputError(f"the command is {command!r}; it must be piecewise(…) or a function of t")

    def sum_of_later_ones(t: float) -> object:
        return sum(A * np.asarray(command(t - s), dtype=float) for s, A in zip(times, sizes, strict=True))

    return sum_of_later_ones


def _listed(modes: Mode | Iterable[Mode] | Modes) -> list[tuple[float, float]]:
    """(ω, ζ) of each mode, ω undamped."""
    if isinstance(modes, Modes):
        given: list[Any] = list(modes.poles[modes.rigid :])
    elif np.ndim(np.asarray(modes, dtype=object)) == 0 or (isinstance(modes, tuple) and len(modes) == 2):
        given = [modes]
    else:
        given = list(modes) if isinstance(modes, Iterable) else [modes]
    out = []
    for mode in given:
        if isinstance(mode, tuple) and len(mode) == 2:
            omega, zeta = positive("a frequency to shape for", mode[0]), float(finite("a damping ratio", mode[1], ()))
        elif np.iscomplexobj(mode) and np.imag(mode) != 0.0:
            omega, zeta = float(np.abs(mode)), float(-np.real(mode) / np.abs(mode))
        else:
            omega, zeta = positive("a frequency to shape for", np.real(mode)), 0.0
        if not 0.0 <= zeta < 1.0:
            raise InputError(
                f"the mode at {omega:g} rad/s has the damping ratio {zeta:g}; a mode that swings has 0 ≤ ζ < 1"
            )
        out.append((omega, zeta))
    if not out:
        raise InputError("there is no mode to shape for; give its frequency in rad/s")
    return out
