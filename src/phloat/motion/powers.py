"""Energies and powers at the outputs of a run, and works as their sums: for schemes that keep no books."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from phloat.motion.inputs import Inputs
from phloat.motion.result import COMPONENTS, Result
from phloat.system.connection import held
from phloat.system.energy import body_energy
from phloat.system.forces import element_energies
from phloat.system.jointed import in_rows, joint_rows, port_columns
from phloat.system.state import State
from phloat.system.system import System

NONE = np.zeros(0, dtype=int)


@dataclass(eq=False)
class Sums:
    """Energies (times,) of bodies by part and of springs; works (times,) of dampers, of inputs, of joints on their bodies."""

    parts: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)
    springs: dict[str, np.ndarray] = field(default_factory=dict)
    losses: dict[str, np.ndarray] = field(default_factory=dict)
    dampers: dict[str, np.ndarray] = field(default_factory=dict)
    supplied: dict[str, np.ndarray] = field(default_factory=dict)
    exchanged: dict[str, np.ndarray] = field(default_factory=dict)


def sums(result: Result, inputs: Inputs) -> Sums:
    """By the trapezoidal rule over the outputs: Ḣ = yᵀu − zᵀR z, with y = Bᵀz + B_λᵀλ."""
    system, t, out = result.system, result.t, Sums()
    states = [result.state(k) for k in range(len(result))]
    for name, body in system.bodies.items():
        energies = np.array([body_energy(body, state.pose(name), system.gravity) for state in states])
        out.parts[name] = {part: energies[:, k] for k, part in enumerate(COMPONENTS)}
        if body.elastic.damped:
            poses = [state.pose(name) for state in states]
            out.losses[name] = summed(t, np.array([p.rates @ body.elastic.damping(p.eta) @ p.rates for p in poses]))
    springs = [element_energies(system, state) for state in states]
    for name, element in system.elements.items():
        if any(law.stores for law in element.laws):
            out.springs[name] = np.array([row[name] for row in springs])
        if any(law.resists for law in element.laws):
            out.dampers[name] = summed(t, np.array([damper_power(system, name, state) for state in states]))
    powers = [joint_powers(system, state, lam) for state, lam in zip(states, result.lam, strict=True)]
    out.exchanged = {name: summed(t, np.array([row[name] for row in powers])) for name in system.multipliers}
    supplied = summed(t, np.array([port_powers(system, inputs, *row) for row in zip(t, states, strict=True)]))
    for name in inputs.signals:
        out.supplied[name] = supplied[:, system.ports[name]].sum(axis=1)
    for name, c in system.joints.items():
        if c.driven:
            out.supplied[name] = out.exchanged[name].sum(axis=1)
    return out


def summed(t: np.ndarray, power: np.ndarray) -> np.ndarray:
    """∫ power dt up to each time, by trapezoids."""
    steps = 0.5 * (power[1:] + power[:-1]) * np.diff(t).reshape(-1, *[1] * (power.ndim - 1))
    return np.concatenate([np.zeros((1, *power.shape[1:])), np.cumsum(steps, axis=0)])


def damper_power(system: System, name: str, state: State) -> float:
    """What the dampers of an element take, Σ (c + D/ẋ) ẋ²."""
    element, power = system.elements[name], 0.0
    first, second = held(element.first, state), held(element.second, state)
    for row, law in zip(element.rows, element.laws, strict=True):
        if law.resists:
            ends = zip((element.first, element.second), row.rate(first, second), strict=True)
            rate = sum(float(block[0] @ _velocities(state, end.body)) for end, block in ends if end.body)
            power += law.resistance(rate) * rate**2
    return power


def joint_powers(system: System, state: State, lam: np.ndarray) -> dict[str, np.ndarray]:
    """What the multipliers of each joint do on its first and second body, λᵀG_i z_i."""
    places = in_rows(system, system.layout)
    G, _ = joint_rows(system, state, places)
    out = {}
    for name in system.multipliers:
        c, where = system.joints[name], system.multipliers[name]
        pull = G[where].T @ lam[where]
        columns = [places.columns[end.body] if end.body else NONE for end in (c.first, c.second)]
        out[name] = np.array([pull[mine] @ state.e[mine] for mine in columns])
    return out


def port_powers(system: System, inputs: Inputs, t: float, state: State) -> np.ndarray:
    """y u of every number of the ports that load; drives work through their multipliers."""
    if not inputs.signals:
        return np.zeros(system.ports.size)
    return (port_columns(system, state, in_rows(system, system.layout)).T @ state.e) * inputs.at(t)


def _velocities(state: State, body: str) -> np.ndarray:
    """(v_P, ω, η̇) of a body, those that exist."""
    pose = state.pose(body)
    return np.concatenate([pose.v_P, pose.omega, pose.rates])[state.bodies[body].columns]
