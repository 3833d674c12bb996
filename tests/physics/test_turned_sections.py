"""Sections with an angle or a product of inertia, and pretwisted beams: skew bending, whirl, tension against torsion."""

import numpy as np
import pytest
import scipy.linalg as la
from messages import raises
from numpy.polynomial.legendre import leggauss
from parameters_zoo import assert_same_body
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import phloat as ph
from phloat.bodies.deformation import beam_watch
from phloat.bodies.variation import fast_maker
from phloat.view.surfaces import section_outline

steel = ph.Material(E=210e9, rho=7800.0, nu=0.3)
alu = ph.Material(E=70e9, rho=2700.0, nu=0.33)
THEORIES = ("euler-bernoulli", "rayleigh", "timoshenko")
ANGLE = 0.4
TURN = np.array([[1, 0, 0], [0, np.cos(ANGLE), -np.sin(ANGLE)], [0, np.sin(ANGLE), np.cos(ANGLE)]])


def frequencies(body: ph.Body, axis=(0, 0, 1), rate: float = 0.0) -> np.ndarray:
    """Of a beam held at P, which may turn."""
    system = ph.connect({"b": body}, [ph.Drive("ground", "b.P", of="pose")])
    state = ph.steady_spin(system, axis=axis, rate=rate) if rate else ph.place(system)
    return ph.modes(ph.linearise(system, state)).omega


def pulled(body: ph.Body, force, port: str = "C") -> np.ndarray:
    """η of a beam in its frame under a small force at a port."""
    return la.solve(body.elastic.K.toarray(), body.port(port).Phi.T @ np.asarray(force, dtype=float), assume_a="pos")


# --- a turned section is a turned beam ------------------------------------------------------------------------------------


def turned_coordinates(body: ph.Body) -> np.ndarray:
    """η of the turned beam per η of one that is not turned: fields along y and z turn, u_x and θ_x stay."""
    fields, c, s = body.shape.fields, np.cos(ANGLE), np.sin(ANGLE)
    out = np.eye(fields.layout.size)
    for y, z, sign in (("u_y", "u_z", 1.0), ("phi_y", "phi_z", 1.0)):
        if y in fields.spaces:
            i, j = (np.arange(fields.layout.size)[fields.layout[name]] for name in (y, z))
            out[i, i], out[i, j], out[j, i], out[j, j] = c, -sign * s, sign * s, c
    return out[np.ix_(body.shape.keep, body.shape.keep)]


@pytest.mark.parametrize("frame", ["cantilever", "pinned"])
@pytest.mark.parametrize("theory", THEORIES)
def test_all_arrays_of_a_turned_section_are_those_of_the_turned_beam(theory, frame):
    """Mass, gyroscopic and propeller terms, stiffness and membrane strain, to round-off."""
    turned, plain = (
        ph.Beam(1.0, ph.Rectangle(0.02, 0.05, angle=a), steel, theory=theory, frame=frame).discretise(3)
        for a in (ANGLE, 0.0)
    )
    P, a, b, R = turned_coordinates(turned), turned.inertia, plain.inertia, TURN
    strain = np.zeros((turned.stresses, turned.coordinates, turned.coordinates))
    mine, theirs = strain.copy(), strain.copy()
    for out, Q in ((mine, turned.elastic.Q), (theirs, plain.elastic.Q)):
        np.add.at(out, (Q.strain, Q.row, Q.column), Q.value)
    for found, expected in (
        (P.T @ a.M_ff_dense @ P, b.M_ff_dense),
        (R.T @ a.J0 @ R, b.J0),
        (np.einsum("ai,abk,bj,kl->ijl", R, a.X, R, P), b.X),
        (np.einsum("ai,abkm,bj,kl,mn->ijln", R, a.W, R, P, P, optimize=True), b.W),
        (P.T @ turned.elastic.K.toarray() @ P, plain.elastic.K.toarray()),
        (np.einsum("skm,kl,mn->sln", mine, P, P), theirs),
    ):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


@pytest.mark.parametrize("theory", THEORIES)
def test_an_angle_changes_no_frequency_and_a_quarter_turn_exchanges_width_and_height(theory):
    def held(section: ph.Section) -> np.ndarray:
        return frequencies(ph.Beam(1.0, section, steel, theory=theory).discretise(4))

    known = held(ph.Rectangle(0.02, 0.05))
    assert held(ph.Rectangle(0.02, 0.05, angle=ANGLE)) == pytest.approx(known, rel=1e-9)
    quarter = ph.Rectangle(0.02, 0.05, angle=np.pi / 2)
    assert quarter.moments == ph.Rectangle(0.05, 0.02).moments
    assert held(quarter) == pytest.approx(held(ph.Rectangle(0.05, 0.02)), rel=1e-12)


