"""Tangents in closed form against differences: the stiffness of loads, and what inertia does in a steady motion."""

import numpy as np
import pytest
from bodies_zoo import random_state, slaved

import phloat as ph
from phloat.algebra.cross import cross
from phloat.bodies import inertia as formulas
from phloat.joints.port_state import bent, section_axes, section_axes_rate
from phloat.motion.initial.statics import statics
from phloat.motion.initial.stiffness import inertia_slopes, stiffness

RUBBER = ph.Material(E=2e6, rho=1000.0, nu=0.3)  # so soft that loads count
BETWEEN = {
    "weld": [ph.Weld("a.C", "b.P", name="j")],
    "revolute": [ph.Revolute("a.C", "b.P", axis=(0, 0, 1), name="j")],
    "universal": [ph.Universal("a.C", "b.P", axis=(0, 1, 0), name="j")],
    "spherical": [ph.Spherical("a.C", "b.P", name="j")],
    "cylindrical": [ph.Cylindrical("a.C", "b.P", axis=(1, 0, 0), name="j")],
    "prismatic": [ph.Prismatic("a.C", "b.P", axis=(1, 0, 0), name="j")],
    "planar": [ph.Planar("a.C", "b.P", axis=(0, 0, 1), name="j")],
    "slide": [ph.Slide("a.C", "b.P", along=(1, 0, 0), name="j")],
    "springs": [
        ph.Spring("a.P", "b.C", stiffness=300.0, length=0.1),
        ph.Bushing("a.C", "b.P", stiffness=(1e3, 2e3, 3e3, 40.0, 50.0, 60.0)),
    ],
    "hinge spring": [ph.Revolute("a.C", "b.P", name="j"), ph.JointSpring("j", stiffness=20.0, rest=0.4)],
    "ground": [ph.Weld("ground", "b.C", name="j"), ph.Drive("ground", "a.P", name="d")],
}
PUSHES = [
    ph.Force("b.C", along=(1, -2, 2), axes="body", name="following"),
    ph.Force("a.C", along=(1, 2, 2), name="dead"),
    ph.Torque("b.C", about=(2, 1, -2), axes="body", name="turning"),
    ph.Torque("a.C", about=(2, -1, 2), name="dead turn"),
    ph.Load("b", along=(0.6, 0.8, 0), per_length=lambda s: 1 + s, axes="body", name="along"),
    ph.Load("a", along=(0, 0, 1), name="weight"),
]


def pair(joints, change=lambda body: body):
    bar = ph.Beam(0.6, ph.Rectangle(0.02, 0.01), RUBBER)
    bodies = {"a": bar.discretise(2), "b": ph.Beam(0.4, ph.Rectangle(0.01, 0.03), RUBBER, frame="pinned").discretise(2)}
    return ph.connect({n: change(b) for n, b in bodies.items()}, [*joints, *PUSHES], gravity=(1.0, -9.0, 2.0))


SLAVED = ("weld", "slide", "springs", "hinge spring", "ground")


@pytest.mark.parametrize(("kind", "reduced"), [(k, False) for k in BETWEEN] + [(k, True) for k in SLAVED])
def test_the_stiffness_is_the_derivative_of_all_forces(kind, reduced):
    """K = −∂(f + Gᵀλ + B u)/∂q for random multipliers and inputs, joints of every kind, springs and loads, to 1e-7."""
    system = pair(BETWEEN[kind], slaved if reduced else lambda body: body)
    state, rng = random_state(system, 3), np.random.default_rng(5)
    lam, u = 50 * rng.normal(size=system.multipliers.size), 30 * rng.normal(size=system.ports.size)
    task = statics(system, state, u)
    force = lambda moved: (at := task.balance(moved)).f + at.G.T @ lam  # noqa: E731
    K = stiffness(system, task.start, lam, u).toarray()
    for k in rng.permutation(K.shape[0])[:14]:
        slopes = []
        for h in (2e-5 * task.units[k], 4e-5 * task.units[k]):
            step = h * np.eye(K.shape[0])[k]
            sides = [force(task.displace(task.start, sign * step)) for sign in (-1, 1)]
            slopes.append((sides[0] - sides[1]) / (2 * h))
        found = (4 * slopes[0] - slopes[1]) / 3  # Richardson's
        np.testing.assert_allclose(K[:, k], found, rtol=0, atol=2e-7 * np.abs(K[:, k]).max())


