"""K = −∂(f + Gᵀλ + B u)/∂q of a system at rest, for motions (δx, δφ, δη) of its bodies in body axes.

Forces of one body (elasticity, gravity, forces at its ports) and forces between two ports (joints, springs) are differentiated in
closed form: the gap of a row is a function of twelve numbers of each port, whose second derivatives are in `joints.curvature`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from phloat.algebra.cross import skew
from phloat.algebra.sparse import Matrix, assembled
from phloat.bodies.body import Body, Port
from phloat.joints.port_state import PortState, section_axes, section_axes_rate, turn_stiffness
from phloat.joints.rows import FIRST, Row, curvature, row_gradient
from phloat.motion.initial.velocities import velocity_indices
from phloat.motion.kernel.arrays import PAIRS, arrays_of
from phloat.system.connection import Connection, Element
from phloat.system.joint_groups import VelocityColumns
from phloat.system.joint_rows import (
    columns_in_velocities,
    coordinate,
    element_ends,
    ends,
    scatter_rows,
)
from phloat.system.state import Pose, State
from phloat.system.system import System

ROUND_OFF = 1e-14  # of positions, hence of the length of a spring


def stiffness(system: System, state: State, lam: np.ndarray, u: np.ndarray) -> Matrix:
    """K of the system at a state, with multipliers λ and inputs u."""
    columns = columns_in_velocities(system)
    body_blocks = [(columns.columns[name], block) for name, block in _body_terms(system, state, u)]
    loaded = _pair_loads(system, state, lam, u)
    pair_blocks = [(_pair_columns(c, columns), pair_stiffness(sides, loads)) for c, sides, loads in loaded]
    return assemble_blocks(body_blocks + pair_blocks, columns.size)


def loads_stiffness(system: System, state: State, lam: np.ndarray, u: np.ndarray) -> tuple[Matrix, Matrix]:
    """The part of the stiffness that comes from loads, and the sums of magnitudes of its terms, entry by entry."""
    velocities, terms, sizes = columns_in_velocities(system), [], []
    for name, block in _body_terms(system, state, u, elastic=False):
        terms.append((velocities.columns[name], block))
        sizes.append((velocities.columns[name], block_norms(block, motion_kinds(system.bodies[name].columns))))
    for c, sides, loads in _pair_loads(system, state, lam, u):
        indices = _pair_columns(c, velocities)
        entry_kinds = np.concatenate([motion_kinds(port.columns) - 10**9 * k for k, port in enumerate(sides)])
        for row, effort, slope in loads:
            if _is_loaded(sides, row, effort, slope):
                block = pair_stiffness(sides, [(row, effort, 0.0)])
                terms.append((indices, block))
                sizes.append((indices, block_norms(block, entry_kinds)))
    return assemble_blocks(terms, velocities.size), assemble_blocks(sizes, velocities.size)


def spring_rows(system: System, state: State) -> tuple[Matrix, np.ndarray, np.ndarray]:
    """The rates of all springs as rows, their stiffnesses, and the round-off of their forces."""
    rates, slopes, noise = [], [], []
    for element in system.elements.values():
        sides = element_ends(element, state)
        distance = sum(float(np.abs(port.c).sum()) for port in sides)
        for row, law in zip(element.rows, element.laws, strict=True):
            if law.stores:
                x = coordinate(element, row, *sides, state)
                rates.append((element, row.rate(*sides)))
                slopes.append(law.slope(x))
                noise.append(law.round_off(x, distance))
    return scatter_rows(rates, columns_in_velocities(system)), np.array(slopes), np.array(noise)


def block_norms(block: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """A block with every part of equal row and column kinds (δx, δφ …) replaced by its norm, which is independent of axes."""
    if not len(kinds):
        return block
    starts = np.flatnonzero(np.diff(kinds, prepend=kinds[0] - 1))
    group = np.cumsum(np.diff(kinds, prepend=kinds[0]) != 0)
    squares = np.add.reduceat(np.add.reduceat(block**2, starts, axis=0), starts, axis=1)
    return np.asarray(np.sqrt(squares)[np.ix_(group, group)])


def motion_kinds(columns: np.ndarray) -> np.ndarray:
    """0 for δx, 1 for δφ, and a different number for each δη."""
    return np.where(columns < 3, 0, np.where(columns < 6, 1, columns))


def _is_loaded(sides: tuple[PortState, PortState], row: Row, effort: float, slope: float) -> bool:
    """Whether the effort exceeds what the round-off of positions causes in a stiff spring."""
    distance = abs(row.gap(*sides)) + sum(float(np.abs(port.c).sum()) for port in sides) if slope else 0.0
    return abs(effort) > ROUND_OFF * abs(slope) * distance


def _body_terms(system: System, state: State, u: np.ndarray, elastic: bool = True) -> Iterator[tuple[str, np.ndarray]]:
    """The bodies and stiffness blocks of forces on one body: elasticity, gravity, pre-stress and inputs."""
    for name, body in system.bodies.items():
        c = np.ix_(body.columns, body.columns)
        yield name, body_stiffness(body, state.pose(name), system.gravity, elastic)[c]
    for name, port_name in wrench_ports(system, u):
        body = system.bodies[name]
        wrench = np.zeros(6)
        wrench[body.twist_rows] = u[system.ports[f"{name}.{port_name}"]]
        block = _load_stiffness(body.port(port_name), state.pose(name).eta, wrench[:3], wrench[3:])
        yield name, block[np.ix_(body.columns, body.columns)]
    for name, actuator in system.actuators.items():
        if size := float(u[system.ports[name]][0]):
            body, pose = system.bodies[actuator.body], state.pose(actuator.body)
            A, none = pose.A if actuator.axes == "inertial" else None, np.zeros(3)
            c = np.ix_(body.columns, body.columns)
            for vector, port in actuator.forces:  # one by one: the round-off of their sum is that of each
                force, torque = (size * vector, none) if actuator.kind == "force" else (none, size * vector)
                yield actuator.body, _load_stiffness(port, pose.eta, force, torque, A)[c]
            if actuator.area is not None:
                slope = actuator.area.at(pose.eta)[1]
                yield actuator.body, np.hstack([np.zeros((len(slope), 6)), -size * slope])[c]


def assemble_blocks(terms: Sequence[tuple[np.ndarray, np.ndarray]], size: int) -> Matrix:
    """The sum of square blocks as one matrix."""
    return assembled([(columns, columns, block) for columns, block in terms], (size, size))


def _pair_columns(c: Connection | Element, velocities: VelocityColumns) -> np.ndarray:
    """Indices of the velocities of both bodies."""
    return np.concatenate([velocities.columns[end.body] for end in (c.first, c.second) if end.body])


def body_stiffness(body: Body, pose: Pose, gravity: np.ndarray, elastic: bool = True) -> np.ndarray:
    """K of one body, 6 + n rows: BᵀC⁻¹B + σ·Q with B = ∂ε/∂η, and the derivatives of m γ, s_u × γ, Sᵀγ with γ = Aᵀg."""
    n, I = body.coordinates, body.inertia
    K = np.zeros((6 + n, 6 + n))
    gamma, (s_u, S) = pose.A.T @ gravity, I.static_moment(pose.eta)
    turn = skew(gamma)
    K[:3, 3:6] = -I.m * turn
    K[3:6, 3:6] = -skew(s_u) @ turn
    K[3:6, 6:] = turn @ S
    K[6:, 3:6] = -S.T @ turn
    if I.second is not None:
        K[6:, 6:] -= np.tensordot(gamma, I.second.S, 1)
    if n:
        Q = body.elastic.Q
        if elastic:
            B = body.elastic.gradient(pose.eta)
            K[6:, 6:] += B.T @ (body.elastic.C_inverse @ B)
        np.add.at(K[6:, 6:], (Q.row, Q.column), Q.value * pose.sigma[Q.strain])
    return K


def wrench_ports(system: System, u: np.ndarray) -> Iterable[tuple[str, str]]:
    """Names of bodies and ports with a nonzero wrench in the inputs u."""
    for name, body in system.bodies.items():
        for port in body.ports:
            if u[system.ports[f"{name}.{port}"]].any():
                yield name, port


def nonconservative(system: System, u: np.ndarray) -> tuple[str, ...]:
    """The inputs whose loads have no potential: forces that turn with a section, or torques about axes in space."""
    names = [f"{body}.{port}" for body, port in wrench_ports(system, u)]
    for name, c in system.joints.items():
        if any(row.function == "spin" for row in c.free) and u[system.ports[name]].any():
            names.append(name)
    for name, a in system.actuators.items():
        if u[system.ports[name]].any() and (a.axes == "body" or (a.kind == "torque" and not system.plane)):
            names.append(name)
    return tuple(names)


def _load_stiffness(
    port: Port, eta: np.ndarray, force: np.ndarray, torque: np.ndarray, A: np.ndarray | None = None
) -> np.ndarray:
    """−∂(f, y × f + τ, Φᵀf + Ψᵀτ)/∂(x, φ, η) of a force f and a torque τ at a port, in axes of the body; y = x + Φη.

    With A they are constant in inertial axes, f = Aᵀf₀; without, they turn with the section, f = R(Ψη) f₀.
    """
    port, psi, size = port.at(eta), port.Psi @ eta, 6 + len(eta)

    def in_body(vector: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A vector in body axes, and its derivative by (x, φ, η)."""
        slope = np.zeros((3, size))
        if A is None:
            slope[:, 6:] = section_axes_rate(psi, vector) @ port.Psi
            return section_axes(psi) @ vector, slope
        slope[:, 3:6] = skew(A.T @ vector)
        return A.T @ vector, slope

    (f, by_f), (_, by_torque) = in_body(force), in_body(torque)
    K = -np.vstack([by_f, skew(port.x + port.Phi @ eta) @ by_f + by_torque, port.Phi.T @ by_f + port.Psi.T @ by_torque])
    K[3:6, 6:] += skew(f) @ port.Phi
    if port.Phi_2 is not None:
        K[6:, 6:] -= np.tensordot(f, port.Phi_2, 1)
    return K


