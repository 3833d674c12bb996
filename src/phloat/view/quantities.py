"""Quantities of runs as lines over time: largest components of fields, forces of joints, and all plots of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from phloat.errors import InputError, PortError, unknown
from phloat.joints.rows import Row
from phloat.linear.time.march import LinearResult
from phloat.motion.inputs.inputs import Inputs
from phloat.motion.ledger import Ledger
from phloat.motion.result import COMPONENTS, Result
from phloat.system.connection import Connection
from phloat.system.state import Pose
from phloat.system.units import coordinate_unit, effort_units, unit_of_name, units
from phloat.view.figures import MAX_LEGEND
from phloat.view.scene import Drawing

Lines = dict[str, np.ndarray]
AXES = "xyz"
COORDINATES, EFFORTS = {"rad": "angle", "m": "slide"}, {"N": "force", "N m": "moment"}  # by their units
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


def component_lines(name: str, values: np.ndarray) -> Lines:
    """The components of a quantity (times, …); of more than MAX_LEGEND components, those with the largest range."""
    flat = values.reshape(len(values), -1)
    if values.ndim == 1:
        return {name: values}
    if values.ndim == 2 and flat.shape[1] <= 3 and name.rpartition(".")[2] in ("r_P", "v_P", "omega"):
        return axis_lines(flat, f"{name}, ")
    numbers = np.sort(np.argsort(-np.ptp(flat, axis=0), kind="stable")[:MAX_LEGEND])
    marks = [", ".join(map(str, np.unravel_index(k, values.shape[1:]))) for k in numbers.tolist()]
    return {f"{name}[{mark}]": flat[:, k] for mark, k in zip(marks, numbers, strict=True)}


# --- of a page --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PlotQuantity:
    """A plot that a page offers: lines over time with one unit, listed under `group` by `name`.

    `kind` is what it shows ("position", "force" …) and `key` its short name. A `residual` has a scale of its own.
    """

    group: str
    name: str
    unit: str
    lines: Lines
    kind: str
    key: str = ""
    residual: np.ndarray | None = None

    def answers_to(self, name: str) -> bool:
        """Whether `name` is its name, key, group (a body, a joint, energy, inputs) or kind, also in the plural."""
        plurals = (f"{self.kind}s", f"{self.kind}es", f"{self.kind[:-1]}ies")
        return name in (self.name, self.key, self.group) or name.lower() in (self.group.lower(), self.kind, *plurals)


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
    out = _coordinates_together(coordinates)
    for name, drawn in drawings.items():
        out += _body_quantities(result, name, moves[name], drawn)
    for joint in result.system.joints.values():
        out += _joint_quantities(result, joint, coordinates)
    return out if inputs is None else out + _input_quantities(result, inputs)


def opening(quantities: Sequence[PlotQuantity], scene: float) -> list[int]:
    """The plots that a page opens with: joint coordinates, the position of the port that moves farthest, the deformation that is
    largest, and the balance of energy (the energy, if nothing was supplied or lost); nothing that stands still to 1e-9 rad or to
    1e-9 of the size of the scene (m)."""
    size = [float(np.linalg.norm([np.ptp(line) for line in q.lines.values()])) for q in quantities]

    def first(kind: str) -> list[int]:
        """The plot of this kind with the largest range, and a joint's only if there is none of all joints together."""
        still = {"angle": 1e-9, "slide": 1e-9 * scene, "position": 1e-9 * scene}
        found = [i for i, q in enumerate(quantities) if q.kind == kind and size[i] > still.get(kind, 0.0)]
        together = [i for i in found if not quantities[i].key]
        return sorted(together or found, key=lambda i: -size[i])[:1]

    energy = [i for i, q in enumerate(quantities) if q.kind == "energy"][:2]
    energy = energy[1:] if len(energy) > 1 and len(quantities[energy[1]].lines) > 1 else energy[:1]
    motion = [i for kind in ("angle", "slide", "position", "deformation", "displacement") for i in first(kind)]
    return motion + energy


