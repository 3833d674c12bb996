"""The smallest and the largest value for which a number meets a limit, where it is known in closed form."""

import numpy as np
import pytest
from messages import warns
from scipy.optimize import brentq

import phloat as ph

STEEL = ph.Material(E=210e9, rho=7800.0, nu=0.3)
WIDTH, LENGTH, FORCE = 0.02, 1.0, 100.0


def cantilever(height):
    beam = ph.Beam(LENGTH, ph.Rectangle(WIDTH, height), STEEL).discretise(4)
    joints = [ph.Weld("ground", "beam.P"), ph.Force("beam.C", along=(0, -1, 0), name="load")]
    return ph.connect({"beam": beam}, joints, plane="xy")


def deflection(height):
    system = cantilever(height)
    return -ph.equilibrium(system, ph.place(system), u={"load": FORCE})["beam.u_f"][-1, 1]


def test_the_thinnest_cantilever_with_a_limit_of_its_deflection():
    exact = (4 * FORCE * LENGTH**3 / (STEEL.E * WIDTH * 1e-3)) ** (1 / 3)  # F L³ / (3 E b h³ / 12) = 1 mm
    found = ph.find_smallest(deflection, (0.01, 0.08), below=1e-3, tolerance=1e-7)
    assert exact - 1e-9 <= found.x <= exact + 1e-7 and found.neighbour < exact + 1e-9
    assert found.number == pytest.approx(1e-3, rel=1e-5) and found.number <= 1e-3
    assert str(found).startswith("smallest height = 0.0456671: deflection = 0.001 ≤ 0.001; at 0.0456671 it is 0.001; ")


def test_the_thinnest_cantilever_with_a_first_frequency_and_the_longest():
    def frequency(height):
        system = cantilever(height)
        return ph.modes(ph.linearise(system, ph.place(system)))[0]

    exact = 200.0 * LENGTH**2 / 1.8751040687**2 * np.sqrt(12 * STEEL.rho / STEEL.E)
    found = ph.find_smallest(frequency, (0.005, 0.08), above=200.0, tolerance=1e-7)
    assert found.x == pytest.approx(exact, rel=1e-4) and found.number >= 200.0

    def of_scaled(scale):
        system = ph.with_parameters(cantilever(0.02), {"beam.length": scale})
        return ph.modes(ph.linearise(system, ph.place(system)))[0]

    longest = ph.find_largest(of_scaled, (0.5, 2.0), above=frequency(0.02) / 2.0, tolerance=1e-7)
    assert longest.x == pytest.approx(np.sqrt(2.0), abs=1e-6)  # ω ~ 1 / L²


def residual_vibration(stiffness):
    """The amplitude of a mass of 1 kg on a spring after a force of 1 N for 1 s: 2/k |sin(√k / 2)|."""
    block = ph.RigidBody(1.0, np.eye(3)).discretise()
    rail = ph.Prismatic("ground", "block.P", axis=(1, 0, 0), name="rail")
    spring = ph.JointSpring("rail", stiffness=stiffness, name="spring")
    system = ph.connect({"block": block}, [rail, spring], plane="xy")
    pulse = ph.piecewise({1.0: 1.0, 1.0 + 1e-6: 0.0})
    result = ph.simulate(system, ph.place(system), t_end=1.2, dt=2e-3, u={"rail": pulse})
    return np.sqrt(2.0 * result.energy[-1] / stiffness)


def test_the_softest_spring_with_little_residual_vibration():
    exact = brentq(lambda k: 2 / k * np.sin(np.sqrt(k) / 2) - 0.02, 10.0, 39.0)
    found = ph.find_smallest(residual_vibration, (10.0, 38.0), below=0.02, tolerance=1e-3)
    assert found.x == pytest.approx(exact, abs=2e-3)


def test_an_answer_holds_for_all_larger_values_and_smaller_ones_are_reported():
    """sin(√k / 2) is zero at k = 4π², but the vibration grows again to 0.0221 m at k = 80.8."""
    with warns(ph.errors.SeveralCrossingsWarning, "stiffness", "residual_vibration"):
        found = ph.find_smallest(residual_vibration, (10.0, 160.0), below=0.02, tolerance=1e-3, samples=16)
    assert found.x == pytest.approx(brentq(lambda k: -2 / k * np.sin(np.sqrt(k) / 2) - 0.02, 85.0, 120.0), abs=2e-2)
    assert (found.numbers[found.values >= found.x] <= 0.02).all() and (
        found.numbers[found.values < found.x] < 0.02
    ).any()
