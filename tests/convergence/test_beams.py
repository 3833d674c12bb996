"""Beams against exact frequencies, with the rate of their elements."""

import numpy as np
import pytest
import scipy.special
from bodies_zoo import steel
from scipy.optimize import brentq

import phloat as ph


def cantilever(beam: ph.Beam, elements: int, plane: str | None = "xy") -> ph.LinearPHDAE:
    system = ph.connect({"b": beam.discretise(elements)}, joints=[ph.Weld("ground", "b.P")], plane=plane)
    return ph.linearise(system, ph.place(system))


def bending(found: ph.types.Modes) -> np.ndarray:
    """Frequencies of the modes that bend along y, in order: their mean axial motion is nothing."""
    return np.array([w for k, w in enumerate(found.omega) if k >= found.rigid and _bends(found.shape(k, "b"))])


def _bends(shape: np.ndarray) -> bool:
    return bool(np.abs(shape[:, 1]).max() > 10 * np.abs(shape[:, [0, 2]]).max())


def rate(errors: np.ndarray, elements: list[int]) -> float:
    return -np.polyfit(np.log(elements), np.log(np.abs(errors)), 1)[0]


SLENDER = ph.Beam(1.0, ph.Section(A=1e-4, I=1e-9, J=2e-9), steel)
UNIT = np.sqrt(steel.E * 1e-9 / (steel.rho * 1e-4))


@pytest.mark.parametrize("mode", range(3))
@pytest.mark.parametrize("frame", ["cantilever", "pinned"])
@pytest.mark.parametrize("support", ["cantilever", "free_free"])
def test_hermite_beams_reach_the_exact_frequencies_with_order_four(reference, support, frame, mode):
    from dataclasses import replace

    beam, exact = replace(SLENDER, frame=frame), reference["beams"][support][mode]
    elements = [8, 16, 32]
    found = []
    for n in elements:
        linear = cantilever(beam, n) if support == "cantilever" else beam.discretise(n).in_plane().linear()
        modes = ph.modes(linear if support == "cantilever" else linear.prefixed("b"))
        if support == "free_free":
            assert modes.rigid == 3
            found.append(min(modes.elastic / UNIT, key=lambda w: abs(w - exact)))
        else:
            found.append(bending(modes)[mode] / UNIT)
    errors = np.array(found) / exact - 1
    assert (errors > 0).all()
    assert 3.7 < rate(errors, elements) < 4.3
    # what the best linear moment leaves of the curvature, k from ω = k²; ends, where modes are not sines, cost a little more
    assert errors[-1] < 1.6 * (np.sqrt(exact) / 32) ** 4 / 1440


def test_both_frames_have_the_same_frequencies():
    a, b = (
        ph.modes(ph.Beam(1.0, ph.Rectangle(0.02, 0.03), steel, frame=frame).discretise(6).linear())
        for frame in ("cantilever", "pinned")
    )
    np.testing.assert_allclose(a.omega, b.omega, rtol=1e-8)


STOUT = ph.Beam(1.0, ph.Rectangle(0.05, 0.1), ph.Material(E=210e9, rho=7800.0, nu=0.3), theory="timoshenko")


def test_timoshenko_cantilever_is_exact_to_1e_5_with_twenty_elements(reference):
    exact = np.array(reference["beams"]["timoshenko_cantilever"])
    found = bending(ph.modes(cantilever(STOUT, 20)))[:3]
    np.testing.assert_allclose(found, exact, rtol=1e-5)


def test_timoshenko_elements_converge_with_twice_the_degree_of_their_rotation(reference):
    exact = reference["beams"]["timoshenko_cantilever"][2]
    elements = [3, 4, 6]
    errors = np.array([bending(ph.modes(cantilever(STOUT, n)))[2] / exact - 1 for n in elements])
    assert (errors > 0).all()
    assert 5.5 < rate(errors, elements) < 7.5


@pytest.mark.parametrize("slenderness", [1e2, 1e3, 1e4])
def test_a_thin_timoshenko_beam_does_not_lock(reference, slenderness):
    from dataclasses import replace

    thin = replace(STOUT, section=ph.Rectangle(0.05, 1.0 / slenderness))
    unit = np.sqrt(210e9 / 12 / 7800.0) / slenderness
    found = bending(ph.modes(cantilever(thin, 4)))[:2] / unit
    exact = np.array(reference["beams"]["cantilever"][:2])
    # shear and rotary inertia lower Euler-Bernoulli by less than (mode wave number · h)²
    np.testing.assert_allclose(found, exact, rtol=1e-4 + 60.0 / slenderness**2)


