"""Events shorter than a step, events that pile up, and the states around them."""

import numpy as np
import pytest

import phloat as ph
from phloat.errors import ConvergenceError

g = 9.81
SCHEMES = {
    "fixed": {"dt": 0.01},
    "long steps": {"dt": 0.1},
    "adaptive": {"scheme": ph.Midpoint(rtol=1e-6)},
    "composition": {"dt": 0.01, "scheme": ph.Composition4()},
    "radau": {"scheme": ph.RadauIIA()},
}


def ball() -> tuple[ph.System, ph.State]:
    system = ph.connect({"ball": ph.PointMass(0.2).discretise()}, plane="xy", gravity=(0, -g, 0))
    return system, ph.place(system, {"ball.r_P": (0.0, 1.0)})


def ground(left: float = 0.8, direction: int = -1) -> ph.Event:
    def bounce(t, state):
        x, y = state["ball.v_P"]
        return state.with_values({"ball.v_P": (x, -left * y)})

    return ph.Event(lambda t, y: y["ball.r_P"][1], do=bounce, direction=direction, name="ground")


@pytest.mark.parametrize("direction", [-1, 0])
@pytest.mark.parametrize("way", SCHEMES)
def test_a_ball_that_bounces_faster_and_faster_ends_with_a_sentence(way, direction):
    """With dt = 0.01 it fell through the floor after hit 22. Hits are at t₁(1 + 2Σeᵏ), up to t₁(1 + e)/(1 − e) = 4.0637 s."""
    system, start = ball()
    with pytest.raises(ConvergenceError, match=r"'ground' took place 6\d times, .* pile up at t = 4\.06371") as stopped:
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
    ph.save(result, tmp_path / "again")
    for run in (result, ph.load_run(tmp_path / "run", system), ph.load_run(tmp_path / "again", system)):
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
