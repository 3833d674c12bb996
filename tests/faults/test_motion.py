"""Runs that cannot be: every bad input of simulate is met by a sentence, and a step that cannot be made says where and why."""

import numpy as np
import pytest
from bodies_zoo import steel

import phloat as ph

g = 9.81


def bar(length: float) -> ph.Body:
    J = np.diag([1e-3, length**3 / 12, length**3 / 12])
    return ph.RigidBody(length, J, center=(length / 2, 0, 0), ports={"C": (length, 0, 0)}).discretise()


PENDULUM = ph.connect({"bob": bar(1.0)}, [ph.Revolute("ground", "bob.P", name="pin")], gravity=(0, -g, 0), plane="xy")
START = ph.place(PENDULUM, {"bob.theta": 0.3})
DRIVEN = ph.drive(PENDULUM, "pin")


def run(t_end: object = 1.0, **options) -> ph.Result:
    return ph.simulate(PENDULUM, START, t_end, **({"dt": 0.1} | options))


# --- times -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"t_end": -1.0}, "t_end = -1 s is not after the start at t = 0 s"),
        ({"t_end": 0.0}, "is not after the start"),
        ({"t_end": 1.0, "t_start": 2.0}, "t_end = 1 s is not after the start at t = 2 s"),
        ({"t_end": np.nan}, "t_end holds NaN"),
        ({"t_end": np.inf}, "t_end holds NaN or infinity"),
        ({"t_end": "1"}, "t_end is '1'; it must be a number"),
        ({"t_start": np.nan}, "t_start holds NaN"),
        ({"dt": 0.0}, "dt is 0; it must be positive"),
        ({"dt": -0.1}, "dt is -0.1; it must be positive"),
        ({"dt": np.nan}, "dt holds NaN"),
        ({"dt": "fast"}, "dt is 'fast'; it must be a number"),
        ({"dt": (0.1, 0.1)}, "dt has shape"),
        ({"dt": 2.0}, "dt = 2 s is longer than the run of 1 s"),
        ({"dt": None}, "the step is missing: give dt="),
        ({"dt": None, "scheme": ph.Composition4()}, "the step is missing"),
    ],
)
def test_times_that_make_no_run(given, said):
    with pytest.raises(ph.InputError, match=said):
        run(**given)


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ([0.0, 2.0], "must ascend and lie between 0 and 1 s"),
        ([-1.0, 0.5], "must ascend and lie between 0 and 1 s"),
        ([0.5, 0.2], "must ascend"),
        ([0.5, 0.5], "must ascend"),
        ([0.0, np.nan], "must ascend"),
        (0, "it must be 1 or more"),
        (-3, "it must be 1 or more"),
        (0.5, "must be a number of steps or a row of times"),
        (True, "must be a number of steps or a row of times"),
        ("all", "must be a number of steps or a row of times"),
        (None, "must be a number of steps or a row of times"),
        ([], "must be a number of steps or a row of times"),
        ([[0.0, 0.5]], "must be a number of steps or a row of times"),
        pytest.param([[0.0], [0.1, 0.2]], "must be a number of steps or a row"),
    ],
)
def test_outputs_that_are_nowhere(output, said):
    with pytest.raises(ph.InputError, match=said):
        run(output=output)


# --- inputs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("u", "said"),
    [
        ({"bob.C": (1.0, 2.0)}, r"input 'bob\.C' has shape \(2,\); it must be 3 numbers"),
        ({"pin": (1.0, 2.0)}, r"input 'pin' has shape \(2,\)"),
        ({"pin": np.nan}, "input 'pin' holds NaN"),
        ({"pinn": 1.0}, "no port 'pinn' .*did you mean 'pin'"),
        ([1.0], "u is list; it must be a mapping"),
        ({"pin": lambda t: np.nan if t > 0.5 else 0.0}, r"input 'pin' at t = 0\.5\d* s holds NaN"),
        ({"pin": lambda t: (1.0, 2.0)}, r"input 'pin' at t = 0 s has shape \(2,\)"),
        ({"pin": lambda t: None}, "input 'pin' at t = 0 s is None"),
        ({"pin": ([0.0, 0.5], [1.0, 2.0])}, r"input 'pin' is a table from 0 to 0\.5 s; there is no value at t = 0\.6"),
        ({"pin": ph.position(lambda t: t)}, "input 'pin' is a position, but it takes an effort"),
    ],
)
def test_inputs_that_no_port_takes(u, said):
    with pytest.raises(ph.InputError, match=said):
        run(u=u)


