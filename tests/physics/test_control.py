"""Controllers against answers known from elsewhere."""

import numpy as np
import pytest
from control_zoo import LINK, arm, at, linear_arm, two_masses, wheel
from messages import warns

import phloat as ph
from phloat.control.closed_loop import closed_loop, loop_ledger, loop_poles
from phloat.control.energy_shaping import energy_shaping
from phloat.control.feedback import lqg
from phloat.control.input_shaping import shape_input, shaper_impulses
from phloat.control.optimal import kalman, lqr
from phloat.control.passive import damping_gain, damping_injection, passive_pid
from phloat.control.sampled import Sampled
from phloat.linear.reduction.modal import modal_basis
from phloat.linear.reduction.projection import project


def test_gains_are_those_of_python_control():
    control = pytest.importorskip("control")
    plant = two_masses(1.0, 0.5, 40.0, c=0.1)
    regulator = lqr(plant, 0.1, energy=1.3, position={"push": 5.0}, rate={"push": 0.3})
    d = regulator.design
    K, P, _ = control.lqr(d.A, d.inputs(["push"]), regulator.Q, regulator.R)
    assert np.allclose(regulator.K, K, rtol=1e-9) and np.allclose(regulator.P, P, rtol=1e-9)
    observer = kalman(plant, rate={"push": 1e-3}, position={"push": 1e-4}, disturbance=0.1, energy=1e-3)
    W = np.diag([0.1, 1e-3, 1e-3, 1e-3, 0.0])
    G = np.hstack([d.inputs(["push"]), np.eye(4)])
    L, _, _ = control.lqe(d.A, G, observer.C, W, np.diag([1e-3, 1e-4]))
    assert np.allclose(observer.L, L, rtol=1e-7)


def test_a_double_integrator_is_regulated_as_by_hand():
    """min ∫ q² + u² of q̈ = u: K = (1, √2) on (q, q̇)."""
    mass = ph.LinearPHDAE(
        E=[[1.0]],
        J=[[0.0]],
        B=[[1.0]],
        rows=ph.Layout({"v": (1,)}, "row"),
        ports=ph.Layout({"push": (1,)}, "port"),
        split=1,
    )
    regulator = lqr(mass, 1.0, energy=0.0, position={"push": 1.0})
    assert np.allclose(regulator.K, [[np.sqrt(2.0), 1.0]])


def test_a_pid_is_its_transfer_function():
    c = passive_pid("pin", damping=0.7, stiffness=3.0, inertia=0.2, filter=0.05)
    omega = np.array([0.3, 2.0, 15.0, 200.0])
    s = 1j * omega
    wanted = 0.7 + 3.0 / s + 0.2 * s / (1 + 0.05 * s)
    assert np.allclose(ph.response(c.system, "port", omega=omega).values[:, 0, 0], wanted, rtol=1e-12)


def test_a_wheel_on_a_pd_controller_swings_as_a_spring_and_damper():
    """0.2 a'' + 0.4 a' + 20 a = 0 from 1 rad."""
    c = passive_pid("pin", damping=0.4, stiffness=20.0, target=0.5)
    result = ph.simulate(wheel(), ph.place(wheel(), {"pin.angle": 1.5}), 1.0, dt=5e-4, controller=c)
    decay, omega = 1.0, np.sqrt(100.0 - 1.0)
    wanted = 0.5 + np.exp(-decay * result.t) * (np.cos(omega * result.t) + decay / omega * np.sin(omega * result.t))
    assert np.abs(result["pin.angle"] - wanted).max() < 2e-5


def test_an_inertia_of_the_controller_slows_a_wheel_as_metal_would():
    """k_d behind a stiff damper is an inertia: 0.2 + 0.3 on a spring of 20."""
    c = passive_pid("pin", stiffness=20.0, inertia=0.3, filter=1e-5)
    result = ph.simulate(wheel(), ph.place(wheel(), {"pin.angle": 0.1}), 2.0, dt=1e-3, controller=c)
    a = result["pin.angle"]
    down = np.flatnonzero((a[:-1] > 0) & (a[1:] <= 0))
    crossing = result.t[down] + 1e-3 * a[down] / (a[down] - a[down + 1])
    assert np.isclose(2 * np.pi * (len(down) - 1) / (crossing[-1] - crossing[0]), np.sqrt(40.0), rtol=1e-4)


