"""A plate on a mesh: mass, stresses, boundaries, and what is held."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from phloat.algebra.sparse import csr
from phloat.bodies.continua.continuum import Continuum, Samples, Trace
from phloat.bodies.continua.interfaces import Place
from phloat.bodies.continua.patches import Patch, beyond
from phloat.bodies.inertia import Sections, rigid_sections
from phloat.bodies.material import Damping
from phloat.bodies.plates.elastic import Local
from phloat.bodies.plates.fields import Fields, Kirchhoff
from phloat.bodies.plates.mindlin import Mindlin
from phloat.bodies.plates.mixed import Deflection, Mixed
from phloat.bodies.plates.section import PlateSection
from phloat.bodies.plates.shape import ABOVE, PlateShape
from phloat.errors import InputError, unknown
from phloat.fem.mesh import Mesh
from phloat.fem.plate_cells import ALIGNED, Cells, Points, cells_of

EDGE_POINTS = 5  # of Gauss on each edge: exact to degree 9
WAYS = ("clamped", "supported", "symmetric")

Sides = str | tuple[str, ...] | None


class PlateRecipe(Protocol):
    """What a recipe says about a plate besides its mesh."""

    @property
    def section(self) -> PlateSection: ...
    @property
    def theory(self) -> str: ...
    @property
    def support(self) -> str: ...
    @property
    def with_membrane(self) -> bool: ...
    @property
    def frame(self) -> str | None: ...
    @property
    def ports(self) -> Mapping[str, Place]: ...
    @property
    def damping(self) -> Damping: ...
    @property
    def stiffening(self) -> bool: ...
    @property
    def held(self) -> Mapping[str, str]: ...


def assembled(plate: PlateRecipe, mesh: Mesh, elements: str) -> Continuum:
    """The plate with its sides held as the recipe says."""
    cells = cells_of(mesh, "rectangle" if elements == "bfs" else "triangle")
    sides = {way: _edges(cells, getattr(plate, way), way) for way in WAYS}
    fields, stresses = _theory(plate, cells, elements, sides)
    samples, sections = _masses(plate, fields)
    M = sum((csr(p.T @ samples.mass @ p) for p in samples.Phi), 0.0 * csr(samples.Phi[2].T @ samples.Phi[2]))
    if sections is not None:
        M = M + sections.M_s
    nodes = np.ascontiguousarray(mesh.points, dtype=float)
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
        parts={name: np.unique(fields.on(cells.edges_on(name))) for name in cells.boundaries},
        make_trace=partial(_trace, plate, fields, _regions(mesh, len(cells.corners))),
        shape=PlateShape(fields, nodes, plate.section, stresses.resultants, stresses.rule),
        damping=plate.damping,
        frame=plate.frame,
        ports=plate.ports,
        stiffening=plate.stiffening,
        stretch=partial(_stretched, fields),
    )
    held = [fields.held(edges, way) for way, edges in sides.items() if len(edges)]
    held += [fields.membrane.along(_edges(cells, side, "held"), axes) for side, axes in plate.held.items()]
    words = [f"{_said(getattr(plate, way))} {way}" for way in WAYS if getattr(plate, way)]
    words += [f"{side} held along {axes}" for side, axes in plate.held.items()]
    return free.holding(np.unique(np.concatenate(held)), ", ".join(words)) if held else free


def _theory(
    plate: PlateRecipe, cells: Cells, elements: str, sides: dict[str, np.ndarray]
) -> tuple[Fields, Local | Mixed]:
    """Fields and stresses of the plate's theory; corners are turned along sides that are held."""
    first, section = np.unique(np.concatenate(list(sides.values()))), plate.section
    if elements == "hhj":
        turned = np.union1d(sides["clamped"], sides["symmetric"])
        deflection = Deflection(cells, first)
        return deflection, Mixed(deflection, section.through, turned)
    fields: Fields
    if elements == "mitc":
        fields = Mindlin(cells, plate.with_membrane, plate.support == "hard", first)
    else:
        fields = Kirchhoff(cells, elements, plate.with_membrane, first)
    return fields, Local(fields, section.through, section.coupled, plate.stiffening)


