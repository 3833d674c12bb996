"""Figures of a system in a state, and films of runs: bodies as lines, surfaces and points."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial import cKDTree

from phloat.bodies.body import Body
from phloat.errors import InputError, not_negative, positive, require_folder
from phloat.motion.result import Result, at_times
from phloat.system.connection import port_state
from phloat.system.joint_rows import joint_coordinates
from phloat.system.state import Pose, State
from phloat.system.stresses import stress_field
from phloat.system.system import System, fits
from phloat.view.figures import MAX_LEGEND, colour_cycle, label_text, new_figure, prefixed_unit, require_package
from phloat.view.scene import Drawing, body_motion, is_cloud, rails, scene, scene_size

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Move = Callable[[np.ndarray], None]  # moves what was drawn to other points (n, 2 or 3)

MIN_TICKS = 0.15  # relative to the longest side of a drawing: a shorter axis has no ticks
FITTED, LABEL_STEP = 10, 4.0  # drafts of a drawing in space at most; points by which a label is moved in each
MARGIN, MIN_HEIGHT = 0.04, 0.3  # margin and least height of a plane drawing, relative to its longest side
NEAREST_POINTS = 8  # stress points for each triangle: a cell of a plate has four on each face
DURATION = 8.0  # seconds of a film, unless the run lasts between the two times REAL_TIME: then it plays in real time
REAL_TIME = (2.0, 20.0)
MAX_FRAMES = 5000
WIDTH, HEIGHT = 7.0, 5.0  # inches
RAIL = "0.45"  # the colour of rails
DPI = 100  # width and height in pixels must be even for mp4


def plot_system(x: System, state: State, *, stress: bool = False) -> Figure:
    """The bodies of a system in a state, with dots at the joints and lines along the slides; `stress` colours plates and solids by
    von Mises stress."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    state = fits(x, state)
    drawn = scene(x, state, plain=True)
    points = {name: part.at(state.pose(name)) for name, part in drawn.items()}
    coordinates = {name: np.array(value) for name, value in joint_coordinates(x, state).items()}
    ways = rail_points(x, coordinates, scene_size(x, state), state.pose)
    everything = np.vstack([*points.values(), *ways])
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
        largest = max(float(size.max()) for size in sizes.values()) or 1.0
        factor, unit = prefixed_unit(largest, "Pa")
        scale, shades = Normalize(0.0, largest / factor), colormaps["viridis"]
        figure.colorbar(ScalarMappable(scale, shades), ax=ax, label=f"von Mises stress ({unit})", shrink=0.8, pad=0.12)
        colours |= {name: shades(scale(size / factor)) for name, size in sizes.items()}
    for name, part in drawn.items():
        draw_body(ax, part, drawn_coordinates(points[name], flat), colours[name], label_text(name), lw=2)
    for way in ways:
        draw_line(ax, drawn_coordinates(way, flat), RAIL, None, cloud=False, lw=1)
    for c in x.joints.values():
        pin = port_state(c.second if c.second.body else c.first, state).c
        ax.plot(*drawn_coordinates(pin[None], flat).T, color="k", marker="o", ms=4, mfc="w", ls="")
    if len(drawn) <= MAX_LEGEND and not stress:
        ax.legend(fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4)
    frame_axes(ax, everything, flat)
    if not flat:
        fit_box(figure, ax)
    return figure


def _facet_stress(body: Body, sigma: np.ndarray, drawn: Drawing) -> np.ndarray:
    """The von Mises stress (Pa) of each triangle: the largest at the nearest stress points, on both faces of a plate."""
    found, middles = stress_field(body, sigma), drawn.points[drawn.triangles].mean(axis=1)
    nearest = cKDTree(found.points).query(middles, k=min(NEAREST_POINTS, len(found.points)))[1]
    return np.asarray(found.von_mises[nearest.reshape(len(middles), -1)].max(axis=1))


