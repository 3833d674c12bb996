"""Many runs of a system whose parameters vary: on all cores or a cluster, with results in memory or on disk."""

from __future__ import annotations

import functools
import hashlib
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from phloat.errors import InputError, whole_number
from phloat.many.parametric_run import Parametric, ParametricRun, Start
from phloat.many.pickling import global_names, installed
from phloat.many.results import Ensemble
from phloat.many.samples import Key, Samples, draw_samples
from phloat.many.store import VERSION, Collector, Description, EnsembleFolder, Outcome
from phloat.many.workers import available_cores, in_processes, in_threads, on_cluster, run_here
from phloat.motion.inputs.inputs import Inputs
from phloat.motion.result import Result
from phloat.motion.run.progress import Bar
from phloat.motion.run.task import Controller, Event, LibraryController, Scheme
from phloat.motion.schemes.midpoint import Midpoint
from phloat.system.state import State
from phloat.system.system import System
from phloat.system.units import parameter_units

TRIAL_SECONDS = 0.5  # of samples in this process, before others are started
WORTHWHILE = 4.0  # seconds of remaining samples from which on other processes are started
DOUBTFUL_FAILURES = 8  # failed samples at the beginning after which the unchanged system is run


def ensemble(
    system: System,
    parameters: Mapping[Key, object],
    samples: int | None = None,
    *,
    t_end: Any,
    dt: Any = None,
    start: Start = None,
    output: Callable[[Result], object] | None = None,
    u: Mapping[str, object] | Any = None,
    controller: Controller | LibraryController | Any = None,
    every: Any = None,
    scheme: Scheme | Any = Midpoint(),
    keep: int | Sequence[float] | np.ndarray | Any = 1,
    events: Sequence[Event] | Any = (),
    t_start: Any = 0.0,
    sampling: str | None = None,
    seed: int = 0,
    workers: int | None = None,
    save: str | Path | None = None,
    scheduler: Any = None,
    progress: bool | None = None,
) -> Ensemble:
    """Runs of a system whose parameters vary; `output` is evaluated for each.

    Parameters
    ----------
    system : System
        The mechanism.
    parameters : mapping of str, or tuple of str, to distribution, list or float
        {name: normal(…) | uniform(…) | … | list of values | number} in SI units. Names are those of `parameters(system)`, patterns
        ("*.material.E") or tuples of them; "u.motor", "controller.damping"; or arguments of functions in `parametric(…)`.
    samples : int, optional
        How many samples to draw from the distributions.
    t_end, dt, u, controller, every, scheme, events, t_start
        As in `simulate`; each may be `parametric(…)`.
    start : State or function of the system, optional
        Default: the assembled system at rest.
    output : function of a Result, optional
        Returns a number, an array, or a mapping of them. Default: the last state.
    keep : int or array of float, optional
        The steps (every keep-th) or the times (s) that a run keeps for `output`.
    sampling, seed : str, int, optional
        "random", "latin" or "sobol" for distributions, with the seed of the random numbers; "grid" (all combinations) or "rows"
        for lists.
    workers, scheduler : int, str, optional
        Processes on this machine (default: all cores), or the address of a Dask cluster, "tcp://…".
    save : path, optional
        A folder for results as they come; the same call resumes an interrupted ensemble.
    progress : bool, optional
        Whether to show progress.

    Returns
    -------
    Ensemble
        `runs.values` and `runs["parameter or output"]`, (samples, …), NaN for samples that failed, which are in `runs.failed`;
        `mean()`, `std()`, `quantile(q)` and `sensitivity()`.

    Examples
    --------
    A torque M = 2 N m turns a disc for t = 1 s, by the angle M t² / (2 I).

    >>> disc = ph.RigidBody(mass=1.0, inertia=np.diag([0.25, 0.25, 0.5])).discretise()
    >>> wheel = ph.connect({"disc": disc}, [ph.Revolute("ground", "disc.P", name="motor")], plane="xy")
    >>> runs = ph.ensemble(wheel, {"disc.inertia[2,2]": [0.25, 0.5]}, t_end=1.0, dt=0.01, u={"motor": 2.0}, workers=1,
    ...                    output=lambda result: result["motor.angle"][-1])
    >>> runs.values.round(2)
    array([4., 2.])
    """
    if output is not None and not callable(output):
        raise InputError(f"output is {output!r}; it must be a function: output=lambda r: r['rod.theta'].max()")
    if workers is not None and whole_number("workers", workers, 1, ", or None for all cores") and scheduler is not None:
        raise InputError("workers= is for this machine, scheduler= for a cluster; give one of them")
    if isinstance(u, Inputs):
        u = u.u
    if start is not None and not callable(start) and not isinstance(start, State | Parametric):
        raise InputError(f"start is {start!r}; it must be a State, or a function of the system that returns one")
    arguments = {"t_end": t_end, "dt": dt, "u": u, "controller": controller, "every": every, "scheme": scheme}
    if isinstance(keep, (list, tuple)) and all(np.ndim(x) == 0 for x in keep):
        keep = np.array(keep)
    arguments |= {"output": keep, "events": events, "t_start": t_start}
    drawn = draw_samples(parameters, samples, sampling, seed)
    run = ParametricRun(system, drawn.keys, start, arguments, output)
    begin, folder = time.perf_counter(), None if save is None else EnsembleFolder(Path(save))
    with nullcontext() if folder is None else folder.lock():
        collector = _collector(run, drawn, folder)
        if len(collector.missing):
            _run(run, collector, workers, scheduler, progress_display(len(drawn), progress))
    collector.warn()
    units = parameter_units(system, drawn.keys)
    info = {"seconds": time.perf_counter() - begin, "finished": True, "units": units}
    return Ensemble(drawn, collector.pieces, run.result, info)


