"""Elastic bodies on meshes: solids on tetrahedra or hexahedra, sheets in the plane xy on triangles or quadrilaterals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np

from phloat.algebra.metadata import describe
from phloat.algebra.threads import one_thread
from phloat.bodies.construction import Construction
from phloat.bodies.continua.continuum import Continuum
from phloat.bodies.continua.interfaces import PORTS, Place
from phloat.bodies.material import Damping, Rayleigh, require_damping
from phloat.bodies.outlines import BoxOutline, BracketOutline, Outline, RectangleOutline, TubeOutline, mesh_outline
from phloat.bodies.solids.cells import MaterialPart, Thickness, elastic_body
from phloat.bodies.solids.supports import Elastic, Line, Sides, cells_by_material, require_mass, with_supports
from phloat.errors import InputError, mapping, positive, unknown
from phloat.fem.mesh import Mesh


@dataclass(frozen=True, eq=False)
class Solid:
    """An elastic solid on a mesh of tetrahedra or hexahedra, or in an outline that meshes itself.

    Make it by `Solid.box`, `Solid.tube`, `Solid.bracket` or `Solid.from_mesh(file)`, with the other fields as keywords. Boundaries
    are given by name; "all" are all that have names, "left & bottom" is the edge that two share.

    Parameters
    ----------
    mesh : Mesh or outline
        Shape (m).
    material : Material or Orthotropic, or dict
        One for all, or {region: material}.
    clamped, symmetric : str or tuple of str, optional
        Boundaries that are held to the ground, or free to slide in their own plane only.
    held : dict, optional
        Boundaries, edges or lines held along some axes, {name: "xz"}.
    frame : str, optional
        For a body that floats, which is not held anywhere: the boundary that its frame follows, or "mean axes".
    ports : dict, optional
        {name: boundary, Mean(boundary), Patch(at, radius) or point (x, y, z) in m}.
    damping : Rayleigh, KelvinVoigt or ModalDamping, optional
        How it loses energy; undamped by default.
    stiffening : bool, optional
        Adds the quadratic part of Green's strain.
    mass : float, optional
        What the body should weigh (kg): a check of units.
    lines : dict, optional
        Straight lines along edges of cells, {name: (start, end)} (m), which can be clamped or held.

    Examples
    --------
    >>> steel = ph.Material(E=2.1e11, rho=7800.0, nu=0.3)
    >>> bar = ph.Solid.box(0.5, 0.04, 0.02, material=steel, clamped="left").discretise(10)
    >>> omega, shapes = bar.modes(1)
    >>> beam = 3.516 / 0.5**2 * np.sqrt(2.1e11 * 0.02**2 / 12 / 7800.0)  # a clamped-free beam
    >>> print(f"{omega[0] / beam:.2f}")
    1.01
    """

    mesh: Mesh | Outline
    material: Elastic | Mapping[str, Elastic] = field(metadata=describe("material"))
    clamped: Sides = field(default=None, metadata=describe("held: a boundary, several, or all"))
    symmetric: Sides = field(
        default=None, metadata=describe("free to slide in its own plane: a boundary, several, or all")
    )
    held: Mapping[str, str] = field(
        default_factory=dict,
        metadata=describe("{boundary, edge (left & bottom) or line: axes that are held, such as xz}"),
    )
    frame: str | None = field(
        default=None,
        metadata=describe("the boundary that the floating frame follows, or mean axes; none for small motions"),
    )
    ports: Mapping[str, Place] = field(
        default_factory=dict,
        metadata=describe("{name: boundary, {mean: boundary or region}, {patch: {at, radius}} or point}"),
    )
    damping: Damping = field(default=Rayleigh(), metadata=describe("how it loses energy"))
    stiffening: bool = field(default=True, metadata=describe("whether stress stiffens it"))
    mass: float | None = field(
        default=None, metadata=describe("what it should weigh: a check of units", "mass", above=0.0)
    )
    lines: Mapping[str, Line] = field(default_factory=dict, metadata=describe("straight lines by name: their two ends"))
    not_numbers: ClassVar[tuple[str, ...]] = ("mass",)  # a check

    def __post_init__(self) -> None:
        if not isinstance(self.mesh, Mesh) and not hasattr(self.mesh, "mesh"):
            raise InputError(f"mesh is {self.mesh!r}; it must be a Mesh, or use Solid.from_mesh(path) or Solid.box(…)")
        if isinstance(self.mesh, Mesh) and self.mesh.dimension != 3:
            raise InputError(f"a solid needs tetrahedra or hexahedra; these are {self.mesh.kind}s: use Sheet or Plate")
        _check_options(self)

    @classmethod
    def from_mesh(cls, path: str | Path, *, unit: float = 1.0, **options: Any) -> Solid:
        """A mesh read from a file; `unit` is the length of its unit in metres, 1e-3 for millimetres."""
        from phloat.fem.mesh_files import read_mesh

        return cls(read_mesh(path, unit=unit), **options)

    @classmethod
    def box(cls, a: float, b: float, c: float, *, cells: str = "hexahedron", **options: Any) -> Solid:
        """0 ≤ x ≤ a, 0 ≤ y ≤ b, 0 ≤ z ≤ c; sides left, right (x = 0, a), bottom, top (y), back, front (z)."""
        return cls(BoxOutline(a, b, c, cells), **options)

    @classmethod
    def tube(
        cls, length: float, outer: float, inner: float = 0.0, *, cells: str = "hexahedron", **options: Any
    ) -> Solid:
        """A tube about the x axis between two radii, a full bar where inner is 0; sides left, right, outer, inner."""
        return cls(TubeOutline(length, outer, inner, cells), **options)

    @classmethod
    def bracket(
        cls, a: float, b: float, thickness: float, width: float, *, cells: str = "hexahedron", **options: Any
    ) -> Solid:
        """An L of two legs, a along x and b along y, width along z; its ends are A (x = a) and B (y = b)."""
        return cls(BracketOutline(a, b, thickness, width, cells), **options)

    @one_thread()
    def discretise(self, n: int | Sequence[int] | None = None, *, order: int = 2, refine: int = 0) -> Continuum:
        """The body with displacements of order 1 or 2 in cells whose geometry has the same order.

        n says how many cells an outline gets along its longest side, or along each of its sides; a mesh is cut into halves
        `refine` times. Cells of order 1 are stiff in bending and near incompressibility: they take many layers where those of
        order 2 take one or two.
        """
        mesh = mesh_outline(self.mesh, n, order, refine)
        parts = [MaterialPart(cells, m.elasticity(), m.rho) for cells, m in cells_by_material(mesh, self.material)]
        construction = Construction(self).then("discretise", n, order=order, refine=refine)
        return _assembled(self, mesh, parts, construction=construction)


# --- both -------------------------------------------------------------------------------------------------------------


def _check_options(body: Solid | Sheet) -> None:
    require_damping(body.damping)
    mapping("ports", body.ports, PORTS)
    if body.mass is not None:
        positive("mass", body.mass)


def _assembled(
    body: Solid | Sheet,
    mesh: Mesh,
    parts: list[MaterialPart],
    thickness: Thickness | None = None,
    *,
    construction: Construction,
) -> Continuum:
    """The body on a mesh, held where its recipe says so."""
    free = elastic_body(body, mesh, parts, thickness)
    require_mass(float(free.samples.mass.sum()), body.mass)
    held = with_supports(free, body.clamped, body.symmetric, body.held, body.lines)
    return replace(held, construction=construction)


# --- sheets -----------------------------------------------------------------------------------------------------------
#
# Elasticity in a plane: sheets that move and stretch in the plane xy.


PLANES = ("stress", "strain")
WITHIN = (0, 1, 5)  # the strains xx, yy, xy
SheetThickness: TypeAlias = "float | Callable[[np.ndarray, np.ndarray], np.ndarray | float]"


@dataclass(frozen=True, eq=False)
class Sheet:
    """A sheet in the plane xy on triangles or quadrilaterals; displacements u_x, u_y, stresses xx, yy, xy.

    plane="stress": nothing pulls across it, a thin sheet; "strain": nothing moves across it, a slice of a long body.
    `thickness` (m) is constant or a function of arrays x, y. The other options are those of `Solid`.
    """

    mesh: Mesh | Outline
    material: Elastic | Mapping[str, Elastic] = field(metadata=describe("material"))
    thickness: SheetThickness = field(default=1.0, metadata=describe("a length, or a polynomial of x and y"))
    plane: str = field(
        default="stress", metadata=describe("nothing pulls (stress) or moves (strain) across it", choices=PLANES)
    )
    clamped: Sides = field(default=None, metadata=describe("held: a boundary, several, or all"))
    symmetric: Sides = field(
        default=None, metadata=describe("free to slide in its own plane: a boundary, several, or all")
    )
    held: Mapping[str, str] = field(
        default_factory=dict,
        metadata=describe("{boundary, edge (left & bottom) or line: axes that are held, such as xz}"),
    )
    frame: str | None = field(
        default=None,
        metadata=describe("the boundary that the floating frame follows, or mean axes; none for small motions"),
    )
    ports: Mapping[str, Place] = field(
        default_factory=dict,
        metadata=describe("{name: boundary, {mean: boundary or region}, {patch: {at, radius}} or point}"),
    )
    damping: Damping = field(default=Rayleigh(), metadata=describe("how it loses energy"))
    stiffening: bool = field(default=True, metadata=describe("whether stress stiffens it"))
    mass: float | None = field(
        default=None, metadata=describe("what it should weigh: a check of units", "mass", above=0.0)
    )
    lines: Mapping[str, Line] = field(default_factory=dict, metadata=describe("straight lines by name: their two ends"))
    not_numbers: ClassVar[tuple[str, ...]] = ("mass",)  # a check

    def __post_init__(self) -> None:
        if not isinstance(self.mesh, Mesh) and not hasattr(self.mesh, "mesh"):
            raise InputError(f"mesh is {self.mesh!r}; it must be a Mesh, or use Sheet.rectangle(a, b, …)")
        if isinstance(self.mesh, Mesh) and self.mesh.dimension != 2:
            raise InputError(
                f"a sheet needs triangles or quadrilaterals; these cells are of kind {self.mesh.kind}: use Solid"
            )
        if self.plane not in PLANES:
            raise InputError(unknown("plane", self.plane, PLANES))
        if not callable(self.thickness):
            object.__setattr__(self, "thickness", positive("thickness", self.thickness))
        _check_options(self)

    @classmethod
    def from_mesh(cls, path: str | Path, *, unit: float = 1.0, **options: Any) -> Sheet:
        """A mesh read from a file; `unit` is the length of its unit in metres, 1e-3 for millimetres."""
        from phloat.fem.mesh_files import read_mesh

        return cls(read_mesh(path, unit=unit), **options)

    @classmethod
    def rectangle(cls, a: float, b: float, *, cells: str = "quadrilateral", **options: Any) -> Sheet:
        """0 ≤ x ≤ a, 0 ≤ y ≤ b; sides left, right (x = 0, a), bottom, top (y = 0, b)."""
        return cls(RectangleOutline(a, b, cells), **options)

    @one_thread()
    def discretise(self, n: int | Sequence[int] | None = None, *, order: int = 2, refine: int = 0) -> Continuum:
        """The body with displacements of order 1 or 2, n cells along the longest side or along each; see `Solid.discretise`."""
        mesh = mesh_outline(self.mesh, n, order, refine)
        parts = [MaterialPart(cells, *self.elasticity(m)) for cells, m in cells_by_material(mesh, self.material)]
        construction = Construction(self).then("discretise", n, order=order, refine=refine)
        return _assembled(self, mesh, parts, self.thickness_at, construction=construction)

    def elasticity(self, material: Elastic) -> tuple[np.ndarray, float, np.ndarray]:
        """Stress from strain in the plane, density, and all six stresses from those in the plane."""
        if self.plane == "stress":
            return material.plane_stress(), material.rho, np.eye(6)[:, WITHIN]
        A = material.elasticity()[:, WITHIN]
        return A[list(WITHIN)], material.rho, A @ np.linalg.inv(A[list(WITHIN)])

    def thickness_at(self, x: np.ndarray) -> np.ndarray:
        h = self.thickness(x[..., 0], x[..., 1]) if callable(self.thickness) else self.thickness
        h = np.broadcast_to(np.asarray(h, dtype=float), x.shape[:-1])
        if not (np.isfinite(h) & (h > 0.0)).all():
            worst = np.unravel_index(np.where(np.isfinite(h), h, -np.inf).argmin(), h.shape)
            place = ", ".join(f"{v:.4g}" for v in x[worst])
            raise InputError(f"the thickness is {h[worst]:g} at ({place}); it must be positive all over the sheet")
        return h
