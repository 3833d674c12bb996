"""Where a controller touches a plant: wires between ports, and the position of a port."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import csr
from phloat.errors import InputError, PortError, SampleTimeWarning, finite, unknown
from phloat.joints.elements import JointDamper
from phloat.joints.rows import Along, Row, Turn
from phloat.joints.wire import Wire
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.time.march import WAY
from phloat.linear.time.midpoint import Step
from phloat.motion.outputs import Outputs
from phloat.system.attach import attached
from phloat.system.system import System

__all__ = ["Closes", "Model", "Wire", "axis", "numbers", "often_enough", "place_of", "step_of"]

Model = System | LinearPHDAE

ENOUGH = 10  # samples to a period of the fastest mode


@runtime_checkable
class Closes(Protocol):
    """A controller that closes the loop of a linear plant by itself."""

    def loop(self, plant: LinearPHDAE) -> LinearPHDAE: ...


def axis(system: System, port: str) -> Row:
    """The one free axis of a joint, angle or slide, that a port is."""
    if port not in system.ports:
        raise PortError(unknown("port", port, system.ports))
    joint = system.joints.get(port)
    if joint is None or joint.driven or len(joint.free) != 1 or not isinstance(joint.free[0], (Turn, Along)):
        there = [n for n, c in system.joints.items() if len(c.free) == 1 and isinstance(c.free[0], (Turn, Along))]
        raise PortError(
            f"port {port!r} is not the one free axis of a joint, which has a position; "
            f"there are: {', '.join(there) or 'none'}"
        )
    return joint.free[0]


def place_of(y: Any, port: str, origin: float) -> float:
    """The position of a port: the angle or slide of a joint, or of a linear plant its origin and its way from there."""
    if isinstance(y, Outputs):
        return float(y[f"{port}.{axis(y.system, port).labels[0]}"])
    return origin + float(y[port + WAY])


def step_of(model: Model, port: str, change: float) -> float:
    """A change of position; of an angle in space, whose turns are not counted, the shorter way."""
    if isinstance(model, System) and model.plane is None and isinstance(axis(model, port), Turn):
        return float(change - 2 * np.pi * np.round(change / (2 * np.pi)))
    return change


def numbers(what: str, given: object) -> dict[str, float]:
    """{port: number}, checked."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(f"{what} is {given!r}; it must be a mapping {{port: number}}")
    return {str(port): float(finite(f"{what} of {port!r}", value, ())) for port, value in given.items()}


def often_enough(every: float, fastest: float) -> None:
    """A warning where a controller is asked too rarely for the fastest mode it keeps (rad/s)."""
    longest = 2 * np.pi / (ENOUGH * max(fastest, 1e-300))
    if every > longest * (1 + 1e-9):
        warnings.warn(
            f"the sample time {every:g} s is too long for the fastest kept mode, {fastest:.4g} rad/s: it gets "
            f"{ENOUGH * longest / every:.2g} samples a period; take {longest:.2g} s or less, or keep slower modes",
            SampleTimeWarning,
            stacklevel=5,
        )


# --- a passive controller in a step of the plant ---------------------------------------------------------------------
#
# A passive controller in a step of the plant.
#
# Over a step of the midpoint rule the controller's mean output is affine in its mean input, ȳ_c = a(e_c) + Z ū_c with Z ≥ 0. So
# the plant gets the effort −a, held, and a damper Z: then plant and controller take the same step as one.


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
            damper = JointDamper(port, axis=row.labels[0], damping=float(z), name=f"{port}.{name}")
            if damper.label in elements:
                raise InputError(f"the plant has an element {damper.label!r} already; name the controller differently")
            elements[damper.label] = attached(damper, model.bodies, model.joints, model.plane)
    return replace(model, elements=elements)
