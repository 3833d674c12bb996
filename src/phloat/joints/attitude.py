"""The attitude of a ball joint, for states that are asked to have it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from phloat.algebra.cross import orthonormality_defect
from phloat.errors import InputError, finite
from phloat.joints.port_state import PortState
from phloat.joints.rows import Pair, row_gaps, row_rates
from phloat.joints.standard_rows import rotation_vector

ROTATION = tuple(rotation_vector(i) for i in range(3))


@dataclass(frozen=True, eq=False)
class Attitude:
    """The rotation vector from D_A R, where the triad of B is wanted, to D_B, where it is."""

    R: np.ndarray

    def gap(self, A: PortState, B: PortState) -> np.ndarray:
        return row_gaps(ROTATION, replace(A, triad=A.triad @ self.R), B)

    def rate(self, A: PortState, B: PortState) -> Pair:
        return row_rates(ROTATION, replace(A, triad=A.triad @ self.R), B)


def attitude(name: str, given: object) -> Attitude:
    """An attitude from a 3 × 3 rotation; raises InputError if it is none."""
    R = finite(name, given, (3, 3))
    if (defect := orthonormality_defect(R)) > 1e-9:
        raise InputError(f"{name} is not a rotation: AᵀA differs from the identity by {defect:.1e}")
    return Attitude(R)
