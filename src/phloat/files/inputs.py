"""Inputs over time and controllers of a model. Expressions are never evaluated.

An input is a constant, corners, a table, or a signal of a named kind. Controllers are passive (by gains) or energy shaping (by a
target), continuous or sampled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from phloat.algebra.layout import Layout
from phloat.algebra.metadata import describe
from phloat.control.coupling import joint_axis
from phloat.control.energy_shaping import energy_shaping
from phloat.control.input_shaping import KINDS, Shaped
from phloat.control.passive import PassiveController, combine_controllers, passive_controller, passive_pid
from phloat.control.sampled import Sampled
from phloat.control.servo import DRIVE, Servo
from phloat.errors import InputError
from phloat.files.start import VALUES
from phloat.format.attached import File, load_arrays, require_arrays, store_arrays
from phloat.format.derive import record, variant, wrapper
from phloat.format.kinds import ANY_NUMBER, TIME, Converted, ListOf, Number, Recursive, Text, Writer, vector_of
from phloat.format.records import Key, MapOf, OneOf, Record, Variant, Variants
from phloat.linear.form.phdae import LinearPHDAE
from phloat.motion.initial.place import place
from phloat.motion.inputs.commands import Sum
from phloat.motion.inputs.drives import Position
from phloat.motion.inputs.moves import InTime, Move, Spline, Trapezoid
from phloat.motion.inputs.signals import Piecewise, piecewise
from phloat.system.connect import Wire
from phloat.system.system import System

Value = float | Sequence[float]

# --- signals: frozen values that are called with t ----------------------------------------------------------------------


@dataclass(frozen=True)
class Sine:
    """offset + amplitude sin(rate t + phase)."""

    amplitude: Value = field(metadata=describe("amplitude"))
    rate: float = field(metadata=describe("rad/s, or with a unit: 50 Hz, 1200 rpm", "angular rate"))
    phase: float = field(default=0.0, metadata=describe("at t = 0", "angle"))
    offset: Value = field(default=0.0, metadata=describe("constant that is added"))

    def __call__(self, t: float) -> Any:
        return np.asarray(self.offset) + np.asarray(self.amplitude) * np.sin(self.rate * t + self.phase)


@dataclass(frozen=True)
class Circling:
    """The velocity of a point on a circle in the plane xy, such as a crank pin: rate · radius · (−sin φ, cos φ).

    φ = rate t + phase. With `space` it has a third component, 0.
    """

    radius: float = field(metadata=describe("of the circle", "length", above=0.0))
    rate: float = field(metadata=describe("angular velocity", "angular rate"))
    phase: float = field(default=0.0, metadata=describe("from the x axis at t = 0", "angle"))
    space: bool = False

    def __call__(self, t: float) -> np.ndarray:
        angle = self.rate * t + self.phase
        v = self.rate * self.radius * np.array([-np.sin(angle), np.cos(angle)])
        return np.array([*v, 0.0]) if self.space else v


@dataclass(frozen=True)
class Pulse:
    """A value from `start` until just before `end`, zero otherwise."""

    value: Value = field(metadata=describe("value of the pulse"))
    start: float = field(default=0.0, metadata=describe("when it begins", "time"))
    end: float = field(default=np.inf, metadata=describe("when it ends", "time"))

    def __post_init__(self) -> None:
        if not self.end > self.start:
            raise InputError(f"the end {self.end:g} s is not after the start {self.start:g} s")

    def __call__(self, t: float) -> Any:
        return np.asarray(self.value) * float(self.start <= t < self.end)


@dataclass(frozen=True)
class SpinUp:
    """The angle of a hub whose rate rises smoothly from 0 to `rate` in the time `over`, then is constant (Simo, Vu-Quoc 1986)."""

    rate: float = field(metadata=describe("at its end", "angular rate"))
    over: float = field(metadata=describe("duration", "time", above=0.0))

    def __call__(self, t: float) -> float:
        rate, ramp = self.rate, self.over
        if t > ramp:
            return rate * (t - ramp / 2)
        return rate / ramp * (t**2 / 2 + (ramp / (2 * np.pi)) ** 2 * (np.cos(2 * np.pi * t / ramp) - 1))


# --- signals in files ---------------------------------------------------------------------------------------------------------

VALUE = OneOf((ANY_NUMBER, vector_of((), 0)), lambda value: int(np.ndim(value) > 0))


PIECEWISE = Converted(
    MapOf(VALUE, keys=TIME, least=1), piecewise, lambda p: dict(zip(p.times.tolist(), p.values.tolist(), strict=True))
)


def time_table(times: tuple[float, ...], values: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The times and values of a table as arrays. Raises InputError unless times ascend with a value at each."""
    if len(times) != len(values) or np.diff(times).min() <= 0.0:
        raise InputError("times must ascend, with a value at each; give at least two")
    lines = piecewise(dict(zip(times, values, strict=True)))
    return lines.times, lines.values


