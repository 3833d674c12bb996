"""Springs, dampers, bushings, forces and loads against what is known by hand."""

import numpy as np
import pytest
from bodies_zoo import STRIP, beam, bodies, random_state, rates, steel

import phloat as ph
from phloat.algebra.cross import rotation
from phloat.system.joint_rows import element_energies
from phloat.system.state import rest_state

BOB = ph.PointMass(2.0).discretise()
BLOCK = ph.RigidBody(2.0, np.diag([0.3, 0.4, 0.5]), ports={"tip": (0.5, 0.0, 0.0)}).discretise()
BOTH = pytest.mark.parametrize("plane", [None, "xy"], ids=["space", "plane"])


def acceleration(system: ph.System, state: ph.State, name: str, **u: float) -> np.ndarray:
    """Rate of a velocity of a system without closed joints."""
    terms = ph.terms(system, state)
    inputs = np.zeros(terms.ports.size)
    for port, value in u.items():
        inputs[terms.ports[port]] = value
    e_dot = np.linalg.solve(terms.E.toarray(), (terms.J - terms.R) @ terms.z + terms.B @ inputs)
    return system.layout.of(e_dot, name)


# --- springs and dampers ---------------------------------------------------------------------------------------------


@BOTH
def test_a_spring_pulls_along_the_line_between_its_ends(plane):
    spring = ph.Spring("ground", "bob.P", at=(1, 1, 0), stiffness=10.0, length=1.0)
    system = ph.connect({"bob": BOB}, joints=[spring], plane=plane)
    state = rest_state(system.bodies).with_values({"bob.r_P": (4, 5, 0)[: 2 if plane else 3]})
    np.testing.assert_allclose(acceleration(system, state, "bob.v_P")[:2], [-12.0, -16.0])  # 10 (5 − 1) / 2 kg
    assert ph.energy(system, state) == pytest.approx(0.5 * 10 * 4**2)


def test_a_spring_turns_a_body_that_it_does_not_hold_at_the_centre():
    system = ph.connect({"b": BLOCK}, joints=[ph.Spring("ground", "b.tip", at=(0.5, 2, 0), stiffness=3.0)])
    state = rest_state(system.bodies)
    np.testing.assert_allclose(acceleration(system, state, "b.v_P"), [0, 3.0, 0], atol=1e-14)  # 3 · 2 N on 2 kg
    np.testing.assert_allclose(acceleration(system, state, "b.omega"), [0, 0, 6.0], atol=1e-14)  # 6 N · 0.5 m / 0.5


def test_a_spring_between_bodies_pulls_both():
    system = ph.connect({"a": BOB, "b": BOB}, joints=[ph.Spring("a.P", "b.P", stiffness=8.0, length=1.0)])
    state = rest_state(system.bodies).with_values({"b.r_P": (3, 0, 0)})
    np.testing.assert_allclose(acceleration(system, state, "a.v_P"), [8, 0, 0])
    np.testing.assert_allclose(acceleration(system, state, "b.v_P"), [-8, 0, 0])


@pytest.mark.parametrize(("x", "force", "stored"), [(2.5, 4.0, 1.0), (4.0, 22.0, 19.0), (1.0, -6.0, 3.0)])
def test_a_table_is_read_between_its_entries_and_beyond(x, force, stored):
    """Length 2: 4 N at 0.5 on the way from 0 to 8 N; 22 N where the last slope goes on; −6 N where the first does."""
    table = {-0.5: -3.0, 0.0: 0.0, 1.0: 8.0, 1.5: 15.0}
    spring = ph.Spring("ground", "bob.P", stiffness=table, length=2.0)
    system = ph.connect({"bob": BOB}, joints=[spring])
    state = rest_state(system.bodies).with_values({"bob.r_P": (x, 0, 0)})
    assert acceleration(system, state, "bob.v_P")[0] == pytest.approx(-force / 2.0)
    assert ph.energy(system, state) == pytest.approx(stored)


def test_a_function_becomes_a_fine_table():
    spring = ph.Spring("ground", "bob.P", stiffness=lambda x: 4 * x**3, over=(-3, 3), length=1.0)
    system = ph.connect({"bob": BOB}, joints=[spring])
    state = rest_state(system.bodies).with_values({"bob.r_P": (0, 2.2, 0)})
    assert ph.energy(system, state) == pytest.approx(1.2**4, rel=1e-5)
    assert acceleration(system, state, "bob.v_P")[1] == pytest.approx(-2 * 1.2**3, rel=1e-5)


