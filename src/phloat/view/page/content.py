"""Content of a page: drawings, frames of every body, symbols of joints and forces, quantities to plot, a summary.

The content is a JSON document, in which arrays are replaced by their index in a `Pack`. In pages of modes and of linear runs,
bodies have a constant position and are deformed by a few shapes.
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
from phloat.linear.time.march import LinearResult
from phloat.motion.inputs.inputs import Inputs, as_inputs
from phloat.motion.ledger import Ledger, energy_ledger
from phloat.motion.result import Result
from phloat.motion.result_tables import describe_deformation
from phloat.motion.result_times import at_rows
from phloat.system.connection import Connection, Element, End
from phloat.system.state import Pose
from phloat.system.system import System
from phloat.view.figures import even_indices
from phloat.view.modes import Hanging, ModeShapes, MovingBody, mode_shapes, shapes_size, small_motion_drawing
from phloat.view.page.pack import INT16_MAX, Pack, compress_motion
from phloat.view.quantities import (
    STRESS,
    PlotQuantity,
    energy_quantities,
    linear_quantities,
    named,
    opening,
    result_quantities,
)
from phloat.view.scene import Drawing, body_motion, pose_at, rails, scene, scene_size

MAX_FRAMES = 600
MAX_TIMES = 3000  # of the lines of a plot
MAX_NUMBERS = 600_000  # of the lines of all plots; with more lines, plots have fewer times
MAX_TURN = 0.35  # rad, mean rotation of the fastest body between two frames; faster runs have more than MAX_FRAMES
MIN_COMPRESSED = 16  # fewer coordinates are not compressed, so that identical bodies share a drawing
JOINT_SIZE = 0.012  # of the symbol of a joint, relative to the size of the scene
TOLERANCE = 2e-4  # error of compression, relative to the largest deformation
MAX_MODES = 24
MODE_STEPS = 500  # between rest and the largest displacement of a mode
ROUND_OFF = 1e-9  # m, motion along a joint that is not drawn
MAX_POSES = 60  # for the box around a motion and its largest speed

Document = dict[str, Any]
EMPTY: Document = {"joints": [], "elements": [], "range": {"stress": 0.0, "speed": 0.0}, "quantities": [], "plots": []}


def motion_content(
    result: Result, u: Mapping[str, object] | Inputs | None, pack: Pack, plots: Sequence[str] | None = None
) -> Document:
    """The document of the page of a run, its arrays in the pack; with inputs u also their lines. It opens with these plots."""
    system = result.system
    drawings, size = body_drawings(result)
    inputs, ledger = None if u is None else as_inputs(system, u), energy_ledger(result)
    lines = 12 + sum(6 + 4 * len(body.ports) for body in system.bodies.values()) + 2 * system.multipliers.size
    indices = thin_out(np.arange(len(result)), int(np.clip(MAX_NUMBERS // lines, 200, MAX_TIMES)))
    thinned = replace(at_rows(result, indices), accounts=None)
    if system.plane or thinned.turned is not None:
        coordinates = thinned.coordinates
    else:  # full turns were not counted in the run; they are found from neighbouring outputs, so all outputs are needed
        coordinates = {name: line[indices] for name, line in result.coordinates.items()}
    moves = {name: body_motion(result, name, indices) for name in system.bodies}
    drawings, ends = _with_rails(system, drawings, coordinates, size)
    quantities = result_quantities(thinned, moves, drawings, coordinates, inputs) + energy_quantities(ledger, indices)
    frames = _frame_indices(thinned, moves)
    moves = {name: pose_at(move, frames) for name, move in moves.items()}
    samples = {name: pose_at(move, even_indices(len(move.r_P), MAX_POSES)) for name, move in moves.items()}
    speeds = [np.linalg.norm(drawings[name].velocity(move), axis=-1).max() for name, move in samples.items()]
    stresses = [q.lines["largest"].max() for q in quantities if q.name.endswith(STRESS)]
    return {
        "kind": "motion",
        "plane": system.plane is not None,
        "up": _up_direction(system),
        "frames": pack.add("f8", thinned.t[frames]),
        "times": pack.add("f8", thinned.t),
        "bodies": [_body_data(pack, name, *_compress_body(drawings[name], move)) for name, move in moves.items()],
        "joints": [_joint_data(system, drawings, c, size) | ends.get(c.name, {}) for c in system.joints.values()],
        "elements": [_element_data(drawings, e) for e in system.elements.values() if e.first.body or e.second.body],
        "range": {"stress": float(max(stresses, default=0.0)), "speed": float(max(speeds))},
        "box": _bounding_box(np.vstack([drawings[name].at(move).reshape(-1, 3) for name, move in samples.items()])),
        "summary": _summary_rows(result, ledger, len(frames)),
    } | _plots_data(pack, quantities, plots, result, indices, size)


def body_drawings(result: Result) -> tuple[dict[str, Drawing], float]:
    """The drawings of all bodies, and the size of the scene (m) over twelve times of the run."""
    size = scene_size(result.system, *(result.state(int(k)) for k in even_indices(len(result), 12)))
    return scene(result.system, result.state(0), size), size


def thin_out(indices: np.ndarray, most: int) -> np.ndarray:
    """Every n-th of the indices, so that there are about `most`, and the last one."""
    step = -(-len(indices) // most)
    return indices if step <= 1 else np.unique(np.append(indices[::step], indices[-1]))


def _frame_indices(result: Result, moves: Mapping[str, Pose]) -> np.ndarray:
    """The indices of the output times that become frames: about MAX_FRAMES, more if bodies turn by more than MAX_TURN between."""
    turns = np.zeros(max(len(result) - 1, 0))
    for move in moves.values():
        rate = np.linalg.norm(move.omega, axis=1)
        turns = np.maximum(turns, 0.5 * (rate[1:] + rate[:-1]) * np.diff(result.t))
    return thin_out(np.arange(len(result)), max(MAX_FRAMES, int(turns.sum() / MAX_TURN)))


def _compress_body(drawn: Drawing, move: Pose) -> tuple[Drawing, Pose]:
    """The drawing and the motion of a body, with fewer coordinates η and stresses σ that give nearly the same points and stress."""
    move = drawn.extended(move)
    if not drawn.cauchy.size:
        move = move._replace(sigma=np.zeros((len(move.r_P), 0)))
    if drawn.rows.shape[1] > MIN_COMPRESSED:
        rows, (eta, rates) = compress_motion(drawn.rows, move.eta, move.rates, within=TOLERANCE)
        drawn, move = replace(drawn, rows=rows), move._replace(eta=eta, rates=rates)
    if drawn.cauchy.size and drawn.cauchy.shape[1] > MIN_COMPRESSED:
        cauchy, (sigma,) = compress_motion(drawn.cauchy, move.sigma, within=TOLERANCE)
        drawn, move = replace(drawn, cauchy=cauchy), move._replace(sigma=sigma)
    return drawn, move


def _body_data(pack: Pack, name: str, drawn: Drawing, move: Pose, most: int = INT16_MAX) -> Document:
    """A body in the document: its drawing, and position, orientation, velocities, η, η̇ and σ at all frames."""
    by_axis = drawn.rows.reshape(len(drawn.points), 3, -1).transpose(
        1, 0, 2
    )  # compresses better: all x, then all y, all z
    look: Document = {
        "kind": drawn.kind,
        "points": pack.add("f4", drawn.points),
        "triangles": pack.add("u4", drawn.triangles),
        "edges": pack.add("u4", drawn.edges),
        "rows": pack.scaled_int16(by_axis.reshape(drawn.rows.shape), most),
        "thin": drawn.thin,
        "ports": dict(drawn.ports),
    }
    if drawn.normals is not None:
        look["normals"] = pack.scaled_int16(drawn.normals)
    if drawn.cauchy.size:
        parts = drawn.cauchy.reshape(len(drawn.points), 6, -1)
        look["cauchy"] = [pack.scaled_int16(parts[:, k]) if parts[:, k].any() else None for k in range(6)]
    floats = {"r": move.r_P, "q": quaternions(move.A), "v": move.v_P, "omega": move.omega}
    out = {"name": name, "look": look} | {key: pack.add("f4", x) for key, x in floats.items()}
    return out | {key: pack.scaled_int16(getattr(move, key)) for key in ("eta", "rates", "sigma")}


def quaternions(A: np.ndarray) -> np.ndarray:
    """Unit quaternions (x, y, z, w) of rotation matrices (times, 3, 3), with signs that do not jump from time to time."""
    q = Rotation.from_matrix(A).as_quat()
    jumps = np.einsum("ti,ti->t", q[1:], q[:-1]) < 0.0
    q[1:][np.cumsum(jumps) % 2 == 1] *= -1.0
    return q


def _plots_data(
    pack: Pack,
    quantities: list[PlotQuantity],
    plots: Sequence[str] | None,
    result: Result | LinearResult,
    indices: np.ndarray,
    size: float,
) -> Document:
    """The quantities in the document, with the lines of each, and the indices of those that the page opens with; the scene has
    this size (m)."""
    quantities, first = (
        (quantities, opening(quantities, size)) if plots is None else named(quantities, plots, result, indices)
    )
    data: list[Document] = []
    for q in quantities:
        lines = [{"name": name, "values": pack.add("f4", line)} for name, line in q.lines.items()]
        residual = {} if q.residual is None else {"residual": pack.add("f4", q.residual)}
        data.append({"group": q.group, "name": q.name, "unit": q.unit, "lines": lines} | residual)
    return {"quantities": data, "plots": first}


# --- joints and force elements -----------------------------------------------------------------------------------------


def _end_data(drawings: Mapping[str, Drawing], end: End) -> Document:
    """An end of a joint in the document: a body and the index of its point, or a point of the ground (m)."""
    return {"body": end.body, "point": drawings[end.body].ports[end.port]} if end.body else {"at": end.at.tolist()}


def _joint_data(system: System, drawings: Mapping[str, Drawing], c: Connection, size: float) -> Document:
    """A joint in the document: end and size (m) of its symbol, axis in the axes of the body, and point on the ground."""
    on, ground = (c.second, c.first) if c.second.body else (c.first, c.second)
    extents = [system.bodies[end.body].extent for end in (c.first, c.second) if end.body]
    out: Document = {
        "name": c.name,
        "kind": type(c.joint).__name__,
        "size": min([JOINT_SIZE * size, *(0.2 * extent for extent in extents if extent)]),
        "on": _end_data(drawings, on),
        "axis": on.triad[:, 2].tolist(),
        "driven": bool(c.driven),
    }
    return out if ground.body else out | {"ground": {"at": ground.at.tolist()}}


def _element_data(drawings: Mapping[str, Drawing], e: Element) -> Document:
    """A spring, damper or other force element in the document, with its two ends."""
    kind = "spring" if isinstance(e.recipe, Spring) else "damper" if isinstance(e.recipe, Damper) else "other"
    return {"name": e.name, "kind": kind} | {end: _end_data(drawings, getattr(e, end)) for end in ("first", "second")}


def _with_rails(
    system: System, drawings: dict[str, Drawing], coordinates: Mapping[str, np.ndarray], size: float
) -> tuple[dict[str, Drawing], dict[str, Document]]:
    """The drawings with the ends of all rails as further points, and the ends of each joint's rail in the document."""
    drawings, ends = dict(drawings), {}
    for name, (body, rail) in rails(system, coordinates, size).items():
        ends[name] = {"rail": [{"at": point} for point in rail.points.tolist()]}
        if body:
            n, drawings[body] = len(drawings[body].points), drawings[body].with_points(rail.points, rail.rows)
            ends[name] = {"rail": [{"body": body, "point": n}, {"body": body, "point": n + 1}]}
    return drawings, ends


