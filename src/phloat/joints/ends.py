"""What joints, force elements and loads have in common: a name, and ports that they stand between or act at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from phloat.algebra.metadata import describe
from phloat.errors import InputError, JointError, PortError, finite

Vector = Sequence[float]
GROUND = "ground"
DIRECTION = describe("direction in the frame of the first port", "direction")
TURNED = describe("rotation vector from the first frame to the second at zero", "angle")


class NamedRecipe:
    """Something in a list of joints, called by its own name, or by what it stands at."""

    name: str
    suffix: ClassVar[str] = ""  # of its label, where it has no name
    written: ClassVar[str] = "'body.port' or 'ground'"  # what its places name
    places: ClassVar[tuple[str, ...]] = ("first", "second")  # its fields with names of ports, joints or bodies

    @property
    def stands_at(self) -> tuple[str, ...]:
        """The names of ports, joints or bodies that it is written with."""
        return tuple(getattr(self, place) for place in self.places)

    @property
    def label(self) -> str:
        """Its name, or that of what it stands at."""
        return self.name or f"{'-'.join(self.stands_at)}{self.suffix}"

    def __post_init__(self) -> None:
        name: object = self.name
        for end in self.stands_at:
            if not isinstance(end, str):
                raise PortError(f"{type(self).__name__}: {end!r} is no name; write {self.written}")
        if not isinstance(name, str):
            owner = f"{type(self).__name__} at {'-'.join(self.stands_at)}"
            raise InputError(f"the name of the {owner} is {name!r}; it must be a word")


@dataclass(frozen=True)
class Between(NamedRecipe):
    """Between two ports, "body.port" or "ground"; `at` is the place on the ground."""

    first: str
    second: str
    at: Vector = field(default=(0.0, 0.0, 0.0), kw_only=True, metadata=describe("where it is on the ground", "length"))
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        finite(f"at of {self.label}", self.at, (3,))
        if self.first == GROUND and self.second == GROUND:
            raise JointError(f"{type(self).__name__} joins the ground to itself; write 'body.port' for one of its ends")
        if GROUND not in self.stands_at and np.any(np.asarray(self.at)):
            raise JointError(f"{self.label} has at={tuple(self.at)}, but no port on the ground; leave at out")

    @property
    def not_numbers(self) -> tuple[str, ...]:
        """Fields that are no parameters: the range of a function, and the place on a ground that it does not touch."""
        return ("over",) if GROUND in self.stands_at else ("over", "at")

    def triads(self) -> tuple[np.ndarray, np.ndarray]:
        """Its triads in the first and in the second port's frame: one and the same at zero."""
        return np.eye(3), np.eye(3)


def unit(label: str, vector: Vector) -> np.ndarray:
    """`vector` with length 1; raises InputError if it is zero."""
    array = finite(label, vector, (3,))
    size = float(np.linalg.norm(array))
    if size == 0.0:
        raise InputError(f"{label} is zero; it must point somewhere")
    return array / size


def six_not_negative(label: str, numbers: Sequence[float]) -> None:
    """Raises InputError unless `given` has six numbers, along and about three axes, none of them negative."""
    if (smallest := float(finite(label, numbers, (6,)).min())) < 0.0:
        raise InputError(f"{label} holds {smallest:g}; it must not be negative")
