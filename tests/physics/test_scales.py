"""Soft beside stiff, light beside heavy, short beside long: nothing is dropped because something else is large."""

import re
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from graded_zoo import MAKERS, below

import phloat as ph
from phloat.algebra.elimination import signed_factor
from phloat.algebra.sparse import csr

STEEL = ph.Material(E=210e9, rho=7800.0, nu=0.3)
UNIT = ph.Material(E=1.0, rho=1.0, nu=0.3)


def modes(system, state=None, **options):
    return ph.modes(ph.linearise(system, ph.place(system) if state is None else state, **options))


@pytest.mark.parametrize("glue", [1e6, 1e7, 1e12])
def test_a_soft_spring_is_felt_beside_a_stiff_one(glue):
    """A table of 100 kg on 100 N/m carries a sensor of 10 g glued with 1e7 N/m: 0.99995 rad/s, once reported as rigid."""
    joints = [
        ph.Prismatic("ground", "t.P", axis=(1, 0, 0), name="rail"),
        ph.JointSpring("rail", stiffness=100.0),
        ph.Slide("t.P", "s.P", along=(1, 0, 0), name="glue"),
        ph.JointSpring("glue", stiffness=glue),
    ]
    bodies = {"t": ph.RigidBody(100.0, np.eye(3)).discretise(), "s": ph.PointMass(0.01).discretise()}
    found = modes(ph.connect(bodies, joints))
    assert found.rigid == 0
    low = np.sqrt(100.0 / 100.01)
    np.testing.assert_allclose(found.omega, [low, np.sqrt(glue * (1 / 100.0 + 1 / 0.01))], rtol=1e-5)
    np.testing.assert_allclose(found.omega[0], low, rtol=1e-4 if glue < 1e7 else 1e-8 + 1e-2 / glue)


def test_a_reduced_system_keeps_a_soft_spring_beside_a_stiff_one():
    """Frequencies eleven orders apart; once the slow one was a rigid motion of the reduced system."""
    table, sensor = ph.RigidBody(100.0, np.eye(3)).discretise(), ph.PointMass(0.01).discretise()
    joints = [
        ph.Prismatic("ground", "t.P", axis=(1, 0, 0), name="rail"),
        ph.JointSpring("rail", stiffness=100.0),
        ph.JointDamper("rail", damping=0.2),
        ph.Slide("t.P", "s.P", along=(1, 0, 0), name="glue"),
        ph.JointSpring("glue", stiffness=1e20),
    ]
    system = ph.connect({"t": table, "s": sensor}, joints)
    linear = ph.linearise(system, ph.place(system))
    small = ph.reduction.project(linear, ph.reduction.modal_basis(linear, count=2))
    assert ph.modes(small).rigid == 0
    np.testing.assert_allclose(ph.poles(small)[0], -0.1 / 100.01 + 1j * np.sqrt(100 / 100.01), rtol=1e-6)


@pytest.mark.parametrize("glue", [1e7, 1e8, 1e12])
def test_a_pendulum_swings_beside_a_stiff_spring(glue):
    """A hinged rod of 1 m with 1 g on a spring of 1e8 N/m at the hinge: √(3g/2L) = 3.83601 rad/s, once 0."""
    arm = ph.RigidBody(1.0, np.eye(3) / 12, center=(0.5, 0, 0)).discretise()
    joints = [
        ph.Revolute("ground", "a.P"),
        ph.Slide("a.P", "t.P", along=(1, 0, 0), name="glue"),
        ph.JointSpring("glue", stiffness=glue),
    ]
    system = ph.connect({"a": arm, "t": ph.PointMass(0.001).discretise()}, joints, plane="xy", gravity=(0, -9.81, 0))
    found = modes(system, ph.equilibrium(system, ph.place(system, {"a.theta": -1.5})))
    np.testing.assert_allclose(found.omega, [np.sqrt(1.5 * 9.81), np.sqrt(glue / 0.001)], rtol=1e-6)


