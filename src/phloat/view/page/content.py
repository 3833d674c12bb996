"""Content of a page: drawings, frames of every body, symbols of joints and forces, quantities to plot, a summary.

A document names its arrays by their number in a pack. Linear runs and modes are bodies in place, moved by a few shapes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from phloat.errors import InputError
from phloat.joints.elements import Damper, Spring
from phloat.linear.analysis.modes import Modes
from phloat.linear.form.phdae import Field
from phloat.linear.time.march import LinearResult
from phloat.motion.inputs.inputs import Inputs, as_inputs
from phloat.motion.ledger import Ledger, energy_ledger
from phloat.motion.result import Result
from phloat.motion.summary import describe_deformation
from phloat.system.connection import Connection, Element, End
from phloat.system.state import Pose
from phloat.system.system import System
from phloat.view.figures import evenly
from phloat.view.mechanism import elastic_modes
from phloat.view.page.pack import Pack, compressed, principal
from phloat.view.quantities import STRESS, PlotQuantity, linear_quantities, result_quantities
from phloat.view.scene import Drawing, body_motion, field_drawing, pose_at, scene, scene_size

MAX_FRAMES = 600
MAX_TIMES = 3000  # of a plot
MAX_NUMBERS = 600_000  # of all plots
MAX_TURN = 0.35  # rad, of a body between two frames
FEW = 16  # coordinates that are not compressed, so that equal bodies share a drawing
JOINT_SIZE = 0.012  # of the size of the scene
TOLERANCE = 2e-4  # of compressed coordinates, relative to the largest deformation
MAX_MODES = 24
AMPLITUDE = 0.08  # of the size of the scene: the largest displacement of a mode

Document = dict[str, Any]
EMPTY: Document = {"joints": [], "elements": [], "range": {"stress": 0.0, "speed": 0.0}, "quantities": []}


def motion_content(result: Result, u: Mapping[str, object] | Inputs | None) -> tuple[Document, Pack]:
    """The page of a run."""
    system, pack = result.system, Pack()
    drawings, size = body_drawings(result)
    inputs, ledger = None if u is None else as_inputs(system, u), energy_ledger(result, u)
    lines = 12 + sum(6 + 4 * len(body.ports) for body in system.bodies.values()) + 2 * system.multipliers.size
    at = thin_out(np.arange(len(result)), int(np.clip(MAX_NUMBERS // lines, 200, MAX_TIMES)))
    turned = None if result.turned is None else result.turned[at]
    few = replace(result, t=result.t[at], e=result.e[at], lam=result.lam[at], accounts=None, turned=turned)
    if system.plane or turned is not None:
        coordinates = few.coordinates
    else:  # turns that were not counted are found from time to time
        coordinates = {name: line[at] for name, line in result.coordinates.items()}
    moves = {name: body_motion(result, name, at) for name in system.bodies}
    quantities = result_quantities(few, ledger, at, moves, drawings, coordinates, inputs)
    frames = _frames(few, moves)
    moves = {name: pose_at(move, frames) for name, move in moves.items()}
    stresses = [q.lines["largest"].max() for q in quantities if q.name.endswith(STRESS)]
    document: Document = {
        "kind": "motion",
        "plane": system.plane is not None,
        "up": _up(system),
        "frames": pack.exact(few.t[frames]),
        "times": pack.exact(few.t),
        "bodies": [_body(pack, name, *_compressed(drawings[name], move)) for name, move in moves.items()],
        "joints": [_joint(system, drawings, c, size) for c in system.joints.values()],
        "elements": [_element(drawings, e) for e in system.elements.values() if e.first.body or e.second.body],
        "range": {"stress": float(max(stresses, default=0.0)), "speed": _largest_speed(drawings, moves)},
        "box": _box(np.vstack([_some_points(drawings[name], move) for name, move in moves.items()])),
        "quantities": _quantities(pack, quantities),
        "summary": _summary(result, ledger, len(frames)),
    }
    return document, pack


def body_drawings(result: Result) -> tuple[dict[str, Drawing], float]:
    """The drawings of all bodies, and the size of the scene."""
    size = scene_size(result.system, *(result.state(int(k)) for k in evenly(len(result), 12)))
    return scene(result.system, result.state(0), size), size


def thin_out(at: np.ndarray, most: int) -> np.ndarray:
    """At most about `most` of them, evenly, and the last."""
    step = -(-len(at) // most)
    return at if step <= 1 else np.unique(np.append(at[::step], at[-1]))


def _frames(result: Result, moves: Mapping[str, Pose]) -> np.ndarray:
    """The outputs that are frames: enough for smooth motion, rotation included."""
    turned = np.zeros(max(len(result) - 1, 0))
    for move in moves.values():
        rate = np.linalg.norm(move.omega, axis=1)
        turned = np.maximum(turned, 0.5 * (rate[1:] + rate[:-1]) * np.diff(result.t))
    return thin_out(np.arange(len(result)), max(MAX_FRAMES, int(turned.sum() / MAX_TURN)))


def _compressed(drawn: Drawing, move: Pose) -> tuple[Drawing, Pose]:
    """A drawing that is moved and stressed by few coordinates, and these over time."""
    if not drawn.cauchy.size:
        move = move._replace(sigma=np.zeros((len(move.r_P), 0)))
    if drawn.rows.shape[1] > FEW:
        rows, (eta, rates) = compressed(drawn.rows, move.eta, move.rates, within=TOLERANCE)
        drawn, move = replace(drawn, rows=rows), move._replace(eta=eta, rates=rates)
    if drawn.cauchy.size and drawn.cauchy.shape[1] > FEW:
        cauchy, (sigma,) = compressed(drawn.cauchy, move.sigma, within=TOLERANCE)
        drawn, move = replace(drawn, cauchy=cauchy), move._replace(sigma=sigma)
    return drawn, move


def _body(pack: Pack, name: str, drawn: Drawing, move: Pose) -> Document:
    look: Document = {
        "kind": drawn.kind,
        "points": pack.floats(drawn.points),
        "triangles": pack.whole(drawn.triangles),
        "edges": pack.whole(drawn.edges),
        "rows": pack.rough(drawn.rows),
        "thin": drawn.thin,
        "ports": dict(drawn.ports),
    }
    if drawn.normals is not None:
        look["normals"] = pack.rough(drawn.normals)
    if drawn.cauchy.size:
        parts = drawn.cauchy.reshape(len(drawn.points), 6, -1)
        look["cauchy"] = [pack.rough(parts[:, k]) if parts[:, k].any() else None for k in range(6)]
    floats = {"r": move.r_P, "q": quaternions(move.A), "v": move.v_P, "omega": move.omega}
    out = {"name": name, "look": look} | {key: pack.floats(x) for key, x in floats.items()}
    return out | {key: pack.rough(getattr(move, key)) for key in ("eta", "rates", "sigma")}


def quaternions(A: np.ndarray) -> np.ndarray:
    """Quaternions x, y, z, w of rotations, with continuous signs."""
    q = Rotation.from_matrix(A).as_quat()
    jumps = np.einsum("ti,ti->t", q[1:], q[:-1]) < 0.0
    q[1:][np.cumsum(jumps) % 2 == 1] *= -1.0
    return q


def _quantities(pack: Pack, quantities: Sequence[PlotQuantity]) -> list[Document]:
    return [
        vars(q) | {"lines": [{"name": name, "values": pack.floats(line)} for name, line in q.lines.items()]}
        for q in quantities
    ]


# --- joints and force elements -----------------------------------------------------------------------------------------


def _end(drawings: Mapping[str, Drawing], end: End) -> Document:
    """A point of a body, by its number, or of the ground."""
    return {"body": end.body, "point": drawings[end.body].ports[end.port]} if end.body else {"at": end.at.tolist()}


def _joint(system: System, drawings: Mapping[str, Drawing], c: Connection, size: float) -> Document:
    on, ground = (c.second, c.first) if c.second.body else (c.first, c.second)
    extents = [system.bodies[end.body].extent for end in (c.first, c.second) if end.body]
    out: Document = {
        "name": c.name,
        "kind": type(c.joint).__name__,
        "size": min([JOINT_SIZE * size, *(0.2 * extent for extent in extents if extent)]),
        "on": _end(drawings, on),
        "axis": on.triad[:, 2].tolist(),
        "driven": bool(c.driven),
    }
    return out if ground.body else out | {"ground": {"at": ground.at.tolist(), "axis": ground.triad[:, 2].tolist()}}


def _element(drawings: Mapping[str, Drawing], e: Element) -> Document:
    kind = "spring" if isinstance(e.recipe, Spring) else "damper" if isinstance(e.recipe, Damper) else "other"
    return {"name": e.name, "kind": kind, "first": _end(drawings, e.first), "second": _end(drawings, e.second)}


def _up(system: System) -> list[float]:
    """The direction against gravity; without gravity y in a plane and z in space."""
    if np.any(system.gravity):
        return [float(x) for x in -system.gravity / np.linalg.norm(system.gravity)]
    return [0.0, 1.0, 0.0] if system.plane else [0.0, 0.0, 1.0]


# --- ranges and summary ------------------------------------------------------------------------------------------------


def _largest_speed(drawings: Mapping[str, Drawing], moves: Mapping[str, Pose]) -> float:
    """The largest speed of all points, at some of the frames."""
    some = {name: pose_at(move, evenly(len(move.r_P), 60)) for name, move in moves.items()}
    return max(float(np.linalg.norm(drawings[name].velocity(move), axis=-1).max()) for name, move in some.items())


def _some_points(drawn: Drawing, move: Pose) -> np.ndarray:
    """The points of a body at some of the frames."""
    return drawn.at(pose_at(move, evenly(len(move.r_P), 40))).reshape(-1, 3)


def _box(points: np.ndarray, reach: np.ndarray | float = 0.0) -> list[list[float]]:
    """The corners of the box that contains points that move by `reach`."""
    return [(points.min(axis=0) - reach).tolist(), (points.max(axis=0) + reach).tolist()]


def _summary(result: Result, ledger: Ledger, frames: int) -> list[list[str]]:
    system, info = result.system, result.info
    velocities = sum(len(body.columns) for body in system.bodies.values())
    bodies = [
        f"{name} ({type(body.recipe).__name__}{f', {n} coordinates' if (n := body.coordinates) else ''})"
        for name, body in system.bodies.items()
    ]
    size = f"{system.multipliers.size} joint rows, {system.layout.size} numbers a state"
    largest = float(np.abs(ledger.residual).max(initial=0.0))
    scheme, dt, far = info.get("scheme"), info.get("dt"), info.get("deformation")
    steps = [f"{value} {key}" for key in ("steps", "iterations") if isinstance(value := info.get(key), int)]
    rows = {
        "bodies": ", ".join(bodies),
        "joints": ", ".join(f"{name} ({type(c.joint).__name__})" for name, c in system.joints.items()) or "none",
        "forces": ", ".join([*system.elements, *system.actuators]) or "none",
        "moves in": "the plane xy" if system.plane else "space",
        "gravity": f"({', '.join(f'{x:g}' for x in system.gravity)}) m/s²" if np.any(system.gravity) else "none",
        "velocities": f"{velocities} (rigid and elastic), {size}",
        "time": _times(result, frames),
        "scheme": str(scheme["name"] if isinstance(scheme, Mapping) else scheme or ""),
        "dt": f"{dt:g} s" if isinstance(dt, (int, float)) else "",
        "output step": "" if dt or len(result) < 2 else f"{float(np.median(np.diff(result.t))):.6g} s",
        "steps": ", ".join(steps),
        "deformation": describe_deformation(far) if isinstance(far, Mapping) and far else "",
        "energy residual": f"{largest:.2g} J at most, {ledger.relative:.1e} of the largest energy",
        "note": ledger.note,
    }
    return [[name, text] for name, text in rows.items() if text]


def _times(result: Result | LinearResult, frames: int) -> str:
    return f"{result.t[0]:g} to {result.t[-1]:g} s, {len(result)} outputs, {frames} of them frames here"


# --- modes and linear runs ---------------------------------------------------------------------------------------------


def modes_content(modes: Modes) -> tuple[Document, Pack]:
    """The page of elastic mode shapes; each of them is a coordinate."""
    shown, fields, pack = elastic_modes(modes)[:MAX_MODES], modes.system.fields, Pack()
    size, still = _size(fields), pack.exact(np.zeros(1))
    shapes = {name: [modes.shape(k, name) for k in shown] for name in fields}
    tops = [max(float(np.abs(shapes[name][i]).max(initial=0.0)) for name in shapes) or 1.0 for i in range(len(shown))]
    spinning = np.iscomplexobj(modes.vectors)
    bodies, drawings, reach = [], [], np.zeros(3)
    for name, part in fields.items():
        drawn, owner = field_drawing(part, size)
        scaled = [AMPLITUDE * size / top * shape[owner].ravel() for shape, top in zip(shapes[name], tops, strict=True)]
        moved = np.column_stack(scaled)
        rows = np.hstack([moved.real, moved.imag]) if spinning else moved
        reach = np.maximum(reach, np.abs(rows).reshape(-1, 3, rows.shape[1]).max(axis=(0, 2)))
        drawings.append(replace(drawn, rows=rows))
        zero = np.zeros((1, rows.shape[1]))
        bodies.append(_body(pack, name, drawings[-1], _shapes_motion(zero, zero)))
    document = _linear_document("modes", drawings, reach) | {
        "frames": still,
        "times": still,
        "bodies": bodies,
        "spinning": bool(spinning),
        "modes": [_mode(modes, k) for k in shown],
        "summary": [
            ["bodies", ", ".join(fields)],
            ["modes", f"{len(modes)} found, {modes.rigid} of them rigid; {len(shown)} shown here"],
            ["unknowns", f"{modes.system.split} velocities, {modes.system.rows.size - modes.system.split} stresses"],
            ["shapes", "each scaled to the same size"],
        ],
    }
    return document, pack


def linear_content(result: LinearResult) -> tuple[Document, Pack]:
    """The page of a linear run, its motion compressed to a few shapes."""
    system, pack = result.system, Pack()
    if not system.fields:
        raise InputError("this linear system has no bodies to draw; plot(result) draws its lines")
    size, at = _size(system.fields), thin_out(np.arange(len(result)), MAX_TIMES)
    parts = {name: getattr(result, name)[at] for name in ("t", "e", "lam", "u", "way", "works", "lost")}
    few, frames = replace(result, **parts), thin_out(np.arange(len(at)), MAX_FRAMES)
    bodies, drawings, reach, speed = [], [], np.zeros(3), 0.0
    for name, part in system.fields.items():
        ways, rates = (x(name)[frames].reshape(len(frames), -1) for x in (few.displacement, few.velocity))
        shapes, (way, rate) = principal(ways, rates, within=TOLERANCE)
        drawn, owner = field_drawing(part, size)
        own = shapes.reshape(len(part.points), 3, -1)[owner].reshape(3 * len(owner), -1)
        drawings.append(replace(drawn, rows=own))
        bodies.append(_body(pack, name, drawings[-1], _shapes_motion(way, rate)))
        reach = np.maximum(reach, np.abs(ways.reshape(-1, 3)).max(axis=0, initial=0.0))
        speed = max(speed, float(np.linalg.norm(rates.reshape(-1, 3), axis=1).max(initial=0.0)))
    largest = float(np.abs(result.residual).max())
    relative = largest / (np.abs(result.energy).max() or 1.0)
    document = _linear_document("linear", drawings, reach) | {
        "frames": pack.exact(few.t[frames]),
        "times": pack.exact(few.t),
        "bodies": bodies,
        "range": {"stress": 0.0, "speed": speed},
        "quantities": _quantities(pack, linear_quantities(few)),
        "summary": [
            ["bodies", ", ".join(system.fields)],
            ["ties and joints", ", ".join(system.multipliers) or "none"],
            ["unknowns", f"{system.rows.size} rows, {system.multipliers.size} multipliers"],
            ["motion", "small, about the reference configuration"],
            ["time", _times(result, len(frames))],
            ["output step", f"{float(np.median(np.diff(result.t))):.6g} s"],
            ["energy residual", f"{largest:.2g} J at most, {relative:.1e} of the largest energy"],
        ],
    }
    return document, pack


def _linear_document(kind: str, drawings: list[Drawing], reach: np.ndarray) -> Document:
    box = _box(np.vstack([drawn.points for drawn in drawings]), reach)
    sides = np.subtract(box[1], box[0])
    plane = bool(sides[2] < 0.05 * sides.max()) and all(drawn.kind in ("beam", "mass") for drawn in drawings)
    return EMPTY | {"kind": kind, "plane": plane, "up": [0.0, 1.0, 0.0] if plane else [0.0, 0.0, 1.0], "box": box}


def _shapes_motion(eta: np.ndarray, rates: np.ndarray) -> Pose:
    """A body that only moves by its coordinates."""
    still, n = np.zeros((len(eta), 3)), len(eta)
    return Pose(still, np.tile(np.eye(3), (n, 1, 1)), eta, still, still, rates, np.zeros((n, 0)))


def _mode(modes: Modes, k: int) -> Document:
    growth = float(modes.growth[k]) if modes.growth is not None and modes.growth[k] in modes.unstable else 0.0
    return {"number": k, "omega": float(modes.omega[k]), "growth": growth}


def _size(fields: Mapping[str, Field]) -> float:
    points = np.vstack([part.points for part in fields.values()])
    return float(np.linalg.norm(np.ptp(points, axis=0))) or 1.0
