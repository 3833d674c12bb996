"""Results of samples, collected in pieces, in memory or on disk.

On disk they are a folder that NumPy opens without phloat:

    ensemble.json     the arguments (as text and as fingerprints), the names of parameters and outputs, whether it is finished
    parameters.npy    (samples, parameters): every sample, finished or not
    t.npy             the output times of a run, if it has any
    piece.000000.npz  `sample` numbers, `output_0` … rows of the outputs in the order of ensemble.json, `failed` numbers, `errors`
    lock              the process that writes here at present

A piece is written under a temporary name and renamed, so that a file named piece.… was complete. Only the pieces tell which
samples are finished: an interrupted sweep is resumed with the samples that are in no piece.
"""

from __future__ import annotations

import builtins
import json
import os
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from phloat import errors
from phloat.algebra.array_files import DAMAGED, read_npy, read_npz
from phloat.errors import DamagedRunWarning, InputError
from phloat.motion.saving.files import (
    LOCK,
    Check,
    is_count,
    is_names,
    is_shapes,
    locked,
    read_description,
    write_atomically,
)

VERSION = 1
CHECKS: dict[str, Check] = {
    "finished": lambda x: isinstance(x, bool),
    "parameters": is_names,
    "outputs": lambda x: x is None or is_shapes(x),
    "sampling": lambda x: isinstance(x, str),
    "levels": lambda x: isinstance(x, list) and all(_level(y) for y in x),
    "complex": is_names,
    "single": lambda x: isinstance(x, bool),
}

Description = dict[str, Any]
Block = Mapping[str, Any]  # finished samples: the arrays of a piece by name
LISTS = ("sample", "failed", "errors")
SINGLE_OUTPUT = "output"  # name of an output that the output function returns without a name


def _level(x: object) -> bool:
    return isinstance(x, list) and len(x) == 2 and isinstance(x[0], str) and is_count(x[1])


