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
    """Several systems as one, not connected; the rows are sorted into (v | σ) again."""
    whole = joined_layouts((s.rows for s in systems), "row")
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
    square = {name: diagonal([getattr(s, name) for s in systems])[order][:, order] for name in "EJRN"}
    return LinearPHDAE(
        **square,
        followers=tuple(name for s in systems for name in s.followers),
        G=diagonal([s.G for s in systems])[:, order],
        B=diagonal([s.B for s in systems])[order],
        B_lam=diagonal([s.B_lam for s in systems]),
        rows=whole.only(names),
        ports=joined_layouts((s.ports for s in systems), "port"),
        multipliers=joined_layouts((s.multipliers for s in systems), "multiplier"),
        split=split,
        fields=fields,
    )


def transformer(
    first: LinearPHDAE, port_1: str, second: LinearPHDAE, port_2: str, C: ArrayLike | None = None
) -> LinearPHDAE:
    """u₁ = −C u₂, y₂ = Cᵀy₁: the ports share a flow, and the multiplier is the effort on the second (42)."""
    T = _coupling(first, port_1, second, port_2, C)
    _require_efforts(first, port_1)
    return gyrator(first, port_1, _swapped(second, port_2, f"{port_1}-{port_2}"), port_2, T.toarray())


def gyrator(
    first: LinearPHDAE, port_1: str, second: LinearPHDAE, port_2: str, C: ArrayLike | None = None
) -> LinearPHDAE:
    """u₁ = −C y₂, u₂ = Cᵀy₁: each takes the other's output.

    If the second port takes a flow (after `swap_causality`), its multiplier is the effort between the two: (43) and (44) give (42).
    """
    T = _coupling(first, port_1, second, port_2, C)
    both = append_systems(first, second)
    one, two = both.ports[port_1], both.ports[port_2]
    B_1, B_2, L_1, L_2 = both.B[:, one], both.B[:, two], both.B_lam[:, one], both.B_lam[:, two]
    if largest(L_1 @ T @ L_2.T):
        raise JointError(f"ports {port_1!r} and {port_2!r} both take a flow; swap one of them first")
    J_12 = csr(B_1 @ T @ B_2.T)
    G = both.G - L_2 @ T.T @ B_1.T + L_1 @ T @ B_2.T
    coupled = replace(both, J=csr(both.J - J_12 + J_12.T), G=csr(G))
    return coupled.with_ports(*(port for port in both.ports if port not in (port_1, port_2)))


def swap_causality(system: LinearPHDAE, port: str) -> LinearPHDAE:
    """The system with the flow of the port as input and its effort, a new multiplier, as output (43)."""
    name = f"{port}.drive" if port in system.multipliers else port  # the joint of a free axis has the name already
    return _swapped(system, port, name)


def _swapped(system: LinearPHDAE, port: str, multiplier: str) -> LinearPHDAE:
    _require_efforts(system, port)
    where = system.ports[port]
    size = where.stop - where.start
    B, entry = system.B.tolil(), sp.lil_array((size, system.ports.size))
    B[:, where], entry[:, where] = 0.0, np.eye(size)
    return replace(
        system,
        B=csr(B),
        G=csr(sp.vstack([system.G, system.B[:, where].T])),
        B_lam=csr(sp.vstack([system.B_lam, entry])),
        multipliers=joined_layouts([system.multipliers, Layout({multiplier: (size,)})], "multiplier"),
    )


def _coupling(first: LinearPHDAE, port_1: str, second: LinearPHDAE, port_2: str, C: ArrayLike | None) -> Matrix:
    sizes = first.ports.shape(port_1) + second.ports.shape(port_2)
    if C is None and sizes[0] != sizes[1]:
        raise InputError(f"ports {port_1!r} and {port_2!r} have {sizes[0]} and {sizes[1]} components; give C")
    return csr(sp.eye_array(*sizes) if C is None else finite(f"between {port_1!r} and {port_2!r}, C", C, sizes))


def _require_efforts(system: LinearPHDAE, port: str) -> None:
    if system.driven([port]):
        raise JointError(f"port {port!r} already takes a flow")
