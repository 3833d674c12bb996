"""The best values of parameters and gains, found with gradients of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from phloat.errors import InputError, finite, mapping, positive, unknown
from phloat.twin.search import Constraint, Scale, Search, Trial, Values

if TYPE_CHECKING:
    from phloat.twin.gradients import Problem


@dataclass(frozen=True)
class Design:
    """What a search found. `evaluations` counts all runs, `gradients` those that were differentiated too."""

    values: dict[Any, float]
    gains: dict[str, float]
    number: float
    history: tuple[Trial, ...]  # every run, in order
    evaluations: int
    gradients: int
    converged: bool
    message: str

    @property
    def failed(self) -> tuple[Trial, ...]:
        """Runs that gave no number, with the reason."""
        return tuple(trial for trial in self.history if trial.number is None)

    def __str__(self) -> str:
        first = self.history[0]
        counts = f"{self.evaluations} runs, {self.gradients} with gradients, {len(self.failed)} failed"
        lines = [f"{counts}: {self.message}", f"  number: {first.number:.6g} → {self.number:.6g}"]
        lines += [f"  {k}: {first.variables[k]:.6g} → {v:.6g}" for k, v in {**self.values, **self.gains}.items()]
        return "\n".join(lines)


def optimise(
    problem: Problem,
    values: Values,
    *,
    gains: Mapping[str, float] | None = None,
    bounds: Mapping[Any, tuple[float, float]],
    constraints: Sequence[Constraint] = (),
    gradients: bool = True,
    tolerance: float = 1e-8,
    most: int = 200,
    until: float | None = None,
) -> Design:
    """The values and gains between their bounds for which the number of the problem is least, as far as a local search sees.

    `constraints` are functions of all variables by name, {name: value} → a number that must not be negative, alone or in a pair
    with the function of their derivatives, {name: value} → {name: derivative}; without it they are differenced. SLSQP, or
    L-BFGS-B where there are none; with `gradients=False` COBYLA, which asks for numbers only. It ends when the number changes by
    less than `tolerance` of itself, after `most` runs, or as soon as it is `until` or less. A run that fails (an impossible
    body, Newton's method, NaN) is kept in `failed` with the reason, and the search backs off; if the first one fails, so does
    the call.
    """
    start = _started(values, gains or {}, bounds)
    scales = {name: Scale(*map(float, bounds[name])) for name in start}
    if not isinstance(most, int) or isinstance(most, bool) or most < 1:
        raise InputError(f"most={most!r} must be a number of runs, one or more")
    asked_with_gradient = 0

    def asked(variables: dict[Any, float]) -> tuple[float, Values]:
        nonlocal asked_with_gradient
        now = {name: variables[name] for name in values}
        set_to = {name: variables[name] for name in gains} if gains else None
        if not gradients:
            return problem.value(now, set_to), {}
        answer = problem.gradient(now, set_to)
        asked_with_gradient += 1
        return answer

    search = Search(asked, scales, constraints, most, until)
    method = ("SLSQP" if constraints else "L-BFGS-B") if gradients else "COBYLA"
    message, converged = search.go(start, method, positive("tolerance", tolerance))
    x, number = search.best()
    if (short := search.short(x)) > 0.0:
        raise InputError(
            f"none of {len(search.trials)} runs meets the constraints: the nearest is {short:.1e} of the range of the variables "
            "outside; widen the bounds, or start where the constraints hold"
        )
    best = search.named(x)
    found = {name: best[name] for name in values}, {name: best[name] for name in gains or {}}
    return Design(*found, number, tuple(search.trials), len(search.trials), asked_with_gradient, converged, message)


def _started(values: Values, gains: Mapping[str, float], bounds: Mapping[Any, tuple[float, float]]) -> dict[Any, float]:
    """All variables by name, or a sentence where they do not fit their bounds."""
    mapping("values", values, "{parameter: value}")
    mapping("gains", gains, "{gain: value}")
    mapping("bounds", bounds, "{name: (low, high)}")
    if twice := [name for name in gains if name in values]:
        raise InputError(f"{twice[0]!r} is a parameter and a gain; call the gain something else")
    start = {name: float(finite(f"the start of {name!r}", value, ())) for name, value in {**values, **gains}.items()}
    if not start:
        raise InputError("there is nothing to vary: give values={parameter: value}, or gains={gain: value}")
    for name in bounds:
        if name not in start:
            raise InputError(f"bounds name what is not varied: {unknown('variable', name, map(str, start))}")
    for name, value in start.items():
        if name not in bounds:
            raise InputError(f"{name!r} has no bounds, by which it is scaled; add bounds={{{name!r}: (low, high)}}")
        low, high = finite(f"bounds of {name!r}", bounds[name], (2,))
        if not low < high:
            raise InputError(f"bounds of {name!r} are ({low:g}, {high:g}); the first must be the lower one")
        if not low <= value <= high:
            raise InputError(f"{name!r} starts at {value:g}, outside its bounds ({low:g}, {high:g}); move one of them")
    return start