@dataclass(frozen=True)
class EnsembleFolder:
    """The files of an ensemble."""

    path: Path

    @property
    def exists(self) -> bool:
        return (self.path / "ensemble.json").exists()

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Locks the folder for this process; the operating system releases it when the process ends, even by a crash."""
        if not self.exists and self.path.is_dir() and any(file.name != LOCK for file in self.path.iterdir()):
            raise InputError(f"{str(self.path)!r} holds other files; give an ensemble a folder of its own")
        try:
            with locked(self.path, "ensemble"):
                yield
        finally:
            if not self.exists:  # nothing was written
                with suppress(OSError):
                    self.path.rmdir()

    # --- writing -----------------------------------------------------------------------------------------------------

    def write_array(self, name: str, array: np.ndarray) -> None:
        write_atomically(self.path / name, lambda file: np.save(file, array, allow_pickle=False))

    def describe(self, description: Description) -> None:
        text = json.dumps(description, indent=1, ensure_ascii=False).encode()
        write_atomically(self.path / "ensemble.json", lambda file: file.write(text))

    def write(self, number: int, block: Block) -> None:
        write_atomically(self.file(number), lambda file: np.savez(file, **block))

    # --- reading -----------------------------------------------------------------------------------------------------

    def description(self) -> Description:
        return read_description(self.path / "ensemble.json", "ensemble", VERSION, CHECKS)

    def table(self, description: Description) -> np.ndarray:
        """The values of the parameters, (samples, parameters)."""
        table = self._array("parameters.npy")
        if table.dtype != float or table.ndim != 2 or table.shape[1] != len(description["parameters"]):
            raise InputError(f"parameters.npy in {str(self.path)!r} does not fit ensemble.json: it is {table.shape}")
        return table

    def _array(self, name: str) -> np.ndarray:
        """The array of a file; raises InputError if it cannot be read."""
        try:
            return read_npy(self.path / name)
        except DAMAGED as error:
            raise InputError(
                f"{str(self.path / name)!r} cannot be read ({error}); the other files of the folder may still be complete"
            ) from error

    def form(self, description: Description) -> OutputForm:
        """The form of the outputs in a description."""
        if description["outputs"] is None:
            return NO_OUTPUTS
        shapes = {name: tuple(shape) for name, shape in description["outputs"].items()}
        file = self.path / "t.npy"
        t = self._array(file.name) if file.exists() else None
        return OutputForm(shapes, tuple(description["complex"]), description["single"], t)

    def numbers(self) -> list[int]:
        """The numbers of the pieces in the folder, ascending."""
        numbers = (file.name.split(".")[1] for file in self.path.glob("piece.*.npz"))
        return sorted(int(number) for number in numbers if number.isdecimal())

    def read(self, number: int, form: OutputForm) -> Block:
        """The block of a piece; raises ValueError if it is not complete."""
        block = read_npz(self.file(number), *LISTS, *map(form.key, form.shapes))
        if any(block[x].dtype.kind != "i" or block[x].ndim != 1 for x in ("sample", "failed")):
            raise ValueError("its lists of samples are none")
        if block["errors"].shape != block["failed"].shape:
            raise ValueError("its lists of samples are none")
        for name, shape in form.shapes.items():
            array = block[form.key(name)]
            if array.shape != (len(block["sample"]), *shape) or array.dtype.kind not in "biufc":
                raise ValueError(f"output {name!r} has shape {array.shape}")
        return block

    def file(self, number: int) -> Path:
        """The path of a piece."""
        return self.path / f"piece.{number:06d}.npz"

    def readable_blocks(self, form: OutputForm, samples: int) -> Iterator[tuple[int, Block]]:
        """Yields number and block of the pieces that can be read; warns of the others."""
        done_flags = np.zeros(samples, dtype=bool)
        for number in self.numbers():
            try:
                block = self.read(number, form)
                numbers = done_samples(block)
                if len(numbers) and (numbers.min() < 0 or numbers.max() >= samples or done_flags[numbers].any()):
                    raise ValueError("its samples are not of this ensemble, or in another piece too")
            except DAMAGED as error:
                message = f"{str(self.file(number))!r} cannot be read ({error}); its samples count as not run"
                warnings.warn(message, DamagedRunWarning, stacklevel=4)
                continue
            done_flags[numbers] = True
            yield number, block

    def set_aside(self, number: int) -> None:
        """Renames a piece that cannot be read to ….damaged."""
        file = self.file(number)
        os.replace(file, file.with_name(file.name + ".damaged"))


# --- arrays of outcomes -----------------------------------------------------------------------------------------------
#
# Results of some samples as arrays, in memory or on disk, piece by piece.


class Outcome(NamedTuple):
    """The outcome of one sample: its outputs or its error, its warnings (class, message), and the output times of the run."""

    sample: int
    outputs: dict[str, np.ndarray]
    error: str = ""
    warned: tuple[tuple[str, str], ...] = ()
    t: np.ndarray | None = None
    single: bool = True  # the output is one number or array without a name

    @property
    def nbytes(self) -> int:
        return sum(x.nbytes for x in self.outputs.values())


@dataclass(frozen=True, eq=False)
class OutputForm:
    """The shapes and types of the outputs by name, those of the first sample that succeeded."""

    shapes: dict[str, tuple[int, ...]]
    complex: tuple[str, ...] = ()
    single: bool = False
    t: np.ndarray | None = None

    @classmethod
    def from_outcome(cls, outcome: Outcome) -> OutputForm:
        shapes = {name: value.shape for name, value in outcome.outputs.items()}
        complex_names = tuple(name for name, value in outcome.outputs.items() if value.dtype.kind == "c")
        return cls(shapes, complex_names, outcome.single, outcome.t)

    def misfit(self, outputs: dict[str, np.ndarray]) -> str:
        """The reason why these outputs do not have this form; empty if they do."""
        if outputs.keys() != self.shapes.keys():
            return f"output: the outputs are {', '.join(outputs) or 'none'}, those of other samples {', '.join(self.shapes)}"
        for name, value in outputs.items():
            if value.shape != self.shapes[name]:
                return (
                    f"output: {name!r} has shape {value.shape}, in other samples {self.shapes[name]}; "
                    "give outputs of one shape, or the same times: keep=[…]"
                )
            if value.dtype.kind == "c" and name not in self.complex:
                return f"output: {name!r} is complex, in other samples real"
        return ""

    def kind(self, name: str) -> type:
        return complex if name in self.complex else float

    def key(self, name: str) -> str:
        """The name of an output in blocks."""
        return f"output_{list(self.shapes).index(name)}"


NO_OUTPUTS = OutputForm({})  # no sample has succeeded yet


def result_block(outcomes: Sequence[Outcome], form: OutputForm) -> Block:
    """Outcomes as the arrays of a block, ascending by number; those that do not have the form count as failed."""
    succeeded: list[Outcome] = []
    failed: list[tuple[int, str]] = []
    for outcome in sorted(outcomes, key=lambda x: x.sample):
        if reason := outcome.error or form.misfit(outcome.outputs):
            failed.append((outcome.sample, reason))
        else:
            succeeded.append(outcome)
    block = {
        "sample": np.array([x.sample for x in succeeded], dtype=np.int64),
        "failed": np.array([k for k, _ in failed], dtype=np.int64),
        "errors": np.array([reason for _, reason in failed], dtype="U"),
    }
    for name, shape in form.shapes.items():
        rows = [x.outputs[name] for x in succeeded]
        block[form.key(name)] = np.array(rows, dtype=form.kind(name)).reshape(len(rows), *shape)
    return block


def done_samples(block: Block) -> np.ndarray:
    """The numbers of all samples in a block, those with outputs first, then those that failed."""
    return np.concatenate([block["sample"], block["failed"]])


# --- collecting outcomes -----------------------------------------------------------------------------------------------

SAMPLES = 4096  # of a block, at most
BLOCK_BYTES = 32e6  # of a block, from which it is written
SECONDS = 10.0  # of work that is lost at most if a sweep is killed


class ResultBlocks:
    """Blocks of results in memory, or in the files of a folder, which are read one at a time."""

    def __init__(self, form: OutputForm, folder: EnsembleFolder | None, numbers: Sequence[int] = ()) -> None:
        self.form, self.folder, self.numbers = form, folder, list(numbers)
        self.blocks: list[Block] = []

    def arrays(self, *names: str) -> Iterator[Block]:
        """Yields for each block a mapping with at least the named arrays."""
        if self.folder is None:
            return iter(self.blocks)
        return (read_npz(self.folder.file(number), *names) for number in self.numbers)

    def failed(self) -> list[tuple[int, str]]:
        """The samples that failed, and their errors."""
        blocks = self.arrays("failed", "errors")
        return [(int(k), str(e)) for block in blocks for k, e in zip(block["failed"], block["errors"], strict=True)]

    def columns(self, name: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yields numbers of samples and values of one output, block by block."""
        key = self.form.key(name)
        return ((block["sample"], block[key]) for block in self.arrays("sample", key))


