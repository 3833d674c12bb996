"""Lines over time: runs, energy accounts, chosen bodies, joints and quantities; maps of stress."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from phloat.errors import InputError, PortError, unknown
from phloat.linear.time.march import LinearResult
from phloat.motion.ledger import Ledger
from phloat.motion.result import COMPONENTS, Result
from phloat.system.state import pieces_of
from phloat.system.stresses import von_mises
from phloat.system.units import coordinate_unit, effort_units, resultant_unit, unit_of
from phloat.view.figures import MAX_LEGEND, colour_cycle, label_text, new_figure, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Lines = Mapping[str, np.ndarray]
Point = Sequence[float] | None  # a material point, in body axes
Panel = tuple[str, dict[str, np.ndarray]]  # what is on the axis with its unit, and lines by name
PRINCIPAL = "xyz"


def plot_ledger(x: Ledger) -> Figure:
    """Energy stored, energy supplied and dissipated since the start, and the residual on a logarithmic axis."""
    figure, (top, middle, bottom) = panels([3.0, 3.0, 1.5])
    draw_lines(top, x.t, x.stored, "stored (J)")
    if len(x.stored) > 1:
        top.plot(x.t, x.energy, color="0.35", lw=2.5, alpha=0.5, label="all")
    draw_lines(middle, x.t, x.supplied, "since the start (J)")
    taken = {f"− {name}, dissipated": -line for name, line in x.dissipated.items()}
    others = colour_cycle(len(x.supplied) + len(taken))[len(x.supplied) :]
    for (name, line), colour in zip(taken.items(), others, strict=True):
        middle.plot(x.t, line, color=colour, ls="--", label=label_text(name))
    middle.plot(x.t, x.energy - x.energy[0], color="0.35", lw=2.5, alpha=0.5, label="stored")
    size = np.abs(x.residual)
    bottom.semilogy(x.t, np.where(size > 0.0, size, np.nan), color="0.2", lw=1)
    bottom.set_ylabel("|residual| (J)")
    bottom.set_title(f"largest: {x.relative:.1e} of the largest energy", fontsize=8, loc="right")
    return finish(figure, [top, middle, bottom])


def plot_result(x: Result) -> Figure:
    """The largest deformation of each body, angles and slides of joints, and energies, over time."""
    shown = {
        "deformation (m)": peak_deformations(x),
        "joint angle (rad)": _coordinates(x, angles=True),
        "joint slide (m)": _coordinates(x, angles=False),
    }
    shown = {label: lines for label, lines in shown.items() if lines} or {"position (m)": _positions(x)}
    figure, axes = panels([2.5] * (len(shown) + 1))
    for ax, (label, lines) in zip(axes, shown.items(), strict=False):
        draw_lines(ax, x.t, lines, label)
    draw_lines(axes[-1], x.t, _energies(x), "energy (J)")
    return finish(figure, axes)


def plot_linear_result(x: LinearResult) -> Figure:
    """The largest displacement of each part, and the energy stored, supplied and lost, over time."""
    moved = {}
    for name, part in x.system.fields.items():
        way = x.displacement(name)
        place, axis = np.unravel_index(int(np.abs(way).max(axis=0).argmax()), way.shape[1:])
        moved[f"{name}, {PRINCIPAL[axis]} at {_point(part.points[place])}"] = way[:, place, axis]
    figure, axes = panels([2.5, 2.5])
    draw_lines(axes[0], x.t, moved, "displacement (m)")
    since = {f"{name}, supplied": work for name, work in x.supplied.items()} | {"damping": -x.lost}
    draw_lines(
        axes[1], x.t, {name: line for name, line in since.items() if line.any()} | {"stored": x.energy}, "energy (J)"
    )
    return finish(figure, axes)


def peak_deformations(x: Result) -> dict[str, np.ndarray]:
    """The displacement of every elastic body at the place and along the axis where it is largest."""
    out = {}
    for name, body in x.system.bodies.items():
        if body.coordinates:
            field, places = x[f"{name}.u_f"], body.shape.places()
            place, axis = np.unravel_index(int(np.abs(field).max(axis=0).argmax()), field.shape[1:])
            where = f"s = {places[place]:.3g}" if np.ndim(places[place]) == 0 else _point(places[place])
            out[f"{name}, {PRINCIPAL[axis]} at {where}"] = field[:, place, axis]
    return out


def _point(x: np.ndarray) -> str:
    return f"({', '.join(f'{a:.3g}' for a in x + 0.0)})"


def _coordinates(x: Result, *, angles: bool) -> dict[str, np.ndarray]:
    return {name: line for name, line in x.coordinates.items() if ("angle" in name.rpartition(".")[2]) == angles}


def _positions(x: Result) -> dict[str, np.ndarray]:
    """r_P of all bodies."""
    r = {name: x[f"{name}.r_P"] for name in x.system.bodies}
    return {f"{name}, {PRINCIPAL[k]}": value[:, k] for name, value in r.items() for k in range(value.shape[1])}


def _energies(x: Result) -> dict[str, np.ndarray]:
    if x.accounts is None:
        return {"all": x.energy}
    parts = {part: x.accounts.bodies[:, :, k].sum(axis=1) for k, part in enumerate(COMPONENTS)}
    parts["springs"] = x.accounts.springs.sum(axis=1)
    return {name: line for name, line in parts.items() if np.any(line)} | {"all": x.energy}


def draw_lines(ax: Axes, t: np.ndarray, lines: Lines, label: str) -> None:
    for (name, line), colour in zip(lines.items(), colour_cycle(len(lines)), strict=True):
        ax.plot(t, line, color=colour, lw=1.2, label=label_text(name))
    ax.set_ylabel(label)


def finish(figure: Figure, axes: list[Axes]) -> Figure:
    axes[-1].set_xlabel("t (s)")
    for ax in axes:
        ax.grid(alpha=0.3)
        ax.margins(x=0.01)
        if 0 < len(ax.get_legend_handles_labels()[0]) <= MAX_LEGEND:
            ax.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.01, 0.5), borderaxespad=0)
    figure.align_ylabels(axes)
    return figure


# --- chosen quantities -----------------------------------------------------------------------------------------------


def plot_quantities(x: Result, names: Sequence[object], s: float | None, at: Point) -> Figure:
    """One or more panels for each name: a body (its deformation and position), a joint (its forces and coordinates), or a
    quantity of the result such as "rod.theta"."""
    chosen = [panel for name in names for panel in quantity_panels(x, name, s, at)]
    figure, axes = panels([2.5] * len(chosen))
    for ax, (label, lines) in zip(axes, chosen, strict=True):
        draw_lines(ax, x.t, lines, label)
    return finish(figure, axes)


def quantity_panels(x: Result, name: object, s: float | None = None, at: Point = None) -> list[Panel]:
    """The panels of one name."""
    bodies, joints = x.system.bodies, x.system.joints
    if not isinstance(name, str):
        raise InputError(f"{name!r} is not a name; give the name of a body, of a joint or of a quantity")
    if name in bodies or f"{name}.1" in bodies:
        return _body(x, name, s, at)
    if s is not None or at is not None:
        raise InputError(
            f"s= and at= are places of a body, and {name!r} is not one; the bodies are: {', '.join(bodies)}"
        )
    if name in joints:
        return _joint(x, name)
    owner, _, quantity = name.rpartition(".")
    if quantity == "lam" and owner in joints:
        return _forces(x, owner)
    if name in x.coordinates:
        return [(f"{_word(quantity)} ({coordinate_unit(name)})", {name: x.coordinates[name]})]
    try:
        values = x[name]
    except PortError:
        there = [*bodies, *joints, *x.system.layout, *x.coordinates]
        raise PortError(unknown("body, joint or quantity", name, there)) from None
    return [(f"{quantity} ({unit_of(quantity)})", _components(name, values))]


def _body(x: Result, name: str, s: float | None, at: Point) -> list[Panel]:
    if s is None and at is None:
        if name not in x.system.bodies:
            raise InputError(f"{name!r} is split into pieces; give a place on it: s=…")
        deformed = {key: line for key, line in peak_deformations(x).items() if key.startswith(f"{name}, ")}
        place = x[f"{name}.r_P"]
        moved = {f"{name}.r_P, {PRINCIPAL[k]}": place[:, k] for k in range(place.shape[1])}
        return [*([("deformation (m)", deformed)] if deformed else []), ("position (m)", moved)]
    where = f"s = {s:g}" if at is None else f"({', '.join(f'{float(a):g}' for a in np.ravel(at))})"
    out: list[Panel] = []
    if name in x.system.bodies and x.system.bodies[name].coordinates:
        out.append(("deformation (m)", _axes(f"{name} at {where}", x.displacement(name, s, at=at))))
    return [*out, ("position (m)", _axes(f"{name} at {where}", x.position(name, s, at=at)))]


def _joint(x: Result, name: str) -> list[Panel]:
    angles = {key: line for key, line in x.coordinates.items() if key.rpartition(".")[0] == name}
    kinds = {coordinate_unit(key): _word(key.rpartition(".")[2].split("_")[0]) for key in angles}
    moved = [
        (f"{word} ({unit})", {key: line for key, line in angles.items() if coordinate_unit(key) == unit})
        for unit, word in kinds.items()
    ]
    forces = _forces(x, name) if name in x.system.multipliers else []
    if not moved and not forces:
        raise InputError(f"joint {name!r} has no angle, slide or force to plot")
    return moved + forces


def _forces(x: Result, name: str) -> list[Panel]:
    """The multipliers λ of a joint: forces in one panel, moments in another."""
    rows, lam = x.system.joints[name].rows, x[f"{name}.lam"]
    labels, units = [row.label for row in rows], effort_units(rows)
    out = []
    for unit, word in (("N", "joint force"), ("N m", "joint moment")):
        lines = {f"{name}, {labels[k]}": lam[:, k] for k, this in enumerate(units) if this == unit}
        out += [(f"{word} ({unit})", lines)] if lines else []
    return out


def stress_panels(x: Result, name: str, s: float | None, at: Point) -> list[Panel]:
    """Stress resultants at a place of a beam, one panel for each unit; or the stress at a material point of any body."""
    if at is not None:
        found = x.stress(name, at=at)
        point = ", ".join(f"{float(a):g}" for a in np.ravel(at))
        lines = {f"{name}, {key} at ({point})": line for key, line in found.items() if np.any(line)}
        lines["von Mises"] = von_mises(np.column_stack(list(found.values())))
        return [("stress (Pa)", lines)]
    found = x.stress(name, s)
    forces = {f"{name}, {key} at s = {s:g}": line for key, line in found.items() if key[0] in "NQ"}
    moments = {f"{name}, {key} at s = {s:g}": line for key, line in found.items() if key[0] not in "NQ"}
    return [panel for panel in (("force (N)", forces), ("moment (N m)", moments)) if panel[1]]


def _components(name: str, values: np.ndarray) -> dict[str, np.ndarray]:
    """The components of a quantity; of many, those that vary most."""
    flat = values.reshape(len(values), -1)
    if values.ndim == 1:
        return {name: flat[:, 0]}
    if values.ndim == 2 and flat.shape[1] <= 3 and name.rpartition(".")[2] in ("r_P", "v_P", "omega"):
        return _axes(name, flat)
    numbers = np.sort(np.argsort(-np.ptp(flat, axis=0), kind="stable")[:MAX_LEGEND])
    marks = [tuple(map(int, np.unravel_index(k, values.shape[1:]))) for k in numbers]
    return {f"{name}[{', '.join(map(str, mark))}]": flat[:, k] for mark, k in zip(marks, numbers.tolist(), strict=True)}


def _axes(name: str, values: np.ndarray) -> dict[str, np.ndarray]:
    return {f"{name}, {PRINCIPAL[k]}": values[:, k] for k in range(values.shape[1])}


def _word(label: str) -> str:
    return "joint angle" if "angle" in label else "joint slide"


# --- stress over time ------------------------------------------------------------------------------------------------


MAX_TIMES = 2000  # columns of a map
DIVERGING = "PuOr_r"  # for all kinds of colour vision; zero is white
SMALL = 1e-9  # of the largest resultant: what counts as zero


def plot_stress(x: Result, name: str, stress: str | bool, s: float | None, at: Point) -> Figure:
    """Maps of the stress resultants over time and place; lines at one place or point; the largest stress of bodies on meshes."""
    bodies = [*pieces_of(x.system.bodies, name)] if name not in x.system.bodies else [name]
    if not bodies:
        raise InputError(unknown("body", name, x.system.bodies))
    if not x.system.bodies[bodies[0]].stresses:
        raise InputError(f"{name!r} has no stress: it is rigid")
    if s is not None or at is not None:
        chosen = stress_panels(x, name, s, at)
        figure, axes = panels([2.5] * len(chosen))
        for ax, (label, lines) in zip(axes, chosen, strict=True):
            draw_lines(ax, x.t, lines, label)
        return finish(figure, axes)
    if np.ndim(x.system.bodies[bodies[0]].shape.places()) > 1:
        return _plot_largest(x, name, stress)
    return _maps(x, name, bodies, stress)


def _maps(x: Result, name: str, bodies: list[str], stress: str | bool) -> Figure:
    few = np.unique(np.linspace(0, len(x) - 1, min(len(x), MAX_TIMES)).round().astype(int))
    place, found = resultants_along(x, bodies, few)
    shown = _nonzero(found) if stress is True else [str(stress)]
    if shown[0] not in found:
        raise InputError(unknown(f"stress resultant of {name!r},", shown[0], found))
    figure = new_figure(7.5, 2.4 * len(shown) + 0.8)
    axes = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
    for ax, key in zip(axes, shown, strict=True):
        largest = float(np.abs(found[key]).max()) or 1.0
        mesh = ax.pcolormesh(
            x.t[few], place, found[key].T, shading="nearest", cmap=DIVERGING, vmin=-largest, vmax=largest
        )
        mesh.set_rasterized(True)
        ax.set_ylabel(f"s along {label_text(name)}")
        figure.colorbar(mesh, ax=ax, label=f"{key} ({resultant_unit(key)})")
    axes[-1].set_xlabel("t (s)")
    return figure


def resultants_along(x: Result, bodies: list[str], times: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Places s along all pieces of a beam, and its resultants there by name, (times, places)."""
    places: list[np.ndarray] = []
    found: dict[str, list[np.ndarray]] = {}
    for k, piece in enumerate(bodies):
        body = x.system.bodies[piece]
        s, sigma = body.shape.places(), x[f"{piece}.sigma"][times]
        inner = np.unique(np.concatenate([s[:-1] + part * np.diff(s) for part in (0.25, 0.75)]))  # not where it jumps
        places.append((k + inner) / len(bodies))
        for key, rows in body.shape.stress(inner).items():
            found.setdefault(key, []).append(sigma @ rows.T.toarray())
    return np.concatenate(places), {key: np.hstack(parts) for key, parts in found.items()}


def _nonzero(found: dict[str, np.ndarray]) -> list[str]:
    """The resultants that are not zero, relative to the largest force or moment."""
    sizes = {key: float(np.abs(values).max()) for key, values in found.items()}
    most = {kind: max((v for k, v in sizes.items() if (k[0] in "NQ") == kind), default=0.0) for kind in (True, False)}
    return [key for key, size in sizes.items() if size > SMALL * most[key[0] in "NQ"]] or list(found)[:1]


def _plot_largest(x: Result, name: str, stress: str | bool) -> Figure:
    if stress is not True:
        raise InputError(
            f"{name!r} is on a mesh and has no places along a line; plot(result, {name!r}, stress=True) shows its largest "
            "stress, at=(x, y, z) the stress at a point"
        )
    largest, where = x.von_mises(name)
    figure, axes = panels([2.5, 2.0])
    draw_lines(axes[0], x.t, {f"{name}, largest von Mises": largest}, "stress (Pa)")
    draw_lines(axes[1], x.t, {f"where, {axis}": where[:, k] for k, axis in enumerate("xyz")}, "in body axes (m)")
    return finish(figure, axes)
