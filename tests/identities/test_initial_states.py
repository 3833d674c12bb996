"""Initial states satisfy their own equations, whatever the system."""

import numpy as np
import pytest
from bodies_zoo import Cloud, beam, bodies, random_state

import phloat as ph
from phloat.algebra.cross import cross
from phloat.motion.initial.accelerations import accelerations, convective
from phloat.motion.initial.equilibrium import balance_point
from phloat.motion.initial.statics import statics
from phloat.motion.initial.velocities import mass, rigid_columns, velocity_indices, velocity_rows
from phloat.motion.inputs.inputs import Inputs

SEEDS = (0, 1)


def block(**ports) -> ph.Body:
    J = np.array([[0.4, 0.05, 0.02], [0.05, 0.5, -0.03], [0.02, -0.03, 0.6]])
    return ph.RigidBody(2.5, J, center=(0.1, -0.2, 0.3), ports=ports).discretise()


def chain(joint, plane=None, **options) -> ph.System:
    """A beam on a pin, a rigid body on the beam by the given joint, a driven point at its end where that leaves it free."""
    joints = [ph.Revolute("ground", "a.P", name="motor"), joint("a.C", "b.P", name="middle", **options)]
    return ph.connect(
        {"a": beam().discretise(2), "b": block(tip=(0.5, 0.2, 0.0))}, joints=joints, plane=plane, gravity=(0, -9.81, 0)
    )


SYSTEMS = {
    "revolute": chain(ph.Revolute, axis=(0.6, 0, 0.8)),
    "revolute in the plane": chain(ph.Revolute, "xy"),
    "weld": chain(ph.Weld),
    "spherical": chain(ph.Spherical),
    "universal": chain(ph.Universal),
    "cylindrical": chain(ph.Cylindrical, axis=(1, 0, 0)),
    "prismatic": chain(ph.Prismatic, axis=(0, 1, 0)),
    "prismatic in the plane": chain(ph.Prismatic, "xy", axis=(0, 1, 0)),
    "planar": chain(ph.Planar),
    "slide": chain(ph.Slide),
    "driven": ph.drive(chain(ph.Revolute, axis=(0.6, 0, 0.8)), "motor"),
    "driven ball": ph.drive(chain(ph.Spherical), "middle"),
    "driven frame": ph.connect(
        {"a": beam().discretise(2)}, joints=[ph.Drive("ground", "a.C", of="pose", name="hand")], gravity=(0, 0, -9.81)
    ),
}


def bent(system: ph.System, seed: int) -> ph.State:
    """A closed state with beams bent a little."""
    rng = np.random.default_rng(seed)
    names = [name for name in system.layout if name.endswith(".eta")]
    return ph.place(system, {name: 0.01 * rng.normal(size=system.layout.shape(name)) for name in names})


def inputs(system: ph.System, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=system.ports.shape(name)) for name in system.ports}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", SYSTEMS)
def test_velocities_satisfy_joints_and_drives_with_least_energy(name, seed):
    system, u = SYSTEMS[name], inputs(SYSTEMS[name], seed)
    state = ph.set_moving(system, bent(system, seed), u=u)
    G, B_lam = velocity_rows(system, state)
    w, rigid = state.e[velocity_indices(system)], rigid_columns(system)
    np.testing.assert_allclose(G @ w, B_lam @ Inputs(system, u).at(0.0), atol=1e-11)
    assert not w[~rigid].any()
    left = (mass(system, state) @ w)[rigid]  # M w = Gᵀμ for the rigid ones
    G_r = G[:, rigid].toarray()
    mu = np.linalg.lstsq(G_r.T, left, rcond=None)[0]
    np.testing.assert_allclose(G_r.T @ mu, left, atol=1e-9)


