"""The memory of a run in its saved form, from which the run resumes bit for bit."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np

from phloat.errors import InputError
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.machine.workspace import unranged
from phloat.motion.run.kernel_run import KernelRun, Snapshot
from phloat.motion.saving.format import damaged_memory

Memory = Mapping[str, np.ndarray]


def memory_of(run: KernelRun) -> dict[str, np.ndarray]:
    """A snapshot of the run, its controlled inputs, its events, and the rows that are not saved yet."""
    p, rows, here, assembly = run.packed, run.rows, run.snapshot(), run.assembly
    controlled = run.controlled()
    return {
        "system": _fingerprint(run),
        "now": np.array([here.t, here.h, run.sampled]),
        "w": here.w[: p.lasting],
        "iw": here.iw,
        "bank": here.bank,
        "sizes": here.sizes,
        "moved": here.moved,
        "dropped": p.model.rows[:, t.R_DROPPED],
        "constant": assembly.constant,
        "before": np.concatenate([np.zeros(0), *assembly.before]),
        "inputs": np.array(list(controlled), dtype=str),
        "values": np.concatenate([np.zeros(0), *controlled.values()]),
        "halvings": np.array(run.halvings),
        "happened": np.array([time for time, _ in run.happened]),
        "events": np.array([name for _, name in run.happened], dtype=str),
        "changes": np.array(run.changes).reshape(-1, 3),
        "records": np.array(run.records, dtype=float).reshape(-1, 2 * run.task.system.layout.size),
        "rows": np.array([rows.dropped, here.pending]),
        "row.t": np.array(rows.t),
        "row.kept": rows.kept[: rows.count],
        "row.lam": rows.lam[: rows.count],
        "row.springs": rows.springs[: rows.count],
        "turned": np.vstack([here.turned, *rows.turned]),
    }


def recall(run: KernelRun) -> Memory:
    """Restores the run from the memory of its task, if that has one; returns the memory, with what a stepper must know."""
    memory = run.task.memory
    if memory is None:
        return {}
    p, rows, assembly = run.packed, run.rows, run.assembly
    if len(memory["w"]) != p.lasting or not np.array_equal(memory["system"], _fingerprint(run)):
        raise InputError(
            "the saved run is of a system with the same names but other numbers (masses, stiffnesses, places of ports, "
            "gravity …); give the system that moved"
        )
    _require_shapes(run, memory)
    now, h, run.sampled = map(float, memory["now"])
    rows.dropped, pending = map(int, memory["rows"])
    sizes, w, iw, bank, moved = (memory[name] for name in ("sizes", "w", "iw", "bank", "moved"))
    run.restore(Snapshot(now, h, sizes, w, iw, bank, moved, memory["turned"][0], len(memory["row.t"]), pending))
    p.model.rows[:, t.R_DROPPED] = memory["dropped"]
    assembly.constant[:] = memory["constant"]
    ends = np.cumsum([len(before) for before in assembly.before])
    assembly.before[:] = np.split(memory["before"], ends[:-1])
    run.halvings[:] = memory["halvings"].tolist()
    run.happened[:] = zip(memory["happened"].tolist(), memory["events"].tolist(), strict=True)
    run.changes[:] = [(time, int(which), change) for time, which, change in memory["changes"].tolist()]
    size = run.task.system.layout.size
    run.records[:] = [(row[:size], row[size:]) for row in memory["records"]]
    rows.t, rows.turned = memory["row.t"].tolist(), list(memory["turned"][1:])
    rows.kept, rows.lam, rows.springs = memory["row.kept"], memory["row.lam"], memory["row.springs"]
    return memory


def _require_shapes(run: KernelRun, memory: Memory) -> None:
    """Raises InputError if an array has not the shape that this run needs: the kernel does not check."""
    mine, made = memory_of(run), len(memory["row.t"])
    for name in ("iw", "bank", "dropped", "moved", "constant", "before", "rows"):
        if memory[name].shape != mine[name].shape:
            raise damaged_memory(name)
    for name in ("row.kept", "row.lam", "row.springs"):
        if memory[name].shape != (made, mine[name].shape[1]):
            raise damaged_memory(name)
    if not -1 <= memory["rows"][1] < made or memory["changes"].shape[1] != 3:
        raise damaged_memory("rows")
    if memory["turned"].shape != (1 + made * (run.turns is not None), mine["turned"].shape[1]):
        raise damaged_memory("turned")
    if memory["records"].shape != (len(memory["happened"]), mine["records"].shape[1]):
        raise damaged_memory("records")
    if len(memory["happened"]) != len(memory["events"]):
        raise damaged_memory("events")


def _fingerprint(run: KernelRun) -> np.ndarray:
    """A hash of all constants of the system."""
    p, model = run.packed, run.packed.model
    tables = [model.data, model.indices, unranged(model.bodies), model.ends, model.entries, p.gravity]
    tables.append(np.delete(model.rows, t.R_DROPPED, axis=1))
    laws = [p.w[row[t.R_LAW] : row[t.R_LAW] + t.LAW_SIZE] for row in model.rows]
    digest = hashlib.sha256()
    for table in [*tables, *laws]:
        digest.update(np.ascontiguousarray(table).tobytes())
    return np.frombuffer(digest.digest(), dtype=np.uint8)
