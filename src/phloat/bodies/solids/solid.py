"""Elastic bodies on meshes: solids on tetrahedra or hexahedra, sheets in the plane xy on triangles or quadrilaterals."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from phloat.algebra.metadata import describe, optional
from phloat.algebra.threads import one_thread
from phloat.algebra.units import in_si
from phloat.bodies.construction import Construction
from phloat.bodies.continua.continuum import Continuum, require_mass
from phloat.bodies.continua.mesh_body import PORTS, Place, option
from phloat.bodies.continua.stress_continuum import CAUSALITIES, StressContinuum, require_causality
from phloat.bodies.material import Damping, Material, Orthotropic, Thickness, require_damping, thickness_at
from phloat.bodies.outlines import BoxOutline, BracketOutline, Outline, RectangleOutline, TubeOutline, mesh_outline
from phloat.bodies.solids.cells import MaterialPart, elastic_body
from phloat.bodies.solids.stress_sides import stress_continuum
from phloat.errors import InputError, finite, mapping, positive, unknown
from phloat.fem.mesh import Mesh
from phloat.fem.mesh_files import read_mesh

Sides: TypeAlias = "str | tuple[str, ...] | None"
Elastic: TypeAlias = "Material | Orthotropic"
Line: TypeAlias = "Sequence[Sequence[float]]"  # two end points
FLAT = 1e-9  # of the body
NEAR = 1e-6  # of the body: the largest distance of nodes from a line
WIDE = 2.5  # of the size of a cell: the largest gap between nodes of a line


@dataclass(frozen=True, eq=False)
class MeshRecipe:
    """Common base of solids and sheets: a mesh or an outline, materials, supports and ports."""

    mesh: Mesh | Outline
    material: Elastic | Mapping[str, Elastic] = field(metadata=describe("material"))
    _: KW_ONLY
    clamped: Sides = option("clamped")
    symmetric: Sides = option("symmetric")
    held: Mapping[str, str] = option("held")
    frame: str | None = option("frame")
    ports: Mapping[str, Place] = option("ports")
    damping: Damping = option("damping")
    stiffening: bool = option("stiffening")
    mass: float | None = optional(None, "what it should weigh: a check of units", "mass", above=0.0)
    lines: Mapping[str, Line] = option("lines")
    causality: str = optional("force", "what the boundary takes; velocity is for small motions", choices=CAUSALITIES)
    not_numbers: ClassVar[tuple[str, ...]] = ("mass",)  # a check
    kinds: ClassVar[tuple[str, ...]]  # of cells

    def __post_init__(self) -> None:
        in_si(self)
        name = type(self).__name__
        if not isinstance(self.mesh, Mesh) and not hasattr(self.mesh, "mesh"):
            raise InputError(f"mesh is {self.mesh!r}; it must be a Mesh, or use {name}.from_mesh(path)")
        if isinstance(self.mesh, Mesh) and self.mesh.kind not in self.kinds:
            needed = " or ".join(self.kinds)
            raise InputError(f"a {name} needs cells of kind {needed}, not {self.mesh.kind}: use Solid, Sheet or Plate")
        require_damping(self.damping)
        mapping("ports", self.ports, PORTS)
        if self.mass is not None:
            positive("mass", self.mass)
        require_causality(self.causality, self.frame)

    @classmethod
    def from_mesh(cls, path: str | Path, *, unit: float = 1.0, **options: Any) -> Self:
        """A mesh read from a file; `unit` is the length of its unit in metres, 1e-3 for millimetres."""
        return cls(read_mesh(path, unit=unit), **options)

    @one_thread()
    def discretise(
        self, n: int | Sequence[int] | None = None, *, order: int = 2, refine: int = 0
    ) -> Continuum | StressContinuum:
        """The body with displacements of order 1 or 2 on cells whose geometry has the same order.

        n is the number of cells of an outline along its longest side, or along each of its sides; cells are cut in half
        `refine` times. Cells of order 1 are too stiff in bending and near incompressibility: they need many layers where those of
        order 2 need one or two. With causality="velocity" the order is 2 on straight cells: stresses of degree 2, velocities
        of degree 1.
        """
        made = self._with_velocity_inputs if self.causality == "velocity" else self._with_force_inputs
        body = made(n, order, refine)
        return replace(body, construction=Construction(self).then("discretise", n, order=order, refine=refine))

    def _with_force_inputs(self, n: int | Sequence[int] | None, order: int, refine: int) -> Continuum:
        mesh = mesh_outline(self.mesh, n, order, refine)
        free = elastic_body(self, mesh, self._parts(mesh))
        require_mass(float(free.samples.mass.sum()), self.mass)
        return with_supports(free, self.clamped, self.symmetric, self.held, self.lines)

    def _with_velocity_inputs(self, n: int | Sequence[int] | None, order: int, refine: int) -> StressContinuum:
        if order != 2:
            raise InputError(f"order is {order!r}; with causality='velocity' it must be 2")
        mesh = self.mesh.refined(refine) if isinstance(self.mesh, Mesh) and n is None else None
        mesh = mesh_outline(self.mesh, n, 1, refine) if mesh is None else mesh
        axes, _ = held_axes(mesh, self.clamped, self.symmetric, self.held, self.lines)
        return stress_continuum(self, mesh, self._parts(mesh), axes)

    def _parts(self, mesh: Mesh) -> list[MaterialPart]:
        """The cells of each material."""
        return [MaterialPart(cells, *self.elasticity(m)) for cells, m in cells_by_material(mesh, self.material)]

    def elasticity(self, material: Elastic) -> tuple[np.ndarray, float, np.ndarray | None]:
        """Stress from strain in the dimensions of the body, the density, and (for sheets) all six stresses from these."""
        return material.elasticity(), material.rho, None

    def thickness_at(self, x: np.ndarray) -> np.ndarray | float:
        """The thickness at points x (…, dimension); 1 for solids."""
        return 1.0


@dataclass(frozen=True, eq=False)
class Solid(MeshRecipe):
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
    causality : {"force", "velocity"}, optional
        What boundaries take as inputs. "velocity" needs triangles or tetrahedra, and is for small motions only.

    Examples
    --------
    >>> steel = ph.Material(E=2.1e11, rho=7800.0, nu=0.3)
    >>> bar = ph.Solid.box(0.5, 0.04, 0.02, material=steel, clamped="left").discretise(10)
    >>> omega, shapes = bar.modes(1)
    >>> beam = 3.516 / 0.5**2 * np.sqrt(2.1e11 * 0.02**2 / 12 / 7800.0)  # a clamped-free beam
    >>> print(f"{omega[0] / beam:.2f}")
    1.01
    """

    kinds: ClassVar[tuple[str, ...]] = ("tetrahedron", "hexahedron")

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