def _collector(run: ParametricRun, drawn: Samples, folder: EnsembleFolder | None) -> Collector:
    """A collector with the results that are already in the folder; raises InputError if they are of another ensemble."""
    description = description_of(run, drawn)
    if folder is None or not folder.exists:
        return Collector(drawn.values, description, folder)
    saved = folder.description()
    a, b = saved["question"], description["question"]
    if differing := [name for name in dict.fromkeys((*a, *b)) if a.get(name) != b.get(name)]:
        text = f"{', '.join(differing)} {'is' if len(differing) == 1 else 'are'} not the same"
        raise InputError(
            f"{str(folder.path)!r} holds another ensemble: {text}; call it as it was, or give another folder"
        )
    collector = Collector(drawn.values, saved, folder)
    collector.resume()
    return collector


def _run(
    run: ParametricRun, collector: Collector, workers: int | None, scheduler: Any, show: Callable[[int, int], None]
) -> None:
    """Runs the missing samples; finished ones are written even if an exception is raised."""
    missing = collector.missing
    outcomes = _outcomes(run, collector.table, missing, workers, scheduler)
    try:
        for batch in _stop_if_all_fail(run, outcomes, len(missing)):
            collector.take(batch)
            show(collector.done, collector.failures)
    finally:
        outcomes.close()
        collector.flush()
    collector.finish()


def _stop_if_all_fail(run: ParametricRun, outcomes: Iterator[list[Outcome]], total: int) -> Iterator[list[Outcome]]:
    """Yields the outcomes; raises InputError if the first ones all fail, and the unchanged system fails with the same error."""
    received: list[Outcome] = []
    for batch in outcomes:
        received += batch
        if all(outcome.error for outcome in received):
            if len(received) < min(DOUBTFUL_FAILURES, total):
                continue
            reasons = {outcome.error for outcome in received}
            if len(reasons) == 1 and run.run_base().error in reasons:
                raise InputError(f"every sample fails, and so does the system as it is: {reasons.pop()}")
        yield received
        break
    yield from outcomes