def rail_points(
    x: System, coordinates: Mapping[str, np.ndarray], size: float, pose: Callable[[str], Pose], magnified: float = 1.0
) -> list[np.ndarray]:
    """The two ends of the rail of each slide, (…, 2, 3), where its body has this pose (or, over time, this motion)."""
    found = rails(x, coordinates, size).values()
    return [rail.at(pose(body), magnified) if body else rail.points for body, rail in found]


# --- axes and bodies --------------------------------------------------------------------------------------------------


def is_flat(points: np.ndarray) -> bool:
    """Whether points (n, 3) lie in a plane z = constant, to 1e-9 m."""
    return float(np.ptp(points[:, 2])) < 1e-9


def new_axes(rows: int, columns: int, flat: bool) -> tuple[Figure, np.ndarray]:
    """A figure with rows × columns axes, of two dimensions if `flat`, else of three."""
    figure = new_figure((4.2 if flat else 5.0) * columns + 0.8, (3.2 if flat else 4.2) * rows + 0.4)
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
    if flat:
        ax.set_aspect("equal")
        return
    ax.set_box_aspect(half)
    ax.tick_params(labelsize=8)
    for axis, share in zip("xyz", half / half.max(), strict=True):
        if share < MIN_TICKS:  # tick labels would overlap
            ax.set(**{f"{axis}ticks": [], f"{axis}label": ""})
        else:
            ax.locator_params(axis=axis, nbins=max(2, round(6 * share)))
    if above and high[2] - low[2] < MIN_TICKS * longest:
        ax.view_init(elev=60, azim=-75)  # almost flat: seen from above


def fit_box(figure: Figure, ax: Any) -> None:
    """Scales the box of an axes in space until it fills its part of the figure with its labels; moves labels away from those of
    ticks, and leaves out ticks that overlap."""
    axes, zoom = {name: getattr(ax, f"{name}axis") for name in "xyz"}, 1.0
    limits = np.array([axis.get_view_interval() for axis in axes.values()])
    corners = np.array([(*corner, 1.0) for corner in product(*limits)])
    for _ in range(FITTED):
        figure.draw_without_rendering()
        ticks = {name: [tick.label1.get_window_extent() for tick in _drawn_ticks(axis)] for name, axis in axes.items()}
        labels = {
            name: axis.label.get_window_extent().padded(3.0) for name, axis in axes.items() if axis.label.get_text()
        }
        clear = True
        for name, label in labels.items():
            others = [box for key, boxes in ticks.items() for box in boxes if key != name]
            if any(label.overlaps(box) for box in [*others, *ticks[name]]):
                axes[name].labelpad, clear = axes[name].labelpad + LABEL_STEP, False
            crowded = [a for a, b in pairwise(ticks[name]) if a.overlaps(b)]
            if len(ticks[name]) > 2 and (crowded or any(a.overlaps(b) for a in ticks[name] for b in others)):
                ax.locator_params(axis=name, nbins=len(ticks[name]) - 2)
                clear = False
        x, y, _, w = ax.get_proj() @ corners.T
        texts = [box.get_points() for box in [*labels.values(), *(box for boxes in ticks.values() for box in boxes)]]
        drawn = np.vstack([ax.transData.transform(np.column_stack([x / w, y / w])), *texts])
        part = ax.get_position().transformed(figure.transFigure).get_points()
        grown = float((0.5 * np.ptp(part, axis=0) / np.abs(drawn - part.mean(axis=0)).max(axis=0)).min())
        if clear and abs(grown - 1.0) < 0.03:
            return
        zoom *= grown
        ax.set_box_aspect(np.ptp(limits, axis=1), zoom=zoom)


def _drawn_ticks(axis: Any) -> list[Any]:
    """The ticks of an axis that are drawn: those within its limits."""
    low, high = sorted(axis.get_view_interval())
    return [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high and tick.label1.get_text()]


