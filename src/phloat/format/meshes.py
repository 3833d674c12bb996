"""Plates, solids and sheets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import numpy as np

from phloat.bodies import outlines
from phloat.bodies.construction import Construction
from phloat.bodies.continua.mesh_body import Mean, Patch, Rigid
from phloat.bodies.plates.plate import Plate
from phloat.bodies.solids.solid import Sheet, Solid
from phloat.errors import InputError
from phloat.format.attached import File, load_mesh, store_mesh
from phloat.format.bodies import Parts, options, steps
from phloat.format.derive import file_word, record, record_keys, summary, variant, wrapper
from phloat.format.fields import THICKNESS
from phloat.format.kinds import NAME, Boolean, Count, Kind, ListOf, Number, Text, vector_of
from phloat.format.materials import ANY_MATERIAL, DAMPING, ELASTIC
from phloat.format.records import Key, MapOf, OneOf, Record, Variant, Variants
from phloat.format.units import LENGTHS, UNITS

SIDES = ("clamped", "supported", "symmetric")
PORT = Variants(
    "a place",
    (wrapper(Mean, NAME), wrapper(Rigid, NAME), variant(Patch, record(Patch, "a patch"))),
    alone=OneOf((vector_of(("length",)), NAME), lambda v: int(isinstance(v, str))),
    is_alone=lambda v: not isinstance(v, Mean | Rigid | Patch),
)
LINES = MapOf(ListOf(vector_of(("length",)), least=2))
REGIONS = Variant(
    "regions",
    MapOf(ELASTIC, least=1),
    lambda materials: materials,
    lambda v: (v, {}) if isinstance(v, Mapping) else None,
    doc="material of each region",
)
MATERIALS = Variants("a material", (REGIONS,), alone=ELASTIC, is_alone=lambda v: not isinstance(v, Mapping))

# --- outlines ---------------------------------------------------------------------------------------------------------

MESH = (
    Key("mesh", File("a mesh file", store_mesh), "a file of gmsh, VTK, Abaqus or Nastran, or arrays (.npz)", None),
    Key("unit", Text(LENGTHS), "of the mesh file", "m"),
)


def shape(cls: type, *cells: str) -> Record:
    """An outline given by lengths; those with a default may be zero."""
    kinds: dict[str, Any] = {
        f.name: Number(("length",), above=0.0) if f.default is MISSING else Number(("length",), least=0.0)
        for f in fields(cls)
    }
    return record(cls, f"a {file_word(cls)}", **kinds | ({"cells": Text(cells)} if cells else {}))


SOLID_CELLS, FLAT_CELLS = ("hexahedron", "tetrahedron"), ("quadrilateral", "triangle")
PLATE_SHAPES = {"rectangle": shape(outlines.PlateRectangle), "disc": shape(outlines.PlateDisc)}
SOLID_SHAPES = {
    "box": shape(outlines.BoxOutline, *SOLID_CELLS),
    "tube": shape(outlines.TubeOutline, *SOLID_CELLS),
    "bracket": shape(outlines.BracketOutline, *SOLID_CELLS),
}
SHEET_SHAPES = {"rectangle": shape(outlines.RectangleOutline, *FLAT_CELLS)}


def make_outline(shapes: Mapping[str, Record], given: dict[str, Any]) -> Any:
    """The outline or mesh among the arguments, which is removed from them."""
    mesh, unit = given.pop("mesh", None), given.pop("unit", "m")
    found = {word: x for word in shapes if (x := given.pop(word, None)) is not None}
    if mesh is not None:
        found["mesh"] = load_mesh(Path(mesh), float(UNITS[unit].factor))
    if len(found) != 1:
        there = ", ".join(found) or "none of them"
        raise InputError(f"the outline is given by one of {', '.join([*shapes, 'mesh'])}; there is {there}")
    return next(iter(found.values()))


def meshed_record(cls: Any, shapes: Mapping[str, Record], attribute: str, **kinds: Kind) -> Record:
    """The record of a body on a mesh; the keys of its outline stand in place of its attribute."""
    keys = record_keys(cls, (attribute,), **kinds)

    def make(**given: Any) -> Any:
        outline = make_outline(shapes, given)
        single = {k: v[0] for k, v in given.items() if k in SIDES and len(v) == 1}  # "all" is no tuple
        return cls(**{attribute: outline}, **given | single)

    def parts(value: Any) -> Mapping[str, Any]:
        outline = getattr(value, attribute)
        word = next((word for word, shape in shapes.items() if type(outline) is shape.make), "mesh")
        return vars(value) | {"mesh": None, word: outline}

    outlines = (Key(word, shape, shape.expected, None) for word, shape in shapes.items())
    return Record(f"a {file_word(cls)}", (*outlines, *MESH, *keys), make, parts=parts)


COMMON: dict[str, Kind] = {"ports": MapOf(PORT), "damping": DAMPING}
PLATE = meshed_record(Plate, PLATE_SHAPES, "outline", material=ANY_MATERIAL, thickness=THICKNESS, **COMMON)
SOLID = meshed_record(Solid, SOLID_SHAPES, "mesh", material=MATERIALS, lines=LINES, **COMMON)
SHEET = meshed_record(Sheet, SHEET_SHAPES, "mesh", material=MATERIALS, thickness=THICKNESS, lines=LINES, **COMMON)

# --- the steps to a body ----------------------------------------------------------------------------------------------

CELLS = Key(
    "cells",
    OneOf((Count(1), ListOf(Count(1), least=2)), lambda v: int(np.ndim(v) > 0)),
    "how many along the longest side, or along each; a mesh file takes none",
    None,
)
REFINE = Key("refine", Count(0), "cut all cells into halves so many times", 0)
ORDER = Key("order", Count(1), "of the displacements: 1 or 2", 2)
REDUCED_BODY = options(
    "a reduced body",
    Key("modes", Count(0), "with its ports held"),
    Key("stiffened", Count(0), "how many of the softest bring companions; 6 by default", None),
    Key("inertial", Boolean(), "with the static responses to inertia", True),
)
REDUCED = Key("reduced", REDUCED_BODY, "to few coordinates, so that it can move far", None)


def meshed_variant(cls: type, kind: Record, *more: Key) -> Variant:
    """The variant of a body on a mesh."""

    def make(recipe: Any, cells: Any = None, reduced: Mapping[str, Any] | None = None, **given: Any) -> Construction:
        made = Construction(recipe).then("discretise", cells, **({k.key: k.default for k in more} | given))
        return made if reduced is None else made.then("reduced", **reduced)

    def parts(made: Construction) -> Parts | None:
        if not isinstance(made.recipe, cls):
            return None
        taken = steps(made, "discretise", "reduced")
        first = taken["discretise"]
        return made.recipe, {"cells": first.get("0", first.get("n")), **first, "reduced": taken.get("reduced")}

    return Variant(file_word(cls), kind, make, parts, (CELLS, *more, REDUCED), doc=summary(cls))


MESH_VARIANTS = (
    meshed_variant(Plate, PLATE, REFINE),
    meshed_variant(Solid, SOLID, ORDER, REFINE),
    meshed_variant(Sheet, SHEET, ORDER, REFINE),
)
