"""Generalised-α, Radau IIA and IDA: answers known from elsewhere, and the default scheme's with a small step."""

import warnings

import numpy as np
import pytest

import phloat as ph
from phloat.algebra.cross import rotation

ALPHA, RADAU, IDA = ph.GeneralisedAlpha(0.9), ph.RadauIIA(), ph.IDA()
FINE = ph.IDA(1e-7, 1e-9)  # energy over a whole turn: 5e-7 is lost; with the default tolerances 2.3e-5 in 1e5 steps
ALU = ph.Material(E=7.1016e10, rho=2714.4716, nu=0.33)


def run(system, state, t_end, scheme, dt, **more):
    return ph.simulate(
        system, state, t_end, scheme=scheme, dt=dt if isinstance(scheme, ph.GeneralisedAlpha) else None, **more
    )


# --- numbers from elsewhere ------------------------------------------------------------------------------------------


def pendulum():
    """A rigid body that swings as a point mass of 1 kg on 1 m does: J_P = m c l."""
    body = ph.RigidBody(mass=1.0, inertia=np.diag([0.25] * 3), center=(0.5, 0, 0)).discretise()
    system = ph.connect(
        {"bob": body}, joints=[ph.Revolute("ground", "bob.P", name="hinge")], plane="xy", gravity=(0, -9.81, 0)
    )
    return system, ph.place(system, {"bob.theta": np.pi})


@pytest.mark.parametrize(
    ("scheme", "near", "far"),
    [(ph.GeneralisedAlpha(), 1e-4, 1e-2), (RADAU, 2e-7, 2e-5), (IDA, 2e-5, 2e-3), (ph.IDA(1e-8, 1e-10), 2e-6, 2e-5)],
)
def test_a_pendulum_from_the_horizontal_is_where_elliptic_functions_say(scheme, near, far):
    system, state = pendulum()
    result = run(system, state, 10.0, scheme, 4e-3, output=[1.0, 10.0])
    there = np.stack([np.cos(result["bob.theta"]), np.sin(result["bob.theta"])], axis=1)
    assert np.abs(there[0] - (0.9862917511, -0.1650108531)).max() < near
    assert np.abs(there[1] - (-0.2750874626, -0.9614192051)).max() < far


@pytest.mark.parametrize(
    ("scheme", "tolerance"), [(ALPHA, 8e-3), (RADAU, 2e-6), (IDA, 2e-4), (ph.IDA(1e-8, 1e-10), 3e-6)]
)
def test_the_heavy_top_is_where_the_benchmark_says(scheme, tolerance):
    body = ph.RigidBody(mass=15.0, inertia=np.diag([0.234375, 0.46875, 0.234375]), center=(0, 1, 0)).discretise()
    top = ph.connect({"top": body}, joints=[ph.Spherical("ground", "top.P")], gravity=(0, 0, -9.81))
    state = ph.set_moving(top, ph.place(top, {}), {"top.omega": (0.0, 150.0, -4.61538)})
    result = run(top, state, 1.0, scheme, 1e-3, output=[0.5, 1.0])
    wanted = (0.17334396, 0.64008859, -0.74849079)
    assert np.abs(result.position("top", at=(0, 1, 0))[-1] - wanted).max() < tolerance
    A = result["top.A_IB"]
    assert np.abs(A.transpose(0, 2, 1) @ A - np.eye(3)).max() < 1e-14


# --- the spectral radius of generalised-α ----------------------------------------------------------------------------


def oscillator(stiffness):
    body = ph.RigidBody(mass=1.0, inertia=np.eye(3)).discretise()
    joints = [ph.Prismatic("ground", "m.P", axis=(1, 0, 0), name="way"), ph.JointSpring("way", stiffness=stiffness)]
    system = ph.connect({"m": body}, joints=joints, plane="xy")
    return system, ph.place(system, {"m.r_P": (1.0, 0.0)})


