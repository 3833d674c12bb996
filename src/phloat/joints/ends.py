"""Base classes of joints, force elements and loads: their name, and the ports, joints or bodies at which they act."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from phloat.algebra.metadata import describe
from phloat.algebra.units import in_si
from phloat.errors import InputError, JointError, PortError, finite

Vector = Sequence[float]
GROUND = "ground"
DIRECTION = describe("direction in the frame of the first port", "direction")
TURNED = describe("rotation vector from the first frame to the second at zero", "angle")


class NamedRecipe:
    """Base class of the entries of a list of joints: they have a name, or a label from the ports that they act at."""

    name: str
    suffix: ClassVar[str] = ""  # of the label, if there is no name
    written: ClassVar[str] = "'body.port' or 'ground'"  # the form of the names in `places`, for messages
    places: ClassVar[tuple[str, ...]] = ("first", "second")  # the fields with names of ports, joints or bodies

    @property
    def stands_at(self) -> tuple[str, ...]:
        """The names of the ports, joints or bodies at which it acts."""
        return tuple(getattr(self, place) for place in self.places)

    @property
    def label(self) -> str:
        """The name, or one made of the ports at which it acts."""
        return self.name or f"{'-'.join(self.stands_at)}{self.suffix}"

    def __post_init__(self) -> None:
        name: object = self.name
        for end in self.stands_at:
            if not isinstance(end, str):
                raise PortError(f"{type(self).__name__}: {end!r} is no name; write {self.written}")
        if not isinstance(name, str):
            owner = f"{type(self).__name__} at {'-'.join(self.stands_at)}"
            raise InputError(f"the name of the {owner} is {name!r}; it must be a word")
        in_si(self)


@dataclass(frozen=True)
class Between(NamedRecipe):
    """Base class of joints and elements between two ports, "body.port" or "ground"; `at` is the point on the ground (m)."""

    first: str
    second: str
    at: Vector = field(default=(0.0, 0.0, 0.0), kw_only=True, metadata=describe("where it is on the ground", "length"))
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_origin(self.at):
            finite(f"at of {self.label}", self.at, (3,))
        if self.first == GROUND and self.second == GROUND:
            raise JointError(f"{type(self).__name__} joins the ground to itself; write 'body.port' for one of its ends")
        if GROUND not in (self.first, self.second) and not is_origin(self.at) and np.any(np.asarray(self.at)):
            raise JointError(f"{self.label} has at={tuple(self.at)}, but no port on the ground; leave at out")

    @property
    def not_numbers(self) -> tuple[str, ...]:
        """Fields that are not parameters: the range of a function, and `at` if no end is on the ground."""
        return ("over",) if GROUND in self.stands_at else ("over", "at")

    def triads(self) -> tuple[np.ndarray, np.ndarray]:
        """The triads (3 × 3, columns) in the frames of the first and the second port; they coincide at joint coordinate zero."""
        return np.eye(3), np.eye(3)


def is_origin(vector: object) -> bool:
    """Whether a vector is the default (0, 0, 0), which needs no check."""
    return isinstance(vector, tuple) and vector == (0.0, 0.0, 0.0)


def unit(label: str, vector: Vector) -> np.ndarray:
    """`vector` scaled to length 1. Raises InputError if it is zero."""
    array = finite(label, vector, (3,))
    size = float(np.linalg.norm(array))
    if size == 0.0:
        raise InputError(f"{label} is zero; it must point somewhere")
    return array / size


def six_not_negative(label: str, numbers: Sequence[float]) -> None:
    """Raises InputError unless there are six numbers, along and about three axes, none of them negative."""
    if (smallest := float(finite(label, numbers, (6,)).min())) < 0.0:
        raise InputError(f"{label} holds {smallest:g}; it must not be negative")
