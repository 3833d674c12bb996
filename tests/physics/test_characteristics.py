"""Springs and dampers given by functions, and bushings that turn far: exact answers, stated errors, and warnings with numbers."""

import json

import numpy as np
import pytest
from files_zoo import from_plain
from messages import raises, warns
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline, PPoly
from scipy.spatial.transform import Rotation

import phloat as ph
from phloat.format.system import plain
from phloat.joints.curves import curve, resistance

POINT = ph.PointMass(1.0).discretise()
BLOCK = ph.RigidBody(1.0, np.diag([0.5, 0.8, 1.0])).discretise()
FAMILY = {
    "cubic": (lambda x: x + x**3, (-2.0, 2.0)),
    "sinh": (lambda x: 40.0 * np.sinh(8.0 * x), (-1.0, 2.0)),
    "one-sided stop": (lambda x: 1e5 * max(0.0, x - 0.013) + 3.0 * x, (-0.5, 0.7)),
    "stop at an odd place": (lambda x: 1e5 * max(0.0, x - np.pi / 10) + 50.0 * x, (-0.5, 0.7)),
    "Hertz": (lambda x: 1e9 * max(0.0, x) ** 1.5, (-1e-3, 1e-3)),
    "air": (lambda v: v * abs(v), (-20.0, 30.0)),
    "smooth friction": (lambda v: 5.0 * np.tanh(v / 1e-3) + v, (-2.0, 2.0)),
    "twenty corners": (lambda x: float(np.interp(x, np.linspace(-1, 1, 21), np.sin(np.arange(21) ** 2))), (-1.0, 1.0)),
    "tiny": (lambda x: 1e-9 * x**3, (-1e-6, 1e-6)),
}


def oscillator(*parts) -> ph.System:
    """1 kg on a straight rail."""
    return ph.connect({"b": POINT}, [ph.Slide("ground", "b.P", along=(1, 0, 0), name="rail"), *parts], plane="xy")


@pytest.mark.parametrize("kind", FAMILY)
def test_a_function_is_kept_to_1e_10_of_its_force(kind):
    """At 20 000 places, near 0, and at the bounds of the pieces."""
    f, (low, high) = FAMILY[kind]
    _, pieces = curve("f", f, (low, high))
    x = np.random.default_rng(1).uniform(low, high, 20_000)
    x = np.concatenate([x, np.geomspace(1e-9, 1.0, 500) * high, pieces.bounds])
    exact = np.array([f(float(v)) for v in x])
    assert np.abs(pieces.values(x) - exact).max() < 1.5e-10 * np.abs(exact).max()
    assert len(pieces.bounds) < 300
    for a in (low, 0.3 * high, high):  # U' = f, and U(0) = 0
        h = 1e-5 * (high - low)
        near = pieces.integral(a + h) - pieces.integral(a - h)
        assert near == pytest.approx(2 * h * pieces.value(a), rel=1e-3, abs=1e-5 * h * np.abs(exact).max())
    assert abs(pieces.integral(0.0)) <= 1e-15 * abs(pieces.integral(high))


def test_a_corner_is_found_where_it_is():
    _, pieces = curve("f", FAMILY["one-sided stop"][0], (-0.5, 0.7))
    assert 0.013 in pieces.bounds
    assert len(pieces.bounds) < 20


@pytest.mark.parametrize(
    ("f", "name"),
    [
        (lambda x: x + (x > 0.3), "0.3"),
        (lambda x: x + 1e-6 * np.sin(1e9 * x * x + x), "rail.spring"),
    ],
    ids=["jump", "noise"],
)
def test_what_cannot_be_kept_is_refused(f, name):
    with raises(ph.errors.InputError, name):
        ph.JointSpring("rail", stiffness=f, over=(-1.0, 1.0))


def duffing(over: tuple[float, float]) -> ph.System:
    return oscillator(ph.JointSpring("rail", stiffness=lambda x: x + x**3, over=over, name="duffing"))


