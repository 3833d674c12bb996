"""Section numbers against tables and direct integration."""

import numpy as np
import pytest

import phloat as ph


@pytest.mark.parametrize(
    ("ratio", "factor"), [(1, 0.140577), (1.5, 0.195762), (2, 0.228682), (5, 0.291310), (10, 0.312326)]
)
def test_the_torsion_constant_of_a_rectangle_is_saint_venants(ratio, factor):
    """J = factor · long · short³ (Timoshenko and Goodier)."""
    assert ph.Rectangle(ratio * 0.01, 0.01).J == pytest.approx(factor * ratio * 1e-8, rel=1e-5)
    assert ph.Rectangle(0.01, ratio * 0.01).J == pytest.approx(factor * ratio * 1e-8, rel=1e-5)


def test_round_sections_are_integrals_over_their_area():
    r = np.sqrt((np.arange(2000) + 0.5) / 2000) * 0.03  # rings of equal area
    solid = ph.Circle(0.06)
    assert solid.A == pytest.approx(np.pi * 0.03**2)
    assert solid.I == pytest.approx(np.mean(r**2) / 2 * solid.A, rel=1e-6)
    assert solid.J == pytest.approx(2 * solid.I)
    tube, bore = ph.Tube(0.06, 0.01), ph.Circle(0.04)
    assert tube.A == pytest.approx(solid.A - bore.A)
    assert tube.I == pytest.approx(solid.I - bore.I)
    assert tube.J == pytest.approx(solid.J - bore.J)


def test_the_shear_factor_of_a_tube_lies_between_those_of_a_bar_and_of_a_thin_wall():
    assert ph.Tube(0.06, 0.03).kappa == pytest.approx(6 / 7)
    assert ph.Tube(0.06, 1e-6).kappa == pytest.approx(0.5, abs=1e-3)


def test_a_rectangle_has_its_height_along_y():
    section = ph.Rectangle(0.02, 0.05)
    assert section.I == pytest.approx(0.02 * 0.05**3 / 12)
    assert section.I_y == pytest.approx(0.05 * 0.02**3 / 12)


def test_shear_modulus_is_that_of_an_isotropic_solid():
    assert ph.Material(E=2.6, rho=1.0, nu=0.3).G == pytest.approx(1.0)
