"""Springs, dampers and inputs that cannot be right, and joints that make no sense in a plane."""

from math import inf, nan

import numpy as np
import pytest

import phloat as ph
from phloat.system.state import resting

BEAM = ph.Beam(1.0, ph.Circle(0.01), ph.Material(E=7e10, rho=2700.0))
LINK, POINT = BEAM.discretise(2), ph.PointMass(1.0).discretise()
BLOCK = ph.RigidBody(1.0, np.eye(3), ports={"tip": (1, 0, 0)}).discretise()
PIN = ph.Revolute("ground", "rod.P", name="pin")

STIFF = {
    r"stiffness of ground-rod\.C\.spring": lambda k, **o: ph.Spring("ground", "rod.C", stiffness=k, **o),
    r"stiffness of pin\.spring": lambda k, **o: ph.JointSpring("pin", stiffness=k, **o),
}
RESISTING = {
    r"damping of ground-rod\.C\.damper": lambda c, **o: ph.Damper("ground", "rod.C", damping=c, **o),
    r"damping of pin\.damper": lambda c, **o: ph.JointDamper("pin", damping=c, **o),
}
CURVES = STIFF | RESISTING


# --- numbers, tables, functions --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (-1.0, "is -1; it must not be negative"),
        (nan, "holds NaN or infinity"),
        (inf, "holds NaN or infinity"),
        ("soft", "is 'soft'; it must be a number"),
        (None, "is None; it must be a number"),
        ((1.0, 2.0), r"has shape \(2,\); it must be a number"),
        ({}, "is a table of 0; it needs at least two entries"),
        ({1.0: 2.0}, "is a table of 1; it needs at least two entries"),
        ({0.0: 0.0, "far": 2.0}, "at is 'far'; it must be a number"),
        ({0.0: 0.0, 1.0: nan}, r"at 1\.0 holds NaN or infinity"),
        (lambda x: x, r"is a function; say where it will be needed: over=\(from, to\)"),
    ],
    ids=lambda given: given if isinstance(given, str) else type(given).__name__,
)
@pytest.mark.parametrize("what", CURVES)
def test_a_curve_is_a_number_a_table_or_a_function(what, given, found):
    with pytest.raises(ph.InputError, match=f"{what} {found}"):
        CURVES[what](given)


@pytest.mark.parametrize(
    ("over", "found"),
    [
        ((1.0, 0.0), r"is \(1\.0, 0\.0\); it must rise"),
        ((1.0, 1.0), r"is \(1\.0, 1\.0\); it must rise"),
        ((0.0, inf), "holds NaN or infinity"),
        (2.0, r"has shape \(\); it must be 2 numbers"),
        ("wide", "is 'wide'; it must be 2 numbers"),
    ],
    ids=str,
)
@pytest.mark.parametrize("what", CURVES)
def test_the_range_of_a_function_rises(what, over, found):
    with pytest.raises(ph.InputError, match=f"over of {what} {found}"):
        CURVES[what](lambda x: x, over=over)


@pytest.mark.parametrize("given", [3.0, {0.0: 0.0, 1.0: 1.0}], ids=["number", "table"])
@pytest.mark.parametrize("what", CURVES)
def test_a_range_belongs_to_a_function(what, given):
    with pytest.raises(ph.InputError, match=rf"{what} has over=\(0, 1\), which belongs to a function; this is"):
        CURVES[what](given, over=(0, 1))


