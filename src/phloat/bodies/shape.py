"""Fields of a body at places of it, as matrices that multiply its coordinates and stresses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from phloat.algebra.sparse import Matrix, csr


class Shape(Protocol):
    """Fields of a body at places s, as matrices that multiply η or σ."""

    def places(self) -> np.ndarray:
        """Places to draw the body by, in order."""

    def points(self, s: np.ndarray) -> np.ndarray:
        """Undeformed points in body axes, (places, 3); places are points unless a shape says otherwise."""
        return s

    def displacement(self, s: np.ndarray) -> Matrix:
        """u_f = Φ η at the places: rows (x, y, z) of each place in turn."""

    def rotation(self, s: np.ndarray) -> Matrix:
        """Rotation Ψ η of the sections, rows likewise."""

    def stress(self, s: np.ndarray) -> dict[str, Matrix]:
        """Each stress resultant at the places, per σ."""
        return {}

    def material(self, x: np.ndarray) -> Matrix:
        """u_f of material points x (points, 3) in body axes, on the line of a beam or off it: rows (x, y, z) of each."""
        return self.displacement(x)

    def cauchy(self, x: np.ndarray) -> Matrix:
        """Stress at material points per σ: rows (xx, yy, zz, yz, xz, xy) of each point in turn."""

    def stress_points(self) -> np.ndarray:
        """Material points at which the largest stress is searched, (points, 3)."""


def in_turn(rows: Sequence[Matrix | np.ndarray]) -> Matrix:
    """Rows (x, y, z), or components of stress, of each place in turn, from one matrix for each component."""
    count = rows[0].shape[0]
    order = np.arange(len(rows) * count).reshape(len(rows), count).T.ravel()
    return csr(csr(sp.vstack([csr(row) for row in rows]))[order])


class DerivedShape(Shape):
    """A shape whose coordinates and stresses are combinations of those of another one: η = V_v η_r, σ = V_σ σ_r.

    Without V_σ the stresses are the same.
    """

    shape: Shape
    V_v: Matrix | np.ndarray
    V_sigma: Matrix | np.ndarray | None

    def places(self) -> np.ndarray:
        return self.shape.places()

    def points(self, s: np.ndarray) -> np.ndarray:
        return self.shape.points(s)

    def displacement(self, s: np.ndarray) -> Matrix:
        return csr(self.shape.displacement(s) @ self.V_v)

    def rotation(self, s: np.ndarray) -> Matrix:
        return csr(self.shape.rotation(s) @ self.V_v)

    def stress(self, s: np.ndarray) -> dict[str, Matrix]:
        return {name: self._of_stresses(rows) for name, rows in self.shape.stress(s).items()}

    def material(self, x: np.ndarray) -> Matrix:
        return csr(self.shape.material(x) @ self.V_v)

    def cauchy(self, x: np.ndarray) -> Matrix:
        return self._of_stresses(self.shape.cauchy(x))

    def stress_points(self) -> np.ndarray:
        return self.shape.stress_points()

    def _of_stresses(self, rows: Matrix) -> Matrix:
        return rows if self.V_sigma is None else csr(rows @ self.V_sigma)


@dataclass(frozen=True, eq=False)
class Combined(DerivedShape):
    """Combinations given by their matrices."""

    shape: Shape
    V_v: Matrix
    V_sigma: Matrix | None = None


@dataclass(frozen=True, eq=False)
class Selected(DerivedShape):
    """A shape with some of its coordinates and stresses only, by masks; without `strains` with all its stresses."""

    shape: Shape
    keep: np.ndarray
    strains: np.ndarray | None = None

    @cached_property
    def V_v(self) -> Matrix:  # type: ignore[override]
        return selection(self.keep)

    @cached_property
    def V_sigma(self) -> Matrix | None:  # type: ignore[override]
        return None if self.strains is None else selection(self.strains)

    def stress(self, s: np.ndarray) -> dict[str, Matrix]:
        found = super().stress(s)
        return found if self.strains is None else {name: rows for name, rows in found.items() if rows.nnz}


def rigid_motions(x: np.ndarray) -> np.ndarray:
    """[I, −[x]]: the motion of points x (points, 3) per (v, ω) about the origin, (points, 3, 6)."""
    out = np.zeros((len(x), 3, 6))
    out[:, :, :3] = np.eye(3)
    out[:, :, 3:] = np.cross(np.eye(3), x[:, None]).transpose(0, 2, 1)  # ω × x
    return out


def selection(chosen: np.ndarray) -> Matrix:
    """Columns of the identity, by a mask."""
    return csr(sp.eye_array(len(chosen), format="csc")[:, chosen])
