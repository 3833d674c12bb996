"""An elastic body given by exported matrices and its nodes: shape, checks of the matrices, and mass at nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from phloat.algebra.factors import cholesky, symmetric_lu
from phloat.algebra.sparse import Matrix, csr, largest
from phloat.bodies.continua.mesh_body import MassSamples, Patch, Strains, Trace, rigid_shift
from phloat.bodies.inertia import Inertia, coupling
from phloat.bodies.shape import Shape, in_turn, rigid_motions
from phloat.errors import InputError, finite, unknown

NO_STRESS = "matrices know no stresses: recover them from the displacements in the code that made the matrices"


@dataclass(frozen=True, eq=False)
class NodeShape(Shape):
    """The shape of a body that is known at its nodes; dofs (coordinates, 2) are node and component 1 to 6 of each, 0 a scalar."""

    nodes: np.ndarray
    dofs: np.ndarray

    def places(self) -> np.ndarray:
        return self.nodes

    def component_rows(self, components: tuple[int, ...]) -> list[Matrix]:
        """For each component the matrix that picks it at every node, (nodes, coordinates)."""
        out = []
        for c in components:
            k = np.flatnonzero(self.dofs[:, 1] == c)
            ones = np.ones(len(k))
            out.append(csr(sp.coo_array((ones, (self.dofs[k, 0], k)), shape=(len(self.nodes), len(self.dofs)))))
        return out

    def displacement(self, s: np.ndarray) -> Matrix:
        return self._rows(s, (1, 2, 3), "displacements")

    def rotation(self, s: np.ndarray) -> Matrix:
        return self._rows(s, (4, 5, 6), "rotations")

    def cauchy(self, x: np.ndarray) -> Matrix:
        raise InputError(NO_STRESS)

    def stress_points(self) -> np.ndarray:
        raise InputError(NO_STRESS)

    def _rows(self, s: np.ndarray, components: tuple[int, ...], quantity: str) -> Matrix:
        """Rows of three components at places. Raises InputError if the matrices lack them there."""
        nodes = np.arange(len(self.nodes)) if s is self.nodes else self._nearest(np.atleast_2d(s))
        rows = [move[nodes] for move in self.component_rows(components)]
        if s is not self.nodes and any((np.diff(r.indptr) == 0).any() for r in rows):
            raise InputError(f"the matrices hold no {quantity} of the nodes asked for")
        return in_turn(rows)

    def _nearest(self, x: np.ndarray) -> np.ndarray:
        """Indices of the nodes at points x. Raises InputError for a point that is no node."""
        gaps = np.linalg.norm(self.nodes[None] - x[:, None], axis=2)
        nearest = gaps.argmin(axis=1)
        if (gap := gaps[np.arange(len(x)), nearest].max(initial=0.0)) > 1e-6 * np.ptp(self.nodes, axis=0).max():
            raise InputError(f"a body from matrices is known at its nodes only; a point is {gap:.3g} m off them")
        return nearest


def no_strains() -> Strains:
    """Raises InputError: a body from matrices has no strains."""
    raise InputError(NO_STRESS)


def coordinates_at(dofs: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Indices of the coordinates that are motions of some nodes."""
    return np.flatnonzero(np.isin(dofs[:, 0], nodes) & (dofs[:, 1] > 0))


def nodes_trace(shape: NodeShape, interfaces: Mapping[str, np.ndarray], interface: str | Patch) -> Trace:
    """The nodes of an interface with equal weights; rotations are used if the nodes are on a line or at one point."""
    if isinstance(interface, Patch) or interface not in interfaces:
        raise InputError(unknown("interface", interface, interfaces))
    numbers, size = interfaces[interface], float(np.ptp(shape.nodes, axis=0).max())
    x, weight = shape.nodes[numbers], np.ones(len(numbers))
    u, turn = ([csr(m[numbers]) for m in shape.component_rows(components)] for components in ((1, 2, 3), (4, 5, 6)))
    spread = np.linalg.svd(x - x.mean(axis=0), compute_uv=False)
    flat = len(spread) < 2 or spread[1] <= 1e-6 * max(spread[0], 1e-6 * size)
    if not flat or any(t.nnz < len(numbers) for t in turn):
        return Trace(x, weight, (u[0], u[1], u[2]))
    gyration = float((spread**2).sum() / len(numbers)) or size**2
    return Trace(x, weight, (u[0], u[1], u[2]), (turn[0], turn[1], turn[2]), gyration)


def rigid_motions_of_nodes(nodes: np.ndarray, dofs: np.ndarray) -> np.ndarray:
    """Coordinates of unit translations and of unit rotations about the origin, (coordinates, 6)."""
    out = np.zeros((len(dofs), 6))
    node, component = dofs.T
    moves, turns = (component >= 1) & (component <= 3), component >= 4
    out[moves] = rigid_motions(nodes)[node[moves], component[moves] - 1]
    out[turns, component[turns] - 1] = 1.0
    return out


# --- symmetry, positivity, six free rigid motions ---------------------------------------------------------------------


