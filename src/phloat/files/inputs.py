"""Inputs as a file says them: a constant, corners, a table, or a signal of a named kind. No expression is ever run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from phloat.errors import InputError
from phloat.files.signals import Circling, InTime, Move, Pulse, Sine, SpinUp, Sum
from phloat.motion.inputs.positions import Position
from phloat.motion.inputs.signals import Piecewise, piecewise
from phloat.system.words.choices import Case, Choice
from phloat.system.words.groups import Field, ListOf, MapOf, OneOf, Record
from phloat.system.words.kinds import Kind, Known, Pen, Plain, Schema
from phloat.system.words.matter import itself, of_type
from phloat.system.words.node import Node
from phloat.system.words.numbers import Quantity, Vector, positive, quantity

ANY = Quantity(())
VALUE = OneOf((ANY, Vector((), ())), lambda value: int(np.ndim(value) > 0))
TIME = quantity("time")

SINE = Record(
    "a sine",
    (
        Field("amplitude", VALUE, "its amplitude"),
        Field("rate", quantity("angular rate"), "rad/s, or with a unit: 50 Hz, 1200 rpm"),
        Field("phase", quantity("angle"), "at t = 0", 0.0),
        Field("offset", VALUE, "added to it", 0.0),
    ),
    Sine,
)
CIRCLING = Record(
    "a velocity on a circle",
    (
        Field("radius", positive("length"), "of the circle"),
        Field("rate", quantity("angular rate"), "how fast it turns"),
        Field("phase", quantity("angle"), "from the x axis at t = 0", 0.0),
    ),
    Circling,
)
IN_TIME = Record(
    "a polynomial of time",
    (
        Field("coefficients", ListOf(VALUE, least=1), "of 1, t, t² … in SI units"),
        Field("start", TIME, "where t is counted from; before it stands still", 0.0),
        Field("end", TIME, "from where on it stands still", None),
    ),
    InTime,
    short="coefficients",
)
PULSE = Record(
    "a pulse",
    (
        Field("value", VALUE, "while it lasts"),
        Field("start", TIME, "when it begins", 0.0),
        Field("end", TIME, "when it ends"),
    ),
    Pulse,
)
SPIN_UP = Record(
    "a spin-up",
    (
        Field("rate", quantity("angular rate"), "at its end"),
        Field("over", positive("time"), "how long it takes"),
    ),
    SpinUp,
)
MOVE = Record(
    "a move",
    (
        Field("to", ANY, "where it ends"),
        Field("over", positive("time"), "how long it takes"),
        Field("from", ANY, "where it begins", 0.0, "origin"),
        Field("start", TIME, "when it begins", 0.0),
    ),
    Move,
)


class _Corners:
    """{t: value}."""

    of = MapOf(VALUE, keys=TIME, least=1)
    said, takes, schema = of.said, of.takes, of.schema

    def read(self, node: Node, known: Known) -> Piecewise:
        found = self.of.read(node, known)
        sizes = {np.shape(value) for value in found.values()}
        if len(sizes) > 1:
            node.wrong("its values have different numbers of components")
        return piecewise(found)

    def write(self, value: Piecewise, pen: Pen) -> Plain:
        return self.of.write(dict(zip(value.times.tolist(), value.values.tolist(), strict=True)), pen)


def _table(times: tuple[float, ...], values: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray]:
    if len(times) < 2 or len(times) != len(values):
        raise InputError(
            f"{len(times)} times and {len(values)} values; there must be a value for each of two times or more"
        )
    if np.diff(times).min() <= 0.0:
        raise InputError(f"times must ascend; {times[int(np.argmin(np.diff(times))) + 1]:g} does not")
    if len({np.shape(value) for value in values}) > 1:
        raise InputError("values have different numbers of components")
    return np.array(times), np.array(values)


TABLE = Record(
    "a table",
    (
        Field("times", ListOf(TIME, least=2), "ascending times"),
        Field("values", ListOf(VALUE, least=2), "a value at each"),
    ),
    _table,
    says=lambda pair: {"times": np.asarray(pair[0]).tolist(), "values": np.asarray(pair[1]).tolist()},
)


def is_table(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and len(value) == 2 and np.ndim(value[0]) == 1


CASES = (
    Case("piecewise", _Corners(), itself, of_type(Piecewise), doc="corners {time: value}, straight lines between them"),
    Case(
        "table",
        TABLE,
        itself,
        lambda v: (v, {}) if is_table(v) else None,
        doc="values at times; no run may go beyond them",
    ),
    Case("sine", SINE, itself, of_type(Sine), doc="offset + amplitude sin(rate t + phase)"),
    Case("circle", CIRCLING, itself, of_type(Circling), doc="the velocity of a crank pin"),
    Case("polynomial", IN_TIME, itself, of_type(InTime), doc="of time"),
    Case("pulse", PULSE, itself, of_type(Pulse), doc="a value for a while"),
    Case("spin up", SPIN_UP, itself, of_type(SpinUp), doc="the angle of a hub whose rate rises smoothly"),
    Case("move", MOVE, itself, of_type(Move), doc="smoothly from one value to another"),
)


class _Later:
    """A signal inside a signal."""

    said = "a signal"

    def takes(self, node: Node) -> bool:
        return SIGNAL.takes(node)

    def read(self, node: Node, known: Known) -> Any:
        found = SIGNAL.read(node, known)
        if not callable(found):
            node.expected("a signal over time, such as {sine: …}")
        return found

    def write(self, value: Any, pen: Pen) -> Plain:
        return SIGNAL.write(value, pen)

    def schema(self) -> Schema:
        return {"$ref": "#/$defs/signal"}


LATER: Kind = _Later()
SUM = Case(
    "sum", ListOf(LATER, least=1), Sum, lambda v: (v.parts, {}) if isinstance(v, Sum) else None, doc="several at once"
)


def is_constant(value: Any) -> bool:
    return not callable(value) and not is_table(value) and not isinstance(value, Position)


SIGNAL = Choice("a signal", (*CASES, SUM), alone=VALUE, is_alone=is_constant)
POSITION = Case(
    "position",
    LATER,
    lambda f, rate=None: Position(f, rate),
    lambda v: (v.function, {"rate": v.rate}) if isinstance(v, Position) else None,
    rest=(Field("rate", LATER, "its velocity; differences unless given", None),),
    doc="of a driven joint, instead of its velocity",
)
INPUT = Choice("an input", (*SIGNAL.cases, POSITION), alone=VALUE, is_alone=is_constant)
INPUTS = MapOf(INPUT, what="port")


def in_space(value: Any, space: bool) -> Any:
    """A signal with the components of space or of the plane."""
    if isinstance(value, Circling):
        return replace(value, space=space)
    if isinstance(value, Sum):
        return replace(value, parts=tuple(in_space(part, space) for part in value.parts))
    if isinstance(value, Position):
        return replace(value, function=in_space(value.function, space))
    return value


def written_inputs(inputs: Mapping[str, Any]) -> Plain:
    """Inputs in plain data, or a sentence where one is a function of Python."""
    out = {}
    for name, value in inputs.items():
        try:
            out[name] = INPUT.write(value, Pen())
        except InputError:
            raise InputError(
                f"input {name!r} is a function that Python alone knows; a file says {', '.join(INPUT.words)}"
            ) from None
    return out
