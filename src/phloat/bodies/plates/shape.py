"""Motion and stress resultants of plates at points of theirs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from phloat.algebra.sparse import Matrix, csr, weighted
from phloat.bodies.plates.fields import PlateFields
from phloat.bodies.plates.laminate import PlateSection
from phloat.bodies.shape import Shape, in_turn
from phloat.errors import InputError
from phloat.fem.plate_cells import PlateCells, Points, plate_rule

RESULTANTS = ("N_xx", "N_yy", "N_xy", "M_xx", "M_yy", "M_xy", "Q_x", "Q_y")
ABOVE = 1e-6  # of the thickness: how far a point may lie off the faces


@dataclass(frozen=True, eq=False)
class PlateShape(Shape):
    """Places are points (x, y, z) in body axes; z is the height above the middle plane, at most half the thickness there."""

    fields: PlateFields
    nodes: np.ndarray
    section: PlateSection
    resultants: Callable[[Points], dict[str, Matrix]]
    rule: int  # points where the stress is looked for

    def places(self) -> np.ndarray:
        return self.nodes

    def points(self, s: np.ndarray) -> np.ndarray:
        return s

    def displacement(self, s: np.ndarray) -> Matrix:
        """u_m + θ × z e_z."""
        at, z = self._at(s)
        u_x, u_y, w = self.fields.displacement(at)
        if z.any():
            turn = self.fields.turn(at)
            u_x, u_y = csr(u_x + weighted(turn[1], z)), csr(u_y - weighted(turn[0], z))
        return in_turn([u_x, u_y, w])

    def rotation(self, s: np.ndarray) -> Matrix:
        return in_turn(self.fields.turn(self._at(s)[0]))

    def stress(self, s: np.ndarray) -> dict[str, Matrix]:
        """N_xx … Q_y, per length of section."""
        return self.resultants(self._at(s)[0])

    def cauchy(self, x: np.ndarray) -> Matrix:
        """Stresses from the resultants at the heights of the points."""
        at, z = self._at(x)
        found, share = self.resultants(at), self.section.fibres(at.x, z)
        rows = []
        for component in range(6):
            terms = [
                weighted(found[name], share[:, component, k]) for k, name in enumerate(RESULTANTS) if name in found
            ]
            rows.append(csr(sum(terms[1:], terms[0])))
        return in_turn(rows)

    def stress_points(self) -> np.ndarray:
        """Both faces over the points of the moments."""
        return self._faces[1]

    @cached_property
    def _faces(self) -> tuple[Points, np.ndarray]:
        points = self.fields.cells.quadrature(self.rule)
        half = 0.5 * self.section.height(points.x)
        both = Points(*(np.concatenate([part, part]) for part in points))
        return both, np.column_stack([both.x, np.concatenate([-half, half])])

    def _at(self, s: np.ndarray) -> tuple[Points, np.ndarray]:
        if s is self.nodes:
            return self._nodes, s[:, 2]
        if "_faces" in self.__dict__ and s is self._faces[1]:
            return self._faces[0], s[:, 2]
        s = np.asarray(s, dtype=float)
        if s.ndim != 2 or s.shape[1] != 3 or not np.isfinite(s).all():
            raise InputError(f"places of a plate are points, (places, 3); they are {s!r}")
        h = self.section.height(s[:, :2])
        if (np.abs(s[:, 2]) > (0.5 + ABOVE) * h).any():
            i = int((np.abs(s[:, 2]) - 0.5 * h).argmax())
            raise InputError(f"the point z = {s[i, 2]:g} lies off the plate, whose faces are at ±{h[i] / 2:g} there")
        return self.fields.cells.find(s[:, :2]), s[:, 2]

    @cached_property
    def _nodes(self) -> Points:
        return self.fields.cells.find(
            self.nodes[:, :2], beyond=np.inf
        )  # middles of curved sides are outside straight cells


def fit_in_cells(cells: PlateCells, points: int, at: Points) -> Matrix:
    """Values at points in cells from those at the points of a rule: the polynomial through them, or the least-squares fit."""
    xi, _ = plate_rule(cells.kind, points)
    each = len(xi)
    if cells.kind == "triangle":
        degree = {1: 0, 3: 1, 6: 2, 12: 3}[each]
        exponents = [(i, j) for i in range(degree + 1) for j in range(degree + 1 - i)]
    else:
        exponents = [(i, j) for i in range(points) for j in range(points)]
    p = np.array(exponents)
    values = _powers(cells.local(at.cell, at.x), p) @ np.linalg.pinv(_powers(xi, p))
    column = each * at.cell[:, None] + np.arange(each)
    shape = (len(at.cell), each * len(cells.corners))
    return csr(sp.csr_array((values.ravel(), column.ravel(), each * np.arange(len(at.cell) + 1)), shape=shape))


def _powers(xi: np.ndarray, p: np.ndarray) -> np.ndarray:
    return (xi[:, :1] - 0.5) ** p[:, 0] * (xi[:, 1:] - 0.5) ** p[:, 1]
