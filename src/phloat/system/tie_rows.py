"""Rows of ties: what a boundary does, tested with the traces of its own coordinates, against what it is tied to.

    ∫ φ_i · (u_2 − u_1) = 0     for the traces φ_i of one side; on plates + h²/12 ∫ ϑ_i · (θ_2 − θ_1)

Against a port u_2 = W (v_P, ω), the rigid motion of the boundary: the compact operator whose adjoint Wᵀ gives the total force and
torque of the tractions. Between two boundaries the integrals go over the pieces that facets of the two share (a mortar).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from phloat.algebra.cross import skew
from phloat.algebra.sparse import Matrix, csr, largest, weighted, zero_matrix
from phloat.bodies.continua.continuum import Continuum
from phloat.bodies.continua.mesh_body import Trace
from phloat.errors import InputError, JointError
from phloat.joints.tie import MOTIONS, Tie
from phloat.linear.time.midpoint import repeated

ROUND_OFF = 1e-12
IN_RANGE = 1e-8  # of a rigid motion: how far the traces of a free boundary may be from it


@dataclass(frozen=True, eq=False)
class Edge:
    """A boundary of a body on a mesh, and where its coordinates stand in the rows of the whole."""

    body: Continuum
    boundary: str
    columns: np.ndarray

    @property
    def facets(self) -> np.ndarray:
        return self.body.mesh.boundaries[self.boundary]

    @property
    def centre(self) -> np.ndarray:
        return centre(self.body.trace(self.boundary))

    @property
    def trace(self) -> Trace:
        return self.cleaned(self.body.trace(self.boundary))

    def cleaned(self, trace: Trace) -> Trace:
        """Without round-off: coordinates that do not reach the boundary must not be felt there."""
        sizes = [largest(Phi) for Phi in self.body.samples.Phi]
        turn = trace.turn and _without(trace.turn, [max(sizes) / self.body.mesh.size] * 3)
        return trace._replace(u=_without(trace.u, sizes), turn=turn)


@dataclass(frozen=True, eq=False)
class Twist:
    """A port: (v_P, ω) or v_P alone, as rows of the whole; and where it is in the axes of its body."""

    rows: Matrix
    x: np.ndarray


def against_port(tie: Tie, edge: Edge, twist: Twist | None, size: int) -> Matrix:
    """Rows of a boundary that moves with a port, or stands still (None), per rows of the whole; independent of each other.

    Where the traces are independent, as on all conforming elements, the integrals say no more than that every coordinate which
    reaches the boundary moves as (v_P, ω) has it, and this sparser form is taken: its multipliers are forces on coordinates.
    """
    trace = edge.trace
    chosen = chosen_motions(tie, trace)
    V, W = stacked_trace(trace, chosen), rigid_field(trace, chosen)
    if twist is None:
        twist = Twist(zero_matrix(6, size), np.zeros(3))
    if twist.rows.shape[0] < 6:
        raise JointError(f"{tie.label} needs an orientation at its port, and a point mass has none; use a RigidBody")
    rigid = edge.body.rigid @ _at(centre(trace))
    rigid[:, ~W.any(axis=0)] = 0.0
    rigid[np.abs(rigid) < ROUND_OFF * np.abs(rigid).max(initial=0.0)] = 0.0
    misfit = V @ rigid - W  # where the boundary is held, the port feels it
    misfit[:, np.linalg.norm(misfit, axis=0) <= IN_RANGE * np.linalg.norm(W)] = 0.0
    on = np.unique(V.indices)
    gram = csr(V[:, on].T @ V[:, on])
    if len(repeated(gram)):
        tests = csr(sp.hstack([V, csr(misfit)]))
        return independent(csr(tests.T @ (csr(W) @ twist.rows - spread(V, edge.columns, size))))
    follows = csr(rigid[on]) @ twist.rows - csr(sp.eye_array(size, format="csr")[edge.columns[on]])
    held = csr(misfit.T @ misfit) @ twist.rows
    return independent(csr(sp.vstack([follows, held])))


def between_ports(tie: Tie, first: Twist | None, second: Twist | None) -> Matrix:
    """Two ports that move together, or one that stands still (None is the ground)."""
    ends = [end for end in (first, second) if end is not None]
    count = min(end.rows.shape[0] for end in ends)
    chosen = [k for k in tie.motions if k < count]
    if not chosen:
        raise JointError(f"{tie.label} ties rotations, and one of its ports has none")
    rows = [sign * end.rows[chosen] for sign, end in ((-1.0, first), (1.0, second)) if end is not None]
    return independent(csr(sum(rows[1:], rows[0])))


def rigid_field(trace: Trace, chosen: list[int]) -> np.ndarray:
    """W: the motions of the points per (v, ω) at the centre of the boundary, weighted as `stacked_trace`."""
    arm = trace.x - centre(trace)
    # otherwise round-off would couple a straight edge to rotations about itself
    arm[np.abs(arm) < ROUND_OFF * np.abs(arm).max(initial=0.0)] = 0.0
    out = np.zeros((6, len(arm), 6))
    for a in range(3):
        out[a, :, a] = 1.0
        out[3 + a, :, 3 + a] = 1.0
    out[:3, :, 3:] = -np.array([skew(y) for y in arm]).transpose(1, 0, 2)
    return np.vstack([np.sqrt(_weight(trace, k))[:, None] * out[k] for k in chosen])


def stacked_trace(trace: Trace, chosen: list[int]) -> Matrix:
    """The chosen motions of all points, times the root of their weights, per coordinate of the body."""
    return csr(sp.vstack([weighted(_motion(trace, k), np.sqrt(_weight(trace, k))) for k in chosen]))


def _without(rows: tuple[Matrix, Matrix, Matrix], sizes: list[float]) -> tuple[Matrix, Matrix, Matrix]:
    x, y, z = (a.multiply(abs(a) > ROUND_OFF * max(size, largest(a))) for a, size in zip(rows, sizes, strict=True))
    return csr(x), csr(y), csr(z)


def chosen_motions(tie: Tie, *traces: Trace) -> list[int]:
    """Numbers of the motions to tie that all these boundaries have."""
    there = [k for k in range(6) if all(k < 3 or t.turn is not None for t in traces)]
    there = [k for k in there if any(_motion(t, k).nnz for t in traces)]
    chosen = [k for k in tie.motions if k in there]
    if ((tie.of is not None or tie.soft) and len(chosen) < len(tie.motions)) or not chosen:
        missing = [MOTIONS[k] for k in tie.motions if k not in there]
        raise InputError(
            f"{tie.label} ties {', '.join(missing)}, which nothing there can do; there are: "
            f"{', '.join(MOTIONS[k] for k in there) or 'none: it is held'}"
        )
    return chosen


def _motion(trace: Trace, k: int) -> Matrix:
    if k < 3:
        return trace.u[k]
    assert trace.turn is not None
    return trace.turn[k - 3]


def _weight(trace: Trace, k: int) -> np.ndarray:
    return motion_weight(trace.weight, trace.gyration, k)


def motion_weight(weight: np.ndarray, gyration: float, k: int) -> np.ndarray:
    """What the square of a motion at the points counts: of rotations h²/12 beside squares of lengths."""
    return weight if k < 3 else weight * gyration


def centre(trace: Trace) -> np.ndarray:
    return trace.weight @ trace.x / trace.weight.sum()


def _at(x: np.ndarray) -> np.ndarray:
    """(v, ω) at the origin per (v, ω) at x."""
    out = np.eye(6)
    out[:3, 3:] = skew(x)
    return out


def spread(V: Matrix, columns: np.ndarray, size: int) -> Matrix:
    """Columns of a body in those of the whole."""
    entries = V.tocoo()
    return csr(sp.coo_array((entries.data, (entries.row, columns[entries.col])), shape=(V.shape[0], size)))


def independent(rows: Matrix) -> Matrix:
    """The rows without zero ones and without those that follow from the others."""
    rows = csr(rows[np.diff(rows.indptr) > 0])
    return csr(rows[np.setdiff1d(np.arange(rows.shape[0]), repeated(rows))])
