"""Frequency tools against closed forms: receptances with rigid modes, zeros, effective masses, transmission, whirl."""

import numpy as np
import pytest
import scipy.linalg as la
from bodies_zoo import steel
from messages import raises

import phloat as ph
from phloat.analysis.campbell import campbell
from phloat.linear.analysis.participation import effective_masses, ports_report
from phloat.linear.analysis.poles_zeros import poles, poles_zeros, zeros
from phloat.linear.analysis.response import transmission

SECTION = ph.Rectangle(0.02, 0.01)
EA, RHO_A, EI = steel.E * 2e-4, steel.rho * 2e-4, steel.E * 0.02 * 0.01**3 / 12


def linear(*joints: object, elements: int = 16, **bodies: object) -> ph.LinearPHDAE:
    beam = ph.Beam(1.0, SECTION, steel, ports={"mid": 0.5}).discretise(elements)
    system = ph.connect({"b": beam, **bodies}, joints=list(joints), plane="xy")
    return ph.linearise(system, ph.place(system))


def test_a_free_rod_answers_at_both_ends_as_its_cotangent_and_cosecant():
    """u(L)/f(L) = −cot kL / EA k and u(0)/f(L) = −1 / (EA k sin kL), k = ω √(ρA/EA): rigid at low frequencies."""
    omega = np.geomspace(1e-2, 2e4, 30)  # more than are solved for one by one
    k = omega * np.sqrt(RHO_A / EA)
    found = ph.response(linear(), "b.C[0]", ["b.C[0]", "b.P[0]"], omega=omega)
    np.testing.assert_allclose(found["b.C[0]", "b.C[0]"], -1j * omega / (np.tan(k) * EA * k), rtol=1e-4)
    np.testing.assert_allclose(found["b.P[0]", "b.C[0]"], -1j * omega / (np.sin(k) * EA * k), rtol=1e-5)
    low = omega < 1.0
    rigid = 1.0 / (1j * omega[low] * RHO_A)
    np.testing.assert_allclose(found["b.C[0]", "b.C[0]"][low], rigid, rtol=1e-7)


def test_the_tip_of_a_free_beam_answers_as_bishop_and_johnson_say():
    """u/f = −(cos λ sinh λ − sin λ cosh λ) / (EI λ³ (cos λ cosh λ − 1)), λ⁴ = ρA ω²/EI: −4/mω² at low frequencies."""
    omega = np.array([0.1, 3.0, 300.0, 600.0])
    lam = (RHO_A * omega**2 / EI) ** 0.25
    c, s, C, S = np.cos(lam), np.sin(lam), np.cosh(lam), np.sinh(lam)
    exact = -1j * omega * (c * S - s * C) / (EI * lam**3 * (c * C - 1))
    found = ph.response(linear(), "b.C[1]", omega=omega).values[:, 0, 0]
    np.testing.assert_allclose(found[1:], exact[1:], rtol=3e-4)
    np.testing.assert_allclose(found[0], 4.0 / (1j * omega[0] * RHO_A), rtol=1e-6)


def test_the_zeros_of_a_free_tip_are_the_frequencies_with_that_tip_on_a_support():
    """A free-free beam driven across at its tip: zeros are poles of a beam free at one end, pinned at the other."""
    found = poles_zeros(linear(), "b.C[1]")
    unit = np.sqrt(EI / RHO_A)
    bending = found.zeros[(found.zeros != 0) & (np.abs(found.zeros) < 150 * unit)]
    np.testing.assert_allclose(bending.imag / unit, [15.4182057, 49.9648620, 104.2476966], rtol=1e-3)
    np.testing.assert_allclose(bending.real, 0.0, atol=1e-9 * unit)
    assert (found.poles == 0).sum() == 3


def test_two_masses_on_a_spring_have_a_zero_where_the_other_one_absorbs():
    """m₁ s² + k (m₂ s²)/(m₂ s² + k): collocated zero at √(k/m₂), none to the other mass."""
    block = ph.RigidBody(2.0, np.eye(3)).discretise()
    other = ph.RigidBody(0.5, np.eye(3)).discretise()
    slide = [ph.Prismatic("ground", f"{name}.P", axis=(1, 0, 0), name=f"rail {name}") for name in "ab"]
    coupled = ph.connect(
        {"a": block, "b": other},
        joints=[*slide, ph.Spring("a.P", "b.P", stiffness=32.0, length=1.0)],
    )
    plant = ph.linearise(coupled, ph.place(coupled, {"rail a.slide": 0.0, "rail b.slide": 1.0}))
    np.testing.assert_allclose(zeros(plant, "rail a"), [8j], rtol=1e-7)
    assert zeros(plant, "rail a", "rail b").size == 0
    np.testing.assert_allclose(poles(plant), [0, 1j * np.sqrt(32 / 0.5 + 32 / 2.0)], rtol=1e-7, atol=1e-12)


