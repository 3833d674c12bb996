"""Half a turn away the rows of a joint vanish too: a guess there must not be taken for closed."""

import numpy as np
import pytest
from messages import raises

import phloat as ph

LINK = ph.Beam(1.0, ph.Circle(0.01), ph.Material(E=7e10, rho=2700.0)).discretise(1)
HALF = {
    "x": np.diag([1.0, -1.0, -1.0]),
    "y": np.diag([-1.0, 1.0, -1.0]),
    "z": np.diag([-1.0, -1.0, 1.0]),
}


def one(joint, plane=None):
    return ph.connect({"rod": LINK}, joints=[joint], plane=plane)


@pytest.mark.parametrize("about", HALF)
@pytest.mark.parametrize(
    "joint", [ph.Weld("ground", "rod.P"), ph.Prismatic("ground", "rod.P", axis=(1, 0, 0))], ids=repr
)
def test_a_guess_half_a_turn_away_ends_at_the_orientation_of_the_joint(joint, about):
    state = ph.place(one(joint), near={"rod.A_IB": HALF[about], "rod.r_P": (1.0, 2.0, 3.0)})
    assert state["rod.A_IB"] == pytest.approx(np.eye(3), abs=1e-9)


@pytest.mark.parametrize("turned", [0.0, 1.0, np.pi])
def test_a_turned_weld_is_found_from_half_a_turn_away(turned):
    system = one(ph.Weld("ground", "rod.P", turned=(0, 0, turned)))
    c, s = np.cos(turned), np.sin(turned)
    wanted = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    state = ph.place(system, near={"rod.A_IB": wanted @ HALF["z"]})
    assert state["rod.A_IB"] == pytest.approx(wanted, abs=1e-9)


def test_a_planar_weld_is_found_from_half_a_turn_away():
    state = ph.place(one(ph.Weld("ground", "rod.P"), "xy"), near={"rod.theta": np.pi})
    assert np.cos(state["rod.theta"]) == pytest.approx(1.0)


@pytest.mark.parametrize("about", ["x", "y"])
def test_the_axis_of_a_revolute_does_not_end_upside_down(about):
    state = ph.place(one(ph.Revolute("ground", "rod.P")), near={"rod.A_IB": HALF[about]})
    assert state["rod.A_IB"][2, 2] == pytest.approx(1.0)


@pytest.mark.parametrize("about", HALF)
def test_a_body_held_half_a_turn_away_is_told_so(about):
    with raises(ph.errors.ClosureError, "'root'", "rod.A_IB"):
        ph.place(one(ph.Weld("ground", "rod.P", name="root")), {"rod.A_IB": HALF[about]})


def test_a_planar_body_held_half_a_turn_away_is_told_so():
    with raises(ph.errors.ClosureError, "'root'", "rod.theta"):
        ph.place(one(ph.Weld("ground", "rod.P", name="root"), "xy"), {"rod.theta": np.pi})


def test_two_welds_half_a_turn_apart_are_told_so():
    joints = [ph.Weld("ground", "rod.P", name="one"), ph.Weld("ground", "rod.P", turned=(0, 0, np.pi), name="two")]
    with raises(ph.errors.ClosureError, golden=False):
        ph.place(ph.connect({"rod": LINK}, joints=joints))


@pytest.mark.parametrize(
    "joint", [ph.Weld("ground", "rod.P", name="root"), ph.Revolute("ground", "rod.P", name="root")]
)
def test_a_state_half_a_turn_away_is_not_closed_for_linearise(joint):
    floating = ph.place(ph.connect({"rod": LINK}), {"rod.A_IB": HALF["x"]})
    with raises(ph.errors.InputError, "'root'"):
        ph.linearise(one(joint), floating)


def test_a_planar_state_half_a_turn_away_is_not_closed_for_linearise():
    floating = ph.place(ph.connect({"rod": LINK}, plane="xy"), {"rod.theta": np.pi})
    with raises(ph.errors.InputError, "'root'"):
        ph.linearise(one(ph.Weld("ground", "rod.P", name="root"), "xy"), floating)
