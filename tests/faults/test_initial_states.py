"""What initial states and inputs say when they cannot be."""

import warnings

import numpy as np
import pytest
from messages import raises

import phloat as ph
from phloat.motion.inputs.inputs import Inputs

BODY = ph.RigidBody(2.0, np.eye(3), center=(0.5, 0, 0), ports={"tip": (1.0, 0, 0)}).discretise()
ARM = ph.connect(
    {"a": BODY, "b": BODY},
    joints=[ph.Revolute("ground", "a.P", name="motor"), ph.Revolute("a.tip", "b.P", name="elbow")],
    plane="xy",
    gravity=(0, -9.81, 0),
)
DRIVEN = ph.drive(ARM, "motor")
REST = ph.place(ARM)
ROD = ph.Beam(0.3, ph.Circle(6e-3), ph.Material(E=2e11, rho=7870.0), frame="pinned").discretise(2)
SLIDER = ph.connect(
    {"rod": ROD, "slider": ph.PointMass(0.03).discretise()},
    joints=[
        ph.Drive("ground", "rod.P", name="crank pin"),
        ph.Revolute("rod.C", "slider.P", name="wrist"),
        ph.Slide("ground", "slider.P", along=(1, 0, 0), name="rail"),
    ],
    plane="xy",
)
AT_DEAD_POINT = ph.place(SLIDER, {"rod.r_P": (0.15, 0.0)})


# --- velocities ------------------------------------------------------------------------------------------------------


def test_an_unknown_velocity_is_named_with_those_there_are():
    with raises(ph.errors.PortError, "'a.theta'"):
        ph.set_moving(ARM, REST, {"a.theta": 1.0})
    with raises(ph.errors.PortError, "'motor.rate'"):
        ph.set_moving(ARM, REST, {"motor.rate": 1.0})


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"a.v_P": (1, 2, 3)}, "a.v_P"),
        ({"a.omega": np.nan}, "a.omega"),
        ({"motor.angle_rate": "fast"}, "motor.angle_rate"),
        ([("a.omega", 1)], "given"),
    ],
)
def test_velocities_must_be_numbers_of_their_shape(given, name):
    with raises(ph.errors.InputError, name):
        ph.set_moving(ARM, REST, given)


def test_a_velocity_against_a_joint_names_the_joint_and_the_miss():
    with raises(ph.errors.JointError, "a.v_P", "'motor'"):
        ph.set_moving(ARM, REST, {"a.v_P": (1.0, 0.0)})


def test_a_velocity_against_a_drive_names_both():
    with raises(ph.errors.JointError, "rod.v_P", "'crank pin'", "22.5"):
        ph.set_moving(SLIDER, AT_DEAD_POINT, {"rod.v_P": (0.0, 0.0)}, u={"crank pin": (0.0, 22.5)})


def test_drives_that_no_motion_follows_are_refused():
    """Both ends of a stiff rod in line: the pin cannot go along the rail while a weld holds the other end."""
    block = ph.RigidBody(1.0, np.eye(3), ports={"C": (1.0, 0, 0)}).discretise()
    joints = [ph.Drive("ground", "b.P", name="left"), ph.Drive("ground", "b.C", name="right")]
    system = ph.connect({"b": block}, joints=joints, plane="xy")
    with raises(ph.errors.JointError, golden=False):
        ph.set_moving(system, ph.place(system), u={"left": (1.0, 0.0), "right": (-1.0, 0.0)})


def test_rates_of_joints_that_contradict_are_refused():
    with raises(ph.errors.JointError, "a.omega", "'motor.angle_rate'"):
        ph.set_moving(ARM, REST, {"a.omega": 1.0, "motor.angle_rate": 2.0})


# --- every verb ------------------------------------------------------------------------------------------------------

VERBS = {"set_moving": ph.set_moving, "settle": ph.settle, "equilibrium": ph.equilibrium, "reactions": ph.reactions}


@pytest.mark.parametrize("verb", VERBS)
def test_an_open_joint_is_named(verb):
    with raises(ph.errors.InputError, "'elbow'", "0.5"):
        VERBS[verb](ARM, REST.with_values({"b.r_P": (1.5, 0.0)}))


@pytest.mark.parametrize("verb", VERBS)
def test_a_state_of_other_bodies_is_refused(verb):
    with raises(ph.errors.InputError, "rod, slider", "a, b"):
        VERBS[verb](ARM, AT_DEAD_POINT)


