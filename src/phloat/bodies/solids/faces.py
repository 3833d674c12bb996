"""Discs on the surface of a solid: points of a plane disc, moved along its normal onto the facets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import cKDTree

from phloat.bodies.continua.patches import Patch, beyond
from phloat.errors import InputError
from phloat.fem.cells import FACET
from phloat.fem.mesh import Mesh
from phloat.fem.reference import Reference

NEAR = 1e-6  # of the body: how far the middle of a disc may lie off the surface
INSIDE = 1e-9  # of a facet
NEWTON = 20
CANDIDATES = 12  # facets whose middles are nearest
SAME_FACE = 0.5  # cosine: facets that turn further away belong to another face


@dataclass(frozen=True, eq=False)
class Surface:
    """The whole boundary of a solid."""

    mesh: Mesh

    @cached_property
    def reference(self) -> Reference:
        return Reference(FACET[self.mesh.kind], self.mesh.order)

    @cached_property
    def nodes(self) -> np.ndarray:
        """All nodes of every facet, (facets, nodes)."""
        return self.mesh.facet_nodes_of(self.mesh.facets)

    @cached_property
    def middles(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of the facets: middles, unit normals out of the body, sizes (roots of areas)."""
        xi = self.reference.nodes.mean(axis=0)[None]
        x = self.mesh.points[self.nodes]
        across = np.cross(*np.einsum("nb,fna->bfa", self.reference.slopes(xi)[0], x))
        area = np.linalg.norm(across, axis=1)
        return np.einsum("n,fna->fa", self.reference.values(xi)[0], x), across / area[:, None], np.sqrt(area)

    @cached_property
    def tree(self) -> cKDTree:
        return cKDTree(self.middles[0])

    def along(self, x: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Facets that the lines x + s n meet: their numbers (−1 for none), reference points, s, and normals there.

        n is one direction for all lines, or one for each.
        """
        near = self.tree.query(x, k=min(CANDIDATES, len(self.nodes)))[1].reshape(len(x), -1)
        facet, xi = np.full(len(x), -1), np.zeros((len(x), 2))
        s, normal = np.full(len(x), np.inf), np.zeros((len(x), 3))
        n = np.broadcast_to(n, x.shape)
        for tried in near.T:
            place, far, across = self._met(x, n, tried)
            facing = np.einsum("pa,pa->p", across, n) > SAME_FACE
            better = facing & (self.reference.outside(place) <= INSIDE) & (np.abs(far) < np.abs(s))
            facet[better], xi[better], s[better], normal[better] = (a[better] for a in (tried, place, far, across))
        return facet, xi, s, normal

    def _met(self, x: np.ndarray, n: np.ndarray, facet: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Newton's method for x(ξ) − s n = x: ξ, s, and the unit normals of the facets there."""
        nodes = self.mesh.points[self.nodes[facet]]
        xi, s = np.repeat(self.reference.nodes.mean(axis=0)[None], len(x), axis=0), np.zeros(len(x))
        for k in range(NEWTON):
            tangent = np.einsum("pnb,pna->pab", self.reference.slopes(xi), nodes)
            across = np.cross(tangent[:, :, 0], tangent[:, :, 1])
            if k == NEWTON - 1:
                break
            gap = x + s[:, None] * n - np.einsum("pn,pna->pa", self.reference.values(xi), nodes)
            J = np.concatenate([tangent, -n[:, :, None]], axis=2)
            steep = np.abs(np.einsum("pa,pa->p", across, n)) < 1e-6 * np.linalg.norm(across, axis=1)
            J[steep], gap[steep] = np.eye(3), 0.0  # a facet along the line is not met
            step = np.linalg.solve(J, gap[:, :, None])[:, :, 0]
            xi, s = np.clip(xi + step[:, :2], -2.0, 3.0), s + step[:, 2]
            if np.abs(step[:, :2]).max(initial=0.0) < 1e-13:
                break
        return xi, s, across / np.linalg.norm(across, axis=1)[:, None]

    def disc(self, patch: Patch) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Points of a disc on the surface: nodes of their facets, values of the shape functions, places, weights (areas)."""
        at = np.array([patch.at])
        middles, normals, sizes = self.middles
        some = np.argsort(np.linalg.norm(middles - at, axis=1))[:CANDIDATES]
        found = [self.along(at, normals[f]) for f in some]
        best = min(found, key=lambda one: abs(float(one[2][0])))
        if not abs(float(best[2][0])) <= NEAR * self.mesh.size:
            where = ", ".join(f"{x:g}" for x in patch.at)
            raise InputError(
                f"the middle ({where}) of a Patch must lie on the surface of the solid; the nearest facet there has its middle at "
                f"({', '.join(f'{x:.6g}' for x in middles[some[0]])})"
            )
        n = best[3][0]
        offset, weight = patch.disc(float(sizes[best[0][0]]))
        e = np.linalg.svd(n[None])[2][1:]
        facet, xi, _, normal = self.along(at + offset @ e, n)
        if (facet < 0).any():
            raise beyond(patch, "its face")
        values = self.reference.values(xi)
        x = np.einsum("pn,pna->pa", values, self.mesh.points[self.nodes[facet]])
        return self.nodes[facet], values, x, weight / (normal @ n)
