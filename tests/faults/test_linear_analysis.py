"""Linear analysis asked where it has no answer."""

import numpy as np
import pytest
from messages import raises

import phloat as ph

LINK = ph.Beam(1.0, ph.Circle(0.01), ph.Material(E=7e10, rho=2700.0)).discretise(2)
PIN = ph.Revolute("ground", "rod.P", name="pin")
SYSTEM = ph.connect({"rod": LINK}, joints=[PIN], plane="xy")
REST = ph.place(SYSTEM)
PLANT = ph.linearise(SYSTEM, REST)


# --- linearise -------------------------------------------------------------------------------------------------------


def test_an_undeformed_state_under_gravity_is_no_equilibrium():
    heavy = ph.connect({"rod": LINK}, joints=[PIN], gravity=(0, -9.81, 0), plane="xy")
    with raises(ph.errors.InputError, "'rod."):
        ph.linearise(heavy, ph.place(heavy))


@pytest.mark.parametrize(
    ("name", "value", "names"),
    [
        ("v_P", (0.5, 0), ("'pin'", "0.5")),
        ("omega", -0.5, ("'rod.",)),
        ("eta_dot", np.full(8, 0.5), ("'rod'", "0.5")),
    ],
)
def test_a_moving_state_is_at_rest_or_spins(name, value, names):
    with raises(ph.errors.InputError, *names):
        ph.linearise(SYSTEM, REST.with_values({f"rod.{name}": value}))


@pytest.mark.parametrize(
    "load",
    [
        ph.Force("rod.C", along=(0, 1, 0), name="push"),
        ph.Torque("rod.C", about=(1, 0, 0), name="push"),
        ph.BodyForce("rod", per_mass=(0, 9.81, 1.0), name="push"),
    ],
)
def test_a_load_across_the_axis_turns_in_a_spin(load):
    """As gravity does; along the axis, or with an input of zero, it may stay."""
    hinge = ph.Revolute("ground", "rod.P", axis=(0, 0, 1), name="pin")
    lift = ph.BodyForce("rod", per_mass=(0.0, 0.0, -1.0), name="lift")
    system = ph.connect(
        {"rod": ph.RigidBody(1.0, np.eye(3), ports={"C": (1.0, 0, 0)}).discretise()}, [hinge, load, lift]
    )
    with raises(ph.errors.InputError, "'push'"):
        ph.steady_spin(system, rate=4.0, u={"push": 1.0, "lift": 1.0})
    assert ph.steady_spin(system, rate=4.0, u={"push": 0.0, "lift": 1.0})["rod.omega"][2] == 4.0


@pytest.mark.parametrize("name", ["eta", "sigma"])
def test_a_deformed_state_without_a_load_is_refused(name):
    with raises(ph.errors.InputError, "'rod."):
        ph.linearise(SYSTEM, REST.with_values({f"rod.{name}": np.full(8, 1e-3)}))


def test_an_open_joint_is_named_with_its_gap():
    with raises(ph.errors.InputError, "'pin'", "0.25"):
        ph.linearise(SYSTEM, REST.with_values({"rod.r_P": (0.25, 0.0)}))


@pytest.mark.parametrize("thing", [LINK, None, PLANT], ids=["body", "none", "linear"])
def test_what_is_no_system_is_not_linearised(thing):
    with raises(ph.errors.InputError, type(thing).__name__):
        ph.linearise(thing, REST)


# --- eliminate -------------------------------------------------------------------------------------------------------


def test_driven_inputs_are_not_eliminated():
    driven = ph.linearise(ph.drive(SYSTEM, "pin"), REST)
    with raises(ph.errors.InputError, "'pin'"):
        ph.eliminate(driven)


def test_what_the_sentence_says_to_try_works():
    driven = ph.linearise(ph.drive(SYSTEM, "pin"), REST)
    left = ph.eliminate(driven.with_ports("rod.C"))
    assert left.multipliers.size == 0
    assert ph.modes(left).omega == pytest.approx(ph.modes(driven).omega)


# --- modes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, -1, 2.5, True, "3", [3]], ids=repr)
def test_the_number_of_modes_is_one_or_more(count):
    with raises(ph.errors.InputError, "count"):
        ph.modes(PLANT, count)


def test_more_modes_than_there_are_gives_those_there_are():
    assert len(ph.modes(PLANT, 1000)) == len(ph.modes(PLANT)) == 9


def test_modes_without_elastic_ones_show_no_frequency():
    stone = ph.connect({"stone": ph.RigidBody(2.0, np.eye(3)).discretise()})
    assert repr(ph.modes(ph.linearise(stone, ph.place(stone)))) == "Modes(6 rigid, none elastic)"


@pytest.mark.parametrize("thing", [SYSTEM, LINK, REST, None], ids=["system", "body", "state", "none"])
@pytest.mark.parametrize("verb", [ph.modes, ph.eliminate, lambda x: ph.response(x, "pin", omega=[1.0])])
def test_what_is_not_linear_yet_is_told_how_to_become_so(verb, thing):
    with raises(ph.errors.InputError, type(thing).__name__):
        verb(thing)


# --- response --------------------------------------------------------------------------------------------------------


def test_a_response_at_a_pole_says_how_to_leave_it():
    with raises(ph.errors.AccuracyError, "0+0j"):
        ph.response(PLANT, "pin", omega=[0.0])


@pytest.mark.parametrize("omega", ["fast", None, [["a"]], [1j]], ids=repr)
def test_frequencies_are_numbers(omega):
    with raises(ph.errors.InputError, "omega"):
        ph.response(PLANT, "pin", omega=omega)


def test_frequencies_stand_in_a_row():
    with raises(ph.errors.InputError, "omega", "(2, 2)"):
        ph.response(PLANT, "pin", omega=np.ones((2, 2)))


@pytest.mark.parametrize("shift", ["far", None, [0.1]], ids=repr)
def test_a_shift_is_a_number(shift):
    with raises(ph.errors.InputError, "shift"):
        ph.response(PLANT, "pin", omega=[1.0], shift=shift)


def test_a_response_needs_an_input():
    with raises(ph.errors.InputError):
        ph.response(PLANT, [], omega=[1.0])


# --- power -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "found"),
    [((1.0, 2.0), "(2,)"), ("x", "'x'"), (None, "None"), (1j, "1j"), (np.sin, "sin")],
    ids=repr,
)
def test_an_input_of_the_wrong_kind_is_told_the_right_one(value, found):
    with raises(ph.errors.InputError, "'rod.C'", found):
        ph.power_balance(SYSTEM, REST, {"rod.C": value})


@pytest.mark.parametrize("u", [["rod.C"], 5.0, "pin"], ids=repr)
def test_inputs_come_as_a_mapping(u):
    with raises(ph.errors.InputError):
        ph.power_balance(SYSTEM, REST, u)


def test_velocities_that_break_a_joint_have_no_balance():
    with raises(ph.errors.InputError, "'pin'", "1.0e+00"):
        ph.power_balance(SYSTEM, REST.with_values({"rod.v_P": (1.0, 0.0)}))


def test_an_energy_is_asked_of_all_rows():
    with raises(ph.errors.InputError, PLANT.rows.size):
        PLANT.energy(np.ones(3))
