"""Figures of a system in a state, and of mode shapes: bodies as lines, surfaces and points."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial import cKDTree

from phloat.bodies.body import Body
from phloat.errors import InputError
from phloat.linear.analysis.modes import Modes
from phloat.system.connection import port_state
from phloat.system.state import State
from phloat.system.stresses import stress_field
from phloat.system.system import System, fits
from phloat.view.figures import MAX_LEGEND, colour_cycle, label_text, new_figure
from phloat.view.scene import Drawing, is_cloud, scene
from phloat.view.surfaces import as_triangles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MIN_TICKS = 0.15  # relative to the longest side of a drawing: a shorter axis has no ticks
MARGIN, MIN_HEIGHT = 0.04, 0.3  # margin and least height of a plane drawing, relative to its longest side
NEAREST_POINTS = 8  # stress points for each triangle: a cell of a plate has four on each face


def plot_modes(x: Modes, count: int = 4) -> Figure:
    """The lowest `count` elastic mode shapes, each with its largest displacement a tenth of the size of the system.

    Undeformed lines are grey; plates and solids are coloured by the size of the displacement.
    """
    from matplotlib import colormaps

    bodies = x.system.fields
    shown = elastic_modes(x)[:count]
    points = np.vstack([field.points for field in bodies.values()])
    size = float(np.ptp(points, axis=0).max())
    shapes = [{name: x.shape(k, name).real for name in bodies} for k in shown]
    largest = [max(float(np.abs(way).max()) for way in shape.values()) or 1.0 for shape in shapes]
    scales = [0.1 * size / top for top in largest]
    moved = [points + scale * np.vstack(list(shape.values())) for scale, shape in zip(scales, shapes, strict=True)]
    flat, columns = is_flat(np.vstack([points, *moved])), min(2, len(shown))
    figure, axes = new_axes(-(-len(shown) // columns), columns, flat)
    for ax, k, shape, scale, top, whole in zip(axes.flat, shown, shapes, scales, largest, moved, strict=False):
        for (name, field), colour in zip(bodies.items(), colour_cycle(len(bodies)), strict=True):
            now, label, cloud = field.points + scale * shape[name], label_text(name), is_cloud(field.points)
            if field.facets is not None:
                triangles = as_triangles(field.facets)
                far = np.linalg.norm(shape[name], axis=1)[field.facets].mean(axis=1) / top
                colours = np.tile(colormaps["viridis"](far), (len(triangles) // len(far), 1))
                draw_surface(ax, triangles, drawn_coordinates(now, flat), colours, label)
                continue
            draw_line(ax, drawn_coordinates(field.points, flat), "0.75", None, cloud=cloud, lw=1)
            draw_line(ax, drawn_coordinates(now, flat), colour, label, cloud=cloud, lw=2)
        ax.set_title(f"mode {k}: {x.omega[k]:.5g} rad/s", fontsize=9)
        frame_axes(ax, np.vstack([points, whole]), flat, above=False)
    for ax in axes.flat[len(shown) :]:
        ax.set_visible(False)
    if 1 < len(bodies) <= MAX_LEGEND:
        axes.flat[0].legend(fontsize=7)
    return figure


def elastic_modes(x: Modes) -> list[int]:
    """The indices of the elastic modes, those after the rigid ones. Raises InputError if there are none or no bodies to draw."""
    if not x.system.fields:
        raise InputError("these modes have no bodies to draw")
    if x.rigid >= len(x):
        raise InputError("there is no elastic mode to draw")
    return list(range(x.rigid, len(x)))


def plot_system(x: System, state: State, *, stress: bool = False) -> Figure:
    """The bodies of a system in a state, with dots at the joints; `stress` colours plates and solids by von Mises stress."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    state = fits(x, state)
    drawn = scene(x, state, plain=True)
    points = {name: part.at(state.pose(name)) for name, part in drawn.items()}
    everything = np.vstack(list(points.values()))
    flat = x.plane is not None or is_flat(everything)
    figure, axes = new_axes(1, 1, flat)
    ax = axes.flat[0]
    colours: dict[str, Any] = dict(zip(drawn, colour_cycle(len(drawn)), strict=True))
    if stress:
        sizes = {
            name: _facet_stress(x.bodies[name], state.pose(name).sigma, part)
            for name, part in drawn.items()
            if len(part.triangles) and x.bodies[name].stresses
        }
        if not sizes:
            raise InputError("no body is on a mesh; stress=True shades plates and solids")
        scale, shades = Normalize(0.0, max(float(size.max()) for size in sizes.values()) or 1.0), colormaps["viridis"]
        figure.colorbar(ScalarMappable(scale, shades), ax=ax, label="von Mises stress (Pa)", shrink=0.8, pad=0.12)
        colours |= {name: shades(scale(size)) for name, size in sizes.items()}
    for name, part in drawn.items():
        where, label = drawn_coordinates(points[name], flat), label_text(name)
        if len(part.triangles):
            draw_surface(ax, part.triangles, where, colours[name], label)
        else:
            draw_line(ax, where, colours[name], label, cloud=is_cloud(part.points), lw=2)
    for c in x.joints.values():
        pin = port_state(c.second if c.second.body else c.first, state).c
        ax.plot(*drawn_coordinates(pin[None], flat).T, color="k", marker="o", ms=4, mfc="w", ls="")
    if len(drawn) <= MAX_LEGEND and not stress:
        ax.legend(fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4)
    frame_axes(ax, everything, flat)
    return figure