def test_what_is_given_is_held_to_the_last_bit():
    system = SYSTEMS["spherical"]
    rng = np.random.default_rng(3)
    given = {"b.omega": rng.normal(size=3), "a.eta_dot": rng.normal(size=system.layout.shape("a.eta_dot"))}
    state = ph.set_moving(system, bent(system, 3), {**given, "motor.angle_rate": 0.3})
    for name, value in given.items():
        np.testing.assert_array_equal(state[name], value)
    G, _ = velocity_rows(system, state)
    np.testing.assert_allclose(G @ state.e[velocity_indices(system)], 0, atol=1e-11)


@pytest.mark.parametrize("name", SYSTEMS)
def test_accelerations_keep_the_joints_and_the_balance(name):
    """ė by differences of the velocities that a drive prescribes: G ẇ + Ġ w = B_λ u̇ + Ḃ_λ u, and E ė = …"""
    system, u = SYSTEMS[name], inputs(SYSTEMS[name], 5)
    state = ph.set_moving(system, bent(system, 5), u=u)
    e_dot, lam = accelerations(system, state, Inputs(system, u), 0.0)
    at = ph.terms(system, state)
    right = (at.J - at.R) @ at.z + at.G.T @ lam + at.B @ Inputs(system, u).at(0.0)
    size = abs(at.J) @ np.abs(at.z) + abs(at.G).T @ np.abs(lam)
    np.testing.assert_allclose(at.E @ e_dot, right, atol=1e-10 * size.max())
    h = 1e-5
    moved = [state.e + s * h * e_dot for s in (-1, 1)]  # to first order, so the rates of G w − B_λ u vanish as h²
    miss = []
    for e in moved:
        there = ph.State(state.bodies, state.layout, e)
        G, B_lam = velocity_rows(system, there)
        miss.append(G @ e[velocity_indices(system)] - B_lam @ Inputs(system, u).at(0.0))
    rate = (miss[1] - miss[0]) / (2 * h)
    np.testing.assert_allclose(rate, 0, atol=1e-5 * max(1.0, np.abs(e_dot[velocity_indices(system)]).max()))


def test_the_convective_part_of_joints_is_that_of_calculus():
    """c̈ = A (ω × (v + ω × y + 2 Φη̇)) and d̈ = A (ω × (ω × b + 2 ḃ) + b̈) at ẇ = 0, b̈ = ⅔ ψ̇ × (ψ̇ × d₀), to 1e-11."""
    body = Cloud(4).discretise()
    system = ph.connect({"c": body}, joints=[ph.Revolute("ground", "c.C", name="pin")])
    for seed in range(5):
        state = random_state(system, seed)
        pose, port = state.pose("c"), body.port("C")
        slide, turn = port.Phi @ pose.rates, port.Psi @ pose.rates
        y, psi, omega = port.x + port.Phi @ pose.eta, port.Psi @ pose.eta, pose.omega
        point_rate = pose.A @ cross(omega, pose.v_P + cross(omega, y) + 2 * slide)
        d0 = system.joints["pin"].second.triad[:, 2]
        bent_d = d0 + cross(psi, d0) + cross(psi, cross(psi, d0)) / 3
        bent_rate = cross(turn, d0) + (cross(turn, cross(psi, d0)) + cross(psi, cross(turn, d0))) / 3
        bent_again = 2 / 3 * cross(turn, cross(turn, d0))
        axis_rate = pose.A @ (cross(omega, cross(omega, bent_d) + 2 * bent_rate) + bent_again)
        triad = system.joints["pin"].first.triad
        exact = np.concatenate([point_rate, [triad[:, 0] @ axis_rate, triad[:, 1] @ axis_rate]])
        found = convective(system, state, np.zeros(system.ports.size))
        np.testing.assert_allclose(found, -exact, rtol=1e-11, atol=1e-11 * np.abs(exact).max())


