"""Numbers with units: "6 mm", "200 GPa", "1200 rpm", "2 kN/m" as SI numbers with their dimension.

Decimals and units are multiplied as fractions, so that "33.4 g" is exactly the float 0.0334. Hz is one turn per second, 2π rad/s.
"""

from __future__ import annotations

import math
import re
from dataclasses import astuple, dataclass, fields
from fractions import Fraction
from functools import cache
from typing import Any

from phloat.algebra.metadata import description
from phloat.errors import InputError, unknown

NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?"
MAX_CHARACTERS = 60  # length of a number with its unit
FACTOR = re.compile(r"\s*([*·/]?)\s*([A-Za-zµμ°%]+|1)\s*(?:(?:\^|\*\*)?\s*([+-]?\d|[²³⁴])|([⁻]?[¹²³⁴]))?")
SUPERSCRIPTS = {"¹": 1, "²": 2, "³": 3, "⁴": 4, "⁻¹": -1, "⁻²": -2, "⁻³": -3, "⁻⁴": -4}


@dataclass(frozen=True)
class Dimension:
    """Powers of kilogram, metre, second and radian."""

    kg: int = 0
    m: int = 0
    s: int = 0
    rad: int = 0

    def times(self, other: Dimension, power: int = 1) -> Dimension:
        """This dimension times a power of another."""
        return Dimension(*(a + power * b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def fits(self, required: Dimension) -> bool:
        """Whether this is the required dimension; radians may be omitted, as in "N m" for "N m/rad"."""
        return (self.kg, self.m, self.s) == (required.kg, required.m, required.s) and self.rad in (0, required.rad)


NONE = Dimension()
FORCE, STRESS, ENERGY = Dimension(1, 1, -2), Dimension(1, -1, -2), Dimension(1, 2, -2)


@dataclass(frozen=True)
class Unit:
    """A unit: `factor` times π to the power `pi` times the SI unit of its dimension."""

    dimension: Dimension
    factor: Fraction = Fraction(1)
    pi: int = 0


def _units() -> dict[str, Unit]:
    mass, length, time, angle = Dimension(kg=1), Dimension(m=1), Dimension(s=1), Dimension(rad=1)
    families = {
        "m": (length, {"n": -9, "u": -6, "µ": -6, "μ": -6, "m": -3, "c": -2, "d": -1, "": 0, "k": 3}),
        "g": (mass, {"m": -6, "": -3, "k": 0}),
        "t": (mass, {"": 3}),
        "s": (time, {"n": -9, "u": -6, "µ": -6, "μ": -6, "m": -3, "": 0}),
        "N": (FORCE, {"m": -3, "": 0, "k": 3, "M": 6}),
        "Pa": (STRESS, {"": 0, "h": 2, "k": 3, "M": 6, "G": 9}),
        "bar": (STRESS, {"m": 2, "": 5}),
        "J": (ENERGY, {"m": -3, "": 0, "k": 3}),
        "W": (ENERGY.times(time, -1), {"m": -3, "": 0, "k": 3}),
        "rad": (angle, {"m": -3, "": 0}),
    }
    out = {
        f"{prefix}{name}": Unit(dimension, Fraction(10) ** power)
        for name, (dimension, prefixes) in families.items()
        for prefix, power in prefixes.items()
    }
    inch, pound, rate = Fraction("0.0254"), Fraction("0.45359237"), angle.times(time, -1)
    weight, degree, turn = pound * Fraction("9.80665"), Unit(angle, Fraction(1, 180), 1), Unit(angle, Fraction(2), 1)
    return out | {
        **{"in": Unit(length, inch), "ft": Unit(length, 12 * inch)},
        **{"lb": Unit(mass, pound), "lbf": Unit(FORCE, weight)},
        **{"psi": Unit(STRESS, weight / inch**2), "min": Unit(time, Fraction(60)), "h": Unit(time, Fraction(3600))},
        **{"%": Unit(NONE, Fraction(1, 100)), "1": Unit(NONE)},
        **{"deg": degree, "°": degree, "rev": turn, "turn": turn, "turns": turn},
        **{
            "rpm": Unit(rate, Fraction(2, 60), 1),
            "Hz": Unit(rate, Fraction(2), 1),
            "kHz": Unit(rate, Fraction(2000), 1),
        },
    }


UNITS = _units()
COMMON = ("m", "mm", "cm", "kg", "g", "s", "ms", "N", "kN", "Pa", "MPa", "GPa", "J", "W", "rad", "deg", "rpm", "Hz")
LENGTHS, MASSES = (tuple(n for n, unit in UNITS.items() if unit.dimension == UNITS[si].dimension) for si in ("m", "kg"))


@dataclass(frozen=True)
class Measured:
    """A number in SI units; `dimension` is None if it was written without a unit."""

    value: float
    dimension: Dimension | None


def parse_number(text: str) -> Measured:
    """The number in a text. Raises InputError if it is not a number or has an unknown unit."""
    parts = re.fullmatch(rf"\s*({NUMBER})(.*)", text, re.DOTALL) if len(text) <= MAX_CHARACTERS else None
    if parts is None:
        raise InputError(f"{abbreviated(text)!r} is not a number")
    number, unit = parts[1], parts[2].strip()
    if not math.isfinite(float(number)):
        raise InputError(f"{number!r} is too large for a number")
    if not unit:
        return Measured(float(number), None)
    scale = parse_unit(unit)
    if scale.factor == 1 and not scale.pi:
        return Measured(float(number), scale.dimension)
    try:
        return Measured(float(Fraction(number) * scale.factor) * math.pi**scale.pi, scale.dimension)
    except OverflowError:
        raise InputError(f"{abbreviated(text)!r} is too large for a number") from None


def parse_unit(text: str) -> Unit:
    """The product of the units in a text; each "/" divides by the next unit only."""
    dimension, factor, pi, position = NONE, Fraction(1), 0, 0
    while position < len(text):
        match = FACTOR.match(text, position)
        if match is None:
            raise InputError(f"{abbreviated(text)!r} is not a unit; write units as in 'kg/m^3', 'N m', 'N s/m'")
        sign, name, power, superscript = match.groups()
        if name not in UNITS:
            raise InputError(unknown("unit", name, dict.fromkeys((*COMMON, *UNITS))))
        times = SUPERSCRIPTS[superscript or power] if (superscript or power) in SUPERSCRIPTS else int(power or 1)
        times = -times if sign == "/" else times
        unit = UNITS[name]
        dimension, factor = dimension.times(unit.dimension, times), factor * unit.factor**times
        pi, position = pi + times * unit.pi, match.end()
    return Unit(dimension, factor, pi)


def abbreviated(text: str) -> str:
    """The text, cut to 40 characters for messages."""
    return text if len(text) <= 40 else f"{text[:37]}…"


# quantities by name: dimension and an example
QUANTITIES: dict[str, tuple[Dimension, str]] = {
    "number": (NONE, "0.3"),
    "length": (Dimension(m=1), "6 mm"),
    "area": (Dimension(m=2), "20 mm^2"),
    "second moment of area": (Dimension(m=4), "160 mm^4"),
    "mass": (Dimension(kg=1), "250 g"),
    "inertia": (Dimension(kg=1, m=2), "0.2 kg m^2"),
    "density": (Dimension(kg=1, m=-3), "7870 kg/m^3"),
    "time": (Dimension(s=1), "20 ms"),
    "rate": (Dimension(s=-1), "0.1 1/s"),
    "angle": (Dimension(rad=1), "30 deg"),
    "angular rate": (Dimension(s=-1, rad=1), "1200 rpm"),
    "angular acceleration": (Dimension(s=-2, rad=1), "2 rad/s^2"),
    "velocity": (Dimension(m=1, s=-1), "2 m/s"),
    "acceleration": (Dimension(m=1, s=-2), "9.81 m/s^2"),
    "force": (FORCE, "200 N"),
    "torque": (ENERGY, "5 N m"),
    "stress": (STRESS, "200 GPa"),
    "force per volume": (Dimension(kg=1, m=-2, s=-2), "76 kN/m^3"),
    "force per length": (Dimension(kg=1, s=-2), "2 kN/m"),
    "stiffness": (Dimension(kg=1, s=-2), "2 kN/m"),
    "torsional stiffness": (Dimension(kg=1, m=2, s=-2, rad=-1), "5 N m/rad"),
    "damping": (Dimension(kg=1, s=-1), "3 N s/m"),
    "torsional damping": (Dimension(kg=1, m=2, s=-1, rad=-1), "3 N m s/rad"),
}


def dimension_name(dimension: Dimension) -> str:
    """The name of a dimension with its article ("a length"), or its powers of SI units if it has none."""
    for name, (candidate, _) in QUANTITIES.items():
        if candidate == dimension and dimension != NONE:
            return f"a {name}" if name[0] not in "aeiou" else f"an {name}"
    powers = {"kg": dimension.kg, "m": dimension.m, "s": dimension.s, "rad": dimension.rad}
    return " ".join(n if p == 1 else f"{n}^{p}" for n, p in powers.items() if p) or "a plain number"


# --- texts in recipes ------------------------------------------------------------------------------------------------

WITH_UNIT = re.compile(rf"\s*{NUMBER}\s*[A-Za-zµμ°%/]")
CURVES = {  # argument and value of a curve, by the quantity of its slope
    "stiffness": ("length", "force"),
    "torsional stiffness": ("angle", "torque"),
    "damping": ("velocity", "force"),
    "torsional damping": ("angular rate", "torque"),
}
AXES = {
    f"{sign}{axis}": tuple(size * float(k == i) for k in range(3))
    for i, axis in enumerate("xyz")
    for sign, size in (("", 1.0), ("-", -1.0))
}


def in_si(recipe: Any) -> None:
    """Replaces texts in the fields of a recipe by what they mean: "30 mm" by 0.03, the axis "-y" by (0, -1, 0)."""
    cls: Any = type(recipe)
    for name, quantities, of_names in _measured_fields(cls):
        value = getattr(recipe, name)
        if not (isinstance(value, (str, tuple, list, dict)) and _has_text(value)):
            continue
        label = f"{name} of {getattr(recipe, 'label', f'a {cls.__name__}')}"
        if of_names and isinstance(value, dict):
            object.__setattr__(recipe, name, {key: si_value(label, x, quantities) for key, x in value.items()})
        else:
            object.__setattr__(recipe, name, si_value(label, value, quantities))


def si_value(label: str, value: Any, quantities: tuple[str, ...]) -> Any:
    """A text, or the texts in a sequence or table, in SI units. Raises InputError if they measure none of these quantities."""
    if quantities == ("direction",):
        return _direction(label, value) if isinstance(value, str) else value
    if isinstance(value, str):
        return _si_number(label, value, quantities)
    if isinstance(value, (tuple, list)):
        return type(value)(si_value(label, x, quantities) for x in value)
    if isinstance(value, dict):
        of_keys, of_values = zip(*(CURVES.get(q, ("number", q)) for q in quantities), strict=True)
        keys = {
            key: _si_number(label, key, of_keys) if key[:1] in "+-.0123456789" else key
            for key in value
            if isinstance(key, str)
        }
        return {keys.get(key, key): si_value(label, x, of_values) for key, x in value.items()}
    return value


def _si_number(label: str, text: str, quantities: tuple[str, ...]) -> Any:
    """The number of a text with a unit; other texts are returned as they are, and refused where they are used."""
    if not WITH_UNIT.match(text):
        return text
    examples = " or ".join(repr(QUANTITIES[name][1]) for name in quantities)
    try:
        number = parse_number(text)
    except InputError as error:
        raise InputError(f"{label} is {text!r}: {error}; expected a number, or a text such as {examples}") from None
    if not any(number.dimension is not None and number.dimension.fits(QUANTITIES[name][0]) for name in quantities):
        assert number.dimension is not None
        raise InputError(f"{label} is {text!r}, {dimension_name(number.dimension)}; expected a text such as {examples}")
    return number.value


def _direction(label: str, text: str) -> tuple[float, ...]:
    if text.strip() not in AXES:
        raise InputError(f"{label} is {text!r}; it must be {', '.join(AXES)} or three numbers")
    return AXES[text.strip()]


@cache
def _measured_fields(cls: Any) -> tuple[tuple[str, tuple[str, ...], bool], ...]:
    """The fields of a recipe that have quantities, and whether they are tables by name, such as ports."""
    return tuple(
        (f.name, description(f).quantities, str(f.type).startswith("Mapping[str"))
        for f in fields(cls)
        if description(f).quantities
    )


def _has_text(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_has_text(x) for x in value.values()) or any(
            isinstance(key, str) and key[:1].isdigit() for key in value
        )
    return isinstance(value, str) or (isinstance(value, (tuple, list)) and any(_has_text(x) for x in value))
