"""Loops closed by passive controllers: port-Hamiltonian again, with the sum of both energies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from phloat.algebra.factors import negativity_defect
from phloat.algebra.sparse import csr, largest
from phloat.algebra.threads import one_thread
from phloat.control.coupling import Holding, LoopController, joint_axis, wiring, with_elements
from phloat.control.passive import ControllerRun, PassiveController
from phloat.errors import InputError, JointError
from phloat.joints.elements import JointSpring
from phloat.linear.form.interconnect import append_systems, flow_ports, with_feedback
from phloat.linear.form.phdae import LinearPHDAE, linear_only
from phloat.linear.form.state_space import state_space, without_rows
from phloat.motion.ledger import energy_ledger
from phloat.motion.result import Result
from phloat.system.system import System

Plant = TypeVar("Plant", LinearPHDAE, System)


def closed_loop(plant: Plant, *controllers: PassiveController | Holding | LoopController) -> Plant:
    """The plant and its controllers as one system.

    The ports of the plant stay open: their inputs are added to those of the controllers. Optimal controllers close the loop of a
    linear plant by themselves, with the remaining cost as energy.

    Parameters
    ----------
    plant : LinearPHDAE or System
        A linear plant, or a mechanism.
    *controllers : PassiveController, Servo, or one LoopController
        From `passive_pid`, `passive_controller`, …; a `servo`, which holds its first command by a spring and a damper; or, for a
        linear plant, one from `lqr` or `lqg`. A System takes springs and dampers only, as elements; other controllers run in
        `simulate(…, controller=…)`.

    Returns
    -------
    LinearPHDAE or System
        The kind of the plant. For a linear plant, the rows of a controller are added as "name.row".

    Examples
    --------
    I s² + d s + k = 0 with I = 0.5 kg m², d = 1 N m s/rad and k = 50 N m/rad has the roots −1 ± j√99.

    >>> disc = ph.RigidBody(mass=1.0, inertia=np.diag([0.25, 0.25, 0.5])).discretise()
    >>> wheel = ph.connect({"disc": disc}, [ph.Revolute("ground", "disc.P", name="motor")], plane="xy")
    >>> controller = ph.control.passive_pid("motor", stiffness=50.0, damping=1.0)
    >>> loop = ph.control.closed_loop(ph.linearise(wheel, ph.place(wheel)), controller)
    >>> ph.poles(loop).round(4), list(loop.rows)[-1]
    (array([-1.+9.9499j]), 'motor.control.spring')
    """
    if not isinstance(plant, System):
        linear_only(plant, feedthrough=True)
        if len(controllers) == 1 and isinstance(controllers[0], LoopController):
            return controllers[0].loop(plant)
    loop: Any = plant
    for controller in controllers:
        controller = controller.passive() if isinstance(controller, Holding) else controller
        if not isinstance(controller, PassiveController):
            kind = type(controller).__name__
            raise InputError(f"{kind} is not passive: it closes linear loops only; use simulate(…, controller=…)")
        loop = _with_elements(loop, controller) if isinstance(loop, System) else _with_controller(loop, controller)
    return loop


def _with_controller(plant: LinearPHDAE, controller: PassiveController) -> LinearPHDAE:
    """The loop u = −Tᵀy_c, u_c = T y of a linear plant and a controller, without the massless rows of the controller."""
    columns = plant.ports.indices(controller.ports)
    for port in (p for p in flow_ports(plant) if p in controller.ports):
        raise JointError(f"port {port!r} takes a flow; a controller needs one that takes an effort")
    inner = controller.system.prefixed(controller.name)
    if inner.split < 0 and not (largest(inner.J) or largest(inner.R)):
        inner = replace(inner, split=0)  # integrals of flows of the plant, as the strains of springs
    T = wiring(controller.name, controller.system.ports, controller.wires, controller.ports, plant.ports)
    if largest(inner.B_lam):
        raise JointError(f"controller {controller.name!r} has a port that takes a flow; use one that takes an effort")
    n, ports = plant.ports.size, tuple(plant.ports)
    joined = append_systems(plant, inner)
    U = sp.lil_array((joined.ports.size,) * 2)
    U[columns, n:] = -T.T
    loop = with_feedback(joined, csr(U)).with_ports(*ports)
    rows = {name: joined.rows[name] for name in inner.rows}
    massless = [name for name, k in rows.items() if not (largest(joined.E[k]) or largest(joined.G[:, k]))]
    return without_rows(loop, loop.rows.indices(massless)) or loop


def _with_elements(system: System, controller: PassiveController) -> System:
    """The system with the controller as springs and dampers; raises InputError if it has other parts."""
    if controller.elements is None:
        raise InputError(f"{controller.name!r} is more than springs and dampers; use simulate(…, controller=…)")
    parts, bias = [], dict(controller.bias)
    for part in controller.elements:
        joint_axis(system, part.joint)
        if isinstance(part, JointSpring) and bias.get(part.joint):  # a constant effort moves the rest of the spring
            assert isinstance(part.stiffness, (int, float))
            part = replace(part, rest=part.rest + bias.pop(part.joint) / float(part.stiffness))
        parts.append(part)
    if any(bias.values()):
        raise InputError(f"{controller.name!r} has a constant effort at {', '.join(bias)} and no spring there")
    return with_elements(system, parts)


@dataclass(frozen=True)
class PassivityCertificate:
    """Whether a linear loop is passive, and the numbers that show it.

    `defects` are relative defects of the structure; `energy` and `dissipation` are how far E and R are from positive semidefinite.
    """

    passive: bool
    defects: Mapping[str, float]
    energy: float
    dissipation: float
    slowest: float  # the largest real part of a pole, 1/s

    def __str__(self) -> str:
        return (
            f"{'' if self.passive else 'not '}passive: structure to {max(self.defects.values(), default=0.0):.1e}, energy negative "
            f"by {self.energy:.1e}, dissipation by {self.dissipation:.1e}, rightmost pole at {self.slowest:.3g} 1/s"
        )


@one_thread()
def passivity_certificate(loop: LinearPHDAE) -> PassivityCertificate:
    """Checks E ≥ 0, R ≥ 0 and J skew: then the energy never increases by more than the ports supply."""
    linear_only(loop, feedthrough=True)
    defects = loop.structure()
    passive = loop.passive and max(defects.values()) < 1e-9
    energy, dissipation = negativity_defect(loop.E), negativity_defect(loop.W if loop.has_feedthrough else loop.R)
    return PassivityCertificate(passive, defects, energy, dissipation, float(loop_poles(loop).real.max()))


@one_thread()
def loop_poles(loop: LinearPHDAE) -> np.ndarray:
    """All poles of a loop (rad/s), ascending in magnitude."""
    return sorted_poles(state_space(loop).A)


def sorted_poles(A: np.ndarray) -> np.ndarray:
    """The eigenvalues of A, ascending in magnitude."""
    values = np.linalg.eigvals(A)
    return values[np.argsort(np.abs(values), kind="stable")]


@dataclass(frozen=True, eq=False)
class LoopLedger:
    """H + H_c − (H + H_c)(0) − Σ supplied + Σ dissipated + lost = residual, all (times,) in J.

    `plant` is the energy H of the plant, `controller` the energy H_c of the controller and `lost` the energy that it has
    dissipated. `supplied` and `dissipated` are the entries of the ledger of the plant without the controller; `exchanged` is the
    work of the controller on the plant.
    """

    t: np.ndarray
    plant: np.ndarray
    controller: np.ndarray
    lost: np.ndarray
    exchanged: np.ndarray
    supplied: Mapping[str, np.ndarray]
    dissipated: Mapping[str, np.ndarray]

    @property
    def energy(self) -> np.ndarray:
        """H + H_c."""
        return self.plant + self.controller

    @property
    def residual(self) -> np.ndarray:
        """The error of the balance: round-off."""
        return self._change + sum(self.dissipated.values(), self.lost)

    @property
    def surplus(self) -> float:
        """The largest excess of H + H_c over its initial value and the supplied work: round-off in a passive loop."""
        return float(self._change.max())

    @property
    def _change(self) -> np.ndarray:
        return self.energy - self.energy[0] - sum(self.supplied.values(), np.zeros(len(self.t)))


def loop_ledger(result: Result, controller: PassiveController) -> LoopLedger:
    """The energy ledger of a run simulate(…, controller=controller) with output at every step; the controller is simulated again.

    Raises InputError if the controller was not in the run, or if its steps are not equal.
    """
    if not isinstance(result, Result) or not isinstance(controller, PassiveController):
        raise InputError(f"no Result with its passive controller: {type(result).__name__}, {type(controller).__name__}")
    ports = controller.ports
    names = [f"{port}.{controller.name}" for port in ports]
    if not set(names) & set(result.system.elements):
        raise InputError(f"{controller.name!r} had no part in this run; give the controller that simulate(…) had")
    h = np.diff(result.t)
    if len(h) == 0 or np.ptp(h) > 1e-6 * h[0]:
        raise InputError("the steps of this run are not equal; keep every step (output=1) and let dt divide the run")
    ledger, system = energy_ledger(result), result.system
    run, inner = ControllerRun(controller, system, float(h[0])), controller.system
    bias = np.array([controller.bias.get(port, 0.0) for port in ports])
    stored, losses = [], []
    for positions in zip(*(result[f"{port}.{joint_axis(system, port).label}"] for port in ports), strict=True):
        run.advance_to(np.array(positions))
        stored.append(inner.energy(run.e) - run.displacement @ bias)  # a constant effort has the energy −bias q
        losses.append(run.h * float(run.mean @ (inner.R @ run.mean)))
    supplied, dissipated = dict(ledger.supplied), dict(ledger.dissipated)
    exchanged = sum((supplied.pop(name) for name in ports if name in supplied), np.zeros(len(result.t)))
    exchanged -= sum(dissipated.pop(name) for name in names if name in dissipated)
    return LoopLedger(result.t, ledger.energy, np.array(stored), np.cumsum(losses), exchanged, supplied, dissipated)
