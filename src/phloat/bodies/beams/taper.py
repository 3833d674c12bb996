"""Sections and materials that vary along a beam by a few stations, with straight lines between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from phloat.bodies.beams.section import Section
from phloat.bodies.material import Material
from phloat.errors import InputError, finite, mapping


@dataclass(frozen=True)
class Taper:
    """{s: section} or {s: material} at fractions of the length; between them dimensions go in straight lines.

    Stations of one shape taper in its dimensions and its angle (a cone from two circles, a pretwisted blade from two rectangles),
    others in A, I, I_y, I_yz, J and kappa in the axes of the beam, without pretwist. Beyond the first and the last nothing changes.
    """

    stations: Mapping[float, Any]

    def __post_init__(self) -> None:
        if not mapping("stations", self.stations, "{s: section}"):
            raise InputError(
                "a taper has no stations; give at least one: Taper({0.0: Circle(0.01), 1.0: Circle(0.02)})"
            )
        for s, value in self.stations.items():
            if not 0.0 <= finite("a station of a taper", s, ()) <= 1.0:
                raise InputError(f"a station of a taper is at s = {s:g}; it must lie between 0 and 1")
            if not isinstance(value, (Section, Material)):
                raise InputError(f"the station at s = {s:g} is {value!r}; it must be a section or a material")
        if len({isinstance(value, Section) for value in self.stations.values()}) > 1:
            raise InputError("the stations of a taper are sections and materials; make a taper of each")
        object.__setattr__(self, "stations", {float(s): self.stations[s] for s in sorted(self.stations)})

    def __call__(self, s: float) -> Any:
        places = list(self.stations)
        k = sum(place <= s for place in places)
        if k == 0 or k == len(places):
            return self.stations[places[max(k - 1, 0)]]
        a, b = places[k - 1], places[k]
        return _between(self.stations[a], self.stations[b], (s - a) / (b - a))

    def __hash__(self) -> int:
        return hash(tuple(self.stations.items()))


def _between(first: Any, second: Any, part: float) -> Any:
    """The value at a part of the way."""
    kind: Any = type(first)
    if kind is not type(second):
        kind, first, second = Section, _numbers(first), _numbers(second)
    out = {}
    for f in fields(kind):
        if f.init:
            a, b = getattr(first, f.name), getattr(second, f.name)
            out[f.name] = None if a is None or b is None else (1.0 - part) * a + part * b
    return kind(**out)


def _numbers(section: Section) -> Section:
    """The section by its numbers in the axes of the beam."""
    I, I_y, I_yz = section.moments
    return Section(section.A, I, I_y, section.J, section.kappa, I_yz=I_yz)
