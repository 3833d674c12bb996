"""Springs, dampers and inputs that cannot be right, and joints that make no sense in a plane."""

from math import inf, nan

import numpy as np
import pytest
from messages import raises, warns

import phloat as ph
from phloat.system.state import rest_state

BEAM = ph.Beam(1.0, ph.Circle(0.01), ph.Material(E=7e10, rho=2700.0))
LINK, POINT = BEAM.discretise(2), ph.PointMass(1.0).discretise()
BLOCK = ph.RigidBody(1.0, np.eye(3), ports={"tip": (1, 0, 0)}).discretise()
PIN = ph.Revolute("ground", "rod.P", name="pin")

STIFF = {
    "stiffness of ground-rod.C.spring": lambda k, **o: ph.Spring("ground", "rod.C", stiffness=k, **o),
    "stiffness of pin.spring": lambda k, **o: ph.JointSpring("pin", stiffness=k, **o),
}
RESISTING = {
    "damping of ground-rod.C.damper": lambda c, **o: ph.Damper("ground", "rod.C", damping=c, **o),
    "damping of pin.damper": lambda c, **o: ph.JointDamper("pin", damping=c, **o),
}
CURVES = STIFF | RESISTING


# --- numbers, tables, functions --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (-1.0, "-1"),
        (nan, "nan"),
        (inf, "inf"),
        ("soft", "'soft'"),
        (None, "None"),
        ((1.0, 2.0), "(2,)"),
        ({}, "0"),
        ({1.0: 2.0}, "1"),
        ({0.0: 0.0, "far": 2.0}, "'far'"),
        ({0.0: 0.0, 1.0: nan}, "1.0"),
        (lambda x: x, "over="),
    ],
    ids=lambda given: given if isinstance(given, str) else type(given).__name__,
)
@pytest.mark.parametrize("what", CURVES)
def test_a_curve_is_a_number_a_table_or_a_function(what, given, found):
    with raises(ph.errors.InputError, what, found):
        CURVES[what](given)


@pytest.mark.parametrize(
    ("over", "found"),
    [
        ((1.0, 0.0), "(1.0, 0.0)"),
        ((1.0, 1.0), "(1.0, 1.0)"),
        ((0.0, inf), "inf"),
        (2.0, "()"),
        ("wide", "'wide'"),
    ],
    ids=str,
)
@pytest.mark.parametrize("what", CURVES)
def test_the_range_of_a_function_rises(what, over, found):
    with raises(ph.errors.InputError, "over", what, found):
        CURVES[what](lambda x: x, over=over)


@pytest.mark.parametrize("given", [3.0, {0.0: 0.0, 1.0: 1.0}], ids=["number", "table"])
@pytest.mark.parametrize("what", CURVES)
def test_a_range_belongs_to_a_function(what, given):
    with raises(ph.errors.InputError, what, "over="):
        CURVES[what](given, over=(0, 1))


@pytest.mark.parametrize("what", CURVES)
def test_a_function_gives_numbers(what):
    with raises(ph.errors.InputError, what, "'much'"):
        CURVES[what](lambda x: "much", over=(0.0, 1.0))


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({-1.0: -1.0, 1.0: -2.0}, "-2"),
        ({-1.0: 1.0, 1.0: 2.0}, "-1"),
        ({-1.0: -5.0, 2.0: 5.0}, "-1.66"),
        ({1.0: 1.0, 2.0: 3.0}, "-1"),
        ({0.0: 0.0, 1.0: 5.0, 2.0: 4.0}, "2"),
        ({-2.0: -1.0, -1.0: -2.0, 0.0: 0.0}, "-2"),
    ],
    ids=str,
)
@pytest.mark.parametrize("what", RESISTING)
def test_a_damper_gives_no_energy(what, given, found):
    with raises(ph.errors.InputError, what, found):
        RESISTING[what](given)


@pytest.mark.parametrize("what", RESISTING)
def test_a_damping_function_gives_no_energy(what):
    with raises(ph.errors.InputError, what):
        RESISTING[what](lambda v: -v, over=(-1.0, 1.0))
    RESISTING[what](np.tanh, over=(-1.0, 2.0))
    with raises(ph.errors.InputError, what):
        RESISTING[what](np.sign, over=(-1.0, 2.0))


