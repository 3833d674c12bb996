"""Plates: Kirchhoff and Mindlin, isotropic, orthotropic or laminated, with or without a membrane."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from phloat.algebra.metadata import describe, optional
from phloat.algebra.sparse import csr
from phloat.algebra.threads import one_thread
from phloat.algebra.units import in_si
from phloat.bodies.construction import Construction
from phloat.bodies.continua.continuum import Continuum, require_mass
from phloat.bodies.continua.mesh_body import PORTS, MassSamples, Patch, Place, Surface, Trace, disc_error, option
from phloat.bodies.continua.stress_continuum import CAUSALITIES, StressContinuum, require_causality
from phloat.bodies.inertia import Inertia, rigid_sections
from phloat.bodies.material import Damping, Material, Orthotropic, Thickness, require_damping
from phloat.bodies.outlines import PlateDisc, PlateRectangle
from phloat.bodies.plates.fields import Mindlin, PlateFields
from phloat.bodies.plates.hybrid import HybridFields, HybridStresses
from phloat.bodies.plates.laminate import SHEAR_FACTOR, Laminate, PlateSection
from phloat.bodies.plates.moment_sides import moment_continuum
from phloat.bodies.plates.shape import ABOVE, LocalStresses, MixedStresses, PlateShape
from phloat.errors import InputError, mapping, port_name, positive, unknown
from phloat.fem.mesh import Mesh
from phloat.fem.mesh_files import read_mesh
from phloat.fem.plate_cells import ALIGNED, PlateCells, Points, are_rectangles, cells_of

THEORIES = ("kirchhoff", "mindlin")
ELEMENTS = {"kirchhoff": ("bfs", "argyris", "morley", "hhj"), "mindlin": ("mitc",)}
SUPPORTS = ("hard", "soft")
SIDES = ("clamped", "supported", "symmetric")
EDGE_POINTS = 5  # of Gauss on each edge: exact to degree 9

Sides = str | tuple[str, ...] | None


@dataclass(frozen=True, kw_only=True)
class Plate:
    """A plate in the plane z = 0: an outline (or a mesh of triangles or quadrilaterals) and a thickness about that plane.

    Make it by `Plate.rectangle(a, b, …)`, `Plate.disc(radius, …)` or `Plate.from_mesh(file, …)`, with the other fields as keywords.
    Sides are a name, a tuple of names, or "all".

    Parameters
    ----------
    outline : Mesh, PlateRectangle or PlateDisc
        Shape in the plane xy (m).
    material : Material, Orthotropic or Laminate
        A laminate has its own thickness.
    thickness : float or callable, optional
        Thickness (m), or a function f(x, y) of arrays.
    theory : {"kirchhoff", "mindlin"}, optional
        "kirchhoff" has shear-rigid sections without rotary inertia, "mindlin" has shear deformation and rotary inertia.
    elements : {"bfs", "argyris", "morley", "hhj", "mitc"}, optional
        Kirchhoff: "bfs" (C¹ on rectangles along the axes, the default there), "argyris" (C¹ on triangles, the default elsewhere),
        "morley" (the simplest), "hhj" (moments as unknowns of their own). Mindlin: "mitc".
    angle : float, optional
        Angle from x to axis 1 of an orthotropic material (rad).
    clamped, supported, symmetric : str or tuple of str, optional
        Sides that are clamped, supported (w = 0), or not rotated across. In its plane a supported side is free.
    support : {"hard", "soft"}, optional
        A hard support keeps Mindlin's sections from turning along the side as well.
    frame : str, optional
        For a plate that floats: the boundary that its frame follows, or "mean axes". None is for small motions.
    ports : dict, optional
        {name: boundary, Mean(boundary), Patch(at, radius) or point (x, y, z) in m}.
    damping : Rayleigh, KelvinVoigt or ModalDamping, optional
        How it loses energy; undamped by default.
    stiffening : bool, optional
        Whether stress in the plane stiffens bending.
    membrane : bool, optional
        Whether it stretches in its plane; by default where a frame is given, and where a laminate couples this with bending.
    mass : float, optional
        What the plate should weigh (kg): a check of units.
    held : dict, optional
        Sides held along axes of the plane, {side: "x", "y" or "xy"}.
    shear_factor : float, optional
        Of Mindlin's theory, 5/6 by default (π²/12 is Mindlin's own).
    causality : {"force", "velocity"}, optional
        What boundaries take as inputs. "velocity" is for small motions of Kirchhoff plates with straight sides.

    Examples
    --------
    >>> steel = ph.Material(E=2.1e11, rho=7800.0, nu=0.3)
    >>> plate = ph.Plate.rectangle(1.0, 1.0, thickness=0.01, material=steel, supported="all").discretise(8)
    >>> omega, shapes = plate.modes(1)
    >>> D = 2.1e11 * 0.01**3 / 12 / (1 - 0.3**2)
    >>> print(f"{omega[0] / np.sqrt(D / 78.0) / np.pi**2:.3f}")  # ω = 2π² √(D/ρh) of a supported square
    2.000
    """

    outline: Mesh | PlateRectangle | PlateDisc
    material: Material | Orthotropic | Laminate = field(metadata=describe("material, or a laminate"))
    thickness: Thickness | None = optional(
        None, "a length, or a polynomial of x and y; a laminate has its own", "length"
    )
    theory: str = optional("kirchhoff", "with shear deformation (mindlin) or without", choices=THEORIES)
    elements: str | None = optional(None, "finite elements", choices=[e for names in ELEMENTS.values() for e in names])
    angle: float = optional(0.0, "of the material's axis 1 from x", "angle")
    clamped: Sides = optional(None, "held and not rotated: a boundary, several, or all")
    supported: Sides = optional(None, "w = 0: a boundary, several, or all")
    symmetric: Sides = optional(None, "not rotated across: a boundary, several, or all")
    support: str = optional("hard", "whether Mindlin's sections may rotate along a support", choices=SUPPORTS)
    frame: str | None = option("frame")
    ports: Mapping[str, Place] = option("ports")
    damping: Damping = option("damping")
    stiffening: bool = option("stiffening")
    membrane: bool | None = optional(None, "whether it stretches in its plane")
    mass: float | None = optional(None, "what it should weigh: a check of units", "mass", above=0.0)
    held: Mapping[str, str] = optional(dict, "{side: axes of the plane that are held, x, y or xy}")
    shear_factor: float | None = optional(None, "of Mindlin's theory; 5/6 by default", above=0.0)
    causality: str = optional("force", "what the boundary takes; velocity is for small motions", choices=CAUSALITIES)
    not_numbers: ClassVar[tuple[str, ...]] = ("mass",)  # a check

    def __post_init__(self) -> None:
        in_si(self)
        if not isinstance(self.outline, (Mesh, PlateRectangle, PlateDisc)):
            raise InputError(f"the outline is {type(self.outline).__name__}; use Plate.rectangle, Plate.disc or a Mesh")
        if self.theory not in THEORIES:
            raise InputError(unknown("theory", self.theory, THEORIES))
        if self.elements is not None and self.elements not in ELEMENTS[self.theory]:
            raise InputError(unknown(f"elements for theory {self.theory!r}:", self.elements, ELEMENTS[self.theory]))
        if self.support not in SUPPORTS:
            raise InputError(unknown("support", self.support, SUPPORTS))
        section = self.section
        require_damping(self.damping)
        for name in mapping("ports", self.ports, PORTS):
            port_name(name)
        if self.mass is not None:
            positive("mass", self.mass)
        if self.shear_factor is not None and self.theory != "mindlin":
            raise InputError("shear_factor is that of theory='mindlin'; Kirchhoff's plates have no shear deformation")
        if mapping("held", self.held, '{side: axes, as in "xy"}') and not self.with_membrane:
            raise InputError("held={…} holds a plate in its plane, and needs a membrane; give membrane=True")
        if self.membrane is False and section.coupled:
            raise InputError("this laminate stretches as it bends, so it has a membrane; leave membrane out")
        if self.elements == "hhj" and (section.coupled or (self.with_membrane and self.frame is None)):
            raise InputError(
                "elements='hhj' have a membrane only with frame=…, and none coupled with bending; use others, such as 'argyris'"
            )
        require_causality(self.causality, self.frame)
        if self.causality == "velocity":
            self._require_moments()

    def _require_moments(self) -> None:
        """Raises InputError for options that a plate with velocity inputs does not have."""
        for option_name, plain in (("theory", self.theory == "kirchhoff"), ("elements", self.elements is None)):
            if not plain:
                raise InputError(
                    f"causality='velocity' has its own elements, of Kirchhoff's theory; leave {option_name} out"
                )
        if isinstance(self.outline, PlateDisc):
            raise InputError(
                "causality='velocity' needs straight sides, and this plate is round; use causality='force'"
            )
        if self.with_membrane:
            raise InputError(
                "a plate with causality='velocity' only bends: leave membrane out, and use a symmetric laminate"
            )

    @classmethod
    def rectangle(cls, a: float, b: float, **options: Any) -> Plate:
        """0 ≤ x ≤ a, 0 ≤ y ≤ b; sides left (x = 0), right, bottom (y = 0), top."""
        return cls(outline=PlateRectangle(a, b), **options)

    @classmethod
    def disc(cls, radius: float, inner: float = 0.0, **options: Any) -> Plate:
        """A disc about the origin, or a ring with an inner radius; sides rim and bore."""
        return cls(outline=PlateDisc(radius, inner), **options)

    @classmethod
    def from_mesh(cls, path: str | Path, unit: float = 1.0, **options: Any) -> Plate:
        """From a mesh file of triangles or quadrilaterals; `unit` in metres (1e-3 for a file in millimetres)."""
        return cls(outline=read_mesh(path, unit=unit), **options)

    @property
    def with_membrane(self) -> bool:
        """Whether the plate has displacements u_x and u_y in its plane."""
        return self.membrane if self.membrane is not None else self.frame is not None or self.section.coupled

    @property
    def section(self) -> PlateSection:
        """The plate through its thickness."""
        factor = SHEAR_FACTOR if self.shear_factor is None else self.shear_factor
        return PlateSection(self.material, self.thickness, self.angle, factor)

    def thickness_at(self, x: np.ndarray) -> np.ndarray:
        """The thickness at points x (points, 2)."""
        return self.section.height(x)

    @one_thread()
    def discretise(self, n: int | tuple[int, int] | None = None, *, refine: int = 0) -> Continuum | StressContinuum:
        """The plate on a mesh: n cells along the longer side of a rectangle (or (nx, ny)), or n from middle to rim of a disc.

        A plate made from a mesh takes no n; `refine` halves its cells that many times.
        """
        mesh = self._mesh(n).refined(refine) if refine else self._mesh(n)
        construction = Construction(self).then("discretise", n, refine=refine)
        if self.causality == "velocity":
            cells = cells_of(mesh, "triangle")
            supports = {way: _edges(cells, getattr(self, way), way) for way in SIDES}
            return replace(moment_continuum(self, mesh, cells, supports), construction=construction)
        continuum = _assembled(self, mesh, self._elements(mesh))
        require_mass(float(continuum.samples.mass.sum()), self.mass)
        return replace(continuum, construction=construction)

    def _mesh(self, n: int | tuple[int, int] | None) -> Mesh:
        """The mesh before refinement. Raises InputError if n does not fit the outline."""
        if isinstance(self.outline, Mesh):
            if n is not None:
                raise InputError(f"n is {n!r}, but this plate has a mesh of its own; use refine=… to make it finer")
            return self.outline
        if n is None:
            raise InputError("the number of cells is missing: discretise(16) makes 16 along the longer side")
        if isinstance(self.outline, PlateDisc):  # a support acts at the vertices, which are then on the circle
            return self.outline.mesh(n, "triangle", inscribed=self.supported is not None)
        rectangles = self.theory == "kirchhoff" and self.elements in (None, "bfs") and self.causality == "force"
        return self.outline.mesh(n, "quadrilateral" if rectangles else "triangle")

    def _elements(self, mesh: Mesh) -> str:
        """The name of the elements on this mesh."""
        if self.elements is not None:
            return self.elements
        if self.theory == "mindlin":
            return "mitc"
        return "bfs" if are_rectangles(mesh) else "argyris"


# --- assembly ---------------------------------------------------------------------------------------------------------
#
# A plate on a mesh: mass, stresses, boundaries and supports.


def _assembled(plate: Plate, mesh: Mesh, elements: str) -> Continuum:
    """The continuum of the plate with its sides held."""
    cells = cells_of(mesh, "rectangle" if elements == "bfs" else "triangle")
    sides = {way: _edges(cells, getattr(plate, way), way) for way in SIDES}
    fields, stresses = _theory(plate, cells, elements, sides)
    samples, sections = _masses(plate, fields)
    M = sum((csr(p.T @ samples.mass @ p) for p in samples.Phi), 0.0 * csr(samples.Phi[2].T @ samples.Phi[2]))
    if sections is not None:
        M = M + sections.M_s
    nodes, regions = np.ascontiguousarray(mesh.points, dtype=float), _regions(mesh, len(cells.corners))
    free = Continuum(
        recipe=plate,
        mesh=mesh,
        samples=samples,
        sections=sections,
        M=csr(M),
        K=stresses.stiffness(),
        make_strains=stresses.strains,
        rigid=fields.rigid,
        kinds=fields.kinds,
        parts={name: np.unique(fields.edge_coordinates(cells.edges_on(name))) for name in cells.boundaries},
        make_trace=partial(_trace, plate, fields, regions),
        make_surface=partial(_surface, fields, regions),
        shape=PlateShape(fields, nodes, plate.section, stresses.resultants, stresses.rule),
        damping=plate.damping,
        frame=plate.frame,
        ports=plate.ports,
        stiffening=plate.stiffening,
        stretch=partial(fields.membrane.stretch_unknowns, rest=fields.size - fields.membrane.size),
    )
    zero = [fields.held_coordinates(edges, way) for way, edges in sides.items() if len(edges)]
    zero += [fields.membrane.unknowns_along(_edges(cells, side, "held"), axes) for side, axes in plate.held.items()]
    named = {
        way: sides if isinstance(sides := getattr(plate, way), str) else " and ".join(sides or ()) for way in SIDES
    }
    words = [f"{sides} {way}" for way, sides in named.items() if sides]
    words += [f"{side} held along {axes}" for side, axes in plate.held.items()]
    return free.with_supports(np.unique(np.concatenate(zero)), ", ".join(words)) if zero else free


def _theory(
    plate: Plate, cells: PlateCells, elements: str, sides: dict[str, np.ndarray]
) -> tuple[PlateFields, LocalStresses | MixedStresses]:
    """Fields and stresses of the theory of the plate; derivatives at corners are along the sides that are held."""
    first, section = np.unique(np.concatenate(list(sides.values()))), plate.section
    theory = Mindlin if elements == "mitc" else PlateFields
    if elements == "hhj" and plate.frame is not None:
        theory = HybridFields
    fields = theory(cells, elements, plate.with_membrane, first, plate.support == "hard")
    if isinstance(fields, HybridFields):
        return fields, HybridStresses(fields, section.through, False, plate.stiffening)
    if elements == "hhj":
        return fields, MixedStresses(fields, section.through, np.union1d(sides["clamped"], sides["symmetric"]))
    return fields, LocalStresses(fields, section.through, section.coupled, plate.stiffening)


def _edges(cells: PlateCells, sides: Sides, support: str) -> np.ndarray:
    """Indices of the edges of one side, of several, or of "all". Raises InputError for unknown names."""
    if sides is None:
        return np.zeros(0, dtype=int)
    if sides == "all" and "all" not in cells.boundaries:
        return cells.outside
    names = (sides,) if isinstance(sides, str) else sides
    if not isinstance(names, (tuple, list)):
        raise InputError(f"{support} is {sides!r}; it must be the name of a side, a tuple of names, or 'all'")
    for name in names:
        if name not in cells.boundaries:
            raise InputError(unknown("side", name, (*cells.boundaries, "all")))
    return np.unique(np.concatenate([np.zeros(0, dtype=int), *(cells.edges_on(name) for name in names)]))


def _masses(plate: Plate, fields: PlateFields) -> tuple[MassSamples, Inertia | None]:
    """Mass at quadrature points, and the rotary inertia of Mindlin's theory."""
    points = fields.cells.quadrature(fields.rules["mass"])
    through = plate.section.through(points.x)
    x = np.column_stack([points.x, np.zeros(len(points.x))])
    mass = csr(sp.diags_array(through.rho_0 * points.weight))
    samples = MassSamples(x, mass, fields.displacement(points), points.weight)
    if plate.theory != "mindlin":
        return samples, None
    rotary = through.rho_2 * points.weight
    none = np.zeros_like(rotary)
    return samples, rigid_sections((none, none, rotary), fields.turn(points))


