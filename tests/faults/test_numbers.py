"""Lengths, areas, moduli, masses: every number of a body is asked for at the border, by its name."""

from math import inf, nan

import numpy as np
import pytest
from messages import raises

import phloat as ph

SECTION, MATERIAL = ph.Circle(0.01), ph.Material(E=7e10, rho=2700.0)

POSITIVE = {
    "length": lambda x: ph.Beam(length=x, section=SECTION, material=MATERIAL),
    "section area A": lambda x: ph.Section(A=x, I=1e-10),
    "second moment of area I": lambda x: ph.Section(A=1e-4, I=x),
    "second moment of area I_y": lambda x: ph.Section(A=1e-4, I=1e-10, I_y=x),
    "torsion constant J": lambda x: ph.Section(A=1e-4, I=1e-10, J=x),
    "shear correction kappa": lambda x: ph.Section(A=1e-4, I=1e-10, kappa=x),
    "Young's modulus E": lambda x: ph.Material(E=x, rho=2700.0),
    "density rho": lambda x: ph.Material(E=7e10, rho=x),
    "diameter": lambda x: ph.Circle(x),
    "diameter of a tube": lambda x: ph.Tube(x, 0.001),
    "wall": lambda x: ph.Tube(0.02, x),
    "width b": lambda x: ph.Rectangle(x, 0.01),
    "height h": lambda x: ph.Rectangle(0.01, x),
    "mass": lambda x: ph.PointMass(x),
    "mass of a rigid body": lambda x: ph.RigidBody(mass=x, inertia=np.eye(3)),
    "lumped mass at s = 0.5": lambda x: ph.Beam(1.0, SECTION, MATERIAL, masses={0.5: x}),
}
NOT_NEGATIVE = {
    "Rayleigh mass coefficient": lambda x: ph.Rayleigh(mass=x, relative_to="P"),
    "Rayleigh stiffness coefficient": lambda x: ph.Rayleigh(stiffness=x),
    "Kelvin-Voigt retardation time": lambda x: ph.KelvinVoigt(x),
    "modal damping ratio": lambda x: ph.ModalDamping(x, "P"),
}
NUMBERS = POSITIVE | NOT_NEGATIVE | {"Poisson's ratio nu": lambda x: ph.Material(E=7e10, rho=2700.0, nu=x)}
OPTIONAL = ("second moment of area I_y", "torsion constant J")  # None is their default


def said(name: str) -> str:
    return name.partition(" of a ")[0]


@pytest.mark.parametrize("value", [0, 0.0, -1, -1e-9], ids=repr)
@pytest.mark.parametrize("name", POSITIVE)
def test_what_must_be_positive_is_refused_at_zero_and_below(name, value):
    with raises(ph.errors.InputError, said(name), f"{value:g}"):
        POSITIVE[name](value)


@pytest.mark.parametrize("name", NOT_NEGATIVE)
def test_damping_is_not_negative(name):
    assert NOT_NEGATIVE[name](0) is not None
    with raises(ph.errors.InputError, name, "-0.1"):
        NOT_NEGATIVE[name](-0.1)


@pytest.mark.parametrize("value", [nan, inf, -inf, np.float32("nan")], ids=repr)
@pytest.mark.parametrize("name", NUMBERS)
def test_no_number_is_nan_or_infinite(name, value):
    with raises(ph.errors.InputError, said(name)):
        NUMBERS[name](value)


NO_NUMBERS = ["thick", "1.0", b"1", None, 1j, {}]


@pytest.mark.parametrize(
    ("name", "value"), [(n, v) for n in NUMBERS for v in NO_NUMBERS if v is not None or n not in OPTIONAL]
)
def test_what_is_no_number_is_shown_as_it_was_given(name, value):
    with raises(ph.errors.InputError, said(name), repr(value)):
        NUMBERS[name](value)


@pytest.mark.parametrize("value", [[1.0], (1.0, 2.0), np.ones(1), np.ones((2, 2))], ids=repr)
@pytest.mark.parametrize("name", NUMBERS)
def test_an_array_is_no_number(name, value):
    with raises(ph.errors.InputError, said(name)):
        NUMBERS[name](value)


@pytest.mark.parametrize("nu", [-1, 0.5, 0.7, -3])
def test_poissons_ratio_lies_between_minus_one_and_a_half(nu):
    with raises(ph.errors.InputError, "nu", f"{nu:g}"):
        ph.Material(E=7e10, rho=2700.0, nu=nu)


def test_a_tube_is_not_thicker_than_its_radius():
    with raises(ph.errors.InputError, "wall", "0.6"):
        ph.Tube(1.0, 0.6)
