"""What is chosen of a run, over time: bodies at their places, joints with their forces, any quantity by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from phloat.errors import InputError, PortError, unknown
from phloat.motion.result import Result
from phloat.system.stresses import von_mises
from phloat.system.units import coordinate_unit, efforts, unit_of
from phloat.view.colours import MOST_NAMED
from phloat.view.figures import panels
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
    labels, units = [label for row in rows for label in row.labels], efforts(rows)
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
