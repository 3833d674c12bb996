"""Small motion about equilibria and steady spin, against closed forms, tables, and the nonlinear system itself."""

import numpy as np
import pytest

import phloat as ph
from phloat.algebra.sparse import csr, null_space
from phloat.motion.initial.velocities import velocity_indices, with_velocities

G = 9.81


def pendulum(up: bool) -> ph.System:
    body = ph.RigidBody(2.0, np.diag([0.1, 0.2, 0.3]), center=(0.0, -0.5, 0.0)).discretise()
    return ph.connect({"b": body}, [ph.Revolute("ground", "b.P", name="hinge")], gravity=(0, G if up else -G, 0))


def test_a_pendulum_swings_or_falls_at_its_rate():
    rate = np.sqrt(2.0 * G * 0.5 / (0.3 + 2.0 * 0.25))
    hanging, inverted = (ph.linearise(s, ph.place(s)) for s in (pendulum(up=False), pendulum(up=True)))
    assert hanging.passive and not inverted.passive
    np.testing.assert_allclose(ph.modes(hanging).omega, [rate], rtol=1e-8)
    np.testing.assert_allclose(ph.modes(inverted).unstable, [rate], rtol=1e-8)
    np.testing.assert_allclose(ph.modes(inverted).poles, [rate], rtol=1e-8)


def test_a_double_pendulum_has_the_frequencies_of_the_textbook():
    """Point masses m on links l: ω² = (2 ± √2) g/l; the tension in the joint is all that the upper link feels of the lower."""
    link = ph.RigidBody(1.5, 1e-9 * np.eye(3), center=(0.0, -0.8, 0.0), ports={"C": (0.0, -0.8, 0.0)}).discretise()
    joints = [ph.Revolute("ground", "a.P"), ph.Revolute("a.C", "b.P")]
    system = ph.connect({"a": link, "b": link}, joints, gravity=(0, -G, 0), plane="xy")
    omega = ph.modes(ph.linearise(system, ph.place(system))).omega
    np.testing.assert_allclose(omega**2, (2 + np.array([-1, 1]) * np.sqrt(2)) * G / 0.8, rtol=1e-7)


def test_a_mass_on_a_spring_and_a_preloaded_string():
    body = ph.RigidBody(3.0, np.eye(3)).discretise()
    slide = [ph.Prismatic("ground", "b.P", axis=(1, 0, 0), name="p"), ph.JointSpring("p", stiffness=48.0)]
    system = ph.connect({"b": body}, slide)
    np.testing.assert_allclose(ph.modes(ph.linearise(system, ph.place(system))).omega, [4.0], rtol=1e-9)
    # a point mass between two stretched springs: 2k along them, 2N/l across
    k, rest, half = 50.0, 0.6, 1.0
    springs = [
        ph.Spring("ground", "m.P", at=(x, 0, 0), stiffness=k, length=rest, name=f"from {x}") for x in (-half, half)
    ]
    system = ph.connect({"m": ph.PointMass(2.0).discretise()}, springs)
    across = 2 * k * (half - rest) / half
    expected = np.sqrt(np.array([across, across, 2 * k]) / 2.0)
    np.testing.assert_allclose(ph.modes(ph.linearise(system, ph.place(system))).omega, expected, rtol=1e-7)


def hung(g: float) -> ph.System:
    beam = ph.Beam(1.0, ph.Rectangle(0.01, 0.005), ph.Material(E=2e9, rho=1200.0, nu=0.3)).discretise(8)
    return ph.connect({"b": beam}, [ph.Weld("ground", "b.P")], gravity=(g, 0, 0), plane="xy")


def test_a_column_buckles_under_its_own_weight_at_the_load_of_greenhill():
    EI, rho_A = 2e9 * 0.01 * 0.005**3 / 12, 1200.0 * 0.01 * 0.005
    critical = 7.8373 * EI / rho_A
    omega = {}
    for part in (0.99, 1.01):
        system = hung(-part * critical)
        linear = ph.linearise(system, ph.settle(system, ph.place(system)))
        omega[part] = ph.modes(linear)
        assert linear.passive == (part < 1)
    assert omega[0.99].unstable.size == 0 and omega[1.01].unstable.size == 1
    assert omega[0.99].omega[0] ** 2 == pytest.approx(omega[1.01].unstable[0] ** 2, rel=0.05)  # linear in the load


