"""Kirchhoff plates with velocity inputs: regular moments, deflections linear in each triangle.

Natural on a side are w (against the shear force V_n, and corner forces) and its slope across (against −M_nn): a clamped side has
both zero, a supported one w, a symmetric one the slope. Where w or the slope is free, the moments satisfy a condition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp

from phloat.algebra.sparse import Matrix, assembled, csr, unit_columns
from phloat.bodies.continua.continuum import require_mass
from phloat.bodies.continua.stress_continuum import StressContinuum, side_facets
from phloat.errors import InputError
from phloat.fem.mesh import Mesh, point_text
from phloat.fem.moment_space import RULE, RegularMoments, normal_normal
from phloat.fem.plate_cells import PlateCells
from phloat.fem.plate_space import vertex_tangents
from phloat.linear.form.phdae import Field

ROUND_OFF = 1e-12
DEPENDENT = 1e-9  # singular value of conditions of unit size that repeats others
W, SLOPE = ("clamped", "supported"), ("clamped", "symmetric")  # supports that hold w, and its slope across the side


@dataclass(frozen=True, eq=False)
class MomentSides:
    """The sides of a plate; `supports` are the edges that are "clamped", "supported" and "symmetric"."""

    mesh: Mesh
    space: RegularMoments
    supports: Mapping[str, np.ndarray]

    @property
    def cells(self) -> PlateCells:
        return self.space.cells

    def facets(self, name: str) -> np.ndarray:
        side_facets(self.mesh, name)
        return self.cells.edges_on(name)

    def basis(self, opened: Sequence[str]) -> Matrix:
        edges = np.concatenate([np.zeros(0, dtype=int), *(self.facets(name) for name in opened)])
        w = self._deflected(opened)
        slope = self._held(SLOPE) | self._turning(edges)
        outside = self.cells.outside
        zero = [self.space.slopes_of(outside[~slope[outside]]), self.space.forces_of(outside[~w[outside]])]
        at_vertices = {v: self._free_moments(v, w, slope) for v in np.unique(self.cells.edges[outside])}
        fixed = np.concatenate([*(z.ravel() for z in zero), *(self.space.at_vertices(v) for v in at_vertices)])
        free = np.setdiff1d(np.arange(self.space.size), fixed)
        blocks, first = [], len(free)
        for v, Z in at_vertices.items():
            blocks.append((self.space.at_vertices(v), first + np.arange(Z.shape[1]), Z))
            first += Z.shape[1]
        chosen = sp.coo_array((np.ones(len(free)), (free, np.arange(len(free)))), shape=(self.space.size, first))
        return csr(chosen + assembled(blocks, (self.space.size, first)))

    def _held(self, ways: Sequence[str]) -> np.ndarray:
        """The mask of edges with one of these supports."""
        out = np.zeros(len(self.cells.edges), dtype=bool)
        for way in ways:
            out[self.supports[way]] = True
        return out

    def _turning(self, edges: np.ndarray) -> np.ndarray:
        """The mask of edges of an input whose slope moves with it: where only w is held, it stays free."""
        out = np.zeros(len(self.cells.edges), dtype=bool)
        out[np.setdiff1d(edges, self.supports["supported"])] = True
        return out

    def _free_moments(self, vertex: int, w: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """A basis of (M_xx, M_yy, M_xy) at a vertex: M_nn = 0 where the slope is free, no corner force where w is."""
        edges = self.cells.outside[(self.cells.edges[self.cells.outside] == vertex).any(axis=1)]
        conditions = [normal_normal(self._outward(edges[~slope[edges]]))]
        if not w[edges].any():
            corner = self._corners(np.array([vertex]), edges).toarray()
            conditions.append(corner[self.space.at_vertices(np.array(vertex))].T)
        _, size, axes = np.linalg.svd(np.concatenate(conditions))
        return np.asarray(axes[int((size > DEPENDENT).sum()) :].T)

    def _outward(self, edges: np.ndarray) -> np.ndarray:
        """The outward normals of boundary edges."""
        return self.space.outward(edges, self.cells.centers[self.cells.edge_cell[edges]])

    def _corners(self, vertices: np.ndarray, edges: np.ndarray) -> Matrix:
        """−Σ [M_nt w] over the ends of edges at vertices, for w = 1 there: (unknowns, vertices).

        Over all edges these are the corner forces, zero on a straight side.
        """
        edges = edges[np.isin(self.cells.edges[edges], vertices).any(axis=1)]
        w = (self.cells.edges[edges][:, :, None] == vertices).astype(float)
        columns = np.tile(np.arange(len(vertices)), (len(edges), 1))
        return self.space.end_work(edges, self._outward(edges), w, columns, len(vertices))

    def centre(self, name: str) -> np.ndarray:
        x = self.cells.vertices[self.cells.edges[self.facets(name)]]
        h = np.linalg.norm(x[:, 1] - x[:, 0], axis=1)
        return np.append(h @ x.mean(axis=1) / h.sum(), 0.0)

    def twist_map(self, name: str, opened: Sequence[str]) -> Matrix:
        cells, edges, centre = self.cells, self.facets(name), self.centre(name)[:2]
        grad = np.zeros((len(edges), 2, 6))
        grad[:, 0, 4], grad[:, 1, 3] = -1.0, 1.0  # ∇w of w = v_z + ω_x y − ω_y x
        grad[~self._turning(edges)[edges]] = 0.0
        ends, columns = cells.vertices[cells.edges[edges]] - centre, np.tile(np.arange(6), (len(edges), 1))
        work = self.space.edge_work(edges, self._outward(edges), _deflection(ends), grad, columns, 6)
        free = np.setdiff1d(cells.outside, np.flatnonzero(self._deflected(opened)))  # their ends follow this side
        vertices = np.unique(cells.edges[edges])
        corners = self._corners(vertices, np.union1d(edges, free))
        return csr(work + corners @ csr(_deflection(cells.vertices[vertices] - centre)))

    def _deflected(self, opened: Sequence[str]) -> np.ndarray:
        """The mask of edges whose deflection is zero or an input."""
        edges = np.concatenate([np.zeros(0, dtype=int), *(self.facets(name) for name in opened)])
        return self._held(W) | np.isin(np.arange(len(self.cells.edges)), edges)

    def field(self, name: str) -> NoReturn:
        """Raises InputError: the deflection of a side and its slope are no single field."""
        raise InputError(
            f"boundary {name!r} of a plate with causality='velocity' takes a deflection, a slope and corners, which are no single "
            "field; make it a port with ports={…}: it then moves rigidly"
        )


def _deflection(x: np.ndarray) -> np.ndarray:
    """w at points relative to the centre per (v, ω): v_z + ω_x y − ω_y x, (…, 6)."""
    x = np.where(np.abs(x) < ROUND_OFF * np.abs(x).max(), 0.0, x)  # else a straight edge would turn about itself
    out = np.zeros((*x.shape[:-1], 6))
    out[..., 2], out[..., 3], out[..., 4] = 1.0, x[..., 1], -x[..., 0]
    return out


def moment_continuum(plate: Any, mesh: Mesh, cells: PlateCells, supports: Mapping[str, np.ndarray]) -> StressContinuum:
    """A Kirchhoff plate on triangles with velocity inputs; `supports` are edges by the kind of their support."""
    _require_straight_sides(cells)
    space = RegularMoments(cells)
    through = plate.section.through(cells.quadrature(RULE).x)
    M = space.mass(through.rho_0)
    require_mass(float(M.sum()), plate.mass)
    x, n = cells.vertices[cells.corners].reshape(-1, 2), M.shape[0]
    motion = unit_columns(3 * np.arange(n) + 2, 3 * n)
    return StressContinuum(
        plate,
        mesh,
        M,
        space.compliance(through.D),
        csr(-space.divergence().T),
        sides=MomentSides(mesh, space, supports),
        velocity=Field(np.pad(x, ((0, 0), (0, 1))), motion, np.arange(n).reshape(-1, 3)),
        damping=plate.damping,
        ports=plate.ports,
    )


def _require_straight_sides(cells: PlateCells) -> None:
    """Raises InputError for a boundary that approximates a curve: its corner forces and M_nn would be those of a polygon."""
    _, turn = vertex_tangents(cells, np.zeros(0, dtype=int))
    if (turn == 0).any():
        x = point_text(cells.vertices[int((turn == 0).argmax())])
        raise InputError(
            f"causality='velocity' needs straight sides, and this plate is round about {x}: a polygon supported along its edges "
            "converges to another plate (Babuška's paradox); use causality='force'"
        )
