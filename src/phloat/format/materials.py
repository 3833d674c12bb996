"""Kinds of materials, cross-sections and damping."""

from __future__ import annotations

from typing import Any

from phloat.bodies.beams.section import Circle, Rectangle, Section, Taper, Tube
from phloat.bodies.material import KelvinVoigt, Material, ModalDamping, Orthotropic, Rayleigh
from phloat.bodies.plates.laminate import Laminate
from phloat.format.derive import record, variant, wrapper
from phloat.format.kinds import FRACTION, ListOf, Matrix3, Number
from phloat.format.records import Key, MapOf, Named, Record, Variant, Variants

# --- materials --------------------------------------------------------------------------------------------------------


def material(*variants: Variant) -> Variants:
    """The kind of an isotropic material or one of these variants."""
    isotropic = record(Material, "a material")
    return Variants("a material", variants, alone=isotropic, is_alone=lambda value: type(value) is Material)


ORTHOTROPIC = variant(Orthotropic, record(Orthotropic, "an orthotropic material", axes=Matrix3()))
MATERIAL = material(ORTHOTROPIC)
LAYER = Record(
    "a layer",
    (
        Key("material", Named("materials", MATERIAL), "what it is made of"),
        Key("thickness", Number(("length",), above=0.0), "its thickness"),
        Key("angle", Number(("angle",)), "of the material's axis 1 from x", 0.0),
    ),
    lambda material, thickness, angle=0.0: (material, thickness, angle),
    parts=lambda layer: dict(zip(("material", "thickness", "angle"), layer, strict=True)),
)
LAMINATE = wrapper(Laminate, ListOf(LAYER, least=1), doc="layers from the lowest to the highest")
ANY_MATERIAL = Named("materials", material(ORTHOTROPIC, LAMINATE))  # for the table of materials and for plates
ELASTIC = Named("materials", MATERIAL)


def stations(table: str, kind: Variants) -> Variant:
    """The variant of sections or materials at stations along a beam, {s: …}."""
    doc = f"{table} at fractions of the length, straight lines between them"
    return wrapper(Taper, MapOf(Named(table, kind), keys=FRACTION, least=1), "along", doc)


BEAM_MATERIAL = Named("materials", material(stations("materials", MATERIAL)))

# --- sections ---------------------------------------------------------------------------------------------------------


def section_arguments(section: Section) -> dict[str, Any]:
    """The arguments of a section given by numbers, without I_y if it equals I, its default."""
    return vars(section) | {"I_y": None if section.I_y == section.I else section.I_y}


def section(*variants: Variant) -> Variants:
    """The kind of a section by its numbers or one of these variants."""
    numbers = Record("a section", record(Section, "").keys, Section, parts=section_arguments)
    return Variants("a section", variants, alone=numbers, is_alone=lambda value: type(value) is Section)


SHAPES = (
    variant(Circle, record(Circle, "a circle", short="diameter")),
    variant(Tube, record(Tube, "a tube")),
    variant(Rectangle, record(Rectangle, "a rectangle")),
)
BEAM_SECTION = Named("sections", section(*SHAPES, stations("sections", section(*SHAPES))))

# --- damping ----------------------------------------------------------------------------------------------------------

DAMPING = Variants(
    "damping",
    (
        variant(Rayleigh, record(Rayleigh, "Rayleigh damping")),
        variant(KelvinVoigt, record(KelvinVoigt, "Kelvin-Voigt damping", short="time"), "kelvin-voigt"),
        variant(ModalDamping, record(ModalDamping, "modal damping"), "modal"),
    ),
)