@pytest.mark.parametrize("verb", VERBS)
def test_time_is_a_number(verb):
    with raises(ph.errors.InputError):
        VERBS[verb](ARM, REST, t=np.nan)


@pytest.mark.parametrize("verb", ["settle", "reactions"])
def test_velocities_that_miss_a_joint_are_named(verb):
    with raises(ph.errors.JointError, "'motor'"):
        VERBS[verb](ARM, REST.with_values({"a.v_P": (3.0, 0.0)}))


def test_an_equilibrium_is_at_rest():
    with raises(ph.errors.InputError, "'motor'"):
        ph.equilibrium(DRIVEN, REST, u={"motor": 2.0})


def test_what_nothing_holds_runs_away():
    system = ph.connect({"a": BODY}, plane="xy", gravity=(0, -9.81, 0))
    with raises(ph.errors.InputError, "'a'"):
        ph.equilibrium(system, ph.place(system))


def test_a_pendulum_with_a_motor_that_never_rests_is_told_so():
    system = ph.connect({"a": BODY}, joints=[ph.Revolute("ground", "a.P", name="motor")], plane="xy")
    with raises(ph.errors.AccuracyError, "'motor.angle'", "lock(system, 'motor')"):
        ph.equilibrium(system, ph.place(system), u={"motor": 1.0})


STEEL_LINK = ph.RigidBody(1.0, 0.1 * np.eye(3), center=(0.2, 0.0, 0.0), ports={"C": (1.0, 0.0, 0.0)}).discretise()
WEIGHT = (0.0, 0.0, -9.81)


@pytest.mark.parametrize("turned", [0.0, 0.5])
def test_the_free_axis_that_nothing_holds_is_named_and_not_those_beside_it(turned):
    """A telescope on a sagging boom slides off; the column below and the payload on a ball joint are in balance."""
    boom = ph.Beam(1.0, ph.Rectangle(0.02, 0.03), ph.Material(E=7e10, rho=2700.0, nu=0.3)).discretise(2)
    joints = [
        ph.Revolute("ground", "column.P", name="turntable"),
        ph.Weld("column.C", "boom.P", turned=(0.0, turned, 0.0)),
        ph.Prismatic("boom.C", "tube.P", axis=(1, 0, 0), name="telescope"),
        ph.Spherical("tube.C", "payload.P", name="hook"),
    ]
    bodies = {"column": STEEL_LINK, "boom": boom, "tube": STEEL_LINK, "payload": STEEL_LINK}
    system = ph.connect(bodies, joints, gravity=WEIGHT)
    with raises(
        (ph.errors.AccuracyError, ph.errors.InputError), "'telescope.slide'", "lock(system, 'telescope')"
    ) as error:
        ph.equilibrium(system, ph.place(system))
    assert "turntable" not in str(error.value)
    assert "hook" not in str(error.value)
    held = ph.lock(system, "telescope")
    ph.equilibrium(held, ph.place(held))


@pytest.mark.parametrize(
    ("joints", "names"), [((), ("'payload'",)), ((ph.Weld("b.C", "payload.P"),), ("'b', 'payload'",))]
)
def test_bodies_that_hang_on_nothing_are_named(joints, names):
    bodies = (
        {"a": STEEL_LINK, "b": STEEL_LINK, "payload": STEEL_LINK}
        if joints
        else {"a": STEEL_LINK, "payload": STEEL_LINK}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.errors.LooseBodyWarning)
        system = ph.connect(bodies, [ph.Revolute("ground", "a.P", axis=(0, 1, 0), name="pin"), *joints], gravity=WEIGHT)
    with raises((ph.errors.AccuracyError, ph.errors.InputError), *names, "nothing"):
        ph.equilibrium(system, ph.place(system))


