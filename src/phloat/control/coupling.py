"""The coupling of a controller with a plant: wires between ports, positions of ports, and the common step.

Over a step of the midpoint rule the mean output of a passive controller is affine in its mean input, ȳ_c = a(e_c) + Z ū_c with
Z ≥ 0. So the plant gets the constant effort −a and a damper Z: then plant and controller make the same step as one system.
"""

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
from phloat.joints.rows import Row
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.time.march import WAY
from phloat.linear.time.midpoint import MidpointSolver
from phloat.motion.run.outputs import Outputs
from phloat.system.connect import Wire
from phloat.system.connection import attached
from phloat.system.system import System

Model = System | LinearPHDAE

SAMPLES = 10  # samples per period of the fastest mode that are enough
COUPLED = 1e-12  # of the largest Z: coupling between ports that is round-off


@runtime_checkable
class LoopController(Protocol):
    """A controller that closes the loop of a linear plant by itself."""

    def loop(self, plant: LinearPHDAE) -> LinearPHDAE: ...


def joint_axis(system: System, port: str) -> Row:
    """The free axis (angle or slide) of the joint whose port this is; raises PortError if there is not exactly one."""
    if port not in system.ports:
        raise PortError(unknown("port", port, system.ports))
    joint = system.joints.get(port)
    if joint is None or joint.driven or not _one_axis(joint.free):
        names = ", ".join(name for name, joint in system.joints.items() if _one_axis(joint.free))
        raise PortError(f"port {port!r} is not the one free axis of a joint; there are: {names or 'none'}")
    return joint.free[0]


def _one_axis(free: Sequence[Row]) -> bool:
    return len(free) == 1 and free[0].coordinate


def port_position(y: Any, port: str, origin: float) -> float:
    """The position of a port: the angle or slide of a joint, or of a linear plant its origin plus the integral of its flow."""
    if isinstance(y, Outputs):
        return float(y[f"{port}.{joint_axis(y.system, port).label}"])
    return origin + float(y[port + WAY])


def port_change(model: Model, port: str, change: float) -> float:
    """A change of position; for an angle in space, whose turns are not counted, the shorter way."""
    if isinstance(model, System) and model.plane is None and joint_axis(model, port).is_angle:
        return float(change - 2 * np.pi * np.round(change / (2 * np.pi)))
    return change


def port_numbers(what: str, given: object) -> dict[str, float]:
    """{port: number}; raises InputError if it is not a mapping of finite numbers."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(f"{what} is {given!r}; it must be a mapping {{port: number}}")
    return {str(port): float(finite(f"{what} of {port!r}", value, ())) for port, value in given.items()}


def warn_of_sample_time(every: float, fastest: float) -> None:
    """Warns if the sample time is too long for the fastest mode of the controller (rad/s)."""
    longest = 2 * np.pi / (SAMPLES * max(fastest, 1e-300))
    if every > longest * (1 + 1e-9):
        warnings.warn(
            f"the sample time {every:g} s is too long for the fastest mode of the design, {fastest:.4g} rad/s: it gets "
            f"{SAMPLES * longest / every:.2g} samples per period; use {longest:.2g} s or less, or a design with slower modes",
            SampleTimeWarning,
            stacklevel=5,
        )


class ControllerStep:
    """The midpoint step of a controller as matrices, with inputs u_c = T y from the flows of the ports of the plant."""

    def __init__(self, system: LinearPHDAE, into: np.ndarray, h: float) -> None:
        solver, n, flows = MidpointSolver(system, h), system.rows.size, into.shape[1]
        B, B_lam = system.B @ into, system.B_lam @ into
        columns = [solver.mean(e, np.zeros(len(into))) for e in np.eye(n)]
        columns += [solver.mean(np.zeros(n), into @ flow) for flow in np.eye(flows)]
        mean = np.array([e for e, _ in columns]).reshape(-1, n).T
        out = B.T @ mean + B_lam.T @ np.array([lam for _, lam in columns]).reshape(n + flows, -1).T
        self.into = into
        self.by_state, self.by_flow = mean[:, :n], mean[:, n:]
        self.out_by_state, self.impedance = out[:, :n], out[:, n:]  # a = out_by_state e, and Z

    def mean(self, e: np.ndarray, flow: np.ndarray) -> np.ndarray:
        """ē of the step from e under the mean flow."""
        return self.by_state @ e + self.by_flow @ flow

    def offset(self, e: np.ndarray) -> np.ndarray:
        """a: the output for ports at rest."""
        return self.out_by_state @ e


def wiring(name: str, mine: Layout, wires: Sequence[Wire], ports: Sequence[str], plant: Layout) -> np.ndarray:
    """T with u_c = T y, y the flows of these ports of the plant in order."""
    used = plant.only(ports)
    T = np.zeros((mine.size, used.size))
    for wire in wires:
        a, b = mine.shape(wire.controller)[0], used.shape(wire.plant)[0]
        if a != b:
            raise InputError(f"{name!r}: port {wire.controller!r} has {a} components, {wire.plant!r} has {b}")
        T[mine[wire.controller], used[wire.plant]] += wire.gain * np.eye(a)
    return T


def with_dampers(name: str, model: Model, ports: Sequence[str], Z: np.ndarray) -> Model:
    """The plant with dampers Z at these ports, for the controller of this name."""
    for port in ports:
        if (size := model.ports.shape(port)[0]) != 1:
            raise InputError(f"port {port!r} has {size} components; a controller acts on ports of one component")
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
        row = joint_axis(model, port)
        if z > 0.0:
            damper = JointDamper(port, axis=row.label, damping=float(z), name=f"{port}.{name}")
            if damper.label in elements:
                raise InputError(f"the plant already has an element {damper.label!r}; name the controller differently")
            elements[damper.label] = attached(damper, model.bodies, model.joints, model.plane)
    return replace(model, elements=elements)
