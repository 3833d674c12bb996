"""Elasticity in a plane: sheets that move and stretch in the plane xy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, TypeAlias, TypedDict, Unpack

import numpy as np

from phloat.algebra.metadata import describe
from phloat.algebra.threads import one_thread
from phloat.bodies.continua.continuum import Continuum
from phloat.bodies.continua.interfaces import PORTS, Place
from phloat.bodies.made import Made
from phloat.bodies.material import Damping, Rayleigh, a_damping
from phloat.bodies.solids.cells import Part, elastic
from phloat.bodies.solids.outlines import Outline, Rectangle, meshed
from phloat.bodies.solids.supports import Elastic, Line, Sides, of_regions, supported, weighed
from phloat.errors import InputError, mapping, positive, unknown
from phloat.fem.mesh import Mesh

PLANES = ("stress", "strain")
WITHIN = (0, 1, 5)  # the strains xx, yy, xy
Thickness: TypeAlias = "float | Callable[[np.ndarray, np.ndarray], np.ndarray | float]"


class Options(TypedDict, total=False):
    """What every sheet can be told by name: see `Sheet`."""

    material: Elastic | Mapping[str, Elastic]
    thickness: Thickness
    plane: str
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
class Sheet:
    """A sheet in the plane xy on triangles or quadrilaterals; displacements u_x, u_y, stresses xx, yy, xy.

    plane="stress": nothing pulls across it, a thin sheet; "strain": nothing moves across it, a slice of a long body.
    `thickness` (m) is constant or a function of arrays x, y. The other options are those of `Solid`.
    """

    mesh: Mesh | Outline
    material: Elastic | Mapping[str, Elastic] = field(metadata=describe("material"))
    thickness: Thickness = field(default=1.0, metadata=describe("a length, or a polynomial of x and y"))
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
        if not isinstance(self.mesh, Mesh) and not hasattr(self.mesh, "meshed"):
            raise InputError(f"mesh is {self.mesh!r}; it must be a Mesh, or use Sheet.rectangle(a, b, …)")
        if isinstance(self.mesh, Mesh) and self.mesh.dimension != 2:
            raise InputError(
                f"a sheet needs triangles or quadrilaterals; these cells are of kind {self.mesh.kind}: use Solid"
            )
        if self.plane not in PLANES:
            raise InputError(unknown("plane", self.plane, PLANES))
        if not callable(self.thickness):
            object.__setattr__(self, "thickness", positive("thickness", self.thickness))
        a_damping(self.damping)
        mapping("ports", self.ports, PORTS)
        if self.mass is not None:
            positive("mass", self.mass)

    @classmethod
    def from_mesh(cls, path: str | Path, *, unit: float = 1.0, **options: Unpack[Options]) -> Sheet:
        """A mesh read from a file; `unit` is the length of its unit in metres, 1e-3 for millimetres."""
        from phloat.fem.mesh_files import read_mesh

        return cls(read_mesh(path, unit=unit), **options)

    @classmethod
    def rectangle(cls, a: float, b: float, *, cells: str = "quadrilateral", **options: Unpack[Options]) -> Sheet:
        """0 ≤ x ≤ a, 0 ≤ y ≤ b; sides left, right (x = 0, a), bottom, top (y = 0, b)."""
        return cls(Rectangle(a, b, cells), **options)

    @one_thread()
    def discretise(self, n: int | Sequence[int] | None = None, *, order: int = 2, refine: int = 0) -> Continuum:
        """The body with displacements of order 1 or 2, n cells along the longest side or along each; see `Solid.discretise`."""
        mesh = meshed(self.mesh, n, order, refine)
        parts = [Part(cells, *self.elasticity(m)) for cells, m in of_regions(mesh, self.material)]
        free = elastic(
            self,
            mesh,
            parts,
            thickness=self.thickness_at,
            damping=self.damping,
            frame=self.frame,
            ports=self.ports,
            stiffening=self.stiffening,
        )
        weighed(float(free.samples.mass.sum()), self.mass)
        body = supported(free, self.clamped, self.symmetric, self.held, self.lines)
        return replace(body, made=Made(self).then("discretise", n, order=order, refine=refine))

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
