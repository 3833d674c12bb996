"""Ranges of tabulated springs and dampers and of bushings; warnings if a run leaves them."""

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


def watched_indices(packed: Packed) -> np.ndarray:
    """Indices in w at which the kernel stores the first step in which a law left its range."""
    rows = packed.model.rows
    compliant = rows[rows[:, t.R_MODE] == t.COMPLIANT]
    turning = packed.w[compliant[:, t.R_COEF] + t.TURN_COSINE] > -1.0
    springs = compliant[turning | (compliant[:, t.R_N_SPRING] > 0), t.R_COEF] + t.LEFT
    dampers = compliant[compliant[:, t.R_N_DAMPER] > 0, t.R_COEF] + t.LEFT_RATE
    return np.concatenate([springs, dampers]).astype(np.int64)


def stamp_times(packed: Packed, indices: np.ndarray, times: np.ndarray, before: int) -> None:
    """Replaces step numbers at which ranges were left by times; `before` is the number of steps up to times[0]."""
    for index in indices[packed.w[indices] < np.inf]:
        packed.w[index] = times[int(packed.w[index]) - before]


def begin_ranges(packed: Packed, time: float) -> None:
    """Sets the extremes of all laws to their values at the start of a run."""
    w = packed.w
    for row in packed.model.rows[packed.model.rows[:, t.R_MODE] == t.COMPLIANT]:
        o = int(row[t.R_COEF])
        w[o + t.LEAST], w[o + t.MOST], w[o + t.SLOWEST], w[o + t.FASTEST] = np.inf, -np.inf, np.inf, -np.inf
        w[o + t.LEFT] = w[o + t.LEFT_RATE] = np.inf
        if row[t.R_N_SPRING]:
            x = w[o + t.LEAST] = w[o + t.MOST] = w[o + t.GAP0] - w[row[t.R_LAW] + 1]
            bounds = packed.model.data[row[t.R_SPRING] + 1 :][: row[t.R_N_SPRING]]
            if _is_outside(bounds, x):
                w[o + t.LEFT] = time


def law_ranges(packed: Packed) -> dict[str, Any]:
    """{"ranges": {name: {"elongation" | "rate": (min, max, from, to, time), "turn": (max, limit, time)}}}; empty without such laws.

    The time is that of the first step that ended outside the range, or None.
    """
    model, w = packed.model, packed.w
    out: dict[str, dict[str, tuple[float | None, ...]]] = {}
    for entry, source in zip(model.entries, packed.entries, strict=True):
        ranges: dict[str, tuple[float | None, ...]] = {}
        for row in model.rows[entry[t.J_ROW] : entry[t.J_ROW] + entry[t.J_ROWS]]:
            if row[t.R_MODE] != t.COMPLIANT:
                continue
            memory = w[row[t.R_COEF] : row[t.R_COEF] + t.ROW_SIZE]
            if memory[t.TURN_COSINE] > -1.0:
                limit = float(np.arccos(memory[t.TURN_COSINE]))
                most = float(np.arccos(np.clip(memory[t.LEAST], -1.0, 1.0)))
                ranges["turn"] = (most, limit, _time_or_none(memory[t.LEFT]))
            for quantity, offset, count, low, high, exit_time in (
                ("elongation", t.R_SPRING, t.R_N_SPRING, t.LEAST, t.MOST, t.LEFT),
                ("rate", t.R_DAMPER, t.R_N_DAMPER, t.SLOWEST, t.FASTEST, t.LEFT_RATE),
            ):
                if row[count] and memory[low] <= memory[high]:
                    bounds = model.data[row[offset] + 1 : row[offset] + 1 + row[count]]
                    numbers = map(float, (memory[low], memory[high], bounds[0], bounds[-1]))
                    ranges[quantity] = (*numbers, _time_or_none(memory[exit_time]))
        if ranges:
            out[source.name] = ranges
    return {"ranges": out} if out else {}


def _is_outside(bounds: np.ndarray, x: float) -> bool:
    """Whether x is outside the range of a table, beyond round-off."""
    slack = SLACK * (bounds[-1] - bounds[0])
    return bool(x < bounds[0] - slack or x > bounds[-1] + slack)


def _time_or_none(time: float) -> float | None:
    return float(time) if time < np.inf else None


def warn_of_ranges(info: Mapping[str, Any], stacklevel: int = 5) -> None:
    """Warns of every law that left its range during a run."""
    for name, kinds in info.get("ranges", {}).items():
        for quantity, numbers in kinds.items():
            if numbers[-1] is not None:
                _warn(name, quantity, numbers[:-1], f"at t = {numbers[-1]:.6g} s", stacklevel + 1)


def warn_of_ranges_at(system: System, state: State, stacklevel: int = 4) -> None:
    """Warns of every spring and bushing that is outside its range at a state."""
    for name, element in system.elements.items():
        first, second = element_ends(element, state)
        for row, law in zip(element.rows, element.laws, strict=True):
            if not law.spring.empty:
                x, bounds = coordinate(element, row, first, second, state) - law.rest, law.spring.bounds
                if _is_outside(bounds, x):
                    numbers = x, x, float(bounds[0]), float(bounds[-1])
                    _warn(name, "elongation", numbers, "in the state found", stacklevel + 1)
        limit = min(row.turn_limit for row in element.rows)
        if limit < np.inf:
            turn = float(np.arccos(np.clip(turn_cosine(first, second), -1.0, 1.0)))
            if turn > limit:
                _warn(name, "turn", (turn, limit), "in the state found", stacklevel + 1)


def _warn(name: str, kind: str, numbers: tuple[float, ...], when: str, stacklevel: int) -> None:
    """Warns of one law. For a turn `numbers` are its maximum and its limit; otherwise minimum, maximum and the range."""
    if kind == "turn":
        turn, limit = numbers
        cure = "its rotation vector jumps at half a turn; use a joint and a JointSpring"
        if limit <= SMALL_TURN:
            cure = 'it measures rotations by their sines, which holds for small ones only; give rotation="vector"'
        text = f"bushing {name!r} turns by {turn:.3g} rad, beyond {limit:g} rad {when}: {cure}"
        return warnings.warn(text, LargeTurnWarning, stacklevel)
    lowest, highest, low, high = numbers
    reached = f"{lowest:.6g}" if lowest == highest else f"{lowest:.6g} to {highest:.6g}"
    text = (
        f"{name!r} leaves the range {low:g} to {high:g} of its table or function {when}: its {kind} reaches {reached}. Beyond the "
        "range the slope at its end is assumed; give a wider range"
    )
    warnings.warn(text, CurveRangeWarning, stacklevel)