@pytest.mark.parametrize("length", [-1.0, nan, "long"])
def test_the_length_of_a_spring_is_not_negative(length):
    with raises(ph.errors.InputError, "length", "ground-rod.C.spring"):
        ph.Spring("ground", "rod.C", stiffness=1.0, length=length)


@pytest.mark.parametrize("rest", [nan, "there", (0, 1)], ids=str)
def test_the_rest_of_a_joint_spring_is_a_number(rest):
    with raises(ph.errors.InputError, "rest", "pin.spring"):
        ph.JointSpring("pin", stiffness=1.0, rest=rest)


SIX = (1.0,) * 6


@pytest.mark.parametrize("given", [1.0, (1, 1, 1), (1,) * 5 + (nan,), ("1",) * 6], ids=str)
def test_a_bushing_has_six_numbers(given):
    with raises(ph.errors.InputError, "stiffness", "ground-rod.C.bushing"):
        ph.Bushing("ground", "rod.C", stiffness=given)
    with raises(ph.errors.InputError, "damping", "ground-rod.C.bushing"):
        ph.Bushing("ground", "rod.C", stiffness=SIX, damping=given)


def test_a_bushing_holds_and_takes_energy():
    with raises(ph.errors.InputError, "stiffness", "-2"):
        ph.Bushing("ground", "rod.C", stiffness=(1, 1, -2, 1, 1, 1))
    with raises(ph.errors.InputError, "damping", "-3"):
        ph.Bushing("ground", "rod.C", stiffness=SIX, damping=(1, 1, -3, 1, 1, 1))
    with raises(ph.errors.InputError, "turned", "ground-rod.C.bushing"):
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
    with raises(ph.errors.JointError, kind):
        make("ground", "ground")
    with raises(ph.errors.PortError, kind, "3"):
        make("ground", 3)
    with raises(ph.errors.InputError, "ground-rod.C"):
        make("ground", "rod.C", at=(0, 1))
    with raises(ph.errors.JointError, "rod.P-rod.C"):
        make("rod.P", "rod.C", at=(0, 1, 0))
    with raises(ph.errors.InputError, "ground-rod.C", "7"):
        make("ground", "rod.C", name=7)
    with raises(ph.errors.JointError, "rod.C-rod.C"):
        ph.connect({"rod": LINK}, joints=[make("rod.C", "rod.C")])
    with raises(ph.errors.PortError, kind, "'rod.D'"):
        ph.connect({"rod": LINK}, joints=[make("ground", "rod.D")])
    with raises(ph.errors.PortError, kind, "'bar.C'"):
        ph.connect({"rod": LINK}, joints=[make("ground", "bar.C")])


ON_JOINT = {
    "JointSpring": lambda joint, **o: ph.JointSpring(joint, stiffness=1.0, **o),
    "JointDamper": lambda joint, **o: ph.JointDamper(joint, damping=1.0, **o),
}


@pytest.mark.parametrize("kind", ON_JOINT)
def test_joint_springs_act_on_an_axis_of_a_joint(kind):
    make = ON_JOINT[kind]
    with raises(ph.errors.PortError, kind, "3"):
        make(3)
    with raises(ph.errors.InputError, "axis", "pin"):
        make("pin", axis=0, name="pin.e")
    with raises(ph.errors.InputError, kind, "pin", "7"):
        make("pin", name=7)
    with raises(ph.errors.PortError, kind, "'pan'"):
        ph.connect({"rod": LINK}, joints=[PIN, make("pan")])
    with raises(ph.errors.PortError, kind, "'pin'", "'slide'"):
        ph.connect({"rod": LINK}, joints=[PIN, make("pin", axis="slide")])
    with raises(ph.errors.JointError, kind, "'ball'", "Bushing"):
        ph.connect({"rod": LINK}, joints=[ph.Spherical("ground", "rod.P", name="ball"), make("ball", axis="angle")])
    both = ph.Cylindrical("ground", "rod.P", name="rail")
    with raises(ph.errors.JointError, "'rail'"):
        ph.connect({"rod": LINK}, joints=[both, make("rail")])


