"""Numbers that may depend on the place: tables along a beam, polynomials over a plate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from phloat.algebra.profiles import Polynomial, Polynomials, Profile
from phloat.errors import InputError
from phloat.system.words.choices import Case, Choice
from phloat.system.words.groups import ListOf, MapOf, OneOf
from phloat.system.words.kinds import Kind
from phloat.system.words.numbers import FRACTION, Quantity, Vector, quantity


def said_function(what: str, kind: type, field: str) -> Any:
    """The parts of a value of a class, by the field that says it all; other functions are refused."""

    def parts(value: Any) -> tuple[Any, Mapping[str, Any]] | None:
        if isinstance(value, kind):
            return getattr(value, field), {}
        if callable(value):
            raise InputError(
                f"{what} is a function, which is known to Python alone; a file can say it as {kind.__name__}(…)"
            )
        return None

    return parts


def over_surface(*of: str, number: Quantity | None = None) -> Choice:
    """A number, or a polynomial of x and y."""
    case = Case(
        "polynomial",
        MapOf(quantity(*of) if of else Quantity(()), least=1, what="term such as 1, x, y^2, x y"),
        Polynomial,
        said_function("a field over a surface", Polynomial, "terms"),
        doc="coefficients in SI units: {1: …, x: …, y^2: …, x y: …}",
    )
    return Choice("a field", (case,), alone=number or quantity(*of), is_alone=lambda value: not callable(value))


def along_line(*of: str) -> OneOf:
    """A number, or a table {s: value}."""
    table = _Table(MapOf(quantity(*of), keys=FRACTION, least=1))
    return OneOf((quantity(*of), table), lambda value: int(callable(value)))


class _Table:
    """A table along a beam."""

    def __init__(self, of: MapOf) -> None:
        self.of, self.said, self.takes, self.schema = of, of.said, of.takes, of.schema

    def read(self, node: Any, known: Any) -> Profile:
        return Profile(self.of.read(node, known))

    def write(self, value: Any, pen: Any) -> Any:
        found = said_function("a load along a beam", Profile, "stations")(value)
        return self.of.write(found[0], pen)


LINE = along_line("force per length")
SURFACE = over_surface(number=Quantity(("stress", "number")))
COMPONENT: Kind = over_surface(number=Quantity(("stress", "force per length", "number")))
VECTOR_FIELD = Choice(
    "a field",
    (
        Case(
            "components",
            ListOf(COMPONENT, least=3),
            Polynomials,
            said_function("a traction", Polynomials, "components"),
            doc="three numbers or polynomials",
        ),
    ),
    alone=Vector(("stress", "force per length", "number")),
    is_alone=lambda value: not callable(value),
)
