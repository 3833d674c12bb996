"""Rotary inertia of sections in a spin: whirl of shafts, overhung discs, torsion of blades, in every frame; exact answers."""

import numpy as np
import pytest
import scipy.linalg as la
from messages import warns
from numpy.polynomial.legendre import leggauss

import phloat as ph

steel = ph.Material(E=210e9, rho=7800.0, nu=0.3)
alu = ph.Material(E=70e9, rho=2700.0, nu=0.33)
ALL = ("u_x", "u_y", "u_z", "theta_x", "theta_y", "theta_z")
FRAMES = {"cantilever": "cantilever", "pinned": "pinned", "tip": {1.0: ALL}, "middle": {0.5: ALL}}
RATE = 1280.27
# blades at 300 rad/s stretch by 0.17 %, which their torsion hardly feels
STRETCHED = pytest.mark.filterwarnings("ignore::phloat.errors.LargeStretchWarning")


def spinning_modes(system: ph.System, axis, rate: float) -> np.ndarray:
    return ph.modes(ph.linearise(system, ph.steady_spin(system, axis=axis, rate=rate))).omega


def whirl(body, rate: float = RATE) -> np.ndarray:
    """First forward and backward frequency of a simply supported shaft, seen from rest."""
    shaft = ph.connect({"s": body}, [ph.Spherical("ground", "s.P"), ph.Slide("ground", "s.C", along=(1, 0, 0))])
    nu = ph.modes(ph.linearise(shaft, ph.steady_spin(shaft, axis=(1, 0, 0), rate=rate))).elastic
    return np.array([nu[0] + rate, nu[1] - rate])


def exact_whirl(section: ph.Section, sheared: bool) -> np.ndarray:
    """(κGA k² − ρA ω²)(EI k² + κGA − ρI ω² + ρI_p Ω ω) = (κGA k)² with k = π, and the limit of stiff shear."""
    k, m, d, p = np.pi, steel.rho * section.A, steel.rho * section.I, 2 * steel.rho * section.I
    bend, shear = steel.E * section.I * k**2, section.kappa * steel.G * section.A
    rigid = np.array([-(m + d * k**2), p * RATE * k**2, bend * k**2])
    if sheared:
        rigid = np.polymul([-m, 0, shear * k**2], [-d, p * RATE, bend + shear]) - [0, 0, 0, 0, (shear * k) ** 2]
    roots = np.sort(np.roots(rigid).real)
    return np.array([roots[roots > 0][0], -roots[roots < 0][-1]])


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("theory", ["rayleigh", "timoshenko"])
def test_whirl_of_a_shaft_is_exact_in_every_frame(theory, frame):
    """Steel bar 1 m × Ø 0.2 m at 1280.27 rad/s, Rayleigh: 2560.54 and 2498.89; it was 2599/2412 and 2553/2491 in two frames."""
    section = ph.Circle(0.2)
    exact = exact_whirl(section, theory == "timoshenko")
    if theory == "rayleigh":
        assert exact == pytest.approx([2560.54, 2498.89], abs=0.01)
    body = ph.Beam(1.0, section, steel, theory=theory, frame=FRAMES[frame]).discretise(8)
    assert whirl(body) == pytest.approx(exact, rel=3e-5)


def test_whirl_converges_with_order_four():
    exact = exact_whirl(ph.Circle(0.2), False)
    errors = [
        np.abs(whirl(ph.Beam(1.0, ph.Circle(0.2), steel, theory="rayleigh").discretise(n)) / exact - 1) for n in (2, 4)
    ]
    assert (np.log2(errors[0] / errors[1]) > 3.7).all()


def test_pieces_whirl_as_the_whole():
    split = ph.Beam(1.0, ph.Circle(0.2), steel, theory="rayleigh").split(3)
    assert whirl(split.discretise(3)) == pytest.approx(exact_whirl(ph.Circle(0.2), False), rel=1e-4)


@STRETCHED
def test_an_euler_bernoulli_shaft_says_what_it_misses():
    body = ph.Beam(1.0, ph.Circle(0.2), steel, frame="pinned").discretise(4)
    with warns(ph.errors.SectionInertiaWarning, "'s'", "1.2 %"):
        assert whirl(body) == pytest.approx(2560.6, rel=1e-3)
    with warns(ph.errors.SectionInertiaWarning, "'b'", "11 %"):
        blade_torsion(ph.Beam(1.0, ph.Rectangle(0.004, 0.06), alu).discretise(4), 300.0, 709.0)


@pytest.mark.parametrize("frame", ["cantilever", "tip"])
def test_an_overhung_disc_whirls_at_the_roots_of_its_four_equations(frame):
    """Massless shaft with a disc: (12EI/L³ − mω²)(4EI/L − I_dω² + I_pΩω) = (6EI/L²)²."""
    shaft = ph.Beam(
        0.5, ph.Circle(0.02), ph.Material(E=210e9, rho=1e-3, nu=0.3), theory="rayleigh", frame=FRAMES[frame]
    )
    m, I_d, I_p, rate = 5.0, 0.02, 0.04, 300.0
    disc = ph.RigidBody(m, np.diag([I_p, I_d, I_d])).discretise()
    joints = [ph.Drive("ground", "s.P", of="pose"), ph.Weld("s.C", "d.P")]
    system = ph.connect({"s": shaft.discretise(4), "d": disc}, joints)
    k = 210e9 * ph.Circle(0.02).I / 0.5**3 * np.array([12.0, 3.0, 1.0])
    roots = np.roots(np.polysub(np.polymul([-m, 0, k[0]], [-I_d, I_p * rate, k[2]]), [k[1] ** 2]))
    exact = np.sort(np.abs(roots.real - rate))  # in axes that turn with the shaft
    found = spinning_modes(system, (1, 0, 0), rate)
    assert [found[np.abs(found - e).argmin()] for e in exact] == pytest.approx(exact, rel=1e-5)


