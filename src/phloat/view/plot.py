"""plot(x): figures of modes, responses, systems, runs and their energy (extra `plot`); runs are drawn as lines over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from phloat.analysis.campbell import Campbell
from phloat.errors import InputError, PortError, unknown
from phloat.linear.analysis.modes import Modes
from phloat.linear.analysis.poles_zeros import PoleZeros
from phloat.linear.analysis.response import Response
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.reduction.reduce import BandError
from phloat.linear.time.march import LinearResult
from phloat.many.limit_search import LimitSearch
from phloat.many.results import Ensemble
from phloat.motion.ledger import Ledger
from phloat.motion.result import COMPONENTS, Result
from phloat.system.places import pieces_of
from phloat.system.state import State
from phloat.system.stresses import resultant_name, von_mises
from phloat.system.system import System
from phloat.system.terms import Terms
from phloat.system.units import coordinate_unit, resultant_unit, unit_of_name
from phloat.view import analyses
from phloat.view.diagram import plot_diagram
from phloat.view.figures import (
    DIVERGING,
    Panels,
    draw_lines,
    draw_residual,
    even_indices,
    finish_panels,
    label_text,
    new_figure,
    panels,
    plot_lines,
    prefixed_unit,
    require_package,
)
from phloat.view.matrices import plot_matrices
from phloat.view.mechanism import plot_system
from phloat.view.modes import plot_modes
from phloat.view.quantities import AXES, COORDINATES, EFFORTS, Lines, axis_lines, component_lines, joint_efforts, peak

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Point = Sequence[float] | None  # a material point, in body axes
MAX_TIMES = 2000  # of a map
MAX_BENT = 6  # elastic bodies whose deformation is drawn
NEGLIGIBLE = 1e-9  # relative to the largest force or moment: smaller resultants count as zero

Analysis = Modes | Response | BandError | PoleZeros | Campbell | Terms | LinearPHDAE | LinearResult | Ledger | Ensemble
Plottable = Analysis | LimitSearch | System | Result


def plot(
    x: Plottable,
    of: State | str | Sequence[str] | None = None,
    *,
    s: float | None = None,
    at: Point = None,
    stress: bool | str = False,
) -> Figure:
    """A figure of a system, a run, or the results of an analysis.

    Modes give shapes, a response Bode plots and singular values, a system its block diagram or, with a state, the mechanism in that
    state, `terms` and a linear system the blocks of E, J and R with names and signs, a result its motion over time, a ledger the
    energy stored, supplied and dissipated, an ensemble distributions and bands, `find_smallest` its evaluations; poles and
    zeros, Campbell diagrams and errors of reduction are drawn, too. Needs Matplotlib.

    Parameters
    ----------
    x : Modes, Response, Terms, LinearPHDAE, System, Result, Ledger, Ensemble, …
        What to plot.
    of : State, str or sequence of str, optional
        Of a system: the state in which it is drawn. Of a result: a body, "rod", a joint with its forces, "hinge", or quantities,
        ["rod.theta", "hinge.lam"]. Of terms or a linear system: other matrices, "B" or ["G", "B_lam"].
    s : float, optional
        Of a result and a beam: the place, as a fraction of the length.
    at : (float, float, float), optional
        Of a result and a body: a material point (m), in the axes of the body.
    stress : bool or str, optional
        Of a result and a beam: maps a stress resultant ("M_z"; True: all) along the beam over time; of plates and solids the
        largest stress. With a system and a state: shades plates and solids by their von Mises stress.

    Returns
    -------
    matplotlib.figure.Figure
        Save it with `savefig`.

    Examples
    --------
    >>> disc = ph.RigidBody(mass=1.0, inertia=np.diag([0.25, 0.25, 0.5])).discretise()
    >>> wheel = ph.connect({"disc": disc}, [ph.Revolute("ground", "disc.P", name="motor")], plane="xy")
    >>> result = ph.simulate(wheel, ph.place(wheel), t_end=1.0, dt=0.01, u={"motor": 2.0})
    >>> figure = ph.plot(result, "motor.angle")
    >>> figure.savefig("angle.png")
    >>> figure.axes[0].get_xlabel()
    't (s)'
    """
    require_package("matplotlib", "plot")
    options = {"of": of, "s": s, "at": at, "stress": stress or None}
    if isinstance(x, Result):
        return _plot_of_result(x, of, s, at, stress)
    if isinstance(x, System):
        _require_none("System", s=s, at=at)
        if of is None and not stress:
            return plot_diagram(x)
        if not isinstance(of, State):
            raise InputError(
                f"a System is plotted with a State, plot(system, state), or alone as a diagram; not with {of!r}"
            )
        return plot_system(x, of, stress=bool(stress))
    if isinstance(x, Terms | LinearPHDAE):
        _require_none(type(x).__name__, s=s, at=at, stress=stress or None)
        return plot_matrices(x, of)
    for kind, draw in PLOTS.items():
        if isinstance(x, kind):
            _require_none(kind.__name__, **options)
            return draw(x)
    names = ", ".join(kind.__name__ for kind in PLOTS)
    raise InputError(f"{type(x).__name__} cannot be plotted; plot takes {names}, Terms, LinearPHDAE, System or Result")


def _plot_of_result(x: Result, of: object, s: float | None, at: Point, stress: bool | str) -> Figure:
    """The figure of a run as a whole, or of the bodies, joints or quantities named by `of`."""
    if isinstance(of, State):
        raise InputError("a Result has many states; plot(result.system, state) draws one of them")
    if of is None:
        _require_none("Result as a whole", s=s, at=at, stress=stress or None)
        return plot_result(x)
    names = [of] if isinstance(of, str) else list(of) if isinstance(of, Sequence) else [of]
    if not names:
        raise InputError("the list of names is empty; give the name of a body, of a joint or of a quantity")
    if not stress:
        return plot_lines(x.t, [panel for name in names for panel in _panels_of_name(x, name, s, at)])
    if len(names) > 1 or not isinstance(names[0], str):
        raise InputError(f"stress is plotted for one body at a time, not for {of!r}")
    return plot_stress(x, names[0], stress, s, at)


def _require_none(label: str, **options: object) -> None:
    """Raises InputError if one of these options of `plot`, which do not apply to x, is not None."""
    if surplus := [name for name, value in options.items() if value is not None]:
        raise InputError(f"plot of a {label} takes no {', '.join(surplus)}; leave that out")


# --- whole runs and ledgers -------------------------------------------------------------------------------------------


def plot_ledger(x: Ledger) -> Figure:
    """Three panels: energy stored; energy supplied, dissipated and stored since the start; residual on a logarithmic axis."""
    figure, (top, middle, bottom) = panels([3.0, 3.0, 1.8])
    stored = {**x.stored, **({"all": x.energy} if len(x.stored) > 1 else {})}
    draw_lines(top, x.t, stored, "stored (J)", total="all")
    lost = {f"− {name}, dissipated": -line for name, line in x.dissipated.items()}
    since = {**x.supplied, **lost, "stored": x.energy - x.energy[0]}
    draw_lines(middle, x.t, since, "since the start (J)", total="stored", dashed=tuple(lost))
    if not x.supplied and not lost:  # round-off does not fill the panel
        middle.set_ylim(np.array([-1.0, 1.0]) * max(1e-6 * float(np.abs(x.energy).max()), *np.abs(middle.get_ylim())))
    draw_residual(bottom, x.t, x.residual, x.relative)
    return finish_panels(figure, [top, middle, bottom], "t (s)")


def plot_result(x: Result) -> Figure:
    """Coordinates of joints that are not locked, the largest deformation of each elastic body in a scale of its own, and energies,
    over time; positions of bodies if there is neither. Of more than MAX_BENT elastic bodies those are drawn that deform most."""
    bent = [_largest_deformation(x, name) for name, body in x.system.bodies.items() if body.coordinates]
    sizes = [float(np.abs(line).max()) for lines in bent for line in lines.values()]
    most = sorted(np.argsort(-np.array(sizes), kind="stable")[:MAX_BENT].tolist())
    locked = {f"{name}.{row.label}" for name, c in x.system.joints.items() for row in c.locked}
    shown: Panels = [
        *_joint_panels(x, [name for name in x.coordinates if name not in locked]),
        *(("deformation (m)", bent[k]) for k in most),
    ]
    if not shown:
        moved = (axis_lines(x[f"{name}.r_P"], f"{name}, ") for name in x.system.bodies)
        shown = [("position (m)", {key: line for lines in moved for key, line in lines.items()})]
    figure = plot_lines(x.t, [*shown, ("energy (J)", _energy_lines(x))])
    if len(most) < len(bent):
        figure.axes[len(shown) - len(most)].set_title(
            f"the {len(most)} of {len(bent)} elastic bodies that deform most", fontsize=8, loc="right"
        )
    return figure


def plot_linear_result(x: LinearResult) -> Figure:
    """The largest displacement of each body, the energy stored, supplied and lost, and the residual of their balance, over time."""
    moved = {}
    for name, part in x.system.fields.items():
        line, axis, where = peak(x.displacement(name), part.points)
        moved[f"{name}, {AXES[axis]} at {where}"] = line[:, axis]
    since = {f"{name}, supplied": work for name, work in x.supplied.items()} | {"damping": -x.lost}
    energies = {name: line for name, line in since.items() if line.any()} | {"stored": x.energy}
    figure, (top, middle, bottom) = panels([2.5, 2.5, 1.5])
    draw_lines(top, x.t, moved, "displacement (m)")
    draw_lines(middle, x.t, energies, "energy (J)", total="stored")
    draw_residual(bottom, x.t, x.residual, float(np.abs(x.residual).max() / (np.abs(x.energy).max() or 1.0)))
    return finish_panels(figure, [top, middle, bottom], "t (s)")


def _largest_deformation(x: Result, name: str) -> Lines:
    """The component of the displacement u_f of an elastic body that is largest over all places and times, as one line over time."""
    line, axis, location = peak(x[f"{name}.u_f"], x.system.bodies[name].shape.places())
    return {f"{name}, {AXES[axis]} at {location}": line[:, axis]}


def _joint_panels(x: Result, names: Sequence[str]) -> Panels:
    """The coordinates of joints with these names: a panel of angles (rad) and one of slides (m)."""
    lines = {u: {n: x.coordinates[n] for n in names if coordinate_unit(n) == u} for u in COORDINATES}
    return [(f"joint {COORDINATES[u]} ({u})", some) for u, some in lines.items() if some]


def _energy_lines(x: Result) -> Lines:
    """Kinetic, elastic and potential energy of all bodies, energy of the springs if not zero, and their sum (J)."""
    if x.accounts is None:
        return {"all": x.energy}
    parts = {part: x.accounts.bodies[:, :, k].sum(axis=1) for k, part in enumerate(COMPONENTS)}
    parts["springs"] = x.accounts.springs.sum(axis=1)
    return {name: line for name, line in parts.items() if np.any(line)} | {"all": x.energy}


# --- chosen quantities -----------------------------------------------------------------------------------------------


def _panels_of_name(x: Result, name: object, s: float | None, at: Point) -> Panels:
    """The panels of one body, joint or quantity. Raises InputError or PortError if the name is none of these."""
    bodies, joints = x.system.bodies, x.system.joints
    if not isinstance(name, str):
        raise InputError(f"{name!r} is not a name; give the name of a body, of a joint or of a quantity")
    if name in bodies or f"{name}.1" in bodies:
        return _body_panels(x, name, s, at)
    if s is not None or at is not None:
        raise InputError(
            f"s= and at= are places of a body, and {name!r} is not one; the bodies are: {', '.join(bodies)}"
        )
    owner, _, quantity = name.rpartition(".")
    if name in joints:
        panels = _joint_panels(x, [f"{name}.{row.label}" for row in joints[name].coordinates]) + _effort_panels(x, name)
        if not panels:
            raise InputError(f"joint {name!r} has no angle, slide or force to plot")
        return panels
    if quantity == "lam" and owner in joints:
        return _effort_panels(x, owner)
    if name in x.coordinates:
        return _joint_panels(x, [name])
    try:
        values = x[name]
    except PortError:
        names = [*bodies, *joints, *x.names]
        raise PortError(unknown("body, joint or quantity", name, names)) from None
    return [(f"{quantity} ({unit_of_name(x.system, name)})", component_lines(name, values))]


def _body_panels(x: Result, name: str, s: float | None, at: Point) -> Panels:
    """Deformation and position of a body: at the place s or the point `at`, else where deformation is largest and of r_P."""
    elastic = name in x.system.bodies and x.system.bodies[name].coordinates
    if s is None and at is None:
        if name not in x.system.bodies:
            raise InputError(f"{name!r} is split into pieces; give a place on it: s=…")
        bent, moved = _largest_deformation(x, name) if elastic else {}, axis_lines(x[f"{name}.r_P"], f"{name}.r_P, ")
    else:
        where = f"{name} at {_place_label(s, at)}, "
        bent = axis_lines(x.displacement(name, s, at=at), where) if elastic else {}
        moved = axis_lines(x.position(name, s, at=at), where)
    return [*([("deformation (m)", bent)] if bent else []), ("position (m)", moved)]


def _place_label(s: float | None, at: Point) -> str:
    """The place s or the point `at` as text."""
    return f"s = {s:g}" if at is None else f"({', '.join(f'{float(a):g}' for a in np.ravel(at))})"


def _effort_panels(x: Result, name: str) -> Panels:
    """The multipliers λ of a joint: a panel of forces (N) and one of moments (N m)."""
    rows = x.system.joints[name].rows
    efforts = joint_efforts(rows, x[f"{name}.lam"]) if rows else {}
    named = {u: {f"{name}, {label}": line for label, line in lines.items()} for u, lines in efforts.items()}
    return [(f"joint {EFFORTS[u]} ({u})", lines) for u, lines in named.items()]


# --- stress over time ------------------------------------------------------------------------------------------------


def plot_stress(x: Result, name: str, stress: str | bool, s: float | None, at: Point) -> Figure:
    """The stress of a body at s or `at` over time; without these, maps of a beam's resultants over time and place, or the largest
    von Mises stress of a plate or solid and its point."""
    bodies = [name] if name in x.system.bodies else [*pieces_of(x.system.bodies, name)]
    if not bodies:
        raise InputError(unknown("body", name, x.system.bodies))
    if not x.system.bodies[bodies[0]].stresses:
        raise InputError(f"{name!r} has no stress: it is rigid")
    if s is not None or at is not None:
        return plot_lines(x.t, _stress_panels(x, name, s, at))
    if np.ndim(x.system.bodies[bodies[0]].shape.places()) == 1:
        return _stress_maps(x, name, bodies, stress)
    if stress is not True:
        hint = f"plot(result, {name!r}, stress=True) shows its largest stress, at=(x, y, z) the stress at a point"
        raise InputError(f"{name!r} is on a mesh and has no places along a line; {hint}")
    largest, location = x.von_mises(name)
    size = {f"{name}, largest von Mises": largest}
    return plot_lines(x.t, [("stress (Pa)", size), ("in body axes (m)", axis_lines(location, "where, "))])


def _stress_panels(x: Result, name: str, s: float | None, at: Point) -> Panels:
    """Stress resultants at the place s of a beam, one panel for each unit; or stress components at the material point `at`."""
    stresses = x.stress(name, s, at=at)
    lines = {f"{name}, {key} at {_place_label(s, at)}": line for key, line in stresses.items()}
    if at is not None:
        stress = {key: line for key, line in lines.items() if np.any(line)}
        return [("stress (Pa)", stress | {"von Mises": von_mises(np.column_stack(list(stresses.values())))})]
    panels: dict[str, Lines] = {}
    for (label, line), key in zip(lines.items(), stresses, strict=True):
        panels.setdefault("force (N)" if key[0] in "NQ" else "moment (N m)", {})[label] = line
    return list(panels.items())


def _stress_maps(x: Result, name: str, bodies: list[str], stress: str | bool) -> Figure:
    """Colour maps over time and place of one stress resultant of a beam (or its pieces), or of all that are not zero."""
    indices = even_indices(len(x), MAX_TIMES)
    place, resultants = resultants_along(x, bodies, indices)
    names = _nonzero_resultants(resultants) if stress is True else [resultant_name(str(stress))]
    if names[0] not in resultants:
        raise InputError(unknown(f"stress resultant of {name!r},", names[0], resultants))
    figure = new_figure(7.5, 2.4 * len(names) + 0.8)
    axes = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    for ax, key in zip(axes, names, strict=True):
        largest = float(np.abs(resultants[key]).max()) or 1.0
        factor, unit = prefixed_unit(largest, resultant_unit(key))
        colours = {"cmap": DIVERGING, "vmin": -largest / factor, "vmax": largest / factor}
        mesh = ax.pcolormesh(
            x.t[indices], place, resultants[key].T / factor, shading="nearest", rasterized=True, **colours
        )
        ax.set_ylabel(f"s along {label_text(name)}")
        figure.colorbar(mesh, ax=ax, label=f"{key} ({unit})")
    axes[-1].set_xlabel("t (s)")
    return figure


def resultants_along(x: Result, bodies: list[str], times: np.ndarray) -> tuple[np.ndarray, Lines]:
    """Places s along all pieces of a beam, as fractions of the whole, and the resultants there by name, (times, places)."""
    places: list[np.ndarray] = []
    resultants: dict[str, list[np.ndarray]] = {}
    for k, piece in enumerate(bodies):
        shape, sigma = x.system.bodies[piece].shape, x[f"{piece}.sigma"][times]
        s = shape.places()
        inner = np.unique(np.concatenate([s[:-1] + part * np.diff(s) for part in (0.25, 0.75)]))  # not at jumps
        places.append((k + inner) / len(bodies))
        for key, rows in shape.stress(inner).items():
            resultants.setdefault(key, []).append(sigma @ rows.T.toarray())
    return np.concatenate(places), {key: np.hstack(parts) for key, parts in resultants.items()}


def _nonzero_resultants(resultants: Lines) -> list[str]:
    """The names of resultants that are not negligible beside the largest force or moment; the first name if all are zero."""
    sizes = {key: float(np.abs(values).max()) for key, values in resultants.items()}
    most = {kind: max((v for k, v in sizes.items() if (k[0] in "NQ") == kind), default=0.0) for kind in (True, False)}
    return [key for key, size in sizes.items() if size > NEGLIGIBLE * most[key[0] in "NQ"]] or list(resultants)[:1]


PLOTS: dict[type, Callable[[Any], Figure]] = {
    Modes: plot_modes,
    Response: analyses.plot_response,
    BandError: analyses.plot_band_error,
    PoleZeros: analyses.plot_pole_zeros,
    Campbell: analyses.plot_campbell,
    LinearResult: plot_linear_result,
    Ledger: plot_ledger,
    Ensemble: analyses.plot_ensemble,
    LimitSearch: analyses.plot_limit_search,
}