# --- sheets -----------------------------------------------------------------------------------------------------------
#
# Elasticity in a plane: sheets that move and stretch in the plane xy.


PLANES = ("stress", "strain")
WITHIN = (0, 1, 5)  # indices of xx, yy, xy


@dataclass(frozen=True, eq=False)
class Sheet(MeshRecipe):
    """A sheet in the plane xy on triangles or quadrilaterals; displacements u_x, u_y, stresses xx, yy, xy.

    plane="stress": no stress across it, a thin sheet; "strain": no strain across it, a slice of a long body.
    `thickness` (m) is constant or a function of arrays x, y. The other options are those of `Solid`.
    """

    thickness: Thickness = optional(1.0, "a length, or a polynomial of x and y")
    plane: str = optional("stress", "nothing pulls (stress) or moves (strain) across it", choices=PLANES)
    kinds: ClassVar[tuple[str, ...]] = ("triangle", "quadrilateral")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.plane not in PLANES:
            raise InputError(unknown("plane", self.plane, PLANES))
        if not callable(self.thickness):
            object.__setattr__(self, "thickness", positive("thickness", self.thickness))

    @classmethod
    def rectangle(cls, a: float, b: float, *, cells: str = "quadrilateral", **options: Any) -> Sheet:
        """0 ≤ x ≤ a, 0 ≤ y ≤ b; sides left, right (x = 0, a), bottom, top (y = 0, b)."""
        return cls(RectangleOutline(a, b, cells), **options)

    def elasticity(self, material: Elastic) -> tuple[np.ndarray, float, np.ndarray]:
        """Stress from strain in the plane, the density, and all six stresses from those in the plane."""
        if self.plane == "stress":
            return material.plane_stress(), material.rho, np.eye(6)[:, WITHIN]
        A = material.elasticity()[:, WITHIN]
        return A[list(WITHIN)], material.rho, A @ np.linalg.inv(A[list(WITHIN)])

    def thickness_at(self, x: np.ndarray) -> np.ndarray:
        return thickness_at(self.thickness, x)


# --- supports and materials by region ----------------------------------------------------------------------------------


def side_names(option: str, value: object, mesh: Mesh, lines: Collection[str] = ()) -> tuple[str, ...]:
    """The names of boundaries or lines in the value of an option: one, several, or "all". Raises InputError for unknown ones."""
    if value is None:
        return ()
    if isinstance(value, str) and value == "all" and "all" not in mesh.boundaries:
        return tuple(mesh.boundaries)
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, (tuple, list)):
        raise InputError(f"{option} is {value!r}; it must be the name of a boundary, a tuple of names, or None")
    for name in names:
        for part in (name,) if not isinstance(name, str) or name in lines else name.split(" & "):
            if part not in lines and part not in mesh.boundaries:
                raise InputError(f"{option}: {unknown('boundary', part, [*mesh.boundaries, *lines])}")
    return tuple(names)


def nodes_on(mesh: Mesh, lines: Mapping[str, Line], name: str) -> np.ndarray:
    """The nodes of a boundary, of a line, or shared by several boundaries: "left & bottom" is an edge of a box."""
    if name in lines:
        return _nodes_along(mesh, name, lines[name])
    nodes = np.arange(len(mesh.points))
    for part in name.split(" & "):
        nodes = np.intersect1d(nodes, mesh.node_numbers(part))
    if not len(nodes):
        raise InputError(f"the boundaries of {name!r} share no node; name boundaries that meet")
    return nodes


