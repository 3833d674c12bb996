"""Linear systems wired together: J gains −gain (B_p B_cᵀ − B_c B_pᵀ) for every wire, so that no power is lost in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from phloat.algebra.sparse import csr, largest
from phloat.bodies.body import Body
from phloat.errors import InputError, JointError, PortError, unknown
from phloat.joints.wire import Wire
from phloat.linear.form.interconnect import append_systems
from phloat.linear.form.phdae import LinearPHDAE


def wired_together(parts: Mapping[str, Any], wires: Sequence[Any]) -> LinearPHDAE:
    """Linear systems (and bodies about rest) by name, with wires between "name.port" and "name.port".

    Ports of the first side of a wire are closed, those of the second stay open: their inputs come on top.
    """
    for name, part in parts.items():
        if not isinstance(part, (LinearPHDAE, Body)):
            raise InputError(
                f"{name!r} is {type(part).__name__}; linear systems connect with linear ones: linearise(system, state)"
            )
    for wire in wires:
        if not isinstance(wire, Wire):
            raise InputError(f"{type(wire).__name__} does not hold linear systems together; use Wire(port, port)")
    linear = {name: part.linear() if isinstance(part, Body) else part for name, part in parts.items()}
    both = append_systems(*(system.prefixed(name) for name, system in linear.items()))
    J = both.J
    for wire in wires:
        for port in (wire.controller, wire.plant):
            if port not in both.ports:
                raise PortError(unknown("port", port, both.ports))
            if largest(both.B_lam[:, both.ports[port]]):
                raise JointError(f"port {port!r} takes a flow; a wire needs ports that take an effort")
        C, P = (both.B[:, both.ports[port]] for port in (wire.controller, wire.plant))
        if C.shape[1] != P.shape[1]:
            raise JointError(
                f"{wire.controller!r} has {C.shape[1]} components and {wire.plant!r} {P.shape[1]}; a wire needs equal ones"
            )
        across = wire.gain * csr(P @ C.T)
        J = csr(J - across + across.T)
    used = {wire.controller for wire in wires}
    return replace(both, J=J).with_ports(*(port for port in both.ports if port not in used))
