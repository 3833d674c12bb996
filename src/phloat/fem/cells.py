"""Reference cells: corners, edges, facets and nodes in the order of VTK; shape functions and quadrature.

Reference cells are the unit simplex (corner 0 at the origin) and the unit square or cube [0, 1]^d.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product

import numpy as np
import scipy.special

CORNERS = {"triangle": 3, "quadrilateral": 4, "tetrahedron": 4, "hexahedron": 8}
NODES = {"triangle": (3, 6), "quadrilateral": (4, 9), "tetrahedron": (4, 10), "hexahedron": (8, 27)}
DIMENSION = {"line": 1, "triangle": 2, "quadrilateral": 2, "tetrahedron": 3, "hexahedron": 3}
FACET = {"triangle": "line", "quadrilateral": "line", "tetrahedron": "triangle", "hexahedron": "quadrilateral"}
PLURAL = {
    **{"triangle": "triangles", "quadrilateral": "quadrilaterals"},
    **{"tetrahedron": "tetrahedra", "hexahedron": "hexahedra", "line": "edges"},
}
SIMPLICES = ("line", "triangle", "tetrahedron")

_REFERENCE_CORNERS = {
    "line": [[0], [1]],
    "triangle": [[0, 0], [1, 0], [0, 1]],
    "quadrilateral": [[0, 0], [1, 0], [1, 1], [0, 1]],
    "tetrahedron": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "hexahedron": [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]],
}
EDGES = {
    "line": [[0, 1]],
    "triangle": [[0, 1], [1, 2], [2, 0]],
    "quadrilateral": [[0, 1], [1, 2], [2, 3], [3, 0]],
    "tetrahedron": [[0, 1], [1, 2], [2, 0], [0, 3], [1, 3], [2, 3]],
    "hexahedron": [
        *([0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [7, 4]),
        *([0, 4], [1, 5], [2, 6], [3, 7]),
    ],
}
# corners of each facet, seen from outside counterclockwise (edges of planar cells: with the cell on the left)
FACETS = {
    "triangle": EDGES["triangle"],
    "quadrilateral": EDGES["quadrilateral"],
    "tetrahedron": [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]],
    "hexahedron": [[0, 4, 7, 3], [1, 2, 6, 5], [0, 1, 5, 4], [3, 7, 6, 2], [0, 3, 2, 1], [4, 5, 6, 7]],
}


@cache
def middles(kind: str) -> tuple[tuple[int, ...], ...]:
    """For each node of order 2 beyond the corners, the corners whose mean it is: edges, faces of hexahedra, the cell."""
    edges = [tuple(edge) for edge in EDGES[kind]]
    faces = [tuple(face) for face in FACETS[kind]] if kind == "hexahedron" else []
    inside = [] if kind in SIMPLICES else [tuple(range(CORNERS[kind]))]
    return (*edges, *faces, *inside)


@cache
def reference_nodes(kind: str, order: int) -> np.ndarray:
    """Coordinates of the nodes in the reference cell, (nodes, dimension)."""
    corners = np.array(_REFERENCE_CORNERS[kind], dtype=float)
    return corners if order == 1 else np.vstack([corners, *(corners[list(m)].mean(axis=0) for m in middles(kind))])


def node_at(kind: str, places: np.ndarray) -> np.ndarray:
    """Indices of the nodes of the cell of order 2 at reference coordinates `places` (…, dimension)."""
    distance = np.abs(reference_nodes(kind, 2)[None] - np.asarray(places)[..., None, :]).max(axis=-1)
    assert distance.min(axis=-1).max() < 1e-9, "no node there"
    return distance.argmin(axis=-1)


@cache
def facet_nodes(kind: str, order: int) -> np.ndarray:
    """Nodes of every facet of a cell, (facets, nodes of a facet), each facet in VTK's order of its own kind."""
    corners = np.array(FACETS[kind])
    if order == 1:
        return corners
    places = reference_nodes(kind, 1)[corners]
    means = [places[:, list(m)].mean(axis=1) for m in middles(FACET[kind])]
    return np.hstack([corners, node_at(kind, np.stack(means, axis=1))])


@cache
def mirrored_numbering(kind: str, order: int) -> np.ndarray:
    """The permutation of nodes that turns a cell of negative volume into the same cell of positive volume."""
    swapped = reference_nodes(kind, order).copy()
    swapped[:, [0, 1]] = swapped[:, [1, 0]]
    return node_at(kind, swapped)


@cache
def children(kind: str) -> np.ndarray:
    """Corners of the parts of a cell cut at the middles of its edges, as indices of its nodes of order 2: (…, parts, corners).

    For tetrahedra the first axis has length 3: the inner octahedron can be cut along any of three diagonals.
    """
    reference = reference_nodes(kind, 1)
    halves = (reference[:, None] + reference[None]) / 2  # corner k keeps its place, the part shrinks towards it
    at_corners = node_at(kind, halves)
    if kind == "line" or kind not in SIMPLICES:
        return at_corners
    if kind == "triangle":
        return np.vstack([at_corners, [[3, 4, 5]]])
    return np.array(
        [np.vstack([at_corners, _octahedron(*pq, ring)]) for pq, ring in zip(DIAGONALS, _RINGS, strict=True)]
    )


# middles of opposite edges of a tetrahedron, the three diagonals of the octahedron inside, and the ring around each
DIAGONALS = ((4, 9), (5, 7), (6, 8))
_RINGS = ((5, 6, 7, 8), (4, 6, 9, 8), (4, 5, 9, 7))


def _octahedron(p: int, q: int, ring: tuple[int, ...]) -> list[list[int]]:
    """Four tetrahedra of positive volume around the diagonal from p to q."""
    x = reference_nodes("tetrahedron", 2)
    around = [[p, q, a, b] for a, b in zip(ring, (*ring[1:], ring[0]), strict=True)]
    return [t if np.linalg.det(x[t[1:]] - x[t[0]]) > 0 else [q, p, *t[2:]] for t in around]


