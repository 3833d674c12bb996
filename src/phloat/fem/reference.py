"""Shape functions of one reference cell, and quadrature: points for stresses, for masses, and on facets.

Triangles and tetrahedra carry polynomials of total degree 1 or 2, quadrilaterals and hexahedra of that degree in each variable.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product

import numpy as np
import scipy.special

from phloat.fem import cells
from phloat.fem.cells import DIMENSION, SIMPLICES


@dataclass(frozen=True)
class Reference:
    """A reference cell of order 1 or 2."""

    kind: str
    order: int

    @property
    def dim(self) -> int:
        return DIMENSION[self.kind]

    @cached_property
    def nodes(self) -> np.ndarray:
        return cells.reference_nodes(self.kind, self.order)

    def values(self, xi: np.ndarray) -> np.ndarray:
        """Shape functions at reference points, (points, nodes)."""
        return cells.values(self.kind, self.order, xi)

    def slopes(self, xi: np.ndarray) -> np.ndarray:
        """Their derivatives by the reference variables, (points, nodes, dim)."""
        return np.ascontiguousarray(cells.slopes(self.kind, self.order, xi).transpose(0, 2, 1))

    def outside(self, xi: np.ndarray) -> np.ndarray:
        """How far reference points lie outside of the cell, by the worst of their variables; not above 0 inside."""
        upper = xi.sum(axis=-1) if self.kind in SIMPLICES else xi.max(axis=-1)
        return np.maximum(-xi.min(axis=-1), upper - 1.0)

    @property
    def stress_rule(self) -> tuple[np.ndarray, np.ndarray]:
        """Points of the stresses: exact for the stiffness of cells with straight edges and parallel faces.

        Nothing is integrated with fewer points than that, so no motion but a rigid one is without strain.
        """
        return rule(self.kind, 2 * self.order - 2 if self.kind in SIMPLICES else 2 * self.order + 1)

    @property
    def mass_rule(self) -> tuple[np.ndarray, np.ndarray]:
        """Exact for ∫φφ of such cells, and nearly so for curved ones."""
        return rule(self.kind, 2 * self.order if self.kind in SIMPLICES else 2 * self.order + 2)

    def from_stress_points(self, xi: np.ndarray) -> np.ndarray:
        """The polynomial through the values at the stress points: its values at xi, (xi, stress points)."""
        degree = self.order - 1 if self.kind in SIMPLICES else self.order
        every = product(range(degree + 1), repeat=self.dim)
        powers = np.array([p for p in every if self.kind not in SIMPLICES or sum(p) <= degree], dtype=int)

        def monomials(x: np.ndarray) -> np.ndarray:
            return np.asarray(np.prod(x[:, None, :] ** powers, axis=2))

        return monomials(xi) @ np.linalg.inv(monomials(self.stress_rule[0]))


@cache
def rule(kind: str, degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Points (points, dim) and weights, all positive, that integrate polynomials of the degree exactly."""
    dim = DIMENSION[kind]
    if kind not in SIMPLICES or dim == 1:
        x, w = scipy.special.roots_sh_legendre(degree // 2 + 1)
        return np.array(list(product(x, repeat=dim))), np.array([np.prod(of) for of in product(w, repeat=dim)])
    volume = 1.0 / (2.0 if dim == 2 else 6.0)
    if degree <= 1:
        return np.full((1, dim), 1.0 / (dim + 1)), np.array([volume])
    if degree == 2:  # symmetric, each point near a corner
        near = 1.0 / 6.0 if dim == 2 else (5.0 - np.sqrt(5.0)) / 20.0
        points = np.full((dim + 1, dim), near)
        points[1:] += (1.0 - (dim + 1) * near) * np.eye(dim)
        return points, np.full(dim + 1, volume / (dim + 1))
    return _conical(dim, degree // 2 + 1)


def _conical(dim: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """A product of Gauss-Jacobi rules on the cube, collapsed to the simplex (Stroud)."""
    points, weights = np.zeros((1, 0)), np.ones(1)
    for exponent in range(dim - 1, -1, -1):
        x, w = scipy.special.roots_jacobi(n, exponent, 0.0)
        left = 1.0 - points.sum(axis=1)
        next_one = np.outer(left, 0.5 * (x + 1.0))
        points = np.column_stack([np.repeat(points, n, axis=0), next_one.ravel()])
        weights = np.outer(weights, w / 2.0 ** (exponent + 1)).ravel()
    return points, weights