# --- between two ports -----------------------------------------------------------------------------------------------


Load = tuple[Row, float, float]  # a row, the effort along it, and its stiffness


def _pair_loads(
    system: System, state: State, lam: np.ndarray, u: np.ndarray
) -> Iterable[tuple[Connection | Element, tuple[PortState, PortState], list[Load]]]:
    """Joints and elements with nonzero efforts: the states of both ports, and rows with efforts and stiffnesses."""
    moving = bool(np.any(state.e[velocity_indices(system)]))
    for name, c in system.joints.items():
        efforts = [*zip(c.rows, lam[system.multipliers[name]], strict=True)] if name in system.multipliers else []
        efforts += zip(c.free, u[system.ports[name]], strict=True) if c.free else []
        if any(effort for _, effort in efforts):
            yield c, ends(c, state), [(row, float(effort), 0.0) for row, effort in efforts if effort]
    for element in system.elements.values():
        sides = element_ends(element, state)
        loads = []
        for row, law in zip(element.rows, element.laws, strict=True):
            rate = element_rate(element, row, sides, state) if law.resists and moving else 0.0
            if law.stores or rate:
                x = coordinate(element, row, *sides, state)
                loads.append((row, law.force(x, rate) if rate else law.pull(x), law.slope(x)))
        if loads:
            yield element, sides, loads


