"""Numbers of a run by name, as a file asks for them: quantities, displacements, stresses, and the largest of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from phloat.errors import InputError, unknown
from phloat.linear.time.march import LinearResult
from phloat.motion.result import Result
from phloat.system.words.choices import Case, Choice
from phloat.system.words.groups import Field
from phloat.system.words.kinds import Word
from phloat.system.words.numbers import FRACTION, Vector

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
    """A quantity of a run over time: of a body at a place, or by its name; one `component`; `take` makes a number of it."""

    kind: str
    of: str
    s: float | None = None
    at: tuple[float, ...] | None = None
    component: str | None = None
    take: str | None = None

    def __post_init__(self) -> None:
        if self.s is not None and self.at is not None:
            raise InputError("s and at are two places; give one of them")

    def series(self, result: Result | LinearResult) -> np.ndarray:
        """Over time, time first."""
        found = self._found(result)
        if isinstance(found, Mapping):
            if self.component not in found:
                raise InputError(unknown(f"stress of {self.of!r}", self.component, found))
            return np.asarray(found[self.component])
        return self._component(np.asarray(found))

    def value(self, result: Result | LinearResult) -> np.ndarray:
        """What it asks for: the series, or the number taken from it."""
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
        """Small motions: of all points that a body is drawn by, or of the one nearest to a point."""
        if self.kind != "displacement" or self.s is not None:
            where = "" if self.s is None else " at s"
            raise InputError(
                f"a linear run has no {self.kind} of {self.of!r}{where}; it has displacement, at: [x, y, z]"
            )
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


TAKE = Field(
    "take", Word(tuple(TAKES)), "one number of the course: its max, min, mean, last or largest absolute value", None
)
COMPONENT = Field("component", Word(what="x, y, z, or the name of a stress"), "which of several", None)
PLACE = (
    Field("s", FRACTION, "the fraction of the length of a beam", None),
    Field("at", Vector(("length",)), "a material point in body axes", None),
)


def case(kind: str, what: str, *rest: Field, doc: str) -> Case:
    def parts(value: Output) -> tuple[Any, Mapping[str, Any]] | None:
        return (value.of, vars(value)) if value.kind == kind else None

    return Case(kind, Word(what=what), lambda of, **options: Output(kind, of, **options), parts, rest, doc=doc)


OUTPUT = Choice(
    "an output",
    (
        case("quantity", "a name: motor.angle, rod.theta, energy", COMPONENT, TAKE, doc="of a result, by its name"),
        case("displacement", "a body", *PLACE, COMPONENT, TAKE, doc="deformation in body axes"),
        case("position", "a body", *PLACE, COMPONENT, TAKE, doc="inertial"),
        case("stress", "a body", *PLACE, COMPONENT, TAKE, doc="resultants at s, or stress at a point"),
        case("von mises", "a body", TAKE, doc="the largest of a body"),
    ),
    alone=Word(what="the name of a quantity"),
    is_alone=lambda value: False,
)


def read_output(value: Any) -> Output:
    """An output, from its name alone too."""
    return value if isinstance(value, Output) else Output("quantity", value)