@pytest.mark.parametrize("what", CURVES)
def test_a_function_gives_numbers(what):
    with pytest.raises(ph.InputError, match=f"{what} at 0 is 'much'; it must be a number"):
        CURVES[what](lambda x: "much", over=(0.0, 1.0))


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({-1.0: -1.0, 1.0: -2.0}, "gives energy: at the rate 1 its force is -2; it must have that sign"),
        ({-1.0: 1.0, 1.0: 2.0}, "gives energy: at the rate -1 its force is 1; it must have that sign"),
        ({-1.0: -5.0, 2.0: 5.0}, r"gives energy: without any rate its force is -1\.66\d*; it must be zero there"),
        ({1.0: 1.0, 2.0: 3.0}, "gives energy: without any rate its force is -1; it must be zero there"),
        ({0.0: 0.0, 1.0: 5.0, 2.0: 4.0}, "falls at its end 2 and would give energy beyond"),
        ({-2.0: -1.0, -1.0: -2.0, 0.0: 0.0}, "falls at its end -2 and would give energy beyond"),
    ],
    ids=str,
)
@pytest.mark.parametrize("what", RESISTING)
def test_a_damper_gives_no_energy(what, given, found):
    with pytest.raises(ph.InputError, match=f"{what} {found}"):
        RESISTING[what](given)


@pytest.mark.parametrize("what", RESISTING)
def test_a_damping_function_gives_no_energy(what):
    with pytest.raises(ph.InputError, match=f"{what} gives energy: at the rate"):
        RESISTING[what](lambda v: -v, over=(-1.0, 1.0))
    RESISTING[what](np.tanh, over=(-1.0, 2.0))
    with pytest.raises(ph.InputError, match="near 0: it jumps there from -1 to 0; make it continuous"):
        RESISTING[what](np.sign, over=(-1.0, 2.0))


@pytest.mark.parametrize("length", [-1.0, nan, "long"])
def test_the_length_of_a_spring_is_not_negative(length):
    with pytest.raises(ph.InputError, match=r"length of ground-rod\.C\.spring"):
        ph.Spring("ground", "rod.C", stiffness=1.0, length=length)


@pytest.mark.parametrize("rest", [nan, "there", (0, 1)], ids=str)
def test_the_rest_of_a_joint_spring_is_a_number(rest):
    with pytest.raises(ph.InputError, match=r"rest of pin\.spring"):
        ph.JointSpring("pin", stiffness=1.0, rest=rest)


SIX = (1.0,) * 6


@pytest.mark.parametrize("given", [1.0, (1, 1, 1), (1,) * 5 + (nan,), ("1",) * 6], ids=str)
def test_a_bushing_has_six_numbers(given):
    with pytest.raises(ph.InputError, match=r"stiffness of ground-rod\.C\.bushing"):
        ph.Bushing("ground", "rod.C", stiffness=given)
    with pytest.raises(ph.InputError, match=r"damping of ground-rod\.C\.bushing"):
        ph.Bushing("ground", "rod.C", stiffness=SIX, damping=given)


def test_a_bushing_holds_and_takes_energy():
    with pytest.raises(ph.InputError, match=r"stiffness of ground-rod\.C\.bushing holds -2; it must not be negative"):
        ph.Bushing("ground", "rod.C", stiffness=(1, 1, -2, 1, 1, 1))
    with pytest.raises(ph.InputError, match=r"damping of ground-rod\.C\.bushing holds -3; it must not be negative"):
        ph.Bushing("ground", "rod.C", stiffness=SIX, damping=(1, 1, -3, 1, 1, 1))
    with pytest.raises(ph.InputError, match=r"turned of ground-rod\.C\.bushing has shape \(2,\)"):
        ph.Bushing("ground", "rod.C", stiffness=SIX, turned=(0, 1))


# --- names and places ------------------------------------------------------------------------------------------------

BETWEEN = {
    "Spring": lambda a, b, **o: ph.Spring(a, b, stiffness=1.0, **o),
    "Damper": lambda a, b, **o: ph.Damper(a, b, damping=1.0, **o),
    "Bushing": lambda a, b, **o: ph.Bushing(a, b, stiffness=SIX, **o),
}


