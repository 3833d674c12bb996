"""Models: a mechanism, its initial state, its inputs and requests; and the answers to these requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from phloat.analysis.linearise import linearise
from phloat.errors import InputError
from phloat.files.locate import UnitAt, check_inputs, connect_parts, errors_at
from phloat.files.requests import ModesRequest, Output, ResponseRequest, Simulate, SweepRequest
from phloat.files.start import Start, initial_state
from phloat.format.node import Node
from phloat.linear.analysis.modes import Modes, modes
from phloat.linear.analysis.response import Response, response
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.time.march import LinearResult
from phloat.many.ensemble import ensemble
from phloat.many.results import Ensemble
from phloat.motion.initial.place import place
from phloat.motion.result import Result
from phloat.motion.simulate import simulate
from phloat.system.connect import lock
from phloat.system.parts import Parts
from phloat.system.state import State
from phloat.system.system import System

REQUESTS = {"simulate": "{t_end: 1 s, dt: 1 ms}", "modes": "{count: 10}", "response": "{…}", "sweep": "{…}"}  # examples


@dataclass(frozen=True, eq=False)
class Model:
    """The contents of a model file: parts to connect, a start, inputs by port, and requests, each None if it is not there.

    `system` and `state` are computed when they are first used; `text` is that of the file.
    """

    parts: Parts
    name: str = ""
    about: str = ""
    start: Start = field(default_factory=Start)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    simulate: Simulate | None = None
    modes: ModesRequest | None = None
    response: ResponseRequest | None = None
    sweep: SweepRequest | None = None
    outputs: Mapping[str, Output] = field(default_factory=dict)
    control: Callable[[System], Any] | None = None
    text: str = ""
    path: Path | None = None
    names: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # of materials and sections
    root: Node | None = None  # of the file
    units: tuple[UnitAt, ...] = ()  # to be compared with the system

    @cached_property
    def system(self) -> System | LinearPHDAE:
        """The connected system; of bodies on meshes without a frame, a linear one."""
        system = connect_parts(self.parts, self.root)
        if isinstance(system, System):
            check_inputs(system, self.units)
        return system

    @cached_property
    def state(self) -> State:
        """The state at the start."""
        system = self.system
        if not isinstance(system, System):
            raise InputError(f"{self.label} is linear: it starts from rest and has no State")
        with errors_at(self.root, "start", "inputs"):
            return initial_state(system, self.start, self.inputs, self.t_start)

    @cached_property
    def controller(self) -> Any:
        """The controller, or None."""
        if self.control is None:
            return None
        system = self.system
        if not isinstance(system, System):
            raise InputError(f"{self.label} is linear; its file can have no controller")
        with errors_at(self.root, "controller"):
            return self.control(system)

    @property
    def t_start(self) -> float:
        return 0.0 if self.simulate is None else self.simulate.t_start

    @property
    def label(self) -> str:
        """The name of its file, or its own, for messages."""
        return self.path.name if self.path else self.name or "the model"

    def output(self, result: Result | LinearResult) -> dict[str, np.ndarray]:
        """The outputs of a run by name."""
        return output_values(self.outputs, result)

    def __repr__(self) -> str:
        there = [word for word in REQUESTS if getattr(self, word) is not None]
        return (
            f"Model({self.name or self.label!r}: {', '.join(self.parts.bodies)}; {', '.join(there) or 'no requests'})"
        )


def require_request(model: Model, request: str) -> Any:
    """A request of a model. Raises InputError if it is not there."""
    if not isinstance(model, Model):
        raise InputError(f"{type(model).__name__} is not a Model; load_model(path) reads one")
    found = getattr(model, request)
    if found is None:
        raise InputError(f"{model.label} has no {request}; write {request}: {REQUESTS[request]} into it")
    return found


# --- runs -------------------------------------------------------------------------------------------------------------


def run_model(
    model: Model, *, save: str | Path | None = None, progress: bool | None = None, threads: int = 1
) -> Result | LinearResult:
    """The motion that the model's `simulate` describes.

    `save` is a new folder for it and `threads` the number of threads that share its bodies; both are for nonlinear runs.
    """
    asked = require_request(model, "simulate")
    options: dict[str, Any] = {"dt": asked.dt, "u": dict(model.inputs), "output": asked.output}
    options |= {"t_start": asked.t_start, "threads": threads}
    with errors_at(model.root, "simulate", "inputs"):
        if isinstance(model.system, LinearPHDAE):
            if save is not None:
                raise InputError(f"{model.label} is linear, and its runs cannot be saved; keep the result")
            return simulate(model.system, None, asked.t_end, **options)
        options |= {"scheme": asked.scheme, "controller": model.controller, "save": save, "progress": progress}
        return simulate(model.system, model.state, asked.t_end, **options)


def output_values(outputs: Mapping[str, Output], result: Result | LinearResult) -> dict[str, np.ndarray]:
    """Outputs of a run by name."""
    return {name: output.value(result) for name, output in outputs.items()}


def run_sweep(
    model: Model, *, workers: int | None = None, save: str | Path | None = None, progress: bool | None = None
) -> Ensemble:
    """The runs that the model's `sweep` describes: its run with other parameters, and its outputs of each."""
    asked, motion = require_request(model, "sweep"), require_request(model, "simulate")
    system = model.system
    if not isinstance(system, System):
        raise InputError(f"{model.label} is linear; a sweep needs a mechanism")
    with errors_at(model.root, "sweep", "simulate", "outputs"):
        names = asked.outputs or tuple(model.outputs)
        for name in names:
            if name not in model.outputs:
                raise InputError(f"sweep names the output {name!r}; outputs are {', '.join(model.outputs) or 'none'}")
        chosen = {name: model.outputs[name] for name in names}
        return ensemble(
            system,
            {name: list(v) if isinstance(v, tuple) else v for name, v in asked.parameters.items()},
            asked.samples,
            t_end=motion.t_end,
            dt=motion.dt,
            t_start=motion.t_start,
            start=partial(initial_state, start=model.start, inputs=model.inputs, t=motion.t_start),
            scheme=motion.scheme,
            keep=motion.output,
            u=dict(model.inputs),
            controller=model.controller,
            output=partial(output_values, chosen) if chosen else None,
            sampling=asked.sampling,
            seed=asked.seed,
            workers=workers,
            save=save,
            progress=progress,
        )


