"""Constraint rows of ties between boundaries and ports, in weak form.

    ∫ φ_i · (u_2 − u_1) = 0     for the traces φ_i of one side; on plates + h²/12 ∫ ϑ_i · (θ_2 − θ_1)

At a port u_2 = W (v_P, ω) is the rigid motion of the boundary; the adjoint Wᵀ gives the total force and torque of the tractions.
Between two boundaries, whose meshes need not match, the integrals go over the intersections of their facets (a mortar method) with
the traces φ_i of the finer side. Where coordinates of that side are supported at an end of the boundary, their traces are added to
those of their neighbours: tractions need not vanish at the end, and there are no more rows than motions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from phloat.algebra.cross import skew
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
from phloat.linear.time.gauss import repeated

ROUND_OFF = 1e-12
IN_RANGE = 1e-8  # of a rigid motion: how far the traces of a free boundary may be from it


@dataclass(frozen=True, eq=False)
class Edge:
    """A boundary of a body on a mesh; `columns` are the indices of the body's velocities in the rows of the system."""

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
        """The trace without round-off, so that coordinates that do not move the boundary are not coupled to it."""
        sizes = [largest(Phi) for Phi in self.body.samples.Phi]
        turn = trace.turn and _without_round_off(trace.turn, [max(sizes) / self.body.mesh.size] * 3)
        return trace._replace(u=_without_round_off(trace.u, sizes), turn=turn)


@dataclass(frozen=True, eq=False)
class Twist:
    """A port: its twist (v_P, ω), or v_P alone, per row of the system, zero for the ground; `centre` is its point in body axes."""

    rows: Matrix
    centre: np.ndarray


class Gap(NamedTuple):
    """Rates of the gaps of the chosen motions at points, per row of the system, times the roots of `weight`.

    `gyration` is h²/12, the factor of squared rotations beside squared displacements.
    """

    rows: Matrix
    weight: np.ndarray
    chosen: list[int]
    gyration: float


def rigid_tie_rows(tie: Tie, first: Edge | Twist, second: Edge | Twist, size: int) -> tuple[Matrix, np.ndarray]:
    """Linearly independent rows of a rigid tie, and the origin of the second body relative to the first (3,)."""
    origin = first.centre - second.centre
    if isinstance(first, Edge) and isinstance(second, Edge):
        gap, V, free, origin = _boundary_gap(tie, first, second, size)
        rows = csr(_traces_at_ends(V, free, gap.weight, gap.chosen).T @ gap.rows)
    elif isinstance(first, Edge) and isinstance(second, Twist):
        rows = _boundary_port_rows(tie, first, second, size)
    elif isinstance(second, Edge) and isinstance(first, Twist):
        rows = csr(-_boundary_port_rows(tie, second, first, size))
    else:
        rows = _gap(tie, first, second, size).rows
    return _independent(rows), origin


def with_spring(system: LinearPHDAE, tie: Tie, first: Edge | Twist, second: Edge | Twist) -> LinearPHDAE:
    """The system with an elastic or damped tie: C σ̇ = D v, and the force −Dᵀσ − Dᵀ(c/wA) D v on the motion.

    D v are rates of gaps times weights w. Between ports w = 1 and σ are forces; on a boundary w are quadrature weights and σ are
    forces per area (per length of an edge). Stiffnesses k of a boundary are totals, distributed evenly: C = w A / k.
    """
    gap = _gap(tie, first, second, system.rows.size)
    rooted = np.concatenate([np.sqrt(_weight(gap, k)) for k in gap.chosen])  # as the rows are
    rows = csr(weighted(gap.rows, 1.0 / rooted))
    nonzero = np.diff(rows.indptr) > 0  # without gaps that nothing opens
    weight, motion = np.tile(gap.weight, len(gap.chosen))[nonzero], np.repeat(gap.chosen, len(gap.weight))[nonzero]
    k, c = (
        weight / gap.weight.sum() * np.asarray((0.0,) * 6 if values is None else values, dtype=float)[motion]
        for values in (tie.stiffness, tie.damping)
    )
    D = csr(weighted(rows[nonzero], weight))
    system = replace(system, R=csr(system.R + D.T @ weighted(D, c / weight**2)))
    elastic = k > 0.0
    return with_stresses(system, f"{tie.label}.sigma", csr(D[elastic]), weight[elastic] ** 2 / k[elastic])


