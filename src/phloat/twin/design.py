"""The best values of parameters and gains, found with gradients of runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize

from phloat.errors import AccuracyError, ConvergenceError, InputError, finite, mapping, positive, unknown, whole_number
from phloat.motion.run.progress import Bar

if TYPE_CHECKING:
    from phloat.twin.gradients import Problem


Values = Mapping[Any, float]
Asked = Callable[[dict[Any, float]], tuple[float, Values]]  # variables by name → the number and its derivatives
Limit = Callable[[Values], float]  # variables by name → what must not be negative
Slopes = Callable[[Values], Values]
Constraint = Limit | tuple[Limit, Slopes | None]
FAILURES = (InputError, AccuracyError, ConvergenceError, np.linalg.LinAlgError, FloatingPointError)
MET = 1e-6  # in x: how far outside a constraint counts as on it
STEP = 1e-4  # in x, for differences of constraints
ROUNDS = 4  # of scaling the number anew
ROUND_OFF = 1e-14  # of the first number: less is nothing
METHODS = {  # (with gradients, with constraints)
    **{(True, True): "SLSQP", (True, False): "L-BFGS-B"},
    **{(False, True): "COBYLA", (False, False): "Nelder-Mead"},
}
SIMPLEX = 0.1  # in x: the first step of searches without gradients
FREE_RUNS = 75  # that a search without gradients (Nelder–Mead) needs for each variable


@dataclass(frozen=True)
class Trial:
    """One run of a search: its variables and its number, or why there is none."""

    variables: Mapping[Any, float]
    number: float | None
    reason: str = ""


@dataclass(frozen=True)
class Design:
    """What a search found. `evaluations` counts all runs, `gradients` those that were differentiated too.

    `seconds` are those of each run; the first one includes compiling. `advice` says if a search without gradients had been quicker.
    """

    values: dict[Any, float]
    gains: dict[str, float]
    number: float
    history: tuple[Trial, ...]  # every run, in order
    evaluations: int
    gradients: int
    converged: bool
    message: str
    seconds: tuple[float, ...] = ()

    @property
    def compiling(self) -> float:
        """How long the first run took more than later ones (s)."""
        return max(self.seconds[0] - float(np.median(self.seconds[1:])), 0.0) if len(self.seconds) > 1 else 0.0

    @property
    def advice(self) -> str:
        """A sentence if compiling the gradient took longer than a search without gradients, else nothing."""
        variables = len(self.values) + len(self.gains)
        if not self.gradients or self.compiling <= FREE_RUNS * variables * float(
            np.median(self.seconds[1:] or [np.inf])
        ):
            return ""
        return (
            f"compiling took {self.compiling:.0f} s, longer than the {FREE_RUNS * variables} runs that a search without gradients "
            f"needs for {variables} variable{'s' * (variables > 1)}: gradients=False, which compiles less, or SciPy's minimize "
            "(Nelder-Mead) around simulate, which compiles nothing, would be quicker"
        )

    @property
    def failed(self) -> tuple[Trial, ...]:
        """Runs that gave no number, with the reason."""
        return tuple(trial for trial in self.history if trial.number is None)

    def __str__(self) -> str:
        first = self.history[0]
        counts = f"{self.evaluations} runs, {self.gradients} with gradients, {len(self.failed)} failed"
        if self.seconds:
            counts += f", {sum(self.seconds):.0f} s ({self.compiling:.0f} s to compile)"
        lines = [f"{counts}: {self.message}", f"  number: {first.number:.6g} → {self.number:.6g}"]
        lines += [f"  {k}: {first.variables[k]:.6g} → {v:.6g}" for k, v in {**self.values, **self.gains}.items()]
        return "\n".join([*lines, *([f"  {self.advice}"] if self.advice else [])])


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
    progress: bool | None = None,
) -> Design:
    """The values and gains between their bounds for which the number of the problem is least, as far as a local search sees.

    `constraints` are functions of all variables by name, {name: value} → a number that must not be negative, alone or in a pair
    with the function of their derivatives, {name: value} → {name: derivative}; without it they are differenced. The method is
    SLSQP, or L-BFGS-B without constraints; with `gradients=False`, which asks for numbers only, COBYLA, or Nelder–Mead without
    constraints. The search ends when the number changes by less than `tolerance` of itself, after `most` runs, or as soon as it
    is `until` or less. A run that fails (an impossible body, Newton's method, NaN) is kept in `failed` with the reason, and the
    search backs off; if the first one fails, so does the call. `progress` shows what is compiled, then each run with its number
    and gradient (the norm, by the variables as fractions of their bounds): on terminals and in notebooks, or always if True.
    """
    start = _started(values, gains or {}, bounds)
    scales = {name: Scale(*map(float, bounds[name])) for name in start}
    whole_number("most", most, 1)
    asked_with_gradient = 0
    display = Display(most, "the run and its gradient" if gradients else "the run", Bar(progress))

    def asked(variables: dict[Any, float]) -> tuple[float, Values]:
        nonlocal asked_with_gradient
        now = {name: variables[name] for name in values}
        set_to = {name: variables[name] for name in gains} if gains else None
        if not gradients:
            return problem.value(now, set_to), {}
        answer = problem.gradient(now, set_to)
        asked_with_gradient += 1
        return answer

    pairs = [given if isinstance(given, tuple) else (given, None) for given in constraints]
    search = Search(asked, scales, pairs, most, until, display)
    method = METHODS[gradients, bool(constraints)]
    try:
        message, converged = search.go(start, method, positive("tolerance", tolerance))
    finally:
        display.bar.clear()
    x, number = search.best()
    if (short := search.short(x)) > 0.0:
        raise InputError(
            f"none of {len(search.trials)} runs meets the constraints: the nearest is {short:.1e} of the range of the variables "
            "outside; widen the bounds, or start where the constraints hold"
        )
    best = search.named(x)
    found = {name: best[name] for name in values}, {name: best[name] for name in gains or {}}
    counts = len(search.trials), asked_with_gradient
    return Design(*found, number, tuple(search.trials), *counts, converged, message, tuple(display.seconds))


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


# --- a search between bounds over runs that may fail: every run is made once and kept, a failed one is a wall ------------
#
# Places x are 0 … 1 between the bounds of each variable; a range over more than a decade is taken by its logarithm.


@dataclass(frozen=True)
class Scale:
    """A variable between its bounds as 0 … 1."""

    low: float
    high: float

    @property
    def decades(self) -> bool:
        return self.low > 0.0 and self.high > 10.0 * self.low

    def place(self, value: float) -> float:
        if self.decades:
            return log(value / self.low) / log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def value(self, x: float) -> float:
        value = self.low * exp(x * self.stretch) if self.decades else self.low + x * self.stretch
        return min(max(value, self.low), self.high)

    @property
    def stretch(self) -> float:
        return log(self.high / self.low) if self.decades else self.high - self.low

    def slope(self, value: float) -> float:
        """d value / d x."""
        return value * self.stretch if self.decades else self.stretch


@dataclass(eq=False)
class Display:
    """The progress of a search, and how long each run took."""

    most: int
    what: str  # is compiled
    bar: Bar
    seconds: list[float] = field(default_factory=list)
    begin: float = 0.0

    def before(self) -> None:
        """Before a run: says what the first one compiles, at once."""
        if not self.seconds and not self.bar.hidden:
            self.bar.draw(0.0, f"run 1 compiles {self.what}, unless that is done: half a minute to two, as a rule")
        self.begin = time.perf_counter()

    def after(self, number: float | None, slope: float = 0.0) -> None:
        """After a run with this number (None: it failed) and this norm of the slopes by x (0: it has none)."""
        self.seconds.append(time.perf_counter() - self.begin)
        if self.bar.due() or (len(self.seconds) == 1 and not self.bar.hidden):
            found = "failed" if number is None else f"{number:.6g}" + (f", gradient {slope:.1e}" if slope else "")
            run = f"run {len(self.seconds)} of at most {self.most}, {self.bar.elapsed:.0f} s: {found}"
            self.bar.draw(len(self.seconds) / self.most, run)


class OverError(Exception):
    """The search need not, or must not, go on."""

    def __init__(self, message: str, well: bool) -> None:
        super().__init__(message)
        self.well = well


@dataclass(eq=False)
class Search:
    """The least number that `asked` gives, and all that was asked."""

    asked: Asked
    scales: Mapping[Any, Scale]
    constraints: Sequence[tuple[Limit, Slopes | None]]
    most: int
    until: float | None
    display: Display
    trials: list[Trial] = field(default_factory=list)
    known: dict[bytes, tuple[float, np.ndarray]] = field(default_factory=dict)
    sizes: list[float] = field(default_factory=list)  # of the slopes of the constraints at the start

    def go(self, start: Values, method: str, tolerance: float) -> tuple[str, bool]:
        """Search from here; how it ended, and whether well. The number is scaled anew where it falls tenfold."""
        x = np.array([scale.place(start[name]) for name, scale in self.scales.items()])
        try:
            self.sizes = [1.0] * len(self.constraints)
            self.sizes = [float(np.linalg.norm(self.steep(k, x))) or 1.0 for k in range(len(self.constraints))]
            number, _ = self.run(x)
            first, message, well = abs(number), "", False
            for _ in range(ROUNDS):
                size = abs(number) or 1.0
                end = minimize(x0=x, **self.task(size, method, tolerance))
                if end.success or not well:
                    message, well = str(end.message), bool(end.success)
                x, number = self.best()
                if abs(number) > 0.1 * size or abs(number) <= ROUND_OFF * first:
                    break
        except OverError as over:
            return str(over), over.well
        return message, well

    def named(self, x: np.ndarray) -> dict[Any, float]:
        return {name: scale.value(float(a)) for (name, scale), a in zip(self.scales.items(), x, strict=True)}

    def run(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """The number and its slopes by x. A failure of the first run is an error, a later one a wall."""
        x = np.clip(x, 0.0, 1.0)
        if x.tobytes() in self.known:
            return self.known[x.tobytes()]
        if len(self.trials) >= self.most:
            raise OverError(f"stopped after {self.most} runs", False)
        variables = self.named(x)
        self.display.before()
        try:
            number, slopes = self.asked(variables)
            row = np.array([slopes.get(name, 0.0) * s.slope(variables[name]) for name, s in self.scales.items()])
            if not (np.isfinite(number) and np.isfinite(row).all()):
                raise InputError(
                    f"the number of the run is {number:g} and its derivatives are {dict(slopes)}: not finite"
                )
        except FAILURES as failure:
            if not self.known:
                raise
            self.trials.append(Trial(variables, None, str(failure)))
            self.display.after(None)
            return self.wall(x)
        self.trials.append(Trial(variables, number))
        self.display.after(number, float(np.linalg.norm(row)))
        self.known[x.tobytes()] = number, row
        if self.until is not None and number <= self.until and self.short(x) == 0.0:
            raise OverError(f"the number is {self.until:g} or less", True)
        return number, row

    def wall(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """A parabola from the best place up to far above all that is known: a line search turns back."""
        centre, number = self.best()
        height = 10.0 * (max(abs(known) for known, _ in self.known.values()) or 1.0)
        away = x - centre
        return number + height, 2.0 * height * away / max(float(away @ away), np.finfo(float).tiny)

    def best(self) -> tuple[np.ndarray, float]:
        """The lowest number among the places that meet the constraints, or the place that misses them least."""
        places = [(np.frombuffer(key), number) for key, (number, _) in self.known.items()]
        return min(places, key=lambda place: (self.short(place[0]), place[1]))

    def short(self, x: np.ndarray) -> float:
        """How far a place is outside the constraints, in x; 0 where they are met."""
        least = min([0.0, *(self.limit(k, x) for k in range(len(self.constraints)))])
        return 0.0 if least >= -MET else -least

    def limit(self, k: int, x: np.ndarray) -> float:
        """A constraint, scaled so that its slope is about one."""
        made = self.constraints[k][0](self.named(np.clip(x, 0.0, 1.0)))
        return float(finite(f"constraint {k}", made, ())) / self.sizes[k]

    def steep(self, k: int, x: np.ndarray) -> np.ndarray:
        """Its slopes by x, given or differenced inside the bounds."""
        slopes = self.constraints[k][1]
        if slopes is None:
            high, low = (np.clip(x + step * np.eye(len(x)), 0.0, 1.0) for step in (STEP, -STEP))
            rises = [self.limit(k, a) - self.limit(k, b) for a, b in zip(high, low, strict=True)]
            return np.array(rises) / np.diag(high - low)
        variables = self.named(np.clip(x, 0.0, 1.0))
        row = mapping(f"the derivatives of constraint {k}", slopes(variables), "{variable: derivative}")
        for name in row:
            if name not in self.scales:
                raise InputError(unknown(f"variable of constraint {k}", name, map(str, self.scales)))
        made = [row.get(name, 0.0) * scale.slope(variables[name]) for name, scale in self.scales.items()]
        return finite(f"the derivatives of constraint {k}", made, (len(x),)) / self.sizes[k]

    def task(self, size: float, method: str, tolerance: float) -> dict[str, Any]:
        """What SciPy is asked."""

        def scaled(x: np.ndarray) -> tuple[float, np.ndarray]:
            number, slopes = self.run(x)
            return number / size, slopes / size

        count = range(len(self.constraints))
        limits = [{"type": "ineq", "fun": lambda x, k=k: self.limit(k, x)} for k in count]
        task: dict[str, Any] = {"method": method, "bounds": [(0.0, 1.0)] * len(self.scales)}
        if method == "COBYLA":
            options = {"tol": tolerance**0.5, "maxiter": 10 * self.most, "rhobeg": SIMPLEX}
            return task | {"fun": lambda x: scaled(x)[0], "constraints": limits, "options": options}
        if method == "Nelder-Mead":
            x, _ = self.best()
            corners = np.vstack([x, x + np.diag(np.where(x > 0.5, -SIMPLEX, SIMPLEX))])
            options = {
                "xatol": tolerance**0.5,
                "fatol": tolerance,
                "maxfev": 10 * self.most,
                "initial_simplex": corners,
            }
            return task | {"fun": lambda x: scaled(x)[0], "options": options}
        task |= {"fun": scaled, "jac": True, "options": {"ftol": tolerance, "maxiter": self.most}}
        if method == "L-BFGS-B":
            task["options"]["gtol"] = tolerance**0.5  # the number is then as near, by its curvature
        else:
            task["constraints"] = [
                old | {"jac": lambda x, k=k: self.steep(k, x)} for k, old in zip(count, limits, strict=True)
            ]
        return task
