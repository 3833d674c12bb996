"""Initial states against numbers worked out by hand."""

import numpy as np
import pytest
from messages import raises, warns

import phloat as ph

STEEL = ph.Material(E=2.0e11, rho=7800.0, nu=0.3)
g = 9.81


def pendulum(gravity=(0, -g, 0), plane="xy") -> ph.System:
    bob = ph.RigidBody(2.0, np.diag([0.1, 0.1, 0.1]), center=(0.7, 0, 0)).discretise()
    joint = ph.Revolute if plane else ph.Spherical
    return ph.connect({"bob": bob}, joints=[joint("ground", "bob.P", name="pin")], gravity=gravity, plane=plane)


def bar(elements=4, **options) -> ph.Body:
    return ph.Beam(2.0, ph.Rectangle(0.02, 0.01), STEEL, **options).discretise(elements)


# --- velocities ------------------------------------------------------------------------------------------------------


def v_cr(t):
    return 22.5 * np.array([-np.sin(150 * t), np.cos(150 * t)])


def crank_slider() -> ph.System:
    rod = ph.Beam(0.3, ph.Circle(6e-3), ph.Material(E=0.2e12, rho=7870.0, nu=0.3), frame="pinned").discretise(4)
    return ph.connect(
        {"rod": rod, "slider": ph.PointMass(0.03337785).discretise()},
        joints=[
            ph.Drive("ground", "rod.P", name="crank pin"),
            ph.Revolute("rod.C", "slider.P"),
            ph.Slide("ground", "slider.P", along=(1, 0, 0), name="rail"),
        ],
        plane="xy",
    )


@pytest.mark.parametrize(
    "drive", [v_cr, ph.prescribed_position(lambda t: 0.15 * np.array([np.cos(150 * t), np.sin(150 * t)]))]
)
def test_the_rod_of_a_crank_slider_starts_with_75_radians_a_second(drive):
    system = crank_slider()
    state = ph.set_moving(system, ph.place(system, {"rod.r_P": (0.15, 0.0)}), u={"crank pin": drive})
    np.testing.assert_allclose(state["rod.v_P"], [0, 22.5], atol=1e-8)
    assert state["rod.omega"] == pytest.approx(-75.0, rel=1e-8)
    np.testing.assert_allclose(state["slider.v_P"], 0, atol=1e-8)
    assert not state["rod.eta_dot"].any()


def test_a_crank_slider_later_in_its_turn():
    """Crank at φ, rod at −β with sin β = ½ sin φ: the slider runs at −v (sin φ + cos φ tan β)."""
    system, t = crank_slider(), 0.9 / 150
    phi, beta = 0.9, np.arcsin(0.5 * np.sin(0.9))
    state = ph.place(system, {"rod.r_P": (0.15 * np.cos(phi), 0.15 * np.sin(phi))})
    state = ph.set_moving(system, state, u={"crank pin": v_cr}, t=t)
    assert state["slider.v_P"][0] == pytest.approx(-22.5 * (np.sin(phi) + np.cos(phi) * np.tan(beta)), rel=1e-12)
    assert state["rod.omega"] == pytest.approx(-75 * np.cos(phi) / np.cos(beta), rel=1e-12)


def test_the_heavy_top_turns_about_its_tip():
    inertia = np.diag([0.234375, 0.46875, 0.234375])
    top = ph.RigidBody(mass=15.0, inertia=inertia, center=(0, 1, 0)).discretise()
    system = ph.connect({"top": top}, joints=[ph.Spherical("ground", "top.P", name="tip")], gravity=(0, 0, -g))
    omega = np.array([0.0, 150.0, -4.61538])
    state = ph.set_moving(system, ph.place(system), {"top.omega": omega})
    np.testing.assert_array_equal(state["top.omega"], omega)
    np.testing.assert_allclose(state["top.v_P"], 0, atol=1e-14)
    J, c, weight = inertia + 15 * np.diag([1.0, 0, 1]), np.array([0.0, 1, 0]), np.array([0, 0, -15 * g])
    alpha = np.linalg.solve(J, np.cross(J @ omega, omega) + np.cross(c, weight))
    force = 15 * (np.cross(alpha, c) + np.cross(omega, np.cross(omega, c))) - weight
    np.testing.assert_allclose(ph.reactions(system, state)["tip"], force, rtol=1e-9, atol=1e-8)


