"""What initial states and inputs say when they cannot be."""

import numpy as np
import pytest

import phloat as ph
from phloat.motion.inputs import Inputs

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


def said(error, words):
    return pytest.raises(error, match=words)


# --- velocities ------------------------------------------------------------------------------------------------------


def test_an_unknown_velocity_is_named_with_those_there_are():
    with said(ph.PortError, r"no velocity 'a\.theta'.*a\.v_P, a\.omega.*motor\.angle_rate"):
        ph.set_moving(ARM, REST, {"a.theta": 1.0})
    with said(ph.PortError, r"no velocity 'motor\.rate' \(did you mean 'motor\.angle_rate'"):
        ph.set_moving(ARM, REST, {"motor.rate": 1.0})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"a.v_P": (1, 2, 3)}, r"a\.v_P has shape \(3,\); it must be 2 numbers"),
        ({"a.omega": np.nan}, r"a\.omega holds NaN or infinity"),
        ({"motor.angle_rate": "fast"}, r"motor\.angle_rate is 'fast'; it must be a number"),
        ([("a.omega", 1)], "given is list; it must be a mapping"),
    ],
)
def test_velocities_must_be_numbers_of_their_shape(given, words):
    with said(ph.InputError, words):
        ph.set_moving(ARM, REST, given)


def test_a_velocity_against_a_joint_names_the_joint_and_the_miss():
    with said(ph.JointError, r"the given a\.v_P contradict the joints: .* miss 'motor' by 1; give less"):
        ph.set_moving(ARM, REST, {"a.v_P": (1.0, 0.0)})


def test_a_velocity_against_a_drive_names_both():
    with said(ph.JointError, r"the given rod\.v_P and the drives contradict the joints: .* miss 'crank pin' by 22\.5"):
        ph.set_moving(SLIDER, AT_DEAD_POINT, {"rod.v_P": (0.0, 0.0)}, u={"crank pin": (0.0, 22.5)})


def test_drives_that_no_motion_follows_are_refused():
    """Both ends of a stiff rod in line: the pin cannot go along the rail while a weld holds the other end."""
    block = ph.RigidBody(1.0, np.eye(3), ports={"C": (1.0, 0, 0)}).discretise()
    joints = [ph.Drive("ground", "b.P", name="left"), ph.Drive("ground", "b.C", name="right")]
    system = ph.connect({"b": block}, joints=joints, plane="xy")
    with said(ph.JointError, r"the drives contradict the joints: .* miss '(left|right)' by 1;"):
        ph.set_moving(system, ph.place(system), u={"left": (1.0, 0.0), "right": (-1.0, 0.0)})


def test_rates_of_joints_that_contradict_are_refused():
    with said(ph.JointError, r"the given a\.omega, motor\.angle_rate contradict .* miss 'motor\.angle_rate' by 1;"):
        ph.set_moving(ARM, REST, {"a.omega": 1.0, "motor.angle_rate": 2.0})


# --- every verb ------------------------------------------------------------------------------------------------------

VERBS = {"set_moving": ph.set_moving, "settle": ph.settle, "equilibrium": ph.equilibrium, "reactions": ph.reactions}


@pytest.mark.parametrize("verb", VERBS)
def test_an_open_joint_is_named(verb):
    with said(ph.InputError, r"joint 'elbow' is open by 0\.5; close it with place"):
        VERBS[verb](ARM, REST.with_values({"b.r_P": (1.5, 0.0)}))


@pytest.mark.parametrize("verb", VERBS)
def test_a_state_of_other_bodies_is_refused(verb):
    with said(ph.InputError, "the state is of rod, slider, the system of a, b"):
        VERBS[verb](ARM, AT_DEAD_POINT)


@pytest.mark.parametrize("verb", VERBS)
def test_time_is_a_number(verb):
    with said(ph.InputError, "t holds NaN"):
        VERBS[verb](ARM, REST, t=np.nan)


@pytest.mark.parametrize("verb", ["settle", "reactions"])
def test_velocities_that_miss_a_joint_are_named(verb):
    with said(ph.JointError, r"velocities miss joint 'motor' by 3; make them agree with set_moving"):
        VERBS[verb](ARM, REST.with_values({"a.v_P": (3.0, 0.0)}))


def test_an_equilibrium_is_at_rest():
    with said(ph.InputError, "'motor' is driven at 2; an equilibrium is at rest"):
        ph.equilibrium(DRIVEN, REST, u={"motor": 2.0})


def test_what_nothing_holds_runs_away():
    system = ph.connect({"a": BODY}, plane="xy", gravity=(0, -9.81, 0))
    with said(ph.InputError, "'a' runs away: nothing holds it"):
        ph.equilibrium(system, ph.place(system))


def test_a_pendulum_with_a_motor_that_never_rests_is_told_so():
    system = ph.connect({"a": BODY}, joints=[ph.Revolute("ground", "a.P", name="motor")], plane="xy")
    with said(ph.AccuracyError, r"no equilibrium was found: .* out of balance by .* most on 'a'"):
        ph.equilibrium(system, ph.place(system), u={"motor": 1.0})


