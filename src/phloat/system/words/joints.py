"""Joints, springs, dampers and forces as a file says them: the ends behind the word, options beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.interpolate import PPoly

from phloat.errors import InputError
from phloat.joints import pairs
from phloat.joints.curves import curve, resistance
from phloat.joints.elements import (
    AXES,
    ROTATIONS,
    Bushing,
    Damper,
    Force,
    JointDamper,
    JointSpring,
    Load,
    Spring,
    Torque,
)
from phloat.joints.tie import MOTIONS, OTHER_NAMES, Pressure, Tie, Traction
from phloat.system.words.choices import Case, Choice
from phloat.system.words.fields import LINE, SURFACE, VECTOR_FIELD
from phloat.system.words.groups import Field, ListOf, MapOf, OneOf, Record
from phloat.system.words.kinds import NAME, Kind, Known, Pen, Plain, Schema, Word
from phloat.system.words.node import Node
from phloat.system.words.numbers import Direction, Quantity, Vector, not_negative

ZERO = (0.0, 0.0, 0.0)


class Ends:
    """Two ports, [ground, rod.P]."""

    said = "two ports: [ground, body.port] or [body.port, body.port]"

    def takes(self, node: Node) -> bool:
        return node.items is not None

    def read(self, node: Node, known: Known) -> tuple[str, ...]:
        if node.items is None or len(node.items) != 2:
            node.expected(self.said)
        first, second = (Word(what="a port: body.port or ground").read(item, known) for item in node.items)
        return first, second

    def write(self, value: Any, pen: Pen) -> Plain:
        return list(value)

    def schema(self) -> Schema:
        return {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}


ENDS = Ends()
BODY_PORT = Word(what="a port: body.port")
CALLED = Field("name", NAME, "its name; its ends unless said", "")
AT = Field("at", Vector(("length",)), "where it sits on the ground", ZERO)
TURNED = Field("turned", Vector(("angle",)), "rotation vector from the first frame to the second at zero", ZERO)


def on(kind: type, lead: Kind, *rest: Field, ends: tuple[str, ...] = ("first", "second"), word: str = "") -> Case:
    """The case of a class whose first arguments stand behind its word."""

    def make(lead: Any, **options: Any) -> Any:
        return kind(*(lead if len(ends) > 1 else (lead,)), **options)

    def parts(value: Any) -> tuple[Any, Mapping[str, Any]] | None:
        if type(value) is not kind:
            return None
        given = {f.argument: getattr(value, f.argument) for f in (*rest, CALLED)}
        given |= {"stiffness": tabulated(value, "stiffness"), "damping": tabulated(value, "damping")}
        lead = tuple(getattr(value, end) for end in ends)
        return (lead if len(ends) > 1 else lead[0]), given

    said = (kind.__doc__ or "").partition("\n")[0]
    return Case(word or kind.__name__.lower(), lead, make, parts, (*rest, CALLED), doc=said)


def tabulated(value: Any, what: str) -> Any:
    """A stiffness or damping; a function as the piecewise polynomials that it becomes."""
    given = getattr(value, what, None)
    if not callable(given) or isinstance(given, PPoly):
        return given
    return (curve if what == "stiffness" else resistance)(what, given, value.over)[1].polynomials()


class Polynomials(Record):
    """Piecewise polynomials; told from a table {argument: force} by its keys."""

    def takes(self, node: Node) -> bool:
        return node.entries is not None and "breaks" in node.entries


def _polynomials(breaks: Any, coefficients: Any) -> PPoly:
    c = np.array(coefficients, dtype=float) if len({len(row) for row in coefficients}) == 1 else np.zeros(0)
    if c.ndim != 2 or len(c) != len(breaks) - 1:
        raise InputError(
            f"coefficients are {len(coefficients)} rows for {len(breaks)} breaks; one row of equal length is needed "
            "between each two breaks"
        )
    return PPoly(c[:, ::-1].T.copy(), np.array(breaks, dtype=float))


def polynomials(argument: tuple[str, ...]) -> Polynomials:
    """{breaks, coefficients}."""
    return Polynomials(
        "piecewise polynomials",
        (
            Field("breaks", ListOf(Quantity(argument), least=2), "where they begin and end"),
            Field(
                "coefficients",
                ListOf(ListOf(Quantity(())), least=1),
                "of 1, x − break, (x − break)² … in SI units, one row between each two breaks",
            ),
        ),
        _polynomials,
        says=lambda value: {"breaks": value.x.tolist(), "coefficients": value.c[::-1].T.tolist()},
    )


def curved(number: tuple[str, ...], argument: tuple[str, ...], force: tuple[str, ...]) -> OneOf:
    """A number, piecewise polynomials, or a table {argument: force}."""
    table = MapOf(Quantity(force), keys=Quantity(argument), least=2)
    kinds = (not_negative(*number), polynomials(argument), table)
    return OneOf(kinds, lambda v: 2 if isinstance(v, Mapping) else int(isinstance(v, PPoly)))


def axis(key: str = "axis", default: tuple[float, ...] = (0.0, 0.0, 1.0)) -> Field:
    return Field(key, Direction(), "its direction in the frame of the first port", default)


def across(key: str, said: str) -> Field:
    return Field(key, Direction(), f"{said}; x turned with z into the axis unless said", None)


def pushing(key: str, said: str) -> tuple[Field, ...]:
    return Field(key, Direction(), said), Field("axes", Word(AXES), "in which axes that is", "inertial")


EITHER = ("force", "torque")
PAIRS = tuple(
    on(kind, ENDS, *more, AT, TURNED)
    for kind, more in {
        pairs.Revolute: (axis(),),
        pairs.Prismatic: (axis(),),
        pairs.Weld: (),
        pairs.Spherical: (),
        pairs.Universal: (axis(), across("second_axis", "the second axis at zero angles, normal to the axis")),
        pairs.Cylindrical: (axis(),),
        pairs.Planar: (axis(), across("along", "the direction of slide_x, normal to the axis")),
        pairs.Slide: (axis("along", (1.0, 0.0, 0.0)),),
        pairs.Drive: (
            Field("of", Word(("translation", "pose")), "what is prescribed: a point or a frame", "translation"),
        ),
    }.items()
)
SPRINGS = (
    on(
        Spring,
        ENDS,
        Field("stiffness", curved(("stiffness",), ("length",), ("force",)), "a number, or a table {elongation: force}"),
        Field("length", not_negative("length"), "where it is relaxed", 0.0),
        AT,
    ),
    on(
        Damper,
        ENDS,
        Field("damping", curved(("damping",), ("velocity",), ("force",)), "a number, or a table {rate: force}"),
        AT,
    ),
    on(
        Bushing,
        ENDS,
        Field(
            "stiffness", Vector(("stiffness", "torsional stiffness"), (6,)), "three along, three about the first frame"
        ),
        Field("damping", Vector(("damping", "torsional damping"), (6,)), "likewise", (0.0,) * 6),
        Field("rotation", Word(ROTATIONS), "small turns as sines, or the rotation vector for turns below π", "small"),
        AT,
        TURNED,
    ),
    on(
        JointSpring,
        Word(what="the name of a joint"),
        Field(
            "stiffness",
            curved(("torsional stiffness", "stiffness"), ("angle", "length"), EITHER),
            "a number, or a table {elongation: effort}",
        ),
        Field("rest", Quantity(("angle", "length")), "where it is relaxed", 0.0),
        Field("axis", NAME, "of several free axes, which: angle, slide …", ""),
        ends=("joint",),
        word="joint spring",
    ),
    on(
        JointDamper,
        Word(what="the name of a joint"),
        Field(
            "damping",
            curved(("torsional damping", "damping"), ("angular rate", "velocity"), EITHER),
            "a number, or a table {rate: effort}",
        ),
        Field("axis", NAME, "of several free axes, which: angle, slide …", ""),
        ends=("joint",),
        word="joint damper",
    ),
)
FORCES = (
    on(Force, BODY_PORT, *pushing("along", "where it pushes"), ends=("port",)),
    on(Torque, BODY_PORT, *pushing("about", "what it turns about"), ends=("port",)),
    on(
        Load,
        Word(what="a beam"),
        *pushing("along", "where it pushes"),
        Field("per_length", LINE, "force per length for an input of 1, or a table {s: …}", 1.0),
        ends=("body",),
    ),
)
TIES = (
    on(
        Tie,
        ENDS,
        Field("of", ListOf(Word((*OTHER_NAMES, *MOTIONS)), alone=True), "which motions; all unless said", None),
        Field(
            "stiffness",
            Vector(("stiffness", "torsional stiffness"), (6,)),
            "three along, three about; rigid unless said",
            None,
        ),
        Field("damping", Vector(("damping", "torsional damping"), (6,)), "likewise", None),
    ),
    on(
        Pressure,
        Word(what="a plate"),
        Field("per_area", SURFACE, "force along z per area for an input of 1", 1.0),
        ends=("body",),
    ),
    on(
        Traction,
        Word(what="a boundary: body.boundary"),
        Field("per_area", VECTOR_FIELD, "force per area for an input of 1", (0.0, 0.0, 1.0)),
        ends=("boundary",),
    ),
)
JOINT = Choice("a joint", (*PAIRS, *SPRINGS, *FORCES, *TIES))
