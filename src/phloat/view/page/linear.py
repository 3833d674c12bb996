"""Contents of pages of modes and of linear runs: bodies in place, moved by a few shapes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from phloat.errors import InputError
from phloat.linear.analysis.modes import Modes
from phloat.linear.form.phdae import Field
from phloat.linear.time.march import LinearResult
from phloat.view.page.motion import (
    MAX_FRAMES,
    MAX_TIMES,
    TOLERANCE,
    Content,
    Document,
    quantity_documents,
    shape_document,
    thin_out,
)
from phloat.view.page.pack import Pack, principal
from phloat.view.page.quantities import linear_quantities
from phloat.view.scene import Drawing, field_drawing

MAX_MODES = 24
AMPLITUDE = 0.08  # of the size of the scene: the largest displacement of a mode
EMPTY = np.zeros((0, 0))


def modes_content(modes: Modes, title: str) -> Content:
    """The page of elastic mode shapes; each of them is a coordinate."""
    if not modes.system.fields:
        raise InputError("these modes have no bodies to draw")
    shown = list(range(modes.rigid, len(modes)))[:MAX_MODES]
    if not shown:
        raise InputError("there is no elastic mode to draw")
    pack, size = Pack(), _size(modes.system.fields)
    shapes = {name: [modes.shape(k, name) for k in shown] for name in modes.system.fields}
    tops = [max(float(np.abs(shapes[name][i]).max(initial=0.0)) for name in shapes) or 1.0 for i in range(len(shown))]
    spinning = np.iscomplexobj(modes.vectors)
    bodies, drawings, reach = [], [], np.zeros(3)
    for name, part in modes.system.fields.items():
        drawn, owner = field_drawing(part, size)
        scaled = [AMPLITUDE * size / top * shape[owner].ravel() for shape, top in zip(shapes[name], tops, strict=True)]
        moved = np.column_stack(scaled)
        rows = np.hstack([moved.real, moved.imag]) if spinning else moved
        reach = np.maximum(reach, np.abs(rows).reshape(-1, 3, rows.shape[1]).max(axis=(0, 2)))
        bodies.append(_body_document(pack, name, drawn, rows, np.zeros((1, rows.shape[1]))))
        drawings.append(drawn)
    document = _document("modes", drawings, reach) | {
        "frames": pack.exact(np.zeros(1)),
        "times": pack.exact(np.zeros(1)),
        "bodies": bodies,
        "spinning": bool(spinning),
        "modes": [_mode(modes, k) for k in shown],
        "quantities": [],
        "summary": [
            ["bodies", ", ".join(modes.system.fields)],
            ["modes", f"{len(modes)} found, {modes.rigid} of them rigid; {len(shown)} shown here"],
            ["unknowns", f"{modes.system.split} velocities, {modes.system.rows.size - modes.system.split} stresses"],
            ["shapes", "each scaled to the same size"],
        ],
    }
    return Content(title, document, pack)


def linear_content(result: LinearResult, title: str) -> Content:
    """The page of a linear run, its motion compressed to a few shapes."""
    if not result.system.fields:
        raise InputError("this linear system has no bodies to draw; plot(result) draws its lines")
    pack, size = Pack(), _size(result.system.fields)
    at = thin_out(np.arange(len(result)), MAX_TIMES)
    frames = thin_out(at, MAX_FRAMES)
    bodies, drawings, reach, speed = [], [], np.zeros(3), 0.0
    for name, part in result.system.fields.items():
        ways, rates = (
            motion(name)[frames].reshape(len(frames), -1) for motion in (result.displacement, result.velocity)
        )
        shapes, (way, rate) = principal(ways, rates, within=TOLERANCE)
        drawn, owner = field_drawing(part, size)
        own = shapes.reshape(len(part.points), 3, -1)[owner].reshape(3 * len(owner), -1)
        bodies.append(_body_document(pack, name, drawn, own, way, rate))
        drawings.append(drawn)
        reach = np.maximum(reach, np.abs(ways.reshape(-1, 3)).max(axis=0, initial=0.0))
        speed = max(speed, float(np.linalg.norm(rates.reshape(-1, 3), axis=1).max(initial=0.0)))
    relative = float(np.abs(result.residual).max() / (np.abs(result.energy).max() or 1.0))
    document = _document("linear", drawings, reach) | {
        "frames": pack.exact(result.t[frames]),
        "times": pack.exact(result.t[at]),
        "bodies": bodies,
        "range": {"stress": 0.0, "speed": speed},
        "quantities": quantity_documents(pack, linear_quantities(result, at)),
        "summary": [
            ["bodies", ", ".join(result.system.fields)],
            ["ties and joints", ", ".join(result.system.multipliers) or "none"],
            ["unknowns", f"{result.system.rows.size} rows, {result.system.multipliers.size} multipliers"],
            ["motion", "small, about the reference configuration"],
            [
                "time",
                f"{result.t[0]:g} to {result.t[-1]:g} s, {len(result)} outputs, {len(frames)} of them frames here",
            ],
            ["output step", f"{float(np.median(np.diff(result.t))):.6g} s"],
            [
                "energy residual",
                f"{float(np.abs(result.residual).max()):.2g} J at most, {relative:.1e} of the largest energy",
            ],
        ],
    }
    return Content(title, document, pack)


def _document(kind: str, drawings: list[Drawing], reach: np.ndarray) -> Document:
    points = np.vstack([drawn.points for drawn in drawings])
    low, high = points.min(axis=0) - reach, points.max(axis=0) + reach
    plane = bool(high[2] - low[2] < 0.05 * (high - low).max()) and all(
        drawn.kind in ("beam", "mass") for drawn in drawings
    )
    return {
        "kind": kind,
        "plane": plane,
        "up": [0.0, 1.0, 0.0] if plane else [0.0, 0.0, 1.0],
        "joints": [],
        "elements": [],
        "range": {"stress": 0.0, "speed": 0.0},
        "box": [[float(x) for x in low], [float(x) for x in high]],
    }


def _body_document(
    pack: Pack, name: str, drawn: Drawing, rows: np.ndarray, eta: np.ndarray, rates: np.ndarray | None = None
) -> Document:
    """A body that only moves by its coordinates."""
    still = np.zeros((len(eta), 3))
    return {
        "name": name,
        "look": shape_document(pack, drawn, rows, EMPTY),
        "r": pack.floats(still),
        "q": pack.floats(np.tile([0.0, 0.0, 0.0, 1.0], (len(eta), 1))),
        "v": pack.floats(still),
        "omega": pack.floats(still),
        "eta": pack.rough(eta),
        "rates": pack.rough(eta if rates is None else rates),
        "sigma": pack.rough(np.zeros((len(eta), 0))),
    }


def _mode(modes: Modes, k: int) -> Document:
    omega = float(modes.omega[k])
    growth = float(modes.growth[k]) if modes.growth is not None and modes.growth[k] in modes.unstable else 0.0
    return {"number": k, "omega": omega, "growth": growth}


def _size(fields: Mapping[str, Field]) -> float:
    points = np.vstack([part.points for part in fields.values()])
    return float(np.linalg.norm(np.ptp(points, axis=0))) or 1.0