def draw_body(ax: Any, part: Drawing, x: np.ndarray, colours: Any, label: str, *, lw: float) -> tuple[Any, Move]:
    """Draws the triangles of a body between points x (n, 2 or 3), or its line; returns what `draw_surface` and `draw_line` do."""
    if len(part.triangles):
        return draw_surface(ax, part.triangles, x, colours, label)
    return draw_line(ax, x, colours, label, cloud=is_cloud(part.points), lw=lw)


def draw_surface(ax: Any, triangles: np.ndarray, x: np.ndarray, colours: Any, label: str) -> tuple[Any, Move]:
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


def draw_line(ax: Any, x: np.ndarray, colour: str, label: str | None, *, cloud: bool, lw: float) -> tuple[Any, Move]:
    """Draws a line through points x (n, 2 or 3), a dot at a single point, or dots if `cloud`; returns the artist and a function
    that moves it to other points."""
    look: dict[str, Any] = {"ls": "", "marker": ".", "ms": 2} if cloud else {"lw": lw, "solid_capstyle": "round"}
    artist: Any = ax.plot(*x.T, color=colour, label=label, **look | ({"marker": "o"} if len(x) == 1 else {}))[0]
    return artist, lambda y: artist.set_data(*y.T) if y.shape[1] == 2 else artist.set_data_3d(*y.T)


# --- films ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Film:
    """The frames of a run: times (s), and the points of every body and the ends of all rails at these times, (frames, points, 3),
    in inertial axes."""

    t: np.ndarray
    points: dict[str, np.ndarray]
    rails: list[np.ndarray]
    drawn: dict[str, Drawing]
    speed: float
    flat: bool  # whether all points lie in the plane xy


def animate(
    result: Result, path: str | Path, *, speed: float | None = None, fps: float = 25.0, magnify: float = 1.0
) -> Path:
    """Writes an animation of the motion, as .gif or .mp4.

    `speed` 1 is real time, 0.1 ten times slower; by default runs of 2 to 20 s play in real time, others in 8 s. `magnify`
    enlarges the deformation of the bodies.
    """
    require_package("matplotlib", "animate")
    where = Path(path)
    suffix = where.suffix.lower()
    if suffix not in (".gif", ".mp4"):
        raise InputError(f"{where.name!r} is not an animation; its name must end in .gif or .mp4")
    require_folder(where)
    if suffix == ".mp4":
        require_package("imageio_ffmpeg", "animate to .mp4")
    film = film_frames(result, speed=speed, fps=fps, magnify=magnify)
    _, frame = frame_renderer(film)
    write = _write_gif if suffix == ".gif" else _write_mp4
    write(where, map(frame, range(len(film.t))), float(fps))
    return where


def film_frames(result: Result, *, speed: float | None, fps: float, magnify: float) -> Film:
    """The times of the frames, and all points at these times. Raises InputError if there would be more than MAX_FRAMES."""
    if not isinstance(result, Result):
        raise InputError(f"{type(result).__name__} is not a Result; simulate(…) makes one")
    duration, rate, scale = float(result.t[-1] - result.t[0]), positive("fps", fps), not_negative("magnify", magnify)
    if not duration:
        raise InputError("the run has only one time")
    if speed is None:
        speed = 1.0 if REAL_TIME[0] <= duration <= REAL_TIME[1] else duration / DURATION
    count = int(np.floor(duration / positive("speed", speed) * rate * (1 + 1e-12))) + 1
    if count > MAX_FRAMES:
        raise InputError(
            f"a film of {count} frames is too long (at most {MAX_FRAMES}); try speed={2 * speed:g} or fewer fps"
        )
    t = np.minimum(result.t[0] + speed / rate * np.arange(count), result.t[-1])
    drawn, shown = scene(result.system, result.state(0), plain=True), at_times(result, t)
    every = np.arange(count)
    moves = {name: body_motion(shown, name, every) for name in drawn}
    points = {name: part.at(moves[name], scale) for name, part in drawn.items()}
    size = scene_size(result.system, result.state(0))
    ways = rail_points(result.system, shown.coordinates, size, moves.__getitem__, scale)
    ways = [np.broadcast_to(way, (count, 2, 3)) for way in ways]
    flat = result.system.plane is not None or is_flat(np.vstack([x.reshape(-1, 3) for x in points.values()]))
    return Film(t, points, ways, drawn, speed, flat)


