"""A saved run goes on from where it was cut short, or beyond its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from phloat.errors import InputError, finite
from phloat.motion.initial.velocities import repeated_rows
from phloat.motion.inputs.inputs import Inputs, given_inputs
from phloat.motion.result import Result
from phloat.motion.run.events import Event
from phloat.motion.run.progress import bar
from phloat.motion.run.task import Begins, Controller, Scheme, Task
from phloat.motion.saving.files import held
from phloat.motion.saving.forms import memory_or_said, rows_of
from phloat.motion.saving.record import Recorder
from phloat.motion.saving.saved import Arrays, Description, Folder, Span, same_layout
from phloat.motion.schemes.midpoint import Composition4, Midpoint
from phloat.motion.simulate import run, said, shared_by
from phloat.system.state import State
from phloat.system.system import System

KNOWN = {scheme.__name__: scheme for scheme in (Midpoint, Composition4)}


def resume(
    folder: str | Path,
    system: System,
    *,
    u: Mapping[str, object] | Inputs | None = None,
    controller: Controller | None = None,
    events: Sequence[Event] = (),
    t_end: float | None = None,
    progress: bool | None = None,
    threads: int = 1,
) -> Result:
    """All of a run that `simulate(…, save=folder)` began: from its last piece to its end, or on to another t_end.

    Functions are not saved: give inputs, controller and events as they were. The motion is then that of a run that was never
    cut short, bit for bit (of a controller without a memory of its own), with any number of `threads`.
    """
    where = Folder(Path(folder))
    where.description()  # there is a run to go on with
    with held(where.path):
        return _gone_on(where, system, u, controller, events, t_end, progress, threads)


def _gone_on(
    where: Folder,
    system: System,
    u: Mapping[str, object] | Inputs | None,
    controller: Controller | None,
    events: Sequence[Event],
    t_end: float | None,
    progress: bool | None,
    threads: int,
) -> Result:
    """The same, of a folder that nobody else writes to."""
    told = where.description()
    same_layout(told, system)
    task = told["task"]
    if task is None:
        raise InputError(
            f"the run in {str(where.path)!r} was saved when it had ended; simulate(…, save=folder) makes runs to resume"
        )
    inputs = given_inputs(system, u)
    _same_task(task, inputs, controller, events)
    pieces, _ = where.pieces(told, system)
    number, memory = where.memory(len(pieces)) or (-1, None)
    if memory is None and told["finished"]:
        raise InputError(
            f"the run in {str(where.path)!r} has no memory of its stepper ({task['scheme']['name']} keeps none); "
            "simulate on from result.state()"
        )
    if memory is not None:
        memory_or_said(memory, task, system.ports.shapes)
    now = float(memory["now"][0]) if memory is not None else task["t_0"]
    end = task["t_end"] if t_end is None else float(finite("t_end", t_end, ()))
    if end < now or (told["finished"] and (t_end is None or end == now)):
        stands = "is finished at" if told["finished"] else "stands at"
        raise InputError(
            f"the run in {str(where.path)!r} {stands} t = {now:g} s; give a later t_end to go on, or open it with load_run"
        )
    scheme = _scheme(task["scheme"])
    start = where.read("start")
    if not rows_of(start[None], (system.layout.size,)):
        raise InputError(f"start.npy in {str(where.path)!r} is no state of this system: it has shape {start.shape}")
    state = State(system.bodies, system.layout, start)
    rows = _counted(pieces[: number + 1])
    going = Task(
        system,
        state,
        task["t_0"],
        end,
        task["dt"],
        inputs,
        output=where.read("output") if task["output"] is None else task["output"],
        controller=controller,
        every=task["every"],
        events=tuple(events),
        dropped=repeated_rows(system, state),
        progress=bar(now, end, progress),
        recorder=Recorder(where, system, dict(told), number + 1, rows),
        memory=memory,
        threads=shared_by(threads, scheme),
    )
    assert going.recorder is not None
    going.recorder.constant["task"] = said(going, scheme)
    going.recorder.say(False, told["info"])
    return run(going, scheme)


def _same_task(task: Description, inputs: Inputs, controller: Controller | None, events: Sequence[Event]) -> None:
    """What cannot be saved is given again."""
    for what, there, here in (
        ("inputs", set(task["inputs"]), set(inputs.signals)),
        ("events", task["events"], [event.name for event in events]),
    ):
        if there != here:
            raise InputError(
                f"the run had the {what} {', '.join(sorted(there)) or 'none'}, and is given {', '.join(sorted(here)) or 'none'}; "
                "give them as they were to simulate"
            )
    if isinstance(controller, Begins):
        raise InputError(
            "a controller with a state of its own cannot go on where a run was cut short: its state was not saved"
        )
    if task["controller"] != (controller is not None):
        had = "had a controller; give it again" if task["controller"] else "had no controller; leave it out"
        raise InputError(f"the run {had}")


def _scheme(told: Description) -> Scheme:
    options = {name: value for name, value in told.items() if name != "name"}
    if told["name"] not in KNOWN:
        raise InputError(f"runs of {told['name']} cannot be resumed; those of {' and '.join(KNOWN)} can")
    try:
        return KNOWN[told["name"]](**options)
    except TypeError as error:
        raise InputError(
            f"run.json says that {told['name']} has the options {', '.join(options)}, which it has not"
        ) from error


def _counted(pieces: Sequence[Arrays]) -> Span:
    t = np.concatenate([np.zeros(0), *(piece["t"] for piece in pieces)])
    return (len(t), float(t[0]), float(t[-1])) if len(t) else (0, 0.0, 0.0)