def on_two_supports(beam: ph.Beam, elements: int) -> ph.LinearPHDAE:
    joints = [ph.Revolute("ground", "b.P"), ph.Slide("ground", "b.C", along=(1, 0, 0))]
    system = ph.connect({"b": beam.discretise(elements)}, joints=joints, plane="xy")
    return ph.linearise(system, ph.place(system))


@pytest.mark.parametrize("theory", ["euler-bernoulli", "rayleigh", "timoshenko"])
@pytest.mark.parametrize("frame", ["cantilever", "pinned"])
def test_a_beam_on_two_supports_has_the_closed_form_of_its_theory(theory, frame):
    """sin(nπx/L): ω² = EI k⁴ / ρA, with ρI k² beside ρA (Rayleigh), and the lower root of Timoshenko's quadratic."""
    from dataclasses import replace

    beam = replace(STOUT, theory=theory, frame=frame)
    section, material = beam.section, beam.material
    rhoA, rhoI, EI = material.rho * section.A, material.rho * section.I, material.E * section.I
    S = section.kappa * material.G * section.A
    k = np.arange(1, 4) * np.pi
    exact = {
        "euler-bernoulli": EI * k**4 / rhoA,
        "rayleigh": EI * k**4 / (rhoA + rhoI * k**2),
        "timoshenko": _lower(rhoA * rhoI / S, rhoA + rhoI * k**2 + rhoA * EI * k**2 / S, EI * k**4),
    }[theory]
    errors = [bending(ph.modes(on_two_supports(beam, n)))[:3] / np.sqrt(exact) - 1 for n in (4, 8)]
    order = 6 if theory == "timoshenko" else 4
    # what the best quadratic (linear) moment leaves of a sine in an element: (kh)⁶ / 100 800, or (kh)⁴ / 720, in ω²
    bound = (k / 8) ** order / (2 * {4: 720, 6: 100_800}[order])
    assert (errors[1] > 0).all() and (errors[1] < 1.1 * bound).all()
    assert (np.log2(errors[0] / errors[1])[:2] > order - 0.4).all()


