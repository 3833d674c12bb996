"""Closed loops keep their structure, and controller and plant step as one."""

import numpy as np
import pytest
from control_zoo import ORIGIN, TARGET, arm, at, linear_arm, two_masses

import phloat as ph
from phloat.control.closed_loop import closed_loop, loop_ledger, loop_poles, passivity_certificate
from phloat.control.coupling import Wire
from phloat.control.feedback import lqg
from phloat.control.optimal import kalman, lqr, passive_observer
from phloat.control.passive import combine_controllers, damping_injection, passive_controller, passive_pid
from phloat.linear.reduction.modal import modal_basis
from phloat.linear.reduction.projection import project

JOINTS = ("shoulder", "elbow")


def controller(derivative: float = 0.01):
    shoulder = passive_pid(
        "shoulder", damping=0.2, stiffness=0.5, inertia=derivative, filter=0.05, target=0.5, origin=0.3
    )
    return combine_controllers(shoulder, passive_pid("elbow", damping=0.05, stiffness=0.2, target=0.3, origin=0.6))


def test_a_loop_of_passive_parts_is_passive_by_its_numbers():
    proof = passivity_certificate(closed_loop(linear_arm(), controller()))
    assert proof.passive and max(proof.defects.values()) < 1e-12
    assert proof.energy < 1e-12 and proof.dissipation < 1e-12 and proof.slowest < 0.0
    assert "passive" in str(proof)


def test_rows_without_energy_are_taken_out_of_a_loop():
    plant = linear_arm()
    loop = closed_loop(plant, damping_injection("shoulder", 0.7))
    assert loop.rows.size == plant.rows.size and tuple(loop.ports) == JOINTS
    B = plant.B[:, [0]]
    assert abs(loop.R - plant.R - 0.7 * (B @ B.T)).max() < 1e-15 * abs(loop.R).max()
    assert abs(loop.J - plant.J).max() < 1e-15 * abs(loop.J).max()


def test_wires_are_gyrators():
    plant, other = two_masses(1.0, 2.0, 30.0), two_masses(0.1, 0.3, 5.0, c=0.2).prefixed("other")
    loop = closed_loop(plant, passive_controller(other, Wire("other.push", "push", gain=1.7), name="c"))
    wanted = ph.gyrator(plant, "push", other.prefixed("c"), "c.other.push", C=[[1.7]])
    assert tuple(loop.rows) == tuple(wanted.rows) and loop.split == wanted.split
    assert abs(loop.J - wanted.J).max() < 1e-15
    assert tuple(loop.ports) == ("push",)


def test_a_linear_plant_and_its_controller_step_as_one():
    """The controller as rows of the loop, and the controller beside the plant in simulate."""
    plant, c = linear_arm(), controller()
    start = {"shoulder.control.spring": [0.5 * (0.3 - 0.5)], "elbow.control.spring": [0.2 * (0.6 - 0.3)]}
    together_ = ph.simulate(closed_loop(plant, pid_of(c, "shoulder"), pid_of(c, "elbow")), start, 0.5, dt=1e-2)
    beside = ph.simulate(plant, None, 0.5, dt=1e-2, controller=c)
    for port in JOINTS:
        assert np.abs(together_.y[port] - beside.y[port]).max() < 1e-9 * np.abs(beside.y[port]).max()
    assert np.abs(together_.residual).max() < 1e-12


def pid_of(c, port):
    """One of the two that `controller` puts together, as it was."""
    gains = {"shoulder": (0.2, 0.5, 0.01, 0.5, 0.3), "elbow": (0.05, 0.2, 0.0, 0.3, 0.6)}[port]
    assert port in c.ports
    k_p, k_i, k_d, target, origin = gains
    return passive_pid(port, damping=k_p, stiffness=k_i, inertia=k_d, filter=0.05, target=target, origin=origin)


@pytest.mark.parametrize("dt", [1e-2, 4e-2])
def test_the_energy_of_a_nonlinear_plant_and_its_controller_is_exact_at_any_step(dt):
    system, c = arm(), controller()
    result = ph.simulate(system, at(system, ORIGIN), 0.8, dt=dt, controller=c)
    ledger = loop_ledger(result, c)
    assert np.abs(ledger.residual).max() < 1e-12 * ledger.energy[0]
    assert ledger.surplus <= 1e-12 * ledger.energy[0]
    assert (np.diff(ledger.energy) < 1e-12 * ledger.energy[0]).all()
    assert ledger.lost[-1] > 0.5 * ledger.energy[0]
    assert np.abs(ledger.exchanged - (ledger.plant - ledger.plant[0] + sum(ledger.dissipated.values()))).max() < 1e-14


def test_what_a_push_supplies_bounds_the_energy_of_a_loop():
    body = ph.connect({"arm": arm()}, joints=[ph.Force("arm.lower.C", along=(0, 1, 0), name="push")], plane="xy")
    c = passive_pid("arm.shoulder", damping=0.2, stiffness=0.5, inertia=0.01, filter=0.05)
    result = ph.simulate(body, ph.place(body), 0.5, dt=1e-2, controller=c, u={"push": lambda t: 0.1 * np.sin(20 * t)})
    ledger = loop_ledger(result, c)
    assert list(ledger.supplied) == ["push"] and np.abs(ledger.supplied["push"]).max() > 1e-3
    assert np.abs(ledger.residual).max() < 1e-12 * np.abs(ledger.supplied["push"]).max()
    assert ledger.surplus <= 1e-14


