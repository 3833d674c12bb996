"""Power-preserving interconnection of linear port-Hamiltonian systems (the paper's 5.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import ArrayLike

from phloat.algebra.layout import Layout, joined_layouts
from phloat.algebra.sparse import Matrix, csr, diagonal, largest, stacked, zero_matrix
from phloat.errors import InputError, JointError, finite
from phloat.linear.form.fields import Field, Fields
from phloat.linear.form.phdae import LinearPHDAE

SINGULAR_LOOP = 1e12  # condition number of 1 − D K from which a loop of feedthroughs has no solution


def append_systems(*systems: LinearPHDAE) -> LinearPHDAE:
    """The block-diagonal system of several systems that are not connected; its rows are in the order (v | σ) if theirs are."""
    rows = joined_layouts((s.rows for s in systems), "row")
    split = sum(s.split for s in systems) if all(s.split >= 0 for s in systems) else -1
    names = list(rows)
    if split >= 0:
        stresses = {name for s in systems for name in s.rows if s.rows[name].start >= s.split}
        names.sort(key=lambda name: name in stresses)
    order = rows.indices(names)
    fields: dict[str, Callable[[], Field]] = {}
    start = 0
    for s in systems:
        for name, field in Fields.in_rows(s.fields, partial(_among_rows, start=start, order=order)).functions.items():
            if name in fields:
                raise InputError(f"two fields are called {name!r}; use prefixed(…) on one of the systems")
            fields[name] = field
        start += s.rows.size
    square = {
        name: diagonal([getattr(s, name) for s in systems])[order][:, order]
        for name in ("E", "J", "R", "nonconservative")
    }
    return LinearPHDAE(
        **square,
        followers=tuple(name for s in systems for name in s.followers),
        G=diagonal([s.G for s in systems])[:, order],
        B=diagonal([s.B for s in systems])[order],
        P=diagonal([s.P for s in systems])[order],
        **{name: diagonal([getattr(s, name) for s in systems]) for name in ("B_lam", "S", "N")},
        rows=rows.only(names),
        ports=joined_layouts((s.ports for s in systems), "port"),
        multipliers=joined_layouts((s.multipliers for s in systems), "multiplier"),
        split=split,
        fields=Fields(fields),
        parts={name: part for s in systems for name, part in s.parts.items()},
    )


def _among_rows(A: Matrix, start: int, order: np.ndarray) -> Matrix:
    """A matrix on the rows of one of several systems, on all rows: its columns begin at `start`, then all are put in order."""
    return csr(sp.csr_array((A.data, A.indices + start, A.indptr), shape=(A.shape[0], len(order)))[:, order])


def transformer(
    first: LinearPHDAE, port_1: str, second: LinearPHDAE, port_2: str, C: ArrayLike | None = None
) -> LinearPHDAE:
    """The systems connected by u₁ = −C u₂, y₂ = Cᵀy₁ (42): their ports share a flow, the multiplier is the effort on the second.

    C (components of port 1, components of port 2) is the identity by default. Both ports must take efforts. If they have a
    feedthrough, the effort is a massless row of the same name.
    """
    T = _coupling(first, port_1, second, port_2, C)
    _require_efforts(first, port_1)
    _require_efforts(second, port_2)
    joined = append_systems(first, second)
    others = [port for port in joined.ports if port not in (port_1, port_2)]
    effort, names = f"{port_1}-{port_2}", {p: joined.ports.shape(p) for p in others}
    columns = sp.csr_array(sp.eye_array(joined.ports.size))
    # u₁ = −C μ, u₂ = μ
    pair = columns[:, joined.ports.indices([port_2])] - columns[:, joined.ports.indices([port_1])] @ T
    ports = Layout({**names, effort: (T.shape[1],)}, "port")
    return _held(joined.with_inputs(sp.hstack([columns[:, joined.ports.indices(others)], pair]), ports), effort, effort)


def gyrator(
    first: LinearPHDAE, port_1: str, second: LinearPHDAE, port_2: str, C: ArrayLike | None = None
) -> LinearPHDAE:
    """The systems connected by u₁ = −C y₂, u₂ = Cᵀy₁: the input of each port is the output of the other.

    C (components of port 1, components of port 2) is the identity by default. If one port takes a flow (after `swap_causality`),
    its multiplier is the effort between the two: (43) and (44) give (42).
    """
    T = _coupling(first, port_1, second, port_2, C)
    joined = append_systems(first, second)
    u_1, u_2 = joined.ports.indices([port_1]), joined.ports.indices([port_2])
    if largest(joined.B_lam[:, u_1] @ T @ joined.B_lam[:, u_2].T):
        raise JointError(f"ports {port_1!r} and {port_2!r} both take a flow; swap one of them first")
    U = sp.lil_array((joined.ports.size,) * 2)
    U[np.ix_(u_1, u_2)] = -T.toarray()
    coupled = with_feedback(joined, csr(U))
    return coupled.with_ports(*(port for port in joined.ports if port not in (port_1, port_2)))


def with_feedback(system: LinearPHDAE, U: Matrix) -> LinearPHDAE:
    """The system with u = K y + v, K = U − Uᵀ, and the new inputs v. K is skew, so no power is lost.

    With a feedthrough D the outputs are y = (1 − D K)⁻¹ (y₀ + D v); raises InputError if 1 − D K is singular: an algebraic loop.
    """
    columns = np.union1d(*U.nonzero())
    if not system.feeds_through(columns):
        coupling = csr(system.B @ U @ system.B.T)
        G = system.G - system.B_lam @ csr(U - U.T) @ system.B.T
        return replace(system, J=csr(system.J + coupling - coupling.T), G=csr(G))
    system = _with_effort_rows(system, columns)
    K, D, unit = (U - U.T).toarray(), system.D.toarray(), np.eye(len(columns))
    loop = la.matrix_balance((K @ D)[np.ix_(columns, columns)], permute=False)[0]
    if np.linalg.cond(unit - loop) > SINGULAR_LOOP:
        names = dict.fromkeys(system.ports.owner(int(k)) for k in columns)
        raise InputError(
            f"ports {', '.join(map(repr, names))} form an algebraic loop: their outputs depend on their inputs at once, and "
            "the equations of the loop have no unique solution; give one of the systems a state, or another gain"
        )
    F = la.inv(np.eye(len(K)) - K @ D)
    into, out = system.input_map, system.output_map
    change = csr(into @ csr(F @ K) @ out.T)
    new_into, new_out, new_D = csr(into @ csr(F)), csr(out @ csr(np.eye(len(K)) + D @ F @ K).T), D @ F
    return replace(
        system,
        J=csr(system.J + 0.5 * (change - change.T)),
        R=csr(system.R - 0.5 * (change + change.T)),
        **input_matrices(new_into, new_out, new_D),
    )


def swap_causality(system: LinearPHDAE, port: str) -> LinearPHDAE:
    """The system with the flow of the port as input and its effort, a new multiplier, as output (43).

    A port with a feedthrough is connected to a massless node that is driven: two rows more.
    """
    name = f"{port}.drive" if port in system.multipliers else port  # the joint of a free axis has the name already
    if system.driven([port]):
        raise JointError(
            f"port {port!r} is driven already: its input is a flow; swap_causality is for ports that take an effort"
        )
    columns = system.ports.indices([port])
    size = len(columns)
    if system.feeds_through(columns):
        node = _driven_node(f"{port}.node", name, size)
        swapped = transformer(system, port, node, f"{port}.node")
        ports = {port if p == f"{port}.node.drive" else p: shape for p, shape in swapped.ports.shapes.items()}
        return replace(swapped, ports=Layout(ports, "port")).with_ports(*system.ports)
    B, unit = system.B.tolil(), sp.lil_array((size, system.ports.size))
    B[:, columns], unit[:, columns] = 0.0, np.eye(size)
    return replace(
        system,
        B=csr(B),
        G=csr(sp.vstack([system.G, system.B[:, columns].T])),
        B_lam=csr(sp.vstack([system.B_lam, unit])),
        multipliers=joined_layouts([system.multipliers, Layout({name: (size,)})], "multiplier"),
    )


def _driven_node(name: str, multiplier: str, size: int) -> LinearPHDAE:
    """A massless node: the port `name` takes an effort, "name.drive" its flow."""
    unit, zero = sp.eye_array(size), zero_matrix(size, size)
    return LinearPHDAE(
        E=zero,
        J=zero,
        B=sp.hstack([unit, zero]),
        G=unit,
        B_lam=sp.hstack([zero, unit]),
        rows=Layout({name: (size,)}, "row"),
        ports=Layout({name: (size,), f"{name}.drive": (size,)}, "port"),
        multipliers=Layout({multiplier: (size,)}, "multiplier"),
        split=size,
    )


def _held(system: LinearPHDAE, port: str, name: str) -> LinearPHDAE:
    """The system with zero flow at the port; its effort is the multiplier `name`, with a feedthrough a massless row."""
    columns = system.ports.indices([port])
    closed = system.with_ports(*(p for p in system.ports if p != port))
    effort = Layout({name: (len(columns),)}, "multiplier")
    if not system.feeds_through(columns):
        return replace(
            closed,
            G=csr(sp.vstack([closed.G, system.B[:, columns].T])),
            B_lam=csr(sp.vstack([closed.B_lam, zero_matrix(len(columns), closed.ports.size)])),
            multipliers=joined_layouts([system.multipliers, effort], "multiplier"),
        )
    others = np.setdiff1d(np.arange(system.ports.size), columns)
    blocks = (getattr(system, k)[columns] for k in "SN")
    (S, S_r), (N, N_r) = ((block[:, columns], block[:, others]) for block in blocks)
    return _with_rows(closed, effort, system.B[:, columns], system.P[:, columns], -N, S, -N_r, S_r)


def _with_rows(
    system: LinearPHDAE, names: Layout, J_x: Matrix, R_x: Matrix, J: Matrix, R: Matrix, B: Matrix, P: Matrix
) -> LinearPHDAE:
    """The system with massless rows μ: 0 = −(J_x + R_x)ᵀe + (J − R) μ + (B − P) u, and (J_x − R_x) μ in its rows."""
    n, size, inputs = system.rows.size, names.size, system.ports.size
    zero = {"E": zero_matrix(size, size), "J": zero_matrix(size, size), "B": zero_matrix(size, 0)}
    rows = LinearPHDAE(**zero, rows=Layout(names.shapes, "row"), ports=Layout({}, "port"), split=0)
    joined, none = append_systems(system, rows), zero_matrix(n, inputs)
    return replace(
        joined,
        J=csr(joined.J + stacked([[zero_matrix(n, n), J_x], [-J_x.T, J]])),
        R=csr(joined.R + stacked([[zero_matrix(n, n), R_x], [R_x.T, R]])),
        B=csr(joined.B + stacked([[none], [B]])),
        P=csr(joined.P + stacked([[none], [P]])),
    )


def _with_effort_rows(system: LinearPHDAE, columns: np.ndarray) -> LinearPHDAE:
    """The system with the multipliers of these driven inputs as massless rows."""
    moved = [name for name, k in system.multipliers.slices.items() if largest(system.B_lam[k][:, columns])]
    if not moved:
        return system
    chosen = system.multipliers.indices(moved)
    rest = np.setdiff1d(np.arange(system.multipliers.size), chosen)
    if other := set(system.driven()) - {system.ports.owner(int(k)) for k in columns}:
        if shared := [p for p in system.ports if p in other and largest(system.B_lam[chosen][:, system.ports[p]])]:
            raise JointError(
                f"port {shared[0]!r} drives the same joint; connect it first, or close it with with_ports(…)"
            )
    names, size = system.multipliers.only(moved), len(chosen)
    multipliers = system.multipliers.only([name for name in system.multipliers if name not in moved])
    without = replace(system, G=system.G[rest], B_lam=system.B_lam[rest], multipliers=multipliers)
    zero = zero_matrix(size, size)
    return _with_rows(
        without,
        *(names, csr(system.G[chosen].T), zero_matrix(system.rows.size, size), zero, zero),
        *(system.B_lam[chosen], zero_matrix(size, system.ports.size)),
    )


def input_matrices(into: Matrix, out: Matrix, D: Matrix | np.ndarray) -> dict[str, Matrix]:
    """B, P, S and N of the input map B − P, the output map B + P and the feedthrough S + N."""
    B, P, S, N = 0.5 * (into + out), 0.5 * (out - into), 0.5 * (D + D.T), 0.5 * (D - D.T)
    return {"B": csr(B), "P": csr(P), "S": csr(S), "N": csr(N)}


def _coupling(first: LinearPHDAE, port_1: str, second: LinearPHDAE, port_2: str, C: ArrayLike | None) -> Matrix:
    """C as a sparse matrix, by default the identity; raises InputError if it does not fit the ports."""
    sizes = first.ports.shape(port_1) + second.ports.shape(port_2)
    if C is None and sizes[0] != sizes[1]:
        raise InputError(f"ports {port_1!r} and {port_2!r} have {sizes[0]} and {sizes[1]} components; give C")
    return csr(sp.eye_array(*sizes) if C is None else finite(f"between {port_1!r} and {port_2!r}, C", C, sizes))


def flow_ports(system: LinearPHDAE) -> tuple[str, ...]:
    """The names of ports that take a flow and return an effort: driven velocities, and ports that act on stresses only.

    A driven stress, of a port of the latter kind after `swap_causality`, is an effort.
    """
    n, driven = system.split, system.driven()
    if n < 0:
        return driven
    taking = []
    for port, k in system.ports.slices.items():
        rows = system.G[np.flatnonzero(abs(system.B_lam[:, k]).sum(axis=1))] if port in driven else system.B[:, k].T
        if (largest(rows[:, :n]) > 0.0) == (port in driven) and (port in driven or largest(rows[:, n:])):
            taking.append(port)
    return tuple(taking)


def _require_efforts(system: LinearPHDAE, port: str) -> None:
    """Raises JointError if the port is driven or takes a flow."""
    if port in flow_ports(system) or system.driven([port]):
        raise JointError(f"port {port!r} already takes a flow; gyrator connects it with a port that takes an effort")
