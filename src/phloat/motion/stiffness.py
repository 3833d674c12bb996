"""K = −∂(f + Gᵀλ + B u)/∂q of a system that stands still, for motions (δx, δφ, δη) of its bodies in body axes.

What a body does to itself (elasticity, gravity) is written out. What acts between two ports, joints and springs, depends on
twelve numbers of each port only, a small motion (δx, δφ) of its frame and a small displacement and rotation (Φδη, Ψδη) of its
section; it is differenced by those, whatever kind of row it is. K steers Newton's method and need not be exact to the last digit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from phloat.algebra.cross import rotation, skew
from phloat.algebra.sparse import Matrix, csr
from phloat.bodies.body import Body
from phloat.bodies.strain import strain_gradient
from phloat.joints.rows import Distance, Held, Row
from phloat.system.connection import Connection, held
from phloat.system.elements import Actuator, Element
from phloat.system.forces import coordinate
from phloat.system.jointed import Places, ends, in_velocities, scattered
from phloat.system.state import Pose, State
from phloat.system.system import System

STEP = 1e-3  # of the differences, in radians and in lengths of the system, or of a spring
DIFFERENCE = {-2: 1.0, -1: -8.0, 1: 8.0, 2: -1.0}  # over 12 steps: of fourth order, so off by 1e-13
ROUND_OFF = 1e-14  # of places: by so much the length of a spring is unknown


def stiffness(system: System, state: State, lam: np.ndarray, u: np.ndarray, length: float) -> Matrix:
    """K of the whole system at a state, with the multipliers and inputs that load it."""
    places = in_velocities(system)
    own = [(places.columns[name], block) for name, block in _own_terms(system, state, u, length)]
    pairs = [
        (_both(c, places), _pair_stiffness(sides, loads, length)) for c, sides, loads in _loaded(system, state, lam, u)
    ]
    return _summed(own + pairs, places.size)


def loads_stiffness(
    system: System, state: State, lam: np.ndarray, u: np.ndarray, length: float
) -> tuple[Matrix, Matrix]:
    """What loads add to the stiffness of bodies and springs, and the sum of the magnitudes of its terms, entry by entry."""
    places, terms, sizes = in_velocities(system), [], []
    for name, block in _own_terms(system, state, u, length, elastic=False):
        terms.append((places.columns[name], block))
        sizes.append((places.columns[name], grouped(block, kinds(system.bodies[name].columns))))
    for c, sides, loads in _loaded(system, state, lam, u):
        where = _both(c, places)
        of = np.concatenate([kinds(port.columns) - 10**9 * k for k, port in enumerate(sides)])
        for row, effort, slope in loads:
            if _pulls(sides, row, effort, slope):
                block = _pair_stiffness(sides, [(row, effort, 0.0)], length)
                terms.append((where, block))
                sizes.append((where, grouped(block, of)))
    return _summed(terms, places.size), _summed(sizes, places.size)


def spring_rows(system: System, state: State, places: Places) -> tuple[Matrix, np.ndarray]:
    """The rates of all springs, a row each, and their stiffnesses."""
    rates, slopes = [], []
    for element, sides, loads in _loaded(system, state, np.zeros(system.multipliers.size), np.zeros(system.ports.size)):
        for row, _, slope in loads:
            if slope:
                rates.append((element, row.rate(*sides)))
                slopes.append(slope)
    return scattered(rates, places), np.array(slopes)


def grouped(block: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """The norm of every part of a block whose rows and whose columns are of one kind, as δx or δφ: its size in any axes."""
    there, which = np.unique(kinds, return_inverse=True)
    sums = (which[:, None] == np.arange(len(there))).astype(float)
    return np.asarray(sums @ np.sqrt(sums.T @ block**2 @ sums) @ sums.T)


def kinds(columns: np.ndarray) -> np.ndarray:
    """0 for δx, 1 for δφ, and a number of its own for each of δη."""
    return np.where(columns < 3, 0, np.where(columns < 6, 1, columns))


def _pulls(sides: tuple[Held, Held], row: Row, effort: np.ndarray, slope: float) -> bool:
    """Whether there is a load beyond what the round-off of places makes of a stiff spring."""
    far = abs(float(row.gap(*sides)[0])) + sum(float(np.abs(port.c).sum()) for port in sides) if slope else 0.0
    return bool(np.abs(effort).max(initial=0.0) > ROUND_OFF * abs(slope) * far)


def _own_terms(
    system: System, state: State, u: np.ndarray, length: float, elastic: bool = True
) -> Iterator[tuple[str, np.ndarray]]:
    """What acts on one body: elasticity, gravity, pre-stress and inputs, in the velocities that it has."""
    for name, body in system.bodies.items():
        c = np.ix_(body.columns, body.columns)
        yield name, body_stiffness(body, state.pose(name), system.gravity, elastic)[c]
    for name, port in _wrenched(system, u):
        body = system.bodies[name]
        wrench = u[system.ports[f"{name}.{port}"]]
        yield name, _wrench_stiffness(body, port, wrench)[np.ix_(body.columns, body.columns)]
    for name, actuator in system.actuators.items():
        if size := float(u[system.ports[name]][0]):
            body, pose = system.bodies[actuator.body], state.pose(actuator.body)
            block = size * _actuator_stiffness(actuator, body, pose, length)
            yield actuator.body, block[np.ix_(body.columns, body.columns)]


def _summed(terms: Sequence[tuple[np.ndarray, np.ndarray]], size: int) -> Matrix:
    """Blocks at places of one matrix, added up."""
    row, column, value = [np.zeros(0, int)], [np.zeros(0, int)], [np.zeros(0)]
    for where, block in terms:
        i, j = np.nonzero(block)
        row.append(where[i])
        column.append(where[j])
        value.append(block[i, j])
    entries = (np.concatenate(value), (np.concatenate(row), np.concatenate(column)))
    return csr(sp.coo_array(entries, shape=(size, size)))


def _both(c: Connection | Element, places: Places) -> np.ndarray:
    return np.concatenate([places.columns[end.body] for end in (c.first, c.second) if end.body])


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


def _wrenched(system: System, u: np.ndarray) -> Iterable[tuple[str, str]]:
    for name, body in system.bodies.items():
        for port in body.ports:
            if u[system.ports[f"{name}.{port}"]].any():
                yield name, port


def _wrench_stiffness(body: Body, port: str, wrench: np.ndarray) -> np.ndarray:
    """A wrench in body axes turns the body by y × F."""
    whole = np.zeros(6)
    whole[body.twist_rows] = wrench
    K = np.zeros((6 + body.coordinates,) * 2)
    K[3:6, 6:] = skew(whole[:3]) @ body.port(port).Phi
    return K


def _actuator_stiffness(actuator: Actuator, body: Body, pose: Pose, length: float) -> np.ndarray:
    n = body.coordinates
    units = np.concatenate([np.full(3, length), np.ones(3 + n)])
    eta_units = [length / max(float(np.abs(p.Phi).max(initial=0.0)), 1e-300) for _, p in actuator.ports]
    units[6:] = min([*eta_units, 1e6])
    K = np.zeros((6 + n, 6 + n))
    for k in range(3, 6 + n):  # a force or torque does not depend on where the body stands
        step = np.zeros(6 + n)
        step[k] = STEP * units[k]
        sides = [actuator.effort(body, _moved_pose(pose, sign * step)) for sign in (-1, 1)]
        K[:, k] = (sides[0] - sides[1]) / (2 * step[k])
    return K


def _moved_pose(pose: Pose, step: np.ndarray) -> Pose:
    return pose._replace(r_P=pose.r_P + pose.A @ step[:3], A=pose.A @ rotation(step[3:6]), eta=pose.eta + step[6:])


# --- between two ports -----------------------------------------------------------------------------------------------


Load = tuple[Row, np.ndarray, float]  # a row, what acts along it, and the stiffness of that


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
    if any(isinstance(row, Distance) for row, _, _ in loads):  # whose direction turns as its ends move
        length = min(length, float(np.linalg.norm(sides[1].c - sides[0].c)))
    for side, port in enumerate(sides):
        n = port.Phi.shape[1]
        if not len(port.columns):  # the ground
            continue
        by_port = np.zeros((sum(len(p.columns) for p in sides), 12))
        for k in range(12 if n else 6):
            size = STEP * (length if k % 6 < 3 else 1.0)
            at = {s: _pushed(_replaced(sides, side, _nudged(port, k, s * size)), loads) for s in DIFFERENCE}
            by_port[:, k] = -sum(weight * at[s] for s, weight in DIFFERENCE.items()) / (12.0 * size)
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