@pytest.mark.parametrize(
    "element",
    [
        ph.JointSpring("ball", stiffness=1.0),
        ph.JointDamper("ball", damping={0.0: 0.0, 1.0: 2.0}),
        ph.JointFriction("ball", effort=1.0, speed=0.1),
    ],
    ids=lambda e: type(e).__name__,
)
def test_a_ball_joint_takes_a_linear_damper_alone(element):
    with raises(ph.errors.JointError, type(element).__name__, "'ball'", "Bushing"):
        ph.connect({"rod": LINK}, joints=[ph.Spherical("ground", "rod.P", name="ball"), element])


PUSHING = {
    "Force": lambda on, d, **o: ph.Force(f"{on}.C", along=d, **o),
    "Torque": lambda on, d, **o: ph.Torque(f"{on}.C", about=d, **o),
    "Load": lambda on, d, **o: ph.Load(on, along=d, **o),
}


@pytest.mark.parametrize("kind", PUSHING)
def test_what_pushes_points_somewhere(kind):
    make = PUSHING[kind]
    with raises(ph.errors.InputError, "direction", "rod"):
        make("rod", (0, 0, 0))
    with raises(ph.errors.InputError, "direction", "rod"):
        make("rod", (0, 1))
    with raises(ph.errors.InputError, "axes", "'own'"):
        make("rod", (0, 0, 1), axes="own")
    with raises(ph.errors.InputError, "rod", "5"):
        make("rod", (0, 0, 1), name=5)
    with raises(ph.errors.PortError, kind, "'bar"):
        ph.connect({"rod": LINK}, joints=[make("bar", (0, 0, 1))])


def test_what_pushes_names_its_port_or_body():
    with raises(ph.errors.PortError, "Force", "None"):
        ph.Force(None, along=(0, 0, 1))
    with raises(ph.errors.PortError, "Torque", "2"):
        ph.Torque(2, about=(0, 0, 1))
    with raises(ph.errors.PortError, "Load", "2"):
        ph.Load(2, along=(0, 0, 1))
    with raises(ph.errors.PortError, "Force", "'ground'"):
        ph.connect({"rod": LINK}, joints=[ph.Force("ground", along=(0, 0, 1))])


@pytest.mark.parametrize(
    ("per_length", "found"),
    [
        (0.0, ""),
        (nan, "nan"),
        ("much", "'much'"),
        (lambda s: 0.0, "'rod'"),
        (lambda s: nan, "nan"),
        (lambda s: (0, 1), "(2,)"),
    ],
)
def test_a_load_has_numbers_along_its_body(per_length, found):
    with raises(ph.errors.InputError, "per_length", "rod.load", found):
        ph.connect({"rod": LINK}, joints=[ph.Load("rod", along=(0, 1, 0), per_length=per_length)])


@pytest.mark.parametrize("body", [BLOCK, POINT], ids=["rigid", "point"])
def test_a_load_is_spread_over_a_beam(body):
    with raises(ph.errors.JointError, "'b.load'", "'b'"):
        ph.connect({"b": body}, joints=[ph.Load("b", along=(0, 1, 0))])


NAMED = {
    "springs": [BETWEEN["Spring"]("ground", "rod.C"), BETWEEN["Spring"]("ground", "rod.C")],
    "joint and force": [PIN, ph.Force("rod.C", along=(0, 1, 0), name="pin")],
    "joint and spring": [PIN, ph.JointSpring("pin", stiffness=1.0, name="pin")],
}


@pytest.mark.parametrize("which", NAMED)
def test_two_of_one_name_are_refused(which):
    with raises(ph.errors.JointError):
        ph.connect({"rod": LINK}, joints=NAMED[which])


