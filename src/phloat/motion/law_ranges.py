"""Ranges of tabulated springs and dampers and of bushings, and warnings where a run leaves them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from phloat.errors import CurveRangeWarning, LargeTurnWarning
from phloat.joints.rows import turn_cosine
from phloat.joints.standard_rows import SMALL_TURN
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.pack import Packed
from phloat.motion.kernel.rows import SLACK
from phloat.system.joint_rows import coordinate, element_ends
from phloat.system.state import State
from phloat.system.system import System


def watched_places(packed: Packed) -> np.ndarray:
    """Indices in w where the kernel writes the first step at which a law left its range."""
    rows = packed.model.rows
    compliant = rows[rows[:, t.R_MODE] == t.COMPLIANT]
    turning = packed.w[compliant[:, t.R_COEF] + t.TURN_COSINE] > -1.0
    springs = compliant[turning | (compliant[:, t.R_N_SPRING] > 0), t.R_COEF] + t.LEFT
    dampers = compliant[compliant[:, t.R_N_DAMPER] > 0, t.R_COEF] + t.LEFT_RATE
    return np.concatenate([springs, dampers]).astype(np.int64)


def stamp_times(packed: Packed, places: np.ndarray, times: np.ndarray, before: int) -> None:
    """Converts step numbers at which ranges were left to times; `before` steps had been made at times[0]."""
    for at in places[packed.w[places] < np.inf]:
        packed.w[at] = times[int(packed.w[at]) - before]


def begin_ranges(packed: Packed, now: float) -> None:
    """Initialises the extremes of a run with its start."""
    w = packed.w
    for row in packed.model.rows[packed.model.rows[:, t.R_MODE] == t.COMPLIANT]:
        o = int(row[t.R_COEF])
        w[o + t.LEAST], w[o + t.MOST], w[o + t.SLOWEST], w[o + t.FASTEST] = np.inf, -np.inf, np.inf, -np.inf
        w[o + t.LEFT] = w[o + t.LEFT_RATE] = np.inf
        if row[t.R_N_SPRING]:
            x = w[o + t.LEAST] = w[o + t.MOST] = w[o + t.GAP0] - w[row[t.R_LAW] + 1]
            bounds = packed.model.data[row[t.R_SPRING] + 1 :][: row[t.R_N_SPRING]]
            if _beyond(bounds, x):
                w[o + t.LEFT] = now


def found_ranges(packed: Packed) -> dict[str, Any]:
    """{"ranges": {name: {"elongation" | "rate": (least, most, from, to, time left), "turn": (most, limit, time left)}}}.

    The time is that of the first step that ended beyond, or None; without such laws there is no entry.
    """
    model, w = packed.model, packed.w
    out: dict[str, dict[str, tuple[float | None, ...]]] = {}
    for entry, made in zip(model.entries, packed.entries, strict=True):
        here: dict[str, tuple[float | None, ...]] = {}
        for row in model.rows[entry[t.J_ROW] : entry[t.J_ROW] + entry[t.J_ROWS]]:
            if row[t.R_MODE] != t.COMPLIANT:
                continue
            memory = w[row[t.R_COEF] : row[t.R_COEF] + t.ROW_SIZE]
            if memory[t.TURN_COSINE] > -1.0:
                limit = float(np.arccos(memory[t.TURN_COSINE]))
                most = float(np.arccos(np.clip(memory[t.LEAST], -1.0, 1.0)))
                here["turn"] = (most, limit, _time(memory[t.LEFT]))
            for what, place, count, low, high, left in (
                ("elongation", t.R_SPRING, t.R_N_SPRING, t.LEAST, t.MOST, t.LEFT),
                ("rate", t.R_DAMPER, t.R_N_DAMPER, t.SLOWEST, t.FASTEST, t.LEFT_RATE),
            ):
                if row[count] and memory[low] <= memory[high]:
                    bounds = model.data[row[place] + 1 : row[place] + 1 + row[count]]
                    numbers = map(float, (memory[low], memory[high], bounds[0], bounds[-1]))
                    here[what] = (*numbers, _time(memory[left]))
        if here:
            out[made.name] = here
    return {"ranges": out} if out else {}


def _beyond(bounds: np.ndarray, x: float) -> bool:
    slack = SLACK * (bounds[-1] - bounds[0])
    return bool(x < bounds[0] - slack or x > bounds[-1] + slack)


def _time(left: float) -> float | None:
    return float(left) if left < np.inf else None


def warn_of_ranges(info: Mapping[str, Any], stacklevel: int = 5) -> None:
    """Warns of every law that left its range."""
    for name, kinds in info.get("ranges", {}).items():
        for what, numbers in kinds.items():
            if numbers[-1] is not None:
                _warn(name, what, numbers[:-1], f"at t = {numbers[-1]:.6g} s", stacklevel + 1)


def warn_of_ranges_at(system: System, state: State, stacklevel: int = 4) -> None:
    """Warns of every spring and bushing beyond its range at a state."""
    for name, element in system.elements.items():
        first, second = element_ends(element, state)
        for row, law in zip(element.rows, element.laws, strict=True):
            if not law.spring.empty:
                x, bounds = coordinate(element, row, first, second, state) - law.rest, law.spring.bounds
                if _beyond(bounds, x):
                    numbers = x, x, float(bounds[0]), float(bounds[-1])
                    _warn(name, "elongation", numbers, "in the state found", stacklevel + 1)
        limit = min(row.turn_limit for row in element.rows)
        if limit < np.inf:
            turn = float(np.arccos(np.clip(turn_cosine(first, second), -1.0, 1.0)))
            if turn > limit:
                _warn(name, "turn", (turn, limit), "in the state found", stacklevel + 1)


def _warn(name: str, what: str, numbers: tuple[float, ...], when: str, stacklevel: int) -> None:
    """Of a turn, `numbers` are how far it goes and its limit; else least, most, and the range."""
    if what == "turn":
        turn, limit = numbers
        cure = "its rotation vector jumps at half a turn; use a joint and a JointSpring"
        if limit <= SMALL_TURN:
            cure = 'it takes turns as sines, which is for small ones; give rotation="vector"'
        text = f"bushing {name!r} turns by {turn:.3g} rad, beyond {limit:g} rad {when}: {cure}"
        return warnings.warn(text, LargeTurnWarning, stacklevel)
    least, most, low, high = numbers
    reached = f"{least:.6g}" if least == most else f"{least:.6g} to {most:.6g}"
    text = (
        f"{name!r} leaves the range {low:g} to {high:g} of its table or function {when}: its {what} reaches {reached}. Beyond the "
        "range the slope at its end is assumed; give a wider range"
    )
    warnings.warn(text, CurveRangeWarning, stacklevel)
