"""K = −∂(f + Gᵀλ + B u)/∂q of a system that stands still, for motions (δx, δφ, δη) of its bodies in body axes.

What a body does to itself (elasticity, gravity, forces at its ports), and what joints and springs do between two ports, is written
out: the gap of a row is a function of twelve numbers of each port, and its curvature by them is in `joints.curvature`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from phloat.algebra.cross import skew
from phloat.algebra.sparse import Matrix, assembled
from phloat.bodies.body import Body, Port
from phloat.joints.port_state import PortState, section_axes, section_axes_rate, turn_stiffness
from phloat.joints.rows import FIRST, Row, curvature, row_gradient
from phloat.motion.kernel.arrays import AXES, PAIRS, arrays_of
from phloat.system.connection import Connection, Element
from phloat.system.joint_rows import (
    VelocityColumns,
    columns_in_velocities,
    coordinate,
    element_ends,
    ends,
    scatter_rows,
)
from phloat.system.state import Pose, State
from phloat.system.system import System

ROUND_OFF = 1e-14  # of places: by so much the length of a spring is unknown


def stiffness(system: System, state: State, lam: np.ndarray, u: np.ndarray) -> Matrix:
    """K of the whole system at a state, with the multipliers and inputs that load it."""
    places = columns_in_velocities(system)
    own = [(places.columns[name], block) for name, block in _own_terms(system, state, u)]
    pairs = [(_both(c, places), _pair_stiffness(sides, loads)) for c, sides, loads in _loaded(system, state, lam, u)]
    return _summed(own + pairs, places.size)


def loads_stiffness(system: System, state: State, lam: np.ndarray, u: np.ndarray) -> tuple[Matrix, Matrix]:
    """What loads add to the stiffness of bodies and springs, and the sum of the magnitudes of its terms, entry by entry."""
    places, terms, sizes = columns_in_velocities(system), [], []
    for name, block in _own_terms(system, state, u, elastic=False):
        terms.append((places.columns[name], block))
        sizes.append((places.columns[name], grouped(block, kinds(system.bodies[name].columns))))
    for c, sides, loads in _loaded(system, state, lam, u):
        where = _both(c, places)
        of = np.concatenate([kinds(port.columns) - 10**9 * k for k, port in enumerate(sides)])
        for row, effort, slope in loads:
            if _pulls(sides, row, effort, slope):
                block = _pair_stiffness(sides, [(row, effort, 0.0)])
                terms.append((where, block))
                sizes.append((where, grouped(block, of)))
    return _summed(terms, places.size), _summed(sizes, places.size)


def spring_rows(system: System, state: State) -> tuple[Matrix, np.ndarray, np.ndarray]:
    """The rates of all springs, a row each, their stiffnesses, and what their forces are unknown by."""
    rates, slopes, noise = [], [], []
    for element in system.elements.values():
        sides = element_ends(element, state)
        far = sum(float(np.abs(port.c).sum()) for port in sides)
        for row, law in zip(element.rows, element.laws, strict=True):
            if law.stores:
                x = coordinate(element, row, *sides, state)
                rates.append((element, row.rate(*sides)))
                slopes.append(law.slope(x))
                noise.append(law.round_off(x, far))
    return scatter_rows(rates, columns_in_velocities(system)), np.array(slopes), np.array(noise)


def grouped(block: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """The norm of every part of a block whose rows and whose columns are of one kind, as δx or δφ: its size in any axes."""
    if not len(kinds):
        return block
    starts = np.flatnonzero(np.diff(kinds, prepend=kinds[0] - 1))
    which = np.cumsum(np.diff(kinds, prepend=kinds[0]) != 0)
    squares = np.add.reduceat(np.add.reduceat(block**2, starts, axis=0), starts, axis=1)
    return np.asarray(np.sqrt(squares)[np.ix_(which, which)])


def kinds(columns: np.ndarray) -> np.ndarray:
    """0 for δx, 1 for δφ, and a number of its own for each of δη."""
    return np.where(columns < 3, 0, np.where(columns < 6, 1, columns))


def _pulls(sides: tuple[PortState, PortState], row: Row, effort: float, slope: float) -> bool:
    """Whether there is a load beyond what the round-off of places makes of a stiff spring."""
    far = abs(row.gap(*sides)) + sum(float(np.abs(port.c).sum()) for port in sides) if slope else 0.0
    return abs(effort) > ROUND_OFF * abs(slope) * far


def _own_terms(system: System, state: State, u: np.ndarray, elastic: bool = True) -> Iterator[tuple[str, np.ndarray]]:
    """What acts on one body: elasticity, gravity, pre-stress and inputs, in the velocities that it has."""
    for name, body in system.bodies.items():
        c = np.ix_(body.columns, body.columns)
        yield name, body_stiffness(body, state.pose(name), system.gravity, elastic)[c]
    for name, where in wrenched(system, u):
        body = system.bodies[name]
        wrench = np.zeros(6)
        wrench[body.twist_rows] = u[system.ports[f"{name}.{where}"]]
        block = _load_stiffness(body.port(where), state.pose(name).eta, wrench[:3], wrench[3:])
        yield name, block[np.ix_(body.columns, body.columns)]
    for name, actuator in system.actuators.items():
        if size := float(u[system.ports[name]][0]):
            body, pose = system.bodies[actuator.body], state.pose(actuator.body)
            loads = size * actuator.direction, np.zeros(3)
            force, torque = loads if actuator.kind == "force" else loads[::-1]
            A = pose.A if actuator.axes == "inertial" else None
            parts = [_load_stiffness(port, pose.eta, w * force, w * torque, A) for w, port in actuator.ports]
            yield actuator.body, np.sum(parts, axis=0)[np.ix_(body.columns, body.columns)]


def _summed(terms: Sequence[tuple[np.ndarray, np.ndarray]], size: int) -> Matrix:
    """The sum of square blocks as one matrix."""
    return assembled([(where, where, block) for where, block in terms], (size, size))


def _both(c: Connection | Element, places: VelocityColumns) -> np.ndarray:
    return np.concatenate([places.columns[end.body] for end in (c.first, c.second) if end.body])


def body_stiffness(body: Body, pose: Pose, gravity: np.ndarray, elastic: bool = True) -> np.ndarray:
    """Of one body, 6 + n rows: BᵀC⁻¹B + σ·Q with B = ∂ε/∂η, and how gravity m γ, s_u × γ, Sᵀγ turns with γ = Aᵀg."""
    n, I = body.coordinates, body.inertia
    K = np.zeros((6 + n, 6 + n))
    gamma, s_u = pose.A.T @ gravity, I.s0 + I.S @ pose.eta
    turn = skew(gamma)
    K[:3, 3:6] = -I.m * turn
    K[3:6, 3:6] = -skew(s_u) @ turn
    K[3:6, 6:] = turn @ I.S
    K[6:, 3:6] = -I.S.T @ turn
    if n:
        Q = body.elastic.Q
        if elastic:
            B = body.elastic.gradient(pose.eta)
            K[6:, 6:] = B.T @ (body.elastic.C_inverse @ B)
        np.add.at(K[6:, 6:], (Q.row, Q.column), Q.value * pose.sigma[Q.strain])
    return K


def wrenched(system: System, u: np.ndarray) -> Iterable[tuple[str, str]]:
    """Bodies and their ports at which inputs u put a wrench."""
    for name, body in system.bodies.items():
        for port in body.ports:
            if u[system.ports[f"{name}.{port}"]].any():
                yield name, port


def nonconservative(system: System, u: np.ndarray) -> tuple[str, ...]:
    """The inputs whose loads have no potential: they turn with a section, or are torques about axes in space."""
    found = [f"{body}.{port}" for body, port in wrenched(system, u)]
    for name, c in system.joints.items():
        if any(row.function == "spin" for row in c.free) and u[system.ports[name]].any():
            found.append(name)
    for name, a in system.actuators.items():
        if u[system.ports[name]].any() and (a.axes == "body" or (a.kind == "torque" and not system.plane)):
            found.append(name)
    return tuple(found)


def _load_stiffness(
    port: Port, eta: np.ndarray, force: np.ndarray, torque: np.ndarray, A: np.ndarray | None = None
) -> np.ndarray:
    """−∂(f, y × f + τ, Φᵀf + Ψᵀτ)/∂(x, φ, η) of a force and a torque at a port, in axes of the body; y = x + Φη.

    Where A is given they are constant in inertial axes, f = Aᵀf₀; else they turn with the section, f = R(Ψη) f₀.
    """
    psi, size = port.Psi @ eta, 6 + len(eta)

    def in_body(given: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A given vector in axes of the body, and its slope by (x, φ, η)."""
        slope = np.zeros((3, size))
        if A is None:
            slope[:, 6:] = section_axes_rate(psi, given) @ port.Psi
            return section_axes(psi) @ given, slope
        slope[:, 3:6] = skew(A.T @ given)
        return A.T @ given, slope

    (f, by_f), (_, by_torque) = in_body(force), in_body(torque)
    K = -np.vstack([by_f, skew(port.x + port.Phi @ eta) @ by_f + by_torque, port.Phi.T @ by_f + port.Psi.T @ by_torque])
    K[3:6, 6:] += skew(f) @ port.Phi
    return K


