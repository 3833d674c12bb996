"""One verb for looking: plot(x) draws modes, responses, systems, runs and their energy (extra `plot`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from phloat.analysis.campbell import Campbell
from phloat.errors import InputError
from phloat.linear.course import LinearResult
from phloat.linear.error import BandError
from phloat.linear.modes import Modes
from phloat.linear.phdae import LinearPHDAE
from phloat.linear.response import Response
from phloat.linear.zeros import PoleZeros
from phloat.many.results import Ensemble
from phloat.motion.ledger import Ledger
from phloat.motion.result import Result
from phloat.system.state import State
from phloat.system.system import System, fits
from phloat.view.colours import COLOURS, MOST_NAMED, cycle
from phloat.view.drawn import draw_facets, draw_points, facets, is_cloud, von_mises_of
from phloat.view.ensemble_plot import plot_ensemble
from phloat.view.frequency import plot_campbell, plot_pole_zeros, plot_response
from phloat.view.over_time import plot_ledger, plot_linear_result, plot_result
from phloat.view.reduction_plot import plot_band_error

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

THIN = 0.15  # of the longest side of a drawing: an axis that needs no numbers


def plot(
    x: Modes | Response | PoleZeros | Campbell | LinearPHDAE | System | Result | LinearResult | Ledger | Ensemble,
    state: State | None = None,
    *,
    stress: bool = False,
) -> Figure:
    """A figure of modes (shapes), a response (Bode, singular values), poles and zeros, a Campbell diagram, a linear system
    (matrices), a system where it stands, `plot(system, state)`, a result (over time), a ledger (where the energy went) or
    an ensemble (spreads and bands).

    `plot(system, state, stress=True)` shades plates and solids by their von Mises stress.
    """
    if isinstance(x, System) and isinstance(state, State):
        return plot_system(x, state, stress=stress)
    if isinstance(x, System):
        raise InputError("a System needs its State too: plot(system, state)")
    if isinstance(x, Modes):
        return plot_modes(x)
    if isinstance(x, Response):
        return plot_response(x)
    if isinstance(x, BandError):
        return plot_band_error(x)
    if isinstance(x, PoleZeros):
        return plot_pole_zeros(x)
    if isinstance(x, Campbell):
        return plot_campbell(x)
    if isinstance(x, LinearPHDAE):
        return plot_matrices(x)
    if isinstance(x, Result):
        return plot_result(x)
    if isinstance(x, LinearResult):
        return plot_linear_result(x)
    if isinstance(x, Ledger):
        return plot_ledger(x)
    if isinstance(x, Ensemble):
        return plot_ensemble(x)
    raise InputError(
        f"there is no picture of {type(x).__name__}; plot takes Modes, Response, PoleZeros, Campbell, LinearPHDAE, System, "
        "Result, LinearResult, Ledger or Ensemble"
    )


def plot_modes(x: Modes, count: int = 4) -> Figure:
    """The lowest elastic mode shapes over the undeformed bodies, scaled to a tenth of the size of the system."""
    bodies = x.system.fields
    if not bodies:
        raise InputError("these modes have no bodies to draw")
    shown = range(x.rigid, min(x.rigid + count, len(x)))
    if not len(shown):
        raise InputError("there is no elastic mode to draw")
    points = np.vstack([f.points for f in bodies.values()])
    size = float(np.ptp(points, axis=0).max())
    flat = _flat(points, np.vstack([x.shape(k, name) for k in shown for name in bodies]))
    columns = min(2, len(shown))
    figure, axes = _figure(-(-len(shown) // columns), columns, flat)
    for ax, k in zip(axes.flat, shown, strict=False):
        largest = max(float(np.abs(x.shape(k, name)).max()) for name in bodies) or 1.0
        for (name, field), colour in zip(bodies.items(), cycle(len(bodies)), strict=True):
            moved = field.points + 0.1 * size / largest * x.shape(k, name)
            cloud, mark = is_cloud(field.points), "o" if len(moved) == 1 else None
            draw_points(ax, _seen(field.points, flat), "0.75", None, cloud=cloud, lw=1)
            draw_points(ax, _seen(moved, flat), colour, name, cloud=cloud, lw=2, marker=mark)
        ax.set_title(f"mode {k}: {x.omega[k]:.5g} rad/s", fontsize=9)
        _labelled(ax, flat)
    for ax in axes.flat[len(shown) :]:
        ax.set_visible(False)
    if len(bodies) <= MOST_NAMED:
        axes.flat[0].legend(fontsize=7)
    return figure


def plot_matrices(x: LinearPHDAE) -> Figure:
    """Where E, J, R, B and G hold numbers, with lines between velocities and stresses."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6.5), layout="constrained")
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


