"""Mechanisms in a state, and mode shapes: bodies as lines, facets and points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial import cKDTree

from phloat.bodies.body import Body
from phloat.bodies.continua.continuum import facets_of
from phloat.bodies.rigid import RigidBody
from phloat.errors import InputError
from phloat.linear.analysis.modes import Modes
from phloat.system.state import State
from phloat.system.stresses import stress_field
from phloat.system.system import System, fits
from phloat.view.figures import MAX_LEGEND, colour_cycle, label_text, new_figure
from phloat.view.scene import body_drawing, is_cloud, scene_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

THIN = 0.15  # of the longest side of a drawing: a shorter axis has no numbers
NEAREST = 8  # points of stress: the four in the middle of a plate's cell, on both faces


def plot_modes(x: Modes, count: int = 4) -> Figure:
    """The lowest elastic mode shapes over the undeformed bodies, scaled to a tenth of the size of the system; plates and solids
    are shaded by how far they move."""
    from matplotlib import colormaps

    bodies = x.system.fields
    if not bodies:
        raise InputError("these modes have no bodies to draw")
    shown = range(x.rigid, min(x.rigid + count, len(x)))
    if not len(shown):
        raise InputError("there is no elastic mode to draw")
    points = np.vstack([f.points for f in bodies.values()])
    size = float(np.ptp(points, axis=0).max())
    flat = is_flat(points, np.vstack([x.shape(k, name) for k in shown for name in bodies]))
    columns = min(2, len(shown))
    figure, axes = new_axes(-(-len(shown) // columns), columns, flat)
    for ax, k in zip(axes.flat, shown, strict=False):
        largest = max(float(np.abs(x.shape(k, name)).max()) for name in bodies) or 1.0
        for (name, field), colour in zip(bodies.items(), colour_cycle(len(bodies)), strict=True):
            moved = field.points + 0.1 * size / largest * x.shape(k, name)
            cloud, mark = is_cloud(field.points), "o" if len(moved) == 1 else None
            if field.facets is not None:
                far = np.linalg.norm(x.shape(k, name), axis=1)[field.facets].mean(axis=1) / largest
                draw_facets(ax, plot_points(moved, flat), field.facets, colormaps["viridis"](far), label_text(name))
                continue
            draw_points(ax, plot_points(field.points, flat), "0.75", None, cloud=cloud, lw=1)
            draw_points(ax, plot_points(moved, flat), colour, label_text(name), cloud=cloud, lw=2, marker=mark)
        ax.set_title(f"mode {k}: {x.omega[k]:.5g} rad/s", fontsize=9)
        label_axes(ax, flat)
    for ax in axes.flat[len(shown) :]:
        ax.set_visible(False)
    if 1 < len(bodies) <= MAX_LEGEND:
        axes.flat[0].legend(fontsize=7)
    return figure


def plot_system(x: System, state: State, *, stress: bool = False) -> Figure:
    """The bodies of a system in a state, with dots at the joints; `stress` shades plates and solids."""
    state, lines = fits(x, state), {}
    size = scene_size(x, state)
    blocks = {name: body_drawing(body, size) for name, body in x.bodies.items() if isinstance(body.recipe, RigidBody)}
    for name, body in x.bodies.items():
        pose, places = state.pose(name), body.shape.places()
        y = body.shape.points(places) + (body.shape.displacement(places) @ pose.eta).reshape(-1, 3)
        lines[name] = blocks[name].at(pose) if name in blocks else pose.r_P + y @ pose.A.T
    points = np.vstack(list(lines.values()))
    flat = x.plane is not None or is_flat(points, np.zeros((1, 3)))
    figure, axes = new_axes(1, 1, flat)
    ax = axes.flat[0]
    corners = {name: found for name, body in x.bodies.items() if (found := facets_of(body)) is not None}
    shades = _stress_colours(figure, ax, x, state, corners) if stress else {}
    corners |= {name: block.triangles for name, block in blocks.items()}
    for (name, line), colour in zip(lines.items(), colour_cycle(len(lines)), strict=True):
        if name in corners:
            lined = name not in blocks
            draw_facets(
                ax, plot_points(line, flat), corners[name], shades.get(name, colour), label_text(name), lined=lined
            )
        else:
            shape, mark = x.bodies[name].shape, "s" if len(line) == 1 else None
            cloud = is_cloud(shape.points(shape.places()))
            draw_points(ax, plot_points(line, flat), colour, label_text(name), cloud=cloud, lw=2, marker=mark)
    for c in x.joints.values():
        end = c.second if c.second.body else c.first
        pose, port = state.pose(end.body), x.bodies[end.body].port(end.port)
        at = pose.r_P + pose.A @ (port.x + port.Phi @ pose.eta)
        ax.plot(*plot_points(at[None], flat).T, color="k", marker="o", ms=4, mfc="w", ls="")
    if len(lines) <= MAX_LEGEND and not shades:
        ax.legend(fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4)
    label_axes(ax, flat)
    if not flat and np.ptp(points[:, 2]) < THIN * np.ptp(points, axis=0).max():
        ax.view_init(elev=60, azim=-75)  # almost flat: seen from above
    return figure


def _stress_colours(
    figure: Figure, ax: Axes, x: System, state: State, corners: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Colours of the facets of bodies on meshes by their von Mises stress, on one scale; adds a colour bar."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    sigma = {name: state.e[state.layout[f"{name}.sigma"]] for name in corners if x.bodies[name].stresses}
    if not sigma:
        raise InputError("no body is on a mesh; stress=True shades plates and solids")
    values = {name: facet_stress(x.bodies[name], s, corners[name]) for name, s in sigma.items()}
    scale, colours = Normalize(0.0, max(float(v.max()) for v in values.values()) or 1.0), colormaps["viridis"]
    figure.colorbar(ScalarMappable(scale, colours), ax=ax, label="von Mises stress (Pa)", shrink=0.8, pad=0.12)
    return {name: colours(scale(value)) for name, value in values.items()}


def is_flat(points: np.ndarray, motion: np.ndarray) -> bool:
    """Whether points and motion lie in a plane z = constant."""
    return float(np.ptp(points[:, 2])) < 1e-9 and float(np.abs(motion[:, 2]).max()) < 1e-9 * np.abs(motion).max(
        initial=1.0
    )


def new_axes(rows: int, columns: int, flat: bool) -> tuple[Figure, np.ndarray]:
    """A figure with axes in the plane or in space."""
    figure = new_figure(4.2 * columns + 0.8, 3.2 * rows + 0.4)
    axes = figure.subplots(rows, columns, squeeze=False, subplot_kw={} if flat else {"projection": "3d"})
    return figure, axes


def plot_points(points: np.ndarray, flat: bool) -> np.ndarray:
    """The coordinates of points that are drawn, (points, 2 or 3)."""
    return points[:, :2] if flat else points


def label_axes(ax: Any, flat: bool) -> None:
    """Sets equal scales and labels, without numbers on short axes."""
    ax.set_aspect("equal")
    ax.set(xlabel="x (m)", ylabel="y (m)")
    if flat:
        return
    ax.set_zlabel("z (m)")
    ax.xaxis.labelpad = 20.0  # clear of the numbers
    spans = {axis: float(np.ptp(getattr(ax, f"get_{axis}lim")())) for axis in ("x", "y", "z")}
    for axis, span in spans.items():
        share = span / max(spans.values())
        if share < THIN:  # no room for numbers
            getattr(ax, f"set_{axis}ticks")([])
            getattr(ax, f"set_{axis}label")("")
        else:
            ax.locator_params(axis=axis, nbins=max(2, round(7 * share)))


# --- one body --------------------------------------------------------------------------------------------------------


def facet_stress(body: Body, sigma: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """The largest von Mises stress at the points of stress nearest to each facet, on both faces of a plate."""
    field = stress_field(body, sigma)
    middles = body.shape.points(body.shape.places())[corners].mean(axis=1)
    nearest = cKDTree(field.points).query(middles, k=min(NEAREST, len(field.points)))[1]
    return field.von_mises[nearest.reshape(len(middles), -1)].max(axis=1)


def draw_facets(
    ax: Any, points: np.ndarray, corners: np.ndarray, colours: str | np.ndarray, label: str, *, lined: bool = True
) -> None:
    """Draws facets, in one colour or each in its own, with lines between them; points (places, 2 or 3)."""
    triangles = corners if corners.shape[1] == 3 else np.vstack([corners[:, :3], corners[:, [2, 3, 0]]])
    if points.shape[1] == 2:
        from matplotlib.collections import PolyCollection

        lines: Any = {"edgecolors": "0.4" if lined else colours, "linewidths": 0.2}
        drawn = PolyCollection(list(points[corners]), facecolors=colours, label=label, **lines)
        ax.add_collection(drawn)
        ax.autoscale_view()
    else:
        drawn = ax.plot_trisurf(
            *points.T, triangles=triangles, color=colours if isinstance(colours, str) else "w", label=label
        )
        if not isinstance(colours, str):
            drawn.set_facecolor(np.tile(colours, (len(triangles) // len(corners), 1)))


def draw_points(ax: Axes, points: np.ndarray, colour: str, label: str | None, *, cloud: bool, **line: Any) -> None:
    """Draws a line along the points, a mark for a single one, dots for nodes of a mesh."""
    if cloud:
        ax.plot(*points.T, color=colour, ls="", marker=".", ms=2, label=label)
    else:
        ax.plot(*points.T, color=colour, label=label, **line)
