"""Loops closed by passive controllers: port-Hamiltonian again, with the sum of both energies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import overload

import numpy as np
import scipy.sparse as sp

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, csr, largest, negativity_defect
from phloat.algebra.threads import one_thread
from phloat.control.coupling import ControllerStep, LoopController, joint_axis, port_change, wiring
from phloat.control.passive import PassiveController
from phloat.errors import InputError, JointError
from phloat.joints.elements import JointSpring
from phloat.linear.form.interconnect import append_systems
from phloat.linear.form.phdae import LinearPHDAE, linear_only
from phloat.linear.form.state_space import state_space
from phloat.motion.ledger import Ledger, energy_ledger
from phloat.motion.result import Result
from phloat.system.attach import attached
from phloat.system.system import System


@overload
def closed_loop(plant: LinearPHDAE, *controllers: PassiveController | LoopController) -> LinearPHDAE: ...


@overload
def closed_loop(plant: System, *controllers: PassiveController) -> System: ...


def closed_loop(plant: LinearPHDAE | System, *controllers: PassiveController | LoopController) -> LinearPHDAE | System:
    """The plant with its controllers as one system, its ports still open (their inputs come on top).

    Of a linear plant, rows of controllers stand beside its own as "name.row". Of a System, springs and dampers become its
    elements; controllers with more to them run in simulate(…, controller=…). Optimal controllers close the loop of a linear plant
    by themselves, with another energy: the cost that is still to come.
    """
    if len(controllers) == 1 and isinstance(controllers[0], LoopController) and not isinstance(plant, System):
        linear_only(plant)
        return controllers[0].loop(plant)
    for controller in controllers:
        if not isinstance(controller, PassiveController):
            raise InputError(
                f"{type(controller).__name__} is not passive and closes loops of linear plants only, alone; "
                "use it as simulate(…, controller=…)"
            )
    passive = [c for c in controllers if isinstance(c, PassiveController)]
    if isinstance(plant, System):
        for controller in passive:
            plant = _with_elements(plant, controller)
        return plant
    linear_only(plant)
    for controller in passive:
        plant = _wired(plant, controller)
    return plant


def _wired(plant: LinearPHDAE, controller: PassiveController) -> LinearPHDAE:
    """J_12 = −B T B_cᵀ and its transpose; then the rows of the controller without energy are taken out."""
    where = plant.ports.indices(controller.ports)
    for port in controller.ports:
        if largest(plant.B_lam[:, plant.ports[port]]):
            raise JointError(f"port {port!r} takes a flow; a controller needs one that takes an effort")
    mine = controller.system.prefixed(controller.name)
    T = wiring(controller.name, controller.system.ports, controller.wires, controller.ports, plant.ports)
    if largest(mine.B_lam):
        raise JointError(
            f"controller {controller.name!r} has a port that takes a flow through a multiplier; swap it back"
        )
    n, ports = plant.ports.size, tuple(plant.ports)
    both = append_systems(plant, mine)
    J_12 = csr(both.B[:, where] @ csr(T.T) @ both.B[:, n:].T)
    loop = replace(both, J=csr(both.J - J_12 + J_12.T)).with_ports(*ports)
    still = [
        name for name in mine.rows if not largest(both.E[both.rows[name]]) and not largest(both.G[:, both.rows[name]])
    ]
    return _without(loop, still)


def _without(system: LinearPHDAE, names: list[str]) -> LinearPHDAE:
    """0 = F_ax e + F_aa e_a put in: F = J − R keeps its skew and its dissipative part (Schur)."""
    if not names:
        return system
    out = system.rows.indices(names)
    keep = np.setdiff1d(np.arange(system.rows.size), out)
    F = csr(system.J - system.R)
    inner = F[out][:, out].toarray()
    if np.linalg.cond(inner) > 1e12:
        return system
    less = csr(F[keep][:, out] @ csr(np.linalg.inv(inner)) @ F[out][:, keep])
    J, R = system.J[keep][:, keep] - 0.5 * (less - less.T), system.R[keep][:, keep] + 0.5 * (less + less.T)
    rows = Layout({name: shape for name, shape in system.rows.shapes.items() if name not in names}, "row")
    return replace(
        system,
        E=csr(system.E[keep][:, keep]),
        J=csr(J),
        R=csr(R),
        G=csr(system.G[:, keep]),
        B=csr(system.B[keep]),
        rows=rows,
        split=system.split - int((out < system.split).sum()) if system.split >= 0 else -1,
        fields={name: replace(f, motion=_columns(f.motion, keep)) for name, f in system.fields.items()},
    )


def _columns(motion: Matrix, keep: np.ndarray) -> Matrix:
    return csr(sp.csc_array(motion)[:, keep])


def _with_elements(system: System, controller: PassiveController) -> System:
    if controller.elements is None:
        raise InputError(
            f"{controller.name!r} is more than springs and dampers; run it as simulate(…, controller=…), where it is exact too"
        )
    elements, left = dict(system.elements), dict(controller.bias)
    for part in controller.elements:
        joint_axis(system, part.joint)
        if isinstance(part, JointSpring) and left.get(part.joint):  # a constant effort moves the rest of the spring
            assert isinstance(part.stiffness, (int, float))
            part = replace(part, rest=part.rest + left.pop(part.joint) / float(part.stiffness))
        if part.label in elements:
            raise InputError(
                f"the system has an element called {part.label!r} already; name the controller differently"
            )
        elements[part.label] = attached(part, system.bodies, system.joints, system.plane)
    if any(left.values()):
        raise InputError(
            f"{controller.name!r} has a constant effort at {', '.join(left)} and no spring there to carry it"
        )
    return replace(system, elements=elements)


# --- what is certain about a loop ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PassivityCertificate:
    """Whether a linear loop is passive, and by what numbers: relative defects, the most negative energy and damping, poles."""

    passive: bool
    defects: Mapping[str, float]
    energy: float
    dissipation: float
    slowest: float  # the largest real part of a pole, 1/s

    def __str__(self) -> str:
        worst = max(self.defects.values(), default=0.0)
        said = "passive" if self.passive else "not passive"
        return (
            f"{said}: structure to {worst:.1e}, energy negative by {self.energy:.1e}, dissipation by {self.dissipation:.1e}, "
            f"rightmost pole at {self.slowest:.3g} 1/s"
        )


@one_thread()
def passivity_certificate(loop: LinearPHDAE) -> PassivityCertificate:
    """E ≥ 0 and R ≥ 0 and J skew: energy never grows beyond what the ports supply."""
    linear_only(loop)
    defects = loop.structure()
    energy, dissipation = negativity_defect(loop.E), negativity_defect(loop.R)
    passive = bool(loop.passive) and max(defects.values()) < 1e-9
    return PassivityCertificate(passive, defects, energy, dissipation, float(loop_poles(loop).real.max()))


@one_thread()
def loop_poles(loop: LinearPHDAE) -> np.ndarray:
    """All poles of a loop (rad/s), by size."""
    values = np.linalg.eigvals(state_space(loop).A)
    return values[np.argsort(np.abs(values), kind="stable")]


# --- the energy of a nonlinear plant and its passive controller together, from a run of both -------------------------
#
# The energy of a nonlinear plant and its passive controller together, from a run of both.


Line = np.ndarray


@dataclass(frozen=True, eq=False)
class LoopLedger:
    """H + H_c − (H + H_c)(0) − Σ supplied + Σ dissipated + lost = residual, all (times,) in J.

    `plant` is the energy of the plant, `controller` that of the controller, `lost` what its own resistances took; `supplied` and
    `dissipated` are the lines of the plant's ledger that have nothing to do with the controller; `exchanged` is what the
    controller gave to the plant.
    """

    t: Line
    plant: Line
    controller: Line
    lost: Line
    exchanged: Line
    supplied: Mapping[str, Line]
    dissipated: Mapping[str, Line]

    @property
    def energy(self) -> Line:
        """H + H_c."""
        return self.plant + self.controller

    @property
    def residual(self) -> Line:
        """What does not balance: round-off."""
        nothing = np.zeros(len(self.t))
        out, into = sum(self.dissipated.values(), nothing), sum(self.supplied.values(), nothing)
        return self.energy - self.energy[0] - into + out + self.lost

    @property
    def surplus(self) -> float:
        """By how much the energy ever exceeded what was there and what other ports supplied: round-off, in a passive loop."""
        into = sum(self.supplied.values(), np.zeros(len(self.t)))
        return float((self.energy - self.energy[0] - into).max())


def loop_ledger(result: Result, controller: PassiveController) -> LoopLedger:
    """The ledger of a run simulate(…, controller=controller) that kept every step; the controller's steps are made again."""
    if not isinstance(result, Result) or not isinstance(controller, PassiveController):
        raise InputError(
            f"the ledger of a loop needs a Result and the passive controller of it, not "
            f"{type(result).__name__} and {type(controller).__name__}"
        )
    names = [f"{port}.{controller.name}" for port in controller.ports]
    if not set(names) & set(result.system.elements):
        raise InputError(f"{controller.name!r} had no part in this run; give the controller that simulate(…) had")
    h = np.diff(result.t)
    if len(h) == 0 or np.ptp(h) > 1e-6 * h[0]:
        raise InputError("the steps of this run are not equal; keep every step (output=1) and let dt divide the run")
    ledger, system = energy_ledger(result), result.system
    places = np.stack([result[f"{port}.{joint_axis(system, port).labels[0]}"] for port in controller.ports], axis=1)
    moved = np.array(
        [
            [port_change(system, p, x) for p, x in zip(controller.ports, row, strict=True)]
            for row in np.diff(places, axis=0)
        ]
    )
    stored, lost = _again(controller, result, places, moved, float(h[0]))
    return LoopLedger(
        result.t,
        ledger.energy,
        stored,
        lost,
        _given(ledger, controller, names),
        {name: line for name, line in ledger.supplied.items() if name not in controller.ports},
        {name: line for name, line in ledger.dissipated.items() if name not in names},
    )