def test_rates_of_joints_are_held():
    arm = ph.connect(
        {"a": bar(2), "b": bar(2)},
        joints=[ph.Revolute("ground", "a.P", name="shoulder"), ph.Revolute("a.C", "b.P", name="elbow")],
        plane="xy",
    )
    given = {"shoulder.angle_rate": 2.0, "elbow.angle_rate": -5.0}
    state = ph.set_moving(arm, ph.place(arm, {"elbow.angle": 1.0}), given)
    assert state["a.omega"] == pytest.approx(2.0, rel=1e-12)
    assert state["b.omega"] == pytest.approx(-3.0, rel=1e-12)


def test_what_is_not_given_moves_with_least_energy():
    """A pin drags a free rod: it turns so that its kinetic energy is least, ω = −(m l/2) v / (m l²/3)."""
    system = ph.connect({"b": bar(2)}, joints=[ph.Drive("ground", "b.P", name="pin")], plane="xy")
    state = ph.set_moving(system, ph.place(system), u={"pin": (0.0, 1.0)})
    assert state["b.omega"] == pytest.approx(-1.5 / 2.0, rel=1e-12)


def test_a_free_body_that_turns_leaves_its_mass_centre_at_rest():
    system = ph.connect({"b": bar(2)})
    state = ph.set_moving(system, ph.place(system), {"b.omega": (0.0, 2.0, 3.0)})
    np.testing.assert_allclose(state["b.v_P"], -np.cross([0.0, 2.0, 3.0], [1.0, 0, 0]), atol=1e-12)


def test_a_clamped_beam_with_a_driven_tip_bends_as_little_as_it_can():
    joints = [ph.Weld("ground", "b.P"), ph.Drive("ground", "b.C", name="tip")]
    system = ph.connect({"b": bar(3)}, joints=joints, plane="xy")
    state = ph.set_moving(system, ph.place(system), u={"tip": (0.0, 1.0)})
    np.testing.assert_allclose(state["b.v_P"], 0, atol=1e-12)
    body = system.bodies["b"]
    towards = np.linalg.solve(body.inertia.M_ff.toarray(), body.port("C").Phi[:2].T)
    least = towards @ np.linalg.solve(body.port("C").Phi[:2] @ towards, [0.0, 1.0])
    np.testing.assert_allclose(state["b.eta_dot"], least, rtol=1e-9, atol=1e-11)


# --- reactions -------------------------------------------------------------------------------------------------------


def test_a_pendulum_at_the_bottom_pulls_with_m_g_and_v2_over_l():
    system = pendulum()
    state = ph.set_moving(system, ph.place(system, {"bob.theta": -np.pi / 2}), {"bob.omega": 3.0})
    np.testing.assert_allclose(ph.reactions(system, state)["pin"], [0, 2 * (g + 9 * 0.7)], atol=1e-10)


def test_a_mass_driven_round_is_held_by_m_omega2_r():
    system = ph.drive(pendulum(gravity=None), "pin")
    state = ph.set_moving(system, ph.place(system), u={"pin": 5.0})
    np.testing.assert_allclose(ph.reactions(system, state, u={"pin": 5.0})["pin"], [-35, 0, 0], atol=1e-9)