def _up_direction(system: System) -> list[float]:
    """The unit vector that points up on the page: against gravity; without gravity y in a plane and z in space."""
    if np.any(system.gravity):
        return [float(x) for x in -system.gravity / np.linalg.norm(system.gravity)]
    return [0.0, 1.0, 0.0] if system.plane else [0.0, 0.0, 1.0]


# --- ranges and summary ------------------------------------------------------------------------------------------------


def _bounding_box(points: np.ndarray, reach: np.ndarray | float = 0.0) -> list[list[float]]:
    """Two opposite corners of the box that contains points which move by at most `reach` in each direction."""
    return [(points.min(axis=0) - reach).tolist(), (points.max(axis=0) + reach).tolist()]


def _summary_rows(result: Result, ledger: Ledger, frames: int) -> list[list[str]]:
    """The table of facts about a run: rows of name and text."""
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
        "time": _time_text(result, frames),
        "scheme": str(scheme["name"] if isinstance(scheme, Mapping) else scheme or ""),
        "dt": f"{dt:g} s" if isinstance(dt, (int, float)) else "",
        "output step": "" if dt or len(result) < 2 else f"{float(np.median(np.diff(result.t))):.6g} s",
        "steps": ", ".join(steps),
        "deformation": describe_deformation(far) if isinstance(far, Mapping) and far else "",
        "energy residual": f"{largest:.2g} J at most, {ledger.relative:.1e} of the largest energy",
        "note": ledger.note,
    }
    return [[name, text] for name, text in rows.items() if text]


