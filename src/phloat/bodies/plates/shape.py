"""Motion, strains and stresses of plates at points.

Stresses σ at quadrature points are the resultants themselves, so C = weight · (stiffness)⁻¹ and D = weight · strains.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, csr, diagonal, scattered, weighted, zero_matrix
from phloat.bodies.continua.mesh_body import Strains
from phloat.bodies.plates.fields import PlateFields
from phloat.bodies.plates.laminate import PlateSection, Through
from phloat.bodies.shape import Shape, in_turn
from phloat.errors import InputError
from phloat.fem.plate_cells import EDGES, PlateCells, Points, cell_rows, plate_rule
from phloat.fem.plate_space import Space

RESULTANTS = ("N_xx", "N_yy", "N_xy", "M_xx", "M_yy", "M_xy", "Q_x", "Q_y")
ABOVE = 1e-6  # of the thickness: the distance from the faces at which a point still counts as inside


@dataclass(frozen=True, eq=False)
class PlateShape(Shape):
    """The shape of a plate; places are points (x, y, z) in body axes with |z| at most half the thickness there."""

    fields: PlateFields
    nodes: np.ndarray
    section: PlateSection
    resultants: Callable[[Points], dict[str, Matrix]]
    rule: int  # quadrature rule whose points are the stress points

    def places(self) -> np.ndarray:
        return self.nodes

    def displacement(self, s: np.ndarray) -> Matrix:
        """The displacement u_m + θ × z e_z."""
        points, z = self._located(s)
        u_x, u_y, w = self.fields.displacement(points)
        if z.any():
            turn = self.fields.turn(points)
            u_x, u_y = csr(u_x + weighted(turn[1], z)), csr(u_y - weighted(turn[0], z))
        return in_turn([u_x, u_y, w])

    def rotation(self, s: np.ndarray) -> Matrix:
        return in_turn(self.fields.turn(self._located(s)[0]))

    def stress(self, s: np.ndarray) -> dict[str, Matrix]:
        """Matrices of N_xx … Q_y, per length of section, that multiply σ, (places, stresses)."""
        return self.resultants(self._located(s)[0])

    def cauchy(self, x: np.ndarray) -> Matrix:
        """Cauchy stress from the resultants, by the height of each point."""
        points, z = self._located(x)
        forces, share = self.resultants(points), self.section.fibres(points.x, z)
        rows = []
        for component in range(6):
            terms = [
                weighted(forces[name], share[:, component, k]) for k, name in enumerate(RESULTANTS) if name in forces
            ]
            rows.append(csr(sum(terms[1:], terms[0])))
        return in_turn(rows)

    def stress_points(self) -> np.ndarray:
        """Points (x, y, z) at which stress is evaluated: on the lower, then the upper face, at the quadrature points."""
        return self._faces[1]

    @cached_property
    def _faces(self) -> tuple[Points, np.ndarray]:
        """The stress points on the lower and then the upper face: points in cells, and (points, 3)."""
        points = self.fields.cells.quadrature(self.rule)
        half = 0.5 * self.section.height(points.x)
        points_twice = Points(*(np.concatenate([part, part]) for part in points))
        return points_twice, np.column_stack([points_twice.x, np.concatenate([-half, half])])

    def _located(self, s: np.ndarray) -> tuple[Points, np.ndarray]:
        """Points in cells and heights of places. Raises InputError for places outside the plate."""
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
        """The nodes of the mesh as points in cells."""
        return self.fields.cells.find(
            self.nodes[:, :2], beyond=np.inf
        )  # middles of curved sides are outside straight cells


def fit_in_cells(cells: PlateCells, points: int, targets: Points) -> Matrix:
    """The matrix from values at the points of a rule to values at other points in the cells, by polynomials (least squares)."""
    xi, _ = plate_rule(cells.kind, points)
    each = len(xi)
    if cells.kind == "triangle":
        degree = {1: 0, 3: 1, 6: 2, 12: 3}[each]
        exponents = [(i, j) for i in range(degree + 1) for j in range(degree + 1 - i)]
    else:
        exponents = [(i, j) for i in range(points) for j in range(points)]
    p = np.array(exponents)
    values = _powers(cells.local(targets.cell, targets.x), p) @ np.linalg.pinv(_powers(xi, p))
    return cell_rows(values, each * targets.cell[:, None] + np.arange(each), each * len(cells.corners))


def _powers(xi: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Monomials with exponents p about the centre of the cell, (points, monomials)."""
    return (xi[:, :1] - 0.5) ** p[:, 0] * (xi[:, 1:] - 0.5) ** p[:, 1]