def plot_system(x: System, state: State, *, stress: bool = False) -> Figure:
    """The bodies of a system where they are, with dots where joints hold them; `stress` shades those on meshes."""
    state, lines = fits(x, state), {}
    for name, body in x.bodies.items():
        pose, places = state.pose(name), body.shape.places()
        y = body.shape.points(places) + (body.shape.displacement(places) @ pose.eta).reshape(-1, 3)
        lines[name] = pose.r_P + y @ pose.A.T
    points = np.vstack(list(lines.values()))
    flat = _flat(points, np.zeros((1, 3)))
    figure, axes = _figure(1, 1, flat)
    ax = axes.flat[0]
    corners = {name: found for name, body in x.bodies.items() if (found := facets(body)) is not None}
    shades = _shaded(figure, ax, x, state, corners) if stress else {}
    for (name, line), colour in zip(lines.items(), cycle(len(lines)), strict=True):
        if name in corners:
            draw_facets(ax, _seen(line, flat), corners[name], shades.get(name, colour), name)
        else:
            shape, mark = x.bodies[name].shape, "s" if len(line) == 1 else None
            cloud = is_cloud(shape.points(shape.places()))
            draw_points(ax, _seen(line, flat), colour, name, cloud=cloud, lw=2, marker=mark)
    for c in x.joints.values():
        end = c.second if c.second.body else c.first
        pose, port = state.pose(end.body), x.bodies[end.body].port(end.port)
        at = pose.r_P + pose.A @ (port.x + port.Phi @ pose.eta)
        ax.plot(*_seen(at[None], flat).T, color="k", marker="o", ms=4, mfc="w", ls="")
    if len(lines) <= MOST_NAMED and not shades:
        ax.legend(fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4)
    _labelled(ax, flat)
    if not flat and np.ptp(points[:, 2]) < THIN * np.ptp(points, axis=0).max():
        ax.view_init(elev=60, azim=-75)  # what lies almost in a plane is seen from above
    return figure


def _shaded(figure: Figure, ax: Axes, x: System, state: State, corners: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Colours of the facets of every body on a mesh by its von Mises stress, one scale for all, and the bar that says it."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    sigma = {name: state.e[state.layout[f"{name}.sigma"]] for name in corners if x.bodies[name].stresses}
    if not sigma:
        raise InputError("no body here is on a mesh: stress=True shades plates and solids")
    values = {name: von_mises_of(x.bodies[name], s, corners[name]) for name, s in sigma.items()}
    scale, colours = Normalize(0.0, max(float(v.max()) for v in values.values()) or 1.0), colormaps["viridis"]
    figure.colorbar(ScalarMappable(scale, colours), ax=ax, label="von Mises stress (Pa)", shrink=0.8, pad=0.12)
    return {name: colours(scale(value)) for name, value in values.items()}


def _flat(points: np.ndarray, motion: np.ndarray) -> bool:
    """Whether everything happens in a plane z = constant."""
    return float(np.ptp(points[:, 2])) < 1e-9 and float(np.abs(motion[:, 2]).max()) < 1e-9 * np.abs(motion).max(
        initial=1.0
    )


def _figure(rows: int, columns: int, flat: bool) -> tuple[Figure, np.ndarray]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2 * columns + 0.8, 3.2 * rows + 0.4), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, subplot_kw={} if flat else {"projection": "3d"})
    return figure, axes


def _seen(points: np.ndarray, flat: bool) -> np.ndarray:
    return points[:, :2] if flat else points


def _labelled(ax: Any, flat: bool) -> None:
    ax.set_aspect("equal")
    ax.set(xlabel="x (m)", ylabel="y (m)")
    if flat:
        return
    ax.set_zlabel("z (m)")
    ax.xaxis.labelpad = 20.0  # clear of the numbers
    spans = {axis: float(np.ptp(getattr(ax, f"get_{axis}lim")())) for axis in ("x", "y", "z")}
    for axis, span in spans.items():
        share = span / max(spans.values())
        if share < THIN:  # no room for numbers
            getattr(ax, f"set_{axis}ticks")([])
            getattr(ax, f"set_{axis}label")("")
        else:
            ax.locator_params(axis=axis, nbins=max(2, round(7 * share)))
