"""K = −∂(f + Gᵀλ + B u)/∂q of a system that stands still, for motions (δx, δφ, δη) of its bodies in body axes.

What a body does to itself (elasticity, gravity) is written out. What acts between two ports, joints and springs, depends on
twelve numbers of each port only, a small motion (δx, δφ) of its frame and a small displacement and rotation (Φδη, Ψδη) of its
section; it is differenced by those, whatever kind of row it is. K steers Newton's method and need not be exact to the last digit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from phloat.algebra.cross import rotation, skew
from phloat.algebra.sparse import Matrix, csr, diagonal
from phloat.bodies.body import Body, Port
from phloat.bodies.strain import strain_gradient
from phloat.joints.rows import Held, Row, section_axes, section_axes_rate
from phloat.system.connection import Connection, held
from phloat.system.elements import Actuator, Element
from phloat.system.forces import coordinate
from phloat.system.jointed import ends, in_velocities
from phloat.system.state import Pose, State
from phloat.system.system import System

STEP = 1e-4  # of the differences, in radians and in lengths of the system


def stiffness(
    system: System, state: State, lam: np.ndarray, u: np.ndarray, length: float, elastic: bool = True
) -> Matrix:
    """K of the whole system at a state, with the multipliers and inputs that load it; without `elastic`, what loads add to it."""
    bodies = system.bodies.items()
    blocks = {name: body_stiffness(body, state.pose(name), system.gravity, elastic) for name, body in bodies}
    for name, port in wrenched(system, u):
        wrench = u[system.ports[f"{name}.{port}"]]
        blocks[name] += _wrench_stiffness(system.bodies[name], port, wrench, state.pose(name).eta)
    for name, actuator in system.actuators.items():
        if size := float(u[system.ports[name]][0]):
            pose = state.pose(actuator.body)
            blocks[actuator.body] += size * _actuator_stiffness(actuator, pose)
    columns = [system.bodies[name].columns for name in blocks]
    own = diagonal([block[np.ix_(c, c)] for block, c in zip(blocks.values(), columns, strict=True)])
    return csr(own + _between(system, state, lam, u, length))


def body_stiffness(body: Body, pose: Pose, gravity: np.ndarray, elastic: bool = True) -> np.ndarray:
    """Of one body, 6 + n rows: BᵀC⁻¹B + σ·Q with B = ∂ε/∂η, and how gravity m γ, s_u × γ, Sᵀγ turns with γ = Aᵀg."""
    n, I = body.coordinates, body.inertia
    K = np.zeros((6 + n, 6 + n))
    gamma, s_u = pose.A.T @ gravity, I.s0 + I.S @ pose.eta
    K[:3, 3:6] = -I.m * skew(gamma)
    K[3:6, 3:6] = -skew(s_u) @ skew(gamma)
    K[3:6, 6:] = skew(gamma) @ I.S
    K[6:, 3:6] = -I.S.T @ skew(gamma)
    if n:
        Q = body.elastic.Q
        if elastic:
            B = strain_gradient(body.elastic.D.toarray(), Q.strain, Q.row, Q.column, Q.value, pose.eta)
            K[6:, 6:] = B.T @ (body.elastic.C_inverse @ B)
        np.add.at(K[6:, 6:], (Q.row, Q.column), Q.value * pose.sigma[Q.strain])
    return K


def wrenched(system: System, u: np.ndarray) -> Iterable[tuple[str, str]]:
    """Bodies and their ports at which inputs u put a wrench."""
    for name, body in system.bodies.items():
        for port in body.ports:
            if u[system.ports[f"{name}.{port}"]].any():
                yield name, port


def _wrench_stiffness(body: Body, port: str, wrench: np.ndarray, eta: np.ndarray) -> np.ndarray:
    """A wrench in the axes of the port's section."""
    whole = np.zeros(6)
    whole[body.twist_rows] = wrench
    where = body.port(port)
    return _following_force(where, eta, whole[:3]) + _following_torque(where, eta, whole[3:])


def _actuator_stiffness(actuator: Actuator, pose: Pose) -> np.ndarray:
    """Of a force, torque or load at the input 1."""
    follows, force = actuator.axes == "body", actuator.kind == "force"
    if follows:
        of = _following_force if force else _following_torque
        parts = [of(port, pose.eta, weight * actuator.direction) for weight, port in actuator.ports]
    else:
        dead = _dead_force if force else _dead_torque
        parts = [dead(port, pose, weight * actuator.direction) for weight, port in actuator.ports]
    return np.asarray(sum(parts))


def _following_force(port: Port, eta: np.ndarray, given: np.ndarray) -> np.ndarray:
    """−∂(f, y × f, Φᵀf)/∂η of f = R(Ψη) f₀, in axes of the body: nothing of it depends on where the body stands."""
    psi, Phi = port.Psi @ eta, port.Phi
    f, slope = section_axes(psi) @ given, section_axes_rate(psi, given) @ port.Psi
    K = np.zeros((6 + len(eta),) * 2)
    K[:3, 6:] = -slope
    K[3:6, 6:] = skew(f) @ Phi - skew(port.x + Phi @ eta) @ slope
    K[6:, 6:] = -Phi.T @ slope
    return K


def _following_torque(port: Port, eta: np.ndarray, given: np.ndarray) -> np.ndarray:
    """−∂(0, τ, Ψᵀτ)/∂η of τ = R(Ψη) τ₀."""
    slope = section_axes_rate(port.Psi @ eta, given) @ port.Psi
    K = np.zeros((6 + len(eta),) * 2)
    K[3:6, 6:], K[6:, 6:] = -slope, -port.Psi.T @ slope
    return K