def test_a_duffing_oscillator_is_exact():
    """ẍ = −x − x³ from x = 1: 0.79887477 at t = 10 s. Samples in straight pieces left 3e-6 however small the step."""
    exact = solve_ivp(lambda t, y: (y[1], -y[0] - y[0] ** 3), (0, 10), (1.0, 0.0), rtol=1e-12, atol=1e-13).y[0, -1]
    assert exact == pytest.approx(0.79887477, abs=1e-8)
    system = duffing((-2.0, 2.0))
    state = ph.place(system, {"rail.slide": 1.0})
    result = ph.simulate(system, state, 10.0, dt=1e-2, scheme=ph.Composition4())
    assert result["rail.slide"][-1] == pytest.approx(exact, abs=2e-9)
    assert ph.energy_ledger(result).relative < 1e-12
    assert result.info["ranges"]["duffing"]["elongation"][4] is None
    coarse = [ph.simulate(system, state, 10.0, dt=h)["rail.slide"][-1] - exact for h in (1e-2, 5e-3)]
    assert coarse[0] / coarse[1] == pytest.approx(4.0, rel=0.01)


@pytest.mark.parametrize("scheme", [ph.Midpoint(), ph.Composition4(), ph.RadauIIA()], ids=lambda s: type(s).__name__)
def test_leaving_the_range_of_a_function_is_said(scheme):
    """Beyond over=(−0.5, 0.5) the force goes on straight, which makes 0.834 of 0.799. Every step is looked at, not outputs only."""
    system = duffing((-0.5, 0.5))
    state = ph.set_moving(system, ph.place(system), {"rail.slide_rate": 1.2})
    with warns(ph.errors.CurveRangeWarning, "'duffing'", "t = 0.4") as said:
        result = ph.simulate(system, state, 4.0, dt=1e-2, scheme=scheme, output=[4.0])
    assert len(said) == 1
    assert said[0].filename == __file__
    low, high, first, last, when = result.info["ranges"]["duffing"]["elongation"]
    assert (first, last) == (-0.5, 0.5)
    assert high == pytest.approx(-low, rel=1e-2)
    assert 0.9 < high < 1.1
    assert when == pytest.approx(0.44, abs=0.06)


def test_leaving_a_table_is_said_and_staying_is_not():
    """Tables go on with their last slope, which is a guess as well; dampers are looked at by their rate."""
    table, friction = {-1.0: -50.0, 0.0: 0.0, 1.0: 50.0}, {-3.0: -3.0, 0.0: 0.0, 3.0: 3.0}
    system = oscillator(
        ph.JointSpring("rail", stiffness=table, name="k"), ph.JointDamper("rail", damping=friction, name="c")
    )
    inside = ph.simulate(system, ph.place(system, {"rail.slide": 0.1}), 1.0, dt=1e-2).info["ranges"]
    assert inside["k"]["elongation"][4] is inside["c"]["rate"][4] is None
    swinging = oscillator(
        ph.JointSpring("rail", stiffness=table, name="k")
    )  # from the very end and back, again and again
    assert (
        ph.simulate(swinging, ph.place(swinging, {"rail.slide": 1.0}), 9.0, dt=1e-3).info["ranges"]["k"]["elongation"][
            4
        ]
        is None
    )
    with warns(ph.errors.CurveRangeWarning) as said:
        ph.simulate(system, ph.place(system, {"rail.slide": 1.1}), 1.0, dt=1e-2)
    damper, spring = sorted(str(one.message) for one in said)
    assert "'c'" in damper and "-3 to 3" in damper
    assert "'k'" in spring and "-1 to 1" in spring and "t = 0 s" in spring


