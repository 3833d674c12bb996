"""Format of saved runs: keys of run.json, shapes of arrays, the memory of a stepper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from phloat.errors import InputError
from phloat.motion.saving.files import Check, is_count, is_names, is_shapes
from phloat.system.system import System


def is_number(x: object) -> bool:
    return isinstance(x, (int, float)) and not isinstance(x, bool) and bool(np.isfinite(x))


def is_positive(x: object) -> bool:
    return isinstance(x, (int, float)) and is_number(x) and x > 0


def _or_none(check: Check) -> Check:
    return lambda x: x is None or check(x)


TASK: dict[str, Check] = {
    "t_0": is_number,
    "t_end": is_number,
    "dt": _or_none(is_positive),
    "output": _or_none(lambda x: is_count(x) and x != 0),
    "every": _or_none(is_positive),
    "inputs": is_names,
    "controller": lambda x: isinstance(x, bool),
    "events": is_names,
    "scheme": lambda x: isinstance(x, dict) and isinstance(x.get("name"), str),
}
RUN: dict[str, Check] = {
    "pieces": is_count,
    "rows": is_count,
    "finished": lambda x: isinstance(x, bool),
    "info": lambda x: isinstance(x, dict),
    "entries": _or_none(is_names),
    "quantities": is_shapes,
    "ports": is_shapes,
    "multipliers": is_shapes,
    "task": _or_none(
        lambda x: isinstance(x, dict) and all(word in x and check(x[word]) for word, check in TASK.items())
    ),
}


def column_shapes(system: System, entries: list[str] | None) -> dict[str, tuple[int, ...]]:
    """The shape of one row in each array of a piece."""
    out: dict[str, tuple[int, ...]] = {"t": (), "e": (system.layout.size,), "lam": (system.multipliers.size,)}
    if entries is None:
        return out
    bodies, lines = len(system.bodies), len(entries)
    return out | {"bodies": (bodies, 3), "losses": (bodies,), "works": (lines, 2), "springs": (lines,)}


def has_rows(array: np.ndarray, shape: tuple[int, ...]) -> bool:
    """Whether an array has rows of this shape."""
    return array.dtype == float and array.ndim > 0 and array.shape[1:] == shape


# arrays of the memory: kind of numbers and number of axes
MEMORY = {
    **dict.fromkeys(("now", "w", "bank", "sizes", "moved", "constant", "before", "values"), ("f", 1)),
    **dict.fromkeys(("halvings", "happened", "row.t"), ("f", 1)),
    **dict.fromkeys(("changes", "records", "turned", "row.kept", "row.lam", "row.springs"), ("f", 2)),
    **dict.fromkeys(("iw", "dropped", "rows"), ("i", 1)),
    **dict.fromkeys(("inputs", "events"), ("U", 1)),
    "system": ("u", 1),
}


def require_memory(memory: Mapping[str, np.ndarray], task: Mapping[str, Any], ports: Mapping[str, Any]) -> None:
    """Raises InputError if the memory of a stepper is incomplete, damaged, or not of this task."""
    for name in MEMORY:
        if name not in memory:
            raise InputError(
                f"the memory of the stepper in this folder is of another phloat (it has no {name!r}); take its memory.….npz "
                "away to begin from the start of the run again, or open what is there with load_result"
            )
    wrong = [name for name, form in MEMORY.items() if _form(memory[name]) != form]
    if not wrong and not (len(memory["now"]) == 3 and task["t_0"] <= memory["now"][0] < np.inf):
        wrong = ["now"]
    if "pace" in memory and not (
        memory["pace"].shape == (6,) and np.isfinite(memory["pace"]).all() and (memory["pace"][[0, 3]] > 0).all()
    ):
        wrong.append("pace")
    if "levels" in memory and memory["levels"].shape != (len(task["events"]),):
        wrong.append("levels")
    if not wrong:
        sizes = [int(np.prod(ports.get(name, (-1,)))) for name in memory["inputs"].tolist()]
        wrong = ["inputs"] if min(sizes, default=0) < 0 or sum(sizes) != len(memory["values"]) else []
    if wrong:
        raise damaged_memory(wrong[0])


def damaged_memory(what: str) -> InputError:
    return InputError(
        f"the memory of the stepper in this folder is damaged ({what!r} is not as it was written); "
        "without its last memory.….npz the run goes on from the piece before, or from its start"
    )


def _form(array: np.ndarray) -> tuple[str, int]:
    return array.dtype.kind, array.ndim
