"""Systems that cannot be put together."""

from math import inf, nan

import numpy as np
import pytest
from messages import raises

import phloat as ph

BEAM = ph.Beam(1.0, ph.Circle(0.01), ph.Material(E=7e10, rho=2700.0))
LINK, POINT = BEAM.discretise(2), ph.PointMass(1.0).discretise()


@pytest.mark.parametrize("name", ["", "left.arm", ".", "ground", None, 1], ids=repr)
def test_names_that_joints_could_not_write_are_no_names_of_bodies(name):
    with raises(ph.errors.InputError, repr(name)):
        ph.connect({name: LINK})


@pytest.mark.parametrize("part", [BEAM, None, LINK.linear(), "rod"], ids=["recipe", "none", "linear", "word"])
def test_what_is_not_discretised_yet_is_no_body(part):
    with raises(ph.errors.InputError, "'rod'", type(part).__name__):
        ph.connect({"rod": part})


@pytest.mark.parametrize("bodies", [[LINK], LINK, None], ids=["list", "body", "none"])
def test_bodies_come_with_their_names(bodies):
    with raises(ph.errors.InputError, "bodies"):
        ph.connect(bodies)


@pytest.mark.parametrize(
    "joints",
    [ph.Weld("ground", "rod.P"), ["ground", "rod.P"], {"root": ph.Weld("ground", "rod.P")}, [ph.Weld], [None], 3],
    ids=["one joint", "words", "mapping", "class", "none", "number"],
)
def test_joints_come_as_a_list_of_joints(joints):
    with raises(ph.errors.InputError, "joint"):
        ph.connect({"rod": LINK}, joints=joints)


def test_a_system_has_at_least_one_body():
    with raises(ph.errors.InputError, "bodies"):
        ph.connect({})


# --- the plane -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("plane", ["xz", "yx", "", True, ["xy"]], ids=repr)
def test_there_is_one_plane(plane):
    with raises(ph.errors.InputError, "plane"):
        ph.connect({"rod": LINK}, plane=plane)


def test_gravity_out_of_the_plane_is_refused():
    with raises(ph.errors.InputError, "gravity", "-9.81"):
        ph.connect({"rod": LINK}, gravity=(0, 0, -9.81), plane="xy")


@pytest.mark.parametrize(
    ("gravity", "found"),
    [((0, nan, 0), "nan"), ((0, inf, 0), "inf"), ((0, -9.81), "(2,)"), (9.81, "()"), ("down", "'down'")],
)
def test_gravity_is_three_finite_numbers(gravity, found):
    with raises(ph.errors.InputError, "gravity", found):
        ph.connect({"rod": LINK}, gravity=gravity)


@pytest.mark.parametrize(("inner", "outer"), [("xy", None), (None, "xy")])
def test_a_stage_lives_where_the_whole_lives(inner, outer):
    stage = ph.connect({"rod": LINK}, plane=inner)
    with raises(ph.errors.InputError, "'arm'", inner or "space", outer or "space"):
        ph.connect({"arm": stage}, plane=outer)


def test_a_body_taken_from_a_plane_does_not_go_back_to_space():
    flat = ph.connect({"rod": LINK}, plane="xy").bodies["rod"]
    with raises(ph.errors.InputError, "'rod'"):
        ph.connect({"rod": flat})


def test_stages_fall_in_one_gravity():
    moon, earth = (ph.connect({"rod": LINK}, gravity=(0, 0, -g)) for g in (1.62, 9.81))
    with raises(ph.errors.InputError, "gravity", "-9.81"):
        ph.connect({"there": moon, "here": earth})


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 2, 0), (0, 1, 1)])
def test_a_revolute_in_a_plane_turns_about_z(axis):
    with raises(ph.errors.JointError, "pin"):
        ph.connect({"rod": LINK}, joints=[ph.Revolute("ground", "rod.P", axis=axis, name="pin")], plane="xy")


@pytest.mark.parametrize("joint", [ph.Slide("ground", "rod.P", along=(0, 0, 1)), ph.Prismatic("ground", "rod.P")])
def test_a_slide_in_a_plane_stays_in_it(joint):
    with raises(ph.errors.JointError, "ground-rod.P"):
        ph.connect({"rod": LINK}, joints=[joint], plane="xy")


def test_a_joint_in_a_plane_is_turned_about_z():
    tilted = ph.Weld("ground", "rod.P", turned=(0.1, 0, 0))
    with raises(ph.errors.JointError, "ground-rod.P"):
        ph.connect({"rod": LINK}, joints=[tilted], plane="xy")


# --- joints ----------------------------------------------------------------------------------------------------------

