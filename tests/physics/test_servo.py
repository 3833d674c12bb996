"""Servos against exact answers: step response, tracking, bang-bang time, residual vibration, poles of sampled loops."""

import numpy as np
import pytest
from control_zoo import arm, at, wheel

import phloat as ph

J = 0.2  # kg m², of the wheel


def run(servo, t_end, dt, system=None, **options):
    system = wheel(J) if system is None else system
    return ph.simulate(system, ph.place(system), t_end, dt=dt, controller=servo, **options)


def test_a_step_of_the_command_gives_the_exact_damped_oscillation():
    k, d, step = 30.0, 0.8, 0.1
    servo = ph.servo("pin", ph.piecewise({-1e-9: 0.0, 0.0: step}), stiffness=k, damping=d)
    with pytest.warns(ph.errors.CommandJumpWarning, match="pin"):
        result = run(servo, 1.0, 5e-4)
    decay, omega = d / (2 * J), np.sqrt(k / J - (d / (2 * J)) ** 2)
    t = result.t
    exact = step * (1 - np.exp(-decay * t) * (np.cos(omega * t) + decay / omega * np.sin(omega * t)))
    assert np.abs(result["pin.angle"] - exact).max() < 1e-5 * step


def test_with_its_inertia_as_feedforward_a_rigid_wheel_stays_on_its_command_to_second_order():
    command = ph.move(1.0, over=0.5)
    errors = []
    for dt in (4e-3, 2e-3, 1e-3):
        result = run(ph.servo("pin", command, stiffness=5.0, damping=0.1, feedforward=J), 0.6, dt)
        errors.append(np.abs(result["pin.error"]).max())
        work = J * np.array([command.acceleration(t) * command.rate(t) for t in result.t])
        assert np.abs(result["pin.torque"] * result["pin.rate"] - work).max() < 0.05 * work.max()
    assert errors[0] < 1e-4 and np.allclose(np.divide(errors[:-1], errors[1:]), 4.0, rtol=0.02)


def test_the_shortest_move_under_a_torque_limit_takes_twice_the_root_of_J_theta_over_tau():
    tau, angle = 2.0, 0.5
    command = ph.trapezoid(angle, speed=100.0, acceleration=tau / J)
    assert command.t_end == pytest.approx(2 * np.sqrt(J * angle / tau))
    servo = ph.servo("pin", command, stiffness=1000.0, damping=20.0, feedforward=J, limit=1.001 * tau)
    result = run(servo, command.t_end, command.t_end / 400)
    assert np.allclose(np.abs(result["pin.torque"][[5, 100, 300, 395]]), tau)
    assert abs(result["pin.angle"][-1] - angle) < 1e-9 and abs(result["pin.rate"][-1]) < 1e-8
    with pytest.warns(ph.errors.SaturationWarning, match="pin"):  # half of that torque is not at rest in time
        late = run(ph.servo("pin", command, stiffness=1000.0, damping=20.0, limit=tau / 2), command.t_end, 1e-3)
    assert late["pin.rate"][-1] > 1.0


OMEGA = 15.0  # of a load on a spring behind the motor, which stands


def geared_load():
    """A motor that turns a load through a torsion spring."""
    motor = ph.RigidBody(mass=1.0, inertia=np.diag([J] * 3)).discretise()
    load = ph.RigidBody(mass=1.0, inertia=np.diag([0.5] * 3)).discretise()
    joints = [
        ph.Revolute("ground", "motor.P", name="motor"),
        ph.Revolute("motor.P", "load.P", name="shaft"),
        ph.JointSpring("shaft", stiffness=0.5 * OMEGA**2),
    ]
    return ph.connect({"motor": motor, "load": load}, joints, plane="xy")


def residual_vibration(command):
    """The amplitude of the load after the move by theory: ∫ c̈ exp(jωt) dt / ω for a motor that is on its command."""
    t = np.linspace(0.0, command.t_end, 20001)
    return abs(np.trapezoid(command.acceleration(t) * np.exp(1j * OMEGA * t), t)) / OMEGA


@pytest.mark.parametrize("kind", ["", "ZV", "ZVD"])
def test_residual_vibration_is_that_of_theory_with_and_without_shaping(kind):
    system, command = geared_load(), ph.move(1.0, over=0.35)
    assert residual_vibration(command) > 0.1
    if kind:
        command = ph.control.shape_input(command, OMEGA, kind)
        assert command.added == pytest.approx((1 if kind == "ZV" else 2) * np.pi / OMEGA)
    servo = ph.servo("motor", command, stiffness=2e3, damping=100.0, feedforward="drive")
    result = run(servo, command.t_end + 1.0, 1e-3, system)
    assert np.abs(result["motor.error"]).max() < 2e-5
    after = result.window(command.t_end)
    vibration = np.abs(after["shaft.angle"]).max()
    assert vibration == pytest.approx(residual_vibration(command), rel=2e-3, abs=1e-4)