# --- inputs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("u", "error", "words"),
    [
        ({"motr": 1.0}, ph.PortError, r"no port 'motr' \(did you mean 'motor'"),
        ({3: 1.0}, ph.PortError, "no port 3"),
        (1.0, ph.InputError, "u is float; it must be a mapping"),
        ({"a.P": 1.0}, ph.InputError, r"input 'a\.P' has shape \(\); it must be 3 numbers"),
        ({"motor": (1.0, 2.0)}, ph.InputError, r"input 'motor' has shape \(2,\); it must be 1 numbers"),
        ({"motor": "fast"}, ph.InputError, "input 'motor' is 'fast'"),
        ({"motor": None}, ph.InputError, "input 'motor' is None"),
        ({"motor": np.inf}, ph.InputError, "input 'motor' holds NaN or infinity"),
        ({"motor": ([0.0, 1.0], [1.0])}, ph.InputError, "'motor' is a pair of 2 times and values of shape"),
        ({"motor": ([0.0], [1.0])}, ph.InputError, "a value for each of two times or more"),
        ({"motor": ([0.0, 0.0], [1.0, 2.0])}, ph.InputError, "the times of input 'motor' must ascend; 0 does not"),
        ({"motor": ([0.0, 1.0], [1.0, np.nan])}, ph.InputError, "the values of input 'motor' hold NaN"),
        ({"motor": ([0.0, 1.0], [(1.0, 2.0), (3.0, 4.0)])}, ph.InputError, r"input 'motor' has shape \(2,\)"),
        ({"a.P": ph.piecewise({0.0: 1.0})}, ph.InputError, r"input 'a\.P' has shape \(\)"),
    ],
)
def test_inputs_that_cannot_be_are_named(u, error, words):
    with said(error, words):
        Inputs(ARM, u)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda t: (t, t), r"input 'motor' at t = 0\.25 s has shape \(2,\)"),
        (lambda t: np.nan, r"input 'motor' at t = 0\.25 s holds NaN"),
        (lambda t: None, r"input 'motor' at t = 0\.25 s is None"),
    ],
)
def test_functions_that_return_the_wrong_thing_are_named_with_the_time(function, words):
    with said(ph.InputError, words):
        Inputs(ARM, {"motor": function}).at(0.25)


def test_a_port_of_a_split_beam_is_given_once():
    beam = ph.Beam(1.0, ph.Circle(6e-3), ph.Material(E=2e11, rho=7870.0)).split(3).discretise(1)
    system = ph.connect({"b": beam}, joints=[ph.Weld("ground", "b.P")], plane="xy")
    with said(ph.InputError, r"inputs 'b\.C' and 'b\.3\.C' are of one port"):
        Inputs(system, {"b.C": (0, 1, 0), "b.3.C": (0, 1, 0)})


def test_a_table_ends_where_it_ends():
    u = Inputs(ARM, {"motor": ([0.0, 1.0], [0.0, 5.0])})
    assert u.at(1.0 + 1e-12)[ARM.ports["motor"]][0] == pytest.approx(5.0)
    with said(ph.InputError, r"input 'motor' is a table from 0 to 1 s; there is no value at t = 1\.2 s"):
        u.at(1.2)
    with said(ph.InputError, r"no value at t = 1\.2 s"):
        u.mean(0.8, 1.2)


def test_positions_are_for_driven_joints_only():
    with said(ph.JointError, r"input 'motor' is a position, but it takes an effort; .* drive\(system, name\)"):
        Inputs(ARM, {"motor": ph.position(np.sin)})
    ball = ph.connect({"a": BODY}, joints=[ph.Spherical("ground", "a.P", name="ball")])
    with said(ph.JointError, "this joint has no angle or slide; give its rate"):
        Inputs(ph.drive(ball, "ball"), {"ball": ph.position(np.sin)})


def test_positions_are_functions():
    with said(ph.InputError, r"position is 1\.0; it must be a function of t"):
        ph.position(1.0)
    with said(ph.InputError, r"the rate of a position is 2; it must be a function of t"):
        ph.position(np.sin, rate=2)


def test_positions_are_checked_with_their_time():
    with said(ph.InputError, r"the position of 'motor' at t = .* s has shape \(2,\)"):
        Inputs(DRIVEN, {"motor": ph.position(lambda t: (t, t))}).at(0.5)
    hand = ph.connect({"a": BODY}, joints=[ph.Drive("ground", "a.P", of="pose", name="hand")])
    with said(ph.InputError, r"the position of 'hand' at t = .* must be a pair \(point, 3 × 3 rotation\)"):
        Inputs(hand, {"hand": ph.position(lambda t: np.zeros(6))}).at(0.5)
    with said(ph.InputError, "has no rotation: AᵀA misses the identity by 3"):
        Inputs(hand, {"hand": ph.position(lambda t: (np.zeros(3), 2 * np.eye(3)))}).at(0.5)


@pytest.mark.parametrize(
    ("corners", "words"),
    [
        ({}, "piecewise has no corners"),
        ({0.0: (1.0, 2.0), 1.0: 3.0}, r"piecewise at t = 1 has shape \(\); it must be 2 numbers"),
        ({0.0: np.nan}, "piecewise at t = 0 holds NaN"),
        ({np.nan: 1.0}, "a time of piecewise holds NaN"),
        ({"now": 1.0}, "a time of piecewise is 'now'"),
        ({0.0: np.eye(2)}, r"a value of piecewise has shape \(2, 2\)"),
        ([(0.0, 1.0)], "piecewise is list; it must be a mapping"),
    ],
)
def test_corners_that_cannot_be_are_named(corners, words):
    with said(ph.InputError, words):
        ph.piecewise(corners)
