"""The elastic body on a mesh: displacements along each axis at the nodes, stresses at quadrature points of the cells.

Cσ = w A⁻¹σ,   D q = w ε(u),   so σ are the stresses themselves and DᵀC⁻¹D = ∫ εᵀA ε with that quadrature
ε(u) + ½ ∇uᵀ∇u is Green's strain; its quadratic part is `Strains.pair`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, csr, weighted, zero_matrix
from phloat.bodies.continua.continuum import Continuum
from phloat.bodies.continua.mesh_body import MassSamples, Patch, Strains, Surface, Trace, disc_error
from phloat.bodies.shape import rigid_motions
from phloat.bodies.solids.shape import Locator, MeshShape, SolidSurface
from phloat.errors import InputError
from phloat.fem.assembly import VOIGT, ElasticCells
from phloat.fem.cells import FACET, Reference, rule
from phloat.fem.mesh import Mesh

AXES = "xyz"


@dataclass(frozen=True, eq=False)
class MaterialPart:
    """Cells of one material: their numbers, elasticity matrix (Voigt), density, and for sheets all six stresses from the three."""

    cells: np.ndarray
    A: np.ndarray
    rho: float
    six_stresses: np.ndarray | None = None


def elastic_body(recipe: Any, mesh: Mesh, parts: Sequence[MaterialPart]) -> Continuum:
    """The continuum of a solid or sheet without supports."""
    cells = ElasticCells.from_mesh(mesh)
    d, count = cells.dim, len(mesh.points)
    at_mass, at_stress = (
        recipe.thickness_at(cells.positions(xi)) for xi, _ in (cells.reference.mass_rule, cells.reference.stress_rule)
    )
    density = np.zeros((len(cells.nodes), 1))
    for part in parts:
        density[part.cells] = part.rho
    mass = cells.mass(density * at_mass)
    Phi = [csr(sp.eye_array(d * count, format="csr")[axis::d]) for axis in range(d)]  # u_a of every node
    names = tuple(f"sigma_{AXES[a]}{AXES[b]}" for a, b in VOIGT[d])
    return Continuum(
        recipe=recipe,
        mesh=mesh,
        samples=MassSamples(
            x=mesh.points,
            mass=mass,
            Phi=(Phi[0], Phi[1], Phi[2] if d == 3 else zero_matrix(count, 2 * count)),
            weight=cells.volumes(),
        ),
        sections=None,
        M=csr(sp.kron(mass, sp.eye_array(d), format="csr")),
        K=cells.stiffness([(part.cells, part.A) for part in parts], at_stress),
        make_strains=partial(_strains, cells, parts, cells.stress_weights * at_stress, names, recipe.stiffening),
        rigid=_rigid(mesh.points, d),
        kinds=np.tile([f"u_{a}" for a in AXES[:d]], count),
        parts={name: (d * mesh.node_numbers(name)[:, None] + np.arange(d)).ravel() for name in mesh.boundaries},
        make_trace=partial(_trace, mesh, cells),
        make_surface=partial(_surface, mesh),
        shape=MeshShape(mesh.points, cells, names, _stress_maps(parts, len(cells.nodes))),
        damping=recipe.damping,
        frame=recipe.frame,
        ports=recipe.ports,
        stiffening=recipe.stiffening,
        stretch=partial(_stretch_coordinates, mesh.points, d),
    )


def _stress_maps(parts: Sequence[MaterialPart], count: int) -> np.ndarray | None:
    """All six stresses from those in the plane for every cell, (cells, 6, 3); None for solids."""
    out = np.zeros((count, 6, 3))
    for part in parts:
        if part.six_stresses is None:
            return None
        out[part.cells] = part.six_stresses
    return out


def _rigid(x: np.ndarray, d: int) -> np.ndarray:
    """Coordinates of the six rigid motions, u = e_k and u = e_k × x, (n, 6)."""
    out = rigid_motions(x)[:, :d]
    if d == 2:
        out[:, :, 2:5] = 0.0  # a sheet moves in its plane only
    return out.reshape(len(x) * d, 6)


def _strains(
    cells: ElasticCells, parts: Sequence[MaterialPart], weight: np.ndarray, names: tuple[str, ...], stiffening: bool
) -> Strains:
    """C, D and the quadratic part, tested with stresses at the quadrature points."""
    pairs, d, w = VOIGT[cells.dim], cells.dim, weight.ravel()
    slope = [csr(weighted(g, w)) for g in cells.derivatives()]

    def derivative(axis: int, direction: int) -> Matrix:
        """The matrix of w ∂u_axis/∂x_direction."""
        g = slope[direction]
        return sp.csr_array((g.data, g.indices * d + axis, g.indptr), shape=(g.shape[0], g.shape[1] * d))

    D = [derivative(a, a) if a == b else derivative(a, b) + derivative(b, a) for a, b in pairs]
    S = np.zeros((len(cells.nodes), len(pairs), len(pairs)))
    for part in parts:
        S[part.cells] = np.linalg.inv(part.A)
    S = np.repeat(S, weight.shape[1], axis=0) * w[:, None, None]
    used = np.abs(S).max(axis=0) > 0
    C = [[sp.diags_array(S[:, k, l]) if used[k, l] else None for l in range(len(pairs))] for k in range(len(pairs))]

    layout = Layout(dict.fromkeys(names, weight.shape), "stress")
    pair = GreenStrain(tuple(slope), w, d) if stiffening else None
    return Strains(csr(sp.block_array(C, format="csr")), csr(sp.vstack(D)), layout, pair)


@dataclass(frozen=True, eq=False)
class GreenStrain:
    """The bilinear form ½ (∇uᵀ∇v + ∇vᵀ∇u) at the quadrature points, with engineering shear, from weighted slopes."""

    slope: tuple[Matrix, ...]
    w: np.ndarray
    d: int

    def __call__(self, q: np.ndarray, r: np.ndarray) -> np.ndarray:
        u, v = ([g @ field.reshape(-1, self.d) for g in self.slope] for field in (q, r))

        def product(a: int, b: int) -> np.ndarray:
            return np.asarray(np.einsum("pk,pk->p", u[a], v[b]) / self.w)

        pairs = VOIGT[self.d]
        return np.concatenate([product(a, a) if a == b else product(a, b) + product(b, a) for a, b in pairs])


def _stretch_coordinates(x: np.ndarray, d: int, G: np.ndarray) -> np.ndarray:
    """The coordinates of the field u = G x."""
    return np.asarray((x @ G.T)[:, :d].ravel())


def _trace(mesh: Mesh, cells: ElasticCells, part: str | Patch) -> Trace:
    """A boundary, a region of cells, a disc or ("") all cells as quadrature points."""
    if isinstance(part, Patch):
        nodes, values, x, weight = SolidSurface(mesh).disc(part) if mesh.dimension == 3 else _disc(cells, part)
    elif part in mesh.boundaries:
        nodes, values, x, weight = _on_facets(mesh, part)
    else:
        chosen, (xi, _) = mesh.regions[part] if part else np.arange(len(cells.nodes)), cells.reference.mass_rule
        nodes, values = (
            np.repeat(cells.nodes[chosen], len(xi), axis=0),
            np.tile(cells.reference.values(xi), (len(chosen), 1)),
        )
        x, weight = cells.positions(xi)[chosen].reshape(-1, cells.dim), cells.mass_weights[chosen].ravel()
    x = np.pad(x, ((0, 0), (0, 3 - x.shape[1])))
    return Trace(x, weight, u=_by_axis(mesh, nodes, values))


def _by_axis(mesh: Mesh, nodes: np.ndarray, values: np.ndarray) -> tuple[Matrix, Matrix, Matrix]:
    """The matrices from displacements of nodes to Σ value · u_a at each point, a = x, y, z; arrays are (points, nodes)."""
    d, (rows, n) = mesh.dimension, nodes.shape
    start, shape = np.arange(0, rows * n + 1, n), (rows, d * len(mesh.points))
    u = [csr(sp.csr_array((values.ravel(), d * nodes.ravel() + a, start), shape=shape)) for a in range(d)]
    return u[0], u[1], u[2] if d == 3 else zero_matrix(*shape)


Spread: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # nodes and values of each point, x, weight


def _disc(cells: ElasticCells, patch: Patch) -> Spread:
    """The quadrature points of a disc in a sheet."""
    middle, locator = np.array([patch.at[:2]]), Locator(cells)
    size = float(np.sqrt(cells.mass_weights[locator.find(middle)[0][0]].sum()))
    offset, weight = patch.disc(size)
    try:
        cell, xi = locator.find(middle + offset)
    except InputError:
        raise disc_error(patch, "the sheet") from None
    return cells.nodes[cell], cells.reference.values(xi), middle + offset, weight


def _on_facets(mesh: Mesh, name: str) -> Spread:
    """The quadrature points of a boundary."""
    nodes, values, _, x, weight, (first, second) = _facet_points(mesh, name)
    return nodes, values, x, weight * np.linalg.norm(np.cross(first, second), axis=-1)


def _facet_points(
    mesh: Mesh, name: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Quadrature points of a boundary: nodes, values and slopes of their functions, x, weights, tangents (2, points, 3).

    The second tangent of an edge of a sheet is the normal of the sheet.
    """
    facet, nodes = Reference(FACET[mesh.kind], mesh.order), mesh.facet_nodes(name)
    xi, weight = rule(facet.kind, 2 * mesh.order + 1)
    values, slopes, corners = facet.values(xi), facet.slopes(xi), mesh.points[nodes]
    tangents = np.einsum("qnb,fna->bfqa", slopes, corners).reshape(len(slopes[0, 0]), -1, 3)
    if mesh.dimension == 2:
        tangents = np.stack([tangents[0], np.broadcast_to([0.0, 0.0, 1.0], tangents[0].shape)])
    x = np.einsum("qn,fna->fqa", values, corners).reshape(-1, 3)
    count = len(nodes)
    return (
        *(np.repeat(nodes, len(xi), axis=0), np.tile(values, (count, 1)), np.tile(slopes, (count, 1, 1))),
        *(x, np.tile(weight, count), tangents),
    )


def _surface(mesh: Mesh, name: str) -> Surface:
    """A boundary with its tangents."""
    nodes, values, slopes, x, weight, (first, second) = _facet_points(mesh, name)
    changes = [_by_axis(mesh, nodes, slopes[:, :, b]) for b in range(slopes.shape[2])]
    none = zero_matrix(*changes[0][0].shape)
    u = _by_axis(mesh, nodes, values)
    return Surface(x, weight, (first, second), u, (changes[0], changes[1] if len(changes) > 1 else (none, none, none)))
