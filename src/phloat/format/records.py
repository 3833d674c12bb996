"""Kinds that contain others: mappings, records with given keys, and choices among them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from phloat.errors import AccuracyError, FileError, InputError, computable, unknown
from phloat.format.kinds import Context, Kind, Number, Plain, Schema, Writer, typed
from phloat.format.node import Node

REQUIRED = object()
OLD_KEYS: dict[str, Mapping[str, str]] = {  # {what a record is: {key of earlier versions: its key now}}
    "a PID controller": {"proportional": "damping", "integral": "stiffness", "derivative": "inertia"},
}


@dataclass(frozen=True)
class MapOf(Kind):
    """A mapping with any keys: names, or numbers of the kind `keys`; `of` is the kind of the values."""

    of: Kind
    keys: Number | None = None
    least: int = 0
    what: str = "names"

    @property
    def expected(self) -> str:
        return f"a mapping {{{self.keys.expected if self.keys else self.what}: {self.of.expected}}}"

    def read(self, node: Node, context: Context) -> dict[Any, Any]:
        if node.entries is None or len(node.entries) < self.least:
            node.fail_expected(self.expected)
        out: dict[Any, Any] = {}
        for text, inner in node.entries.items():
            key: Any = text
            if self.keys is not None:
                key = self.keys.read(Node(node.key_lines[text], node.file, inner.path, text), context)
                if key in out:
                    node.fail_key(text, f"{text!r} repeats an earlier key ({key:g} in SI units); give each key once")
            out[key] = self.of.read(inner, context)
        return out

    def write(self, value: Any, writer: Writer) -> Plain:
        out = {}
        for key, inner in value.items():
            try:
                out[repr(float(key)) if self.keys else str(key)] = self.of.write(inner, writer)
            except InputError as error:
                raise InputError(f"{key!r}: {error}") from None
        return out

    def schema(self) -> Schema:
        names, least = {"$ref": "#/$defs/with unit"} if self.keys else None, self.least or None
        return typed("object", additionalProperties=self.of.schema(), propertyNames=names, minProperties=least)


@dataclass(frozen=True)
class OneOf(Kind):
    """The first of several kinds that a node matches; `which(value)` is the index of the kind of a value."""

    kinds: tuple[Kind, ...]
    which: Callable[[Any], int]

    @property
    def expected(self) -> str:
        return ", or ".join(kind.expected for kind in self.kinds)

    def matches(self, node: Node) -> bool:
        return any(kind.matches(node) for kind in self.kinds)

    def read(self, node: Node, context: Context) -> Any:
        for kind in self.kinds:
            if kind.matches(node):
                return kind.read(node, context)
        node.fail_expected(self.expected)

    def write(self, value: Any, writer: Writer) -> Plain:
        return self.kinds[self.which(value)].write(value, writer)

    def schema(self) -> Schema:
        return {"anyOf": [kind.schema() for kind in self.kinds]}


# --- records ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Key:
    """A key of a record: its kind, meaning and default; `name` is its argument if that differs from the key."""

    key: str
    kind: Kind
    doc: str
    default: Any = REQUIRED
    name: str = ""

    @property
    def argument(self) -> str:
        """The argument that the value of this key becomes."""
        return self.name or self.key

    def schema(self) -> Schema:
        return {**self.kind.schema(), **({"description": self.doc} if self.doc else {})}


@dataclass(frozen=True)
class Record(Kind):
    """A mapping with these keys, which are arguments of `make`; a value that is not a mapping is that of the key `short`."""

    what: str
    keys: tuple[Key, ...]
    make: Callable[..., Any]
    short: str = ""
    parts: Callable[[Any], Mapping[str, Any]] = vars  # the arguments of a value

    @property
    def expected(self) -> str:
        return f"{self.what}: {{{', '.join(k.key for k in self.keys)}}}"

    def matches(self, node: Node) -> bool:
        return node.entries is not None or (bool(self.short) and self._short.kind.matches(node))

    @property
    def _short(self) -> Key:
        return next(k for k in self.keys if k.key == self.short)

    def read(self, node: Node, context: Context) -> Any:
        return self.build(node, self.arguments(node, context))

    def arguments(self, node: Node, context: Context, other_keys: Sequence[str] = ()) -> dict[str, Any]:
        """The values of the keys of a node by argument; `other_keys` are allowed, but not read."""
        if self.short and node.entries is None:
            return {self._short.argument: self._short.kind.read(node, context)}
        old = OLD_KEYS.get(self.what, {})
        nodes = node.require_keys([*other_keys, *(k.key for k in self.keys), *old], self.what)
        entries = {old.get(key, key): inner for key, inner in nodes.items()}
        for k in self.keys:
            if k.default is REQUIRED and k.key not in entries:
                node.fail(f"{k.key!r} is missing{k.doc and f': {k.doc}'}; expected {k.kind.expected}")
        return {k.argument: k.kind.read(entries[k.key], context) for k in self.keys if k.key in entries}

    def build(self, node: Node, arguments: Mapping[str, Any], *first: Any) -> Any:
        """make(*first, **arguments). Its errors are raised as FileError at the key that they mention."""
        try:
            with computable(self.expected):
                return self.make(*first, **arguments)
        except FileError:
            raise
        except (InputError, AccuracyError) as error:
            mentioned_entry(node, str(error), [k.key for k in self.keys]).fail(str(error))

    def write(self, value: Any, writer: Writer) -> Plain:
        out = self.write_arguments(self.parts(value), writer)
        return out[self.short] if self.short and list(out) == [self.short] else out

    def write_arguments(self, arguments: Mapping[str, Any], writer: Writer) -> dict[str, Plain]:
        """The keys with values that differ from their defaults, as plain data."""
        values = [(k, arguments.get(k.argument, k.default)) for k in self.keys]
        changed = [(k, value) for k, value in values if k.default is REQUIRED or not equal_values(value, k.default)]
        return {k.key: k.kind.write(value, writer) for k, value in changed}

    def schema(self) -> Schema:
        required = [k.key for k in self.keys if k.default is REQUIRED]
        properties = {k.key: k.schema() for k in self.keys}
        mapping = typed("object", properties=properties, required=required, additionalProperties=False)
        return {"anyOf": [self._short.schema(), mapping]} if self.short else mapping


def equal_values(a: Any, b: Any) -> bool:
    """Whether two values are equal; arrays and lists are compared by their entries."""
    a, b = (x.tolist() if hasattr(x, "tolist") else x for x in (a, b))
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(equal_values(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return isinstance(a, bool) == isinstance(b, bool) and a == b
    return type(a) is type(b) and bool(a == b)


def mentioned_entry(node: Node, message: str, keys: Sequence[str]) -> Node:
    """The entry of a node whose key is mentioned first in a message, or the node itself."""
    if re.match(r"\S+ is missing", message):
        return node
    entries = node.entries or {}
    words = {key: rf"(?<!no )\b{re.escape(key.removesuffix('s'))}s?\b" for key in keys if key in entries}
    matches = [(match.start(), key) for key, word in words.items() if (match := re.search(word, message[:60]))]
    return entries[min(matches)[1]] if matches else node


# --- one of several ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Variant:
    """One variant of a mapping, identified by its `word`, which is one of the keys.

    `kind` is the kind of the value of the word, `keys` are the other keys. `make(value, **arguments)` constructs the value of the
    mapping; `parts` is its inverse and returns None for values of other variants.
    """

    word: str
    kind: Kind
    make: Callable[..., Any]
    parts: Callable[[Any], tuple[Any, Mapping[str, Any]] | None]
    keys: tuple[Key, ...] = ()
    doc: str = ""

    @property
    def record(self) -> Record:
        """The Record of the other keys, without `word`."""
        return Record(self.word, self.keys, self.make)

    def read(self, node: Node, context: Context) -> Any:
        assert node.entries is not None
        value = self.kind.read(node.entries[self.word], context)
        return self.record.build(node, self.record.arguments(node, context, [self.word]), value)

    def schema(self) -> Schema:
        return Record(self.word, (Key(self.word, self.kind, self.doc), *self.keys), self.make).schema()


@dataclass(frozen=True)
class Variants(Kind):
    """A mapping of one of several variants, or a value of the kind `alone`, which is written for values with is_alone(value)."""

    what: str
    variants: tuple[Variant, ...]
    alone: Kind | None = None
    is_alone: Callable[[Any], bool] = lambda value: False
    more: Callable[[], Sequence[Variant]] = tuple  # variants that are not listed in messages and in the schema
    refusal: Callable[[type], str] = lambda cls: ""  # why a class of `more` cannot be written

    @property
    def words(self) -> list[str]:
        """The words that identify the variants, without those of `more`."""
        return [variant.word for variant in self.variants]

    @property
    def expected(self) -> str:
        alternative = f"{self.alone.expected}, or " if self.alone else ""
        return f"{alternative}{self.what} with one of the keys {', '.join(self.words)}"

    def matches(self, node: Node) -> bool:
        return node.entries is not None or (self.alone is not None and self.alone.matches(node))

    def read(self, node: Node, context: Context) -> Any:
        worded = any(word in (node.entries or {}) for word in self.words)
        if isinstance(self.alone, Record) and not worded and node.entries is not None:
            node.require_keys([*(k.key for k in self.alone.keys), *self.words], self.what)
        if self.alone is not None and not worded and (node.entries is None or self.alone.matches(node)):
            return self.alone.read(node, context)
        return self.variant(node).read(node, context)

    def variant(self, node: Node) -> Variant:
        """The variant of a node. Raises FileError if there is none or more than one."""
        if node.entries is None:
            node.fail_expected(self.expected)
        fits = [variant for variant in (*self.variants, *self.more()) if variant.word in node.entries]
        fields = {key.key for variant in fits for key in variant.keys}  # a field may have the name of another variant
        fits = [variant for variant in fits if variant.word not in fields] or fits
        if len(fits) > 1:
            node.fail(f"{self.what} is both {fits[0].word!r} and {fits[1].word!r}; expected one of them")
        if not fits:
            keys = {k.key for variant in self.variants for k in variant.keys}
            key = next((key for key in node.entries if key not in keys), None)
            if key is None:
                node.fail_expected(self.expected)
            node.fail_key(key, unknown(f"kind of {self.what}", key, self.words))
        return fits[0]

    def write(self, value: Any, writer: Writer) -> Plain:
        if self.alone is not None and self.is_alone(value):
            return self.alone.write(value, writer)
        for variant in (*self.variants, *self.more()):
            if (parts := variant.parts(value)) is not None:
                options = variant.record.write_arguments(parts[1], writer)
                return {variant.word: variant.kind.write(parts[0], writer), **options}
        general = f"a file cannot hold {type(value).__name__} as {self.what}, only {', '.join(self.words)}"
        raise InputError(self.refusal(type(value)) or general)

    def schema(self) -> Schema:
        kinds = [self.alone.schema()] if self.alone is not None else []
        return {"anyOf": [*kinds, *(variant.schema() for variant in self.variants)]}


@dataclass(frozen=True)
class Named(Kind):
    """A value given by its name in a table of the file, or in full."""

    table: str
    of: Kind

    @property
    def expected(self) -> str:
        return f"a name of {self.table}, or {self.of.expected}"

    def matches(self, node: Node) -> bool:
        return (node.text is not None and not node.empty and not node.numeric) or self.of.matches(node)

    def read(self, node: Node, context: Context) -> Any:
        if node.text is None or self.of.matches(node):
            return self.of.read(node, context)
        names = context.tables.get(self.table, {})
        if node.text not in names:
            node.fail(unknown(self.table.removesuffix("s"), node.text, names))
        return names[node.text]

    def write(self, value: Any, writer: Writer) -> Plain:
        return writer.name(self.table, value, self.of.write(value, writer))

    def schema(self) -> Schema:
        return {"anyOf": [{"type": "string"}, self.of.schema()]}