@pytest.mark.parametrize("frame", ["cantilever", "pinned"])
def test_the_deflection_turns_with_the_section(frame):
    turned, plain = (
        ph.Beam(1.0, ph.Rectangle(0.02, 0.05, angle=a), steel, frame=frame, ports={"m": 0.5}).discretise(4)
        for a in (ANGLE, 0.0)
    )
    force = np.array([0.0, 3.0, 1.0])
    moved = turned.port("m").Phi @ pulled(turned, TURN @ force, "m")
    assert moved == pytest.approx(TURN @ plain.port("m").Phi @ pulled(plain, force, "m"), rel=1e-12)


def test_a_turned_blade_spins_as_the_turned_rotor_does():
    """About z with the section turned, or about the axis turned back."""
    turned, plain = (
        ph.Beam(1.0, ph.Rectangle(0.004, 0.06, angle=a), alu, theory="rayleigh").discretise(4) for a in (ANGLE, 0.0)
    )
    known = frequencies(plain, TURN.T @ [0.0, 0.0, 1.0], 200.0)
    assert frequencies(turned, (0, 0, 1), 200.0) == pytest.approx(known, rel=1e-9)


@pytest.mark.parametrize("theory", ["rayleigh", "timoshenko"])
def test_a_shaft_of_unlike_stiffness_whirls_alike_however_its_section_is_turned(theory):
    def whirl(angle: float) -> np.ndarray:
        body = ph.Beam(1.0, ph.Rectangle(0.10, 0.15, angle=angle), steel, theory=theory).discretise(4)
        joints = [ph.Spherical("ground", "s.P"), ph.Slide("ground", "s.C", along=(1, 0, 0))]
        shaft = ph.connect({"s": body}, joints)
        return ph.modes(ph.linearise(shaft, ph.steady_spin(shaft, axis=(1, 0, 0), rate=400.0))).elastic[:6]

    assert whirl(ANGLE) == pytest.approx(whirl(0.0), rel=1e-9)


# --- skew bending and stress ----------------------------------------------------------------------------------------------


def angle_profile() -> tuple[ph.Section, np.ndarray]:
    """An angle 60 × 40 × 6 mm of two rectangles, and points of it about its centroid (y, z, dA)."""
    parts = []
    for height, width, y0, z0 in ((0.060, 0.006, 0.0, 0.0), (0.006, 0.034, 0.0, 0.006)):
        y, z = np.meshgrid(*(start + side * (np.arange(60) + 0.5) / 60 for side, start in ((height, y0), (width, z0))))
        parts.append(np.column_stack([y.ravel(), z.ravel(), np.full(y.size, height * width / y.size)]))
    points = np.vstack(parts)
    points[:, :2] -= points[:, 2] @ points[:, :2] / points[:, 2].sum()
    y, z, dA = points.T
    return ph.Section(dA.sum(), dA @ y**2, dA @ z**2, 8e-9, I_yz=float(dA @ (y * z))), points


def test_an_angle_profile_bends_sideways():
    """u_y = FL³/3E · I_y/(I I_y − I_yz²), u_z = −I_yz/I_y u_y, and the stress of it pulls and bends as the load does."""
    section, (y, z, dA) = (part if k == 0 else part.T for k, part in enumerate(angle_profile()))
    assert section.I_yz < -0.3 * np.sqrt(section.I * section.I_y)
    body = ph.Beam(1.0, section, steel).discretise(2)
    eta = pulled(body, (0.0, 100.0, 0.0))
    along = 100.0 / (3 * steel.E) * section.I_y / (section.I * section.I_y - section.I_yz**2)
    assert body.port("C").Phi @ eta == pytest.approx([0.0, along, -section.I_yz / section.I_y * along], rel=1e-9)
    x = np.column_stack([np.full(len(y), 0.25), y, z])
    sigma = body.elastic.C_inverse @ (body.elastic.D @ eta)
    stress = (body.shape.cauchy(x) @ sigma).reshape(-1, 6)[:, 0]
    total = stress @ np.column_stack([dA, dA * y, dA * z])
    assert total == pytest.approx([0.0, -75.0, 0.0], abs=2e-3)  # M_z = F (L − x) = −∫y σ


