"""Files of saved runs and of saved ensembles: written whole or not at all, described in JSON."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from phloat.errors import InputError, SaveError

PARTIAL = ".part"  # at the end of the name of a file that is being written


def write_whole(file: Path, put: Callable[[BinaryIO], object]) -> None:
    """Under another name first: what bears its own name is whole. A sentence where it cannot be written."""
    partial = file.with_name(file.name + PARTIAL)
    try:
        with open(partial, "wb") as opened:
            put(opened)
            opened.flush()
            os.fsync(opened.fileno())
        os.replace(partial, file)
        if os.name == "posix":  # elsewhere folders cannot be synchronised
            here = os.open(file.parent, os.O_RDONLY)
            os.fsync(here)
            os.close(here)
    except OSError as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        why = error.strerror or "no more than a part of it was taken"  # NumPy forgets the reason
        raise SaveError(f"{str(file)!r} cannot be written: {why}") from error


def whole_rows(file: Path) -> np.ndarray:
    """The rows of a .npy file that are whole, also where it was cut short."""
    with open(file, "rb") as opened:
        version = np.lib.format.read_magic(opened)
        header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, by_column, kind = header(opened)
        if by_column or not shape or kind.hasobject:
            raise ValueError("the numbers of this file do not lie row by row")
        size, data = kind.itemsize * math.prod(shape[1:]), opened.read()
    rows = min(len(data) // size, shape[0]) if size else shape[0]
    return np.frombuffer(data[: rows * size], dtype=kind).reshape(rows, *shape[1:])


def description(file: Path, kind: str, version: int) -> dict[str, Any]:
    """What a JSON file says of a saved "run" or "ensemble"; a sentence where it is none of this phloat."""
    if not file.exists():
        there = "is not there" if not file.parent.exists() else f"holds no {file.name}"
        raise InputError(f"there is no saved {kind} in {str(file.parent)!r}: it {there}")
    try:
        said = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{str(file)!r} cannot be read ({error}); the pieces beside it may still be whole") from error
    if not isinstance(said, dict) or said.get("format") != f"phloat {kind}":
        article = "an" if kind[0] in "aeiou" else "a"
        raise InputError(f"{str(file)!r} does not describe {article} {kind} of phloat")
    if said["version"] > version:
        raise InputError(
            f"{str(file)!r} has version {said['version']}, and this phloat reads up to {version}; use a newer phloat"
        )
    return said
