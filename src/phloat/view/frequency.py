"""Plots over frequency: Bode diagrams, singular values, poles and zeros, Campbell diagrams; matrices, reduction errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phloat.analysis.campbell import Campbell
from phloat.linear.analysis.poles_zeros import PoleZeros
from phloat.linear.analysis.response import Response
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.reduction.reduce import BandError
from phloat.view.figures import COLOURS, MAX_LEGEND, colour_cycle, label_text, new_figure, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
ORDERS = (1, 2, 3, 4)  # of the excitation, ω = nΩ
SHOWN = 12  # poles, the lowest; x.below(…) selects others
WHIRLING = 0.1  # from which whirl on a mode is called forward or backward


def plot_response(x: Response) -> Figure:
    """Bode diagram: magnitude and phase of every output for every input; with several of both, also the singular values."""
    from matplotlib.ticker import MaxNLocator

    several = min(len(x.inputs), len(x.outputs)) > 1
    heights = [3.0, 2.0, 2.5] if several else [3.0, 2.0]
    figure, axes = panels(heights)
    pairs = [(i, j) for i in range(len(x.outputs)) for j in range(len(x.inputs))]
    phase = np.rad2deg(x.phase)
    for (i, j), colour in zip(pairs, colour_cycle(len(pairs)), strict=True):
        label = label_text(f"{x.outputs[i]} from {x.inputs[j]}")
        axes[0].loglog(x.omega, _positive(x.magnitude[:, i, j]), color=colour, lw=1.2, label=label)
        axes[1].semilogx(x.omega, phase[:, i, j], color=colour, lw=1.2)
    axes[0].set_ylabel("magnitude (SI)")
    axes[1].set_ylabel("phase (°)")
    axes[1].yaxis.set_major_locator(MaxNLocator(steps=[1, 1.5, 3, 4.5, 9, 10]))
    if several:
        gains = x.singular_values
        for k, colour in enumerate(colour_cycle(gains.shape[1])):
            axes[2].loglog(x.omega, _positive(gains[:, k]), color=colour, lw=1.2)
        axes[2].set_ylabel("singular values (SI)")
    axes[-1].set_xlabel("frequency (rad/s)")
    _legend(axes[0])
    for ax in axes:
        ax.grid(alpha=0.3)
        ax.margins(x=0.0)
    figure.align_ylabels(axes)
    return figure


def plot_pole_zeros(x: PoleZeros) -> Figure:
    """The lowest poles as crosses and zeros as circles in the upper half plane; the title counts those farther out."""
    far = np.sort(np.abs(x.poles))[SHOWN - 1 :]
    near = x.below(1.1 * far[0]) if len(far) and far[0] > 0.0 else x
    poles, zeros = near.poles, near.zeros
    beyond = len(x.poles) - len(poles) + len(x.zeros) - len(zeros)
    figure, (ax,) = panels([4.8])
    colours = colour_cycle(2)
    ax.plot(poles.real, poles.imag, ls="", marker="x", ms=7, color=colours[0], label="poles")
    ax.plot(zeros.real, zeros.imag, ls="", marker="o", ms=6, mfc="none", color=colours[1], label="zeros")
    ax.axvline(0.0, color="0.4", lw=0.8)
    width = float(np.abs(np.concatenate([poles.real, zeros.real])).max(initial=0.0))
    height = float(np.concatenate([poles.imag, zeros.imag]).max(initial=0.0))
    half = 1.15 * width if width > 1e-9 * max(height, 1e-300) else max(0.1 * height, 1e-3)
    ax.set_xlim(-half, half if (np.concatenate([poles.real, zeros.real]) > 1e-9 * half).any() else 0.25 * half)
    ax.set_xlabel("real part (1/s)")
    ax.set_ylabel("imaginary part (rad/s)")
    title = label_text(f"from {', '.join(x.inputs)} to {', '.join(x.outputs)}")
    ax.set_title(title + (f" ({beyond} lie farther out)" if beyond else ""), fontsize=9)
    ax.grid(alpha=0.3)
    ax.legend(fontsize=8)
    return figure


def plot_campbell(x: Campbell) -> Figure:
    """Frequencies over the rate of the spin, with the excitation lines ω = nΩ; red crosses mark modes that grow."""
    figure, (ax,) = panels([4.8])
    for k, colour in enumerate(colour_cycle(x.omega.shape[1])):
        turn = float(x.whirl[np.argmax(np.abs(x.whirl[:, k])), k])
        way = "" if abs(turn) < WHIRLING else ", forward" if turn > 0.0 else ", backward"
        ax.plot(x.rates, x.omega[:, k], color=colour, marker=".", ms=4, lw=1.3, label=f"mode {k + 1}{way}")
        grows = x.growing[:, k]
        if grows.any():
            ax.plot(x.rates[grows], x.omega[grows, k], ls="", marker="x", ms=7, color="r")
    top = 1.05 * float(x.omega.max(initial=0.0))
    for n in ORDERS:
        ax.plot(x.rates, n * np.abs(x.rates), color="0.6", lw=0.8, ls="--", zorder=0)
        end = min(float(np.abs(x.rates).max()), top / n)
        ax.annotate(f"{n}Ω", (end, n * end), color="0.4", fontsize=8, ha="right", va="bottom")
    ax.set_ylim(0.0, top)
    ax.margins(x=0.0)
    ax.set_xlabel("rate of the spin Ω (rad/s)")
    ax.set_ylabel("frequency in the turning frame (rad/s)")
    ax.grid(alpha=0.3)
    _legend(ax)
    return figure


def _positive(size: np.ndarray) -> np.ndarray:
    """NaN in place of zeros, for a logarithmic axis."""
    return np.where(size > 0.0, size, np.nan)


def _legend(ax: Axes) -> None:
    if 0 < len(ax.get_legend_handles_labels()[0]) <= MAX_LEGEND:
        ax.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.01, 0.5), borderaxespad=0)


# --- matrices --------------------------------------------------------------------------------------------------------


def plot_matrices(x: LinearPHDAE) -> Figure:
    """The sparsity patterns of E, J, R, B and G, with lines between velocities and stresses."""
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


# --- reduction errors ------------------------------------------------------------------------------------------------


def plot_band_error(x: BandError) -> Figure:
    """Magnitudes between all ports, the full system wide and pale, the reduced one over it; below, the relative error."""
    figure = new_figure(7, 6)
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    outputs, inputs = x.full.outputs, x.full.inputs
    # one of two equal lines of reciprocal ports, and no line that is zero
    size = x.full.magnitude.max(axis=0)
    pairs = [(i, j) for i in range(len(outputs)) for j in range(i + 1) if size[i, j] > 1e-12 * size.max(initial=0.0)]
    for (i, j), colour in zip(pairs, colour_cycle(len(pairs)), strict=True):
        label = label_text(f"{outputs[i]} from {inputs[j]}")
        top.loglog(x.omega, x.full.magnitude[:, i, j], color=colour, lw=4, alpha=0.35)
        top.loglog(x.omega, x.reduced.magnitude[:, i, j], color=colour, lw=1.2, label=label)
    top.set_ylabel("magnitude (SI)")
    top.set_title("full (wide) and reduced (thin)", fontsize=9)
    if len(pairs) <= MAX_LEGEND:
        top.legend(fontsize=7)
    bottom.loglog(x.omega, np.maximum(x.relative, 1e-17), color="0.2", lw=1.2)
    bottom.set_ylabel("relative error")
    bottom.set_xlabel("frequency (rad/s)")
    bottom.set_title(f"at most {x.largest:.1e}, at {x.worst:.4g} rad/s", fontsize=9)
    for ax in (top, bottom):
        ax.grid(alpha=0.3)
    return figure
