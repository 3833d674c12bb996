"""Servos as inputs: the effort of a motor that follows a command acts within the implicit step.

effort = k (c − q) + d (ċ − q̇) + f(t),   limited to ± limit
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from phloat.joints.laws import Law, LawFunction
from phloat.joints.scalar import fabs, where
from phloat.motion.inputs.commands import Command
from phloat.motion.inputs.signals import Signal


def servo_effort(x: Any, v: Any, command: Any, rate: Any, forward: Any, k: Any, d: Any, limit: Any) -> Any:
    """The effort of a servo against the motion, and its slopes by x and v: zero where it is limited."""
    effort = k * (x - command) + d * (v - rate) - forward
    free = fabs(effort) < limit
    return where(free, effort, where(effort > 0.0, limit, -limit)), where(free, k, 0.0), where(free, d, 0.0)


NUMBERS = ("command", "rate", "forward", "stiffness", "damping", "limit")  # the first three change from step to step
SERVO = LawFunction("phloat.servo", NUMBERS, actuator=servo_effort)


@dataclass(frozen=True, eq=False)
class ServoSignal(Signal):
    """The command, its rate and the feedforward effort of a servo at a free axis, over time: vectors of three."""

    name: str
    command: Command
    forward: Signal
    stiffness: float
    damping: float
    limit: float
    of_rate: bool  # the command is a rate

    @cached_property
    def law(self) -> Law:
        """The law of the servo in the step; its command is written to it before each step."""
        return Law(function=SERVO, numbers=(0.0, 0.0, 0.0, self.stiffness, self.damping, self.limit))

    @property
    def corners(self) -> np.ndarray:
        return self.command.corners

    def at(self, t: float) -> np.ndarray:
        target, rate = (0.0, self.command(t)) if self.of_rate else (self.command(t), self.command.rate(t))
        return np.array([target, rate, float(self.forward.at(t)[0])])

    def means(self, times: np.ndarray) -> np.ndarray:
        """The means of values at the ends of steps, as of the joint itself: a joint on its command then has no error."""
        values = self.command.derivative(np.asarray(times, dtype=float), 0)
        mean, slope = 0.5 * (values[1:] + values[:-1]), np.diff(values) / np.diff(times)
        target, rate = (np.zeros_like(mean), mean) if self.of_rate else (mean, slope)
        return np.column_stack([target, rate, self.forward.means(times)[:, 0]])

    def rate(self, t: float) -> np.ndarray:
        return np.zeros(3)  # rates of inputs are needed of drives only


@dataclass(frozen=True, eq=False)
class InertiaEffort(Signal):
    """The effort that accelerates an inertia along a command (of a rate, if `of_rate`)."""

    command: Command
    inertia: float
    of_rate: bool

    def at(self, t: float) -> np.ndarray:
        return self.inertia * self.command.derivative(np.array([t]), 1 if self.of_rate else 2)

    def means(self, times: np.ndarray) -> np.ndarray:
        rates = self.command.derivative(np.asarray(times, dtype=float), 0 if self.of_rate else 1)
        return (self.inertia * np.diff(rates) / np.diff(times))[:, None]

    def rate(self, t: float) -> np.ndarray:
        return np.zeros(1)
