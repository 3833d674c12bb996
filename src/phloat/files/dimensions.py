"""Whether the units of inputs and parameters are those of what they enter: known only when the system is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from phloat.joints.elements import Force, Torque
from phloat.system.system import System
from phloat.system.words.choices import Case, Choice, Named
from phloat.system.words.groups import ListOf, MapOf, OneOf, Record
from phloat.system.words.joints import JOINT
from phloat.system.words.matter import ANY_MATERIAL, BEAM_SECTION
from phloat.system.words.node import Node
from phloat.system.words.numbers import Quantity, Square, Vector
from phloat.system.words.parts import BODY
from phloat.system.words.units import QUANTITIES, Dimension, called

Met = tuple[Node, Dimension]


def check_inputs(system: System, met: Iterable[Met]) -> None:
    """An error where an input has a unit that its port does not take."""
    for node, dimension in met:
        port = node.path[1].partition("[")[0] if len(node.path) > 1 else ""
        if node.path[0] != "inputs" or "polynomial" in node.path or port not in system.ports:
            continue
        _check(node, dimension, taken(system, port, position="position" in node.path), f"{port!r} takes")


def taken(system: System, port: str, *, position: bool = False) -> set[str]:
    """What a port takes, by name."""
    if port in system.actuators:
        recipe = system.actuators[port].recipe
        return {"force"} if isinstance(recipe, Force) else {"torque"} if isinstance(recipe, Torque) else {"number"}
    if port not in system.joints:
        return {"force", "torque"}
    c = system.joints[port]
    straight = [row.is_length for row in c.free + c.driven]
    if position:
        names = ("length", "angle")
    elif c.driven:
        names = ("velocity", "angular rate")
    else:
        names = ("force", "torque")
    turning = not all(straight)
    return {name for name, there in zip(names, (any(straight), turning), strict=True) if there}


def check_parameters(met: Iterable[Met]) -> None:
    """An error where a parameter of a sweep has a unit of something else."""
    for node, dimension in met:
        if node.path[:2] == ("sweep", "parameters"):
            name = node.path[2].partition("[")[0].rpartition(".")[2]
            if known := measured().get(name):
                _check(node, dimension, known, f"{name!r} is")


def _check(node: Node, dimension: Dimension, names: set[str], said: str) -> None:
    if not any(dimension.fits(QUANTITIES[name][0]) for name in names):
        what = " or ".join(called(QUANTITIES[name][0]) for name in sorted(names))
        node.wrong(f"found {(node.text or '').strip()!r}, {called(dimension)}; {said} {what}")


@cache
def measured() -> dict[str, set[str]]:
    """What the numbers of recipes measure, by their names."""
    out: dict[str, set[str]] = {"gravity": {"acceleration"}}
    for kind in (BODY, JOINT, ANY_MATERIAL, BEAM_SECTION):
        for name, of in _walked(kind, ""):
            out.setdefault(name, set()).update(of)
    return out


def _walked(kind: Any, name: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    if isinstance(kind, Quantity | Vector | Square):
        yield name, kind.of
    elif isinstance(kind, Record):
        for f in kind.fields:
            yield from _walked(f.kind, f.argument)
    elif isinstance(kind, Choice):
        for inner in (*kind.cases, kind.alone):
            yield from _walked(inner, name)
    elif isinstance(kind, Case):
        yield from _walked(kind.lead, name)
        yield from _walked(kind.record, name)
    elif isinstance(kind, OneOf):
        for inner in kind.kinds:
            yield from _walked(inner, name)
    elif isinstance(kind, ListOf | MapOf | Named):
        yield from _walked(kind.of, name)
