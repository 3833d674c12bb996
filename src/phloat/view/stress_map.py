"""Stress along a body over time, as a map; of bodies on meshes, where it is largest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phloat.errors import InputError, unknown
from phloat.motion.result import Result
from phloat.system.pieces import pieces_of
from phloat.system.units import resultant_unit
from phloat.view.chosen import Point, stress_at
from phloat.view.figures import new_figure, panels, spelled
from phloat.view.over_time import draw_lines, finished

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
