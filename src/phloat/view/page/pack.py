"""Arrays of a page in one compressed block, referred to by index; compression of motions to a few principal shapes."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np

INT16_MAX = 32767
MAX_SNAPSHOTS = 400  # principal shapes are computed from about so many times


class Pack:
    """Arrays in one block of bytes; equal arrays are stored once.

    `index` has kind, shape, length and scale of each array, for the page to read it; `text()` is the compressed block in base64.
    The methods that add an array return its index.
    """

    def __init__(self) -> None:
        self.index: list[dict[str, Any]] = []
        self._parts: list[bytes] = []
        self._indices: dict[tuple[str, tuple[int, ...], bytes], int] = {}

    def scaled_int16(self, x: np.ndarray, most: int = INT16_MAX) -> int:
        """Adds an array as integers up to `most` with one scale a column; returns its index.

        Errors are 1 / 2 most of the largest entry of the column, 1.5e-5 by default; smaller integers take less space.
        """
        x = np.atleast_2d(np.asarray(x, dtype=float))
        scale = np.abs(x).max(axis=0, initial=0.0) / most
        integers = np.rint(x / np.where(scale > 0.0, scale, 1.0)).astype("<i2")
        return self.add("i2", integers, scale)

    def text(self) -> str:
        """The block, compressed by zlib and encoded in base64."""
        return base64.b64encode(zlib.compress(b"".join(self._parts), 6)).decode("ascii")

    def add(self, kind: str, x: np.ndarray, scale: np.ndarray | None = None) -> int:
        """Adds an array of kind f8, f4 (floats), u4 or i2 (integers) unless an equal one is there; returns its index."""
        x = np.asarray(x, dtype=f"<{kind}")
        data = np.ascontiguousarray(x.T if x.ndim == 2 and kind in ("f4", "i2") else x)  # columns vary slowly
        # bytes of equal significance together compress well
        raw = data.view(np.uint8).reshape(-1, data.itemsize).T.tobytes()
        key = (kind, x.shape, raw + (b"" if scale is None else scale.tobytes()))
        if key not in self._indices:
            self._indices[key] = len(self.index)
            entry: dict[str, Any] = {"kind": kind, "shape": list(x.shape), "bytes": len(raw)}
            if scale is not None:
                entry["scale"] = [float(f"{value:.9g}") for value in scale]
            self.index.append(entry)
            self._parts.append(raw)
        return self._indices[key]


def compress_motion(rows: np.ndarray, *histories: np.ndarray, within: float) -> tuple[np.ndarray, list[np.ndarray]]:
    """Fewer coordinates that give nearly the same points rows · η, for all histories η (times, coordinates).

    Returns the new rows and the histories of the new coordinates. `within` bounds the error (root mean square over time) relative
    to the largest amplitude of each history.
    """
    squared, X = np.linalg.eigh(rows.T @ rows)
    significant = squared > 1e-14 * squared[-1]
    X, lengths = X[:, significant], np.sqrt(squared[significant])
    V, parts = principal_shapes(*(history @ (X * lengths) for history in histories), within=within)
    return rows @ (X / lengths @ V), parts


def principal_shapes(*histories: np.ndarray, within: float) -> tuple[np.ndarray, list[np.ndarray]]:
    """Principal shapes V (numbers, shapes) of histories (times, numbers), by snapshots, and their amplitudes (times, shapes).

    Each history is scaled by its largest entry, so that a motion and its rates have the same weight. `within` bounds the root mean
    square error of the scaled histories.
    """
    sizes = [float(np.abs(part).max(initial=0.0)) or 1.0 for part in histories]
    scaled = np.vstack([part / size for part, size in zip(histories, sizes, strict=True)])
    samples = scaled[:: 1 + len(scaled) // MAX_SNAPSHOTS]
    tall = samples.shape[0] > samples.shape[1]
    # the Gram matrix has half the digits, enough for drawings
    squared, vectors = np.linalg.eigh(samples.T @ samples if tall else samples @ samples.T)
    errors = np.sqrt(np.cumsum(np.maximum(squared, 0.0)))  # the error without this shape and all smaller ones
    keep = max(1, int((errors > within * np.sqrt(len(samples))).sum()))
    V = vectors[:, : -keep - 1 : -1]
    V = V if tall else samples.T @ V / np.sqrt(np.maximum(squared[: -keep - 1 : -1], 1e-300))
    starts = np.cumsum([0, *(len(part) for part in histories)])
    shares = scaled @ V
    return V, [size * shares[a:b] for size, a, b in zip(sizes, starts[:-1], starts[1:], strict=True)]
