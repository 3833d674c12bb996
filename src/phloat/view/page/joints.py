"""Angles and slides of joints over all times at once; `Result.coordinates` asks for one state after the other."""

from __future__ import annotations

import numpy as np

from phloat.joints.rows import Along, Row, Turn
from phloat.motion.result import Result
from phloat.system.connection import Connection, End
from phloat.view.scene import course

Held = tuple[np.ndarray, np.ndarray]  # c (times, 3) and the triad D (times, 3, 3), directions as columns


def coordinates(result: Result, joint: Connection) -> dict[str, np.ndarray]:
    """The angles and slides of a joint at all times, by their labels; angles with their whole turns."""
    rows = joint.coordinates
    if not rows:
        return {}
    first, second = _held(result, joint.first), _held(result, joint.second)
    return {row.labels[0]: _coordinate(result, joint, row, first, second) for row in rows}


def _coordinate(result: Result, joint: Connection, row: Row, first: Held, second: Held) -> np.ndarray:
    (c_A, D_A), (c_B, D_B) = first, second
    if isinstance(row, Along):
        return np.einsum("ti,ti->t", D_A[:, :, row.i], c_B - c_A)
    assert isinstance(row, Turn)
    (i, j), (k, l) = row.p, row.q
    angle = np.arctan2(*(np.einsum("ti,ti->t", D_A[:, :, a], D_B[:, :, b]) for a, b in ((i, j), (k, l))))
    if f"{joint.second.body}.theta" not in result.system.layout:
        return np.unwrap(angle)
    turned = result[f"{joint.second.body}.theta"] - _theta(result, joint.first)
    return turned + np.arctan2(np.sin(angle - turned), np.cos(angle - turned))


def _theta(result: Result, end: End) -> np.ndarray | float:
    name = f"{end.body}.theta"
    return result[name] if name in result.system.layout else 0.0


def _held(result: Result, end: End) -> Held:
    """One side of a joint: c = r + A (x + Φη), d_i = A (d₀ + ψ × d₀ + ⅓ ψ × (ψ × d₀)) with ψ = Ψη."""
    times = len(result)
    if not end.body:
        return np.broadcast_to(end.at, (times, 3)), np.broadcast_to(end.triad, (times, 3, 3))
    move, port = course(result, end.body, np.arange(times)), result.system.bodies[end.body].port(end.port)
    c = move.r + np.einsum("tij,tj->ti", move.A, port.x + move.eta @ port.Phi.T)
    psi, triad = (move.eta @ port.Psi.T)[:, :, None], np.broadcast_to(end.triad, (times, 3, 3))
    turned = np.cross(psi, triad, axis=1)
    return c, move.A @ (triad + turned + np.cross(psi, turned, axis=1) / 3.0)
