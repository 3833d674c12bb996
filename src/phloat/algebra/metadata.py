"""Descriptions of dataclass fields (meaning, quantity, limits), and the numbers in a value by name.

    length: float = field(metadata=describe("from port P to port C", "length", above=0.0))
    Beam(…)  →  {"length": 0.3, "section.diameter": 0.006, "material.E": 2e11, "masses[0.5]": 0.1, …}

Model files, their schema and the checks of units are derived from the metadata.

Numbers are searched in fields of dataclasses, values of mappings and items of lists. A class excludes fields by naming them in
`not_numbers`; counts (declared `int`), choices and functions are not numbers. A function that is a dataclass (a taper) is searched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import Field, dataclass, field, fields, is_dataclass, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Description:
    """The meaning of a field, the quantities that it may measure (see `algebra.units.QUANTITIES`), and its limits."""

    doc: str = ""
    quantities: tuple[str, ...] = ()
    above: float | None = None
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    size: int = 3
    key: str = ""


def describe(
    doc: str,
    *quantities: str,
    above: float | None = None,
    least: float | None = None,
    most: float | None = None,
    choices: Iterable[str] = (),
    size: int = 3,
    key: str = "",
) -> dict[str, Description]:
    """Metadata of a dataclass field; `size` is that of a vector, `key` its key in files if that is not its name ("from")."""
    return {"description": Description(doc, quantities, above, least, most, tuple(choices), size, key)}


def optional(default: Any, doc: str, *quantities: str, **limits: Any) -> Any:
    """A field of a dataclass with a default, or a class that makes one, and a description, as `describe` takes it."""
    metadata = describe(doc, *quantities, **limits)
    if isinstance(default, type):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


def description(field: Field[Any]) -> Description:
    """The description of a field; an empty one if it has none."""
    value = field.metadata.get("description")
    return value if isinstance(value, Description) else Description()


# --- numbers ---------------------------------------------------------------------------------------------------------

LARGEST = 36  # largest number of entries of an array whose numbers have names

Key = Any  # a field, a key of a mapping, or an index (i,) or (i, j)


@dataclass(frozen=True)
class Numbers:
    """The numbers in a value by name, the path to each, and the functions, whose numbers are not accessible."""

    values: dict[str, float]
    paths: dict[str, tuple[Key, ...]]
    functions: tuple[str, ...]


def numbers(value: object) -> Numbers:
    """All numbers of a value."""
    values: dict[str, float] = {}
    paths: dict[str, tuple[Key, ...]] = {}
    functions: list[str] = []
    for name, path, number in _walk_numbers(value, "", ()):
        if number is None:
            functions.append(name)
        else:
            values[name], paths[name] = number, path
    return Numbers(values, paths, tuple(functions))


def with_numbers(value: Any, changes: Mapping[tuple[Key, ...], float]) -> Any:
    """A copy of the value with other numbers at these paths; dataclasses are constructed, and so checked, again."""
    if () in changes:
        return changes[()]
    parts: dict[Key, dict[tuple[Key, ...], float]] = {}
    for (first, *rest), number in changes.items():
        parts.setdefault(first, {})[tuple(rest)] = number
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{name: with_numbers(getattr(value, name), inner) for name, inner in parts.items()})
    if isinstance(value, Mapping):
        return dict(value) | {key: with_numbers(value[key], inner) for key, inner in parts.items()}
    if _is_matrix(value) or isinstance(value, np.ndarray):
        return _with_entries(value, {place: inner[()] for place, inner in parts.items()})
    items = list(value)
    for (i,), inner in parts.items():
        items[i] = with_numbers(items[i], inner)
    return tuple(items) if isinstance(value, tuple) else items


def _walk_numbers(value: Any, name: str, path: tuple[Key, ...]) -> Iterator[tuple[str, tuple[Key, ...], float | None]]:
    """Name, path and number of all numbers in a value; the number of a function is None."""
    if is_dataclass(value) and not isinstance(value, type):
        left_out = getattr(value, "not_numbers", ())
        for f in fields(value):
            if f.init and f.type not in ("int", int) and f.name not in left_out:
                inner = f"{name}.{f.name}" if name else f.name
                yield from _walk_numbers(getattr(value, f.name), inner, (*path, f.name))
    elif isinstance(value, (bool, np.bool_, str)) or value is None:
        return
    elif isinstance(value, (int, float, np.integer, np.floating)):
        yield name, path, float(value)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            word = f"{name}.{key}" if name else str(key)
            yield from _walk_numbers(inner, f"{name}[{key:g}]" if isinstance(key, (int, float)) else word, (*path, key))
    elif _is_matrix(value):
        A = np.asarray(value)
        symmetric = np.array_equal(A, A.T)  # then an entry and its mirror image are one number
        for i, j in np.ndindex(A.shape):
            if i <= j or not symmetric:
                yield f"{name}[{i},{j}]", (*path, (i, j)), float(A[i, j])
    elif isinstance(value, (tuple, list)) or (isinstance(value, np.ndarray) and value.ndim == 1):
        if isinstance(value, np.ndarray) and (value.dtype.kind != "f" or value.size > LARGEST):
            return
        for i, inner in enumerate(value):
            yield from _walk_numbers(inner, f"{name}[{i}]", (*path, (i,)))
    elif callable(value):
        yield name, path, None


def _is_matrix(value: object) -> bool:
    """Whether a value is a small square matrix of numbers, as an array or as rows."""
    if isinstance(value, np.ndarray):
        return (
            value.ndim == 2 and value.shape[0] == value.shape[1] and value.size <= LARGEST and value.dtype.kind in "fiu"
        )
    if not isinstance(value, (tuple, list)) or not value:
        return False
    rows = all(isinstance(row, (tuple, list)) and len(row) == len(value) for row in value)
    return rows and all(isinstance(x, (int, float)) and not isinstance(x, bool) for row in value for x in row)


def _with_entries(value: Any, entries: Mapping[tuple[int, ...], float]) -> Any:
    """The array or matrix with other entries, of the same type; symmetric matrices stay symmetric."""
    A = np.array(value, dtype=float)
    symmetric = A.ndim == 2 and np.array_equal(A, A.T)
    for place, number in entries.items():
        A[place] = number
        if symmetric:
            A[place[::-1]] = number
    if isinstance(value, np.ndarray):
        return A
    return tuple(map(tuple, A.tolist())) if isinstance(value, tuple) else A.tolist()