@cache
def _basis(kind: str, order: int) -> tuple[np.ndarray, np.ndarray]:
    """Exponents of the monomials (monomials, dimension) and the coefficients of each shape function in them."""
    d = DIMENSION[kind]
    powers = np.array([p for p in product(range(order + 1), repeat=d) if kind not in SIMPLICES or sum(p) <= order])
    nodes = reference_nodes(kind, order)
    return powers, np.linalg.inv(np.prod(nodes[:, None] ** powers, axis=-1))


def shape_values(kind: str, order: int, xi: np.ndarray) -> np.ndarray:
    """Shape functions (1 at one node, 0 at the others) at reference points xi: (points, nodes)."""
    powers, coefficients = _basis(kind, order)
    return np.prod(xi[:, None] ** powers, axis=-1) @ coefficients


def shape_slopes(kind: str, order: int, xi: np.ndarray) -> np.ndarray:
    """Derivatives of the shape functions along the reference axes at points xi: (points, dimension, nodes)."""
    powers, coefficients = _basis(kind, order)
    out = []
    for axis in range(DIMENSION[kind]):
        lower = powers.copy()
        lower[:, axis] = np.maximum(powers[:, axis] - 1, 0)
        out.append((powers[:, axis] * np.prod(xi[:, None] ** lower, axis=-1)) @ coefficients)
    return np.stack(out, axis=1)


def determinants(J: np.ndarray) -> np.ndarray:
    """Determinants of 2 × 2 or 3 × 3 matrices (…, d, d); the explicit formula is many times faster than LAPACK."""
    if J.shape[-1] == 2:
        return J[..., 0, 0] * J[..., 1, 1] - J[..., 0, 1] * J[..., 1, 0]
    a, b, c = (J[..., k, :] for k in range(3))
    return (
        a[..., 0] * (b[..., 1] * c[..., 2] - b[..., 2] * c[..., 1])
        - a[..., 1] * (b[..., 0] * c[..., 2] - b[..., 2] * c[..., 0])
        + a[..., 2] * (b[..., 0] * c[..., 1] - b[..., 1] * c[..., 0])
    )


# --- shape functions and quadrature -----------------------------------------------------------------------------------
#
# Shape functions of one reference cell, and quadrature: points for stresses, for masses, and on facets.
#
# Triangles and tetrahedra carry polynomials of total degree 1 or 2, quadrilaterals and hexahedra of that degree in each variable.


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
        return reference_nodes(self.kind, self.order)

    def values(self, xi: np.ndarray) -> np.ndarray:
        """Shape functions at reference points, (points, nodes)."""
        return shape_values(self.kind, self.order, xi)

    def slopes(self, xi: np.ndarray) -> np.ndarray:
        """Derivatives of the shape functions by the reference coordinates, (points, nodes, dim)."""
        return np.ascontiguousarray(shape_slopes(self.kind, self.order, xi).transpose(0, 2, 1))

    def outside(self, xi: np.ndarray) -> np.ndarray:
        """The distance of reference points from the cell, the largest over the coordinates; 0 or negative inside."""
        upper = xi.sum(axis=-1) if self.kind in SIMPLICES else xi.max(axis=-1)
        return np.maximum(-xi.min(axis=-1), upper - 1.0)

    @property
    def stress_rule(self) -> tuple[np.ndarray, np.ndarray]:
        """Quadrature points of the stresses: exact for the stiffness of cells with straight edges and parallel faces.

        There is no reduced integration, so no motion but a rigid one has zero strain (no hourglass modes).
        """
        return rule(self.kind, 2 * self.order - 2 if self.kind in SIMPLICES else 2 * self.order + 1)

    @property
    def mass_rule(self) -> tuple[np.ndarray, np.ndarray]:
        """Quadrature points of the mass: exact for ∫φφ of cells with straight edges, nearly exact for curved ones."""
        return rule(self.kind, 2 * self.order if self.kind in SIMPLICES else 2 * self.order + 2)

    def from_stress_points(self, xi: np.ndarray) -> np.ndarray:
        """The matrix that extrapolates values from the stress points to xi by their polynomial, (xi, stress points)."""
        degree = self.order - 1 if self.kind in SIMPLICES else self.order
        every = product(range(degree + 1), repeat=self.dim)
        powers = np.array([p for p in every if self.kind not in SIMPLICES or sum(p) <= degree], dtype=int)

        def monomials(x: np.ndarray) -> np.ndarray:
            return np.asarray(np.prod(x[:, None, :] ** powers, axis=2))

        return monomials(xi) @ np.linalg.inv(monomials(self.stress_rule[0]))


def volume_rule(kind: str, order: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights that integrate the volume of a cell of this order exactly."""
    return rule(kind, 0 if kind in SIMPLICES and order == 1 else 2 * order)


@cache
def rule(kind: str, degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Quadrature points (points, dim) and positive weights that are exact for polynomials of this degree."""
    dim = DIMENSION[kind]
    if kind not in SIMPLICES or dim == 1:
        x, w = scipy.special.roots_sh_legendre(degree // 2 + 1)
        return np.array(list(product(x, repeat=dim))), np.array([np.prod(ws) for ws in product(w, repeat=dim)])
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
        remaining = 1.0 - points.sum(axis=1)
        coordinate = np.outer(remaining, 0.5 * (x + 1.0))
        points = np.column_stack([np.repeat(points, n, axis=0), coordinate.ravel()])
        weights = np.outer(weights, w / 2.0 ** (exponent + 1)).ravel()
    return points, weights