@pytest.mark.parametrize("rate", [None, lambda t: 5.0 + 3.0 * t])
def test_a_mass_driven_faster_and_faster_needs_a_torque(rate):
    system = ph.drive(pendulum(gravity=None), "pin")
    u = {"pin": ph.prescribed_position(lambda t: 5.0 * t + 1.5 * t**2, rate=rate)}
    state = ph.set_moving(system, ph.place(system), u=u)
    inertia = 0.1 + 2 * 0.7**2
    np.testing.assert_allclose(ph.reactions(system, state, u=u)["pin"], [-35, 2 * 0.7 * 3, inertia * 3], atol=1e-6)


def test_a_weld_carries_weight_and_moment():
    stiff = bar(stiffening=False)  # its mass does not come nearer to the wall as it bends
    system = ph.connect({"b": stiff}, joints=[ph.Weld("ground", "b.P", name="wall")], gravity=(0, -g, 0), plane="xy")
    weight = 7800 * 0.02 * 0.01 * 2.0 * g
    at_rest = ph.settle(system, ph.place(system))
    np.testing.assert_allclose(ph.reactions(system, at_rest)["wall"], [0, weight, weight * 1.0], rtol=1e-7, atol=1e-7)


def test_joints_that_repeat_share_what_they_carry():
    block = ph.RigidBody(3.0, np.eye(3), ports={"right": (1.0, 0, 0)}).discretise()
    joints = [ph.Weld("ground", "b.P", name="left"), ph.Weld("ground", "b.right", at=(1, 0, 0), name="right")]
    system = ph.connect({"b": block}, joints=joints, gravity=(-g, 0, 0), plane="xy")
    with warns(ph.errors.RedundancyWarning, "'left'", "'right'", "3 rows"):
        carried = ph.reactions(system, ph.place(system))
    np.testing.assert_allclose(carried["left"] + carried["right"], [3 * g, 0, 0], atol=1e-9)
    np.testing.assert_allclose(carried["left"][0], carried["right"][0], rtol=1e-9)


# --- settled motion --------------------------------------------------------------------------------------------------


def test_a_spinning_beam_settles_to_its_stretch():
    """ρA ω²L³ / 3EA = 5.142857e-4 (L = 10, ω = 6); with the load at the stretched place, tan(kL)/k − L, k² = ρA ω²/EA."""
    beam = ph.Beam(10.0, ph.Section(A=1.0, I=5e-4), ph.Material(E=2.8e7, rho=1.2, nu=0.3)).discretise(8)
    hub = ph.Drive("ground", "b.P", of="pose", name="hub")
    system, u = ph.connect({"b": beam}, joints=[hub], plane="xy"), {"hub": (0.0, 0.0, 6.0)}
    state = ph.settle(system, ph.set_moving(system, ph.place(system), u=u), u=u)
    stretch = state.displacement("b", 1.0)
    k = np.sqrt(1.2 * 36 / 2.8e7)
    assert stretch[0] == pytest.approx(5.142857e-4, rel=1e-4)
    assert stretch[0] == pytest.approx(np.tan(10 * k) / k - 10, rel=1e-6)
    assert abs(stretch[1]) < 1e-12
    assert state["b.omega"] == pytest.approx(6.0)
    mass_and_arm = 12.0 * 5.0 * 36.0
    assert ph.reactions(system, state, u=u)["hub"][0] == pytest.approx(-mass_and_arm, rel=1e-3)


def test_a_settled_motion_does_not_ring():
    from phloat.motion.initial.accelerations import accelerations
    from phloat.motion.inputs.inputs import Inputs

    system = ph.connect({"b": bar()}, joints=[ph.Revolute("ground", "b.P")], gravity=(0, -g, 0), plane="xy")
    moving = ph.set_moving(system, ph.place(system, {"b.theta": 0.3}), {"b.omega": 2.0})
    settled = ph.settle(system, moving)
    where = system.layout["b.eta_dot"]
    before, after = (np.abs(accelerations(system, s, Inputs(system), 0.0)[0][where]).max() for s in (moving, settled))
    assert after < 1e-9 * before
    assert settled["b.theta"] == pytest.approx(0.3, abs=1e-12)
    assert settled["b.omega"] == pytest.approx(2.0, abs=1e-12)


