"""Animations of a run: animate(result, "run.gif") or "run.mp4" (extra `plot`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from phloat.errors import InputError, not_negative, positive
from phloat.motion.result import Result, at_times
from phloat.view.figures import MAX_LEGEND, colour_cycle, label_text, new_figure, require_folder, require_package
from phloat.view.mechanism import draw_line, draw_surface, drawn_coordinates, frame_axes, is_flat
from phloat.view.scene import Drawing, body_motion, is_cloud, scene

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DURATION = 8.0  # seconds of a film, unless the run lasts between the two times REAL_TIME: then it plays in real time
REAL_TIME = (2.0, 20.0)
MAX_FRAMES = 5000
WIDTH, HEIGHT = 7.0, 5.0  # inches
DPI = 100  # width and height in pixels must be even for mp4


@dataclass(frozen=True, eq=False)
class Film:
    """The frames of a run: times (s), and the points of every body at these times, (frames, points, 3), in inertial axes."""

    t: np.ndarray
    points: dict[str, np.ndarray]
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
    where = _require_path(path)
    film = film_frames(result, speed=speed, fps=fps, magnify=magnify)
    _, frame = frame_renderer(film)
    write = _write_gif if where.suffix.lower() == ".gif" else _write_mp4
    write(where, (frame(k) for k in range(len(film.t))), float(fps))
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
    points = {name: part.at(body_motion(shown, name, every), scale) for name, part in drawn.items()}
    flat = result.system.plane is not None or is_flat(np.vstack([x.reshape(-1, 3) for x in points.values()]))
    return Film(t, points, drawn, speed, flat)


# --- drawing ---------------------------------------------------------------------------------------------------------


def frame_renderer(film: Film) -> tuple[Figure, Callable[[int], np.ndarray]]:
    """The figure of a film, and a function that draws the k-th frame and returns its pixels, (height, width, 4)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    flat, figure = film.flat, new_figure(WIDTH, HEIGHT)
    figure.set_dpi(DPI)
    canvas = FigureCanvasAgg(figure)
    ax: Any = figure.subplots(subplot_kw={} if flat else {"projection": "3d"})
    artists: dict[str, tuple[Any, Callable[[np.ndarray], None]]] = {}
    for (name, part), colour in zip(film.drawn.items(), colour_cycle(len(film.drawn)), strict=True):
        x, label = drawn_coordinates(film.points[name][0], flat), label_text(name)
        if len(part.triangles):
            artists[name] = draw_surface(ax, part.triangles, x, colour, label)
        else:
            artists[name] = draw_line(ax, x, colour, label, cloud=is_cloud(part.points), lw=2.5)
    clock = figure.text(0.02, 0.98, "", fontsize=9, va="top", family="monospace")
    frame_axes(ax, np.vstack([x.reshape(-1, 3) for x in film.points.values()]), flat)
    if len(artists) <= MAX_LEGEND and flat:
        figure.legend(loc="outside lower center", ncols=4, fontsize=8)
    elif len(artists) <= MAX_LEGEND:
        ax.legend(loc="upper right", fontsize=8)
    slow = f"{film.speed:.3g} × real time" if film.speed != 1.0 else "real time"
    moving = [*(artist for artist, _ in artists.values()), clock] if flat else []
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
        clock.set_text(f"t = {film.t[k]:.4f} s   ({slow})")
        if flat:
            canvas.restore_region(background)
            for artist in moving:
                figure.draw_artist(artist)
        else:
            canvas.draw()
        return np.array(canvas.buffer_rgba())

    return figure, frame


# --- files -----------------------------------------------------------------------------------------------------------


def _require_path(path: str | Path) -> Path:
    """The path of a film to be written. Raises InputError if suffix, folder or a package it needs is missing."""
    where = Path(path)
    if where.suffix.lower() not in (".gif", ".mp4"):
        raise InputError(f"{where.name!r} is not an animation; its name must end in .gif or .mp4")
    require_folder(where)
    if where.suffix.lower() == ".mp4":
        require_package("imageio_ffmpeg", "animate to .mp4")
    return where


def _write_gif(where: Path, frames: Iterator[np.ndarray], fps: float) -> None:
    """Writes frames as a GIF of 128 colours that repeats."""
    from PIL import Image  # a dependency of matplotlib

    images = (Image.fromarray(frame[:, :, :3]).quantize(128, Image.Quantize.FASTOCTREE) for frame in frames)
    next(images).save(where, save_all=True, append_images=images, duration=round(1000.0 / fps), loop=0)


def _write_mp4(where: Path, frames: Iterator[np.ndarray], fps: float) -> None:
    """Writes frames as MP4 with ffmpeg (package imageio-ffmpeg)."""
    from imageio_ffmpeg import write_frames

    size = round(WIDTH * DPI), round(HEIGHT * DPI)
    film = write_frames(str(where), size, pix_fmt_in="rgba", fps=fps, macro_block_size=2)
    film.send(None)
    for frame in frames:
        film.send(frame)
    film.close()
