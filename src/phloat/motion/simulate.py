"""Motion: one verb for all schemes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

import numpy as np

from phloat.algebra.threads import one_thread
from phloat.errors import ConvergenceError, InputError, finite, finite_row, positive
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.time.march import LinearOutputs, LinearResult, march
from phloat.motion.deformation import watched, watched_linear
from phloat.motion.initial.velocities import agreed, closed_or_said, repeated_rows, velocity_rows
from phloat.motion.inputs.inputs import Inputs, given_inputs
from phloat.motion.law_ranges import warn_of_ranges
from phloat.motion.result import Result, at_times
from phloat.motion.run.events import Event
from phloat.motion.run.nodes import on_time_or_said
from phloat.motion.run.progress import bar
from phloat.motion.run.task import Begins, Controller, Scheme, Task
from phloat.motion.saving.files import held
from phloat.motion.saving.record import begun
from phloat.motion.saving.saved import Description
from phloat.motion.schemes.midpoint import Composition4, Midpoint
from phloat.system.state import State
from phloat.system.system import System, fits

LinearController = Callable[[float, LinearOutputs], Mapping[str, object]]


@overload
def simulate(
    system: LinearPHDAE,
    state: Mapping[str, object] | np.ndarray | None = None,
    t_end: float = ...,
    *,
    dt: float,
    u: Mapping[str, object] | Inputs | None = None,
    controller: LinearController | Begins | None = None,
    every: float | None = None,
    output: int | Sequence[float] | np.ndarray = 1,
    t_start: float = 0.0,
) -> LinearResult: ...


@overload
def simulate(
    system: System,
    state: State,
    t_end: float,
    *,
    dt: float | None = None,
    u: Mapping[str, object] | Inputs | None = None,
    controller: Controller | Begins | None = None,
    every: float | None = None,
    scheme: Scheme = Midpoint(),
    output: int | Sequence[float] | np.ndarray = 1,
    events: Sequence[Event] = (),
    t_start: float = 0.0,
    progress: bool | None = None,
    save: str | Path | None = None,
    threads: int = 1,
    corners: Sequence[float] | np.ndarray = (),
) -> Result: ...


def simulate(
    system: System | LinearPHDAE,
    state: State | Mapping[str, object] | np.ndarray | None = None,
    t_end: float | None = None,
    *,
    dt: float | None = None,
    u: Mapping[str, object] | Inputs | None = None,
    controller: Controller | LinearController | Begins | None = None,
    every: float | None = None,
    scheme: Scheme = Midpoint(),
    output: int | Sequence[float] | np.ndarray = 1,
    events: Sequence[Event] = (),
    t_start: float = 0.0,
    progress: bool | None = None,
    save: str | Path | None = None,
    threads: int = 1,
    corners: Sequence[float] | np.ndarray = (),
) -> Result | LinearResult:
    """The motion from a state at t_start to t_end.

    `u` {port: constant | (times, values) | f(t) | piecewise(…) | position(f)} are the inputs; `controller(t, y)` returns more of
    them, at every step or `every` so many seconds; or it is a controller of this library, as passive_pid(…). `output` keeps every
    so many steps, or the state at the given times.
    `events` stop the run or change the state. The state must close the joints (place) and its velocities agree with them
    and with the drives (set_moving). `save` is a fresh folder that the run is written to as it goes: `load_run` opens it at any
    time, `resume` goes on from where it was cut short. `threads` share the bodies of a step, which pays from some hundred
    flexible bodies on and where as many cores are free; the numbers are the same, bit for bit. `corners` are times at which
    inputs given as functions have corners or pulses shorter than 1/8000 of the run: steps that a scheme chooses end there, as
    they do at the corners of tables and of piecewise(…).

    A `LinearPHDAE` takes equal steps of the midpoint rule from rows given by name, as a vector, or from rest; it has no use for
    events, other schemes and saving.
    """
    if isinstance(system, LinearPHDAE):
        unused = {
            "scheme": scheme != Midpoint(),
            "events": bool(events),
            "save": save is not None,
            "threads": threads != 1,
            "corners": len(corners) > 0,
        }
        wrong = [name for name, given in unused.items() if given]
        return _linear(system, state, t_start, t_end, dt, u, output, controller, every, wrong)
    state = fits(system, state)
    start, end = float(finite("t_start", t_start, ())), float(finite("t_end", t_end, ()))
    if not end > start:
        raise InputError(f"t_end = {end:g} s is not after the start at t = {start:g} s")
    if dt is not None and positive("dt", dt) > end - start:
        raise InputError(f"dt = {dt:g} s is longer than the run of {end - start:g} s")
    _checked(controller, every)
    system, asked = _begun(system, controller, dt if scheme == Midpoint() else None)
    inputs = given_inputs(system, u)
    closed_or_said(system, state)
    rows = velocity_rows(system, state)
    state = agreed(system, state, inputs.at(start), rows)
    task = Task(
        system,
        state,
        start,
        end,
        dt,
        inputs,
        output=_output(output, start, end),
        controller=asked,
        every=every,
        events=_listed(events),
        dropped=repeated_rows(system, state, rows[0]),
        progress=bar(start, end, progress),
        threads=shared_by(threads, scheme),
        corners=tuple(finite_row("corners", corners).tolist()) if len(corners) else (),
    )
    if not callable(getattr(scheme, "run", None)) or isinstance(scheme, type):
        raise InputError(f"scheme is {scheme!r}; it must be one of the schemes with its options, such as Midpoint()")
    for event in task.events:
        if not isinstance(event, Event):
            raise InputError(f"one of the events is {event!r}; write Event(when=…, do=…)")
    if save is None:
        return run(task, scheme)
    with held(Path(save)):
        recorder = begun(save, system, state.e, said(task, scheme), task.output)
        return run(replace(task, recorder=recorder), scheme)


def _linear(
    system: LinearPHDAE,
    state: State | Mapping[str, object] | np.ndarray | None,
    t_start: float,
    t_end: float | None,
    dt: float | None,
    u: Mapping[str, object] | Inputs | None,
    output: object,
    controller: Any,
    every: float | None,
    unused: Sequence[str],
) -> LinearResult:
    if unused:
        raise InputError(f"a linear system takes no {', '.join(unused)}; connect a System")
    if isinstance(state, State):
        raise InputError(
            "a linear system starts from rows: {name: values}, a vector, or None for rest; not from a State"
        )
    start, end = float(finite("t_start", t_start, ())), float(finite("t_end", t_end, ()))
    if not end > start:
        raise InputError(f"t_end = {end:g} s is not after the start at t = {start:g} s")
    if dt is None:
        raise InputError(
            "give dt: a linear system takes equal steps, some 20 to a period of the fastest mode of interest"
        )
    _checked(controller, every)
    step = (end - start) / np.ceil((end - start) / positive("dt", dt) * (1 - 1e-9))  # as march has it
    if every is not None:
        on_time_or_said("sample time", every, step)
    if isinstance(controller, Begins):
        system, controller = controller.begun(system, step)
    result = march(
        system,
        state,
        given_inputs(system, u),
        t_0=start,
        t_end=end,
        dt=dt,
        output=_output(output, start, end),
        controller=controller,
        every=every,
    )
    return replace(result, info={"deformation": watched_linear(result)})


def _begun(system: System, controller: Any, dt: float | None) -> tuple[System, Controller | None]:
    """What a run asks for inputs: a function as it is, a controller of this library afresh."""
    return controller.begun(system, dt) if isinstance(controller, Begins) else (system, controller)


def _checked(controller: object, every: float | None) -> None:
    if controller is not None and not callable(controller) and not isinstance(controller, Begins):
        raise InputError(f"controller is {controller!r}; it must be a function f(t, y) that returns {{port: value}}")
    if every is not None and controller is None:
        raise InputError("every= is the sample time of a controller, and there is none; output= thins the results")
    if every is not None and isinstance(controller, Begins):
        raise InputError("this controller has its own time; give the sample time as Sampled(controller, every=…)")
    if every is not None:
        positive("every", every)


def shared_by(threads: object, scheme: Scheme) -> int:
    """How many threads share a step, or a sentence."""
    if not isinstance(threads, (int, np.integer)) or isinstance(threads, bool) or threads < 1:
        raise InputError(f"threads={threads!r}: it must be 1 or more")
    if threads > 1 and not isinstance(scheme, (Midpoint, Composition4)):
        raise InputError(
            f"threads share the steps of Midpoint and Composition4, not those of {type(scheme).__name__}; leave threads out"
        )
    return int(threads)


def _listed(events: object) -> tuple[Event, ...]:
    if not isinstance(events, (list, tuple)):
        raise InputError(f"events is {type(events).__name__}; it must be a list: [Event(…), …]")
    return tuple(events)


def _output(output: object, start: float, end: float) -> int | np.ndarray:
    if isinstance(output, (int, np.integer)) and not isinstance(output, bool):
        if output < 1:
            raise InputError(f"output={output}: it must be 1 or more, to keep every so many steps")
        return int(output)
    times = (
        np.asarray(output)
        if not isinstance(output, (list, tuple)) or all(np.ndim(x) == 0 for x in output)
        else np.zeros(0)
    )
    if times.dtype.kind not in "biuf" or times.ndim != 1 or not len(times):
        raise InputError(f"output is {output!r}; it must be a number of steps or a row of times")
    times = times.astype(float)
    if not np.isfinite(times).all() or np.any(np.diff(times) <= 0) or times[0] < start or times[-1] > end:
        raise InputError(f"output times must ascend and lie between {start:g} and {end:g} s")
    return times


@one_thread()
def run(task: Task, scheme: Scheme) -> Result:
    """The motion of a task; through its recorder, if it has one."""
    recorder = task.recorder
    try:
        result = scheme.run(task)
    except BaseException as error:
        task.progress(np.inf, None)
        if recorder is not None and isinstance(error, ConvergenceError) and isinstance(error.result, Result):
            error.result = recorder.ended(error.result, finished=False)
        elif recorder is not None and not recorder.pieces:
            recorder.where.emptied()  # nothing is lost, and the folder is free again
        raise
    task.progress(np.inf, None)
    warn_of_ranges(result.info)
    info = result.info
    if recorder is not None:
        result = recorder.ended(result)
    else:
        result = replace(result, info={**info, "scheme": scheme_said(scheme), "dt": task.dt})
    result = replace(result, info={**result.info, "deformation": watched(result)})
    if recorder is not None:
        recorder.say(True, {**info, "deformation": result.info["deformation"]})
    return result if isinstance(task.output, int) else at_times(result, task.output)


def scheme_said(scheme: Scheme) -> Description:
    """A scheme by its name and its numbers."""
    return {"name": type(scheme).__name__, **vars(scheme)}


def said(task: Task, scheme: Scheme) -> Description:
    """A task in words and numbers, without the functions of it."""
    return {
        "t_0": task.t_0,
        "t_end": task.t_end,
        "dt": task.dt,
        "output": task.output if isinstance(task.output, int) else None,
        "every": task.every,
        "inputs": list(task.inputs.signals),
        "controller": task.controller is not None,
        "events": [event.name for event in task.events],
        "scheme": scheme_said(scheme),
    }