def is_table(value: Any) -> bool:
    """Whether an input is a pair of times and values."""
    return isinstance(value, (tuple, list)) and len(value) == 2 and np.ndim(value[0]) == 1


TABLE = Record(
    "a table",
    (Key("times", ListOf(TIME, least=2), "ascending times"), Key("values", ListOf(VALUE, least=2), "a value at each")),
    time_table,
    parts=lambda pair: {"times": np.asarray(pair[0]).tolist(), "values": np.asarray(pair[1]).tolist()},
)
SPEED = Number(("angular rate", "velocity", "angular acceleration", "acceleration"), above=0.0)
ACCELERATION = Number(("angular acceleration", "acceleration"), above=0.0)
POLYNOMIAL = record(InTime, "a polynomial of time", coefficients=ListOf(VALUE, least=1), short="coefficients")
TRAPEZOID = record(
    *(Trapezoid, "a trapezoid"), to=ANY_NUMBER, origin=ANY_NUMBER, speed=SPEED, acceleration_limit=ACCELERATION
)
SIGNALS = (
    variant(Piecewise, PIECEWISE, doc="corners {time: value}, straight lines between them"),
    Variant(
        "table",
        TABLE,
        tuple,
        lambda v: (v, {}) if is_table(v) else None,
        doc="values at times; no run may go beyond them",
    ),
    variant(Sine, record(Sine, "a sine", amplitude=VALUE, offset=VALUE)),
    variant(Circling, record(Circling, "a velocity on a circle", omit=("space",)), "circle"),
    variant(InTime, POLYNOMIAL, "polynomial"),
    variant(Pulse, record(Pulse, "a pulse", value=VALUE)),
    variant(SpinUp, record(SpinUp, "a spin-up")),
    variant(Move, record(Move, "a move", to=ANY_NUMBER, origin=ANY_NUMBER)),
    variant(Trapezoid, TRAPEZOID),
    variant(Spline, record(Spline, "a spline", times=ListOf(TIME, least=2), values=ListOf(VALUE, least=2))),
)


def is_constant(value: Any) -> bool:
    """Whether an input is a number or a vector."""
    return not callable(value) and not is_table(value) and not isinstance(value, Position)


def require_signal(value: Any) -> Any:
    """The value, if it is a function of time. Raises InputError if it is a constant or a table."""
    if not callable(value):
        raise InputError("found no function of time; expected a signal such as {sine: …}")
    return value


INNER = Converted(Recursive("signal", lambda: SIGNAL), require_signal)
FREQUENCIES = ListOf(Number(("angular rate",), above=0.0), least=1, alone=True)
SHAPED = record(
    *(Shaped, "a shaped command"),
    command=INNER,
    modes=FREQUENCIES,
    damping=ListOf(Number(least=0.0), least=1, alone=True),
    kind=Text(tuple(KINDS)),
)
SIGNAL: Variants = Variants(
    "a signal",
    (*SIGNALS, wrapper(Sum, ListOf(INNER, least=1)), variant(Shaped, SHAPED)),
    alone=VALUE,
    is_alone=is_constant,
)
POSITION = Variant(
    "position",
    INNER,
    lambda f, rate=None: Position(f, rate),
    lambda v: (v.function, {"rate": v.rate}) if isinstance(v, Position) else None,
    (Key("rate", INNER, "its velocity; differences by default", None),),
    doc="of a driven joint, instead of its velocity",
)
INPUT = Variants("an input", (*SIGNAL.variants, POSITION), alone=VALUE, is_alone=is_constant)
INPUTS = MapOf(INPUT, what="port")


def in_space(value: Any, space: bool) -> Any:
    """A signal with three components in space, two in a plane."""
    if isinstance(value, Circling):
        return replace(value, space=space)
    if isinstance(value, Sum):
        return replace(value, parts=tuple(in_space(part, space) for part in value.parts))
    if isinstance(value, Shaped):
        return replace(value, command=in_space(value.command, space))
    if isinstance(value, Position):
        return replace(value, function=in_space(value.function, space))
    return value


# --- controllers -------------------------------------------------------------------------------------------------------

