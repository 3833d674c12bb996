"""Joints that prescribe one motion in two ways are an error with their names."""

import numpy as np
import pytest
from messages import raises

import phloat as ph

LINK = ph.Beam(1.0, ph.Circle(0.01), ph.Material(E=7e10, rho=2700.0)).discretise(2)
BAR = ph.RigidBody(1.0, np.eye(3), ports={"tip": (1.0, 0.0, 0.0)}).discretise()


def linear(system):
    return ph.linearise(system, ph.place(system))


@pytest.mark.parametrize("plane", [None, "xy"])
@pytest.mark.parametrize(
    "other",
    [
        ph.Drive("ground", "rod.P", name="two"),
        ph.Drive("ground", "rod.P", of="pose", name="two"),
        ph.Revolute("ground", "rod.P", name="two"),
        ph.Weld("ground", "rod.P", name="two"),
    ],
    ids=lambda joint: type(joint).__name__ + getattr(joint, "of", ""),
)
def test_a_point_that_is_driven_is_not_held_or_driven_again(other, plane):
    system = ph.connect({"rod": LINK}, joints=[ph.Drive("ground", "rod.P", name="one"), other], plane=plane)
    with raises(ph.errors.JointError, "'one'", "'two'"):
        linear(system)


def test_two_drives_a_rigid_distance_apart_contradict_each_other():
    joints = [ph.Drive("ground", "bar.P", name="one"), ph.Drive("ground", "bar.tip", name="two")]
    with raises(ph.errors.JointError, "'one'", "'two'"):
        linear(ph.connect({"bar": BAR}, joints=joints, plane="xy"))


@pytest.mark.parametrize("close", [lambda s: ph.drive(s, "one", "two"), lambda s: ph.drive(ph.lock(s, "one"), "two")])
def test_one_axis_is_not_driven_twice(close):
    joints = [ph.Revolute("ground", "rod.P", name="one"), ph.Revolute("ground", "rod.P", name="two")]
    with raises(ph.errors.JointError, "'one'", "'two'"):
        linear(close(ph.connect({"rod": LINK}, joints=joints, plane="xy")))


def test_a_bystander_is_not_accused():
    joints = [
        ph.Drive("ground", "rod.P", name="one"),
        ph.Revolute("rod.C", "bar.P", name="bystander"),
        ph.Drive("ground", "rod.P", name="two"),
    ]
    with raises(ph.errors.JointError, "'one'", "'two'"):
        linear(ph.connect({"rod": LINK, "bar": BAR}, joints=joints, plane="xy"))


def test_a_flexible_body_may_be_driven_at_both_ends():
    joints = [ph.Drive("ground", "rod.P", name="one"), ph.Drive("ground", "rod.C", name="two")]
    assert linear(ph.connect({"rod": LINK}, joints=joints, plane="xy")).multipliers.size == 4
