"""Models: a mechanism, its start, its inputs and what is asked of it, from a file or for one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from phloat.errors import InputError
from phloat.files.asked import AskedModes, AskedResponse, Simulate, Sweep
from phloat.files.dimensions import Met, check_inputs
from phloat.files.locate import connected_or_said, located
from phloat.files.outputs import Output
from phloat.files.start import Start, started
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.time.march import LinearResult
from phloat.motion.result import Result
from phloat.motion.simulate import simulate
from phloat.system.parts import Parts
from phloat.system.state import State
from phloat.system.system import System
from phloat.system.words.node import Node


@dataclass(frozen=True, eq=False)
class Model:
    """What a model file says: parts to connect, a start, inputs by port, and requests; each request is None where not asked.

    `system` and `state` are built when they are first asked for; `text` is that of the file.
    """

    parts: Parts
    name: str = ""
    about: str = ""
    start: Start = field(default_factory=Start)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    simulate: Simulate | None = None
    modes: AskedModes | None = None
    response: AskedResponse | None = None
    sweep: Sweep | None = None
    outputs: Mapping[str, Output] = field(default_factory=dict)
    control: Callable[[System], Any] | None = None
    text: str = ""
    path: Path | None = None
    names: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # of materials and sections
    root: Node | None = None  # where everything stands in the file
    met: tuple[Met, ...] = ()  # units that only the system can check

    @cached_property
    def system(self) -> System | LinearPHDAE:
        """The connected system; of bodies on meshes without a frame, a linear one."""
        system = connected_or_said(self.parts, self.root)
        if isinstance(system, System):
            check_inputs(system, self.met)
        return system

    @cached_property
    def state(self) -> State:
        """The state at the start."""
        system = self.system
        if not isinstance(system, System):
            raise InputError(f"{self.called} is linear: it starts from rest, and has no State")
        with located(self.root, "start", "inputs"):
            return started(system, self.start, self.inputs, 0.0 if self.simulate is None else self.simulate.t_start)

    @cached_property
    def controller(self) -> Any:
        """The controller, or None."""
        if self.control is None:
            return None
        system = self.system
        if not isinstance(system, System):
            raise InputError(f"{self.called} is linear; its file can have no controller")
        with located(self.root, "controller"):
            return self.control(system)

    @property
    def called(self) -> str:
        """How messages call it."""
        return self.path.name if self.path else self.name or "the model"

    def output(self, result: Result | LinearResult) -> dict[str, np.ndarray]:
        """The outputs of a run by name."""
        return {name: output.value(result) for name, output in self.outputs.items()}

    def __repr__(self) -> str:
        asked = [word for word in ("simulate", "modes", "response", "sweep") if getattr(self, word) is not None]
        return f"Model({self.name or self.called!r}: {', '.join(self.parts.bodies)}; asks for {', '.join(asked) or 'nothing'})"


def run(
    model: Model, *, save: str | Path | None = None, progress: bool | None = None, threads: int = 1
) -> Result | LinearResult:
    """The motion that the model's `simulate` asks for; `save` is a fresh folder for it, of a nonlinear run, whose bodies so many
    `threads` share."""
    asked = wanted(model, "simulate")
    keep = asked.keep if isinstance(asked.keep, int) else np.array(asked.keep)
    options: dict[str, Any] = {"dt": asked.dt, "u": dict(model.inputs), "output": keep, "t_start": asked.t_start}
    options["threads"] = threads
    with located(model.root, "simulate", "inputs"):
        if isinstance(model.system, LinearPHDAE):
            if save is not None:
                raise InputError(f"{model.called} is linear, and its runs are not saved; keep the result")
            return simulate(model.system, None, asked.t_end, **options)
        return simulate(
            model.system,
            model.state,
            asked.t_end,
            scheme=asked.scheme,
            controller=model.controller,
            save=save,
            progress=progress,
            **options,
        )


def wanted(model: Model, request: str) -> Any:
    """A request of a model, or a sentence where it is not asked."""
    if not isinstance(model, Model):
        raise InputError(f"{type(model).__name__} is no Model; load_model(path) reads one")
    found = getattr(model, request)
    if found is None:
        example = {"simulate": "{t_end: 1 s, dt: 1 ms}", "modes": "{count: 10}"}.get(request, "{…}")
        raise InputError(f"{model.called} does not ask for {request}; write {request}: {example} into it")
    return found