def test_a_bar_that_hangs_settles_to_its_stretch():
    system = ph.connect({"b": bar()}, joints=[ph.Weld("ground", "b.P")], gravity=(g, 0, 0), plane="xy")
    for verb in (ph.settle, ph.equilibrium):
        stretch = verb(system, ph.place(system)).displacement("b", 1.0)
        np.testing.assert_allclose(stretch, [7800 * g * 2.0**2 / (2 * 2e11), 0], rtol=1e-10, atol=1e-15)


# --- equilibrium -----------------------------------------------------------------------------------------------------


def test_a_cantilever_gives_by_F_L3_over_3EI():
    joints = [ph.Weld("ground", "b.P", name="wall"), ph.Force("b.C", along=(0, 1, 0), name="push")]
    system = ph.connect({"b": bar()}, joints=joints, plane="xy")
    EI = 2e11 * 0.02 * 0.01**3 / 12
    for u in ({"b.C": (0, 1e-3, 0)}, {"push": 1e-3}):
        state = ph.equilibrium(system, ph.place(system), u=u)
        assert state.displacement("b", 1.0)[1] == pytest.approx(1e-3 * 8 / (3 * EI), rel=1e-9)
        assert state.stress("b", 0.0)["M_z"] == pytest.approx(2e-3, rel=1e-9)
        along = 1e-3 * (1e-3 * 4 / (2 * EI)) if "b.C" in u else 0.0  # a wrench at a port turns with its section
        np.testing.assert_allclose(
            ph.reactions(system, state, u=u)["wall"], [along, -1e-3, -2e-3], rtol=1e-6, atol=1e-9
        )


@pytest.mark.parametrize("start", [0.0, 1.0, 1.5, -1.5, 3.1])
def test_a_pendulum_ends_below_its_pivot(start):
    system = pendulum()
    angle = ph.equilibrium(system, ph.place(system, {"bob.theta": start}))["bob.theta"]
    assert np.exp(1j * float(angle)) == pytest.approx(-1j, abs=1e-10)


def test_a_pendulum_in_space_ends_below_its_pivot():
    system = pendulum(gravity=(0, 0, -g), plane=None)
    state = ph.equilibrium(system, ph.place(system))
    np.testing.assert_allclose(state.pose("bob").A @ [0.7, 0, 0], [0, 0, -0.7], atol=1e-10)


def test_a_flexible_pendulum_ends_below_its_pivot_and_stretched():
    system = ph.connect({"b": bar()}, joints=[ph.Revolute("ground", "b.P")], gravity=(0, -g, 0), plane="xy")
    state = ph.equilibrium(system, ph.place(system))
    np.testing.assert_allclose(state.position("b", 1.0), [0, -2.0 - 7800 * g * 4 / (2 * 2e11)], atol=1e-10)


def test_a_chain_hangs_in_the_discrete_catenary():
    """Equal links: tan θ_i grows by equal steps from link to link, and joints stand symmetric."""
    links = {
        f"l{i}": ph.RigidBody(1.0, np.eye(3) * 0.01, center=(0.1, 0, 0), ports={"C": (0.2, 0, 0)}).discretise()
        for i in range(8)
    }
    joints = [ph.Revolute("ground", "l0.P"), ph.Revolute("l7.C", "ground", at=(1.0, 0, 0))]
    joints += [ph.Revolute(f"l{i}.C", f"l{i + 1}.P") for i in range(7)]
    system = ph.connect(links, joints=joints, gravity=(0, -g, 0), plane="xy")
    standing = ph.place(system, near={f"l{i}.theta": 1.0 if i < 4 else -1.0 for i in range(8)})
    state = ph.equilibrium(system, standing)  # from an arch that stands
    steps = np.diff([np.tan(float(state[f"l{i}.theta"])) for i in range(8)])
    np.testing.assert_allclose(steps, steps[0], rtol=1e-8)
    assert steps[0] > 0


