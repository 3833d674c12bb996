"""Power-preserving interconnection of linear port-Hamiltonian systems (the paper's 5.1)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from phloat.algebra.layout import Layout, joined_layouts
from phloat.algebra.sparse import Matrix, csr, diagonal, largest
from phloat.errors import InputError, JointError, finite
from phloat.linear.form.phdae import Field, LinearPHDAE


def append_systems(*systems: LinearPHDAE) -> LinearPHDAE:
    """The block-diagonal system of several systems that are not connected; its rows are in the order (v | σ) if theirs are."""
    rows = joined_layouts((s.rows for s in systems), "row")
    split = sum(s.split for s in systems) if all(s.split >= 0 for s in systems) else -1
    names = list(rows)
    if split >= 0:
        stresses = {name for s in systems for name in s.rows if s.rows[name].start >= s.split}
        names.sort(key=lambda name: name in stresses)
    order = rows.indices(names)
    fields: dict[str, Field] = {}
    start = 0
    for s in systems:
        for name, f in s.fields.items():
            if name in fields:
                raise InputError(f"two fields are called {name!r}; use prefixed(…) on one of the systems")
            data = (f.motion.data, f.motion.indices + start, f.motion.indptr)
            fields[name] = replace(f, motion=csr(sp.csr_array(data, shape=(f.motion.shape[0], rows.size))[:, order]))
        start += s.rows.size
    square = {name: diagonal([getattr(s, name) for s in systems])[order][:, order] for name in "EJRN"}
    return LinearPHDAE(
        **square,
        followers=tuple(name for s in systems for name in s.followers),
        G=diagonal([s.G for s in systems])[:, order],
        B=diagonal([s.B for s in systems])[order],
        B_lam=diagonal([s.B_lam for s in systems]),
        rows=rows.only(names),
        ports=joined_layouts((s.ports for s in systems), "port"),
        multipliers=joined_layouts((s.multipliers for s in systems), "multiplier"),
        split=split,
        fields=fields,
    )


def transformer(
    first: LinearPHDAE, port_1: str, second: LinearPHDAE, port_2: str, C: ArrayLike | None = None
) -> LinearPHDAE:
    """The systems connected by u₁ = −C u₂, y₂ = Cᵀy₁ (42): their ports share a flow, the multiplier is the effort on the second.

    C (components of port 1, components of port 2) is the identity by default. Both ports must take efforts.
    """
    T = _coupling(first, port_1, second, port_2, C)
    _require_efforts(first, port_1)
    return gyrator(first, port_1, _swap(second, port_2, f"{port_1}-{port_2}"), port_2, T.toarray())


def gyrator(
    first: LinearPHDAE, port_1: str, second: LinearPHDAE, port_2: str, C: ArrayLike | None = None
) -> LinearPHDAE:
    """The systems connected by u₁ = −C y₂, u₂ = Cᵀy₁: the input of each port is the output of the other.

    C (components of port 1, components of port 2) is the identity by default. If one port takes a flow (after `swap_causality`),
    its multiplier is the effort between the two: (43) and (44) give (42).
    """
    T = _coupling(first, port_1, second, port_2, C)
    joined = append_systems(first, second)
    u_1, u_2 = joined.ports[port_1], joined.ports[port_2]
    B_1, B_2, L_1, L_2 = joined.B[:, u_1], joined.B[:, u_2], joined.B_lam[:, u_1], joined.B_lam[:, u_2]
    if largest(L_1 @ T @ L_2.T):
        raise JointError(f"ports {port_1!r} and {port_2!r} both take a flow; swap one of them first")
    J_12 = csr(B_1 @ T @ B_2.T)
    G = joined.G - L_2 @ T.T @ B_1.T + L_1 @ T @ B_2.T
    coupled = replace(joined, J=csr(joined.J - J_12 + J_12.T), G=csr(G))
    return coupled.with_ports(*(port for port in joined.ports if port not in (port_1, port_2)))


def swap_causality(system: LinearPHDAE, port: str) -> LinearPHDAE:
    """The system with the flow of the port as input and its effort, a new multiplier, as output (43)."""
    name = f"{port}.drive" if port in system.multipliers else port  # the joint of a free axis has the name already
    return _swap(system, port, name)


def _swap(system: LinearPHDAE, port: str, multiplier: str) -> LinearPHDAE:
    """The system with the port as a driven one; `multiplier` is the name of its effort."""
    _require_efforts(system, port)
    columns = system.ports[port]
    size = columns.stop - columns.start
    B, unit = system.B.tolil(), sp.lil_array((size, system.ports.size))
    B[:, columns], unit[:, columns] = 0.0, np.eye(size)
    return replace(
        system,
        B=csr(B),
        G=csr(sp.vstack([system.G, system.B[:, columns].T])),
        B_lam=csr(sp.vstack([system.B_lam, unit])),
        multipliers=joined_layouts([system.multipliers, Layout({multiplier: (size,)})], "multiplier"),
    )


def _coupling(first: LinearPHDAE, port_1: str, second: LinearPHDAE, port_2: str, C: ArrayLike | None) -> Matrix:
    """C as a sparse matrix, by default the identity; raises InputError if it does not fit the ports."""
    sizes = first.ports.shape(port_1) + second.ports.shape(port_2)
    if C is None and sizes[0] != sizes[1]:
        raise InputError(f"ports {port_1!r} and {port_2!r} have {sizes[0]} and {sizes[1]} components; give C")
    return csr(sp.eye_array(*sizes) if C is None else finite(f"between {port_1!r} and {port_2!r}, C", C, sizes))


def _require_efforts(system: LinearPHDAE, port: str) -> None:
    """Raises JointError if the port is driven."""
    if system.driven([port]):
        raise JointError(f"port {port!r} already takes a flow")
