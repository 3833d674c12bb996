"""The task of a run with its events, and the protocols of schemes, steppers and controllers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from phloat.errors import InputError, SampleTimeWarning
from phloat.motion.initial.velocities import consistent_state, require_closed
from phloat.system.state import State
from phloat.system.system import System, fits
from phloat.system.terms import energy

if TYPE_CHECKING:  # for annotations only, as these modules import this one
    from phloat.motion.inputs.inputs import Inputs, Stops
    from phloat.motion.result import Result
    from phloat.motion.run.outputs import Outputs
    from phloat.motion.run.progress import Progress
    from phloat.motion.saving.recorder import Recorder

INSTANT = 16 * np.finfo(float).eps  # of a time: round-off, within which times count as equal

Controller = Callable[[float, "Outputs"], Mapping[str, object]]
Action = Callable[[float, State], State | None]


@runtime_checkable
class LibraryController(Protocol):
    """A controller of this library: `start_run` takes a System or a LinearPHDAE and dt (None if steps vary)."""

    def start_run(self, model: Any, dt: float | None) -> tuple[Any, Callable[[float, Any], Mapping[str, object]]]: ...


@dataclass(frozen=True, eq=False)
class Event:
    """A zero crossing of when(t, y), at which a run stops or the state is changed.

    The time is accurate to round-off, also if the function crosses zero twice within a step.

    Parameters
    ----------
    when : callable
        when(t, y) returns a number (not a truth value) that changes its sign where the event takes place; t in s, y the outputs by
        name: `y["rod.theta"]`, `y["elbow.angle"]`, and velocities of ports. Of a linear system: outputs of ports, their integrals
        `y["elbow.way"]`, and rows, `y["rod.omega"]`.
    do : callable, optional
        do(t, state) returns the new state, or None to leave it unchanged; its velocities must agree with the joints
        (`set_moving`). Without it the run stops at the event. Of a linear system the state is the vector e, and the new one a
        vector or {row: values} of the rows that change.
    direction : {0, 1, -1}
        Both crossings, rising ones only, or falling ones only.
    name : str
        The name in `result.events`.

    Examples
    --------
    A ball falls 1 m in √(2/g) = 0.4515 s:

    >>> ball = ph.PointMass(mass=1.0).discretise()
    >>> fall = ph.connect({"ball": ball}, gravity=(0.0, -9.81, 0.0), plane="xy")
    >>> floor = ph.Event(lambda t, y: y["ball.r_P"][1], direction=-1, name="floor")
    >>> start = ph.place(fall, {"ball.r_P": (0.0, 1.0)})
    >>> result = ph.simulate(fall, start, t_end=2.0, dt=0.01, events=[floor])
    >>> print(result.events[0].name, round(result.events[0].t, 4))
    floor 0.4515
    """

    when: Callable[[float, Outputs], float]
    do: Action | None = None
    direction: int = 0
    name: str = "event"

    def __post_init__(self) -> None:
        if not callable(self.when) or not (self.do is None or callable(self.do)):
            raise InputError(f"event {self.name!r}: when and do must be functions, when(t, y) and do(t, state)")
        if self.direction not in (-1, 0, 1):
            raise InputError(f"event {self.name!r} has direction {self.direction!r}; it must be -1, 0 or 1")

    def value(self, t: float, y: Outputs) -> float:
        value = self.when(t, y)
        if isinstance(value, (bool, np.bool_)):
            raise InputError(
                f"event {self.name!r} is {bool(value)} at t = {t:g} s; it must be a number that changes its sign where the event "
                "takes place: t - 0.3, not t > 0.3"
            )
        if not isinstance(value, (int, float, np.number, np.ndarray)) or np.ndim(value) != 0 or not np.isfinite(value):
            raise InputError(f"event {self.name!r} is {value!r} at t = {t:g} s; it must be a finite number")
        return float(value)

    def crossed(self, before: float, after: float) -> bool:
        rising, falling = before < 0.0 <= after, before > 0.0 >= after
        return (rising and self.direction >= 0) or (falling and self.direction <= 0)


@dataclass(frozen=True, eq=False)
class Task:
    """What a run computes: the motion from `state` at t_0 to t_end, with inputs, controller, events and output times."""

    system: System
    state: State
    t_0: float
    t_end: float
    dt: float | None
    inputs: Inputs
    output: int | np.ndarray = 1  # at every n-th step, or at these times
    controller: Controller | None = None
    every: float | None = None
    events: tuple[Event, ...] = ()
    progress: Progress = lambda t, residual: None
    dropped: tuple[int, ...] = ()  # joint rows that repeat others
    recorder: Recorder | None = None  # saves finished rows
    threads: int = 1  # number of threads that share the bodies of a step
    memory: Mapping[str, np.ndarray] | None = None  # of the stepper of a resumed run
    corners: tuple[float, ...] = ()  # times at which steps end
    servos: Mapping[str, Any] = field(default_factory=dict)  # by joint
    unstable: str = ""  # says that the loop of a controller is unstable


class Scheme(Protocol):
    """A method of time integration."""

    def run(self, task: Task) -> Result: ...


# --- steppers ---------------------------------------------------------------------------------------------------------


Dense = Callable[[float], tuple[float, "Outputs"]]  # time and outputs at a fraction of a step
Memory = dict[str, np.ndarray]  # what a saved run resumes from


class Stepper(Protocol):
    """Steps of one scheme, for the run of a task.

    The driver calls `advance` for the next step and then `accept`; if an event lies within the step, `move_to` comes first.
    """

    run: Any
    name: str
    adaptive: bool  # whether it chooses the size of its steps
    resumable: bool
    corners: Stops  # times at which steps end
    start: float  # of the last step
    at_node: bool  # whether a controller without a sample time is called now

    def advance(self, limit: float) -> bool:
        """Takes the next step, or several, at most to `limit`; False at the end of the run."""

    def accept(self) -> None:
        """Writes the output rows of the last step and chooses the size of the next."""

    def outputs(self) -> Outputs:
        """Outputs at the current time."""
        return self.run.outputs()

    def state(self) -> State:
        """The state at the current time."""
        return self.run.state()

    def interpolate(self, x: float) -> Outputs:
        """Outputs at a fraction of the last step, by interpolation."""

    def move_to(self, time: float) -> None:
        """Ends the last step at a time within it."""

    def look_ahead(self, h: float) -> Dense | None:
        """Dense output of a trial step of at most h from the current state; None if it fails."""

    def restart(self, state: State | None = None) -> None:
        """Continues after a jump of the inputs, or from another state."""

    def change(self, before: State, after: State) -> tuple[State, float]:
        """The state after an event, with velocities that satisfy the joints, and the change of H."""
        system = self.run.task.system
        after = fits(system, after)
        require_closed(system, after)
        after = consistent_state(system, after, self.run.inputs())
        return after, energy(system, after) - energy(system, before)

    def write_row(self) -> None:
        """Writes the current state as an output row, unless that has been done."""
        self.run.write_row()

    def memory(self) -> Memory:
        """The arrays that a saved run needs to resume."""

    def result(self, count: int | None = None) -> Result:
        """All output rows, or the first `count`, as a Result."""
        return self.run.result(count)


def warn_if_late(name: str, time: float, dt: float) -> None:
    """Warns if equal steps of dt do not end at the samples or delays of a controller."""
    late = (np.ceil(time / dt * (1 - 1e-9)) - time / dt) * dt
    if late > 1e-6 * dt:
        warnings.warn(
            f"the {name} of {time:g} s is no multiple of the step of {dt:g} s: what falls between two steps waits for the next, "
            f"up to {dt:.3g} s, the first time {late:.3g} s; give a dt that divides it, such as {time / np.ceil(time / dt):.6g} s",
            SampleTimeWarning,
            stacklevel=4,
        )