# --- stresses at quadrature points ------------------------------------------------------------------------------------


NAMES = {"N": ("N_xx", "N_yy", "N_xy"), "M": ("M_xx", "M_yy", "M_xy"), "Q": ("Q_x", "Q_y")}


@dataclass(frozen=True, eq=False)
class Block:
    """Resultants with one quadrature rule: their groups ("N", "M", "Q"), points, and stiffness there (points, k, k)."""

    groups: tuple[str, ...]
    rule: int
    points: Points
    stiffness: np.ndarray

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for group in self.groups for name in NAMES[group])


@dataclass(frozen=True, eq=False)
class LocalStresses:
    """Stress states of a plate at its quadrature points: C is local to these points."""

    fields: PlateFields
    through: Callable[[np.ndarray], Through]
    coupled: bool
    stiffening: bool

    @cached_property
    def blocks(self) -> list[Block]:
        """The blocks of σ in order; N and M are one block if the laminate couples them."""
        rules = self.fields.rules
        if self.coupled:
            groups: list[tuple[str, ...]] = [("N", "M"), *((name,) for name in rules if name == "Q")]
        else:
            groups = [(name,) for name in rules if name in NAMES]
        return [self._block(g) for g in groups]

    @property
    def rule(self) -> int:
        """The quadrature rule of the moments."""
        return next(b.rule for b in self.blocks if "M" in b.groups)

    def _block(self, groups: tuple[str, ...]) -> Block:
        """The block of these groups, with the finest of their quadrature rules."""
        rule = max(self.fields.rules[g] for g in groups)
        points = self.fields.cells.quadrature(rule)
        A, B, D, shear, *_ = self.through(points.x)
        if groups == ("N", "M"):
            stiffness = np.concatenate([np.concatenate([A, B], axis=2), np.concatenate([B, D], axis=2)], axis=1)
        else:
            stiffness = {"N": A, "M": D, "Q": shear}[groups[0]]
        return Block(groups, rule, points, stiffness)

    def strains(self) -> Strains:
        """C, D and the quadratic part of the strains."""
        C = diagonal([_compliance(b) for b in self.blocks])
        D = csr(sp.vstack([weighted(row, b.points.weight) for b in self.blocks for row in self._rows(b)]))
        names = {name: (len(b.points.cell),) for b in self.blocks for name in b.names}
        return Strains(C, D, Layout(names, "stress"), self._pair() if self.stiffening else None)

    def _rows(self, block: Block) -> list[Matrix]:
        return [row for group in block.groups for row in self.fields.strains(group, block.points)]

    def stiffness(self) -> Matrix:
        """K = DᵀC⁻¹D, assembled without C."""
        terms = []
        for b in self.blocks:
            rows = self._rows(b)
            S = b.stiffness * b.points.weight[:, None, None]
            for i, row in enumerate(rows):
                stress = sum((weighted(rows[j], S[:, i, j]) for j in range(len(rows)) if S[:, i, j].any()), 0.0 * row)
                terms.append(csr(row.T @ stress))
        total = csr(sum(terms[1:], terms[0]))
        return csr(0.5 * (total + total.T))

    def _pair(self) -> Callable[[np.ndarray, np.ndarray], np.ndarray] | None:
        """The quadratic part of the membrane strains; None without a membrane."""
        if all("N" not in b.groups for b in self.blocks):
            return None
        points = self.blocks[0].points  # of N
        return VonKarmanStrain(points.weight, *self.fields.slopes(points), self._size)

    @property
    def _size(self) -> int:
        """The number of stresses σ."""
        return sum(len(b.names) * len(b.points.cell) for b in self.blocks)

    def resultants(self, points: Points) -> dict[str, Matrix]:
        """Matrices of each resultant at points that multiply σ, (points, stresses)."""
        out, start = {}, 0
        for b in self.blocks:
            values = fit_in_cells(self.fields.cells, b.rule, points).tocoo()
            for name in b.names:
                entries = (values.row, values.col + start)
                out[name] = csr(sp.coo_array((values.data, entries), shape=(len(points.cell), self._size)))
                start += len(b.points.cell)
        return out


@dataclass(frozen=True, eq=False)
class VonKarmanStrain:
    """w_,x v_,x, w_,y v_,y, w_,x v_,y + w_,y v_,x at the points of N, which are the first strains, and zero at all others."""

    weight: np.ndarray
    along_x: Matrix
    along_y: Matrix
    size: int

    def __call__(self, q: np.ndarray, r: np.ndarray) -> np.ndarray:
        w_x, w_y, v_x, v_y = self.along_x @ q, self.along_y @ q, self.along_x @ r, self.along_y @ r
        strain = self.weight * np.array([w_x * v_x, w_y * v_y, w_x * v_y + w_y * v_x])
        return np.pad(strain.ravel(), (0, self.size - strain.size))


