"""Ties of boundaries of bodies on meshes to each other, to ports of other bodies and to the ground."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from phloat.algebra.metadata import describe
from phloat.errors import InputError, JointError, unknown
from phloat.joints.ends import NamedRecipe, six_not_negative

MOTIONS = ("u_x", "u_y", "u_z", "theta_x", "theta_y", "theta_z")
OTHER_NAMES = {"w": "u_z"}


@dataclass(frozen=True)
class Tie(NamedRecipe):
    """Ties a boundary of a body on a mesh to another boundary, to a port of a body, or to the "ground", for small motions.

    v = v_P + ω × (x − x_P) on the boundary, in all its motions or in those named by `of`: "u_x", "u_y", "w" (or "u_z"), "theta_x" …
    The multipliers act on the second end, their reactions on the first. The axes of the two are parallel, and the port (or the
    other boundary) lies at the centre of the boundary.

    With `stiffness` or `damping` the tie is elastic or damped: six numbers, along and about the axes (N/m, N m/rad; N s/m,
    N m s/rad), between ports as in a bushing, on a boundary the total, distributed evenly. Motions with neither are free.
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

    written: ClassVar[str] = "'body.boundary', 'body.port' or 'ground'"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.first == self.second:
            raise JointError(f"Tie joins {self.first!r} to itself; name two ends")
        for option, numbers in (("stiffness", self.stiffness), ("damping", self.damping)):
            if numbers is not None:
                six_not_negative(f"{option} of {self.label}", numbers)
        if self.soft and self.of is not None:
            raise InputError(
                f"of={self.of!r} of {self.label}: stiffness and damping say which motions are tied; leave of out"
            )
        if not self.motions:
            raise InputError(f"stiffness and damping of {self.label} are all zero; it would do nothing")

    @property
    def soft(self) -> bool:
        """Whether the tie is elastic or damped."""
        return self.stiffness is not None or self.damping is not None

    @property
    def motions(self) -> tuple[int, ...]:
        """Indices of the tied motions in (u_x, u_y, u_z, θ_x, θ_y, θ_z)."""
        if self.soft:
            acting = [
                np.asarray(values, dtype=float) for values in (self.stiffness, self.damping) if values is not None
            ]
            return tuple(np.flatnonzero(np.sum(acting, axis=0)).tolist())
        if self.of is None:
            return tuple(range(6))
        names = (self.of,) if isinstance(self.of, str) else self.of
        if not isinstance(names, Sequence) or not names:
            raise InputError(f"of={self.of!r} of {self.label}; it must name motions: 'w', ('u_x', 'u_y') …")
        for motion in names:
            if not isinstance(motion, str) or OTHER_NAMES.get(motion, motion) not in MOTIONS:
                raise InputError(unknown(f"motion of {self.label}", motion, ("w", *MOTIONS)))
        return tuple(sorted({MOTIONS.index(OTHER_NAMES.get(motion, motion)) for motion in names}))
