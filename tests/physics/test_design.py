"""The optimiser finds what is known in closed form, with gradients that are right, and survives runs that fail."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from messages import raises

import phloat as ph
from phloat.twin.design import optimise

# --- a number in closed form, asked for as that of a run -------------------------------------------------------------


@dataclass
class Rosenbrock:
    """(1 − x)² + 100 (y − x²)², of a parameter x and a gain y; where `broken` says so there is no run."""

    broken: object = lambda x, y: False
    asked: list = field(default_factory=list)

    def value(self, values, gains):
        x, y = values["x"], gains["y"]
        self.asked.append((x, y))
        if self.broken(x, y):
            raise ph.errors.InputError("the body cannot be")
        return (1 - x) ** 2 + 100 * (y - x**2) ** 2

    def gradient(self, values, gains):
        x, y = values["x"], gains["y"]
        return self.value(values, gains), {"x": -2 * (1 - x) - 400 * x * (y - x**2), "y": 200 * (y - x**2)}


START = {"values": {"x": -1.0}, "gains": {"y": 1.5}, "bounds": {"x": (-2.0, 2.0), "y": (-1.0, 3.0)}}


def disc(v):
    return 1.0 - v["x"] ** 2 - v["y"] ** 2


def test_the_valley_of_rosenbrock_is_walked_to_its_end():
    found = optimise(Rosenbrock(), **START, tolerance=1e-12)
    assert found.values["x"] == pytest.approx(1.0, abs=1e-5) and found.gains["y"] == pytest.approx(1.0, abs=2e-5)
    assert found.converged and not found.failed
    assert found.evaluations == found.gradients == len(found.history)
    assert found.history[0].variables == {"x": -1.0, "y": 1.5}
    assert "with gradients" in str(found) and "x: -1 →" in str(found)


@pytest.mark.parametrize("slopes", [None, lambda v: {"x": -2 * v["x"], "y": -2 * v["y"]}])
def test_a_constraint_is_met_and_held(slopes):
    found = optimise(Rosenbrock(), **START, constraints=[(disc, slopes)], tolerance=1e-12)
    assert found.number == pytest.approx(0.0456748, rel=1e-5)  # on the unit disc, known from elsewhere
    assert (found.values["x"], found.gains["y"]) == pytest.approx((0.7864, 0.6177), abs=1e-4)
    assert disc(found.values | found.gains) > -1e-5


def test_without_gradients_the_same_is_found_with_more_runs():
    slow = optimise(Rosenbrock(), **START, constraints=[disc], gradients=False, most=3000)
    quick = optimise(Rosenbrock(), **START, constraints=[disc])
    assert slow.number == pytest.approx(0.0456748, rel=1e-2)
    assert slow.gradients == 0 and slow.evaluations > 2 * quick.evaluations


def test_without_gradients_and_constraints_a_simplex_finds_the_end_of_the_valley():
    """And beside a wall: runs fail for y > 1.3."""
    slow = optimise(Rosenbrock(), **START, gradients=False, most=3000)
    walled = optimise(
        Rosenbrock(broken=lambda x, y: y > 1.3), **{**START, "gains": {"y": 0.5}}, gradients=False, most=3000
    )
    for found in (slow, walled):
        assert (found.values["x"], found.gains["y"]) == pytest.approx((1.0, 1.0), abs=1e-4) and found.converged
    assert not slow.failed and walled.failed


def test_no_run_is_made_twice():
    problem = Rosenbrock()
    found = optimise(problem, **START, constraints=[disc])
    assert len(set(problem.asked)) == len(problem.asked) == found.evaluations


def test_a_range_over_decades_is_searched_by_its_logarithm():
    class Decades:
        def gradient(self, values, gains):
            x = np.log10(values["E"])
            return (x - 9.3) ** 2, {"E": 2 * (x - 9.3) / (values["E"] * np.log(10.0))}

    found = optimise(Decades(), {"E": 1e6}, bounds={"E": (1e5, 1e12)})
    assert found.values["E"] == pytest.approx(10**9.3, rel=1e-4)
    assert found.evaluations <= 8  # a parabola in log E


# --- runs that fail ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("constraints", [(), (disc,)])
@pytest.mark.parametrize("how", ["raises", "nan"])
def test_a_search_backs_off_from_runs_that_fail(how, constraints):
    class Walled(Rosenbrock):
        def gradient(self, values, gains):
            number, slopes = super().gradient(values, gains)
            if how == "nan" and gains["y"] > 1.3:
                return float("nan"), slopes
            return number, slopes

    problem = Walled(broken=lambda x, y: how == "raises" and y > 1.3)
    start = {**START, "gains": {"y": 0.5}}
    found = optimise(problem, **start, constraints=constraints, tolerance=1e-12)
    free = optimise(Rosenbrock(), **start, constraints=constraints, tolerance=1e-12)
    assert found.converged and found.number == pytest.approx(free.number, rel=1e-5, abs=1e-10)
    assert found.failed and all(np.isfinite(trial.number) for trial in found.history if trial.number is not None)
    for trial in found.failed:
        assert trial.variables["y"] > 1.3 and ("cannot be" in trial.reason or "not finite" in trial.reason)


def test_the_edge_of_what_can_be_run_is_reached():
    found = optimise(Rosenbrock(broken=lambda x, y: x > 0.5), **START)
    assert found.failed and 0.499 < found.values["x"] <= 0.5
    assert found.number == pytest.approx(0.25, rel=1e-2)  # at x = ½, y = ¼


def test_the_first_run_must_succeed():
    with raises(ph.errors.InputError):
        optimise(Rosenbrock(broken=lambda x, y: True), **START)


def test_the_number_of_runs_is_bounded_and_a_level_is_enough():
    few = optimise(Rosenbrock(), **START, most=5)
    assert few.evaluations == 5 and not few.converged and "5 runs" in few.message
    enough = optimise(Rosenbrock(), **START, until=1.0)
    assert enough.number <= 1.0 and enough.converged
    assert [trial.number <= 1.0 for trial in enough.history] == [False] * (enough.evaluations - 1) + [True]


# --- time and progress --------------------------------------------------------------------------------------------------


@dataclass
class Compiled(Rosenbrock):
    """A problem whose clock goes on by a minute for the first run and by `run` for later ones."""

    run: float = 1.0
    now: float = 0.0

    def value(self, values, gains):
        self.now += 60.0 + self.run if not self.asked else self.run
        return super().value(values, gains)


@pytest.mark.parametrize(("run", "quicker"), [(0.1, True), (10.0, False)])
def test_a_search_says_how_long_it_compiled_and_whether_one_without_gradients_is_quicker(monkeypatch, run, quicker):
    problem = Compiled(run=run)
    monkeypatch.setattr("phloat.twin.design.time.perf_counter", lambda: problem.now)
    found = optimise(problem, **START)
    assert len(found.seconds) == found.evaluations and found.compiling == pytest.approx(60.0)
    assert ("Nelder-Mead" in found.advice) == quicker == ("Nelder-Mead" in str(found))
    assert "60 s to compile" in str(found)
    without = optimise(Compiled(run=run), **START, gradients=False, most=50)
    assert without.advice == ""


def test_progress_is_shown_from_the_first_run_on(capsys, monkeypatch):
    optimise(Rosenbrock(), **START)
    assert capsys.readouterr().err == ""
    shown = []

    class Watched(Rosenbrock):
        def value(self, values, gains):
            shown.append(capsys.readouterr().err)
            return super().value(values, gains)

    monkeypatch.setattr("phloat.motion.run.progress.PATIENCE", 0.0)
    monkeypatch.setattr("phloat.motion.run.progress.PAUSE", 0.0)
    optimise(Watched(broken=lambda x, y: y > 2.0), **START, progress=True)
    assert "compiles the run and its gradient" in shown[0]
    assert "run 1 of at most 200" in shown[1] and ": 29, gradient" in shown[1]
    optimise(Watched(), **START, progress=True, gradients=False, most=3)
    assert "compiles the run, unless" in shown[-3] and "gradient" not in shown[-2] and ": 29" in shown[-2]


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"values": {"x": 5.0}}, "'x'"),
        ({"bounds": {"x": (-2.0, 2.0)}}, "'y'"),
        ({"bounds": START["bounds"] | {"z": (0.0, 1.0)}}, "'z'"),
        ({"bounds": START["bounds"] | {"x": (2.0, -2.0)}}, "'x'"),
        ({"bounds": START["bounds"] | {"x": (-2.0, np.inf)}}, "'x'"),
        ({"values": {"x": np.nan}}, "'x'"),
        ({"gains": {"y": 1.0, "x": 1.0}}, "'x'"),
        ({"values": {}, "gains": {}, "bounds": {}}, ""),
        ({"most": 0}, "most is 0"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"constraints": [lambda v: -1.0]}, ""),
        ({"constraints": [lambda v: np.nan]}, "constraint 0"),
        ({"constraints": [(disc, lambda v: {"w": 1.0})]}, "'w'"),
    ],
)
def test_bad_input_is_answered_with_a_sentence(change, name):
    with raises(ph.errors.InputError, name):
        optimise(Rosenbrock(), **{**START, **change})


# --- runs ---------------------------------------------------------------------------------------------------------------


def pendulum(period: float, amplitude: float = 1e-3):
    """A compound pendulum that is to pass its lowest point after a quarter of `period` as fast as if nothing braked it."""
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    from phloat.twin import Problem

    bob = ph.RigidBody(mass=2.0, inertia=np.eye(3) * 0.01, center=(0.0, -0.4, 0.0)).discretise()
    hinge = ph.Revolute("ground", "bob.P", name="hinge")
    system = ph.connect({"bob": bob}, [hinge], gravity=(0.0, -9.81, 0.0), plane="xy")

    def output(motion):
        angle = motion.theta("bob")[-1] / amplitude
        rate = motion.omega("bob").reshape(-1)[-1] / (amplitude * 2 * np.pi / period)
        return angle**2 + (rate + 1.0) ** 2

    def brake(gains, now):
        return {"hinge": -gains["brake"] * now.rate("hinge")}

    start = ph.place(system, {"bob.theta": amplitude})
    return Problem(system, start, period / 4, period / 400, output, u={"hinge": 0.0}, feedback=brake)


@pytest.mark.long  # JAX compiles a gradient for half a minute
def test_a_pendulum_gets_the_length_of_its_period_and_loses_its_brake():
    period, name = 1.5, "bob.center[1]"
    problem = pendulum(period)
    asked = {"values": {name: -0.4}, "gains": {"brake": 0.3}}

    _, slopes = problem.gradient(**asked)
    for which, by in (("values", name), ("gains", "brake")):
        step = 1e-4 * asked[which][by]
        sides = [problem.gradient(**{**asked, which: {by: asked[which][by] + k * step}})[0] for k in (-2, -1, 1, 2)]
        central = (8 * (sides[2] - sides[1]) - (sides[3] - sides[0])) / (12 * step)
        assert slopes[by] == pytest.approx(central, rel=1e-6)

    found = optimise(problem, **asked, bounds={name: (-1.0, -0.3), "brake": (-0.5, 0.5)}, tolerance=1e-10)
    assert found.converged
    # (2π/T)² (m l² + I) = m g l; the larger root
    length = np.roots([2.0 * (2 * np.pi / period) ** 2, -2.0 * 9.81, 0.01 * (2 * np.pi / period) ** 2]).max()
    assert found.values[name] == pytest.approx(-length, rel=1e-4)
    assert found.gains["brake"] == pytest.approx(0.0, abs=1e-3)
    assert found.evaluations < 40


@pytest.mark.long
def test_stiffness_and_damping_are_identified_within_the_noise():
    pytest.importorskip("jax")
    import identification as example

    for name in example.true:
        assert abs(example.missed[name]) < 3 * example.deviation[name]
    assert example.deviation["beam.material.E"] < 2e-3 and example.deviation["beam.damping.time"] < 0.02
    count = len(example.measured)
    assert example.fit.number == pytest.approx(count, abs=4 * (2 * count) ** 0.5)  # χ² of so many measurements
    assert example.fit.converged


@pytest.mark.long
def test_the_slewing_arm_stops_with_a_taper_and_gains_of_its_own():
    pytest.importorskip("jax")
    import slewing_arm_design as example

    design, tuned, slow = example.design, example.tuned, example.slow
    assert tuned.history[0].number == pytest.approx(5064.9, rel=1e-3)  # mrad²
    assert tuned.number == pytest.approx(0.4721, rel=1e-2)
    assert design.number == pytest.approx(0.00141, rel=0.05)
    assert example.spare[0](design.values) > -1e-6
    assert design.values["arm.section.root"] > 3 * design.values["arm.section.tip"]
    as_good = next(k for k, trial in enumerate(design.history, 1) if trial.number <= slow.number)
    assert as_good < slow.evaluations / 5
