"""The task of a run, and the protocols of schemes, steppers and controllers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from phloat.errors import SampleTimeWarning
from phloat.system.state import State
from phloat.system.system import System

if TYPE_CHECKING:  # for annotations only, as these modules import this one
    from phloat.motion.inputs.inputs import Inputs, Stops
    from phloat.motion.result import Result
    from phloat.motion.run.events import Event
    from phloat.motion.run.outputs import Outputs
    from phloat.motion.run.progress import Progress
    from phloat.motion.saving.recorder import Recorder

INSTANT = 16 * np.finfo(float).eps  # of a time: round-off, within which times count as equal

Controller = Callable[[float, "Outputs"], Mapping[str, object]]


@runtime_checkable
class LibraryController(Protocol):
    """A controller of this library: `start_run` takes a System or a LinearPHDAE and dt (None if steps vary)."""

    def start_run(self, model: Any, dt: float | None) -> tuple[Any, Callable[[float, Any], Mapping[str, object]]]: ...


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
