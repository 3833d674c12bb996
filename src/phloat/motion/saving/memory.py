"""The memory of a run as saved arrays, from which it resumes bit for bit."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from phloat.errors import InputError
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.machine.workspace import without_ranges
from phloat.motion.result import event_states, past_events
from phloat.motion.run.task import Memory

KernelRun: TypeAlias = Any  # of motion.run.kernel_run, which imports this module

NEEDED_FIRST = {"now": ("f", 1), "inputs": ("U", 1), "values": ("f", 1)}  # needed before the buffers exist
# names in the file: names in Snapshot and in Rows
SNAPSHOT = {"iw": "iw", "bank": "bank", "sizes": "sizes", "moved": "drive_values"}
ROWS = {"kept": "numbers", "lam": "lam", "springs": "springs"}
SAME_LENGTH = ("iw", "bank", "dropped", "moved", "constant", "before", "rows")  # the same for all runs of one system


def memory_of(run: KernelRun) -> Memory:
    """A snapshot of the run, its controlled inputs, its events, and the rows that are not saved yet."""
    p, rows, snapshot, assembly = run.packed, run.rows, run.snapshot(), run.assembly
    controlled = run.controlled()
    return {
        "system": _fingerprint(run),
        "now": np.array([snapshot.t, snapshot.h, run.last_sample]),
        "w": snapshot.w[: p.lasting],
        **{key: getattr(snapshot, name) for key, name in SNAPSHOT.items()},
        "dropped": p.model.rows[:, t.R_DROPPED],
        "constant": assembly.prestress_energy,
        "before": np.concatenate([np.zeros(0), *assembly.prestress]),
        "inputs": np.array(list(controlled), dtype=str),
        "values": np.concatenate([np.zeros(0), *controlled.values()]),
        "halvings": np.array(run.halvings),
        "happened": np.array([event.t for event in run.past]),
        "events": np.array([event.name for event in run.past], dtype=str),
        "changes": np.array(run.changes).reshape(-1, 3),
        "records": event_states(run.task.system, run.past),
        "rows": np.array([rows.dropped, snapshot.pending]),
        "row.t": np.array(rows.t),
        **{f"row.{key}": getattr(rows, name)[: rows.count] for key, name in ROWS.items()},
        "turned": np.vstack([snapshot.angles, *rows.angles]),
    }


def recall(run: KernelRun, memory: Mapping[str, np.ndarray]) -> None:
    """Restores a run from its memory. Raises InputError if the memory is damaged or of another system."""
    p, rows, assembly, current = run.packed, run.rows, run.assembly, memory_of(run)
    require_memory_arrays(memory, {name: (array.dtype.kind, array.ndim) for name, array in current.items()})
    if len(memory["w"]) != p.lasting or not np.array_equal(memory["system"], current["system"]):
        raise InputError(
            "the saved run is of a system with the same names but other numbers (masses, stiffnesses, places of ports, "
            "gravity …); give the system that moved"
        )
    row_count, past = len(memory["row.t"]), len(memory["happened"])
    lengths = {**{f"row.{name}": row_count for name in ROWS}, "records": past, "events": past}
    lengths |= {"turned": 1 + row_count * (run.turns is not None), **{name: len(current[name]) for name in SAME_LENGTH}}
    for name, array in current.items():  # the kernel does not check lengths
        saved = memory[name]
        if saved.shape[1:] != array.shape[1:] or len(saved) != lengths.get(name, len(saved)):
            raise damaged_memory(name)
    if not -1 <= memory["rows"][1] < row_count:
        raise damaged_memory("rows")
    reached, h, run.last_sample = map(float, memory["now"])
    rows.dropped, pending = map(int, memory["rows"])
    arrays = {"w": memory["w"], **{name: memory[key] for key, name in SNAPSHOT.items()}}
    run.restore(
        replace(run.snapshot(), t=reached, h=h, angles=memory["turned"][0], rows=row_count, pending=pending, **arrays)
    )
    p.model.rows[:, t.R_DROPPED] = memory["dropped"]
    assembly.prestress_energy[:] = memory["constant"]
    ends = np.cumsum([len(before) for before in assembly.prestress])
    assembly.prestress[:] = np.split(memory["before"], ends[:-1])
    run.halvings[:] = memory["halvings"].tolist()
    events = zip(memory["happened"].tolist(), memory["events"].tolist(), strict=True)
    run.past[:] = past_events(run.task.system, events, memory["records"])
    run.changes[:] = [(time, int(which), change) for time, which, change in memory["changes"].tolist()]
    rows.t, rows.angles = memory["row.t"].tolist(), list(memory["turned"][1:])
    rows.numbers, rows.lam, rows.springs = memory["row.kept"], memory["row.lam"], memory["row.springs"]


def require_memory(memory: Mapping[str, np.ndarray], task: Mapping[str, Any], ports: Mapping[str, Any]) -> None:
    """Raises InputError if the times, inputs or events of a memory are missing, damaged, or not of this task."""
    require_memory_arrays(memory, NEEDED_FIRST)
    valid: dict[str, Callable[[np.ndarray], object]] = {
        "now": lambda x: len(x) == 3 and task["t_0"] <= x[0] < np.inf,
        "pace": lambda x: x.shape == (6,) and np.isfinite(x).all() and (x[[0, 3]] > 0).all(),
        "grid": lambda x: x.shape == (2,) and task["t_0"] <= x[0] < np.inf and 0 <= x[1] < np.inf,
        "levels": lambda x: x.shape == (len(task["events"]),),
    }
    for name, check in valid.items():
        if name in memory and not check(memory[name]):
            raise damaged_memory(name)
    sizes = [int(np.prod(ports.get(name, (-1,)))) for name in memory["inputs"].tolist()]
    if min(sizes, default=0) < 0 or sum(sizes) != len(memory["values"]):
        raise damaged_memory("inputs")


def require_memory_arrays(memory: Mapping[str, np.ndarray], forms: Mapping[str, tuple[str, int]]) -> None:
    """Raises InputError if an array is missing or has another kind of numbers or another number of axes."""
    for name, form in forms.items():
        if name not in memory:
            raise InputError(
                f"the memory of the stepper in this folder is of another phloat (it has no {name!r}); take its memory.….npz "
                "away to begin from the start of the run again, or open what is there with load_result"
            )
        if (memory[name].dtype.kind, memory[name].ndim) != form:
            raise damaged_memory(name)


def damaged_memory(array: str) -> InputError:
    return InputError(
        f"the memory of the stepper in this folder is damaged ({array!r} is not as it was written); "
        "without its last memory.….npz the run goes on from the piece before, or from its start"
    )


def _fingerprint(run: KernelRun) -> np.ndarray:
    """A hash of all constants of the system."""
    p, model = run.packed, run.packed.model
    tables = [model.data, model.indices, without_ranges(model.bodies), model.ends, model.entries, p.gravity]
    tables.append(np.delete(model.rows, t.R_DROPPED, axis=1))
    laws = [p.w[row[t.R_LAW] : row[t.R_LAW] + t.LAW_SIZE] for row in model.rows]
    digest = hashlib.sha256()
    for table in [*tables, *laws]:
        digest.update(np.ascontiguousarray(table).tobytes())
    return np.frombuffer(digest.digest(), dtype=np.uint8)
