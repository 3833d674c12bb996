"""Stresses whose tractions are continuous: degree 2 in each cell, weakly symmetric, on straight triangles or tetrahedra.

Arnold, Falk and Winther's pair of degree 2: rows of σ in the space of Brezzi, Douglas and Marini, velocities of degree 1 that may
jump between cells, and ∫ (σ_ab − σ_ba) q = 0 for all q of degree 1 in each cell. In barycentric coordinates λ of a cell

    σ = Σ_i 2λ_i(λ_i − ½) σ_i + Σ_e 4λ_iλ_k σ_e        over its vertices i and its edges e = (i, k),

and the unknowns are the tractions σ n at the nodes of every facet (its vertices and the middles of its edges), and one t tᵀ 4λ_iλ_k
for each edge of each cell, t along that edge. The other bubbles, ν tᵀ 4λ_iλ_k with ν across t, have no traction; there are as many
of them as conditions of symmetry in a cell, which determine them. So no multiplier remains.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import scipy.sparse as sp

from phloat.algebra.sparse import Matrix, csr, scattered
from phloat.fem.cells import rule

SIMPLEX = {1: "line", 2: "triangle", 3: "tetrahedron"}
Integrals = dict[str, np.ndarray]


def nodes_of(corners: int) -> list[tuple[int, ...]]:
    """The nodes of a simplex: its vertices (i,), then its edges (i, k)."""
    return [(i,) for i in range(corners)] + list(combinations(range(corners), 2))


def reference_integrals(dim: int) -> Integrals:
    """Means over a simplex, point by point of a rule: φφ (nodes of degree 2), λλ; and in all: λφ and λ ∂φ/∂λ_i."""
    xi, weight = rule(SIMPLEX[dim], 4)
    lam = np.column_stack([1.0 - xi.sum(axis=1), xi])
    weight = weight / weight.sum()
    phi, slope = np.zeros((len(xi), len(nodes_of(dim + 1)))), np.zeros((len(xi), len(nodes_of(dim + 1)), dim + 1))
    for n, node in enumerate(nodes_of(dim + 1)):
        a, b = lam[:, node[0]], lam[:, node[-1]]
        phi[:, n] = a * (2.0 * a - 1.0) if len(node) == 1 else 4.0 * a * b
        slope[:, n, node[0]] += 4.0 * a - 1.0 if len(node) == 1 else 4.0 * b
        if len(node) == 2:
            slope[:, n, node[1]] += 4.0 * a
    return {
        "phi phi": np.einsum("q,qm,qn->qmn", weight, phi, phi),
        "lam lam": np.einsum("q,qm,qn->qmn", weight, lam, lam),
        "lam phi": np.einsum("q,qm,qn->mn", weight, lam, phi),
        "lam slope": np.einsum("q,qm,qni->mni", weight, lam, slope),
        "lam": lam,
    }


@dataclass(frozen=True, eq=False)
class TractionSpace:
    """The space on cells (cells, d + 1) with vertices (vertices, d); the corners of every cell are sorted by their numbers.

    Unknown (facet · nodes + node) · d + a is the component a of the traction σ n there, n out of the first cell of the facet; then
    come the bubbles t tᵀ, cell by cell.
    """

    vertices: np.ndarray
    corners: np.ndarray

    @property
    def dim(self) -> int:
        return self.vertices.shape[1]

    @cached_property
    def volumes(self) -> np.ndarray:
        """Areas or volumes of the cells."""
        return np.abs(np.linalg.det(self._edges)) / (2.0 if self.dim == 2 else 6.0)

    @property
    def _edges(self) -> np.ndarray:
        x = self.vertices[self.corners]
        return x[:, 1:] - x[:, :1]

    @cached_property
    def slopes(self) -> np.ndarray:
        """∇λ of the corners, (cells, corners, d)."""
        inner = np.linalg.inv(self._edges).transpose(0, 2, 1)
        return np.concatenate([-inner.sum(axis=1, keepdims=True), inner], axis=1)

    @cached_property
    def _facets(self) -> tuple[np.ndarray, np.ndarray]:
        """The distinct facets by their vertices (facets, d), ascending, and the facets of every cell, facet j opposite corner j."""
        local = [[i for i in range(self.dim + 1) if i != j] for j in range(self.dim + 1)]
        facets, number = np.unique(self.corners[:, local].reshape(-1, self.dim), axis=0, return_inverse=True)
        return facets, number.reshape(len(self.corners), -1)

    @property
    def facets(self) -> np.ndarray:
        return self._facets[0]

    @cached_property
    def first_cell(self) -> np.ndarray:
        """The cell out of which the normal of each facet points, the one with the lower number."""
        out, number = np.full(len(self.facets), -1), self._facets[1]
        out[number[::-1]] = np.arange(len(number))[::-1, None]  # the first cell is written last
        return out

    @cached_property
    def outside(self) -> np.ndarray:
        """The numbers of the facets on the boundary."""
        return np.flatnonzero(np.bincount(self._facets[1].ravel(), minlength=len(self.facets)) == 1)

    def facets_on(self, facets: np.ndarray) -> np.ndarray:
        """The numbers of facets that are given by their vertices, (facets, d)."""
        powers = len(self.vertices) ** np.arange(self.dim)[::-1]
        return np.searchsorted(self.facets @ powers, np.sort(facets, axis=1) @ powers)

    @property
    def facet_unknowns(self) -> int:
        """The number of unknowns of a facet."""
        return len(nodes_of(self.dim)) * self.dim

    def unknowns_on(self, facets: np.ndarray) -> np.ndarray:
        """The unknowns of facets, (facets, nodes, d)."""
        count = self.facet_unknowns
        return (count * facets[:, None] + np.arange(count)).reshape(len(facets), -1, self.dim)

    @property
    def bubbles(self) -> int:
        """The number of bubbles of a cell, one for each edge."""
        return len(nodes_of(self.dim + 1)) - self.dim - 1

    @property
    def size(self) -> int:
        return self.facet_unknowns * len(self.facets) + self.bubbles * len(self.corners)

    @cached_property
    def unknowns(self) -> np.ndarray:
        """The unknowns of every cell, those of its facets first, (cells, unknowns)."""
        count = len(self.corners)
        on_facets = self.unknowns_on(self._facets[1].ravel()).reshape(count, -1)
        first = self.facet_unknowns * len(self.facets) + self.bubbles * np.arange(count)[:, None]
        return np.hstack([on_facets, first + np.arange(self.bubbles)])

    @cached_property
    def values(self) -> np.ndarray:
        """σ of every unknown at the nodes of each cell, (cells, nodes, d, d, unknowns), symmetric in the weak sense."""
        free, bound = np.concatenate([self._tractions, self._bubbles[0]], axis=4), self._bubbles[1]
        pairs, weight = list(combinations(range(self.dim), 2)), reference_integrals(self.dim)["lam phi"]

        def skew(sigma: np.ndarray) -> np.ndarray:
            parts = np.stack([sigma[:, :, a, b] - sigma[:, :, b, a] for a, b in pairs], axis=2)
            return np.einsum("mn,cnpu->cpmu", weight, parts).reshape(len(sigma), -1, sigma.shape[4])

        share = np.linalg.solve(skew(bound), -skew(free))
        return free + np.einsum("cnabk,cku->cnabu", bound, share, optimize=True)

    @property
    def _tractions(self) -> np.ndarray:
        """σ of the unknowns of the facets, before the conditions of symmetry: (cells, nodes, d, d, unknowns)."""
        d, x, count = self.dim, self.vertices[self.corners], len(self.corners)
        nodes, per = nodes_of(d + 1), len(nodes_of(d))
        out = np.zeros((count, len(nodes), d, d, (d + 1) * per * d))
        sign = np.where(self.first_cell[self._facets[1]] == np.arange(count)[:, None], 1.0, -1.0)
        height = -sign * np.linalg.norm(self.slopes, axis=2)
        for j in range(d + 1):
            on_facet = [n for n, node in enumerate(nodes) if j not in node]
            for m, n in enumerate(on_facet):
                normal = height[:, j, None] * (x[:, j] - x[:, list(nodes[n])].mean(axis=1))
                for a in range(d):
                    out[:, n, a, :, (j * per + m) * d + a] = normal
        return out

    @property
    def _bubbles(self) -> tuple[np.ndarray, np.ndarray]:
        """The bubbles t tᵀ of the edges, and those that symmetry determines, ν tᵀ."""
        d, x, count = self.dim, self.vertices[self.corners], len(self.corners)
        nodes = nodes_of(d + 1)
        along = np.zeros((count, len(nodes), d, d, self.bubbles))
        across = np.zeros((count, len(nodes), d, d, self.bubbles * (d - 1)))
        for e, (i, k) in enumerate(nodes[d + 1 :]):
            axes = np.linalg.svd((x[:, k] - x[:, i])[:, None])[2]  # t, then ν
            products = np.einsum("cka,cb->cabk", axes, axes[:, 0])
            along[:, d + 1 + e, :, :, e] = products[..., 0]
            across[:, d + 1 + e, :, :, e * (d - 1) : (e + 1) * (d - 1)] = products[..., 1:]
        return along, across

    @cached_property
    def points(self) -> np.ndarray:
        """The quadrature points of the cells, (cells, points, d)."""
        return np.asarray(reference_integrals(self.dim)["lam"] @ self.vertices[self.corners])

    def product(self, S: np.ndarray, factor: np.ndarray, pairs: tuple[tuple[int, int], ...]) -> Matrix:
        """∫ factor σ : S σ for compliances S of the cells (Voigt, engineering shear); the skew part counts like the shear there.

        `factor` is (cells, points) or broadcast to that. For isotropic S this is ∫ (1+ν)/E σ:σ − ν/E tr²; without the skew part
        C would be singular on some meshes.
        """
        sigma, mean = self.values, self._weighted("phi phi", factor)
        voigt = np.stack([0.5 * (sigma[:, :, a, b] + sigma[:, :, b, a]) for a, b in pairs], axis=2)
        block = np.einsum("cmn,cmiu,cij,cnjv->cuv", mean, voigt, S, voigt, optimize=True)
        for k, (a, b) in enumerate(pairs):
            if a != b:
                skew = 0.5 * (sigma[:, :, a, b] - sigma[:, :, b, a])
                block += np.einsum("c,cmn,cmu,cnv->cuv", S[:, k, k], mean, skew, skew, optimize=True)
        return scattered(0.5 * (block + block.transpose(0, 2, 1)), self.unknowns, self.unknowns, (self.size,) * 2)

    def _weighted(self, name: str, factor: np.ndarray) -> np.ndarray:
        """The integrals of this name over every cell, times a factor at the points."""
        means = reference_integrals(self.dim)[name]
        return np.einsum("c,cq,qmn->cmn", self.volumes, np.broadcast_to(factor, self.points.shape[:2]), means)

    def divergence(self) -> Matrix:
        """∫ w · Div σ for velocities w of degree 1 in every cell, numbered (cell, corner, axis): (velocities, unknowns)."""
        weight = reference_integrals(self.dim)["lam slope"]
        block = np.einsum("mni,cib,cnabu->cmau", weight, self.slopes, self.values, optimize=True)
        block *= self.volumes[:, None, None, None]
        count, size = len(self.corners), (self.dim + 1) * self.dim
        rows = np.arange(count * size).reshape(count, size)
        return scattered(block, rows, self.unknowns, (count * size, self.size))

    def mass(self, density: np.ndarray) -> Matrix:
        """∫ ρ w · w for velocities of degree 1 in every cell, with the density (cells, points) at the quadrature points."""
        scalar = self._weighted("lam lam", density)
        count, n = len(self.corners), self.dim + 1
        number = np.arange(count * n).reshape(count, n)
        out = scattered(scalar, number, number, (count * n,) * 2)
        return csr(sp.kron(out, sp.eye_array(self.dim), format="csr"))

    def facet_nodes(self, facets: np.ndarray) -> np.ndarray:
        """The nodes of facets, (facets, nodes, d)."""
        x = self.vertices[self.facets[facets]]
        return np.stack([x[:, list(node)].mean(axis=1) for node in nodes_of(self.dim)], axis=1)

    def facet_mass(self, facets: np.ndarray) -> Matrix:
        """∫ φφ of the unknowns of facets, in their order: (unknowns, unknowns)."""
        x = self.vertices[self.facets[facets]]
        if self.dim == 2:
            size = np.linalg.norm(x[:, 1] - x[:, 0], axis=1)
        else:
            size = 0.5 * np.linalg.norm(np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]), axis=1)
        per_facet = sp.kron(reference_integrals(self.dim - 1)["phi phi"].sum(axis=0), sp.eye_array(self.dim))
        return csr(sp.kron(sp.diags_array(size), per_facet, format="csr"))
