"""What the first steps must already show: the books of everything at once, few iterations, few factorisations.

Short enough to run with compilation off.
"""

import pickle

import numpy as np
import pytest
from bodies_zoo import bodies

import phloat as ph

ELEMENTS = [
    ph.Spring("ground", "b.C", at=(0.3, 1.4, 0.0), stiffness=70.0, length=0.6, name="spring"),
    ph.Damper("ground", "b.C", at=(-0.5, 0.2, 0.0), damping=5.0, name="damper"),
    ph.JointSpring("j", stiffness=12.0, rest=0.3, name="joint spring"),
    ph.JointDamper("j", damping=1.5, name="joint damper"),
    ph.Torque("a.C", about=(0, 0, 2), name="torque"),
]
DT, STEPS = 2e-3, 4
RIGID = ph.RigidBody(2.5, np.diag([0.4, 0.5, 0.6]), center=(0.1, -0.2, 0.0), ports={"C": (0.5, 0.2, 0.0)}).discretise()


def moving(plane: str | None, motor: str) -> tuple[ph.System, dict]:
    """A damped beam on a rigid body on a motor, with a spring and a damper of each kind, gravity and a torque."""
    first = ph.Drive("ground", "a.P", name="m") if motor == "pin" else ph.Revolute("ground", "a.P", name="m")
    parts = {"a": RIGID, "b": bodies()["damped beam"]}
    joints = [first, ph.Revolute("a.C", "b.P", name="j"), *ELEMENTS]
    system = ph.connect(parts, joints, gravity=(0.7, -9.81, 0.0 if plane else 1.3), plane=plane)
    own = {
        "effort": lambda t: 20.0 * np.cos(9.0 * t),
        "rate": lambda t: 3.0 + np.sin(30.0 * t),
        "pin": lambda t: np.array([1.0, -2.0, 0.5])[: 2 if plane else 3] * np.sin(30.0 * t + 0.2),
    }
    return ph.drive(system, "m") if motor == "rate" else system, {"m": own[motor], "torque": 4.0}


@pytest.mark.parametrize(
    ("plane", "motor"), [("xy", "effort"), ("xy", "rate"), ("xy", "pin"), (None, "effort"), (None, "pin")]
)
def test_the_books_close_from_the_first_step_on(plane, motor):
    system, u = moving(plane, motor)
    state = ph.set_moving(system, ph.place(system, {"j.angle": 0.4}), {"j.angle_rate": 2.0}, u=u)
    result = ph.simulate(system, state, STEPS * DT, dt=DT, u=u)
    ledger = ph.energy_ledger(result)
    assert not result.info["halved"]
    assert result.info["steps"] == STEPS
    assert ledger.relative < 1e-12
    np.testing.assert_allclose(
        ledger.energy, [ph.energy(system, result.state(k)) for k in range(STEPS + 1)], rtol=1e-11
    )
    assert all(np.abs(line[1:]).min() > 1e-9 for line in ledger.supplied.values())
    for name, line in ledger.dissipated.items():
        assert np.diff(line).min() > 0.0, name
    mean = 0.5 * (result["b.eta_dot"][1:] + result["b.eta_dot"][:-1])
    middle = 0.5 * (result["b.eta"][1:] + result["b.eta"][:-1])
    damping = system.bodies["b"].elastic.damping
    lost = DT * np.array([v @ damping(eta) @ v for eta, v in zip(middle, mean, strict=True)])
    np.testing.assert_allclose(np.diff(ledger.dissipated["b"]), lost, rtol=1e-9)
    if plane:
        turned = 0.5 * DT * (result["a.omega"][1:] + result["a.omega"][:-1])
        np.testing.assert_allclose(np.diff(ledger.supplied["torque"]), 4.0 * turned, rtol=1e-9)
        np.testing.assert_allclose(np.diff(result["a.theta"]), 2.0 * np.arctan(0.5 * turned), rtol=1e-9)


