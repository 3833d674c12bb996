"""The loop of a run from its start to its end: steps, controller, events and saving."""

from __future__ import annotations

import numpy as np

from phloat.errors import InputError
from phloat.motion.result import Result
from phloat.motion.run.events import EventSearch
from phloat.motion.run.run import Run
from phloat.motion.run.task import Stepper

NEAR = 1e-12  # of the duration of a run: a sample, a corner or the end so near counts as reached


def run_to_end(stepper: Stepper) -> Result:
    """Runs the task of a stepper to its end, or to an event that stops it."""
    run: Run = stepper.run
    task = run.task
    if stepper.adaptive and task.controller is not None and run.due == np.inf:
        raise InputError(
            f"{stepper.name} chooses its steps itself, so a controller needs its sample time: every=…, or "
            "Sampled(controller, every=…)"
        )
    events = EventSearch(stepper, task.memory or {}) if task.events else None
    while True:
        _call_controller(stepper)
        if not stepper.advance(_limit(stepper)):
            break
        group = None if events is None else events.find()
        if events is None or group is None:
            stepper.accept()
        elif not events.act(*group):
            break
        task.progress(run.t, run.residual)
        _save(stepper, events)
    if not task.unstable:
        run.samples.warn_if_unstable()
    _save(stepper, events, at_end=True)
    return stepper.result()


def _call_controller(stepper: Stepper) -> None:
    """Calls the controller if its sample time has come."""
    run, task = stepper.run, stepper.run.task
    if task.controller is None:
        return
    near = NEAR * (task.t_end - task.t_0)
    due = stepper.at_node or run.t >= run.due - 1e-9 * (task.every or 0.0) - near
    if due and task.t_end - run.t > near:
        before = run.last_sample
        run.control(stepper.outputs())
        if stepper.adaptive and run.last_sample != before:
            stepper.restart()


def _limit(stepper: Stepper) -> float:
    """The next time at which a step must end: the end, a corner of an input, a sample of the controller."""
    run, task = stepper.run, stepper.run.task
    near, due = NEAR * (task.t_end - task.t_0), run.due
    limit = min(stepper.corners.after(run.t + near), due if due > run.t + near else np.inf)
    return limit if limit < task.t_end - near else task.t_end


def _save(stepper: Stepper, events: EventSearch | None, *, at_end: bool = False) -> None:
    """Passes rows and memory to the recorder if it is due; the last row is retained, because its λ is not complete."""
    recorder, rows = stepper.run.task.recorder, stepper.run.rows
    if (
        recorder is None
        or not stepper.resumable
        or not (at_end or recorder.due(8 * rows.count * rows.numbers.shape[1]))
    ):
        return
    count = rows.count - 1
    finished = stepper.result(count)
    rows.drop(count)
    recorder.piece(finished, {**stepper.memory(), **({} if events is None else events.memory())})
