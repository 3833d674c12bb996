"""Rows of ties: what a boundary does, tested with the traces of its own coordinates, against what it is tied to.

    ∫ φ_i · (u_2 − u_1) = 0     for the traces φ_i of one side; on plates + h²/12 ∫ ϑ_i · (θ_2 − θ_1)

Against a port u_2 = W (v_P, ω), the rigid motion of the boundary: the compact operator whose adjoint Wᵀ gives the total force and
torque of the tractions. Between two boundaries, whose meshes need not match, the integrals go over the pieces that facets of the
two share (a mortar), with the traces of the finer side. Where that is held at an end of the boundary, the traces of what is held
there are added to those of their neighbours: tractions need not vanish at the end, and there are no more rows than motions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from phloat.algebra.cross import skews
from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, csr, largest, stacked, weighted, zero_matrix
from phloat.bodies.continua.continuum import Continuum
from phloat.bodies.continua.mesh_body import Trace, rigid_shift
from phloat.bodies.shape import Selected, Shape
from phloat.errors import InputError, JointError
from phloat.fem.overlap import measure, shared
from phloat.joints.tie import MOTIONS, Tie
from phloat.linear.form.interconnect import append_systems
from phloat.linear.form.phdae import LinearPHDAE
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
    """A port: (v_P, ω) or v_P alone, as rows of the whole, zero for the ground; and where it is in the axes of its body."""

    rows: Matrix
    centre: np.ndarray


class Gap(NamedTuple):
    """Gaps of the chosen motions at points, per rows of the whole, times the roots of weights; these weights, and h²/12."""

    rows: Matrix
    weight: np.ndarray
    chosen: list[int]
    gyration: float


def tied_rows(tie: Tie, first: Edge | Twist, second: Edge | Twist, size: int) -> tuple[Matrix, np.ndarray]:
    """Independent rows of two ends that move together; and the origin of the second body seen from the first."""
    origin = first.centre - second.centre
    if isinstance(first, Edge) and isinstance(second, Edge):
        gap, V, free, origin = _of_boundaries(tie, first, second, size)
        rows = csr(_ending(V, free, gap.weight, gap.chosen).T @ gap.rows)
    elif isinstance(first, Edge) and isinstance(second, Twist):
        rows = _against_port(tie, first, second, size)
    elif isinstance(second, Edge) and isinstance(first, Twist):
        rows = csr(-_against_port(tie, second, first, size))
    else:
        rows = _gap(tie, first, second, size).rows
    return _independent(rows), origin


def with_spring(whole: LinearPHDAE, tie: Tie, first: Edge | Twist, second: Edge | Twist) -> LinearPHDAE:
    """The system with a tie that gives way: C σ̇ = D v, and the force −Dᵀσ − Dᵀ(c/wA) D v on the motion.

    D v are rates of gaps times weights w: 1 between ports, so that σ are forces; those of quadrature points on a boundary, so that
    σ are forces per area (or length of an edge). Stiffnesses k of a boundary are totals, spread evenly: C = w A / k.
    """
    gap = _gap(tie, first, second, whole.rows.size)
    rooted = np.concatenate([np.sqrt(_weight(gap, k)) for k in gap.chosen])  # as the rows are
    rows = csr(weighted(gap.rows, 1.0 / rooted))
    there = np.diff(rows.indptr) > 0  # without gaps that nothing opens
    weight, motion = np.tile(gap.weight, len(gap.chosen))[there], np.repeat(gap.chosen, len(gap.weight))[there]
    k, c = (
        weight / gap.weight.sum() * np.asarray((0.0,) * 6 if given is None else given, dtype=float)[motion]
        for given in (tie.stiffness, tie.damping)
    )
    D = csr(weighted(rows[there], weight))
    whole = replace(whole, R=csr(whole.R + D.T @ weighted(D, c / weight**2)))
    elastic = k > 0.0
    return with_stresses(whole, f"{tie.label}.sigma", csr(D[elastic]), weight[elastic] ** 2 / k[elastic])


def with_stresses(
    whole: LinearPHDAE,
    name: str,
    D: Matrix,
    C: np.ndarray,
    circulation: Matrix | None = None,
    followers: tuple[str, ...] = (),
) -> LinearPHDAE:
    """The system with stresses C σ̇ = D v as a last block of rows; `circulation` are forces by σ on all rows besides −Dᵀσ."""
    if not len(C):
        return whole
    rows = Layout({name: (len(C),)}, "row")
    none = {"J": zero_matrix(rows.size, rows.size), "B": zero_matrix(rows.size, 0)}
    stresses = LinearPHDAE(E=csr(sp.diags_array(C)), **none, rows=rows, ports=Layout({}, "port"), split=0)
    both = append_systems(whole, stresses)
    coupling = stacked([[None, -D.T], [D, none["J"]]])
    return replace(
        both,
        J=csr(both.J + coupling),
        N=both.N if circulation is None else circulation,
        followers=followers or whole.followers,
    )


def _gap(tie: Tie, first: Edge | Twist, second: Edge | Twist, size: int) -> Gap:
    """What opens between two ends, of either sign."""
    if isinstance(first, Edge) and isinstance(second, Edge):
        return _of_boundaries(tie, first, second, size)[0]
    if isinstance(first, Twist) and isinstance(second, Twist):
        count = min(first.rows.shape[0], second.rows.shape[0])
        chosen = [k for k in tie.motions if k < count]
        if not chosen or ((tie.of is not None or tie.soft) and len(chosen) < len(tie.motions)):
            raise JointError(f"{tie.label} ties rotations, and one of its ports has none; tie it along axes only")
        return Gap(csr(second.rows[chosen] - first.rows[chosen]), np.ones(1), chosen, 1.0)
    edge, twist = (first, second) if isinstance(first, Edge) else (second, first)
    assert isinstance(edge, Edge) and isinstance(twist, Twist)
    trace = edge.trace
    chosen = chosen_motions(tie, trace)
    rows = csr(rigid_field(trace, chosen)) @ _turning(tie, twist)
    return Gap(
        csr(rows - in_whole(stacked_trace(trace, chosen), edge.columns, size)), trace.weight, chosen, trace.gyration
    )


def _turning(tie: Tie, twist: Twist) -> Matrix:
    if twist.rows.shape[0] < 6:
        raise JointError(f"{tie.label} needs an orientation at its port, and a point mass has none; use a RigidBody")
    return twist.rows


def _against_port(tie: Tie, edge: Edge, twist: Twist, size: int) -> Matrix:
    """Rows of a boundary that moves with a port, per rows of the whole.

    Where the traces are independent, as on all conforming elements, the integrals say no more than that every coordinate which
    reaches the boundary moves as (v_P, ω) has it, and this sparser form is taken: its multipliers are forces on coordinates.
    """
    trace, moved = edge.trace, _turning(tie, twist)
    chosen = chosen_motions(tie, trace)
    V, W = stacked_trace(trace, chosen), rigid_field(trace, chosen)
    rigid = edge.body.rigid @ rigid_shift(centre(trace))
    rigid[:, ~W.any(axis=0)] = 0.0
    rigid[np.abs(rigid) < ROUND_OFF * np.abs(rigid).max(initial=0.0)] = 0.0
    misfit = V @ rigid - W  # where the boundary is held, the port feels it
    misfit[:, np.linalg.norm(misfit, axis=0) <= IN_RANGE * np.linalg.norm(W)] = 0.0
    on = np.unique(V.indices)
    gram = csr(V[:, on].T @ V[:, on])
    if len(repeated(gram)):
        tests = csr(sp.hstack([V, csr(misfit)]))
        return csr(tests.T @ (csr(W) @ moved - in_whole(V, edge.columns, size)))
    follows = csr(rigid[on]) @ moved - csr(sp.eye_array(size, format="csr")[edge.columns[on]])
    return csr(sp.vstack([follows, csr(misfit.T @ misfit) @ moved]))


def rigid_field(trace: Trace, chosen: list[int]) -> np.ndarray:
    """W: the motions of the points per (v, ω) at the centre of the boundary, weighted as `stacked_trace`."""
    arm = trace.x - centre(trace)
    # otherwise round-off would couple a straight edge to rotations about itself
    arm[np.abs(arm) < ROUND_OFF * np.abs(arm).max(initial=0.0)] = 0.0
    out = np.zeros((6, len(arm), 6))
    out[np.arange(6), :, np.arange(6)] = 1.0
    out[:3, :, 3:] = -skews(arm).transpose(1, 0, 2)
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
            f"{tie.label} ties {', '.join(missing)}, which cannot move there; motions that can: "
            f"{', '.join(MOTIONS[k] for k in there) or 'none: it is held'}"
        )
    return chosen


def _motion(trace: Trace, k: int) -> Matrix:
    if k < 3:
        return trace.u[k]
    assert trace.turn is not None
    return trace.turn[k - 3]


def _weight(at: Trace | Gap, k: int) -> np.ndarray:
    """What the square of a motion at the points counts: of rotations h²/12 beside squares of lengths."""
    return at.weight if k < 3 else at.weight * at.gyration


def centre(trace: Trace) -> np.ndarray:
    return trace.weight @ trace.x / trace.weight.sum()


def in_whole(V: Matrix, columns: np.ndarray, size: int) -> Matrix:
    """Columns of a body in those of the whole."""
    entries = V.tocoo()
    return csr(sp.coo_array((entries.data, (entries.row, columns[entries.col])), shape=(V.shape[0], size)))


def _independent(rows: Matrix) -> Matrix:
    """The rows without zero ones and without those that follow from the others."""
    rows = csr(rows[np.diff(rows.indptr) > 0])
    return csr(rows[np.setdiff1d(np.arange(rows.shape[0]), repeated(rows))])


# --- between two boundaries ------------------------------------------------------------------------------------------

COVERED = 1e-6  # of a boundary: what may be missing of it
CURVED = 1e-9  # of the size of the mesh: how far middles of straight facets may lie off


def _of_boundaries(tie: Tie, first: Edge, second: Edge, size: int) -> tuple[Gap, Matrix, np.ndarray, np.ndarray]:
    """The gap at points that two boundaries share; the traces of the finer side, which of its coordinates are free, and the origin
    of the second body seen from the first."""
    if first.body.mesh.dimension != second.body.mesh.dimension:
        raise JointError(f"{tie.label} ties an edge to a face; tie faces to faces and edges to edges")
    finer, coarser = (first, second) if len(first.facets) >= len(second.facets) else (second, first)
    x, weight, shift = _common_points(tie, finer, coarser)
    shape, free = _unheld(finer)
    full = _trace(finer, shape, x, weight)
    other = _trace(coarser, coarser.body.shape, x - shift, weight)._replace(gyration=full.gyration)
    chosen = chosen_motions(tie, _only(full, free), other)
    V = stacked_trace(full, chosen)
    moves = {finer: csr(V[:, free]), coarser: stacked_trace(other, chosen)}
    gap = in_whole(moves[second], second.columns, size) - in_whole(moves[first], first.columns, size)
    return Gap(csr(gap), weight, chosen, full.gyration), V, free, shift if finer is first else -shift


def _common_points(tie: Tie, finer: Edge, coarser: Edge) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Quadrature points in the axes of the finer body, their weights, and the way from the coarser body's axes to them."""
    here, there = finer.body.trace(finer.boundary), coarser.body.trace(coarser.boundary)
    # curved facets of the two need not coincide: the points of the finer side are located in the coarser one
    if _curved(finer) or _curved(coarser):
        return here.x, here.weight, centre(here) - centre(there)
    ours, theirs = (edge.body.mesh.points[edge.facets] for edge in (finer, coarser))
    whole, best = measure(ours), 0.0
    for shift in (np.zeros(3), centre(here) - centre(there)):
        x, weight = shared(ours, theirs + shift, max(_degree(finer), _degree(coarser)))
        best = max(best, float(weight.sum()))
        if best > (1.0 - COVERED) * whole:
            return x, weight, shift
    raise InputError(
        f"{tie.label}: {best:.6g} of {whole:.6g} m (or m²) of {finer.boundary!r} lie on {coarser.boundary!r}, as the "
        "bodies are placed or with the centres of both put together; a tie needs all of the finer boundary to lie on the other"
    )