def _said(sides: Sides) -> str:
    return sides if isinstance(sides, str) else " and ".join(sides or ())


def _edges(cells: Cells, sides: Sides, way: str) -> np.ndarray:
    """The edges of a name, of several, or of the whole boundary."""
    if sides is None:
        return np.zeros(0, dtype=int)
    if sides == "all" and "all" not in cells.boundaries:
        return cells.outside
    names = (sides,) if isinstance(sides, str) else sides
    if not isinstance(names, (tuple, list)):
        raise InputError(f"{way} is {sides!r}; it must be the name of a side, a tuple of names, or 'all'")
    for name in names:
        if name not in cells.boundaries:
            raise InputError(unknown("side", name, (*cells.boundaries, "all")))
    return np.unique(np.concatenate([np.zeros(0, dtype=int), *(cells.edges_on(name) for name in names)]))


def _masses(plate: PlateRecipe, fields: Fields) -> tuple[Samples, Sections | None]:
    """Mass at quadrature points, and rotary inertia where the theory has it."""
    points = fields.cells.quadrature(fields.rules["mass"])
    through = plate.section.through(points.x)
    x = np.column_stack([points.x, np.zeros(len(points.x))])
    mass = csr(sp.diags_array(through.rho_0 * points.weight))
    samples = Samples(x, mass, fields.displacement(points), points.weight)
    if plate.theory != "mindlin":
        return samples, None
    rotary = through.rho_2 * points.weight
    none = np.zeros_like(rotary)
    return samples, rigid_sections((none, none, rotary), fields.turn(points))


def _trace(plate: PlateRecipe, fields: Fields, regions: Mapping[str, np.ndarray], where: str | Patch) -> Trace:
    """A side, a region or a disc as quadrature points."""
    if isinstance(where, Patch):
        points, half = _disc(fields.cells, where), 0.5 * float(plate.section.height(np.array([where.at[:2]]))[0])
        if abs(where.at[2]) > half * (1.0 + ABOVE):
            raise InputError(f"the point z = {where.at[2]:g} lies off the plate, whose faces are at ±{half:g} there")
    elif where in fields.cells.boundaries:
        points = fields.cells.along(fields.cells.edges_on(where), EDGE_POINTS)
    else:
        points = fields.cells.quadrature(fields.rules["mass"])
        points = Points(*(part[np.isin(points.cell, regions[where])] for part in points))
    x = np.column_stack([points.x, np.zeros(len(points.x))])
    h = plate.section.height(points.x)
    gyration = float(points.weight @ h**2 / points.weight.sum() / 12.0)
    return Trace(x, points.weight, fields.displacement(points), fields.turn(points), gyration)


def _disc(cells: Cells, patch: Patch) -> Points:
    """Points of a disc in the plane of the plate."""
    middle = np.array([patch.at[:2]])
    offset, weight = patch.disc(float(np.sqrt(cells.areas[cells.find(middle).cell[0]])))
    try:
        return cells.find(middle + offset, beyond=ALIGNED)._replace(weight=weight)
    except InputError:
        raise beyond(patch, "the plate") from None


def _regions(mesh: Mesh, cells: int) -> dict[str, np.ndarray]:
    """The cells of regions; quadrilaterals may have been halved, all first halves before all second ones."""
    halves = len(mesh.cells) * np.arange(cells // len(mesh.cells))
    return {name: (halves[:, None] + numbers).ravel() for name, numbers in mesh.regions.items()}


def _stretched(fields: Fields, G: np.ndarray) -> np.ndarray:
    """The coordinates of the field u = G x."""
    return fields.membrane.stretched(G, len(fields.kinds) - fields.membrane.size)