# --- between two ports -----------------------------------------------------------------------------------------------


Load = tuple[Row, float, float]  # a row, what acts along it, and the stiffness of that


def _loaded(
    system: System, state: State, lam: np.ndarray, u: np.ndarray
) -> Iterable[tuple[Connection | Element, tuple[PortState, PortState], list[Load]]]:
    for name, c in system.joints.items():
        efforts = [*zip(c.rows, lam[system.multipliers[name]], strict=True)] if name in system.multipliers else []
        efforts += zip(c.free, u[system.ports[name]], strict=True) if c.free else []
        if any(effort for _, effort in efforts):
            yield c, ends(c, state), [(row, float(effort), 0.0) for row, effort in efforts if effort]
    for element in system.elements.values():
        sides = element_ends(element, state)
        loads = []
        for row, law in zip(element.rows, element.laws, strict=True):
            if law.stores:
                x = coordinate(element, row, *sides, state)
                loads.append((row, law.pull(x), law.slope(x)))
        if loads:
            yield element, sides, loads


def _pair_stiffness(sides: tuple[PortState, PortState], loads: list[Load]) -> np.ndarray:
    """−∂(Σ rowᵀ effort)/∂q for the velocities of both sides, one after the other.

    A gap is a function g of the numbers ξ = (c, d_1, d_2, d_3) of both ports, and ξ of the motions q of their bodies. With λ along
    the row, −∂(λ ∂g/∂q)/∂q = −λ (∂ξ/∂q)ᵀ(∂²g/∂ξ²)(∂ξ/∂q) − λ ∂g/∂ξ · ∂²ξ/∂q².
    """
    sizes = [len(port.columns) for port in sides]
    pull, curved = np.zeros(24), np.zeros((24, 24))
    for row, effort, _ in loads:
        if row.has_gap:
            pull += effort * row_gradient((row,), *sides)[0]
            curved += effort * curvature(row, *sides)
    maps = np.zeros((24, sum(sizes)))
    parts = (slice(0, sizes[0]), slice(sizes[0], None))
    for i, (port, mine) in enumerate(zip(sides, parts, strict=True)):
        maps[12 * i : 12 * i + 3, mine], maps[12 * i + 3 : 12 * i + 12, mine] = port.point, port.turn.reshape(9, -1)
    K = -maps.T @ curved @ maps
    for i, (port, mine) in enumerate(zip(sides, parts, strict=True)):
        if sizes[i]:
            K[mine, mine] += turn_stiffness(port, pull[12 * i : 12 * i + 12])
    for row, effort, slope in loads:
        if not row.has_gap:
            K += _spin_stiffness(row, effort, sides, parts)
        if slope:
            rate = np.concatenate(row.rate(*sides))
            K += slope * np.outer(rate, rate)
    return K


