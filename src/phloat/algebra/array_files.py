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

UNPACKED = 2**28  # bytes to which an archive may unpack, plus its own size
LONGEST = 10_000  # bytes of a header
HEAD = re.compile(  # header of an array of booleans, numbers or texts
    r"\{'descr': '(?P<kind>[<>|=][biufcU]\d{1,6})', 'fortran_order': (?P<by_column>True|False), "
    r"'shape': \((?P<shape>(?:\d{1,19}(?:, ?\d{1,19})*,?)?)\),? *\}\s*"
)
DAMAGED = (OSError, ValueError, EOFError, KeyError, NotImplementedError, BadZipFile, zlib.error)


def read_npy(file: Path) -> np.ndarray:
    """The array of a .npy file."""
    with open(file, "rb") as stream:
        return _array(stream, os.fstat(stream.fileno()).st_size)


def complete_rows(file: Path) -> np.ndarray:
    """The complete rows of a .npy file that may be truncated."""
    with open(file, "rb") as stream:
        shape, by_column, kind = _header(stream)
        if by_column or not shape:
            raise ValueError("the array is not stored row by row")
        size, data = kind.itemsize * math.prod(shape[1:]), stream.read()
    rows = min(len(data) // size, shape[0]) if size else 0
    return np.frombuffer(data[: rows * size], dtype=kind).reshape(rows, *shape[1:])


def read_npz(file: Path, *names: str) -> dict[str, np.ndarray]:
    """The arrays of a .npz file by name; of these names only if there are some."""
    with open(file, "rb") as stream, ZipFile(stream) as archive:
        members = [archive.getinfo(f"{name}.npy") for name in names] or archive.infolist()
        total, limit = sum(member.file_size for member in members), UNPACKED + os.fstat(stream.fileno()).st_size
        if total > limit:
            raise ValueError(f"it unpacks to {total} bytes; at most {limit} are allowed")
        out = {}
        for member in members:
            with archive.open(member) as member_stream:
                out[member.filename.removesuffix(".npy")] = _array(member_stream, member.file_size)
        return out


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, order and type from a header of NumPy; raises ValueError for any other header."""
    magic, major = stream.read(6), stream.read(2)[:1]
    if magic != b"\x93NUMPY" or major not in (b"\x01", b"\x02"):
        raise ValueError("it is not an array of NumPy in format 1 or 2")
    size = int.from_bytes(stream.read(2 if major == b"\x01" else 4), "little")
    if size > LONGEST:
        raise ValueError(f"its header has {size} bytes; at most {LONGEST} are allowed")
    head = HEAD.fullmatch(stream.read(size).decode("latin-1"))
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


def _array(stream: IO[bytes], limit: int) -> np.ndarray:
    """The array at the current position of a file. Raises ValueError if it has more than `limit` bytes or is incomplete."""
    shape, by_column, kind = _header(stream)
    size = kind.itemsize * math.prod(shape)
    if size > limit:
        raise ValueError(f"its header announces {size} bytes; the file has {limit}")
    data = bytearray(stream.read(size))
    if len(data) < size:
        raise ValueError(f"it ends after {len(data)} of {size} bytes")
    array = np.frombuffer(data, dtype=kind) if size else np.zeros(0, dtype=kind)
    return array.reshape(shape, order="F" if by_column else "C")
