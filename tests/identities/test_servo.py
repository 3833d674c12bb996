"""Commands and their derivatives; servos keep the ledger, momenta and their limits, and are the same in files."""

import warnings

import numpy as np
import pytest
from control_zoo import arm, at, wheel

import phloat as ph

COMMANDS = {
    "move": ph.move(0.8, over=0.7, origin=0.1, start=0.2),
    "trapezoid": ph.trapezoid(-1.0, speed=2.0, acceleration=5.0, start=0.1),
    "short trapezoid": ph.trapezoid(0.1, speed=2.0, acceleration=5.0),
    "polynomial": ph.polynomial([0.3, 0.0, 1.0, -0.5], start=0.1, end=1.1),
    "spline": ph.spline([0.0, 0.4, 0.9, 1.2], [0.0, 0.3, -0.2, 0.5]),
    "sum": ph.move(0.8, over=0.7) + ph.move(-0.3, over=0.4, start=0.6),
    "shaped": ph.control.shape_input(ph.move(0.8, over=0.7), [(12.0, 0.02), 30.0], "ZVD"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_derivatives_of_a_command_are_those_of_its_values(name):
    command, h = COMMANDS[name], 1e-5
    t = np.linspace(-0.3, 2.6, 401)
    t = t[np.abs(t[:, None] - command.corners).min(axis=1) > 2 * h]
    for order, tolerance in ((0, 1e-8), (1, 1e-8)):
        slope = (command.derivative(t + h, order) - command.derivative(t - h, order)) / (2 * h)
        exact = command.derivative(t, order + 1)
        assert np.abs(slope - exact).max() < tolerance * np.abs(exact).max()


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_are_constant_before_their_start_and_after_their_end(name):
    command = COMMANDS[name]
    first, last = command.corners[0], command.t_end
    assert command(first - 5.0) == command(first) and command(last + 5.0) == pytest.approx(command(last), rel=1e-14)
    assert command.rate(first - 1.0) == command.rate(last + 1.0) == command.acceleration(last + 1.0) == 0.0


def test_a_move_and_a_trapezoid_arrive_exactly():
    for command in (ph.move(0.7, over=0.3, origin=0.1), ph.trapezoid(0.7, 1.0, 5.0, origin=0.1)):
        assert command(command.t_end) == command(9.0) == pytest.approx(0.7, abs=1e-15)
        assert command(0.0) == 0.1
    assert ph.trapezoid(3.0, speed=1.0, acceleration=2.0).t_end == pytest.approx(3.0 / 1.0 + 1.0 / 2.0)


def test_a_shaped_command_takes_longer_by_the_time_that_it_says():
    omega, zeta = 12.0, 0.05
    half = np.pi / (omega * np.sqrt(1 - zeta**2))
    move = ph.move(0.8, over=0.7)
    for kind, halves in (("ZV", 1), ("ZVD", 2), ("ZVDD", 3)):
        shaped = ph.control.shape_input(move, (omega, zeta), kind)
        assert shaped.added == pytest.approx(halves * half) == pytest.approx(shaped.t_end - move.t_end)
        drive = ph.control.shape_input(ph.prescribed_position(move), (omega, zeta), kind)
        assert drive.added == shaped.added and drive.function(0.5) == shaped(0.5)
        corners = ph.control.shape_input(ph.piecewise({0.0: 0.0, 1.0: 2.0}), (omega, zeta), kind)
        assert corners.added == pytest.approx(shaped.added)


def robot(plane=None, gravity=(0.0, -9.81, 0.0)):
    """A flexible link that turns on a carriage on rails."""
    carriage = ph.RigidBody(mass=2.0, inertia=0.1 * np.eye(3)).discretise()
    link = ph.Beam(
        length=0.5, section=ph.Rectangle(0.02, 0.005), material=ph.Material(E=70e9, rho=2700.0, nu=0.3)
    ).discretise(2)
    joints = [
        ph.Prismatic("ground", "carriage.P", axis=(1.0, 0.0, 0.0), name="rail"),
        ph.Revolute("carriage.P", "link.P", name="motor"),
    ]
    return ph.connect({"carriage": carriage, "link": link}, joints, plane=plane, gravity=gravity)


def servos(limit=None, every=None):
    motor = ph.servo("motor", ph.move(1.0, over=0.3), stiffness=80.0, damping=2.0, limit=limit, every=every)
    rail = ph.servo("rail", ph.trapezoid(0.2, 1.0, 8.0), stiffness=900.0, damping=40.0, feedforward=2.0)
    return [motor, rail]


@pytest.mark.parametrize("plane", ["xy", None])
@pytest.mark.parametrize("every", [None, 4e-3])
def test_the_work_of_servos_is_supplied_to_round_off(plane, every):
    system = robot(plane)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.errors.SaturationWarning)
        warnings.simplefilter("ignore", ph.errors.UnstableLoopWarning)
        result = ph.simulate(system, ph.place(system), 0.4, dt=2e-3, controller=servos(0.5, every))
    ledger = ph.energy_ledger(result)
    assert set(ledger.supplied) == {"motor", "rail"} and set(ledger.stored) == {"carriage", "link"}
    assert not ledger.dissipated and ledger.relative < 1e-11
    assert np.abs(result["motor.torque"]).max() <= 0.5 * (1 + 1e-12)
    assert np.isclose(np.abs(result["motor.torque"]), 0.5).sum() > 20
    assert np.allclose(result["motor.error"], result["motor.command"] - result["motor.angle"])
    assert np.allclose(result["rail.error"], ph.trapezoid(0.2, 1.0, 8.0)(result.t) - result["rail.slide"])


def test_a_servo_between_free_bodies_keeps_all_momenta():
    bodies = {name: ph.RigidBody(mass=1.0, inertia=0.2 * np.eye(3), ports={"C": (0.3, 0.1, 0.0)}) for name in "ab"}
    system = ph.connect(
        {name: body.discretise() for name, body in bodies.items()}, [ph.Revolute("a.C", "b.P", name="motor")]
    )
    servo = ph.servo("motor", ph.move(2.0, over=0.5), stiffness=40.0, damping=2.0)
    result = ph.simulate(system, ph.place(system), 0.8, dt=5e-3, controller=servo)
    assert abs(result["motor.angle"][-1] - 2.0) < 0.1
    assert np.abs(result.momentum).max() < 1e-13 and np.abs(result.angular_momentum).max() < 1e-13


def test_a_servo_that_holds_is_a_spring_and_a_damper():
    system = arm()
    start = at(system, {"shoulder": 0.2, "elbow": 0.1})
    gains = {"stiffness": 5.0, "damping": 0.1}
    held = ph.control.closed_loop(system, ph.control.passive_pid("shoulder", target=0.2005, **gains))
    servo = ph.servo("shoulder", 0.2005, **gains)
    results = [ph.simulate(system, start, 0.2, dt=2e-3, controller=servo), ph.simulate(held, start, 0.2, dt=2e-3)]
    assert np.abs(results[0]["shoulder.angle"] - results[1]["shoulder.angle"]).max() < 1e-11
    start = at(system, {"shoulder": 0.2005, "elbow": 0.1})
    loops = [ph.control.closed_loop(plant, servo) for plant in (system, ph.linearise(system, start))]
    poles = [ph.poles(loops[1]), *(ph.poles(ph.linearise(loop, start)) for loop in (loops[0], held))]
    assert np.allclose(poles[0], poles[1]) and np.allclose(poles[1], poles[2])


def test_a_servo_acts_beside_inputs_and_functions():
    system = robot("xy")
    motor, _ = servos()
    one = ph.simulate(
        *(system, ph.place(system), 0.1),
        dt=2e-3,
        u={"link.C": (0.0, 1.0, 0.0)},
        controller=[motor, lambda t, y: {"rail": -5.0 * y["rail"]}],
    )
    two = ph.simulate(
        *(system, ph.place(system), 0.1),
        dt=2e-3,
        u={"link.C": (0.0, 1.0, 0.0)},
        controller=[ph.servo("rail", rate=0.0, damping=5.0), motor],
    )
    assert np.abs(one["motor.angle"] - two["motor.angle"]).max() < 1e-3
    assert np.array_equal(two["rail.error"], -two["rail.rate"])
    assert set(ph.energy_ledger(one).supplied) == {"motor", "rail", "link.C"}


def test_servos_of_systems_in_systems():
    inner = wheel()
    system = ph.connect({"left": inner, "right": inner}, plane="xy")
    servo = ph.servo("left.pin", ph.move(0.5, over=0.2), stiffness=20.0, damping=2.0, feedforward=0.2)
    result = ph.simulate(system, ph.place(system), 0.3, dt=2e-3, controller=servo)
    assert abs(result["left.pin.angle"][-1] - 0.5) < 1e-4 and not result["right.pin.angle"].any()


def test_a_run_with_a_servo_resumes_bit_for_bit(tmp_path):
    system, options = robot("xy"), {"dt": 2e-3}
    whole = ph.simulate(system, ph.place(system), 0.2, controller=servos(), **options)
    ph.simulate(system, ph.place(system), 0.1, controller=servos(), save=tmp_path / "run", **options)
    resumed = ph.resume(tmp_path / "run", system, controller=servos(), t_end=0.2)
    assert np.array_equal(whole.e, resumed.e) and np.array_equal(whole["rail.force"], resumed["rail.force"])
    assert np.array_equal(whole["motor.error"], resumed["motor.error"])


@pytest.mark.parametrize("scheme", [ph.Midpoint(rtol=1e-5), ph.RadauIIA(), ph.GeneralisedAlpha()], ids=repr)
def test_servos_act_in_every_scheme(scheme):
    system, servo = wheel(), ph.servo("pin", ph.move(0.5, over=0.4), stiffness=30.0, damping=2.0, feedforward=0.1)
    exact = ph.simulate(system, ph.place(system), 0.5, dt=2e-4, controller=servo)
    result = ph.simulate(system, ph.place(system), 0.5, dt=1e-3, controller=servo, scheme=scheme)
    assert abs(result["pin.angle"][-1] - exact["pin.angle"][-1]) < 1e-5
    assert ph.energy_ledger(result).relative < 1e-4


FILE = """
phloat: 1
plane: xy
bodies: {disc: {rigid body: {mass: 1 kg, inertia: [0.25, 0.25, 0.5]}}}
joints: {motor: {revolute: [ground, disc.P]}}
controller: CONTROLLER
simulate: {t_end: 1 s, dt: 10 ms}
"""
SERVO = """{servo: {joint: motor, command: COMMAND, stiffness: 50 N m/rad, damping: 5 N m s/rad, feedforward: 0.5 kg m^2,
limit: 40 N m, every: 10 ms}}"""
WORDS = {
    "{move: {to: 45 deg, over: 800 ms, from: 5 deg, start: 0.1 s}}": ph.move(
        np.pi / 4, over=0.8, origin=np.pi / 36, start=0.1
    ),
    "{trapezoid: {to: 45 deg, speed: 2 rad/s, acceleration: 9 rad/s^2}}": ph.trapezoid(np.pi / 4, 2.0, 9.0),
    "{polynomial: {coefficients: [0, 0, 1], end: 1 s}}": ph.polynomial([0.0, 0.0, 1.0], end=1.0),
    "{spline: {times: [0 s, 500 ms], values: [0 deg, 90 deg]}}": ph.spline([0.0, 0.5], [0.0, np.pi / 2]),
    "{shaped: {command: {move: {to: 1, over: 1}}, modes: [2 Hz], damping: 0.1, kind: ZVD}}": ph.control.shape_input(
        ph.move(1.0, over=1.0), (4 * np.pi, 0.1), "ZVD"
    ),
}


@pytest.mark.parametrize("text", WORDS)
def test_files_have_the_words_of_python(text, tmp_path):
    model = ph.io.parse_model(FILE.replace("CONTROLLER", SERVO.replace("COMMAND", text)))
    servo = ph.servo("motor", WORDS[text], stiffness=50.0, damping=5.0, feedforward=0.5, limit=40.0, every=0.01)
    t = np.linspace(-0.5, 3.0, 101)
    assert np.allclose(model.controller.command(t), WORDS[text](t), rtol=1e-14, atol=1e-15)
    assert [getattr(model.controller, name) for name in ("stiffness", "damping", "limit", "every")] == [
        *(servo.stiffness, servo.damping, servo.limit, servo.every)
    ]
    ph.io.save_model(model, tmp_path / "again.yaml")
    assert ph.io.load_model(tmp_path / "again.yaml").controller == model.controller


def test_gains_of_a_servo_are_parameters_of_an_ensemble():
    system, servo = wheel(), ph.servo("pin", 0.3, stiffness=20.0, damping=2.0)
    with pytest.warns(ph.errors.CommandJumpWarning):
        runs = ph.ensemble(
            *(system, {"controller.stiffness": [10.0, 20.0]}),
            start=ph.place(system),
            t_end=0.2,
            dt=2e-3,
            controller=servo,
            output=lambda result: result["pin.angle"][-1],
        )
    soft, stiff = runs.outputs["result"] if "result" in runs.outputs else next(iter(runs.outputs.values()))
    assert soft < stiff


def test_the_command_line_says_how_much_longer_a_shaped_command_is(tmp_path, capsys, monkeypatch):
    from phloat.cli.main import main

    monkeypatch.chdir(tmp_path)
    text = next(text for text in WORDS if "shaped" in text)
    (tmp_path / "turn.yaml").write_text(FILE.replace("CONTROLLER", SERVO.replace("COMMAND", text)))
    assert main(["run", "turn.yaml", "--no-page"]) == 0
    added = WORDS[text].added
    assert f"the command of motor is {added:.4g} s longer" in capsys.readouterr().out


def test_servos_of_a_file_hold_their_joints_in_its_equilibrium():
    text = """
phloat: 1
plane: xy
gravity: [0, -9.81, 0]
bodies:
  arm: {rigid body: {mass: 1 kg, inertia: [0.1, 0.1, 0.1], center: [0.5, 0, 0], ports: {tip: [1, 0, 0]}}}
  load: {rigid body: {mass: 1 kg, inertia: [0.1, 0.1, 0.1], center: [0.2, 0, 0]}}
joints: {motor: {revolute: [ground, arm.P]}, pin: {revolute: [arm.tip, load.P]}}
start: {place: {motor.angle: 0.3}, equilibrium: true}
controller: {servo: {joint: motor, command: 0.3, stiffness: 50 N m/rad, damping: 5 N m s/rad, feedforward: drive}}
simulate: {t_end: 100 ms, dt: 10 ms}
"""
    model = ph.io.parse_model(text)
    angles = ph.joint_coordinates(model.system, model.state)
    assert angles["motor.angle"] == pytest.approx(0.3, abs=1e-12)
    assert angles["pin.angle"] == pytest.approx(-np.pi / 2 - 0.3, abs=1e-9)  # the load hangs
    run = ph.io.run_model(model)
    np.testing.assert_allclose(run["motor.torque"], 9.81 * (0.5 + 1.0) * np.cos(0.3), rtol=1e-9)
    np.testing.assert_allclose(run["motor.angle"], 0.3, atol=1e-9)
