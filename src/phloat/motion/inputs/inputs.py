"""Inputs by port name, over time: u={name: constant | (times, values) | piecewise(…) | f(t) | prescribed_position(f)}."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from phloat.errors import InputError, PortError, finite_row, mapping, unknown
from phloat.linear.form.phdae import LinearPHDAE
from phloat.motion.inputs.drives import Path, Position, path
from phloat.motion.inputs.signals import Constant, Corners, Function, Piecewise, Signal, as_vector
from phloat.system.system import System


@dataclass(frozen=True, eq=False)
class Inputs:
    """u(t) of a system, checked: vectors over `system.ports`, zero where nothing is given."""

    system: System | LinearPHDAE
    u: Mapping[str, object] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.system, System | LinearPHDAE):
            raise InputError(f"{type(self.system).__name__} is no System; connect(…) makes one")
        assert self.signals is not None  # bad input is found here, not in the middle of a run

    @cached_property
    def signals(self) -> dict[str, Signal]:
        """What each given port does over time."""
        given = mapping("u", {} if self.u is None else self.u, "{port: value}")
        out = {name: _signal(self.system, name, value) for name, value in given.items()}
        firsts = [self.system.ports[name].start for name in out]
        for k, (name, first) in enumerate(zip(out, firsts, strict=True)):
            if first in firsts[:k]:  # a port of a split beam has two names
                raise InputError(
                    f"inputs {list(out)[firsts.index(first)]!r} and {name!r} are of one port; give one of them"
                )
        return out

    @property
    def paths(self) -> dict[str, Path]:
        """The inputs that are positions; `at`, `mean` and `rate` hold their velocities, `path.place(t)` the position."""
        return {name: signal for name, signal in self.signals.items() if isinstance(signal, Path)}

    def at(self, t: float) -> np.ndarray:
        """u at t."""
        return self._filled({name: signal.at(t) for name, signal in self._moving.items()})

    def mean(self, t0: float, t1: float) -> np.ndarray:
        """The mean of u over [t0, t1]: exact but for functions, which take three Gauss points."""
        return self._filled({name: signal.mean(t0, t1) for name, signal in self._moving.items()})

    def rate(self, t: float) -> np.ndarray:
        """u̇ at t: exact but for functions, whose differences are of sixth order."""
        out = np.zeros(self.system.ports.size)
        for name, signal in self._moving.items():
            out[self.system.ports[name]] = signal.rate(t)
        return out

    def driving(self) -> Inputs:
        """The inputs that drive joints, without loads."""
        joints = self.system.joints if isinstance(self.system, System) else {}
        given = {} if self.u is None else self.u
        return Inputs(self.system, {n: v for n, v in given.items() if n in joints and joints[n].driven})

    @cached_property
    def _moving(self) -> dict[str, Signal]:
        return {name: signal for name, signal in self.signals.items() if not isinstance(signal, Constant)}

    @cached_property
    def _still(self) -> np.ndarray:
        out = np.zeros(self.system.ports.size)
        for name, signal in self.signals.items():
            if isinstance(signal, Constant):
                out[self.system.ports[name]] = signal.value
        return out

    def _filled(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        out = self._still.copy()
        for name, value in values.items():
            out[self.system.ports[name]] = value
        return out


def as_inputs(system: System | LinearPHDAE, u: Mapping[str, object] | Inputs | None) -> Inputs:
    """Inputs of a system, from a mapping, from None, or checked already."""
    return u if isinstance(u, Inputs) else Inputs(system, u)


def _signal(system: System | LinearPHDAE, name: object, value: object) -> Signal:
    if not isinstance(name, str) or name not in system.ports:
        raise PortError(unknown("port", name, system.ports))
    shape = system.ports.shape(name)
    if isinstance(value, Position):
        if not isinstance(system, System):
            raise InputError(f"input {name!r} is a position; ports of a linear system take velocities or efforts")
        return path(system, name, value)
    if isinstance(value, Piecewise):
        return _corners(name, value, shape, bounded=False)
    if callable(value):
        return Function(name, value, shape)
    if isinstance(value, (tuple, list)) and len(value) == 2 and np.ndim(value[0]) == 1:
        return _corners(name, _table(name, *value), shape, bounded=True)
    return Constant(as_vector(f"input {name!r}", value, shape))


def _table(name: str, times: object, values: object) -> Piecewise:
    t = finite_row(f"the times of input {name!r}", times)
    table = np.asarray(values, dtype=float) if _numbers(values) else np.zeros(0)
    if len(t) < 2 or table.shape[:1] != t.shape or table.ndim > 2:
        raise InputError(
            f"input {name!r} is a pair of {len(t)} times and values of shape {np.shape(table)}; "
            "it must be (times, values) with a value for each of two times or more"
        )
    if np.diff(t).min() <= 0.0:
        raise InputError(f"the times of input {name!r} must ascend; {t[int(np.argmin(np.diff(t))) + 1]:g} does not")
    if not np.isfinite(table).all():
        raise InputError(f"the values of input {name!r} hold NaN or infinity")
    return Piecewise(t, table)


def _numbers(values: object) -> bool:
    try:
        return np.asarray(values).dtype.kind in "biuf"
    except ValueError:  # rows of different length
        return False


def _corners(name: str, lines: Piecewise, shape: tuple[int, ...], *, bounded: bool) -> Corners:
    as_vector(f"input {name!r}", lines.values[0], shape)
    return Corners(name, lines, bounded)
