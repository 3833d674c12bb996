"""Parts of a system made again from other recipes: bodies, joints, force elements, forces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from phloat.bodies.body import Body
from phloat.bodies.variation import align_signs
from phloat.joints.elements import OnJoint
from phloat.joints.force_laws import Passive
from phloat.joints.loads import Acting
from phloat.joints.pairs import Joint
from phloat.system.attach import acting, attached, nested_actuator, nested_element
from phloat.system.connection import Connection
from phloat.system.elements import Actuator, Element
from phloat.system.resolve import connected, nested_connection

T = TypeVar("T")


# --- bodies -----------------------------------------------------------------------------------------------------------


def remade_body(old: Body, recipe: Any, known: dict[tuple[Any, ...], Any]) -> Body:
    """The body from another recipe, made as the old one was; `known` keeps what several bodies share."""
    key = (id(old), id(recipe))
    if key not in known:
        assert old.construction is not None
        unchecked = replace(recipe, mass=None) if "mass" in getattr(recipe, "not_numbers", ()) else recipe
        known[key] = align_signs(old.construction.repeat(unchecked, known), old)
    return known[key]


# --- joints and forces ------------------------------------------------------------------------------------------------


def remade_connection(old: Connection, joint: Joint, bodies: Mapping[str, Body], plane: str | None) -> Connection:
    """The joint from another recipe, with its free axes locked or driven as they were."""
    prefix = _prefix(old.name, joint.label)
    new = connected(joint, _inside(prefix, bodies), plane)
    if old.locked:
        new = replace(new, free=(), locked=new.free)
    elif old.driven and not joint.moves_ground:
        new = replace(new, free=(), driven=new.free)
    return nested_connection(prefix, new) if prefix else new


def remade_element(
    old: Element, recipe: Passive, bodies: Mapping[str, Body], joints: Mapping[str, Connection], plane: str | None
) -> Element:
    """The spring, damper or bushing from another recipe, or on a joint that was made again."""
    prefix = _prefix(old.name, recipe.label)
    new = attached(recipe, _inside(prefix, bodies), _inside(prefix, joints), plane)
    if isinstance(recipe, OnJoint):  # its joint has its full name already
        return replace(new, name=old.name)
    return nested_element(prefix, new) if prefix else new


def remade_actuator(old: Actuator, recipe: Acting, bodies: Mapping[str, Body], plane: str | None) -> Actuator:
    """The force, torque or load from another recipe, or on a body that was made again."""
    prefix = _prefix(old.name, recipe.label)
    new = acting(recipe, _inside(prefix, bodies), plane)
    return nested_actuator(prefix, new) if prefix else new


def _prefix(name: str, label: str) -> str:
    """The systems that something is nested in: "arm." of "arm.hinge", whose own name is "hinge"."""
    return name.removesuffix(label).removesuffix(".")


def _inside(prefix: str, things: Mapping[str, T]) -> dict[str, T]:
    """What stands in a nested system, by the names it has there."""
    start = f"{prefix}." if prefix else ""
    return {name.removeprefix(start): thing for name, thing in things.items() if name.startswith(start)}
