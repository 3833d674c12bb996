"""Forces and moments that a point of a plate, a sheet or a solid can carry, and how its compliance grows with the mesh.

A concentrated force or moment moves its own point by an amount that may grow without bound as the cells are halved:

| per halving | Kirchhoff plate | Mindlin plate | sheet | solid |
|---|---|---|---|---|
| force across the plate | converges | + ln 2 / 2π · 1/S | | |
| force in the plane | + ln 2 / 2π · ⟨Q⁻¹⟩ | the same | the same | doubles |
| moment about axes in the plane | + ln 2 / 2π · ⟨t tᵀ/D⟩ | the same | | × 8 |
| moment about the normal | × 4 | × 4 | × 4 | × 8 |

⟨·⟩ are means over directions n in the plane, Q = NᵀA N the acoustic matrix of the membrane, D(n) the bending stiffness about
t ⟂ n. (Isotropic: (1 + ν)(3 − ν)/(4π E h) and 1/(4π D), the logarithms of Kelvin's and Kirchhoff's point loads.) On an edge there
is half a plane: 2/(π E h) of Flamant, and 8/((3 + ν)(1 − ν)) times as much for moments, twice for shear.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.linalg as la

from phloat.algebra.sparse import factorised
from phloat.bodies.body import Body
from phloat.bodies.continua.continuum import Continuum, mesh_of
from phloat.bodies.continua.mesh_body import Mean, Patch, Rigid, interface
from phloat.bodies.material import Material
from phloat.bodies.plates.plate import Plate
from phloat.bodies.solids.solid import Elastic, Sheet, Solid
from phloat.fem.mesh import Mesh

DIRECTIONS = 64  # for the means, which converge fast
PER_HALVING = np.log(2.0) / (2.0 * np.pi)
ON_EDGE = 0.05  # of the length of a facet, as a point may lie off a curved rim
SOLID = 2.0  # growth of the compliance of a point of a solid, of 1 / (E size of the cell): measured 1.1 to 4


@dataclass(frozen=True, eq=False)
class PointPort:
    """The compliance of a point: `force` and `moment` (3 × 3, body axes) are what its compliances gain when cells are halved.

    `not_carried` (3 × axes) are the axes of moments under which its rotation grows by a power of the mesh.
    """

    kind: str
    x: np.ndarray
    force: np.ndarray
    moment: np.ndarray
    not_carried: np.ndarray


def point_port(body: Body | Continuum, name: str) -> PointPort | None:
    """The port of a body on a mesh if it is a point; None for all other ports."""
    recipe = body.recipe
    if not isinstance(recipe, (Plate, Sheet, Solid)) or name not in recipe.ports:
        return None
    if isinstance(place := recipe.ports[name], (str, Mean, Rigid, Patch)):
        return None
    x, e = np.asarray(place, dtype=float), np.eye(3)
    mesh = body.mesh if isinstance(body, Continuum) else mesh_of(body)
    if not isinstance(recipe, Solid):
        nu = recipe.material.nu if isinstance(recipe.material, Material) else 0.3
        edge = mesh is not None and _on_edge(mesh, x)
        stretch, turn, shear = (8 / (1 + nu) / (3 - nu), 8 / (3 + nu) / (1 - nu), 2.0) if edge else (1.0, 1.0, 1.0)
        scale = np.diag([stretch, stretch, shear])
        if isinstance(recipe, Sheet):
            return PointPort("sheet", x, _sheet_growth(recipe, x) @ scale, np.zeros((3, 3)), e[:, 2:])
        force, moment = _plate_growth(recipe, x)
        return PointPort("plate", x, force @ scale, moment * turn, e[:, 2:])
    return PointPort("solid", x, _solid_growth(recipe, mesh) * e, np.zeros((3, 3)), e)


def compliance(body: Body | Continuum, name: str) -> np.ndarray | None:
    """The motions (u, θ) of a port per unit force and moment there, 6 × 6; None for a continuum without supports."""
    if isinstance(body, Body):
        port = body.port(name)
        L = np.vstack([port.Phi, port.Psi])
        return np.asarray(L @ la.solve(body.elastic.K.toarray(), L.T, assume_a="pos"))
    if not body.held or body.K is None:
        return None
    rows = interface(body, name, body.ports[name]).L.toarray()
    return np.asarray(rows @ factorised(body.K)(np.ascontiguousarray(rows.T)))


def _on_edge(mesh: Mesh, x: np.ndarray) -> bool:
    """Whether a point lies on the boundary of a plane mesh."""
    a, b = mesh.points[mesh.facets[:, 0], :2], mesh.points[mesh.facets[:, 1], :2]
    way = b - a
    length = np.linalg.norm(way, axis=1)
    t = np.clip(np.einsum("fi,fi->f", x[:2] - a, way) / length**2, 0.0, 1.0)
    return bool((np.linalg.norm(x[:2] - a - t[:, None] * way, axis=1) < ON_EDGE * length).any())


def _directions() -> np.ndarray:
    angle = np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _membrane(A: np.ndarray) -> np.ndarray:
    """ln 2 / 2π ⟨(NᵀA N)⁻¹⟩ of stiffness A of xx, yy, xy."""
    a, b = _directions().T
    none = np.zeros_like(a)
    N = np.stack([np.stack([a, none], axis=1), np.stack([none, b], axis=1), np.stack([b, a], axis=1)], axis=1)
    out = np.zeros((3, 3))
    out[:2, :2] = PER_HALVING * np.linalg.inv(np.einsum("pki,kl,plj->pij", N, A, N)).mean(axis=0)
    return out


def _plate_growth(plate: Plate, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    through = plate.section.through(x[None, :2])
    a, b = _directions().T
    curvature, t = np.column_stack([a**2, b**2, 2.0 * a * b]), np.column_stack([b, -a])
    bending = np.einsum("pk,kl,pl->p", curvature, through.D[0], curvature)
    moment = np.zeros((3, 3))
    moment[:2, :2] = PER_HALVING * np.einsum("pi,pj,p->ij", t, t, 1.0 / bending) / DIRECTIONS
    force = _membrane(through.A[0]) if plate.with_membrane else np.zeros((3, 3))
    if plate.theory == "mindlin":
        n = _directions()
        force[2, 2] = PER_HALVING * float(np.mean(1.0 / np.einsum("pi,ij,pj->p", n, through.shear[0], n)))
    return force, moment


def _sheet_growth(sheet: Sheet, x: np.ndarray) -> np.ndarray:
    h = float(sheet.thickness_at(x[None, :2])[0])
    return np.asarray(max((_membrane(h * sheet.elasticity(m)[0]) for m in _materials(sheet)), key=np.trace))


def _solid_growth(solid: Solid, mesh: Mesh | None) -> float:
    if mesh is None:
        return 0.0
    size = float(np.cbrt(mesh.measure.min()))
    return SOLID / (size * min(float(np.min(m.E)) for m in _materials(solid)))


def _materials(recipe: Sheet | Solid) -> list[Elastic]:
    return list(recipe.material.values()) if isinstance(recipe.material, Mapping) else [recipe.material]
