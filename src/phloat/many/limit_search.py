"""The smallest or largest value of a design variable for which a number, such as one of a run, meets a limit."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from phloat.errors import FailedSamplesWarning, InputError, SeveralCrossingsWarning, finite, positive, whole_number
from phloat.motion.run.progress import Bar

REFINEMENTS = 6  # evaluations after the samples that the progress bar expects
FRACTION = 0.01  # of the distance between samples: the tolerance unless it is given
MOST_LISTED = 12  # evaluations in a message


@dataclass(frozen=True, eq=False)
class LimitSearch:
    """What `find_smallest` and `find_largest` return: `x`, the `number` there, and all evaluations.

    `values` are all x that were tried, ascending, and `numbers` the numbers there, NaN where the evaluation failed; `failed` has
    the reasons by x. `neighbour` is the nearest x that was tried and does not meet the limit.
    """

    x: float
    number: float
    limit: float
    neighbour: float
    values: np.ndarray
    numbers: np.ndarray
    failed: dict[float, str]
    goal: str  # "smallest" or "largest"
    relation: str  # "≤" or "≥"
    names: tuple[str, str]  # of the variable and of the number, from the function

    def __repr__(self) -> str:
        variable, number = self.names
        found = f"{self.goal} {variable} = {self.x:.6g}: {number} = {self.number:.6g} {self.relation} {self.limit:g}"
        beside = self.numbers[self.values == self.neighbour][0]
        missed = "it fails" if np.isnan(beside) else f"it is {beside:.6g}"
        return f"{found}; at {self.neighbour:.6g} {missed}; {len(self.values)} evaluations, {len(self.failed)} failed"


def find_smallest(
    number: Callable[[float], Any],
    between: tuple[float, float],
    *,
    below: float | None = None,
    above: float | None = None,
    samples: int = 9,
    tolerance: float | None = None,
    progress: bool | None = None,
) -> LimitSearch:
    """The smallest x from which on number(x) meets a limit, up to the end of a range.

    The number may be anything that follows from x: the peak of a run, a frequency, a static deflection. It is evaluated at
    `samples` values, and then between the largest one that does not meet the limit and the next (ITP method: at most one
    evaluation more than bisection), and at peaks that the samples suggest. It need not be monotonic, but what happens between
    two samples is not seen otherwise.
    `find_largest` has the same arguments and finds the largest x up to which the limit is met.

    Parameters
    ----------
    number : function of float
        Returns a number. An evaluation that raises an error, or returns NaN, counts as one that does not meet the limit, and is
        reported.
    between : (float, float)
        The lowest and the highest x.
    below, above : float
        The limit, one of them: number(x) ≤ below, or number(x) ≥ above.
    samples : int, optional
        How many x are tried first, evenly spaced; by equal ratios if the range covers more than a decade.
    tolerance : float, optional
        How far the answer may be from an x that does not meet the limit. Default: a hundredth of the distance of the samples.
    progress : bool, optional
        Whether to show progress.

    Returns
    -------
    LimitSearch
        `x`, which was evaluated and meets the limit, the `number` there, `values` and `numbers` of all evaluations, `failed`.
        `print` shows one line, `plot` all evaluations.

    Raises
    ------
    InputError
        No sample meets the limit (the message has the best one), all do, or the largest one does not.

    Warns
    -----
    SeveralCrossingsWarning
        Smaller x meet the limit too, but not all between them and the answer.
    FailedSamplesWarning
        Evaluations have failed.

    Examples
    --------
    A force of 100 N bends a cantilever of steel by F L³ / (3 E I). How high must its section be to bend by no more than 1 mm?

    >>> steel = ph.Material(E=210e9, rho=7800.0, nu=0.3)
    >>> def deflection(height):
    ...     beam = ph.Beam(1.0, ph.Rectangle(0.02, height), steel).discretise(2)
    ...     loads = [ph.Weld("ground", "beam.P"), ph.Force("beam.C", along=(0, -1, 0), name="load")]
    ...     system = ph.connect({"beam": beam}, loads, plane="xy")
    ...     bent = ph.equilibrium(system, ph.place(system), u={"load": 100.0})
    ...     return -bent["beam.u_f"][-1, 1]
    >>> found = ph.find_smallest(deflection, between=(0.01, 0.1), below=1e-3, tolerance=1e-6)
    >>> print(round(found.x, 5), round((4 * 100.0 * 1.0**3 / (210e9 * 0.02 * 1e-3)) ** (1 / 3), 5))
    0.04567 0.04567
    """
    return _search("smallest", number, between, below, above, samples, tolerance, progress)


def find_largest(
    number: Callable[[float], Any],
    between: tuple[float, float],
    *,
    below: float | None = None,
    above: float | None = None,
    samples: int = 9,
    tolerance: float | None = None,
    progress: bool | None = None,
) -> LimitSearch:
    """The largest x up to which, from the low end of a range, number(x) ≤ below, or number(x) ≥ above; see `find_smallest`.

    Examples
    --------
    >>> found = ph.find_largest(lambda speed: 0.5 * speed**2, between=(0.0, 4.0), below=2.0, tolerance=1e-6)
    >>> round(found.x, 5)
    2.0
    """
    return _search("largest", number, between, below, above, samples, tolerance, progress)


def _search(
    goal: str,
    number: Callable[[float], Any],
    between: tuple[float, float],
    below: float | None,
    above: float | None,
    samples: int,
    tolerance: float | None,
    progress: bool | None,
) -> LimitSearch:
    """Samples from the far end of the range, then a root search between the first one that misses the limit and the one before."""
    run = _Evaluations(number, *_limit(number, below, above), whole_number("samples", samples, 2), Bar(progress))
    if tolerance is not None:
        positive("tolerance", tolerance)
    values = _samples(between, samples)
    try:
        for x in values:
            run.excess(x)
        _try_peaks(run, values)
        values = sorted(run.numbers, reverse=goal == "smallest")
        meets = [run.meets(x) for x in values]
        _require_crossing(run, goal, values, meets)
        first = meets.index(False)
        _refine(run, values[first], values[first - 1], tolerance)
    finally:
        run.bar.clear()
    return _found(run, goal)


def _try_peaks(run: _Evaluations, values: list[float]) -> None:
    """Evaluates where three samples that meet the limit suggest a peak that does not: at the vertex of their parabola."""
    for x, y, z in zip(values, values[1:], values[2:], strict=False):
        if all(map(run.meets, (x, y, z))) and run.excess(y) >= max(run.excess(x), run.excess(z)):
            rise, fall = ((run.excess(b) - run.excess(a)) / (b - a) for a, b in ((x, y), (y, z)))
            if (curve := (fall - rise) / (z - x)) < 0.0:
                vertex = 0.5 * (x + y - rise / curve)
                if run.excess(x) + (rise + curve * (vertex - y)) * (vertex - x) > 0.0:
                    run.excess(vertex)


def _refine(run: _Evaluations, bad: float, good: float, tolerance: float | None) -> None:
    """Evaluates between an x that meets the limit and one that does not, until they are this close, with one evaluation more than
    bisection at most (the ITP method of Oliveira and Takahashi, ACM Trans. Math. Softw. 47, 2021, for k1 = 0.2, k2 = 2, n0 = 1)."""
    width = abs(good - bad)
    tolerance = max(tolerance or FRACTION * width, 4.0 * np.spacing(max(abs(good), abs(bad))))
    steps = np.ceil(np.log2(width / (0.999 * tolerance)))
    widest = 0.999 * tolerance * 2.0**steps  # half of it may be left after this step
    while abs(good - bad) > tolerance:
        middle, now = 0.5 * (good + bad), abs(good - bad)
        miss, kept = run.excess(bad), run.excess(good)
        secant = middle if np.isnan(miss) else (miss * good - kept * bad) / (miss - kept)
        inwards, pulled = np.sign(middle - secant), 0.2 * now**2 / width
        x = secant + inwards * pulled if pulled <= abs(middle - secant) else middle
        if abs(x - middle) > (slack := widest - 0.5 * now):
            x = middle - inwards * slack
        x = float(x)
        good, bad = (x, bad) if run.meets(x) else (good, x)
        widest *= 0.5


def _limit(number: object, below: float | None, above: float | None) -> tuple[float, float]:
    """The limit, and 1.0 if the number must not be greater than it, −1.0 if not less."""
    if not callable(number):
        raise InputError(f"{number!r} is no function; give one of x that returns a number: lambda x: …")
    if (below is None) == (above is None):
        raise InputError("give one limit: below=… (number(x) ≤ below) or above=… (number(x) ≥ above)")
    given = finite("the limit", below if above is None else above, ())
    return float(given), 1.0 if above is None else -1.0


def _samples(between: tuple[float, float], samples: int) -> list[float]:
    low, high = map(float, finite("between", between, (2,)))
    if not low < high:
        raise InputError(f"between is ({low:g}, {high:g}); the first must be the lower one")
    spaced = np.geomspace if low > 0.0 and high > 10.0 * low else np.linspace
    return [float(x) for x in spaced(low, high, samples)]


@dataclass(eq=False)
class _Evaluations:
    """The number at all x that were tried, each evaluated once."""

    function: Callable[[float], Any]
    limit: float
    sign: float
    samples: int
    bar: Bar
    numbers: dict[float, float] = field(default_factory=dict)
    failed: dict[float, Exception] = field(default_factory=dict)

    def excess(self, x: float) -> float:
        """How far the number is beyond the limit, negative where it keeps it; NaN where the evaluation fails."""
        if x not in self.numbers:
            try:
                self.numbers[x] = float(finite("the number", self.function(x), ()))
            except Exception as error:
                self.numbers[x], self.failed[x] = np.nan, error
            self._show(x)
        return self.sign * (self.numbers[x] - self.limit)

    def _show(self, x: float) -> None:
        done, total = len(self.numbers), self.samples + REFINEMENTS
        if self.bar.due():
            self.bar.draw(
                min(done / total, 1.0), f"{done} of about {total} evaluations, {x:.6g}: {self.numbers[x]:.6g}"
            )

    @property
    def names(self) -> tuple[str, str]:
        """The names of the variable and of the number, from the function where it has them."""
        try:
            variable = next(iter(inspect.signature(self.function).parameters), "x")
        except (TypeError, ValueError):
            variable = "x"
        name = getattr(self.function, "__name__", "number")
        return variable, "number" if name == "<lambda>" else name

    def meets(self, x: float) -> bool:
        return self.excess(x) <= 0.0

    def listed(self) -> str:
        """The evaluations as text, ascending."""
        text = [
            f"{x:.6g}: " + ("failed" if x in self.failed else f"{self.numbers[x]:.6g}") for x in sorted(self.numbers)
        ]
        return ", ".join([*text[:MOST_LISTED], *(["…"] if len(text) > MOST_LISTED else [])])


def _require_crossing(run: _Evaluations, goal: str, tried: list[float], meets: list[bool]) -> None:
    """Raises InputError if no sample meets the limit, or the first one does."""
    relation = f"{'≤' if run.sign > 0 else '≥'} {run.limit:g}"
    variable, name = run.names
    if len(run.failed) == len(tried):
        error = run.failed[tried[0]]
        raise InputError(
            f"all {len(tried)} evaluations fail; at {variable} = {tried[0]:.6g}: {_reason(error)}"
        ) from error
    if not any(meets):
        best = min((x for x in tried if x not in run.failed), key=run.excess)
        raise InputError(
            f"no {variable} of {len(tried)} meets {name} {relation}: the best is {run.numbers[best]:.6g} at {best:.6g} "
            f"({run.listed()}); take a wider range, or a looser limit"
        )
    if all(meets):
        raise InputError(f"every {variable} meets {name} {relation} ({run.listed()}); take a wider range")
    if not meets[0]:
        kept = [x for x, good in zip(tried, meets, strict=True) if good]
        raise InputError(
            f"{variable} = {tried[0]:.6g}, the end of the range, does not meet {name} {relation} ({run.listed()}); let it end at "
            f"{kept[0]:.6g}, or use find_{'largest' if goal == 'smallest' else 'smallest'}"
        )


def _reason(error: Exception) -> str:
    return str(error) if type(error).__module__.startswith("phloat.") else f"{type(error).__name__}: {error}"


def _found(run: _Evaluations, goal: str) -> LimitSearch:
    """The answer: the last evaluation before the first miss, seen from the far end of the range; warns of what is beyond."""
    order = sorted(run.numbers, reverse=goal == "smallest")
    first = next(k for k, x in enumerate(order) if not run.meets(x))
    x, neighbour, beyond = order[first - 1], order[first], order[first + 1 :]
    variable, name = run.names
    warn = partial(warnings.warn, stacklevel=4)
    if kept := [x for x in beyond if run.meets(x)]:
        warn(
            f"{name} crosses the limit {run.limit:g} more than once: {variable} = {kept[0]:.6g} meets it too, but not all between "
            f"there and {x:.6g} do; plot the result, and try more samples",
            SeveralCrossingsWarning,
        )
    if run.failed:
        at = neighbour if neighbour in run.failed else next(iter(run.failed))
        ends = f"the {goal} {variable} is where they begin, not at the limit; " if neighbour in run.failed else ""
        warn(
            f"{len(run.failed)} of {len(order)} evaluations failed and count as not meeting the limit; {ends}"
            f"{variable} = {at:.6g}: {_reason(run.failed[at])}",
            FailedSamplesWarning,
        )
    values = np.array(sorted(run.numbers))
    numbers = np.array([run.numbers[value] for value in values.tolist()])
    relation = "≤" if run.sign > 0 else "≥"
    failed = {value: _reason(error) for value, error in sorted(run.failed.items())}
    return LimitSearch(x, run.numbers[x], run.limit, neighbour, values, numbers, failed, goal, relation, run.names)