STIFFNESS = Number(("torsional stiffness", "stiffness"), least=0.0)
DAMPING = Number(("torsional damping", "damping"), least=0.0)
TARGET = Number(("angle", "length"))
EFFORT = Number(("force", "torque"), above=0.0)


@dataclass(frozen=True)
class Pid:
    """A damper, a spring about a target and an inertia at a port, as a controller."""

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
    """Shapes the energy of joints to have its minimum at their targets; includes deformation and gravity."""

    target: Mapping[str, float] = field(metadata=describe("{joint: angle or slide}"))
    stiffness: float | Mapping[str, float] = field(metadata=describe("of all joints, or {joint: …}"))
    damping: float | Mapping[str, float] = field(metadata=describe("of all joints, or {joint: …}"))
    near: Mapping[str, Any] | None = field(default=None, metadata=describe("a guess that selects the branch"))

    def __call__(self, system: System) -> Any:
        near = None if self.near is None else place(system, {}, near=self.near)
        return energy_shaping(system, self.target, stiffness=self.stiffness, damping=self.damping, near=near)


@dataclass(frozen=True, eq=False)
class ServoMotor:
    """A motor that follows a command, sampled or continuous."""

    servo: Servo

    def __call__(self, system: System) -> Any:
        joint_axis(system, self.servo.joint)
        return self.servo


@dataclass(frozen=True, eq=False)
class JointControllers:
    """Several controllers; passive ones are combined into one."""

    parts: tuple[Callable[[System], Any], ...]

    def __call__(self, system: System) -> Any:
        controllers = [part(system) for part in self.parts]
        passive = [c for c in controllers if isinstance(c, PassiveController)]
        others = [c for c in controllers if c not in passive]
        out = [*([combine_controllers(*passive)] if passive else []), *others]
        return out if len(out) > 1 else out[0]


@dataclass(frozen=True, eq=False)
class SampledController:
    """A digital controller: sampled, with a delay and limited efforts."""

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


# --- controllers in files ---------------------------------------------------------------------------------------------------------


def controller_matrices(path: Path) -> dict[str, np.ndarray]:
    """The matrices E, J, R and B in a .npz file."""
    return dict(zip("EJRB", require_arrays(path, load_arrays(path), *"EJRB"), strict=True))


def store_controller(arrays: Any, writer: Writer) -> str:
    """Writes the matrices of a controller to a file and returns its name."""
    return store_arrays(replace(writer, body="controller"), "the matrices of a controller", arrays)


def for_each(kind: Number) -> OneOf:
    """The kind of a number for all joints, or of one for each."""
    return OneOf((kind, MapOf(kind, what="joint")), lambda v: int(isinstance(v, Mapping)))


INNER_CONTROLLER = Recursive("controller", lambda: CONTROLLER)
PID = record(Pid, "a PID controller", damping=DAMPING, stiffness=STIFFNESS, target=TARGET)
COMMAND = Recursive("signal", lambda: SIGNAL)
FORWARD = OneOf(
    (Number(("inertia", "mass"), least=0.0), Text((DRIVE,)), COMMAND),
    lambda v: 1 if isinstance(v, str) else 2 if callable(v) or is_table(v) else 0,
)
SERVO = record(
    *(Servo, "a servo"),
    command=COMMAND,
    rate=COMMAND,
    stiffness=STIFFNESS,
    damping=DAMPING,
    feedforward=FORWARD,
    limit=EFFORT,
    every=Number(("time",), above=0.0),
)
ENERGY_SHAPING = record(
    EnergyShaping,
    "energy shaping",
    target=MapOf(TARGET, least=1, what="joint"),
    stiffness=for_each(STIFFNESS),
    damping=for_each(DAMPING),
    near=VALUES,
)
SAMPLED = record(SampledController, "a sampled controller", of=INNER_CONTROLLER, saturation=for_each(EFFORT))
WIRED = record(
    WiredController,
    "a wired controller",
    matrices=Converted(File("a file of matrices", store_controller), controller_matrices),
    wires=MapOf(Text(what="a port of the plant"), least=1),
)
CONTROLLER: Variants = Variants(
    "a controller",
    (
        variant(Pid, PID),
        wrapper(ServoMotor, SERVO, "servo"),
        variant(EnergyShaping, ENERGY_SHAPING),
        wrapper(JointControllers, ListOf(INNER_CONTROLLER, least=1), "together"),
        variant(WiredController, WIRED, "wired"),
        variant(SampledController, SAMPLED, "sampled"),
    ),
)
