"""Midpoint(rtol=…) holds what was asked, on motions with closed forms; inputs' corners, samples and pulses are not stepped over."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import phloat as ph

FILE = Path(__file__).parents[2] / "benchmarks" / "tolerances.py"
SPEC = importlib.util.spec_from_file_location("tolerances", FILE)
tolerances = sys.modules["tolerances"] = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(tolerances)

BLOW = {1.7: 0.0, 1.7005: 2000.0, 1.701: 0.0}  # 1 N s within a millisecond


def test_there_are_twenty_problems():
    assert len(tolerances.PROBLEMS) >= 20


@pytest.mark.parametrize("name", tolerances.PROBLEMS)
def test_the_error_reached_is_at_most_a_few_times_what_was_asked(name):
    """Within 10 × of rtol × scale, from 1e-4 to 1e-6."""
    problem = tolerances.PROBLEMS[name]()
    for rtol in (1e-4, 1e-5, 1e-6):
        assert problem.reached(rtol) < 4 * rtol


@pytest.mark.long
@pytest.mark.parametrize("name", tolerances.PROBLEMS)
def test_the_error_reached_down_to_the_smallest_tolerance(name):
    problem = tolerances.PROBLEMS[name]()
    for rtol in (1e-7, 1e-8, 1e-9):
        assert problem.reached(rtol) < 10 * rtol


def test_a_first_step_that_is_far_too_long_is_only_a_first_guess():
    """A pendulum with t_end = 1, dt = 0.5, rtol = 1e-8 made two steps and was 0.69 m off."""
    problem = tolerances.pendulum_from_the_side()
    result = ph.simulate(problem.system, problem.state, 1.0, dt=0.5, scheme=ph.Midpoint(rtol=1e-6))
    assert problem.off(result) < 1e-6 and result.info["steps"] > 500
    assert np.ptp(result.energy) < 1e-12 * np.abs(result.accounts.bodies).max()


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("as_function", [False, True])
def test_a_blow_in_the_middle_of_a_quiet_run_is_not_stepped_over(rtol, as_function):
    """2000 N at most for 1 ms at 1.7 s: ended at 1.520 m (rtol 1e-6), exact 1.2995 m."""
    blow = ph.piecewise(BLOW)
    system, state = tolerances.railed()
    u = {"rail": (lambda t: float(blow(t))) if as_function else blow}
    result = ph.simulate(system, state, 3.0, dt=0.01, u=u, scheme=ph.Midpoint(rtol=rtol))
    assert abs(result["rail.slide"][-1] - 1.2995) < 2 * rtol
    if not as_function:
        assert np.isin(list(BLOW), result.t).all()


@pytest.mark.parametrize("rtol", [1e-5, 1e-6])
def test_a_smooth_pulse_is_asked_for_no_more_often_than_it_needs(rtol):
    """56 exp(−((t − 1.7123)/0.01)²) N, 1 N s: each part of its tail was resolved beside its own size, 2 million values at 1e-6."""
    asked = []

    def pulse(t: float) -> float:
        asked.append(t)
        return 56.0 * np.exp(-(((t - 1.7123) / 0.01) ** 2))

    system, state = tolerances.railed()
    result = ph.simulate(system, state, 3.0, u={"rail": pulse}, scheme=ph.Midpoint(rtol=rtol))
    exact = 0.56 * np.sqrt(np.pi) * (3.0 - 1.7123)
    assert abs(result["rail.slide"][-1] - exact) < 2 * rtol * exact
    assert len(asked) < 100_000


def test_a_pulse_that_no_scan_finds_is_named_by_its_corners():
    """100 N for 10 µs in 3 s, 1/300 000 of the run: 1e-3 m/s."""
    pulse = (1.7, 1.70001)
    system, state = tolerances.railed()
    options = {"u": {"rail": lambda t: 100.0 if pulse[0] <= t < pulse[1] else 0.0}, "scheme": ph.Midpoint(rtol=1e-6)}
    found = ph.simulate(system, state, 3.0, corners=pulse, **options)["rail.slide"][-1]
    assert found == pytest.approx(1e-3 * (1.3 - 0.5e-5), rel=1e-5)
    assert ph.simulate(system, state, 3.0, **options)["rail.slide"][-1] == 0.0


@pytest.mark.parametrize("as_function", [False, True])
@pytest.mark.parametrize(
    ("scheme", "dt", "close"),
    [(ph.GeneralisedAlpha(), 0.01, 1e-3), (ph.RadauIIA(), None, 1e-3)],
    ids=["alpha", "radau"],
)
def test_other_schemes_see_pulses_shorter_than_a_step(scheme, dt, close, as_function):
    blow = ph.piecewise(BLOW)
    system, state = tolerances.railed()
    u = {"rail": (lambda t: float(blow(t))) if as_function else blow}
    result = ph.simulate(system, state, 3.0, dt=dt, u=u, scheme=scheme)
    assert abs(result["rail.slide"][-1] - 1.2995) < close


def test_the_tolerance_is_of_each_body_and_not_of_the_largest():
    """A rod of 1 cm beside one of 100 m: it is as near to its own motion as it is alone, whatever stands first."""

    def swung(length: float, name: str) -> tuple[dict, list]:
        J = length**2 / 12
        rod = ph.RigidBody(1.0, np.diag([1e-3 * J, J, J]), center=(length / 2, 0, 0)).discretise()
        return {name: rod}, [ph.Revolute("ground", f"{name}.P", name=f"{name} hinge")]

    (small, s), (large, l) = swung(0.01, "small"), swung(100.0, "large")
    rtol, angles = 1e-5, []
    for bodies, joints in ((small, s), (small | large, s + l), (large | small, l + s)):
        system = ph.connect(bodies, joints, plane="xy", gravity=(0, -9.81, 0))
        result = ph.simulate(system, ph.place(system), 0.2, output=10**6, scheme=ph.Midpoint(rtol=rtol))
        angles.append(result["small hinge.angle"][-1])
    exact = ph.simulate(system, ph.place(system), 0.2, dt=4e-6, output=10**6)["small hinge.angle"][-1]
    np.testing.assert_allclose(angles, exact, atol=5 * rtol)


def test_a_rejected_step_leaves_nothing_behind():
    """Energy, joints, works and multipliers of a run with many rejected steps are those of its steps alone."""
    stop = ph.JointSpring("rail", stiffness={-10.0: 0.0, 0.5: 0.0, 1.5: 1e6})
    system, state = tolerances.railed(stop, ph.JointDamper("rail", damping=0.3), v=1.0)
    run = ph.simulate(system, state, 1.2, dt=0.3, scheme=ph.Midpoint(rtol=1e-5))
    assert run.info["rejected"] > 3
    assert ph.energy_ledger(run).relative < 1e-12
    assert len(run) == run.info["steps"] + 1 and np.all(np.diff(run.t) > 0)


@pytest.mark.parametrize("output", [3, np.linspace(0.0, 1.3, 7)])
def test_adaptive_runs_keep_what_is_wanted(output):
    system, state = tolerances.railed(tolerances.SPRING, x=1.0)
    result = ph.simulate(system, state, 1.3, output=output, scheme=ph.Midpoint(rtol=1e-5))
    if not isinstance(output, int):
        np.testing.assert_array_equal(result.t, output)
    else:
        assert len(result) == result.info["steps"] // 3 + 1 + (result.info["steps"] % 3 > 0)
    np.testing.assert_allclose(result["rail.slide"], np.cos(2 * np.pi * result.t), atol=5e-5)
