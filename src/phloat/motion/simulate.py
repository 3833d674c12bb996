"""Simulation of systems, nonlinear or linear."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np

from phloat.algebra.threads import one_thread
from phloat.algebra.units import si_value
from phloat.errors import ConvergenceError, InputError, finite, finite_row, positive, whole_number
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.time.gauss import GaussLegendre
from phloat.linear.time.march import LinearResult, march
from phloat.linear.time.step import LinearScheme
from phloat.linear.time.stepper import LinearOutputs
from phloat.linear.time.verlet import StormerVerlet
from phloat.motion.deformation import check_linear_run, check_run
from phloat.motion.initial.velocities import consistent_state, redundant_rows, require_closed, velocity_rows
from phloat.motion.inputs.inputs import Inputs, as_inputs
from phloat.motion.law_ranges import warn_of_ranges
from phloat.motion.result import Result, at_times
from phloat.motion.run.controllers import controller_list, start_controllers, warn_of_saturation
from phloat.motion.run.events import EventSearch
from phloat.motion.run.progress import progress_bar
from phloat.motion.run.task import Controller, Event, LibraryController, Scheme, Task, warn_if_late
from phloat.motion.saving.files import locked
from phloat.motion.schemes.midpoint import Composition4, Midpoint
from phloat.system.state import State, constant_state
from phloat.system.system import System, fits

if TYPE_CHECKING:
    from phloat.motion.saving.folder import Description

LinearController = Callable[[float, LinearOutputs], Mapping[str, object]]


@overload
def simulate(
    system: LinearPHDAE,
    state: Mapping[str, object] | np.ndarray | None = None,
    t_end: float = ...,
    *,
    dt: float,
    u: Mapping[str, object] | Inputs | None = None,
    controller: LinearController | LibraryController | None = None,
    every: float | None = None,
    scheme: LinearScheme | Midpoint = Midpoint(),
    output: int | Sequence[float] | np.ndarray = 1,
    events: Sequence[Event] = (),
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
    controller: Controller | LibraryController | Sequence[Any] | None = None,
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
    controller: Controller | LinearController | LibraryController | Sequence[Any] | None = None,
    every: float | None = None,
    scheme: Scheme | LinearScheme = Midpoint(),
    output: int | Sequence[float] | np.ndarray = 1,
    events: Sequence[Event] = (),
    t_start: float = 0.0,
    progress: bool | None = None,
    save: str | Path | None = None,
    threads: int = 1,
    corners: Sequence[float] | np.ndarray = (),
) -> Result | LinearResult:
    """Simulate the motion from a state at t_start to t_end.

    Parameters
    ----------
    system : System or LinearPHDAE
        A `LinearPHDAE` takes equal steps, without saving.
    state : State
        The initial state: joints are closed (`place`), and velocities agree with joints and drives (`set_moving`).
        Of a `LinearPHDAE`: its rows {name: values}, a vector, or None for rest.
    t_end, t_start, dt : float
        End and start of the run and its step, s. Schemes that choose their steps need no dt.
    u : dict, optional
        Inputs {port: constant | (times, values) | f(t) | piecewise(…) | prescribed_position(f)}, in N and N m; of drives in m/s
        and rad/s.
    controller : callable or controller, or a list of them, optional
        A function f(t, y) that returns more inputs {port: value}, y the outputs by name; or a controller of this library, as
        servo(…) or passive_pid(…).
    every : float, optional
        Time between calls of a controller function, s; by default every step. Schemes that choose their steps need it.
    scheme : scheme
        `Midpoint()`, `Composition4()`, `GeneralisedAlpha()`, `RadauIIA()` or `IDA()`; of a `LinearPHDAE` `Midpoint()`,
        `GaussLegendre(stages=…)` or `StormerVerlet()`.
    output : int or sequence of float
        Output at every n-th step, or at these times.
    events : sequence of Event
        Zero crossings that stop the run or change the state.
    progress : bool, optional
        Whether to show a progress bar; by default in a terminal or a notebook.
    save : path, optional
        A new folder to which the run is written while it runs. `io.load_result` opens it at any time, `resume` continues it.
    threads : int
        Threads that share the bodies of a step. They are worthwhile from some hundred flexible bodies on, if as many cores are
        free; results are the same, bit for bit.
    corners : sequence of float
        Times at which inputs that are functions have corners, or pulses shorter than 1/8000 of the run. Steps that a scheme chooses
        end there, as they do at the corners of tables and of piecewise(…).

    Returns
    -------
    Result or LinearResult
        Quantities by name with time first, `result["body.theta"]`, at the times `result.t`.

    Raises
    ------
    ConvergenceError
        A step does not converge, even when halved; `result` of the error has the motion up to there.

    Examples
    --------
    >>> arm = ph.RigidBody(mass=2.0, inertia=0.1 * np.eye(3), center=(0.5, 0.0, 0.0)).discretise()
    >>> hinge = ph.Revolute("ground", "arm.P", name="hinge")
    >>> pendulum = ph.connect({"arm": arm}, [hinge], gravity=(0.0, -9.81, 0.0), plane="xy")
    >>> result = ph.simulate(pendulum, ph.place(pendulum), t_end=1.0, dt=0.01)
    >>> result["arm.theta"].shape, result["hinge.lam"].shape
    ((101,), (101, 2))
    >>> bool(ph.energy_ledger(result).relative < 1e-10)
    True
    """
    t_start, t_end, dt = (si_value(n, x, ("time",)) for n, x in (("t_start", t_start), ("t_end", t_end), ("dt", dt)))
    start, end = float(finite("t_start", t_start, ())), float(finite("t_end", t_end, ()))
    if not end > start:
        raise InputError(f"t_end = {end:g} s is not after the start at t = {start:g} s")
    _require_controller(controller, every)
    if isinstance(system, LinearPHDAE):
        unsupported = {"save": save, "threads": threads != 1, "corners": len(corners)}
        if unused := [name for name, value in unsupported.items() if value]:
            raise InputError(f"a linear system takes no {', '.join(unused)}; leave that out, or connect a System")
        times = {"t_0": start, "t_end": end, "dt": dt, "output": _output(output, start, end), "every": every}
        options = {"scheme": _linear_scheme(scheme), **_linear_events(events)}
        return _simulate_linear(system, state, u, controller, times | options)
    nonlinear_scheme = _nonlinear_scheme(scheme)
    state = constant_state(fits(system, state))  # so that ports are evaluated once
    if dt is not None and positive("dt", dt) > end - start:
        raise InputError(f"dt = {dt:g} s is longer than the run of {end - start:g} s")
    step = dt if nonlinear_scheme == Midpoint() else None
    started = start_controllers(
        system, state, as_inputs(system, u), controller, every, (start, end, dt), step, simulate
    )
    system, inputs = started.system, started.inputs
    require_closed(system, state)
    rows = velocity_rows(system, state)
    state = consistent_state(system, state, inputs.at(start), rows)
    task = Task(
        *(system, state, start, end, dt, inputs),
        output=_output(output, start, end),
        controller=started.function,
        every=started.every,
        servos=started.servos,
        unstable=started.unstable,
        events=event_tuple(events),
        dropped=redundant_rows(system, state, rows[0]),
        progress=progress_bar(start, end, progress),
        threads=require_threads(threads, nonlinear_scheme),
        corners=tuple(finite_row("corners", corners).tolist()) if len(corners) else (),
    )
    if save is None:
        return run_task(task, nonlinear_scheme)
    from phloat.motion.saving.recorder import start_recording  # it imports the format of model files

    with locked(Path(save)):
        recorder = start_recording(save, system, state.e, describe_task(task, nonlinear_scheme), task.output)
        return run_task(replace(task, recorder=recorder), nonlinear_scheme)


def _nonlinear_scheme(scheme: object) -> Scheme:
    """The scheme of a System. Raises InputError if it is none."""
    if isinstance(scheme, GaussLegendre | StormerVerlet):
        raise InputError(f"{scheme!r} is for linear systems; take Midpoint(), or simulate linearise(system, state)")
    if not callable(getattr(scheme, "run", None)) or isinstance(scheme, type):
        raise InputError(f"scheme is {scheme!r}; it must be one of the schemes with its options, such as Midpoint()")
    return cast(Scheme, scheme)


def _linear_scheme(scheme: object) -> LinearScheme:
    """The scheme of a linear system. Raises InputError if it is none."""
    if scheme == Midpoint():
        return GaussLegendre(1)
    if not callable(getattr(scheme, "solver", None)) or isinstance(scheme, type):
        raise InputError(
            f"scheme is {scheme!r}; a linear system takes equal steps of Midpoint(), GaussLegendre(stages=…) or StormerVerlet()"
        )
    return cast(LinearScheme, scheme)


def _linear_events(events: object) -> dict[str, Any]:
    """The options of `march` for events."""
    events = event_tuple(events)
    return {"events": events, "search": (lambda run: EventSearch(run, {})) if events else None}


def _simulate_linear(
    system: LinearPHDAE,
    state: State | Mapping[str, object] | np.ndarray | None,
    u: Mapping[str, object] | Inputs | None,
    controller: Any,
    times: dict[str, Any],
) -> LinearResult:
    if isinstance(state, State):
        raise InputError(
            "a linear system starts from rows {name: values}, a vector, or None for rest; not from a State"
        )
    if times["dt"] is None:
        raise InputError(
            "give dt: a linear system takes equal steps, some 20 to a period of the fastest mode of interest"
        )
    span = times["t_end"] - times["t_0"]
    step = span / np.ceil(span / positive("dt", times["dt"]) * (1 - 1e-9))  # as in march
    if times["every"] is not None:
        warn_if_late("sample time", times["every"], step)
    if isinstance(controller, (list, tuple)):
        raise InputError("a linear system takes one controller; combine passive ones with combine_controllers(…)")
    if isinstance(controller, LibraryController):
        system, controller = controller.start_run(system, step)
    result = march(system, state, as_inputs(system, u), controller=controller, **times)
    info = {"scheme": describe_scheme(times["scheme"]), "deformation": check_linear_run(result)}
    return replace(result, info=info)


def _require_controller(controller: object, every: float | None) -> None:
    """Raises InputError if a controller is not callable, or if a sample time is given without need."""
    controllers = controller_list(controller)
    for c in controllers:
        if not callable(c) and not isinstance(c, LibraryController):
            raise InputError(f"controller is {c!r}; it must be a function f(t, y) that returns {{port: value}}")
    if every is not None and not controllers:
        raise InputError("every= is the sample time of a controller, and there is none; output= thins the results")
    if every is not None and all(isinstance(c, LibraryController) for c in controllers):
        raise InputError("this controller has its own time; give the sample time as Sampled(controller, every=…)")
    if every is not None:
        positive("every", every)


def require_threads(threads: object, scheme: Scheme) -> int:
    """The number of threads; raises InputError if the scheme cannot share its steps."""
    count = whole_number("threads", threads, 1)
    if count > 1 and not isinstance(scheme, (Midpoint, Composition4)):
        raise InputError(
            f"threads share the steps of Midpoint and Composition4, not those of {type(scheme).__name__}; leave threads out"
        )
    return count


def event_tuple(events: object) -> tuple[Event, ...]:
    if not isinstance(events, (list, tuple)) or not all(isinstance(event, Event) for event in events):
        raise InputError(f"events is {events!r}; it must be a list: [Event(when=…, do=…), …]")
    return tuple(events)


def _output(output: object, start: float, end: float) -> int | np.ndarray:
    if isinstance(output, (int, np.integer)) and not isinstance(output, bool):
        if output < 1:
            raise InputError(f"output={output}: it must be 1 or more, to keep every so many steps")
        return int(output)
    ragged = isinstance(output, (list, tuple)) and any(np.ndim(x) for x in output)
    times = np.zeros(0) if ragged else np.asarray(output)
    if times.dtype.kind not in "biuf" or times.ndim != 1 or not len(times):
        raise InputError(f"output is {output!r}; it must be a number of steps or a row of times")
    times = times.astype(float)
    if not np.isfinite(times).all() or np.any(np.diff(times) <= 0) or times[0] < start or times[-1] > end:
        raise InputError(f"output times must ascend and lie between {start:g} and {end:g} s")
    return times


@one_thread()
def run_task(task: Task, scheme: Scheme) -> Result:
    """Runs a task, with warnings and checks; through its recorder, if it has one."""
    recorder = task.recorder
    try:
        result = scheme.run(task)
    except BaseException as error:
        if recorder is not None and isinstance(error, ConvergenceError) and isinstance(error.result, Result):
            error.result = recorder.finish(error.result, finished=False)
        elif recorder is not None and not recorder.pieces:
            recorder.folder.clear()  # nothing has been saved: empty the folder
        raise
    finally:
        task.progress(np.inf, None)
    result = replace(result, servos=task.servos)
    info = result.info
    if "ranges" in info:
        warn_of_ranges(info)
    warn_of_saturation(result, task.servos)
    if recorder is not None:
        result = replace(recorder.finish(result), servos=task.servos)
    else:
        result = replace(result, info={**info, "scheme": describe_scheme(scheme), "dt": task.dt})
    result = replace(result, info={**result.info, "deformation": check_run(result)})
    if recorder is not None:
        recorder.describe(True, {**info, "deformation": result.info["deformation"]})
    return result if isinstance(task.output, int) else at_times(result, task.output)


def describe_scheme(scheme: Scheme | LinearScheme) -> Description:
    """The name and the options of a scheme."""
    return {"name": type(scheme).__name__, **vars(scheme)}


def describe_task(task: Task, scheme: Scheme) -> Description:
    """A task as it is saved, without its functions."""
    output = task.output if isinstance(task.output, int) else None
    times = {"t_0": task.t_0, "t_end": task.t_end, "dt": task.dt, "output": output, "every": task.every}
    named = {"inputs": list(task.inputs.signals), "controller": task.controller is not None}
    return times | named | {"events": [event.name for event in task.events], "scheme": describe_scheme(scheme)}
