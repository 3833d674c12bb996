"""The mass of a body that is known by its matrix M only, as masses at nodes.

M itself gives all of M(0): total mass, centre, inertia, momenta of every field. What changes as the body deforms (X, W of the six
arrays) needs to know where the mass is. If M is one scalar matrix for x, y and z alike, as solids have it, that matrix says so
exactly. Else masses are lumped (row sums, or given ones); fields are shifted so that momenta agree with M, and what then still
differs of inertia, angular momentum and M_ff goes into the constant part, as rotary inertia of sections does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from phloat.algebra.sparse import Matrix, csr, largest
from phloat.bodies.continua.meshed import Samples
from phloat.bodies.inertia import Sections, coupling
from phloat.errors import InputError, finite

SAME = 1e-10  # of the largest entry of M: blocks that are equal
WEIGHT = 1e-3  # of the mass: how far given nodal masses may be off


class NodalMass(NamedTuple):
    """Samples and constant remainder; `kind` says how the masses were found: "consistent", "lumped" or "given"."""

    samples: Samples
    sections: Sections | None
    kind: str


def nodal_mass(
    M: Matrix, nodes: np.ndarray, moves: tuple[Matrix, Matrix, Matrix], rigid: np.ndarray, masses: np.ndarray | None
) -> NodalMass:
    """From M, with `moves` the displacements of nodes (nodes × coordinates) along x, y, z."""
    whole = rigid.T @ (M @ rigid)
    total = float(np.trace(whole[:3, :3]) / 3.0)
    mass, kind = _masses(M, moves, total, masses, len(nodes))
    momentum = (M @ rigid).T  # of every coordinate, 6 × n
    heavy = np.asarray(mass.sum(axis=0)).ravel()
    s0 = np.array([whole[1, 5] - whole[2, 4], whole[2, 3] - whole[0, 5], whole[0, 4] - whole[1, 3]]) / 2.0
    x = nodes + _small(s0 - heavy @ nodes, total * np.abs(nodes).max(initial=0.0)) / total
    Phi = tuple(_shifted(moves[a], momentum[a] - moves[a].T @ heavy, total) for a in range(3))
    samples = Samples(x, mass, (Phi[0], Phi[1], Phi[2]))
    rest = csr(M - sum((p.T @ mass @ p for p in Phi), csr(M.shape)))
    if kind == "consistent" and largest(rest) <= SAME * largest(M):
        return NodalMass(samples, None, kind)
    second = x.T @ (mass @ x)
    J0 = whole[3:, 3:] - (np.trace(second) * np.eye(3) - second)
    X = np.array([[p.T @ (mass @ x[:, a]) for p in Phi] for a in range(3)])
    c = momentum[3:] - coupling(X)
    half = np.zeros_like(X)
    for k, (a, b) in enumerate(((1, 2), (2, 0), (0, 1))):
        half[a, b], half[b, a] = 0.5 * c[k], -0.5 * c[k]
    return NodalMass(samples, Sections(J0, half, ((csr(M.shape),) * 3,) * 3, rest), kind)


def _masses(
    M: Matrix, moves: tuple[Matrix, Matrix, Matrix], total: float, masses: np.ndarray | None, nodes: int
) -> tuple[Matrix, str]:
    if masses is not None:
        given = finite("masses", masses, (nodes,))
        if abs(given.sum() - total) > WEIGHT * total:
            raise InputError(
                f"masses add up to {given.sum():.6g} kg, but the body weighs {total:.6g} kg by its matrix M"
            )
        return csr(sp.diags_array(given * total / given.sum())), "given"
    blocks = [[csr(a @ M @ b.T) for b in moves] for a in moves]
    mean = csr((blocks[0][0] + blocks[1][1] + blocks[2][2]) / 3.0)
    apart = [largest(blocks[a][b] - mean if a == b else blocks[a][b]) for a in range(3) for b in range(3)]
    if max(apart) <= SAME * largest(M):
        return mean, "consistent"
    return csr(sp.diags_array(np.asarray(mean.sum(axis=1)).ravel())), "lumped"


def _shifted(move: Matrix, lacking: np.ndarray, total: float) -> Matrix:
    """Φ with a constant added to each field, so that Σ m Φ is its momentum."""
    shift = _small(lacking, np.abs(move.T @ np.ones(move.shape[0])).max() * total)
    if not shift.any():
        return move
    return csr(move + csr(np.ones((move.shape[0], 1))) @ csr(shift[None, :] / total))


def _small(a: np.ndarray, size: float) -> np.ndarray:
    """Without what is round-off beside `size`."""
    return np.where(np.abs(a) > 1e-13 * size, a, 0.0)
