"""Controllers that are port-Hamiltonian systems themselves: whatever passive plant they are wired to, the loop is passive.

    plant  u = bias − y_c,      controller  u_c = y        ⇒      Ḣ + Ḣ_c = external power − losses of both

In a run of the midpoint rule the controller takes its step with the plant, and the sum of both energies is exact at any step
(see `Acting`). Sampled, it is what a computer does: positions and rates in, an effort that is held.
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
from phloat.control.coupling import Acting, Model, Wire, damped, place_of, step_of, wiring
from phloat.errors import InputError, finite, not_negative, positive
from phloat.joints.elements import JointDamper, JointSpring
from phloat.linear.form.interconnect import append_systems
from phloat.linear.form.phdae import LinearPHDAE, linear_only
from phloat.linear.form.state_space import state_space
from phloat.system.system import System


@dataclass(frozen=True, eq=False, kw_only=True)
class Passive:
    """A port-Hamiltonian controller and its wires to a plant.

    `springs` {row: (port, stiffness)} are states k (q − target) of the positions of ports; a nonlinear plant has positions of
    its own, a linear one starts at `origin`. `bias` is an effort that is always there (of a linear plant it is part of where it
    was linearised). `elements` are the same controller as springs and dampers of a System, where it is no more than that.
    """

    name: str
    system: LinearPHDAE
    wires: tuple[Wire, ...]
    springs: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    target: Mapping[str, float] = field(default_factory=dict)
    origin: Mapping[str, float] = field(default_factory=dict)
    bias: Mapping[str, float] = field(default_factory=dict)
    elements: tuple[JointSpring | JointDamper, ...] | None = None
    made: partial[Passive] | None = None  # how it was written: with other numbers, another controller

    def __post_init__(self) -> None:
        linear_only(self.system)
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

    def start(self, places: Mapping[str, float]) -> np.ndarray:
        """Its state where the ports of the plant are at these positions: springs as they are stretched, the rest zero."""
        e = np.zeros(self.system.rows.size)
        for row, (port, stiffness) in self.springs.items():
            e[self.system.rows[row]] = stiffness * (places.get(port, 0.0) - self.target.get(port, 0.0))
        return e

    def begun(self, model: Model, dt: float | None) -> tuple[Model, Callable[[float, Any], Mapping[str, object]]]:
        """The plant with the dampers Z of a step, and the function that holds −a."""
        if dt is None:
            raise InputError(
                f"{self.name!r} takes its steps with the plant: give dt and the scheme Midpoint(), or wrap it as "
                "Sampled(controller, every=…)"
            )
        run = _Run(self, model, dt)

        def function(t: float, y: Any) -> dict[str, object]:
            run.go_on(y)
            return dict(run.efforts(run.acting.offset(run.e)))

        return damped(self.name, model, self.ports, run.acting.impedance), function

    def sampled(self, model: Model, every: float) -> Callable[[float, Any, Mapping[str, float]], dict[str, float]]:
        """f(t, y, what was applied): the state from the way since the last sample, the effort from it and the rates."""
        run, space = _Run(self, model, every), state_space(self.system)
        into = run.acting.into
        back = space.signs[:, None] * (self.system.E @ space.T).T  # x = TᵀE e, whatever rows without energy say
        C, D = into.T @ space.C @ back, into.T @ space.D @ into

        def function(t: float, y: Any, applied: Mapping[str, float]) -> dict[str, float]:
            run.go_on(y)
            return run.efforts(C @ run.e + D @ np.array([float(y[port]) for port in self.ports]))

        return function

    @property
    def resting(self) -> dict[str, float]:
        """What is applied before it has been asked."""
        return {port: self.bias.get(port, 0.0) for port in self.ports}

    def fastest(self, model: Model) -> float:
        """The fastest frequency that it has to follow, of its own and of a linear plant (rad/s)."""
        values = [np.linalg.eigvals(state_space(self.system).A)]
        if isinstance(model, LinearPHDAE):
            values.append(np.linalg.eigvals(state_space(model).A))
        return float(np.abs(np.concatenate(values).imag).max(initial=0.0))

    def __repr__(self) -> str:
        return f"Passive({self.name!r} on {', '.join(self.ports)}, {self.system.rows.size} rows)"


class _Run:
    """The state of a controller in a run, brought on by the way of the plant's ports."""

    def __init__(self, controller: Passive, model: Model, h: float) -> None:
        self.controller, self.model, self.h = controller, model, h
        into = wiring(controller.name, controller.system.ports, controller.wires, controller.ports, model.ports)
        self.acting = Acting(controller.system, into, h)
        self.e = np.zeros(controller.system.rows.size)
        self.before: np.ndarray | None = None

    def go_on(self, y: Any) -> None:
        c = self.controller
        now = np.array([place_of(y, port, c.origin.get(port, 0.0)) for port in c.ports])
        if self.before is None:
            self.e = c.start(dict(zip(c.ports, now, strict=True)))
        else:
            moved = [step_of(self.model, port, x) for port, x in zip(c.ports, now - self.before, strict=True)]
            self.e = 2.0 * self.acting.mean(self.e, np.array(moved) / self.h) - self.e
        self.before = now

    def efforts(self, y: np.ndarray) -> dict[str, float]:
        there = self.controller.bias if isinstance(self.model, System) else {}
        return {port: there.get(port, 0.0) - float(x) for port, x in zip(self.controller.ports, y, strict=True)}


