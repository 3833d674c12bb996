"""The comparison with Exudyn runs; skipped if Exudyn (extra `bench`) is not installed."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "benchmarks" / "versus"


def versus(*arguments):
    """Runs the package benchmarks/versus with these arguments."""
    return subprocess.run(
        [sys.executable, str(FOLDER), *arguments], cwd=ROOT, capture_output=True, text=True, timeout=250, check=False
    )


@pytest.mark.skipif(
    importlib.util.find_spec("exudyn") is None, reason="Exudyn is not installed: pip install '.[bench]'"
)
@pytest.mark.parametrize("names", [("double-pendulum", "steps"), pytest.param((), marks=pytest.mark.long)])
def test_both_codes_run_in_turn_and_nothing_is_written(names):
    before = {path: path.stat().st_mtime for path in FOLDER.iterdir()}
    done = versus("--quick", *names)
    assert done.returncode == 0, done.stderr
    assert "Exudyn / phloat" in done.stdout
    assert "phloat, 2 elements" in done.stdout
    assert {p: p.stat().st_mtime for p in FOLDER.iterdir() if p.suffix != ""} == {
        p: t for p, t in before.items() if p.suffix != ""
    }


def test_a_name_that_is_no_problem_gets_the_names_there_are():
    done = versus("crank")
    assert done.returncode == 1
    assert "no problem 'crank'; there are: crank-slider, double-pendulum" in done.stderr


def test_a_front_has_no_member_that_another_beats():
    sys.path.insert(0, str(FOLDER))
    try:
        import sweep
    finally:
        sys.path.remove(str(FOLDER))
    runs = [
        {"error": error, "seconds": seconds}
        for error, seconds in [(1e-2, 1.0), (1e-3, 3.0), (2e-3, 4.0), (1e-4, 2.5), (1e-5, 9.0), (1e-5, 8.0)]
    ]
    assert [(run["error"], run["seconds"]) for run in sweep.front(runs)] == [(1e-2, 1.0), (1e-4, 2.5), (1e-5, 8.0)]