VECTORS = {
    "at": lambda x: ph.Weld("ground", "rod.P", at=x),
    "turned": lambda x: ph.Weld("ground", "rod.P", turned=x),
    "axis": lambda x: ph.Revolute("ground", "rod.P", axis=x),
    "axis ": lambda x: ph.Prismatic("ground", "rod.P", axis=x),
    "line": lambda x: ph.Slide("ground", "rod.P", along=x),
}


@pytest.mark.parametrize(
    ("vector", "found"),
    [
        ((nan, 0, 1), "nan"),
        ((0, 0, inf), "inf"),
        ((0, 1), "(2,)"),
        (1.0, "()"),
        (np.eye(3), "(3, 3)"),
        (("0", "0", "1"), "('0', '0', '1')"),
        (None, "None"),
    ],
    ids=str,
)
@pytest.mark.parametrize("what", VECTORS)
def test_vectors_of_joints_are_three_finite_numbers(what, vector, found):
    with raises(ph.errors.InputError, what.strip(), "ground-rod.P", found):
        VECTORS[what](vector)


@pytest.mark.parametrize("what", VECTORS)
def test_a_word_is_a_direction_and_no_place(what):
    word = "z" if what in ("at", "turned") else "up"
    with raises(ph.errors.InputError, "ground-rod.P", repr(word)):
        VECTORS[what](word)


@pytest.mark.parametrize("what", ["axis", "axis ", "line"])
def test_a_direction_points_somewhere(what):
    with raises(ph.errors.InputError, what.strip(), "ground-rod.P"):
        VECTORS[what]((0, 0, 0))


def test_the_ground_is_not_joined_to_itself():
    with raises(ph.errors.JointError, "Weld"):
        ph.Weld("ground", "ground")


def test_a_port_is_not_joined_to_itself():
    with raises(ph.errors.JointError, "rod.P-rod.P"):
        ph.connect({"rod": LINK}, joints=[ph.Spherical("rod.P", "rod.P")])


def test_a_place_on_the_ground_needs_the_ground():
    with raises(ph.errors.JointError, "a.C-b.P"):
        ph.Weld("a.C", "b.P", at=(1, 0, 0))


@pytest.mark.parametrize("name", ["", "pin"])
def test_two_joints_of_one_name_are_refused(name):
    joints = [ph.Weld("ground", "rod.P", name=name), ph.Weld("ground", "rod.P", name=name)]
    with raises(ph.errors.JointError, name or "ground-rod.P"):
        ph.connect({"rod": LINK}, joints=joints)


def test_a_joint_and_a_port_of_one_name_are_refused():
    with raises(ph.errors.InputError, "'rod.C'"):
        ph.connect({"rod": LINK}, joints=[ph.Revolute("ground", "rod.P", name="rod.C")])


def test_a_joint_is_named_by_a_word():
    with raises(ph.errors.InputError, "ground-rod.P", "5"):
        ph.connect({"rod": LINK}, joints=[ph.Revolute("ground", "rod.P", name=5)])


def test_a_drive_moves_a_point_or_a_pose():
    with raises(ph.errors.InputError, "of='rotation'"):
        ph.Drive("ground", "rod.P", of="rotation")


def test_a_drive_starts_from_the_ground():
    with raises(ph.errors.JointError, "a.C-b.P"):
        ph.Drive("a.C", "b.P")


# --- point masses ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("joint", [ph.Revolute, ph.Weld, ph.Prismatic])
def test_a_joint_that_needs_an_orientation_refuses_a_point_mass_in_space(joint):
    with raises(ph.errors.JointError, joint.__name__, "'bob'"):
        ph.connect({"bob": POINT}, joints=[joint("ground", "bob.P")])


@pytest.mark.parametrize("plane", [None, "xy"])
def test_the_pose_of_a_point_mass_cannot_be_driven(plane):
    with raises(ph.errors.JointError, "'bob'"):
        ph.connect({"bob": POINT}, joints=[ph.Drive("ground", "bob.P", of="pose")], plane=plane)


def test_nothing_slides_along_a_point_mass():
    with raises(ph.errors.JointError, "Slide", "'bob'"):
        ph.connect({"bob": POINT, "rod": LINK}, joints=[ph.Slide("bob.P", "rod.P")])


@pytest.mark.parametrize("plane", [None, "xy"])
@pytest.mark.parametrize("joint", [ph.Spherical, ph.Slide, ph.Drive])
def test_joints_of_points_take_point_masses(joint, plane):
    assert ph.connect({"bob": POINT}, joints=[joint("ground", "bob.P")], plane=plane).joints
