"""Velocities of points, rates of joints and efforts along their axes, against positions, outputs and the ledger of the same run."""

from dataclasses import replace

import numpy as np
import pytest
from motion_zoo import CASES, ON_MESHES, SLAVED, pair, random_motion

import phloat as ph
from phloat.motion.initial.velocities import displaced_state, velocity_indices
from phloat.motion.run.outputs import Outputs

STEP = 1e-4
EVERY = [*CASES, *ON_MESHES, *SLAVED[:2]]


def places(state: ph.State):
    """Every kind of place that the bodies have: P, ports, cross-sections, material points."""
    for name, body in state.bodies.items():
        yield (name, {})
        yield from ((f"{name}.{port}", {}) for port in body.ports)
        if isinstance(body.recipe, ph.Beam):
            yield (name, {"s": 0.4})
        if body.coordinates:
            yield (name, {"at": body.shape.stress_points()[1]})


@pytest.mark.parametrize(("joint", "kind", "plane"), EVERY)
def test_velocities_of_points_are_the_derivatives_of_their_positions(joint, kind, plane):
    system = pair(joint, kind, plane)
    state = random_motion(system, 3)
    w = state.e[velocity_indices(system)]
    before, after = (displaced_state(system, state, side * STEP * w) for side in (-1, 1))
    for name, place in places(state):
        slope = (after.position(name, **place) - before.position(name, **place)) / (2 * STEP)
        np.testing.assert_allclose(state.velocity(name, **place), slope, atol=1e-6 * np.abs(w).max(), rtol=0)


@pytest.mark.parametrize(("joint", "kind", "plane"), [("revolute", "beam", "xy"), ("spherical", "plate", None)])
def test_a_result_has_the_motion_of_its_states_under_all_names(joint, kind, plane):
    system = pair(joint, kind, plane)
    result = ph.simulate(system, random_motion(system, 3), 0.02, dt=2e-3)
    for name, place in places(result.state()):
        for motion in ("position", "velocity"):
            expected = [getattr(result.state(k), motion)(name, **place) for k in range(len(result))]
            np.testing.assert_allclose(getattr(result, motion)(name, **place), expected, atol=1e-13)
            if not place:
                np.testing.assert_array_equal(result[f"{name}.{motion}"], getattr(result, motion)(name))
    np.testing.assert_array_equal(result["a.position"], result["a.r_P"])


@pytest.mark.parametrize(("joint", "kind", "plane"), [case for case in CASES if case[0] != "weld"])
def test_rates_of_joints_are_the_outputs_of_their_ports(joint, kind, plane):
    system = pair(joint, kind, plane)
    result = ph.simulate(system, random_motion(system, 3), 0.02, dt=2e-3)
    c = system.joints["j"]
    names = [f"j.{row.label}_rate" for row in c.free if row.coordinate] or ["j.omega"]
    expected = np.array([np.atleast_1d(Outputs(system, result.state(k))["j"]) for k in range(len(result))])
    np.testing.assert_allclose(np.column_stack([result[name] for name in names]), expected, atol=1e-12)
    if len(c.free) == 1:
        np.testing.assert_array_equal(result["j.rate"], expected[:, 0])
    assert all(result[name].shape[0] == len(result) for name in result.names)


def motor(*more, plane="xy", joint=ph.Revolute):
    link = ph.Beam(0.5, ph.Rectangle(0.02, 0.01), ph.Material(E=2e9, rho=1200.0, nu=0.3)).discretise(2)
    joints = [joint("ground", "a.P", name="motor"), *more]
    return ph.connect({"a": link}, joints, plane=plane, gravity=(0, -9.81, 0))


PARTS = (ph.JointSpring("motor", stiffness=2.0, name="spring"), ph.JointDamper("motor", damping=0.05, name="damper"))


def test_torque_times_rate_is_what_the_ledger_books_at_the_axis():
    """∫ torque · rate = supplied − stored in the spring − dissipated, to second order in the step."""
    system, misses = motor(*PARTS), []
    for dt in (4e-3, 2e-3, 1e-3):
        result = ph.simulate(system, ph.place(system), 1.0, dt=dt, u={"motor": lambda t: 3.0 * np.sin(6 * t)})
        x = ph.energy_ledger(result)
        booked = x.supplied["motor"] - (x.stored["spring"] - x.stored["spring"][0]) - x.dissipated["damper"]
        power = result["motor.torque"] * result["motor.rate"]
        misses.append(abs(np.trapezoid(power, result.t) - booked[-1]))
        parts = result["motor.effort"] + result["spring.effort"] + result["damper.effort"]
        np.testing.assert_array_equal(result["motor.torque"], parts)
    assert misses[2] < 2e-4 * np.abs(booked).max()
    assert 3.3 < misses[0] / misses[1] < 4.8
    assert 3.3 < misses[1] / misses[2] < 4.8


