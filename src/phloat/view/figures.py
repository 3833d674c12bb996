"""Figures without a window, which are saved or shown by a notebook; colours and labels."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Any

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
