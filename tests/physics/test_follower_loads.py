"""Forces that turn with the section they act on: equilibria, motion and flutter, the same in every frame of the body."""

import numpy as np
import pytest
import scipy.linalg as la
from messages import raises
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, minimize_scalar

import phloat as ph

ONE = ph.Material(E=1.0, rho=1.0, nu=0.3)
STEEL = ph.Material(E=210e9, rho=7800.0, nu=0.3)
TIP = {1.0: ("u_x", "u_y", "u_z", "theta_x", "theta_y", "theta_z")}
FRAMES = ("cantilever", "pinned", TIP)
EI = 1e-6  # beside EA = 1: a slender column of unit length and unit mass
BACK = (-1, 0, 0)
LOADS = {
    "Beck": [ph.Force("b.C", along=BACK, axes="body", name="p")],
    "Leipholz": [ph.Load("b", along=BACK, axes="body", name="p")],
    "Pflüger": [ph.Force("b.C", along=BACK, axes="body", name="p"), ph.Spherical("b.C", "m.P")],
}


def column(kind, frame="cantilever", elements=6, plane="xy"):
    bodies = {"b": ph.Beam(1.0, ph.Section(A=1.0, I=EI, J=2 * EI), ONE, frame=frame).discretise(elements)}
    if kind == "Pflüger":
        bodies["m"] = ph.PointMass(0.5).discretise()
    return ph.connect(bodies, [ph.Weld("ground", "b.P"), *LOADS[kind]], plane=plane)


def linear(system, P):
    u = {"p": P * EI}
    return ph.linearise(system, ph.equilibrium(system, ph.place(system), u=u), u=u)


# --- exact columns: y'''' + N(x) y'' = ω²y, clamped at 0; y'' = 0 and y''' + μω²y = 0 at 1 --------------------------------


def determinant(kind, P, squared):
    """Zero at the squared frequencies; of solutions that start with y'' or y''' one."""
    thrust = (lambda x: P * (1 - x)) if kind == "Leipholz" else (lambda x: P)
    mass = 0.5 if kind == "Pflüger" else 0.0
    ends = []
    for start in ((0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0)):
        rates = lambda x, y: (y[1], y[2], y[3], squared * y[0] - thrust(x) * y[2])  # noqa: E731
        y = solve_ivp(rates, (0, 1), start, rtol=1e-10, atol=1e-12).y[:, -1]
        ends.append((y[2], y[3] + mass * squared * y[0]))
    return ends[0][0] * ends[1][1] - ends[0][1] * ends[1][0]


def flutter_load(kind, low, high, squares):
    """The largest P at which two frequencies are real: the top of the curve P(ω²)."""
    load = lambda squared: brentq(lambda P: determinant(kind, P, squared), low, high, xtol=1e-9)  # noqa: E731
    return -minimize_scalar(lambda squared: -load(squared), bounds=squares, method="bounded").fun


def test_beck_determinant_is_the_known_one():
    """P² + 2ω²(1 + cosh a cos b) + P ω sinh a sin b = 0; the first frequency at P = 1 is 3.641."""
    P, omega = 1.0, 3.641
    a, b = (np.sqrt(np.sqrt(P**2 / 4 + omega**2) + sign * P / 2) for sign in (-1, 1))
    known = P**2 + 2 * omega**2 * (1 + np.cosh(a) * np.cos(b)) + P * omega * np.sinh(a) * np.sin(b)
    slope = (determinant("Beck", P, 13.3) - determinant("Beck", P, 13.2)) / 0.1
    assert abs(known) < 0.02
    assert abs(determinant("Beck", P, omega**2) / slope) < 5e-3


@pytest.mark.parametrize("frame", FRAMES, ids=["cantilever", "pinned", "tip"])
@pytest.mark.parametrize("kind", LOADS)
def test_frequencies_of_columns_under_follower_loads(kind, frame):
    """At P = 1 EI/L² Beck's first frequency was 2.754, 3.419 or refused in three frames; it is 3.641 in all of them."""
    found = linear(column(kind, frame), 1.0)
    guess = {"Beck": 13.26, "Leipholz": 12.80, "Pflüger": 4.3}[kind]
    exact = np.sqrt(brentq(lambda squared: determinant(kind, 1.0, squared), 0.9 * guess, 1.1 * guess))
    omega, poles = ph.modes(found).omega / np.sqrt(EI), ph.poles(found) / np.sqrt(EI)
    assert omega[0] == pytest.approx(exact, rel=1e-4)
    assert poles[0] == pytest.approx(1j * exact, rel=1e-4)
    assert len(poles) == len(ph.poles(linear(column(kind), 1.0)))  # no pole more in any frame
    if kind == "Beck":
        assert omega[0] == pytest.approx(3.6413, abs=2e-4)