def _trace(plate: Plate, fields: PlateFields, regions: Mapping[str, np.ndarray], part: str | Patch) -> Trace:
    """A side, a region, a disc or ("") the whole plate as quadrature points."""
    if isinstance(part, Patch):
        points, half = _disc(fields.cells, part), 0.5 * float(plate.section.height(np.array([part.at[:2]]))[0])
        if abs(part.at[2]) > half * (1.0 + ABOVE):
            raise InputError(f"the point z = {part.at[2]:g} lies off the plate, whose faces are at ±{half:g} there")
    elif part in fields.cells.boundaries:
        points = fields.cells.edge_quadrature(fields.cells.edges_on(part), EDGE_POINTS)
    else:
        points = _area_points(fields, regions, part)
    x = np.column_stack([points.x, np.zeros(len(points.x))])
    h = plate.section.height(points.x)
    gyration = float(points.weight @ h**2 / points.weight.sum() / 12.0)
    turn = fields.turn(points)
    if isinstance(fields, HybridFields) and not isinstance(part, Patch) and part in fields.cells.boundaries:
        turn = fields.edge_turn(fields.cells.edges_on(part), points)
    return Trace(x, points.weight, fields.displacement(points), turn, gyration)


def _area_points(fields: PlateFields, regions: Mapping[str, np.ndarray], name: str) -> Points:
    """The quadrature points of a region, or ("") of the whole plate."""
    points = fields.cells.quadrature(fields.rules["mass"])
    return Points(*(array[np.isin(points.cell, regions[name])] for array in points)) if name else points


