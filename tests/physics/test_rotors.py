"""Rotors on bearings that stand still: exact answers of a disc on springs and dampers, and a published rotor with two discs."""

import numpy as np
import pytest

import phloat as ph

MASS, STIFFNESS, DAMPING, ECCENTRICITY = 20.0, 1e5, 400.0, 1e-4  # critical at 70.7 rad/s


def disc(eccentricity=0.0, *, plane="xy", damping=(DAMPING, DAMPING), stiffness=(STIFFNESS, STIFFNESS)) -> ph.System:
    """A rigid disc in a bearing that stands still, turned by a motor through a coupling that leaves it free sideways."""
    rotor = ph.RigidBody(MASS, np.diag([0.2, 0.2, 0.4]), center=(eccentricity, 0, 0)).discretise()
    motor = ph.RigidBody(1.0, 0.01 * np.eye(3)).discretise()
    along = (0.0 if plane else 1e5, 0, 0, 0)
    supports = ph.Bushing(
        "ground", "rotor.P", stiffness=(*stiffness, *along), damping=(*damping, 0, 0, 0, 0), name="bearing"
    )
    coupling = ph.Bushing("motor.P", "rotor.P", stiffness=(0, 0, 0, 0, 0, 1e5), name="coupling")
    joints = [ph.Revolute("ground", "motor.P", name="motor"), supports, coupling]
    return ph.drive(ph.connect({"rotor": rotor, "motor": motor}, joints, plane=plane), "motor")


@pytest.mark.parametrize("plane", ["xy", None])
@pytest.mark.parametrize("rate", [30.0, 70.0, 75.0, 300.0])
def test_the_unbalance_response_of_a_disc_is_exact(plane, rate):
    """|r| = m e Ω² / |k − m Ω² + i c Ω|, Jeffcott 1919."""
    spun = ph.steady_spin(disc(ECCENTRICITY, plane=plane), rate=rate)
    exact = MASS * ECCENTRICITY * rate**2 / abs(STIFFNESS - MASS * rate**2 + 1j * DAMPING * rate)
    assert np.hypot(*spun["rotor.r_P"][:2]) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("rate", [30.0, 300.0, -300.0])
def test_dampers_that_stand_still_damp_a_disc_at_every_rate(rate):
    """In axes that turn at Ω the poles are shifted by iΩ, and do not become unstable above the critical rate."""
    system = disc()
    linear = ph.linearise(system, ph.steady_spin(system, rate=rate))
    fixed = np.roots([MASS, DAMPING, STIFFNESS])
    exact = np.concatenate([fixed - 1j * rate, fixed + 1j * rate])
    exact = np.sort_complex(exact[exact.imag > 0])
    found = ph.poles(linear)
    near = np.array([found[np.abs(found - pole).argmin()] for pole in exact])
    np.testing.assert_allclose(near, exact, rtol=1e-9)
    modes = ph.modes(linear)
    assert not len(modes.unstable) and np.isclose(modes.growth, -DAMPING / MASS / 2).sum() == 2


def rotor(damping: float) -> ph.System:
    """Friswell, Penny, Garvey, Lees: Dynamics of Rotating Machines, 2010, examples 5.9.1 and 5.9.5."""
    steel = ph.Material(E=211e9, rho=7810.0, nu=0.3)
    shaft = ph.Beam(1.5, ph.Circle(0.05), steel, theory="timoshenko", ports={"left": 1 / 3, "right": 2 / 3})
    bodies, welds = {"shaft": shaft.discretise(6)}, []
    for name, diameter in {"left": 0.28, "right": 0.35}.items():
        outer, inner, thickness = diameter / 2, 0.025, 0.07
        mass, square = np.pi * (outer**2 - inner**2) * thickness * steel.rho, outer**2 + inner**2
        across = mass * (3 * square + thickness**2) / 12
        bodies[name] = ph.RigidBody(mass, np.diag([mass * square / 2, across, across])).discretise()
        welds.append(ph.Weld(f"shaft.{name}", f"{name}.P"))
    bearings = [
        ph.Bushing("ground", end, stiffness=(along, 1e6, 1e6, 0, 0, 0), damping=(0, damping, damping, 0, 0, 0))
        for end, along in (("shaft.P", 1e6), ("shaft.C", 0.0))
    ]
    return ph.connect(bodies, welds + bearings)


def whirl(damping: float) -> np.ndarray:
    """The poles at 4000 rpm in axes that stand still."""
    system, rate = rotor(damping), 4000 * np.pi / 30
    found = ph.poles(ph.linearise(system, ph.steady_spin(system, axis=(1, 0, 0), rate=rate)))
    return np.concatenate([found - 1j * rate, found + 1j * rate, found.conj() + 1j * rate])


def test_the_whirling_frequencies_of_a_rotor_are_the_published_ones():
    frequencies = np.abs(whirl(0.0).imag)
    for published in (85.39, 87.80, 251.78, 294.71, 600.18, 827.08):
        assert np.abs(frequencies - published).min() < 1e-3 * published


def test_the_damped_poles_of_a_rotor_are_the_published_ones():
    """Of 3 kN s/m, damped and natural frequencies in Hz."""
    poles = whirl(3e3)
    damped, natural = [13.68, 14.07, 41.98, 50.65, 104.25], [13.70, 14.09, 43.61, 52.18, 122.37]
    for d, n in zip(damped, natural, strict=True):
        found = np.abs(poles[np.abs(np.abs(poles.imag) / (2 * np.pi) - d) < 1e-3 * d]) / (2 * np.pi)
        assert np.abs(found - n).min(initial=np.inf) < 1e-3 * n


def test_torsion_and_axial_modes_of_a_rotor_do_not_whirl():
    """On its axial spring at 96.5 rad/s, and two discs against each other at 650 rad/s."""
    diagram = ph.campbell(rotor(0.0), [10.0, 50.0], axis=(1, 0, 0), count=8)
    straight = (np.abs(diagram.omega - 96.546) < 0.01) | (np.abs(diagram.omega - 650.22) < 0.1)
    assert straight.sum() == 4 and not diagram.whirl[straight].any()
    np.testing.assert_allclose(np.abs(diagram.whirl[~straight]), 1.0, atol=1e-3)


@pytest.mark.parametrize("different", [{"stiffness": (STIFFNESS, 0.8 * STIFFNESS)}, {"damping": (DAMPING, 0.0)}])
def test_a_bearing_with_two_stiffnesses_is_refused_in_a_spin(different):
    system = disc(**different)
    with pytest.raises(ph.errors.InputError, match="'bearing'"):
        ph.steady_spin(system, rate=50.0)
    spun = ph.set_moving(system, ph.place(system), {"rotor.omega": 50.0}, u={"motor": 50.0})
    with pytest.raises(ph.errors.InputError, match="'bearing'"):
        ph.linearise(system, spun, u={"motor": 50.0})


def test_a_rail_that_stands_still_is_refused_in_a_spin():
    rotor = ph.RigidBody(MASS, 0.2 * np.eye(3)).discretise()
    system = ph.connect({"rotor": rotor}, [ph.Slide("ground", "rotor.P", along=(1, 0, 0), name="rail")], plane="xy")
    spun = ph.set_moving(system, ph.place(system), {"rotor.omega": 50.0})
    with pytest.raises(ph.errors.InputError, match="'rail'"):
        ph.linearise(system, spun)
