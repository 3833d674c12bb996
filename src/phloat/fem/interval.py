"""Finite-element spaces on a line, as matrices that evaluate their basis functions at any points.

With Φ = space.at(x), Φ' = space.at(x, 1) and quadrature weights w, every form is a product of matrices:
∫ρA φφᵀ is Φᵀ diag(w ρA) Φ, ∫ψ φ'' is Ψᵀ diag(w) Φ''. The matrices are dense where that is small and faster, else sparse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from phloat.algebra.sparse import Matrix

Rows: TypeAlias = Matrix | np.ndarray

DENSE_ENTRIES = 200_000  # up to here scipy's bookkeeping costs more than the zeros
GAUSS_POINTS = 6  # exact to degree 11: quartic fields squared times a cubic section


def gauss(nodes: np.ndarray, points: int = GAUSS_POINTS) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights of the one quadrature rule that all arrays of a body share (so that M(η) is a Gram matrix)."""
    point, weight = np.polynomial.legendre.leggauss(points)
    h = np.diff(nodes)[:, None]
    return (nodes[:-1, None] + h * (point + 1) / 2).ravel(), (h * weight / 2).ravel()


def slope(values: np.ndarray, nodes: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The derivative at x of a function from its values at the points of `gauss`: of the polynomial through those of an element."""
    point, powers = np.polynomial.legendre.leggauss(GAUSS_POINTS)[0], np.arange(1, GAUSS_POINTS)
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
        """Unknowns from one element to the next."""
        return self.degree - self.continuity

    @property
    def size(self) -> int:
        return self.stride * (len(self.nodes) - 1) + self.continuity + 1

    @cached_property
    def places(self) -> np.ndarray:
        """Where the unknowns are values (and slopes)."""
        if self.continuity == 1:
            return self.nodes
        return np.interp(np.arange(self.size) / self.degree, np.arange(len(self.nodes)), self.nodes)

    def at(self, x: np.ndarray, derivative: int = 0) -> Rows:
        """Values (or a derivative) of all basis functions at the points: points × unknowns."""
        element, xi, h = _located(self.nodes, x)
        coefficients = _HERMITE if self.continuity == 1 else _nodal(self.degree)
        local = _evaluated(coefficients, xi, derivative) / h[:, None] ** derivative
        if self.continuity == 1:
            local[:, 1::2] *= h[:, None]
        return _scattered(local, self.stride * element, self.size)

    def unknown_at(self, place: int, slope: bool = False) -> int:
        """The unknown that is the value (or slope) at a place, counted from the left."""
        return (self.continuity + 1) * place + slope


# value and slope at 0, value and slope at 1, of cubics in ξ, highest power last
_HERMITE = np.array([[1.0, 0, -3, 2], [0, 1, -2, 1], [0, 0, 3, -2], [0, 0, -1, 1]])


def _nodal(degree: int) -> np.ndarray:
    """Coefficients of the polynomials that are 1 at one of degree + 1 equidistant points of [0, 1], 0 at the others."""
    points = np.linspace(0.0, 1.0, degree + 1) if degree else np.array([0.5])
    return np.linalg.inv(np.polynomial.polynomial.polyvander(points, degree)).T


def _located(nodes: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Element, place in it (0 to 1) and its length for every point; a point on a node belongs to the element right of it."""
    x = np.asarray(x, dtype=float)
    element = np.clip(np.searchsorted(nodes, x, side="right") - 1, 0, len(nodes) - 2)
    h = np.diff(nodes)[element]
    return element, (x - nodes[element]) / h, h


def _evaluated(coefficients: np.ndarray, xi: np.ndarray, derivative: int) -> np.ndarray:
    if derivative >= coefficients.shape[1]:
        return np.zeros((len(xi), len(coefficients)))
    differentiated = np.polynomial.polynomial.polyder(coefficients, derivative, axis=1)
    return np.polynomial.polynomial.polyvander(xi, differentiated.shape[1] - 1) @ differentiated.T


def _scattered(local: np.ndarray, first: np.ndarray, size: int) -> Rows:
    points, width = local.shape
    column = first[:, None] + np.arange(width)
    if points * size <= DENSE_ENTRIES:
        out = np.zeros((points, size))
        np.put_along_axis(out, column, local, axis=1)
        return out
    return sp.csr_array((local.ravel(), column.ravel(), width * np.arange(points + 1)), shape=(points, size))


# --- jumps: elements are cut there ------------------------------------------------------------------------------------
#
# Where numbers along a beam jump: elements are cut there, since no element can follow a jump inside (order 1 instead of 4).


SAMPLES = 128  # places at which a function of s is looked at, besides the quadrature points
SMOOTH = 0.25  # of the change over an interval: how far its midpoint may be off the straight line
SMALL = 1e-9  # of a number: a change that is none
NARROW = 1e-14  # an interval that holds one place
SAME = 1e-9  # of the length: one place
CLOSE, SLIVER = 1e-3, 0.1  # of the shortest element
MOST_INTERVALS = 4096
MOST_JUMPS = 200


def jumps(values: Callable[[np.ndarray], np.ndarray], s: np.ndarray) -> np.ndarray | None:
    """Places where `values` (places → (places, numbers)) is discontinuous, to round-off; None where there are too many.

    Intervals between the places s are halved, all at once, as long as the midpoint is far from the straight line between the
    ends. Over a smooth stretch that ends soon; at a jump never.
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
        kept = ((bend > SMOOTH * change) & (bend > SMALL * size)).any(axis=1)
        a, b = np.append(a[kept], middle[kept]), np.append(middle[kept], b[kept])
        f_a, f_b = np.vstack([f_a[kept], f_m[kept]]), np.vstack([f_m[kept], f_b[kept]])
    far = (np.abs(f_b - f_a) > SMALL * np.maximum(np.abs(f_a), np.abs(f_b))).any(axis=1)
    found = np.unique(b[far])
    return found if len(found) <= MOST_JUMPS else None


def cut_elements(
    nodes: np.ndarray, fixed: Sequence[float], held: Iterable[object], breaks: Iterable[float]
) -> np.ndarray:
    """Nodes with one more at every fixed place and break that has none; a node that is nearly at a break moves there, unless held.

    Breaks nearer to each other, or to a fixed place, than a thousandth of the shortest element are one.
    """
    fixed = [0.0, 1.0, *fixed]
    short = float(np.diff(nodes).min())
    breaks = _separate(breaks, np.array(fixed), CLOSE * short)
    staying = [*fixed, *(s for s in held if isinstance(s, float | int))]
    stays = np.abs(nodes[:, None] - staying).min(axis=1) <= SAME
    off = np.abs(nodes[:, None] - breaks).min(axis=1, initial=1.0)
    kept = nodes[stays | (off <= SAME) | (off > SLIVER * short)]
    return np.unique(np.concatenate([kept, [s for s in [*fixed, *breaks] if np.abs(kept - s).min() > SAME]]))


def _separate(places: Iterable[float], fixed: np.ndarray, distance: float) -> list[float]:
    """Places that are not near fixed ones; those near to each other become their mean."""
    groups: list[list[float]] = []
    for s in sorted(p for p in places if np.abs(fixed - p).min() > distance):
        if groups and s - groups[-1][-1] < distance:
            groups[-1].append(s)
        else:
            groups.append([s])
    return [float(np.mean(group)) for group in groups]
