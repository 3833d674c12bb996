"""Laws written as functions against answers that are known: dry friction and a cubic spring."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.special import ellipk

import phloat as ph


def slider(*laws):
    """2 kg on a rail without gravity."""
    block = ph.PointMass(2.0).discretise()
    return ph.connect(
        {"block": block}, [ph.Slide("ground", "block.P", along=(1, 0, 0), name="rail"), *laws], plane="xy"
    )


def swings(system, start, t_end, dt):
    """The successive extremes of the slide, let go at rest."""
    result = ph.simulate(system, ph.place(system, {"rail.slide": start}), t_end, dt=dt)
    x = result["rail.slide"]
    turns = np.flatnonzero(np.diff(np.sign(np.diff(x)))) + 1
    return result.t[turns], x[turns]


def test_friction_takes_4_F_over_k_a_period():
    """Coulomb: amplitudes fall by 2F/k every half period π√(m/k), whatever the amplitude (Den Hartog, Mechanical Vibrations)."""
    k, F, start = 50.0, 0.4, 0.1
    system = slider(ph.JointSpring("rail", stiffness=k), ph.JointFriction("rail", effort=F, speed=1e-4))
    t, x = swings(system, start, 2.5, 2e-4)
    half = np.arange(1, len(x) + 1)
    moving = np.abs(start - 2 * F / k * (half - 1)) > 2 * F / k  # then it sticks
    exact = (-1.0) ** half * (start - 2 * F / k * half)
    assert moving.sum() >= 3
    np.testing.assert_allclose(x[moving], exact[moving], atol=2e-3 * start)
    np.testing.assert_allclose(t[moving], np.pi * np.sqrt(2.0 / k) * half[moving], rtol=2e-3)


def test_friction_is_reached_at_the_rate_of_its_speed():
    """The regularisation vanishes with its speed: the error of the first swing falls with it."""
    k, F = 50.0, 0.4
    missed = []
    for speed in (4e-3, 1e-3):
        system = slider(ph.JointSpring("rail", stiffness=k), ph.JointFriction("rail", effort=F, speed=speed))
        missed.append(abs(swings(system, 0.1, 0.8, 1e-4)[1][0] - (-0.1 + 2 * F / k)))
    assert missed[1] < missed[0] / 2.5


@dataclass(frozen=True)
class Cubic(ph.JointLaw):
    k: float = field(kw_only=True)

    @staticmethod
    def spring(x, k):
        return k * x**3, 3.0 * k * x * x, 0.25 * k * x**4


@pytest.mark.parametrize("start", [0.01, 0.3])
def test_a_cubic_spring_has_the_period_of_an_elliptic_integral(start):
    """m ẍ = −k x³: T = 4 K(½) √(m/k) / A."""
    period = 4.0 * ellipk(0.5) * np.sqrt(2.0 / 700.0) / start
    times = [swings(slider(Cubic("rail", k=700.0)), start, 1.05 * period, period / n)[0] for n in (400, 800)]
    exact = period * np.array([0.5, 1.0])
    for found, n in zip(times, (400, 800), strict=True):
        np.testing.assert_allclose(found, exact, atol=1.01 * period / n)  # extremes are found to one output