def test_springs_of_1e9_and_1e_6_at_right_angles_are_both_felt():
    """Both at 45° to the axes, so that every entry of K = Σ k n nᵀ is a sum of the two: 31 622.8 and 0.001 rad/s."""
    c = np.sqrt(0.5)
    anchor = ph.RigidBody(1.0, np.eye(3), ports={"A": (c, c, 0), "B": (c, -c, 0)}).discretise()
    springs = [
        ph.Spring("a.A", "b.P", stiffness=1e9, length=1.0),
        ph.Spring("a.B", "b.P", stiffness=1e-6, length=1.0),
    ]
    system = ph.connect(
        {"a": anchor, "b": ph.PointMass(1.0).discretise()}, [ph.Weld("ground", "a.P"), *springs], plane="xy"
    )
    linear = ph.linearise(system, ph.place(system, {"b.r_P": (0.0, 0.0)}))
    np.testing.assert_allclose(ph.modes(linear).omega, [1e-3, 1e9**0.5], rtol=1e-9)
    np.testing.assert_allclose(ph.poles(linear), [1e-3j, 1e9**0.5 * 1j], rtol=1e-9)


def test_a_stiff_spring_inside_a_rigid_whole_is_no_mode():
    """Two welded bodies with a spring of 1e12 N/m between them, on nothing: three rigid modes and no other."""
    bodies = {name: ph.RigidBody(1.0, np.eye(3), ports={"C": (0.3, 0.7, 0)}).discretise() for name in "ab"}
    for length in (1.0, 2 * np.hypot(0.3, 0.7)):  # under a load of 1e11 N inside, and without
        joints = [ph.Weld("a.C", "b.P"), ph.Spring("a.P", "b.C", stiffness=1e12, length=length)]
        found = modes(ph.connect(bodies, joints, plane="xy"))
        assert found.rigid == 3 and not found.elastic.size


@pytest.mark.parametrize("theory", ["euler-bernoulli", "timoshenko"])
def test_a_strip_at_half_its_critical_load_has_its_first_mode(theory):
    """1 m × 20 × 0.5 mm, P = ½ π²EI/4L²: 1.89821 rad/s by `poles`; `modes` had 0, and 1.890 with K formed squared."""
    strip = ph.Rectangle(0.02, 0.0005)
    joints = [ph.Weld("ground", "b.P"), ph.Force("b.C", along=(-1, 0, 0), name="push")]
    system = ph.connect({"b": ph.Beam(1.0, strip, STEEL, theory=theory).discretise(8)}, joints, plane="xy")
    u = {"push": 0.5 * np.pi**2 / 4 * STEEL.E * strip.I}
    linear = ph.linearise(system, ph.equilibrium(system, ph.place(system), u=u), u=u)
    found = ph.modes(linear)
    assert found.rigid == 0 and not found.unstable.size
    np.testing.assert_allclose(found.omega[0], 1.89821, rtol=1e-5)
    np.testing.assert_allclose(ph.poles(linear).imag, found.omega, rtol=1e-8)


@pytest.mark.parametrize("theory", ["euler-bernoulli", "timoshenko"])
def test_a_strip_in_a_slow_spin_has_its_first_mode(theory):
    """1 m × 20 × 0.3 mm at 0.2 rad/s: 1.582 rad/s, between that at rest and with the stiffening of the spin; `modes` had 0."""
    beam = ph.Beam(1.0, ph.Rectangle(0.02, 0.0003), STEEL, theory=theory).discretise(8)
    system = ph.connect({"b": beam}, [ph.Drive("ground", "b.P", of="pose")])
    linear = ph.linearise(system, ph.steady_spin(system, axis=(0, 0, 1), rate=0.2))
    found = ph.modes(linear)
    assert found.rigid == 0
    np.testing.assert_allclose(found.omega[0], 1.5824, rtol=1e-4)
    np.testing.assert_allclose(np.sort(ph.poles(linear).imag), found.omega, rtol=1e-8)


