"""Motion against answers known from elsewhere: by hand, from modes, from the plane, from the other frame."""

import itertools

import numpy as np
import pytest
from bodies_zoo import steel
from messages import warns

import phloat as ph

g = 9.81
ALU = ph.Material(E=7e10, rho=2700.0, nu=0.33)


def extrapolated(run, steps: int) -> np.ndarray:
    """From twice as many steps to none between: the error of second order taken out (Richardson)."""
    coarse, fine = run(steps), run(2 * steps)
    return (4 * fine - coarse) / 3


def crossings(t: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Where y falls through zero, on lines between the outputs."""
    k = np.flatnonzero((y[:-1] > 0) & (y[1:] <= 0))
    return t[k] + y[k] / (y[k] - y[k + 1]) * (t[k + 1] - t[k])


def frequency(t: np.ndarray, y: np.ndarray) -> float:
    falls = crossings(t, y)
    return 2 * np.pi * (len(falls) - 1) / (falls[-1] - falls[0])


# --- rigid bodies ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("t_end", "place", "close"),
    [(1.0, (0.9862917511, -0.1650108531), 1e-9), (10.0, (-0.2750874626, -0.9614192051), 3e-8)],
)
def test_a_pendulum_let_go_from_the_horizontal(t_end, place, close):
    bob = ph.RigidBody(1.0, np.diag([1e-13] * 3), center=(1, 0, 0)).discretise()
    system = ph.connect({"bob": bob}, [ph.Revolute("ground", "bob.P")], gravity=(0, -g, 0), plane="xy")
    state = ph.place(system, {"bob.theta": np.pi})

    def run(n: int) -> np.ndarray:
        return ph.simulate(system, state, t_end, dt=t_end / n, output=n).position("bob", at=(1.0, 0, 0))[-1]

    np.testing.assert_allclose(run(int(400 * t_end)), place, atol=1e-4 * t_end)
    np.testing.assert_allclose(extrapolated(run, int(400 * t_end)), place, atol=close)


@pytest.mark.parametrize(
    ("t_end", "place"),
    [(0.1, (0.42129666, 0.89457197, -0.14916470)), (1.0, (0.17334396, 0.64008859, -0.74849079))],
)
def test_the_heavy_top(t_end, place):
    """Eight digits of its mass centre, from steps of 1/4 ms that are 5e-6 off."""
    top = ph.RigidBody(mass=15.0, inertia=np.diag([0.234375, 0.46875, 0.234375]), center=(0, 1, 0)).discretise()
    system = ph.connect({"top": top}, [ph.Spherical("ground", "top.P")], gravity=(0, 0, -g))
    state = ph.set_moving(system, ph.place(system), {"top.omega": (0.0, 150.0, -4.61538)})

    def run(n: int) -> np.ndarray:
        return ph.simulate(system, state, t_end, dt=t_end / n, output=n).position("top", at=(0.0, 1.0, 0.0))[-1]

    np.testing.assert_allclose(extrapolated(run, int(4000 * t_end)), place, atol=1.5e-8)


def bar(length: float) -> ph.Body:
    J = np.diag([1e-3, length**3 / 12, length**3 / 12])
    return ph.RigidBody(length, J, center=(length / 2, 0, 0), ports={"C": (length, 0, 0)}).discretise()


def four_bar(plane: str | None, crank: float = 1.0) -> ph.System:
    joints = [
        ph.Revolute("ground", "a.P", name="m"),
        ph.Revolute("a.C", "b.P", name="e"),
        ph.Revolute("b.C", "c.C", name="f"),
        ph.Revolute("ground", "c.P", at=(2.0, 0.0, 0.0), name="n"),
    ]
    return ph.connect({"a": bar(crank), "b": bar(2.0), "c": bar(1.0)}, joints, plane=plane, gravity=(0, -g, 0))


def test_a_parallelogram_goes_on_from_its_dead_point():
    """All bars in a line: the rows have lost a rank there, and the coupler stays level ever after."""
    system = four_bar("xy")
    state = ph.place(system, {"a.theta": 0.0, "b.theta": 0.0, "c.theta": 0.0})
    assert np.linalg.matrix_rank(ph.terms(system, state).G.toarray(), tol=1e-9) == 7
    state = ph.set_moving(system, state, {"a.omega": 3.0, "b.omega": 0.0})
    result = ph.simulate(system, state, 2.0, dt=2e-3)
    assert not result.info["halved"]
    assert np.ptp(result["m.angle"]) > 3.5  # there and back through the dead points
    np.testing.assert_allclose(result["b.theta"], 0.0, atol=1e-10)
    np.testing.assert_allclose(result["c.theta"], result["a.theta"], atol=1e-10)
    np.testing.assert_allclose(np.linalg.norm(result.position("a", at=(1.0, 0, 0)), axis=1), 1.0, atol=1e-12)
    assert np.ptp(result.energy) < 1e-11 * np.abs(result.accounts.bodies).max()
    assert max(np.abs(gap).max() for gap in ph.gaps(system, result.state()).values()) < 1e-12
    # one pendulum: (J_a + J_c + m_b) a'' = −(m_a/2 + m_c/2 + m_b) g cos a
    inertia, weight = 1 / 3 + 1 / 3 + 2, (0.5 + 0.5 + 2) * g
    speed = np.sqrt(9.0 - 2 * weight / inertia * np.sin(result["a.theta"]))
    moving = np.abs(speed) > 0.5
    np.testing.assert_allclose(np.abs(result["a.omega"][moving]), speed[moving], atol=1e-3)


def test_a_four_bar_in_space_moves_as_in_the_plane():
    """Parallel hinges repeat each other in three rows; that is said, and the motion is the planar one."""
    flat, deep = four_bar("xy", crank=0.6), four_bar(None, crank=0.6)
    runs = []
    for system, turned in ((flat, {"a.theta": 1.0}), (deep, {"m.angle": 1.0})):
        near = {"b.theta": 0.2, "c.theta": 1.2}
        angles = {
            f"{k}.A_IB": [[np.cos(v), -np.sin(v), 0], [np.sin(v), np.cos(v), 0], [0, 0, 1]]
            for k, v in (("b", 0.2), ("c", 1.2))
        }
        state = ph.place(system, turned, near=near if system is flat else angles)
        if system is flat:
            runs.append(ph.simulate(system, state, 1.0, dt=2e-3))
            continue
        with warns(ph.errors.RedundancyWarning, "'e', 'f', 'm', 'n'", "3 rows"):
            runs.append(ph.simulate(system, state, 1.0, dt=2e-3))
    planar, spatial = runs
    np.testing.assert_allclose(spatial["m.angle"], planar["m.angle"], atol=1e-9)
    np.testing.assert_allclose(spatial["f.angle"], planar["f.angle"], atol=1e-9)
    np.testing.assert_allclose(spatial["b.r_P"][:, 2], 0.0, atol=1e-12)
    assert np.ptp(planar["m.angle"]) > 0.5


# --- flexible bodies -------------------------------------------------------------------------------------------------


def test_a_free_beam_that_rings_goes_nowhere():
    """Let go bent and at rest: no momentum comes about, and the mass centre stays to the last digit."""
    body = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), steel).discretise(3)
    system = ph.connect({"b": body})
    rng = np.random.default_rng(0)
    state = ph.place(system, {"b.eta": 3e-4 * rng.normal(size=body.coordinates)})
    result = ph.simulate(system, state, 0.2, dt=5e-4)
    moving = result.accounts.bodies[:, 0, 0].max()
    assert moving > 1.0
    assert np.abs(result.momentum).max() < 1e-12 * np.sqrt(2 * body.inertia.m * moving)
    assert np.abs(result.angular_momentum).max() < 1e-11
    center = []
    for k in range(0, len(result), 20):
        pose = result.state(k).pose("b")
        center.append(pose.r_P + pose.A @ (body.inertia.s0 + body.inertia.S @ pose.eta) / body.inertia.m)
    assert np.ptp(center, axis=0).max() < 1e-14
    assert np.ptp(result["b.r_P"][:, 1]) > 5e-4  # the frame itself does move


@pytest.mark.parametrize("plane", ["xy", None])
def test_a_cantilever_rings_at_its_first_frequency(plane):
    """Bent by a force and let go; a step lowers a frequency by (hω)²/12."""
    body = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), steel).discretise(3)
    joints = [ph.Weld("ground", "b.P"), ph.Force("b.C", along=(0, 1, 0), name="push")]
    system = ph.connect({"b": body}, joints, plane=plane)
    omega = ph.modes(ph.linearise(system, ph.place(system))).elastic[0]
    state = ph.equilibrium(system, ph.place(system), u={"push": 0.5})
    assert state.displacement("b", 1.0)[1] == pytest.approx(0.5 / (3 * steel.E * 0.02 * 0.01**3 / 12), rel=1e-4)
    h = 2 * np.pi / omega / 80
    result = ph.simulate(system, state, 20 * 80 * h, dt=h)
    found = frequency(result.t, result.displacement("b", 1.0)[:, 1])
    assert found == pytest.approx(omega * (1 - (h * omega) ** 2 / 12), rel=3e-4)


@pytest.mark.parametrize(("gamma", "flap"), [(2, 4.137320), (4, 5.585001)])
def test_a_spinning_beam_flaps_stiffer(gamma, flap):
    """Flap frequencies of a rotating cantilever, from elsewhere; at rest it would be 3.516."""
    unit = np.sqrt(steel.E * 0.01 * 0.02**3 / 12 / (steel.rho * 2e-4))
    body = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), steel).discretise(6)
    joints = [ph.Drive("ground", "b.P", of="pose", name="hub"), ph.Force("b.C", along=(0, 0, 1), name="lift")]
    system = ph.connect({"b": body}, joints)
    spin = {"hub": np.array([0, 0, 0, 0, 0, gamma * unit])}
    state = ph.set_moving(system, ph.place(system), u=spin)
    state = ph.settle(system, state, u={**spin, "lift": 1.0})
    h = 2 * np.pi / (flap * unit) / 60
    result = ph.simulate(system, state, 8 * 60 * h, dt=h, u=spin)
    found = frequency(result.t, result.displacement("b", 1.0)[:, 2])
    assert found / unit == pytest.approx(flap, rel=3e-3)


def whip(frame: str, elements: int, thickness: float, plane: str | None = "xy") -> ph.Result:
    link = ph.Beam(0.5, ph.Rectangle(0.02, thickness), ALU, frame=frame).discretise(elements)
    joints = [ph.Revolute("ground", "a.P", name="m"), ph.Revolute("a.C", "b.P", name="j")]
    system = ph.connect({"a": link, "b": link}, joints, gravity=(0, -g, 0), plane=plane)
    return ph.simulate(system, ph.place(system, {"m.angle": 0.0, "j.angle": 0.5}), 0.3, dt=2e-4, output=10)


def apart(elements: int, thickness: float) -> float:
    """How far the tips of the same double pendulum in both frames are from each other, in its length."""
    tips = [whip(frame, elements, thickness).position("b", 1.0) for frame in ("cantilever", "pinned")]
    return float(np.abs(tips[0] - tips[1]).max())


def test_both_frames_give_the_same_motion():
    """Up to the bending and to the mesh: the difference falls with both; with the mesh while bending is next to nothing."""
    meshes = [apart(n, 2e-3) for n in (1, 2, 4)]
    bends = [apart(4, thickness) for thickness in (1e-3, 2e-3, 4e-3)]  # four times less bent each time
    assert max(meshes) < 2e-7
    assert apart(1, 8e-3) > 9 * apart(2, 8e-3)
    assert bends[0] > 5 * bends[1] > 25 * bends[2]
    assert bends[2] < 2e-7


def test_the_plane_is_a_plane_of_space():
    """The same flexible double pendulum in the plane and in space."""
    flat, deep = whip("cantilever", 2, 2e-3), whip("cantilever", 2, 2e-3, plane=None)
    np.testing.assert_allclose(deep.position("b", 1.0)[:, :2], flat.position("b", 1.0), atol=1e-8)
    np.testing.assert_allclose(deep.position("b", 1.0)[:, 2], 0.0, atol=1e-12)


@pytest.mark.parametrize("plane", ["xy", None])
def test_eight_links_fall_at_twenty_milliseconds(plane):
    """A step that is far too long for their bending is still made, without a failure and with few iterations."""
    link = ph.Beam(0.5, ph.Rectangle(0.02, 0.01), ALU).discretise(2)
    names = [f"l{k}" for k in range(8)]
    joints = [ph.Revolute("ground", "l0.P", name="j0")]
    joints += [ph.Revolute(f"{a}.C", f"{b}.P") for a, b in itertools.pairwise(names)]
    system = ph.connect(dict.fromkeys(names, link), joints, gravity=(0, -g, 0), plane=plane)
    result = ph.simulate(system, ph.place(system), 4.0, dt=0.02)
    assert result.info["steps"] == 200
    assert not result.info["halved"]
    assert result.info["most iterations"] <= 12
    assert result.info["iterations"] < 8 * 200
    assert np.ptp(result.energy) < 1e-11 * np.abs(result.accounts.bodies).max()


# --- controllers -----------------------------------------------------------------------------------------------------


def wheel() -> ph.System:
    body = ph.RigidBody(3.0, np.diag([0.1, 0.1, 0.2])).discretise()
    return ph.connect({"wheel": body}, [ph.Revolute("ground", "wheel.P", name="hub")], plane="xy")


def held(dt: float, every: float | None) -> tuple[float, list[float]]:
    """A wheel drawn to zero by a controller of its angle and rate: 0.2 a'' + 2 a' + 20 a = 0; error, and when it was asked."""
    asked = []

    def controller(t: float, y) -> dict[str, float]:
        asked.append(t)
        return {"hub": -20.0 * y["hub.angle"] - 2.0 * y["hub"]}

    system = wheel()
    state = ph.place(system, {"hub.angle": 1.0})
    result = ph.simulate(system, state, 0.5, dt=dt, controller=controller, every=every)
    damped = np.sqrt(75.0)
    exact = np.exp(-5 * result.t) * (np.cos(damped * result.t) + 5 / damped * np.sin(damped * result.t))
    return float(np.abs(result["hub.angle"] - exact).max()), asked


def test_a_controller_holds_a_wheel():
    """Its answer is held over a step (or its own period), so the motion is right to first order in that."""
    slow, fast = held(4e-3, None)[0], held(2e-3, None)[0]
    assert fast < 8e-3
    assert slow / fast == pytest.approx(2.0, abs=0.1)
    sampled, asked = held(2e-3, 1e-2)
    assert sampled == pytest.approx(5 * fast, rel=0.1)
    np.testing.assert_allclose(asked, 1e-2 * np.arange(50), atol=1e-12)


def test_a_sample_time_between_steps_is_kept_on_average():
    asked = held(2e-3, 7e-3)[1]
    assert len(asked) == pytest.approx(0.5 / 7e-3, abs=1)
    np.testing.assert_allclose(asked, 7e-3 * np.arange(len(asked)), atol=2.001e-3)


def test_a_controller_is_asked_once_a_step():
    np.testing.assert_allclose(held(2e-3, None)[1], 2e-3 * np.arange(250), atol=1e-12)


def test_a_controller_sees_outputs_by_name():
    """An arm of two links: a torque of the elbow that is its own rate, fed back, is a damper there."""
    link = bar(0.5)
    joints = [ph.Revolute("ground", "a.P", name="m"), ph.Revolute("a.C", "b.P", name="j")]
    system = ph.connect({"a": link, "b": link}, joints, gravity=(0, -g, 0), plane="xy")
    damped = ph.connect(
        {"a": link, "b": link}, [*joints, ph.JointDamper("j", damping=0.3)], gravity=(0, -g, 0), plane="xy"
    )
    state = ph.place(system, {"m.angle": 0.0, "j.angle": 0.7})
    seen = {}

    def controller(t: float, y) -> dict[str, float]:
        seen.update({name: y[name] for name in ("m.angle", "j.angle", "m", "j", "a.theta", "b.C", "b.r_P")})
        return {"j": -0.3 * y["j"]}

    fed = ph.simulate(system, state, 0.2, dt=1e-3, controller=controller)
    np.testing.assert_allclose(fed["j.angle"], ph.simulate(damped, state, 0.2, dt=1e-3)["j.angle"], atol=1e-3)
    assert seen["b.C"].shape == (3,)
    assert seen["m.angle"] == pytest.approx(float(fed["m.angle"][-2]), abs=1e-12)


# --- events ----------------------------------------------------------------------------------------------------------


def falling() -> ph.System:
    return ph.connect({"ball": ph.PointMass(0.3).discretise()}, gravity=(0, -g, 0), plane="xy")


@pytest.mark.parametrize("dt", [1e-2, 7e-3, 0.1])
def test_a_ball_bounces_when_it_should(dt):
    """Free fall is exact at any step, so bounces are too: t₁ (1 + 2e + 2e² + …)."""
    system, left = falling(), 0.8

    def bounce(t: float, state: ph.State) -> ph.State:
        return state.with_values({"ball.v_P": state["ball.v_P"] * (1.0, -left)})

    hit = ph.Event(lambda t, y: y["ball.r_P"][1], do=bounce, direction=-1, name="bounce")
    start = ph.place(system, {"ball.r_P": (0.0, 1.0)}).with_values({"ball.v_P": (0.5, 0.0)})
    result = ph.simulate(system, start, 3.5, dt=dt, events=[hit])
    times = np.sqrt(2 / g) * np.cumsum([1.0, *(2 * left ** np.arange(1, 9))])
    assert [name for _, name in result.info["events"]] == ["bounce"] * 9
    np.testing.assert_allclose([t for t, _ in result.info["events"]], times, atol=1e-12)
    np.testing.assert_allclose(result["ball.r_P"][:, 0], 0.5 * result.t, atol=1e-12)
    assert result["ball.r_P"][:, 1].min() > -1e-12
    assert result.t[-1] == 3.5


def test_an_event_without_an_action_stops_the_run():
    system = falling()
    half = ph.Event(lambda t, y: y["ball.r_P"][1] - 0.5, name="half-way")
    result = ph.simulate(system, ph.place(system, {"ball.r_P": (0.0, 1.0)}), 3.5, dt=1e-2, events=[half])
    assert result.t[-1] == pytest.approx(np.sqrt(1 / g), abs=1e-13)
    assert result["ball.r_P"][-1, 1] == pytest.approx(0.5, abs=1e-13)
    assert result.info["events"] == ((result.t[-1], "half-way"),)


def test_events_look_at_one_direction_only_if_told():
    """A mass on a spring through its middle: falling crossings, rising ones, both."""
    mass = ph.PointMass(1.0).discretise()
    rail = [ph.Slide("ground", "mass.P", along=(1, 0, 0), name="rail"), ph.JointSpring("rail", stiffness=4 * np.pi**2)]
    system = ph.connect({"mass": mass}, rail, plane="xy")
    state = ph.place(system, {"mass.r_P": (1.0, 0.0)})
    seen = {}
    for direction in (-1, 0, 1):
        event = ph.Event(lambda t, y: y["rail.slide"], do=lambda t, state: None, direction=direction)
        result = ph.simulate(system, state, 3.1, dt=1e-2, events=[event])
        seen[direction] = [t for t, _ in result.info["events"]]
    np.testing.assert_allclose(seen[-1], [0.25, 1.25, 2.25], atol=1e-3)
    np.testing.assert_allclose(seen[1], [0.75, 1.75, 2.75], atol=1e-3)
    np.testing.assert_allclose(seen[0], sorted(seen[-1] + seen[1]), atol=1e-5)


# --- outputs and adaptive steps --------------------------------------------------------------------------------------


def test_outputs_are_where_they_are_wanted():
    system = falling()
    start = ph.place(system, {"ball.r_P": (0.0, 1.0)})
    times = np.array([0.0, 0.0137, 0.25, 0.5])
    result = ph.simulate(system, start, 0.5, dt=1e-2, output=times)
    np.testing.assert_array_equal(result.t, times)
    np.testing.assert_allclose(result["ball.r_P"][:, 1], 1.0 - 0.5 * g * times**2, atol=1e-14)
    np.testing.assert_allclose(result["ball.v_P"][:, 1], -g * times, atol=1e-13)
    thin = ph.simulate(system, start, 0.5, dt=1e-2, output=7)
    np.testing.assert_allclose(thin.t, [*np.arange(0, 0.5, 0.07), 0.5], atol=1e-12)
    np.testing.assert_allclose(result.at(0.3)["ball.r_P"][1], 1.0 - 0.5 * g * 0.09, atol=1e-14)


def test_the_last_step_is_shorter_where_dt_does_not_divide_the_run():
    system = falling()
    result = ph.simulate(system, ph.place(system), 1.0, dt=0.3, t_start=0.05)
    np.testing.assert_allclose(result.t, [0.05, 0.35, 0.65, 0.95, 1.0], atol=1e-14)
    np.testing.assert_allclose(result["ball.v_P"][:, 1], -g * (result.t - 0.05), atol=1e-13)


def test_an_adaptive_step_is_short_where_it_must_be():
    """A pendulum runs into a stiff stop once: for the same number of steps a fixed one is many times further off."""
    bob = ph.RigidBody(1.0, np.diag([0.01] * 3), center=(1, 0, 0)).discretise()
    stop = ph.JointSpring("m", stiffness={-10.0: 0.0, 0.0: 0.0, 1.0: 2e4})
    system = ph.connect({"bob": bob}, [ph.Revolute("ground", "bob.P", name="m"), stop], gravity=(0, -g, 0), plane="xy")
    state = ph.set_moving(system, ph.place(system, {"m.angle": 0.3 - np.pi}), {"m.angle_rate": 3.0})

    def end(**options) -> tuple[np.ndarray, ph.Result]:
        result = ph.simulate(system, state, 2.0, **options)
        return result.position("bob", at=(1.0, 0, 0))[-1], result

    exact, _ = end(dt=1e-5, output=10**6)
    off, steps = [], []
    for rtol in (1e-4, 1e-5, 1e-6):
        place, result = end(scheme=ph.Midpoint(rtol=rtol))
        off.append(np.abs(place - exact).max())
        steps.append(result.info["steps"])
        assert result.t[-1] == 2.0
        assert np.ptp(result.energy) < 1e-11 * np.abs(result.accounts.bodies).max()
        pace = np.diff(result.t)
        assert pace.max() > 7 * pace[:-1].min()
        assert off[-1] < rtol  # of about a metre
    assert off[0] > 4 * off[1] > 16 * off[2]
    assert steps[0] < steps[1] < steps[2] < 8000
    fixed, _ = end(dt=2.0 / steps[2])
    assert np.abs(fixed - exact).max() > 4 * off[2]
