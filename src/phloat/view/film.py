"""Animations of a run: animate(result, "run.gif") or "run.mp4" (extra `plot`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from phloat.errors import InputError, not_negative, positive
from phloat.motion.result import Result
from phloat.system.state import State
from phloat.view.figures import MAX_LEGEND, colour_cycle, label_text, new_figure, require_package
from phloat.view.mechanism import THIN, is_flat, label_axes, plot_points
from phloat.view.scene import Drawing, scene

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DURATION, REAL_TIME = 8.0, (2.0, 20.0)  # seconds of a film; runs that last between these play in real time
MAX_FRAMES = 5000
WIDTH, HEIGHT = 7.0, 5.0  # inches
DPI = 100  # an even number of pixels, as mp4 needs it
FILLED = ("plate", "solid", "rigid")  # drawn as surfaces; beams as lines, masses and nodes as points


@dataclass(frozen=True, eq=False)
class Film:
    """The frames of a run: times, and the points of every body at these times, (frames, points, 3)."""

    t: np.ndarray
    points: dict[str, np.ndarray]
    drawn: dict[str, Drawing]
    speed: float
    flat: bool  # in a plane


def animate(
    result: Result, path: str | Path, *, speed: float | None = None, fps: float = 25.0, magnify: float = 1.0
) -> Path:
    """Writes an animation of the motion, as .gif or .mp4.

    `speed` 1 is real time, 0.1 ten times slower; by default runs of 2 to 20 s play in real time, others in 8 s. `magnify`
    enlarges the deformation of the bodies.
    """
    require_package("matplotlib", "animate")
    where = _require_path(path)
    film = film_frames(result, speed=speed, fps=fps, magnify=magnify)
    _, frame = stage(film)
    write = _gif if where.suffix.lower() == ".gif" else _mp4
    write(where, (frame(k) for k in range(len(film.t))), float(fps))
    return where


def film_frames(result: Result, *, speed: float | None, fps: float, magnify: float) -> Film:
    """The frames of a film."""
    if not isinstance(result, Result):
        raise InputError(f"{type(result).__name__} is not a Result; simulate(…) makes one")
    duration, rate, larger = float(result.t[-1] - result.t[0]), positive("fps", fps), not_negative("magnify", magnify)
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
    drawn = scene(result.system, result.state(0))
    states = [result.at(time) for time in t]
    points = {name: np.array([_points(state, name, part, larger) for state in states]) for name, part in drawn.items()}
    return Film(t, points, drawn, speed, result.system.plane is not None)


def _points(state: State, name: str, part: Drawing, magnify: float) -> np.ndarray:
    pose, shape = state.pose(name), state.bodies[name].shape
    if part.kind in FILLED:
        return part.at(pose, magnify)
    places = shape.places()
    y = shape.points(places) + magnify * (shape.displacement(places) @ pose.eta).reshape(-1, 3)
    return np.asarray(pose.r_P + y @ pose.A.T)


# --- drawing ---------------------------------------------------------------------------------------------------------


def stage(film: Film) -> tuple[Figure, Callable[[int], np.ndarray]]:
    """The figure of a film, and a function that draws the k-th frame and returns its pixels, (height, width, 4)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    everything = np.vstack([x.reshape(-1, 3) for x in film.points.values()])
    flat = film.flat or is_flat(everything, np.zeros((1, 3)))
    figure = new_figure(WIDTH, HEIGHT)
    figure.set_dpi(DPI)
    canvas = FigureCanvasAgg(figure)
    ax: Any = figure.subplots(subplot_kw={} if flat else {"projection": "3d"})
    artists = {
        name: _artist(ax, film.drawn[name], plot_points(film.points[name][0], flat), colour, label_text(name))
        for name, colour in zip(film.points, colour_cycle(len(film.points)), strict=True)
    }
    clock = figure.text(0.02, 0.98, "", fontsize=9, va="top", family="monospace")
    _set_limits(ax, everything, flat, legend=len(artists) <= MAX_LEGEND)
    slow = f"{film.speed:.3g} × real time" if film.speed != 1.0 else "real time"
    moving = [*(artist for artist, _ in artists.values()), clock] if flat else []
    for artist in moving:
        artist.set_animated(True)  # drawn over the background; in space everything is redrawn, by depth
    figure.set_layout_engine("constrained", rect=(0.0, 0.0, 1.0, 0.94))  # room for the clock
    canvas.draw()
    figure.set_layout_engine("none")  # the axes do not move
    background = canvas.copy_from_bbox(figure.bbox)

    def frame(k: int) -> np.ndarray:
        for name, (_, move) in artists.items():
            move(plot_points(film.points[name][k], flat))
        clock.set_text(f"t = {film.t[k]:.4f} s   ({slow})")
        if flat:
            canvas.restore_region(background)
            for artist in moving:
                figure.draw_artist(artist)
        else:
            canvas.draw()
        return np.array(canvas.buffer_rgba())

    return figure, frame