def test_a_mode_decays_as_its_damping_was_designed():
    """A hinged beam held by a spring: the pole of the loop, and the peaks of the nonlinear beam."""
    beam = ph.Beam(length=0.5, section=ph.Rectangle(0.02, 0.002), material=LINK.material, damping=ph.KelvinVoigt(1e-4))
    system = ph.connect({"beam": beam.discretise(2)}, joints=[ph.Revolute("ground", "beam.P", name="hub")], plane="xy")
    start = ph.place(system)
    plant = ph.eliminate(ph.linearise(system, start).with_ports("hub"))
    hold = passive_pid("hub", stiffness=1.0, name="hold")
    held = closed_loop(plant, hold)
    omega = ph.modes(held)[0]
    gain = damping_gain(held, "hub", decay=2.0, omega=omega)
    damping = damping_injection("hub", gain, name="damping")
    assert np.isclose(loop_poles(closed_loop(held, damping)).real.max(), -2.0, rtol=1e-6)
    moving = ph.set_moving(system, start, {"beam.omega": 0.05})
    result = ph.simulate(closed_loop(system, hold, damping), moving, 2.0, dt=1e-3)
    x = result["hub.angle"]
    peak = np.flatnonzero((x[1:-1] > x[:-2]) & (x[1:-1] > x[2:]) & (result.t[1:-1] > 0.3)) + 1
    assert np.isclose(-np.polyfit(result.t[peak], np.log(x[peak]), 1)[0], 2.0, rtol=0.01)


@pytest.mark.filterwarnings("ignore::phloat.errors.LargeDeformationWarning")  # soft links
def test_energy_shaping_reaches_its_set_point_under_gravity_with_bent_links():
    system = arm(gravity=(0.0, -9.81, 0.0))
    target = {"shoulder": 0.5, "elbow": 0.3}
    c = energy_shaping(
        system, target, stiffness={"shoulder": 2.0, "elbow": 1.0}, damping={"shoulder": 0.4, "elbow": 0.1}
    )
    weight = 0.054 * 9.81  # of a link
    moments = {"shoulder": weight * (0.75 * np.cos(0.5) + 0.25 * np.cos(0.8)), "elbow": weight * 0.25 * np.cos(0.8)}
    for joint, moment in moments.items():  # the links bend, so not exactly
        assert np.isclose(c.bias[joint], moment, rtol=0.15) and c.bias[joint] != moment
    result = ph.simulate(system, ph.place(system), 6.0, dt=1e-2, controller=c)
    for joint, angle in target.items():
        assert abs(result[f"{joint}.angle"][-1] - angle) < 1e-5
    ledger = loop_ledger(result, c)
    assert np.abs(ledger.residual).max() < 1e-11 and ledger.surplus < 1e-12


def test_lqg_brings_the_arm_to_its_set_point():
    full, system, joints = linear_arm(), arm(), ("shoulder", "elbow")
    rom = project(full, modal_basis(full, count=2, static=True))
    regulator = lqr(rom, 10.0, position=dict.fromkeys(joints, 1.0))
    observer = kalman(rom, rate=dict.fromkeys(joints, 1e-1), position=dict.fromkeys(joints, 1e-4), disturbance=1e-2)
    target = {"shoulder": 0.5, "elbow": 0.3}
    run = ph.simulate(
        system,
        at(system, {"shoulder": 0.3, "elbow": 0.6}),
        3.5,
        dt=5e-3,
        controller=lqg(regulator, observer, target=target),
    )
    for joint, angle in target.items():
        assert abs(run[f"{joint}.angle"][-1] - angle) < 2e-3


# --- input shaping ---------------------------------------------------------------------------------------------------


def vibration(command, zeta: float, stiffness: float = 100.0) -> float:
    """What two masses still swing by, after a pulse of 1 s has come through, beside the pulse as it is."""
    c = 2 * zeta * np.sqrt(100.0 * 0.5)
    plant = two_masses(1.0, 1.0, stiffness, c=c)
    result = ph.simulate(plant, None, 3.0, dt=2e-3, u={"push": command})
    after = result.t > 1.6
    return float(np.abs(result["sigma"][after]).max())


PULSE = ph.piecewise({0.0: 0.0, 1e-3: 1.0, 1.0: 1.0, 1.001: 0.0})
OMEGA = np.sqrt(200.0)


@pytest.mark.parametrize("zeta", [0.0, 0.05])
def test_a_shaped_command_leaves_less_than_one_percent_of_the_vibration(zeta):
    plain = vibration(PULSE, zeta)
    assert vibration(shape_input(PULSE, (OMEGA, zeta)), zeta) < 0.01 * plain
    assert vibration(shape_input(PULSE, OMEGA * (-zeta + 1j * np.sqrt(1 - zeta**2))), zeta) < 0.01 * plain
    if zeta:
        assert vibration(shape_input(PULSE, OMEGA), zeta) > 0.01 * plain


