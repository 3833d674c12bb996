"""Collects the outcomes of samples, each once, into blocks on disk or in memory."""

from __future__ import annotations

import builtins
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from phloat import errors
from phloat.many.parametric_run import Outcome
from phloat.many.store import Description, EnsembleFolder, OutputForm, ResultBlock, output_form, result_block

SAMPLES = 4096  # of a block, at most
BYTES = 32e6
SECONDS = 10.0  # of work that is lost at most if a sweep is killed


class ResultBlocks:
    """Results in memory, or in files of a folder, which are read one at a time."""

    def __init__(
        self, form: OutputForm | None, folder: EnsembleFolder | None = None, numbers: Sequence[int] = ()
    ) -> None:
        self.form, self.folder, self.numbers = form, folder, list(numbers)
        self.kept: list[ResultBlock] = []

    def heads(self) -> Iterator[ResultBlock]:
        """Which samples are in each piece; outputs need not be there."""
        return iter(self.kept) if self.folder is None else (self.folder.head(number) for number in self.numbers)

    def columns(self, name: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Samples and values of one output, piece by piece."""
        if self.folder is None:
            yield from ((piece.samples, piece.outputs[name]) for piece in self.kept)
        elif self.form is not None:
            for number in self.numbers:
                yield self.folder.column(number, self.form, name)


@dataclass
class SeenWarning:
    """A warning that samples gave: how many samples, which one first, and its message."""

    count: int
    first: int
    text: str


class Collector:
    """Takes outcomes and writes a block when there are enough of them."""

    def __init__(self, table: np.ndarray, description: Description, folder: EnsembleFolder | None) -> None:
        self.table, self.description, self.folder = table, description, folder
        self.known = np.zeros(len(table), dtype=bool)
        self.pieces = ResultBlocks(None, folder=folder)
        self.done = self.failures = 0
        self.seen: dict[str, SeenWarning] = {}
        self.waiting: list[Outcome] = []
        self.size, self.since = 0, time.perf_counter()

    def resume(self) -> None:
        """Reads the blocks that an earlier call has written to the folder."""
        assert self.folder is not None
        self.pieces.form = self.folder.form(self.description)
        for number, piece in self.folder.readable_blocks(self.pieces.form, len(self.table)):
            self.known[piece.done] = True
            self.done += len(piece.done)
            self.failures += len(piece.failed)
            self.pieces.numbers.append(number)
        for number in set(self.folder.numbers()) - set(self.pieces.numbers):
            self.folder.set_aside(number)

    @property
    def missing(self) -> np.ndarray:
        return np.flatnonzero(~self.known)

    def take(self, outcomes: Sequence[Outcome]) -> None:
        for outcome in outcomes:
            if self.known[outcome.sample]:
                continue  # two workers may have run it: one of them counts
            self.known[outcome.sample] = True
            self.done += 1
            if outcome.outputs is not None and self.pieces.form is None:
                self.pieces.form = output_form(outcome)
            self.size += 0 if outcome.outputs is None else sum(x.nbytes for x in outcome.outputs.values())
            for kind, text in outcome.warned:
                seen = self.seen.setdefault(kind, SeenWarning(0, outcome.sample, text))
                seen.count += 1
            self.waiting.append(outcome._replace(t=None))
        late = self.folder is not None and time.perf_counter() - self.since > SECONDS
        if len(self.waiting) >= SAMPLES or self.size > BYTES or late:
            self.flush()

    def flush(self) -> None:
        """Writes the outcomes since the last block as a block."""
        if not self.waiting:
            return
        piece = result_block(self.waiting, self.pieces.form)
        self.failures += len(piece.failed)
        if self.folder is None:
            self.pieces.kept.append(piece)
        else:
            self._describe()
            number = 1 + max(self.pieces.numbers, default=-1)
            self.folder.write(number, piece)
            self.pieces.numbers.append(number)
        self.waiting, self.size, self.since = [], 0, time.perf_counter()

    def _describe(self) -> None:
        """What is known of the ensemble by now; first of all that it is there."""
        assert self.folder is not None
        before, form = dict(self.description), self.pieces.form
        if form is not None:
            shapes = {name: list(shape) for name, shape in form.shapes.items()}
            self.description |= {"outputs": shapes, "complex": list(form.complex), "single": form.single}
        if not self.folder.exists:
            self.folder.begin(self.description, self.table)
        elif before != self.description:
            self.folder.describe(self.description)
        if before["outputs"] is None and form is not None and form.t is not None:
            self.folder.write_times(form.t)

    def finish(self) -> None:
        self.flush()
        if self.folder is not None and not self.description["finished"]:
            self.description["finished"] = bool(self.known.all())
            self.folder.describe(self.description)

    def warn(self) -> None:
        """What samples warned of, each kind once, and how many failed."""
        n = len(self.table)
        for kind, seen in self.seen.items():
            category = getattr(errors, kind, getattr(builtins, kind, UserWarning))
            text = f"{seen.count} of {n} samples, sample {seen.first} first: {seen.text}"
            warnings.warn(text, category, stacklevel=3)
        if self.failures:
            all_of_them = "all" if self.failures == n else str(self.failures)
            k, why = min(
                (k, why) for piece in self.pieces.heads() for k, why in zip(piece.failed, piece.errors, strict=True)
            )
            warnings.warn(
                f"{all_of_them} of {n} samples failed and are listed in `failed`; sample {k}: {why}",
                errors.FailedSamplesWarning,
                stacklevel=3,
            )
