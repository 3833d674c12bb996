"""Where a controller touches a plant: wires between ports, and the position of a port."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np

from phloat.errors import InputError, PortError, SampleTimeWarning, finite, unknown
from phloat.joints.rows import Row
from phloat.joints.wire import Wire
from phloat.linear.march import WAY
from phloat.linear.phdae import LinearPHDAE
from phloat.motion.run.outputs import Outputs
from phloat.system.system import System

__all__ = ["Closes", "Model", "Wire", "axis", "numbers", "often_enough", "place_of", "step_of"]

Model = System | LinearPHDAE

ENOUGH = 10  # samples to a period of the fastest mode


@runtime_checkable
class Closes(Protocol):
    """A controller that closes the loop of a linear plant by itself."""

    def loop(self, plant: LinearPHDAE) -> LinearPHDAE: ...


def axis(system: System, port: str) -> Row:
    """The one free axis of a joint, angle or slide, that a port is."""
    if port not in system.ports:
        raise PortError(unknown("port", port, system.ports))
    joint = system.joints.get(port)
    if joint is None or joint.driven or len(joint.free) != 1 or not joint.free[0].coordinate:
        there = [n for n, c in system.joints.items() if len(c.free) == 1 and c.free[0].coordinate]
        raise PortError(
            f"port {port!r} is not the one free axis of a joint, which has a position; "
            f"there are: {', '.join(there) or 'none'}"
        )
    return joint.free[0]


def place_of(y: Any, port: str, origin: float) -> float:
    """The position of a port: the angle or slide of a joint, or of a linear plant its origin and its way from there."""
    if isinstance(y, Outputs):
        return float(y[f"{port}.{axis(y.system, port).label}"])
    return origin + float(y[port + WAY])


def step_of(model: Model, port: str, change: float) -> float:
    """A change of position; of an angle in space, whose turns are not counted, the shorter way."""
    if isinstance(model, System) and model.plane is None and axis(model, port).is_angle:
        return float(change - 2 * np.pi * np.round(change / (2 * np.pi)))
    return change


def numbers(what: str, given: object) -> dict[str, float]:
    """{port: number}, checked."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(f"{what} is {given!r}; it must be a mapping {{port: number}}")
    return {str(port): float(finite(f"{what} of {port!r}", value, ())) for port, value in given.items()}


def often_enough(every: float, fastest: float) -> None:
    """A warning where a controller is asked too rarely for the fastest mode it keeps (rad/s)."""
    longest = 2 * np.pi / (ENOUGH * max(fastest, 1e-300))
    if every > longest * (1 + 1e-9):
        warnings.warn(
            f"the sample time {every:g} s is too long for the fastest kept mode, {fastest:.4g} rad/s: it gets "
            f"{ENOUGH * longest / every:.2g} samples a period; take {longest:.2g} s or less, or keep slower modes",
            SampleTimeWarning,
            stacklevel=5,
        )