def test_stiffness_is_the_derivative_of_the_forces():
    rng = np.random.default_rng(0)
    joints = [
        ph.Revolute("ground", "a.P", name="pin"),
        ph.Weld("a.C", "r.P"),
        ph.Revolute("r.tip", "c.P", axis=(0, 1, 0), name="elbow"),
        ph.Spring("ground", "c.C", at=(1, 2, 3), stiffness=100.0, length=0.2),
        ph.JointSpring("elbow", stiffness=30.0),
        ph.Bushing("ground", "r.tip", stiffness=(10.0, 20.0, 30.0, 4.0, 5.0, 6.0)),
        ph.Force("a.C", along=(0, 0, 1), name="push"),
        ph.Torque("c.C", about=(0, 1, 1), axes="body", name="twist"),
        ph.Spherical("ground", "c.C", name="ball"),
    ]
    zoo = {"a": beam().discretise(2), "r": block(tip=(0.5, 0.2, -0.1)), "c": Cloud(3).discretise()}
    system = ph.connect(zoo, joints=joints, gravity=(1, 2, 3))
    task = statics(system, random_state(system, 1), 10 * rng.normal(size=system.ports.size))
    lam = 10 * rng.normal(size=system.multipliers.size)

    def force(step):
        at = task.balance(task.displace(task.start, step))
        return at.f + at.G.T @ lam

    K, h = task.stiffness(task.start, lam).toarray(), 1e-6
    differences = np.array([(force(-h * unit) - force(h * unit)) / (2 * h) for unit in np.eye(len(K))]).T
    scale = np.sqrt(np.abs(np.diag(K)) + 1)
    assert np.abs((K - differences) / np.outer(scale, scale)).max() < 1e-6


@pytest.mark.parametrize("name", ["beam", "timoshenko beam", "tapered beam with masses", "cloud of masses"])
def test_an_equilibrium_balances_all_forces(name):
    body, part = (
        bodies()[name],
        0.1 if name == "cloud of masses" else 1.0,
    )  # more would deflect the cloud beyond its size
    joints = [
        ph.Spherical("ground", "b.P", name="ball"),
        ph.Spring("ground", "b.C", at=(2, 1, 0), stiffness=3000.0 * part, length=0.5),
    ]
    system = ph.connect({"b": body}, joints=joints, gravity=(0, 0, -9.81 * part))
    state = ph.equilibrium(system, ph.place(system))
    at = ph.terms(system, state)
    where = velocity_indices(system)
    force, G = (at.J @ at.z)[where], at.G[:, where].toarray()
    lam = np.linalg.lstsq(G.T, -force, rcond=None)[0]
    size = (abs(at.J) @ np.abs(at.z))[where] + np.abs(G.T) @ np.abs(lam)
    np.testing.assert_allclose(force + G.T @ lam, 0, atol=1e-8 * size.max())
    assert max(np.abs(gap).max() for gap in ph.gaps(system, state).values()) < 1e-12
    assert balance_point(statics(system, state, np.zeros(system.ports.size)), state).residual < 1e-8
    np.testing.assert_allclose(state["b.sigma"], body.elastic.stress(state["b.eta"]), rtol=1e-12)


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_settled_state_has_no_deformation_rates_to_speak_of(name):
    """η̈ = 0 with λ, a from the full equations: the residual of `settle` seen by another solver."""
    system = SYSTEMS[name]
    drives = {n: 0.3 * v for n, v in inputs(system, 7).items() if n in system.joints and system.joints[n].driven}
    start = ph.place(system)
    state = ph.settle(
        system, ph.set_moving(system, start, {} if drives else {"motor.angle_rate": 2.0}, u=drives), u=drives
    )
    G, B_lam = velocity_rows(system, state)
    np.testing.assert_allclose(
        G @ state.e[velocity_indices(system)], B_lam @ Inputs(system, drives).at(0.0), atol=1e-10
    )
    assert max((np.abs(gap).max() for gap in ph.gaps(system, state).values()), default=0.0) < 1e-11
    before, after = (
        np.abs(accelerations(system, s, Inputs(system, drives), 0.0)[0][system.layout["a.eta_dot"]]).max()
        for s in (ph.set_moving(system, start, u=drives), state)
    )
    assert not state["a.eta_dot"].any()
    assert after < 1e-6 * max(before, 1.0)
