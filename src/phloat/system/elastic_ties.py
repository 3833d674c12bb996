"""Ties that give way: springs and dampers between boundaries, ports and the ground, in small motions.

    C σ̇ = D v,     force on the motion: −Dᵀσ − Dᵀ(c/wA) D v

D v are rates of gaps times weights w: 1 between ports, so that σ are forces; those of quadrature points on a boundary, so that σ
are forces per area (or length of an edge). Stiffnesses k of a boundary are totals, spread evenly: C = w A / k.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from phloat.algebra.layout import Layout, joined_layouts
from phloat.algebra.sparse import Matrix, csr, stacked, weighted, zero_matrix
from phloat.errors import JointError
from phloat.joints.tie import Tie
from phloat.linear.form.phdae import LinearPHDAE
from phloat.system.mortar import gap_between
from phloat.system.tie_rows import Edge, Twist, chosen_motions, motion_weight, rigid_field, spread, stacked_trace


class Gaps(NamedTuple):
    """Gaps as rows of the whole, each with its weight, its share of the stiffness of a motion, and the number of that motion."""

    rows: Matrix
    weight: np.ndarray
    share: np.ndarray
    motion: np.ndarray


def with_spring(whole: LinearPHDAE, tie: Tie, first: Edge | Twist | None, second: Edge | Twist | None) -> LinearPHDAE:
    """The system with a tie of finite stiffness, damping or both."""
    rows, weight, share, motion = _gaps(tie, first, second, whole.rows.size)
    k, c = (
        share * np.asarray((0.0,) * 6 if given is None else given, dtype=float)[motion]
        for given in (tie.stiffness, tie.damping)
    )
    D = csr(weighted(rows, weight))
    R = csr(whole.R + D.T @ weighted(D, c / weight**2))
    whole = replace(whole, R=R)
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
    count = len(C)
    if not count:
        return whole
    none = zero_matrix(count, count)
    fields = {
        key: replace(f, motion=csr(sp.hstack([f.motion, zero_matrix(f.motion.shape[0], count)])))
        for key, f in whole.fields.items()
    }
    return replace(
        whole,
        E=stacked([[whole.E, None], [None, csr(sp.diags_array(C))]]),
        J=stacked([[whole.J, -D.T], [D, none]]),
        R=stacked([[whole.R, None], [None, none]]),
        N=whole.N if circulation is None else circulation,
        followers=followers or whole.followers,
        G=csr(sp.hstack([whole.G, zero_matrix(whole.G.shape[0], count)])),
        B=csr(sp.vstack([whole.B, zero_matrix(count, whole.B.shape[1])])),
        rows=joined_layouts([whole.rows, Layout({name: (count,)})], "row"),
        fields=fields,
    )


def _gaps(tie: Tie, first: Edge | Twist | None, second: Edge | Twist | None, size: int) -> Gaps:
    if not isinstance(first, Edge) and not isinstance(second, Edge):
        return _of_ports(tie, first, second)
    if isinstance(first, Edge) and isinstance(second, Edge):
        rows, weight, chosen, gyration, _ = gap_between(tie, first, second, size)
    else:
        edge, twist = (first, second) if isinstance(first, Edge) else (second, first)
        assert isinstance(edge, Edge) and not isinstance(twist, Edge)
        trace = edge.trace
        chosen, weight, gyration = chosen_motions(tie, trace), trace.weight, trace.gyration
        rows = -spread(stacked_trace(trace, chosen), edge.columns, size)
        if twist is not None:
            if twist.rows.shape[0] < 6:
                raise JointError(
                    f"{tie.label} needs an orientation at its port, and a point mass has none; use a RigidBody"
                )
            rows = rows + csr(rigid_field(trace, chosen)) @ twist.rows
    motion = np.repeat(chosen, len(weight))
    rooted = np.concatenate([np.sqrt(motion_weight(weight, gyration, k)) for k in chosen])  # as the rows are
    point = np.tile(weight, len(chosen))
    return _there(Gaps(csr(weighted(csr(rows), 1.0 / rooted)), point, point / weight.sum(), motion))


def _of_ports(tie: Tie, first: Twist | None, second: Twist | None) -> Gaps:
    ends = [end for end in (first, second) if end is not None]
    chosen = np.array(tie.motions)
    if chosen.max() >= min(end.rows.shape[0] for end in ends):
        raise JointError(
            f"{tie.label} turns, and one of its ports is a point mass; give no stiffness and damping about axes"
        )
    parts = [sign * end.rows[chosen] for sign, end in ((-1.0, first), (1.0, second)) if end is not None]
    ones = np.ones(len(chosen))
    return _there(Gaps(csr(sum(parts[1:], parts[0])), ones, ones, chosen))


def _there(gaps: Gaps) -> Gaps:
    """Without gaps that nothing opens."""
    kept = np.diff(gaps.rows.indptr) > 0
    return Gaps(csr(gaps.rows[kept]), gaps.weight[kept], gaps.share[kept], gaps.motion[kept])