def torsion_reference(section, material: ph.Material, rate: float) -> float:
    """−((GJ + N I_p/A) θ')' + ρ(I − I_y) Ω² θ = ω² ρI_p θ, θ(0) = 0, by 12 polynomials.

    N = Ω² ∫ρA (x + u) from x to the tip, with u' = N/EA: the blade is longer by 1e-3, which counts.
    """
    x, w = leggauss(60)
    x, w = (x + 1) / 2, w / 2
    at = [section(s) if callable(section) else section for s in x]
    A, I, I_y, J = (np.array([getattr(s, name) for s in at]) for name in ("A", "I", "I_y", "J"))
    fit, u, N = np.polynomial.Polynomial.fit, 0.0 * x, 0.0 * x
    for _ in range(4):
        moment = fit(x, material.rho * A * (x + u), 12).integ()
        N = rate**2 * (moment(1.0) - moment(x))
        stretch = fit(x, N / (material.E * A), 12).integ()
        u = stretch(x) - stretch(0.0)
    basis = [np.polynomial.Legendre.basis(k, domain=[0.0, 1.0]) for k in range(13)]  # powers of x are nearly dependent
    theta = np.array([p(x) - p(0.0) for p in basis[1:]]).T
    slope = np.array([p.deriv()(x) for p in basis[1:]]).T
    K = slope.T * (w * (material.G * J + N * (I + I_y) / A)) @ slope
    K += theta.T * (w * material.rho * (I - I_y) * rate**2) @ theta
    return float(np.sqrt(la.eigh(K, theta.T * (w * material.rho * (I + I_y)) @ theta, eigvals_only=True)[0]))


def blade_torsion(body: ph.Body, rate: float, near: float) -> float:
    """The torsion frequency of a blade clamped to a hub that turns about z: the mode that twists most."""
    system = ph.connect({"b": body}, [ph.Drive("ground", "b.P", of="pose")])
    state = ph.steady_spin(system, axis=(0, 0, 1), rate=rate) if rate else ph.place(system)
    found = ph.modes(ph.linearise(system, state)).omega
    return float(found[np.abs(found - near).argmin()])


TAPERED = ph.Taper({0.0: ph.Rectangle(0.006, 0.08), 1.0: ph.Rectangle(0.003, 0.04)})


@STRETCHED
@pytest.mark.parametrize("frame", ["cantilever", "pinned", "tip"])
@pytest.mark.parametrize("section", [ph.Rectangle(0.004, 0.06), TAPERED], ids=["straight", "tapered"])
def test_torsion_of_a_turning_blade_has_propeller_moment_and_tension(section, frame):
    """Alu 1 m × 60 × 4 mm at 300 rad/s: 770.0 rad/s (638.56 at rest); it was 638.8 at both rates."""
    body = ph.Beam(1.0, section, alu, theory="rayleigh", frame=FRAMES[frame]).discretise(8)
    exact = torsion_reference(section, alu, 300.0)
    if section is not TAPERED:
        assert exact == pytest.approx(770.0, abs=0.05)
    assert blade_torsion(body, 300.0, exact) == pytest.approx(exact, rel=2e-5)


@STRETCHED
def test_a_blade_across_its_plane_of_rotation_is_softened_by_the_propeller_moment():
    """(I − I_y) < 0: beside ω₀ = 638.6 tension adds 1.07 Ω², the propeller moment takes 0.99 Ω² away.

    Sections that tilt as the blade bends are coupled to torsion by gyroscopic moments, which the reference leaves out: 1e-4 of the
    frequency, 9e-4 for a blade three times as wide.
    """
    section = ph.Rectangle(0.02, 0.004 / 3)
    exact = torsion_reference(section, alu, 300.0)
    assert 643.0 < exact < 645.0
    body = ph.Beam(1.0, section, alu, theory="rayleigh").discretise(8)
    assert blade_torsion(body, 300.0, exact) == pytest.approx(exact, rel=2e-4)


def test_without_stiffening_tension_leaves_torsion_alone():
    """ω² = 638.56² + (I − I_y)/(I + I_y) Ω²."""
    section = ph.Rectangle(0.004, 0.06)
    body = ph.Beam(1.0, section, alu, theory="rayleigh", stiffening=False).discretise(8)
    exact = np.sqrt(638.56**2 + (section.I - section.I_y) / (section.I + section.I_y) * 40.0**2)
    assert blade_torsion(body, 40.0, exact) == pytest.approx(exact, rel=2e-5)


@pytest.mark.filterwarnings("ignore::phloat.errors.LargeStretchWarning")
@pytest.mark.long
def test_a_reduced_blade_twists_as_the_full_one():
    section = ph.Rectangle(0.004, 0.06)
    small = ph.Beam(1.0, section, alu, theory="rayleigh").discretise(8).reduced(modes=4, axial=4, torsion=3)
    exact = torsion_reference(section, alu, 300.0)
    assert blade_torsion(small, 300.0, exact) == pytest.approx(exact, rel=2e-3)
