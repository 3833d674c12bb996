"""Numbers that are probably in other units: sections in mm, densities in g/cm³, moduli in GPa or MPa, angles in degrees.

Judged are ratios of lengths, and combinations of E and ρ that no solid has and that are those of metals in other units. Structures
of any size pass, and so do numbers without dimensions and in other consistent units (mm, t, s), unless they look like that by
chance; then `warnings.filterwarnings("ignore", category=phloat.errors.UnitsWarning)` acknowledges it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping

import numpy as np

from phloat.bodies.beams.beam import Beam
from phloat.bodies.beams.section import Section
from phloat.bodies.body import Body
from phloat.bodies.material import Material
from phloat.bodies.plates.plate import Plate
from phloat.errors import UnitsWarning

# E/ρ is 9e6 to 35e6 m²/s² for metals, glass and wood. A million times less, in a solid denser than any gel or rubber, is E in MPa;
# a hundred million times less and fewer, in one denser than any tissue, is E in GPa. The lightest above 1 GPa is balsa, 100 kg/m³
STIFF, LIGHT = 1e9, (1.0, 30.0)  # Pa; kg/m³
IN_MPA, DENSER_THAN_RUBBER = (9.0, 35.0), 1500.0
IN_GPA, DENSER_THAN_TISSUE = (0.001, 0.1), 1100.0
TWO_TURNS = 12.0  # rad
DEGREES = 5.0  # degrees are mostly multiples of it


def warn_of_units(bodies: Mapping[str, object]) -> None:
    """Gives one UnitsWarning for all numbers of these bodies that no part can have."""
    doubts = {
        id(body): list(_doubts(body)) for body in {id(b): b for b in bodies.values() if isinstance(b, Body)}.values()
    }
    found = [f"{name!r} {text}" for name, body in bodies.items() for text in doubts.get(id(body), ())]
    if found:
        text = " ".join(dict.fromkeys(found))
        warnings.warn(f'{text} Units are SI; texts such as "6 mm" or "70 GPa" have theirs', UnitsWarning, stacklevel=4)


def warn_of_degrees(name: str, *values: object) -> None:
    """Gives a UnitsWarning if angles (rad) of many turns are all multiples of 5, as degrees are."""
    numbers = [float(x) for x in values if isinstance(x, (int, float, np.number))]
    largest = max(numbers, key=abs, default=0.0)
    if abs(largest) > TWO_TURNS and all(x % DEGREES == 0.0 for x in numbers):
        turns = largest / (2 * np.pi)
        warnings.warn(
            f"{name} is {largest:g} rad, {turns:.1f} turns; if degrees are meant, write '{largest:g} deg' or "
            f"np.radians({largest:g})",
            UnitsWarning,
            stacklevel=4,
        )


def _doubts(body: Body) -> Iterator[str]:
    recipe = body.recipe
    material = getattr(recipe, "material", None)
    if isinstance(material, Material):
        yield from _of_material(material)
    if isinstance(recipe, Beam) and (width := section_width(recipe)) > (length := recipe.length * max(body.pieces, 1)):
        yield f"has a section about {width:.2g} m wide and is {length:.3g} m long; is the section in mm?"
    if isinstance(recipe, Plate) and isinstance(recipe.thickness, (int, float)) and recipe.thickness > body.extent:
        yield f"is {recipe.thickness:.3g} m thick and {body.extent:.3g} m long; is the thickness in mm?"


def section_width(beam: Beam) -> float:
    """The width of a rectangle with the area and second moment of the section (m), 0.87 of the diameter of a circle."""
    section = beam.section if isinstance(beam.section, Section) else beam.section(0.5)
    return float(np.sqrt(12.0 * max(section.I, section.I_y or 0.0) / section.A))


def _of_material(material: Material) -> Iterator[str]:
    E, rho = material.E, material.rho
    if E >= STIFF and LIGHT[0] < rho <= LIGHT[1]:
        yield f"has a density of {rho:g} kg/m³ and E = {E:g} Pa, as no solid has; is the density in g/cm³?"
    for unit, (low, high), density in (("MPa", IN_MPA, DENSER_THAN_RUBBER), ("GPa", IN_GPA, DENSER_THAN_TISSUE)):
        if low <= E / rho <= high and rho >= density:
            yield f"has E = {E:g} Pa and a density of {rho:g} kg/m³, as no solid has; is E in {unit}?"
