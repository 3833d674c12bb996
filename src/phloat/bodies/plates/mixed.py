"""Kirchhoff plates with moments as further unknowns: w quadratic and continuous, M by Hellan, Herrmann and Johnson.

A clamped side leaves the slope to the moments; a side that is free or supported has no M_nn. The compliance is not local.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, csr, weighted, zero_matrix
from phloat.bodies.continua.mesh_body import Strains
from phloat.bodies.plates.fields import PlateFields
from phloat.bodies.plates.laminate import Through
from phloat.fem.plate_cells import EDGES, PlateCells, Points, cell_rows
from phloat.fem.plate_space import Space

COMPLIANCE = 4  # rule of degree 6: moments squared times a compliance that varies


@dataclass(frozen=True, eq=False)
class MixedStresses:
    """Moments of a plate; `turned` are the sides whose slope is held, where M_nn may act."""

    fields: PlateFields
    through: Callable[[np.ndarray], Through]
    turned: np.ndarray

    @cached_property
    def moments(self) -> MomentSpace:
        return MomentSpace(self.fields.cells)

    @cached_property
    def kept(self) -> np.ndarray:
        loose = self.moments.on(np.setdiff1d(self.fields.cells.outside, self.turned))
        return np.setdiff1d(np.arange(self.moments.size), loose)

    @property
    def rule(self) -> int:
        """Points to look at the moments by."""
        return 2

    def stiffness(self) -> None:
        """There is none without solving for the moments."""

    def strains(self) -> Strains:
        """C and ⟨m, −∇²w⟩."""
        C = self._compliance()[self.kept][:, self.kept]
        D = self.moments.strains(self.fields.w)[self.kept]
        return Strains(csr(C), csr(D), Layout({"M": (len(self.kept),)}, "stress"))

    def _compliance(self) -> Matrix:
        """∫ m : D⁻¹ m where D is constant; else N S⁻¹N with N = ∫ m : m, S = ∫ m : D m in each cell, since D⁻¹ grows beyond all
        bounds at the tip of a wedge, which would go limp."""
        points = self.fields.cells.quadrature(COMPLIANCE)
        count = len(self.fields.cells.corners)
        m = self.moments.local(points).reshape(count, -1, 3, UNKNOWNS)
        D = self.through(points.x).D.reshape(count, -1, 3, 3)
        w = points.weight.reshape(count, -1)
        N = np.einsum("cq,cqia,cqib->cab", w, m, m, optimize=True)
        S = np.einsum("cq,cqia,cqij,cqjb->cab", w, m, D, m, optimize=True)
        C = N @ np.linalg.solve(S, N)
        dofs = self.moments.dofs
        row, column = np.repeat(dofs, UNKNOWNS, axis=1).ravel(), np.tile(dofs, (1, UNKNOWNS)).ravel()
        C = csr(sp.coo_array((C.ravel(), (row, column)), shape=(self.moments.size,) * 2))
        return csr(0.5 * (C + C.T))

    def resultants(self, at: Points) -> dict[str, Matrix]:
        names = ("M_xx", "M_yy", "M_xy")
        return {name: csr(m[:, self.kept]) for name, m in zip(names, self.moments.at(at), strict=True)}


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
    """All unknowns, those of edges first; which of them a plate has depends on how its sides are held."""

    cells: PlateCells

    @property
    def size(self) -> int:
        return EDGE * len(self.cells.edges) + 3 * len(self.cells.corners)

    def on(self, edges: np.ndarray) -> np.ndarray:
        """The unknowns M_nn of some edges."""
        return (EDGE * edges[:, None] + np.arange(EDGE)).ravel()

    @cached_property
    def dofs(self) -> np.ndarray:
        count = len(self.cells.corners)
        edges = (EDGE * self.cells.cell_edges[:, :, None] + np.arange(EDGE)).reshape(count, -1)
        inside = EDGE * len(self.cells.edges) + 3 * np.arange(count)[:, None] + np.arange(3)
        return np.hstack([edges, inside])

    @cached_property
    def coefficients(self) -> np.ndarray:
        """Of the components xx, yy, xy of each basis function in 1, X, Y: (cells, 9, 3, 3)."""
        cells, count = self.cells, len(self.cells.corners)
        V = np.zeros((count, 9, 3, 3))
        edges = cells.cell_edges.ravel()
        on_edges = cells.along(edges, EDGE)
        cell = np.repeat(np.arange(count), 3 * EDGE)
        one = self._linear(cell, on_edges.x).reshape(count, 3 * EDGE, 3)
        n = np.repeat(cells.normals[edges], EDGE, axis=0).reshape(count, 3 * EDGE, 2)
        nn = np.stack([n[:, :, 0] ** 2, n[:, :, 1] ** 2, 2.0 * n[:, :, 0] * n[:, :, 1]], axis=2)
        V[:, : 3 * EDGE] = nn[:, :, :, None] * one[:, :, None, :]
        middle = self._linear(np.arange(count), cells.centers)
        for k in range(3):
            V[:, 3 * EDGE + k, k] = middle
        return np.swapaxes(np.linalg.inv(V.reshape(count, 9, 9)), 1, 2).reshape(count, 9, 3, 3)

    def _linear(self, cell: np.ndarray, x: np.ndarray) -> np.ndarray:
        X = (x - self.cells.centers[cell]) / self.cells.extents[cell]
        return np.column_stack([np.ones(len(x)), X])

    def local(self, points: Points) -> np.ndarray:
        """Components of the basis functions of the cell of each point, (points, 3, 9)."""
        return np.einsum("pm,pkcm->pck", self._linear(points.cell, points.x), self.coefficients[points.cell])

    def at(self, points: Points) -> list[Matrix]:
        """M_xx, M_yy, M_xy: points × unknowns each."""
        values = self.local(points).transpose(1, 0, 2)
        return [cell_rows(v, self.dofs[points.cell], self.size) for v in values]

    def strains(self, w: Space) -> Matrix:
        """⟨m, −∇²w⟩, moments × unknowns of w."""
        inside = self.cells.quadrature(2)
        m = self.at(inside)
        second = [w.at(inside, d) for d in ((2, 0), (0, 2), (1, 1))]
        terms = [csr(-f * m[k].T @ weighted(second[k], inside.weight)) for k, f in enumerate((1.0, 1.0, 2.0))]
        return csr(sum(terms, zero_matrix(self.size, w.size)) + self._jumps(w))

    def _jumps(self, w: Space) -> Matrix:
        """Σ_T ∫_∂T m_nn ∂w/∂n."""
        cells, out = self.cells, zero_matrix(self.size, w.size)
        for k, (a, b) in enumerate(EDGES["triangle"]):
            edges = cells.along(cells.cell_edges[:, k], EDGE)
            points = edges._replace(cell=np.repeat(np.arange(len(cells.corners)), EDGE))
            along = cells.vertices[cells.corners[:, b]] - cells.vertices[cells.corners[:, a]]
            along = along / np.linalg.norm(along, axis=1)[:, None]
            n = np.repeat(np.column_stack([along[:, 1], -along[:, 0]]), EDGE, axis=0)
            xx, yy, xy = self.at(points)
            nn = weighted(xx, n[:, 0] ** 2) + weighted(yy, n[:, 1] ** 2) + weighted(xy, 2.0 * n[:, 0] * n[:, 1])
            slope = weighted(w.at(points, (1, 0)), n[:, 0]) + weighted(w.at(points, (0, 1)), n[:, 1])
            out = out + csr(nn.T @ weighted(csr(slope), points.weight))
        return csr(out)
