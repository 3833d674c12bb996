"""Errors of constructing and connecting bodies with their location in the file, and checks of units against the system."""

from __future__ import annotations

import json
import re
import warnings
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import is_dataclass, replace
from functools import cache
from typing import Any

from phloat.algebra.units import QUANTITIES, Dimension, dimension_name
from phloat.bodies.construction import Construction
from phloat.errors import AccuracyError, FileError, InputError, computable
from phloat.format.joints import JOINT
from phloat.format.kinds import Matrix3, Number, Writer
from phloat.format.materials import ANY_MATERIAL, BEAM_SECTION
from phloat.format.node import Node, child
from phloat.format.records import Key, MapOf
from phloat.format.system import BODY
from phloat.joints.pairs import Joint
from phloat.linear.form.phdae import LinearPHDAE
from phloat.system.parts import Part, Parts
from phloat.system.system import System
from phloat.system.units import units


@contextmanager
def errors_at(root: Node | None, *sections: str) -> Iterator[None]:
    """Raises errors of the block as FileError at the key of these sections that the message mentions, else at the first section."""
    try:
        with computable("the model"):
            yield
    except FileError:
        raise
    except InputError as error:
        nodes = [node for name in sections if (node := child(root, name)) is not None]
        node = _mentioned_node(nodes, str(error)) or root
        if node is None:
            raise
        raise FileError(str(error), node.file, node.line, node.key) from error


def _mentioned_node(sections: Sequence[Node], message: str) -> Node | None:
    """The node whose key or text is mentioned first in a message, or the first section; None without sections."""
    keys = [(key, k, node) for k, section in enumerate(sections) for key, node in _walk(section)]
    matches = [((match.start(), k, -len(key)), node) for key, k, node in keys if (match := _mention(key, message))]
    return min(matches, key=lambda f: f[0])[1] if matches else next(iter(sections), None)


def _walk(node: Node) -> Iterator[tuple[str, Node]]:
    """The key of a node, and all keys and texts in it, with their nodes."""
    if node.path:
        yield node.path[-1], node
    if node.text:
        yield node.text, node
    for inner in (*(node.entries or {}).values(), *(node.items or ())):
        yield from _walk(inner)


def _mention(key: str, message: str) -> re.Match[str] | None:
    """Where a message contains a key as a whole word; None if nowhere."""
    mentioned = len(key) > 1 and key in message
    return re.search(rf"(?<![\w.]){re.escape(key)}(?![\w])", message) if mentioned else None


def connect_parts(parts: Parts, root: Node | None) -> System | LinearPHDAE:
    """The connected system. Raises FileError at the body or joint that cannot be constructed or connected."""
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
    """The constructed bodies by name; equal recipes are constructed once."""
    built: dict[str, Any] = {}
    out: dict[str, Any] = {}
    for name, part in parts.bodies.items():
        node = child(root, "bodies", name)
        if isinstance(part, Parts):
            out[name] = connect_parts(replace(part, plane=parts.plane), child(node, "system"))
            continue
        key = _key(part)
        if key not in built:
            try:
                with computable(f"body {name!r}"):
                    built[key] = part.repeat(part.recipe)
            except (InputError, AccuracyError) as error:
                if node is None:
                    raise
                (_mentioned_node([node], str(error)) or node).fail(str(error))
        out[name] = built[key]
    return out


def _key(part: Part) -> str:
    """A text that is the same for equal recipes."""
    assert isinstance(part, Construction)
    try:
        return json.dumps(BODY.write(part, Writer()))
    except InputError:  # it has a mesh of its own
        return str(id(part))


