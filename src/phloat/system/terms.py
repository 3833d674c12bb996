"""The matrices of the paper at a state, (12) for bodies and (42) for the system; energy, and identities between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from phloat.algebra.cross import skew
from phloat.algebra.factors import negativity_defect
from phloat.algebra.layout import Layout, NamedBlocks
from phloat.algebra.sparse import Matrix, csr, diagonal, skew_defect, symmetry_defect
from phloat.bodies.body import Body
from phloat.errors import InputError, finite, mapping
from phloat.linear.form.phdae import LinearPHDAE
from phloat.system.joint_rows import (
    columns_in_rows,
    dissipation,
    element_energies,
    joint_rows,
    port_columns,
    potential_gradient,
)
from phloat.system.momenta import body_momenta
from phloat.system.state import Pose, State
from phloat.system.system import System, fits


@dataclass(frozen=True, eq=False)
class Terms(NamedBlocks):
    """E ė = (J − R) z + Gᵀλ + B u,   0 = −G z + B_λ u,   y = Bᵀz + B_λᵀλ,   ∂H/∂e = Eᵀz, at one state.

    `layout` names e (and so the rows of E, J, R, B and z), `ports` names u and y, `multipliers` names λ.
    """

    E: Matrix
    J: Matrix
    R: Matrix
    G: Matrix
    B: Matrix
    B_lam: Matrix
    z: np.ndarray
    layout: Layout
    ports: Layout
    multipliers: Layout

    @property
    def rows(self) -> Layout:
        """The names of e, as those of a `LinearPHDAE`."""
        return self.layout

    def structure(self) -> dict[str, float]:
        """Relative defects of the port-Hamiltonian structure by their description; zero up to round-off."""
        return {
            "J is not skew-symmetric": skew_defect(self.J),
            "E is not symmetric": symmetry_defect(self.E),
            "E is not positive definite": negativity_defect(self.E),
            "R is not symmetric": symmetry_defect(self.R),
            "R is not positive semidefinite": negativity_defect(self.R),
        }


def terms(system: System, state: State) -> Terms:
    """E, J, R, G, B, B_λ and z of a system at a state: E ė = (J − R) z + Gᵀλ + B u,  0 = −G z + B_λ u.

    They serve analysis, tests and linearisation; `simulate` does not assemble them.

    Parameters
    ----------
    system : System
    state : State

    Returns
    -------
    Terms
        Sparse matrices `E`, `J`, `R` (n, n), `G` (multipliers, n), `B` (n, inputs), `B_lam` (multipliers, inputs) and the vector
        `z` (n,), where n is the length of a state; `layout`, `multipliers` and `ports` name their rows and columns.
        `structure()` returns the defects of the port-Hamiltonian structure, `block("J", "rod.omega", "rod.v_P")` a block by name.

    Examples
    --------
    >>> arm = ph.RigidBody(mass=2.0, inertia=0.1 * np.eye(3), center=(0.5, 0.0, 0.0)).discretise()
    >>> pendulum = ph.connect({"arm": arm}, [ph.Revolute("ground", "arm.P", name="hinge")], plane="xy")
    >>> at = ph.terms(pendulum, ph.place(pendulum))
    >>> list(at.layout)
    ['arm.r_P', 'arm.theta', 'arm.v_P', 'arm.omega']
    >>> print(at.E.toarray()[3:, 3:])  # (v_P, ω): mass 2, m c = 1, inertia about P 0.1 + 2 · 0.5²
    [[2.  0.  0. ]
     [0.  2.  1. ]
     [0.  1.  0.6]]
    """
    state = fits(system, state)
    pull = potential_gradient(system, state)
    E, J, R, parts = zip(
        *(_body_terms(body, state.pose(name), system.gravity, pull.get(name)) for name, body in system.bodies.items()),
        strict=True,
    )
    places, z = columns_in_rows(system, system.layout), np.concatenate(parts)
    G, B_lam = joint_rows(system, state, places)
    return Terms(
        E=diagonal(E),
        J=diagonal(J),
        R=csr(diagonal(R) + dissipation(system, state, places, z)),
        G=G,
        B=port_columns(system, state, places),
        B_lam=B_lam,
        z=z,
        layout=system.layout,
        ports=system.ports,
        multipliers=system.multipliers,
    )


def _body_terms(
    body: Body, pose: Pose, gravity: np.ndarray, pull: np.ndarray | None
) -> tuple[Matrix, Matrix, Matrix, np.ndarray]:
    """E, J, R and z of one body by (12) with gravity (Remark 1) and springs; rows r_P (3), R_v (9), η, v_P (3), ω (3), η̇, σ.

    `pull` is the part of ∂H/∂(r_P, R_v, η) due to springs.
    """
    n, p = body.coordinates, body_momenta(body, pose)
    strain = body.elastic.gradient(pose.eta)
    r, R_v, u = slice(0, 3), slice(3, 12), slice(12, 12 + n)
    v, w, f = slice(12 + n, 15 + n), slice(15 + n, 18 + n), slice(18 + n, 18 + 2 * n)
    s = slice(18 + 2 * n, 18 + 2 * n + body.stresses)
    J = np.zeros((s.stop, s.stop))
    J[r, v] = pose.A
    J[R_v, w] = np.vstack([skew(row) for row in pose.A])
    J[u, f] = np.eye(n)
    J[v, w] = skew(p.p_t_tilde)
    J[w, v] = skew(p.p_t_tilde)
    J[w, w] = skew(p.p_r_tilde)
    J[v.start : f.stop, f] = p.J_f
    J[f, v], J[f, w] = -J[v, f].T, -J[w, f].T
    J[f, s] = -strain.T
    J[s, f] = strain
    for row, column in ((r, v), (R_v, w), (u, f)):
        J[column, row] = -J[row, column].T
    E = diagonal([sp.eye_array(12 + n), p.M, body.elastic.C])
    R = np.zeros_like(J)
    R[f, f] = body.elastic.damping(pose.eta)

    z = np.zeros(s.stop)
    z[r] = -p.m * gravity
    z[R_v] = -np.outer(gravity, p.s_u).ravel()
    z[u] = p.kinetic_gradient - body.inertia.static_moment(pose.eta)[1].T @ (pose.A.T @ gravity)
    if pull is not None:
        z[: u.stop] += pull
    z[v], z[w], z[f], z[s] = pose.v_P, pose.omega, pose.rates, pose.sigma
    P = _existing(body, pose.A, len(z))
    L = csr(sp.diags_array(1.0 / np.asarray(P.multiply(P).sum(axis=0)).ravel()) @ P.T)  # left inverse of P
    return csr(L @ E @ P), csr(L @ csr(J) @ L.T), csr(L @ csr(R) @ L.T), P.T @ z


def _existing(body: Body, A: np.ndarray, size: int) -> Matrix:
    """P, the columns of the quantities that a body has: all rows = P (rows of the body). In a plane θ replaces the nine cosines."""
    n = body.coordinates
    linear = np.array([i for i in body.active if i < 3], dtype=int)
    turning = np.array([i - 3 for i in body.active if i >= 3], dtype=int)
    attitude = np.zeros((size, 0))
    if len(turning) == 3:
        attitude = np.eye(size)[:, 3:12]
    elif len(turning) == 1:
        attitude = np.zeros((size, 1))
        attitude[3:12, 0] = (A @ skew(np.array([0.0, 0.0, 1.0]))).ravel()  # dA/dθ
    rest = np.concatenate([12 + np.arange(n), 12 + n + linear, 15 + n + turning, np.arange(18 + n, size)])
    eye = sp.eye_array(size, format="csr")
    return csr(sp.hstack([eye[:, linear], csr(attitude), eye[:, rest]]))


# --- energy, and the identities that make a system port-Hamiltonian, as numbers --------------------------------------


def energy(system: System, state: State) -> float:
    """The energy of a system at a state, H = H_kin + H_def + H_pot (8), Remark 1, and the energy stored in springs.

    Parameters
    ----------
    system : System
    state : State

    Returns
    -------
    float
        J. Potential energy is zero where mass centres are at the height of the inertial origin.

    Examples
    --------
    A pendulum of 2 kg, its mass centre at 0.5 m, at 30° above the level and turning at 2 rad/s: ½ · 0.6 · 2² + 2 · 9.81 · 0.25 J.

    >>> arm = ph.RigidBody(mass=2.0, inertia=0.1 * np.eye(3), center=(0.5, 0.0, 0.0)).discretise()
    >>> hinge = ph.Revolute("ground", "arm.P", name="hinge")
    >>> pendulum = ph.connect({"arm": arm}, [hinge], gravity=(0.0, -9.81, 0.0), plane="xy")
    >>> state = ph.place(pendulum, {"hinge.angle": np.pi / 6})
    >>> print(round(ph.energy(pendulum, ph.set_moving(pendulum, state, {"hinge.angle_rate": 2.0})), 6))
    6.105
    """
    state = fits(system, state)
    bodies = sum(sum(body_energy(body, state.pose(name), system.gravity)) for name, body in system.bodies.items())
    return bodies + sum(element_energies(system, state).values())


def body_energy(body: Body, pose: Pose, gravity: np.ndarray) -> tuple[float, float, float]:
    """Kinetic, deformation and potential energy (J) of one body."""
    I = body.inertia
    moments = I.at(pose.eta)
    w = np.concatenate([pose.v_P, pose.omega, pose.rates])
    kinetic, elastic = 0.5 * w @ moments.M @ w, 0.5 * pose.sigma @ (body.elastic.C @ pose.sigma)
    return float(kinetic), float(elastic), float(-gravity @ (I.m * pose.r_P + pose.A @ moments.s_u))


def effort_defect(system: System, state: State) -> float:
    """max |Eᵀz − ∇H| / max |∇H|, with ∇H by five-point differences of `energy`.

    The differences are exact for polynomials of degree four. Where they miss (springs on bent sections), steps of a hundredth are
    tried as well.
    """
    matrices = terms(system, state)
    effort = matrices.E.T @ matrices.z
    scale = np.maximum(1e-2 * np.abs(state.e), 1e-2)
    gradient = np.array([_slope(system, state, i, h) for i, h in enumerate(scale)])
    largest = max(float(np.abs(gradient).max()), 1e-300)
    for i in np.flatnonzero(np.abs(effort - gradient) > 1e-9 * largest):
        finer = _slope(system, state, int(i), 1e-2 * scale[i])
        if abs(effort[i] - finer) < abs(effort[i] - gradient[i]):
            gradient[i] = finer
    return float(np.abs(effort - gradient).max() / max(np.abs(gradient).max(), 1e-300))


def _slope(system: System, state: State, i: int, h: float) -> float:
    """∂H/∂e_i by five-point differences with step h."""
    values = []
    for step in (-2, -1, 1, 2):
        e = state.e.copy()
        e[i] += step * h
        values.append(energy(system, replace(state, e=e)))
    return (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * h)


@dataclass(frozen=True)
class PowerBalance:
    """Ḣ = yᵀu − zᵀR z at one state (W); `relative` is the residual divided by the largest power of a row or port."""

    stored: float
    supplied: float
    dissipated: float
    residual: float
    relative: float


def power_balance(system: System, state: State, u: Mapping[str, object] | None = None) -> PowerBalance:
    """The power balance for inputs u by port name: rates ė and multipliers from the equations, Ḣ = ∇H · ė.

    Velocities must satisfy the joints and drives, else InputError is raised. Then any multipliers balance; those of least norm are
    taken. Round-off scales with the largest ∂H/∂e_i ė_i, which in a highly stressed state can be 10⁷ times the compared powers.
    """
    matrices = terms(system, state)
    inputs = np.zeros(matrices.ports.size)
    for name, value in mapping("u", {} if u is None else u, "{port: value}").items():
        shape = matrices.ports.shape(name)
        number = np.ndim(value) == 0 and shape == (1,)
        inputs[matrices.ports[name]] = finite(f"input {name!r}", value, () if number else shape)
    miss = matrices.B_lam @ inputs - matrices.G @ matrices.z
    if np.abs(miss).max(initial=0.0) > 1e-9 * max(np.abs(matrices.z).max(initial=0.0), 1.0):
        joint = matrices.multipliers.owner(int(np.argmax(np.abs(miss))))
        raise InputError(
            f"velocities miss joint {joint!r} by {np.abs(miss).max():.1e}, and the power balance needs them to agree: use "
            "set_moving(system, state, …)"
        )
    free = (matrices.J - matrices.R) @ matrices.z + matrices.B @ inputs
    lam = np.linalg.lstsq(matrices.G.T.toarray(), -free, rcond=None)[0] if matrices.multipliers.size else np.zeros(0)
    force = free + matrices.G.T @ lam
    y = matrices.B.T @ matrices.z + matrices.B_lam.T @ lam
    E = matrices.E.toarray().astype(np.longdouble)
    stored = float((E.T @ matrices.z) @ _rates(E, force))
    supplied, dissipated = float(y @ inputs), float(matrices.z @ (matrices.R @ matrices.z))
    residual = stored - supplied + dissipated
    size = max(np.abs(matrices.z * force).max(), np.abs(y * inputs).max(initial=0.0), dissipated, 1e-300)
    return PowerBalance(stored, supplied, dissipated, residual, float(residual / size))


def _rates(E: np.ndarray, force: np.ndarray) -> np.ndarray:
    """E⁻¹ force, refined in extended precision: ė of stiff coordinates is so large that its round-off is power."""
    # masses and compliances differ by many orders of magnitude: solve with unit diagonal
    unit = 1.0 / np.sqrt(np.diag(E).astype(float))
    factor = la.cho_factor(E.astype(float) * unit[:, None] * unit)
    e_dot = np.zeros(len(force), dtype=np.longdouble)
    for _ in range(4):
        e_dot += unit * la.cho_solve(factor, (unit * (force - E @ e_dot)).astype(float))
    return e_dot


def structure_defects(matrices: Terms | LinearPHDAE) -> dict[str, float]:
    """Relative defects of the port-Hamiltonian structure of E, J and R by their description; zero up to round-off."""
    return matrices.structure()