def _compliance(block: Block) -> Matrix:
    """The compliance of a block, coupled point by point; in σ all points of the first component come first, then the second, …"""
    count, k = len(block.points.cell), block.stiffness.shape[1]
    inverse = np.linalg.inv(block.stiffness) * block.points.weight[:, None, None]
    inverse = 0.5 * (inverse + inverse.transpose(0, 2, 1))
    row = np.arange(k)[None, :, None] * count + np.arange(count)[:, None, None] + np.zeros((1, 1, k), int)
    return csr(
        sp.coo_array((inverse.ravel(), (row.ravel(), row.transpose(0, 2, 1).ravel())), shape=(k * count, k * count))
    )


# --- moments as further unknowns --------------------------------------------------------------------------------------
#
# Kirchhoff plates: w quadratic and continuous, M by Hellan, Herrmann and Johnson.
# A clamped side leaves the slope to the moments; a side that is free or supported has no M_nn. The compliance is not local.


COMPLIANCE = 4  # rule of degree 6: moments squared times a compliance that varies


@dataclass(frozen=True, eq=False)
class MixedStresses:
    """Stress states of a plate that are moments; `fixed_slope` are the edges whose slope is held, where M_nn is an unknown."""

    fields: PlateFields
    through: Callable[[np.ndarray], Through]
    fixed_slope: np.ndarray

    @cached_property
    def moments(self) -> MomentSpace:
        return MomentSpace(self.fields.cells)

    @cached_property
    def unknowns(self) -> np.ndarray:
        zero = self.moments.edge_unknowns(np.setdiff1d(self.fields.cells.outside, self.fixed_slope))
        return np.setdiff1d(np.arange(self.moments.size), zero)

    @property
    def rule(self) -> int:
        """The quadrature rule at which moments are evaluated."""
        return 2

    def stiffness(self) -> None:
        """None: the stiffness would require elimination of the moments."""

    def strains(self) -> Strains:
        """C and D, the matrix of ⟨m, −∇²w⟩."""
        C = self.moments.compliance(self.through)[self.unknowns][:, self.unknowns]
        D = self.moments.strains(self.fields.w)[self.unknowns]
        return Strains(csr(C), csr(D), Layout({"M": (len(self.unknowns),)}, "stress"))

    def resultants(self, points: Points) -> dict[str, Matrix]:
        names = ("M_xx", "M_yy", "M_xy")
        return {name: csr(m[:, self.unknowns]) for name, m in zip(names, self.moments.evaluate(points), strict=True)}


# --- moments ----------------------------------------------------------------------------------------------------------
#
# Moments of Hellan, Herrmann and Johnson: linear symmetric matrices on triangles whose normal-normal part is continuous.
#
# Unknowns are M_nn at two Gauss points of each edge and the three components at the centre of each triangle. Against a continuous w
# the bending strain −∇²w has a part on the edges, where slopes jump:
#
# ⟨m, −∇²w⟩ = −Σ_T ( ∫_T m : ∇²w − ∫_∂T m_nn ∂w/∂n )


EDGE = 2  # unknowns on each edge
UNKNOWNS = 9  # of each cell


