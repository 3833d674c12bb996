"""Kinds of values that hold others: lists, mappings, records with keys of their own, and choices among them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from phloat.errors import AccuracyError, InputError, computable
from phloat.system.words.kinds import Kind, Known, Pen, Plain, Schema
from phloat.system.words.node import FileError, Node
from phloat.system.words.numbers import Quantity

REQUIRED = object()


@dataclass(frozen=True)
class ListOf:
    """A list; where `alone`, one of its kind may stand without brackets."""

    of: Kind
    alone: bool = False
    least: int = 0

    @property
    def said(self) -> str:
        return (
            f"{f'{self.of.said}, or ' if self.alone else ''}a list of them"
            if self.alone
            else f"a list, each {self.of.said}"
        )

    def takes(self, node: Node) -> bool:
        return node.items is not None or (self.alone and self.of.takes(node))

    def read(self, node: Node, known: Known) -> tuple[Any, ...]:
        if self.alone and node.items is None:
            return (self.of.read(node, known),)
        if node.items is None or len(node.items) < self.least:
            node.expected(self.said if node.items is None else f"at least {self.least} of them")
        return tuple(self.of.read(item, known) for item in node.items or ())

    def write(self, value: Any, pen: Pen) -> Plain:
        items = [self.of.write(item, pen) for item in ((value,) if isinstance(value, str) else value)]
        return items[0] if self.alone and len(items) == 1 else items

    def schema(self) -> Schema:
        many = {"type": "array", "items": self.of.schema(), **({"minItems": self.least} if self.least else {})}
        return {"anyOf": [self.of.schema(), many]} if self.alone else many


@dataclass(frozen=True)
class MapOf:
    """A mapping with keys of the user's own: names, or numbers of a quantity."""

    of: Kind
    keys: Quantity | None = None
    least: int = 0
    what: str = "names"

    @property
    def said(self) -> str:
        return f"a mapping {{{self.keys.said if self.keys else self.what}: {self.of.said}}}"

    def takes(self, node: Node) -> bool:
        return node.entries is not None

    def read(self, node: Node, known: Known) -> dict[Any, Any]:
        if node.entries is None or len(node.entries) < self.least:
            node.expected(self.said)
        out: dict[Any, Any] = {}
        for key, inner in (node.entries or {}).items():
            said: Any = key
            if self.keys is not None:
                where = Node(key, node.keys[key], node.file, inner.path)
                said = self.keys.read(where, known)
                if said in out:
                    where.wrong(f"{key!r} is {said:g}, which stands there already; write each once")
            out[said] = self.of.read(inner, known)
        return out

    def write(self, value: Any, pen: Pen) -> Plain:
        return {repr(float(k)) if self.keys else str(k): self.of.write(v, pen) for k, v in value.items()}

    def schema(self) -> Schema:
        names = {"propertyNames": {"$ref": "#/$defs/with unit"}} if self.keys else {}
        few = {"minProperties": self.least} if self.least else {}
        return {"type": "object", "additionalProperties": self.of.schema(), **names, **few}


@dataclass(frozen=True)
class OneOf:
    """The first of several kinds that a node looks like; `which` says the kind of a value."""

    kinds: tuple[Kind, ...]
    which: Callable[[Any], int]

    @property
    def said(self) -> str:
        return ", or ".join(kind.said for kind in self.kinds)

    def takes(self, node: Node) -> bool:
        return any(kind.takes(node) for kind in self.kinds)

    def read(self, node: Node, known: Known) -> Any:
        for kind in self.kinds:
            if kind.takes(node):
                return kind.read(node, known)
        node.expected(self.said)

    def write(self, value: Any, pen: Pen) -> Plain:
        return self.kinds[self.which(value)].write(value, pen)

    def schema(self) -> Schema:
        return {"anyOf": [kind.schema() for kind in self.kinds]}