def _degree(edge: Edge) -> int:
    """Of products of traces on a facet: order 5 is the highest there is on edges of plates."""
    mesh = edge.body.mesh
    if mesh.dimension == 2:
        return 10
    return mesh.order * (4 if edge.facets.shape[1] == 4 else 2)


def _curved(edge: Edge) -> bool:
    mesh = edge.body.mesh
    if mesh.order == 1:
        return False
    corners = edge.facets.shape[1]
    nodes = mesh.points[mesh.facet_nodes(edge.boundary)]
    along = nodes[:, :corners]
    middles = 0.5 * (along + np.roll(along, -1, axis=1)) if corners > 2 else along.mean(axis=1, keepdims=True)
    return bool(np.abs(nodes[:, corners : corners + middles.shape[1]] - middles).max() > CURVED * mesh.size)


def _unheld(edge: Edge) -> tuple[Shape, np.ndarray]:
    """The shape of the body before anything was held, and which of its coordinates are free."""
    shape, free = edge.body.shape, np.arange(edge.body.coordinates)
    while isinstance(shape, Selected):
        free = np.flatnonzero(shape.keep)[free]
        shape = shape.shape
    return shape, free


def _trace(edge: Edge, shape: Shape, x: np.ndarray, weight: np.ndarray) -> Trace:
    """The boundary at other points of it."""
    own = edge.body.trace(edge.boundary)
    turn = None if own.turn is None else _by_axes(shape.rotation(x))
    return edge.cleaned(Trace(x, weight, _by_axes(shape.displacement(x)), turn, own.gyration))