@pytest.mark.parametrize("kind", BETWEEN)
def test_springs_stand_between_two_ports(kind):
    make = BETWEEN[kind]
    with pytest.raises(ph.JointError, match=f"{kind} joins the ground to itself"):
        make("ground", "ground")
    with pytest.raises(ph.PortError, match=f"{kind}: 3 names no port"):
        make("ground", 3)
    with pytest.raises(ph.InputError, match=r"at of ground-rod\.C\.\w+ has shape \(2,\)"):
        make("ground", "rod.C", at=(0, 1))
    with pytest.raises(ph.JointError, match="but neither of its ports is the ground"):
        make("rod.P", "rod.C", at=(0, 1, 0))
    with pytest.raises(ph.InputError, match=r"the name of ground-rod\.C is 7; it must be a word"):
        make("ground", "rod.C", name=7)
    with pytest.raises(ph.JointError, match=r"rod\.C-rod\.C\.\w+ joins a port to itself"):
        ph.connect({"rod": LINK}, joints=[make("rod.C", "rod.C")])
    with pytest.raises(ph.PortError, match=rf"{kind}: no port 'rod\.D' \(did you mean 'rod\.P', 'rod\.C'"):
        ph.connect({"rod": LINK}, joints=[make("ground", "rod.D")])
    with pytest.raises(ph.PortError, match=rf"{kind}: no port 'bar\.C'.*there are: ground, rod\.P, rod\.C"):
        ph.connect({"rod": LINK}, joints=[make("ground", "bar.C")])


ON_JOINT = {
    "JointSpring": lambda joint, **o: ph.JointSpring(joint, stiffness=1.0, **o),
    "JointDamper": lambda joint, **o: ph.JointDamper(joint, damping=1.0, **o),
}


@pytest.mark.parametrize("kind", ON_JOINT)
def test_joint_springs_act_on_an_axis_of_a_joint(kind):
    make = ON_JOINT[kind]
    with pytest.raises(ph.PortError, match=f"{kind}: 3 names no joint"):
        make(3)
    with pytest.raises(ph.InputError, match=r"axis of pin\.\w+ is 0; it must be a word: 'angle', 'slide' …"):
        make("pin", axis=0, name="pin.e")
    with pytest.raises(ph.InputError, match=f"the name of the {kind} on pin is 7; it must be a word"):
        make("pin", name=7)
    with pytest.raises(ph.PortError, match=rf"{kind}: no joint 'pan' \(did you mean 'pin'\?\)"):
        ph.connect({"rod": LINK}, joints=[PIN, make("pan")])
    with pytest.raises(ph.PortError, match=rf"{kind} 'pin\.slide\.\w+': no axis of 'pin' 'slide'; there are: angle"):
        ph.connect({"rod": LINK}, joints=[PIN, make("pin", axis="slide")])
    with pytest.raises(ph.JointError, match=rf"{kind} 'ball\.\w+': joint 'ball' has no angle and no slide to act on"):
        ph.connect({"rod": LINK}, joints=[ph.Spherical("ground", "rod.P", name="ball"), make("ball")])
    both = ph.Cylindrical("ground", "rod.P", name="rail")
    with pytest.raises(ph.JointError, match=r"joint 'rail' has the axes 'angle', 'slide'; say which: axis=…"):
        ph.connect({"rod": LINK}, joints=[both, make("rail")])


PUSHING = {
    "Force": lambda on, d, **o: ph.Force(f"{on}.C", along=d, **o),
    "Torque": lambda on, d, **o: ph.Torque(f"{on}.C", about=d, **o),
    "Load": lambda on, d, **o: ph.Load(on, along=d, **o),
}


@pytest.mark.parametrize("kind", PUSHING)
def test_what_pushes_points_somewhere(kind):
    make = PUSHING[kind]
    with pytest.raises(ph.InputError, match=r"direction of rod[.\w]* is zero; it must point somewhere"):
        make("rod", (0, 0, 0))
    with pytest.raises(ph.InputError, match=r"direction of rod[.\w]* has shape \(2,\); it must be 3 numbers"):
        make("rod", (0, 1))
    with pytest.raises(ph.InputError, match=r"axes of rod[.\w]* is 'own'; it must be 'inertial' or 'body'"):
        make("rod", (0, 0, 1), axes="own")
    with pytest.raises(ph.InputError, match=r"the name of the \w+ on rod[.\w]* is 5; it must be a word"):
        make("rod", (0, 0, 1), name=5)
    with pytest.raises(ph.PortError, match=rf"{kind}: no (port|body) 'bar(\.C)?'.*there are: rod"):
        ph.connect({"rod": LINK}, joints=[make("bar", (0, 0, 1))])


