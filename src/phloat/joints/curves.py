"""Force as a function of elongation or rate, given as a number, table, function or PPoly, stored as piecewise polynomials.

Tables are represented exactly, functions to an error of 1e-10.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from phloat.errors import InputError, finite, not_negative

if TYPE_CHECKING:  # the twin imports this module for `Pieces`, and runs where SciPy is not installed
    from scipy.interpolate import PPoly

DEGREE = 7  # of the polynomials that approximate a function
RELATIVE = 1e-10  # error of the fit relative to the largest force of the piece …
ABSOLUTE = 1e-13  # … plus this, relative to the largest force of the range
CHECKS = 2000  # least number of points of the range at which the fit is compared with the function
MOST = 2000  # pieces
SUSPECT = 6  # halvings after which a corner is searched
NODES = 0.5 - 0.5 * np.cos(np.pi * np.arange(DEGREE + 1) / DEGREE)  # Chebyshev–Lobatto points of (0, 1)
POWERS = np.vander(NODES, increasing=True)

Scalar = Callable[[float], float]


@dataclass(frozen=True, eq=False)
class Pieces:
    """f(x) = Σ_j c[k, j] (x − origin[k])^j with k the number of `bounds` below x; linear beyond the first and the last bound.

    `bounds` (n,) ascend, `origin` (n + 1,), `c` (n + 1, degree + 1). Without bounds f = 0.
    """

    bounds: np.ndarray
    origin: np.ndarray
    c: np.ndarray

    @property
    def empty(self) -> bool:
        """Whether there are no bounds."""
        return len(self.bounds) == 0

    @property
    def zero(self) -> bool:
        """Whether the force is zero everywhere."""
        return not np.any(self.c)

    @cached_property
    def area(self) -> np.ndarray:
        """∫f from 0 to the origin of each piece."""
        ends = np.concatenate([self.bounds[:1], self.bounds])
        parts = [self._within(k, self.origin[k], self.origin[k + 1]) for k in range(len(ends) - 1)]
        total = np.concatenate([[0.0], np.cumsum(parts)])
        k = self.piece(0.0)
        return total - (total[k] + self._within(k, self.origin[k], 0.0))

    def piece(self, x: float) -> int:
        """The index of the piece that contains x."""
        return int(np.searchsorted(self.bounds, x, side="right"))

    def _within(self, k: int, a: float, b: float) -> float:
        """The integral of polynomial k from a to b."""
        s, t = a - self.origin[k], b - self.origin[k]
        return float(sum(c / (j + 1) * (t ** (j + 1) - s ** (j + 1)) for j, c in enumerate(self.c[k])))

    def value(self, x: float) -> float:
        """The force at x."""
        return float(self.values(x))

    def values(self, x: np.ndarray | float) -> np.ndarray:
        """The forces at one or many x."""
        k = np.searchsorted(self.bounds, x, side="right")
        out, t = np.zeros(np.shape(x)), x - self.origin[k]
        for j in range(self.c.shape[1] - 1, -1, -1):
            out = out * t + self.c[k, j]
        return out

    def slope(self, x: float) -> float:
        """∂f/∂x at x."""
        if self.empty:
            return 0.0
        k = self.piece(x)
        t = x - self.origin[k]
        return float(sum(j * c * t ** (j - 1) for j, c in enumerate(self.c[k]) if j))

    def integral(self, x: float) -> float:
        """∫f from 0 to x."""
        if self.empty:
            return 0.0
        k = self.piece(x)
        return float(self.area[k]) + self._within(k, self.origin[k], x)

    def secant(self, x: float) -> float:
        """f/x of a resistance, at least 0; near x = 0 the slope."""
        if self.empty:
            return 0.0
        k = self.piece(x)
        if x == 0.0 or (k == self.piece(0.0) and abs(x) < 1e-6 * (self.bounds[-1] - self.bounds[0])):
            return max(self.slope(x), 0.0)
        return max(self.value(x) / x, 0.0)

    @cached_property
    def flat(self) -> np.ndarray:
        """One array for the kernel: number of coefficients, bounds, then origin, area and coefficients of each piece."""
        rows = np.column_stack([self.origin, self.area, self.c])
        return np.concatenate([[self.c.shape[1]], self.bounds, rows.ravel()])

    @cached_property
    def largest(self) -> float:
        """The largest force at the bounds."""
        return float(np.abs(self.values(self.bounds)).max(initial=0.0))

    def polynomials(self) -> PPoly:
        """The pieces between the bounds as piecewise polynomials of SciPy."""
        from scipy.interpolate import PPoly

        return PPoly(self.c[1:-1, ::-1].T.copy(), self.bounds.copy())


NONE = Pieces(np.zeros(0), np.zeros(1), np.zeros((1, 1)))


def with_straight_ends(bounds: np.ndarray, c: np.ndarray) -> Pieces:
    """Polynomials c (pieces, degree + 1) in x − bounds[k] between the bounds, continued linearly beyond them."""
    ends, c = np.zeros((2, c.shape[1])), np.ascontiguousarray(c)  # the same bits, whatever the strides were
    t = bounds[-1] - bounds[-2]
    powers = t ** np.arange(c.shape[1])
    ends[0, :2] = c[0, :2]
    ends[1, :2] = c[-1] @ powers, c[-1, 1:] @ (np.arange(1, c.shape[1]) * powers[:-1])
    return Pieces(bounds, np.concatenate([bounds[:1], bounds]), np.vstack([ends[:1], c, ends[1:]]))


def from_polynomials(label: str, polynomials: PPoly) -> Pieces:
    """The pieces of a PPoly of SciPy (CubicSpline, PchipInterpolator …). Raises InputError unless it is continuous."""
    x, c = finite(f"breaks of {label}", polynomials.x, polynomials.x.shape), np.asarray(polynomials.c)[::-1].T
    if c.ndim != 2 or len(x) < 2 or np.any(np.diff(x) <= 0.0):
        raise InputError(f"{label} has the breaks {x}; they must ascend, with one polynomial between each two")
    c = finite(f"coefficients of {label}", c, c.shape)
    c = c if c.shape[1] > 1 else np.column_stack([c, np.zeros(len(c))])
    ends = np.array([np.polynomial.polynomial.polyval(h, row) for h, row in zip(np.diff(x), c, strict=True)])
    size = np.abs(ends).max(initial=0.0)
    if (jumps := np.flatnonzero(np.abs(ends[:-1] - c[1:, 0]) > 1e-9 * size)).size:
        i = int(jumps[0])
        raise InputError(
            f"{label} jumps at {x[i + 1]:g} from {ends[i]:g} to {c[i + 1, 0]:g}; a force must be continuous"
        )
    return with_straight_ends(x, c)


def fit_function(label: str, f: Scalar, low: float, high: float) -> Pieces:
    """A function as polynomials of degree 7 on intervals that are halved until their error is 1e-10 of the force there.

    Intervals end at 0 and at corners. Raises InputError if that error cannot be reached, as at jumps and with noise.
    """
    starts, c = _Fit(label, f, low, high).pieces()
    return with_straight_ends(np.array([*starts, high]), np.array(c))


def breaks(label: str, f: Scalar, points: np.ndarray) -> np.ndarray:
    """Points between which a function is smooth enough for quadrature: `points`, corners, and jumps to 1e-12 of the range."""
    fit = _Fit(label, f, float(points[0]), float(points[-1]), narrowest=1e-12)
    return np.union1d(points, fit.pieces()[0])


@dataclass(eq=False)
class _Fit:
    """The approximation of a function from `low` to `high` by polynomials."""

    what: str
    f: Scalar
    low: float
    high: float
    narrowest: float = 0.0  # part of the range to which jumps are bracketed; 0 if they are refused

    def values(self, x: np.ndarray) -> np.ndarray:
        return np.array([self.value(float(value)) for value in x])

    def value(self, x: float) -> float:
        value = self.f(x)
        if isinstance(value, float) and np.isfinite(value):
            return value
        return float(finite(f"{self.what} at {x:g}", value, ()))

    def pieces(self) -> tuple[list[float], list[np.ndarray]]:
        """The starts of the pieces, and their coefficients."""
        span = self.high - self.low
        largest = float(np.abs(self.values(np.linspace(self.low, self.high, 65))).max())
        cuts = [self.low, 0.0, self.high] if self.low < 0.0 < self.high else [self.low, self.high]
        todo = [(a, b, 0) for a, b in reversed(list(pairwise(cuts)))]
        starts: list[float] = []
        coefficients: list[np.ndarray] = []
        while todo:
            a, b, depth = todo.pop()
            c, error, allowed = self._fit(a, b, largest, span)
            if error <= allowed or b - a < self.narrowest * span:
                starts.append(a)
                coefficients.append(c)
                continue
            middle = self._cut(a, b, depth)
            hopeless = b - a < 1e-12 * span and error > 1e-3 * largest
            if hopeless or not a < middle < b or len(starts) + len(todo) > MOST:
                self._raise_misfit(a, b, error)
            todo += [(middle, b, depth + 1), (a, middle, depth + 1)]
        return starts, coefficients

    def _fit(self, a: float, b: float, scale: float, span: float) -> tuple[np.ndarray, float, float]:
        """The polynomial in x − a through the nodes, its error between the nodes, and the allowed error."""
        h = b - a
        x = a + h * NODES
        x[-1] = b
        f = self.values(x)
        count = max(2 * DEGREE, int(np.ceil(CHECKS * h / span)))
        t = (np.arange(count) + 0.5) / count
        checks = self.values(a + h * t)
        c = np.linalg.solve(POWERS, f)
        c[0] = f[0]
        error = float(np.abs(np.polynomial.polynomial.polyval(t, c) - checks).max())
        largest = max(float(np.abs(f).max()), float(np.abs(checks).max()))
        return c / h ** np.arange(DEGREE + 1), error, RELATIVE * largest + ABSOLUTE * max(scale, largest)

    def _cut(self, a: float, b: float, depth: int) -> float:
        """The point at which an interval is divided: a corner if there seems to be one, else the middle."""
        if depth >= SUSPECT and depth % SUSPECT == 0:
            corner = self._corner(a, b)
            if a + 1e-3 * (b - a) < corner < b - 1e-3 * (b - a):
                return corner
        return 0.5 * (a + b)

    def _corner(self, a: float, b: float) -> float:
        """The position of a corner by fourth differences, which decrease with the width there, elsewhere with its fourth power."""
        margin = 1e-13 * (b - a)
        for _ in range(60):
            middle, eighth, (bend, size) = 0.5 * (a + b), 0.125 * (b - a), self._fourth_difference(a, b)
            if bend <= 1e-14 * size or not a < middle < b:
                break
            lower_bend, upper_bend = self._fourth_difference(a, middle)[0], self._fourth_difference(middle, b)[0]
            if max(lower_bend, upper_bend) < 0.05 * bend:  # the corner is in the middle
                a, b = middle - eighth, middle + eighth
            else:
                a, b = (a, middle) if lower_bend > upper_bend else (middle, b)
        return _short(a - margin, b + margin)

    def _fourth_difference(self, a: float, b: float) -> tuple[float, float]:
        f = self.values(np.linspace(a, b, 7))
        return float(np.abs(np.diff(f, 4)).max()), float(np.abs(f).max())

    def _raise_misfit(self, a: float, b: float, error: float) -> None:
        f = self.values(np.array([a, b]))
        narrow = b - a < 1e-9 * (self.high - self.low)
        jumps = narrow and abs(f[1] - f[0]) > max(0.5 * error, 1e-6 * np.abs(f).max())
        jump = f"it jumps there from {f[0]:g} to {f[1]:g}" if jumps else "it is too rough there"
        raise InputError(
            f"{self.what} is a function that polynomials of degree {DEGREE} miss by {error:.1e} near {_short(a, b):.6g}: "
            f"{jump}; make it continuous, with a steep slope instead of a jump, or give a table {{argument: force}}"
        )


def _short(a: float, b: float) -> float:
    """The number of fewest digits between a and b."""
    if a <= 0.0 <= b:
        return 0.0
    for digits in range(1, 17):
        near = float(f"{0.5 * (a + b):.{digits}g}")
        if a <= near <= b:
            return near
    return 0.5 * (a + b)


# --- input of users --------------------------------------------------------------------------------------------------

Curve: TypeAlias = "float | Mapping[float, float] | Callable[[float], float] | PPoly"
Range: TypeAlias = Sequence[float] | None


def curve(label: str, values: object, over: Range = None) -> tuple[float, Pieces]:
    """A constant slope and pieces, of which one is zero or empty, from a curve of any type.

    A mapping {argument: force} is linear between its entries, a function is approximated to 1e-10 of the force, and a PPoly of
    SciPy (CubicSpline …) is exact. Beyond the range all continue linearly. Raises InputError if `values` is none of these.
    """
    from scipy.interpolate import PPoly

    if isinstance(values, PPoly | Mapping) or not callable(values):
        if over is not None:
            raise InputError(f"{label} has over={over!r}, which belongs to a function; leave it out")
        if isinstance(values, PPoly):
            return 0.0, from_polynomials(label, values)
        if isinstance(values, Mapping):
            return 0.0, _table_pieces(label, values)
    elif over is None:
        raise InputError(f"{label} is a function; say where it will be needed: over=(from, to)")
    else:
        low, high = map(float, finite(f"over=(from, to) of {label}", over, (2,)))
        if not low < high:
            raise InputError(f"over=(from, to) of {label} is {tuple(over)}; the numbers must increase")
        return 0.0, fit_function(label, values, low, high)
    return not_negative(label, float(finite(label, values, ()))), NONE


def resistance(label: str, values: object, over: Range = None) -> tuple[float, Pieces]:
    """A curve over the rate. Raises InputError if force times rate is negative anywhere."""
    constant, pieces = curve(label, values, over)
    if pieces.empty:
        return constant, pieces
    low, high = pieces.bounds[0], pieces.bounds[-1]
    rate = pieces.bounds if isinstance(values, Mapping) else np.union1d(np.linspace(low, high, CHECKS), pieces.bounds)
    force = pieces.values(rate)
    small = 1e-12 * float(np.abs(force).max())
    if (negative := np.flatnonzero(np.sign(rate) * force < (0.0 if isinstance(values, Mapping) else -small))).size:
        i = int(negative[0])
        raise InputError(
            f"{label} gives energy: at the rate {rate[i]:g} its force is {force[i]:g}; it must have that sign"
        )
    if abs(start := pieces.value(0.0)) > small:
        raise InputError(f"{label} gives energy: without any rate its force is {start:g}; it must be zero there")
    for slope, end in ((pieces.c[0, 1], low), (pieces.c[-1, 1], high)):
        if slope * (high - low) < -small:
            raise InputError(
                f"{label} falls at its end {end:g} and would give energy beyond; let it end level or rising"
            )
    return constant, pieces


def _table_pieces(label: str, table: Mapping[float, float]) -> Pieces:
    """A table, linear between its entries."""
    if len(table) < 2:
        raise InputError(f"{label} is a table of {len(table)}; it needs at least two entries {{argument: force}}")
    pairs = [(finite(f"an argument of {label}", x, ()), finite(f"{label} at {x!r}", f, ())) for x, f in table.items()]
    x, f = np.array(sorted(pairs)).T
    return with_straight_ends(x, np.column_stack([f[:-1], np.diff(f) / np.diff(x)]))
