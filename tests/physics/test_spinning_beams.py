"""Forces on moving, deformed bodies, against answers known from elsewhere: structural tests alone pass wrong physics."""

from dataclasses import replace

import numpy as np
import pytest
from bodies_zoo import Cloud, beam, bodies, continua, random_state, rates, steel
from numpy.polynomial.legendre import leggauss

import phloat as ph
from phloat.system.state import rest_state

RHO_A = steel.rho * 0.03 * 0.05
LENGTH = 1.3


def alone(body: ph.Body, gravity=(0.0, 0.0, 0.0), plane=None) -> ph.System:
    return ph.connect({"b": body}, gravity=gravity, plane=plane)


def forces_on_deformation(system: ph.System, state: ph.State) -> np.ndarray:
    """Everything but inertia on the rows of η̇."""
    terms = ph.terms(system, state)
    return ((terms.J - terms.R) @ terms.z)[system.layout["b.eta_dot"]]


def integrated(system: ph.System, density) -> np.ndarray:
    """∫ f(x) · Φ_k dx over the beam with f in body axes, by quadrature of the shape functions at places s."""
    body = system.bodies["b"]
    nodes = np.linspace(0, 1, 41)  # elements of the mesh are unions of these
    xi, w = leggauss(8)
    s = (nodes[:-1, None] + np.diff(nodes)[:, None] * (xi + 1) / 2).ravel()
    weight = (np.diff(nodes)[:, None] * w / 2).ravel() * LENGTH
    Phi = body.shape.displacement(s).toarray().reshape(len(s), 3, -1)
    f = np.array([density(x) for x in s * LENGTH])
    return np.einsum("p,pa,pak->k", weight, f, Phi)


@pytest.mark.parametrize("plane", [None, "xy"])
@pytest.mark.parametrize("frame", ["cantilever", "pinned"])
def test_a_spinning_beam_is_pulled_by_rho_A_omega2_x_once(plane, frame):
    system = alone(beam(frame=frame).discretise(4), plane=plane)
    omega = 7.0
    state = rest_state(system.bodies).with_values({"b.omega": omega if plane else (0, 0, omega)})
    expected = integrated(system, lambda x: (RHO_A * omega**2 * x, 0.0, 0.0))
    np.testing.assert_allclose(forces_on_deformation(system, state), expected, atol=1e-12 * np.abs(expected).max())


def test_the_steady_stretch_of_a_spinning_beam_is_the_linear_formula():
    """Data of the spin-up beam: ρAω²L³/3EA = 5.142857e-4."""
    spin_up = ph.Beam(10.0, ph.Section(A=4e-4, I=2e-7), ph.Material(E=7e10, rho=3000.0)).discretise(5)
    system = alone(spin_up, plane="xy")
    state = rest_state(system.bodies).with_values({"b.omega": 6.0})
    eta = np.linalg.solve(system.bodies["b"].elastic.K.toarray(), forces_on_deformation(system, state))
    stretched = state.with_values({"b.eta": eta})
    assert stretched.displacement("b", 1.0)[0] == pytest.approx(5.142857e-4, rel=1e-6)
    assert stretched.stress("b", 0.05)["N"] == pytest.approx(1.2 * 36 * (100 - 1) / 2, rel=0.02)


def test_a_deformed_spinning_beam_is_pulled_from_where_it_is():
    system = alone(beam(stiffening=False).discretise(2), plane="xy")
    state = rest_state(system.bodies).with_values({"b.omega": 5.0, "b.eta": 0.01 * np.arange(8)})
    moved = state.with_values({"b.sigma": np.zeros(system.bodies["b"].stresses)})
    expected = integrated(
        system, lambda x: RHO_A * 25.0 * np.array([x, 0, 0]) + RHO_A * 25.0 * _deformation(state, x / LENGTH)
    )
    np.testing.assert_allclose(forces_on_deformation(system, moved), expected, rtol=1e-10, atol=1e-10)


def _deformation(state: ph.State, s: float) -> np.ndarray:
    return np.append(state.displacement("b", s), 0.0)


