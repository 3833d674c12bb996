"""NaN does not travel: wherever a number enters, it is met by a sentence."""

from math import inf, nan

import numpy as np
import pytest
from messages import raises

import phloat as ph
from phloat.algebra.layout import Layout

LINK = ph.Beam(1.0, ph.Circle(0.01), ph.Material(E=7e10, rho=2700.0)).discretise(2)
FLAT = ph.connect({"rod": LINK}, joints=[ph.Revolute("ground", "rod.P", name="pin")], plane="xy")
SPACE = ph.connect({"rod": LINK}, joints=[ph.Spherical("ground", "rod.P", name="ball")])
BAD = [nan, inf, -inf]


def poisoned(system, name, value):
    """A state made without its checks."""
    rest = ph.place(system)
    e = rest.e.copy()
    e[rest.layout[name]] = value
    return ph.State(rest.bodies, rest.layout, e)


@pytest.mark.parametrize("value", BAD)
@pytest.mark.parametrize("system", [FLAT, SPACE], ids=["plane", "space"])
def test_no_quantity_of_a_state_becomes_nan(system, value):
    rest = ph.place(system)
    for name, shape in rest.layout.shapes.items():
        with raises(ph.errors.InputError, name):
            rest.with_values({name: np.full(shape, value)})


@pytest.mark.parametrize("value", BAD)
@pytest.mark.parametrize("name", ["rod.theta", "rod.r_P", "rod.eta", "pin.angle"])
def test_nothing_is_placed_at_nan(name, value):
    whole = np.full(FLAT.layout.shape(name) if name in FLAT.layout else (), value)
    with raises(ph.errors.InputError, name):
        ph.place(FLAT, {name: whole})


@pytest.mark.parametrize("value", BAD)
def test_nothing_is_placed_near_nan(value):
    with raises(ph.errors.InputError, "rod.theta"):
        ph.place(FLAT, near={"rod.theta": value})
    with raises(ph.errors.InputError, "rod.theta"):
        ph.place(FLAT, near=poisoned(FLAT, "rod.theta", value))


LOOKS = {
    "terms": ph.terms,
    "energy": ph.energy,
    "gaps": ph.gaps,
    "joint_coordinates": ph.joint_coordinates,
    "linearise": ph.linearise,
    "power_balance": ph.power_balance,
    "effort_defect": ph.effort_defect,
}


@pytest.mark.parametrize("quantity", ["r_P", "theta", "eta", "v_P", "omega", "eta_dot", "sigma"])
@pytest.mark.parametrize("look", LOOKS)
def test_a_state_with_nan_is_named_by_its_quantity(look, quantity):
    state = poisoned(FLAT, f"rod.{quantity}", nan)
    with raises(ph.errors.InputError, f"rod.{quantity}"):
        LOOKS[look](FLAT, state)


@pytest.mark.parametrize("value", BAD)
def test_no_power_flows_at_nan(value):
    rest = ph.place(FLAT)
    with raises(ph.errors.InputError, "'pin'"):
        ph.power_balance(FLAT, rest, {"pin": value})
    with raises(ph.errors.InputError, "'rod.C'"):
        ph.power_balance(FLAT, rest, {"rod.C": (0.0, value, 0.0)})


def oscillator(**changes):
    """A mass on a spring that slides with a joint, E, J, R, G, B and B_λ all there."""
    parts = {"E": np.eye(3), "J": [[0, 0, -1.0], [0, 0, 0], [1.0, 0, 0]], "R": np.diag([0.1, 0.0, 0.0])}
    parts |= {"B": [[1.0], [0], [0]], "G": [[1.0, -1.0, 0]], "B_lam": [[1.0]]}
    names = {"rows": Layout({"v": (2,), "s": (1,)}), "ports": Layout({"p": (1,)}), "multipliers": Layout({"l": (1,)})}
    return ph.LinearPHDAE(**{**parts, **names, "split": 2, **changes})


@pytest.mark.parametrize("value", BAD)
@pytest.mark.parametrize("name", ["E", "J", "R", "G", "B", "B_lam"])
def test_no_matrix_of_a_linear_system_holds_nan(name, value):
    matrix = getattr(oscillator(), name).toarray()
    matrix[0, 0] = value
    with raises(ph.errors.StructureError, name):
        oscillator(**{name: matrix})


@pytest.mark.parametrize("value", BAD)
def test_no_energy_of_nan(value):
    with raises(ph.errors.InputError):
        oscillator().energy(np.array([0.0, value, 0.0]))


@pytest.mark.parametrize("value", BAD)
@pytest.mark.parametrize("verb", [ph.transformer, ph.gyrator])
def test_no_systems_are_connected_through_nan(verb, value):
    one, two = oscillator().prefixed("one"), oscillator().prefixed("two")
    with raises(ph.errors.InputError, "'one.p'", "'two.p'"):
        verb(ph.append_systems(one).with_ports("one.p"), "one.p", two, "two.p", [[value]])


PLANT = ph.linearise(FLAT, ph.place(FLAT))


@pytest.mark.parametrize("omega", [nan, [1.0, nan], inf, [-inf]], ids=repr)
def test_no_response_at_nan(omega):
    with raises(ph.errors.InputError, "omega"):
        ph.response(PLANT, "pin", omega=omega)


@pytest.mark.parametrize("shift", BAD)
def test_no_response_shifted_to_nan(shift):
    with raises(ph.errors.InputError, "shift"):
        ph.response(PLANT, "pin", omega=[1.0], shift=shift)


@pytest.mark.parametrize("count", BAD)
def test_no_number_of_modes_is_nan(count):
    with raises(ph.errors.InputError, "count", count):
        ph.modes(PLANT, count)


def test_an_array_changed_after_the_check_is_still_caught():
    inertia, at = np.eye(3), np.zeros(3)
    body, joint = ph.RigidBody(1.0, inertia), ph.Spherical("ground", "a.P", at=at)
    inertia[0, 0] = at[0] = nan
    with raises(ph.errors.InputError, "E"):
        ph.linearise(*placed(ph.connect({"a": body.discretise()}, joints=[ph.Spherical("ground", "a.P")])))
    with raises(ph.errors.InputError, "a.r_P"):
        placed(ph.connect({"a": LINK}, joints=[joint]))


def placed(system):
    return system, ph.place(system)
