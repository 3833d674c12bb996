"""A reduced system beside the full one: transfer functions and the relative error over the band."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phloat.linear.error import BandError
from phloat.view.colours import MOST_NAMED, cycle
from phloat.view.figures import new_figure, spelled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_band_error(x: BandError) -> Figure:
    """Magnitudes between all ports, the full system wide and pale, the reduced one over it; below, the relative error."""
    figure = new_figure(7, 6)
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    outputs, inputs = x.full.outputs, x.full.inputs
    # of reciprocal ports one of two equal lines, and none that is zero
    size = x.full.magnitude.max(axis=0)
    pairs = [(i, j) for i in range(len(outputs)) for j in range(i + 1) if size[i, j] > 1e-12 * size.max(initial=0.0)]
    for (i, j), colour in zip(pairs, cycle(len(pairs)), strict=True):
        label = spelled(f"{outputs[i]} from {inputs[j]}")
        top.loglog(x.omega, x.full.magnitude[:, i, j], color=colour, lw=4, alpha=0.35)
        top.loglog(x.omega, x.reduced.magnitude[:, i, j], color=colour, lw=1.2, label=label)
    top.set_ylabel("magnitude (SI)")
    top.set_title("full (wide) and reduced (thin)", fontsize=9)
    if len(pairs) <= MOST_NAMED:
        top.legend(fontsize=7)
    bottom.loglog(x.omega, np.maximum(x.relative, 1e-17), color="0.2", lw=1.2)
    bottom.set_ylabel("relative error")
    bottom.set_xlabel("frequency (rad/s)")
    bottom.set_title(f"at most {x.largest:.1e}, at {x.worst:.4g} rad/s", fontsize=9)
    for ax in (top, bottom):
        ax.grid(alpha=0.3)
    return figure
