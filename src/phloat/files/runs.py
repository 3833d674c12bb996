"""Runs, sweeps, modes and responses described by model files, and results from the folders of saved runs."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from phloat.analysis.linearise import linearise
from phloat.bodies.beams.beam import Beam
from phloat.bodies.beams.fields import OF_WHOLE
from phloat.bodies.beams.split import Split
from phloat.errors import DamagedRunWarning, InputError
from phloat.files.locate import errors_at
from phloat.files.model import Model, require_request
from phloat.files.model_files import load_model
from phloat.files.requests import output_values, values_of
from phloat.files.start import initial_state
from phloat.linear.analysis.modes import Modes, modes
from phloat.linear.analysis.response import Response, response
from phloat.linear.form.phdae import LinearPHDAE
from phloat.linear.time.march import LinearResult
from phloat.many.ensemble import ensemble
from phloat.many.results import Ensemble
from phloat.motion.initial.place import place
from phloat.motion.result import Result
from phloat.motion.saving.folder import RunFolder, load_rows, load_run, rebuild_description
from phloat.motion.simulate import simulate
from phloat.system.connect import lock
from phloat.system.parts import Part, Parts
from phloat.system.system import System

GIVE_SYSTEM = "give its system: load_result(folder, system)"


def run_model(
    model: Model, *, save: str | Path | None = None, progress: bool | None = None, threads: int = 1
) -> Result | LinearResult:
    """The motion described by `simulate` of the model.

    `save` is a new folder for the run, `threads` the number of threads that share its bodies; both are for nonlinear runs.
    """
    request = require_request(model, "simulate")
    options: dict[str, Any] = {"dt": request.dt, "u": dict(model.inputs), "output": request.keep}
    options |= {"t_start": request.t_start, "threads": threads, "scheme": request.scheme}
    with errors_at(model.root, "simulate", "inputs"):
        if isinstance(model.system, LinearPHDAE):
            if save is not None:
                raise InputError(f"{model.label} is linear, and its runs cannot be saved; keep the result")
            return simulate(model.system, None, request.t_end, **options)
        options |= {"controller": model.controller, "save": save, "progress": progress}
        return simulate(model.system, model.state, request.t_end, **options)


def run_sweep(
    model: Model, *, workers: int | None = None, save: str | Path | None = None, progress: bool | None = None
) -> Ensemble:
    """The runs described by `sweep` of the model: its run with other parameters, and the outputs of each."""
    request, motion = require_request(model, "sweep"), require_request(model, "simulate")
    system = model.mechanism("; a sweep needs a mechanism")
    with errors_at(model.root, "sweep", "simulate", "outputs"):
        chosen = model.swept_outputs()
        return ensemble(
            system,
            {name: list(v) if isinstance(v, tuple) else v for name, v in request.parameters.items()},
            request.samples,
            t_end=motion.t_end,
            dt=motion.dt,
            t_start=motion.t_start,
            start=partial(initial_state, start=model.start, inputs=model.inputs, t=motion.t_start),
            scheme=motion.scheme,
            keep=motion.keep,
            u=dict(model.inputs),
            controller=model.controller,
            output=partial(output_values, chosen) if chosen else None,
            sampling=request.sampling,
            seed=request.seed,
            workers=workers,
            save=save,
            progress=progress,
        )


# --- linear analysis --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ModesAlong:
    """Modes along a motion: `values` of a `quantity`, and the `modes` at each value."""

    quantity: str
    values: np.ndarray
    modes: tuple[Modes, ...]

    @property
    def omega(self) -> np.ndarray:
        """The angular frequencies (rad/s), (values, modes)."""
        count = min(len(modes) for modes in self.modes)
        return np.array([modes.omega[:count] for modes in self.modes])

    def __repr__(self) -> str:
        first, last = self.values[0], self.values[-1]
        return f"ModesAlong({self.quantity} from {first:g} to {last:g}, {len(self.values)} values)"


def run_modes(model: Model) -> Modes | ModesAlong:
    """The modes described by `modes` of the model: at the initial state, or at each value of the quantity `along`."""
    request = require_request(model, "modes")
    with errors_at(model.root, "modes", "start"):
        if isinstance(model.system, LinearPHDAE):
            if request.lock or request.along:
                raise InputError(f"{model.label} is linear; lock and along are for mechanisms")
            return modes(model.system, request.count)
        if request.along is None:
            return modes(linearise_model(model, request.lock), request.count)
        ((quantity, value_list),) = request.along.items()
        values, modes_found = values_of(value_list), []
        near: Any = model.start.near or None
        locked = lock(model.system, *request.lock)
        for value in values:
            near = place(model.system, {**model.start.place, quantity: float(value)}, near=near)
            modes_found.append(modes(linearise(locked, near), request.count))
        return ModesAlong(quantity, values, tuple(modes_found))


def run_response(model: Model) -> Response:
    """The frequency response described by `response` of the model, at the initial state."""
    request = require_request(model, "response")
    with errors_at(model.root, "response", "start"):
        system = model.system if isinstance(model.system, LinearPHDAE) else linearise_model(model, request.lock)
        return response(system, request.inputs, request.outputs, omega=values_of(request.omega))


def linearise_model(model: Model, locked: tuple[str, ...] = ()) -> LinearPHDAE:
    """The model linearised at its initial state, with joints locked."""
    locked_system = lock(model.mechanism(""), *locked)
    inputs = {name: value for name, value in model.inputs.items() if name in locked_system.ports}
    return linearise(locked_system, model.state, u=inputs, t=model.t_start)


# --- saved runs -------------------------------------------------------------------------------------------------------


def load_result(folder: str | Path, system: System | None = None) -> Result:
    """The run saved in a folder, as far as it was written and can be read.

    Parameters
    ----------
    folder : str or Path
        Where `save_result(result, folder)` or `simulate(…, save=folder)` wrote it.
    system : System, optional
        The system of the run; its quantities, joints and ports are compared with those of the run. By default it is constructed
        from the model in the folder.

    Returns
    -------
    Result
        `result.info` has the scheme of the run, and whether it is finished.

    Raises
    ------
    InputError
        There is no run in the folder, it is of another system, or it has no model: runs of systems that a model file cannot
        hold, and runs of early versions of phloat, need `system`.

    Examples
    --------
    >>> ball = ph.PointMass(mass=1.0).discretise()
    >>> fall = ph.connect({"ball": ball}, gravity=(0.0, -9.81, 0.0), plane="xy")
    >>> result = ph.simulate(fall, ph.place(fall), t_end=1.0, dt=0.01, save="fall")
    >>> again = ph.io.load_result("fall")
    >>> print(again["ball.r_P"][-1].round(4), again.info["finished"])  # −g/2
    [ 0.    -4.905] True
    """
    run_folder = RunFolder(Path(folder))
    if not run_folder.path.is_dir():
        raise InputError(f"there is no saved run in {str(run_folder.path)!r}: it is not a folder")
    if system is not None:
        return load_run(run_folder, system)
    try:
        description = run_folder.description()
    except InputError as error:
        if not run_folder.exists or "cannot be read" not in str(error):
            raise
        return _without_description(run_folder, error)
    model = description.get("model", {"file": None, "why": "it was saved by an early version of phloat"})
    if model["file"] is None:
        raise InputError(f"the run in {str(run_folder.path)!r} has no model ({model['why']}); {GIVE_SYSTEM}")
    return load_run(run_folder, _system(run_folder))


def _system(run_folder: RunFolder) -> System:
    """The system of the model in the folder of a run. Raises InputError if there is none."""
    file = run_folder.path / "model.json"
    if not file.exists():
        raise InputError(f"{str(file)!r} is missing; {GIVE_SYSTEM}")
    model = load_model(file)
    system = replace(model, parts=_with_old_frames(model.parts)).system
    if not isinstance(system, System):
        raise InputError(f"{str(file)!r} is a linear model; {GIVE_SYSTEM}")
    return system


def _with_old_frames(parts: Parts) -> Parts:
    """The parts with the frame of split beams from early versions, which did not write the frame "cantilever" of pieces."""
    bodies: dict[str, Part] = dict(parts.bodies)
    for name, part in parts.bodies.items():
        if isinstance(part, Parts):
            bodies[name] = _with_old_frames(part)
        elif isinstance(part.recipe, Split) and isinstance(beam := part.recipe.beam, Beam) and beam.frame is None:
            bodies[name] = replace(part, recipe=replace(part.recipe, beam=replace(beam, frame=OF_WHOLE)))
    return replace(parts, bodies=bodies)


def _without_description(run_folder: RunFolder, error: InputError) -> Result:
    """The run without its damaged run.json; energies are then computed from the states."""
    system = _system(run_folder)
    warnings.warn(
        f"{error}; the pieces in the folder are read, without the energy accounts", DamagedRunWarning, stacklevel=3
    )
    return load_rows(run_folder, rebuild_description(run_folder), system)
