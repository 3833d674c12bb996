"""Safe reading of NumPy files from unknown sources: no code in them is run, and no array is larger than its file.

Errors are ValueError, OSError or zipfile.BadZipFile; the callers add the name of the file.
"""

from __future__ import annotations

import math
import os
import re
import zlib
from pathlib import Path
from typing import IO
from zipfile import BadZipFile, ZipFile

import numpy as np

UNPACKED = 2**28  # bytes that an archive may unpack to, besides its own size
LONGEST = 10_000  # bytes of a header
HEAD = re.compile(  # of booleans, numbers and texts
    r"\{'descr': '(?P<kind>[<>|=][biufcU]\d{1,6})', 'fortran_order': (?P<by_column>True|False), "
    r"'shape': \((?P<shape>(?:\d{1,19}(?:, ?\d{1,19})*,?)?)\),? *\}\s*"
)
DAMAGED = (OSError, ValueError, EOFError, KeyError, NotImplementedError, BadZipFile, zlib.error)


def read_npy(file: Path) -> np.ndarray:
    """The array of a .npy file."""
    with open(file, "rb") as opened:
        return _array(opened, os.fstat(opened.fileno()).st_size)


def whole_rows(file: Path) -> np.ndarray:
    """The complete rows of a .npy file that may be truncated."""
    with open(file, "rb") as opened:
        shape, by_column, kind = _header(opened)
        if by_column or not shape:
            raise ValueError("the array is not stored row by row")
        size, data = kind.itemsize * math.prod(shape[1:]), opened.read()
    rows = min(len(data) // size, shape[0]) if size else 0
    return np.frombuffer(data[: rows * size], dtype=kind).reshape(rows, *shape[1:])


def read_npz(file: Path, *only: str) -> dict[str, np.ndarray]:
    """The arrays of a .npz file by name: all, or only some."""
    with open(file, "rb") as opened, ZipFile(opened) as archive:
        members = [archive.getinfo(f"{name}.npy") for name in only] or archive.infolist()
        whole, most = sum(member.file_size for member in members), UNPACKED + os.fstat(opened.fileno()).st_size
        if whole > most:
            raise ValueError(f"it unpacks to {whole} bytes; at most {most} are allowed")
        out = {}
        for member in members:
            with archive.open(member) as inside:
                out[member.filename.removesuffix(".npy")] = _array(inside, member.file_size)
        return out


def _header(opened: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, order and type from a header of NumPy; raises ValueError for any other header."""
    magic, major = opened.read(6), opened.read(2)[:1]
    if magic != b"\x93NUMPY" or major not in (b"\x01", b"\x02"):
        raise ValueError("it is not an array of NumPy in format 1 or 2")
    size = int.from_bytes(opened.read(2 if major == b"\x01" else 4), "little")
    if size > LONGEST:
        raise ValueError(f"its header has {size} bytes; at most {LONGEST} are allowed")
    head = HEAD.fullmatch(opened.read(size).decode("latin-1"))
    if head is None:
        raise ValueError("its header is not that of numbers or texts")
    shape = tuple(int(n) for n in head["shape"].split(",") if n.strip())
    try:
        kind = np.dtype(head["kind"])
    except TypeError as error:
        raise ValueError(str(error)) from error
    if kind.itemsize == 0 or any(n >= 2**62 for n in shape):
        raise ValueError(f"shape {shape} of {kind} is not possible")
    return shape, head["by_column"] == "True", kind


def _array(opened: IO[bytes], most: int) -> np.ndarray:
    """The array at the current position of a file with at most so many bytes."""
    shape, by_column, kind = _header(opened)
    size = kind.itemsize * math.prod(shape)
    if size > most:
        raise ValueError(f"its header announces {size} bytes; the file has {most}")
    data = bytearray(opened.read(size))
    if len(data) < size:
        raise ValueError(f"it ends after {len(data)} of {size} bytes")
    array = np.frombuffer(data, dtype=kind) if size else np.zeros(0, dtype=kind)
    return array.reshape(shape, order="F" if by_column else "C")