def _time_text(result: Result | LinearResult, frames: int) -> str:
    """Start and end time of a run, and the numbers of outputs and frames."""
    return f"{result.t[0]:g} to {result.t[-1]:g} s, {len(result)} outputs, {frames} of them frames here"


# --- modes and linear runs ---------------------------------------------------------------------------------------------


def modes_content(modes: Modes, pack: Pack) -> Document:
    """The document of the page of elastic modes: bodies, their twists and deformations, and the joints on which they hang.

    A complex mode has two amplitudes, of cos φ and of −sin φ.
    """
    shapes = mode_shapes(modes, MAX_MODES)
    numbers, still = shapes.numbers, pack.add("f8", np.zeros(1))
    rates = np.zeros(len(modes)) if modes.growth is None else modes.growth
    growth = [float(rate) if rate in modes.unstable else 0.0 for rate in rates]  # of unstable modes only
    bodies = [_swinging_data(pack, name, one, shapes.hanging.get(name)) for name, one in shapes.bodies.items()]
    rest = np.vstack(list(shapes.at_rest().values()))
    reach = np.max([np.abs(one.displacements()).max(axis=(0, 2)) for one in shapes.bodies.values()], axis=0)
    plane, system = shapes.flat, None if modes.system.origin is None else modes.system.origin[0]
    return _marks_data(shapes) | {
        "kind": "modes",
        "plane": plane,
        "up": _up_direction(system) if system is not None else [0.0, 1.0, 0.0] if plane else [0.0, 0.0, 1.0],
        "box": _bounding_box(rest, reach),
        "bodies": bodies,
        "order": shapes.order,
        "frames": still,
        "times": still,
        "spinning": shapes.amplitudes > len(numbers),
        "modes": [
            {"number": k, "omega": float(modes.omega[k]), "growth": growth[k], "is": modes.kinds[k]} for k in numbers
        ],
        "summary": [
            ["bodies", ", ".join(shapes.bodies)],
            ["modes", f"{len(modes)} found, {modes.rigid} of them rigid; {len(numbers)} shown here"],
            ["unknowns", f"{modes.system.split} velocities, {modes.system.rows.size - modes.system.split} stresses"],
            ["shapes", "each scaled to the same largest displacement, with no more than half a radian of rotation"],
            ["per cent", "of the potential energy" if any(modes.kinds) else ""],
        ],
    }


