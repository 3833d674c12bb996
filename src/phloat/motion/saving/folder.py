"""Saved runs: a folder of `run.json` and numbered pieces, which NumPy opens without phloat.

    run.json          columns and units, the task, the number of pieces, whether the run is finished
    model.json        the system, if a model file can describe it
    start.npy         the state e at the start
    t.000000.npy      times;  e.… states;  lam.… multipliers;  bodies.… losses.… works.… springs.… energy accounts
    efforts.000000.npy  of force elements and inputs
    memory.000000.npz the stepper after the last row of its piece, for `resume`
    events.npy        states before and after each event;  turned.… angles of joints in space with whole turns
    lock              the process that writes, if any

Every file is written under another name and renamed, and `run.json` counts a piece when all of it is written. An interrupted run
opens with its complete pieces, and of a damaged piece the rows before the damage.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZipFile

import numpy as np

from phloat.algebra.array_files import DAMAGED, complete_rows, read_npy, read_npz
from phloat.algebra.layout import Layout
from phloat.errors import DamagedRunWarning, InputError
from phloat.format.system import plain
from phloat.motion.result import Efforts, EnergyAccounts, PastEvent, Result, at_times, past_events
from phloat.motion.saving.files import (
    PARTIAL,
    Check,
    is_count,
    is_names,
    is_shapes,
    read_description,
    write_atomically,
)
from phloat.system.system import System

VERSION = 1
ACCOUNTS = ("bodies", "losses", "works", "springs")


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

Description = dict[str, Any]
Arrays = Mapping[str, np.ndarray]
Span = tuple[int, float, float]  # rows, from, to


@dataclass(frozen=True)
class RunFolder:
    """The files of a run in a folder."""

    path: Path

    @property
    def exists(self) -> bool:
        return (self.path / "run.json").exists()

    def require_empty(self) -> RunFolder:
        """Returns the folder; raises InputError if it has a run."""
        if self.exists:
            saved = self.description()
            how = "a finished run" if saved["finished"] else "a run that was cut short"
            raise InputError(
                f"{str(self.path)!r} holds {how} of {saved['rows']} times already; give another folder, or go on with it: "
                "resume(folder, system, …)"
            )
        return self

    def files(self) -> list[Path]:
        """The files of the run: its description first, then its pieces."""
        patterns = ("run.json", "model.json", "*.npy", "*.npz", f"*{PARTIAL}")
        return [file for pattern in patterns for file in self.path.glob(pattern)]

    def clear(self) -> None:
        """Removes the run."""
        for file in self.files():
            file.unlink()

    # --- writing -----------------------------------------------------------------------------------------------------

    def describe(self, description: Description) -> None:
        text = json.dumps(description, indent=1, default=_plain).encode()
        self._write("run.json", lambda file: file.write(text))

    def write_model(self, system: System) -> Description:
        """Writes model.json and its meshes, if a model file can describe the system. Returns the entry for run.json."""
        meshes: dict[str, Arrays] = {}

        def arrays(name: str, mesh: Arrays) -> str:
            file = f"model.{len(meshes)}.npz"
            meshes[file] = mesh
            return file

        try:
            text = json.dumps(plain(system, arrays=arrays), indent=1, ensure_ascii=False).encode()
        except InputError as error:
            return {"file": None, "why": str(error)}
        for file, mesh in meshes.items():
            self._write(file, partial(_zip, arrays=mesh))
        self._write("model.json", lambda stream: stream.write(text))
        return {"file": "model.json", "why": None}

    def write(self, name: str, array: np.ndarray) -> None:
        rows = np.asarray(array, order="C")  # row by row, so that the first rows of a truncated file can be read
        self._write(f"{name}.npy", lambda file: np.save(file, rows, allow_pickle=False))

    def piece(self, k: int, arrays: Arrays, memory: Arrays | None = None) -> None:
        """Writes the k-th piece; the last two memories are retained."""
        for name, array in arrays.items():
            self.write(f"{name}.{k:06d}", array)
        if memory is not None:
            self._write(f"memory.{k:06d}.npz", lambda file: _zip(file, memory))
            (self.path / f"memory.{k - 2:06d}.npz").unlink(missing_ok=True)

    def _write(self, name: str, write: Callable[[BinaryIO], object]) -> None:
        write_atomically(self.path / name, write)

    # --- reading -----------------------------------------------------------------------------------------------------

    def description(self) -> Description:
        return read_description(self.path / "run.json", "run", VERSION, RUN)

    def read(self, name: str) -> np.ndarray:
        """Reads an array. Raises InputError if it cannot be read."""
        file = self.path / f"{name}.npy"
        try:
            return read_npy(file)
        except DAMAGED as error:
            raise InputError(f"{str(file)!r} cannot be read ({error}); what is left opens with load_result") from error

    def pieces(self, saved: Description, system: System) -> tuple[list[Arrays], str]:
        """All pieces up to the first damaged one, and the damage of that one (empty if there is none)."""
        out: list[Arrays] = []
        for k in range(saved["pieces"]):
            arrays: dict[str, np.ndarray] = {}
            for name, shape in column_shapes(system, saved).items():
                file = f"{name}.{k:06d}"
                try:
                    arrays[name] = read_npy(self.path / f"{file}.npy")
                except DAMAGED as error:
                    return out, f"{file}.npy cannot be read ({error})"
                if not has_rows(arrays[name], shape) or len(arrays[name]) != len(arrays["t"]):
                    return out, f"{file}.npy has shape {arrays[name].shape}, which does not fit the run"
            out.append(arrays)
        return out, ""

    def events_and_turns(
        self, system: System, info: Mapping[str, Any], pieces: list[Arrays]
    ) -> tuple[tuple[PastEvent, ...], np.ndarray | None]:
        """Events with their states, and angles of joints with whole turns (None if the run has none)."""
        turns: list[np.ndarray] = []
        states = np.zeros((0, 2))
        with suppress(*DAMAGED):
            rows = read_npy(self.path / "events.npy")
            states = rows if has_rows(rows, (2 * system.layout.size,)) else states
        with suppress(*DAMAGED):
            turns = [read_npy(self.path / f"turned.{k:06d}.npy") for k in range(len(pieces))]
        fit = turns and [len(part) for part in turns] == [len(piece["t"]) for piece in pieces]
        return past_events(system, info.get("events", ()), states), np.concatenate(turns) if fit else None

    def partial_piece(self, saved: Description, k: int, system: System) -> Arrays | None:
        """The rows of a damaged piece that all of its files have; None if there are none."""
        shapes = column_shapes(system, saved)
        try:
            arrays = {name: complete_rows(self.path / f"{name}.{k:06d}.npy") for name in shapes}
        except DAMAGED:
            return None
        rows = min(map(len, arrays.values()))
        valid = all(has_rows(arrays[name], shape) for name, shape in shapes.items())
        return {name: array[:rows] for name, array in arrays.items()} if valid else None

    def memory(self, pieces: int) -> tuple[int, dict[str, np.ndarray]] | None:
        """The number and the arrays of the last readable memory after at most so many pieces."""
        for k in range(pieces - 1, -1, -1):
            try:
                return k, read_npz(self.path / f"memory.{k:06d}.npz")
            except DAMAGED:  # missing or truncated
                continue
        return None


def load_run(folder: RunFolder, system: System) -> Result:
    """The saved part of a run. Raises InputError if it is of a system with other quantities, joints or ports."""
    saved = folder.description()
    require_same_layout(saved, system)
    result = load_rows(folder, saved, system)
    task = saved["task"]
    return at_times(result, folder.read("output")) if task and task["output"] is None else result


def load_rows(folder: RunFolder, saved: Description, system: System) -> Result:
    """All rows of complete pieces; warns if pieces are damaged."""
    pieces, damage = folder.pieces(saved, system)
    if damage:
        partial_rows = folder.partial_piece(saved, len(pieces), system)
        pieces += [partial_rows] if partial_rows is not None and len(partial_rows["t"]) else []
        ends = [piece["t"][-1] for piece in pieces if len(piece["t"])]
        extent = f"the run is opened up to t = {ends[-1]:g} s" if ends else "nothing of it is left"
        warnings.warn(f"in {str(folder.path)!r}, {damage}; {extent}", DamagedRunWarning, stacklevel=4)
    if not sum(len(piece["t"]) for piece in pieces):
        raise InputError(f"the run in {str(folder.path)!r} was cut short before anything was written; run it again")
    joined = {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
    accounts = None
    if saved["entries"] is not None:
        accounts = EnergyAccounts(tuple(saved["entries"]), *(joined[name] for name in ACCOUNTS))
    info = {name: _tuples(value) for name, value in saved["info"].items()}
    if saved["task"] is not None:
        info |= {name: saved["task"][name] for name in ("scheme", "dt")}
    info["finished"] = saved["finished"] and not damage
    efforts = None
    if is_names(saved.get("efforts")):  # runs of earlier versions have none
        efforts = Efforts(tuple(saved["efforts"]), joined.get("efforts", np.zeros((len(joined["t"]), 0))))
    events_and_turns = folder.events_and_turns(system, info, pieces)
    return Result(system, joined["t"], joined["e"], joined["lam"], accounts, info, *events_and_turns, efforts)


def rebuild_description(folder: RunFolder) -> Description:
    """A description for a folder whose run.json cannot be read; the names of the energy accounts are lost."""
    numbers = {file.name.split(".")[1] for file in folder.path.glob("t.??????.npy")}
    pieces = next(k for k in range(len(numbers) + 1) if f"{k:06d}" not in numbers)
    return {"entries": None, "pieces": pieces, "task": None, "info": {}, "finished": False}


# --- contents of run.json ----------------------------------------------------------------------------------------------


def require_same_layout(saved: Description, system: System) -> None:
    """Raises InputError if quantities, ports or multipliers of the system are not those of the run."""
    if not isinstance(system, System):
        raise InputError(f"{type(system).__name__} is no System; connect(…) makes one")
    for kind, shapes in layouts(system).items():
        saved_shapes = {name: tuple(shape) for name, shape in saved[kind].items()}
        if list(saved_shapes.items()) == list(shapes.items()):
            continue
        if saved_shapes == shapes:
            raise InputError(
                f"the saved run has the {kind} {', '.join(saved_shapes)} in this order, the system {', '.join(shapes)}"
            )
        name = next(name for name in [*shapes, *saved_shapes] if shapes.get(name) != saved_shapes.get(name))
        raise InputError(
            f"the saved run is of another system: of its {kind}, {name!r} has shape {saved_shapes.get(name, 'none')} there, "
            f"{shapes.get(name, 'none')} here"
        )


def layouts(system: System) -> dict[str, dict[str, tuple[int, ...]]]:
    layouts: dict[str, Layout] = {"quantities": system.layout, "ports": system.ports, "multipliers": system.multipliers}
    return {kind: dict(layout.shapes) for kind, layout in layouts.items()}


def _zip(file: BinaryIO, arrays: Arrays) -> None:
    """Writes arrays like np.savez, with any names."""
    with ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def _plain(value: object) -> object:
    """NumPy numbers as Python numbers; other objects as strings."""
    return value.tolist() if isinstance(value, (np.generic, np.ndarray)) else str(value)


def _tuples(value: object) -> object:
    if isinstance(value, dict):
        return {name: _tuples(inner) for name, inner in value.items()}
    return tuple(_tuples(v) for v in value) if isinstance(value, list) else value


def column_shapes(system: System, saved: Description) -> dict[str, tuple[int, ...]]:
    """The shape of one row in each array of a piece."""
    out: dict[str, tuple[int, ...]] = {"t": (), "e": (system.layout.size,), "lam": (system.multipliers.size,)}
    if saved.get("efforts") and is_names(saved["efforts"]):
        out["efforts"] = (len(saved["efforts"]),)
    if saved["entries"] is None:
        return out
    bodies, lines = len(system.bodies), len(saved["entries"])
    return out | {"bodies": (bodies, 3), "losses": (bodies,), "works": (lines, 2), "springs": (lines,)}


def has_rows(array: np.ndarray, shape: tuple[int, ...]) -> bool:
    """Whether an array consists of floats in rows of this shape."""
    return array.dtype == float and array.ndim > 0 and array.shape[1:] == shape
