"""The default scheme: conserves energy and momenta, and satisfies joints and rotations, to round-off, at any step size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from phloat.errors import AccuracyError, InputError, not_negative, positive, require_steps
from phloat.motion.ledger import energy_ledger
from phloat.motion.result import Result
from phloat.motion.run.driver import run_to_end
from phloat.motion.run.kernel_run import KernelRun, KernelStepper, Substeps
from phloat.motion.run.task import Memory, Task
from phloat.motion.saving.memory import recall
from phloat.motion.schemes.adaptive import AdaptiveSteps
from phloat.system.system import System

FIRST = 1e-3  # of the run: the first step that an adaptive run tries


@dataclass(frozen=True)
class Midpoint:
    """Implicit midpoint rule: second order, any step; fixed unless a tolerance is given.

    Newton's method iterates to round-off, which conserves energy and satisfies joints.

    Parameters
    ----------
    rtol : float, optional
        Makes the step adaptive: at t_end the error of each body is about rtol times its scale, and it may grow in proportion to
        time. The error is the root mean square over the mass of the body; its scale is its size (the root mean square distance of
        its mass from its centre) or its distance from its start, whichever is larger. Every step is compared with one of twice the
        size; the dt of `simulate` is only the first step. Unstable or chaotic motion amplifies this error too.
    atol : float
        Added to that error, m.
    newton : float, optional
        Newton's method stops when residuals are this fraction of their terms: faster, but energy then drifts by up to about this
        fraction in each step.

    Examples
    --------
    An arm on a torsion spring of natural frequency ½ Hz is at −0.1 rad after one second, and at rest:

    >>> arm = ph.RigidBody(mass=2.0, inertia=0.1 * np.eye(3), center=(0.5, 0.0, 0.0)).discretise()
    >>> joints = [ph.Revolute("ground", "arm.P", name="hinge"), ph.JointSpring("hinge", stiffness=0.6 * np.pi**2)]
    >>> swing = ph.connect({"arm": arm}, joints, plane="xy")
    >>> start = ph.place(swing, {"hinge.angle": 0.1})
    >>> result = ph.simulate(swing, start, t_end=1.0, scheme=ph.Midpoint(rtol=1e-5))
    >>> print(result["hinge.angle"][-1].round(5), result["arm.omega"][-1].round(4) + 0.0)
    -0.1 0.0
    """

    rtol: float | None = None
    atol: float = 0.0
    newton: float | None = None

    def __post_init__(self) -> None:
        if self.rtol is not None:
            positive("rtol", self.rtol)
        not_negative("atol", self.atol)
        _require_tolerance(self.newton)

    def run(self, task: Task) -> Result:
        if self.rtol is None and task.dt is None:
            raise InputError("the step is missing: give dt=…, or scheme=Midpoint(rtol=…) to let it adapt")
        run = KernelRun(task, tolerance=self.newton)
        dt = task.dt or FIRST * (task.t_end - task.t_0)
        return run_to_end(FixedSteps(run, dt) if self.rtol is None else AdaptiveSteps(run, dt, self.rtol, self.atol))


def _require_tolerance(newton: float | None) -> None:
    """Raises InputError if the tolerance of Newton's method is too large."""
    if newton is not None and positive("newton", newton) > 1e-3:
        raise InputError(f"newton={newton:g} is too large to solve a step; give 1e-8, or None for round-off")


# --- fourth order ----------------------------------------------------------------------------------------------------
#
# Fourth order by composition: the default step is symmetric in time, so five of them, one backwards, cancel its error.
#
#     h → (γ, γ, 1 − 4γ, γ, γ) h,   γ = 1/(4 − 4^⅓)                                                   (Suzuki)
#
# All invariants of the default step are preserved. Velocities at the nodes miss the joints by O(h²); positions are of order four.
# Dampers take energy in the four steps forward and give some back in the one backward; over a step they take, unless they are
# so strong that motion stops within it. The losses are checked after the run.


GAMMA = 1.0 / (4.0 - 4.0 ** (1.0 / 3.0))
FED = 1e-9  # of the largest energy: round-off of the losses between two outputs
PARTS = Substeps((GAMMA, GAMMA, 1.0 - 4.0 * GAMMA, GAMMA, GAMMA))


@dataclass(frozen=True)
class Composition4:
    """Fourth order in positions; each step consists of five midpoint steps; `newton` as in Midpoint.

    One of the five goes back in time, where dampers give energy back. A run in which a body or damper has fed more than it has
    taken between two outputs ends in an AccuracyError: the step is too long for such strong damping.
    """

    newton: float | None = None

    def __post_init__(self) -> None:
        _require_tolerance(self.newton)

    def run(self, task: Task) -> Result:
        if task.dt is None:
            raise InputError("the step is missing: give dt=…")
        damping = [f"{name}.servo" for name, servo in task.servos.items() if servo.damping and not servo.every]
        if unknown := next(iter([*_own_dampers(task.system), *damping]), ""):
            raise InputError(
                f"{unknown!r} is damped by a law of its own, and Composition4 takes steps back in time, where it may feed; "
                "use Midpoint"
            )
        return _require_losses(run_to_end(FixedSteps(KernelRun(task, tolerance=self.newton, parts=PARTS), task.dt)))


def _own_dampers(system: System) -> list[str]:
    """The elements whose damping is a function, as that of friction."""
    return [name for name, e in system.elements.items() if any(law.resists and law.function for law in e.laws)]


