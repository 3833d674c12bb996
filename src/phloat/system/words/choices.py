"""Kinds of values that are one of several, by a word among their keys; and values that have a name in the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from phloat.errors import InputError, unknown
from phloat.system.words.groups import REQUIRED, Field, Record
from phloat.system.words.kinds import Kind, Known, Pen, Plain, Schema
from phloat.system.words.node import FileError, Node


@dataclass(frozen=True)
class Case:
    """One of several things that a mapping can be, by the word that is among its keys.

    `lead` is the kind of what stands behind the word; `rest` the keys beside it. `bare`: the word may stand alone.
    `parts` gives of a value what stands behind the word and the arguments beside it, or None if it is another case.
    """

    word: str
    lead: Kind
    make: Callable[..., Any]
    parts: Callable[[Any], tuple[Any, Mapping[str, Any]] | None]
    rest: tuple[Field, ...] = ()
    bare: bool = False
    doc: str = ""

    @property
    def record(self) -> Record:
        return Record(self.word, self.rest, self.make)

    def read(self, node: Node, known: Known, besides: Sequence[str] = ()) -> Any:
        if node.entries is None:  # the bare word
            return self.make()
        lead = self.lead.read(node.child(self.word), known)
        return self.record.made(node, self.record.arguments(node, known, [self.word, *besides]), lead)

    def schema(self) -> Schema:
        keys = {self.word: {**self.lead.schema(), **({"description": self.doc} if self.doc else {})}}
        keys |= {f.key: f.schema() for f in self.rest}
        needed = [self.word, *(f.key for f in self.rest if f.default is REQUIRED)]
        return {"type": "object", "properties": keys, "required": needed, "additionalProperties": False}


@dataclass(frozen=True)
class Choice:
    """A mapping that is one of several cases; or, where `alone` is given, something of that kind."""

    what: str
    cases: tuple[Case, ...]
    alone: Kind | None = None
    is_alone: Callable[[Any], bool] = field(default=lambda value: False)

    @property
    def words(self) -> list[str]:
        return [case.word for case in self.cases]

    @property
    def said(self) -> str:
        other = f"{self.alone.said}, or " if self.alone else ""
        return f"{other}{self.what} with one of the keys {', '.join(self.words)}"

    def takes(self, node: Node) -> bool:
        bare = any(case.bare and node.text == case.word for case in self.cases)
        return node.entries is not None or bare or (self.alone is not None and self.alone.takes(node))

    def read(self, node: Node, known: Known) -> Any:
        for case in self.cases:
            if case.bare and node.text == case.word:
                return case.read(node, known)
        if node.text and not node.empty and self.alone is None and any(case.bare for case in self.cases):
            node.wrong(unknown(self.what.partition(" ")[2], node.text, self.words))
        worded = any(word in (node.entries or {}) for word in self.words)
        if isinstance(self.alone, Record) and not worded and node.entries is not None:
            node.only([*(f.key for f in self.alone.fields), *self.words], self.what)
        if self.alone is not None and not worded and (node.entries is None or self.alone.takes(node)):
            return self.alone.read(node, known)
        return self.case(node).read(node, known)

    def case(self, node: Node) -> Case:
        """The case that a node is."""
        if node.entries is None:
            node.expected(self.said)
        found = [case for case in self.cases if case.word in (node.entries or {})]
        if len(found) > 1:
            node.wrong(f"{self.what} is both {found[0].word!r} and {found[1].word!r}; expected one of them")
        if not found:
            known = {f.key for case in self.cases for f in case.rest}
            key = next((key for key in node.entries or {} if key not in known), None)
            if key is None:
                node.expected(self.said)
            raise FileError(
                unknown(f"kind of {self.what}", key, self.words), node.file, node.keys[key], ".".join((*node.path, key))
            )
        return found[0]

    def write(self, value: Any, pen: Pen) -> Plain:
        if self.alone is not None and self.is_alone(value):
            return self.alone.write(value, pen)
        for case in self.cases:
            said = case.parts(value)
            if said is not None:
                lead, rest = said
                return {case.word: case.lead.write(lead, pen), **case.record.written(rest, pen)}
        raise InputError(f"no file can say {type(value).__name__} as {self.what}; it can say {', '.join(self.words)}")

    def schema(self) -> Schema:
        bare = [case.word for case in self.cases if case.bare]
        kinds: list[Schema] = [{"enum": bare}] if bare else []
        kinds += [self.alone.schema()] if self.alone is not None else []
        return {"anyOf": [*kinds, *(case.schema() for case in self.cases)]}


@dataclass(frozen=True)
class Named:
    """Something by the name that a table of the file gives it, or written out."""

    table: str
    of: Kind

    @property
    def said(self) -> str:
        return f"a name of {self.table}, or {self.of.said}"

    def takes(self, node: Node) -> bool:
        return (node.text is not None and not node.empty and not node.numeric) or self.of.takes(node)

    def read(self, node: Node, known: Known) -> Any:
        if node.text is not None and not self.of.takes(node):
            there = known.tables.get(self.table, {})
            if node.text not in there:
                node.wrong(unknown(self.table.removesuffix("s"), node.text, there))
            return there[node.text]
        return self.of.read(node, known)

    def write(self, value: Any, pen: Pen) -> Plain:
        return pen.named(self.table, value, self.of.write(value, pen))

    def schema(self) -> Schema:
        return {"anyOf": [{"type": "string"}, self.of.schema()]}
