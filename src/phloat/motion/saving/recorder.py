"""Recording of a run while it goes on: pieces of output rows, each with the memory of the stepper."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from phloat.errors import SaveError
from phloat.motion.result import Result
from phloat.motion.saving.folder import (
    Description,
    RunFolder,
    Span,
    account_names,
    constant_entries,
    load_rows,
    progress_entries,
    result_arrays,
)
from phloat.system.system import System

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
        with self._explain():
            self.where.piece(self.pieces, result_arrays(rows), memory)
            self.where.write_events(rows)
        self.pieces += 1
        if len(rows):
            count, first, _ = self.rows
            self.rows = count + len(rows), first if count else float(rows.t[0]), float(rows.t[-1])
        self.constant |= account_names(rows)
        self.describe(finished, rows.info)
        self.written = time.monotonic()

    def describe(self, finished: bool, info: Mapping[str, object]) -> None:
        with self._explain():
            self.where.describe(self.constant | progress_entries(self.pieces, self.rows, finished, info))

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
    constant = constant_entries(system, task) | {"model": where.write_model(system), "entries": None}
    out = Recorder(where, system, constant)
    out.describe(False, {})
    return out
