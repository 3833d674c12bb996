"""Systems as functional mock-up units: FMI 3 co-simulation, run by any tool that can load Python."""

from __future__ import annotations

import json
import keyword
import pickle
import tempfile
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from phloat.algebra.layout import Layout
from phloat.algebra.version import __version__
from phloat.control.exports import from_matlab, to_matlab
from phloat.errors import InputError, optional_package, positive, require_folder
from phloat.linear.form.interconnect import flow_ports
from phloat.linear.form.phdae import LinearPHDAE, numbered
from phloat.linear.time.gauss import GaussSolver
from phloat.linear.time.stepper import consistent_start, massless_rows, start_rows
from phloat.motion.initial.velocities import consistent_state, redundant_rows, require_closed
from phloat.motion.inputs.inputs import Inputs
from phloat.motion.inputs.signals import Constant
from phloat.motion.kernel.tables import LAM
from phloat.motion.run.kernel_run import KernelRun
from phloat.motion.run.outputs import Outputs
from phloat.motion.run.task import Task
from phloat.system.joint_rows import columns_in_velocities, joint_coordinates, joint_rows
from phloat.system.state import State
from phloat.system.system import System, fits

SLAVE = '''"""{name}: made by phloat {version}, which the Python that runs it must have: pip install phloat."""

from pythonfmu3 import DefaultExperiment, Float64, Fmi3Causality, Fmi3Slave, Fmi3Variability

from phloat.control.fmu import opened, variables


class {name}(Fmi3Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.modelName, self.description, self.version = "{name}", {description!r}, "{version}"
        self.default_experiment = DefaultExperiment(start_time=0.0, step_size={dt!r})
        self.stepper, self.start, self.started, self.current = opened(self.resources), 0.0, False, None
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
            if not self.started:
                self.current = None
        return put

    def outputs(self):
        if self.current is None:
            if not self.started:
                self.stepper.begin(self.start)
            self.current = self.stepper.outputs()
        return self.current

    def setup_experiment(self, start_time):
        self.start = self.time = start_time

    def exit_initialization_mode(self):
        self.stepper.begin(self.start)
        self.started, self.current = True, None

    def do_step(self, current_time, step_size):
        self.stepper.advance(current_time, step_size)
        self.time, self.current = current_time + step_size, None
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
    """Writes an FMU for FMI 3 co-simulation of a system from an initial state, by midpoint steps of dt as in `simulate`.

    Inputs are "elbow.effort" ("tip.effort[0]" … for several components; "motor.flow" for a driven joint), constant in a
    communication step. Outputs are "elbow.flow" and joint coordinates, "elbow.angle"; for a linear system "elbow.flow" and its
    integral "elbow.way"; for a driven joint "motor.effort", that of the last step. `inputs` are the ports to open (default: axes of
    joints, drives, forces and torques; all ports of a linear system), `outputs` additional quantities, such as "rod.theta".

    The FMU needs a Python with phloat where it is run (of the same version for a `System`).
    """
    with optional_package("pythonfmu3", "fmi"):
        from pythonfmu3 import FmuBuilder
    file = require_folder(path)
    if file.suffix != ".fmu":
        raise InputError(f"{str(file)!r} does not end in .fmu")
    module_name = _identifier(file.stem if name is None else name)
    if isinstance(system, System) and not isinstance(state, State):
        raise InputError("give state=, the initial state: place(system, …) makes one")
    model = stepper(system, state, dt, inputs=inputs, outputs=outputs)
    if not model.inputs and not model.outputs():
        raise InputError("the FMU would have no inputs and no outputs; name some with inputs= or outputs=")
    with tempfile.TemporaryDirectory() as folder:
        # a unique name of the module: an FMU called json must not replace the module json
        script, task = Path(folder, f"{module_name}_{uuid.uuid4().hex}.py"), Path(folder, "task.json")
        text = SLAVE.format(name=module_name, version=__version__, description=repr(system), dt=float(dt))
        script.write_text(text, encoding="utf-8")
        options = {"inputs": None if inputs is None else list(inputs), "outputs": list(outputs)}
        task.write_text(json.dumps({"dt": float(dt), **options, "phloat": __version__}), encoding="utf-8")
        files = [task, *_write_system(system, state, Path(folder))]
        package = FmuBuilder.build_FMU(script, dest=Path(folder, "fmu"), project_files=files)
        try:
            file.write_bytes(package.read_bytes())
        except OSError as error:
            raise InputError(f"{str(file)!r} cannot be written: {error.strerror}") from error
    return file


def opened(folder: str | Path) -> SystemStepper | LinearStepper:
    """The stepper of the system in the resources folder of an FMU. FMUs call this function."""
    resources = Path(folder)
    task = json.loads((resources / "task.json").read_text(encoding="utf-8"))
    options = {name: task[name] for name in ("inputs", "outputs")}
    if (resources / "system.mat").exists():
        start = np.load(resources / "start.npy", allow_pickle=False)
        return stepper(from_matlab(resources / "system.mat"), start, task["dt"], **options)
    try:
        system, state = pickle.loads((resources / "system.pickle").read_bytes())
    except (AttributeError, ImportError, TypeError) as error:
        raise InputError(
            f"the system was written by phloat {task['phloat']} and cannot be read by {__version__} ({error}); make the FMU again"
        ) from error
    return stepper(system, state, task["dt"], **options)


def variables(values: Mapping[str, np.ndarray]) -> list[tuple[str, str, int]]:
    """For each scalar variable its name, the name of its array and its index in it. FMUs call this function."""
    return [(name, key, k) for key, block in values.items() for k, name in enumerate(numbered(key, np.size(block)))]


def _write_system(
    system: System | LinearPHDAE, state: State | Mapping[str, object] | np.ndarray | None, folder: Path
) -> list[Path]:
    """Writes the system and its initial state to files, and returns them: .mat and .npy for a linear system, otherwise a pickle."""
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
    """Returns the name; raises InputError if it is not an ASCII identifier."""
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii() or keyword.iskeyword(name):
        raise InputError(f"{name!r} cannot name an FMU: letters, digits and _ only, and no digit first; give name=…")
    return name


class ExternalStepper:
    """A system that another program advances: `begin`, then set `inputs` and call `advance`; `outputs()` are the current ones.

    The steps are exactly those of `simulate` with the same constant inputs and dt. An interval that is not a multiple of dt is
    divided into equal steps that are a little shorter. `begin` makes velocities consistent with the inputs.

    "elbow.effort" is an input and "elbow.flow" an output; for a driven joint the flow is the input, and the output "motor.effort"
    is the effort of the last step.
    """

    def __init__(self, layout: Layout, dt: float, ports: Iterable[str], driven: Iterable[str], outputs: Sequence[str]):
        self.dt, self.ports, self.driven, self.extra = positive("dt", dt), tuple(ports), set(driven), tuple(outputs)
        if len(set(self.ports)) < len(self.ports):
            raise InputError(f"a port is repeated in {self.ports}")
        self.inputs = {self._input(p): np.zeros(layout.shape(p)) for p in self.ports}

    def _input(self, port: str) -> str:
        return f"{port}.{'flow' if port in self.driven else 'effort'}"


class SystemStepper(ExternalStepper):
    """Advances a nonlinear system by the midpoint rule.

    Outputs are the effort of each driven port, the flow of each other port, and all joint coordinates ("elbow.angle").
    """

    def __init__(
        self, system: System, state: State, dt: float, inputs: Iterable[str] | None, outputs: Sequence[str]
    ) -> None:
        driven = [name for name, joint in system.joints.items() if joint.driven]
        # by default the axes of joints, drives, forces and torques; every body port if there are none
        axes = [p for p in system.ports if p in system.joints or p in system.actuators] or system.ports
        super().__init__(system.ports, dt, axes if inputs is None else inputs, driven, outputs)
        self.system, self.state = system, state
        require_closed(system, self.state)
        self.runner: KernelRun | None = None
        self.angles = tuple(joint_coordinates(system, self.state))
        available = Outputs(system, self.state)
        for name in self.extra:
            available[name]  # raises PortError for an unknown name

    def begin(self, t: float) -> None:
        u = Inputs(self.system, {p: self.inputs[self._input(p)].copy() for p in self.ports})
        state = consistent_state(self.system, self.state, u.at(t))
        dropped = redundant_rows(self.system, state)
        self.runner = KernelRun(Task(self.system, state, t, np.inf, self.dt, u, dropped=dropped))

    def advance(self, t: float, length: float) -> None:
        if self.runner is None:
            self.begin(t)
        assert self.runner is not None
        for port in self.ports:
            self.runner.signals[port] = Constant(self.inputs[self._input(port)].copy())
        self.runner.step_through(nodes(t, length, self.dt))

    def outputs(self) -> dict[str, np.ndarray]:
        y = Outputs(self.system, self.state if self.runner is None else self.runner.state())
        out = {f"{p}.flow": np.atleast_1d(y[p]) for p in self.ports if p not in self.driven}
        if driven := [p for p in self.ports if p in self.driven]:
            lam = np.zeros(self.system.multipliers.size)
            if self.runner is not None:  # λ of the last step
                packed = self.runner.packed
                lam = packed.w[packed.model.offsets[LAM] :][: len(lam)]
            effort = joint_rows(self.system, y.state, columns_in_velocities(self.system))[1].T @ lam
            out |= {f"{p}.effort": effort[self.system.ports[p]] for p in driven}
        return out | {name: np.ravel(y[name]) for name in (*self.angles, *self.extra)}


class LinearStepper(ExternalStepper):
    """Advances a linear system by the midpoint rule.

    Outputs are the effort of each driven port, and the flow of each other port with its integral ("elbow.way"). A feedthrough
    acts with the inputs of the last step.
    """

    def __init__(
        self, system: LinearPHDAE, start: np.ndarray, dt: float, inputs: Iterable[str] | None, outputs: Sequence[str]
    ) -> None:
        super().__init__(system.ports, dt, system.ports if inputs is None else inputs, flow_ports(system), outputs)
        self.system = system
        system.rows.indices(self.extra)  # raises PortError for an unknown name
        self.e = self.start = start
        self.u, (self.loose, self.settled) = np.zeros(system.ports.size), massless_rows(system)
        self.lam, self.way = np.zeros(system.multipliers.size), np.zeros(system.ports.size)
        self.solver: GaussSolver | None = None

    def begin(self, t: float) -> None:
        self.u = self._u()
        self.e = consistent_start(self.system, self.start, self.u)

    def advance(self, t: float, length: float) -> None:
        times = nodes(t, length, self.dt)
        h = length / (len(times) - 1)
        if self.solver is None or abs(h - self.solver.h) > 1e-9 * h:
            self.solver = GaussSolver(self.system, h)
        self.u = self._u()
        for _ in times[1:]:
            mean, self.lam = (stages[0] for stages in self.solver.stages(self.e, self.u[None], self.u[None]))
            self.e = 2.0 * mean - self.e
            self.e[self.loose] = mean[self.loose]  # as λ: a step determines their means only
            self.way = self.way + self.solver.h * self.system.output(mean, self.lam, self.u)

    def outputs(self) -> dict[str, np.ndarray]:
        e = self.e if self.settled is None else self.settled(self.e, self.u)
        y = self.system.output(e, self.lam, self.u)
        out: dict[str, np.ndarray] = {}
        for port in self.ports:
            columns = self.system.ports[port]
            if port in self.driven:
                out[f"{port}.effort"] = y[columns]
            else:
                out |= {f"{port}.flow": y[columns], f"{port}.way": self.way[columns]}
        return out | {name: e[self.system.rows[name]] for name in self.extra}

    def _u(self) -> np.ndarray:
        """The inputs as a vector over all ports."""
        u = np.zeros(self.system.ports.size)
        for port in self.ports:
            u[self.system.ports[port]] = self.inputs[self._input(port)]
        return u


def stepper(
    system: System | LinearPHDAE,
    state: State | Mapping[str, object] | np.ndarray | None,
    dt: float,
    *,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] = (),
) -> SystemStepper | LinearStepper:
    """A stepper for a system and its initial state, which another program advances."""
    if not isinstance(system, LinearPHDAE):
        return SystemStepper(system, fits(system, state), dt, inputs, outputs)
    if isinstance(state, State):
        raise InputError("a linear system starts from {row: values}, a vector, or None for rest; not from a State")
    return LinearStepper(system, start_rows(system, state), dt, inputs, outputs)


def nodes(t: float, length: float, dt: float) -> np.ndarray:
    """The times of the steps of an interval, its ends included: steps of dt, or a little shorter if dt does not divide it."""
    interval = positive("the length of time", length)
    steps = max(1, int(np.ceil(interval / dt * (1 - 1e-9))))
    return t + interval / steps * np.arange(steps + 1)
