"""Runs that cannot be: every bad input of simulate is met by a sentence, and a step that cannot be made says where and why."""

from dataclasses import replace

import numpy as np
import pytest
from bodies_zoo import steel
from messages import raises, warns

import phloat as ph
from phloat.motion.schemes.midpoint import _require_losses

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
    ("given", "name"),
    [
        ({"t_end": -1.0}, "t_end"),
        ({"t_end": 0.0}, "t_end"),
        ({"t_end": 1.0, "t_start": 2.0}, "t_end"),
        ({"t_end": np.nan}, "t_end"),
        ({"t_end": np.inf}, "t_end"),
        ({"t_end": "1"}, "t_end"),
        ({"t_start": np.nan}, "t_start"),
        ({"dt": 0.0}, "dt"),
        ({"dt": -0.1}, "dt"),
        ({"dt": np.nan}, "dt"),
        ({"dt": "fast"}, "dt"),
        ({"dt": (0.1, 0.1)}, "dt"),
        ({"dt": 2.0}, "dt"),
        ({"dt": None}, "dt"),
        ({"dt": None, "scheme": ph.Composition4()}, "dt"),
    ],
)
def test_times_that_make_no_run(given, name):
    with raises(ph.errors.InputError, name):
        run(**given)


@pytest.mark.parametrize(
    ("output", "name"),
    [
        ([0.0, 2.0], "output"),
        ([-1.0, 0.5], "output"),
        ([0.5, 0.2], "output"),
        ([0.5, 0.5], "output"),
        ([0.0, np.nan], "output"),
        (0, "output"),
        (-3, "output"),
        (0.5, "output"),
        (True, "output"),
        ("all", "output"),
        (None, "output"),
        ([], "output"),
        ([[0.0, 0.5]], "output"),
        pytest.param([[0.0], [0.1, 0.2]], "output"),
    ],
)
def test_outputs_that_are_nowhere(output, name):
    with raises(ph.errors.InputError, name):
        run(output=output)


# --- inputs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("u", "names"),
    [
        ({"bob.C": (1.0, 2.0)}, ("'bob.C'",)),
        ({"pin": (1.0, 2.0)}, ("'pin'",)),
        ({"pin": np.nan}, ("'pin'",)),
        ({"pinn": 1.0}, ("'pinn'",)),
        ([1.0], ("u is",)),
        ({"pin": lambda t: np.nan if t > 0.5 else 0.0}, ("'pin'", "0.5")),
        ({"pin": lambda t: (1.0, 2.0)}, ("'pin'",)),
        ({"pin": lambda t: None}, ("'pin'", "None")),
        ({"pin": ([0.0, 0.5], [1.0, 2.0])}, ("'pin'", "0.6")),
        ({"pin": ph.prescribed_position(lambda t: t)}, ("'pin'",)),
    ],
)
def test_inputs_that_no_port_takes(u, names):
    with raises(ph.errors.InputError, *names):
        run(u=u)


def test_what_an_input_raises_comes_through():
    with pytest.raises(ZeroDivisionError):
        run(u={"pin": lambda t: 1 / 0})


@pytest.mark.parametrize(
    ("controller", "names"),
    [
        (3, ("controller", "3")),
        (lambda t, y: None, ("None",)),
        (lambda t, y: [1.0], ("[1.0]",)),
        (lambda t, y: {"pin": np.nan}, ("'pin'",)),
        (lambda t, y: {"pin": np.nan if t > 0.55 else 0.0}, ("'pin'", "0.6")),
        (lambda t, y: {"pin": (1.0, 2.0)}, ("'pin'",)),
        (lambda t, y: {"pin": "left"}, ("'pin'", "'left'")),
        (lambda t, y: {"pinn": 0.0}, ("'pinn'",)),
        (lambda t, y: {"pin": 0.0} if t < 0.45 else {"bob.C": np.zeros(3)}, ("'bob.C'", "0.5")),
        (lambda t, y: {"pin": y["bob.speed"]}, ("'bob.speed'",)),
    ],
)
def test_controllers_that_answer_nonsense(controller, names):
    with raises(ph.errors.InputError, *names):
        run(controller=controller)


