"""Events: where a function of the motion changes its sign, the run stops or the state is changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from phloat.errors import InputError
from phloat.motion.outputs import Outputs
from phloat.system.state import State

Crossing = Callable[[float, Outputs], float]
Action = Callable[[float, State], State | None]


@dataclass(frozen=True, eq=False)
class Event:
    """A zero crossing of when(t, y), found to round-off in t. Without `do` the run stops there.

    `direction` +1 takes rising crossings only, −1 falling ones, 0 both. `do(t, state)` returns the state to go on from (or None
    for the same); its velocities must agree with the joints (set_moving makes them).
    """

    when: Crossing
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
        if not isinstance(value, (int, float, np.number, np.ndarray)) or np.ndim(value) != 0 or not np.isfinite(value):
            raise InputError(f"event {self.name!r} is {value!r} at t = {t:g} s; it must be a finite number")
        return float(value)

    def crossed(self, before: float, after: float) -> bool:
        rising, falling = before < 0.0 <= after, before > 0.0 >= after
        return (rising and self.direction >= 0) or (falling and self.direction <= 0)
