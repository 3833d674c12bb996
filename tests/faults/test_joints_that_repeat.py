"""Joints that repeat each other are named once, and the motion is that of the mechanism without the repetition."""

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from messages import warns

import phloat as ph
from phloat.joints.pairs import Joint, Weld
from phloat.joints.rows import Row

LINK = ph.Beam(1.0, ph.Circle(0.01), ph.Material(E=7e10, rho=2700.0)).discretise(2)
ANTENNA = ph.Beam(0.4, ph.Rectangle(0.02, 0.005), ph.Material(E=7e10, rho=2700.0)).discretise(3)
TOLERANCE = 1e-9


def linear(system, state=None):
    return ph.linearise(system, ph.place(system) if state is None else state)


def redundantly(system, state, names, rows):
    """The linear system, after the one warning with these names and this number of rows."""
    with warns(ph.errors.RedundancyWarning, names, f"{rows} rows") as said:
        plant = linear(system, state)
    assert len(said) == 1
    return plant


@pytest.mark.parametrize(("plane", "rows"), [("xy", 2), (None, 5)])
def test_one_revolute_twice_is_one_revolute(plane, rows):
    pin, copy = ph.Revolute("ground", "rod.P", name="pin"), ph.Revolute("ground", "rod.P", name="copy")
    single = ph.connect({"rod": LINK}, joints=[pin], plane=plane)
    double = ph.connect({"rod": LINK}, joints=[pin, copy], plane=plane)
    plant = redundantly(double, ph.place(double), "'copy', 'pin'", rows)
    expected, found = ph.modes(linear(single)), ph.modes(plant)
    assert found.rigid == expected.rigid == 1
    np.testing.assert_allclose(found.elastic, expected.elastic, rtol=TOLERANCE)


def test_a_revolute_between_two_bodies_repeated_the_other_way_round_is_one_revolute():
    root, knee = ph.Revolute("ground", "a.P", name="root"), ph.Revolute("a.C", "b.P", name="knee")
    bodies = {"a": LINK, "b": LINK}
    single = ph.connect(bodies, joints=[root, knee], plane="xy")
    double = ph.connect(bodies, joints=[root, knee, ph.Revolute("b.P", "a.C", name="eenk")], plane="xy")
    plant = redundantly(double, ph.place(double), "'eenk', 'knee'", 2)
    np.testing.assert_allclose(ph.modes(plant).omega, ph.modes(linear(single)).omega, rtol=TOLERANCE, atol=1e-6)


def test_two_clamps_of_a_rigid_body_are_one():
    bar = ph.RigidBody(1.0, np.eye(3), ports={"tip": (1.0, 0.0, 0.0)}).discretise()
    joints = [ph.Weld("ground", "bar.P", name="one"), ph.Weld("ground", "bar.tip", at=(1.0, 0, 0), name="two")]
    system = ph.connect({"bar": bar}, joints=joints)
    assert len(ph.modes(redundantly(system, ph.place(system), "'one', 'two'", 6))) == 0


@dataclass(frozen=True)
class Twice(Joint):
    """A weld whose last row is the sum of two others: dependent rows without a loop."""

    closed: ClassVar[tuple[Row, ...]] = (*Weld.closed[:3], Row("sum", Weld.closed[0].terms + Weld.closed[1].terms))


def test_rows_of_one_joint_that_follow_from_each_other_are_found_where_nothing_closes_a_loop():
    root = ph.Revolute("ground", "a.P", name="root")
    system = ph.connect({"a": LINK, "b": LINK}, joints=[root, Twice("a.C", "b.P", name="twice")])
    with pytest.warns(ph.errors.RedundancyWarning, match="'twice'"):
        ph.simulate(system, ph.place(system), 2e-3, dt=1e-3)


# --- a planar four-bar of rigid links in space -----------------------------------------------------------------------