def _require_losses(result: Result) -> Result:
    """Raises AccuracyError if a body or damper has fed energy between two outputs, beyond round-off."""
    ledger = energy_ledger(result)
    largest = max(float(np.abs(line).max(initial=0.0)) for line in ledger.stored.values())
    for name, line in ledger.dissipated.items():
        fed = -float(np.diff(line).min(initial=0.0))
        if fed > FED * max(largest, float(np.abs(line).max())):
            raise AccuracyError(
                f"the damping of {name!r} has fed {fed:.2g} J between two outputs: it is too strong for this step of "
                "Composition4; take a smaller dt, or Midpoint"
            )
    return result


# --- fixed steps, from node to node ----------------------------------------------------------------------------------


CHUNK = 256  # steps between calls of the driver
SAMPLE_TOLERANCE = 1e-6  # of a step: a controller that is due so close to a node is called there


class FixedSteps(KernelStepper):
    """Steps of dt; the last is shorter if dt does not divide the time, and a step is divided at a sample within it."""

    adaptive = False

    def __init__(self, run: KernelRun, dt: float) -> None:
        super().__init__(run)
        if run.task.memory is not None:
            recall(run, run.task.memory)
        task, self.dt = run.task, dt
        self.nodes, self.node = self._resumed_nodes(task.memory or {})
        self.marks = OutputNodes(self.nodes, task.output)
        self.single = self.watched or task.controller is not None
        self.at_node = run.t - self.nodes.time(self.node) <= 1e-9 * dt

    def _resumed_nodes(self, memory: Mapping[str, np.ndarray]) -> tuple[TimeGrid, int]:
        """The grid of the run and its last node; a run that ended between two nodes continues with a grid from there."""
        task, near = self.run.task, 1e-9 * self.dt
        start, number = memory.get("grid", np.array([task.t_0, -1.0])).tolist()
        nodes = TimeGrid(start, task.t_end, self.dt)
        node = int(number) if number >= 0 else int(nodes.not_before(np.array([self.run.t - near]))[0])
        ended_between = nodes.time(node) - self.run.t > near
        return (TimeGrid(self.run.t, task.t_end, self.dt), 0) if ended_between else (nodes, node)

    def memory(self) -> Memory:
        return {**super().memory(), "grid": np.array([self.nodes.start, self.node], dtype=float)}

    def advance(self, limit: float) -> bool:
        if self.node >= self.nodes.last:
            return False
        if not self.single:  # many steps at once; the last one separately, as it may be shorter
            stop = min(self.node + CHUNK, max(self.nodes.last - 1, self.node + 1))
            self.run.step_through(self.nodes.within(self.node, stop), self.marks.within(self.node, stop) - self.node)
            self.node = stop
            return True
        run, near = self.run, SAMPLE_TOLERANCE * self.dt
        self.to = self.nodes.time(self.node + 1)
        self.begin_step()
        run.step_through(np.array([run.t, limit if run.t + near < limit < self.to - near else self.to]))
        self.end_step()
        return True

    def accept(self) -> None:
        if not self.single:
            return
        remaining = self.to - self.run.t
        self.at_node = remaining <= (1e-9 * abs(self.to - self.run.task.t_0) if self.watched else 0.0)
        if self.at_node:
            self.node += 1
            if self.node in self.marks:
                self.run.write_row()


# --- nodes of equal steps, and which of them are output ----------------------------------------------------------------


@dataclass(frozen=True)
class TimeGrid:
    """Times start + k dt up to the end; the last step is shorter if dt does not divide the time."""

    start: float
    end: float
    dt: float

    def __post_init__(self) -> None:
        require_steps(self.start, self.end, self.dt)

    @cached_property
    def last(self) -> int:
        """The number of the last node, which is the number of steps."""
        count = int(np.floor((self.end - self.start) / self.dt * (1 + 1e-12) + 1e-9))
        return count + 1 if self.end - (self.start + self.dt * count) > 1e-9 * self.dt else count

    def times(self, k: np.ndarray) -> np.ndarray:
        """The times of several nodes."""
        return np.where(k == self.last, self.end, self.start + self.dt * k)

    def time(self, k: int) -> float:
        """The time of a node."""
        return self.end if k == self.last else self.start + self.dt * k

    def within(self, first: int, last: int) -> np.ndarray:
        """The times of all nodes from the first to the last."""
        return self.times(np.arange(first, last + 1))

    def not_before(self, t: np.ndarray) -> np.ndarray:
        """The first nodes at or after these times; the number of nodes for times after the end."""
        k = np.clip(np.floor((np.asarray(t) - self.start) / self.dt).astype(np.int64) - 1, 0, self.last)
        for _ in range(3):
            k = k + ((k <= self.last) & (self.times(k) < t))
        return k


@dataclass(frozen=True, eq=False)
class OutputNodes:
    """The nodes that are output: every n-th and the last, or those around the output times."""

    nodes: TimeGrid
    output: int | np.ndarray

    @cached_property
    def around(self) -> np.ndarray:
        """Numbers of the nodes around the output times, ascending."""
        nodes, output = self.nodes, np.asarray(self.output)
        near = 1e-9 * float(np.diff(nodes.within(0, 1))[0])
        after = np.minimum(nodes.not_before(output - near), nodes.last)
        hit = np.abs(nodes.times(after) - output) < near
        return np.unique(np.clip(np.concatenate([after, after[~hit] - 1]), 0, nodes.last))

    def __contains__(self, k: int) -> bool:
        if isinstance(self.output, int):
            return k % self.output == 0 or k == self.nodes.last
        return k in self.around

    def within(self, first: int, last: int) -> np.ndarray:
        """Output nodes after the first node, up to the last."""
        if not isinstance(self.output, int):
            return self.around[slice(*np.searchsorted(self.around, [first, last], side="right"))]
        every = np.arange(self.output * (first // self.output + 1), last + 1, self.output)
        return every if last < self.nodes.last or self.nodes.last in every[-1:] else np.append(every, self.nodes.last)
