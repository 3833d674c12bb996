"""The buffers of a run: entries of the kernel, prescribed efforts, driven frames.

They are packed once for a system and the ports that have inputs, unless ends of joints follow from the state; a run has a copy.
"""

from __future__ import annotations

from dataclasses import replace

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
from phloat.motion.kernel.model import KernelModel
from phloat.motion.kernel.pack import Entry, Scalar, Side, packed, side
from phloat.motion.run.states import RunBuffers, load_state
from phloat.system.connection import Connection, Element, port_state
from phloat.system.joint_rows import coordinates_of, element_ends, joint_coordinates
from phloat.system.state import State
from phloat.system.system import System

GROUND = Side(-1, None, np.eye(3), np.zeros(3))
START_GAPS = np.array([t.GAP0, t.GAP1, t.TARGET0, t.TARGET1])
EFFORTS = {"force": "velocity", "torque": "spin"}  # rows along which efforts act


def assemble_run(system: System, state: State, signals: dict[str, Signal], t0: float) -> RunBuffers:
    """The buffers for joints, elements and all ports that have a signal."""
    names = tuple(name for name in system.ports if name in signals)
    if _packs_once(system) and not any(isinstance(signals[name], ServoSignal) for name in names):
        if names not in system.run_buffers:
            system.run_buffers[names] = _packed_run(system, state, signals, names).copy({})
        run = system.run_buffers[names].copy(signals)
        _require_lengths(system, state)
        _restart_drives(run, state)
    else:
        run = _packed_run(system, state, signals, names)
    angles = joint_coordinates(system, state) if run.coordinates else {}
    for name, offset in run.coordinates:
        run.packed.w[offset + START_GAPS] = angles.get(name, 0.0)
    load_state(run, state)
    for motion in run.drives:
        signal = signals.get(motion.name)
        if isinstance(signal, Path) and not isinstance(motion, Swivel):  # it has rates only
            motion.require_at(signal.position_at(t0), t0)
    return run


def _packs_once(system: System) -> bool:
    """Whether buffers serve several runs: no triads that follow from the state, and no compiled laws, which may be discarded."""
    laws = (law for element in system.elements.values() for law in element.laws)
    return system.joint_groups.fixed_triads and all(law.function is None for law in laws)


def _packed_run(system: System, state: State, signals: dict[str, Signal], names: tuple[str, ...]) -> RunBuffers:
    """The buffers for joints, elements and these ports, before a state is written to them."""
    drives, driven, entries = list[Moving](), list[tuple[int, str]](), list[Entry]()
    for c in system.joints.values():
        if c.rows:
            entries.append(_joint_entry(system, c, state))
    _require_lengths(system, state)
    for element in system.elements.values():
        entries += _element_entry(system, element)
    for name in names:
        entries += _servo_entry(effort_entries(system, name), signals[name])
    out = packed(system, state, entries)
    model = out.model
    efforts, effort_indices, drive_indices = list[tuple[str, int]](), list[int](), list[int]()
    coordinates = list[tuple[str, int]]()
    for j, entry in enumerate(out.entries):
        lam = int(model.offsets[t.LAM] + model.entries[j, t.J_LAM])
        memories = model.rows[model.entries[j, t.J_ROW] :, t.R_COEF].tolist()
        coordinates += [(s.coordinate, offset) for s, offset in zip(entry.rows, memories, strict=False) if s.coordinate]
        if not model.entries[j, t.J_UNKNOWN]:
            efforts += [(entry.name, k) for k in range(len(entry.rows))]
            effort_indices += list(range(lam, lam + len(entry.rows)))
            continue
        if entry.rows[0].law.active:
            first = int(model.rows[model.entries[j, t.J_ROW], t.R_LAW]) + t.LAW_SIZE
            efforts += [(entry.name, k) for k in range(3)]
            effort_indices += list(range(first, first + 3))
        if entry.name in system.joints and system.joints[entry.name].driven:
            driven.append((j, entry.name))
            for motion, kind, row in _joint_drives(system, system.joints[entry.name], state):
                drives.append(motion)
                drive_indices += _drive_indices(model, j, kind, row)
    indices = [np.array(part, dtype=np.int64) for part in (effort_indices, drive_indices)]
    drive_values = np.concatenate([np.zeros(0), *(motion.start for motion in drives)])
    energy, prestress = np.zeros(len(system.bodies)), [np.zeros(body.stresses) for body in system.bodies.values()]
    ends = driven, drives, indices[1], drive_values, energy, prestress
    return RunBuffers(system, signals, out, coordinates, efforts, indices[0], *ends)