def test_a_spring_holds_a_pendulum():
    joints = [ph.Revolute("ground", "bob.P", name="pin"), ph.JointSpring("pin", stiffness=10.0)]
    system = ph.connect({"bob": pendulum().bodies["bob"]}, joints=joints, gravity=(0, -g, 0), plane="xy")
    angle = float(ph.equilibrium(system, ph.place(system))["bob.theta"])
    assert 10 * angle + 2 * g * 0.7 * np.cos(angle) == pytest.approx(0.0, abs=1e-9)


def test_a_beam_between_walls_carries_more_than_its_bending():
    """Clamped at both ends, stretched by its own deflection: less than q L⁴/384EI, and tight."""
    joints = [ph.Weld("ground", "b.P"), ph.Weld("ground", "b.C", at=(2.0, 0, 0))]
    system = ph.connect({"b": bar()}, joints=joints, gravity=(0, -g, 0), plane="xy")
    state = ph.equilibrium(system, ph.place(system))
    linear = 7800 * 2e-4 * g * 16 / (384 * 2e11 * 0.02 * 0.01**3 / 12)
    assert 0.9 * linear < -state.displacement("b", 0.5)[1] < linear
    assert state.stress("b", 0.5)["N"] > 0
    np.testing.assert_allclose(ph.settle(system, ph.place(system)).e, state.e, rtol=1e-7, atol=1e-8)


@pytest.mark.filterwarnings("ignore::phloat.errors.LargeDeformationWarning")  # six pieces are few
@pytest.mark.parametrize("n", [6, 12])
def test_a_chain_of_beams_bends_towards_a_half_circle(n):
    """M = π EI / L. A piece of length L/n bends linearly, by the slope ψ, and a weld turns by tan φ = ψ/(1 − ψ²/3); the virtual
    work of the moment is M dφ/dψ on ψ, so ψ = π/n (1 + ψ²/3)/(1 + ψ²/3 + ψ⁴/9): off the circle by (π/n)⁴."""
    piece = ph.Beam(1.0 / n, ph.Rectangle(0.02, 0.002), STEEL).discretise(1)
    joints = [ph.Weld("ground", "b0.P"), *(ph.Weld(f"b{i}.C", f"b{i + 1}.P") for i in range(n - 1))]
    system = ph.connect({f"b{i}": piece for i in range(n)}, joints=joints, plane="xy")
    moment = np.pi * 2e11 * 0.02 * 0.002**3 / 12
    state = ph.equilibrium(system, ph.place(system), u={f"b{n - 1}.C": (0, 0, moment)})
    psi = np.pi / n
    for _ in range(40):
        psi = np.pi / n * (1 + psi**2 / 3) / (1 + psi**2 / 3 + psi**4 / 9)
    assert state[f"b{n - 1}.theta"] == pytest.approx((n - 1) * np.arctan2(psi, 1 - psi**2 / 3), rel=1e-9)
    assert np.linalg.norm(state.position(f"b{n - 1}", 1.0) - [0, 2 / np.pi]) < 0.15 * (np.pi / n) ** 4


def test_what_no_force_moves_stays():
    system = ph.connect({"b": bar()}, plane="xy")
    start = ph.place(system, {"b.r_P": (1.0, 2.0), "b.theta": 0.4})
    np.testing.assert_array_equal(ph.equilibrium(system, start).e, start.e)


def test_locked_and_driven_axes_stay_where_they_stand():
    locked = ph.lock(pendulum(), "pin")
    state = ph.equilibrium(locked, ph.place(locked, {"bob.theta": 0.4}))
    assert state["bob.theta"] == pytest.approx(0.4, abs=1e-12)
    np.testing.assert_allclose(ph.reactions(locked, state)["pin"], [0, 2 * g, 2 * g * 0.7 * np.cos(0.4)], atol=1e-9)