def _nodes_along(mesh: Mesh, name: str, line: Line) -> np.ndarray:
    """The nodes on a straight line. Raises InputError if it does not run along edges of cells."""
    a, b = finite(f"line {name!r} (its two ends)", line, (2, 3))
    direction = b - a
    length = float(np.linalg.norm(direction))
    t = np.clip((mesh.points - a) @ direction / max(length**2, 1e-300), 0.0, 1.0)
    nodes = np.flatnonzero(np.linalg.norm(mesh.points - a - t[:, None] * direction, axis=1) <= NEAR * mesh.size)
    gaps = np.diff(np.sort(np.concatenate([[0.0, 1.0], t[nodes]]))) * length
    if not len(nodes) or gaps.max() > WIDE * float(np.max(mesh.measure)) ** (1.0 / mesh.dimension):
        raise InputError(
            f"line {name!r} has {len(nodes)} nodes with gaps of {gaps.max():.3g} m; choose cells whose edges run along it"
        )
    return nodes


def with_supports(
    free: Continuum, clamped: Sides, symmetric: Sides, held: Mapping[str, str], lines: Mapping[str, Line] | None = None
) -> Continuum:
    """The body with boundaries clamped, free to slide in their own plane (symmetric), or held along some axes; lines likewise."""
    mesh, axes = free.mesh, "xyz"[: free.mesh.dimension]
    fixed, words = held_axes(mesh, clamped, symmetric, held, lines or {})
    if not fixed:
        return free
    coordinates = [
        nodes_on(mesh, lines or {}, name) * len(axes) + axes.index(a)
        for name, letters in fixed.items()
        for a in set(letters)
    ]
    return free.with_supports(np.unique(np.concatenate(coordinates)), ", ".join(words))


def held_axes(
    mesh: Mesh, clamped: Sides, symmetric: Sides, held: Mapping[str, str], lines: Mapping[str, Line]
) -> tuple[dict[str, str], list[str]]:
    """The axes along which each boundary or line is held, and words for that. Raises InputError for unknown names."""
    axes, lines = "xyz"[: mesh.dimension], mapping("lines", lines, "{name: (start, end)}")
    fixed = dict.fromkeys(side_names("clamped", clamped, mesh, lines), axes)
    words = [f"clamped at {name!r}" for name in fixed]
    for name in side_names("symmetric", symmetric, mesh):
        fixed[name] = fixed.get(name, "") + axes[_across(mesh, name)]
        words.append(f"symmetric about {name!r}")
    for name, letters in mapping("held", held, '{boundary: axes, as in "xz"}').items():
        side_names("held", name, mesh, lines)
        if not isinstance(letters, str) or not letters or set(letters) - set(axes):
            raise InputError(f"held[{name!r}] is {letters!r}; it must name axes out of {axes!r}, as in {axes[:2]!r}")
        fixed[name] = fixed.get(name, "") + letters
        words.append(f"{name!r} held along {letters}")
    return fixed, words


def _across(mesh: Mesh, name: str) -> int:
    """The index of the axis normal to a flat boundary. Raises InputError if there is none."""
    x = mesh.points[mesh.node_numbers(name)][:, : mesh.dimension]
    flat = np.flatnonzero(np.ptp(x, axis=0) <= FLAT * mesh.size)
    if len(flat) != 1:
        raise InputError(
            f"the boundary {name!r} is not flat across an axis, so not symmetric; hold axes of it: held={{{name!r}: 'x'}}"
        )
    return int(flat[0])


def cells_by_material(mesh: Mesh, material: object) -> list[tuple[np.ndarray, Elastic]]:
    """Cells and their material, from one material for all or {region: material}. Raises InputError unless each cell has one."""
    if isinstance(material, (Material, Orthotropic)):
        return [(np.arange(len(mesh.cells)), material)]
    if not isinstance(material, Mapping):
        raise InputError(f"material is {material!r}; it must be Material(…), Orthotropic(…) or {{region: material}}")
    number = np.full(len(mesh.cells), -1)
    for k, (name, part) in enumerate(material.items()):
        if name not in mesh.regions:
            raise InputError(f"material: {unknown('region', name, mesh.regions)}")
        if not isinstance(part, (Material, Orthotropic)):
            raise InputError(f"the material of region {name!r} is {part!r}; it must be Material(…) or Orthotropic(…)")
        if (number[mesh.regions[name]] >= 0).any():
            raise InputError(f"region {name!r} overlaps another region that has a material; give each cell one")
        number[mesh.regions[name]] = k
    if missing := int((number < 0).sum()):
        raise InputError(
            f"{missing} of {len(number)} cells are in no region with a material; regions: {', '.join(mesh.regions) or 'none'}"
        )
    return [(np.flatnonzero(number == k), part) for k, part in enumerate(material.values())]
