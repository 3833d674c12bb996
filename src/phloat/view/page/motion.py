"""Content of the page of a run: drawings, frames of every body, symbols of joints and forces, quantities to plot, a summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from phloat.bodies.body import Body
from phloat.joints.elements import Damper, Spring
from phloat.motion.inputs.inputs import Inputs
from phloat.motion.ledger import Ledger
from phloat.motion.result import Result
from phloat.motion.summary import describe_deformation
from phloat.system.connection import Connection, Element, End
from phloat.system.system import System
from phloat.view.page.pack import Pack, compressed
from phloat.view.page.quantities import STRESS, PlotQuantity, result_quantities
from phloat.view.scene import BodyMotion, Drawing, body_motion, scene, scene_size

MAX_FRAMES = 600
MAX_TIMES = 3000  # of a plot
MAX_NUMBERS = 600_000  # of all plots
MAX_TURN = 0.35  # rad, of a body between two frames
FEW = 16  # coordinates that are not compressed, so that equal bodies share a drawing
JOINT_SIZE = 0.012  # of the size of the scene
TOLERANCE = 2e-4  # of compressed coordinates, relative to the largest deformation

Document = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Content:
    """The content of a page: the document, and the arrays that it refers to."""

    title: str
    document: Document
    pack: Pack = field(default_factory=Pack)


def motion_content(result: Result, u: Mapping[str, object] | Inputs | None, title: str) -> Content:
    """The page of a run."""
    system, pack = result.system, Pack()
    drawings, size = body_drawings(result)
    at = thin_out(np.arange(len(result)), int(np.clip(MAX_NUMBERS // _lines(system), 200, MAX_TIMES)))
    quantities, ledger = _quantities(result, at, drawings, u)
    frames = at[_frames(result, at)]
    courses = {name: body_motion(result, name, frames) for name in system.bodies}
    bodies = [_body(pack, name, drawings[name], courses[name]) for name in system.bodies]
    document: Document = {
        "kind": "motion",
        "plane": system.plane is not None,
        "up": _up(system),
        "frames": pack.exact(result.t[frames]),
        "times": pack.exact(result.t[at]),
        "bodies": bodies,
        "joints": [_joint(system, drawings, c, size) for c in system.joints.values()],
        "elements": [_element(drawings, e) for e in system.elements.values() if e.first.body or e.second.body],
        "range": {"stress": _largest_stress(quantities), "speed": _largest_speed(drawings, courses)},
        "box": _box(drawings, courses),
        "quantities": quantity_documents(pack, quantities),
        "summary": _summary(result, ledger, frames),
    }
    return Content(title, document, pack)


def body_drawings(result: Result) -> tuple[dict[str, Drawing], float]:
    """The drawings of all bodies, and the size of the scene."""
    some = np.unique(np.linspace(0, len(result) - 1, 12).round().astype(int))
    size = scene_size(result.system, *(result.state(k) for k in some))
    return scene(result.system, result.state(0), size), size


def quantity_documents(pack: Pack, quantities: Sequence[PlotQuantity]) -> list[Document]:
    """Quantities as the page reads them."""
    return [
        {
            "group": q.group,
            "name": q.name,
            "unit": q.unit,
            "lines": [{"name": name, "values": pack.floats(line)} for name, line in q.lines.items()],
        }
        for q in quantities
    ]


def thin_out(at: np.ndarray, most: int) -> np.ndarray:
    """At most about `most` of them, evenly, and the last."""
    step = -(-len(at) // most)
    return at if step <= 1 else np.unique(np.append(at[::step], at[-1]))


def shape_document(pack: Pack, drawn: Drawing, rows: np.ndarray, cauchy: np.ndarray) -> Document:
    """A drawing as the page reads it, with these rows."""
    out: Document = {
        "kind": drawn.kind,
        "points": pack.floats(drawn.points),
        "triangles": pack.whole(drawn.triangles),
        "edges": pack.whole(drawn.edges),
        "rows": pack.rough(rows),
        "thin": drawn.thin,
        "ports": dict(drawn.ports),
    }
    if drawn.normals is not None:
        out["normals"] = pack.rough(drawn.normals)
    if cauchy.size:
        parts = cauchy.reshape(len(drawn.points), 6, -1)
        out["cauchy"] = [pack.rough(parts[:, k]) if parts[:, k].any() else None for k in range(6)]
    return out


def _lines(system: System) -> int:
    """The approximate number of lines of all plots."""
    return 12 + sum(6 + 4 * len(body.ports) for body in system.bodies.values()) + 2 * system.multipliers.size


def _quantities(
    result: Result, at: np.ndarray, drawings: Mapping[str, Drawing], u: Mapping[str, object] | Inputs | None
) -> tuple[list[PlotQuantity], Ledger]:
    courses = {name: body_motion(result, name, at) for name in result.system.bodies}
    return result_quantities(result, at, courses, drawings, u)


def _frames(result: Result, at: np.ndarray) -> np.ndarray:
    """The outputs that are frames: enough for smooth motion, rotation included."""
    turned = np.zeros(max(len(at) - 1, 0))
    for name, body in result.system.bodies.items():
        if body.rotates and len(at) > 1:
            rate = np.linalg.norm(body_motion(result, name, at).omega, axis=1)
            turned = np.maximum(turned, 0.5 * (rate[1:] + rate[:-1]) * np.diff(result.t[at]))
    wanted = max(MAX_FRAMES, int(turned.sum() / MAX_TURN))
    return thin_out(np.arange(len(at)), wanted)


def _body(pack: Pack, name: str, drawn: Drawing, move: BodyMotion) -> Document:
    rows, eta, rates = drawn.rows, move.eta, move.rates
    if rows.shape[1] > FEW:
        rows, (eta, rates) = compressed(rows, eta, rates, within=TOLERANCE)
    cauchy, sigma = drawn.cauchy, move.sigma if drawn.cauchy.size else np.zeros((len(move.r), 0))
    if cauchy.size and cauchy.shape[1] > FEW:
        cauchy, (sigma,) = compressed(cauchy, sigma, within=TOLERANCE)
    return {
        "name": name,
        "look": shape_document(pack, drawn, rows, cauchy),
        "r": pack.floats(move.r),
        "q": pack.floats(quaternions(move.A)),
        "v": pack.floats(move.v),
        "omega": pack.floats(move.omega),
        "eta": pack.rough(eta),
        "rates": pack.rough(rates),
        "sigma": pack.rough(sigma),
    }


def quaternions(A: np.ndarray) -> np.ndarray:
    """Quaternions x, y, z, w of rotations, with continuous signs."""
    q = Rotation.from_matrix(A).as_quat()
    jumps = np.einsum("ti,ti->t", q[1:], q[:-1]) < 0.0
    q[1:][np.cumsum(jumps) % 2 == 1] *= -1.0
    return q


# --- joints and force elements -----------------------------------------------------------------------------------------


def _end(drawings: Mapping[str, Drawing], end: End) -> Document:
    """A point of a body, by its number, or of the ground."""
    if end.body:
        return {"body": end.body, "point": drawings[end.body].ports[end.port]}
    return {"at": [float(x) for x in end.at]}


def _joint(system: System, drawings: Mapping[str, Drawing], c: Connection, size: float) -> Document:
    on = c.second if c.second.body else c.first
    ground = None if c.first.body and c.second.body else c.second if c.first.body else c.first
    extents = [system.bodies[end.body].extent for end in (c.first, c.second) if end.body]
    out: Document = {
        "name": c.name,
        "kind": type(c.joint).__name__,
        "size": min([JOINT_SIZE * size, *(0.2 * extent for extent in extents if extent)]),
        "on": _end(drawings, on),
        "axis": [float(x) for x in on.triad[:, 2]],
        "driven": bool(c.driven),
    }
    if ground is not None:
        out["ground"] = {"at": [float(x) for x in ground.at], "axis": [float(x) for x in ground.triad[:, 2]]}
    return out


def _element(drawings: Mapping[str, Drawing], e: Element) -> Document:
    kind = "spring" if isinstance(e.recipe, Spring) else "damper" if isinstance(e.recipe, Damper) else "other"
    return {"name": e.name, "kind": kind, "first": _end(drawings, e.first), "second": _end(drawings, e.second)}


def _up(system: System) -> list[float]:
    """The direction against gravity; without gravity y in a plane and z in space."""
    if np.any(system.gravity):
        return [float(x) for x in -system.gravity / np.linalg.norm(system.gravity)]
    return [0.0, 1.0, 0.0] if system.plane else [0.0, 0.0, 1.0]


# --- ranges and summary ------------------------------------------------------------------------------------------------


def _largest_stress(quantities: Sequence[PlotQuantity]) -> float:
    return max((float(q.lines["largest"].max()) for q in quantities if q.name.endswith(STRESS)), default=0.0)


def _largest_speed(drawings: Mapping[str, Drawing], courses: Mapping[str, BodyMotion]) -> float:
    """The largest speed of all points, at some of the frames."""
    some = {name: np.unique(np.linspace(0, len(move.r) - 1, 60).round().astype(int)) for name, move in courses.items()}
    return max(float(drawings[name].speed(courses[name].pose(k)).max()) for name, ks in some.items() for k in ks)


def _box(drawings: Mapping[str, Drawing], courses: Mapping[str, BodyMotion]) -> list[list[float]]:
    """The corners of the box that contains the motion."""
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for name, move in courses.items():
        for k in np.unique(np.linspace(0, len(move.r) - 1, 40).round().astype(int)):
            x = drawings[name].at(move.pose(k))
            low, high = np.minimum(low, x.min(axis=0)), np.maximum(high, x.max(axis=0))
    return [[float(x) for x in low], [float(x) for x in high]]


def _summary(result: Result, ledger: Ledger, frames: np.ndarray) -> list[list[str]]:
    system, info = result.system, result.info
    layout = system.layout
    velocities = sum(len(body.columns) for body in system.bodies.values())
    rows = [
        ["bodies", ", ".join(f"{name} ({_kind(body)})" for name, body in system.bodies.items())],
        ["joints", ", ".join(f"{name} ({type(c.joint).__name__})" for name, c in system.joints.items()) or "none"],
        ["forces", ", ".join([*system.elements, *system.actuators]) or "none"],
        ["moves in", "the plane xy" if system.plane else "space"],
        ["gravity", f"({', '.join(f'{x:g}' for x in system.gravity)}) m/s²" if np.any(system.gravity) else "none"],
        [
            "velocities",
            f"{velocities} (rigid and elastic), {system.multipliers.size} joint rows, {layout.size} numbers a state",
        ],
        ["time", f"{result.t[0]:g} to {result.t[-1]:g} s, {len(result)} outputs, {len(frames)} of them frames here"],
    ]
    steps = [f"{value} {key}" for key in ("steps", "iterations") if isinstance(value := info.get(key), int)]
    if isinstance(scheme := info.get("scheme"), (str, Mapping)):
        rows.append(["scheme", str(scheme["name"] if isinstance(scheme, Mapping) else scheme)])
    if isinstance(dt := info.get("dt"), (int, float)):
        rows.append(["dt", f"{dt:g} s"])
    elif len(result) > 1:
        rows.append(["output step", f"{float(np.median(np.diff(result.t))):.6g} s"])
    if steps:
        rows.append(["steps", ", ".join(steps)])
    if isinstance(far := info.get("deformation"), Mapping) and far:
        rows.append(["deformation", describe_deformation(far)])
    largest = float(np.abs(ledger.residual).max(initial=0.0))
    rows.append(["energy residual", f"{largest:.2g} J at most, {ledger.relative:.1e} of the largest energy"])
    return rows + ([["note", ledger.note]] if ledger.note else [])


def _kind(body: Body) -> str:
    kind = type(body.recipe).__name__
    return f"{kind}, {body.coordinates} coordinates" if body.coordinates else kind
