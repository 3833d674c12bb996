"""Lines over time: what a run shows at a look, and where its energy went."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from phloat.linear.time.march import LinearResult
from phloat.motion.ledger import Ledger
from phloat.motion.result import COMPONENTS, Result
from phloat.view.colours import MOST_NAMED, cycle
from phloat.view.figures import panels, spelled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
Lines = Mapping[str, np.ndarray]
PRINCIPAL = "xyz"


def plot_ledger(x: Ledger) -> Figure:
    """Energy stored, energy supplied and dissipated since the start, and on a logarithmic axis what is missing."""
    figure, (top, middle, bottom) = panels([3.0, 3.0, 1.5])
    draw_lines(top, x.t, x.stored, "stored (J)")
    if len(x.stored) > 1:
        top.plot(x.t, x.energy, color="0.35", lw=2.5, alpha=0.5, label="all")
    draw_lines(middle, x.t, x.supplied, "since the start (J)")
    taken = {f"− {name}, dissipated": -line for name, line in x.dissipated.items()}
    others = cycle(len(x.supplied) + len(taken))[len(x.supplied) :]
    for (name, line), colour in zip(taken.items(), others, strict=True):
        middle.plot(x.t, line, color=colour, ls="--", label=spelled(name))
    middle.plot(x.t, x.energy - x.energy[0], color="0.35", lw=2.5, alpha=0.5, label="stored")
    size = np.abs(x.residual)
    bottom.semilogy(x.t, np.where(size > 0.0, size, np.nan), color="0.2", lw=1)
    bottom.set_ylabel("|residual| (J)")
    bottom.set_title(f"largest: {x.relative:.1e} of the largest energy", fontsize=8, loc="right")
    return finished(figure, [top, middle, bottom])


def plot_result(x: Result) -> Figure:
    """Where each body bends most, angles and slides of joints, and energies, over time."""
    seen = {
        "deformation (m)": deformations(x),
        "joint angle (rad)": _coordinates(x, angles=True),
        "joint slide (m)": _coordinates(x, angles=False),
    }
    seen = {label: lines for label, lines in seen.items() if lines} or {"position (m)": _positions(x)}
    figure, axes = panels([2.5] * (len(seen) + 1))
    for ax, (label, lines) in zip(axes, seen.items(), strict=False):
        draw_lines(ax, x.t, lines, label)
    draw_lines(axes[-1], x.t, _energies(x), "energy (J)")
    return finished(figure, axes)


def plot_linear_result(x: LinearResult) -> Figure:
    """How far each part moves where it moves most, and the energy stored, supplied and lost, over time."""
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
    return finished(figure, axes)


def deformations(x: Result) -> dict[str, np.ndarray]:
    """Of every elastic body the displacement at the place and along the axis where it is largest in the run."""
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
    """r_P of bodies that neither bend nor turn in a joint."""
    r = {name: x[f"{name}.r_P"] for name in x.system.bodies}
    return {f"{name}, {PRINCIPAL[k]}": value[:, k] for name, value in r.items() for k in range(value.shape[1])}


def _energies(x: Result) -> dict[str, np.ndarray]:
    if x.accounts is None:
        return {"all": x.energy}
    parts = {part: x.accounts.bodies[:, :, k].sum(axis=1) for k, part in enumerate(COMPONENTS)}
    parts["springs"] = x.accounts.springs.sum(axis=1)
    return {name: line for name, line in parts.items() if np.any(line)} | {"all": x.energy}


def draw_lines(ax: Axes, t: np.ndarray, lines: Lines, label: str) -> None:
    for (name, line), colour in zip(lines.items(), cycle(len(lines)), strict=True):
        ax.plot(t, line, color=colour, lw=1.2, label=spelled(name))
    ax.set_ylabel(label)


def finished(figure: Figure, axes: list[Axes]) -> Figure:
    axes[-1].set_xlabel("t (s)")
    for ax in axes:
        ax.grid(alpha=0.3)
        ax.margins(x=0.01)
        if 0 < len(ax.get_legend_handles_labels()[0]) <= MOST_NAMED:
            ax.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.01, 0.5), borderaxespad=0)
    figure.align_ylabels(axes)
    return figure