def _outcomes(
    run: ParametricRun, table: np.ndarray, numbers: np.ndarray, workers: int | None, scheduler: Any
) -> Generator[list[Outcome]]:
    """Yields the outcomes of samples, run in this process, in other processes, in threads or on a cluster."""
    if scheduler is not None:
        yield from on_cluster(run, table, numbers, scheduler)
        return
    count = min(available_cores() if workers is None else workers, len(numbers))
    if workers is None:
        begin = time.perf_counter()
        durations: list[float] = []
        for batch in run_here(run, table, numbers):
            yield batch
            durations.append(time.perf_counter() - begin - sum(durations))
            if sum(durations) > TRIAL_SECONDS:
                break
        numbers = numbers[len(durations) :]
        if min(durations) * len(numbers) < WORTHWHILE:  # not the mean: the first one includes compiling the step
            count = 1
    if count == 1 or not len(numbers):
        yield from run_here(run, table, numbers)
        return
    try:
        parallel = in_processes(run, table, numbers, count)
    except InputError:  # something in it cannot be pickled
        parallel = in_threads(run, table, numbers, count)
    yield from parallel


# --- description -----------------------------------------------------------------------------------------------------
#
# The arguments of an ensemble as fingerprints: a sweep is resumed only with the same arguments.


DIGITS = 6  # of initial states, which differ slightly between machines if they come from iterations


def description_of(run: ParametricRun, drawn: Samples) -> Description:
    """The description of an ensemble before its first sample."""
    arguments = {("keep" if name == "output" else name): value for name, value in run.arguments.items()}
    parts: dict[str, Any] = {"system": _system_parts(run.system), "parameters": (drawn.keys, drawn.values)}
    parts |= {"start": _start_parts(run.start), "output": run.output, **arguments}
    plain = {name: value for name, value in arguments.items() if isinstance(value, (int, float, str))}
    return {
        "format": "phloat ensemble",
        "version": VERSION,
        "samples": len(drawn),
        "parameters": list(drawn.names),
        "units": parameter_units(run.system, drawn.keys),
        "sampling": drawn.sampling,
        "levels": [list(level) for level in drawn.levels],
        "arguments": plain,
        "question": {name: fingerprint(part) for name, part in parts.items()},
        "outputs": None,
        "complex": [],
        "single": True,
        "finished": False,
    }


def _system_parts(system: System) -> object:
    """The recipes of a system; its arrays follow from them up to round-off, which differs between machines."""
    bodies = {name: (body.construction or body) for name, body in system.bodies.items()}
    joints = {name: (c.joint, len(c.free), len(c.locked), len(c.driven)) for name, c in system.joints.items()}
    elements = {name: element.recipe for name, element in system.elements.items()}
    actuators = {name: actuator.recipe for name, actuator in system.actuators.items()}
    return bodies, joints, elements, actuators, np.asarray(system.gravity), system.plane, dict(system.layout.shapes)


def _start_parts(start: object) -> object:
    """The initial state for a fingerprint, with DIGITS digits."""
    if not isinstance(start, State):
        return start
    scale = float(np.abs(start.e).max(initial=0.0)) or 1.0
    return dict(start.layout.shapes), np.round(start.e / scale, DIGITS) + 0.0, f"{scale:.{DIGITS}e}"


# --- progress --------------------------------------------------------------------------------------------------------
#
# The progress of an ensemble, on the terminal or in a notebook.


def progress_display(total: int, visible: bool | None) -> Callable[[int, int], None]:
    """A function of the numbers of finished and of failed samples that draws a progress bar.

    The bar appears after a second on a terminal or in a notebook, or always if `visible`; it is cleared when all are finished.
    """
    bar, initial = Bar(visible), [-1]

    def show(done: int, failed: int) -> None:
        if initial[0] < 0:
            initial[0] = done  # of a resumed sweep some are finished already
        if done >= total:
            bar.clear()
        elif bar.due():
            finished = done - initial[0]
            remaining_text = f", {bar.elapsed / finished * (total - done):.0f} s left" if finished else ""
            failed_text = f", {failed} failed" if failed else ""
            bar.draw(done / total, f"{done} of {total} samples{failed_text}{remaining_text}")

    return show


