"""Rates ė and multipliers λ at a state, at the continuous level: index reduction by G ẇ = B_λ u̇ + Ḃ_λ u − Ġ w."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from phloat.algebra.cross import rotation
from phloat.algebra.sparse import csr
from phloat.errors import JointError
from phloat.motion.initial.saddle import Saddle
from phloat.motion.initial.velocities import places_of, velocity_rows
from phloat.motion.inputs.inputs import Inputs
from phloat.motion.inputs.signals import FIRST
from phloat.system.jointed import in_velocities
from phloat.system.state import State
from phloat.system.system import System
from phloat.system.terms import Terms, terms

TURN = 0.02  # radians between the configurations of the difference: (0.02)⁶/140 is lost, and 1e-14 by round-off
FEASIBLE = 1e-7  # of scaled rows beside the largest acceleration


def accelerations(system: System, state: State, u: Inputs, t: float) -> tuple[np.ndarray, np.ndarray]:
    """ė and λ: E ė = (J − R) z + Gᵀλ + B u with G ẇ = B_λ u̇ + Ḃ_λ u − Ġ w. Velocities must agree with the joints."""
    at = terms(system, state)
    where = places_of(system)
    M, G = csr(at.E[where][:, where]), csr(at.G[:, where])
    force = (at.J - at.R) @ at.z + at.B @ u.at(t)
    right = at.B_lam @ u.rate(t) + convective(system, state, u.at(t))
    saddle = Saddle(M, G)
    w_dot, lam = saddle.solve(force[where], right)
    beside = _turning(system, state) * saddle.size(state.e[where]) + float(np.linalg.norm(saddle.scale * force[where]))
    _followed(system, saddle.miss(w_dot, right, beside))
    rates = force + at.G.T @ lam
    e_dot = _stress_rates(system, at, rates)
    e_dot[where] = w_dot
    return e_dot, lam


def convective(system: System, state: State, u: np.ndarray) -> np.ndarray:
    """Ḃ_λ u − Ġ w along the motion w: what is left of the joints' accelerations without ẇ and u̇.

    A difference of sixth order of the rows themselves, so that it holds for every kind of row; the step is a small turn, and
    what rows depend on besides turning they depend on as polynomials, which the difference takes exactly.
    """
    w = state.e[places_of(system)]
    if not system.multipliers.size or not np.any(w):
        return np.zeros(system.multipliers.size)
    step = TURN / max(_turning(system, state), 1e-300)
    step = min(step, 1.0 / np.abs(w).max())
    out = np.zeros(system.multipliers.size)
    for k, weight in FIRST.items():
        G, B_lam = velocity_rows(system, moved(system, state, k * step * w))
        out += weight / step * (B_lam @ u - G @ w)
    return out


def moved(system: System, state: State, step: np.ndarray) -> State:
    """Bodies moved by a small motion along w: r_P by A δx, A by the rotation δφ in body axes, η by δη; σ is left alone."""
    places, e = in_velocities(system), state.e.copy()
    for name, body in system.bodies.items():
        own = np.zeros(6 + body.coordinates)
        own[body.columns] = step[places.columns[name]]
        A, linear = state.pose(name).A, [i for i in body.active if i < 3]
        e[state.layout[f"{name}.r_P"]] += (A @ own[:3])[linear]
        if f"{name}.theta" in state.layout:
            e[state.layout[f"{name}.theta"]] += own[5]
        elif body.rotates:
            e[state.layout[f"{name}.A_IB"]] = (A @ rotation(own[3:6])).ravel()
        if body.coordinates:
            e[state.layout[f"{name}.eta"]] += own[6:]
    return replace(state, e=e)


def _turning(system: System, state: State) -> float:
    """The fastest turn of a frame or section."""
    speeds = [0.0]
    for name, body in system.bodies.items():
        pose = state.pose(name)
        sections = [float(np.linalg.norm(port.Psi @ pose.rates)) for port in body.ports.values()]
        speeds.append(float(np.linalg.norm(pose.omega)) + max(sections, default=0.0))
    return max(speeds)


def _stress_rates(system: System, at: Terms, rates: np.ndarray) -> np.ndarray:
    """E is the identity in the rows of positions and C in those of stress."""
    out = rates.copy()
    for name, body in system.bodies.items():
        if body.stresses:
            where = at.layout[f"{name}.sigma"]
            out[where] = body.elastic.C_inverse @ rates[where]
    return out


def _followed(system: System, miss: np.ndarray) -> None:
    """A sentence where no accelerations satisfy the joints: a mechanism that moves through a dead point."""
    if (size := np.abs(miss)).max(initial=0.0) > FEASIBLE:
        name = system.multipliers.owner(int(np.argmax(size)))
        raise JointError(
            f"no accelerations keep joint {name!r} closed (relative miss {size.max():.1e}): the joints repeat each other "
            "where the system stands, but not where it moves to; place it a little beside"
        )