# --- records ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Field:
    """A key of a record: its kind, what it means, its default, and the argument that it becomes where that has another name."""

    key: str
    kind: Kind
    doc: str
    default: Any = REQUIRED
    name: str = ""

    @property
    def argument(self) -> str:
        return self.name or self.key

    def schema(self) -> Schema:
        return {**self.kind.schema(), "description": self.doc}


@dataclass(frozen=True)
class Record:
    """A mapping with these keys, made into a value by a function of them; a bare value may stand for the key `short`."""

    what: str
    fields: tuple[Field, ...]
    make: Callable[..., Any]
    short: str = ""
    says: Callable[[Any], Mapping[str, Any]] | None = None  # arguments of a value; its attributes unless told
    doc: str = ""

    @property
    def said(self) -> str:
        return f"{self.what}: {{{', '.join(f.key for f in self.fields)}}}"

    def takes(self, node: Node) -> bool:
        return node.entries is not None or (bool(self.short) and self._short.kind.takes(node))

    @property
    def _short(self) -> Field:
        return next(f for f in self.fields if f.key == self.short)

    def read(self, node: Node, known: Known) -> Any:
        return self.made(node, self.arguments(node, known))

    def arguments(self, node: Node, known: Known, besides: Sequence[str] = ()) -> dict[str, Any]:
        """What the keys of a node say; `besides` are keys that others read."""
        if self.short and node.entries is None:
            return {self._short.argument: self._short.kind.read(node, known)}
        entries = node.only([*besides, *(f.key for f in self.fields)], self.what)
        for f in self.fields:
            if f.default is REQUIRED and f.key not in entries:
                node.wrong(f"{f.key!r} is missing: {f.doc}; expected {f.kind.said}")
        return {f.argument: f.kind.read(entries[f.key], known) for f in self.fields if f.key in entries}

    def made(self, node: Node, arguments: Mapping[str, Any], *first: Any) -> Any:
        """The value, or an error where the node stands."""
        try:
            with computable(self.said):
                return self.make(*first, **arguments)
        except FileError:
            raise
        except (InputError, AccuracyError) as error:
            blamed(node, str(error), [f.key for f in self.fields]).wrong(str(error))

    def write(self, value: Any, pen: Pen) -> Plain:
        out = self.written(vars(value) if self.says is None else self.says(value), pen)
        return out[self.short] if self.short and list(out) == [self.short] else out

    def written(self, arguments: Mapping[str, Any], pen: Pen) -> dict[str, Plain]:
        """The keys that differ from their defaults."""
        out = {}
        for f in self.fields:
            value = arguments.get(f.argument, f.default)
            if value is REQUIRED:
                raise InputError(f"{self.what} has no {f.key!r} to write")
            if f.default is REQUIRED or not same(value, f.default):
                out[f.key] = f.kind.write(value, pen)
        return out

    def schema(self) -> Schema:
        said = {
            "type": "object",
            "properties": {f.key: f.schema() for f in self.fields},
            "required": [f.key for f in self.fields if f.default is REQUIRED],
            "additionalProperties": False,
        }
        return {"anyOf": [self._short.schema(), said]} if self.short else said


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal, arrays and lists of numbers too."""
    if hasattr(a, "tolist") or hasattr(b, "tolist"):
        a, b = (x.tolist() if hasattr(x, "tolist") else x for x in (a, b))
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return isinstance(a, bool) == isinstance(b, bool) and a == b
    return type(a) is type(b) and bool(a == b)


def blamed(node: Node, message: str, keys: Sequence[str]) -> Node:
    """The entry of a node that a message speaks of first, or the node itself."""
    if re.match(r"\S+ is missing", message):
        return node
    entries = node.entries or {}
    spoken = {
        key: re.search(rf"(?<!no )\b{re.escape(key.removesuffix('s'))}s?\b", message[:60])
        for key in keys
        if key in entries
    }
    found = [(at.start(), key) for key, at in spoken.items() if at]
    return entries[min(found)[1]] if found else node
