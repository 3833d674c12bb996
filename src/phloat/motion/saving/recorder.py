"""Recording of a run while it goes on: pieces of output rows, each with the memory of the stepper."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from phloat.algebra.version import __version__
from phloat.errors import InputError, SaveError
from phloat.motion.result import Result, event_states
from phloat.motion.saving.files import locked
from phloat.motion.saving.folder import ACCOUNTS, VERSION, Description, RunFolder, Span, layouts, load_rows
from phloat.system.system import System
from phloat.system.units import units

SECONDS = 10.0  # between pieces, at most
BYTES = 2**25  # of a piece, at most


@dataclass(eq=False)
class Recorder:
    """Writes a run piece by piece, so that written rows need not stay in memory."""

    where: RunFolder
    system: System
    constant: Description
    pieces: int = 0
    rows: Span = (0, 0.0, 0.0)
    written: float = field(default_factory=time.monotonic)

    def due(self, size: int) -> bool:
        """Whether it is time to write so many bytes of rows."""
        return size >= BYTES or time.monotonic() - self.written >= SECONDS

    def piece(self, rows: Result, memory: Mapping[str, np.ndarray] | None, *, finished: bool = False) -> None:
        """Writes the next rows, and the memory of the stepper after them."""
        arrays = {"t": rows.t, "e": rows.e, "lam": rows.lam}
        arrays |= {} if rows.turned is None else {"turned": rows.turned}
        arrays |= {} if rows.accounts is None else {name: getattr(rows.accounts, name) for name in ACCOUNTS}
        with self._explain():
            self.where.piece(self.pieces, arrays, memory)
            if rows.events:
                self.where.write("events", event_states(rows.system, rows.events))
        self.pieces += 1
        if len(rows):
            count, first, _ = self.rows
            self.rows = count + len(rows), first if count else float(rows.t[0]), float(rows.t[-1])
        self.constant["entries"] = None if rows.accounts is None else list(rows.accounts.names)
        self.describe(finished, rows.info)
        self.written = time.monotonic()

    def describe(self, finished: bool, info: Mapping[str, object]) -> None:
        (count, *times), pieces = self.rows, self.pieces
        now = {"finished": finished, "pieces": pieces, "rows": count, "times": times, "info": dict(info)}
        with self._explain():
            self.where.describe(self.constant | now)

    @contextmanager
    def _explain(self) -> Iterator[None]:
        """Adds to a SaveError how much of the run has been written."""
        try:
            yield
        except SaveError as error:
            there = f"the {self.rows[0]} times up to t = {self.rows[2]:g} s that were written are kept"
            kept = f"{there}; go on with resume(folder, system, …) when it can" if self.rows[0] else "nothing is kept"
            raise SaveError(f"{error}; {kept}") from error

    def finish(self, rest: Result, *, finished: bool = True) -> Result:
        """Writes the last rows and returns the whole run."""
        self.piece(rest, None, finished=finished)
        return load_rows(self.where, self.where.description(), self.system)


def start_recording(
    folder: str | Path, system: System, e: np.ndarray, task: Description, output: int | np.ndarray
) -> Recorder:
    """Starts recording in a new folder, with a description of the task."""
    where = RunFolder(Path(folder)).require_empty()
    where.write("start", e)
    if not isinstance(output, int):
        where.write("output", output)
    out = Recorder(where, system, constant_entries(where, system, task))
    out.describe(False, {})
    return out


def constant_entries(where: RunFolder, system: System, task: Description | None = None) -> Description:
    """The entries of run.json that stay the same during a run, with the model written; without a task it cannot be resumed."""
    written = datetime.now(UTC).isoformat(timespec="seconds")
    about = {"format": "phloat run", "version": VERSION, "phloat": __version__, "written": written}
    named = {"bodies": list(system.bodies), **layouts(system), "units": units(system)}
    return about | named | {"task": task, "model": where.write_model(system), "entries": None}


def save_result(result: Result, folder: str | Path, *, overwrite: bool = False) -> None:
    """Write a result to a folder, where `load_result(folder)` finds it.

    `simulate(…, save=folder)` writes while it runs, and can be resumed.

    Parameters
    ----------
    result : Result
        What `simulate` returned.
    folder : str or Path
        It is made if it is not there.
    overwrite : bool
        Whether a run that the folder already holds is replaced; it is refused otherwise.

    Returns
    -------
    None

    Raises
    ------
    InputError
        The folder holds a run already; `SaveError` if it cannot be written.

    Examples
    --------
    >>> ball = ph.PointMass(mass=1.0).discretise()
    >>> fall = ph.connect({"ball": ball}, gravity=(0.0, -9.81, 0.0), plane="xy")
    >>> result = ph.simulate(fall, ph.place(fall), t_end=1.0, dt=0.01)
    >>> ph.io.save_result(result, "fall")
    >>> print(ph.io.load_result("fall"))
    Result(101 times from 0 to 1 s of ball)
    """
    if not isinstance(result, Result):
        raise InputError(f"{type(result).__name__} is no Result; simulate(…) makes one")
    where = RunFolder(Path(folder))
    with locked(where.path):
        if overwrite and where.taken:
            where.clear()
        recorder = Recorder(where.require_empty(), result.system, constant_entries(where, result.system))
        recorder.piece(result, None, finished=bool(result.info.get("finished", True)))
