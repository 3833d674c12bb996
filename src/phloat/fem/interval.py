"""Finite-element spaces on a line, as matrices that evaluate their basis functions at any points.

With Φ = space.evaluate(x), Φ' = space.evaluate(x, 1) and quadrature weights w, every form is a product of matrices:
∫ρA φφᵀ is Φᵀ diag(w ρA) Φ, ∫ψ φ'' is Ψᵀ diag(w) Φ''. The matrices are dense where that is small and faster, else sparse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from phloat.algebra.sparse import Matrix

Rows: TypeAlias = Matrix | np.ndarray

DENSE_PRODUCT = 1200  # points times elements (14 elements) up to which dense matrices are faster than sparse ones
GAUSS_POINTS = 6  # exact to degree 11: quartic fields squared times a cubic section


@cache
def gauss_rule(points: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights of Gauss' rule on [−1, 1]."""
    return np.polynomial.legendre.leggauss(points)


def gauss(nodes: np.ndarray, points: int = GAUSS_POINTS) -> tuple[np.ndarray, np.ndarray]:
    """Gauss points and weights on all elements. All arrays of a body share this rule, so that M(η) is a Gram matrix."""
    point, weight = gauss_rule(points)
    h = np.diff(nodes)[:, None]
    return (nodes[:-1, None] + h * (point + 1) / 2).ravel(), (h * weight / 2).ravel()