def element_rate(c: Element, row: Row, sides: tuple[PortState, PortState], state: State) -> float:
    """The rate of a row of an element at a state."""
    ends_and_rates = zip((c.first, c.second), row.rate(*sides), strict=True)
    return sum(float(rate @ _velocity(state, end.body)) for end, rate in ends_and_rates if end.body)


def _velocity(state: State, name: str) -> np.ndarray:
    """(v_P, ω, η̇) of a body, those that it has."""
    pose = state.pose(name)
    return np.concatenate([pose.v_P, pose.omega, pose.rates])[state.bodies[name].columns]


def pair_stiffness(sides: tuple[PortState, PortState], loads: list[Load]) -> np.ndarray:
    """−∂(Σ rowᵀ effort)/∂q for the velocities of the first and the second body.

    A gap is a function g of the numbers ξ = (c, d_1, d_2, d_3) of both ports, and ξ of the motions q of their bodies. With
    effort λ, −∂(λ ∂g/∂q)/∂q = −λ (∂ξ/∂q)ᵀ(∂²g/∂ξ²)(∂ξ/∂q) − λ ∂g/∂ξ · ∂²ξ/∂q².
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
        maps[12 * i : 12 * i + 12, mine] = port_rates(port)
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


def port_rates(port: PortState) -> np.ndarray:
    """∂(c, d_1, d_2, d_3)/∂q of a port, 12 × velocities."""
    return np.vstack([port.point, port.turn.reshape(9, -1)])


def _spin_stiffness(
    row: Row, effort: float, sides: tuple[PortState, PortState], parts: tuple[slice, slice]
) -> np.ndarray:
    """−∂/∂q of a torque τ on the second body and −τ on the first, with τ along a direction of the first port."""
    (A, B), i = sides, row.terms[0][1] - FIRST
    size = len(A.columns) + len(B.columns)
    K, torque_slope = np.zeros((size, size)), effort * A.turn[i]  # ∂τ/∂q of A
    torque = effort * A.D[:, i]
    for port, mine, sign in ((A, parts[0], -1.0), (B, parts[1], 1.0)):
        K[mine, parts[0]] -= sign * port.spin.T @ torque_slope
        if len(port.columns):
            section = Port(port.y - port.Phi @ port.eta, port.Phi, port.Psi)
            block = _load_stiffness(section, port.eta, np.zeros(3), sign * torque, port.A)
            K[mine, mine] += block[np.ix_(port.columns, port.columns)]
    return K


# --- inertia ----------------------------------------------------------------------------------------------------------
#
# Derivatives of inertia forces in a steady motion w = (v_P, ω, 0), in closed form.
#
# With p = M(η) w the forces of inertia on (v_P, ω, η̇) besides −M ẇ are
#
#     h = (p_v × ω,  p_v × v_P + p_ω × ω,  ½ wᵀ(∂M/∂η) w) − (∂M/∂η · η̇) w,
#
# so that all derivatives follow from P = ∂(M w)/∂η and T_ηη = ½ wᵀ(∂²M/∂η²) w.


def inertia_slopes(body: Body, pose: Pose) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """∂h/∂w, ∂h/∂q (nonzero for η only) and N of a body in steady motion, each with 6 + n rows and columns."""
    n, v, omega = body.coordinates, pose.v_P, pose.omega
    M = body.inertia.at(pose.eta).M
    w = np.concatenate([v, omega, np.zeros(n)])
    p, P = M @ w, body.inertia.momentum_slope(pose.eta, w)
    by_w, by_eta = np.zeros((6 + n, 6 + n)), np.zeros((6 + n, 6 + n))
    by_w[:6] = _gyroscopic_forces(M, v, omega)
    by_w[:3, 3:6] += skew(p[:3])
    by_w[3:6, :3] += skew(p[:3])
    by_w[3:6, 3:6] += skew(p[3:6])
    by_w[6:] += P.T
    by_w[:, 6:] -= P
    by_eta[:6, 6:] = _gyroscopic_forces(P, v, omega)
    by_eta[6:, 6:] = kinetic_curvature(body, pose.eta, omega, p[:3])
    N = np.zeros((6 + n, 6 + n))
    N[:3, :3] = N[3:6, 3:6] = skew(omega)
    N[:3, 3:6] = skew(v)
    return by_w, by_eta, N


def _gyroscopic_forces(p: np.ndarray, v: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """(p_v × ω, p_v × v + p_ω × ω) for each column p."""
    turn = skew(omega)
    return -np.vstack([turn @ p[:3], skew(v) @ p[:3] + turn @ p[3:6]])


def kinetic_curvature(body: Body, eta: np.ndarray, omega: np.ndarray, p_t: np.ndarray) -> np.ndarray:
    """∂²T/∂η² for w = (v, ω, 0) with the linear momentum p_t, n × n."""
    arrays, I = arrays_of(body), body.inertia
    velocity_slope = skew(omega) @ I.static_moment(eta)[1]
    out = velocity_slope.T @ velocity_slope / I.m
    if I.second is not None:
        out += np.tensordot(np.cross(p_t, omega) / I.m, I.second.S, 1)
    for (i, j), curved in zip(PAIRS[arrays.turning], arrays.rotary[2], strict=True):
        out += (0.5 if i == j else 1.0) * omega[i] * omega[j] * curved
    return np.asarray(out)
