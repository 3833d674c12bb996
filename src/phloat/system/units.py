"""The units of all named quantities of a system."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from phloat.algebra.metadata import description
from phloat.algebra.units import si_value
from phloat.errors import InputError
from phloat.joints.rows import Row
from phloat.system.parameters import parameter_table
from phloat.system.plausible import warn_of_degrees
from phloat.system.system import System

QUANTITIES = {"r_P": "m", "A_IB": "1", "theta": "rad", "v_P": "m/s", "omega": "rad/s", "u_f": "m", "v_f": "m/s"}
QUANTITIES |= {"position": "m", "velocity": "m/s", "acceleration": "m/s²"}
QUANTITY_OF_UNIT = {"m": "length", "rad": "angle", "m/s": "velocity", "rad/s": "angular rate"}
MIXED = "mixed"  # coordinates η and stress states σ of nodes, modes and cells; fields computed from them have units
EFFORT, RATE = {True: "N", False: "N m"}, {True: "m/s", False: "rad/s"}  # along a length, about an axis
PARAMETERS = {"length": "m", "area": "m²", "second moment of area": "m⁴", "mass": "kg", "inertia": "kg m²", "time": "s"}
PARAMETERS |= {"density": "kg/m³", "angle": "rad", "velocity": "m/s", "force": "N", "torque": "N m", "stress": "Pa"}
PARAMETERS |= {
    "stiffness": "N/m",
    "torsional stiffness": "N m/rad",
    "damping": "N s/m",
    "torsional damping": "N m s/rad",
}
RESULTANTS = {"N": "N", "Q_y": "N", "Q_z": "N", "T": "N m", "M_y": "N m", "M_z": "N m"}


def unit_of(quantity: str) -> str:
    """The unit of a quantity of a body, called as in a State: "r_P", "omega", "eta" …"""
    return QUANTITIES.get(quantity, MIXED)


def unit_of_name(system: System, name: str) -> str:
    """The unit of a quantity of a result by its whole name: "rod.omega", "motor.torque", "motor.rate", "spring.effort" …"""
    owner, _, quantity = name.rpartition(".")
    if quantity == "rate":
        return unit_of_name(system, f"{owner}.{system.joints[owner].coordinates[0].label}_rate")
    if quantity.endswith("_rate"):
        return RATE[coordinate_unit(name.removesuffix("_rate")) == "m"]
    if (word := quantity.partition("_")[0]) in ("torque", "force"):
        return EFFORT[word == "force"]
    if quantity == "effort":
        rows = system.elements[owner].rows if owner in system.elements else ()
        found = set(effort_units(rows) or _ports(system).get(owner, {"in": [MIXED]})["in"])
        return found.pop() if len(found) == 1 else MIXED
    return unit_of(quantity)


def parameter_units(system: System, keys: Iterable[str | tuple[str, ...]]) -> dict[str, str]:
    """The units of those parameters, patterns or tuples of them whose unit follows from their recipe."""
    table, out = parameter_table(system), {}
    for key in keys:
        parts = (key,) if isinstance(key, str) else key
        try:
            places = [table.places[name] for part in parts for name in table.named(part)]
        except InputError:  # of an input or a controller
            continue
        found = {_parameter_unit(place.owner.value, place.path) for place in places}
        out[", ".join(parts)] = found.pop() if len(found) == 1 else ""
    return {name: unit for name, unit in out.items() if unit}


def _parameter_unit(value: Any, path: tuple[Any, ...]) -> str:
    """The unit of the number at the end of a path into a recipe; "" if its field has none, or more than one."""
    quantities: tuple[str, ...] = ()
    for step in path:
        described = {f.name: description(f).quantities for f in fields(value)} if is_dataclass(value) else {}
        quantities = described.get(step, quantities)
        if described:
            value = getattr(value, step)
        else:  # an item (i,) of a list, or an entry (i, j) of a matrix, which is the last step
            value = value[step[0]] if isinstance(step, tuple) else value[step]
    return PARAMETERS.get(quantities[0], "") if len(quantities) == 1 else ""


def values_in_si(system: System, values: Mapping[Any, object]) -> dict[Any, object]:
    """Values of quantities by name, with texts such as "30 deg" in SI units."""
    return {name: _in_si(system, str(name), value) for name, value in values.items()}


def _in_si(system: System, name: str, value: object) -> object:
    owner, _, quantity = name.rpartition(".")
    is_coordinate = owner in system.joints and quantity in {row.label for row in system.joints[owner].coordinates}
    known = is_coordinate or quantity in QUANTITIES or (quantity.endswith("_rate") and owner in system.joints)
    unit = (coordinate_unit(name) if is_coordinate else unit_of_name(system, name)) if known else MIXED
    if unit == "rad":
        warn_of_degrees(name, value)
    return si_value(name, value, (QUANTITY_OF_UNIT[unit],)) if unit in QUANTITY_OF_UNIT else value


def resultant_unit(name: str) -> str:
    """The unit of a stress resultant: N, N m for beams, per length for plates, Pa for solids."""
    if name in RESULTANTS:
        return RESULTANTS[name]
    return {"N": "N/m", "Q": "N/m", "M": "N"}.get(name.partition("_")[0], "Pa")


def coordinate_unit(name: str) -> str:
    """The unit of a joint coordinate, such as "elbow.angle" or "guide.slide"."""
    return "rad" if "angle" in name.rpartition(".")[2] else "m"


def effort_units(rows: Iterable[Row]) -> list[str]:
    """The units of the multipliers (efforts) of these rows."""
    return [EFFORT[row.is_length] for row in rows]


def rate_units(rows: Iterable[Row]) -> list[str]:
    """The units of the rates of these rows."""
    return [RATE[row.is_length] for row in rows]


def units(system: System) -> dict[str, Any]:
    """The unit of every quantity of a result, a list where components differ; under "ports" those of inputs and outputs."""
    out: dict[str, Any] = {"t": "s", "energies and works": "J"}
    out |= {name: unit_of(name.rpartition(".")[2]) for name in system.layout}
    out |= {f"{name}.lam": effort_units(system.joints[name].rows) for name in system.multipliers}
    for joint in system.joints.values():
        named = [f"{joint.name}.{row.label}" for row in joint.coordinates]
        out |= {name: coordinate_unit(name) for name in named}
    return out | {"ports": _ports(system)}


def _ports(system: System) -> dict[str, dict[str, list[str]]]:
    out: dict[str, dict[str, list[str]]] = {}
    for name, body in system.bodies.items():
        lengths = [i < 3 for i in body.active]
        port_units = {"in": [EFFORT[length] for length in lengths], "out": [RATE[length] for length in lengths]}
        out |= {f"{name}.{port}": port_units for port in body.ports}
    for name, joint in system.joints.items():
        if joint.free or joint.driven:
            into = effort_units(joint.free) + rate_units(joint.driven)
            out[name] = {"in": into, "out": rate_units(joint.free) + effort_units(joint.driven)}
    for name, actuator in system.actuators.items():
        pushes = actuator.kind == "force"
        out[name] = {"in": [EFFORT[pushes]], "out": [RATE[pushes]]}
        if actuator.recipe.kind == "load":
            out[name] = {"in": ["1"], "out": ["W"]}  # a factor of the force per length
    return out