def formula(rho, Omega):
    """The eigenvalues of (x, hv, h²a) ↦ … for ẍ = −ω²x with Ω = hω, from the definition of the scheme."""
    alpha_m, alpha_f = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
    gamma = 0.5 + alpha_f - alpha_m
    beta = 0.25 * (gamma + 0.5) ** 2
    # unknowns (x₁, hv₁, h²a₁); h²v̇ = −Ω²x
    left = np.array([[1, 0, -beta], [0, 1, -gamma], [(1 - alpha_f) * Omega**2, 0, 1 - alpha_m]])
    right = np.array([[1, 1, 0.5 - beta], [0, 1, 1 - gamma], [-alpha_f * Omega**2, 0, -alpha_m]])
    return np.linalg.eigvals(np.linalg.solve(left, right))


@pytest.mark.parametrize("rho", [0.3, 0.8, 1.0])
@pytest.mark.parametrize("Omega", [0.3, 2.0, 30.0])
def test_generalised_alpha_obeys_the_characteristic_polynomial_of_its_formula(rho, Omega):
    h = 1e-3
    system, state = oscillator((Omega / h) ** 2)
    x = ph.simulate(system, state, 12 * h, dt=h, scheme=ph.GeneralisedAlpha(rho))["m.r_P"][:, 0]
    history = np.stack([x[3:], x[2:-1], x[1:-2], x[:-3]], axis=1)
    size = np.abs(history).max(axis=1)
    assert np.abs(history @ np.poly(formula(rho, Omega)) / size).max() < 1e-7
    if Omega > 1.0:  # slow motion looks the same for every ρ
        assert np.abs(history @ np.poly(formula(rho - 0.01, Omega)) / size).max() > 1e-5


@pytest.mark.parametrize(("rho", "Omega"), [(0.8, 2.0), (0.9, 30.0)])
def test_generalised_alpha_decays_by_the_spectral_radius_of_its_formula(rho, Omega):
    h, values = 1e-3, formula(rho, Omega)
    system, state = oscillator((Omega / h) ** 2)
    x = ph.simulate(system, state, 0.2, dt=h, scheme=ph.GeneralisedAlpha(rho))["m.r_P"][:, 0]
    # x = Σ c_k μ_kⁿ with the roots μ of the formula: fitted to the first half, found again in the second
    powers = values[None, :] ** np.arange(len(x))[:, None]
    c = np.linalg.lstsq(powers[:50], x[:50].astype(complex), rcond=None)[0]
    late = np.abs(x[50:100]).max()
    assert np.abs((powers @ c).real[50:100] - x[50:100]).max() < 1e-2 * late
    measured = (np.abs(x[150:]).max() / np.abs(x[50:100]).max()) ** 0.01
    assert measured == pytest.approx(np.abs(values).max(), abs=1e-2)


def test_generalised_alpha_damps_what_is_fast_and_keeps_what_is_slow():
    assert np.abs(formula(0.8, 1e6)).max() == pytest.approx(0.8, abs=1e-2)
    assert np.abs(formula(0.8, 0.1)).max() > 0.999
    fast, state = oscillator(1e10)
    damped = ph.simulate(fast, state, 0.1, dt=1e-3, scheme=ph.GeneralisedAlpha(0.8))
    assert np.abs(damped["m.r_P"][-1, 0]) < 1e-6
    kept = ph.simulate(fast, state, 0.1, dt=1e-3, scheme=ph.GeneralisedAlpha(1.0))
    assert np.abs(kept["m.r_P"][:, 0]).max() > 0.99


# --- the crank-slider ------------------------------------------------------------------------------------------------


def crank_slider():
    rod = ph.Beam(
        length=0.3, section=ph.Circle(6e-3), material=ph.Material(E=0.2e12, rho=7870.0, nu=0.3), frame="pinned"
    ).discretise(8)
    system = ph.connect(
        {"rod": rod, "slider": ph.PointMass(0.03337785).discretise()},
        joints=[
            ph.Drive("ground", "rod.P", name="crank pin"),
            ph.Revolute("rod.C", "slider.P"),
            ph.Slide("ground", "slider.P", along=(1, 0, 0)),
        ],
        plane="xy",
    )
    u = {"crank pin": lambda t: 22.5 * np.array([-np.sin(150 * t), np.cos(150 * t)])}
    return system, ph.set_moving(system, ph.place(system, {"rod.r_P": (0.15, 0.0)}), u=u), u