def test_an_equilibrium_beyond_a_table_is_said():
    system = ph.connect(
        {"b": POINT},
        [
            ph.Slide("ground", "b.P", along=(0, 1, 0), name="rail"),
            ph.JointSpring("rail", stiffness={-0.1: -5.0, 0.1: 5.0}, name="k"),
        ],
        plane="xy",
        gravity=(0, -9.81, 0),
    )
    with warns(ph.errors.CurveRangeWarning, "'k'", "-0.1962"):
        state = ph.equilibrium(system, ph.place(system))
    assert ph.joint_coordinates(system, state)["rail.slide"] == pytest.approx(-9.81 / 50.0)


def test_a_steady_spin_beyond_a_table_is_said():
    """1 kg at 1 m on 50 N/m with 2 rad/s: k x = m ω² (1 + x), x = 4/46 = 0.0870, of 0.05 that the table has."""
    arm = ph.RigidBody(0.5, np.diag([0.1, 0.1, 0.1]), ports={"tip": (1.0, 0, 0)}).discretise()
    system = ph.connect(
        {"arm": arm, "b": BLOCK},
        [
            ph.Revolute("ground", "arm.P", name="hub"),
            ph.Prismatic("arm.tip", "b.P", axis=(1, 0, 0), name="rail"),
            ph.JointSpring("rail", stiffness={-0.05: -2.5, 0.05: 2.5}, name="k"),
        ],
        plane="xy",
    )
    with warns(ph.errors.CurveRangeWarning, "'k'", "0.0869565"):
        ph.steady_spin(system, rate=2.0)


@pytest.mark.parametrize("kind", ["one-sided stop", "Hertz", "twenty corners"])
def test_energy_is_kept_through_corners(kind):
    """The force of a step is ΔU/Δx of the polynomials, whatever pieces it passes."""
    f, (low, high) = FAMILY[kind]
    system = oscillator(
        ph.JointSpring("rail", stiffness=f, over=(low, high), name="k"),
        ph.JointSpring("rail", stiffness=10.0, name="back"),
    )
    speed = {"one-sided stop": 0.4, "Hertz": 2e-3, "twenty corners": 1.2}[kind]
    state = ph.set_moving(system, ph.place(system), {"rail.slide_rate": speed})
    result = ph.simulate(system, state, 2.0, dt={"Hertz": 1e-4}.get(kind, 1e-3), output=50)
    assert np.ptp(result.energy) < 1e-12 * result.energy[0]
    assert ph.energy_ledger(result).relative < 1e-12


def test_splines_of_scipy_are_taken_as_they_are():
    x = np.linspace(-1.0, 1.0, 9)
    spline = CubicSpline(x, np.sin(3 * x))
    _, pieces = curve("f", spline)
    at = np.linspace(-1.0, 1.0, 301)
    np.testing.assert_allclose(pieces.values(at), spline(at), atol=1e-15)
    assert pieces.value(1.5) == pytest.approx(spline(1.0) + 0.5 * spline(1.0, 1))
    with raises(ph.errors.InputError):
        curve("f", spline, (0, 1))
    with raises(ph.errors.InputError):
        curve("f", PPoly(np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([-1.0, 0.0, 1.0])))
    with raises(ph.errors.InputError):
        resistance("f", CubicSpline(x, -x))


def test_a_function_comes_back_from_a_model_file_to_the_bit():
    f, over = FAMILY["one-sided stop"]
    system = oscillator(ph.JointSpring("rail", stiffness=f, over=over, name="k"))
    data = json.loads(json.dumps(plain(system)))
    again = from_plain(data).system
    assert np.array_equal(again.elements["k"].laws[0].spring.flat, system.elements["k"].laws[0].spring.flat)
    assert set(data["joints"]["k"]["stiffness"]) == {"breaks", "coefficients"}


