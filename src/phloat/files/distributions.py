"""Distributions of parameters as a file says them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from phloat.files.inputs import ANY
from phloat.many import distributions as known
from phloat.system.words.choices import Case, Choice
from phloat.system.words.groups import Field, ListOf, OneOf, Record
from phloat.system.words.matter import itself, of_type
from phloat.system.words.numbers import Vector


def drawn(word: str, make: Any, kind: type, *keys: str) -> Case:
    """A distribution by its numbers."""
    fields = tuple(Field(key, ANY, key) for key in keys)
    return Case(word, Record(f"a {word} distribution", fields, make), itself, of_type(kind), doc=", ".join(keys))


PLAIN_DISTRIBUTIONS = (
    drawn("normal", known.normal, known.Normal, "mean", "std"),
    drawn("uniform", known.uniform, known.Uniform, "low", "high"),
    drawn("lognormal", known.lognormal, known.Lognormal, "mean", "std"),
    drawn("triangular", known.triangular, known.Triangular, "low", "mode", "high"),
)
ENDS = tuple(Field(key, ANY, f"{key} end", end) for key, end in (("low", -np.inf), ("high", np.inf)))


def cut(of: Case) -> Case:
    """A distribution between ends that stand beside it."""

    def make(distribution: Any, low: float = -np.inf, high: float = np.inf) -> Any:
        return distribution if (low, high) == (-np.inf, np.inf) else known.truncated(distribution, low=low, high=high)

    def parts(value: Any) -> tuple[Any, Mapping[str, Any]] | None:
        inner = value.of if isinstance(value, known.Truncated) else value
        found = of.parts(inner)
        return found and (
            found[0],
            {"low": value.low, "high": value.high} if isinstance(value, known.Truncated) else {},
        )

    return Case(of.word, of.lead, make, parts, ENDS, doc=f"{of.doc}; low and high beside it cut it off")


DISTRIBUTION = Choice(
    "a distribution",
    (
        *map(cut, PLAIN_DISTRIBUTIONS),
        Case(
            "choice",
            ListOf(ANY, least=1),
            known.choice,
            lambda v: (
                (v.values, {"weights": None if len(set(v.weights)) == 1 else v.weights})
                if isinstance(v, known.Choice)
                else None
            ),
            rest=(Field("weights", Vector(("number",), ()), "how likely each is", None),),
            doc="one of these values",
        ),
    ),
    alone=OneOf((ANY, Vector((), ())), lambda v: int(np.ndim(v) > 0)),
    is_alone=lambda v: isinstance(v, (int, float, tuple, list)),
)
