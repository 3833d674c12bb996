"""Matplotlib figures without pyplot, which are saved or displayed by a notebook; colours and labels of all plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
PREFIXES = {1e9: "G", 1e6: "M", 1e3: "k", 1.0: "", 1e-3: "m", 1e-6: "µ", 1e-9: "n"}  # of SI units
PREFIXED = ("m", "N", "N m", "J", "Pa", "m/s", "W")
MAX_HIGH = 5  # panels of more than this number are lower
Panels = list[tuple[str, dict[str, np.ndarray]]]  # for each panel the label of its axis with the unit, and its lines
PLAIN = (0.1, 1e4)  # largest values that are drawn without a prefix


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


def plot_lines(t: np.ndarray, contents: Panels) -> Figure:
    """A figure of panels of lines over time t (s)."""
    figure, axes = panels([2.5 if len(contents) <= MAX_HIGH else 1.6] * len(contents))
    for ax, (label, lines) in zip(axes, contents, strict=True):
        draw_lines(ax, t, lines, label, total="all" if label == "energy (J)" else "")
    return finish_panels(figure, axes, "t (s)")


def draw_lines(
    ax: Axes, t: np.ndarray, lines: Mapping[str, np.ndarray], label: str, *, total: str = "", dashed: Sequence[str] = ()
) -> None:
    """Draws lines over time t in one axes; the unit at the end of its label, "energy (J)", gets a prefix where that is shorter.

    The line `total` is broad and grey, behind the others.
    """
    what, _, unit = label.removesuffix(")").rpartition(" (")
    largest = max((float(np.abs(line).max(initial=0.0)) for line in lines.values()), default=0.0)
    factor, unit = prefixed_unit(largest, unit)
    colours = iter(colour_cycle(len(lines)))
    for name, line in lines.items():
        look: dict[str, Any] = {"color": "0.35", "lw": 3.5, "alpha": 0.45, "zorder": 1}
        if name != total or len(lines) == 1:
            look = {"color": next(colours), "lw": 1.2, "ls": "--" if name in dashed else "-"}
        ax.plot(t, line / factor, label=label_text(name), **look)
    ax.set_ylabel(f"{what} ({unit})")


def draw_residual(ax: Axes, t: np.ndarray, residual: np.ndarray, relative: float) -> None:
    """Draws the residual of a balance of energy on a logarithmic axis, and its largest value with a number."""
    size = np.abs(residual)
    k = int(size.argmax())
    ax.semilogy(t, np.where(size > 0.0, size, np.nan), color="0.2", lw=1)
    if size[k] > 0.0:
        ax.plot(t[k], size[k], "o", ms=4, color="0.2")
    ax.set_ylabel("|residual| (J)")
    ax.set_title(f"largest residual: {size[k]:.1e} J, {relative:.1e} of the largest energy", fontsize=8, loc="right")


def prefixed_unit(largest: float, unit: str) -> tuple[float, str]:
    """The factor and the name of a unit in which the largest value is between 1 and 1000, unless it is short without a prefix:
    0.004 m are 4 mm, and 0.4 m stay."""
    if unit not in PREFIXED or not 0.9 * min(PREFIXES) < largest < np.inf or PLAIN[0] <= largest < PLAIN[1]:
        return 1.0, unit
    factor = next((factor for factor in PREFIXES if largest >= 0.9999 * factor), min(PREFIXES))
    return factor, PREFIXES[factor] + unit


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
