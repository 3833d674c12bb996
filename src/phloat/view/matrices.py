"""The matrices of a linear system at a look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phloat.linear.phdae import LinearPHDAE
from phloat.view.colours import COLOURS
from phloat.view.figures import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_matrices(x: LinearPHDAE) -> Figure:
    """Where E, J, R, B and G hold numbers, with lines between velocities and stresses."""
    figure = new_figure(9, 6.5)
    for ax, name in zip(figure.subplots(2, 3).flat, ("E", "J", "R", "B", "G", "B_lam"), strict=True):
        matrix = getattr(x, name)
        ax.set_title(f"{name}  {matrix.shape[0]} × {matrix.shape[1]}, {matrix.nnz} entries", fontsize=9)
        if not matrix.size:
            ax.set_axis_off()
            continue
        ax.spy(matrix, markersize=max(0.5, min(4.0, 300 / max(matrix.shape))), color=COLOURS[0])
        ax.set_aspect("auto" if name in ("B", "G", "B_lam") else "equal")
        if 0 < x.split < x.rows.size:
            if name in ("E", "J", "R", "B"):
                ax.axhline(x.split - 0.5, color="0.6", lw=0.8)
            if name in ("E", "J", "R", "G"):
                ax.axvline(x.split - 0.5, color="0.6", lw=0.8)
    return figure
