"""Ensembles whose statistics are known, and a cluster that loses a worker."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import ensemble_zoo as zoo
import numpy as np
import pytest
from messages import raises, warns

import phloat as ph


def test_a_normal_push_takes_the_mass_a_normal_way():
    runs = zoo.asked({"u.push": ph.random.normal(3.0, 0.3)}, 256, sampling="latin")
    scale = zoo.T**2 / (2 * 2.0)
    np.testing.assert_allclose(runs.values, scale * runs["u.push"], rtol=1e-13)
    assert runs.mean() == pytest.approx(3.0 * scale, rel=1e-3)
    assert runs.std() == pytest.approx(0.3 * scale, rel=0.03)
    assert runs.quantile(0.5) == pytest.approx(3.0 * scale, rel=2e-3)


def test_what_matters_is_found():
    parameters = {
        "u.push": ph.random.uniform(2.0, 4.0),
        "ball.mass": ph.random.uniform(1.9, 2.1),
        "gravity[1]": ph.random.uniform(-10.0, -9.0),
    }
    runs = zoo.asked(parameters, 100, sampling="sobol")
    rank, slope = runs.sensitivity(), runs.sensitivity("regression")
    assert rank["u.push"] > 0.95 and -0.4 < rank["ball.mass"] < -0.05 and abs(rank["gravity[1]"]) < 0.1
    expected = {"u.push": 2.0 / 3.0, "ball.mass": -0.2 / 2.0}  # relative widths: σ of ln x = σ of ln F − σ of ln m
    size = np.hypot(*expected.values())
    for name, width in expected.items():
        assert slope[name] == pytest.approx(width / size, abs=0.02)
    assert sum(x**2 for x in slope.values()) == pytest.approx(1.0, abs=0.02)  # shares of the variance


def test_an_ensemble_draws_itself(tmp_path):
    def output(result):
        return {"way": zoo.way(result), "path": result["ball.r_P"], "both": result["ball.r_P"][-1]}

    runs = zoo.asked(
        {"u.push": ph.random.normal(3.0, 0.3), "ball.mass": ph.random.uniform(1.0, 3.0)}, 30, output=output
    )
    figure = ph.plot(runs)
    figure.savefig(tmp_path / "runs.png")
    labels = [ax.get_xlabel() for part in figure.subfigs for ax in part.axes]
    assert labels == ["samples", "u.push", "ball.mass (kg)", "t (s)", "t (s)"]
    band = figure.subfigs[1].axes[0]
    np.testing.assert_allclose(band.lines[0].get_ydata(), np.median(runs["path"][:, :, 0], axis=0))
    grid = ph.plot(zoo.asked({"u.push": [1.0, 2.0], "ball.mass": [1.0, 2.0, 4.0]}))
    grid.savefig(tmp_path / "grid.png")
    drawn = grid.subfigs[0].axes[0].collections[0].get_array()
    np.testing.assert_allclose(np.ravel(drawn), [2.0, 4.0, 1.0, 2.0, 0.5, 1.0])


# --- a cluster -------------------------------------------------------------------------------------------------------


@pytest.fixture
def cluster(tmp_path):
    """A scheduler and two workers, each a process of its own."""
    pytest.importorskip("distributed")
    file, begun = tmp_path / "scheduler.json", []

    def begin(*arguments):
        command = [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]]
        with open(tmp_path / f"{len(begun)}.log", "wb") as log:
            begun.append(subprocess.Popen(command, stdout=log, stderr=log, cwd=tmp_path))

    quiet = ("--no-dashboard",)
    begin("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file), *quiet)
    for _ in range(2):
        once = ("--no-nanny", "--nthreads", "1", "--memory-limit", "0", "--death-timeout", "60", *quiet)
        begin("dask_worker", "--scheduler-file", str(file), *once)
    try:
        yield file, begun
    finally:
        for process in begun:
            process.kill()
        for process in begun:
            process.wait()


def address(file: Path) -> str:
    import json

    while not file.exists():
        time.sleep(0.05)
    return json.loads(file.read_text())["address"]


@pytest.mark.long
def test_a_cluster_that_loses_a_worker_returns_every_sample_once(cluster, tmp_path):
    import distributed

    file, begun = cluster
    scheduler, log, way = address(file), tmp_path / "log", zoo.way
    log.mkdir()

    def late(result):
        import warnings

        warnings.warn("late", ph.errors.SampleTimeWarning, stacklevel=1)
        return 1.0

    def output(result):  # leaves a trace of who ran it, and is slow enough to be interrupted
        time.sleep(0.05)
        (log / f"{time.time_ns()}-{os.getpid()}").touch()
        return way(result)

    with distributed.Client(scheduler, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        with raises(ph.errors.InputError, "ensemble_zoo"):
            zoo.asked(
                {"u.push": ph.random.normal(3.0, 0.3)}, 3, output=lambda r: zoo.way(r), workers=None, scheduler=client
            )
        both = set(client.run(os.getpid).values())
        parameters = {"u.push": ph.random.normal(3.0, 0.3)}
        with warns(ph.errors.SampleTimeWarning, "3 of 3", "late"):
            zoo.asked(parameters, 3, output=late, workers=None, scheduler=client)
        killer = subprocess.Popen([sys.executable, "-c", KILLER, str(log), str(begun[1].pid)])
        runs = zoo.asked(parameters, 120, output=output, workers=None, scheduler=scheduler, save=tmp_path / "runs")
        assert killer.wait() == 0
        left = set(client.run(os.getpid).values())
    assert begun[1].wait() == -signal.SIGKILL and len(both) == 2 and len(left) == 1
    ran = {int(name.name.split("-")[1]) for name in log.iterdir()}
    assert ran == both  # both took part
    np.testing.assert_array_equal(runs.values, zoo.asked(parameters, 120).values)
    assert not runs.failed and runs.ok.all()
    samples = np.concatenate([np.load(piece)["sample"] for piece in (tmp_path / "runs").glob("piece.*.npz")])
    np.testing.assert_array_equal(np.sort(samples), np.arange(120))  # none lost, none doubled
    assert 120 <= len(list(log.iterdir())) <= 160  # no more than one share was run twice


KILLER = """
import os, signal, sys, time
from pathlib import Path
while sum(name.name.endswith("-" + sys.argv[2]) for name in Path(sys.argv[1]).iterdir()) < 5:
    time.sleep(0.01)
os.kill(int(sys.argv[2]), signal.SIGKILL)
"""
