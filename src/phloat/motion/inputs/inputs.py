"""Inputs by port name, over time: u={name: constant | (times, values) | piecewise(…) | f(t) | prescribed_position(f)}."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from phloat.errors import InputError, JointError, PortError, finite_row, mapping, unknown
from phloat.linear.form.phdae import LinearPHDAE
from phloat.motion.inputs.drives import Path, Position
from phloat.motion.inputs.servos import ServoSignal
from phloat.motion.inputs.signals import Constant, Corners, Function, Piecewise, Signal, as_vector, as_vectors
from phloat.system.plausible import warn_of_degrees
from phloat.system.system import System


@dataclass(frozen=True, eq=False)
class Inputs:
    """u(t) of a system, checked: vectors over `system.ports`, zero for ports without an input."""

    system: System | LinearPHDAE
    u: Mapping[str, object] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.system, System | LinearPHDAE):
            raise InputError(f"{type(self.system).__name__} is no System; connect(…) makes one")
        assert self.signals is not None  # raises InputError now for bad inputs, not during a run

    @cached_property
    def signals(self) -> dict[str, Signal]:
        """The input of each port as a function of time."""
        prescribed = mapping("u", {} if self.u is None else self.u, "{port: value}")
        out = {name: _signal(self.system, name, value) for name, value in prescribed.items()}
        first_indices = [self.system.ports[name].start for name in out]
        for k, (name, first) in enumerate(zip(out, first_indices, strict=True)):
            if first in first_indices[:k]:  # a port of a split beam has two names
                raise InputError(
                    f"inputs {list(out)[first_indices.index(first)]!r} and {name!r} are of one port; give one of them"
                )
        return out

    @property
    def paths(self) -> dict[str, Path]:
        """The inputs that are positions."""
        return {name: signal for name, signal in self.signals.items() if isinstance(signal, Path)}

    def at(self, t: float) -> np.ndarray:
        """u(t); of positions their velocities."""
        return self._assemble(lambda signal: signal.at(t))

    def mean(self, t0: float, t1: float) -> np.ndarray:
        """The mean of u over [t0, t1]: exact, except for functions (three Gauss points)."""
        return self._assemble(lambda signal: signal.mean(t0, t1))

    def rate(self, t: float) -> np.ndarray:
        """u̇(t): exact, except for functions (sixth-order differences)."""
        return self._assemble(lambda signal: signal.rate(t))

    def drives_only(self) -> Inputs:
        """The inputs of driven joints, without loads."""
        joints = self.system.joints if isinstance(self.system, System) else {}
        u = {} if self.u is None else self.u
        return Inputs(self.system, {n: v for n, v in u.items() if n in joints and joints[n].driven})

    def _assemble(self, vector_of: Callable[[Signal], np.ndarray]) -> np.ndarray:
        out = np.zeros(self.system.ports.size)
        for name, signal in self.signals.items():
            if not isinstance(signal, ServoSignal):  # its effort depends on the motion
                out[self.system.ports[name]] = vector_of(signal)
        return out


def as_inputs(system: System | LinearPHDAE, u: Mapping[str, object] | Inputs | None) -> Inputs:
    """Inputs of a system, from a mapping, None, or Inputs."""
    return u if isinstance(u, Inputs) else Inputs(system, u)


def _signal(system: System | LinearPHDAE, name: object, value: object) -> Signal:
    if not isinstance(name, str) or name not in system.ports:
        raise PortError(unknown("port", name, system.ports))
    shape = system.ports.shape(name)
    if isinstance(value, ServoSignal):
        return value
    if isinstance(value, Position):
        if not isinstance(system, System):
            raise InputError(f"input {name!r} is a position; ports of a linear system take velocities or efforts")
        return _path(system, name, value)
    return as_signal(name, value, shape)


def as_signal(name: str, value: Any, shape: tuple[int, ...]) -> Signal:
    """A signal of this shape from a constant, a table (times, values), piecewise(…) or a function of t."""
    if callable(value) and not isinstance(value, Piecewise):
        return Function(name, value, shape)
    bounded = isinstance(value, (tuple, list)) and len(value) == 2 and np.ndim(value[0]) == 1
    if isinstance(value, (tuple, list)) and bounded:
        return Corners(name, _table(f"input {name!r}", value[0], value[1], shape), True)
    if isinstance(value, Piecewise):
        as_vector(f"input {name!r}", value.values[0], shape)
        return Corners(name, value, False)
    return Constant(as_vector(f"input {name!r}", value, shape))


def _path(system: System, name: str, position: Position) -> Path:
    """A position as input of a port. Raises JointError if the port is not driven or has no position."""
    joint = system.joints.get(name)
    if joint is None or not joint.driven:
        raise JointError(
            f"input {name!r} is a position, but it takes an effort; only driven joints take positions: "
            "Drive(…), or drive(system, name)"
        )
    if not all(row.has_gap for row in joint.driven):
        raise JointError(f"input {name!r} is a position, but this joint has no angle or slide; give its rate instead")
    if any(row.is_angle for row in joint.driven):
        ends = (getattr(position.function, end, 0.0) for end in ("to", "origin"))
        warn_of_degrees(f"the position of {name!r}", *ends)
    posed = joint.joint.moves_ground and sum(not row.is_length for row in joint.driven) == 3
    return Path(name, position, system.ports.shape(name), posed)


def _table(label: str, times: object, values: Any, shape: tuple[int, ...]) -> Piecewise:
    t, values_shape = finite_row(f"the times of {label}", times), np.asarray(values, dtype=object).shape
    if len(t) < 2 or values_shape[:1] != t.shape:
        raise InputError(
            f"{label} is a pair of {len(t)} times and values of shape {values_shape}; "
            "it must be (times, values) with a value for each of two times or more"
        )
    if np.diff(t).min() <= 0.0:
        raise InputError(f"the times of {label} must ascend; {t[int(np.argmin(np.diff(t))) + 1]:g} does not")
    return Piecewise(t, as_vectors(label, values, t, shape))


# --- corners ---------------------------------------------------------------------------------------------------------
#
# Corners, jumps and short pulses of inputs: adaptive steps end there.
#
# Tables and `piecewise` inputs list their corners. A function of t is sampled SCAN times during the run, and the run is divided
# into pieces in which it is nearly a parabola, so that no step misses a pulse; jumps are located to round-off. Pulses shorter than
# 1/SCAN of the run may be missed: pass their times to simulate as `corners=`.


SCAN = 8192  # samples of a function during a run
PARABOLIC = 0.02  # of the range of a function: its distance from a parabola in a piece
MAX_PIECES = 2048  # a function with more pieces is a wave that all steps must resolve anyway
JUMP = 0.25  # of the range of a function: a change between two samples
BISECTIONS = 60
PULSE = 16  # fixed steps between two corners less than one step apart


@dataclass(frozen=True, eq=False)
class Stops:
    """Times, ascending, at which steps must end, and those of them at which multistep schemes restart."""

    times: np.ndarray
    breaks: frozenset[float]

    def after(self, t: float) -> float:
        """The first stop after t; infinity if there is none."""
        if not len(self.times):
            return np.inf
        k = int(self.times.searchsorted(t, side="right"))
        return float(self.times[k]) if k < len(self.times) else np.inf


NO_STOPS = Stops(np.zeros(0), frozenset())


def find_stops(
    signals: Mapping[str, Signal], start: float, end: float, more: Iterable[float] = (), dt: float = np.inf
) -> Stops:
    """The corners of inputs between start and end; of functions only those that steps of dt would miss."""
    hard, soft = [np.asarray(list(more), dtype=float)], [np.zeros(0)]
    for signal in signals.values():
        if isinstance(signal, Corners):
            hard.append(signal.lines.times)
        elif isinstance(signal, ServoSignal):
            hard.append(signal.corners)
        elif isinstance(signal, Function | Path):
            pieces, jumps = _pieces(signal, start, end)
            edges = np.array([start, *pieces])
            short = np.diff(edges) < 2.0 * dt
            soft += [edges[:-1][short], edges[1:][short]]
            hard.append(jumps)
    breaks, times = (_interior(np.concatenate(part), start, end) for part in (hard, hard + soft))
    if dt < np.inf and len(times) > 1:  # a pulse shorter than a step is divided
        near = [(a, b) for a, b in pairwise(times) if b - a < dt * (1 - 1e-9)]
        times = np.unique([*times, *(x for a, b in near for x in np.linspace(a, b, PULSE + 1)[1:-1])])
    return Stops(times, frozenset(breaks.tolist()))


def _interior(times: np.ndarray, start: float, end: float) -> np.ndarray:
    """The times strictly between start and end, ascending."""
    times = np.unique(times)
    return times[(times > start) & (times < end)]


def _pieces(signal: Function | Path, start: float, end: float) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the pieces in which a function is nearly a parabola, and its jumps."""
    times = np.linspace(start, end, SCAN + 1)
    values = _values(signal, times)
    span = np.ptp(values, axis=0)
    span[span == 0.0] = 1.0
    values = values / span
    waiting, cuts, jumps = [(0, SCAN)], [], []
    while waiting:
        a, b = waiting.pop()
        if b - a == 1 or (_parabolic(values[a : b + 1]) and np.abs(np.diff(values[a : b + 1], axis=0)).max() < JUMP):
            if b - a == 1 and np.abs(values[b] - values[a]).max() > JUMP:
                jumps += _locate_jump(signal, float(times[a]), float(times[b]), span)
            cuts.append(b)
        else:
            waiting += [((a + b) // 2, b), (a, (a + b) // 2)]
        if len(cuts) > MAX_PIECES:
            return np.zeros(0), np.zeros(0)
    return times[cuts], np.array(jumps)


def _parabolic(values: np.ndarray) -> bool:
    """Whether equidistant values are close to the parabola through the first, the middle and the last."""
    x = np.linspace(-1.0, 1.0, len(values))[:, None]
    first, middle, last = values[0], values[len(values) // 2], values[-1]
    x_middle = float(x[len(values) // 2, 0])
    line = 0.5 * ((1.0 - x) * first + (1.0 + x) * last)
    bow = (middle - 0.5 * ((1.0 - x_middle) * first + (1.0 + x_middle) * last)) / (1.0 - x_middle**2)
    return bool(np.abs(values - line - (1.0 - x**2) * bow).max() <= PARABOLIC)


def _locate_jump(signal: Function | Path, a: float, b: float, span: np.ndarray) -> list[float]:
    """The time of a jump within [a, b] by bisection; empty if the change is not abrupt."""
    f_a, f_b = _values(signal, np.array([a, b])) / span
    for _ in range(BISECTIONS):
        middle = 0.5 * (a + b)
        if middle in (a, b):
            break
        f = _values(signal, np.array([middle]))[0] / span
        change_left, change_right = np.abs(f - f_a).max(), np.abs(f_b - f).max()
        if min(change_left, change_right) > 0.1 * max(change_left, change_right):
            return []
        a, b, f_a, f_b = (a, middle, f_a, f) if change_left > change_right else (middle, b, f, f_b)
    return [b]


def _values(signal: Function | Path, times: np.ndarray) -> np.ndarray:
    return signal.positions_at(times) if isinstance(signal, Path) else signal.values(times)
