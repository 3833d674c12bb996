"""An elastic body given by exported matrices and the places of its nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from phloat.algebra.sparse import Matrix, csr
from phloat.bodies.continua.mesh_body import Patch, Strains, Trace
from phloat.bodies.shape import Shape, in_turn
from phloat.errors import InputError, unknown

NO_STRESS = "matrices know no stresses: recover them from the displacements in the code that made the matrices"


@dataclass(frozen=True, eq=False)
class NodeShape(Shape):
    """Fields of a body at its nodes: dofs (coordinates, 2) are the node and the component 1 to 6 of each, 0 a scalar."""

    nodes: np.ndarray
    dofs: np.ndarray

    def places(self) -> np.ndarray:
        return self.nodes

    def points(self, s: np.ndarray) -> np.ndarray:
        return s

    def moves(self, components: tuple[int, ...]) -> list[Matrix]:
        """For each component, the rows that pick it at every node, nodes × coordinates."""
        out = []
        for c in components:
            at = np.flatnonzero(self.dofs[:, 1] == c)
            ones = np.ones(len(at))
            out.append(csr(sp.coo_array((ones, (self.dofs[at, 0], at)), shape=(len(self.nodes), len(self.dofs)))))
        return out

    def displacement(self, s: np.ndarray) -> Matrix:
        return self._rows(s, (1, 2, 3), "displacements")

    def rotation(self, s: np.ndarray) -> Matrix:
        return self._rows(s, (4, 5, 6), "rotations")

    def cauchy(self, x: np.ndarray) -> Matrix:
        raise InputError(NO_STRESS)

    def stress_points(self) -> np.ndarray:
        raise InputError(NO_STRESS)

    def _rows(self, s: np.ndarray, components: tuple[int, ...], what: str) -> Matrix:
        at = np.arange(len(self.nodes)) if s is self.nodes else self._nearest(np.atleast_2d(s))
        rows = [move[at] for move in self.moves(components)]
        if s is not self.nodes and any((np.diff(r.indptr) == 0).any() for r in rows):
            raise InputError(f"the matrices hold no {what} of the nodes asked for")
        return in_turn(rows)

    def _nearest(self, x: np.ndarray) -> np.ndarray:
        away = np.linalg.norm(self.nodes[None] - x[:, None], axis=2)
        at = away.argmin(axis=1)
        if (off := away[np.arange(len(x)), at].max(initial=0.0)) > 1e-6 * np.ptp(self.nodes, axis=0).max():
            raise InputError(f"a body from matrices is known at its nodes only; a point is {off:.3g} m off")
        return at


def no_strains() -> Strains:
    """Raises InputError."""
    raise InputError(NO_STRESS)


def coordinates_at(dofs: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """The coordinates that are motions of some nodes."""
    return np.flatnonzero(np.isin(dofs[:, 0], nodes) & (dofs[:, 1] > 0))


def nodes_trace(shape: NodeShape, interfaces: Mapping[str, np.ndarray], where: str | Patch) -> Trace:
    """The nodes of an interface, all with the same weight; their rotations count where their places say too little."""
    if isinstance(where, Patch) or where not in interfaces:
        raise InputError(unknown("interface", where, interfaces))
    at, size = interfaces[where], float(np.ptp(shape.nodes, axis=0).max())
    x, weight = shape.nodes[at], np.ones(len(at))
    u, turn = ([csr(m[at]) for m in shape.moves(components)] for components in ((1, 2, 3), (4, 5, 6)))
    spread = np.linalg.svd(x - x.mean(axis=0), compute_uv=False)
    flat = len(spread) < 2 or spread[1] <= 1e-6 * max(spread[0], 1e-6 * size)
    if not flat or any(t.nnz < len(at) for t in turn):
        return Trace(x, weight, (u[0], u[1], u[2]))
    gyration = float((spread**2).sum() / len(at)) or size**2
    return Trace(x, weight, (u[0], u[1], u[2]), (turn[0], turn[1], turn[2]), gyration)


def rigid_motions_of_nodes(nodes: np.ndarray, dofs: np.ndarray) -> np.ndarray:
    """Unit translations and rotations about the origin in the coordinates of nodes, (coordinates, 6)."""
    out = np.zeros((len(dofs), 6))
    node, component = dofs.T
    for a in range(3):
        moves, turns = component == a + 1, component == a + 4
        out[moves, a] = 1.0
        out[moves, 3:] = np.cross(np.eye(3)[None], nodes[node[moves]][:, None])[:, :, a]
        out[turns, 3 + a] = 1.0
    return out