def test_prestress_stays():
    system = ph.connect({"b": bar()}, joints=[ph.Weld("ground", "b.P"), ph.Slide("ground", "b.C")], plane="xy")
    start = ph.place(system)
    N = np.where(np.arange(len(start["b.sigma"])) < 8, 100.0, 0.0)
    body = system.bodies["b"]
    start = start.with_values({"b.sigma": N})
    state = ph.equilibrium(system, start)
    np.testing.assert_allclose(state["b.sigma"] - body.elastic.stress(state["b.eta"]), N, atol=1e-9)
    assert abs(state.stress("b", 0.5)["N"]) < 1e-6  # free to shorten
    assert state.displacement("b", 1.0)[0] == pytest.approx(-100.0 * 2 / (2e11 * 2e-4), rel=1e-8)


@pytest.mark.parametrize("length", [1e-7, 1.0, 1e4])
def test_an_equilibrium_does_not_depend_on_the_unit_of_length(length):
    """Gaps of points are compared with the size of the mechanism, those of directions with one."""
    steel = ph.Material(E=2.1e11, rho=7800.0, nu=0.3)
    section = ph.Rectangle(length / 50, length / 100)
    box = ph.RigidBody(7.8 * length**3, 0.08 * length**5 * np.eye(3)).discretise()
    joints = [ph.Weld("ground", "b.P"), ph.Weld("b.C", "box.P"), ph.Force("box.P", along=(0, 1, 0), name="f")]
    system = ph.connect({"b": ph.Beam(length, section, steel).discretise(4), "box": box}, joints)
    force = 0.03 * steel.E * section.I / length**2
    tip = ph.equilibrium(system, ph.place(system), u={"f": force}).position("b", 1.0) / length
    np.testing.assert_allclose(tip, [0.99994, 0.01, 0.0], atol=1e-6)
    with raises(ph.errors.InputError, "'b.C-box.P'"):
        ph.linearise(system, ph.place(system).with_values({"box.r_P": (1.001 * length, 0, 0)}))


@pytest.mark.parametrize(("part", "side"), [(1.05, 0.0), (5.0, 0.0), (1.01, 1e-3), (1.1, 1e-3)])
def test_a_column_beyond_its_critical_load_is_said_to_be_unstable(part, side):
    steel, section = ph.Material(E=2.1e11, rho=7800.0, nu=0.3), ph.Rectangle(0.02, 0.002)
    push = [ph.Force("b.C", along=along, name=name) for name, along in (("p", (-1, 0, 0)), ("s", (0, 1, 0)))]
    system = ph.connect(
        {"b": ph.Beam(1.0, section, steel).discretise(6)}, [ph.Weld("ground", "b.P"), *push], plane="xy"
    )
    critical = np.pi**2 / 4 * steel.E * section.I
    with warns(ph.errors.UnstableEquilibriumWarning):
        ph.equilibrium(system, ph.place(system), u={"p": part * critical, "s": side})
    ph.equilibrium(system, ph.place(system), u={"p": 0.9 * critical, "s": side})


def test_a_pendulum_exactly_above_its_pivot_is_said_to_be_unstable():
    rod = ph.RigidBody(1.0, np.eye(3) / 12, center=(0.5, 0, 0)).discretise()
    system = ph.connect({"a": rod}, [ph.Revolute("ground", "a.P")], plane="xy", gravity=(0, -9.81, 0))
    with warns(ph.errors.UnstableEquilibriumWarning):
        ph.equilibrium(system, ph.place(system, {"a.theta": np.pi / 2}))
    hanging = ph.equilibrium(system, ph.place(system, {"a.theta": np.pi / 2 - 0.01}))
    np.testing.assert_allclose(hanging["a.theta"], -np.pi / 2, atol=1e-8)
