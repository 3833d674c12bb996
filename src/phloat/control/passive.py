"""Passive controllers: port-Hamiltonian systems that are connected to the ports of a plant.

    plant  u = bias − y_c,      controller  u_c = y        ⇒      Ḣ + Ḣ_c = external power − losses of both

With any passive plant the loop is passive. In a simulation by the midpoint rule the controller makes its step together with the
plant, and the sum of both energies is exact at any step size (see `coupling`). As a sampled controller it takes positions
and rates and returns an effort that is held.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.linalg as la

from phloat.algebra.layout import Layout
from phloat.control.coupling import MidpointStep, Model, Wire, port_change, port_position, wiring, with_dampers
from phloat.errors import InputError, not_negative, number, positive
from phloat.joints.elements import JointDamper, JointSpring
from phloat.linear.form.interconnect import append_systems
from phloat.linear.form.phdae import LinearPHDAE, linear_only
from phloat.linear.form.state_space import state_space
from phloat.system.system import System

GAINS = 400  # number of gains along which damping_gain follows a pole


@dataclass(frozen=True, eq=False, kw_only=True)
class PassiveController:
    """A port-Hamiltonian controller and its wires to a plant.

    `springs` {row: (port, stiffness)} are the rows with the states k (q − target), q the position of the port; a nonlinear plant
    has positions, a linear one starts at `origin`. `bias` {port: effort} is constant (for a linear plant it is part of the state of
    linearisation). `elements` is the same controller as springs and dampers of a System, if it has no other parts.
    """

    name: str
    system: LinearPHDAE
    wires: tuple[Wire, ...]
    springs: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    target: Mapping[str, float] = field(default_factory=dict)
    origin: Mapping[str, float] = field(default_factory=dict)
    bias: Mapping[str, float] = field(default_factory=dict)
    elements: tuple[JointSpring | JointDamper, ...] | None = None
    made: partial[PassiveController] | None = None  # the call that constructs it, to repeat it with other numbers

    def __post_init__(self) -> None:
        linear_only(self.system, feedthrough=True)
        if not self.wires:
            raise InputError(f"controller {self.name!r} has no wire; its ports are {', '.join(self.system.ports)}")
        for wire in self.wires:
            self.system.ports[wire.controller]
        if not self.system.passive:
            raise InputError(f"controller {self.name!r} is not passive: its energy is not definite")

    @property
    def ports(self) -> tuple[str, ...]:
        """The ports of the plant that it is wired to."""
        return tuple(dict.fromkeys(wire.plant for wire in self.wires))

    def start(self, positions: Mapping[str, float]) -> np.ndarray:
        """The rows of the controller for these positions of the ports of the plant: springs are stretched, other rows are zero."""
        e = np.zeros(self.system.rows.size)
        for row, (port, stiffness) in self.springs.items():
            e[self.system.rows[row]] = stiffness * (positions.get(port, 0.0) - self.target.get(port, 0.0))
        return e

    def start_run(self, model: Model, dt: float | None) -> tuple[Model, Callable[[float, Any], Mapping[str, object]]]:
        """The plant with the dampers Z of a step, and the function f(t, y) that returns the efforts −a (see `coupling`)."""
        if dt is None:
            raise InputError(
                f"{self.name!r} makes its steps with the plant: give dt and the scheme Midpoint(), or wrap it as "
                "Sampled(controller, every=…)"
            )
        run = ControllerRun(self, model, dt)

        def function(t: float, y: Any) -> dict[str, object]:
            run.advance(y)
            return dict(run.efforts(run.step.out_by_state @ run.e))

        return with_dampers(self.name, model, self.ports, run.step.impedance), function

    def sampled(self, model: Model, every: float) -> Callable[[float, Any, Mapping[str, float]], dict[str, float]]:
        """The sampled controller f(t, y, mean efforts since the last sample) → efforts.

        The state follows from the motion since the last sample, the efforts from the state and the rates.
        """
        run, space = ControllerRun(self, model, every), state_space(self.system)
        T = run.T
        to_x = space.signs[:, None] * (self.system.E @ space.T).T  # x = TᵀE e, whatever the values of massless rows
        C, D = T.T @ space.C @ to_x, T.T @ space.D @ T

        def function(t: float, y: Any, applied: Mapping[str, float]) -> dict[str, float]:
            run.advance(y)
            return run.efforts(C @ run.e + D @ np.array([float(y[port]) for port in self.ports]))

        return function

    def fastest(self, model: Model) -> float:
        """The highest frequency of the controller and of a linear plant (rad/s)."""
        systems = [self.system, model] if isinstance(model, LinearPHDAE) else [self.system]
        poles = np.concatenate([np.linalg.eigvals(state_space(system).A) for system in systems])
        return float(np.abs(poles.imag).max(initial=0.0))

    def __repr__(self) -> str:
        return f"PassiveController({self.name!r} on {', '.join(self.ports)}, {self.system.rows.size} rows)"


class ControllerRun:
    """The state of a controller in a run, advanced by the motion of the ports of the plant.

    `e` are its rows, `mean` their mean over the last step, and `displacement` is that of the ports since the start.
    """

    def __init__(self, controller: PassiveController, model: Model, h: float) -> None:
        self.controller, self.model, self.h = controller, model, h
        self.T = wiring(controller.name, controller.system.ports, controller.wires, controller.ports, model.ports)
        self.step = MidpointStep.from_system(controller.system, self.T, h)
        self.mean = self.e = np.zeros(controller.system.rows.size)
        self.displacement = np.zeros(len(controller.ports))
        self.positions: np.ndarray | None = None

    def advance(self, y: Any) -> None:
        """Advances the controller to the outputs y of the plant."""
        c = self.controller
        self.advance_to(np.array([port_position(y, port, c.origin.get(port, 0.0)) for port in c.ports]))

    def advance_to(self, positions: np.ndarray) -> None:
        """Advances the controller by a midpoint step to these positions of the ports."""
        ports = self.controller.ports
        if self.positions is None:
            self.e = self.controller.start(dict(zip(ports, positions, strict=True)))
        else:
            pairs = zip(ports, positions - self.positions, strict=True)
            changes = np.array([port_change(self.model, port, x) for port, x in pairs])
            self.mean = self.step.mean(self.e, changes / self.h)
            self.e, self.displacement = 2.0 * self.mean - self.e, self.displacement + changes
        self.positions = positions

    def efforts(self, y: np.ndarray) -> dict[str, float]:
        bias = self.controller.bias if isinstance(self.model, System) else {}
        return {port: bias.get(port, 0.0) - float(x) for port, x in zip(self.controller.ports, y, strict=True)}


def passive_controller(controller: LinearPHDAE, *wires: Wire, name: str = "controller") -> PassiveController:
    """Control by interconnection: any passive port-Hamiltonian system as a controller."""
    for wire in wires:
        if not isinstance(wire, Wire):
            raise InputError(f"{wire!r} is no wire; write Wire('port of the controller', 'port of the plant')")
    return PassiveController(name=name, system=controller, wires=wires)


def damping_injection(port: str, gain: float, *, name: str = "") -> PassiveController:
    """u = −gain y: a damper at a port."""
    return passive_pid(port, damping=positive(f"gain at {port!r}", gain), name=name)


def passive_pid(
    port: str,
    *,
    stiffness: float = 0.0,
    damping: float = 0.0,
    inertia: float = 0.0,
    filter: float = 0.0,
    target: float = 0.0,
    origin: float = 0.0,
    name: str = "",
) -> PassiveController:
    """A PID controller u = −(k/s + d + m s/(1 + τs)) y on the flow y of a port; passive for all gains ≥ 0.

    It acts like a spring k about `target`, a damper d and an inertia m. With respect to the position these are the proportional,
    derivative and second derivative gains. At least one gain must be positive.

    Parameters
    ----------
    port : str
        A port with one component, such as that of a revolute or prismatic joint.
    stiffness, damping, inertia : float, optional
        The gains k (N/m), d (N s/m) and m (kg), or N m/rad, N m s/rad and kg m² for an angle.
    filter : float, optional
        The time constant τ (s) of the inertia, which is in series with a damper m/τ. Required with an inertia.
    target : float, optional
        The position at which the spring is relaxed (m or rad).
    origin : float, optional
        The position in which a linear plant starts (m or rad); a nonlinear one knows its own.
    name : str, optional
        Default: "port.control".

    Returns
    -------
    PassiveController
        For `closed_loop` or `simulate(…, controller=…)`.

    Examples
    --------
    A disc with I = 0.5 kg m² turns to 0.3 rad.

    >>> disc = ph.RigidBody(mass=1.0, inertia=np.diag([0.25, 0.25, 0.5])).discretise()
    >>> wheel = ph.connect({"disc": disc}, [ph.Revolute("ground", "disc.P", name="motor")], plane="xy")
    >>> controller = ph.control.passive_pid("motor", stiffness=50.0, damping=5.0, target=0.3)
    >>> result = ph.simulate(wheel, ph.place(wheel), t_end=3.0, dt=0.01, controller=controller)
    >>> round(float(result["motor.angle"][-1]), 4)
    0.3
    """
    gains = {"stiffness": stiffness, "damping": damping, "inertia": inertia}
    k, d, m = (not_negative(f"{label} at {port!r}", gain) for label, gain in gains.items())
    if not k + d + m:
        raise InputError(f"all gains at {port!r} are zero; give stiffness=, damping= or inertia=")
    if m and not not_negative(f"filter at {port!r}", filter):
        raise InputError(f"an inertia at {port!r} needs filter=…, its time constant in s")
    if callable(target):
        raise InputError(f"the target at {port!r} is a function of t; servo({port!r}, command, …) follows one")
    name, target = name or f"{port}.control", number("target", target)
    rows: dict[str, tuple[float, float]] = {"inertia": (m, 0.0)} if m else {}  # E and R of each
    parts: list[JointSpring | JointDamper] = []
    if k:
        rows["spring"] = (1.0 / k, 0.0)
        parts.append(JointSpring(port, stiffness=k, rest=target, name=f"{name}.spring"))
    if d:
        rows["damper"] = (0.0, 1.0 / d)
        parts.append(JointDamper(port, damping=d, name=f"{name}.damper"))
    if m:
        rows["behind"] = (0.0, filter / m)
    J = np.zeros((len(rows), len(rows)))
    if m:  # the inertia is the first row, the damper in series with it the last
        J[0, -1], J[-1, 0] = 1.0, -1.0
    system = LinearPHDAE(
        E=np.diag([E for E, _ in rows.values()]),
        J=J,
        R=np.diag([R for _, R in rows.values()]),
        B=np.array([[0.0 if row == "inertia" else 1.0] for row in rows]),
        rows=Layout(dict.fromkeys(rows, (1,)), "row"),
        ports=Layout({"port": (1,)}, "port"),
        split=int(m > 0),
    )
    return PassiveController(
        name=name,
        system=system,
        wires=(Wire("port", port),),
        springs={"spring": (port, k)} if k else {},
        target={port: target},
        origin={port: number("origin", origin)},
        elements=None if m else tuple(parts),
        made=partial(passive_pid, port, **gains, filter=filter, target=target, origin=origin, name=name),
    )


def combine_controllers(*controllers: PassiveController, name: str = "controllers") -> PassiveController:
    """Several passive controllers as one; raises InputError if they have different targets, origins or biases at a port."""
    for c in controllers:
        if not isinstance(c, PassiveController):
            raise InputError(f"{c!r} is no passive controller; only those can be combined")
    values: dict[str, dict[str, float]] = {"target": {}, "origin": {}, "bias": {}}
    for attribute, merged in values.items():
        for c in controllers:
            for port, value in getattr(c, attribute).items():
                if (first := merged.setdefault(port, value)) != value:
                    raise InputError(f"two controllers have different {attribute}s at {port!r}: {first:g}, {value:g}")
    lists = [c.elements for c in controllers if c.elements is not None]
    return PassiveController(
        name=name,
        system=append_systems(*(c.system.prefixed(c.name) for c in controllers)),
        wires=tuple(replace(w, controller=f"{c.name}.{w.controller}") for c in controllers for w in c.wires),
        springs={f"{c.name}.{row}": s for c in controllers for row, s in c.springs.items()},
        target=values["target"],
        origin=values["origin"],
        bias=values["bias"],
        elements=sum(lists, ()) if len(lists) == len(controllers) else None,
    )


def damping_gain(plant: LinearPHDAE, port: str, *, decay: float, omega: float) -> float:
    """The smallest gain of damping_injection(port, gain) with which the mode near `omega` (rad/s) decays as exp(−decay t)."""
    positive("decay", decay)
    positive("omega", omega)
    space = state_space(plant.with_ports(port))
    if space.B.shape[1] != 1:
        raise InputError(f"port {port!r} has {space.B.shape[1]} components; use one of one component")

    def nearest_pole(gain: float, previous: complex) -> complex:
        poles = la.eigvals(space.A - gain * space.B @ space.B.T)
        return complex(poles[np.argmin(np.abs(poles - previous))])

    gains = np.concatenate([[0.0], np.geomspace(1e-6, 1e4, GAINS) * omega / max(float(np.sum(space.B**2)), 1e-300)])
    pole = nearest_pole(0.0, 1j * omega)
    if -pole.real >= decay:
        raise InputError(f"the mode at {abs(pole.imag):.4g} rad/s already decays by {-pole.real:.3g} 1/s; require more")
    best = (0.0, -pole.real)
    for low, high in pairwise(gains):  # follow the pole from gain to gain
        next_pole = nearest_pole(high, pole)
        if -next_pole.real >= decay:
            for _ in range(60):
                middle = 0.5 * (low + high)
                trial = nearest_pole(middle, pole)
                low, high, pole = (low, middle, pole) if -trial.real >= decay else (middle, high, trial)
            return float(0.5 * (low + high))
        if next_pole.imag < 0.05 * omega:
            break
        pole, best = next_pole, max(best, (high, -next_pole.real), key=lambda pair: pair[1])
    raise InputError(
        f"a damper at {port!r} gives the mode near {omega:.4g} rad/s a decay of at most {best[1]:.4g} 1/s, with the gain "
        f"{best[0]:.3g}; require less, or use a port where it moves more"
    )