MOTIONS = ("along x", "along y", "along z", "about x", "about y", "about z")
SKEW = 1e-6  # relative defect of symmetry up to which a matrix is symmetrised
NEGATIVE = 1e-8  # of the diagonal: the largest negative eigenvalue of a semidefinite matrix
GROUNDED = 1e-4  # relative force of a rigid motion: rounding in a text file is below, a held node above
UNEQUAL = 1e-4  # relative difference of the masses along x, y, z


def symmetric(name: str, a: Matrix) -> Matrix:
    """½ (a + aᵀ). Raises InputError if a is zero, one triangle, or unsymmetric by more than rounding in a text file."""
    size = largest(a)
    if not size:
        raise InputError(f"{name} is zero")
    lower, upper = sp.tril(a, -1, format="csr"), sp.triu(a, 1, format="csr")
    if bool(lower.nnz) != bool(upper.nnz) and lower.nnz + upper.nnz:
        raise InputError(f"{name} holds one triangle only; give the whole matrix, A + A.T − diag(A)")
    defect = largest(a - a.T) / size
    if defect > SKEW:
        raise InputError(
            f"{name} is not symmetric: relative defect {defect:.1e}; export it without follower loads, contact and damping"
        )
    return csr((a + a.T) / 2) if defect else a


def require_positive_semidefinite(name: str, a: Matrix) -> None:
    """Raises InputError if vᵀa v < 0 for some v: a pivot of the scaled matrix is negative."""
    diagonal = a.diagonal()
    if diagonal.min() < 0.0:
        k = int(diagonal.argmin())
        raise InputError(f"{name} has {diagonal[k]:.3g} on its diagonal (row {k}); a mass or damping is never negative")
    massless = (diagonal == 0.0) & (np.asarray(abs(a).sum(axis=1)).ravel() > 0.0)
    if massless.any():
        k = int(massless.argmax())
        raise InputError(f"{name} has 0 on its diagonal but not beside it (row {k}), so it is not positive")
    scale = sp.diags_array(1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0)))
    shifted = scale @ a @ scale + NEGATIVE * sp.eye_array(a.shape[0])
    if cholesky(shifted) is not None:
        return
    factor = symmetric_lu(shifted)
    if (factor.perm_r == factor.perm_c).all() and (lacking := int((factor.U.diagonal() < 0.0).sum())):
        raise InputError(f"{name} is not positive: {lacking} of its {a.shape[0]} eigenvalues are negative")