def test_a_beam_bent_at_its_root_and_seen_at_its_tip_has_zeros_in_the_right_half_plane():
    """Pinned beam, torque at the pin, motion of the tip: real zeros in pairs, one of them in the right half plane."""
    pinned = linear(ph.Revolute("ground", "b.P", name="pin"), elements=8)
    found = zeros(pinned, "pin", "b.C[1]")
    right, left = (np.sort(np.abs(found[sign * found.real > 1e-6])) for sign in (1, -1))
    np.testing.assert_allclose(right[:3], left[:3], rtol=1e-8)
    assert right.size >= 3


def test_effective_masses_of_a_cantilever_are_those_of_the_table():
    held = effective_masses(ph.modes(linear(ph.Weld("ground", "b.P"))), (0.0, 1.0, 0.0))
    np.testing.assert_allclose(held.total, [[RHO_A]], rtol=1e-12)
    np.testing.assert_allclose(held.fractions[:4, 0], [0.61308, 0.18830, 0.06474, 0.03309], rtol=1e-3)


def test_a_moving_base_feels_the_whole_mass_slowly_and_what_is_at_it_fast():
    plant = linear(
        ph.Drive("ground", "b.P", of="pose", name="base"),
        ph.Weld("b.C", "tip.P"),
        tip=ph.RigidBody(0.3, 0.01 * np.eye(3)).discretise(),
    )
    felt = effective_masses(ph.modes(plant), "base")
    m = RHO_A + 0.3
    turning = RHO_A / 3 + 0.3 + 0.01
    about = RHO_A / 2 + 0.3
    np.testing.assert_allclose(felt.total, [[m, 0, 0], [0, m, about], [0, about, turning]], rtol=1e-9, atol=1e-12)
    assert np.linalg.eigvalsh(felt.residual)[0] > -1e-12
    assert felt.residual[1, 1] < 0.02 * m


def test_a_mass_on_a_moving_base_follows_the_textbook():
    """T = (c s + k) / (m s² + c s + k): 1 when slow, isolated beyond √2 ω₀."""
    m, k, c = 2.0, 50.0, 3.0
    table, load = (ph.RigidBody(mass, np.eye(3)).discretise() for mass in (1.0, m))
    system = ph.connect(
        {"table": table, "load": load},
        joints=[
            ph.Prismatic("ground", "table.P", axis=(1, 0, 0), name="shaker"),
            ph.Prismatic("table.P", "load.P", axis=(1, 0, 0), name="mount"),
            ph.JointSpring("mount", stiffness=k),
            ph.JointDamper("mount", damping=c),
        ],
    )
    plant = ph.linearise(system, ph.place(system))
    omega = np.array([0.01, 2.0, 5.0, 5.0 * np.sqrt(2), 40.0])
    s = 1j * omega
    expected = (c * s + k) / (m * s**2 + c * s + k)
    shaken = transmission(plant, "shaker", "load.P[0]", omega=omega)
    np.testing.assert_allclose(shaken["load.P[0]", "shaker"], expected, rtol=1e-8)
    assert np.abs(expected[3]) == pytest.approx(1.0)


def test_modes_with_a_node_at_the_port_are_named_by_their_frequency():
    """A beam on two supports, pushed in the middle: every second bending mode has a node there."""
    plant = linear(ph.Revolute("ground", "b.P"), ph.Slide("ground", "b.C", along=(1, 0, 0)), elements=8)
    report = ports_report(plant, "b.mid[1]")
    unit = np.pi**2 * np.sqrt(EI / RHO_A)
    low = report.unreachable[report.unreachable < 20 * unit]
    np.testing.assert_allclose(low / unit, [4, 16], rtol=5e-3)
    with raises(ph.errors.InputError, f"{low[0]:.6g}", f"{low[1]:.6g}", "b.mid[1]"):
        report.require(below=20 * unit)
    assert ports_report(plant, ["b.mid[1]", "b.mid[2]"]).require(below=20 * unit).seen[:4].min() > 1e-3