def test_a_controller_of_one_argument_is_python_s_own_error():
    with pytest.raises(TypeError, match="positional argument"):
        run(controller=lambda t: {"pin": 0.0})


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"every": 0.1}, "every"),
        ({"every": 0.0, "controller": lambda t, y: {}}, "every"),
        ({"every": np.nan, "controller": lambda t, y: {}}, "every"),
    ],
)
def test_sample_times_that_are_none(given, name):
    with raises(ph.errors.InputError, name):
        run(**given)


def test_a_controller_may_return_any_mapping():
    from types import MappingProxyType

    assert len(run(controller=lambda t, y: MappingProxyType({"pin": 0.0}))) == 11


# --- events ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: ph.Event(3), "'event'"),
        (lambda: ph.Event(lambda t, y: 1.0, do=3), "'event'"),
        (lambda: ph.Event(lambda t, y: 1.0, direction=2), "'event'"),
    ],
)
def test_events_that_are_none(make, name):
    with raises(ph.errors.InputError, name):
        make()


@pytest.mark.parametrize(
    ("events", "name"),
    [
        ([3], "events"),
        ([lambda t, y: 1.0], "events"),
        ([ph.Event(lambda t, y: np.nan, name="odd")], "'odd'"),
        ([ph.Event(lambda t, y: np.zeros(2))], "'event'"),
        pytest.param([ph.Event(lambda t, y: None)], "'event'"),
        pytest.param([ph.Event(lambda t, y: "x")], "'event'"),
        pytest.param(ph.Event(lambda t, y: 1.0), "events"),
    ],
)
def test_events_that_cannot_be_watched(events, name):
    with raises(ph.errors.InputError, name):
        run(events=events)


@pytest.mark.parametrize(
    ("action", "name"),
    [
        (lambda t, state: 3, "int"),
        (lambda t, state: state.with_values({"bob.r_P": (1.0, 0.0)}), "'pin'"),
        (lambda t, state: state.with_values({"bob.v_P": (1.0, 0.0)}), "'pin'"),
    ],
)
def test_events_that_do_what_joints_forbid(action, name):
    with raises(ph.errors.InputError, name):
        run(events=[ph.Event(lambda t, y: t - 0.55, do=action)])


# --- starts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("system", "state", "names"),
    [
        (PENDULUM, START.with_values({"bob.r_P": (0.1, 0.0)}), ("'pin'", "0.1")),
        (PENDULUM, START.with_values({"bob.v_P": (0.1, 0.0)}), ("'pin'",)),
        (PENDULUM, 3, ("int",)),
        (3, START, ("int",)),
        (PENDULUM, ph.State(START.bodies, START.layout, np.nan * START.e), ("bob.r_P",)),
    ],
)
def test_starts_that_no_joint_allows(system, state, names):
    with raises(ph.errors.InputError, *names):
        ph.simulate(system, state, 1.0, dt=0.1)


@pytest.mark.parametrize(
    ("moving", "u", "names"),
    [
        ({}, {"pin": 1.0}, ("'pin'",)),
        ({}, {"pin": ph.prescribed_position(lambda t: 0.3 + t)}, ("'pin'",)),
        ({"pin": 1.0}, {"pin": ph.prescribed_position(lambda t: 1 + t)}, ("'pin'", "0.3")),
        ({}, {"pin": ph.prescribed_position(lambda t: 0.3 if t < 0.45 else np.nan)}, ("'pin'", "0.5")),
    ],
)
def test_drives_that_start_elsewhere(moving, u, names):
    state = ph.set_moving(DRIVEN, START, u=moving)
    with raises(ph.errors.InputError, *names):
        ph.simulate(DRIVEN, state, 1.0, dt=0.1, u=u)


