"""The buffers of a run: entries of the kernel, prescribed efforts, driven frames; states in and out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from phloat.algebra.cross import skew
from phloat.bodies.body import Port
from phloat.errors import InputError
from phloat.joints.rows import FIRST, INERTIAL, SECOND
from phloat.joints.standard_rows import aligned, effort_row
from phloat.motion.inputs.drives import Coordinate, Frame, Moving, Path, Swivel
from phloat.motion.inputs.servos import ServoSignal
from phloat.motion.inputs.signals import Signal
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.arrays import AXES
from phloat.motion.kernel.model import KernelModel
from phloat.motion.kernel.pack import Entry, Packed, Scalar, Side, packed, side
from phloat.motion.kernel.step import start_ports
from phloat.system.connection import Connection, Element, port_state
from phloat.system.joint_rows import element_ends, joint_coordinates
from phloat.system.state import State
from phloat.system.system import System

GROUND = Side(-1, None, np.eye(3), np.zeros(3))
EFFORTS = {"force": "velocity", "torque": "spin"}  # rows along which efforts act


@dataclass(eq=False)
class RunBuffers:
    """The buffers of a run, and the indices of its inputs and drives in them."""

    system: System
    signals: dict[str, Signal]  # by port; a controller changes them
    packed: Packed
    efforts: list[tuple[str, int]]  # port and component of each prescribed effort …
    effort_indices: np.ndarray  # … and their indices in w
    drives: list[Moving]
    drive_indices: np.ndarray
    drive_values: np.ndarray  # positions of the drives
    prestress_energy: np.ndarray  # energy of pre-stress, per body
    prestress: list[np.ndarray]  # σ − C⁻¹ε(η), per body

    @cached_property
    def effort_columns(self) -> dict[str, tuple[list[int], list[int]]]:
        """For each port with a prescribed effort: its columns among all efforts, and the component in each."""
        out: dict[str, tuple[list[int], list[int]]] = {}
        for k, (name, component) in enumerate(self.efforts):
            columns, components = out.setdefault(name, ([], []))
            columns.append(k)
            components.append(component)
        return out


def assemble_run(system: System, state: State, signals: dict[str, Signal], t0: float) -> RunBuffers:
    """The buffers for joints, elements and all ports that have a signal."""
    angles = joint_coordinates(system, state)
    drives, drives_of = list[Moving](), dict[str, list[tuple[Moving, str, int]]]()
    entries = []
    for c in system.joints.values():
        if c.rows:
            entry, drives_of[c.name] = _joint_entry(system, c, state, angles)
            entries.append(entry)
    for element in system.elements.values():
        entries += _element_entry(system, element, state, angles)
    for name in [n for n in system.ports if n in signals]:
        entries += _servo_entry(effort_entries(system, name, angles), signals[name])
    out = packed(system, state, entries)
    model = out.model
    efforts, effort_indices, drive_indices = list[tuple[str, int]](), list[int](), list[int]()
    for j, entry in enumerate(out.entries):
        lam = int(model.offsets[t.LAM] + model.entries[j, t.J_LAM])
        if not model.entries[j, t.J_UNKNOWN]:
            efforts += [(entry.name, k) for k in range(len(entry.rows))]
            effort_indices += list(range(lam, lam + len(entry.rows)))
            continue
        if entry.rows[0].law.active:
            first = int(model.rows[model.entries[j, t.J_ROW], t.R_LAW]) + t.LAW_SIZE
            efforts += [(entry.name, k) for k in range(3)]
            effort_indices += list(range(first, first + 3))
        for motion, kind, row in drives_of.get(entry.name, []):
            drives.append(motion)
            drive_indices += _drive_indices(model, j, kind, row)
    indices = [np.array(part, dtype=np.int64) for part in (effort_indices, drive_indices)]
    drive_values = np.concatenate([np.zeros(0), *(motion.start for motion in drives)])
    energy, prestress = np.zeros(len(system.bodies)), [np.zeros(body.stresses) for body in system.bodies.values()]
    run = RunBuffers(system, signals, out, efforts, indices[0], drives, indices[1], drive_values, energy, prestress)
    load_state(run, state)
    for motion in drives:
        signal = signals.get(motion.name)
        if isinstance(signal, Path) and not isinstance(motion, Swivel):  # it has rates only
            motion.require_at(signal.position_at(t0), t0)
    return run


def _drive_indices(model: KernelModel, j: int, kind: str, row: int) -> list[int]:
    """Indices in w of what a drive moves: a target, a frame of the ground, or directions of the first port."""
    entries, rows, end = model.entries, model.rows, model.ends
    if kind == "target":
        return [int(rows[entries[j, t.J_ROW] + row, t.R_COEF]) + t.TARGET1]
    frame = int(end[entries[j, t.J_A], t.E_FRAME1])
    return list(range(frame, frame + 12)) if kind == "frame" else list(range(frame + 3, frame + 12))


def _joint_entry(
    system: System, c: Connection, state: State, angles: dict[str, float]
) -> tuple[Entry, list[tuple[Moving, str, int]]]:
    """The entry of a joint (closed, locked and driven rows), and its drives."""
    first, second = side(system, c.first), side(system, c.second)
    drives: list[tuple[Moving, str, int]] = []
    port = port_state(c.second, state)
    if c.joint.moves_ground:
        first = Side(-1, None, port.D.T.copy(), port.c.copy())
        linear = 2 if system.plane else 3
        turning = sum(not row.is_length for row in c.driven)
        start = np.concatenate([port.c, port.D.T.ravel()])
        drives.append((Frame(c.name, start, c.second.triad.T, linear, turning), "frame", 0))
    rows: list[Scalar] = []
    component = 0
    if spun := tuple(row.terms[0][1] - FIRST for row in c.rows if row.function == "spin"):
        # a locked ball joint aligns two triads that agree at the start: directions t of the second section, A bent(ψ, t) = d
        S = skew(port.Psi @ port.eta)
        bent = port.A @ (np.eye(3) + S + S @ S / 3.0)
        second.triad = np.array([np.linalg.solve(bent, d) for d in port_state(c.first, state).D.T])
        if c.driven:
            drives.append((Swivel(c.name, first.triad, spun), "directions", 0))
    for row in c.rows:
        scalar = Scalar(aligned()[row.terms[0][1] - FIRST] if row.function == "spin" else row, t.CLOSED)
        if row.coordinate:
            scalar.gap = angles[f"{c.name}.{row.label}"]
            if row in c.driven:
                drives.append((Coordinate(c.name, component, np.array([scalar.gap])), "target", len(rows)))
                component += 1
        rows.append(scalar)
    return Entry(c.name, first, second, rows), drives


def _joint_of_axis(system: System, element: Element) -> str:
    """The joint on whose free axis an element acts; empty if there is none."""
    ends = [(end.body, end.port) for end in (element.first, element.second)]
    candidates = (c for c in system.joints.values() if [(end.body, end.port) for end in (c.first, c.second)] == ends)
    return next((c.name for c in candidates if set(element.rows) <= set(c.coordinates)), "")


def _element_entry(system: System, element: Element, state: State, angles: dict[str, float]) -> list[Entry]:
    """The entry of an element, without rows that neither store nor dissipate; an empty list if no row is left."""
    rows, (first, second) = [], element_ends(element, state)
    for row, law in zip(element.rows, element.laws, strict=True):
        if law.stores or law.resists:
            scalar = Scalar(row, t.COMPLIANT, law)
            if row.function == "length" and not np.any(second.c - first.c):
                raise InputError(
                    f"the ends of {element.name!r} stand at one point, so it pulls nowhere; start it stretched"
                )
            if row.is_angle:
                scalar.gap = angles.get(f"{_joint_of_axis(system, element)}.{row.label}", 0.0)
            rows.append(scalar)
    return [Entry(element.name, side(system, element.first), side(system, element.second), rows)] if rows else []


def effort_entries(system: System, name: str, angles: dict[str, float]) -> list[Entry]:
    """The entries of rows along which the efforts of a port act; none for drives."""
    if name in system.actuators:
        actuator = system.actuators[name]
        follows = actuator.axes == "body" and system.bodies[actuator.body].rotates  # a point mass has no axes
        function, axes = EFFORTS[actuator.kind], SECOND if follows else INERTIAL
        number = list(system.bodies).index(actuator.body)
        if actuator.area is not None:
            surface = Side(number, None, np.eye(3), np.zeros(3), actuator.area)
            return [Entry(name, GROUND, surface, [_effort_row("velocity", np.eye(3)[0], INERTIAL)])]
        return [
            Entry(name, GROUND, _port_side(number, port), [_effort_row(function, vector, axes)])
            for vector, port in actuator.forces
        ]
    if name in system.joints:
        c = system.joints[name]
        if not c.free:
            return []
        gaps = (angles.get(f"{name}.{row.label}", 0.0) if row.coordinate else 0.0 for row in c.free)
        rows = [Scalar(row, t.GIVEN, gap=gap) for row, gap in zip(c.free, gaps, strict=True)]
        return [Entry(name, side(system, c.first), side(system, c.second), rows)]
    owner, _, port_name = name.rpartition(".")
    body = system.bodies[owner]
    axes = SECOND if body.rotates else INERTIAL
    rows = [_effort_row("velocity" if i < 3 else "spin", np.eye(3)[i % 3], axes) for i in body.active]
    return [Entry(name, GROUND, _port_side(list(system.bodies).index(owner), body.port(port_name)), rows)]


def _servo_entry(entries: list[Entry], signal: Signal) -> list[Entry]:
    """The entries of a port; with a servo as its input, the row of the free axis has the law of the servo."""
    if isinstance(signal, ServoSignal):
        entries[0].rows[0] = replace(entries[0].rows[0], mode=t.COMPLIANT, law=signal.law)
    return entries


def _effort_row(function: str, direction: np.ndarray, axes: int) -> Scalar:
    """A row along which an effort is prescribed."""
    return Scalar(effort_row(function, direction, axes), t.GIVEN)


def _port_side(body: int, port: Port) -> Side:
    return Side(body, port, np.eye(3), np.zeros(3))


# --- states in and out -----------------------------------------------------------------------------------------------


def load_state(run: RunBuffers, state: State) -> None:
    """Writes a state to the buffers: motion of the mass centre, pre-stress, ports, targets of closed rows."""
    w, model = run.packed.w, run.packed.model
    for i, (name, arrays) in enumerate(run.packed.arrays.items()):
        pose, B = state.pose(name), model.bodies[i]
        n = int(B[t.N_ETA])
        (c,), (c_dot,) = arrays.centre.motion(pose.eta[None], pose.rates[None])
        r = pose.r_P + pose.A @ c
        V = pose.A @ (pose.v_P + np.cross(pose.omega, c) + c_dot)
        w[B[t.W_Q] : B[t.W_Q] + 12 + n] = np.concatenate([r, pose.A.ravel(), pose.eta])
        w[B[t.W_Q1] : B[t.W_Q1] + 12] = np.concatenate([r, pose.A.ravel()])
        w[B[t.W_QT] : B[t.W_QT] + 9] = np.eye(3).ravel()
        w[B[t.W_V] : B[t.W_V] + 6 + n] = np.concatenate([V, pose.omega, pose.rates])
        if f"{name}.theta" in state.layout:
            w[B[t.W_THETA]] = float(state[f"{name}.theta"])
        run.prestress[i] = pose.sigma - arrays.body.elastic.stress(pose.eta) if n else pose.sigma
        if run.prestress[i].any():
            strain, force, run.prestress_energy[i] = arrays.prestress(run.prestress[i])
            w[B[t.W_PRE] : B[t.W_PRE] + len(strain)] = strain
            w[B[t.W_FPRE] : B[t.W_FPRE] + n] = force
        else:
            w[B[t.W_PRE] : B[t.W_PRE] + np.count_nonzero(arrays.quadratic)] = 0.0
            w[B[t.W_FPRE] : B[t.W_FPRE] + n] = run.prestress_energy[i] = 0.0
    run.packed.iw[t.I_STARTED] = run.packed.iw[t.I_FACTORED] = 0
    start_ports(model, w)


def unload_states(run: RunBuffers, numbers: np.ndarray, only: str | None = None) -> np.ndarray:
    """States e (times × layout) from output rows (times × numbers); with `only` those of one body, zero elsewhere."""
    system, first = run.system, run.packed.first
    e = np.zeros((len(numbers), system.layout.size))
    for i, (name, arrays) in enumerate(run.packed.arrays.items()):
        if only is not None and name != only:
            continue
        body, B = arrays.body, run.packed.model.bodies[i]
        n, q, v = int(B[t.N_ETA]), int(B[t.W_Q]) - first, int(B[t.W_V]) - first
        r, A, eta = numbers[:, q : q + 3], numbers[:, q + 3 : q + 12].reshape(-1, 3, 3), numbers[:, q + 12 : q + 12 + n]
        V, omega, rates = numbers[:, v : v + 3], numbers[:, v + 3 : v + 6], numbers[:, v + 6 : v + 6 + n]
        c, c_dot = arrays.centre.motion(eta, rates)
        linear, turning = list(range(arrays.linear)), AXES[arrays.turning]
        V_body = np.einsum("tji,tj->ti", A, V)
        values = {
            "r_P": (r - np.einsum("tij,tj->ti", A, c))[:, linear],
            "A_IB": A.reshape(-1, 9),
            "theta": numbers[:, int(B[t.W_THETA]) - first][:, None],
            "eta": eta,
            "v_P": (V_body - _cross_rows(omega, c) - c_dot)[:, linear],
            "omega": omega[:, turning],
            "eta_dot": rates,
        }
        for quantity, value in values.items():
            if f"{name}.{quantity}" in system.layout:
                e[:, system.layout[f"{name}.{quantity}"]] = value
        if body.stresses:  # σ = C⁻¹ε(η) + pre-stress, which is an invariant
            Q, strain = body.elastic.Q, (body.elastic.D @ eta.T).T
            np.add.at(strain.T, Q.strain, (0.5 * Q.value * eta[:, Q.row] * eta[:, Q.column]).T)
            e[:, system.layout[f"{name}.sigma"]] = (body.elastic.C_inverse @ strain.T).T + run.prestress[i]
    return e


def _cross_rows(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a × b for each row (np.cross takes five times as long)."""
    a, b = a.T, b.T
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], axis=1)
