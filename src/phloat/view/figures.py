"""Figures without a window, which are saved or shown by a notebook; colours and labels."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from phloat.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 7.5  # inches, of panels over one axis
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")  # Okabe and Ito
MAX_LEGEND = 8  # lines that a legend can name


def require_package(package: str, verb: str, extra: str = "plot") -> None:
    """Raises InputError if an optional package is not installed."""
    if find_spec(package) is None:
        raise InputError(f"{verb} needs {package}, which is not installed: pip install phloat[{extra}]")


def require_folder(path: str | Path) -> Path:
    """The path of a file to be written. Raises InputError if there is no folder for it."""
    file = Path(path)
    if not file.parent.is_dir():
        raise InputError(f"there is no folder {str(file.parent)!r} for {file.name!r}; create it first")
    return file


def evenly(count: int, most: int) -> np.ndarray:
    """At most so many of the numbers 0 … count − 1, evenly."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, size in inches."""
    return _kind()(figsize=(width, height), layout="constrained")


def colour_cycle(count: int) -> list[str]:
    """So many colours, repeated when they run out."""
    return [COLOURS[i % len(COLOURS)] for i in range(count)]


def panels(heights: list[float]) -> tuple[Figure, list[Axes]]:
    """Panels of these heights (inches), one above the other over a common axis."""
    figure = new_figure(WIDTH, sum(heights) + 0.6)
    axes = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)
    return figure, list(axes[:, 0])


def finish(figure: Figure, axes: list[Axes], label: str, margin: float = 0.01) -> Figure:
    """Adds grids, legends and the label of the common axis to panels."""
    axes[-1].set_xlabel(label)
    for ax in axes:
        ax.grid(alpha=0.3)
        ax.margins(x=margin)
        if 0 < len(ax.get_legend_handles_labels()[0]) <= MAX_LEGEND:
            ax.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.01, 0.5), borderaxespad=0)
    figure.align_ylabels(axes)
    return figure


def label_text(name: str) -> str:
    """A name as a label: matplotlib reads $…$ as mathematics, and leaves labels that begin with _ out of legends."""
    return ("\u200b" if name.startswith("_") else "") + name.replace("$", r"\$")


@cache
def _kind() -> Any:
    from matplotlib.figure import Figure

    class Picture(Figure):
        """A figure that a notebook shows without pyplot."""

        def _repr_png_(self) -> bytes:
            png = BytesIO()
            self.savefig(png, format="png", dpi=110, bbox_inches="tight")
            return png.getvalue()

    return Picture
