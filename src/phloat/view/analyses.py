"""Plots of analyses: Bode diagrams, singular values, poles and zeros, Campbell diagrams, reduction errors; ensembles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from phloat.analysis.campbell import Campbell
from phloat.errors import InputError
from phloat.linear.analysis.poles_zeros import PoleZeros
from phloat.linear.analysis.response import Response
from phloat.linear.reduction.reduce import BandError
from phloat.many.limit_search import LimitSearch
from phloat.many.results import Ensemble
from phloat.view.figures import (
    COLOURS,
    colour_cycle,
    even_indices,
    finish_panels,
    label_text,
    new_figure,
    panels,
    prefixed_unit,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

ORDERS = (1, 2, 3, 4)  # of the excitation, ω = nΩ
MAX_POLES = 12  # the lowest poles are drawn; plot(x.below(omega)) draws others
WHIRLING = 0.1  # a mode with a larger whirl is labelled forward or backward


def plot_response(x: Response) -> Figure:
    """Bode diagram: magnitude and phase from every input to every output; with several inputs and outputs also singular values."""
    from matplotlib.ticker import MaxNLocator

    several = min(len(x.inputs), len(x.outputs)) > 1
    figure, axes = panels([3.0, 2.0, 2.5] if several else [3.0, 2.0])
    pairs = [(i, j) for i in range(len(x.outputs)) for j in range(len(x.inputs))]
    phase = np.rad2deg(x.phase)
    for (i, j), colour in zip(pairs, colour_cycle(len(pairs)), strict=True):
        label = label_text(f"{x.outputs[i]} from {x.inputs[j]}")
        axes[0].loglog(x.omega, _without_zeros(x.magnitude[:, i, j]), color=colour, lw=1.2, label=label)
        axes[1].semilogx(x.omega, phase[:, i, j], color=colour, lw=1.2)
    axes[0].set_ylabel("magnitude (SI)")
    axes[1].set_ylabel("phase (°)")
    axes[1].yaxis.set_major_locator(MaxNLocator(steps=[1, 1.5, 3, 4.5, 9, 10]))
    if several:
        for gain, colour in zip(x.singular_values.T, colour_cycle(len(x.singular_values.T)), strict=True):
            axes[2].loglog(x.omega, _without_zeros(gain), color=colour, lw=1.2)
        axes[2].set_ylabel("singular values (SI)")
    return finish_panels(figure, axes, "frequency (rad/s)", margin=0.0)


def plot_pole_zeros(x: PoleZeros) -> Figure:
    """The lowest poles (crosses) and zeros (circles) in the upper half plane; the title has the number of those not drawn."""
    far = np.sort(np.abs(x.poles))[MAX_POLES - 1 :]
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
    ax.set(xlabel="real part (1/s)", ylabel="imaginary part (rad/s)")
    title = label_text(f"from {', '.join(x.inputs)} to {', '.join(x.outputs)}")
    ax.set_title(title + (f" ({beyond} lie farther out)" if beyond else ""), fontsize=9)
    ax.grid(alpha=0.3)
    ax.legend(fontsize=8)
    return figure


def plot_campbell(x: Campbell) -> Figure:
    """Frequencies of the modes over the rate Ω of the spin, and the excitation lines ω = nΩ; red crosses mark unstable modes."""
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
    ax.set(ylim=(0.0, top), ylabel="frequency in the turning frame (rad/s)")
    return finish_panels(figure, [ax], "rate of the spin Ω (rad/s)", margin=0.0)


def _without_zeros(size: np.ndarray) -> np.ndarray:
    """The values with NaN instead of zeros, for a logarithmic axis."""
    return np.where(size > 0.0, size, np.nan)


# --- reduction errors ------------------------------------------------------------------------------------------------


def plot_band_error(x: BandError) -> Figure:
    """Magnitudes between all ports, of the full system as wide pale lines and of the reduced one as thin lines; below, the
    relative error."""
    figure, (top, bottom) = panels([3.6, 1.8])
    outputs, inputs = x.full.outputs, x.full.inputs
    # ports are reciprocal: the lines (i, j) and (j, i) are equal and only one is drawn; lines that are zero are not drawn
    size = x.full.magnitude.max(axis=0)
    pairs = [(i, j) for i in range(len(outputs)) for j in range(i + 1) if size[i, j] > 1e-12 * size.max(initial=0.0)]
    for (i, j), colour in zip(pairs, colour_cycle(len(pairs)), strict=True):
        label = label_text(f"{outputs[i]} from {inputs[j]}")
        top.loglog(x.omega, x.full.magnitude[:, i, j], color=colour, lw=4, alpha=0.35)
        top.loglog(x.omega, x.reduced.magnitude[:, i, j], color=colour, lw=1.2, label=label)
    top.set_ylabel("magnitude (SI)")
    top.set_title("full (wide) and reduced (thin)", fontsize=9)
    bottom.loglog(x.omega, np.maximum(x.relative, 1e-17), color="0.2", lw=1.2)
    bottom.set_ylabel("relative error")
    bottom.set_title(f"at most {x.largest:.1e}, at {x.worst:.4g} rad/s", fontsize=9)
    return finish_panels(figure, [top, bottom], "frequency (rad/s)")


def plot_limit_search(x: LimitSearch) -> Figure:
    """The number at all evaluations, its limit, and the x that was found; vertical lines mark evaluations that failed."""
    figure, (ax,) = panels([3.2])
    variable, number = map(label_text, x.names)
    known = np.isfinite(x.numbers)
    values, numbers = x.values[known], x.numbers[known]
    ax.plot(values, numbers, ".-", color=COLOURS[0], label="evaluations")
    ax.axhline(x.limit, color="0.2", lw=1, ls="--", label=f"limit {x.limit:g}")
    ax.plot(x.x, x.number, "o", ms=8, color=COLOURS[1], label=f"{x.goal}: {x.x:.4g}")
    for value in x.failed:
        ax.axvline(value, color=COLOURS[1], lw=0.5, alpha=0.5)
    ax.set_ylabel(number)
    if x.values[0] > 0.0 and x.values[-1] > 10.0 * x.values[0]:
        ax.set_xscale("log")
    if numbers.min() > 0.0 and numbers.max() > 100.0 * numbers.min():
        ax.set_yscale("log")
    return finish_panels(figure, [ax], variable)


# --- ensembles -------------------------------------------------------------------------------------------------------

ROWS, COLUMNS = 4, 4  # at most so many outputs, and so many parameters or components of each, are drawn
POINTS = 5000  # of a scatter plot
LOG_RATIO = 10.0  # of the largest to the smallest value, from which an axis is logarithmic
BANDS = ((0.05, 0.95, 0.18), (0.25, 0.75, 0.3))  # two quantiles, and the opacity of the band between them


def plot_ensemble(x: Ensemble) -> Figure:
    """A row of plots for each output. A number: histogram with mean, 5 % and 95 % quantile, and scatter plots over the parameters
    with the two extreme samples, or a map over a grid of two parameters. A function of time: median, bands that contain 50 % and
    90 % of the runs, and the runs that are farthest above and below the median. Axes are logarithmic from a ratio of LOG_RATIO."""
    names = [name for name in x.shapes if x.over_time(name) or not x.shapes[name]][:ROWS]
    if not names or not x.ok.any():
        shapes = ", ".join(f"{name} {shape}" for name, shape in x.shapes.items())
        raise InputError(f"no output is a number or a function of time; the outputs are {shapes or 'none'}")
    figure = new_figure(10, 2.8 * len(names) + 0.4)
    of_number = _draw_map if len(x.samples.levels) == 2 else _draw_scatter
    for part, name in zip(figure.subfigures(len(names), 1, squeeze=False)[:, 0], names, strict=True):
        (_draw_bands if x.over_time(name) else of_number)(part, x, name)
    return figure


def _draw_scatter(figure: SubFigure, x: Ensemble, name: str) -> None:
    """Draws the histogram of an output, and the output over each varying parameter; lines mark parameters of failed runs."""
    y, samples = x[name][x.ok].real, np.flatnonzero(x.ok)
    varying = [p for p, values in x.parameters.items() if np.ptp(values) > 0.0][:COLUMNS]
    axes = figure.subplots(1, 1 + len(varying), squeeze=False, sharey=True)[0]
    count, (low, high) = min(60, max(8, int(np.sqrt(len(y))))), np.quantile(y, BANDS[0][:2])
    log = is_logarithmic(y)
    bins = np.geomspace(y.min(), y.max(), count + 1) if log else count
    axes[0].hist(y, bins=bins, orientation="horizontal", color=COLOURS[0], alpha=0.6)
    axes[0].set(xlabel="samples", ylabel=label_text(name), yscale="log" if log else "linear")
    axes[0].axhline(y.mean(), color="k", lw=1.2)
    for value in (low, high):
        axes[0].axhline(value, color="k", lw=1, ls="--")
    axes[0].set_title(f"mean {y.mean():.3g}; 5 %, 95 %: {low:.3g}, {high:.3g}", fontsize=8)
    indices = even_indices(len(y), POINTS)
    for ax, parameter in zip(axes[1:], varying, strict=True):
        values, look = _parameter_axis(x, parameter, x.parameters[parameter])
        ax.plot(values[x.ok][indices], y[indices], ".", ms=3, color=COLOURS[0], alpha=0.5)
        for k, marker in ((int(y.argmin()), "v"), (int(y.argmax()), "^")):
            style: dict[str, Any] = {"ms": 6, "mfc": "none", "color": COLOURS[1], "ls": ""}
            ax.plot(values[x.ok][k], y[k], marker=marker, label=f"sample {samples[k]}", **style)
        for failed in x.failed[:POINTS]:
            ax.axvline(values[failed.sample], color=COLOURS[1], lw=0.5, alpha=0.5)
        ax.set(**{f"x{key}": value for key, value in look.items()})
        ax.grid(alpha=0.3)
    if varying:
        axes[-1].legend(fontsize=7, loc="center left", bbox_to_anchor=(1.01, 0.5), borderaxespad=0)


def _parameter_axis(x: Ensemble, parameter: str, values: np.ndarray) -> tuple[np.ndarray, dict[str, str]]:
    """Values of a parameter in the unit of its axis, and label and scale of the axis."""
    units = x.info.get("units")
    unit = str(units.get(parameter, "")) if isinstance(units, dict) else ""
    factor, unit = prefixed_unit(float(np.abs(values).max()), unit)
    label = label_text(parameter) + (f" ({unit})" if unit else "")
    return values / factor, {"label": label, "scale": "log" if is_logarithmic(values) else "linear"}


def is_logarithmic(values: np.ndarray) -> bool:
    """Whether an axis of these values is logarithmic: they are positive, and the largest is LOG_RATIO times the smallest."""
    return bool(values.min() > 0.0 and values.max() >= LOG_RATIO * values.min())


def _draw_bands(figure: SubFigure, x: Ensemble, name: str) -> None:
    """Draws median, quantiles and extreme runs of an output over time, one axes for each component."""
    assert x.t is not None
    values, samples = x[name][x.ok].real, np.flatnonzero(x.ok)
    lines = values.reshape(len(values), len(values[0]), -1)
    axes = figure.subplots(1, min(lines.shape[2], COLUMNS), squeeze=False)[0]
    for k, ax in enumerate(axes):
        part = lines[:, :, k]
        for low, high, dark in BANDS:
            below, above = np.quantile(part, (low, high), axis=0)
            label = f"{100 * (high - low):.0f} %"
            ax.fill_between(x.t, below, above, color=COLOURS[0], alpha=dark, lw=0, label=label)
        middle = np.median(part, axis=0)
        ax.plot(x.t, middle, color=COLOURS[0], lw=1.2, label="median")
        for sign, style in ((1.0, "-"), (-1.0, "--")):
            i = int((sign * (part - middle)).max(axis=1).argmax())
            ax.plot(x.t, part[i], color=COLOURS[1], lw=0.8, ls=style, label=f"sample {samples[i]}")
        ax.set(xlabel="t (s)", ylabel=label_text(name if lines.shape[2] == 1 else f"{name}, {k}"))
        ax.grid(alpha=0.3)
        ax.margins(x=0.01)
        if len(axes) == 1:
            ax.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.01, 0.5), borderaxespad=0)
        else:
            ax.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, 1.25), ncols=3, frameon=False)


def _draw_map(figure: SubFigure, x: Ensemble, name: str) -> None:
    """Draws an output as colours over a grid of two parameters."""
    from matplotlib.colors import LogNorm

    (first, a), (second, b) = x.axes.items()
    ax = figure.subplots(1, 1)
    values = np.ma.masked_invalid(x.on_grid(name).real)
    norm = LogNorm() if is_logarithmic(values.compressed()) else None
    (a, across), (b, up) = _parameter_axis(x, first, a), _parameter_axis(x, second, b)
    mesh = ax.pcolormesh(a, b, values.T, shading="nearest", cmap="viridis", norm=norm)
    ax.set(**{f"x{key}": value for key, value in across.items()}, **{f"y{key}": value for key, value in up.items()})
    figure.colorbar(mesh, ax=ax, label=label_text(name))
