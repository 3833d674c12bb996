"""Identities of the paper's matrices at random states of every body, in space and in the plane."""

import numpy as np
import pytest
from bodies_zoo import Cloud, bodies, random_state, systems

import phloat as ph

SYSTEMS = systems()


def double(name: str) -> ph.System:
    """Two bodies on joints of the kind."""
    zoo = bodies()
    arm = ph.Weld("ground", "a.P", at=(0.2, 0.1, 0.0))
    if name == "slide":
        second = ph.Slide("a.C", "b.P", along=(1, 0, 0), name="second")
    elif name == "prismatic":
        second = ph.Prismatic("a.C", "b.P", axis=(0.6, 0.8, 0.0), name="second")
    elif name == "revolute":
        second = ph.Revolute("a.C", "b.P", axis=(0.0, 0.6, 0.8), turned=(0.3, -0.2, 0.5), name="second")
    elif name == "spherical":
        second = ph.Spherical("a.C", "b.P", name="second")
    else:
        second = ph.Weld("a.C", "b.P", turned=(0.1, 0.2, 0.3), name="second")
    return ph.connect({"a": zoo["beam"], "b": zoo["damped beam"]}, joints=[arm, second], gravity=(0, 0, -9.81))


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("seed", range(3))
def test_J_is_skew_and_E_symmetric_positive_definite(name, seed):
    terms = ph.terms(SYSTEMS[name], random_state(SYSTEMS[name], seed))
    for what, defect in ph.structure_defects(terms).items():
        assert defect <= 1e-12, what
    assert np.linalg.eigvalsh(terms.E.toarray())[0] > 0


STRIPS = {"blade": ((0.1, 0.02), 1.0), "panel": ((0.5, 0.01), 3.0), "edge": ((0.002, 0.05), 0.5)}


@pytest.mark.parametrize("theory", ["euler-bernoulli", "rayleigh", "timoshenko"])
@pytest.mark.parametrize("strip", STRIPS)
@pytest.mark.parametrize("elements", [2, 8])
def test_E_stays_definite_for_thin_strips_twisted_and_bent_smoothly(theory, strip, elements):
    """Where sections carry rotary inertia their turning is in M to second order only, and E is definite up to a tip that turns by
    0.05 rad with 8 elements; by 0.1 rad and more a fine free beam has a direction without positive mass: the frame turns and all
    elements but the first turn back."""
    from phloat.system.state import rest_state

    (b, h), length = STRIPS[strip]
    beam = ph.Beam(length, ph.Rectangle(b, h), ph.Material(E=7e10, rho=2700.0), theory=theory)
    system = ph.connect({"b": beam.discretise(elements)})
    body = system.bodies["b"]
    K = body.elastic.K.toarray()
    for load in ([0, 0, 0, 1.0, 0, 0], [0, 1.0, 0, 0, 0, 0], [0, 0, 1.0, 0, 0, 0], [1.0, 2.0, -1.0, 0.5, 0.3, -0.2]):
        tip = np.vstack([body.ports["C"].Phi, body.ports["C"].Psi])
        eta = np.linalg.solve(K, tip.T @ load)
        turned = 0.3 if theory == "euler-bernoulli" else 0.05
        eta *= turned / np.abs(body.ports["C"].Psi @ eta).max()
        terms = ph.terms(system, rest_state(system.bodies).with_values({"b.eta": eta}))
        assert ph.structure_defects(terms)["E is not positive definite"] == 0.0
        unit = 1 / np.sqrt(terms.E.diagonal())
        assert np.linalg.eigvalsh(terms.E.toarray() * unit[:, None] * unit)[0] > 0


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("seed", range(3))
def test_effort_is_the_gradient_of_the_energy(name, seed):
    assert ph.effort_defect(SYSTEMS[name], random_state(SYSTEMS[name], seed)) < 1e-8


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("seed", range(3))
def test_power_is_balanced_with_every_port_loaded(name, seed):
    system = SYSTEMS[name]
    rng = np.random.default_rng(seed)
    u = {port: rng.normal(size=system.ports.shape(port)) * 10 for port in system.ports}
    balance = ph.power_balance(system, random_state(system, seed), u)
    assert abs(balance.relative) < 1e-12
    assert balance.supplied != 0.0
    assert balance.dissipated >= 0.0


@pytest.mark.parametrize("kind", ["weld", "revolute", "prismatic", "spherical", "slide"])
def test_power_is_balanced_through_joints_with_their_free_axes_loaded(kind):
    system = double(kind)
    for seed in range(3):
        state = random_state(system, seed, consistent=True)
        rng = np.random.default_rng(seed)
        u = {port: rng.normal(size=system.ports.shape(port)) for port in system.ports}
        assert abs(ph.power_balance(system, state, u).relative) < 1e-12


