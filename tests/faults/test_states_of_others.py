"""A state of other bodies is refused, also where its names happen to be the same."""

import numpy as np
import pytest
from messages import raises

import phloat as ph

ALU = ph.Material(E=7e10, rho=2700.0)


def link(length=1.0, elements=2):
    return ph.Beam(length, ph.Circle(0.01), ALU).discretise(elements)


def arm(body, upper="upper", lower="lower", plane="xy"):
    return ph.connect(
        {upper: body, lower: body},
        joints=[
            ph.Revolute("ground", f"{upper}.P", name="root"),
            ph.Revolute(f"{upper}.C", f"{lower}.P", name="elbow"),
        ],
        plane=plane,
    )


ARM = arm(link())
REST = ph.place(ARM)
VERBS = {
    "linearise": ph.linearise,
    "terms": ph.terms,
    "energy": ph.energy,
    "gaps": ph.gaps,
    "joint_coordinates": ph.joint_coordinates,
    "power_balance": ph.power_balance,
    "effort_defect": ph.effort_defect,
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_state_of_bodies_of_other_names_is_refused_with_both_lists(verb):
    other = ph.place(arm(link(), "thigh", "shank"))
    with raises(ph.errors.InputError, "thigh, shank", "upper, lower"):
        VERBS[verb](ARM, other)


@pytest.mark.parametrize("verb", VERBS)
def test_a_state_of_another_mesh_is_told_where_it_differs(verb):
    other = ph.place(arm(link(elements=3)))
    with raises(ph.errors.InputError, "upper.eta"):
        VERBS[verb](ARM, other)


@pytest.mark.parametrize("verb", VERBS)
def test_a_state_in_space_is_none_in_the_plane(verb):
    other = ph.place(arm(link(), plane=None))
    with raises(ph.errors.InputError, "upper."):
        VERBS[verb](ARM, other)


@pytest.mark.parametrize(
    "thing", [None, {}, {"upper.theta": 0.0}, ARM, np.zeros(3)], ids=["none", "empty", "dict", "system", "array"]
)
@pytest.mark.parametrize("verb", VERBS)
def test_what_is_no_state_is_refused(verb, thing):
    with raises(ph.errors.InputError, type(thing).__name__):
        VERBS[verb](ARM, thing)


def test_joints_are_closed_with_the_bodies_of_the_system_and_not_of_the_state():
    longer = ph.place(
        arm(link(length=2.0))
    )  # same names, same mesh; the elbow stands 1 m away from where ours would be
    with raises(ph.errors.InputError):
        ph.linearise(ARM, longer)


def test_a_state_from_the_same_recipe_made_again_is_welcome():
    again = arm(link())
    omega = ph.modes(ph.linearise(ARM, ph.place(again, {"upper.theta": 0.3}))).omega
    assert omega == pytest.approx(ph.modes(ph.linearise(ARM, ph.place(ARM, {"upper.theta": 0.3}))).omega, rel=1e-12)


def test_a_state_fits_the_locked_and_the_driven_system():
    rest = ph.place(ARM)
    assert ph.linearise(ph.lock(ARM, "elbow"), rest).multipliers.size == 5
    assert ph.linearise(ph.drive(ARM, "elbow"), rest).multipliers.size == 5


def test_a_state_vector_of_the_wrong_length_is_refused():
    rest = ph.place(ARM)
    with raises(ph.errors.InputError, rest.layout.size):
        ph.energy(ARM, ph.State(rest.bodies, rest.layout, np.zeros(3)))


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("upper.r_P", (0, 0, 0), "(3,)"),
        ("upper.theta", (0,), "(1,)"),
        ("upper.eta", [0, 0], "(2,)"),
        ("upper.theta", "up", "'up'"),
        ("upper.theta", "0.5", "'0.5'"),
        ("upper.theta", None, "None"),
    ],
)
def test_values_of_the_wrong_kind_are_told_the_right_one(name, value, found):
    with raises(ph.errors.InputError, name, found):
        ph.place(ARM, {name: value})
    with raises(ph.errors.InputError, name, found):
        ph.place(ARM, near={name: value})
    with raises(ph.errors.InputError, name, found):
        ph.place(ARM).with_values({name: value})


@pytest.mark.parametrize(
    "A", [2 * np.eye(3), np.diag([1.0, 1.0, -1.0]), np.zeros((3, 3))], ids=["stretch", "mirror", "zero"]
)
def test_an_orientation_is_a_rotation(A):
    system = ph.connect({"rod": link()})
    with raises(ph.errors.InputError, "rod.A_IB"):
        ph.place(system, {"rod.A_IB": A})


def test_a_picture_of_a_state_of_others_is_refused():
    pytest.importorskip("matplotlib").use("Agg")
    with raises(ph.errors.InputError, "thigh, shank", "upper, lower"):
        ph.plot(ARM, ph.place(arm(link(), "thigh", "shank")))


@pytest.mark.parametrize("thing", [3, None, REST, "modes"], ids=["number", "none", "state", "word"])
def test_what_has_no_picture_is_refused(thing):
    with raises(ph.errors.InputError, type(thing).__name__):
        ph.plot(thing)


def test_a_picture_of_where_a_system_stands_needs_its_state():
    with raises(ph.errors.InputError):
        ph.plot(ARM, stress=True)