@BOTH
@pytest.mark.parametrize(("damping", "force"), [(3.0, 6.0), ({0.0: 0.0, 1.0: 5.0, 3.0: 7.0}, 6.0)])
def test_a_damper_resists_the_rate_of_its_length(plane, damping, force):
    damper = ph.Damper("ground", "bob.P", damping=damping)
    system = ph.connect({"bob": BOB}, joints=[damper], plane=plane)
    n = 2 if plane else 3
    state = rest_state(system.bodies).with_values({"bob.r_P": (3, 4, 0)[:n], "bob.v_P": (2.0, 1.0, 5.0)[:n]})  # 2 m/s
    np.testing.assert_allclose(acceleration(system, state, "bob.v_P")[:2], np.array([-0.6, -0.8]) * force / 2.0)
    assert ph.power_balance(system, state).dissipated == pytest.approx(2.0 * force)


def test_a_hinge_spring_counts_the_turns_of_a_plane():
    joints = [ph.Revolute("ground", "b.P", name="pin"), ph.JointSpring("pin", stiffness=2.0, rest=0.5)]
    system = ph.connect({"b": BLOCK}, joints=joints, plane="xy")
    for angle in (0.7, -2.0, 62.0, -33.0):
        state = ph.place(system, {"pin.angle": angle})
        assert element_energies(system, state)["pin.spring"] == pytest.approx((angle - 0.5) ** 2)
        terms = ph.terms(system, state)
        torque = (terms.J @ terms.z)[system.layout["b.omega"]]
        assert torque == pytest.approx(-2.0 * (angle - 0.5))


def test_a_hinge_spring_turns_both_bodies_of_its_hinge():
    joints = [ph.Revolute("a.tip", "b.P", name="pin"), ph.JointSpring("pin", stiffness=2.0)]
    system = ph.connect({"a": BLOCK, "b": BLOCK}, joints=joints)
    state = ph.place(system, {"pin.angle": 0.4, "a.A_IB": rotation(np.array([0.1, 0.7, -0.3]))})
    terms = ph.terms(system, state)
    force = terms.J @ terms.z
    np.testing.assert_allclose(force[system.layout["b.omega"]], [0, 0, -0.8], atol=1e-14)
    np.testing.assert_allclose(force[system.layout["a.omega"]], [0, 0, 0.8], atol=1e-14)


@pytest.mark.parametrize("written", [("a.P", "b.P"), ("b.P", "a.P")])
def test_a_bushing_resists_small_motion_with_its_six_stiffnesses(written):
    """About a turned pair of bodies: force k_i x_i and torque k_i θ_i in the axes of the first port."""
    k = np.array([50.0, 60.0, 70.0, 3.0, 4.0, 5.0])
    system = ph.connect({"a": BLOCK, "b": BLOCK}, joints=[ph.Bushing(*written, stiffness=k)])
    A, small = rotation(np.array([0.4, -0.8, 0.3])), 1e-6
    first, second = (name.partition(".")[0] for name in written)
    for i in range(6):
        moved = small * np.eye(6)[i]
        state = rest_state(system.bodies).with_values(
            {
                f"{first}.A_IB": A,
                f"{second}.A_IB": A @ rotation(moved[3:]),
                f"{second}.r_P": A @ moved[:3],
            }
        )
        terms = ph.terms(system, state)
        force = terms.J @ terms.z
        wrench = np.concatenate([force[system.layout[f"{second}.{n}"]] for n in ("v_P", "omega")])
        np.testing.assert_allclose(wrench, -k * moved, atol=1e-9 * small * k.max() + 1e-10)
        assert ph.energy(system, state) == pytest.approx(0.5 * k[i] * small**2)


def test_a_bushing_is_relaxed_where_it_is_told():
    turned = np.array([0.2, 0.5, -0.3])
    bushing = ph.Bushing("ground", "b.tip", at=(1, 2, 3), turned=turned, stiffness=(1,) * 6)
    system = ph.connect({"b": BLOCK}, joints=[bushing])
    A = rotation(turned)
    state = rest_state(system.bodies).with_values({"b.A_IB": A, "b.r_P": [1, 2, 3] - A @ [0.5, 0, 0]})
    assert ph.energy(system, state) == pytest.approx(0.0, abs=1e-28)


