"""Sheets and solids whose boundary takes velocities: M v̇ = Div σ − R v,  C σ̇ = ε(v), with continuous tractions σ n.

The other causality of `Continuum`. Integration by parts of ε(v) instead of Div σ gives, for all w and τ,

    (ρ v̇, w) = (Div σ, w),     (A σ̇, τ) = −(v, Div τ) + ∫_∂ v_∂ · τ n,     y_∂ = ∫_∂ φ · σ n,

so velocities are natural on the boundary and zero where nothing is said there, and a free side is σ n = 0 for the unknowns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp

from phloat.algebra.layout import Layout, joined_layouts
from phloat.algebra.sparse import Matrix, csr, zero_matrix
from phloat.bodies.body import Recipe, elastic_system
from phloat.bodies.construction import Construction
from phloat.bodies.continua.continuum import require_mass
from phloat.bodies.continua.mesh_body import Place, Rigid
from phloat.bodies.damping import GROUND
from phloat.bodies.material import Damping, ModalDamping
from phloat.bodies.shape import rigid_motions
from phloat.bodies.solids.cells import MaterialPart
from phloat.errors import InputError, port_name, unknown
from phloat.fem.assembly import VOIGT
from phloat.fem.cells import SIMPLICES
from phloat.fem.mesh import Mesh
from phloat.fem.stress_space import TractionSpace
from phloat.linear.analysis.modes import modes
from phloat.linear.form.phdae import Field, LinearPHDAE

FLOAT = (
    "causality='velocity' is for small motions: a body that floats is free, and free sides are conditions on its stresses "
    "(σ n = 0), not inputs that are zero; use causality='force'"
)


@dataclass(frozen=True, eq=False)
class StressContinuum:
    """A sheet or solid in small motion whose boundary takes velocities and returns tractions.

    M is the mass matrix of velocities of degree 1 in every cell, C the compliance and D the weak strain of all stress unknowns.
    `held` (facets, dimension) are the components of velocity that are zero on each facet; the others are free there, except
    on the boundaries that `linear` or a port opens.
    """

    recipe: Recipe
    mesh: Mesh
    space: TractionSpace
    M: Matrix
    C: Matrix
    D: Matrix
    _: KW_ONLY
    held: np.ndarray
    damping: Damping
    ports: Mapping[str, Place]
    construction: Construction | None = None

    def __repr__(self) -> str:
        return (
            f"StressContinuum({type(self.recipe).__name__}; {self.M.shape[0]} velocities, {self.C.shape[0]} stresses; "
            f"boundaries: {', '.join(self.mesh.boundaries)})"
        )

    def linear(self, boundary: Sequence[str] = ()) -> LinearPHDAE:
        """The linear port-Hamiltonian system of (v | σ): E = diag(M, C), J = [[0, −Dᵀ], [D, 0]], with inputs on σ.

        The input of a port of the recipe is the twist of its boundary, which moves rigidly, its output the wrench on it. Those of
        `boundary` are the velocity field ũ at the nodes of a named boundary, and y = M_∂ỹ with its tractions ỹ (see
        `boundary_field`). Of a sheet, tractions and stresses are per length.
        """
        if isinstance(boundary, str):
            raise InputError(f"boundary is {boundary!r}; write a tuple of names: ({boundary!r},)")
        sides = {name: self._side(name, place) for name, place in self.ports.items()} | {n: n for n in boundary}
        keep = self._unknowns(sides)
        columns = {name: csr(self.input_map(side)[keep]) for name, side in sides.items()}
        for name in self.ports:
            columns[name] = csr(columns[name] @ self.rigid_field(sides[name])[1])
        system = self._without_ports(keep)
        B = sp.hstack([zero_matrix(len(keep), 0), *columns.values()])
        return replace(
            system,
            B=csr(sp.vstack([zero_matrix(self.M.shape[0], B.shape[1]), B])),
            ports=joined_layouts([Layout({name: (b.shape[1],) for name, b in columns.items()})], "port"),
        )

    def _without_ports(self, keep: np.ndarray) -> LinearPHDAE:
        """The system of all velocities and the stress unknowns `keep`."""
        x, n = self.space.vertices[self.space.corners].reshape(-1, self.space.dim), self.M.shape[0]
        rows = 3 * np.arange(len(x))[:, None] + np.arange(self.space.dim)
        motion = sp.coo_array((np.ones(n), (rows.ravel(), np.arange(n))), shape=(3 * len(x), n))
        return elastic_system(
            M=self.M,
            C=csr(self.C[keep][:, keep]),
            D=csr(self.D[keep]),
            R=self._damping_matrix,
            B=zero_matrix(n, 0),
            velocities=Layout({"v": (n,)}),
            ports=Layout({}, "port"),
            field=Field(np.pad(x, ((0, 0), (0, 3 - self.space.dim))), csr(motion), self._faces),
        )

    def modes(self, count: int = 20) -> tuple[np.ndarray, np.ndarray]:
        """ω (rad/s, ascending, rigid ones 0) and shapes of unit mass, velocities × count; sides are held as in the recipe."""
        result = modes(self.linear(), count)
        return result.omega[:count], result.vectors[:, :count]

    def reduced(self, *_: object, **__: object) -> NoReturn:
        """Raises InputError: this body does not float."""
        raise InputError(FLOAT)

    # --- boundaries --------------------------------------------------------------------------------------------------

    def facets_on(self, name: str) -> np.ndarray:
        """The numbers of the facets of a named boundary. Raises InputError for an unknown name."""
        if name not in self.mesh.boundaries:
            raise InputError(unknown("boundary", name, self.mesh.boundaries))
        return self.space.facets_on(self.mesh.boundaries[name])

    def boundary_mass(self, name: str) -> Matrix:
        """M_∂ = ∫ φφ of the velocities and tractions at the nodes of a boundary, (facet, node, axis)."""
        return self.space.facet_mass(self.facets_on(name))

    def input_map(self, name: str) -> Matrix:
        """∫ v_∂ · τ n of the velocities at the nodes of a boundary, (stress unknowns, velocities)."""
        unknowns = self.space.unknowns_on(self.facets_on(name)).ravel()
        chosen = (np.ones(len(unknowns)), (unknowns, np.arange(len(unknowns))))
        return csr(sp.coo_array(chosen, shape=(self.space.size, len(unknowns))) @ self.boundary_mass(name))

    def rigid_field(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """The centre of a boundary, and the velocities at its nodes per twist (v, ω) of the centre, (velocities, 6)."""
        facets, d = self.facets_on(name), self.space.dim
        x = np.pad(self.space.facet_nodes(facets).reshape(-1, d), ((0, 0), (0, 3 - d)))
        weight = np.asarray(self.boundary_mass(name).sum(axis=1))[::d]
        centre = weight @ x / weight.sum()
        field = rigid_motions(x - centre)[:, :d]
        field[np.abs(field) < 1e-12 * np.abs(field).max()] = 0.0  # round-off would turn straight edges about themselves
        if d == 2:
            field[:, :, 2:5] = 0.0
        return centre, field.reshape(-1, 6)

    def port_centre(self, name: str) -> np.ndarray:
        """The centre of the boundary of a port."""
        return self.rigid_field(self._side(name, self.ports[name]))[0]

    def _side(self, name: str, place: Place) -> str:
        """The boundary of a port. Raises InputError if it is none, or shares facets with another port."""
        port_name(name)
        side = place.boundary if isinstance(place, Rigid) else place
        if not isinstance(side, str):
            raise InputError(
                f"port {name!r} is {place!r}; with causality='velocity' a port is a boundary, which moves rigidly"
            )
        return side

    def _unknowns(self, sides: Mapping[str, str]) -> np.ndarray:
        """The stress unknowns that are not zero: inside, where a side is held, and on `sides`, which are open."""
        active, seen = self.held.copy(), np.zeros(len(self.held), dtype=bool)
        for name, side in sides.items():
            facets = self.facets_on(side)
            if seen[facets].any():
                raise InputError(f"port {name!r} on {side!r} shares facets with another one; a facet has one velocity")
            seen[facets], active[facets] = True, True
        active[np.setdiff1d(np.arange(len(active)), self.space.outside)] = True
        keep = np.ones(self.space.size, dtype=bool)
        unknowns = self.space.unknowns_on(np.arange(len(active)))
        keep[unknowns.ravel()] = np.broadcast_to(active[:, None], unknowns.shape).ravel()
        return np.flatnonzero(keep)

    @cached_property
    def _faces(self) -> np.ndarray:
        """The faces that are drawn, by corners of cells: the cells of a sheet, the boundary facets of a solid."""
        corners = self.space.corners
        numbers = np.arange(corners.size).reshape(corners.shape)
        if self.space.dim == 2:
            return numbers
        cell = self.space.first_cell[self.space.outside]
        on_facet = (corners[cell][:, :, None] == self.space.facets[self.space.outside][:, None]).any(axis=2)
        return numbers[cell][on_facet].reshape(-1, 3)

    @cached_property
    def _damping_matrix(self) -> Matrix:
        """The damping matrix of the velocities. Raises InputError for damping that these stresses do not have."""
        damping = self.damping
        if isinstance(damping, ModalDamping) or damping.stiffness:
            raise InputError(
                "causality='velocity' takes Rayleigh(mass=…, relative_to='ground') only: its stresses are not local to cells"
            )
        if damping.mass and damping.relative_to != GROUND:  # type: ignore[union-attr]
            raise InputError(
                f"a body with causality='velocity' is damped relative to the ground: relative_to='{GROUND}'"
            )
        return csr(damping.mass * self.M)


def stress_continuum(
    recipe: Any, mesh: Mesh, parts: Sequence[MaterialPart], axes: Mapping[str, str]
) -> StressContinuum:
    """The body of a sheet or solid; `axes` names the boundaries that are held, and along which axes."""
    d = mesh.dimension
    space = TractionSpace.from_cells(np.ascontiguousarray(mesh.points[:, :d]), _straight(mesh).cells)
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
                f"{name!r} is no boundary; with causality='velocity' lines and edges cannot be held, sides can"
            )
        numbers = np.array(["xyz".index(a) for a in sorted(set(letters))])
        held[np.ix_(space.facets_on(mesh.boundaries[name]), numbers)] = True
    C, D = space.product(S, 1.0 / thickness, VOIGT[d]), csr(-space.divergence().T)
    return StressContinuum(recipe, mesh, space, M, C, D, held=held, damping=recipe.damping, ports=recipe.ports)


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
