"""Events: where a function of the motion changes its sign, the run stops or the state is changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from phloat.errors import InputError
from phloat.motion.run.outputs import Outputs
from phloat.system.state import State

Action = Callable[[float, State], State | None]
LOOKED = tuple(k / 8 for k in range(1, 8))  # parts of a step where an event is evaluated, with its extrema
HELD = 5e-324  # ±, the smallest number: a zero that counts as being on this side
ZERO = 1e-12  # of what a value changes by in a step: its round-off
AT_ONCE = 1e-9  # of a step: where a held zero crosses so soon, it crosses at the start of the step
RESTING = 1e-3  # of what a value changes by in a step: a smaller rate is none
DELTA = 1 / 64  # of a step: between the values of a slope
SHRINKING = 10  # intervals in a row, each shorter than the one before, that may pile up
STILL = 1e-12  # of the run: intervals in a row that are no progress
NEAR = 1e-6  # of the run: how near the point where they pile up is when the run ends


@dataclass(frozen=True, eq=False)
class Event:
    """A zero crossing of when(t, y), at which a run stops or the state is changed.

    It is found to round-off in t, also where the function crosses zero there and back within a step.

    Parameters
    ----------
    when : callable
        when(t, y) returns a number (not a truth value) that changes its sign where the event takes place; t in s, y the outputs by
        name: `y["rod.theta"]`, `y["elbow.angle"]`, and velocities of ports.
    do : callable, optional
        do(t, state) returns the state to go on from, or None for the same; its velocities must agree with the joints (`set_moving`
        makes them). Without it the run stops at the event.
    direction : {0, 1, -1}
        Both crossings, rising ones only, or falling ones only.
    name : str
        What it is called in `result.events`.

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
class PastEvent:
    """An event that took place: its time and name, and the states just before and after it (equal if the run stopped there)."""

    t: float
    name: str
    before: State
    after: State


Point = tuple[float, float]  # a part of a step, and the value there


def bracket_crossing(
    event: Event, value: Callable[[float], float], first: float, last: float
) -> tuple[Point, Point] | None:
    """Two fractions of a step between which an event first crosses zero, by its values at eighths and at its extrema.

    Those are the extrema of the cubic through the values and slopes at both ends.
    """
    early, late = value(DELTA), value(1.0 - DELTA)
    slope_0 = (4.0 * early - 3.0 * first - value(2.0 * DELTA)) / (2.0 * DELTA)
    slope_1 = -(4.0 * late - 3.0 * last - value(1.0 - 2.0 * DELTA)) / (2.0 * DELTA)
    cubic = [slope_0 + slope_1 + 2.0 * (first - last), 3.0 * (last - first) - 2.0 * slope_0 - slope_1, slope_0]
    turns = np.roots([3.0 * cubic[0], 2.0 * cubic[1], cubic[2]])
    inside = [float(x.real) for x in turns if abs(x.imag) < 1e-9 and AT_ONCE < x.real < 1.0]
    points = [(0.0, first), *((x, value(x)) for x in sorted({*LOOKED, *inside})), (1.0, last)]
    return next(((a, b) for a, b in pairwise(points) if event.crossed(a[1], b[1])), None)


# --- zeros at the start and after `do` -----------------------------------------------------------------------------------


def start_level(event: Event, level: float, change: float) -> float:
    """The value of an event at the start of a run: a zero counts as being before a crossing in the direction of the event."""
    return level if abs(level) > ZERO * abs(change) else -event.direction * HELD


def next_level(before: float, after: float) -> float:
    """The value of an event after a step: a zero with a sign keeps it while it stays zero."""
    return before if after == 0.0 and abs(before) == HELD else after


@dataclass(frozen=True)
class Crossing:
    """A zero crossing: the fraction of the step, and the sign of the value before it."""

    at: float
    side: float


def first_group(found: dict[int, Crossing], same: float) -> tuple[dict[int, Crossing], float]:
    """The first crossings, no more than `same` apart, and the fraction of the step where all of them are past zero."""
    first = min(crossing.at for crossing in found.values())
    group = {k: crossing for k, crossing in found.items() if crossing.at - first <= same}
    return group, max(crossing.at for crossing in group.values())


@dataclass(eq=False)
class Recurrence:
    """The times of one event, to find whether they accumulate at a point."""

    times: list[float] = field(default_factory=list)
    count: int = 0

    def add(self, t: float, name: str, span: float) -> str | None:
        """Adds a time. Returns an error message if infinitely many lie just ahead."""
        self.count += 1
        self.times = [*self.times[-SHRINKING - 1 :], t]
        gaps = np.diff(self.times)
        still = len(gaps) > SHRINKING and bool(np.all(gaps < STILL * span))
        if not still and (len(gaps) <= SHRINKING or not np.all(gaps[1:] < gaps[:-1])):
            return None
        ahead = 0.0 if still else float(gaps[-1] ** 2 / (gaps[-2] - gaps[-1]))  # the rest of a geometric series
        if ahead > NEAR * span:
            return None
        return (
            f"event {name!r} took place {self.count} times, faster and faster, the last two {gaps[-1]:.2g} s apart: its times pile "
            f"up at t = {t + ahead:.9g} s, and no step goes beyond. The motion up to there is in `result` of this error; end the "
            "run before with an event that has no `do`, or let `do` leave a state that does not come back (weld it, put a spring)"
        )