def _lower(a: float, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """The lower root of a x² − b x + c."""
    return 2 * c / (b + np.sqrt(b * b - 4 * a * c))


def test_rayleigh_beams_lie_between_timoshenko_and_euler_bernoulli():
    from dataclasses import replace

    timoshenko, rayleigh, euler = (
        bending(ph.modes(cantilever(replace(STOUT, theory=t), 12)))[:3]
        for t in ("timoshenko", "rayleigh", "euler-bernoulli")
    )
    assert (timoshenko < rayleigh).all()
    assert (rayleigh < euler).all()


def test_torsion_is_exact_in_statics_and_of_order_four_in_frequency():
    section = ph.Rectangle(0.02, 0.03)
    beam = ph.Beam(1.5, section, steel)
    exact = np.pi / 2 * np.sqrt(steel.G * section.J / (steel.rho * (section.I + section.I_y))) / 1.5
    errors = []
    for n in (5, 10, 20):
        linear = cantilever(beam, n, plane=None)
        twist = _static(linear, "b.C", 3)
        assert twist[3] == pytest.approx(1.5 / (steel.G * section.J), rel=1e-9)
        assert np.abs(np.delete(twist, 3)).max() < 1e-12 * abs(twist[3])
        omega = ph.modes(linear).omega
        errors.append(omega[np.abs(omega / exact - 1).argmin()] / exact - 1)
    assert 3.9 < rate(np.array(errors), [5, 10, 20]) < 4.1
    assert errors[-1] < 1e-7


@pytest.mark.parametrize("frame", ["cantilever", {0.0: ("u_x", "u_y", "u_z"), 1.0: ("theta_x", "u_y", "u_z")}])
def test_a_free_beam_twists_at_the_exact_frequencies(frame):
    """nπ √(GJ/ρI_p) / L: rigid and elastic twist must share the polar inertia of the sections."""
    section = ph.Rectangle(0.02, 0.03)
    beam = ph.Beam(1.5, section, steel, frame=frame)
    exact = np.pi * np.sqrt(steel.G * section.J / (steel.rho * (section.I + section.I_y))) / 1.5
    found = ph.modes(beam.discretise(30).linear())
    assert found.rigid == 6
    for n in (1, 2):
        assert np.abs(found.omega / (n * exact) - 1).min() < 3e-7 * n**4


def _static(linear: ph.LinearPHDAE, port: str, component: int) -> np.ndarray:
    """The displacement of a port under a unit effort: its rate at a very low frequency, divided by jω."""
    omega = np.array([1e-3])
    y = ph.response(linear, f"{port}[{component}]", port, omega=omega).values[0, :, 0]
    return (y / (1j * omega)).real


@pytest.mark.parametrize("theory", ["euler-bernoulli", "timoshenko"])
def test_a_tip_load_bends_each_plane_by_beam_theory_and_not_the_other(theory):
    section = ph.Rectangle(0.02, 0.05)
    linear = cantilever(ph.Beam(1.2, section, steel, theory=theory), 3, plane=None)
    shear = 1.2 / (section.kappa * steel.G * section.A) if theory == "timoshenko" else 0.0
    for component, I, turn, sign in ((1, section.I, 5, 1), (2, section.I_y, 4, -1)):
        moved = _static(linear, "b.C", component)
        assert moved[component] == pytest.approx(1.2**3 / (3 * steel.E * I) + shear, rel=1e-8)
        assert moved[turn] == pytest.approx(sign * 1.2**2 / (2 * steel.E * I), rel=1e-8)
        assert np.abs(np.delete(moved, [component, turn])).max() < 1e-10 * moved[component]


def test_bending_planes_and_torsion_are_uncoupled_in_the_modes():
    section = ph.Rectangle(0.02, 0.05)
    found = ph.modes(cantilever(ph.Beam(1.2, section, steel), 6, plane=None), count=8)
    for k in range(8):
        size = np.abs(found.shape(k, "b.C")) * np.array([1, 1, 1, 0.05, 1, 1])
        groups = [size[[0]].max(), size[[1, 5]].max(), size[[2, 4]].max(), size[[3]].max()]
        assert sorted(groups)[-2] < 1e-6 * max(groups)


def test_a_wedge_has_kirchhoffs_frequencies():
    """h = h₀ x/L from the free tip: ω = z²/4 √(EI₀/ρA₀L⁴) with J₁(z)I₂(z) + I₁(z)J₂(z) = 0 (Kirchhoff 1882)."""
    jv, iv = scipy.special.jv, scipy.special.iv

    def equation(z):
        return jv(1, z) * iv(2, z) + iv(1, z) * jv(2, z)

    exact = np.array([brentq(equation, *bracket) ** 2 / 4 for bracket in ((4, 5), (7, 8.5))])
    np.testing.assert_allclose(exact, [5.315, 15.207], rtol=1e-4)
    h, L = 0.05, 1.0
    wedge = ph.Beam(L, lambda s: ph.Rectangle(0.02, h * (1 - s)), steel)
    unit = np.sqrt(steel.E * h**2 / 12 / steel.rho) / L**2
    errors = [bending(ph.modes(cantilever(wedge, n)))[:2] / unit / exact - 1 for n in (8, 16)]
    assert np.abs(errors[1]).max() < 1e-3
    assert (np.abs(errors[0]) / np.abs(errors[1]) > 3).all()


def test_a_stepped_beam_of_two_materials_has_the_compliance_of_its_parts():
    light = ph.Material(E=7e10, rho=2700.0)
    stepped = ph.Beam(1.0, ph.Section(A=1e-3, I=1e-8), lambda s: steel if s < 0.4 else light)
    system = ph.connect({"b": stepped.discretise([0.0, 0.4, 1.0])}, joints=[ph.Weld("ground", "b.P")], plane="xy")
    tip = _static(ph.linearise(system, ph.place(system)), "b.C", 1)[1]
    exact = (1.0 - 0.6**3) / (3 * steel.E * 1e-8) + 0.6**3 / (3 * light.E * 1e-8)
    assert tip == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("ratio", [0.1, 1.0, 5.0])
def test_a_tip_mass_lowers_a_cantilever_as_its_equation_says(ratio):
    def equation(b):
        return 1 + np.cos(b) * np.cosh(b) + ratio * b * (np.cos(b) * np.sinh(b) - np.sin(b) * np.cosh(b))

    exact = np.array([brentq(equation, 0.3, 1.9), brentq(equation, 3.5, 4.7)]) ** 2
    heavy = ph.Beam(1.0, SLENDER.section, steel, masses={1.0: ratio * steel.rho * 1e-4})
    np.testing.assert_allclose(bending(ph.modes(cantilever(heavy, 16)))[:2] / UNIT, exact, rtol=1e-5)


@pytest.mark.parametrize("joint", ["weld", "pin"])
def test_a_joint_between_nodes_keeps_the_order_of_the_elements(joint):
    """A beam held at s = 0.37: the elements there are cut, so that the moment may kink."""
    held = ph.Beam(1.0, SLENDER.section, steel, ports={"grip": 0.37})
    found = []
    for n in (4, 8, 16, 64):
        pins = [ph.Revolute("ground", "b.P"), ph.Revolute("ground", "b.grip", at=(0.37, 0, 0))]
        joints = [ph.Weld("ground", "b.grip", at=(0.37, 0, 0))] if joint == "weld" else pins
        system = ph.connect({"b": held.discretise(n)}, joints=joints, plane="xy")
        found.append(bending(ph.modes(ph.linearise(system, ph.place(system))))[0])
    errors = np.array(found[:-1]) / found[-1] - 1
    assert rate(errors, [4, 8, 16]) > 3.5
    assert errors[1] < 2e-4


def test_the_longer_part_of_a_beam_clamped_inside_is_a_cantilever():
    held = ph.Beam(1.0, SLENDER.section, steel, ports={"grip": 0.37}).discretise(12)
    system = ph.connect({"b": held}, joints=[ph.Weld("ground", "b.grip", at=(0.37, 0, 0))], plane="xy")
    lowest = bending(ph.modes(ph.linearise(system, ph.place(system))))[0]
    assert lowest / UNIT * 0.63**2 == pytest.approx(3.5160152685, rel=1e-5)


@pytest.mark.parametrize("theory", ["euler-bernoulli", "rayleigh", "timoshenko"])
@pytest.mark.parametrize("elements", [112, 160, 215])
def test_fine_meshes_are_assembled_where_dense_and_sparse_fields_meet(theory, elements):
    body = ph.Beam(1.0, ph.Rectangle(0.02, 0.03), steel, theory=theory).discretise(elements)
    linear = body.linear()
    assert linear.rows.size == 6 + body.coordinates + body.stresses
    assert linear.fields["body"].motion.shape[1] == linear.rows.size


def test_a_mass_inside_an_element_counts_where_it_is():
    masses = {0.43: 0.3}
    coarse, fine = (
        ph.modes(ph.Beam(1.0, SLENDER.section, steel, masses=masses).discretise(n).in_plane().linear())
        for n in (7, [0, 0.1, 0.2, 0.3, 0.43, 0.55, 0.7, 0.85, 1.0])
    )
    np.testing.assert_allclose(coarse.elastic[:2], fine.elastic[:2], rtol=2e-3)


@pytest.mark.parametrize(
    ("damping", "ratio"),
    [
        (ph.KelvinVoigt(2e-5), lambda w: 2e-5 * w / 2),
        (ph.Rayleigh(mass=3.0, stiffness=1e-5, relative_to="P"), lambda w: (3.0 / w + 1e-5 * w) / 2),
    ],
)
def test_damping_ratios_of_a_cantilever_are_those_of_its_law(damping, ratio):
    found = ph.modes(cantilever(ph.Beam(1.0, SLENDER.section, steel, damping=damping), 6))
    w, poles = found.omega[:5], found.poles[:5]
    np.testing.assert_allclose(-poles.real / w, ratio(w), rtol=1e-6)
    np.testing.assert_allclose(np.abs(poles), w, rtol=1e-6)


def test_rigid_motion_is_never_damped():
    body = ph.Beam(
        1.0, SLENDER.section, steel, damping=ph.Rayleigh(mass=3.0, stiffness=1e-5, relative_to="P")
    ).discretise(3)
    found = ph.modes(body.linear())
    assert found.rigid == 6
    assert (found.poles[:6] == 0).all()
    assert (found.poles[6:].real < 0).all()


def test_stress_is_a_state_with_values_along_the_body():
    """The moment of a cantilever under a tip load falls from F L to nothing, exactly, in the stress states."""
    system = ph.connect({"b": SLENDER.discretise(4)}, plane="xy")
    body = system.bodies["b"]
    eta = np.linalg.solve(body.elastic.K.toarray(), body.ports["C"].Phi[1] * 7.0)
    from phloat.system.state import rest_state

    state = rest_state(system.bodies).with_values({"b.eta": eta * 1e-6})  # small: stiffening is quadratic
    for s in (0.0, 0.3, 0.5, 1.0):
        assert state.stress("b", s)["M_z"] == pytest.approx(7e-6 * (1 - s), abs=1e-14)