@pytest.mark.parametrize("kind, load", [("Beck", 20.0509), ("Leipholz", 40.0537), ("Pflüger", 16.1)])
def test_flutter_loads(kind, load):
    """Beck flutters at 20.05 EI/L², Leipholz at 40.05 EI/L³, and Pflüger (half the column's mass at its tip) as the ODE says."""
    squares = {"Beck": (100, 150), "Leipholz": (100, 150), "Pflüger": (40, 65)}[kind]
    exact = flutter_load(kind, 0.5 * load, 1.02 * load, squares)
    assert exact == pytest.approx(load, abs=0.1 if kind == "Pflüger" else 2e-3)
    system = column(kind, "pinned", 8)
    for P, grows in ((0.998 * exact, False), (1.002 * exact, True)):
        modes = ph.modes(linear(system, P))
        assert (modes.growth[:4].max() > 1e-2 * np.sqrt(EI)) == grows
        assert (ph.poles(modes.system).real.max() > 1e-2 * np.sqrt(EI)) == grows


def test_beck_in_space_bends_both_ways():
    """Both planes at once: frequencies and their number as in the plane, twice."""
    in_plane, in_space = (ph.modes(linear(column("Beck", "pinned", plane=plane), 5.0)).omega for plane in ("xy", None))
    bending = in_space[np.abs(in_space[:, None] - in_plane[:2]).min(axis=1) < 1e-5 * in_plane[1]]
    np.testing.assert_allclose(bending, np.repeat(in_plane[:2], 2), rtol=1e-5)


def test_a_follower_load_is_no_energy():
    """The linear system says that it is not passive, and what needs passivity names the load."""
    found = linear(column("Beck"), 3.0)
    assert found.circulatory and not found.passive
    assert found.followers == ("p",)
    for verb in (
        lambda: ph.reduction.reduce_to_tolerance(found, band=(1e-3, 1e-2)),
        lambda: ph.reduction.project(found, ph.reduction.modal_basis(found, count=2)),
        lambda: ph.ports_report(found, "b.C"),
        lambda: ph.control.passivity_certificate(found),
    ):
        with raises(ph.errors.InputError, "'p'"):
            verb()


@pytest.mark.filterwarnings("ignore::phloat.errors.LargeDeformationWarning")  # far, for the order
def test_response_and_motion_of_the_linear_system_agree_with_its_matrices():
    """response is Bᵀ(sE − J − N)⁻¹B, and a linear run of a growing column grows as its pole says."""
    found = ph.eliminate(linear(column("Beck", "pinned", 4), 24.0))
    tip = found.with_ports("b.C")
    s = 1j * 0.01
    A = (found.J - found.R + found.nonconservative).toarray()
    exact = tip.B.toarray().T @ la.solve(s * found.E.toarray() - A, tip.B.toarray())
    np.testing.assert_allclose(
        ph.response(tip, "b.C", omega=np.array([0.01])).values[0], exact, rtol=1e-8, atol=1e-9 * np.abs(exact).max()
    )
    growing = max(ph.poles(found), key=lambda pole: pole.real)
    period = 2 * np.pi / growing.imag
    run = ph.simulate(tip, None, 12 * period, dt=period / 200, u={"b.C": lambda t: (0, 1e-9 * (t < period), 0)})
    moved = np.linalg.norm(np.array(run.y["b.C"])[:, :2], axis=1)
    last, before = (moved[(run.t > k * period) & (run.t <= (k + 1) * period)].max() for k in (11, 8))
    assert np.log(last / before) / (3 * period) == pytest.approx(growing.real, rel=0.02)
    assert np.abs(run.residual).max() < 1e-9 * run.energy.max()


# --- equilibrium and motion --------------------------------------------------------------------------------------------------


def elastica(F):
    """The tip of a cantilever of EI = L = 1 under F across its tip section: EI φ'' = −F cos φ from the tip, where φ = φ' = 0."""
    rates = lambda x, y: (-y[1], F * np.cos(y[0]), np.cos(y[0]), np.sin(y[0]))  # noqa: E731
    phi, _, X, Y = solve_ivp(rates, (0, 1), (0.0, 0.0, 0.0, 0.0), rtol=1e-12, atol=1e-13).y[:, -1]
    c, s = np.cos(-phi), np.sin(-phi)
    return np.array([c * X - s * Y, s * X + c * Y])


