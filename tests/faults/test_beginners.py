"""Thirty mistakes of the first hour, in Python and in files: each is answered by its cause and a cure, named in the message."""

import warnings

import numpy as np
import pytest
from messages import raises, warns

import phloat as ph

E = ph.errors
ALU = ph.Material(E=70e9, rho=2700.0, nu=0.33)
WEIGHT = (0.0, -9.81, 0.0)


def boom(length=1.0, section=ph.Circle(0.02), material=ALU):
    return ph.Beam(length, section, material).discretise(1)


def arm(*more, bodies=None, plane="xy", **recipe):
    joints = [ph.Revolute("ground", "boom.P", name="motor"), *more]
    return ph.connect({"boom": boom(**recipe), **(bodies or {})}, joints, gravity=WEIGHT, plane=plane)


def run(**options):
    system = arm()
    return ph.simulate(system, ph.place(system), **{"t_end": 0.01, "dt": 1e-3, **options})


BOX = {"box": ph.RigidBody(1.0, (0.1, 0.1, 0.1)).discretise()}
FAR = ph.Weld("boom.C", "ground", at=(9, 0, 0))
LIFT = ph.Slide("ground", "box.P", along="y", name="lift")
BALL, IN_BALL = ph.Spherical("boom.C", "box.P", name="ball"), ph.JointSpring("ball", stiffness=1.0)
PYTHON = {
    "a hinge by another name": (AttributeError, lambda: ph.Hinge, ["Revolute"]),
    "a solver by another name": (AttributeError, lambda: ph.solve, ["simulate"]),
    "a body not discretised": (
        E.InputError,
        lambda: ph.connect({"rod": ph.Beam(1.0, ph.Circle(0.02), ALU)}),
        ["discretise"],
    ),
    "small letters for a port": (
        E.PortError,
        lambda: arm(ph.Weld("boom.c", "box.P"), bodies=BOX),
        ["'boom.c'", "'boom.C'"],
    ),
    "a port without its body": (
        E.PortError,
        lambda: ph.connect(BOX, [ph.Weld("ground", "P")]),
        ["'P'", "mean 'box.P'"],
    ),
    "an axis by a wrong word": (E.InputError, lambda: ph.Revolute("ground", "a.P", axis="Z-axis"), ["'Z-axis'", "-z"]),
    "a unit that is not that of the number": (E.InputError, lambda: ph.Circle("6 kg"), ["'6 kg'", "'6 mm'"]),
    "a rail out of the plane": (
        E.JointError,
        lambda: ph.connect(BOX, [ph.Prismatic("ground", "box.P")], plane="xy"),
        ["plane", "direction"],
    ),
    "a moment of inertia no body has": (E.InputError, lambda: ph.RigidBody(1.0, (1.0, 0.1, 0.1)), ["mass centre"]),
    "no step": (E.InputError, lambda: run(dt=None), ["dt"]),
    "an input of an unknown port": (E.PortError, lambda: run(u={"motr": 1.0}), ["'motr'", "'motor'"]),
    "a result by another name": (E.PortError, lambda: run()["boom.speed"], ["'boom.velocity'"]),
    "the moment of a motor": (E.PortError, lambda: run()["motor.moment"], ["'motor.torque'"]),
    "stress without a place": (E.PortError, lambda: run()["boom.stress"], ["result.stress('boom'"]),
    "an initial angle by another name": (
        E.PortError,
        lambda: ph.place(arm(), {"motor.rotation": 0.1}),
        ["'motor.angle'"],
    ),
    "a parameter by another name": (
        E.InputError,
        lambda: ph.with_parameters(arm(), {"boom.density": 1.0}),
        ["'boom.material.rho'"],
    ),
    "a joint that does not reach": (
        E.ClosureError,
        lambda: ph.place(arm(ph.Weld("boom.C", "ground", at=(9, 0, 0)))),
        ["boom.C-ground"],
    ),
    "a lift that nothing holds": (
        E.InputError,
        lambda: rest(ph.Slide("ground", "box.P", along="y", name="lift")),
        ["'lift.slide'", "lock"],
    ),
    "a body that hangs on nothing": (E.InputError, lambda: rest(), ["'box'", "nothing"]),
    "a spring in a ball joint": (
        E.JointError,
        lambda: arm(BALL, IN_BALL, bodies=BOX),
        ["'ball'", "Bushing"],
    ),
    "a joint that is not there": (E.PortError, lambda: ph.lock(arm(), "Motor"), ["'Motor'", "'motor'"]),
    "a window beyond the run": (E.InputError, lambda: run().window(2.0), ["0.01"]),
}


def changed(numbers):
    return ph.with_parameters(arm(), numbers)


def rest(*joints):
    system = ph.connect(BOX, list(joints), gravity=WEIGHT)
    return ph.equilibrium(system, ph.place(system))


@pytest.mark.parametrize("mistake", PYTHON)
def test_a_mistake_in_python_is_answered_by_its_cause_and_cure(mistake):
    error, make, names = PYTHON[mistake]
    with raises(error, *names):
        make()


