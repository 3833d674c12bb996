"""Servos that cannot be, commands that jump, motors that are too weak, and loops that are unstable."""

import numpy as np
import pytest
from control_zoo import arm, at, linear_arm, wheel
from messages import raises

import phloat as ph

MOVE = ph.move(0.5, over=0.3)
GAINS = {"stiffness": 20.0, "damping": 2.0}


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (lambda: ph.servo(3, MOVE, **GAINS), "joint"),
        (lambda: ph.servo("pin", **GAINS), "pin"),
        (lambda: ph.servo("pin", MOVE, rate=MOVE, **GAINS), "rate"),
        (lambda: ph.servo("pin", "fast", **GAINS), "command"),
        (lambda: ph.servo("pin", MOVE), "gains"),
        (lambda: ph.servo("pin", MOVE, stiffness=-1.0), "stiffness"),
        (lambda: ph.servo("pin", MOVE, stiffness=1.0, damping=-1.0), "damping"),
        (lambda: ph.servo("pin", rate=MOVE, **GAINS), "stiffness"),
        (lambda: ph.servo("pin", MOVE, limit=0.0, **GAINS), "limit"),
        (lambda: ph.servo("pin", MOVE, every=0.0, **GAINS), "every"),
        (lambda: ph.servo("pin", MOVE, delay=1e-3, **GAINS), "every"),
        (lambda: ph.servo("pin", MOVE, feedforward="inverse", **GAINS), "inverse"),
        (lambda: ph.servo("pin", MOVE, feedforward=-1.0, **GAINS), "feedforward"),
        (lambda: ph.move(1.0, over=0.0), "over"),
        (lambda: ph.trapezoid(1.0, speed=-1.0, acceleration=1.0), "speed"),
        (lambda: ph.trapezoid(1.0, speed=1.0, acceleration=0.0), "acceleration"),
        (lambda: ph.polynomial([]), "coefficients"),
        (lambda: ph.spline([0.0, 0.0], [1.0, 2.0]), "spline"),
        (lambda: ph.spline([0.0, 1.0], [1.0, 2.0, 3.0]), "spline"),
        (lambda: ph.control.shape_input(MOVE, []), "modes"),
        (lambda: ph.control.passive_pid("pin", stiffness=1.0, target=MOVE), "servo"),
    ],
)
def test_servos_and_commands_that_cannot_be(made, name):
    with raises(ph.errors.InputError, name):
        made()


@pytest.mark.parametrize(
    ("controller", "u", "error", "name"),
    [
        (ph.servo("shoulda", MOVE, **GAINS), {}, ph.errors.PortError, "shoulda"),
        (ph.servo("upper.C", MOVE, **GAINS), {}, ph.errors.PortError, "upper.C"),
        (ph.servo("shoulda", MOVE, every=0.01, **GAINS), {}, ph.errors.PortError, "shoulda"),
        ([ph.servo("elbow", MOVE, **GAINS)] * 2, {}, ph.errors.InputError, "elbow"),
        (ph.servo("elbow", MOVE, **GAINS), {"elbow": 1.0}, ph.errors.InputError, "elbow"),
        ([ph.servo("elbow", MOVE, **GAINS), lambda t, y: {"elbow": 1.0}], {}, ph.errors.InputError, "elbow"),
        ([ph.servo("elbow", MOVE, **GAINS), 3.0], {}, ph.errors.InputError, "3.0"),
    ],
)
def test_servos_that_do_not_fit_a_mechanism_name_what_is_wrong(controller, u, error, name):
    system = arm()
    with raises(error, name):
        ph.simulate(system, ph.place(system), 0.1, dt=0.01, controller=controller, u=u)


def test_a_feedforward_of_a_drive_needs_a_joint_on_its_command():
    system = wheel()
    servo = ph.servo("pin", ph.move(0.5, over=0.3, origin=0.1), feedforward="drive", **GAINS)
    with raises(ph.errors.JointError, "pin"):
        ph.simulate(system, ph.place(system), 0.1, dt=0.01, controller=servo)


def test_a_continuous_servo_needs_a_mechanism_and_steps_forward():
    servo = ph.servo("shoulder", MOVE, **GAINS)
    with raises(ph.errors.InputError, "shoulder"):
        ph.simulate(linear_arm(), None, 0.1, dt=0.01, controller=servo)
    system = wheel()
    with raises(ph.errors.InputError, "pin.servo"):
        ph.simulate(
            *(system, ph.place(system), 0.1),
            dt=0.01,
            controller=ph.servo("pin", MOVE, **GAINS),
            scheme=ph.Composition4(),
        )
    with raises(ph.errors.InputError, "sampled"):
        ph.control.sampled_loop_poles(linear_arm(), servo)


def test_a_command_that_starts_away_from_its_joint_warns_with_the_jump():
    system = wheel()
    servo = ph.servo("pin", ph.move(0.5, over=0.3, origin=0.2), **GAINS)
    with pytest.warns(ph.errors.CommandJumpWarning, match=r"pin.*0\.15"):
        ph.simulate(system, at(system, {"pin": 0.05}), 0.1, dt=0.01, controller=servo)


