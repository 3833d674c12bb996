"""Outputs of a run by name: quantities, displacements, stresses, and their extreme values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from phloat.algebra.metadata import describe
from phloat.errors import InputError, unknown
from phloat.format.derive import record_keys
from phloat.format.kinds import Converted, Text
from phloat.format.records import Key, Variant, Variants
from phloat.linear.time.march import LinearResult
from phloat.motion.result import Result

TAKES: dict[str, Callable[[np.ndarray], Any]] = {
    "max": lambda x: x.max(axis=0),
    "min": lambda x: x.min(axis=0),
    "mean": lambda x: x.mean(axis=0),
    "last": lambda x: x[-1],
    "largest": lambda x: np.abs(x).max(axis=0),
}
WHOLE = ("energy", "momentum", "angular momentum")


@dataclass(frozen=True)
class Output:
    """A quantity of a run over time, by name or of a body at a place; `component` selects one, `take` reduces it to a number."""

    kind: str
    of: str
    s: float | None = field(default=None, metadata=describe("fraction of the length of a beam", least=0.0, most=1.0))
    at: tuple[float, ...] | None = field(default=None, metadata=describe("a material point in body axes", "length"))
    component: str | None = field(default=None, metadata=describe("x, y, z, or the name of a stress"))
    take: str | None = field(
        default=None,
        metadata=describe(
            "one number of the series: its max, min, mean, last or largest absolute value", choices=TAKES
        ),
    )

    def __post_init__(self) -> None:
        if self.s is not None and self.at is not None:
            raise InputError("s and at are two places; give one of them")

    def series(self, result: Result | LinearResult) -> np.ndarray:
        """Its values over time, (times, …)."""
        found = self._found(result)
        if isinstance(found, Mapping):
            if self.component not in found:
                raise InputError(unknown(f"stress of {self.of!r}", self.component, found))
            return np.asarray(found[self.component])
        return self._component(np.asarray(found))

    def value(self, result: Result | LinearResult) -> np.ndarray:
        """The series, or the number taken from it."""
        series = self.series(result)
        return series if self.take is None else np.asarray(TAKES[self.take](series))

    def _found(self, result: Any) -> Any:
        if self.kind == "quantity" and self.of in WHOLE and hasattr(result, self.of.replace(" ", "_")):
            return getattr(result, self.of.replace(" ", "_"))
        if self.kind == "quantity":
            return result[self.of]
        if isinstance(result, LinearResult):
            return self._of_linear(result)
        if self.kind == "von mises":
            return result.von_mises(self.of)[0]
        place: dict[str, Any] = {"s": self.s} if self.at is None else {"at": self.at}
        return getattr(result, self.kind)(self.of, **place)

    def _of_linear(self, result: LinearResult) -> np.ndarray:
        """Small motions of all points that a body is drawn by, or of the one nearest to a point."""
        if self.kind != "displacement" or self.s is not None:
            raise InputError(f"a linear run has no {self.kind} of {self.of!r}; it has displacement, at: [x, y, z]")
        moved = result.displacement(self.of)
        if self.at is None:
            return moved
        points = result.system.fields[self.of].points
        return np.asarray(moved[:, np.linalg.norm(points - np.array(self.at), axis=1).argmin()])

    def _component(self, series: np.ndarray) -> np.ndarray:
        if self.component is None:
            return series
        index = "xyz".find(self.component)
        if series.ndim < 2 or not 0 <= index < series.shape[-1]:
            raise InputError(f"no component {self.component!r} of {self.of!r}; it has shape {series.shape[1:]}")
        return series[..., index]


KEYS = record_keys(Output, ("kind", "of"))
PARTS = tuple(k for k in KEYS if k.key in ("component", "take"))
TAKE = tuple(k for k in KEYS if k.key == "take")


def output_variant(kind: str, what: str, keys: tuple[Key, ...], doc: str) -> Variant:
    """The variant of outputs of one kind."""

    def parts(value: Output) -> tuple[Any, Mapping[str, Any]] | None:
        return (value.of, vars(value)) if value.kind == kind else None

    return Variant(kind, Text(what=what), lambda of, **options: Output(kind, of, **options), parts, keys, doc=doc)


OUTPUT = Variants(
    "an output",
    (
        output_variant("quantity", "a name: motor.angle, rod.theta, energy", PARTS, "of a result, by its name"),
        output_variant("displacement", "a body", KEYS, "deformation in body axes"),
        output_variant("position", "a body", KEYS, "in inertial axes"),
        output_variant("stress", "a body", KEYS, "resultants at s, or stress at a point"),
        output_variant("von mises", "a body", TAKE, "the largest of a body"),
    ),
    alone=Converted(
        Text(what="the name of a quantity"), lambda name: Output("quantity", name), lambda output: output.of
    ),
)