class Collector:
    """Collects outcomes, and stores a block when there are enough of them."""

    def __init__(self, table: np.ndarray, description: Description, folder: EnsembleFolder | None) -> None:
        self.table, self.description, self.folder = table, description, folder
        self.finished = np.zeros(len(table), dtype=bool)
        self.pieces = ResultBlocks(NO_OUTPUTS, folder)
        self.done = self.failures = 0
        self.warned: dict[str, tuple[int, int, str]] = {}  # by class: number of samples, first one, its message
        self.pending: list[Outcome] = []
        self.size, self.flushed = 0, time.perf_counter()

    def resume(self) -> None:
        """Reads the blocks that an earlier call has written to the folder."""
        assert self.folder is not None
        self.pieces.form = self.folder.form(self.description)
        for number, block in self.folder.readable_blocks(self.pieces.form, len(self.table)):
            self.finished[done_samples(block)] = True
            self.done += len(done_samples(block))
            self.failures += len(block["failed"])
            self.pieces.numbers.append(number)
        for number in set(self.folder.numbers()) - set(self.pieces.numbers):
            self.folder.set_aside(number)

    @property
    def missing(self) -> np.ndarray:
        return np.flatnonzero(~self.finished)

    def take(self, outcomes: Sequence[Outcome]) -> None:
        """Adds outcomes, and stores a block if there are enough of them."""
        for outcome in outcomes:
            if self.finished[outcome.sample]:
                continue  # two workers may have run it: the first one counts
            self.finished[outcome.sample] = True
            self.done += 1
            if not outcome.error and self.pieces.form is NO_OUTPUTS:
                self.pieces.form = OutputForm.from_outcome(outcome)
            self.size += outcome.nbytes
            for kind, text in outcome.warned:
                count, first, message = self.warned.get(kind, (0, outcome.sample, text))
                self.warned[kind] = count + 1, first, message
            self.pending.append(outcome._replace(t=None))
        overdue = self.folder is not None and time.perf_counter() - self.flushed > SECONDS
        if len(self.pending) >= SAMPLES or self.size > BLOCK_BYTES or overdue:
            self.flush()

    def flush(self) -> None:
        """Stores the outcomes since the last block as a block."""
        if not self.pending:
            return
        block = result_block(self.pending, self.pieces.form)
        self.failures += len(block["failed"])
        if self.folder is None:
            self.pieces.blocks.append(block)
        else:
            self._describe()
            number = 1 + max(self.pieces.numbers, default=-1)
            self.folder.write(number, block)
            self.pieces.numbers.append(number)
        self.pending, self.size, self.flushed = [], 0, time.perf_counter()

    def _describe(self) -> None:
        """Writes the table of samples and the description of the ensemble if they are new."""
        assert self.folder is not None
        previous, form = dict(self.description), self.pieces.form
        if form is not NO_OUTPUTS:
            shapes = {name: list(shape) for name, shape in form.shapes.items()}
            self.description |= {"outputs": shapes, "complex": list(form.complex), "single": form.single}
        if not self.folder.exists:
            self.folder.write_array("parameters.npy", self.table)
            self.folder.describe(self.description)
        elif previous != self.description:
            self.folder.describe(self.description)
        if previous["outputs"] is None and form.t is not None:
            self.folder.write_array("t.npy", form.t)

    def finish(self) -> None:
        """Stores the last block, and marks the ensemble as finished if all samples are."""
        self.flush()
        if self.folder is not None and not self.description["finished"]:
            self.description["finished"] = bool(self.finished.all())
            self.folder.describe(self.description)

    def warn(self) -> None:
        """Issues one warning for each class of warnings of the samples, and one with the number of failed samples."""
        n = len(self.table)
        for kind, (count, first, text) in self.warned.items():
            category = getattr(errors, kind, getattr(builtins, kind, UserWarning))
            warnings.warn(f"{count} of {n} samples, sample {first} first: {text}", category, stacklevel=3)
        if self.failures:
            k, error = min(self.pieces.failed())
            text = f"{'all' if self.failures == n else self.failures} of {n} samples failed and are listed in `failed`"
            warnings.warn(f"{text}; sample {k}: {error}", errors.FailedSamplesWarning, stacklevel=3)
