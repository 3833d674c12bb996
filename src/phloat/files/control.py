"""Controllers of a model: passive ones by their gains, energy shaping by its target; continuous or sampled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from phloat.algebra.layout import Layout
from phloat.algebra.metadata import describe
from phloat.control.energy_shaping import energy_shaping
from phloat.control.passive import combine_controllers, passive_controller, passive_pid
from phloat.control.sampled import Sampled
from phloat.errors import InputError
from phloat.files.start import VALUES
from phloat.format.attached import File, load_arrays, require_arrays, store_arrays
from phloat.format.derive import record, variant, wrapper
from phloat.format.kinds import Converted, ListOf, Number, Recursive, Text, Writer
from phloat.format.records import MapOf, OneOf, Variants
from phloat.linear.form.phdae import LinearPHDAE
from phloat.motion.initial.place import place
from phloat.system.connect import Wire
from phloat.system.system import System

STIFFNESS = Number(("torsional stiffness", "stiffness"), least=0.0)
DAMPING = Number(("torsional damping", "damping"), least=0.0)
POSITION = Number(("angle", "length"))
EFFORT = Number(("force", "torque"), above=0.0)


@dataclass(frozen=True)
class Pid:
    """Damper, spring about a target and inertia at a port."""

    port: str = field(metadata=describe("where it acts"))
    damping: float = field(default=0.0, metadata=describe("on the rate: a damper"))
    stiffness: float = field(default=0.0, metadata=describe("on the position: a spring about its target"))
    inertia: float = field(default=0.0, metadata=describe("on the acceleration", "inertia", "mass", least=0.0))
    filter: float = field(default=0.0, metadata=describe("the time constant of the inertia", "time", least=0.0))
    target: float = field(default=0.0, metadata=describe("where the spring is relaxed"))
    name: str = field(default="", metadata=describe("its name; that of its port by default"))

    def __call__(self, system: System) -> Any:
        gains = {name: value for name, value in vars(self).items() if name != "port"}
        return passive_pid(self.port, **gains)


@dataclass(frozen=True, eq=False)
class EnergyShaping:
    """Shapes the energy of joints so that it is least at their targets, bent links and gravity included."""

    target: Mapping[str, float] = field(metadata=describe("{joint: angle or slide}"))
    stiffness: float | Mapping[str, float] = field(metadata=describe("of all joints, or {joint: …}"))
    damping: float | Mapping[str, float] = field(metadata=describe("of all joints, or {joint: …}"))
    near: Mapping[str, Any] | None = field(default=None, metadata=describe("a guess that selects the branch"))

    def __call__(self, system: System) -> Any:
        near = None if self.near is None else place(system, {}, near=self.near)
        return energy_shaping(system, self.target, stiffness=self.stiffness, damping=self.damping, near=near)


@dataclass(frozen=True, eq=False)
class JointControllers:
    """Several passive controllers as one."""

    parts: tuple[Callable[[System], Any], ...]

    def __call__(self, system: System) -> Any:
        return combine_controllers(*(part(system) for part in self.parts))


@dataclass(frozen=True, eq=False)
class SampledController:
    """A controller in a computer: sampled, with a delay and limited efforts."""

    of: Callable[[System], Any] = field(metadata=describe("the controller"))
    every: float = field(metadata=describe("sample time", "time", above=0.0))
    delay: float = field(default=0.0, metadata=describe("from a sample to its effort", "time", least=0.0))
    saturation: float | Mapping[str, float] | None = field(default=None, metadata=describe("the largest effort"))

    def __call__(self, system: System) -> Any:
        return Sampled(self.of(system), every=self.every, delay=self.delay, saturation=self.saturation)


@dataclass(frozen=True, eq=False)
class WiredController:
    """A passive port-Hamiltonian controller by its matrices E, J, R, B, each port wired to one of the plant's."""

    matrices: Mapping[str, np.ndarray] = field(metadata=describe("E, J, R and B as NumPy arrays, .npz"))
    wires: Mapping[str, str] = field(metadata=describe("{port of the controller: port of the plant}"))
    gain: float = field(default=1.0, metadata=describe("of every wire"))

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


# --- in files ---------------------------------------------------------------------------------------------------------


def controller_matrices(path: Path) -> dict[str, np.ndarray]:
    """E, J, R and B of a file."""
    return dict(zip("EJRB", require_arrays(path, load_arrays(path), *"EJRB"), strict=True))


def store_controller(arrays: Any, writer: Writer) -> str:
    return store_arrays(replace(writer, body="controller"), "the matrices of a controller", arrays)


def for_each(kind: Number) -> OneOf:
    """A number for all joints, or one for each."""
    return OneOf((kind, MapOf(kind, what="joint")), lambda v: int(isinstance(v, Mapping)))


INNER = Recursive("controller", lambda: CONTROLLER)
PID = record(Pid, "a PID controller", damping=DAMPING, stiffness=STIFFNESS, target=POSITION)
ENERGY_SHAPING = record(
    EnergyShaping,
    "energy shaping",
    target=MapOf(POSITION, least=1, what="joint"),
    stiffness=for_each(STIFFNESS),
    damping=for_each(DAMPING),
    near=VALUES,
)
SAMPLED = record(SampledController, "a sampled controller", of=INNER, saturation=for_each(EFFORT))
WIRED = record(
    WiredController,
    "a wired controller",
    matrices=Converted(File("a file of matrices", store_controller), controller_matrices, lambda matrices: matrices),
    wires=MapOf(Text(what="a port of the plant"), least=1),
)
CONTROLLER: Variants = Variants(
    "a controller",
    (
        variant(Pid, PID),
        variant(EnergyShaping, ENERGY_SHAPING),
        wrapper(JointControllers, ListOf(INNER, least=1), "together"),
        variant(WiredController, WIRED, "wired"),
        variant(SampledController, SAMPLED, "sampled"),
    ),
)