def test_what_an_input_raises_comes_through():
    with pytest.raises(ZeroDivisionError):
        run(u={"pin": lambda t: 1 / 0})


@pytest.mark.parametrize(
    ("controller", "said"),
    [
        (3, "controller is 3; it must be a function"),
        (lambda t, y: None, "the controller returned None at t = 0 s; it must return"),
        (lambda t, y: [1.0], r"the controller returned \[1.0\]"),
        (lambda t, y: {"pin": np.nan}, "controller, 'pin' at t = 0 s holds NaN"),
        (lambda t, y: {"pin": np.nan if t > 0.55 else 0.0}, r"controller, 'pin' at t = 0\.6 s holds NaN"),
        (lambda t, y: {"pin": (1.0, 2.0)}, "controller, 'pin' at t = 0 s has shape"),
        (lambda t, y: {"pin": "left"}, "controller, 'pin' at t = 0 s is 'left'"),
        (lambda t, y: {"pinn": 0.0}, "the controller answers for 'pinn' at t = 0 s; there are: .*pin"),
        (
            lambda t, y: {"pin": 0.0} if t < 0.45 else {"bob.C": np.zeros(3)},
            r"the controller answers for 'bob\.C' at t = 0\.5 s; there were at the start: pin",
        ),
        (lambda t, y: {"pin": y["bob.speed"]}, r"no output 'bob\.speed'"),
    ],
)
def test_controllers_that_answer_nonsense(controller, said):
    with pytest.raises(ph.InputError, match=said):
        run(controller=controller)


def test_a_controller_of_one_argument_is_python_s_own_error():
    with pytest.raises(TypeError, match="positional argument"):
        run(controller=lambda t: {"pin": 0.0})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"every": 0.1}, "every= is the sample time of a controller, and there is none"),
        ({"every": 0.0, "controller": lambda t, y: {}}, "every is 0; it must be positive"),
        ({"every": np.nan, "controller": lambda t, y: {}}, "every holds NaN"),
    ],
)
def test_sample_times_that_are_none(given, said):
    with pytest.raises(ph.InputError, match=said):
        run(**given)


def test_a_controller_may_return_any_mapping():
    from types import MappingProxyType

    assert len(run(controller=lambda t, y: MappingProxyType({"pin": 0.0}))) == 11


# --- events ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ph.Event(3), "when and do must be functions"),
        (lambda: ph.Event(lambda t, y: 1.0, do=3), "when and do must be functions"),
        (lambda: ph.Event(lambda t, y: 1.0, direction=2), "has direction 2; it must be -1, 0 or 1"),
    ],
)
def test_events_that_are_none(make, said):
    with pytest.raises(ph.InputError, match=said):
        make()


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([3], "one of the events is 3; write Event"),
        ([lambda t, y: 1.0], "one of the events is <function"),
        ([ph.Event(lambda t, y: np.nan, name="odd")], "event 'odd' is nan at t = 0 s; it must be a finite number"),
        ([ph.Event(lambda t, y: np.zeros(2))], "it must be a finite number"),
        pytest.param([ph.Event(lambda t, y: None)], "it must be a finite number"),
        pytest.param([ph.Event(lambda t, y: "x")], "it must be a finite number"),
        pytest.param(ph.Event(lambda t, y: 1.0), "events"),
    ],
)
def test_events_that_cannot_be_watched(events, said):
    with pytest.raises(ph.InputError, match=said):
        run(events=events)


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (lambda t, state: 3, "int is no State"),
        (lambda t, state: state.with_values({"bob.r_P": (1.0, 0.0)}), "joint 'pin' is open by 1"),
        (lambda t, state: state.with_values({"bob.v_P": (1.0, 0.0)}), "velocities miss joint 'pin'"),
    ],
)
def test_events_that_do_what_joints_forbid(action, said):
    with pytest.raises(ph.InputError, match=said):
        run(events=[ph.Event(lambda t, y: t - 0.55, do=action)])


# --- starts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("system", "state", "said"),
    [
        (PENDULUM, START.with_values({"bob.r_P": (0.1, 0.0)}), "joint 'pin' is open by 0.1; close it with place"),
        (PENDULUM, START.with_values({"bob.v_P": (0.1, 0.0)}), "velocities miss joint 'pin' by .*set_moving"),
        (PENDULUM, 3, "int is no State"),
        (3, START, "int is no System"),
        (PENDULUM, ph.State(START.bodies, START.layout, np.nan * START.e), "NaN or infinity"),
    ],
)
def test_starts_that_no_joint_allows(system, state, said):
    with pytest.raises(ph.InputError, match=said):
        ph.simulate(system, state, 1.0, dt=0.1)


