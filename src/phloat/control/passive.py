"""Controllers that are port-Hamiltonian systems themselves: whatever passive plant they are wired to, the loop is passive.

    plant  u = bias − y_c,      controller  u_c = y        ⇒      Ḣ + Ḣ_c = external power − losses of both

In a run of the midpoint rule the controller takes its step with the plant, and the sum of both energies is exact at any step
(see `Acting`). Sampled, it is what a computer does: positions and rates in, an effort that is held.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from phloat.control.acting import Acting, damped, wiring
from phloat.control.wires import Model, Wire, place_of, step_of
from phloat.errors import InputError
from phloat.joints.elements import JointDamper, JointSpring
from phloat.linear.phdae import LinearPHDAE, linear_only
from phloat.linear.state_space import state_space
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
