"""From the start to the end of a task in fixed steps, controllers and events on the way."""

from __future__ import annotations

import numpy as np

from phloat.motion.run.keeping import keep, recalled
from phloat.motion.run.nodes import Marks, Nodes
from phloat.motion.run.runner import Runner
from phloat.motion.run.watch import Watch

CHUNK = 256  # steps between looks at the clock
NEAR = 1e-6  # of a step: a controller that is due so near a node is asked there


def fixed(runner: Runner, dt: float) -> None:
    """Steps of dt; the last one is shorter where dt does not divide the time, one is cut where a sample lies within it."""
    task, memory = runner.task, recalled(runner)
    nodes = Nodes(task.t_0, task.t_end, dt)
    at = nodes.not_before(np.array([runner.t - 1e-9 * dt]))
    k = int(at[0])
    if nodes.at(at)[0] - runner.t > 1e-9 * dt:  # a run that ended between nodes goes on
        nodes, k = Nodes(runner.t, task.t_end, dt), 0
    marks = Marks(nodes, task.output)
    watch = Watch(runner, memory) if task.events else None
    single = task.controller is not None or watch is not None
    last = nodes.last
    while k < last:
        if task.controller is not None:
            runner.control(runner.outputs())
        stop = min(k + (1 if single else CHUNK), last)
        if stop == last and stop > k + 1:
            stop -= 1  # the last one by itself: it may be shorter
        times, wanted = nodes.within(k, stop), marks.within(k, stop)
        if single:
            if not _to(runner, times[1], dt, watch):
                break
        else:
            runner.go(times, wanted - k)
        if single and len(wanted):
            runner.snap()
        k = stop
        task.progress(runner.t, runner.missing)
        keep(runner, {} if watch is None else watch.memory())
    keep(runner, {} if watch is None else watch.memory(), now=True)


def _to(runner: Runner, to: float, dt: float, watch: Watch | None) -> bool:
    """A step to the next node, in parts where the controller is due before it; False where an event stops the run."""
    near = NEAR * dt
    while True:
        due = runner.due
        stop = due if runner.t + near < due < to - near else to
        if watch is None:
            runner.go(np.array([runner.t, stop]))
        elif not watch.step(stop):
            return False
        if stop == to:
            return True
        runner.control(runner.outputs())