def _by_axes(a: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    return csr(a[0::3]), csr(a[1::3]), csr(a[2::3])


def _only(trace: Trace, free: np.ndarray) -> Trace:
    turn = trace.turn and tuple(csr(t[:, free]) for t in trace.turn)
    return trace._replace(u=tuple(csr(u[:, free]) for u in trace.u), turn=turn)


def _ending(V: Matrix, free: np.ndarray, weight: np.ndarray, chosen: list[int]) -> Matrix:
    """The traces of the free coordinates, those of held ones at the ends added to their neighbours: translations stay whole."""
    on = np.unique(V.indices)
    held, ours = np.setdiff1d(on, free), np.intersect1d(on, free)
    out = csr(V[:, free])
    if not len(held) or not len(ours):
        return out
    near = abs(V[:, held].T @ V[:, ours]).toarray()
    number = np.searchsorted(free, ours)
    more = sp.lil_array((len(held), len(free)))
    for moved in _of_translations(V, on, weight, chosen):
        part = np.abs(moved) > 1e-6 * np.abs(moved).max()
        for k, h in enumerate(held):
            neighbours = np.where(part[ours], near[k], 0.0)
            if part[h] and neighbours.any():
                j = int(np.argmax(neighbours))
                more[k, number[j]] += moved[h] / moved[ours[j]]
    return csr(out + V[:, held] @ csr(more))


def _of_translations(V: Matrix, on: np.ndarray, weight: np.ndarray, chosen: list[int]) -> np.ndarray:
    """The coordinates of unit translations along each chosen axis, (axes, coordinates)."""
    points, axes = len(weight), [k for k in range(len(chosen)) if chosen[k] < 3]
    right = np.zeros((V.shape[0], len(axes)))
    for column, k in enumerate(axes):
        right[k * points : (k + 1) * points, column] = np.sqrt(weight)
    part = csr(V[:, on])
    gram = (part.T @ part).tocsc()
    out = np.zeros((len(axes), V.shape[1]))
    out[:, on] = spla.splu(gram + 1e-12 * abs(gram).max() * sp.eye_array(len(on))).solve(part.T @ right).T
    return out
