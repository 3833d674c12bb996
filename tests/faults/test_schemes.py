"""Schemes that are asked for what they cannot do say so."""

import sys

import numpy as np
import pytest
from messages import raises

import phloat as ph


@pytest.fixture
def pendulum():
    body = ph.RigidBody(mass=1.0, inertia=np.diag([0.25] * 3), center=(0.5, 0, 0)).discretise()
    system = ph.connect(
        {"bob": body}, joints=[ph.Revolute("ground", "bob.P", name="hinge")], plane="xy", gravity=(0, -9.81, 0)
    )
    return system, ph.place(system, {})


@pytest.mark.parametrize("rho", [-0.1, 1.1, np.nan, "a"])
def test_a_spectral_radius_outside_0_and_1_is_refused(rho):
    with raises(ph.errors.InputError, "rho"):
        ph.GeneralisedAlpha(rho)


@pytest.mark.parametrize("scheme", [ph.RadauIIA, ph.IDA])
@pytest.mark.parametrize("wrong", [{"rtol": 0.0}, {"rtol": -1e-6}, {"rtol": np.nan}, {"atol": -1.0}, {"atol": np.inf}])
def test_tolerances_that_are_none_are_refused(scheme, wrong):
    with raises(ph.errors.InputError, *wrong):
        scheme(**wrong)


def test_tolerances_that_ida_does_not_take_are_refused():
    with raises(ph.errors.InputError, "rtol", "0.5"):
        ph.IDA(rtol=0.5)


def test_generalised_alpha_without_a_step_says_so(pendulum):
    with raises(ph.errors.InputError, "dt", "GeneralisedAlpha"):
        ph.simulate(*pendulum, 1.0, scheme=ph.GeneralisedAlpha())


def test_ida_without_its_package_names_the_extra(pendulum, monkeypatch):
    monkeypatch.setitem(sys.modules, "sksundae", None)
    with raises(ph.errors.InputError, "scikit-sundae"):
        ph.simulate(*pendulum, 1.0, scheme=ph.IDA())


@pytest.mark.parametrize("scheme", [ph.RadauIIA(), ph.IDA()])
def test_a_controller_without_a_sample_time_is_refused_where_steps_vary(pendulum, scheme):
    with raises(ph.errors.InputError, type(scheme).__name__):
        ph.simulate(*pendulum, 1.0, scheme=scheme, controller=lambda t, y: {"hinge": 0.0})


@pytest.mark.parametrize("scheme", [ph.RadauIIA(), ph.IDA()])
def test_a_controller_that_drives_a_joint_is_refused_where_joints_are_rates(pendulum, scheme):
    system, state = pendulum
    with raises(ph.errors.InputError, type(scheme).__name__, "'hinge'"):
        ph.simulate(
            ph.drive(system, "hinge"), state, 1.0, scheme=scheme, controller=lambda t, y: {"hinge": 0.0}, every=0.1
        )


@pytest.mark.parametrize("scheme", [ph.RadauIIA(), ph.IDA(), ph.GeneralisedAlpha()])
@pytest.mark.parametrize("answer", [3.0, {"elbow": 1.0}, {"hinge": np.nan}])
def test_wrong_answers_of_a_controller_are_named(pendulum, scheme, answer):
    with raises(ph.errors.InputError):
        ph.simulate(*pendulum, 1.0, dt=0.1, scheme=scheme, controller=lambda t, y: answer, every=0.1)


@pytest.mark.parametrize("scheme", [ph.RadauIIA(), ph.IDA(), ph.GeneralisedAlpha()])
def test_an_input_that_turns_into_nan_is_named_with_its_time(pendulum, scheme):
    with raises(ph.errors.InputError, "'hinge'"):
        ph.simulate(*pendulum, 1.0, dt=1e-2, scheme=scheme, u={"hinge": lambda t: 1.0 if t < 0.1 else np.nan})


SCHEMES = [ph.RadauIIA(), ph.IDA(), ph.GeneralisedAlpha()]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_run_that_cannot_go_on_holds_the_motion_up_to_there(scheme):
    """The tip of two bars of 1 m is pulled straight away from the ground, from 1.9 m at 1 m/s: at 0.1 s they are stretched."""
    bar = ph.RigidBody(mass=1.0, inertia=0.1 * np.eye(3), center=(0.5, 0, 0), ports={"C": (1.0, 0, 0)}).discretise()
    joints = [ph.Revolute("ground", "a.P"), ph.Revolute("a.C", "b.P"), ph.Drive("ground", "b.C", name="pull")]
    system, u = ph.connect({"a": bar, "b": bar}, joints=joints, plane="xy"), {"pull": (1.0, 0.0)}
    angle = float(np.arccos(0.95))
    state = ph.set_moving(system, ph.place(system, {"a.theta": angle}, near={"b.theta": -angle}), u=u)
    golden = not isinstance(scheme, ph.IDA)  # which says it in words of its own
    with raises(ph.errors.ConvergenceError, type(scheme).__name__, golden=golden) as caught:
        ph.simulate(system, state, 1.0, dt=1e-3, scheme=scheme, u=u)
    assert isinstance(caught.value.result, ph.Result)
    assert caught.value.result.t[-1] == pytest.approx(0.1, abs=2e-3)
