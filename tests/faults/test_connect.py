"""Systems that cannot be put together."""

from math import inf, nan

import numpy as np
import pytest

import phloat as ph

BEAM = ph.Beam(1.0, ph.Circle(0.01), ph.Material(E=7e10, rho=2700.0))
LINK, POINT = BEAM.discretise(2), ph.PointMass(1.0).discretise()


@pytest.mark.parametrize("name", ["", "left.arm", ".", "ground", None, 1], ids=repr)
def test_names_that_joints_could_not_write_are_no_names_of_bodies(name):
    with pytest.raises(
        ph.InputError, match=f"{name!r} cannot name a body: .*not empty, hold no dot, and are not 'ground'"
    ):
        ph.connect({name: LINK})


@pytest.mark.parametrize("part", [BEAM, None, LINK.linear(), "rod"], ids=["recipe", "none", "linear", "word"])
def test_what_is_not_discretised_yet_is_no_body(part):
    with pytest.raises(ph.InputError, match=rf"'rod' is {type(part).__name__}; connect takes what discretise\(…\)"):
        ph.connect({"rod": part})


@pytest.mark.parametrize("bodies", [[LINK], LINK, None], ids=["list", "body", "none"])
def test_bodies_come_with_their_names(bodies):
    with pytest.raises(ph.InputError, match=r"bodies is .*; it must be .*name"):
        ph.connect(bodies)


@pytest.mark.parametrize(
    "joints",
    [ph.Weld("ground", "rod.P"), ["ground", "rod.P"], {"root": ph.Weld("ground", "rod.P")}, [ph.Weld], [None], 3],
    ids=["one joint", "words", "mapping", "class", "none", "number"],
)
def test_joints_come_as_a_list_of_joints(joints):
    with pytest.raises(ph.InputError, match=r"joint.* is .*; it must be .*Revolute"):
        ph.connect({"rod": LINK}, joints=joints)


def test_a_system_has_at_least_one_body():
    with pytest.raises(ph.InputError, match="no bodies to connect; give at least one"):
        ph.connect({})


# --- the plane -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("plane", ["xz", "yx", "", True, ["xy"]], ids=repr)
def test_there_is_one_plane(plane):
    with pytest.raises(ph.InputError, match=r"plane is .*'xy'.*None for space"):
        ph.connect({"rod": LINK}, plane=plane)


def test_gravity_out_of_the_plane_is_refused():
    with pytest.raises(ph.InputError, match=r"gravity \(0(\.0)?, 0(\.0)?, -9\.81\) leaves the plane xy"):
        ph.connect({"rod": LINK}, gravity=(0, 0, -9.81), plane="xy")


@pytest.mark.parametrize(
    ("gravity", "found"),
    [
        ((0, nan, 0), "holds NaN or infinity"),
        ((0, inf, 0), "holds NaN or infinity"),
        ((0, -9.81), r"has shape \(2,\); it must be 3 numbers"),
        (9.81, r"has shape \(\); it must be 3 numbers"),
        ("down", "is 'down'; it must be 3 numbers"),
    ],
)
def test_gravity_is_three_finite_numbers(gravity, found):
    with pytest.raises(ph.InputError, match=f"gravity {found}"):
        ph.connect({"rod": LINK}, gravity=gravity)


@pytest.mark.parametrize(("inner", "outer"), [("xy", None), (None, "xy")])
def test_a_stage_lives_where_the_whole_lives(inner, outer):
    stage = ph.connect({"rod": LINK}, plane=inner)
    with pytest.raises(
        ph.InputError, match=f"system 'arm' lives in {inner or 'space'}, the whole in {outer or 'space'}"
    ):
        ph.connect({"arm": stage}, plane=outer)


def test_a_body_taken_from_a_plane_does_not_go_back_to_space():
    flat = ph.connect({"rod": LINK}, plane="xy").bodies["rod"]
    with pytest.raises(ph.InputError, match="body 'rod' was restricted to a plane; discretise it again"):
        ph.connect({"rod": flat})


def test_stages_fall_in_one_gravity():
    moon, earth = (ph.connect({"rod": LINK}, gravity=(0, 0, -g)) for g in (1.62, 9.81))
    with pytest.raises(ph.InputError, match=r"different gravity: .*\(0(\.0)?, 0(\.0)?, -9\.81\).*; give gravity once"):
        ph.connect({"there": moon, "here": earth})


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 2, 0), (0, 1, 1)])
def test_a_revolute_in_a_plane_turns_about_z(axis):
    with pytest.raises(ph.JointError, match=r"pin turns about \([-\d., e]*\); in the plane xy it must be z"):
        ph.connect({"rod": LINK}, joints=[ph.Revolute("ground", "rod.P", axis=axis, name="pin")], plane="xy")


@pytest.mark.parametrize("joint", [ph.Slide("ground", "rod.P", along=(0, 0, 1)), ph.Prismatic("ground", "rod.P")])
def test_a_slide_in_a_plane_stays_in_it(joint):
    with pytest.raises(ph.JointError, match=r"slides along \(0(\.0)?, 0(\.0)?, 1(\.0)?\), which leaves the plane xy"):
        ph.connect({"rod": LINK}, joints=[joint], plane="xy")


def test_a_joint_in_a_plane_is_turned_about_z():
    tilted = ph.Weld("ground", "rod.P", turned=(0.1, 0, 0))
    with pytest.raises(ph.JointError, match=r"is turned by \(0\.1, 0, 0\); in the plane xy only about z"):
        ph.connect({"rod": LINK}, joints=[tilted], plane="xy")


