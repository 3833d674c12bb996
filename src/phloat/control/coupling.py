"""The coupling of a controller with a plant: wires between ports, positions of ports, and the common step.

Over a step of the midpoint rule the mean output of a passive controller is affine in its mean input, ȳ_c = a(e_c) + Z ū_c with
Z ≥ 0. With the constant effort −a and a damper Z on the plant, plant and controller make the same step as one system.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import csr
from phloat.errors import InputError, PortError, SampleTimeWarning, mapping, number, unknown
from phloat.joints.elements import JointDamper, JointSpring
from phloat.joints.rows import Row
from phloat.linear.form.phdae import LinearPHDAE, linear_only
from phloat.linear.form.state_space import descriptor
from phloat.linear.time.stepper import WAY
from phloat.motion.run.outputs import Outputs
from phloat.system.connect import Wire
from phloat.system.connection import element_of
from phloat.system.system import System

Model = System | LinearPHDAE

SAMPLES = 10  # samples per period of the fastest mode below which a warning is given
COUPLING = 1e-12  # coupling between ports that is round-off, relative to the largest Z


@runtime_checkable
class LoopController(Protocol):
    """A controller with a `loop` method of its own for linear plants."""

    def loop(self, plant: LinearPHDAE) -> LinearPHDAE: ...


@runtime_checkable
class Holding(Protocol):
    """A controller that holds a position by a passive one: a servo at its first command."""

    def passive(self) -> Any: ...


def joint_axis(system: System, port: str) -> Row:
    """The free axis (angle or slide) of the joint of this port; raises PortError unless it has exactly one."""
    if port not in system.ports:
        raise PortError(unknown("port", port, system.ports))
    joint = system.joints.get(port)
    if joint is None or joint.driven or not _one_axis(joint.free):
        names = ", ".join(name for name, joint in system.joints.items() if _one_axis(joint.free))
        raise PortError(f"port {port!r} is not the one free axis of a joint; there are: {names or 'none'}")
    return joint.free[0]


def _one_axis(free: Sequence[Row]) -> bool:
    """Whether the free rows are a single angle or slide."""
    return len(free) == 1 and free[0].coordinate


def port_position(y: Any, port: str, origin: float) -> float:
    """The position of a port for outputs y: the angle or slide of a joint; for a linear plant origin + the integral of the flow."""
    if isinstance(y, Outputs):
        return float(y[f"{port}.{joint_axis(y.system, port).label}"])
    return origin + float(y[port + WAY])


def port_change(model: Model, port: str, change: float) -> float:
    """A change of position; for an angle in space, which is known modulo 2π, the value between −π and π."""
    if isinstance(model, System) and model.plane is None and joint_axis(model, port).is_angle:
        return float(change - 2 * np.pi * np.round(change / (2 * np.pi)))
    return change


def port_numbers(
    label: str, value: object, check: Callable[[str, float], float] = number, ports: Iterable[str] | None = None
) -> dict[str, float]:
    """{port: number} from such a mapping, or from one number for all `ports`; `check` (number, positive …) checks each value."""
    if value is None:
        return {}
    if ports is not None and not isinstance(value, Mapping):
        value = dict.fromkeys(ports, value)
    numbers = mapping(label, value, "{port: number}").items()
    return {str(port): check(f"{label} of {port!r}", value) for port, value in numbers}


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


class MidpointStep:
    """The midpoint step of E x' = A x + B m, u = C x + D m as matrices: (E − ½hA) x̄ = E x + ½h B m̄, ū = C x̄ + D m̄.

    The first `states` of x (default: all) are states; the others follow from them. `impedance` is ∂ū/∂m̄.
    """

    def __init__(
        self,
        E: np.ndarray,
        A: np.ndarray,
        B: np.ndarray,
        C: np.ndarray,
        h: float,
        states: int | None = None,
        D: np.ndarray | float = 0.0,
    ) -> None:
        n = len(E) if states is None else states
        mean = np.linalg.solve(E - 0.5 * h * A, np.hstack([E[:, :n], 0.5 * h * B]))
        output = C @ mean
        self.by_state, self.by_input = mean[:n, :n], mean[:n, n:]
        self.out_by_state, self.impedance = output[:, :n], output[:, n:] + D

    @classmethod
    def from_system(cls, system: LinearPHDAE, T: np.ndarray, h: float) -> MidpointStep:
        """The step of a controller with the inputs u_c = T m, m the flows of the plant; its impedance is Z ≥ 0."""
        E, A, B, C, D = (descriptor(system)[name].toarray() for name in "EABCD")
        return cls(E, A, B @ T, T.T @ C, h, system.rows.size, T.T @ D @ T)

    def mean(self, x: np.ndarray, m: np.ndarray) -> np.ndarray:
        """The mean x̄ = (start + end)/2 of the step from x with the mean input m."""
        return self.by_state @ x + self.by_input @ m

    def after(self, x: np.ndarray, m: np.ndarray) -> np.ndarray:
        """x at the end of the step from x with the mean input m."""
        return 2.0 * self.mean(x, m) - x


def wiring(name: str, inner: Layout, wires: Sequence[Wire], ports: Sequence[str], plant: Layout) -> np.ndarray:
    """T of u_c = T y, with y the flows of these ports of the plant, in this order."""
    plant_ports = plant.only(ports)
    T = np.zeros((inner.size, plant_ports.size))
    for wire in wires:
        a, b = inner.shape(wire.controller)[0], plant_ports.shape(wire.plant)[0]
        if a != b:
            raise InputError(f"{name!r}: port {wire.controller!r} has {a} components, {wire.plant!r} has {b}")
        T[inner[wire.controller], plant_ports[wire.plant]] += wire.gain * np.eye(a)
    return T


def with_dampers(name: str, model: Model, ports: Sequence[str], Z: np.ndarray) -> Model:
    """The plant with dampers Z at these ports, named after the controller; raises InputError if Z couples ports of a System."""
    for port in ports:
        if (size := model.ports.shape(port)[0]) != 1:
            raise InputError(f"port {port!r} has {size} components; a controller acts on ports of one component")
    if isinstance(model, LinearPHDAE):
        linear_only(model, circulatory=True)
        B = model.B[:, model.ports.indices(ports)]
        return replace(model, R=csr(model.R + B @ csr(0.5 * (Z + Z.T)) @ B.T))
    if np.abs(Z - np.diag(np.diag(Z))).max(initial=0.0) > COUPLING * np.abs(Z).max(initial=0.0):
        raise InputError(
            f"{name!r} couples its ports {', '.join(ports)} within a step; "
            "wire one port to each controller, or wrap it as Sampled(controller, every=…)"
        )
    axes = [joint_axis(model, port).label for port in ports]
    parts = [
        JointDamper(port, axis=axis, damping=float(z), name=f"{port}.{name}")
        for port, axis, z in zip(ports, axes, np.diag(Z), strict=True)
    ]
    return with_elements(model, [part for part in parts if part.damping])


def with_elements(system: System, parts: Iterable[JointSpring | JointDamper]) -> System:
    """The system with the springs and dampers of a controller; raises InputError if it has an element of the same name."""
    elements = dict(system.elements)
    for part in parts:
        if part.label in elements:
            raise InputError(f"the system already has an element {part.label!r}; name the controller differently")
        elements[part.label] = element_of(part, system.bodies, system.joints, system.plane)
    return replace(system, elements=elements)