def bending_miss(scheme, dt, t_end):
    """Of u_y at mid-span, beside its peak, from the default scheme with a step that resolves the axial ringing."""
    (system, state, u), times = crank_slider(), np.linspace(0.0, t_end, 101)
    reference = ph.simulate(system, state, t_end, dt=2.5e-6, u=u, output=times).displacement("rod", s=0.5)[:, 1]
    result = run(system, state, t_end, scheme, dt, u=u, output=times)
    pin = 0.15 * np.stack([np.cos(150 * times), np.sin(150 * times)], axis=1)
    assert np.abs(result.position("rod", s=0.0) - pin).max() < 1e-8
    assert max(np.abs(gap).max() for gap in ph.gaps(system, result.state()).values()) < 1e-12
    return np.abs(result.displacement("rod", s=0.5)[:, 1] - reference).max() / np.abs(reference).max(), result


@pytest.mark.parametrize(("scheme", "tolerance"), [(ALPHA, 2e-3), (RADAU, 1e-4), (IDA, 1e-4)])
def test_the_crank_slider_bends_as_with_the_default_scheme(scheme, tolerance):
    assert bending_miss(scheme, 1e-5, 5e-3)[0] < tolerance


@pytest.mark.long
@pytest.mark.parametrize(
    ("scheme", "tolerance", "lost"), [(ALPHA, 1e-3, 1e-3), (RADAU, 1e-4, 1e-6), (FINE, 1e-4, 1e-5)]
)
def test_the_whole_crank_slider_bends_as_with_the_default_scheme(scheme, tolerance, lost):
    miss, result = bending_miss(scheme, 2e-5, 8 / 150)
    assert miss < tolerance
    assert ph.energy_ledger(result).relative < lost


# --- drives, springs, joints: as with the default scheme -------------------------------------------------------------


def rigid():
    ports = {"e": (0.3, 0, 0), "f": (0, 0.2, 0.1)}
    return ph.RigidBody(
        mass=1.0, inertia=np.diag([0.02, 0.03, 0.04]), center=(0.1, 0.02, 0.03), ports=ports
    ).discretise()


def flexible(length=0.4, elements=2):
    section, damping = ph.Rectangle(0.02, 0.01), ph.KelvinVoigt(1e-4)
    return ph.Beam(length=length, section=section, material=ALU, damping=damping).discretise(elements)


def chain(*more):
    joints = [ph.Spherical("ground", "a.P", name="first"), ph.Spherical("a.e", "b.P", name="second"), *more]
    return ph.connect({"a": rigid(), "b": rigid()}, joints=joints, gravity=(0, 0, -9.81))


def springs():
    spring = ph.Spring("ground", "b.e", at=(1.0, 0, -1.0), stiffness=40.0, length=0.5, name="spring")
    damper = ph.Damper("ground", "b.f", at=(0, 1.0, 0), damping=0.5, name="damper")
    push = ph.Force("b.f", along=(0, 0, 1), axes="body", name="push")
    system = chain(spring, damper, push)
    u = {"b.e": lambda t: np.array([0, t, 0, 0, 0, 0.1 * t]), "push": ph.piecewise({0.05: 0.0, 0.06: 20.0, 0.07: 0.0})}
    return system, ph.set_moving(system, ph.place(system, {}), {"a.omega": (1.0, 2.0, 3.0)}), u


def swivel():
    system = ph.drive(chain(), "second")
    u = {"second": lambda t: np.array([np.sin(5 * t), 2 * t, 0.5])}
    return system, ph.set_moving(system, ph.place(system, {}), {"a.omega": (1.0, 2.0, 3.0)}, u=u), u


def spun(u):
    system = ph.connect({"a": flexible(1.0)}, joints=[ph.Drive("ground", "a.P", of="pose", name="hub")])
    return system, ph.set_moving(system, ph.place(system, {}), u=u), u


def pose_by_velocity():
    return spun({"hub": lambda t: np.array([np.sin(9 * t), 0, t, 2 * np.sin(7 * t), t, 5 * (1 - np.cos(8 * t))])})


