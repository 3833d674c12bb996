"""Quantities that a page can plot, in groups, each with a unit and some lines over the same times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from phloat.joints.rows import FIRST, SECOND, Row
from phloat.linear.time.march import LinearResult
from phloat.motion.inputs.inputs import Inputs, as_inputs
from phloat.motion.ledger import Ledger, energy_ledger
from phloat.motion.result import COMPONENTS, Result
from phloat.system.connection import Connection, End
from phloat.system.joint_rows import sense
from phloat.view.scene import BodyMotion, Drawing, body_motion

Lines = dict[str, np.ndarray]
AXES = ("x", "y", "z")
MAX_LINES = 12  # in one plot
STRESS = "largest von Mises stress"
CHUNK = 2_000_000  # numbers of stress at a time


@dataclass(frozen=True, eq=False)
class PlotQuantity:
    """Lines over time with one unit; the page lists them by `group` and `name`."""

    group: str
    name: str
    unit: str
    lines: Lines


def result_quantities(
    result: Result,
    at: np.ndarray,
    courses: Mapping[str, BodyMotion],
    drawings: Mapping[str, Drawing],
    u: Mapping[str, object] | Inputs | None,
) -> tuple[list[PlotQuantity], Ledger]:
    """All quantities of a run at the output times with these numbers, and its energy accounts."""
    ledger = energy_ledger(result, u)
    out = _energies(ledger, at)
    for name in result.system.bodies:
        out += _of_body(result, at, name, courses[name], drawings[name])
    for joint in result.system.joints.values():
        out += _of_joint(result, at, joint)
    if u is not None:
        out += _inputs(result, at, as_inputs(result.system, u))
    return out, ledger


def linear_quantities(result: LinearResult, at: np.ndarray) -> list[PlotQuantity]:
    """All quantities of a linear run."""
    H, supplied = (
        result.energy,
        {f"supplied by {name}": work[at] for name, work in result.supplied.items() if work.any()},
    )
    lost = {"lost to damping": result.lost[at]} if result.lost.any() else {}
    out = [
        PlotQuantity("Energy", "energy of the whole", "J", {"H": H[at]}),
        PlotQuantity("Energy", "energy balance", "J", {"H − H(0)": H[at] - H[0], **_few(supplied), **lost}),
        PlotQuantity("Energy", "energy residual", "J", {"residual": result.residual[at]}),
    ]
    for name, part in result.system.fields.items():
        way = result.displacement(name)[at]
        place = int(np.abs(way).max(axis=(0, 2)).argmax()) if way.size else 0
        where = _point(part.points[place])
        rate = (part.motion[3 * place : 3 * place + 3] @ result.e[at].T).T
        out.append(PlotQuantity(name, f"{name}: displacement at {where}", "m", _along(way[:, place])))
        out.append(PlotQuantity(name, f"{name}: velocity at {where}", "m/s", _along(rate)))
    for name in result.system.multipliers:
        lam = result[f"{name}.lam"][at]
        out.append(PlotQuantity(name, f"{name}.lam", "", _few({f"λ{k + 1}": lam[:, k] for k in range(lam.shape[1])})))
    for name, columns in result.system.ports.slices.items():
        given = result.u[at][:, columns]
        if given.any():
            out.append(
                PlotQuantity("Inputs", name, "", _few({f"u{k + 1}": given[:, k] for k in range(given.shape[1])}))
            )
    return out


def _energies(x: Ledger, at: np.ndarray) -> list[PlotQuantity]:
    zero = np.zeros(len(x.t))
    whole = {part: sum((parts[part] for parts in x.parts.values()), zero)[at] for part in COMPONENTS}
    springs = sum((line for name, line in x.stored.items() if name not in x.parts), zero)
    if springs.any():
        whole["springs"] = springs[at]
    balance = {"H − H(0)": (x.energy - x.energy[0])[at]}
    balance |= _few({f"supplied by {name}": line[at] for name, line in x.supplied.items()})
    balance |= _few({f"dissipated in {name}": line[at] for name, line in x.dissipated.items()})
    out = [
        PlotQuantity("Energy", "energy of the whole", "J", {**whole, "H": x.energy[at]}),
        PlotQuantity("Energy", "energy balance", "J", balance),
        PlotQuantity("Energy", "energy residual", "J", {"residual": x.residual[at]}),
    ]
    if len(x.stored) <= MAX_LINES:
        out.append(
            PlotQuantity("Energy", "stored in each part", "J", {name: line[at] for name, line in x.stored.items()})
        )
    return out


def _of_body(result: Result, at: np.ndarray, name: str, move: BodyMotion, drawn: Drawing) -> list[PlotQuantity]:
    body, layout = result.system.bodies[name], result.system.layout
    axes = AXES[: sum(i < 3 for i in body.active)]
    out = []
    if body.coordinates:
        out.append(_deformation(result, at, name, axes))
    if drawn.cauchy.size:
        out.append(PlotQuantity(name, f"{name}: {STRESS}", "Pa", {"largest": largest_stress(drawn, move.sigma)}))
    if f"{name}.theta" in layout:
        out.append(PlotQuantity(name, f"{name}: angle theta", "rad", {"theta": result[f"{name}.theta"][at]}))
    if body.rotates:
        omega = result[f"{name}.omega"][at].reshape(len(at), -1)
        turn = {"omega": omega[:, 0]} if omega.shape[1] == 1 else _along(omega)
        what = "angular velocity, body axes" if len(turn) > 1 else "angular velocity"
        out.append(PlotQuantity(name, f"{name}: {what}", "rad/s", turn))
    if not body.coordinates and np.any(body.inertia.s0):
        place = move.r + move.A @ (body.inertia.s0 / body.inertia.m)
        out.append(PlotQuantity(name, f"position of the mass centre of {name}", "m", _along(place, axes)))
    for port, point in body.ports.items():
        y = point.x + move.eta @ point.Phi.T
        place = move.r + np.einsum("tij,tj->ti", move.A, y)
        rate = np.einsum("tij,tj->ti", move.A, move.v + np.cross(move.omega, y) + move.rates @ point.Phi.T)
        out.append(PlotQuantity(name, f"position of {name}.{port}", "m", _along(place, axes)))
        out.append(PlotQuantity(name, f"velocity of {name}.{port}", "m/s", _along(rate, axes)))
    return out


def _deformation(result: Result, at: np.ndarray, name: str, axes: tuple[str, ...]) -> PlotQuantity:
    """The deformation at the place where it is largest."""
    shape = result.system.bodies[name].shape
    places = shape.places()
    eta = result[f"{name}.eta"][at]
    field = (eta @ shape.displacement(places).T.toarray()).reshape(len(at), -1, 3)[:, :, : len(axes)]
    place = int(np.abs(field).max(axis=(0, 2)).argmax())
    where = f"s = {places[place]:.3g}" if np.ndim(places[place]) == 0 else _point(places[place])
    return PlotQuantity(name, f"{name}: deformation at {where}", "m", _along(field[:, place], axes))


def largest_stress(drawn: Drawing, sigma: np.ndarray) -> np.ndarray:
    """The largest von Mises stress of all points drawn, over time."""
    out, each = np.zeros(len(sigma)), max(1, CHUNK // max(len(drawn.cauchy), 1))
    for first in range(0, len(sigma), each):
        x = (sigma[first : first + each] @ drawn.cauchy.T).reshape(-1, len(drawn.points), 6)
        normal, shear = x[..., :3], x[..., 3:]
        squared = 1.5 * (normal**2).sum(axis=2) - 0.5 * normal.sum(axis=2) ** 2 + 3.0 * (shear**2).sum(axis=2)
        out[first : first + each] = np.sqrt(np.maximum(squared.max(axis=1), 0.0))
    return out


def _of_joint(result: Result, at: np.ndarray, joint: Connection) -> list[PlotQuantity]:
    out, found = [], coordinate_histories(result, joint)
    for row in joint.coordinates:
        label, unit = row.label, "rad" if row.is_angle else "m"
        out.append(PlotQuantity(joint.name, f"{joint.name}.{label}", unit, {label: found[label][at]}))
    if not len(joint.rows):
        return out
    lam = result[f"{joint.name}.lam"][at]
    efforts: dict[str, Lines] = {"N": {}, "N m": {}}
    for k, row in enumerate(joint.rows):
        unit = "N" if row.is_length else "N m"
        short = row.label.removeprefix("coincide ").removeprefix("aligned ")
        efforts[unit][short if short not in efforts[unit] else f"{short} ({k + 1})"] = lam[:, k]
    return out + [
        PlotQuantity(joint.name, f"{joint.name}.lam, {'force' if unit == 'N' else 'moment'}", unit, lines)
        for unit, lines in efforts.items()
        if lines
    ]


def _inputs(result: Result, at: np.ndarray, inputs: Inputs) -> list[PlotQuantity]:
    values = np.array([inputs.at(t) for t in result.t[at]])
    out = []
    for name in inputs.signals:
        given = values[:, result.system.ports[name]]
        lines = (
            {name: given[:, 0]}
            if given.shape[1] == 1
            else {f"{name} {k + 1}": given[:, k] for k in range(given.shape[1])}
        )
        out.append(PlotQuantity("Inputs", name, _input_unit(result, name), lines))
    return out


def _input_unit(result: Result, name: str) -> str:
    """The unit of an input; empty if its components have different units."""
    actuator = result.system.actuators.get(name)
    if actuator is not None:
        return "N m" if actuator.kind == "torque" else "N"
    joint = result.system.joints.get(name)
    if joint is None:
        return ""
    rows = joint.driven or joint.free
    turning, moving = (
        all(r.is_angle for r in rows),
        all(r.is_length for r in rows),
    )
    units = ("rad/s", "m/s") if joint.driven else ("N m", "N")
    return units[0] if turning else units[1] if moving else ""


def _along(x: np.ndarray, axes: tuple[str, ...] = AXES) -> Lines:
    return {axis: x[:, k] for k, axis in enumerate(axes)}


def _few(lines: Lines) -> Lines:
    """The lines with the largest values."""
    if len(lines) <= MAX_LINES:
        return lines
    order = sorted(lines, key=lambda name: -float(np.abs(lines[name]).max(initial=0.0)))[:MAX_LINES]
    return {name: line for name, line in lines.items() if name in order}


def _point(x: np.ndarray) -> str:
    clean = np.where(np.abs(x) > 1e-9 * np.abs(x).max(initial=0.0), x, 0.0)
    return f"({', '.join(f'{a:.3g}' for a in clean)})"


# --- coordinates of joints -------------------------------------------------------------------------------------------
#
# Angles and slides of joints at all times at once; `Result.coordinates` computes them state by state.


PortMotion = tuple[np.ndarray, np.ndarray]  # c (times, 3) and the triad D (times, 3, 3), directions as columns


def coordinate_histories(result: Result, joint: Connection) -> dict[str, np.ndarray]:
    """The angles and slides of a joint over time, by their labels; angles are continuous."""
    rows = joint.coordinates
    if not rows:
        return {}
    first, second = _port_motion(result, joint.first), _port_motion(result, joint.second)
    return {row.label: _coordinate(result, joint, row, first, second) for row in rows}


def _coordinate(result: Result, joint: Connection, row: Row, first: PortMotion, second: PortMotion) -> np.ndarray:
    (c_A, D_A), (c_B, D_B) = first, second
    if row.slide_axis is not None:
        return np.einsum("ti,ti->t", D_A[:, :, row.slide_axis], c_B - c_A)
    pairs = [(a - FIRST, b - SECOND) for _, a, b in (row.terms[0], row.other_terms[0])]
    angle = np.arctan2(*(np.einsum("ti,ti->t", D_A[:, :, a], D_B[:, :, b]) for a, b in pairs))
    if f"{joint.second.body}.theta" not in result.system.layout:
        return np.unwrap(angle)
    turned = sense(joint) * (_theta(result, joint.second) - _theta(result, joint.first))
    return angle + 2 * np.pi * np.round((turned - angle) / (2 * np.pi))


def _theta(result: Result, end: End) -> np.ndarray | float:
    name = f"{end.body}.theta"
    return result[name] - end.turned if name in result.system.layout else -end.turned


def _port_motion(result: Result, end: End) -> PortMotion:
    """One side of a joint: c = r + A (x + Φη), d_i = A (d₀ + ψ × d₀ + ⅓ ψ × (ψ × d₀)) with ψ = Ψη."""
    times = len(result)
    if not end.body:
        return np.broadcast_to(end.at, (times, 3)), np.broadcast_to(end.triad, (times, 3, 3))
    move, port = body_motion(result, end.body, np.arange(times)), result.system.bodies[end.body].port(end.port)
    c = move.r + np.einsum("tij,tj->ti", move.A, port.x + move.eta @ port.Phi.T)
    psi, triad = (move.eta @ port.Psi.T)[:, :, None], np.broadcast_to(end.triad, (times, 3, 3))
    turned = np.cross(psi, triad, axis=1)
    return c, move.A @ (triad + turned + np.cross(psi, turned, axis=1) / 3.0)
