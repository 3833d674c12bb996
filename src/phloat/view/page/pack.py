"""Arrays of a page: one compressed block, in which arrays are referred to by number."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np

STEPS = 32767  # of 16 bits, each way
SNAPSHOTS = 400  # times from which shapes are computed


class Pack:
    """Arrays in one block; equal ones are stored once. `index` describes them, `text` is the block in base64."""

    def __init__(self) -> None:
        self.index: list[dict[str, Any]] = []
        self._parts: list[bytes] = []
        self._known: dict[tuple[str, tuple[int, ...], bytes], int] = {}

    def exact(self, x: np.ndarray) -> int:
        """Adds 64-bit floats; returns the number of the array."""
        return self._add("f8", np.asarray(x, dtype="<f8"))

    def floats(self, x: np.ndarray) -> int:
        """Adds 32-bit floats."""
        return self._add("f4", np.asarray(x, dtype="<f4"))

    def whole(self, x: np.ndarray) -> int:
        """Adds unsigned integers."""
        return self._add("u4", np.asarray(x, dtype="<u4"))

    def rough(self, x: np.ndarray) -> int:
        """Adds columns in 16 bits, each with its own scale: four and a half digits of its largest entry."""
        x = np.atleast_2d(np.asarray(x, dtype=float))
        scale = np.abs(x).max(axis=0, initial=0.0) / STEPS
        whole = np.rint(x / np.where(scale > 0.0, scale, 1.0)).astype("<i2")
        return self._add("i2", whole, scale)

    def text(self) -> str:
        return base64.b64encode(zlib.compress(b"".join(self._parts), 6)).decode("ascii")

    def _add(self, kind: str, x: np.ndarray, scale: np.ndarray | None = None) -> int:
        data = np.ascontiguousarray(x.T if x.ndim == 2 and kind in ("f4", "i2") else x)  # columns change slowly
        raw = (
            data.view(np.uint8).reshape(-1, data.itemsize).T.tobytes()
        )  # bytes of equal significance together compress well
        key = (kind, x.shape, raw + (b"" if scale is None else scale.tobytes()))
        if key not in self._known:
            self._known[key] = len(self.index)
            entry: dict[str, Any] = {"kind": kind, "shape": list(x.shape), "bytes": len(raw)}
            if scale is not None:
                entry["scale"] = [float(f"{value:.9g}") for value in scale]
            self.index.append(entry)
            self._parts.append(raw)
        return self._known[key]


def compressed(rows: np.ndarray, *histories: np.ndarray, within: float) -> tuple[np.ndarray, list[np.ndarray]]:
    """Fewer coordinates with the same rows · η, within a tolerance, for all histories η (times, coordinates)."""
    squared, X = np.linalg.eigh(rows.T @ rows)
    felt = squared > 1e-14 * squared[-1]
    X, lengths = X[:, felt], np.sqrt(squared[felt])
    V, parts = principal(*(history @ (X * lengths) for history in histories), within=within)
    return rows @ (X / lengths @ V), parts


def principal(*histories: np.ndarray, within: float) -> tuple[np.ndarray, list[np.ndarray]]:
    """Principal shapes V (numbers, shapes) of histories (times, numbers), and their amplitudes at all times.

    Each history is scaled by its largest entry: a motion and its rates count alike.
    """
    sizes = [float(np.abs(part).max(initial=0.0)) or 1.0 for part in histories]
    scaled = np.vstack([part / size for part, size in zip(histories, sizes, strict=True)])
    some = scaled[:: 1 + len(scaled) // SNAPSHOTS]
    tall = some.shape[0] > some.shape[1]
    squared, vectors = np.linalg.eigh(some.T @ some if tall else some @ some.T)  # half the digits are enough here
    left = np.sqrt(np.cumsum(np.maximum(squared, 0.0)))  # the error without this one and all smaller ones
    keep = max(1, int((left > within * np.sqrt(len(some))).sum()))
    V = vectors[:, : -keep - 1 : -1]
    V = V if tall else some.T @ V / np.sqrt(np.maximum(squared[: -keep - 1 : -1], 1e-300))
    starts = np.cumsum([0, *(len(part) for part in histories)])
    shares = scaled @ V
    return V, [size * shares[a:b] for size, a, b in zip(sizes, starts[:-1], starts[1:], strict=True)]