def with_stresses(
    system: LinearPHDAE,
    name: str,
    D: Matrix,
    C: np.ndarray,
    circulation: Matrix | None = None,
    followers: tuple[str, ...] = (),
) -> LinearPHDAE:
    """The system with stresses C σ̇ = D v as last block of rows; `circulation` maps σ to further forces on all rows, beside −Dᵀσ."""
    if not len(C):
        return system
    rows = Layout({name: (len(C),)}, "row")
    zero = {"J": zero_matrix(rows.size, rows.size), "B": zero_matrix(rows.size, 0)}
    stresses = LinearPHDAE(E=csr(sp.diags_array(C)), **zero, rows=rows, ports=Layout({}, "port"), split=0)
    combined = append_systems(system, stresses)
    coupling = stacked([[None, -D.T], [D, zero["J"]]])
    return replace(
        combined,
        J=csr(combined.J + coupling),
        nonconservative=combined.nonconservative if circulation is None else circulation,
        followers=followers or system.followers,
    )


def _gap(tie: Tie, first: Edge | Twist, second: Edge | Twist, size: int) -> Gap:
    """The gaps between two ends, of either sign. Raises JointError for tied rotations that a port does not have."""
    if isinstance(first, Edge) and isinstance(second, Edge):
        return _boundary_gap(tie, first, second, size)[0]
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
    rows = csr(rigid_field(trace, chosen)) @ require_orientation(tie, twist)
    rows = csr(rows - system_columns(stacked_trace(trace, chosen), edge.columns, size))
    return Gap(rows, trace.weight, chosen, trace.gyration)


def require_orientation(tie: Tie, twist: Twist) -> Matrix:
    """The six rows of a port. Raises JointError if it is a point mass."""
    if twist.rows.shape[0] < 6:
        raise JointError(f"{tie.label} needs an orientation at its port, and a point mass has none; use a RigidBody")
    return twist.rows


def _boundary_port_rows(tie: Tie, edge: Edge, twist: Twist, size: int) -> Matrix:
    """Rows of a boundary that moves with a port, per row of the system.

    Where the traces are independent, as on all conforming elements, the weak form is equivalent to prescribing every coordinate
    that moves the boundary by (v_P, ω). This sparser form is then used; its multipliers are forces on coordinates.
    """
    port_rows, moving = require_orientation(tie, twist), edge_motion(edge, chosen_motions(tie, edge.trace))
    V, misfit, columns = moving.V, moving.misfit, moving.columns
    if moving.dependent:
        tests = csr(sp.hstack([V, csr(misfit)]))
        return csr(tests.T @ (csr(moving.W) @ port_rows - system_columns(V, edge.columns, size)))
    equations = csr(moving.rigid) @ port_rows - csr(sp.eye_array(size, format="csr")[edge.columns[columns]])
    return csr(sp.vstack([equations, csr(misfit.T @ misfit) @ port_rows]))


class EdgeMotion(NamedTuple):
    """The chosen motions of a boundary, per coordinate (V) and per twist of its centre (W), weighted as in `stacked_trace`.

    `columns` are the coordinates that move it, `rigid` their values per twist; `misfit` is what V rigid misses of W, not zero where
    supports restrain the boundary. `dependent`: some coordinates move the boundary like others.
    """

    V: Matrix
    W: np.ndarray
    rigid: np.ndarray
    misfit: np.ndarray
    columns: np.ndarray
    dependent: bool


def edge_motion(edge: Edge, chosen: list[int]) -> EdgeMotion:
    """The chosen motions of a boundary by coordinates and by twists."""
    trace = edge.trace
    V, W = stacked_trace(trace, chosen), rigid_field(trace, chosen)
    rigid = edge.body.rigid @ rigid_shift(centre(trace))
    rigid[:, ~W.any(axis=0)] = 0.0
    rigid[np.abs(rigid) < ROUND_OFF * np.abs(rigid).max(initial=0.0)] = 0.0
    misfit = V @ rigid - W  # a supported boundary restrains the port
    misfit[:, np.linalg.norm(misfit, axis=0) <= IN_RANGE * np.linalg.norm(W)] = 0.0
    columns = np.unique(V.indices)
    dependent = len(repeated(csr(V[:, columns].T @ V[:, columns]))) > 0
    return EdgeMotion(V, W, rigid[columns], misfit, columns, dependent)


def rigid_field(trace: Trace, chosen: list[int]) -> np.ndarray:
    """W: the chosen motions of all points per (v, ω) at the centre of the boundary, weighted as in `stacked_trace`."""
    arm = trace.x - centre(trace)
    # otherwise round-off would couple a straight edge to rotations about itself
    arm[np.abs(arm) < ROUND_OFF * np.abs(arm).max(initial=0.0)] = 0.0
    out = np.zeros((6, len(arm), 6))
    out[np.arange(6), :, np.arange(6)] = 1.0
    out[:3, :, 3:] = -skew(arm).transpose(1, 0, 2)
    return np.vstack([np.sqrt(_weight(trace, k))[:, None] * out[k] for k in chosen])


