"""Numbers in a model file: with units, whole ones, vectors, directions, matrices."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from phloat.errors import InputError
from phloat.system.words.kinds import Known, Pen, Plain, Schema
from phloat.system.words.node import Node
from phloat.system.words.units import QUANTITIES, called, measured

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
UNIT_TEXT = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*[A-Za-z0-9µμ°%/*^·²³⁴⁻¹ +-]*$"


@dataclass(frozen=True)
class Quantity:
    """A number in SI units, or a text with a unit that measures one of these quantities; none: any unit."""

    of: tuple[str, ...] = ("number",)
    least: float | None = None
    above: float | None = None
    most: float | None = None

    @property
    def said(self) -> str:
        limits = {"at least": self.least, "more than": self.above, "at most": self.most}
        words = ", ".join(f"{word} {limit:g}" for word, limit in limits.items() if limit is not None)
        if not self.of:
            return "a number, with a unit or in SI units"
        kinds = " or ".join(f"a{'n' if n[0] in 'aeiou' else ''} {n}" for n in self.of if n != "number") or "a number"
        given = [QUANTITIES[name][1] for name in self.of]
        return f"{kinds}{f' {words}' if words else ''}, such as {' or '.join(given)}"

    def takes(self, node: Node) -> bool:
        return node.numeric

    def read(self, node: Node, known: Known) -> float:
        return self.number(node, known)

    def number(self, node: Node, known: Known | None = None) -> float:
        if node.text is None or node.empty or node.flag is not None:
            node.expected(self.said)
        text = node.text or ""
        if not node.numeric:
            odd = text.strip().lower().lstrip("+-.") in ("nan", "inf", "infinity")
            node.expected(f"{'a finite number: ' if odd else ''}{self.said}")
        try:
            found = measured(text)
        except InputError as error:
            node.wrong(f"{error}; expected {self.said}" if not str(error).startswith("no unit") else str(error))
        if found.dimension is not None and self.of:
            if not any(found.dimension.fits(QUANTITIES[name][0]) for name in self.of):
                node.wrong(f"found {text.strip()!r}, {called(found.dimension)}; expected {self.said}")
        elif found.dimension is not None and known is not None:
            known.units.append((node, found.dimension))
        return self._inside(node, found.value)

    def _inside(self, node: Node, value: float) -> float:
        low, high = self.least is not None and value < self.least, self.most is not None and value > self.most
        if not math.isfinite(value) or low or high or (self.above is not None and not value > self.above):
            node.expected(self.said)
        return value

    def write(self, value: Any, pen: Pen) -> Plain:
        return float(value)

    def schema(self) -> Schema:
        number: Schema = {"type": "number"}
        limits = {"minimum": self.least, "exclusiveMinimum": self.above, "maximum": self.most}
        number |= {name: limit for name, limit in limits.items() if limit is not None}
        return {"anyOf": [number, {"$ref": "#/$defs/with unit"}]}


def quantity(*of: str) -> Quantity:
    """Any number of these quantities."""
    return Quantity(of)


def positive(*of: str) -> Quantity:
    """A number of these quantities above zero."""
    return Quantity(of, above=0.0)


def not_negative(*of: str) -> Quantity:
    """A number of these quantities, zero or more."""
    return Quantity(of, least=0.0)


FRACTION = Quantity(("number",), least=0.0, most=1.0)


@dataclass(frozen=True)
class Count:
    """A whole number."""

    least: int = 0
    most: int | None = None

    @property
    def said(self) -> str:
        return f"a whole number, {self.least} {'or more' if self.most is None else f'to {self.most}'}"

    def takes(self, node: Node) -> bool:
        return node.numeric

    def read(self, node: Node, known: Known) -> int:
        text = (node.text or "").strip()
        if not _WHOLE.fullmatch(text) or int(text) < self.least or (self.most is not None and int(text) > self.most):
            node.expected(self.said)
        return int(text)

    def write(self, value: Any, pen: Pen) -> Plain:
        return int(value)

    def schema(self) -> Schema:
        return {"type": "integer", "minimum": self.least} | ({} if self.most is None else {"maximum": self.most})


@dataclass(frozen=True)
class Vector:
    """So many numbers of a quantity, or of one for each place."""

    of: tuple[str, ...] = ("number",)
    sizes: tuple[int, ...] = (3,)

    @property
    def said(self) -> str:
        of = f" of {self.of[0]}" if self.of and self.of != ("number",) else ""
        return f"a list of {' or '.join(map(str, self.sizes))} numbers{of}" if self.sizes else f"a list of numbers{of}"

    def takes(self, node: Node) -> bool:
        return node.items is not None

    def read(self, node: Node, known: Known) -> tuple[float, ...]:
        if node.items is None or (self.sizes and len(node.items) not in self.sizes):
            node.expected(self.said)
        each = Quantity(self.of)
        return tuple(each.read(item, known) for item in node.items or ())

    def write(self, value: Any, pen: Pen) -> Plain:
        return [float(x) for x in value]

    def schema(self) -> Schema:
        size = {"minItems": min(self.sizes), "maxItems": max(self.sizes)} if self.sizes else {}
        return {"type": "array", "items": Quantity(self.of).schema(), **size}


AXES = {
    f"{sign}{axis}": tuple(size * float(k == i) for k in range(3))
    for i, axis in enumerate("xyz")
    for sign, size in (("", 1.0), ("-", -1.0))
}


@dataclass(frozen=True)
class Direction:
    """x, y, z, -x, -y, -z, or three numbers."""

    said = "a direction: x, y, z, -x, -y, -z or three numbers"

    def takes(self, node: Node) -> bool:
        return node.items is not None or (node.text or "").strip() in AXES

    def read(self, node: Node, known: Known) -> tuple[float, ...]:
        word = (node.text or "").strip()
        if word in AXES:
            return AXES[word]
        if node.items is None or len(node.items) != 3:
            node.expected(self.said)
        found = Vector().read(node, known)
        if not any(found):
            node.wrong(f"found zeros; expected {self.said}")
        return found

    def write(self, value: Any, pen: Pen) -> Plain:
        given = tuple(map(float, value))
        return next((word for word, axis in AXES.items() if axis == given), list(given))

    def schema(self) -> Schema:
        return {"anyOf": [{"enum": list(AXES)}, Vector().schema()]}


@dataclass(frozen=True)
class Square:
    """A symmetric matrix of 3 × 3 numbers, by its diagonal or by its rows."""

    of: tuple[str, ...] = ("number",)
    said = "three numbers (a diagonal) or three rows of three"

    def takes(self, node: Node) -> bool:
        return node.items is not None

    def read(self, node: Node, known: Known) -> np.ndarray:
        if node.items is None or len(node.items) != 3:
            node.expected(self.said)
        items = node.items
        if all(item.items is None for item in items):
            return np.diag(Vector(self.of).read(node, known))
        return np.array([Vector(self.of).read(item, known) for item in items])

    def write(self, value: Any, pen: Pen) -> Plain:
        A = np.asarray(value, dtype=float)
        return np.diag(A).tolist() if np.array_equal(A, np.diag(np.diag(A))) else A.tolist()

    def schema(self) -> Schema:
        row = Vector(self.of).schema()
        return {"anyOf": [row, {"type": "array", "items": row, "minItems": 3, "maxItems": 3}]}
