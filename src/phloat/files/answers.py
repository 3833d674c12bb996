"""What a model asks for, done: modes, modes along a motion, a frequency response, many runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from phloat.analysis.linearise import linearise
from phloat.errors import InputError
from phloat.files.locate import located
from phloat.files.model import Model, wanted
from phloat.files.outputs import Output
from phloat.files.start import Start, started
from phloat.linear.analysis.modes import Modes, modes
from phloat.linear.analysis.response import Response, response
from phloat.linear.form.phdae import LinearPHDAE
from phloat.many.ensemble import ensemble
from phloat.many.results import Ensemble
from phloat.motion.initial.place import place
from phloat.motion.result import Result
from phloat.system.state import State
from phloat.system.system import System, lock


@dataclass(frozen=True, eq=False)
class ModesAlong:
    """Modes at several places of a mechanism: `values` of the `quantity`, and the `modes` at each."""

    quantity: str
    values: np.ndarray
    modes: tuple[Modes, ...]

    @property
    def omega(self) -> np.ndarray:
        """The frequencies, (values, as many as all have)."""
        count = min(len(found) for found in self.modes)
        return np.array([found.omega[:count] for found in self.modes])

    def __repr__(self) -> str:
        first, last = self.values[0], self.values[-1]
        return f"ModesAlong({self.quantity} from {first:g} to {last:g}, {len(self.values)} places)"


def run_modes(model: Model) -> Modes | ModesAlong:
    """The modes that the model asks for: at its start, or at every value of a quantity `along` which it is placed."""
    asked = wanted(model, "modes")
    with located(model.root, "modes", "start"):
        if isinstance(model.system, LinearPHDAE):
            if asked.lock or asked.along:
                raise InputError(f"{model.called} is linear; lock and along are for mechanisms")
            return modes(model.system, asked.count)
        if asked.along is None:
            return modes(linear(model, asked.lock), asked.count)
        ((quantity, over),) = asked.along.items()
        values, found = np.asarray(over.values), []
        near: Any = model.start.near or None
        held = lock(model.system, *asked.lock)
        for value in values:
            near = place(model.system, {**model.start.place, quantity: float(value)}, near=near)
            found.append(modes(linearise(held, near), asked.count))
        return ModesAlong(quantity, values, tuple(found))


def run_response(model: Model) -> Response:
    """The frequency response that the model asks for, about its start."""
    asked = wanted(model, "response")
    with located(model.root, "response", "start"):
        system = model.system if isinstance(model.system, LinearPHDAE) else linear(model, asked.lock)
        return response(system, asked.inputs, asked.outputs, omega=np.asarray(asked.omega.values))


def run_sweep(
    model: Model, *, workers: int | None = None, save: str | Path | None = None, progress: bool | None = None
) -> Ensemble:
    """The many runs that the model asks for: its run with other parameters, and its outputs of each."""
    asked, motion, system = wanted(model, "sweep"), wanted(model, "simulate"), model.system
    if not isinstance(system, System):
        raise InputError(f"{model.called} is linear; a sweep is of mechanisms")
    with located(model.root, "sweep", "simulate", "outputs"):
        names = asked.outputs or tuple(model.outputs)
        for name in names:
            if name not in model.outputs:
                raise InputError(
                    f"sweep asks for the output {name!r}; outputs are {', '.join(model.outputs) or 'none'}"
                )
        chosen = tuple((name, model.outputs[name]) for name in names)
        return ensemble(
            system,
            {name: list(v) if isinstance(v, tuple) else v for name, v in asked.parameters.items()},
            asked.samples,
            t_end=motion.t_end,
            dt=motion.dt,
            t_start=motion.t_start,
            start=Again(model.start, model.inputs, motion.t_start),
            scheme=motion.scheme,
            keep=motion.keep if isinstance(motion.keep, int) else np.array(motion.keep),
            u=dict(model.inputs),
            controller=model.controller,
            output=Chosen(chosen) if chosen else None,
            sampling=asked.sampling,
            seed=asked.seed,
            workers=workers,
            save=save,
            progress=progress,
        )


def linear(model: Model, locked: tuple[str, ...] = ()) -> LinearPHDAE:
    """The model about its start, with joints locked."""
    assert isinstance(model.system, System)
    held = lock(model.system, *locked)
    inputs = {name: value for name, value in model.inputs.items() if name in held.ports}
    at = 0.0 if model.simulate is None else model.simulate.t_start
    return linearise(held, model.state, u=inputs, t=at)


@dataclass(frozen=True, eq=False)
class Again:
    """The start of a model for a system with other numbers."""

    start: Start
    inputs: Mapping[str, Any]
    t: float

    def __call__(self, system: System) -> State:
        return started(system, self.start, self.inputs, self.t)


@dataclass(frozen=True)
class Chosen:
    """Outputs of a run by name."""

    outputs: tuple[tuple[str, Output], ...]

    def __call__(self, result: Result) -> dict[str, np.ndarray]:
        return {name: output.value(result) for name, output in self.outputs}
