"""Floating plates with elements="hhj": moments of each cell for itself, and slopes of edges that make M_nn continuous.

The moments of Hellan, Herrmann and Johnson share M_nn across edges, so that C⁻¹ is full, and the slope of a side is not a
coordinate that a weld could hold. Here the slopes φ of edges are coordinates without mass, and Σ_T ∫_∂T m_nn (∂w/∂n − φ) is the
part of the strain on edges. Equilibrium of φ makes M_nn continuous: the frequencies are the same, and C is local to cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from phloat.algebra.layout import Layout, joined_layouts
from phloat.algebra.sparse import Matrix, block_inverse, csr, diagonal, weighted
from phloat.bodies.continua.mesh_body import Strains
from phloat.bodies.plates.fields import PlateFields, Three, pad_columns
from phloat.bodies.plates.shape import EDGE, UNKNOWNS, Block, LocalStresses, MomentSpace
from phloat.fem.plate_cells import Points, cell_rows


@dataclass(frozen=True, eq=False)
class HybridFields(PlateFields):
    """Coordinates u_x, u_y, w, and the slope across every edge at two Gauss points, along `PlateCells.normals`."""

    @property
    def size(self) -> int:
        return super().size + EDGE * len(self.cells.edges)

    @property
    def kinds(self) -> np.ndarray:
        return np.concatenate([super().kinds, np.full(EDGE * len(self.cells.edges), "w_n")])

    @cached_property
    def rigid(self) -> np.ndarray:
        n = np.repeat(self.cells.normals, EDGE, axis=0)
        slopes = np.zeros((len(n), 6))
        slopes[:, 3], slopes[:, 4] = n[:, 1], -n[:, 0]
        return np.vstack([super().rigid, slopes])

    def slopes_of(self, edges: np.ndarray) -> np.ndarray:
        """The coordinates φ of edges, (edges, 2)."""
        return super().size + EDGE * edges[:, None] + np.arange(EDGE)

    def edge_turn(self, edges: np.ndarray, points: Points) -> Three:
        """`turn` at points of edges, as many on each, with the slope φ across the edge instead of that of one cell."""
        each = len(points.cell) // len(edges)
        s, gauss = (np.polynomial.legendre.leggauss(count)[0] for count in (each, EDGE))
        share = np.column_stack([s - gauss[1], gauss[0] - s]) / (gauss[0] - gauss[1])
        columns = np.repeat(self.slopes_of(edges), each, axis=0)
        across = cell_rows(np.tile(share, (len(edges), 1)), columns, self.size)
        w_x, w_y = self.slopes(points)
        t, n = (np.repeat(axes[edges], each, axis=0) for axes in (self.cells.tangents, self.cells.normals))
        along = weighted(w_x, t[:, 0]) + weighted(w_y, t[:, 1])
        slope = [csr(weighted(along, t[:, k]) + weighted(across, n[:, k])) for k in range(2)]
        return slope[1], csr(-slope[0]), self.membrane.turn(points, self.size)

    def held_coordinates(self, edges: np.ndarray, support: str) -> np.ndarray:
        held = super().held_coordinates(edges, support)
        return held if support == "supported" else np.concatenate([held, self.slopes_of(edges).ravel()])


@dataclass(frozen=True, eq=False)
class CellMoments(MomentSpace):
    """The moments of every cell for itself."""

    @property
    def size(self) -> int:
        return UNKNOWNS * len(self.cells.corners)

    @cached_property
    def dofs(self) -> np.ndarray:
        return np.arange(self.size).reshape(-1, UNKNOWNS)


@dataclass(frozen=True, eq=False)
class HybridStresses(LocalStresses):
    """N at quadrature points, and the moments of the cells."""

    @cached_property
    def blocks(self) -> list[Block]:
        return [self._block(("N",))]

    @cached_property
    def moments(self) -> CellMoments:
        return CellMoments(self.fields.cells)

    @property
    def rule(self) -> int:
        return 2

    @property
    def _size(self) -> int:
        return super()._size + self.moments.size

    @cached_property
    def _moment_strains(self) -> tuple[Matrix, Matrix]:
        """C and D of the moments: D w − Σ_T ∫_∂T m_nn φ."""
        fields, cells = self.fields, self.fields.cells
        assert isinstance(fields, HybridFields)
        D = pad_columns(self.moments.strains(fields.w), fields.membrane.size, fields.size)
        edges = cells.cell_edges
        middle = cells.vertices[cells.edges[edges]].mean(axis=2)
        outward = np.sign(np.einsum("cka,cka->ck", cells.normals[edges], middle - cells.centers[:, None]))
        half = 0.5 * np.linalg.norm(np.diff(cells.vertices[cells.edges[edges]], axis=2)[:, :, 0], axis=2)
        rows, columns = self.moments.dofs[:, : EDGE * edges.shape[1]], fields.slopes_of(edges.ravel())
        values = np.repeat((-half * outward).ravel(), EDGE)
        slopes = sp.coo_array((values, (rows.ravel(), columns.ravel())), shape=D.shape)
        return self.moments.compliance(self.through), csr(D + slopes)

    def strains(self) -> Strains:
        C, D, stresses, pair = super().strains()
        C_M, D_M = self._moment_strains
        moments = Layout({"M": (self.moments.size,)}, "stress")
        return Strains(
            diagonal([C, C_M]), csr(sp.vstack([D, D_M])), joined_layouts([stresses, moments], "stress"), pair
        )

    def stiffness(self) -> Matrix:
        C, D = self._moment_strains
        K = D.T @ block_inverse(C) @ D
        return csr(super().stiffness() + 0.5 * (K + K.T))

    def resultants(self, points: Points) -> dict[str, Matrix]:
        first = self._size - self.moments.size
        columns = first + self.moments.dofs[points.cell]
        values = self.moments.local(points).transpose(1, 0, 2)
        names = ("M_xx", "M_yy", "M_xy")
        rows = {name: cell_rows(v, columns, self._size) for name, v in zip(names, values, strict=True)}
        return super().resultants(points) | rows
