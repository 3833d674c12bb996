"""Recording of a run to a folder while it proceeds: pieces of output rows, each with what the stepper needs to resume after it."""

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
    """Writes a run piece by piece, so that written rows need not remain in memory."""

    folder: RunFolder
    system: System
    constants: Description
    pieces: int = 0
    rows: Span = (0, 0.0, 0.0)
    written: float = field(default_factory=time.monotonic)

    def due(self, size: int) -> bool:
        """Whether it is time to write rows of this size (bytes)."""
        return size >= BYTES or time.monotonic() - self.written >= SECONDS

    def piece(self, rows: Result, memory: Mapping[str, np.ndarray] | None, *, finished: bool = False) -> None:
        """Writes the next rows, and the memory of the stepper after them."""
        arrays = {"t": rows.t, "e": rows.e, "lam": rows.lam}
        arrays |= {} if rows.turned is None else {"turned": rows.turned}
        arrays |= {} if rows.efforts is None or not rows.efforts.names else {"efforts": rows.efforts.values}
        arrays |= {} if rows.accounts is None else {name: getattr(rows.accounts, name) for name in ACCOUNTS}
        with self._explain():
            self.folder.piece(self.pieces, arrays, memory)
            if rows.events:
                self.folder.write("events", event_states(rows.system, rows.events))
        self.pieces += 1
        if len(rows):
            count, first, _ = self.rows
            self.rows = count + len(rows), first if count else float(rows.t[0]), float(rows.t[-1])
        self.constants["efforts"] = None if rows.efforts is None else list(rows.efforts.names)
        self.constants["entries"] = None if rows.accounts is None else list(rows.accounts.names)
        self.describe(finished, rows.info)
        self.written = time.monotonic()

    def describe(self, finished: bool, info: Mapping[str, object]) -> None:
        """Writes run.json."""
        (count, *times), pieces = self.rows, self.pieces
        progress = {"finished": finished, "pieces": pieces, "rows": count, "times": times, "info": dict(info)}
        with self._explain():
            self.folder.describe(self.constants | progress)

    @contextmanager
    def _explain(self) -> Iterator[None]:
        """A context that adds to a SaveError how much of the run has been written."""
        try:
            yield
        except SaveError as error:
            extent = f"the {self.rows[0]} times up to t = {self.rows[2]:g} s that were written are kept"
            saved = f"{extent}; go on with resume(folder, system, …) when it can" if self.rows[0] else "nothing is kept"
            raise SaveError(f"{error}; {saved}") from error

    def finish(self, rest: Result, *, finished: bool = True) -> Result:
        """Writes the last rows and returns the complete run."""
        self.piece(rest, None, finished=finished)
        return load_rows(self.folder, self.folder.description(), self.system)


def start_recording(
    folder: str | Path, system: System, e: np.ndarray, task: Description, output: int | np.ndarray
) -> Recorder:
    """A recorder in a new folder, with the start and the task written."""
    run_folder = RunFolder(Path(folder)).require_empty()
    run_folder.write("start", e)
    if not isinstance(output, int):
        run_folder.write("output", output)
    out = Recorder(run_folder, system, constant_entries(run_folder, system, task))
    out.describe(False, {})
    return out


def constant_entries(folder: RunFolder, system: System, task: Description | None = None) -> Description:
    """The constant entries of run.json; writes the model. Without a task the run cannot be resumed."""
    written = datetime.now(UTC).isoformat(timespec="seconds")
    about = {"format": "phloat run", "version": VERSION, "phloat": __version__, "written": written}
    named = {"bodies": list(system.bodies), **layouts(system), "units": units(system)}
    return about | named | {"task": task, "model": folder.write_model(system), "entries": None}


def save_result(result: Result, folder: str | Path, *, overwrite: bool = False) -> None:
    """Save a result in a folder, from which `load_result(folder)` reads it.

    `simulate(…, save=folder)` writes while it runs, and can be resumed.

    Parameters
    ----------
    result : Result
        What `simulate` returned.
    folder : str or Path
        Created if needed.
    overwrite : bool
        Whether to replace a run in the folder; otherwise that is an error.

    Returns
    -------
    None

    Raises
    ------
    InputError
        The folder has a run already; `SaveError` if it cannot be written.

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
    run_folder = RunFolder(Path(folder))
    with locked(run_folder.path):
        if overwrite and run_folder.exists:
            run_folder.clear()
        recorder = Recorder(run_folder.require_empty(), result.system, constant_entries(run_folder, result.system))
        recorder.piece(result, None, finished=bool(result.info.get("finished", True)))
