"""Solids: three-dimensional elasticity on tetrahedra or hexahedra."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, TypedDict, Unpack

from phloat.algebra.metadata import describe
from phloat.algebra.threads import one_thread
from phloat.bodies.continua.continuum import Continuum
from phloat.bodies.continua.interfaces import PORTS, Place
from phloat.bodies.made import Made
from phloat.bodies.material import Damping, Rayleigh, a_damping
from phloat.bodies.solids.cells import Part, elastic
from phloat.bodies.solids.outlines import Box, Bracket, Outline, Tube, meshed
from phloat.bodies.solids.supports import Elastic, Line, Sides, of_regions, supported, weighed
from phloat.errors import InputError, mapping, positive
from phloat.fem.mesh import Mesh


class Options(TypedDict, total=False):
    """What every solid can be told by name: see `Solid`."""

    material: Elastic | Mapping[str, Elastic]
    clamped: Sides
    symmetric: Sides
    held: Mapping[str, str]
    lines: Mapping[str, Line]
    frame: str | None
    ports: Mapping[str, Place]
    damping: Damping
    stiffening: bool
    mass: float | None


@dataclass(frozen=True, eq=False)
class Solid:
    """An elastic solid on a mesh of tetrahedra or hexahedra, or in an outline that meshes itself.

    `material` is one for all, or {region: material}. Boundaries by name: `clamped` to the ground, `symmetric` (free to slide in
    their own plane), `held` along axes, {boundary: "xz"}; "all" are all that have names, "left & bottom" is the edge that two
    share, and `lines`, {name: (start, end)}, are straight lines along edges of cells that can be clamped or held, too.

    A body that shall float has none of these, but a `frame`: the boundary that the floating frame follows, or "mean axes"; and
    `ports`, {name: boundary, Mean(boundary), Patch(at, radius) or point}. `stiffening` adds the quadratic part of Green's strain.
    `mass` (kg) is what the body should weigh: a check of units.
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
        if not isinstance(self.mesh, Mesh) and not hasattr(self.mesh, "meshed"):
            raise InputError(f"mesh is {self.mesh!r}; it must be a Mesh, or use Solid.from_mesh(path) or Solid.box(…)")
        if isinstance(self.mesh, Mesh) and self.mesh.dimension != 3:
            raise InputError(f"a solid needs tetrahedra or hexahedra; these are {self.mesh.kind}s: use Sheet or Plate")
        a_damping(self.damping)
        mapping("ports", self.ports, PORTS)
        if self.mass is not None:
            positive("mass", self.mass)

    @classmethod
    def from_mesh(cls, path: str | Path, *, unit: float = 1.0, **options: Unpack[Options]) -> Solid:
        """A mesh read from a file; `unit` is the length of its unit in metres, 1e-3 for millimetres."""
        from phloat.fem.mesh_files import read_mesh

        return cls(read_mesh(path, unit=unit), **options)

    @classmethod
    def box(cls, a: float, b: float, c: float, *, cells: str = "hexahedron", **options: Unpack[Options]) -> Solid:
        """0 ≤ x ≤ a, 0 ≤ y ≤ b, 0 ≤ z ≤ c; sides left, right (x = 0, a), bottom, top (y), back, front (z)."""
        return cls(Box(a, b, c, cells), **options)

    @classmethod
    def tube(
        cls, length: float, outer: float, inner: float = 0.0, *, cells: str = "hexahedron", **options: Unpack[Options]
    ) -> Solid:
        """A tube about the x axis between two radii, a full bar where inner is 0; sides left, right, outer, inner."""
        return cls(Tube(length, outer, inner, cells), **options)

    @classmethod
    def bracket(
        cls,
        a: float,
        b: float,
        thickness: float,
        width: float,
        *,
        cells: str = "hexahedron",
        **options: Unpack[Options],
    ) -> Solid:
        """An L of two legs, a along x and b along y, width along z; its ends are A (x = a) and B (y = b)."""
        return cls(Bracket(a, b, thickness, width, cells), **options)

    @one_thread()
    def discretise(self, n: int | Sequence[int] | None = None, *, order: int = 2, refine: int = 0) -> Continuum:
        """The body with displacements of order 1 or 2 in cells whose geometry has the same order.

        n says how many cells an outline gets along its longest side, or along each of its sides; a mesh is cut into halves
        `refine` times. Cells of order 1 are stiff in bending and near incompressibility: they take many layers where those of
        order 2 take one or two.
        """
        mesh = meshed(self.mesh, n, order, refine)
        parts = [Part(cells, m.elasticity(), m.rho) for cells, m in of_regions(mesh, self.material)]
        free = elastic(
            self,
            mesh,
            parts,
            thickness=None,
            damping=self.damping,
            frame=self.frame,
            ports=self.ports,
            stiffening=self.stiffening,
        )
        weighed(float(free.samples.mass.sum()), self.mass)
        body = supported(free, self.clamped, self.symmetric, self.held, self.lines)
        return replace(body, made=Made(self).then("discretise", n, order=order, refine=refine))
