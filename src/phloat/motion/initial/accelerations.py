"""Rates ė and multipliers λ at a state, by index reduction: G ẇ = B_λ u̇ + Ḃ_λ u − Ġ w."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from phloat.algebra.sparse import csr
from phloat.errors import JointError, finite
from phloat.motion.initial.saddle import SaddleSystem
from phloat.motion.initial.velocities import (
    consistent_state,
    displaced_state,
    require_closed,
    velocity_indices,
    velocity_rows,
)
from phloat.motion.inputs.inputs import Inputs, as_inputs
from phloat.motion.inputs.signals import CENTRAL
from phloat.system.state import State
from phloat.system.system import System, fits
from phloat.system.terms import Terms, terms

TURN_STEP = 0.02  # radians between the configurations of the difference: (0.02)⁶/140 is lost, and 1e-14 by round-off
FEASIBLE = 1e-7  # of scaled rows, relative to the largest acceleration


def moving_start(
    system: System, state: State, u: Mapping[str, object] | Inputs | None, t: object
) -> tuple[State, Inputs, float]:
    """A state with closed joints and consistent velocities, its checked inputs, and the time."""
    state, inputs, time = fits(system, state), as_inputs(system, u), float(finite("t", t, ()))
    require_closed(system, state)
    return consistent_state(system, state, inputs.at(time)), inputs, time


def accelerations(system: System, state: State, u: Inputs, t: float) -> tuple[np.ndarray, np.ndarray]:
    """ė and λ of E ė = (J − R) z + Gᵀλ + B u with G ẇ = B_λ u̇ + Ḃ_λ u − Ġ w; velocities must satisfy the joints.

    Raises JointError if no accelerations satisfy the joints, as at a dead point.
    """
    matrices = terms(system, state)
    indices = velocity_indices(system)
    M, G = csr(matrices.E[indices][:, indices]), csr(matrices.G[:, indices])
    force = (matrices.J - matrices.R) @ matrices.z + matrices.B @ u.at(t)
    rhs = matrices.B_lam @ u.rate(t) + convective(system, state, u.at(t))
    saddle = SaddleSystem(M, G)
    w_dot, lam = saddle.solve(force[indices], rhs)
    forces = float(np.linalg.norm(saddle.scale * force[indices]))
    background = _fastest_rotation(system, state) * saddle.size(state.e[indices]) + forces
    miss = np.abs(saddle.miss(w_dot, rhs, background))
    if miss.max(initial=0.0) > FEASIBLE:
        name = system.multipliers.owner(int(np.argmax(miss)))
        raise JointError(
            f"no accelerations keep joint {name!r} closed (relative miss {miss.max():.1e}): the joints repeat each other "
            "where the system stands, but not where it moves to; place it a little away"
        )
    rates = force + matrices.G.T @ lam
    e_dot = _stress_rates(system, matrices, rates)
    e_dot[indices] = w_dot
    return e_dot, lam


def convective(system: System, state: State, u: np.ndarray) -> np.ndarray:
    """Ḃ_λ u − Ġ w along the motion w: the accelerations of joint rows without those of ẇ and u̇.

    A sixth-order difference of the rows, valid for every kind of row. The step is a small rotation; in all other variables rows are
    polynomials, for which the difference is exact.
    """
    w = state.e[velocity_indices(system)]
    if not system.multipliers.size or not np.any(w):
        return np.zeros(system.multipliers.size)
    step = TURN_STEP / max(_fastest_rotation(system, state), 1e-300)
    step = min(step, 1.0 / np.abs(w).max())
    out = np.zeros(system.multipliers.size)
    for k, weight in CENTRAL.items():
        G, B_lam = velocity_rows(system, displaced_state(system, state, k * step * w))
        out += weight / step * (B_lam @ u - G @ w)
    return out


def _fastest_rotation(system: System, state: State) -> float:
    """The largest angular velocity of a frame or section, rad/s."""
    speeds = [0.0]
    for name, body in system.bodies.items():
        pose = state.pose(name)
        sections = [float(np.linalg.norm(port.Psi @ pose.rates)) for port in body.ports.values()]
        speeds.append(float(np.linalg.norm(pose.omega)) + max(sections, default=0.0))
    return max(speeds)


def _stress_rates(system: System, matrices: Terms, rates: np.ndarray) -> np.ndarray:
    """ė from E ė: E is C in rows of stress and the identity in rows of positions."""
    out = rates.copy()
    for name, body in system.bodies.items():
        if body.stresses:
            indices = matrices.layout[f"{name}.sigma"]
            out[indices] = body.elastic.C_inverse @ rates[indices]
    return out