def test_a_bushing_keeps_the_rows_that_do_something_and_in_a_plane_those_of_the_plane():
    bushing = ph.Bushing("ground", "b.P", stiffness=(1, 2, 3, 4, 5, 6), damping=(0,) * 6)
    flat = ph.connect({"b": BLOCK}, joints=[bushing], plane="xy").elements["ground-b.P.bushing"]
    assert [row.label for row in flat.rows] == ["in plane x", "in plane y", "skew z"]
    assert [law.stiffness for law in flat.laws] == [1.0, 2.0, 6.0]
    few = ph.Bushing("ground", "b.P", stiffness=(0, 2, 0, 0, 0, 0), damping=(0, 0, 0, 0.5, 0, 0), name="few")
    rows = ph.connect({"b": BLOCK}, joints=[few]).elements["few"].rows
    assert [row.label for row in rows] == ["in plane y", "skew x"]


def test_a_bushing_holds_a_point_mass_by_forces_alone():
    bushing = ph.Bushing("ground", "bob.P", stiffness=(1, 2, 3, 0, 0, 0))
    system = ph.connect({"bob": BOB}, joints=[bushing])
    state = rest_state(system.bodies).with_values({"bob.r_P": (1, 1, 1)})
    np.testing.assert_allclose(acceleration(system, state, "bob.v_P"), [-0.5, -1.0, -1.5])


# --- forces, torques, loads ------------------------------------------------------------------------------------------


def test_a_force_pushes_in_the_axes_that_it_is_given_in():
    pushes = [
        ph.Force("b.tip", along=(0, 2, 0), name="inertial"),
        ph.Force("b.tip", along=(0, 2, 0), axes="body", name="body"),
    ]
    system = ph.connect({"b": BLOCK}, joints=pushes)
    state = rest_state(system.bodies).with_values({"b.A_IB": rotation(np.array([0, 0, np.pi / 2]))})
    np.testing.assert_allclose(acceleration(system, state, "b.v_P", inertial=6.0), [3, 0, 0], atol=1e-14)
    np.testing.assert_allclose(acceleration(system, state, "b.omega", inertial=6.0), 0, atol=1e-14)
    np.testing.assert_allclose(acceleration(system, state, "b.v_P", body=6.0), [0, 3, 0], atol=1e-14)
    np.testing.assert_allclose(acceleration(system, state, "b.omega", body=6.0), [0, 0, 6], atol=1e-14)


def test_a_torque_turns_about_the_axis_that_it_is_given():
    turns = [
        ph.Torque("b.tip", about=(3, 0, 0), name="inertial"),
        ph.Torque("b.P", about=(3, 0, 0), axes="body", name="own"),
    ]
    system = ph.connect({"b": BLOCK}, joints=turns)
    state = rest_state(system.bodies).with_values({"b.A_IB": rotation(np.array([0, 0, np.pi / 2]))})
    np.testing.assert_allclose(acceleration(system, state, "b.omega", inertial=2.0), [0, -5, 0], atol=1e-14)
    np.testing.assert_allclose(acceleration(system, state, "b.omega", own=3.0), [10, 0, 0], atol=1e-14)


def static(system: ph.System, name: str, body: str = "b") -> np.ndarray:
    """η under the unit input of a body whose frame is held, linear."""
    state = rest_state(system.bodies)
    column = ph.terms(system, state).B.toarray()[:, system.ports[name]].ravel()
    return np.linalg.solve(system.bodies[body].elastic.K.toarray(), column[system.layout[f"{body}.eta_dot"]])


@BOTH
def test_loads_on_a_cantilever_bend_it_as_the_textbook_says(plane):
    L, EI = 1.3, steel.E * STRIP.I
    loads = [
        ph.Load("b", along=(0, 1, 0), name="uniform"),
        ph.Load("b", along=(0, 1, 0), per_length=lambda s: s, name="rising"),
        ph.Load("b", along=(1, 0, 0), per_length=2.0, axes="body", name="stretching"),
        ph.Force("b.C", along=(0, 1, 0), name="force"),
        ph.Torque("b.C", about=(0, 0, 1), name="torque"),
    ]
    system = ph.connect({"b": beam().discretise(3)}, joints=loads, plane=plane)
    tip = system.bodies["b"].port("C")
    assert (tip.Phi @ static(system, "uniform"))[1] == pytest.approx(L**4 / (8 * EI), rel=1e-9)
    assert (tip.Phi @ static(system, "rising"))[1] == pytest.approx(11 * L**4 / (120 * EI), rel=1e-9)
    assert (tip.Phi @ static(system, "stretching"))[0] == pytest.approx(2 * L**2 / (2 * steel.E * STRIP.A), rel=1e-9)
    assert (tip.Phi @ static(system, "force"))[1] == pytest.approx(L**3 / (3 * EI), rel=1e-9)
    assert (tip.Psi @ static(system, "torque"))[2] == pytest.approx(L / EI, rel=1e-9)