def slope(values: np.ndarray, nodes: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The derivative at x of the piecewise polynomial through the values at the points of `gauss`, element by element."""
    point, powers = gauss_rule(GAUSS_POINTS)[0], np.arange(1, GAUSS_POINTS)
    each = values.reshape(-1, GAUSS_POINTS)
    change = each - each[:, :1]  # a constant has no slope, not even round-off
    coefficients = np.linalg.solve(np.polynomial.polynomial.polyvander(point, GAUSS_POINTS - 1), change.T)[1:]
    element, xi, h = _located(nodes, x)
    derivatives = powers * np.polynomial.polynomial.polyvander(2.0 * xi - 1.0, GAUSS_POINTS - 2)
    return np.einsum("qk,kq->q", derivatives, coefficients[:, element]) * 2.0 / h


@dataclass(frozen=True)
class LineSpace:
    """Piecewise polynomials of a degree with so many continuous derivatives: −1 none, 0 values, 1 slopes (Hermite's cubics).

    Unknowns, from left to right, are values at equidistant points of each element, or of cubics value and slope at each node.
    """

    nodes: np.ndarray
    degree: int
    continuity: int = 0

    @property
    def stride(self) -> int:
        """The number of unknowns from one element to the next."""
        return self.degree - self.continuity

    @property
    def size(self) -> int:
        return self.stride * (len(self.nodes) - 1) + self.continuity + 1

    @cached_property
    def places(self) -> np.ndarray:
        """The points whose values (and slopes) are the unknowns."""
        if self.continuity == 1:
            return self.nodes
        return np.interp(np.arange(self.size) / self.degree, np.arange(len(self.nodes)), self.nodes)

    def evaluate(self, x: np.ndarray, derivative: int = 0) -> Rows:
        """Values (or a derivative) of all basis functions at points x, (points, unknowns)."""
        element, xi, h = _located(self.nodes, x)
        coefficients = _HERMITE if self.continuity == 1 else _nodal(self.degree)
        local = _evaluated(coefficients, xi, derivative) / h[:, None] ** derivative
        if self.continuity == 1:
            local[:, 1::2] *= h[:, None]
        dense = len(x) * (len(self.nodes) - 1) <= DENSE_PRODUCT  # one choice for all spaces on the same nodes
        return _scattered(local, self.stride * element, self.size, dense)

    def unknown_at(self, place: int, slope: bool = False) -> int:
        """The index of the unknown that is the value (or slope) at `places[place]`."""
        return (self.continuity + 1) * place + slope


# value and slope at 0, value and slope at 1, of cubics in ξ, highest power last
_HERMITE = np.array([[1.0, 0, -3, 2], [0, 1, -2, 1], [0, 0, 3, -2], [0, 0, -1, 1]])


@cache
def _nodal(degree: int) -> np.ndarray:
    """Coefficients of the polynomials that are 1 at one of degree + 1 equidistant points of [0, 1], 0 at the others."""
    points = np.linspace(0.0, 1.0, degree + 1) if degree else np.array([0.5])
    return np.linalg.inv(np.polynomial.polynomial.polyvander(points, degree)).T


def _located(nodes: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For every point its element, the coordinate ξ in it (0 to 1) and its length; a point on a node is in the right element."""
    x = np.asarray(x, dtype=float)
    element = np.clip(np.searchsorted(nodes, x, side="right") - 1, 0, len(nodes) - 2)
    h = np.diff(nodes)[element]
    return element, (x - nodes[element]) / h, h


def _evaluated(coefficients: np.ndarray, xi: np.ndarray, derivative: int) -> np.ndarray:
    """Derivatives by ξ of polynomials in ascending powers of ξ, (points, polynomials)."""
    if derivative >= coefficients.shape[1]:
        return np.zeros((len(xi), len(coefficients)))
    differentiated = np.polynomial.polynomial.polyder(coefficients, derivative, axis=1)
    return np.polynomial.polynomial.polyvander(xi, differentiated.shape[1] - 1) @ differentiated.T


def _scattered(local: np.ndarray, first: np.ndarray, size: int, dense: bool) -> Rows:
    """Rows of `size` columns with the local values from column first[i] on, dense or sparse."""
    points, width = local.shape
    column = first[:, None] + np.arange(width)
    if dense:
        out = np.zeros((points, size))
        np.put_along_axis(out, column, local, axis=1)
        return out
    return sp.csr_array((local.ravel(), column.ravel(), width * np.arange(points + 1)), shape=(points, size))


# --- jumps of section or material: nodes are placed there
# ------------------------------------------------------------------------------------
# Elements are cut at discontinuities of a beam's numbers: with a jump inside an element the order is 1 instead of 4.


SAMPLES = 128  # equidistant points at which a function of s is sampled, besides the quadrature points
SMOOTH = 0.25  # of the change over an interval: the largest deviation of its midpoint from the straight line
SMALL = 1e-9  # relative: smaller changes count as zero
NARROW = 1e-14  # width of an interval that counts as one point
SAME = 1e-9  # of the length: points nearer to each other are one
CLOSE, SLIVER = 1e-3, 0.1  # of the shortest element
MOST_INTERVALS = 4096
MOST_JUMPS = 200


def jumps(values: Callable[[np.ndarray], np.ndarray], s: np.ndarray) -> np.ndarray | None:
    """Points where `values` (points → (points, numbers)) is discontinuous, to round-off; None if there are too many.

    All intervals between the points s are bisected as long as the midpoint deviates from the straight line between the
    ends. Where the function is smooth this ends soon; at a jump it never does.
    """
    a, b = s[:-1], s[1:]
    f = values(s)
    f_a, f_b = f[:-1], f[1:]
    while len(a) and (b - a).max() > NARROW:
        if len(a) > MOST_INTERVALS:
            return None
        middle = 0.5 * (a + b)
        f_m = values(middle)
        size = np.maximum(np.abs(f_a), np.abs(f_b)) + np.abs(f_m)
        bend, change = np.abs(f_a - 2.0 * f_m + f_b), np.abs(f_b - f_a)
        unsmooth = ((bend > SMOOTH * change) & (bend > SMALL * size)).any(axis=1)
        a, b = np.append(a[unsmooth], middle[unsmooth]), np.append(middle[unsmooth], b[unsmooth])
        f_a, f_b = np.vstack([f_a[unsmooth], f_m[unsmooth]]), np.vstack([f_m[unsmooth], f_b[unsmooth]])
    jumped = (np.abs(f_b - f_a) > SMALL * np.maximum(np.abs(f_a), np.abs(f_b))).any(axis=1)
    discontinuities = np.unique(b[jumped])
    return discontinuities if len(discontinuities) <= MOST_JUMPS else None


def cut_elements(
    nodes: np.ndarray, fixed: Sequence[float], stated: Iterable[object], breaks: Iterable[float]
) -> np.ndarray:
    """Nodes with a further one at every fixed point and break that has none; a node near a break moves there, unless held.

    Breaks nearer to each other, or to a fixed point, than a thousandth of the shortest element are merged.
    """
    breaks = list(breaks)
    if not (len(fixed) or len(breaks)):
        return nodes
    fixed = [0.0, 1.0, *fixed]
    short = float(np.diff(nodes).min())
    breaks = _separate(breaks, np.array(fixed), CLOSE * short)
    staying = [*fixed, *(s for s in stated if isinstance(s, float | int))]
    away = np.abs(nodes[:, None] - staying).min(axis=1)
    nodes = nodes[~((away > SAME) & (away <= CLOSE * short))]  # no sliver of an element beside a port given as 0.3333
    stays = np.abs(nodes[:, None] - staying).min(axis=1) <= SAME
    distance = np.abs(nodes[:, None] - breaks).min(axis=1, initial=1.0)
    retained = nodes[stays | (distance <= SAME) | (distance > SLIVER * short)]
    return np.unique(np.concatenate([retained, [s for s in [*fixed, *breaks] if np.abs(retained - s).min() > SAME]]))


def _separate(places: Iterable[float], fixed: np.ndarray, distance: float) -> list[float]:
    """The points farther than `distance` from all fixed ones; groups of near ones are replaced by their mean."""
    groups: list[list[float]] = []
    for s in sorted(p for p in places if np.abs(fixed - p).min() > distance):
        if groups and s - groups[-1][-1] < distance:
            groups[-1].append(s)
        else:
            groups.append([s])
    return [float(np.mean(group)) for group in groups]