@pytest.mark.filterwarnings("ignore::phloat.errors.LargeDeformationWarning")  # far, for the order
@pytest.mark.parametrize(
    "frame, order", [(FRAMES[0], 2.8), (FRAMES[1], 3.8), (TIP, 2.5)], ids=["cantilever", "pinned", "tip"]
)
@pytest.mark.parametrize("F", [0.1, 1.0])
def test_equilibrium_under_a_follower_force_is_the_elastica(F, frame, order):
    """Deflections of 0.033 and 0.32 lengths, by 2, 4 and 8 pieces: the error falls with order 3 (pinned frames: 4)."""
    errors = []
    for pieces in (2, 4, 8):
        beam = ph.Beam(1.0, ph.Section(A=1.0, I=1e-8), ONE, frame=frame).split(pieces).discretise(2)
        force = ph.Force("b.C", along=(0, 1, 0), axes="body", name="p")
        system = ph.connect({"b": beam}, [ph.Weld("ground", "b.P"), force], plane="xy")
        state = ph.equilibrium(system, ph.place(system), u={"p": F * 1e-8})
        errors.append(np.linalg.norm(state.position("b", 1.0) - elastica(F)))
    assert errors[-1] < 1e-4
    assert np.all(np.log2(np.divide(errors[:-1], errors[1:])) > order)


def test_root_reaction_of_one_cantilever_is_one_number():
    """0.3 m × 20 × 1 mm of steel, 1.1667 N across its tip: the root reaction along x was 0, 0.116 and 0.174 N in three frames."""
    found = []
    for frame in FRAMES:
        beam = ph.Beam(0.3, ph.Rectangle(0.02, 0.001), STEEL, frame=frame).split(4).discretise(2)
        push = ph.Force("b.C", along=(0, 1, 0), axes="body", name="push")
        system = ph.connect({"b": beam}, [ph.Weld("ground", "b.P"), push], plane="xy")
        u = {"push": 1.1667}
        found.append(ph.reactions(system, ph.settle(system, ph.place(system), u=u), u=u)["ground-b.P"])
    np.testing.assert_allclose(found[1:], [found[0]] * 2, rtol=2e-3)
    assert found[0][0] == pytest.approx(0.1743, rel=2e-3)


@pytest.mark.parametrize("kind", ["force", "wrench", "load", "torque"])
def test_motion_under_follower_loads_is_the_same_in_every_frame(kind):
    """A steel strip pushed from rest: frames differ by squares of its rotation, and less with each cut into pieces."""
    loads = {
        "force": ph.Force("b.C", along=(0, 1, 0), axes="body", name="p"),
        "torque": ph.Torque("b.C", about=(0, 0, 1), axes="body", name="p"),
        "load": ph.Load("b", along=(0, 1, 0), axes="body", name="p"),
    }
    size = {"force": 1.0, "torque": 0.2, "load": 5.0, "wrench": (0.0, 1.0, 0.0)}[kind]
    apart = []
    for pieces in (1, 2):
        ends = []
        for frame in ("cantilever", "pinned"):
            beam = ph.Beam(0.3, ph.Rectangle(0.02, 0.001), STEEL, frame=frame)
            if pieces > 1 and kind == "load":
                break
            body = beam.discretise(4) if pieces == 1 else beam.split(pieces).discretise(2)
            joints = [ph.Weld("ground", "b.P"), *([loads[kind]] if kind in loads else [])]
            system = ph.connect({"b": body}, joints, plane="xy")
            port = "p" if kind in loads else next(name for name in system.ports if name.endswith(".C"))
            run = ph.simulate(system, ph.place(system), 0.02, dt=5e-4, u={port: size})
            ends.append(run.state(-1).position("b", 1.0))
            assert ph.energy_ledger(run).relative < 1e-12
        if len(ends) == 2:
            apart.append(np.linalg.norm(ends[0] - ends[1]) / np.abs(ends[0][1]))
    assert max(apart) < 1e-2
    if kind in ("force", "wrench"):
        assert apart[1] < 0.3 * apart[0]


