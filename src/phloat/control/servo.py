"""Servos: motors that follow a command.

    effort = k (c − q) + d (ċ − q̇) + feedforward,   limited to ± limit

A continuous servo acts within the implicit step: it is passive about its command, and so stable for any gains and steps. A sampled
one (`every`) reads the joint as an encoder does, and holds its effort.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg as la

from phloat.algebra.metadata import describe
from phloat.analysis.linearise import linearise
from phloat.control.closed_loop import closed_loop
from phloat.control.coupling import Model, joint_axis, port_change, port_position
from phloat.control.optimal import DesignModel
from phloat.control.passive import PassiveController, passive_pid
from phloat.control.sampled import Sampled
from phloat.errors import InputError, not_negative, positive
from phloat.linear.form.phdae import LinearPHDAE
from phloat.motion.initial.velocities import velocity_indices, with_velocities
from phloat.motion.inputs.commands import Command, as_command
from phloat.motion.inputs.inputs import as_signal
from phloat.motion.inputs.servos import InertiaEffort, ServoSignal
from phloat.motion.inputs.signals import Signal
from phloat.motion.run.samples import GROWN, GrowingPole
from phloat.system.plausible import warn_of_degrees
from phloat.system.state import State
from phloat.system.system import System

LARGEST = 600  # numbers in a state up to which the poles of a sampled loop are computed before a run
DRIVE = "drive"  # feedforward: the effort of a drive along the command


@dataclass(frozen=True)
class Servo:
    """A motor that follows a command; see `servo`."""

    joint: str = field(metadata=describe("on whose free axis it acts"))
    command: Any = field(default=None, metadata=describe("the position that it follows"))
    rate: Any = field(default=None, metadata=describe("or the rate that it follows"))
    stiffness: float = field(default=0.0, metadata=describe("effort per error of position"))
    damping: float = field(default=0.0, metadata=describe("effort per error of rate"))
    feedforward: Any = field(
        default=0.0, metadata=describe("an inertia, an effort over time, or drive: that of a drive along the command")
    )
    limit: float | None = field(default=None, metadata=describe("the largest effort"))
    every: float | None = field(default=None, metadata=describe("sample time; continuous without", "time", above=0.0))
    delay: float = field(default=0.0, metadata=describe("from a sample to its effort", "time", least=0.0))

    def __post_init__(self) -> None:
        label = f"servo at {self.joint!r}"
        if not isinstance(self.joint, str):
            raise InputError(f"the joint of a servo is {self.joint!r}; it must be its name, such as 'motor'")
        if (self.command is None) == (self.rate is None):
            found = "no command" if self.command is None else "a command and a rate"
            raise InputError(f"the {label} has {found}; give one: servo('motor', move(0.8, over=2.0), …), or rate=")
        assert self.reference is not None  # raises InputError now
        if not_negative(f"stiffness of the {label}", self.stiffness) and self.rate is not None:
            raise InputError(f"the {label} follows a rate and has a stiffness; leave it out, or give the command")
        if not not_negative(f"damping of the {label}", self.damping) + self.stiffness:
            raise InputError(f"the {label} has no gains; give stiffness= and damping=, and feedforward= on top")
        if self.limit is not None:
            positive(f"limit of the {label}", self.limit)
        if self.every is not None:
            positive(f"every of the {label}", self.every)
        if not_negative(f"delay of the {label}", self.delay) and self.every is None:
            raise InputError(f"the {label} has a delay and no sample time; give every=…")
        if self.feedforward != DRIVE:
            assert self.forward is not None

    @cached_property
    def reference(self) -> Command:
        """The command, of the position or of the rate."""
        label, value = ("command", self.command) if self.rate is None else ("rate", self.rate)
        return as_command(f"{label} of the servo at {self.joint!r}", value)

    @cached_property
    def forward(self) -> Signal:
        """The feedforward effort over time."""
        value, label = self.feedforward, f"feedforward of the servo at {self.joint!r}"
        if isinstance(value, (int, float, np.number)):
            return InertiaEffort(self.reference, not_negative(label, float(value)), self.rate is not None)
        if isinstance(value, str):
            raise InputError(f"{label} is {value!r}; it must be {DRIVE!r}, an inertia, or an effort as a function of t")
        return as_signal(f"{self.joint}.feedforward", value, (1,))

    # --- continuous ---------------------------------------------------------------------------------------------------

    def inputs(self, system: System) -> dict[str, ServoSignal]:
        """The input of its port; none if it is sampled."""
        if joint_axis(system, self.joint).is_angle and self.rate is None:
            warn_of_degrees(
                f"the command of {self.joint!r}", *(getattr(self.command, end, 0.0) for end in ("to", "origin"))
            )
        if self.every is not None:
            return {}
        limit = np.inf if self.limit is None else self.limit
        numbers = float(self.stiffness), float(self.damping), float(limit)
        return {self.joint: ServoSignal(self.joint, self.reference, self.forward, *numbers, self.rate is not None)}

    def passive(self) -> PassiveController:
        """The spring and the damper by which it holds its first command; limits and sampling are left out."""
        target = 0.0 if self.rate is not None else self.reference(-np.inf)
        return passive_pid(
            self.joint, stiffness=self.stiffness, damping=self.damping, target=target, name=f"{self.joint}.servo"
        )

    def unstable_pole(
        self, system: System, state: State, t_end: float, others: Sequence[Servo] = ()
    ) -> GrowingPole | None:
        """The pole by which a sampled loop, linearised at rest without loads, grows tenfold in the time `t_end` (s).

        Other servos hold their joints as continuous ones.
        """
        if self.every is None or system.layout.size > LARGEST:
            return None
        resting = with_velocities(system, state, np.zeros(len(velocity_indices(system))))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                plant = linearise(replace(system, gravity=np.zeros(3)), resting)
                z = complex(sampled_loop_poles(closed_loop(plant, *others), self)[0])
            except InputError:  # a pre-stressed state: the run itself shows whether efforts grow
                return None
        grows = t_end / self.every * np.log(max(abs(z), 1e-300)) > np.log(GROWN)
        return GrowingPole(self.joint, z, self.every) if grows else None

    # --- sampled ------------------------------------------------------------------------------------------------------

    def start_run(self, model: Model, dt: float | None) -> tuple[Model, Callable[[float, Any], Mapping[str, object]]]:
        """The function of a sampled servo; raises InputError for a continuous one on a linear plant."""
        if isinstance(model, System):
            joint_axis(model, self.joint)
        if self.every is None:
            raise InputError(
                f"the servo at {self.joint!r} acts on a mechanism; for a linear plant give every=…, or simulate "
                "closed_loop(plant, servo)"
            )
        return Sampled(self, self.every, self.delay, self.limit).start_run(model, dt)

    @property
    def ports(self) -> tuple[str, ...]:
        return (self.joint,)

    @property
    def bias(self) -> Mapping[str, float]:
        return {}

    def fastest(self, model: Model) -> float:
        return 0.0  # the loop of a servo is judged by its poles

    def sampled(self, model: Model, every: float) -> Callable[[float, Any, Mapping[str, float]], dict[str, float]]:
        """The sampled controller f(t, y, …) → effort: rates are differences of positions between samples."""
        joint, reference, position, previous = self.joint, self.reference, 0.0, None

        def function(t: float, y: Any, applied: Mapping[str, float]) -> dict[str, float]:
            nonlocal position, previous
            q = port_position(y, joint, 0.0)
            change = 0.0 if previous is None else port_change(model, joint, q - position)
            position = q if previous is None else position + change
            command = float(reference(t))
            if self.rate is not None:
                error, slope = 0.0, command - (float(y[joint]) if previous is None else change / every)
            else:
                error = command - position
                slope = reference.rate(t) - float(y[joint]) if previous is None else (error - previous) / every
            previous = error
            forward = float(self.forward.mean(t + self.delay, t + self.delay + every)[0])
            return {joint: self.stiffness * error + self.damping * slope + forward}

        return function


def sampled_loop_poles(plant: LinearPHDAE, servo: Servo) -> np.ndarray:
    """The poles z of a linear plant with a sampled servo, by descending modulus: the loop is stable if all |z| < 1.

    A pole z is a motion that is multiplied by z from sample to sample; a free rigid motion of other joints, and a mode without
    damping that the servo does not move, have |z| = 1.
    """
    every = servo.every
    if every is None:
        raise InputError(
            f"the servo at {servo.joint!r} is not sampled; for its poles use loop_poles(closed_loop(plant, servo))"
        )
    design = DesignModel(plant.with_ports(servo.joint), (servo.joint,))
    n, whole = len(design.A), int(servo.delay / every * (1 + 1e-12))
    rest = servo.delay - whole * every
    late, early = (_held(design.A, design.B, span) for span in (every - rest, rest))
    size = n + 1 + whole + 1  # x, the last position, the last efforts with the newest first
    q = np.zeros(size)
    q[n - 1] = 1.0
    last = np.zeros(size)
    last[n] = 1.0
    effort = -(servo.stiffness * q + servo.damping / every * (q - last))  # u_k by the states at sample k
    held = np.vstack([effort, np.eye(size)[n + 1 :]])  # u_k, u_{k−1}, …, u_{k−whole−1}
    step = np.zeros((size, size))
    step[:n, :n] = late[0] @ early[0]
    step[:n] += np.outer(late[0] @ early[1], held[whole + 1]) + np.outer(late[1], held[whole])
    step[n], step[n + 1 :] = q, held[: whole + 1]
    values = np.linalg.eigvals(step)
    return values[np.argsort(-np.abs(values), kind="stable")]


def _held(A: np.ndarray, B: np.ndarray, span: float) -> tuple[np.ndarray, np.ndarray]:
    """exp(A s) and ∫ exp(A s) B ds over a span, for an effort that is held."""
    n = len(A)
    exponential = la.expm(span * np.block([[A, B], [np.zeros((1, n + 1))]]))
    return exponential[:n, :n], exponential[:n, n]


def servo(
    joint: str,
    command: Any = None,
    *,
    rate: Any = None,
    stiffness: float = 0.0,
    damping: float = 0.0,
    feedforward: Any = 0.0,
    limit: float | None = None,
    every: float | None = None,
    delay: float = 0.0,
) -> Servo:
    """A motor that follows a command: the effort k (c − q) + d (ċ − q̇) + feedforward on the free axis q of a joint.

    Parameters
    ----------
    joint : str
        A joint with one free axis, an angle or a slide.
    command : Command, float or callable
        The position c (rad or m): `move`, `trapezoid`, `polynomial`, `spline`, sums of them, shape_input(…), a function of t, or a
        number to hold.
    rate : Command, float or callable, optional
        The rate ċ (rad/s or m/s) instead of a position; then the stiffness is zero.
    stiffness, damping : float
        The gains k (N m/rad or N/m) and d (N m s/rad or N s/m).
    feedforward : float, callable, piecewise(…) or "drive", optional
        An inertia (kg m² or kg) that is multiplied by the acceleration of the command; an effort as a function of t; or "drive":
        the effort that a `drive` of the joint along the command needs, deformation and gravity included, from a run before.
    limit : float, optional
        The largest effort (N m or N); the mean effort of each step keeps it exactly.
    every, delay : float, optional
        Sample time, and delay from a sample to its effort (s). A sampled servo takes rates from positions at successive samples and
        holds its effort. Without `every` it is continuous, and acts within the step.

    Returns
    -------
    Servo
        For `simulate(…, controller=servo)`, or a list of several; for `closed_loop`, where it holds its command. The result has
        "joint.torque" (or "joint.force"), "joint.command" and "joint.error".

    Examples
    --------
    A disc of 0.5 kg m² turns by 0.8 rad in one second; with its inertia as feedforward there is nothing left for the gains to do.

    >>> disc = ph.RigidBody(mass=1.0, inertia=np.diag([0.25, 0.25, 0.5])).discretise()
    >>> wheel = ph.connect({"disc": disc}, [ph.Revolute("ground", "disc.P", name="motor")], plane="xy")
    >>> motor = ph.servo("motor", ph.move(0.8, over=1.0), stiffness=50.0, damping=5.0, feedforward=0.5)
    >>> result = ph.simulate(wheel, ph.place(wheel), t_end=1.2, dt=0.01, controller=motor)
    >>> round(float(result["motor.angle"][-1]), 4), bool(np.abs(result["motor.error"]).max() < 1e-4)
    (0.8, True)
    """
    return Servo(joint, command, rate, stiffness, damping, feedforward, limit, every, delay)
