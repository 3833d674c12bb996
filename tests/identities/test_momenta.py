"""The momenta (9), (13) and the operator (14): blocks of E and J, sums over point masses, and their rates along the motion."""

from dataclasses import replace

import numpy as np
import pytest
from bodies_zoo import Cloud, beam, random_state, steel, systems

import phloat as ph
from phloat.algebra.cross import skew

SYSTEMS = systems()
PARTS = ("v_P", "omega", "eta_dot")
TURN = {0: slice(0, 0), 1: slice(2, 3), 3: slice(0, 3)}  # the components that a body has, by their number


def spatial(x, turning=False):
    """The components in three dimensions; those that a plane does not have are zero."""
    x = np.atleast_1d(x)
    out = np.zeros((3, *x.shape[1:]))
    out[TURN[len(x)] if turning else slice(0, len(x))] = x
    return out


def spin(state):
    return spatial(state["b.omega"], turning=True) if "b.omega" in state.layout else np.zeros(3)


@pytest.mark.parametrize("name", SYSTEMS)
def test_momenta_are_the_rows_of_E_z_and_the_blocks_of_J(name):
    system = SYSTEMS[name]
    state = random_state(system, 4)
    terms, p = ph.terms(system, state), ph.momenta(system, state)["b"]
    rows = terms.layout
    found = {"v_P": p.p_t, "omega": p.p_r, "eta_dot": p.p_f, "sigma": p.epsilon}
    for part, value in found.items():
        if f"b.{part}" in rows:
            np.testing.assert_allclose(np.ravel(value), (terms.E @ terms.z)[rows[f"b.{part}"]], rtol=1e-12, atol=1e-12)
    velocities = np.concatenate([np.ravel(state[f"b.{part}"]) for part in PARTS if f"b.{part}" in rows])
    np.testing.assert_allclose(
        np.concatenate([p.p_t, np.ravel(p.p_r), p.p_f]), p.M @ velocities, rtol=1e-12, atol=1e-12
    )
    if "b.omega" not in rows:
        return
    J = terms.J.toarray()
    v, w = rows["b.v_P"], rows["b.omega"]
    linear, turning = v.stop - v.start, TURN[w.stop - w.start]
    np.testing.assert_allclose(J[v, w], skew(spatial(p.p_t_tilde))[:linear, turning], rtol=1e-12)
    np.testing.assert_allclose(J[w, w], skew(spatial(p.p_r_tilde, turning=True))[turning, turning], rtol=1e-12)
    if "b.eta" in rows:
        np.testing.assert_allclose(J[w, rows["b.eta_dot"]], np.atleast_2d(p.I_pf), rtol=1e-12)


