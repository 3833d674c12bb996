"""Samples of parameters: a table with a row for every sample, the same on every machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from phloat.errors import InputError, finite_row, mapping, unknown, whole_number
from phloat.random import MARGIN, Distribution

Key = str | tuple[str, ...]
SAMPLINGS = ("random", "latin", "sobol", "grid", "rows")
DRAWN = SAMPLINGS[:3]
MOST = 50_000_000  # samples of a grid


@dataclass(frozen=True, eq=False)
class Samples:
    """The table of an ensemble: `values` (samples, parameters); a key is a name, a pattern, or several names."""

    keys: tuple[Key, ...]
    values: np.ndarray
    sampling: str
    levels: tuple[tuple[str, int], ...] = ()  # of a grid: names and numbers of values, the last one fastest

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(label(key) for key in self.keys)

    def __len__(self) -> int:
        return len(self.values)

    def named(self, k: int) -> dict[str, float]:
        """The parameters of the k-th sample by label."""
        return dict(zip(self.names, self.values[k].tolist(), strict=True))


def label(key: Key) -> str:
    """How a parameter is called in tables."""
    return key if isinstance(key, str) else ", ".join(key)


def sampled(parameters: Mapping[Key, object], samples: int | None, sampling: str | None, seed: int) -> Samples:
    """The samples of {name: distribution | list of values | number}.

    "random" draws every parameter from a stream of its own (its values depend on the seed, its name and the number of the
    sample alone), "latin" takes one value from each of as many equally likely intervals, "sobol" is a scrambled sequence
    that fills the cube evenly, "grid" takes all combinations of lists, "rows" the k-th value of every list.
    """
    given = mapping("parameters", parameters, '{"body.material.E": normal(2e11, 1e10)}')
    if not given:
        raise InputError("there is no parameter to vary; give at least one: {'rod.material.E': normal(2e11, 1e10)}")
    if sampling is not None and sampling not in SAMPLINGS:
        raise InputError(unknown("sampling", sampling, SAMPLINGS))
    for key in given:
        several = isinstance(key, tuple) and bool(key) and all(isinstance(name, str) for name in key)
        if not several and not isinstance(key, str):
            raise InputError(f"{key!r} names no parameter; write 'rod.material.E', or several in a tuple")
    if len({label(key) for key in given}) < len(given):
        raise InputError(f"parameters are named twice among {', '.join(label(key) for key in given)}")
    kinds = {key: _kind(key, value) for key, value in given.items()}
    drawn = [key for key, kind in kinds.items() if isinstance(kind, Distribution)]
    lists = [key for key, kind in kinds.items() if isinstance(kind, np.ndarray) and kind.ndim]
    if drawn and lists:
        choice = f"to draw from the list write choice({_short(kinds[lists[0]])}), or give lists for all"
        raise InputError(f"{label(lists[0])!r} is a list and {label(drawn[0])!r} a distribution; {choice}")
    if drawn or not lists:
        return _draw(kinds, samples, sampling, seed)
    return _tabulate(kinds, lists, samples, sampling)


def _kind(key: Key, value: object) -> Distribution | np.ndarray:
    if isinstance(value, Distribution):
        return value
    what = f"parameter {label(key)!r}"
    row = finite_row(what, value)
    if not len(row):
        raise InputError(f"{what} is an empty list; give its values")
    return row if np.ndim(np.asarray(value)) else row[0:1].reshape(())


def _draw(
    kinds: Mapping[Key, Distribution | np.ndarray], samples: int | None, sampling: str | None, seed: int
) -> Samples:
    if sampling in ("grid", "rows"):
        raise InputError(f"sampling={sampling!r} is for lists of values; draw with {', '.join(map(repr, DRAWN))}")
    n, seed, how = whole_number("samples", samples, 1), whole_number("seed", seed, 0), sampling or "random"
    drawn = [key for key, kind in kinds.items() if isinstance(kind, Distribution)]
    points = np.clip(_points(how, n, [label(key) for key in drawn], seed), MARGIN, 1.0 - MARGIN)
    values = np.empty((n, len(kinds)))
    for j, (key, kind) in enumerate(kinds.items()):
        values[:, j] = kind.ppf(points[:, drawn.index(key)]) if isinstance(kind, Distribution) else kind
        if not np.isfinite(values[:, j]).all():
            k = int(np.argmin(np.isfinite(values[:, j])))
            raise InputError(f"{label(key)!r} is {values[k, j]:g} in sample {k}; its distribution must give numbers")
    return Samples(tuple(kinds), values, how)


def _points(how: str, n: int, names: list[str], seed: int) -> np.ndarray:
    """(n, names) in [0, 1]."""
    if how == "sobol" and names:
        from scipy.stats import qmc

        sequence = qmc.Sobol(len(names), scramble=True, seed=np.random.default_rng(seed))
        return np.asarray(sequence.random_base2(int(n - 1).bit_length())[:n])
    points = np.empty((n, len(names)))
    for j, name in enumerate(names):
        # a stream for each parameter, so that others do not change it
        stream = np.random.default_rng([seed, *name.encode()])
        points[:, j] = stream.random(n) if how == "random" else (stream.permutation(n) + stream.random(n)) / n
    return points


def _tabulate(
    kinds: Mapping[Key, Distribution | np.ndarray], lists: list[Key], samples: int | None, sampling: str | None
) -> Samples:
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
    if count > MOST:
        raise InputError(f"this grid has {count:.1e} combinations; draw some of them: choice(…) and samples=…")
    _require_count(samples, int(count), "this grid has")
    axes = np.meshgrid(*rows.values(), indexing="ij")
    table = np.stack([axis.ravel() for axis in axes], axis=1)
    return Samples(tuple(kinds), table, "grid", tuple((label(key), len(rows[key])) for key in lists))


def _require_count(samples: int | None, n: int, what: str) -> None:
    if samples is not None and samples != n:
        raise InputError(f"samples={samples!r}, but {what} {n}; leave samples= out, or write choice(…) for lists")


def _short(values: object) -> str:
    listed = np.asarray(values).tolist()
    return "[" + ", ".join(f"{x:g}" for x in listed[:3]) + (", …]" if len(listed) > 3 else "]")
