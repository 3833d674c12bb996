"""Fields of a body (displacement, rotation, stress) as matrices that multiply its coordinates and stresses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from phloat.algebra.sparse import Matrix, csr
from phloat.bodies.beams.section import Section


class Shape(Protocol):
    """Fields of a body at places s as matrices that multiply η or σ; by default a place is a point in body axes."""

    def places(self) -> np.ndarray:
        """The places by which the body is drawn, in order."""

    def points(self, s: np.ndarray) -> np.ndarray:
        """The undeformed points of places in body axes, (places, 3)."""
        return s

    def displacement(self, s: np.ndarray) -> Matrix:
        """Φ of the displacement u_f = Φ η: rows (x, y, z) of each place in turn."""

    def rotation(self, s: np.ndarray) -> Matrix:
        """Ψ of the rotation Ψ η of the sections: rows (x, y, z) of each place in turn."""

    def stress(self, s: np.ndarray) -> dict[str, Matrix]:
        """Stress resultants by name, each a matrix that multiplies σ, (places, stresses)."""
        return {}

    def material(self, x: np.ndarray) -> Matrix:
        """Φ of material points x (points, 3) in body axes, which may lie off the axis of a beam: rows (x, y, z) of each."""
        return self.displacement(x)

    def cauchy(self, x: np.ndarray) -> Matrix:
        """Cauchy stress at material points as a matrix that multiplies σ: rows (xx, yy, zz, yz, xz, xy) of each point in turn."""

    def stress_points(self) -> np.ndarray:
        """Material points among which the largest stress is searched, (points, 3)."""

    def cross_sections(self, x: np.ndarray) -> list[Section]:
        """The section of a beam at each of the points x (m) along its axis; an empty list for other bodies."""
        return []


PLACES, SETS = 1000, 16  # numbers of a set of places whose matrices are kept, and sets, at most


def kept(method: Callable[[Any, np.ndarray], Any]) -> Callable[[Any, np.ndarray], Any]:
    """A method of a shape whose matrices at few places are kept in its `memory`, which shapes with equal fields share."""

    @wraps(method)
    def evaluate(shape: Any, s: np.ndarray) -> Any:
        s = np.asarray(s, dtype=float)
        if s.size > PLACES:
            return method(shape, s)
        key = method.__name__, s.shape, s.tobytes()
        if key not in shape.memory:
            if len(shape.memory) >= SETS:
                shape.memory.clear()
            shape.memory[key] = method(shape, s)
        return shape.memory[key]

    return evaluate


def in_turn(rows: Sequence[Matrix | np.ndarray]) -> Matrix:
    """Interleaves the rows of one matrix for each component: all components of the first place, then of the second, …"""
    count = rows[0].shape[0]
    order = np.arange(len(rows) * count).reshape(len(rows), count).T.ravel()
    return csr(csr(sp.vstack([csr(row) for row in rows]))[order])


class DerivedShape(Shape):
    """A shape in other coordinates and stresses: η = V_v η_r, σ = V_σ σ_r. If V_σ is None the stresses are the same."""

    shape: Shape
    V_v: Matrix | np.ndarray
    V_sigma: Matrix | np.ndarray | None
    V_2: np.ndarray | None = None
    memory: dict[Any, Any]

    def places(self) -> np.ndarray:
        return self.shape.places()

    def points(self, s: np.ndarray) -> np.ndarray:
        return self.shape.points(s)

    @kept
    def displacement(self, s: np.ndarray) -> Matrix:
        return csr(self.shape.displacement(s) @ self.V_v)

    @kept
    def rotation(self, s: np.ndarray) -> Matrix:
        return csr(self.shape.rotation(s) @ self.V_v)

    @kept
    def stress(self, s: np.ndarray) -> dict[str, Matrix]:
        return {name: self._of_stresses(rows) for name, rows in self.shape.stress(s).items()}

    def material(self, x: np.ndarray) -> Matrix:
        return csr(self.shape.material(x) @ self.V_v)

    def cauchy(self, x: np.ndarray) -> Matrix:
        return self._of_stresses(self.shape.cauchy(x))

    def stress_points(self) -> np.ndarray:
        return self.shape.stress_points()

    def cross_sections(self, x: np.ndarray) -> list[Section]:
        return self.shape.cross_sections(x)

    def _of_stresses(self, rows: Matrix) -> Matrix:
        return rows if self.V_sigma is None else csr(rows @ self.V_sigma)


@dataclass(frozen=True, eq=False)
class Combined(DerivedShape):
    """A shape in the reduced coordinates and stresses of given matrices, η = V_v η_r + ½ η_rV_2η_r."""

    shape: Shape
    V_v: Matrix
    V_sigma: Matrix | None = None
    V_2: np.ndarray | None = None
    memory: dict[Any, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, eq=False)
class Selected(DerivedShape):
    """A shape with only the coordinates and stresses of two masks; if `strains` is None all stresses remain."""

    shape: Shape
    keep: np.ndarray
    strains: np.ndarray | None = None
    memory: dict[Any, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def V_v(self) -> Matrix:  # type: ignore[override]
        return selection(self.keep)

    @cached_property
    def V_sigma(self) -> Matrix | None:  # type: ignore[override]
        return None if self.strains is None else selection(self.strains)

    def stress(self, s: np.ndarray) -> dict[str, Matrix]:
        resultants = super().stress(s)
        return resultants if self.strains is None else {name: rows for name, rows in resultants.items() if rows.nnz}


def displacements(shape: Shape, s: np.ndarray, eta: np.ndarray, *, material: bool = False) -> np.ndarray:
    """u_f at places s, or at material points, for coordinates η (…, n): (x, y, z) of each place in turn."""
    rows, second = (shape.material(s) if material else shape.displacement(s)), second_displacement(shape, s, material)
    linear = np.asarray(eta @ rows.T.toarray())
    return linear if second is None else linear + 0.5 * _twice(second, eta, eta)


def displacement_rates(
    shape: Shape, s: np.ndarray, eta: np.ndarray, rates: np.ndarray, *, material: bool = False
) -> np.ndarray:
    """v_f = ∂u_f/∂η η̇ at places s, or at material points, for coordinates and rates (…, n)."""
    rows, second = (shape.material(s) if material else shape.displacement(s)), second_displacement(shape, s, material)
    linear = np.asarray(rates @ rows.T.toarray())
    return linear if second is None else linear + _twice(second, eta, rates)


def second_displacement(shape: Shape, s: np.ndarray, material: bool = False) -> np.ndarray | None:
    """Φ₂ of the displacement Φη + ½ ηΦ₂η at places s, or at material points, (3 places, n, n); None if it is linear."""
    if not isinstance(shape, DerivedShape):
        return None
    inner, V, V_2 = second_displacement(shape.shape, s, material), csr(shape.V_v).toarray(), shape.V_2
    out = None if inner is None else V.T @ inner @ V
    if V_2 is not None:  # the inner shape is then linear
        out = np.tensordot((shape.shape.material(s) if material else shape.shape.displacement(s)).toarray(), V_2, 1)
    return out


def _twice(second: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Φ₂ab for a and b (…, n)."""
    return np.asarray(np.einsum("...k,...k->...", np.tensordot(a, second, (-1, 2)), b[..., None, :]))


def rigid_motions(x: np.ndarray) -> np.ndarray:
    """[I, −[x]]: the velocities of points x (points, 3) from the twist (v, ω) of the origin, (points, 3, 6)."""
    out = np.zeros((len(x), 3, 6))
    out[:, :, :3] = np.eye(3)
    out[:, :, 3:] = np.cross(np.eye(3), x[:, None]).transpose(0, 2, 1)  # ω × x
    return out


def selection(chosen: np.ndarray) -> Matrix:
    """The columns of the identity chosen by a mask."""
    return csr(sp.eye_array(len(chosen), format="csc")[:, chosen])
