"""plot(x): figures of modes, responses, systems, runs and their energy (extra `plot`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from phloat.analysis.campbell import Campbell
from phloat.errors import InputError
from phloat.linear.analysis.modes import Modes
from phloat.linear.analysis.poles_zeros import PoleZeros
from phloat.linear.analysis.response import Response
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.reduction.reduce import BandError
from phloat.linear.time.march import LinearResult
from phloat.many.results import Ensemble
from phloat.motion.ledger import Ledger
from phloat.motion.result import Result
from phloat.system.state import State
from phloat.system.system import System
from phloat.view.analyses import (
    plot_band_error,
    plot_campbell,
    plot_ensemble,
    plot_matrices,
    plot_pole_zeros,
    plot_response,
)
from phloat.view.diagram import plot_diagram
from phloat.view.figures import require_package
from phloat.view.mechanism import plot_modes, plot_system
from phloat.view.over_time import Point, plot_ledger, plot_linear_result, plot_quantities, plot_result, plot_stress

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLOTS: dict[type, Callable[[Any], Figure]] = {
    Modes: plot_modes,
    Response: plot_response,
    BandError: plot_band_error,
    PoleZeros: plot_pole_zeros,
    Campbell: plot_campbell,
    LinearPHDAE: plot_matrices,
    LinearResult: plot_linear_result,
    Ledger: plot_ledger,
    Ensemble: plot_ensemble,
}
Analysis = Modes | Response | BandError | PoleZeros | Campbell | LinearPHDAE | LinearResult | Ledger | Ensemble
Plottable = Analysis | System | Result


def plot(
    x: Plottable,
    of: State | str | Sequence[str] | None = None,
    *,
    s: float | None = None,
    at: Point = None,
    stress: bool | str = False,
) -> Figure:
    """A figure of a system, a run, or the results of an analysis.

    Modes give shapes, a response Bode plots and singular values, a linear system its matrices, a system its block diagram or, with
    a state, the mechanism in that state, a result its motion over time, a ledger the energy stored, supplied and dissipated, an
    ensemble distributions and bands; poles and zeros, Campbell diagrams and errors of reduction are drawn, too. Needs Matplotlib.

    Parameters
    ----------
    x : Modes, Response, LinearPHDAE, System, Result, Ledger, Ensemble, …
        What to plot.
    of : State, str or sequence of str, optional
        Of a system: the state in which it is drawn. Of a result: a body, "rod", a joint with its forces, "hinge", or quantities,
        ["rod.theta", "hinge.lam"].
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
    for kind, draw in PLOTS.items():
        if isinstance(x, kind):
            _require_none(kind.__name__, **options)
            return draw(x)
    names = ", ".join(kind.__name__ for kind in PLOTS)
    raise InputError(f"{type(x).__name__} cannot be plotted; plot takes {names}, System or Result")


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
        return plot_quantities(x, names, s, at)
    if len(names) > 1 or not isinstance(names[0], str):
        raise InputError(f"stress is plotted for one body at a time, not for {of!r}")
    return plot_stress(x, names[0], stress, s, at)


def _require_none(what: str, **options: object) -> None:
    """Raises InputError if one of these options of `plot`, which do not apply to x, is not None."""
    if wrong := [name for name, value in options.items() if value is not None]:
        raise InputError(f"plot of a {what} takes no {', '.join(wrong)}")