def test_numbers_about_principal_axes_are_those_about_the_legs():
    section, _ = angle_profile()
    values, axes = np.linalg.eigh([[section.I, section.I_yz], [section.I_yz, section.I_y]])
    tilt = float(np.arctan2(axes[1, 1], axes[0, 1]))
    principal = ph.Section(section.A, values[1], values[0], section.J, angle=tilt)
    assert principal.moments == pytest.approx(section.moments, rel=1e-12)
    back = ph.Section(section.A, section.I, section.I_y, section.J, I_yz=section.I_yz, angle=-tilt)
    assert back.moments == pytest.approx((values[1], values[0], 0.0), rel=1e-9, abs=1e-12 * values[1])


@pytest.mark.parametrize("pretwist", [0.0, 2.0])
def test_the_stress_over_a_turned_rectangle_has_the_resultants(pretwist):
    """∫σ, ∫zσ, −∫yσ, ∫τ_xy, ∫τ_xz are N, M_y, M_z, V_y, V_z; ∫(yτ_xz − zτ_xy) + φ₀'∫r²σ, of shear and of fibres that wind, is
    T + (I_p/A) φ₀' N."""
    at, (point, weight) = 0.3, leggauss(24)
    section = Blade(0.02, 0.05, 0.5, pretwist)
    body = ph.Beam(1.0, section, steel).discretise(3)
    own = np.array([part.ravel() for part in np.meshgrid(0.025 * point, 0.01 * point)])
    dA = 0.025 * 0.01 * np.outer(weight, weight).ravel()
    angle = section(at).angle
    y, z = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ own
    x = np.column_stack([np.full(len(y), at), y, z])
    sigma = np.random.default_rng(5).normal(size=body.stresses)
    s = (body.shape.cauchy(x) @ sigma).reshape(-1, 6)
    torque = y * s[:, 4] - z * s[:, 5] + pretwist * (y**2 + z**2) * s[:, 0]
    found = np.array([s[:, 0], z * s[:, 0], -y * s[:, 0], s[:, 5], s[:, 4], torque]) @ dA
    rows = {name: part @ sigma for name, part in body.shape.stress(np.array([at])).items()}
    slopes = [
        (body.shape.stress(np.array([at + d]))[name] @ sigma)[0] for name in ("M_z", "M_y") for d in (0.01, -0.01)
    ]
    shear = [-(slopes[0] - slopes[1]) / 0.02, (slopes[2] - slopes[3]) / 0.02]
    wound = pretwist * (0.02**2 + 0.05**2) / 12 * rows["N"][0]
    expected = [rows["N"][0], rows["M_y"][0], rows["M_z"][0], *shear, rows["T"][0] + wound]
    assert found == pytest.approx(expected, rel=1e-3)


def test_the_rim_and_the_outside_of_a_section_turn_with_it():
    section = ph.Rectangle(0.02, 0.05, angle=np.pi / 6)
    assert np.abs(section.rim()).max(axis=0) == pytest.approx(
        [0.025 * np.cos(np.pi / 6) + 0.005, 0.0125 + 0.01 * np.cos(np.pi / 6)]
    )
    assert section.outside(0.0, 0.02) and not section.outside(0.021, 0.012)
    assert all(not section.outside(*point) for point in section.rim())


# --- pretwisted beams -----------------------------------------------------------------------------------------------------


class Blade:
    """A rectangle whose angle grows along the beam."""

    def __init__(self, b: float, h: float, start: float, twist: float):
        self.b, self.h, self.start, self.twist = b, h, start, twist

    def __call__(self, s: float) -> ph.Rectangle:
        return ph.Rectangle(self.b, self.h, angle=self.start + self.twist * s)


CARNEGIE = 0.1524, Blade(0.0254, 0.0017272, 0.0, np.pi / 4), ph.Material(206.85e9, 7857.6, 206.85 / 82.74 / 2 - 1)


