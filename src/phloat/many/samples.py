"""Samples of parameters: a table with one row per sample, the same on every machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from phloat.errors import InputError, finite_row, mapping, unknown, whole_number
from phloat.random import MARGIN, Distribution

Key = str | tuple[str, ...]
SAMPLINGS = ("random", "latin", "sobol", "grid", "rows")
DRAWN = SAMPLINGS[:3]
MAX_COMBINATIONS = 50_000_000  # samples of a grid


@dataclass(frozen=True, eq=False)
class Samples:
    """The parameter values of an ensemble, `values` (samples, parameters).

    Each column has a key: the name of a parameter, a pattern of names, or a tuple of these, which then have the same value.
    """

    keys: tuple[Key, ...]
    values: np.ndarray
    sampling: str
    levels: tuple[tuple[str, int], ...] = ()  # of a grid: name and number of values; the last one varies fastest

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(label(key) for key in self.keys)

    def __len__(self) -> int:
        return len(self.values)

    def named(self, k: int) -> dict[str, float]:
        """{label: value} of the k-th sample."""
        return dict(zip(self.names, self.values[k].tolist(), strict=True))


def label(key: Key) -> str:
    """The heading of the column of a key; the names of a tuple are joined by commas."""
    return key if isinstance(key, str) else ", ".join(key)


def draw_samples(parameters: Mapping[Key, object], samples: int | None, sampling: str | None, seed: int) -> Samples:
    """Draws the samples of {name: distribution | list of values | number}.

    "random" draws every parameter from its own stream of random numbers, which depends on the seed and the name only. "latin"
    takes one value from each of as many equally likely intervals as there are samples, "sobol" is a scrambled low-discrepancy
    sequence, "grid" takes all combinations of lists, and "rows" the k-th value of every list.
    """
    entries = mapping("parameters", parameters, '{"body.material.E": normal(2e11, 1e10)}')
    if not entries:
        raise InputError("there is no parameter to vary; give at least one: {'rod.material.E': normal(2e11, 1e10)}")
    if sampling is not None and sampling not in SAMPLINGS:
        raise InputError(unknown("sampling", sampling, SAMPLINGS))
    for key in entries:
        is_group = isinstance(key, tuple) and bool(key) and all(isinstance(name, str) for name in key)
        if not is_group and not isinstance(key, str):
            raise InputError(f"{key!r} names no parameter; write 'rod.material.E', or several in a tuple")
    if len({label(key) for key in entries}) < len(entries):
        raise InputError(f"parameters are named twice among {', '.join(label(key) for key in entries)}")
    kinds = {key: _kind(key, value) for key, value in entries.items()}
    drawn = [key for key, kind in kinds.items() if isinstance(kind, Distribution)]
    lists = [key for key, kind in kinds.items() if isinstance(kind, np.ndarray) and kind.ndim]
    if drawn and lists:
        choice = f"to draw from the list write choice({_short(kinds[lists[0]])}), or give lists for all"
        raise InputError(f"{label(lists[0])!r} is a list and {label(drawn[0])!r} a distribution; {choice}")
    if drawn or not lists:
        return _draw(kinds, samples, sampling, seed)
    return _tabulate(kinds, lists, samples, sampling)


def _kind(key: Key, value: object) -> Distribution | np.ndarray:
    """A distribution, a list of values (n,) or a number ()."""
    if isinstance(value, Distribution):
        return value
    title = f"parameter {label(key)!r}"
    row = finite_row(title, value)
    if not len(row):
        raise InputError(f"{title} is an empty list; give its values")
    return row if np.ndim(np.asarray(value)) else row[0:1].reshape(())


def _draw(
    kinds: Mapping[Key, Distribution | np.ndarray], samples: int | None, sampling: str | None, seed: int
) -> Samples:
    """Samples of distributions and numbers."""
    if sampling in ("grid", "rows"):
        raise InputError(f"sampling={sampling!r} is for lists of values; draw with {', '.join(map(repr, DRAWN))}")
    n, seed, method = whole_number("samples", samples, 1), whole_number("seed", seed, 0), sampling or "random"
    drawn = [key for key, kind in kinds.items() if isinstance(kind, Distribution)]
    points = np.clip(_points(method, n, [label(key) for key in drawn], seed), MARGIN, 1.0 - MARGIN)
    values = np.empty((n, len(kinds)))
    for j, (key, kind) in enumerate(kinds.items()):
        values[:, j] = kind.ppf(points[:, drawn.index(key)]) if isinstance(kind, Distribution) else kind
        if not np.isfinite(values[:, j]).all():
            k = int(np.argmin(np.isfinite(values[:, j])))
            raise InputError(f"{label(key)!r} is {values[k, j]:g} in sample {k}; its distribution must give numbers")
    return Samples(tuple(kinds), values, method)


def _points(method: str, n: int, names: list[str], seed: int) -> np.ndarray:
    """Points in the unit cube, (n, names)."""
    if method == "sobol" and names:
        from scipy.stats import qmc

        sequence = qmc.Sobol(len(names), scramble=True, seed=np.random.default_rng(seed))
        return np.asarray(sequence.random_base2(int(n - 1).bit_length())[:n])
    points = np.empty((n, len(names)))
    for j, name in enumerate(names):
        # a stream for each parameter, so that others do not change it
        stream = np.random.default_rng([seed, *name.encode()])
        points[:, j] = stream.random(n) if method == "random" else (stream.permutation(n) + stream.random(n)) / n
    return points


def _tabulate(
    kinds: Mapping[Key, Distribution | np.ndarray], lists: list[Key], samples: int | None, sampling: str | None
) -> Samples:
    """Samples of lists and numbers: all combinations, or row by row."""
    if sampling in DRAWN:
        raise InputError(f"sampling={sampling!r} needs distributions; for the list {label(lists[0])!r} write choice(…)")
    rows = {key: np.atleast_1d(np.asarray(kind)) for key, kind in kinds.items()}
    sizes = [len(rows[key]) for key in lists]
    if sampling == "rows":
        if len(set(sizes)) > 1:
            sizes_text = ", ".join(f"{label(key)} {len(rows[key])}" for key in lists)
            raise InputError(f"rows take the k-th value of every list, and these differ in length: {sizes_text}")
        n = sizes[0]
        _require_count(samples, n, "these rows hold")
        table = np.stack([np.broadcast_to(row, n) for row in rows.values()], axis=1)
        return Samples(tuple(kinds), np.ascontiguousarray(table), "rows")
    count = float(np.prod(np.array(sizes, dtype=float)))
    if count > MAX_COMBINATIONS:
        raise InputError(f"this grid has {count:.1e} combinations; draw some of them: choice(…) and samples=…")
    _require_count(samples, int(count), "this grid has")
    axes = np.meshgrid(*rows.values(), indexing="ij")
    table = np.stack([axis.ravel() for axis in axes], axis=1)
    return Samples(tuple(kinds), table, "grid", tuple((label(key), len(rows[key])) for key in lists))


def _require_count(samples: int | None, n: int, subject: str) -> None:
    if samples is not None and samples != n:
        raise InputError(f"samples={samples!r}, but {subject} {n}; leave samples= out, or write choice(…) for lists")


def _short(values: object) -> str:
    numbers = np.asarray(values).tolist()
    return "[" + ", ".join(f"{x:g}" for x in numbers[:3]) + (", …]" if len(numbers) > 3 else "]")
