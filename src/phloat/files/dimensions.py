"""Checks the units of inputs and parameters, which are known only when the system is connected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import is_dataclass
from functools import cache
from typing import Any

from phloat.format.joints import JOINT
from phloat.format.kinds import Matrix3, Number
from phloat.format.materials import ANY_MATERIAL, BEAM_SECTION
from phloat.format.node import Node
from phloat.format.records import Key, MapOf
from phloat.format.system import BODY
from phloat.format.units import QUANTITIES, Dimension, dimension_name
from phloat.joints.loads import Force, Torque
from phloat.system.system import System

UnitAt = tuple[Node, Dimension]


def check_inputs(system: System, units: Iterable[UnitAt]) -> None:
    """Raises FileError if an input has a unit that its port does not take."""
    for node, dimension in units:
        port = node.path[1].partition("[")[0] if len(node.path) > 1 else ""
        if node.path[0] != "inputs" or "polynomial" in node.path or port not in system.ports:
            continue
        _check(node, dimension, port_quantities(system, port, position="position" in node.path), f"{port!r} takes")


def port_quantities(system: System, port: str, *, position: bool = False) -> set[str]:
    """The names of the quantities that a port takes."""
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


def check_parameters(units: Iterable[UnitAt]) -> None:
    """Raises FileError if a parameter of a sweep has the unit of another quantity."""
    for node, dimension in units:
        if node.path[:2] == ("sweep", "parameters"):
            name = node.path[2].partition("[")[0].rpartition(".")[2]
            if quantities := parameter_quantities().get(name):
                _check(node, dimension, quantities, f"{name!r} is")


def _check(node: Node, dimension: Dimension, names: set[str], what: str) -> None:
    if not any(dimension.fits(QUANTITIES[name][0]) for name in names):
        wanted = " or ".join(dimension_name(QUANTITIES[name][0]) for name in sorted(names))
        node.fail(f"found {(node.text or '').strip()!r}, {dimension_name(dimension)}; {what} {wanted}")


@cache
def parameter_quantities() -> dict[str, set[str]]:
    """The quantities of the fields of recipes, by field name."""
    out: dict[str, set[str]] = {"gravity": {"acceleration"}}
    for kind in (BODY, JOINT, ANY_MATERIAL, BEAM_SECTION):
        for name, of in _quantities(kind, ""):
            out.setdefault(name, set()).update(of)
    return out


def _quantities(kind: Any, name: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The names of all fields inside a kind, with their quantities."""
    if isinstance(kind, Number | Matrix3):
        yield name, kind.of
    elif isinstance(kind, Key):
        yield from _quantities(kind.kind, kind.argument)
    elif isinstance(kind, MapOf):  # its values, not its keys
        yield from _quantities(kind.of, name)
    elif is_dataclass(kind) or (isinstance(kind, Sequence) and not isinstance(kind, str)):
        for inner in vars(kind).values() if is_dataclass(kind) else kind:
            yield from _quantities(inner, name)