def test_a_shaft_whirls_at_its_frequency_less_and_more_than_the_spin():
    """A round shaft about its own axis, seen in the turning frame: forward at ω₁ − Ω, backward at ω₁ + Ω."""
    shaft = ph.Beam(1.0, ph.Circle(0.01), steel).discretise(3)
    hub = ph.Drive("ground", "b.P", of="pose", name="hub")
    rates = np.array([10.0, 20.0, 40.0])
    found = campbell(ph.connect({"b": shaft}, joints=[hub]), rates, axis=(1, 0, 0), count=2)
    still = 3.5160153 * np.sqrt(steel.E * np.pi * 0.01**4 / 64 / (steel.rho * np.pi * 0.01**2 / 4))
    np.testing.assert_allclose(found.omega, still + np.outer(rates, [-1, 1]), rtol=1e-3)
    np.testing.assert_allclose(found.whirl, np.tile([1, -1], (3, 1)), atol=1e-6)
    assert found.stable.all() and found.alike.min() > 0.999
    np.testing.assert_allclose(found.critical(), still / 2, rtol=2e-3)  # ω₁ − Ω = Ω
    backwards = campbell(ph.connect({"b": shaft}, joints=[hub]), -rates[:1], axis=(1, 0, 0), count=2)
    np.testing.assert_allclose(backwards.whirl, [[1, -1]], atol=1e-6)


def test_lines_are_followed_by_their_shapes_where_they_cross():
    """Forward whirl of the second pair crosses backward whirl of the first at Ω = (ω₂ − ω₁)/2; both go straight on."""
    shaft = ph.Beam(1.0, ph.Circle(0.01), steel).discretise(3)
    system = ph.connect({"b": shaft}, joints=[ph.Drive("ground", "b.P", of="pose", name="hub")])
    still = campbell(system, [0.0], count=4).omega[0]
    crossing = (still[2] - still[0]) / 2
    rates = crossing * np.array([0.3, 0.6, 0.9, 1.2])
    found = campbell(system, rates, axis=(1, 0, 0), count=4)
    exact = np.abs(still - np.outer(rates, [1, -1, 1, -1]))  # the first comes down to zero and goes up again
    np.testing.assert_allclose(found.omega, exact, rtol=1e-6)
    assert found.alike.min() > 0.999 and (np.diff(np.sign(found.omega[:, 1] - found.omega[:, 2])) != 0).sum() == 1


# --- rows without energy ---------------------------------------------------------------------------------------------


def pencil(E, J, R=None, **joints) -> ph.LinearPHDAE:
    """A system without ports."""
    n = len(E)
    names = {"rows": ph.Layout({"x": (n,)}, "row"), "ports": ph.Layout({}, "port")}
    return ph.LinearPHDAE(E=E, J=J, R=np.zeros((n, n)) if R is None else R, B=np.zeros((n, 0)), **names, **joints)


@pytest.mark.parametrize(("L", "C", "R"), [(1.0, 1.0, 2.0), (1e-6, 1e-9, 50.0), (1e-3, 1e-3, 1e-9), (2e3, 5e2, 1e5)])
def test_a_circuit_with_a_resistor_as_a_row_has_the_poles_of_its_polynomial(L, C, R):
    """L i' = −v, C v' = i − i_R, 0 = v − R i_R: index 1."""
    found = poles(pencil(np.diag([L, C, 0.0]), [[0, -1, 0], [1, 0, -1], [0, 1, 0]], np.diag([0, 0, R])), infinite=True)
    fast = -0.5 / (R * C) - np.sqrt(complex(0.25 / (R * C) ** 2 - 1.0 / (L * C)))
    expected = np.array([1.0 / (L * C) / fast, fast])  # up to 1e18 apart
    expected = expected[expected.imag >= 0.0]
    np.testing.assert_allclose(found[:-1], expected[np.argsort(np.abs(expected))], rtol=1e-12)
    assert np.isinf(found[-1]) and np.isfinite(found[:-1]).all()


