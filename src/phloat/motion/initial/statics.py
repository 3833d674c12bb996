"""Equations of static equilibrium for positions and deformations: f + Gᵀλ + B u = 0, gaps closed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from phloat.algebra.cross import skew
from phloat.algebra.sparse import Matrix, csr, diagonal
from phloat.bodies.body import Body
from phloat.joints.port_state import PortState, ground_port
from phloat.joints.rows import FIRST, Row, gap_units, row_gaps
from phloat.motion.initial.stiffness import body_stiffness, stiffness
from phloat.motion.initial.velocities import (
    displaced_state,
    mass,
    rigid_columns,
    velocity_indices,
    velocity_rows,
    with_velocities,
)
from phloat.system.connection import Connection, End, port_state
from phloat.system.joint_rows import columns_in_velocities, dissipation, port_columns, potential_gradient
from phloat.system.momenta import body_momenta
from phloat.system.state import ConstantState, Pose, State, computed_once
from phloat.system.system import System
from phloat.system.terms import energy


class Balance(NamedTuple):
    """Forces f on (v_P, ω, η̇) at a state, `push`, the part from inputs, joint rows G, and `size`, the sums of |terms| of f."""

    f: np.ndarray
    push: np.ndarray
    G: Matrix
    size: np.ndarray


@dataclass(frozen=True, eq=False)
class Statics:
    """Equations of static equilibrium from a start state, at constant inputs u; locked and driven axes stay at their start."""

    system: System
    start: State
    u: np.ndarray

    @cached_property
    def length(self) -> float:
        """The extent of the system at the start (m), by its ports and joints."""
        points = [self._ends(c, self.start)[0].c for c in self.system.joints.values() if not c.first.body]
        for name, body in self.system.bodies.items():
            pose = self.start.pose(name)
            ports = [port.at(pose.eta) for port in body.ports.values()]
            points += [pose.r_P + pose.A @ (port.x + port.Phi @ pose.eta) for port in ports]
        spread = float(np.ptp(points, axis=0).max()) if points else 0.0
        return max([spread, *(body.extent for body in self.system.bodies.values())]) or self.system.size

    @cached_property
    def indices(self) -> np.ndarray:
        """Indices of (v_P, ω, η̇) in the state vector e."""
        return velocity_indices(self.system)

    @cached_property
    def units(self) -> np.ndarray:
        """A unit for each velocity: the extent for translations, 1 rad, and for η what moves its body by about the extent."""
        parts = []
        for body in self.system.bodies.values():
            reach = body.reach if body.coordinates else np.zeros(0)
            eta = self.length / np.where(reach > 0, reach, max(reach.max(initial=0.0), 1e-300))
            rigid = [self.length if i < 3 else 1.0 for i in body.active]
            parts.append(np.concatenate([rigid, eta]))
        return np.concatenate(parts)

    @cached_property
    def rigid(self) -> np.ndarray:
        """Which velocities belong to frames, as a mask."""
        return rigid_columns(self.system)

    @cached_property
    def prestress(self) -> dict[str, np.ndarray]:
        """σ − C⁻¹ε(η) of each body with stresses; constant during any motion."""
        out = {}
        for name, body in self.system.bodies.items():
            if body.stresses:
                pose = self.start.pose(name)
                out[name] = pose.sigma - body.elastic.stress(pose.eta)
        return out

    @cached_property
    def mass(self) -> Matrix:
        """M at the start."""
        return mass(self.system, self.start)

    @cached_property
    def rate(self) -> float:
        """A squared frequency of the loads (1/s²): force over mass in the units of `units`; 1 without loads."""
        size, rigid = self.balance(self.start).size, self.rigid
        pulled = size[rigid] / (self.mass.diagonal()[rigid] * self.units[rigid])
        return float(pulled.max(initial=0.0)) or 1.0

    @cached_property
    def metric(self) -> Matrix:
        """W = K + rate M of the separate bodies, positive definite."""
        bodies = self.system.bodies
        still = self.start.with_values(
            {f"{n}.eta": np.zeros(b.coordinates) for n, b in bodies.items() if b.coordinates}
        )
        K = [body_stiffness(b, still.pose(n), np.zeros(3))[np.ix_(b.columns, b.columns)] for n, b in bodies.items()]
        return csr(diagonal(K) + self.rate * self.mass)

    @cached_property
    def force_scale(self) -> np.ndarray:
        """√W_ii: forces of all kinds divided by it have the unit √J."""
        return np.sqrt(self.metric.diagonal())

    @cached_property
    def force(self) -> float:
        """The largest force at the start, in units of √J."""
        return float((self.balance(self.start).size / self.force_scale).max(initial=0.0))

    def body_of(self, index: int) -> str:
        """The name of the body that a velocity belongs to."""
        return self.system.layout.owner(int(self.indices[index])).rpartition(".")[0]

    def balance(self, state: State) -> Balance:
        """The forces at rest, with those of the inputs, B u, and the joint rows G; computed once for each state."""
        return computed_once(state, (self, "balance"), lambda: self._balance(state))

    def _balance(self, state: State) -> Balance:
        f, size = forces_at_rest(self.system, state)
        ports = [name for name, part in self.system.ports.slices.items() if self.u[part].any()]
        columns = port_columns(self.system, state, columns_in_velocities(self.system), ports)
        push = columns @ self.u[self.system.ports.indices(ports)]
        return Balance(f + push, push, velocity_rows(self.system, state)[0], size + np.abs(push))

    def stiffness(self, state: State, lam: np.ndarray) -> Matrix:
        return stiffness(self.system, state, lam, self.u)

    def energy(self, state: State) -> float:
        return energy(self.system, state)

    def displace(self, state: State, step: np.ndarray) -> State:
        """The state after a small motion, with σ = C⁻¹ε(η) and the pre-stress."""
        out = displaced_state(self.system, state, step)
        e = out.e
        for name, stress in self.prestress.items():
            eta = e[out.layout[f"{name}.eta"]]
            e[out.layout[f"{name}.sigma"]] = self.system.bodies[name].elastic.stress(eta) + stress
        return replace(out, e=e)

    def predict(self, state: State, predicted: State, step: np.ndarray, part: float) -> tuple[State, State]:
        """The state after a step, and the same with predicted stress σ̂ + part (σ(η) − σ̂) + C⁻¹(∂ε/∂η) δη."""
        after = self.displace(state, step)
        e, columns = after.e.copy(), columns_in_velocities(self.system)
        for name in self.prestress:
            body, indices, pose = self.system.bodies[name], after.layout[f"{name}.sigma"], state.pose(name)
            d_eta, B = step[columns.columns[name][len(body.active) :]], body.elastic.gradient(pose.eta)
            stress = predicted.e[indices]
            e[indices] = stress + part * (pose.sigma - stress) + body.elastic.C_inverse @ (B @ d_eta)
        predicted_state = replace(after, e=e)
        if isinstance(predicted_state, ConstantState) and isinstance(after, ConstantState):
            # the states of ports do not depend on stress
            predicted_state.known.update({key: value for key, value in after.known.items() if isinstance(key, End)})
        return after, predicted_state

    def runaway(self, state: State) -> str:
        """The first body that is far from its start (20 times the size of system and bodies); empty if there is none."""
        limit = 20 * (self.length + sum(body.extent for body in self.system.bodies.values()))
        far = (n for n in self.system.bodies if np.linalg.norm(state.pose(n).r_P - self.start.pose(n).r_P) > limit)
        return next(far, "")

    def gap(self, state: State) -> np.ndarray:
        """The residuals of the rows of G: gaps of closed rows; changes from the start of locked and driven rows (m or rad)."""
        parts: list[np.ndarray | list[float]] = [np.zeros(0)]
        for name, c in self.system.joints.items():
            first, second = self._ends(c, state)
            parts.append(row_gaps(c.closed, first, second))
            parts += [[_row_change(row, first, second, *self._starts[name])] for row in c.locked + c.driven]
        return np.concatenate(parts)

    def largest_gap(self, state: State) -> float:
        """The largest gap; lengths are relative to the extent of the system."""
        return float(np.abs(self.gap(state) / self._gap_units).max(initial=0.0))

    @cached_property
    def _gap_units(self) -> np.ndarray:
        rows = [row for c in self.system.joints.values() for row in (*c.closed, *c.locked, *c.driven)]
        return gap_units(rows, self.length)

    @cached_property
    def _starts(self) -> dict[str, tuple[PortState, PortState]]:
        return {name: self._ends(c, self.start) for name, c in self.system.joints.items()}

    def _ends(self, c: Connection, state: State) -> tuple[PortState, PortState]:
        """Like `ends`, but the frame of a drive stays at its start."""
        if c.joint.moves_ground:
            port = port_state(c.second, self.start)
            return ground_port(port.c, port.D), port_state(c.second, state)
        return port_state(c.first, state), port_state(c.second, state)


def forces_at_rest(system: System, state: State) -> tuple[np.ndarray, np.ndarray]:
    """Generalised forces of gravity, springs and stresses on (v_P, ω, η̇) at rest, J z of (12); and the sums of |their terms|."""
    pulls, f, size = potential_gradient(system, state), [], []
    for name, body in system.bodies.items():
        pose, I, g = state.pose(name), body.inertia, system.gravity
        n, (s_u, S) = body.coordinates, I.static_moment(pose.eta)
        z = np.concatenate([-I.m * g, -np.outer(g, s_u).ravel(), -S.T @ (pose.A.T @ g)]) + pulls.get(name, 0.0)
        by_rotation = skew(pose.A).reshape(9, 3)
        parts = [(pose.A, z[:3]), (by_rotation, z[3:12]), (np.eye(n), z[12:])]
        force = np.concatenate([-(J.T @ part) for J, part in parts])
        magnitude = np.concatenate([np.abs(J).T @ np.abs(part) for J, part in parts])
        if body.stresses:
            B = body.elastic.gradient(pose.eta)
            force[6:] -= B.T @ pose.sigma
            magnitude[6:] += np.abs(B).T @ np.abs(pose.sigma)
        f.append(force[body.columns])
        size.append(magnitude[body.columns])
    return np.concatenate(f), np.concatenate(size)


def forces(system: System, state: State, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """J z − R z + B u of (12) on (v_P, ω, η̇) of a system that moves as one rigid body, and the sums of |the terms| of J z + B u."""
    columns, (f, size) = columns_in_velocities(system), forces_at_rest(system, state)
    ports = [name for name, part in system.ports.slices.items() if u[part].any()]
    B, inputs = port_columns(system, state, columns, ports), u[system.ports.indices(ports)]
    f, size = f + B @ inputs, size + abs(B) @ np.abs(inputs)
    w = state.e[velocity_indices(system)]
    if not w.any():
        return f, size
    for name, body in system.bodies.items():
        force, terms = inertial_forces(body, state.pose(name))
        f[columns.columns[name]] += force[body.columns]
        size[columns.columns[name]] += terms[body.columns]
    return f - dissipation(system, state, columns, w) @ w, size


def inertial_forces(body: Body, pose: Pose) -> tuple[np.ndarray, np.ndarray]:
    """The part of J z in the rows (v_P, ω, η̇) that v_P and ω cause at η̇ = 0, and the sums of |terms|."""
    p, v, omega = body_momenta(body, pose), pose.v_P, pose.omega
    turn_t, turn_r, K = skew(p.p_t_tilde), skew(p.p_r_tilde), p.J_f[:6].T
    w = np.concatenate([v, omega])
    force = np.concatenate([turn_t @ omega, turn_t @ v + turn_r @ omega, -p.kinetic_gradient - K @ w])
    rates, turns = np.abs(v), np.abs(omega)
    translated, turned = np.abs(turn_t) @ turns, np.abs(turn_t) @ rates + np.abs(turn_r) @ turns
    return force, np.concatenate([translated, turned, np.abs(p.kinetic_gradient) + np.abs(K) @ np.abs(w)])


def statics(system: System, state: State, u: np.ndarray) -> Statics:
    """The equations of static equilibrium of a system; velocities of the state are ignored."""
    start = with_velocities(system, state, np.zeros(len(velocity_indices(system))))
    return Statics(system, ConstantState(start.bodies, start.layout, start.e), u)


def _row_change(row: Row, first: PortState, second: PortState, first_0: PortState, second_0: PortState) -> float:
    """The change of the coordinate of a row from its start (m or rad)."""
    if row.function == "spin":
        S, i = first.D.T @ second.D @ np.linalg.inv(first_0.D.T @ second_0.D), row.terms[0][1] - FIRST
        j, k = (i + 1) % 3, (i + 2) % 3
        return float(0.5 * (S[k, j] - S[j, k]))
    gap = row.gap(first, second) - row.gap(first_0, second_0)
    return float(np.arctan2(np.sin(gap), np.cos(gap))) if row.is_angle else gap
