"""Kinds of values in a model file. Each reads a node, writes a value as plain data, and describes itself as JSON Schema."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from phloat.algebra.units import QUANTITIES, Dimension, dimension_name, parse_number
from phloat.errors import FileError, InputError, unknown
from phloat.format.node import Node

Plain = Any  # data that JSON can express
Schema = dict[str, Any]
Arrays = Mapping[str, np.ndarray]

INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
WITH_UNIT = {
    "type": "string",
    "pattern": r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*[A-Za-z0-9µμ°%/*^·²³⁴⁻¹ +-]*$",
    "examples": ["6 mm", "200 GPa", "30 deg", "1200 rpm", "2 kN/m"],
}


@dataclass(frozen=True, eq=False)
class Context:
    """The context of reading a file: its named materials and sections, its folder, and units that are checked later."""

    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    folder: Path | None = None
    units: list[tuple[Node, Dimension]] = field(default_factory=list)  # of numbers that may have any unit


@dataclass(frozen=True, eq=False)
class Writer:
    """Options of writing: `name` may replace a material or section by a name, `arrays` writes a file and returns its name."""

    name: Callable[[str, Any, Plain], Plain] = lambda table, value, plain: plain
    arrays: Callable[[str, Arrays], str] | None = None
    body: str = ""  # the body that is being written


class Kind(Protocol):
    """A kind of value. By default it matches mappings and is written unchanged."""

    @property
    def expected(self) -> str:
        """A description for messages: "expected …"."""
        ...

    def matches(self, node: Node) -> bool:
        """Whether the node has the form of a value of this kind."""
        return node.entries is not None

    def read(self, node: Node, context: Context) -> Any:
        """The value of a node. Raises FileError if it is not of this kind."""
        ...

    def write(self, value: Any, writer: Writer) -> Plain:
        """The value as plain data. Raises InputError if a file cannot hold it."""
        return value

    def schema(self) -> Schema:
        """The JSON Schema of this kind."""
        ...


def typed(name: str, **limits: Any) -> Schema:
    """The schema of a JSON type with the limits that are not None."""
    return {"type": name} | {key: limit for key, limit in limits.items() if limit is not None}


# --- words ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Boolean(Kind):
    """true or false."""

    expected = "true or false"

    def matches(self, node: Node) -> bool:
        return node.boolean is not None

    def read(self, node: Node, context: Context) -> bool:
        if node.boolean is None:
            node.fail_expected(self.expected)
        return node.boolean

    def schema(self) -> Schema:
        return {"type": "boolean"}


@dataclass(frozen=True)
class Text(Kind):
    """A text, or one of the `choices` if there are any."""

    choices: tuple[str, ...] = ()
    what: str = "a name"

    @property
    def expected(self) -> str:
        return f"one of {', '.join(self.choices)}" if self.choices else self.what

    def matches(self, node: Node) -> bool:
        return node.text is not None and not node.empty

    def read(self, node: Node, context: Context) -> str:
        if node.text is None or node.empty:
            node.fail_expected(self.expected)
        if self.choices and node.text not in self.choices:
            node.fail(unknown(node.path[-1] if node.path else "choice", node.text, self.choices))
        return node.text

    def schema(self) -> Schema:
        return {"enum": list(self.choices)} if self.choices else {"type": "string"}


NAME = Text()

# --- numbers ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Number(Kind):
    """A number in SI units, or a text with a unit of one of the quantities `of`; with any unit if `of` is empty."""

    of: tuple[str, ...] = ("number",)
    least: float | None = None
    above: float | None = None
    most: float | None = None

    @property
    def expected(self) -> str:
        if not self.of:
            return "a number, with a unit or in SI units"
        limits = {"at least": self.least, "more than": self.above, "at most": self.most}
        words = ", ".join(f"{word} {limit:g}" for word, limit in limits.items() if limit is not None)
        names = " or ".join(f"a{'n' if n[0] in 'aeiou' else ''} {n}" for n in self.of if n != "number") or "a number"
        examples = " or ".join(QUANTITIES[name][1] for name in self.of)
        return f"{names}{f' {words}' if words else ''}, such as {examples}"

    def matches(self, node: Node) -> bool:
        return node.numeric

    def read(self, node: Node, context: Context) -> float:
        if node.text is None or node.empty or node.boolean is not None:
            node.fail_expected(self.expected)
        if not node.numeric:
            infinite = node.text.strip().lower().lstrip("+-.") in ("nan", "inf", "infinity")
            node.fail_expected(f"{'a finite number: ' if infinite else ''}{self.expected}")
        try:
            number = parse_number(node.text)
        except InputError as error:
            node.fail(f"{error}; expected {self.expected}" if not str(error).startswith("no unit") else str(error))
        if number.dimension is not None:
            if not self.of:
                context.units.append((node, number.dimension))
            elif not any(number.dimension.fits(QUANTITIES[name][0]) for name in self.of):
                node.fail(f"found {node.text.strip()!r}, {dimension_name(number.dimension)}; expected {self.expected}")
        value, above = number.value, self.above is None or number.value > self.above
        low, high = -math.inf if self.least is None else self.least, math.inf if self.most is None else self.most
        if not (math.isfinite(value) and above and low <= value <= high):
            node.fail_expected(self.expected)
        return value

    def write(self, value: Any, writer: Writer) -> Plain:
        return float(value)

    def schema(self) -> Schema:
        number = typed("number", minimum=self.least, exclusiveMinimum=self.above, maximum=self.most)
        return {"anyOf": [number, {"$ref": "#/$defs/with unit"}]}


ANY_NUMBER = Number(())
FRACTION = Number(least=0.0, most=1.0)
TIME = Number(("time",))


@dataclass(frozen=True)
class Count(Kind):
    """A whole number."""

    least: int = 0
    most: int | None = None

    @property
    def expected(self) -> str:
        return f"a whole number, {self.least} {'or more' if self.most is None else f'to {self.most}'}"

    def matches(self, node: Node) -> bool:
        return node.numeric

    def read(self, node: Node, context: Context) -> int:
        text = (node.text or "").strip()
        if not INTEGER.fullmatch(text) or int(text) < self.least or (self.most is not None and int(text) > self.most):
            node.fail_expected(self.expected)
        return int(text)

    def write(self, value: Any, writer: Writer) -> Plain:
        return int(value)

    def schema(self) -> Schema:
        return typed("integer", minimum=self.least, maximum=self.most)


@dataclass(frozen=True)
class ListOf(Kind):
    """A list of `least` to `most` values; if `alone`, a single value may be written without brackets."""

    of: Kind
    alone: bool = False
    least: int = 0
    most: int | None = None

    @property
    def expected(self) -> str:
        if self.alone:
            return f"{self.of.expected}, or a list of them"
        size = f" of {self.most}" if self.most else f" of {self.least} or more" if self.least else ""
        return f"a list{size}, each {self.of.expected}"

    def matches(self, node: Node) -> bool:
        return node.items is not None or (self.alone and self.of.matches(node))

    def read(self, node: Node, context: Context) -> tuple[Any, ...]:
        if self.alone and node.items is None:
            return (self.of.read(node, context),)
        if node.items is None or not self.least <= len(node.items) <= (self.most or len(node.items)):
            node.fail_expected(self.expected)
        return tuple(self.of.read(item, context) for item in node.items)

    def write(self, value: Any, writer: Writer) -> Plain:
        items = [self.of.write(item, writer) for item in ((value,) if isinstance(value, str) else value)]
        return items[0] if self.alone and len(items) == 1 else items

    def schema(self) -> Schema:
        many = typed("array", items=self.of.schema(), minItems=self.least or None, maxItems=self.most)
        return {"anyOf": [self.of.schema(), many]} if self.alone else many


def vector_of(quantities: tuple[str, ...] = ("number",), size: int = 3) -> ListOf:
    """The kind of a list of `size` numbers of these quantities; of any length if `size` is 0."""
    return ListOf(Number(quantities), least=size, most=size or None)


@dataclass(frozen=True)
class Matrix3(Kind):
    """A 3 × 3 matrix, given by its diagonal or by its rows."""

    of: tuple[str, ...] = ("number",)
    expected = "three numbers (a diagonal) or three rows of three"

    def matches(self, node: Node) -> bool:
        return node.items is not None

    def read(self, node: Node, context: Context) -> np.ndarray:
        if node.items is None or len(node.items) != 3:
            node.fail_expected(self.expected)
        row = vector_of(self.of)
        if all(item.items is None for item in node.items):
            return np.diag(row.read(node, context))
        return np.array([row.read(item, context) for item in node.items])

    def write(self, value: Any, writer: Writer) -> Plain:
        A = np.asarray(value, dtype=float)
        return np.diag(A).tolist() if np.array_equal(A, np.diag(np.diag(A))) else A.tolist()

    def schema(self) -> Schema:
        row = vector_of(self.of).schema()
        return {"anyOf": [row, {"type": "array", "items": row, "minItems": 3, "maxItems": 3}]}


# --- kinds of other kinds ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Converted(Kind):
    """A value of another kind, converted by `make` after it is read and by `parts` before it is written."""

    of: Kind
    make: Callable[[Any], Any] = lambda value: value
    parts: Callable[[Any], Any] = lambda value: value

    @property
    def expected(self) -> str:
        return self.of.expected

    def matches(self, node: Node) -> bool:
        return self.of.matches(node)

    def read(self, node: Node, context: Context) -> Any:
        try:
            return self.make(self.of.read(node, context))
        except FileError:
            raise
        except InputError as error:
            node.fail(str(error))

    def write(self, value: Any, writer: Writer) -> Plain:
        return self.of.write(self.parts(value), writer)

    def schema(self) -> Schema:
        return self.of.schema()


@dataclass(frozen=True)
class Recursive(Kind):
    """A kind that contains itself: `kind()` is called when it is used, and the schema refers to it by name."""

    name: str
    kind: Callable[[], Kind]

    @property
    def expected(self) -> str:
        return f"a {self.name}"

    def matches(self, node: Node) -> bool:
        return self.kind().matches(node)

    def read(self, node: Node, context: Context) -> Any:
        return self.kind().read(node, context)

    def write(self, value: Any, writer: Writer) -> Plain:
        return self.kind().write(value, writer)

    def schema(self) -> Schema:
        return {"$ref": f"#/$defs/{self.name}"}
