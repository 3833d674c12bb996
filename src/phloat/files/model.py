"""Models: a mechanism with its initial state, inputs and requests, as described by a model file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from phloat.control.servo import Servo
from phloat.errors import InputError
from phloat.files.locate import UnitAt, check_inputs, connect_parts, errors_at
from phloat.files.requests import ModesRequest, Output, ResponseRequest, Simulate, SweepRequest, output_values
from phloat.files.start import Start, initial_state
from phloat.format.node import Node
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.time.march import LinearResult
from phloat.motion.result import Result
from phloat.motion.run.controllers import controller_list
from phloat.system.parts import Parts
from phloat.system.state import State
from phloat.system.system import System

REQUESTS = {"simulate": "{t_end: 1 s, dt: 1 ms}", "modes": "{count: 10}", "response": "{…}", "sweep": "{…}"}  # examples


@dataclass(frozen=True, eq=False)
class Model:
    """The contents of a model file: parts, initial state, inputs by port, and requests, each None if it is absent.

    `system` and `state` are computed when they are first used; `text` is the text of the file.
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
    names: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # named materials and sections
    root: Node | None = None  # of the file
    units: tuple[UnitAt, ...] = ()  # units to check against the system

    @cached_property
    def system(self) -> System | LinearPHDAE:
        """The connected system; a LinearPHDAE if there are bodies on meshes without a frame."""
        system = connect_parts(self.parts, self.root)
        if isinstance(system, System):
            check_inputs(system, self.units, self.root)
        return system

    @cached_property
    def state(self) -> State:
        """The initial state."""
        system = self.mechanism(": it starts from rest and has no State")
        held = [c.joint for c in controller_list(self.controller) if isinstance(c, Servo) and c.rate is None]
        with errors_at(self.root, "start", "inputs"):
            return initial_state(system, self.start, self.inputs, self.t_start, held)

    @cached_property
    def controller(self) -> Any:
        """The controller of the system, or None."""
        if self.control is None:
            return None
        system = self.mechanism("; its file can have no controller")
        with errors_at(self.root, "controller"):
            return self.control(system)

    def mechanism(self, why: str) -> System:
        """The system. Raises InputError with a reason if it is linear."""
        if not isinstance(self.system, System):
            raise InputError(f"{self.label} is linear{why}")
        return self.system

    @property
    def t_start(self) -> float:
        return 0.0 if self.simulate is None else self.simulate.t_start

    @property
    def label(self) -> str:
        """The name of the file or of the model, for messages."""
        return self.path.name if self.path else self.name or "the model"

    def output(self, result: Result | LinearResult) -> dict[str, np.ndarray]:
        """The outputs of a run by name."""
        return output_values(self.outputs, result)

    def swept_outputs(self) -> dict[str, Output]:
        """The outputs named in the sweep, all by default. Raises InputError if a name is unknown."""
        names = (self.sweep.outputs if self.sweep else ()) or tuple(self.outputs)
        for name in names:
            if name not in self.outputs:
                raise InputError(f"sweep names the output {name!r}; outputs are {', '.join(self.outputs) or 'none'}")
        return {name: self.outputs[name] for name in names}

    def __repr__(self) -> str:
        requests = [word for word in REQUESTS if getattr(self, word) is not None]
        return f"Model({self.name or self.label!r}: {', '.join(self.parts.bodies)}; {', '.join(requests) or 'no requests'})"


def require_request(model: Model, request: str) -> Any:
    """The request of this name of a model. Raises InputError if it is absent."""
    if not isinstance(model, Model):
        raise InputError(f"{type(model).__name__} is not a Model; load_model(path) reads one")
    value = getattr(model, request)
    if value is None:
        raise InputError(f"{model.label} has no {request}; write {request}: {REQUESTS[request]} into it")
    return value
