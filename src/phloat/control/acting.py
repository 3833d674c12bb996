"""A passive controller in a step of the plant.

Over a step of the midpoint rule the controller's mean output is affine in its mean input, ȳ_c = a(e_c) + Z ū_c with Z ≥ 0. So
the plant gets the effort −a, held, and a damper Z: then plant and controller take the same step as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import csr
from phloat.control.wires import Model, Wire, axis
from phloat.errors import InputError
from phloat.joints.elements import JointDamper
from phloat.linear.phdae import LinearPHDAE
from phloat.linear.step import Step
from phloat.system.attach import attached

COUPLED = 1e-12  # beside the largest Z: what counts as no coupling between ports


class Acting:
    """The controller's own midpoint step as matrices, its inputs taken from the flows of the plant's ports by u_c = T y."""

    def __init__(self, system: LinearPHDAE, into: np.ndarray, h: float) -> None:
        step, n, flows = Step(system, h), system.rows.size, into.shape[1]
        B, B_lam = system.B @ into, system.B_lam @ into
        columns = [step.mean(e, np.zeros(len(into))) for e in np.eye(n)]
        columns += [step.mean(np.zeros(n), into @ flow) for flow in np.eye(flows)]
        mean = np.array([e for e, _ in columns]).reshape(-1, n).T
        out = B.T @ mean + B_lam.T @ np.array([lam for _, lam in columns]).reshape(n + flows, -1).T
        self.into = into
        self.by_state, self.by_flow = mean[:, :n], mean[:, n:]
        self.out_by_state, self.impedance = out[:, :n], out[:, n:]  # a = out_by_state e, and Z

    def mean(self, e: np.ndarray, flow: np.ndarray) -> np.ndarray:
        """ē of the step from e under the mean flow."""
        return self.by_state @ e + self.by_flow @ flow

    def offset(self, e: np.ndarray) -> np.ndarray:
        """a: the output where the ports stand still."""
        return self.out_by_state @ e


def wiring(name: str, mine: Layout, wires: Sequence[Wire], ports: Sequence[str], plant: Layout) -> np.ndarray:
    """T with u_c = T y, y the flows of these ports of the plant one after the other."""
    there = plant.only(ports)
    T = np.zeros((mine.size, there.size))
    for wire in wires:
        sizes = mine.shape(wire.controller)[0], there.shape(wire.plant)[0]
        if sizes[0] != sizes[1]:
            raise InputError(
                f"a wire of {name!r} goes from {wire.controller!r} with {sizes[0]} components to {wire.plant!r} with {sizes[1]}"
            )
        T[mine[wire.controller], there[wire.plant]] += wire.gain * np.eye(sizes[0])
    return T


def damped(name: str, model: Model, ports: Sequence[str], Z: np.ndarray) -> Model:
    """The plant with dampers Z at these ports, for the controller of this name."""
    for port in ports:
        if (size := model.ports.shape(port)[0]) != 1:
            raise InputError(f"port {port!r} has {size} components; a controller in a run is wired to ports of one")
    if isinstance(model, LinearPHDAE):
        B = model.B[:, model.ports.indices(ports)]
        return replace(model, R=csr(model.R + B @ csr(0.5 * (Z + Z.T)) @ B.T))
    if np.abs(Z - np.diag(np.diag(Z))).max(initial=0.0) > COUPLED * np.abs(Z).max(initial=0.0):
        raise InputError(
            f"{name!r} couples its ports {', '.join(ports)} within a step; "
            "wire one port to each controller, or wrap it as Sampled(controller, every=…)"
        )
    elements = dict(model.elements)
    for port, z in zip(ports, np.diag(Z), strict=True):
        row = axis(model, port)
        if z > 0.0:
            damper = JointDamper(port, axis=row.label, damping=float(z), name=f"{port}.{name}")
            if damper.label in elements:
                raise InputError(f"the plant has an element {damper.label!r} already; name the controller differently")
            elements[damper.label] = attached(damper, model.bodies, model.joints, model.plane)
    return replace(model, elements=elements)