# --- inputs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("u", "error", "name"),
    [
        ({"motr": 1.0}, ph.errors.PortError, "'motr'"),
        ({3: 1.0}, ph.errors.PortError, "3"),
        (1.0, ph.errors.InputError, "float"),
        ({"a.P": 1.0}, ph.errors.InputError, "'a.P'"),
        ({"motor": (1.0, 2.0)}, ph.errors.InputError, "'motor'"),
        ({"motor": "fast"}, ph.errors.InputError, "'fast'"),
        ({"motor": None}, ph.errors.InputError, "None"),
        ({"motor": np.inf}, ph.errors.InputError, "'motor'"),
        ({"motor": ([0.0, 1.0], [1.0])}, ph.errors.InputError, "'motor'"),
        ({"motor": ([0.0], [1.0])}, ph.errors.InputError, "'motor'"),
        ({"motor": ([0.0, 0.0], [1.0, 2.0])}, ph.errors.InputError, "'motor'"),
        ({"motor": ([0.0, 1.0], [1.0, np.nan])}, ph.errors.InputError, "'motor'"),
        ({"motor": ([0.0, 1.0], [(1.0, 2.0), (3.0, 4.0)])}, ph.errors.InputError, "'motor'"),
        ({"a.P": ph.piecewise({0.0: 1.0})}, ph.errors.InputError, "'a.P'"),
    ],
)
def test_inputs_that_cannot_be_are_named(u, error, name):
    with raises(error, name):
        Inputs(ARM, u)


@pytest.mark.parametrize("function", [lambda t: (t, t), lambda t: np.nan, lambda t: None], ids=["pair", "nan", "none"])
def test_functions_that_return_the_wrong_thing_are_named_with_the_time(function):
    with raises(ph.errors.InputError, "'motor'", "0.25"):
        Inputs(ARM, {"motor": function}).at(0.25)


def test_a_port_of_a_split_beam_is_given_once():
    beam = ph.Beam(1.0, ph.Circle(6e-3), ph.Material(E=2e11, rho=7870.0)).split(3).discretise(1)
    system = ph.connect({"b": beam}, joints=[ph.Weld("ground", "b.P")], plane="xy")
    with raises(ph.errors.InputError, "'b.C'", "'b.3.C'"):
        Inputs(system, {"b.C": (0, 1, 0), "b.3.C": (0, 1, 0)})


def test_a_table_ends_where_it_ends():
    u = Inputs(ARM, {"motor": ([0.0, 1.0], [0.0, 5.0])})
    assert u.at(1.0 + 1e-12)[ARM.ports["motor"]][0] == pytest.approx(5.0)
    with raises(ph.errors.InputError, "'motor'", "1.2 s"):
        u.at(1.2)
    with raises(ph.errors.InputError, "1.2 s"):
        u.mean(0.8, 1.2)


def test_positions_are_for_driven_joints_only():
    with raises(ph.errors.JointError, "'motor'"):
        Inputs(ARM, {"motor": ph.prescribed_position(np.sin)})
    ball = ph.connect({"a": BODY}, joints=[ph.Spherical("ground", "a.P", name="ball")])
    with raises(ph.errors.JointError, "'ball'"):
        Inputs(ph.drive(ball, "ball"), {"ball": ph.prescribed_position(np.sin)})


def test_positions_are_functions():
    with raises(ph.errors.InputError, "1.0"):
        ph.prescribed_position(1.0)
    with raises(ph.errors.InputError, "rate"):
        ph.prescribed_position(np.sin, rate=2)


def test_positions_are_checked_with_their_time():
    with raises(ph.errors.InputError, "'motor'"):
        Inputs(DRIVEN, {"motor": ph.prescribed_position(lambda t: (t, t))}).at(0.5)
    hand = ph.connect({"a": BODY}, joints=[ph.Drive("ground", "a.P", of="pose", name="hand")])
    with raises(ph.errors.InputError, "'hand'"):
        Inputs(hand, {"hand": ph.prescribed_position(lambda t: np.zeros(6))}).at(0.5)
    with raises(ph.errors.InputError, "'hand'"):
        Inputs(hand, {"hand": ph.prescribed_position(lambda t: (np.zeros(3), 2 * np.eye(3)))}).at(0.5)


@pytest.mark.parametrize(
    ("corners", "name"),
    [
        ({}, "piecewise"),
        ({0.0: (1.0, 2.0), 1.0: 3.0}, "t = 1"),
        ({0.0: np.nan}, "t = 0"),
        ({np.nan: 1.0}, "piecewise"),
        ({"now": 1.0}, "'now'"),
        ({0.0: np.eye(2)}, "(2, 2)"),
        ([(0.0, 1.0)], "list"),
    ],
)
def test_corners_that_cannot_be_are_named(corners, name):
    with raises(ph.errors.InputError, name):
        ph.piecewise(corners)
