"""The initial state of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from phloat.algebra.metadata import describe
from phloat.analysis.steady_spin import steady_spin
from phloat.errors import InputError
from phloat.format.derive import record
from phloat.format.kinds import ANY_NUMBER, Context, Kind, Matrix3, Number, Plain, Schema, Writer, vector_of
from phloat.format.node import Node
from phloat.format.records import OneOf
from phloat.motion.initial.equilibrium import equilibrium
from phloat.motion.initial.place import place
from phloat.motion.initial.set_moving import set_moving
from phloat.motion.initial.settle import settle
from phloat.motion.inputs.inputs import Inputs
from phloat.system.connect import lock
from phloat.system.state import State
from phloat.system.system import System
from phloat.system.units import coordinate_unit, unit_of

MEASURED = {"m": "length", "rad": "angle", "m/s": "velocity", "rad/s": "angular rate"}


class StateValues(Kind):
    """Reads the quantities of a state from a mapping by name, with units: {rod.theta: 30 deg, rod.r_P: [15 cm, 0]}."""

    expected = "quantities by name: {rod.theta: 30 deg}"

    def read(self, node: Node, context: Context) -> dict[str, Any]:
        if node.entries is None:
            node.fail_expected(self.expected)
        return {name: self._kind(name, inner).read(inner, context) for name, inner in node.entries.items()}

    @staticmethod
    def _kind(name: str, node: Node) -> Kind:
        """The kind of a quantity; any unit is allowed if the name does not determine it."""
        quantity = name.rpartition(".")[2]
        of_joint = quantity.startswith(("angle", "slide"))
        unit = coordinate_unit(name) + "/s" * quantity.endswith("_rate") if of_joint else unit_of(quantity)
        quantities = (MEASURED[unit],) if unit in MEASURED else ()
        if name.endswith(".A_IB"):
            return Matrix3()
        return vector_of(quantities, 0) if node.items is not None else Number(quantities)

    def write(self, value: Mapping[str, Any], writer: Writer) -> Plain:
        return {name: np.asarray(x, dtype=float).tolist() for name, x in value.items()}

    def schema(self) -> Schema:
        inner = OneOf((ANY_NUMBER, vector_of((), 0), Matrix3()), lambda v: 0).schema()
        return {"type": "object", "additionalProperties": inner}


@dataclass(frozen=True)
class SteadySpin:
    """A steady rotation of the system about an axis."""

    rate: float = field(metadata=describe("angular velocity", "angular rate"))
    axis: tuple[float, ...] = field(default=(0.0, 0.0, 1.0), metadata=describe("inertial axis", "direction"))
    about: tuple[float, ...] = field(default=(0.0, 0.0, 0.0), metadata=describe("a point on the axis", "length"))


@dataclass(frozen=True)
class Start:
    """The initial state: `place`, `set_moving`, then `settle` or `equilibrium`; or a steady spin."""

    place: Mapping[str, Any] = field(default_factory=dict, metadata=describe("prescribed; all joints are closed"))
    near: Mapping[str, Any] = field(default_factory=dict, metadata=describe("a guess that selects the branch"))
    moving: Mapping[str, Any] | None = field(default=None, metadata=describe("prescribed velocities; others follow"))
    settle: bool = field(default=False, metadata=describe("deformation that goes with the motion, without vibration"))
    equilibrium: bool = field(default=False, metadata=describe("forces balance at rest; servos hold their joints"))
    spin: SteadySpin | None = field(default=None, metadata=describe("the whole rotates steadily, balanced"))

    def __post_init__(self) -> None:
        if self.spin is not None and (self.place or self.moving is not None or self.settle or self.equilibrium):
            raise InputError("spin is a start of its own; beside it only near is allowed")
        if self.equilibrium and (self.settle or self.moving):
            raise InputError("equilibrium is a state at rest; leave out moving and settle")


VALUES = StateValues()
SPIN = record(SteadySpin, "a spin", short="rate")
START = record(Start, "a start", place=VALUES, near=VALUES, moving=VALUES, spin=SPIN)


def initial_state(system: System, start: Start, inputs: Mapping[str, Any], t: float, held: Sequence[str] = ()) -> State:
    """The state described by a start, at the time t (s). The joints `held`, those of servos, do not move in an equilibrium."""
    near = start.near or None
    if start.spin is not None:
        spin = start.spin
        return steady_spin(system, axis=spin.axis, rate=spin.rate, about=spin.about, near=near, u=inputs or None)
    state = place(system, start.place, near=near)
    u = Inputs(system, inputs)
    if start.moving is not None or u.drives_only().signals:
        state = set_moving(system, state, start.moving, u=u, t=t)
    if start.equilibrium:
        return equilibrium(lock(system, *held) if held else system, state, u=u, t=t)
    return settle(system, state, u=u, t=t) if start.settle else state
