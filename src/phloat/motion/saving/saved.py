"""Saved runs: a folder of `run.json` and numbered pieces, which NumPy opens without phloat.

    run.json          what the columns are and their units, the task, how many pieces there are, whether the run is finished
    model.json        the system that moved, where a model file can say it
    start.npy         the state e at the start
    t.000000.npy      times;  e.… states;  lam.… multipliers;  bodies.… losses.… works.… springs.… the books
    memory.000000.npz the stepper after the last row of its piece: what `resume` goes on from
    events.npy        states before and after each event;  turned.… angles of joints in space with their turns
    lock              while a process writes here: which one

Every file is written under another name and renamed, and `run.json` counts a piece when all of it is there: a run that is cut
short at any instant opens with the pieces that were finished, and of a damaged piece the rows before the damage.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZipFile

import numpy as np

from phloat.algebra.array_files import DAMAGED, read_npy, read_npz, whole_rows
from phloat.algebra.layout import Layout
from phloat.algebra.version import __version__
from phloat.errors import DamagedRunWarning, InputError
from phloat.motion.result import Books, Result, at_times, past_events
from phloat.motion.run.events import Happened
from phloat.motion.saving.files import PARTIAL, description, held, write_whole
from phloat.motion.saving.forms import RUN, columns_of, rows_of
from phloat.system.plain import plain
from phloat.system.system import System
from phloat.system.units import units

VERSION = 1
BOOKS = ("bodies", "losses", "works", "springs")

Description = dict[str, Any]
Arrays = Mapping[str, np.ndarray]
Span = tuple[int, float, float]  # rows, from, to


@dataclass(frozen=True)
class Folder:
    """The files of a run."""

    path: Path

    @property
    def taken(self) -> bool:
        return (self.path / "run.json").exists()

    def made(self) -> Folder:
        """The folder without a run in it."""
        if self.taken:
            said = self.description()
            how = "a finished run" if said["finished"] else "a run that was cut short"
            raise InputError(
                f"{str(self.path)!r} holds {how} of {said['rows']} times already; give another folder, or go on with it: "
                "resume(folder, system, …)"
            )
        return self

    def emptied(self) -> None:
        """Without the run that was in it: first that there is one, then its pieces."""
        (self.path / "run.json").unlink(missing_ok=True)
        for pattern in ("model.json", "*.npy", "*.npz", f"*{PARTIAL}"):
            for file in self.path.glob(pattern):
                file.unlink()

    # --- writing -----------------------------------------------------------------------------------------------------

    def describe(self, description: Description) -> None:
        text = json.dumps(description, indent=1, default=_plain).encode()
        self._write("run.json", lambda file: file.write(text))

    def write_model(self, system: System) -> Description:
        """The system as model.json, with its meshes beside it, or why no file can say it; what run.json tells of that."""
        beside: dict[str, Arrays] = {}

        def arrays(name: str, given: Arrays) -> str:
            file = f"model.{len(beside)}.npz"
            beside[file] = given
            return file

        try:
            text = json.dumps(plain(system, arrays=arrays), indent=1, ensure_ascii=False).encode()
        except InputError as error:
            return {"file": None, "why": str(error)}
        for file, given in beside.items():
            self._write(file, partial(_zip, arrays=given))
        self._write("model.json", lambda opened: opened.write(text))
        return {"file": "model.json", "why": None}

    def write(self, name: str, array: np.ndarray) -> None:
        rows = np.asarray(array, order="C")  # row by row, so that the first ones can be read of a file cut short
        self._write(f"{name}.npy", lambda file: np.save(file, rows, allow_pickle=False))

    def write_events(self, result: Result) -> None:
        """The states before and after each event."""
        if result.events:
            self.write("events", np.array([[*event.before.e, *event.after.e] for event in result.events]))

    def piece(self, k: int, arrays: Arrays, memory: Arrays | None = None) -> None:
        """The k-th piece; the memories of the last two are kept."""
        for name, array in arrays.items():
            self.write(f"{name}.{k:06d}", array)
        if memory is not None:
            self._write(f"memory.{k:06d}.npz", lambda file: _zip(file, memory))
            (self.path / f"memory.{k - 2:06d}.npz").unlink(missing_ok=True)

    def _write(self, name: str, put: Callable[[BinaryIO], object]) -> None:
        write_whole(self.path / name, put)

    # --- reading -----------------------------------------------------------------------------------------------------

    def description(self) -> Description:
        return description(self.path / "run.json", "run", VERSION, RUN)

    def read(self, name: str) -> np.ndarray:
        """An array that a run cannot be without."""
        file = self.path / f"{name}.npy"
        try:
            return read_npy(file)
        except DAMAGED as error:
            raise InputError(f"{str(file)!r} cannot be read ({error}); what is left opens with load_run") from error

    def pieces(self, said: Description, system: System) -> tuple[list[Arrays], str]:
        """All pieces that are whole, up to the first that is not, and what is wrong with that one."""
        out: list[Arrays] = []
        for k in range(said["pieces"]):
            arrays: dict[str, np.ndarray] = {}
            for name, shape in columns_of(system, said["entries"]).items():
                file = f"{name}.{k:06d}"
                try:
                    arrays[name] = read_npy(self.path / f"{file}.npy")
                except DAMAGED as error:
                    return out, f"{file}.npy cannot be read ({error})"
                if not rows_of(arrays[name], shape) or len(arrays[name]) != len(arrays["t"]):
                    return out, f"{file}.npy has shape {arrays[name].shape}, which does not fit the run"
            out.append(arrays)
        return out, ""

    def beside(
        self, system: System, info: Mapping[str, Any], pieces: list[Arrays]
    ) -> tuple[tuple[Happened, ...], np.ndarray | None]:
        """States at the events, and turns of joints, where the run has them."""
        states: list[tuple[np.ndarray, np.ndarray]] = []
        turns: list[np.ndarray] = []
        with suppress(*DAMAGED):
            rows = read_npy(self.path / "events.npy")
            size = system.layout.size
            states = [(row[:size], row[size:]) for row in rows] if rows_of(rows, (2 * size,)) else []
        with suppress(*DAMAGED):
            turns = [read_npy(self.path / f"turned.{k:06d}.npy") for k in range(len(pieces))]
        fit = turns and [len(part) for part in turns] == [len(piece["t"]) for piece in pieces]
        return past_events(system, info.get("events", ()), states), np.concatenate(turns) if fit else None

    def rest(self, said: Description, k: int, system: System) -> Arrays | None:
        """The rows of a piece that is not whole, as far as all of its files have them."""
        wanted = columns_of(system, said["entries"])
        try:
            arrays = {name: whole_rows(self.path / f"{name}.{k:06d}.npy") for name in wanted}
        except DAMAGED:
            return None
        rows = min(map(len, arrays.values()))
        fit = all(rows_of(arrays[name], shape) for name, shape in wanted.items())
        return {name: array[:rows] for name, array in arrays.items()} if fit else None

    def memory(self, pieces: int) -> tuple[int, dict[str, np.ndarray]] | None:
        """The last memory that can be read after at most so many pieces, and its number."""
        for k in range(pieces - 1, -1, -1):
            try:
                return k, read_npz(self.path / f"memory.{k:06d}.npz")
            except DAMAGED:  # not there, or not whole
                continue
        return None


def save(result: Result, folder: str | Path, *, overwrite: bool = False) -> None:
    """Write a result to a folder, where `load_result(folder)` finds it; one that holds a run already is refused.

    `simulate(…, save=folder)` writes while it runs, and can be resumed.
    """
    if not isinstance(result, Result):
        raise InputError(f"{type(result).__name__} is no Result; simulate(…) makes one")
    where = Folder(Path(folder))
    with held(where.path):
        if overwrite and where.taken:
            where.emptied()
        where.made()
        finished = bool(result.info.get("finished", True))
        where.piece(0, columns(result))
        where.write_events(result)
        constant = described(result.system) | {"model": where.write_model(result.system)}
        where.describe(constant | entries(result) | counted(1, span(result), finished, result.info))


def load_run(folder: str | Path, system: System) -> Result:
    """The run in a folder, as far as it went: `result.info["finished"]` says whether that is to its end.

    The system is the one that moved; that its quantities, joints and ports are the same is checked. `load_result(folder)` makes
    it from the folder itself, where it can.
    """
    where = Folder(Path(folder))
    said = where.description()
    same_layout(said, system)
    result = loaded(where, said, system)
    task = said["task"]
    return at_times(result, where.read("output")) if task and task["output"] is None else result


def loaded(where: Folder, said: Description, system: System) -> Result:
    """All rows of the pieces that are whole."""
    pieces, wrong = where.pieces(said, system)
    if wrong:
        rest = where.rest(said, len(pieces), system)
        pieces += [rest] if rest is not None and len(rest["t"]) else []
        ends = [piece["t"][-1] for piece in pieces if len(piece["t"])]
        there = f"the run is opened up to t = {ends[-1]:g} s" if ends else "nothing of it is left"
        warnings.warn(f"in {str(where.path)!r}, {wrong}; {there}", DamagedRunWarning, stacklevel=3)
    if not sum(len(piece["t"]) for piece in pieces):
        raise InputError(f"the run in {str(where.path)!r} was cut short before its first piece was written")
    joined = {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
    books = None
    if said["entries"] is not None:
        books = Books(tuple(said["entries"]), *(joined[name] for name in BOOKS))
    info = {name: _tuples(value) for name, value in said["info"].items()}
    if said["task"] is not None:
        info |= {name: said["task"][name] for name in ("scheme", "dt")}
    info["finished"] = said["finished"] and not wrong
    return Result(system, joined["t"], joined["e"], joined["lam"], books, info, *where.beside(system, info, pieces))


def rebuilt(where: Folder) -> Description:
    """What run.json would say of the pieces that lie there, where it cannot be read; the names of the books are lost with it."""
    there = {file.name.split(".")[1] for file in where.path.glob("t.??????.npy")}
    pieces = next(k for k in range(len(there) + 1) if f"{k:06d}" not in there)
    return {"entries": None, "pieces": pieces, "task": None, "info": {}, "finished": False}


# --- what run.json says ----------------------------------------------------------------------------------------------


def columns(result: Result) -> dict[str, np.ndarray]:
    """The arrays of a result by the names of their files."""
    out = {"t": result.t, "e": result.e, "lam": result.lam}
    out |= {} if result.turned is None else {"turned": result.turned}
    return out | ({name: getattr(result.books, name) for name in BOOKS} if result.books is not None else {})


def described(system: System, task: Description | None = None) -> Description:
    """What does not change while a run goes on; without a task it cannot be resumed."""
    about = {"format": "phloat run", "version": VERSION, "phloat": __version__, "written": _now()}
    named = {"bodies": list(system.bodies), **_layouts(system), "units": units(system)}
    return about | named | {"task": task}


def counted(pieces: int, rows: Span, finished: bool, info: Mapping[str, object]) -> Description:
    """How far a run is."""
    return {"finished": finished, "pieces": pieces, "rows": rows[0], "times": rows[1:], "info": dict(info)}


def span(result: Result) -> Span:
    return len(result), float(result.t[0]), float(result.t[-1])


def entries(result: Result) -> Description:
    return {"entries": None if result.books is None else list(result.books.names)}


def same_layout(said: Description, system: System) -> None:
    """The system has the quantities, ports and multipliers of the run, or a sentence on what differs."""
    if not isinstance(system, System):
        raise InputError(f"{type(system).__name__} is no System; connect(…) makes one")
    for kind, mine in _layouts(system).items():
        there = {name: tuple(shape) for name, shape in said[kind].items()}
        if list(there.items()) == list(mine.items()):
            continue
        if there == mine:
            raise InputError(
                f"the saved run has the {kind} {', '.join(there)} in this order, the system {', '.join(mine)}"
            )
        name = next(name for name in [*mine, *there] if mine.get(name) != there.get(name))
        raise InputError(
            f"the saved run is of another system: of its {kind}, {name!r} has shape {there.get(name, 'none')} there, "
            f"{mine.get(name, 'none')} here"
        )


def _layouts(system: System) -> dict[str, dict[str, tuple[int, ...]]]:
    layouts: dict[str, Layout] = {"quantities": system.layout, "ports": system.ports, "multipliers": system.multipliers}
    return {kind: dict(layout.shapes) for kind, layout in layouts.items()}


def _zip(file: BinaryIO, arrays: Arrays) -> None:
    """As np.savez does, for any names."""
    with ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _plain(value: object) -> object:
    """Numbers of NumPy as those of Python; anything else by its words."""
    return value.tolist() if isinstance(value, (np.generic, np.ndarray)) else str(value)


def _tuples(value: object) -> object:
    if isinstance(value, dict):
        return {name: _tuples(inner) for name, inner in value.items()}
    return tuple(_tuples(v) for v in value) if isinstance(value, list) else value
