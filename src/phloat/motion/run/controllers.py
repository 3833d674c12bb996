"""Controllers at the start of a run: servos become inputs, and the functions of all others one function."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from phloat.errors import (
    CommandJumpWarning,
    InputError,
    JointError,
    LargeDeformationWarning,
    SaturationWarning,
    UnstableLoopWarning,
)
from phloat.motion.inputs.commands import Command
from phloat.motion.inputs.drives import prescribed_position
from phloat.motion.inputs.inputs import Inputs
from phloat.motion.inputs.servos import ServoSignal
from phloat.motion.inputs.signals import Piecewise
from phloat.motion.result import Result
from phloat.motion.run.samples import GrowingPole
from phloat.motion.run.task import Controller, LibraryController
from phloat.system.connect import drive
from phloat.system.joint_rows import coordinates_of
from phloat.system.state import State
from phloat.system.system import System
from phloat.system.units import coordinate_unit

STEPS = 2000  # of the drive whose effort is a feedforward, if the run has no dt
JUMP = (
    1e-3  # rad, or of the travel of a slide: a larger distance of a command from its joint at the start gives a warning
)
TRAVEL_TIMES = 65  # times of a run at which the travel of a command is taken
SATURATED = 0.01  # of the run: a servo that is longer at its limit gives a warning


@runtime_checkable
class ServoController(Protocol):
    """A controller that follows a command at the free axis of a joint."""

    joint: str
    feedforward: Any
    rate: Any
    every: float | None

    @property
    def reference(self) -> Command: ...
    def inputs(self, system: System) -> dict[str, ServoSignal]: ...
    def unstable_pole(
        self, system: System, state: State, t_end: float, others: Sequence[Any] = ()
    ) -> GrowingPole | None: ...


@dataclass(frozen=True, eq=False)
class Started:
    """The system, inputs, function and sample time of a run with its controllers, and its servos by joint."""

    system: System
    inputs: Inputs
    function: Controller | None
    every: float | None
    servos: Mapping[str, Any]
    unstable: str = ""  # says that the loop of a sampled servo is unstable


def controller_list(controller: object) -> list[Any]:
    """The controllers of a run as a list."""
    if controller is None:
        return []
    return list(controller) if isinstance(controller, (list, tuple)) else [controller]


def start_controllers(
    system: System,
    state: State,
    inputs: Inputs,
    controller: object,
    every: float | None,
    span: tuple[float, float, float | None],
    step: float | None,
    simulate: Callable[..., Any],
) -> Started:
    """The controllers at the start of a run over `span` (t_0, t_end, dt); `step` is that of a scheme with fixed ones."""
    controllers = controller_list(controller)
    if not controllers and inputs.system.ports is system.ports:  # the same system, or one with other numbers
        return Started(system, inputs, None, None, {})
    servos: dict[str, Any] = {c.joint: c for c in controllers if isinstance(c, ServoController)}
    u = dict(inputs.u or {})
    _require_one_each([c.joint for c in controllers if isinstance(c, ServoController)], u)
    if names := [name for name, c in servos.items() if isinstance(c.feedforward, str)]:
        efforts = _drive_efforts(system, state, servos, u, span, simulate)
        servos |= {name: replace(servos[name], feedforward=efforts[name]) for name in names}
    functions: list[Controller] = []
    for given in controllers:
        c: Any = servos[given.joint] if isinstance(given, ServoController) else given
        signals = c.inputs(system) if isinstance(c, ServoController) else {}
        u |= signals
        if isinstance(c, LibraryController) and not signals:
            system, function = c.start_run(system, step)
            functions.append(function)
        elif not signals:
            functions.append(c if every is None or len(controllers) == 1 else _Sampled(c, every))
    for name, c in servos.items():
        _warn_of_jump(system, state, name, c, np.linspace(*span[:2], TRAVEL_TIMES))
    joined = functions[0] if len(functions) == 1 else _Together(functions) if functions else None
    every = every if len(functions) == 1 == len(controllers) else None
    if unstable := _unstable(system, state, list(servos.values()), span[1] - span[0]):
        warnings.warn(unstable, UnstableLoopWarning, stacklevel=3)
    return Started(system, Inputs(system, u), joined, every, servos, unstable)


def _unstable(system: System, state: State, servos: Sequence[Any], duration: float) -> str:
    """Says which loop of a sampled servo is unstable; empty if none is."""
    found = [c.unstable_pole(system, state, duration, [other for other in servos if other is not c]) for c in servos]
    return str(max((pole for pole in found if pole is not None), key=lambda pole: abs(pole.z), default=""))


def _require_one_each(joints: Sequence[str], u: Mapping[str, object]) -> None:
    """Raises InputError if a joint has two servos, or a servo and an input."""
    for k, joint in enumerate(joints):
        if joint in joints[:k]:
            raise InputError(f"joint {joint!r} has two servos; give it one")
        if joint in u:
            raise InputError(f"joint {joint!r} has a servo and an input; give the effort as feedforward= of the servo")


def _warn_of_jump(system: System, state: State, name: str, servo: Any, times: np.ndarray) -> None:
    """Warns if the command of a servo starts away from its joint; `times` of the run show how far a slide is to travel."""
    if servo.rate is not None:
        return
    ((label, position),) = coordinates_of(system, state, name).items()
    commands = servo.reference(times)
    command, scale = float(commands[0]), 1.0
    if coordinate_unit(label) == "m":
        scale = float(np.ptp(commands)) or max(abs(command), abs(position))
    round_off = 1e-9 * max(
        float(np.abs(state.pose(body).r_P).max()) + system.bodies[body].extent for body in system.bodies
    )
    if abs(command - position) > max(JUMP * scale, round_off):
        warnings.warn(
            f"the command of the servo at {name!r} starts at {command:.6g}, and {label} is {position:.6g}: a jump of "
            f"{command - position:.3g}; place the joint there, or begin the command where it stands",
            CommandJumpWarning,
            stacklevel=4,
        )


def warn_of_saturation(result: Result, servos: Mapping[str, Any]) -> None:
    """Warns of servos that were at their limits for a part of the run."""
    for joint, servo in servos.items():
        if servo.limit is None or result.efforts is None:
            continue
        limited = np.abs(result.efforts.of(joint)[:, 0]) >= servo.limit * (1 - 1e-9)
        span = max(float(result.t[-1] - result.t[0]), 1e-300)
        if (part := float(np.trapezoid(limited, result.t)) / span) > SATURATED:
            warnings.warn(
                f"the servo at {joint!r} is at its limit of {servo.limit:g} for {100 * part:.3g} % of the run, from "
                f"t = {result.t[np.argmax(limited)]:.4g} s: it cannot follow its command there; "
                "move more slowly, or take a stronger motor",
                SaturationWarning,
                stacklevel=5,
            )


def _drive_efforts(
    system: System,
    state: State,
    servos: Mapping[str, Any],
    u: Mapping[str, object],
    span: tuple[float, float, float | None],
    simulate: Callable[..., Any],
) -> dict[str, Piecewise]:
    """The efforts of drives along the commands of all servos, over time."""
    t_0, t_end, dt = span
    driven, inputs = system, dict(u)
    for name, servo in servos.items():
        driven = drive(driven, name)
        inputs[name] = servo.reference if servo.rate is not None else prescribed_position(servo.reference)
    dt = (t_end - t_0) / STEPS if dt is None else dt
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LargeDeformationWarning)  # the run itself warns
            run = simulate(driven, state, t_end, dt=dt, u=inputs, t_start=t_0, progress=False)
    except JointError as error:
        raise JointError(f'feedforward="drive" needs a joint that starts on its command: {error}') from None
    return {name: Piecewise(run.t, run[f"{name}.lam"][:, -1]) for name in servos}


class _Sampled:
    """A function f(t, y) that is called at intervals, beside other controllers."""

    def __init__(self, function: Controller, every: float) -> None:
        self.function, self.every, self.due = function, every, -np.inf
        self.values: Mapping[str, object] = {}

    def __call__(self, t: float, y: Any) -> Mapping[str, object]:
        if t >= self.due - 1e-9 * self.every:
            self.due = t + self.every if self.due == -np.inf else self.due + self.every
            self.values = self.function(t, y)
        return self.values


class _Together:
    """Several functions f(t, y) as one, which is due when the first of them is."""

    def __init__(self, functions: Sequence[Controller]) -> None:
        self.functions = functions

    @property
    def due(self) -> float:
        """The time of the next sample; infinity if a function is called at every step."""
        times = [getattr(f, "due", np.inf) for f in self.functions]
        return min(times) if max(times) < np.inf else np.inf

    def __call__(self, t: float, y: Any) -> dict[str, object]:
        out: dict[str, object] = {}
        for function in self.functions:
            values = function(t, y)
            if not isinstance(values, Mapping):
                raise InputError(f"a controller returned {values!r} at t = {t:g} s; it must return {{port: value}}")
            if both := [name for name in values if name in out]:
                raise InputError(f"two controllers act on {both[0]!r}; wire each port to one of them")
            out |= values
        return out