def test_a_thrust_has_the_length_that_was_given():
    """A free bending rod with a thrust at its end: each step changes the momentum by h F along the section, whatever bends."""
    rod = ph.Beam(1.0, ph.Rectangle(0.02, 0.005), STEEL, frame="pinned").discretise(4)
    push = ph.Force("rod.C", along=(1, 1, 0.5), axes="body", name="p")
    system = ph.connect({"rod": rod}, [push])
    run = ph.simulate(system, ph.place(system), 0.1, dt=1e-3, u={"p": 40.0})
    momentum = []
    for k in range(len(run)):
        pose = run.state(k).pose("rod")
        momentum.append(pose.A @ (rod.inertia.at(pose.eta).M[:3] @ np.concatenate([pose.v_P, pose.omega, pose.rates])))
    steps = np.linalg.norm(np.diff(momentum, axis=0), axis=1)
    np.testing.assert_allclose(steps, 1e-3 * 40.0, rtol=1e-9)
    assert np.abs(run["rod.eta"]).max() > 1e-3


@pytest.mark.parametrize("kind", ["force", "torque", "load", "wrench"])
@pytest.mark.parametrize("seed", range(3))
def test_frames_agree_in_space_to_the_cube_of_the_load(kind, seed):
    """Random sections, directions and frames: root reactions under half the load differ by an eighth (forces along a wrong
    direction, as those of the floating frame, by a quarter)."""
    rng = np.random.default_rng([seed, len(kind)])
    b, h = rng.uniform(0.001, 0.003, 2)
    along = rng.normal(size=3)
    push = {
        "force": [ph.Force("b.C", along=along, axes="body", name="p")],
        "torque": [ph.Torque("b.C", about=along, axes="body", name="p")],
        "load": [ph.Load("b", along=along, per_length=lambda s: 1 + s, axes="body", name="p")],
        "wrench": [],
    }[kind]
    size = {"force": 1.0, "torque": 0.25, "load": 2.0, "wrench": 1.0}[kind] * (b * h) * min(b, h) * 4e7
    apart = []
    for part in (1.0, 0.5):
        found = []
        for frame in FRAMES:
            beam = ph.Beam(0.3, ph.Rectangle(b, h), STEEL, frame=frame).discretise(3)
            system = ph.connect({"b": beam}, [ph.Weld("ground", "b.P"), *push])
            u = {"p": part * size} if push else {"b.C": part * size * np.concatenate([along, 0.2 * along[::-1]])}
            found.append(ph.reactions(system, ph.equilibrium(system, ph.place(system), u=u), u=u)["ground-b.P"])
        apart.append(np.ptp(found, axis=0).max())
    assert apart[0] > 6.0 * apart[1]
    assert apart[0] < 0.02 * np.abs(found[0]).max()


def test_a_torque_about_a_hinge_has_a_potential():
    """A torque about an axis fixed in space may have none, but on an arm that turns about that axis only it has."""
    hinge = [ph.Revolute("ground", "b.P", axis=(0, 1, 2), name="j"), ph.JointSpring("j", stiffness=50.0)]
    torque = ph.Torque("b.C", about=(0, 1, 2), name="t")
    bodies = {"b": ph.RigidBody(1.0, np.eye(3), ports={"C": (1, 0, 0)}).discretise()}
    arm = ph.connect(bodies, [*hinge, torque])
    u = {"t": 3.0}
    held = ph.linearise(arm, ph.equilibrium(arm, ph.place(arm), u=u), u=u)
    assert held.passive and not held.circulatory
    assert ph.modes(held).omega[0] == pytest.approx(np.sqrt(50.0), rel=1e-9)


def test_a_torque_about_a_fixed_axis_on_a_ball_joint_has_none():
    """J δφ̈ + k δφ − ½ τ × δφ = 0 in a plane normal to τ: s² = (−k ± iτ/2)/J, which grows without damping."""
    bushing = ph.Bushing("ground", "b.P", stiffness=(1e4, 1e4, 1e4, 30.0, 30.0, 300.0))
    body = ph.RigidBody(1.0, np.diag([2.0, 2.0, 1.0])).discretise()
    top = ph.connect({"b": body}, [bushing, ph.Spherical("ground", "b.P"), ph.Torque("b.P", about=(0, 0, 1), name="t")])
    u = {"t": 0.3}
    found = ph.linearise(top, ph.equilibrium(top, ph.place(top), u=u), u=u)
    assert found.followers == ("t",)
    assert ph.modes(found).growth.max() == pytest.approx(np.imag(np.sqrt((30.0 + 0.15j) / 2)), rel=0.05)
