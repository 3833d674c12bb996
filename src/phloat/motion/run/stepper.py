"""The protocol of steppers: what the driver and the search for events ask of a scheme."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:  # types only
    from phloat.motion.inputs.inputs import Stops
    from phloat.motion.result import Result
    from phloat.motion.run.outputs import Outputs
    from phloat.system.state import State

Dense = Callable[[float], tuple[float, "Outputs"]]  # time and outputs at a fraction of a step
Memory = dict[str, np.ndarray]  # what a saved run resumes from


class Stepper(Protocol):
    """Steps of one scheme.

    The driver calls `advance` for the next step and then `accept`; where an event lies within the step, `move_to` comes first.
    """

    name: str
    adaptive: bool  # chooses its steps
    resumable: bool
    corners: Stops  # times that no step passes
    start: float  # of the last step
    at_node: bool  # a controller without a sample time is called now

    @property
    def run(self) -> Any:
        """The `Run` that it makes steps of."""

    def advance(self, limit: float) -> bool:
        """Makes the next step, or several, at most to `limit`; False at the end of the run."""

    def accept(self) -> None:
        """Writes the output rows of the last step and chooses the size of the next."""

    def outputs(self) -> Outputs:
        """Outputs at the time reached."""

    def state(self) -> State:
        """The state at the time reached."""

    def interpolate(self, x: float) -> Outputs:
        """Outputs at a fraction of the last step, cheaply."""

    def move_to(self, time: float) -> None:
        """Ends the last step at this time within it."""

    def look_ahead(self, h: float) -> Dense | None:
        """Dense output of a step of h or less from here that is not made; None if it cannot be made."""

    def restart(self, state: State | None = None) -> None:
        """Goes on after a jump of the inputs, or from another state."""

    def write_row(self) -> None:
        """Writes the present state as an output row, unless it is one already."""

    def memory(self) -> Memory:
        """What a saved run resumes from."""

    def result(self, count: int | None = None) -> Result:
        """All output rows, or the first so many."""