def _surface(fields: PlateFields, regions: Mapping[str, np.ndarray], name: str) -> Surface:
    """The middle plane of a plate or of a region of it, with tangents along x and y."""
    points = _area_points(fields, regions, name)
    x, size = np.column_stack([points.x, np.zeros(len(points.x))]), fields.size
    tangents, slopes = [], []
    for axis, d in enumerate(((1, 0), (0, 1))):
        tangents.append(np.broadcast_to(np.eye(3)[axis], x.shape))
        in_plane = (fields.membrane.component(a, points, d, size) for a in (0, 1))
        slopes.append((*in_plane, fields.deflection(points, *d)))
    return Surface(x, points.weight, (tangents[0], tangents[1]), fields.displacement(points), (slopes[0], slopes[1]))


def _disc(cells: PlateCells, patch: Patch) -> Points:
    """Points of a disc in the plane of the plate."""
    middle = np.array([patch.at[:2]])
    offset, weight = patch.disc(float(np.sqrt(cells.areas[cells.find(middle).cell[0]])))
    try:
        return cells.find(middle + offset, beyond=ALIGNED)._replace(weight=weight)
    except InputError:
        raise disc_error(patch, "the plate") from None


def _regions(mesh: Mesh, cells: int) -> dict[str, np.ndarray]:
    """The plate cells of every region; halved quadrilaterals are numbered all first halves, then all second ones."""
    halves = len(mesh.cells) * np.arange(cells // len(mesh.cells))
    return {name: (halves[:, None] + numbers).ravel() for name, numbers in mesh.regions.items()}
