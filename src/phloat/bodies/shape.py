"""Fields of a body at places of it, as matrices that multiply its coordinates and stresses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from phloat.algebra.sparse import Matrix, csr


class Shape(Protocol):
    """Fields of a body at places s, as matrices that multiply η or σ."""

    def places(self) -> np.ndarray:
        """Places to draw the body by, in order."""
        ...

    def points(self, s: np.ndarray) -> np.ndarray:
        """Undeformed points in body axes, (places, 3)."""
        ...

    def displacement(self, s: np.ndarray) -> Matrix:
        """u_f = Φ η at the places: rows (x, y, z) of each place in turn."""
        ...

    def rotation(self, s: np.ndarray) -> Matrix:
        """Rotation Ψ η of the sections, rows likewise."""
        ...

    def stress(self, s: np.ndarray) -> dict[str, Matrix]:
        """Each stress resultant at the places, per σ."""
        ...

    def material(self, x: np.ndarray) -> Matrix:
        """u_f of material points x (points, 3) in body axes, on the line of a beam or off it: rows (x, y, z) of each."""
        ...

    def cauchy(self, x: np.ndarray) -> Matrix:
        """Stress at material points per σ: rows (xx, yy, zz, yz, xz, xy) of each point in turn."""
        ...

    def stress_points(self) -> np.ndarray:
        """Material points at which the largest stress is searched, (points, 3)."""
        ...


class DerivedShape:
    """A shape whose coordinates and stresses are combinations of those of another one, `shape`."""

    shape: Shape

    def of_coordinates(self, rows: Matrix) -> Matrix:
        """Rows per coordinate of `shape`, per coordinate of this one."""
        raise NotImplementedError

    def of_stresses(self, rows: Matrix) -> Matrix:
        """Rows per stress of `shape`, per stress of this one."""
        raise NotImplementedError

    def places(self) -> np.ndarray:
        return self.shape.places()

    def points(self, s: np.ndarray) -> np.ndarray:
        return self.shape.points(s)

    def displacement(self, s: np.ndarray) -> Matrix:
        return self.of_coordinates(self.shape.displacement(s))

    def rotation(self, s: np.ndarray) -> Matrix:
        return self.of_coordinates(self.shape.rotation(s))

    def stress(self, s: np.ndarray) -> dict[str, Matrix]:
        return {name: self.of_stresses(rows) for name, rows in self.shape.stress(s).items()}

    def material(self, x: np.ndarray) -> Matrix:
        return self.of_coordinates(self.shape.material(x))

    def cauchy(self, x: np.ndarray) -> Matrix:
        return self.of_stresses(self.shape.cauchy(x))

    def stress_points(self) -> np.ndarray:
        return self.shape.stress_points()


@dataclass(frozen=True, eq=False)
class Selected(DerivedShape):
    """A shape with some of its coordinates and stresses only."""

    shape: Shape
    keep: np.ndarray
    strains: np.ndarray

    def of_coordinates(self, rows: Matrix) -> Matrix:
        return csr(rows[:, self.keep])

    def of_stresses(self, rows: Matrix) -> Matrix:
        return csr(rows[:, self.strains])

    def stress(self, s: np.ndarray) -> dict[str, Matrix]:
        return {name: rows for name, rows in super().stress(s).items() if rows.nnz}


@dataclass(frozen=True, eq=False)
class Combined(DerivedShape):
    """A shape whose coordinates and stresses are combinations: η = V_v η_r, σ = V_σ σ_r."""

    shape: Shape
    V_v: Matrix
    V_sigma: Matrix

    def of_coordinates(self, rows: Matrix) -> Matrix:
        return csr(rows @ self.V_v)

    def of_stresses(self, rows: Matrix) -> Matrix:
        return csr(rows @ self.V_sigma)