def frame_renderer(film: Film) -> tuple[Figure, Callable[[int], np.ndarray]]:
    """The figure of a film, and a function that draws the k-th frame and returns its pixels, (height, width, 4)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    flat, figure = film.flat, new_figure(WIDTH, HEIGHT)
    figure.set_dpi(DPI)
    canvas = FigureCanvasAgg(figure)
    ax: Any = figure.subplots(subplot_kw={} if flat else {"projection": "3d"})
    artists: dict[str, tuple[Any, Move]] = {}
    for (name, part), colour in zip(film.drawn.items(), colour_cycle(len(film.drawn)), strict=True):
        x = drawn_coordinates(film.points[name][0], flat)
        artists[name] = draw_body(ax, part, x, colour, label_text(name), lw=2.5)
    lines = [draw_line(ax, drawn_coordinates(way[0], flat), RAIL, None, cloud=False, lw=1) for way in film.rails]
    clock = figure.text(0.02, 0.98, "", fontsize=9, va="top", family="monospace")
    frame_axes(ax, np.vstack([x.reshape(-1, 3) for x in [*film.points.values(), *film.rails]]), flat)
    if len(artists) <= MAX_LEGEND and flat:
        figure.legend(loc="outside lower center", ncols=4, fontsize=8)
    elif len(artists) <= MAX_LEGEND:
        ax.legend(loc="upper right", fontsize=8)
    slow = f"{film.speed:.3g} × real time" if film.speed != 1.0 else "real time"
    moving = [*(artist for artist, _ in [*artists.values(), *lines]), clock] if flat else []
    for artist in moving:
        artist.set_animated(True)  # redrawn over the saved background; in space everything is redrawn, by depth
    figure.set_layout_engine("constrained", rect=(0.0, 0.0, 1.0, 0.94))  # the time is written above the axes
    canvas.draw()
    figure.set_layout_engine("none")  # the axes stay where they are in all frames
    background = canvas.copy_from_bbox(figure.bbox)

    def frame(k: int) -> np.ndarray:
        """Moves all bodies to the k-th time and returns the pixels."""
        for name, (_, move) in artists.items():
            move(drawn_coordinates(film.points[name][k], flat))
        for (_, move), way in zip(lines, film.rails, strict=True):
            move(drawn_coordinates(way[k], flat))
        clock.set_text(f"t = {film.t[k]:.4f} s   ({slow})")
        if flat:
            canvas.restore_region(background)
            for artist in moving:
                figure.draw_artist(artist)
        else:
            canvas.draw()
        return np.array(canvas.buffer_rgba())

    return figure, frame


def _write_gif(path: Path, frames: Iterator[np.ndarray], fps: float) -> None:
    """Writes frames as a GIF of 128 colours that repeats."""
    from PIL import Image  # a dependency of matplotlib

    images = (Image.fromarray(frame[:, :, :3]).quantize(128, Image.Quantize.FASTOCTREE) for frame in frames)
    next(images).save(path, save_all=True, append_images=images, duration=round(1000.0 / fps), loop=0)


def _write_mp4(path: Path, frames: Iterator[np.ndarray], fps: float) -> None:
    """Writes frames as MP4 with ffmpeg (package imageio-ffmpeg)."""
    from imageio_ffmpeg import write_frames

    size = round(WIDTH * DPI), round(HEIGHT * DPI)
    film = write_frames(str(path), size, pix_fmt_in="rgba", fps=fps, macro_block_size=2)
    film.send(None)
    for frame in frames:
        film.send(frame)
    film.close()