def test_rigid_modes_of_a_free_body_in_a_spin_are_counted_by_what_is_kept():
    """A free rod across its axis: the turn about the spin, the drift along it, and the turn of the rod about itself (whose
    section has no inertia of its own in this theory) stand still; the drift across is at ±Ω in the turning frame.

    Two of the three at Ω are one defective pair, which round-off ε splits by √ε to both sides: their mean has its digits."""
    rod = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), STEEL, frame="pinned").discretise(4)
    system = ph.connect({"b": rod}, [])
    linear = ph.linearise(system, ph.steady_spin(system, axis=(0, 0, 1), rate=3.0))
    found = ph.modes(linear)
    assert found.rigid == 3
    low, middle, high = found.elastic[:3]
    np.testing.assert_allclose(found.elastic[:3], 3.0, rtol=1e-6)
    np.testing.assert_allclose([0.5 * (low + high), middle], 3.0, rtol=1e-10)
    assert (ph.poles(linear) == 0).sum() == 3


@pytest.mark.parametrize(
    ("elements", "plane"),
    [(150, None), (200, None), (512, "xy"), pytest.param(400, None), pytest.param(1000, "xy", marks=pytest.mark.long)],
)
def test_a_fine_cantilever_has_its_modes(elements, plane):
    """1 m × 20 × 10 mm of steel: β²√(EI/ρA), β = 1.87510, 4.69409, 7.85476; 150 elements in space, 512 in a plane once failed."""
    beam = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), STEEL).discretise(elements)
    found = modes(ph.connect({"b": beam}, [ph.Weld("ground", "b.P")], plane=plane))
    beta = np.array([1.875104068711961, 4.694091132974174, 7.854757438237613])
    exact = beta**2 * np.sqrt(STEEL.E / STEEL.rho / 12) * 0.01
    exact = np.sort(exact if plane else np.concatenate([exact, 2 * exact]))[:3]
    np.testing.assert_allclose(found.omega[:3], exact, rtol=1e-8)
    assert found.rigid == 0


@pytest.mark.parametrize("thickness", [2e-3, 5e-4])
@pytest.mark.parametrize(("support", "beta2"), [("left", 3.51601527), ((), 22.3732854)])
def test_a_thin_strip_of_solid_cells_has_its_modes(thickness, support, beta2):
    """1 m × 20 mm as 10 cells; modes from K alone said 0 for the first one: μ is 4e-15 to 4e-11 of the largest K_ii / M_ii."""
    steel = ph.Material(E=2.1e11, rho=7800.0, nu=0.0)
    strip = ph.Solid.box(1.0, 0.02, thickness, material=steel, clamped=support).discretise((10, 1, 1))
    rigid = 0 if support else 6
    assert ph.modes(strip.linear()).rigid == rigid
    omega = strip.modes(rigid + 1)[0]
    assert (omega[:rigid] == 0.0).all() and len(omega) == rigid + 1
    assert omega[rigid] == pytest.approx(beta2 * thickness * np.sqrt(steel.E / 12 / steel.rho), rel=6e-3)


@pytest.mark.parametrize("stiffness", [1e-6, 1.0])
def test_a_large_system_on_a_soft_spring_has_no_rigid_mode(stiffness):
    """A beam of 210 elements (843 velocities) on a rail with a spring of 1e-6 N/m: √(k/m), 1e-5 of its first bending."""
    beam = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), STEEL).discretise(210)
    joints = [ph.Prismatic("ground", "b.P", axis=(1, 0, 0), name="rail"), ph.JointSpring("rail", stiffness=stiffness)]
    found = modes(ph.connect({"b": beam}, joints, plane="xy"))
    assert found.rigid == 0
    np.testing.assert_allclose(found.omega[0], np.sqrt(stiffness / (7800.0 * 2e-4)), rtol=1e-7)