def test_hanging_raises_and_standing_lowers_the_frequency():
    """First order: ω² = ω₀² (1 ± q/q_cr) for the mode shape of the buckling load, near it."""
    first = [ph.modes(ph.linearise(s, ph.equilibrium(s, ph.place(s)))).omega[0] for s in map(hung, (-G, 0.0, G))]
    EI, weight = 2e9 * 0.01 * 0.005**3 / 12, 1200.0 * 0.01 * 0.005 * G
    slope = weight / (7.8373 * EI)
    assert (first[1] ** 2 - first[0] ** 2) / first[1] ** 2 == pytest.approx(slope, rel=0.02)
    assert (first[2] ** 2 - first[1] ** 2) / first[1] ** 2 == pytest.approx(slope, rel=0.02)


TABLE = {1: (3.681647, 22.181011), 2: (4.137320, 22.614922), 4: (5.585001, 24.273349), 8: (9.256838, 29.995382)}


def blade(stiffening: bool = True) -> tuple[ph.System, float]:
    beam = ph.Beam(1.0, ph.Rectangle(0.01, 0.01), ph.Material(E=2e11, rho=7800.0, nu=0.3), stiffening=stiffening)
    system = ph.connect({"b": beam.discretise(10)}, [ph.Drive("ground", "b.P", of="pose", name="hub")])
    return system, np.sqrt(2e11 * 0.01**4 / 12 / (7800.0 * 0.01**2))


@pytest.mark.parametrize("gamma", TABLE)
def test_the_rotating_cantilever_has_the_frequencies_of_the_table(gamma):
    system, unit = blade()
    linear = ph.linearise(system, ph.steady_spin(system, axis=(0, 0, 1), rate=gamma * unit))
    assert linear.passive and max(linear.structure().values()) < 1e-12
    omega = ph.modes(linear).omega / unit
    flap, lag = TABLE[gamma], np.sqrt(TABLE[gamma][0] ** 2 - gamma**2)
    np.testing.assert_allclose([omega[1], omega[3], omega[0]], [*flap, lag], rtol=1e-3)


def test_without_stiffening_flap_stays_and_lag_turns_unstable():
    system, unit = blade(stiffening=False)
    slow, fast = (ph.modes(ph.linearise(system, ph.steady_spin(system, rate=g * unit))) for g in (3.0, 4.0))
    assert slow.omega[1] / unit == pytest.approx(3.5160, rel=1e-3)
    assert slow.unstable.size == 0 and fast.unstable.size == 1


def test_a_free_rotor_keeps_its_rigid_motions_and_wobbles_at_eulers_rate():
    J = np.array([1.0, 1.2, 2.0])
    system = ph.connect({"b": ph.RigidBody(3.0, np.diag(J)).discretise()})
    linear = ph.linearise(system, ph.steady_spin(system, rate=5.0))
    omega = ph.modes(linear).omega
    wobble = 5.0 * np.sqrt((J[2] - J[0]) * (J[2] - J[1]) / (J[0] * J[1]))
    assert np.abs(omega - wobble).min() < 1e-6 or np.abs(omega - abs(5.0 - wobble)).min() < 1e-6


# --- the linear system and the nonlinear one --------------------------------------------------------------------------


def arm() -> tuple[ph.System, ph.State]:
    link = ph.Beam(0.5, ph.Rectangle(0.02, 0.002), ph.Material(E=7e10, rho=2700.0)).discretise(2)
    joints = [ph.Revolute("ground", "upper.P", name="shoulder"), ph.Revolute("upper.C", "lower.P", name="elbow")]
    system = ph.connect({"upper": link, "lower": link}, joints, plane="xy")
    return system, ph.place(system, {"upper.theta": 0.3, "lower.theta": 0.9})


def sagging_arm() -> tuple[ph.System, ph.State]:
    link = ph.Beam(0.5, ph.Rectangle(0.02, 0.004), ph.Material(E=7e10, rho=2700.0)).discretise(2)
    joints = [
        ph.Revolute("ground", "upper.P", name="shoulder"),
        ph.Revolute("upper.C", "lower.P", name="elbow"),
        ph.JointSpring("shoulder", stiffness=8.0, rest=0.4),
        ph.JointSpring("elbow", stiffness=3.0, rest=-0.3),
    ]
    system = ph.connect({"upper": link, "lower": link}, joints, gravity=(0, -G, 0), plane="xy")
    return system, ph.equilibrium(system, ph.place(system, {"upper.theta": 0.2, "lower.theta": 0.0}))