def rigid_link(length):
    return ph.RigidBody(length, 0.1 * length**2 * np.eye(3), (length / 2, 0, 0), {"C": (length, 0, 0)}).discretise()


def four_bar(plane, last):
    """Rigid links that carry an elastic antenna; `last` closes the loop."""
    bodies = {"crank": rigid_link(0.3), "coupler": rigid_link(1.0), "follower": rigid_link(0.8), "antenna": ANTENNA}
    joints = [
        ph.Revolute("ground", "crank.P", name="motor"),
        ph.Revolute("crank.C", "coupler.P", name="A"),
        ph.Revolute("coupler.C", "follower.P", name="B"),
        ph.Weld("coupler.C", "antenna.P", turned=(0, 0, 1.0), name="foot"),
        last,
    ]
    return ph.connect(bodies, joints=joints, plane=plane)


def turned(theta):
    c, s = np.cos(theta), np.sin(theta)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


PIVOT = ph.Revolute("follower.C", "ground", at=(0.9, 0, 0), name="D")
FLAT = ph.place(four_bar("xy", PIVOT), {"crank.theta": 0.5}, near={"coupler.theta": 0.9, "follower.theta": -1.6})
NEAR = {f"{name}.A_IB": turned(float(FLAT[f"{name}.theta"])) for name in ("coupler", "follower")}


def in_space(last):
    system = four_bar(None, last)
    return system, ph.place(system, {"crank.A_IB": turned(0.5)}, near=NEAR)


def test_a_planar_four_bar_in_space_repeats_three_rows_and_moves_like_one_that_repeats_none():
    system, state = in_space(PIVOT)
    found = ph.modes(redundantly(system, state, "'A', 'B', 'D', 'motor'", 3))
    exact, closed = in_space(ph.Slide("ground", "follower.C", at=(0.9, 0, 0), along=(0, 0, 1), name="D"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = ph.modes(linear(exact, closed))
    assert found.rigid == expected.rigid == 1
    np.testing.assert_allclose(found.elastic, expected.elastic, rtol=TOLERANCE)


def test_a_planar_four_bar_in_space_has_the_planar_frequencies_among_its_own():
    system, state = in_space(PIVOT)
    spatial = ph.modes(redundantly(system, state, "'A', 'B', 'D', 'motor'", 3)).elastic
    planar = ph.modes(linear(four_bar("xy", PIVOT), FLAT)).elastic
    nearest = np.abs(spatial[None] / planar[:, None] - 1).min(axis=1)
    assert nearest.max() < TOLERANCE


def test_a_repeated_system_can_be_eliminated_and_answers_alike():
    system, state = in_space(PIVOT)
    plant = redundantly(system, state, "'A', 'B', 'D', 'motor'", 3).with_ports("motor")
    exact, closed = in_space(ph.Slide("ground", "follower.C", at=(0.9, 0, 0), along=(0, 0, 1), name="D"))
    omega = [1.0, 30.0, 400.0]
    expected = ph.response(linear(exact, closed), "motor", omega=omega).values
    np.testing.assert_allclose(ph.response(plant, "motor", omega=omega).values, expected, rtol=1e-8)
    np.testing.assert_allclose(ph.response(ph.eliminate(plant), "motor", omega=omega).values, expected, rtol=1e-8)


def test_flexible_links_repeat_nothing():
    joints = [ph.Weld("ground", "rod.P", name="one"), ph.Weld("ground", "rod.C", at=(1.0, 0, 0), name="two")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ph.modes(linear(ph.connect({"rod": LINK}, joints=joints))).rigid == 0


def test_the_warning_points_at_the_line_that_asked():
    pin, copy = ph.Revolute("ground", "rod.P", name="pin"), ph.Revolute("ground", "rod.P", name="copy")
    system = ph.connect({"rod": LINK}, joints=[pin, copy], plane="xy")
    with warns(ph.errors.RedundancyWarning) as said:
        ph.linearise(system, ph.place(system))
    assert said[0].filename == __file__