def test_the_coriolis_force_on_a_stretching_spinning_beam_is_two_rho_A_omega_v():
    system = alone(beam().discretise(4))
    omega, growth = 3.0, 0.4
    x = LENGTH * np.arange(1, 9) / 8
    eta_dot = np.zeros(system.bodies["b"].coordinates)
    eta_dot[:8] = growth * x  # u_x = growth · x: its values at nodes and middles come first
    state = rest_state(system.bodies).with_values({"b.omega": (0, 0, omega), "b.eta_dot": eta_dot})
    assert ph.terms(system, state).z[system.layout["b.v_P"]] == pytest.approx(0)
    expected = integrated(system, lambda x: (RHO_A * omega**2 * x, -2 * RHO_A * omega * growth * x, 0.0))
    np.testing.assert_allclose(forces_on_deformation(system, state), expected, atol=1e-10)


def test_gravity_acts_at_the_deformed_mass_centre():
    g = np.array([1.0, -9.0, 2.0])
    system = alone(bodies()["tapered beam with masses"], gravity=g)
    state = random_state(system, 3).with_values({"b.v_P": np.zeros(3), "b.omega": np.zeros(3)})
    body = system.bodies["b"]
    state = state.with_values({"b.eta_dot": np.zeros(body.coordinates)})
    terms, pose = ph.terms(system, state), state.pose("b")
    force = terms.J @ terms.z
    xi, w = leggauss(6)  # mass centre by its own quadrature; the mass at 0.37 cuts an element
    nodes = np.array([0.0, 0.37, 0.5, 1.0])
    s = (nodes[:-1, None] + np.diff(nodes)[:, None] * (xi + 1) / 2).ravel()
    mass = (np.diff(nodes)[:, None] * w / 2).ravel() * LENGTH * steel.rho * 0.03 * 0.05 * (1 - 0.4 * s)
    s, mass = np.append(s, [0.0, 0.37]), np.append(mass, [0.4, 1.1])
    y = np.array([pose.A.T @ (state.position("b", place) - pose.r_P) for place in s])
    center = mass @ y / mass.sum()
    np.testing.assert_allclose(force[system.layout["b.v_P"]], mass.sum() * pose.A.T @ g)
    np.testing.assert_allclose(force[system.layout["b.omega"]], np.cross(center, mass.sum() * pose.A.T @ g), rtol=1e-10)


ALL = [name for name in bodies() if name != "point mass"]


@pytest.mark.parametrize("name", ALL)
def test_momenta_change_by_gravity_alone(name):
    """d/dt (A p_t) = m g and d/dt (r_P × A p_t + A p_r) = r_c × m g along ė, whatever the deformation does inside."""
    g = np.array([0.3, -0.8, -9.81])
    body = bodies()[name]
    if isinstance(body.recipe, ph.Beam):  # soft, so that rates can be differenced
        body = replace(body.recipe, material=ph.Material(E=1e4, rho=7800.0)).discretise(2)
    if name in continua():
        body = continua(ph.Material(E=1e4, rho=7800.0))[name]
    system = alone(body, gravity=g)
    state = random_state(system, 11)
    if body.stresses:
        state = state.with_values({"b.sigma": 1e-3 * state["b.sigma"]})
    e_dot = rates(system, state)

    def momenta(e):
        at = ph.State(system.bodies, system.layout, e)
        terms, pose = ph.terms(system, at), at.pose("b")
        p = terms.E @ terms.z
        P = pose.A @ p[system.layout["b.v_P"]]
        return np.concatenate([P, np.cross(pose.r_P, P) + pose.A @ p[system.layout["b.omega"]]])

    step = 3e-4 / np.abs(e_dot).max()
    rate = (momenta(state.e + step * e_dot) - momenta(state.e - step * e_dot)) / (2 * step)
    pose, I = state.pose("b"), system.bodies["b"].inertia
    weight = I.m * g
    center = pose.r_P + pose.A @ (I.s0 + I.S @ pose.eta) / I.m
    np.testing.assert_allclose(rate, np.concatenate([weight, np.cross(center, weight)]), atol=2e-4)