def _facet_stress(body: Body, sigma: np.ndarray, drawn: Drawing) -> np.ndarray:
    """The von Mises stress (Pa) of each triangle: the largest at the nearest stress points, on both faces of a plate."""
    found, middles = stress_field(body, sigma), drawn.points[drawn.triangles].mean(axis=1)
    nearest = cKDTree(found.points).query(middles, k=min(NEAREST_POINTS, len(found.points)))[1]
    return np.asarray(found.von_mises[nearest.reshape(len(middles), -1)].max(axis=1))


# --- axes and bodies --------------------------------------------------------------------------------------------------


def is_flat(points: np.ndarray) -> bool:
    """Whether points (n, 3) lie in a plane z = constant, to 1e-9 m."""
    return float(np.ptp(points[:, 2])) < 1e-9


def new_axes(rows: int, columns: int, flat: bool) -> tuple[Figure, np.ndarray]:
    """A figure with rows × columns axes, of two dimensions if `flat`, else of three."""
    figure = new_figure(4.2 * columns + 0.8, 3.2 * rows + 0.4)
    axes = figure.subplots(rows, columns, squeeze=False, subplot_kw={} if flat else {"projection": "3d"})
    return figure, axes


def drawn_coordinates(points: np.ndarray, flat: bool) -> np.ndarray:
    """The coordinates of points that are drawn: x, y if `flat`, else x, y, z."""
    return points[:, :2] if flat else points


def frame_axes(ax: Any, points: np.ndarray, flat: bool, *, above: bool = True) -> None:
    """Sets limits that contain all points, equal scales and labels, without ticks on short axes; a drawing with almost the same z
    everywhere is seen from `above`."""
    low, high = points.min(axis=0), points.max(axis=0)
    longest = float((high - low).max()) or 1.0
    half = np.maximum(0.5 * (high - low) + MARGIN * longest, 0.5 * MIN_HEIGHT * longest if flat else 0.0)
    middle = 0.5 * (low + high)
    for axis, least, most in zip("xy" if flat else "xyz", middle - half, middle + half, strict=False):
        ax.set(**{f"{axis}lim": (least, most), f"{axis}label": f"{axis} (m)"})
    ax.set_aspect("equal")
    if flat:
        return
    ax.xaxis.labelpad = 20.0  # points, not over the tick labels
    for axis, share in zip("xyz", half / half.max(), strict=True):
        if share < MIN_TICKS:  # tick labels would overlap
            ax.set(**{f"{axis}ticks": [], f"{axis}label": ""})
        else:
            ax.locator_params(axis=axis, nbins=max(2, round(7 * share)))
    if above and high[2] - low[2] < MIN_TICKS * longest:
        ax.view_init(elev=60, azim=-75)  # almost flat: seen from above


def draw_surface(
    ax: Any, triangles: np.ndarray, x: np.ndarray, colours: str | np.ndarray, label: str
) -> tuple[Any, Callable[[np.ndarray], None]]:
    """Draws triangles between points x (n, 2 or 3), in one colour or one for each; returns the artist and a function that moves it
    to other points."""
    if x.shape[1] == 2:
        from matplotlib.collections import PolyCollection

        filled: Any = PolyCollection(list(x[triangles]), facecolors=colours, edgecolors="face", lw=0.2, label=label)
        ax.add_collection(filled)
        return filled, lambda y: filled.set_verts(list(y[triangles]))
    one = isinstance(colours, str)
    lines: Any = {"edgecolor": "0.3", "linewidth": 0.15}
    solid = ax.plot_trisurf(*x.T, triangles=triangles, color=colours if one else "w", label=label, **lines)
    if not one:
        solid.set_facecolor(colours)
    return solid, lambda y: solid.set_verts(y[triangles])


def draw_line(
    ax: Axes, x: np.ndarray, colour: str, label: str | None, *, cloud: bool, lw: float
) -> tuple[Any, Callable[[np.ndarray], None]]:
    """Draws a line through points x (n, 2 or 3), a dot at a single point, or dots if `cloud`; returns the artist and a function
    that moves it to other points."""
    look: dict[str, Any] = {"ls": "", "marker": ".", "ms": 2} if cloud else {"lw": lw, "solid_capstyle": "round"}
    artist: Any = ax.plot(*x.T, color=colour, label=label, **look | ({"marker": "o"} if len(x) == 1 else {}))[0]
    return artist, lambda y: artist.set_data(*y.T) if y.shape[1] == 2 else artist.set_data_3d(*y.T)
