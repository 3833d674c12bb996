"""The state that a model starts from, as a file says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from phloat.analysis.steady_spin import steady_spin
from phloat.errors import InputError
from phloat.motion.initial.equilibrium import equilibrium
from phloat.motion.initial.place import place
from phloat.motion.initial.set_moving import set_moving
from phloat.motion.initial.settle import settle
from phloat.motion.inputs.inputs import Inputs
from phloat.system.state import State
from phloat.system.system import System
from phloat.system.words.groups import Field, OneOf, Record
from phloat.system.words.kinds import Flag, Known, Pen, Plain, Schema
from phloat.system.words.node import Node
from phloat.system.words.numbers import Direction, Quantity, Square, Vector, quantity

MEASURES = {
    **{"r_P": ("length",), "theta": ("angle",), "v_P": ("velocity",), "omega": ("angular rate",)},
    **{
        "angle": ("angle",),
        "angle_2": ("angle",),
        "slide": ("length",),
        "slide_x": ("length",),
        "slide_y": ("length",),
    },
    **{f"{name}_rate": ("angular rate",) for name in ("angle", "angle_2")},
    **{f"{name}_rate": ("velocity",) for name in ("slide", "slide_x", "slide_y")},
    **{"eta": ("number",), "eta_dot": ("number",)},
}


def measures(name: str) -> tuple[str, ...]:
    """What a quantity of a state measures; any unit where its name does not say."""
    return MEASURES.get(name.rpartition(".")[2], ())


class Values:
    """Quantities of a state by name: {rod.theta: 30 deg, rod.r_P: [15 cm, 0]}."""

    said = "quantities by name: {rod.theta: 30 deg}"

    def takes(self, node: Node) -> bool:
        return node.entries is not None

    def read(self, node: Node, known: Known) -> dict[str, Any]:
        if node.entries is None:
            node.expected(self.said)
        return {name: self._one(name, inner, known) for name, inner in (node.entries or {}).items()}

    @staticmethod
    def _one(name: str, node: Node, known: Known) -> Any:
        of = measures(name)
        if name.endswith(".A_IB"):
            return Square().read(node, known)
        return Vector(of, ()).read(node, known) if node.items is not None else Quantity(of).read(node, known)

    def write(self, value: Mapping[str, Any], pen: Pen) -> Plain:
        return {name: _plain(x) for name, x in value.items()}

    def schema(self) -> Schema:
        inner = OneOf((Quantity(()), Vector((), ()), Square()), lambda v: 0).schema()
        return {"type": "object", "additionalProperties": inner}


def _plain(value: Any) -> Plain:
    array = np.asarray(value, dtype=float)
    return float(array) if array.ndim == 0 else array.tolist()


@dataclass(frozen=True, eq=False)
class Spin:
    """A turn of the whole about an axis."""

    rate: float
    axis: tuple[float, ...] = (0.0, 0.0, 1.0)
    about: tuple[float, ...] = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Start:
    """Where everything stands and how it moves: `place`, `set_moving`, then `settle` or `equilibrium`, or a steady spin."""

    place: Mapping[str, Any] = field(default_factory=dict)
    near: Mapping[str, Any] = field(default_factory=dict)
    moving: Mapping[str, Any] | None = None
    settle: bool = False
    equilibrium: bool = False
    spin: Spin | None = None

    def __post_init__(self) -> None:
        if self.spin is not None and (self.place or self.moving is not None or self.settle or self.equilibrium):
            raise InputError("spin is a start of its own; beside it stands near at most")
        if self.equilibrium and (self.settle or self.moving):
            raise InputError("equilibrium is a state at rest; leave moving and settle away")


VALUES = Values()
START = Record(
    "a start",
    (
        Field("place", VALUES, "quantities that are held; all joints are closed", {}),
        Field("near", VALUES, "a guess for the rest, which picks the branch", {}),
        Field("moving", VALUES, "velocities that are held; the others agree with joints and drives", None),
        Field("settle", Flag(), "deformation that goes with the motion, so that nothing rings", False),
        Field("equilibrium", Flag(), "the state at rest in which all forces balance", False),
        Field(
            "spin",
            Record(
                "a spin",
                (
                    Field("rate", quantity("angular rate"), "how fast it turns"),
                    Field("axis", Direction(), "inertial axis", (0.0, 0.0, 1.0)),
                    Field("about", Vector(("length",)), "a point on the axis", (0.0, 0.0, 0.0)),
                ),
                Spin,
                short="rate",
            ),
            "the whole turns steadily, balanced",
            None,
        ),
    ),
    Start,
)


def started(system: System, start: Start, inputs: Mapping[str, Any], t: float) -> State:
    """The state that a start asks for."""
    near = start.near or None
    if start.spin is not None:
        spin = start.spin
        return steady_spin(system, axis=spin.axis, rate=spin.rate, about=spin.about, near=near, u=inputs or None)
    state = place(system, start.place, near=near)
    u = Inputs(system, inputs)
    if start.moving is not None or u.driving().signals:
        state = set_moving(system, state, start.moving, u=u, t=t)
    if start.equilibrium:
        return equilibrium(system, state, u=u, t=t)
    return settle(system, state, u=u, t=t) if start.settle else state
