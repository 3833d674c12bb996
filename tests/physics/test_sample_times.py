"""Samples and arrivals of a sampled controller are on time, with any step; where equal steps cannot hit them it is said."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from messages import warns

import phloat as ph
from phloat.errors import SampleTimeWarning

K, C, EVERY, DELAY = 20.0, 3.0, 0.037, 0.011
SCHEMES = {
    "dt 10 ms": {"dt": 0.01},
    "dt 3 ms": {"dt": 0.003},
    "adaptive": {"scheme": ph.Midpoint(rtol=1e-6)},
    "composition": {"dt": 0.01, "scheme": ph.Composition4()},
    "radau": {"scheme": ph.RadauIIA()},
}


def railed() -> tuple[ph.System, ph.State]:
    rail = ph.Slide("ground", "m.P", along=(1, 0, 0), name="rail")
    system = ph.connect({"m": ph.PointMass(1.0).discretise()}, [rail], plane="xy")
    return system, ph.place(system, {"rail.slide": 1.0})


def law(t, y):
    return {"rail": -K * y["rail.slide"] - C * y["rail"]}


def exact(t_end: float, delay: float) -> float:
    """Parabolas between samples at k · EVERY and their arrivals."""
    samples = np.arange(0.0, t_end, EVERY)
    x, v, u, coming = 1.0, 0.0, 0.0, []
    ends = np.unique(np.round([*samples, *(samples + delay), t_end], 12))
    for a, b in pairwise(ends):
        if np.abs(samples - a).min() < 1e-11:
            coming.append((a + delay, -K * x - C * v))
        while coming and coming[0][0] <= a + 1e-11:
            u = coming.pop(0)[1]
        h = min(b, t_end) - a
        x, v = (x + h * v + 0.5 * h**2 * u, v + h * u) if h > 0 else (x, v)
    return x


@pytest.mark.parametrize("delay", [0.0, DELAY])
@pytest.mark.parametrize("way", SCHEMES)
def test_samples_are_on_time_though_they_are_no_multiples_of_the_step(way, delay):
    """Every 37 ms with steps of 10: samples were taken at 40, 80, 120 … ms, and the end was 2e-2 off."""
    system, start = railed()
    control = ph.control.Sampled(law, every=EVERY, delay=delay)
    result = ph.simulate(system, start, 1.0, controller=control, **SCHEMES[way])
    assert abs(result["rail.slide"][-1] - exact(1.0, delay)) < 1e-12


@pytest.mark.parametrize("way", SCHEMES)
def test_a_function_with_a_sample_time_is_on_time_too(way):
    asked = []

    def watched(t, y):
        asked.append(t)
        return law(t, y)

    system, start = railed()
    result = ph.simulate(system, start, 1.0, controller=watched, every=EVERY, **SCHEMES[way])
    np.testing.assert_allclose(asked, np.arange(0.0, 1.0, EVERY), atol=1e-12)
    assert abs(result["rail.slide"][-1] - exact(1.0, 0.0)) < 1e-12


def test_outputs_of_fixed_steps_stay_at_multiples_of_dt():
    system, start = railed()
    result = ph.simulate(system, start, 0.5, dt=0.01, controller=ph.control.Sampled(law, every=EVERY, delay=DELAY))
    np.testing.assert_allclose(result.t, 0.01 * np.arange(51), atol=1e-12)


def test_a_linear_system_says_how_late_its_samples_are():
    system, start = railed()
    linear = ph.linearise(system, start)
    for options in ({"controller": ph.control.Sampled(lambda t, y: {"rail": 0.0}, every=EVERY)},):
        with warns(SampleTimeWarning, "0.037 s", "0.01 s", "0.003 s"):
            ph.simulate(linear, None, 0.1, dt=0.01, **options)
    with warns(SampleTimeWarning, "0.037 s"):
        ph.simulate(linear, None, 0.1, dt=0.01, controller=lambda t, y: {"rail": 0.0}, every=EVERY)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ph.simulate(linear, None, 0.1, dt=0.01, controller=ph.control.Sampled(lambda t, y: {"rail": 0.0}, every=0.02))


@pytest.mark.parametrize("options", SCHEMES.values(), ids=SCHEMES)
def test_the_answer_of_a_controller_stands_in_place_of_a_function_given_for_its_port(options):
    system, state = railed()
    run = ph.simulate(
        system, state, 0.12, u={"rail": lambda t: 1.0}, controller=lambda t, y: {"rail": 0.0}, every=0.06, **options
    )
    assert run["rail.slide"][-1] == pytest.approx(1.0, abs=1e-9)
