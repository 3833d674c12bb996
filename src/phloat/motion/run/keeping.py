"""What a run keeps as it goes: finished rows and the memory of its stepper, from which it goes on bit for bit."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np

from phloat.errors import InputError
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.machine.workspace import unranged
from phloat.motion.run.runner import Runner
from phloat.motion.saving.forms import damaged_memory

Memory = Mapping[str, np.ndarray]


def keep(runner: Runner, more: Memory, *, now: bool = False) -> None:
    """Rows and memory to the recorder, if there is one and it is time (or `now`); the last row stays, its λ is not whole.

    `more` is what the march itself must remember.
    """
    recorder, rows = runner.task.recorder, runner.rows
    if recorder is None or not (now or recorder.due(8 * rows.made * rows.kept.shape[1])):
        return
    done = rows.made - 1
    finished = runner.result(done)
    rows.drop(done)
    recorder.piece(finished, remembered(runner) | dict(more))


def remembered(runner: Runner) -> dict[str, np.ndarray]:
    """All of a runner that steps change."""
    p, rows, run = runner.packed, runner.rows, runner.run
    controlled = runner.controlled()
    return {
        "system": _fingerprint(runner),
        "now": np.array([runner.t, runner.h, runner.sampled]),
        "w": p.w[: p.lasting],
        "iw": p.iw,
        "bank": runner.bank,
        "sizes": runner.sizes,
        "dropped": p.model.rows[:, t.R_DROPPED],
        "moved": run.moved,
        "constant": run.constant,
        "before": np.concatenate([np.zeros(0), *run.before]),
        "inputs": np.array(list(controlled), dtype=str),
        "values": np.concatenate([np.zeros(0), *controlled.values()]),
        "halvings": np.array(runner.halvings),
        "happened": np.array([time for time, _ in runner.happened]),
        "events": np.array([name for _, name in runner.happened], dtype=str),
        "changes": np.array(runner.changes).reshape(-1, 3),
        "records": np.array(runner.records, dtype=float).reshape(-1, 2 * runner.task.system.layout.size),
        "rows": np.array([rows.before, rows.fill]),
        "row.t": np.array(rows.t),
        "row.kept": rows.kept[: rows.made],
        "row.lam": rows.lam[: rows.made],
        "row.springs": rows.springs[: rows.made],
        "turned": np.vstack([runner.turned, *rows.turned]),
    }


def recalled(runner: Runner) -> Memory:
    """The runner as its task remembers it, if it does; and what the march remembers."""
    memory = runner.task.memory
    if memory is None:
        return {}
    p, rows, run = runner.packed, runner.rows, runner.run
    if len(memory["w"]) != p.lasting or not np.array_equal(memory["system"], _fingerprint(runner)):
        raise InputError(
            "the saved run is of a system with the same names but other numbers (masses, stiffnesses, places of ports, "
            "gravity …); give the system that moved"
        )
    _fitting(runner, memory)
    runner.t, runner.h, runner.sampled = map(float, memory["now"])
    p.w[: p.lasting], p.iw[:], p.model.rows[:, t.R_DROPPED] = memory["w"], memory["iw"], memory["dropped"]
    runner.bank[:], runner.sizes = memory["bank"], memory["sizes"]
    run.moved, run.constant[:] = memory["moved"], memory["constant"]
    ends = np.cumsum([len(before) for before in run.before])
    run.before[:] = np.split(memory["before"], ends[:-1])
    runner.halvings[:] = memory["halvings"].tolist()
    runner.happened[:] = zip(memory["happened"].tolist(), memory["events"].tolist(), strict=True)
    runner.changes[:] = [(time, int(which), change) for time, which, change in memory["changes"].tolist()]
    size = runner.task.system.layout.size
    runner.records[:] = [(row[:size], row[size:]) for row in memory["records"]]
    runner.turned, rows.turned = memory["turned"][0], list(memory["turned"][1:])
    rows.before, rows.fill = map(int, memory["rows"])
    rows.t = memory["row.t"].tolist()
    rows.kept, rows.lam, rows.springs = memory["row.kept"], memory["row.lam"], memory["row.springs"]
    return memory


def _fitting(runner: Runner, memory: Memory) -> None:
    """Shapes as this runner has them, or a sentence: the kernel trusts them."""
    mine, made = remembered(runner), len(memory["row.t"])
    for name in ("iw", "bank", "dropped", "moved", "constant", "before", "rows"):
        if memory[name].shape != mine[name].shape:
            raise damaged_memory(name)
    for name in ("row.kept", "row.lam", "row.springs"):
        if memory[name].shape != (made, mine[name].shape[1]):
            raise damaged_memory(name)
    if not -1 <= memory["rows"][1] < made or memory["changes"].shape[1] != 3:
        raise damaged_memory("rows")
    if memory["turned"].shape != (1 + made * (runner.turns is not None), mine["turned"].shape[1]):
        raise damaged_memory("turned")
    if memory["records"].shape != (len(memory["happened"]), mine["records"].shape[1]):
        raise damaged_memory("records")
    if len(memory["happened"]) != len(memory["events"]):
        raise damaged_memory("events")


def _fingerprint(runner: Runner) -> np.ndarray:
    """A number for all constants of the system and what holds it."""
    p, model = runner.packed, runner.packed.model
    tables = [model.data, model.indices, unranged(model.bodies), model.ends, model.entries, p.gravity]
    tables.append(np.delete(model.rows, t.R_DROPPED, axis=1))
    laws = [p.w[row[t.R_LAW] : row[t.R_LAW] + t.LAW_SIZE] for row in model.rows]
    digest = hashlib.sha256()
    for table in [*tables, *laws]:
        digest.update(np.ascontiguousarray(table).tobytes())
    return np.frombuffer(digest.digest(), dtype=np.uint8)