def hinged(elements):
    beam = ph.Beam(1.0, ph.Section(A=1.0, I=1e-8), UNIT).discretise(elements)
    joints = [ph.Revolute("ground", "b.P", name="hinge"), ph.Force("b.C", along=(0, 1, 0), name="tip")]
    system = ph.connect({"b": beam}, joints, plane="xy")
    return ph.linearise(system, ph.place(system))


@pytest.mark.parametrize("elements", [16, 64, pytest.param(128, marks=pytest.mark.long)])
def test_zeros_between_places_apart_keep_their_digits(elements):
    """Torque at the hinge, motion of the tip: exact ±11.18664, ±60.45170, ±149.27777; with 64 elements once 11.146 and −11.217."""
    found = ph.zeros(hinged(elements), "hinge", "tip") / 1e-4
    real = np.sort(found[(found.imag == 0) & (np.abs(found) < 200)].real)
    exact = np.array([11.18664273, 60.45169590, 149.2777671])
    np.testing.assert_allclose(real, [*-exact[::-1], *exact], rtol=max(1e-6, 30.0 / elements**4))


def test_zeros_of_both_signs_are_the_same():
    found = ph.zeros(hinged(32), "hinge", "tip")
    real = found[(found.imag == 0) & (found != 0)].real
    np.testing.assert_allclose(np.sort(real), np.sort(-real), rtol=1e-12)


def test_twelve_orders_of_stiffness_mass_and_length_in_one_model():
    """Bars of 1e-6, 1 and 1e6 m, masses of 1e6, 1e-6 and 1 kg, springs of 1e-6, 1e6 and 1 N m in their hinges, in a line.

    Frequencies lie between 6e-13 and 3e12 times each other; each is right to 1e-9 by the pivots of K − ω²M in 60 digits.
    """
    m, l, k = (1e6, 1e-6, 1.0), (1e-6, 1.0, 1e6), (1e-6, 1e6, 1.0)
    bodies, joints, M = {}, [], mp.zeros(3, 3)
    for i in range(3):
        inertia = m[i] * l[i] ** 2 / 12 * np.eye(3)
        bodies[f"b{i}"] = ph.RigidBody(m[i], inertia, center=(l[i] / 2, 0, 0), ports={"C": (l[i], 0, 0)}).discretise()
        joints.append(ph.Revolute(f"b{i - 1}.C" if i else "ground", f"b{i}.P", name=f"j{i}"))
        joints.append(ph.JointSpring(f"j{i}", stiffness=k[i]))
        arm = mp.matrix([[mp.fsum(l[q:i]) + mp.mpf(l[i]) / 2 if q <= i else 0 for q in range(3)]])
        turn = mp.matrix([[1 if q <= i else 0 for q in range(3)]])
        M += m[i] * (arm.T * arm) + m[i] * mp.mpf(l[i]) ** 2 / 12 * (turn.T * turn)
    found = modes(ph.connect(bodies, joints, plane="xy"))
    assert found.rigid == 0
    assert [below(M, mp.diag(k), w * (1 - 1e-9)) for w in found.omega] == [0, 1, 2]
    assert [below(M, mp.diag(k), w * (1 + 1e-9)) for w in found.omega] == [1, 2, 3]


SEEDS = [*range(4), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 67))]
OFF = {"carriages": 1e-8, "levers": 3e-6, "truss": 1e-8}  # levers: frequencies up to 18 orders apart