# --- linear analysis --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ModesAlong:
    """Modes along a motion: `values` of a `quantity`, and the `modes` at each."""

    quantity: str
    values: np.ndarray
    modes: tuple[Modes, ...]

    @property
    def omega(self) -> np.ndarray:
        """The frequencies, (values, modes)."""
        count = min(len(found) for found in self.modes)
        return np.array([found.omega[:count] for found in self.modes])

    def __repr__(self) -> str:
        first, last = self.values[0], self.values[-1]
        return f"ModesAlong({self.quantity} from {first:g} to {last:g}, {len(self.values)} values)"


def run_modes(model: Model) -> Modes | ModesAlong:
    """The modes that the model's `modes` describes: at its start, or at each value of the quantity `along`."""
    asked = require_request(model, "modes")
    with errors_at(model.root, "modes", "start"):
        if isinstance(model.system, LinearPHDAE):
            if asked.lock or asked.along:
                raise InputError(f"{model.label} is linear; lock and along are for mechanisms")
            return modes(model.system, asked.count)
        if asked.along is None:
            return modes(linearised(model, asked.lock), asked.count)
        ((quantity, over),) = asked.along.items()
        values, found = np.asarray(over.values), []
        near: Any = model.start.near or None
        held = lock(model.system, *asked.lock)
        for value in values:
            near = place(model.system, {**model.start.place, quantity: float(value)}, near=near)
            found.append(modes(linearise(held, near), asked.count))
        return ModesAlong(quantity, values, tuple(found))


def run_response(model: Model) -> Response:
    """The frequency response that the model's `response` describes, at its start."""
    asked = require_request(model, "response")
    with errors_at(model.root, "response", "start"):
        system = model.system if isinstance(model.system, LinearPHDAE) else linearised(model, asked.lock)
        return response(system, asked.inputs, asked.outputs, omega=np.asarray(asked.omega.values))


def linearised(model: Model, locked: tuple[str, ...] = ()) -> LinearPHDAE:
    """The model linearised at its start, with joints locked."""
    assert isinstance(model.system, System)
    held = lock(model.system, *locked)
    inputs = {name: value for name, value in model.inputs.items() if name in held.ports}
    return linearise(held, model.state, u=inputs, t=model.t_start)