@pytest.mark.parametrize("of", ["translation", "pose"])
def test_a_driven_frame_that_starts_elsewhere(of):
    system = ph.connect({"bob": bar(1.0)}, [ph.Drive("ground", "bob.C", of=of, name="hand")], plane="xy")
    there, off = ((1.0, 0.2), "0.2 m") if of == "translation" else ((1.0, 0.0, 0.4), "0.389 rad")
    state = ph.place(system, {"bob.r_P": (0.0, 0.0)})
    with raises(ph.errors.JointError, "'hand'", off):
        ph.simulate(system, state, 1.0, dt=0.1, u={"hand": ph.prescribed_position(lambda t: there)})


# --- schemes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: ph.Midpoint(rtol=0.0), "rtol"),
        (lambda: ph.Midpoint(rtol=np.nan), "rtol"),
        (lambda: ph.Midpoint(rtol=1e-4, atol=-1.0), "atol"),
    ],
)
def test_tolerances_that_are_none(make, name):
    with raises(ph.errors.InputError, name):
        make()


def test_an_adaptive_step_asks_for_the_sample_time_of_a_controller():
    with raises(ph.errors.InputError, "Midpoint"):
        run(scheme=ph.Midpoint(rtol=1e-4), controller=lambda t, y: {})


def pinned_bar(*more, damping=None) -> ph.System:
    rod = bar(1.0) if damping is None else ph.Beam(1.0, ph.Circle(0.01), steel, damping=damping).discretise(1)
    return ph.connect({"bob": rod}, [ph.Revolute("ground", "bob.P", name="pin"), *more], plane="xy")


def test_a_composition_takes_no_friction():
    rough = pinned_bar(ph.JointFriction("pin", effort=1.0, speed=0.1))
    with raises(ph.errors.InputError, "'pin.friction'", "Composition4"):
        ph.simulate(rough, ph.place(rough), 1.0, dt=0.1, scheme=ph.Composition4())


def test_a_damper_that_stops_motion_within_a_part_of_a_composition_ends_in_an_error():
    """The part of 0.6579 h backward has a pole where c h/J = 2/0.6579; J = 1/3 about the pin."""
    damped = pinned_bar(ph.JointDamper("pin", damping=1.0))
    h = 2.0 / 0.65796 * (1.0 / 12.0 + 0.25)
    state = ph.set_moving(damped, ph.place(damped), {"pin.angle_rate": 1.0})
    with raises(ph.errors.ConvergenceError, "'bob'"):
        ph.simulate(damped, state, h, dt=h, scheme=ph.Composition4())


def test_damping_that_feeds_energy_is_named():
    soft = pinned_bar(damping=ph.KelvinVoigt(1e-4))
    result = ph.simulate(soft, ph.place(soft, {"bob.eta": np.full(4, 1e-4)}), 1e-3, dt=1e-4, scheme=ph.Composition4())
    assert _require_losses(result) is result
    fed = replace(result, accounts=replace(result.accounts, losses=-result.accounts.losses))
    with raises(ph.errors.AccuracyError, "'bob'"):
        _require_losses(fed)


@pytest.mark.parametrize("scheme", ["midpoint", ph.Midpoint, None], ids=["a word", "a class", "none"])
def test_what_is_no_scheme_is_said(scheme):
    with raises(ph.errors.InputError, "scheme"):
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


@pytest.mark.parametrize(
    "drive", [1.0, ph.prescribed_position(lambda t: 1.0 + t, rate=lambda t: 1.0)], ids=["rate", "position"]
)
def test_a_loop_pulled_beyond_its_reach_says_when_and_where(drive):
    system, state = four_bar()
    reach = np.arccos((1.0 + 4.0 - 2.2**2) / (2 * 1.0 * 2.0))  # the angle of the crank there
    with raises(ph.errors.ConvergenceError, "t = 0.53", golden=False) as caught:
        ph.simulate(system, ph.set_moving(system, state, u={"m": drive}), 3.0, dt=0.01, u={"m": drive})
    before = caught.value.result
    assert isinstance(before, ph.Result)
    assert before["a.theta"][-1] == pytest.approx(reach, abs=1e-3)
    assert len(before) == 55
    assert np.isfinite(before.e).all()
    assert max(np.abs(gap).max() for gap in ph.gaps(system, before.state()).values()) < 1e-12
    assert before.info["halved"]