def _again(
    controller: PassiveController, result: Result, places: np.ndarray, moved: np.ndarray, h: float
) -> tuple[np.ndarray, np.ndarray]:
    """H_c and its losses; a constant effort has the energy −bias q."""
    mine, ports = controller.system, controller.ports
    acting = ControllerStep(mine, wiring(controller.name, mine.ports, controller.wires, ports, result.system.ports), h)
    e = controller.start(dict(zip(ports, places[0], strict=True)))
    bias = np.array([controller.bias.get(port, 0.0) for port in ports])
    stored, lost = [mine.energy(e)], [0.0]
    for step in moved:
        mean = acting.mean(e, step / h)
        e = 2.0 * mean - e
        stored.append(mine.energy(e))
        lost.append(lost[-1] + h * float(mean @ (mine.R @ mean)))
    way = np.concatenate([np.zeros((1, len(ports))), np.cumsum(moved, axis=0)])
    return np.array(stored) - way @ bias, np.array(lost)


def _given(ledger: Ledger, controller: PassiveController, names: list[str]) -> np.ndarray:
    nothing = np.zeros(len(ledger.t))
    pushed = sum((ledger.supplied.get(port, nothing) for port in controller.ports), nothing)
    return pushed - sum((ledger.dissipated.get(name, nothing) for name in names), nothing)
