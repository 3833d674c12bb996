"""What the files of a saved run must look like to be one: words of run.json, shapes of arrays, the memory of a stepper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from phloat.errors import InputError
from phloat.motion.saving.files import Check, names, shapes, whole_number
from phloat.system.system import System


def number(x: object) -> bool:
    return isinstance(x, (int, float)) and not isinstance(x, bool) and bool(np.isfinite(x))


def above_zero(x: object) -> bool:
    return isinstance(x, (int, float)) and number(x) and x > 0


def _or_none(check: Check) -> Check:
    return lambda x: x is None or check(x)


TASK: dict[str, Check] = {
    "t_0": number,
    "t_end": number,
    "dt": _or_none(above_zero),
    "output": _or_none(lambda x: whole_number(x) and x != 0),
    "every": _or_none(above_zero),
    "inputs": names,
    "controller": lambda x: isinstance(x, bool),
    "events": names,
    "scheme": lambda x: isinstance(x, dict) and isinstance(x.get("name"), str),
}
RUN: dict[str, Check] = {
    "pieces": whole_number,
    "rows": whole_number,
    "finished": lambda x: isinstance(x, bool),
    "info": lambda x: isinstance(x, dict),
    "entries": _or_none(names),
    "quantities": shapes,
    "ports": shapes,
    "multipliers": shapes,
    "task": _or_none(
        lambda x: isinstance(x, dict) and all(word in x and check(x[word]) for word, check in TASK.items())
    ),
}


def columns_of(system: System, entries: list[str] | None) -> dict[str, tuple[int, ...]]:
    """What follows the rows in each array of a piece."""
    out: dict[str, tuple[int, ...]] = {"t": (), "e": (system.layout.size,), "lam": (system.multipliers.size,)}
    if entries is None:
        return out
    bodies, lines = len(system.bodies), len(entries)
    return out | {"bodies": (bodies, 3), "losses": (bodies,), "works": (lines, 2), "springs": (lines,)}


def rows_of(array: np.ndarray, shape: tuple[int, ...]) -> bool:
    """Whether it is rows of numbers of this shape."""
    return array.dtype == float and array.ndim > 0 and array.shape[1:] == shape


# of the memory: kind of numbers and axes
MEMORY = {
    **dict.fromkeys(("now", "w", "bank", "sizes", "moved", "constant", "before", "values"), ("f", 1)),
    **dict.fromkeys(("halvings", "happened", "row.t"), ("f", 1)),
    **dict.fromkeys(("changes", "records", "turned", "row.kept", "row.lam", "row.springs"), ("f", 2)),
    **dict.fromkeys(("iw", "dropped", "rows"), ("i", 1)),
    **dict.fromkeys(("inputs", "events"), ("U", 1)),
    "system": ("u", 1),
}


def memory_or_said(memory: Mapping[str, np.ndarray], task: Mapping[str, Any], ports: Mapping[str, Any]) -> None:
    """The memory of a stepper that stands somewhere in this task, or a sentence."""
    for name in MEMORY:
        if name not in memory:
            raise InputError(
                f"the memory of the stepper in this folder is of another phloat (it has no {name!r}); take its memory.….npz "
                "away to begin from the start of the run again, or open what is there with load_run"
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
