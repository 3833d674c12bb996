"""Motion, strains and stresses of plates at points of theirs.

Stresses σ at quadrature points are the resultants themselves, so C = weight · (stiffness)⁻¹ and D = weight · strains.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, csr, diagonal, weighted
from phloat.bodies.continua.mesh_body import Strains
from phloat.bodies.plates.fields import PlateFields
from phloat.bodies.plates.laminate import PlateSection, Through
from phloat.bodies.shape import Shape, in_turn
from phloat.errors import InputError
from phloat.fem.plate_cells import PlateCells, Points, cell_rows, plate_rule

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
    return cell_rows(values, each * at.cell[:, None] + np.arange(each), each * len(cells.corners))


def _powers(xi: np.ndarray, p: np.ndarray) -> np.ndarray:
    return (xi[:, :1] - 0.5) ** p[:, 0] * (xi[:, 1:] - 0.5) ** p[:, 1]


# --- stresses at quadrature points ------------------------------------------------------------------------------------


NAMES = {"N": ("N_xx", "N_yy", "N_xy"), "M": ("M_xx", "M_yy", "M_xy"), "Q": ("Q_x", "Q_y")}


@dataclass(frozen=True, eq=False)
class Block:
    """Resultants with one rule: the groups of them ("N", "M", "Q"), their points, and the stiffness there (points, k, k)."""

    groups: tuple[str, ...]
    rule: int
    points: Points
    stiffness: np.ndarray

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for group in self.groups for name in NAMES[group])


@dataclass(frozen=True, eq=False)
class LocalStresses:
    """Stresses at the quadrature points of a plate."""

    fields: PlateFields
    through: Callable[[np.ndarray], Through]
    coupled: bool
    stiffening: bool

    @cached_property
    def blocks(self) -> list[Block]:
        rules = self.fields.rules
        if self.coupled:
            groups: list[tuple[str, ...]] = [("N", "M"), *((name,) for name in rules if name == "Q")]
        else:
            groups = [(name,) for name in rules if name in NAMES]
        return [self._block(g) for g in groups]

    @property
    def rule(self) -> int:
        """Points of the moments."""
        return next(b.rule for b in self.blocks if "M" in b.groups)

    def _block(self, groups: tuple[str, ...]) -> Block:
        rule = max(self.fields.rules[g] for g in groups)
        points = self.fields.cells.quadrature(rule)
        A, B, D, shear, *_ = self.through(points.x)
        if groups == ("N", "M"):
            stiffness = np.concatenate([np.concatenate([A, B], axis=2), np.concatenate([B, D], axis=2)], axis=1)
        else:
            stiffness = {"N": A, "M": D, "Q": shear}[groups[0]]
        return Block(groups, rule, points, stiffness)

    def strains(self) -> Strains:
        """C, D and the quadratic part."""
        C = diagonal([_compliance(b) for b in self.blocks])
        D = csr(sp.vstack([weighted(row, b.points.weight) for b in self.blocks for row in self._rows(b)]))
        names = {name: (len(b.points.cell),) for b in self.blocks for name in b.names}
        return Strains(C, D, Layout(names, "stress"), self._pair() if self.stiffening else None)

    def _rows(self, block: Block) -> list[Matrix]:
        return [row for group in block.groups for row in self.fields.strains(group, block.points)]

    def stiffness(self) -> Matrix:
        """K = DᵀC⁻¹D, without C."""
        terms = []
        for b in self.blocks:
            rows = self._rows(b)
            S = b.stiffness * b.points.weight[:, None, None]
            for i, left in enumerate(rows):
                right = sum((weighted(rows[j], S[:, i, j]) for j in range(len(rows)) if S[:, i, j].any()), 0.0 * left)
                terms.append(csr(left.T @ right))
        total = csr(sum(terms[1:], terms[0]))
        return csr(0.5 * (total + total.T))

    def _pair(self) -> Callable[[np.ndarray, np.ndarray], np.ndarray] | None:
        """w_,x v_,x, w_,y v_,y, w_,x v_,y + w_,y v_,x on the membrane strains, zero on the others."""
        if all("N" not in b.groups for b in self.blocks):
            return None
        slopes = [(b, self.fields.slopes(b.points)) for b in self.blocks if "N" in b.groups]
        total = sum(len(b.names) * len(b.points.cell) for b in self.blocks)
        return VonKarmanStrain(tuple((b.points.weight, *along) for b, along in slopes), total)

    def resultants(self, at: Points) -> dict[str, Matrix]:
        """Each resultant at points, per σ."""
        total = sum(len(b.names) * len(b.points.cell) for b in self.blocks)
        out, start = {}, 0
        for b in self.blocks:
            values = fit_in_cells(self.fields.cells, b.rule, at).tocoo()
            for name in b.names:
                where = (values.row, values.col + start)
                out[name] = csr(sp.coo_array((values.data, where), shape=(len(at.cell), total)))
                start += len(b.points.cell)
        return out


@dataclass(frozen=True, eq=False)
class VonKarmanStrain:
    """w_,x v_,x, w_,y v_,y, w_,x v_,y + w_,y v_,x from weights and slopes of the points of N, which come first of all strains."""

    slopes: tuple[tuple[np.ndarray, Matrix, Matrix], ...]
    total: int

    def __call__(self, q: np.ndarray, r: np.ndarray) -> np.ndarray:
        out = np.zeros(self.total)
        for weight, along_x, along_y in self.slopes:
            w_x, w_y, v_x, v_y = along_x @ q, along_y @ q, along_x @ r, along_y @ r
            strain = np.concatenate([w_x * v_x, w_y * v_y, w_x * v_y + w_y * v_x])
            out[: len(strain)] = np.tile(weight, 3) * strain
        return out


def _compliance(block: Block) -> Matrix:
    """Blocks of all components at a point, components in the order of σ: all points of the first one, then of the second…"""
    count, k = len(block.points.cell), block.stiffness.shape[1]
    inverse = np.linalg.inv(block.stiffness) * block.points.weight[:, None, None]
    inverse = 0.5 * (inverse + inverse.transpose(0, 2, 1))
    row = np.arange(k)[None, :, None] * count + np.arange(count)[:, None, None] + np.zeros((1, 1, k), int)
    return csr(
        sp.coo_array((inverse.ravel(), (row.ravel(), row.transpose(0, 2, 1).ravel())), shape=(k * count, k * count))
    )