PROFILES = {
    "constant": lambda s: 2.0,
    "rising": lambda s: s,
    "pulling": lambda s: -1 - s**2,
    "both ways, nothing in all": lambda s: 1 - 2 * s,
    "wave": lambda s: np.sin(3 * np.pi * s),
}


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("body", ["beam", "pinned beam", "timoshenko beam", "tapered beam with masses"])
def test_the_resultant_and_the_work_of_a_load_are_those_of_the_integral(profile, body):
    """∫ f d·ẋ ds for a random motion, and force and moment about P, by the trapezoidal rule on 40 000 points."""
    f, L, direction = PROFILES[profile], 1.3, np.array([0.0, 0.6, 0.8])
    system = ph.connect({"b": bodies()[body]}, joints=[ph.Load("b", along=direction, per_length=f, name="load")])
    state = random_state(system, 2)
    pose, shape = state.pose("b"), system.bodies["b"].shape
    s = np.linspace(0, 1, 40_001)
    weight = np.full(len(s), L / (len(s) - 1))
    weight[[0, -1]] /= 2
    force = weight * np.array([f(x) for x in s])
    y = shape.points(s) + (shape.displacement(s) @ pose.eta).reshape(-1, 3)
    v = (pose.v_P + np.cross(pose.omega, y) + (shape.displacement(s) @ pose.rates).reshape(-1, 3)) @ pose.A.T
    terms = ph.terms(system, state)
    column = terms.B.toarray()[:, terms.ports["load"]].ravel()
    d = pose.A.T @ direction
    np.testing.assert_allclose(column[system.layout["b.v_P"]], force.sum() * d, atol=1e-7)
    np.testing.assert_allclose(column[system.layout["b.omega"]], np.cross(force @ y, d), atol=1e-7)
    assert column @ terms.z == pytest.approx(force @ v @ direction, abs=1e-6)


def test_a_load_is_weighted_ports():
    loads = [
        ph.Load("b", along=(0, 1, 0), per_length=lambda s: s, name="one"),
        ph.Load("b", along=(0, 1, 0), per_length=lambda s: 1 - 4 * s, name="two"),
    ]
    system = ph.connect({"b": beam().discretise(4)}, joints=loads)
    ((force, port),) = system.actuators["one"].forces
    assert force == pytest.approx([0, 1.3 / 2, 0])
    np.testing.assert_allclose(port.x, [1.3 * 2 / 3, 0, 0])
    (push, here), (pull, there) = system.actuators["two"].forces
    assert push == pytest.approx([0, 1.3 / 8, 0]) and pull == pytest.approx([0, -1.3 * 9 / 8, 0])
    np.testing.assert_allclose([here.x[0], there.x[0]], [1.3 / 12, 1.3 * 3 / 4])


def test_a_uniform_load_on_a_free_beam_accelerates_it_as_gravity_would():
    fallen = ph.connect({"b": beam().discretise(3)}, gravity=(0, 0, -9.81))
    weight = 9.81 * steel.rho * STRIP.A
    pushed = ph.connect(
        {"b": beam().discretise(3)}, joints=[ph.Load("b", along=(0, 0, -1), per_length=weight, name="w")]
    )
    state = random_state(pushed, 1)
    expected = rates(fallen, state)
    terms = ph.terms(pushed, state)
    force = (terms.J - terms.R) @ terms.z + terms.B.toarray()[:, terms.ports["w"]].ravel()
    np.testing.assert_allclose(np.linalg.solve(terms.E.toarray(), force), expected, rtol=1e-9, atol=1e-6)


# --- linear ----------------------------------------------------------------------------------------------------------


