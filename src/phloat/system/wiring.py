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


def wire(systems: Mapping[str, Any], wires: Sequence[Any]) -> LinearPHDAE:
    """Linear systems joined by wires: a plant and its controller, each taking the other's output.

    Parameters
    ----------
    systems : dict of str to LinearPHDAE or Body
        The systems by name; a body is taken about rest.
    wires : list of Wire
        Each between "name.port" and "name.port". Its first port is closed, the second stays open: inputs there come on top.

    Returns
    -------
    LinearPHDAE
        Rows and ports are named "name.row" and "name.port". No power is lost in a wire: J gains skew blocks.

    Examples
    --------
    A cart of 2 kg with a spring of 8 N/m as its controller oscillates at √(8/2) = 2 rad/s.

    >>> rail = ph.Prismatic("ground", "cart.P", axis=(1, 0, 0), name="rail")
    >>> system = ph.connect({"cart": ph.RigidBody(2.0, np.eye(3)).discretise()}, [rail])
    >>> cart = ph.eliminate(ph.linearise(system, ph.place(system)).with_ports("rail"))
    >>> spring = ph.control.passive_pid("rail", stiffness=8.0)
    >>> wires = [ph.Wire(f"spring.{w.controller}", f"cart.{w.plant}", w.gain) for w in spring.wires]
    >>> print(ph.modes(ph.wire({"cart": cart, "spring": spring.system}, wires)).omega.round(6))
    [2.]
    """
    for name, part in systems.items():
        if not isinstance(part, (LinearPHDAE, Body)):
            raise InputError(
                f"{name!r} is {type(part).__name__}; linear systems connect with linear ones: linearise(system, state)"
            )
    for wire in wires:
        if not isinstance(wire, Wire):
            raise InputError(f"{type(wire).__name__} does not hold linear systems together; use Wire(port, port)")
    linear = {name: part.linear() if isinstance(part, Body) else part for name, part in systems.items()}
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
