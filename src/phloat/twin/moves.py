"""Operations of JAX that move entries of arrays, on arrays of numbers and of nodes of a graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from phloat.twin.nodes import Node, OperationError


def filled(entries: list[Any], shape: Sequence[int]) -> np.ndarray:
    out = np.empty(len(entries), dtype=object)
    out[:] = entries
    return out.reshape(tuple(shape))


def spread(a: np.ndarray, shape: Sequence[int], axes: Sequence[int]) -> np.ndarray:
    """An array whose axes become these axes of a larger one."""
    sizes = [1] * len(shape)
    for axis, size in zip(axes, a.shape, strict=True):
        sizes[axis] = size
    return np.broadcast_to(a.reshape(sizes), tuple(shape))


def padded(a: np.ndarray, value: Any, config: Sequence[tuple[int, int, int]]) -> np.ndarray:
    """`lax.pad`."""
    low, high, between = map(np.array, zip(*config, strict=True))
    shape = np.maximum(np.subtract(a.shape, 1), 0) * between + a.shape
    out = np.empty(shape + np.maximum(low, 0) + np.maximum(high, 0), dtype=object)
    out.fill(value)
    starts, steps = np.maximum(low, 0), between + 1
    out[tuple(slice(s, s + n, k) for s, n, k in zip(starts, shape, steps, strict=True))] = a
    return out[tuple(slice(max(-lo, 0), n - max(-hi, 0)) for lo, hi, n in zip(low, high, out.shape, strict=True))]


def known_integers(a: np.ndarray) -> np.ndarray:
    """An array of indices; raises OperationError if one depends on the motion."""
    if any(isinstance(x, Node) for x in a.ravel()):
        raise OperationError(
            "steps with an index that depends on the motion cannot be written in C: use compiled=False"
        )
    return a.astype(int)


def windows(
    shape: Sequence[int],
    indices: np.ndarray,
    axes: Sequence[int],
    batch: tuple[Sequence[int], Sequence[int]],
    sizes: Sequence[int],
    clip: bool,
) -> np.ndarray:
    """Flat positions of windows in an array of a shape, (*shape of indices, *sizes); −1 where a window lies beyond it."""
    outer = indices.shape[:-1]
    start = np.zeros((*outer, len(shape)), dtype=int)
    start[..., list(axes)] = indices
    for axis, of_indices in zip(*batch, strict=True):
        start[..., axis] = np.indices(outer)[of_indices]
    last = np.subtract(shape, sizes)
    start = np.clip(start, 0, last) if clip else start
    inside = np.all((start >= 0) & (start <= last), axis=-1)
    steps = np.cumprod([1, *list(shape)[:0:-1]])[::-1] if len(shape) else np.zeros(0, dtype=int)
    offsets = np.tensordot(steps, np.indices(sizes).reshape(len(shape), -1), 1)
    flat = (start @ steps)[..., None] + offsets
    return np.where(inside[..., None], flat, -1).reshape(*outer, *sizes)


def gathered(a: np.ndarray, indices: np.ndarray, params: Any) -> np.ndarray:
    """`lax.gather`."""
    numbers, sizes = params["dimension_numbers"], params["slice_sizes"]
    batch = numbers.operand_batching_dims, numbers.start_indices_batching_dims
    fills = "FILL" in str(params["mode"])
    places = windows(a.shape, indices, numbers.start_index_map, batch, sizes, not fills)
    dropped = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    kept = [size for axis, size in enumerate(sizes) if axis not in dropped]
    places = places.reshape(*indices.shape[:-1], *kept)
    places = np.moveaxis(places, range(places.ndim - len(kept), places.ndim), numbers.offset_dims)
    fill = math.nan if params["fill_value"] is None else params["fill_value"]
    return filled([a.flat[k] if k >= 0 else fill for k in places.ravel()], places.shape)


def update_places(a: np.ndarray, indices: np.ndarray, updates: np.ndarray, params: Any) -> np.ndarray:
    """Flat positions at which a scatter puts its updates, in their order; −1 for those it leaves out."""
    numbers = params["dimension_numbers"]
    single = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
    window = iter(numbers.update_window_dims)
    sizes = [1 if axis in single else updates.shape[next(window)] for axis in range(a.ndim)]
    batch = numbers.operand_batching_dims, numbers.scatter_indices_batching_dims
    clip = "CLIP" in str(params["mode"])
    places = windows(a.shape, indices, numbers.scatter_dims_to_operand_dims, batch, sizes, clip)
    kept = [updates.shape[axis] for axis in numbers.update_window_dims]
    places = places.reshape(*indices.shape[:-1], *kept)
    return np.moveaxis(places, range(places.ndim - len(kept), places.ndim), numbers.update_window_dims).ravel()


def scattered(a: np.ndarray, indices: np.ndarray, updates: np.ndarray, params: Any) -> np.ndarray:
    """`lax.scatter`."""
    out = a.copy()
    for place, update in zip(update_places(a, indices, updates, params), updates.ravel(), strict=True):
        if place >= 0:
            out.flat[place] = update
    return out


MOVES: dict[str, Callable[[Any, list[np.ndarray]], Any]] = {  # primitives that only move entries
    "broadcast_in_dim": lambda p, a: spread(a[0], p["shape"], p["broadcast_dimensions"]),
    "reshape": lambda p, a: a[0].reshape(p["new_sizes"]),
    "transpose": lambda p, a: np.transpose(a[0], p["permutation"]),
    "squeeze": lambda p, a: np.squeeze(a[0], tuple(p["dimensions"])),
    "expand_dims": lambda p, a: np.expand_dims(a[0], tuple(p["dimensions"])),
    "rev": lambda p, a: np.flip(a[0], p["dimensions"]),
    "concatenate": lambda p, a: np.concatenate(a, p["dimension"]),
    "stack": lambda p, a: np.stack(a, p.get("axis", 0)),
    "split": lambda p, a: np.split(a[0], np.cumsum(p["sizes"])[:-1], p["axis"]),
    "slice": lambda p, a: a[0][
        tuple(map(slice, p["start_indices"], p["limit_indices"], p["strides"] or [1] * a[0].ndim))
    ],
    "pad": lambda p, a: padded(a[0], a[1].item(), p["padding_config"]),
    "scatter": lambda p, a: scattered(a[0], known_integers(a[1]), a[2], p),
    "stop_gradient": lambda p, a: a[0],
    "copy": lambda p, a: a[0],
    "copy_p": lambda p, a: a[0],
}