def _dead_force(port: Port, pose: Pose, given: np.ndarray) -> np.ndarray:
    """−∂(f, y × f, Φᵀf)/∂(φ, η) of f = Aᵀf₀."""
    turn, Phi = skew(pose.A.T @ given), port.Phi
    K = np.zeros((6 + len(pose.eta),) * 2)
    K[:3, 3:6], K[3:6, 3:6] = -turn, -skew(port.x + Phi @ pose.eta) @ turn
    K[3:6, 6:], K[6:, 3:6] = turn @ Phi, -Phi.T @ turn
    return K


def _dead_torque(port: Port, pose: Pose, given: np.ndarray) -> np.ndarray:
    """−∂(0, τ, Ψᵀτ)/∂φ of τ = Aᵀτ₀."""
    turn = skew(pose.A.T @ given)
    K = np.zeros((6 + len(pose.eta),) * 2)
    K[3:6, 3:6], K[6:, 3:6] = -turn, -port.Psi.T @ turn
    return K


# --- between two ports -----------------------------------------------------------------------------------------------


Load = tuple[Row, np.ndarray, float]  # a row, what acts along it, and the stiffness of that


def _between(system: System, state: State, lam: np.ndarray, u: np.ndarray, length: float) -> Matrix:
    """Of joints with their multipliers, efforts along free axes, and springs."""
    places = in_velocities(system)
    row, column, value = [np.zeros(0, int)], [np.zeros(0, int)], [np.zeros(0)]
    for c, sides, loads in _loaded(system, state, lam, u):
        block = _pair_stiffness(sides, loads, length)
        where = np.concatenate([places.columns[end.body] for end in (c.first, c.second) if end.body])
        i, j = np.nonzero(block)
        row.append(where[i])
        column.append(where[j])
        value.append(block[i, j])
    entries = (np.concatenate(value), (np.concatenate(row), np.concatenate(column)))
    return csr(sp.coo_array(entries, shape=(places.size, places.size)))


def _loaded(
    system: System, state: State, lam: np.ndarray, u: np.ndarray
) -> Iterable[tuple[Connection | Element, tuple[Held, Held], list[Load]]]:
    for name, c in system.joints.items():
        efforts = [*_split(c.rows, lam[system.multipliers[name]])] if name in system.multipliers else []
        efforts += _split(c.free, u[system.ports[name]]) if c.free else []
        if any(effort.any() for _, effort in efforts):
            yield c, ends(c, state), [(row, effort, 0.0) for row, effort in efforts]
    for element in system.elements.values():
        sides = held(element.first, state), held(element.second, state)
        loads = []
        for row, law in zip(element.rows, element.laws, strict=True):
            if law.stores:
                x = coordinate(element, row, *sides, state)
                loads.append((row, np.array([law.pull(x)]), law.slope(x)))
        if loads:
            yield element, sides, loads


def _split(rows: Sequence[Row], values: np.ndarray) -> list[tuple[Row, np.ndarray]]:
    stops = np.cumsum([len(row.labels) for row in rows])
    return list(zip(rows, np.split(values, stops[:-1]), strict=True))


def _pair_stiffness(sides: tuple[Held, Held], loads: list[Load], length: float) -> np.ndarray:
    """−∂(Σ rowᵀ effort)/∂q for the velocities of both sides, one after the other."""
    columns = []
    for side, port in enumerate(sides):
        n = port.Phi.shape[1]
        if not len(port.columns):  # the ground
            continue
        by_port = np.zeros((sum(len(p.columns) for p in sides), 12))
        for k in range(12 if n else 6):
            size = STEP * (length if k % 6 < 3 else 1.0)
            before, after = (_pushed(_replaced(sides, side, _nudged(port, k, s)), loads) for s in (-size, size))
            by_port[:, k] = (before - after) / (2 * size)
        onto = np.zeros((12, 6 + n))
        onto[:6, :6], onto[6:9, 6:], onto[9:, 6:] = np.eye(6), port.Phi, port.Psi
        columns.append((by_port @ onto)[:, port.columns])
    K = np.hstack(columns)
    for row, _, slope in loads:
        if slope:
            rate = np.hstack(row.rate(*sides))
            K += slope * rate.T @ rate
    return K


def _replaced(sides: tuple[Held, Held], side: int, port: Held) -> tuple[Held, Held]:
    return (port, sides[1]) if side == 0 else (sides[0], port)


def _pushed(sides: tuple[Held, Held], loads: list[Load]) -> np.ndarray:
    total = np.zeros(sum(len(port.columns) for port in sides))
    for row, effort, _ in loads:
        total += effort @ np.hstack(row.rate(*sides))
    return total


def _nudged(port: Held, k: int, size: float) -> Held:
    """The port after a small motion of its frame (k = 0 … 5) or of its section in the frame (6 … 11)."""
    step = size * np.eye(3)[k % 3]
    if k < 3:
        return replace(port, r_P=port.r_P + port.A @ step)
    if k < 6:
        return replace(port, A=port.A @ rotation(step))
    if k < 9:
        return replace(port, y=port.y + step)
    more = np.hstack([port.Phi, np.zeros((3, 3))]), np.hstack([port.Psi, np.eye(3)])
    return replace(port, Phi=more[0], Psi=more[1], eta=np.concatenate([port.eta, step]))
