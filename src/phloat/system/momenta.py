"""The canonical momenta (9), (13) and the operators (10), (14) of the bodies of a system at a state."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from phloat.bodies import inertia as mass
from phloat.bodies.body import Body
from phloat.system.state import Pose, State
from phloat.system.system import System, fits


@dataclass(frozen=True, eq=False)
class Momenta:
    """p = M v (9), (10) of one body about P in body axes, with the operators of its equation of motion, (12) to (14).

    Fields are integrated with the shapes Φ of the coordinates η, u_f = Φη: `p_f` is ∫ Φᵀp_f dΩ and `I_pf` is
    ∫ {2 [p_f]× + ρ [v_f]×} Φ dΩ. In a plane vectors are (x, y), and rotation has the component z only: `p_r`, `p_r_tilde` and
    `J_u` are numbers, `I_pf` is a row (n,).

    Where the displacement is quadratic in η (reduced beams with shortening="slaved"), J does not follow from (13) and
    (14): `p_t_tilde` and `p_r_tilde` are then p_t and p_r, and `J_f` contains the other terms.

    Attributes
    ----------
    m : float
        Mass (kg).
    s_u : (3,) ndarray
        Static moment ∫ρ (x + u_f) dΩ of the deformed body (kg m).
    J_u : (3, 3) ndarray
        Moments of inertia of the deformed body about P (kg m²).
    M : (6 + n, 6 + n) ndarray
        The mass operator (10) for the velocities (v_P, ω, η̇).
    p_t, p_r, p_f : (3,), (3,), (n,) ndarray
        ∂H/∂v_P, the momentum (kg m/s); ∂H/∂ω, the angular momentum about P (kg m²/s); ∂H/∂η̇.
    epsilon : (stresses,) ndarray
        ∂H/∂σ = C σ, the strain integrated with the shapes of the stress states.
    p_t_tilde, p_r_tilde : (3,) ndarray
        p_t + ∫ρ v_f dΩ and p_r + ∫ρ (x + u_f) × v_f dΩ (13).
    I_pf : (3, n) ndarray
        The operator (14), a block of J.
    J_f : (6 + n, n) ndarray
        The gyroscopic part of J in the rows (v_P, ω, η̇) and the columns η̇: (0, I_pf, 0) if the displacement is linear in η.
    kinetic_gradient : (n,) ndarray
        ∂H_kin/∂η = ∫ Φᵀ(p_f × ω) dΩ, the kinetic part of z_u.
    """

    m: float
    s_u: np.ndarray
    J_u: np.ndarray
    M: np.ndarray
    p_t: np.ndarray
    p_r: np.ndarray
    p_f: np.ndarray
    epsilon: np.ndarray
    p_t_tilde: np.ndarray
    p_r_tilde: np.ndarray
    I_pf: np.ndarray
    J_f: np.ndarray
    kinetic_gradient: np.ndarray


def momenta(system: System, state: State) -> dict[str, Momenta]:
    """The momenta p_t, p_r, p_f (9) of every body, p̃_t and p̃_r (13), I_pf (14), s_u, J_u and the strain, by name of the body.

    `terms` assembles J from them, and p_t, p_r, p_f and the strain are its rows of E z.

    Parameters
    ----------
    system : System
    state : State

    Returns
    -------
    dict of str to Momenta
        About the point P, in body axes.

    Examples
    --------
    >>> arm = ph.RigidBody(mass=2.0, inertia=0.1 * np.eye(3), center=(0.5, 0.0, 0.0)).discretise()
    >>> pendulum = ph.connect({"arm": arm}, [ph.Revolute("ground", "arm.P", name="hinge")], plane="xy")
    >>> turning = ph.set_moving(pendulum, ph.place(pendulum), {"hinge.angle_rate": 2.0})
    >>> arm = ph.momenta(pendulum, turning)["arm"]
    >>> print(arm.s_u, arm.p_t, arm.p_r.round(9))  # m c = 1 kg m; p_t = (0, 2) kg m/s; p_r = (0.1 + 2 · 0.5²) · 2 kg m²/s
    [1. 0.] [0. 2.] 1.2
    """
    state = fits(system, state)
    return {name: _existing(body, body_momenta(body, state.pose(name))) for name, body in system.bodies.items()}


def body_momenta(body: Body, pose: Pose) -> Momenta:
    """The momenta of one body in three dimensions, those of motions that the body does not have included."""
    I, w = body.inertia, np.concatenate([pose.v_P, pose.omega, pose.rates])
    moments = I.at(pose.eta)
    M, p = moments.M, moments.M @ w
    if I.second is None:
        whirl = mass.whirl(I.W, pose.rates)
        p_t_tilde, p_r_tilde = p[:3] + I.S @ pose.rates, p[3:6] + moments.c @ pose.rates
        I_pf = mass.gyration(I.S, moments.Y, whirl, pose.v_P, pose.omega)
        J_f = np.vstack([np.zeros_like(I.S), I_pf, np.zeros_like(I.M_ff_dense)])
        kinetic_gradient = mass.kinetic_gradient(I.S, moments.Y, whirl, pose.v_P, pose.omega)
    else:  # M ẇ = … − Ṁ w + ½ ∂(wᵀM w)/∂η with the slopes of M w
        slope = I.momentum_slope(pose.eta, w)
        p_t_tilde, p_r_tilde, kinetic_gradient = p[:3], p[3:6], 0.5 * w @ slope
        J_f = np.vstack([-slope[:6], slope[6:].T - slope[6:]])
    return Momenta(
        m=I.m,
        s_u=moments.s_u,
        J_u=M[3:6, 3:6],
        M=M,
        p_t=p[:3],
        p_r=p[3:6],
        p_f=p[6:],
        epsilon=body.elastic.C @ pose.sigma,
        p_t_tilde=p_t_tilde,
        p_r_tilde=p_r_tilde,
        I_pf=J_f[3:6],
        J_f=J_f,
        kinetic_gradient=kinetic_gradient,
    )


def _existing(body: Body, p: Momenta) -> Momenta:
    """The components of the motions that a body has."""
    linear = [i for i in body.active if i < 3]
    turning = [i - 3 for i in body.active if i >= 3]
    about = turning[0] if len(turning) == 1 else turning  # one number, without an axis, in a plane
    return replace(
        p,
        M=p.M[np.ix_(body.columns, body.columns)],
        J_u=p.J_u[about][..., about],
        I_pf=p.I_pf[about],
        J_f=p.J_f[body.columns],
        **{name: getattr(p, name)[linear] for name in ("s_u", "p_t", "p_t_tilde")},
        **{name: getattr(p, name)[about] for name in ("p_r", "p_r_tilde")},
    )