@pytest.mark.parametrize("plane", [None, "xy"])
@pytest.mark.parametrize("theory", ["euler-bernoulli", "rayleigh", "timoshenko"])
def test_slopes_of_inertial_forces_are_their_derivatives(theory, plane):
    """∂h/∂w and ∂h/∂η in a steady motion; h is quadratic, so that central differences are exact to round-off."""
    beam = ph.Beam(1.0, ph.Rectangle(0.2, 0.1), RUBBER, theory=theory).discretise(3)
    crank = ph.RigidBody(1.0, np.diag([1.0, 2.0, 3.0]), center=(0.1, 0.2, 0.0)).discretise()
    system = ph.connect({"beam": beam, "crank": crank}, [ph.Weld("beam.C", "crank.P")], plane=plane)
    state = random_state(system, 2)
    for name, body in system.bodies.items():
        pose = state.pose(name)._replace(rates=np.zeros(body.coordinates))
        w, there = np.concatenate([pose.v_P, pose.omega, pose.rates]), np.ix_(body.columns, body.columns)
        by_w, by_eta = np.zeros((len(w), len(w))), np.zeros((len(w), len(w)))
        for k, step in enumerate(np.eye(len(w))):
            by_w[:, k] = 0.5 * (inertial(body, pose.eta, w + step) - inertial(body, pose.eta, w - step))
        for k, step in enumerate(np.eye(body.coordinates)):
            by_eta[:, 6 + k] = 0.5 * (inertial(body, pose.eta + step, w) - inertial(body, pose.eta - step, w))
        for made, found in zip(inertia_slopes(body, pose), (by_w, by_eta), strict=False):
            np.testing.assert_allclose(made[there], found[there], rtol=0, atol=1e-12 * max(np.abs(by_w).max(), 1.0))


def test_slope_of_momentum():
    full = ph.Beam(1.0, ph.Rectangle(0.2, 0.1), RUBBER).discretise(3)
    for body in (full, full.reduced(modes=2, shortening="slaved")):
        I, rng, h = body.inertia, np.random.default_rng(1), 1e-3
        eta, w = 0.1 * rng.normal(size=body.coordinates), rng.normal(size=6 + body.coordinates)
        momentum = lambda step, I=I, eta=eta, w=w: I.at(eta + step).M @ w  # noqa: E731
        steps = h * np.eye(body.coordinates)
        found = [(8.0 * (momentum(s) - momentum(-s)) - momentum(2 * s) + momentum(-2 * s)) / (12 * h) for s in steps]
        np.testing.assert_allclose(
            I.momentum_slope(eta, w), np.transpose(found), rtol=0, atol=1e-10 * np.abs(found).max()
        )


def inertial(body, eta, w):
    """(12) without elasticity and gravity: what inertia does on (v_P, ω, η̇) besides −M ẇ."""
    I, now = body.inertia, body.inertia.at(eta)
    v, omega, rates = w[:3], w[3:6], w[6:]
    whirl = formulas.whirl(I.W, rates)
    p = now.M @ w
    p_t, p_r = p[:3] + I.S @ rates, p[3:6] + now.c @ rates
    I_pf = formulas.gyration(I.S, now.Y, whirl, v, omega)
    bend = -I_pf.T @ omega - formulas.kinetic_gradient(I.S, now.Y, whirl, v, omega)
    return np.concatenate([cross(p_t, omega), cross(p_t, v) + cross(p_r, omega) + I_pf @ rates, bend])


@pytest.mark.parametrize("psi", [(0.0, 0.0, 0.0), (0.3, -0.7, 0.5), (0.0, 0.0, 1.2)])
def test_axes_of_a_section_are_the_rotation_nearest_to_its_triad(psi):
    psi, d = np.array(psi), np.array([1.0, 2.0, 3.0])
    U, _, V = np.linalg.svd(np.column_stack([bent(psi, e) for e in np.eye(3)]))
    np.testing.assert_allclose(section_axes(psi), U @ V, atol=1e-15)
    found = [(section_axes(psi + h) @ d - section_axes(psi - h) @ d) / 2e-5 for h in 1e-5 * np.eye(3)]
    np.testing.assert_allclose(section_axes_rate(psi, d), np.transpose(found), atol=1e-9)
