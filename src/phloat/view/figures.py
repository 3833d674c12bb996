"""Matplotlib figures without pyplot, which are saved or displayed by a notebook; colours and labels of all plots."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from phloat.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 7.5  # inches, of a figure of panels
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")  # Okabe and Ito
DIVERGING = "PuOr_r"  # white at zero, also for the colour-blind
MAX_LEGEND = 8  # lines; plots of more lines have no legend


def require_package(package: str, verb: str, extra: str = "plot") -> None:
    """Raises InputError if an optional package is missing; the message names the function `verb` and the extra to install."""
    if find_spec(package) is None:
        raise InputError(f"{verb} needs {package}, which is not installed: pip install phloat[{extra}]")


def even_indices(count: int, most: int) -> np.ndarray:
    """At most `most` of the indices 0 … count − 1, evenly spaced, the first and the last included."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))


def new_figure(width: float, height: float) -> Figure:
    """An empty figure; width and height in inches."""
    return _figure_class()(figsize=(width, height), layout="constrained")


def colour_cycle(count: int) -> list[str]:
    """`count` colours: those of COLOURS, from the start again after the last."""
    return [COLOURS[i % len(COLOURS)] for i in range(count)]


def panels(heights: list[float]) -> tuple[Figure, list[Axes]]:
    """A figure with one axes for each height (inches), one below the other, with a common horizontal axis."""
    figure = new_figure(WIDTH, sum(heights) + 0.6)
    axes = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)
    return figure, list(axes[:, 0])


def finish_panels(figure: Figure, axes: list[Axes], label: str, margin: float = 0.01) -> Figure:
    """Adds grids, legends and the label of the common horizontal axis to panels; returns the figure."""
    axes[-1].set_xlabel(label)
    for ax in axes:
        ax.grid(alpha=0.3)
        ax.margins(x=margin)
        if 0 < len(ax.get_legend_handles_labels()[0]) <= MAX_LEGEND:
            ax.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.01, 0.5), borderaxespad=0)
    figure.align_ylabels(axes)
    return figure


def label_text(name: str) -> str:
    """A name as a text for matplotlib, which reads $…$ as mathematics and leaves labels that begin with _ out of legends."""
    return ("\u200b" if name.startswith("_") else "") + name.replace("$", r"\$")


@cache
def _figure_class() -> Any:
    """A subclass of matplotlib's Figure, defined at the first call because matplotlib is an optional package."""
    from matplotlib.figure import Figure

    class Picture(Figure):
        """A figure that a notebook displays without pyplot."""

        def _repr_png_(self) -> bytes:
            png = BytesIO()
            self.savefig(png, format="png", dpi=110, bbox_inches="tight")
            return png.getvalue()

    return Picture