def named(
    quantities: Sequence[PlotQuantity], names: Sequence[str], result: Result | LinearResult, indices: np.ndarray
) -> tuple[list[PlotQuantity], list[int]]:
    """The quantities and the indices of those that answer to these names; other names of the result are added to them, at the
    output times with these indices.

    Raises InputError if a name is not known.
    """
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise InputError(f"plots is {names!r}; it must be a list of names: ['motor.angle', 'energy']")
    out, chosen = list(quantities), []
    for name in names:
        found = [i for i, q in enumerate(out) if q.answers_to(name)]
        if not found:
            out.append(_other_quantity(result, name, indices, out))
            found = [len(out) - 1]
        chosen += [i for i in found if i not in chosen]
    return out, chosen


def _other_quantity(
    result: Result | LinearResult, name: str, indices: np.ndarray, known: Sequence[PlotQuantity]
) -> PlotQuantity:
    """The plot of a quantity that has a name in the result only, such as "rod.eta". Raises InputError if there is none."""
    try:
        values = result[name][indices]
    except PortError:
        names = [*dict.fromkeys(q.kind for q in known), *(q.key or q.name for q in known)]
        raise InputError(unknown("plot", name, names)) from None
    owner, _, quantity = name.rpartition(".")
    unit = unit_of_name(result.system, name) if isinstance(result, Result) else ""
    return PlotQuantity(owner, name, unit, component_lines(name, values), quantity, name)


def linear_quantities(result: LinearResult) -> list[PlotQuantity]:
    """All quantities that the page of a linear run can plot; of each body at the point with the largest displacement."""
    balance = _largest({f"supplied by {name}": work for name, work in result.supplied.items() if work.any()})
    balance |= {"lost to damping": result.lost} if result.lost.any() else {}
    out: list[PlotQuantity] = []
    for name, part in result.system.fields.items():
        way = result.displacement(name)
        place = int(np.abs(way).max(axis=(0, 2)).argmax())
        rate, location = result.velocity(name)[:, place], place_text(part.points[place])
        out.append(
            PlotQuantity(
                name, f"{name}: displacement at {location}", "m", axis_lines(way[:, place]), "displacement", name
            )
        )
        out.append(PlotQuantity(name, f"{name}: velocity at {location}", "m/s", axis_lines(rate), "velocity"))
    for name in result.system.multipliers:
        lam = result[f"{name}.lam"]
        lines = _largest({f"λ{k + 1}": line for k, line in enumerate(lam.T)})
        out.append(PlotQuantity(name, f"{name}.lam", "", lines, "force"))
    for name, columns in result.system.ports.slices.items():
        if (u := result.u[:, columns]).any():
            out.append(
                PlotQuantity("Inputs", name, "", _largest({f"u{k + 1}": line for k, line in enumerate(u.T)}), "input")
            )
    return out + _energy_plots({}, result.energy, balance, result.residual)


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
        plots.append(PlotQuantity("Energy", "stored in each part", "J", dict(x.stored), "energy"))
    return [
        replace(
            plot,
            lines={label: line[indices] for label, line in plot.lines.items()},
            residual=None if plot.residual is None else plot.residual[indices],
        )
        for plot in plots
    ]


def _energy_plots(totals: Lines, H: np.ndarray, balance: Lines, residual: np.ndarray) -> list[PlotQuantity]:
    """The energy with its parts, its balance with what was supplied and lost, and the residual of the balance (J)."""
    since = {"H − H(0)": H - H[0]} | balance
    return [
        PlotQuantity("Energy", "energy of the whole", "J", totals | {"H": H}, "energy"),
        PlotQuantity("Energy", "energy balance", "J", since, "energy", residual=residual),
        PlotQuantity("Energy", "energy residual", "J", {"residual": residual}, "energy"),
    ]


