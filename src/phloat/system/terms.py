"""The paper's matrices at any state, in the paper's variables: (12) for every body, (42) for the whole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from phloat.algebra.cross import skew
from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, csr, diagonal, negativity_defect, skew_defect, symmetry_defect
from phloat.bodies import inertia as mass
from phloat.bodies.body import Body
from phloat.system.joint_rows import dissipation, in_rows, joint_rows, port_columns, potential_gradient
from phloat.system.state import Pose, State, body_layout
from phloat.system.system import System, fits


@dataclass(frozen=True, eq=False)
class Terms:
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

    def structure(self) -> dict[str, float]:
        """How far the matrices are from a port-Hamiltonian system, relatively."""
        return {
            "J is not skew-symmetric": skew_defect(self.J),
            "E is not symmetric": symmetry_defect(self.E),
            "E is not positive definite": negativity_defect(self.E),
            "R is not symmetric": symmetry_defect(self.R),
            "R is not positive semidefinite": negativity_defect(self.R),
        }


def terms(system: System, state: State) -> Terms:
    """E, J, R, G, B, B_λ and z of a system at a state: E ė = (J − R) z + Gᵀλ + B u,  0 = −G z + B_λ u.

    For looking, testing and linearising; motion never assembles them.

    Parameters
    ----------
    system : System
    state : State

    Returns
    -------
    Terms
        Sparse matrices `E`, `J`, `R` (n, n), `G` (multipliers, n), `B` (n, inputs), `B_lam` (multipliers, inputs) and the vector
        `z` (n,), where n is the length of a state; `layout`, `multipliers` and `ports` name their rows and columns.
        `structure()` tells how far they are from a port-Hamiltonian system.

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
    parts = [
        _body_terms(body, state.pose(name), system.gravity, pull.get(name)) for name, body in system.bodies.items()
    ]
    places, z = in_rows(system, system.layout), np.concatenate([p.z for p in parts])
    G, B_lam = joint_rows(system, state, places)
    return Terms(
        E=diagonal([p.E for p in parts]),
        J=diagonal([p.J for p in parts]),
        R=csr(diagonal([p.R for p in parts]) + dissipation(system, state, places, z)),
        G=G,
        B=port_columns(system, state, places),
        B_lam=B_lam,
        z=z,
        layout=system.layout,
        ports=system.ports,
        multipliers=system.multipliers,
    )


@dataclass(frozen=True, eq=False)
class BodyTerms:
    """(12) for one body, gravity (Remark 1) and springs included."""

    E: Matrix
    J: Matrix
    R: Matrix
    z: np.ndarray


def _body_terms(body: Body, pose: Pose, gravity: np.ndarray, pull: np.ndarray | None = None) -> BodyTerms:
    """(12) in three dimensions, then the rows that exist: r_P (3), R_v (9), η, v_P (3), ω (3), η̇, σ.

    `pull` is what springs add to ∂H/∂(r_P, R_v, η).
    """
    I, n = body.inertia, body.coordinates
    v_P, omega, rates = pose.v_P, pose.omega, pose.rates
    now = I.at(pose.eta)
    whirl = mass.whirl(I.W, rates)
    p = now.M @ np.concatenate([v_P, omega, rates])  # (9)
    p_t_tilde, p_r_tilde = p[:3] + I.S @ rates, p[3:6] + now.c @ rates  # (13)
    I_pf = mass.gyration(I.S, now.Y, whirl, v_P, omega)  # (14)

    strain = body.elastic.gradient(pose.eta)
    r, R_v, u = slice(0, 3), slice(3, 12), slice(12, 12 + n)
    v, w, f = slice(12 + n, 15 + n), slice(15 + n, 18 + n), slice(18 + n, 18 + 2 * n)
    s = slice(18 + 2 * n, 18 + 2 * n + body.stresses)
    J = np.zeros((s.stop, s.stop))
    J[r, v] = pose.A
    J[R_v, w] = np.vstack([skew(row) for row in pose.A])
    J[u, f] = np.eye(n)
    J[v, w] = skew(p_t_tilde)
    J[w, v] = skew(p_t_tilde)
    J[w, w] = skew(p_r_tilde)
    J[w, f] = I_pf
    J[f, w] = -I_pf.T
    J[f, s] = -strain.T
    J[s, f] = strain
    for row, column in ((r, v), (R_v, w), (u, f)):
        J[column, row] = -J[row, column].T
    E = diagonal([sp.eye_array(12 + n), now.M, body.elastic.C])
    R = np.zeros_like(J)
    R[f, f] = body.elastic.damping(pose.eta)

    z = np.zeros(s.stop)
    z[r] = -I.m * gravity
    z[R_v] = -np.outer(gravity, now.s_u).ravel()
    z[u] = mass.kinetic_gradient(I.S, now.Y, whirl, v_P, omega) - I.S.T @ (pose.A.T @ gravity)
    if pull is not None:
        z[: u.stop] += pull
    z[v], z[w], z[f], z[s] = v_P, omega, rates, pose.sigma
    return _existing(body, BodyTerms(csr(E), csr(J), csr(R), z), pose)


def _existing(body: Body, whole: BodyTerms, pose: Pose) -> BodyTerms:
    """The rows that a body has; where it turns in a plane, the nine direction cosines become the one angle θ."""
    n, size = body.coordinates, len(whole.z)
    linear = np.array([i for i in body.active if i < 3], dtype=int)
    turning = np.array([i - 3 for i in body.active if i >= 3], dtype=int)
    attitude = np.zeros((size, 0))
    if len(turning) == 3:
        attitude = np.eye(size)[:, 3:12]
    elif len(turning) == 1:
        attitude = np.zeros((size, 1))
        attitude[3:12, 0] = (pose.A @ skew(np.array([0.0, 0.0, 1.0]))).ravel()  # dA/dθ
    rest = np.concatenate([12 + np.arange(n), 12 + n + linear, 15 + n + turning, np.arange(18 + n, size)])
    eye = sp.eye_array(size, format="csr")
    P = csr(sp.hstack([eye[:, linear], csr(attitude), eye[:, rest]]))
    back = csr(sp.diags_array(1.0 / np.asarray(P.multiply(P).sum(axis=0)).ravel()) @ P.T)  # left inverse of P
    E = csr(back @ whole.E @ P)
    J = csr(back @ whole.J @ back.T)
    z = P.T @ whole.z
    assert body_layout(body).size == len(z)
    return BodyTerms(E, J, csr(back @ whole.R @ back.T), z)