def test_a_linear_system_has_the_inputs_and_dampers():
    joints = [
        ph.Slide("ground", "bob.P", along=(1, 0, 0), name="rail"),
        ph.JointDamper("rail", damping=3.0),
        ph.Force("bob.P", along=(1, 0, 0), name="push"),
        ph.Spring("ground", "bob.P", at=(0, 1, 0), stiffness=0.0),
    ]
    system = ph.connect({"bob": BOB}, joints=joints, plane="xy")
    linear = ph.eliminate(ph.linearise(system, ph.place(system, {})))
    values = ph.response(linear, "push", omega=[2.0]).values
    assert complex(np.squeeze(values)) == pytest.approx(1 / (2.0 * 2.0j + 3.0))  # 1 / (m s + c)


# --- a damper on a ball joint ----------------------------------------------------------------------------------------


BALL = (ph.Spherical("ground", "b.P", name="ball"), ph.JointDamper("ball", damping=0.6))


@pytest.mark.parametrize("plane", [None, "xy"])
def test_a_damped_ball_joint_slows_every_rotation_alike(plane):
    """ω = ω₀ exp(−c t/J) in every direction, and the energy is lost in the damper."""
    system = ph.connect({"b": ph.RigidBody(2.0, 0.3 * np.eye(3)).discretise()}, list(BALL), plane=plane)
    omega = 2.0 if plane else np.array([1.0, 2.0, -3.0])
    result = ph.simulate(system, ph.set_moving(system, ph.place(system), {"b.omega": omega}), 1.0, dt=1e-3)
    np.testing.assert_allclose(result["b.omega"], np.multiply.outer(np.exp(-2.0 * result.t), omega), atol=1e-6)
    ledger = ph.energy_ledger(result)
    assert ledger.relative < 1e-13
    assert np.isclose(ledger.dissipated["ball.damper"][-1], 0.15 * np.sum(omega**2) * (1 - np.exp(-4.0)), rtol=1e-6)
    np.testing.assert_allclose(result["ball.torque"][1:-1], -0.6 * result["ball.omega"][1:-1], atol=1e-5)
    np.testing.assert_allclose(ph.poles(ph.linearise(system, ph.place(system))), -2.0, atol=1e-9)


def test_a_damped_ball_joint_between_free_bodies_keeps_their_angular_momentum():
    """Their relative rotation decays with c (1/J₁ + 1/J₂), where the joint is at both mass centres."""
    bodies = {
        "a": ph.RigidBody(1.0, 0.3 * np.eye(3)).discretise(),
        "b": ph.RigidBody(2.0, 0.1 * np.eye(3)).discretise(),
    }
    system = ph.connect(bodies, [ph.Spherical("a.P", "b.P", name="ball"), ph.JointDamper("ball", damping=0.03)])
    state = ph.set_moving(system, ph.place(system), {"a.omega": (0.3, 0.0, 1.0), "b.omega": (-1.0, 0.5, 0.2)})
    result = ph.simulate(system, state, 2.0, dt=2e-3)
    L = result.angular_momentum
    assert np.abs(L - L[0]).max() < 1e-12
    inertial = np.einsum("tij,tj->ti", result["b.A_IB"], result["b.omega"])
    inertial -= np.einsum("tij,tj->ti", result["a.A_IB"], result["a.omega"])
    rate = 0.03 * (1 / 0.3 + 1 / 0.1)
    np.testing.assert_allclose(inertial, np.multiply.outer(np.exp(-rate * result.t), inertial[0]), atol=2e-6)


@pytest.mark.parametrize(
    "scheme", [ph.RadauIIA(rtol=1e-8), ph.GeneralisedAlpha(rho=1.0)], ids=lambda s: type(s).__name__
)
def test_a_damped_ball_joint_moves_alike_in_every_scheme(scheme):
    link = ph.Beam(0.5, ph.Rectangle(0.02, 0.01), ph.Material(E=2e9, rho=1200.0, nu=0.3)).discretise(1)
    joints = [ph.Spherical("ground", "b.P", name="ball"), ph.JointDamper("ball", damping=0.05)]
    system = ph.connect({"b": link}, joints, gravity=(0.0, -9.81, 0.0))
    start = ph.settle(system, ph.set_moving(system, ph.place(system), {"b.omega": (1.0, 2.0, 3.0)}))
    times = np.linspace(0.0, 0.2, 5)
    reference = ph.simulate(system, start, 0.2, dt=1e-4, output=times)
    other = ph.simulate(system, start, 0.2, dt=2e-4, scheme=scheme, output=times)
    np.testing.assert_allclose(other["b.r_P"], reference["b.r_P"], atol=1e-7)
    np.testing.assert_allclose(other["b.A_IB"], reference["b.A_IB"], atol=1e-5)
