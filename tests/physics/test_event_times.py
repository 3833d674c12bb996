"""Events shorter than a step, events that pile up, and the states around them."""

import numpy as np
import pytest
from messages import raises

import phloat as ph
from phloat.errors import ConvergenceError, InputError

g = 9.81
SCHEMES = {
    "fixed": {"dt": 0.01},
    "long steps": {"dt": 0.1},
    "adaptive": {"scheme": ph.Midpoint(rtol=1e-6)},
    "composition": {"dt": 0.01, "scheme": ph.Composition4()},
    "radau": {"scheme": ph.RadauIIA()},
}
EVERY = SCHEMES | {"alpha": {"dt": 0.01, "scheme": ph.GeneralisedAlpha()}, "ida": {"scheme": ph.IDA()}}


def ball() -> tuple[ph.System, ph.State]:
    system = ph.connect({"ball": ph.PointMass(0.2).discretise()}, plane="xy", gravity=(0, -g, 0))
    return system, ph.place(system, {"ball.r_P": (0.0, 1.0)})


def ground(left: float = 0.8, direction: int = -1, body: str = "ball", name: str = "ground") -> ph.Event:
    def bounce(t, state):
        x, y = state[f"{body}.v_P"]
        return state.with_values({f"{body}.v_P": (x, -left * y)})

    return ph.Event(lambda t, y: y[f"{body}.r_P"][1], do=bounce, direction=direction, name=name)


@pytest.mark.parametrize("direction", [-1, 0])
@pytest.mark.parametrize("way", SCHEMES)
def test_a_ball_that_bounces_faster_and_faster_ends_with_a_sentence(way, direction):
    """With dt = 0.01 it fell through the floor after hit 22. Hits are at t₁(1 + 2Σeᵏ), up to t₁(1 + e)/(1 − e) = 4.0637 s."""
    system, start = ball()
    with raises(ConvergenceError, "'ground'", "4.06371") as stopped:
        ph.simulate(system, start, 6.0, events=[ground(direction=direction)], **SCHEMES[way])
    result = stopped.value.result
    exact = np.sqrt(2 / g) * np.cumsum([1.0, *(2 * 0.8 ** np.arange(1, 80))])
    times = [event.t for event in result.events]
    close = 1e-10 if way != "radau" else 1e-7
    np.testing.assert_allclose(times, exact[: len(times)], atol=close)
    assert result["ball.r_P"][:, 1].min() > -close


def test_the_states_before_and_after_an_event_are_kept(tmp_path):
    system, start = ball()
    result = ph.simulate(system, start, 1.5, dt=0.01, events=[ground()], save=tmp_path / "run")
    ph.io.save_result(result, tmp_path / "again")
    for run in (result, ph.io.load_result(tmp_path / "run", system), ph.io.load_result(tmp_path / "again", system)):
        assert [(event.t, event.name) for event in run.events] == list(run.info["events"])
        assert len(run.events) == 2
        for event in run.events:
            assert abs(event.before["ball.r_P"][1]) < 1e-12
            np.testing.assert_allclose(event.after["ball.v_P"], (0.0, -0.8 * event.before["ball.v_P"][1]), rtol=1e-14)
        np.testing.assert_allclose(run.events[0].before["ball.v_P"], (0.0, -np.sqrt(2 * g)), atol=1e-12)


@pytest.mark.parametrize("way", SCHEMES)
def test_a_crossing_there_and_back_within_a_step_is_found(way):
    """Thrown to 1.00001 m it is above 1 m for 2.86 ms, between two nodes of steps of 10 ms."""
    system, _ = ball()
    speed = np.sqrt(2 * g * 1.00001)
    start = ph.place(system).with_values({"ball.v_P": (0.0, speed)})
    exact = (speed + np.array([-1, 1]) * np.sqrt(2 * g * 1e-5)) / g
    for direction, wanted in ((1, exact[:1]), (-1, exact[1:]), (0, exact)):
        high = ph.Event(lambda t, y: y["ball.r_P"][1] - 1.0, do=lambda t, state: None, direction=direction, name="high")
        result = ph.simulate(system, start, 0.75, events=[high], **SCHEMES[way])
        np.testing.assert_allclose([event.t for event in result.events], wanted, atol=1e-8)


@pytest.mark.parametrize("way", SCHEMES)
def test_a_graze_that_does_not_touch_is_no_event(way):
    system, _ = ball()
    start = ph.place(system).with_values({"ball.v_P": (0.0, np.sqrt(2 * g * 0.9999))})
    high = ph.Event(lambda t, y: y["ball.r_P"][1] - 1.0, name="high")
    assert not ph.simulate(system, start, 0.75, events=[high], **SCHEMES[way]).events


def test_an_adaptive_run_with_events_goes_on_where_it_was_cut(tmp_path):
    system, start = ball()
    options = {"events": [ground()], "scheme": ph.Midpoint(rtol=1e-6)}
    whole = ph.simulate(system, start, 3.0, **options)
    ph.simulate(system, start, 1.2, save=tmp_path / "run", **options)
    on = ph.resume(tmp_path / "run", system, t_end=3.0, events=[ground()])
    np.testing.assert_allclose([e.t for e in on.events], [e.t for e in whole.events], atol=1e-10)
    assert len(on.events) == len(whole.events) == 6