def test_what_pushes_names_its_port_or_body():
    with pytest.raises(ph.PortError, match="Force: None names no port"):
        ph.Force(None, along=(0, 0, 1))
    with pytest.raises(ph.PortError, match="Torque: 2 names no port"):
        ph.Torque(2, about=(0, 0, 1))
    with pytest.raises(ph.PortError, match="Load: 2 names no body"):
        ph.Load(2, along=(0, 0, 1))
    with pytest.raises(ph.PortError, match="Force: no port 'ground'"):
        ph.connect({"rod": LINK}, joints=[ph.Force("ground", along=(0, 0, 1))])


@pytest.mark.parametrize(
    ("per_length", "found"),
    [
        (0.0, "is zero; nothing would ever push"),
        (nan, "holds NaN or infinity"),
        ("much", "is 'much'; it must be a number"),
        (lambda s: 0.0, "is zero all along 'rod'; nothing would ever push"),
        (lambda s: nan, r"at s = 0\.?\d* holds NaN or infinity"),
        (lambda s: (0, 1), r"at s = 0\.?\d* has shape \(2,\)"),
    ],
)
def test_a_load_has_numbers_along_its_body(per_length, found):
    with pytest.raises(ph.InputError, match=rf"per_length of rod\.load {found}"):
        ph.connect({"rod": LINK}, joints=[ph.Load("rod", along=(0, 1, 0), per_length=per_length)])


@pytest.mark.parametrize("body", [BLOCK, POINT], ids=["rigid", "point"])
def test_a_load_is_spread_over_a_beam(body):
    with pytest.raises(ph.JointError, match=r"Load 'b\.load': 'b' is no beam; a load is spread over s from 0 to 1"):
        ph.connect({"b": body}, joints=[ph.Load("b", along=(0, 1, 0))])


NAMED = {
    "springs": [BETWEEN["Spring"]("ground", "rod.C"), BETWEEN["Spring"]("ground", "rod.C")],
    "joint and force": [PIN, ph.Force("rod.C", along=(0, 1, 0), name="pin")],
    "joint and spring": [PIN, ph.JointSpring("pin", stiffness=1.0, name="pin")],
}


@pytest.mark.parametrize("which", NAMED)
def test_two_of_one_name_are_refused(which):
    with pytest.raises(ph.JointError, match=r"two joints are called '.*'; give one of them a name"):
        ph.connect({"rod": LINK}, joints=NAMED[which])


@pytest.mark.parametrize(
    "element",
    [ph.Spring("ground", "rod.C", stiffness=1.0, name="rod.C"), ph.Force("rod.C", along=(0, 1, 0), name="rod.C")],
)
def test_an_element_and_a_port_of_one_name_are_refused(element):
    with pytest.raises(ph.InputError, match=r"a joint and a body port are both called 'rod\.C'"):
        ph.connect({"rod": LINK}, joints=[element])


# --- the plane, point masses, where things stand ---------------------------------------------------------------------


def test_forces_stay_in_the_plane_and_torques_stand_on_it():
    with pytest.raises(ph.JointError, match=r"rod\.C\.force pushes along \(0, 0, 1\), which leaves the plane xy"):
        ph.connect({"rod": LINK}, joints=[ph.Force("rod.C", along=(0, 0, 1))], plane="xy")
    with pytest.raises(ph.JointError, match=r"rod\.load pushes along \(0\.6, 0, 0\.8\), which leaves the plane xy"):
        ph.connect({"rod": LINK}, joints=[ph.Load("rod", along=(3, 0, 4), axes="body")], plane="xy")
    with pytest.raises(ph.JointError, match=r"rod\.C\.torque turns about \(1, 0, 0\); in the plane xy it must be z"):
        ph.connect({"rod": LINK}, joints=[ph.Torque("rod.C", about=(1, 0, 0))], plane="xy")
    with pytest.raises(ph.JointError, match=r"is turned by \(0\.1, 0, 0\); in the plane xy only about z"):
        ph.connect({"rod": LINK}, joints=[ph.Bushing("ground", "rod.C", stiffness=SIX, turned=(0.1, 0, 0))], plane="xy")


