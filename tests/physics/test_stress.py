"""Stress at points of moving bodies, from the stress states."""

import numpy as np
import pytest

import phloat as ph
from phloat.system.stresses import von_mises

steel = ph.Material(E=2.1e11, rho=7800.0, nu=0.3)


def bent(section: ph.Section, force: tuple[float, float, float]) -> ph.Result:
    """A cantilever under a force at its tip, at rest in its equilibrium."""
    beam = ph.Beam(length=2.0, section=section, material=steel).discretise(16)
    along = np.array(force) / np.linalg.norm(force)
    joints = [ph.Weld("ground", "beam.P"), ph.Force("beam.C", along=tuple(along), name="tip")]
    system = ph.connect({"beam": beam}, joints)
    u = {"tip": float(np.linalg.norm(force))}
    return ph.simulate(system, ph.equilibrium(system, ph.place(system, {}), u=u), t_end=0.01, dt=1e-3, u=u)


def test_bending_pulls_one_side_and_presses_the_other():
    b, h, F = 0.02, 0.04, 50.0
    result = bent(ph.Rectangle(b, h), (0.0, -F, 0.0))
    W = b * h**2 / 6
    top, bottom = (result.stress("beam", s=0.0, y=y)["xx"] for y in (h / 2, -h / 2))
    np.testing.assert_allclose(top, F * 2.0 / W, rtol=1e-6)
    np.testing.assert_allclose(bottom, -F * 2.0 / W, rtol=1e-6)
    np.testing.assert_allclose(result.stress("beam", at=(1.0, h / 2, 0.0))["xx"], F * 1.0 / W, rtol=1e-6)


def test_bending_along_z_and_pull_add_up():
    b, h, N, F = 0.02, 0.04, 3000.0, 20.0
    result = bent(ph.Rectangle(b, h), (N, 0.0, F))
    stress = result.stress("beam", s=0.5, z=b / 2)["xx"]
    # the pull straightens the beam a little: the moment is that of the deformed beam
    w = result.displacement("beam", s=1.0)[0, 2] - result.displacement("beam", s=0.5)[0, 2]
    expected = N / (b * h) - (F * 1.0 - N * w) * (b / 2) / (h * b**3 / 12)
    np.testing.assert_allclose(stress, expected, atol=1e-3 * 20.0 * (b / 2) / (h * b**3 / 12))


def test_material_points_off_the_axis_turn_with_their_section():
    result = bent(ph.Rectangle(0.02, 0.04), (0.0, -50.0, 0.0))
    state = result.state(0)
    axis, off = (result.position("beam", at=(2.0, y, 0.0))[0] for y in (0.0, 0.02))
    slope = -50.0 * 2.0**2 / (2 * 2.1e11 * 0.02 * 0.04**3 / 12)
    np.testing.assert_allclose(off - axis, (-0.02 * slope, 0.02, 0.0), rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(axis, state.position("beam", 1.0), atol=1e-12)


def test_von_mises_of_simple_states():
    assert von_mises(np.array([100.0, 0, 0, 0, 0, 0])) == pytest.approx(100.0)
    assert von_mises(np.array([7.0, 7, 7, 0, 0, 0])) == pytest.approx(0.0)
    assert von_mises(np.array([0, 0, 0, 0, 0, 10.0])) == pytest.approx(np.sqrt(3) * 10.0)
