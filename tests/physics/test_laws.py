"""Laws written as functions against answers that are known: dry friction, a cubic spring, drag, a contact that takes energy."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest
from laws_zoo import HuntCrossley
from scipy.optimize import brentq
from scipy.special import ellipk

import phloat as ph
from phloat.joints.rows import INERTIAL, Row


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


@dataclass(frozen=True)
class Drag(ph.PortLaw):
    """c v along e_x, between velocities."""

    c: float = field(kw_only=True)
    row: ClassVar[Row] = Row("v_x", ((1.0, INERTIAL, 0),), "velocity")

    @staticmethod
    def damper(x, v, c):
        return c * v, c


@dataclass(frozen=True)
class DragOfSpin(Drag):
    """c ω about e_z, between angular velocities."""

    row: ClassVar[Row] = Row("omega_z", ((1.0, INERTIAL + 2, 0),), "spin")


def test_drag_slows_a_free_body_along_its_direction_alone():
    """v_x = v₀ exp(−ct/m), with the steps of the midpoint rule, ((1 − hc/2m)/(1 + hc/2m))ⁿ, exactly; v_y remains."""
    body = ph.RigidBody(2.0, np.diag([0.3, 0.4, 0.5])).discretise()
    system = ph.connect({"m": body}, [Drag("ground", "m.P", c=3.0, name="drag")])
    start = ph.set_moving(system, ph.place(system), {"m.v_P": (1.0, 0.5, 0.0), "m.omega": (0.2, 0.3, 0.4)})
    result = ph.simulate(system, start, 1.0, dt=1e-3)
    v = np.array([result.state(k).pose("m").A @ result["m.v_P"][k] for k in (0, -1)])  # v_P is in the axes of the body
    assert v[1, 0] == pytest.approx(np.exp(-1.5), rel=1e-6)
    assert v[1, 0] == pytest.approx(((1 - 0.75e-3) / (1 + 0.75e-3)) ** 1000, rel=1e-12)
    assert v[1, 1] == pytest.approx(0.5, rel=1e-12)
    ledger = ph.energy_ledger(result)
    assert ledger.dissipated["drag"][-1] == pytest.approx(0.5 * 2.0 * (1.0 - v[1, 0] ** 2), rel=1e-12)
    assert ledger.relative < 1e-12


def test_drag_against_spin_slows_one_component_of_the_angular_velocity():
    """A ball on a ball joint, J = j I: j ω̇ = −c ω_z e_z, so that ω_z = ω₀ exp(−ct/j), and ω_x and ω_y remain."""
    ball = ph.RigidBody(2.0, 0.4 * np.eye(3)).discretise()
    joints = [ph.Spherical("ground", "ball.P"), DragOfSpin("ground", "ball.P", c=0.5, name="drag")]
    system = ph.connect({"ball": ball}, joints)
    start = ph.set_moving(system, ph.place(system), {"ball.omega": (0.6, -0.2, 3.0)})
    result = ph.simulate(system, start, 2.0, dt=1e-3)
    omega = result.state().pose("ball").A @ result["ball.omega"][-1]
    np.testing.assert_allclose(omega, (0.6, -0.2, 3.0 * np.exp(-2.5)), rtol=3e-6)


@pytest.mark.parametrize("a", [0.3, 0.8])
def test_a_contact_that_takes_energy_has_the_exact_coefficient_of_restitution(a):
    """m v dv/dd = −k d^(3/2) (1 + av), so that ∫ v dv/(1 + av) is as large on the way in as out:

    a v₀ (1 + e) = ln((1 + a v₀)/(1 − a e v₀)).
    """
    v, limit = 1.0, 0.05
    system = slider(HuntCrossley("rail", k=1e6, limit=limit, a=a, name="stop"))
    start = ph.set_moving(system, ph.place(system, {"rail.slide": limit - 1e-4}), {"rail.slide_rate": v})
    result = ph.simulate(system, start, 0.02, dt=4e-5)
    exact = brentq(lambda e: a * v * (1 + e) - np.log((1 + a * v) / (1 - a * e * v)), 1e-6, 1 - 1e-9)
    assert -result["block.v_P"][-1, 0] / v == pytest.approx(exact, rel=2e-5)
    ledger = ph.energy_ledger(result)
    assert ledger.dissipated["stop"][-1] == pytest.approx(0.5 * 2.0 * v**2 * (1 - exact**2), rel=1e-4)
    assert ledger.relative < 1e-12


def test_small_motion_in_a_contact_has_the_damping_of_its_depth():
    """Pressed by its weight, k d^(3/2) = m g: m s² + m g a s + 3/2 k d^(1/2) = 0."""
    block, g = ph.PointMass(2.0).discretise(), 9.81
    rail = ph.Slide("ground", "block.P", along=(1, 0, 0), name="rail")
    stop = HuntCrossley("rail", k=1e4, limit=0.05, a=0.6)
    system = ph.connect({"block": block}, [rail, stop], gravity=(g, 0, 0), plane="xy")
    rest = ph.equilibrium(system, ph.place(system, {"rail.slide": 0.06}))
    pole = max(ph.poles(ph.linearise(system, rest)), key=lambda s: s.imag)
    depth = (2.0 * g / 1e4) ** (2 / 3)
    assert (-2 * pole.real, abs(pole) ** 2) == pytest.approx((0.6 * g, 1.5 * 1e4 * depth**0.5 / 2.0), rel=1e-6)
    moving = ph.set_moving(system, rest, {"rail.slide_rate": 0.3})
    R, z = ph.terms(system, moving).R, ph.terms(system, moving).z
    assert z @ (R @ z) == pytest.approx(2.0 * g * 0.6 * 0.3**2, rel=1e-6)
