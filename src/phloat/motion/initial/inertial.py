"""Derivatives of what inertia does in a steady motion w = (v_P, ω, 0), in closed form.

With p = M(η) w the forces of inertia on (v_P, ω, η̇) besides −M ẇ are

    h = (p_v × ω,  p_v × v_P + p_ω × ω,  ½ wᵀ(∂M/∂η) w) − (∂M/∂η · η̇) w,

so that all derivatives follow from P = ∂(M w)/∂η and T_ηη = ½ wᵀ(∂²M/∂η²) w. M is quadratic in η; about the mass centre
y(η) = s₀/m + Sη/m it is J(η) = j0 + j1·η + ½ηNη and c(η) = c0 + Γη, the arrays of the kernel.
"""

from __future__ import annotations

import numpy as np

from phloat.algebra.cross import skew
from phloat.bodies.body import Body
from phloat.motion.kernel.arrays import AXES, PAIRS, arrays_of
from phloat.system.state import Pose


def slopes(body: Body, pose: Pose) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """∂h/∂w, ∂h/∂q (of η only) and N of a body that moves steadily, 6 + n rows and columns each."""
    n, v, omega = body.coordinates, pose.v_P, pose.omega
    M = body.inertia.at(pose.eta).M
    p, P = M[:, :6] @ np.concatenate([v, omega]), momentum_slope(body, pose.eta, v, omega)
    by_w, by_eta = np.zeros((6 + n, 6 + n)), np.zeros((6 + n, 6 + n))
    by_w[:6] = _carried(M, v, omega)
    by_w[:3, 3:6] += skew(p[:3])
    by_w[3:6, :3] += skew(p[:3])
    by_w[3:6, 3:6] += skew(p[3:6])
    by_w[6:] += P.T
    by_w[:, 6:] -= P
    by_eta[:6, 6:] = _carried(P, v, omega)
    by_eta[6:, 6:] = kinetic_curvature(body, omega)
    N = np.zeros((6 + n, 6 + n))
    N[:3, :3] = N[3:6, 3:6] = skew(omega)
    N[:3, 3:6] = skew(v)
    return by_w, by_eta, N


def _carried(p: np.ndarray, v: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """(p_v × ω, p_v × v + p_ω × ω) of columns p."""
    turn = skew(omega)
    return -np.vstack([turn @ p[:3], skew(v) @ p[:3] + turn @ p[3:6]])


def momentum_slope(body: Body, eta: np.ndarray, v: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """∂(M(η) w)/∂η for w = (v, ω, 0), (6 + n) × n."""
    arrays, n, m = arrays_of(body), body.coordinates, body.inertia.m
    at, S = arrays.shift
    y, turn = at + S @ eta, skew(omega)
    out = np.zeros((6 + n, n))
    moved = m * (turn @ S)
    out[:3] = moved
    out[3:6] = skew(y) @ moved - m * (skew(v + np.cross(omega, y)) @ S)
    out[6:] = S.T @ moved
    _, j1, curved = arrays.rotary
    for (i, j), first, second in zip(PAIRS[arrays.turning], j1, curved, strict=True):
        slope = first + second @ eta
        out[3 + i] += omega[j] * slope
        if i != j:
            out[3 + j] += omega[i] * slope
    for i, coupled in zip(AXES[arrays.turning], arrays.coupling[1], strict=True):
        out[6:] += omega[i] * coupled
    return out


def kinetic_curvature(body: Body, omega: np.ndarray) -> np.ndarray:
    """∂²T/∂η² for w = (v, ω, 0), n × n."""
    arrays = arrays_of(body)
    moved = skew(omega) @ arrays.shift[1]
    out = body.inertia.m * (moved.T @ moved)
    for (i, j), curved in zip(PAIRS[arrays.turning], arrays.rotary[2], strict=True):
        out += (0.5 if i == j else 1.0) * omega[i] * omega[j] * curved
    return np.asarray(out)