def swing(dt: float, steps: int, scheme: ph.Midpoint | ph.Composition4 | None = None) -> ph.Result:
    """A rigid pendulum with a pendulum, in the plane."""
    J = np.diag([0.4, 0.5, 0.6])
    body = ph.RigidBody(2.5, J, center=(0.3, -0.2, 0.0), ports={"C": (0.5, 0.2, 0.0)}).discretise()
    hinges = [ph.Revolute("ground", "a.P", name="m"), ph.Revolute("a.C", "b.P", name="j")]
    system = ph.connect({"a": body, "b": body}, hinges, gravity=(0, -9.81, 0), plane="xy")
    state = ph.set_moving(system, ph.place(system, {"j.angle": 0.4}), {"m.angle_rate": 3.0, "j.angle_rate": -2.0})
    return ph.simulate(system, state, steps * dt, dt=dt, **({} if scheme is None else {"scheme": scheme}))


def test_the_steps_before_tell_where_the_next_one_goes():
    """A parabola through three steps is right to h³, so that few iterations are left; without it there are a third more."""
    first, later = (swing(5e-3, n).info for n in (3, 12))
    assert later["iterations"] - first["iterations"] <= 3 * 9 + 1
    assert later["most iterations"] <= 4
    assert swing(5e-5, 12).info["iterations"] <= 30
    assert swing(5e-3, 6, ph.Composition4()).info["iterations"] <= 65
    assert later["stalled"] == 0


def test_factors_are_kept_while_they_serve():
    assert swing(5e-5, 12).info["factorisations"] <= 2
    loose = swing(5e-3, 12, ph.Midpoint(newton=1e-8)).info
    assert loose["factorisations"] <= 8
    assert loose["iterations"] <= 30
    assert swing(5e-3, 6, ph.Composition4()).info["factorisations"] <= 31


def test_very_long_steps_are_solved_or_halved():
    """Half a turn and more in a step: Newton's method begins far away, and energy is kept all the same."""
    result = swing(0.4, 5)
    assert ph.energy_ledger(result).relative < 1e-12
    assert not result.info["halved"]
    assert result.info["iterations"] <= 40


def test_reactions_are_means_of_the_steps_beside_their_time():
    """In free fall about the mass centre nothing is felt; at rest the hinge carries the weight, from the first row to the last."""
    body = ph.RigidBody(2.0, np.eye(3), center=(0.0, -0.5, 0.0)).discretise()
    system = ph.connect({"a": body}, [ph.Revolute("ground", "a.P", name="m")], gravity=(0, -9.81, 0), plane="xy")
    result = ph.simulate(system, ph.place(system), 5e-3, dt=1e-3)
    np.testing.assert_allclose(result.lam, np.tile([0.0, 2.0 * 9.81], (6, 1)), atol=1e-11)


STOP = {-0.4: -90.0, -0.1: -10.0, 0.1: 5.0, 0.3: 60.0}  # place: force
RUBBING = {-3.0: -9.0, -1.0: -8.0, 0.0: 0.0, 0.5: 2.0, 2.0: 9.0}  # rate: force


def integral(table: dict[float, float], x: float) -> float:
    """From zero to x of what is straight between places and beyond them."""
    places, values = np.array(sorted(table)), np.array([table[p] for p in sorted(table)])
    ends = np.r_[min(places[0], x, 0.0) - 1.0, places[1:-1], max(places[-1], x, 0.0) + 1.0]  # the first and last go on
    slopes = np.diff(values) / np.diff(places)
    at = np.r_[
        values[0] + slopes[0] * (ends[0] - places[0]), values[1:-1], values[-1] + slopes[-1] * (ends[-1] - places[-1])
    ]
    knots = np.unique(np.r_[ends, 0.0, x])
    force = np.interp(knots, ends, at)
    total = np.r_[0.0, np.cumsum(0.5 * (force[1:] + force[:-1]) * np.diff(knots))]
    return float(np.interp(x, knots, total) - np.interp(0.0, knots, total))