# --- fingerprints ----------------------------------------------------------------------------------------------------
#
# Digests of values, equal for equal values in any process.


FIRST_NAMES = {  # earlier names of classes and fields, which fingerprints of saved ensembles contain
    **{"Construction": "Made", "ConstructionStep": "Step"},
    **{"ConstructionStep.method": "verb", "ConstructionStep.arguments": "given"},
    **{"PlateRectangle": "Oblong", "PlateDisc": "Round", "RectangleOutline": "Rectangle"},
    **{"BoxOutline": "Box", "TubeOutline": "Tube", "BracketOutline": "Bracket"},
}


def fingerprint(value: object) -> str:
    """A digest of 16 hexadecimal digits, equal in all processes for equal numbers, arrays, dataclasses, mappings and functions."""
    digest = hashlib.sha256()
    for part in _encode(value, ()):
        digest.update(part)
        digest.update(b"\0")
    return digest.hexdigest()[:16]


def _encode(x: Any, ancestors: tuple[int, ...]) -> Iterator[bytes]:
    """Yields bytes that identify a value; `ancestors` are the ids of the values that contain it."""
    if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "biufcSU":
        yield from (x.dtype.str.encode(), str(x.shape).encode(), np.ascontiguousarray(x).tobytes())
    elif x is None or isinstance(x, (bool, int, float, complex, str, bytes)):
        yield f"{type(x).__name__} {x!r}".encode()
    elif id(x) in ancestors:
        yield b"again"
    else:
        yield FIRST_NAMES.get(type(x).__qualname__, type(x).__qualname__).encode()
        ancestors = (*ancestors, id(x))
        for part in (*_methods(type(x)), *_parts(x)):
            yield from _encode(part, ancestors)


def _methods(kind: type) -> list[object]:
    """The methods of a class if its module is not installed, otherwise none."""
    local = not installed(kind.__module__)
    return [f for _, f in sorted(vars(kind).items()) if isinstance(f, FunctionType)] if local else []


def _parts(x: Any) -> Iterator[object]:
    """The parts of a value, in a fixed order."""
    if isinstance(x, ModuleType):
        yield x.__name__
    elif isinstance(x, FunctionType):
        yield from _function_parts(x)
    elif isinstance(x, CodeType):
        yield from (x.co_code, x.co_names, x.co_varnames, x.co_argcount, x.co_consts)
    elif isinstance(x, (type, BuiltinFunctionType)):
        yield from (x.__module__, x.__qualname__)
    elif isinstance(x, functools.partial):
        yield from (x.func, x.args, x.keywords)
    elif isinstance(x, Mapping):
        for key, value in x.items():
            yield from (key, value)
    elif isinstance(x, (list, tuple)):
        yield from x
    elif isinstance(x, (set, frozenset)):
        yield from sorted(x, key=repr)
    elif is_dataclass(x):
        for field in fields(x):
            name = FIRST_NAMES.get(f"{type(x).__name__}.{field.name}", field.name)
            yield from (name, getattr(x, field.name))
    elif hasattr(x, "tocoo"):  # a sparse matrix
        entries = x.tocoo()
        yield from (entries.shape, entries.row, entries.col, entries.data)
    else:
        yield getattr(x, "__name__", None)
        yield from sorted((k, v) for k, v in getattr(x, "__dict__", {}).items() if not k.startswith("_"))


def _function_parts(x: FunctionType) -> Iterator[object]:
    """The name of a function of an installed package; of another function its code, defaults, closure and globals."""
    if installed(x.__module__) and "<" not in x.__qualname__:
        yield from (x.__module__, x.__qualname__)
        return
    yield from (x.__code__, x.__defaults__, x.__kwdefaults__)
    for cell in x.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            yield None
    for name in sorted(set(global_names(x.__code__))):
        if name in x.__globals__:
            yield from (name, x.__globals__[name])