@pytest.mark.parametrize(
    ("m", "c_1", "c_2"), [(2.0, 0.3, 0.5), (1e6, 1e-9, 1e-3), (1e-6, 1e3, 1e-3), (1e-9, 1e-15, 1e-12)]
)
def test_two_springs_meet_at_a_point_without_mass(m, c_1, c_2):
    """Index 2: the point follows from the rate of equal forces; ω = 1/√(m (c₁ + c₂)), and two infinite poles."""
    J = [[0, -1, 0, 0], [1, 0, -1, 0], [0, 1, 0, -1], [0, 0, 1, 0]]
    found = poles(pencil(np.diag([m, c_1, 0.0, c_2]), J), infinite=True)
    np.testing.assert_allclose(found[:1], [1j / np.sqrt(m * (c_1 + c_2))], rtol=1e-13)
    assert len(found) == 3 and np.isinf(found[1:]).all()


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_joint_between_a_mass_and_a_damper_without_mass(scale):
    """m v̇ = −λ, c σ̇ = w, 0 = −σ − d w + λ, v = w: a damped oscillator; two infinite poles of the joint, and one of the row."""
    E, J, R = (
        np.diag([2.0, 0.0, 1 / (2.0 * scale**2)]),
        [[0, 0, 0], [0, 0, -1], [0, 1, 0]],
        np.diag([0, 0.3 * scale, 0]),
    )
    joint = {"G": [[1.0, -1.0, 0.0]], "multipliers": ph.Layout({"weld": (1,)}, "multiplier")}
    found = poles(pencil(E, J, R, **joint), infinite=True)
    np.testing.assert_allclose(found[0], scale * np.roots([2.0, 0.3, 2.0])[0], rtol=1e-13)
    assert np.isinf(found[1:]).all() and len(found) == 3


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("index", [1, 2])
def test_pencils_with_a_known_spectrum_in_any_units(seed, index):
    """x' = (J − R) x beside rows without energy, mixed by a congruence, each row in units of 1e-4 to 1e4."""
    rng = np.random.default_rng(seed)
    n, z = 5, 3
    J_x, R_x, F_z = rng.normal(size=(n, n)), rng.normal(size=(n, 2)), rng.normal(size=(z, z))
    J_x, R_x = J_x - J_x.T, R_x @ R_x.T
    E, J, R = (np.zeros((n + z, n + z)) for _ in range(3))
    E[:n, :n], J[:n, :n], R[:n, :n] = np.eye(n), J_x, R_x
    if index == 1:
        J[n:, n:], R[n:, n:] = F_z - F_z.T, np.diag(10.0 ** rng.uniform(-3, 3, z))
        known, count = J_x - R_x, z
    else:  # the rows of z hold z combinations of x, with z as their multipliers
        J[:n, n:], J[n:, :n] = np.eye(n)[:, :z], -np.eye(n)[:z]
        known, count = (J_x - R_x)[z:, z:], 2 * z
    T = np.eye(n + z)
    T[n:, :n] = rng.normal(size=(z, n))
    T = T @ np.diag(10.0 ** rng.uniform(-4, 4, n + z))
    E, J, R = (T.T @ a @ T for a in (E, J, R))
    found = poles(pencil((E + E.T) / 2, (J - J.T) / 2, (R + R.T) / 2), infinite=True)
    expected = la.eigvals(known)
    expected = expected[expected.imag >= 0.0]
    assert np.isinf(found).sum() == count
    np.testing.assert_allclose(found[: len(expected)], expected[np.argsort(np.abs(expected))], rtol=1e-7)


def test_infinite_poles_of_a_mechanism_are_two_for_each_row_of_its_joints():
    body = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), ph.Material(E=210e9, rho=7800.0, nu=0.3)).discretise(2)
    arm = ph.connect({"a": body}, [ph.Revolute("ground", "a.P", name="hinge")], plane="xy")
    linear = ph.linearise(arm, ph.place(arm))
    found = poles(linear, infinite=True)
    assert np.isinf(found).sum() == 2 * linear.multipliers.size
    np.testing.assert_array_equal(found[np.isfinite(found)], poles(linear))
    form = ph.descriptor(linear)
    values = la.eigvals(form["A"].toarray(), form["E"].toarray(), homogeneous_eigvals=True)
    assert (np.abs(values[1]) < 1e-6 * np.abs(values[0])).sum() >= linear.multipliers.size  # by SciPy, less sharply
