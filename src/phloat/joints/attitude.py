"""The attitude of a ball joint, for states that are asked to have it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from phloat.algebra.cross import orthonormality_defect
from phloat.errors import InputError, finite
from phloat.joints.rows import Held, Pair, RotationVector


@dataclass(frozen=True, eq=False)
class Attitude:
    """The rotation vector from D_A R, where the triad of B is wanted, to D_B, where it is."""

    R: np.ndarray

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"attitude {axis}" for axis in "xyz")

    def gap(self, A: Held, B: Held) -> np.ndarray:
        wanted = replace(A, triad=A.triad @ self.R)
        return np.concatenate([RotationVector(i).gap(wanted, B) for i in range(3)])

    def rate(self, A: Held, B: Held) -> Pair:
        wanted = replace(A, triad=A.triad @ self.R)
        rates = [RotationVector(i).rate(wanted, B) for i in range(3)]
        return np.vstack([on_A for on_A, _ in rates]), np.vstack([on_B for _, on_B in rates])


def attitude(name: str, given: object) -> Attitude:
    """From a 3 × 3 rotation; raises InputError where it is none."""
    R = finite(name, given, (3, 3))
    if (defect := orthonormality_defect(R)) > 1e-9:
        raise InputError(f"{name} is no rotation: AᵀA misses the identity by {defect:.1e}")
    return Attitude(R)