def test_momenta_are_sums_over_point_masses():
    """v_i = v_P + ω × (x_i + u_i) + Φ_i η̇ for masses m_i: p_t = Σ m v, p_r = Σ m (x + u) × v, p_f = Σ m Φᵀv, and so on."""
    cloud = Cloud(5)
    system = ph.connect({"b": cloud.discretise()})
    state = random_state(system, 1)
    p, m, Phi, omega = ph.momenta(system, state)["b"], cloud.mass, cloud.Phi, state["b.omega"]
    x, v_f = cloud.x + (Phi @ state["b.eta"]).T, (Phi @ state["b.eta_dot"]).T
    v = state["b.v_P"] + np.cross(omega, x) + v_f
    expected = {
        "m": m.sum(),
        "s_u": m @ x,
        "J_u": sum(mi * skew(xi).T @ skew(xi) for mi, xi in zip(m, x, strict=True)),
        "p_t": m @ v,
        "p_r": m @ np.cross(x, v),
        "p_f": np.einsum("i,aik,ia->k", m, Phi, v),
        "p_t_tilde": m @ (v + v_f),
        "p_r_tilde": m @ np.cross(x, v + v_f),
        "I_pf": np.einsum("i,iak->ak", m, np.cross((2 * v + v_f)[:, None], Phi.transpose(1, 2, 0)).transpose(0, 2, 1)),
        "kinetic_gradient": np.einsum("i,ia,aik->k", m, np.cross(v, omega), Phi),
    }
    for name, value in expected.items():
        np.testing.assert_allclose(getattr(p, name), value, rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("name", SYSTEMS)
def test_momenta_change_as_Euler_and_Lagrange_say(name):
    """Without gravity ṗ_t = p_t × ω, ṗ_r = p_r × ω + p_t × v_P and ṗ_f = ∂H_kin/∂η − (D + Qη)ᵀσ − R_d η̇, with (12) for the rates.

    M(η) has degree two, of slaved beams four, so its rate by five-point differences along η̇ is exact.
    """
    system = replace(SYSTEMS[name], gravity=np.zeros(3))
    state = random_state(system, 2)
    terms, p = ph.terms(system, state), ph.momenta(system, state)["b"]
    body, rows = system.bodies["b"], terms.layout
    own = rows.indices(f"b.{part}" for part in PARTS if f"b.{part}" in rows)
    rate = np.linalg.solve(terms.E.toarray(), (terms.J - terms.R) @ terms.z)[own]
    p_dot, v_P, omega = p.M @ rate, spatial(state["b.v_P"]), spin(state)
    strained = np.zeros(body.coordinates)
    if body.coordinates:
        sides = [state.with_values({"b.eta": state["b.eta"] + s * state["b.eta_dot"]}) for s in (1.0, -1.0, 2.0, -2.0)]
        ahead, back, farther, farther_back = (ph.momenta(system, side)["b"].M for side in sides)
        p_dot = p_dot + (8.0 * (ahead - back) - (farther - farther_back)) @ terms.z[own] / 12.0
        strained = body.elastic.gradient(state["b.eta"]).T @ state["b.sigma"]
        strained = strained + body.elastic.damping(state["b.eta"]) @ state["b.eta_dot"]
    p_t, p_r = spatial(p.p_t), spatial(p.p_r, turning=True)
    push, turn = np.cross(p_t, omega), np.cross(p_r, omega) + np.cross(p_t, v_P)
    exact = np.concatenate([push, turn, p.kinetic_gradient - strained])[body.columns]
    np.testing.assert_allclose(p_dot, exact, rtol=0, atol=1e-10 * max(np.abs(exact).max(), 1.0))


def test_a_spinning_beam_is_pulled_by_rho_A_omega2_x_once():
    """For u_x = x, ∂H_kin/∂η · η is ∫ρAω²x² dx = ρA ω² L³/3; I_pf has it twice, and (12) adds the two."""
    L, omega = 1.3, 7.0
    rod = beam().discretise(3)
    system = ph.connect({"b": rod}, plane="xy")
    rest = ph.place(system).with_values({"b.omega": omega})
    s = np.linspace(0.0, 1.0, 13)
    body = system.bodies["b"]
    u = np.column_stack([L * s, 0 * s, 0 * s]).ravel()
    stretch = np.linalg.lstsq(body.shape.displacement(s).toarray(), u, rcond=None)[0]
    p = ph.momenta(system, rest)["b"]
    pull = steel.rho * 0.03 * 0.05 * omega**2 * L**3 / 3
    assert p.kinetic_gradient @ stretch == pytest.approx(pull, rel=1e-12)
    assert -p.I_pf @ stretch * omega == pytest.approx(2 * pull, rel=1e-12)
    terms = ph.terms(system, rest)
    assert (terms.J @ terms.z)[terms.layout["b.eta_dot"]] @ stretch == pytest.approx(pull, rel=1e-12)


def test_the_momenta_of_all_bodies_are_the_momentum_of_a_run():
    link = beam().discretise(2)
    system = ph.connect({"a": link, "b": link}, [ph.Spherical("a.C", "b.P")])
    flung = {"a.omega": (1.0, 2.0, 3.0), "b.omega": (-2.0, 1.0, 0.5), "a.v_P": (1.0, 0.0, -1.0)}
    start = ph.set_moving(system, ph.place(system), flung)
    run = ph.simulate(system, start, 1e-2, dt=1e-2)
    state = run.state(1)
    p = ph.momenta(system, state)
    A = {name: state[f"{name}.A_IB"] for name in "ab"}
    linear = sum(A[name] @ p[name].p_t for name in "ab")
    angular = sum(np.cross(state[f"{name}.r_P"], A[name] @ p[name].p_t) + A[name] @ p[name].p_r for name in "ab")
    np.testing.assert_allclose(linear, run.momentum[1], rtol=1e-12)
    np.testing.assert_allclose(angular, run.angular_momentum[1], rtol=1e-12)


def test_in_a_plane_what_turns_is_one_number():
    rod = beam().discretise(2)
    system = ph.connect({"rod": rod, "ball": ph.PointMass(2.0).discretise()}, plane="xy")
    state = random_state(system, 0)
    p = ph.momenta(system, state)
    n = system.layout.shape("rod.eta")
    shapes = {name: np.shape(getattr(p["rod"], name)) for name in ("p_t", "p_r", "s_u", "J_u", "I_pf", "p_f")}
    assert shapes == {"p_t": (2,), "p_r": (), "s_u": (2,), "J_u": (), "I_pf": n, "p_f": n}
    np.testing.assert_allclose(p["ball"].p_t, 2.0 * state["ball.v_P"])
    assert p["ball"].p_r.shape == (0,)
