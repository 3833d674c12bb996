"""A mechanism drawn on a terminal with the dots of braille, two by four to a letter."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

import phloat as ph

DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])  # rows and columns of a letter
FROM_ABOVE = np.array([[0.82, 0.57, 0.0], [-0.28, 0.41, 0.87]])  # where a drawing in space is looked at from
MOST = 4000  # points of a body
JOINT = "o"


def sketch(system: ph.System, state: ph.State, width: int, height: int) -> list[str]:
    """The bodies where they stand, as lines of letters; nothing where all is one point."""
    bodies = [places(system, state, name) for name in system.bodies]
    every = np.vstack(bodies)
    seen = np.eye(3)[:2] if np.ptp(every[:, 2]) <= 1e-9 * max(float(np.ptp(every)), 1e-300) else FROM_ABOVE
    flat = [points @ seen.T for points in bodies]
    low, size = (every @ seen.T).min(axis=0), np.ptp(every @ seen.T, axis=0)
    scale = min((2 * width - 1) / max(size[0], 1e-300), (4 * height - 1) / max(size[1], 1e-300))
    if not size.any():
        return []
    columns, rows = (int(np.ceil((n * scale + 1) / per)) for n, per in zip(size, (2, 4), strict=True))
    dots = np.zeros((4 * rows, 2 * columns), dtype=bool)
    for points, body in zip(flat, system.bodies.values(), strict=True):
        _draw(dots, (points - low) * scale, joined=_is_line(body))
    blocks = dots.reshape(rows, 4, columns, 2).transpose(0, 2, 1, 3)
    letters = np.vectorize(chr)(0x2800 + (blocks * DOTS).sum(axis=(2, 3)))
    for point in held(system, state):
        across, up = np.rint((seen @ point - low) * scale).astype(int)
        letters[np.clip((4 * rows - 1 - up) // 4, 0, rows - 1), np.clip(across // 2, 0, columns - 1)] = JOINT
    return ["".join(row).rstrip("\u2800") for row in letters]


def held(system: ph.System, state: ph.State) -> list[np.ndarray]:
    """Where joints hold bodies."""
    out = []
    for joint in system.joints.values():
        end = joint.second if joint.second.body else joint.first
        pose, port = state.pose(end.body), system.bodies[end.body].port(end.port)
        out.append(pose.r_P + pose.A @ (port.x + port.Phi @ pose.eta))
    return out


def places(system: ph.System, state: ph.State, name: str) -> np.ndarray:
    """Points of a body in space; of a rigid one its ports and its mass centre."""
    body, pose = system.bodies[name], state.pose(name)
    s = body.shape.places()
    own = body.shape.points(s) + (body.shape.displacement(s) @ pose.eta).reshape(-1, 3)
    if not body.coordinates:
        ports = [port.x for port in body.ports.values()]
        centre = body.inertia.s0 / body.inertia.m
        own = np.vstack([own, *(np.vstack([centre, x]) for x in ports)])
    return np.asarray(pose.r_P + own[:: max(1, len(own) // MOST)] @ pose.A.T)


def _is_line(body: Any) -> bool:
    return isinstance(body.recipe, ph.Beam) or not body.coordinates


def _draw(dots: np.ndarray, points: np.ndarray, *, joined: bool) -> None:
    parts = [points]
    if joined:
        for a, b in pairwise(points):
            steps = int(np.ceil(np.abs(b - a).max())) + 1
            parts.append(a + np.linspace(0.0, 1.0, steps)[:, None] * (b - a))
    at = np.rint(np.vstack(parts)).astype(int)
    rows, columns = dots.shape
    dots[rows - 1 - np.clip(at[:, 1], 0, rows - 1), np.clip(at[:, 0], 0, columns - 1)] = True