@dataclass(frozen=True, eq=False)
class MomentSpace:
    """The space of moments, unknowns of edges first; some of them are zero on free and supported sides."""

    cells: PlateCells

    @property
    def size(self) -> int:
        return EDGE * len(self.cells.edges) + 3 * len(self.cells.corners)

    def edge_unknowns(self, edges: np.ndarray) -> np.ndarray:
        """Indices of the unknowns M_nn of edges."""
        return (EDGE * edges[:, None] + np.arange(EDGE)).ravel()

    @cached_property
    def dofs(self) -> np.ndarray:
        """The unknowns of every cell, those of its edges first, (cells, 9)."""
        count = len(self.cells.corners)
        edges = (EDGE * self.cells.cell_edges[:, :, None] + np.arange(EDGE)).reshape(count, -1)
        inside = EDGE * len(self.cells.edges) + 3 * np.arange(count)[:, None] + np.arange(3)
        return np.hstack([edges, inside])

    @cached_property
    def coefficients(self) -> np.ndarray:
        """Coefficients of the components xx, yy, xy of each basis function in 1, X, Y: (cells, 9, 3, 3)."""
        cells, count = self.cells, len(self.cells.corners)
        V = np.zeros((count, 9, 3, 3))
        edges = cells.cell_edges.ravel()
        on_edges = cells.edge_quadrature(edges, EDGE)
        cell = np.repeat(np.arange(count), 3 * EDGE)
        edge_values = self._linear(cell, on_edges.x).reshape(count, 3 * EDGE, 3)
        n = np.repeat(cells.normals[edges], EDGE, axis=0).reshape(count, 3 * EDGE, 2)
        nn = np.stack([n[:, :, 0] ** 2, n[:, :, 1] ** 2, 2.0 * n[:, :, 0] * n[:, :, 1]], axis=2)
        V[:, : 3 * EDGE] = nn[:, :, :, None] * edge_values[:, :, None, :]
        middle = self._linear(np.arange(count), cells.centers)
        for k in range(3):
            V[:, 3 * EDGE + k, k] = middle
        return np.swapaxes(np.linalg.inv(V.reshape(count, 9, 9)), 1, 2).reshape(count, 9, 3, 3)

    def _linear(self, cell: np.ndarray, x: np.ndarray) -> np.ndarray:
        """(1, X, Y) at each point, with X, Y from −1 to 1 in its cell, (points, 3)."""
        X = (x - self.cells.centers[cell]) / self.cells.extents[cell]
        return np.column_stack([np.ones(len(x)), X])

    def compliance(self, through: Callable[[np.ndarray], Through]) -> Matrix:
        """∫ m : D⁻¹ m, computed as N S⁻¹N with N = ∫ m : m, S = ∫ m : D m in each cell; they are equal if D is constant. D⁻¹ is
        unbounded at the tip of a wedge, which would have no stiffness."""
        points, count = self.cells.quadrature(COMPLIANCE), len(self.cells.corners)
        m = self.local(points).reshape(count, -1, 3, UNKNOWNS)
        D = through(points.x).D.reshape(count, -1, 3, 3)
        w = points.weight.reshape(count, -1)
        N = np.einsum("cq,cqia,cqib->cab", w, m, m, optimize=True)
        S = np.einsum("cq,cqia,cqij,cqjb->cab", w, m, D, m, optimize=True)
        C = N @ np.linalg.solve(S, N)
        C = scattered(C, self.dofs, self.dofs, (self.size,) * 2)
        return csr(0.5 * (C + C.T))

    def local(self, points: Points) -> np.ndarray:
        """Components of the basis functions of the cell of each point, (points, 3, 9)."""
        return np.einsum("pm,pkcm->pck", self._linear(points.cell, points.x), self.coefficients[points.cell])

    def evaluate(self, points: Points) -> list[Matrix]:
        """Matrices of M_xx, M_yy, M_xy, (points, unknowns)."""
        values = self.local(points).transpose(1, 0, 2)
        return [cell_rows(v, self.dofs[points.cell], self.size) for v in values]

    def strains(self, w: Space) -> Matrix:
        """The matrix of ⟨m, −∇²w⟩, (moments, unknowns of w)."""
        inside = self.cells.quadrature(2)
        m = self.evaluate(inside)
        second = [w.evaluate(inside, d) for d in ((2, 0), (0, 2), (1, 1))]
        terms = [csr(-f * m[k].T @ weighted(second[k], inside.weight)) for k, f in enumerate((1.0, 1.0, 2.0))]
        return csr(sum(terms, zero_matrix(self.size, w.size)) + self._jumps(w))

    def _jumps(self, w: Space) -> Matrix:
        """The matrix of Σ_T ∫_∂T m_nn ∂w/∂n, (moments, unknowns of w)."""
        cells, out = self.cells, zero_matrix(self.size, w.size)
        for k, (a, b) in enumerate(EDGES["triangle"]):
            edges = cells.edge_quadrature(cells.cell_edges[:, k], EDGE)
            points = edges._replace(cell=np.repeat(np.arange(len(cells.corners)), EDGE))
            tangent = cells.vertices[cells.corners[:, b]] - cells.vertices[cells.corners[:, a]]
            tangent = tangent / np.linalg.norm(tangent, axis=1)[:, None]
            n = np.repeat(np.column_stack([tangent[:, 1], -tangent[:, 0]]), EDGE, axis=0)
            xx, yy, xy = self.evaluate(points)
            nn = weighted(xx, n[:, 0] ** 2) + weighted(yy, n[:, 1] ** 2) + weighted(xy, 2.0 * n[:, 0] * n[:, 1])
            slope = weighted(w.evaluate(points, (1, 0)), n[:, 0]) + weighted(w.evaluate(points, (0, 1)), n[:, 1])
            out = out + csr(nn.T @ weighted(csr(slope), points.weight))
        return csr(out)