def pose_by_position():
    def place(t):
        turn = rotation(np.array([0, 0, 6 * t**2])) @ rotation(np.array([0.5 * np.sin(3 * t) ** 2, 0, 0]))
        return np.array([0.1 * (1 - np.cos(9 * t)), 0, 0.2 * t**2]), turn

    return spun({"hub": ph.prescribed_position(place)})


def driven_hinge(by):
    joints = [ph.Revolute("ground", "a.P", name="shoulder"), ph.Revolute("a.C", "b.P", name="elbow")]
    joints += [ph.JointSpring("elbow", stiffness=3.0), ph.JointDamper("elbow", damping=0.02)]
    system = ph.drive(ph.connect({"a": flexible(), "b": flexible()}, joints=joints, plane="xy"), "shoulder")
    u = {"shoulder": by}
    return system, ph.set_moving(system, ph.place(system, {"elbow.angle": 0.5}), u=u), u


def angle_by_velocity():
    return driven_hinge(lambda t: 3 * np.sin(10 * t))


def angle_by_position():
    return driven_hinge(ph.prescribed_position(lambda t: 0.3 * (1 - np.cos(10 * t))))


def loop():
    """A four-bar mechanism in space: its joints repeat each other in three rows."""
    bars = {
        n: ph.RigidBody(mass=1.0, inertia=0.1 * np.eye(3), center=(0.4, 0, 0), ports={"C": (l, 0, 0)}) for n, l in BARS
    }
    joints = [ph.Revolute("ground", "a.P", name="motor"), ph.Revolute("a.C", "b.P"), ph.Revolute("b.C", "c.C")]
    joints += [ph.Revolute("ground", "c.P", at=(1.8, 0, 0))]
    system = ph.connect({n: bar.discretise() for n, bar in bars.items()}, joints=joints, gravity=(0, -9.81, 0))
    return system, ph.place(system, {"motor.angle": 0.9}), {"motor": 3.0}


BARS = (("a", 1.0), ("b", 1.7), ("c", 1.2))


def held_by(joint):
    def build():
        joints = [ph.Spherical("ground", "a.P"), joint("a.e", "b.P")]
        system = ph.connect({"a": rigid(), "b": flexible()}, joints=joints, gravity=(0, 0, -9.81))
        return system, ph.set_moving(system, ph.place(system, {}), {"a.omega": (1.0, 2.0, 3.0)}), {}

    build.__name__ = joint.__name__
    return build


DRIVES = (springs, swivel, pose_by_velocity, pose_by_position, angle_by_velocity, angle_by_position, loop)
JOINTS = tuple(map(held_by, (ph.Revolute, ph.Universal, ph.Cylindrical, ph.Prismatic, ph.Planar, ph.Weld)))


def miss(result, reference):
    """Of positions, attitudes and deformations, beside the largest of their kind."""
    worst = 0.0
    for quantity in ("r_P", "theta", "A_IB", "eta"):
        names = [f"{body}.{quantity}" for body in result.system.bodies if f"{body}.{quantity}" in result.system.layout]
        size = max((np.abs(reference[name]).max() for name in names), default=0.0)
        worst = max([worst, *(np.abs(result[name] - reference[name]).max() / max(size, 1e-3) for name in names)])
    return worst


@pytest.mark.parametrize("scheme", [ALPHA, RADAU, IDA], ids=["alpha", "radau", "ida"])
@pytest.mark.parametrize("build", [*DRIVES, *JOINTS], ids=lambda build: build.__name__)
def test_all_drives_springs_and_joints_move_as_with_the_default_scheme(build, scheme):
    (system, state, u), times = build(), np.linspace(0.0, 0.1, 11)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.errors.RedundancyWarning)
        reference = ph.simulate(system, state, 0.1, dt=1e-5, u=u, output=times)
        result = run(system, state, 0.1, scheme, 5e-5, u=u, output=times)
    assert miss(result, reference) < {ALPHA: 1e-3, RADAU: 1e-4, IDA: 3e-4}[scheme]
    assert max((np.abs(gap).max() for gap in ph.gaps(system, result.state()).values()), default=0.0) < 1e-12
    ours, theirs = ph.energy_ledger(result), ph.energy_ledger(reference)
    assert ours.relative < {ALPHA: 1e-3, RADAU: 2e-5, IDA: 2e-4}[scheme]  # α damps the axial ringing of a sudden start
    for name, line in theirs.supplied.items():
        largest = max(np.abs(line).max(), 1e-3 * np.abs(theirs.energy).max())
        assert np.abs(ours.supplied[name] - line).max() < 2e-3 * largest


