"""A run goes on from where another ended, though velocities at the nodes miss the joints by O(h²)."""

import numpy as np
import pytest
from messages import raises

import phloat as ph

STRIP = ph.Beam(0.5, ph.Rectangle(0.02, 0.005), ph.Material(E=7e10, rho=2700.0, nu=0.3))


def arm() -> ph.System:
    link = STRIP.discretise(2)
    joints = [ph.Revolute("ground", "upper.P", name="shoulder"), ph.Revolute("upper.C", "lower.P", name="elbow")]
    return ph.connect({"upper": link, "lower": link}, joints, gravity=(0.0, -9.81, 0.0), plane="xy")


def test_a_run_goes_on_from_its_own_last_state():
    system = arm()
    start = ph.set_moving(system, ph.place(system, {"elbow.angle": 0.4}), {"upper.omega": 4.0})
    whole = ph.simulate(system, start, 0.4, dt=1e-3)
    first = ph.simulate(system, start, 0.2, dt=1e-3)
    second = ph.simulate(system, first.state(), 0.4, dt=1e-3, t_start=0.2)
    np.testing.assert_allclose(second.position("lower", s=1.0)[-1], whole.position("lower", s=1.0)[-1], atol=1e-4)
    assert second.energy[0] == pytest.approx(first.energy[-1], rel=1e-6)


def test_velocities_that_really_miss_a_joint_are_refused():
    system = arm()
    moving = ph.place(system).with_values({"upper.v_P": (0.3, 0.0), "upper.omega": 1.0})
    with raises(ph.errors.JointError, "'shoulder'", "0.3"):
        ph.simulate(system, moving, 0.1, dt=1e-3)