def test_a_load_over_part_of_a_beam_is_the_whole_of_it():
    """q = 1 N/m from s = 0.37 on, or a triangle from there, with 3 elements: force and root moment by hand, to 1e-10."""
    steel = ph.Material(E=2.1e11, rho=7800.0, nu=0.3)
    beam = ph.Beam(2.0, ph.Rectangle(0.05, 0.05), steel).discretise(3)
    for density, total, arm in (
        (lambda s: 1.0 if s > 0.37 else 0.0, 0.63, (1.0 + 0.37) / 2),
        (lambda s: max(0.0, s - 0.37), 0.63**2 / 2, 0.37 + 0.63 * 2 / 3),
    ):
        joints = [ph.Weld("ground", "b.P", name="root"), ph.Load("b", along=(0, 1, 0), per_length=density, name="q")]
        system = ph.connect({"b": beam}, joints, plane="xy")
        (force, port) = system.actuators["q"].forces[0]
        assert force[1] == pytest.approx(2.0 * total, rel=1e-10)
        assert port.x[0] == pytest.approx(2.0 * arm, rel=1e-10)


# --- bushings --------------------------------------------------------------------------------------------------------


def bushing(rotation: str, k=(1.0, 1.0, 1.0), **options) -> ph.System:
    mount = ph.Bushing("ground", "b.P", stiffness=(50.0,) * 3 + tuple(k), rotation=rotation, name="mount", **options)
    return ph.connect({"b": BLOCK}, [mount])


def turned_by(system: ph.System, phi: np.ndarray) -> ph.State:
    return ph.place(system, {"b.r_P": (0, 0, 0), "b.A_IB": Rotation.from_rotvec(phi).as_matrix()})


def test_a_bushing_by_rotation_vector_swings_as_a_torsion_spring():
    """1 kg m² on 1 N m/rad from 2 rad: φ = 2 cos t about any principal axis. Sines take 24.6 s instead of 6.28 for a swing."""
    system = bushing("vector")
    result = ph.simulate(system, turned_by(system, np.array([0, 0, 2.0])), 6.0, dt=1e-2, scheme=ph.Composition4())
    angle = np.array([Rotation.from_matrix(A).as_rotvec()[2] for A in result["b.A_IB"]])
    np.testing.assert_allclose(angle, 2.0 * np.cos(result.t), atol=1e-6)
    assert result.info["ranges"]["mount"]["turn"][0] == pytest.approx(2.0, abs=1e-3)
    assert ph.energy_ledger(result).relative < 1e-11


def test_a_bushing_of_unlike_stiffness_moves_by_the_gradient_of_its_energy():
    """U = ½ Σ k_i φ_i² with k = (1, 2, 4) from φ = (1, −0.8, 0.9), |φ| = 1.57: against Euler's equations with ∂U/∂φ."""
    k, J, phi = np.array([1.0, 2.0, 4.0]), np.array([0.5, 0.8, 1.0]), np.array([1.0, -0.8, 0.9])

    def flow(t, y):
        R, omega = Rotation.from_quat(y[:4]), y[4:]
        f = R.as_rotvec()
        a = np.linalg.norm(f)
        S = np.cross(np.eye(3), f)
        T = np.eye(3) - (1 - np.cos(a)) / a**2 * S + (a - np.sin(a)) / a**3 * S @ S  # ω (body) = T φ̇
        torque = -np.linalg.solve(T.T, k * f)
        x, y_, z, w = y[:4]
        q_dot = 0.5 * np.array([[w, -z, y_], [z, w, -x], [-y_, x, w], [-x, -y_, -z]]) @ omega
        return np.concatenate([q_dot, (torque - np.cross(omega, J * omega)) / J])

    start = np.concatenate([Rotation.from_rotvec(phi).as_quat(), np.zeros(3)])
    exact = solve_ivp(flow, (0.0, 3.0), start, rtol=1e-11, atol=1e-12).y[:, -1]
    system = bushing("vector", k)
    state = turned_by(system, phi)
    result = ph.simulate(system, state, 3.0, dt=1e-2, scheme=ph.Composition4())
    np.testing.assert_allclose(result["b.A_IB"][-1], Rotation.from_quat(exact[:4]).as_matrix(), atol=1e-6)
    np.testing.assert_allclose(result["b.omega"][-1], exact[4:], atol=2e-6)
    assert ph.energy(system, state) == pytest.approx(0.5 * k @ phi**2)
    assert np.ptp(result.energy) < 1e-11 * result.energy[0]
    assert ph.effort_defect(system, result.state(-1)) < 1e-6