def test_springs_and_dampers_of_a_system_are_the_same_controller():
    system, c = arm(), controller(derivative=0.0)
    start = at(system, ORIGIN)
    beside = ph.simulate(system, start, 0.3, dt=1e-2, controller=c)
    inside = ph.simulate(closed_loop(system, c), start, 0.3, dt=1e-2)
    for joint in JOINTS:
        assert np.abs(beside[f"{joint}.angle"] - inside[f"{joint}.angle"]).max() < 1e-11
    assert ph.energy_ledger(inside).relative < 1e-11


def test_a_controller_on_a_turning_joint_in_space_counts_its_turns():
    body = ph.RigidBody(mass=1.0, inertia=np.diag([0.2] * 3)).discretise()
    system = ph.connect({"wheel": body}, joints=[ph.Revolute("ground", "wheel.P", name="pin")])
    start = ph.set_moving(system, ph.place(system), {"wheel.omega": (0.0, 0.0, 30.0)})
    c = passive_pid("pin", damping=0.05, inertia=0.01, filter=0.1)
    ledger = loop_ledger(ph.simulate(system, start, 1.0, dt=1e-2, controller=c), c)
    assert np.abs(ledger.residual).max() < 1e-11 * ledger.energy[0]


# --- optimal controllers ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def designed():
    plant = two_masses(1.0, 0.5, 40.0, c=0.1)
    regulator = lqr(plant, 0.1, energy=1.0, position={"push": 5.0}, rate={"push": 0.3})
    observer = kalman(plant, rate={"push": 1e-3}, position={"push": 1e-4}, disturbance=0.1)
    return plant, regulator, observer


def sorted_poles(values):
    return np.sort_complex(np.round(values, 8))


def test_the_loop_of_a_regulator_has_its_cost_as_energy(designed):
    plant, regulator, _ = designed
    loop = closed_loop(plant, regulator)
    proof = passivity_certificate(loop)
    assert proof.passive and max(proof.defects.values()) < 1e-12
    assert np.allclose(sorted_poles(loop_poles(loop)), sorted_poles(regulator.poles))
    x = np.random.default_rng(1).standard_normal(4)
    B = regulator.design.inputs(["push"])
    assert np.allclose(loop.B.T @ x, regulator.R @ regulator.K @ x)  # the collocated output is R K x
    result = ph.simulate(loop, x, 30.0, dt=1e-2)
    way = np.einsum("ti,ij,tj->t", result.e, regulator.Q + regulator.K.T @ regulator.R @ regulator.K, result.e)
    assert np.isclose(np.trapezoid(way, result.t), x @ regulator.P @ x, rtol=1e-3) and B.shape == (4, 1)


def test_regulator_and_observer_do_not_disturb_each_other(designed):
    plant, regulator, observer = designed
    loop = closed_loop(plant, lqg(regulator, observer))
    assert passivity_certificate(loop).passive
    both = np.concatenate([regulator.poles, observer.poles])
    assert np.allclose(sorted_poles(loop_poles(loop)), sorted_poles(both), atol=1e-6)


def test_what_a_passive_observer_misses_is_the_plant_with_dampers_and_springs(designed):
    plant, _, _ = designed
    observer = passive_observer(plant, rate={"push": 0.7}, position={"push": 3.0})
    assert passivity_certificate(observer.error).passive
    assert np.allclose(sorted_poles(loop_poles(observer.error)), sorted_poles(observer.poles))


def test_the_same_controller_runs_on_reduced_full_and_nonlinear_plants():
    full = linear_arm()
    rom = project(full, modal_basis(full, count=2, static=True))
    regulator = lqr(rom, 10.0, position=dict.fromkeys(JOINTS, 1.0))
    observer = passive_observer(rom, rate={"shoulder": 0.2, "elbow": 0.1}, position=dict.fromkeys(JOINTS, 1.0))
    feedback = lqg(regulator, observer, target=TARGET, origin=ORIGIN)
    assert passivity_certificate(closed_loop(full, feedback)).slowest < -1.0
    system = arm()
    ends = [
        ORIGIN["elbow"] + float(run.way[-1] @ run.system.B[: run.way.shape[1], [1]].toarray()[:, 0])
        for run in (ph.simulate(p, None, 1.0, dt=4e-3, controller=feedback) for p in (rom, full))
    ]
    ends.append(ph.simulate(system, at(system, ORIGIN), 1.0, dt=4e-3, controller=feedback)["elbow.angle"][-1])
    assert np.ptp(ends) < 1e-3 and abs(ends[-1] - 0.3) < 0.01


def test_a_controller_connects_like_any_other_system():
    """wire(…) makes the same loop as closed_loop(…), whatever the order of its rows."""
    mass = ph.RigidBody(2.0, np.eye(3)).discretise()
    slide = [ph.Prismatic("ground", "m.P", axis=(1, 0, 0), name="p"), ph.JointSpring("p", stiffness=8.0)]
    system = ph.connect({"m": mass}, slide)
    plant = ph.eliminate(ph.linearise(system, ph.place(system)).with_ports("p"))
    passive = ph.control.passive_pid("p", damping=0.7, stiffness=3.0, name="c")
    loop = ph.control.closed_loop(plant, passive)
    by_hand = ph.wire(
        {"plant": plant, "c": passive.system},
        [ph.Wire(f"c.{w.controller}", f"plant.{w.plant}", w.gain) for w in passive.wires],
    )
    assert max(by_hand.structure().values()) < 1e-14
    omega = np.geomspace(0.1, 20.0, 15)
    one = ph.response(loop, "p", omega=omega, shift=0.01).values
    two = ph.response(by_hand, "plant.p", omega=omega, shift=0.01).values
    np.testing.assert_allclose(two, one, rtol=1e-9)