@pytest.mark.parametrize(
    ("moving", "u", "said"),
    [
        ({}, {"pin": 1.0}, "velocities miss joint 'pin' by 1"),
        ({}, {"pin": ph.position(lambda t: 0.3 + t)}, "velocities miss joint 'pin' by 1"),
        ({"pin": 1.0}, {"pin": ph.position(lambda t: 1 + t)}, "drive 'pin' starts at 1, but the joint stands at 0.3"),
        (
            {},
            {"pin": ph.position(lambda t: 0.3 if t < 0.45 else np.nan)},
            r"the position of 'pin' at t = 0\.5 s holds NaN",
        ),
    ],
)
def test_drives_that_start_elsewhere(moving, u, said):
    state = ph.set_moving(DRIVEN, START, u=moving)
    with pytest.raises(ph.InputError, match=said):
        ph.simulate(DRIVEN, state, 1.0, dt=0.1, u=u)


@pytest.mark.parametrize("of", ["translation", "pose"])
def test_a_driven_frame_that_starts_elsewhere(of):
    system = ph.connect({"bob": bar(1.0)}, [ph.Drive("ground", "bob.C", of=of, name="hand")], plane="xy")
    there, said = ((1.0, 0.2), "0.2 m and 0 rad") if of == "translation" else ((1.0, 0.0, 0.4), r"0 m and 0\.\d+ rad")
    state = ph.place(system, {"bob.r_P": (0.0, 0.0)})
    with pytest.raises(ph.JointError, match=f"drive 'hand' starts {said} away from its port at t = 0 s"):
        ph.simulate(system, state, 1.0, dt=0.1, u={"hand": ph.position(lambda t: there)})


# --- schemes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ph.Midpoint(rtol=0.0), "rtol is 0; it must be positive"),
        (lambda: ph.Midpoint(rtol=np.nan), "rtol holds NaN"),
        (lambda: ph.Midpoint(rtol=1e-4, atol=-1.0), "atol is -1; it must not be negative"),
    ],
)
def test_tolerances_that_are_none(make, said):
    with pytest.raises(ph.InputError, match=said):
        make()


def test_an_adaptive_step_asks_for_the_sample_time_of_a_controller():
    with pytest.raises(ph.InputError, match="a controller needs its sample time: every=…"):
        run(scheme=ph.Midpoint(rtol=1e-4), controller=lambda t, y: {})


def test_a_composition_takes_no_damping():
    damped = ph.connect(
        {"bob": bar(1.0)}, [ph.Revolute("ground", "bob.P", name="pin"), ph.JointDamper("pin", damping=1.0)], plane="xy"
    )
    with pytest.raises(ph.InputError, match=r"'pin\.damper' is damped, and Composition4 takes steps back in time"):
        ph.simulate(damped, ph.place(damped), 1.0, dt=0.1, scheme=ph.Composition4())
    rod = ph.Beam(1.0, ph.Circle(0.01), steel, damping=ph.KelvinVoigt(1e-4)).discretise(1)
    soft = ph.connect({"rod": rod}, [ph.Weld("ground", "rod.P")], plane="xy")
    with pytest.raises(ph.InputError, match="'rod' is damped"):
        ph.simulate(soft, ph.place(soft), 1.0, dt=0.1, scheme=ph.Composition4())


@pytest.mark.parametrize("scheme", ["midpoint", ph.Midpoint, None], ids=["a word", "a class", "none"])
def test_what_is_no_scheme_is_said(scheme):
    with pytest.raises(ph.InputError, match="scheme"):
        run(scheme=scheme)


# --- steps that cannot be made ---------------------------------------------------------------------------------------


def four_bar() -> tuple[ph.System, ph.State]:
    """Its crank cannot turn round: at about 87° the coupler and the rocker are in a line."""
    joints = [
        ph.Revolute("ground", "a.P", name="m"),
        ph.Revolute("a.C", "b.P", name="e"),
        ph.Revolute("b.C", "c.C", name="f"),
        ph.Revolute("ground", "c.P", at=(2.0, 0.0, 0.0), name="n"),
    ]
    bars = {"a": bar(1.0), "b": bar(1.2), "c": bar(1.0)}
    system = ph.drive(ph.connect(bars, joints, plane="xy", gravity=(0, -g, 0)), "m")
    return system, ph.place(system, {"a.theta": 1.0}, near={"b.theta": 0.0, "c.theta": 1.8})