def test_a_drive_that_jumps_over_half_a_turn_says_so():
    drive = ph.prescribed_position(lambda t: 0.3 if t < 0.5 else 3.7, rate=lambda t: 0.0)
    with raises(ph.errors.ConvergenceError, "'pin'", "0.49") as caught:
        ph.simulate(DRIVEN, START, 1.0, dt=0.01, u={"pin": drive})
    assert caught.value.result.t[-1] == pytest.approx(0.5, abs=1e-4)


def test_a_step_that_fails_is_halved_and_the_run_goes_on():
    """The same loop just inside its reach: steps near the dead point are halved, and what is kept is kept."""
    system, state = four_bar()
    reach = np.arccos((1.0 + 4.0 - 2.2**2) / (2 * 1.0 * 2.0)) - 1e-6

    def to(t: float) -> float:
        return 1.0 + (reach - 1.0) * np.sin(0.5 * np.pi * t) ** 2

    drive = {"m": ph.prescribed_position(to, rate=lambda t: (reach - 1.0) * 0.5 * np.pi * np.sin(np.pi * t))}
    result = ph.simulate(system, ph.set_moving(system, state, u=drive), 2.0, dt=0.01, u=drive)
    np.testing.assert_allclose(result["m.angle"], [to(t) for t in result.t], atol=1e-11)
    assert max(np.abs(gap).max() for gap in ph.gaps(system, result.state()).values()) < 1e-12


def test_a_body_too_fine_to_move_says_so():
    fine = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), steel).discretise(220)
    system = ph.connect({"rod": fine}, [ph.Revolute("ground", "rod.P")], plane="xy")
    with raises(ph.errors.InputError, "880"):
        ph.simulate(system, ph.place(system), 0.1, dt=0.1)


@pytest.mark.parametrize("inertia", [np.zeros((3, 3)), np.diag([0.0, 0.1, 0.1]), np.diag([1.0, -1.0, 1.0])])
def test_bodies_without_mass_are_refused_before_they_move(inertia):
    with raises(ph.errors.InputError, "inertia"):
        ph.RigidBody(1.0, inertia)
    with raises(ph.errors.InputError, "mass"):
        ph.RigidBody(0.0, np.eye(3))
    with raises(ph.errors.InputError, "mass"):
        ph.PointMass(0.0)


def test_a_reduced_body_clamped_in_ways_it_does_not_know_is_said_to_repeat():
    """One bending mode cannot tell two clamps apart; the run is made, and joints are named."""
    rod = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), steel, frame="pinned").discretise(6).reduced(modes=1)
    joints = [ph.Weld("ground", "rod.P", name="left"), ph.Weld("ground", "rod.C", at=(1.0, 0, 0), name="right")]
    system = ph.connect({"rod": rod}, joints, plane="xy", gravity=(0, -g, 0))
    with warns(ph.errors.RedundancyWarning, "'left'", "'right'", "1 rows"):
        result = ph.simulate(system, ph.place(system), 0.1, dt=0.01)
    assert max(np.abs(gap).max() for gap in ph.gaps(system, result.state()).values()) < 1e-12


def test_a_spring_without_a_direction_says_so():
    system = ph.connect({"m": ph.PointMass(1.0).discretise()}, [ph.Spring("ground", "m.P", stiffness=9.0, length=0.1)])
    with raises(ph.errors.InputError, "'ground-m.P.spring'"):
        ph.simulate(system, ph.place(system), 0.1, dt=0.01)