@pytest.mark.parametrize("size", [1e-6, 1e3])
def test_the_jump_of_a_slide_is_judged_by_its_travel(size):
    cart = ph.PointMass(1.0).discretise()
    system = ph.connect({"cart": cart}, [ph.Slide("ground", "cart.P", along=(1, 0, 0), name="rail")], plane="xy")

    def run(jump):
        servo = ph.servo("rail", ph.move(size, over=0.3), **GAINS)
        ph.simulate(system, ph.place(system, {"rail.slide": jump * size}), 0.4, dt=0.01, controller=servo)

    run(5e-4)
    with pytest.warns(ph.errors.CommandJumpWarning, match="rail"):
        run(5e-3)


def test_a_motor_that_is_too_weak_to_hold_a_link_warns_by_name():
    system = arm(gravity=(0.0, -9.81, 0.0))
    state = at(system, {"shoulder": 0.0, "elbow": 0.0})
    servo = ph.servo("shoulder", 0.0, stiffness=100.0, damping=1.0, limit=0.05)
    with pytest.warns(ph.errors.SaturationWarning, match=r"shoulder.*0\.05"):
        ph.simulate(system, state, 0.05, dt=1e-3, controller=servo)


def test_an_unstable_sampled_servo_is_named_with_its_pole_and_sample_time():
    system = wheel()
    servo = ph.servo("pin", MOVE, stiffness=20.0, damping=60.0, every=0.02)
    with pytest.warns(ph.errors.UnstableLoopWarning, match=r"0\.02 s.*pin.*z = ") as caught:
        ph.simulate(system, ph.place(system), 0.2, dt=2e-3, controller=servo)
    assert len(caught) == 1
    stable = ph.servo("pin", MOVE, stiffness=20.0, damping=2.0, every=0.02)
    ph.simulate(system, ph.place(system), 0.2, dt=2e-3, controller=stable)  # without a warning


def test_an_unstable_function_is_named_with_the_growth_that_is_seen():
    system = wheel()

    def held(t, y):
        return {"pin": -60.0 * y["pin"] - 20.0 * (y["pin.angle"] - 1e-3)}

    with pytest.warns(ph.errors.UnstableLoopWarning, match=r"0\.02 s.*pin.*z = -5"):  # 1 − 60 · 0.02/0.2 = −5
        ph.simulate(system, ph.place(system), 0.3, dt=2e-3, controller=held, every=0.02)


def test_a_step_that_fails_in_an_unstable_loop_says_so():
    system = arm(6)
    servo = ph.servo("shoulder", ph.move(0.5, over=0.3), stiffness=1e4, damping=1e3, every=0.01)

    def held(t, y):
        return {"shoulder": 1e-3 - 1e4 * y["shoulder.angle"] - 1e3 * y["shoulder"]}

    with pytest.warns(ph.errors.UnstableLoopWarning, match="shoulder"):
        for options in ({"controller": servo}, {"controller": held, "every": 0.01}):
            with raises(ph.errors.UnstableLoopError, "shoulder") as error:
                ph.simulate(system, ph.place(system), 2.0, dt=0.01, **options)
            assert "0.01 s" in str(error.value) and isinstance(error.value, ph.errors.ConvergenceError)
            assert len(error.value.result.t) > 1


FILE = """
phloat: 1
plane: xy
bodies: {disc: {rigid body: {mass: 1 kg, inertia: [0.25, 0.25, 0.5]}}}
joints: {motor: {revolute: [ground, disc.P]}}
controller: {servo: {joint: motor, command: COMMAND, stiffness: 50 N m/rad, damping: 5 N m s/rad}}
"""


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("{move: {to: 30 cm, over: 1 s}}", "30 cm"),
        ("{move: {to: 1 rad, over: 1 m}}", "1 m"),
        ("{trapezoid: {to: 1 rad, speed: 2 N, acceleration: 1 rad/s^2}}", "2 N"),
        ("{table: {times: [0, 1], values: [0, 1]}}", "command"),
        ("{shaped: {command: 3, modes: [2 Hz]}}", "signal"),
    ],
)
def test_a_file_with_a_wrong_command_is_refused_where_it_stands(command, name):
    with raises(ph.errors.FileError, name):
        model = ph.io.parse_model(FILE.replace("COMMAND", command))
        assert model.system and model.controller


def test_a_sampled_loop_is_judged_with_the_other_servos_holding():
    body = ph.RigidBody(1.0, np.diag([0.02] * 3), center=(0.25, 0.0, 0.0), ports={"C": (0.5, 0.0, 0.0)}).discretise()
    hinges = [ph.Revolute("ground", "a.P", name="one"), ph.Revolute("a.C", "b.P", name="two")]
    system = ph.connect({"a": body, "b": body}, hinges, plane="xy")
    sampled = ph.servo("one", ph.move(0.3, over=0.5), stiffness=200.0, damping=40.0, every=0.01)
    other = ph.servo("two", ph.move(0.3, over=0.5), stiffness=100.0, damping=5.0)
    assert abs(ph.control.sampled_loop_poles(ph.linearise(system, ph.place(system)), sampled)[0]) > 1.1  # "two" free
    run = ph.simulate(system, ph.place(system), 0.5, dt=1e-3, controller=[sampled, other])  # without a warning
    assert np.abs(run["one.error"]).max() < 0.02