def stacked_trace(trace: Trace, chosen: list[int]) -> Matrix:
    """V: the chosen motions of all points, times the roots of their weights, per coordinate of the body."""
    return csr(sp.vstack([weighted(_motion(trace, k), np.sqrt(_weight(trace, k))) for k in chosen]))


def _without_round_off(rows: tuple[Matrix, Matrix, Matrix], sizes: list[float]) -> tuple[Matrix, Matrix, Matrix]:
    x, y, z = (a.multiply(abs(a) > ROUND_OFF * max(size, largest(a))) for a, size in zip(rows, sizes, strict=True))
    return csr(x), csr(y), csr(z)


def chosen_motions(tie: Tie, *traces: Trace) -> list[int]:
    """Indices of the motions that are tied and that all these boundaries have. Raises InputError if a named motion is missing."""
    possible = [k for k in range(6) if all(k < 3 or t.turn is not None for t in traces)]
    possible = [k for k in possible if any(_motion(t, k).nnz for t in traces)]
    chosen = [k for k in tie.motions if k in possible]
    if ((tie.of is not None or tie.soft) and len(chosen) < len(tie.motions)) or not chosen:
        missing = [MOTIONS[k] for k in tie.motions if k not in possible]
        raise InputError(
            f"{tie.label} ties {', '.join(missing)}, which cannot move there; motions that can: "
            f"{', '.join(MOTIONS[k] for k in possible) or 'none: it is held'}"
        )
    return chosen


def _motion(trace: Trace, k: int) -> Matrix:
    if k < 3:
        return trace.u[k]
    assert trace.turn is not None
    return trace.turn[k - 3]


def _weight(points: Trace | Gap, k: int) -> np.ndarray:
    """The weight of a squared motion at the points: for rotations times h²/12."""
    return points.weight if k < 3 else points.weight * points.gyration


def centre(trace: Trace) -> np.ndarray:
    return trace.weight @ trace.x / trace.weight.sum()


def system_columns(V: Matrix, columns: np.ndarray, size: int) -> Matrix:
    """A matrix over the coordinates of a body as one over all `size` rows of the system."""
    entries = V.tocoo()
    return csr(sp.coo_array((entries.data, (entries.row, columns[entries.col])), shape=(V.shape[0], size)))


def _independent(rows: Matrix) -> Matrix:
    """The rows without zero rows and without rows that depend linearly on others."""
    rows = csr(rows[np.diff(rows.indptr) > 0])
    return csr(rows[np.setdiff1d(np.arange(rows.shape[0]), repeated(rows))])


# --- between two boundaries ------------------------------------------------------------------------------------------

COVERED = 1e-6  # of the area of a boundary: the part that may be uncovered
CURVED = 1e-9  # of the size of the mesh: distance of the middles of straight facets from straight lines


def _boundary_gap(tie: Tie, first: Edge, second: Edge, size: int) -> tuple[Gap, Matrix, np.ndarray, np.ndarray]:
    """The gap at common points of two boundaries, the traces of the finer side, the indices of its free coordinates, and the
    origin of the second body relative to the first."""
    if first.body.mesh.dimension != second.body.mesh.dimension:
        raise JointError(f"{tie.label} ties an edge to a face; tie faces to faces and edges to edges")
    finer, coarser = (first, second) if len(first.facets) >= len(second.facets) else (second, first)
    x, weight, shift = _common_points(tie, finer, coarser)
    shape, free = _unsupported_shape(finer)
    fine_trace = _trace_at(finer, shape, x, weight)
    coarse_trace = _trace_at(coarser, coarser.body.shape, x - shift, weight)._replace(gyration=fine_trace.gyration)
    chosen = chosen_motions(tie, _restrict_trace(fine_trace, free), coarse_trace)
    V = stacked_trace(fine_trace, chosen)
    moves = {finer: csr(V[:, free]), coarser: stacked_trace(coarse_trace, chosen)}
    gap = system_columns(moves[second], second.columns, size) - system_columns(moves[first], first.columns, size)
    return Gap(csr(gap), weight, chosen, fine_trace.gyration), V, free, shift if finer is first else -shift


