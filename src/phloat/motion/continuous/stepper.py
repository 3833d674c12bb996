"""Steppers that integrate F(t, y, ẏ) = 0: consistent initial values, dense output, output rows, and work of the inputs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from phloat.algebra.metadata import describe
from phloat.errors import ConvergenceError, InputError, unknown
from phloat.motion.continuous.flow import Flow
from phloat.motion.inputs.inputs import find_stops
from phloat.motion.result import Result
from phloat.motion.run.outputs import Outputs
from phloat.motion.run.run import Run
from phloat.motion.run.task import Dense, Memory, Stepper, Task
from phloat.system.state import State

AHEAD = 0.25  # of a step: length of the linear extrapolation of `look_ahead`
MASSES = ("full", "constant", "printed")  # mass matrices
MASS = describe("whether inertia depends on the deformation", choices=MASSES)


def require_mass_matrix(mass: str) -> None:
    """Raises InputError if `mass` is none of MASSES."""
    if mass not in MASSES:
        raise InputError(unknown("mass matrix", mass, MASSES))


@dataclass(frozen=True, eq=False)
class DenseStep:
    """One step: (y, works) at its end, and at any time within it."""

    start: float
    end: float
    last: tuple[np.ndarray, np.ndarray]
    within: Callable[[float], tuple[np.ndarray, np.ndarray]]

    def at(self, time: float) -> tuple[np.ndarray, np.ndarray]:
        return self.last if time == self.end else self.within(time)


class ContinuousStepper(Stepper):
    """A scheme that starts at a consistent (t, y, ẏ) and takes steps with dense output.

    `consistent_rates`: whether velocities satisfy the joints at the ends of steps.
    """

    consistent_rates: bool
    time: float  # the time of the scheme, which may be after an event
    resumable = False
    counted: tuple[str, ...] = ("steps", "iterations", "factorisations")  # for `info` of the result

    def __init__(self, task: Task, mass: str = "full") -> None:
        self.task, self.run = task, Run(task)
        self._require_loads_only()
        slaved = [name for name, body in task.system.bodies.items() if body.inertia.second is not None]
        if mass != "full" and slaved:
            raise InputError(
                f"the displacement of {slaved[0]!r} is quadratic in its coordinates (shortening='slaved'), for which mass={mass!r} "
                "is not defined; take mass='full', or shortening='coordinates'"
            )
        self.flow, self.mass = Flow(self.run, mass), mass
        self.neglected: list[np.ndarray] = []  # of each output row and body: the work that M without u_f misses
        dt = np.inf if self.adaptive or task.dt is None else task.dt
        self.at_node = not self.adaptive
        self.corners = find_stops(self.run.signals, task.t_0, task.t_end, task.corners, dt)
        self.start, self.accepted = task.t_0, 0
        self.counts = dict.fromkeys(self.counted, 0)
        self.output_times = [] if isinstance(task.output, int) else [float(x) for x in task.output if x > task.t_0]

    def _require_loads_only(self) -> None:
        """Raises InputError if the controller drives a joint: the velocities of drives must be continuous."""
        joints = self.task.system.joints
        for name in self.run.controlled():
            if name in joints and joints[name].driven:
                raise InputError(
                    f"{self.name} cannot follow the jumps of a controller that drives {name!r}; use Midpoint()"
                )

    # --- the scheme --------------------------------------------------------------------------------------------------

    @abstractmethod
    def begin(self, time: float, y: np.ndarray, yd: np.ndarray, works: np.ndarray) -> None:
        """Starts at a consistent (t, y, ẏ), with the work done up to that time."""

    @abstractmethod
    def step(self, limit: float) -> DenseStep:
        """The next step, at most to the limit."""

    def step_failure(self, why: str, cure: str = "give larger tolerances, or use Midpoint()") -> ConvergenceError:
        """The ConvergenceError to raise when a scheme cannot continue."""
        return ConvergenceError(
            f"{self.name} cannot go on at t = {self.time:g} s: {why}; look at the motion before (it is in `result` of this "
            f"error), {cure}"
        )

    # --- the driver --------------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Starts at the start of the task and writes the first row."""
        model = self.run.packed.model
        self._begin(self.flow.start(), np.zeros(2 * (len(model.entries) + len(model.bodies))))
        self.write_row()

    def _begin(self, y: np.ndarray, works: np.ndarray) -> None:
        """Starts at the current time with consistent multipliers and rates."""
        y, self.rates = self.flow.consistent(self.run.t, y)
        self.current = y, works
        self.begin(self.run.t, y, self.rates, works)

    def advance(self, limit: float) -> bool:
        if self.run.t >= self.task.t_end:
            return False
        try:
            self.dense = self.step(limit)
        except ConvergenceError as error:
            raise ConvergenceError(str(error), self.result()) from None
        self.start = self.dense.start
        self.move_to(self.dense.end)
        return True

    def move_to(self, time: float) -> None:
        self.run.t, self.current = time, self.dense.at(time)

    def accept(self) -> None:
        run, end = self.run, self.run.t
        self.accepted += 1
        if run.turns is not None:
            self.flow.state(self.flow.inputs(end), self.current[0])  # writes y to the buffers of the run
            run.count_turns()
        while self.output_times and self.output_times[0] <= end:
            run.t = self.output_times.pop(0)
            self._write(*self.dense.at(run.t))
        run.t = end
        cut = end != self.dense.end
        if end >= self.task.t_end:
            self.write_row()
        elif not cut and isinstance(self.task.output, int) and self.accepted % self.task.output == 0:
            self._write(*self.current, closed=self.consistent_rates)
        if self.adaptive and end in self.corners.breaks and not cut:
            self.restart()

    def restart(self, state: State | None = None) -> None:
        y, works = self.current
        y = y if state is None else self.flow.reload(state)
        self._begin(self.flow.close_joints(self.flow.inputs(self.run.t), y), works)

    def look_ahead(self, h: float) -> Dense | None:
        time, (y, _), yd = self.run.t, self.current, self.rates
        return lambda x: (time + x * AHEAD * h, self._outputs(time + x * AHEAD * h, y + x * AHEAD * h * yd))

    # --- states and rows ---------------------------------------------------------------------------------------------

    def _state(self, time: float, y: np.ndarray) -> State:
        """The state for a controller or an event, with joints closed to round-off."""
        s = self.flow.inputs(time)
        return self.flow.state(s, self.flow.close_joints(s, y))

    def _outputs(self, time: float, y: np.ndarray) -> Outputs:
        return Outputs(self.task.system, self._state(time, y))

    def state(self) -> State:
        return self._state(self.run.t, self.current[0])

    def outputs(self) -> Outputs:
        return self._outputs(self.run.t, self.current[0])

    def interpolate(self, x: float) -> Outputs:
        time = self.dense.start + x * (self.dense.end - self.dense.start)
        return self._outputs(time, self.dense.at(time)[0])

    def write_row(self) -> None:
        self._write(*self.current)

    def change(self, before: State, after: State) -> tuple[State, float]:
        after, change = super().change(before, after)
        return after, change + self._excess(after) - self._excess(before)

    def _excess(self, state: State) -> float:
        """The kinetic energy with a constant mass matrix, less that with M(η)."""
        total = 0.0
        for name, body in self.task.system.bodies.items() if self.mass != "full" else ():
            pose = state.pose(name)
            w = np.concatenate([pose.v_P, pose.omega, pose.rates])
            total += 0.5 * float(w @ (body.inertia.at_rest() @ w - body.inertia.at(pose.eta).M @ w))
        return total

    def _write(self, y: np.ndarray, works: np.ndarray, *, closed: bool = False) -> None:
        """Writes a row; `closed`: joints are closed already, to the tolerance of the scheme."""
        run, flow = self.run, self.flow
        if run.rows.t and run.rows.t[-1] == run.t:
            return
        s = flow.inputs(run.t)
        self.neglected.append(works[-len(self.task.system.bodies) :])
        run.add_row(*flow.snapshot(run.t, s, y if closed else flow.close_joints(s, y), works))

    def memory(self) -> Memory:
        raise NotImplementedError(f"runs of {self.name} cannot be resumed")

    def result(self, count: int | None = None) -> Result:
        n, flow = self.run.rows.count if count is None else count, self.flow
        info = {**self.counts, "evaluations": flow.evaluations, "jacobians": flow.jacobians}
        result = self.run.result_of(n, self.run.rows.lam[:n], info)
        return result if self.mass != "constant" else self._with_neglected_work(result, np.array(self.neglected[:n]))

    def _with_neglected_work(self, result: Result, works: np.ndarray) -> Result:
        """The result with one account more for each flexible body: what the neglected dependence of M on u_f supplies."""
        flexible = [i for i, body in enumerate(result.system.bodies.values()) if body.coordinates]
        names, accounts = list(result.system.bodies), result.accounts
        assert accounts is not None
        lines = np.stack([np.zeros_like(works[:, flexible]), works[:, flexible]], axis=2)
        more = replace(
            accounts,
            names=(*accounts.names, *(f"{names[i]}.constant mass" for i in flexible)),
            works=np.concatenate([accounts.works, lines], axis=1),
            springs=np.pad(accounts.springs, ((0, 0), (0, len(flexible)))),
        )
        return replace(result, accounts=more)
