"""A run on its way to a folder: pieces of rows as they are finished, each with the memory of the stepper."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from phloat.errors import SaveError
from phloat.motion.result import Result
from phloat.motion.saving.saved import Description, Folder, Span, columns, counted, described, entries, loaded
from phloat.system.system import System

SECONDS = 10.0  # between pieces, at most
BYTES = 2**25  # of a piece, at most


@dataclass(eq=False)
class Recorder:
    """Writes pieces of a run; rows that were written need not be kept."""

    where: Folder
    system: System
    constant: Description
    pieces: int = 0
    rows: Span = (0, 0.0, 0.0)
    written: float = field(default_factory=time.monotonic)

    def due(self, size: int) -> bool:
        """Whether so many bytes of rows should go now."""
        return size >= BYTES or time.monotonic() - self.written >= SECONDS

    def piece(self, rows: Result, memory: Mapping[str, np.ndarray] | None, *, finished: bool = False) -> None:
        """Rows that come after those before, and the stepper that goes on from them."""
        with self._kept():
            self.where.piece(self.pieces, columns(rows), memory)
            self.where.write_events(rows)
        self.pieces += 1
        if len(rows):
            count, first, _ = self.rows
            self.rows = count + len(rows), first if count else float(rows.t[0]), float(rows.t[-1])
        self.constant |= entries(rows)
        self.say(finished, rows.info)
        self.written = time.monotonic()

    def say(self, finished: bool, info: Mapping[str, object]) -> None:
        with self._kept():
            self.where.describe(self.constant | counted(self.pieces, self.rows, finished, info))

    @contextmanager
    def _kept(self) -> Iterator[None]:
        """What cannot be written is said with what was."""
        try:
            yield
        except SaveError as error:
            there = f"the {self.rows[0]} times up to t = {self.rows[2]:g} s that were written are kept"
            kept = f"{there}; go on with resume(folder, system, …) when it can" if self.rows[0] else "nothing is kept"
            raise SaveError(f"{error}; {kept}") from error

    def ended(self, rest: Result, *, finished: bool = True) -> Result:
        """The last rows, which no stepper goes on from; and all of the run."""
        self.piece(rest, None, finished=finished)
        return loaded(self.where, self.where.description(), self.system)


def begun(folder: str | Path, system: System, e: np.ndarray, task: Description, output: int | np.ndarray) -> Recorder:
    """A recorder in a fresh folder, which says at once what will come."""
    where = Folder(Path(folder)).made()
    where.write("start", e)
    if not isinstance(output, int):
        where.write("output", output)
    constant = described(system, task) | {"model": where.write_model(system), "entries": None}
    out = Recorder(where, system, constant)
    out.say(False, {})
    return out