def rigid_forces(K: Matrix, rigid: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """‖K r‖ / ‖|K| |r|‖ for the six rigid motions r about a point, (6,): round-off if the body is free."""
    r = rigid @ rigid_shift(centre)
    force, terms = K @ r, abs(K) @ np.abs(r)
    size = np.sqrt(np.einsum("ik,ik->k", terms, terms))
    return np.asarray(np.sqrt(np.einsum("ik,ik->k", force, force)) / np.where(size > 0, size, 1.0))


def require_free_motions(numbers: np.ndarray) -> None:
    """Raises InputError, with the six numbers of `rigid_forces`, if one exceeds GROUNDED."""
    if numbers.max() <= GROUNDED:
        return
    text = ", ".join(f"{name} {number:.1e}" for name, number in zip(MOTIONS, numbers, strict=True))
    if numbers[:3].max() > GROUNDED:
        why = (
            "K is held to the ground somewhere, or its rows are in another order than nodes and dofs say; export the free body, "
            "without boundary conditions"
        )
    else:
        why = "the coordinates of nodes do not fit K: look at their units and their order"
    raise InputError(f"rigid motions meet elastic forces, relatively {text}; {why}")


def rigid_mass(M: Matrix, rigid: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, mass centre and inertia about it, from rigidᵀM rigid. Raises InputError if these contradict a rigid body."""
    rigid_M = rigid.T @ (M @ rigid)
    m_xyz = np.diag(rigid_M)[:3]
    mass = float(m_xyz.mean())
    if not mass > 0.0:
        raise InputError(f"the mass of a rigid motion along x, y, z is {_three(m_xyz)} kg; there is no mass in M")
    spread = max(np.ptp(m_xyz), float(np.abs(rigid_M[:3, :3] - np.diag(m_xyz)).max())) / mass
    if spread > UNEQUAL:
        raise InputError(f"the body weighs {_three(m_xyz)} kg along x, y, z: M lacks directions, or dofs do not fit it")
    moment = rigid_M[:3, 3:]  # −[s₀]
    centre = np.array([moment[1, 2] - moment[2, 1], moment[2, 0] - moment[0, 2], moment[0, 1] - moment[1, 0]]) / (
        2 * mass
    )
    size = np.sqrt(max(np.trace(rigid_M[3:, 3:]) / mass, 1e-300))  # a radius of gyration about the origin
    if (defect := float(np.abs(moment + moment.T).max()) / (mass * size)) > UNEQUAL:
        raise InputError(
            f"M has no mass centre: the momenta of rigid rotations contradict each other, relatively {defect:.1e}; see that the "
            "coordinates of nodes and the components of dofs fit M"
        )
    shift = rigid_shift(centre)
    return mass, centre, (shift.T @ rigid_M @ shift)[3:, 3:]


def _three(numbers: np.ndarray) -> str:
    """Numbers as text with six digits."""
    return ", ".join(f"{n:.6g}" for n in numbers)


# --- mass at nodes ----------------------------------------------------------------------------------------------------
#
# Masses at nodes for a body that is given by its matrix M only.
#
# M determines all of M(0): total mass, centre, inertia, momenta of every field. What changes as the body deforms (X, W of the six
# arrays) depends on the distribution of mass. If M is the same scalar matrix for x, y and z, as in solids, that matrix gives it
# exactly. Otherwise masses are lumped (row sums, or prescribed); fields are shifted so that momenta agree with M, and the remaining
# differences of inertia, angular momentum and M_ff go into a constant part, like the rotary inertia of sections.


SAME = 1e-10  # of the largest entry of M: difference of equal blocks
WEIGHT = 1e-3  # of the mass: the largest error of the sum of prescribed nodal masses


class NodalMass(NamedTuple):
    """Samples and constant remainder; `kind` is the origin of the masses: "consistent", "lumped" or "given"."""

    samples: MassSamples
    sections: Inertia | None
    kind: str


def nodal_mass(
    M: Matrix, nodes: np.ndarray, moves: tuple[Matrix, Matrix, Matrix], rigid: np.ndarray, masses: np.ndarray | None
) -> NodalMass:
    """The mass at nodes from M; `moves` are the matrices of displacements of nodes along x, y, z, (nodes, coordinates)."""
    rigid_M = rigid.T @ (M @ rigid)
    total = float(np.trace(rigid_M[:3, :3]) / 3.0)
    mass, kind = _masses(M, moves, total, masses, len(nodes))
    momentum = (M @ rigid).T  # of every coordinate, 6 × n
    heavy = np.asarray(mass.sum(axis=0)).ravel()
    s0 = np.array([rigid_M[1, 5] - rigid_M[2, 4], rigid_M[2, 3] - rigid_M[0, 5], rigid_M[0, 4] - rigid_M[1, 3]]) / 2.0
    x = nodes + _small(s0 - heavy @ nodes, total * np.abs(nodes).max(initial=0.0)) / total
    Phi = tuple(_shifted(moves[a], momentum[a] - moves[a].T @ heavy, total) for a in range(3))
    samples = MassSamples(x, mass, (Phi[0], Phi[1], Phi[2]))
    rest = csr(M - sum((p.T @ mass @ p for p in Phi), csr(M.shape)))
    if kind == "consistent" and largest(rest) <= SAME * largest(M):
        return NodalMass(samples, None, kind)
    second = x.T @ (mass @ x)
    J0 = rigid_M[3:, 3:] - (np.trace(second) * np.eye(3) - second)
    X = np.array([[p.T @ (mass @ x[:, a]) for p in Phi] for a in range(3)])
    c = momentum[3:] - coupling(X)
    half = np.zeros_like(X)
    for k, (a, b) in enumerate(((1, 2), (2, 0), (0, 1))):
        half[a, b], half[b, a] = 0.5 * c[k], -0.5 * c[k]
    none = csr(M.shape)
    return NodalMass(samples, Inertia(0.0, np.zeros(3), J0, np.zeros_like(c), half, ((none,) * 3,) * 3, rest), kind)


def _masses(
    M: Matrix, moves: tuple[Matrix, Matrix, Matrix], total: float, masses: np.ndarray | None, nodes: int
) -> tuple[Matrix, str]:
    """The mass matrix of the nodes, for each axis, and its kind."""
    if masses is not None:
        prescribed = finite("masses", masses, (nodes,))
        if abs(prescribed.sum() - total) > WEIGHT * total:
            raise InputError(f"masses add up to {prescribed.sum():.6g} kg, but the body weighs {total:.6g} kg by M")
        return csr(sp.diags_array(prescribed * total / prescribed.sum())), "given"
    blocks = [[csr(a @ M @ b.T) for b in moves] for a in moves]
    mean = csr((blocks[0][0] + blocks[1][1] + blocks[2][2]) / 3.0)
    defects = [largest(blocks[a][b] - mean if a == b else blocks[a][b]) for a in range(3) for b in range(3)]
    if max(defects) <= SAME * largest(M):
        return mean, "consistent"
    return csr(sp.diags_array(np.asarray(mean.sum(axis=1)).ravel())), "lumped"


def _shifted(move: Matrix, lacking: np.ndarray, total: float) -> Matrix:
    """Φ with a constant added to each field, so that its momentum Σ m Φ has the lacking part."""
    shift = _small(lacking, np.abs(move.T @ np.ones(move.shape[0])).max() * total)
    if not shift.any():
        return move
    return csr(move + csr(np.ones((move.shape[0], 1))) @ csr(shift[None, :] / total))


def _small(a: np.ndarray, size: float) -> np.ndarray:
    """a with round-off relative to `size` set to zero."""
    return np.where(np.abs(a) > 1e-13 * size, a, 0.0)
