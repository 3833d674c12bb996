"""A case: a question with an answer known from elsewhere, and how near phloat has to come."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Row:
    """One number: what the source says, what was found, and |found − reference| ≤ tolerance, all in one unit."""

    quantity: str
    reference: float
    found: float
    tolerance: float
    unit: str = ""

    def __post_init__(self) -> None:
        for name in ("reference", "found", "tolerance"):  # also those of NumPy
            object.__setattr__(self, name, float(getattr(self, name)))

    @property
    def difference(self) -> float:
        return self.found - self.reference

    @property
    def good(self) -> bool:
        """Never of NaN."""
        return abs(self.difference) <= self.tolerance


@dataclass(frozen=True)
class Case:
    """`run(fine)` gives the rows; with `fine` mesh and step are halved, and where these matter differences shrink.

    `source` is where the answers come from (never phloat), `tolerances` how the allowed differences were set. A `long`
    case takes more than a few seconds.
    """

    name: str
    about: str
    source: str
    tolerances: str
    run: Callable[[bool], list[Row]]
    long: bool = False


def compared(
    names: str | Iterable[str], reference: ArrayLike, found: ArrayLike, allowed: ArrayLike, unit: str = ""
) -> list[Row]:
    """A row for each number; one name is numbered from 1."""
    known, got = np.asarray(reference, dtype=float), np.asarray(found, dtype=float)
    each = [f"{names} {k}" for k in range(1, len(known) + 1)] if isinstance(names, str) else names
    most = np.broadcast_to(np.asarray(allowed, dtype=float), known.shape)
    return [Row(*numbers, unit) for numbers in zip(each, known, got, most, strict=True)]


def relative(
    names: str | Iterable[str], reference: ArrayLike, found: ArrayLike, tolerance: ArrayLike, unit: str = ""
) -> list[Row]:
    """The same with tolerances relative to the references."""
    return compared(names, reference, found, np.abs(reference) * np.asarray(tolerance), unit)


def row(quantity: str, reference: float, found: float, tolerance: float, unit: str = "") -> Row:
    """A row with a tolerance relative to its reference."""
    return Row(quantity, reference, found, tolerance * abs(reference), unit)