@pytest.mark.parametrize("drive", [1.0, ph.position(lambda t: 1.0 + t, rate=lambda t: 1.0)], ids=["rate", "position"])
def test_a_loop_pulled_beyond_its_reach_says_when_and_where(drive):
    system, state = four_bar()
    reach = np.arccos((1.0 + 4.0 - 2.2**2) / (2 * 1.0 * 2.0))  # the angle of the crank there
    with pytest.raises(ph.ConvergenceError, match=r"Newton's method fails at t = 0\.53\d* s: (body|joint) '") as caught:
        ph.simulate(system, ph.set_moving(system, state, u={"m": drive}), 3.0, dt=0.01, u={"m": drive})
    before = caught.value.result
    assert isinstance(before, ph.Result)
    assert before["a.theta"][-1] == pytest.approx(reach, abs=1e-3)
    assert len(before) == 55
    assert np.isfinite(before.e).all()
    assert max(np.abs(gap).max() for gap in ph.gaps(system, before.state()).values()) < 1e-12
    assert before.info["halved"]


def test_a_drive_that_jumps_over_half_a_turn_says_so():
    drive = ph.position(lambda t: 0.3 if t < 0.5 else 3.7, rate=lambda t: 0.0)
    with pytest.raises(ph.ConvergenceError, match=r"fails at t = 0\.49\d* s: joint 'pin' does not settle") as caught:
        ph.simulate(DRIVEN, START, 1.0, dt=0.01, u={"pin": drive})
    assert caught.value.result.t[-1] == pytest.approx(0.5, abs=1e-4)


def test_a_step_that_fails_is_halved_and_the_run_goes_on():
    """The same loop just inside its reach: steps near the dead point are halved, and what is kept is kept."""
    system, state = four_bar()
    reach = np.arccos((1.0 + 4.0 - 2.2**2) / (2 * 1.0 * 2.0)) - 1e-6

    def to(t: float) -> float:
        return 1.0 + (reach - 1.0) * np.sin(0.5 * np.pi * t) ** 2

    drive = {"m": ph.position(to, rate=lambda t: (reach - 1.0) * 0.5 * np.pi * np.sin(np.pi * t))}
    result = ph.simulate(system, ph.set_moving(system, state, u=drive), 2.0, dt=0.01, u=drive)
    np.testing.assert_allclose(result["m.angle"], [to(t) for t in result.t], atol=1e-11)
    assert max(np.abs(gap).max() for gap in ph.gaps(system, result.state()).values()) < 1e-12


def test_a_body_too_fine_to_move_says_so():
    fine = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), steel).discretise(220)
    system = ph.connect({"rod": fine}, [ph.Revolute("ground", "rod.P")], plane="xy")
    with pytest.raises(ph.InputError, match=r"880 deformation coordinates is too fine to move \(at most 600\)"):
        ph.simulate(system, ph.place(system), 0.1, dt=0.1)


@pytest.mark.parametrize("inertia", [np.zeros((3, 3)), np.diag([0.0, 0.1, 0.1]), np.diag([1.0, -1.0, 1.0])])
def test_bodies_without_mass_are_refused_before_they_move(inertia):
    with pytest.raises(ph.InputError, match="positive definite"):
        ph.RigidBody(1.0, inertia)
    with pytest.raises(ph.InputError, match="mass is 0; it must be positive"):
        ph.RigidBody(0.0, np.eye(3))
    with pytest.raises(ph.InputError, match="positive"):
        ph.PointMass(0.0)


def test_a_reduced_body_clamped_in_ways_it_does_not_know_is_said_to_repeat():
    """One bending mode cannot tell two clamps apart; the run is made, and joints are named."""
    rod = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), steel, frame="pinned").discretise(6).reduced(modes=1)
    joints = [ph.Weld("ground", "rod.P", name="left"), ph.Weld("ground", "rod.C", at=(1.0, 0, 0), name="right")]
    system = ph.connect({"rod": rod}, joints, plane="xy", gravity=(0, -g, 0))
    with pytest.warns(ph.RedundancyWarning, match="joints 'left', 'right' repeat each other in 1 rows"):
        result = ph.simulate(system, ph.place(system), 0.1, dt=0.01)
    assert max(np.abs(gap).max() for gap in ph.gaps(system, result.state()).values()) < 1e-12


def test_a_spring_without_a_direction_says_so():
    system = ph.connect({"m": ph.PointMass(1.0).discretise()}, [ph.Spring("ground", "m.P", stiffness=9.0, length=0.1)])
    with pytest.raises(ph.InputError, match="stand at one point, so it pulls nowhere"):
        ph.simulate(system, ph.place(system), 0.1, dt=0.01)
