"""Inputs over many steps at once are those of the steps one by one, bit for bit."""

from itertools import pairwise

import numpy as np
import pytest
from messages import raises

import phloat as ph
from phloat.motion.inputs.drives import Coordinate, Frame, Swivel
from phloat.motion.inputs.inputs import Inputs

TIMES = [
    np.linspace(-1.0, 4.0, 501),
    np.sort(np.random.default_rng(0).uniform(-1.0, 4.0, 60)),
    np.array([0.0, 0.2]),
    np.array([1.5, 0.5]),  # a step of order 4 goes back
]
VALUES = {
    "number": 3.0,
    "function": lambda t: np.sin(3.0 * t),
    "whole numbers": lambda t: int(t),
    "corners": ph.piecewise({0.0: 0.0, 0.2: 200.0, 1.0: 200.0, 1.2: 0.0}),
    "one corner": ph.piecewise({1.0: 7.0}),
    "table": (np.array([-2.0, 0.3, 5.0]), np.array([1.0, -2.0, 0.5])),
}


def pendulum():
    arm = ph.RigidBody(1.0, np.eye(3), center=(1.0, 0.0, 0.0)).discretise()
    joints = [ph.Revolute("ground", "arm.P", name="hinge"), ph.Torque("arm.P", about=(0, 0, 1), name="torque")]
    return ph.connect({"arm": arm}, joints)


@pytest.mark.parametrize("times", TIMES, ids=["even", "uneven", "one step", "back"])
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_means_of_a_chunk_are_those_of_its_steps(value, times):
    signal = Inputs(pendulum(), {"torque": value}).signals["torque"]
    np.testing.assert_array_equal(signal.means(times), [signal.mean(a, b) for a, b in pairwise(times)])


@pytest.mark.parametrize("times", TIMES, ids=["even", "uneven", "one step", "back"])
@pytest.mark.parametrize("value", [None, 3.0, lambda t: np.cos(t)])
def test_drives_over_a_chunk_move_as_step_by_step(value, times):
    signals = {} if value is None else {"torque": Inputs(pendulum(), {"torque": value}).signals["torque"]}
    start = np.concatenate([np.zeros(3), np.eye(3).ravel()])
    for drive in (
        Coordinate("torque", 0, np.array([0.3])),
        Frame("torque", start, np.eye(3), 1, 0),
        Swivel("torque", np.eye(3), (2,)),
    ):
        at, one_by_one = drive.start, []
        for step in pairwise(times):
            at = drive.positions(at, signals, np.array(step))[0]
            one_by_one.append(at)
        np.testing.assert_array_equal(drive.positions(drive.start, signals, times), one_by_one)


def test_a_function_that_fails_in_the_middle_of_a_chunk_is_named_with_the_time():
    system = pendulum()
    state = ph.place(system)
    with raises(ph.errors.InputError, "'torque'", "0.05"):
        ph.simulate(system, state, 0.1, dt=1e-3, u={"torque": lambda t: np.nan if t > 0.05 else 1.0})
    with raises(ph.errors.InputError, "'torque'", "0.05"):
        ph.simulate(system, state, 0.1, dt=1e-3, u={"torque": lambda t: [1.0, 2.0] if t > 0.05 else 1.0})
    with raises(ph.errors.InputError, "'torque'", "0.051 s"):
        ph.simulate(system, state, 0.1, dt=1e-3, u={"torque": ([0.0, 0.05], [1.0, 1.0])})