def _swinging_data(pack: Pack, name: str, one: MovingBody, hangs: Hanging | None) -> Document:
    """A body in the document of modes: at rest, its twists and coordinates by each amplitude, the joint on which it hangs."""
    drawn, eta = replace(one.drawn, rows=one.drawn.rows[:, :0], cauchy=np.zeros((0, 0))), np.zeros((len(one.twists), 0))
    if one.drawn.rows.any():
        rows, (eta,) = compress_motion(one.drawn.rows, np.eye(len(eta)), within=TOLERANCE)
        drawn = replace(drawn, rows=rows)
    v, none = np.zeros((1, 3)), np.zeros((1, 0))
    rest = Pose(one.pose.r_P[None], one.pose.A[None], np.zeros((1, eta.shape[1])), v, v, none, none)
    out = _body_data(pack, name, drawn, rest, MODE_STEPS)
    out |= {"twists": pack.add("f4", one.twists.T), "shares": pack.add("f4", eta.T)}
    if hangs is None:
        return out
    gap, slip = (np.where(np.abs(part) > ROUND_OFF, part, 0.0) for part in (hangs.gap, hangs.slip))
    on = {"body": hangs.body, "point": hangs.at} if hangs.body else {"at": hangs.at.tolist()}
    return out | {"hangs": {"point": hangs.point, "on": on, "gap": gap.tolist(), "slip": pack.add("f4", slip)}}