def _spin_stiffness(
    row: Row, effort: float, sides: tuple[PortState, PortState], parts: tuple[slice, slice]
) -> np.ndarray:
    """Of a torque τ along a direction of the first port, on the second, and −τ on the first."""
    (A, B), i = sides, row.terms[0][1] - FIRST
    size = len(A.columns) + len(B.columns)
    K, turning = np.zeros((size, size)), effort * A.turn[i]  # how τ moves with A
    torque = effort * A.D[:, i]
    for port, mine, sign in ((A, parts[0], -1.0), (B, parts[1], 1.0)):
        K[mine, parts[0]] -= sign * port.spin.T @ turning
        if len(port.columns):
            at = Port(port.y - port.Phi @ port.eta, port.Phi, port.Psi)
            block = _load_stiffness(at, port.eta, np.zeros(3), sign * torque, port.A)
            K[mine, mine] += block[np.ix_(port.columns, port.columns)]
    return K


# --- inertia ----------------------------------------------------------------------------------------------------------
#
# Derivatives of what inertia does in a steady motion w = (v_P, ω, 0), in closed form.
#
# With p = M(η) w the forces of inertia on (v_P, ω, η̇) besides −M ẇ are
#
#     h = (p_v × ω,  p_v × v_P + p_ω × ω,  ½ wᵀ(∂M/∂η) w) − (∂M/∂η · η̇) w,
#
# so that all derivatives follow from P = ∂(M w)/∂η and T_ηη = ½ wᵀ(∂²M/∂η²) w. M is quadratic in η; about the mass centre
# y(η) = s₀/m + Sη/m it is J(η) = j0 + j1·η + ½ηNη and c(η) = c0 + Γη, the arrays of the kernel.


def inertia_slopes(body: Body, pose: Pose) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