@pytest.mark.parametrize("kind", ["weld", "revolute", "prismatic", "spherical", "slide"])
def test_joint_rows_are_the_rate_of_their_gaps(kind):
    system = double(kind)
    state = random_state(system, 1)
    terms = ph.terms(system, state)
    # move along the velocities: ṙ = A v, Ȧ = A[ω]×, η̇ are the rows of J z that (12) gives
    e_dot = (terms.J @ terms.z) * np.array([n in ("r_P", "A_IB", "eta") for n in _quantities(system)])
    from dataclasses import replace

    h = 1e-6
    ahead, back = (ph.gaps(system, replace(state, e=state.e + s * h * e_dot)) for s in (1, -1))
    for name, where in system.multipliers.slices.items():
        rate = (ahead[name] - back[name]) / (2 * h)
        np.testing.assert_allclose((terms.G @ terms.z)[where], rate, atol=2e-8 * max(1, np.abs(terms.z).max()))


def _quantities(system: ph.System) -> list[str]:
    return [name.rpartition(".")[2] for name in system.layout for _ in range(int(np.prod(system.layout.shape(name))))]


def test_driven_axes_take_their_rate_and_give_the_effort():
    system = ph.drive(double("revolute"), "second")
    terms = ph.terms(system, random_state(system, 2))
    assert not terms.B[:, terms.ports["second"]].nnz
    assert terms.B_lam[:, terms.ports["second"]].sum() == 1.0


def test_a_driven_pose_is_the_twist_of_the_port():
    system = ph.connect({"b": bodies()["beam"]}, joints=[ph.Drive("ground", "b.P", of="pose", name="hub")])
    state = random_state(system, 4)
    terms = ph.terms(system, state)
    pose = state.pose("b")
    u = np.zeros(terms.ports.size)
    u[terms.ports["hub"]] = np.concatenate([pose.A @ pose.v_P, pose.A @ pose.omega])
    np.testing.assert_allclose(terms.B_lam @ u, terms.G @ terms.z, atol=1e-12)


def test_a_rigid_body_is_newton_and_euler():
    """Remark 3, against the textbook equations about the mass centre."""
    body = ph.RigidBody(2.5, np.diag([0.4, 0.5, 0.6]), center=(0.1, -0.2, 0.3)).discretise()
    system = ph.connect({"b": body}, gravity=(0.3, -0.4, -9.81))
    state = random_state(system, 5)
    pose = state.pose("b")
    terms = ph.terms(system, state)
    e_dot = np.linalg.solve(terms.E.toarray(), terms.J @ terms.z)
    r_dot, A_dot, v_dot, w_dot = (system.layout.of(e_dot, f"b.{n}") for n in ("r_P", "A_IB", "v_P", "omega"))
    c, J, w, v = np.array([0.1, -0.2, 0.3]), np.diag([0.4, 0.5, 0.6]), pose.omega, pose.v_P
    np.testing.assert_allclose(r_dot, pose.A @ v)
    np.testing.assert_allclose(A_dot, pose.A @ np.cross(np.eye(3), w), atol=1e-12)
    np.testing.assert_allclose(J @ w_dot, np.cross(J @ w, w), atol=1e-11)  # gravity has no torque about the centre
    acceleration = v_dot + np.cross(w, v) + np.cross(w_dot, c) + np.cross(w, np.cross(w, c))
    np.testing.assert_allclose(pose.A @ acceleration, system.gravity, atol=1e-11)


def test_the_energy_of_a_cloud_is_that_of_its_masses():
    """½ Σ m |v + ω × (x + u) + u̇|² and −Σ m g · r, mass by mass."""
    cloud = Cloud(3)
    system = ph.connect({"b": cloud.discretise()}, gravity=(0.3, -0.4, -9.81))
    state = random_state(system, 5)
    pose, E = state.pose("b"), ph.terms(system, state).E.toarray()
    at = cloud.x + (cloud.Phi @ state["b.eta"]).T
    v = pose.v_P + np.cross(pose.omega, at) + (cloud.Phi @ state["b.eta_dot"]).T
    moving = np.r_[tuple(system.layout[f"b.{q}"] for q in ("v_P", "omega", "eta_dot"))]
    kinetic = 0.5 * state.e[moving] @ E[np.ix_(moving, moving)] @ state.e[moving]
    assert kinetic == pytest.approx(0.5 * cloud.mass @ (v**2).sum(axis=1), rel=1e-12)
    potential = -cloud.mass @ (pose.r_P + at @ pose.A.T) @ system.gravity
    stored = 0.5 * state["b.sigma"] @ system.bodies["b"].elastic.C @ state["b.sigma"]
    assert ph.energy(system, state) == pytest.approx(kinetic + potential + stored, rel=1e-12)