@pytest.mark.parametrize(
    ("joint", "said"),
    [
        (ph.Universal, "turns about two axes, and only one of them can stand on the plane xy; use Revolute"),
        (ph.Cylindrical, "turns and slides, and the plane xy allows one of the two; use Revolute or Prismatic"),
        (ph.Planar, "closes nothing where everything moves in the plane xy; leave it out"),
    ],
)
def test_joints_that_make_no_sense_in_a_plane_say_so(joint, said):
    with pytest.raises(ph.JointError, match=f"{joint.__name__} 'j' {said}"):
        ph.connect({"rod": LINK}, joints=[joint("ground", "rod.P", name="j")], plane="xy")


@pytest.mark.parametrize("joint", [ph.Universal, ph.Cylindrical, ph.Planar])
def test_joints_with_axes_refuse_point_masses_and_axes_that_point_nowhere(joint):
    with pytest.raises(ph.JointError, match=r"needs an orientation, and 'bob' is a point mass"):
        ph.connect({"bob": POINT}, joints=[joint("ground", "bob.P")])
    with pytest.raises(ph.InputError, match=r"axis of ground-bob\.P is zero; it must point somewhere"):
        joint("ground", "bob.P", axis=(0, 0, 0))


@pytest.mark.parametrize("plane", [None, "xy"])
def test_a_point_mass_takes_no_torque(plane):
    with pytest.raises(
        ph.JointError, match=r"Torque 'bob\.P\.torque' turns 'bob', and a point mass has no orientation"
    ):
        ph.connect({"bob": POINT}, joints=[ph.Torque("bob.P", about=(0, 0, 1))], plane=plane)


def test_a_bushing_does_not_turn_a_point_mass():
    with pytest.raises(
        ph.JointError, match=r"Bushing 'ground-bob\.P\.bushing' needs an orientation, and 'bob' is a point mass"
    ):
        ph.connect({"bob": POINT}, joints=[ph.Bushing("ground", "bob.P", stiffness=SIX)])
    pushing = ph.Bushing("bob.P", "rod.P", stiffness=(1, 1, 1, 0, 0, 0))
    with pytest.raises(ph.JointError, match=r"needs an orientation, and 'bob' is a point mass; write its port second"):
        ph.connect({"bob": POINT, "rod": LINK}, joints=[pushing])


@pytest.mark.parametrize("kind", ["Spring", "Damper"])
def test_a_spring_without_length_pulls_nowhere(kind):
    system = ph.connect({"bob": POINT}, joints=[BETWEEN[kind]("ground", "bob.P")])
    with pytest.raises(
        ph.InputError, match="stand at one point, so it pulls nowhere; place them apart, or use a Bushing"
    ):
        ph.terms(system, resting(system.bodies))


def test_a_body_that_only_a_spring_holds_is_not_loose():
    joints = [PIN, ph.Spring("rod.C", "bob.P", stiffness=1.0)]
    assert ph.connect({"rod": LINK, "bob": POINT}, joints=joints).elements
    with pytest.warns(ph.LooseBodyWarning, match="no joint touches 'bob'"):
        ph.connect({"rod": LINK, "bob": POINT}, joints=[PIN, ph.Force("bob.P", along=(1, 0, 0))])


def test_a_stretched_spring_is_no_equilibrium():
    system = ph.connect({"rod": LINK}, joints=[PIN, ph.JointSpring("pin", stiffness=1.0, rest=0.3)])
    with pytest.raises(ph.InputError, match=r"no equilibrium: .* left over on 'rod\."):
        ph.linearise(system, ph.place(system, {}))
