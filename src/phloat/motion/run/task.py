"""The task of a run, and the protocols of schemes and controllers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from phloat.system.state import State
from phloat.system.system import System

if TYPE_CHECKING:  # types only: so low a module imports none of those that work on its tasks
    from phloat.motion.inputs.inputs import Inputs
    from phloat.motion.result import Result
    from phloat.motion.run.events import Event
    from phloat.motion.run.outputs import Outputs
    from phloat.motion.run.progress import Progress
    from phloat.motion.saving.recorder import Recorder

Controller = Callable[[float, "Outputs"], Mapping[str, object]]


@runtime_checkable
class LibraryController(Protocol):
    """A controller of this library: a run starts it on a System or a LinearPHDAE, with steps of dt (None: they vary)."""

    def begun(self, model: Any, dt: float | None) -> tuple[Any, Callable[[float, Any], Mapping[str, object]]]: ...


@dataclass(frozen=True, eq=False)
class Task:
    """What a run is to compute: from `state` at t_0 to t_end, with inputs, controller, events and output times."""

    system: System
    state: State
    t_0: float
    t_end: float
    dt: float | None
    inputs: Inputs
    output: int | np.ndarray = 1  # every so many steps, or at these times
    controller: Controller | None = None
    every: float | None = None
    events: tuple[Event, ...] = ()
    progress: Progress = lambda t, missing: None
    dropped: tuple[int, ...] = ()  # joint rows that repeat others
    recorder: Recorder | None = None  # takes what is finished, from time to time
    threads: int = 1  # that share the bodies of a step
    memory: Mapping[str, np.ndarray] | None = None  # of the stepper of a run that goes on
    corners: tuple[float, ...] = ()  # times that no step should pass


class Scheme(Protocol):
    """A method of time integration."""

    def run(self, task: Task) -> Result: ...
