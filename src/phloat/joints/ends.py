"""What joints, springs and dampers have in common: two ports that they stand between."""

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


@dataclass(frozen=True)
class Between:
    """Between two ports, "body.port" or "ground"; `at` is the place on the ground."""

    first: str
    second: str
    at: Vector = field(default=(0.0, 0.0, 0.0), kw_only=True, metadata=describe("where it is on the ground", "length"))
    name: str = field(default="", kw_only=True)

    suffix: ClassVar[str] = ""  # of its label, where it has no name

    def __post_init__(self) -> None:
        for port in (self.first, self.second):
            if not isinstance(port, str):
                raise PortError(f"{type(self).__name__}: {port!r} names no port; write 'body.port' or 'ground'")
        word(f"{self.first}-{self.second}", self.name)
        finite(f"at of {self.label}", self.at, (3,))
        if self.first == GROUND and self.second == GROUND:
            raise JointError(f"{type(self).__name__} joins the ground to itself")
        if GROUND not in (self.first, self.second) and np.any(np.asarray(self.at)):
            raise JointError(f"{self.label} has at={tuple(self.at)}, but neither of its ports is the ground")

    @property
    def label(self) -> str:
        """Its name, or its ports if it has none."""
        return self.name or f"{self.first}-{self.second}{self.suffix}"

    @property
    def not_numbers(self) -> tuple[str, ...]:
        """Fields that are no parameters: the range of a function, and the place on a ground that it does not touch."""
        return ("over",) if GROUND in (self.first, self.second) else ("over", "at")

    def triads(self) -> tuple[np.ndarray, np.ndarray]:
        """Its triads in the first and in the second port's frame: one and the same at zero."""
        return np.eye(3), np.eye(3)


def word(of: str, name: object) -> str:
    """`name`, or a sentence if it is no word."""
    if not isinstance(name, str):
        raise InputError(f"the name of {of} is {name!r}; it must be a word")
    return name


def unit(what: str, vector: Vector) -> np.ndarray:
    """`vector` with length 1, or a sentence if it points nowhere."""
    array = finite(what, vector, (3,))
    size = float(np.linalg.norm(array))
    if size == 0.0:
        raise InputError(f"{what} is zero; it must point somewhere")
    return array / size
