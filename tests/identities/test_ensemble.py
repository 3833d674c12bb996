"""Ensembles: each sample is the run it stands for, whoever runs it, in whatever order, at whatever attempt."""

import os
import pickle
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import ensemble_zoo as zoo
import numpy as np
import pytest
from messages import warns

import phloat as ph
from phloat.many.ensemble import fingerprint
from phloat.many.pickling import dumps
from phloat.many.results import moments
from phloat.many.samples import draw_samples
from phloat.many.workers import SHARE_SAMPLES, SHARE_SECONDS, run_samples, shares_of
from phloat.random import Distribution

DISTRIBUTIONS = [
    ph.random.normal(3.0, 0.5),
    ph.random.uniform(-1.0, 4.0),
    ph.random.lognormal(2.0, 0.7),
    ph.random.triangular(1.0, 1.5, 4.0),
    ph.random.triangular(1.0, 1.0, 4.0),
    ph.random.triangular(1.0, 4.0, 4.0),
    ph.random.truncated(ph.random.normal(0.0, 1.0), low=0.5, high=2.0),
    ph.random.truncated(ph.random.lognormal(2.0, 0.7), high=3.0),
]
BOTH = {"ball.mass": ph.random.uniform(1.0, 3.0), "u.push": ph.random.normal(3.0, 0.2)}


# --- distributions and samples ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=repr)
def test_quantile_and_probability_are_inverse(distribution):
    p = np.linspace(1e-6, 1 - 1e-6, 1001)
    np.testing.assert_allclose(distribution.cdf(distribution.ppf(p)), p, atol=1e-12)
    assert (np.diff(distribution.ppf(p)) > 0).all()


def test_distributions_are_those_of_scipy():
    from scipy import stats

    p = np.linspace(1e-4, 1 - 1e-4, 101)
    s = np.sqrt(np.log(1 + 0.7**2 / 2.0**2))
    peers = {
        ph.random.normal(3.0, 0.5): stats.norm(3.0, 0.5),
        ph.random.lognormal(2.0, 0.7): stats.lognorm(s, scale=2.0 * np.exp(-0.5 * s**2)),
        ph.random.triangular(1.0, 1.5, 4.0): stats.triang(0.5 / 3.0, 1.0, 3.0),
        ph.random.truncated(ph.random.normal(0.0, 1.0), low=0.5, high=2.0): stats.truncnorm(0.5, 2.0),
    }
    for ours, peer in peers.items():
        np.testing.assert_allclose(ours.ppf(p), peer.ppf(p), rtol=1e-10)
    assert stats.lognorm(s, scale=2.0 * np.exp(-0.5 * s**2)).stats() == pytest.approx((2.0, 0.49))
    foreign = stats.weibull_min(2.0)
    assert isinstance(foreign, Distribution)
    values = draw_samples({"x": foreign}, 100, "random", 0).values[:, 0]
    np.testing.assert_array_equal(
        values, foreign.ppf(draw_samples({"x": ph.random.uniform(0.0, 1.0)}, 100, "random", 0).values[:, 0])
    )


def test_a_choice_takes_each_value_as_often_as_its_weight():
    drawn = draw_samples({"x": ph.random.choice([1.0, 5.0, 9.0], weights=[2.0, 1.0, 1.0])}, 1000, "latin", 0).values[
        :, 0
    ]
    assert [int((drawn == x).sum()) for x in (1.0, 5.0, 9.0)] == [500, 250, 250]


def test_a_sample_does_not_depend_on_how_many_there_are_or_on_other_parameters():
    one = draw_samples({"a": ph.random.uniform(0.0, 1.0)}, 10, "random", 3)
    more = draw_samples({"b": ph.random.normal(0.0, 1.0), "a": ph.random.uniform(0.0, 1.0)}, 100, "random", 3)
    np.testing.assert_array_equal(one.values[:, 0], more.values[:10, 1])
    assert not np.array_equal(one.values, draw_samples({"a": ph.random.uniform(0.0, 1.0)}, 10, "random", 4).values)
    assert not np.allclose(more.values[:, 0], ph.random.normal(0.0, 1.0).ppf(more.values[:, 1]))


def test_a_latin_hypercube_has_one_value_in_each_interval():
    values = draw_samples({"a": ph.random.uniform(0.0, 1.0), "b": ph.random.uniform(0.0, 1.0)}, 50, "latin", 0).values
    for column in values.T:
        np.testing.assert_array_equal(np.sort((50 * column).astype(int)), np.arange(50))
    assert abs(np.corrcoef(values.T)[0, 1]) < 0.4


