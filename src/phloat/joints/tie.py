"""Boundaries of bodies on meshes, tied to each other, to ports of other bodies and to the ground; and what pushes on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import TypeAlias

import numpy as np

from phloat.algebra.metadata import describe
from phloat.errors import InputError, JointError, PortError, finite, unknown
from phloat.joints.ends import GROUND, word

MOTIONS = ("u_x", "u_y", "u_z", "theta_x", "theta_y", "theta_z")
OTHER_NAMES = {"w": "u_z"}

Field: TypeAlias = float | Sequence[float] | Callable[..., object]


@dataclass(frozen=True)
class Tie:
    """A boundary of a body on a mesh moves as another one, as a port of a body, or not at all ("ground").

    v = v_P + ω × (x − x_P) on the boundary, in every motion it has or in those named by `of`: "u_x", "u_y", "w" (or "u_z"),
    "theta_x"… The multipliers act on the second and back on the first. Axes of the two are parallel, and the port (or the other
    boundary) lies at the centre of the boundary.

    With `stiffness` or `damping` it gives way: six numbers, along and about the axes (N/m, N m/rad; N s/m, N m s/rad), between
    ports as a bushing has them, on a boundary the total, spread evenly over it. Motions with neither are free.
    """

    first: str
    second: str
    of: str | Sequence[str] | None = field(
        default=None, kw_only=True, metadata=describe("which motions; all by default", choices=(*OTHER_NAMES, *MOTIONS))
    )
    stiffness: Sequence[float] | None = field(
        default=None,
        kw_only=True,
        metadata=describe("three along, three about; rigid by default", "stiffness", "torsional stiffness", size=6),
    )
    damping: Sequence[float] | None = field(
        default=None, kw_only=True, metadata=describe("likewise", "damping", "torsional damping", size=6)
    )
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        for end in (self.first, self.second):
            if not isinstance(end, str):
                raise PortError(f"Tie: {end!r} names nothing; write 'body.boundary', 'body.port' or 'ground'")
        word(f"{self.first}-{self.second}", self.name)
        if self.first == self.second:
            raise JointError(f"Tie joins {self.first!r} to itself")
        for what, given in (("stiffness", self.stiffness), ("damping", self.damping)):
            if given is not None and (least := float(finite(f"{what} of {self.label}", given, (6,)).min())) < 0.0:
                raise InputError(f"{what} of {self.label} holds {least:g}; it must not be negative")
        if self.soft and self.of is not None:
            raise InputError(
                f"of={self.of!r} of {self.label}: stiffness and damping say which motions are tied; leave of out"
            )
        if not self.motions:
            raise InputError(f"stiffness and damping of {self.label} are all zero; it would do nothing")

    @property
    def soft(self) -> bool:
        """Whether it gives way."""
        return self.stiffness is not None or self.damping is not None

    @property
    def label(self) -> str:
        """Its name, or its ends if it has none."""
        return self.name or f"{self.first}-{self.second}"

    @property
    def motions(self) -> tuple[int, ...]:
        """Numbers of the motions to tie, of (u_x u_y u_z θ_x θ_y θ_z)."""
        if self.soft:
            acting = [np.asarray(given, dtype=float) for given in (self.stiffness, self.damping) if given is not None]
            return tuple(np.flatnonzero(np.sum(acting, axis=0)).tolist())
        if self.of is None:
            return tuple(range(6))
        given = (self.of,) if isinstance(self.of, str) else self.of
        if not isinstance(given, Sequence) or not given:
            raise InputError(f"of={self.of!r} of {self.label}; it must name motions: 'w', ('u_x', 'u_y') …")
        for motion in given:
            if not isinstance(motion, str) or OTHER_NAMES.get(motion, motion) not in MOTIONS:
                raise InputError(unknown(f"motion of {self.label}", motion, ("w", *MOTIONS)))
        return tuple(sorted({MOTIONS.index(OTHER_NAMES.get(motion, motion)) for motion in given}))

    @property
    def grounded(self) -> bool:
        return GROUND in (self.first, self.second)


@dataclass(frozen=True)
class Pressure:
    """A force along z per area of a plate, one number as input that multiplies `per_area`.

    `per_area` is a number or a function of x and y, which are arrays.
    """

    body: str
    per_area: float | Callable[..., object] = field(
        default=1.0, metadata=describe("force along z per area for an input of 1")
    )
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        _named(self, self.body)
        if not callable(self.per_area):
            finite(f"per_area of {self.label}", self.per_area, ())

    @property
    def label(self) -> str:
        """Its name, or that of its body."""
        return self.name or f"{self.body}.pressure"

    def at(self, x: np.ndarray) -> np.ndarray:
        """Values at points (points, 3)."""
        return _values(f"per_area of {self.label}", self.per_area, x, 1)[:, 0]


@dataclass(frozen=True)
class Traction:
    """A force per area on a boundary of a solid, or per length on an edge, one number as input that multiplies `per_area`.

    `per_area` is a vector, or a function of x, y, z that returns its three components.
    """

    boundary: str
    per_area: Sequence[float] | Callable[..., object] = field(
        default=(0.0, 0.0, 1.0), metadata=describe("force per area for an input of 1")
    )
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        _named(self, self.boundary)
        if not callable(self.per_area):
            finite(f"per_area of {self.label}", self.per_area, (3,))

    @property
    def label(self) -> str:
        """Its name, or that of its boundary."""
        return self.name or f"{self.boundary}.traction"

    def at(self, x: np.ndarray) -> np.ndarray:
        """Values at points, (points, 3)."""
        return _values(f"per_area of {self.label}", self.per_area, x, 3)


Pushing: TypeAlias = Pressure | Traction


def _named(recipe: Pushing, on: object) -> None:
    if not isinstance(on, str):
        raise PortError(f"{type(recipe).__name__}: {on!r} names nothing; write 'body' or 'body.boundary'")
    word(f"the {type(recipe).__name__} on {on}", recipe.name)


def _values(what: str, given: Field, x: np.ndarray, components: int) -> np.ndarray:
    """A number, a vector or a function at points, (points, components)."""
    if not callable(given):
        return np.tile(np.asarray(given, dtype=float).reshape(1, components), (len(x), 1))
    value = given(*(x.T if _takes_three(given) else x.T[:2]))
    rows = np.atleast_1d(np.asarray(value, dtype=object) if isinstance(value, (list, tuple)) else np.asarray(value))
    spread = np.zeros((components, len(x)))
    try:
        spread[:] = np.array([np.broadcast_to(row, len(x)) for row in rows], dtype=float) if components > 1 else rows
    except (ValueError, TypeError):
        raise InputError(
            f"{what} gives {value!r} at {len(x)} points; it must give {components} number(s) a point"
        ) from None
    return finite(what, spread.T, (len(x), components))


def _takes_three(function: Callable[..., object]) -> bool:
    try:
        signature(function).bind(0.0, 0.0, 0.0)
    except TypeError:  # a function of the plane
        return False
    except ValueError:  # a function that does not say: most of NumPy's
        return True
    return True
