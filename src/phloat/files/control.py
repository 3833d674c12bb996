"""Controllers as a file says them: passive ones by their gains, energy shaping by its target; sampled if asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from phloat.algebra.layout import Layout
from phloat.control.coupling import Wire
from phloat.control.energy_shaping import energy_shaping
from phloat.control.passive import combine_controllers, passive_controller, passive_pid
from phloat.control.sampled import Sampled
from phloat.errors import InputError
from phloat.files.start import VALUES
from phloat.linear.form.phdae import LinearPHDAE
from phloat.motion.initial.place import place
from phloat.system.system import System
from phloat.system.words.beside import File, arrays_in
from phloat.system.words.choices import Case, Choice
from phloat.system.words.groups import Field, ListOf, MapOf, OneOf, Record
from phloat.system.words.kinds import NAME, Known, Pen, Plain, Schema, Word
from phloat.system.words.matter import itself, of_type
from phloat.system.words.node import Node
from phloat.system.words.numbers import Quantity, not_negative, positive

EFFORT = Quantity(("torsional stiffness", "stiffness"), least=0.0)
LOSS = Quantity(("torsional damping", "damping"), least=0.0)
PLACE = Quantity(("angle", "length"))


@dataclass(frozen=True)
class Pid:
    """Damper, spring about a target and inertia at a port."""

    port: str
    damping: float = 0.0
    stiffness: float = 0.0
    inertia: float = 0.0
    filter: float = 0.0
    target: float = 0.0
    name: str = ""

    def __call__(self, system: System) -> Any:
        gains = {name: value for name, value in vars(self).items() if name != "port"}
        return passive_pid(self.port, **gains)


@dataclass(frozen=True, eq=False)
class Shaping:
    """The energy of joints shaped so that their targets are its least."""

    target: Mapping[str, float]
    stiffness: float | Mapping[str, float]
    damping: float | Mapping[str, float]
    near: Mapping[str, Any] | None = None

    def __call__(self, system: System) -> Any:
        near = None if self.near is None else place(system, {}, near=self.near)
        return energy_shaping(system, self.target, stiffness=self.stiffness, damping=self.damping, near=near)


@dataclass(frozen=True, eq=False)
class Together:
    """Several passive controllers as one."""

    parts: tuple[Callable[[System], Any], ...]

    def __call__(self, system: System) -> Any:
        return combine_controllers(*(part(system) for part in self.parts))


@dataclass(frozen=True, eq=False)
class Timed:
    """A controller in a computer: asked every so many seconds, late, and limited."""

    of: Callable[[System], Any]
    every: float
    delay: float = 0.0
    saturation: float | Mapping[str, float] | None = None

    def __call__(self, system: System) -> Any:
        return Sampled(self.of(system), every=self.every, delay=self.delay, saturation=self.saturation)


@dataclass(frozen=True, eq=False)
class Wired:
    """Any passive port-Hamiltonian controller by its matrices E, J, R, B, each port wired to one of the plant's."""

    matrices: Mapping[str, np.ndarray]
    wires: Mapping[str, str]
    gain: float = 1.0

    def __post_init__(self) -> None:
        B = np.atleast_2d(self.matrices["B"])
        if B.shape[1] != len(self.wires):
            raise InputError(
                f"B has {B.shape[1]} columns and there are {len(self.wires)} wires; a port has one of each"
            )

    def __call__(self, system: System) -> Any:
        E, J, R, B = (np.asarray(self.matrices[name], dtype=float) for name in "EJRB")
        ports = Layout(dict.fromkeys(self.wires, (1,)), "port")
        controller = LinearPHDAE(E=E, J=J, R=R, B=B, rows=Layout({"x": (len(E),)}, "row"), ports=ports)
        return passive_controller(controller, *(Wire(mine, plant, self.gain) for mine, plant in self.wires.items()))


def matrices_of(path: Path) -> dict[str, np.ndarray]:
    """E, J, R and B of a file."""
    arrays = arrays_in(path)
    if lacking := [name for name in "EJRB" if name not in arrays]:
        raise InputError(f"{path.name} holds no {lacking[0]}; matrices of a controller are E, J, R and B")
    return {name: arrays[name] for name in "EJRB"}


def each(kind: Quantity) -> OneOf:
    """A number for all joints, or one for each."""
    return OneOf((kind, MapOf(kind, what="joint")), lambda v: int(isinstance(v, Mapping)))


PID = Record(
    "a PID controller",
    (
        Field("port", Word(what="a port"), "where it acts"),
        Field("damping", LOSS, "on the rate: a damper", 0.0),
        Field("stiffness", EFFORT, "on the position: a spring about its target", 0.0),
        Field("inertia", not_negative("inertia", "mass"), "on the acceleration: an inertia", 0.0),
        Field("filter", not_negative("time"), "the time constant of the inertia", 0.0),
        Field("target", PLACE, "where the spring is relaxed", 0.0),
        Field("name", NAME, "its name; that of its port unless said", ""),
    ),
    Pid,
)
SHAPING = Record(
    "energy shaping",
    (
        Field("target", MapOf(PLACE, least=1, what="joint"), "{joint: angle or slide}"),
        Field("stiffness", each(EFFORT), "of all joints, or {joint: …}"),
        Field("damping", each(LOSS), "likewise"),
        Field("near", VALUES, "a guess that picks the branch", None),
    ),
    Shaping,
)


class Later:
    """A controller inside another."""

    said = "a controller"

    def takes(self, node: Node) -> bool:
        return node.entries is not None

    def read(self, node: Node, known: Known) -> Any:
        return CONTROLLER.read(node, known)

    def write(self, value: Any, pen: Pen) -> Plain:
        return CONTROLLER.write(value, pen)

    def schema(self) -> Schema:
        return {"$ref": "#/$defs/controller"}


TIMED = Record(
    "a sampled controller",
    (
        Field("of", Later(), "the controller"),
        Field("every", positive("time"), "its sample time"),
        Field("delay", not_negative("time"), "from a sample to its effort", 0.0),
        Field("saturation", each(positive("force", "torque")), "the largest effort, or {port: …}", None),
    ),
    Timed,
)


class MatrixFile(File):
    """The matrices of a controller, read from and written to a file."""

    def write(self, value: Any, pen: Pen) -> Plain:
        if pen.arrays is None:
            raise InputError("the matrices of a controller need a file beside the model: save_model(…) writes one")
        return pen.arrays("controller", value)


WIRED = Record(
    "a wired controller",
    (
        Field("matrices", MatrixFile("a file of matrices"), "E, J, R and B as arrays of NumPy, .npz"),
        Field("wires", MapOf(Word(what="a port of the plant"), least=1), "{port of the controller: port of the plant}"),
        Field("gain", Quantity(("number",)), "of every wire", 1.0),
    ),
    lambda matrices, **options: Wired(matrices_of(matrices), **options),
)
CONTROLLER = Choice(
    "a controller",
    (
        Case("pid", PID, itself, of_type(Pid), doc="damper, spring and inertia at a port"),
        Case(
            "energy shaping",
            SHAPING,
            itself,
            of_type(Shaping),
            doc="brings joints to their targets, bent links and gravity included",
        ),
        Case(
            "together",
            ListOf(Later(), least=1),
            Together,
            lambda v: (v.parts, {}) if isinstance(v, Together) else None,
            doc="several passive ones",
        ),
        Case("wired", WIRED, itself, of_type(Wired), doc="any port-Hamiltonian controller, by its matrices"),
        Case("sampled", TIMED, itself, of_type(Timed), doc="in a computer"),
    ),
)
