"""Kinds of joints, springs, dampers and forces: the value of the word is what they act on; other fields are further keys.

A new class is added to `JOINTS`, with `describe` for the units of its fields; nothing else is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import cache
from typing import Any

from scipy.interpolate import PPoly

from phloat.format.derive import annotation, file_word, record_keys, summary
from phloat.format.fields import BODY_FORCE, LINE, SURFACE, TRACTION, vector_field
from phloat.format.kinds import Kind, ListOf, Text
from phloat.format.records import Variant, Variants
from phloat.joints import elements, loads, pairs, tie
from phloat.joints.curves import curve, resistance

JOINTS = (
    *(pairs.Revolute, pairs.Prismatic, pairs.Weld, pairs.Spherical, pairs.Universal, pairs.Cylindrical, pairs.Planar),
    *(pairs.Slide, pairs.Drive),
    *(elements.Spring, elements.Damper, elements.Bushing, elements.JointSpring, elements.JointDamper),
    elements.JointFriction,
    *(loads.Force, loads.Torque, loads.Load, loads.BodyForce, loads.Pressure, loads.Traction),
    tie.Tie,
)
LAW_CLASSES = (elements.JointLaw, elements.PortLaw)  # of which users write subclasses
FIELDS: Mapping[type, Mapping[str, Kind]] = {  # kinds of fields that may be functions of position
    loads.Load: {"per_length": LINE},
    loads.Pressure: {"per_area": SURFACE},
    loads.Traction: {"per_area": vector_field(TRACTION, "a traction")},
    loads.BodyForce: {"per_volume": vector_field(BODY_FORCE, "a body force")},
}


ENDS = ListOf(Text(what="a port: body.port or ground"), least=2, most=2)


@cache
def joint(cls: Any) -> Variant:
    """The variant of a joint or force element. Raises TypeError if a field has no kind.

    It acts on its positional fields of type str: two ports, or one port, joint, body or boundary.
    """
    ends = [f for f in fields(cls) if annotation(f) == "str" and not f.kw_only and f.default is MISSING]
    keys = record_keys(cls, (*(f.name for f in ends), "over"), **FIELDS.get(cls, {}))
    curves = [f.name for f in fields(cls) if annotation(f) == "Curve"]
    pair = len(ends) == 2

    def make(acts_on: Any, **options: Any) -> Any:
        return cls(*(acts_on if pair else (acts_on,)), **options)

    def parts(value: Any) -> tuple[Any, Mapping[str, Any]] | None:
        if type(value) is not cls:
            return None
        acts_on = tuple(getattr(value, f.name) for f in ends)
        return acts_on if pair else acts_on[0], vars(value) | {name: curve_data(value, name) for name in curves}

    kind = ENDS if pair else Text(what={"port": "a port: body.port"}.get(ends[0].name, f"the name of a {ends[0].name}"))
    return Variant(file_word(cls), kind, make, parts, keys, doc=summary(cls))


def curve_data(value: Any, name: str) -> Any:
    """A stiffness or damping; a function is replaced by the piecewise polynomials that are used in runs."""
    values = getattr(value, name)
    if not callable(values) or isinstance(values, PPoly):
        return values
    return (curve if name == "stiffness" else resistance)(name, values, value.over)[1].polynomials()


def user_laws(base: type) -> list[type]:
    """Subclasses of a law that are no part of phloat."""
    subclasses: list[type] = list(base.__subclasses__())
    return [cls for cls in subclasses if cls not in JOINTS] + [law for cls in subclasses for law in user_laws(cls)]


def user_variants() -> list[Variant]:
    """Variants of the laws that users have written and that files can hold; of a class that was defined again, the last."""
    laws = [cls for base in LAW_CLASSES for cls in user_laws(base)]
    latest = {(cls.__module__, cls.__qualname__): cls for cls in laws}.values()
    return [joint(cls) for cls in latest if not refusal(cls)]


def refusal(cls: Any) -> str:
    """Why a file cannot hold a user's law: its name is a word of phloat, or a field has no kind. "" if it can, or is no law."""
    if cls in JOINTS or not issubclass(cls, LAW_CLASSES):
        return ""
    if file_word(cls) in JOINT.words:
        return f"{file_word(cls)!r} is a joint of phloat in files, not {cls.__module__}.{cls.__qualname__}; rename the class"
    try:
        joint(cls)
    except TypeError as error:
        return f"a file cannot hold {cls.__name__}: {error}"
    return ""


JOINT = Variants("a joint", tuple(map(joint, JOINTS)), more=user_variants, refusal=refusal)
