"""Bodies as a file says them: the recipe behind its word, and beside it how it becomes a body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from phloat.bodies.beams.beam import THEORIES, Beam
from phloat.bodies.beams.fields import FRAMES, OF_PIECE
from phloat.bodies.beams.split import Split
from phloat.bodies.construction import Construction, ConstructionStep
from phloat.bodies.material import Rayleigh
from phloat.bodies.rigid import PointMass, RigidBody
from phloat.errors import InputError
from phloat.linear.reduction.basis import Basis
from phloat.system.words.choices import Case
from phloat.system.words.groups import Field, ListOf, MapOf, OneOf, Record
from phloat.system.words.kinds import NAME, Flag, Word
from phloat.system.words.matter import BEAM_MATERIAL, BEAM_SECTION, DAMPING, itself
from phloat.system.words.numbers import FRACTION, Count, Square, Vector, positive

Parts = tuple[Any, Mapping[str, Any]]

BEAM = Record(
    "a beam",
    (
        Field("length", positive("length"), "from port P (s = 0) to port C (s = 1), along x"),
        Field("section", BEAM_SECTION, "its cross-section"),
        Field("material", BEAM_MATERIAL, "what it is made of"),
        Field("theory", Word(THEORIES), "how sections turn and shear", "euler-bernoulli"),
        Field(
            "frame",
            OneOf((Word(tuple(FRAMES)), MapOf(ListOf(NAME), keys=FRACTION)), lambda v: int(not isinstance(v, str))),
            "which rigid motion is no deformation; without it cantilever, and chord for the pieces of a split beam",
            None,
        ),
        Field("masses", MapOf(positive("mass"), keys=FRACTION), "lumped masses, {fraction of the length: mass}", {}),
        Field("ports", MapOf(FRACTION), "further ports, {name: fraction of the length}", {}),
        Field("damping", DAMPING, "how it loses energy", Rayleigh()),
        Field("stiffening", Flag(), "whether axial force stiffens bending", True),
    ),
    Beam,
)
RIGID = Record(
    "a rigid body",
    (
        Field("mass", positive("mass"), "its mass"),
        Field("inertia", Square(("inertia",)), "about the mass centre: the diagonal, or three rows"),
        Field("center", Vector(("length",)), "the mass centre, seen from port P", (0.0, 0.0, 0.0)),
        Field("ports", MapOf(Vector(("length",))), "further ports, {name: place seen from port P}", {}),
    ),
    RigidBody,
)
POINT = Record("a point mass", (Field("mass", positive("mass"), "its mass"),), PointMass, short="mass")

ELEMENTS = OneOf((Count(1), ListOf(FRACTION, least=2)), lambda v: int(hasattr(v, "__len__")))
REDUCED_BEAM = Record(
    "a reduced beam",
    (
        Field("modes", Count(1), "bending modes in each plane"),
        Field("axial", Count(0), "axial modes", 2),
        Field("torsion", Count(0), "torsion modes", 2),
        Field("loaded", ListOf(NAME), "ports whose static response is kept too", None),
    ),
    lambda **options: options,
    short="modes",
    says=itself,
)


def made_beam(
    beam: Beam, elements: Any, split: int | None = None, reduced: Mapping[str, Any] | None = None
) -> Construction:
    """A beam with elements, split into pieces, reduced."""
    made = Construction(beam if split is None else Split(beam, split)).then("discretise", elements)
    return made if reduced is None else made.then("reduced", **{k: v for k, v in reduced.items() if v is not None})


def said_beam(made: Construction) -> Parts | None:
    """The beam and how it was made."""
    recipe = made.recipe
    whole = recipe.beam if isinstance(recipe, Split) else recipe
    if not isinstance(whole, Beam):
        return None
    steps = taken(made, "discretise", "reduced")
    reduced = steps.get("reduced")
    usual = ("P", "C") if isinstance(recipe, Split) else ()
    if reduced is not None:
        loaded = tuple(reduced.get("loaded", usual))
        reduced = reduced | {"loaded": None if loaded == usual else loaded}
    pieces = recipe.pieces if isinstance(recipe, Split) else None
    if pieces is not None and whole.frame is None:
        whole = replace(whole, frame=OF_PIECE)  # stated: what is saved stays as it is, whatever later versions choose
    return whole, {"elements": steps["discretise"]["0"], "split": pieces, "reduced": reduced}


def taken(made: Construction, *verbs: str) -> dict[str, dict[str, Any]]:
    """What each step was given, by the names of these verbs; the plane and the pieces come by themselves."""
    out: dict[str, dict[str, Any]] = {}
    for step in made.steps:
        if step.method in ("in_plane", "piece"):
            continue
        if step.method not in verbs or step.method in out:
            raise InputError(f"no file can say {step!r}")
        out[step.method] = _given(step)
    return out


def _given(step: ConstructionStep) -> dict[str, Any]:
    given = {str(k): value for k, value in enumerate(step.arguments)} | dict(step.options)
    if any(isinstance(value, Basis) for value in given.values()):
        raise InputError(
            "a basis from krylov_basis, modal_basis or pod_basis is known to Python alone; reduce the body by modes"
        )
    return {name: value for name, value in given.items() if not (name == "basis" and value is None)}


def rigid_case(word: str, record: Record, kind: type, doc: str) -> Case:
    def parts(made: Construction) -> Parts | None:
        return (
            (made.recipe, {}) if isinstance(made.recipe, kind) and not taken(made, "discretise")["discretise"] else None
        )

    return Case(word, record, lambda recipe: Construction(recipe).then("discretise"), parts, doc=doc)


BEAM_CASE = Case(
    "beam",
    BEAM,
    made_beam,
    said_beam,
    rest=(
        Field(
            "elements",
            ELEMENTS,
            "how many equal elements (of a split beam, in each piece), or the fractions between them",
        ),
        Field("split", Count(1), "into so many floating pieces, to bend far", None),
        Field("reduced", REDUCED_BEAM, "to few coordinates", None),
    ),
    doc="a straight beam along its x axis",
)
RIGID_CASES = (
    rigid_case("rigid body", RIGID, RigidBody, "a rigid body with axes at its port P"),
    rigid_case("point mass", POINT, PointMass, "a mass without orientation"),
)