def test_a_sobol_sequence_fills_every_half_and_quarter_evenly():
    values = draw_samples({"a": ph.random.uniform(0.0, 1.0), "b": ph.random.uniform(0.0, 1.0)}, 64, "sobol", 1).values
    cells = (8 * values).astype(int)
    assert len({tuple(cell) for cell in cells}) == 64


def test_a_grid_takes_all_combinations_and_rows_take_lists_side_by_side():
    grid = draw_samples({"a": [1.0, 2.0], "b": 7.0, "c": (3.0, 4.0, 5.0)}, None, None, 0)
    assert grid.values.tolist() == [[a, 7.0, c] for a in (1.0, 2.0) for c in (3.0, 4.0, 5.0)]
    rows = draw_samples({"a": [1.0, 2.0], "b": 7.0, "c": (3.0, 4.0)}, None, "rows", 0)
    assert rows.values.tolist() == [[1.0, 7.0, 3.0], [2.0, 7.0, 4.0]]


def test_moments_piece_by_piece_are_those_of_all():
    x = np.random.default_rng(0).normal(1e6, 1.0, (1000, 3)) + 0.5j
    n, mean, squares = moments([x[:1], x[1:10], x[10:10], x[10:700], x[700:]])
    assert n == 1000
    np.testing.assert_allclose(mean, x.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(squares, (np.abs(x - x.mean(axis=0)) ** 2).sum(axis=0), rtol=1e-10)


# --- runs ------------------------------------------------------------------------------------------------------------


def test_each_sample_is_the_run_of_its_own_system():
    runs = zoo.asked(BOTH, 5, sampling="latin")
    for k in range(5):
        system = ph.with_parameters(zoo.pushed(), {"ball.mass": runs["ball.mass"][k]})
        run = ph.simulate(system, ph.place(system), zoo.T, dt=0.5, u={"push": runs["u.push"][k]})
        assert runs.values[k] == zoo.way(run)
        assert zoo.way(runs.rerun(k)) == runs.values[k]


def test_functions_of_time_are_evaluated_once_for_all_samples():
    calls = []

    def push(t):
        calls.append(t)
        return 3.0 + t

    counts = []
    for samples in (1, 4):
        calls.clear()
        zoo.asked({"ball.mass": ph.random.uniform(1.0, 3.0)}, samples, u={"push": push}, dt=0.01)
        counts.append(len(calls))
    assert counts[1] - counts[0] <= 3  # one at the start of each further run


def test_workers_change_nothing():
    here, slow = os.getpid(), zoo.asked(BOTH, 128, output=lambda r: 0.0)["ball.mass"][0]

    def output(result):
        if os.getpid() != here and result.system.bodies["ball"].inertia.m == slow:
            time.sleep(1.1 * SHARE_SECONDS)  # the process hands in, and others have the rest of its share
        return {"way": zoo.way(result), "path": result["ball.r_P"]}

    alone = zoo.asked(BOTH, 128, output=output)
    two = zoo.asked(BOTH, 128, output=output, workers=2)
    for name, values in alone.outputs.items():
        np.testing.assert_array_equal(two[name], values)
    np.testing.assert_array_equal(alone.t, two.t)


@pytest.mark.parametrize("count", [1, 5, 100, 100_000])
def test_shares_have_every_sample_once_and_become_single_samples(count):
    shares = shares_of(np.arange(count), 2)
    np.testing.assert_array_equal(np.concatenate(shares), np.arange(count))
    sizes = [len(share) for share in shares]
    assert sizes == sorted(sizes, reverse=True) and sizes[-1] == 1
    assert len(sizes) < 300 + count / SHARE_SAMPLES


def test_what_other_processes_do_not_know_is_run_in_threads(monkeypatch):
    @dataclass(frozen=True)
    class Own:
        factor: float

        def __call__(self, result):
            return self.factor * zoo.way(result)

    monkeypatch.setattr(
        "phloat.many.workers.SHARE_SECONDS", 0.0
    )  # so that shares are handed in early, and given out again
    threads = zoo.asked(BOTH, 128, output=Own(2.0), workers=2)
    np.testing.assert_array_equal(threads.values, 2.0 * zoo.asked(BOTH, 128).values)


def test_a_share_of_large_outputs_is_handed_in_early(monkeypatch):
    run = zoo.asked(BOTH, 10, output=lambda r: np.ones(1000)).run.__self__
    table = np.tile([2.0, 3.0], (10, 1))
    assert len(run_samples(run, np.arange(10), table)) == 10
    monkeypatch.setattr("phloat.many.workers.SHARE_BYTES", 20_000)
    found = run_samples(run, np.arange(10), table)
    assert [outcome.sample for outcome in found] == [0, 1, 2]
    assert [outcome.t is None for outcome in found] == [False, True, True]  # of equal times one is sent


def test_arguments_of_functions_and_numbers_of_controllers_are_parameters():
    arm = ph.RigidBody(1.0, np.eye(3), center=(0.5, 0.0, 0.0)).discretise()
    swing = ph.connect({"arm": arm}, [ph.Revolute("ground", "arm.P", name="hinge")], plane="xy")

    def angle(result):
        return result["hinge.angle"][-1]

    common = {"t_end": 0.5, "dt": 0.05, "output": angle, "workers": 1}
    start = ph.place(swing, {"arm.theta": 0.4})
    held = {"controller": ph.control.passive_pid("hinge", stiffness=3.0, damping=0.1), "start": start}
    named = ph.ensemble(swing, {"controller.stiffness": [2.0, 3.0, 4.0]}, **common, **held)
    made = ph.ensemble(
        swing,
        {"k": [2.0, 3.0, 4.0]},
        **common,
        controller=ph.parametric(lambda k, d=0.1: ph.control.passive_pid("hinge", stiffness=k, damping=d)),
        start=ph.parametric(lambda system: ph.place(system, {"arm.theta": 0.4})),
    )
    np.testing.assert_array_equal(named.values, made.values)
    assert named.values[1] == angle(ph.simulate(swing, start, 0.5, dt=0.05, controller=held["controller"]))
    assert len(set(named.values)) == 3


def test_numbers_of_inputs_are_parameters():
    corners = ph.piecewise({0.0: 0.0, 1.0: 2.0})
    runs = zoo.asked({"u.push.values[1]": [2.0, 4.0]}, u={"push": corners})
    assert runs.values[1] == pytest.approx(2 * runs.values[0], rel=1e-12)
    scaled = zoo.asked({"F": [3.0, 6.0]}, u={"push": ph.parametric(lambda F: F)})
    np.testing.assert_array_equal(scaled.values, zoo.asked({"u.push": [3.0, 6.0]}).values)


def test_a_bent_start_keeps_its_shape_when_the_stiffness_changes():
    rod = ph.Beam(1.0, ph.Rectangle(0.02, 0.02), ph.Material(E=1e9, rho=1000.0, nu=0.3)).discretise(2)
    system = ph.connect({"rod": rod}, [ph.Weld("ground", "rod.P")], plane="xy")
    flat = ph.place(system)
    bent = flat.with_values({"rod.eta": 1e-3 * np.arange(1.0, 1 + len(flat["rod.eta"]))})
    runs = ph.ensemble(
        system,
        {"rod.material.E": [1e9, 2e9]},
        start=bent,
        t_end=1e-3,
        dt=1e-3,
        output=lambda r: {"eta": r["rod.eta"][0], "H": r.energy[0]},
        workers=1,
    )
    np.testing.assert_array_equal(runs["eta"][0], runs["eta"][1])
    assert runs["H"][1] == pytest.approx(2 * runs["H"][0], rel=1e-12)


def test_a_dict_a_number_and_an_array_come_back_as_they_are():
    runs = zoo.asked(BOTH, 6, output=lambda r: {"way": zoo.way(r), "path": r["ball.r_P"], "z": 1j * zoo.way(r)})
    assert runs["path"].shape == (6, 5, 2) and runs["way"].shape == (6,)
    assert runs.over_time("path") and not runs.over_time("way")
    mean, std = runs.mean(), runs.std()
    assert isinstance(mean["way"], float) and mean["way"] == pytest.approx(runs["way"].mean())
    assert std["way"] == pytest.approx(runs["way"].std(ddof=1))
    assert mean["z"] == pytest.approx(1j * mean["way"])
    np.testing.assert_allclose(mean["path"], runs["path"].mean(axis=0))
    np.testing.assert_allclose(runs.quantile([0.1, 0.5])["path"], np.quantile(runs["path"], [0.1, 0.5], axis=0))
    assert runs.sensitivity()["path"]["u.push"].shape == (5, 2)
    assert zoo.asked(BOTH, 3, output=lambda r: r["ball.r_P"]).mean().shape == (5, 2)
    last = zoo.asked(BOTH, 3, output=None)
    assert last["ball.r_P"].shape == (3, 2)


def test_times_are_kept_as_asked():
    runs = zoo.asked(BOTH, 3, output=lambda r: r["ball.r_P"][:, 0], keep=[0.25, 1.0, 2.0])
    np.testing.assert_array_equal(runs.t, [0.25, 1.0, 2.0])
    exact = runs["u.push"] / (2 * runs["ball.mass"]) * runs.t[:, None] ** 2
    np.testing.assert_allclose(runs.values, exact.T, rtol=1e-12)


def test_a_grid_is_an_array_over_its_parameters():
    runs = zoo.asked({"ball.mass": [1.0, 2.0, 4.0], "u.push": [3.0, 6.0]})
    m, F = runs.axes.values()
    np.testing.assert_allclose(runs.on_grid(), F[None] * zoo.T**2 / (2 * m[:, None]), rtol=1e-13)


def test_as_a_dataset():
    pytest.importorskip("xarray")
    runs = zoo.asked(BOTH, 4, output=lambda r: {"way": zoo.way(r), "path": r["ball.r_P"]})
    data = runs.to_xarray()
    np.testing.assert_array_equal(data["way"], runs["way"])
    np.testing.assert_array_equal(data["path"].sel(t=1.0), runs["path"][:, 2])
    np.testing.assert_array_equal(data["ball.mass"], runs["ball.mass"])
    grid = zoo.asked({"ball.mass": [1.0, 2.0, 4.0], "u.push": [3.0, 6.0]}).to_xarray()
    assert grid["output"].sel({"ball.mass": 2.0, "u.push": 6.0}) == pytest.approx(6.0 * zoo.T**2 / 4.0)


# --- saved and resumed -----------------------------------------------------------------------------------------------


class Stop(BaseException):
    """As an interrupt from the keyboard."""


class Counting:
    """An output that counts, and stops the whole at some call."""

    def __init__(self, stop=None):
        self._seen, self._stop = [], stop

    @property
    def seen(self):
        return self._seen

    def __call__(self, result):
        if len(self.seen) == self._stop:
            raise Stop
        self.seen.append(float(result.system.bodies["ball"].inertia.m))
        return zoo.way(result)


def test_a_stopped_sweep_goes_on_and_runs_nothing_twice(tmp_path):
    whole = zoo.asked(BOTH, 20, output=Counting())
    first, then, never = Counting(stop=7), Counting(), Counting(stop=0)
    with pytest.raises(Stop):
        zoo.asked(BOTH, 20, output=first, save=tmp_path / "runs")
    part = ph.io.load_ensemble(tmp_path / "runs")
    assert part.missing == 13 and "13 not run" in repr(part)
    np.testing.assert_array_equal(part["output"][:7], whole.values[:7])
    runs = zoo.asked(BOTH, 20, output=then, save=tmp_path / "runs")
    assert sorted(first.seen + then.seen) == sorted(runs["ball.mass"])
    np.testing.assert_array_equal(runs.values, whole.values)
    again = zoo.asked(BOTH, 20, output=never, save=tmp_path / "runs")
    np.testing.assert_array_equal(again.values, whole.values)
    loaded = ph.io.load_ensemble(tmp_path / "runs")
    assert loaded.info["finished"] and not loaded.missing
    assert loaded.mean() == pytest.approx(whole.mean(), rel=1e-14)
    assert loaded.quantile(0.3) == whole.quantile(0.3)
    np.testing.assert_array_equal(np.load(tmp_path / "runs" / "parameters.npy"), whole.samples.values)


def test_pieces_that_were_cut_short_are_run_again(tmp_path, monkeypatch):
    monkeypatch.setattr("phloat.many.store.SAMPLES", 4)
    whole = zoo.asked(BOTH, 12, output=Counting(), save=tmp_path / "runs").values
    pieces = sorted((tmp_path / "runs").glob("piece.*.npz"))
    assert len(pieces) == 3
    pieces[0].write_bytes(pieces[0].read_bytes()[:-40])
    pieces[2].unlink()
    (tmp_path / "runs" / "piece.000009.npz.part").write_bytes(b"half")
    again = Counting()
    with warns(ph.errors.DamagedRunWarning, "piece.000000.npz"):
        assert ph.io.load_ensemble(tmp_path / "runs").missing == 8
    with warns(ph.errors.DamagedRunWarning, "piece.000000.npz"):
        runs = zoo.asked(BOTH, 12, output=again, save=tmp_path / "runs")
    assert len(again.seen) == 8
    np.testing.assert_array_equal(runs.values, whole)


@pytest.mark.long
def test_a_sweep_that_is_ended_by_force_goes_on(tmp_path):
    script = tmp_path / "sweep.py"
    script.write_text(SWEEP.format(zoo=str(ROOT / "tests" / "zoo"), folder=str(tmp_path / "runs")))
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as process:
        while len(list((tmp_path / "runs").glob("piece.*.npz"))) < 3:
            assert process.poll() is None, "the sweep ended by itself"
            time.sleep(0.05)
        process.kill()
    before = ph.io.load_ensemble(tmp_path / "runs")
    assert 0 < before.missing < 400
    said = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert int(said.stdout) == before.missing  # and not one more
    runs = ph.io.load_ensemble(tmp_path / "runs")
    assert runs.ok.all() and runs.info["finished"]
    np.testing.assert_allclose(runs["output"], 3.0 * zoo.T**2 / (2 * runs["ball.mass"]), rtol=1e-13)


ROOT = Path(__file__).parents[2]
SWEEP = """
import sys
sys.path.insert(0, {zoo!r})
import ensemble_zoo as zoo
import numpy as np
import phloat as ph
import phloat.many.store as store
import time

def way(result):
    time.sleep(0.01)
    return zoo.way(result)

store.SECONDS, took, take = 0.2, [0], store.Collector.take

def counting(self, outcomes):
    took[0] += len(outcomes)
    take(self, outcomes)

store.Collector.take = counting
zoo.asked({{"ball.mass": np.linspace(1.0, 5.0, 400)}}, output=way, workers=2, save={folder!r})
print(took[0])
"""


def test_failures_are_kept_on_disk_with_their_reason(tmp_path):
    question = {"ball.mass": [1.0, -1.0, 2.0]}
    with warns(ph.errors.FailedSamplesWarning, "1 of 3"):
        runs = zoo.asked(question, save=tmp_path / "runs")
    loaded = ph.io.load_ensemble(tmp_path / "runs")
    assert runs.failed == loaded.failed and loaded.failed[0].sample == 1
    assert loaded.ok.tolist() == [True, False, True]


# --- across processes ------------------------------------------------------------------------------------------------

FACTOR = 3.0


def tripled(x):
    return FACTOR * x


def factorial(n):
    return 1 if n == 0 else n * factorial(n - 1)


def elsewhere(function, *arguments):
    """What a function gives in a fresh process that cannot import this file."""
    code = "import sys, pickle; f, a = pickle.load(sys.stdin.buffer); sys.stdout.buffer.write(pickle.dumps(f(*a)))"
    sent = dumps("it", (function, arguments))
    done = subprocess.run([sys.executable, "-c", code], input=sent, capture_output=True, cwd="/")
    assert not done.returncode, done.stderr.decode()
    return pickle.loads(done.stdout)


def test_functions_of_scripts_travel_with_what_they_name():
    offset = 0.5

    def inner(x, *, power=2):
        return tripled(x) ** power + offset + np.float64(factorial(4))

    assert elsewhere(inner, 2.0) == inner(2.0) == 36.0 + 0.5 + 24.0
    assert elsewhere(lambda xs: [tripled(x) for x in xs], [1.0, 2.0]) == [3.0, 6.0]
    assert elsewhere(np.linalg.norm, np.array([3.0, 4.0])) == 5.0


def test_functions_that_know_themselves_travel():
    def even(n):
        return n == 0 or odd(n - 1)

    def odd(n):
        return n != 0 and even(n - 1)

    assert elsewhere(even, 10) is True


def test_fingerprints_are_of_what_is_said():
    def one(x):
        return x + 1.0

    first = fingerprint([one, {"a": np.arange(3.0)}, ph.Midpoint(), lambda x: 2 * x])

    def one(x):
        return x + 1.0

    assert first == fingerprint([one, {"a": np.arange(3.0)}, ph.Midpoint(), lambda x: 2 * x])
    others = [
        [one, {"a": np.arange(3.0)}, ph.Midpoint(), lambda x: 3 * x],
        [one, {"a": np.arange(3)}, ph.Midpoint(), lambda x: 2 * x],
        [one, {"a": np.arange(3.0)}, ph.Midpoint(rtol=1e-6), lambda x: 2 * x],
        [one, {"b": np.arange(3.0)}, ph.Midpoint(), lambda x: 2 * x],
    ]
    assert len({first, *map(fingerprint, others)}) == 5
    assert fingerprint(lambda x: FACTOR * x) != fingerprint(lambda x: tripled(x))
    assert fingerprint(np.sin) != fingerprint(np.cos)

    class Half:
        def __call__(self, x):
            return 0.5 * x

    before = fingerprint(Half())

    class Half:
        def __call__(self, x):
            return 0.25 * x

    assert before != fingerprint(Half())
