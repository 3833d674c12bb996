"""Materials, sections and damping as a file says them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from phloat.bodies.beams.section import Circle, Rectangle, Section, Taper, Tube
from phloat.bodies.material import KelvinVoigt, Material, ModalDamping, Orthotropic, Rayleigh
from phloat.bodies.plates.laminate import Laminate
from phloat.system.words.choices import Case, Choice, Named
from phloat.system.words.groups import Field, ListOf, MapOf, Record
from phloat.system.words.kinds import NAME
from phloat.system.words.numbers import FRACTION, Square, Vector, not_negative, positive, quantity


def of_type(kind: type) -> Callable[[Any], tuple[Any, Mapping[str, Any]] | None]:
    """The parts of a value that stands behind its word as a whole."""
    return lambda value: (value, {}) if type(value) is kind else None


def itself(value: Any = None) -> Any:
    return value


# --- materials --------------------------------------------------------------------------------------------------------

ISOTROPIC = Record(
    "a material",
    (
        Field("E", positive("stress"), "Young's modulus"),
        Field("rho", positive("density"), "density"),
        Field("nu", quantity("number"), "Poisson's ratio", 0.3),
    ),
    Material,
)
ORTHOTROPIC = Record(
    "an orthotropic material",
    (
        Field("E", Vector(("stress",)), "Young's moduli along the axes 1, 2, 3 of the material"),
        Field("nu", Vector(), "Poisson's ratios 12, 13, 23"),
        Field("G", Vector(("stress",)), "shear moduli 12, 13, 23"),
        Field("rho", positive("density"), "density"),
        Field("axes", Square(), "columns: directions of the material's axes in body axes", None),
    ),
    Orthotropic,
)
MATERIAL = Choice(
    "a material",
    (Case("orthotropic", ORTHOTROPIC, itself, of_type(Orthotropic), doc="three moduli along axes of its own"),),
    alone=ISOTROPIC,
    is_alone=lambda value: type(value) is Material,
)
LAYER = Record(
    "a layer",
    (
        Field("material", Named("materials", MATERIAL), "what it is made of"),
        Field("thickness", positive("length"), "its thickness"),
        Field("angle", quantity("angle"), "of the material's axis 1 from x", 0.0),
    ),
    lambda material, thickness, angle=0.0: (material, thickness, angle),
    says=lambda layer: dict(zip(("material", "thickness", "angle"), layer, strict=True)),
)
LAMINATE = Choice(
    "a material",
    (
        *MATERIAL.cases,
        Case(
            "laminate",
            ListOf(LAYER, least=1),
            Laminate,
            lambda value: (value.layers, {}) if isinstance(value, Laminate) else None,
            doc="layers from the lowest to the highest",
        ),
    ),
    alone=ISOTROPIC,
    is_alone=lambda value: type(value) is Material,
)
ANY_MATERIAL = Named("materials", LAMINATE)  # what stands in the table of materials, and what a plate takes
ELASTIC = Named("materials", MATERIAL)


def along(word: str, table: str, of: Choice) -> Case:
    """Stations along a beam, {s: …}."""
    return Case(
        "along",
        MapOf(Named(table, of), keys=FRACTION, least=1),
        Taper,
        lambda value: (value.stations, {}) if isinstance(value, Taper) else None,
        doc=f"{word} at fractions of the length, straight lines between them",
    )


BEAM_MATERIAL = Named(
    "materials",
    Choice(
        "a material",
        (along("materials", "materials", MATERIAL),),
        alone=ISOTROPIC,
        is_alone=lambda value: type(value) is Material,
    ),
)

# --- sections ---------------------------------------------------------------------------------------------------------

ANGLE = Field("angle", quantity("angle"), "turns the axes of the section about x, from y towards z", 0.0)
NUMBERS = Record(
    "a section",
    (
        Field("A", positive("area"), "area"),
        Field("I", positive("second moment of area"), "second moment for bending along y, as in the plane xy"),
        Field("I_y", positive("second moment of area"), "second moment for bending along z; I unless said", None),
        Field("J", positive("second moment of area"), "torsion constant; needed in space", None),
        Field("kappa", positive("number"), "shear correction of Timoshenko's theory", 5.0 / 6.0),
        Field(
            "I_yz", quantity("second moment of area"), "product of inertia, which couples bending along y and z", 0.0
        ),
        ANGLE,
    ),
    Section,
    says=lambda section: vars(section) | {"I_y": None if section.I_y == section.I else section.I_y},
)
CIRCLE = Record("a circle", (Field("diameter", positive("length"), "its diameter"),), Circle, short="diameter")
TUBE = Record(
    "a tube",
    (
        Field("diameter", positive("length"), "outer diameter"),
        Field("wall", positive("length"), "thickness of the wall"),
    ),
    Tube,
)
RECTANGLE = Record(
    "a rectangle",
    (
        Field("b", positive("length"), "width, along z"),
        Field("h", positive("length"), "height, along y: the bending of the plane xy"),
        ANGLE,
    ),
    Rectangle,
)
SHAPES = (
    Case("circle", CIRCLE, itself, of_type(Circle), doc="a solid round bar, by its diameter"),
    Case("tube", TUBE, itself, of_type(Tube), doc="a round tube"),
    Case("rectangle", RECTANGLE, itself, of_type(Rectangle), doc="b along z, h along y"),
)
SECTION = Choice("a section", SHAPES, alone=NUMBERS, is_alone=lambda value: type(value) is Section)
BEAM_SECTION = Named(
    "sections",
    Choice(
        "a section",
        (*SHAPES, along("sections", "sections", SECTION)),
        alone=NUMBERS,
        is_alone=lambda value: type(value) is Section,
    ),
)

# --- damping ----------------------------------------------------------------------------------------------------------

RAYLEIGH = Record(
    "Rayleigh damping",
    (
        Field("mass", not_negative("rate"), "by mass, 1/s: twice the decay of every mode", 0.0),
        Field("stiffness", not_negative("time"), "by stiffness, s: of the rate of the whole strain", 0.0),
        Field("relative_to", NAME, "what damping by mass is relative to: a port, or body", None),
    ),
    Rayleigh,
)
KELVIN_VOIGT = Record(
    "Kelvin-Voigt damping", (Field("time", not_negative("time"), "retardation time"),), KelvinVoigt, short="time"
)
MODAL = Record(
    "modal damping",
    (
        Field("ratio", not_negative("number"), "damping ratio of all modes"),
        Field("relative_to", NAME, "whose modes: clamped at this port, or body for free-free ones"),
    ),
    ModalDamping,
)
DAMPING = Choice(
    "damping",
    (
        Case(
            "rayleigh",
            RAYLEIGH,
            itself,
            of_type(Rayleigh),
            doc="by mass, relative to a port or the body, and by stiffness",
        ),
        Case("kelvin-voigt", KELVIN_VOIGT, itself, of_type(KelvinVoigt), doc="stress E (ε + time · ε̇)"),
        Case("modal", MODAL, itself, of_type(ModalDamping), doc="one ratio for all modes"),
    ),
)