def _marks_data(shapes: ModeShapes) -> Document:
    """The symbols of joints and springs around modes, in the document."""
    if shapes.modes.system.origin is None:
        return EMPTY
    system, drawings = shapes.modes.system.origin[0], {name: one.drawn for name, one in shapes.bodies.items()}
    elements = [_element_data(drawings, e) for e in system.elements.values() if e.first.body or e.second.body]
    joints = [_joint_data(system, drawings, c, shapes.size) for c in system.joints.values()]
    for joint in joints:
        if ends := shapes.rails.get(joint["name"]):
            joint["rail"] = [{"body": body, "point": at} if body else {"at": at.tolist()} for body, at in ends]
    return EMPTY | {"joints": joints, "elements": elements}


def linear_content(result: LinearResult, pack: Pack, plots: Sequence[str] | None = None) -> Document:
    """The document of the page of a linear run; displacements are combinations of a few principal shapes."""
    system = result.system
    if not system.fields:
        raise InputError("this linear system has no bodies to draw; plot(result) draws its lines")
    indices = thin_out(np.arange(len(result)), MAX_TIMES)
    parts = {name: getattr(result, name)[indices] for name in ("t", "e", "lam", "u", "way", "works", "lost")}
    thinned, frames = replace(result, **parts), thin_out(np.arange(len(indices)), MAX_FRAMES)
    size, still, bodies, drawings, reach, speed = (
        shapes_size(system),
        np.zeros((len(frames), 3)),
        [],
        [],
        np.zeros(3),
        0.0,
    )
    for name, part in system.fields.items():
        drawn, (way, rate) = small_motion_drawing(part, thinned.way[frames], thinned.e[frames], size, TOLERANCE)
        none, upright = np.zeros((len(frames), 0)), np.tile(np.eye(3), (len(frames), 1, 1))
        drawings.append(drawn)
        bodies.append(_body_data(pack, name, drawn, Pose(still, upright, way, still, still, rate, none)))
        ways, rates = (np.abs(x @ drawn.rows.T).reshape(-1, 3) for x in (way, rate))
        reach = np.maximum(reach, ways.max(axis=0))
        speed = max(speed, float(np.linalg.norm(rates, axis=1).max()))
    box = _bounding_box(np.vstack([drawn.points for drawn in drawings]), reach)
    sides = np.subtract(box[1], box[0])  # flat beams and masses are seen as in a plane
    plane = bool(sides[2] < 0.05 * sides.max()) and all(drawn.kind in ("beam", "mass") for drawn in drawings)
    largest = float(np.abs(result.residual).max())
    relative = largest / (np.abs(result.energy).max() or 1.0)
    return EMPTY | {
        "kind": "linear",
        "plane": plane,
        "up": [0.0, 1.0, 0.0] if plane else [0.0, 0.0, 1.0],
        "box": box,
        "bodies": bodies,
        "frames": pack.add("f8", thinned.t[frames]),
        "times": pack.add("f8", thinned.t),
        "range": {"stress": 0.0, "speed": speed},
        "summary": [
            ["bodies", ", ".join(system.fields)],
            ["ties and joints", ", ".join(system.multipliers) or "none"],
            ["unknowns", f"{system.rows.size} rows, {system.multipliers.size} multipliers"],
            ["motion", "small, about the reference configuration"],
            ["time", _time_text(result, len(frames))],
            ["output step", f"{float(np.median(np.diff(result.t))):.6g} s"],
            ["energy residual", f"{largest:.2g} J at most, {relative:.1e} of the largest energy"],
        ],
        **_plots_data(pack, linear_quantities(thinned), plots, result, indices, size),
    }