@pytest.mark.parametrize("way", ["fixed", "adaptive"])
def test_a_run_that_an_event_stopped_goes_on_through_it(way, tmp_path):
    """The same event stopped it again where it was."""
    system, start = ball()
    half = ph.Event(lambda t, y: y["ball.r_P"][1] - 0.5, name="half-way")
    stopped = ph.simulate(system, start, 0.6, events=[half], save=tmp_path / "run", **SCHEMES[way])
    assert stopped.t[-1] == pytest.approx(np.sqrt(1 / g))
    on = ph.resume(tmp_path / "run", system, t_end=0.6, events=[half])
    assert on.t[-1] == 0.6 and len(on.events) == 1


# --- several events at one instant ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", EVERY)
def test_two_balls_that_hit_the_floor_together_both_bounce(way):
    """The second fell through."""
    system = ph.connect(
        {"a": ph.PointMass(0.2).discretise(), "b": ph.PointMass(0.3).discretise()}, plane="xy", gravity=(0, -g, 0)
    )
    start = ph.place(system, {"a.r_P": (0.0, 1.0), "b.r_P": (1.0, 1.0)})
    events = [ground(body=name, name=name) for name in "ab"]
    result = ph.simulate(system, start, 1.5, events=events, **EVERY[way])
    first = np.sqrt(2 / g)
    assert [event.name for event in result.events] == ["a", "b", "a", "b"]
    np.testing.assert_allclose([event.t for event in result.events], first * np.array([1.0, 1.0, 2.6, 2.6]), atol=1e-7)
    np.testing.assert_allclose(result["a.r_P"][:, 1], result["b.r_P"][:, 1], atol=1e-7)
    assert ph.energy_ledger(result).relative < 1e-9


@pytest.mark.parametrize("stop_first", [False, True])
@pytest.mark.parametrize("way", EVERY)
def test_events_at_one_instant_take_place_in_their_order_and_one_of_them_stops(way, stop_first):
    system, start = ball()
    switch = ph.Event(lambda t, y: t - 0.3, do=lambda t, state: None, name="switch")
    stop = ph.Event(lambda t, y: 2 * (t - 0.3), name="stop")
    events = [stop, switch] if stop_first else [switch, stop]
    result = ph.simulate(system, start, 0.6, events=events, **EVERY[way])
    assert [event.name for event in result.events] == [event.name for event in events]
    assert result.t[-1] == pytest.approx(0.3, abs=1e-12)


# --- zero at the start, and after `do` -----------------------------------------------------------------------------------


def thrown(speed: float) -> tuple[ph.System, ph.State]:
    system, _ = ball()
    return system, ph.place(system).with_values({"ball.v_P": (0.0, speed)})


@pytest.mark.parametrize("way", EVERY)
def test_a_zero_at_the_start_is_left_at_once_in_the_watched_direction_or_not_at_all(way):
    def hits(speed: float, direction: int) -> list[float]:
        options = {**EVERY[way], "events": [ground(direction=direction)]}
        return [event.t for event in ph.simulate(*thrown(speed), 0.25, **options).events]

    np.testing.assert_allclose(hits(-1.0, -1), [0.0, 1.6 / g], atol=1e-7)  # it fell through
    for direction in (-1, 0):
        np.testing.assert_allclose(hits(1.0, direction), [2.0 / g], atol=1e-7)
    assert hits(-1.0, 0) == hits(-1.0, 1) == []  # the side it leaves to is its own


@pytest.mark.parametrize("direction", [-1, 0])
@pytest.mark.parametrize("way", EVERY)
def test_a_ball_that_is_stopped_on_the_floor_does_not_fall_through(way, direction):
    system, start = ball()
    with raises(ConvergenceError, "'ground'", "12") as stopped:
        ph.simulate(system, start, 1.0, events=[ground(0.0, direction)], **EVERY[way])
    assert stopped.value.result["ball.r_P"][:, 1].min() > -1e-7
    if direction:
        with raises(ConvergenceError, "'ground'", "12"):
            ph.simulate(*thrown(0.0), 1.0, events=[ground()], **EVERY[way])


@pytest.mark.parametrize("left", [-1.1, -0.01])
@pytest.mark.parametrize("way", EVERY)
def test_what_is_let_through_with_another_speed_crosses_once(way, left):
    system, start = ball()
    result = ph.simulate(system, start, 0.6, events=[ground(left, 0)], **EVERY[way])
    fallen = 0.6 - np.sqrt(2 / g)
    assert len(result.events) == 1
    assert result["ball.r_P"][-1, 1] == pytest.approx(left * np.sqrt(2 * g) * fallen - g / 2 * fallen**2, abs=1e-6)


@pytest.mark.parametrize("way", ["fixed", "composition", "alpha"])
def test_crossings_of_more_than_a_period_in_a_step_are_found(way):
    """1.6 periods in a step of 10 ms: 11 of 15 were found."""
    system, start = ball()
    omega = 2 * np.pi * 160.0
    wave = ph.Event(lambda t, y: np.sin(omega * t + 0.3), do=lambda t, state: None)
    result = ph.simulate(system, start, 0.05, events=[wave], **EVERY[way])
    np.testing.assert_allclose([e.t for e in result.events], (np.arange(1, 17) * np.pi - 0.3) / omega, atol=1e-12)


@pytest.mark.parametrize("value", [True, np.True_])
def test_an_event_that_is_true_or_false_is_told_to_be_a_number(value):
    with raises(InputError, "'event'", "True"):
        ph.simulate(*ball(), 0.1, dt=0.01, events=[ph.Event(lambda t, y: value)])