# --- joints ----------------------------------------------------------------------------------------------------------

VECTORS = {
    "at of": lambda x: ph.Weld("ground", "rod.P", at=x),
    "turned of": lambda x: ph.Weld("ground", "rod.P", turned=x),
    "axis of": lambda x: ph.Revolute("ground", "rod.P", axis=x),
    "axis of ": lambda x: ph.Prismatic("ground", "rod.P", axis=x),
    "line of": lambda x: ph.Slide("ground", "rod.P", along=x),
}


@pytest.mark.parametrize(
    ("vector", "found"),
    [
        ((nan, 0, 1), "holds NaN or infinity"),
        ((0, 0, inf), "holds NaN or infinity"),
        ((0, 1), r"has shape \(2,\); it must be 3 numbers"),
        (1.0, r"has shape \(\); it must be 3 numbers"),
        (np.eye(3), r"has shape \(3, 3\); it must be 3 numbers"),
        ("z", "is 'z'; it must be 3 numbers"),
        (("0", "0", "1"), r"is \('0', '0', '1'\); it must be 3 numbers"),
        (None, "is None; it must be 3 numbers"),
    ],
    ids=str,
)
@pytest.mark.parametrize("what", VECTORS)
def test_vectors_of_joints_are_three_finite_numbers(what, vector, found):
    with pytest.raises(ph.InputError, match=rf"{what.strip()} ground-rod\.P {found}"):
        VECTORS[what](vector)


@pytest.mark.parametrize("what", ["axis of", "axis of ", "line of"])
def test_a_direction_points_somewhere(what):
    with pytest.raises(ph.InputError, match=rf"{what.strip()} ground-rod\.P is zero; it must point somewhere"):
        VECTORS[what]((0, 0, 0))


def test_the_ground_is_not_joined_to_itself():
    with pytest.raises(ph.JointError, match="Weld joins the ground to itself"):
        ph.Weld("ground", "ground")


def test_a_port_is_not_joined_to_itself():
    with pytest.raises(ph.JointError, match=r"rod\.P-rod\.P joins a port to itself"):
        ph.connect({"rod": LINK}, joints=[ph.Spherical("rod.P", "rod.P")])


def test_a_place_on_the_ground_needs_the_ground():
    with pytest.raises(ph.JointError, match=r"a\.C-b\.P has at=\(1, 0, 0\), but neither of its ports is the ground"):
        ph.Weld("a.C", "b.P", at=(1, 0, 0))


@pytest.mark.parametrize("name", ["", "pin"])
def test_two_joints_of_one_name_are_refused(name):
    joints = [ph.Weld("ground", "rod.P", name=name), ph.Weld("ground", "rod.P", name=name)]
    with pytest.raises(
        ph.JointError, match=f"two joints are called '{name or 'ground-rod.P'}'; give one of them a name"
    ):
        ph.connect({"rod": LINK}, joints=joints)


def test_a_joint_and_a_port_of_one_name_are_refused():
    with pytest.raises(
        ph.InputError, match=r"a joint and a body port are both called 'rod\.C'; name the joint differently"
    ):
        ph.connect({"rod": LINK}, joints=[ph.Revolute("ground", "rod.P", name="rod.C")])


def test_a_joint_is_named_by_a_word():
    with pytest.raises(ph.InputError, match=r"name .*5"):
        ph.connect({"rod": LINK}, joints=[ph.Revolute("ground", "rod.P", name=5)])


def test_a_drive_moves_a_point_or_a_pose():
    with pytest.raises(ph.InputError, match="of='rotation'; it must be 'translation' or 'pose'"):
        ph.Drive("ground", "rod.P", of="rotation")


def test_a_drive_starts_from_the_ground():
    with pytest.raises(ph.JointError, match=r"a\.C-b\.P must start from the ground; .*use drive\(…\)"):
        ph.Drive("a.C", "b.P")


# --- point masses ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("joint", [ph.Revolute, ph.Weld, ph.Prismatic])
def test_a_joint_that_needs_an_orientation_refuses_a_point_mass_in_space(joint):
    said = rf"{joint.__name__} 'ground-bob\.P' needs an orientation, and 'bob' is a point mass; use Spherical or Slide"
    with pytest.raises(ph.JointError, match=said):
        ph.connect({"bob": POINT}, joints=[joint("ground", "bob.P")])


@pytest.mark.parametrize("plane", [None, "xy"])
def test_the_pose_of_a_point_mass_cannot_be_driven(plane):
    with pytest.raises(ph.JointError, match="needs an orientation, and 'bob' is a point mass"):
        ph.connect({"bob": POINT}, joints=[ph.Drive("ground", "bob.P", of="pose")], plane=plane)


def test_nothing_slides_along_a_point_mass():
    with pytest.raises(ph.JointError, match=r"Slide .*needs an orientation, and 'bob' is a point mass"):
        ph.connect({"bob": POINT, "rod": LINK}, joints=[ph.Slide("bob.P", "rod.P")])


@pytest.mark.parametrize("plane", [None, "xy"])
@pytest.mark.parametrize("joint", [ph.Spherical, ph.Slide, ph.Drive])
def test_joints_of_points_take_point_masses(joint, plane):
    assert ph.connect({"bob": POINT}, joints=[joint("ground", "bob.P")], plane=plane).joints