# --- passive controllers to begin with: dampers, pi and pid on the flow of a port, any port-ham ----------------------
#
# Passive controllers to begin with: dampers, PI and PID on the flow of a port, any port-Hamiltonian system by its wires.


def wired(controller: LinearPHDAE, *wires: Wire, name: str = "controller") -> Passive:
    """Control by interconnection: any passive port-Hamiltonian system as a controller."""
    for wire in wires:
        if not isinstance(wire, Wire):
            raise InputError(f"{wire!r} is no wire; write Wire('port of the controller', 'port of the plant')")
    return Passive(name=name, system=controller, wires=wires)


def damping_injection(port: str, gain: float, *, name: str = "") -> Passive:
    """u = −gain y: a damper at a port."""
    return pid(port, proportional=positive(f"gain at {port!r}", gain), name=name)


def pid(
    port: str,
    *,
    proportional: float = 0.0,
    integral: float = 0.0,
    derivative: float = 0.0,
    filter: float = 0.0,
    target: float = 0.0,
    origin: float = 0.0,
    name: str = "",
) -> Passive:
    """u = −(k_p + k_i/s + k_d s/(1 + τs)) y on the flow of a port: damper, spring about `target`, and an inertia.

    τ is `filter`: the derivative is that of an inertia k_d behind a damper k_d/τ. All of it is passive, for any gains ≥ 0.
    """
    gains = {"proportional": proportional, "integral": integral, "derivative": derivative}
    k_p, k_i, k_d = (not_negative(f"{what} gain at {port!r}", gain) for what, gain in gains.items())
    if not k_p + k_i + k_d:
        raise InputError(f"all gains at {port!r} are zero; give proportional=, integral= or derivative=")
    if k_d and not not_negative(f"filter at {port!r}", filter):
        raise InputError(f"a derivative at {port!r} needs filter=…, the time after which it gives way, in s")
    name = name or f"{port}.control"
    blocks: dict[str, tuple[float, float]] = {}  # E and R of each row
    if k_d:
        blocks["inertia"] = (k_d, 0.0)
    if k_i:
        blocks["spring"] = (1.0 / k_i, 0.0)
    if k_p:
        blocks["damper"] = (0.0, 1.0 / k_p)
    if k_d:
        blocks["behind"] = (0.0, filter / k_d)
    rows = Layout(dict.fromkeys(blocks, (1,)), "row")
    J = np.zeros((rows.size, rows.size))
    if k_d:
        a, b = rows["inertia"].start, rows["behind"].start
        J[a, b], J[b, a] = 1.0, -1.0
    system = LinearPHDAE(
        E=np.diag([E for E, _ in blocks.values()]),
        J=J,
        R=np.diag([R for _, R in blocks.values()]),
        B=np.array([[0.0 if row == "inertia" else 1.0] for row in rows]),
        rows=rows,
        ports=Layout({"port": (1,)}, "port"),
        split=int(k_d > 0),
    )
    parts: list[JointSpring | JointDamper] = []
    if k_i:
        parts.append(JointSpring(port, stiffness=k_i, rest=float(finite("target", target, ())), name=f"{name}.spring"))
    if k_p:
        parts.append(JointDamper(port, damping=k_p, name=f"{name}.damper"))
    return Passive(
        name=name,
        system=system,
        wires=(Wire("port", port),),
        springs={"spring": (port, k_i)} if k_i else {},
        target={port: float(finite("target", target, ()))},
        origin={port: float(finite("origin", origin, ()))},
        elements=None if k_d else tuple(parts),
        made=partial(pid, port, **gains, filter=filter, target=target, origin=origin, name=name),
    )