@pytest.mark.filterwarnings("ignore::phloat.errors.CurveRangeWarning")
@pytest.mark.parametrize(("speed", "dt"), [(2.5, 0.02), (-2.5, 0.02), (4.0, 0.06)])
def test_forces_by_a_table_are_its_means_over_a_step(speed, dt):
    """m Δv = −h (ΔV/Δx + d(Δx/h)), through the places of both tables and beyond them."""
    block = ph.PointMass(2.0).discretise()
    rail = ph.Slide("ground", "block.P", along=(1, 0, 0), name="rail")
    laws = [ph.JointSpring("rail", stiffness=STOP, name="stop"), ph.JointDamper("rail", damping=RUBBING, name="rub")]
    system = ph.connect({"block": block}, [rail, *laws], plane="xy")
    result = ph.simulate(system, ph.set_moving(system, ph.place(system), {"block.v_P": (speed, 0.0)}), 10 * dt, dt=dt)
    assert not result.info["halved"]
    x, v = result["block.r_P"][:, 0], result["block.v_P"][:, 0]
    V = np.array([integral(STOP, one) for one in x])
    rate = np.diff(x) / dt
    places, values = np.array(sorted(RUBBING)), np.array([RUBBING[p] for p in sorted(RUBBING)])
    k = np.clip(np.searchsorted(places, rate) - 1, 0, len(places) - 2)
    rubbed = values[k] + (values[k + 1] - values[k]) / (places[k + 1] - places[k]) * (rate - places[k])
    np.testing.assert_allclose(2.0 * np.diff(v), -dt * (np.diff(V) / np.diff(x) + rubbed), rtol=1e-9, atol=1e-9)
    ledger = ph.energy_ledger(result)
    assert ledger.relative < 1e-12
    np.testing.assert_allclose(ledger.stored["stop"], V, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(np.diff(ledger.dissipated["rub"]), dt * rubbed * rate, rtol=1e-9, atol=1e-10)
    assert result.info["most iterations"] <= 12


@pytest.mark.parametrize("plane", [None, "xy"])
def test_a_spring_on_a_hinge_counts_turns_a_third_at_a_step(plane):
    wheel = ph.RigidBody(3.0, np.diag([0.1, 0.1, 0.2])).discretise()
    joints = [
        ph.Revolute("ground", "wheel.P", name="hub"),
        ph.JointSpring("hub", stiffness=0.05, rest=0.3, name="spring"),
    ]
    system = ph.connect({"wheel": wheel}, joints, plane=plane)
    for speed in (42.0, -42.0):
        state = ph.set_moving(system, ph.place(system, {"hub.angle": 0.3}), {"hub.angle_rate": speed})
        result = ph.simulate(system, state, 0.5, dt=0.05)
        ledger = ph.energy_ledger(result)
        assert abs(result["hub.angle"][-1]) > 4.0 * np.pi
        np.testing.assert_allclose(
            ledger.stored["spring"], 0.025 * (result["hub.angle"] - 0.3) ** 2, rtol=1e-10, atol=1e-10
        )
        assert ledger.relative < 1e-12


def test_a_spring_by_a_table_holds_what_leans_on_it():
    """Nothing moves, so that the mean over a step is the value itself: 32.5 N at 0.2 m."""
    rail = ph.Slide("ground", "block.P", along=(1, 0, 0), name="rail")
    more = [ph.JointSpring("rail", stiffness=STOP, name="stop"), ph.Force("block.P", along=(1, 0, 0), name="push")]
    system = ph.connect({"block": ph.PointMass(2.0).discretise()}, [rail, *more], plane="xy")
    result = ph.simulate(system, ph.place(system, {"block.r_P": (0.2, 0.0)}), 5 * DT, dt=DT, u={"push": 32.5})
    np.testing.assert_allclose(result["block.r_P"][:, 0], 0.2, rtol=1e-13)


CENTER, INERTIA = np.array([0.1, -0.2, 0.3]), np.diag([0.4, 0.5, 0.6])
ARM = ph.RigidBody(2.5, INERTIA, center=CENTER, ports={"C": (0.5, 0.2, -0.1)}).discretise()


def test_a_driven_frame_goes_where_it_is_told():
    system = ph.connect({"a": ARM}, [ph.Drive("ground", "a.P", of="pose", name="hand")], gravity=(0.7, -9.81, 1.3))
    u = {"hand": np.array([0.3, -0.2, 0.5, 0.0, 0.0, 0.8])}
    result = ph.simulate(system, ph.set_moving(system, ph.place(system, {}), u=u), 5 * DT, dt=DT, u=u)
    assert ph.energy_ledger(result).relative < 1e-12
    np.testing.assert_allclose(result["a.r_P"], np.outer(result.t, u["hand"][:3]), atol=1e-9)
    turned = np.arctan2(result["a.A_IB"][:, 1, 0], result["a.A_IB"][:, 0, 0])
    np.testing.assert_allclose(turned, 0.8 * result.t, atol=1e-8)


def test_a_driven_ball_joint_turns_two_free_bodies_against_each_other():
    """At its rate, and without a change of their momenta."""
    system = ph.drive(ph.connect({"a": ARM, "b": ARM}, [ph.Spherical("a.C", "b.P", name="j")]), "j")
    u = {"j": np.array([0.0, 0.0, -1.7])}
    given = {"a.v_P": (0.3, 0.1, -0.2), "a.omega": (1.0, -2.0, 0.5)}
    result = ph.simulate(system, ph.set_moving(system, ph.place(system, {}), given, u=u), 5 * DT, dt=DT, u=u)
    assert ph.energy_ledger(result).relative < 1e-12
    between = np.einsum("tki,tkj->tij", result["a.A_IB"], result["b.A_IB"])
    turned = np.arctan2(between[:, 1, 0], between[:, 0, 0])
    np.testing.assert_allclose(turned, -1.7 * result.t, atol=1e-8)
    linear, angular = 0.0, 0.0
    for name in "ab":
        A, omega = result[f"{name}.A_IB"], result[f"{name}.omega"]
        v = np.einsum("tij,tj->ti", A, result[f"{name}.v_P"] + np.cross(omega, CENTER))
        linear = linear + 2.5 * v
        angular = (
            angular
            + np.cross(result[f"{name}.r_P"] + A @ CENTER, 2.5 * v)
            + np.einsum("tij,tj->ti", A, omega @ INERTIA)
        )
    np.testing.assert_allclose(linear, np.tile(linear[0], (6, 1)), atol=1e-12)
    np.testing.assert_allclose(angular, np.tile(angular[0], (6, 1)), atol=1e-12)


@pytest.mark.parametrize(("plane", "motor"), [("xy", "effort"), ("xy", "rate"), ("xy", "pin"), (None, "effort")])
def test_runs_of_one_system_one_after_another_are_those_of_new_systems(plane, motor):
    """Buffers that are packed once for a system hold nothing of an earlier run: other states, inputs and pre-stress."""
    system, u = moving(plane, motor)
    state = ph.set_moving(system, ph.place(system, {"j.angle": 0.4}), {"j.angle_rate": 2.0}, u=u)
    strained = state.with_values({"b.sigma": 10.0 + state["b.sigma"]})
    starts = [(state, u), (state, {"m": u["m"]}), (strained, u), (state, u)]
    for start, inputs in starts:
        again = ph.simulate(system, start, STEPS * DT, dt=DT, u=inputs)
        anew = ph.simulate(moving(plane, motor)[0], start, STEPS * DT, dt=DT, u=inputs)
        assert np.array_equal(again.e, anew.e)
        assert np.array_equal(again.lam, anew.lam)


def test_a_system_travels_without_the_buffers_of_its_runs():
    system, u = moving("xy", "effort")
    state = ph.place(system)
    run = ph.simulate(system, state, STEPS * DT, dt=DT, u=u)
    there = pickle.loads(pickle.dumps(system))
    assert system.run_buffers and not there.run_buffers
    start = ph.place(there)
    assert np.array_equal(ph.simulate(there, start, STEPS * DT, dt=DT, u=u).e, run.e)