def test_zvd_forgives_a_frequency_that_is_not_known_well():
    plain = vibration(PULSE, 0.0)
    zv, zvd = (vibration(shape_input(PULSE, 0.9 * OMEGA, kind), 0.0) for kind in ("ZV", "ZVD"))
    assert zv > 0.1 * plain and zvd < 0.3 * zv


def test_a_shaped_function_is_the_shaped_corners():
    times, sizes = shaper_impulses([(3.0, 0.1), 11.0], "ZVD")
    assert np.isclose(sizes.sum(), 1.0) and len(times) == 9 and times[0] == 0.0
    by_corners, by_function = (
        shape_input(PULSE, [(3.0, 0.1), 11.0]),
        shape_input(lambda t: PULSE(t), [(3.0, 0.1), 11.0]),
    )
    for t in np.linspace(0.0, 4.0, 41):
        assert np.isclose(by_corners(t), by_function(t), atol=1e-12)


def test_no_vibration_is_left_in_any_of_the_modes_given():
    """Σ A exp(−λ t) = 0 for the poles shaped for."""
    times, sizes = shaper_impulses([(3.0, 0.1), 11.0])
    for omega, zeta in ((3.0, 0.1), (11.0, 0.0)):
        pole = omega * (-zeta + 1j * np.sqrt(1 - zeta**2))
        assert abs(np.sum(sizes * np.exp(-pole * times))) < 1e-14


# --- sampled controllers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("part", "grows"), [(0.93, False), (1.07, True)])
def test_a_delay_destabilises_where_theory_says(part, grows):
    """J s + c exp(−sτ) = 0 has a pole on the axis at τ = π J / 2c; a sample held for T adds T/2."""
    inertia, c, every = 0.2, 2.0, 5e-3
    delay = part * 0.5 * np.pi * inertia / c - 0.5 * every
    system = wheel(inertia)
    start = ph.set_moving(system, ph.place(system), {"wheel.omega": 1.0})
    control = Sampled(lambda t, y: {"pin": -c * y["pin"]}, every=every, delay=delay)
    rate = ph.simulate(system, start, 4.0, dt=every, controller=control)["wheel.omega"]
    assert (np.abs(rate[400:]).max() > np.abs(rate[:200]).max()) == grows


@pytest.mark.parametrize("limit", [0.3, {"pin": 0.3}])
def test_efforts_never_exceed_their_saturation(limit):
    inner = passive_pid("pin", damping=0.4, stiffness=20.0)
    told = []

    class Watched(Sampled):
        def start_run(self, model, dt):
            model, function = super().start_run(model, dt)

            def watched(t, y):
                answer = function(t, y)
                told.append(float(answer["pin"]))
                return answer

            return model, watched

    system = wheel()
    control = Watched(inner, every=2e-3, saturation=limit)
    result = ph.simulate(system, ph.place(system, {"pin.angle": 1.0}), 1.0, dt=2e-3, controller=control)
    assert np.abs(told).max() == 0.3 and np.sum(np.abs(told) == 0.3) > 100
    assert np.abs(np.gradient(result["wheel.omega"], result.t)).max() < 0.3 / 0.2 * 1.0001


def test_efforts_are_held_and_arrive_late():
    asked, applied = [], []

    def function(t, y):
        asked.append(t)
        return {"pin": t + 1.0}

    def watched(model, dt):
        control = Sampled(function, every=0.05, delay=0.02)
        model, inner = control.start_run(model, dt)
        return lambda t, y: applied.append((t, float(inner(t, y)["pin"]))) or {"pin": 0.0}

    system = wheel()
    ph.simulate(system, ph.place(system), 0.2, dt=0.01, controller=watched(system, 0.01))
    assert np.allclose(asked, [0.0, 0.05, 0.10, 0.15])
    for t, u in applied:
        sample = np.floor((t - 0.02 + 1e-9) / 0.05) * 0.05
        assert np.isclose(u, 0.0 if sample < 0 else sample + 1.0)


def test_a_sample_time_too_long_for_the_fastest_mode_is_said_with_the_number():
    plant = two_masses(1.0, 1.0, 5000.0, c=0.1)  # 100 rad/s
    regulator = lqr(plant, 1.0, position={"push": 1.0})
    control = lqg(regulator, kalman(plant, position={"push": 1e-4}))
    with warns(ph.errors.SampleTimeWarning, "100 rad/s", "6.3", "0.0063 s"):
        ph.simulate(plant, None, 0.1, dt=1e-3, controller=Sampled(control, every=0.01))
    ph.simulate(plant, None, 0.1, dt=1e-3, controller=Sampled(control, every=0.006))
