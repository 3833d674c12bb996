"""The rows that joints and force elements are made of, and the attitude of a ball joint; see `joints.rows` for what a row is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from phloat.algebra.cross import orthonormality_defect
from phloat.errors import InputError, finite
from phloat.joints.port_state import PortState
from phloat.joints.rows import FIRST, INERTIAL, SECOND, SEPARATION, Pair, Row, Term, row_gaps, row_rates

SMALL_TURN, HALF_TURN = 0.5, 3.0  # rad: limits of rotation for rows of small rotations and of rotation vectors


@cache
def coincide() -> tuple[Row, ...]:
    """c · e_i = 0: the two points coincide."""
    return tuple(Row(f"coincide {'xyz'[i]}", ((1.0, SEPARATION, INERTIAL + i),)) for i in range(3))


def perpendicular(i: int, j: int) -> Row:
    """d_Ai · d_Bj: direction i of A and direction j of B are perpendicular."""
    return Row(f"perpendicular {'xyz'[i]}{'xyz'[j]}", ((1.0, FIRST + i, SECOND + j),))


def in_plane(i: int) -> Row:
    """d_Ai · c: B stays in the plane through A that is normal to direction i of A."""
    return Row(f"in plane {'xyz'[i]}", ((1.0, FIRST + i, SEPARATION),))


@cache
def aligned() -> tuple[Row, ...]:
    """½ (d_Ak · d_Bj − d_Aj · d_Bk): zero if the triads are parallel, also those of bent sections.

    The rows are invariant under a common rotation. (½ Σ d_Ai × d_Bi in inertial axes is not, so that a weld of bending ends would
    not conserve angular momentum.)
    """
    return tuple(Row(f"aligned {'xyz'[i]}", _skew_terms(i)) for i in range(3))


def small_rotation(i: int) -> Row:
    """½ (d_Ak · d_Bj − d_Aj · d_Bk), (i, j, k) cyclic: the small rotation of B relative to A about direction i of A."""
    return Row(f"skew {'xyz'[i]}", _skew_terms(i), turn_limit=SMALL_TURN)


def rotation_vector(i: int) -> Row:
    """Component i of the rotation vector of B relative to A, ϑ/sin ϑ · ½ (d_Ak · d_Bj − d_Aj · d_Bk), for ϑ < π."""
    trace = tuple((1.0, FIRST + k, SECOND + k) for k in range(3))
    return Row(f"rotation {'xyz'[i]}", _skew_terms(i), "rotation", trace, turn_limit=HALF_TURN)


def _skew_terms(i: int) -> tuple[Term, ...]:
    j, k = (i + 1) % 3, (i + 2) % 3
    return (0.5, FIRST + k, SECOND + j), (-0.5, FIRST + j, SECOND + k)


def distance() -> Row:
    """|c|, the distance of the two points."""
    return Row("distance", ((1.0, SEPARATION, SEPARATION),), "length")


def hinge(p: tuple[int, int] = (1, 0), q: tuple[int, int] = (0, 0), label: str = "angle") -> Row:
    """The angle ϑ between the triads, tan ϑ = (d_Ai · d_Bj) / (d_Ak · d_Bl) with p = (i, j), q = (k, l).

    By default it is the angle about the common third direction. Where p and q share a direction of B, it is the angle about
    a direction of A; where they share one of A, about one of B.
    """
    terms = tuple(((1.0, FIRST + i, SECOND + j),) for i, j in (p, q))
    return Row(label, terms[0], "angle", terms[1], coordinate=True)


def slide(i: int = 2, label: str = "slide") -> Row:
    """d_Ai · c: the displacement of B along a direction of A, by default the third."""
    return Row(label, in_plane(i).terms, coordinate=True)


@cache
def spins() -> tuple[Row, ...]:
    """d_Ai · (ω_B − ω_A): the angular velocity of B relative to A, in the joint triad of A."""
    return tuple(Row(f"spin {'xyz'[i]}", ((1.0, FIRST + i, 0),), "spin") for i in range(3))


def effort_row(function: str, direction: Sequence[float] | np.ndarray, axes: int) -> Row:
    """The row of a force ("velocity") or torque ("spin") on B along Σ direction_i a_i, a_i the `axes` INERTIAL, FIRST or SECOND."""
    return Row(function, tuple((float(x), axes + i, 0) for i, x in enumerate(direction)), function)


# --- the attitude of a ball joint ------------------------------------------------------------------------------------

ROTATION = tuple(rotation_vector(i) for i in range(3))


@dataclass(frozen=True, eq=False)
class Attitude:
    """The rotation vector from D_A R, the required triad of B, to D_B, its triad."""

    R: np.ndarray

    def gap(self, A: PortState, B: PortState) -> np.ndarray:
        return row_gaps(ROTATION, replace(A, triad=A.triad @ self.R), B)

    def rate(self, A: PortState, B: PortState) -> Pair:
        return row_rates(ROTATION, replace(A, triad=A.triad @ self.R), B)


def attitude(name: str, value: object) -> Attitude:
    """An attitude from a 3 × 3 rotation matrix. Raises InputError if it is not one."""
    R = finite(name, value, (3, 3))
    if (defect := orthonormality_defect(R)) > 1e-9:
        raise InputError(f"{name} is not a rotation: AᵀA differs from the identity by {defect:.1e}")
    return Attitude(R)
