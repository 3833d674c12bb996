"""Plates, solids, sheets and superelements as a file says them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from phloat.bodies import outlines
from phloat.bodies.construction import Construction
from phloat.bodies.continua.interfaces import Mean, Rigid
from phloat.bodies.continua.patches import Patch
from phloat.bodies.material import Rayleigh
from phloat.bodies.plates.plate import ELEMENTS, SUPPORTS, THEORIES, Plate
from phloat.bodies.solids.solid import PLANES, Sheet, Solid
from phloat.errors import InputError
from phloat.fem.mesh import Mesh
from phloat.system.words.beside import File, mesh_in, stored_mesh
from phloat.system.words.bodies import Parts, taken
from phloat.system.words.choices import Case, Choice
from phloat.system.words.fields import over_surface
from phloat.system.words.groups import Field, ListOf, MapOf, OneOf, Record
from phloat.system.words.kinds import NAME, Flag, Pen, Plain, Word
from phloat.system.words.matter import ANY_MATERIAL, DAMPING, ELASTIC, itself, of_type
from phloat.system.words.numbers import Count, Vector, not_negative, positive, quantity
from phloat.system.words.superelements import SUPERELEMENT_CASE
from phloat.system.words.units import LENGTHS, UNITS

SIDES = ListOf(NAME, alone=True)

# --- ports ------------------------------------------------------------------------------------------------------------

DISC = Record(
    "a patch",
    (
        Field("at", Vector(("length",)), "the middle of the disc"),
        Field("radius", positive("length"), "about that of what is fixed there"),
    ),
    Patch,
)
PATCH = Choice(
    "a place",
    (
        Case(
            "mean",
            NAME,
            Mean,
            lambda v: (v.boundary, {}) if isinstance(v, Mean) else None,
            doc="a boundary that may deform",
        ),
        Case(
            "rigid",
            NAME,
            Rigid,
            lambda v: (v.boundary, {}) if isinstance(v, Rigid) else None,
            doc="a boundary made rigid",
        ),
        Case("patch", DISC, itself, of_type(Patch), doc="a disc about a point, which may deform"),
    ),
    alone=OneOf((Vector(("length",)), NAME), lambda v: int(isinstance(v, str))),
    is_alone=lambda v: not isinstance(v, Mean | Rigid | Patch),
)


def sided(key: str, doc: str) -> Field:
    return Field(key, SIDES, f"{doc}: a boundary, several, or all", None)


def _sides(given: Any) -> Any:
    """A tuple of one name as that name: "all" means all."""
    return given[0] if isinstance(given, tuple) and len(given) == 1 else given


FLOATING = (
    Field("frame", NAME, "the boundary that the floating frame follows, or mean axes; none for small motions", None),
    Field("ports", MapOf(PATCH), "{name: boundary, {mean: boundary or region}, {patch: {at, radius}} or point}", {}),
    Field("damping", DAMPING, "how it loses energy", Rayleigh()),
    Field("stiffening", Flag(), "whether stress stiffens it", True),
    Field("mass", positive("mass"), "what it should weigh: a check of units", None),
)

# --- outlines ---------------------------------------------------------------------------------------------------------


class MeshFile:
    """A mesh: read as the path of its file, written into one."""

    def __init__(self) -> None:
        self.of = File("a mesh file")
        self.said, self.takes, self.read, self.schema = self.of.said, self.of.takes, self.of.read, self.of.schema

    def write(self, value: Mesh, pen: Pen) -> Plain:
        return stored_mesh(value, pen)


MESH = (
    Field("mesh", MeshFile(), "a file of gmsh, VTK, Abaqus or Nastran, or arrays (.npz)", None),
    Field("unit", Word(LENGTHS), "of the mesh file", "m"),
)


def shape(what: str, kind: type, *keys: str, cells: tuple[str, ...] = (), **defaults: float) -> Record:
    """An outline by its lengths."""
    fields = [
        Field(key, not_negative("length"), key, defaults[key])
        if key in defaults
        else Field(key, positive("length"), key)
        for key in keys
    ]
    if cells:
        fields.append(Field("cells", Word(cells), "their kind", cells[0]))
    return Record(what, tuple(fields), kind)


SOLID_CELLS, FLAT_CELLS = ("hexahedron", "tetrahedron"), ("quadrilateral", "triangle")
PLATE_SHAPES = {
    "rectangle": shape("a rectangle", outlines.PlateRectangle, "a", "b"),
    "disc": shape("a disc", outlines.PlateDisc, "radius", "inner", inner=0.0),
}
SOLID_SHAPES = {
    "box": shape("a box", outlines.BoxOutline, "a", "b", "c", cells=SOLID_CELLS),
    "tube": shape("a tube", outlines.TubeOutline, "length", "outer", "inner", cells=SOLID_CELLS, inner=0.0),
    "bracket": shape("a bracket", outlines.BracketOutline, "a", "b", "thickness", "width", cells=SOLID_CELLS),
}
SHEET_SHAPES = {"rectangle": shape("a rectangle", outlines.RectangleOutline, "a", "b", cells=FLAT_CELLS)}


def shaped(shapes: Mapping[str, Record]) -> tuple[Field, ...]:
    """The keys that say an outline: one of them is given."""
    return *(Field(word, record, record.said, None) for word, record in shapes.items()), *MESH


def outline(shapes: Mapping[str, Record], given: dict[str, Any]) -> Any:
    """The outline or mesh among the arguments, which are left without it."""
    mesh, unit = given.pop("mesh", None), given.pop("unit", "m")
    found = {word: x for word in shapes if (x := given.pop(word, None)) is not None}
    if mesh is not None:
        found["mesh"] = mesh_in(Path(mesh), float(UNITS[unit].factor))
    if len(found) != 1:
        said = ", ".join(found) or "none of them"
        raise InputError(f"one of {', '.join([*shapes, 'mesh'])} says its outline; there is {said}")
    return next(iter(found.values()))


def said_outline(shapes: Mapping[str, Record], value: Any) -> dict[str, Any]:
    if isinstance(value, Mesh):
        return {"mesh": value}
    return {word: value for word, record in shapes.items() if type(value) is record.make}


def meshed(what: str, kind: type, shapes: Mapping[str, Record], *fields: Field, attribute: str = "mesh") -> Record:
    """The record of a body on a mesh."""
    names = [f.argument for f in fields]

    def make(**given: Any) -> Any:
        on = outline(shapes, given)
        return kind(
            **{attribute: on},
            **{k: _sides(v) if k in ("clamped", "supported", "symmetric") else v for k, v in given.items()},
        )

    def says(value: Any) -> Mapping[str, Any]:
        return {name: getattr(value, name) for name in names} | said_outline(shapes, getattr(value, attribute))

    return Record(what, (*shaped(shapes), *fields), make, says=says)


PLATE = meshed(
    "a plate",
    Plate,
    PLATE_SHAPES,
    Field("thickness", over_surface("length"), "a length, or a polynomial of x and y; a laminate has its own", None),
    Field("material", ANY_MATERIAL, "what it is made of, or a laminate"),
    Field("theory", Word(THEORIES), "with shear deformation (mindlin) or without", "kirchhoff"),
    Field("elements", Word(tuple(e for some in ELEMENTS.values() for e in some)), "the finite elements", None),
    Field("angle", quantity("angle"), "of the material's axis 1 from x", 0.0),
    sided("clamped", "held and not turned"),
    sided("supported", "w = 0"),
    sided("symmetric", "not turned across"),
    Field("held", MapOf(NAME), "{side: axes of the plane that are held, x, y or xy}", {}),
    Field("shear_factor", positive("number"), "of Mindlin's theory; 5/6 unless said", None),
    Field("support", Word(SUPPORTS), "whether Mindlin's sections may turn along a support", "hard"),
    *FLOATING,
    Field("membrane", Flag(), "whether it stretches in its plane", None),
    attribute="outline",
)
MATERIALS = Choice(
    "a material",
    (
        Case(
            "regions",
            MapOf(ELASTIC, least=1),
            itself,
            lambda v: (v, {}) if isinstance(v, Mapping) else None,
            doc="of each region",
        ),
    ),
    alone=ELASTIC,
    is_alone=lambda v: not isinstance(v, Mapping),
)
HELD = (
    sided("clamped", "held"),
    sided("symmetric", "free to slide in its own plane"),
    Field("held", MapOf(NAME), "{boundary, edge (left & bottom) or line: axes that are held, such as xz}", {}),
    Field("lines", MapOf(ListOf(Vector(("length",)), least=2)), "straight lines by name: their two ends", {}),
    *FLOATING,
)
SOLID = meshed("a solid", Solid, SOLID_SHAPES, Field("material", MATERIALS, "what it is made of"), *HELD)
SHEET = meshed(
    "a sheet",
    Sheet,
    SHEET_SHAPES,
    Field("material", MATERIALS, "what it is made of"),
    Field("thickness", over_surface("length"), "a length, or a polynomial of x and y", 1.0),
    Field("plane", Word(PLANES), "nothing pulls (stress) or moves (strain) across it", "stress"),
    *HELD,
)

# --- the way to a body ------------------------------------------------------------------------------------------------

CELLS = Field(
    "cells",
    OneOf((Count(1), ListOf(Count(1), least=2)), lambda v: int(np.ndim(v) > 0)),
    "how many along the longest side, or along each; a mesh of its own takes none",
    None,
)
REFINE = Field("refine", Count(0), "cut all cells into halves so many times", 0)
ORDER = Field("order", Count(1), "of the displacements: 1 or 2", 2)
REDUCED = Record(
    "a reduced body",
    (
        Field("modes", Count(0), "with its ports held"),
        Field("stiffened", Count(0), "how many of the softest bring companions; 6 unless said", None),
        Field("inertial", Flag(), "with the static responses to inertia", True),
    ),
    lambda **options: options,
    short="modes",
    says=itself,
)


def on_mesh(word: str, record: Record, kind: type, *options: Field, doc: str) -> Case:
    """The case of a body on a mesh."""

    def make(recipe: Any, cells: Any = None, reduced: Mapping[str, Any] | None = None, **more: Any) -> Construction:
        made = Construction(recipe).then("discretise", cells, **({f.key: f.default for f in options} | more))
        return made if reduced is None else made.then("reduced", **reduced)

    def parts(made: Construction) -> Parts | None:
        if not isinstance(made.recipe, kind):
            return None
        steps = taken(made, "discretise", "reduced")
        first = steps["discretise"]
        return made.recipe, {"cells": first.get("0", first.get("n")), **first, "reduced": steps.get("reduced")}

    fields: tuple[Field, ...] = (
        CELLS,
        *options,
        Field("reduced", REDUCED, "to few coordinates, so that it can move far", None),
    )
    return Case(word, record, make, parts, fields, doc=doc)


MESH_CASES = (
    on_mesh("plate", PLATE, Plate, REFINE, doc="a plate in the plane z = 0"),
    on_mesh("solid", SOLID, Solid, ORDER, REFINE, doc="an elastic solid"),
    on_mesh("sheet", SHEET, Sheet, ORDER, REFINE, doc="a sheet that moves and stretches in the plane xy"),
    SUPERELEMENT_CASE,
)
