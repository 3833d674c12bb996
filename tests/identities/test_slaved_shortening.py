"""Slaved shortening in all that reads a body: slopes of inertial forces, fields and their rates, pictures, files, resumed runs."""

import numpy as np
import pytest
from bodies_zoo import beam, random_state, slaved
from motion_zoo import pair, random_motion

import phloat as ph
from phloat.bodies.inertia import Inertia
from phloat.motion.initial.stiffness import inertia_slopes
from phloat.view.scene import scene

RUBBER = ph.Material(E=2e6, rho=1000.0, nu=0.3)
BODY = slaved(beam(material=RUBBER).discretise(4))
SYSTEM = ph.connect({"b": BODY})


def derivative(f, size: int, h: float = 1e-2) -> np.ndarray:
    """∂f/∂x at zero by differences that are exact for polynomials of degree four."""
    steps = h * np.eye(size)
    return np.transpose([(8.0 * (f(s) - f(-s)) - f(2 * s) + f(-2 * s)) / (12.0 * h) for s in steps])


def inertial(I: Inertia, eta: np.ndarray, w: np.ndarray) -> np.ndarray:
    """What inertia does on (v_P, ω, η̇) besides −M ẇ: (p_t × ω, p_t × v_P + p_r × ω, ∂T/∂η) − Ṁ w."""
    p, slope = I.at(eta).M @ w, I.momentum_slope(eta, w)
    v, omega = w[:3], w[3:6]
    out = np.concatenate([np.cross(p[:3], omega), np.cross(p[:3], v) + np.cross(p[3:6], omega), 0.5 * w @ slope])
    return out - slope @ w[6:]


def test_slopes_of_inertial_forces_are_their_derivatives():
    pose = random_state(SYSTEM, 2).pose("b")._replace(rates=np.zeros(BODY.coordinates))
    w = np.concatenate([pose.v_P, pose.omega, pose.rates])
    by_w, by_eta, _ = inertia_slopes(BODY, pose)
    found = derivative(lambda step: inertial(BODY.inertia, pose.eta, w + step), len(w))
    np.testing.assert_allclose(by_w, found, rtol=0, atol=1e-10 * np.abs(found).max())
    found = derivative(lambda step: inertial(BODY.inertia, pose.eta + step, w), BODY.coordinates)
    np.testing.assert_allclose(by_eta[:, 6:], found, rtol=0, atol=1e-10 * np.abs(found).max())


def test_kinetic_energy_is_that_of_the_points_to_second_order():
    """M(η) against a fine mesh that carries the same displacement: the difference of the energies is of third order."""
    full = beam(material=RUBBER, frame="chord").discretise(4)
    V, V_2, rng = BODY.shape.V_v.toarray(), BODY.shape.V_2, np.random.default_rng(3)
    spin = np.array([0.2, -0.3, 0.4, 0.5, 0.6, -0.7])
    eta, rates, difference = 0.2 * rng.normal(size=BODY.coordinates), rng.normal(size=BODY.coordinates), []
    for part in (0.25, 0.125):
        q, v = part * eta, part * rates
        inside = V @ q + 0.5 * np.einsum("aij,i,j->a", V_2, q, q), V @ v + np.einsum("aij,i,j->a", V_2, q, v)
        w, w_full = np.concatenate([spin, v]), np.concatenate([spin, inside[1]])
        difference.append(0.5 * w @ BODY.inertia.at(q).M @ w - 0.5 * w_full @ full.inertia.at(inside[0]).M @ w_full)
    assert abs(difference[1]) < abs(difference[0]) / 7.0
    assert abs(difference[0]) < 0.1 and abs(difference[1]) < 2e-3


@pytest.mark.parametrize(("modes", "turned"), [(1, 1.0), (2, 0.9), (4, 0.6), (6, 0.5)])
@pytest.mark.parametrize("frame", ["cantilever", "pinned"])
def test_the_mass_matrix_is_definite_for_moderate_bending(modes, turned, frame):
    """In the frame of the root it would lose that at 0.06 rad with 2 modes, and without any bending at all with more."""
    full = beam(frame=frame).discretise(8).in_plane()
    body, rng = full.reduced(modes=modes, axial=0, shortening="slaved"), np.random.default_rng(0)
    Psi, there = body.shape.rotation(np.linspace(0.0, 1.0, 41)).toarray(), np.ix_(body.columns, body.columns)
    for k in range(20):
        shape = np.eye(modes)[k] if k < modes else rng.normal(size=modes) / np.sqrt(body.elastic.K.diagonal())
        M = body.inertia.at(turned * shape / np.abs(Psi @ shape).max()).M[there]
        assert np.linalg.eigvalsh(M)[0] > 0.0


def test_the_displacement_is_quadratic_and_its_rate_the_derivative():
    state = random_state(SYSTEM, 4)
    eta, rates, h = state["b.eta"], state["b.eta_dot"], 1e-4
    moved = [state.with_values({"b.eta": eta + k * h * rates}) for k in (-1, 1)]
    np.testing.assert_allclose(state["b.v_f"], (moved[1]["b.u_f"] - moved[0]["b.u_f"]) / (2 * h), rtol=1e-9, atol=1e-12)
    both = [state.with_values({"b.eta": k * eta}).displacement("b", 1.0) for k in (-1.0, 1.0)]
    assert both[0][0] + both[1][0] < -1e-3  # it shortens, whichever way it bends
    np.testing.assert_allclose((both[0] + both[1])[1:], 0.0, atol=1e-14)
    port = BODY.ports["C"].at(eta)
    np.testing.assert_allclose(state.displacement("b", 1.0), port.x + port.Phi @ eta - BODY.ports["C"].x, atol=1e-14)


def test_pictures_show_the_shortening():
    state = random_state(SYSTEM, 4)
    drawn, pose = scene(SYSTEM, state)["b"], state.pose("b")
    at, rate = drawn.at(pose)[drawn.ports["C"]], drawn.velocity(pose)[drawn.ports["C"]]
    np.testing.assert_allclose(at, state.position("b", 1.0), atol=1e-13)
    y, y_dot = (x[0] for x in BODY.ports["C"].motion(pose.eta[None], pose.rates[None]))
    np.testing.assert_allclose(rate, pose.v_P + np.cross(pose.omega, y) + y_dot, atol=1e-12)


@pytest.mark.parametrize("plane", [None, "xy"])
def test_a_saved_run_goes_on_bit_for_bit(plane, tmp_path):
    system = pair("revolute", "slaved beam", plane)
    state = random_motion(system, 5)
    whole = ph.simulate(system, state, 0.2, dt=4e-3)
    ph.simulate(system, state, 0.1, dt=4e-3, save=tmp_path / "run")
    opened = ph.io.load_result(tmp_path / "run", system)
    np.testing.assert_array_equal(opened.e, whole.e[: len(opened)])


def test_a_model_file_keeps_it(tmp_path):
    body = beam().discretise(4).reduced(modes=2, axial=1, torsion=0, shortening="slaved")
    system = ph.connect({"b": body}, [ph.Weld("ground", "b.P")])
    ph.io.save_model(system, tmp_path / "model.yaml")
    again = ph.io.load_model(tmp_path / "model.yaml").system
    np.testing.assert_array_equal(again.bodies["b"].shape.V_2, body.shape.V_2)


def test_pieces_of_a_split_beam_may_have_it():
    pieces = beam().split(2).discretise(4).reduced(modes=1, axial=0, torsion=1, shortening="slaved")
    assert {piece.inertia.second is not None for piece in pieces.pieces} == {True}