def _common_points(tie: Tie, finer: Edge, coarser: Edge) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Quadrature points in the axes of the finer body, their weights, and the shift from the coarser body's axes to these."""
    fine_trace, coarse_trace = finer.body.trace(finer.boundary), coarser.body.trace(coarser.boundary)
    # curved facets of the two need not coincide: the points of the finer side are located in the coarser one
    if _curved(finer) or _curved(coarser):
        return fine_trace.x, fine_trace.weight, centre(fine_trace) - centre(coarse_trace)
    fine_facets, coarse_facets = (edge.body.mesh.points[edge.facets] for edge in (finer, coarser))
    area, best = measure(fine_facets), 0.0
    for shift in (np.zeros(3), centre(fine_trace) - centre(coarse_trace)):
        x, weight = shared(fine_facets, coarse_facets + shift, max(_degree(finer), _degree(coarser)))
        best = max(best, float(weight.sum()))
        if best > (1.0 - COVERED) * area:
            return x, weight, shift
    raise InputError(
        f"{tie.label}: {best:.6g} of {area:.6g} m (or m²) of {finer.boundary!r} lie on {coarser.boundary!r}, as the "
        "bodies are placed or with the centres of both put together; a tie needs all of the finer boundary to lie on the other"
    )


def _degree(edge: Edge) -> int:
    """The polynomial degree of products of traces on a facet; 10 on edges of plates, whose traces have degree 5 at most."""
    mesh = edge.body.mesh
    if mesh.dimension == 2:
        return 10
    return mesh.order * (4 if edge.facets.shape[1] == 4 else 2)


def _curved(edge: Edge) -> bool:
    """Whether the facets of a boundary are curved."""
    mesh = edge.body.mesh
    if mesh.order == 1:
        return False
    corners = edge.facets.shape[1]
    nodes = mesh.points[mesh.facet_nodes(edge.boundary)]
    ends = nodes[:, :corners]
    middles = 0.5 * (ends + np.roll(ends, -1, axis=1)) if corners > 2 else ends.mean(axis=1, keepdims=True)
    return bool(np.abs(nodes[:, corners : corners + middles.shape[1]] - middles).max() > CURVED * mesh.size)


def _unsupported_shape(edge: Edge) -> tuple[Shape, np.ndarray]:
    """The shape of the body without supports, and the indices of its free coordinates."""
    shape, free = edge.body.shape, np.arange(edge.body.coordinates)
    while isinstance(shape, Selected):
        free = np.flatnonzero(shape.keep)[free]
        shape = shape.shape
    return shape, free


def _trace_at(edge: Edge, shape: Shape, x: np.ndarray, weight: np.ndarray) -> Trace:
    """The trace of a boundary at other points."""
    trace = edge.body.trace(edge.boundary)
    turn = None if trace.turn is None else _by_axes(shape.rotation(x))
    return edge.cleaned(Trace(x, weight, _by_axes(shape.displacement(x)), turn, trace.gyration))


def _by_axes(a: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    return csr(a[0::3]), csr(a[1::3]), csr(a[2::3])


def _restrict_trace(trace: Trace, free: np.ndarray) -> Trace:
    turn = trace.turn and tuple(csr(t[:, free]) for t in trace.turn)
    return trace._replace(u=tuple(csr(u[:, free]) for u in trace.u), turn=turn)


def _traces_at_ends(V: Matrix, free: np.ndarray, weight: np.ndarray, chosen: list[int]) -> Matrix:
    """The traces of the free coordinates, with those of supported ones at the ends added to their neighbours, so that translations
    are still reproduced."""
    columns = np.unique(V.indices)
    supported, free_columns = np.setdiff1d(columns, free), np.intersect1d(columns, free)
    out = csr(V[:, free])
    if not len(supported) or not len(free_columns):
        return out
    coupling = abs(V[:, supported].T @ V[:, free_columns]).toarray()
    number = np.searchsorted(free, free_columns)
    additions = sp.lil_array((len(supported), len(free)))
    for motion in _unit_translations(V, columns, weight, chosen):
        moves = np.abs(motion) > 1e-6 * np.abs(motion).max()
        for k, h in enumerate(supported):
            neighbours = np.where(moves[free_columns], coupling[k], 0.0)
            if moves[h] and neighbours.any():
                j = int(np.argmax(neighbours))
                additions[k, number[j]] += motion[h] / motion[free_columns[j]]
    return csr(out + V[:, supported] @ csr(additions))


def _unit_translations(V: Matrix, columns: np.ndarray, weight: np.ndarray, chosen: list[int]) -> np.ndarray:
    """The coordinates of unit translations along each chosen axis, (axes, coordinates), by least squares."""
    points, axes = len(weight), [k for k in range(len(chosen)) if chosen[k] < 3]
    rhs = np.zeros((V.shape[0], len(axes)))
    for column, k in enumerate(axes):
        rhs[k * points : (k + 1) * points, column] = np.sqrt(weight)
    part = csr(V[:, columns])
    gram = (part.T @ part).tocsc()
    out = np.zeros((len(axes), V.shape[1]))
    out[:, columns] = spla.splu(gram + 1e-12 * abs(gram).max() * sp.eye_array(len(columns))).solve(part.T @ rhs).T
    return out
