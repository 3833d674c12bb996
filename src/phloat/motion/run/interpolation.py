"""Dense output: the state between two steps."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from phloat.algebra.cross import rotation, skew
from phloat.system.state import State


def interpolate_states(start: State, end: State, h: float, part: float) -> State:
    """The state at a fraction of the step from start to end: positions cubic, velocities linear, σ from η.

    Velocities at nodes alternate about the joints by O(h²), so linear interpolation is as accurate as they are.
    """
    e = (1.0 - part) * start.e + part * end.e
    layout = start.layout
    for name, body in start.bodies.items():
        a, b = start.pose(name), end.pose(name)
        linear = [i for i in body.active if i < 3]
        e[layout[f"{name}.r_P"]] = hermite(a.r_P, b.r_P, h * a.A @ a.v_P, h * b.A @ b.v_P, part)[linear]
        if f"{name}.theta" in layout:
            th0, th1 = start.e[layout[f"{name}.theta"]], end.e[layout[f"{name}.theta"]]
            e[layout[f"{name}.theta"]] = hermite(th0, th1, h * a.omega[2:], h * b.omega[2:], part)
        elif body.rotates:
            turn = Rotation.from_matrix(a.A.T @ b.A).as_rotvec()
            last = h * b.omega + 0.5 * np.cross(turn, h * b.omega) + skew(turn) @ skew(turn) @ (h * b.omega) / 12
            e[layout[f"{name}.A_IB"]] = (a.A @ rotation(hermite(0 * turn, turn, h * a.omega, last, part))).ravel()
        if body.coordinates:
            eta = hermite(a.eta, b.eta, h * a.rates, h * b.rates, part)
            before = a.sigma - body.elastic.stress(a.eta)
            e[layout[f"{name}.eta"]] = eta
            e[layout[f"{name}.sigma"]] = body.elastic.stress(eta) + before
    return State(start.bodies, layout, e)


def hermite(a: np.ndarray, b: np.ndarray, slope_a: np.ndarray, slope_b: np.ndarray, x: float) -> np.ndarray:
    """The cubic with values a, b and slopes per step slope_a, slope_b at x = 0 and 1."""
    line = (1.0 - x) * a + x * b
    return line + x * (1.0 - x) * ((1.0 - x) * (slope_a - b + a) - x * (slope_b - b + a))