def bending_reference(omega: float) -> float:
    """det of moments and shears at the tip of Carnegie's blade for the four motions that leave its root at rest:
    m = E [I I_yz; I_yz I_y] w'', m'' = ρA ω² w for w = (u_y, u_z)."""
    length, blade, material = CARNEGIE
    scale = length**2 / (material.E * blade.h * blade.b**3 / 12)  # so that all eight numbers are of one size

    def rate(s: float, state: np.ndarray) -> np.ndarray:
        section = blade(s)
        w, slope, m, shear = state.reshape(4, 2, 4)
        I, I_y, I_yz = section.moments
        bend = np.linalg.solve(material.E * np.array([[I, I_yz], [I_yz, I_y]]), m / scale) * length**2
        load = material.rho * section.A * omega**2 * length**2 * w * scale
        return np.concatenate([slope, bend, shear, load]).ravel()

    start = np.zeros((8, 4))
    start[4:] = np.eye(4)
    found = solve_ivp(rate, (0.0, 1.0), start.ravel(), method="DOP853", rtol=1e-11, atol=1e-13).y[:, -1].reshape(8, 4)
    return float(np.linalg.det(found[4:]))


@pytest.fixture(scope="module")
def exact() -> np.ndarray:
    """The first four bending frequencies of Carnegie's blade, rad/s."""
    near = 2 * np.pi * np.array([62.08, 305.5, 950.0, 1221.9])
    return np.array([brentq(bending_reference, 0.98 * f, 1.02 * f, xtol=1e-7) for f in near])


def bending(section, elements: int, theory: str = "euler-bernoulli") -> np.ndarray:
    """The first four of Carnegie's blade; the third of all is torsion."""
    length, _, material = CARNEGIE
    return frequencies(ph.Beam(length, section, material, theory=theory).discretise(elements))[[0, 1, 3, 4]]


def test_a_pretwisted_blade_vibrates_as_published(exact):
    """Carnegie's blade, 45°: 61.9, 304.7, 937 and 1205 Hz with shear; 62.08, 305.5, 949.9 and 1221.9 Hz without."""
    assert exact / (2 * np.pi) == pytest.approx([62.0776, 305.4807, 949.9447, 1221.8676], rel=1e-6)
    assert bending(CARNEGIE[1], 16) == pytest.approx(exact, rel=4e-4)
    sheared = bending(CARNEGIE[1], 8, "timoshenko") / (2 * np.pi)
    assert sheared == pytest.approx([61.9, 304.7, 937.0, 1205.0], rel=0.007)


def stepped(pieces: int):
    """Straight pieces, each turned by the angle of its middle."""
    return lambda s: CARNEGIE[1]((min(int(s * pieces + 1e-12), pieces - 1) + 0.5) / pieces)


def test_pretwist_converges_with_order_four_and_straight_pieces_with_order_two(exact):
    """First mode, 8 and 16 elements: 3.7e-4 and 2.5e-5; of straight pieces 2.1e-4 and 5.2e-5. Third: 5.4e-3 and 3.8e-4; 9.2e-3 and
    2.4e-3."""
    smooth, straight = (
        [np.abs(bending(section(n), n) / exact - 1) for n in (8, 16)] for section in (lambda n: CARNEGIE[1], stepped)
    )
    assert (np.log2(smooth[0] / smooth[1]) > 3.8).all()
    order = np.log2(straight[0] / straight[1])
    assert (order > 1.8).all() and (order < 2.2).all()
    assert (smooth[1] < 0.5 * straight[1]).all()


def strip(twist: float, theory: str = "rayleigh", elements: int = 6) -> ph.Body:
    return ph.Beam(1.0, Blade(0.004, 0.06, 0.0, twist), alu, theory=theory).discretise(elements)


def torsional(section: ph.Rectangle, twist: float) -> float:
    """GJ + Eφ₀'² t b⁵/180 of a thin strip (Carnegie); with its thickness, b t (b⁴ + t⁴)/180."""
    t, b = section.b, section.h
    return alu.G * section.J + alu.E * twist**2 * b * t * (b**4 + t**4) / 180


@pytest.mark.parametrize("theory", THEORIES)
def test_tension_untwists_a_pretwisted_strip(theory):
    """θ' = −(I_p/A) φ₀' N/GJ, and fibres that wind stiffen torsion: +3.7 % at 1 rad over 1 m of 60 × 4 mm."""
    body, section = strip(1.0, theory), ph.Rectangle(0.004, 0.06)
    radius = (section.I + section.I_y) / section.A
    eta = pulled(body, (10.0, 0.0, 0.0))
    expected = -radius * 1.0 * 10.0 / torsional(section, 1.0)
    assert (body.port("C").Psi @ eta)[0] == pytest.approx(expected, rel=1e-9)
    longer = 10.0 / (alu.E * section.A) - radius * expected  # u_x' = N/EA − (I_p/A) φ₀' θ'
    assert (body.port("C").Phi @ eta)[0] == pytest.approx(longer, rel=1e-9)
    assert longer > 1.03 * 10.0 / (alu.E * section.A)