def test_kinetic_energy_is_the_sum_over_the_masses():
    cloud = Cloud(7)
    system = alone(cloud.discretise())
    state = random_state(system, 2)
    pose = state.pose("b")
    y = cloud.x + np.einsum("amk,k->ma", cloud.Phi, pose.eta)
    v = pose.v_P + np.cross(pose.omega, y) + np.einsum("amk,k->ma", cloud.Phi, pose.rates)
    kinetic = 0.5 * cloud.mass @ (v**2).sum(axis=1)
    elastic = 0.5 * pose.sigma @ (system.bodies["b"].elastic.C @ pose.sigma)
    assert ph.energy(system, state) == pytest.approx(kinetic + elastic, rel=1e-13)


def test_every_mass_of_a_cloud_obeys_newton():
    """Generalised: Σ m a · (rigid and shape fields) = generalised forces, with a from positions differenced in time."""
    cloud = Cloud(9)
    system = alone(cloud.discretise(), gravity=(0.0, 0.0, -9.81))
    state = random_state(system, 4)
    terms, e_dot = ph.terms(system, state), rates(system, state)

    def velocities(e):
        pose = ph.State(system.bodies, system.layout, e).pose("b")
        y = cloud.x + np.einsum("amk,k->ma", cloud.Phi, pose.eta)
        return (pose.v_P + np.cross(pose.omega, y) + np.einsum("amk,k->ma", cloud.Phi, pose.rates)) @ pose.A.T

    h = 1e-5 / np.abs(e_dot).max()
    a = (velocities(state.e + h * e_dot) - velocities(state.e - h * e_dot)) / (2 * h)
    a = (a - np.array([0, 0, -9.81])) @ state.pose("b").A  # in body axes, beyond gravity
    generalised = np.einsum("m,ma,amk->k", cloud.mass, a, cloud.Phi)
    strain = terms.J[system.layout["b.sigma"], system.layout["b.eta_dot"]].T @ state["b.sigma"]
    damping = system.bodies["b"].elastic.damping(state["b.eta"]) @ state["b.eta_dot"]
    np.testing.assert_allclose(generalised, -strain - damping, rtol=1e-5, atol=1e-4 * np.abs(strain).max())
    np.testing.assert_allclose(
        (cloud.mass[:, None] * a).sum(axis=0), 0.0, atol=1e-4 * np.abs(cloud.mass[:, None] * a).max()
    )


def test_section_inertia_is_felt_alike_by_rigid_and_elastic_rotation():
    """A beam that twists uniformly as a whole has the polar inertia of its sections, rigidly or elastically."""
    body = beam(theory="rayleigh").discretise(2)
    I_p = steel.rho * (0.03 * 0.05**3 / 12 + 0.05 * 0.03**3 / 12) * LENGTH
    assert body.inertia.J0[0, 0] == pytest.approx(I_p)
    free = ph.modes(body.linear())
    pinned = ph.modes(beam(theory="rayleigh", frame="pinned").discretise(2).linear())
    np.testing.assert_allclose(free.omega, pinned.omega, rtol=1e-9)


def test_a_slender_cantilever_bends_freely_with_two_elements():
    """The axial force in its element mean does not lock: a tip load bends as beam theory says, the tip moves inward."""
    slender = ph.Beam(1.0, ph.Rectangle(0.01, 0.002), steel).discretise(2).in_plane()
    el = slender.elastic
    load = slender.ports["C"].Phi[1] * 0.2
    eta = np.zeros(slender.coordinates)
    C_inverse, Q = el.C_inverse.toarray(), el.Q
    for _ in range(40):
        B = el.gradient(eta)
        sigma = el.stress(eta)
        tangent = B.T @ C_inverse @ B
        np.add.at(tangent, (Q.row, Q.column), Q.value * sigma[Q.strain])
        step = np.linalg.solve(tangent, load - B.T @ sigma)
        eta = eta + step
    assert np.abs(step).max() < 1e-12
    EI = steel.E * 0.01 * 0.002**3 / 12
    tip = slender.ports["C"].Phi @ eta
    assert tip[1] == pytest.approx(0.2 / (3 * EI), rel=1e-3)  # 48 mm, 24 thicknesses
    assert tip[0] == pytest.approx(-0.6 * tip[1] ** 2, rel=0.02)  # −½∫w'² = −3δ²/5L of the cubic