def _restart_drives(run: RunBuffers, state: State) -> None:
    """Starts the drives of copied buffers from a state."""
    run.drives = []
    for j, name in run.driven:
        for motion, kind, _ in _joint_drives(run.system, run.system.joints[name], state):
            run.drives.append(motion)
            if kind == "frame":
                model = run.packed.model
                for frame in model.ends[model.entries[j, t.J_A], [t.E_FRAME0, t.E_FRAME1]]:
                    run.packed.w[frame : frame + t.FRAME_SIZE] = motion.start
    run.drive_values = np.concatenate([np.zeros(0), *(motion.start for motion in run.drives)])


def _drive_indices(model: KernelModel, j: int, kind: str, row: int) -> list[int]:
    """Indices in w of what a drive moves: a target, a frame of the ground, or directions of the first port."""
    entries, rows, end = model.entries, model.rows, model.ends
    if kind == "target":
        return [int(rows[entries[j, t.J_ROW] + row, t.R_COEF]) + t.TARGET1]
    frame = int(end[entries[j, t.J_A], t.E_FRAME1])
    return list(range(frame, frame + 12)) if kind == "frame" else list(range(frame + 3, frame + 12))


def _joint_entry(system: System, c: Connection, state: State) -> Entry:
    """The entry of a joint: closed, locked and driven rows."""
    first, second = side(system, c.first), side(system, c.second)
    port = port_state(c.second, state)
    if c.joint.moves_ground:
        first = Side(-1, None, port.D.T.copy(), port.c.copy())
    if _spun(c):
        # a locked ball joint aligns two triads that agree at the start: directions t of the second section, A bent(ψ, t) = d
        S = skew(port.Psi @ port.eta)
        bent = port.A @ (np.eye(3) + S + S @ S / 3.0)
        second.triad = np.array([np.linalg.solve(bent, d) for d in port_state(c.first, state).D.T])
    rows = [
        Scalar(
            aligned()[row.terms[0][1] - FIRST] if row.function == "spin" else row,
            t.CLOSED,
            coordinate=f"{c.name}.{row.label}" if row.coordinate else "",
        )
        for row in c.rows
    ]
    return Entry(c.name, first, second, rows)


def _spun(c: Connection) -> tuple[int, ...]:
    """The axes of the rotations of a ball joint that are locked or driven."""
    return tuple(row.terms[0][1] - FIRST for row in c.rows if row.function == "spin")


def _joint_drives(system: System, c: Connection, state: State) -> list[tuple[Moving, str, int]]:
    """What moves a driven joint, from this state: the drive, what it moves, and the row of a target."""
    drives: list[tuple[Moving, str, int]] = []
    if c.joint.moves_ground:
        port = port_state(c.second, state)
        linear = 2 if system.plane else 3
        turning = sum(not row.is_length for row in c.driven)
        start = np.concatenate([port.c, port.D.T.ravel()])
        drives.append((Frame(c.name, start, c.second.triad.T, linear, turning), "frame", 0))
    if c.driven and _spun(c):
        drives.append((Swivel(c.name, side(system, c.first).triad, _spun(c)), "directions", 0))
    driven = [(k, row) for k, row in enumerate(c.rows) if row.coordinate and row in c.driven]
    for component, (k, row) in enumerate(driven):
        start = np.array([coordinates_of(system, state, c.name)[f"{c.name}.{row.label}"]])
        drives.append((Coordinate(c.name, component, start), "target", k))
    return drives


def _joint_of_axis(system: System, element: Element) -> str:
    """The joint on whose free axis an element acts; empty if there is none."""
    ends = [(end.body, end.port) for end in (element.first, element.second)]
    candidates = (c for c in system.joints.values() if [(end.body, end.port) for end in (c.first, c.second)] == ends)
    return next((c.name for c in candidates if set(element.rows) <= set(c.coordinates)), "")


def _require_lengths(system: System, state: State) -> None:
    """Raises InputError if the ends of a spring or damper along its length stand at one point."""
    for element in system.elements.values():
        acting = zip(element.rows, element.laws, strict=True)
        if any(row.function == "length" and (law.stores or law.resists) for row, law in acting):
            first, second = element_ends(element, state)
            if not np.any(second.c - first.c):
                raise InputError(
                    f"the ends of {element.name!r} stand at one point, so it pulls nowhere; start it stretched"
                )


def _element_entry(system: System, element: Element) -> list[Entry]:
    """The entry of an element, without rows that neither store nor dissipate; an empty list if no row is left."""
    rows = [
        Scalar(row, t.COMPLIANT, law, f"{_joint_of_axis(system, element)}.{row.label}" if row.is_angle else "")
        for row, law in zip(element.rows, element.laws, strict=True)
        if law.stores or law.resists
    ]
    return [Entry(element.name, side(system, element.first), side(system, element.second), rows)] if rows else []


def effort_entries(system: System, name: str) -> list[Entry]:
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
        rows = [Scalar(row, t.GIVEN, coordinate=f"{name}.{row.label}" if row.coordinate else "") for row in c.free]
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
