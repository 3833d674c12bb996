"""Resume a saved run from where it was interrupted, or beyond its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from phloat.errors import InputError, finite
from phloat.motion.initial.velocities import redundant_rows
from phloat.motion.inputs.inputs import Inputs, as_inputs
from phloat.motion.result import Result
from phloat.motion.run.controllers import ServoController, controller_list, start_controllers
from phloat.motion.run.progress import progress_bar
from phloat.motion.run.task import Controller, Event, LibraryController, Scheme, Task
from phloat.motion.saving.files import locked
from phloat.motion.saving.folder import Arrays, Description, RunFolder, Span, has_rows, require_same_layout
from phloat.motion.saving.memory import require_memory
from phloat.motion.saving.recorder import Recorder
from phloat.motion.schemes.midpoint import Composition4, Midpoint
from phloat.motion.simulate import describe_task, event_tuple, require_threads, run_task, simulate
from phloat.system.state import State
from phloat.system.system import System

RESUMABLE = {scheme.__name__: scheme for scheme in (Midpoint, Composition4)}


def resume(
    folder: str | Path,
    system: System,
    *,
    u: Mapping[str, object] | Inputs | None = None,
    controller: Any = None,
    events: Sequence[Event] = (),
    t_end: float | None = None,
    progress: bool | None = None,
    threads: int = 1,
) -> Result:
    """Continue a run of `simulate(…, save=folder)` from its last saved piece to its end, or to another t_end; returns all of it.

    Functions are not saved: pass the same inputs, controller and events. The result is then, bit for bit, that of an uninterrupted
    run (if the controller has no internal state), for any number of `threads`.
    """
    run = RunFolder(Path(folder))
    run.description()  # raises InputError where there is no run
    with locked(run.path):
        saved = run.description()
        require_same_layout(saved, system)
        task = saved["task"]
        if task is None:
            raise InputError(
                f"the run in {str(run.path)!r} was saved when it had ended; simulate(…, save=folder) makes runs to resume"
            )
        e = run.read("start")
        if not has_rows(e[None], (system.layout.size,)):
            raise InputError(f"start.npy in {str(run.path)!r} is no state of this system: it has shape {e.shape}")
        state, end = State(system.bodies, system.layout, e), _end(task, t_end)
        _require_stateless(controller)
        started = start_controllers(
            *(system, state, as_inputs(system, u), controller, task["every"], (task["t_0"], end, task["dt"])),
            *(task["dt"], simulate),
        )
        inputs = started.inputs
        _require_same_task(task, inputs, started.function, events)
        pieces, _ = run.pieces(saved, system)
        number, memory = _last_memory(run, len(pieces), saved, system)
        time = float(memory["now"][0]) if memory is not None else task["t_0"]
        if end < time or (saved["finished"] and (t_end is None or end == time)):
            stands = f"{'is finished' if saved['finished'] else 'stands'} at t = {time:g} s"
            raise InputError(
                f"the run in {str(run.path)!r} {stands}; give a later t_end to go on, or open it with load_result"
            )
        scheme = _scheme(task["scheme"])
        recorder = Recorder(run, system, dict(saved), number + 1, _row_span(pieces[: number + 1]))
        resumed = Task(
            *(system, state, task["t_0"], end, task["dt"], inputs),
            output=run.read("output") if task["output"] is None else task["output"],
            controller=started.function,
            every=task["every"],
            servos=started.servos,
            events=event_tuple(events),
            dropped=redundant_rows(system, state),
            progress=progress_bar(time, end, progress),
            recorder=recorder,
            memory=memory,
            threads=require_threads(threads, scheme),
        )
        recorder.constants["task"] = describe_task(resumed, scheme)
        recorder.describe(False, saved["info"])
        return run_task(resumed, scheme)


def _last_memory(run: RunFolder, pieces: int, saved: Description, system: System) -> tuple[int, Arrays | None]:
    """The number of the last piece with a readable memory, and that memory; (-1, None) if the run must start again."""
    number, memory = run.memory(pieces) or (-1, None)
    if memory is not None:
        require_memory(memory, saved["task"], system.ports.shapes)
    elif saved["finished"]:
        raise InputError(
            f"the run in {str(run.path)!r} has no memory of its stepper ({saved['task']['scheme']['name']} keeps none); "
            "simulate on from result.state()"
        )
    return number, memory


def _end(task: Description, t_end: float | None) -> float:
    return float(task["t_end"] if t_end is None else finite("t_end", t_end, ()))


def _require_stateless(controller: object) -> None:
    """Raises InputError for a controller with a state, which was not saved; a continuous servo has none."""
    for c in controller_list(controller):
        if isinstance(c, LibraryController) and not (isinstance(c, ServoController) and c.every is None):
            raise InputError(
                "a controller with a state of its own cannot go on where a run was cut short: its state was not saved"
            )


def _require_same_task(
    task: Description, inputs: Inputs, controller: Controller | None, events: Sequence[Event]
) -> None:
    """Raises InputError if inputs, events or controller are not those of the saved run."""
    event_names = [event.name for event in events]
    for kind, saved, names in (
        ("inputs", set(task["inputs"]), set(inputs.signals)),
        ("events", task["events"], event_names),
    ):
        if saved != names:
            raise InputError(
                f"the run had the {kind} {', '.join(sorted(saved)) or 'none'}, and is given {', '.join(sorted(names)) or 'none'}; "
                "give them as they were to simulate"
            )
    if task["controller"] != (controller is not None):
        had = "had a controller; give it again" if task["controller"] else "had no controller; leave it out"
        raise InputError(f"the run {had}")


def _scheme(saved: Description) -> Scheme:
    options = {name: value for name, value in saved.items() if name != "name"}
    if saved["name"] not in RESUMABLE:
        raise InputError(f"runs of {saved['name']} cannot be resumed; those of {' and '.join(RESUMABLE)} can")
    try:
        return RESUMABLE[saved["name"]](**options)
    except TypeError as error:
        raise InputError(
            f"run.json says that {saved['name']} has the options {', '.join(options)}, which it has not"
        ) from error


def _row_span(pieces: Sequence[Arrays]) -> Span:
    t = np.concatenate([np.zeros(0), *(piece["t"] for piece in pieces)])
    return (len(t), float(t[0]), float(t[-1])) if len(t) else (0, 0.0, 0.0)
