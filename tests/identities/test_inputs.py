"""Inputs over time: values, means and rates."""

import numpy as np
import pytest

import phloat as ph
from phloat.motion.inputs.inputs import Inputs

BODY = ph.RigidBody(2.0, np.eye(3), ports={"tip": (1.0, 0, 0)}).discretise()
ARM = ph.connect(
    {"a": BODY, "b": BODY},
    joints=[ph.Revolute("ground", "a.P", name="motor"), ph.Revolute("a.tip", "b.P", name="elbow")],
    plane="xy",
)
DRIVEN = ph.drive(ARM, "motor")
HAND = ph.connect({"a": BODY}, joints=[ph.Drive("ground", "a.P", of="pose", name="hand")])
FORMS = {
    "constant": 3.0,
    "piecewise": ph.piecewise({0.0: 1.0, 0.5: 4.0, 1.0: -2.0}),
    "table": ([0.0, 0.25, 2.0], [1.0, 3.0, -4.0]),
    "function": lambda t: np.sin(3 * t),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_mean_is_the_integral_over_the_interval(form):
    u = Inputs(ARM, {"elbow": FORMS[form]})
    t = np.linspace(0.1, 1.3, 40001)
    values = np.array([u.at(x)[ARM.ports["elbow"]][0] for x in t])
    assert u.mean(0.1, 1.3)[ARM.ports["elbow"]][0] == pytest.approx(
        np.trapezoid(values, t) / 1.2, rel=2e-3 if form == "function" else 1e-7
    )


def test_the_mean_of_corners_is_exact_far_from_zero():
    ramp = ph.piecewise({1e6: 0.0, 1e6 + 1: 1.0})
    assert ramp.mean(1e6, 1e6 + 0.5) == 0.25
    assert ramp.mean(1e6 - 1, 1e6 + 2) == 0.5
    assert ramp.mean(1e6 + 0.25, 1e6 + 0.25) == 0.25


def test_corners_may_be_vectors_in_any_order():
    path = ph.piecewise({1.0: (1.0, 2.0), 0.0: (0.0, 0.0)})
    np.testing.assert_allclose(path(0.5), [0.5, 1.0])
    np.testing.assert_allclose(path(-1.0), 0)
    np.testing.assert_allclose(path(7.0), [1, 2])
    np.testing.assert_allclose(path.mean(0.5, 1.5), [0.875, 1.75])


def test_three_gauss_points_are_exact_for_quintics():
    u = Inputs(ARM, {"elbow": lambda t: t**5})
    assert u.mean(0.0, 2.0)[ARM.ports["elbow"]][0] == pytest.approx(2**6 / 6 / 2, rel=1e-14)


@pytest.mark.parametrize("t", [0.0, 1e-4, 0.37, 11.0])
def test_rates_of_functions_are_good_to_nine_digits(t):
    u = Inputs(ARM, {"elbow": lambda t: np.cos(150 * t + 0.3)})
    assert u.rate(t)[ARM.ports["elbow"]][0] == pytest.approx(-150 * np.sin(150 * t + 0.3), rel=1e-9, abs=1e-7)


def test_rates_of_lines_are_their_slopes_from_a_corner_on():
    u = Inputs(ARM, {"elbow": FORMS["piecewise"], "motor": FORMS["table"]})
    at = {t: u.rate(t)[ARM.ports.indices(["elbow", "motor"])] for t in (0.0, 0.25, 0.7, 1.5)}
    np.testing.assert_allclose(at[0.0], [6, 8])
    np.testing.assert_allclose(at[0.25], [6, -4])
    np.testing.assert_allclose(at[0.7], [-12, -4])
    np.testing.assert_allclose(at[1.5], [0, -4])


def test_a_function_of_time_is_not_asked_before_zero():
    u = Inputs(DRIVEN, {"motor": ph.prescribed_position(lambda t: 0.5 * np.sqrt(t) ** 4)})
    assert u.at(0.0)[DRIVEN.ports["motor"]][0] == pytest.approx(0.0, abs=1e-10)
    assert u.rate(0.0)[DRIVEN.ports["motor"]][0] == pytest.approx(1.0, rel=1e-6)


def test_positions_count_as_velocities():
    u = Inputs(DRIVEN, {"motor": ph.prescribed_position(lambda t: np.sin(2 * t))})
    assert list(u.paths) == ["motor"]
    where = DRIVEN.ports["motor"]
    assert u.at(0.4)[where][0] == pytest.approx(2 * np.cos(0.8), rel=1e-10)
    assert u.mean(0.1, 0.7)[where][0] == pytest.approx((np.sin(1.4) - np.sin(0.2)) / 0.6, rel=1e-14)
    assert u.rate(0.4)[where][0] == pytest.approx(-4 * np.sin(0.8), rel=1e-7)
    assert u.paths["motor"].position_at(0.4)[0] == np.sin(0.8)


def test_a_pose_in_space_gives_its_twist():
    def pose(t):
        c, s = np.cos(3 * t), np.sin(3 * t)
        return (t, t**2, 0.0), np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])

    u = Inputs(HAND, {"hand": ph.prescribed_position(pose)})
    where = HAND.ports["hand"]
    np.testing.assert_allclose(u.at(0.5)[where], [1, 1, 0, 0, 0, 3], atol=1e-9)
    np.testing.assert_allclose(u.mean(0.0, 1.0)[where], [1, 1, 0, 0, 0, 3], atol=1e-9)
    np.testing.assert_allclose(u.rate(0.5)[where], [0, 2, 0, 0, 0, 0], atol=1e-6)


def test_ports_that_are_not_given_are_zero():
    u = Inputs(ARM, {"b.tip": (1.0, 2.0, 3.0)})
    assert u.at(0.0).sum() == 6.0
    assert not Inputs(ARM).at(3.0).any()
