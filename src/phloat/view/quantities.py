"""Quantities of runs as lines over time: largest components of fields, forces of joints, and all quantities of a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from phloat.joints.rows import Row
from phloat.linear.time.march import LinearResult
from phloat.motion.inputs.inputs import Inputs
from phloat.motion.ledger import Ledger
from phloat.motion.result import COMPONENTS, Result
from phloat.system.connection import Connection
from phloat.system.state import Pose
from phloat.system.units import coordinate_unit, effort_units, units
from phloat.view.scene import Drawing

Lines = dict[str, np.ndarray]
AXES = "xyz"
MAX_LINES = 12  # in one plot of a page
STRESS = "largest von Mises stress"
CHUNK_SIZE = 2_000_000  # stresses are computed for so many numbers at a time, to limit memory


def peak(field: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, int, str]:
    """The place and axis where a component of a field (times, places, axes) is largest in size.

    Returns the field there, (times, axes), the index of the axis, and the place as text.
    """
    place, axis = np.unravel_index(int(np.abs(field).max(axis=0).argmax()), field.shape[1:])
    return field[:, place], int(axis), place_text(places[place])


def place_text(place: np.ndarray) -> str:
    """A place s along a beam, or a point (x, y, z), as text."""
    if np.ndim(place) == 0:
        return f"s = {place:.3g}"
    clean = np.where(np.abs(place) > 1e-9 * np.abs(place).max(initial=0.0), place, 0.0)
    return f"({', '.join(f'{a:.3g}' for a in clean)})"


def axis_lines(x: np.ndarray, prefix: str = "") -> Lines:
    """The components of vectors (times, 1 to 3) as lines named x, y, z after the prefix."""
    return {f"{prefix}{AXES[k]}": x[:, k] for k in range(x.shape[1])}


def joint_efforts(rows: tuple[Row, ...], lam: np.ndarray) -> dict[str, Lines]:
    """The multipliers λ (times, rows) of a joint by unit, forces "N" and moments "N m", as lines named after the rows."""
    out: dict[str, Lines] = {}
    for k, (row, unit) in enumerate(zip(rows, effort_units(rows), strict=True)):
        label, lines = row.label.removeprefix("coincide ").removeprefix("aligned "), out.setdefault(unit, {})
        lines[label if label not in lines else f"{label} ({k + 1})"] = lam[:, k]
    return dict(sorted(out.items()))


# --- of a page --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PlotQuantity:
    """A plot that a page offers: lines over time with one unit, listed under `group` by `name`."""

    group: str
    name: str
    unit: str
    lines: Lines


def result_quantities(
    result: Result,
    moves: Mapping[str, Pose],
    drawings: Mapping[str, Drawing],
    coordinates: Lines,
    inputs: Inputs | None,
) -> list[PlotQuantity]:
    """All quantities that the page of a run can plot, but energies.

    `result` has the output times that are plotted; `moves` are the motions of the bodies and `coordinates` the joint coordinates at
    these times.
    """
    out: list[PlotQuantity] = []
    for name, drawn in drawings.items():
        out += _body_quantities(result, name, moves[name], drawn)
    for joint in result.system.joints.values():
        out += _joint_quantities(result, joint, coordinates)
    return out if inputs is None else out + _input_quantities(result, inputs)


def linear_quantities(result: LinearResult) -> list[PlotQuantity]:
    """All quantities that the page of a linear run can plot; of each body at the point with the largest displacement."""
    balance = _largest({f"supplied by {name}": work for name, work in result.supplied.items() if work.any()})
    balance |= {"lost to damping": result.lost} if result.lost.any() else {}
    out = _energy_plots({}, result.energy, balance, result.residual)
    for name, part in result.system.fields.items():
        way = result.displacement(name)
        place = int(np.abs(way).max(axis=(0, 2)).argmax())
        rate, location = result.velocity(name)[:, place], place_text(part.points[place])
        out.append(PlotQuantity(name, f"{name}: displacement at {location}", "m", axis_lines(way[:, place])))
        out.append(PlotQuantity(name, f"{name}: velocity at {location}", "m/s", axis_lines(rate)))
    for name in result.system.multipliers:
        lam = result[f"{name}.lam"]
        out.append(PlotQuantity(name, f"{name}.lam", "", _largest({f"λ{k + 1}": line for k, line in enumerate(lam.T)})))
    for name, columns in result.system.ports.slices.items():
        if (u := result.u[:, columns]).any():
            out.append(PlotQuantity("Inputs", name, "", _largest({f"u{k + 1}": line for k, line in enumerate(u.T)})))
    return out


def energy_quantities(x: Ledger, indices: np.ndarray) -> list[PlotQuantity]:
    """Energies, their balance and its residual (J) at the times of the ledger with these indices."""
    zero = np.zeros(len(x.t))
    totals = {part: sum((parts[part] for parts in x.parts.values()), zero) for part in COMPONENTS}
    springs = sum((line for name, line in x.stored.items() if name not in x.parts), zero)
    totals |= {"springs": springs} if springs.any() else {}
    balance = _largest({f"supplied by {name}": line for name, line in x.supplied.items()})
    balance |= _largest({f"dissipated in {name}": line for name, line in x.dissipated.items()})
    plots = _energy_plots(totals, x.energy, balance, x.residual)
    if len(x.stored) <= MAX_LINES:
        plots.append(PlotQuantity("Energy", "stored in each part", "J", dict(x.stored)))
    return [replace(plot, lines={label: line[indices] for label, line in plot.lines.items()}) for plot in plots]


def _energy_plots(totals: Lines, H: np.ndarray, balance: Lines, residual: np.ndarray) -> list[PlotQuantity]:
    """The energy with its parts, its balance with what was supplied and lost, and the residual of the balance (J)."""
    plots = {"energy of the whole": totals | {"H": H}, "energy balance": {"H − H(0)": H - H[0]} | balance}
    plots["energy residual"] = {"residual": residual}
    return [PlotQuantity("Energy", name, "J", lines) for name, lines in plots.items()]


def _body_quantities(result: Result, name: str, move: Pose, drawn: Drawing) -> list[PlotQuantity]:
    """Deformation, largest stress, rotation, and positions and velocities of mass centre and ports of a body."""
    body, layout = result.system.bodies[name], result.system.layout
    linear = sum(i < 3 for i in body.active)
    plots: list[tuple[str, str, Lines]] = []
    if body.coordinates:
        line, _, location = peak(result[f"{name}.u_f"], body.shape.places())
        plots.append((f"{name}: deformation at {location}", "m", axis_lines(line)))
    if drawn.cauchy.size:
        plots.append((f"{name}: {STRESS}", "Pa", {"largest": largest_stress(drawn, move.sigma)}))
    if f"{name}.theta" in layout:
        plots.append((f"{name}: angle theta", "rad", {"theta": result[f"{name}.theta"]}))
        plots.append((f"{name}: angular velocity", "rad/s", {"omega": result[f"{name}.omega"]}))
    elif body.rotates:
        plots.append((f"{name}: angular velocity, body axes", "rad/s", axis_lines(move.omega)))
    if not body.coordinates and np.any(body.inertia.s0):
        place = move.r_P + move.A @ (body.inertia.s0 / body.inertia.m)
        plots.append((f"position of the mass centre of {name}", "m", axis_lines(place[:, :linear])))
    for port, point in body.ports.items():
        y, y_dot = point.motion(move.eta, move.rates)
        place = move.r_P + np.einsum("tij,tj->ti", move.A, y)
        rate = np.einsum("tij,tj->ti", move.A, move.v_P + np.cross(move.omega, y) + y_dot)
        plots.append((f"position of {name}.{port}", "m", axis_lines(place[:, :linear])))
        plots.append((f"velocity of {name}.{port}", "m/s", axis_lines(rate[:, :linear])))
    return [PlotQuantity(name, *plot) for plot in plots]


def largest_stress(drawn: Drawing, sigma: np.ndarray) -> np.ndarray:
    """The largest von Mises stress (Pa) of all points of a drawing at each time, from σ (times, stresses)."""
    each = max(1, CHUNK_SIZE // len(drawn.cauchy))
    firsts = range(0, len(sigma), each)
    return np.concatenate([drawn.stress(sigma[first : first + each]).max(axis=1) for first in firsts])


def _joint_quantities(result: Result, joint: Connection, coordinates: Lines) -> list[PlotQuantity]:
    """The coordinates of a joint, its forces and its moments."""
    names = {f"{joint.name}.{row.label}": row.label for row in joint.coordinates}
    out = [PlotQuantity(joint.name, n, coordinate_unit(n), {label: coordinates[n]}) for n, label in names.items()]
    efforts = joint_efforts(joint.rows, result[f"{joint.name}.lam"]) if joint.rows else {}
    words = {"N": "force", "N m": "moment"}
    return out + [PlotQuantity(joint.name, f"{joint.name}.lam, {words[u]}", u, x) for u, x in efforts.items()]


def _input_quantities(result: Result, inputs: Inputs) -> list[PlotQuantity]:
    """The inputs at the output times, with their unit if all components have the same."""
    values, port_units = np.array([inputs.at(t) for t in result.t]), units(result.system)["ports"]
    out = []
    for name in inputs.signals:
        signal, unit = values[:, result.system.ports[name]].T, set(port_units[name]["in"])
        lines = {name if len(signal) == 1 else f"{name} {k + 1}": line for k, line in enumerate(signal)}
        out.append(PlotQuantity("Inputs", name, unit.pop() if len(unit) == 1 else "", lines))
    return out


def _largest(lines: Lines) -> Lines:
    """At most MAX_LINES of the lines, those with the largest values, in their order."""
    most = sorted(lines, key=lambda name: -float(np.abs(lines[name]).max(initial=0.0)))[:MAX_LINES]
    return {name: line for name, line in lines.items() if name in most}
