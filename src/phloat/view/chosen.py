"""What is chosen of a run, over time: bodies at their places, joints with their forces, any quantity by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from phloat.errors import InputError, PortError, unknown
from phloat.motion.result import Result
from phloat.system.pieces import pieces_of
from phloat.system.stresses import von_mises
from phloat.system.units import coordinate_unit, efforts, resultant_unit, unit_of
from phloat.view.colours import MOST_NAMED
from phloat.view.figures import new_figure, panels, spelled
from phloat.view.over_time import PRINCIPAL, deformations, draw_lines, finished

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Point = Sequence[float] | None  # a material point, in body axes
Panel = tuple[str, dict[str, np.ndarray]]  # what is on the axis with its unit, and lines by name


def plot_chosen(x: Result, names: Sequence[object], s: float | None, at: Point) -> Figure:
    """A panel, or several, for each name: a body (its deformation and where it is), a joint (its forces and coordinates), a
    quantity of the result such as "rod.theta"."""
    chosen = [panel for name in names for panel in panels_of(x, name, s, at)]
    figure, axes = panels([2.5] * len(chosen))
    for ax, (label, lines) in zip(axes, chosen, strict=True):
        draw_lines(ax, x.t, lines, label)
    return finished(figure, axes)


def panels_of(x: Result, name: object, s: float | None = None, at: Point = None) -> list[Panel]:
    """What there is to see of one name."""
    bodies, joints = x.system.bodies, x.system.joints
    if not isinstance(name, str):
        raise InputError(f"{name!r} names nothing to draw; give the name of a body, of a joint or of a quantity")
    if name in bodies or f"{name}.1" in bodies:
        return _body(x, name, s, at)
    if s is not None or at is not None:
        raise InputError(f"s= and at= are places of a body, and {name!r} is none; there are: {', '.join(bodies)}")
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
            raise InputError(f"{name!r} is split into pieces; say which place of it: s=…")
        bent = {key: line for key, line in deformations(x).items() if key.startswith(f"{name}, ")}
        place = x[f"{name}.r_P"]
        moved = {f"{name}.r_P, {PRINCIPAL[k]}": place[:, k] for k in range(place.shape[1])}
        return [*([("deformation (m)", bent)] if bent else []), ("position (m)", moved)]
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
        raise InputError(f"joint {name!r} has no angle, no slide and no force to draw")
    return moved + forces


def _forces(x: Result, name: str) -> list[Panel]:
    """λ of the rows of a joint: forces in one panel, moments in another."""
    rows, lam = x.system.joints[name].rows, x[f"{name}.lam"]
    labels, units = [row.label for row in rows], efforts(rows)
    out = []
    for unit, word in (("N", "joint force"), ("N m", "joint moment")):
        lines = {f"{name}, {labels[k]}": lam[:, k] for k, this in enumerate(units) if this == unit}
        out += [(f"{word} ({unit})", lines)] if lines else []
    return out


def stress_at(x: Result, name: str, s: float | None, at: Point) -> list[Panel]:
    """Resultants at a place of a beam, one panel a unit; or the stress at a material point of any body."""
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
    """Lines of one quantity, those that move most where there are many."""
    flat = values.reshape(len(values), -1)
    if values.ndim == 1:
        return {name: flat[:, 0]}
    if values.ndim == 2 and flat.shape[1] <= 3 and name.rpartition(".")[2] in ("r_P", "v_P", "omega"):
        return _axes(name, flat)
    numbers = np.sort(np.argsort(-np.ptp(flat, axis=0), kind="stable")[:MOST_NAMED])
    marks = [tuple(map(int, np.unravel_index(k, values.shape[1:]))) for k in numbers]
    return {f"{name}[{', '.join(map(str, mark))}]": flat[:, k] for mark, k in zip(marks, numbers.tolist(), strict=True)}


def _axes(name: str, values: np.ndarray) -> dict[str, np.ndarray]:
    return {f"{name}, {PRINCIPAL[k]}": values[:, k] for k in range(values.shape[1])}


def _word(label: str) -> str:
    return "joint angle" if "angle" in label else "joint slide"


# --- stress over time ------------------------------------------------------------------------------------------------
#
# Stress along a body over time, as a map; of bodies on meshes, where it is largest.


MOST_TIMES = 2000  # columns of a map: more than a screen shows
DIVERGING = "PuOr_r"  # told apart by everybody; zero is white
SMALL = 1e-9  # of the largest resultant: what counts as none


def plot_stress(x: Result, name: str, stress: str | bool, s: float | None, at: Point) -> Figure:
    """Maps of the stress resultants over time and place; at one place or point, lines."""
    bodies = [*pieces_of(x.system.bodies, name)] if name not in x.system.bodies else [name]
    if not bodies:
        raise InputError(unknown("body", name, x.system.bodies))
    if not x.system.bodies[bodies[0]].stresses:
        raise InputError(f"{name!r} has no stress: it is rigid")
    if s is not None or at is not None:
        chosen = stress_at(x, name, s, at)
        figure, axes = panels([2.5] * len(chosen))
        for ax, (label, lines) in zip(axes, chosen, strict=True):
            draw_lines(ax, x.t, lines, label)
        return finished(figure, axes)
    if np.ndim(x.system.bodies[bodies[0]].shape.places()) > 1:
        return _largest(x, name, stress)
    return _maps(x, name, bodies, stress)


def _maps(x: Result, name: str, bodies: list[str], stress: str | bool) -> Figure:
    few = np.unique(np.linspace(0, len(x) - 1, min(len(x), MOST_TIMES)).round().astype(int))
    place, found = along(x, bodies, few)
    wanted = _wanted(found) if stress is True else [str(stress)]
    if wanted[0] not in found:
        raise InputError(unknown(f"stress resultant of {name!r},", wanted[0], found))
    figure = new_figure(7.5, 2.4 * len(wanted) + 0.8)
    axes = figure.subplots(len(wanted), 1, sharex=True, squeeze=False)[:, 0]
    for ax, key in zip(axes, wanted, strict=True):
        largest = float(np.abs(found[key]).max()) or 1.0
        mesh = ax.pcolormesh(
            x.t[few], place, found[key].T, shading="nearest", cmap=DIVERGING, vmin=-largest, vmax=largest
        )
        mesh.set_rasterized(True)
        ax.set_ylabel(f"s along {spelled(name)}")
        figure.colorbar(mesh, ax=ax, label=f"{key} ({resultant_unit(key)})")
    axes[-1].set_xlabel("t (s)")
    return figure


def along(x: Result, bodies: list[str], times: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Places s over all pieces of a beam, and its resultants there by name, (times, places)."""
    places: list[np.ndarray] = []
    found: dict[str, list[np.ndarray]] = {}
    for k, piece in enumerate(bodies):
        body = x.system.bodies[piece]
        s, sigma = body.shape.places(), x[f"{piece}.sigma"][times]
        inner = np.unique(
            np.concatenate([s[:-1] + part * np.diff(s) for part in (0.25, 0.75)])
        )  # no place where it jumps
        places.append((k + inner) / len(bodies))
        for key, rows in body.shape.stress(inner).items():
            found.setdefault(key, []).append(sigma @ rows.T.toarray())
    return np.concatenate(places), {key: np.hstack(parts) for key, parts in found.items()}


def _wanted(found: dict[str, np.ndarray]) -> list[str]:
    """Resultants that are there at all; forces beside forces, moments beside moments."""
    sizes = {key: float(np.abs(values).max()) for key, values in found.items()}
    most = {kind: max((v for k, v in sizes.items() if (k[0] in "NQ") == kind), default=0.0) for kind in (True, False)}
    return [key for key, size in sizes.items() if size > SMALL * most[key[0] in "NQ"]] or list(found)[:1]


def _largest(x: Result, name: str, stress: str | bool) -> Figure:
    if stress is not True:
        raise InputError(
            f"{name!r} lies on a mesh, and has no places along a line; plot(result, {name!r}, stress=True) shows its largest "
            "stress, at=(x, y, z) that at a point"
        )
    largest, where = x.von_mises(name)
    figure, axes = panels([2.5, 2.0])
    draw_lines(axes[0], x.t, {f"{name}, largest von Mises": largest}, "stress (Pa)")
    draw_lines(axes[1], x.t, {f"where, {axis}": where[:, k] for k, axis in enumerate("xyz")}, "in body axes (m)")
    return finished(figure, axes)
