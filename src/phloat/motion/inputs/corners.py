"""Where inputs have corners, jumps or short pulses: steps that follow an error estimate end there.

Tables and `piecewise` inputs list their corners. A function of t is looked at in SCAN places of the run, and the run is cut into
pieces in which it is nearly a parabola, so that no step passes a pulse without seeing it; jumps are narrowed down to
round-off. What is shorter than 1/SCAN of the run may be missed: `corners=` of simulate says where it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from phloat.motion.inputs.drives import Path
from phloat.motion.inputs.signals import Corners, Function, Signal, as_vectors

SCAN = 8192  # places of a run where a function is looked at
CLOSE = 0.02  # of the range of a function: how far it may be from a parabola in a piece
MOST = 2048  # pieces: with more of them a function is a wave that the steps must follow anyway
ABRUPT = 0.25  # of the range of a function: a jump between two places
NARROWING = 60
PULSE = 16  # fixed steps between two corners that are nearer than one step


@dataclass(frozen=True, eq=False)
class Stops:
    """Times that no step passes, ascending, and those of them at which multistep schemes restart."""

    times: np.ndarray
    breaks: frozenset[float]

    def after(self, t: float) -> float:
        """The first stop after t; infinite if there is none."""
        if not len(self.times):
            return np.inf
        k = int(self.times.searchsorted(t, side="right"))
        return float(self.times[k]) if k < len(self.times) else np.inf


NO_STOPS = Stops(np.zeros(0), frozenset())


def find_stops(
    signals: Mapping[str, Signal], start: float, end: float, more: Iterable[float] = (), dt: float = np.inf
) -> Stops:
    """The corners of inputs between start and end; of functions only what steps of dt would not see."""
    hard, soft = [np.asarray(list(more), dtype=float)], [np.zeros(0)]
    for signal in signals.values():
        if isinstance(signal, Corners):
            hard.append(signal.lines.times)
        elif isinstance(signal, Function | Path):
            pieces, jumps = _pieces(signal, start, end)
            edges = np.array([start, *pieces])
            short = np.diff(edges) < 2.0 * dt
            soft += [edges[:-1][short], edges[1:][short]]
            hard.append(jumps)
    breaks, times = (_inside(np.concatenate(part), start, end) for part in (hard, hard + soft))
    if dt < np.inf and len(times) > 1:  # a pulse that is shorter than a step takes some of its own
        near = [(a, b) for a, b in pairwise(times) if b - a < dt * (1 - 1e-9)]
        times = np.unique([*times, *(x for a, b in near for x in np.linspace(a, b, PULSE + 1)[1:-1])])
    return Stops(times, frozenset(breaks.tolist()))


def _inside(times: np.ndarray, start: float, end: float) -> np.ndarray:
    times = np.unique(times)
    return times[(times > start) & (times < end)]


def _pieces(signal: Function | Path, start: float, end: float) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the pieces in which a function is nearly a parabola, and its jumps."""
    times = np.linspace(start, end, SCAN + 1)
    values = _values(signal, times)
    span = np.ptp(values, axis=0)
    span[span == 0.0] = 1.0
    values = values / span
    waiting, cuts, jumps = [(0, SCAN)], [], []
    while waiting:
        a, b = waiting.pop()
        if b - a == 1 or (_parabolic(values[a : b + 1]) and np.abs(np.diff(values[a : b + 1], axis=0)).max() < ABRUPT):
            if b - a == 1 and np.abs(values[b] - values[a]).max() > ABRUPT:
                jumps += _locate_jump(signal, float(times[a]), float(times[b]), span)
            cuts.append(b)
        else:
            waiting += [((a + b) // 2, b), (a, (a + b) // 2)]
        if len(cuts) > MOST:
            return np.zeros(0), np.zeros(0)
    return times[cuts], np.array(jumps)


def _parabolic(values: np.ndarray) -> bool:
    """Whether values at even places are near the parabola through the first, the middle and the last."""
    x = np.linspace(-1.0, 1.0, len(values))[:, None]
    first, middle, last = values[0], values[len(values) // 2], values[-1]
    at = float(x[len(values) // 2, 0])
    line = 0.5 * ((1.0 - x) * first + (1.0 + x) * last)
    bow = (middle - 0.5 * ((1.0 - at) * first + (1.0 + at) * last)) / (1.0 - at**2)
    return bool(np.abs(values - line - (1.0 - x**2) * bow).max() <= CLOSE)


def _locate_jump(signal: Function | Path, a: float, b: float, span: np.ndarray) -> list[float]:
    """A jump in an interval: halved as long as one half has nearly all of the change."""
    f_a, f_b = _values(signal, np.array([a, b])) / span
    for _ in range(NARROWING):
        middle = 0.5 * (a + b)
        if middle in (a, b):
            break
        f = _values(signal, np.array([middle]))[0] / span
        left, right = np.abs(f - f_a).max(), np.abs(f_b - f).max()
        if min(left, right) > 0.1 * max(left, right):
            return []
        a, b, f_a, f_b = (a, middle, f_a, f) if left > right else (middle, b, f, f_b)
    return [b]


def _values(signal: Function | Path, times: np.ndarray) -> np.ndarray:
    if isinstance(signal, Path):
        return signal.places(times)
    return as_vectors(f"input {signal.name!r}", signal.function, times, signal.shape)