def together(*controllers: Passive, name: str = "controllers") -> Passive:
    """Passive controllers as one."""
    for c in controllers:
        if not isinstance(c, Passive):
            raise InputError(f"{c!r} is no passive controller; only those can be put together")
    merged: dict[str, dict[str, float]] = {}
    for what in ("target", "origin", "bias"):
        merged[what] = {}
        for c in controllers:
            for port, value in getattr(c, what).items():
                if merged[what].setdefault(port, value) != value:
                    raise InputError(
                        f"two controllers have different {what}s at {port!r}: {merged[what][port]:g}, {value:g}"
                    )
    lists = [c.elements for c in controllers]
    return Passive(
        name=name,
        system=append_systems(*(c.system.prefixed(c.name) for c in controllers)),
        wires=tuple(replace(w, controller=f"{c.name}.{w.controller}") for c in controllers for w in c.wires),
        springs={f"{c.name}.{row}": s for c in controllers for row, s in c.springs.items()},
        target=merged["target"],
        origin=merged["origin"],
        bias=merged["bias"],
        elements=None if any(x is None for x in lists) else tuple(e for x in lists if x is not None for e in x),
    )


# --- tuning ----------------------------------------------------------------------------------------------------------
#
# The gain of a damper at a port for a wanted decay rate of a mode.


STEPS = 400  # between the smallest and the largest gain that are tried


def gain_for(plant: LinearPHDAE, port: str, *, decay: float, omega: float) -> float:
    """The least gain of damping_injection(port, gain) with which the mode near `omega` (rad/s) dies away as exp(−decay t)."""
    positive("decay", decay)
    positive("omega", omega)
    space = state_space(plant.with_ports(port))
    if space.B.shape[1] != 1:
        raise InputError(f"port {port!r} has {space.B.shape[1]} components; take one of one component")
    gains = np.concatenate([[0.0], np.geomspace(1e-6, 1e4, STEPS) * omega / max(float(np.sum(space.B**2)), 1e-300)])
    pole = _nearest(np.linalg.eigvals(space.A), 1j * omega)
    if -pole.real >= decay:
        raise InputError(f"the mode at {abs(pole.imag):.4g} rad/s decays by {-pole.real:.3g} 1/s without any gain")
    best = (0.0, -pole.real)
    for low, high in pairwise(gains):  # follow the pole from gain to gain
        after = _nearest(_poles(space.A, space.B, high), pole)
        if -after.real >= decay:
            return _between(space.A, space.B, pole, low, high, decay)
        if after.imag < 0.05 * omega:
            break
        pole, best = after, max(best, (high, -after.real), key=lambda pair: pair[1])
    raise InputError(
        f"a damper at {port!r} makes the mode near {omega:.4g} rad/s decay by {best[1]:.4g} 1/s at most, "
        f"with the gain {best[0]:.3g}; ask for less, or act where it moves more"
    )


def _between(A: np.ndarray, B: np.ndarray, pole: complex, low: float, high: float, decay: float) -> float:
    for _ in range(60):
        middle = 0.5 * (low + high)
        found = _nearest(_poles(A, B, middle), pole)
        low, high, pole = (low, middle, pole) if -found.real >= decay else (middle, high, found)
    return 0.5 * (low + high)


def _poles(A: np.ndarray, B: np.ndarray, gain: float) -> np.ndarray:
    return np.asarray(la.eigvals(A - gain * B @ B.T))


def _nearest(values: np.ndarray, to: complex) -> complex:
    return complex(values[np.argmin(np.abs(values - to))])