FILE = """phloat: 1
plane: xy
bodies:
  boom:
    beam: {length: 1 m, section: {circle: 20 mm}, material: {E: 70 GPa, rho: 2700, nu: 0.33}}
    elements: 1
joints:
  motor: {revolute: [ground, boom.P], axis: z}
simulate: {t_end: 10 ms, dt: 1 ms}
outputs:
  tip: {position: boom.C}
"""
IN_FILES = {  # what is written instead of what: the names and the line of the answer
    "a tab": ("  boom:\n", "\tboom:\n", 4, ["tab", "spaces"]),
    "a line too far in": ("    elements", "     elements", 6, ["indent", "column"]),
    "no space after a colon": ("    elements: 1", "    elements:1", 6, ["space", "'elements:1'"]),
    "a bracket left open": (
        "motor: {revolute: [ground, boom.P], axis: z}",
        "motor: {revolute: [ground, boom.P], axis: z",
        8,
        ["{"],
    ),
    "Young's modulus by its name": ("E: 70 GPa", "young: 70 GPa", 5, ["'young'", "'E'"]),
    "density by its name": ("rho:", "density:", 5, ["'density'", "'rho'"]),
    "a hinge by another name": ("revolute", "hinge", 8, ["'hinge'", "'revolute'"]),
    "capital letters": ("joints:", "Joints:", 7, ["'Joints'", "'joints'"]),
    "a decimal comma": ("1 m,", "1,5 m,", 5, ["'5 m'", "decimal point"]),
    "a unit of something else": ("1 m,", "1 kg,", 5, ["'1 kg'", "length"]),
    "small letters for a port": ("boom.P", "boom.p", 8, ["'boom.p'", "'boom.P'"]),
    "a window without a number": ("boom.C}", "boom.C, from: 2 s}", 11, ["take"]),
}


@pytest.mark.parametrize("mistake", IN_FILES)
def test_a_mistake_in_a_file_is_answered_with_its_line(mistake):
    right, wrong, line, names = IN_FILES[mistake]
    assert right in FILE
    with raises(E.FileError, *names) as error:
        _ = ph.io.parse_model(FILE.replace(right, wrong)).system
    assert error.value.line == line


def turned_by(angle):
    return ph.servo("motor", ph.move(angle, over=0.01), stiffness=1.0)


DOUBTS = {
    "a section in mm": (lambda: arm(length=0.3, section=ph.Circle(20.0)), ["'boom'", "mm"]),
    "a density in g/cm³": (lambda: arm(material=ph.Material(E=70e9, rho=2.7)), ["'boom'", "2.7", "g/cm³"]),
    "E in GPa": (lambda: arm(material=ph.Material(E=70.0, rho=2700.0)), ["'boom'", "70", "GPa"]),
    "E in MPa": (lambda: arm(material=ph.Material(E=2.1e5, rho=7850.0)), ["'boom'", "210000", "MPa"]),
    "an angle in degrees": (lambda: ph.place(arm(), {"motor.angle": 90.0}), ["motor.angle", "90 deg"]),
    "a move in degrees": (
        lambda: run(controller=ph.servo("motor", ph.move(45.0, over=0.01), stiffness=1.0)),
        ["'motor'", "45 deg"],
    ),
}


@pytest.mark.parametrize("doubt", DOUBTS)
@pytest.mark.filterwarnings("ignore::phloat.errors.ThickBeamWarning", "ignore::phloat.errors.LargeDeformationWarning")
def test_numbers_that_are_probably_in_other_units_are_noticed(doubt):
    make, names = DOUBTS[doubt]
    with warns(E.UnitsWarning, *names):
        make()


@pytest.mark.parametrize(
    ("length", "diameter", "E", "rho"),
    [
        (1e-6, 1e-8, 1e12, 2200.0),  # a nanotube
        (300.0, 1.0, 70e9, 1600.0),  # a boom in orbit
        (300.0, 6.0, 2.1e5, 7.85e-9),  # mm, t, s
        (1.0, 0.01, 1.0, 1.0),  # numbers without dimensions
        (1.0, 0.05, 1e6, 30.0),  # foam
        (1.0, 0.05, 3e9, 100.0),  # balsa
        (0.1, 0.05, 2e4, 1050.0),  # a gel
        (0.1, 0.05, 500.0, 1040.0),  # tissue
        (1.0, 0.05, 1.6e10, 11300.0),  # lead
        (1.0, 0.01, 1.2e12, 3500.0),  # diamond
    ],
)
@pytest.mark.filterwarnings("ignore::phloat.errors.ThickBeamWarning")
def test_structures_of_any_size_and_other_units_are_not_doubted(length, diameter, E, rho):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ph.errors.UnitsWarning)
        arm(length=length, section=ph.Circle(diameter), material=ph.Material(E=E, rho=rho))
        ph.place(arm(), {"motor.angle": 16 * np.pi})


@pytest.mark.filterwarnings("ignore::phloat.errors.ThickBeamWarning")
def test_pieces_of_a_beam_are_judged_by_the_whole_beam():
    strip = ph.Beam(1.0, ph.Rectangle(0.002, 0.2), ph.Material(E=70e9, rho=2700.0)).split(8).discretise(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ph.errors.UnitsWarning)
        ph.connect({"strip": strip}, [ph.Weld("ground", "strip.P")], plane="xy")
