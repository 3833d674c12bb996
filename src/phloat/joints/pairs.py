"""Lower pairs: which rows a joint closes and which motion it leaves free as a port of its own name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from phloat.algebra.cross import rotation, triad
from phloat.errors import InputError, JointError, PortError, finite
from phloat.joints.rows import Aligned, Along, Coincide, InPlane, Perpendicular, Row, Spin, Turn

Vector = Sequence[float]
GROUND = "ground"


@dataclass(frozen=True)
class Joint:
    """Between two ports, "body.port" or "ground". Its motion is that of the second port seen from the first.

    `at` is where the joint sits on the ground; `turned` the rotation vector from the first port's frame to the second's at
    zero joint coordinate. Directions of a joint are given in the first port's frame.
    """

    first: str
    second: str
    at: Vector = field(default=(0.0, 0.0, 0.0), kw_only=True)
    turned: Vector = field(default=(0.0, 0.0, 0.0), kw_only=True)
    name: str = field(default="", kw_only=True)

    closed: ClassVar[tuple[Row, ...]] = ()
    free: ClassVar[tuple[Row, ...]] = ()
    planar_axis: ClassVar[str] = "any"  # where the direction must point in a plane: "up", "flat" or "any"

    def __post_init__(self) -> None:
        for port in (self.first, self.second):
            if not isinstance(port, str):
                raise PortError(f"{type(self).__name__}: {port!r} names no port; write 'body.port' or 'ground'")
        if not isinstance(self.name, str):
            raise InputError(f"the name of {self.first}-{self.second} is {self.name!r}; it must be a word")
        finite(f"at of {self.label}", self.at, (3,))
        finite(f"turned of {self.label}", self.turned, (3,))
        if self.first == GROUND and self.second == GROUND:
            raise JointError(f"{type(self).__name__} joins the ground to itself")
        if GROUND not in (self.first, self.second) and np.any(np.asarray(self.at)):
            raise JointError(f"{self.label} has at={tuple(self.at)}, but neither of its ports is the ground")
        self.direction()

    @property
    def label(self) -> str:
        """Its name, or its ports if it has none."""
        return self.name or f"{self.first}-{self.second}"

    def direction(self) -> np.ndarray:
        """The unit vector that becomes the third direction of the joint triads."""
        return np.array([0.0, 0.0, 1.0])

    def triads(self) -> tuple[np.ndarray, np.ndarray]:
        """The joint triads in the first and in the second port's frame: one and the same at zero joint coordinate."""
        U = triad(self.direction())
        return U, rotation(np.asarray(self.turned, dtype=float)).T @ U


@dataclass(frozen=True)
class Weld(Joint):
    """Everything closed."""

    closed: ClassVar[tuple[Row, ...]] = (Coincide(), Aligned())


@dataclass(frozen=True)
class Spherical(Joint):
    """The points coincide; three rotations are free."""

    closed: ClassVar[tuple[Row, ...]] = (Coincide(),)
    free: ClassVar[tuple[Row, ...]] = (Spin(),)


@dataclass(frozen=True)
class Revolute(Joint):
    """The points coincide and turn about a common axis."""

    axis: Vector = field(default=(0.0, 0.0, 1.0), kw_only=True)
    closed: ClassVar[tuple[Row, ...]] = (Coincide(), Perpendicular(0, 2), Perpendicular(1, 2))
    free: ClassVar[tuple[Row, ...]] = (Turn(),)
    planar_axis: ClassVar[str] = "up"

    def direction(self) -> np.ndarray:
        return _unit(f"axis of {self.label}", self.axis)


@dataclass(frozen=True)
class Prismatic(Joint):
    """Orientations agree; the second slides along an axis of the first."""

    axis: Vector = field(default=(0.0, 0.0, 1.0), kw_only=True)
    closed: ClassVar[tuple[Row, ...]] = (Aligned(), InPlane(0), InPlane(1))
    free: ClassVar[tuple[Row, ...]] = (Along(),)
    planar_axis: ClassVar[str] = "flat"

    def direction(self) -> np.ndarray:
        return _unit(f"axis of {self.label}", self.axis)


@dataclass(frozen=True)
class Slide(Joint):
    """A point of the second on a line of the first; how the second turns is left alone."""

    along: Vector = field(default=(1.0, 0.0, 0.0), kw_only=True)
    closed: ClassVar[tuple[Row, ...]] = (InPlane(0), InPlane(1))
    free: ClassVar[tuple[Row, ...]] = (Along(),)
    planar_axis: ClassVar[str] = "flat"

    def direction(self) -> np.ndarray:
        return _unit(f"line of {self.label}", self.along)


@dataclass(frozen=True)
class Drive(Joint):
    """Prescribes how a point ("translation") or a frame ("pose") of a body moves: its velocities are an input.

    The input is v, or (v, ω), in inertial axes; the output is the force, or wrench, that it takes.
    """

    of: str = field(default="translation", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.of not in ("translation", "pose"):
            raise InputError(f"Drive of={self.of!r}; it must be 'translation' or 'pose'")
        if GROUND not in (self.first, self.second):
            raise JointError(f"{self.label} must start from the ground; to drive a joint between bodies use drive(…)")


def driven_rows(joint: Drive) -> tuple[Row, ...]:
    """What a drive prescribes."""
    return (Coincide(),) if joint.of == "translation" else (Coincide(), Aligned())


def _unit(what: str, vector: Vector) -> np.ndarray:
    array = finite(what, vector, (3,))
    size = float(np.linalg.norm(array))
    if size == 0.0:
        raise InputError(f"{what} is zero; it must point somewhere")
    return array / size