def _joint_at_fault(parts: Parts, bodies: dict[str, Any], root: Node | None) -> Node | None:
    """The node of the first joint that cannot be connected together with all joints before it."""
    section = child(root, "joints")
    if section is None:
        return None
    nodes = list((section.entries or {}).values()) if section.items is None else list(section.items)
    order = sorted(range(len(parts.joints)), key=lambda k: not isinstance(parts.joints[k], Joint))

    def error_of(count: int) -> str:
        """The message of the error of connecting the first `count` joints; "" if there is none."""
        first_parts = replace(parts, joints=tuple(parts.joints[k] for k in order[:count]), locked=(), driven=())
        try:
            first_parts.connected(bodies)
        except InputError as error:
            return str(error)
        return ""

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        count = bisect_left(
            range(len(order) + 1), 1, key=lambda count: bool(error_of(count))
        )  # bisection, as there may be thousands
        return _mentioned_node([nodes[order[count - 1]]], error_of(count)) if 0 < count <= len(order) else None


# --- units that are checked after the system is connected -------------------------------------------------------------

UnitAt = tuple[Node, Dimension]
TAKEN = {"N": "force", "N m": "torque", "m/s": "velocity", "rad/s": "angular rate", "1": "number"}
POSITIONS = {"N": "length", "m/s": "length", "N m": "angle", "rad/s": "angle"}
RATES = {"N": "velocity", "N m": "angular rate"}
SERVO_UNITS = {"command": POSITIONS, "rate": RATES, "feedforward": TAKEN}


def check_inputs(system: System, units_found: Iterable[UnitAt], root: Node | None) -> None:
    """Raises FileError if an input, or the command of a servo, has another unit than its port."""
    ports = units(system)["ports"]
    for node, dimension in units_found:
        port = node.path[1].partition("[")[0] if len(node.path) > 1 else ""
        if node.path[0] == "inputs" and "polynomial" not in node.path and port in ports:
            names = POSITIONS if "position" in node.path else TAKEN
            _check(node, dimension, {names[unit] for unit in ports[port]["in"] if unit in names}, f"{port!r} takes")
        if node.path[0] == "controller" and "servo" in node.path and "polynomial" not in node.path:
            servo = node.path[: node.path.index("servo") + 1]
            joint, word = child(root, *servo, "joint"), node.path[len(servo)]
            if joint is not None and joint.text in ports and word in SERVO_UNITS:
                known = SERVO_UNITS[word]
                fitting = {known[unit] for unit in ports[joint.text]["in"] if unit in known}
                _check(node, dimension, fitting, f"the {word} of a servo at {joint.text!r} is")


def check_parameters(units_found: Iterable[UnitAt]) -> None:
    """Raises FileError if a parameter of a sweep has the unit of another quantity."""
    for node, dimension in units_found:
        if node.path[:2] == ("sweep", "parameters"):
            name = node.path[2].partition("[")[0].rpartition(".")[2]
            if quantities := parameter_quantities().get(name):
                _check(node, dimension, quantities, f"{name!r} is")


def _check(node: Node, dimension: Dimension, names: set[str], subject: str) -> None:
    """Raises FileError unless a dimension is that of one of these quantities."""
    if not any(dimension.fits(QUANTITIES[name][0]) for name in names):
        required = " or ".join(dimension_name(QUANTITIES[name][0]) for name in sorted(names))
        node.fail(f"found {(node.text or '').strip()!r}, {dimension_name(dimension)}; {subject} {required}")


@cache
def parameter_quantities() -> dict[str, set[str]]:
    """The physical quantities ("length", "mass" …) allowed for each field of bodies, joints, materials and sections."""
    out: dict[str, set[str]] = {"gravity": {"acceleration"}}
    for kind in (BODY, JOINT, ANY_MATERIAL, BEAM_SECTION):
        for name, quantities in _quantities(kind, ""):
            out.setdefault(name, set()).update(quantities)
    return out


def _quantities(kind: Any, name: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The names of all fields inside a kind, with the physical quantities allowed for each."""
    if isinstance(kind, Number | Matrix3):
        yield name, kind.of
    elif isinstance(kind, Key):
        yield from _quantities(kind.kind, kind.argument)
    elif isinstance(kind, MapOf):  # of its values, not of its keys
        yield from _quantities(kind.of, name)
    elif is_dataclass(kind) or (isinstance(kind, Sequence) and not isinstance(kind, str)):
        for inner in vars(kind).values() if is_dataclass(kind) else kind:
            yield from _quantities(inner, name)
