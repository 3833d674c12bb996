"""Sheets and solids with velocity inputs: tractions at the nodes of facets, velocities linear in each cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from phloat.algebra.sparse import Matrix, csr, unit_columns
from phloat.bodies.continua.continuum import require_mass
from phloat.bodies.continua.stress_continuum import SideField, StressContinuum, side_facets
from phloat.bodies.shape import rigid_motions, selection
from phloat.bodies.solids.cells import MaterialPart
from phloat.errors import InputError
from phloat.fem.assembly import VOIGT
from phloat.fem.cells import SIMPLICES
from phloat.fem.mesh import Mesh
from phloat.fem.stress_space import TractionSpace
from phloat.linear.form.phdae import Field

ROUND_OFF = 1e-12


@dataclass(frozen=True, eq=False)
class TractionSides:
    """The sides of a sheet or solid; `held` (facets, dimension) are the components of velocity that are zero."""

    mesh: Mesh
    space: TractionSpace
    held: np.ndarray

    def facets(self, name: str) -> np.ndarray:
        return self.space.facets_on(side_facets(self.mesh, name))

    def basis(self, opened: Sequence[str]) -> Matrix:
        active = self.held.copy()
        active[np.setdiff1d(np.arange(len(active)), self.space.outside)] = True
        for name in opened:
            active[self.facets(name)] = True
        keep = np.ones(self.space.size, dtype=bool)
        unknowns = self.space.unknowns_on(np.arange(len(active)))
        keep[unknowns.ravel()] = np.broadcast_to(active[:, None], unknowns.shape).ravel()
        return selection(keep)

    def centre(self, name: str) -> np.ndarray:
        return self.field(name).centre

    def twist_map(self, name: str, opened: Sequence[str]) -> Matrix:
        field = self.field(name)
        work = csr(field.mass @ field.rigid)
        return csr(unit_columns(field.unknowns, self.space.size) @ work)

    def field(self, name: str) -> SideField:
        facets, d = self.facets(name), self.space.dim
        mass, x = self.space.facet_mass(facets), self.space.facet_nodes(facets).reshape(-1, d)
        x = np.pad(x, ((0, 0), (0, 3 - d)))
        weight = np.asarray(mass.sum(axis=1))[::d]
        centre = weight @ x / weight.sum()
        rigid = rigid_motions(x - centre)[:, :d]
        # else straight edges would turn about themselves
        rigid[np.abs(rigid) < ROUND_OFF * np.abs(rigid).max()] = 0.0
        if d == 2:
            rigid[:, :, 2:5] = 0.0
        return SideField(x, mass, rigid.reshape(-1, 6), centre, self.space.unknowns_on(facets).ravel())


def stress_continuum(
    recipe: Any, mesh: Mesh, parts: Sequence[MaterialPart], axes: Mapping[str, str]
) -> StressContinuum:
    """The body of a sheet or solid; `axes` names the boundaries that are held, and along which axes."""
    d = mesh.dimension
    space = TractionSpace(np.ascontiguousarray(mesh.points[:, :d]), np.sort(_straight(mesh).cells, axis=1))
    S, rho = np.zeros((len(mesh.cells), len(VOIGT[d]), len(VOIGT[d]))), np.zeros((len(mesh.cells), 1))
    for part in parts:
        S[part.cells], rho[part.cells] = np.linalg.inv(part.A), part.rho
    thickness = recipe.thickness_at(space.points)
    M = space.mass(rho * thickness)
    require_mass(float(M.sum()) / d, recipe.mass)
    held = np.zeros((len(space.facets), d), dtype=bool)
    for name, letters in axes.items():
        if name not in mesh.boundaries:
            raise InputError(
                f"{name!r} is no boundary; with causality='velocity' sides can be held, but not lines and edges"
            )
        numbers = np.array(["xyz".index(a) for a in sorted(set(letters))])
        held[np.ix_(space.facets_on(mesh.boundaries[name]), numbers)] = True
    return StressContinuum(
        recipe,
        mesh,
        M,
        space.product(S, 1.0 / thickness, VOIGT[d]),
        csr(-space.divergence().T),
        sides=TractionSides(mesh, space, held),
        velocity=_velocity(space),
        damping=recipe.damping,
        ports=recipe.ports,
    )


def _velocity(space: TractionSpace) -> Field:
    """The velocities at the corners of all cells, and the faces that are drawn: the cells of a sheet, the surface of a solid."""
    corners, d = space.corners, space.dim
    x = space.vertices[corners].reshape(-1, d)
    motion = unit_columns((3 * np.arange(len(x))[:, None] + np.arange(d)).ravel(), 3 * len(x))
    faces = np.arange(corners.size).reshape(corners.shape)
    if d == 3:
        cell = space.first_cell[space.outside]
        on_facet = (corners[cell][:, :, None] == space.facets[space.outside][:, None]).any(axis=2)
        faces = faces[cell][on_facet].reshape(-1, 3)
    return Field(np.pad(x, ((0, 0), (0, 3 - d))), motion, faces)


def _straight(mesh: Mesh) -> Mesh:
    """The mesh, whose cells are straight triangles or tetrahedra. Raises InputError for others."""
    if mesh.kind not in SIMPLICES:
        needed = "triangle" if mesh.dimension == 2 else "tetrahedron"
        raise InputError(f"causality='velocity' needs cells='{needed}' or such a mesh; these are of kind {mesh.kind!r}")
    if mesh.order == 2:
        raise InputError(
            "causality='velocity' needs straight cells, which mesh.corners_only() gives; these may be curved"
        )
    return mesh