def _body_quantities(result: Result, name: str, move: Pose, drawn: Drawing) -> list[PlotQuantity]:
    """Deformation, largest stress, rotation, and positions and velocities of mass centre and ports of a body."""
    body, layout = result.system.bodies[name], result.system.layout
    linear = sum(i < 3 for i in body.active)
    plots: list[tuple[str, str, Lines, str, str]] = []
    if body.coordinates:
        line, _, location = peak(result[f"{name}.u_f"], body.shape.places())
        plots.append((f"{name}: deformation at {location}", "m", axis_lines(line), "deformation", f"{name}.u_f"))
    if drawn.cauchy.size:
        stress = {"largest": largest_stress(drawn, move.sigma)}
        plots.append((f"{name}: {STRESS}", "Pa", stress, "stress", f"{name}.stress"))
    if f"{name}.theta" in layout:
        theta, omega = ({key: result[f"{name}.{key}"]} for key in ("theta", "omega"))
        plots.append((f"{name}: angle theta", "rad", theta, "rotation", f"{name}.theta"))
        plots.append((f"{name}: angular velocity", "rad/s", omega, "angular velocity", f"{name}.omega"))
    elif body.rotates:
        omega = axis_lines(move.omega)
        plots.append((f"{name}: angular velocity, body axes", "rad/s", omega, "angular velocity", f"{name}.omega"))
    if not body.coordinates and np.any(body.inertia.s0):
        place = move.r_P + move.A @ (body.inertia.s0 / body.inertia.m)
        lines = axis_lines(place[:, :linear])
        plots.append((f"position of the mass centre of {name}", "m", lines, "position", f"{name}.centre"))
    for port, point in body.ports.items():
        y, y_dot = point.motion(move.eta, move.rates)
        place = move.r_P + np.einsum("tij,tj->ti", move.A, y)
        rate = np.einsum("tij,tj->ti", move.A, move.v_P + np.cross(move.omega, y) + y_dot)
        lines, rates = axis_lines(place[:, :linear]), axis_lines(rate[:, :linear])
        plots.append((f"position of {name}.{port}", "m", lines, "position", f"{name}.{port}"))
        plots.append((f"velocity of {name}.{port}", "m/s", rates, "velocity", ""))
    return [PlotQuantity(name, *plot) for plot in plots]


def largest_stress(drawn: Drawing, sigma: np.ndarray) -> np.ndarray:
    """The largest von Mises stress (Pa) of all points of a drawing at each time, from σ (times, stresses)."""
    each = max(1, CHUNK_SIZE // len(drawn.cauchy))
    firsts = range(0, len(sigma), each)
    return np.concatenate([drawn.stress(sigma[first : first + each]).max(axis=1) for first in firsts])


def _coordinates_together(coordinates: Lines) -> list[PlotQuantity]:
    """The angles, and the slides, of several joints in one plot each."""
    out = []
    for unit, kind in COORDINATES.items():
        if len(lines := {name: line for name, line in coordinates.items() if coordinate_unit(name) == unit}) > 1:
            out.append(PlotQuantity("Motion", f"joint {kind}s", unit, _largest(lines), kind))
    return out


def _joint_quantities(result: Result, joint: Connection, coordinates: Lines) -> list[PlotQuantity]:
    """The coordinates of a joint, its forces and its moments."""
    names = {f"{joint.name}.{row.label}": row.label for row in joint.coordinates}
    out = [
        PlotQuantity(joint.name, n, unit := coordinate_unit(n), {label: coordinates[n]}, COORDINATES[unit], n)
        for n, label in names.items()
    ]
    key = f"{joint.name}.lam"
    efforts = joint_efforts(joint.rows, result[key]) if joint.rows else {}
    return out + [PlotQuantity(joint.name, f"{key}, {EFFORTS[u]}", u, x, EFFORTS[u], key) for u, x in efforts.items()]


def _input_quantities(result: Result, inputs: Inputs) -> list[PlotQuantity]:
    """The inputs at the output times, with their unit if all components have the same."""
    values, port_units = np.array([inputs.at(t) for t in result.t]), units(result.system)["ports"]
    out = []
    for name in inputs.signals:
        signal, unit = values[:, result.system.ports[name]].T, set(port_units[name]["in"])
        lines = {name if len(signal) == 1 else f"{name} {k + 1}": line for k, line in enumerate(signal)}
        out.append(PlotQuantity("Inputs", name, unit.pop() if len(unit) == 1 else "", lines, "input"))
    return out


def _largest(lines: Lines) -> Lines:
    """At most MAX_LINES of the lines, those with the largest values, in their order."""
    most = sorted(lines, key=lambda name: -float(np.abs(lines[name]).max(initial=0.0)))[:MAX_LINES]
    return {name: line for name, line in lines.items() if name in most}
