"""Ensembles on disk: a folder of `ensemble.json` and numbered pieces, which NumPy opens without phloat.

    ensemble.json     what was asked (in words and as fingerprints), the names of parameters and outputs, whether all is done
    parameters.npy    (samples, parameters): every sample, done or not
    t.npy             the times of a run, where outputs may be over time
    piece.000000.npz  `sample` numbers, `output_0` … rows of the outputs in the order of ensemble.json, `failed` numbers, `errors`
    lock              while a process writes here: which one

A piece is written under another name and renamed, so what bears its own name was whole when it was written. Which samples are
done is in the pieces alone: a sweep that is cut short at any instant goes on with the samples that are in none.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import BadZipFile

import numpy as np

from phloat.errors import DamagedRunWarning, InputError
from phloat.many.pieces import Form, Piece
from phloat.motion.files import description, write_whole
from phloat.motion.lock import LOCK, held

VERSION = 1

Description = dict[str, Any]


@dataclass(frozen=True)
class Folder:
    """The files of an ensemble."""

    path: Path

    @property
    def taken(self) -> bool:
        return (self.path / "ensemble.json").exists()

    @contextmanager
    def held(self) -> Iterator[None]:
        """The folder for one process at a time; the system lets go of it when that one ends, however it ends."""
        if not self.taken and self.path.is_dir() and any(file.name != LOCK for file in self.path.iterdir()):
            raise InputError(f"{str(self.path)!r} holds other files; give an ensemble a folder of its own")
        try:
            with held(self.path, "ensemble"):
                yield
        finally:
            if not self.taken:  # nothing came of it
                with suppress(OSError):
                    self.path.rmdir()

    # --- writing -----------------------------------------------------------------------------------------------------

    def begin(self, description: Description, table: np.ndarray) -> None:
        """What is asked."""
        self._write("parameters.npy", lambda file: np.save(file, table, allow_pickle=False))
        self.describe(description)

    def describe(self, description: Description) -> None:
        text = json.dumps(description, indent=1, ensure_ascii=False).encode()
        self._write("ensemble.json", lambda file: file.write(text))

    def write_times(self, t: np.ndarray) -> None:
        self._write("t.npy", lambda file: np.save(file, t, allow_pickle=False))

    def write(self, number: int, piece: Piece) -> None:
        arrays: dict[str, Any] = {
            "sample": piece.samples,
            "failed": piece.failed,
            "errors": np.array(piece.errors, dtype="U"),
        }
        arrays |= {f"output_{j}": array for j, array in enumerate(piece.outputs.values())}
        self._write(self._piece(number).name, lambda file: np.savez(file, **arrays))

    def _write(self, name: str, put: Callable[[BinaryIO], object]) -> None:
        write_whole(self.path / name, put)

    # --- reading -----------------------------------------------------------------------------------------------------

    def description(self) -> Description:
        return description(self.path / "ensemble.json", "ensemble", VERSION)

    def table(self) -> np.ndarray:
        return np.load(self.path / "parameters.npy", allow_pickle=False)

    def form(self, said: Description) -> Form | None:
        if said["outputs"] is None:
            return None
        shapes = {name: tuple(shape) for name, shape in said["outputs"].items()}
        file = self.path / "t.npy"
        t = np.load(file, allow_pickle=False) if file.exists() else None
        return Form(shapes, tuple(said["complex"]), said["single"], t)

    def numbers(self) -> list[int]:
        """Of the pieces there are."""
        return sorted(int(file.name.split(".")[1]) for file in self.path.glob("piece.*.npz"))

    def read(self, number: int, form: Form | None) -> Piece:
        """A piece; an error where it is not whole."""
        shapes = form.shapes if form is not None else {}
        with self._open(number) as data, np.load(data, allow_pickle=False) as file:
            outputs = {name: file[f"output_{j}"] for j, name in enumerate(shapes)}
            piece = Piece(file["sample"], outputs, file["failed"], tuple(file["errors"].tolist()))
        for name, array in outputs.items():
            if array.shape != (len(piece.samples), *shapes[name]):
                raise ValueError(f"output {name!r} has shape {array.shape}")
        return piece

    def column(self, number: int, form: Form, name: str) -> tuple[np.ndarray, np.ndarray]:
        """The samples of a piece and one of its outputs."""
        with self._open(number) as data, np.load(data, allow_pickle=False) as file:
            return file["sample"], file[f"output_{list(form.shapes).index(name)}"]

    def head(self, number: int) -> Piece:
        """A piece without its outputs."""
        with self._open(number) as data, np.load(data, allow_pickle=False) as file:
            return Piece(file["sample"], {}, file["failed"], tuple(file["errors"].tolist()))

    def _open(self, number: int) -> BinaryIO:
        return open(self._piece(number), "rb")

    def _piece(self, number: int) -> Path:
        return self.path / f"piece.{number:06d}.npz"

    def whole(self, form: Form | None, samples: int) -> Iterator[tuple[int, Piece]]:
        """The pieces that can be read, each with its number; a warning where one cannot."""
        known = np.zeros(samples, dtype=bool)
        for number in self.numbers():
            try:
                piece = self.read(number, form)
                done = piece.done
                if len(done) and (done.min() < 0 or done.max() >= samples or known[done].any()):
                    raise ValueError("its samples are not of this ensemble, or in another piece too")
            except (OSError, ValueError, EOFError, KeyError, BadZipFile) as error:
                what = f"{str(self._piece(number))!r} cannot be read ({error}); its samples count as not run"
                warnings.warn(what, DamagedRunWarning, stacklevel=4)
                continue
            known[done] = True
            yield number, piece

    def put_aside(self, number: int) -> None:
        """A piece that cannot be read, out of the way of others."""
        file = self._piece(number)
        os.replace(file, file.with_name(file.name + ".damaged"))
