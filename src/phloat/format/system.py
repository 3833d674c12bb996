"""Kinds of systems (bodies by name, joints, gravity, locked and driven joints), and systems as plain data."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from phloat.bodies.construction import Construction
from phloat.errors import InputError, unknown
from phloat.format.bodies import BEAM_VARIANT, MESH_VARIANTS, RIGID_VARIANTS, SUPERELEMENT_VARIANT
from phloat.format.derive import variant
from phloat.format.joints import JOINT
from phloat.format.kinds import NAME, Arrays, Context, Kind, ListOf, Plain, Recursive, Schema, Text, Writer, vector_of
from phloat.format.materials import ANY_MATERIAL, BEAM_SECTION
from phloat.format.node import Node, child
from phloat.format.records import Key, MapOf, Record, Variants
from phloat.system.parts import Part, Parts, parts
from phloat.system.system import System

VERSION = 1  # of the format of model files
LIKE = "like"
INNER_DOC = "a system inside this one; its bodies are called system.body"
SYSTEM_VARIANT = variant(Parts, Recursive("system", lambda: SYSTEM), "system", doc=INNER_DOC)
BODY = Variants("a body", (BEAM_VARIANT, *RIGID_VARIANTS, *MESH_VARIANTS, SUPERELEMENT_VARIANT, SYSTEM_VARIANT))
NESTED = Variants("a system", (SYSTEM_VARIANT,))


class Bodies(Kind):
    """Bodies by name; {like: other} is a copy of a body above."""

    expected = "bodies by name: {name: {beam: …} or {rigid body: …} …}"

    def read(self, node: Node, context: Context) -> dict[str, Part]:
        if not node.entries:
            node.fail_expected(self.expected)
        out: dict[str, Part] = {}
        for name, inner in node.entries.items():
            if not name or "." in name or name == "ground":
                why = "names are not empty, have no dot, and are not 'ground'"
                node.fail_key(name, f"{name!r} is no name of a body: {why}")
            out[name] = self._body(inner, context, out)
        return out

    def _body(self, node: Node, context: Context, bodies_above: Mapping[str, Part]) -> Part:
        reference = child(node, LIKE)
        if reference is None:
            return BODY.read(node, context)
        node.require_keys([LIKE], "a body like another")
        name = NAME.read(reference, context)
        if name not in bodies_above:
            reference.fail(unknown("body above this one", name, bodies_above))
        return bodies_above[name]

    def write(self, value: Mapping[str, Part], writer: Writer) -> Plain:
        out: dict[str, Plain] = {}
        names: dict[str, str] = {}
        for name, part in value.items():
            try:
                plain = (NESTED if isinstance(part, Parts) else BODY).write(part, replace(writer, body=name))
            except InputError as error:
                raise InputError(f"body {name!r}: {error}") from None
            text = json.dumps(plain)
            out[name] = {LIKE: names[text]} if text in names and isinstance(part, Construction) else plain
            names.setdefault(text, name)
        return out

    def schema(self) -> Schema:
        reference = Record("a body like another", (Key(LIKE, NAME, "a body above"),), dict).schema()
        kinds = {"anyOf": [reference, *BODY.schema()["anyOf"]]}
        return {"type": "object", "additionalProperties": kinds, "minProperties": 1}


class Joints(Kind):
    """Joints by name, or in a list, where a name is one of the keys."""

    expected = "joints: {name: {revolute: [ground, rod.P]}} or a list of them"

    def matches(self, node: Node) -> bool:
        return node.entries is not None or node.items is not None

    def read(self, node: Node, context: Context) -> tuple[Any, ...]:
        if node.items is not None:
            return tuple(JOINT.read(item, context) for item in node.items)
        if node.entries is None:
            node.fail_expected(self.expected)
        out = []
        for name, inner in node.entries.items():
            if (second := child(inner, "name")) is not None:
                second.fail(f"this joint has the name {name!r} already; leave out 'name', or write a list")
            out.append(replace(JOINT.read(inner, context), name=name))
        return tuple(out)

    def write(self, value: tuple[Any, ...], writer: Writer) -> Plain:
        joints = [JOINT.write(joint, writer) for joint in value]
        if not all("name" in joint for joint in joints):
            return joints
        return {joint.pop("name"): joint for joint in joints}

    def schema(self) -> Schema:
        ref = {"$ref": "#/$defs/joint"}
        return {"anyOf": [{"type": "array", "items": ref}, {"type": "object", "additionalProperties": ref}]}


BODIES = Bodies()
NAMES = ListOf(NAME, alone=True)
SYSTEM: Record = Record(
    "a system",
    (
        Key("bodies", BODIES, "what moves, by name"),
        Key("joints", Joints(), "joints, springs, dampers, forces: by name, or in a list", ()),
        Key("lock", NAMES, "joints whose free axes stand still", (), "locked"),
        Key("drive", NAMES, "joints whose free axes have a rate, or a position, as input", (), "driven"),
    ),
    Parts,
)
TABLES = {"materials": ANY_MATERIAL, "sections": BEAM_SECTION}
HEAD = (
    Key("plane", Text(("xy",)), "the plane of motion; space by default", None),
    Key("gravity", vector_of(("acceleration",)), "gravity, x, y, z", None),
    Key("materials", MapOf(ANY_MATERIAL), "materials by name", {}),
    Key("sections", MapOf(BEAM_SECTION), "cross-sections by name", {}),
)


def read_tables(node: Node, context: Context) -> Context:
    """The context with the named materials and sections of a file; each may refer to those above it."""
    tables: dict[str, dict[str, Any]] = {table: {} for table in TABLES}
    context = replace(context, tables=tables)
    for table, kind in TABLES.items():
        if (section := child(node, table)) is not None:
            if section.entries is None:
                section.fail_expected(f"{table} by name")
            for name, inner in section.entries.items():
                tables[table][name] = kind.read(inner, context)
    return context


# --- plain data -------------------------------------------------------------------------------------------------------


def plain(system: System, *, arrays: Callable[[str, Arrays], str] | None = None) -> dict[str, Any]:
    """The system as plain data, as in a model file, from which `phloat.files` constructs the same system.

    Bodies with meshes or matrices need further files: `arrays(name, arrays)` writes one and returns its name. Raises InputError
    for parts that a file cannot hold: functions, bases of reduction, bodies without a recipe.
    """
    return {"phloat": VERSION} | plain_parts(parts(system), {}, arrays)


def plain_parts(
    mechanism: Parts, names: Mapping[str, Mapping[str, Any]], arrays: Callable[[str, Arrays], str] | None
) -> dict[str, Any]:
    """Parts as plain data, without the version; `names` are those of materials and sections, {table: {name: value}}."""
    tables = _Tables(names)
    SYSTEM.write(mechanism, Writer(tables.count, arrays and (lambda name, _: name)))
    body = SYSTEM.write(mechanism, Writer(tables.name, arrays))
    head = Record("the head of a model", HEAD, dict).write_arguments(vars(mechanism), Writer())
    return head | {table: entries for table, entries in tables.written.items() if entries} | body


class _Tables:
    """Names of materials and sections: existing names, and new ones for values that occur more than once."""

    def __init__(self, names: Mapping[str, Mapping[str, Any]]) -> None:
        self.written: dict[str, dict[str, Any]] = {table: {} for table in TABLES}
        self.names, self.counts = names, Counter[str]()

    def count(self, table: str, value: Any, plain: Plain) -> Plain:
        self.counts[json.dumps(plain)] += 1
        return plain

    def name(self, table: str, value: Any, plain: Plain) -> Plain:
        written, names = self.written[table], self.names.get(table, {})
        for name, entry in written.items():
            if entry == plain:
                return name
        equals = (n for n, x in names.items() if type(x) is type(value) and x == value and n not in written)
        name = next(equals, "")
        if not name and self.counts[json.dumps(plain)] < 2:
            return plain
        name = name or _new_name(table.removesuffix("s"), {*written, *names})
        written[name] = plain
        return name


def _new_name(word: str, used_names: set[str]) -> str:
    names = (word if k == 1 else f"{word} {k}" for k in range(1, 1_000_000))
    return next(name for name in names if name not in used_names)
