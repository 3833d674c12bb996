"""Numbers as a page carries them: typed arrays in one compressed block, named by their numbers in it."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np

STEPS = 32767  # of 16 bits, each way
SNAPSHOTS = 400  # times that shapes are looked for in


class Pack:
    """Arrays that go into one block; equal ones go in once. `index` describes them, `text` is the block in base64."""

    def __init__(self) -> None:
        self.index: list[dict[str, Any]] = []
        self._parts: list[bytes] = []
        self._known: dict[tuple[str, tuple[int, ...], bytes], int] = {}

    def exact(self, x: np.ndarray) -> int:
        """Times, in 64 bits."""
        return self._add("f8", np.asarray(x, dtype="<f8"))

    def floats(self, x: np.ndarray) -> int:
        """Seven digits."""
        return self._add("f4", np.asarray(x, dtype="<f4"))

    def whole(self, x: np.ndarray) -> int:
        """Numbers of points."""
        return self._add("u4", np.asarray(x, dtype="<u4"))

    def rough(self, x: np.ndarray) -> int:
        """Columns in 16 bits, each with its own scale: four and a half digits of its largest entry."""
        x = np.atleast_2d(np.asarray(x, dtype=float))
        scale = np.abs(x).max(axis=0, initial=0.0) / STEPS
        whole = np.rint(x / np.where(scale > 0.0, scale, 1.0)).astype("<i2")
        return self._add("i2", whole, scale)

    def text(self) -> str:
        return base64.b64encode(zlib.compress(b"".join(self._parts), 6)).decode("ascii")

    def _add(self, kind: str, x: np.ndarray, scale: np.ndarray | None = None) -> int:
        data = np.ascontiguousarray(x.T if x.ndim == 2 and kind in ("f4", "i2") else x)  # columns change slowly
        raw = data.view(np.uint8).reshape(-1, data.itemsize).T.tobytes()  # like bytes beside each other compress well
        key = (kind, x.shape, raw + (b"" if scale is None else scale.tobytes()))
        if key not in self._known:
            self._known[key] = len(self.index)
            said: dict[str, Any] = {"kind": kind, "shape": list(x.shape), "bytes": len(raw)}
            if scale is not None:
                said["scale"] = [float(f"{value:.9g}") for value in scale]
            self.index.append(said)
            self._parts.append(raw)
        return self._known[key]


def compressed(rows: np.ndarray, *histories: np.ndarray, within: float) -> tuple[np.ndarray, list[np.ndarray]]:
    """Fewer coordinates whose rows give the same, to a part of the largest: rows · η for all histories η (times, coordinates)."""
    squared, X = np.linalg.eigh(rows.T @ rows)
    felt = squared > 1e-14 * squared[-1]
    X, lengths = X[:, felt], np.sqrt(squared[felt])
    V, parts = principal(*(history @ (X * lengths) for history in histories), within=within)
    return rows @ (X / lengths @ V), parts


def principal(*histories: np.ndarray, within: float) -> tuple[np.ndarray, list[np.ndarray]]:
    """The few shapes V (numbers, shapes) that all histories (times, numbers) are made of, and how much of each at every time.

    Histories are weighed so that all are of one size: a motion and its rates.
    """
    sizes = [float(np.abs(part).max(initial=0.0)) or 1.0 for part in histories]
    scaled = np.vstack([part / size for part, size in zip(histories, sizes, strict=True)])
    some = scaled[:: 1 + len(scaled) // SNAPSHOTS]
    tall = some.shape[0] > some.shape[1]
    squared, vectors = np.linalg.eigh(some.T @ some if tall else some @ some.T)  # half the digits are plenty here
    left = np.sqrt(np.cumsum(np.maximum(squared, 0.0)))  # what is lost when this one and all smaller ones are
    keep = max(1, int((left > within * np.sqrt(len(some))).sum()))
    V = vectors[:, : -keep - 1 : -1]
    V = V if tall else some.T @ V / np.sqrt(np.maximum(squared[: -keep - 1 : -1], 1e-300))
    starts = np.cumsum([0, *(len(part) for part in histories)])
    shares = scaled @ V
    return V, [size * shares[a:b] for size, a, b in zip(sizes, starts[:-1], starts[1:], strict=True)]
