"""Power-preserving interconnection of linear port-Hamiltonian systems (the paper's 5.1)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from phloat.algebra.layout import Layout, joined
from phloat.algebra.sparse import Matrix, csr, diagonal, largest
from phloat.errors import InputError, JointError, finite
from phloat.linear.form.phdae import Field, LinearPHDAE


def side_by_side(*systems: LinearPHDAE) -> LinearPHDAE:
    """Systems as one, not yet connected; rows are sorted into (v | σ) again."""
    whole = joined((s.rows for s in systems), "row")
    split = sum(s.split for s in systems) if all(s.split >= 0 for s in systems) else -1
    names = list(whole)
    if split >= 0:
        stresses = {name for s in systems for name in s.rows if s.rows[name].start >= s.split}
        names.sort(key=lambda name: name in stresses)
    order = whole.indices(names)
    fields: dict[str, Field] = {}
    start = 0
    for s in systems:
        for name, f in s.fields.items():
            if name in fields:
                raise InputError(f"two fields are called {name!r}; use prefixed(…) on one of the systems")
            moved = (f.motion.data, f.motion.indices + start, f.motion.indptr)
            fields[name] = replace(f, motion=csr(sp.csr_array(moved, shape=(f.motion.shape[0], whole.size))[:, order]))
        start += s.rows.size
    return LinearPHDAE(
        E=diagonal([s.E for s in systems])[order][:, order],
        J=diagonal([s.J for s in systems])[order][:, order],
        R=diagonal([s.R for s in systems])[order][:, order],
        N=diagonal([s.N for s in systems])[order][:, order],
        followers=tuple(name for s in systems for name in s.followers),
        G=diagonal([s.G for s in systems])[:, order],
        B=diagonal([s.B for s in systems])[order],
        B_lam=diagonal([s.B_lam for s in systems]),
        rows=whole.only(names),
        ports=joined((s.ports for s in systems), "port"),
        multipliers=joined((s.multipliers for s in systems), "multiplier"),
        split=split,
        fields=fields,
    )


def transformer(
    first: LinearPHDAE, port_1: str, second: LinearPHDAE, port_2: str, C: ArrayLike | None = None
) -> LinearPHDAE:
    """u₁ = −C u₂, y₂ = Cᵀy₁: the ports share a flow, and the multiplier is the effort on the second (42)."""
    T = _coupling(first, port_1, second, port_2, C)
    both = side_by_side(first, second)
    B_1, B_2 = both.B[:, both.ports[port_1]], both.B[:, both.ports[port_2]]
    _efforts_only(both, port_1, port_2)
    rows = csr(B_2.T - T.T @ B_1.T)
    name = f"{port_1}-{port_2}"
    return replace(
        both,
        G=csr(sp.vstack([both.G, rows])),
        B_lam=csr(sp.vstack([both.B_lam, sp.csr_array((rows.shape[0], both.ports.size))])),
        multipliers=joined([both.multipliers, Layout({name: (rows.shape[0],)})], "multiplier"),
    ).with_ports(*(p for p in both.ports if p not in (port_1, port_2)))


def gyrator(
    first: LinearPHDAE, port_1: str, second: LinearPHDAE, port_2: str, C: ArrayLike | None = None
) -> LinearPHDAE:
    """u₁ = −C y₂, u₂ = Cᵀy₁: each takes the other's output.

    Where the second port takes a flow (after `swapped`), its multiplier is the effort between the two: (43) and (44) give (42).
    """
    T = _coupling(first, port_1, second, port_2, C)
    both = side_by_side(first, second)
    one, two = both.ports[port_1], both.ports[port_2]
    B_1, B_2, L_1, L_2 = both.B[:, one], both.B[:, two], both.B_lam[:, one], both.B_lam[:, two]
    if largest(L_1 @ T @ L_2.T):
        raise JointError(f"ports {port_1!r} and {port_2!r} both take a flow; swap one of them first")
    J_12 = csr(B_1 @ T @ B_2.T)
    G = both.G - L_2 @ T.T @ B_1.T + L_1 @ T @ B_2.T
    return replace(both, J=csr(both.J - J_12 + J_12.T), G=csr(G)).with_ports(
        *(p for p in both.ports if p not in (port_1, port_2))
    )


def swapped(system: LinearPHDAE, port: str) -> LinearPHDAE:
    """The port takes its flow as input and gives its effort, a new multiplier, as output (43)."""
    _efforts_only(system, port)
    where = system.ports[port]
    size = where.stop - where.start
    B = system.B.tolil()
    B[:, where] = 0.0
    entry = sp.lil_array((size, system.ports.size))
    entry[:, where] = np.eye(size)
    name = f"{port}.drive" if port in system.multipliers else port  # the joint of a free axis has the name already
    return replace(
        system,
        B=csr(B),
        G=csr(sp.vstack([system.G, system.B[:, where].T])),
        B_lam=csr(sp.vstack([system.B_lam, entry])),
        multipliers=joined([system.multipliers, Layout({name: (size,)})], "multiplier"),
    )


def _coupling(first: LinearPHDAE, port_1: str, second: LinearPHDAE, port_2: str, C: ArrayLike | None) -> Matrix:
    sizes = first.ports.shape(port_1) + second.ports.shape(port_2)
    between = f"between {port_1!r} and {port_2!r}, C"
    matrix = csr(sp.eye_array(*sizes) if C is None else finite(between, C, sizes))
    if C is None and sizes[0] != sizes[1]:
        raise InputError(f"ports {port_1!r} and {port_2!r} have {sizes[0]} and {sizes[1]} components; give C")
    return matrix


def _efforts_only(system: LinearPHDAE, *ports: str) -> None:
    for port in ports:
        if largest(system.B_lam[:, system.ports[port]]):
            raise JointError(f"port {port!r} already takes a flow")
