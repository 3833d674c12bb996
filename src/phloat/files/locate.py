"""Finds the place in a file that causes an error when bodies are made and connected."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from phloat.bodies.construction import Construction
from phloat.errors import AccuracyError, FileError, InputError, computable
from phloat.format.kinds import Writer
from phloat.format.node import Node, child
from phloat.format.system import BODY
from phloat.joints.pairs import Joint
from phloat.linear.form.phdae import LinearPHDAE
from phloat.system.parts import Part, Parts
from phloat.system.system import System


@contextmanager
def errors_at(root: Node | None, *sections: str) -> Iterator[None]:
    """Raises errors of the block as FileError at the key of these sections that they mention, or at the first section."""
    try:
        with computable("the model"):
            yield
    except FileError:
        raise
    except InputError as error:
        there = [node for name in sections if (node := child(root, name)) is not None]
        node = _mentioned_node(there, str(error)) or root
        if node is None:
            raise
        raise FileError(str(error), node.file, node.line, node.key) from error


def _mentioned_node(sections: Sequence[Node], message: str) -> Node | None:
    """The key or text of these sections that a message mentions first, or the first section."""
    keys = [(key, k, node) for k, section in enumerate(sections) for key, node in _walked(section)]
    found = [((at.start(), k, -len(key)), node) for key, k, node in keys if (at := _mentioned(key, message))]
    return min(found, key=lambda f: f[0])[1] if found else next(iter(sections), None)


def _walked(node: Node) -> Iterator[tuple[str, Node]]:
    """Its key, and all keys and texts inside, with their nodes."""
    if node.path:
        yield node.path[-1], node
    if node.text:
        yield node.text, node
    for inner in (*(node.entries or {}).values(), *(node.items or ())):
        yield from _walked(inner)


def _mentioned(key: str, message: str) -> re.Match[str] | None:
    there = len(key) > 1 and key in message
    return re.search(rf"(?<![\w.]){re.escape(key)}(?![\w])", message) if there else None


def connect_parts(parts: Parts, root: Node | None) -> System | LinearPHDAE:
    """The system. Raises FileError at the body or joint that cannot be made or connected."""
    bodies = _bodies(parts, root)
    try:
        with computable("the model"):
            return parts.connected(bodies)
    except InputError as error:
        node = _joint_at_fault(parts, bodies, root)
        if node is None:
            with errors_at(root, "gravity", "lock", "drive", "plane", "joints"):
                raise
        raise FileError(str(error), node.file, node.line, node.key) from error


def _bodies(parts: Parts, root: Node | None) -> dict[str, Any]:
    """Bodies by name; equal recipes are made once."""
    known: dict[str, Any] = {}
    out: dict[str, Any] = {}
    for name, part in parts.bodies.items():
        node = child(child(root, "bodies"), name)
        if isinstance(part, Parts):
            out[name] = connect_parts(replace(part, plane=parts.plane), child(node, "system"))
            continue
        key = _key(part)
        if key not in known:
            try:
                with computable(f"body {name!r}"):
                    known[key] = part.repeat(part.recipe)
            except (InputError, AccuracyError) as error:
                if node is None:
                    raise
                (_mentioned_node([node], str(error)) or node).fail(str(error))
        out[name] = known[key]
    return out


def _key(part: Part) -> str:
    """A text that is equal for bodies made in the same way."""
    assert isinstance(part, Construction)
    try:
        return json.dumps(BODY.write(part, Writer()))
    except InputError:  # it has a mesh of its own
        return str(id(part))


def _joint_at_fault(parts: Parts, bodies: dict[str, Any], root: Node | None) -> Node | None:
    """The first joint that cannot be connected together with all joints before it."""
    listed = child(root, "joints")
    if listed is None:
        return None
    nodes = list((listed.entries or {}).values()) if listed.items is None else list(listed.items)
    order = sorted(range(len(parts.joints)), key=lambda k: not isinstance(parts.joints[k], Joint))

    def wrong(count: int) -> str:
        """What is wrong with the first so many."""
        some = replace(parts, joints=tuple(parts.joints[k] for k in order[:count]), locked=(), driven=())
        try:
            some.connected(bodies)
        except InputError as error:
            return str(error)
        return ""

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        good, bad = 0, len(order)
        if wrong(good) or not wrong(bad):
            return None
        while bad - good > 1:  # halved: a file may have thousands of them
            middle = (good + bad) // 2
            good, bad = (good, middle) if wrong(middle) else (middle, bad)
        return _mentioned_node([nodes[order[bad - 1]]], wrong(bad))
