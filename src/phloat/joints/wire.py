"""Wires: two ports, each of which takes the output of the other."""

from __future__ import annotations

from dataclasses import dataclass

from phloat.errors import InputError, PortError, finite


@dataclass(frozen=True)
class Wire:
    """A port of a controller to a port of the plant: u_plant = −gain y_controller, u_controller = gain y_plant.

    Each takes the other's output, so what one gives the other receives: a gyrator.
    """

    controller: str
    plant: str
    gain: float = 1.0

    def __post_init__(self) -> None:
        for what, name in (("controller", self.controller), ("plant", self.plant)):
            if not isinstance(name, str):
                raise PortError(f"Wire: {name!r} names no port of the {what}")
        if finite("gain of a Wire", self.gain, ()) == 0.0:
            raise InputError("gain of a Wire is zero; nothing would ever pass through it")
