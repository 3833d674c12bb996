"""Kinds of numbers that may depend on position: tables along a beam, polynomials over a plate."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from phloat.algebra.profiles import Polynomial, Polynomials, Profile
from phloat.errors import InputError
from phloat.format.kinds import ANY_NUMBER, FRACTION, Converted, Kind, ListOf, Number, vector_of
from phloat.format.records import MapOf, OneOf, Variant, Variants


def function_data(value: Any, cls: type, label: str) -> Any:
    """The only field of an instance of `cls`. Raises InputError for other functions, which a file cannot hold."""
    if not isinstance(value, cls):
        raise InputError(f"{label} is a Python function, which a file cannot hold; write it as {cls.__name__}(…)")
    (only,) = fields(cls)
    return getattr(value, only.name)


def function_variant(word: str, cls: Any, kind: Kind, label: str, doc: str) -> Variant:
    """The variant of a class of functions: {polynomial: …}."""
    return Variant(word, kind, cls, lambda value: (function_data(value, cls, label), {}), doc=doc)


def over_surface(number: Number, coefficient: Number = ANY_NUMBER) -> Variants:
    """A number, or a polynomial of x and y."""
    kind = MapOf(coefficient, least=1, what="term such as 1, x, y^2, x y")
    doc = "coefficients in SI units: {1: …, x: …, y^2: …, x y: …}"
    polynomial = function_variant("polynomial", Polynomial, kind, "a field over a surface", doc)
    return Variants("a field", (polynomial,), alone=number, is_alone=lambda value: not callable(value))


def along_line(number: Number) -> OneOf:
    """A number, or a table {s: value}."""
    table = MapOf(number, keys=FRACTION, least=1)
    profile = Converted(table, Profile, lambda value: function_data(value, Profile, "a load along a beam"))
    return OneOf((number, profile), lambda value: int(callable(value)))


TRACTION = ("stress", "force per length", "number")
LINE = along_line(Number(("force per length",)))
SURFACE = over_surface(Number(("stress", "number")))
THICKNESS = over_surface(Number(("length",)), Number(("length",)))
BODY_FORCE = ("force per volume", "number")


def vector_field(quantities: tuple[str, ...], label: str) -> Variants:
    """Three numbers, or three polynomials of x, y and z."""
    components = ListOf(over_surface(Number(quantities)), least=3)
    three = function_variant("components", Polynomials, components, label, "three numbers or polynomials")
    return Variants("a field", (three,), alone=vector_of(quantities), is_alone=lambda value: not callable(value))