def test_a_bushing_of_sines_says_how_far_it_turned():
    system = bushing("small")
    quiet = ph.simulate(system, turned_by(system, np.array([0, 0, 0.4])), 1.0, dt=1e-2)
    assert quiet.info["ranges"]["mount"]["turn"][2] is None
    with warns(ph.errors.LargeTurnWarning, "'mount'", "2.2 rad"):
        ph.simulate(system, turned_by(system, np.array([0, 0, 2.0])), 1.0, dt=1e-2, output=100)
    with raises(ph.errors.InputError, "mount", "'large'"):
        bushing("large")


def test_small_turns_of_both_bushings_are_the_same():
    motions = []
    for rotation in ("small", "vector"):
        system = bushing(rotation, (1.0, 2.0, 3.0), turned=(0.2, -0.1, 0.3))
        rest = Rotation.from_rotvec([0.2, -0.1, 0.3]) * Rotation.from_rotvec([1e-4, 2e-4, -1e-4])
        state = ph.place(system, {"b.r_P": (0, 0, 0), "b.A_IB": rest.as_matrix()})
        motions.append(ph.simulate(system, state, 1.0, dt=1e-2)["b.omega"])
    np.testing.assert_allclose(motions[0], motions[1], atol=1e-10)
    assert np.abs(motions[0]).max() > 1e-5


@pytest.mark.parametrize("plane", [None, "xy"], ids=["space", "plane"])
def test_a_turning_bushing_between_bodies_keeps_momenta(plane):
    k = (50.0, 60.0, 70.0, 3.0, 4.0, 5.0)
    mount = ph.Bushing("a.P", "b.P", stiffness=k, rotation="vector", name="mount")
    system = ph.connect({"a": BLOCK, "b": BLOCK}, [mount], plane=plane)
    turn = {"b.theta": 1.4} if plane else {"b.A_IB": Rotation.from_rotvec([0.9, -0.8, 1.0]).as_matrix()}
    zero = (0, 0) if plane else (0, 0, 0)
    state = ph.place(system, {"a.r_P": zero, "b.r_P": zero, **turn})
    state = ph.set_moving(
        system, state, {"a.omega": 0.3 if plane else (0.2, 0.1, 0.4), "b.v_P": (0.2, 0.3, 0)[: len(zero)]}
    )
    result = ph.simulate(system, state, 2.0, dt=1e-2)
    turning = result.angular_momentum[:, 2:] if plane else result.angular_momentum
    assert np.ptp(turning, axis=0).max() < 1e-12
    assert np.ptp(result.energy) < 1e-12 * result.energy[0]
    assert not result.info["halved"]


@pytest.mark.parametrize(
    ("f", "omega"),
    [
        (lambda x: 100.0 * x, 10.0),
        (lambda x: 100.0 * (x - 0.2), 10.0),
        (lambda x: np.tanh(3.0 * (x - 0.2)), np.sqrt(3.0)),
        (lambda x: x + 5.0 * x**3, 1.0),
    ],
)
def test_a_spring_by_a_function_is_linearised_where_it_rests(f, omega):
    """Round-off of a fitted force was once compared with itself: no equilibrium was one."""
    rail, spring = (
        ph.Slide("ground", "b.P", along=(1, 0, 0), name="rail"),
        ph.JointSpring("rail", stiffness=f, over=(-1, 1)),
    )
    system = ph.connect({"b": ph.PointMass(1.0).discretise()}, [rail, spring], plane="xy")
    state = ph.equilibrium(system, ph.place(system, {"rail.slide": 0.05}))
    np.testing.assert_allclose(ph.modes(ph.linearise(system, state))[0], omega, rtol=1e-9)
    with raises(ph.errors.InputError, "b.v_P"):
        ph.linearise(system, ph.place(system, {"rail.slide": 0.3}))
