"""Ensembles that cannot be, and samples that fail: a sentence, and the others go on."""

import os
import signal
import time

import ensemble_zoo as zoo
import numpy as np
import pytest
from messages import raises, warns

import phloat as ph
from phloat.errors import InputError

MASS = {"ball.mass": ph.random.uniform(1.0, 3.0)}


@pytest.mark.parametrize(
    ("parameters", "other", "said"),
    [
        ({"ball.mas": [1.0]}, {}, "'ball.mas'"),
        ({"u.pull": [1.0]}, {}, "'u.pull'"),
        ({3: [1.0]}, {}, "3"),
        ({}, {}, ""),
        ([("ball.mass", 1.0)], {}, "parameters"),
        ({"ball.mass": "heavy"}, {}, "'heavy'"),
        ({"ball.mass": []}, {}, "'ball.mass'"),
        ({"ball.mass": [1.0, np.nan]}, {}, "'ball.mass'"),
        ({"ball.mass": [1.0], "*.mass": [2.0]}, {}, "'ball.mass'"),
        (MASS, {}, "samples"),
        (MASS, {"samples": 0}, "samples"),
        (MASS, {"samples": 2.5}, "samples"),
        (MASS, {"samples": 2, "seed": -1}, "seed"),
        (MASS, {"samples": 2, "sampling": "lattin"}, "'lattin'"),
        (MASS, {"samples": 2, "sampling": "grid"}, "sampling='grid'"),
        ({"ball.mass": [1.0, 2.0]}, {"samples": 7}, "samples=7"),
        ({"ball.mass": [1.0, 2.0]}, {"sampling": "latin"}, "'ball.mass'"),
        ({"ball.mass": [1.0, 2.0], "u.push": ph.random.normal(1, 1)}, {"samples": 2}, "'ball.mass'"),
        ({"ball.mass": [1.0, 2.0], "u.push": [1.0]}, {"sampling": "rows"}, "ball.mass"),
        ({name: np.arange(1.0, 1e3) for name in ("ball.mass", "u.push", "gravity[0]")}, {}, "1.0e+09"),
        (MASS, {"samples": 2, "output": 3}, "output"),
        (MASS, {"samples": 2, "start": 3}, "start"),
        (MASS, {"samples": 2, "workers": 0}, "workers"),
        (MASS, {"samples": 2, "workers": 1, "scheduler": "tcp://x"}, "workers"),
        ({"ball.mass": [1.0]}, {"u": {"push": ph.parametric(lambda k: k)}}, "'k'"),
        ({"u.push": [1.0]}, {"u": {"push": lambda t: 1.0}}, "'u.push'"),
    ],
)
def test_a_question_that_cannot_be_asked(parameters, other, said):
    with raises(InputError, said):
        zoo.asked(parameters, **other)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: ph.random.normal(1.0, 0.0), "std"),
        (lambda: ph.random.normal("a", 1.0), "'a'"),
        (lambda: ph.random.uniform(2.0, 1.0), "low"),
        (lambda: ph.random.lognormal(-1.0, 1.0), "mean"),
        (lambda: ph.random.triangular(0.0, 2.0, 1.0), "mode"),
        (lambda: ph.random.truncated(ph.random.normal(0.0, 1.0), low=40.0), "Normal"),
        (lambda: ph.random.truncated(ph.random.normal(0.0, 1.0), low=1.0, high=0.0), "low"),
        (lambda: ph.random.truncated(3.0, low=1.0), "3.0"),
        (lambda: ph.random.choice([]), "choice"),
        (lambda: ph.random.choice([1.0, 2.0], [1.0]), "weights"),
        (lambda: ph.parametric(3), "3"),
        (lambda: ph.parametric(lambda *k: k), ""),
    ],
)
def test_distributions_that_cannot_be(make, name):
    with raises(InputError, name):
        make()