@pytest.mark.filterwarnings("ignore::phloat.errors.LooseBodyWarning")
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
def test_modes_of_random_graded_models_are_those_of_sixty_digits(maker, seed):
    """Rigid modes are counted exactly, every frequency has the accuracy of its family, and poles are the same."""
    linear, M, K = maker(np.random.default_rng(seed))
    found, off = ph.modes(linear), OFF[maker.__name__]
    assert len(found) == M.rows
    if found.elastic.size:
        assert below(M, K, 1e-20 * found.elastic[0]) == found.rigid
    else:
        assert not any(K)
    for k, w in enumerate(found.elastic):
        assert below(M, K, w * (1 - off)) <= found.rigid + k < below(M, K, w * (1 + off))
    np.testing.assert_allclose(ph.poles(linear), 1j * found.omega, rtol=1e-12)


@pytest.mark.parametrize("size", [[[0.0, 0.5], [2.0, 0.0]], [[0.0, 2.0], [0.5, 0.0]]])
def test_an_entry_of_loads_is_zero_on_both_sides_or_on_none(size):
    """Found by random beams: zero on one side only, it gave a stress without stiffness, and NaN."""
    factor, mu = signed_factor(csr([[0.0, 1.0], [1.0, 0.0]]), csr(size), np.ones(2))
    assert np.isfinite(factor.toarray()).all() and (mu != 0.0).all()


def test_every_threshold_of_linear_analysis_is_in_the_docs():
    """docs/thresholds.md has a row for each named number of the folders linear and algebra."""
    home = Path(__file__).parents[2]
    page = (home / "docs" / "thresholds.md").read_text()
    found = [
        f"| `{file.relative_to(home / 'src' / 'phloat').as_posix()}` | `{name}` | {number} |"
        for folder in ("linear", "algebra")
        for file in sorted((home / "src" / "phloat" / folder).rglob("*.py"))
        for name, number in re.findall(r"^([A-Z_]+) = ([0-9.]*e-[0-9]+)", file.read_text(), re.MULTILINE)
    ]
    assert len(found) > 30
    assert not [row for row in found if row not in page]


@pytest.mark.parametrize(("part", "stands"), [(0.999, True), (1.001, False), (1.5, False)])
def test_a_strip_beyond_its_critical_load_is_not_passive_and_grows(part, stands):
    """The Timoshenko strip of above under `part` of its critical load: a growth of 1.990 1/s at 1.5; once passive there."""
    strip = ph.Rectangle(0.02, 0.0005)
    beam = ph.Beam(1.0, strip, STEEL, theory="timoshenko").discretise(8)
    joints = [ph.Weld("ground", "b.P"), ph.Force("b.C", along=(-1, 0, 0), name="push")]
    system = ph.connect({"b": beam}, joints, plane="xy")
    u = {"push": part * np.pi**2 / 4 * STEEL.E * strip.I}
    linear = ph.linearise(system, ph.settle(system, ph.place(system), u=u), u=u)
    found = ph.modes(linear)
    assert linear.passive == stands and found.unstable.size == (not stands) and found.rigid == 0
    if not stands:
        np.testing.assert_allclose(ph.poles(linear)[:2].real, found.unstable[0] * np.array([1, -1]), rtol=1e-9)


def test_a_slow_fall_is_seen_beside_a_stiff_spring():
    """An inverted rod with 1 g on 1e9 N/m: it grows by 3.836 1/s beside 1e6 rad/s."""
    arm = ph.RigidBody(1.0, np.eye(3) / 12, center=(0.5, 0, 0)).discretise()
    joints = [
        ph.Revolute("ground", "a.P"),
        ph.Slide("a.P", "t.P", along=(1, 0, 0), name="glue"),
        ph.JointSpring("glue", stiffness=1e9),
    ]
    system = ph.connect({"a": arm, "t": ph.PointMass(0.001).discretise()}, joints, plane="xy", gravity=(0, 9.81, 0))
    linear = ph.linearise(system, ph.place(system, {"a.theta": -np.pi / 2, "glue.slide": -9.81e-12}))
    np.testing.assert_allclose(ph.modes(linear).unstable, [np.sqrt(1.5 * 9.81)], rtol=1e-6)
    assert not linear.passive
