"""Fields of plates as matrices that multiply the coordinates: u_x and u_y (where there is a membrane), w, and rotations.

Kirchhoff: u = u_m − z ∇w, so that the rotation is (w_y, −w_x, ½ curl u). Curvatures are κ = (−w_xx, −w_yy, −2 w_xy).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from phloat.algebra.sparse import Matrix, csr, zero_matrix
from phloat.errors import InputError
from phloat.fem.plate_cells import ALIGNED, PlateCells, Points
from phloat.fem.plate_space import (
    Space,
    argyris_space,
    bfs_space,
    lagrange_space,
    morley_space,
    vanishing_unknowns,
    vertex_frames,
)

Three = tuple[Matrix, Matrix, Matrix]

# points of the rules (see PlateCells.quadrature) for mass, membrane, bending, shear
RULES = {"bfs": (4, 4, 3), "argyris": (6, 3, 4), "morley": (3, 2, 1), "hhj": (3, 0, 0), "mitc": (4, 2, 3, 3)}
MEMBRANE = {"bfs": 3, "argyris": 3, "morley": 2, "mitc": 2}  # degree of u_x and u_y


@dataclass(frozen=True, eq=False)
class Membrane:
    """u_x and u_y in one scalar space, unknowns of u_x first; nothing at all when the space is None."""

    space: Space | None

    @property
    def size(self) -> int:
        return 0 if self.space is None else 2 * self.space.size

    @property
    def kinds(self) -> np.ndarray:
        return np.array(
            [] if self.space is None else ["u_x"] * self.space.size + ["u_y"] * self.space.size, dtype="<U8"
        )

    def of(self, component: int, points: Points, derivative: tuple[int, int], columns: int) -> Matrix:
        """A component or one of its derivatives, points × columns."""
        if self.space is None:
            return zero_matrix(len(points.cell), columns)
        return pad_columns(self.space.at(points, derivative), component * self.space.size, columns)

    def strains(self, points: Points, columns: int) -> list[Matrix]:
        """ε_xx, ε_yy, γ_xy."""
        u_x, u_y = ([self.of(c, points, d, columns) for d in ((1, 0), (0, 1))] for c in (0, 1))
        return [u_x[0], u_y[1], csr(u_x[1] + u_y[0])]

    def turn(self, points: Points, columns: int) -> Matrix:
        """Rotation about z, ½ (u_y,x − u_x,y)."""
        return csr(0.5 * (self.of(1, points, (1, 0), columns) - self.of(0, points, (0, 1), columns)))

    def rigid(self) -> np.ndarray:
        """Columns of translations x, y and of the rotation about z, in the six of the body."""
        out = np.zeros((self.size, 6))
        if self.space is not None:
            n = self.space.size
            out[:n, 0], out[n:, 1] = self.space.linear(1, 0, 0), self.space.linear(1, 0, 0)
            out[:n, 5], out[n:, 5] = self.space.linear(0, 0, -1), self.space.linear(0, 1, 0)
        return out

    def stretched(self, G: np.ndarray, rest: int) -> np.ndarray:
        """The unknowns of u = G x in the plane, and zeros for the rest."""
        if self.space is None:
            return np.zeros(rest)
        return np.concatenate([*(self.space.linear(0, *G[a, :2]) for a in (0, 1)), np.zeros(rest)])

    def held(self, edges: np.ndarray, first: np.ndarray, how: str) -> np.ndarray:
        """Clamped: both; symmetric: the component across; supported: none."""
        if self.space is None or how == "supported" or not len(edges):
            return np.zeros(0, dtype=int)
        zero = vanishing_unknowns(self.space, edges, first, value=True, slope=False)
        if how == "clamped":
            return np.concatenate([zero, zero + self.space.size])
        out = []
        for edge in edges:
            across = np.abs(self.space.cells.normals[edge])
            if across.min() > ALIGNED:
                raise InputError("a plane of symmetry must be along x or y where the plate has a membrane")
            on = vanishing_unknowns(self.space, np.array([edge]), first, value=True, slope=False)
            out.append(on + int(across.argmax()) * self.space.size)
        return np.concatenate(out)

    def along(self, edges: np.ndarray, axes: object) -> np.ndarray:
        """The unknowns of u_x and u_y on edges that are held along axes of the plane."""
        assert self.space is not None
        if not isinstance(axes, str) or not axes or set(axes) - set("xy"):
            raise InputError(f"held is {axes!r} on a side of a plate; it must be 'x', 'y' or 'xy'")
        zero = vanishing_unknowns(self.space, edges, edges, value=True, slope=False)
        return np.concatenate([zero + "xy".index(a) * self.space.size for a in sorted(set(axes))])


def pad_columns(a: Matrix, first: int, columns: int) -> Matrix:
    """The matrix with zero columns before and behind."""
    return csr(sp.hstack([zero_matrix(a.shape[0], first), a, zero_matrix(a.shape[0], columns - first - a.shape[1])]))


@dataclass(frozen=True, eq=False)
class PlateFields:
    """Coordinates of a plate: u_x and u_y where there is a membrane, then w, then those of a theory."""

    cells: PlateCells
    elements: str
    membrane_too: bool
    first: np.ndarray  # edges that corners are turned along
    hard: bool = True  # whether supports keep Mindlin's sections from turning along them

    @cached_property
    def w(self) -> Space:
        if self.elements == "bfs":
            return bfs_space(self.cells)
        if self.elements == "morley":
            return morley_space(self.cells)
        if self.elements == "argyris":
            return argyris_space(self.cells, vertex_frames(self.cells, self.first))
        return lagrange_space(self.cells, 2, "w")  # slopes are left to the moments, or to rotations

    @cached_property
    def membrane(self) -> Membrane:
        return Membrane(lagrange_space(self.cells, MEMBRANE[self.elements], "u") if self.membrane_too else None)

    @property
    def size(self) -> int:
        return self.membrane.size + self.w.size

    @property
    def kinds(self) -> np.ndarray:
        return np.concatenate([self.membrane.kinds, self.w.kinds])

    @property
    def rules(self) -> dict[str, int]:
        rules = dict(zip(("mass", "N", "M", "Q"), RULES[self.elements], strict=False))
        return {name: rule for name, rule in rules.items() if name != "N" or self.membrane_too}

    @cached_property
    def rigid(self) -> np.ndarray:
        out = np.zeros((self.w.size, 6))
        out[:, 2], out[:, 3], out[:, 4] = self.w.linear(1, 0, 0), self.w.linear(0, 0, 1), self.w.linear(0, -1, 0)
        return np.vstack([self.membrane.rigid(), out])

    def of_w(self, points: Points, i: int = 0, j: int = 0) -> Matrix:
        """w or one of its derivatives, points × coordinates."""
        return pad_columns(self.w.at(points, (i, j)), self.membrane.size, self.size)

    def displacement(self, points: Points) -> Three:
        u_x, u_y = (self.membrane.of(c, points, (0, 0), self.size) for c in (0, 1))
        return u_x, u_y, self.of_w(points)

    def slopes(self, points: Points) -> tuple[Matrix, Matrix]:
        return self.of_w(points, 1, 0), self.of_w(points, 0, 1)

    def turn(self, points: Points) -> Three:
        w_x, w_y = self.slopes(points)
        return w_y, csr(-w_x), self.membrane.turn(points, self.size)

    def strains(self, name: str, points: Points) -> list[Matrix]:
        """The strains of a group of resultants: "N", "M" or "Q"."""
        if name == "N":
            return self.membrane.strains(points, self.size)
        return [csr(-f * self.of_w(points, i, j)) for f, i, j in ((1.0, 2, 0), (1.0, 0, 2), (2.0, 1, 1))]

    def held(self, edges: np.ndarray, how: str) -> np.ndarray:
        """Clamped: w and its slope; supported: w; symmetric: the slope."""
        value, slope = how != "symmetric", how != "supported"
        w = vanishing_unknowns(self.w, edges, self.first, value=value, slope=slope, curves=how == "supported")
        return np.concatenate([self.membrane.held(edges, self.first, how), self.membrane.size + w])

    def on(self, edges: np.ndarray) -> np.ndarray:
        """The coordinates that say how edges move; the second derivative across an edge is none of them: it is a moment."""
        return self.held(edges, "clamped")