def four_bar() -> tuple[ph.System, ph.State]:
    import four_bar as example

    system = example.four_bar(2)
    return system, ph.place(system, {"crank.theta": 0.7}, near={"coupler.theta": 0.9, "follower.theta": -1.6})


def crank_slider() -> tuple[ph.System, ph.State]:
    rod = ph.Beam(0.3, ph.Circle(6e-3), ph.Material(E=0.2e12, rho=7870.0)).discretise(2)
    crank = ph.RigidBody(0.2, 1e-3 * np.eye(3), center=(0.075, 0, 0), ports={"C": (0.15, 0, 0)}).discretise()
    joints = [
        ph.Revolute("ground", "crank.P", name="motor"),
        ph.Revolute("crank.C", "rod.P"),
        ph.Revolute("rod.C", "slider.P"),
        ph.Slide("ground", "slider.P", along=(1, 0, 0)),
        ph.Spring("ground", "slider.P", at=(0.1, 0, 0), stiffness=300.0, length=0.2),
    ]
    bodies = {"crank": crank, "rod": rod, "slider": ph.PointMass(0.0334).discretise()}
    system = ph.connect(bodies, joints, gravity=(0, -G, 0), plane="xy")
    start = ph.place(system, {"crank.theta": -0.9}, near={"rod.theta": 0.4, "slider.r_P": (0.35, 0.0)})
    return system, ph.equilibrium(system, start)


def satellite() -> tuple[ph.System, ph.State]:
    panel = ph.Beam(3.0, ph.Rectangle(0.5, 0.01), ph.Material(E=7e10, rho=2700.0)).discretise(8).reduced(modes=2)
    ports = {"left": (-0.5, 0, 0), "right": (0.5, 0, 0)}
    hub = ph.RigidBody(500.0, np.diag([200.0] * 3), ports=ports).discretise()
    welds = [ph.Weld("hub.right", "right.P"), ph.Weld("hub.left", "left.P", turned=(0, 0, np.pi))]
    system = ph.connect({"hub": hub, "left": panel, "right": panel}, welds)
    return system, ph.place(system)


CASES = {
    "arm": (arm, 0.2, 1e-3),
    "sagging arm": (sagging_arm, 0.2, 1e-3),
    "four-bar": (four_bar, 0.02, 1e-4),
    "crank-slider": (crank_slider, 0.02, 1e-4),
    "satellite": (satellite, 0.5, 5e-3),
}


@pytest.mark.filterwarnings("ignore::phloat.errors.LargeDeformationWarning")  # the linear run is scaled after
@pytest.mark.parametrize("case", CASES)
def test_the_nonlinear_motion_comes_to_the_linear_one_with_the_amplitude(case):
    made, t_end, dt = CASES[case]
    system, state = made()
    linear = ph.linearise(system, state)
    n = linear.split
    Z = null_space(csr(linear.G[:, :n]))
    M = csr(linear.E[:n, :n])
    # a random push, soft motions first: M⁻¹-smoothed so that stiff modes hardly ring
    modes = ph.modes(linear)
    soft = np.real(modes.vectors[:, : min(8, modes.vectors.shape[1])])
    w = soft @ np.random.default_rng(5).normal(size=soft.shape[1])
    w = w / np.sqrt(w @ (M @ w))
    assert np.abs(Z @ (Z.T @ w) - w).max() < 1e-7 * np.abs(w).max()
    small = ph.simulate(
        linear, {name: w[linear.rows[name]] for name in linear.rows if linear.rows[name].stop <= n}, t_end=t_end, dt=dt
    )
    body = max(system.bodies, key=lambda name: np.abs(small.displacement(name)[-1]).max())
    reached = small.displacement(body)[-1]
    error = []
    scale = 0.002 / np.abs(reached).max()
    for amplitude in (scale, scale / 2, scale / 4):
        moving = with_velocities(system, state, state.e[velocity_indices(system)] + amplitude * w)
        result = ph.simulate(system, moving, t_end=t_end, dt=dt)
        shape = system.bodies[body].shape
        places = shape.places()

        def where(at, body=body, places=places, shape=shape):
            pose = at.pose(body)
            return pose.r_P + (shape.points(places) + (shape.displacement(places) @ pose.eta).reshape(-1, 3)) @ pose.A.T

        moved = (where(result.state(-1)) - where(state)) / amplitude
        error.append(np.abs(moved - reached).max() / np.abs(reached).max())
    rate = np.log2(np.array(error[:-1]) / error[1:])
    assert error[-1] < 0.02
    assert rate.min() > 0.9  # the difference of the motions themselves is of second order