def test_a_torque_pulls_at_the_edges_of_a_pretwisted_strip():
    """σ_xx = E (r² − I_p/A) φ₀' θ', θ' = T/GJ: 1.25 MPa at the edge for 1 N m, and less than 0 within b/√12 of the axis."""
    body, section = strip(1.0), ph.Rectangle(0.004, 0.06)
    eta = la.solve(body.elastic.K.toarray(), body.port("C").Psi.T @ [1.0, 0.0, 0.0], assume_a="pos")
    y = np.array([-0.03, 0.0, 0.03])
    x = np.column_stack([np.full(3, 0.5), y * np.cos(0.5), y * np.sin(0.5)])
    stress = (body.shape.cauchy(x) @ (body.elastic.C_inverse @ (body.elastic.D @ eta))).reshape(3, 6)[:, 0]
    slope = 1.0 / torsional(section, 1.0)
    assert stress == pytest.approx(alu.E * (y**2 - (section.I + section.I_y) / section.A) * slope, rel=1e-9)


@pytest.mark.parametrize("theory", ["euler-bernoulli", "rayleigh"])
def test_a_pendulum_of_a_turned_section_swings_as_the_turned_pendulum(theory):
    """In time: gravity and the hinge turn with the section."""

    def swing(angle: float, R: np.ndarray) -> np.ndarray:
        rod = ph.Beam(1.0, ph.Rectangle(0.004, 0.03, angle=angle), alu, theory=theory).discretise(2)
        hinge = ph.Revolute("ground", "rod.P", axis=R @ [0.0, 0.6, 0.8])
        system = ph.connect({"rod": rod}, [hinge], gravity=R @ [0.0, -6.0, 5.0])
        result = ph.simulate(system, ph.place(system), t_end=0.2, dt=5e-3)
        assert np.ptp(result.energy) < 1e-13
        return result.position("rod", s=1.0)

    assert swing(ANGLE, TURN) == pytest.approx(swing(0.0, np.eye(3)) @ TURN.T, abs=1e-9)


def spinning_torsion(twist: float, rate: float, theory: str) -> tuple[float, float]:
    """The twist at the tip and the torsion frequency of a strip that turns about z, by 8 polynomials each for u and θ:

    ½ ∫ EA ε² + GJ θ'² − Ω²ρA (x + u)² − Ω²ρ (I cos² α + I_y sin² α),   ε = u' + k (φ₀'θ' + ½ θ'²),   k = I_p/A,   α = φ₀ + θ.
    """
    section, (x, w) = ph.Rectangle(0.004, 0.06), leggauss(40)
    x, w, powers = (x + 1) / 2, w / 2, np.arange(1, 9)
    f, slope = x[:, None] ** powers, powers * x[:, None] ** (powers - 1)
    polar = section.I + section.I_y
    EA, rhoA, k, GJ = alu.E * section.A, alu.rho * section.A, polar / section.A, torsional(section, twist)
    propeller = 0.0 if theory == "euler-bernoulli" else rate**2 * alu.rho * (section.I - section.I_y)
    a, b = np.zeros(8), np.zeros(8)
    for _ in range(20):
        g, alpha = k * (twist + slope @ b), twist * x + f @ b
        N = EA * (slope @ a + k * (twist * (slope @ b) + 0.5 * (slope @ b) ** 2))
        by_u = slope.T @ (w * N) - f.T @ (w * rate**2 * rhoA * (x + f @ a))
        by_theta = slope.T @ (w * (N * g + GJ * (slope @ b))) + f.T @ (w * 0.5 * propeller * np.sin(2 * alpha))
        uu = slope.T * (w * EA) @ slope - f.T * (w * rate**2 * rhoA) @ f
        ut = slope.T * (w * EA * g) @ slope
        tt = slope.T * (w * (EA * g**2 + N * k + GJ)) @ slope + f.T * (w * propeller * np.cos(2 * alpha)) @ f
        K = np.block([[uu, ut], [ut.T, tt]])
        step = np.linalg.solve(K, np.concatenate([by_u, by_theta]))
        a, b = a - step[:8], b - step[8:]
    M = la.block_diag(f.T * (w * rhoA) @ f, f.T * (w * alu.rho * polar) @ f)
    return float(b.sum()), float(np.sqrt(la.eigh(K, M, eigvals_only=True)[0]))


