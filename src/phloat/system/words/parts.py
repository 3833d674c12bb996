"""Whole systems as a file says them: bodies by name, joints, gravity, what is locked and driven."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from phloat.bodies.construction import Construction
from phloat.errors import InputError, unknown
from phloat.system.parts import Part, Parts
from phloat.system.words.bodies import BEAM_CASE, RIGID_CASES
from phloat.system.words.choices import Case, Choice
from phloat.system.words.groups import Field, ListOf, MapOf, Record
from phloat.system.words.joints import JOINT
from phloat.system.words.kinds import NAME, Known, Pen, Plain, Schema, Word
from phloat.system.words.matter import ANY_MATERIAL, BEAM_SECTION
from phloat.system.words.meshes import MESH_CASES
from phloat.system.words.node import FileError, Node
from phloat.system.words.numbers import Vector


class Systems:
    """A system inside another: the record below, which holds bodies again."""

    said = "a system: {bodies, joints}"

    def takes(self, node: Node) -> bool:
        return node.entries is not None

    def read(self, node: Node, known: Known) -> Parts:
        return INNER.read(node, known)

    def write(self, value: Parts, pen: Pen) -> Plain:
        return INNER.write(value, pen)

    def schema(self) -> Schema:
        return {"$ref": "#/$defs/system"}


SYSTEM = "system"
SYSTEM_CASE = Case(
    SYSTEM,
    Systems(),
    lambda parts: parts,
    lambda value: None,  # written by Bodies
    doc="a system inside this one; its bodies are called system.body",
)
LIKE = "like"
BODY = Choice("a body", (BEAM_CASE, *RIGID_CASES, *MESH_CASES, SYSTEM_CASE))


class Bodies:
    """Bodies by name; {like: other} is made as another one is."""

    said = "bodies by name: {name: {beam: …} or {rigid body: …} …}"

    def takes(self, node: Node) -> bool:
        return node.entries is not None

    def read(self, node: Node, known: Known) -> dict[str, Part]:
        if not node.entries:
            node.expected(self.said)
        out: dict[str, Part] = {}
        for name, inner in (node.entries or {}).items():
            if not name or "." in name or name == "ground":
                where = Node(name, node.keys[name], node.file, inner.path)
                where.wrong(f"{name!r} cannot name a body: names are not empty, hold no dot, and are not 'ground'")
            out[name] = self._one(inner, known, out)
        return out

    def _one(self, node: Node, known: Known, before: Mapping[str, Part]) -> Part:
        if node.entries is None or LIKE not in node.entries:
            return BODY.read(node, known)
        node.only([LIKE], "a body like another")
        other = NAME.read(node.child(LIKE), known)
        if other not in before:
            node.child(LIKE).wrong(unknown("body above this one", other, before))
        return before[other]

    @staticmethod
    def _said(part: Part, pen: Pen) -> Plain:
        return {SYSTEM: INNER.write(part, pen)} if isinstance(part, Parts) else BODY.write(part, pen)

    def write(self, value: Mapping[str, Part], pen: Pen) -> Plain:
        out: dict[str, Plain] = {}
        known: dict[str, str] = {}
        for name, part in value.items():
            try:
                said = self._said(part, replace(pen, of=name))
            except FileError:
                raise
            except InputError as error:
                raise InputError(f"body {name!r}: {error}") from None
            text = json.dumps(said)
            out[name] = {LIKE: known[text]} if text in known and isinstance(part, Construction) else said
            known.setdefault(text, name)
        return out

    def schema(self) -> Schema:
        like = {
            "type": "object",
            "properties": {LIKE: {"type": "string"}},
            "required": [LIKE],
            "additionalProperties": False,
        }
        return {
            "type": "object",
            "additionalProperties": {"anyOf": [like, *BODY.schema()["anyOf"]]},
            "minProperties": 1,
        }


class Joints:
    """Joints by name, or in a list, where a name is one of the keys."""

    said = "joints: {name: {revolute: [ground, rod.P]}} or a list of them"

    def takes(self, node: Node) -> bool:
        return node.entries is not None or node.items is not None

    def read(self, node: Node, known: Known) -> tuple[Any, ...]:
        if node.items is not None:
            return tuple(JOINT.read(item, known) for item in node.items)
        if node.entries is None:
            node.expected(self.said)
        out = []
        for name, inner in (node.entries or {}).items():
            if inner.entries is not None and "name" in inner.entries:
                inner.child("name").wrong(
                    f"this joint is called {name!r} already; leave its name away, or write a list"
                )
            out.append(replace(JOINT.read(inner, known), name=name))
        return tuple(out)

    def write(self, value: tuple[Any, ...], pen: Pen) -> Plain:
        said = [JOINT.write(joint, pen) for joint in value]
        if not all("name" in one for one in said):
            return said
        return {one["name"]: {key: inner for key, inner in one.items() if key != "name"} for one in said}

    def schema(self) -> Schema:
        ref = {"$ref": "#/$defs/joint"}
        return {"anyOf": [{"type": "array", "items": ref}, {"type": "object", "additionalProperties": ref}]}


INNER = Record(
    "a system",
    (
        Field("bodies", Bodies(), "what moves, by name"),
        Field("joints", Joints(), "joints, springs, dampers, forces: by name, or in a list", ()),
        Field("lock", ListOf(NAME, alone=True), "joints whose free axes stand still", (), "locked"),
        Field(
            "drive",
            ListOf(NAME, alone=True),
            "joints whose free axes take a rate, or a position, as input",
            (),
            "driven",
        ),
    ),
    Parts,
)
TABLES = {"materials": ANY_MATERIAL, "sections": BEAM_SECTION}
HEAD = (
    Field("plane", Word(("xy",)), "the plane of motion; space unless said", None),
    Field("gravity", Vector(("acceleration",)), "gravity, x, y, z", None),
    Field("materials", MapOf(ANY_MATERIAL), "materials by name", {}),
    Field("sections", MapOf(BEAM_SECTION), "cross-sections by name", {}),
)


def read_tables(node: Node, known: Known) -> Known:
    """What is known with the materials and sections of a file; each may use those above it."""
    tables: dict[str, dict[str, Any]] = {table: {} for table in TABLES}
    known = replace(known, tables=tables)
    for table, kind in TABLES.items():
        if node.entries is not None and table in node.entries:
            inside = node.child(table)
            if inside.entries is None:
                inside.expected(f"{table} by name")
            for name, inner in (inside.entries or {}).items():
                tables[table][name] = kind.read(inner, known)
    return known