@pytest.mark.parametrize(
    "element",
    [ph.Spring("ground", "rod.C", stiffness=1.0, name="rod.C"), ph.Force("rod.C", along=(0, 1, 0), name="rod.C")],
)
def test_an_element_and_a_port_of_one_name_are_refused(element):
    with raises(ph.errors.InputError, "'rod.C'"):
        ph.connect({"rod": LINK}, joints=[element])


# --- the plane, point masses, where things stand ---------------------------------------------------------------------


def test_forces_stay_in_the_plane_and_torques_stand_on_it():
    with raises(ph.errors.JointError, "rod.C.force"):
        ph.connect({"rod": LINK}, joints=[ph.Force("rod.C", along=(0, 0, 1))], plane="xy")
    with raises(ph.errors.JointError, "rod.load", "0.6"):
        ph.connect({"rod": LINK}, joints=[ph.Load("rod", along=(3, 0, 4), axes="body")], plane="xy")
    with raises(ph.errors.JointError, "rod.C.torque"):
        ph.connect({"rod": LINK}, joints=[ph.Torque("rod.C", about=(1, 0, 0))], plane="xy")
    with raises(ph.errors.JointError, "ground-rod.C.bushing"):
        ph.connect({"rod": LINK}, joints=[ph.Bushing("ground", "rod.C", stiffness=SIX, turned=(0.1, 0, 0))], plane="xy")


@pytest.mark.parametrize("joint", [ph.Universal, ph.Cylindrical, ph.Planar])
def test_joints_that_make_no_sense_in_a_plane_say_so(joint):
    with raises(ph.errors.JointError, joint.__name__, "'j'"):
        ph.connect({"rod": LINK}, joints=[joint("ground", "rod.P", name="j")], plane="xy")


@pytest.mark.parametrize("joint", [ph.Universal, ph.Cylindrical, ph.Planar])
def test_joints_with_axes_refuse_point_masses_and_axes_that_point_nowhere(joint):
    with raises(ph.errors.JointError, "'bob'"):
        ph.connect({"bob": POINT}, joints=[joint("ground", "bob.P")])
    with raises(ph.errors.InputError, "ground-bob.P"):
        joint("ground", "bob.P", axis=(0, 0, 0))


@pytest.mark.parametrize("plane", [None, "xy"])
def test_a_point_mass_takes_no_torque(plane):
    with raises(ph.errors.JointError, "'bob.P.torque'", "'bob'"):
        ph.connect({"bob": POINT}, joints=[ph.Torque("bob.P", about=(0, 0, 1))], plane=plane)


def test_a_bushing_does_not_turn_a_point_mass():
    with raises(ph.errors.JointError, "'ground-bob.P.bushing'", "'bob'"):
        ph.connect({"bob": POINT}, joints=[ph.Bushing("ground", "bob.P", stiffness=SIX)])
    pushing = ph.Bushing("bob.P", "rod.P", stiffness=(1, 1, 1, 0, 0, 0))
    with raises(ph.errors.JointError, "'bob'"):
        ph.connect({"bob": POINT, "rod": LINK}, joints=[pushing])


@pytest.mark.parametrize("kind", ["Spring", "Damper"])
def test_a_spring_without_length_pulls_nowhere(kind):
    system = ph.connect({"bob": POINT}, joints=[BETWEEN[kind]("ground", "bob.P")])
    with raises(ph.errors.InputError):
        ph.terms(system, rest_state(system.bodies))


def test_a_body_that_only_a_spring_holds_is_not_loose():
    joints = [PIN, ph.Spring("rod.C", "bob.P", stiffness=1.0)]
    assert ph.connect({"rod": LINK, "bob": POINT}, joints=joints).elements
    with warns(ph.errors.LooseBodyWarning, "'bob'"):
        ph.connect({"rod": LINK, "bob": POINT}, joints=[PIN, ph.Force("bob.P", along=(1, 0, 0))])


def test_a_stretched_spring_is_no_equilibrium():
    system = ph.connect({"rod": LINK}, joints=[PIN, ph.JointSpring("pin", stiffness=1.0, rest=0.3)])
    with raises(ph.errors.InputError, "'rod."):
        ph.linearise(system, ph.place(system, {}))