@pytest.mark.parametrize("name", [n for n in SYSTEMS if "point" not in n])
def test_momenta_change_as_lagrange_says(name):
    """ṗ_v = −ω × p_v, ṗ_ω = −ω × p_ω − v × p_v, ṗ_η = ∂T/∂η − Bᵀσ − Rη̇ with p = M(η)w: J may be skew and still be wrong."""
    system = ph.connect({"b": SYSTEMS[name].bodies["b"]}, plane=SYSTEMS[name].plane)
    state, h = random_state(system, 7), 1e-3
    where = {q: system.layout[f"b.{q}"] for q in ("v_P", "omega", "eta_dot", "sigma") if f"b.{q}" in system.layout}
    moving = np.r_[tuple(where[q] for q in ("v_P", "omega", "eta_dot") if q in where)]
    terms = ph.terms(system, state)
    e_dot = np.linalg.solve(terms.E.toarray(), (terms.J - terms.R) @ terms.z)

    def momenta(e, w):
        return (ph.terms(system, ph.State(system.bodies, system.layout, e)).E.toarray()[:, moving] @ w)[: len(e)]

    w, bent = state.e[moving], np.zeros(len(state.e))
    if "b.eta" in system.layout:
        bent[system.layout["b.eta"]] = h * state["b.eta_dot"]
    p = momenta(state.e, w)
    of_M = (momenta(state.e + bent, w) - momenta(state.e - bent, w)) / (2 * h)  # exact: M is quadratic in η
    rate = momenta(state.e, e_dot[moving]) + of_M
    flat = system.plane is not None
    three = (lambda x: np.r_[x, 0.0]) if flat else np.asarray
    v, p_v = three(state.e[where["v_P"]]), three(p[where["v_P"]])
    omega, p_omega = (np.r_[0.0, 0.0, x] if flat else x for x in (state.e[where["omega"]], p[where["omega"]]))
    size = np.abs(rate).max()
    np.testing.assert_allclose(three(rate[where["v_P"]]), -np.cross(omega, p_v), atol=1e-10 * size)
    turning = -np.cross(omega, p_omega) - np.cross(v, p_v)
    np.testing.assert_allclose(rate[where["omega"]], turning[2:] if flat else turning, atol=1e-10 * size)
    if "eta_dot" not in where:
        return
    eta, of_T = system.layout["b.eta"], []
    for k in range(eta.start, eta.stop):
        one = np.zeros(len(state.e))
        one[k] = h
        of_T.append(w @ (momenta(state.e + one, w) - momenta(state.e - one, w))[moving] / (4 * h))
    pull = (terms.J[where["eta_dot"], where["sigma"]] @ terms.z[where["sigma"]]) - (terms.R @ terms.z)[where["eta_dot"]]
    np.testing.assert_allclose(rate[where["eta_dot"]], of_T + pull, atol=1e-10 * size)


@pytest.mark.parametrize("name", [n for n in SYSTEMS if "beam" in n or "cloud" in n])
def test_stress_follows_the_strain_of_the_deformation(name):
    """σ − C⁻¹ε(η) stays as it is: C σ̇ is the rate of ε, quadratic part included."""
    system = SYSTEMS[name]
    state = random_state(system, 6)
    terms, elastic = ph.terms(system, state), system.bodies["b"].elastic
    C_sigma_dot = (terms.J @ terms.z)[system.layout["b.sigma"]]
    eta, rates, h = state["b.eta"], state["b.eta_dot"], 1e-3
    difference = elastic.stress(eta + h * rates) - elastic.stress(eta - h * rates)  # exact: ε is quadratic
    np.testing.assert_allclose(C_sigma_dot, elastic.C @ difference / (2 * h), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", [n for n in SYSTEMS if n.startswith("damped") or "without" in n])
def test_dissipated_power_is_that_of_the_damping_law(name):
    """time · ε̇ᵀC⁻¹ε̇ of the whole strain, and mass times the square of velocities relative to port C."""
    system = SYSTEMS[name]
    state, body = random_state(system, 6), SYSTEMS[name].bodies["b"]
    law, eta, rates = body.recipe.damping, state["b.eta"], state["b.eta_dot"]
    elastic, port, h = body.elastic, body.ports["C"], 1e-3
    stress_rate = (elastic.stress(eta + h * rates) - elastic.stress(eta - h * rates)) / (2 * h)  # exact: ε is quadratic
    v, turning = port.Phi @ rates, port.Psi @ rates
    relative = np.concatenate([np.cross(turning, port.x) - v, -turning, rates])
    expected = law.stiffness * stress_rate @ elastic.C @ stress_rate
    expected += law.mass * relative @ body.inertia.at_rest() @ relative
    assert ph.power_balance(system, state).dissipated == pytest.approx(expected, rel=1e-12)


def test_terms_of_a_system_are_those_of_its_bodies_side_by_side():
    zoo = bodies()
    both = ph.connect({"a": zoo["beam"], "b": zoo["rigid body"]}, gravity=(0, 0, -9.81))
    state = random_state(both, 0)
    alone = ph.connect({"a": zoo["beam"]}, gravity=(0, 0, -9.81))
    first = ph.State(alone.bodies, alone.layout, state.e[: alone.layout.size])
    n = alone.layout.size
    np.testing.assert_array_equal(ph.terms(both, state).J[:n][:, :n].toarray(), ph.terms(alone, first).J.toarray())
