"""Systems without joints, and without descriptor: ẋ = A x + B u, y = C x + D u, dense, in energy coordinates."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, csr, diagonal, largest, null_space, stacked, zero_matrix
from phloat.errors import InputError
from phloat.linear.form.fields import Fields
from phloat.linear.form.interconnect import flow_ports, input_matrices
from phloat.linear.form.phdae import LinearPHDAE, linear_only, numbered

MAX_STATES = 4000  # of a dense A: 128 MB, and half a minute for its exponential or a Riccati equation with it
MASSLESS = 1e-12  # eigenvalue of E, scaled to a diagonal of one, that counts as no inertia and no compliance


def eliminate(system: LinearPHDAE, *, massless: bool = False) -> LinearPHDAE:
    """The system without joints: Ê = PᵀE P, Ĵ = PᵀJ P, R̂ = PᵀR P, B̂ = PᵀB with range P = null G.

    P is the identity on stresses, so the order (v | σ) is kept. With `massless` rows without energy are eliminated, too; what acts
    on them becomes a feedthrough: a resistor at a port gives S ≠ 0. Raises InputError if a port is driven.
    """
    linear_only(system, circulatory=not massless, feedthrough=True)
    if massless:
        return _without_massless(eliminate(system))
    if not system.multipliers.size:
        return system
    if driven := system.driven():
        raise InputError(
            f"ports {', '.join(map(repr, driven))} prescribe a motion, which a system without joints would have to "
            "differentiate; close them with with_ports(…) or keep the multipliers"
        )
    P, first = free_motion(system), _velocities(system)
    velocities = P.shape[1] - (system.rows.size - first)
    stresses = {name: shape for name, shape in system.rows.shapes.items() if system.rows[name].start >= first}
    return replace(
        system,
        **{name: P.T @ getattr(system, name) @ P for name in ("E", "J", "R", "nonconservative")},
        B=P.T @ system.B,
        P=P.T @ system.P,
        G=zero_matrix(0, 0),
        B_lam=zero_matrix(0, 0),
        rows=Layout({"v": (velocities,), **stresses}, "row"),
        multipliers=Layout({}, "multiplier"),
        split=velocities if system.split >= 0 else -1,
        fields=Fields.in_rows(system.fields, lambda A: csr(A @ P)),
    )


def _without_massless(system: LinearPHDAE) -> LinearPHDAE:
    """The system without the rows whose row of E is zero; raises InputError if they do not follow from the others."""
    rows = np.flatnonzero(np.diff(system.E.indptr) == 0)
    reduced = without_rows(system, rows)
    if reduced is None:
        names = dict.fromkeys(system.rows.owner(int(k)) for k in rows)
        raise InputError(
            f"the rows {', '.join(names)} store no energy and do not follow from the others; give them inertia or damping"
        )
    return reduced


def without_rows(system: LinearPHDAE, massless: np.ndarray) -> LinearPHDAE | None:
    """The system without massless rows a, 0 = F_ax e + F_aa e_a + (B_a − P_a) u with F = J − R; None if F_aa is singular.

    W stays positive: it is the dissipation of the same motion.
    """
    if not len(massless):
        return system
    keep = np.setdiff1d(np.arange(system.rows.size), massless)
    F, into, out = csr(system.J - system.R), system.input_map, system.output_map
    F_aa = F[massless][:, massless].toarray()
    if np.linalg.cond(F_aa) > 1e12:
        return None
    inverse = csr(np.linalg.inv(F_aa))
    F_x, out_a = csr(F[keep][:, massless] @ inverse), csr(out[massless].T @ inverse)
    correction = csr(F_x @ F[massless][:, keep])
    maps: dict[str, Any] = {"B": system.B[keep]}
    if largest(into[massless]) or largest(out[massless]):
        new_out = out[keep].T - out_a @ F[massless][:, keep]
        maps = input_matrices(
            csr(into[keep] - F_x @ into[massless]), csr(new_out.T), csr(system.D - out_a @ into[massless])
        )
    elif system.has_feedthrough:
        maps["P"] = system.P[keep]
    mask = np.ones(system.rows.size, dtype=bool)
    mask[massless] = False
    return replace(
        system,
        E=system.E[keep][:, keep],
        J=system.J[keep][:, keep] - 0.5 * (correction - correction.T),
        R=system.R[keep][:, keep] + 0.5 * (correction + correction.T),
        G=system.G[:, keep],
        **maps,
        rows=system.rows.masked(mask),
        split=system.split - int((massless < system.split).sum()) if system.split >= 0 else -1,
        fields=Fields.in_rows(system.fields, lambda A: A[:, keep]),
    )


def free_motion(system: LinearPHDAE) -> Matrix:
    """P, (rows, free motions and stresses): a basis of the velocities that the joints allow, and the identity on stresses."""
    split = _velocities(system)
    if largest(system.G[:, split:]):
        raise InputError("joint rows act on stresses; only velocities can be eliminated")
    return diagonal([null_space(csr(system.G[:, :split])), sp.eye_array(system.rows.size - split)])


def _velocities(system: LinearPHDAE) -> int:
    """The number of velocities, or of all rows if they are not ordered."""
    return system.split if system.split >= 0 else system.rows.size


@dataclass(frozen=True, eq=False)
class StateSpace:
    """ẋ = A x + B u, y = C x + D u with e = T x + T_u u and H = ½ Σ signs x².

    All signs are +1 if the energy is definite; then A + Aᵀ ≤ 0 and, without feedthrough, C = Bᵀ: the system is passive. `driven`
    are the ports that take a flow and return an effort.
    """

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    T: np.ndarray
    T_u: np.ndarray
    signs: np.ndarray
    ports: Layout
    driven: tuple[str, ...] = ()

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of u: "elbow.effort", "tip.effort[0]" …, or "motor.flow" for a driven port."""
        return self._signals("effort", "flow")

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of y: "elbow.flow" …, or "motor.effort" for a driven port."""
        return self._signals("flow", "effort")

    def _signals(self, free: str, driven: str) -> tuple[str, ...]:
        ends = {port: driven if port in self.driven else free for port in self.ports}
        return tuple(s for port, end in ends.items() for s in numbered(f"{port}.{end}", self.ports.shape(port)[0]))


def descriptor(system: LinearPHDAE) -> dict[str, Matrix]:
    """The sparse matrices {"E", "A", "B", "C", "D"} of E ẋ = A x + B u, y = C x + D u with x = (e, λ), joints included."""
    linear_only(system, circulatory=True, feedthrough=True)
    joints = system.multipliers.size
    E = diagonal([system.E, zero_matrix(joints, joints)])
    A = stacked([[system.dynamics, system.G.T], [-system.G, None]]) if joints else system.dynamics
    B, C = (csr(sp.vstack([ports, system.B_lam])) for ports in (system.input_map, system.output_map))
    return {"E": E, "A": A, "B": B, "C": csr(C.T), "D": system.D}


def state_space(system: LinearPHDAE) -> StateSpace:
    """The state space of a system in energy coordinates: joints and massless rows are eliminated.

    Raises InputError if that would need u̇, or if the system has more than 4000 rows or no open port.
    """
    linear_only(system, circulatory=True, feedthrough=True)
    if system.rows.size > MAX_STATES:
        raise InputError(
            f"a state space of {system.rows.size} states is dense and would take {8e-9 * system.rows.size**2:.1f} GB per matrix; "
            f"reduce the system first (up to {MAX_STATES} states are exported), or use descriptor(…), which is sparse"
        )
    if not system.ports.size:
        raise InputError("the system has no open port; an export needs inputs: keep some with with_ports(…)")
    P, N = free_motion(system).toarray(), _driven_motion(system)
    F, E = system.dynamics.toarray(), P.T @ (system.E @ P)
    # e = P z + N u with E N = 0: the driven ports are held by λ, B_λᵀλ = −Nᵀ(F e + (B − P) u)
    into, out = system.input_map.toarray(), system.output_map.toarray().T
    input_map, output_map = P.T @ (into + F @ N), (out - N.T @ F) @ P
    D = out @ N - N.T @ (F @ N) - N.T @ into + system.D.toarray()
    T, Z, signs = energy_coordinates(E)
    F = P.T @ F @ P
    A, B_x, C = T.T @ F @ T, T.T @ input_map, output_map @ T
    e_x, e_u = T, np.zeros((len(E), system.ports.size))
    if Z.shape[1]:  # 0 = Zᵀ(F e + B u): rows without inertia depend on the others
        w_x, w_u = _algebraic(system, P @ Z, Z.T @ F @ Z, -Z.T @ F @ T, -Z.T @ input_map)
        A, B_x = A + T.T @ F @ Z @ w_x, B_x + T.T @ F @ Z @ w_u
        C, D = C + output_map @ Z @ w_x, D + output_map @ Z @ w_u
        e_x, e_u = T + Z @ w_x, Z @ w_u
    A, B_x = signs[:, None] * A, signs[:, None] * B_x
    return StateSpace(A, B_x, C, D, P @ e_x, P @ e_u + N, signs, system.ports, flow_ports(system))


def _driven_motion(system: LinearPHDAE) -> np.ndarray:
    """N with G N = B_λ, (rows, inputs): the rows that driven ports prescribe.

    Raises InputError if they have mass: the state space would need u̇.
    """
    if not largest(system.B_lam):
        return np.zeros(system.B.shape)
    N = la.lstsq(system.G.toarray(), system.B_lam.toarray())[0]
    moves_mass = np.abs(system.E @ N).max(axis=0) > MASSLESS * largest(system.E) * np.abs(N).max()
    if driven := [p for p, columns in system.ports.slices.items() if moves_mass[columns].any()]:
        raise InputError(
            f"ports {', '.join(map(repr, driven))} prescribe the motion of masses, which a state space would have to "
            "differentiate; close them with with_ports(…), or give their joints an effort instead of a rate"
        )
    return N


def energy_coordinates(E: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """T, Z and s with TᵀE T = diag(s), s = ±1, and E Z = 0."""
    size = np.sqrt(np.abs(np.diag(E)))
    scale = 1.0 / np.where(size > 0.0, size, 1.0)
    scaled = scale[:, None] * E * scale
    with suppress(la.LinAlgError):
        L = la.cholesky(scaled, lower=True)
        if (np.diag(L) ** 2).min(initial=1.0) > MASSLESS:
            T = scale[:, None] * la.solve_triangular(L, np.eye(len(E)), lower=True).T
            return T, np.zeros((len(E), 0)), np.ones(len(E))
    d, V = la.eigh(scaled)
    nonzero = np.abs(d) > MASSLESS * np.abs(d).max(initial=1e-300)
    V = scale[:, None] * V
    return V[:, nonzero] / np.sqrt(np.abs(d[nonzero])), V[:, ~nonzero], np.sign(d[nonzero])


def _algebraic(system: LinearPHDAE, rows: np.ndarray, K: np.ndarray, *rhs: np.ndarray) -> tuple[np.ndarray, ...]:
    """K⁻¹ of the right-hand sides; raises InputError if K is singular."""
    if np.linalg.cond(K) > 1e12:
        block = system.rows.owner(int(np.argmax(np.abs(rows).max(axis=1))))
        raise InputError(
            f"{rows.shape[1]} rows, the largest in {block!r}, have neither inertia nor damping, so the state space "
            "would have to differentiate; give them a mass, or use descriptor(…)"
        )
    return tuple(la.solve(K, b) for b in rhs)