@pytest.mark.filterwarnings("ignore::phloat.errors.SectionInertiaWarning")
@pytest.mark.parametrize(
    ("theory", "frame", "rate"),
    [("euler-bernoulli", "cantilever", 100.0), ("rayleigh", "cantilever", 50.0), ("rayleigh", "pinned", 50.0)],
)
def test_a_pretwisted_blade_untwists_in_a_spin_and_its_torsion_stiffens(theory, frame, rate):
    """1 rad over 1 m of 60 × 4 mm: 650.3 rad/s at rest (638.6 without pretwist), 652.7 at 50 rad/s.

    At 100 rad/s Rayleigh's is 4e-4 low: sections turn to second order in θ, so that cos 2(φ₀ + θ) is taken at φ₀.
    """
    body = ph.Beam(1.0, Blade(0.004, 0.06, 0.0, 1.0), alu, theory=theory, frame=frame).discretise(8)
    system = ph.connect({"b": body}, [ph.Drive("ground", "b.P", of="pose")])
    state = ph.steady_spin(system, axis=(0, 0, 1), rate=rate)
    twist, omega = spinning_torsion(1.0, rate, theory)
    found = ph.modes(ph.linearise(system, state)).omega
    assert found[np.abs(found - omega).argmin()] == pytest.approx(omega, rel=3e-5)
    assert (body.port("C").Psi - body.port("P").Psi)[0] @ state.pose("b").eta == pytest.approx(twist, rel=1e-4)
    assert twist < -0.007


def test_a_reduced_blade_moves_as_the_full_one():
    """Families that are coupled are one family."""
    full = strip(0.5)
    small = full.reduced(modes=4)
    assert set(small.families) == {"bending along y and bending along z", "axial and torsion"}
    assert small.coordinates == 24 < full.coordinates == 48
    assert frequencies(small)[:5] == pytest.approx(frequencies(full)[:5], rel=1e-9)
    assert frequencies(small, rate=100.0)[:7] == pytest.approx(frequencies(full, rate=100.0)[:7], rel=1e-3)


def test_a_taper_of_rectangles_is_pretwisted_and_one_of_unlike_sections_is_not():
    """Beside a circle a rectangle keeps its direction, and only its product of inertia fades."""
    taper = ph.Taper({0.0: ph.Rectangle(0.004, 0.06), 1.0: ph.Rectangle(0.004, 0.06, angle=1.0)})
    assert taper(0.25) == ph.Rectangle(0.004, 0.06, angle=0.25)
    blade, known = ph.Beam(1.0, taper, alu).discretise(6), strip(1.0, "euler-bernoulli")
    assert frequencies(blade) == pytest.approx(frequencies(known), rel=1e-9)
    mixed = ph.Taper({0.0: ph.Rectangle(0.004, 0.06, angle=0.3), 1.0: ph.Circle(0.02)})(0.5)
    I, I_y, I_yz = mixed.moments
    assert mixed.angle == 0.0 and 0.5 * np.arctan2(2 * I_yz, I - I_y) == pytest.approx(0.3)


def test_pieces_of_a_pretwisted_blade_are_the_blade():
    whole = ph.Beam(1.0, Blade(0.004, 0.06, 0.2, 0.6), alu)
    split = ph.connect({"b": whole.split(3).discretise(2)}, [ph.Weld("ground", "b.P")])
    found = ph.modes(ph.linearise(split, ph.place(split))).omega[:6]
    assert found == pytest.approx(frequencies(whole.discretise(6))[:6], rel=1e-9)


# --- what is made from it -------------------------------------------------------------------------------------------------