# --- errors of the call, and of samples ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("other", "name"),
    [
        ({"dt": None}, "dt"),
        ({"output": lambda r: r["bell.r_P"]}, "'bell.r_P'"),
        ({"output": lambda r: 1 / 0}, "ZeroDivisionError"),
        ({"output": lambda r: r}, "Result"),
        ({"output": lambda r: "far"}, "'far'"),
        ({"output": lambda r: {"far": [[1.0], [1.0, 2.0]]}}, "'far'"),
        ({"output": lambda r: np.nan}, "'output'"),
        ({"u": {"pull": 1.0}}, "'pull'"),
        ({"start": lambda system: 3}, "int"),
        ({"t_end": -1.0}, "t_end"),
    ],
)
def test_what_fails_for_the_system_itself_is_said_once(other, name, tmp_path):
    with raises(InputError, name):
        zoo.asked(MASS, 20, **other, save=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_impossible_values_are_recorded_with_their_sample_and_reason():
    drawn = {"ball.mass": ph.random.normal(1.0, 1.0), "u.push": 3.0}
    with warns(ph.errors.FailedSamplesWarning, "ball.mass", "40"):
        runs = zoo.asked(drawn, 40)
    bad = np.flatnonzero(runs["ball.mass"] <= 0.0)
    assert 0 < len(bad) < 20
    assert [failed.sample for failed in runs.failed] == bad.tolist()
    for sample, parameters, why in runs.failed:
        assert parameters == {"ball.mass": runs["ball.mass"][sample], "u.push": 3.0}
        assert f"with ball.mass = {parameters['ball.mass']:g}: " in why
        assert np.isnan(runs.values[sample])
        with raises(InputError, "ball.mass"):
            runs.rerun(sample)
    np.testing.assert_allclose(runs.values[runs.ok], 3.0 * zoo.T**2 / (2 * runs["ball.mass"][runs.ok]))
    assert f"{len(bad)} failed" in repr(runs) and f"{len(bad)} failed" in str(runs)
    assert np.isfinite(runs.mean()) and np.isfinite(runs.sensitivity()["ball.mass"])


def test_outputs_that_raise_differ_or_are_nan_are_recorded():
    def output(result):
        m = float(result.system.bodies["ball"].inertia.m)
        if m == 2.0:
            raise KeyError("two")
        return {3.0: np.zeros(4), 4.0: np.array([1.0, np.nan, 0.0]), 5.0: {"a": 1.0}, 6.0: np.ones(3) * 1j}.get(
            m, np.ones(3)
        )

    with warns(ph.errors.FailedSamplesWarning, "5 of 7"):
        runs = zoo.asked({"ball.mass": np.arange(1.0, 8.0)}, output=output)
    assert runs.ok.tolist() == [True, *5 * [False], True]
    for failed, why in zip(
        runs.failed, ("KeyError: 'two'", "shape (4,)", "holds NaN", "outputs are a", "complex"), strict=True
    ):
        assert failed.error.startswith("output: ") and why in failed.error


def test_all_failing_is_said():
    with warns(ph.errors.FailedSamplesWarning, "3"):
        runs = zoo.asked({"ball.mass": [-1.0, -2.0, -3.0]})
    assert len(runs.failed) == 3 and not runs.ok.any()
    for ask in (runs.mean, runs.std, runs.sensitivity, lambda: runs.quantile(0.5), lambda: runs.values):
        with raises(InputError, "ball.mass"):
            ask()
    assert "3 failed" in str(runs)
    with raises(InputError):
        ph.plot(runs)


def test_runs_that_do_not_close_say_that_a_start_may_be_a_function():
    rod = ph.RigidBody(1.0, np.eye(3), ports={"C": (1.0, 0.0, 0.0)}).discretise()
    joints = [
        ph.Revolute("ground", "rod.P"),
        ph.Slide("ground", "rod.C", along=(1, 0, 0), at=(0.0, 0.5, 0.0), name="rail"),
    ]
    system = ph.connect({"rod": rod}, joints, plane="xy")
    start = ph.place(system, {}, near={"rod.theta": 0.5})
    with warns(ph.errors.FailedSamplesWarning, "'rail'"):
        runs = ph.ensemble(system, {"rail.at[1]": [0.5, 0.6]}, start=start, t_end=0.1, dt=0.1, workers=1)
    assert runs.ok.tolist() == [True, False]
    closed = ph.ensemble(
        system,
        {"rail.at[1]": [0.5, 0.6]},
        start=lambda s: ph.place(s, {}, near={"rod.theta": 0.5}),
        t_end=0.1,
        dt=0.1,
        workers=1,
        output=lambda r: r["rod.theta"][-1],
    )
    np.testing.assert_allclose(np.sin(closed.values), [0.5, 0.6], atol=1e-9)


def test_warnings_of_samples_are_given_once_with_their_number():
    import warnings

    def output(result):
        if result["ball.r_P"][-1, 0] > 3.0:
            warnings.warn("far away", ph.errors.SampleTimeWarning, stacklevel=1)
        return 1.0

    with warns(ph.errors.SampleTimeWarning, "2 of 3", "far away") as said:
        zoo.asked({"ball.mass": [1.0, 1.5, 3.0]}, output=output)
    assert len(said) == 1
    with warns(RuntimeWarning, "3 of 3"):
        zoo.asked({"ball.mass": [1.0, 1.5, 3.0]}, output=lambda r: np.nan_to_num(np.sqrt(np.array([-1.0]))))


# --- processes -------------------------------------------------------------------------------------------------------


def test_a_sample_that_kills_its_process_is_recorded_and_the_others_run():
    def output(result):
        if result.system.bodies["ball"].inertia.m == 5.0:
            os.kill(os.getpid(), signal.SIGKILL)
        return zoo.way(result)

    with warns(ph.errors.FailedSamplesWarning, "1 of 200", "signal 9"):
        runs = zoo.asked({"ball.mass": np.arange(1.0, 201.0)}, output=output, workers=2)  # shares of three
    assert [failed.parameters for failed in runs.failed] == [{"ball.mass": 5.0}]
    np.testing.assert_allclose(runs.values[runs.ok], 3.0 * zoo.T**2 / (2 * runs["ball.mass"][runs.ok]))


# --- folders ---------------------------------------------------------------------------------------------------------


def test_a_folder_takes_one_question(tmp_path):
    zoo.asked(MASS, 3, save=tmp_path / "runs")
    for other, what in (
        ({"dt": 0.25}, "dt is"),
        ({"u": {"push": 4.0}}, "u is"),
        ({"output": lambda r: 1.0}, "output is"),
        ({"seed": 1}, "parameters is"),
        ({"samples": 4, "t_end": 1.0}, "parameters, t_end are"),
    ):
        with raises(InputError, what):
            zoo.asked(MASS, **{"samples": 3, "save": tmp_path / "runs"} | other)


def test_folders_that_are_none(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").touch()
    for name, said in (("file", "is a file"), ("full", "holds other files")):
        with raises(InputError, said):
            zoo.asked(MASS, 3, save=tmp_path / name)
    with raises(InputError, "none"):
        ph.io.load_ensemble(tmp_path / "none")
    with raises(InputError, "ensemble.json"):
        ph.io.load_ensemble(tmp_path / "full")
    zoo.asked(MASS, 3, save=tmp_path / "runs")
    loaded, file = ph.io.load_ensemble(tmp_path / "runs"), tmp_path / "runs" / "ensemble.json"
    with raises(InputError):
        loaded.rerun(0)
    text = file.read_text()
    for wrong, said in (
        (text[:-30], "ensemble.json"),
        ('{"format": "other"}', "ensemble.json"),
        (text.replace('"version": 1', '"version": 9'), "ensemble.json"),
    ):
        file.write_text(wrong)
        with raises(InputError, said):
            ph.io.load_ensemble(tmp_path / "runs")


def test_two_processes_do_not_share_a_folder(tmp_path):
    def output(result):
        with raises(InputError, "runs", golden=False):
            zoo.asked(MASS, 3, save=tmp_path / "runs")
        return 1.0

    zoo.asked({"ball.mass": [1.0]}, output=output, save=tmp_path / "runs")


def test_questions_to_the_results_that_have_no_answer():
    runs = zoo.asked(MASS, 2)
    for ask, name in (
        (lambda: runs["ball.mas"], "'ball.mas'"),
        (lambda: runs.quantile(1.5), "1.5"),
        (lambda: runs.sensitivity("sobol"), "'sobol'"),
        (lambda: runs.sensitivity(), "2"),
        (lambda: runs.on_grid(), "'random'"),
        (lambda: runs.rerun(2), "2"),
    ):
        with raises(InputError, name):
            ask()


# --- clusters --------------------------------------------------------------------------------------------------------


def test_a_cluster_that_is_not_there():
    pytest.importorskip("distributed")
    begin = time.monotonic()
    with raises(InputError, "'tcp://127.0.0.1:9'", golden=False):
        zoo.asked(MASS, 3, workers=None, scheduler="tcp://127.0.0.1:9")
    assert time.monotonic() - begin < 60.0
    with raises(InputError, "scheduler", "3"):
        zoo.asked(MASS, 3, workers=None, scheduler=3)
