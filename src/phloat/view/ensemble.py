"""Ensembles: histograms and scatter plots of scalar outputs, bands over time, maps over a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phloat.errors import InputError
from phloat.many.results import Ensemble
from phloat.view.figures import COLOURS, label_text, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

ROWS, COLUMNS = 4, 4  # outputs and parameters that are shown, at most
POINTS = 5000  # of a scatter plot
BANDS = ((0.05, 0.95, 0.18), (0.25, 0.75, 0.3))  # quantiles, and the opacity between them


def plot_ensemble(x: Ensemble) -> Figure:
    """A row for each output: a number as a histogram and over every parameter (or as a map over a grid of two); an output over
    time as bands that contain 50 % and 90 % of the runs."""
    shown = [name for name in x.shapes if x.over_time(name) or not x.shapes[name]][:ROWS]
    if not shown or not x.ok.any():
        some = ", ".join(f"{name} {shape}" for name, shape in x.shapes.items())
        raise InputError(f"no output is a number or a function of time; the outputs are {some or 'none'}")
    figure = new_figure(10, 2.6 * len(shown) + 0.4)
    parts = figure.subfigures(len(shown), 1, squeeze=False)[:, 0]
    for part, name in zip(parts, shown, strict=True):
        if x.over_time(name):
            _bands(part, x, name)
        elif len(x.samples.levels) == 2:
            _map(part, x, name)
        else:
            _spread(part, x, name)
    return figure


def _spread(figure: SubFigure, x: Ensemble, name: str) -> None:
    y = x[name][x.ok].real
    varying = [p for p, values in x.parameters.items() if np.ptp(values) > 0.0][:COLUMNS]
    axes = figure.subplots(1, 1 + len(varying), squeeze=False, sharey=True)[0]
    axes[0].hist(y, bins=min(60, max(8, int(np.sqrt(len(y))))), orientation="horizontal", color=COLOURS[0])
    axes[0].set(xlabel="samples", ylabel=label_text(name))
    axes[0].axhline(y.mean(), color="k", lw=1)
    few = np.linspace(0, len(y) - 1, min(len(y), POINTS)).astype(int)
    for ax, parameter in zip(axes[1:], varying, strict=True):
        ax.plot(x.parameters[parameter][x.ok][few], y[few], ".", ms=3, color=COLOURS[0], alpha=0.5)
        for at in (failed.parameters[parameter] for failed in x.failed[:POINTS]):
            ax.axvline(at, color=COLOURS[1], lw=0.5, alpha=0.5)
        ax.set_xlabel(label_text(parameter))
        ax.grid(alpha=0.3)


def _bands(figure: SubFigure, x: Ensemble, name: str) -> None:
    assert x.t is not None
    values = x[name][x.ok].real
    lines = values.reshape(len(values), len(values[0]), -1)
    axes = figure.subplots(1, min(lines.shape[2], COLUMNS), squeeze=False)[0]
    for k, ax in enumerate(axes):
        _band(ax, x.t, lines[:, :, k])
        ax.set_ylabel(label_text(name if lines.shape[2] == 1 else f"{name}, {k}"))


def _band(ax: Axes, t: np.ndarray, lines: np.ndarray) -> None:
    for low, high, dark in BANDS:
        below, above = np.quantile(lines, (low, high), axis=0)
        label = f"{100 * (high - low):.0f} %"
        ax.fill_between(t, below, above, color=COLOURS[0], alpha=dark, lw=0, label=label)
    ax.plot(t, np.median(lines, axis=0), color=COLOURS[0], lw=1.2, label="median")
    ax.set_xlabel("t (s)")
    ax.grid(alpha=0.3)
    ax.margins(x=0.01)
    ax.legend(fontsize=7)


def _map(figure: SubFigure, x: Ensemble, name: str) -> None:
    (first, a), (second, b) = x.axes.items()
    ax = figure.subplots(1, 1)
    values = np.ma.masked_invalid(x.on_grid(name).real)
    mesh = ax.pcolormesh(a, b, values.T, shading="nearest", cmap="viridis")
    ax.set(xlabel=label_text(first), ylabel=label_text(second))
    figure.colorbar(mesh, ax=ax, label=label_text(name))
