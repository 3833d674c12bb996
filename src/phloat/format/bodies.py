"""Kinds of bodies: the value of the word is the recipe; further keys are the steps that construct a body from it.

Beams, rigid bodies, plates, solids and sheets on meshes, and superelements.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from phloat.algebra.units import LENGTHS, MASSES, UNITS
from phloat.bodies import outlines
from phloat.bodies.beams.beam import Beam
from phloat.bodies.beams.fields import FRAMES, OF_PIECE
from phloat.bodies.beams.split import Split
from phloat.bodies.body import SHORTENINGS
from phloat.bodies.construction import Construction, ConstructionStep
from phloat.bodies.continua.mesh_body import Mean, Patch, Rigid
from phloat.bodies.plates.plate import Plate
from phloat.bodies.rigid import PointMass, RigidBody
from phloat.bodies.solids.solid import Sheet, Solid
from phloat.bodies.superelements.superelement import Superelement
from phloat.errors import InputError
from phloat.format.attached import File, load_matrices, load_mesh, store_matrices, store_mesh
from phloat.format.derive import file_word, record, record_keys, summary, variant, wrapper
from phloat.format.fields import THICKNESS
from phloat.format.kinds import FRACTION, NAME, Boolean, Count, Kind, ListOf, Number, Text, vector_of
from phloat.format.materials import ANY_MATERIAL, BEAM_MATERIAL, BEAM_SECTION, DAMPING, ELASTIC
from phloat.format.records import Key, MapOf, OneOf, Record, Variant, Variants
from phloat.linear.reduction.basis import Basis

Parts = tuple[Any, Mapping[str, Any]]


def steps(construction: Construction, *methods: str) -> dict[str, dict[str, Any]]:
    """The arguments of the steps of a construction, by method: {"discretise": {"0": 4}, "reduced": {"modes": 2}}.

    Raises InputError if there is a method that is not in `methods`. "in_plane" and "piece" are omitted, as they follow from the
    system and from the recipe.
    """
    out: dict[str, dict[str, Any]] = {}
    for step in construction.steps:
        if step.method in ("in_plane", "piece"):
            continue
        if step.method not in methods or step.method in out:
            raise InputError(f"a file cannot hold {step!r}")
        out[step.method] = _arguments(step)
    return out


def _arguments(step: ConstructionStep) -> dict[str, Any]:
    arguments = {str(k): value for k, value in enumerate(step.arguments)} | dict(step.options)
    if any(isinstance(value, Basis) for value in arguments.values()):
        raise InputError("a file cannot hold the basis of a reduced body; reduce it by modes")
    return {name: value for name, value in arguments.items() if not (name == "basis" and value is None)}


def options(label: str, *keys: Key) -> Record:
    """The options of a reduction, as a mapping; a number alone is the number of modes."""
    return Record(label, keys, lambda **arguments: arguments, short="modes", parts=lambda arguments: arguments)


# --- beams ------------------------------------------------------------------------------------------------------------

FRAME = OneOf((Text(tuple(FRAMES)), MapOf(ListOf(NAME), keys=FRACTION)), lambda v: int(not isinstance(v, str)))
BEAM = record(Beam, "a beam", section=BEAM_SECTION, material=BEAM_MATERIAL, frame=FRAME, damping=DAMPING)
ELEMENTS = OneOf((Count(1), ListOf(FRACTION, least=2)), lambda v: int(hasattr(v, "__len__")))
REDUCED_BEAM = options(
    "a reduced beam",
    Key("modes", Count(1), "bending modes in each plane"),
    Key("axial", Count(0), "axial modes", 2),
    Key("torsion", Count(0), "torsion modes", 2),
    Key("loaded", ListOf(NAME), "ports whose static response is added", None),
    Key("shortening", Text(SHORTENINGS), "how it shortens as it bends", None),
)


def make_beam(
    beam: Beam, elements: Any, split: int | None = None, reduced: Mapping[str, Any] | None = None
) -> Construction:
    """The construction of a beam with elements, optionally split into pieces, optionally reduced."""
    body = Construction(beam if split is None else Split(beam, split)).then("discretise", elements)
    return body if reduced is None else body.then("reduced", **{k: v for k, v in reduced.items() if v is not None})


def beam_parts(construction: Construction) -> Parts | None:
    """The beam of a construction and the arguments of `make_beam`; None for other bodies."""
    recipe = construction.recipe
    beam, pieces = (recipe.beam, recipe.pieces) if isinstance(recipe, Split) else (recipe, None)
    if not isinstance(beam, Beam):
        return None
    arguments = steps(construction, "discretise", "reduced")
    reduced, default = arguments.get("reduced"), () if pieces is None else ("P", "C")
    if reduced is not None:
        loaded = tuple(reduced.get("loaded", default))
        reduced = reduced | {"loaded": None if loaded == default else loaded}
    if pieces is not None and beam.frame is None:
        beam = replace(beam, frame=OF_PIECE)  # written out: a saved model stays the same if the default changes
    return beam, {"elements": arguments["discretise"]["0"], "split": pieces, "reduced": reduced}


BEAM_OPTIONS = (
    Key(
        "elements",
        ELEMENTS,
        "how many (in each piece of a split beam), or the fractions between them",
    ),
    Key("split", Count(1), "number of floating pieces, for large bending", None),
    Key("reduced", REDUCED_BEAM, "reduction to few coordinates", None),
)
BEAM_VARIANT = Variant("beam", BEAM, make_beam, beam_parts, BEAM_OPTIONS, doc=summary(Beam))

# --- rigid bodies -----------------------------------------------------------------------------------------------------


def variant_without_options(cls: Any, kind: Record, *arguments: Any) -> Variant:
    """The variant of a body that is discretised with these arguments; its number of modes is a field of the recipe."""

    def parts(construction: Construction) -> Parts | None:
        if not isinstance(construction.recipe, cls):
            return None
        modes = steps(construction, "discretise")["discretise"].get("0")
        if modes is not None and modes != construction.recipe.modes:
            raise InputError(f"discretise({modes}) of a {file_word(cls)}; give modes={modes} in its recipe")
        return construction.recipe, {}

    def make(recipe: Any) -> Construction:
        return Construction(recipe).then("discretise", *arguments)

    return Variant(file_word(cls), kind, make, parts, doc=summary(cls))


RIGID_VARIANTS = (
    variant_without_options(RigidBody, record(RigidBody, "a rigid body")),
    variant_without_options(PointMass, record(PointMass, "a point mass", short="mass")),
)

# --- plates, solids and sheets ------------------------------------------------------------------------------------------

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

MESH = (
    Key("mesh", File("a mesh file", store_mesh), "a file of gmsh, VTK, Abaqus or Nastran, or arrays (.npz)", None),
    Key("unit", Text(LENGTHS), "of the mesh file", "m"),
)


def shape(cls: type, *cells: str) -> Record:
    """The record of an outline given by lengths; those with a default may be zero."""
    positive, not_negative = Number(("length",), above=0.0), Number(("length",), least=0.0)
    kinds: dict[str, Any] = {f.name: positive if f.default is MISSING else not_negative for f in fields(cls)}
    return record(cls, f"a {file_word(cls)}", **kinds | ({"cells": Text(cells)} if cells else {}))


SOLID_CELLS, FLAT_CELLS = ("hexahedron", "tetrahedron"), ("quadrilateral", "triangle")
PLATE_SHAPES = {"rectangle": shape(outlines.PlateRectangle), "disc": shape(outlines.PlateDisc)}
SOLID_SHAPES = {
    "box": shape(outlines.BoxOutline, *SOLID_CELLS),
    "tube": shape(outlines.TubeOutline, *SOLID_CELLS),
    "bracket": shape(outlines.BracketOutline, *SOLID_CELLS),
}
SHEET_SHAPES = {"rectangle": shape(outlines.RectangleOutline, *FLAT_CELLS)}


def make_outline(shapes: Mapping[str, Record], arguments: dict[str, Any]) -> Any:
    """Removes the outline or mesh from the arguments and returns it. Raises InputError unless there is exactly one."""
    mesh, unit = arguments.pop("mesh", None), arguments.pop("unit", "m")
    outlines = {word: x for word in shapes if (x := arguments.pop(word, None)) is not None}
    if mesh is not None:
        outlines["mesh"] = load_mesh(Path(mesh), float(UNITS[unit].factor))
    if len(outlines) != 1:
        names = ", ".join(outlines) or "none of them"
        raise InputError(f"the outline is given by one of {', '.join([*shapes, 'mesh'])}; there is {names}")
    return next(iter(outlines.values()))


def meshed_record(cls: Any, shapes: Mapping[str, Record], attribute: str, **kinds: Kind) -> Record:
    """The record of a body on a mesh; keys for its outline or mesh file replace the field `attribute`."""
    keys = record_keys(cls, (attribute,), **kinds)

    def make(**arguments: Any) -> Any:
        outline = make_outline(shapes, arguments)
        single = {k: v[0] for k, v in arguments.items() if k in SIDES and len(v) == 1}  # "all" is no tuple
        return cls(**{attribute: outline}, **arguments | single)

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

COUNTS = OneOf((Count(1), ListOf(Count(1), least=2)), lambda v: int(np.ndim(v) > 0))
CELLS = Key("cells", COUNTS, "their number along the longest side, or along each; none with a mesh file", None)
REFINE = Key("refine", Count(0), "how many times all cells are halved", 0)
ORDER = Key("order", Count(1), "of the displacements: 1 or 2", 2)
REDUCED_BODY = options(
    "a reduced body",
    Key("modes", Count(0), "number of modes with fixed ports"),
    Key("stiffened", Count(0), "number of softest shapes with companions for their shortening; 6 by default", None),
    Key("inertial", Boolean(), "with the static responses to inertia", True),
    Key("loaded", ListOf(NAME), "boundaries to whose loads the static responses are added", ()),
)
REDUCED = Key("reduced", REDUCED_BODY, "reduction to few coordinates, for large motion", None)


def meshed_variant(cls: type, kind: Record, *more: Key) -> Variant:
    """The variant of a body on a mesh."""

    def make(recipe: Any, cells: Any = None, reduced: Mapping[str, Any] | None = None, **options: Any) -> Construction:
        body = Construction(recipe).then("discretise", cells, **({k.key: k.default for k in more} | options))
        return body if reduced is None else body.then("reduced", **reduced)

    def parts(body: Construction) -> Parts | None:
        if not isinstance(body.recipe, cls):
            return None
        arguments = steps(body, "discretise", "reduced")
        first = arguments["discretise"]
        return body.recipe, {"cells": first.get("0", first.get("n")), **first, "reduced": arguments.get("reduced")}

    return Variant(file_word(cls), kind, make, parts, (CELLS, *more, REDUCED), doc=summary(cls))


MESH_VARIANTS = (
    meshed_variant(Plate, PLATE, REFINE),
    meshed_variant(Solid, SOLID, ORDER, REFINE),
    meshed_variant(Sheet, SHEET, ORDER, REFINE),
)

# --- superelements: matrices as NumPy arrays, or in the text files of other codes ---------------------------------------

FILE_UNITS = Record(
    "units",
    (Key("length", Text(LENGTHS), "of length", "m"), Key("mass", Text(MASSES), "of mass", "kg")),
    lambda length="m", mass="kg": (float(UNITS[length].factor), float(UNITS[mass].factor)),
)
NODES = OneOf((ListOf(Count(0), least=1), NAME), lambda v: int(isinstance(v, str)))


def superelement(interfaces: Mapping[str, Any], **others: Any) -> Superelement:
    """A superelement from arrays, or from text files of other codes. Raises InputError if a file is missing."""
    files = {name: others.pop(name, None) for name in ("matrices", "mass", "stiffness", "nodes", "units")}
    if files["matrices"] is not None:
        for name, nodes in interfaces.items():
            if isinstance(nodes, str):
                raise InputError(f"interface {name!r} is {nodes!r}; with an .npz file it is a list of node numbers")
        arrays = load_matrices(files["matrices"])
        return Superelement.from_matrices(interfaces=interfaces, **arrays, **others)
    if missing := [name for name in ("mass", "stiffness", "nodes") if files[name] is None]:
        raise InputError(f"give matrices (.npz), or mass, stiffness and nodes of other codes; there is no {missing[0]}")
    units = files["units"] or (1.0, 1.0)
    return Superelement.from_files(files["mass"], files["stiffness"], files["nodes"], interfaces, units=units, **others)


def superelement_arguments(body: Superelement) -> Mapping[str, Any]:
    """The arguments of `superelement` for a body."""
    interfaces = {name: np.asarray(nodes).tolist() for name, nodes in body.interfaces.items()}
    return {k.argument: getattr(body, k.argument) for k in OPTIONS} | {"matrices": body, "interfaces": interfaces}


OPTIONS = record_keys(
    Superelement, ("M", "K", "nodes", "dofs", "R", "masses"), interfaces=MapOf(NODES, least=1), damping=DAMPING
)
SUPERELEMENT = Record(
    "a superelement",
    (
        Key("matrices", File("a file of matrices", store_matrices), "NumPy arrays M, K, nodes, dofs, R, masses", None),
        Key("mass", File("a matrix"), "the mass matrix of CalculiX, Abaqus, Nastran or Matrix Market", None),
        Key("stiffness", File("a matrix"), "the stiffness matrix", None),
        Key("nodes", File("a file of nodes"), "*NODE, GRID or a table", None),
        Key("units", FILE_UNITS, "of these files", None),
        *OPTIONS,
    ),
    superelement,
    parts=superelement_arguments,
)

SUPERELEMENT_VARIANT = variant_without_options(Superelement, SUPERELEMENT, None)