# --- multipliers, events, controllers, inputs with corners -----------------------------------------------------------


@pytest.mark.parametrize("scheme", [ALPHA, RADAU, IDA], ids=["alpha", "radau", "ida"])
def test_the_hinge_of_a_pendulum_carries_twice_its_weight_at_the_bottom(scheme):
    system, state = pendulum()
    bottom = ph.Event(lambda t, y: y["bob.theta"] - 1.5 * np.pi)
    result = run(system, state, 3.0, scheme, 5e-4, events=[bottom])
    assert result["bob.theta"][-1] == pytest.approx(1.5 * np.pi, abs=1e-10)
    assert np.abs(result["hinge.lam"][-1]) == pytest.approx(
        [0.0, 2 * 9.81], abs=2e-3
    )  # g + ω²c with ω² = 2g/l, c = l/2


@pytest.mark.parametrize("scheme", [ALPHA, RADAU, IDA], ids=["alpha", "radau", "ida"])
def test_an_event_that_acts_goes_on_and_is_in_the_ledger(scheme):
    system, state = pendulum()

    def wall(t, now):
        return now.with_values({name: -0.5 * now[name] for name in ("bob.omega", "bob.v_P")})

    hit = ph.Event(lambda t, y: y["bob.theta"] - 1.5 * np.pi, do=wall, direction=1, name="wall")
    result = run(system, state, 3.0, scheme, 2e-3, events=[hit])
    assert [time for time, _ in result.info["events"]] == pytest.approx([0.59196, 1.62875, 2.63976], abs=2e-4)
    ledger = ph.energy_ledger(result)
    assert ledger.relative < 2e-4
    assert ledger.supplied["event wall"][-1] < -3.0


@pytest.mark.parametrize("scheme", [ALPHA, RADAU, IDA], ids=["alpha", "radau", "ida"])
def test_a_sampled_controller_acts_as_with_the_default_scheme(scheme):
    system, state = pendulum()

    def controller(t, y):
        return {"hinge": -2.0 * y["hinge"]}

    wanted = ph.simulate(system, state, 1.0, dt=1e-3, controller=controller, every=0.05)["bob.theta"][-1]
    result = run(system, state, 1.0, scheme, 1e-3, controller=controller, every=0.05)
    assert result["bob.theta"][-1] == pytest.approx(wanted, abs=5e-4)


@pytest.mark.parametrize("scheme", [RADAU, IDA], ids=["radau", "ida"])
def test_a_short_blow_after_a_long_rest_is_not_stepped_over(scheme):
    system = ph.connect({"a": ph.PointMass(2.0).discretise()}, joints=[ph.Force("a.P", along=(0, 0, 1), name="blow")])
    blow = ph.piecewise({3.0: 0.0, 3.01: 10.0, 3.02: 0.0})
    result = ph.simulate(system, ph.place(system, {}), 4.0, u={"blow": blow}, scheme=scheme)
    assert result["a.v_P"][-1, 2] == pytest.approx(0.1 / 2.0, rel=1e-4)
    assert result.info["steps"] < 300


@pytest.mark.parametrize("scheme", [ALPHA, RADAU, IDA], ids=["alpha", "radau", "ida"])
def test_a_run_ends_in_a_state_from_which_another_can_start(scheme):
    system, state, u = springs()
    half = run(system, state, 0.05, scheme, 1e-4, u=u)
    again = run(system, half.state(), 0.1, scheme, 1e-4, u=u, t_start=0.05)
    whole = run(system, state, 0.1, scheme, 1e-4, u=u)
    assert np.abs(again.e[-1] - whole.e[-1]).max() < 1e-3
    assert len(half) == half.info["steps"] + 1
