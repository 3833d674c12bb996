"""Systems as functional mock-up units: FMI 3 co-simulation, run by any tool that can load Python."""

from __future__ import annotations

import json
import keyword
import pickle
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from phloat.algebra.version import __version__
from phloat.control.exports import from_matlab, to_matlab
from phloat.control.stepping import LinearStepper, SystemStepper, stepper
from phloat.errors import InputError
from phloat.linear.form.phdae import LinearPHDAE, numbered
from phloat.linear.time.march import start_rows
from phloat.system.state import State
from phloat.system.system import System

SLAVE = '''"""{name}: made by phloat {version}, which the Python that runs it must have: pip install phloat."""

from pythonfmu3 import DefaultExperiment, Float64, Fmi3Causality, Fmi3Slave, Fmi3Variability

from phloat.control.fmu import opened, variables


class {name}(Fmi3Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.modelName, self.description, self.version = "{name}", {description!r}, "{version}"
        self.default_experiment = DefaultExperiment(start_time=0.0, step_size={dt!r})
        self.stepper, self.start, self.begun, self.seen = opened(self.resources), 0.0, False, None
        self.time, when = 0.0, dict(causality=Fmi3Causality.independent, variability=Fmi3Variability.continuous)
        self.register_variable(Float64("time", **when))
        for name, key, k in variables(self.stepper.inputs):
            get, put = self.reader(self.stepper.inputs, key, k), self.writer(key, k)
            self.register_variable(Float64(name, causality=Fmi3Causality.input, getter=get, setter=put))
        for name, key, k in variables(self.stepper.outputs()):
            get = lambda key=key, k=k: self.outputs()[key][k]
            self.register_variable(Float64(name, causality=Fmi3Causality.output, getter=get))

    def reader(self, values, key, k):
        return lambda: values[key].flat[k]

    def writer(self, key, k):
        def put(value):
            self.stepper.inputs[key].flat[k] = value
            if not self.begun:
                self.seen = None
        return put

    def outputs(self):
        if self.seen is None:
            if not self.begun:
                self.stepper.begin(self.start)
            self.seen = self.stepper.outputs()
        return self.seen

    def setup_experiment(self, start_time):
        self.start = self.time = start_time

    def exit_initialization_mode(self):
        self.stepper.begin(self.start)
        self.begun, self.seen = True, None

    def do_step(self, current_time, step_size):
        self.stepper.advance(current_time, step_size)
        self.time, self.seen = current_time + step_size, None
        return True

    def to_xml(self, *options):
        xml = super().to_xml(*options)
        xml.set("variableNamingConvention", "flat")
        return xml
'''


def to_fmu(
    system: System | LinearPHDAE,
    path: str | Path,
    *,
    state: State | Mapping[str, object] | np.ndarray | None = None,
    dt: float,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] = (),
    name: str | None = None,
) -> Path:
    """Writes an FMU for FMI 3 co-simulation: the system from a state on, by midpoint steps of dt, like `simulate`.

    Inputs are "elbow.effort" ("tip.effort[0]" … for several components; "motor.flow" for a driven joint), constant in a
    communication step. Outputs are "elbow.flow" and joint coordinates, "elbow.angle"; for a linear system "elbow.flow" and its
    integral "elbow.way"; for a driven joint "motor.effort", that of the last step. `inputs` are the ports to open (by default axes
    of joints, drives, forces and torques; all ports of a linear system), `outputs` more quantities, "rod.theta".

    The FMU needs a Python with phloat where it is run (of the same version for a `System`).
    """
    builder = _package()
    file = Path(path)
    if file.suffix != ".fmu":
        raise InputError(f"{str(file)!r} does not end in .fmu")
    if not file.parent.is_dir():
        raise InputError(f"the folder {str(file.parent)!r} does not exist; make it first")
    called = _identifier(file.stem if name is None else name)
    if isinstance(system, System) and not isinstance(state, State):
        raise InputError("give state=, the initial state: place(system, …) makes one")
    ready = stepper(system, state, dt, inputs=inputs, outputs=outputs)
    if not ready.inputs and not ready.outputs():
        raise InputError("the FMU would have no inputs and no outputs; name some with inputs= or outputs=")
    with tempfile.TemporaryDirectory() as folder:
        # a unique name of the module: an FMU called json must not replace the module json
        script = Path(folder, f"{called}_{uuid.uuid4().hex}.py")
        said = SLAVE.format(name=called, version=__version__, description=repr(system), dt=float(dt))
        script.write_text(said, encoding="utf-8")
        task = {"dt": float(dt), "inputs": None if inputs is None else list(inputs), "outputs": list(outputs)}
        Path(folder, "task.json").write_text(json.dumps(task | {"phloat": __version__}), encoding="utf-8")
        files = [Path(folder, "task.json"), *_written(system, state, Path(folder))]
        built = builder.build_FMU(script, dest=Path(folder, "fmu"), project_files=files)
        try:
            file.write_bytes(built.read_bytes())
        except OSError as error:
            raise InputError(f"{str(file)!r} cannot be written: {error.strerror}") from error
    return file


def opened(folder: str | Path) -> SystemStepper | LinearStepper:
    """The system in the resources of an FMU, ready to be advanced. FMUs call this function."""
    here = Path(folder)
    task = json.loads((here / "task.json").read_text(encoding="utf-8"))
    options = {name: task[name] for name in ("inputs", "outputs")}
    if (here / "system.mat").exists():
        start = np.load(here / "start.npy", allow_pickle=False)
        return stepper(from_matlab(here / "system.mat"), start, task["dt"], **options)
    try:
        system, state = pickle.loads((here / "system.pickle").read_bytes())
    except (AttributeError, ImportError, TypeError) as error:
        raise InputError(
            f"the system was written by phloat {task['phloat']} and cannot be read by {__version__} ({error}); make the FMU again"
        ) from error
    return stepper(system, state, task["dt"], **options)


def variables(values: Mapping[str, np.ndarray]) -> list[tuple[str, str, int]]:
    """The scalars of blocks: the name of each, its block and its index there. FMUs call this function."""
    return [(name, key, k) for key, block in values.items() for k, name in enumerate(numbered(key, np.size(block)))]


def _written(
    system: System | LinearPHDAE, state: State | Mapping[str, object] | np.ndarray | None, folder: Path
) -> list[Path]:
    """Writes the system and its start to files: open formats for a linear system, a pickle for others."""
    if isinstance(system, LinearPHDAE):
        assert not isinstance(state, State)
        to_matlab(system, folder / "system.mat")
        np.save(folder / "start.npy", start_rows(system, state))
        return [folder / "system.mat", folder / "start.npy"]
    try:
        (folder / "system.pickle").write_bytes(pickle.dumps((system, state)))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            f"the system cannot be written ({error}); its functions must be defined in a module, not inside others"
        ) from error
    return [folder / "system.pickle"]


def _identifier(name: object) -> str:
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii() or keyword.iskeyword(name):
        raise InputError(f"{name!r} cannot name an FMU: letters, digits and _ only, and no digit first; give name=…")
    return name


def _package() -> Any:
    try:
        from pythonfmu3 import FmuBuilder
    except ImportError:
        raise InputError("pythonfmu3 is not installed; pip install phloat[fmi]") from None
    return FmuBuilder