@pytest.mark.parametrize("scheme", [ph.Midpoint(), ph.GeneralisedAlpha(), ph.RadauIIA(rtol=1e-6)], ids=repr)
def test_efforts_are_those_of_the_laws_and_inputs(scheme):
    system = motor(*PARTS, ph.Force("a.C", along=(0, 1, 0), name="push"))
    u = {"motor": lambda t: 1.0 + t, "push": 0.2, "a.C": (0.1, 0.2, 0.03)}
    result = ph.simulate(system, ph.settle(system, ph.place(system), u=u), 0.2, dt=1e-3, scheme=scheme, u=u)
    within = slice(1, -1)  # at the ends means are of one step only
    assert np.abs(result["motor.effort"] - 1.0 - result.t)[within].max() < 1e-6
    assert np.abs(result["spring.effort"] + 2.0 * result["motor.angle"])[within].max() < 2e-4
    assert np.abs(result["damper.effort"] + 0.05 * result["motor.rate"])[within].max() < 2e-3
    np.testing.assert_allclose(result["push.effort"], 0.2)
    np.testing.assert_allclose(result["a.C.effort"], [(0.1, 0.2, 0.03)] * len(result))
    assert not result["a.P.effort"].any()


def test_the_torque_of_a_driven_or_locked_axis_is_its_multiplier_with_what_acts_beside_it():
    driven = ph.drive(motor(*PARTS), "motor")
    result = ph.simulate(driven, ph.place(driven), 0.1, dt=1e-3, u={"motor": ph.prescribed_position(lambda t: t**3)})
    beside = result["spring.effort"] + result["damper.effort"]
    np.testing.assert_allclose(result["motor.torque"], result["motor.lam"][:, -1] + beside, rtol=1e-12)
    locked = ph.lock(motor(), "motor")
    result = ph.simulate(locked, ph.equilibrium(locked, ph.place(locked)), 0.1, dt=1e-3)
    weight = 9.81 * locked.bodies["a"].inertia.m
    np.testing.assert_allclose(result["motor.torque"], 0.25 * weight, rtol=1e-3)  # the sag brings the weight nearer


def test_several_axes_have_names_of_their_own():
    system = motor(ph.JointSpring("motor", stiffness=50.0, axis="slide", name="soft"), plane=None, joint=ph.Cylindrical)
    result = ph.simulate(system, ph.place(system), 0.05, dt=1e-3, u={"motor": (0.2, 0.0)})
    np.testing.assert_allclose(result["motor.torque"], 0.2)
    np.testing.assert_array_equal(result["motor.force"], result["soft.effort"])
    ball = motor(plane=None, joint=ph.Spherical)
    result = ph.simulate(ball, ph.place(ball), 0.05, dt=1e-3, u={"motor": (0.1, 0.2, 0.3)})
    np.testing.assert_allclose(result["motor.torque"], [(0.1, 0.2, 0.3)] * len(result))
    assert result["motor.omega"].shape == (len(result), 3)


def test_names_of_nested_systems_have_their_prefix():
    whole = ph.connect({"stage": motor(*PARTS)}, gravity=(0, -9.81, 0), plane="xy")
    result = ph.simulate(whole, ph.place(whole), 0.05, dt=1e-3, u={"stage.motor": 0.5})
    spring, damper = result["stage.spring.effort"], result["stage.damper.effort"]
    np.testing.assert_allclose(result["stage.motor.torque"], 0.5 + spring + damper)


def test_a_window_is_a_run_of_its_own(tmp_path):
    system = motor(*PARTS)
    tick = ph.Event(lambda t, y: t - 0.3, do=lambda t, state: None, name="tick")
    whole = ph.simulate(system, ph.place(system), 1.0, dt=1e-3, u={"motor": 0.1}, events=[tick])
    late = whole.window(0.4, 0.9)
    assert (late.t[0], late.t[-1], len(late)) == (0.4, 0.9, 501)
    assert [event.name for event in whole.window(0.2).events] == ["tick"]
    assert late.events == late.info["events"] == ()
    for name in whole.names:
        if "acceleration" not in name:  # at the ends of a window it is extrapolated
            np.testing.assert_array_equal(late[name], whole[name][400:901])
    assert ph.energy_ledger(late).relative < 1e-12
    assert late.position("a.C")[:, 1].max() == whole.position("a.C")[400:901, 1].max()
    ph.io.save_result(late, tmp_path / "late")
    again = ph.io.load_result(tmp_path / "late")
    np.testing.assert_array_equal(again["motor.torque"], late["motor.torque"])
    assert "late" in ph.to_html(late, tmp_path / "late.html").name


def test_a_window_keeps_the_turns_before_it():
    wheel = ph.RigidBody(1.0, np.eye(3)).discretise()
    system = ph.connect({"w": wheel}, [ph.Revolute("ground", "w.P", name="hub")])
    start = ph.set_moving(system, ph.place(system), {"hub.angle_rate": 10.0})
    whole = ph.simulate(system, start, 2.0, dt=0.01)
    np.testing.assert_array_equal(whole.window(1.5)["hub.angle"], whole["hub.angle"][150:])
    assert abs(whole.window(1.5)["hub.angle"][0] - 15.0) < 0.02


def test_a_window_of_a_linear_run_has_its_balance():
    system = motor(*PARTS)
    plant = ph.linearise(system, ph.equilibrium(system, ph.place(system)))
    whole = ph.simulate(plant, None, 1.0, dt=1e-3, u={"motor": 0.1})
    late = whole.window(0.4, 0.9)
    np.testing.assert_array_equal(late["a.omega"], whole["a.omega"][400:901])
    assert np.abs(late.residual).max() < 1e-12 * whole.energy.max()


def test_a_run_without_accounts_of_efforts_says_so():
    result = ph.simulate(motor(), ph.place(motor()), 0.01, dt=1e-3)
    with pytest.raises(ph.errors.InputError, match="efforts"):
        replace(result, efforts=None)["motor.torque"]
