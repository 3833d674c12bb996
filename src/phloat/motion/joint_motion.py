"""Rates of joints, and efforts along their free axes, as quantities of a run.

    joint.angle_rate, joint.slide_rate …, joint.omega      rates of the free axes; joint.rate if there is one
    joint.torque, joint.torque_2, joint.force, joint.force_x …   all that acts along an axis, on the second port
    name.effort                                            of one force element or input alone
    joint.command, joint.error                             of a servo, and its distance from the motion of the joint

What acts along an axis is the input of the joint, the springs, dampers and laws on it, and the multiplier of an axis that is locked
or driven: with what closes the joint this is the whole effort between its two ports.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

import numpy as np

from phloat.errors import InputError
from phloat.joints.elements import OnJoint
from phloat.joints.rows import Row, row_rates
from phloat.system.connection import Connection, Element
from phloat.system.joint_rows import columns_in_rows, ends
from phloat.system.system import System

Result: TypeAlias = Any  # of motion.result, which imports this module
Axes = dict[str, tuple[Row, ...]]
COORDINATE = re.compile("^_(angle|slide)(?=_|$)")


def effort_axes(c: Connection) -> Axes:
    """The rows of each effort along the free axes of a joint: torque, force, torque_2, force_x …; of a ball joint all in one."""
    out: Axes = {}
    for row in axes_of(c):
        word = "torque" if row.is_angle or row.function == "spin" else "force"
        name = word + (COORDINATE.sub("", f"_{row.label}") if row.coordinate else "")  # angle_2: torque_2
        out[name] = (*out.get(name, ()), row)
    return out


def rate_axes(c: Connection) -> Axes:
    """The rows of each rate of a joint: angle_rate, slide_rate …, omega of a ball joint; rate if there is one axis."""
    out: Axes = {}
    for row in axes_of(c):
        name = f"{row.label}_rate" if row.coordinate else "omega"
        out[name] = (*out.get(name, ()), row)
    return out | ({"rate": axes_of(c)} if len(axes_of(c)) == 1 else {})


def axes_of(c: Connection) -> tuple[Row, ...]:
    """The rows of a joint that are free, or were so before they were locked or driven; none of a Drive."""
    return () if c.joint.moves_ground else c.free + c.locked + c.driven


def joint_quantity_names(system: System) -> list[str]:
    """The names of all these quantities, except those of inputs at ports of bodies."""
    joints = [f"{name}.{q}" for name, c in system.joints.items() for q in (*effort_axes(c), *rate_axes(c))]
    return joints + [f"{name}.effort" for name in (*system.elements, *system.actuators)]


def joint_quantity(result: Result, owner: str, quantity: str) -> np.ndarray | None:
    """A rate or effort over time, (times,) or (times, axes); None if there is no such quantity."""
    system = result.system
    if quantity == "effort" and (owner in system.elements or _takes_effort(system, owner)):
        return _squeezed(_effort_of(result, owner))
    if owner not in system.joints:
        return None
    c = system.joints[owner]
    if quantity in ("command", "error") and owner in result.servos:
        return _servo_quantity(result, result.servos[owner], quantity)
    if rows := rate_axes(c).get(quantity):
        return _squeezed(_rates(result, c, rows))
    if rows := effort_axes(c).get(quantity):
        return _squeezed(np.stack([_effort_along(result, c, row) for row in rows], axis=1))
    return None


def _servo_quantity(result: Result, servo: Any, quantity: str) -> np.ndarray:
    """The command of a servo over time, or its error."""
    joint, command = servo.joint, np.asarray(servo.reference(result.t))
    if quantity == "command":
        return command
    label = "rate" if servo.rate is not None else result.system.joints[joint].free[0].label
    return np.asarray(command - result[f"{joint}.{label}"])


def _takes_effort(system: System, port: str) -> bool:
    return port in system.ports and not (port in system.joints and not system.joints[port].free)


def _effort_of(result: Result, name: str) -> np.ndarray:
    """The efforts of one element or input, (times, rows); zero without an input."""
    if result.efforts is None:
        raise InputError(
            "this run was saved without its efforts, by an earlier phloat or without accounts; run it again"
        )
    name = result.system.ports.also.get(name, name)
    values = result.efforts.of(name)
    if name in result.system.actuators:
        values = values[:, :1]  # a load on several points has one input
    element = result.system.elements.get(name)
    size = result.system.ports.shape(name)[0] if element is None else len(_active_rows(element))
    return values if values.shape[1] else np.zeros((len(result), size))


def _effort_along(result: Result, c: Connection, row: Row) -> np.ndarray:
    """The sum of all efforts along one axis of a joint, (times,)."""
    if row in c.free:
        total = _effort_of(result, c.name)[:, c.free.index(row)]
    else:
        total = result.system.multipliers.of(result.lam, c.name)[:, c.rows.index(row)]
    for element in result.system.elements.values():
        if _acts_on(element, c) and row in _active_rows(element):
            total = total + _effort_of(result, element.name)[:, _active_rows(element).index(row)]
    return total


def _active_rows(element: Element) -> list[Row]:
    """The rows of an element that store or dissipate; a run has no others."""
    return [row for row, law in zip(element.rows, element.laws, strict=True) if law.stores or law.resists]


def _acts_on(element: Element, c: Connection) -> bool:
    """Whether an element acts on the axes of a joint."""
    same_ports = (element.first.body, element.first.port, element.second.body, element.second.port) == (
        *(c.first.body, c.first.port),
        *(c.second.body, c.second.port),
    )
    return isinstance(element.recipe, OnJoint) and same_ports and np.array_equal(element.first.triad, c.first.triad)


def _rates(result: Result, c: Connection, rows: tuple[Row, ...]) -> np.ndarray:
    """The rates of rows of a joint, (times, rows)."""
    columns, out = columns_in_rows(result.system, result.system.layout).columns, np.zeros((len(result), len(rows)))
    for k in range(len(result)):
        state = result.state(k)
        for end, rate in zip((c.first, c.second), row_rates(rows, *ends(c, state)), strict=True):
            if end.body:
                out[k] += rate @ state.e[columns[end.body]]
    return out


def _squeezed(values: np.ndarray) -> np.ndarray:
    """(times, 1) as (times,)."""
    return values[:, 0] if values.shape[1] == 1 else values