def _set_limits(ax: Any, everything: np.ndarray, flat: bool, *, legend: bool) -> None:
    """Sets limits that contain the whole motion, labels and a legend."""
    low, high = everything.min(axis=0), everything.max(axis=0)
    margin = 0.04 * float((high - low).max()) or 1.0
    for axis, least, most in zip("xyz"[: 2 if flat else 3], low - margin, high + margin, strict=False):
        getattr(ax, f"set_{axis}lim")(least, most)
    label_axes(ax, flat)
    if not flat and high[2] - low[2] < THIN * (high - low).max():
        ax.view_init(elev=60, azim=-75)
    if legend:
        if flat:
            ax.figure.legend(loc="outside lower center", ncols=4, fontsize=8)
        else:
            ax.legend(loc="upper right", fontsize=8)


def _artist(ax: Any, part: Drawing, x: np.ndarray, colour: str, label: str) -> tuple[Any, Callable[[np.ndarray], None]]:
    """A body drawn at its first place, and a function that moves it."""
    if part.kind in FILLED and len(part.triangles):
        return _surface(ax, part.triangles, x, colour, label)
    look = {"ls": "", "marker": "."} if part.kind == "nodes" else {"lw": 2.5, "solid_capstyle": "round"}
    (line,) = ax.plot(*x.T, color=colour, label=label, **look | ({"marker": "o"} if len(x) == 1 else {}))
    return line, (lambda y: line.set_data(*y.T)) if x.shape[1] == 2 else (lambda y: line.set_data_3d(*y.T))


def _surface(
    ax: Any, triangles: np.ndarray, x: np.ndarray, colour: str, label: str
) -> tuple[Any, Callable[[np.ndarray], None]]:
    if x.shape[1] == 2:
        from matplotlib.collections import PolyCollection

        filled: Any = PolyCollection(list(x[triangles]), facecolors=colour, edgecolors=colour, lw=0.2, label=label)
        ax.add_collection(filled)
        return filled, lambda y: filled.set_verts(list(y[triangles]))
    solid = ax.plot_trisurf(*x.T, triangles=triangles, color=colour, edgecolor="0.3", linewidth=0.15, label=label)
    return solid, lambda y: solid.set_verts(y[triangles])


# --- files -----------------------------------------------------------------------------------------------------------


def _require_path(path: str | Path) -> Path:
    where = Path(path)
    if where.suffix.lower() not in (".gif", ".mp4"):
        raise InputError(f"{where.name!r} is not an animation; its name must end in .gif or .mp4")
    if not where.parent.is_dir():
        raise InputError(f"the folder {str(where.parent)!r} does not exist")
    if where.suffix.lower() == ".mp4":
        require_package("imageio_ffmpeg", "animate to .mp4")
    return where


def _gif(where: Path, frames: Iterator[np.ndarray], fps: float) -> None:
    from PIL import Image  # a dependency of matplotlib

    images = (Image.fromarray(frame[:, :, :3]).quantize(128, Image.Quantize.FASTOCTREE) for frame in frames)
    next(images).save(where, save_all=True, append_images=images, duration=round(1000.0 / fps), loop=0)


def _mp4(where: Path, frames: Iterator[np.ndarray], fps: float) -> None:
    from imageio_ffmpeg import write_frames

    size = round(WIDTH * DPI), round(HEIGHT * DPI)
    film = write_frames(str(where), size, pix_fmt_in="rgba", fps=fps, macro_block_size=2)
    film.send(None)
    for frame in frames:
        film.send(frame)
    film.close()
