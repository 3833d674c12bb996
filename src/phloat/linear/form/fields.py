"""Velocities of points as linear maps of the rows of a linear system, for output and drawings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from phloat.algebra.sparse import Matrix, csr


@dataclass(frozen=True, eq=False)
class Field:
    """The velocity of some points as a linear map of the rows: v = motion · e, three rows per point (inertial axes).

    `points` is (points, 3). `facets` (facets, 3 or 4) are the faces of a body on a mesh, as indices of points, for plots. So are
    the `body`, its `pose`, and its own `velocities` (v_P, ω, η̇) as a linear map of the rows, where the field is that of a body.
    """

    points: np.ndarray
    motion: Matrix
    facets: np.ndarray | None = None
    body: Any = None
    pose: Any = None
    velocities: Matrix | None = None

    def of(self, e: np.ndarray) -> np.ndarray:
        """The velocities of the points for rows e, (points, 3)."""
        return (self.motion @ e).reshape(-1, 3)

    def in_rows(self, change: Callable[[Matrix], Matrix]) -> Field:
        """The field of other rows; `change` gives the columns of a matrix for these rows."""
        velocities = None if self.velocities is None else csr(change(self.velocities))
        return replace(self, motion=csr(change(self.motion)), velocities=velocities)


class Fields(Mapping[str, Field]):
    """Fields by name, each computed at its first use: most analyses use none of them."""

    def __init__(self, functions: Mapping[str, Callable[[], Field]]):
        self.functions = dict(functions)
        self.known: dict[str, Field] = {}

    @classmethod
    def in_rows(cls, fields: Mapping[str, Field], change: Callable[[Matrix], Matrix]) -> Fields:
        """The fields of other rows, as `Field.in_rows`."""
        return cls({name: partial(_changed, fields, name, change) for name in fields})

    def __getitem__(self, name: str) -> Field:
        if name not in self.known:
            self.known[name] = self.functions[name]()
        return self.known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.functions)

    def __len__(self) -> int:
        return len(self.functions)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


def _changed(fields: Mapping[str, Field], name: str, change: Callable[[Matrix], Matrix]) -> Field:
    return fields[name].in_rows(change)
