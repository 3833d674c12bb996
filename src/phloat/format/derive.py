"""Kinds of model files derived from dataclasses.

The kind of a field follows from its annotation; its metadata (`describe`) has its meaning, quantities and limits. Fields of other
types get their kind by a keyword: record(Beam, "a beam", section=SECTION, …).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from operator import attrgetter
from typing import Any

import numpy as np
from scipy.interpolate import PPoly

from phloat.algebra.metadata import Description, description
from phloat.algebra.units import AXES, CURVES
from phloat.errors import InputError
from phloat.format.kinds import (
    ANY_NUMBER,
    FRACTION,
    Boolean,
    Converted,
    Count,
    Kind,
    ListOf,
    Matrix3,
    Number,
    Text,
    vector_of,
)
from phloat.format.node import Node, child
from phloat.format.records import REQUIRED, Key, MapOf, OneOf, Record, Variant


def _direction(value: Any) -> tuple[float, ...]:
    axis = AXES.get(value, value)
    if not any(axis):
        raise InputError("the direction is zero; write x, y, z, -x, -y, -z or three numbers")
    return tuple(axis)


def _axis_word(axis: Any) -> Any:
    return next((word for word, direction in AXES.items() if direction == tuple(axis)), axis)


AXIS = OneOf((Text(tuple(AXES)), vector_of()), lambda v: int(not isinstance(v, str)))
DIRECTION = Converted(AXIS, _direction, _axis_word)


class PiecewisePolynomials(Record):
    """The record {breaks, coefficients}; it does not match a mapping without breaks, which is a table {argument: value}."""

    def matches(self, node: Node) -> bool:
        return child(node, "breaks") is not None


def _polynomials(breaks: Any, coefficients: Any) -> PPoly:
    c = np.array(coefficients, dtype=float) if len({len(row) for row in coefficients}) == 1 else np.zeros(0)
    if c.ndim != 2 or len(c) != len(breaks) - 1:
        raise InputError(f"coefficients are {len(coefficients)} rows; give {len(breaks) - 1} of one length")
    return PPoly(c[:, ::-1].T.copy(), np.array(breaks, dtype=float))


def curve_kind(d: Description) -> OneOf:
    """The kind of a curve: a slope, piecewise polynomials, or a table {argument: value}."""
    argument, value = (Number(tuple(names)) for names in zip(*(CURVES[name] for name in d.quantities), strict=True))
    rows = "of 1, x − break, (x − break)² … in SI units, one row between each two breaks"
    breaks = Key("breaks", ListOf(argument, least=2), "where they begin and end")
    coefficients = Key("coefficients", ListOf(ListOf(ANY_NUMBER), least=1), rows)
    polynomials = PiecewisePolynomials(
        "piecewise polynomials",
        (breaks, coefficients),
        _polynomials,
        parts=lambda value: {"breaks": value.x.tolist(), "coefficients": value.c[::-1].T.tolist()},
    )
    kinds = (Number(d.quantities, least=0.0), polynomials, MapOf(value, keys=argument, least=2))
    return OneOf(kinds, lambda v: 2 if isinstance(v, Mapping) else int(isinstance(v, PPoly)))


def vector_kind(d: Description) -> Kind:
    """The kind of a vector: a direction, or numbers of its quantities."""
    return DIRECTION if d.quantities == ("direction",) else vector_of(d.quantities or ("number",), d.size)


VECTORS = ("Vector", "Point", "Sequence[float]", "tuple[float, float, float]", "tuple[float, ...]")
KINDS: dict[str, Callable[[Description], Kind]] = {
    "float": lambda d: Number(d.quantities or ("number",), d.least, d.above, d.most),
    "int": lambda d: Count(int(d.least or 0), None if d.most is None else int(d.most)),
    "bool": lambda d: Boolean(),
    "str": lambda d: Text(d.choices),
    "np.ndarray": lambda d: Matrix3(d.quantities or ("number",)),
    "Curve": curve_kind,
    **dict.fromkeys(VECTORS, vector_kind),
    **dict.fromkeys(("Sides", "tuple[str, ...]", "str | Sequence[str]"), lambda d: ListOf(Text(d.choices), alone=True)),
}
MAPPING = re.compile(r"Mapping\[(str|float), (.*)\]")


def annotation(f: Field[Any]) -> str:
    """The annotation of a field as text, whether or not its module has `from __future__ import annotations`."""
    return f.type if isinstance(f.type, str) else getattr(f.type, "__name__", str(f.type))


def derived_kind(text: str, d: Description) -> Kind:
    """The kind of a field with this annotation. Raises KeyError if there is none."""
    if match := MAPPING.fullmatch(text):
        return MapOf(derived_kind(match[2], d), keys=FRACTION if match[1] == "float" else None)
    return KINDS[text.removesuffix(" | None")](d)


def record_keys(cls: type, omit: tuple[str, ...] = (), **kinds: Kind) -> tuple[Key, ...]:
    """A key for each field of a dataclass except those in `omit`, required keys first. Raises TypeError if a field has no kind."""
    out = []
    for f in fields(cls):
        if not f.init or f.name in omit:
            continue
        default = REQUIRED if f.default is MISSING else f.default
        if f.default_factory is not MISSING:
            default = f.default_factory()
        d = description(f)
        try:
            kind = kinds[f.name] if f.name in kinds else derived_kind(annotation(f), d)
        except KeyError as error:
            name = f"{cls.__name__}.{f.name}"
            raise TypeError(f"no kind for {name}: {error.args[0]}; annotate it as {', '.join(KINDS)}") from None
        out.append(Key(d.key or f.name, kind, d.doc, default, f.name))
    return tuple(sorted(out, key=lambda k: k.default is not REQUIRED))


def record(cls: type, label: str, *, short: str = "", omit: tuple[str, ...] = (), **kinds: Kind) -> Record:
    """The record of a dataclass; `kinds` are those of fields whose annotation does not determine it."""
    return Record(label, record_keys(cls, omit, **kinds), cls, short)


def file_word(cls: type) -> str:
    """The word of a class in model files: JointSpring → joint spring."""
    return re.sub(r"(?<!^)(?=[A-Z])", " ", cls.__name__).lower()


def summary(cls: type) -> str:
    """The first sentence of the docstring of a class."""
    return (cls.__doc__ or "").partition("\n")[0]


def variant(cls: Any, kind: Kind, word: str = "", *, doc: str = "") -> Variant:
    """The variant of a class whose instances are the value of its word, of this kind."""

    def parts(value: Any) -> tuple[Any, Mapping[str, Any]] | None:
        return (value, {}) if type(value) is cls else None

    return Variant(word or file_word(cls), kind, lambda value: value, parts, doc=doc or summary(cls))


def wrapper(cls: Any, kind: Kind, word: str = "", doc: str = "") -> Variant:
    """The variant of a class whose only field is the value of its word."""
    (only,) = fields(cls)
    return variant(cls, Converted(kind, cls, attrgetter(only.name)), word, doc=doc)
