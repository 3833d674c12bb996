"""Functions of position that are data instead of code: tables along a line, polynomials of x, y and z."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from phloat.errors import InputError, finite, mapping

MONOMIAL = re.compile(r"(?:[xyz](?:\^[1-9])?)(?: (?:[xyz](?:\^[1-9])?))*|1")


@dataclass(frozen=True)
class Profile:
    """Linear interpolation of values at positions s, constant beyond the first and the last."""

    stations: Mapping[float, float]

    def __post_init__(self) -> None:
        if not mapping("stations", self.stations, "{s: value}"):
            raise InputError("a profile has no stations; give at least one: Profile({0.0: 1.0, 1.0: 2.0})")
        pairs = [
            (float(finite("a station", s, ())), float(finite(f"the value at s = {s!r}", v, ())))
            for s, v in self.stations.items()
        ]
        object.__setattr__(self, "stations", dict(sorted(pairs)))

    def __call__(self, s: float) -> float:
        return float(np.interp(s, list(self.stations), list(self.stations.values())))


@dataclass(frozen=True)
class Polynomial:
    """Σ c xⁱ yʲ zᵏ: terms {"1": c, "x": c, "x^2 y": c …}."""

    terms: Mapping[str, float]

    def __post_init__(self) -> None:
        if not mapping("terms", self.terms, '{"1": 2.5, "y": −9.0}'):
            raise InputError("a polynomial has no terms; give at least one: {'1': 2.5}")
        for term, value in self.terms.items():
            if not isinstance(term, str) or not MONOMIAL.fullmatch(term):
                raise InputError(f"{term!r} is not a term of a polynomial; write '1', 'x', 'y^2', 'x y' …")
            finite(f"the term {term!r}", value, ())
        powers = [tuple(row) for row in self.powers.tolist()]
        if len(set(powers)) < len(powers):
            raise InputError(f"terms of a polynomial are repeated: {', '.join(self.terms)}")

    @cached_property
    def powers(self) -> np.ndarray:
        """The exponents of x, y and z, (terms, 3)."""
        out = np.zeros((len(self.terms), 3), dtype=int)
        for k, term in enumerate(self.terms):
            for factor in term.split(" ") if term != "1" else ():
                out[k, "xyz".index(factor[0])] += int(factor[2:] or 1)
        return out

    def __call__(self, x: Any, y: Any = 0.0, z: Any = 0.0) -> np.ndarray:
        out = np.zeros(np.broadcast_shapes(np.shape(x), np.shape(y), np.shape(z)))
        for (i, j, k), c in zip(self.powers.tolist(), self.terms.values(), strict=True):
            out = out + c * np.asarray(x) ** i * np.asarray(y) ** j * np.asarray(z) ** k
        return out


@dataclass(frozen=True)
class Polynomials:
    """Three polynomials (or numbers), the components of a vector."""

    components: tuple[Polynomial | float, ...]

    def __call__(self, x: Any, y: Any, z: Any) -> list[Any]:
        return [c(x, y, z) if isinstance(c, Polynomial) else np.full(np.shape(x), c) for c in self.components]
