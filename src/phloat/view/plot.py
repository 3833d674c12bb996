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
from phloat.view.diagram import plot_diagram
from phloat.view.ensemble import plot_ensemble
from phloat.view.figures import require_package
from phloat.view.frequency import plot_band_error, plot_campbell, plot_matrices, plot_pole_zeros, plot_response
from phloat.view.mechanism import plot_modes, plot_system
from phloat.view.over_time import (
    Point,
    plot_ledger,
    plot_linear_result,
    plot_quantities,
    plot_result,
    plot_stress,
)

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
Plottable = (
    Modes
    | Response
    | BandError
    | PoleZeros
    | Campbell
    | LinearPHDAE
    | LinearResult
    | Ledger
    | Ensemble
    | System
    | Result
)


def plot(
    x: Plottable,
    of: State | str | Sequence[str] | None = None,
    *,
    s: float | None = None,
    at: Point = None,
    stress: bool | str = False,
) -> Figure:
    """A figure of modes (shapes), a response (Bode, singular values), poles and zeros, a Campbell diagram, a linear system
    (matrices), a system (its block diagram; `plot(system, state)`: the mechanism in that state), a result (over time), a ledger
    (energy stored, supplied and dissipated) or an ensemble (distributions and bands).

    Of a result, selected quantities: `plot(result, "rod", s=0.5)` a body at a place (or at a material point, at=(x, y, z)),
    `plot(result, "hinge")` a joint with its forces, `plot(result, ["rod.theta", "hinge.lam"])` quantities.
    `plot(result, "rod", stress="M_z")` maps a stress resultant along the beam over time, stress=True all of them; of plates and
    solids the largest stress. `plot(system, state, stress=True)` shades plates and solids by their von Mises stress.
    """
    require_package("matplotlib", "plot")
    if isinstance(x, System):
        return _system(x, of, s, at, stress)
    if isinstance(x, Result):
        return _result(x, of, s, at, stress)
    for kind, draw in PLOTS.items():
        if isinstance(x, kind):
            _require_no_options(kind.__name__, of=of, s=s, at=at, stress=stress or None)
            return draw(x)
    raise InputError(
        f"{type(x).__name__} cannot be plotted; plot takes {', '.join(k.__name__ for k in PLOTS)}, System or Result"
    )


def _system(x: System, of: object, s: object, at: Point, stress: bool | str) -> Figure:
    _require_no_options("System", s=s, at=at)
    if of is None and not stress:
        return plot_diagram(x)
    if not isinstance(of, State):
        raise InputError(
            f"a System is plotted with a State, plot(system, state), or alone as a diagram; not with {of!r}"
        )
    return plot_system(x, of, stress=bool(stress))


def _result(x: Result, of: object, s: float | None, at: Point, stress: bool | str) -> Figure:
    if isinstance(of, State):
        raise InputError("a Result has many states; plot(result.system, state) draws one of them")
    if of is None:
        _require_no_options("Result as a whole", s=s, at=at, stress=stress or None)
        return plot_result(x)
    names = [of] if isinstance(of, str) else list(of) if isinstance(of, Sequence) else [of]
    if not names:
        raise InputError("the list of names is empty; give the name of a body, of a joint or of a quantity")
    if not stress:
        return plot_quantities(x, names, s, at)
    if len(names) > 1 or not isinstance(names[0], str):
        raise InputError(f"stress is plotted for one body at a time, not for {of!r}")
    return plot_stress(x, names[0], stress, s, at)


def _require_no_options(what: str, **given: object) -> None:
    """Raises InputError if an option is given."""
    if wrong := [name for name, value in given.items() if value is not None]:
        raise InputError(f"plot of a {what} takes no {', '.join(wrong)}")