def test_the_torque_of_a_drive_carries_a_flexible_arm_under_gravity():
    system = arm(gravity=(0.0, -9.81, 0.0))
    held = ph.lock(ph.lock(system, "shoulder"), "elbow")
    start = ph.equilibrium(held, at(held, {"shoulder": 0.3, "elbow": 0.6}))
    commands = {"shoulder": ph.move(0.5, over=0.6, origin=0.3), "elbow": ph.move(0.4, over=0.6, origin=0.6)}
    servos = [ph.servo(name, c, stiffness=50.0, damping=1.0, feedforward="drive") for name, c in commands.items()]
    state = ph.State(system.bodies, system.layout, start.e)
    result = ph.simulate(system, state, 0.7, dt=1e-3, controller=servos)
    without = ph.simulate(
        *(system, state, 0.7),
        dt=1e-3,
        controller=[ph.servo(name, c, stiffness=50.0, damping=1.0) for name, c in commands.items()],
    )
    for name in commands:
        assert np.abs(result[f"{name}.error"]).max() < 1e-3 * np.abs(without[f"{name}.error"]).max()


@pytest.mark.parametrize(("delay", "d"), [(0.0, 60.0), (0.004, 40.0), (0.013, 25.0)])
def test_a_sampled_loop_grows_by_its_pole(delay, d):
    T, k = 0.01, 40.0
    system, servo = wheel(J), ph.servo("pin", 1e-6, stiffness=k, damping=d, every=T, delay=delay)
    poles = ph.control.sampled_loop_poles(ph.linearise(system, ph.place(system)), servo)
    if not delay:  # by hand: (q, q̇, last q) of an inertia under a held torque −k q − d (q − last)/T
        held = np.array([T**2 / (2 * J), T / J, 0.0])
        step = np.array([[1.0, T, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
        step += np.outer(held, [-k - d / T, 0.0, d / T])
        assert np.allclose(np.sort(np.abs(np.linalg.eigvals(step))), np.sort(np.abs(poles[:3])))
    largest = np.abs(poles[0])
    with pytest.warns(ph.errors.UnstableLoopWarning, match="pin"):
        result = run(servo, 0.5, T / 10, system)
    change = np.abs(np.diff(result["pin.error"][::10]))
    growth = (change[35:50].max() / change[20:35].max()) ** (1 / 15)
    assert largest > 1.02 and growth == pytest.approx(largest, rel=0.05)


def test_a_sampled_servo_approaches_the_continuous_one():
    command = ph.move(1.0, over=0.3)
    gains = {"stiffness": 30.0, "damping": 2.0}
    exact = run(ph.servo("pin", command, **gains), 0.4, 2e-4)["pin.angle"][::50]
    distances = [
        np.abs(run(ph.servo("pin", command, **gains, every=T), 0.4, 1e-3)["pin.angle"][::10] - exact).max()
        for T in (8e-3, 4e-3, 2e-3)
    ]
    assert np.allclose(np.divide(distances[:-1], distances[1:]), 2.0, rtol=0.1)


def test_the_error_of_a_servo_on_a_flexible_arm_falls_with_the_square_of_the_step():
    system = arm()
    servo = ph.servo("shoulder", ph.move(0.2, over=0.3), stiffness=20.0, damping=0.5)

    def angle(dt):
        return ph.simulate(system, ph.place(system), 0.3, dt=dt, controller=servo)["shoulder.angle"][-1]

    exact, values = angle(1e-4), [angle(dt) for dt in (2e-3, 1e-3, 5e-4)]
    errors = np.abs(np.array(values) - exact)
    assert np.allclose(errors[:-1] / errors[1:], 4.0, rtol=0.15)


def test_a_drive_by_a_command_has_its_exact_rate_and_acceleration():
    command = ph.trapezoid(1.0, speed=2.0, acceleration=8.0)
    system = ph.drive(wheel(J), "pin")
    result = ph.simulate(
        *(system, ph.place(system), command.t_end), dt=1e-3, u={"pin": ph.prescribed_position(command)}
    )
    assert np.abs(result["pin.angle"] - command(result.t)).max() < 1e-13
    assert result["pin.torque"][100] == pytest.approx(8.0 * J, rel=1e-5)