def test_a_changed_angle_gives_what_it_would_have_given_at_once():
    """By `with_parameters`, and from bodies made before with other numbers."""
    plain, turned = (ph.Beam(1.0, ph.Rectangle(0.02, 0.05, angle=a), steel) for a in (0.0, ANGLE))
    system = ph.connect({"b": plain.discretise(2)})
    assert ph.parameters(system)["b.section.angle"] == 0.0
    assert_same_body(ph.with_parameters(system, {"b.section.angle": ANGLE}).bodies["b"], turned.discretise(2), 0.0)
    back = ph.with_parameters(
        ph.connect({"b": turned.discretise(2)}), {"b.section.angle": 0.0, "b.length": 2.0}
    ).bodies["b"]
    assert_same_body(back, ph.Beam(2.0, ph.Rectangle(0.02, 0.05), steel).discretise(2), 0.0)
    for one, other in ((plain, turned), (turned, plain)):
        make = fast_maker(one.discretise(2))
        assert make is None or make(other) is None  # so that it is assembled


def test_a_model_file_says_angles_and_products_of_inertia(tmp_path):
    text = """
phloat: 1
materials: {alu: {E: 70 GPa, rho: 2700, nu: 0.33}}
sections: {leg: {A: 1 cm2, I: 2e-9, I_y: 1e-9, J: 1e-9, I_yz: -500 mm^4, angle: 10 deg}}
bodies:
  a: {beam: {length: 1, section: {along: {0: {rectangle: {b: 4 mm, h: 6 cm}}, 1: {rectangle: {b: 4 mm, h: 6 cm, angle: 30 deg}}}},
      material: alu}, elements: 2}
  b: {beam: {length: 1, section: leg, material: alu}, elements: 2}
"""
    model = ph.io.parse_model(text)
    ph.io.save_model(model, tmp_path / "model.yaml")
    for read in (model, ph.io.load_model(tmp_path / "model.yaml")):
        a, b = (read.system.bodies[name].recipe.section for name in "ab")
        assert (a(0.5).angle, b.I_yz, b.angle) == pytest.approx((np.pi / 12, -5e-10, np.pi / 18), rel=1e-12, abs=0)


@pytest.mark.parametrize("frame", ["cantilever", "pinned"])
def test_the_estimated_error_of_small_deformation_does_not_depend_on_the_angle(frame):
    turned, plain = (
        ph.Beam(1.0, ph.Rectangle(0.02, 0.05, angle=a), steel, frame=frame).discretise(3) for a in (ANGLE, 0.0)
    )
    eta = 1e-2 * np.random.default_rng(2).normal(size=plain.coordinates)
    moved = turned_coordinates(turned) @ eta
    found, known = (
        beam_watch(body, body.recipe).errors(q[None], body.elastic.stress(q)[None])
        for body, q in ((turned, moved), (plain, eta))
    )
    assert found == pytest.approx(known, rel=1e-9) and known > 1e-6


def test_a_section_by_numbers_is_drawn_about_its_principal_axes():
    """As the rectangle with its moments."""
    section = ph.Section(1e-3, 2e-7, 3e-8, I_yz=4e-8, angle=0.2)
    ring, is_round = section_outline(section)
    I, I_y, I_yz = section.moments
    corners = ring.T @ ring / 4  # of a rectangle: three times its second moments over the area
    assert not is_round and corners == pytest.approx(3.0 / section.A * np.array([[I, I_yz], [I_yz, I_y]]))


def test_only_a_section_that_is_its_own_mirror_image_moves_in_a_plane():
    def plane(section) -> ph.System:
        return ph.connect({"b": ph.Beam(1.0, section, steel).discretise(2)}, plane="xy")

    for section, name in (
        (ph.Rectangle(0.02, 0.05, angle=ANGLE), "angle"),
        (ph.Section(1e-4, 2e-9, 1e-9, 1e-9, I_yz=5e-10), "I_yz"),
        (lambda s: ph.Rectangle(0.02, 0.02, angle=s), "angle"),  # stretch twists it
    ):
        with raises(ph.errors.InputError, name):
            plane(section)
    assert plane(ph.Rectangle(0.02, 0.05, angle=np.pi / 2)).bodies["b"].coordinates


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"I_yz": 2e-9}, "I_yz"),
        ({"I_yz": -1.5e-9}, "I_yz"),
        ({"I_yz": np.nan}, "I_yz"),
        ({"angle": np.inf}, "angle"),
        ({"angle": "30 kg"}, "angle"),
    ],
)
def test_numbers_of_no_section_are_refused(given, name):
    with raises(ph.errors.InputError, name):
        ph.Section(1e-4, 2e-9, 1e-9, **given)
    if name == "angle":
        with raises(ph.errors.InputError, name):
            ph.Rectangle(0.02, 0.05, **given)
